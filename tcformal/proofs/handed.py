"""What the sums of a dot product hand on, and what may be known of it and of two such numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.semantics.number import Number, Term
from tcformal.semantics.stages import Block, Dot, DotStep, Operand, Total
from tcformal.semantics.unpack import unpack

OperandSet = frozenset[int | str]


@dataclass(slots=True)
class Handed:
    """What one sum, or one rounded product, hands on; `total` is None for a word that is read again."""

    scope: str
    leaves: OperandSet
    number: Number
    step: DotStep | None = None
    #: The step of the products, where c is added to their sum as it is.
    before: DotStep | None = None
    #: The sign, significand, exponent, zero, NaN and Inf as they stand after what was proved before.
    parts: list[Node] = field(default_factory=list)

    @property
    def rank(self) -> int:
        """A rounded product comes before sums of the same products, and a sum before its word."""
        return 2 if self.step is None else 1 if self.step.total is not None else 0

    def sums(self) -> list[Node]:
        """What is rounded, and what the special cases are made of."""
        if self.step is None or self.step.total is None or self.step.specials is None:
            return []
        total, found = self.step.total, self.step.specials
        e_max = total.e_max.bits if total.maximum is None else total.maximum.code
        return [total.bits, e_max, found.some_nan, found.positive_inf, found.negative_inf]

    def nodes(self) -> list[Node]:
        """The parts as they are defined."""
        x = self.number
        return [x.term.sign, x.term.significand, x.term.exponent.bits, x.term.zero, x.nan, x.inf]


def handed(g: Graph, unit: UnitSpec, dot: Dot) -> Iterator[Handed]:
    """What every sum hands on, in the order of definition; words that a composed unit reads again, too."""
    known: dict[Operand, OperandSet] = {}

    def leaves(x: Operand) -> OperandSet:
        if x.kind == "products":
            return frozenset(x.ks)
        if x.kind in ("c", "zero"):
            return frozenset(["c"] if x.kind == "c" else [])
        return known.get(x, frozenset().union(*map(leaves, x.of)))

    used = {n.index for n in reachable([dot.result])}
    for stage in dot.stages:
        last: OperandSet = frozenset()
        before: DotStep | None = None
        for step in stage.steps if isinstance(stage, Block) else (stage,):
            last = known[step.made] = frozenset().union(*map(leaves, step.operands))
            if step.specials is not None:
                as_it_is = step.exact and before is not None and before.rounded is None
                yield Handed(step.scope, last, step.specials.result, step, before if as_it_is else None)
            before = step
        if isinstance(stage, Block) and unit.emulation is not None:
            word = unpack(g, stage.result, unit.operands.d)
            if word.term.significand.index in used:
                yield Handed(f"{stage.scope}.word", last, word)


def signed_otherwise(g: Graph, unit: UnitSpec, dots: tuple[Dot, Dot]) -> list[list[Handed]]:
    """c, where two dot products take it in with other signs and one significand and exponent; else nothing.

    A subnormal c that one of them makes a zero of one sign, and the other of its own, is such a number.
    """
    word = unpack(g, g.input("c", unit.operands.c.width), unit.operands.c)
    found = [list(_terms_of_c(dot)) for dot in dots]
    if len(found[0]) != 1 or len(found[1]) != 1:
        return [[], []]
    one, two = (terms[0][0] for terms in found)
    same = one.significand is two.significand and one.exponent == two.exponent and one.sign is not two.sign
    if not same:
        return [[], []]
    return [[Handed(f"{s}.c", frozenset(["c"]), replace(word, term=t)) for t, s in terms] for terms in found]


def _terms_of_c(dot: Dot) -> Iterator[tuple[Term, str]]:
    """c as sums take it in, with the scope of each."""
    for step in dot.steps:
        for x in () if step.total is None else step.total.terms:
            if [step.operands[i].kind for i in x.members] == ["c"]:
                yield x.term, step.scope


def stages(one: Total | None, two: Total | None) -> list[tuple[Node, Node]]:
    """The stages of two sums of as many terms, constants left out, in the order of definition."""
    if one is None or two is None:
        return []
    made = [(one.e_max.bits, two.e_max.bits)] if one.e_max.low == two.e_max.low else []
    terms = [[x for x in total.terms if x.aligned.op != "const"] for total in (one, two)]
    if len(terms[0]) == len(terms[1]):
        made += [(x.aligned, y.aligned) for x, y in zip(*terms, strict=True)]
    if len(one.partials) == len(two.partials):
        made += [(x.node, y.node) for x, y in zip(one.partials, two.partials, strict=True)]
    return [*made, (one.bits, two.bits)]


def facts_of(g: Graph, x: Handed, seen: Callable[[Node], bool]) -> Iterator[tuple[str, Node]]:
    """What may be known of one number, the plainest first; `seen` says what inputs show of a fact."""
    sign, significand, code, zero, nan, inf = x.parts
    special = g.or_(nan, inf)
    exponent = x.number.term.exponent
    top = g.top(significand)
    whole = g.or_(g.and_(zero, g.is_zero(significand)), g.and_(g.not_(zero), g.or_(top, g.is_zero(code))))
    ranged = g.ule(code, g.const(min(exponent.high - exponent.low, (1 << code.width) - 1), code.width))
    exactly = g.or_(special, g.eq(zero, g.is_zero(significand)))
    if seen(exactly):
        yield "a number is zero where it has no bits", exactly
    yield "a number is as its format has it", g.or_(special, g.and_(whole, ranged))
    yield "a number is not Inf", g.not_(inf)
    yield "a number is not subnormal", g.or_(special, zero, top)
    if x.step is not None and x.step.total is not None:
        total = x.step.total
        most = total.e_max.high + total.bits.width - 2 - total.fraction_bits - exponent.low
        if 0 <= most < exponent.high - exponent.low:
            bound = g.ule(code, g.const(most, code.width))
            yield "a number is no larger than its sum can be", g.or_(special, bound)
    yield "a zero is not negative", g.not_(g.and_(zero, sign, g.not_(special)))


def alike(g: Graph, one: Handed, two: Handed, *, strict: bool = False) -> Node:
    """1 where two numbers have one value, whatever the fields of a zero, an Inf or a NaN hold.

    With `strict` a zero has the same fields on both sides, too.
    """
    (sign, significand, _, zero, nan, inf), (sign2, significand2, _, zero2, nan2, inf2) = (
        one.parts, two.parts,
    )  # fmt: skip
    codes = [replace(x.number.term.exponent, bits=x.parts[2]) for x in (one, two)]
    low, high = min(e.low for e in codes), max(e.high for e in codes)
    first, second = (e.rebased(g, low, high) for e in codes)
    width = max(significand.width, significand2.width)
    same_sign = g.eq(sign, sign2)
    # Significands of one number of fraction bits.
    up = [x.number.term.fraction_bits for x in (one, two)]
    most = max(up)
    wide = [
        g.zero_extend_to(g.shift_left_const(s, most - f), width + most)
        for s, f in ((significand, up[0]), (significand2, up[1]))
    ]
    fields = g.and_(same_sign, g.eq(*wide), g.eq(first, second))
    finite = g.and_(g.eq(zero, zero2), fields if strict else g.or_(zero, fields))
    return g.and_(g.eq(nan, nan2), g.or_(nan, g.and_(g.eq(inf, inf2), g.ite(inf, same_sign, finite))))
