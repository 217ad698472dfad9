"""A unit from words to words: its circuit, its cut points and the claims about them (`Unit.v`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import met, reachable
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.semantics.mma import factors_of_product, flushed_product, negated
from tcformal.semantics.number import Exponent, Number
from tcformal.semantics.pack import converted_word
from tcformal.semantics.product import in_pieces, product
from tcformal.semantics.special import limit_product
from tcformal.semantics.stages import Block, Dot, DotStep, Floored, Maximum
from tcformal.semantics.unpack import unpack
from tcformal.theory.conditions import converted_to
from tcformal.theory.design import coq_design
from tcformal.theory.formulas import NEVER, Claim, Expr, any_of, bits, choice, is_one, num, u
from tcformal.theory.refinement.circuit_numbers import (
    Ending,
    Factor,
    Leaf,
    Piece,
    Product,
    flags,
    flush_claims,
    known_claims,
    number_to_round,
    same_number,
    span_of,
    word_claims,
)
from tcformal.theory.refinement.summed import After, At, Down, Exact, Framed, Front, Fused, Summed
from tcformal.theory.stated_sum import operand_rules


def product_text(x: Product) -> str:
    """A product as `Unit.v`, leaf_plan."""
    wide = normal = "None"
    if x.exact.converted:
        wide = f"(Some ({', '.join(name(to.word) for _, to in x.exact.converted)})%positive)"
    if x.normal is not None:
        normal = f"(Some ({', '.join(map(number_text, x.normal))}))"
    sigs = "; ".join(maybe(y.significand) for y in x.exact.factors)
    numbers = f"{number_text(x.exact.number)} {number_text(x.adjusted)}"
    return f"LeafPlan {wide} [{sigs}] {normal} {numbers} {_rounding(x.rounding)}"


def _rounding(x: Ending | None) -> str:
    """The rounding of one number, if there is one."""
    return "None" if x is None else f"(Some ({_span(x.of.operands[0])}, {ending_text(x)}))"


def _span(r: Number) -> int:
    return span_of(r.term.exponent)


def _operand(r: Number) -> str:
    return f"Operand {number_text(r)} {name(r.term.zero)} {_span(r)}"


def block_text(x: Summed | After | Down | Framed) -> str:
    """The sum of a block as `Unit.v`, summed_block."""
    if isinstance(x, Summed):
        return f"(InTree {tree_text(x)})"
    if isinstance(x, Framed):
        front, first = front_text(x.front), ending_text(x.first)
        return f"(FramedSum (FramedPlan {front} {number_text(x.c)} {first} {_rounding(x.narrowed)}))"
    if isinstance(x, Down):
        return f"(DownSum {_down(x)})"
    of = " ".join(f"({_operand(r)})" for r in (x.made, x.c))
    return (
        f"(AfterSum (After {front_text(x.first)} {x.first.total.fraction_bits} {of} {front_text(x.leads)}"
        f" {x.leads.total.fraction_bits} {ending_text(x.ending)}))"
    )


def _down(x: Down) -> str:
    def level(e: Exponent) -> str:
        return f"(Level {name(e.bits)} {_z(e.low)} {span_of(e)})"

    def floored(y: Floored) -> str:
        return f"(Floored {name(y.shift)} {name(y.kept)})"

    sides = "None"
    if x.two:
        kept, e = " ".join(f"{floored(y)}," for y in x.joined.floored), level(x.joined.e_max)
        sides = f"(Some ({front_text(x.fronts[1])}, {kept} {e}, {name(x.joined.bits)}%positive))"
    c = f"{number_text(x.c)} {floored(x.c_floored)} {x.c_largest} {_span(x.c)}"
    last = f"{level(x.total.e_max)} {name(x.total.bits)} {x.floor.rounded.target.e_max}"
    return (
        f"(DownPlan {front_text(x.fronts[0])} {sides} {floored(x.products_floored)} {c} {last}"
        f" {ending_text(x.floor)} {_span(x.floor.outcome)} {ending_text(x.ending)})"
    )


def ending_text(x: Ending) -> str:
    """A rounding as `Finish.v`, ending."""
    r = x.rounded
    return f"(Ending {name(r.kept)} {name(r.away)} {name(r.height)} {number_text(x.outcome)})"


def tree_text(x: At | Summed) -> str:
    """A tree of sums as `Stage.v`, tree_plan."""
    if isinstance(x, At):
        return f"(At {number_text(x.number)})"
    flushed = f"(Some {number_text(x.result)})" if x.flushed else "None"
    return f"(Sum {sum_text(x.sum)} {flushed} [{'; '.join(map(tree_text, x.children))}])"


def sum_text(x: Fused) -> str:
    """A sum as `Stage.v`, summed."""
    f, fused = x.front.total.fraction_bits, f"(Fused {front_text(x.front)} {ending_text(x.ending)})"
    if not isinstance(x.front, Exact):
        return f"(One {f} {fused})"
    return f"(Two {f} [{'; '.join(map(_operand, x.front.operands))}] {fused})"


def shared_text(claims: Sequence[Claim]) -> tuple[list[str], str]:
    """Definitions of expressions that occur more than once, and the claims with their names."""
    count: Counter[Expr] = Counter()

    def visit(x: Expr) -> None:
        count[x] += 1
        if count[x] == 1:
            for y in x.args:
                if isinstance(y, Expr):
                    visit(y)

    for claim in claims:
        for e in (*claim.given, claim.goal):
            visit(e)
    names: dict[Expr, str] = {}
    lines: list[str] = []

    def text(x: Expr) -> str:
        known = names.get(x)
        if known is not None:
            return known
        made = x.coq_with(name, text)
        if count[x] > 1 and len(made) > 12:
            names[x] = f"e{len(names)}"
            lines.append(f"Definition {names[x]} := {made}.")
            return names[x]
        return made

    rows = [f"Claim [{'; '.join(map(text, x.given))}] {text(x.goal)}" for x in claims]
    return lines, ";\n  ".join(rows)


def name(node: Node) -> str:
    """A node's name: names start at 2."""
    return str(node.index + 2)


