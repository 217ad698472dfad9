/* RISC-V's dot products as Spike computes them: bulknormdot.h and zvbdot.h of riscv-isa-sim, and its SoftFloat. */
extern "C" {
#include "softfloat.h"
}
#include "answer.h"

/* What Spike's own headers expect beside SoftFloat. */
static inline float32_t f32(uint32_t word) { return float32_t{word}; }

#include "zvbdot.h"

template <typename Word>
static std::vector<Word> row(int k, const uint64_t *words) { return std::vector<Word>(words, words + k); }

static uint64_t wide(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    return zvfwbdot16bf_dot_acc(row<uint16_t>(k, a), row<uint16_t>(k, b), f32(c)).v;
}

template <typename A, typename B> static uint64_t quad(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    return zvfqbdot8f_dot_acc<A, B>(row<uint8_t>(k, a), row<uint8_t>(k, b), f32(c)).v;
}

/* As vfbdot_vv.h has it: the product rounded, then the sum, element after element. */
static uint64_t single(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    float32_t sum = f32(c);
    for (int i = 0; i < k; i++) sum = f32_add(sum, f32_mul(f32(a[i]), f32(b[i])));
    return sum.v;
}

static Dot choose(const char *instruction, const char *formats, int k) {
    (void)k;
    softfloat_roundingMode = softfloat_round_near_even;
    if (strstr(formats, ",fp32,fp32") == NULL) return NULL;
    if (!strncmp(instruction, "vfwbdot", 7) || !strncmp(formats, "bf16,bf16,", 10)) return wide;
    if (!strncmp(formats, "fp32,fp32,", 10)) return single;
    if (!strncmp(formats, "e4m3,e4m3,", 10)) return quad<ofp8_e4m3, ofp8_e4m3>;
    if (!strncmp(formats, "e5m2,e4m3,", 10)) return quad<ofp8_e5m2, ofp8_e4m3>;
    if (!strncmp(formats, "e4m3,e5m2,", 10)) return quad<ofp8_e4m3, ofp8_e5m2>;
    if (!strncmp(formats, "e5m2,e5m2,", 10)) return quad<ofp8_e5m2, ofp8_e5m2>;
    return NULL;
}
