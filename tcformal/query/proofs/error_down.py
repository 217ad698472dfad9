"""Steps of claim `error-bound` for sums that are rounded down (TR-FDPA) [XIE Algorithm 10, Table 9]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from tcformal.design.rounding import Conversion
from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph, Stage
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.query.proofs.error_steps import ErrorSteps, shifted, signed_leaf, terms_of
from tcformal.query.proofs.exact_sums import largest_code
from tcformal.semantics.unpack import unpack


def down_steps(
    s: ErrorSteps, spec: UnitSpec, c: Node, number: int, length: int, halves: int
) -> dict[str, Callable[[], bool]]:
    """The steps of one block: products truncated at their e_max, then c, rounded down twice, and ρ.

    Soundness: e_max below is E, the larger of the products' maximum and c's exponent; one unit is
    2^(E - F).  (1–3) As of a fused sum, of the products alone: their sum is off by less than L units of
    2^(e - F), e being their own maximum and E = e + δ.  (4) Flooring it to F_2 + 1 bits at E loses nothing
    where δ = 0, else less than 2^(F - F_2 - 1) units.  (5) c, floored to F bits at E, is off by less than
    one unit.  (6) Their sum S does not wrap.  (7) Flooring S to F_2 fraction bits of its own loses
    nothing where its bits below one unit are zero, which they are where δ = 0; else less than an ulp that
    the bound of S bounds.  Added up: less than L + 1 units where δ = 0, and else less than
    L/2 + 1 + 2^(F - F_2 - 1) + that ulp, which the program finds to be at most L + 1.  (8) ρ is off by its
    part of an ulp.  (9) d encodes the result, and the floor did not overflow where d is finite.
    """
    return _Down(s, spec, c, number, length, halves).steps()


class _Down:
    """One block, by its labels."""

    def __init__(self, s: ErrorSteps, spec: UnitSpec, c: Node, number: int, length: int, halves: int) -> None:
        self.s, self.spec, self.length, self.halves = s, spec, length, halves
        g, labels = s.graph, s.graph.labels
        design = spec.design
        self.bits, self.wide = int(design.fraction_bits or 0), int(design.sum_fraction_bits or 0) + 1
        self.products = ErrorSteps(s.c, f"{s.where}.products")
        self.terms = terms_of(labels, self.products.where)
        self.inner, self.own = self.products.stage("sum").node, self.products.stage("e_max")
        self.total, self.e_max = s.stage("last.sum").node, s.stage("last.e_max")
        if number:
            before = f"unit.block{number - 1}.last.rounded."
            self.c_significand, self.c_exponent = (labels[before + p] for p in ("significand", "exponent"))
        else:
            term = unpack(g, c, spec.operands.c).term
            self.c_significand = Stage(term.significand, False, 0, term.fraction_bits)
            self.c_exponent = Stage(term.exponent.bits, False, term.exponent.low, 0)
        self.known: list[Node] = []
        #: Facts about the bound of the products' sum, and of S.
        self.most = 0
        self.inner_bound: tuple[int, Node] | None = None
        self._parse(g)

    def _parse(self, g: Graph) -> None:
        """The floored sum of the products and the floored c, as the addends of S."""
        addends = [a.args[0] if a.op == "sign_extend" else a for a in self.total.args]
        floored = [a for a in addends if a.op == "ashr"]
        placed = [a for a in addends if a.op == "concat" and signed_leaf(g, a.args[0]) is not None]
        self.floored = floored[0] if len(floored) == 1 else None
        self.leaf = placed[0].args[0] if len(placed) == 1 else None
        self.placed = placed[0] if len(placed) == 1 else None

    def steps(self) -> dict[str, Callable[[], bool]]:
        """The steps by name, in order."""
        return {
            "truncation of each product": lambda: all(
                self.products.truncated(t, self.bits) for t in self.terms
            ),
            "exponents of the products": self._exponents,
            "no partial sum wraps": self._inner,
            "floor of the products' sum": self._floor,
            "floor of c": self._c,
            "the sum with c": self._sum,
            "floor of the sum": self._floored_sum,
            "rounding of the floor": self._rounded,
            "the result's encoding": self._encoded,
        }

    def _exponents(self) -> bool:
        """Of the products and their maximum, and of both that E is the larger of."""
        g, s = self.s.graph, self.s
        lowest = min(self.c_exponent.offset, *(t["exponent"].offset for t in self.terms))
        facts = self.products.exponents(self.terms, self.own, lowest)
        if facts is None or self.floored is None or self.leaf is None:
            return False
        given = list(facts)
        codes = [self.c_exponent.node, self.own.node]
        highest = s.code_bound(self.c_exponent.node, given)
        if highest is None:
            return False
        self.delta = self.floored.args[1]
        shift = self._shift_of_c()
        if shift is None:
            return False
        self.c_delta = shift
        tops = [t["exponent"].offset + largest_code(t["exponent"].node)[0] for t in self.terms]
        most = max(lowest, self.c_exponent.offset + highest, *tops) - self.e_max.offset
        if most < (1 << self.e_max.node.width) - 1:
            self.known.append(g.ule(self.e_max.node, g.const(most, self.e_max.node.width)))
            if not s.fact(self.known[-1], codes, f"the larger of two exponents is at most {most}", given):
                return False
        if not self._least(codes):
            return False
        name = "E is one of two exponents and its distance"
        return s.fact(s.meet(self.e_max, self.own, self.delta), codes, name, given) and s.fact(
            g.or_(g.is_zero(self.c_significand.node), s.meet(self.e_max, self.c_exponent, shift)),
            [*codes, self.c_significand.node], name, given,
        )  # fmt: skip

    def _least(self, codes: Sequence[Node]) -> bool:
        """E is at least the least exponent that c can have: below it, an ulp would be more than a unit."""
        g, s, code = self.s.graph, self.s, self.c_exponent.node
        some, given = g.any_bit(code), []
        # c's code counts from one less than its least exponent, unless c is a result.
        if s.c.by_lemma(s.where, g.truth(True), some, name="an exponent's code is not zero", depths=(None,)):
            given.append(some)
        least = self.c_exponent.offset + len(given) - self.e_max.offset
        if least <= 0:
            return True
        self.known.append(g.ule(g.const(least, self.e_max.node.width), self.e_max.node))
        return s.fact(self.known[-1], codes, f"the larger of two exponents is at least {least}", given)

    def _shift_of_c(self) -> Node | None:
        """The distance by which c's significand is shifted."""
        assert self.leaf is not None
        for node in reachable([self.leaf]):
            x = node.args[0] if node.op == "lshr" else None
            while x is not None and x.op == "concat" and x.args[1].op == "const":
                x = x.args[0]
                if x is self.c_significand.node:
                    return node.args[1]
        return None

    def _inner(self) -> bool:
        self.inner_bound = self.products.exact_sum(self.inner, self.terms)
        return self.inner_bound is not None

    def _floor(self) -> bool:
        """(4): raised - floored·2^δ is in [0, 2^δ), or floored is 0 or -1 by its sign."""
        g, floored = self.s.graph, self.floored
        assert floored is not None
        raised, delta = floored.args
        if raised is not g.shift_left_const(self.inner, self.wide - self.bits):
            return False
        n = raised.width
        width = 2 * n + 1
        back = g.shl_mod(g.sign_extend_to(floored, width), delta)
        off = g.sub_mod(g.sign_extend_to(raised, width), back)
        near = g.ult(off, g.shl_mod(g.const(1, width), delta))
        ones = g.const((1 << n) - 1, n)
        far = g.eq(floored, g.ite(g.top(raised), ones, g.const(0, n)))
        fact = g.ite(self.s.below(delta, n), near, far)
        return self.s.fact(fact, [self.inner, delta], f"{n} bits are floored by less than one unit")

    def _c(self) -> bool:
        """(5): c's magnitude x and what is kept of it, m: |x - m·2^v| < 2^v."""
        g, leaf, s = self.s.graph, self.leaf, self.c_significand
        assert leaf is not None
        kept = signed_leaf(g, leaf)
        assert kept is not None
        up = self.bits - s.scale
        if up < 0:
            return False
        n = s.node.width + up
        width = 2 * n + 3
        x = g.zero_extend_to(g.shift_left_const(s.node, up), width)
        back = g.shl_mod(g.zero_extend_to(kept, width), self.c_delta)
        under = g.ule(back, x)
        off = g.ite(under, g.sub_mod(x, back), g.sub_mod(back, x))
        near = g.ult(off, g.shl_mod(g.const(1, width), self.c_delta))
        # Far below, m is 0, or 1 where x is not zero: then 0 < x < 2^n <= 2^v.
        one = g.eq(kept, g.const(1, kept.width))
        far = g.or_(g.is_zero(kept), g.and_(one, g.any_bit(s.node)))
        fact = g.ite(self.s.below(self.c_delta, n), near, far)
        cut = [s.node, self.c_delta, leaf.args[0]]
        return self.s.fact(fact, cut, f"c of {n} bits is floored by less than one unit")

    def _sum(self) -> bool:
        """(6): S within a bound that its width holds, and its low bits zero where δ = 0."""
        g, s, leaf = self.s.graph, self.s, self.leaf
        assert self.floored is not None
        assert self.placed is not None
        assert self.inner_bound is not None
        assert leaf is not None
        kept, low = signed_leaf(g, leaf), self.wide - self.bits
        assert kept is not None
        most = self.inner_bound[0] << low
        one = s.bounded(self.floored, most, [self.inner, self.delta], [self.inner_bound[1]])
        other = s.bounded(self.placed, ((1 << kept.width) - 1) << low, [leaf.args[0], kept], [])
        if one is None or other is None:
            return False
        addends = [a.args[0] if a.op == "sign_extend" else a for a in self.total.args]
        bound = s.bounded(self.total, one[0] + other[0], addends, [one[1], other[1]])
        if bound is None:
            return False
        self.most = bound[0]
        self.known.append(bound[1])
        even = g.or_(g.any_bit(self.delta), g.is_zero(g.extract(self.total, low - 1, 0)))
        cut = [self.inner, self.delta, leaf.args[0], kept]
        return s.fact(even, cut, "a sum has no bits below one unit where nothing is shifted")

    def _floored_sum(self) -> bool:
        """(7), and that all of it adds up to at most L + 1 units."""
        g, s, design = self.s.graph, self.s, self.spec.design
        precision = int(design.sum_fraction_bits or 0) + 1
        gap = max(self.most.bit_length() - precision, 2)
        low = self.wide - self.bits
        unit = Fraction(1, 1 << low)
        lost = Fraction(self.length, 2) + 1 + unit + (1 << gap) * unit
        magnitude = g.ite(g.top(self.total), g.neg_mod(self.total), self.total)
        rho = design.rho
        target = Conversion("RD", rho.exponent_bits, precision - 1)
        return lost <= self.length + 1 and s.rounded(
            magnitude, shifted(self.e_max, -self.wide), target, "last.floor.",
            [self.total, self.e_max.node], self.known, halves=3, gap_most=gap, free_bits=low,
        )  # fmt: skip

    def _rounded(self) -> bool:
        """(8): the floor's significand and exponent are what ρ rounds."""
        s, rho = self.s, self.spec.design.rho
        number, exponent = s.stage("last.floor.rounded.significand"), s.stage("last.floor.rounded.exponent")
        lowest = shifted(exponent, 1 - number.node.width)
        cut = [number.node, exponent.node]
        return s.rounded(number.node, lowest, rho, "last.", cut, halves=self.halves)

    def _encoded(self) -> bool:
        """(9), and the sign: that of S, unless d is no number or zero."""
        g, s = self.s.graph, self.s
        nan, inf = (s.stage(f"last.{name}").node for name in ("nan", "inf"))
        number, exponent = s.stage("last.floor.rounded.significand"), s.stage("last.floor.rounded.exponent")
        flags = [s.stage(f"last.floor.{name}").node for name in ("nan", "positive_inf", "negative_inf")]
        special = g.or_(nan, inf)
        overflow, sign = s.stage("last.floor.rounded.overflow").node, s.stage("last.rounded.sign").node
        own = s.stage("last.floor.rounded.sign").node
        cut = [*flags, overflow, own, number.node, exponent.node]
        finite = g.or_(special, g.and_(g.not_(overflow), g.eq(sign, own)))
        kept = g.or_(g.is_zero(self.total), g.eq(own, g.top(self.total)))
        return (
            s.fact(finite, cut, "a finite result comes from a finite floor of its sign")
            and s.fact(kept, [self.total], "a rounded sum keeps its sign")
            and s.encoded(
                "last.", [number.node, exponent.node], [], s.stage("result"), self.spec.operands.d,
                self.spec.design.rho,
            )
        )  # fmt: skip
