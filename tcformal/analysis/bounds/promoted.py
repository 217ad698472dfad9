"""Worst-case inputs for sums with promotion: a first partial sum of maximal error, then half-ulp terms."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tcformal.analysis.bounds.attained import Attained, Construction
from tcformal.analysis.bounds.search import improved
from tcformal.design.names import resolve
from tcformal.oracle.values import decode, encode_exact, exponent_of
from tcformal.query.replay import results_of
from tcformal.simulation.operands.witness import Witness

#: One binary32 addition to nearest: 1·b + c.
_ADDITION = "sequential@format=fp32,products=1"


def promoted(build: Construction, length: int, every: int) -> Attained:
    """The constructed dot product of largest error; partial sums and their additions are replayed."""
    first = improved(build, every, build.best(every))
    unit, addition = build.unit, resolve(_ADDITION)
    fmt = unit.d_format
    total, calls = first.ends, list(first.calls)
    start = decode(fmt, first.ends).number
    exact = sum((_value(build, w) * times for w, times in first.calls), Fraction(0))
    magnitude = first.magnitude
    half = start * Fraction(1, 1 << 24)
    pair = build.power(exponent_of(half)) if half > 0 else None
    w = build.call([] if pair is None else [pair], 0)
    part, left = results_of(unit, w), -(-length // every) - 1
    while left:
        before = total
        total = results_of(addition, Witness((encode_exact(fmt, Fraction(1)),), (part,), total))
        # An addition that changes nothing is made for all that follows.
        times = left if total == before else 1
        exact, magnitude = exact + times * _value(build, w), magnitude + times * abs(_value(build, w))
        calls.append((w, times))
        left -= times
    error = abs(decode(fmt, total).number - exact)
    made = replace(first, calls=tuple(calls), ends=total, error=error, magnitude=magnitude)
    return made if made.ratio >= first.ratio or pair is not None else first


def _value(build: Construction, w: Witness) -> Fraction:
    """The exact sum of a call's products."""
    return sum(build.values(w), Fraction(0))
