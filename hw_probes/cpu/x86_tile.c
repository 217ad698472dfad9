/* tdpbf16ps, tdpfp16ps, tdpbssd and their kind: tiles of 16 x 16 results of 32 or 64 products each (AMX).
 * TILE_OP names the intrinsic, TILE_AB the type of A and B. */
#include <immintrin.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define M 16
#define N 16
#define CONTROL_REGISTER
typedef TILE_AB AB;
typedef uint32_t CD;
#include "probe.h"

/* Linux gives tile data to a process that asks: arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA). */
enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18, STEPS = 16, TOGETHER = 4 / sizeof(AB) };

static const char *prepare(size_t k) {
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t bytes_per_row[16];
        uint8_t rows[16];
    } config = {0};
    if (k != STEPS * TOGETHER)
        return "a row of a tile takes 64 bytes of products";
    if (syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA))
        return "the system does not give the permission to use AMX tiles";
    config.palette = 1;
    for (int i = 0; i < 3; i++)
        config.bytes_per_row[i] = 64, config.rows[i] = 16;
    _tile_loadconfig(&config);
    return NULL;
}

static void compute(const AB *a, const AB *b, const CD *c, CD *d, size_t tiles, size_t k) {
    AB steps[STEPS][N][TOGETHER];
    for (size_t t = 0; t < tiles; t++) {
        for (size_t p = 0; p < STEPS; p++)
            for (size_t j = 0; j < N; j++)
                memcpy(steps[p][j], b + (t * N + j) * k + TOGETHER * p, sizeof steps[p][j]);
        _tile_loadd(0, c + t * M * N, 64);
        _tile_loadd(1, a + t * M * k, 64);
        _tile_loadd(2, steps, 64);
        TILE_OP(0, 1, 2);
        _tile_stored(0, d + t * M * N, 64);
    }
}
