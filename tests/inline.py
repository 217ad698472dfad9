"""A clock that is told the time, and a device that fails when it is told to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tcformal.design.unit import UnitSpec
from tcformal.devices.device import Ability, Device
from tcformal.devices.registry import ModelDevice
from tcformal.errors import DeviceError
from tcformal.simulation.operands.batch import Batch, Raw


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Slow(Device):
    """A model whose every call takes `seconds`; it keeps the names of the units that it ran.

    `does` may change or refuse what one call gives: it is told the unit, the batch, the results, and the
    number of the call.
    """

    def __init__(
        self,
        text: str,
        clock: Clock,
        seconds: float = 1.0,
        does: Callable[[UnitSpec, Batch, Raw, int], Raw] = lambda _spec, _batch, results, _call: results,
        refuses: str = "",
    ) -> None:
        self._model = ModelDevice(text)
        self.name = self._model.name
        self.ran: list[str] = []
        self.seen = 0
        self._clock, self._seconds, self._does, self._refuses = clock, seconds, does, refuses

    def abilities(self) -> Sequence[Ability]:
        return self._model.abilities()

    def units(self) -> list[str]:
        return self._model.units()

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        if spec.name == self._refuses:
            raise DeviceError(f"expected a kernel of {spec.name}, but the compiler knows none")
        return {**self._model.identify(spec, k), "driver": "1.0"}

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        self._clock.now += self._seconds
        self.ran.append(spec.name)
        results = self._does(spec, batch, self._model.run(spec, batch), len(self.ran))
        self.seen += len(batch.c)
        return results
