"""The circuit of a unit of integers, cut as `coq/IntegerCircuit.v` has it: products, additions, conversions.

The additions are found in the circuit and not trusted: a wrong one makes a claim false, or Coq refuse the
unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tcformal.design.rounding import Conversion
from tcformal.design.trees.arrangements import chained_blocks
from tcformal.design.trees.tree import Step
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.semantics.chain import chained_dot, declare_inputs
from tcformal.semantics.number import Number
from tcformal.semantics.product import product
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import Block, DotStep, Operand
from tcformal.semantics.unpack import unpack
from tcformal.theory.circuits import circuit_text, claims_text, name
from tcformal.theory.design import Sum, tree_sum
from tcformal.theory.formulas import (
    NEVER,
    Claim,
    Expr,
    bits,
    choice,
    differ,
    equal,
    iff,
    is_one,
    magnitude,
    make_claim,
    sg,
    u,
    within,
)


def _sums(spec: UnitSpec) -> Sum:
    """The sums of a unit's design; InputError for a design that is no tree of sums."""
    d = spec.design
    if spec.tree is not None:
        return tree_sum(spec.tree, d)
    others = (d.zero_words != "summed", d.c_position == "after", d.summation in ("tr", "gtr"))
    if spec.emulation is not None or any(others):
        raise InputError(f"expected sums of integers that follow each other, but {spec.name} has others")
    length = min(spec.k, d.products)

    def made(x: Step) -> Sum:
        target = d.step if x.stage == "partial" else d.rho
        return Sum(d, target, tuple(made(y) if isinstance(y, Step) else y for y in x.children))

    return made(chained_blocks(d, [range(i, i + length) for i in range(0, spec.k, length)], "c"))


def _integers(width: int, signed: bool) -> str:
    return f"(Integers {width} {str(signed).lower()})"


def _format(f: Format) -> str:
    return _integers(f.width, f.sign_bit > 0)


def _conversion(x: Conversion) -> str:
    return f"(Conversion {_integers(_width(x), x.signed)} {str(x.saturates).lower()})"


def _width(x: Conversion) -> int:
    return x.fraction_bits + x.signed


def _summed(x: Sum | int | str) -> str:
    """A term of `IntegerDesign.v`, sums; a +0 adds nothing."""
    if isinstance(x, Sum):
        return f"(Sum {_conversion(x.target)} [{'; '.join(_summed(y) for y in x.operands if y != 'zero')}])"
    return "C" if x == "c" else f"Product {x}"


def coq_integer_design(spec: UnitSpec) -> str:
    """A unit's design as `IntegerDesign.v`, integer_design.

    Errors: InputError for sums that do not follow each other.
    """
    o = spec.operands
    formats = " ".join(map(_format, (o.a, o.b, o.c, o.d)))
    return f"(IntegerDesign {formats} {_summed(_sums(spec))})"


@dataclass(frozen=True, slots=True)
class _Factor:
    """A word of a format, and the node of its magnitude."""

    word: Node
    fmt: Format
    size: Node

    def negative(self) -> Expr:
        return sg(self.word) < 0 if self.fmt.sign_bit else NEVER

    def size_term(self) -> Expr:
        return magnitude(sg(self.word)) if self.fmt.sign_bit else u(self.word)

    def size_claim(self) -> Claim:
        return make_claim([], equal(u(self.size), self.size_term()))


@dataclass(frozen=True, slots=True)
class _Signed:
    """A number in sign and magnitude."""

    sign: Node
    size: Node

    @property
    def nodes(self) -> tuple[Node, Node]:
        """The nodes that it is cut at.

        What reads some bits of a magnitude may have been built of what the magnitude itself is read from.
        """
        return self.sign, self.size.args[0] if self.size.op in ("zero_extend", "extract") else self.size

    def term(self) -> Expr:
        return choice(is_one(self.sign), 0 - u(self.size), u(self.size))

    def text(self) -> str:
        return f"(Number {name(self.sign)} {name(self.size)})"


def _signed(x: Number) -> _Signed:
    return _Signed(x.term.sign, x.term.significand)


