"""The registry of devices by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tcformal.checks import unknown_sentence
from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, base_name, takes
from tcformal.devices import cuda, hip
from tcformal.devices.cpu import CpuDevice, Emulator
from tcformal.devices.cuda import CudaDevice
from tcformal.devices.device import Ability, Device, check_formats
from tcformal.devices.hip import HipDevice
from tcformal.devices.protocol import HandDevice, ProgramDevice
from tcformal.devices.recorded import RecordedDevice
from tcformal.errors import DeviceError, InputError, UnknownNameError
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw


class ModelDevice(Device):
    """A model in the role of a device: one unit, or every unit of an architecture.

    Parameters after `@` are altered, for an architecture in every unit.
    Errors: UnknownNameError for a unit that does not exist.
    """

    def __init__(self, text: str) -> None:
        self.name = f"model:{text}"
        arch, _, self._settings = text.partition("@")
        self._units = [name for name in catalogue() if name.startswith(f"{arch}/")]
        self._spec = None if self._units else resolve(text)

    def abilities(self) -> Sequence[Ability]:
        """The units that the model answers for: one with its operand formats, or an architecture's."""
        names = self._units if self._spec is None else [self._spec.name]
        return [Ability(name, "model") for name in names]

    def units(self) -> list[str]:
        """The names of the base units: the unit without altered parameters, or the architecture's."""
        if self._spec is None:
            return list(self._units)
        return [base_name(self._spec) if "/" in self._spec.name else self._spec.name]

    def _modelled(self, spec: UnitSpec) -> UnitSpec:
        """The unit whose model answers for the unit asked about."""
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
        """The model's name; DeviceError for other operand formats or an impossible chain length."""
        mine = self._modelled(spec)
        check_formats(self.name, mine, spec)
        if not takes(mine, k):
            raise DeviceError(
                f"expected {self.name} to take {k} products in one call, but it takes {mine.k}, "
                "and its result cannot be the next c"
            )
        return {"device": self.name, "instruction": "model"}

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        return replay(self._modelled(spec), batch)


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
BUILDERS: dict[str, Callable[[str], str]] = {"cuda": cuda.build, "hip": hip.build}


def open_device(text: str) -> Device:
    """Open a device by name.

    Errors: UnknownNameError for an unknown kind of device; DeviceError for a device that this machine
    lacks.
    """
    kind, _, rest = text.partition(":")
    if text == "cpu":
        return CpuDevice(emulator=Emulator.installed())
    if kind in _WITH_ARGUMENT and (rest or kind in ("cuda", "hip")):
        return _WITH_ARGUMENT[kind](rest or "0")
    raise UnknownNameError(unknown_sentence("device", text, list(KINDS)))
