"""Terms that are sums: a group of products, exactly added up and scaled as a whole."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET, exponent_code
from tcformal.proofs.statements.grouped_bound import StatedGroup
from tcformal.proofs.tactics.bounds.blocks import BoundProof
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.summed import Addition
from tcformal.proofs.tactics.bounds.terms import KnownTerm, shown_value, sign_of, weight
from tcformal.semantics.number import Exponent, Term
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import GroupSum, Operand, PartialSum, Total


@dataclass(frozen=True, slots=True)
class PlacedProduct:
    """A product in the units of its group; `value` is the theorem that ±aligned is its value in them."""

    sign: Node
    aligned: Node
    most: int
    small: int
    value: int


class GroupBoundProof(BoundProof):
    """The proof about a sum whose terms are groups of products."""

    def _summand(self, x: Operand, term: Term) -> KnownTerm:
        if x.kind != "products":
            return super()._summand(x, term)
        (block,) = self.dot.blocks
        groups = [t for t in self.stated.terms if isinstance(t, StatedGroup)]
        j = next((i for i, t in enumerate(groups) if t.ks == x.ks), None)
        if j is None or len(block.groups) != len(groups):
            raise ProofError("the block's groups are not those of the statement")
        shown = group_value(self.d, block.groups[j], groups[j], term)
        t = groups[j]
        return KnownTerm(t.value, (), term, t.code, t.nonzero, self._limited(j), shown=shown)


def group_value(d: Derivation, summed: GroupSum, stated: StatedGroup, term: Term) -> int:
    """The exact sum of a group, with its scales, is ±significand · 2^(exponent - fraction bits)."""
    g, unit = d.g, Poly.constant(-summed.scale).power_of_two()
    if len(summed.terms) != len(stated.members):
        raise ProofError("a group has other products than the statement")
    products = [
        _placed(
            d, KnownTerm(m.value, m.factors, t, exponent_code(g, list(m.factors)), m.nonzero, 0), x, summed
        )
        for m, t, x in zip(stated.members, summed.terms, summed.placed, strict=True)
    ]
    total = Addition(d, _as_total(d, summed), products).value()
    if term.sign is not total.sign:
        raise ProofError("the sign of a group is not that of its sum")
    scale = Poly.constant(1)
    for x in stated.factors:
        scale = scale * x.value
    goal = stated.value - sign_of(term.sign) * Poly.of(term.significand) * weight(
        stated.code, term.fraction_bits
    )
    leaves = [total.magnitude, *(x.significand for x in stated.factors)]
    equations = d.expanded(term.significand, leaves, "a product")
    equations += d.expanded(stated.code, [x.exponent for x in stated.factors], "an exponent")
    parts: list[Part] = [(scale * unit * -1, [i]) for i in (total.equation, *(p.value for p in products))]
    return d.prove(goal, equations, parts)


def _placed(d: Derivation, x: KnownTerm, placed: Node, group: GroupSum) -> PlacedProduct:
    """One product of a group."""
    g, t = d.g, x.term
    if placed.op != "shl_mod":
        raise ProofError("a product of a group is not placed by a shift")
    wide, up = placed.args
    offset = g.const(OFFSET + t.fraction_bits - group.scale, CODE_BITS)
    code = g.add_mod(g.zero_extend_to(up, CODE_BITS), offset)
    met = d.equal("where a product of a group stands", x.code, code)
    equations = d.expanded(code, [up], "an exponent")
    distance = d.prove(
        Poly.of(x.code) - Poly.of(up) - Poly.constant(OFFSET + t.fraction_bits - group.scale),
        [(met, x.code), *equations],
    )
    kept = d.lemma("that a product fits its group", g.eq(g.lshr(placed, up), wide))
    # ±placed = value · 2^scale
    value = shown_value(d, x, "a product of a group")
    scale = Poly.constant(group.scale).power_of_two()
    goal = sign_of(t.sign) * Poly.of(placed) - x.value * scale
    reads = [(d.read(placed, kept), placed)]
    if wide is not t.significand:
        reads.append((d.read(wide), wide))
    shown = d.prove(goal, [*reads, (distance, x.code)], [(scale * -1, [value])])
    most = (1 << placed.width) - 1
    top = g.const(most, placed.width)
    small = d.lemma("the range of a node", g.ule(placed, top), (), ([placed],))
    return PlacedProduct(t.sign, placed, most, small, shown)


def _as_total(d: Derivation, group: GroupSum) -> Total:
    """A group's sum with its partial sums, from the leaves to the root."""
    g, width = d.g, group.total.width
    leaves = {
        g.wrap_to_mod(signed_magnitude(g, t.sign, x), width)
        for t, x in zip(group.terms, group.placed, strict=True)
    }
    found: dict[Node, PartialSum] = {}

    def walk(node: Node) -> None:
        if node in leaves or node in found:
            return
        if node.op != "add_mod":
            raise ProofError("the sum of a group is not made of its products")
        for x in node.args:
            walk(x)
        found[node] = PartialSum(node, node.args)

    walk(group.total)
    return Total(group.total, Exponent(g.const(0, 1), 0, 0), group.scale, partials=tuple(found.values()))
