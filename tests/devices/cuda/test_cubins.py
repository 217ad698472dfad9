"""Every family of CUDA probes for every target of the compiler: built, and seen in the disassembly."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from executors import Inline
from hostcard import HostCard
from inline import Clock
from tcformal.design.catalog import catalogue
from tcformal.devices import cuda
from tcformal.devices.campaign import Campaign
from tcformal.devices.cuda import CudaDevice, ListedGpu, cubin, kernel
from tcformal.devices.directed import directed
from tcformal.devices.plan import make_plan
from tcformal.devices.recorded import RecordedDevice
from tcformal.devices.runner import run_plan
from tcformal.devices.tiles import units_of
from tcformal.errors import DeviceError, InputError
from tcformal.simulation import card as cards
from tcformal.simulation import compilers
from tcformal.simulation.compilers import Compiler
from tcformal.simulation.matrix_unit import replay, unit
from tcformal.simulation.operands.batch import Raw, batch

NVIDIA = ("volta", "turing", "ampere", "ada", "hopper", "blackwell", "rtx-blackwell")

#: One unit per family and target -> what its machine instruction is called.
FAMILIES: dict[str, str] = {
    "turing/mma.m8n8k4.f32.f16.f16.f32": "HMMA.884",
    "turing/mma.m8n8k4.f32.f16.f16.f16": "HMMA.884.F32.F16",
    "turing/mma.m16n8k8.f16.f16.f16.f16": "HMMA.1688.F16",
    "ampere/mma.m16n8k16.f32.f16.f16.f32": "HMMA.16816.F32",
    "ampere/mma.m16n8k4.f32.tf32.tf32.f32": "HMMA.1684.F32.TF32",
    "ampere/mma.m8n8k4.f64.f64.f64.f64": "DMMA.884",
    "turing/mma.m8n8k32.satfinite.s32.s4.u4.s32": "IMMA.8832.S4.U4.SAT",
    "ampere/mma.m16n8k32.s32.u8.s8.s32": "IMMA.16832.U8.S8",
    "turing/dp4a.s32.u32": "IDP.4A.S8.U8",
    "rtx-blackwell/mma.m8n8k16.s32.s8.s8.s32": "IMMA.16816.S8.S8",
    "hopper/wgmma.m64n8k32.satfinite.s32.s8.s8": "IGMMA.64x8x32.S8.S8.SAT",
    "blackwell/tcgen05.m64n8k32.kind::i8.s32.s8.u8": "UTCIMMA",
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
    "ampere/mma.sp.m16n8k32.f32.f16.f16.f32": "HMMA.SP.16832.F32",
    "ampere/mma.sp.m16n8k8.f32.tf32.tf32.f32": "HMMA.SP.1688.F32.TF32",
    "ada/mma.sp::ordered_metadata.m16n8k64.f32.e4m3.e5m2.f32": "QMMA.SP.16864.F32.E4M3.E5M2",
    "ampere/mma.sp.m16n8k128.satfinite.s32.s4.u4.s32": "IMMA.SP.168128.S4.U4.SAT",
    "hopper/mma.sp.m16n8k64.s32.s4.s4.s32": "IMMA.SP.16832.S8.S8",
    "hopper/wgmma.sp.m64n8k32.f32.f16.f16": "HGMMA.SP.64x8x32.F32",
    "hopper/wgmma.sp.m64n256k64.satfinite.s32.u8.s8": "IGMMA.SP.64x256x64.U8.S8.SAT",
    "blackwell/tcgen05.sp.m64n8k32.kind::f16.f32.bf16.bf16": "UTCHMMA",
    "rtx-blackwell/mma.sp::ordered_metadata.m16n8k64.kind::f8f6f4.f16.e3m2.e2m1.f16": "QMMA.SP.16864.F16",
}
#: What the PTX of CUDA 13.0 does not have; that of 13.5 has it.
REFUSED = "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue8m0"


def tools(kind: type[Compiler] | None = None) -> Compiler:
    """A compiler; skip where there is none, or no disassembler, saying which."""
    try:
        cuda.disassembler()
        return compilers.compiler() if kind is None else kind()
    except DeviceError as error:
        pytest.skip(str(error))


def firsts(key: Callable[[str], str]) -> set[str]:
    """The first family of each key."""
    return set({key(name): name for name in reversed(FAMILIES)}.values())


#: One of each mnemonic; by nvcc, which takes several times as long, one of each kernel.
BY_NVCC = firsts(lambda name: name.partition("/")[2].partition(".")[0])
BY_NVRTC = firsts(lambda name: FAMILIES[name].partition(".")[0][:3])
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


@pytest.mark.parametrize("kind", compilers.KINDS)
def test_the_movers_are_built(kind: type[Compiler]) -> None:
    """The kernels that put dot products onto tiles, for a target of each kind."""
    by = tools(kind)
    for target in ("sm_80", "sm_90a", "sm_120a"):
        assert cuda.tiles(target, by).stat().st_size > 1000


@pytest.mark.parametrize("kind", compilers.KINDS)
def test_a_complaint_is_one_line(kind: type[Compiler], tmp_path: Path) -> None:
    by = tools(kind)
    source = tmp_path / "wrong.cu"
    source.write_text("__global__ void probe() {\n  nothing;\n}\n")
    with pytest.raises(DeviceError, match=r"to build this, but got: .*nothing.*$") as caught:
        by.compile(source, [tmp_path], "sm_90a", "build this")
    assert "\n" not in str(caught.value)


@pytest.mark.long
@pytest.mark.parametrize("arch", NVIDIA[1:])
def test_every_unit_is_built_and_seen(arch: str) -> None:
    """All names of the catalogue and of sparse instructions; wide ones at three widths."""
    tools()
    failed = []
    for name in units_of(arch):
        wide = any(f"n{n}k" in name for n in range(8, 257, 8) if n not in (8, 40, 256))
        if wide and ("wgmma" in name or "tcgen05" in name):
            continue
        try:
            cubin(unit(name).spec)
        except DeviceError as error:
            failed.append((name, str(error)))
    assert [name for name, _ in failed if name != REFUSED] == [], failed


def test_old_targets_reject() -> None:
    if "sm_70" in tools().targets:
        pytest.skip("this toolkit still builds for sm_70")
    with pytest.raises(DeviceError, match=r"expected a CUDA toolkit that builds for sm_70.*needs CUDA 12"):
        cubin(unit("volta/mma.m8n8k4.f32.f16.f16.f32").spec)


@pytest.mark.parametrize(
    "name", ["hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32", "ampere/emulated.mma.m8n8k4.f32.f16.f16.f32"]
)
def test_emulations_are_seen_to_be_some(name: str) -> None:
    """fp8 on sm_90 is two HMMA and FADDs, fp16 m8n8k4 on sm_80 scalar: built when asked for as emulated."""
    tools()
    made = cubin(unit(name).spec)
    assert ("2 HMMA.16816.F32" if "e4m3" in name else "FFMA") in made.instruction


def test_products_of_four_bits_are_two_of_bytes() -> None:
    """On sm_90: the compiler adds c to both with an addition that saturates, once."""
    tools()
    assert cubin(unit("hopper/mma.m16n8k64.satfinite.s32.s4.u4.s32").spec).instruction == "IMMA.16832.S8.U8"
    assert cubin(unit("ada/mma.m16n8k64.satfinite.s32.s4.u4.s32").spec).instruction == "IMMA.16864.S4.U4.SAT"


def test_saturation_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that wraps is none of the unit that saturates, nor the reverse."""
    tools()
    names = "ada/mma.m16n8k32.s32.s8.s8.s32", "ada/mma.m16n8k32.satfinite.s32.s8.s8.s32"
    specs = [unit(name).spec for name in names]
    made = [kernel(spec) for spec in specs]
    for spec, its, other in zip(specs, made, made[::-1], strict=True):
        wrong = replace(other, mnemonic=its.mnemonic)
        monkeypatch.setattr(cuda, "kernel", lambda _, x=wrong: x)
        with pytest.raises(DeviceError, match="no matrix instruction of this name"):
            cubin(spec)


