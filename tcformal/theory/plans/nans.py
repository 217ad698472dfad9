"""Which NaN a result is, as a formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from tcformal.encodings.spec import Format, Sign
from tcformal.ir.node import Node
from tcformal.semantics.number import Number
from tcformal.theory.formulas import (
    NEVER,
    Expr,
    any_of,
    bits,
    choice,
    is_one,
    num,
    u,
)
from tcformal.theory.plans.numbers import Factor, same_number
from tcformal.theory.plans.sums import At, Summed


@dataclass(frozen=True, slots=True)
class MaybeNan:
    """A NaN that may be there, and its word as a result."""

    present: Expr
    word: Expr


NO_NAN = MaybeNan(NEVER, num(0))


#: The NaNs of the two factors of a product.
Nans = tuple[MaybeNan, MaybeNan]


def quiet_term(f: Format, to: Format, word: Node) -> Expr:
    """A NaN's word made quiet and widened (`NanWords.v`, quiet_term)."""
    low, t, e, wide = f.ignored_low_bits, f.fraction_bits, f.exponent_bits, to.fraction_bits
    moved = bits(low, t, u(word)) * (1 << wide - t)
    half = num(1 << (wide - 1))
    sign = bits(low + t + e, 1, u(word)) if f.sign is Sign.PRESENT else num(0)
    ones = sign * (1 << to.exponent_bits) + ((1 << to.exponent_bits) - 1)
    fraction = choice(moved < half, moved + half, moved)
    return (ones * (1 << wide) + fraction) * (1 << to.ignored_low_bits)


def word_nan(f: Format, to: Format, word: Node) -> MaybeNan:
    """A word as a NaN of another format."""
    return MaybeNan(Factor(word, f, None).shown().nan, quiet_term(f, to, word))


def block_term(
    rule: str, default: int, how: str, nans: Sequence[Nans], products: Sequence[Number], c: MaybeNan,
    tree: Summed,
) -> Expr:  # fmt: skip
    """The word of a block that ends as a NaN (`NanWords.v`, block_term).

    `how`: the sums of products before c is added, "" where c is the first operand or all is one sum.
    """
    invalid = num(default)
    if how == "fused":
        both = [products[0], *_spine(tree.children[0])]
        return first_present(invalid, [_chain(rule, invalid, NO_NAN, nans, both), c])
    if how in ("two_chains", "pair_chains"):
        inner = tree.children[0]
        assert isinstance(inner, Summed)
        results = [_spine(x) for x in inner.children]
        if how == "two_chains":
            sides = [_chain(rule, invalid, NO_NAN, nans[i::2], x) for i, x in enumerate(results)]
        else:
            steps = list(zip(nans, products, strict=True))
            sides = [_pairs(invalid, x, steps[2 * i :]) for i, x in enumerate(results)]
        return first_present(invalid, [c, *sides])
    return first_present(invalid, [_chain(rule, invalid, c, nans, _spine(tree))])


def steps_term(
    rule: str, default: Expr, nans: Sequence[Nans], products: Sequence[Number], c: MaybeNan, counted: Number,
    tree: Summed,
) -> MaybeNan:  # fmt: skip
    """The NaN of a tree of any form (`NanWords.v`, steps_term)."""
    of_c, inner, factors = [], [], (NO_NAN, NO_NAN)
    for x in tree.children:
        made = NO_NAN
        if isinstance(x, Summed):
            made = steps_term(rule, default, nans, products, c, counted, x)
        here = isinstance(x, At) and x.zero is None and same_number(x.number, counted)
        of_c.append(c if here else NO_NAN)
        inner.append(made)
        known = (
            y for y, z in zip(nans, products, strict=True) if isinstance(x, At) and same_number(z, x.number)
        )
        factors = next(known, factors)
    both = [*of_c, *inner]
    one = MaybeNan(any_of(x.present for x in both), first_present(default, both))
    return MaybeNan(
        is_one(tree.sum.ending.outcome.nan), first_present(default, _ordered(rule, *factors, one))
    )


def _ordered(rule: str, a: MaybeNan, b: MaybeNan, s: MaybeNan) -> list[MaybeNan]:
    return {"b_sum_a": [b, s, a], "a_sum_b": [a, s, b]}.get(rule, [a, b, s])


def _spine(x: At | Summed) -> list[Number]:
    """The results along the first operands of a tree."""
    return [] if isinstance(x, At) else [*_spine(x.children[0]), x.sum.ending.outcome]


def first_present(default: Expr, nans: Sequence[MaybeNan]) -> Expr:
    return reduce(lambda word, x: choice(x.present, x.word, word), reversed(nans), default)


def _chain(
    rule: str, default: Expr, start: MaybeNan, nans: Sequence[Nans], results: Sequence[Number]
) -> MaybeNan:
    made = start
    for (a, b), y in zip(nans, results, strict=False):
        order, nan = _ordered(rule, a, b, made), is_one(y.nan)
        made = MaybeNan(nan | made.present, choice(nan, first_present(default, order), made.word))
    return made


def _pairs(default: Expr, results: Sequence[Number], steps: Sequence[tuple[Nans, Number]]) -> MaybeNan:
    if len(steps) < 2 or not results:
        return NO_NAN
    rest = _pairs(default, results[1:], steps[4:]) if len(steps) >= 4 else NO_NAN
    present, word = is_one(results[0].nan) | rest.present, rest.word
    word = choice(is_one(results[0].nan), default, word)
    for nans, last in reversed(steps[:2]):
        nan = is_one(last.nan)
        present, word = nan | present, choice(nan, first_present(default, nans), word)
    return MaybeNan(present, word)


def then_c_term(
    word: int, default: int, nans: Sequence[Nans], products: Sequence[Number], c: MaybeNan
) -> Expr:
    """`Frames.v`, then_c_term."""
    factors = any_of(a.present | b.present for a, b in nans)
    signs = ((is_one(x.inf), is_one(x.term.sign)) for x in products)
    pairs = list(signs)
    infinite = any_of((x & ~y for x, y in pairs)) & any_of((x & y for x, y in pairs))
    invalid = any_of(is_one(x.nan) for x in products) | infinite
    last = choice(c.present, c.word, default)
    return choice(factors, word, choice(invalid, default, last))
