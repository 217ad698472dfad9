"""Small steps of integers: linear relations of nodes, cases of a bit, shifts by stages, and equal signs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tcformal.errors import ProofError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.terms import sign_of
from tcformal.semantics.number import Exponent

#: An equation and the node that it is solved for.
Equation = tuple[int, Node]
Cuts = Iterable[Sequence[Node]]
#: Wide enough for every sum of a few exponents.
_WIDTH = 17


def exponent_of(e: Exponent, more: int = 0) -> Poly:
    """An exponent and a constant."""
    return Poly.of(e.bits) + Poly.constant(e.low + more)


def power(e: Exponent, more: int = 0) -> Poly:
    """2^(exponent + more)."""
    return exponent_of(e, more).power_of_two()


def _cores(node: Node) -> list[Node]:
    """What the bits of a node are bits of: a cut there is not lost where bits of bits are taken at once."""
    if node.op in ("extract", "concat", "zero_extend", "sign_extend", "not_"):
        return [y for x in node.args for y in _cores(x)]
    return [node]


class CoreDerivation(Derivation):
    """Steps of the kernel whose lemmas are cut below nodes that only pick or join bits."""

    def lemma(self, what: str, goal: Node, given: Sequence[int] = (), cuts: Cuts = ((),)) -> int:
        """given ⊢ goal, as `Derivation.lemma`."""
        return super().lemma(what, goal, given, [[y for x in cut for y in _cores(x)] for cut in cuts])


class IntegerSteps:
    """Theorems about integers that nodes stand for."""

    def __init__(self, d: Derivation) -> None:
        self.d = d

    @property
    def g(self) -> Graph:
        """The graph of the proof."""
        return self.d.g

    # ------------------------------------------------------------------ equations
    def rewritten(self, goal: Poly, equations: Iterable[Equation], parts: Sequence[Part] = ()) -> int:
        """As `Derivation.prove`, of the equations that say something of a node that is no constant."""
        said = [(i, n) for i, n in equations if n.op != "const" and ((n,), ()) in self.d.about(i).terms]
        return self.d.prove(goal, said, parts)

    def total(self, nodes: Sequence[Node], constant: int) -> tuple[Node, list[Equation]]:
        """A sum of nodes and a constant, wide enough, and what it is."""
        g, total = self.g, self.g.const(constant, _WIDTH)
        for x in nodes:
            total = g.add_mod(total, g.zero_extend_to(x, _WIDTH))
        return total, self.d.expanded(total, nodes, "a sum of exponents")

    def linear(
        self, what: str, plus: Sequence[Node], minus: Sequence[Node], constant: int,
        given: Sequence[int] = (), cuts: Cuts = ((),),
    ) -> int:  # fmt: skip
        """given ⊢ Σ plus - Σ minus + constant = 0."""
        left, one = self.total(plus, max(constant, 0))
        right, two = self.total(minus, max(-constant, 0))
        i = self.d.equal(what, left, right, given, cuts)
        return self._moved(plus, minus, constant, i, one + two)

    def at_least(
        self, what: str, plus: Sequence[Node], minus: Sequence[Node], constant: int,
        given: Sequence[int] = (), cuts: Cuts = ((),),
    ) -> int:  # fmt: skip
        """given ⊢ Σ plus - Σ minus + constant >= 0."""
        left, one = self.total(plus, max(constant, 0))
        right, two = self.total(minus, max(-constant, 0))
        i = self.d.fact(self.d.lemma(what, self.g.ule(right, left), given, cuts))
        return self._moved(plus, minus, constant, i, one + two)

    def _moved(
        self, plus: Sequence[Node], minus: Sequence[Node], constant: int, i: int, equations: list[Equation]
    ) -> int:
        goal = Poly.constant(constant)
        for x in plus:
            goal = goal + Poly.of(x)
        for x in minus:
            goal = goal - Poly.of(x)
        return self.rewritten(goal, sorted(equations, key=lambda y: -y[1].index), [(1, [i])])

    # ------------------------------------------------------------------ bits
    def bit(self, i: int, bit: Node, value: int) -> Equation:
        """The bit is `value`, as an equation, where theorem i says so of its node."""
        d, g = self.d, self.g
        wide = g.zero_extend_to(bit, 2)
        same = d.equal("a bit", wide, g.const(value, 2), [i], ([bit],))
        return d.arith([(1, [same]), (-1, [d.read(wide)])]) if bit.op != "const" else d.arith([]), bit

    def cases(
        self, bit: Node, prove: Callable[[bool, list[int], list[Equation]], Sequence[int]]
    ) -> list[int]:
        """Theorems proved where a bit is 1, and where it is 0: of both.

        `prove` is given which it is, the assumption, and the bit as an equation; of a constant neither.
        """
        d, g = self.d, self.g
        if bit.op == "const":
            return list(prove(bool(bit.params[1]), [], []))
        yes, no = d.assume(bit), d.assume(g.not_(bit))
        first = prove(True, [yes], [self.bit(yes, bit, 1)])
        second = prove(False, [no], [self.bit(no, bit, 0)])
        return [d.cases(bit, i, j) for i, j in zip(first, second, strict=True)]

    def rest(self, bit: Node, scale: Poly) -> list[Part]:
        """scale · (1 - bit) >= 0."""
        if bit.op == "const":
            return [] if bit.params[1] else [(scale, [])]
        return [(scale, [self.d.range(bit)])]

    def mixed(self, sign: Node, plus: int, minus: int) -> list[Part]:
        """(1 - sign) · one theorem + sign · the other."""
        if sign.op == "const":
            return [(1, [minus if sign.params[1] else plus])]
        return [(1, [self.d.range(sign), plus]), (Poly.of(sign), [minus])]

    # ------------------------------------------------------------------ shifts
    def normalised(self, x: Node, shifted: Node, distance: Node) -> int:
        """shifted - x · 2^distance = 0, for a shifter of stages that tests what it shifts out."""
        d, g, node = self.d, self.g, shifted
        equations: list[Equation] = []
        goes = []
        while node is not x and node.op != "const":
            if node.op != "ite" or node.args[1].op != "concat":
                raise ProofError("a normalised number is not shifted by stages")
            go, moved, before = node.args
            goes.append(go)
            low, zeros = moved.args
            tests = [a for a in go.args if a.op != "eq"] if go.op == "and_" else []
            goal = Poly.of(node) - Poly.of(before) * (Poly.of(go) * zeros.width).power_of_two()

            def stage(
                gone: bool, given: list[int], made: list[Equation], node: Node = node, moved: Node = moved,
                before: Node = before, low: Node = low, tests: list[Node] = tests, goal: Poly = goal,
            ) -> list[int]:  # fmt: skip
                known = [(d.read(node), node), *made, (d.read(moved), moved)]
                if gone:
                    wide = g.zero_extend_to(low, before.width)
                    kept = d.equal("that no bit is shifted out", before, wide, given, ([before, *tests],))
                    known += [(kept, before), (d.read(wide), wide)]
                return [self.rewritten(goal, known)]

            equations.append((self.cases(go, stage)[0], node))
            node = before
        equations += d.expanded(distance, goes, "a distance") if distance.op != "const" else []
        return self.rewritten(Poly.of(shifted) - Poly.of(x) * Poly.of(distance).power_of_two(), equations)

    def signed(
        self, what: str, one: tuple[Node, Node], other: tuple[Node, Node], given: Sequence[int], cuts: Cuts
    ) -> int:
        """±x - ±y = 0 of signs and significands: equal, and signs differ on zeros alone."""
        d, g, (s, x), (t, y) = self.d, self.g, one, other
        same_size = [(d.equal(what, x, y, given, cuts), x)]
        goal = sign_of(s) * Poly.of(x) - sign_of(t) * Poly.of(y)
        if s is t:
            return self.rewritten(goal, same_size)
        same = g.eq(s, t)
        yes, no = d.assume(same), d.assume(g.not_(same))
        empty = d.lemma(f"{what} where signs differ", g.is_zero(y), [no, *given], cuts)
        later = max(s, t, key=lambda n: n.index)
        return d.cases(
            same,
            self.rewritten(goal, [*same_size, (d.fact(yes), later)]),
            self.rewritten(goal, [*same_size, (d.fact(empty), y)]),
        )


def in_range(z: IntegerSteps, what: str, e: Exponent, given: Sequence[int], cut: Sequence[Node]) -> list[int]:
    """That an exponent lies in its range, where its width holds others too."""
    if (e.high - e.low) >> e.bits.width or e.bits.op == "const":
        return []
    goal = z.g.ule(e.bits, z.g.const(e.high - e.low, e.bits.width))
    return [z.d.lemma(what, goal, given, (cut,))]


class LossyShift:
    """A shift to the right, and whether it lost a 1.

    Theorems: `low` and `high`: 0 <= x - shifted · 2^amount <= 2^amount - 1.
    """

    def __init__(self, z: IntegerSteps, x: Node, amount: Node, shifted: Node, lost: Node) -> None:
        self.z, self.d, self.g = z, z.d, z.g
        self.x, self.amount, self.shifted, self.lost = x, amount, shifted, lost
        if shifted is not self.g.lshr(x, amount) or lost.op != "not_":
            raise ProofError("what a shift lost is not found by shifting back")
        self.low, self.high = self.d.read(shifted, 0), self.d.read(shifted, 1)

    def _back(self) -> Equation:
        """What is shifted back, as shifted · 2^amount."""
        d, g = self.d, self.g
        back = g.shl_mod(self.shifted, self.amount)
        fits = d.lemma(
            "that a shift back loses nothing", g.eq(g.lshr(back, self.amount), self.shifted),
            (), ([self.x, self.amount],),
        )  # fmt: skip
        return d.read(back, fits), back

    def exact(self, given: Sequence[int]) -> Equation:
        """x = shifted · 2^amount where nothing is lost."""
        d, (read, back) = self.d, self._back()
        same = d.equal("what is shifted back", self.x, back, given, ([self.x, back],))
        goal = Poly.of(self.x) - Poly.of(self.shifted) * Poly.of(self.amount).power_of_two()
        return self.z.rewritten(goal, [(same, self.x), (read, back)]), self.x

    def strict(self, given: Sequence[int]) -> int:
        """x - shifted · 2^amount - 1 >= 0 where something is lost."""
        d, g, (read, back) = self.d, self.g, self._back()
        above = g.ult(self.x, back)
        false = d.arith([(1, [d.fact(d.assume(above))]), (1, [self.low]), (-1, [read])])
        absent = d.refute(false, above)
        less = d.lemma("that a loss is some", g.ult(back, self.x), [absent, *given], ([self.x, back],))
        return d.arith([(1, [d.fact(less)]), (1, [read])])


class Jam(LossyShift):
    """A shift whose lowest bit stands for what it lost: kept = x >> amount, or that and 1.

    Theorem `raised`: kept = shifted + bump.
    """

    def __init__(self, z: IntegerSteps, x: Node, amount: Node, shifted: Node, lost: Node, kept: Node) -> None:
        super().__init__(z, x, amount, shifted, lost)
        d, g = z.d, z.g
        self.bump = g.and_(lost, g.not_(g.bit(shifted, 0)))
        total = g.add_mod(shifted, g.zero_extend_to(self.bump, shifted.width))
        same = d.equal("a jammed number", kept, total, (), ([shifted, lost],))
        fits = d.lemma("that a jam fits", g.ule(total.args[0], total), (), ([shifted, lost],))
        wide = g.zero_extend_to(self.bump, shifted.width)
        goal = Poly.of(kept) - Poly.of(shifted) - Poly.of(self.bump)
        equations = [(same, kept), (d.read(total, fits), total), (d.read(wide), wide)]
        self.raised: Equation = (z.rewritten(goal, equations), kept)

    def none(self, given: Sequence[int]) -> Equation:
        """Nothing is added where nothing is lost."""
        no = self.g.truth(False)
        return self.d.equal("no jam", self.bump, no, given, ([self.shifted, self.lost],)), self.bump
