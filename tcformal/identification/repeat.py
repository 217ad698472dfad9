"""Does a device give one answer to one input?  If not, how do its answers spread."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Specials
from tcformal.identification.asker import Asker
from tcformal.identification.rates import Rate
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import encoded
from tcformal.semantics.chain import scale_count
from tcformal.simulation.operands.batch import (
    Batch,
    Raw,
    batch_of,
    one_operand,
    together,
    with_scales,
    witness_at,
)
from tcformal.simulation.operands.witness import Witness

#: Random inputs of the first look, and how often each of its inputs is asked.
_DENSE, _LOOKS = 6, 5
#: How often the inputs of the second look are asked, and the least position in the ulp, as 2^-this.
_REPEATS, DEEPEST = 1024, 7
#: The share of wrong answers up to which a device is said to be faulty rather than another one.
FEW = 0.01
#: The exponents of the ulp that are tried, the nearest to zero first.
_ULPS = sorted(range(-30, 31), key=abs)
#: The confidence of the intervals that must hold what a number of random bits says, all together.
SURE = 0.9999


class Repetition(Enum):
    """What a device's answers to repeated inputs show."""

    DETERMINISTIC = "one answer to one input"
    FAULTS = "one answer to one input, but for a few that came once"
    STOCHASTIC_ROUNDING = "one of the two neighbours of the sum, at random"
    RANDOM_ORDER = "several answers to sums whose order matters, one answer to others"
    NOISE = "several answers even to sums that are exact, or others than the neighbours of the sum"


@dataclass(frozen=True, slots=True)
class PlaceInUlp:
    """How often a sum was rounded up that lies between two neighbours.

    Ranges and units: `place` is above the lower neighbour, in units in the last place, from 0 to 1.
    """

    place: Fraction
    up: Rate


@dataclass(frozen=True, slots=True)
class Repeated:
    """What repeated inputs show of a device."""

    repetition: Repetition
    #: Answers that were not the most frequent one of their input.
    other: Rate
    places: tuple[PlaceInUlp, ...] = ()
    #: Bits below the last place that the rounding compares with random ones, the deepest that were looked
    #: at if there may be more; None where the probabilities are none of a number of bits.
    random_bits: int | None = None
    #: An input with most answers, and how often each came.
    most: tuple[Witness, dict[int, int]] | None = None

    @property
    def deterministic(self) -> bool:
        """Whether every input was given one answer."""
        return self.repetition in (Repetition.DETERMINISTIC, Repetition.FAULTS)


def repeat(asker: Asker, seed: int = 1) -> Repeated:
    """Ask few inputs several times; where answers differ, ask others very often.

    The first look has dense random sums, sums halfway and three quarters between two results, and one with
    special operands.  The second has exact sums, which only noise changes, and sums of two terms, which no
    order changes.
    """
    spec, k = asker.spec, asker.k
    dense = dense_inputs(spec, k, _DENSE, seed)
    places = ulp_places(spec, k)
    shown = [w for place, w in places.inputs if place in (Fraction(1, 2), Fraction(3, 4))]
    looked = asker.repeated(together(dense, batch_of([_special(spec, k), *shown])), _LOOKS)
    if (looked == looked[0]).all():
        return Repeated(Repetition.DETERMINISTIC, Rate(0, looked.size))
    exact, between = _exact(spec, k), [batch_of([w]) for _, w in places.inputs]
    second = together(batch_of(exact), dense, *between)
    answers = asker.repeated(second, _REPEATS)
    counts = [_counted(column) for column in answers.T]
    most = max(range(len(counts)), key=lambda i: len(counts[i]))
    of_places = counts[len(exact) + _DENSE :]
    ups = [Rate(count.get(places.low + 1, 0), _REPEATS) for count in of_places]
    seen = tuple(PlaceInUlp(place, up) for (place, _), up in zip(places.inputs, ups, strict=True))
    kind = _kind(counts[: len(exact)], counts[len(exact) :], of_places, places.low)
    stochastic = kind is Repetition.STOCHASTIC_ROUNDING
    rare, total = strays(looked) + strays(answers), looked.size + answers.size
    if not stochastic and rare <= FEW * total:
        kind = Repetition.FAULTS
    return Repeated(
        kind,
        Rate(rare, total),
        seen if stochastic else (),
        _random_bits(seen) if stochastic else None,
        (witness_at(second, most), counts[most]),
    )


def strays(answers: Raw) -> int:
    """How many answers are not the most frequent one to their input; shape [times, n]."""
    return sum(len(column) - max(_counted(column).values()) for column in answers.T)


def _counted(words: Raw) -> dict[int, int]:
    """How often each answer came."""
    return dict(sorted(Counter(words.tolist()).items()))


def _kind(
    exact: Sequence[dict[int, int]],
    others: Sequence[dict[int, int]],
    places: Sequence[dict[int, int]],
    low: int,
) -> Repetition:
    """What spreads: exact sums, sums of two terms, or longer sums alone."""
    if any(len(count) > 1 for count in exact) or any(not {*count} <= {low, low + 1} for count in places):
        return Repetition.NOISE
    if any(len(count) > 1 for count in places):
        return Repetition.STOCHASTIC_ROUNDING
    # Without sums of two terms, two neighbours as the only answers to any sum are those of a rounding.
    if not places and all(max(count) - min(count) <= 1 for count in others):
        return Repetition.STOCHASTIC_ROUNDING
    return Repetition.RANDOM_ORDER if any(len(count) > 1 for count in others) else Repetition.NOISE


