/* wgmma.mma_async: a warpgroup computes one tile; A and B come from shared memory without swizzle, K-major.
 *
 * instruction.h gives C_REGS, C_PER_REG and INSTRUCTION, which takes the descriptors `da` and `db`, the
 * registers rc, and with SPARSE `metadata`.
 */
#include "probe.cuh"

/* A shared-memory descriptor: address, leading and stride offsets in units of 16 bytes; layout 0, no swizzle. */
__device__ inline uint64_t descriptor(const void *shared, int row_bytes) {
    uint64_t address = (uint64_t)__cvta_generic_to_shared(shared);
    return (address >> 4 & 0x3fff) | (uint64_t)(LEADING_BYTES >> 4) << 16 | (uint64_t)(8 * row_bytes >> 4) << 32;
}

enum { B_BYTES = 32 * B_ROWS / K };

extern "C" __global__ void __launch_bounds__(128) probe(ARGUMENTS) {
    __shared__ __align__(1024) uint8_t sa[M * 32];
    __shared__ __align__(1024) uint8_t sb[N * B_BYTES];
    int thread = threadIdx.x;
    (void)scale_a, (void)scale_b;
    for (unsigned long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const AB_A *at = a + tile * M * K;
        const AB_B *bt = b + tile * N * K;
        for (int i = thread; i < M * K; i += 128)
            *(AB_A *)(sa + core_offset(32, i % K * sizeof(AB_A), i / K)) = at[i];
        for (int i = thread; i < N * B_ROWS; i += 128) {
            int column = i / B_ROWS, k = i % B_ROWS;
            *(AB_B *)(sb + core_offset(B_BYTES, k * sizeof(AB_B), column)) = element_b(bt + column * K, k, tile);
        }
        uint32_t rc[C_REGS];
#pragma unroll
        for (int r = 0; r < C_REGS; r++) {
            uint32_t word = 0;
            for (int i = 0; i < C_PER_REG; i++) {
                Place p = place_wgmma(thread, r * C_PER_REG + i);
                word |= (uint32_t)c[tile * M * N + p.row * N + p.column] << (i * 16);
            }
            rc[r] = word;
        }
        uint64_t da = descriptor(sa, 32), db = descriptor(sb, B_BYTES);
#ifdef SPARSE
        uint32_t metadata = metadata_of(tile);
#endif
        /* What was written above must be seen by the instruction, which reads through the asynchronous proxy. */
        PTX("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        PTX("wgmma.fence.sync.aligned;" ::: "memory");
        INSTRUCTION;
        PTX("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
        WAITED;
#pragma unroll
        for (int r = 0; r < C_REGS; r++)
            for (int i = 0; i < C_PER_REG; i++) {
                Place p = place_wgmma(thread, r * C_PER_REG + i);
                d[tile * M * N + p.row * N + p.column] = (D_T)(rc[r] >> (i * 16));
            }
        __syncthreads();
    }
}
