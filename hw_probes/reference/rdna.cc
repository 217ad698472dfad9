/* WMMA and DOT2 of RDNA3 (GENERATION 3) and RDNA4 (4) as ROCm's emulator has them, step by step in the order of k. */
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

template <int N> static Dot of_formats(const char *formats, int k, bool largest) {
    if (k % N) return NULL;
    if (!strcmp(formats, "fp16,fp16,fp32,fp32")) return chain<false, false, false, N>;
    if (!strcmp(formats, "bf16,bf16,fp32,fp32")) return chain<true, false, false, N>;
    if (!strcmp(formats, "fp16,fp16,fp16,fp16"))
        return largest ? chain<false, true, true, N> : chain<false, true, false, N>;
    if (!strcmp(formats, "bf16,bf16,bf16,bf16")) return chain<true, true, false, N>;
    return NULL;
}

static Dot choose(const char *instruction, const char *formats, int k) {
    bool largest = strstr(instruction, ".fp16_ovfl"), pairs = GENERATION == 3 || strstr(instruction, "dot2");
    return pairs ? of_formats<2>(formats, k, largest) : of_formats<4>(formats, k, largest);
}
