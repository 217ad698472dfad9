/* vdpbf16ps: sixteen dot products of two bf16 pairs in each 512-bit register (AVX512_BF16). */
#include <immintrin.h>
#include <stdint.h>

#define M 1
#define N 1
#define CONTROL_REGISTER
typedef uint16_t AB;
typedef uint32_t CD;
#include "probe.h"

static const char *prepare(size_t k) {
    return k == 2 ? NULL : "vdpbf16ps takes two products";
}

static void compute(const AB *a, const AB *b, const CD *c, CD *d, size_t tiles, size_t k) {
    (void)k;
    for (size_t i = 0; i < tiles; i += 16) {
        __mmask16 lanes = tiles - i < 16 ? (__mmask16)((1u << (tiles - i)) - 1) : 0xffff;
        __m512i x = _mm512_maskz_loadu_epi32(lanes, a + 2 * i), y = _mm512_maskz_loadu_epi32(lanes, b + 2 * i);
        /* Loaded as integers, so that nothing but the instruction sees a signalling NaN. */
        __m512 z = _mm512_castsi512_ps(_mm512_maskz_loadu_epi32(lanes, c + i));
        __m512 r = _mm512_dpbf16_ps(z, (__m512bh)x, (__m512bh)y);
        _mm512_mask_storeu_epi32(d + i, lanes, _mm512_castps_si512(r));
    }
}
