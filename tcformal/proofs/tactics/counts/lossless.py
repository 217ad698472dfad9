"""Sums of a unit that lose nothing of their terms: each is a count times a power of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.tactics.counts.counted import Count, Counted, CountedTerms, NoRoom, leaves_of
from tcformal.proofs.tactics.counts.shifted import Scaled, Unrounded, in_steps, scaled
from tcformal.semantics.align import align, distance_below
from tcformal.semantics.number import Exponent, Term
from tcformal.semantics.reduce import signed_magnitude, split_sign
from tcformal.semantics.stages import AlignedTerm, DotStep, Operand, Rounded


@dataclass(frozen=True, slots=True)
class Seen:
    """A term as lemmas see it: what is cut and known, its count, and what it was converted from."""

    cut: list[Node]
    given: list[Node]
    count: Count
    narrow: Term | None = None


class LosslessSum:
    """One sum aligned at e_max, truncated or with a sticky bit, none of whose addends loses a bit.

    Soundness: with 2^up units of the sum to one of the counts, (1) no exponent leaves `up` negative, which
    is proved of every term and so of their maximum; (2) every aligned term is its count times 2^up, with no
    bit lost or wrapped; (3) so is every partial sum; (4) what is rounded from the sum is what is rounded
    from the count.
    """

    def __init__(
        self,
        w: CountedTerms,
        step: DotStep,
        sums: Mapping[Operand, Counted],
        whole: Mapping[Operand, Unrounded] = MappingProxyType({}),
    ) -> None:
        if step.total is None or step.total.maximum is None:
            raise ProofError(f"expected a sum aligned at e_max at {step.scope}, but got another")
        self.w, self.step, self.total, self.sums, self.whole = w, step, step.total, sums, whole
        #: The addends in order, each with what its lemmas are cut at and what they are given.
        self.addends: list[tuple[Scaled, list[Node], list[Node]]] = []
        g = w.c.graph
        maximum, high = step.total.maximum, step.total.e_max.high
        codes = [x.code for x in leaves_of(maximum)]
        terms = [(t.term, t.aligned) for t in step.total.terms]
        fields = [n for x, kept in terms for n in (x.sign, x.significand, x.exponent.bits, x.zero, kept)]
        self._rebuilt = w.rebuilt([maximum.code, *codes, *fields, *(p.node for p in step.total.partials)])
        self.code = self._rebuilt[maximum.code]
        self.e_max = e_max = Exponent(self.code, maximum.low, high)
        top = w.low.shifted(self.total.fraction_bits)
        self.up = distance_below(g, e_max, top)
        #: Bits that hold every sum, and every count shifted as far as one that is not zero can be.
        self.width = in_steps(max(w.width + step.total.fraction_bits, step.total.bits.width))
        self.seen = [self._seen(t) for t in self.total.terms]
        lowest, highest = min(top.low, e_max.low), max(top.high, high)
        room = top.rebased(g, lowest, highest)
        leaves = [self._rebuilt[code] for code in codes]
        bounds = []
        for x, leaf in zip(self.seen, leaves, strict=True):
            bound = g.ule(Exponent(leaf, maximum.low, high).rebased(g, lowest, highest), room)
            try:
                w.fact(bound, "a term's exponent leaves room", [*x.cut, w.code], [*x.given, *w.limit])
            except ProofError as error:
                raise NoRoom(str(error)) from error
            bounds.append(bound)
        enough = g.ule(e_max.rebased(g, lowest, highest), room)
        w.fact(enough, "the largest exponent leaves room", [*leaves, w.code], [*bounds, *w.limit])
        floor = g.ule(g.const(self.total.e_max.low - maximum.low, self.code.width), self.code)
        w.fact(floor, "the largest exponent is in its range", ())
        self.known = [enough, floor, *w.limit]
        if step.exact:
            # Codes have room for more exponents than these.
            most, name = g.const(high - maximum.low, self.code.width), "an exponent is below its end"
            below = [
                w.fact(g.ule(leaf, most), name, [*x.cut, w.code], [*x.given, *w.limit])
                for x, leaf in zip(self.seen, leaves, strict=True)
            ]
            self.known.append(w.fact(g.ule(self.code, most), name, leaves, below))
        self.reach = [
            w.fact(g.ule(x, self.code), "an exponent is at most the largest", leaves) for x in leaves
        ]

    # ------------------------------------------------------------------ terms
    def _seen(self, t: AlignedTerm) -> Seen:
        """A product or c by its place, or what an earlier sum handed on."""
        w = self.w
        if len(t.members) > 1:
            raise ProofError(f"expected terms that are single operands at {w.where}, but got sums of them")
        (member,) = t.members
        operand = self.step.operands[member]
        if operand.kind == "products" or operand.kind == "c":
            k = operand.ks[0] if operand.kind == "products" else len(w.gaps.terms) - 1
            k = w.order[k] if w.order and operand.kind == "products" else k
            term = w.gaps.terms[k].number.term
            if t.term.significand is not term.significand:
                return self._converted(t, k, term)
            cut = [term.significand, term.sign, term.zero, term.exponent.bits]
            return Seen(cut, w.known[k], w.counts[k])
        if operand.kind == "zero":
            return Seen([], [], w.nothing)
        if operand in self.whole:
            x = self.whole[operand]
            given = [x.few(w), x.last.facts[0], *x.known]
            return self._read(t, x.last.count, [x.last.node, x.e_max.bits], given)
        count = self.sums[operand].count
        return self._read(t, count) if self.step.exact else Seen([count.node, *w.signs], [count.fact], count)

    def _read(
        self, t: AlignedTerm, count: Count, of: Sequence[Node] = (), given: Sequence[Node] = ()
    ) -> Seen:
        """What an earlier sum handed on, normalised: its significand is the count's magnitude, shifted.

        `of` and `given`: what else it is made of, and known of that, where that sum was not rounded.
        """
        w, g, own = self.w, self.w.c.graph, self._own(t)
        cut, known = [count.node, w.code, *w.signs, *of], [count.fact, *w.limit]
        negative, magnitude = split_sign(g, count.node)
        same = g.and_(g.eq(own.sign, negative), self._shifted(own, magnitude, w.low))
        alike = g.ite(own.zero, g.and_(g.is_zero(count.node), g.is_zero(own.significand)), same)
        inside = own.exponent.bounded(g)
        for fact in (alike, inside):
            known.append(w.fact(fact, "a number is its count", cut, [*known[: 1 + len(w.limit)], *given]))
        # What is the count's own sign or zero stays joined to it.
        joined = (negative, g.is_zero(count.node))
        fields = [n for n in (own.significand, own.exponent.bits, own.sign, own.zero) if n not in joined]
        return Seen([*fields, count.node, *w.signs], known, count)

    def _own(self, t: AlignedTerm) -> Term:
        """A term of the sum as it is known by now."""
        fields = (t.term.sign, t.term.significand, t.term.exponent.bits, t.term.zero)
        sign, significand, code, zero = (self._rebuilt[n] for n in fields)
        exponent = replace(t.term.exponent, bits=code)
        return replace(t.term, sign=sign, significand=significand, exponent=exponent, zero=zero)

    def _shifted(self, own: Term, short: Node, lsb: Exponent) -> Node:
        """1 where a significand is `short`, in units of 2^lsb, shifted left: its lowest bit lies below."""
        g, fine = self.w.c.graph, own.exponent.shifted(-own.fraction_bits)
        lift = distance_below(g, fine, lsb)
        low, high = min(fine.low, lsb.low), max(fine.high, lsb.high)
        below = g.ule(fine.rebased(g, low, high), lsb.rebased(g, low, high))
        width = max(short.width, own.significand.width)
        x, y = (g.zero_extend_to(n, width) for n in (own.significand, short))
        return g.and_(g.eq(x, g.shl_mod(y, lift)), g.eq(g.lshr(x, lift), y), below)

    def _converted(self, t: AlignedTerm, k: int, x: Term) -> Seen:
        """A product of operands that were made wider: it is aligned as the product of the operands."""
        w, g, own = self.w, self.w.c.graph, self._own(t)
        given = w.given(own.significand, own.exponent.bits)
        for mine, its in ((own.sign, x.sign), (own.zero, x.zero)):
            w.fact(g.eq(mine, its), "a wider factor has the sign and the zero of the narrow one", (), given)
        same = g.or_(own.zero, self._shifted(own, x.significand, x.exponent.shifted(-x.fraction_bits)))
        w.fact(same, "a wider product is the narrow one, its exponent less by a shift", (), given)
        empty = w.fact(
            g.or_(g.not_(own.zero), g.is_zero(own.significand)), "a zero has no significand", (), given
        )
        inside = w.fact(own.exponent.bounded(g), "an exponent is in its range", (), given)
        cut = [own.significand, own.exponent.bits, own.sign, own.zero]
        cut += [x.significand, x.exponent.bits, x.sign, x.zero]
        alike = [g.eq(own.sign, x.sign), g.eq(own.zero, x.zero)]
        return Seen(cut, [*w.known[k], *alike, same, empty, inside], w.counts[k], x)

    def _addend(self, x: Seen, t: AlignedTerm, reach: Node) -> Scaled:
        """(2) of one term."""
        w, g = self.w, self.w.c.graph
        full = ((1 << t.term.significand.width) - 1) << self.total.fraction_bits >> t.term.fraction_bits
        most = min(full, (1 << t.aligned.width) - 1)
        signed = signed_magnitude(g, self._rebuilt[t.term.sign], self._rebuilt[t.aligned])
        made = self._scaled(g.wrap_to_mod(signed, self.total.partials[-1].node.width), most, x.count)
        cut, given = [*x.cut, w.code, self.code], [*x.given, *self.known, reach]
        if x.narrow is not None:
            node = self._narrow(x.narrow, t.term.weight_bits - 1, made.node.width)
            w.equal(node, made.node, "a wider product is aligned as the narrow one", cut, given)
            made = self._scaled(node, most, x.count)
            fields = [x.narrow.significand, x.narrow.sign, x.narrow.zero, x.narrow.exponent.bits]
            cut = [*fields, w.code, self.code]
        pairs = [(made.shifted, made.long), *((g.truth(True), fact) for fact in made.facts)]
        w.all_equal(pairs, "an aligned term is its count, scaled", cut, given)
        self.addends.append((made, cut, given))
        return made

    def _narrow(self, x: Term, above: int, width: int) -> Node:
        """A narrow product as this sum would align it, counted from its lowest bit, which none lies below.

        That bit can lie above e_max by `above`, where a wider product has its highest.
        """
        g = self.w.c.graph
        lifted = g.shift_left_const(x.significand, above)
        lsb = x.exponent.shifted(-x.fraction_bits - above)
        whole = replace(x, significand=lifted, exponent=lsb, fraction_bits=0)
        aligned = align(
            g, whole, distance_below(g, whole.exponent, self.e_max), self.total.fraction_bits, "RZ"
        )
        return g.wrap_to_mod(signed_magnitude(g, x.sign, aligned), width)

    def _scaled(self, node: Node, most: int, count: Count) -> Scaled:
        return scaled(self.w, node, most, count, self.up, self.total.fraction_bits, self.width)

    # ------------------------------------------------------------------ sums
    def summed(self) -> tuple[Node, Scaled]:
        """(2) and (3): the last partial sum as it was defined, and as it is known here."""
        w, g, of = self.w, self.w.c.graph, dict[Node, Scaled]()
        width = self.total.partials[-1].node.width
        for x, t, reach in zip(self.seen, self.total.terms, self.reach, strict=True):
            of[g.wrap_to_mod(signed_magnitude(g, t.term.sign, t.aligned), width)] = self._addend(x, t, reach)
        for partial in self.total.partials:
            if partial.node not in of:
                if len(partial.of) != 2 or any(x not in of for x in partial.of):
                    raise ProofError(f"expected a tree of sums in two's complement at {w.where}")
                of[partial.node] = self._added(*(of[x] for x in partial.of))
                # Joins the sum of what is known to the one that was defined.
                w.c.by_congruence(of[partial.node].node, self._rebuilt[partial.node])
        return partial.node, of[partial.node]

    def _added(self, x: Scaled, y: Scaled) -> Scaled:
        """The sum of two such numbers: what is extended, shifted and added may be done in any order."""
        w, c, g = self.w, self.w.c, self.w.c.graph
        made = self._scaled(g.add_mod(x.node, y.node), x.most + y.most, w.add(x.count, y.count))
        bounds = [x.facts[0], y.facts[0]]
        long, whole = g.add_mod(x.long, y.long), g.add_mod(x.whole, y.whole)
        w.all_equal(
            [(long, made.long), (g.truth(True), made.facts[0])], "a sum is extended", [x.node, y.node], bounds
        )
        counts = [x.count.node, y.count.node]
        w.equal(whole, made.whole, "a sum is extended", counts, [x.count.fact, y.count.fact])
        w.fact(made.facts[1], "a sum leaves as much room", [*counts, self.up], [x.facts[1], y.facts[1]])
        apart, shifted = g.add_mod(x.shifted, y.shifted), g.shl_mod(whole, self.up)
        w.equal(shifted, apart, "a sum is shifted", [x.whole, y.whole, self.up])
        if not (
            c.by_congruence(apart, long)
            and c.by_congruence(shifted, made.shifted)
            and c.equal(made.long, made.shifted)
        ):
            raise ProofError(f"expected a proof at {w.where} that a sum is its count, scaled, but found none")
        return made

    def unrounded(self) -> Unrounded:
        """(3) of the whole sum."""
        node, last = self.summed()
        self.w.instead[node] = last.node
        return Unrounded(last, self.e_max, self.total.fraction_bits, self.up, self.known)

    def rounded(self, overflow: str) -> Counted:
        """(4): the count of the whole sum, and its rounding."""
        made, x = self.step.rounded, self.unrounded()
        if made is None:
            raise ProofError(f"expected a rounding at {self.w.where}, but the sum goes on as it is")
        exact, given = x.taken_over(self.w, made, overflow)
        self._signed(made, exact, x.last, given)
        return Counted(x.last.count, exact)

    def _signed(self, made: Rounded, exact: Rounded, last: Scaled, given: list[Node]) -> None:
        """(4) of the sign: that of the count; a zero has the unit's own where nothing is known of it."""
        w, g = self.w, self.w.c.graph
        sign, counted = made.result.term.sign, exact.result.term.sign
        own, signs = w.rebuilt([sign])[sign], [self._rebuilt[t.term.sign] for t in self.total.terms]
        name, cut = "a sum has the sign of its count", [last.node, last.count.node, self.up]
        with suppress(ProofError):
            w.equal(counted, own, name, cut, given)
        if not w.c.equal(counted, own) and any(x in self.sums for x in self.step.operands):
            leaves = [x for x, *_ in self.addends]
            below = [self._below(*addend, sign) for addend, sign in zip(self.addends, signs, strict=True)]
            known = [*given, *below, *(x.facts[0] for x in leaves)]
            with suppress(ProofError):
                w.equal(counted, own, name, [*(x.node for x in leaves), *signs, *cut[1:]], known)
        if not w.c.equal(counted, own):
            counted = g.or_(g.and_(g.is_zero(last.count.node), own), counted)
            w.equal(counted, own, f"{name}, or is zero", [*cut, *signs], given)
            w.signs.append(own)
        w.instead[sign] = counted

    def _below(self, x: Scaled, cut: list[Node], given: list[Node], sign: Node) -> Node:
        """An addend with the sign of negative ones is below zero, or at most zero."""
        w, g, node = self.w, self.w.c.graph, x.node
        for name, most in (("below zero", (1 << node.width) - 1), ("at most zero", 0)):
            # Compared as a whole: a bit of it is a bit of what it was cut from, at which no lemma is cut.
            fact = g.or_(g.not_(sign), g.sle(node, g.const(most, node.width)))
            with suppress(ProofError):
                return w.fact(fact, f"a negative addend is {name}", cut, given)
        raise ProofError(
            f"expected a proof at {w.where} that a negative addend is at most zero, but found none"
        )
