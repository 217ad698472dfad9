/* Gaudi 3's matrix unit as Intel's RTL verification model has it: fs_fma_gaudi3.h and fs_fma.cpp. */
#include "fs_fma_gaudi3.h"
#include "answer.h"

static uint64_t bf16(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    for (int i = 0; i < k; i += 8, a += 8, b += 8)
        c = gaudi3::fma_mul_add_tree_bf16_N8_K4_add_C_in_tree_no_ftz(
            a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3], a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7], c);
    return c;
}

static Dot choose(const char *instruction, const char *formats, int k) {
    (void)instruction;
    if (!strcmp(formats, "bf16,bf16,fp32,fp32") && k % 8 == 0) return bf16;
    return NULL;
}
