"""Kept results compared with the current models, unit by unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tcformal.callbacks import Advance, ignore_count
from tcformal.design.unit import UnitSpec
from tcformal.devices.entries import Line, dot_products_in, mismatches_in
from tcformal.devices.plan import Random
from tcformal.devices.runs import Run, pieces_of, read_runs, unit_of
from tcformal.devices.sealed import read_summary
from tcformal.devices.tally import model_key
from tcformal.simulation.operands.batch import digest_of


@dataclass(frozen=True, slots=True)
class Checked:
    """The last run of one unit: its outputs, the number that the model gives now, and what is missing."""

    unit: str
    device: dict[str, str]
    #: Dot products that were compared, those of which only a digest is kept, and mismatches.
    count: int
    sealed: int
    mismatches: int
    #: The missing part of the run, in one clause; empty for a complete run.
    lacks: str = ""


#: Digests of a model's outputs, by what determines them.
_Known = dict[tuple[object, ...], str]


def recheck(path: Path, advance: Advance = ignore_count) -> Iterator[Checked]:
    """Compare the last run of each unit of a file or of a folder's campaign with the current model.

    Units that share a model have it evaluated once on the random items that they share: the digest of its
    outputs is compared with that of each unit's.
    Errors: RecordError for a file without results, or whose outputs cannot be read back.
    """
    runs = read_runs(path)
    read_summary(path)
    latest = {run.head["unit"]: run for run in runs}
    known: _Known = {}
    for done, run in enumerate(latest.values()):
        advance(done, len(latest))
        yield _checked(run, path, known)
    advance(len(latest), len(latest))


def _checked(run: Run, path: Path, known: _Known) -> Checked:
    spec = unit_of(run, path)
    count = wrong = 0
    unsettled = []
    for line in run.done:
        if _is_known(run, spec, line, known):
            count += dot_products_in(line)
        else:
            unsettled.append(line)
    read: set[str] = set()
    for piece in pieces_of(replace(run, done=unsettled), path):
        count += len(piece.outputs)
        wrong += piece.wrong
        read |= {item.id for item in piece.items}
        if isinstance(item := piece.items[0], Random):
            known[_key(run, spec, item.data(spec))] = digest_of(piece.model)
    sealed = [
        line for line in run.done
        if line["kind"] == "random" and line.get("not_kept") and line["id"] not in read
    ]  # fmt: skip
    return Checked(
        spec.name, dict(run.head["device"]), count, sum(map(dot_products_in, sealed)),
        wrong + sum(mismatches_in(line) for line in sealed), run.lacks,
    )  # fmt: skip


def _key(run: Run, spec: UnitSpec, line: Mapping[str, object]) -> tuple[object, ...]:
    """What determines a model's outputs for a random item."""
    drawn = (line.get(name) for name in ("generator", "seed", "count", "inputs"))
    return (*model_key(spec), run.head["k"], *drawn)


def _is_known(run: Run, spec: UnitSpec, line: Line, known: _Known) -> bool:
    """Whether a campaign's line states no mismatch, and its outputs are a model's that is known already."""
    if line["kind"] != "random" or run.end is not None or mismatches_in(line):
        return False
    return known.get(_key(run, spec, line), "") == line.get("outputs")
