"""Factors of products in other forms than they are encoded: normalised, or in a wider format."""

from __future__ import annotations

from tcformal.errors import ProofError
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import Encoded
from tcformal.proofs.tactics.bounds.terms import sign_of, term_of
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps, power
from tcformal.semantics.normalise import shift_left_by_leading_zeros
from tcformal.semantics.number import Number


def normalised_factor(z: IntegerSteps, stated: Encoded, x: Number) -> int:
    """The value of a stated factor less that of a normalised number = 0."""
    d, g, t, raw = z.d, z.g, x.term, term_of(z.g, stated)
    moved, distance = shift_left_by_leading_zeros(g, raw.significand)
    if moved is not t.significand or raw.sign is not t.sign:
        raise ProofError("a factor is not normalised as it is here")
    shifted = z.normalised(raw.significand, moved, distance)
    goal = stated.value - sign_of(t.sign) * Poly.of(moved) * power(t.exponent, -t.fraction_bits)
    cut = ([raw.exponent.bits, raw.significand],)

    def proved(some: bool, i: list[int], _: list[Equation]) -> list[int]:
        if not some:
            same = [
                (d.equal("a zero", y, g.const(0, y.width), i, ([raw.significand],)), y)
                for y in (moved, raw.significand)
            ]
            return [z.rewritten(goal, same)]
        own = z.linear(
            "a normalised exponent", [t.exponent.bits, distance], [raw.exponent.bits],
            t.exponent.low - raw.exponent.low, i, cut,
        )  # fmt: skip
        return [z.rewritten(goal, [(own, t.exponent.bits), (shifted, moved)])]

    return z.cases(g.any_bit(raw.significand), proved)[0]


def widened_factor(z: IntegerSteps, stated: Encoded, x: Number, given: list[int]) -> int:
    """The value of a stated factor less that of it in a wider format = 0."""
    d, g, t = z.d, z.g, x.term
    less = t.fraction_bits - stated.fmt.fraction_bits - stated.fmt.bias - t.exponent.low
    width = max(t.exponent.bits.width, stated.exponent.width, abs(less).bit_length()) + 2
    base = g.add_mod(g.zero_extend_to(stated.exponent, width), g.const(less % (1 << width), width))
    up = g.sub_mod(base, g.zero_extend_to(t.exponent.bits, width))
    wide = g.zero_extend_to(stated.significand, t.significand.width)
    moved = g.shl_mod(wide, up)
    weight = power(t.exponent, -t.fraction_bits)
    goal = stated.value - sign_of(t.sign) * Poly.of(t.significand) * weight
    signs = d.equal("a converted sign", stated.sign, t.sign, given)

    def proved(some: bool, i: list[int], _: list[Equation]) -> list[int]:
        known = [*given, *i]
        if not some:
            empty = d.equal("a converted zero", t.significand, g.const(0, t.significand.width), known)
            none = d.equal("a zero", stated.significand, g.const(0, stated.significand.width), known)
            return [z.rewritten(goal, [(empty, t.significand), (none, stated.significand)])]
        same = d.equal("a converted significand", t.significand, moved, known)
        fits = d.lemma("that a converted significand fits", g.eq(g.lshr(moved, up), wide), known)
        code = z.linear("a converted exponent", [up, t.exponent.bits], [stated.exponent], -less, known)
        equations = [
            (signs, stated.sign), (same, t.significand), (d.read(moved, fits), moved),
            (d.read(wide), wide), (code, stated.exponent),
        ]  # fmt: skip
        return [z.rewritten(goal, equations)]

    return z.cases(g.any_bit(stated.significand), proved)[0]
