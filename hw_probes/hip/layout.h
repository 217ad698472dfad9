/* Which element each lane of a wavefront holds in each item of its vectors, for the instructions MFMA and SMFMAC of CDNA,
 * WMMA and SWMMAC of RDNA (AMD Instinct MI300 instruction set architecture, section 7; AMD Matrix Instruction
 * Calculator).  An instruction multiplies `blocks` pairs of matrices at once.  The kernel and the simulation in the
 * tests compile these very functions.
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#ifdef __HIP__
#define ON_DEVICE static __attribute__((device)) inline
#else
#define ON_DEVICE static inline
#endif

typedef struct {
    int block, row, column;
} Element;

/* Row of A (or column of B) and k of an item; a lane holds `items` successive k.  On RDNA3 these are all of a row, and
 * the other half of the lanes holds them again: as k from K on.
 */
ON_DEVICE Element element_ab(int rows, int blocks, int items, int lane, int item) {
    Element e;
    int rest = lane / rows;
    e.row = lane % rows;
    e.block = rest % blocks;
    e.column = rest / blocks * items + item;
    return e;
}

/* Row and column of an item of C or D; `high` successive rows stand in one lane: 4; 1 for 64-bit results and on RDNA3; 8
 * on RDNA4.  Matrices that share an item stand side by side below the rows: v_mfma_f64_4x4x4 has row i, column j of a
 * block in lane 16 i + 4 block + j (AMD Matrix Instruction Calculator 1.3.2).
 */
ON_DEVICE Element element_cd(int m, int n, int high, int lane, int item) {
    Element e;
    int blocks_across = m * n / high < LANES ? LANES * high / (m * n) : 1;
    int rows_across = LANES / blocks_across / n, groups = m / (high * rows_across);
    int rest = lane / n, group = item / high % groups;
    e.column = lane % n;
    e.row = item % high + high * (rest / blocks_across + rows_across * group);
    e.block = rest % blocks_across + blocks_across * (item / (high * groups));
    return e;
}

/* Sparse instructions: which of the selected elements of a row of A meets the k-th element of a column of B; -1: none.
 * `index` has two 2-bit places in a chunk of four elements.
 */
ON_DEVICE int selected(unsigned index, int k) {
    int first = index & 3, second = index >> 2 & 3;
    return k % 4 == first ? k / 4 * 2 : k % 4 == second ? k / 4 * 2 + 1 : -1;
}

#endif
