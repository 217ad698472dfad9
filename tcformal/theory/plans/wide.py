"""The plan of a unit whose design `Wide.v` describes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tcformal.design.rounding import bits_taken
from tcformal.design.spec import Design
from tcformal.design.trees.tree import Step, stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.semantics.align import align
from tcformal.semantics.chain import chained_dot, declare_inputs
from tcformal.semantics.number import Number
from tcformal.semantics.stages import (
    DotStep,
)
from tcformal.theory.circuits import circuit_text, claims_text, name
from tcformal.theory.design import coq_wide
from tcformal.theory.formulas import (
    ALWAYS,
    NEVER,
    Claim,
    Expr,
    all_of,
    any_of,
    bits,
    choice,
    equal,
    iff,
    integer_text,
    is_one,
    lower,
    magnitude,
    make_claim,
    num,
    sg,
    u,
    within,
)
from tcformal.theory.plans.ending import Ending
from tcformal.theory.plans.numbers import (
    Factor,
    Shown,
    exponent_of,
    in_span,
    span_of,
    total_to_round,
    word_claims,
)
from tcformal.theory.plans.products import Front, largest_kept, signed_by
from tcformal.theory.plans.written import ending_text, number_text, operand_span
from tcformal.theory.stated_sum import operand_rules


@dataclass(frozen=True, slots=True)
class Entry:
    """A term of a sum, and whether it is c (`WideUnit.v`, entry)."""

    number: Number
    from_c: bool

    @property
    def text(self) -> str:
        """As Coq has it."""
        r = self.number
        return f"(Entry {number_text(r)} {name(r.term.zero)} {operand_span(r)} {str(self.from_c).lower()})"


class WideFront(Front):
    """A sum of terms that are cut to nearest, once or twice (`WideUnit.v`, wide_plan)."""

    def __init__(self, g: Graph, d: Design, step: DotStep, entries: Sequence[Entry]) -> None:
        assert step.total is not None
        self.entries, self.design, self.first = entries, d, int(d.fraction_bits or 0)
        super().__init__(step.total, [x.number for x in entries], d, [])
        modes = (str(d.alignment_rounding), str(d.c_alignment_rounding or d.alignment_rounding))
        self.modes = [modes[x.from_c] for x in entries]
        terms = zip(self.total.terms, self.modes, strict=True)
        self.once = [align(g, x.term, x.shift, self.first, mode) for x, mode in terms]
        self.before = self.tree
        self.most = max(self.bound, 0 if d.minus_one is None else 1 << d.minus_one)
        self.gone = [is_one(x.number.term.zero) for x in entries]
        #: What is known of the sum, and the nodes of its terms' exponents.
        self.known_sum = (within(self.most, self.n), in_span(self.total.e_max))
        self.exponents = [y for x in entries for y in (x.number.term.exponent.bits, x.number.term.zero)]

    def largest(self, i: int) -> int:
        """The largest magnitude of a term, which each cut may round up."""
        term = self.numbers[i].term
        kept = largest_kept(term.significand.width, self.first - term.fraction_bits)
        if self.first > self.total.fraction_bits:
            kept = (kept >> self.first - self.total.fraction_bits) + 1
        return min(kept, (1 << self.total.terms[i].aligned.width) - 1)

    def claims(self) -> Iterator[Claim]:
        """The terms at the largest exponent, cut, and their sum (`WideUnit.v`, summed_claims)."""
        spans = [in_span(x.number.term.exponent) for x in self.entries]
        zero = self.zero_exponent
        enters = [~x if zero == "none" else ALWAYS for x in self.gone]
        parts = [exponent_of(x.number) for x in self.entries]
        if isinstance(zero, int):
            parts = [choice(x, zero, part) for x, part in zip(self.gone, parts, strict=True)]
        both = list(zip(enters, parts, strict=True))
        found = any_of(x & equal(part, self.top) for x, part in both) | all_of(~x for x in enters)
        yield make_claim(spans, found, self.exponents)
        yield make_claim(spans, in_span(self.total.e_max), self.exponents)
        for x, part in both:
            yield make_claim(spans, ~x | (part <= self.top), self.exponents)
        for i, entry in enumerate(self.entries):
            yield from self._cut_claims(i, entry, spans)
        yield self._total_claim()
        before = sg(self.before)
        counted = before
        if (fault := self.design.minus_one) is not None:
            counted = choice(equal(before, -1), -(1 << fault), before)
        yield make_claim([within(self.bound, before)], equal(self.n, counted), [self.before])
        yield from self._tree_claims(self.tree)

    def _total_claim(self) -> Claim:
        return make_claim([self._within(self.tree)], equal(sg(self.before), sg(self.tree)), [self.tree])

    def _cut_claims(self, i: int, x: Entry, spans: Sequence[Expr]) -> Iterator[Claim]:
        """A term is shifted and cut to nearest, once or twice (`WideUnit.v`, cut_claims)."""
        row, term, once = self.total.terms[i], x.number.term, self.once[i]
        own = exponent_of(x.number)
        shift = equal(u(row.shift), self.top - own)
        yield make_claim([~self.gone[i], own <= self.top, *spans], shift, self.exponents)
        up = max(0, self.first - term.fraction_bits)
        down = max(0, term.fraction_bits - self.first)
        by = lower(u(row.shift), term.significand.width + up + 1)
        cut = [term.significand, row.shift, term.sign]
        size = u(term.significand) * (1 << up)
        yield make_claim([], self._near(i, once, size, by, down), cut)
        rest = num(self.first - self.total.fraction_bits)
        yield make_claim([], self._near(i, row.aligned, u(once), rest, 0), [once, term.sign])
        yield make_claim([], u(row.aligned) <= self.largest(i), cut)

    def _near(self, i: int, kept: Node, size: Expr, by: Expr, down: int) -> Expr:
        """What is kept of a term is the nearest number to it (`WideUnit.v`, near_formula)."""
        sign, up = self.entries[i].number.term.sign, self.modes[i] == "RNU"
        k, z = (signed_by(sign, x) if up else x for x in (u(kept), size))

        def scaled(x: Expr) -> Expr:
            return (x << by) * (1 << down)

        middle = 2 * z + scaled(num(1))
        return (2 * scaled(k) <= middle) & (middle < 2 * scaled(k + 1))

    def staying_claims(self, made: Entry) -> Iterator[Claim]:
        """The sum is a term of the next one as it is, or zero (`WideUnit.v`, staying_claims)."""
        least, r, x = self.design.rho.e_min, made.number, made.number.term
        none = all_of(self.gone) if self.zero_exponent == "none" else NEVER
        lost = none | (NEVER if self.design.result_subnormals == "kept" else self.top < least)
        cut = [self.total.bits, self.total.e_max.bits, *(y.number.term.zero for y in self.entries)]
        for goal in (
            iff(is_one(x.zero), lost),
            iff(is_one(x.sign), ~lost & (self.n < 0)),
            equal(u(x.significand), choice(lost, 0, magnitude(self.n))),
            equal(exponent_of(r), choice(lost, least, self.top)),
            in_span(x.exponent),
        ):
            yield make_claim(self.known_sum, goal, cut)

    @property
    def text(self) -> str:
        """A term of type `wide_plan`."""
        cuts = "; ".join(
            f"Cutting {name(x.shift)} {name(once)} {name(x.aligned)} {self.largest(i)}"
            for i, (x, once) in enumerate(zip(self.total.terms, self.once, strict=True))
        )

        def partial(node: Node) -> str:
            if node not in self.sums:
                return f"(Leaf {name(node)} {self.places[node]}%nat)"
            return f"(Partial {name(node)} {' '.join(partial(y) for y in self.sums[node].of)})"

        e = self.total.e_max
        return (
            f"(WidePlan [{cuts}] {name(e.bits)} {integer_text(e.low)} {span_of(e)} {partial(self.tree)}"
            f" {name(self.before)} {name(self.total.bits)})"
        )


def _taken(x: Shown, text: str | None) -> Shown:
    """A number with some bits of its significand, as in a pass of a product (`WideUnit.v`, shown_taken)."""
    if text is None:
        return x
    first, last = bits_taken(text)
    t = x.fraction_bits
    moved = x.significand * (1 << max(0, last - t))
    taken = bits(max(0, t - last), last - first + 1, moved)
    return replace(x, significand=taken, exponent=x.exponent + -first, fraction_bits=last - first)


class WidePlan:
    """The plan of a unit of `Wide.v`: sums that stay as they are, and one of these and c that is rounded.

    Errors: InputError for a design with other sums.
    """

    def __init__(self, spec: UnitSpec) -> None:
        self.design, self.spec = coq_wide(spec), spec
        root, designs = _wide_tree(spec)
        self.graph = g = Graph()
        dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
        steps = [x for x in dot.stages if isinstance(x, DotStep)]
        made = {x.specials.result.term: x for x in steps if x.specials is not None}
        self.root, last = dot.result, steps[-1]
        terms: dict[int | str, Entry] = {}

        def entries(of: DotStep, step: Step) -> list[Entry]:
            assert of.specials is not None
            numbers = zip(step.children, of.specials.operands, strict=True)
            rows = [(x, Entry(number, x == "c")) for x, number in numbers]
            terms.update((x, y) for x, y in rows if not isinstance(x, Step))
            return [y for _, y in rows]

        top = entries(last, root)
        self.children: list[tuple[WideFront, Entry] | None] = []
        for x, child in zip(top, root.children, strict=True):
            if not isinstance(child, Step):
                self.children.append(None)
                continue
            of = made[x.number.term]
            self.children.append((WideFront(g, designs[child.stage], of, entries(of, child)), x))
        d = designs[root.stage]
        self.last = WideFront(g, d, last, top)
        self.c, self.products = terms["c"], [terms[k] for k in range(spec.k)]
        rounded = replace(total_to_round(self.last.total, (), self.last.most), sign=NEVER)
        assert last.rounded is not None
        assert last.specials is not None
        self.ending = Ending(last.rounded, last.specials.result, d, rounded)
        self.all_claims = list(self._claims())
        named = [x for claim in self.all_claims for e in (*claim.given, claim.goal) for x in e.nodes()]
        self.nodes = reachable([self.root, *named])

    def claims(self) -> Iterator[Claim]:
        """Products, sums that stay, the last sum and its word (`WideUnit.v`, wide_claims)."""
        return iter(self.all_claims)

    def _shown(self, operand: str, f: Format, rule: str) -> Shown:
        return Factor(self.graph.inputs[operand], self.spec.design.reading(f), None, rule).shown()

    def _claims(self) -> Iterator[Claim]:
        d, spec = self.spec.design, self.spec
        of_a, of_b = operand_rules(d)
        for k, x in enumerate(self.products):
            a, b = self._shown(f"a[{k}]", spec.a_format, of_a), self._shown(f"b[{k}]", spec.b_format, of_b)
            made = _taken(a, d.a_bits).times(_taken(b, d.b_bits))
            zero = equal(made.significand, 0) & equal(a.significand * b.significand, 0)
            yield from _shown_claims(made, zero, x.number)
        c = self._shown("c", spec.c_format, str(d.c_subnormals))
        yield from _shown_claims(c, equal(c.significand, 0), self.c.number)
        for child in self.children:
            if child is not None:
                yield from child[0].claims()
                yield from child[0].staying_claims(child[1])
        yield from self.last.claims()
        yield from self.ending.claims()
        end, cut = self.ending, self.ending.cut()
        yield from word_claims(spec.d_format, num(d.nan_word), end.outcome, end.usual(), self.root, cut, cut)

    def coq(self) -> str:
        """A file for `coqc` beside the sources: the unit as data, and the theorem about it."""
        g, k = self.graph, range(self.spec.k)
        inputs = {x: "; ".join(name(g.inputs[f"{x}[{i}]"]) for i in k) for x in "ab"}
        inner = "; ".join("None" if x is None else f"Some ({x[0].text}, {x[1].text})" for x in self.children)
        return f"""\
