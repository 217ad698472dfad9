"""AMD's MFMA instructions by unit: compiler intrinsic, registers, target, and the expected mnemonic."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tcformal.design.unit import UnitSpec, base_name
from tcformal.errors import DeviceError

#: Target of each architecture of the catalogue.
TARGETS = {"cdna1": "gfx908", "cdna2": "gfx90a", "cdna3": "gfx942"}

_NAME = re.compile(
    r"v_mfma_(f32|f64)_(\d+)x(\d+)x(\d+)(?:_\d+b)?_?(f16|bf16_1k|bf16|xf32|f32|f64|(?:fp8|bf8)_(?:fp8|bf8))"
)
#: Elements of A and of B that a lane holds, and the type that the intrinsic takes them as.
_OPERANDS = {
    "f16": (4, "_Float16 __attribute__((ext_vector_type(4)))"),
    "bf16_1k": (4, "short __attribute__((ext_vector_type(4)))"),
    "bf16": (2, "short __attribute__((ext_vector_type(2)))"),
    "xf32": (2, "float __attribute__((ext_vector_type(2)))"),
    "f32": (1, "float"),
    "f64": (1, "double"),
}
_FP8 = (8, "long")


@dataclass(frozen=True, slots=True)
class Mfma:
    """The parameters of a unit's MFMA kernel: intrinsic, registers, target and expected mnemonic."""

    target: str
    #: The contents of `instruction.h`.
    header: str
    intrinsic: str
    #: The machine instruction as a disassembler writes it.
    mnemonic: str
    #: Tiles that one instruction computes.
    blocks: int


def mfma(spec: UnitSpec) -> Mfma:
    """The instruction of an AMD unit; DeviceError for a unit of another kind."""
    arch, _, text = base_name(spec).partition("/")
    found = _NAME.fullmatch(text)
    if arch not in TARGETS or found is None:
        raise DeviceError(f"expected a unit of an AMD GPU (cdna1, cdna2 or cdna3), but got {spec.name}")
    result, m, n, k, kind = found.groups()
    # gfx942 has dropped the older bf16 instructions and the suffix of the newer ones.
    operands = "bf16_1k" if (arch, kind) == ("cdna3", "bf16") else kind
    joint = "_" if kind == "xf32" or "8_" in kind else ""
    intrinsic = f"__builtin_amdgcn_mfma_{result}_{m}x{n}x{k}{joint}{operands}"
    items, vector_ab = _OPERANDS.get(operands, _FP8)
    blocks = 64 * items // (spec.m * spec.k)
    count = spec.m * spec.n * blocks // 64
    scalar = "double" if result == "f64" else "float"
    vector_cd = scalar if count == 1 else f"{scalar} __attribute__((ext_vector_type({count})))"
    o = spec.operands
    values = {
        "M": spec.m, "N": spec.n, "K": spec.k, "BLOCKS": blocks, "ITEMS_AB": items,
        "HIGH": 1 if result == "f64" else 4,
        "AB_A": f"uint{o.a.storage_bits}_t", "AB_B": f"uint{o.b.storage_bits}_t",
        "CD": f"uint{o.c.storage_bits}_t", "MFMA": intrinsic,
    }  # fmt: skip
    header = "".join(f"#define {name} {value}\n" for name, value in values.items())
    types = f"typedef {vector_ab.replace(' __', ' VECTOR_AB __', 1)};\n" if " __" in vector_ab else (
        f"typedef {vector_ab} VECTOR_AB;\n"
    )  # fmt: skip
    types += f"typedef {vector_cd.replace(' __', ' VECTOR_CD __', 1)};\n" if " __" in vector_cd else (
        f"typedef {vector_cd} VECTOR_CD;\n"
    )  # fmt: skip
    guarded = f"#ifndef SIMULATED\n{types}#endif\n"
    return Mfma(TARGETS[arch], header + guarded, intrinsic, text, blocks)
