"""Inputs of sums whose terms lose otherwise: aligned to odd, or products with more bits than sums keep."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from tcformal.bounds.attained import Attained, Construction, FactorWords
from tcformal.matmul.errors import values_of
from tcformal.matmul.unit import Unit
from tcformal.oracle.values import encode_exact

#: Pairs of significands that are tried at once, and rounds around the best.
_TRIED, _ROUNDS = 1 << 15, 6
#: Binades below a unit of the sum of what is raised to one.
_TINY = (20, 8, 4, 2, 1)


def of_cut_terms(build: Construction, length: int, exponents: list[int]) -> Iterator[Attained]:
    """One call of each kind that the unit has, replayed."""
    design, unit = build.unit.design, build.unit
    if length > min(unit.k, design.products) or design.fraction_bits is None or unit.scale_format is not None:
        return
    if design.alignment_rounding == "RO" and design.step.mode == "RO" and length > 2:
        # The larger the first product, the less the tiny ones are beside a unit.
        top = min(build.a.e_max + build.b.e_max, unit.d_format.e_max - 1)
        rows = [row for e in (*exponents, top, top - 1) for row in _to_odd(build, e, length)]
    elif length == 1 and build.a.precision + build.b.precision > design.step.precision:
        rows = [] if (row := _alone(build)) is None else [row]
    else:
        return
    for pairs in rows:
        made = build.replayed(build.call(pairs, 0))
        if made is not None:
            yield made


def _to_odd(build: Construction, e: int, length: int) -> Iterator[list[FactorWords]]:
    """A power of two, tiny products that count a unit each, and one or two that bring the sum where it is.

    Each term is raised by nearly a unit, and the sum, which is a unit above an even number of ulps, to the
    next odd one.
    """
    bits, p = int(build.unit.design.fraction_bits or 0), build.p
    large = build.power(e)
    tiny = next((x for t in _TINY if (x := build.power(e - bits - t)) is not None), None)
    if large is None or tiny is None:
        return
    # An even number of them, so that what the other one counts can be odd.
    count, ulps = (length - 2) & ~1, 1 << bits - p + 1
    units = ulps + 1 - count
    while units < 3:
        units += ulps
    for parts in ([units], *([x, units + 1 - x] for x in range(3, units // 2 + 1, 2))):
        brings = [x for u in parts if (x := _just_above(build, u - 1, e - bits)) is not None]
        if len(brings) == len(parts) <= count:
            yield [large, *brings, *[tiny] * (count + 1 - len(brings))]


def _just_above(build: Construction, whole: int, q: int) -> FactorWords | None:
    """A product as little above whole·2^q as the significands allow, but not equal to it."""
    first, second = build.a.fraction_bits, build.b.fraction_bits
    best: tuple[Fraction, int, int, int] | None = None
    for x in range(1 << first, 2 << first):
        for places in (first + second - whole.bit_length() + 1, first + second - whole.bit_length() + 2):
            if places < 1:
                continue
            y = (whole << places) // x + 1
            if 1 << second <= y < 2 << second and whole << places < x * y < (whole + 1) << places:
                found = (Fraction(x * y, 1 << places), x, y, places)
                best = found if best is None else min(best, found)
    return None if best is None else build.scaled(best[1], best[2], q - best[3])


def _alone(build: Construction) -> list[FactorWords] | None:
    """One product a little above 1 that is cut itself: drawn, then improved around the best."""
    if build.a.precision + build.b.precision > 53:
        return None  # binary64 does not hold it
    unit, draw = Unit(build.unit), np.random.default_rng(1)
    one = [encode_exact(f, Fraction(1)) for f in (build.a, build.b)]
    half = [f.fraction_bits // 2 + 2 for f in (build.a, build.b)]
    rows = np.column_stack([draw.integers(0, 1 << h, _TRIED) for h in half])
    best, most = rows[0], -1.0
    for i in range(_ROUNDS):
        a, b = (
            (rows[:, j : j + 1] + one[j]).astype(f"u{f.storage_bits // 8}")
            for j, f in enumerate((build.a, build.b))
        )
        exact = (values_of(a, build.a) * values_of(b, build.b))[:, 0]
        d = values_of(
            unit.dot_bits(a, b, np.zeros(len(a), f"u{unit.c_format.storage_bits // 8}")), unit.d_format
        )
        lost = np.abs(d - exact) / exact
        if lost.max() > most:
            most, best = float(lost.max()), rows[int(np.argmax(lost))]
        steps = draw.integers(-(1 << 9 - i), (1 << 9 - i) + 1, (_TRIED, 2))
        rows = np.clip(best + steps, 0, [(1 << h) - 1 for h in half])
    return [(int(best[0] + one[0]), int(best[1] + one[1]))]
