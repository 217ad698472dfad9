/* MVMUL of Tenstorrent's Wormhole (TT_ARCH_VERSION 0) and Blackhole (1), one fidelity phase (PHASE), as the vendor's
 * simulator has it: `mvmul.inc` holds three functions of its src/tensix.cpp.  A is SrcB, B is SrcA, c and d are Dst. */
#include <algorithm>

#include "answer.h"
#include "mvmul.inc"

enum { PRODUCTS = 16 };

/* A datum of SrcA or SrcB, 19 bits: sign, exponent of 8 bits, fraction of 10. */
template <bool Half> static uint32_t source(uint64_t word, bool wide) {
    if (Half) return (uint32_t)(((word & 0x8000) << 3) | (word & 0x7FFF));
    return (uint32_t)(wide ? word >> 13 : word << 3);
}

/* Dst as the function takes and gives it: 32 bits, fp16 with its exponent in the low five of eight. */
static uint32_t opened(uint32_t word, bool half) {
    return half ? (word & 0x8000) << 16 | (word & 0x7FFF) << 13 : word << 16;
}
static uint32_t packed(uint32_t word, bool half) {
    return half ? (word & 0x80000000) >> 16 | (word & 0x0FFFE000) >> 13 : word >> 16;
}

template <bool Half, bool Wide, bool Full> static uint64_t chain(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    int32_t adjusted = fpu_exp_prod_adj(Full, PHASE, !Half);
    uint32_t dst = (uint32_t)c;
    for (int first = 0; first < k; first += PRODUCTS) {
        uint32_t of_a[PRODUCTS], of_b[PRODUCTS];
        for (int i = 0; i < PRODUCTS; i++) {
            of_b[i] = source<Half>(a[first + i], Wide);
            of_a[i] = source<Half>(b[first + i], Wide);
        }
        dst = mvmul(of_a, of_b, Full ? dst : opened(dst, Half), adjusted, Full, PHASE, !Half);
        if (!Full) dst = packed(dst, Half);
    }
    return dst;
}

static Dot choose(const char *instruction, const char *formats, int k) {
    (void)instruction;
    if (k % PRODUCTS) return NULL;
    if (!strcmp(formats, "bf16,bf16,fp32,fp32")) return chain<false, false, true>;
    if (!strcmp(formats, "bf16,bf16,bf16,bf16")) return chain<false, false, false>;
    if (!strcmp(formats, "tf32,tf32,fp32,fp32")) return chain<false, true, true>;
    if (!strcmp(formats, "tf32,tf32,bf16,bf16")) return chain<false, true, false>;
    if (!strcmp(formats, "fp16,fp16,fp32,fp32")) return chain<true, false, true>;
    if (!strcmp(formats, "fp16,fp16,fp16,fp16")) return chain<true, false, false>;
    return NULL;
}