@dataclass(frozen=True, slots=True)
class _Given:
    """A product, or c: its term of type `part`, and the place that it has among operands."""

    text: str
    number: _Signed
    rank: tuple[int, int]

    def claims(self) -> Iterator[Claim]:
        return iter(())


@dataclass(frozen=True, slots=True)
class _Addend:
    """A part as a term in two's complement."""

    node: Node
    part: _Given | _Total

    @property
    def rank(self) -> tuple[int, int]:
        return self.part.rank

    @property
    def bound(self) -> int:
        return (1 << self.part.number.size.width) - 1

    def claims(self) -> Iterator[Claim]:
        number = self.part.number
        yield from self.part.claims()
        yield make_claim([], equal(sg(self.node), number.term()), number.nodes)

    def text(self) -> str:
        return f"(Addend {name(self.node)} {self.part.text})"


@dataclass(frozen=True, slots=True)
class _Addition:
    """The sum of two terms in two's complement."""

    node: Node
    left: _Addend | _Addition
    right: _Addend | _Addition

    @property
    def rank(self) -> tuple[int, int]:
        return self.left.rank

    @property
    def bound(self) -> int:
        return self.left.bound + self.right.bound

    def claims(self) -> Iterator[Claim]:
        a, b = self.left, self.right
        yield from a.claims()
        yield from b.claims()
        yield make_claim(
            [_bounded(a), _bounded(b)], equal(sg(self.node), sg(a.node) + sg(b.node)), [a.node, b.node]
        )

    def text(self) -> str:
        return f"(Addition {name(self.node)} {self.left.text()} {self.right.text()})"


def _bounded(x: _Addend | _Addition) -> Expr:
    return within(x.bound, sg(x.node))


def _low_bits(above: int, count: int, x: Expr) -> Expr:
    """`IntegerCircuit.v`, low_bits."""
    return bits(0, count, x + (1 << max(count, above)))


@dataclass(frozen=True, slots=True)
class _Total:
    """A sum that is converted."""

    target: Conversion
    added: _Addend | _Addition
    number: _Signed

    @property
    def rank(self) -> tuple[int, int]:
        return 1, self.added.rank[1]

    @property
    def text(self) -> str:
        return f"(OfSum {_conversion(self.target)} {self.added.text()} {self.number.text()})"

    def claims(self) -> Iterator[Claim]:
        node = self.added.node
        yield from self.added.claims()
        yield make_claim([_bounded(self.added)], equal(self.number.term(), self._converted()), [node])

    def _converted(self) -> Expr:
        """`IntegerCircuit.v`, converted_term."""
        to, node = self.target, self.added.node
        width = _width(to)
        half = 1 << width - 1
        if to.saturates:
            least, most = (-half, half - 1) if to.signed else (0, 2 * half - 1)
            return choice(sg(node) < least, least, choice(most < sg(node), most, sg(node)))
        low = _low_bits(node.width, width, sg(node))
        return choice(half <= low, low - 2 * half, low) if to.signed else low


