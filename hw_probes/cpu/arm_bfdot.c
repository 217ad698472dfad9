/* bfdot: four dot products of two bf16 pairs in each 128-bit register (FEAT_BF16); EBF=1: FPCR.EBF set (FEAT_EBF16). */
#include <arm_neon.h>
#include <stdint.h>

#define M 1
#define N 1
typedef uint16_t AB;
typedef uint32_t CD;
#include "probe.h"
#include "arm_control.h"

#ifndef EBF
#define EBF 0
#endif

static const char *prepare(size_t k) {
    return k == 2 ? choose_arithmetic(EBF) : "bfdot takes two products";
}

static void compute(const AB *a, const AB *b, const CD *c, CD *d, size_t tiles, size_t k) {
    (void)k;
    for (size_t i = 0; i < tiles; i += 4) {
        uint32_t out[4];
        bfloat16x8_t x = vreinterpretq_bf16_u16(vld1q_u16(a + 2 * i)), y = vreinterpretq_bf16_u16(vld1q_u16(b + 2 * i));
        float32x4_t z = vreinterpretq_f32_u32(vld1q_u32(c + i));
        vst1q_u32(out, vreinterpretq_u32_f32(vbfdotq_f32(z, x, y)));
        memcpy(d + i, out, (tiles - i < 4 ? tiles - i : 4) * sizeof(CD));
    }
}
