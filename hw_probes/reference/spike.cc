/* RISC-V's dot products as Spike computes them: bulknormdot.h, zvbdot.h and insns/vqdot*.h of riscv-isa-sim, and its
 * SoftFloat. */
extern "C" {
#include "softfloat.h"
}
#include "answer.h"

/* What Spike's own headers expect beside SoftFloat. */
static inline float32_t f32(uint32_t word) { return float32_t{word}; }

#include "zvbdot.h"

template <typename Word>
static std::vector<Word> row(int k, const uint64_t *words) { return std::vector<Word>(words, words + k); }

static uint64_t wide(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    return zvfwbdot16bf_dot_acc(row<uint16_t>(k, a), row<uint16_t>(k, b), f32(c)).v;
}

template <typename A, typename B> static uint64_t quad(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    return zvfqbdot8f_dot_acc<A, B>(row<uint8_t>(k, a), row<uint8_t>(k, b), f32(c)).v;
}

/* As vfbdot_vv.h has it: the product rounded, then the sum, element after element. */
static uint64_t single(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    float32_t sum = f32(c);
    for (int i = 0; i < k; i++) sum = f32_add(sum, f32_mul(f32(a[i]), f32(b[i])));
    return sum.v;
}

/* Four products of bytes are added to a word.  Spike's files hold the bodies of a loop over the words of registers. */
#define require(x)
#define require_extension(x)
#define VI_VV_LOOP(BODY) BODY
static uint32_t bytes(const uint64_t *x) { return (uint32_t)(x[0] | x[1] << 8 | x[2] << 16 | x[3] << 24); }
#define WORDS(NAME) \
    static uint64_t NAME(int k, const uint64_t *a, const uint64_t *b, uint64_t c) { \
        int32_t vd = (int32_t)c; \
        for (int i = 0; i < k; i += 4) { \
            int32_t vs2 = (int32_t)bytes(a + i), vs1 = (int32_t)bytes(b + i); \
            NAME##_step(vd, vs1, vs2); \
        } \
        return (uint32_t)vd; \
    }
static void vqdot_step(int32_t &vd, int32_t vs1, int32_t vs2) {
#include "insns/vqdot_vv.h"
}
static void vqdotu_step(int32_t &vd, int32_t vs1, int32_t vs2) {
#include "insns/vqdotu_vv.h"
}
static void vqdotsu_step(int32_t &vd, int32_t vs1, int32_t vs2) {
#include "insns/vqdotsu_vv.h"
}
WORDS(vqdot) WORDS(vqdotu) WORDS(vqdotsu)

static Dot choose(const char *instruction, const char *formats, int k) {
    softfloat_roundingMode = softfloat_round_near_even;
    if (!strcmp(instruction, "vqdot.vv")) return k % 4 ? NULL : vqdot;
    if (!strcmp(instruction, "vqdotu.vv")) return k % 4 ? NULL : vqdotu;
    if (!strcmp(instruction, "vqdotsu.vv")) return k % 4 ? NULL : vqdotsu;
    if (strstr(formats, ",fp32,fp32") == NULL) return NULL;
    if (!strncmp(instruction, "vfwbdot", 7) || !strncmp(formats, "bf16,bf16,", 10)) return wide;
    if (!strncmp(formats, "fp32,fp32,", 10)) return single;
    if (!strncmp(formats, "e4m3,e4m3,", 10)) return quad<ofp8_e4m3, ofp8_e4m3>;
    if (!strncmp(formats, "e5m2,e4m3,", 10)) return quad<ofp8_e5m2, ofp8_e4m3>;
    if (!strncmp(formats, "e4m3,e5m2,", 10)) return quad<ofp8_e4m3, ofp8_e5m2>;
    if (!strncmp(formats, "e5m2,e5m2,", 10)) return quad<ofp8_e5m2, ofp8_e5m2>;
    return NULL;
}
