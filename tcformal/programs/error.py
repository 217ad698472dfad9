"""The exact error of a result as a wide fixed-point integer, in one window for all compared values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.design import steps
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle.numerals import lowest_bit
from tcformal.oracle.values import decode, exponent_of
from tcformal.semantics.align import align, distance_below
from tcformal.semantics.normalise import shift_left_by_leading_zeros
from tcformal.semantics.number import Exponent, Number, Term, bits_for
from tcformal.semantics.product import product
from tcformal.semantics.reduce import add_signed, signed_magnitude, split_sign
from tcformal.semantics.unpack import unpack

#: The range of the exponents of every non-zero element of a, b and c.
Exponents = Mapping[str, tuple[int, int]]
#: Binades for sums cut downwards and for totals that wrap, in one call.
_SLACK = 2


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """Static bounds on a finite value.

    Ranges and units: the value is a multiple of 2^low and at most 2^high in magnitude; of an exponent, the
    exponent itself lies in [low, high].
    """

    low: int
    high: int
    #: Whether an Inf may have come before.
    overflows: bool = False


def magnitudes(plan: steps.ProgramPlan, exponents: Exponents) -> list[Magnitudes]:
    """Static bounds on the values of every step.

    Low end: sums, cuts and roundings stay on the grid of what goes into them: each either is exact or goes
    to a coarser grid, whatever the unit.
    High end: no rounding of a magnitude of at most a power of two leaves it; sums grow with their terms.
    """
    bounds: list[Magnitudes] = []
    for step in plan.steps:
        bounds.append(_of(step, bounds, exponents))
    return bounds


def _of(step: steps.PlanStep, known: list[Magnitudes], exponents: Exponents) -> Magnitudes:
    if isinstance(step, steps.InputStep):
        fmt = steps.format_of(step)
        low, high = exponents[step.letter]
        return Magnitudes(max(low, fmt.e_min) - fmt.fraction_bits, min(high, fmt.e_max) + 1)
    if isinstance(step, steps.ConstantStep):
        return _constant(steps.format_of(step), step.word)
    if isinstance(step, steps.SliceStep):
        return known[step.source]
    if isinstance(step, steps.JoinStep):
        rows = [known[i] for i in step.items]
        return Magnitudes(min(x.low for x in rows), max(x.high for x in rows), any(x.overflows for x in rows))
    if isinstance(step, steps.HeadroomStep):
        x, top = known[step.source], exponent_of(step.limit)
        return Magnitudes(top - x.high - 1, top - x.low + 1)
    if isinstance(step, steps.MagnitudeStep):
        x, least = known[step.source], _constant(steps.format_of(step), step.least)
        return Magnitudes(min(x.low, least.low), max(x.high, least.high), x.overflows)
    if isinstance(step, steps.QuotientStep):
        return _divided(steps.format_of(step), known[step.dividend], known[step.divisor])
    if isinstance(step, steps.RoundStep):
        return _rounded(step, known)
    if isinstance(step, steps.CallStep):
        return _called(step, known, step.unit.operands.d)
    raise InputError(f"expected a step of a program, but got {step!r}")


def _constant(fmt: Format, word: int) -> Magnitudes:
    value = decode(fmt, word).magnitude
    if not value:
        return Magnitudes(fmt.e_max, fmt.e_min - fmt.fraction_bits)
    return Magnitudes(lowest_bit(value), exponent_of(value) + 1)


def _rounded(step: steps.RoundStep, known: list[Magnitudes]) -> Magnitudes:
    fmt = step.target
    lows, highs = [], []
    for x in step.addends:
        powers = [(known[i], sign) for i, sign in x.exponents]
        shift_low = x.shift + sum(e.low if sign > 0 else -e.high for e, sign in powers)
        shift_high = x.shift + sum(e.high if sign > 0 else -e.low for e, sign in powers)
        lows.append(sum(known[i].low for i in x.factors) + shift_low)
        highs.append(sum(known[i].high for i in x.factors) + shift_high)
    high = max(highs) + (len(highs) - 1).bit_length()
    return _in_format(fmt, min(lows), high, any(known[i].overflows for i in step.sources), step.saturates)


def _divided(fmt: Format, x: Magnitudes, y: Magnitudes) -> Magnitudes:
    """The bounds of a nonzero quotient: at least 2^(x.low - y.high), rounded to the format's precision.

    A divisor that is zero gives an Inf, and a divisor may be one wherever it may be anything.
    """
    low, high = x.low - y.high - fmt.precision, x.high - y.low
    return _in_format(fmt, low, high, True, fmt.specials is not Specials.IEEE)


def _called(step: steps.CallStep, known: list[Magnitudes], d: Format) -> Magnitudes:
    c, factors = known[step.c], [known[i] for i in (step.a, step.b, *step.scales)]
    low, high = (sum(x) for x in zip(*((f.low, f.high) for f in factors), strict=True))
    high = max(high + (step.products - 1).bit_length(), c.high) + _SLACK
    return _in_format(d, min(low, c.low), high, any(x.overflows for x in (*factors, c)), False)


def _in_format(fmt: Format, low: int, high: int, overflows: bool, saturates: bool) -> Magnitudes:
    low = max(low, fmt.e_min - fmt.fraction_bits)
    if overflows or high > fmt.e_max:
        return Magnitudes(min(low, fmt.e_max), fmt.e_max + 1, not saturates)
    return Magnitudes(min(low, fmt.e_max), max(high, low))


HALF, SINGLE = FORMATS["fp16"], FORMATS["fp32"]
#: log2 of the factor by which Ootomo and Yokota scale a remainder before it is rounded.
SCALE_BITS = 11
#: A threshold on errors counts in this fraction of an ulp.
ULP_STEP = Fraction(1, 256)


@dataclass(frozen=True, slots=True)
class Window:
    """A fixed-point window: the lowest and the highest weight of a question's numbers.

    Ranges and units: two's complement in units of 2^low; every magnitude is below 2^high.
    """

    low: int
    high: int

    @property
    def width(self) -> int:
        """Bits of one fixed-point number, sign included."""
        return self.high - self.low + 1


def window(fmt: Format, products: int, factors: tuple[int, int], c: tuple[int, int]) -> Window:
    """A window in which the exact sum and the results of Markidis and of Ootomo and Yokota are exact.

    Ranges and units: `factors` and `c` bound the exponents of the inputs that are not zero; a and b are
    of `fmt`.
    Low end: the lowest bits of the inputs, or of their parts, give a grid.  Sums, cuts and roundings stay
    on it: a cut or a rounding either is exact or goes to a coarser grid, whatever the unit.  Below, results
    have no bits; that fp32 ends at 2^-149 is a coarser grid again.
    High end: |hi|, |lo| and |lo'|·2^-11 are at most 2·|v|, so that the calls of one algorithm sum up to at
    most 16·Σ|a_k·b_k| + |c|.  Cutting, rounding and wrapped sums at most double a magnitude, five times in
    a row.
    """
    lowest = factors[0] - fmt.fraction_bits
    grid = 2 * lowest
    if fmt != HALF:
        # The parts: multiples of the inputs' lowest bit, and of 2^-24 where that is lower.
        smallest = HALF.e_min - HALF.fraction_bits
        plain, up = max(lowest, smallest), max(lowest + SCALE_BITS, smallest) - SCALE_BITS
        grid = min(grid, 2 * plain, 2 * up)
    low = min(grid, c[0] - SINGLE.fraction_bits)
    high = max(2 * (factors[1] + 1) + bits_for(products - 1) + 4, c[1] + 1) + 1 + 5
    return Window(low, high)


def window_of(plans: Sequence[steps.ProgramPlan], exponents: Exponents) -> Window:
    """A window in which the exact sum and the results of some programs on shared inputs are exact.

    Ranges and units: `exponents` bound those of a, b and c that are not zero.
    """
    ends = []
    for plan in plans:
        bounds = magnitudes(plan, exponents)
        by_letter = {s.letter: bounds[i] for i, s in enumerate(plan.steps) if isinstance(s, steps.InputStep)}
        a, b, c = (by_letter[letter] for letter in "abc")
        exact = max(a.high + b.high + bits_for(plan.products - 1), c.high) + 1
        d = bounds[plan.result]
        ends += [(a.low + b.low, exact), (c.low, exact), (d.low, d.high + 1)]
    return Window(min(low for low, _ in ends), max(high for _, high in ends))


def exact_terms(
    g: Graph,
    a: Sequence[Number],
    b: Sequence[Number],
    c: Number,
    factors: tuple[int, int],
    c_exponents: tuple[int, int],
) -> list[Term]:
    """The exact products a_k·b_k, followed by c.

    Zero, NaN, Inf: meaningful where every input is zero, or finite with an exponent in its range.
    """
    pairs = ((narrowed(g, x, *factors), narrowed(g, y, *factors)) for x, y in zip(a, b, strict=True))
    terms = [product(g, one, other).term for one, other in pairs]
    return [*terms, narrowed(g, c, *c_exponents).term]


def exact_sum(g: Graph, w: Window, terms: Sequence[Term]) -> Node:
    """The sum of exact terms as a fixed-point number of the window."""
    return add_signed(g, [placed(g, w, t) for t in terms], w.width)


def sum_of_magnitudes(g: Graph, w: Window, products: Sequence[Term]) -> Node:
    """Σ |a_k·b_k|, unsigned, in units of the window."""
    plain = [replace(t, sign=g.truth(False)) for t in products]
    return split_sign(g, add_signed(g, [placed(g, w, t) for t in plain], w.width + 1))[1]


def narrowed(g: Graph, x: Number, low: int, high: int) -> Number:
    """A number with a narrower exponent code, for exponents known to lie in [low, high].

    Zero: a zero's exponent means nothing afterwards.
    """
    e = x.term.exponent
    low, high = max(low, e.low), min(high, e.high)
    if low > high:
        raise InputError(f"expected exponents that the format has, but got {low}..{high}")
    moved = g.sub_mod(e.bits, g.const(low - e.low, e.bits.width))
    code = Exponent(g.extract(moved, bits_for(high - low) - 1, 0), low, high)
    return Number(
        Term(x.term.sign, x.term.significand, code, x.term.fraction_bits, x.term.zero), x.nan, x.inf
    )


def placed(g: Graph, w: Window, term: Term) -> Node:
    """A term as a fixed-point number of the window; its bits below the window are known to be zero.

    Shapes: significand u[n] -> s[w.width].
    """
    top = Exponent(g.const(0, 1), w.high, w.high)
    magnitude = align(g, term, distance_below(g, term.exponent, top), w.high - w.low, "RZ")
    return g.wrap_to_mod(signed_magnitude(g, term.sign, magnitude), w.width)


def error(g: Graph, w: Window, result: Node, exact: Node, fmt: Format = SINGLE) -> Node:
    """The error |result - exact| of a finite result, unsigned, in units of the window.

    Shapes: result: a raw encoding; exact s[w.width] -> u[w.width].
    """
    word = unpack(g, result, fmt)
    place = placed(g, w, narrowed(g, word, word.term.exponent.low, w.high).term)
    return split_sign(g, add_signed(g, [place, g.neg_mod(exact)], w.width + 1))[1]


def exceeds(g: Graph, larger: Node, smaller: Node) -> Node:
    """The node that is 1 where one error is strictly larger than the other."""
    return g.ult(smaller, larger)


def exceeds_share(g: Graph, larger: Node, smaller: Node, whole: Node, share: Fraction) -> Node:
    """The node that is 1 where larger - smaller exceeds `share` of `whole` = Σ |a_k·b_k|."""
    excess = g.ite(g.ult(smaller, larger), g.sub_mod(larger, smaller), g.const(0, larger.width))
    sides = []
    for x, factor in ((whole, share.numerator), (excess, share.denominator)):
        sides.append(g.mul_expand(x, g.const(factor, bits_for(factor))))
    width = max(x.width for x in sides)
    return g.ult(*(g.zero_extend_to(x, width) for x in sides))


def exceeds_by(
    g: Graph, w: Window, larger: Node, smaller: Node, exact: Node, ulps: Fraction, fmt: Format = SINGLE
) -> Node:
    """The node that is 1 where larger - smaller exceeds `ulps` ulps of the nonzero exact value.

    Ranges and units: one ulp of fp32 is 2^(e - 23), 2^e <= |exact| < 2^(e + 1), as if exponents had no end;
    `ulps` is a multiple of ULP_STEP, at least 0.
    Errors: InputError for other ulps.
    """
    count = ulps / ULP_STEP
    if count.denominator != 1 or count < 0:
        raise InputError(f"expected a multiple of {ULP_STEP} ulp of at least 0, but got {ulps}")
    magnitude = split_sign(g, exact)[1]
    n = magnitude.width
    _, zeros = shift_left_by_leading_zeros(g, magnitude)
    # |exact| has its leading one at weight n - 1 - zeros: count · 2^that against the excess in ULP_STEPs.
    parts = count.numerator
    bound = g.lshr(g.const(parts << (n - 1), n - 1 + bits_for(parts)), zeros)
    finer = fmt.fraction_bits + (ULP_STEP.denominator - 1).bit_length()
    excess = g.shift_left_const(g.sub_mod(larger, smaller), finer)
    width = max(bound.width, excess.width)
    far = g.ult(g.zero_extend_to(bound, width), g.zero_extend_to(excess, width))
    return g.and_(exceeds(g, larger, smaller), g.any_bit(magnitude), far)
