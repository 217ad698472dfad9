"""Black boxes made outside the package, as a tester writes them: `python boxes.py NAME` is a device.

Nothing of the package is imported: numbers are integers, multiples of 2^-POINT.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import log2
from typing import Any

#: Every number here is an integer of so many fraction bits.
POINT = 400
NAN, INF = "nan", "inf"
#: Exponent and fraction bits of the formats.
FORMATS = {"fp16": (5, 10), "bf16": (8, 7), "fp32": (8, 23), "e4m3": (4, 3), "e5m2": (5, 2), "e2m1": (2, 1)}
Value = Any  # an integer, or NAN, INF, -INF as text


class MinusZero(int):
    """Zero with a sign; what is computed from it is a plain integer."""


MINUS_ZERO = MinusZero(0)


# ------------------------------------------------------------------ encodings and rounding
def decode(fmt: str, word: int) -> Value:
    """A word as a number, "nan", "inf" or "-inf"."""
    e, f = FORMATS[fmt]
    sign, field, fraction = word >> e + f, word >> f & (1 << e) - 1, word & (1 << f) - 1
    if fmt == "e4m3":
        if word & 0x7F == 0x7F:
            return NAN
    elif fmt != "e2m1" and field == (1 << e) - 1:
        return NAN if fraction else "-" * sign + INF
    n = fraction | (1 << f if field else 0)
    number = n << POINT + max(field, 1) - (1 << e - 1) + 1 - f
    return (-number or MINUS_ZERO) if sign else number


def e8m0(word: int) -> Value:
    """A scale as a number, or "nan"."""
    return NAN if word == 255 else 1 << POINT + word - 127


def top(x: int) -> int:
    """The exponent of a number."""
    return abs(x).bit_length() - 1 - POINT


def cut(x: int, least: int, mode: str = "RZ") -> int:
    """A number as a multiple of 2^least."""
    step = least + POINT
    if step <= 0:
        return x
    n, rest = abs(x) >> step, abs(x) & (1 << step) - 1
    half = 1 << step - 1
    up = {
        "RNE": rest > half or (rest == half and n & 1), "RNA": rest >= half, "RZ": False,
        "RD": x < 0 and rest, "RU": x > 0 and rest, "RO": rest and not n & 1,
    }[mode]  # fmt: skip
    n = n + bool(up) << step
    return -n if x < 0 else n


def to(shape: tuple[int, int], x: Value, mode: str = "RNE", *, flush: bool = False) -> Value:
    """A number rounded to a float of (exponent bits, fraction bits), with subnormals unless it flushes."""
    if isinstance(x, str):
        return x
    e, f = shape
    least = 2 - (1 << e - 1)
    if not x:
        return x
    y = cut(x, max(top(x), least) - f, mode)
    if not y or (flush and top(cut(x, top(x) - f, mode)) < least):
        return MINUS_ZERO if x < 0 else 0
    if abs(y) < 1 << (1 << e - 1) + POINT:
        return y
    return "-" * (x < 0) + INF


def encode(fmt: str, x: Value) -> int:
    """The word of a number that the format holds."""
    e, f = FORMATS[fmt]
    inf = ((1 << e) - 1) << f
    if x == NAN:
        return inf | 1 << f - 1
    if isinstance(x, str):
        return inf | (x[0] == "-") << e + f
    sign = (x < 0 or isinstance(x, MinusZero)) << e + f
    least = 2 - (1 << e - 1)
    power = max(top(x), least) if x else least
    n = abs(x) >> power - f + POINT
    field = power - least + 1 if n >> f else 0
    return int(sign | field << f | n & (1 << f) - 1)


FP32, FP16, BF16 = (FORMATS[name] for name in ("fp32", "fp16", "bf16"))


def times(x: Value, y: Value) -> Value:
    """A product, exact."""
    if NAN in (x, y):
        return NAN
    if isinstance(x, str) or isinstance(y, str):
        if 0 in (x, y):
            return NAN
        signs = [v[0] == "-" if isinstance(v, str) else v < 0 for v in (x, y)]
        return "-" * (signs[0] != signs[1]) + INF
    minus = [v < 0 or isinstance(v, MinusZero) for v in (x, y)]
    return x * y >> POINT or (MINUS_ZERO if minus[0] != minus[1] else 0)


def plus(x: Value, y: Value) -> Value:
    """A sum, exact."""
    if NAN in (x, y) or {x, y} == {INF, "-" + INF}:
        return NAN
    if isinstance(x, str) or isinstance(y, str):
        return x if isinstance(x, str) else y
    both = isinstance(x, MinusZero) and isinstance(y, MinusZero)
    return MINUS_ZERO if both else x + y


def total(terms: Sequence[Value]) -> Value:
    """The exact sum of terms."""
    return reduce(plus, terms)


# ------------------------------------------------------------------ sums
def fused(
    p: list[Value], c: Value, bits: int | None = None, mode: str = "RZ", *, of: list[Value] | None = None
) -> Value:
    """One sum of products and c, each cut `bits` below the largest of `of`, the exponents those of terms."""
    terms = [*p, c]
    if any(isinstance(x, str) for x in terms) or bits is None:
        return total(terms)
    powers = [top(x) for x in (terms if of is None else of) if x]
    return sum(cut(x, max(powers) - bits, mode) for x in terms) if powers else 0


def chain(p: Sequence[Value], start: Value, shape: tuple[int, int] = FP32, **how: Any) -> Value:
    """Products added one after the other, each sum rounded."""
    for x in p:
        start = to(shape, plus(start, x), **how)
    return start


def halves(xs: list[Value], shape: tuple[int, int]) -> Value:
    """Values folded by halves: x[i] with x[i + n/2]."""
    while len(xs) > 1:
        n = len(xs) // 2
        xs = [to(shape, plus(x, y)) for x, y in zip(xs[:n], xs[n:], strict=True)]
    return xs[0]


def pairs(xs: list[Value], shape: tuple[int, int], mode: str = "RNE") -> Value:
    """Values in a balanced tree of neighbours."""
    while len(xs) > 1:
        xs = [to(shape, plus(x, y), mode) for x, y in zip(xs[::2], xs[1::2], strict=True)]
    return xs[0]


def lanes(p: list[Value], c: Value, n: int) -> Value:
    """n chains, product i in chain i mod n; these folded by halves; then c."""
    return to(FP32, plus(halves([chain(p[i::n], 0) for i in range(n)], FP32), c))


def steps(p: list[Value], c: Value, n: int, bits: int) -> Value:
    """n products and the sum so far in one cut sum each."""
    for i in range(0, len(p), n):
        c = to(FP32, fused(p[i : i + n], c, bits), "RZ")
    return c


def levels(p: list[Value], c: Value, n: int, bits: int, shape: tuple[int, int]) -> Value:
    """Sums of n products, cut and rounded to a narrow float; then those and c in one sum."""
    inner = [to(shape, fused(p[i : i + n], 0, bits), "RZ") for i in range(0, len(p), n)]
    return to(FP32, total([*inner, c]))


def cut_levels(p: list[Value], c: Value, n: int, bits: int, shape: tuple[int, int], outer: int) -> Value:
    """As `levels`, but the outer sum cuts its terms, too."""
    inner = [to(shape, fused(p[i : i + n], 0, bits), "RZ") for i in range(0, len(p), n)]
    return to(FP32, fused(inner, c, outer), "RZ")


def narrow_groups(p: list[Value], c: Value, n: int, bits: int) -> Value:
    """Sums of n products, cut and kept in 13 fraction bits, added one by one to c."""
    for i in range(0, len(p), n):
        c = to(FP32, plus(c, to((8, 13), fused(p[i : i + n], 0, bits), "RZ")))
    return c


def in_frames(formats: str, n: int, bits: int, outer: int) -> Callable[[list[int], list[int], int], int]:
    """Sums of n products that keep the exponent of their largest one, when they are added to c."""
    fa, fb, fc, fd = formats.split(",")

    def exponent(fmt: str, word: int) -> int:
        e, f = FORMATS[fmt]
        return max(word >> f & (1 << e) - 1, 1) - (1 << e - 1) + 1

    def words(a: list[int], b: list[int], c: int) -> int:
        p = [times(decode(fa, x), decode(fb, y)) for x, y in zip(a, b, strict=True)]
        z = decode(fc, c)
        if any(isinstance(x, str) for x in (*p, z)):
            return encode(fd, total([*p, z]))
        powers = [exponent(fa, x) + exponent(fb, y) for x, y in zip(a, b, strict=True)]
        parts = [(exponent(fc, c), z)] if z else []
        for i in range(0, len(p), n):
            if live := [k for k in range(i, i + n) if p[k]]:
                top_of = max(powers[k] for k in live)
                parts.append((top_of, sum(cut(p[k], top_of - bits) for k in live)))
        largest = max((e for e, _ in parts), default=0)
        return encode(fd, to(FORMATS[fd], sum(cut(x, largest - outer) for _, x in parts), "RZ"))

    return words


def sorted_chain(p: list[Value], c: Value, key: Callable[[Value], Any]) -> Value:
    """Terms sorted before they are added one after the other."""
    if any(isinstance(x, str) for x in (*p, c)):
        return total([*p, c])
    return chain(sorted([*p, c], key=key), 0)


def kahan(p: list[Value], c: Value) -> Value:
    """Kahan's compensated sum of rounded products."""
    if any(isinstance(x, str) for x in (*p, c)):
        return total([*p, c])

    def add(x: Value, y: Value) -> Value:
        return to(FP32, plus(x, y))

    s, lost = c, 0
    for x in p:
        y = add(to(FP32, x), -lost)
        t = add(s, y)
        if isinstance(t, str):
            return t
        lost, s = add(add(t, -s), -y), t
    return s


