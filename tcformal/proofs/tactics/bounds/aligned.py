"""Aligned terms: what each of them is less than the term that it was made of."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.terms import KnownTerm, code_of, finer, shown_value, sign_of, weight
from tcformal.semantics.number import Exponent
from tcformal.semantics.stages import Maximum, Total


@dataclass(frozen=True, slots=True)
class TermError:
    """Theorems about one aligned term, u being the unit of the sum.

    `above`: loss·u·(1 - share) + value - ±aligned·u >= 0; `below`: the same of the value's opposite.
    """

    sign: Node
    aligned: Node
    shift: Node
    above: int
    below: int
    #: The largest that `aligned` can be, and the theorem that it is not larger.
    most: int
    small: int
    #: The theorem that the value is ±significand · 2^(exponent - fraction bits).
    value: int
    #: Whether the share is 2^-shift; else it is 0.
    exact_at_zero: bool


class Alignment:
    """The terms of one truncated sum at its e_max."""

    def __init__(
        self, d: Derivation, total: Total, summands: Sequence[KnownTerm], e: Node, floor: int
    ) -> None:
        if total.maximum is None or len(total.terms) != len(summands):
            raise ProofError(f"{len(total.terms)} aligned terms are not the {len(summands)} of the statement")
        self.d, self.g, self.total, self.summands, self.e, self.floor = d, d.g, total, summands, e, floor
        self.e_max = code_of(self.g, total.e_max)
        self.unit = weight(self.e_max, total.fraction_bits)
        self.maximum = total.maximum
        self.leaves = _leaves(total.maximum)
        self.low, self.root = total.maximum.low, total.maximum.code
        #: That each exponent that is compared lies in the range of them all.
        self.ranges = self._ranges()
        self.rooted = self._rooted()
        self.below_root = self._below_root()

    def _ranges(self) -> list[int]:
        d, g, e, made = self.d, self.g, self.total.e_max, list[int]()
        for k, (leaf, x) in enumerate(zip(self.leaves, self.summands, strict=True)):
            most = min(e.high - self.low, (1 << leaf.width) - 1)
            goal = g.ule(leaf, g.const(most, leaf.width))
            made.append(d.lemma(f"the range of exponent {k}", goal, x.facts, (x.own,)))
        # e_max counts from the highest of the least exponents: the terms that have it never lie below.
        for leaf, x in zip(self.leaves, self.summands, strict=True) if e.low > self.low else ():
            least = g.ule(g.const(e.low - self.low, leaf.width), leaf)
            with contextlib.suppress(ProofError):
                made.append(d.lemma("the least exponent", least, x.facts, (x.own,)))
        return made

    def _rooted(self) -> list[int]:
        """That the largest exponent lies in their range."""
        g, e, root = self.g, self.total.e_max, self.root
        most, least = min(e.high - self.low, (1 << root.width) - 1), e.low - self.low
        what = "the range of e_max"
        upper = self._upwards(what, self.ranges, lambda code: g.ule(code, g.const(most, root.width)))
        lower = g.ule(g.const(least, root.width), root)
        return [upper, self.d.lemma(what, lower, self.ranges, (self.leaves,))]

    def _upwards(self, what: str, made: Sequence[int], goal: Callable[[Node], Node], *cut: Node) -> int:
        """What holds of each exponent that is compared holds of the largest: one lemma a comparison.

        `made`: the theorems about the exponents, in order; `cut`: other nodes to which the lemmas go.
        """
        given = iter(made)

        def of(x: Maximum) -> int:
            if not x.halves:
                return next(given)
            below = [of(half) for half in x.halves]
            return self.d.lemma(what, goal(x.code), below, ([*(half.code for half in x.halves), *cut],))

        return of(self.maximum)

    def _below_root(self) -> list[int]:
        """That each exponent that is compared is at most the largest: one lemma a comparison."""
        made = list[int]()

        def of(x: Maximum, known: list[int]) -> None:
            if not x.halves:
                made.extend(known or [self._at_most_root(x, [], [x.code])])
            for half in x.halves:
                cut = [*(other.code for other in x.halves), *([self.root] if known else [])]
                of(half, [self._at_most_root(half, known, cut)])

        of(self.maximum, [])
        return made

    def _at_most_root(self, x: Maximum, given: Sequence[int], cut: Sequence[Node]) -> int:
        return self.d.lemma(
            "that e_max is at least an exponent", self.g.ule(x.code, self.root), given, (cut,)
        )

    def coded(self, code: Node) -> Node:
        """OFFSET + an exponent that is compared: u[CODE_BITS]."""
        return code_of(self.g, Exponent(code, self.low, self.total.e_max.high))

    # ------------------------------------------------------------------ e_max
    def reached(self) -> int:
        """That e_max is at most E: no term's exponent lies above E, and e_max is none of another."""
        d, g, reached, what = self.d, self.g, list[int](), "e_max at most E"

        def at_most(code: Node) -> Node:
            return g.ule(g.zero_extend_to(code, self.e.width), self.e)

        for k, (leaf, x) in enumerate(zip(self.leaves, self.summands, strict=True)):
            given = [x.limit, self.floor, *x.facts]
            reached.append(d.lemma(f"exponent {k} at most E", at_most(self.coded(leaf)), given, (x.own,)))
        root = self._upwards(what, reached, lambda code: at_most(self.coded(code)), self.e)
        return d.lemma(what, at_most(self.e_max), [root, *self.rooted], ([self.root, self.e],))

    def bounded(self) -> int:
        """2^(E - F) - u >= 0."""
        return finer(self.d, self.e_max, self.e, self.reached(), self.total.fraction_bits)

    def in_range(self) -> list[int]:
        """That e_max lies in the range that the definition relies on."""
        e = self.total.e_max
        if (e.high - e.low) >> e.bits.width:
            return []
        goal = self.g.ule(e.bits, self.g.const(e.high - e.low, e.bits.width))
        return [self.d.lemma("the range of e_max", goal, self.rooted, ([self.root],))]

    def some_exact(self) -> int:
        """Σ 2^-shift - 1 >= 0: the term whose exponent is e_max is shifted by nothing."""
        d, g = self.d, self.g
        shifts = [x.shift for x in self.total.terms]
        shares = [(Poly.of(s) * -1).power_of_two() for s in shifts]
        zero = [g.is_zero(s) for s in shifts]
        goal = Poly.constant(-1)
        for share in shares:
            goal = goal + share
        absent = [d.assume(g.not_(x)) for x in zero[:-1]]
        last = d.lemma(
            "that some distance is 0", zero[-1], [*absent, *self.ranges], ([_base(x) for x in self.leaves],)
        )
        made = 0
        for k in reversed(range(len(shifts))):
            bit = last if k == len(shifts) - 1 else d.assume(zero[k])
            rest: list[Part] = [(q, []) for i, q in enumerate(shares) if i != k]
            here = d.prove(goal, [(d.fact(bit), shifts[k])], rest)
            made = here if k == len(shifts) - 1 else d.cases(zero[k], here, made)
        return made

    # ------------------------------------------------------------------ terms
    def loss(self, _k: int) -> Fraction:
        """How much of a unit an aligned term may lose."""
        return Fraction(1)

    def lead(self, k: int) -> Node:
        """The shift that counts of a term: its own unless other terms go with it."""
        return self.total.terms[k].shift

    def led(self, _k: int, _some: int) -> list[tuple[int, Node]]:
        """What its own shift is in terms of that one."""
        return []

    def _upper(self, k: int, _some: int, _placed: Node) -> int:
        """loss·(2^shift - 1) - (shifted significand - aligned·2^shift) >= 0 of a term that is not zero."""
        return self.d.read(self.total.terms[k].aligned, 1)

    def term(self, k: int) -> TermError:
        """Both bounds of one aligned term."""
        d, g, x, made = self.d, self.g, self.summands[k], self.total.terms[k]
        t, bits = made.term, self.total.fraction_bits
        excess = max(0, t.fraction_bits - bits)
        placed = g.truncate_low(g.shift_left_const(t.significand, max(0, bits - t.fraction_bits)), excess)
        kept = g.lshr(placed, made.shift)
        d.equal(f"aligned term {k}", made.aligned, kept)
        if made.aligned is not kept:
            raise ProofError(f"aligned term {k} is no truncated shift")
        share = Poly.constant(0) if excess else (Poly.of(self.lead(k)) * -1).power_of_two()
        size = Poly.of(t.significand) * weight(x.code, t.fraction_bits)
        low_goal = size - Poly.of(kept) * self.unit
        goal = (self.unit - self.unit * share) * self.loss(k)
        up_goal = goal - low_goal
        if x.nonzero.op == "const":
            none = d.lemma("that zero is no term", g.not_(x.nonzero))
            low, up = self._zero(k, none, kept, bool(excess), low_goal, up_goal)
        else:
            some, none = d.assume(x.nonzero), d.assume(g.not_(x.nonzero))
            shown = self._nonzero(k, some, placed, excess, low_goal, up_goal)
            empty = self._zero(k, none, kept, bool(excess), low_goal, up_goal)
            low, up = (d.cases(x.nonzero, i, j) for i, j in zip(shown, empty, strict=True))
        value = shown_value(d, x, f"term {k}")
        # A constant sign is that of the zero that a sum starts from.
        sign, positive = Poly.of(t.sign), [low] if t.sign.op == "const" else [d.range(t.sign), low]
        moved = x.value - sign_of(t.sign) * Poly.of(kept) * self.unit
        above = d.prove(goal + moved, [], [(1, [up]), (2, positive), (1, [value])])
        below = d.prove(goal - moved, [], [(1, [up]), (sign * 2, [low]), (-1, [value])])
        most = (1 << t.significand.width) - 1 << max(0, bits - t.fraction_bits) >> excess
        at_most = g.ule(kept, g.const(most, kept.width))
        small = d.lemma("the range of a term", at_most, (), ([t.significand, made.shift], [made.shift]))
        return TermError(t.sign, kept, self.lead(k), above, below, most, small, value, not excess)

    def distance(self, k: int, some: int) -> int:
        """Exponent + shift - e_max = 0 of a term that is not zero, as the theorem `some` says."""
        d, g, x, made = self.d, self.g, self.summands[k], self.total.terms[k]
        shift = g.zero_extend_to(made.shift, CODE_BITS)
        reach = g.add_mod(x.code, shift)
        cuts = ([self.root, *x.own],)
        given = [some, *x.facts, self.below_root[k], self.ranges[k], *self.rooted]
        met = d.equal(f"e_max less exponent {k}", reach, self.e_max, given, cuts)
        fits = d.lemma(f"distance {k} fits", g.ule(reach.args[0], reach), given, cuts)
        sums = [(d.read(reach, fits), reach)] + ([(d.read(shift), shift)] if shift is not made.shift else [])
        return d.prove(
            Poly.of(x.code) + Poly.of(made.shift) - Poly.of(self.e_max), [(met, self.e_max), *sums]
        )

    def _nonzero(
        self, k: int, some: int, placed: Node, excess: int, low_goal: Poly, up_goal: Poly
    ) -> tuple[int, int]:
        """Both bounds where the term is not zero: what a shift by e_max - exponent loses."""
        d, g, x, made = self.d, self.g, self.summands[k], self.total.terms[k]
        t, bits = made.term, self.total.fraction_bits
        distance = self.distance(k, some)
        lower, upper = d.read(made.aligned, 0), self._upper(k, some, placed)
        equations = [(distance, x.code), *self.led(k, some)]
        scale = (Poly.of(self.e_max) - Poly.of(made.shift) - Poly.constant(OFFSET + bits)).power_of_two()
        lows: list[Part] = [(scale, [lower])]
        ups: list[Part] = [(scale, [upper])]
        if excess:
            cut = g.extract(t.significand, excess - 1, 0)
            whole = g.concat(placed, cut)
            same = d.equal(f"the significand of term {k}", t.significand, whole, (), ([t.significand], []))
            equations += [(same, t.significand), (d.read(whole), whole)]
            part = scale * _power(-excess)
            lows.append((part * Poly.of(cut), []))
            ups.append((part, []))
            ups.append((part, [d.range(cut)]) if cut.op != "const" else (part * ((1 << excess) - 1), []))
        elif placed.op == "concat":
            equations.append((d.read(placed), placed))
            lows, ups = self._spread(lows, placed), self._spread(ups, placed)
        return d.prove(low_goal, equations, lows), d.prove(up_goal, equations, ups)

    def _spread(self, parts: list[Part], placed: Node) -> list[Part]:
        """The parts with the appended zeros taken out of the shifted significand."""
        d = self.d
        made: list[Part] = []
        for q, (i,) in parts:
            p = d.about(i)
            factor = p.terms[((placed,), ())]
            made.append((q, [d.arith([(1, [i]), (Poly.constant(-factor), [d.read(placed)])])]))
        return made

    def _zero(
        self, k: int, none: int, kept: Node, cut: bool, low_goal: Poly, up_goal: Poly
    ) -> tuple[int, int]:
        """Both bounds where the term is zero: nothing is lost."""
        d, g, made = self.d, self.g, self.total.terms[k]
        size = made.term.significand
        empty = d.lemma(f"that the zero term {k} is empty", g.is_zero(size), [none], (self.summands[k].own,))
        cuts = ([size, made.shift], [made.shift])
        nothing = d.lemma(f"that the zero term {k} adds nothing", g.is_zero(kept), [empty], cuts)
        equations = [(d.fact(i), n) for i, n in ((empty, size), (nothing, kept)) if n.op != "const"]
        # 1 - 2^-shift is at least 0.
        shift, loss = Poly.of(self.lead(k)), self.loss(k)
        spread, inverse = d.power(d.arith([(shift, [])])), (shift * -1).power_of_two()
        parts: list[Part] = [(self.unit * loss, [])] if cut else [(self.unit * inverse * loss, [spread])]
        return d.prove(low_goal, equations), d.prove(up_goal, equations, parts)


def _power(k: int) -> Poly:
    return Poly.constant(k).power_of_two()


def _leaves(x: Maximum) -> list[Node]:
    """The exponents that are compared, in the order of the terms."""
    return [y for half in x.halves for y in _leaves(half)] if x.halves else [x.code]


def _base(code: Node) -> Node:
    """The exponent that a code is, counted from elsewhere and in another width."""
    while True:
        others = [a for a in code.args if a.op != "const"]
        if code.op not in ("extract", "zero_extend", "add_mod") or len(others) != 1:
            return code
        (code,) = others
