"""Real instructions of this processor against the models; skipped, with the reason, where it has none."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import pytest

from sampled import only
from tcformal.design.names import resolve
from tcformal.devices import cpu
from tcformal.devices import device as sources
from tcformal.devices.cpu import CpuDevice, system_features
from tcformal.devices.directed import directed
from tcformal.devices.entries import mismatches_in
from tcformal.devices.plan import make_plan
from tcformal.devices.runner import run_plan
from tcformal.devices.runs import read_runs
from tcformal.devices.tiles import Places, Tiles, placed
from tcformal.errors import DeviceError
from tcformal.identification.asker import asker_of
from tcformal.identification.identification import IdentifyVerdict
from tcformal.identification.identify import identified
from tcformal.identification.refutation import compare
from tcformal.semantics.chain import same_definition
from tcformal.simulation.matrix_unit import unit
from tcformal.simulation.operands.batch import Raw, batch

VDP = "x86/vdpbf16ps"
VNNI = ("x86/vpdpbusd", "x86/vpdpbusds", "x86/vpdpwssd", "x86/vpdpwssds")
READY = [a.unit for a in CpuDevice().abilities() if not a.missing]


def needs(name: str) -> None:
    """Skip where this processor cannot run a unit, saying why."""
    for ability in CpuDevice().abilities():
        if ability.unit == name and ability.missing:
            pytest.skip(f"{ability.instruction}: {ability.missing}")


def short(name: str) -> str:
    """A unit's name without what a chain says of NaNs; two products, so that fp64 is quick."""
    return name.replace("products=8", "products=2")


def first_mismatch(path: Path) -> str:
    """The first line of a file of results that has one, clipped: enough to ask again."""
    lines = [line for run in read_runs(path) for line in run.done if mismatches_in(line)]
    return f"{len(lines)} lines, the first: {lines[0]!r:.600}" if lines else ""


@pytest.mark.parametrize("name", [a.unit for a in CpuDevice().abilities()], ids=lambda n: n[:40])
def test_instructions_match_their_models(name: str, tmp_path: Path) -> None:
    """Directed inputs and random ones, NaN payloads included, at two places and under every MXCSR setting."""
    needs(name)
    spec = unit(short(name)).spec
    plan = make_plan(spec, directed(spec), vectors=600, seed=1)
    outcome = run_plan(plan, CpuDevice(), tmp_path)
    assert outcome.mismatches == 0, first_mismatch(outcome.path)
    assert outcome.device["compiler"]


@pytest.mark.long
@pytest.mark.parametrize("name", [VDP, *VNNI])
def test_an_instruction_matches_on_a_million_vectors(name: str, tmp_path: Path) -> None:
    needs(name)
    spec = unit(name).spec
    outcome = run_plan(make_plan(spec, directed(spec), vectors=1_200_000, seed=1), CpuDevice(), tmp_path)
    assert outcome.count > 1_200_000
    assert outcome.mismatches == 0


def test_wrong_designs_of_vdpbf16ps_are_refuted(tmp_path: Path) -> None:
    """Swapped products, kept subnormals, and one rounding fewer: each refuted by an input with a name."""
    needs(VDP)
    spec = unit(VDP).spec
    found = compare(run_plan(make_plan(spec, directed(spec), vectors=0, seed=1), CpuDevice(), tmp_path).path)
    assert found.holds
    refuted = {r.design.name.removeprefix(VDP): r.where for r in found.refuted}
    assert refuted["@order=ascending"].startswith(("align/", "small/"))
    for change in ("operand_subnormals=kept", "result_subnormals=kept", "c_subnormals=kept"):
        assert refuted[f"@{change}"].startswith(("small/", "align/")), refuted
    assert refuted["@nan_rule=word"].startswith("nan/")
    assert refuted["@rounding=RZ"]
    assert {"arm/bfdot.ebf0", "arm/bfdot.ebf1", "x86/tdpbf16ps"} <= refuted.keys()


