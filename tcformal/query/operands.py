"""What the operands of each sum of a dot product are called, and which of them are NaN or Inf."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tcformal.design.unit import UnitSpec
from tcformal.interp.trace import StageTrace
from tcformal.oracle.values import Kind, Value, decode
from tcformal.query.spec import Witness

SO_FAR, BLOCK_RESULT = "sum so far", "result of block "
#: The scope in which a composed unit adds c.
ADDITION = "addition"

#: The scopes of the sums of a dot product: a block, and within it.
_SCOPE = re.compile(
    r"block(\d+)(?:\.(products|last|both|(?:(even|odd)\.)?step(\d+)|level(\d+)\.pair(\d+)|even|odd))?"
)


def operand_names(spec: UnitSpec, scope: str) -> tuple[list[str], str]:
    """The names of what a sum takes in, from the scope it stands in, and the name of what it makes.

    Scopes of another shape give no names, and themselves as what they make.
    """
    if spec.emulation is not None and scope == ADDITION:
        return ["sum of the parts", "c"], f"{BLOCK_RESULT}{scope}"
    place = _SCOPE.fullmatch(scope)
    if place is None:
        return [], scope
    number, inner, chain, step, level, pair = place.groups()
    products = _products(spec, int(number))
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


_HALVES = {"even": slice(0, None, 2), "odd": slice(1, None, 2)}


def _chain(name: str) -> str:
    return f"{name} sum so far"


def product_name(i: int) -> str:
    """The name of one product."""
    return f"a[{i}]·b[{i}]"


def sum_name(names: Sequence[str]) -> str:
    """The name of the sum of several products."""
    return names[0] if len(names) == 1 else f"Σ {names[0]}…{names[-1]}"


def block_length(spec: UnitSpec) -> int:
    """Products of one block."""
    return min(spec.k, spec.design.products)


def _products(spec: UnitSpec, block: int) -> list[str]:
    """The terms that a block's products make, in the order in which they are taken."""
    length, design = block_length(spec), spec.design
    indices = range(block * length, (block + 1) * length)
    names = [product_name(i ^ 1 if design.order == "odd_first" else i) for i in indices]
    if design.group is None:
        return names
    return [sum_name(names[i : i + design.group]) for i in range(0, length, design.group)]


def _tree_level(products: Sequence[str], level: int) -> list[str]:
    """The operands of one level of a balanced tree: products, sums of some, and the sum of all."""
    size = 1 << level
    groups = [products[i : i + size] for i in range(0, len(products), size)]
    return [SO_FAR] if len(groups) == 1 else [sum_name(group) for group in groups]


def special_operands(spec: UnitSpec, witness: Witness, stages: StageTrace) -> dict[str, str]:
    """By name, c and each product: `NaN`, `Inf` or `-Inf` where it is no finite number, else nothing."""
    o = spec.operands
    specials = {"c": _special(decode(o.c, witness.c))}
    for i, (x, y) in enumerate(zip(witness.a, witness.b, strict=True)):
        u, v = decode(o.a, x), decode(o.b, y)
        kinds = {u.kind, v.kind}
        what = ""
        if Kind.NAN in kinds or (Kind.INF in kinds and (u.is_zero or v.is_zero)):
            what = "NaN"
        elif Kind.INF in kinds or _overflowed(spec, stages, i):
            what = "Inf" if u.sign == v.sign else "-Inf"
        specials[product_name(i)] = what
    return specials


def _special(value: Value) -> str:
    if value.kind is Kind.FINITE:
        return ""
    return "NaN" if value.kind is Kind.NAN else "-Inf" if value.sign else "Inf"


def _overflowed(spec: UnitSpec, stages: StageTrace, i: int) -> bool:
    """Whether a design that rounds its products makes this one infinite."""
    block, place = divmod(i, block_length(spec))
    stage = stages.stages.get(f"block{block}.product{place}.inf")
    return stage is not None and bool(stage.raw)
