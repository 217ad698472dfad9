/* vpdpbusd and its kind: eight dot products of four bytes or two words in each 256-bit register (VNNI).
 * VNNI_OP names the intrinsic, VNNI_AB the type of A and B. */
#include <immintrin.h>
#include <stdint.h>

#define M 1
#define N 1
#define CONTROL_REGISTER
typedef VNNI_AB AB;
typedef uint32_t CD;
#include "probe.h"

static const char *prepare(size_t k) {
    return k * sizeof(AB) == sizeof(CD) ? NULL : "a lane takes the products of 32 bits";
}

static void compute(const AB *a, const AB *b, const CD *c, CD *d, size_t tiles, size_t k) {
    /* The last load and store may reach past the last lane, where there is room to spare. */
    for (size_t i = 0; i < tiles; i += 8) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(a + i * k));
        __m256i y = _mm256_loadu_si256((const __m256i *)(b + i * k));
        __m256i z = _mm256_loadu_si256((const __m256i *)(c + i));
        _mm256_storeu_si256((__m256i *)(d + i), VNNI_OP(z, x, y));
    }
}
