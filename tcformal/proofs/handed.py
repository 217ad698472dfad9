"""What the sums of a dot product hand on, and what may be known of it and of two such numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.proofs.tactics.alike.few_terms import one_term
from tcformal.semantics.normalise import normalise_term
from tcformal.semantics.number import Number, Term
from tcformal.semantics.stages import Block, Dot, DotStep, Operand, Total
from tcformal.semantics.unpack import unpack

OperandSet = frozenset[int | str]


@dataclass(slots=True)
class Handed:
    """What one sum, or one rounded product, hands on, a word that is read again, or a product as it is."""

    scope: str
    leaves: OperandSet
    number: Number
    step: DotStep | None = None
    #: The step of the products, where c is added to their sum as it is.
    before: DotStep | None = None
    #: The products, and c, of each operand of the step, by place.
    taken: tuple[OperandSet, ...] = ()
    #: Numbers are looked at in this order: 0 a product as it is, 1 normalised, 2 rounded; 3 a sum, 4 a word.
    rank: int = 4
    #: The sign, significand, exponent, zero, NaN and Inf as they stand after what was proved before.
    parts: list[Node] = field(default_factory=list)

    @property
    def product(self) -> bool:
        """Whether this is a product as it is, which others are made of."""
        return self.rank == 0

    def sums(self) -> list[Node]:
        """What is rounded, and what the special cases are made of."""
        if self.step is None or self.step.total is None or self.step.specials is None:
            return []
        total = self.step.total
        e_max = total.e_max.bits if total.maximum is None else total.maximum.code
        return [total.bits, e_max, *flags_of(self)]

    def nodes(self) -> list[Node]:
        """The parts as they are defined."""
        x = self.number
        return [x.term.sign, x.term.significand, x.term.exponent.bits, x.term.zero, x.nan, x.inf]


def flags_of(x: Handed) -> list[Node]:
    """What the special cases of a sum are made of; nothing for a word that is read again."""
    found = None if x.step is None else x.step.specials
    return [] if found is None else [found.some_nan, found.positive_inf, found.negative_inf]


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
            taken = tuple(map(leaves, step.operands))
            last = known[step.made] = frozenset().union(*taken)
            if step.specials is not None:
                as_it_is = step.exact and before is not None and before.rounded is None
                yield Handed(
                    step.scope, last, step.specials.result, step, before if as_it_is else None, taken,
                    rank=2 if step.total is None else 3,
                )  # fmt: skip
            before = step
        if isinstance(stage, Block) and unit.emulation is not None:
            word = unpack(g, stage.result, unit.operands.d)
            if word.term.significand.index in used:
                yield Handed(f"{stage.scope}.word", last, word)


def single_products(
    g: Graph, sides: Sequence[Sequence[Handed]], *, beside_c: bool
) -> tuple[list[Handed], list[Handed]]:
    """Products as they are: those that one side rounds or adds to zero, and the other side's sums take in.

    With `beside_c` the first side has those that are added to c, too.  A product that both sides round is
    what each of them hands on, and needs no fact of its own.
    """
    own = [{x.leaves for x in side} for side in sides]
    found = [
        [
            y for x in side if x.leaves not in other for y in (*_rounded(g, x), _product(g, x, "zero"))
            if y is not None
        ]
        for side, other in zip(reversed(sides), own, strict=True)
    ]  # fmt: skip
    if beside_c:
        found[0] += [y for x in sides[0] if (y := _product(g, x, "c")) is not None]
    return found[0], found[1]


def _product(g: Graph, x: Handed, beside: str) -> Handed | None:
    """The product that a sum of it and an operand of another kind takes in; None for another sum."""
    if x.step is None or x.step.total is None or x.step.specials is None:
        return None
    kinds, found = [y.kind for y in x.step.operands], x.step.specials
    if sorted(kinds) != sorted(["products", beside]):
        return None
    place, negative = kinds.index("products"), found.negative_inf
    term = next((t.term for t in x.step.total.terms if t.members == (place,)), None)
    if term is None:
        return None
    # What makes an Inf with the sign -; an Inf of either sign where that is no such node.
    infs = [y for y in negative.args if g.and_(y, term.sign) is negative]
    inf = infs[0] if infs else g.or_(found.positive_inf, negative)
    return Handed(f"{x.scope}.product", x.taken[place], Number(term, found.some_nan, inf), rank=0)


def _rounded(g: Graph, x: Handed) -> Iterator[Handed]:
    """The product that is rounded on its own: as it is, and normalised, as exact sums take it in."""
    if x.step is None or x.step.total is not None or x.step.specials is None:
        return
    number = x.step.specials.operands[0]
    normal = replace(number, term=normalise_term(g, number.term))
    yield Handed(f"{x.scope}.product", x.leaves, number, rank=0)
    yield Handed(f"{x.scope}.normalised", x.leaves, normal, rank=1)


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


def in_order(one: Handed, two: Handed) -> DotStep:
    """The second step with its two terms in the order of the first one's."""
    assert one.step is not None
    assert two.step is not None
    first, second = one.step.total, two.step.total
    if first is None or second is None or len(first.terms) != 2:
        return two.step
    rows = [
        [frozenset().union(*(x.taken[i] for i in term.members)) for term in total.terms]
        for x, total in ((one, first), (two, second))
    ]
    if rows[0] == rows[1] or rows[0] != rows[1][::-1] or second.maximum is None:
        return two.step
    partials = tuple(replace(p, of=p.of[::-1]) for p in second.partials)
    maximum = replace(second.maximum, halves=second.maximum.halves[::-1])
    total = replace(second, terms=second.terms[::-1], partials=partials, maximum=maximum)
    return replace(two.step, total=total)


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
    normalised = g.or_(special, g.and_(whole, ranged))
    if seen(normalised):
        yield "a number is as its format has it", normalised
    else:
        yield "an exponent is in its range", g.or_(special, ranged)
    yield "a number is not Inf", g.not_(inf)
    yield "a number is not subnormal", g.or_(special, zero, top)
    if x.step is not None and x.step.total is not None:
        total = x.step.total
        most = total.e_max.high + total.bits.width - 2 - total.fraction_bits - exponent.low
        if 0 <= most < exponent.high - exponent.low:
            bound = g.ule(code, g.const(most, code.width))
            yield "a number is no larger than its sum can be", g.or_(special, bound)
    yield "a zero has the least exponent", g.or_(special, g.not_(zero), g.is_zero(code))
    yield "a number is not NaN and Inf at once", g.not_(g.and_(nan, inf))
    yield "a zero is not negative", g.not_(g.and_(zero, sign, g.not_(special)))


def alike(g: Graph, one: Handed, two: Handed, *, strict: bool = False) -> Node:
    """1 where two numbers have one value, whatever the fields of a zero, an Inf or a NaN hold.

    With `strict` a zero has the same fields on both sides, too.
    """
    (term, nan, inf), (term2, nan2, inf2) = as_known(one), as_known(two)
    finite = one_term(g, term, term2, strict=strict)
    same = g.ite(inf, g.eq(term.sign, term2.sign), finite)
    return g.and_(g.eq(nan, nan2), g.or_(nan, g.and_(g.eq(inf, inf2), same)))


def as_known(x: Handed) -> tuple[Term, Node, Node]:
    """A number's term, NaN and Inf, of the parts as they stand."""
    sign, significand, code, zero, nan, inf = x.parts
    term = x.number.term
    exponent = replace(term.exponent, bits=code)
    return replace(term, sign=sign, significand=significand, exponent=exponent, zero=zero), nan, inf
