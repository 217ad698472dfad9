/* WMMA of RDNA3 (GENERATION 3) and RDNA4 (4) as ROCm's emulator has it, step by step in the order of k. */
#include "answer.h"
#if GENERATION == 3
#include "gfx11_dot2.h"
#else
#include "gfx12_dot.h"
#endif

namespace amd = rocjitsu::amdgpu;

/* One step; where c and d are not fp32, c is widened before it and the result packed after it. */
template <bool Bf16, bool Packed> static uint64_t step(const uint64_t *a, const uint64_t *b, uint64_t c) {
    uint32_t wide = (uint32_t)c;
    if (Packed) wide = amd::dot_packed16::widen<Bf16>((uint16_t)c);
#if GENERATION == 3
    return amd::gfx11_dot2_bits<Bf16, Packed>(a[0], b[0], a[1], b[1], wide);
#else
    std::array<uint16_t, 4> x, y;
    for (int i = 0; i < 4; i++) x[i] = (uint16_t)a[i], y[i] = (uint16_t)b[i];
    return amd::gfx12_dot_bits<Bf16, Packed>(x, y, wide);
#endif
}

enum { PRODUCTS = GENERATION == 3 ? 2 : 4 };

template <bool Bf16, bool Packed> static uint64_t chain(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i += PRODUCTS) c = step<Bf16, Packed>(a + i, b + i, c);
    return c;
}

static Dot choose(const char *instruction, const char *formats, int k) {
    (void)instruction;
    if (k % PRODUCTS) return NULL;
    if (!strcmp(formats, "fp16,fp16,fp32,fp32")) return chain<false, false>;
    if (!strcmp(formats, "bf16,bf16,fp32,fp32")) return chain<true, false>;
    if (!strcmp(formats, "fp16,fp16,fp16,fp16")) return chain<false, true>;
    if (!strcmp(formats, "bf16,bf16,bf16,bf16")) return chain<true, true>;
    return NULL;
}
