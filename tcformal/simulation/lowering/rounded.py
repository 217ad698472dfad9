"""A sum of products with one rounding, computed by one IEEE operation in binary32 or binary64."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.backends.machine import floats
from tcformal.design.steps import ScaledProduct, nan_word_of
from tcformal.encodings.spec import Format
from tcformal.ir.node import Node
from tcformal.simulation.kernels.lowering import LoweringRules
from tcformal.simulation.lowering.operations import OPERANDS, constant, named, negated, operation, widened

#: Operations, by the numbers of the addends' factors; a power of two is one.
_NAMES = {(2,): "mul", (1, 1): "add", (2, 1): "fma", (1, 2): "fma"}


def add_rounded(
    root: Node,
    operands: Sequence[tuple[Node, Format]],
    addends: Sequence[ScaledProduct],
    fmt: Format,
    mode: str,
    ways: LoweringRules,
) -> bool:
    """Add a rule for the encoding `root` of a rounded sum where one IEEE operation computes it.

    Shapes: operands: the encodings that the addends' factors are numbers of.
    NaN: every NaN has the format's word.
    """
    name = _NAMES.get(tuple(len(x.factors) + bool(x.shift) for x in addends))
    wide = OPERANDS[fmt.width] if fmt.name in ("fp32", "fp64") else ()
    if name is None or mode != "RNE" or not floats() or any(f.name not in wide for _, f in operands):
        return False
    if any(x.exponents or (x.shift and not fmt.e_min <= x.shift <= fmt.e_max) for x in addends):
        return False
    products_first = sorted(addends, key=lambda x: -len(x.factors) - bool(x.shift))
    values = []
    for x in products_first:
        for i, factor in enumerate(x.factors):
            node, own = operands[factor]
            made = ways.derive((node,), widened(own))
            values.append(ways.derive((made,), negated(fmt.width)) if x.negative and not i else made)
        if x.shift:
            # x·2^s is exact, so that the sum is a fused multiply-add's.
            word = (x.shift + fmt.bias) << fmt.fraction_bits
            values.append(ways.derive((), constant(word, fmt.width)))
    result = ways.derive(values, operation(name, fmt.width))
    ways.add(root, (result,), named(nan_word_of(fmt), fmt, keeps=False))
    return True
