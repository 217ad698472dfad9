"""Inputs that refute a claim about one unit: among seeded vectors, or made for its parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.interp.vector import Vector
from tcformal.operands.batch import columns, inputs_to_try, witness_at
from tcformal.operands.random import Batch, Raw
from tcformal.programs.chain import circuit
from tcformal.proofs.claim import counterexample
from tcformal.proofs.claims.product_order import Move, moves_of
from tcformal.proofs.claims.register import conditions, refused
from tcformal.proofs.claims.sums.exact import rounded_once
from tcformal.proofs.claims.zero_exponent import least
from tcformal.proofs.claims.zero_witness import zero_term_shown
from tcformal.proofs.refuted import refuted_by_vectors
from tcformal.proofs.tactics.uncut import exact_form
from tcformal.proofs.verdict import ClaimPart, Counterexample, PartStatus
from tcformal.query.assume import Assumptions
from tcformal.query.engine import VECTORS_NAME
from tcformal.query.kinds.property.properties import PROPERTIES
from tcformal.query.kinds.property.question import property_question
from tcformal.query.pair import question
from tcformal.query.search import VECTORS, search
from tcformal.theory.answers import SEPARATOR, in_the_way

#: Seeds whose vectors are tried for a property.
_SEEDS = 4
#: The property whose violation refutes each claim, and what is then not always so.
_PROPERTIES = {
    "negation-symmetry": "negation-symmetry",
    "zero-products": "zero-products",
    "monotonicity": "monotonic-in-c",
}


#: A refuted claim as a part, replayed on integers and fractions, and what is said of it in one sentence.
Refuted = tuple[ClaimPart, str]


def witness(spec: UnitSpec, claim: str, seed: int) -> Refuted | None:
    """The claim's refutation; None where no inputs were found that refute it.

    Errors: UnknownNameError and InputError for a claim that does not exist or says nothing of the unit.
    """
    name = claim.partition(SEPARATOR)[0]
    _, what = conditions(claim, spec)
    if sentence := refused(claim, spec):
        raise InputError(sentence)
    if name in _PROPERTIES:
        return _of_property(spec, _PROPERTIES[name], what, seed)
    if name in _LIKE:
        return _of_sums(spec, claim, what, seed)
    find = _MADE.get(name)
    return None if find is None or what else find(spec, seed)


def _of_property(spec: UnitSpec, name: str, what: Assumptions, seed: int) -> Refuted | None:
    q = property_question(name, spec, what)
    tried = (refuted_by_vectors(q, seed + i) for i in range(_SEEDS))
    found = next((x for x in tried if x is not None), None)
    text = PROPERTIES[name].text + (f" where {' and '.join(what.texts())}" if what else "")
    return None if found is None else _refuted(text, found, f"not always: {text}")


def _refuted(name: str, found: Counterexample, reason: str) -> Refuted:
    return ClaimPart(name=name, status=PartStatus.VIOLATED, witness=found), reason


def _of_sums(spec: UnitSpec, claim: str, what: Assumptions, seed: int) -> Refuted | None:
    """Inputs whose result is not that of the unit whose sums are as the claim says."""
    said, like = _LIKE[claim.partition(SEPARATOR)[0]]
    other = like(spec)
    given = replace(what, flags=tuple(dict.fromkeys((*what.flags, "finite"))))
    w = search(question(spec, other, given), seed)
    found = None if w is None else counterexample((spec, w), (other, w), VECTORS_NAME)
    return None if found is None else _refuted(said, found, f"not {said}: {in_the_way(spec, claim)}")


def _zero_exponent(spec: UnitSpec, seed: int) -> Refuted | None:
    """Zero terms above others: the results with the largest exponent below all others are not the unit's."""
    zero, below = spec.design.zero_exponent, min(least(spec)) - 1
    found = zero_term_shown(spec, below)
    reason = f"the exponent {zero} of zero terms is above those of other terms, and shows beside {below}"
    return None if found is None else _refuted(f"zero terms at {zero}, or at {below}", found, reason)


def _product_order(spec: UnitSpec, seed: int) -> Refuted | None:
    """Neighbouring products that change places, among seeded vectors: the one of the fewest products."""
    tried = inputs_to_try(spec, spec.k, VECTORS, seed)
    graph, root = circuit(spec, spec.k)

    def results(x: Batch) -> Raw:
        return np.broadcast_to(Vector(graph, columns(x)).run([root])[0], (VECTORS,)).astype(np.uint64)

    own = results(tried)
    terms = ((tried.a != 0) | (tried.b != 0)).sum(axis=1)
    for move in moves_of(spec):
        moved = _moved(tried, move)
        other = results(moved)
        rows = np.flatnonzero(own != other)
        if rows.size:
            special = spec.d_format.is_special(own[rows]) | spec.d_format.is_special(other[rows])
            row = int(rows[np.lexsort((terms[rows], special))[0]])
            sides = (spec, witness_at(tried, row)), (spec, witness_at(moved, row))
            found = counterexample(*sides, VECTORS_NAME)
            reason = f"the order matters: {move.name} exchanged change a result"
            return None if found is None else _refuted(f"{move.name} exchanged", found, reason)
    return None


def _moved(x: Batch, move: Move) -> Batch:
    """Dot products whose products have changed places, and their scales where whole blocks have."""

    def exchanged(of: Callable[[list[Raw]], list[Raw]], array: Raw) -> Raw:
        return np.stack(of(list(array.T)), axis=1)

    scales = (None if row is None else exchanged(move.of_scales, row) for row in (x.scale_a, x.scale_b))
    return Batch(exchanged(move.of, x.a), exchanged(move.of, x.b), x.c, *scales)


#: What claims about sums say, and the unit of which they would be true.
_LIKE: dict[str, tuple[str, Callable[[UnitSpec], UnitSpec]]] = {
    "exact-sum": ("every sum is exact", exact_form),
    "correctly-rounded": ("every result is the exact sum, rounded once", rounded_once),
}
#: What finds inputs that refute a claim under no assumption.
_MADE: dict[str, Callable[[UnitSpec, int], Refuted | None]] = {
    "product-order": _product_order, "zero-exponent": _zero_exponent,
}  # fmt: skip
