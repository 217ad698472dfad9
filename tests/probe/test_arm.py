"""The Arm probes, built by a cross compiler and run by an emulator, which follows Arm's own pseudocode."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tcformal.errors import DeviceError
from tcformal.models import unit
from tcformal.probe import cpu
from tcformal.probe.cpu import CpuDevice, Instruction
from tcformal.probe.directed import directed
from tcformal.probe.plan import make_plan
from tcformal.probe.run import run_plan
from tcformal.probe.sources import sources

COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
FEATURES = frozenset({"fp", "bf16", "ebf16"})
UNITS = [a.unit for a in CpuDevice(features=FEATURES, machine="aarch64").abilities() if not a.missing]


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CpuDevice:
    """A processor that is emulated."""
    for name in (COMPILER, EMULATOR):
        if shutil.which(name) is None:
            pytest.skip(f"no {name} here")

    def program(instruction: Instruction) -> str:
        made, script = tmp_path / "probe", tmp_path / "run"
        source = sources("cpu") / instruction.source
        words = [
            COMPILER,
            "-std=gnu11",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-static",
            *instruction.options,
        ]
        subprocess.run([*words, str(source), "-o", str(made)], check=True, capture_output=True)
        script.write_text(f'#!/bin/sh\nexec {EMULATOR} -cpu max {made} "$@"\n')
        script.chmod(0o755)
        return str(script)

    monkeypatch.setattr(cpu, "program", program)
    return CpuDevice(features=FEATURES, machine="aarch64")


@pytest.mark.parametrize("name", UNITS, ids=lambda n: n[:40])
def test_emulated_instructions_match_their_models(name: str, device: CpuDevice, tmp_path: Path) -> None:
    """One directed input of three and some random ones, in the words of the architecture's own pseudocode."""
    check_emulated(name, device, tmp_path, every=3)


@pytest.mark.long
@pytest.mark.parametrize("name", UNITS, ids=lambda n: n[:40])
def test_all_directed_inputs_match_the_models(name: str, device: CpuDevice, tmp_path: Path) -> None:
    check_emulated(name, device, tmp_path, every=1)


def check_emulated(name: str, device: CpuDevice, folder: Path, *, every: int) -> None:
    spec = unit(name.replace("products=8", "products=2")).spec
    plan = make_plan(spec, list(directed(spec))[::every], vectors=600, seed=1)
    try:
        outcome = run_plan(plan, device, folder)
    except DeviceError as error:
        if "FPCR.EBF stays as it is" not in str(error):
            raise
        pytest.skip(f"this {EMULATOR} knows no FEAT_EBF16: {error}")
    assert outcome.mismatches == 0


def test_an_altered_model_is_seen(device: CpuDevice, tmp_path: Path) -> None:
    """Nearest in place of odd, and subnormals kept."""
    for change in ("rounding=RNE", "c_subnormals=kept"):
        altered = unit(f"arm/bfdot.ebf0@{change}").spec
        plan = make_plan(altered, list(directed(altered))[::3], vectors=0, seed=1)
        assert run_plan(plan, device, tmp_path).mismatches > 0


def test_missing_extended_arithmetic_is_said() -> None:
    spec = unit("arm/bfdot.ebf1").spec
    device = CpuDevice(features=frozenset({"fp", "bf16"}), machine="aarch64")
    with pytest.raises(DeviceError, match="the processor has no ebf16"):
        device.identify(spec, 2)