def test_wrong_designs_of_vpdpbusds_are_refuted(tmp_path: Path) -> None:
    """Sums that wrap, or that saturate product by product, or beside c: refuted where a sum overflows."""
    name = "x86/vpdpbusds"
    needs(name)
    spec = unit(name).spec
    found = compare(run_plan(make_plan(spec, directed(spec), vectors=0, seed=1), CpuDevice(), tmp_path).path)
    assert found.holds
    refuted = {r.design.name.removeprefix(name): r.where for r in found.refuted}
    for change in ("conversion=WRAP-INT32", "products=1", "products=2",
                   "summation=sequential,c_position=first,accumulator=SAT-INT32"):  # fmt: skip
        assert refuted[f"@{change}"].startswith("integer/"), refuted
    assert "x86/vpdpbusd" in refuted or "@conversion=WRAP-INT32" in refuted


def test_an_altered_plan_of_a_chain_is_refuted(tmp_path: Path) -> None:
    """The device runs the instruction, whatever the name supposes of it."""
    name = next((n for n in READY if n.startswith("sequential")), None)
    if name is None:
        pytest.skip("this processor has no fused multiply-add that a probe exists for")
    altered = unit(short(name) + ",product_rounding=RNE-FP32").spec
    plan = make_plan(altered, directed(altered), vectors=0, seed=1)
    assert run_plan(plan, CpuDevice(), tmp_path).mismatches > 0


def test_missing_features_are_said() -> None:
    """A processor without an instruction, a system that says nothing, and another kind of machine."""
    spec = unit(VDP).spec
    for features, machine, sentence in (
        (frozenset({"fma"}), "x86_64", "the processor has no avx512_bf16"),
        (frozenset[str](), "x86_64", "does not say which features"),
        (frozenset({"bf16"}), "aarch64", "an instruction of x86_64, and this machine is aarch64"),
    ):
        device = CpuDevice(features=features, machine=machine)
        with pytest.raises(DeviceError, match=sentence) as caught:
            device.identify(spec, 2)
        assert caught.value.exit_code == 3
    arm = {
        a.unit: a.missing
        for a in CpuDevice(features=frozenset({"bf16", "fp"}), machine="aarch64").abilities()
    }
    assert [name for name, missing in arm.items() if not missing and name.startswith("arm/")] == [
        "arm/bfdot.ebf0",
        "arm/bfmmla.ebf0",
    ]


def test_units_of_other_hardware_reject() -> None:
    with pytest.raises(DeviceError, match="expected the name of a unit that a CPU has"):
        CpuDevice().identify(unit("volta/mma.m8n8k4.f32.f16.f16.f32").spec, 4)
    if VDP in READY:
        with pytest.raises(DeviceError, match="expected dot products of 2 terms"):
            CpuDevice().identify(unit(VDP).spec, 4)


def test_features_of_a_system() -> None:
    assert system_features("processor: 0\nflags\t\t: fma avx512_bf16\n") == {"fma", "avx512_bf16"}
    assert system_features("Features : fp bf16") == {"fp", "bf16"}
    assert system_features("nothing") == frozenset()


