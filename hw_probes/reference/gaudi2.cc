/* Gaudi 2's matrix unit as Intel's RTL verification model has it: fs_fma_gaudi2.h and fs_fma.cpp, no_opt=true. */
#include "fs_fma_gaudi2.h"
#include "answer.h"

/* Calls of a sum of `terms`, `take` elements each, of which `widen` makes fp32; what is left over is +0. */
typedef uint32_t (*Widen)(uint64_t);
template <Widen widen, int take, int terms, int kept, bool fp8>
static uint64_t sums(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i += take) {
        uint32_t wide_a[terms] = {0}, wide_b[terms] = {0};
        for (int j = 0; j < take; j++) wide_a[j] = widen(a[i + j]), wide_b[j] = widen(b[i + j]);
        c = Gaudi2::fma_mul_add_tree_n(wide_a, wide_b, c, Gaudi2::RND_TO_NE, terms, kept, 0, 0, fp8, true);
    }
    return c;
}

static uint32_t of_bf16(uint64_t x) { return Gaudi2::bf16_to_fp32((uint16_t)x, false); }
static uint32_t of_fp16(uint64_t x) { return Gaudi2::fp16_to_fp32((uint16_t)x, false); }
/* Operands are tf32 already: Intel's model rounds other fp32 words to the nearest one first. */
static uint32_t of_tf32(uint64_t x) { return (uint32_t)x & 0xffffe000; }

/* An fp8 format: bits of exponent and fraction, and bias; the same of A and B but for the bias. */
static uint8_t exponent, fraction, bias_of_a, bias_of_b;

static uint64_t fp8(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i += 16) {
        uint64_t half_a[16], half_b[16];
        for (int j = 0; j < 16; j++) {
            half_a[j] = Gaudi2::fp8_to_fp16((uint8_t)a[i + j], exponent, fraction, bias_of_a, false);
            half_b[j] = Gaudi2::fp8_to_fp16((uint8_t)b[i + j], exponent, fraction, bias_of_b, false);
        }
        c = sums<of_fp16, 16, 16, 4, true>(16, half_a, half_b, c);
    }
    return c;
}

static uint64_t fp32(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i += 2)
        c = Gaudi2::fma_mul_add_tree_fp32_N2_K26_add_C_before_norm_fp32_emul(
            a[i], b[i], a[i + 1], b[i + 1], c, Gaudi2::RND_TO_NE);
    return c;
}

static uint64_t fp32_ieee(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i++) c = Gaudi2::fma_fp32(a[i], b[i], c, Gaudi2::RND_TO_NE);
    return c;
}

/* The bias that a name such as e4m3[bias=11,ieee] states, or the usual one. */
static uint8_t bias_in(const char *name, int usual) {
    const char *bias = strstr(name, "bias=");
    return (uint8_t)(bias ? atoi(bias + 5) : usual);
}

/* Codes of the highest exponent are IEEE's: Inf and NaN. */
static bool fp8_named(const char *a, const char *b) {
    bool wide = !strncmp(a, "e5m2", 4) && !strncmp(b, "e5m2", 4);
    if (!wide && (strncmp(a, "e4m3", 4) || strncmp(b, "e4m3", 4) || !strstr(a, "ieee") || !strstr(b, "ieee")))
        return false;
    exponent = wide ? 5 : 4;
    fraction = 7 - exponent;
    bias_of_a = bias_in(a, wide ? 15 : 7);
    bias_of_b = bias_in(b, wide ? 15 : 7);
    return true;
}

static Dot choose(const char *instruction, const char *formats, int k) {
    if (!strcmp(formats, "fp32,fp32,fp32,fp32")) {
        if (!strcmp(instruction, "mme.fp32_ieee")) return fp32_ieee;
        return k % 2 ? NULL : fp32;
    }
    if (!strcmp(formats, "tf32,tf32,fp32,fp32")) return k % 4 ? NULL : sums<of_tf32, 4, 8, 26, false>;
    if (!strcmp(formats, "bf16,bf16,fp32,fp32")) return k % 8 ? NULL : sums<of_bf16, 8, 8, 26, false>;
    if (!strcmp(formats, "fp16,fp16,fp32,fp32")) return k % 8 ? NULL : sums<of_fp16, 8, 8, 26, false>;
    char a[64];
    snprintf(a, sizeof a, "%s", formats);
    char *b = strstr(a, ",e");
    if (k % 16 || !b || !strstr(formats, ",fp32,fp32")) return NULL;
    *b++ = 0;
    return fp8_named(a, b) ? fp8 : NULL;
}
