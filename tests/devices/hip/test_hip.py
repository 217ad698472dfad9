"""The HIP probes: built and seen for every unit, their layouts simulated, and the device around them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hosthip import AMD, SimulatedHip, simulated_rocm
from tcformal.devices import listing
from tcformal.devices import sources as folders
from tcformal.devices.hip import rocm
from tcformal.devices.hip.hip import HipDevice
from tcformal.devices.hip.mfma import Mfma, mfma
from tcformal.devices.listing import Topology
from tcformal.devices.plan.directed import directed
from tcformal.devices.plan.plan import make_plan
from tcformal.devices.run.run import run_plan
from tcformal.errors import DeviceError
from tcformal.simulation.operands.random import Batch, Raw, batch
from tcformal.simulation.replay import replay
from tcformal.simulation.unit import unit

#: One unit per kind of operands, shape of the layout, and architecture.
UNITS = [
    "cdna1/v_mfma_f32_32x32x8f16", "cdna1/v_mfma_f32_16x16x4f16", "cdna1/v_mfma_f32_4x4x2bf16",
    "cdna1/v_mfma_f32_32x32x1f32", "cdna2/v_mfma_f64_16x16x4f64", "cdna2/v_mfma_f64_4x4x4f64",
    "cdna2/v_mfma_f32_32x32x4bf16_1k", "cdna2/v_mfma_f32_16x16x4f32", "cdna3/v_mfma_f32_32x32x8_bf16",
    "cdna3/v_mfma_f32_4x4x4_16b_f16", "cdna3/v_mfma_f32_16x16x8_xf32", "cdna3/v_mfma_f32_16x16x32_bf8_fp8",
    "cdna3/v_mfma_f32_32x32x16_fp8_fp8", "cdna3/v_mfma_f32_16x16x1_4b_f32",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    """Compilers are looked for again: tests put their own on the path."""
    yield
    rocm.compiler.cache_clear()
    rocm.disassembler.cache_clear()


@pytest.fixture(scope="session")
def made_rocm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated_rocm(tmp_path_factory.mktemp("rocm") / "rocm")


@pytest.fixture
def host(made_rocm: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A simulated ROCm in place of whatever is installed."""
    use(made_rocm, monkeypatch)
    return made_rocm


def use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder the ROCm of this machine, and its programs the first on PATH."""
    rocm.compiler.cache_clear()
    rocm.disassembler.cache_clear()
    monkeypatch.setenv("ROCM_PATH", str(folder))
    monkeypatch.setenv("PATH", str(folder / "bin"), prepend=":")
    monkeypatch.setenv("SIMULATED_TARGET", "gfx90a:sramecc+:xnack-")


CDNA2, F64 = "cdna2/v_mfma_f32_16x16x16f16", "cdna2/v_mfma_f64_4x4x4f64"


def tools() -> None:
    """Skip where there is no compiler or disassembler for AMD's GPUs, saying which."""
    try:
        rocm.compiler()
        rocm.disassembler()
    except DeviceError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", UNITS)
def test_an_instruction_is_built_and_seen(name: str) -> None:
    tools()
    kernel = rocm.code_object(unit(name).spec)
    assert kernel.made.mnemonic == name.partition("/")[2]
    assert "clang" in kernel.compiler
    assert kernel.path.read_bytes()[:4] == b"\x7fELF"  # what HIP loads, not a bundle


def test_another_instruction_rejects(monkeypatch: pytest.MonkeyPatch, host: Path) -> None:
    """The one that was asked for must be there."""
    other = mfma(unit("cdna3/v_mfma_f32_16x16x16_f16").spec)
    wanted = mfma(unit("cdna3/v_mfma_f32_32x32x8_f16").spec)
    wrong = Mfma(wanted.target, other.header, other.intrinsic, wanted.mnemonic, 1)
    monkeypatch.setattr(rocm, "mfma", lambda _: wrong)
    with pytest.raises(
        DeviceError, match=r"expected one v_mfma_f32_32x32x8_f16 .* makes v_mfma_f32_16x16x16_f16"
    ):
        rocm.code_object(unit("cdna3/v_mfma_f32_32x32x8_f16").spec)
    assert "expected one v_mfma" in rocm.build("cdna3/v_mfma_f32_32x32x8_f16")


def test_every_unit_has_a_kernel() -> None:
    assert len(AMD) > 60
    for name in AMD:
        made = mfma(unit(name).spec)
        assert made.mnemonic == name.partition("/")[2]
        assert made.blocks in (1, 2, 4, 16)
    for name in ("x86/vdpbf16ps", "hopper/mma.m16n8k16.f32.f16.f16.f32"):
        with pytest.raises(DeviceError, match="expected a unit of an AMD GPU"):
            mfma(unit(name).spec)


