"""Inputs within a spread on which a sum of a unit is not that of its terms, so that no proof can count it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.interp.vector import Vector
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.ops import signed
from tcformal.operands.batch import columns
from tcformal.operands.spread import close
from tcformal.programs.chain import OperandNodes
from tcformal.query.assume import Assumptions, assume_of_unit
from tcformal.query.spread import Gaps, gaps_of
from tcformal.semantics.number import Exponent, Term
from tcformal.semantics.stages import Dot, DotStep, Operand

#: Dot products that are drawn, and how many of those that obey the assumptions are looked at.
_DRAWN, _SEEN = 2048, 256


def lost_at(
    g: Graph, spec: UnitSpec, x: OperandNodes, dots: Sequence[Dot], what: Assumptions, seed: int
) -> str:
    """Why no proof can count the sums of these dot products; empty where no vector shows that.

    Soundness: nothing is proved by it.  A sum that is counted is that of its terms on every input; so is
    what is rounded from it, unless it is the last one.
    """
    tried = close(spec, len(x.a), _DRAWN, seed, what.spread or 0, what.exponents)
    if what.c is not None:
        tried.c[:] = what.c
    holds = np.broadcast_to(Vector(g, columns(tried)).run([assume_of_unit(g, what, spec, x)])[0], (_DRAWN,))
    rows = np.flatnonzero(holds)[:_SEEN]
    if not rows.size:
        return ""
    gaps, inputs = gaps_of(g, spec, x), {name: column[rows] for name, column in columns(tried).items()}
    for dot in dots:
        seen = _Seen(g, inputs, len(rows), _least(gaps, list(dot.steps)))
        where = seen.first_lost(gaps, list(dot.steps))
        if where:
            return (
                f"expected sums that are those of their terms, but {where} is another on inputs within "
                f"spread {what.spread}, {len(rows)} of which were tried"
            )
    return ""


def _least(gaps: Gaps, steps: Sequence[DotStep]) -> int:
    """The exponent of a unit of which every term, sum and result is a multiple."""
    terms = [x.number.term for x in gaps.terms] + [s.specials.result.term for s in steps if s.specials]
    lows = [x.exponent.low - x.fraction_bits for x in terms]
    return min([*lows, *(s.total.lsb.low for s in steps if s.total)])


class _Seen:
    """Exact values on some inputs: arrays of integers in units of 2^`least`, which divides all of them."""

    def __init__(self, g: Graph, inputs: Mapping[str, np.ndarray], n: int, least: int) -> None:
        self.g, self.inputs, self.n, self.least = g, inputs, n, least

    def _run(self, *nodes: Node) -> list[np.ndarray]:
        found = Vector(self.g, self.inputs).run(list(nodes))
        return [np.broadcast_to(x, (self.n,)).astype(object) for x in found]

    def _scaled(self, magnitude: np.ndarray, code: np.ndarray, e: Exponent, fraction_bits: int) -> np.ndarray:
        scaled: np.ndarray = magnitude << (code + (e.low - fraction_bits - self.least))
        return scaled

    def term(self, x: Term) -> np.ndarray:
        """The value of a finite number."""
        sign, significand, code = self._run(x.sign, x.significand, x.exponent.bits)
        return self._scaled(np.where(sign, -significand, significand), code, x.exponent, x.fraction_bits)

    def first_lost(self, gaps: Gaps, steps: Sequence[DotStep]) -> str:
        """The first step whose sum is not that of what it adds, or, but for the last, is rounded."""
        *products, c = [self.term(x.number.term) for x in gaps.terms]
        sums: dict[Operand, np.ndarray] = {}
        for step in steps:
            exact = np.zeros(self.n, dtype=object)
            for operand in dict.fromkeys(step.operands):
                if operand.kind == "products":
                    exact = exact + sum(products[k] for k in operand.ks)
                elif operand.kind != "zero":
                    if operand.kind != "c" and operand not in sums:
                        return ""
                    exact = exact + (c if operand.kind == "c" else sums[operand])
            sums[step.made] = exact
            if step.total is not None:
                bits, code = self._run(step.total.bits, step.total.e_max.bits)
                width = step.total.bits.width
                counts = np.array([signed(x, width) for x in bits], dtype=object)
                if np.any(self._scaled(counts, code, step.total.e_max, step.total.fraction_bits) != exact):
                    return step.scope
            if step.specials is not None and step is not steps[-1]:
                result = step.specials.result
                if np.any(self._run(result.inf)[0]) or np.any(self.term(result.term) != exact):
                    return step.scope
        return ""
