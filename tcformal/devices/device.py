"""The interface of a device: its abilities, its identity, and raw results for raw operands."""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, formats_text, same_formats
from tcformal.encodings.spec import Format
from tcformal.errors import DeviceError, InputError
from tcformal.simulation.operands.batch import Batch, Raw

_PACKAGE = Path(__file__).resolve().parents[1]


def sources(family: str) -> Path:
    """The folder of one probe family (`cpu`, `cuda`); DeviceError where sources are not installed."""
    for root in (_PACKAGE / "hw_probes", _PACKAGE.parent / "hw_probes"):
        if (root / family).is_dir():
            return root / family
    raise DeviceError(f"expected the probe sources hw_probes/{family} beside the package, but there are none")


#: Bytes of the name of a file; 255 is what file systems take, endings included.
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Ability:
    """A unit or family that a device can run, or the reason why it cannot."""

    #: A unit's name, or a pattern of names.
    unit: str
    #: The instruction, where it can be run.
    instruction: str = ""
    #: One clause on why not; empty where it can be run.
    missing: str = ""


class Device(ABC):
    """Abstract device: computes dot products of raw encodings.

    It answers for the instruction in a unit's name; parameters after `@` are hypotheses about it, and do
    not change its results.
    """

    #: The name by which it was asked for: `cpu`, `cuda:0`, `model:UNIT`, `recorded:FILE`, `exec:PROGRAM`.
    name: str

    @abstractmethod
    def abilities(self) -> Sequence[Ability]:
        """The abilities of the device."""

    @abstractmethod
    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """The identity of the device for dot products of `k` terms of a unit, as plain data.

        It names device, driver, compiler and instruction.
        Errors: DeviceError with the reason where it cannot run them.
        """

    @abstractmethod
    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        """The results of a batch as raw encodings, one per dot product.

        Errors: DeviceError where the device fails, with the results that came before.
        """

    def units(self) -> list[str]:
        """The names of the units that the device can run, where they are known by name."""
        names = []
        for ability in self.abilities():
            with suppress(InputError):
                names += [] if ability.missing else [resolve(ability.unit).name]
        return names

    def builder(self) -> Callable[[str], str] | None:
        """The function that builds a unit's kernel ahead, callable in any process; None without kernels.

        It takes the unit's name, and returns the reason why there is no kernel, or an empty text.
        """
        return None

    def close(self) -> None:
        """End the device's helper processes; the next call starts them again."""
        return

    def label(self, identity: dict[str, str]) -> str:
        """The folder name of this device's results."""
        return slug(identity.get("device", self.name))


def gpu_number(kind: str, text: str) -> int:
    """Parse the GPU number after `cuda:` or `hip:`; InputError for another text."""
    if not re.fullmatch("[0-9]{1,4}", text):
        raise InputError(f"expected the number of a GPU after {kind}:, but got {text[:40]!r}")
    return int(text)


def slug(text: str) -> str:
    """A text turned into a file name: letters, digits and `.@=,+-_` stay, a digest shortens long texts."""
    name = re.sub(r"[^\w.@=,+-]+", "-", text).strip("-.") or "device"
    if len(name.encode()) <= _LONGEST_NAME:
        return name
    start = name.encode()[: _LONGEST_NAME - 17].decode(errors="ignore")
    return f"{start}-{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:16]}"


def results_path(folder: Path, label: str, unit: str) -> Path:
    """The file of a device's results for a unit: `hardware/<label>/<unit>.jsonl`."""
    *parts, last = map(slug, unit.split("/"))
    return folder.joinpath("hardware", label, *parts, f"{last}.jsonl")


def check_formats(device: str, mine: UnitSpec, asked: UnitSpec) -> None:
    """Raise DeviceError unless the device accepts the operand formats of a unit."""
    if not same_formats(mine, asked):
        raise DeviceError(
            f"expected {device} to take {formats_text(asked)} for {asked.name}, "
            f"but it takes {formats_text(mine)}"
        )


def narrowed(fmt: Format, words: Raw) -> Raw:
    """A copy of encodings in the smallest unsigned integer type that holds the format."""
    return words.astype(f"u{fmt.storage_bits // 8}")


#: Takes a, b [n, K] and c [n] (for units with scales also scale_a, scale_b), and returns d [n].
Function = Callable[..., Any]


class CallableDevice(Device):
    """A Python function as a device: one call computes the dot products of a batch.

    Shapes: a, b [n, K]; c [n]; scale_a, scale_b [n, scales] where there are scales; the result d [n].
    Ranges and units: raw encodings, in the smallest unsigned integers that hold them; those of d in any
    integers.
    Errors: DeviceError for a function that raises, or returns anything else.
    """

    def __init__(self, function: Function, name: str | None = None) -> None:
        called = getattr(function, "__qualname__", type(function).__qualname__)
        self.name = f"callable:{called if name is None else name}"
        self._function = function

    def abilities(self) -> Sequence[Ability]:
        """Every unit: the function itself may raise an error for some."""
        return [Ability("any unit that the function computes", "Python")]

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """The identity of the device: the function's name."""
        del spec, k
        return {"device": self.name, "instruction": "Python"}

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        """The function's results for a batch, as raw encodings."""
        formats = spec.input_formats()
        operands = [narrowed(formats[name], words) for name, words in batch.named().items()]
        try:
            d = np.asarray(self._function(*operands))
        except DeviceError:
            raise
        except Exception as error:  # noqa: BLE001  whatever a function raises is a failure of the device
            raise DeviceError(f"expected {self.name} to compute this, but got: {error!r:.200}") from None
        if d.shape != batch.c.shape or d.dtype.kind not in "ui" or (d.dtype.kind == "i" and (d < 0).any()):
            raise DeviceError(
                f"expected raw encodings of {spec.d_format.name} as unsigned integers of shape "
                f"{list(batch.c.shape)} from {self.name}, but got {d.dtype} of shape {list(d.shape)}"
            )
        made: Raw = d.astype(np.uint64)
        return made
