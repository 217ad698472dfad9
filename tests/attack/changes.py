"""Small changes of inputs: neighbours of those that came near to breaking a theorem."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attack.directed import BELOW, Ints, encoded, pairs_of, significands
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign
from tcformal.simulation.operands.batch import Batch, Raw, rows_of


def changed(rng: np.random.Generator, spec: UnitSpec, x: Batch, n: int) -> Batch:
    """n neighbours of the rows of a batch: one or two small changes each."""
    made = rows_of(x, rng.integers(0, len(x.c), n))
    for _ in range(2):
        kind = rng.integers(0, 12, n)
        made = _once(rng, spec, made, kind)
    return made


def _once(rng: np.random.Generator, spec: UnitSpec, x: Batch, kind: Ints) -> Batch:
    n, k = x.a.shape
    a, b, c = x.a.copy(), x.b.copy(), x.c.copy()
    place = np.asarray(rng.integers(0, k, n))

    def rows(number: int) -> Ints:
        return np.flatnonzero(kind == number).astype(np.int64)

    for number, words, fmt in ((0, a, spec.a_format), (1, b, spec.b_format)):
        r = rows(number)  # one factor's last bits, or its exponent
        words[r, place[r]] = _moved(rng, fmt, words[r, place[r]])
    r = rows(2)
    c[r] = _moved(rng, spec.c_format, c[r])
    r = rows(3)  # another term's words
    other = rng.integers(0, k, len(r))
    a[r, place[r]], b[r, place[r]] = a[r, other], b[r, other]
    r = rows(4)  # all terms but one as one of them
    keep = a[r, 0].copy(), b[r, 0].copy()
    a[r, :], b[r, :] = a[r, place[r]][:, None], b[r, place[r]][:, None]
    a[r, 0], b[r, 0] = keep
    r = rows(5)
    a[r, place[r]] ^= np.uint64(spec.a_format.sign_bit)
    r = rows(6)
    c[r] ^= np.uint64(spec.c_format.sign_bit)
    r = rows(7)
    a[r, place[r]], b[r, place[r]] = 0, 0
    r = rows(8)
    c[r] = encoded(
        spec.c_format, rng.random(len(r)) < 0.5,
        significands(rng, rng.integers(0, 6, len(r)), spec.c_format.fraction_bits)[0],
        rng.integers(spec.c_format.e_min, spec.c_format.e_max + 1, len(r)),
    )  # fmt: skip
    r = rows(9)  # another pair of significands in one term, in all that are equal to it
    new, _, _ = pairs_of(rng, spec, np.full((len(r), 1), BELOW))
    _, also, _ = pairs_of(rng, spec, np.full((len(r), 1), BELOW))
    for words, fmt, z in ((a, spec.a_format, new), (b, spec.b_format, also)):
        t, low = fmt.fraction_bits, np.uint64(fmt.ignored_low_bits)
        mask = np.uint64((1 << t) - 1) << low
        same = words[r] == words[r, place[r]][:, None]
        fraction = ((z - (np.int64(1) << t)).astype(np.uint64) << low) & mask
        words[r] = np.where(same & (words[r] & ~mask != 0), (words[r] & ~mask) | fraction, words[r])
    r = rows(10)  # all terms a binade up or down, c with them
    for words, fmt in ((a, spec.a_format), (c, spec.c_format)):
        words[r] = _shifted(rng, fmt, words[r], one=True)
    r = rows(11)  # all terms that are equal to one
    same = (a[r] == a[r, place[r]][:, None]) & (b[r] == b[r, place[r]][:, None])
    a[r] = np.where(same, _shifted(rng, spec.a_format, a[r], one=True), a[r])
    made = replace(
        x, a=_numbers(spec.a_format, a), b=_numbers(spec.b_format, b), c=_numbers(spec.c_format, c)
    )
    if spec.scale_format is not None and x.scale_a is not None and x.scale_b is not None:
        scales = x.scale_a.copy(), x.scale_b.copy()
        for words in scales:
            r = np.flatnonzero(rng.random(n) < 0.1)
            at = rng.integers(0, words.shape[1], len(r))
            words[r, at] = _moved(rng, spec.scale_format, words[r, at])
        made = replace(
            made,
            scale_a=_numbers(spec.scale_format, scales[0]),
            scale_b=_numbers(spec.scale_format, scales[1]),
        )
    return made


def _moved(rng: np.random.Generator, fmt: Format, words: Raw) -> Raw:
    """A few last bits more or less, another bit, or the next exponents."""
    unit = 1 << fmt.ignored_low_bits
    t = fmt.fraction_bits
    step = rng.integers(-2, 3, words.shape) * unit
    far = rng.choice([-1, 1], words.shape) * (unit << t)
    bit = np.uint64(unit) << rng.integers(0, max(t, 1), words.shape).astype(np.uint64)
    kind = rng.integers(0, 3, words.shape)
    if fmt.width > 62:
        return np.where(kind == 2, words ^ bit, words + step.astype(np.uint64))
    near = np.clip(words.astype(np.int64) + np.where(kind == 0, step, far), 0, (1 << fmt.width) - 1)
    return np.where(kind == 2, words ^ bit, near.astype(np.uint64))


def _shifted(rng: np.random.Generator, fmt: Format, words: Raw, *, one: bool) -> Raw:
    """All numbers of a row a binade or two up or down, where their exponents allow it."""
    t, low = fmt.fraction_bits, fmt.ignored_low_bits
    by = rng.choice([-2, -1, 1, 2], (len(words),) + (1,) * (words.ndim - 1))
    field = (words >> np.uint64(t + low)) & np.uint64((1 << fmt.exponent_bits) - 1)
    moved = field.astype(np.int64) + by
    fits = (field > 0) & (moved > 0) & (moved <= fmt.e_max + fmt.bias)
    rest = words & ~(np.uint64((1 << fmt.exponent_bits) - 1) << np.uint64(t + low))
    return np.where(fits, rest | (np.where(fits, moved, 0).astype(np.uint64) << np.uint64(t + low)), words)


def _numbers(fmt: Format, words: Raw) -> Raw:
    """The words with the largest number in place of what is none."""
    sign = words & np.uint64(fmt.sign_bit)
    body = words ^ sign
    mask = np.uint64((1 << (fmt.width - (fmt.sign is not Sign.ABSENT))) - 1)
    made = np.minimum(body & mask, np.uint64(fmt.largest))
    if fmt.specials.name == "NEGATIVE_ZERO_NAN":
        sign = np.where(made == 0, np.uint64(0), sign)
    return np.asarray(sign | made)
