/* Words of @N@ x 64 bits, the lowest limb first, for what is wider than 64 bits. */
#ifndef TCFORMAL_WIDE@N@
#define TCFORMAL_WIDE@N@

typedef struct { uint64_t w[@N@]; } tcformal_w@N@;

static inline tcformal_w@N@ tcformal_w@N@_make(@GIVEN@)
{
    tcformal_w@N@ r = {{@LIMBS@}};
    return r;
}

static inline tcformal_w@N@ tcformal_w@N@_of(uint64_t x)
{
    return tcformal_w@N@_make(x@ZEROS@);
}

static inline tcformal_w@N@ tcformal_w@N@_and(tcformal_w@N@ x, tcformal_w@N@ y)
{
    for (int i = 0; i < @N@; i++)
        x.w[i] &= y.w[i];
    return x;
}

static inline tcformal_w@N@ tcformal_w@N@_or(tcformal_w@N@ x, tcformal_w@N@ y)
{
    for (int i = 0; i < @N@; i++)
        x.w[i] |= y.w[i];
    return x;
}

static inline tcformal_w@N@ tcformal_w@N@_xor(tcformal_w@N@ x, tcformal_w@N@ y)
{
    for (int i = 0; i < @N@; i++)
        x.w[i] ^= y.w[i];
    return x;
}

static inline tcformal_w@N@ tcformal_w@N@_add(tcformal_w@N@ x, tcformal_w@N@ y)
{
    uint64_t carry = 0;
    for (int i = 0; i < @N@; i++) {
        uint64_t s = x.w[i] + y.w[i], t = s + carry;
        carry = (uint64_t)(s < y.w[i]) | (uint64_t)(t < s);
        x.w[i] = t;
    }
    return x;
}

static inline tcformal_w@N@ tcformal_w@N@_sub(tcformal_w@N@ x, tcformal_w@N@ y)
{
    uint64_t borrow = 0;
    for (int i = 0; i < @N@; i++) {
        uint64_t s = x.w[i] - y.w[i], t = s - borrow;
        borrow = (uint64_t)(x.w[i] < y.w[i]) | (uint64_t)(s < borrow);
        x.w[i] = t;
    }
    return x;
}

/* Left and right, zeros coming in; n is less than 64 * @N@. */
static inline tcformal_w@N@ tcformal_w@N@_shl(tcformal_w@N@ x, uint64_t n)
{
    tcformal_w@N@ r;
    int far = (int)(n / 64), near = (int)(n % 64);
    for (int i = 0; i < @N@; i++) {
        uint64_t high = i >= far ? x.w[i - far] : 0, low = i >= far + 1 ? x.w[i - far - 1] : 0;
        r.w[i] = near ? high << near | low >> (64 - near) : high;
    }
    return r;
}

static inline tcformal_w@N@ tcformal_w@N@_shr(tcformal_w@N@ x, uint64_t n)
{
    tcformal_w@N@ r;
    int far = (int)(n / 64), near = (int)(n % 64);
    for (int i = 0; i < @N@; i++) {
        uint64_t low = i + far < @N@ ? x.w[i + far] : 0, high = i + far + 1 < @N@ ? x.w[i + far + 1] : 0;
        r.w[i] = near ? low >> near | high << (64 - near) : low;
    }
    return r;
}

static inline tcformal_w@N@ tcformal_w@N@_mul(tcformal_w@N@ x, tcformal_w@N@ y)
{
    uint32_t r[2 * @N@] = {0};
    tcformal_w@N@ z;
    for (int i = 0; i < 2 * @N@; i++) {
        uint64_t carry = 0, p = x.w[i / 2] >> (i % 2 * 32) & 0xffffffffu;
        for (int j = 0; i + j < 2 * @N@; j++) {
            carry += r[i + j] + p * (y.w[j / 2] >> (j % 2 * 32) & 0xffffffffu);
            r[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    for (int i = 0; i < @N@; i++)
        z.w[i] = r[2 * i] | (uint64_t)r[2 * i + 1] << 32;
    return z;
}

static inline uint32_t tcformal_w@N@_eq(tcformal_w@N@ x, tcformal_w@N@ y)
{
    uint64_t other = 0;
    for (int i = 0; i < @N@; i++)
        other |= x.w[i] ^ y.w[i];
    return other == 0;
}

static inline uint32_t tcformal_w@N@_ult(tcformal_w@N@ x, tcformal_w@N@ y)
{
    uint32_t less = 0;
    for (int i = 0; i < @N@; i++)
        less = x.w[i] < y.w[i] || (x.w[i] == y.w[i] && less);
    return less;
}

/* The number itself, or the largest one of 32 bits where it is larger. */
static inline uint32_t tcformal_w@N@_amount(tcformal_w@N@ x)
{
    uint64_t high = x.w[0] >> 32;
    for (int i = 1; i < @N@; i++)
        high |= x.w[i];
    return high ? 0xffffffffu : (uint32_t)x.w[0];
}

#endif
