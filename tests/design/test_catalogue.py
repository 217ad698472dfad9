"""The catalogue's names and facts: exactly the legal ones, each with sources, bounds and risks."""

from __future__ import annotations

from collections import Counter

import pytest

from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.filters import Filters
from tcformal.design.names import resolve
from tcformal.design.operations import operation, risks
from tcformal.design.spec import Design
from tcformal.errors import UnknownNameError


def test_names_by_architecture_and_instruction() -> None:
    """XIE Tables 3 to 7: mma, wgmma (N = 8…256), tcgen05 (M 64 and 128), scales, MFMA; CPU instructions."""
    counted = Counter(name.partition("/")[0] for name in catalogue())
    assert counted == {
        "volta": 3, "turing": 25, "ampere": 62, "ada": 78, "hopper": 609, "blackwell": 4838,
        "rtx-blackwell": 133, "cdna1": 20, "cdna2": 27, "cdna3": 32, "x86": 43, "arm": 19,
        "power10": 4, "riscv": 10, "gaudi": 4, "gaudi2": 7, "gaudi3": 8, "rdna3": 28, "rdna4": 40,
        "et-soc-1": 2, "vortex": 11, "hexagon": 1, "nvdla": 1, "cute": 9, "cvfpu": 6,
        "wormhole": 6, "blackhole": 6,
    }  # fmt: skip
    kinds = Counter(n.partition("/")[2].partition(".")[0] for n in catalogue() if n.startswith("hopper/"))
    assert kinds == {"mma": 12 + 2 * 6 * 4, "wgmma": 32 * 12 + 18 * 8, "emulated": 17, "dp4a": 4}


@pytest.mark.parametrize(
    "name",
    [
        "volta/mma.m8n8k4.f32.f16.f16.f16",
        "turing/mma.m16n8k8.f16.f16.f16.f16",
        "ampere/mma.m8n8k4.f64.f64.f64.f64",
        "ada/mma.m16n8k16.f16.e5m2.e4m3.f16",
        "hopper/wgmma.m64n248k32.f16.e4m3.e5m2",
        "hopper/mma.m16n8k4.f64.f64.f64.f64",
        "blackwell/tcgen05.m64n8k8.kind::tf32.f32.tf32.tf32",
        "blackwell/tcgen05.m128n64k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
        "blackwell/tcgen05.m128n256k32.kind::mxf8f6f4.block32.f32.e3m2.e2m3.ue8m0",
        "rtx-blackwell/mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0",
        "cdna1/v_mfma_f32_32x32x8f16",
        "cdna2/v_mfma_f32_16x16x16bf16_1k",
        "cdna3/v_mfma_f32_4x4x4_16b_bf16",
        "x86/tdpfp16ps",
        "x86/vfcmaddcph.im",
        "rdna4/v_wmma_f16_16x16x16_f16.fp16_ovfl",
        "arm/bfmmla.ebf1",
    ],
)
def test_a_legal_name_is_taken_whole(name: str) -> None:
    assert resolve(name).name == name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("volta/mma.m16n8k8.f32.f16.f16.f32", "volta/mma.m8n8k4.f32.f16.f16.f32"),
        ("volta/mma.m8n8k4.f16.f16.f16.f32", "volta/mma.m8n8k4.f16.f16.f16.f16"),
        ("hopper/wgmma.m64n12k16.f32.f16.f16", "hopper/wgmma.m64n128k16.f32.f16.f16"),
        ("hopper/wgmma.m64n264k16.f32.f16.f16", "hopper/wgmma.m64n64k16.f32.f16.f16"),
        (
            "blackwell/tcgen05.m128n64k64.kind::mxf4nvf4.block32.f32.e2m1.e2m1.ue4m3",
            "blackwell/tcgen05.m128n64k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
        ),
        ("ampere/mma.m16n8k32.f32.e4m3.e4m3.f32", "ampere/mma.m16n8k16.f32.f16.f16.f32"),
        ("cdna3/v_mfma_f32_32x32x8f16", "cdna3/v_mfma_f32_32x32x8_f16"),
        ("cdna1/v_mfma_f32_32x32x8bf16_1k", "cdna1/v_mfma_f32_32x32x8f16"),
    ],
)
def test_an_illegal_name_is_refused_with_the_nearest(name: str, expected: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        resolve(name)
    sentence = str(caught.value)
    assert sentence.startswith(f"expected a known unit, but got {name!r}: the closest are ")
    assert expected in sentence


@pytest.mark.parametrize(
    "name",
    [
        "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32",
        "blackwell/mma.m16n8k16.f16.e5m2.e4m3.f16",
        "ampere/mma.m8n8k4.f32.f16.f16.f32",
    ],
)
def test_what_the_compiler_emulates_is_refused_with_the_reason(name: str) -> None:
    arch, _, instruction = name.partition("/")
    with pytest.raises(UnknownNameError) as caught:
        resolve(name)
    assert str(caught.value) == (
        f"expected a hardware instruction, but the compiler emulates {instruction} on {arch} with other "
        f"instructions: the composition is named {arch}/emulated.{instruction}"
    )
    assert resolve(f"{arch}/emulated.{instruction}").emulation is not None


def test_arm_names_choose_ebf() -> None:
    assert resolve("arm/bfdot").design == resolve("arm/bfdot.ebf0").design
    assert resolve("arm/bfdot@ebf=1").design == resolve("arm/bfdot.ebf1").design
    with pytest.raises(UnknownNameError, match=r"^expected a known ebf, but got '2'"):
        resolve("arm/bfmmla@ebf=2")


@pytest.mark.parametrize("name", list(distinct_designs()))
def test_every_number_has_a_source_and_every_unit_a_bound(name: str) -> None:
    u = resolve(name)
    assert set(u.facts) == set(Design.__dataclass_fields__)
    assert all(fact.source for fact in u.facts.values())
    op = operation(u)
    assert op.formula
    assert op.bounds
    assert op.source


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hopper/mma.m16n8k16.f32.f16.f16.f32", []),
        ("hopper/mma.m16n8k16.f16.f16.f16.f16", ["RNE-FP16"]),
        ("ada/mma.m16n8k32.f32.e4m3.e4m3.f32", ["small F", "RZ-E8M13"]),
        ("hopper/wgmma.m64n8k32.f32.e5m2.e4m3", ["small F", "RZ-E8M13"]),
        ("blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e4m3", []),
        ("cdna2/v_mfma_f32_32x32x8f16", ["input FTZ"]),
        ("cdna3/v_mfma_f32_16x16x32_fp8_bf8", ["asymmetry"]),
        ("cdna1/v_mfma_f32_32x32x8f16", []),
    ],
)
def test_risks_are_those_of_xie_table_10(name: str, expected: list[str]) -> None:
    assert [risk.partition(":")[0] for risk in risks(resolve(name))] == expected


