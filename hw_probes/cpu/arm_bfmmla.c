/* bfmmla: 2 x 2 results of four bf16 products each (FEAT_BF16); EBF=1: FPCR.EBF set (FEAT_EBF16). */
#include <arm_neon.h>
#include <stdint.h>

#define M 2
#define N 2
typedef uint16_t AB;
typedef uint32_t CD;
#include "probe.h"
#include "arm_control.h"

#ifndef EBF
#define EBF 0
#endif

static const char *prepare(size_t k) {
    return k == 4 ? choose_arithmetic(EBF) : "bfmmla takes four products";
}

static void compute(const AB *a, const AB *b, const CD *c, CD *d, size_t tiles, size_t k) {
    (void)k;
    for (size_t i = 0; i < tiles; i++) {
        bfloat16x8_t x = vreinterpretq_bf16_u16(vld1q_u16(a + 8 * i)), y = vreinterpretq_bf16_u16(vld1q_u16(b + 8 * i));
        float32x4_t z = vreinterpretq_f32_u32(vld1q_u32(c + 4 * i));
        vst1q_u32(d + 4 * i, vreinterpretq_u32_f32(vbfmmlaq_f32(z, x, y)));
    }
}
