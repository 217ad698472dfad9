/* v_mfma on AMD's CDNA GPUs: a wavefront computes BLOCKS tiles with one instruction.
 *
 * Built for gfx908, gfx90a and gfx942 and seen in the disassembly; never run on a GPU yet.
 *
 * Tiles of raw encodings: A [tiles][M][K], B [tiles][N][K] (each column of B in order of k), C and D [tiles][M][N].
 * instruction.h gives M, N, K, BLOCKS, ITEMS_AB (elements of A and of B in a lane), HIGH (see layout.h), the unsigned
 * types AB_A, AB_B, CD, the vector types VECTOR_AB and VECTOR_CD, and the intrinsic MFMA.
 *
 * The program takes the number of tiles as a 64-bit integer and then all operands on standard input, and gives all of D
 * on standard output, as the probes of hw_probes/cpu do.  Without arguments that is what it does; `devices` lists the
 * GPUs, one to a line: architecture, tab, name, tab, version of the driver.  DEVICE_ONLY leaves the program out.
 */
#if defined(SIMULATED)
#include "simulated.h"
#elif defined(DEVICE_ONLY)
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define __global__ __attribute__((global))
#define THREAD __builtin_amdgcn_workitem_id_x()
#define BLOCK __builtin_amdgcn_workgroup_id_x()
#else
#include <hip/hip_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define THREAD threadIdx.x
#define BLOCK blockIdx.x
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

#if !defined(SIMULATED) && !defined(DEVICE_ONLY)
static void must(hipError_t error, const char *what) {
    if (error != hipSuccess) {
        fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
        exit(3);
    }
}

static void *taken(size_t bytes) {
    void *near = malloc(bytes), *far;
    if (!near || fread(near, 1, bytes, stdin) != bytes) {
        fputs("the operands are cut off\n", stderr);
        exit(4);
    }
    must(hipMalloc(&far, bytes), "memory of the GPU");
    must(hipMemcpy(far, near, bytes, hipMemcpyHostToDevice), "copy to the GPU");
    free(near);
    return far;
}

static int devices(void) {
    int count = 0, version = 0;
    must(hipGetDeviceCount(&count), "number of GPUs");
    must(hipDriverGetVersion(&version), "version of the driver");
    for (int i = 0; i < count; i++) {
        hipDeviceProp_t facts;
        must(hipGetDeviceProperties(&facts, i), "facts of a GPU");
        printf("%s\t%s\t%d\n", facts.gcnArchName, facts.name, version);
    }
    return 0;
}

int main(int argc, char **argv) {
    uint64_t tiles;
    if (argc > 1 && !strcmp(argv[1], "devices"))
        return devices();
    must(hipSetDevice(argc > 1 ? atoi(argv[1]) : 0), "the GPU");
    if (fread(&tiles, sizeof tiles, 1, stdin) != 1 || !tiles) {
        fputs("the number of tiles is missing\n", stderr);
        return 4;
    }
    AB_A *a = (AB_A *)taken(tiles * M * K * sizeof(AB_A));
    AB_B *b = (AB_B *)taken(tiles * N * K * sizeof(AB_B));
    size_t bytes = tiles * M * N * sizeof(CD);
    CD *c = (CD *)taken(bytes), *d, *near = (CD *)malloc(bytes);
    must(hipMalloc((void **)&d, bytes), "memory of the GPU");
    hipLaunchKernelGGL(probe, dim3((tiles + BLOCKS - 1) / BLOCKS), dim3(LANES), 0, 0, a, b, c, d, tiles);
    must(hipGetLastError(), "launch");
    must(hipDeviceSynchronize(), "the kernel");
    if (!near)
        return 4;
    must(hipMemcpy(near, d, bytes, hipMemcpyDeviceToHost), "copy from the GPU");
    return fwrite(near, 1, bytes, stdout) != bytes || fflush(stdout) ? 4 : 0;
}
#endif
