"""Names of processors: the unit that each stands for, what it has, and what is offered for wrong ones."""

from __future__ import annotations

import pytest

from tcformal.callbacks import SHORT_NAMES, ShortNames
from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.design.short_names import (
    PROCESSORS,
    alias,
    architecture_of,
    formats_of,
    processor,
    processor_names,
    unsettled,
)
from tcformal.errors import UnknownNameError


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("h100", "hopper/wgmma.m64n8k16.f32.f16.f16"),
        ("H200:FP16", "hopper/wgmma.m64n8k16.f32.f16.f16"),
        ("hopper:bf16", "hopper/wgmma.m64n8k16.f32.bf16.bf16"),
        ("h100:fp8", "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"),
        ("h100:e4m3:fp16", "hopper/wgmma.m64n8k32.f16.e4m3.e4m3"),
        ("h100:e4m3->fp16", "hopper/wgmma.m64n8k32.f16.e4m3.e4m3"),
        ("h100:mma-fp16", "hopper/mma.m16n8k16.f32.f16.f16.f32"),
        ("h100:fp64", "hopper/mma.m16n8k16.f64.f64.f64.f64"),
        ("a100:fp16", "ampere/mma.m16n8k16.f32.f16.f16.f32"),
        ("ampere", "ampere/mma.m16n8k16.f32.f16.f16.f32"),
        ("rtx3090:tf32", "ampere/mma.m16n8k8.f32.tf32.tf32.f32"),
        ("v100", "volta/mma.m8n8k4.f32.f16.f16.f32"),
        ("t4", "turing/mma.m16n8k8.f32.f16.f16.f32"),
        ("rtx4090:e4m3", "ada/mma.m16n8k32.f32.e4m3.e4m3.f32"),
        ("l40s:f16", "ada/mma.m16n8k16.f32.f16.f16.f32"),
        ("b200", "blackwell/tcgen05.m64n8k16.kind::f16.f32.f16.f16"),
        ("b200:mxf4", "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"),
        ("b200:nvfp4", "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"),
        ("b200:mxfp8", "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"),
        ("rtx5090:e4m3", "rtx-blackwell/mma.m16n8k32.f32.e4m3.e4m3.f32"),
        ("mi100", "cdna1/v_mfma_f32_16x16x16f16"),
        ("mi250x:bf16", "cdna2/v_mfma_f32_16x16x16bf16_1k"),
        ("mi300x:bf16", "cdna3/v_mfma_f32_16x16x16_bf16"),
        ("mi300x:fp8", "cdna3/v_mfma_f32_16x16x32_fp8_fp8"),
        ("rx7900xtx:bf16", "rdna3/v_wmma_f32_16x16x16_bf16"),
        ("gaudi2:bf16", "gaudi2/mme.bf16"),
        ("gaudi2:fp8", "gaudi2/mme.fp8_143"),
        ("spr:amx-bf16", "x86/tdpbf16ps"),
        ("spr:avx512-bf16", "x86/vdpbf16ps"),
        ("zen4", "x86/vdpbf16ps"),
        ("gnr:fp16", "x86/tdpfp16ps"),
        ("grace:bf16", "arm/bfmmla.ebf0"),
        ("m4:fp32", "arm/fmopa.s"),
        ("4090", "ada/mma.m16n8k16.f32.f16.f16.f32"),
        ("A6000", "ampere/mma.m16n8k16.f32.f16.f16.f32"),
        ("7900 XTX", "rdna3/v_wmma_f32_16x16x16_f16"),
        ("gb10:e4m3", "rtx-blackwell/mma.m16n8k32.f32.e4m3.e4m3.f32"),
    ],
)  # fmt: skip
def test_a_processor_is_the_unit_that_libraries_use(name: str, unit: str) -> None:
    assert resolve(name) == catalogue()[unit]
    assert resolve(f"{name}@fraction_bits=9") == resolve(f"{unit}@fraction_bits=9")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("NVIDIA H100 80GB HBM3", "h100"), ("NVIDIA A100-SXM4-80GB", "a100"), ("Tesla T4", "t4"),
        ("NVIDIA GeForce RTX 4080 SUPER", "rtx4080"), ("AMD Instinct MI300X", "mi300x"),
        ("RTX 5000 Ada", "rtx5000ada"), ("Quadro RTX 5000", "quadrortx5000"), ("ET-SoC-1", "et-soc-1"),
        ("M4 Max", "m4"), ("rtx2050", None), ("rtx5000", None), ("h1000", None), ("a1000", None),
    ],
)  # fmt: skip
def test_devices_say_what_they_are(text: str, name: str | None) -> None:
    assert processor(text) == name


