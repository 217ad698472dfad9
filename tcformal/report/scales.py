"""The block scales of a witness as lines of text."""

from __future__ import annotations

from tcformal.design.unit import UnitSpec
from tcformal.report.text import value_and_hex
from tcformal.simulation.operands.witness import Witness


def scale_lines(spec: UnitSpec, w: Witness) -> list[str]:
    """One line per block whose scales are not both 1, and one for the others; empty without scales."""
    fmt, block = spec.scale_format, spec.scale_block
    if fmt is None or block is None:
        return []
    pairs = list(zip(w.scale_a, w.scale_b, strict=True))
    lines = [
        f"k = {i * block}…{min((i + 1) * block, len(w.a)) - 1}: scale_a[{i}] = {value_and_hex(fmt, x)}, "
        f"scale_b[{i}] = {value_and_hex(fmt, y)}"
        for i, (x, y) in enumerate(pairs)
        if (x, y) != (fmt.one, fmt.one)
    ]
    if not lines:
        return ["all scales are 1"]
    return lines if len(lines) == len(pairs) else [*lines, "all other scales are 1"]