def test_an_emulated_instruction_rejects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for as a hardware instruction, a composition is refused with what stands in its place."""
    tools()
    real = unit("ada/mma.m16n8k32.f32.e4m3.e4m3.f32").spec
    made = kernel(unit("hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32").spec)
    monkeypatch.setattr(cuda, "kernel", lambda _: made)
    with pytest.raises(
        DeviceError, match=r"expected one QMMA.*sm_90a.*2 HMMA\.16816\.F32.*no matrix instruction"
    ):
        cubin(real)


def test_a_real_instruction_is_no_emulation(monkeypatch: pytest.MonkeyPatch) -> None:
    tools()
    made = kernel(unit("ada/mma.m16n8k32.f32.e4m3.e4m3.f32").spec)
    monkeypatch.setattr(cuda, "kernel", lambda _: made)
    with pytest.raises(DeviceError, match=r"it is one instruction: 1 QMMA"):
        cubin(unit("hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32").spec)


def test_wrong_ptx_rejects() -> None:
    by = tools(compilers.Nvcc)
    if not by.version.startswith("nvcc 13.0"):
        pytest.skip(f"known of nvcc 13.0, and this is {by.version}")
    with pytest.raises(DeviceError, match=r"expected .* to build mma.sync.*ue8m0 for sm_120a.*scale_vec::4X"):
        cubin(unit(REFUSED).spec, by)


def test_units_without_a_probe_reject() -> None:
    for name in ("x86/vdpbf16ps", "cdna3/v_mfma_f32_32x32x8_f16", "tfdpa@products=4"):
        with pytest.raises(DeviceError, match="expected a unit of an NVIDIA GPU"):
            kernel(unit(name).spec)


def test_every_nvidia_unit_has_a_kernel() -> None:
    names = [name for name in catalogue() if name.partition("/")[0] in NVIDIA]
    sources = Counter(kernel(catalogue()[name]).source for name in names)
    assert sum(sources.values()) == len(names)
    assert set(sources) == {"mma.cu", "wgmma.cu", "tcgen05.cu", "dp4a.cu"}


def test_missing_tools_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """No compiler of any kind, and no disassembler."""

    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(compilers, "tool", lambda _: None)
    monkeypatch.setattr(cuda, "tool", lambda _: None)
    monkeypatch.setattr(compilers, "import_module", absent)
    compilers.compiler.cache_clear()
    with pytest.raises(DeviceError, match=r"expected a compiler for CUDA, nvcc or NVRTC .*pip install"):
        compilers.compiler()
    with pytest.raises(DeviceError, match="expected the CUDA compiler nvcc"):
        compilers.Nvcc()
    with pytest.raises(DeviceError, match=r"expected the package cuda\.core"):
        compilers.CoreNvrtc()
    with pytest.raises(DeviceError, match=r"tcformal\[cuda\].*nobody knows"):
        cuda.disassembler()
    assert "expected a compiler" in cuda.build("hopper/mma.m16n8k16.f32.f16.f16.f32")


def test_either_disassembler_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "tool", lambda name: name if name == "cuobjdump" else None)
    assert cuda.disassembler() == ("cuobjdump", "-sass")


def test_kernels_are_built_beforehand() -> None:
    """For another process: nothing is returned, or why there is none."""
    tools()
    assert cuda.build("hopper/mma.m16n8k16.f32.f16.f16.f32") == ""
    assert "expected a unit of an NVIDIA GPU" in cuda.build("x86/vdpbf16ps")


CAPABILITY = {"turing": (7, 5), "ampere": (8, 0), "hopper": (9, 0), "rtx-blackwell": (12, 0)}
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


def test_a_gpu_runs_a_plan_of_integers(tmp_path: Path) -> None:
    """Directed inputs overflow, so that one that saturates is told from one that wraps."""
    tools()
    wraps, saturates = "ampere/mma.m16n8k32.s32.s8.u8.s32", "ampere/mma.m16n8k32.satfinite.s32.s8.u8.s32"
    plan = make_plan(unit(wraps).spec, list(directed(unit(wraps).spec)), vectors=24, seed=1)
    assert run_plan(plan, CudaDevice("0", HostCard(wraps)), tmp_path / "same").mismatches == 0
    assert run_plan(plan, CudaDevice("0", HostCard(saturates)), tmp_path / "other").mismatches > 0


def test_a_sparse_instruction_and_its_sum_are_not_taken_for_each_other(tmp_path: Path) -> None:
    """On the GPU each has its own kernel, and kept outputs of one are none of the other."""
    tools()
    name, dense = "ampere/mma.sp.m16n8k16.f32.bf16.bf16.f32", AMPERE
    device, spec = CudaDevice("0", HostCard(AMPERE)), unit(name).spec
    paths = []
    for mine, instruction in ((dense, "HMMA.1688.F32.BF16"), (name, "HMMA.SP.16816.F32.BF16")):
        plan = make_plan(unit(mine).spec, [], vectors=24, seed=1)
        outcome = run_plan(plan, device, tmp_path)
        assert outcome.device["instruction"] == instruction
        assert outcome.path == tmp_path / "hardware" / "Simulated-A100" / f"{mine}.jsonl"
        paths.append(outcome.path)
    x = batch(spec, spec.k, 24, 1)
    for path, mine, other in zip(paths, (dense, name), (name, dense), strict=True):
        recorded = RecordedDevice(str(path))
        assert (recorded.run(unit(mine).spec, x) == replay(spec, x)).all()
        with pytest.raises(DeviceError, match=f"to hold results of {re.escape(other)}, but it holds"):
            recorded.run(unit(other).spec, x)


def test_an_instruction_without_selection_is_no_sparse_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tools()
    sparse, made = unit("ampere/mma.sp.m16n8k32.f32.f16.f16.f32").spec, kernel(unit(AMPERE).spec)
    wrong = replace(made, mnemonic=kernel(sparse).mnemonic)
    monkeypatch.setattr(cuda, "kernel", lambda _: wrong)
    with pytest.raises(DeviceError, match=r"makes 1 HMMA\.1688\.F32\.BF16 of it"):
        cubin(sparse)


@pytest.mark.slow
def test_a_gpu_has_a_campaign(tmp_path: Path) -> None:
    """Kernels built beforehand, every place of a tile, and the instruction in the summary."""
    tools()
    clock = Clock()
    device = CudaDevice("0", HostCard(AMPERE))
    sparse = "ampere/mma.sp.m16n8k16.f32.bf16.bf16.f32"
    options = {
        "seconds": 1e6, "clock": clock, "pool": Inline(), "units": [AMPERE, sparse], "answers": tmp_path
    }  # fmt: skip
    found = Campaign(device, tmp_path, vectors=600, **options).run()  # type: ignore[arg-type]
    assert found.complete
    facts, selected = found.data()["units"]
    assert (facts["unit"], facts["instruction"]) == (AMPERE, "HMMA.1688.F32.BF16")
    assert (selected["unit"], selected["instruction"]) == (sparse, "HMMA.SP.16816.F32.BF16")
    assert facts["positions"]["outputs"] == {facts["positions"]["model"]: 256}
    (pair,) = found.data()["same_inputs"]
    assert (pair["first"], pair["second"], pair["differing"]) == (AMPERE, sparse, 0)
    assert found.device["driver"] == "580.1"
    missing = "ampere/mma.m16n8k16.f64"
    with pytest.raises(InputError, match="expected a known unit"):
        Campaign(device, tmp_path, **(options | {"units": [missing]}))  # type: ignore[arg-type]
    other = Campaign(device, tmp_path, **(options | {"units": ["hopper/wgmma.m64n8k16.f16.f16.f16"]}))  # type: ignore[arg-type]
    with pytest.raises(DeviceError, match="expected a GPU of hopper"):
        other.run()


@pytest.mark.parametrize(
    "name",
    [
        AMPERE, "ampere/mma.m8n8k4.f64.f64.f64.f64", "turing/mma.m8n8k4.f32.f16.f16.f16",
        "hopper/wgmma.m64n24k16.f32.bf16.bf16",
        pytest.param("hopper/wgmma.m64n8k32.f16.e4m3.e5m2", marks=pytest.mark.long),
        pytest.param("hopper/wgmma.m64n104k8.f32.tf32.tf32", marks=pytest.mark.long),
        "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
    ],
)  # fmt: skip
def test_every_place_of_a_tile_is_used(name: str) -> None:
    """Whatever the shape: as many dot products as a tile has places give the model's results, twice."""
    tools()
    spec = unit(name).spec
    count = spec.m * spec.n + 3
    x = batch(spec, spec.k, count, 1)
    capability = CAPABILITY[name.partition("/")[0]]
    card = HostCard(name, capability)
    device = CudaDevice("0", card)
    first, second = device.twice(spec, x)
    model = replay(spec, x)
    assert (first == model).all()
    assert (second == model).all()
    uploads = card.uploads
    device.run(spec, x)
    assert card.uploads == uploads


