"""The table of references: what each published implementation gave, and what it was identified as."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcformal.callbacks import Warn
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.entries import dot_products_in, mismatches_in
from tcformal.devices.runs import Run, files_of, read_runs, unit_of
from tcformal.identification.identification import IDENTIFICATION, IdentifyVerdict
from tcformal.report.markdown import Section
from tcformal.store.file import RecordFile
from tcformal.store.schema import check

#: What a record says of results that no silicon gave.
_EVIDENCE, _EMULATED = "reference", "emulated"
_TEXT = (
    "What published implementations gave, from the kept outputs in hardware/, and what tcformal identify "
    "concluded from each with nothing but the operand formats given.  tcformal probe compare FOLDER compares "
    "the outputs with today's models."
)
#: What makes two records those of one program; an identification states its own path to it.
_SAME = ("device", "program")


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """The outputs of one unit's reference, and the newest identification of it.

    `directed` and `random` count dot products, `mismatches` those that were not the model's of that day.
    """

    folder: str
    device: str
    unit: UnitSpec
    directed: int
    random: int
    mismatches: int
    #: The record of the identification; None where none is kept.
    identified: Mapping[str, Any] | None


def is_reference(device: Mapping[str, Any]) -> bool:
    """Whether results are those of a published implementation: a program, or an emulator of instructions."""
    return device.get("evidence") == _EVIDENCE or str(device.get("system", "")).startswith(_EMULATED)


def _same_program(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(key) == other.get(key) for key in _SAME)


def _instruction(device: Mapping[str, Any]) -> object:
    return device.get("instruction")


def references(folder: Path, warn: Warn) -> Iterator[ReferenceRow]:
    """One row for each unit of each reference in a results folder, by folder.

    Errors: RecordError for damaged results or identifications.
    """
    kept = RecordFile(folder, IDENTIFICATION, warn)
    found = [data for start in kept.last_starts() if (data := kept.line(start).data) is not None]
    for data in found:
        check(data, IDENTIFICATION.name)
    runs = [
        (path, run)
        for path in sorted(folder.glob("hardware/*")) if path.is_dir() and files_of(path)
        for run in {run.head["unit"]: run for run in read_runs(path)}.values()
        if is_reference(run.head["device"])
    ]  # fmt: skip
    for path, run in runs:
        yield _row(path, run, found, [other for _, other in runs])


def _row(path: Path, run: Run, found: Sequence[Mapping[str, Any]], runs: Sequence[Run]) -> ReferenceRow:
    spec, device = unit_of(run, path), run.head["device"]
    counts = {"random": 0, "directed": 0}
    for line in run.done:
        counts["random" if line["kind"] == "random" else "directed"] += dot_products_in(line)
    asked = [
        data for data in found
        if data["formats"] == spec.operands.names() and _same_program(data["device"], device)
    ]  # fmt: skip
    fits = [data for data in asked if _instruction(data["device"]) == _instruction(device)]
    if not fits:
        # Given formats alone, a program computes what it has for them: of several units, that says none.
        mine = [other.head for other in runs if _same_program(other.head["device"], device)]
        named = {_instruction(head["device"]) for head in mine}
        alone = sum(resolve(head["unit"]).operands == spec.operands for head in mine) == 1
        fits = [x for x in asked if _instruction(x["device"]) not in named and (alone or _says(x, spec))]
    newest = max(fits, key=lambda data: (data["k"] == spec.k, str(data["date"])), default=None)
    wrong = sum(mismatches_in(line) for line in run.done)
    return ReferenceRow(
        path.name, str(device["device"]), spec, counts["directed"], counts["random"], wrong, newest
    )


def _says(data: Mapping[str, Any], spec: UnitSpec) -> bool:
    """Whether an identification is of sums of a unit's own length, or names the unit."""
    return bool(data["k"] == spec.k) or any(spec.name in names for names in data["classes"])


def identified_as(data: Mapping[str, Any] | None) -> str:
    """The verdict on a reference with the length of its sums: the design, or why none and the nearest one."""
    if data is None:
        return "not asked"
    if data["verdict"] == IdentifyVerdict.IDENTIFIED.value:
        return f"{data['verdict']}, K = {data['k']}: {data['classes'][0][0]}"
    near = [
        f"; {x['design']} gives {x['agrees']['count']} of {x['agrees']['of']}" for x in data["nearest"][:1]
    ]
    return f"{data['verdict']}, K = {data['k']}: {data['reason']}{''.join(near)}"


def references_section(rows: Sequence[ReferenceRow]) -> Section:
    """One row for each unit of each reference."""
    cells = [
        (
            row.device, row.unit.name, f"{row.random:,}", f"{row.directed:,}", f"{row.mismatches:,}",
            identified_as(row.identified),
        )
        for row in rows
    ]  # fmt: skip
    heads = ("reference", "unit", ">random", ">directed", ">mismatches", "identified")
    return Section("Units beside their references", _TEXT, heads, cells)


def counted_references(rows: Sequence[ReferenceRow]) -> Section:
    """The same counted by reference: units, dot products, mismatches, and how many were identified."""
    cells = []
    for device in dict.fromkeys(row.device for row in rows):
        mine = [row for row in rows if row.device == device]
        counts = [
            len(mine), sum(row.random + row.directed for row in mine), sum(row.mismatches for row in mine),
            sum(row.identified is not None
                and row.identified["verdict"] == IdentifyVerdict.IDENTIFIED.value for row in mine),
        ]  # fmt: skip
        cells.append((device, *(f"{n:,}" for n in counts)))
    heads = ("reference", ">units", ">dot products", ">mismatches", ">identified")
    return Section("Units beside their references", _TEXT, heads, cells)
