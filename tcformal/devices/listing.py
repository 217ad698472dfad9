"""The list of this machine's devices, and for a GPU a small test kernel; apart from the command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tcformal.design.names import resolve
from tcformal.devices import cuda, hip
from tcformal.devices.cpu import CpuDevice
from tcformal.devices.device import Ability, Device
from tcformal.devices.hip import HipRuntime
from tcformal.devices.isolated import opened
from tcformal.errors import DeviceError
from tcformal.simulation.operands.batch import Batch, with_scales

#: One folder per processor and GPU.
_NODES = Path("/sys/class/kfd/kfd/topology/nodes")


@dataclass(frozen=True, slots=True)
class Topology:
    """The GPUs in the Linux driver's list, and the nodes that could not be read."""

    #: Target of each GPU, `gfx90a` and the like, in the driver's order.
    targets: Sequence[str]
    #: Nodes that refuse reading, by number, and why the first one does.
    refused: Sequence[str]
    why: str = ""

    def note(self) -> str:
        """A sentence on the unreadable nodes; empty without any."""
        if not self.refused:
            return ""
        nodes = " and ".join(f"node {number}" for number in self.refused)
        return (
            f"expected the driver to describe every GPU, but it refuses {nodes} ({self.why}): what "
            "is not given to this container or user is left out"
        )


def topology(nodes: Path = _NODES) -> Topology:
    """The GPUs listed by the driver; none without a driver.  Nodes that cannot be read are named."""
    targets: list[str] = []
    refused: list[str] = []
    why = ""
    for folder in sorted(nodes.glob("*"), key=lambda p: (len(p.name), p.name)):
        try:
            text = (folder / "properties").read_text(errors="replace")
        except FileNotFoundError:
            continue
        except OSError as error:
            refused.append(folder.name)
            why = why or str(error.strerror)
            continue
        targets += [target] if (target := _target(text)) else []
    return Topology(targets, refused, why)


def _target(text: str) -> str:
    """The compiler target of a driver node; empty for a processor."""
    found = re.search(r"^gfx_target_version ([0-9]+)$", text, re.MULTILINE)
    if found is None or not int(found[1]):
        return ""
    major, rest = divmod(int(found[1]), 10_000)
    minor, step = divmod(rest, 100)
    return f"gfx{major}{minor:x}{step:x}"


#: Dot products of the small kernel.
_FEW = 4


@dataclass(frozen=True, slots=True)
class Listed:
    """A listed device; `ran` names the instruction of its test launch, `fault` the reason of a failed one."""

    name: str
    description: str
    abilities: Sequence[Ability]
    ran: str = ""
    fault: str = ""


def devices() -> tuple[list[Listed], list[str]]:
    """All devices of this machine, and one sentence on each kind that cannot be listed in full."""
    listed = [Listed("cpu", "", CpuDevice().abilities())]
    notes = []
    for kind, gpus in (("hip", _amd), ("cuda", _nvidia)):
        try:
            listed += [_tried(gpu) for gpu in gpus()]
        except DeviceError as error:
            notes.append(f"{kind}: {error}")
    notes += [f"hip: {refused}"] if (refused := topology().note()) else []
    return listed, notes


def launched(device: Device) -> str:
    """Launch a small test kernel, 0·0 + … + 1, and return the name of its instruction.

    Errors: DeviceError where it cannot be built or launched, or gives anything but 1.
    """
    names = [name for name in device.units() if "/emulated." not in name]
    spec = resolve(names[0])
    instruction = device.identify(spec, spec.k)["instruction"]
    zeros = np.zeros((_FEW, spec.k), np.uint64)
    c = np.full(_FEW, spec.c_format.one, np.uint64)
    outputs = device.run(spec, with_scales(spec, Batch(zeros, zeros, c)))
    wrong = [int(word) for word in outputs if word != spec.d_format.one]
    if wrong:
        raise DeviceError(
            f"expected {device.name} to give 1 for 0·0 + … + 1 in {instruction}, but it gives {wrong[0]:#x}"
        )
    return instruction


def _tried(gpu: Listed) -> Listed:
    """A listed GPU with the result of its test launch in a child process."""
    if all(ability.missing for ability in gpu.abilities):
        return gpu
    try:
        with opened(gpu.name) as device:
            return replace(gpu, ran=launched(device))
    except DeviceError as error:
        return replace(gpu, fault=str(error))


def _nvidia() -> Iterator[Listed]:
    """The NVIDIA GPUs of this machine."""
    for gpu in cuda.gpus():
        yield Listed(gpu.name, gpu.description, gpu.abilities())


def _amd() -> Iterator[Listed]:
    """The AMD GPUs of this machine; DeviceError where the driver lists some and HIP is missing."""
    targets = topology().targets
    if not targets:
        return
    try:
        runtime = HipRuntime()
        count = runtime.count()
    except DeviceError as error:
        raise DeviceError(f"{error}; the driver lists {', '.join(targets)}") from None
    for index in range(count):
        target = runtime.target(index)
        yield Listed(f"hip:{index}", f"{runtime.name(index)} ({target})".strip(), hip.abilities_of(target))
