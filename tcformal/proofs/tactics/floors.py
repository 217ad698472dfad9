"""A sum of CDNA3 that is rounded down: with c = 0, all that its floors cut off is proved to be zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.proofs.tactics.cuts import Composition
from tcformal.semantics.align import all_of
from tcformal.semantics.number import Number
from tcformal.semantics.reduce import split_sign
from tcformal.semantics.round import convert
from tcformal.semantics.stages import Dot, DotStep, Total

StageRecord = TypeVar("StageRecord")


def without_floors(
    c: Composition, dot: Dot, beside: Number, supposed: Sequence[Node], lowest: int | None = None
) -> bool:
    """Prove that the last sum is that of the products and that its floor rounds nothing, for TR-FDPA.

    Soundness: `Composition` joins nothing that is not proved; `beside` is c as the sum takes it, and
    `supposed`, which say that c is zero and that no product has an exponent below `lowest`, have to be
    supposed or proved.  (1) A zero product has no
    significand and so no aligned bits; where all are zero, so is their sum, and elsewhere the largest
    exponent is one of those that products can have.  (2) Above c's exponent the sum is
    therefore not shifted, and c adds nothing to it.  (3) The floor cuts off nothing but zeros, as rounding to
    zero does, and does not overflow.
    """
    steps = list(dot.steps)
    if len(steps) != 2 or steps[1].floor is None or steps[0].total is None:
        return False
    g, products, last = c.graph, steps[0].total, steps[1]
    fact, true = _Fact(c, last.scope), g.truth(True)
    term, terms = beside.term, [t.term for t in products.terms]
    code, e_max = term.exponent.bits, products.e_max
    # c's code is 1, that of a subnormal.
    nothing = all_of(g, [term.zero, g.is_zero(term.significand), g.eq(code, g.const(1, code.width))])
    all_zero = all_of(g, [t.zero for t in terms])
    least, most = min(t.exponent.low for t in terms), max(t.exponent.high for t in terms)
    least = least if lowest is None else max(least, lowest)
    gone, inside = [], []
    for t in products.terms:
        empty = g.or_(g.not_(t.term.zero), g.is_zero(t.term.significand))
        gone.append(g.or_(g.not_(t.term.zero), g.is_zero(t.aligned)))
        inside.append(t.term.exponent.bounded(g))
        cut = [t.term.zero, t.term.significand, t.shift]
        if not (
            fact(empty, "a zero has no significand")
            and fact(gone[-1], "nor aligned bits", [empty], cut)
            and (inside[-1] is true or fact(inside[-1], "an exponent is in its range"))
        ):
            return False
        if least > t.term.exponent.low:
            code = t.term.exponent.bits
            low = g.const(least - t.term.exponent.low, code.width)
            inside.append(g.or_(t.term.zero, g.ule(low, code)))
            if not fact(inside[-1], f"an exponent is at least {least}", _about(inside[-1], supposed)):
                return False
    zero_sum = g.or_(g.not_(all_zero), g.is_zero(products.bits))
    code = e_max.rebased(g, min(least, e_max.low), max(most, e_max.high))
    low, high = (g.const(x - min(least, e_max.low), code.width) for x in (least, most))
    between = g.and_(g.ule(low, code), g.ule(code, high))
    some, alive = g.or_(all_zero, between), g.or_(g.is_zero(products.bits), between)
    return (
        fact(nothing, "a c of zero has no significand and the least exponent",
             _about(nothing, supposed))
        and fact(zero_sum, "a sum of zero products is zero", gone,
                 [n for t in products.terms for n in (t.term.zero, t.term.sign, t.aligned)])
        and fact(some, f"the largest exponent of products is in {least}..{most}", inside,
                 [n for t in terms for n in (t.zero, t.exponent.bits)])
        and fact(alive, f"that of a sum other than zero is in {least}..{most}",
                 [zero_sum, some], [products.bits, e_max.bits, all_zero])
        and _one_sum(c, products, last, beside, [alive, nothing])
    )  # fmt: skip


def _one_sum(c: Composition, products: Total, last: DotStep, beside: Number, given: Sequence[Node]) -> bool:
    """(2) and (3): the sum with c is that of the products, and its floor rounds as RZ does."""
    total, floor, g, term = last.total, last.floor, c.graph, beside.term
    if total is None or floor is None:
        return False
    cut = [products.bits, products.e_max.bits, term.sign, term.significand, term.exponent.bits, term.zero]
    up = total.fraction_bits - products.fraction_bits
    whole = g.sign_extend_to(g.shift_left_const(products.bits, up), total.bits.width)
    name = "c of zero adds nothing"
    if not c.by_lemma(last.scope, whole, total.bits, given=given, cut=cut, name=name):
        return False
    # Below zero a sum that overflows is Inf when it is rounded down, but not when it is cut.
    target = replace(floor.rounded.target, mode="RZ")
    with g.scope(f"{last.scope}.cut"):
        cut_off = convert(g, *split_sign(g, whole), total.lsb, target, overflow="ieee")
    pairs = list(zip(cut_off.parts, c.all_replaced(floor.rounded.parts), strict=True))
    return c.by_lemmas(last.scope, pairs, given=given, cut=cut, name="a floor cuts off nothing")


def _about(fact: Node, supposed: Sequence[Node]) -> list[Node]:
    """What is supposed of the inputs that a fact depends on alone."""
    inputs = {n for n in reachable([fact]) if n.op == "input"}
    return [x for x in supposed if inputs.issuperset(n for n in reachable([x]) if n.op == "input")]


class _Fact:
    """Lemmas in one place that nodes of width 1 are 1: on what they are cut at, or on all inputs."""

    def __init__(self, c: Composition, where: str) -> None:
        self.c, self.where = c, where

    def __call__(
        self, fact: Node, name: str, given: Sequence[Node] = (), cut: Sequence[Node] | None = None
    ) -> bool:
        true = self.c.graph.truth(True)
        return self.c.by_lemma(self.where, true, fact, given=given, cut=cut, name=name, depths=(None,))


def rebuilt(c: Composition, x: StageRecord) -> StageRecord:
    """A record of stages with every node built again on what was proved equal to it."""
    nodes: dict[Node, Node] = {}
    _mapped(x, lambda node: nodes.setdefault(node, node))
    new = dict(zip(nodes, c.all_replaced(list(nodes)), strict=True))
    return _mapped(x, lambda node: new[node])


def _mapped(x: StageRecord, of: Callable[[Node], Node]) -> StageRecord:
    """A record of stages with another node in the place of each."""
    made: Any = x
    if isinstance(x, Node):
        made = of(x)
    elif isinstance(x, tuple):
        made = tuple(_mapped(y, of) for y in x)
    elif is_dataclass(x) and not isinstance(x, type):
        made = type(x)(**{f.name: _mapped(getattr(x, f.name), of) for f in fields(x)})
    return made  # type: ignore[no-any-return]
