"""Devices by name."""

from __future__ import annotations

from collections.abc import Callable

from tcformal.checks import unknown_sentence
from tcformal.devices.cpu import CpuDevice
from tcformal.devices.cuda import cubin
from tcformal.devices.cuda.cuda import CudaDevice
from tcformal.devices.device import Device
from tcformal.devices.emulator import Emulator
from tcformal.devices.hip import rocm
from tcformal.devices.hip.hip import HipDevice
from tcformal.devices.model import ModelDevice
from tcformal.devices.programs.hand import HandDevice
from tcformal.devices.programs.program import ProgramDevice
from tcformal.devices.recorded import RecordedDevice
from tcformal.errors import UnknownNameError

#: The kinds of devices, with their arguments.
KINDS: dict[str, str] = {
    "cpu": "real instructions of this processor; Arm's bf16 ones by an emulator where it has none",
    "cuda:N": "the N-th NVIDIA GPU",
    "hip:N": "the N-th AMD GPU",
    "model:UNIT": "a model that poses as hardware; model:ARCH, all units of one architecture",
    "recorded:FILE": "outputs of hardware that is elsewhere",
    "exec:PROGRAM": "a program that answers JSON lines (protocol tcformal-probe/1)",
    "hand:NAME": "a device that somebody asks by hand, for `identify --next` and `--answer`",
}

_WITH_ARGUMENT: dict[str, Callable[[str], Device]] = {
    "cuda": CudaDevice,
    "hip": HipDevice,
    "model": ModelDevice,
    "recorded": RecordedDevice,
    "exec": ProgramDevice,
    "hand": HandDevice,
}

#: The functions that build a unit's kernel ahead, for the kinds of device with kernels.
BUILDERS: dict[str, Callable[[str], str]] = {"cuda": cubin.build, "hip": rocm.build}


def open_device(text: str) -> Device:
    """The device of that name.

    Errors: UnknownNameError for an unknown kind of device; DeviceError for a device that this machine
    lacks.
    """
    kind, colon, rest = text.partition(":")
    if text == "cpu":
        return CpuDevice(emulator=Emulator.found())
    if kind in _WITH_ARGUMENT and (rest or kind in ("cuda", "hip")):
        return _WITH_ARGUMENT[kind](rest or "0")
    del colon
    raise UnknownNameError(unknown_sentence("device", text, list(KINDS)))
