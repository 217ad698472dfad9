"""`model:UNIT`: a catalogued unit, or one with altered parameters, posing as hardware."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import DeviceError
from tcformal.probe.device import Ability, Device, check_formats
from tcformal.probe.replay import replay, takes
from tcformal.query.families import Batch, Raw


class ModelDevice(Device):
    """A model that answers as a device would.

    Errors: UnknownNameError for a unit that does not exist.
    """

    def __init__(self, text: str) -> None:
        self.name = f"model:{text}"
        self._spec = resolve(text)

    def abilities(self) -> Sequence[Ability]:
        """The one unit, for every unit of its operand formats."""
        return [Ability(self._spec.name, "model")]

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """The model's name; DeviceError for other operand formats or a length that it cannot chain to."""
        check_formats(self.name, self._spec, spec)
        if not takes(self._spec, k):
            raise DeviceError(
                f"expected {self.name} to take {k} products in one call, but it takes {self._spec.k}, "
                "and its result cannot be the next c"
            )
        return {"device": self.name, "instruction": "model"}

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        """The model's results."""
        return replay(self._spec, batch)
