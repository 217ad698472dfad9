"""Products of which the sum has the products of their factors' pieces, each cut on its own."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS
from tcformal.proofs.statements.relative_bound import RelativeBound
from tcformal.proofs.tactics.bounds.aligned import Alignment, TermError
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.bounds.terms import KnownTerm, sign_of, weight
from tcformal.proofs.tactics.relative.blocks import RelativeProof
from tcformal.proofs.tactics.relative.products import SharpAlignment
from tcformal.semantics.stages import DotStep, Total


class PieceAlignment(SharpAlignment):
    """The terms of one truncated sum: of each product of normal factors its pieces, lowest first.

    The highest piece is not zero where the product is not, and its shift counts for all of them.  It and the
    lowest have no bit in common: both together lose what one number would.
    """

    def __init__(
        self, d: Derivation, total: Total, summands: Sequence[KnownTerm], e: Node, floor: int,
        stated: RelativeBound,
    ) -> None:  # fmt: skip
        super().__init__(d, total, summands, e, floor, stated)
        codes = [x.code for x in summands]
        self.pieces = {x: [k for k, y in enumerate(codes) if y is x] for x in dict.fromkeys(codes)}

    def head(self, k: int) -> int:
        """The highest piece of the product that a term is a piece of."""
        return self.pieces[self.summands[k].code][-1]

    def lead(self, k: int) -> Node:
        """See Alignment."""
        return self.total.terms[self.head(k)].shift

    def led(self, k: int, some: int) -> list[tuple[int, Node]]:
        """See Alignment."""
        own, head = self.total.terms[k].shift, self.lead(k)
        return [] if own is head else [(self._alike(k, some), own)]

    def implied(self, k: int, nonzero: Node) -> int:
        """That the highest piece is not zero where a part of the product is not."""
        head = self.summands[self.head(k)].nonzero
        goal = self.g.or_(self.g.not_(nonzero), head)
        return self.d.lemma("that the highest piece is not zero", goal, self.normal(k))

    def _alike(self, k: int, some: int) -> int:
        """That a piece that is not zero is shifted as the highest one: their difference is 0."""
        given, cuts = self._of_piece(k)
        own, head = self.total.terms[k].shift, self.lead(k)
        return self.d.equal("that pieces are shifted alike", own, head, [some, *given], cuts)

    def _of_piece(self, k: int) -> tuple[list[int], tuple[list[Node], ...]]:
        """What shows that, and where."""
        sizes = [self.total.terms[i].term.significand for i in (k, self.head(k))]
        return [self.implied(k, self.summands[k].nonzero)], ([self.root, *sizes], [])

    def term(self, k: int) -> TermError:
        """Both bounds of one aligned term; those of the lowest piece are its highest one's."""
        known, places = super().term(k), self.pieces[self.summands[k].code]
        if len(places) == 1 or k not in (places[0], places[-1]):
            return known
        if k == places[0]:
            nothing = self.d.arith([])
            return replace(known, above=nothing, below=nothing)
        both, equation = self._together(places[0], k)
        part = sign_of(known.sign) * self.unit
        above = self.d.arith([(1, [both.above]), (part, [equation])])
        below = self.d.arith([(1, [both.below]), (part * -1, [equation])])
        return replace(known, above=above, below=below)

    def _together(self, low: int, high: int) -> tuple[TermError, int]:
        """Two pieces as one term, and that its aligned bits are theirs: their difference is 0."""
        d, g = self.d, self.g
        one, other = self.summands[low], self.summands[high]
        small, large = (self.total.terms[k].term.significand for k in (low, high))
        place = small.args[0].width if small.op == "zero_extend" else 0
        top, bottom = g.extract(large, large.width - 1, place), g.extract(small, max(place - 1, 0), 0)
        whole = g.concat(top, bottom)
        term = replace(other.term, significand=whole, zero=g.is_zero(whole), factors=())
        value = one.value + other.value
        size = sign_of(term.sign) * Poly.of(whole) * weight(other.code, term.fraction_bits)
        equations = d.expanded(whole, [top, bottom], "both pieces")
        for x, leaf in ((small, bottom), (large, top)):
            equations += d.expanded(x, [leaf], "a piece in its place")
        shown = d.prove(value - size, sorted(equations, key=lambda y: -y[1].index))
        nonzero = g.any_bit(whole)
        made = self.total.terms[high]
        placed = g.shift_left_const(whole, self.total.fraction_bits - term.fraction_bits)
        made = replace(made, term=term, aligned=g.lshr(placed, made.shift))
        pair = copy.copy(self)
        pair.total = replace(
            self.total, terms=(*self.total.terms[:high], made, *self.total.terms[high + 1 :])
        )
        facts = (*other.facts, self.implied(high, nonzero))
        known = replace(other, value=value, term=term, nonzero=nonzero, shown=shown, facts=facts)
        pair.summands = [*self.summands[:high], known, *self.summands[high + 1 :]]
        return Alignment.term(pair, high), self._kept(low, high, made.aligned, [top, bottom])

    def _kept(self, low: int, high: int, kept: Node, cut: list[Node]) -> int:
        """What is kept of both pieces together less what is kept of each = 0."""
        d, g, x = self.d, self.g, self.summands[low]
        shifts = [self.total.terms[k].shift for k in (low, high)]
        alike = g.or_(g.not_(x.nonzero), g.eq(*shifts))
        given, cuts = self._of_piece(low)
        shifted = d.lemma("that pieces are shifted alike", alike, given, cuts)
        one, other = (self.total.terms[k].aligned for k in (low, high))
        total = g.add_mod(one, other)
        within = ([*cut, *shifts],)
        same = d.equal("two pieces together", kept, total, [shifted], within)
        fits = d.lemma("that both pieces fit", g.ule(one, total), [shifted], within)
        return d.prove(
            Poly.of(kept) - Poly.of(one) - Poly.of(other), [(same, kept), (d.read(total, fits), total)]
        )


