/* A host that stands for a GPU: the threads of one block run one after the other, twice.
 *
 * In the first run the registers and memories that the instruction takes are written out where the instruction would
 * stand; in the second its results are read there.  What the instruction does in between is up to the test.
 */
#ifndef SIMULATED_H
#define SIMULATED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define __device__
#define __host__
#define __global__
#define __restrict__
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(n)
#define __syncthreads()
#define PTX(...)

static struct Index {
    unsigned x;
} threadIdx, blockIdx, blockDim, gridDim = {1u << 30}; /* a block computes one tile */

static int results;
static const void *shared_a, *shared_b;
static unsigned long long descriptor_a, descriptor_b;
static unsigned cells[128][512];

static inline unsigned long long __cvta_generic_to_shared(const void *p) {
    return p == shared_a ? 0x1000 : p == shared_b ? 0x8000 : 0;
}

template <typename T> static T *taken(size_t n) {
    T *p = (T *)calloc(n, sizeof(T));
    if (fread(p, sizeof(T), n, stdin) != n)
        exit(2);
    return p;
}

static inline void in_or_out(void *data, size_t bytes) {
    if (results ? fread(data, 1, bytes, stdin) != bytes : fwrite(data, 1, bytes, stdout) != bytes)
        exit(1);
}

static inline void to_tensor(unsigned address, unsigned word) {
    if (!results)
        cells[(address >> 16) + threadIdx.x % 32][address & 0xffff] = word;
}

static inline unsigned from_tensor(unsigned address) {
    return cells[(address >> 16) + threadIdx.x % 32][address & 0xffff];
}

static inline void wait_for(unsigned, unsigned) {}

#endif
