"""From one design to another of the same results, one parameter after the other, each with what proves it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from tcformal.design.names import resolve
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.unit import UnitSpec, same_formats
from tcformal.errors import InputError
from tcformal.programs.chain import same_definition
from tcformal.proofs.claim import Asking, ClaimPart, PartStatus
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
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.tactics.cuts import ProofStep
from tcformal.proofs.tactics.uncut import BY_INTERVALS, exact_form, reach, why_exact
from tcformal.query.assume import Assumptions

#: Changes that are none of a parameter: a design, and the tree of its sums; factors that are converted.
_TREE, _CONVERTED = "tree", "converted"
#: Chains of products, and one product after the other in a sum with c; sums of which nothing is cut off.
_CHAIN, _UNCUT = "chain", "uncut"

Found = tuple[ClaimPart, list[Lemma]] | None


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
    return unit if unit.k == k and not own & set(PROOFS) else None


@dataclass(frozen=True, slots=True)
class Change:
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
        if self.parameter == _CHAIN:
            return "a chain from c and blocks of one product with c"
        if self.parameter == _UNCUT:
            widths = [u.design.fraction_bits for u in (self.first, self.second)]
            kept = [bits for bits in widths if bits is not None]
            return f"fraction_bits={max(kept)} or exact" if kept else "sums of which nothing is cut off"
        one, two = (getattr(u.design, self.parameter) for u in (self.first, self.second))
        return f"{self.parameter}={_text(one)} or {_text(two)}"


def _conversion(one: UnitSpec, two: UnitSpec) -> list[Change]:
    """From a tree to the same one whose factors are converted, or not; none for other designs."""
    if one.tree is None or two.tree is None or one.tree.converted == two.tree.converted:
        return []
    alike = replace(two, name=one.name, tree=replace(two.tree, converted=one.tree.converted)) == one
    return [Change(_CONVERTED, one, two)] if alike else []


def changes_between(first: UnitSpec, second: UnitSpec, k: int, what: Assumptions) -> list[Change]:
    """The changes that lead from one design to another under assumptions; InputError where none are known."""
    if converted := _conversion(first, second):
        return converted
    one, two = plain_form(first, k), plain_form(second, k)
    if one is None or two is None:
        raise InputError(f"expected units of one cutting stage, but got {first.name} and {second.name}")
    if not same_formats(one, two):
        raise InputError(f"expected units of equal formats, but got {one.name} and {two.name}")
    changes: list[Change] = []
    for find in (_trees, _chains, lambda one, two, k: _uncut(one, two, k, what)):
        found = find(one, two, k)
        changes += found
        one, two = (next((x.second for x in found if x.first is u), u) for u in (one, two))
    return [*changes, *_way(one, two, same=bool(changes))]


def _trees(one: UnitSpec, two: UnitSpec, k: int) -> list[Change]:
    """From a design with blocks of products to the tree of its sums, where the other one is a tree.

    Not from a composed unit, whose sums read words again: that is proved one sum after the other alone.
    """
    if (one.tree is None) == (two.tree is None):
        return []
    plain = two if one.tree is not None else one
    if plain.emulation is not None:
        return []
    made = tree_of(plain, k)
    return [] if made is None or same_definition(plain, made, k) else [Change(_TREE, plain, made)]


def _chains(one: UnitSpec, two: UnitSpec, _k: int) -> list[Change]:
    """From a chain from c to one product after the other joined with c, where the other unit is that."""
    made = []
    for unit, other in ((one, two), (two, one)):
        if other.design.c_position == "joined" and other.design.products == 1:
            joined = one_by_one(unit)
            made += [] if joined is None else [Change(_CHAIN, unit, joined)]
    return made


def one_by_one(unit: UnitSpec) -> UnitSpec | None:
    """A chain of products from c as blocks of one product joined with c; None for another unit."""
    design = unit.design
    single = min(unit.k, design.products) == 1
    if (
        (design.summation, design.c_position) != ("sequential", "first")
        or unit.emulation is not None or unit.tree is not None
        # A longer chain rounds within the block as at its end, and its c is read once.
        or not (single or (design.step == design.rho and design.order == "ascending"))
    ):  # fmt: skip
        return None
    with suppress(InputError):
        joined = replace(design, products=1, summation="fused", c_position="joined", accumulator=None)
        return replace(unit, design=joined)
    return None


def _uncut(one: UnitSpec, two: UnitSpec, k: int, what: Assumptions) -> list[Change]:
    """From sums of which nothing is cut off to exact ones, where both units' are these, and they differ."""
    reached = [(u, reach(u, what, k)) for u in (one, two)]
    if one.design == two.design or not all(r is not None and r.kept(u) for u, r in reached):
        return []
    moved = [(u, exact_form(u)) for u in (one, two)]
    return [Change(_UNCUT, old, new) for old, new in moved if new.design != old.design]


