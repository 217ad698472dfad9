"""What follows from some term of a sum having the largest exponent E."""

from __future__ import annotations

from collections.abc import Callable

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS
from tcformal.proofs.statements.error_bound import StatedTerm
from tcformal.proofs.statements.relative_bound import RelativeBound, at, magnitude
from tcformal.proofs.tactics.bounds.aligned import Alignment, TermError
from tcformal.proofs.tactics.bounds.blocks import BoundProof
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.semantics.stages import Dot

ONE = Poly.constant(1)


class LargestTerm(BoundProof):
    """The terms of one statement about one block, E being the exponent of one of them."""

    def __init__(self, d: Derivation, stated: RelativeBound, dot: Dot) -> None:
        super().__init__(d, stated.base, dot)
        self.relative = stated
        self.known_c = d.assume(stated.known_c) if stated.known_c.op != "const" else None
        self.total = stated.magnitudes
        self.scale = self._power(0)

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
        shares = [self._share(alignment, terms, t) for t in self.relative.terms]
        goal = Poly.constant(-1)
        for x in shares:
            goal = goal + x

        def proof(k: int, t: StatedTerm, bit: int) -> int:
            unshifted = self._unshifted(alignment, t, bit)
            rest: list[Part] = [(x, []) for i, x in enumerate(shares) if i != k]
            return self.d.prove(goal, [], [(1, [unshifted]), *rest])

        return self._by_term(goal, proof)

    def _share(self, alignment: Alignment, terms: list[TermError], t: StatedTerm) -> Poly:
        """2^-shift of a stated term."""
        # Where c is added later, terms have one more than the sum has.
        made = [x for x, y in zip(terms, alignment.summands, strict=False) if y.code is t.code]
        return (Poly.of(made[-1].shift) * -1).power_of_two()

    def _place(self, alignment: Alignment, t: StatedTerm) -> int:
        """Which term of the sum a stated one is; of a product in pieces, the highest one."""
        return [i for i, x in enumerate(alignment.summands) if x.code is t.code][-1]

    def _unshifted(self, alignment: Alignment, t: StatedTerm, bit: int) -> int:
        """2^-shift - 1 >= 0 of a term that has E."""
        d, code = self.d, alignment.e_max
        wide = self.g.zero_extend_to(code, CODE_BITS + 1)
        equations = [(d.read(wide), wide), (d.read(alignment.e), alignment.e)]
        reached = d.fact(alignment.reached())
        below = d.prove(Poly.of(self.stated.e) - Poly.of(code), equations, [(1, [reached])])
        place = self._place(alignment, t)
        some, same = self._parted(t, bit)
        distance = alignment.distance(place, some)
        return d.power(d.arith([(-1, [distance]), (1, [same]), (1, [below])]))

    def _reached(self, alignment: Alignment) -> int:
        """e_max - E >= 0: a term that has E is no larger than the largest."""
        d, e_max, e = self.d, Poly.of(alignment.e_max), Poly.of(self.stated.e)

        def proof(_: int, t: StatedTerm, bit: int) -> int:
            place = self._place(alignment, t)
            some, same = self._parted(t, bit)
            shift = Poly.of(alignment.total.terms[place].shift)
            distance = alignment.distance(place, some)
            return d.prove(e_max - e, [], [(shift, []), (-1, [distance]), (1, [same])])

        return self._by_term(e_max - e, proof)

    def _largest(self) -> int:
        """Σ|terms| - 2^E >= 0."""
        goal = self.total - self.scale

        def proof(k: int, t: StatedTerm, bit: int) -> int:
            parts: list[Part] = [(magnitude(x.factors), []) for x in self.relative.terms if x is not t]
            return self.d.prove(goal, [], [*parts, (1, [self._size_at(k, t, bit)])])

        return self._by_term(goal, proof)

    def _size_at(self, k: int, t: StatedTerm, bit: int) -> int:
        """The magnitude less 2^E of a term that has E: at least 0."""
        d, parts, weight = self.d, list[Part](), ONE
        some, same = self._parted(t, bit)
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
        return d.prove(magnitude(t.factors) - self.scale, equations, parts)

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
