"""Sums of aligned products on floats: a product is a float's, its cut the conversion to an integer.

A product of signed significands that together have at most 24 bits is exact in binary32, so is its product
with a power of two, and the conversion to an integer drops what alignment drops.  Nothing is rounded on the
way: a number that could lie below the normal ones is less than 1 and gives 0 however it is rounded or
flushed, so the processor's rounding mode means nothing here.  The conditions are computed from the bounds
of the significands and exponents; a sum for which they fail keeps its operators.

Zero products have an exponent of their own in most designs.  Where it never decides the largest one, because
another term is at least as large or it lies below every exponent, one zero operand's exponent is set so low
that no sum with it decides either, and no choice is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tcformal.interp.lanes import TRUTH, WORD, Code, LaneValue, lane_for
from tcformal.interp.llvm import Lowering
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.kernels.cut import sides_of
from tcformal.kernels.shortcuts import Emit, Shortcuts, as_float, as_word, float_kind
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import AlignedTerm, Dot, Maximum, Total

#: Of binary32: bits of a significand, bits of its fraction field, bias, largest exponent code of a number.
_PRECISION, _FIELD, _BIAS, _TOP = 24, 23, 127, 254
#: Bits of an exponent beside another one; a sum of two is far smaller.
_HALF = 16
#: Magnitudes that a conversion to a signed integer of 32 bits takes.
_LARGEST = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Affine:
    """A sum of nodes and a constant that holds in the integers."""

    atoms: tuple[Node, ...]
    constant: int


@dataclass(frozen=True, slots=True)
class Factor:
    """One operand's part in a product.

    Ranges and units: its exponent is the sum of the nodes of `exponent`, in [low, high]; `zeros` are truth
    values of which one is 1 where its significand is 0.
    """

    significand: Node
    signs: tuple[Node, ...]
    zeros: tuple[Node, ...]
    exponent: Affine
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Product:
    """A term that is a product of one operand of each side; exponents count from the tree's lowest one."""

    term: AlignedTerm
    factors: tuple[Factor, Factor]
    #: With which exponent a zero product takes part; None for its own.
    zero_code: int | None

    @property
    def low(self) -> int:
        """The least exponent that a product other than zero can have."""
        return sum(x.low for x in self.factors)

    @property
    def high(self) -> int:
        """The largest one."""
        return sum(x.high for x in self.factors)


def add_aligned(graph: Graph, root: Node, stages: Dot, ways: Shortcuts) -> None:
    """Shortcuts for the sums of aligned products among the stages of a dot product."""
    found = _Sums(graph, root, ways)
    for step in stages.steps:
        if step.total is not None and step.total.maximum is not None:
            found.add(step.total, step.total.maximum)


