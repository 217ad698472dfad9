"""Run a plan on a device: each item's line is on the disk before the next item begins."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcformal.callbacks import Advance, ignore_count
from tcformal.devices.device import Device, slug
from tcformal.devices.log.identity import check_program
from tcformal.devices.log.results import Run, pieces_of, read_runs
from tcformal.devices.log.written import (
    directed_line,
    end_line,
    fault_line,
    head_line,
    mismatches_in,
    random_line,
)
from tcformal.devices.plan.plan import Directed, Plan, PlanItem, Random
from tcformal.devices.run.plausible import measured
from tcformal.errors import RecordError
from tcformal.oracle.values import hex_word
from tcformal.simulation.operands.batch import batch_of
from tcformal.simulation.replay import replay
from tcformal.store.lines import append, append_all
from tcformal.store.schema import now, sealed

#: Directed dot products that a device computes in one call.
_TOGETHER = 256


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The outcome of a run: its file, counts and mismatches."""

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
    head = head_line(
        spec, plan.k, plan.digest(), device=identity, dot_products=plan.count, date=now()
    )  # fmt: skip
    before = read_runs(path) if path.exists() else []
    for run in before:
        check_program(run.head["device"], identity, path)
    done: set[str] = set()
    mismatches, ended = 0, False
    if before and before[-1].continues(head):
        done, mismatches, ended = *_kept(plan, before[-1], path), before[-1].ended
    else:
        append(path, sealed(head))
    finished = held = sum(_size(item) for item in plan.items if item.id in done)
    advance(finished, plan.count)
    for group in _groups([item for item in plan.items if item.id not in done]):
        made = _measured(plan, device, group, path)
        append_all(path, map(sealed, made))
        mismatches += sum(mismatches_in(line) for line in made)
        finished += sum(map(_size, group))
        advance(finished, plan.count)
    if not ended:
        append(path, sealed(end_line(plan.count, mismatches)))
    return RunOutcome(path, identity, plan.count, held, mismatches)


def _kept(plan: Plan, run: Run, path: Path) -> tuple[set[str], int]:
    """The names of the finished items of an earlier run, and its number of mismatches."""
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


def _size(item: PlanItem) -> int:
    return item.count if isinstance(item, Random) else 1


def _groups(items: list[PlanItem]) -> Iterator[list[PlanItem]]:
    """Batches of items: random ones alone, directed ones by the hundred."""
    for alone, same in itertools.groupby(items, lambda item: isinstance(item, Random)):
        row, size = list(same), 1 if alone else _TOGETHER
        yield from (row[i : i + size] for i in range(0, len(row), size))


def _measured(plan: Plan, device: Device, group: list[PlanItem], path: Path) -> list[dict[str, Any]]:
    """The lines of a batch; after a failure, the partial results are written before the error is raised."""
    spec, first = plan.unit, group[0]
    items = [item for item in group if isinstance(item, Directed)]
    batch = first.batch(spec, plan.k) if isinstance(first, Random) else batch_of([i.witness for i in items])
    model = replay(spec, batch)
    outputs, error = measured(device, spec, batch)
    if error is None and isinstance(first, Random):
        return [random_line(spec, first, outputs, model)]
    came = outputs.tolist() if error is None else error.answered
    lines = [directed_line(spec, *row) for row in zip(items, came, model.tolist(), strict=False)]
    if error is None:
        return lines
    append_all(path, map(sealed, lines))
    at = group[min(len(came), len(group) - 1)].id
    words = [] if items else [hex_word(spec.operands.d, x) for x in came]
    append(path, sealed(fault_line(at, error, outputs=words)))
    raise error
