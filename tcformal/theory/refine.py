"""Refinement: that a unit's circuit computes what its design does, from words to words.

A unit's circuit, the plan of its cut points and the claims about them are data for `coq/Unit.v`, whose theorem
`words_to_words` says that the claims suffice.  Each claim is decided by a solver whose proof is checked.  The plan is read
off the stage records and not trusted: a wrong cut point makes a claim false, or Coq refuse the unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format, Sign, Specials
from tcformal.interp.cnf import Cnf, to_cnf
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.programs.chain import staged_circuit
from tcformal.semantics.number import Number
from tcformal.semantics.stages import Block, DotStep, PartialSum
from tcformal.solve.certificate import Certificate, certify
from tcformal.theory.design import coq_design, coq_sum
from tcformal.theory.terms import (
    ALWAYS, NEVER, Bits, Claim, Expr, all_of, any_of, at_most, bits, both, choice, constant, differ, either, equal,
    iff, is_one, less, lower, magnitude, minus, negation, num, plus, sg, shifted, times, u, within,
)  # fmt: skip


# ------------------------------------------------------------------ numbers and factors
@dataclass(frozen=True, slots=True)
class Shown:
    """A value as formulas over the words that it is made of (`Leaves.v`, shown)."""

    nan: Expr
    inf: Expr
    neg: Expr
    significand: Expr
    exponent: Expr
    fraction_bits: int

    def zero(self) -> Expr:
        """It is a number, and 0."""
        return both(negation(either(self.nan, self.inf)), equal(self.significand, num(0)))

    def times(self, other: Shown) -> Shown:
        """The product of two values."""
        return Shown(
            either(
                either(self.nan, other.nan),
                either(both(self.inf, other.zero()), both(self.zero(), other.inf)),
            ),
            either(self.inf, other.inf),
            differ(self.neg, other.neg),
            times(self.significand, other.significand),
            plus(self.exponent, other.exponent),
            self.fraction_bits + other.fraction_bits,
        )


@dataclass(frozen=True, slots=True)
class Factor:
    """A word of a format, and the node of its significand where the circuit has one."""

    word: Node
    fmt: Format
    significand: Node | None

    def shown(self) -> Shown:
        """The word, read as its format says."""
        f, w = self.fmt, u(self.word)
        low, t_bits, e_bits = f.ignored_low_bits, f.fraction_bits, f.exponent_bits
        t, e = bits(low, t_bits, w), bits(low + t_bits, e_bits, w)
        s = equal(bits(low + t_bits + e_bits, 1, w), num(1))
        none = equal(e, num(0)) if f.has_zero else NEVER
        ones, full = equal(e, num((1 << e_bits) - 1)), equal(t, num((1 << t_bits) - 1))
        empty = equal(t, num(0))
        nan = {
            Specials.IEEE: both(ones, negation(empty)),
            Specials.ALL_ONES_NAN: both(ones, full),
            Specials.NEGATIVE_ZERO_NAN: both(s, both(equal(e, num(0)), empty)),
            Specials.NONE: NEVER,
        }[f.specials]
        return Shown(
            nan,
            both(ones, empty) if f.specials is Specials.IEEE else NEVER,
            s if f.sign is Sign.PRESENT else NEVER,
            choice(none, t if f.subnormals else num(0), plus(t, num(1 << t_bits))),
            choice(none, num(1 - f.bias), minus(e, num(f.bias))),
            t_bits,
        )

    def term(self) -> Expr:
        """Its significand."""
        return self.shown().significand if self.significand is None else u(self.significand)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A number that is a product of words, or one word."""

    factors: tuple[Factor, ...]
    number: Number

    def claims(self) -> Iterator[Claim]:
        """`Leaves.v`, leaf_claims."""
        r = self.number
        shown = self.factors[0].shown()
        significand = self.factors[0].term()
        for x in self.factors[1:]:
            shown, significand = shown.times(x.shown()), times(significand, x.term())
        for x in self.factors:
            if x.significand is not None:
                y = x.shown()
                yield _claim([negation(y.nan), negation(y.inf)], equal(u(x.significand), y.significand))
        yield _claim([], iff(is_one(r.nan), shown.nan))
        yield _claim([negation(shown.nan)], iff(is_one(r.inf), shown.inf))
        yield _claim([negation(shown.nan)], iff(is_one(r.term.sign), shown.neg))
        yield _claim([negation(shown.nan), negation(shown.inf)], equal(_exponent(r), shown.exponent))
        cut = [x.significand for x in self.factors if x.significand is not None and x.significand is not r.term.significand]
        yield _claim([], equal(u(r.term.significand), significand), cut)


