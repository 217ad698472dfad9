/* Which element of a matrix each lane holds in each register of a warp's fragments, for `mma.sync` (PTX ISA,
 * "Matrix Fragments for mma").  The kernels and the simulation in the tests compile these very functions.
 *
 * A position is (lane, reg, i): the i-th element, from the low bits, of the reg-th register.  `per_register` is the
 * number of elements that a register holds.  All shapes but the fp16 m8n8k4 share one rule: groups of four lanes.
 */
#ifndef FRAGMENTS_H
#define FRAGMENTS_H

#ifdef __CUDACC__
#define HOST_AND_DEVICE __host__ __device__ inline
#else
#define HOST_AND_DEVICE static inline
#endif

typedef struct {
    int row, column;
} Place;

HOST_AND_DEVICE Place place(int row, int column) {
    Place p;
    p.row = row;
    p.column = column;
    return p;
}

/* Row and k of an element of A; m is 16 or 8. */
HOST_AND_DEVICE Place place_a(int m, int per_register, int lane, int reg, int i) {
    int halves = m / 8;
    return place(lane / 4 + 8 * (reg % halves), lane % 4 * per_register + i + 4 * per_register * (reg / halves));
}

/* k and column of an element of B. */
HOST_AND_DEVICE Place place_b(int per_register, int lane, int reg, int i) {
    return place(lane % 4 * per_register + i + 4 * per_register * reg, lane / 4);
}

/* Row and column of the n-th element of C and D that a lane holds. */
HOST_AND_DEVICE Place place_c(int lane, int n) {
    return place(lane / 4 + 8 * (n / 2), lane % 4 * 2 + n % 2);
}

/* The fp16 m8n8k4 (row.col): four quadpairs, lanes 4q to 4q + 3 and 16 more, each with matrices of its own. */
HOST_AND_DEVICE int quadpair(int lane) {
    return lane % 16 / 4;
}

HOST_AND_DEVICE int quadpair_row(int lane) {
    return lane % 4 + (lane < 16 ? 0 : 4);
}

/* Row (of A) or column (of B) and k of the i-th of a lane's four elements. */
HOST_AND_DEVICE Place place_quadpair_ab(int lane, int i) {
    return place(quadpair_row(lane), i);
}

HOST_AND_DEVICE Place place_quadpair_c(int half, int lane, int n) {
    if (half)
        return place(quadpair_row(lane), n);
    return place((lane & 1) + (n & 2) + (lane < 16 ? 0 : 4), (n & 4) + (lane & 2) + (n & 1));
}

/* Row of the scales of A that a lane supplies (thread-id-a 0: the first two lanes of each four), and column of B's. */
HOST_AND_DEVICE int scale_row(int lane) {
    return lane / 4 + 8 * (lane & 1);
}

HOST_AND_DEVICE int scale_column(int lane) {
    return lane / 4;
}

/* wgmma: row and column of the n-th element of D of a thread of the warpgroup. */
HOST_AND_DEVICE Place place_wgmma(int thread, int n) {
    int lane = thread % 32;
    return place(16 * (thread / 32) + lane / 4 + 8 * (n / 2 % 2), 8 * (n / 4) + lane % 4 * 2 + n % 2);
}

/* Sparse instructions: which of the selected elements of a row of A meets the k-th element of a column of B; -1: none.
 * `metadata` has two 2-bit indices in a chunk of four elements, pairs of 4-bit elements, or halves of tf32 (PTX ISA,
 * "Sparse matrix storage").
 */
HOST_AND_DEVICE int selected(unsigned metadata, int bits, int k) {
    int first = metadata & 3, second = metadata >> 2 & 3;
    if (bits == 32)
        return first == k % 2 * 2 ? k / 2 : -1;
    int unit = bits == 4 ? 2 : 1, index = k / unit % 4, from = k / (4 * unit) * 2 * unit + k % unit;
    return index == first ? from : index == second ? from + unit : -1;
}

/* Shared memory without swizzle, K-major (wgmma, tcgen05): core matrices of 8 rows of 16 bytes, one after the other;
 * those of one row group, `row_bytes` / 16 of them, stand next to each other.  The byte at which an element begins.
 */
enum { CORE_BYTES = 128, LEADING_BYTES = CORE_BYTES };

HOST_AND_DEVICE int core_offset(int row_bytes, int byte, int row) {
    return row / 8 * (8 * row_bytes) + byte / 16 * LEADING_BYTES + row % 8 * 16 + byte % 16;
}

/* tcgen05 with M = 64 or 128: lane of tensor memory of a row of D. */
HOST_AND_DEVICE int tensor_lane(int m, int row) {
    return m == 128 ? row : row / 16 * 32 + row % 16;
}

#endif
