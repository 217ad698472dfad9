"""Claim `equality`: two designs give the same results, by what is proved of each parameter that differs."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from tcformal.callbacks import Progress, ignore
from tcformal.design.names import resolve
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.unit import UnitSpec, same_formats
from tcformal.errors import InputError
from tcformal.programs.chain import same_definition
from tcformal.proofs.claim import Asking, ClaimPart, ClaimVerdict, Finding, PartStatus, claim_verdict
from tcformal.proofs.claims.accumulation import same_accumulation
from tcformal.proofs.claims.carry import enough
from tcformal.proofs.claims.product_order import Exchange, prove_exchange
from tcformal.proofs.claims.same_sums import (
    converted_alike,
    groups_alike,
    overflow_unread,
    pieces_alike,
    products_alike,
    side_by_side,
    written_otherwise,
    zeros_alike,
)
from tcformal.proofs.claims.zero_exponent import same_results
from tcformal.proofs.lemmas import Lemma, LemmaBook
from tcformal.proofs.step_by_step import same_steps
from tcformal.query.question import Kind
from tcformal.solve.result import Limits

#: The claim's name, which the second unit follows.
NAME = "equality"
SEPARATOR = "; "
#: Changes that are none of a parameter: a design, and the tree of its sums; factors that are converted.
_TREE, _CONVERTED = "tree", "converted"

Found = tuple[ClaimPart, list[Lemma]] | None


def is_equality(claim: str) -> bool:
    """Whether a claim's name is one of these."""
    return claim.startswith(NAME + SEPARATOR)


def equality_claim(second: UnitSpec) -> str:
    """The claim's name with the second unit: `equality; UNIT`."""
    return NAME + SEPARATOR + second.name


