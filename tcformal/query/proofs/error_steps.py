"""Steps of claim `error-bound`: what is lost by each stage of a sum, one lemma each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tcformal.design.rounding import Conversion
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.ir.build import Graph, Stage
from tcformal.ir.node import Node
from tcformal.query.proofs.cuts import Composition
from tcformal.query.proofs.exact_sums import largest_code, within
from tcformal.semantics.unpack import unpack

#: Bits in which exponents are compared: every code, distance and offset is far below 2^(this - 2).
_WIDE = 16

Terms = Sequence[Mapping[str, Stage]]


def terms_of(labels: Mapping[str, Stage], scope: str) -> Terms:
    """The labelled stages of every term of one sum."""
    found: list[dict[str, Stage]] = []
    while f"{scope}.term{len(found)}.sign" in labels:
        at = f"{scope}.term{len(found)}"
        found.append({p: labels[f"{at}.{p}"] for p in ("sign", "significand", "exponent", "zero", "aligned")})
    return found


def shifted(stage: Stage, by: int) -> Stage:
    """An exponent plus a known integer."""
    return Stage(stage.node, False, stage.offset + by, 0)


@dataclass(frozen=True, slots=True)
class ErrorSteps:
    """Lemmas about the stages of one sum, in one composition."""

    c: Composition
    where: str

    @property
    def graph(self) -> Graph:
        """The graph that the stages are in."""
        return self.c.graph

    def stage(self, name: str) -> Stage:
        """A labelled stage of the sum."""
        return self.graph.labels[f"{self.where}.{name}"]

    def fact(self, fact: Node, cut: Sequence[Node], name: str, given: Sequence[Node] = ()) -> bool:
        """Prove that a node of width 1 is 1 on every input."""
        return self.c.by_lemma(self.where, self.graph.truth(True), fact, given=given, cut=cut, name=name)

    def wide(self, stage: Stage) -> Node:
        """An exponent or a distance as a number of _WIDE bits, which none of them wraps."""
        g = self.graph
        if stage.node.width > _WIDE - 3 or abs(stage.offset) >= 1 << (_WIDE - 3):
            raise InputError(f"expected exponents of at most {_WIDE - 3} bits, but got {stage.node.width}")
        offset = g.const(stage.offset % (1 << _WIDE), _WIDE)
        return g.add_mod(g.zero_extend_to(stage.node, _WIDE), offset)

    def meet(self, e_max: Stage, exponent: Stage, distance: Node) -> Node:
        """1 where exponent + distance = e_max."""
        g = self.graph
        return g.eq(self.wide(e_max), g.add_mod(self.wide(exponent), self.wide(Stage(distance, False, 0, 0))))

    # ------------------------------------------------------------------ terms
    def truncated(self, term: Mapping[str, Stage], bits: int) -> bool:
        """What a term keeps is its magnitude, cut by less than one unit of 2^(e_max - bits)."""
        g, s, kept = self.graph, term["significand"], term["aligned"].node
        up, down = max(0, bits - s.scale), max(0, s.scale - bits)
        if kept.op != "lshr":
            return False
        n, distance = kept.width, kept.args[1]
        width = 2 * n + down + 1
        whole = g.zero_extend_to(g.shift_left_const(s.node, up), width)
        back = g.shl_mod(g.zero_extend_to(g.shift_left_const(kept, down), width), distance)
        unit = g.shl_mod(g.const(1 << down, width), distance)
        off = g.and_(g.ule(back, whole), g.ult(g.sub_mod(whole, back), unit))
        name = f"a term of {s.node.width} bits is cut by less than one unit"
        return self.fact(g.ite(self.below(distance, n), off, g.is_zero(kept)), [s.node, distance], name)

    def below(self, distance: Node, n: int) -> Node:
        """1 where a distance is less than n."""
        reach = max(distance.width, n.bit_length())
        return self.graph.ult(self.graph.zero_extend_to(distance, reach), self.graph.const(n, reach))

    # ------------------------------------------------------------------ exponents
    def code_bound(self, code: Node, facts: list[Node]) -> int | None:
        """The largest code of an exponent, proved from its fields where its width allows more."""
        g = self.graph
        most, fields = largest_code(code)
        if most < (1 << code.width) - 1:
            facts.append(g.ule(code, g.const(most, code.width)))
            if not self.fact(facts[-1], fields, f"an exponent's code is at most {most}"):
                return None
        return most

    def exponents(self, terms: Terms, e_max: Stage, zero_exponent: int | None) -> list[Node] | None:
        """e + δ = e_max of every term that is not zero, and zero terms have significands of zero.

        The facts that bound e_max; None where something is not proved.
        """
        g = self.graph
        given: list[Node] = []
        highs = [] if zero_exponent is None else [zero_exponent]
        cut = [t[part].node for t in terms for part in ("exponent", "zero")]
        for term in terms:
            most = self.code_bound(term["exponent"].node, given)
            if most is None:
                return None
            highs.append(term["exponent"].offset + most)
        for term in terms:
            zero = term["zero"].node
            nothing = g.or_(g.not_(zero), g.is_zero(term["significand"].node))
            name = "a term that is zero has a significand of zero"
            if not self.c.by_lemma(self.where, g.truth(True), nothing, name=name, depths=(None,)):
                return None
            met = self.meet(e_max, term["exponent"], term["aligned"].node.args[1])
            name = f"e_max of {len(terms)} exponents is one exponent and its distance"
            if not self.fact(g.or_(zero, met), cut, name, given):
                return None
        most = max(highs) - e_max.offset
        if most >= (1 << e_max.node.width) - 1:
            return []
        fact = g.ule(e_max.node, g.const(most, e_max.node.width))
        proved = self.fact(fact, cut, f"e_max of {len(terms)} exponents is at most {most}", given)
        return [fact] if proved else None

    # ------------------------------------------------------------------ sums
    def exact_sum(self, total: Node, terms: Terms) -> tuple[int, Node] | None:
        """The bound of a sum whose leaves are the signed kept terms, each once, none of whose parts wraps."""
        leaves: list[tuple[int, int]] = []
        bound = self._bound(total, leaves)
        wanted = sorted((t["sign"].node.index, t["aligned"].node.index) for t in terms)
        return bound if sorted(leaves) == wanted else None

    def _bound(self, x: Node, leaves: list[tuple[int, int]]) -> tuple[int, Node] | None:
        """The largest magnitude of a sum of leaves, and the fact; None where it might wrap."""
        given: list[Node] = []
        cut = list(x.args)
        kept = signed_leaf(self.graph, x)
        if kept is not None:
            leaves.append((x.args[0].index, kept.index))
            most, cut = (1 << kept.width) - 1, [x.args[0], kept]
        elif x.op in ("sign_extend", "add_mod"):
            bounds = [self._bound(a, leaves) for a in x.args]
            known = [b for b in bounds if b is not None]
            most, given = sum(b[0] for b in known), [b[1] for b in known]
            if len(known) < len(bounds):
                return None
        else:
            return None
        return self.bounded(x, most, cut, given)

    def bounded(
        self, x: Node, most: int, cut: Sequence[Node], given: Sequence[Node]
    ) -> tuple[int, Node] | None:
        """The bound, where it is proved and leaves the sign bit alone."""
        fact = within(self.graph, x, most)
        name = f"a sum of {x.width} bits is within ±{most}"
        if most >= 1 << (x.width - 1) or not self.fact(fact, cut, name, given):
            return None
        return most, fact

    # ------------------------------------------------------------------ rounding
    def rounded(
        self,
        magnitude: Node,
        lowest: Stage,
        target: Conversion,
        scope: str,
        cut: Sequence[Node],
        given: Sequence[Node] = (),
        *,
        halves: int,
        gap_most: int | None = None,
        free_bits: int = 0,
    ) -> bool:
        """The rounded number `scope`.rounded is less than an ulp of itself from magnitude · 2^lowest.

        `halves`: 1 where half an ulp is the most, 2 for less than one ulp toward zero, 3 to either side.
        `gap_most`: the most by which the ulp's exponent may exceed `lowest`; `free_bits`: low bits that,
        where they are all zero, make the rounding exact.
        """
        g = self.graph
        significand = self.stage(f"{scope}rounded.significand").node
        exponent = self.stage(f"{scope}rounded.exponent")
        overflow = self.stage(f"{scope}rounded.overflow").node
        p, width = target.precision, magnitude.width + target.precision + 3
        # u - l: the exponents of the lowest bits of the result and of the sum.
        gap = g.sub_mod(self.wide(shifted(exponent, 1 - p)), self.wide(lowest))
        coarse = g.shl_mod(g.zero_extend_to(significand, width), gap)
        fine = g.shl_mod(g.zero_extend_to(magnitude, width), g.neg_mod(gap))
        whole = g.zero_extend_to(magnitude, width)
        unit = g.shl_mod(g.const(1, width), gap)
        under = g.ule(coarse, whole)
        off = g.ite(under, g.sub_mod(whole, coarse), g.sub_mod(coarse, whole))
        if halves == 1:
            near = g.ule(g.shift_left_const(off, 1), g.zero_extend_to(unit, width + 1))
        else:
            near = g.ult(off, unit) if halves == 3 else g.and_(under, g.ult(off, unit))
        near = g.and_(near, g.ule(gap, g.const(width - p - 1 if gap_most is None else gap_most, _WIDE)))
        if free_bits:
            some = g.any_bit(g.extract(magnitude, free_bits - 1, 0))
            near = g.and_(near, g.or_(some, g.is_zero(off)))
        exact = g.and_(
            g.eq(fine, g.zero_extend_to(significand, width)), g.ule(g.neg_mod(gap), g.const(p, _WIDE))
        )
        nothing = g.and_(g.is_zero(magnitude), g.is_zero(significand))
        right = g.or_(nothing, overflow, g.ite(g.top(gap), exact, near))
        return self.fact(right, cut, f"{magnitude.width} bits are rounded to {p} bits", given)

    # ------------------------------------------------------------------ encoding
    def encoded(
        self,
        scope: str,
        below: Sequence[Node],
        given: Sequence[Node],
        result: Stage,
        fmt: Format,
        rho: Conversion,
    ) -> bool:
        """The result, where it is a number, is the rounded one of `scope`: a zero's sign apart."""
        g = self.graph
        sign, significand, exponent = (
            self.stage(f"{scope}rounded.{part}") for part in ("sign", "significand", "exponent")
        )
        flags = [self.stage(f"{scope}{name}").node for name in ("nan", "inf", "positive_inf", "negative_inf")]
        nan, inf, *infinities = flags
        kept = significand.node
        least = g.or_(g.top(kept), g.is_zero(exponent.node))
        fits = g.or_(nan, inf, g.ule(exponent.node, g.const(rho.e_max - rho.e_min, exponent.node.width)))
        whole = kept.args[0] if kept.op == "extract" else kept
        d = unpack(g, result.node, fmt)
        same = g.and_(
            g.eq(g.shift_left_const(kept, fmt.precision - kept.width), d.term.significand),
            g.eq(self.wide(Stage(d.term.exponent.bits, False, d.term.exponent.low, 0)), self.wide(exponent)),
            g.or_(g.is_zero(kept), g.eq(sign.node, d.term.sign)),
        )
        return (
            self.fact(least, below, "a rounded number with a leading 0 has the least exponent", given)
            and self.fact(fits, [*below, nan, *infinities], "the exponent of a rounded number fits", given)
            and self.fact(
                g.or_(*flags, same), [whole, exponent.node, sign.node, *flags],
                "the encoding of a number is read as that number", [least, fits],
            )
        )  # fmt: skip


def signed_leaf(g: Graph, x: Node) -> Node | None:
    """The magnitude m, where x is ±m in two's complement, one bit wider."""
    if x.op != "ite" or x.args[2].op != "zero_extend" or x.args[1] is not g.neg_mod(x.args[2]):
        return None
    return x.args[2].args[0]