def test_every_processor_and_each_of_its_formats_is_a_unit_of_its_architecture() -> None:
    assert set(PROCESSORS) == {name.partition("/")[0] for name in catalogue()}
    for name, (arch, _) in processor_names().items():
        assert architecture_of(name) == resolve(name).arch == arch
        for word in formats_of(name):
            found = alias(f"{name}:{word}")
            assert found is not None
            assert catalogue()[found.unit].emulation is None
            assert alias(found.name) == found


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("hoper", "hopper"), ("H10", "h100"), ("h10:fp16", "h100:fp16"), ("ampre:bf16", "ampere:bf16"),
        ("h100:fp18", "it has fp16, bf16, tf32, fp64, e5m2, e4m3"), ("mi300x:e4m3", "e4m3fnuz"),
        ("h100:fp16:bf16", "it has fp32, fp16"), ("zen4:amx-bf16", "it has vdpbf16ps"),
        ("hopper/mma.m16n8k16", "hopper/mma.m16n8k16.f32.f16.f16.f32"),
        ("hopper/mma.m16n8k1", "hopper/mma.m16n8k16.f32.f16.f16.f32"),
        ("hopper/fp64", "hopper/mma.m8n8k4.f64.f64.f64.f64"), ("hopper/", "hopper/mma.m16n8k8"),
        ("h100/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"),
        ("HOPPER/MMA.M16N8K16.F32.F16.F16.F32", "hopper/mma.m16n8k16.f32.f16.f16.f32"),
        ("tdpbf16", "x86/tdpbf16ps"), ("m8n8k4", "volta/mma.m8n8k4"), ("", "tcformal units"),
        ("/", "tcformal units"), ("nobody", "tcformal units"),
    ],
)  # fmt: skip
def test_a_wrong_name_offers_what_fits(name: str, offered: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        resolve(name)
    assert offered in str(caught.value)
    assert len(str(caught.value)) < 400


def test_short_names_are_heard_where_somebody_listens() -> None:
    resolve("h100")
    assert SHORT_NAMES.get() is None
    heard = ShortNames()
    token = SHORT_NAMES.set(heard)
    try:
        for name in ("H100@fraction_bits=24", "h200"):
            resolve(name)
    finally:
        SHORT_NAMES.reset(token)
    unit = "hopper/wgmma.m64n8k16.f32.f16.f16"
    assert heard.names == {unit: "h100:fp16"}
    more = "also hopper/mma.m16n8k16.f32.f16.f16.f32, …"
    assert heard.said == {name: f"{name} = {unit}; {more}" for name in ("h100:fp16", "h200:fp16")}


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("MI355X:mxf4", "AMD CDNA4"), ("cdna4/v_mfma_f32_16x16x128_f8f6f4", "AMD CDNA4"),
        ("TPU v5p", "Google TPU"),
        ("Ascend910B", "Huawei Ascend"), ("Apple M3 Max", "Apple AMX"), ("trn2:bf16", "AWS Trainium"),
        ("intel max 1550", "Intel XMX"), ("arm/fmmla", "Arm FP8"),
    ],
)  # fmt: skip
def test_a_processor_that_no_source_settles_is_said_to_be_that_and_not_near_to_others(
    name: str, what: str
) -> None:
    with pytest.raises(UnknownNameError, match=f"of {what} none does"):
        resolve(name)


def test_no_known_processor_is_said_to_be_unsettled() -> None:
    assert not [name for name in (*processor_names(), *catalogue()) if unsettled(name)]
