"""Compositions: converted operands, truncated sums from +0, each packed and unpacked, and c added last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS, encoded, exponent_code
from tcformal.proofs.tactics.bounds.blocks import BlockError, BoundProof
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.rounded import SumConversion, flags_of
from tcformal.proofs.tactics.bounds.sticky import StickyTerms
from tcformal.proofs.tactics.bounds.terms import KnownTerm, code_of, sign_of, term_of, weight
from tcformal.semantics.number import Term
from tcformal.semantics.stages import Block, DotStep, Operand


class StickyConversion(SumConversion):
    """The conversion of a sum of two to the nearest number: ulp / 2 less a unit where the sum lost some."""

    def __init__(self, d: Derivation, step: DotStep, terms: StickyTerms, clean: Sequence[int]) -> None:
        assert step.total is not None
        assert step.rounded is not None
        assert step.specials is not None
        super().__init__(
            d, step.total, terms.alignment.e_max, terms.summed, step.rounded, step.specials, clean,
            terms.alignment.in_range(),
        )  # fmt: skip
        if step.rounded.target.mode != "RNE":
            raise ProofError(f"expected an addition to the nearest, but got {step.rounded.target.mode}")
        self.terms = terms
        self.slack = Poly.of(terms.lost) * self.unit

    def _sign_cuts(self) -> tuple[list[Node], ...]:
        # A zero's sign is that of both terms.
        return ([self.total.bits, self.total.e_max.bits, *flags_of(self.specials)],)

    def _zero(self, none: int) -> list[tuple[int, Node]]:
        lost = self.terms.lost
        goal = self.g.is_zero(lost)
        return [(self.d.fact(self.terms.sum_is("that a zero sum loses nothing", goal, none)), lost)]

    def _remainder(self, half: Node, big: Node, amount: Node) -> tuple[int, int]:
        """Where something is lost, what is left is no less than a unit of the sum away from both ends."""
        d, g, lost = self.d, self.g, self.terms.lost
        p = self.term.significand.width
        low, high = super()._remainder(half, big, amount)
        unit = 1 << (p + 1)
        bit, power = Poly.of(lost), Poly.of(amount).power_of_two()
        rest = Poly.of(big) - Poly.of(half) * power
        goals = rest - bit * unit, power - rest - bit * unit
        no = d.assume(g.not_(lost))
        none = d.fact(d.lemma("a bit of a case", g.is_zero(lost), [no], ([lost],)))
        first = [
            d.prove(goal, [(none, lost)], [(1, [i])]) for goal, i in zip(goals, (low, high), strict=True)
        ]
        yes = d.assume(lost)
        one = d.fact(d.lemma("a bit of a case", g.eq(lost, g.truth(True)), [yes], ([lost],)))
        odd, large = self.terms.odd_and_large()
        width = big.width + 16
        far = g.and_(g.ule(g.const(p + 2, CODE_BITS), amount), g.ule(amount, g.const(width - 2, CODE_BITS)))
        shifted = d.lemma("how far a large sum is shifted", far, [large, *self.given], self.cuts)
        back = g.shl_mod(half, amount)
        inner = g.sub_mod(big, back)
        cut = ([self.summed.whole, amount],)
        restored = d.lemma(
            "that half an ulp is restored", g.eq(g.lshr(back, amount), half), (), ([big, amount],)
        )
        below = d.lemma("that half an ulp is in a sum", g.ule(back, big), (), ([big, amount],))
        given = [odd, shifted]
        least = d.lemma("what is left of an odd sum", g.ule(g.const(unit, big.width), inner), given, cut)
        wide = g.zero_extend_to(inner, width)
        more, top = g.add_mod(wide, g.const(unit, width)), g.shl_mod(g.const(1, width), amount)
        most = d.lemma("what an odd sum lacks", g.ule(more, top), given, cut)
        room = d.lemma("that a unit more fits", g.ule(more.args[0], more), (), ([inner],))
        whole = d.lemma(
            "that a power fits", g.eq(g.lshr(top, amount), g.const(1, width)), [shifted], ([amount],)
        )
        reads = [(d.read(inner, below), inner), (d.read(back, restored), back)]
        upper = [(d.read(top, whole), top), (d.read(more, room), more), (d.read(wide), wide), *reads]
        facts = d.fact(least), d.fact(most)
        second = [
            d.prove(goals[0], [(one, lost), *reads], [(1, [facts[0]])]),
            d.prove(goals[1], [(one, lost), *upper], [(1, [facts[1]])]),
        ]
        shown = [d.cases(lost, i, j) for i, j in zip(second, first, strict=True)]
        return shown[0], shown[1]


class ComposedProof(BoundProof):
    """The proof about a composition that the compiler makes."""

    def conclusions(self) -> list[int]:
        """Both theorems of the statement; ProofError with one sentence where a step is not found."""
        stated = self.stated
        *blocks, step = self.dot.stages
        if not isinstance(step, DotStep) or step.rounded is None or step.specials is None:
            raise ProofError("the last step is no addition of c")
        parts = [x for x in blocks if isinstance(x, Block)]
        if len(parts) != len(blocks) or len(parts) != len(stated.blocks):
            raise ProofError(f"{len(parts)} sums are not the {len(stated.blocks)} parts of the statement")
        clean = self._clean([*map(self._roundings, parts), [(step.rounded, step.specials)]])
        carried: KnownTerm | None = None
        before: BlockError | None = None
        for bound, block, fine in zip(stated.blocks, parts, clean, strict=False):
            before = self._block(bound, block, carried, before, fine)
            carried, before = self._carried(bound, before, fine[-1])
            carried, before = self._packed(block.result, carried, before, fine[-1])
        assert carried is not None, "a composition has a part"
        assert before is not None, "a composition has a part"
        return self._added(step, carried, before, clean[-1][0])

    # ------------------------------------------------------------------ parts
    def _summand(self, x: Operand, term: Term) -> KnownTerm:
        if x.kind == "zero":
            code, never = code_of(self.g, term.exponent), self.g.truth(False)
            always = self.d.lemma("that zero is no term", self.g.not_(never))
            return KnownTerm(Poly.constant(0), (), term, code, never, always)
        if x.kind != "products" or len(x.ks) > 1:
            raise ProofError(f"a term is {x.kind} of {len(x.ks)} k")
        return self._converted(x.ks[0], term)

    def _converted(self, k: int, t: Term) -> KnownTerm:
        """A product of converted words, which has another exponent where a factor was subnormal."""
        d, g, stated = self.d, self.g, self.stated.terms[k]
        code, facts = code_of(g, t.exponent), tuple(d.assume(x.finite) for x in stated.factors)
        one, two = (x.significand for x in stated.factors)
        size, more = g.mul_expand(one, two), t.fraction_bits - stated.fraction_bits
        raised = g.add_mod(stated.code, g.const(more, CODE_BITS))
        up = g.sub_mod(raised, code)
        wide = g.zero_extend_to(size, t.significand.width)
        placed = g.shl_mod(wide, up)
        fits = d.lemma("that an exponent has a code", g.ule(stated.code, raised))
        below = d.lemma("that a converted product has no larger exponent", g.ule(code, raised), facts)
        kept = d.lemma("that a converted product has room", g.eq(g.lshr(placed, up), wide), facts)
        same = d.equal("that a conversion is exact", t.significand, placed, facts)
        sign = g.xor(*(x.sign for x in stated.factors))
        signs = d.equal("the sign of a converted product", t.sign, sign, facts)
        goal = stated.value - sign_of(t.sign) * Poly.of(t.significand) * weight(code, t.fraction_bits)
        equations = [(signs, t.sign), *d.expanded(sign, [x.sign for x in stated.factors], "a sign")]
        equations += [(same, t.significand), (d.read(placed, kept), placed), (d.read(wide), wide)]
        equations += [(d.read(up, below), up), (d.read(raised, fits), raised)]
        equations += d.expanded(size, [one, two], "a product")
        equations += d.expanded(stated.code, [x.exponent for x in stated.factors], "an exponent")
        shown = d.prove(goal, equations)
        wide_e = g.zero_extend_to(self.stated.e, CODE_BITS + 1)
        limit = g.or_(g.not_(stated.nonzero), g.ule(g.zero_extend_to(code, CODE_BITS + 1), wide_e))
        given = [d.assume(self.stated.limits[k]), *facts]
        reached = d.lemma("an exponent at most E", limit, given)
        return KnownTerm(stated.value, (), t, code, stated.nonzero, reached, facts, shown=shown)

    def _packed(
        self, word: Node, carried: KnownTerm, made: BlockError, clean: Sequence[int]
    ) -> tuple[KnownTerm, BlockError]:
        """A part's result as the word that the next step unpacks."""
        d, g, x = self.d, self.g, made.conversion
        fields = encoded(g, word, self.stated.unit.operands.d)
        t = x.term
        flags = [t.sign, t.significand, t.exponent.bits, x.result.inf, x.result.nan]
        cut = [*flags, *(t.significand.args if t.significand.op == "extract" else ())]
        given = [*clean, *x.normal()]
        finite = d.lemma("that the word of a finite result is finite", fields.finite, given, (cut, []))
        same, _ = x.packed(fields, finite)
        code = exponent_code(g, [fields])
        met = d.lemma("the exponent of a word", g.eq(code, x.code), [finite, *x.normal()], (cut, []))
        nonzero = g.any_bit(fields.significand)
        node = self._far(carried.limit)
        limit = g.or_(g.not_(nonzero), g.ule(g.zero_extend_to(code, node.width), node))
        some = d.lemma(
            "a significand and that of its word",
            g.or_(g.not_(nonzero), carried.nonzero),
            [finite, *x.normal()],
            (cut, []),
        )
        reached = d.lemma(
            "an exponent above E", limit, [carried.limit, met, some],
            ([code, x.code, node, fields.significand, t.significand],),
        )  # fmt: skip
        now = KnownTerm(
            fields.value, (fields,), term_of(g, fields), code, nonzero, reached, (finite,), (word,)
        )  # fmt: skip
        # From here on the result is the value of its word.
        rounding = made.rounding
        sides = [d.arith([(1, [i]), (s, [same])]) for i, s in ((made.above, -1), (made.below, 1))]
        rounding = replace(rounding, value=fields.value)
        return now, replace(made, rounding=rounding, above=sides[0], below=sides[1])

    def _far(self, known: int) -> Node:
        """The limit that a theorem about a carried exponent names."""
        about = self.d.kernel.theorem(known).about
        assert isinstance(about, Node)
        (bound,) = [x for x in about.args if x.op == "ule"]
        return bound.args[1]

    # ------------------------------------------------------------------ c
    def _added(
        self, step: DotStep, carried: KnownTerm, before: BlockError, clean: Sequence[int]
    ) -> list[int]:
        """Both theorems of the statement: c is added, and the sum rounded to the nearest."""
        d, stated = self.d, self.stated
        assert step.total is not None
        assert step.rounded is not None
        assert step.specials is not None
        (own,) = stated.terms[-1].factors
        said = stated.terms[-1]
        c = KnownTerm(own.value, (own,), term_of(self.g, own), said.code, said.nonzero, carried.limit)
        terms = StickyTerms(d, step.total, (carried, c))
        conversion = StickyConversion(d, step, terms, clean)
        rounding = conversion.error()
        packed, same = conversion.packed(stated.d)
        made = []
        for (_, goal), i, j, sign, errors in zip(
            stated.conclusions, (before.above, before.below), (rounding.above, rounding.below), (1, -1),
            zip(*(t.sides for t in terms.errors), strict=True), strict=True,
        ):  # fmt: skip
            parts: list[Part] = [
                (1, [i]),
                (1, [j]),
                (-sign, [packed]),
            ]
            parts += [(terms.unit * -sign, [terms.summed.equation])]
            parts += [(1, [x]) for x in errors] + [(terms.unit, [terms.one_lost])]
            made.append(d.prove(goal, [(same, rounding.code)], parts))
        return made