def neumaier(p: list[Value], c: Value) -> Value:
    """Neumaier's compensated sum of rounded products."""
    if any(isinstance(x, str) for x in (*p, c)):
        return total([*p, c])

    def add(x: Value, y: Value) -> Value:
        return to(FP32, plus(x, y))

    s, lost = c, 0
    for x in p:
        y = to(FP32, x)
        t = add(s, y)
        if isinstance(y, str) or isinstance(t, str):
            return t
        large, small = (s, y) if abs(s) >= abs(y) else (y, s)
        lost, s = add(lost, add(add(large, -t), small)), t
    return add(s, lost)


def two_sum(p: list[Value], c: Value) -> Value:
    """A chain with its errors summed apart, added at the end (Dot2)."""
    if any(isinstance(x, str) for x in (*p, c)):
        return total([*p, c])
    s, errors = c, 0
    for x in p:
        t = to(FP32, s + x)
        if isinstance(t, str):
            return t
        errors, s = to(FP32, errors + s + x - t), t
    return to(FP32, s + errors)


def mitchell(x: Value, y: Value) -> Value:
    """A product by linear logarithms."""
    if isinstance(x, str) or isinstance(y, str) or not x or not y:
        return times(x, y)
    ex, ey = top(x), top(y)
    fx, fy = ((abs(v) << 64 >> e + POINT) - (1 << 64) for v, e in ((x, ex), (y, ey)))
    f = fx + fy
    e = ex + ey + (f >> 64)
    n = ((f & (1 << 64) - 1) + (1 << 64)) << POINT + e >> 64
    return -n if (x < 0) != (y < 0) else n


