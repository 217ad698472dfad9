"""The plan of a unit whose sum remembers what is cut off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tcformal.design.rounding import deciding_bits
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.semantics.align import cuts_off
from tcformal.semantics.chain import chained_dot, declare_inputs
from tcformal.semantics.mma import factors_of_product
from tcformal.semantics.number import Number
from tcformal.semantics.stages import (
    Total,
)
from tcformal.semantics.sums.sticky import with_leading_one
from tcformal.theory.circuits import circuit_text, claims_text, name
from tcformal.theory.design import coq_design
from tcformal.theory.formulas import (
    Claim,
    Expr,
    any_of,
    bits,
    choice,
    equal,
    iff,
    is_one,
    lower,
    magnitude,
    make_claim,
    num,
    sg,
    u,
    within,
)
from tcformal.theory.plans.ending import Ending, tiny_otherwise
from tcformal.theory.plans.numbers import Factor, Shown, ToRound, in_span, is_finite, word_claims
from tcformal.theory.plans.products import Cuts, Front, last_records, signed_by
from tcformal.theory.plans.written import ending_text, front_text, number_text
from tcformal.theory.stated_sum import operand_rules


class TermFront(Front):
    """A sum of terms that take part in the largest exponent with exponents of their own (`TermSums.v`,
    term_sum).

    `summands`: the terms as their signs and special values count; `numbers`: as they are aligned; `room`: the
    bits that hold the sum; `dropped`: low bits of it that are rounded down.
    """

    def __init__(
        self, total: Total, summands: Sequence[Number], numbers: Sequence[Number], d: Design, entering: Cuts
    ) -> None:
        super().__init__(total, numbers, d, entering)
        self.zero_exponent = "own"
        self.summands = summands
        self.dropped = total.fraction_bits - (d.sum_fraction_bits or total.fraction_bits)
        self.room = None if d.carry_bits is None else 2 + d.carry_bits + total.fraction_bits
        if self.room is not None and self.tree.width > self.room:
            raise InputError(f"expected a sum of {self.room} bits, but got one of {self.tree.width}")
        self.most = 1 << self.room - 1 if self.room is not None else self.bound + (1 << self.dropped)

    @property
    def known_sum(self) -> tuple[Expr, ...]:
        """`TermSums.v`, count_known."""
        known = within(self.most, self.n)
        if self.room is not None:
            known = (-self.most <= self.n) & (self.n < self.most)
        return known, in_span(self.total.e_max)

    def _wrapped(self, x: Expr) -> Expr:
        """`TermSums.v`, wrapped_term."""
        assert self.room is not None
        half = 1 << self.room - 1
        return bits(0, self.room, x + 3 * half) - half

    def claims(self) -> Iterator[Claim]:
        """`TermSums.v`, term_claims_of."""
        yield from self.aligned_claims()
        for x, y in zip(self.summands, self.numbers, strict=True):
            if x.term.sign is not y.term.sign:  # cut toward zero among terms that are rounded down
                yield make_claim([], ~is_one(y.term.sign))
        yield from self._adding_claims(self.tree)
        node, whole = self.total.bits, sg(self.tree)
        if self.room is not None:
            yield make_claim([], equal(self.n, self._wrapped(whole)), [self.tree])
            return
        known = [self._within(self.tree)]
        yield make_claim(known, self.n <= whole, [self.tree])
        yield make_claim(known, whole < self.n + (1 << self.dropped), [self.tree])
        yield make_claim(known, equal(bits(0, self.dropped, u(node)), 0), [self.tree])

    def _adding_claims(self, node: Node) -> Iterator[Claim]:
        """`TermSums.v`, adding_claims."""
        if node not in self.sums:
            i = self.places[node]
            sign, aligned = self.summands[i].term.sign, self.total.terms[i].aligned
            yield make_claim([], equal(sg(node), signed_by(sign, u(aligned))), [sign, aligned])
            return
        left, right = self.sums[node].of
        both = sg(left) + sg(right)
        if self.room is None:
            given = [self._within(left), self._within(right)]
            yield make_claim(given, equal(sg(node), both), [left, right])
        else:
            yield make_claim([], equal(sg(node), self._wrapped(both)), [left, right])
        yield from self._adding_claims(left)
        yield from self._adding_claims(right)

    def lost_claims(self, lost: Sequence[Node]) -> Iterator[Claim]:
        """`TermSums.v`, lost_claims; `lost`: whether a bit of each term is cut off."""
        for node, x, row in zip(lost, self.numbers, self.total.terms, strict=True):
            term, f = x.term, self.total.fraction_bits
            up, down = max(0, f - term.fraction_bits), max(0, term.fraction_bits - f)
            clamped = lower(u(row.shift), term.significand.width + up)
            same = equal((u(row.aligned) << clamped) * (1 << down), u(term.significand) * (1 << up))
            yield make_claim([], iff(is_one(node), ~same), [term.significand, row.shift])

    def sticky_to_round(self, lost: Sequence[Node], low: int) -> ToRound:
        """`TermSums.v`, sticky_round: a bit for what is lost stands `low` places below the sum."""
        assert self.room is not None
        n, e, node = self.n, self.total.e_max, self.total.bits
        zero, lowest = equal(n, 0), equal(n, -(1 << self.room - 1))
        some = any_of(map(is_one, lost)) & ~zero
        return ToRound(
            operands=self.summands,
            size=choice(lowest, 0, magnitude(n) * (1 << low) + choice(some, 1, 0)),
            no_size=zero | lowest, down=(n < 0) & ~lowest,
            unit=u(e.bits) + (e.low - self.total.fraction_bits - low), bound=self.most * (1 << low) + 1,
            known=self.known_sum, sign=n < 0, node=node, nodes=(node, e.bits, *lost),
        )  # fmt: skip

    def text(self) -> str:
        """The sum as `TermSums.v`, term_sum."""
        return f"(TermSum [{'; '.join(map(number_text, self.summands))}] {front_text(self)})"


def ruled(x: Shown, rule: str) -> Shown:
    """A value with what any rule makes of subnormals (`StickyUnit.v`, shown_rule)."""
    if rule != "hidden_bit":
        return x.flushed(rule)
    some = ~equal(x.significand, 0) & (x.significand < 1 << x.fraction_bits)
    subnormal = ~x.inf & some
    hidden = x.significand + (1 << x.fraction_bits)
    return replace(
        x, significand=choice(subnormal, hidden, x.significand),
        exponent=choice(subnormal, x.exponent + -1, x.exponent),
    )  # fmt: skip


def _one_sig(x: Shown) -> Expr:
    """A significand, that of a zero 1 (`StickyUnit.v`, one_sig)."""
    return choice(equal(x.significand, 0), 1 << x.fraction_bits, x.significand)


class StickyPlan:
    """The plan of a unit of one block, whose zeros count as ones and whose sum remembers what is cut off
    (`StickyUnit.v`).
    """

    def __init__(self, spec: UnitSpec) -> None:
        self.design, self.spec, d = coq_design(spec), spec, spec.design
        self.graph = g = Graph()
        dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
        self.root = dot.result
        (step,) = dot.steps
        total, rounded, specials = last_records(step)
        self.words = [(g.inputs[f"a[{k}]"], g.inputs[f"b[{k}]"]) for k in range(spec.k)]
        self.ones: list[tuple[Node, Node]] = []
        for x, y in self.words:
            a, b = (with_leading_one(g, z) for z in factors_of_product(g, d, spec.operands, x, y))
            self.ones.append((a.term.significand, b.term.significand))
        cuts = [*self.words, [g.inputs["c"]]]
        self.front = TermFront(total, specials.operands, specials.operands, d, cuts)
        rows = zip(self.front.numbers, total.terms, strict=True)
        self.lost = [cuts_off(g, x.term, y.shift, total.fraction_bits) for x, y in rows]
        of = self.front.sticky_to_round(
            self.lost, rounded.target.fraction_bits + 1 + deciding_bits(rounded.target.mode)
        )
        self.ending = Ending(rounded, specials.result, d, of, "ieee")
        self.all_claims = list(self._claims())
        named = [x for claim in self.all_claims for e in (*claim.given, claim.goal) for x in e.nodes()]
        self.nodes = reachable([self.root, *named])

    def claims(self) -> Iterator[Claim]:
        """`StickyUnit.v`, sticky_claims."""
        return iter(self.all_claims)

    def _claims(self) -> Iterator[Claim]:
        spec, d = self.spec, self.spec.design
        *products, c = self.front.summands
        of_a, of_b = operand_rules(d)
        assert isinstance(d.zero_terms, int)
        for (x, y), ones, r in zip(self.words, self.ones, products, strict=True):
            a = ruled(Factor(x, spec.a_format, None).shown(), of_a)
            b = ruled(Factor(y, spec.b_format, None).shown(), of_b)
            for z, node in zip((a, b), ones, strict=True):
                yield make_claim([~z.nan, ~z.inf], equal(u(node), _one_sig(z)))
            zero = equal(a.significand, 0) | equal(b.significand, 0)
            made = a.times(b)
            shown = replace(made, exponent=choice(zero, d.zero_terms, made.exponent))
            significand = u(ones[0]) * u(ones[1])
            yield from shown.number_claims(r, [], [], significand, (), ones)
        z = ruled(Factor(self.graph.inputs["c"], spec.c_format, None).shown(), str(d.c_subnormals))
        exponent = choice(equal(z.significand, 0), d.zero_terms, z.exponent)
        shown = replace(z, significand=_one_sig(z), exponent=exponent)
        yield from shown.number_claims(c, [], [], shown.significand, (), ())
        for r in self.front.summands:
            yield make_claim([is_finite(r)], ~equal(u(r.term.significand), 0))
        yield from self.front.claims()
        yield from self.front.lost_claims(self.lost)
        yield from self.ending.claims()
        end, cut = self.ending, self.ending.cut()
        yield from word_claims(spec.d_format, num(d.nan_word), end.outcome, end.usual(), self.root, cut, cut)

    def coq(self) -> str:
        """A file for `coqc` beside the sources: the unit as data, and the theorem about it."""
        a, b = ("; ".join(map(name, x)) for x in zip(*self.words, strict=True))
        ones = "; ".join(f"({name(x)}, {name(y)})" for x, y in self.ones)
        return f"""\
