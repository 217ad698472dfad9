"""`model:UNIT`: the model of a catalogued or altered unit as a device; `model:ARCH`: of an architecture."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, base_name, takes
from tcformal.devices.device import Ability, Device, check_formats
from tcformal.errors import DeviceError, InputError
from tcformal.simulation.operands.random import Batch, Raw
from tcformal.simulation.replay import replay


class ModelDevice(Device):
    """A model as a device; that of an architecture answers for each of its units.

    Parameters after `@` are altered, for an architecture in every unit.
    Errors: UnknownNameError for a unit that does not exist.
    """

    def __init__(self, text: str) -> None:
        self.name = f"model:{text}"
        arch, _, self._settings = text.partition("@")
        names = [name for name in catalogue() if name.startswith(f"{arch}/")]
        self._units = names
        self._spec = None if names else resolve(text)

    def abilities(self) -> Sequence[Ability]:
        """The one unit, for every unit of its operand formats; or all units of the architecture."""
        if self._spec is not None:
            return [Ability(self._spec.name, "model")]
        return [Ability(name, "model") for name in self._units]

    def units(self) -> list[str]:
        """The unit without its altered parameters, or all of the architecture."""
        if self._spec is None:
            return list(self._units)
        return [base_name(self._spec) if "/" in self._spec.name else self._spec.name]

    def _poses(self, spec: UnitSpec) -> UnitSpec:
        """The unit whose model answers for another unit."""
        if self._spec is not None:
            return self._spec
        base = base_name(spec)
        if base not in self._units:
            raise DeviceError(f"expected a unit of {self.name}, but got {spec.name}")
        try:
            return resolve(f"{base}@{self._settings}" if self._settings else base)
        except InputError as error:
            raise DeviceError(f"expected {self.name} to pose as {base}, but {error}") from None

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """The model's name; DeviceError for other operand formats or a length that it cannot chain to."""
        mine = self._poses(spec)
        check_formats(self.name, mine, spec)
        if not takes(mine, k):
            raise DeviceError(
                f"expected {self.name} to take {k} products in one call, but it takes {mine.k}, "
                "and its result cannot be the next c"
            )
        return {"device": self.name, "instruction": "model"}

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        """The model's results."""
        return replay(self._poses(spec), batch)
