/* FPCR of an Arm processor: FPCR.EBF chooses between the two arithmetics of bf16 dot products, where there are two.
 *
 * With EBF = 1 the results follow FPCR's rounding mode and flushing, which are nearest and off as a process begins; DN is
 * set, so that every NaN is the default one.
 */
#include <stdint.h>

enum { FPCR_EBF = 13, FPCR_DN = 25 };

static uint64_t fpcr(void) {
    uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return word;
}

static const char *choose_arithmetic(int ebf) {
    uint64_t word = fpcr() | UINT64_C(1) << FPCR_DN;
    word = ebf ? word | UINT64_C(1) << FPCR_EBF : word & ~(UINT64_C(1) << FPCR_EBF);
    __asm__ volatile("msr fpcr, %0" : : "r"(word));
    /* A processor without FEAT_EBF16 keeps the bit at 0. */
    if ((int)(fpcr() >> FPCR_EBF & 1) != ebf)
        return "FPCR.EBF stays as it is, whatever is written";
    return NULL;
}
