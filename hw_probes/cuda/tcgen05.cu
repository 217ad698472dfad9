/* tcgen05.mma: a block of four warps computes one tile; A and B come from shared memory without swizzle, K-major,
 * C and D stand in tensor memory, one element to a 32-bit cell, and so do the scales.
 *
 * instruction.h gives A_BITS, B_BITS (bits of an element in shared memory), PER_CHUNK (elements in 16 bytes: formats of
 * less than eight bits stand together at its start unless the kind packs them), DESCRIPTOR (the instruction's), and
 * INSTRUCTION, which takes tensor_d, da, db, scales_a and scales_b; with SPARSE the metadata stands in place of scales_a.
 */
#include "probe.cuh"

/* Columns of tensor memory: D, then the scales of A and of B. */
enum { D_COLUMNS = (N + 31) / 32 * 32, COLUMNS = D_COLUMNS + 64 <= 128 ? 128 : D_COLUMNS + 64 <= 256 ? 256 : 512 };
enum { ROW_BYTES = 32, B_BYTES = ROW_BYTES * B_ROWS / K };

/* A shared-memory descriptor: address, leading and stride offsets in units of 16 bytes; version 1; no swizzle. */
__device__ inline uint64_t descriptor(const void *shared, int row_bytes) {
    uint64_t address = (uint64_t)__cvta_generic_to_shared(shared);
    return (address >> 4 & 0x3fff) | (uint64_t)(LEADING_BYTES >> 4) << 16 | (uint64_t)(8 * row_bytes >> 4) << 32 |
           (uint64_t)1 << 46;
}

template <int BITS, int BYTES, typename F> __device__ inline void fill(uint8_t *shared, int rows, F element) {
    enum { CHUNKS = BYTES / 16 };
    for (int i = threadIdx.x; i < rows * CHUNKS; i += 128) {
        int row = i / CHUNKS, chunk = i % CHUNKS;
        uint64_t halves[2] = {0, 0};
        for (int j = 0; j < PER_CHUNK; j++) {
            uint64_t value = element(row, chunk * PER_CHUNK + j);
            int bit = j * BITS;
            halves[bit / 64] |= value << bit % 64;
            if (bit % 64 + BITS > 64)
                halves[1] |= value >> (64 - bit % 64);
        }
        uint64_t *to = (uint64_t *)(shared + core_offset(BYTES, 16 * chunk, row));
        to[0] = halves[0], to[1] = halves[1];
    }
}

#ifndef SIMULATED
__device__ inline void to_tensor(uint32_t address, uint32_t word) {
    PTX("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" : : "r"(address), "r"(word) : "memory");
}

__device__ inline uint32_t from_tensor(uint32_t address) {
    uint32_t word;
    PTX("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(word) : "r"(address) : "memory");
    PTX("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    return word;
}

__device__ inline void wait_for(uint32_t barrier, uint32_t phase) {
    uint32_t done = 0;
    while (!done)
        PTX("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
            : "=r"(done)
            : "r"(barrier), "r"(phase)
            : "memory");
}
#endif

/* The scales of rows lane, lane + 32, … in neighbouring columns, the same for each of the four warps. */
__device__ inline void scales_to_tensor(uint32_t address, const uint8_t *scales, int rows) {
    int lane = threadIdx.x % 32;
    for (int j = 0; 32 * j < rows; j++) {
        int row = 32 * j + lane;
        to_tensor(address + j, row < rows ? scale_word(scales + row * SCALES) : 0);
    }
}

/* What was written to shared and tensor memory is seen by all, the instruction included. */
__device__ inline void meet() {
    PTX("tcgen05.wait::st.sync.aligned;" ::: "memory");
    PTX("fence.proxy.async.shared::cta;" ::: "memory");
    PTX("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    PTX("tcgen05.fence::after_thread_sync;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(128) probe(ARGUMENTS) {
    __shared__ __align__(1024) uint8_t sa[M * ROW_BYTES];
    __shared__ __align__(1024) uint8_t sb[N * B_BYTES];
    __shared__ __align__(8) uint64_t arrived;
    __shared__ uint32_t base;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t barrier = (uint32_t)__cvta_generic_to_shared(&arrived);
    if (warp == 0) {
        PTX("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;"
                     :
                     : "r"((uint32_t)__cvta_generic_to_shared(&base)), "n"((int)COLUMNS)
                     : "memory");
        PTX("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    }
    if (threadIdx.x == 0)
        PTX("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(barrier) : "memory");
    meet();
    uint32_t tensor_d = base, scales_a = base + D_COLUMNS, scales_b = base + D_COLUMNS + 32;
    /* A warp reaches the 32 lanes of its own number. */
    uint32_t mine = (uint32_t)(32 * warp) << 16;
    uint32_t phase = 0;
    int row = M == 128 ? 32 * warp + lane : lane < 16 ? 16 * warp + lane : -1;
    (void)scales_a, (void)scales_b;
    for (unsigned long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const AB_A *at = a + tile * M * K;
        const AB_B *bt = b + tile * N * K;
        fill<A_BITS, ROW_BYTES>(sa, M, [=](int i, int k) { return at[i * K + k]; });
        fill<B_BITS, B_BYTES>(sb, N, [=](int j, int k) { return element_b(bt + j * K, k, tile); });
        for (int j = 0; j < N; j++)
            to_tensor(tensor_d + mine + j, row < 0 ? 0 : (uint32_t)c[(tile * M + row) * N + j]);
#ifdef SPARSE
        for (int j = 0; j < 32; j++)
            to_tensor(scales_a + mine + j, metadata_of(tile));
#endif
#ifdef SCALED
        scales_to_tensor(scales_a + mine, scale_a + tile * M * SCALES, M);
        scales_to_tensor(scales_b + mine, scale_b + tile * N * SCALES, N);
#endif
        meet();
        if (threadIdx.x == 0) {
            uint64_t da = descriptor(sa, ROW_BYTES), db = descriptor(sb, B_BYTES);
            INSTRUCTION;
            PTX("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
                         :
                         : "r"(barrier)
                         : "memory");
        }
        wait_for(barrier, phase);
        phase ^= 1;
        PTX("tcgen05.fence::after_thread_sync;" ::: "memory");
        for (int j = 0; j < N; j++) {
            uint32_t word = from_tensor(tensor_d + mine + j);
            if (row >= 0)
                d[(tile * M + row) * N + j] = (D_T)word;
        }
        meet();
    }
    if (warp == 0)
        PTX("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" : : "r"(base), "n"((int)COLUMNS));
}
