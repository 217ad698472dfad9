"""The units of a campaign: their groups in order of value, what was measured, and the summary."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NotRequired, TypedDict

from tcformal.design.unit import UnitSpec, base_instruction
from tcformal.devices.entries import Answer, Designs, Line, Note, RandomLine, dot_products_in, mismatches_in
from tcformal.devices.runs import Run
from tcformal.shown import JsonObject
from tcformal.simulation.operands.batch import Raw
from tcformal.store.schema import SEAL

#: Bytes that the mismatches of one leading unit, and of any other, may take in the files.
LEADER_ROOM, MEMBER_ROOM = 1_500_000, 100_000
#: Bytes that one mismatch takes.
_EACH = 24
#: The folders of an absolute path.
_FOLDERS = re.compile(r"(?<![\w.…)\]/])/(?:[^\s/'\"():;,]+/)+")


@dataclass(frozen=True, slots=True)
class InstructionGroup:
    """Units of one instruction family with equal dot products, which differ in m and n only.

    The first one leads: it is measured first.
    """

    units: tuple[UnitSpec, ...]

    @property
    def leader(self) -> UnitSpec:
        """The unit of the group that is measured first."""
        return self.units[0]

    @property
    def model(self) -> tuple[object, ...]:
        """The key of the group's model, equal for groups that share a model."""
        return model_key(self.leader)

    @property
    def slow(self) -> bool:
        """Whether the group's model is slow: an emulated instruction, or fp64."""
        return self.leader.emulation is not None or self.leader.a_format.name == "fp64"


def operands_key(spec: UnitSpec) -> tuple[object, ...]:
    """A hashable key of a unit's random inputs, equal for units that share operands."""
    return (spec.operands, spec.k, spec.scale_format, spec.scale_block)


def model_key(spec: UnitSpec) -> tuple[object, ...]:
    """A hashable key of a unit's dot product: its design, formats and length."""
    return (*operands_key(spec), spec.design, spec.emulation, spec.tree)


def family(spec: UnitSpec) -> str:
    """The instruction family, without shape and types: `mma`, `wgmma`, `emulated.mma`, `v_mfma`."""
    name = base_instruction(spec)
    text = name.partition("/")[2] or name
    return re.split(r"\.m\d|_[fi]\d\d_|@", text)[0]


def groups(specs: Iterable[UnitSpec]) -> list[InstructionGroup]:
    """All units in groups, in descending order of value.

    First one group of each instruction family and pair of formats A and D, instructions before
    compiler-made sequences, quick models before slow ones; then the rest in the same order.  Within a
    group the narrowest unit leads; the widest, other powers of two, and the rest follow.
    """
    by_key: dict[tuple[object, ...], list[UnitSpec]] = {}
    for spec in specs:
        by_key.setdefault((*model_key(spec), family(spec)), []).append(spec)
    seen: dict[tuple[str, ...], int] = {}
    ranked = []
    for units in by_key.values():
        group = InstructionGroup(tuple(_in_order(units)))
        lead = group.leader
        alike = (family(lead), lead.a_format.name, lead.d_format.name)
        seen[alike] = seen.get(alike, 0) + 1
        ranked.append((lead.emulation is not None, seen[alike], group.slow, group))
    return [group for *_, group in sorted(ranked, key=lambda x: x[:-1])]


def _in_order(units: list[UnitSpec]) -> list[UnitSpec]:
    def size(spec: UnitSpec) -> tuple[int, int]:
        return spec.m * spec.n, spec.n

    lead, *others = sorted(units, key=size)
    others.sort(key=lambda u: (size(u) != max(map(size, units)), u.n & (u.n - 1) != 0, -u.n, -u.m))
    return [lead, *others]


class Pair(TypedDict):
    """Two units of equal operands on the same random inputs."""

    first: str
    second: str
    dot_products: int
    differing: int
    example: NotRequired[dict[str, object]]


