/* ExSdotp as its RTL has it, compiled by Verilator: two products at a time in the order of k. */
#include "Vcvfpu.h"
#include "answer.h"

static const char *const FORMATS[] = {
    "fp16,fp16,fp32,fp32", "bf16,bf16,fp32,fp32", "e5m2,e5m2,fp16,fp16", "e4m3[ieee],e4m3[ieee],fp16,fp16",
    "e5m2,e5m2,bf16,bf16", "e4m3[ieee],e4m3[ieee],bf16,bf16",
};
static Vcvfpu unit;

static uint64_t sums(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    /* A half in a register of 32 bits has ones above it. */
    uint32_t above = unit.formats < 2 ? 0 : 0xffff0000;
    for (int i = 0; i < k; i += 2) {
        unit.a = a[i], unit.b = b[i], unit.c = a[i + 1], unit.d = b[i + 1], unit.e = above | (uint32_t)c;
        unit.eval();
        c = unit.r & ~above;
    }
    return c;
}

static Dot choose(const char *instruction, const char *formats, int k) {
    (void)instruction;
    for (unit.formats = 0; unit.formats < 6; unit.formats++)
        if (!strcmp(formats, FORMATS[unit.formats])) return k % 2 ? NULL : sums;
    return NULL;
}
