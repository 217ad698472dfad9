/* Dot products onto tiles and results off them, so that only the dot products themselves go to the GPU and back.
 *
 * Operands of a dot product stand one after the other in memory: a, b [count][bytes], c and d [count] of `bytes` each.
 */
#include "words.h"

#ifdef SIMULATED
#include "simulated.h"
#endif

#include "places.h"

#define INDEX (blockIdx.x * (Count)blockDim.x + threadIdx.x)

/* Rows of A (side 0) or columns of B (side 1) of all tiles; those of no dot product are zero. */
extern "C" __global__ void spread_rows(const uint8_t *__restrict__ from, uint8_t *__restrict__ to, Count tiles,
                                       Count count, Count turn, int m, int n, int side, int bytes) {
    int rows = side ? n : m;
    Count index = INDEX, tile = index / rows;
    int row = (int)(index % rows);
    if (tile >= tiles)
        return;
    Count dot = at_place(m, n, count, turn, tile, side ? on_column(m, n, tile, row) : on_row(m, n, tile, row));
    for (int i = 0; i < bytes; i++)
        to[index * bytes + i] = dot < count ? from[dot * bytes + i] : 0;
}

/* Elements of C of all tiles. */
extern "C" __global__ void spread_c(const uint8_t *__restrict__ from, uint8_t *__restrict__ to, Count tiles,
                                    Count count, Count turn, int m, int n, int bytes) {
    Count index = INDEX, tile = index / (m * (Count)n);
    int row = (int)(index / n % m), column = (int)(index % n);
    if (tile >= tiles)
        return;
    Count i = on_row(m, n, tile, row), j = on_column(m, n, tile, column);
    Count dot = i == j ? at_place(m, n, count, turn, tile, i) : count;
    for (int byte = 0; byte < bytes; byte++)
        to[index * bytes + byte] = dot < count ? from[dot * bytes + byte] : 0;
}

/* Elements of D of all tiles that belong to a dot product. */
extern "C" __global__ void gather_d(const uint8_t *__restrict__ from, uint8_t *__restrict__ to, Count tiles, Count count,
                                    Count turn, int m, int n, int bytes) {
    Count index = INDEX, tile = index / (m * (Count)n);
    int row = (int)(index / n % m), column = (int)(index % n);
    if (tile >= tiles)
        return;
    Count i = on_row(m, n, tile, row), j = on_column(m, n, tile, column);
    Count dot = i == j ? at_place(m, n, count, turn, tile, i) : count;
    for (int byte = 0; byte < bytes && dot < count; byte++)
        to[dot * bytes + byte] = from[index * bytes + byte];
}
