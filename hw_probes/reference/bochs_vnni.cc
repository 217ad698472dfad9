/* x86's dot products of integers as Bochs computes them: the functions of its VNNI and AMX-INT8 instructions. */
#include "config.h"
#include "xmm.h"
#include "simd_vnni.h"
/* DPBDSS, DPBDSU, DPBDUS and DPBDUU, as amx.cc has them. */
#include "amx_int8.inc"
#include "answer.h"

/* Up to 32 bits of a row's elements, side by side; k elements of `bits` bits. */
static uint32_t packed(int k, int bits, const uint64_t *x) {
    uint32_t word = 0;
    for (int i = 0; i < k; i++) word |= (uint32_t)x[i] << (i * bits);
    return word;
}

/* A lane of a VNNI instruction. */
template <void (*Add)(BxPackedXmmRegister *, const BxPackedXmmRegister *, const BxPackedXmmRegister *), int K>
static uint64_t lane(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    BxPackedXmmRegister d, x, y;
    for (int i = 0; i < k; i += K) {
        d.clear(), x.clear(), y.clear();
        d.xmm32u(0) = (uint32_t)c;
        x.xmm32u(0) = packed(K, 32 / K, a + i);
        y.xmm32u(0) = packed(K, 32 / K, b + i);
        Add(&d, &x, &y);
        c = d.xmm32u(0);
    }
    return c;
}

/* An element of a tile: four products are added to it at a time. */
template <Bit32u (*Of4)(Bit32u, Bit32u)>
static uint64_t tile(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    uint32_t sum = (uint32_t)c;
    for (int i = 0; i < k; i += 4) sum += Of4(packed(4, 8, a + i), packed(4, 8, b + i));
    return sum;
}

static Dot choose(const char *instruction, const char *formats, int k) {
    (void)formats;
    const struct { const char *name; int products; Dot dot; } all[] = {
        {"tdpbssd", 4, tile<DPBDSS>}, {"tdpbsud", 4, tile<DPBDSU>}, {"tdpbusd", 4, tile<DPBDUS>},
        {"tdpbuud", 4, tile<DPBDUU>},
#define LANES(SIZE, SIGNS, K) \
        {"vpdp" #SIZE #SIGNS "d", K, lane<xmm_pdp##SIZE##SIGNS##d, K>}, \
        {"vpdp" #SIZE #SIGNS "ds", K, lane<xmm_pdp##SIZE##SIGNS##ds, K>},
        LANES(b, us, 4) LANES(b, ss, 4) LANES(b, su, 4) LANES(b, uu, 4)
        LANES(w, ss, 2) LANES(w, su, 2) LANES(w, us, 2) LANES(w, uu, 2)
    };
    for (const auto &one : all)
        if (!strcmp(instruction, one.name) && k % one.products == 0) return one.dot;
    return NULL;
}