@dataclass(slots=True)
class Measured:
    """One unit in a campaign: its measurements on the device, and their results."""

    spec: UnitSpec
    leads: bool
    #: Whether the head of its run is written.
    begun: bool = False
    #: The identity of the device; empty before it was asked.
    identity: dict[str, str] = field(default_factory=dict)
    #: Lines by item.
    done: dict[str, Line] = field(default_factory=dict)
    mismatches: int = 0
    directed: int = 0
    random: int = 0
    #: The reason why this unit is measured no further; empty for none.
    fault: str = ""
    #: Outputs of the suite, by block; of the first random item.
    suite: dict[str, list[int]] = field(default_factory=dict)
    first: Raw | None = None
    answers: list[Answer] = field(default_factory=list)
    #: Answers and designs of an earlier run; they are computed again rather than taken over.
    notes: list[dict[str, object]] = field(default_factory=list)
    #: Random items of an earlier run that were not compared with the model again.
    unchecked: list[RandomLine] = field(default_factory=list)
    positions: Note = field(default_factory=Note)
    designs: Designs = field(default_factory=Designs)

    @property
    def outputs(self) -> list[int]:
        """The outputs of the directed suite so far."""
        return [word for block in self.suite.values() for word in block]

    def take(self, line: Line) -> None:
        """Count one line of results."""
        self.done[str(line["id"])] = line
        self.mismatches += mismatches_in(line)
        if line["kind"] == "random":
            self.random += int(line["count"])
        else:
            self.directed += dot_products_in(line)

    def resume(self, run: Run) -> None:
        """Take over the results of an earlier run, where nothing was measured yet."""
        self.begun, self.identity = True, dict(run.head["device"])
        for line in run.done:
            if not line.get("partial"):
                self.take(line)
                self.unchecked += [line] if line["kind"] == "random" else []
        for note in run.notes:
            if note["kind"] == "position":
                self.positions = note
            elif note["kind"] == "answer":
                self.notes.append({key: value for key, value in note.items() if key != SEAL})

    @property
    def room(self) -> int:
        """The number of mismatches that may still be logged."""
        return (LEADER_ROOM if self.leads else MEMBER_ROOM) // _EACH - self.mismatches

    def data(self) -> dict[str, object]:
        """The unit's entry in the summary."""
        facts: dict[str, object] = {
            "unit": self.spec.instruction,
            "instruction": self.identity.get("instruction", ""),
            "directed": self.directed,
            "random": self.random,
            "mismatches": self.mismatches,
        }
        if x := self.positions:
            facts["positions"] = {"places": x["places"], "outputs": x["outputs"], "model": x["model"]}
        return facts | ({"fault": self.fault} if self.fault else {})


@dataclass(slots=True)
class Tally:
    """The findings of a campaign over all units."""

    device: dict[str, str] = field(default_factory=dict)
    folder: Path = Path()
    units: dict[str, Measured] = field(default_factory=dict)
    #: Units of equal operands that gave different results for the same random inputs, or the same.
    pairs: list[Pair] = field(default_factory=list)
    #: Names of units that were not measured for lack of time.
    untouched: list[str] = field(default_factory=list)
    seconds: float = 0.0
    complete: bool = False
    #: The reason for an early end of the campaign; empty for none.
    stopped: str = ""

    @property
    def mismatches(self) -> int:
        """The number of results that differ from the models'."""
        return sum(u.mismatches for u in self.units.values())

    @property
    def unchecked(self) -> int:
        """The number of earlier dot products that await a comparison with the model."""
        return sum(int(line["count"]) for u in self.units.values() for line in u.unchecked)

    @property
    def faults(self) -> dict[str, str]:
        """The units with incomplete measurements, and the reasons."""
        return {name: u.fault for name, u in self.units.items() if u.fault}

    @property
    def measured(self) -> int:
        """The number of dot products with logged results."""
        return sum(u.directed + u.random for u in self.units.values())

    def data(self) -> JsonObject:
        """The summary as plain data."""
        return {
            "device": self.device,
            "seconds": round(self.seconds, 1),
            "complete": self.complete,
            "stopped": self.stopped,
            "dot_products": self.measured,
            "mismatches": self.mismatches,
            "not_rechecked": self.unchecked,
            "faults": self.faults,
            "units": [u.data() for u in self.units.values() if u.done or u.fault],
            "answers": [a for u in self.units.values() for a in u.answers],
            "designs": [u.designs for u in self.units.values() if u.designs],
            "same_inputs": self.pairs,
            "untouched": self.untouched,
        }


def without_folders(value: object) -> object:
    """Plain data with file names reduced to their last part."""
    if isinstance(value, str):
        return _FOLDERS.sub("", value)
    if isinstance(value, dict):
        return {key: without_folders(item) for key, item in value.items()}
    return [without_folders(item) for item in value] if isinstance(value, list) else value
