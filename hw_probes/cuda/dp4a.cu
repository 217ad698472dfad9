/* dp4a: a thread computes one dot product, whose four products stand in a register each of A and B. */
#include "probe.cuh"

extern "C" __global__ void probe(ARGUMENTS) {
    unsigned long long tile = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    (void)scale_a, (void)scale_b;
    if (tile >= tiles)
        return;
    uint32_t ra = 0, rb = 0, rc = c[tile];
    for (int i = 0; i < K; i++) {
        ra |= (uint32_t)a[tile * K + i] << 8 * i;
        rb |= (uint32_t)b[tile * K + i] << 8 * i;
    }
    INSTRUCTION;
    d[tile] = rc;
}
