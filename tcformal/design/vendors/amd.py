"""AMD's MFMA units of CDNA1, CDNA2 and CDNA3 (XIE Tables 6 and 7): a file for each kind of vendor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from tcformal.design.arithmetic import QUIET_NAN, e_fdpa, fma_chain, ftz_add_mul, tr_fdpa
from tcformal.design.spec import Design, Operands
from tcformal.design.unit import Fact, UnitSpec
from tcformal.design.vendors.facts import SIMULATOR, UNSTATED, XIE, facts, probed
from tcformal.design.vendors.nvidia import UnitMaker
from tcformal.encodings.catalog import format_named

_F32 = ("32x32x2f32", "32x32x1f32", "16x16x4f32", "16x16x1f32", "4x4x1f32")
_F16 = ("32x32x8f16", "32x32x4f16", "16x16x16f16", "16x16x4f16", "4x4x4f16")
_BF16 = ("32x32x4bf16", "32x32x2bf16", "16x16x8bf16", "16x16x2bf16", "4x4x2bf16")
_BF16_1K = ("32x32x8bf16_1k", "32x32x4bf16_1k", "16x16x16bf16_1k", "16x16x4bf16_1k", "4x4x4bf16_1k")
_BLOCKED = ("32x32x8", "16x16x16", "32x32x4_2b", "16x16x4_4b", "4x4x4_16b")
_FP8 = tuple(
    f"{shape}_{a}_{b}" for shape in ("16x16x32", "32x32x16") for a in ("bf8", "fp8") for b in ("bf8", "fp8")
)

#: Instruction names after `v_mfma_`, by architecture (AMD ISA; XIE Table 6).
MFMA: dict[str, tuple[str, ...]] = {
    "cdna1": tuple(f"f32_{x}" for x in _F32 + _F16 + _BF16),
    "cdna2": (
        "f64_16x16x4f64",
        "f64_4x4x4f64",
        *(f"f32_{x}" for x in _F32 + _F16 + _BF16 + _BF16_1K),
    ),
    "cdna3": (
        "f64_16x16x4_f64",
        "f64_4x4x4_4b_f64",
        *(f"f32_{x}" for x in ("32x32x1_2b_f32", "16x16x1_4b_f32", "4x4x1_16b_f32")),
        *(f"f32_{x}" for x in ("32x32x2_f32", "16x16x4_f32", "16x16x8_xf32", "32x32x4_xf32")),
        *(f"f32_{x}_{t}" for t in ("f16", "bf16") for x in _BLOCKED),
        *(f"f32_{x}" for x in _FP8),
    ),
}

_NAME = re.compile(
    r"(?P<d>f32|f64)_(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)(?:_(?P<blocks>\d+)b)?_?"
    r"(?P<a>x?b?f\d+|fp8)(?:_(?P<b>bf8|fp8|1k))?"
)
_FORMAT = {
    "f64": "fp64", "f32": "fp32", "f16": "fp16", "bf16": "bf16", "xf32": "tf32",
    "fp8": "e4m3fnuz", "bf8": "e5m2fnuz",
}  # fmt: skip

_ASYMMETRY = "Rounds down inside (two's complement): results are biased toward -Inf (XIE §6.2.4)."
_FLUSH = "Flushes fp16 and bf16 subnormals of A, B and C to +0 (XIE §6.2.1)."
_NAN = "NaN word: no source states AMD's NaN payloads."


def amd_names() -> Iterator[tuple[str, UnitMaker]]:
    """The builders of all legal units, by name."""
    for arch, names in MFMA.items():
        for text in names:
            yield f"{arch}/v_mfma_{text}", partial(_unit, arch, text)


def _unit(arch: str, text: str, name: str) -> UnitSpec:
    match = _NAME.fullmatch(text)
    if match is None:
        raise ValueError(f"expected an MFMA name, but got {text}")
    a = match["a"]
    b = match["b"] if match["b"] in ("bf8", "fp8") else a
    d = format_named(_FORMAT[match["d"]])
    operands = Operands(a=format_named(_FORMAT[a]), b=format_named(_FORMAT[b]), c=d, d=d)
    design, source, notes = _arithmetic(arch, a, match["b"] == "1k")
    corrected = probed(f"{XIE} Table 7; {SIMULATOR}")
    overrides = {"nan_word": UNSTATED, "zero_sign": probed(SIMULATOR)}
    if design.sum_fraction_bits is not None:
        overrides |= {"sum_fraction_bits": corrected, "fraction_bits": corrected}
    return UnitSpec(
        name=name,
        m=int(match["m"]),
        n=int(match["n"]),
        k=int(match["k"]),
        operands=operands,
        design=design,
        facts=facts(source, overrides),
        notes=(*notes, _NAN),
    )


def _arithmetic(arch: str, a: str, one_k: bool) -> tuple[Design, Fact, tuple[str, ...]]:
    """The design of one input type on one architecture (XIE Table 6)."""
    if a in ("f64", "f32"):
        fmt = _FORMAT[a]
        return fma_chain(fmt=fmt, nan_word=QUIET_NAN[fmt]), probed(f"{XIE} Table 6, Algorithm 4"), ()
    if arch == "cdna1":
        return e_fdpa(products=4 if a == "f16" else 2), probed(f"{XIE} Table 6, Algorithm 6"), ()
    if arch == "cdna2":
        products = 4 if a == "f16" or one_k else 2
        return ftz_add_mul(products=products), probed(f"{XIE} Table 6, Algorithm 2"), (_FLUSH,)
    products = {"xf32": 4, "f16": 8, "bf16": 8}.get(a, 16)
    grouped = products == 16
    algorithm = "Algorithm 11" if grouped else "Algorithm 10"
    return tr_fdpa(products=products, grouped=grouped), probed(f"{XIE} {algorithm}"), (_ASYMMETRY,)