# ---------------------------------------------------------------------------------------- simulation
def on_host(folder: Path, name: str, altered: str = "") -> HipDevice:
    """A device whose instructions are a model's."""
    return HipDevice("0", SimulatedHip(folder, name.partition("/")[0], altered))


@pytest.mark.parametrize("name", UNITS)
def test_a_probe_computes_the_matrix_product(name: str, host: Path) -> None:
    """Operands go through the probe's loads, the layouts of AMD's calculator, and the probe's stores."""
    spec = unit(name).spec
    x = batch(spec, spec.k, (mfma(spec).blocks + 1) * min(spec.m, spec.n) + 3, 1)
    first, second = on_host(host, name).twice(spec, x)
    model = replay(spec, x)
    assert (first == model).all()
    assert (second == model).all()


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        # Blocks before rows: what stood here before AMD's calculator was asked.
        ("(rest / blocks_across + rows_across", "(rest % rows_across + rows_across", F64),
        ("e.block = rest % blocks_across", "e.block = rest / rows_across", F64),
        ("rest / blocks * items + item", "rest % blocks * items + item", "cdna2/v_mfma_f32_16x16x16f16"),
    ],
)
def test_a_wrong_layout_rejects(
    old: str, new: str, name: str, host: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One index wrong in the probe's own layouts gives another product."""
    shutil.copytree(folders.sources("hip"), tmp_path / "hip")
    path = tmp_path / "hip" / "layout.h"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    monkeypatch.setattr(rocm, "sources", lambda _: tmp_path / "hip")
    spec = unit(name).spec
    x = batch(spec, spec.k, mfma(spec).blocks * min(spec.m, spec.n), 1)
    first, _ = on_host(host, name).twice(spec, x)
    assert (first != replay(spec, x)).any()


# -------------------------------------------------------------------------------------------- device
def test_a_gpu_runs_a_plan(tmp_path: Path, host: Path) -> None:
    """From the plan over tiles and launches to the file; an altered model is seen; memory is given back."""
    spec = unit(CDNA2).spec
    plan = make_plan(spec, list(directed(spec))[::200], vectors=60, seed=1)
    runtime = SimulatedHip(host, "cdna2")
    outcome = run_plan(plan, HipDevice("0", runtime), tmp_path)
    assert outcome.mismatches == 0
    assert outcome.device["device"] == "AMD Instinct MI210"
    assert outcome.device["instruction"] == "v_mfma_f32_16x16x16f16"
    assert outcome.device["library"] == "HIP 6.2.41133"
    assert runtime.counted("held") == 0
    altered = on_host(host, CDNA2, "@operand_subnormals=kept")
    assert run_plan(plan, altered, tmp_path / "other").mismatches > 0


# ------------------------------------------------------------------------------------------- listing
def test_a_kernel_is_launched_on_each_gpu(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process of its own: what works says the instruction, what fails says why."""
    monkeypatch.setattr(listing, "topology", lambda: Topology(["gfx90a"], []))
    (gpu,) = [device for device in listing.devices()[0] if device.name == "hip:0"]
    assert gpu.description == "AMD Instinct MI210 (gfx90a)"
    assert (gpu.ran[:6], gpu.fault) == ("v_mfma", "")
    monkeypatch.setenv("SIMULATED_FAILURE", "hipDeviceSynchronize")
    (gpu,) = [device for device in listing.devices()[0] if device.name == "hip:0"]
    assert (gpu.ran, gpu.fault) == (
        "", "expected HIP to run a kernel, but it says: unspecified launch failure"
    )  # fmt: skip
    monkeypatch.delenv("SIMULATED_FAILURE")
    monkeypatch.setenv("SIMULATED_TARGET", "gfx1100")
    (gpu,) = [device for device in listing.devices()[0] if device.name == "hip:0"]
    assert (gpu.ran, gpu.fault) == ("", "")
    assert gpu.abilities[0].missing


def test_a_gpu_that_gives_anything_rejects(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The small kernel's result is known: 0·0 + … + 1."""
    device = on_host(host, CDNA2)
    assert listing.launched(device).startswith("v_mfma")

    def wrong(spec: object, x: Batch) -> Raw:
        return np.zeros(len(x.c), np.uint64)

    monkeypatch.setattr(device, "run", wrong)
    with pytest.raises(DeviceError, match=r"expected hip:0 to give 1 for .* but it gives 0x0"):
        listing.launched(device)
