"""Sums of aligned products on floats: a product is a float's, its cut the conversion to an integer.

A product of signed significands of at most 24 bits in all is exact in binary32, and so is its product with a
power of two; the conversion to an integer truncates as alignment does.  No step rounds: a number below the
normal range is less than 1 and becomes 0, rounded or flushed, so that the processor's rounding mode has no
effect.  The conditions follow from static bounds of significands and exponents; a sum that violates them
keeps its operators.

Most designs give zero products a fixed exponent.  If it never decides the maximum, because another term is at
least as large or all exponents lie above it, the exponent of a zero operand is set so low that no product
with it decides the maximum, and no selection is needed.  Exponents are compared two or four at a time
(`quarters`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tcformal.backends.lanes import Code, LaneValue
from tcformal.encodings.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import Dot, Maximum, Total
from tcformal.simulation.kernels.lowering import LoweringRules
from tcformal.simulation.lowering import encoded, packed, placed
from tcformal.simulation.lowering.encoded import EncodedOperands
from tcformal.simulation.lowering.packed import HALF
from tcformal.simulation.lowering.placed import BIAS, FIELD
from tcformal.simulation.lowering.products import Factor, Product, Reader, leaves, raised_by
from tcformal.simulation.lowering.quarters import add_largest, in_bytes
from tcformal.simulation.lowering.special import add_special

#: Bits of a significand of binary32.
_PRECISION = 24
#: Magnitudes that a conversion to a signed integer of 32 bits takes.
_LARGEST = (1 << 31) - 1
#: The exponent of the least factors of floats that have their exponents and are no halves.
_LEAST = -30


def add_aligned(
    graph: Graph,
    root: Node,
    stages: Dot,
    formats: Mapping[str, Format],
    ways: LoweringRules,
    wide: Format | None = None,
) -> None:
    """Add lowering rules for the sums of aligned products among the stages of a dot product.

    Shapes: `formats`: of the inputs' encodings, by side; `wide`: the one that all are converted to, or None.
    """
    sums = _Sums(graph, root, EncodedOperands(graph, ways, formats, wide), ways)
    add_special(graph, formats, ways, wide)
    for step in stages.steps:
        if step.total is not None and step.total.maximum is not None:
            sums.add(step.total, step.total.maximum)


class _Sums:
    """A builder of the rules for sums of aligned products in one dot product."""

    def __init__(self, graph: Graph, root: Node, encodings: EncodedOperands, ways: LoweringRules) -> None:
        self._graph, self._ways, self._reader = graph, ways, Reader(graph, root, ways)
        self._encodings = encodings

    def add(self, total: Total, maximum: Maximum) -> None:
        """Add the rules of one sum where its conditions hold."""
        found = leaves(maximum)
        if len(found) != len(total.terms):
            return
        products: list[Product] = []
        others: list[Node] = []
        for term, leaf in zip(total.terms, found, strict=True):
            product = self._reader.product(term, leaf)
            if product is None:
                others.append(self._ways.of(leaf.code))
            else:
                products.append(product)
        codes = {x.zero_code for x in products if x.zero_code is not None}
        if any(max(abs(x.low), abs(x.high)) >> (HALF - 3) for x in products):
            return
        if not products or any(not self._reader.holds(x) for x in others):
            return
        floor: int | None = None
        if codes and not any(self._reader.range(x)[0] >= max(codes) for x in others):
            # Nothing else keeps zero products from deciding: their exponent does, where no other is below it.
            if len(codes) > 1 or max(codes) > min(x.low for x in products):
                return
            floor = max(codes)
        e_max = self._ways.of(maximum.code)
        exponents = {id(x): self._exponents(x) for x in products}
        apart = in_bytes(products, self._encodings, self._reader)
        if apart is not None:
            add_largest(e_max, apart, [*others], floor, self._ways)
            whole = {id(x): exponents[id(y)] for x, y in zip(apart.products, products, strict=True)}
            self._terms(e_max, apart.products, self._powers(e_max, [], apart.products, whole), apart.shared)
            return
        pairs = list(zip(products[0::2], products[1::2], strict=False))
        sums = [self._added(x, y, exponents) for x, y in pairs]
        self._largest(e_max, sums, products, exponents, others, floor)
        self._terms(e_max, products, self._powers(e_max, sums, products, exponents))

    def _exponents(self, x: Product) -> tuple[Node, Node]:
        """Each factor's exponent; that of a zero is so low that no product with it decides the maximum."""
        most = _beyond(x)
        exponents = []
        for factor in x.factors:
            zeros = factor.zeros if x.zero_code is not None else ()
            n = len(zeros)

            def emit(
                code: Code, given: Sequence[LaneValue], n: int = n, factor: Factor = factor, low: int = -most
            ) -> LaneValue:
                value = placed.added(code, given[n:], factor.exponent.constant)
                for zero in given[:n]:
                    value = code.select(zero, code.const(low), value, min(low, value.low), value.high)
                return value

            exponents.append(self._ways.derive([*zeros, *factor.exponent.atoms], emit))
        return exponents[0], exponents[1]

    def _largest(
        self,
        e_max: Node,
        sums: Sequence[Node],
        products: Sequence[Product],
        exponents: dict[int, tuple[Node, Node]],
        others: Sequence[Node],
        floor: int | None,
    ) -> None:
        """Add the rule for the largest exponent: a packed maximum without selection for zero products."""
        n = len(sums)
        alone = products[2 * n :]
        high = max(x.high for x in products)

        def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
            values = packed.largest(code, list(given[:n]), HALF)
            rest = given[n:]
            for _ in alone:
                values.append(placed.plus(code, rest[0], rest[1]))
                rest = rest[2:]
            values += rest
            if floor is not None:
                values.append(code.const(floor))
            found = placed.largest(code, values)
            return replace(found, high=max(high, *(x.high for x in rest), floor or 0))

        needs = [*sums, *(y for x in alone for y in exponents[id(x)]), *others]
        self._ways.add(e_max, needs, emit)

    def _added(self, x: Product, y: Product, exponents: dict[int, tuple[Node, Node]]) -> Node:
        """The exponents of two products, packed in halves."""
        sides = [self._packed(x, y, side, exponents) for side in (0, 1)]
        return self._ways.derive(sides, lambda code, given: packed.combined(code, "add", HALF, *given))

    def _powers(
        self,
        e_max: Node,
        sums: Sequence[Node],
        products: Sequence[Product],
        exponents: dict[int, tuple[Node, Node]],
    ) -> Callable[[Product, int], Node]:
        """The power 2^(raised - e_max + exponent) of each product as a float, packed in pairs where halves
        fit."""
        _, top = self._reader.range(e_max)
        most = top + BIAS + FIELD + max(2 * _beyond(x) for x in products)
        place = {id(x): i for i, x in enumerate(products)}
        made: dict[tuple[int, int], Node] = {}

        def power(x: Product, raised: int) -> Node:
            pair, half = divmod(place[id(x)], 2)
            if pair >= len(sums) or most >> (HALF - 1):
                return self._ways.derive([e_max, *exponents[id(x)]], placed.power(raised))
            if (raised, -1) not in made:
                made[raised, -1] = self._ways.derive([e_max], placed.below(raised))
            if (raised, pair) not in made:
                made[raised, pair] = self._ways.derive([made[raised, -1], sums[pair]], placed.fields)
            return self._ways.derive([made[raised, pair]], placed.power_of_half(half))

        return power

    def _packed(self, x: Product, y: Product, side: int, exponents: dict[int, tuple[Node, Node]]) -> Node:
        """The exponents of one factor of each of two products, packed; read off the encodings if possible."""
        zeros = [None if p.zero_code is None else -_beyond(p) for p in (x, y)]
        factors = [p.factors[side] for p in (x, y)]
        words = [self._encodings.of(factor) for factor in factors]
        constants = [factor.exponent.constant for factor in factors]
        if words[0] is None or words[1] is None or words[0].fmt != words[1].fmt:
            return self._ways.derive((exponents[id(x)][side], exponents[id(y)][side]), packed.packed_halves)
        if constants[0] != constants[1] or zeros[0] != zeros[1]:
            return self._ways.derive((exponents[id(x)][side], exponents[id(y)][side]), packed.packed_halves)
        emit = packed.exponents(words[0].fmt, constants[0], zeros[0])
        return self._ways.derive((words[0].word, words[1].word), emit)

    def _lowest(self, x: Factor) -> int:
        """The exponent of the smallest numbers that a factor is converted to as a float."""
        word = self._encodings.of(x)
        if word is None or not encoded.as_half(word.fmt):
            return _LEAST
        return encoded.own_exponent(word.fmt) - x.exponent.constant + x.low

    def _float(self, x: Factor, exponent: int | None) -> Node:
        """A factor as a float: its signed significand, times 2^(`exponent` + its own) if an exponent is
        given."""
        word = self._encodings.of(x)
        if word is not None:
            emit = encoded.significand(word.fmt) if exponent is None else encoded.number(word.fmt, exponent)
            if emit is not None:
                return self._ways.derive((word.word,), emit)
        atoms = () if exponent is None else x.exponent.atoms
        return self._ways.derive([*x.signs, x.significand, *atoms], placed.number(len(x.signs), exponent))

    def _terms(
        self,
        e_max: Node,
        products: Sequence[Product],
        power: Callable[[Product, int], Node],
        shared: Sequence[Node] = (),
    ) -> None:
        """Add rules for the signed aligned terms that floats represent, with `shared` in every exponent."""
        scales: dict[int, Node] = {}
        for x in products:
            t = x.term
            aligned = self._ways.of(t.aligned)
            widths = [y.significand.width for y in x.factors]
            raised = raised_by(aligned, self._ways.of(t.shift), [y.significand for y in x.factors])
            if raised is None or sum(widths) > _PRECISION or raised > FIELD:
                continue
            most = ((1 << widths[0]) - 1) * ((1 << widths[1]) - 1)
            most = most << raised if raised >= 0 else most >> -raised
            if most > _LARGEST:
                continue
            signed = signed_magnitude(self._graph, self._ways.of(t.term.sign), aligned)
            # Exponents in the floats themselves where no number leaves the range: one power of two for all.
            lowest = [self._lowest(y) for y in x.factors]
            least = sum(lowest)
            inside = x.high - x.low + sum(widths) + least <= BIAS and raised - least <= BIAS
            spans = all(
                y.high - y.low + y.significand.width + low <= BIAS
                for y, low in zip(x.factors, lowest, strict=True)
            )
            own = inside and spans
            floats = [
                self._float(y, y.exponent.constant - y.low + low if own else None)
                for y, low in zip(x.factors, lowest, strict=True)
            ]
            both = self._ways.derive(floats, placed.product)
            if own:
                by = raised + x.low - least
                if by not in scales:
                    scales[by] = self._ways.derive([e_max, *shared], placed.power(by, whole=False))
                self._ways.add(signed, [both, scales[by]], placed.scaled(most))
            else:
                self._ways.add(signed, [both, power(x, raised)], placed.scaled(most))


def _beyond(x: Product) -> int:
    """A bound that exceeds the magnitude of every exponent of a product's factors."""
    return max(abs(y) for factor in x.factors for y in (factor.low, factor.high)) + 1