class _Sums:
    """What is known of the nodes of one dot product, and the shortcuts made of it."""

    def __init__(self, graph: Graph, root: Node, ways: Shortcuts) -> None:
        self._graph, self._ways = graph, ways
        _, self._sides = sides_of(graph, root, {})
        whole = {x.index: LaneValue("%x", 0, (1 << x.width) - 1, lane_for(0, (1 << x.width) - 1))
                 for x in graph.inputs.values()}  # fmt: skip
        code = Code(1, "x")
        known = {i: code.as_truth(x) if x.high == 1 else x for i, x in whole.items()}
        self._bounds = Lowering(graph, code, known)

    def add(self, total: Total, maximum: Maximum) -> None:
        """The shortcuts of one sum, where its conditions hold."""
        leaves = _leaves(maximum)
        if len(leaves) != len(total.terms):
            return
        products: list[Product] = []
        others: list[Node] = []
        for term, leaf in zip(total.terms, leaves, strict=True):
            product = self._product(term, leaf)
            if product is None:
                others.append(self._ways.of(leaf.code))
            else:
                products.append(product)
        codes = {x.zero_code for x in products if x.zero_code is not None}
        if any(max(abs(x.low), abs(x.high)) >> (_HALF - 3) for x in products):
            return
        if not products or any(x.index not in self._sides for x in others):
            return
        floor: int | None = None
        if codes and not any(self._range(x)[0] >= max(codes) for x in others):
            # Nothing else keeps zero products from deciding: their exponent does, where no other is below it.
            if len(codes) > 1 or max(codes) > min(x.low for x in products):
                return
            floor = max(codes)
        e_max = self._ways.of(maximum.code)
        exponents = {id(x): self._exponents(x) for x in products}
        self._largest(e_max, products, exponents, others, floor)
        self._terms(e_max, products, exponents)

    # ------------------------------------------------------------------ reading the records
    def _range(self, node: Node) -> tuple[int, int]:
        value = self._bounds.value_of(node)
        return (value.low, value.high) if value.low >= 0 else (0, (1 << node.width) - 1)

    def _side(self, node: Node) -> frozenset[str]:
        return self._sides.get(node.index, frozenset("abc"))

    def _affine(self, node: Node) -> Affine:
        """A node as a sum of nodes of one side, or of nodes that are no sums."""
        if node.op == "const":
            return Affine((), node.params[1])
        if len(self._side(node)) == 1:
            return Affine((node,), 0)
        if node.op == "zero_extend":
            return self._affine(node.args[0])
        if node.op == "extract" and node.params[1] == 0 and self._range(node.args[0])[1] >> node.width == 0:
            return self._affine(node.args[0])
        if node.op == "add_mod":
            one, other = node.args
            if other.op == "const":
                one, other = other, one
            ranges = self._range(one), self._range(other)
            if not (ranges[0][1] + ranges[1][1]) >> node.width:
                x, y = self._affine(one), self._affine(other)
                return Affine(x.atoms + y.atoms, x.constant + y.constant)
            back = (1 << node.width) - ranges[0][0]
            if one.op == "const" and ranges[1][0] >= back:
                x = self._affine(other)
                return Affine(x.atoms, x.constant - back)
        return Affine((node,), 0)

    def _product(self, term: AlignedTerm, leaf: Maximum) -> Product | None:
        """The product that a term is, where everything that it is made of belongs to one side."""
        t, of = term.term, self._ways.of
        if len(t.factors) != 2:
            return None
        parts = [of(x) for x in t.factors]
        sides = [self._side(x) for x in parts]
        if sorted("".join(x) for x in sides) != ["a", "b"]:
            return None
        signs, zeros = _spread(of(t.sign), "xor"), _spread(of(t.zero), "or_")
        exponent = self._affine(of(t.exponent.bits))
        code, own = of(leaf.code), t.exponent.low - leaf.low
        exponent = Affine(exponent.atoms, exponent.constant + own)
        zero_code = None
        if code.op != "const" and self._affine(code) != exponent:
            kept = self._affine(code)
            choice = kept.atoms[0] if len(kept.atoms) == 1 else code
            if choice.op != "ite" or choice.args[0] is not of(t.zero) or choice.args[1].op != "const":
                return None
            zero_code = choice.args[1].params[1] + kept.constant
        factors = []
        for significand, side in zip(parts, sides, strict=True):
            atoms = tuple(x for x in exponent.atoms if self._side(x) == side)
            constant = exponent.constant if not factors else 0
            ranges = [self._range(x) for x in atoms]
            factors.append(
                Factor(
                    significand, tuple(x for x in signs if self._side(x) == side),
                    tuple(x for x in zeros if self._side(x) == side), Affine(atoms, constant),
                    sum(x[0] for x in ranges) + constant, sum(x[1] for x in ranges) + constant,
                )
            )  # fmt: skip
        counted = [sum(len(getattr(x, part)) for x in factors) for part in ("signs", "zeros")]
        counted.append(sum(len(x.exponent.atoms) for x in factors))
        if counted != [len(signs), len(zeros), len(exponent.atoms)]:
            return None
        return Product(term, (factors[0], factors[1]), zero_code)

    # ------------------------------------------------------------------ shortcuts
    def _exponents(self, x: Product) -> tuple[Node, Node]:
        """Each factor's exponent, so low for a zero that no sum with it is above 0."""
        most = max(abs(y) for factor in x.factors for y in (factor.low, factor.high)) + 1
        made = []
        for factor in x.factors:
            zeros = factor.zeros if x.zero_code is not None else ()
            n = len(zeros)

            def emit(
                code: Code, given: Sequence[LaneValue], n: int = n, factor: Factor = factor, low: int = -most
            ) -> LaneValue:
                value = _sum(code, given[n:], factor)
                for zero in given[:n]:
                    value = code.select(zero, code.const(low), value, min(low, value.low), value.high)
                return value

            made.append(self._ways.derive([*zeros, *factor.exponent.atoms], emit))
        return made[0], made[1]

    def _largest(
        self,
        e_max: Node,
        products: Sequence[Product],
        exponents: dict[int, tuple[Node, Node]],
        others: Sequence[Node],
        floor: int | None,
    ) -> None:
        """The largest exponent: no choice is made for zero products, and two are added and compared at once."""
        pairs = list(zip(products[0::2], products[1::2], strict=False))
        alone = products[2 * len(pairs) :]
        packed = [
            self._ways.derive((exponents[id(x)][side], exponents[id(y)][side]), _packed)
            for x, y in pairs
            for side in (0, 1)
        ]
        n = len(pairs)
        high = max(x.high for x in products)

        def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
            values = _balanced(code, [_halves(code, "add", *given[2 * i : 2 * i + 2]) for i in range(n)])
            rest = given[2 * n :]
            for _ in alone:
                values.append(_plus(code, rest[0], rest[1]))
                rest = rest[2:]
            values += rest
            if floor is not None:
                values.append(code.const(floor))
            while len(values) > 1:
                level = [_larger(code, *values[i : i + 2]) for i in range(0, len(values) - 1, 2)]
                values = level + values[2 * len(level) :]
            return replace(values[0], high=max(high, *(x.high for x in rest), floor or 0))

        needs = [*packed, *(y for x in alone for y in exponents[id(x)]), *others]
        self._ways.add(e_max, needs, emit)

    def _terms(self, e_max: Node, products: Sequence[Product], exponents: dict[int, tuple[Node, Node]]) -> None:
        scales: dict[int, Node] = {}
        for x in products:
            t = x.term
            aligned = self._ways.of(t.aligned)
            widths = [y.significand.width for y in x.factors]
            raised = _raised(aligned, self._ways.of(t.shift), [y.significand for y in x.factors])
            if raised is None or sum(widths) > _PRECISION or raised > _FIELD:
                continue
            most = ((1 << widths[0]) - 1) * ((1 << widths[1]) - 1)
            most = most << raised if raised >= 0 else most >> -raised
            if most > _LARGEST:
                continue
            signed = signed_magnitude(self._graph, self._ways.of(t.term.sign), aligned)
            # Exponents in the floats themselves where no number leaves the range: one power of two for all.
            low = -60
            inside = x.high - x.low + sum(widths) + low <= _BIAS and raised - low <= _BIAS
            spans = all(y.high - y.low + y.significand.width + low // 2 <= _BIAS for y in x.factors)
            if inside and spans:
                floats = [self._float(y, low // 2) for y in x.factors]
                by = raised + x.low - low
                if by not in scales:
                    scales[by] = self._ways.derive([e_max], _power(by))
                needs = [*floats, scales[by]]
                self._ways.add(signed, needs, _scaled(most))
            else:
                floats = [self._float(y, None) for y in x.factors]
                power = self._ways.derive([e_max, *exponents[id(x)]], _power(raised))
                self._ways.add(signed, [*floats, power], _scaled(most))

    def _float(self, x: Factor, lowest: int | None) -> Node:
        """A factor's signed significand as a float, times 2^(exponent - low + lowest) unless that is None."""
        n = len(x.signs)

        def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
            value = given[n]
            for sign in given[:n]:
                minus = code.value(
                    code.binary("sub", code.const(0), value, WORD), -value.high, -value.low, WORD
                )
                largest = max(abs(value.low), abs(value.high))
                value = code.select(sign, minus, value, -largest, largest)
            text = code.operand(value, WORD)
            kind = float_kind(code, WORD)
            number = code.new(f"sitofp {code.kind(WORD)} {text} to {kind}")
            if lowest is not None:
                exponent = _sum(code, given[n + 1 :], x)
                field = _plus(code, exponent, code.const(_BIAS + lowest - x.low))
                up = code.binary("shl", field, code.const(_FIELD), WORD)
                power = as_float(code, LaneValue(up, 0, (1 << WORD) - 1, WORD))
                number = code.new(f"fmul {kind} {number}, {power}")
            return as_word(code, number, WORD)

        atoms = x.exponent.atoms if lowest is not None else ()
        return self._ways.derive([*x.signs, x.significand, *atoms], emit)


def _leaves(x: Maximum) -> list[Maximum]:
    """The exponents that are compared, in the order of their terms."""
    return [x] if not x.halves else [leaf for half in x.halves for leaf in _leaves(half)]


def _spread(node: Node, op: str) -> list[Node]:
    """The operands of nested operators of one kind; none for the constant 0."""
    if node.op == op:
        return [x for arg in node.args for x in _spread(arg, op)]
    return [] if node.op == "const" and node.params[1] == 0 else [node]


def _raised(aligned: Node, shift: Node, factors: Sequence[Node]) -> int | None:
    """By how many places a product is raised before it is shifted down and cut; None for any other term."""
    if aligned.op != "lshr" or aligned.args[1] is not shift:
        return None
    x, raised = aligned.args[0], 0
    if x.op == "concat" and x.args[1].op == "const" and x.args[1].params[1] == 0:
        x, raised = x.args[0], x.args[1].width
    elif x.op == "extract" and x.params[0] == x.args[0].width - 1:
        x, raised = x.args[0], -x.params[1]
    if x.op != "mul_expand" or {y.index for y in x.args} != {y.index for y in factors}:
        return None
    return raised


def _sum(code: Code, given: Sequence[LaneValue], x: Factor) -> LaneValue:
    value = code.const(x.exponent.constant)
    for y in given:
        value = _plus(code, value, y)
    return value


def _plus(code: Code, x: LaneValue, y: LaneValue) -> LaneValue:
    low, high = x.low + y.low, x.high + y.high
    if low == high:
        return code.const(low)
    return code.value(code.binary("add", x, y, WORD), low, high, WORD)


def _packed(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """Two numbers of 16 bits side by side."""
    low = code.binary("and", given[0], code.const((1 << _HALF) - 1), WORD)
    high = code.binary("shl", given[1], code.const(_HALF), WORD)
    return LaneValue(code.apply("or", WORD, low, high), 0, (1 << WORD) - 1, WORD)


def _halves(code: Code, name: str, x: LaneValue, y: LaneValue) -> LaneValue:
    """The sum, or the larger one, of both halves on their own."""
    kind, n = f"<{2 * code.lanes} x i{_HALF}>", code.kind(WORD)
    first, second = (code.new(f"bitcast {n} {v.text} to {kind}") for v in (x, y))
    if name == "add":
        made = code.new(f"add {kind} {first}, {second}")
    else:
        above = code.new(f"icmp slt {kind} {first}, {second}")
        made = code.new(f"select <{2 * code.lanes} x i1> {above}, {kind} {second}, {kind} {first}")
    return replace(x, text=code.new(f"bitcast {kind} {made} to {n}"))


def _balanced(code: Code, values: list[LaneValue]) -> list[LaneValue]:
    """The largest of the lower halves and that of the upper ones."""
    while len(values) > 1:
        level = [_halves(code, "max", *values[i : i + 2]) for i in range(0, len(values) - 1, 2)]
        values = level + values[2 * len(level) :]
    made = []
    for x in values:
        up = LaneValue(code.binary("shl", x, code.const(_HALF), WORD), x.low, x.high, WORD)
        for half in (up, x):
            text = code.apply("ashr", WORD, half.text, code.word(_HALF, WORD))
            made.append(LaneValue(text, -(1 << (_HALF - 1)), (1 << (_HALF - 1)) - 1, WORD))
    return made


def _larger(code: Code, x: LaneValue, y: LaneValue) -> LaneValue:
    low, high = max(x.low, y.low), max(x.high, y.high)
    first = LaneValue(code.operand(x, WORD), x.low, x.high, WORD)
    second = LaneValue(code.operand(y, WORD), y.low, y.high, WORD)
    above = LaneValue(code.relate("slt", WORD, first.text, second.text), 0, 1, TRUTH)
    return LaneValue(code.choose(above.text, WORD, second.text, first.text), low, high, WORD)


def _power(by: int) -> Emit:
    """2^(by - e_max + exponents) as a float: 0 where that is too small, 2^127 where it is too large."""

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        e_max, *exponents = given
        minus = _minus(code, code.const(_BIAS + by), e_max)
        for x in exponents:
            minus = _plus(code, minus, x)
        if exponents:
            # No product's exponent is above the largest one.
            minus = replace(minus, high=min(minus.high, _BIAS + by))
        if minus.low < 0:
            minus = _larger(code, minus, code.const(0))
        if minus.high > _TOP:
            below = code.compare("slt", minus, code.const(_TOP), WORD)
            minus = code.select(below, minus, code.const(_TOP), min(minus.low, _TOP), _TOP)
        up = code.binary("shl", minus, code.const(_FIELD), WORD)
        return LaneValue(up, 0, (1 << WORD) - 1, WORD)

    return emit


def _minus(code: Code, x: LaneValue, y: LaneValue) -> LaneValue:
    return code.value(code.binary("sub", x, y, WORD), x.low - y.high, x.high - y.low, WORD)


def _scaled(most: int) -> Emit:
    """The integer part of a product of two floats and a power of two, of a magnitude of at most `most`."""

    def emit(code: Code, given: Sequence[LaneValue]) -> LaneValue:
        kind = float_kind(code, WORD)
        a, b, power = (as_float(code, x) for x in given)
        both = code.new(f"fmul {kind} {a}, {b}")
        placed = code.new(f"fmul {kind} {both}, {power}")
        made = code.new(f"fptosi {kind} {placed} to {code.kind(WORD)}")
        return LaneValue(made, -most, most, WORD)

    return emit
