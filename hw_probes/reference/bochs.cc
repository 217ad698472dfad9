/* x86's dot products as Bochs computes them: its SoftFloat and fp8 conversions, put together as its instructions are. */
#include "softfloat.h"
#include "specialize.h"
#include "bf8.h"
#include "hf8.h"
#include "answer.h"

/* Rounded to nearest; subnormal inputs and results of fp32 are zeros (prepare_ne_softfloat_status_helper). */
static softfloat_status_t status_of_dots(void) {
    softfloat_status_t status = {};
    status.softfloat_roundingMode = softfloat_round_near_even;
    status.softfloat_exceptionMasks = 0x3f;
    status.softfloat_flush_underflow_to_zero = true;
    status.softfloat_denormals_are_zeros = true;
    return status;
}

/* fp16 is converted with its subnormals, whatever the status says of fp32's. */
static float32 of_fp16(uint64_t x) {
    softfloat_status_t status = status_of_dots();
    status.softfloat_denormals_are_zeros = false;
    return f16_to_f32((float16)x, &status);
}
static float32 of_bf16(uint64_t x) { return (float32)(x << 16); }
/* fp8 is widened with the status of fp32's sums: what is a subnormal fp16 becomes a zero. */
static float32 of_fp8(float16 x) {
    softfloat_status_t status = status_of_dots();
    return f16_to_f32(x, &status);
}
static float32 of_bf8(uint64_t x) { return of_fp8(convert_bf8_to_fp16((uint8_t)x)); }
static float32 of_hf8(uint64_t x) { return of_fp8(convert_hf8_to_fp16((uint8_t)x)); }

typedef float32 (*Widen)(uint64_t);

/* vdpphps, vdpbf16ps: the odd pair first. */
template <Widen W> static uint64_t pair(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    softfloat_status_t status = status_of_dots();
    float32 sum = (float32)c;
    for (int i = 0; i < k; i += 2) {
        sum = f32_mulAdd(W(a[i + 1]), W(b[i + 1]), sum, 0, &status);
        sum = f32_mulAdd(W(a[i]), W(b[i]), sum, 0, &status);
    }
    return sum;
}

/* tdpbf16ps, tdpfp16ps: a chain of even and one of odd elements. */
template <Widen W> static uint64_t tile(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    softfloat_status_t status = status_of_dots();
    float32 even = 0, odd = 0;
    for (int i = 0; i < k; i += 2) {
        even = f32_mulAdd(W(a[i]), W(b[i]), even, 0, &status);
        odd = f32_mulAdd(W(a[i + 1]), W(b[i + 1]), odd, 0, &status);
    }
    return f32_add((float32)c, f32_add(even, odd, &status), &status);
}

/* tcmmrlfp16ps: as tile, the products of the second chain subtracted. */
static uint64_t real(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    softfloat_status_t status = status_of_dots();
    float32 even = 0, odd = 0;
    for (int i = 0; i < k; i += 2) {
        even = f32_mulAdd(of_fp16(a[i]), of_fp16(b[i]), even, 0, &status);
        odd = f32_mulAdd(of_fp16(a[i + 1]), of_fp16(b[i + 1]), odd, softfloat_muladd_negate_product, &status);
    }
    return f32_add((float32)c, f32_add(even, odd, &status), &status);
}

/* tdpbf8ps and its kind: two products rounded and added, then added to one of two chains. */
template <Widen A, Widen B> static uint64_t quads(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    softfloat_status_t status = status_of_dots();
    float32 sums[2] = {0, 0};
    for (int i = 0; i < k; i += 4)
        for (int half = 0; half < 2; half++) {
            int j = i + 2 * half;
            float32 one = f32_mul(A(a[j]), B(b[j]), &status), other = f32_mul(A(a[j + 1]), B(b[j + 1]), &status);
            sums[half] = f32_add(sums[half], f32_add(one, other, &status), &status);
        }
    return f32_add((float32)c, f32_add(sums[0], sums[1], &status), &status);
}

/* vfmadd231ph and its kind: steps in the order of k, in fp16 with its subnormals.  A complex number's part has
 * two, of which the second is subtracted in the real part of a product and in the imaginary one with a conjugate. */
template <bool Subtracts> static uint64_t halves(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    softfloat_status_t status = {};
    status.softfloat_roundingMode = softfloat_round_near_even;
    status.softfloat_exceptionMasks = 0x3f;
    float16 sum = (float16)c;
    for (int i = 0; i < k; i++) {
        uint8_t control = Subtracts && i % 2 ? softfloat_muladd_negate_product : 0;
        sum = f16_mulAdd((float16)a[i], (float16)b[i], sum, control, &status);
    }
    return sum;
}

static Dot choose(const char *instruction, const char *formats, int k) {
    bool tiles = instruction[0] == 't';
    if (!strcmp(formats, "fp16,fp16,fp16,fp16")) {
        const char *part = strstr(instruction, "ddcph.");
        if (!part) return strstr(instruction, "vfmadd") == instruction ? halves<false> : NULL;
        bool subtracts = !strcmp(part + 6, instruction[2] == 'c' ? "im" : "re");
        return k % 2 ? NULL : subtracts ? halves<true> : halves<false>;
    }
    if (k % 2 || !strstr(formats, ",fp32,fp32")) return NULL;
    if (!strncmp(formats, "bf16,bf16,", 10)) return tiles ? tile<of_bf16> : pair<of_bf16>;
    if (!strcmp(instruction, "tcmmrlfp16ps")) return strncmp(formats, "fp16,fp16,", 10) ? NULL : real;
    if (!strncmp(formats, "fp16,fp16,", 10)) return tiles ? tile<of_fp16> : pair<of_fp16>;
    if (k % 4) return NULL;
    if (!strncmp(formats, "e5m2,e5m2,", 10)) return quads<of_bf8, of_bf8>;
    if (!strncmp(formats, "e4m3,e4m3,", 10)) return quads<of_hf8, of_hf8>;
    if (!strncmp(formats, "e5m2,e4m3,", 10)) return quads<of_bf8, of_hf8>;
    if (!strncmp(formats, "e4m3,e5m2,", 10)) return quads<of_hf8, of_bf8>;
    return NULL;
}
