"""The plan of a unit of scaled groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Specials
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.semantics.align import effective_exponents
from tcformal.semantics.chain import chained_dot, declare_inputs
from tcformal.semantics.number import Number
from tcformal.semantics.reduce import signed_magnitude, split_sign
from tcformal.semantics.stages import (
    GroupSum,
)
from tcformal.semantics.unpack import unpack
from tcformal.theory.circuits import circuit_text, claims_text, name
from tcformal.theory.design import coq_design, coq_wide, wide_parameter
from tcformal.theory.formulas import (
    NEVER,
    Claim,
    Expr,
    all_of,
    choice,
    equal,
    integer_text,
    magnitude,
    make_claim,
    num,
    sg,
    u,
    within,
)
from tcformal.theory.plans.ending import Ending, tiny_otherwise
from tcformal.theory.plans.numbers import Factor, Shown, exponent_of, is_finite, total_to_round, word_claims
from tcformal.theory.plans.products import last_records
from tcformal.theory.plans.sticky import TermFront, ruled
from tcformal.theory.plans.written import ending_text, number_text
from tcformal.theory.stated_sum import operand_rules


@dataclass(frozen=True, slots=True)
class ScaledGroup:
    """A group of products, whose sum is scaled (`GroupUnit.v`, group_plan).

    `places`: the products of the nodes that are added; `low`: the sum counts units of 2^low; `bound`: the
    largest product; `size`, `scales`: nodes of significands, of the sum and of its scales.
    """

    words: tuple[tuple[Node, Node], ...]
    scale_words: tuple[Node, Node]
    total: Node
    places: Mapping[Node, int]
    low: int
    bound: int
    size: Node
    scales: tuple[Node, Node]
    number: Number

    def _bounded(self, node: Node) -> Expr:
        return within(self._bound(node), sg(node))

    def _bound(self, node: Node) -> int:
        return self.bound if node in self.places else sum(map(self._bound, node.args))

    def _tree_claims(self, node: Node, products: Sequence[Shown]) -> Iterator[Claim]:
        """`GroupUnit.v`, group_tree_claims."""
        if node in self.places:
            x = products[self.places[node]]
            up = x.exponent + (-x.fraction_bits - self.low)
            size = x.significand << up
            yield make_claim([], up >= 0)
            yield make_claim([], equal(sg(node), choice(x.neg, 0 - size, size)))
            yield make_claim([], within(self.bound, sg(node)))
            return
        a, b = node.args
        yield make_claim([self._bounded(a), self._bounded(b)], equal(sg(node), sg(a) + sg(b)), [a, b])
        yield from self._tree_claims(a, products)
        yield from self._tree_claims(b, products)

    def claims(
        self, products: Sequence[Shown], scales: Sequence[Shown], d: Design, entered: Number
    ) -> Iterator[Claim]:
        """`GroupUnit.v`, group_claims; `entered`: the sum with the exponent with which it takes part."""
        yield from self._tree_claims(self.total, products)
        n, r = sg(self.total), self.number
        yield make_claim([self._bounded(self.total)], equal(u(self.size), magnitude(n)), [self.total])
        for x, node in zip(scales, self.scales, strict=True):
            yield make_claim([~x.nan], equal(u(node), x.significand))
        shown = Shown(NEVER, NEVER, n < 0, magnitude(n), num(0), -self.low)
        for x in scales:
            shown = shown.times(x)
        more = d.group_exponent
        shown = replace(shown, exponent=shown.exponent + more, fraction_bits=shown.fraction_bits + more)
        one, other = map(u, self.scales)
        cut = [self.size, *self.scales]
        yield from shown.number_claims(r, [], [], u(self.size) * (one * other), [self.total], cut)
        scaled = [equal(x.significand, 0) for x in scales]
        every = NEVER
        if d.zero_group != "scale":
            every = all_of(equal(x.significand, 0) for x in products)
        assert isinstance(d.zero_exponent, int)
        exponent = choice(scaled[0] | scaled[1] | every, d.zero_exponent, exponent_of(r))
        yield make_claim([is_finite(r)], equal(exponent_of(entered), exponent), [r.term.exponent.bits])

    def text(self) -> str:
        """The group as `GroupUnit.v`, group_plan."""

        def added(node: Node) -> str:
            if node in self.places:
                return f"(Leaf {name(node)} {self.places[node]}%nat)"
            return f"(Partial {name(node)} {' '.join(map(added, node.args))})"

        sigs = ", ".join(map(name, self.scales))
        return (
            f"GroupPlan {integer_text(self.low)} {self.bound} {added(self.total)} {name(self.size)}"
            f" ({sigs})%positive {number_text(self.number)}"
        )


def _before_cut(x: Node) -> Node:
    """The sum that a sum is without some low bits: other bits are read off it."""
    return x.args[0].args[0] if x.op == "concat" and x.args[0].op == "extract" else x


def _zero_node(g: Graph, x: Node) -> Node:
    """Whether a significand is 0: a product is, where a factor is."""
    if x.op == "mul_expand":
        return g.or_(*(_zero_node(g, y) for y in x.args))
    return g.is_zero(x)


class ScaledGroupsPlan:
    """The plan of a unit of one block, whose terms are scaled sums of groups, and c (`GroupUnit.v`)."""

    def __init__(self, spec: UnitSpec) -> None:
        self.spec, d = spec, spec.design
        wide = wide_parameter(spec)
        self.design = f"(Broad {coq_wide(spec)})" if wide else f"(Narrow {coq_design(spec)})"
        self.graph = g = Graph()
        dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
        self.root = dot.result
        (block,) = dot.blocks
        (step,) = block.steps
        total, rounded, specials = last_records(step)
        self.words = [(g.inputs[f"a[{k}]"], g.inputs[f"b[{k}]"]) for k in range(spec.k)]
        count = -(-spec.k // (spec.scale_block or 1))
        self.scales = [(g.inputs[f"scale_a[{i}]"], g.inputs[f"scale_b[{i}]"]) for i in range(count)]
        self.groups = [
            self._group(i * (d.group or 1), *x)
            for i, x in enumerate(zip(block.groups, specials.operands, strict=False))
        ]
        summands, zero = specials.operands, d.zero_exponent
        exponents = effective_exponents(g, [x.term for x in summands], zero)
        numbers = []
        for x, e in zip(summands, exponents, strict=True):
            term = replace(x.term, exponent=e, zero=_zero_node(g, x.term.significand))
            numbers.append(replace(x, term=term))
        if (d.c_alignment_rounding or d.alignment_rounding) != d.alignment_rounding:
            numbers[-1] = replace(numbers[-1], term=replace(numbers[-1].term, sign=g.truth(False)))
        self.front = TermFront(total, summands, numbers, d, [[] for _ in numbers])
        of = total_to_round(total, summands, self.front.most, NEVER)
        kept = _before_cut(total.bits)
        of = replace(of, node=kept, nodes=(kept, total.e_max.bits))
        self.ending = Ending(rounded, specials.result, d, of)
        self.all_claims = list(self._claims())
        named = [x for claim in self.all_claims for e in (*claim.given, claim.goal) for x in e.nodes()]
        self.nodes = reachable([self.root, *named])

    def _group(self, first: int, of: GroupSum, number: Number) -> ScaledGroup:
        g, spec = self.graph, self.spec
        addends = (signed_magnitude(g, x.sign, y) for x, y in zip(of.terms, of.placed, strict=True))
        places = {g.wrap_to_mod(x, of.total.width): i for i, x in enumerate(addends)}
        most = (
            (1 << x.significand.width) - 1 << x.exponent.high - x.fraction_bits + of.scale for x in of.terms
        )
        assert spec.scale_format is not None
        words = self.scales[first // (spec.scale_block or 1)]
        one, other = (unpack(g, w, spec.scale_format).term.significand for w in words)
        return ScaledGroup(
            tuple(self.words[first : first + len(of.terms)]), words, of.total, places, -of.scale, max(most),
            split_sign(g, of.total)[1], (one, other), number,
        )  # fmt: skip

    def claims(self) -> Iterator[Claim]:
        """`GroupUnit.v`, group_unit_claims."""
        return iter(self.all_claims)

    def _claims(self) -> Iterator[Claim]:
        spec, d = self.spec, self.spec.design
        of_a, of_b = operand_rules(d)
        assert spec.scale_format is not None
        assert isinstance(d.zero_exponent, int)
        for x, entered in zip(self.groups, self.front.numbers, strict=False):
            products = [
                ruled(Factor(a, spec.a_format, None).shown(), of_a).times(
                    ruled(Factor(b, spec.b_format, None).shown(), of_b)
                )
                for a, b in x.words
            ]
            scales = [Factor(w, spec.scale_format, None).shown() for w in x.scale_words]
            yield from x.claims(products, scales, d, entered)
        c, entered = self.front.summands[-1], self.front.numbers[-1]
        shown = ruled(Factor(self.graph.inputs["c"], spec.c_format, None).shown(), str(d.c_subnormals))
        yield from shown.number_claims(c, [], [], shown.significand, (), ())
        exponent = choice(equal(u(c.term.significand), 0), d.zero_exponent, exponent_of(c))
        yield make_claim([is_finite(c)], equal(exponent_of(entered), exponent))
        yield from self.front.claims()
        yield from self.ending.claims()
        end, cut = self.ending, self.ending.cut()
        yield from word_claims(spec.d_format, num(d.nan_word), end.outcome, end.usual(), self.root, cut, cut)

    def coq(self) -> str:
        """A file for `coqc` beside the sources: the unit as data, and the theorem about it."""
        a, b = ("; ".join(map(name, x)) for x in zip(*self.words, strict=True))
        scales = "; ".join(f"({name(x)}, {name(y)})" for x, y in self.scales)
        groups = ";\n  ".join(x.text() for x in self.groups)
        return f"""\