class IntegerPlan:
    """A circuit of integers, its cut points and the claims about them.

    Errors: InputError for sums that do not follow each other, or that the circuit does not have so.
    """

    def __init__(self, spec: UnitSpec) -> None:
        self.spec, self.design = spec, coq_integer_design(spec)
        g = self._g = Graph()  # one of its own, because cut points are named in it
        dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
        self.root, o = dot.result, spec.operands
        self._products: list[tuple[_Factor, _Factor, _Signed]] = []
        for k in range(spec.k):
            words = [g.inputs[f"{x}[{k}]"] for x in "ab"]
            a, b = (unpack(g, w, f) for w, f in zip(words, (o.a, o.b), strict=True))
            x, y = (
                _Factor(w, f, n.term.significand) for w, f, n in zip(words, (o.a, o.b), (a, b), strict=True)
            )
            self._products.append((x, y, _signed(product(g, a, b))))
        c = unpack(g, g.inputs["c"], o.c)
        self._c = _Factor(g.inputs["c"], o.c, c.term.significand), _signed(c)
        steps = [y for x in dot.stages for y in (x.steps if isinstance(x, Block) else (x,))]
        self._made = {_signed(x.specials.result): x for x in steps if x.specials is not None}
        self._last = self._total(steps[-1])
        self._claims = list(self._all_claims())
        named = [x for claim in self._claims for e in (*claim.given, claim.goal) for x in e.nodes()]
        self._nodes = reachable([self.root, *named])

    def _total(self, step: DotStep) -> _Total:
        """A sum of the circuit."""
        if step.total is None or step.rounded is None or step.specials is None:
            raise InputError(f"expected sums that are converted, but {self.spec.name} has others")
        g, total = self._g, step.total
        addends: dict[Node, _Addend] = {}
        for operand, x, row in zip(step.operands, step.specials.operands, total.terms, strict=True):
            if operand.kind != "zero":
                node = g.wrap_to_mod(signed_magnitude(g, x.term.sign, row.aligned), total.bits.width)
                addends[node] = _Addend(node, self._part(operand, _signed(x)))
        added = _additions(total.bits, addends)
        if len(addends) != _count(added):
            raise InputError(
                f"expected each operand once in a sum, but {step.scope} of {self.spec.name} lacks one"
            )
        return _Total(step.rounded.target, added, _signed(step.specials.result))

    def _part(self, operand: Operand, x: _Signed) -> _Given | _Total:
        if operand.kind == "products":
            (k,) = operand.ks
            return _Given(f"(OfProduct {k})", x, (0, k))
        if x == self._c[1]:
            return _Given("OfC", x, (2, 0))
        return self._total(self._made[x])

    def claims(self) -> Iterator[Claim]:
        """`IntegerCircuit.v`, integer_claims."""
        return iter(self._claims)

    def _all_claims(self) -> Iterator[Claim]:
        for a, b, made in self._products:
            yield a.size_claim()
            yield b.size_claim()
            yield make_claim([], iff(is_one(made.sign), differ(a.negative(), b.negative())))
            yield make_claim([], equal(u(made.size), u(a.size) * u(b.size)), [a.size, b.size])
        c, made = self._c
        yield make_claim([], iff(is_one(made.sign), c.negative()))
        yield c.size_claim()
        yield from self._last.claims()
        d, last = self.spec.d_format.width, self._last.number
        yield make_claim([], equal(u(self.root), _low_bits(last.size.width, d, last.term())), last.nodes)

    def coq(self) -> str:
        """A file for `coqc` beside the sources: the unit as data, and the theorem about it."""
        return f"""\
(** {self.spec.name}: its circuit, its cut points and the claims that were certified. *)
From Coq Require Import ZArith List Bool.
From TC Require Import IntegerDesign Bv Circuit IntegerCircuit.
Import ListNotations.
Open Scope Z_scope.
{circuit_text(self._nodes)}
Definition unit_design : integer_design := {self.design}.
Definition plan : integer_plan := {self._text()}.
{claims_text(self._claims)}
Lemma checked : integer_ok unit_circuit unit_design plan = true.
Proof. vm_compute. reflexivity. Qed.
Lemma claimed : claims_eqb (integer_claims (widths_of unit_circuit) unit_design plan) certified = true.
Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v ->
  v (root plan) = compute unit_design (map (fun q => v (a_word q)) (products plan))
    (map (fun q => v (b_word q)) (products plan)) (v (c_word plan)).
Proof. exact (integer_words_to_words _ _ _ _ checked eq_refl claimed). Qed.
"""

    def _text(self) -> str:
        rows = ";\n  ".join(
            f"Factors {name(a.word)} {name(b.word)} {name(a.size)} {name(b.size)} {made.text()}"
            for a, b, made in self._products
        )
        c, made = self._c
        return f"IntegerPlan [{rows}]\n {name(c.word)} {made.text()}\n {self._last.text} {name(self.root)}"


def _additions(node: Node, addends: dict[Node, _Addend]) -> _Addend | _Addition:
    """The additions below a node, operands in the order in which a design has them."""
    if node in addends:
        return addends[node]
    if node.op != "add_mod":
        raise InputError(f"expected a sum of operands, but got {node}")
    left, right = sorted((_additions(x, addends) for x in node.args), key=lambda x: x.rank)
    return _Addition(node, left, right)


def _count(x: _Addend | _Addition) -> int:
    return 1 if isinstance(x, _Addend) else _count(x.left) + _count(x.right)