def test_what_the_driver_says_is_one_sentence() -> None:
    tools()
    spec = unit(AMPERE).spec
    x = batch(spec, 8, 20, 1)
    device = CudaDevice("0", HostCard(AMPERE, broken="CUDA_ERROR_ILLEGAL_ADDRESS: it is\nwrong"))
    with pytest.raises(DeviceError, match=r"^expected Simulated A100 to run a kernel, but .*ADDRESS: it is$"):
        device.run(spec, x)


def test_a_gpu_of_another_architecture_rejects() -> None:
    for capability, sentence in (((9, 0), "sm_90, hopper"), ((6, 1), "the catalogue does not know")):
        with pytest.raises(DeviceError, match=rf"expected a GPU of ampere.*{sentence}"):
            CudaDevice("0", HostCard(AMPERE, capability)).identify(unit(AMPERE).spec, 8)
    with pytest.raises(DeviceError, match="expected dot products of 8 terms"):
        CudaDevice("0", HostCard(AMPERE)).identify(unit(AMPERE).spec, 16)
    assert [a.unit for a in CudaDevice("0", HostCard(AMPERE)).abilities()] == [
        "ampere/mma.…",
        "ampere/emulated.mma.…",
        "ampere/dp4a.…",
        "ampere/mma.sp.…",
    ]
    assert ListedGpu("cuda:0", "old", None).abilities()[0].missing