def _way(one: UnitSpec, two: UnitSpec, *, same: bool = False) -> list[Change]:
    """The changes that lead from one design to another; InputError for none, unless they may be the `same`.

    Two parameters go from both sides to the value that claims about them start from.
    """
    changes: list[Change] = []
    for name, plain in (("accumulation", "twos_complement"), ("carry_bits", None)):
        if getattr(one.design, name) != getattr(two.design, name):
            moved = [_with(u, name, plain) for u in (one, two)]
            ends = zip((one, two), moved, strict=True)
            changes += [Change(name, new, old) for old, new in ends if new.design != old.design]
            one, two = moved
    for name in (
        "zero_exponent", "overflow", "product_rounding", "dropped_pieces", "normalise_operands", "order"
    ):  # fmt: skip
        new = _with(one, name, getattr(two.design, name))
        if new.design != one.design:
            changes.append(Change(name, one, new))
            one = new
    if not (changes or same) or not same_definition(one, two, one.k):
        known = ", ".join(x for x in PROOFS if x not in (_TREE, _CONVERTED, _CHAIN, _UNCUT))
        raise InputError(f"expected designs that differ in {known} only, but got {one.name} and {two.name}")
    return changes


def _with(unit: UnitSpec, name: str, value: Any) -> UnitSpec:
    return replace(unit, design=replace(unit.design, **{name: value}))


def _text(value: object) -> str:
    return "exact" if value is None else str(value)


def _of_order(ask: Asking, change: Change) -> Found:
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


def _of_zeros(ask: Asking, change: Change) -> Found:
    """Exponents of zero terms below those of all others; or so small that no term is cut off."""
    found = same_results(replace(ask, spec=change.first), change.second)
    return found or zeros_alike(ask, change.first, change.second)


def _of_uncut(ask: Asking, change: Change) -> Found:
    """Sums that are exact by the exponents of their terms, and the exact sums; None where they are not.

    Soundness: where alignment cuts nothing off and no carry is lost, a sum's bits are those of the exact sum,
    and what is rounded from an exact sum is one definition.
    """
    r = reach(change.first, ask.assumed, change.first.k)
    if r is None or not r.kept(change.first) or exact_form(change.first) != change.second:
        return None
    why = why_exact(change.first, r)
    return ClaimPart(
        name="", status=PartStatus.HOLDS, steps=(ProofStep(name=why, how=BY_INTERVALS, lemmas={}),), note=why
    ), []


#: What is proved of each parameter, from the design that a claim about it starts from.
PROOFS: dict[str, Callable[[Asking, Change], Found]] = {
    "accumulation": lambda ask, x: same_accumulation(replace(ask, spec=x.first)),
    "carry_bits": lambda ask, x: enough(replace(ask, spec=x.first), x.second.design.carry_bits or 0),
    "zero_exponent": _of_zeros,
    "overflow": lambda ask, x: overflow_unread(ask, x.first, x.second),
    "product_rounding": lambda ask, x: products_alike(ask, x.first, x.second),
    _TREE: lambda ask, x: written_otherwise(ask, x.first, x.second),
    "dropped_pieces": lambda ask, x: pieces_alike(ask, x.first, x.second),
    "normalise_operands": lambda ask, x: groups_alike(ask, x.first, x.second),
    "order": _of_order,
    _CHAIN: lambda ask, x: written_otherwise(ask, x.first, x.second),
    _UNCUT: _of_uncut,
    _CONVERTED: lambda ask, x: converted_alike(ask, x.first, x.second),
}