def _claim(given: Sequence[Expr], goal: Expr, free: Sequence[Node] = ()) -> Claim:
    return Claim(tuple(given), goal, frozenset(x for x in free if x.op not in ("const", "input")))


def _exponent(r: Number) -> Expr:
    return plus(u(r.term.exponent.bits), num(r.term.exponent.low))


def _finite(r: Number) -> Expr:
    return both(negation(is_one(r.nan)), negation(is_one(r.inf)))


# ------------------------------------------------------------------ a fused sum
class Fused:
    """One fused sum at its cut points (`Fused.v`); `entering` are the nodes at which its operands are cut."""

    def __init__(self, step: DotStep, spec: UnitSpec, entering: Sequence[Sequence[Node]]) -> None:
        if step.total is None or step.rounded is None or step.specials is None:
            raise InputError(f"expected a sum that is rounded, but {step.scope} is none")
        self.step, self.d, self.entering = step, spec.design, entering
        self.total, self.rounded, self.numbers = step.total, step.rounded, step.specials.operands
        self.rho = step.rounded.target
        self.f = self.total.fraction_bits
        if len(self.total.terms) != len(self.numbers):
            raise InputError(f"expected a term for each operand of {step.scope}")
        self.spans = [x.term.exponent.high - x.term.exponent.low for x in self.numbers]
        self.outcome = step.specials.result
        self.sums: dict[Node, PartialSum] = {x.node: x for x in self.total.partials}
        self.places = {y: i for y, i in self._leaves()}
        self.tree = self.total.partials[-1].node if self.total.partials else self._only_leaf()

    def _only_leaf(self) -> Node:
        raise InputError(f"expected partial sums of {self.step.scope}")

    def _leaves(self) -> Iterator[tuple[Node, int]]:
        """The addends of partial sums, and the term that each of them is."""
        of = {x.aligned: i for i, x in enumerate(self.total.terms)}
        for partial in self.total.partials:
            for y in partial.of:
                if y not in self.sums:
                    found = {of[z] for z in reachable([y]) if z in of}
                    own = {i for i in found if not any(self.total.terms[i].aligned in reachable([self.total.terms[j].aligned]) for j in found if j != i)}
                    if len(own) != 1:
                        raise InputError(f"expected one term below an addend of {self.step.scope}, but got {len(own)}")
                    yield y, own.pop()

    # ------------------------------------------------------------------ terms of the plan
    @property
    def top(self) -> Expr:
        return plus(u(self.total.e_max.bits), num(self.total.e_max.low))

    @property
    def top_span(self) -> int:
        return self.total.e_max.high - self.total.e_max.low

    @property
    def n(self) -> Expr:
        return sg(self.total.bits)

    def _bound(self, node: Node) -> int:
        if node in self.sums:
            return sum(self._bound(x) for x in self.sums[node].of)
        return (1 << self.total.terms[self.places[node]].aligned.width) - 1

    def _in_span(self, i: int) -> Expr:
        return at_most(u(self.numbers[i].term.exponent.bits), num(self.spans[i]))

    def _takes_part(self, i: int) -> Expr:
        return negation(is_one(self.numbers[i].term.zero)) if self.d.zero_exponent == "none" else ALWAYS

    def _part(self, i: int) -> Expr:
        x, zero = self.numbers[i], self.d.zero_exponent
        return _exponent(x) if isinstance(zero, str) else choice(is_one(x.term.zero), num(zero), _exponent(x))

    # ------------------------------------------------------------------ claims
    def claims(self) -> Iterator[Claim]:
        """`Fused.v`, fused_claims."""
        for i, x in enumerate(self.numbers):
            yield _claim([_finite(x)], self._in_span(i), self.entering[i])
            cut = [y for y in self.entering[i]]
            yield _claim([_finite(x)], iff(is_one(x.term.zero), equal(u(x.term.significand), num(0))), cut)
        spans = [self._in_span(i) for i in range(len(self.numbers))]
        codes = [y for x in self.numbers for y in (x.term.exponent.bits, x.term.zero)]
        for i in range(len(self.numbers)):
            yield from self._align_claims(i, spans, codes)
        takes = [self._takes_part(i) for i in range(len(self.numbers))]
        parts = [both(t, equal(self._part(i), self.top)) for i, t in enumerate(takes)]
        yield _claim(spans, either(all_of(negation(t) for t in takes), any_of(parts)), codes)
        yield _claim(spans, at_most(u(self.total.e_max.bits), num(self.top_span)), codes)
        yield _claim([self._within(self.tree)], equal(self.n, sg(self.tree)), [self.tree])
        yield from self._tree_claims(self.tree)
        yield from self._kept_claims()
        yield from self._outcome_claims()

    def _align_claims(self, i: int, spans: Sequence[Expr], codes: Sequence[Node]) -> Iterator[Claim]:
        x, number = self.total.terms[i], self.numbers[i]
        yield _claim([self._takes_part(i), *spans], at_most(self._part(i), self.top), codes)
        yield _claim(
            [negation(is_one(number.term.zero)), *spans], equal(u(x.shift), minus(self.top, _exponent(number))), codes
        )
        fraction = number.term.fraction_bits
        up, down = max(0, self.f - fraction), max(0, fraction - self.f)
        clamped = lower(u(x.shift), num(number.term.significand.width + up))
        size = times(u(number.term.significand), num(1 << up))
        scaled = [times(shifted(a, clamped), num(1 << down)) for a in (u(x.aligned), plus(u(x.aligned), num(1)))]
        yield _claim([], both(at_most(scaled[0], size), less(size, scaled[1])), [number.term.significand, x.shift])

    def _within(self, node: Node) -> Expr:
        return within(self._bound(node), sg(node))

    def _tree_claims(self, node: Node) -> Iterator[Claim]:
        if node not in self.sums:
            x, number = self.total.terms[self.places[node]], self.numbers[self.places[node]]
            a = u(x.aligned)
            goal = equal(sg(node), choice(is_one(number.term.sign), minus(num(0), a), a))
            yield _claim([], goal, [number.term.sign, x.aligned])
            return
        left, right = self.sums[node].of
        given = [self._within(left), self._within(right)]
        yield _claim(given, equal(sg(node), plus(sg(left), sg(right))), [left, right])
        yield from self._tree_claims(left)
        yield from self._tree_claims(right)

    @property
    def _null(self) -> Expr:
        return both(equal(u(self.rounded.kept), num(0)), negation(is_one(self.rounded.away)))

    @property
    def _normal(self) -> Expr:
        p = self.rho.fraction_bits
        return either(at_most(num(1 << p), u(self.rounded.kept)), equal(u(self.rounded.height), num(0)))

    @property
    def _n_zero(self) -> Expr:
        return equal(self.n, num(0))

    def _kept_claims(self) -> Iterator[Claim]:
        p, e_min = self.rho.fraction_bits, self.rho.e_min
        kept, away = u(self.rounded.kept), self.rounded.away
        common = [within(self._bound(self.tree), self.n), at_most(u(self.total.e_max.bits), num(self.top_span))]
        last = plus(u(self.rounded.height), num(e_min - p))
        unit = plus(u(self.total.e_max.bits), num(self.total.e_max.low - self.f))
        most = (self._bound(self.tree) + 1).bit_length() + 2
        right, left = lower(minus(last, unit), num(most)), lower(minus(unit, last), num(p + 1))
        size, one = magnitude(self.n), shifted(num(1), right)
        rest = minus(size, shifted(kept, right))
        odd, inexact = equal(bits(0, 1, kept), num(1)), negation(equal(rest, num(0)))
        down = less(self.n, num(0))
        rule = {
            "RZ": NEVER,
            "RNE": either(less(one, plus(rest, rest)), both(equal(one, plus(rest, rest)), odd)),
            "RNA": at_most(one, plus(rest, rest)),
            "RO": both(inexact, negation(odd)),
            "RD": both(inexact, down),
            "RU": both(inexact, negation(down)),
        }[self.rho.mode]
        free = [self.total.bits, self.total.e_max.bits]
        some = negation(self._n_zero)
        yield _claim([self._n_zero, *common], self._null, free)
        yield _claim([some, *common], self._normal, free)
        exact = both(equal(kept, shifted(size, left)), negation(is_one(away)))
        yield _claim([some, at_most(last, unit), *common], exact, free)
        cut = [some, less(unit, last), *common]
        yield _claim(cut, both(at_most(shifted(kept, right), size), less(size, shifted(plus(kept, num(1)), right))), free)
        yield _claim(cut, iff(is_one(away), rule), free)

    def cut(self) -> list[Node]:
        """The nodes that special cases, the number that is handed on, and its word are made of."""
        flags = [y for x in self.numbers for y in (x.nan, x.inf, x.term.sign)]
        aligned = [x.aligned for x in self.total.terms]
        return [*flags, *aligned, self.total.bits, self.rounded.normalised, self.rounded.height, self.rounded.away]

    def _infinite(self, negative: bool) -> Expr:
        signs = ((x.inf, is_one(x.term.sign)) for x in self.numbers)
        return any_of(both(is_one(inf), sign if negative else negation(sign)) for inf, sign in signs)

    @property
    def _is_nan(self) -> Expr:
        infinities = both(self._infinite(False), self._infinite(True))
        return either(any_of(is_one(x.nan) for x in self.numbers), infinities)

    @property
    def _is_inf(self) -> Expr:
        return either(self._infinite(False), self._infinite(True))

    def usual(self) -> list[Expr]:
        """`Fused.v`, usual: what is known where no term is special."""
        return [
            negation(self._is_nan), negation(self._is_inf),
            either(negation(self._n_zero), self._null), either(self._n_zero, self._normal),
        ]  # fmt: skip

    def _outcome_claims(self) -> Iterator[Claim]:
        p, e_min, e_max = self.rho.fraction_bits, self.rho.e_min, self.rho.e_max
        r, down = self.outcome, less(self.n, num(0))
        grown = plus(u(self.rounded.kept), choice(is_one(self.rounded.away), num(1), num(0)))
        carried = at_most(num(1 << (p + 1)), grown)
        small = both(constant(self.d.result_subnormals != "kept"), less(grown, num(1 << p)))
        zero = either(equal(grown, num(0)), small)
        raised = plus(u(self.rounded.height), choice(carried, num(1), num(0)))
        over = both(at_most(num(1 << p), grown), less(num(e_max - e_min), raised))
        directed = {"RNE": ALWAYS, "RNA": ALWAYS, "RD": down, "RU": negation(down)}.get(self.rho.mode, NEVER)
        overflow = both(negation(zero), both(over, directed if self.d.overflow == "ieee" else ALWAYS))
        free, usual = self.cut(), self.usual()
        yield _claim([], iff(is_one(r.nan), self._is_nan), free)
        goal = both(is_one(r.inf), iff(is_one(r.term.sign), self._infinite(True)))
        yield _claim([negation(self._is_nan), self._is_inf], goal, free)
        yield _claim(usual, iff(is_one(r.inf), overflow), free)
        sign = either(both(zero, self._zero_sign()), both(negation(zero), down))
        yield _claim(usual, iff(is_one(r.term.sign), sign), free)
        largest, carry = num((1 << (p + 1)) - 1), choice(carried, num(1 << p), grown)
        significand = choice(zero, num(0), choice(over, largest, carry))
        yield _claim([negation(overflow), *usual], equal(u(r.term.significand), significand), free)
        exponent = choice(zero, num(e_min), choice(over, num(e_max), plus(num(e_min), raised)))
        yield _claim([negation(overflow), *usual], equal(_exponent(r), exponent), free)

    def _zero_sign(self) -> Expr:
        if self.d.zero_sign == "positive":
            return NEVER
        signs = [is_one(x.term.sign) for x in self.numbers]
        agree = either(all_of(signs), all_of(negation(x) for x in signs))
        nothing = all_of(equal(u(x.aligned), num(0)) for x in self.total.terms)
        zeros = both(nothing, agree)
        mode = constant(self.rho.mode == "RD")
        of_zero = either(both(zeros, any_of(signs)), both(negation(zeros), mode))
        down = less(self.n, num(0))
        sign = either(both(negation(self._n_zero), down), both(self._n_zero, of_zero))
        return sign if self.d.zero_sign == "ieee" else both(negation(self._n_zero), sign)


