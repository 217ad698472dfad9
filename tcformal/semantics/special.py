"""Special cases around the finite core: NaNs and their words, Inf, flushed subnormals, signs of zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from tcformal.design.spec import Rounding, SpecialValues
from tcformal.encodings.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.align import any_of
from tcformal.semantics.choice import Choice, chosen
from tcformal.semantics.number import Exponent, Number, Term
from tcformal.semantics.stages import Nan, Operand, SpecialCases
from tcformal.semantics.unpack import unpack


@dataclass(frozen=True, slots=True)
class Carried:
    """The output of one step: a number, and its word if it is NaN."""

    number: Number
    nan_word: Node
    operand: Operand


@dataclass(frozen=True, slots=True)
class Addend:
    """One product with the operands whose NaNs it may propagate.

    Shapes: nans: a_k and b_k; none where every NaN has one word.
    """

    number: Number
    nans: tuple[Nan, ...]
    operand: Operand


def flush(g: Graph, x: Number, rule: str | Choice) -> Number:
    """Flush a subnormal to zero under a rule.

    Shapes: a number whose significand has its units bit on top (an operand or a rounded result).
    Zero, NaN, Inf: `positive_zero` gives +0, `signed_zero` keeps the sign; zeros keep theirs, NaN
    and Inf are untouched.
    `tiny_zero` is a rule of the rounding, after which no subnormal is left; `hidden_bit` makes a number of
    one binade below the least normal one of a subnormal.
    Source: XIE Algorithms 1 and 2 (CDNA2); Intel SDM (DAZ, FTZ); Arm ARM (BFDOT, EBF=0).
    """
    if isinstance(rule, str) and rule in ("kept", "tiny_zero"):
        return x
    term = x.term
    if isinstance(rule, str) and rule == "hidden_bit":
        return _with_hidden_bit(g, x)
    # Inf and NaN carry no meaningful significand: they count as normal here.
    normal = g.or_(g.top(term.significand), x.inf, x.nan)
    if isinstance(rule, Choice):
        normal = g.or_(normal, chosen(g, rule, "kept"))
    significand = g.ite(normal, term.significand, g.const(0, term.significand.width))
    zero = g.or_(term.zero, g.not_(normal))
    sign = term.sign
    if isinstance(rule, Choice):
        sign = g.and_(sign, g.or_(normal, term.zero, g.not_(chosen(g, rule, "positive_zero"))))
    elif rule == "positive_zero":
        sign = g.and_(sign, g.or_(normal, term.zero))
    return replace(x, term=replace(term, sign=sign, significand=significand, zero=zero))


def _with_hidden_bit(g: Graph, x: Number) -> Number:
    """A subnormal misread as normal, with its hidden bit set: (1 + fraction)·2^(e_min - 1).

    Source: Vortex, VX_tcu_tfr_mul_join.sv (c_sig_final, c_exp_adj).
    """
    term, e = x.term, x.term.exponent
    top = term.significand.width - 1
    subnormal = g.not_(g.or_(g.top(term.significand), term.zero, x.inf, x.nan))
    hidden = g.shift_left_const(g.zero_extend_to(subnormal, 1), top)
    code = e.rebased(g, e.low - 1, e.high)
    lowered = Exponent(g.sub_mod(code, g.zero_extend_to(subnormal, code.width)), e.low - 1, e.high)
    return replace(x, term=replace(term, significand=g.or_(term.significand, hidden), exponent=lowered))


def limit_product(g: Graph, x: Number, limit: int | None) -> Number:
    """Turn a finite product of magnitude 2^limit or more into an Inf of its sign.

    Source: XIE §4.2 (TR-FDPA: |s·2^e| >= 2^128).
    """
    if limit is None:
        return x
    term = x.term
    e = term.exponent
    # The significand reaches 2^limit where a bit stands at or above position limit - e + fraction bits.
    base = limit + term.fraction_bits
    low, high = min(e.low, base), max(e.high, base)
    code = e.rebased(g, low, high)
    mark = g.const(base - low, code.width)
    distance = g.ite(g.ult(code, mark), g.sub_mod(mark, code), g.const(0, code.width))
    over = g.any_bit(g.lshr(term.significand, distance))
    return replace(x, inf=g.or_(x.inf, g.and_(over, g.not_(x.nan))))


def with_specials(g: Graph, operands: Sequence[Number], rounded: Number, design: Rounding) -> SpecialCases:
    """Wrap a rounded sum in its special cases: NaN, Inf, overflow, flushed results, sign of zero.

    Zero, NaN, Inf: NaN where an operand is NaN or infinities of both signs meet; else Inf where an
    operand is Inf or the rounding overflowed.
    Source: XIE §4.2; IEEE 754 §6.
    """
    for x in operands:
        g.invariant(partial(_one_class, g, x), "nan and inf are never both 1, and a zero has no significand")
    positive = any_of(g, [g.and_(x.inf, g.not_(x.term.sign)) for x in operands])
    negative = any_of(g, [g.and_(x.inf, x.term.sign) for x in operands])
    some = any_of(g, [x.nan for x in operands])
    nan = g.or_(some, g.and_(positive, negative))
    infinite = g.or_(positive, negative)
    inf = g.and_(g.or_(infinite, rounded.inf), g.not_(nan))
    term = flush(g, rounded, design.result_subnormals).term
    sign = _unsigned_zero(g, term, design.zero_sign)
    sign = g.ite(infinite, negative, sign)
    zero = g.and_(term.zero, g.not_(g.or_(infinite, nan)))
    g.label("some_nan", some)
    g.label("positive_inf", positive)
    g.label("negative_inf", negative)
    g.label("nan", nan)
    g.label("inf", inf)
    result = Number(replace(term, sign=sign, zero=zero), nan, inf)
    return SpecialCases(some, positive, negative, result, tuple(operands))


def _unsigned_zero(g: Graph, term: Term, rule: str | Choice) -> Node:
    """The sign of a result, with zeros forced to +0 under the rule."""
    if isinstance(rule, Choice):
        return g.and_(term.sign, g.not_(g.and_(term.zero, chosen(g, rule, "positive"))))
    return g.and_(term.sign, g.not_(term.zero)) if rule == "positive" else term.sign


def _one_class(g: Graph, x: Number) -> Node:
    """The node that is 1 where the class flags are exclusive and a zero has significand 0."""
    empty = g.or_(g.not_(x.term.zero), x.nan, x.inf, g.is_zero(x.term.significand))
    return g.and_(g.not_(g.and_(x.nan, x.inf)), empty)


def positive_zero(g: Graph, fraction_bits: int, e_min: int) -> Number:
    """The number +0, with a significand of fraction_bits + 1 bits."""
    no = g.truth(False)
    exponent = Exponent(g.const(0, 1), e_min, e_min)
    return Number(Term(no, g.const(0, fraction_bits + 1), exponent, fraction_bits, g.truth(True)), no, no)


def operand_nan(g: Graph, name: str, product: Operand, word: Node, fmt: Format) -> Nan:
    """A factor of A or B as a candidate NaN of a step."""
    return Nan(name, product, unpack(g, word, fmt).nan, word, fmt)


def carried_nan(name: str, x: Carried) -> Nan:
    """A running sum, or c, as a candidate NaN of a step."""
    return Nan(name, x.operand, x.number.nan, x.nan_word)


def step_nans(rule: str, x: Addend, total: Carried) -> tuple[Nan, ...]:
    """The candidate NaNs of a step fma(a_k, b_k, sum), in the order of priority of a nan_rule.

    Source: Intel SDM, VDPBF16PS (a_k, b_k, sum); measured for DMMA of an H100 (b_k, sum, a_k);
    QEMU for Power (a_k, sum, b_k).
    """
    return _prior(rule, x, (carried_nan("product" if total.operand.ks else "total", total),))


def _prior(rule: str, x: Addend, carried: tuple[Nan, ...]) -> tuple[Nan, ...]:
    """A product's factors and carried NaNs in the order of a nan_rule."""
    if rule in ("b_sum_a", "a_sum_b"):
        a, b = x.nans
        return (b, *carried, a) if rule == "b_sum_a" else (a, *carried, b)
    return *x.nans, *carried


