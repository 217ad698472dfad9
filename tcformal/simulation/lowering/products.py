"""Products of one operand of each side, recognised among the terms of a stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.backends.lanes import Code, LaneValue, lane_for
from tcformal.backends.llvm import Lowering
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.stages import AlignedTerm, Maximum
from tcformal.simulation.kernels.cut import sides_of
from tcformal.simulation.kernels.lowering import LoweringRules


@dataclass(frozen=True, slots=True)
class Affine:
    """A sum of nodes and a constant, without wrap-around."""

    atoms: tuple[Node, ...]
    constant: int


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor of a product: sign, significand and exponent of an operand.

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
    """A term that is a product of two factors; exponents count from the tree's lowest one."""

    term: AlignedTerm
    factors: tuple[Factor, Factor]
    #: With which exponent a zero product takes part; None for its own.
    zero_code: int | None

    @property
    def low(self) -> int:
        """The least exponent of a nonzero product."""
        return sum(x.low for x in self.factors)

    @property
    def high(self) -> int:
        """The largest exponent of a product."""
        return sum(x.high for x in self.factors)


class Reader:
    """Known facts about the nodes of one dot product: bounds, and the sides that they depend on."""

    def __init__(self, graph: Graph, root: Node, ways: LoweringRules) -> None:
        self._ways = ways
        _, self._sides = sides_of(graph, root, {})
        whole = {x.index: LaneValue("%x", 0, (1 << x.width) - 1, lane_for(0, (1 << x.width) - 1))
                 for x in graph.inputs.values()}  # fmt: skip
        code = Code(1, "x")
        values = {i: code.as_truth(x) if x.high == 1 else x for i, x in whole.items()}
        self._bounds = Lowering(graph, code, values)

    def holds(self, node: Node) -> bool:
        """Whether a node is part of the dot product."""
        return node.index in self._sides

    def range(self, node: Node) -> tuple[int, int]:
        """The least and the largest value of a node over all inputs."""
        value = self._bounds.value_of(node)
        return (value.low, value.high) if value.low >= 0 else (0, (1 << node.width) - 1)

    def _side(self, node: Node) -> frozenset[str]:
        return self._sides.get(node.index, frozenset("abc"))

    def _affine(self, node: Node) -> Affine:
        """A node as a sum of nodes that depend on one side or are no sums themselves."""
        if node.op == "const":
            return Affine((), node.params[1])
        if len(self._side(node)) == 1:
            return Affine((node,), 0)
        if node.op == "zero_extend":
            return self._affine(node.args[0])
        if node.op == "extract" and node.params[1] == 0 and self.range(node.args[0])[1] >> node.width == 0:
            return self._affine(node.args[0])
        if node.op == "add_mod":
            one, other = node.args
            if other.op == "const":
                one, other = other, one
            ranges = self.range(one), self.range(other)
            if not (ranges[0][1] + ranges[1][1]) >> node.width:
                x, y = self._affine(one), self._affine(other)
                return Affine(x.atoms + y.atoms, x.constant + y.constant)
            back = (1 << node.width) - ranges[0][0]
            if one.op == "const" and ranges[1][0] >= back:
                x = self._affine(other)
                return Affine(x.atoms, x.constant - back)
        return Affine((node,), 0)

    def product(self, term: AlignedTerm, leaf: Maximum) -> Product | None:
        """The product that a term is; None unless each factor depends on one side only."""
        t, of = term.term, self._ways.of
        if len(t.factors) != 2:
            return None
        parts = [of(x) for x in t.factors]
        sides = [self._side(x) for x in parts]
        if sorted("".join(x) for x in sides) != ["a", "b"]:
            return None
        signs, zeros = flattened(of(t.sign), "xor"), flattened(of(t.zero), "or_")
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
        factors: list[Factor] = []
        for significand, side in zip(parts, sides, strict=True):
            atoms = tuple(x for x in exponent.atoms if self._side(x) == side)
            constant = exponent.constant if not factors else 0
            ranges = [self.range(x) for x in atoms]
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


def leaves(x: Maximum) -> list[Maximum]:
    """The exponents under a maximum, in the order of their terms."""
    return [x] if not x.halves else [leaf for half in x.halves for leaf in leaves(half)]


def flattened(node: Node, op: str) -> list[Node]:
    """The operands of nested operators `op`, flattened; none for the constant 0."""
    if node.op == op:
        return [x for arg in node.args for x in flattened(arg, op)]
    return [] if node.op == "const" and node.params[1] == 0 else [node]


def raised_by(aligned: Node, shift: Node, factors: Sequence[Node]) -> int | None:
    """The left shift of a product before its alignment shift, in bits; None for any other term."""
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
