"""Exponential polynomials over the unsigned values of nodes, with exact coefficients.

A polynomial is a sum of q · n_1 ⋯ n_k · 2^(c_1·m_1 + … ): q a fraction, n_i and m_i the unsigned values of
nodes, c_i integers.  Two that are equal as objects have equal values on every input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node

#: Factors, sorted, one of width 1 at most once; and what the exponent of 2 is the sum of, no coefficient 0.
Monomial = tuple[tuple[Node, ...], tuple[tuple[Node, int], ...]]

_UNIT: Monomial = ((), ())


@dataclass(frozen=True, slots=True)
class Poly:
    """A polynomial in its one normal form: `terms` has no coefficient 0."""

    terms: Mapping[Monomial, Fraction]

    @staticmethod
    def constant(q: Fraction | int) -> Poly:
        """A number."""
        return _collected([(_UNIT, Fraction(q))])

    @staticmethod
    def of(node: Node) -> Poly:
        """The unsigned value of a node."""
        constant = node.op == "const"
        return Poly.constant(node.params[1]) if constant else Poly({((node,), ()): Fraction(1)})

    def __add__(self, other: Poly) -> Poly:
        return _collected([*self.terms.items(), *other.terms.items()])

    def __neg__(self) -> Poly:
        return Poly({m: -q for m, q in self.terms.items()})

    def __sub__(self, other: Poly) -> Poly:
        return self + -other

    def __mul__(self, other: Poly | Fraction | int) -> Poly:
        by = other if isinstance(other, Poly) else Poly.constant(other)
        return _collected((_product(m, n), p * q) for m, p in self.terms.items() for n, q in by.terms.items())

    def power_of_two(self) -> Poly:
        """2^self; ProofError unless self is an affine combination of nodes with integer coefficients."""
        constant, rest = 0, []
        for (atoms, exponents), q in self.terms.items():
            if exponents or len(atoms) > 1 or q.denominator != 1:
                raise ProofError("expected an affine exponent with integer coefficients, but got another")
            if atoms:
                rest.append((atoms[0], int(q)))
            else:
                constant = int(q)
        return Poly({((), tuple(sorted(rest, key=lambda x: x[0].index))): Fraction(2) ** constant})


def _collected(terms: Iterable[tuple[Monomial, Fraction]]) -> Poly:
    made: dict[Monomial, Fraction] = {}
    for m, q in terms:
        made[m] = made.get(m, Fraction(0)) + q
    return Poly({m: q for m, q in made.items() if q})


def _product(m: Monomial, n: Monomial) -> Monomial:
    """The product of two monomials; a node of width 1 is its own square."""
    atoms: list[Node] = []
    for x in sorted(m[0] + n[0], key=lambda x: x.index):
        if not (atoms and atoms[-1] is x and x.width == 1):
            atoms.append(x)
    exponents = dict(m[1])
    for x, c in n[1]:
        exponents[x] = exponents.get(x, 0) + c
    kept = sorted(((x, c) for x, c in exponents.items() if c), key=lambda y: y[0].index)
    return tuple(atoms), tuple(kept)
