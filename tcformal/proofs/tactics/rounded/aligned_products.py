"""Products as terms that are aligned: with normalised factors, or cut into the products of pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.bounds.terms import KnownTerm, code_of, sign_of, weight
from tcformal.proofs.tactics.rounded.inputs import StatedInputs
from tcformal.semantics.number import Term
from tcformal.semantics.stages import DotStep


def known_product(inputs: StatedInputs, k: int, term: Term) -> KnownTerm:
    """A product whose factors may be normalised, with the exponent that it is aligned by, at most E."""
    d, g, stated = inputs.d, inputs.g, inputs.stated.terms[k]
    taken = inputs.product(k, inputs.number(k)).summand
    if taken.term.significand is not term.significand or taken.term.exponent != term.exponent:
        raise ProofError("a term of the sum is not the product of its factors")
    code = code_of(g, term.exponent)
    reached = _reached(inputs, k, code, stated.nonzero)
    moved = sign_of(term.sign) * Poly.of(term.significand) * weight(code, term.fraction_bits)
    same = d.expanded(code, [term.exponent.bits], "an exponent")
    shown = d.prove(stated.value - moved, same, [(1, [taken.equation])])
    return KnownTerm(stated.value, (), term, code, stated.nonzero, reached, shown=shown)


def _reached(inputs: StatedInputs, k: int, code: Node, nonzero: Node) -> int:
    """That a term of a product, which is not zero where that is not, has an exponent of at most E."""
    g = inputs.g
    wide = g.zero_extend_to(inputs.stated.e, CODE_BITS + 1)
    goal = g.or_(g.not_(nonzero), g.ule(g.zero_extend_to(code, CODE_BITS + 1), wide))
    return inputs.d.lemma("an exponent at most E", goal, [inputs.d.assume(inputs.stated.limits[k])])


def known_pieces(
    inputs: StatedInputs, k: int, terms: Sequence[Term]
) -> tuple[list[KnownTerm], list[KnownTerm], int]:
    """The terms of a product whose factors are cut into pieces, those left out, and that all add up to it.

    The theorem: the product's value less theirs = 0.
    """
    d, g, stated = inputs.d, inputs.g, inputs.stated.terms[k]
    number, design = inputs.number(k), inputs.stated.unit.design
    equation, whole = inputs.product(k, number).summand.equation, number.term
    code = code_of(g, whole.exponent)
    equations = d.expanded(whole.significand, whole.factors, "a product")
    for factor in whole.factors:
        equations += _joined(d, factor, design.piece_bits or factor.width)
    leaves = [x for f in whole.factors for x in _pieces(d, f, design.piece_bits or 0)]
    rest, made = stated.value, list[KnownTerm]()
    left_out = _left_out(inputs, whole)
    for t in (*terms, *left_out):
        if t.exponent != whole.exponent or t.sign is not whole.sign:
            raise ProofError("a piece has another sign or exponent than its product")
        value = sign_of(t.sign) * Poly.of(t.significand) * weight(code, t.fraction_bits)
        rest = rest - value
        nonzero = g.any_bit(t.significand)
        reached = _reached(inputs, k, code, nonzero)
        made.append(KnownTerm(value, (), t, code, nonzero, reached, shown=d.arith([])))
        equations += d.expanded(t.significand, leaves, "a piece")
    equations += d.expanded(code, [whole.exponent.bits], "an exponent")
    # A node is rewritten before those that it is made of.
    known = sorted(dict.fromkeys(equations), key=lambda y: -y[1].index)
    count = len(terms)
    return made[:count], made[count:], d.prove(rest, known, [(1, [equation])])


def _left_out(inputs: StatedInputs, whole: Term) -> list[Term]:
    """The products of the lowest pieces, which the sum does not have."""
    g, design = inputs.g, inputs.stated.unit.design
    size = design.piece_bits or 0
    rows = [list(enumerate(_pieces(inputs.d, f, size))) for f in whole.factors]
    made = []
    for (i, p), (j, q) in product(*rows) if design.dropped_pieces else ():
        if i + j < design.dropped_pieces:
            n = g.mul_expand(p, q)
            places = whole.fraction_bits - size * (i + j)
            made.append(replace(whole, significand=n, fraction_bits=places, zero=g.is_zero(n), factors=()))
    return made


def known_operands(
    inputs: StatedInputs, step: DotStep, c: Callable[[Term], KnownTerm] | None = None
) -> tuple[list[KnownTerm], list[KnownTerm], list[int]]:
    """The terms of a sum, pieces that it leaves out, and of each product in pieces that they add up to it."""
    assert step.total is not None, "a sum has terms"
    summands, left_out, same = list[KnownTerm](), list[KnownTerm](), list[int]()
    for ks in dict.fromkeys(x.ks for x in step.operands):
        own = [t.term for x, t in zip(step.operands, step.total.terms, strict=True) if x.ks == ks]
        if not ks and c is not None:
            summands.append(c(own[0]))
        elif inputs.design.piece_bits is None:
            summands += [known_product(inputs, ks[0], term) for term in own]
        else:
            pieces, others, whole = known_pieces(inputs, ks[0], own)
            summands += pieces
            left_out += others
            same.append(whole)
    return summands, left_out, same


def _pieces(d: Derivation, x: Node, bits: int) -> list[Node]:
    """Pieces of a factor, lowest first."""
    return [d.g.extract(x, min(i + bits, x.width) - 1, i) for i in range(0, x.width, bits)]


def _joined(d: Derivation, x: Node, bits: int) -> list[tuple[int, Node]]:
    """A factor as the sum of its pieces, each in its place."""
    pieces = _pieces(d, x, bits)
    whole = pieces[0] if len(pieces) == 1 else d.g.concat(*reversed(pieces))
    if whole is x:
        return []
    goal = Poly.of(x)
    for i, p in enumerate(pieces):
        goal = goal - Poly.of(p) * (1 << bits * i)
    same = d.equal("a factor in pieces", x, whole, (), ([x],))
    return [(d.prove(goal, [(same, x), *d.expanded(whole, pieces, "a factor")]), x)]
