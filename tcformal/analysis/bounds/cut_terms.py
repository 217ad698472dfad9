"""Inputs of sums whose terms lose otherwise: aligned to odd, or products with more bits than sums keep."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np

from tcformal.analysis.bounds.attained import Attained, Construction, FactorWords
from tcformal.analysis.errors import values_of
from tcformal.oracle.values import decode, encode_exact
from tcformal.simulation.unit import Unit

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
    """A power of two, and the products that together gain most by being made odd where their sum does too.

    The sum gains an ulp less a unit where it is a unit above an even number of ulps: of all rows of odd
    numbers of units, of either sign, that come to that, the one whose products gain most.
    """
    bits, p = int(build.unit.design.fraction_bits or 0), build.p
    large, ulps = build.power(e), 2 << bits - p
    if large is None:
        return
    kinds = dict[int, tuple[Fraction, FactorWords]]()
    for units in range(1, ulps, 2):
        for sign in (1, -1):
            found = _gaining(build, units, sign, e - bits)
            residue = units * sign % ulps
            if found is not None and (residue not in kinds or found[0] > kinds[residue][0]):
                kinds[residue] = found
    # What is gained at most by so many products whose units are so many beyond a multiple of two ulps.
    best: dict[int, tuple[Fraction, tuple[int, ...]]] = {0: (Fraction(0), ())}
    for count in range(1, length):
        made: dict[int, tuple[Fraction, tuple[int, ...]]] = {}
        for total, (gain, row) in best.items():
            for residue, (more, _) in kinds.items():
                at = (total + residue) % ulps
                if at not in made or gain + more > made[at][0]:
                    made[at] = gain + more, (*row, residue)
        best = made
        if count >= length - 2 and 1 in best:
            yield [large, *(kinds[residue][1] for residue in best[1][1])]


def _gaining(build: Construction, units: int, sign: int, q: int) -> tuple[Fraction, FactorWords] | None:
    """A product that is made so many units of 2^q, odd, of that sign, and gains most by that; and how much.

    One that is raised is as little above a unit less as the significands allow; of the other sign, as little
    below a unit more.
    """
    if units == 1 and sign > 0:
        words = next((x for t in _TINY if (x := build.power(q - t)) is not None), None)
    else:
        found = _beside(build.a.fraction_bits, build.b.fraction_bits, units - sign, sign)
        words = None if found is None else build.scaled(found[0], found[1], q - found[2])
    if words is None:
        return None
    value = decode(build.a, words[0]).number * decode(build.b, words[1]).number / Fraction(2) ** q
    if sign < 0:
        words = words[0] | build.a.sign_bit, words[1]
    return (units - value) * sign, words


@lru_cache(maxsize=1024)
def _beside(first: int, second: int, whole: int, sign: int) -> tuple[int, int, int] | None:
    """Significands of so many fraction bits whose product is just above a number, or just below it."""
    best: tuple[Fraction, int, int, int] | None = None
    for x in range(1 << first, 2 << first):
        for places in range(first + second - whole.bit_length(), first + second - whole.bit_length() + 3):
            if places < 1:
                continue
            y = (whole << places) // x + 1 if sign > 0 else -(-(whole << places) // x) - 1
            gap = abs(Fraction(x * y, 1 << places) - whole)
            if 1 << second <= y < 2 << second and gap < 1:
                found = (gap, x, y, places)
                best = found if best is None else min(best, found)
    return None if best is None else best[1:]


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