# ------------------------------------------------------------------ a unit
class Plan:
    """A unit's circuit, its cut points and the claims about them.

    Errors: InputError for a design that is no chain of fused sums of exact products.
    """

    def __init__(self, spec: UnitSpec) -> None:
        self.spec = spec
        self.graph, dot = staged_circuit(spec, spec.k)
        self.root = dot.stages[-1].result
        assert isinstance(self.root, Node)
        blocks = [x for x in dot.stages if isinstance(x, Block)]
        if len(blocks) != len(dot.stages) or any(len(x.steps) != 1 or x.groups for x in blocks):
            raise InputError(f"expected a chain of fused sums, but {spec.name} is none")
        self.leaves: list[Leaf] = []
        self.sums: list[Fused] = []
        k = 0
        for block in blocks:
            (step,) = block.steps
            operands = step.specials.operands if step.specials is not None else ()
            entering: list[Sequence[Node]] = []
            for number in operands[:-1]:
                self.leaves.append(Leaf(self._factors(k, number), number))
                entering.append(())
                k += 1
            if not self.sums:
                c = Factor(self.graph.inputs["c"], spec.c_format, _own(operands[-1].term.significand))
                self.c = Leaf((c,), operands[-1])
                entering.append(())
            else:
                entering.append(self.sums[-1].cut())
            self.sums.append(Fused(step, spec, entering))
        self.nodes = reachable([self.root, *self._named()])

    def _factors(self, k: int, number: Number) -> tuple[Factor, ...]:
        g, spec = self.graph, self.spec
        words = [(g.inputs[f"a[{k}]"], spec.a_format), (g.inputs[f"b[{k}]"], spec.b_format)]
        if spec.scale_format is not None:
            i = k // (spec.scale_block or 1)
            words += [(g.inputs[f"scale_{x}[{i}]"], spec.scale_format) for x in "ab"]
        found = self._significands(number.term.significand, [w for w, _ in words])
        return tuple(Factor(w, f, found.get(w)) for w, f in words)

    def _significands(self, node: Node, words: Sequence[Node]) -> dict[Node, Node]:
        """The factors of a product's significand, by the word that each comes from."""
        if node.op == "const":
            return {}
        below = {x for x in reachable([node]) if x in words}
        if len(below) == 1:
            return {below.pop(): node} if node.op != "input" else {}
        if node.op == "mul_expand":
            return self._significands(node.args[0], words) | self._significands(node.args[1], words)
        return {}

    def _named(self) -> list[Node]:
        """Every node that the claims name."""
        return [x for claim in self.claims() for e in (*claim.given, claim.goal) for x in e.nodes()]

    def claims(self) -> Iterator[Claim]:
        """`Unit.v`, unit_claims."""
        for leaf in (*self.leaves, self.c):
            yield from leaf.claims()
        for x in self.sums:
            yield from x.claims()
        yield from self._word_claims()

    def _word_claims(self) -> Iterator[Claim]:
        last, f = self.sums[-1], self.spec.d_format
        r, free = last.outcome, last.cut()
        root, sign = u(self.root), is_one(r.term.sign)
        scale = 1 << f.fraction_bits

        def word(body: Expr) -> Expr:
            top = choice(sign, num((1 << f.exponent_bits) * scale), num(0))
            return times(plus(top, body), num(1 << f.ignored_low_bits))

        significand = times(u(r.term.significand), num(1 << (f.fraction_bits - r.term.fraction_bits)))
        normal = plus(times(plus(_exponent(r), num(f.bias)), num(scale)), minus(significand, num(scale)))
        number = choice(less(significand, num(scale)), significand, normal)
        yield _claim([is_one(r.nan)], equal(root, num(self.spec.design.nan_word)), free)
        infinity = num(((1 << f.exponent_bits) - 1) * scale)
        yield _claim([negation(is_one(r.nan)), is_one(r.inf)], equal(root, word(infinity)), free)
        known = [negation(is_one(r.nan)), negation(is_one(r.inf)), *last.usual()]
        yield _claim(known, equal(root, word(number)), free)

    # ------------------------------------------------------------------ Coq
    def coq(self) -> str:
        """A file for `coqc` beside the sources: the unit as data, and the theorem about it."""
        circuit = ";\n  ".join(f"Node {name(x)} {x.width} {_operator(x)}" for x in self.nodes)
        claims = ";\n  ".join(x.coq(name) for x in self.claims())
        g, spec = self.graph, self.spec
        inputs = {x: "; ".join(name(g.inputs[f"{x}[{k}]"]) for k in range(spec.k)) for x in "ab"}
        pairs = []
        if spec.scale_format is not None:
            blocks = range(-(-spec.k // (spec.scale_block or 1)))
            pairs = [f"({name(g.inputs[f'scale_a[{i}]'])}, {name(g.inputs[f'scale_b[{i}]'])})" for i in blocks]
        leaves = ";\n  ".join(
            f"([{'; '.join(_maybe(x.significand) for x in leaf.factors)}], {_number(leaf.number)})" for leaf in self.leaves
        )
        sums = ";\n  ".join(_fused(x) for x in self.sums)
        c = self.c
        plan = (
            f"UnitPlan [{inputs['a']}]%positive [{inputs['b']}]%positive {name(g.inputs['c'])} [{'; '.join(pairs)}]%positive\n"
            f" [{leaves}]\n {_number(c.number)} {_maybe(c.factors[0].significand)}\n [{sums}] {name(self.root)}"
        )
        f = spec.design.fraction_bits
        return "\n".join(
            [
                f"(** {spec.name}: its circuit, its cut points and the claims that were certified. *)",
                "From Coq Require Import ZArith List Bool.",
                "From TC Require Import Spec Design Bv Circuit Fused Leaves Unit.",
                "Import ListNotations.",
                "Open Scope Z_scope.",
                f"Definition unit_circuit : circuit := [\n  {circuit}].",
                f"Definition unit_design : design := {coq_design(spec)}.",
                f"Definition unit_sum : sum := {coq_sum(spec.design, spec.design.rho)}.",
                f"Definition plan : unit_plan := {plan}.",
                f"Definition certified : list claim := [\n  {claims}].",
                "Lemma of_design : fused_chain unit_design = Some unit_sum. Proof. reflexivity. Qed.",
                f"Lemma checked : unit_ok unit_circuit unit_design unit_sum {f} plan = true. Proof. vm_compute. reflexivity. Qed.",
                f"Lemma claimed : unit_claims unit_circuit unit_design unit_sum {f} plan = certified. Proof. vm_compute. reflexivity. Qed.",
                "Theorem refined : Forall (holds unit_circuit) certified ->",
                "  forall v, solution unit_circuit v -> v (root plan) = compute unit_design (words_in plan v).",
                f"Proof. rewrite <- claimed. exact (words_to_words _ _ _ {f} _ of_design checked). Qed.",
                "Print Assumptions refined.",
                "",
            ]
        )


def _own(node: Node) -> Node | None:
    return None if node.op in ("const", "input") else node


def name(node: Node) -> str:
    """A node's name: names start at 2."""
    return str(node.index + 2)


def _maybe(node: Node | None) -> str:
    return "None" if node is None else f"(Some {name(node)}%positive)"


def _z(number: int) -> str:
    return f"({number})" if number < 0 else str(number)


def _number(r: Number) -> str:
    t = r.term
    nodes = [name(x) for x in (t.sign, t.significand, t.exponent.bits)]
    return f"(Number {' '.join(nodes)} {_z(t.exponent.low)} {t.fraction_bits} {name(r.nan)} {name(r.inf)})"


def _fused(x: Fused) -> str:
    addends = [
        f"Addend {_number(r)} {name(r.term.zero)} {name(t.shift)} {name(t.aligned)} {x.spans[i]}"
        for i, (t, r) in enumerate(zip(x.total.terms, x.numbers, strict=True))
    ]

    def tree(node: Node) -> str:
        if node not in x.sums:
            return f"(Leaf {name(node)} {x.places[node]}%nat)"
        return f"(Partial {name(node)} {' '.join(tree(y) for y in x.sums[node].of)})"

    e = x.total.e_max
    r = x.rounded
    return (
        f"Fused [{'; '.join(addends)}] {name(e.bits)} {_z(e.low)} {x.top_span} {tree(x.tree)} {name(x.total.bits)} "
        f"{name(r.kept)} {name(r.away)} {name(r.height)} {_number(x.outcome)}"
    )


_NAMES = {
    "not_": "Not", "and_": "And", "or_": "Or", "xor": "Xor", "add_mod": "Add", "sub_mod": "Sub", "neg_mod": "Neg",
    "mul_expand": "Mul", "shl_mod": "Shl", "lshr": "Lshr", "ashr": "Ashr", "eq": "Eq", "ult": "Ult", "ule": "Ule",
    "slt": "Slt", "sle": "Sle", "ite": "Ite", "concat": "Concat", "zero_extend": "Zext", "sign_extend": "Sext",
}  # fmt: skip


def _operator(x: Node) -> str:
    args = " ".join(name(y) for y in x.args)
    if x.op == "input":
        return "Input"
    if x.op == "const":
        return f"(Const {x.params[1]})"
    if x.op == "extract":
        return f"(Extract {x.params[1]} {args})"
    return f"({_NAMES[x.op]} {args})"


# ------------------------------------------------------------------ deciding claims
def question(claim: Claim) -> tuple[Graph, Node]:
    """The graph and the node that is 1 where everything given holds and the goal does not."""
    g = Graph(folded=False)
    made: dict[Node, Node] = {}
    wanted = [y for e in (*claim.given, claim.goal) for y in e.nodes()]
    for node in _ordered(wanted, claim.free):
        if node in claim.free or node.op == "input":
            made[node] = g.input(f"v{len(made)}", node.width)
        elif node.op == "const":
            made[node] = g.const(node.params[1], node.width)
        else:
            made[node] = g.make(node.op, [made[y] for y in node.args], node.params)
    bits_of = Bits(g, made)
    wrong = g.make("not_", (bits_of.formula(claim.goal),))
    for x in claim.given:
        wrong = g.make("and_", (wrong, bits_of.formula(x)))
    return g, wrong


def _ordered(wanted: Sequence[Node], free: frozenset[Node]) -> list[Node]:
    """The nodes between the cut and those wanted, arguments first."""
    seen: set[Node] = set()
    stack = list(wanted)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            if node not in free:
                stack += node.args
    return sorted(seen, key=lambda x: x.index)


def decide(claim: Claim) -> tuple[Cnf, Certificate | None]:
    """The clauses of a claim's negation, and their checked refutation; None where the claim is false."""
    from pysat.solvers import Solver  # a solver is loaded where it is asked

    graph, wrong = question(claim)
    cnf = to_cnf(graph, wrong)
    if not all(cnf.clauses):
        return cnf, certify(cnf, "0\n", "folding")
    with Solver(name="glucose42", bootstrap_with=cnf.clauses, with_proof=True) as solver:
        if solver.solve():
            return cnf, None
        proof = "".join(f"{line}\n" for line in solver.get_proof())
    return cnf, certify(cnf, proof, "glucose42")
