"""Theorems about errors as their Coq sources state them: which sum, under which conditions, which bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log2

import numpy as np

from attack.exact import Ints, Reals
from tcformal.design.rounding import NEAREST, Conversion
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.theory.constants import (
    ONE,
    PARTS,
    Frame,
    block_terms,
    call_blocks,
    cuts,
    least,
    losing,
    power,
    start_format,
)
from tcformal.theory.design import block_size
from tcformal.theory.instances import Instance
from tcformal.theory.stated_sum import flushed_letters


@dataclass(frozen=True, slots=True)
class Bound:
    """Σ q · 2^(atom + shift) with rational q, and q·Σ of magnitudes.

    Ranges and units: `parts`: q of each (atom, shift), the atoms 1, E (the largest exponent of the terms) and
    ulp (that of d); `weights` of the magnitudes of products, and of c.
    """

    parts: Mapping[tuple[str, int], Fraction]
    weights: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))

    def __mul__(self, q: Fraction) -> Bound:
        products, c = self.weights
        return Bound({key: x * q for key, x in self.parts.items()}, (products * q, c * q))

    def rounded(self, at: Mapping[str, Ints], magnitudes: tuple[Reals, Reals], base: Ints) -> Reals:
        """The bound in units of 2^base, to some 50 bits; magnitudes are in these units already."""
        total = np.zeros(base.shape)
        for (atom, shift), q in self.parts.items():
            exponent = np.clip(at[atom] + shift - base, -1000, 1000)
            total += float(q) * np.ldexp(1.0, exponent.astype(np.int32))
        for q, size in zip(self.weights, magnitudes, strict=True):
            total += float(q) * size
        return total

    def exact(self, at: Mapping[str, int], magnitudes: tuple[Fraction, Fraction]) -> Fraction:
        """The bound of one row."""
        total = sum((q * Fraction(2) ** (at[a] + shift) for (a, shift), q in self.parts.items()), Fraction(0))
        return total + sum(q * size for q, size in zip(self.weights, magnitudes, strict=True))


@dataclass(frozen=True, slots=True)
class ErrorStatement:
    """|d - exact sum| <= bound, for inputs that obey the hypotheses.

    Ranges and units: `least`: of E, and of the exponent that an ulp of d is counted from; `flushed`: operands
    whose subnormals count as 0; `leading`: factors that are not subnormal otherwise, scales among them;
    `c_bits`: fraction bits that c has at most; `of_scales`: whether E is at least the exponents of scales,
    added, and not of products; `apart`: whether it is not of c.
    """

    bound: Bound
    least: int
    #: Fraction bits of results.
    places: int
    flushed: frozenset[str]
    #: Products that are taken away, as a design's `negated` says it.
    subtracted: str
    leading: frozenset[str] = frozenset()
    c_bits: int | None = None
    zero_c: bool = False
    #: Whether the exponent of a factor is that of its leading bit, subnormal or not.
    normalised: bool = False
    of_scales: bool = False
    apart: bool = False


def scaled(x: ErrorStatement, factor: Fraction) -> ErrorStatement:
    """The same statement with a bound that is so many times as large."""
    return replace(x, bound=x.bound * factor)


def stated(x: Instance) -> ErrorStatement | None:
    """What an instance of a theorem about errors states; None for a theorem that is not known here."""
    bound = BOUNDS.get(x.theorem)
    return None if bound is None else _about(x, bound(x))


def _about(x: Instance, bound: Bound) -> ErrorStatement:
    d, theorem = x.unit.design, x.theorem
    of_exponents = theorem.endswith("_in_exponents")
    made = ErrorStatement(
        bound, d.rho.e_min, d.rho.fraction_bits, flushed_letters(d), d.negated,
        zero_c=theorem.endswith(("_from_zero", "_of_calls")) or (theorem, *x.arguments[:1]) == _FRAMED_ZERO,
        normalised=d.normalise_operands, of_scales=of_exponents and d.group is not None,
        apart=of_exponents and d.c_position == "after",
    )  # fmt: skip
    if of_exponents or (theorem.startswith("ordered") and not cuts(x.unit)):
        return made
    leading = frozenset("s" if d.normalise_operands else "abs")
    return replace(made, leading=leading, c_bits=d.fraction_bits if theorem in _SETTLED else None)


#: Theorems about a c of at most F fraction bits, and the one that an argument says to be about c = 0.
_SETTLED = ("relative_error_any_length", "error_of_groups")
_FRAMED_ZERO = ("framed_relative", "true")


def in_exponents(d: Design, units: Fraction) -> Bound:
    """So many units of 2^(E - F), an ulp of d or half of it, and what is flushed."""
    half = Fraction(1, 2) if d.rho.mode in NEAREST else Fraction(1)
    flushed = Fraction(d.result_subnormals != "kept")
    return Bound({("E", -int(d.fraction_bits or 0)): units, ("ulp", 0): half, ("1", d.rho.e_min): flushed})


def _in_exponents(x: Instance) -> Bound:
    """`Exponents.error_in_exponents`."""
    return in_exponents(x.unit.design, Fraction(losing(x.unit, int(x.arguments[0]))))


def _groups_in_exponents(x: Instance) -> Bound:
    """`Groups.error_of_groups_in_exponents`."""
    return in_exponents(x.unit.design, Fraction(block_terms(x.unit)))


def _pieces_in_exponents(x: Instance) -> Bound:
    """`PieceErrors.piecewise_in_exponents`."""
    return in_exponents(x.unit.design, Fraction(int(x.arguments[-1]), PARTS))


def _any_length(x: Instance) -> Bound:
    """`Accumulated.relative_error_any_length` and `Groups.error_of_groups`."""
    k, m = x.numbers["kappa"], _blocks(x.unit)
    return _relative((1 + k) ** m - 1, _eta(x.unit) * _geometric(k, m))


def _from_zero(x: Instance) -> Bound:
    """`Calls.relative_error_from_zero`, `relative_error_of_calls` and `Groups.error_of_groups_from_zero`."""
    return _relative(*_chain(x, _eta(x.unit)))


def _of_call(x: Instance) -> Bound:
    """`Calls.relative_error_of_call`."""
    return _added(x, _chain(x, _eta(x.unit)))


def _ordered(x: Instance) -> Bound:
    """`Growth.ordered_error` and `ordered_error_from_zero`."""
    return _relative(*_in_order(x, x.arguments[:-1]))


def _ordered_call(x: Instance) -> Bound:
    """`OrderedCalls.ordered_error_of_call`."""
    return _added(x, _in_order(x, x.arguments[:-2]))


def _ordered_calls(x: Instance) -> Bound:
    """`OrderedCalls.ordered_error_of_calls`, of one call."""
    constant, beside = _in_order(x, x.arguments[:-2])
    return _relative(constant, beside + _adder_loss(x.unit)[1])


def _down(x: Instance) -> Bound:
    """`DownChains.down_error` and `down_error_from_zero`."""
    d = x.unit.design
    again, bits = d.sum_rounding != "RD_ADDENDS", int(d.sum_fraction_bits or 0)
    rounded = (1 + _share(d.rho)) * (1 + (power(-bits) if again else 0))
    h = rounded * power(_floor(x.unit) - bits - again) + (rounded - 1) * power(d.rho.e_min)
    return _relative(*_chain(x, h))


def _sticky(x: Instance) -> Bound:
    """`Sticky.sticky_error_from_zero`."""
    d, k, n = x.unit.design, x.numbers["first"], block_size(x.unit)
    zero = int(x.arguments[1].strip("()"))
    return _relative(k, _flush_loss(d, d.rho) + (n + (1 + k) * (2 * n + 1)) * power(zero))


def _pieces(x: Instance) -> Bound:
    """`PieceErrors.piecewise_error` and `piecewise_error_from_zero`, with `piecewise_rest`."""
    d, n, (_, share, own) = x.unit.design, block_size(x.unit), map(int, x.arguments[:3])
    if d.c_position == "after":
        return _relative(*_chain(x, _flush_loss(d, d.rho)))
    lost = max(share * (n - 1) + own + PARTS, share * n) + share * n
    return _relative(*_chain(x, _eta(x.unit, Fraction(lost, PARTS) + 1)))


def _framed(x: Instance) -> Bound:
    """`FrameErrors.framed_relative`."""
    of = Frame(*(int(word, 16) for word in x.arguments[1:]))
    return _relative(*framed(x.unit, of, _blocks(x.unit) - 1))


def framed(unit: UnitSpec, of: Frame, more: int) -> Losses:
    """What a block and so many more lose."""
    k = Fraction(of.of_c, ONE)
    return grown(of, more), _beside(k, more, _framed_eta(unit))


def grown(of: Frame, more: int) -> Fraction:
    """`FrameErrors.grown`."""
    x, y, k, m = (Fraction(v, ONE) for v in (of.same, of.most, of.of_c, of.along))
    same = x + (1 + y) * ((1 + k) ** more - 1)
    return max(same, (1 + y) * (1 + m) ** more - 1) if same <= 1 else (1 + y) * (1 + k) ** more - 1


def _framed_eta(unit: UnitSpec) -> Fraction:
    d, n, share = unit.design, block_size(unit), _share(unit.design.rho)
    flush = _flush_loss(d, d.rho)
    if d.accumulator is not None:
        flush += (1 + share) * _flush_loss(d, d.step)
        share = (1 + _share(d.step)) * (1 + share) - 1
    units = n if d.aligned_group is None else -(-n // d.aligned_group) * max(1, d.aligned_group - 1)
    floor_ = max(d.rho.e_min, least(unit.c_format)) - int(d.c_fraction_bits or 0)
    if isinstance(d.zero_exponent, int):
        floor_ = max(floor_, d.zero_exponent - int(d.fraction_bits or 0))
    return (1 + share) * (units + 1) * power(floor_) + flush


#: The theorems about errors.
BOUNDS: dict[str, Callable[[Instance], Bound]] = {
    "error_in_exponents": _in_exponents, "error_of_groups_in_exponents": _groups_in_exponents,
    "piecewise_in_exponents": _pieces_in_exponents, "relative_error_any_length": _any_length,
    "error_of_groups": _any_length, "relative_error_from_zero": _from_zero,
    "error_of_groups_from_zero": _from_zero, "relative_error_of_call": _of_call,
    "relative_error_of_calls": _from_zero, "ordered_error": _ordered, "ordered_error_from_zero": _ordered,
    "ordered_error_of_call": _ordered_call, "ordered_error_of_calls": _ordered_calls,
    "down_error": _down, "down_error_from_zero": _down, "sticky_error_from_zero": _sticky,
    "piecewise_error": _pieces, "piecewise_error_from_zero": _pieces, "framed_relative": _framed,
}  # fmt: skip

#: What is lost of magnitudes, and beside.
Losses = tuple[Fraction, Fraction]


def _relative(of_magnitudes: Fraction, beside: Fraction) -> Bound:
    """So many times Σ|terms| and |c|, and what is lost beside."""
    places = floor(log2(beside.numerator) - log2(beside.denominator)) if beside else 0
    return Bound({("1", places): beside / power(places)}, (of_magnitudes, of_magnitudes))


def _beside(k: Fraction, m: int, h: Fraction, first: Fraction | None = None) -> Fraction:
    """What a block and m more lose beside magnitudes, each so much, or the first one another number."""
    return (1 + k) ** m * (h if first is None else first) + h * _geometric(k, m)


def _chain(x: Instance, h: Fraction, first: Fraction | None = None) -> Losses:
    """The blocks of a call."""
    start, k, m = x.numbers["first"], x.numbers["kappa"], _blocks(x.unit) - 1
    return (1 + start) * (1 + k) ** m - 1, _beside(k, m, h, first)


def _in_order(x: Instance, arguments: tuple[str, ...]) -> Losses:
    """The same of sums in an order, what they lose beside by the last of three losses."""
    _, tiny, *losses = (int(word.strip("()"), 0) for word in arguments)
    later, first = (Fraction(h, ONE) * power(tiny) for h in (losses[2], losses[-1]))
    return _chain(x, later, first)


def _added(x: Instance, parts: Losses) -> Bound:
    """The parts' sum, and c after it."""
    (constant, beside), (last, rest) = parts, _adder_loss(x.unit)
    return _relative((1 + constant) * (1 + last) - 1, (1 + last) * beside + rest)


