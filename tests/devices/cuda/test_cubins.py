"""Every family of CUDA probes for every target of the compiler: built, and seen in the disassembly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from hostcard import HostCard
from tcformal.design.catalog import catalogue
from tcformal.devices.cuda import cubin as cubins
from tcformal.devices.cuda.cubin import cubin, kernel
from tcformal.devices.cuda.cuda import CudaDevice, ListedGpu
from tcformal.devices.plan.directed import directed
from tcformal.devices.plan.plan import make_plan
from tcformal.devices.run.run import run_plan
from tcformal.errors import DeviceError
from tcformal.simulation.gpu import compilers
from tcformal.simulation.gpu.compilers import Compiler
from tcformal.simulation.unit import unit

NVIDIA = ("volta", "turing", "ampere", "ada", "hopper", "blackwell", "rtx-blackwell")

#: One unit per family and target -> what its machine instruction is called.
FAMILIES: dict[str, str] = {
    "turing/mma.m8n8k4.f32.f16.f16.f32": "HMMA.884",
    "turing/mma.m8n8k4.f32.f16.f16.f16": "HMMA.884.F32.F16",
    "turing/mma.m16n8k8.f16.f16.f16.f16": "HMMA.1688.F16",
    "ampere/mma.m16n8k16.f32.f16.f16.f32": "HMMA.16816.F32",
    "ampere/mma.m16n8k4.f32.tf32.tf32.f32": "HMMA.1684.F32.TF32",
    "ampere/mma.m8n8k4.f64.f64.f64.f64": "DMMA.884",
    "ada/mma.m16n8k16.f32.bf16.bf16.f32": "HMMA.16816.F32.BF16",
    "ada/mma.m16n8k32.f16.e4m3.e5m2.f16": "QMMA.16832.F16.E4M3.E5M2",
    "hopper/mma.m16n8k16.f64.f64.f64.f64": "DMMA.16x8x16",
    "hopper/mma.m16n8k8.f32.bf16.bf16.f32": "HMMA.1688.F32.BF16",
    "hopper/wgmma.m64n8k16.f16.f16.f16": "HGMMA.64x8x16.F16",
    "hopper/wgmma.m64n16k8.f32.tf32.tf32": "HGMMA.64x16x8.F32.TF32",
    "hopper/wgmma.m64n256k32.f32.e4m3.e5m2": "QGMMA.64x256x32.F32.E4M3.E5M2",
    "blackwell/mma.m16n8k16.f32.f16.f16.f32": "HMMA.16816.F32",
    "blackwell/tcgen05.m64n8k16.kind::f16.f32.bf16.bf16": "UTCHMMA",
    "blackwell/tcgen05.m128n16k8.kind::tf32.f32.tf32.tf32": "UTCHMMA",
    "blackwell/tcgen05.m128n256k32.kind::f8f6f4.f16.e4m3.e2m1": "UTCQMMA",
    "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.ue8m0": "UTCQMMA",
    "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0": "UTCOMMA",
    "blackwell/tcgen05.m128n64k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3": "UTCOMMA.4X",
    "rtx-blackwell/mma.m16n8k16.f16.f16.f16.f16": "HMMA.16816.F16",
    "rtx-blackwell/mma.m16n8k16.f32.e5m2.e5m2.f32": "QMMA.16816.F32.E5M2.E5M2",
    "rtx-blackwell/mma.m16n8k32.kind::f8f6f4.f16.e3m2.e2m1.f16": "QMMA.16832.F16.E3M2.E2M1",
    "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0": "QMMA.SF.16832",
    "rtx-blackwell/mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0": "OMMA.SF.16864",
    "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3": "OMMA.SF.16864",
}


def tools(kind: type[Compiler] | None = None) -> Compiler:
    """A compiler; skip where there is none, or no disassembler, saying which."""
    try:
        cubins.disassembler()
        return compilers.compiler() if kind is None else kind()
    except DeviceError as error:
        pytest.skip(str(error))


def firsts(key: Callable[[str], str]) -> set[str]:
    """The first family of each key."""
    return set({key(name): name for name in reversed(FAMILIES)}.values())


#: One of each mnemonic; by nvcc, which takes several times as long, one of each kernel.
BY_NVCC = firsts(lambda name: name.partition("/")[2].partition(".")[0])
BY_NVRTC = firsts(lambda name: FAMILIES[name].partition(".")[0])
BUILDS = [
    pytest.param(
        name,
        kind,
        marks=[] if name in (BY_NVCC if kind is compilers.Nvcc else BY_NVRTC) else [pytest.mark.long],
    )
    for kind in compilers.KINDS
    for name in FAMILIES
]


@pytest.mark.parametrize(("name", "kind"), BUILDS)
def test_a_family_is_built_and_seen(name: str, kind: type[Compiler]) -> None:
    """By every compiler that is here."""
    by = tools(kind)
    made = cubin(unit(name).spec, by)
    assert made.instruction.startswith(FAMILIES[name])
    assert made.compiler == by.version
    assert made.path.stat().st_size > 1000


@pytest.mark.parametrize(
    "name", ["hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32", "ampere/emulated.mma.m8n8k4.f32.f16.f16.f32"]
)
def test_emulations_are_seen_to_be_some(name: str) -> None:
    """fp8 on sm_90 is two HMMA and FADDs, fp16 m8n8k4 on sm_80 scalar: built when asked for as emulated."""
    tools()
    made = cubin(unit(name).spec)
    assert ("2 HMMA.16816.F32" if "e4m3" in name else "FFMA") in made.instruction


def test_an_emulated_instruction_rejects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for as a hardware instruction, a composition is refused with what stands in its place."""
    tools()
    real = unit("ada/mma.m16n8k32.f32.e4m3.e4m3.f32").spec
    made = kernel(unit("hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32").spec)
    monkeypatch.setattr(cubins, "kernel", lambda _: made)
    with pytest.raises(
        DeviceError, match=r"expected one QMMA.*sm_90a.*2 HMMA\.16816\.F32.*no matrix instruction"
    ):
        cubin(real)


