/* AVX512-FP16: fused multiply-adds, of complex numbers two for each part (COMPLEX: the instruction).
 *
 * MXCSR's rounding mode holds for them, its DAZ and FTZ do not.  IMAGINARY: 1 where that part is probed; A then has an
 * imaginary and a real part, B a real and an imaginary one.
 */
#include <stdint.h>

#define M 1
#define N 1
typedef uint16_t AB, CD;
#include "probe.h"
#include <immintrin.h>

#ifdef COMPLEX
enum { PRODUCTS = 2 };
#else
enum { PRODUCTS = 1 };
#endif

static const char *prepare(size_t k) {
    return k == PRODUCTS ? NULL : "the instruction takes one number, or the two parts of one";
}

static __m128h word(uint32_t w) { return (__m128h)_mm_cvtsi32_si128((int)w); }

/* Two parts in the order in which A, or B, has them. */
static uint32_t pair(const uint16_t *x, int imaginary_first) {
    return (uint32_t)x[!imaginary_first] << 16 | x[imaginary_first];
}

static void compute(const AB *a, const AB *b, const CD *c, CD *d, size_t tiles, size_t k) {
    for (size_t i = 0; i < tiles; i++, a += k, b += k) {
#ifdef COMPLEX
        int shift = IMAGINARY ? 16 : 0;
        __m128h x = word(pair(a, IMAGINARY)), y = word(pair(b, 0)), z = word((uint32_t)c[i] << shift);
        /* The destination has to be another register than the operands. */
        __asm__(COMPLEX " %2, %1, %0" : "+&v"(z) : "v"(x), "v"(y));
        d[i] = (uint16_t)((uint32_t)_mm_cvtsi128_si32((__m128i)z) >> shift);
#else
        __m128h x = word(*a), y = word(*b), z = word(c[i]);
#if FORM == 132
        __asm__("vfmadd132ph %2, %1, %0" : "+v"(x) : "v"(z), "v"(y));
        z = x;
#elif FORM == 213
        __asm__("vfmadd213ph %2, %1, %0" : "+v"(y) : "v"(x), "v"(z));
        z = y;
#else
        __asm__("vfmadd231ph %2, %1, %0" : "+v"(z) : "v"(x), "v"(y));
#endif
        d[i] = (uint16_t)_mm_cvtsi128_si32((__m128i)z);
        (void)pair;
#endif
    }
}
