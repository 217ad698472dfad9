"""Which designs could have given a device's outputs, and which input refutes each of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.errors import RecordError
from tcformal.formats.spec import Format
from tcformal.probe.device import same_formats
from tcformal.probe.plan import Random, family_of
from tcformal.probe.replay import replay
from tcformal.probe.results import Piece, Run, pieces_of, read_runs, sealed_lines, unit_of
from tcformal.probe.variations import rivals
from tcformal.query.command import explain_command, in_hex
from tcformal.query.inputs import witness_at
from tcformal.query.shrink import value_cost
from tcformal.query.spec import Witness

#: Refuting rows of one piece that are weighed against each other.
_WEIGHED = 2000


@dataclass(frozen=True, slots=True)
class Refutation:
    """An input on which a design gives something else than the device gave."""

    design: UnitSpec
    #: The directed input's name, or the random item, its row and family.
    where: str
    witness: Witness
    #: Raw encodings of the D format.
    given: int
    designed: int
    command: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The designs that survive a device's outputs, and those that do not."""

    unit: UnitSpec
    device: dict[str, str]
    count: int
    survivors: tuple[UnitSpec, ...]
    refuted: tuple[Refutation, ...]
    #: Dot products besides of whose outputs only a digest is kept: they were not compared.
    sealed: int = 0

    @property
    def holds(self) -> bool:
        """Whether the unit that the plan was made for survives."""
        return any(u.name == self.unit.name for u in self.survivors)


def compare(
    path: Path,
    others: Iterable[UnitSpec] = (),
    told: Callable[[int, int], None] = lambda _done, _all: None,
    unit: str | None = None,
) -> Comparison:
    """Hold a file's last run, or the last one of `unit`, against every design of its formats.

    `others` are tried besides.  A design that directed inputs refute is not tried on random ones.
    Errors: RecordError for a file without results, of several units where none is named, or whose outputs
    cannot be read back.
    """
    run = last_run(read_runs(path), path, unit)
    spec = unit_of(run, path)
    pieces = list(pieces_of(run, path))
    extra = list(others)
    for u in extra:
        if not same_formats(u, spec):
            raise RecordError(f"expected designs of the formats of {spec.name}, but {u.name} has others")
    alive = [*rivals(spec, int(run.head["k"])), *extra]
    refuted: list[Refutation] = []
    for done, piece in enumerate(pieces):
        told(done, len(pieces))
        found = [(u, _refutation(spec, u, piece)) for u in alive]
        refuted += [r for _, r in found if r is not None]
        alive = [u for u, r in found if r is None]
    told(len(pieces), len(pieces))
    count = sum(len(piece.outputs) for piece in pieces)
    sealed = sum(int(line["count"]) for line in sealed_lines(run, pieces))
    return Comparison(spec, dict(run.head["device"]), count, tuple(alive), tuple(refuted), sealed)


def last_run(runs: list[Run], path: Path, unit: str | None = None) -> Run:
    """The newest run that has results; RecordError where there is none, or units to choose from."""
    done = {str(run.head.get("unit")): run for run in runs if run.done}
    if unit is None and len(done) > 1:
        raise RecordError(f"expected one of the {len(done)} units of {path} to be named, but none is")
    if unit is not None and unit not in done:
        raise RecordError(f"expected results of {unit} in {path}, but there are none")
    if not done:
        raise RecordError(f"expected results in {path}, but no run of it has any")
    return done[unit] if unit is not None else next(iter(done.values()))


def _refutation(spec: UnitSpec, design: UnitSpec, piece: Piece) -> Refutation | None:
    designed = replay(design, piece.batch)
    rows = np.flatnonzero(designed != piece.outputs)[:_WEIGHED]
    if not rows.size:
        return None
    row = min((int(r) for r in rows), key=lambda r: _cost(spec, witness_at(piece.batch, r)))
    item, w = piece.item_at(row), witness_at(piece.batch, row)
    where = f"{item.id} row {row} ({family_of(row, item.count)})" if isinstance(item, Random) else item.id
    names = [spec.name] if design.name == spec.name else [spec.name, design.name]
    command = explain_command(names, w, in_hex(spec), longer=True)
    return Refutation(design, where, w, int(piece.outputs[row]), int(designed[row]), command)


def _cost(spec: UnitSpec, w: Witness) -> int:
    """How hard a dot product is to read."""
    o = spec.operands
    words: list[tuple[Format, int]] = [(o.c, w.c), *((o.a, x) for x in w.a), *((o.b, x) for x in w.b)]
    return sum(value_cost(fmt, raw) for fmt, raw in words)
