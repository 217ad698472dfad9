/* The kernels of tiles.cu on the host: all threads of a launch, one after the other. */
#include SOURCE

#define EACH(call)                                                                                                     \
    for (blockDim.x = threads, blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)                                      \
        for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++)                                                    \
    call

extern "C" void launch(int kernel, unsigned blocks, unsigned threads, const uint8_t *from, uint8_t *to, Count tiles,
                       Count count, Count turn, int m, int n, int x, int y) {
    if (kernel == 0)
        EACH(spread_rows(from, to, tiles, count, turn, m, n, x, y));
    else if (kernel == 1)
        EACH(spread_c(from, to, tiles, count, turn, m, n, x));
    else
        EACH(gather_d(from, to, tiles, count, turn, m, n, x));
}