def equality(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """The unit and a second one, one parameter after the other.

    Errors: InputError for designs that differ in what no lemma here speaks of.
    """
    return _changed(ask, resolve(ask.claim.removeprefix(NAME + SEPARATOR)), ask.spec.k)


def equal_in_steps(
    first: UnitSpec, second: UnitSpec, book: LemmaBook, limits: Limits, k: int | None = None,
    *, progress: Progress = ignore,
) -> ClaimVerdict | None:  # fmt: skip
    """The proof that two designs give one result for every dot product of `k` terms; None without one.

    Shapes: k is that of both units unless given.
    """
    start, claim = time.monotonic(), equality_claim(second)
    ask = Asking(first, book, limits, None, progress, claim=claim)
    if k is None and first.k != second.k:
        return None
    try:
        found, lemmas = _changed(ask, second, k or first.k)
    except InputError:
        return None
    made = claim_verdict(claim, first, found, lemmas, limits, start)
    return made if made.kind is Kind.HOLDS else None


def deciders(v: ClaimVerdict) -> tuple[str, ...]:
    """Who decided and who confirmed the lemmas of a proof."""
    return tuple(sorted({name for x in v.lemmas for name in (x.decided_by, *x.confirmed_by)}))


def plain_form(unit: UnitSpec, k: int) -> UnitSpec | None:
    """The design with blocks of products that is defined as a tree is; the unit itself without a tree.

    A tree that is no chain of blocks is itself, where one stage alone has the parameters that are changed.
    None for another tree, and for a unit that does not take k products in whole calls.
    """
    if unit.tree is None:
        if k == unit.k:
            return unit
        if unit.emulation is not None or unit.scale_format is not None:
            return None
        length = min(k, unit.k, unit.design.products)
        if k % length:
            return None
        made = replace(unit, k=k, design=replace(unit.design, products=length))
        return made if k % unit.k == 0 or same_definition(made, unit, k) else None
    names = ",".join(f"{name}_format={fmt}" for name, fmt in unit.operands.names().items())
    for length in (n for n in range(k, 0, -1) if k % n == 0):
        with suppress(InputError):
            blocks = resolve(f"tfdpa@products={length},k={k},{names}")
            made = replace(blocks, design=replace(unit.design, products=length))
            if same_definition(made, unit, k):
                return made
    own = {name for _, name, _ in unit.tree.settings}
    return unit if unit.k == k and not own & set(_PROOFS) else None


# --------------------------------------------------------------------- from one design to the other
@dataclass(frozen=True, slots=True)
class _Change:
    """A design, and the same one with one parameter changed, proved to give the same results."""

    parameter: str
    first: UnitSpec
    second: UnitSpec

    @property
    def name(self) -> str:
        """The change in words."""
        if self.parameter == _TREE:
            return "the order in which a sum's terms are written"
        if self.parameter == _CONVERTED:
            return "factors that are converted before they are multiplied"
        one, two = (getattr(u.design, self.parameter) for u in (self.first, self.second))
        return f"{self.parameter}={_text(one)} or {_text(two)}"


def equal_in_sums(
    first: UnitSpec, second: UnitSpec, book: LemmaBook, limits: Limits, k: int | None = None,
    *, progress: Progress = ignore,
) -> ClaimVerdict | None:  # fmt: skip
    """The proof that no sum of two designs hands on another value; None without one, and for scales.

    Shapes: both designs take as many products; with k so many, and words of 0 fill whole calls up.
    """
    start, claim = time.monotonic(), equality_claim(second)
    if (
        (k is None and first.k != second.k)
        or not same_formats(first, second)
        or first.scale_format is not None
    ):
        return None
    try:
        found = same_steps(Asking(first, book, limits, None, progress, claim=claim), second, k)
    except InputError:  # exponents wider than those of any sum that lemmas speak of
        return None
    if found is None:
        return None
    part, lemmas = found
    whole = Finding(
        parts=(replace(part, name="the sums one after the other"),),
        composition="each sum has one value in both designs, from the inner ones to the result",
        reason="no sum hands on another value",
    )
    made = claim_verdict(claim, first, whole, lemmas, limits, start)
    return made if made.kind is Kind.HOLDS else None


def _changed(ask: Asking, second: UnitSpec, k: int) -> tuple[Finding, list[Lemma]]:
    """Every change on the way from one design to the other, each with its proof.

    Soundness: the designs on the way begin with the first and end with the second, and neighbours differ in
    one parameter, or in how their sums are written.  Each part is proved of all inputs of its two designs, so
    that the ends, too, have one result for every input.
    """
    parts: list[ClaimPart] = []
    applied: list[Lemma] = []
    for change in _conversion(ask.spec, second) or _changes(ask.spec, second, k):
        ask.progress(change.name)
        found = _PROOFS[change.parameter](ask, change)
        if found is None:
            raise InputError(f"expected {change.name} to change nothing, but no lemma says so")
        part, lemmas = found
        parts.append(replace(part, name=change.name))
        applied += lemmas
        if part.status is not PartStatus.HOLDS:
            break
    names = ", ".join(part.name for part in parts)
    return Finding(
        parts=tuple(parts),
        composition=f"one parameter after the other, no input tells {names}",
        reason=f"no input tells {names} apart",
    ), applied  # fmt: skip


def _conversion(one: UnitSpec, two: UnitSpec) -> list[_Change]:
    """From a tree to the same one whose factors are converted, or not; none for other designs."""
    if one.tree is None or two.tree is None or one.tree.converted == two.tree.converted:
        return []
    alike = replace(two, name=one.name, tree=replace(two.tree, converted=one.tree.converted)) == one
    return [_Change(_CONVERTED, one, two)] if alike else []


def _changes(first: UnitSpec, second: UnitSpec, k: int) -> list[_Change]:
    """The changes that lead from one design to another; InputError where none are known."""
    one, two = plain_form(first, k), plain_form(second, k)
    if one is None or two is None:
        raise InputError(f"expected units of one cutting stage, but got {first.name} and {second.name}")
    if not same_formats(one, two):
        raise InputError(f"expected units of equal formats, but got {one.name} and {two.name}")
    changes = _trees(one, two, k)
    if changes:
        one, two = (next((x.second for x in changes if x.first is u), u) for u in (one, two))
    return [*changes, *_way(one, two, same=bool(changes))]


def _trees(one: UnitSpec, two: UnitSpec, k: int) -> list[_Change]:
    """From a design with blocks of products to the tree of its sums, where the other one is a tree.

    Not from a composed unit, whose sums read words again: that is proved one sum after the other alone.
    """
    if (one.tree is None) == (two.tree is None):
        return []
    plain = two if one.tree is not None else one
    if plain.emulation is not None:
        return []
    made = tree_of(plain, k)
    return [] if made is None or same_definition(plain, made, k) else [_Change(_TREE, plain, made)]


def _way(one: UnitSpec, two: UnitSpec, *, same: bool = False) -> list[_Change]:
    """The changes that lead from one design to another; InputError for none, unless they may be the `same`.

    Two parameters go from both sides to the value that claims about them start from.
    """
    changes: list[_Change] = []
    for name, plain in (("accumulation", "twos_complement"), ("carry_bits", None)):
        if getattr(one.design, name) != getattr(two.design, name):
            moved = [_with(u, name, plain) for u in (one, two)]
            ends = zip((one, two), moved, strict=True)
            changes += [_Change(name, new, old) for old, new in ends if new.design != old.design]
            one, two = moved
    for name in (
        "zero_exponent", "overflow", "product_rounding", "dropped_pieces", "normalise_operands", "order"
    ):  # fmt: skip
        new = _with(one, name, getattr(two.design, name))
        if new.design != one.design:
            changes.append(_Change(name, one, new))
            one = new
    if not (changes or same) or not same_definition(one, two, one.k):
        known = ", ".join(x for x in _PROOFS if x not in (_TREE, _CONVERTED))
        raise InputError(f"expected designs that differ in {known} only, but got {one.name} and {two.name}")
    return changes


def _with(unit: UnitSpec, name: str, value: Any) -> UnitSpec:
    return replace(unit, design=replace(unit.design, **{name: value}))


def _text(value: object) -> str:
    return "exact" if value is None else str(value)


def _of_order(ask: Asking, change: _Change) -> Found:
    """The terms of fused sums in another order: sums, maxima and special cases are rearranged.

    Of GTR-FDPA, whose halves are the even and the odd products, both halves change places.
    """
    if change.first.design.summation == "gtr":
        return written_otherwise(ask, change.first, change.second)
    if change.first.design.summation != "fused" or change.first.design.framed:
        return None
    g, dots = side_by_side(change.first, change.second)
    steps, proved, lemmas = prove_exchange(ask, Exchange(g, dots), (0,))
    status = PartStatus.HOLDS if proved else PartStatus.OPEN
    return ClaimPart(name="", status=status, steps=steps), lemmas


def _of_zeros(ask: Asking, change: _Change) -> Found:
    """Exponents of zero terms below those of all others; or so small that no term is cut off."""
    found = same_results(replace(ask, spec=change.first), change.second)
    return found or zeros_alike(ask, change.first, change.second)


#: What is proved of each parameter, from the design that a claim about it starts from.
_PROOFS: dict[str, Callable[[Asking, _Change], Found]] = {
    "accumulation": lambda ask, x: same_accumulation(replace(ask, spec=x.first)),
    "carry_bits": lambda ask, x: enough(replace(ask, spec=x.first), x.second.design.carry_bits or 0),
    "zero_exponent": _of_zeros,
    "overflow": lambda ask, x: overflow_unread(ask, x.first, x.second),
    "product_rounding": lambda ask, x: products_alike(ask, x.first, x.second),
    _TREE: lambda ask, x: written_otherwise(ask, x.first, x.second),
    "dropped_pieces": lambda ask, x: pieces_alike(ask, x.first, x.second),
    "normalise_operands": lambda ask, x: groups_alike(ask, x.first, x.second),
    "order": _of_order,
    _CONVERTED: lambda ask, x: converted_alike(ask, x.first, x.second),
}
