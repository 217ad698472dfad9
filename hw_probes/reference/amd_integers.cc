/* MFMA of CDNA (GENERATION 9) and WMMA of RDNA3 (11) and RDNA4 (12) on integers, as ROCm's emulator has them.
 *
 * mma.inc holds the emulator's exec_i32_i8, exec_gfx11_wmma_i32 and exec_wmma_i32 with what they call; the vectorised
 * ways that they try first are not taken.  Each call computes a whole tile.  A dot product stands at another place of
 * it than the one before, among what earlier ones left.
 */
#include "answer.h"
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

namespace util {
using ConfigError = std::runtime_error;
using UnimplementedInst = std::runtime_error;
}

namespace rocjitsu::amdgpu {
/* The registers of one wavefront. */
struct Wave {
    static constexpr uint32_t SIZE = GENERATION == 9 ? 64 : 32;
    uint32_t words[128][SIZE];
    uint32_t wf_size() const { return SIZE; }
};

struct RegisterAccess {
    Wave &wave;
    explicit RegisterAccess(Wave &wave) : wave(wave) {}
    uint32_t read_vgpr(uint32_t reg, uint32_t lane) const { return wave.words[reg][lane]; }
    void write_vgpr(uint32_t reg, uint32_t lane, uint32_t word) { wave.words[reg][lane] = word; }
};

namespace mma_backend {
struct MatrixShape {
    uint32_t m, n, k;
};
template <typename Cu, typename... Rest> bool try_exec_i32_i8_simd(Cu &, MatrixShape, Rest &&...) { return false; }
template <typename Cu, typename... Rest> bool try_exec_wmma_i32_simd(Cu &, MatrixShape, Rest &&...) { return false; }
}

#include "mma.inc"
}

using namespace rocjitsu::amdgpu;

/* First registers of A, B, C and D. */
enum : uint32_t { A = 0, B = 16, C = 32, D = 64 };
static Wave wave;

/* The code of one factor. */
static void put(uint32_t base, const InputLoc &at, uint64_t code) {
    uint32_t &word = wave.words[base + at.vgpr_offset][at.lane], mask = packed_mask(at.data_bits) << at.bit_offset;
    word = (word & ~mask) | ((uint32_t)code << at.bit_offset & mask);
}

/* MFMA, whose lanes hold as many blocks of a K of 4 as there is room for. */
template <uint32_t M, uint32_t K> struct Mfma {
    static constexpr uint32_t m = M, blocks = K == 4 ? 64 / M : 1;
    static void put_factor(uint32_t base, uint32_t i, uint32_t at, uint32_t block, uint64_t code) {
        put(base, input_loc(M, K, blocks, i, at, block, 8), code);
    }
    static OutputLoc result_at(uint32_t row, uint32_t column, uint32_t block) {
        return output_loc_32(M, M, row, column, block);
    }
    [[gnu::flatten]] static void run() { exec_i32_i8(wave, M, M, K, blocks, D, A, B, C); }
};

/* WMMA, whose factors RDNA3 holds twice. */
template <uint32_t K, uint32_t Bits, typename OfA, typename OfB, bool Clamp> struct Wmma {
    static constexpr uint32_t m = 16, blocks = 1;
#if GENERATION == 11
    static void put_factor(uint32_t base, uint32_t i, uint32_t at, uint32_t, uint64_t code) {
        for (uint32_t half = 0; half < 2; half++) put(base, gfx11_wmma_input_loc(m, K, i, at, Bits, half), code);
    }
    static OutputLoc result_at(uint32_t row, uint32_t column, uint32_t) {
        return gfx11_wmma_output_loc_32(Wave::SIZE, m, m, row, column);
    }
    [[gnu::flatten]] static void run() {
        exec_gfx11_wmma_i32(wave, Wave::SIZE, m, m, K, Bits, D, A, B, C, OfA{}, OfB{}, Clamp);
    }
#else
    static void put_factor(uint32_t base, uint32_t i, uint32_t at, uint32_t, uint64_t code) {
        put(base, gfx12_wmma_input_loc(Wave::SIZE, m, K, i, at, Bits), code);
    }
    static OutputLoc result_at(uint32_t row, uint32_t column, uint32_t) {
        return gfx12_wmma_output_loc_32(Wave::SIZE, m, m, row, column);
    }
    [[gnu::flatten]] static void run() { exec_wmma_i32(wave, m, m, K, Bits, D, A, B, C, OfA{}, OfB{}, Clamp); }
#endif
};

