"""Two designs that no input tells apart, by theorems on their parameters: both have one normal form."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from tcformal.design.trees.arrangements import tree_of
from tcformal.design.unit import UnitSpec, same_formats
from tcformal.errors import InputError
from tcformal.programs.chain import same_definition
from tcformal.theory.axes import normal_form

#: What a proof by theorems begins with.
BY_THEOREM = "theorem"
#: The theorem of a step in which the records of the specification are one, which needs none.
_NO_THEOREM = "eq_refl"


@dataclass(frozen=True, slots=True)
class EqualByTheorem:
    """Two designs that give the same results on all dot products of one length, and why."""

    first: UnitSpec
    second: UnitSpec
    #: The theorems about parameters that cannot matter, each once, in the order of their use.
    theorems: tuple[str, ...]

    @property
    def reason(self) -> str:
        """One sentence."""
        return f"no parameter that differs can matter: {self.text}"

    @property
    def text(self) -> str:
        """The theorems in one clause."""
        if not self.theorems:
            return "the definitions are the same"
        return f"{BY_THEOREM}{'s' if len(self.theorems) > 1 else ''} {', '.join(self.theorems)}"

    def to_json(self) -> dict[str, Any]:
        """The theorems as plain data."""
        return {"theorems": list(self.theorems)}


def equal_by_theorem(first: UnitSpec, second: UnitSpec, k: int) -> EqualByTheorem | None:
    """The theorems by which two units give the same results for every dot product of k terms, or None.

    Shapes: words of 0 fill whole calls up; None where one unit's calls take more of them than the other's.
    """
    length = _filled(first, k)
    if not same_formats(first, second) or length != _filled(second, k):
        return None
    one, two = (in_one_way(unit, length) for unit in (first, second))
    with suppress(InputError):
        forms = [_form(unit) for unit in (one, two)]
        if forms[0][0] == forms[1][0]:
            used = (name for _, theorems in forms for name in theorems if name != _NO_THEOREM)
            return EqualByTheorem(first, second, tuple(dict.fromkeys(used)))
    return EqualByTheorem(first, second, ()) if same_definition(one, two, length) else None


# One design is compared with all that one parameter makes of it.
@lru_cache(maxsize=64)
def _form(unit: UnitSpec) -> tuple[str, tuple[str, ...]]:
    return normal_form(unit)


@lru_cache(maxsize=64)
def in_one_way(unit: UnitSpec, k: int) -> UnitSpec:
    """The unit with its sums in blocks of products, or else as a tree, where the definition is the same."""
    d = unit.design
    if unit.tree is not None or (
        unit.emulation is None and (d.summation, d.c_position) == ("fused", "joined")
    ):
        return in_blocks(unit, k)
    if unit.emulation is None:
        with suppress(InputError):
            made = tree_of(unit, k)
            if made is not None and same_definition(made, unit, k):
                return made
    return unit


def in_blocks(unit: UnitSpec, k: int) -> UnitSpec:
    """A tree of sums whose definition is that of blocks of products as such; any other unit as it is."""
    if unit.tree is None or k != unit.k:
        return unit
    sizes = {sum(isinstance(x, int) for x in step.children) for step in unit.tree.root.steps()} - {0}
    for length in sizes if len(sizes) == 1 else ():
        with suppress(InputError):
            made = replace(unit, tree=None, design=replace(unit.design, products=length))
            if same_definition(made, unit, k):
                return made
    return unit


def _filled(unit: UnitSpec, k: int) -> int:
    """The products of whole calls that take k."""
    return -(-k // unit.k) * unit.k