(** {self.spec.name}: its circuit, its cut points and the claims that were certified. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec Design Wide Bv Circuit Finish Fused TermSums GroupUnit.
Import ListNotations.
Open Scope Z_scope.
{circuit_text(self.nodes)}
Definition unit_design : group_design := {self.design}.
Definition plan : group_unit :=
 GroupUnit [{a}]%positive [{b}]%positive {name(self.graph.inputs["c"])}
 [{scales}]%positive
 [{groups}]
 {self.front.text()}
 {ending_text(self.ending)} {name(self.root)}.
{claims_text(self.all_claims)}
Lemma checked : group_unit_fine unit_design plan unit_circuit = true.
Proof. vm_compute. reflexivity. Qed.
Lemma claimed : claims_eqb (group_unit_claims unit_design plan (widths_of unit_circuit)) certified = true.
Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v ->
  v (group_result plan) = compute_groups unit_design (group_words plan v).
Proof. exact (group_words_to_words _ _ _ _ checked claimed). Qed.
"""


def of_scaled_groups(spec: UnitSpec) -> bool:
    """Whether a unit is one sum of scaled groups of exact products and c."""
    d = spec.design
    one = spec.tree is None and spec.emulation is None and spec.k <= d.products
    joined = (d.summation, d.c_position, d.nan_rule, d.e_max_of) == ("fused", "joined", "word", "terms")
    scaled = spec.scale_format is not None and d.group is not None
    exact = (d.product_rounding, d.operand_rounding, d.product_limit, d.a_bits, d.b_bits, d.zero_terms)
    plain = (d.carry_bits, d.second_fraction_bits, d.c_bits, d.minus_one) == (None,) * 4
    usual = (d.negated, d.zero_words, d.lost_bits, d.zero_sign) == ("none", "summed", "cut", "positive")
    modes = d.alignment_rounding, d.c_alignment_rounding or d.alignment_rounding
    cut = modes in (("RZ", "RZ"), ("RD", "RD"), ("RD", "RZ")) and isinstance(d.zero_exponent, int)
    numbers = spec.a_format.specials is Specials.NONE and spec.b_format.specials is Specials.NONE
    normal = d.normalise_operands or d.normalise_products or d.exponent_step != 1
    return (
        one and joined and scaled and exact == (None,) * 6 and plain and usual and cut and numbers
        and not normal and d.special_words == "special" and not tiny_otherwise(d)
    )  # fmt: skip