def maybe(node: Node | None) -> str:
    """A node, or None."""
    return "None" if node is None else f"(Some {name(node)}%positive)"


def _z(value: int) -> str:
    return f"({value})" if value < 0 else str(value)


def number_text(r: Number) -> str:
    """A number as `Finish.v`, number."""
    t = r.term
    nodes = [name(x) for x in (t.sign, t.significand, t.exponent.bits)]
    return f"(Number {' '.join(nodes)} {_z(t.exponent.low)} {t.fraction_bits} {name(r.nan)} {name(r.inf)})"


def front_text(x: Front) -> str:
    """A sum before it is rounded as `Fused.v`, front."""
    addends = [
        f"Addend {number_text(r)} {name(r.term.zero)} {name(t.shift)} {name(t.aligned)}"
        f" {x.largest(i)} {_span(r)}"
        for i, (t, r) in enumerate(zip(x.total.terms, x.numbers, strict=True))
    ]

    def partial(node: Node) -> str:
        if node not in x.sums:
            return f"(Leaf {name(node)} {x.places[node]}%nat)"
        return f"(Partial {name(node)} {' '.join(partial(y) for y in x.sums[node].of)})"

    places = iter(range(len(x.numbers)))

    def compared(t: Maximum) -> str:
        if not t.halves:
            i = next(places)
            least, most = x.code_range(i)
            return f"(Only {name(t.code)} {i}%nat {least} {most})"
        return f"(Larger {name(t.code)} {' '.join(compared(y) for y in t.halves)})"

    e = x.total.e_max
    return (
        f"(Front [{'; '.join(addends)}] {compared(x.largest_of)} {_z(x.largest_of.low)}"
        f" {name(e.bits)} {_z(e.low)} {span_of(e)}"
        f" {partial(x.tree)} {name(x.total.bits)})"
    )


_NAMES = {
    "not_": "Not", "and_": "And", "or_": "Or", "xor": "Xor", "add_mod": "Add", "sub_mod": "Sub",
    "neg_mod": "Neg",
    "mul_expand": "Mul", "shl_mod": "Shl", "lshr": "Lshr", "ashr": "Ashr", "eq": "Eq", "ult": "Ult",
    "ule": "Ule",
    "slt": "Slt", "sle": "Sle", "ite": "Ite", "concat": "Concat", "zero_extend": "Zext",
    "sign_extend": "Sext",
}  # fmt: skip


def operator_text(x: Node) -> str:
    """A node's operator as `Circuit.v`."""
    args = " ".join(name(y) for y in x.args)
    if x.op == "input":
        return "Input"
    if x.op == "const":
        return f"(Const {x.params[1]})"
    if x.op == "extract":
        return f"(Extract {x.params[1]} {args})"
    return f"({_NAMES[x.op]} {args})"


