"""Run a plan on a device: each item's line is on the disk before the next item begins."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.samples import values_of
from tcformal.callbacks import Advance, ignore_count
from tcformal.design.unit import UnitSpec
from tcformal.devices.device import Device, results_path
from tcformal.devices.entries import (
    Line,
    directed_line,
    end_line,
    fault_line,
    head_line,
    mismatches_in,
    random_line,
)
from tcformal.devices.plan import Directed, Plan, PlanItem, Random
from tcformal.devices.runs import Run, pieces_of, read_runs
from tcformal.devices.sealed import check_program
from tcformal.encodings.spec import Specials
from tcformal.errors import DeviceError, RecordError
from tcformal.oracle.values import decode, hex_word
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch_of, witness_at
from tcformal.simulation.operands.witness import explain_command, in_hex
from tcformal.store import lines
from tcformal.store.schema import now, sealed


def measured(
    device: Device, spec: UnitSpec, batch: Batch, finite: NDArray[np.bool_] | None = None
) -> tuple[Raw, DeviceError | None]:
    """A device's outputs, with the error that stopped them or that the first implausible one gives.

    The error has the outputs before the first one that is wrong.  `finite` is the result of `surely_finite`
    for the batch, if known.
    """
    n, d = len(batch.c), spec.operands.d
    try:
        outputs = device.run(spec, batch)
    except DeviceError as error:
        return np.array(error.answered[:n], dtype=np.uint64), error
    if len(outputs) != n:
        wrong = DeviceError(
            f"expected {n} results of {device.name}, but {len(outputs)} came", outputs[:n].tolist()
        )
        return outputs[:n], wrong
    wide = np.flatnonzero(outputs >> np.uint64(d.width)) if d.width < 64 else np.zeros(0, np.intp)
    finite = surely_finite(spec, batch) if finite is None else finite
    impossible = np.flatnonzero(d.is_nan(outputs) & finite) if d.specials is Specials.IEEE else wide[:0]
    what = f"a word of {d.width} bits" if wide.size else "a number, because no NaN is possible,"
    for row in map(int, (*wide[:1], *impossible[:1])):
        command = explain_command([spec.instruction], witness_at(batch, row), in_hex(spec))
        return outputs, DeviceError(
            f"expected {what} from {device.name} for dot product {row}, "
            f"but got {int(outputs[row]):#x}: {command}",
            outputs[:row].tolist(),
        )
    return outputs, None


def surely_finite(spec: UnitSpec, batch: Batch) -> NDArray[np.bool_]:
    """Whether the sum of all magnitudes stays below half the largest result, row by row."""
    o = spec.operands
    with np.errstate(over="ignore", invalid="ignore"):
        products = np.abs(values_of(batch.a, o.a) * values_of(batch.b, o.b))
        for scale in (batch.scale_a, batch.scale_b):
            if scale is not None and spec.scale_format is not None:
                sizes = np.abs(values_of(scale, spec.scale_format))
                products = products * np.repeat(sizes, spec.scale_block or 1, axis=1)[:, : products.shape[1]]
        bound = products.sum(axis=1) + np.abs(values_of(batch.c, o.c))
        # Doubles round this sum; half the largest number leaves room for that.
        return np.asarray(bound < min(float(decode(o.d, o.d.largest).number), 1e308) / 2)


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
    path = results_path(folder, device.label(identity), spec.instruction)
    head = head_line(spec, plan.k, plan.digest(), device=identity, dot_products=plan.count, date=now())
    before = read_runs(path) if path.exists() else []
    for run in before:
        check_program(run.head["device"], identity, path)
    done: set[str] = set()
    mismatches, ended = 0, False
    if before and before[-1].continues(head):
        done, mismatches, ended = *_kept(plan, before[-1], path), before[-1].ended
    else:
        lines.append(path, sealed(head))
    finished = held = sum(item.count for item in plan.items if item.id in done)
    advance(finished, plan.count)
    for group in _groups([item for item in plan.items if item.id not in done]):
        made = _measured(plan, device, group, path)
        lines.append_all(path, map(sealed, made))
        mismatches += sum(map(mismatches_in, made))
        finished += sum(item.count for item in group)
        advance(finished, plan.count)
    if not ended:
        lines.append(path, sealed(end_line(plan.count, mismatches)))
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


def _groups(items: list[PlanItem]) -> Iterator[list[PlanItem]]:
    """Batches of items: random ones alone, directed ones by the hundred."""
    for alone, same in itertools.groupby(items, lambda item: isinstance(item, Random)):
        row, size = list(same), 1 if alone else _TOGETHER
        yield from (row[i : i + size] for i in range(0, len(row), size))


def _measured(plan: Plan, device: Device, group: list[PlanItem], path: Path) -> Sequence[Line]:
    """The lines of a batch; after a failure, the partial results are written before the error is raised."""
    spec, first = plan.unit, group[0]
    items = [item for item in group if isinstance(item, Directed)]
    batch = first.batch(spec, plan.k) if isinstance(first, Random) else batch_of([i.witness for i in items])
    model = replay(spec, batch)
    outputs, error = measured(device, spec, batch)
    if error is None and isinstance(first, Random):
        return [random_line(spec, first, outputs, model)]
    came = outputs.tolist() if error is None else error.answered
    asked = [directed_line(spec, *row) for row in zip(items, came, model.tolist(), strict=False)]
    if error is None:
        return asked
    lines.append_all(path, map(sealed, asked))
    at = group[min(len(came), len(group) - 1)].id
    words = [] if items else [hex_word(spec.operands.d, x) for x in came]
    lines.append(path, sealed(fault_line(at, error, outputs=words)))
    raise error
