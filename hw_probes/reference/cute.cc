/* CUTE's sums as its C model has them; the model frees nothing, so that each sum has its memory from the start. */
#include <cmath>
#include <cstdio>
#include <cstdlib>
static char memory[1 << 20];
static size_t used;
static void *room(size_t bytes) {
    void *p = memory + used;
    used += (bytes + 15) & ~(size_t)15;
    return p;
}
#define malloc(bytes) room(bytes)
#include "fmac.h"
#undef malloc
#include "answer.h"

/* Words as the model has them: of T each, for its type of operands, a tf32 of 19 bits above 13 others. */
template <typename T, int Kind, int Below = 0> static uint64_t sum(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    static T x[MOST_PRODUCTS], y[MOST_PRODUCTS];
    int32_t z = (int32_t)c;
    used = 0;
    for (int i = 0; i < k; i++) x[i] = (T)(a[i] << Below), y[i] = (T)(b[i] << Below);
    return (uint32_t)mymac(x, y, &z, k, Kind);
}

static Dot choose(const char *instruction, const char *formats, int k) {
    (void)instruction, (void)k;
    if (!strcmp(formats, "fp16,fp16,fp32,fp32")) return sum<int16_t, 1>;
    if (!strcmp(formats, "bf16,bf16,fp32,fp32")) return sum<int16_t, 2>;
    if (!strcmp(formats, "e8m10,e8m10,fp32,fp32")) return sum<int32_t, 3, 13>;
    if (!strcmp(formats, "e4m3,e4m3,fp32,fp32")) return sum<int8_t, 11>;
    if (!strcmp(formats, "e5m2,e5m2,fp32,fp32")) return sum<int8_t, 12>;
    return NULL;
}