@dataclass(frozen=True, slots=True)
class MaybeNan:
    """A NaN that may be there, and its word as a result."""

    present: Expr
    word: Expr


NO_NAN = MaybeNan(NEVER, num(0))
#: The NaNs of the two factors of a product.
Nans = tuple[MaybeNan, MaybeNan]


def quiet_term(f: Format, to: Format, word: Node) -> Expr:
    """A NaN's word made quiet and widened (`NanWords.v`, quiet_term)."""
    low, t, e, wide = f.ignored_low_bits, f.fraction_bits, f.exponent_bits, to.fraction_bits
    moved = bits(low, t, u(word)) * (1 << wide - t)
    half = num(1 << (wide - 1))
    sign = bits(low + t + e, 1, u(word)) if f.sign is Sign.PRESENT else num(0)
    ones = sign * (1 << to.exponent_bits) + ((1 << to.exponent_bits) - 1)
    fraction = choice(moved < half, moved + half, moved)
    return (ones * (1 << wide) + fraction) * (1 << to.ignored_low_bits)


def word_nan(f: Format, to: Format, word: Node) -> MaybeNan:
    """A word as a NaN of another format."""
    return MaybeNan(Factor(word, f, None).shown().nan, quiet_term(f, to, word))


def block_term(
    rule: str, default: int, how: str, nans: Sequence[Nans], products: Sequence[Number], c: MaybeNan,
    tree: Summed,
) -> Expr:  # fmt: skip
    """The word of a block that ends as a NaN (`NanWords.v`, block_term).

    `how`: the sums of products before c is added, "" where c is the first operand or all is one sum.
    """
    invalid = num(default)
    if how == "fused":
        both = [products[0], *_spine(tree.children[0])]
        return _first(invalid, [_chain(rule, invalid, NO_NAN, nans, both), c])
    if how in ("two_chains", "pair_chains"):
        inner = tree.children[0]
        assert isinstance(inner, Summed)
        results = [_spine(x) for x in inner.children]
        if how == "two_chains":
            sides = [_chain(rule, invalid, NO_NAN, nans[i::2], x) for i, x in enumerate(results)]
        else:
            steps = list(zip(nans, products, strict=True))
            sides = [_pairs(invalid, x, steps[2 * i :]) for i, x in enumerate(results)]
        return _first(invalid, [c, *sides])
    return _first(invalid, [_chain(rule, invalid, c, nans, _spine(tree))])


def _spine(x: At | Summed) -> list[Number]:
    """The results along the first operands of a tree."""
    return [] if isinstance(x, At) else [*_spine(x.children[0]), x.sum.ending.outcome]


def _first(default: Expr, nans: Sequence[MaybeNan]) -> Expr:
    return reduce(lambda word, x: choice(x.present, x.word, word), reversed(nans), default)


def _chain(
    rule: str, default: Expr, start: MaybeNan, nans: Sequence[Nans], results: Sequence[Number]
) -> MaybeNan:
    made = start
    for (a, b), y in zip(nans, results, strict=False):
        order = {"b_sum_a": [b, made, a], "a_sum_b": [a, made, b]}.get(rule, [a, b, made])
        nan = is_one(y.nan)
        made = MaybeNan(nan | made.present, choice(nan, _first(default, order), made.word))
    return made


def _pairs(default: Expr, results: Sequence[Number], steps: Sequence[tuple[Nans, Number]]) -> MaybeNan:
    if len(steps) < 2 or not results:
        return NO_NAN
    rest = _pairs(default, results[1:], steps[4:]) if len(steps) >= 4 else NO_NAN
    present, word = is_one(results[0].nan) | rest.present, rest.word
    word = choice(is_one(results[0].nan), default, word)
    for nans, last in reversed(steps[:2]):
        nan = is_one(last.nan)
        present, word = nan | present, choice(nan, _first(default, nans), word)
    return MaybeNan(present, word)


def then_c_term(
    word: int, default: int, nans: Sequence[Nans], products: Sequence[Number], c: MaybeNan
) -> Expr:
    """`Frames.v`, then_c_term."""
    factors = any_of(a.present | b.present for a, b in nans)
    signs = ((is_one(x.inf), is_one(x.term.sign)) for x in products)
    pairs = list(signs)
    infinite = any_of((x & ~y for x, y in pairs)) & any_of((x & y for x, y in pairs))
    invalid = any_of(is_one(x.nan) for x in products) | infinite
    last = choice(c.present, c.word, default)
    return choice(factors, word, choice(invalid, default, last))


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
