/* v_mfma on AMD's CDNA GPUs: a wavefront computes BLOCKS tiles with one instruction.
 *
 * Built for gfx908, gfx90a and gfx942 and seen in the disassembly; never run on a GPU yet.
 *
 * Tiles of raw encodings: A [tiles][M][K], B [tiles][N][K] (each column of B in order of k), C and D [tiles][M][N].
 * instruction.h gives M, N, K, BLOCKS, ITEMS_AB (elements of A and of B in a lane), HIGH (see layout.h), the unsigned
 * types AB_A, AB_B, CD, the vector types VECTOR_AB and VECTOR_CD, and the intrinsic MFMA.
 *
 * What is built of it is a code object, which HIP loads: it needs no header and no library of ROCm.
 */
#ifdef SIMULATED
#include "simulated.h"
#else
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define __global__ __attribute__((global))
#define THREAD __builtin_amdgcn_workitem_id_x()
#define BLOCK __builtin_amdgcn_workgroup_id_x()
#endif

#include "instruction.h"
#include "layout.h"

enum { ITEMS_CD = M * N * BLOCKS / LANES };

#ifndef SIMULATED
/* The instruction on the items of this lane. */
#define MULTIPLY                                                                                                       \
    do {                                                                                                               \
        VECTOR_AB va, vb;                                                                                              \
        VECTOR_CD vc;                                                                                                  \
        __builtin_memcpy(&va, ra, sizeof va), __builtin_memcpy(&vb, rb, sizeof vb);                                    \
        __builtin_memcpy(&vc, rc, sizeof vc);                                                                          \
        vc = MFMA(va, vb, vc, 0, 0, 0);                                                                                \
        __builtin_memcpy(rc, &vc, sizeof vc);                                                                          \
    } while (0)
#endif

extern "C" __global__ void probe(const AB_A *a, const AB_B *b, const CD *c, CD *d, uint64_t tiles) {
    int lane = THREAD;
    uint64_t first = (uint64_t)BLOCK * BLOCKS;
    AB_A ra[ITEMS_AB];
    AB_B rb[ITEMS_AB];
    CD rc[ITEMS_CD];
    /* A block whose tile does not exist computes the last one again: all lanes take part. */
#define TILE(e) (first + (e).block < tiles ? first + (e).block : tiles - 1)
#pragma unroll
    for (int i = 0; i < ITEMS_AB; i++) {
        Element x = element_ab(M, BLOCKS, ITEMS_AB, lane, i), y = element_ab(N, BLOCKS, ITEMS_AB, lane, i);
        ra[i] = a[(TILE(x) * M + x.row) * K + x.column];
        rb[i] = b[(TILE(y) * N + y.row) * K + y.column];
    }
#pragma unroll
    for (int i = 0; i < ITEMS_CD; i++) {
        Element e = element_cd(M, N, HIGH, lane, i);
        rc[i] = c[(TILE(e) * M + e.row) * N + e.column];
    }
    MULTIPLY;
#pragma unroll
    for (int i = 0; i < ITEMS_CD; i++) {
        Element e = element_cd(M, N, HIGH, lane, i);
        d[(TILE(e) * M + e.row) * N + e.column] = rc[i];
    }
}
