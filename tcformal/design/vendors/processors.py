"""CPU dot-product instructions, from the vendors' documents: a file for each kind of vendor."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tcformal.design.arithmetic import arm_dot_bf16, x86_dot, x86_tile
from tcformal.design.spec import Design
from tcformal.design.unit import Fact
from tcformal.design.vendors.facts import (
    AMD_RESULTS,
    ARM,
    BOCHS_AMX,
    INTEL,
    INTEL_FP16_RESULTS,
    INTEL_RESULTS,
    INTEL_TINY_RESULTS,
    as_reference,
    documented,
    measured,
)
from tcformal.design.vendors.nvidia import UnitMaker
from tcformal.design.vendors.row import Published, unit_of

_TILE = (16, 16, 32)

#: Intel's instructions: shape, format of A and B, arithmetic, and where it is stated.
_X86: dict[str, tuple[tuple[int, int, int], str, Design, Fact]] = {
    "vdpbf16ps": (
        (1, 1, 2), "bf16", x86_dot(operand_subnormals="signed_zero"),
        measured(f"{INTEL}, VDPBF16PS", AMD_RESULTS, INTEL_RESULTS, INTEL_TINY_RESULTS, INTEL_FP16_RESULTS),
    ),
    "tdpbf16ps": (
        _TILE, "bf16", x86_tile(operand_subnormals="signed_zero"),
        measured(f"{INTEL}, TDPBF16PS", INTEL_RESULTS, INTEL_TINY_RESULTS),
    ),
    "tdpfp16ps": (
        _TILE, "fp16", x86_tile(operand_subnormals="kept"), as_reference(f"{INTEL}, TDPFP16PS", BOCHS_AMX),
    ),
}  # fmt: skip


def cpu_names() -> Iterator[tuple[str, UnitMaker]]:
    """The builders of all CPU units, by name."""
    rows = {f"x86/{name}": row for name, row in _X86.items()}
    for ebf in (0, 1):
        design = arm_dot_bf16(extended=bool(ebf))
        for name, shape in (("bfdot", (1, 1, 2)), ("bfmmla", (2, 2, 4)), ("bfmopa", (16, 16, 2))):
            source = documented(f"{ARM}, EBF={ebf}")
            if (name, ebf) == ("bfmopa", 0):
                source = as_reference(source.source, "QEMU-7.2-sme")
            rows[f"arm/{name}.ebf{ebf}"] = shape, "bf16", design, source
    for name, (shape, a, design, source) in rows.items():
        yield name, partial(unit_of, Published(shape=shape, a=a, b=a, c="fp32", design=design, fact=source))
