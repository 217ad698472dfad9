"""The order of a unit's products within a spread of exponents, in which it does not change the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tcformal.errors import InputError
from tcformal.interp.vector import Vector
from tcformal.ir.build import Graph
from tcformal.operands.batch import columns, witness_at
from tcformal.operands.spread import close
from tcformal.programs.chain import OperandNodes, chained_dot, declare_inputs
from tcformal.proofs.claim import Asking, ClaimPart, Counterexample, Finding, PartStatus, counterexample
from tcformal.proofs.claims.agreement import bounded_if_needed, built, counted
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.tactics.counts.same_counts import CountedCall
from tcformal.query.assume import assume_of_unit
from tcformal.query.nearest import VECTORS
from tcformal.query.pair import SIDES


def order_within(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """The products of a unit in another order, within a spread of exponents.

    Soundness: as of `agreement`, the second unit being the same one on the operands in another order, whose
    terms are the same.  Exchanging the first two products and moving all on by one place, done again and
    again, make every order; assumptions and spread are the same of operands in any order.
    """
    spec, k, what = ask.spec, ask.spec.k, ask.assumed
    if spec.scale_format is not None or k < 2:
        raise InputError(
            f"expected products without scales for an order within a spread, but got {spec.name}"
        )
    orders = {
        "products 0 and 1 exchanged": [1, 0, *range(2, k)],
        "all products moved by one place": [*range(1, k), 0],
    }
    parts, lemmas = [], list[Lemma]()
    for name, order in orders.items():
        witness = _order_shown(ask, order)
        if witness is not None:
            parts.append(ClaimPart(name=name, status=PartStatus.VIOLATED, witness=witness))
            continue

        def attempt(
            bounded: bool, name: str = name, order: Sequence[int] = order
        ) -> tuple[ClaimPart, list[Lemma]]:
            x, (dot,), c = built(ask, None, what)
            with c.graph.scope(SIDES[1]):
                moved = chained_dot(c.graph, spec, _in_order(x, order))
            calls = [
                CountedCall("A", spec, dot),
                CountedCall("A in another order", spec, moved, tuple(order)),
            ]
            return counted(ask, c, x, calls, what, name, bounded)

        part, more = bounded_if_needed(what, attempt)
        parts.append(part)
        lemmas += more
    text = " and ".join(what.texts())
    refuted = [p.name for p in parts if p.status is PartStatus.VIOLATED]
    return Finding(
        parts=tuple(parts),
        composition=(
            "" if refuted
            else f"an exchange and a move by one place, which make every order, change no result: {text}"
        ),
        reason=f"no order of the {k} products changes the result: {text}",
        violated=f"the order matters, {' and '.join(refuted)}: {text}",
    ), lemmas  # fmt: skip


def _in_order(x: OperandNodes, order: Sequence[int]) -> OperandNodes:
    return replace(x, a=[x.a[k] for k in order], b=[x.b[k] for k in order])


def _order_shown(ask: Asking, order: Sequence[int]) -> Counterexample | None:
    """Operands that obey the assumptions and whose result is another in this order, among seeded vectors."""
    spec, what, g = ask.spec, ask.assumed, Graph()
    x = declare_inputs(g, spec, spec.k)
    dots = []
    for side, inputs in zip(SIDES, (x, _in_order(x, order)), strict=True):
        with g.scope(side):
            dots.append(chained_dot(g, spec, inputs))
    differ = g.and_(assume_of_unit(g, what, spec, x), g.not_(g.eq(*(dot.result for dot in dots))))
    tried = close(spec, spec.k, VECTORS, ask.limits.seed, what.spread or 0, what.exponents)
    if what.c is not None:
        tried.c[:] = what.c
    (found,) = Vector(g, columns(tried)).run([differ])
    for row in np.flatnonzero(np.broadcast_to(found, (VECTORS,))):
        w = witness_at(tried, int(row))
        other = replace(w, a=tuple(w.a[k] for k in order), b=tuple(w.b[k] for k in order))
        return counterexample((spec, w), (spec, other), "vectors")
    return None
