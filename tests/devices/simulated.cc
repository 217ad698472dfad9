/* One block of a CUDA probe on the host; see simulated.h.  SOURCE is the probe, BLOCK its threads. */
#include <stdint.h>

#include "instruction.h"

#define WAITED
#ifdef SPARSE
#define METADATA_WORD in_or_out(&metadata, 4)
#else
#define METADATA_WORD (void)0
#endif
#if defined(IS_MMA)
#ifdef SCALED
#define SCALE_WORDS in_or_out(&sa, 4), in_or_out(&sb, 4)
#else
#define SCALE_WORDS (void)0
#endif
#define INSTRUCTION                                                                                                    \
    do {                                                                                                               \
        if (!results)                                                                                                  \
            in_or_out(ra, sizeof ra), in_or_out(rb, sizeof rb), SCALE_WORDS, METADATA_WORD;                            \
        if (results)                                                                                                   \
            in_or_out(RESULT, sizeof RESULT);                                                                          \
        else                                                                                                           \
            in_or_out(rc, sizeof rc);                                                                                  \
    } while (0)
#elif defined(IS_DP4A)
#define INSTRUCTION                                                                                                    \
    do {                                                                                                               \
        if (!results)                                                                                                  \
            in_or_out(&ra, 4), in_or_out(&rb, 4);                                                                      \
        in_or_out(&rc, 4);                                                                                             \
    } while (0)
#elif defined(IS_WGMMA)
#define INSTRUCTION                                                                                                    \
    do {                                                                                                               \
        shared_a = sa, shared_b = sb, descriptor_a = descriptor(sa, 32), descriptor_b = descriptor(sb, B_BYTES);       \
        if (!results)                                                                                                  \
            METADATA_WORD;                                                                                             \
        in_or_out(rc, sizeof rc);                                                                                      \
    } while (0)
#else
#define INSTRUCTION                                                                                                    \
    shared_a = sa, shared_b = sb, descriptor_a = descriptor(sa, ROW_BYTES), descriptor_b = descriptor(sb, B_BYTES)
#endif
#include SOURCE

int main(int argc, char **argv) {
    size_t tiles = atoi(argv[2]);
    results = argc > 1 && argv[1][0] == 'r';
    AB_A *a = taken<AB_A>(tiles * M * K);
    AB_B *b = taken<AB_B>(tiles * N * K);
    C_T *c = taken<C_T>(tiles * M * N);
    D_T *d = (D_T *)calloc(tiles * M * N, sizeof(D_T));
    uint8_t *scale_a = taken<uint8_t>(tiles * M * SCALES), *scale_b = taken<uint8_t>(tiles * N * SCALES);
#ifndef SCALED
    scale_a = scale_b = nullptr; /* a unit without scales reads none */
#endif
    blockDim.x = BLOCK;
    blockIdx.x = argc > 3 ? atoi(argv[3]) : 0;
    if (results && !strcmp(SOURCE, "tcgen05.cu"))
        in_or_out(cells, sizeof cells);
    /* The threads one after the other: shared memory is whole when the last one is through. */
    for (threadIdx.x = 0; threadIdx.x < BLOCK; threadIdx.x++)
        probe(a, b, c, d, scale_a, scale_b, tiles);
    if (results)
        return fwrite(d, sizeof(D_T), tiles * M * N, stdout) != tiles * M * N;
    if (shared_a) {
        in_or_out((void *)shared_a, M * 32), in_or_out((void *)shared_b, N * 32 * B_ROWS / K);
        in_or_out(&descriptor_a, 8), in_or_out(&descriptor_b, 8);
        if (!strcmp(SOURCE, "tcgen05.cu"))
            in_or_out(cells, sizeof cells);
    }
    return 0;
}
