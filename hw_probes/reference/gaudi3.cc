/* Gaudi 3's matrix unit as Intel's RTL verification model has it: fs_fma_gaudi3.h and fs_fma.cpp. */
#include "fs_fma_gaudi3.h"
#include "answer.h"

static uint64_t bf16(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i += 8, a += 8, b += 8)
        c = gaudi3::fma_mul_add_tree_bf16_N8_K4_add_C_in_tree_no_ftz(
            a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3], a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7], c);
    return c;
}

/* fp8 with the biases of OCP's formats; e5m2 has all Inf and NaN, e4m3 one NaN of either sign (mode 2). */
template <bool A152, bool B152> static uint64_t fp8(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i += 8, a += 8, b += 8)
        c = gaudi3::fma_mul_add_tree_fp8_N8_K4_add_C_in_tree_no_ftz(
            a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3], a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7], c,
            A152 ? 5 : 4, B152 ? 5 : 4, A152 ? 2 : 3, B152 ? 2 : 3, A152 ? 15 : 7, B152 ? 15 : 7, A152 ? 0 : 2,
            B152 ? 0 : 2);
    return c;
}

static uint64_t fp16(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i += 2)
        c = gaudi3::fma_mul_add_tree_cfp16_emul_N2_K4_add_C_in_tree_no_ftz(
            a[i], b[i], a[i + 1], b[i + 1], c, 15, 15, false, false, false, false);
    return c;
}

static uint64_t tf32(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i += 2)
        c = gaudi3::fma_mul_add_tree_tf32_emul_N2_K4_add_C_in_tree_no_ftz(
            a[i], b[i], a[i + 1], b[i + 1], c, false, false);
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
    if (!strcmp(formats, "e4m3,e4m3,fp32,fp32")) return fp8<false, false>;
    if (!strcmp(formats, "e5m2,e4m3,fp32,fp32")) return fp8<true, false>;
    if (!strcmp(formats, "e4m3,e5m2,fp32,fp32")) return fp8<false, true>;
    if (!strcmp(formats, "e5m2,e5m2,fp32,fp32")) return fp8<true, true>;
    return NULL;
}