(** {self.spec.name}: its circuit, its cut points and the claims that were certified. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec Design Bv Circuit Finish Fused TermSums StickyUnit.
Import ListNotations.
Open Scope Z_scope.
{circuit_text(self.nodes)}
Definition unit_design : design := {self.design}.
Definition plan : sticky_unit :=
 StickyUnit [{a}]%positive [{b}]%positive {name(self.graph.inputs["c"])}
 [{ones}]%positive
 {self.front.text()}
 {self.front.room} [{"; ".join(map(name, self.lost))}]%positive {ending_text(self.ending)} {name(self.root)}.
{claims_text(self.all_claims)}
Lemma checked : sticky_fine unit_design plan unit_circuit = true.
Proof. vm_compute. reflexivity. Qed.
Lemma claimed : claims_eqb (sticky_claims unit_design plan (widths_of unit_circuit)) certified = true.
Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v -> v (result_node plan) = compute unit_design (sticky_words plan v).
Proof. exact (sticky_words_to_words _ _ _ _ checked claimed). Qed.
"""


def keeps_a_sticky_bit(spec: UnitSpec) -> bool:
    """Whether a unit is one sum of products and c, of bounded width, that remembers what is cut off."""
    d = spec.design
    one = spec.tree is None and spec.emulation is None and spec.k <= d.products
    joined = (d.summation, d.c_position, d.nan_rule) == ("fused", "joined", "word")
    plain = (d.group, d.piece_bits, d.product_rounding, d.product_limit, spec.scale_format) == (None,) * 5
    kept = (d.lost_bits, d.alignment_rounding, d.zero_sign) == ("sticky", "RZ", "sum")
    widths = isinstance(d.zero_terms, int) and d.carry_bits is not None
    return one and joined and plain and kept and widths and not tiny_otherwise(d)