def _adder_loss(unit: UnitSpec) -> Losses:
    """`Calls.last_share` and `last_loss`."""
    assert unit.emulation is not None
    adder = unit.emulation.addition
    return _share(adder.rho), _flush_loss(adder, adder.rho)


def _blocks(unit: UnitSpec) -> int:
    """Sums of one call, one after the other."""
    return -(-unit.k // block_size(unit)) if unit.emulation is None else call_blocks(unit)


def _geometric(k: Fraction, m: int) -> Fraction:
    return sum(((1 + k) ** i for i in range(m)), Fraction(0))


def _floor(unit: UnitSpec) -> int:
    """`Accumulated.floor_of`."""
    return max(unit.design.rho.e_min, least(start_format(unit)))


def _eta(unit: UnitSpec, units: Fraction | None = None) -> Fraction:
    """`Losses.eta`: what a block loses whose largest exponent is that of subnormals, of so many units."""
    d = unit.design
    f, units = int(d.fraction_bits or 0), Fraction(block_terms(unit) + 1) if units is None else units
    grown = Fraction(0) if d.alignment_rounding == "RZ" else units * power(-f)
    kept = units if d.rho.mode in NEAREST else max(units - 1, Fraction(0))
    return kept * power(_floor(unit) - f) + _share(d.rho) * (1 + grown) * power(_floor(unit))


def _share(t: Conversion) -> Fraction:
    """`Losses.share`."""
    return power(-t.fraction_bits - (t.mode in NEAREST))


def _flush_loss(d: Design, t: Conversion) -> Fraction:
    """`Losses.flush_loss`."""
    return power(t.e_min) * (1 if d.result_subnormals != "kept" else _share(t))
