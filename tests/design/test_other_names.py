"""Names of instructions that are sums of a unit: what RISC-V's are called now, lone and sparse ones."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sampled import one_in
from tcformal.callbacks import SHORT_NAMES, ShortNames
from tcformal.design.catalog import catalogue
from tcformal.design.names import gives_back, resolve
from tcformal.design.other_names import sparse_names
from tcformal.design.unit import Evidence
from tcformal.errors import UnknownNameError


@pytest.mark.parametrize(
    ("now", "before"),
    [
        ("vfwbdota.vv.vlen128", "vfwbdot.vv.vlen128"),
        ("vfqwbdota.vv.vlen128.e5m2.e4m3", "vfqbdot.vv.vlen128.e5m2.e4m3"),
        ("vfqwbdota.alt.vv.vlen128.e5m2.e5m2", "vfqbdot.alt.vv.vlen128.e5m2.e5m2"),
        ("vfbdota.vv.vlen128", "vfbdot.vv.vlen128"),
        ("vdota4.vv", "vqdot.vv"),
        ("vdota4u.vv", "vqdotu.vv"),
        ("vdota4su.vv", "vqdotsu.vv"),
    ],
)
def test_renamed_instructions_are_the_units_that_they_were(now: str, before: str) -> None:
    found, unit = resolve(f"riscv/{now}"), resolve(f"riscv/{before}")
    assert found == unit
    assert found.facts == unit.facts
    assert found.shown == f"riscv/{now}"


@pytest.mark.parametrize(
    ("sparse", "dense"),
    [
        ("ampere/mma.sp.m16n8k32.f32.f16.f16.f32", "ampere/mma.m16n8k16.f32.f16.f16.f32"),
        ("ampere/mma.sp::ordered_metadata.m16n8k8.f32.tf32.tf32.f32", "ampere/mma.m16n8k4.f32.tf32.tf32.f32"),
        ("ada/mma.sp.m16n8k64.f32.e4m3.e5m2.f32", "ada/mma.m16n8k32.f32.e4m3.e5m2.f32"),
        ("hopper/wgmma.sp.m64n256k64.f16.e4m3.e4m3", "hopper/wgmma.m64n256k32.f16.e4m3.e4m3"),
        (
            "blackwell/tcgen05.sp.m64n8k16.kind::tf32.f32.tf32.tf32",
            "blackwell/tcgen05.m64n8k8.kind::tf32.f32.tf32.tf32",
        ),
        ("cdna3/v_smfmac_f32_32x32x16_f16", "cdna3/v_mfma_f32_32x32x8_f16"),
        ("cdna3/v_smfmac_f32_16x16x64_fp8_bf8", "cdna3/v_mfma_f32_16x16x32_fp8_bf8"),
        ("ampere/mma.sp.m16n8k64.satfinite.s32.s8.u8.s32", "ampere/mma.m16n8k32.satfinite.s32.s8.u8.s32"),
        ("cdna3/v_smfmac_i32_16x16x64_i8", "cdna3/v_mfma_i32_16x16x32_i8"),
        ("rdna4/v_swmmac_i32_16x16x64_iu4.i4.u4.clamp", "rdna4/v_wmma_i32_16x16x32_iu4.i4.u4.clamp"),
        ("rdna4/v_swmmac_bf16_16x16x32_bf16", "rdna4/v_wmma_bf16_16x16x16_bf16"),
    ],
)
def test_a_sparse_instruction_is_the_dense_sum_of_what_it_selects(sparse: str, dense: str) -> None:
    found, unit = resolve(sparse), resolve(dense)
    assert found == unit
    assert found.shown == sparse
    assert {fact.evidence for fact in found.facts.values()} == {Evidence.INFERRED}
    assert all(fact.source.startswith(f"as {dense}, ") for fact in found.facts.values())
    assert gives_back(found)


@pytest.mark.parametrize("instruction", ["tdpbf16ps", "vpdpbusd", "v_dot4_f32_fp8_bf8"])
def test_an_instruction_of_one_architecture_needs_no_other_word(instruction: str) -> None:
    found = resolve(instruction)
    assert found == resolve(f"{found.arch}/{instruction}")
    assert found.shown == instruction


def test_a_dense_unit_is_not_shown_as_a_sparse_instruction() -> None:
    """What stands for what is said below an answer, which may be about both."""
    sparse = "hopper/mma.sp.m16n8k32.f32.f16.f16.f32"
    heard = ShortNames()
    token = SHORT_NAMES.set(heard)
    try:
        resolve(sparse)
        resolve("riscv/vfwbdota.vv.vlen128")
    finally:
        SHORT_NAMES.reset(token)
    assert heard.names == {"riscv/vfwbdot.vv.vlen128": "riscv/vfwbdota.vv.vlen128"}
    assert sparse in heard.said


def test_every_sparse_instruction_of_an_architecture_is_listed() -> None:
    units = catalogue()
    names = list(sparse_names(units))
    assert len(set(names)) == len(names)
    for name in names[::97]:
        assert resolve(name).instruction == name
        assert resolve(name).sparse
    assert resolve("wgmma.sp.m64n8k32.f32.f16.f16").instruction == "hopper/wgmma.sp.m64n8k32.f32.f16.f16"
    hopper = {name for name in names if name.startswith("hopper/mma")}
    assert {resolve(name).name for name in hopper} == {
        name for name in units if re.match(r"hopper/mma\.m16(?!.*f64)", name)
    }


def test_parameters_of_a_sparse_instruction_can_be_set() -> None:
    found = resolve("ampere/mma.sp.m16n8k32.f32.f16.f16.f32@fraction_bits=25")
    assert found.design.fraction_bits == 25
    assert found.name == "ampere/mma.m16n8k16.f32.f16.f16.f32@fraction_bits=25"
    assert found.facts["fraction_bits"].evidence is Evidence.CHOSEN


@pytest.mark.parametrize(
    "name",
    one_in(
        3,
        [
            "mma.m16n8k16.f32.f16.f16.f32",
            "turing/mma.sp.m16n8k16.f32.f16.f16.f32",
            "ampere/mma.sp.m16n8k17.f32.f16.f16.f32",
            "ampere/mma.sp.m8n8k32.s32.s8.s8.s32",
            "ampere/mma.sp.m16n8k64.f32.f16.f16.f32",
            "ada/mma.sp.m16n8k32.f32.e4m3.e4m3.f32",
            "hopper/mma.sp.m16n8k32.f64.f64.f64.f64",
            "hopper/mma.sp.m16n8k64.f32.e4m3.e4m3.f32",
            # No spelling that ptxas takes: fp8 into fp16 needs ordered metadata, which sm_89 has not for it.
            "ada/mma.sp::ordered_metadata.m16n8k64.f16.e4m3.e4m3.f16",
            "rtx-blackwell/mma.sp.m16n8k64.f16.e4m3.e4m3.f16",
            "rtx-blackwell/mma.sp.m16n8k64.kind::f8f6f4.f32.e3m2.e3m2.f32",
            "rtx-blackwell/mma.sp.m16n8k64.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0",
            "cdna2/v_smfmac_f32_32x32x16_f16",
            "cdna3/v_smfmac_f32_32x32x8_xf32",
            "rdna3/v_swmmac_f32_16x16x32_f16",
            "riscv/vfqwbdota.vv.vlen128",
        ],
    ),
)
def test_what_is_no_instruction_is_refused(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"^expected a known unit, but got"):
        resolve(name)


@pytest.mark.parametrize(
    ("bare", "whole"),
    [
        ("v_smfmac_f32_16x16x32_f16", "cdna3/v_smfmac_f32_16x16x32_f16"),
        ("vfwbdota.vv.vlen128", "riscv/vfwbdota.vv.vlen128"),
    ],
)
def test_another_spelling_of_one_architecture_needs_no_architecture(bare: str, whole: str) -> None:
    assert replace(resolve(bare), asked="", name="") == replace(resolve(whole), asked="", name="")


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("mma.sp", "the closest are ampere/mma.sp.m16n8k16.f32.f16.f16.f32, ada/mma.sp."),
        ("h100/wgmma.sp", "the closest are hopper/wgmma.sp.m64n8k16.f32.tf32.tf32"),
        ("smfmac", "the closest are cdna3/v_smfmac_f32_32x32x16_f16"),
        ("vfbdota", "the closest are riscv/vfbdot"),
        ("IMMA", "the closest are turing/mma.m8n8k16.s32.s8.s8.s32"),
        ("h100/qgmma", "the closest are hopper/wgmma.m64n8k32.f32.e4m3.e4m3"),
        ("int8", "the closest are turing:int8, ampere:int8"),
        ("nvfp4", "the closest are blackwell:nvfp4"),
    ],
)
def test_a_name_that_is_too_short_is_met_with_whole_ones(text: str, near: str) -> None:
    with pytest.raises(UnknownNameError, match=near):
        resolve(text)
