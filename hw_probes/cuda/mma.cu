/* mma.sync: a warp computes one tile (four of the fp16 m8n8k4).
 *
 * instruction.h gives REG_A and REG_C (register types: uint32_t or double), A_REGS, B_REGS, C_REGS, A_BITS and B_BITS
 * (bits of an element in its register), A_SHIFT and B_SHIFT (where in these bits fp4 stands), C_PER_REG, and INSTRUCTION,
 * which leaves D in the registers of C; with MIXED, where D has other registers than C, in rd.  With SCALED it takes
 * the scales too; without, no kernel reads any.  With SPARSE it takes `metadata`.
 */
#include "probe.cuh"

#define A_PER_REG ((int)(8 * sizeof(REG_A)) / A_BITS)
#define B_PER_REG ((int)(8 * sizeof(REG_A)) / B_BITS)

#ifdef QUADPAIR
#define TILES_PER_WARP 4
#define PLACE_A(lane, reg, i) place_quadpair_ab(lane, (reg) * A_PER_REG + (i))
#define PLACE_B(lane, reg, i) place_quadpair_ab(lane, (reg) * B_PER_REG + (i))
#define PLACE_C(lane, n) place_quadpair_c(C_PER_REG == 2, lane, n)
#define PLACE_D(lane, n) place_quadpair_c(D_PER_REG == 2, lane, n)
#else
#define TILES_PER_WARP 1
#define PLACE_A(lane, reg, i) place_a(M, A_PER_REG, lane, reg, i)
#define PLACE_B(lane, reg, i) turned(place_b(B_PER_REG, lane, reg, i))
#define PLACE_C(lane, n) place_c(lane, n)
#define PLACE_D(lane, n) place_c(lane, n)
#endif

#ifdef MIXED
#define RESULT rd
#else
#define D_REGS C_REGS
#define D_PER_REG C_PER_REG
#define RESULT rc
#endif

/* Column and k, as B stands in memory. */
__device__ inline Place turned(Place p) {
    return place(p.column, p.row);
}

extern "C" __global__ void probe(ARGUMENTS) {
    int lane = threadIdx.x % 32;
    unsigned long long warp = (blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x) / 32;
    unsigned long long tile = warp * TILES_PER_WARP + (TILES_PER_WARP == 4 ? quadpair(lane) : 0);
    if (warp * TILES_PER_WARP >= tiles)
        return;
    /* A warp whose last tiles do not exist computes the last one again: all lanes take part. */
    if (tile >= tiles)
        tile = tiles - 1;
    a += tile * M * K, b += tile * N * K, c += tile * M * N, d += tile * M * N;
    REG_A ra[A_REGS], rb[B_REGS];
    REG_C rc[C_REGS];
    for (int r = 0; r < A_REGS; r++) {
        uint64_t word = 0;
        for (int i = 0; i < A_PER_REG; i++) {
            Place p = PLACE_A(lane, r, i);
            word |= (uint64_t)a[p.row * K + p.column] << (i * A_BITS + A_SHIFT);
        }
        ra[r] = (REG_A)word;
    }
    for (int r = 0; r < B_REGS; r++) {
        uint64_t word = 0;
        for (int i = 0; i < B_PER_REG; i++) {
            Place p = PLACE_B(lane, r, i);
            word |= (uint64_t)element_b(b + p.row * K, p.column, tile) << (i * B_BITS + B_SHIFT);
        }
        rb[r] = (REG_A)word;
    }
    for (int r = 0; r < C_REGS; r++) {
        uint64_t word = 0;
        for (int i = 0; i < C_PER_REG; i++) {
            Place p = PLACE_C(lane, r * C_PER_REG + i);
            word |= (uint64_t)c[p.row * N + p.column] << (i * 16);
        }
        rc[r] = (REG_C)word;
    }
#ifdef SCALED
    uint32_t sa = scale_word(scale_a + (tile * M + scale_row(lane) % M) * SCALES);
    uint32_t sb = scale_word(scale_b + (tile * N + scale_column(lane) % N) * SCALES);
#endif
#ifdef MIXED
    REG_C rd[D_REGS];
#endif
#ifdef SPARSE
    uint32_t metadata = metadata_of(tile);
#endif
    INSTRUCTION;
    for (int r = 0; r < D_REGS; r++)
        for (int i = 0; i < D_PER_REG; i++) {
            Place p = PLACE_D(lane, r * D_PER_REG + i);
            d[p.row * N + p.column] = (D_T)(RESULT[r] >> (i * 16));
        }
}
