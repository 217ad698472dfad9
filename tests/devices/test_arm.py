"""The Arm probes, built by a cross compiler and run by QEMU's user mode, the work of other people."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tcformal.devices import cpu
from tcformal.devices.cpu import COMPILER, PACKAGES, QEMU, CpuDevice, Emulator
from tcformal.devices.device import sources
from tcformal.devices.directed import directed
from tcformal.devices.plan import make_plan
from tcformal.devices.registry import open_device
from tcformal.devices.runner import run_plan
from tcformal.devices.runs import read_runs
from tcformal.devices.sealed import SUMMARY
from tcformal.errors import DeviceError
from tcformal.identification.refutation import recheck
from tcformal.simulation.matrix_unit import replay, unit
from tcformal.simulation.operands.batch import batch

ROOT = Path(__file__).parents[2]
UNITS = [name for name in cpu._UNITS if name.startswith("arm/")]
SHORT = "sequential@products=2,a_format={0},b_format={0},c_format={0},d_format={0},nan_word={1}"
CHAINS = {"fp32": SHORT.format("fp32", "0x7fc00000"), "fp64": SHORT.format("fp64", "0x7ff8000000000000")}
KEPT = sorted((ROOT / "results" / "hardware").glob("qemu-*"))

debian = pytest.mark.debian


@pytest.fixture
def emulator() -> Emulator:
    """QEMU's user mode of this machine, with its compiler."""
    found = Emulator.installed()
    assert found is not None, f"expected {QEMU} and {COMPILER} (Debian: {PACKAGES}), but one is missing"
    return found


@debian
@pytest.mark.parametrize("name", UNITS)
def test_emulated_instructions_match_their_models(name: str, emulator: Emulator, tmp_path: Path) -> None:
    """Every directed input and some random ones; an emulator that lacks an instruction says so."""
    device, spec = CpuDevice(features=frozenset(), machine="x86_64", emulator=emulator), unit(name).spec
    (ability,) = [a for a in device.abilities() if a.unit == name]
    if ability.missing:
        assert name.endswith("ebf1")
        assert f"{emulator.name} does not run it" in ability.missing
        assert "FPCR.EBF stays as it is" in ability.missing
        with pytest.raises(DeviceError, match=r"FPCR.EBF stays as it is"):
            device.identify(spec, spec.k)
        return
    assert ability.instruction.endswith(f" through {emulator.name}")
    outcome = run_plan(make_plan(spec, directed(spec), vectors=24_000, seed=1), device, tmp_path)
    assert (outcome.mismatches, outcome.device["device"]) == (0, emulator.name)
    assert emulator.name.startswith("qemu ")
    assert "no hardware" in outcome.device["system"]
    assert outcome.path.is_relative_to(tmp_path / "hardware" / emulator.name.replace(" ", "-") / "arm")


@debian
def test_an_altered_model_is_seen(emulator: Emulator, tmp_path: Path) -> None:
    """Nearest in place of odd, and subnormals kept."""
    device = CpuDevice(features=frozenset(), machine="x86_64", emulator=emulator)
    for change in ("rounding=RNE", "c_subnormals=kept"):
        altered = unit(f"arm/bfdot.ebf0@{change}").spec
        plan = make_plan(altered, list(directed(altered))[::3], vectors=0, seed=1)
        assert run_plan(plan, device, tmp_path).mismatches > 0


@debian
@pytest.mark.parametrize("fmt", CHAINS)
def test_fused_multiply_adds_of_arm(
    fmt: str, emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The probe that an Arm processor would run, which no other processor needs an emulator for."""
    instruction = cpu._FMA["aarch64", fmt]
    script = tmp_path / "run"
    words = " ".join(cpu._emulated(emulator, instruction))
    script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setattr(cpu, "program", lambda _: str(script))
    spec = unit(CHAINS[fmt]).spec
    device = CpuDevice(features=frozenset({"fp"}), machine="aarch64")
    x = batch(spec, spec.k, 6000, 1)
    assert np.array_equal(device.run(spec, x), replay(spec, x))


@debian
def test_probes_compile_without_a_warning(tmp_path: Path) -> None:
    integers = [x.options for unit, x in cpu._UNITS.items() if unit in ("arm/usdot", "arm/ummla")]
    bf16 = ("-march=armv8.2-a+bf16",)
    for name, options in [*(("arm_integers.c", x) for x in integers), ("arm_bfdot.c", bf16),
                          ("arm_bfmmla.c", bf16), ("fma.c", bf16)]:  # fmt: skip
        words = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", *options]
        done = subprocess.run(
            [COMPILER, *words, str(sources("cpu") / name), "-o", str(tmp_path / "out")],
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


@debian
def test_the_processor_is_asked_by_itself(emulator: Emulator) -> None:
    """`cpu` offers what is emulated by its name alone: a campaign of the processor is of the processor."""
    device = CpuDevice(features=frozenset({"fma"}), machine="x86_64", emulator=emulator)
    assert [name.partition("@")[0] for name in device.units()] == ["sequential", "sequential"]
    abilities = {a.unit: a.missing for a in open_device("cpu").abilities()}
    assert abilities["arm/bfdot.ebf0"] == ""


def test_without_an_emulator_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which packages have one; a processor without the extended arithmetic says that too."""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert Emulator.installed() is None
    for machine, features, sentence in (
        ("x86_64", {"fma"}, "an instruction of aarch64, and this machine is x86_64; an emulator would do"),
        ("aarch64", {"fp", "bf16"}, r"the processor has no ebf16; an emulator would do .Debian: qemu-user, "),
    ):
        device = CpuDevice(features=frozenset(features), machine=machine)
        with pytest.raises(DeviceError, match=sentence):
            device.identify(unit("arm/bfdot.ebf1").spec, 2)


def fake(folder: Path, version: str) -> Emulator:
    """An emulator that only says its version."""
    path = folder / QEMU
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "{version}" || exit 9\n')
    path.chmod(0o755)
    (folder / COMPILER).write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo cross 1.0 && exit\nfor out; do :; done\n: >"$out"\n'
    )
    (folder / COMPILER).chmod(0o755)
    found = Emulator.installed()
    assert found is not None
    return found


def test_an_emulator_is_asked_what_it_can_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that cannot run the probe is not believed to have the instruction, whatever its version."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("tcformal.simulation.compilers.cache_folder", lambda: tmp_path)
    found = fake(tmp_path, "qemu-aarch64 version 99.1.2 (other)")
    assert found.name == "qemu 99.1.2"
    device = CpuDevice(features=frozenset(), machine="x86_64", emulator=found)
    missing = {a.unit: a.missing for a in device.abilities()}
    assert all("qemu 99.1.2 does not run it" in missing[name] for name in UNITS)
    assert device.units() == []


@pytest.mark.parametrize("folder", KEPT, ids=lambda p: p.name)
def test_the_kept_campaign_replays(folder: Path) -> None:
    """What the emulator gave is what the models give; its files call it what it is."""
    for found in recheck(folder):
        assert (found.mismatches, found.sealed) == (0, 0)
        assert found.count > 10**5
        assert found.device["device"] == folder.name.replace("-", " ", 1).removesuffix("-integers")
        assert "no hardware" in found.device["system"]
    summary = json.loads((folder / SUMMARY).read_text())
    assert summary["device"]["device"].startswith("qemu ")


def test_what_the_emulator_has_is_kept() -> None:
    kept = {str(run.head["unit"]) for folder in KEPT for run in read_runs(folder) if run.done}
    assert kept == {name for name in UNITS if not name.endswith("ebf1")}
