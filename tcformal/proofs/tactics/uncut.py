"""Sums of which alignment cuts nothing off: where their terms lie, by intervals of the formats' exponents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tcformal.design.rounding import EXACT_SUM
from tcformal.design.unit import UnitSpec
from tcformal.formats.spec import Format
from tcformal.oracle.text import power_of_two
from tcformal.oracle.values import NumberClass, decode, exponent_of
from tcformal.query.assume import Assumptions

#: What parameters have to be, apart from those of the cut, for a sum of terms aligned one by one.
_PLAIN: dict[str, object] = {
    "summation": "fused", "lost_bits": "cut", "zero_terms": None, "c_fraction_bits": None,
    "aligned_group": None, "exponent_step": 1, "dropped_pieces": 0, "vanished_c": "cut",
}  # fmt: skip


#: How a step of a proof was made that computes with the intervals in which exponents lie.
BY_INTERVALS = "intervals of exponents"


@dataclass(frozen=True, slots=True)
class TermReach:
    """Where the terms of a sum lie.

    Ranges and units: no term takes part in e_max with an exponent above `top`, every term is a multiple of
    2^bottom, the sum of all magnitudes is at most `ratio` · 2^e_max, and with c, wherever that is added, at
    most `most`.
    Zero, NaN, Inf: of sums without NaN and Inf.
    """

    top: int
    bottom: int
    ratio: Fraction
    most: Fraction

    @property
    def width(self) -> int:
        """The least number of fraction bits that keeps every term whole."""
        return max(0, self.top - self.bottom)

    def kept(self, spec: UnitSpec) -> bool:
        """Whether a unit's sums are exact: no term is cut, and none of the carry bits overflows."""
        bits, carry = spec.design.fraction_bits, spec.design.carry_bits
        return (bits is None or bits >= self.width) and (carry is None or self.ratio < 2 << carry)


@dataclass(frozen=True, slots=True)
class _Magnitudes:
    """Numbers of exponents from `low` to `high`: multiples of 2^bottom, of at most so large a magnitude."""

    low: int
    high: int
    bottom: int
    most: Fraction
    significand: Fraction

    def times(self, other: _Magnitudes) -> _Magnitudes:
        """The exact products, whose exponents are added."""
        return _Magnitudes(
            self.low + other.low, self.high + other.high, self.bottom + other.bottom, self.most * other.most,
            self.significand * other.significand,
        )  # fmt: skip


def _of_format(fmt: Format, given: tuple[int, int] | None = None) -> _Magnitudes | None:
    """The non-zero numbers of a format with exponents in a range; None where there is none."""
    low, high = given or (fmt.e_min, fmt.e_max)
    low, high = max(low, fmt.e_min), min(high, fmt.e_max)
    if low > high:
        return None
    t = fmt.fraction_bits
    full = 2 - power_of_two(-t)
    most = decode(fmt, fmt.largest).magnitude if high == fmt.e_max else full * power_of_two(high)
    return _Magnitudes(low, high, low - t, most, full)


def _of_word(fmt: Format, word: int) -> _Magnitudes | None:
    """One number; None for a zero, NaN or Inf."""
    x = decode(fmt, word)
    if x.kind is not NumberClass.FINITE or not x.magnitude:
        return None
    e = max(exponent_of(x.magnitude), fmt.e_min)
    odd = x.magnitude.numerator & -x.magnitude.numerator
    bottom = exponent_of(Fraction(odd, x.magnitude.denominator))
    return _Magnitudes(e, e, bottom, x.magnitude, x.magnitude / power_of_two(e))


def sums_one_by_one(spec: UnitSpec) -> bool:
    """Whether a unit's sums are of terms that are aligned one by one, c among them or after them."""
    design = spec.design
    plain = all(getattr(design, name) == value for name, value in _PLAIN.items())
    rounded = design.product_rounding is not None and design.product_conversion.integer_bits is not None
    return (
        plain and not rounded and spec.emulation is None and spec.tree is None
        and design.c_position in ("joined", "after") and design.accumulation != "ones_complement"
        and design.c_subnormals != "hidden_bit"
        and not (design.group is not None and design.normalise_products)
    )  # fmt: skip


