"""The plan of a unit that skips blocks of zeros."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.semantics.chain import chained_dot, declare_inputs
from tcformal.theory.circuits import circuit_text, claims_text, name
from tcformal.theory.design import coq_design
from tcformal.theory.formulas import (
    Claim,
    all_of,
    choice,
    equal,
    make_claim,
    u,
)
from tcformal.theory.plans.plan import Plan, check_plannable


class SkippingPlan:
    """The plan of a unit that skips blocks: that of each block, and its word (`SkippingUnit.v`)."""

    def __init__(self, spec: UnitSpec) -> None:
        self.design, self.spec, d = coq_design(spec), spec, spec.design
        check_plannable(replace(spec, design=replace(d, zero_words="summed")))
        self.graph = g = Graph()
        dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
        before = g.inputs["c"]
        self.parts: list[tuple[Plan, Node]] = []
        for i, block in enumerate(dot.blocks):
            if block.result.op != "ite":
                raise InputError(f"expected blocks that may be skipped, but got {spec.name}")
            made = Plan.of_block(spec, g, dot, i, before, block.result.args[2])
            self.parts.append((made, block.result))
            before = block.result
        self.all_claims = list(self._claims())
        named = [x for claim in self.all_claims for e in (*claim.given, claim.goal) for x in e.nodes()]
        self.nodes = reachable([before, *named])

    def claims(self) -> Iterator[Claim]:
        """`SkippingUnit.v`, skipping_claims."""
        return iter(self.all_claims)

    def _claims(self) -> Iterator[Claim]:
        inputs = self.graph.inputs
        for part, word in self.parts:
            yield from part.claims()
            a, b = (all_of(equal(u(inputs[f"{x}[{k}]"]), 0) for k in part.ks) for x in "ab")
            goal = equal(u(word), choice(a | b, u(part.c_node), u(part.root)))
            yield make_claim([], goal, [part.c_node, part.root])

    def coq(self) -> str:
        """A file for `coqc` beside the sources: the unit as data, and the theorem about it."""
        parts = ";\n ".join(f"({part.text()}, {name(word)}%positive)" for part, word in self.parts)
        return f"""\
(** {self.spec.name}: its circuit, its cut points and the claims that were certified. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec Design Bv Circuit Finish Fused Leaves Stage Products After Unit SkippingUnit.
Import ListNotations.
Open Scope Z_scope.
{circuit_text(self.nodes)}
Definition unit_design : design := {self.design}.
Definition plan : skipping_unit := [{parts}].
Definition c_input : positive := {name(self.graph.inputs["c"])}.
{claims_text(self.all_claims)}
Lemma checked : skipping_fine unit_circuit unit_design c_input plan = true.
Proof. vm_compute. reflexivity. Qed.
Lemma claimed : claims_eqb (skipping_claims unit_circuit unit_design plan) certified = true.
Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v ->
  v (last_word c_input plan) = compute unit_design (skipping_words c_input plan v).
Proof. intros H. exact (skipping_words_to_words _ _ _ _ _ checked claimed H eq_refl). Qed.
"""


def skips_blocks(spec: UnitSpec) -> bool:
    """Whether a unit is a chain of exact or cut sums, of which those with nothing to add are skipped."""
    d = spec.design
    one = spec.tree is None and spec.emulation is None and spec.scale_format is None
    joined = (d.summation, d.c_position, d.nan_rule, d.negated) == ("fused", "joined", "word", "none")
    plain = (d.group, d.piece_bits, d.zero_terms, d.carry_bits) == (None,) * 4
    usual = (d.lost_bits, d.order) == ("cut", "ascending") and d.c_subnormals != "hidden_bit"
    return d.zero_words == "skipped" and one and joined and plain and usual and spec.c_format == spec.d_format
