/* One wavefront of the HIP probe on the host; see simulated.h.  What the instruction takes is written out first, then its
 * results are read.
 */
#include <stdint.h>
#define THREAD threadIdx.x
#define BLOCK blockIdx.x
#define MULTIPLY                                                                                                       \
    do {                                                                                                               \
        if (!results)                                                                                                  \
            in_or_out(ra, sizeof ra), in_or_out(rb, sizeof rb);                                                        \
        in_or_out(rc, sizeof rc);                                                                                      \
    } while (0)
#include "mfma.hip"

int main(int argc, char **argv) {
    size_t tiles = atoi(argv[2]);
    results = argc > 1 && argv[1][0] == 'r';
    AB_A *a = taken<AB_A>(tiles * M * K);
    AB_B *b = taken<AB_B>(tiles * N * K);
    CD *c = taken<CD>(tiles * M * N), *d = (CD *)calloc(tiles * M * N, sizeof(CD));
    for (threadIdx.x = 0; threadIdx.x < LANES; threadIdx.x++)
        probe(a, b, c, d, tiles);
    if (results)
        fwrite(d, sizeof(CD), tiles * M * N, stdout);
    return 0;
}
