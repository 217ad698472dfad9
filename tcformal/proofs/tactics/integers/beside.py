"""Beside a term of 2^most all others are zero, where the magnitudes add up to at most 2^most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.integers.wholes import WholeTerm, below, is_power


@dataclass(frozen=True, slots=True)
class FirstTerms:
    """The first terms of a sum: their magnitudes added up, and whether some is 2^most.

    `small`: that the sum is at most 2^most.  `full`: that it is 2^most where some term is.
    """

    sum: Node
    power: Node
    small: int
    full: int


def powers(d: Derivation, terms: Sequence[WholeTerm]) -> list[Node]:
    """Of each term, whether it or one before it is 2^most."""
    made: list[Node] = []
    for x in terms:
        own = is_power(d, x.whole.magnitude)
        made.append(d.g.or_(made[-1], own) if made else own)
    return made


def beside_a_power(d: Derivation, terms: Sequence[WholeTerm], bounds: Sequence[int]) -> list[int]:
    """Of each term, that no term is 2^most, or it is, or it is zero.

    Shapes: bounds: of each term, that 2^most less the magnitudes up to it is at least 0.
    """
    g, n = d.g, [x.whole.magnitude for x in terms]
    firsts = _first_terms(d, terms, bounds)
    some = firsts[-1].power
    absent = g.not_(some)
    # From the last term on: where only later terms are 2^most, the sum of the first ones is zero.
    after = [d.lemma("a sum before 2^B", g.or_(absent, some), (), ([some],))]
    for k in reversed(range(1, len(n))):
        x = firsts[k - 1]
        goal = g.or_(absent, x.power, g.is_zero(x.sum))
        given = [after[-1], x.small, firsts[k].small]
        after.append(d.lemma("a sum before 2^B", goal, given, ([*_later(firsts, k), x.sum, x.power, n[k]],)))
    made = []
    for k, own in enumerate(reversed(after)):
        given, cut = [firsts[k].small, own], [*_later(firsts, k), n[k]]
        if k:
            given += [firsts[k - 1].full, firsts[k - 1].small]
            cut += [firsts[k - 1].sum, firsts[k - 1].power]
        goal = g.or_(absent, g.is_zero(n[k]), is_power(d, n[k]))
        made.append(d.lemma("a term beside 2^B", goal, given, (cut,)))
    return made


def _later(firsts: Sequence[FirstTerms], k: int) -> list[Node]:
    """Whether some term is 2^most, as a bit of its own where terms after term k decide it too."""
    return [firsts[-1].power] if k < len(firsts) - 1 else []


def _first_terms(d: Derivation, terms: Sequence[WholeTerm], bounds: Sequence[int]) -> list[FirstTerms]:
    """The sums of the first terms, from one of them to all."""
    g, made = d.g, list[FirstTerms]()
    bits = terms[0].whole.magnitude.width
    most, width = 1 << (bits - 1), bits + 2
    value, equation = Poly.constant(0), 0
    for x, power, bound in zip(terms, powers(d, terms), bounds, strict=True):
        n = x.whole.magnitude
        wide = g.zero_extend_to(n, width)
        value = value + Poly.of(n)
        if made:
            last = made[-1]
            total = g.add_mod(last.sum, wide)
            cut = [last.sum, x.whole.floor]
            fits = d.lemma(
                "that integers add up", g.ule(total.args[0], total), [last.small, x.given[1]], (cut,)
            )
            parts: list[Part] = [(1, [d.read(total, fits)]), (1, [equation]), (1, [d.read(wide)])]
            equation = d.prove(Poly.of(total) - value, [], parts)
        else:
            total, equation = wide, d.read(wide)
        goal = Poly.constant(most) - Poly.of(total)
        small = below(d, total, most, d.prove(goal, [], [(1, [bound]), (-1, [equation])]))
        given, nodes = [small], [n]
        if made:
            given += [made[-1].full, made[-1].small]
            nodes += [made[-1].sum, made[-1].power]
        is_full = g.or_(g.not_(power), g.eq(total, g.const(most, width)))
        full = d.lemma("a sum with 2^B", is_full, given, (nodes,))
        made.append(FirstTerms(total, power, small, full))
    return made
