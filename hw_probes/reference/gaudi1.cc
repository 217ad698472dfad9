/* Gaudi's matrix unit as the reference of Intel's graph compiler has it (gaudi_fma.cpp), on Intel's fs_fma.cpp. */
#include "fs_fma_gaudi2.h"
/* There DNORM_FTZ is a constant of C++, which the preprocessor takes for 0; the additions flush with a macro alone. */
#define DNORM_FTZ 1
#include "fs_fma.cpp"
#include "answer.h"

/* One step of a chain: c + a*b, rounded to nearest. */
typedef uint32_t (*Step)(uint64_t a, uint64_t b, uint32_t c);

static uint32_t bf16(uint64_t a, uint64_t b, uint32_t c) {
    return Gaudi2::fma_bfp16_fp32((uint16_t)a, (uint16_t)b, c, Gaudi2::RND_TO_NE);
}
static uint32_t fp16(uint64_t a, uint64_t b, uint32_t c) {
    return Gaudi2::fma_fp16_fp32((uint16_t)a, (uint16_t)b, c, Gaudi2::RND_TO_NE);
}
static uint32_t fp32(uint64_t a, uint64_t b, uint32_t c) {
    return Gaudi2::fma_fp32((uint32_t)a, (uint32_t)b, c, Gaudi2::RND_TO_NE);
}
static uint32_t sum(uint32_t a, uint32_t b) { return Gaudi2::add_fp32(a, b, Gaudi2::RND_TO_NE); }

/* Four chains by turns, whose sums are added in pairs from chain k modulo 4 on.  Intel's all start from +0. */
template <Step step> static uint64_t chains(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    uint32_t part[4] = {(uint32_t)c, 0, 0, 0};
    for (int i = 0; i < k; i++) part[i % 4] = step(a[i], b[i], part[i % 4]);
    return sum(sum(part[k % 4], part[(k + 1) % 4]), sum(part[(k + 2) % 4], part[(k + 3) % 4]));
}

static Dot choose(const char *instruction, const char *formats, int k) {
    (void)instruction, (void)k;
    if (!strcmp(formats, "bf16,bf16,fp32,fp32")) return chains<bf16>;
    if (!strcmp(formats, "fp16,fp16,fp32,fp32")) return chains<fp16>;
    if (!strcmp(formats, "fp32,fp32,fp32,fp32")) return chains<fp32>;
    return NULL;
}
