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
from tcformal.theory.conditions import block_size, least, start_format
from tcformal.theory.instances import Instance
from tcformal.theory.paths import cuts
from tcformal.theory.stated_sum import flushed_letters

#: Fraction bits of the constants of sums in an order: `Paths.width`.
_WIDTH = 128


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
    `c_bits`: fraction bits that c has at most.
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


def scaled(x: ErrorStatement, factor: Fraction) -> ErrorStatement:
    """The same statement with a bound that is so many times as large."""
    return replace(x, bound=x.bound * factor)


def stated(x: Instance) -> ErrorStatement | None:
    """What an instance of a theorem about errors states; None for a theorem that is not known here."""
    bound = _BOUNDS.get(x.theorem)
    return None if bound is None else _about(x.unit, x.theorem, bound(x))


def _about(unit: UnitSpec, theorem: str, bound: Bound) -> ErrorStatement:
    d = unit.design
    made = ErrorStatement(
        bound, d.rho.e_min, d.rho.fraction_bits, flushed_letters(d), d.negated,
        zero_c=theorem.endswith(("_from_zero", "_of_calls")), normalised=d.normalise_operands,
    )  # fmt: skip
    if theorem == "error_in_exponents" or (theorem.startswith("ordered") and not cuts(unit)):
        return made
    leading = frozenset("s" if d.normalise_operands else "abs")
    settled = theorem == "relative_error_any_length"
    return replace(made, leading=leading, c_bits=d.fraction_bits if settled else None)


def _in_exponents(x: Instance) -> Bound:
    """`Exponents.error_in_exponents`."""
    half = Fraction(1, 2) if x.unit.design.rho.mode in NEAREST else Fraction(1)
    return Bound({("E", -int(x.arguments[0])): Fraction(x.unit.k), ("ulp", 0): half})


def _any_length(x: Instance) -> Bound:
    """`Accumulated.relative_error_any_length`."""
    k, m = x.numbers["kappa"], _blocks(x.unit)
    return _relative((1 + k) ** m - 1, _eta(x.unit) * _geometric(k, m))


def _from_zero(x: Instance) -> Bound:
    """`Calls.relative_error_from_zero`."""
    return _relative(*_call(x))


def _of_call(x: Instance) -> Bound:
    """`Calls.relative_error_of_call`."""
    assert x.unit.emulation is not None
    adder = x.unit.emulation.addition
    (constant, beside), last = _call(x), _share(adder.rho)
    return _relative((1 + constant) * (1 + last) - 1, (1 + last) * beside + _flush_loss(adder))


def _call(x: Instance) -> tuple[Fraction, Fraction]:
    """What the blocks of a call lose from c = 0: of magnitudes, and beside."""
    first, k, m, h = x.numbers["first"], x.numbers["kappa"], _blocks(x.unit) - 1, _eta(x.unit)
    return (1 + first) * (1 + k) ** m - 1, (1 + k) ** m * h + h * _geometric(k, m)


def _ordered(x: Instance) -> Bound:
    """`Growth.ordered_error` and `ordered_error_from_zero`."""
    start, k, m = x.numbers["first"], x.numbers["kappa"], _blocks(x.unit) - 1
    _, tiny, *fixed, _ = (int(word.strip("()"), 0) for word in x.arguments)
    unit = Fraction(2) ** (tiny - _WIDTH)
    # The loss beside of a later block, and of the first one from c = 0.
    h, first = fixed[2] * unit, fixed[-1] * unit
    return _relative((1 + start) * (1 + k) ** m - 1, (1 + k) ** m * first + h * _geometric(k, m))


def _down(x: Instance) -> Bound:
    """`DownChains.down_error` and `down_error_from_zero`."""
    d, start, k, m = x.unit.design, x.numbers["first"], x.numbers["kappa"], _blocks(x.unit) - 1
    again, bits = d.sum_rounding != "RD_ADDENDS", int(d.sum_fraction_bits or 0)
    rounded = (1 + _share(d.rho)) * (1 + (Fraction(2) ** -bits if again else 0))
    floor_ = max(d.rho.e_min, least(start_format(x.unit)))
    h = rounded * Fraction(2) ** (floor_ - bits - again) + (rounded - 1) * Fraction(2) ** d.rho.e_min
    return _relative((1 + start) * (1 + k) ** m - 1, (1 + k) ** m * h + h * _geometric(k, m))


_BOUNDS: dict[str, Callable[[Instance], Bound]] = {
    "error_in_exponents": _in_exponents, "relative_error_any_length": _any_length,
    "relative_error_from_zero": _from_zero, "relative_error_of_call": _of_call,
    "relative_error_of_calls": _from_zero, "ordered_error": _ordered, "ordered_error_from_zero": _ordered,
    "down_error": _down, "down_error_from_zero": _down,
}  # fmt: skip


def _relative(of_magnitudes: Fraction, beside: Fraction) -> Bound:
    """So many times Σ|terms| and |c|, and what is lost beside."""
    places = floor(log2(beside.numerator) - log2(beside.denominator)) if beside else 0
    return Bound({("1", places): beside / Fraction(2) ** places}, (of_magnitudes, of_magnitudes))


def _blocks(unit: UnitSpec) -> int:
    """Sums of one call, one after the other."""
    parts = [range(unit.k)] if unit.emulation is None else unit.emulation.parts
    return sum(-(-len(part) // block_size(unit)) for part in parts)


def _geometric(k: Fraction, m: int) -> Fraction:
    return sum(((1 + k) ** i for i in range(m)), Fraction(0))


def _eta(unit: UnitSpec) -> Fraction:
    """`Losses.eta`: what a block loses whose largest exponent is that of subnormals."""
    d = unit.design
    f, units = int(d.fraction_bits or 0), Fraction(block_size(unit) + 1)
    floor_ = max(d.rho.e_min, least(start_format(unit)))
    grown = Fraction(0) if d.alignment_rounding == "RZ" else units * Fraction(2) ** -f
    kept = units if d.rho.mode in NEAREST else max(units - 1, Fraction(0))
    return kept * Fraction(2) ** (floor_ - f) + _share(d.rho) * (1 + grown) * Fraction(2) ** floor_


def _share(t: Conversion) -> Fraction:
    """`Losses.share`."""
    return Fraction(2) ** -(t.fraction_bits + (t.mode in NEAREST))


def _flush_loss(d: Design) -> Fraction:
    """`Losses.flush_loss`."""
    least_normal = Fraction(2) ** d.rho.e_min
    return least_normal if d.result_subnormals != "kept" else _share(d.rho) * least_normal