RTX = "rtx-blackwell/mma.m16n8"


@pytest.mark.parametrize(
    ("name", "op", "bound"),
    [
        ("volta/mma.m8n8k4.f32.f16.f16.f32", "T-FDPA", "5·2^(e_max-23)"),
        ("hopper/wgmma.m64n8k32.f32.e5m2.e4m3", "T-FDPA", "33·2^(e_max-13)"),
        (f"{RTX}k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0", "ST-FDPA", "33·2^(e_max-25)"),
        (f"{RTX}k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0", "GST-FDPA", "5·2^(e_max-35)"),
        ("cdna3/v_mfma_f32_32x32x8_f16", "TR-FDPA", "9·2^(e_max-24)"),
        ("cdna3/v_mfma_f32_16x16x32_fp8_bf8", "GTR-FDPA", "17·2^(e_max-24)"),
        ("cdna1/v_mfma_f32_32x32x8f16", "E-FDPA", "0.5 ulp"),
        ("cdna2/v_mfma_f32_32x32x8f16", "FTZ-AddMul", "2^-14 in a factor"),
        ("cdna2/v_mfma_f64_16x16x4f64", "FMA", "0.5 ulp"),
    ],
)  # fmt: skip
def test_bounds_are_those_of_xie_table_9(name: str, op: str, bound: str) -> None:
    found = operation(resolve(name))
    assert found.name == op
    assert found.bounds[0][1] == bound


def test_filters_choose_and_refuse() -> None:
    only = Filters.of(arch="cdna3", fmt="e5m2fnuz", operation="GTR-FDPA", evidence="probed")
    assert [n for n in catalogue() if only.allow(catalogue()[n])] == [
        f"cdna3/v_mfma_f32_{shape}_{pair}"
        for shape in ("16x16x32", "32x32x16")
        for pair in ("bf8_bf8", "bf8_fp8", "fp8_bf8")
    ]
    for given, sentence in (
        ({"arch": "pascal"}, "architecture"),
        ({"operation": "T-FDPB"}, "operation"),
        ({"evidence": "rumoured"}, "evidence level"),
    ):
        with pytest.raises(UnknownNameError, match=f"^expected a known {sentence}, but got "):
            Filters.of(**{"arch": None, "fmt": None, "operation": None, "evidence": None} | given)
