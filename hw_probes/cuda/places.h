/* Where the dot products of a batch stand on tiles of M x N: min(M, N) to a tile, no two on one row or column; along
 * the longer side they move on by one from tile to tile (`Places.of` in tcformal/devices/tiles.py).
 */
#ifndef PLACES_H
#define PLACES_H

#ifndef HOST_AND_DEVICE
#ifdef __CUDACC__
#define HOST_AND_DEVICE __host__ __device__ inline
#else
#define HOST_AND_DEVICE static inline
#endif
#endif

typedef unsigned long long Count;

/* Number within its tile of the dot product on a row of a tile; at least min(m, n) where there is none. */
HOST_AND_DEVICE Count on_row(int m, int n, Count tile, int row) {
    return m > n ? (row + (Count)m - tile % m) % m : row;
}

HOST_AND_DEVICE Count on_column(int m, int n, Count tile, int column) {
    return m > n ? column : (column + (Count)n - tile % n) % n;
}

/* The dot product of a batch at the i-th place of a tile, all of them turned by `turn`; `count` where there is none. */
HOST_AND_DEVICE Count at_place(int m, int n, Count count, Count turn, Count tile, Count i) {
    Count per_tile = m < n ? m : n, place = tile * per_tile + i;
    if (i >= per_tile || place >= count)
        return count;
    return (place + count - turn % count) % count;
}

#endif
