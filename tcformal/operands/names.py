"""What the operands of each sum of a dot product are called."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tcformal.design.unit import UnitSpec

SO_FAR, BLOCK_RESULT = "sum so far", "result of block "
#: The scope in which a composed unit adds c.
ADDITION = "addition"

#: The scopes of the sums of a dot product: a block, and within it.
_SCOPE = re.compile(
    r"block(\d+)(?:\.(products|last|both|(?:(even|odd)\.)?step(\d+)|level(\d+)\.pair(\d+)|even|odd))?"
)


def operand_names(spec: UnitSpec, scope: str, factors: Sequence[str] = ()) -> tuple[list[str], str]:
    """The names of what a sum takes in, from the scope it stands in, and the name of what it makes.

    Shapes: factors: the text of each product's scales, for units with scales.
    Scopes of another shape give no names, and themselves as what they make.
    """
    if adds_c(spec, scope):
        call = int(scope.removesuffix(f".{ADDITION}").removeprefix("call")) if "." in scope else 0
        c = f"{BLOCK_RESULT}call{call - 1}.{ADDITION}" if call else "c"
        return ["sum of the parts", c], f"{BLOCK_RESULT}{scope}"
    place = _SCOPE.fullmatch(scope)
    if place is None:
        return [], scope
    number, inner, chain, step, level, pair = place.groups()
    products = _products(spec, int(number), factors)
    c = f"{BLOCK_RESULT}{int(number) - 1}" if int(number) else "c"
    result = f"{BLOCK_RESULT}{number}"
    if inner is None:
        return [*products, c], result
    if inner == "products":
        return products, SO_FAR
    if inner == "both":
        return [_chain("even"), _chain("odd")], SO_FAR
    if inner in _HALVES:
        return products[_HALVES[inner]], _chain(inner)
    if inner == "last":
        alone = len(products) == 1 and spec.design.summation != "fused"
        return [products[0] if alone else SO_FAR, c], result
    if level is not None:
        first = 2 * int(pair)
        return _tree_level(products, int(level))[first : first + 2], _tree_level(products, int(level) + 1)[
            int(pair)
        ]
    i = int(step)
    if chain is not None:
        return [_chain(chain) if i else "+0", products[_HALVES[chain]][i]], _chain(chain)
    if spec.design.c_position == "first":
        return [SO_FAR if i else c, products[i]], result if i == len(products) - 1 else SO_FAR
    return [SO_FAR if i else products[0], products[i + 1]], SO_FAR


def adds_c(spec: UnitSpec, scope: str) -> bool:
    """Whether a composed unit adds c there: `addition`, or `call1.addition` where it is called again."""
    return spec.emulation is not None and scope.rpartition(".")[2] == ADDITION


_HALVES = {"even": slice(0, None, 2), "odd": slice(1, None, 2)}


def _chain(name: str) -> str:
    return f"{name} sum so far"


def product_name(i: int, factors: Sequence[str] = ()) -> str:
    """The name of one product, times what its scales are worth."""
    return _times(f"a[{i}]·b[{i}]", i, factors)


def group_name(group: range, factors: Sequence[str] = ()) -> str:
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


def block_length(spec: UnitSpec) -> int:
    """Products of one block."""
    return min(spec.k, spec.design.products)


def _products(spec: UnitSpec, block: int, factors: Sequence[str]) -> list[str]:
    """The terms that a block's products make, in the order in which they are taken."""
    length, design = block_length(spec), spec.design
    start = block * length
    if design.group is None:
        names = [product_name(i, factors) for i in range(start, start + length)]
    else:
        names = [group_name(g, factors) for g in groups(spec, start + length) if g[0] >= start]
    return names if design.order == "ascending" else [names[i ^ 1] for i in range(len(names))]


def _tree_level(products: Sequence[str], level: int) -> list[str]:
    """The operands of one level of a balanced tree: products, sums of some, and the sum of all."""
    size = 1 << level
    groups = [products[i : i + size] for i in range(0, len(products), size)]
    return [SO_FAR] if len(groups) == 1 else [sum_name(group) for group in groups]
