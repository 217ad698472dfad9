"""A measurement bench: it runs items on a device, and logs each result durably before the next."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.devices.device import Device
from tcformal.devices.isolated import IsolatedDevice
from tcformal.devices.log.blocks import block_data, suite_line
from tcformal.devices.log.identity import check_program
from tcformal.devices.log.parts import Parts
from tcformal.devices.log.pieces import suite_pieces
from tcformal.devices.log.results import Run, files_of, read_runs
from tcformal.devices.log.written import fault_line, head_line, random_line
from tcformal.devices.plan.plan import Random
from tcformal.devices.run.groups import InstructionGroup
from tcformal.devices.run.plausible import measured
from tcformal.devices.run.tally import Measured, Tally
from tcformal.devices.run.work import Chunk, DirectedBlock
from tcformal.devices.sealed import CAMPAIGN, SCHEMA
from tcformal.errors import DeviceError
from tcformal.oracle.values import hex_word
from tcformal.programs.chain import definition
from tcformal.simulation.operands.batch import Batch, Raw, batch_of, rows_of, witness_at
from tcformal.simulation.operands.witness import to_data
from tcformal.store.schema import SEAL, now
from tcformal.version import VERSION

#: Directed dot products of one line.
BLOCK = 1024
#: The keys of an identity that name the device; the others differ from unit to unit.
_WHO = ("device", "driver", "system", "program", "program_sha256")
#: Time limit of one call of a device, in seconds.
_PATIENCE_S = 60.0


class Bench:
    """A device, the units measured on it, and their result files.

    `left` gives the remaining seconds; `say` takes one sentence on each unit that begins or fails.
    """

    def __init__(
        self,
        device: Device,
        folder: Path,
        tally: Tally,
        left: Callable[[], float],
        say: Callable[[str], None],
    ) -> None:
        self._device, self._folder, self._tally = device, folder, tally
        self._left, self._say = left, say
        self._parts: Parts | None = None
        self._blocks: set[str] = set()
        self._definitions: dict[tuple[object, ...], str] = {}

    # ------------------------------------------------------------------ who and where
    def open(self, groups: Iterable[InstructionGroup]) -> None:
        """Identify the device by the first unit that runs, and read its earlier results.

        Errors: DeviceError where it runs none of the leading units, with the first reason.
        """
        reasons: list[str] = []
        identity: dict[str, str] = {}
        for group in groups:
            try:
                self._be_patient()
                identity = self._device.identify(group.leader, group.leader.k)
                break
            except DeviceError as error:
                reasons.append(str(error))
                if self._left() <= 0:
                    break
        if not identity:
            raise DeviceError(reasons[0])
        who = {key: text for key, text in identity.items() if key in _WHO}
        folder = self._folder / "hardware" / self._device.label(identity)
        self._tally.device, self._tally.folder = who, folder
        self._parts = Parts(folder, {"schema": SCHEMA, "device": who, "tcformal": VERSION, "date": now()})
        for run in read_runs(folder) if files_of(folder) else ():
            check_program(run.head["device"], identity, folder)
            self._blocks |= {digest for digest, block in run.blocks.items() if SEAL in block}
            unit = self._tally.units.get(str(run.head.get("unit")))
            if unit is not None and self._same(run, unit):
                unit.resume(run)

    def _same(self, run: Run, unit: Measured) -> bool:
        """Whether an earlier run measured this unit in its current definition on this device."""
        device = run.head.get("device", {})
        mine = all(device.get(key) == text for key, text in self._tally.device.items())
        return mine and all(run.head.get(key) == value for key, value in self._head(unit).items())

    def _head(self, unit: Measured) -> dict[str, Any]:
        if unit.model not in self._definitions:
            self._definitions[unit.model] = definition(unit.spec)
        return head_line(unit.spec, unit.spec.k, CAMPAIGN, self._definitions[unit.model])

    def keep_new(self, unit: Measured, line: Mapping[str, Any]) -> None:
        """Log a line about a unit's outputs, unless the files contain it."""
        if line not in unit.notes:
            self.keep(line)

    def keep(self, line: Mapping[str, Any]) -> None:
        """Log a line."""
        if self._parts is None:
            raise DeviceError("expected the device to be asked who it is before it is measured")
        self._parts.append(line)

    # ------------------------------------------------------------------ one unit
    def begun(self, unit: Measured, why_not: str = "") -> bool:
        """Whether a unit can be measured; the first call identifies the device and logs the unit's head."""
        if unit.fault or unit.begun:
            return not unit.fault
        try:
            if why_not:
                raise DeviceError(why_not)
            self._be_patient()
            unit.identity = self._device.identify(unit.spec, unit.spec.k)
            self._check_who(unit.identity)
        except DeviceError as error:
            self.fail(unit, "identify", error)
            return False
        self.keep({**self._head(unit), "device": unit.identity, "date": now()})
        unit.begun = True
        return True

    def _check_who(self, identity: Mapping[str, str]) -> None:
        """Raise DeviceError for another device than the folder's, such as an emulator for the processor."""
        who = self._tally.device
        identity_now = {key: text for key, text in identity.items() if key in _WHO}
        if identity_now != who:
            raise DeviceError(
                f"expected {who.get('device')} to run it, but {identity_now.get('device')} would: "
                "give it a campaign of its own by --unit"
            )

    def suite(self, unit: Measured, made: DirectedBlock) -> None:
        """Measure the directed dot products, block by block."""
        for start in range(0, len(made.items), BLOCK):
            items = made.items[start : start + BLOCK]
            block = block_data(unit.spec, items)
            digest, id_ = str(block["digest"]), f"suite/{str(block['digest'])[:16]}"
            if id_ in unit.done:
                suites = [(block, unit.done[id_])]
                (held,) = suite_pieces(unit.spec, unit.spec.k, suites, self._folder, lambda: True)
                unit.suite[id_] = held.outputs.tolist()
                continue
            if digest not in self._blocks:
                self.keep(block)
                self._blocks.add(digest)
            model = made.model[start : start + BLOCK]
            outputs, error = self._outputs(unit.spec, batch_of([i.witness for i in items]))
            line = suite_line(unit.spec, digest, outputs, model)
            if len(outputs) < len(items):
                self.keep({**line, "partial": True})
            else:
                self.keep(line)
                unit.take(line)
                unit.suite[id_] = [int(x) for x in outputs]
            if error is not None:
                self.fail(unit, id_, error)
                return

    def random(self, unit: Measured, item: Random, made: Chunk, model: Raw, *, first: bool) -> None:
        """Measure one random item; with `first`, compare the group's leader with units of equal operands."""
        if item.id in unit.done:
            if first and unit.leads and unit.first is None:
                self._compared(unit, _device_outputs(unit.done[item.id], model), made.batch)
            return
        outputs, error = self._outputs(unit.spec, made.batch, made.finite)
        line = {"unit": unit.spec.name, **random_line(unit.spec, item, outputs, model, unit.room)}
        if len(outputs) < item.count:
            self.keep(
                {**line, "kind": "fault", "answered": len(outputs), "reason": str(error), "date": now()}
            )
        else:
            self.keep(line)
            unit.take(line)
        if error is not None:
            self.fail(unit, item.id, error)
        elif first and unit.leads:
            self._compared(unit, outputs, made.batch)

    def positions(self, unit: Measured, x: Batch, holds: NDArray[np.bool_], model: int) -> None:
        """Measure one dot product at every position of a tile, with other dot products around it."""
        outputs, error = self._outputs(unit.spec, x)
        words, counts = np.unique(outputs[holds[: len(outputs)]], return_counts=True)
        d, row = unit.spec.operands.d, int(np.flatnonzero(holds)[0])
        unit.positions = {
            "kind": "position", "unit": unit.spec.name, "places": unit.spec.m * unit.spec.n,
            "model": hex_word(d, model), **to_data(unit.spec, witness_at(x, row)),
            "outputs": {hex_word(d, int(w)): int(n) for w, n in zip(words, counts, strict=True)},
        }  # fmt: skip
        self.keep(unit.positions)
        if error is None and len(words) > 1:
            error = DeviceError(
                f"expected {self._device.name} to give one result for one dot product wherever it stands, "
                f"but it gives {', '.join(unit.positions['outputs'])}"
            )
        if error is not None:
            self.fail(unit, "position", error)

    def _outputs(
        self, spec: UnitSpec, x: Batch, finite: NDArray[np.bool_] | None = None
    ) -> tuple[Raw, DeviceError | None]:
        self._be_patient()
        return measured(self._device, spec, x, finite)

    def _be_patient(self) -> None:
        """Limit the device's answer timeout to the remaining time."""
        if isinstance(self._device, IsolatedDevice):
            self._device.patience_s = min(_PATIENCE_S, max(5.0, self._left()))

    def fail(self, unit: Measured, id_: str, error: DeviceError) -> None:
        """Log the reason of a unit's failure, and stop measuring the unit."""
        unit.fault = str(error)
        self._say(f"{unit.spec.name}: {error}")
        if not unit.begun:
            who = unit.identity or dict(self._tally.device)
            self.keep({**self._head(unit), "device": who, "date": now()})
        unit.begun = True
        self.keep(fault_line(id_, error, unit=unit.spec.name))

    def _compared(self, unit: Measured, outputs: Raw, x: Batch) -> None:
        """Compare the results of a group's leading unit with the other units of equal operands."""
        unit.first = outputs
        for other in self._tally.units.values():
            if other is unit or other.first is None or other.operands != unit.operands:
                continue
            rows = np.flatnonzero(other.first != outputs)
            pair: dict[str, Any] = {
                "first": other.spec.name, "second": unit.spec.name,
                "dot_products": len(outputs), "differing": len(rows),
            }  # fmt: skip
            for row in itertools.islice(rows, 1):
                d = unit.spec.operands.d
                pair["example"] = {
                    **to_data(unit.spec, witness_at(rows_of(x, np.array([row])), 0)),
                    "first_gives": hex_word(d, int(other.first[row])),
                    "second_gives": hex_word(d, int(outputs[row])),
                }
            self._tally.pairs.append(pair)


def _device_outputs(line: Mapping[str, Any], model: Raw) -> Raw:
    """The device's outputs in a logged line."""
    outputs = model.astype(np.uint64)
    for row, word in line["mismatches"].items():
        outputs[int(row)] = int(word, 16)
    return outputs
