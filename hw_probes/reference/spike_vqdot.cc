/* RISC-V's dot products of bytes as Spike computes them: insns/vqdot_vv.h and its kind of riscv-isa-sim. */
#include "answer.h"

/* Four products of bytes are added to a word.  Spike's files hold the bodies of a loop over the words of registers. */
#define require(x)
#define require_extension(x)
#define VI_VV_LOOP(BODY) BODY
static uint32_t bytes(const uint64_t *x) { return (uint32_t)(x[0] | x[1] << 8 | x[2] << 16 | x[3] << 24); }
#define WORDS(NAME) \
    static uint64_t NAME(int k, const uint64_t *a, const uint64_t *b, uint64_t c) { \
        int32_t vd = (int32_t)c; \
        for (int i = 0; i < k; i += 4) { \
            int32_t vs2 = (int32_t)bytes(a + i), vs1 = (int32_t)bytes(b + i); \
            NAME##_step(vd, vs1, vs2); \
        } \
        return (uint32_t)vd; \
    }
static void vqdot_step(int32_t &vd, int32_t vs1, int32_t vs2) {
#include "insns/vqdot_vv.h"
}
static void vqdotu_step(int32_t &vd, int32_t vs1, int32_t vs2) {
#include "insns/vqdotu_vv.h"
}
static void vqdotsu_step(int32_t &vd, int32_t vs1, int32_t vs2) {
#include "insns/vqdotsu_vv.h"
}
WORDS(vqdot) WORDS(vqdotu) WORDS(vqdotsu)

static Dot choose(const char *instruction, const char *formats, int k) {
    (void)formats;
    if (k % 4) return NULL;
    if (!strcmp(instruction, "vqdot.vv")) return vqdot;
    if (!strcmp(instruction, "vqdotu.vv")) return vqdotu;
    if (!strcmp(instruction, "vqdotsu.vv")) return vqdotsu;
    return NULL;
}