def reach(spec: UnitSpec, what: Assumptions, k: int) -> TermReach | None:
    """Where the terms of every sum of k products lie; None for a unit whose sums are others.

    Soundness: exponents of products are sums of their factors', of zeros too where these keep their own; a
    subnormal has the least exponent and the last bit of the least normal numbers.  From the second block on,
    c is any result.  Assumptions other than those about exponents and c only leave inputs out.
    """
    if not sums_one_by_one(spec):
        return None
    o, design, scale = spec.operands, spec.design, spec.scale_format
    length = min(k, spec.k, design.products)
    one, other = _of_format(o.a, what.exponents), _of_format(o.b, what.exponents)
    scales = None if scale is None else _of_format(scale, what.scale_exponents)
    products = None if one is None or other is None else one.times(other)
    if products is not None and scale is not None:
        products = None if scales is None else products.times(scales).times(scales)
    terms, count, most = list[_Magnitudes](), length, Fraction(0)
    if products is not None:
        most = length * products.most
        if design.group is not None:
            count = length // design.group
            products = _grouped(products, scales, design.group)
        terms.append(_as_term(spec, products))
    added = list(_added(spec, what, blocks=k > length))
    most += max((x.most for x in added), default=Fraction(0))
    if design.c_position != "joined":
        added = []
    ratio = sum(
        (count * x.significand for x in terms), max((x.significand for x in added), default=Fraction(0))
    )
    terms += added
    if not terms:
        return TermReach(0, 0, Fraction(0), most)
    top = max(x.high for x in terms)
    zero = design.zero_exponent
    if isinstance(zero, int):
        top = max(top, zero)
    elif zero == "own":
        of_c = [o.c.e_min, o.d.e_min] if design.c_position == "joined" else []
        top = max(top, _own(spec, one, other, scales), *of_c)
    return TermReach(top, min(x.bottom for x in terms), ratio, most)


def _grouped(products: _Magnitudes, scales: _Magnitudes | None, group: int) -> _Magnitudes:
    """Exact sums of groups: their exponent is that of the scales, 0 without them."""
    low, high = (0, 0) if scales is None else (2 * scales.low, 2 * scales.high)
    most = group * products.most
    return _Magnitudes(low, high, products.bottom, most, most / power_of_two(high))


def _as_term(spec: UnitSpec, x: _Magnitudes) -> _Magnitudes:
    """Products as a sum takes them in: normalised, which raises exponents, or rounded before."""
    design = spec.design
    if design.product_rounding is not None:
        target = design.product_conversion
        # A significand below 4 is below 2 at the next exponent, and may be rounded up to 2 there.
        high = max(x.high + 2, target.e_min)
        return replace(
            x, high=high, bottom=max(x.bottom, target.e_min - target.fraction_bits), most=2 * x.most,
            significand=Fraction(2),
        )  # fmt: skip
    if design.normalise_products:
        return replace(x, high=x.high + exponent_of(x.significand), significand=Fraction(2))
    return x


def _added(spec: UnitSpec, what: Assumptions, *, blocks: bool) -> Iterator[_Magnitudes]:
    """What c can be, and from the second block on the result of the one before."""
    o = spec.operands
    first = _of_format(o.c, what.exponents) if what.c is None else _of_word(o.c, what.c)
    if first is not None:
        yield first
    if blocks and (result := _of_format(o.d)) is not None:
        yield result


def _own(
    spec: UnitSpec, one: _Magnitudes | None, other: _Magnitudes | None, scales: _Magnitudes | None
) -> int:
    """The largest exponent of a product of which a factor, or a scale, is zero."""
    pairs = [(spec.operands.a, one), (spec.operands.b, other)]
    pairs += [] if spec.scale_format is None else [(spec.scale_format, scales)] * 2
    return sum(max(fmt.e_min, fmt.e_min if x is None else x.high) for fmt, x in pairs)


def exact_form(spec: UnitSpec) -> UnitSpec:
    """The unit with sums that are exact before they are rounded, c among their terms."""
    neutral: dict[str, Any] = {
        **EXACT_SUM, "fraction_bits": None, "c_position": "joined", "piece_bits": None,
        "normalise_products": False, "normalise_operands": False,
    }  # fmt: skip
    return replace(spec, design=replace(spec.design, **neutral))


def why_exact(spec: UnitSpec, r: TermReach) -> str:
    """What makes a unit's sums exact, in a clause."""
    return (
        f"all terms of {spec.name} are multiples of 2^{r.bottom} and no exponent is above {r.top}, so that "
        f"{r.width} fraction bits keep all of them"
    )