def test_every_nvidia_unit_has_a_kernel() -> None:
    names = [name for name in catalogue() if name.partition("/")[0] in NVIDIA]
    sources = Counter(kernel(catalogue()[name]).source for name in names)
    assert sum(sources.values()) == len(names)
    assert set(sources) == {"mma.cu", "wgmma.cu", "tcgen05.cu"}


AMPERE = "ampere/mma.m16n8k8.f32.bf16.bf16.f32"


def test_a_gpu_runs_a_plan(tmp_path: Path) -> None:
    """From the plan over tiles to the file, with a model in place of the launch."""
    tools()
    spec = unit(AMPERE).spec
    plan = make_plan(spec, list(directed(spec))[::200], vectors=24, seed=1)
    card = HostCard(AMPERE)
    outcome = run_plan(plan, CudaDevice("0", card), tmp_path)
    assert outcome.mismatches == 0
    assert outcome.device == {
        "device": "Simulated A100",
        "driver": "580.1",
        "library": "a simulation",
        "compiler": compilers.compiler().version,
        "ptx": "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
        "instruction": "HMMA.1688.F32.BF16",
    }
    altered = CudaDevice("0", HostCard(f"{AMPERE}@fraction_bits=25"))
    assert run_plan(plan, altered, tmp_path / "other").mismatches > 0
    assert card.held == 5  # the operands of the last batch stay for another unit


def test_a_gpu_of_another_architecture_rejects() -> None:
    for capability, sentence in (((9, 0), "sm_90, hopper"), ((6, 1), "the catalogue does not know")):
        with pytest.raises(DeviceError, match=rf"expected a GPU of ampere.*{sentence}"):
            CudaDevice("0", HostCard(AMPERE, capability)).identify(unit(AMPERE).spec, 8)
    with pytest.raises(DeviceError, match="expected dot products of 8 terms"):
        CudaDevice("0", HostCard(AMPERE)).identify(unit(AMPERE).spec, 16)
    assert [a.unit for a in CudaDevice("0", HostCard(AMPERE)).abilities()] == [
        "ampere/mma.…",
        "ampere/emulated.mma.…",
    ]
    assert ListedGpu("cuda:0", "old", None).abilities()[0].missing
