"""The plan of a unit whose design `Design.v` describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec, most_exact_terms
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import met, reachable
from tcformal.semantics.chain import chained_dot, declare_inputs
from tcformal.semantics.mma import factors_of_product, flushed_product, negated
from tcformal.semantics.number import Number
from tcformal.semantics.pack import converted_word
from tcformal.semantics.product import in_pieces, product
from tcformal.semantics.special import limit_product
from tcformal.semantics.stages import (
    Block,
    Dot,
    DotStep,
)
from tcformal.semantics.sums.windows import FIXED_WINDOW, fixed_width
from tcformal.semantics.unpack import unpack
from tcformal.theory.circuits import circuit_text, claims_text, maybe, name
from tcformal.theory.constants import converted_to
from tcformal.theory.design import coq_design
from tcformal.theory.formulas import (
    Claim,
    Expr,
    is_one,
    num,
)
from tcformal.theory.plans.ending import Ending, tiny_otherwise
from tcformal.theory.plans.nans import (
    MaybeNan,
    block_term,
    first_present,
    quiet_term,
    steps_term,
    then_c_term,
    word_nan,
)
from tcformal.theory.plans.numbers import (
    Factor,
    Leaf,
    flags,
    flush_claims,
    known_claims,
    number_to_round,
    same_number,
    word_claims,
)
from tcformal.theory.plans.products import Product
from tcformal.theory.plans.sums import (
    After,
    At,
    BlockSum,
    Down,
    Framed,
    Fused,
    Summed,
    Window,
    block_text,
    sum_text,
)
from tcformal.theory.plans.written import number_text, product_text
from tcformal.theory.stated_sum import operand_rules


class Plan:
    """A unit's circuit, its cut points and the claims about them.

    Errors: InputError for a design with stages of other kinds than sums of one exact or cut sum.
    """

    def __init__(self, spec: UnitSpec) -> None:
        self.design = coq_design(spec)  # first, because it says what the specification has not
        check_plannable(spec)
        g = Graph()  # one of its own, because cut points are named in it
        dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
        self._read(spec, g, dot, range(spec.k), g.inputs["c"], dot.result, slice(None))

    @classmethod
    def of_block(cls, spec: UnitSpec, g: Graph, dot: Dot, i: int, c: Node, root: Node) -> Plan:
        """The plan of one block of a circuit, from the word `c` before it to that of its sum."""
        made, length = cls.__new__(cls), min(spec.k, spec.design.products)
        made._read(spec, g, dot, range(i * length, (i + 1) * length), c, root, slice(i, i + 1))
        return made

    def _read(
        self, spec: UnitSpec, g: Graph, dot: Dot, ks: range, c_node: Node, root: Node, blocks: slice
    ) -> None:
        self.spec, self.how, self.graph = spec, spec.emulation, g
        self.ks, self.c_node, self.root = ks, c_node, root
        d = spec.design
        self.rule = str(d.c_subnormals)
        self.inner = self.rule if spec.tree is not None else "kept"
        self.rounds_down, self.windowed = d.summation in ("tr", "gtr"), _windowed(spec)
        roundings = {x.operands[0].ks[0]: x for x in dot.steps if _rounds_product(x)}
        self.leaves = [self._product(k, roundings) for k in ks]
        c = unpack(g, c_node, spec.c_format)
        self.c = Leaf((Factor(c_node, spec.c_format, _own(c.term.significand)),), c)
        before, entering = c, [c_node]
        self.zero: Number | None = None
        self.blocks: list[tuple[Number, Number, Sequence[Node], BlockSum]] = []
        self.outcomes: list[Number] = []
        self.nan_rule = str(d.nan_rule) if spec.tree is None else spec.tree.nan_rule
        groups = self._groups(dot)[blocks]
        if self.how is not None:
            before, entering = unpack(g, g.const(0, spec.d_format.width), spec.d_format), []
            self.zero = before
        self.designs = {d.conversion: d}
        if spec.tree is not None:
            self.designs = {x.conversion: x for x in stage_designs(spec.tree, d).values()}
        for i, steps in enumerate(groups):
            if d.c_position == "after" or self.rounds_down or d.framed or self.windowed:
                products = self.leaves[i * d.products : (i + 1) * d.products]
                into = [x.cut() for x in products for _ in x.terms]
                block: After | Down | Framed | Window
                if self.windowed or d.c_position == "after":
                    block = (Window if self.windowed else After)(g, d, steps, into, entering)
                else:
                    block = (Framed if d.framed else Down)(d, steps, into, entering)
                self.blocks.append((before, block.c, entering, block))
                before, entering = block.ending.outcome, block.ending.cut()
                continue
            counted = self._c_of(steps)
            self.results = [(x.specials.result, x) for x in steps if x.specials is not None]
            self.outcomes += [x for x, _ in self.results]
            if len(self.results) != len(steps):
                raise InputError(f"expected sums that are rounded, but {spec.name} has others")
            tree = self._tree(steps[-1].specials.result, counted, entering)  # type: ignore[union-attr]
            self.blocks.append((before, counted, entering, tree))
            before, entering = tree.ending.outcome, tree.ending.cut()
        self.adding: tuple[Number, Fused] | None = None
        if self.how is not None:
            last = dot.stages[-1]
            assert isinstance(last, DotStep)
            assert last.specials is not None
            cuts = [[dot.blocks[-1].result], [c_node]]
            self.adding = last.specials.operands[0], Fused(last, self.how.addition, cuts)
        self.last = self.adding[1] if self.adding is not None else self.blocks[-1][3]
        self.all_claims = list(self._claims())
        named = [x for claim in self.all_claims for e in (*claim.given, claim.goal) for x in e.nodes()]
        self.nodes = reachable([self.root, *named])

    def _groups(self, dot: Dot) -> list[list[DotStep]]:
        """The sums of each block."""
        spec = self.spec
        if any(isinstance(x, Block) and x.groups for x in dot.stages):
            raise InputError(f"expected whole products, but {spec.name} has others")
        every = [x.steps for x in dot.stages if isinstance(x, Block)]
        if spec.tree is not None:
            every = [tuple(x for x in dot.stages if isinstance(x, DotStep))]
        return [[x for x in steps if not _rounds_product(x)] for steps in every]

    def _product(self, k: int, roundings: Mapping[int, DotStep]) -> Product:
        """The product of one k, from its words to the term that it is."""
        g, d = self.graph, self.spec.design
        exact = self._leaf(k)
        normal = None
        (x, y) = exact.factors[:2]
        if d.normalise_operands:
            formats = replace(self.spec.operands, a=x.fmt, b=y.fmt)
            normal = factors_of_product(g, d, formats, x.word, y.word)
        number = exact.number
        if d.subtracts(k):
            number = negated(g, number)
        number = limit_product(g, number, d.product_limit)
        rounded = None
        if d.product_rounding is not None:
            step = roundings[k]
            if step.rounded is None or step.specials is None:
                raise InputError(f"expected a rounded product of {k} in {self.spec.name}")
            rounded = Ending(step.rounded, step.specials.result, d, number_to_round(number))
        pieces: tuple[tuple[tuple[int, int], Number], ...] = ()
        if d.piece_bits is not None:
            one, other = (range(0, x.width, d.piece_bits) for x in number.term.factors)
            places = [(i, j) for i in range(len(one)) for j in range(len(other)) if i + j >= d.dropped_pieces]
            made = in_pieces(g, number, d.piece_bits, d.dropped_pieces)
            pieces = tuple(zip(places, made, strict=True))
        return Product(exact, normal, number, d.subtracts(k), d.product_limit, rounded, pieces)

    def _leaf(self, k: int) -> Leaf:
        g, spec, d = self.graph, self.spec, self.spec.design
        words = [(g.inputs[f"a[{k}]"], spec.a_format), (g.inputs[f"b[{k}]"], spec.b_format)]
        wide = converted_to(spec)
        rules = [*operand_rules(d)]
        converted: tuple[tuple[Factor, Factor], ...] = ()
        o = spec.operands
        if wide is not None:
            to = []
            for x, (w, f) in zip("ab", words, strict=True):
                with g.scope(f"plan.{x}{k}"):
                    to.append((converted_word(g, w, f, wide), wide))
            pairs = zip(words, to, strict=True)
            converted = tuple((Factor(w, f, None), Factor(v, wide, None)) for (w, f), (v, _) in pairs)
            words, o = to, replace(o, a=wide, b=wide)
        number = flushed_product(g, d, o, words[0][0], words[1][0])
        if spec.scale_format is not None:
            i = k // (spec.scale_block or 1)
            words += [(g.inputs[f"scale_{x}[{i}]"], spec.scale_format) for x in "ab"]
            rules += ["kept", "kept"]
            for w, f in words[2:]:
                number = product(g, number, unpack(g, w, f))
        found = self._significands(number.term.significand, [w for w, _ in words])
        factors = tuple(Factor(w, f, found.get(w), rule) for (w, f), rule in zip(words, rules, strict=True))
        return Leaf(factors, number, converted)

    def _significands(self, node: Node, words: Sequence[Node]) -> dict[Node, Node]:
        """The factors of a product's significand, by the word that each comes from."""
        below = met([node], {x.index for x in words})[1]
        if len(below) == 1 and node.op != "input":
            return {below[0]: node}
        if node.op == "mul_expand":
            return self._significands(node.args[0], words) | self._significands(node.args[1], words)
        return {}

    def _c_of(self, steps: Sequence[DotStep]) -> Number:
        """What c counts as in a block."""
        if len(steps) == 1:
            assert steps[0].specials is not None
            return steps[0].specials.operands[-1]
        for x in steps:
            for operand, number in zip(x.operands, x.specials.operands if x.specials else (), strict=False):
                if operand.kind in ("c", "block"):
                    return number
        return self.c.number  # of a tree without it

    def _tree(self, number: Number, c: Number, entering: Sequence[Node]) -> Summed:
        """The sum that makes a number, and what is summed in it."""
        made_by = [
            x for y, x in self.results
            if y.nan is number.nan and y.inf is number.inf
            and y.term.exponent.bits is number.term.exponent.bits
        ]  # fmt: skip
        if not made_by:
            raise InputError(f"expected a sum that makes each operand of {self.spec.name} that is no product")
        step = made_by[0]
        assert step.specials is not None
        assert step.rounded is not None
        rho = step.rounded.target
        children: list[At | Summed] = []
        cuts: list[Sequence[Node]] = []
        for operand, x in zip(step.operands, step.specials.operands, strict=True):
            leaves = (y for y in self.leaves if any(same_number(z, x) for z in y.terms))
            leaf = next(leaves, None) if operand.kind == "products" else None
            child: At | Summed = At(x)
            if leaf is not None:
                cut: Sequence[Node] = leaf.cut()
            elif x is c:
                cut = entering
            elif operand.kind == "zero":
                child, cut = At(x, (rho.e_min, rho.fraction_bits)), []
            else:
                child = self._tree(x, c, entering)
                cut = child.ending.cut()
            children.append(child)
            cuts.append(cut)
        fused = Fused(step, self.designs.get(step.conversion, self.spec.design), cuts)
        return Summed(fused, number, tuple(children), not same_number(number, fused.ending.outcome))

    def claims(self) -> Iterator[Claim]:
        """`Unit.v`, unit_claims."""
        return iter(self.all_claims)

    def _claims(self) -> Iterator[Claim]:
        for leaf in self.leaves:
            yield from leaf.claims()
        for leaf in self.leaves:
            yield from leaf.piece_claims(self.spec.design.piece_bits or 0)
        yield from self.c.claims()
        known: list[Expr] = []
        for before, counted, entering, tree in self.blocks:
            yield from flush_claims(known, self.rule, before, counted, entering)
            yield from self._tree_claims(tree) if isinstance(tree, Summed) else tree.claims()
            known = tree.ending.usual()
        if self.adding is not None and self.zero is not None:
            number, fused = self.adding
            f = self.spec.d_format
            yield from known_claims((1 - f.bias, f.fraction_bits), self.zero)
            parts = self.blocks[-1][3]
            yield from flush_claims(known, "kept", parts.ending.outcome, number, parts.ending.cut())
            yield from fused.claims()
        end, last = self.last.ending, self.last.ending.outcome.term
        cut = nan_cut = end.cut()
        if self.nan_rule != "word":  # what NaNs of all sums are made of, and the result beside its word
            made = [y for x in self.outcomes for y in (x.inf, x.term.sign)]
            nan_cut = [*flags(x.number for x in self.leaves), *made, last.significand, last.exponent.bits]
        yield from word_claims(
            self.spec.d_format, self._nan_word(), end.outcome, end.usual(), self.root, cut, nan_cut
        )

    def _nan_word(self) -> Expr:
        """The word of a result that is a NaN."""
        spec, d = self.spec, self.spec.design
        if self.how is not None:
            return num(self.how.addition.nan_word)
        if self.nan_rule == "word":
            return num(d.nan_word)
        g, to, a, b = self.graph, spec.d_format, spec.a_format, spec.b_format
        nans = [
            (word_nan(a, to, g.inputs[f"a[{k}]"]), word_nan(b, to, g.inputs[f"b[{k}]"]))
            for k in range(spec.k)
        ]
        word = quiet_term(spec.c_format, to, g.inputs["c"])
        joined = d.c_position in ("joined", "first")
        length = min(spec.k, d.products)
        for i, (_, counted, _, tree) in enumerate(self.blocks):
            assert isinstance(tree, Summed | Framed)
            order = range(i * length, (i + 1) * length)
            ks = [k if d.order == "ascending" else k ^ 1 for k in order]
            products, own = [self.leaves[k].number for k in ks], [nans[k] for k in ks]
            c = MaybeNan(is_one(counted.nan), word)
            if isinstance(tree, Framed):
                word = then_c_term(d.factor_nan_word or 0, d.nan_word, own, products, c)
            elif spec.tree is not None:
                invalid = num(d.nan_word)
                word = first_present(
                    invalid, [steps_term(self.nan_rule, invalid, own, products, c, counted, tree)]
                )
            else:
                how = "" if joined else d.summation
                word = block_term(self.nan_rule, d.nan_word, how, own, products, c, tree)
        return word

    def _tree_claims(self, tree: Summed) -> Iterator[Claim]:
        end = tree.ending
        yield from tree.sum.claims()
        yield from flush_claims(end.usual(), self.inner, end.outcome, tree.result, end.cut())
        for x in tree.children:
            if isinstance(x, Summed):
                yield from self._tree_claims(x)
            elif x.zero is not None:
                yield from known_claims(x.zero, x.number)

    def coq(self) -> str:
        """A file for `coqc` beside the sources: the unit as data, and the theorem about it."""
        grouped = self.spec.design.aligned_group is not None
        more = ["RoundDown"] * (self.rounds_down or grouped) + ["FrameGroups"] * grouped
        more += ["Frames"] * self.spec.design.framed
        more += ["Window"] * self.windowed
        required = "".join(f"From TC Require Import {x}.\n" for x in [*more, "Unit"])
        return f"""\
(** {self.spec.name}: its circuit, its cut points and the claims that were certified. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec Design Bv Circuit Finish Fused Leaves Stage Products After.
{required}Import ListNotations.
Open Scope Z_scope.
{circuit_text(self.nodes)}
Definition unit_design : design := {self.design}.
Definition plan : unit_plan := {self.text()}.
{claims_text(self.all_claims)}
Lemma checked : unit_ok unit_circuit unit_design plan = true.
Proof. vm_compute. reflexivity. Qed.
Lemma claimed : claims_eqb (unit_claims unit_circuit unit_design plan) certified = true.
Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v ->
  v (root plan) = compute unit_design (words_in plan v).
Proof. exact (certified_words_to_words _ _ _ _ checked claimed). Qed.
"""

    def text(self) -> str:
        """The plan as `Unit.v`, unit_plan."""
        g, spec = self.graph, self.spec
        inputs = {x: "; ".join(name(g.inputs[f"{x}[{k}]"]) for k in self.ks) for x in "ab"}
        scales: list[str] = []
        if spec.scale_format is not None:
            count = range(-(-spec.k // (spec.scale_block or 1)))
            scales = [
                f"({name(g.inputs[f'scale_a[{i}]'])}, {name(g.inputs[f'scale_b[{i}]'])})" for i in count
            ]
        leaves = ";\n  ".join(product_text(x) for x in self.leaves)
        blocks = ";\n  ".join(
            f"BlockPlan {number_text(counted)} {block_text(x)}" for _, counted, _, x in self.blocks
        )
        adding = "None"
        if self.adding is not None:
            adding = f"(Some ({number_text(self.adding[0])}, {sum_text(self.adding[1])}))"
        zero = self.c.number if self.zero is None else self.zero
        plan, pieces = "UnitPlan", ""
        if spec.design.piece_bits is not None:
            rows = (f"[{'; '.join(map(number_text, x.terms))}]" for x in self.leaves)
            plan, pieces = "InPieces", f" [{'; '.join(rows)}]"
        return (
            f"{plan} [{inputs['a']}]%positive [{inputs['b']}]%positive {name(self.c_node)}"
            f" [{'; '.join(scales)}]%positive\n"
            f" [{leaves}]\n {number_text(self.c.number)} {maybe(self.c.factors[0].significand)}"
            f" {number_text(zero)}\n"
            f" [{blocks}]\n {adding} {name(self.root)}{pieces}"
        )


def check_plannable(spec: UnitSpec) -> None:
    """InputError for what `Unit.v`, design_ok, does not take."""
    d = spec.design
    fixed = d.product_rounding is not None and d.product_conversion.integer_bits is not None
    down = (d.sum_rounding, d.zero_exponent, d.zero_sign) == ("RD", "none", "sum")
    missing = {
        "groups of products": d.group is not None, "products in fixed point": fixed,
        "factors with exponents in steps": d.exponent_step != 1,
        "zeros that count as others": d.zero_terms is not None,
        "blocks that are skipped": d.zero_words == "skipped",
        "normalised products in a sum that is cut": d.normalise_products,
        "a sum of bounded width": d.carry_bits is not None,
        "sums that keep what is cut off": d.lost_bits != "cut",
        "factors that are cut in halves": d.lost_bits == "halves",
        "tiny results that are rounded otherwise": tiny_otherwise(d),
        "sums rounded down otherwise": d.summation in ("tr", "gtr") and not down,
        "exact sums of more than two terms": most_exact_terms(spec) > 2 and not _windowed(spec),
    }  # fmt: skip
    found = [x for x, is_so in missing.items() if is_so]
    if found:
        raise InputError(f"expected a unit without {', '.join(found)}, but got {spec.name}")


def _windowed(spec: UnitSpec) -> bool:
    """Whether each sum of a unit is exact, of several products in one window, and of c."""
    d = spec.design
    if (
        spec.tree is not None
        or (d.summation, d.c_position) != ("fused", "joined")
        or most_exact_terms(spec) < 3
    ):
        return False
    g, o = Graph(), spec.operands
    a, b = (unpack(g, g.input(x, f.width), f) for x, f in (("a", o.a), ("b", o.b)))
    terms = [product(g, a, b).term]
    return fixed_width(terms * (most_exact_terms(spec) - 1)) <= FIXED_WINDOW


def _rounds_product(x: DotStep) -> bool:
    """Whether a step is the rounding of a product."""
    return x.total is None and x.made.kind == "products"


def _own(node: Node) -> Node | None:
    return None if node.op in ("const", "input") else node
