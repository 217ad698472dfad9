"""A device in a process of its own: hangs, crashes and refusals each cost one call."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tcformal.devices import hip
from tcformal.devices.cuda import build
from tcformal.devices.isolated import IsolatedDevice, opened
from tcformal.devices.registry import ModelDevice
from tcformal.errors import DeviceError, InputError
from tcformal.simulation import card as cards
from tcformal.simulation.matrix_unit import replay, unit
from tcformal.simulation.operands.batch import batch

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"

#: A program that stands behind the isolated device; what it does with dot products is put in place of WRONG.
PROGRAM = """
import json, os, signal, sys, time
hello = json.loads(sys.stdin.readline())
print(json.dumps({"device": "a program"}), flush=True)
for line in sys.stdin:
    WRONG
    print(json.dumps({"id": json.loads(line)["id"], "d": "0x0"}), flush=True)
"""


@pytest.fixture
def model() -> Iterator[IsolatedDevice]:
    device = IsolatedDevice("model:volta")
    yield device
    device.close()


def test_it_is_the_device_behind(model: IsolatedDevice) -> None:
    spec = unit(VOLTA).spec
    x = batch(spec, 4, 50, 1)
    assert len(model.units()) == len(model.abilities()) == 3
    assert model.identify(spec, 4) == {"device": "model:volta", "instruction": "model"}
    assert (model.run(spec, x) == replay(spec, x)).all()
    other = unit(model.units()[2]).spec
    with pytest.raises(DeviceError, match="expected a unit of model:volta"):
        model.identify(unit("x86/vdpbf16ps").spec, 2)
    y = batch(other, 4, 50, 1)
    assert (model.run(other, y) == replay(other, y)).all()
    assert (model.run(other, y) == replay(other, y)).all()  # not sent again


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("time.sleep(60)", "to answer within 1 s, but it is silent"),
        ("os.kill(os.getppid(), signal.SIGKILL)", "its process was ended by SIGKILL"),
        ("sys.exit('no power')", "no power"),
    ],
)
def test_what_breaks_is_said_and_begun_anew(wrong: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.py"
    path.write_text(PROGRAM.replace("WRONG", wrong))
    device = IsolatedDevice(f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(path))}")
    spec = unit(VOLTA).spec
    x = batch(spec, 4, 6, 1)
    device.identify(spec, 4)
    device.patience_s = 1 if "sleep" in wrong else 30
    start = time.monotonic()
    with pytest.raises(DeviceError, match=sentence):
        device.run(spec, x)
    assert time.monotonic() - start < 40
    path.write_text(PROGRAM.replace("WRONG", "pass"))
    device.patience_s = 30
    assert device.run(spec, x).tolist() == [0] * 6
    device.close()


def test_what_is_not_there_is_said() -> None:
    """GPUs are opened behind a process, other devices here; what fails to open is said in either case."""
    with opened("model:volta") as device:
        assert isinstance(device, ModelDevice)
    if gpus_are_here():
        pytest.skip("there is a GPU here")
    with pytest.raises(DeviceError, match="expected an NVIDIA GPU"), opened("cuda:0"):
        raise AssertionError("there is none")


def gpus_are_here() -> bool:
    """Whether a GPU can be reached from this process."""
    try:
        return cards.count() > 0
    except DeviceError:
        return False


def test_a_program_that_is_not_there_is_said() -> None:
    with pytest.raises(DeviceError, match="expected a program to run"):
        IsolatedDevice("exec:no-such-program")


def test_kernels_are_built_for_gpus() -> None:
    device = IsolatedDevice.__new__(IsolatedDevice)
    device.name = "cuda:0"
    assert device.builder() is build
    device.name = "hip:3"
    assert device.builder() is hip.build
    device.name = "model:volta"
    assert device.builder() is None


@pytest.mark.parametrize("kind", ["cuda", "hip"])
@pytest.mark.parametrize("number", ["x", "-1", "1e3", "²", "٣", "99999", "9" * 5000])
def test_a_number_that_no_gpu_has_rejects(kind: str, number: str) -> None:
    """Before a process is started for it."""
    with (
        pytest.raises(InputError, match=f"expected the number of a GPU after {kind}:") as caught,
        opened(f"{kind}:{number}"),
    ):
        raise AssertionError("there is none")
    assert len(str(caught.value)) < 120
