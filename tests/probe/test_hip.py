"""The HIP probes: built and seen for every unit, their layouts simulated, and the device around them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tcformal.design.catalog import catalogue
from tcformal.design.unit import UnitSpec
from tcformal.errors import DeviceError, InputError
from tcformal.models import unit
from tcformal.probe import hip
from tcformal.probe.directed import directed
from tcformal.probe.hip import Amd, HipDevice, gpus
from tcformal.probe.mfma import TARGETS, Mfma, mfma
from tcformal.probe.plan import make_plan
from tcformal.probe.replay import replay
from tcformal.probe.run import run_plan
from tcformal.probe.sources import sources
from tcformal.probe.tiles import Places, placed
from tcformal.query.families import Batch, Raw, batch

HERE = Path(__file__).parent
AMD = [name for name in catalogue() if name.partition("/")[0] in TARGETS]

#: One unit per kind of operands, shape of the layout, and architecture.
UNITS = [
    "cdna1/v_mfma_f32_32x32x8f16", "cdna1/v_mfma_f32_16x16x4f16", "cdna1/v_mfma_f32_4x4x2bf16",
    "cdna1/v_mfma_f32_32x32x1f32", "cdna2/v_mfma_f64_16x16x4f64", "cdna2/v_mfma_f64_4x4x4f64",
    "cdna2/v_mfma_f32_32x32x4bf16_1k", "cdna2/v_mfma_f32_16x16x4f32", "cdna3/v_mfma_f32_32x32x8_bf16",
    "cdna3/v_mfma_f32_4x4x4_16b_f16", "cdna3/v_mfma_f32_16x16x8_xf32", "cdna3/v_mfma_f32_16x16x32_bf8_fp8",
    "cdna3/v_mfma_f32_32x32x16_fp8_fp8", "cdna3/v_mfma_f32_16x16x1_4b_f32",
]  # fmt: skip


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
    made = hip.seen(unit(name).spec)
    assert made.made.mnemonic == name.partition("/")[2]
    assert "clang" in made.compiler


@pytest.mark.long
@pytest.mark.parametrize("arch", TARGETS)
def test_every_instruction_is_built_and_seen(arch: str) -> None:
    tools()
    for name in AMD:
        if name.startswith(f"{arch}/"):
            hip.seen(unit(name).spec)


def test_another_instruction_rejects(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that was asked for must be there."""
    tools()
    other = mfma(unit("cdna3/v_mfma_f32_16x16x16_f16").spec)
    wanted = mfma(unit("cdna3/v_mfma_f32_32x32x8_f16").spec)
    wrong = Mfma(wanted.target, other.header, other.intrinsic, wanted.mnemonic, 1)
    monkeypatch.setattr(hip, "mfma", lambda _: wrong)
    with pytest.raises(
        DeviceError, match=r"expected one v_mfma_f32_32x32x8_f16 .* makes v_mfma_f32_16x16x16_f16"
    ):
        hip.seen(unit("cdna3/v_mfma_f32_32x32x8_f16").spec)


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
def where_ab(rows: int, k: int, blocks: int, per_lane: int) -> dict[tuple[int, int, int], tuple[int, int]]:
    """(block, row, k) -> lane and item, as AMD's manual gives them: from the element to the register."""
    return {
        (b, i, j): (i + rows * (b + blocks * (j // per_lane)), j % per_lane)
        for b in range(blocks) for i in range(rows) for j in range(k)
    }  # fmt: skip


def where_cd(m: int, n: int, blocks: int, high: int) -> dict[tuple[int, int, int], tuple[int, int]]:
    """(block, row, column) -> lane and item, likewise."""
    across = -(-64 * high // (m * n))
    down = 64 // across // n
    groups = m // (high * down)
    return {
        (b, i, j): (
            j + n * (i // high % down + down * (b % across)),
            i % high + high * (i // (high * down) + groups * (b // across)),
        )
        for b in range(blocks) for i in range(m) for j in range(n)
    }  # fmt: skip


def test_layouts_known_by_measurement() -> None:
    """fp64 16x16x4 as measured on an MI250: lane t has A[t % 16][t / 16], D[t / 16 + 4 e][t % 16]."""
    a, d = where_ab(16, 4, 1, 1), where_cd(16, 16, 1, 1)
    assert all(a[0, t % 16, t // 16] == (t, 0) for t in range(64))
    assert all(d[0, t // 16 + 4 * e, t % 16] == (t, e) for t in range(64) for e in range(4))


def multiplied(spec: UnitSpec, blocks: int, items: int, out: bytes) -> bytes:
    """The instruction on the items of 64 lanes."""
    o, high = spec.operands, 1 if spec.operands.d.name == "fp64" else 4
    count = spec.m * spec.n * blocks // 64
    lane = np.dtype([
        ("a", f"u{o.a.storage_bits // 8}", items), ("b", f"u{o.b.storage_bits // 8}", items),
        ("c", f"u{o.c.storage_bits // 8}", count),
    ])  # fmt: skip
    regs = np.frombuffer(out, lane)
    assert len(regs) == 64

    def taken(name: str, at: dict[tuple[int, int, int], tuple[int, int]], *shape: int) -> Raw:
        values: NDArray[np.uint64] = np.zeros((blocks, *shape), np.uint64)
        held = regs[name].reshape(64, -1)
        assert len(set(at.values())) == len(at) == held.size
        for place, (t, i) in at.items():
            values[place] = held[t, i]
        return values

    a = taken("a", where_ab(spec.m, spec.k, blocks, items), spec.m, spec.k)
    b = taken("b", where_ab(spec.n, spec.k, blocks, items), spec.n, spec.k)
    at = where_cd(spec.m, spec.n, blocks, high)
    c = taken("c", at, spec.m, spec.n)
    x, i, j = (v.reshape(-1) for v in np.indices(c.shape))
    product = replay(spec, Batch(a[x, i], b[x, j], c[x, i, j])).reshape(c.shape)
    d = np.zeros((64, count), regs["c"].dtype)
    for place, (t, item) in at.items():
        d[t, item] = product[place]
    return d.tobytes()


@pytest.mark.parametrize("name", UNITS)
def test_a_probe_computes_the_matrix_product(name: str, tmp_path: Path) -> None:
    """Operands go through the probe's loads, the layouts of the manual, and the probe's stores."""
    if shutil.which("g++") is None:
        pytest.skip("no C++ compiler (g++) builds the simulation here")
    spec = unit(name).spec
    made = mfma(spec)
    (tmp_path / "instruction.h").write_text(made.header)
    program = tmp_path / "simulated"
    subprocess.run(
        ["g++", "-std=c++17", "-O1", "-w", "-DSIMULATED", "-I", str(HERE), "-I", str(tmp_path),
         "-I", str(sources("hip")), "-x", "c++", str(HERE / "simulated_hip.cc"), "-o", str(program)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    n = made.blocks * min(spec.m, spec.n)
    x = batch(spec, spec.k, n, 1)
    at = Places.of(n, spec.m, spec.n)
    tiles = placed(spec, x, at)
    data = b"".join(np.ascontiguousarray(v).tobytes() for v in (tiles.a, tiles.b, tiles.c))
    items = int(made.header.partition("ITEMS_AB ")[2].split()[0])

    def run(mode: str, more: bytes = b"") -> bytes:
        words = [str(program), mode, str(at.count)]
        return subprocess.run(words, input=data + more, check=True, capture_output=True).stdout

    d = np.frombuffer(run("results", multiplied(spec, made.blocks, items, run("operands"))), tiles.c.dtype)
    d = d.reshape(tiles.c.shape)
    assert (d[at.tile, at.row, at.column] == replay(spec, x)).all()


# -------------------------------------------------------------------------------------------- device
#: A program in place of the one that hipcc builds: it lists GPUs, and computes with a model.
PROGRAM = """#!{python}
import sys
import numpy as np
sys.path.insert(0, {root!r})
if sys.argv[1] == "devices":
    print({listed!r})
    sys.exit()
from tcformal.models import unit
from tcformal.probe.replay import replay
from tcformal.query.families import Batch
s = unit({model!r}).spec
data = sys.stdin.buffer.read()
t = int(np.frombuffer(data[:8], np.uint64)[0])
rest, parts = data[8:], []
for fmt, shape in ((s.a_format, (s.m, s.k)), (s.b_format, (s.n, s.k)), (s.c_format, (s.m, s.n))):
    size = t * shape[0] * shape[1] * fmt.storage_bits // 8
    x = np.frombuffer(rest[:size], f"u{{fmt.storage_bits // 8}}")
    parts.append(x.reshape(t, *shape).astype(np.uint64))
    rest = rest[size:]
a, b, c = parts
tile, i, j = (x.reshape(-1) for x in np.indices(c.shape))
d = replay(s, Batch(a[tile, i], b[tile, j], c[tile, i, j])).astype(f"u{{s.c_format.storage_bits // 8}}")
sys.stdout.buffer.write(d.tobytes())
{wrong}
"""
CDNA2 = "cdna2/v_mfma_f32_16x16x16f16"


def with_hipcc(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, model: str = CDNA2, wrong: str = "", listed: str = ""
) -> None:
    """A compiler on PATH that builds a program of the above."""
    root = str(Path(__file__).parents[2])
    listed = listed or "gfx90a:sramecc+:xnack-\tAMD Instinct MI210\t60032830"
    text = PROGRAM.format(python=sys.executable, root=root, model=model, wrong=wrong, listed=listed)
    (folder / "made").write_text(text)
    script = folder / "hipcc"
    script.write_text(
        f'#!/bin/sh\nif [ "$1" = --version ]; then echo HIP version {abs(hash(text))}; exit; fi\n'
        f'for last; do :; done\ncp {folder}/made "$last"\nchmod +x "$last"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_a_gpu_runs_a_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the plan over tiles and pipes to the file; an altered model is seen."""
    tools()
    with_hipcc(tmp_path, monkeypatch)
    spec = unit(CDNA2).spec
    plan = make_plan(spec, list(directed(spec))[::200], vectors=300, seed=1)
    outcome = run_plan(plan, HipDevice("0", [Amd(0, "gfx90a")]), tmp_path)
    assert outcome.mismatches == 0
    assert outcome.device["device"] == "AMD Instinct MI210"
    assert outcome.device["instruction"] == "v_mfma_f32_16x16x16f16"
    with_hipcc(tmp_path, monkeypatch, model=f"{CDNA2}@operand_subnormals=kept")
    assert run_plan(plan, HipDevice("0", [Amd(0, "gfx90a")]), tmp_path / "other").mismatches > 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"wrong": "sys.stderr.write('launch: out of memory'); sys.exit(3)"}, "launch: out of memory"),
        ({"wrong": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"}, "ended by SIGSEGV"),
        ({"wrong": "sys.stdout.buffer.write(bytes(4))"}, "results of v_mfma_f32_16x16x16f16, but"),
        ({"listed": "gfx908\tMI100\t1"}, "HIP lists gfx908"),
        ({"listed": "\t"}, "HIP lists no such GPU"),
    ],
)
def test_what_fails_is_one_sentence(
    options: dict[str, str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools()
    with_hipcc(tmp_path, monkeypatch, **options)
    spec = unit(CDNA2).spec
    device = HipDevice("0", [Amd(0, "gfx90a")])
    with pytest.raises(DeviceError, match=sentence) as caught:
        run_plan(make_plan(spec, [], vectors=6, seed=1), device, tmp_path)
    assert "\n" not in str(caught.value)


def test_gpus_of_the_system(tmp_path: Path) -> None:
    """As the kernel's driver lists them: processors have no version, GPUs one in decimal."""
    for node, version in (("0", "0"), ("1", "90010"), ("2", "90402"), ("10", "90008"), ("11", "110000")):
        folder = tmp_path / node
        folder.mkdir()
        (folder / "properties").write_text(f"simd_count 440\ngfx_target_version {version}\n")
    found = gpus(tmp_path)
    assert [(g.index, g.target, g.arch) for g in found] == [
        (0, "gfx90a", "cdna2"), (1, "gfx942", "cdna3"), (2, "gfx908", "cdna1"), (3, "gfx1100", None),
    ]  # fmt: skip
    assert gpus(tmp_path / "none") == []
    assert len(HipDevice("1", found).units()) == len([n for n in AMD if n.startswith("cdna3/")])
    assert HipDevice("3", found).abilities()[0].missing
    for k, sentence in ((8, "expected a GPU of cdna2"), (4, "expected a GPU of cdna2")):
        with pytest.raises(DeviceError, match=sentence):
            HipDevice("1", found).identify(unit(CDNA2).spec, k)
    with pytest.raises(DeviceError, match="expected dot products of 16 terms"):
        HipDevice("0", found).identify(unit(CDNA2).spec, 8)
    with pytest.raises(DeviceError, match="the system lists 4"):
        HipDevice("4", found)
    with pytest.raises(InputError, match="expected the number of a GPU"):
        HipDevice("x", found)


def test_missing_tools_are_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(hip, "_ROCM", tmp_path)
    hip.compiler.cache_clear()
    with pytest.raises(DeviceError, match=r"expected clang of ROCm, or of LLVM 17 .* set ROCM_PATH"):
        hip.compiler()
    with pytest.raises(DeviceError, match="expected hipcc of ROCm"):
        hip.program(mfma(unit(CDNA2).spec))
