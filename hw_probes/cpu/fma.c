/* Chains of scalar fused multiply-adds in the order of k, in fp32 or fp64 (DOUBLE).
 *
 * The instruction is written out, because the forms of x86's FMA choose among NaN operands in different orders:
 * of form 231 the priority is a, b, c.  On Arm, FPCR.DN is set, so that every NaN is the default one.
 */
#include <stdint.h>

#define M 1
#define N 1
#ifdef DOUBLE
typedef uint64_t AB, CD;
typedef double REAL;
#define X86_FMA "vfmadd231sd %2, %1, %0"
#define ARM_FMA "fmadd %d0, %d1, %d2, %d0"
#else
typedef uint32_t AB, CD;
typedef float REAL;
#define X86_FMA "vfmadd231ss %2, %1, %0"
#define ARM_FMA "fmadd %s0, %s1, %s2, %s0"
#endif
#include "probe.h"

static const char *prepare(size_t k) {
    (void)k;
#ifdef __aarch64__
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    control |= UINT64_C(1) << 25;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#endif
    return NULL;
}

static void compute(const AB *a, const AB *b, const CD *c, CD *d, size_t tiles, size_t k) {
    for (size_t i = 0; i < tiles; i++) {
        REAL r;
        memcpy(&r, c + i, sizeof r);
        for (size_t j = 0; j < k; j++) {
            REAL x, y;
            memcpy(&x, a + i * k + j, sizeof x);
            memcpy(&y, b + i * k + j, sizeof y);
#ifdef __aarch64__
            __asm__("" ARM_FMA : "+w"(r) : "w"(x), "w"(y));
#else
            __asm__("" X86_FMA : "+x"(r) : "x"(x), "x"(y));
#endif
        }
        memcpy(d + i, &r, sizeof r);
    }
}
