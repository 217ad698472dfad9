/* v_mfma and v_smfmac of AMD's CDNA GPUs, v_wmma and v_swmmac on integers of RDNA: a wavefront computes BLOCKS tiles with
 * one instruction.
 *
 * Built for every target and seen in the disassembly; never run on a GPU yet.
 *
 * Tiles of raw encodings: A [tiles][M][K], B [tiles][N][K] (each column of B in order of k), C and D [tiles][M][N].
 * instruction.h gives M, N, K, BLOCKS, LANES, ITEMS_A and ITEMS_B (elements of A and of B in a lane), PER_BYTE (2 of 4-bit
 * integers), HIGH (see layout.h), the unsigned types AB_A, AB_B, CD, the vector types VECTOR_A, VECTOR_B and VECTOR_CD,
 * and INTRINSIC(a, b, c).
 *
 * Sparse instructions take 2 K elements of each column of B, of which `index` selects K.  All rows and chunks have the
 * same index; the tiles take turns with each that is allowed, and with what stands where none is selected (UNSELECTED).
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
        VECTOR_A va;                                                                                                   \
        VECTOR_B vb;                                                                                                   \
        VECTOR_CD vc;                                                                                                  \
        __builtin_memcpy(&va, ra, sizeof va), __builtin_memcpy(&vb, rb, sizeof vb);                                    \
        __builtin_memcpy(&vc, rc, sizeof vc);                                                                          \
        vc = INTRINSIC(va, vb, vc);                                                                                    \
        __builtin_memcpy(rc, &vc, sizeof vc);                                                                          \
    } while (0)
#endif

extern "C" __global__ void probe(const AB_A *a, const AB_B *b, const CD *c, CD *d, uint64_t tiles) {
    int lane = THREAD;
    uint64_t first = (uint64_t)BLOCK * BLOCKS;
    AB_A ra[ITEMS_A / PER_BYTE] = {0};
    AB_B rb[ITEMS_B / PER_BYTE] = {0};
    CD rc[ITEMS_CD];
#ifdef UNSELECTED
    const uint32_t index = (0xedc984u >> first % 6 * 4 & 15) * 0x11111111u;
    const AB_B words[] = UNSELECTED, unselected = words[first / 6 % (sizeof words / sizeof(AB_B))];
#endif
    /* A block whose tile does not exist computes the last one again: all lanes take part. */
#define TILE(e) (first + (e).block < tiles ? first + (e).block : tiles - 1)
#pragma unroll
    for (int i = 0; i < ITEMS_A; i++) {
        Element x = element_ab(M, BLOCKS, ITEMS_A, lane, i);
        ra[i / PER_BYTE] |= a[(TILE(x) * M + x.row) * K + x.column % K] << i % PER_BYTE * 4;
    }
#pragma unroll
    for (int i = 0; i < ITEMS_B; i++) {
        Element y = element_ab(N, BLOCKS, ITEMS_B, lane, i);
#ifdef UNSELECTED
        int k = selected(index, y.column);
        AB_B value = k < 0 ? unselected : b[(TILE(y) * N + y.row) * K + k];
#else
        AB_B value = b[(TILE(y) * N + y.row) * K + y.column % K];
#endif
        rb[i / PER_BYTE] |= value << i % PER_BYTE * 4;
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
