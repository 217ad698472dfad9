"""The error of one truncated sum in terms of the sum of magnitudes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS
from tcformal.proofs.statements.error_bound import StatedTerm
from tcformal.proofs.statements.relative_bound import RelativeBound, at, magnitude
from tcformal.proofs.tactics.bounds.aligned import Alignment, TermError
from tcformal.proofs.tactics.bounds.blocks import BoundProof
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.rounded import SumConversion
from tcformal.proofs.tactics.bounds.summed import Addition
from tcformal.proofs.tactics.bounds.terms import KnownTerm, sign_of, weight
from tcformal.proofs.tactics.relative.conversion import SharpConversion
from tcformal.proofs.tactics.relative.products import SharpAlignment
from tcformal.semantics.number import Term
from tcformal.semantics.stages import Block, Dot

ONE = Poly.constant(1)


class RelativeProof(BoundProof):
    """The proof of one statement about one block.

    With E the largest exponent, Σ|terms| is at least 2^E, and the term that has E loses nothing.  A result
    whose exponent is at most E loses an ulp of 2^(E - p) at most; a larger one is itself at most Σ|terms|
    and what is lost, so that its ulp is small beside them.
    """

    def __init__(self, d: Derivation, stated: RelativeBound, dot: Dot) -> None:
        super().__init__(d, stated.base, dot)
        self.relative = stated
        self.known_c = d.assume(stated.known_c) if stated.known_c.op != "const" else None
        self.total = stated.magnitudes
        self.scale = self._power(0)

    def conclusions(self) -> list[int]:
        """Both theorems of the statement; ProofError with one sentence where a step is not found."""
        d, g, stated = self.d, self.g, self.relative
        limit, in_e = self._limit(0)
        alignment, terms, conversion = self._sum(limit)
        summands, summed = alignment.summands, conversion.summed
        room = self._power(-conversion.total.fraction_bits)
        finest = d.prove(room - alignment.unit, in_e, [(1, [alignment.bounded()])])
        moved = SharpConversion(d, conversion, stated, finest)
        code = g.zero_extend_to(conversion.code, CODE_BITS + 1)
        equations = [(d.read(code), code), *in_e]
        above = g.ult(limit, code)
        exact = Poly.constant(0)
        for t in self.stated.terms:
            exact = exact + t.value
        shares, sizes = self._shares(alignment, terms), self._largest()
        unit = alignment.unit
        whole: list[Part] = [
            (unit * stated.loss, [shares]),
            (stated.kept, [finest]),
            (unit * stated.spare, []),
        ]
        if stated.loss != 1 and not stated.zero_c:
            # c may lose a whole unit.
            (c,) = (
                x.shift for x, y in zip(terms, summands, strict=True) if y.code is self.stated.terms[-1].code
            )
            whole.append((unit * (Poly.of(c) * -1).power_of_two() * (1 - stated.loss), []))
        made = []
        for high, bit in ((True, d.assume(above)), (False, d.assume(g.not_(above)))):
            goal, moves = moved.bounds(high, bit, (code, limit), equations)
            both = []
            for sign, mine in zip((1, -1), moves, strict=True):
                parts = [*whole, (1, [mine]), *((1, [t.above if sign > 0 else t.below]) for t in terms)]
                lost = self._power(-conversion.total.fraction_bits) * stated.kept + goal
                value = sign_of(conversion.term.sign) * Poly.of(conversion.term.significand) * conversion.ulp
                both.append(d.prove(
                    lost - (value - exact) * sign, [], [*parts, (unit * -sign, [summed.equation])]
                ))  # fmt: skip
            made.append(self._scaled(conversion, both, sizes, high, bit, exact))
        packed, same = conversion.packed(self.stated.d)
        found = []
        for sign, high_one, low_one in ((-1, made[0][0], made[1][0]), (1, made[0][1], made[1][1])):
            i = d.cases(above, high_one, low_one)
            _, goal = stated.conclusions[0 if sign < 0 else 1]
            found.append(d.prove(goal, [(same, conversion.code)], [(1, [i]), (sign, [packed])]))
        return found

    def _sum(self, limit: Node) -> tuple[SharpAlignment, list[TermError], SumConversion]:
        """The sum of the products and c at a limit of their exponents, and its conversion."""
        (block,) = (x for x in self.dot.stages if isinstance(x, Block))
        (clean,) = self._clean([self._roundings(block)])
        (step,) = block.steps
        if step.total is None or step.rounded is None or step.specials is None:
            raise ProofError("a block is no fused sum")
        summands = self._summands(step, None)
        alignment = SharpAlignment(self.d, step.total, summands, limit, self.floor, self.relative)
        terms = [self._term(alignment, k) for k in range(len(summands))]
        summed = Addition(self.d, step.total, terms).value()
        return alignment, terms, SumConversion(
            self.d, step.total, alignment.e_max, summed, step.rounded, step.specials, clean[0],
            alignment.in_range(),
        )  # fmt: skip

    # ------------------------------------------------------------------ terms
    def _normalised(self, k: int, term: Term) -> KnownTerm:
        """A product of normal factors, or of zeros, keeps its exponent."""
        d, x, t = self.d, super()._normalised(k, term), self.stated.terms[k]
        facts = tuple(d.assume(n) for n in self.relative.normal[k] if n.op != "const")
        same = d.equal("that a normal product keeps its exponent", x.code, t.code, facts)
        assert x.shown is not None, "the value of a normalised product is shown"
        size = sign_of(term.sign) * Poly.of(term.significand) * weight(t.code, term.fraction_bits)
        shown = d.prove(t.value - size, [(same, x.code)], [(1, [x.shown])])
        return replace(x, factors=t.factors, code=t.code, limit=self._limited(k), facts=facts, shown=shown)

    def _term(self, alignment: Alignment, k: int) -> TermError:
        """One aligned term; of c, what the statement knows of it too."""
        d, x, made = self.d, alignment.summands[k], alignment.total.terms[k]
        known = alignment.term(k)
        if self.known_c is None or x.code is not self.stated.terms[-1].code:
            return known
        size = made.term.significand
        if not self.relative.zero_c:
            return self._short(alignment, k, known)
        empty = d.lemma("that c is empty", self.g.is_zero(size), [self.known_c], (x.own,))
        nothing = d.lemma(
            "that c adds nothing", self.g.is_zero(known.aligned), [empty],
            ([size, made.shift], [made.shift]),
        )  # fmt: skip
        moved = x.value - sign_of(known.sign) * Poly.of(known.aligned) * alignment.unit
        zero = d.prove(
            moved, [(d.fact(i), n) for i, n in ((empty, size), (nothing, known.aligned)) if n.op != "const"]
        )
        return replace(known, above=zero, below=d.arith([(-1, [zero])]), exact_at_zero=False)

    def _short(self, alignment: Alignment, k: int, known: TermError) -> TermError:
        """c with fraction bits beyond those of the sum, which are 0: at e_max it loses nothing."""
        if known.exact_at_zero:
            return known
        d, g, x, made = self.d, self.g, alignment.summands[k], alignment.total.terms[k]
        t, unit, bits = made.term, alignment.unit, alignment.total.fraction_bits
        excess = t.fraction_bits - bits
        placed, cut = g.truncate_low(t.significand, excess), g.extract(t.significand, excess - 1, 0)
        whole = g.concat(placed, cut)
        absent = d.lemma(
            "that c has no lower bits", g.is_zero(cut), [self.known_c or 0], ([], [t.significand])
        )
        same = d.equal(f"the significand of term {k}", t.significand, whole, (), ([t.significand], []))
        size = Poly.of(t.significand) * weight(x.code, t.fraction_bits)
        share = (Poly.of(made.shift) * -1).power_of_two()
        up_goal = unit - unit * share - size + Poly.of(known.aligned) * unit
        low_goal = size - Poly.of(known.aligned) * unit
        some, none = d.assume(x.nonzero), d.assume(g.not_(x.nonzero))
        scale = unit * share
        equations = [
            (alignment.distance(k, some), x.code), (same, t.significand), (d.read(whole), whole),
            (d.fact(absent), cut),
        ]  # fmt: skip
        up = d.prove(up_goal, equations, [(scale, [d.read(known.aligned, 1)])])
        low = d.prove(low_goal, equations, [(scale, [d.read(known.aligned, 0)])])
        empty = alignment._zero(k, none, known.aligned, False, low_goal, up_goal)
        low, up = d.cases(x.nonzero, low, empty[0]), d.cases(x.nonzero, up, empty[1])
        positive, sign = [d.range(t.sign), low], Poly.of(t.sign)
        moved = x.value - sign_of(t.sign) * Poly.of(known.aligned) * unit
        goal = unit - unit * share
        above = d.prove(goal + moved, [], [(1, [up]), (2, positive), (1, [known.value])])
        below = d.prove(goal - moved, [], [(1, [up]), (sign * 2, [low]), (-1, [known.value])])
        return replace(known, above=above, below=below, exact_at_zero=True)

    # ------------------------------------------------------------------ the largest term
    def _by_term(self, goal: Poly, proof: Callable[[int, StatedTerm, int], int]) -> int:
        """A goal proved for every term that can have the exponent E, `proof` from the theorem that it has."""
        d, g, terms = self.d, self.g, self.relative.terms
        bits = [at(g, t, self.stated.e) for t in terms]
        absent = [d.assume(g.not_(x)) for x in bits[:-1]]
        given = [d.assume(self.relative.attained), *absent]
        last = d.lemma("that some term has the exponent E", bits[-1], given, (bits,))
        made = 0
        for k in reversed(range(len(terms))):
            here = proof(k, terms[k], last if k == len(terms) - 1 else d.assume(bits[k]))
            if d.about(here) != goal:
                raise ProofError("a term gives another bound")
            made = here if k == len(terms) - 1 else d.cases(bits[k], here, made)
        return made

    def _parted(self, t: StatedTerm, bit: int) -> tuple[int, int]:
        """That the term is not zero, and that its exponent's code is E: U(code) - U(E) = 0."""
        d, e = self.d, self.stated.e
        cut = ([t.nonzero, t.code, e],)
        some = d.lemma("that a term is not zero", t.nonzero, [bit], cut)
        return some, d.equal("that a term has the exponent E", t.code, e, [bit], cut)

    def _shares(self, alignment: Alignment, terms: list[TermError]) -> int:
        """Σ 2^-shift - 1 >= 0 over the terms that can have E: one is shifted by nothing."""
        d, code = self.d, alignment.e_max
        reached = alignment.reached()
        wide = self.g.zero_extend_to(code, CODE_BITS + 1)
        equations = [(d.read(wide), wide), (d.read(alignment.e), alignment.e)]
        below = d.prove(Poly.of(self.stated.e) - Poly.of(code), equations, [(1, [d.fact(reached)])])
        places = {x.code: i for i, x in enumerate(alignment.summands)}
        shift = {k: terms[places[t.code]].shift for k, t in enumerate(self.relative.terms)}
        shares = {k: (Poly.of(s) * -1).power_of_two() for k, s in shift.items()}
        goal = Poly.constant(-1)
        for x in shares.values():
            goal = goal + x

        def proof(k: int, t: StatedTerm, bit: int) -> int:
            some, same = self._parted(t, bit)
            distance = alignment.distance(places[t.code], some)
            unshifted = d.power(d.arith([(-1, [distance]), (1, [same]), (1, [below])]))
            return d.prove(goal, [], [(1, [unshifted]), *((x, []) for i, x in shares.items() if i != k)])

        return self._by_term(goal, proof)

    def _largest(self) -> int:
        """Σ|terms| - 2^E >= 0."""
        d, goal = self.d, self.total - self.scale

        def proof(k: int, t: StatedTerm, bit: int) -> int:
            some, same = self._parted(t, bit)
            parts: list[Part] = [(magnitude(x.factors), []) for x in self.relative.terms if x is not t]
            weight = ONE
            for x in t.factors:
                weight = weight * x.weight(x.fmt.fraction_bits)
            for x, normal in zip(t.factors, self.relative.normal[k], strict=True):
                own = x.significand
                if own.op != "const":
                    least = self.g.const(1 << x.fmt.fraction_bits, own.width)
                    given = [some] if normal.op == "const" else [some, d.assume(normal)]
                    cuts: tuple[list[Node], ...] = ([y.significand for y in t.factors], [])
                    full = d.fact(d.lemma("that a factor is normal", self.g.ule(least, own), given, cuts))
                    rest = ONE
                    for y in t.factors[t.factors.index(x) + 1 :]:
                        rest = rest * (Poly.of(y.significand) if y.significand.op != "const" else ONE)
                    parts.append((weight * rest, [full]))
                weight = weight * (1 << x.fmt.fraction_bits)
            equations = [(d.arith([(-1, [same])]), self.stated.e)]
            equations += d.expanded(t.code, [x.exponent for x in t.factors], "an exponent")
            return d.prove(goal, equations, parts)

        return self._by_term(goal, proof)

    # ------------------------------------------------------------------ the bound
    def _held(self, sign: int, exact: Poly) -> int:
        """Σ|terms| ∓ the exact sum, at least 0."""
        d, parts, equations = self.d, list[Part](), list[tuple[int, Node]]()
        for t in self.relative.terms:
            signs = [x.sign for x in t.factors if x.sign.op != "const"]
            size = magnitude(t.factors) * 2
            ones = [d.range(s) for s in signs]
            if len(signs) == 1:
                parts.append((size * Poly.of(signs[0]), []) if sign > 0 else (size, ones))
            elif sign > 0:
                parts += [(size * Poly.of(s), [i]) for s, i in zip(signs, reversed(ones), strict=True)]
            else:
                parts += [(size, ones), (size * Poly.of(signs[0]) * Poly.of(signs[1]), [])]
        if self.relative.zero_c and self.known_c is not None:
            c = self.stated.terms[-1].factors[0].significand
            equations.append((d.fact(d.lemma("that c is zero", self.g.is_zero(c), [self.known_c])), c))
        return d.prove(self.total - exact * sign, equations, parts)

    def _scaled(
        self, x: SumConversion, both: list[int], sizes: int, high: bool, bit: int, exact: Poly
    ) -> list[int]:
        """constant · Σ|terms| ∓ error >= 0, from both bounds in terms of E and of the result's ulp."""
        d, stated = self.d, self.relative
        units, p = stated.kept / 2**x.total.fraction_bits, x.bits
        more: list[Part] = []
        held = units + (0 if high else stated.share / 2**p)
        if high:
            t = x.term
            full = d.fact(d.lemma(
                "that a result above E is normal",
                self.g.ule(self.g.const(1 << p, p + 1), t.significand), [bit, self.floor, *x.normal()],
                ([t.significand, t.exponent.bits], [*t.significand.args, t.exponent.bits], x.inner),
            ))  # fmt: skip
            s, one = Poly.of(t.sign), d.range(t.sign)
            up, down = (
                d.arith([(1, [i]), (1, [self._held(j, exact)])]) for i, j in zip(both, (1, -1), strict=True)
            )
            size = Poly.of(t.significand) * x.ulp
            lost = self._power(-x.total.fraction_bits) * stated.kept + x.ulp * stated.share
            lost = lost + Poly.constant(x.flushed)
            most = d.prove(lost + self.total - size, [], [(1, [one, up]), (s, [down])])
            ulps = d.arith([(1, [most]), (x.ulp, [full])])
            factor = stated.share / (2**p - stated.share)
            more.append((factor, [ulps]))
            held = units * (1 + factor)
        made = []
        value = sign_of(x.term.sign) * Poly.of(x.term.significand) * x.ulp
        rest = stated.constant - held - (factor if high else 0)
        for sign, i in zip((1, -1), both, strict=True):
            goal = self.total * stated.constant + Poly.constant(stated.flushed) - (value - exact) * sign
            spare = stated.flushed - x.flushed * (1 + (factor if high else 0))
            parts: list[Part] = [(spare, [])] if spare else []
            parts += [(1, [i]), *more, (held, [sizes]), (self.total * rest, [])]
            made.append(d.prove(goal, [], parts))
        return made
