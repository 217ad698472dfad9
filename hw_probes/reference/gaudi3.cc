/* Gaudi 3's matrix unit as Intel's RTL verification model has it: fs_fma_gaudi3.h and fs_fma.cpp. */
#include "fs_fma_gaudi3.h"
#include "answer.h"

static uint64_t bf16(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i += 8, a += 8, b += 8)
        c = gaudi3::fma_mul_add_tree_bf16_N8_K4_add_C_in_tree_no_ftz(
            a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3], a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7], c);
    return c;
}

/* An fp8 format: bits of exponent and fraction, bias, and which codes are no numbers: IEEE's (0), none (1), one (2). */
struct Fp8 { uint8_t exponent, fraction, bias, mode; };
static Fp8 of_a, of_b;

/* The format of a name such as e4m3, e5m2, e4m3[bias=11] or e5m2[finite]; as OCP has it where nothing is said. */
static bool fp8_named(const char *name, Fp8 *to) {
    if (!strncmp(name, "e4m3", 4)) *to = {4, 3, 7, 2};
    else if (!strncmp(name, "e5m2", 4)) *to = {5, 2, 15, 0};
    else return false;
    const char *bias = strstr(name, "bias=");
    if (bias) to->bias = (uint8_t)atoi(bias + 5);
    if (strstr(name, "ieee")) to->mode = 0;
    if (strstr(name, "finite")) to->mode = 1;
    if (strstr(name, "all-ones-nan")) to->mode = 2;
    return true;
}

static uint64_t fp8(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i += 8, a += 8, b += 8)
        c = gaudi3::fma_mul_add_tree_fp8_N8_K4_add_C_in_tree_no_ftz(
            a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3], a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7], c,
            of_a.exponent, of_b.exponent, of_a.fraction, of_b.fraction, of_a.bias, of_b.bias, of_a.mode, of_b.mode);
    return c;
}

static uint64_t fp16(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i += 2)
        c = gaudi3::fma_mul_add_tree_cfp16_emul_N2_K4_add_C_in_tree_no_ftz(
            a[i], b[i], a[i + 1], b[i + 1], c, 15, 15, false, false, false, false);
    return c;
}

/* Operands are tf32 already: Intel's model rounds other fp32 words to the nearest one first. */
static uint32_t cut(uint64_t x) { return (uint32_t)x & 0xffffe000; }

static uint64_t tf32(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i += 2)
        c = gaudi3::fma_mul_add_tree_tf32_emul_N2_K4_add_C_in_tree_no_ftz(
            cut(a[i]), cut(b[i]), cut(a[i + 1]), cut(b[i + 1]), c, false, false);
    return c;
}

static uint64_t fp32(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i++)
        c = gaudi3::fma_mul_add_tree_fp32_N1_K4_add_C_in_tree_no_ftz_fp32_emul(a[i], b[i], c);
    return c;
}

static Dot choose(const char *instruction, const char *formats, int k) {
    (void)instruction;
    if (!strcmp(formats, "fp32,fp32,fp32,fp32")) return fp32;
    if (!strcmp(formats, "fp16,fp16,fp32,fp32") && k % 2 == 0) return fp16;
    if (!strcmp(formats, "tf32,tf32,fp32,fp32") && k % 2 == 0) return tf32;
    if (k % 8) return NULL;
    if (!strcmp(formats, "bf16,bf16,fp32,fp32")) return bf16;
    char name[64];
    snprintf(name, sizeof name, "%s", formats);
    char *second = strchr(name, ']');
    second = strchr(second && second < strstr(name, ",e") ? second : name, ',');
    if (!second || !strstr(formats, ",fp32,fp32")) return NULL;
    *second++ = 0;
    return fp8_named(name, &of_a) && fp8_named(second, &of_b) ? fp8 : NULL;
}
