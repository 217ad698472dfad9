"""Compositions: converted operands, truncated sums from +0, each packed and unpacked, and c added last."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET, encoded, exponent_code
from tcformal.proofs.tactics.bounds.aligned import KnownTerm, code_of, sign_of, weight
from tcformal.proofs.tactics.bounds.blocks import BlockError, BoundProof
from tcformal.proofs.tactics.bounds.sticky import StickyConversion, StickyTerms
from tcformal.semantics.number import Exponent, Term
from tcformal.semantics.stages import Block, DotStep, Operand


class ComposedProof(BoundProof):
    """The proof about a composition that the compiler makes."""

    def conclusions(self) -> list[int]:
        d, stated = self.d, self.stated
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
        assert carried is not None and before is not None, "a composition has a part"
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
        same, exponent = x.packed(fields, finite)
        code = exponent_code(g, [fields])
        met = d.lemma("the exponent of a word", g.eq(code, x.code), [finite, *x.normal()], (cut, []))
        _, _, known = carried.nonzero, carried.term, carried.limit
        nonzero = g.any_bit(fields.significand)
        node = self._far(known)
        limit = g.or_(g.not_(nonzero), g.ule(g.zero_extend_to(code, node.width), node))
        some = d.lemma("a significand and that of its word", g.or_(g.not_(nonzero), carried.nonzero), [finite, *x.normal()], (cut, []))
        reached = d.lemma(
            "an exponent above E", limit, [known, met, some],
            ([code, x.code, node, nonzero, carried.nonzero],),
        )  # fmt: skip
        e = Exponent(fields.exponent, -fields.fmt.bias, (1 << fields.fmt.exponent_bits) - 1 - fields.fmt.bias)
        term = Term(fields.sign, fields.significand, e, fields.fmt.fraction_bits, g.is_zero(fields.significand))
        now = KnownTerm(fields.value, (fields,), term, code, nonzero, reached, (finite,), (word,))
        # From here on the result is the value of its word.
        rounding = made.rounding
        sides = [d.arith([(1, [i]), (s, [same])]) for i, s in ((made.above, -1), (made.below, 1))]
        from dataclasses import replace
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
        d, g, stated = self.d, self.g, self.stated
        assert step.total is not None and step.rounded is not None and step.specials is not None
        (own,) = stated.terms[-1].factors
        c = KnownTerm(own.value, (own,), carried.term, stated.terms[-1].code, stated.terms[-1].nonzero, 0)
        low = -own.fmt.bias
        e = Exponent(own.exponent, low, low + (1 << own.fmt.exponent_bits) - 1)
        from dataclasses import replace
        c = replace(c, term=Term(own.sign, own.significand, e, own.fmt.fraction_bits, g.is_zero(own.significand)))
        terms = StickyTerms(d, step.total, (carried, c))
        conversion = StickyConversion(d, step, terms, clean)
        rounding = conversion.error()
        packed, same = conversion.packed(stated.d)
        exact = self.exact + own.value
        made = []
        for (_, goal), i, j, sign, errors in zip(
            stated.conclusions, (before.above, before.below), (rounding.above, rounding.below), (1, -1),
            zip(*(t.sides for t in terms.errors), strict=True), strict=True,
        ):  # fmt: skip
            parts = [(1, [i]), (1, [j]), (-sign, [packed]), (terms.unit * -sign, [terms.summed.equation])]
            parts += [(1, [x]) for x in errors] + [(terms.unit, [terms.one_lost])]
            made.append(d.prove(goal, [(same, rounding.code)], parts))
        del exact
        return made