def probe_of(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> CpuDevice:
    """A CPU whose probe of the FMA chain has another body."""
    source = folder / "cpu"
    source.mkdir()
    for file in sources.sources("cpu").iterdir():
        (source / file.name).write_text(file.read_text())
    (source / "fma.c").write_text(
        "#include <stdint.h>\n#define M 1\n#define N 1\n"
        "#if defined(__x86_64__)\n#define CONTROL_REGISTER\n#endif\n"
        '#include <stdlib.h>\n#include <signal.h>\ntypedef uint32_t AB, CD;\n#include "probe.h"\n'
        'static const char *prepare(size_t k) { return k == 3 ? "no three" : NULL; }\n'
        "static void compute(const AB *a, const AB *b, const CD *c, CD *d, size_t tiles, size_t k) {\n"
        "(void)a; (void)b; (void)c; (void)k; static int calls; (void)calls;\n"
        f"for (size_t i = 0; i < tiles; i++) {{ {body} }} }}\n"
    )
    monkeypatch.setattr(cpu, "sources", lambda _: source)
    return CpuDevice()


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("d[i] = i;", "wherever it stands"),
        ("d[i] = 0; raise(SIGILL);", "ended by SIGILL"),
        ("d[i] = 0; exit(0);", "0 came"),
        ("d[i] = _mm_getcsr();", "every setting of the control register"),
        ("_mm_setcsr(0x1fbf); d[i] = 0;", "MXCSR was"),
        ("d[i] = ;", "expected .* to build"),
    ],
)
def test_probes_that_misbehave_reject(
    body: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if platform.machine() != "x86_64" or "fma" not in system_features():
        pytest.skip(
            f"the stand-in probe is built for x86_64 with FMA, and this machine is {platform.machine()}"
        )
    device = probe_of(tmp_path, body, monkeypatch)
    spec = unit("sequential@products=2,a_format=fp32,b_format=fp32").spec
    with pytest.raises(DeviceError, match=sentence):
        device.run(spec, batch(spec, 2, 40, 1))
    if "build" not in sentence:
        three = unit("sequential@products=3,a_format=fp32,b_format=fp32").spec
        with pytest.raises(DeviceError, match="no three"):
            device.run(three, batch(three, 3, 4, 1))


def test_no_compiler_rejects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CC", raising=False)
    cpu._compiler.cache_clear()
    with pytest.raises(DeviceError, match="expected a C compiler"):
        cpu._compiler()
    cpu._compiler.cache_clear()


def test_sources_are_found_or_missed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert (sources.sources("cpu") / "probe.h").exists()
    with pytest.raises(DeviceError, match="hw_probes/none"):
        sources.sources("none")
    installed = tmp_path / "tcformal"
    (installed / "hw_probes" / "cpu").mkdir(parents=True)
    monkeypatch.setattr(sources, "_PACKAGE", installed)
    assert sources.sources("cpu") == installed / "hw_probes" / "cpu"


def test_places_are_independent() -> None:
    """In a tile no two dot products share a row or a column, and in time every row meets every column."""
    for m, n in ((16, 8), (8, 8), (64, 24), (1, 1), (2, 2)):
        at = Places.of(4 * m * n * min(m, n), m, n)
        keys = np.stack([at.tile, at.row], axis=1), np.stack([at.tile, at.column], axis=1)
        for key in keys:
            assert len(np.unique(key, axis=0)) == len(key)
        assert len(np.unique(at.row * n + at.column)) == m * n


def test_tiles_hold_the_batch() -> None:
    spec = unit("rtx-blackwell/mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0").spec
    x = batch(spec, spec.k, 50, 1)
    at = Places.of(50, 16, 8)
    tiles: Tiles = placed(spec, x, at)
    scale: Raw | None = tiles.scale_b
    assert scale is not None
    assert x.scale_b is not None
    for i in range(50):
        t, row, column = at.tile[i], at.row[i], at.column[i]
        assert (tiles.a[t, row] == x.a[i]).all()
        assert (tiles.b[t, column] == x.b[i]).all()
        assert tiles.c[t, row, column] == x.c[i]
        assert (scale[t, column] == x.scale_b[i]).all()


def test_formats_alone_choose_the_instruction(tmp_path: Path) -> None:
    """One instruction of most processors takes bf16 in pairs; others of its formats have another K."""
    if VDP not in READY:
        pytest.skip("this processor has no vdpbf16ps")
    assert asker_of(CpuDevice(), "bf16,bf16,fp32,fp32", 2, None, None, tmp_path).spec == unit(VDP).spec


@pytest.mark.parametrize("name", only([VDP], ["x86/vfmulcph.im", "x86/vfmaddcph.re", "x86/vfmadd231ph", VDP]))
def test_an_instruction_is_identified_from_formats_alone(name: str, tmp_path: Path) -> None:
    """Instructions of one processor keep their answers apart."""
    needs(name)
    for unit_name in (name, "x86/vfcmaddcph.re") if name.startswith("x86/vfm") else (name,):
        spec = unit(unit_name).spec
        asker = asker_of(CpuDevice(), None, spec.k, None, unit_name, tmp_path)
        found = identified(asker, vectors=2000)
        assert found.verdict is IdentifyVerdict.IDENTIFIED, found.reason
        assert any(same_definition(resolve(x), spec, spec.k) for x in found.classes[0])
