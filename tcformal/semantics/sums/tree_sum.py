"""One dot product with a summation tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tcformal.design.spec import Design, Operands
from tcformal.design.trees.tree import Step, Tree
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.mma import (
    WHOLE,
    DotPlace,
    check_dot,
    check_nans,
    factors_nans,
    flushed_product,
    nan_of,
    negated,
    result_format,
)
from tcformal.semantics.pack import converted_word, pack
from tcformal.semantics.product import Scales, scaled_products
from tcformal.semantics.special import Addend, Carried, flush, limit_product, positive_zero, tree_nans
from tcformal.semantics.stages import Dot, DotStep, Operand
from tcformal.semantics.sums.block import Summation
from tcformal.semantics.unpack import unpack


def tree_dot(
    g: Graph,
    tree: Tree,
    design: Design,
    stages: Mapping[str, Design],
    formats: Operands,
    a: Sequence[Node],
    b: Sequence[Node],
    c: Node,
    place: DotPlace = WHOLE,
    scales: Scales | None = None,
) -> Dot:
    """The dot product d = Σ a_k·b_k + c in a tree's order, each sum with its stage's design.

    Shapes: a, b: tree.k raw encodings, and scales of them; c and the result as in `dot`; `design` is that of
    the products and of c, `stages` those of the sums, by stage; `place`: what the products and c are called.
    Ranges and units: a sum is rounded by its stage's conversion and goes on as a number, not as an encoding.
    Zero, NaN, Inf: as `fused_sum`; a subnormal result counts, as an operand of the next sum, as c does.
    Errors: as `dot`.
    """
    check_dot(stages[tree.root.stage], formats, len(a), len(b), scales)
    check_nans(tree.nan_rule, formats)
    return _TreeDot(g, tree, design, stages, formats, place, scales).run(a, b, c)


class _TreeDot:
    """A builder of one dot product: its products, and the sums so far."""

    def __init__(
        self, g: Graph, tree: Tree, design: Design, stages: Mapping[str, Design], formats: Operands,
        place: DotPlace, scales: Scales | None,
    ) -> None:  # fmt: skip
        self.g, self.tree, self.design, self.stages, self.formats = g, tree, design, stages, formats
        self.place, self.scales = place, scales
        self.steps: list[DotStep] = []

    def run(self, a: Sequence[Node], b: Sequence[Node], c: Node) -> Dot:
        """Build all sums in postorder."""
        g, d = self.g, self.formats.d
        self.words = list(zip(a, b, strict=True))
        number = unpack(g, c, self.design.reading(self.formats.c))
        self.word = g.const(self.design.nan_word, d.width)
        word = nan_of(g, self.tree.nan_rule, self.design.nan_word, self.formats, c)
        self.c = Carried(number, word, self.place.c)
        last = self._sum(self.tree.root, self.place.made or Operand("block", number=0))
        d = result_format(self.stages[self.tree.root.stage], d)
        return Dot(pack(g, last.number, d, last.nan_word), tuple(self.steps))

    def _product(self, k: int) -> Addend:
        g, design, o = self.g, self.design, self.formats
        x, y = words = self.words[k]
        if (wide := self.tree.converted) is not None:
            with g.scope(f"converted.a{k}"):
                x = converted_word(g, x, o.a, wide)
            with g.scope(f"converted.b{k}"):
                y = converted_word(g, y, o.b, wide)
            o = replace(o, a=wide, b=wide)
        exact = flushed_product(g, design, o, x, y, k)
        if design.subtracts(k):
            exact = negated(g, exact)
        if self.scales is not None:
            (exact,) = scaled_products(g, [exact], self.scales, k)
        exact = limit_product(g, exact, design.product_limit)
        named = Operand("products", (k if self.place.ks is None else self.place.ks[k],))
        nans = () if self.tree.nan_rule == "word" else factors_nans(g, self.formats, named, words)
        addend = Addend(exact, nans, named)
        if design.product_rounding is None:
            return addend
        return Summation(g, design, o.d, steps=self.steps).rounded_product(k, addend)

    def _sum(self, step: Step, made: Operand | None = None) -> Carried:
        """Build one sum after its operands, named after them unless `made` is given."""
        g, design = self.g, self.stages[step.stage]
        inner = {child: self._sum(child) for child in step.children if isinstance(child, Step)}
        parts = [self._operand(step, child, design, inner) for child in step.children]
        if made is None:
            named = [x.operand for x in parts if x.operand.kind != "zero"]
            made = Operand("tree", of=tuple(y for x in named for y in x.of or (x,)))
        with g.scope(f"sum{len(self.steps)}"):
            rule = self.tree.nan_rule
            nans = () if rule == "word" else tree_nans(rule, parts)
            sums = Summation(g, design, self.formats.d, steps=self.steps)
            return sums.sum(parts, design.conversion, made, self.word, nans, step.c_place)

    def _operand(
        self, step: Step, child: int | str | Step, design: Design, inner: Mapping[Step, Carried]
    ) -> Addend | Carried:
        """An operand of a sum: a product, an inner sum, c, or a +0 in the result format."""
        if isinstance(child, int):
            return self._product(child)
        if child == "zero":
            target = design.rho
            zero = positive_zero(self.g, target.fraction_bits, target.e_min)
            return Carried(zero, self.word, Operand("zero"))
        total = inner[child] if isinstance(child, Step) else self.c
        if isinstance(child, Step) and not self.stages[child.stage].normalised:
            if design.fraction_bits is not None:
                return total
            term = total.number.term
            valued = replace(term, zero=self.g.is_zero(term.significand))
            return replace(total, number=replace(total.number, term=valued))
        if isinstance(child, Step) and self._flushed_before(step, child):
            return total
        return replace(total, number=flush(self.g, total.number, self.design.c_subnormals))

    def _flushed_before(self, step: Step, child: Step) -> bool:
        """Whether an inner sum needs no flush: it is never subnormal, and not a c between blocks.

        Such a result is flushed again, as blocks do it, so that a design and its tree are one circuit.
        """
        results: object = self.design.result_subnormals  # a parameter that is open is none of these words
        if not isinstance(results, str) or results != "signed_zero":
            return False
        products = any(isinstance(x, int) for x in step.children)
        return products or not any("c" in x.children for x in child.steps())
