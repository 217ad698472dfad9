"""A device that is a Python function of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.devices.device import Ability, Device
from tcformal.encodings.spec import Format
from tcformal.errors import DeviceError
from tcformal.simulation.operands.batch import Batch, Raw

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
        operands = [_small(formats[name], words) for name, words in batch.named().items()]
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
        return d.astype(np.uint64)


def _small(fmt: Format, words: Raw) -> Raw:
    """A copy of encodings in the smallest unsigned integer type that holds the format."""
    return words.astype(f"u{fmt.storage_bits // 8}")
