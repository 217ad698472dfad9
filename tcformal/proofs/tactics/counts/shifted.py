"""A sum and its count are rounded alike: one is the other shifted, which is shown bit by bit of the distance.

Nothing here is trusted: every step is a lemma of `Composition`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.tactics.counts.counted import Count, CountedTerms
from tcformal.proofs.tactics.exact_sums import within
from tcformal.semantics.number import Exponent, bits_for
from tcformal.semantics.stages import Rounded

#: Numbers are compared in a multiple of these bits, and exponents in one of these ranges, so that different
#: sums share lemmas.
_BITS, _RANGES = 16, (1 << 9, 1 << 11, 1 << 13)
#: Bits of a count up to which its rounding is compared as a whole.
_NARROW = 12


@dataclass(frozen=True, slots=True)
class Scaled:
    """An addend or partial sum that is a count times 2^up: `long`, it extended, is `shifted`.

    `facts`: it is within ±most, and `up` is small enough for the count, or the count is zero.
    """

    node: Node
    most: int
    count: Count
    long: Node
    whole: Node
    shifted: Node
    facts: list[Node]


def in_steps(bits: int) -> int:
    """Bits in which sums are compared that need so many."""
    return _BITS * -(-bits // _BITS)


def scaled(
    w: CountedTerms, node: Node, most: int, count: Count, up: Node, most_up: int, width: int
) -> Scaled:
    """A number as its count times 2^up, in `width` bits, `up` at most `most_up`; nothing of it is proved."""
    g = w.c.graph
    long, whole = g.sign_extend_to(node, width), g.sign_extend_to(count.node, width)
    room = g.or_(g.is_zero(count.node), g.ule(up, g.const(most_up, up.width)))
    return Scaled(node, most, count, long, whole, g.shl_mod(whole, up), [within(g, node, most), room])


@dataclass(frozen=True, slots=True)
class Unrounded:
    """A whole sum: in units of 2^(e_max - fraction_bits) it is its count times 2^up; `known` of e_max."""

    last: Scaled
    e_max: Exponent
    fraction_bits: int
    up: Node
    known: Sequence[Node]

    def few(self, w: CountedTerms) -> Node:
        """The fact that the sum is its count, scaled, in as many bits as the wider of both has."""
        g, last = w.c.graph, self.last
        exactly = g.eq(last.long, last.shifted)
        w.c.made_twice(exactly, [last.shifted, last.shifted], [last.long, last.shifted])
        width = max(last.node.width, last.count.node.width)
        long, short = (g.sign_extend_to(n, width) for n in (last.node, last.count.node))
        few = g.and_(g.eq(long, g.shl_mod(short, self.up)), g.eq(g.ashr(long, self.up), short))
        cut, given = [last.node, last.count.node, self.up], [exactly, *last.facts, last.count.fact]
        return w.fact(few, "a sum is its count, scaled, in fewer bits", cut, given)

    def taken_over(self, w: CountedTerms, made: Rounded, overflow: str) -> tuple[Rounded, list[Node]]:
        """What is rounded from the sum is what is rounded from its count: that, and what is known of both."""
        last, codes = self.last, (w.code, self.e_max.bits)
        exact = w.rounding(last.count.node, w.low, made.target, overflow)
        given = [self.few(w), last.facts[0], last.count.fact, *self.known]
        lsb = self.e_max.shifted(-self.fraction_bits)
        x = Shifted(last.node, lsb, last.count, self.up, self.fraction_bits, codes, [*given, last.facts[1]])
        if last.count.node.width > _NARROW:
            with suppress(ProofError):  # what is left is asked as a whole
                rounded_alike(w, x, made, exact, overflow)
        w.take_over(made, exact, [last.node, last.count.node, *codes], given)
        return exact, given


@dataclass(frozen=True, slots=True)
class Shifted:
    """A sum `node`, in units of 2^lsb, that is the count times 2^up.

    `up` is at most `most_up` where the count is not zero.  `given` is what is known of them, `codes` are the
    exponents' codes on which all depends.
    """

    node: Node
    lsb: Exponent
    count: Count
    up: Node
    most_up: int
    codes: tuple[Node, Node]
    given: Sequence[Node]


def rounded_alike(w: CountedTerms, x: Shifted, made: Rounded, exact: Rounded, overflow: str) -> None:
    """Prove the parts of a sum's rounding but the sign, built again, equal to those of its count's.

    Soundness: between the two, one bit of `up` after the other shifts the count to the left and lowers the
    exponent of its unit, and no such step changes a part of what is rounded.
    Errors: ProofError where a step is not proved.
    """
    g, target, stages = w.c.graph, exact.target, bits_for(x.most_up)
    bits_needed = (x.count.most.bit_length() + 1 + x.most_up, x.node.width, w.width, target.precision + 3)
    width = in_steps(max(bits_needed))
    reach = max(abs(n) for e in (x.lsb, w.low) for n in (e.low, e.high)) + (1 << stages)
    span = next((n for n in _RANGES if n > reach), 2 * reach)
    bits = [g.bit(g.zero_extend_to(x.up, max(stages, x.up.width)), i) for i in range(stages)]
    codes = [x.lsb.rebased(g, -span, span - 1)]
    for i in reversed(range(stages)):
        higher = g.add_mod(codes[0], g.const(1 << i, codes[0].width))
        codes.insert(0, g.ite(bits[i], higher, codes[0]))
    numbers, kept = [g.sign_extend_to(x.count.node, width)], list[Node]()
    for i, bit in enumerate(bits):
        moved = g.shift_left_const(numbers[-1], 1 << i)
        short = g.extract(moved, width - 1, 0)
        kept.append(g.or_(g.not_(bit), g.eq(g.sign_extend_to(short, moved.width), moved)))
        numbers.append(g.ite(bit, short, numbers[-1]))
    cut = [x.node, x.count.node, x.up]
    lowest = g.const(1 << (width - 1), width)  # which has no magnitude
    proper = [g.not_(g.eq(number, lowest)) for number in numbers]
    pairs = [(g.truth(True), fact) for fact in (*kept, *proper)]
    w.all_equal(pairs, "a shift loses nothing", cut, x.given)
    long = g.sign_extend_to(x.node, width)
    w.equal(long, numbers[-1], "a sum is its count, shifted bit by bit", cut, x.given)
    tops = [g.ult(code, g.const(2 * span - (1 << i), code.width)) for i, code in enumerate(codes[1:])]
    w.all_equal([(g.truth(True), f) for f in tops], "an exponent is in its range", [x.up, *x.codes], x.given)
    apart = g.or_(g.is_zero(x.count.node), g.eq(codes[0], w.low.rebased(g, -span, span - 1)))
    w.fact(apart, "a unit is as far below the other", [x.count.node, *x.codes], x.given)

    before, known = [*exact.parts[1:], exact.kept], [apart, x.count.fact, *w.limit]
    cut = [x.count.node, codes[0], w.code]
    for i, (number, code) in enumerate(zip(numbers, codes, strict=True)):
        now = w.rounding(number, Exponent(code, -span, span - 1), target, overflow)
        parts = [*now.parts[1:], now.kept]
        w.all_equal(list(zip(before, parts, strict=True)), "a shift changes no rounding", cut, known)
        if i < stages:
            before, known = parts, [kept[i], tops[i], proper[i], proper[i + 1]]
            cut = [number, codes[i + 1], bits[i]]
    last = w.c.all_replaced(parts, {numbers[-1]: long})
    rest = (*made.parts[1:], made.kept)
    own = w.rebuilt(rest)
    pairs = [(n, own[part]) for n, part in zip(last, rest, strict=True)]
    w.all_equal(pairs, "a rounding in more bits", [x.node, *x.codes], x.given)