template <typename Unit> static uint64_t tile(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    static uint32_t place;
    uint32_t row = place % Unit::m, column = place / Unit::m % Unit::m;
    uint32_t block = place / Unit::m / Unit::m % Unit::blocks;
    OutputLoc at = Unit::result_at(row, column, block);
    place++;
    for (int i = 0; i < k; i++) {
        Unit::put_factor(A, row, i, block, a[i]);
        Unit::put_factor(B, column, i, block, b[i]);
    }
    wave.words[C + at.reg][at.lane] = (uint32_t)c;
    Unit::run();
    return wave.words[D + at.reg][at.lane];
}

#if GENERATION == 9
static Dot choose(const char *instruction, const char *formats, int k) {
    unsigned m, n, whole;
    if (sscanf(instruction, "v_mfma_i32_%ux%ux%u", &m, &n, &whole) != 3 || n != m || k != (int)whole ||
        strcmp(formats, "int8,int8,int32,int32"))
        return NULL;
    if (k == 4) return m == 32 ? tile<Mfma<32, 4>> : m == 16 ? tile<Mfma<16, 4>> : m == 4 ? tile<Mfma<4, 4>> : NULL;
    if (m == 32) return k == 8 ? tile<Mfma<32, 8>> : k == 16 ? tile<Mfma<32, 16>> : NULL;
    if (m == 16) return k == 16 ? tile<Mfma<16, 16>> : k == 32 ? tile<Mfma<16, 32>> : NULL;
    return NULL;
}
#else
template <uint32_t K, uint32_t Bits, bool Clamp, typename Signed, typename Unsigned>
static Dot of_signs(const char *formats) {
    bool a = *formats == 'i', b = *(strchr(formats, ',') + 1) == 'i';
    char stated[64];
    snprintf(stated, sizeof stated, "%sint%u,%sint%u,int32,int32", a ? "" : "u", Bits, b ? "" : "u", Bits);
    if (strcmp(formats, stated)) return NULL;
    if (a) return b ? tile<Wmma<K, Bits, Signed, Signed, Clamp>> : tile<Wmma<K, Bits, Signed, Unsigned, Clamp>>;
    return b ? tile<Wmma<K, Bits, Unsigned, Signed, Clamp>> : tile<Wmma<K, Bits, Unsigned, Unsigned, Clamp>>;
}

template <bool Clamp> static Dot of_factors(const char *instruction, const char *formats, int k) {
    const char *size = strncmp(instruction, "v_wmma_i32_16x16x", 17) ? "" : instruction + 17;
    if (k == 16 && !strncmp(size, "16_iu8", 6)) return of_signs<16, 8, Clamp, ExtractI8, ExtractU8>(formats);
    if (k == 16 && !strncmp(size, "16_iu4", 6)) return of_signs<16, 4, Clamp, ExtractI4, ExtractU4>(formats);
#if GENERATION == 12
    if (k == 32 && !strncmp(size, "32_iu4", 6)) return of_signs<32, 4, Clamp, ExtractI4, ExtractU4>(formats);
#endif
    return NULL;
}

static Dot choose(const char *instruction, const char *formats, int k) {
    return strstr(instruction, ".clamp") ? of_factors<true>(instruction, formats, k)
                                         : of_factors<false>(instruction, formats, k);
}
#endif
