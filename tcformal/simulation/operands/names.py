"""What the operands of each sum of a dot product are called."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.design.unit import UnitSpec
from tcformal.semantics.stages import Operand

_BLOCK_RESULT = "result of block "
_FIXED = {
    "c": "c", "zero": "+0", "running": "sum so far", "even": "even sum so far", "odd": "odd sum so far",
    "parts": "sum of the parts",
}  # fmt: skip


def operand_name(x: Operand, factors: Sequence[str] = ()) -> str:
    """The name of what a sum takes in or makes.

    Shapes: factors: the text of each product's scales, for units with scales.
    """
    if x.kind == "products":
        return group_name(x.ks, factors)
    if x.kind == "tree":
        return sum_name([operand_name(one, factors) for one in x.of])
    if x.kind == "block":
        return f"{_BLOCK_RESULT}{x.number}"
    if x.kind == "call":
        return f"{_BLOCK_RESULT}addition" if x.number is None else f"{_BLOCK_RESULT}call{x.number}.addition"
    return _FIXED[x.kind]


def product_name(i: int, factors: Sequence[str] = ()) -> str:
    """The name of one product, times what its scales are worth."""
    return _times(f"a[{i}]·b[{i}]", i, factors)


def group_name(group: Sequence[int], factors: Sequence[str] = ()) -> str:
    """The name of the exact sum of a group of products, times what its scales are worth."""
    if len(group) == 1:
        return product_name(group[0], factors)
    return _times(f"Σ a·b[{group[0]}…{group[-1]}]", group[0], factors)


def _times(name: str, i: int, factors: Sequence[str]) -> str:
    return f"{name}·{factors[i]}" if factors and factors[i] else name


def sum_name(names: Sequence[str]) -> str:
    """The name of the sum of several products."""
    return names[0] if len(names) == 1 else f"Σ {names[0]}…{names[-1]}"


def groups(spec: UnitSpec, k: int) -> list[range]:
    """The groups of products that K products make, in the order of k; [] where each is a term of its own."""
    size = spec.design.group
    return [] if size is None else [range(i, i + size) for i in range(0, k, size)]
