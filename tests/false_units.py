"""Units with a fault in their products or their sums, as monkeypatched definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics import align, reduce
from tcformal.semantics import product as product_of
from tcformal.semantics.number import Exponent, Number, Term


def _and_for_xor(patch: pytest.MonkeyPatch) -> None:
    """The sign of a product is minus only where both are."""
    real = product_of.product

    def product(g: Graph, a: Number, b: Number) -> Number:
        made = real(g, a, b)
        return replace(made, term=replace(made.term, sign=g.and_(a.term.sign, b.term.sign)))

    patch.setattr("tcformal.semantics.mma.product", product)


def _raised(by: int) -> Callable[[pytest.MonkeyPatch], None]:
    """e_max is too large by so much."""

    def fault(patch: pytest.MonkeyPatch) -> None:
        real = align.largest

        def largest(g: Graph, exponents: Sequence[Exponent]) -> Any:
            e, tree = real(g, exponents)
            top = g.const(e.high - e.low, e.bits.width + 1)
            more = g.add_mod(g.zero_extend_to(e.bits, top.width), g.const(by, top.width))
            return Exponent(g.extract(g.umin(more, top), e.bits.width - 1, 0), e.low, e.high), tree

        patch.setattr("tcformal.semantics.sums.step.largest", largest)

    return fault


def _dropped(patch: pytest.MonkeyPatch) -> None:
    """The first product is lost."""
    _aligned(patch, lambda g, t, x: (t, g.const(0, x.width)))


def _negative(patch: pytest.MonkeyPatch) -> None:
    """The first product is subtracted."""
    _aligned(patch, lambda g, t, x: (replace(t, sign=g.not_(t.sign)), x))


def _aligned(patch: pytest.MonkeyPatch, changed: Callable[[Graph, Term, Node], tuple[Term, Node]]) -> None:
    real = reduce.sum_of_aligned

    def sum_of_aligned(g: Graph, terms: Sequence[Term], aligned: Any, *rest: Any) -> Any:
        (shift, kept), *others = aligned
        term, kept = changed(g, terms[0], kept)
        return real(g, [term, *terms[1:]], [(shift, kept), *others], *rest)

    patch.setattr("tcformal.semantics.sums.step.sum_of_aligned", sum_of_aligned)


FAULTS = {
    "and for xor": _and_for_xor,
    "e_max + 1": _raised(1),
    "e_max + 3": _raised(3),
    "a dropped product": _dropped,
    "a wrong sign": _negative,
}
