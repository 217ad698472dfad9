"""What aligned products of few bits lose: less than a unit."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET
from tcformal.proofs.statements.product_loss import product_span
from tcformal.proofs.statements.relative_bound import RelativeBound
from tcformal.proofs.tactics.bounds.aligned import Alignment, TermError
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.terms import KnownTerm
from tcformal.proofs.tactics.relative.odd_rounding.near import NearOddTerm
from tcformal.proofs.tactics.relative.odd_rounding.terms import OddTerm
from tcformal.semantics.stages import Total


class SharpAlignment(Alignment):
    """The terms of one truncated sum; products of normal operands lose at most `stated.loss` units."""

    def __init__(
        self, d: Derivation, total: Total, summands: Sequence[KnownTerm], e: Node, floor: int,
        stated: RelativeBound,
    ) -> None:  # fmt: skip
        super().__init__(d, total, summands, e, floor)
        self.stated = stated
        self._normal = dict(zip((t.code for t in stated.terms), stated.normal, strict=True))

    def term(self, k: int) -> TermError:
        """Both bounds of one aligned term, cut or rounded to odd."""
        if self.stated.base.unit.design.alignment_rounding == "RO":
            if self.loss(k) == 1:
                return OddTerm(self, k).error()
            return NearOddTerm(
                self, k, self.loss(k), self.span(), lambda some: [*self.near(k, some), *self.normal(k)]
            ).error()
        return super().term(k)

    def short(self, k: int) -> list[int]:
        """What the statement says of c."""
        del k
        known = self.stated.known_c
        return [self.d.assume(known)] if known.op != "const" else []

    def loss(self, k: int) -> Fraction:
        """How much of a unit an aligned term may lose; c, a whole one."""
        x = self.summands[k]
        return self.stated.loss if len(x.factors) > 1 else Fraction(1)

    def _upper(self, k: int, some: int, placed: Node) -> int:
        """As of any term, with fewer lost: what is shifted out, against all ones of that many bits."""
        loss = self.loss(k)
        if loss == 1:
            return super()._upper(k, some, placed)
        if not loss:
            return self._whole(k, some, placed)
        return self.shifted_out(k, some, placed, loss)

    def shifted_out(
        self, k: int, some: int, placed: Node, loss: Fraction, low: Node | None = None,
        rate: Fraction = Fraction(0), *, lost: bool = True,
    ) -> int:  # fmt: skip
        """loss·(2^shift - 1) - rate·low·2^shift >= 0, less what is shifted out where that is `lost`."""
        d, g, x, made = self.d, self.g, self.summands[k], self.total.terms[k]
        kept, shift, width = made.aligned, made.shift, placed.width
        given = [some, *self.normal(k)]
        own = [f.significand for f in x.factors]
        cuts = ([*own, shift], [made.term.significand, shift], [shift])
        spread = Poly.of(shift).power_of_two()
        goal = (spread - Poly.constant(1)) * loss
        goal = goal - (Poly.of(placed) - Poly.of(kept) * spread if lost else Poly.constant(0))
        goal = goal - (Poly.of(low) * spread * rate if low is not None else Poly.constant(0))
        near = g.ule(shift, g.const(min(width, (1 << shift.width) - 1), shift.width))
        below = [d.assume(near)] if near.op != "const" else []
        # 2^shift - 1, what is shifted out, and what is kept below an ulp, as nodes.
        one = g.const(1, width + 1)
        power = g.shl_mod(one, shift)
        whole = d.lemma("that a power of two fits", g.eq(g.lshr(power, shift), one), below, ([shift],))
        mask = g.sub_mod(power, one)
        least = d.lemma("that a power of two is not zero", g.ule(one, power), below, ([shift],))
        equations = [(d.read(mask, least), mask), (d.read(power, whole), power)]
        parts = lcm(loss.denominator, rate.denominator)
        share = int(loss * parts)
        counted = []
        if lost:
            back = g.shl_mod(kept, shift)
            again = d.lemma(f"aligned term {k}, shifted back", g.eq(g.lshr(back, shift), kept), (), cuts)
            rest = g.sub_mod(placed, back)
            smaller = d.lemma(f"aligned term {k}, shifted back", g.ule(back, placed), (), cuts)
            counted.append(g.mul_expand(rest, g.const(parts, parts.bit_length())))
            equations += [(d.read(rest, smaller), rest), (d.read(back, again), back)]
        if low is not None and low.op != "const":
            wide = g.zero_extend_to(low, width + low.width)
            up = g.shl_mod(wide, shift)
            fits = d.lemma("that a shift fits", g.eq(g.lshr(up, shift), wide), below, ([low, shift],))
            by = int(rate * parts)
            counted.append(g.mul_expand(up, g.const(by, by.bit_length())))
            equations += [(d.read(up, fits), up), (d.read(wide), wide)]
        most = g.mul_expand(mask, g.const(share, share.bit_length()))
        size = max(most.width, *(n.width for n in counted)) + 1
        wider = [g.zero_extend_to(n, size) for n in (*counted, most)]
        total = wider[0]
        if len(counted) > 1:
            total = g.add_mod(*wider[:2])
            fits = d.lemma("that both fit", g.ule(total.args[0], total), (), (counted,))
            equations.insert(0, (d.read(total, fits), total))
        fact = d.fact(d.lemma(f"what product {k} loses", g.ule(total, wider[-1]), [*given, *below], cuts))
        read = (*wider, *counted, most)
        known = [(d.read(n), n) for n in read if n.op in ("zero_extend", "concat", "mul_expand")]
        equations = [x for x in equations if x[1] is total] + known + [
            x for x in equations if x[1] is not total
        ]  # fmt: skip
        here = d.prove(goal * parts, equations, [(1, [fact])])
        here = d.arith([(Fraction(1, parts), [here])])
        if not below:
            return here
        far = g.ule(g.const(width + 1, shift.width), shift)
        beyond = d.lemma("a long shift", far, [d.assume(g.not_(near))], ([shift],))
        over = d.power(d.prove(Poly.of(shift) - Poly.constant(width + 1), [], [(1, [d.fact(beyond)])]))
        full = Fraction(1 << width + 1)
        away: list[Part] = [(full * loss, [over])]
        if lost:
            away += [(1, [d.range(placed)]), (Poly.of(kept) * spread, [])]
        away.append((full * loss - loss - ((1 << width) - 1 if lost else 0), []))
        none = []
        if low is not None:
            gone = d.lemma("that nothing is left of it", g.is_zero(low), [beyond], ([placed, shift],))
            none = [(d.fact(gone), low)] if low.op != "const" else []
        return d.cases(near, here, d.prove(goal, none, away))

    def _whole(self, k: int, some: int, placed: Node) -> int:
        """Where no product lies far below another, nothing is shifted out: aligned·2^shift - placed = 0."""
        d, g, made = self.d, self.g, self.total.terms[k]
        kept, shift = made.aligned, made.shift
        given = self.near(k, some)
        back, cuts = g.shl_mod(kept, shift), ([made.term.significand, shift],)
        again = d.lemma(f"aligned term {k}, shifted back", g.eq(g.lshr(back, shift), kept), given, cuts)
        same = d.equal(f"that product {k} loses nothing", back, placed, given, cuts)
        return d.arith([(1, [same]), (-1, [d.read(back, again)])])

    def normal(self, k: int) -> list[int]:
        """That the factors of a product are zero or normal."""
        code = self.summands[k].code
        return [self.d.assume(n) for n in self._normal[code] if n.op != "const"]

    def span(self) -> int:
        """By how much the exponents of two products differ at most."""
        low, high = product_span(self.stated.base.unit)
        return high - low

    def near(self, k: int, some: int) -> list[int]:
        """That a product that is not zero is shifted by no more than that, where it could be."""
        shift = self.total.terms[k].shift
        far = self.g.ult(self.g.const(self.span(), shift.width), shift)
        if far.op == "const":
            return []
        return [self.d.refute(self._too_far(k, some, self.d.assume(far)), far)]

    def _too_far(self, k: int, some: int, far: int) -> int:
        """A shift beyond the span of the products' exponents, as a false theorem about a number.

        Scales that all products share move the least and the largest exponent alike.
        """
        d, g, code, e = self.d, self.g, self.summands[k].code, self.stated.base.e
        scales = self.stated.terms[0].factors[2:]
        shared = g.const(0, CODE_BITS)
        for x in scales:
            shared = g.add_mod(shared, g.zero_extend_to(x.exponent, CODE_BITS))
        ends, equations = [], list[tuple[int, Node]]()
        for end in product_span(self.stated.base.unit):
            own = g.const(end + OFFSET - sum(x.fmt.bias for x in scales), CODE_BITS)
            node = g.add_mod(own, shared)
            if node.op == "add_mod":
                fits = d.lemma("that an exponent fits", g.ule(node.args[0], node))
                equations.append((d.read(node, fits), node))
            ends.append(node)
        low, high = ends
        least = d.lemma(f"the least exponent of product {k}", g.ule(low, code))
        codes = [t.code for t in self.stated.terms]
        most = [d.lemma("the largest exponent of a product", g.ule(x, high)) for x in codes]
        top = d.lemma(
            "the largest exponent", g.ule(e, high),
            [d.assume(self.stated.attained), *most],
            ([*codes, *(t.nonzero for t in self.stated.terms), high],),
        )  # fmt: skip
        reached, wide = self.reached(), g.zero_extend_to(self.e_max, self.e.width)
        in_e = [(d.read(n), n) for n in (wide, self.e) if n.op == "zero_extend"]
        below = d.prove(Poly.of(e) - Poly.of(self.e_max), in_e, [(1, [d.fact(reached)])])
        parts: list[Part] = [(1, [d.fact(i)]) for i in (far, least, top)]
        parts += [(1, [below]), (-1, [self.distance(k, some)])]
        return d.prove(Poly.constant(-1), equations, parts)