def _random_bits(places: Sequence[PlaceInUlp]) -> int | None:
    """The number of random bits that makes the counts likeliest; None where it does not explain them.

    With r bits, a place f is rounded up with probability floor(f 2^r) / 2^r.
    """

    def up(place: Fraction, bits: int) -> float:
        return math.floor(place * (1 << bits)) / (1 << bits)

    def unlikely(bits: int) -> float:
        total = 0.0
        for x in places:
            p = min(max(up(x.place, bits), 1e-9), 1 - 1e-9)
            total -= x.up.count * math.log(p) + (x.up.of - x.up.count) * math.log1p(-p)
        return total

    if not places:
        return None
    best = min(range(1, max(x.place.denominator for x in places).bit_length()), key=unlikely)
    for x in places:
        low, high = x.up.interval(1 - (1 - SURE) / len(places))
        if not low <= up(x.place, best) <= high:
            return None
    return best


@dataclass(frozen=True, slots=True)
class UlpPlaces:
    """Sums of two terms between two neighbours in D, each with its place, and the lower neighbour."""

    inputs: tuple[tuple[Fraction, Witness], ...]
    low: int


def ulp_places(spec: UnitSpec, k: int) -> UlpPlaces:
    """Sums of a power of two and one small product, as deep below the last place as the formats reach.

    The power of two is c, or a product where C does not reach so far; no inputs where neither does.
    """
    wanted = [Fraction(3, 4), *(power_of_two(-i) for i in range(1, DEEPEST + 1))]
    t, best = spec.d_format.fraction_bits, UlpPlaces((), 0)
    for ulp in _ULPS:
        base, low = power_of_two(ulp + t), encoded(spec.d_format, power_of_two(ulp + t))
        c, first = encoded(spec.c_format, base), _factors(spec, base)
        if low is None or (c is None and (first is None or k == 1)):
            continue
        made = []
        for place in wanted:
            small = _factors(spec, place * power_of_two(ulp))
            if small is not None:
                products = [small] if c is not None else [first or (0, 0), small]
                made.append((place, products_witness(spec, k, products, c or 0)))
        if len(made) > len(best.inputs):
            best = UlpPlaces(tuple(made), low)
    return best


def _factors(spec: UnitSpec, value: Fraction) -> tuple[int, int] | None:
    """Two encodings whose product is a value, one of them a power of two near its root; None without any."""
    return next(product_factors(spec, value), None)


def product_factors(spec: UnitSpec, value: Fraction) -> Iterator[tuple[int, int]]:
    """The encodings whose product is a value, one of them a power of two, those near its root first."""
    near = (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    for exponent in sorted(range(near - 20, near + 21), key=lambda e: abs(e - near)):
        y = encoded(spec.b_format, power_of_two(exponent))
        x = None if y is None else encoded(spec.a_format, value / power_of_two(exponent))
        if x is not None and y is not None:
            yield x, y


def dense_inputs(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """n random sums of K products near 1 and c."""
    rng = np.random.default_rng([seed, 2])
    a, b = (one_operand(rng, fmt, (n, k), "near") for fmt in (spec.a_format, spec.b_format))
    return with_scales(spec, Batch(a, b, one_operand(rng, spec.c_format, (n,), "near")))


def products_witness(spec: UnitSpec, k: int, products: Sequence[tuple[int, int]], c: int) -> Witness:
    """A witness whose first products are given and whose others are zero; scales are 1."""
    a, b = zip(*(*products, *[(0, 0)] * (k - len(products))), strict=True)
    scales = () if spec.scale_format is None else (spec.scale_format.one,) * scale_count(spec, k)
    return Witness(tuple(a), tuple(b), c, scales, scales)


def _exact(spec: UnitSpec, k: int) -> list[Witness]:
    """Sums that every design gives exactly: 1 + 1, and a sum of at most 64 ones."""
    one = (spec.a_format.one, spec.b_format.one)
    return [
        products_witness(spec, k, [one], spec.c_format.one),
        products_witness(spec, k, [one] * min(k, 64), 0),
    ]


def noisy_inputs(spec: UnitSpec, k: int, seen: Repeated | None = None) -> list[Witness]:
    """Inputs on which several answers show what they depend on: exact sums, then one with several answers.

    Where none was `seen`, the last one is a sum between two results.
    """
    if seen is not None and seen.most is not None:
        return [*_exact(spec, k), seen.most[0]]
    between = [w for place, w in ulp_places(spec, k).inputs if place == Fraction(3, 4)]
    return [*_exact(spec, k), *(between or [witness_at(dense_inputs(spec, k, 1, 1), 0)])]


def _special(spec: UnitSpec, k: int) -> Witness:
    """A sum with two different NaN, or as many as the formats have."""
    nans = [
        fmt.infinity | low << fmt.ignored_low_bits if fmt.specials is Specials.IEEE else fmt.largest
        for fmt, low in ((spec.a_format, 1), (spec.c_format, 2))
    ]
    return products_witness(spec, k, [(nans[0], spec.b_format.one)], nans[1])
