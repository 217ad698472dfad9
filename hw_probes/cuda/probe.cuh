/* What every CUDA probe shares.
 *
 * Tiles of raw encodings: A [tiles][M][K], B [tiles][N][K] (each column of B in order of k), C and D [tiles][M][N],
 * scales of A [tiles][M][SCALES] and of B [tiles][N][SCALES].  `instruction.h` is written for one unit: M, N, K, the
 * unsigned types AB_A, AB_B, C_T and D_T (elements of A, B, C and D in memory), and the instruction itself.
 *
 * SPARSE instructions take 2 K elements of each column of B, of which their metadata selects K.  All rows and chunks of
 * a tile have the same metadata; the tiles take turns with each that is allowed (METADATA, METADATA_COUNT), and with
 * what stands where none is selected (UNSELECTED).
 */
#include "words.h"

#ifdef SIMULATED
/* The tests compile these sources for the host, with instructions of their own. */
#include "simulated.h"
#else
#define PTX(...) asm volatile(__VA_ARGS__)
#endif

#include "fragments.h"
#include "instruction.h"

#ifndef SCALES
#define SCALES 1
#endif
#define ARGUMENTS                                                                                                      \
    const AB_A *__restrict__ a, const AB_B *__restrict__ b, const C_T *__restrict__ c, D_T *__restrict__ d,            \
        const uint8_t *__restrict__ scale_a, const uint8_t *__restrict__ scale_b, unsigned long long tiles

#ifdef SPARSE
enum { B_ROWS = 2 * K };

__device__ inline uint32_t metadata_of(unsigned long long tile) {
    return (METADATA >> tile % METADATA_COUNT * 4 & 15) * 0x11111111u;
}

__device__ inline AB_B element_b(const AB_B *column, int k, unsigned long long tile) {
    const AB_B unselected[] = UNSELECTED;
    int from = selected(metadata_of(tile), SELECTED_BITS, k);
    return from >= 0 ? column[from] : unselected[tile / METADATA_COUNT % (sizeof unselected / sizeof(AB_B))];
}
#else
enum { B_ROWS = K };

__device__ inline AB_B element_b(const AB_B *column, int k, unsigned long long) {
    return column[k];
}
#endif

/* The scales of one row or column as the bytes of a word. */
__device__ inline uint32_t scale_word(const uint8_t *scales) {
    uint32_t word = 0;
    for (int i = 0; i < SCALES; i++)
        word |= (uint32_t)scales[i] << 8 * i;
    return word;
}
