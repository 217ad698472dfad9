"""Run a plan on a device: each item's line is on the disk before the next item begins."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcformal.callbacks import Advance, ignore_count
from tcformal.errors import DeviceError, RecordError
from tcformal.files import write
from tcformal.matmul.replay import replay
from tcformal.operands.random import Batch, Raw
from tcformal.operands.text import batch_of
from tcformal.oracle.values import hex_word
from tcformal.probe.devices.device import Device, slug
from tcformal.probe.log.identity import check_program
from tcformal.probe.log.results import Run, pieces_of, read_runs
from tcformal.probe.log.written import definition_of, directed_line, mismatches_in, random_line
from tcformal.probe.plan.plan import Directed, Plan, PlanItem, Random
from tcformal.probe.run.plausible import check_outputs
from tcformal.probe.sealed import SCHEMA, sealed
from tcformal.version import VERSION

#: Directed dot products that a device computes in one call.
_TOGETHER = 256


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The outcome of a run."""

    path: Path
    device: dict[str, str]
    #: Dot products of the plan, how many of them an earlier run had done, and mismatches of all.
    count: int
    held: int
    mismatches: int


def results_path(folder: Path, device: Device, identity: dict[str, str], unit: str) -> Path:
    """The file of a device's results for a unit: `hardware/<device>/<unit>.jsonl`."""
    parts = [slug(part) for part in unit.split("/")]
    return folder / "hardware" / device.label(identity) / "/".join(parts[:-1]) / f"{parts[-1]}.jsonl"


def run_plan(plan: Plan, device: Device, folder: Path, advance: Advance = ignore_count) -> RunOutcome:
    """Run every dot product of a plan on a device, and write the results.

    An interrupted run resumes after its last whole line; its earlier results are compared with the model
    again.
    Errors: DeviceError where the device cannot run the plan or fails; a line `fault` then holds the
    results of the failed item, and all items before it are kept.  RecordError for kept results of another
    program or of other dot products, and for altered ones.
    """
    spec = plan.unit
    identity = device.identify(spec, plan.k)
    path = results_path(folder, device, identity, spec.name)
    head = {
        "kind": "run", "schema": SCHEMA, "unit": spec.name, "k": plan.k, "device": identity,
        "plan": plan.digest(), "dot_products": plan.count, "definition": definition_of(spec),
        "tcformal": VERSION, "date": _now(),
    }  # fmt: skip
    before = read_runs(path) if path.exists() else []
    for run in before:
        check_program(run.head["device"], identity, path)
    done: set[str] = set()
    mismatches, ended = 0, False
    if before and before[-1].continues(head):
        done, mismatches, ended = *_kept(plan, before[-1], path), before[-1].ended
    else:
        write.append(path, sealed(head))
    finished = held = sum(_size(item) for item in plan.items if item.id in done)
    advance(finished, plan.count)
    for group in _groups([item for item in plan.items if item.id not in done]):
        made = _measured(plan, device, group, path)
        write.append_all(path, map(sealed, made))
        mismatches += sum(mismatches_in(line) for line in made)
        finished += sum(map(_size, group))
        advance(finished, plan.count)
    if not ended:
        end = {"kind": "end", "date": _now(), "dot_products": plan.count, "mismatches": mismatches}
        write.append(path, sealed(end))
    return RunOutcome(path, identity, plan.count, held, mismatches)


def _kept(plan: Plan, run: Run, path: Path) -> tuple[set[str], int]:
    """The names of the items of an earlier run, and the number of outputs that differ from the model's."""
    planned = {item.id: item for item in plan.items}
    done: set[str] = set()
    mismatches = 0
    for piece in pieces_of(run, path):
        mismatches += piece.wrong
        for item in piece.items:
            if item.id in done or planned.get(item.id) != item:
                raise RecordError(
                    f"expected {item.id} in {path} to be an item of the plan and to stand there once, "
                    "but it is not: the file was altered"
                )
            done.add(item.id)
    return done, mismatches


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _size(item: PlanItem) -> int:
    return item.count if isinstance(item, Random) else 1


def _groups(items: list[PlanItem]) -> Iterator[list[PlanItem]]:
    """Items that are run together: a random one alone, directed ones by the hundred."""
    together: list[PlanItem] = []
    for item in items:
        if together and (isinstance(item, Random) or len(together) == _TOGETHER):
            yield together
            together = []
        if isinstance(item, Random):
            yield [item]
        else:
            together.append(item)
    if together:
        yield together


def _measured(plan: Plan, device: Device, group: list[PlanItem], path: Path) -> list[dict[str, Any]]:
    """The lines of a group; after a failure, the results so far are written before the error is raised."""
    spec, first = plan.unit, group[0]
    if isinstance(first, Random):
        batch = first.batch(spec, plan.k)
        try:
            outputs = _outputs(device, plan, batch)
        except DeviceError as error:
            _fault(plan, path, first.id, error)
            raise
        return [random_line(spec, first, outputs, replay(spec, batch))]
    items = [item for item in group if isinstance(item, Directed)]
    batch = batch_of(spec, [item.witness for item in items])
    model = [int(x) for x in replay(spec, batch)]
    try:
        outputs = _outputs(device, plan, batch)
    except DeviceError as error:
        came = zip(items, error.answered, model, strict=False)
        write.append_all(path, [sealed(directed_line(spec, *row)) for row in came])
        _fault(plan, path, items[min(len(error.answered), len(items) - 1)].id, DeviceError(str(error)))
        raise
    return [directed_line(spec, *row) for row in zip(items, map(int, outputs), model, strict=True)]


def _outputs(device: Device, plan: Plan, batch: Batch) -> Raw:
    outputs = device.run(plan.unit, batch)
    check_outputs(device.name, plan.unit, batch, outputs)
    return outputs


def _fault(plan: Plan, path: Path, id_: str, error: DeviceError) -> None:
    d = plan.unit.operands.d
    words = [hex_word(d, x) for x in error.answered]
    fault = {"kind": "fault", "id": id_, "date": _now(), "reason": str(error), "outputs": words}
    write.append(path, sealed(fault))
