/* sdot, smmla and their kinds: dot products of bytes in each 128-bit register, four of four or 2 x 2 results of eight.
 * ARM_OP names the intrinsic, ARM_ROWS the rows of A and of B in a register. */
#include <arm_neon.h>
#include <stdint.h>

#define M ARM_ROWS
#define N ARM_ROWS
typedef uint8_t AB;
typedef uint32_t CD;
#include "probe.h"

static const char *prepare(size_t k) {
    return k == 4 * M ? NULL : "a register has four sums of four products, or four of eight";
}

static void compute(const AB *a, const AB *b, const CD *c, CD *d, size_t tiles, size_t k) {
    /* The last load and store may reach past the last sum, where there is room to spare. */
    for (size_t i = 0; i < tiles; i += 4 / (M * N)) {
        uint8x16_t x = vld1q_u8(a + i * M * k), y = vld1q_u8(b + i * N * k);
        vst1q_u32(d + i * M * N, ARM_OP(vld1q_u32(c + i * M * N), x, y));
    }
}
