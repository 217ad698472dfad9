"""A unit from words to words: its circuit, its cut points and the claims about them (`Unit.v`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import met, reachable
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.semantics.mma import factors_of_product, flushed_product, negated
from tcformal.semantics.number import Number
from tcformal.semantics.pack import converted_word
from tcformal.semantics.product import in_pieces, product
from tcformal.semantics.special import limit_product
from tcformal.semantics.stages import Block, Dot, DotStep
from tcformal.semantics.unpack import unpack
from tcformal.theory.conditions import converted_to
from tcformal.theory.design import coq_design
from tcformal.theory.refinement.ending import Ending, number_to_round
from tcformal.theory.refinement.nans import MaybeNan, block_term, quiet_term, then_c_term, word_nan
from tcformal.theory.refinement.printing import (
    block_text,
    maybe,
    name,
    number_text,
    operator_text,
    product_text,
    shared_text,
    sum_text,
)
from tcformal.theory.refinement.products import Piece, Product
from tcformal.theory.refinement.sums import After, At, Down, Framed, Fused, Summed
from tcformal.theory.refinement.values import (
    Factor,
    Leaf,
    flags,
    flush_claims,
    known_claims,
    same_number,
    word_claims,
)
from tcformal.theory.stated_sum import operand_rules
from tcformal.theory.terms import Claim, Expr, is_one, num


class Plan:
    """A unit's circuit, its cut points and the claims about them.

    Errors: InputError for a design with stages of other kinds than sums of one exact or cut sum.
    """

    def __init__(self, spec: UnitSpec) -> None:
        _refuse(spec)
        self.spec, self.how = spec, spec.emulation
        self.graph = g = Graph()  # one of its own, because cut points are named in it
        dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
        d = spec.design
        self.root = dot.result
        self.rule = str(d.c_subnormals)
        self.inner = self.rule if spec.tree is not None else "kept"
        roundings = {x.operands[0].ks[0]: x for x in dot.steps if _rounds_product(x)}
        self.leaves = [self._product(k, roundings) for k in range(spec.k)]
        c = unpack(g, g.inputs["c"], spec.c_format)
        self.c = Leaf((Factor(g.inputs["c"], spec.c_format, _own(c.term.significand)),), c)
        before, entering = c, [g.inputs["c"]]
        self.zero: Number | None = None
        self.blocks: list[tuple[Number, Number, Sequence[Node], Summed | After | Down | Framed]] = []
        self.outcomes: list[Number] = []
        self.nan_rule = str(d.nan_rule) if spec.tree is None else spec.tree.nan_rule
        groups = self._groups(dot)
        if self.how is not None:
            before, entering = unpack(g, g.const(0, spec.d_format.width), spec.d_format), []
            self.zero = before
        self.designs = {d.conversion: d}
        if spec.tree is not None:
            self.designs = {x.conversion: x for x in stage_designs(spec.tree, d).values()}
        for i, steps in enumerate(groups):
            if d.c_position == "after" or self.rounds_down or d.framed:
                products = self.leaves[i * d.products : (i + 1) * d.products]
                into = [x.cut() for x in products for _ in x.terms]
                block: After | Down | Framed
                if d.c_position == "after":
                    block = After(g, d, steps, into, entering)
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
            cuts = [[dot.blocks[-1].result], [g.inputs["c"]]]
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
        if spec.tree is not None:
            return [[x for x in dot.stages if isinstance(x, DotStep) and not _rounds_product(x)]]
        blocks = [x for x in dot.stages if isinstance(x, Block)]
        return [[x for x in block.steps if not _rounds_product(x)] for block in blocks]

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
        pieces: tuple[Piece, ...] = ()
        if d.piece_bits is not None:
            one, other = (range(0, x.width, d.piece_bits) for x in number.term.factors)
            places = [(i, j) for i in range(len(one)) for j in range(len(other)) if i + j >= d.dropped_pieces]
            made = in_pieces(g, number, d.piece_bits, d.dropped_pieces)
            pieces = tuple(Piece(x, y) for x, y in zip(places, made, strict=True))
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
        raise InputError(f"expected a sum with c in {self.spec.name}")

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
        end = self.last.ending
        cut = end.cut()
        nan_cut = cut if self.nan_rule == "word" else self._nan_cut()
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
            else:
                how = "" if joined else d.summation
                word = block_term(self.nan_rule, d.nan_word, how, own, products, c, tree)
        return word

    def _nan_cut(self) -> list[Node]:
        """The nodes that NaNs of all sums are made of, and those of the result beside its word."""
        last = self.last.ending.outcome.term
        made = [y for x in self.outcomes for y in (x.inf, x.term.sign)]
        return [*flags(x.number for x in self.leaves), *made, last.significand, last.exponent.bits]

    def _tree_claims(self, tree: Summed) -> Iterator[Claim]:
        end = tree.ending
        yield from tree.sum.claims()
        yield from flush_claims(end.usual(), self.inner, end.outcome, tree.result, end.cut())
        for x in tree.children:
            if isinstance(x, Summed):
                yield from self._tree_claims(x)
            elif x.zero is not None:
                yield from known_claims(x.zero, x.number)

    @property
    def rounds_down(self) -> bool:
        """Whether its sums round down."""
        return self.spec.design.summation in ("tr", "gtr")

    # ------------------------------------------------------------------ Coq
    def coq(self) -> str:
        """A file for `coqc` beside the sources: the unit as data, and the theorem about it."""
        circuit = ";\n  ".join(f"Node {name(x)} {x.width} {operator_text(x)}" for x in self.nodes)
        definitions, claims = shared_text(self.all_claims)
        return "\n".join(
            [
                f"(** {self.spec.name}: its circuit, its cut points and the claims that were certified. *)",
                "From Coq Require Import ZArith List Bool.",
                "From TC Require Import Spec Design Bv Circuit Finish Fused Leaves Stage Products After.",
                *(["From TC Require Import RoundDown."] if self.rounds_down else []),
                *(["From TC Require Import Frames."] if self.spec.design.framed else []),
                "From TC Require Import Unit.",
                "Import ListNotations.",
                "Open Scope Z_scope.",
                f"Definition unit_circuit : circuit := [\n  {circuit}].",
                f"Definition unit_design : design := {coq_design(self.spec)}.",
                f"Definition plan : unit_plan := {self._coq_plan()}.",
                *definitions,
                f"Definition certified : list claim := [\n  {claims}].",
                "Lemma checked : unit_ok unit_circuit unit_design plan = true.",
                "Proof. vm_compute. reflexivity. Qed.",
                "Lemma claimed : claims_eqb (unit_claims unit_circuit unit_design plan) certified = true.",
                "Proof. vm_compute. reflexivity. Qed.",
                "Theorem refined : Forall (holds unit_circuit) certified ->",
                "  forall v, solution unit_circuit v ->",
                "  v (root plan) = compute unit_design (words_in plan v).",
                "Proof. exact (certified_words_to_words _ _ _ _ checked claimed). Qed.",
                "",
            ]
        )

    def _coq_plan(self) -> str:
        g, spec = self.graph, self.spec
        inputs = {x: "; ".join(name(g.inputs[f"{x}[{k}]"]) for k in range(spec.k)) for x in "ab"}
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
            f"{plan} [{inputs['a']}]%positive [{inputs['b']}]%positive {name(g.inputs['c'])}"
            f" [{'; '.join(scales)}]%positive\n"
            f" [{leaves}]\n {number_text(self.c.number)} {maybe(self.c.factors[0].significand)}"
            f" {number_text(zero)}\n"
            f" [{blocks}]\n {adding} {name(self.root)}{pieces}"
        )


def _refuse(spec: UnitSpec) -> None:
    """InputError for what `Unit.v`, design_ok, does not take."""
    d = spec.design
    missing = {
        "groups of products": d.group is not None,
        "products in fixed point": d.product_rounding is not None
        and d.product_conversion.integer_bits is not None,
        "factors with exponents in steps": d.exponent_step != 1,
        "zeros that count as others": d.zero_terms is not None,
        "blocks that are skipped": d.zero_words == "skipped",
        "normalised products in a sum that is cut": d.normalise_products,
        "a sum of bounded width": d.carry_bits is not None,
        "sums that keep what is cut off": d.lost_bits != "cut",
        "groups that are aligned among themselves": d.aligned_group is not None,
        "sums in c's frame that are rounded twice": d.framed and d.accumulator is not None,
        "factors that are cut in halves": d.lost_bits == "halves",
        "sums rounded down otherwise": d.summation in ("tr", "gtr")
        and (d.sum_rounding, d.zero_exponent, d.zero_sign) != ("RD", "none", "sum"),
    }
    found = [x for x, is_so in missing.items() if is_so]
    if found:
        raise InputError(f"expected a unit without {', '.join(found)}, but got {spec.name}")


def _rounds_product(x: DotStep) -> bool:
    """Whether a step is the rounding of a product."""
    return x.total is None and x.made.kind == "products"


def _own(node: Node) -> Node | None:
    return None if node.op in ("const", "input") else node
