"""The HIP probes: built and seen for every unit, their layouts simulated, and the device around them."""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from executors import Inline
from hosthip import AMD, SimulatedHip, layouts, places, simulated_rocm
from inline import Clock
from mfma_layouts import D_F64_4X4X4, A, D
from sampled import one_in
from tcformal.devices import device as folders
from tcformal.devices import hip, listing, work
from tcformal.devices.campaign import Campaign
from tcformal.devices.directed import directed
from tcformal.devices.hip import TARGETS, HipDevice, HipRuntime, MatrixInstruction, matrix_instruction
from tcformal.devices.isolated import opened
from tcformal.devices.listing import Topology, topology
from tcformal.devices.plan import make_plan
from tcformal.devices.runner import run_plan
from tcformal.errors import DeviceError, InputError
from tcformal.query.pairs.pool import SturdyPool
from tcformal.simulation.matrix_unit import replay, unit
from tcformal.simulation.operands.batch import Batch, Raw, batch

#: One unit per kind of operands, shape of the layout, and architecture.
UNITS = [
    "cdna1/v_mfma_f32_32x32x8f16", "cdna1/v_mfma_f32_16x16x4f16", "cdna1/v_mfma_f32_4x4x2bf16",
    "cdna1/v_mfma_f32_32x32x1f32", "cdna2/v_mfma_f64_16x16x4f64", "cdna2/v_mfma_f64_4x4x4f64",
    "cdna2/v_mfma_f32_32x32x4bf16_1k", "cdna2/v_mfma_f32_16x16x4f32", "cdna3/v_mfma_f32_32x32x8_bf16",
    "cdna3/v_mfma_f32_4x4x4_16b_f16", "cdna3/v_mfma_f32_16x16x8_xf32", "cdna3/v_mfma_f32_16x16x32_bf8_fp8",
    "cdna3/v_mfma_f32_32x32x16_fp8_fp8", "cdna3/v_mfma_f32_16x16x1_4b_f32",
    "cdna1/v_mfma_i32_16x16x16i8", "cdna2/v_mfma_i32_4x4x4i8", "cdna2/v_mfma_i32_32x32x4i8",
    "cdna3/v_mfma_i32_16x16x32_i8", "cdna3/v_mfma_i32_32x32x16_i8", "cdna3/v_mfma_i32_32x32x4_2b_i8",
    "cdna3/v_smfmac_f32_16x16x32_f16", "cdna3/v_smfmac_f32_32x32x16_bf16", "cdna3/v_smfmac_i32_16x16x64_i8",
    "cdna3/v_smfmac_f32_32x32x32_bf8_fp8",
    "rdna3/v_wmma_i32_16x16x16_iu8.u8.i8.clamp", "rdna3/v_wmma_i32_16x16x16_iu4.i4.u4",
    "rdna4/v_wmma_i32_16x16x16_iu8.i8.i8.clamp", "rdna4/v_wmma_i32_16x16x16_iu4.u4.u4.clamp",
    "rdna4/v_wmma_i32_16x16x32_iu4.i4.u4", "rdna4/v_swmmac_i32_16x16x32_iu8.i8.u8.clamp",
    "rdna4/v_swmmac_i32_16x16x32_iu4.u4.i4", "rdna4/v_swmmac_i32_16x16x64_iu4.i4.i4.clamp",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    """Compilers are looked for again: tests put their own on the path."""
    yield
    hip.compiler.cache_clear()
    hip.disassembler.cache_clear()


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
    hip.compiler.cache_clear()
    hip.disassembler.cache_clear()
    monkeypatch.setenv("ROCM_PATH", str(folder))
    monkeypatch.setenv("PATH", str(folder / "bin"), prepend=":")
    monkeypatch.setenv("SIMULATED_TARGET", "gfx90a:sramecc+:xnack-")


CDNA2, F64 = "cdna2/v_mfma_f32_16x16x16f16", "cdna2/v_mfma_f64_4x4x4f64"


def tools() -> None:
    """Skip where there is no compiler or disassembler for AMD's GPUs, saying which."""
    try:
        hip.compiler()
        hip.disassembler()
    except DeviceError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", UNITS)
def test_an_instruction_is_built_and_seen(name: str) -> None:
    tools()
    kernel = hip.code_object(unit(name).spec)
    assert kernel.made.mnemonic.split()[0] == name.partition("/")[2].partition(".")[0]
    assert "clang" in kernel.compiler
    assert kernel.path.read_bytes()[:4] == b"\x7fELF"  # what HIP loads, not a bundle


@pytest.mark.long
@pytest.mark.parametrize("arch", TARGETS)
def test_every_instruction_is_built_and_seen(arch: str) -> None:
    tools()
    for name in AMD:
        if name.startswith(f"{arch}/"):
            assert hip.build(name) == ""


def test_another_instruction_rejects(monkeypatch: pytest.MonkeyPatch, host: Path) -> None:
    """The one that was asked for must be there."""
    other = matrix_instruction(unit("cdna3/v_mfma_f32_16x16x16_f16").spec)
    wanted = matrix_instruction(unit("cdna3/v_mfma_f32_32x32x8_f16").spec)
    wrong = MatrixInstruction(wanted.target, other.header, other.intrinsic, wanted.mnemonic, 1, 64)
    monkeypatch.setattr(hip, "matrix_instruction", lambda _: wrong)
    with pytest.raises(
        DeviceError, match=r"expected one v_mfma_f32_32x32x8_f16 .* makes v_mfma_f32_16x16x16_f16"
    ):
        hip.code_object(unit("cdna3/v_mfma_f32_32x32x8_f16").spec)
    assert "expected one v_mfma" in hip.build("cdna3/v_mfma_f32_32x32x8_f16")


@pytest.mark.parametrize("other", ["i8.i8", "i8.u8.clamp"])
def test_other_signs_and_no_clamp_reject(other: str, monkeypatch: pytest.MonkeyPatch, host: Path) -> None:
    """The same mnemonic with other signs, or one that wraps, is another unit's."""
    name = "rdna4/v_wmma_i32_16x16x16_iu8"
    wanted = matrix_instruction(unit(f"{name}.i8.i8.clamp").spec)
    built = matrix_instruction(unit(f"{name}.{other}").spec)
    wrong = dataclasses.replace(built, mnemonic=wanted.mnemonic)
    monkeypatch.setattr(hip, "matrix_instruction", lambda _: wrong)
    with pytest.raises(DeviceError, match=f"makes {re.escape(built.mnemonic)} of"):
        hip.code_object(unit(f"{name}.i8.i8.clamp").spec)


def test_hipcc_is_told_that_the_gpu_is_amds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is the only compiler: with nvcc on the path it would build for NVIDIA."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(hip, "_CLANGS", ("amdclang++", "hipcc"))
    use(simulated_rocm(tmp_path / "rocm", compiler="hipcc"), monkeypatch)
    monkeypatch.delenv("HIP_PLATFORM", raising=False)
    kernel = hip.code_object(unit(CDNA2).spec)
    assert kernel.made.mnemonic == "v_mfma_f32_16x16x16f16"
    monkeypatch.setattr(hip, "_PLATFORM", {"HIP_PLATFORM": "nvidia"})
    assert "this is a machine of NVIDIA's" in hip.build("cdna2/v_mfma_f32_16x16x4f32")


def test_every_unit_has_a_kernel() -> None:
    assert len(AMD) > 60
    for name in AMD:
        made = matrix_instruction(unit(name).spec)
        mnemonic, *more = name.partition("/")[2].split(".")
        assert made.mnemonic.split()[0] == mnemonic
        # Signs and clamp of integers, without which another unit's instruction would be taken for it.
        assert ("clamp" in made.mnemonic) == ("clamp" in more)
        assert ("neg_lo:[1,0,0]" in made.mnemonic) == (more[:2] in (["i8", "u8"], ["i4", "u4"]))
        assert made.blocks in (1, 2, 4, 16)
    for name in (
        "x86/vdpbf16ps", "hopper/mma.m16n8k16.f32.f16.f16.f32", "rdna3/v_wmma_f32_16x16x16_f16",
        "rdna4/v_swmmac_f32_16x16x32_f16",
    ):  # fmt: skip
        with pytest.raises(DeviceError, match=r"expected a matrix instruction of an AMD GPU .* but got"):
            matrix_instruction(unit(name).spec)


# ---------------------------------------------------------------------------------------- simulation
def test_layouts_as_they_are_printed() -> None:
    """Every lane of v_mfma_f64_4x4x4; fp64 16x16x4 as measured on an MI250; every place of a lane once."""
    for b, i, j in product(range(4), repeat=3):
        assert D[4, 4, "fp64"](b, i, j) == (D_F64_4X4X4[b][i][j], 0)
    a, d = A[16, 4, 1], D[16, 1, "fp64"]
    assert all(a(0, t % 16, t // 16) == (t, 0) for t in range(64))
    assert all(d(0, t // 16 + 4 * e, t % 16) == (t, e) for t in range(64) for e in range(4))
    for name in AMD:
        spec, made = unit(name).spec, matrix_instruction(unit(name).spec)
        at_a, at_b, at_d = layouts(spec)
        for where, shape in (
            (at_a, (spec.m, spec.k)),
            (at_b, (spec.n, spec.k * (1 + spec.sparse))),
            (at_d, (spec.m, spec.n)),
        ):
            # On RDNA3 half of the lanes hold A and B, and the others the same again.
            lanes = 16 if spec.arch == "rdna3" and where is not at_d else made.lanes
            found = sorted(places(where, made.blocks, *shape).values())
            assert found == list(product(range(lanes), range(made.blocks * shape[0] * shape[1] // lanes)))


def on_host(folder: Path, name: str, altered: str = "") -> HipDevice:
    """A device whose instructions are a model's."""
    return HipDevice("0", SimulatedHip(folder, name.partition("/")[0], altered))


@pytest.mark.parametrize("name", one_in(3, UNITS))
def test_a_probe_computes_the_matrix_product(name: str, host: Path) -> None:
    """Operands go through the probe's loads, the layouts of AMD's calculator, and the probe's stores."""
    spec = unit(name).spec
    # Of a sparse one, tiles with every index and every word where none is selected.
    tiles = 25 if spec.sparse else matrix_instruction(spec).blocks + 1
    x = batch(spec, spec.k, tiles * min(spec.m, spec.n) + 3, 1)
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
        ("k % 4 == first ?", "k % 4 == 3 - first ?", "cdna3/v_smfmac_f32_16x16x32_f16"),
        ("k / 4 * 2 + 1", "k / 4 * 2", "rdna4/v_swmmac_i32_16x16x32_iu8.i8.u8.clamp"),
        ("e.row = item % high", "e.row = item % 2", "rdna4/v_wmma_i32_16x16x16_iu4.u4.u4.clamp"),
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
    monkeypatch.setattr(hip, "sources", lambda _: tmp_path / "hip")
    spec = unit(name).spec
    x = batch(spec, spec.k, matrix_instruction(spec).blocks * min(spec.m, spec.n), 1)
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


#: Twice as many as there are processes that build.
SEVERAL = [name for name in AMD if name.startswith("cdna2/") and "_4x4x" in name]
#: A compiler waits until another one is at work too; it gives up after a minute.
TOGETHER = """
touch {folder}/started.$$
n=0
while [ $(ls {folder}/started.* | wc -l) -lt 2 ]; do
    n=$((n + 1)); [ $n -gt 600 ] && {{ echo "error: no other compiler runs beside" >&2; exit 1; }}
    sleep 0.1
done
"""


class BuiltElsewhere(Inline):
    """A pool that builds kernels in other processes, and does all else at once in this one."""

    def __init__(self, pool: SturdyPool) -> None:
        super().__init__()
        self._pool = pool

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return (self._pool.submit if fn is hip.build else super().submit)(fn, *args, **kwargs)


@pytest.mark.slow
def test_a_campaign_builds_side_by_side_and_launches_from_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels of many units are loaded and launched by this process, and built by others, two at a time."""
    whole = work.suite

    def short(name: str, store: str) -> work.DirectedBlock:
        made = whole(name, store)
        return dataclasses.replace(made, items=made.items[:48], model=made.model[:48], questions={})

    monkeypatch.setattr(work, "suite", short)
    monkeypatch.setattr(work, "survivors", lambda *_: {"survivors": [], "refuted": {}})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    built = simulated_rocm(tmp_path / "rocm", before=TOGETHER.format(folder=tmp_path))
    use(built, monkeypatch)
    runtime = SimulatedHip(built, "cdna2")
    pool = SturdyPool(2)
    try:
        made = Campaign(
            HipDevice("0", runtime), tmp_path, seconds=1e6, clock=Clock(), pool=BuiltElsewhere(pool), jobs=2,
            vectors=24, units=SEVERAL, answers=tmp_path,
        ).run()  # fmt: skip
    finally:
        pool.shutdown(cancel_futures=True)
    assert made.faults == {}
    assert made.mismatches == 0
    assert runtime.counted("loads") == len(SEVERAL) > 3
    assert runtime.counted("launches") > 4 * len(SEVERAL)
    assert len(list(tmp_path.glob("started.*"))) == len(SEVERAL)  # each was built once, none in this process


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("hipMalloc", r"expected HIP to give \d+ bytes, but it says: unspecified launch failure"),
        ("hipMemset", "expected HIP to clear its memory"),
        ("hipMemcpy", "expected HIP to copy"),
        ("hipModuleLoad", "expected HIP to load a kernel"),
        ("hipModuleGetFunction", "expected HIP to find a kernel"),
        ("hipModuleLaunchKernel", "expected HIP to launch a kernel"),
        ("hipDeviceSynchronize", "expected HIP to run a kernel"),
    ],
)
def test_what_fails_is_one_sentence(
    call: str, sentence: str, host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And gives back its memory; the next launch is as if nothing had been."""
    spec = unit(CDNA2).spec
    x = batch(spec, spec.k, 20, 1)
    runtime = SimulatedHip(host, "cdna2")
    device = HipDevice("0", runtime)
    before = runtime.counted("held")
    monkeypatch.setenv("SIMULATED_FAILURE", call)
    with pytest.raises(DeviceError, match=sentence) as caught:
        device.run(spec, x)
    assert "\n" not in str(caught.value)
    monkeypatch.delenv("SIMULATED_FAILURE")
    assert (device.run(spec, x) == replay(spec, x)).all()
    assert runtime.counted("held") - before == (call == "hipMalloc")  # the one that was not given


def test_what_is_not_there_is_one_sentence(
    host: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No library, no such GPU, a GPU of another kind, a name that is no number, a target that HIP hides."""
    with pytest.raises(
        DeviceError, match=r"expected the library libamdhip64\.so of ROCm, but got: .*ROCM_PATH"
    ):
        HipRuntime(tmp_path / "none.so")
    with pytest.raises(DeviceError, match="expected an AMD GPU as hip:1, but HIP lists 1"):
        HipDevice("1", SimulatedHip(host, "cdna2"))
    for text in ("x", "-1", "1.0", "\u00b2", "9" * 5000):
        with pytest.raises(InputError, match="expected the number of a GPU after hip:") as caught:
            HipDevice(text, SimulatedHip(host, "cdna2"))
        assert len(str(caught.value)) < 120
    device = on_host(host, CDNA2)
    with pytest.raises(DeviceError, match=r"expected a GPU of cdna3 .* gfx90a \(cdna2\)"):
        device.identify(unit("cdna3/v_mfma_f32_32x32x8_f16").spec, 8)
    with pytest.raises(DeviceError, match="expected dot products of 16 terms"):
        device.identify(unit(CDNA2).spec, 8)
    assert device.units() == [name for name in AMD if name.startswith("cdna2/")]
    runtime = SimulatedHip(host, "cdna2")
    monkeypatch.setenv("SIMULATED_TARGET", "gfx1030")
    other = HipDevice("0", runtime)
    assert other.units() == []
    assert other.abilities()[0].missing == "gfx1030 is not in the catalogue"
    monkeypatch.setenv("SIMULATED_TARGET", "")
    with pytest.raises(DeviceError, match="which gfx target the GPU is"):
        HipDevice("0", runtime)


def test_missing_tools_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(hip, "roots", lambda: iter([Path("/nowhere")]))
    hip.compiler.cache_clear()
    hip.disassembler.cache_clear()
    with pytest.raises(DeviceError, match=r"expected clang of ROCm, or of LLVM 17 .* set ROCM_PATH"):
        hip.compiler()
    with pytest.raises(DeviceError, match="expected clang of ROCm"):
        hip.disassembler()


# ------------------------------------------------------------------------------------------- listing
def node(folder: Path, name: str, version: str) -> None:
    """One node of the topology: processors have no version, GPUs one in decimal."""
    (folder / name).mkdir()
    (folder / name / "properties").write_text(
        f"simd_count 440\ngfx_target_version {version}\nodd line here\n"
    )


def test_gpus_of_the_driver(tmp_path: Path) -> None:
    for name, version in (("0", "0"), ("1", "90010"), ("2", "90402"), ("10", "90008"), ("11", "110000")):
        node(tmp_path, name, version)
    (tmp_path / "12").mkdir()
    assert topology(tmp_path) == Topology(["gfx90a", "gfx942", "gfx908", "gfx1100"], [])
    assert topology(tmp_path).note() == ""
    assert topology(tmp_path / "none") == Topology([], [])


def test_nodes_that_refuse_reading_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that was given some of the host's GPUs; the others are listed all the same."""
    for name, version in (("0", "0"), ("2", "90402"), ("3", "90402"), ("10", "90402")):
        node(tmp_path, name, version)
    real = Path.read_text

    def refusing(path: Path, *args: Any, **options: Any) -> str:
        if path.parent.name in ("2", "10"):
            raise PermissionError(1, "Operation not permitted", str(path))
        return real(path, *args, **options)

    monkeypatch.setattr(Path, "read_text", refusing)
    monkeypatch.setattr(listing, "_NODES", tmp_path)
    found = topology(tmp_path)
    assert found == Topology(["gfx942"], ["2", "10"], "Operation not permitted")
    assert "but it refuses node 2 and node 10 (Operation not permitted): " in found.note()
    monkeypatch.setattr(listing, "topology", lambda: found)
    monkeypatch.setattr(listing, "HipRuntime", lambda: HipRuntime(tmp_path / "none.so"))
    devices, notes = listing.devices()
    assert [device.name for device in devices][:1] == ["cpu"]
    about = [note for note in notes if note.startswith("hip: ")]
    assert "expected the library libamdhip64.so" in about[0]
    assert "the driver lists gfx942" in about[0]
    assert about[1] == f"hip: {found.note()}"


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
    monkeypatch.setenv("SIMULATED_TARGET", "gfx1030")
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


def test_gpus_of_amd_are_behind_a_process(host: Path) -> None:
    """Whose kernels are built by others."""
    with opened("hip:0") as device:
        assert device.builder() is hip.build
        assert device.identify(unit(CDNA2).spec, 16)["target"] == "gfx90a"
