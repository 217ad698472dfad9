/* Arm's outer products (SME), run by QEMU's user mode: the first element of ZA's tile 0.
 *
 * The instructions are written as words, for assemblers that do not know them.
 */
#include "answer.h"

/* smstart; ZA0 row 0 from c; Z0 = a, Z1 = b in every place, all predicates true; one instruction; row 0 to d; smstop. */
#define OUTER(NAME, CTYPE, PTRUE, LD1, DUP_A, DUP_B, MOPA, ST1)                                                        \
    static uint64_t NAME(uint64_t a, uint64_t b, uint64_t c) {                                                         \
        static CTYPE row[256];                                                                                         \
        for (int i = 0; i < 256; i++) row[i] = (CTYPE)c;                                                               \
        register uint64_t x0 __asm__("x0") = a, x1 __asm__("x1") = b;                                                  \
        register CTYPE *x2 __asm__("x2") = row;                                                                        \
        __asm__ volatile(                                                                                              \
            ".inst 0xd503477f\n" /* smstart */                                                                         \
            ".inst " PTRUE "\n"                                                                                        \
            "mov w12, #0\n"                                                                                            \
            ".inst " LD1 "\n"                                                                                          \
            ".inst " DUP_A "\n"                                                                                        \
            ".inst " DUP_B "\n"                                                                                        \
            ".inst " MOPA "\n"                                                                                         \
            ".inst " ST1 "\n"                                                                                          \
            ".inst 0xd503467f\n" /* smstop */                                                                          \
            : : "r"(x0), "r"(x1), "r"(x2)                                                                              \
            : "x12", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",        \
              "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26",        \
              "v27", "v28", "v29", "v30", "v31");                                                                      \
        return row[0];                                                                                                 \
    }

/* ptrue p0.b; ld1w {za0h.s[w12, 0]}, p0/z, [x2]; dup z0.s, w0; dup z1.s, w1; …; st1w {za0h.s[w12, 0]}, p0, [x2] */
#define SINGLES(NAME, MOPA) \
    OUTER(NAME, uint32_t, "0x2518e3e0", "0xe09f0040", "0x05a03800", "0x05a03821", MOPA, "0xe0bf0040")
SINGLES(fmopa_s, "0x80810000")  /* fmopa za0.s, p0/m, p0/m, z0.s, z1.s */
SINGLES(fmopa_sh, "0x81a10000") /* fmopa za0.s, p0/m, p0/m, z0.h, z1.h */
SINGLES(bfmopa, "0x81810000")   /* bfmopa za0.s, p0/m, p0/m, z0.h, z1.h */
SINGLES(smopa, "0xa0810000")    /* smopa za0.s, p0/m, p0/m, z0.b, z1.b */
SINGLES(sumopa, "0xa0a10000")
SINGLES(usmopa, "0xa1810000")
SINGLES(umopa, "0xa1a10000")
OUTER(fmopa_d, uint64_t, "0x2518e3e0", "0xe0df0040", "0x05e03800", "0x05e03821", "0x80c10000", "0xe0ff0040")

#define CHAIN(NAME, ONE) \
    static uint64_t NAME(int k, const uint64_t *a, const uint64_t *b, uint64_t c) { \
        for (int i = 0; i < k; i++) c = ONE(a[i], b[i], c); \
        return c; \
    }
#define PAIRS(NAME, ONE) \
    static uint64_t NAME(int k, const uint64_t *a, const uint64_t *b, uint64_t c) { \
        for (int i = 0; i < k; i += 2) c = ONE(a[i] | a[i + 1] << 16, b[i] | b[i + 1] << 16, c); \
        return c; \
    }
#define BYTES(NAME, ONE) \
    static uint64_t NAME(int k, const uint64_t *a, const uint64_t *b, uint64_t c) { \
        for (int i = 0; i < k; i += 4) c = ONE(packed(a + i), packed(b + i), c); \
        return c; \
    }
static uint64_t packed(const uint64_t *x) { return x[0] | x[1] << 8 | x[2] << 16 | x[3] << 24; }
CHAIN(singles, fmopa_s)
CHAIN(doubles, fmopa_d)
PAIRS(halves, fmopa_sh)
PAIRS(brains, bfmopa)
BYTES(bytes_ss, smopa)
BYTES(bytes_su, sumopa)
BYTES(bytes_us, usmopa)
BYTES(bytes_uu, umopa)

static Dot choose(const char *instruction, const char *formats, int k) {
    (void)instruction;
    if (!strcmp(formats, "fp32,fp32,fp32,fp32")) return singles;
    if (!strcmp(formats, "fp64,fp64,fp64,fp64")) return doubles;
    if (!strcmp(formats, "fp16,fp16,fp32,fp32") && k % 2 == 0) return halves;
    if (!strcmp(formats, "bf16,bf16,fp32,fp32") && k % 2 == 0) return brains;
    if (k % 4 || !strstr(formats, "int32,")) return NULL;
    if (!strncmp(formats, "int8,int8,", 10)) return bytes_ss;
    if (!strncmp(formats, "int8,uint8,", 11)) return bytes_su;
    if (!strncmp(formats, "uint8,int8,", 11)) return bytes_us;
    if (!strncmp(formats, "uint8,uint8,", 12)) return bytes_uu;
    return NULL;
}
