/* What every CPU probe shares: tiles in on standard input, results out on standard output.
 *
 * Arguments: K.  Input: the number of tiles as a 64-bit integer, then all of A [tiles][M][K], B [tiles][N][K] (each
 * column of B in order of k), C [tiles][M][N].  Output: D [tiles][M][N].  All in the machine's own byte order.
 *
 * A probe includes this file after defining M, N and the unsigned types AB (of A and B) and CD (of C and D), and
 * defines `prepare`, which returns a sentence where the machine cannot run it, and `compute`.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *prepare(size_t k);
static void compute(const AB *a, const AB *b, const CD *c, CD *d, size_t tiles, size_t k);

/* Exit codes, beside 0: refused or failed in `prepare`; bad input; the control register mattered. */
enum { REFUSED = 3, BAD_INPUT = 4, CONTROL_MATTERED = 5 };

static void *need(size_t bytes) {
    /* Room to spare: a vector load may reach past the last element. */
    void *p = calloc(1, bytes + 4096);
    if (!p) {
        fputs("not enough memory\n", stderr);
        exit(BAD_INPUT);
    }
    return p;
}

static void *take(size_t bytes) {
    void *p = need(bytes);
    if (fread(p, 1, bytes, stdin) != bytes) {
        fputs("the operands are cut off\n", stderr);
        exit(BAD_INPUT);
    }
    return p;
}

#ifdef CONTROL_REGISTER
#include <immintrin.h>
/* The result must not depend on MXCSR: every rounding mode with and without DAZ and FTZ, all exceptions
 * masked.  Nor may the register be written. */
static void under_every_mxcsr(const AB *a, const AB *b, const CD *c, const CD *d, size_t tiles, size_t k) {
    CD *again = need(tiles * M * N * sizeof(CD));
    for (unsigned setting = 0; setting < 16; setting++) {
        unsigned word = 0x1f80 | (setting & 3) << 13 | (setting >> 2 & 1) << 15 | (setting >> 3) << 6;
        unsigned before = _mm_getcsr();
        _mm_setcsr(word);
        compute(a, b, c, again, tiles, k);
        unsigned after = _mm_getcsr();
        _mm_setcsr(before);
        if (after != word) {
            fprintf(stderr, "MXCSR was %#x before and %#x after\n", word, after);
            exit(CONTROL_MATTERED);
        }
        for (size_t i = 0; i < tiles * M * N; i++)
            if (again[i] != d[i]) {
                fprintf(stderr, "result %zu is %#llx by default and %#llx with MXCSR = %#x\n", i,
                        (unsigned long long)d[i], (unsigned long long)again[i], word);
                exit(CONTROL_MATTERED);
            }
    }
    free(again);
}
#endif

int main(int argc, char **argv) {
    size_t k = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    const char *refusal = k ? prepare(k) : "expected K as the argument";
    uint64_t tiles;
    if (refusal) {
        fprintf(stderr, "%s\n", refusal);
        return REFUSED;
    }
    if (fread(&tiles, sizeof tiles, 1, stdin) != 1) {
        fputs("the number of tiles is missing\n", stderr);
        return BAD_INPUT;
    }
    AB *a = take(tiles * M * k * sizeof(AB)), *b = take(tiles * N * k * sizeof(AB));
    CD *c = take(tiles * M * N * sizeof(CD)), *d = need(tiles * M * N * sizeof(CD));
    compute(a, b, c, d, tiles, k);
#ifdef CONTROL_REGISTER
    under_every_mxcsr(a, b, c, d, tiles, k);
#endif
    fwrite(d, sizeof(CD), tiles * M * N, stdout);
    return fflush(stdout) ? BAD_INPUT : 0;
}