def posit16(word: int) -> Value:
    """A 16-bit posit with es = 1 as a number."""
    if word in (0, 0x8000):
        return NAN if word else 0
    sign, body = word >> 15, word if not word >> 15 else 0x10000 - word
    text = f"{body:016b}"[1:]
    run = len(text) - len(text.lstrip(text[0]))
    regime = run - 1 if text[0] == "1" else -run
    rest = text[run + 1 :]
    e = int(rest[0], 2) if rest else 0
    fraction = rest[1:]
    n = int("1" + fraction, 2) << POINT + 2 * regime + e - len(fraction)
    return -n if sign else n


_POSITS = [posit16(w) for w in range(1, 0x8000)]


def to_posit16(x: Value) -> int:
    """The nearest posit."""
    if isinstance(x, str) or not x:
        return 0 if x == 0 else 0x8000
    low, high = 0, len(_POSITS) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _POSITS[middle] <= abs(x) else (low, middle)
    w = 1 + min((low, high), key=lambda i: (abs(_POSITS[i] - abs(x)), i & 1 == 0))
    return 0x10000 - w if x < 0 else w


# ------------------------------------------------------------------ boxes
@dataclass(frozen=True)
class Box:
    """A device: what it makes of products and c, its formats, and what an identification is to say."""

    f: Callable[..., Value]
    k: int = 8
    formats: str = "fp16,fp16,fp32,fp32"
    #: Whether a design of the space is this box.
    inside: bool = True
    #: What an answer to one outside names.
    says: str = ""
    multiply: Callable[[Value, Value], Value] = times
    operand: Callable[[str, Value], Value] = lambda which, x: x
    #: From which magnitude on results are others, and what they are then.
    last: Callable[[Value], Value] = lambda x: x
    #: Whole boxes, of words.
    words: Callable[[list[int], list[int], int], int] | None = None
    #: Products that share a scale of a and one of b, powers of two; 0 for a box without scales.
    block: int = 0

    def __call__(self, a: Sequence[int], b: Sequence[int], c: int, *scales: Sequence[int]) -> int:
        """The word that the box gives."""
        if self.words is not None:
            return self.words(list(a), list(b), c)
        fa, fb, fc, fd = self.formats.split(",")
        x = [self.operand("a", decode(fa, w)) for w in a]
        y = [self.operand("b", decode(fb, w)) for w in b]
        p = [self.multiply(u, v) for u, v in zip(x, y, strict=True)]
        for words in scales:
            p = [times(u, e8m0(words[i // self.block])) for i, u in enumerate(p)]
        z = self.operand("c", decode(fc, c))
        d = self.last(self.f(p, z))
        return encode(fd, to(FORMATS[fd], d))


def flush(names: str, fmt: str) -> Callable[[str, Value], Value]:
    """Operands of which subnormals are zeros."""
    least = 1 << POINT + 2 - (1 << FORMATS[fmt][0] - 1)
    return lambda which, x: 0 if which in names and x and not isinstance(x, str) and abs(x) < least else x


def infinite_from(e: int) -> Callable[[Value], Value]:
    """Results from 2^e on are infinite."""

    def of(x: Value) -> Value:
        y = to(FP16, x)
        return y if isinstance(y, str) or not y or top(y) < e else "-" * (y < 0) + INF

    return of


def saturated(fmt: str) -> Callable[[Value], Value]:
    """Numbers above the largest are the largest."""
    e, f = FORMATS[fmt]
    most = ((2 << f) - 1) << POINT + (1 << e - 1) - 1 - f
    return lambda x: x if isinstance(x, str) else max(-most, min(most, x))


def negated_odd(p: list[Value]) -> list[Value]:
    """Products of odd k subtracted."""
    return [times(x, -1 << POINT) if i % 2 else x for i, x in enumerate(p)]


def tf32(which: str, x: Value) -> Value:
    """A or B cut to ten fraction bits."""
    return x if which == "c" or isinstance(x, str) or not x else cut(x, max(top(x), -126) - 10)


def dithered(a: list[int], b: list[int], c: int) -> int:
    """An exact sum, rounded up where a hash of the operands says so."""
    p = [times(decode("fp16", x), decode("fp16", y)) for x, y in zip(a, b, strict=True)]
    x = total([*p, decode("fp32", c)])
    if not isinstance(x, str) and x:
        x += random.Random(str((a, b, c))).getrandbits(24) << max(0, top(x) + POINT - 47) if x > 0 else 0
    return encode("fp32", to(FP32, x, "RZ"))


def stochastic(p: list[Value], c: Value) -> Value:
    """An exact sum, rounded up with the probability of its place."""
    x = total([*p, c])
    if isinstance(x, str) or not x:
        return x
    step = POINT + max(top(x), -126) - 23
    noise = random.getrandbits(step)
    return cut(x + noise if x > 0 else x - noise, step - POINT)


_state = [0]


def stateful(p: list[Value], c: Value) -> Value:
    """A sum to which a remainder of the sum before is added."""
    x = total([*p, c])
    if isinstance(x, str):
        return x
    y = to(FP32, x + _state[0], "RZ")
    _state[0] = x + _state[0] - y if not isinstance(y, str) else 0
    return y


_calls = [0]


def every_fifth(p: list[Value], c: Value) -> Value:
    """A chain of which every fifth result is an ulp larger."""
    _calls[0] += 1
    x = chain(p, c)
    return x if isinstance(x, str) or not x or _calls[0] % 5 else x + (1 << POINT + max(top(x), -126) - 23)


def drops(p: list[Value], c: Value) -> Value:
    """A sum that now and then loses a product."""
    return to(FP32, fused([0 if random.random() < 0.02 else x for x in p], c, 24), "RZ")


def refuses(p: list[Value], c: Value) -> Value:
    """A cut sum that takes no c."""
    if c:
        raise ValueError("c must be 0")
    return to(FP32, fused(p, 0, 22), "RZ")


def rare(p: list[Value], c: Value) -> Value:
    """A chain of which one result in 500 has a wrong bit."""
    x = chain(p, c)
    return x if isinstance(x, str) or random.random() > 0.002 else x ^ (1 << max(top(x), -126) - 5 + POINT)


def lost(p: list[Value], c: Value) -> Value:
    """A chain that never adds the fourth product."""
    return chain([x for i, x in enumerate(p) if i != 3], c)


def faulty_lane(p: list[Value], c: Value) -> Value:
    """A chain whose product 5 lacks its last bits."""
    return chain(
        [cut(x, top(x) - 12) if i == 5 and x and not isinstance(x, str) else x for i, x in enumerate(p)], c
    )


def posits(a: list[int], b: list[int], c: int) -> int:
    """Posits, summed exactly and rounded once."""
    return to_posit16(
        total([*(times(posit16(x), posit16(y)) for x, y in zip(a, b, strict=True)), posit16(c)])
    )


def coarse(x: Value, y: Value) -> Value:
    """A product whose last partial products are left out, and a constant is added for them."""
    z = times(x, y)
    if isinstance(z, str) or not z:
        return z
    e = top(x) + top(y)
    mean = 1 << POINT + e - 12
    return cut(z, e - 8) + (mean if z > 0 else -mean)


def widest(p: list[Value], c: Value) -> Value:
    """A chain from the middle out where the first product is the largest, else from the start."""
    if not any(isinstance(x, str) for x in p) and abs(p[0]) >= max(map(abs, p)):
        p = p[::-1]
    return chain(p, c)


def shared_exponents(a: list[int], b: list[int], c: int) -> int:
    """Operands of which four at a time share an exponent, with seven bits below it."""

    def block(words: list[int]) -> list[Value]:
        xs = [decode("fp16", w) for w in words]
        powers = [top(x) for x in xs if x and not isinstance(x, str)]
        return [x if isinstance(x, str) else cut(x, max(powers, default=0) - 7) for x in xs]

    x, y = ([v for i in range(0, len(words), 4) for v in block(words[i : i + 4])] for words in (a, b))
    p = [times(u, v) for u, v in zip(x, y, strict=True)]
    return encode("fp32", to(FP32, total([*p, decode("fp32", c)])))


def doubles(p: list[Value], c: Value) -> Value:
    """A chain in fp64 that is rounded to fp32 after every three products."""
    for i in range(0, len(p), 3):
        c = to(FP32, chain(p[i : i + 3], c, (11, 52)))
    return c


def by_sign(p: list[Value], c: Value) -> Value:
    """Positive terms and negative ones in a chain each."""
    if any(isinstance(x, str) for x in (*p, c)):
        return total([*p, c])
    one, two = chain([x for x in (*p, c) if x > 0], 0), chain([x for x in (*p, c) if x < 0], 0)
    return to(FP32, plus(one, two))


def smallest_first(p: list[Value], c: Value) -> Value:
    """The two smallest terms added until one is left."""
    xs = [*p, c]
    while len(xs) > 1:
        if any(isinstance(x, str) for x in xs):
            return total(xs)
        x, y, *rest = sorted(xs, key=abs)
        xs = [to(FP32, plus(x, y)), *rest]
    return xs[0]


def only_large(p: list[Value], c: Value) -> Value:
    """A chain of the products that are no less than 2^-9 of the largest."""
    if any(isinstance(x, str) for x in p):
        return chain(p, c)
    most = max(map(abs, p))
    return chain([x for x in p if abs(x) << 9 >= most], c)


def lost_if(p: list[Value], c: Value) -> Value:
    """A chain without product 1 where product 2 is negative."""
    lost = not isinstance(p[2], str) and p[2] < 0
    return chain([x for i, x in enumerate(p) if i != 1 or not lost], c)


def wraps(p: list[Value], c: Value) -> Value:
    """Products summed in 40 bits, 20 of them after the point, which wrap."""
    if any(isinstance(x, str) for x in (*p, c)):
        return total([*p, c])
    n = total(p) >> POINT - 20
    return ((n + (1 << 39)) % (1 << 40) - (1 << 39) << POINT - 20) + c


def wrong_set(a: list[int], b: list[int], c: int) -> int:
    """A chain whose result has its second bit flipped where b[2] ends with 0x1b."""
    p = [times(decode("fp16", x), decode("fp16", y)) for x, y in zip(a, b, strict=True)]
    d = encode("fp32", chain(p, decode("fp32", c)))
    return d ^ 2 if b[2] & 0x3F == 0x1B and d & 0x7FFFFFFF and d & INF_BITS != INF_BITS else d


INF_BITS = 0x7F800000


def rarely_random(p: list[Value], c: Value) -> Value:
    """An exact sum; between a quarter and three eighths of a last place it goes up or down at random."""
    x = total([*p, c])
    if isinstance(x, str) or not x:
        return x
    least = max(top(x), -126) - 23
    rest = (abs(x) >> least + POINT - 5) & 31
    if not 8 < rest < 12:
        return to(FP32, x)
    return cut(x, least) + (random.random() < 0.5) * (1 << POINT + least) * (1 if x > 0 else -1)


def ties_random(p: list[Value], c: Value) -> Value:
    """An exact sum of which halves go up or down at random."""
    x = total([*p, c])
    if isinstance(x, str) or not x:
        return x
    step = max(top(x), -126) - 24 + POINT
    half = step >= 0 and abs(x) >> step & 1 and not abs(x) & (1 << step) - 1
    return x + (1 if random.random() < 0.5 else -1) if half else x


def half_up(p: list[Value], c: Value) -> Value:
    """An exact sum, rounded to nearest, halves toward +Inf."""
    x = total([*p, c])
    if isinstance(x, str) or not x:
        return x
    step = max(top(x), -126) - 23 + POINT
    return (x + (1 << step - 1)) >> step << step if step > 0 else x


_before = [0]


def aligned_as_before(p: list[Value], c: Value) -> Value:
    """A cut sum aligned to the largest exponent of this and of the input before."""
    if any(isinstance(x, str) for x in (*p, c)):
        return total([*p, c])
    powers = [top(x) for x in (*p, c) if x]
    most = max(powers, default=-99)
    least = max(most, min(_before[0], most + 7)) - 21
    _before[0] = most
    return to(FP32, sum(cut(x, least) for x in (*p, c)), "RZ")


def six_bits(which: str, x: Value) -> Value:
    """A or B with six bits, the last one set where some were left out."""
    if which == "c" or isinstance(x, str) or not x:
        return x
    y = cut(x, top(x) - 5)
    return y if y == x else y | 1 << top(x) - 5 + POINT if x > 0 else -(-y | 1 << top(x) - 5 + POINT)


def of_parts(x: Value, y: Value) -> Value:
    """A product of two parts of either factor, without that of the low ones, which fp32 rounds twice."""
    if isinstance(x, str) or isinstance(y, str):
        return times(x, y)
    (a, b), (c, d) = ((h := to(BF16, v), 0 if isinstance(h, str) else to(BF16, v - h)) for v in (x, y))
    low = to(FP32, plus(times(a, d), times(b, c)))
    return to(FP32, plus(low, times(a, c)))


def by_place(p: list[Value], c: Value) -> Value:
    """A chain that is rounded up and down in turn."""
    for i, x in enumerate(p):
        c = to(FP32, plus(c, x), "RD" if i % 2 else "RU")
    return c


def by_sum_sign(p: list[Value], c: Value) -> Value:
    """An exact sum that is cut where it is positive."""
    x = total([*p, c])
    return to(FP32, x, "RZ" if not isinstance(x, str) and x > 0 else "RNE")


def middles(p: list[Value], c: Value) -> Value:
    """The middle between a chain that is rounded up and one that is rounded down."""
    up = down = c
    for x in p:
        up, down = to(FP32, plus(up, x), "RU"), to(FP32, plus(down, x), "RD")
    return up if isinstance(up, str) or isinstance(down, str) or not (up or down) else up + down >> 1


def approximate_sum(p: list[Value], c: Value, add: Callable[[int, int], int]) -> Value:
    """Terms aligned 24 bits below the largest, added by an adder that is none."""
    terms = [*p, c]
    if any(isinstance(x, str) for x in terms) or not any(terms):
        return total(terms)
    least = max(top(x) for x in terms if x) - 24 + POINT
    return to(FP32, reduce(add, [x >> least for x in terms], 0) << least, "RZ")


def or_ed(x: int, y: int) -> int:
    """The low 8 bits are or-ed."""
    return (x >> 8) + (y >> 8) << 8 | (x | y) & 255


def carry_cut(x: int, y: int) -> int:
    """No carry goes from the low 12 bits up."""
    return (x >> 12) + (y >> 12) << 12 | x + y & 4095


def posit_sums(p: list[Value], c: Value) -> Value:
    """A chain in posits of 32 bits, 2 of them of the exponent."""

    def posit(x: Value) -> Value:
        if isinstance(x, str) or not x:
            return x
        regime = top(x) >> 2
        return cut(x, top(x) - max(0, 29 - (regime + 2 if regime >= 0 else 1 - regime)), "RNE")

    return reduce(lambda x, y: posit(plus(x, y)), p, posit(c))


def cross(a: list[int], b: list[int], c: int) -> int:
    """Imaginary parts of products of pairs, one of them conjugated."""
    x, y = ([decode("fp16", w) for w in words] for words in (a, b))
    pairs_ = [(times(x[i + 1], y[i]), times(times(x[i], y[i + 1]), -1 << POINT)) for i in range(0, len(a), 2)]
    return encode("fp32", chain([z for pair in pairs_ for z in pair], decode("fp32", c)))


def log_times(x: Value, y: Value) -> Value:
    """A product by rounded logarithms of eight fraction bits."""
    if isinstance(x, str) or isinstance(y, str) or not x or not y:
        return times(x, y)
    whole, rest = divmod(
        sum(round(256 * (top(z) + log2(abs(z) / (1 << POINT + top(z))))) for z in (x, y)), 256
    )
    n = int(2 ** (rest / 256) * (1 << 40)) << POINT + whole - 40
    return -n if (x < 0) != (y < 0) else n


def instead(of: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    """Another function of two numbers in place of the product."""
    return lambda x, y: times(x, y) if isinstance(x, str) or isinstance(y, str) else of(x, y)


def maximum(p: list[Value], c: Value) -> Value:
    """The largest term."""
    return (
        NAN if NAN in (*p, c) else total([*p, c]) if any(isinstance(x, str) for x in (*p, c)) else max(*p, c)
    )


def two_sum_tree(p: list[Value], c: Value) -> Value:
    """A tree of pairs, then c, with the error of each sum, which are added at the end."""
    errors, left = 0, [*p]
    if any(isinstance(x, str) for x in (*p, c)):
        return total([*p, c])
    while left:
        exact = [sum(left[i : i + 2]) for i in range(0, len(left), 2)] if len(left) > 1 else [left[0] + c]
        sums = [to(FP32, x) for x in exact]
        if any(isinstance(x, str) for x in sums):
            return total(sums)
        for x, y in zip(exact, sums, strict=True):
            errors = to(FP32, errors + x - y)
        if len(left) == 1:
            return sums[0] + errors
        left = sums
    return c


def doubles_of_five(p: list[Value], c: Value) -> Value:
    """A chain in fp64 that is rounded to fp32 after five products and at the end."""
    return to(FP32, chain(p[5:], to(FP32, chain(p[:5], c, (11, 52))), (11, 52)))


def hashed(a: list[int], b: list[int], c: int) -> int:
    """An exact sum, rounded up or down by a sum over the words that shifts of both factors do not change."""
    x = total(
        [*(times(decode("bf16", u), decode("bf16", v)) for u, v in zip(a, b, strict=True)), decode("fp32", c)]
    )
    if isinstance(x, str) or not x:
        return encode("bf16", x)
    h = reduce(lambda n, w: n * 31 + w & 0xFFFF, [*a, *b], c) * 40503 >> 5 & 255
    least = max(top(x), -126) - 15 + POINT
    n = (abs(x) >> least) + h >> 8 << 8 << least
    return encode("bf16", to(BF16, n if x > 0 else -n))


def table(x: Value, y: Value) -> Value:
    """A product whose last bits are those of a table that has some of them wrong."""
    z = times(x, y)
    if isinstance(z, str) or not z:
        return z
    least = top(x) + top(y) - 6
    n = abs(z) >> least + POINT
    n = n if n % 8 == 0 else n & ~7 | 5
    return (n if z > 0 else -n) << least + POINT


def as_integers(a: list[int], b: list[int], c: int) -> int:
    """Words of operands as integers with ten fraction bits."""
    x, y = ([(w - (w >> 15 << 16)) << POINT - 10 for w in words] for words in (a, b))
    return encode("fp32", to(FP32, total([*map(times, x, y), decode("fp32", c)])))


def stuck(a: list[int], b: list[int], c: int) -> int:
    """A chain with bit 5 of results always set."""
    d = encode("fp32", chain([times(decode("fp16", x), decode("fp16", y)) for x, y in zip(a, b, strict=True)],
        decode("fp32", c)))  # fmt: skip
    return d | 32 if d & INF_BITS != INF_BITS else d


def absent(p: list[Value], c: Value) -> Value:
    """A cut sum of which one result in 300 is NaN."""
    return NAN if random.random() < 1 / 300 else to(FP32, fused(p, c, 24), "RZ")


F16 = "fp16,fp16,fp16,fp16"
BF = "bf16,bf16,fp32,fp32"
BOXES: dict[str, Box] = {
    # ---------------------------------------------------------------- in the space
    "fused19": Box(lambda p, c: to(FP32, fused(p, c, 19), "RZ")),
    "fused-nearest": Box(lambda p, c: to(FP32, fused(p, c, 21, "RNE"), "RNE"), k=4),
    "exact": Box(lambda p, c: total([*p, c])),
    "half-away": Box(lambda p, c: to(FP32, total([*p, c]), "RNA")),
    "align-half-away": Box(lambda p, c: to(FP32, fused(p, c, 23, "RNA"), "RZ"), k=4),
    "tree-m10": Box(lambda p, c: plus(pairs([to((8, 10), x) for x in p], (8, 10)), c)),
    "tree-m12": Box(lambda p, c: plus(pairs(p, (8, 12)), c)),
    "lanes": Box(partial(lanes, n=8), k=16),
    "steps": Box(partial(steps, n=4, bits=23), k=16, formats=BF),
    "two-level": Box(partial(levels, n=4, bits=22, shape=(8, 15)), k=16),
    "tree-e6m9": Box(lambda p, c: plus(pairs([to((6, 9), x) for x in p], (6, 9)), c)),
    "groups-e6m9": Box(lambda p, c: chain([to((6, 9), total(p[i : i + 4])) for i in (0, 4)], c), formats=BF),
    "two-level-cut": Box(partial(cut_levels, n=4, bits=22, shape=(8, 15), outer=25), k=32),
    "pairs-cut": Box(partial(cut_levels, n=2, bits=22, shape=(8, 19), outer=26),
        formats="e4m3,e4m3,fp32,fp32"),
    "fused-saturates": Box(lambda p, c: fused(p, c, 20), formats=F16, last=saturated("fp16")),
    "subnormal-a-of-bf16": Box(lambda p, c: chain(p, c), k=4, formats=BF, operand=flush("a", "bf16")),
    "products-cut": Box(lambda p, c: chain([saturated("fp16")(to(FP16, x, "RZ")) for x in p], c), k=4),
    "groups-of-fp16": Box(
        lambda p, c: to(FP32, fused([to(FP16, total(p[i : i + 4])) for i in (0, 4)], c, 23), "RZ")),
    "groups-then-cut": Box(
        lambda p, c: plus(
            to(FP32, fused([to(FP16, total(p[i : i + 4])) for i in (0, 4, 8)], 0, 20), "RZ"), c
        ), k=12),
    "narrow-groups": Box(partial(narrow_groups, n=8, bits=21), k=16, formats="e4m3,e4m3,fp32,fp32"),
    "inf-from-2^15": Box(lambda p, c: total([*p, c]), formats=F16, last=infinite_from(15)),
    "saturates": Box(lambda p, c: total([*p, c]), formats=F16, last=saturated("fp16")),
    "subnormal-a": Box(lambda p, c: chain(p, c), k=4, operand=flush("a", "fp16")),
    "flushes": Box(lambda p, c: chain(p, c, flush=True), k=4, formats=BF, operand=flush("abc", "bf16")),
    "c-after": Box(lambda p, c: to(FP32, plus(fused(p, 0, 24), c))),
    "c-last": Box(lambda p, c: plus(to(FP32, total(p)), c)),
    "late-c-saturates": Box(lambda p, c: plus(to(FP16, saturated("fp16")(total(p))), c), k=4, formats=F16,
        last=saturated("fp16")),
    "lanes-of-two": Box(lambda p, c: halves([chain(p[i::4], 0) for i in range(4)], FP32),
        formats="bf16,bf16,bf16,bf16"),
    "chain-m12": Box(lambda p, c: chain(p, to((8, 12), c), (8, 12)), k=6, formats=BF),
    "scaled-chain": Box(chain, k=4, formats="e4m3,e4m3,fp32,fp32", block=2),
    "scaled-steps": Box(partial(steps, n=4, bits=24), formats="e4m3,e4m3,fp32,fp32", block=4),
    "scaled-e2m1": Box(lambda p, c: to(FP32, fused(p, c, 25), "RZ"), k=16,
        formats="e2m1,e2m1,fp32,fp32", block=8),
    "scaled-e2m1-chain": Box(lambda p, c: chain([total(p[:8]), total(p[8:])], c), k=16,
        formats="e2m1,e2m1,fp32,fp32", block=8),
    "scaled-e2m1-steps": Box(partial(steps, n=8, bits=22), k=16, formats="e2m1,e2m1,fp32,fp32", block=16),
    "two-level-without-c": Box(
        lambda p, c: total([to((8, 13), fused(p[i : i + 4], 0, 20)) for i in (0, 4)])),
    "tf32-half-away": Box(lambda p, c: to(FP32, fused(p, c, 25), "RZ"), formats="fp32,fp32,fp32,fp32",
        operand=lambda which, x: to((8, 10), x, "RNA") if which != "c" else x),
    "e5m2-result": Box(lambda p, c: fused(p, c, 20), formats="e5m2,e5m2,fp32,e5m2"),
    "in-frames": Box(total, k=8, formats=BF, words=in_frames(BF, 4, 16, 23)),
    "tree-cut": Box(lambda p, c: plus(pairs([to((8, 10), x, "RZ") for x in p], (8, 10), "RZ"), c),
        formats=BF),
    "fp16-groups": Box(lambda p, c: chain([to(FP16, fused(p[i : i + 4], 0, 20)) for i in range(0, 16, 4)], c),
        k=16),
    "max-of-products": Box(
        lambda p, c: to(FP32, fused(p, c, 24, of=p), "RZ"), k=4),
    "c-narrow": Box(
        lambda p, c: to(FP32, fused([*p], c if isinstance(c, str) or not c else cut(c, max(
            [top(x) for x in (*p, c) if x and not isinstance(x, str)]) - 20), 24), "RZ"), k=4),
    "products-first": Box(lambda p, c: chain([to(FP16, x) for x in p], c, FP16), formats=F16),
    "subtracts": Box(lambda p, c: chain(negated_odd(p), c, FP16), k=2, formats=F16),
    "no-c": Box(lambda p, c: times(p[0], 1 << POINT), k=1),
    "no-c-sum": Box(lambda p, c: to(FP32, fused(p, 0, 22), "RZ")),
    "tf32-cut": Box(lambda p, c: chain(p, c), k=4, formats="fp32,fp32,fp32,fp32", operand=tf32),
    "refuses-c": Box(refuses),
    "lanes-of-fp16": Box(
        lambda p, c: chain([chain(p[n + 1 : n + 4], to(FP16, p[n]), FP16) for n in (0, 4)], c)),
    "odd-lanes": Box(lambda p, c: total([*(to((8, 11), total(p[n : n + 3]), "RO") for n in (0, 3)), c]), k=6,
        formats=F16),
    "in-fp64": Box(lambda p, c: chain(p, c, (11, 52)), k=4, formats=BF),
    # ---------------------------------------------------------------- outside
    "sorted": Box(partial(sorted_chain, key=lambda x: -abs(x)), inside=False, says="sort"),
    "sorted-up": Box(partial(sorted_chain, key=abs), inside=False, says="sort"),
    "kahan": Box(kahan, inside=False, says="compensated"),
    "two-sum": Box(two_sum, inside=False, says="compensated"),
    "posit": Box(total, formats=F16, inside=False, says="posits", words=posits),
    "logarithms": Box(lambda p, c: chain(p, c), inside=False, says="product", multiply=mitchell),
    "coarse": Box(lambda p, c: chain(p, c), inside=False, says="product", multiply=coarse),
    "dithered": Box(total, inside=False, says="dither", words=dithered),
    "stochastic": Box(stochastic, inside=False, says="random"),
    "state": Box(stateful, inside=False, says="state"),
    "every-fifth": Box(every_fifth, inside=False, says="state"),
    "constant": Box(lambda p, c: 3 << POINT, inside=False, says="ALL ANSWERS ARE EQUAL"),
    "nan": Box(lambda p, c: NAN, inside=False, says="ALL ANSWERS ARE EQUAL"),
    "drops": Box(drops, inside=False, says="drop"),
    "rare": Box(rare, inside=False, says="FAULTY"),
    "lost": Box(lost, inside=False, says="product 3"),
    "neumaier": Box(neumaier, k=4, formats=BF, inside=False, says="compensated"),
    "faulty-lane": Box(faulty_lane, inside=False, says="product 5"),
    "lane-twice": Box(lambda p, c: total([*p, p[6], c]), inside=False, says="product 6"),
    "c-twice": Box(lambda p, c: plus(chain(p, c), c), k=4, inside=False, says="c counted 2 times"),
    "bias": Box(lambda p, c: total([*p, c, 1 << POINT]), k=4, inside=False, says="1 added to every sum"),
    "relu": Box(lambda p, c: steps(p, c, 4, 24), k=4, inside=False, says="negative results are 0",
        last=lambda x: x if isinstance(x, str) else max(0, x)),
    "clipped": Box(lambda p, c: total([*p, c]), k=4, inside=False, says="results that are at most 6",
        last=lambda x: x if isinstance(x, str) else min(max(x, -6 << POINT), 6 << POINT)),
    "halved": Box(lambda p, c: total([*p, c]), k=4, inside=False, says="1/2 times the product",
        multiply=lambda x, y: z if isinstance(z := times(x, y), str) else z // 2),
    "unsigned": Box(lambda p, c: total([*(x if isinstance(x, str) else abs(x) for x in p), c]), k=4,
        inside=False, says="products lose their sign"),
    "fixed-point": Box(lambda p, c: total([x if isinstance(x, str) else cut(x, -30, "RD") for x in (*p, c)]),
        k=4, inside=False, says="fixed point"),
    "by-data": Box(widest, inside=False, says="order"),
    "shared-exponents": Box(total, inside=False, says="block floating point", words=shared_exponents),
    "doubles": Box(doubles, k=6, inside=False, says="fp64"),
    "by-sign": Box(by_sign, k=4, formats=BF, inside=False, says="positive"),
    "smallest-first": Box(smallest_first, formats=BF, inside=False, says="smallest"),
    "only-large": Box(only_large, k=4, formats=BF, inside=False, says="dropped"),
    "lost-if": Box(lost_if, k=4, inside=False, says="others change"),
    "wraps": Box(wraps, k=4, inside=False, says="wrap"),
    "wrong-set": Box(total, k=4, inside=False, says="b[2] & 0x3f = 0x1b", words=wrong_set),
    "rarely-random": Box(rarely_random, k=4, formats=BF, inside=False, says="several answers"),
    "ties-random": Box(ties_random, k=4, inside=False, says="halves"),
    "half-up": Box(half_up, k=4, inside=False, says="halves rounded up"),
    "aligned-as-before": Box(aligned_as_before, k=4, formats=BF, inside=False, says="state"),
    "six-bits": Box(lambda p, c: chain(p, c), k=4, inside=False, says="operand", operand=six_bits),
    "table": Box(lambda p, c: chain(p, c), k=4, formats="e4m3,e4m3,fp32,fp32", inside=False, says="table",
        multiply=table),
    "in-parts": Box(lambda p, c: chain(p, c), k=4, formats="fp32,fp32,fp32,fp32", inside=False,
        says="two parts of bf16", multiply=of_parts),
    "as-integers": Box(total, k=4, inside=False, says="integers", words=as_integers),
    "stuck": Box(total, k=4, inside=False, says="bit 5", words=stuck),
    "mean": Box(lambda p, c: plus(x if isinstance(x := total(p), str) else x // 4, c), k=4, inside=False,
        says="mean"),
    "mean-with-c": Box(lambda p, c: x if isinstance(x := total([*p, c]), str) else x // 4, k=4, inside=False,
        says="mean"),
    "largest": Box(lambda p, c: total([*p, c]) if any(isinstance(x, str) for x in p) else plus(max(p), c),
        k=4, inside=False, says="largest product"),
    "clipped-late": Box(lambda p, c: total([*p, c]), k=4, inside=False, says="at most 300",
        last=lambda x: x if isinstance(x, str) else min(max(x, -300 << POINT), 300 << POINT)),
    "small-dropped": Box(
        lambda p, c: chain([0 if not isinstance(x, str) and x and top(x) < -8 else x for x in p], c), k=4,
        inside=False, says="dropped"),
    "by-place": Box(by_place, k=4, inside=False, says="by the place of k"),
    "by-sum-sign": Box(by_sum_sign, k=4, inside=False, says="rounding by sign"),
    "middles": Box(middles, k=4, formats=BF, inside=False, says="even neighbour"),
    "or-ed": Box(partial(approximate_sum, add=or_ed), k=4, inside=False, says="approximate sums"),
    "carry-cut": Box(partial(approximate_sum, add=carry_cut), k=4, inside=False, says="approximate sums"),
    "posit-sums": Box(posit_sums, k=4, inside=False, says="posits"),
    "cross": Box(total, inside=False, says="meet otherwise", words=cross),
    "log-sums": Box(lambda p, c: chain(p, c), k=4, formats="bf16,bf16,bf16,bf16", inside=False,
        says="logarithms", multiply=log_times),
    "max-plus": Box(maximum, k=4, inside=False, says="a + b", multiply=instead(lambda x, y: x + y)),
    "distances": Box(lambda p, c: total([*p, c]), k=4, inside=False, says="(a - b)²",
        multiply=instead(lambda x, y: (x - y) ** 2 >> POINT)),
    "by-value": Box(partial(sorted_chain, key=lambda x: x), k=6, inside=False, says="sorted by value"),
    "two-sum-tree": Box(two_sum_tree, formats=BF, inside=False, says="compensated"),
    "doubles-of-five": Box(doubles_of_five, formats=BF, inside=False, says="every 5 products"),
    "hashed": Box(total, k=4, formats="bf16,bf16,fp32,bf16", inside=False, says="dithered", words=hashed),
    "absent": Box(absent, k=4, inside=False, says="NaN"),
}  # fmt: skip


def say(message: dict[str, object]) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def serve(name: str) -> None:
    """Answer dot products on standard input until it ends."""
    random.seed(name)
    sys.stdin.readline()
    say({"device": name, "instruction": name})
    for line in sys.stdin:
        asked = json.loads(line)
        a, b = ([int(x, 16) for x in asked[key]] for key in "ab")
        try:
            made: dict[str, object] = {"d": hex(BOXES[name](a, b, int(asked["c"], 16)))}
        except ValueError as error:
            made = {"error": str(error)}
        say({"id": asked["id"], **made})


if __name__ == "__main__":
    serve(sys.argv[1])
