/* WMMA and DOT2 of RDNA3 (GENERATION 3) and RDNA4 (4), with a newer header its DOT4 (BYTES), as ROCm's emulator
 * has them, step by step in the order of k. */
#include "answer.h"
#if GENERATION == 3
#include "gfx11_dot2.h"
#else
#include "gfx12_dot.h"
#endif

namespace amd = rocjitsu::amdgpu;

/* One step; where c and d are not fp32, c is widened before it and the result packed after it. */
template <bool Bf16, bool Packed, bool Largest, int N>
static uint64_t step(const uint64_t *a, const uint64_t *b, uint64_t c) {
    uint32_t wide = (uint32_t)c;
    if (Packed) wide = amd::dot_packed16::widen<Bf16>((uint16_t)c);
#if GENERATION == 3
    return amd::gfx11_dot2_bits<Bf16, Packed>(a[0], b[0], a[1], b[1], wide, Largest);
#else
    std::array<uint16_t, N> x, y;
    for (int i = 0; i < N; i++) x[i] = (uint16_t)a[i], y[i] = (uint16_t)b[i];
    return amd::gfx12_dot_bits<Bf16, Packed>(x, y, wide, Largest);
#endif
}

/* WMMA sums four products at once on RDNA4, DOT2 two. */
template <bool Bf16, bool Packed, bool Largest, int N>
static uint64_t chain(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i += N) c = step<Bf16, Packed, Largest, N>(a + i, b + i, c);
    return c;
}

#ifdef BYTES
/* DOT4, whose factors have 8 bits. */
template <typename A, typename B> static uint64_t bytes(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i += 4) {
        std::array<uint16_t, 4> x, y;
        for (int j = 0; j < 4; j++) x[j] = (uint16_t)a[i + j], y[j] = (uint16_t)b[i + j];
        c = amd::gfx12_dot_terms<A, B, false>(x, y, (uint32_t)c);
    }
    return c;
}
using E4m3 = amd::gfx12_dot_detail::Fp8Factor;
using E5m2 = amd::gfx12_dot_detail::Bf8Factor;
#endif

template <int N> static Dot of_formats(const char *formats, int k, bool largest) {
    if (k % N) return NULL;
    if (!strcmp(formats, "fp16,fp16,fp32,fp32")) return chain<false, false, false, N>;
    if (!strcmp(formats, "bf16,bf16,fp32,fp32")) return chain<true, false, false, N>;
    if (!strcmp(formats, "fp16,fp16,fp16,fp16"))
        return largest ? chain<false, true, true, N> : chain<false, true, false, N>;
    if (!strcmp(formats, "bf16,bf16,bf16,bf16")) return chain<true, true, false, N>;
#ifdef BYTES
    if (!strcmp(formats, "e4m3,e4m3,fp32,fp32")) return bytes<E4m3, E4m3>;
    if (!strcmp(formats, "e4m3,e5m2,fp32,fp32")) return bytes<E4m3, E5m2>;
    if (!strcmp(formats, "e5m2,e4m3,fp32,fp32")) return bytes<E5m2, E4m3>;
    if (!strcmp(formats, "e5m2,e5m2,fp32,fp32")) return bytes<E5m2, E5m2>;
#endif
    return NULL;
}

static Dot choose(const char *instruction, const char *formats, int k) {
    bool largest = strstr(instruction, ".fp16_ovfl"), pairs = GENERATION == 3 || strstr(instruction, "dot2");
    return pairs ? of_formats<2>(formats, k, largest) : of_formats<4>(formats, k, largest);
}