class PieceProof(RelativeProof):
    """The proof of one statement about a sum of pieces of products."""

    aligning = PieceAlignment

    def _summands(self, step: DotStep, carried: KnownTerm | None) -> list[KnownTerm]:
        """See BoundProof: of normal factors the exponents are those of the statement."""
        made, cut = super()._summands(step, carried), iter(self.cut)
        found, whole = list[KnownTerm](), list[int]()
        groups = dict.fromkeys(x.ks for x in step.operands)
        for ks in groups:
            own = [x for x, y in zip(made, step.operands, strict=True) if y.ks == ks]
            if not ks:
                found += own
                continue
            moved, same = self._stated(ks[0], own, next(cut))
            found += moved
            whole.append(same)
        self.cut = whole
        return found

    def _stated(self, k: int, pieces: Sequence[KnownTerm], whole: int) -> tuple[list[KnownTerm], int]:
        """Pieces with the exponent of the statement, and that they add up to the product."""
        d, g, t, code = self.d, self.g, self.stated.terms[k], pieces[0].code
        facts = tuple(d.assume(n) for n in self.relative.normal[k] if n.op != "const")
        alike = d.lemma("that a normal product keeps its exponent", g.eq(code, t.code), facts)
        same = d.equal("that a normal product keeps its exponent", code, t.code, facts)
        wide, _ = self._limit(0)
        made, rest = list[KnownTerm](), t.value
        for x in pieces:
            value = sign_of(x.term.sign) * Poly.of(x.term.significand)
            value = value * weight(t.code, x.term.fraction_bits)
            goal = g.or_(g.not_(x.nonzero), g.ule(g.zero_extend_to(t.code, CODE_BITS + 1), wide))
            limit = d.lemma("an exponent at most E", goal, [x.limit, alike], ([code, t.code, x.nonzero],))
            made.append(replace(x, value=value, code=t.code, limit=limit, facts=facts))
            rest = rest - value
        return made, d.prove(rest, [(same, code)] if code is not t.code else [], [(1, [whole])])