def tree_nans(rule: str, parts: Sequence[Addend | Carried]) -> tuple[Nan, ...]:
    """The candidate NaNs of a tree's sum, in the order of priority of a nan_rule.

    Shapes: parts: at most one product; inner sums in the order of their least k.
    Source: as `step_nans`; c before the sum of the chains and the even chain before the odd one as measured
    for TDPBF16PS (results/hardware).
    """
    carried = sorted((x for x in parts if isinstance(x, Carried)), key=lambda x: x.operand.kind != "c")
    sums = tuple(carried_nan("total", x) for x in carried)
    for x in parts:
        if isinstance(x, Addend):
            return _prior(rule, x, sums)
    return sums


def products_nans(
    g: Graph, addends: Sequence[Addend], c: Carried, invalid: Node, design: SpecialValues
) -> tuple[Nan, ...]:
    """The candidate NaNs of a sum under nan_rule `products_c`: factors, invalid products, then c.

    Source: ROCm emulator, gfx11_dot2.h and gfx12_dot.h.
    """
    word = g.const(design.factor_nan_word or 0, invalid.width)
    factors = [replace(nan, word=word, fmt=None) for x in addends for nan in x.nans]
    numbers = [x.number for x in addends]
    infinite = [any_of(g, [g.and_(x.inf, g.eq(x.term.sign, g.const(s, 1))) for x in numbers]) for s in (0, 1)]
    products = any_of(g, [x.nan for x in numbers])
    alone = Nan("products", addends[0].operand, g.or_(products, g.and_(*infinite)), invalid)
    return (*factors, alone, carried_nan("c", c))


def first_nan(g: Graph, operands: Sequence[Nan], invalid: Node, target: Format) -> Node:
    """The word of a step's NaN: that of the first operand that is a NaN, else of an invalid operation.

    Shapes: operands in the order of priority; invalid and the result u[target.width].
    Source: Intel SDM, VDPBF16PS; measured for TDPBF16PS (results/hardware).
    """
    word = invalid
    for x in reversed(operands):
        own = x.word if x.fmt is None else quiet_nan(g, x.word, x.fmt, target)
        word = g.ite(x.present, own, word)
    if word is not invalid:
        for i, x in enumerate(operands):
            g.label(f"nan_from.{i}.{x.name}", x.present)
    return word


def quiet_nan(g: Graph, word: Node, fmt: Format, target: Format) -> Node:
    """An IEEE-like NaN made quiet and widened: sign kept, fraction bits left-aligned.

    Shapes: u[fmt.width] -> u[target.width]; target has at least the fraction bits of fmt.
    Source: Intel SDM, VDPBF16PS (a NaN operand is converted to a quiet NaN).
    """
    low, t = fmt.ignored_low_bits, fmt.fraction_bits
    fraction = g.extract(word, low + t - 1, low)
    quiet = g.or_(fraction, g.const(1 << (t - 1), t))
    wide = g.shift_left_const(quiet, target.fraction_bits + target.ignored_low_bits - t)
    ones = g.const((1 << target.exponent_bits) - 1, target.exponent_bits)
    return g.concat(g.top(word), ones, wide)