def test_absent_gpus_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """No package, no driver, no GPU, fewer GPUs than asked for, and one that brings back other bytes."""

    class Absent(HostCard):
        found: object = ModuleNotFoundError("no such package")

        def __init__(self, index: int) -> None:
            super().__init__(AMPERE)

        @classmethod
        def count(cls) -> int:
            if isinstance(cls.found, Exception):
                raise cls.found
            assert isinstance(cls.found, int)
            return cls.found

    class Forgetful(Absent):
        library = "forgetful"

        def get(self, memory: object, size: int) -> Raw:
            return np.zeros(size, np.uint8)

    monkeypatch.setattr(cards, "CoreCard", Absent)
    monkeypatch.setattr(cards, "supported", lambda: None)  # the machine's own driver, where it has one
    with pytest.raises(DeviceError, match=r"tcformal\[cuda\].*cuda-core is not installed$"):
        list(cuda.gpus())
    Absent.found = RuntimeError("no libcuda\nmore")
    with pytest.raises(DeviceError, match=r"cuda-core says: no libcuda$"):
        CudaDevice("0")
    Absent.found = 0
    with pytest.raises(DeviceError, match="finds none"):
        CudaDevice("0")
    Absent.found = 2
    with pytest.raises(DeviceError, match=r"expected a GPU below 2, .* cuda:7"):
        CudaDevice("7")
    assert next(cuda.gpus()).description == "Simulated A100 (sm_80)"
    assert CudaDevice("0").identify(unit(AMPERE).spec, 8)["library"] == "a simulation"
    monkeypatch.setattr(cards, "CoreCard", Forgetful)
    with pytest.raises(DeviceError, match="bring back the bytes"):
        CudaDevice("0")