(** {self.spec.name}: its circuit, its cut points and the claims that were certified. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec Design Wide Bv Circuit Finish Fused WideUnit.
Import ListNotations.
Open Scope Z_scope.
{circuit_text(self.nodes)}
Definition unit_design : wide_design := {self.design}.
Definition plan : wide_unit :=
 WideUnit [{inputs["a"]}]%positive [{inputs["b"]}]%positive {name(g.inputs["c"])}
 [{"; ".join(x.text for x in self.products)}]
 {self.c.text} [{inner}]
 {self.last.text} {ending_text(self.ending)} {name(self.root)}.
{claims_text(self.all_claims)}
Lemma checked : wide_fine unit_design plan unit_circuit = true.
Proof. vm_compute. reflexivity. Qed.
Lemma claimed : claims_eqb (wide_claims unit_design plan (widths_of unit_circuit)) certified = true.
Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v -> v (result_node plan) = compute_wide unit_design (words_of plan v).
Proof. exact (certified_wide_words_to_words _ _ _ _ checked claimed). Qed.
"""


def _wide_tree(spec: UnitSpec) -> tuple[Step, dict[str, Design]]:
    """The last sum of a unit and the design of each stage; InputError for what `wide_fine` does not take."""
    d, tree = spec.design, spec.tree
    exact = (d.product_rounding, d.operand_rounding, d.product_limit, spec.scale_format)
    others = (d.negated, d.normalise_operands, d.special_words, d.zero_sign)
    usual = others == ("none", False, "numbers", "positive")
    if tree is not None and usual and exact == (None,) * 4 and tree.converted is None:
        root, designs = tree.root, stage_designs(tree, d)
        inner = [x for x in root.children if isinstance(x, Step)]
        leaves = [x for step in (root, *inner) for x in step.children if not (step is root and x in inner)]
        last, every = designs[root.stage], designs.values()
        modes = {y for x in every for y in (x.alignment_rounding, x.c_alignment_rounding or "RNA")}
        rules = {(x.c_bits, x.carry_bits, x.e_max_of, x.fraction_bits is None) for x in every}
        stays = not any(designs[x.stage].normalised for x in inner) and last.normalised
        plain = "c" in leaves and "zero" not in leaves and not any(isinstance(x, Step) for x in leaves)
        cut = modes <= {"RNA", "RNU"} and rules == {(None, None, "terms", False)}
        if stays and plain and cut and last.rho.mode == "RNA":
            return root, designs
    raise InputError(
        "expected a sum, rounded by RNA, of terms cut to nearest: whole products of words that are all "
        f"numbers, c, and sums of these that stay as they are, but got {spec.name}"
    )


def _shown_claims(x: Shown, zero: Expr, r: Number) -> Iterator[Claim]:
    """A number of the circuit is that which the words show (`WideUnit.v`, shown_claims)."""
    t = r.term
    yield make_claim([], iff(is_one(t.sign), x.neg))
    yield make_claim([], equal(u(t.significand), x.significand))
    yield make_claim([], equal(exponent_of(r), x.exponent))
    yield make_claim([], iff(is_one(t.zero), zero))
    yield make_claim([], in_span(t.exponent))
