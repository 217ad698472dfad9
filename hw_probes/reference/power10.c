/* Power10's matrix-multiply assist, run by QEMU's user mode: one element of an accumulator's 4 by 4 (4 by 2, fp64).
 *
 * Every row of A and every column of B is the same, so that all elements are; the first one is the answer.
 */
#include <altivec.h>
#include "answer.h"

typedef vector unsigned char Bytes;

static Bytes words(uint64_t x) { return (Bytes)vec_splats((unsigned int)x); }
static Bytes doubles(uint64_t x) { return (Bytes)vec_splats((unsigned long long)x); }
/* Elements 2i and 2i + 1 of a row: element 0 is the leftmost. */
static Bytes pair(const uint64_t *x) { return words(x[0] << 16 | x[1]); }

/* An accumulator is filled with c, taken through a chain of instructions, and read; no function returns one. */
#define CHAIN(NAME, OUT, SPLAT, STEP, INSTRUCTION) \
    static uint64_t NAME(int k, const uint64_t *a, const uint64_t *b, uint64_t c) { \
        __vector_quad acc; \
        Bytes row = SPLAT(c); \
        OUT all[64 / sizeof(OUT)]; \
        __builtin_mma_assemble_acc(&acc, row, row, row, row); \
        for (int i = 0; i < k; i += STEP) INSTRUCTION; \
        __builtin_mma_disassemble_acc(all, &acc); \
        return all[0]; \
    }
CHAIN(xvf32gerpp, uint32_t, words, 1, __builtin_mma_xvf32gerpp(&acc, words(a[i]), words(b[i])))
CHAIN(xvf16ger2pp, uint32_t, words, 2, __builtin_mma_xvf16ger2pp(&acc, pair(a + i), pair(b + i)))
CHAIN(xvbf16ger2pp, uint32_t, words, 2, __builtin_mma_xvbf16ger2pp(&acc, pair(a + i), pair(b + i)))

static __vector_pair *both(uint64_t x) {
    static __vector_pair made;
    __builtin_vsx_assemble_pair(&made, doubles(x), doubles(x));
    return &made;
}
CHAIN(xvf64gerpp, uint64_t, doubles, 1, __builtin_mma_xvf64gerpp(&acc, *both(a[i]), doubles(b[i])))

static Dot choose(const char *instruction, const char *formats, int k) {
    (void)instruction;
    if (!strcmp(formats, "fp32,fp32,fp32,fp32")) return xvf32gerpp;
    if (!strcmp(formats, "fp64,fp64,fp64,fp64")) return xvf64gerpp;
    if (!strcmp(formats, "fp16,fp16,fp32,fp32") && k % 2 == 0) return xvf16ger2pp;
    if (!strcmp(formats, "bf16,bf16,fp32,fp32") && k % 2 == 0) return xvbf16ger2pp;
    return NULL;
}
