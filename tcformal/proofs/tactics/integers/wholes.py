"""Terms that are integers: their magnitudes, and the largest exponent that they can have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET
from tcformal.proofs.statements.error_bound import StatedTerm
from tcformal.proofs.statements.integer_sums import WholeNumber
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.bounds.terms import KnownTerm, weight


@dataclass(frozen=True, slots=True)
class Reach:
    """The largest exponent in a sum, fraction_bits + room.

    Ranges and units: the room is 1 where a term of that exponent can be as small as 2^most, the largest there
    is, and 0 where every such term is larger; the lowest bit of a sum weighs up to 2^room.
    """

    most: int
    fraction_bits: int
    room: int


@dataclass(frozen=True, slots=True)
class WholeTerm:
    """Theorems about a term that is an integer.

    `given`: that it is whole and small.  `magnitude`: magnitude - significand · 2^(exponent - fraction bits)
    = 0.  `limits`: that its exponent is at most that of `Reach`, and below it except for 2^most, where the
    term is not zero.  `empty`: that a zero term has no significand.  `within`: the magnitudes of the
    statement that it is made of, `taken`, less its own are at least 0; no `taken` where it is one of them.
    """

    known: KnownTerm
    whole: WholeNumber
    given: tuple[int, ...]
    magnitude: int
    limits: tuple[int, ...]
    empty: int
    taken: Poly | None = None
    within: int = 0


def exponent_limits(d: Derivation, reach: Reach, code: Node, nonzero: Node, w: WholeNumber) -> list[Node]:
    """What `WholeTerm.limits` say, as nodes."""
    g = d.g
    f, none = reach.fraction_bits, g.not_(nonzero)
    at_most = [g.ule(code, g.const(OFFSET + f + i, CODE_BITS)) for i in range(reach.room + 1)]
    if not reach.room:
        return [g.or_(none, at_most[0])]
    return [g.or_(none, at_most[1]), g.or_(none, at_most[0], is_power(d, w.magnitude))]


def is_power(d: Derivation, magnitude: Node) -> Node:
    """Whether a magnitude of most + 1 bits is 2^most, when it is not larger."""
    return d.g.eq(magnitude, d.g.const(1 << (magnitude.width - 1), magnitude.width))


def stated_term(
    d: Derivation, reach: Reach, t: StatedTerm, w: WholeNumber, known: KnownTerm, factors: Sequence[Node]
) -> WholeTerm:
    """A term of the statement; `factors` are the hypotheses about its factors."""
    g = d.g
    also = [d.assume(x) for x in factors]
    given = (d.assume(w.whole), d.assume(w.small))
    # The product of significands is a number of its own; what it is the product of decides the exponent.
    cut = ([w.significand] if w.significand.op == "mul_expand" else [],)
    normal = g.and_(*(g.top(x.significand) for x in t.factors))
    some, none = d.assume(t.nonzero), d.assume(g.not_(t.nonzero))
    least = [d.assume(normal), d.assume(g.not_(normal))]
    limits = []
    for goal in exponent_limits(d, reach, t.code, t.nonzero, w):
        cases = []
        for which, shown in enumerate(least):
            sizes = [x.fmt.fraction_bits * (which == 0) for x in t.factors]
            large = _large(d, t, w, sizes, some if which else shown)
            what = "the exponent of an integer"
            cases.append(d.lemma(what, goal, [*given, large, shown, some, *also], cut))
        made = cases[0] if normal.op == "const" else d.cases(normal, cases[0], cases[1])
        empty = d.lemma("the exponent of a zero", goal, [none], ([t.nonzero],))
        limits.append(d.cases(t.nonzero, made, empty))
    nothing = d.lemma(
        "that a zero term is empty", g.or_(t.nonzero, g.is_zero(w.significand)), [], ([], [t.nonzero])
    )
    value = whole_magnitude(d, w, t.fraction_bits, given)
    return WholeTerm(known, w, given, value, tuple(limits), nothing)


def _large(d: Derivation, t: StatedTerm, w: WholeNumber, sizes: Sequence[int], shown: int) -> int:
    """That the significand is at least the product of 2^size of its factors, as a bit."""
    g = d.g
    made: int | None = None
    least, node = 1, w.significand
    for x, size in zip(t.factors, sizes, strict=True):
        s = x.significand
        if s.op == "const":
            continue
        bound = 1 << size
        own = g.ule(g.const(bound, s.width), s)
        fact = d.fact(d.lemma("the size of a significand", own, [shown]))
        if made is None:
            made, least, node = fact, bound, s
            continue
        node = g.mul_expand(node, s)
        goal = Poly.of(node) - Poly.constant(least * bound)
        parts = [(1, [made, fact]), (bound, [made]), (least, [fact])]
        made, least = d.prove(goal, [(d.read(node), node)], parts), least * bound
    assert made is not None, "a term has a significand"
    return above(d, node, least, made)


def above(d: Derivation, node: Node, least: int, shown: int) -> int:
    """The theorem node - least >= 0 as a bit."""
    low = d.g.ult(node, d.g.const(least, node.width))
    return _refuted(d, low, shown)


def below(d: Derivation, node: Node, most: int, shown: int) -> int:
    """The theorem most - node >= 0 as a bit: node <= most."""
    top = d.g.const(most, node.width)
    return d.lemma("a bound", d.g.ule(node, top), [_refuted(d, d.g.ult(top, node), shown)], ([node],))


def _refuted(d: Derivation, wrong: Node, shown: int) -> int:
    return d.refute(d.arith([(1, [d.fact(d.assume(wrong))]), (1, [shown])]), wrong)


def whole_magnitude(d: Derivation, w: WholeNumber, fraction_bits: int, given: Sequence[int]) -> int:
    """magnitude - significand · 2^(exponent - fraction bits) = 0, of a number that is whole and small."""
    g, size, m = d.g, Poly.of(w.significand), Poly.of(w.magnitude)
    zero = g.is_zero(w.significand)
    goal = m - size * weight(w.code, fraction_bits)
    none, some = d.assume(zero), d.assume(g.not_(zero))
    cut = ([w.significand, w.below],)
    nothing = d.lemma("that a zero is 0", g.is_zero(w.magnitude), [none], cut)
    empty = d.prove(goal, [(d.fact(none), w.significand), (d.fact(nothing), w.magnitude)])
    fits = d.lemma(
        "that an integer has a place", g.ule(w.code, w.below.args[0]), [some, *given],
        ([w.significand, w.code],),
    )  # fmt: skip
    wide = g.zero_extend_to(w.magnitude, w.floor.width)
    low = d.equal("that an integer is small", w.floor, wide, given, ([w.floor, w.back, w.placed],))
    same = d.equal("that an integer has no fraction", w.placed, w.back, given, ([w.floor, w.back, w.placed],))
    undone = d.lemma("that a shift is undone", g.eq(g.lshr(w.back, w.below), w.floor), [], cut)
    power = Poly.of(w.below).power_of_two()
    # placed = back = floor · 2^below
    shifted = d.prove(
        Poly.of(w.placed) - m * power, [],
        [(1, [same]), (1, [d.read(w.back, undone)]), (power, [low]), (power, [d.read(wide)])],
    )  # fmt: skip
    inverse = (Poly.of(w.below) * -1).power_of_two()
    equations = [(d.read(w.below, fits), w.below)]
    parts = [(inverse * -1, [shifted]), (inverse, [d.read(w.placed)])]
    return d.cases(zero, empty, d.prove(goal, equations, parts))
