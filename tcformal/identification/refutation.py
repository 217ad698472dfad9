"""A device's kept outputs against designs: which agree, what refutes the others; apart from the command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tcformal.callbacks import Advance, ignore_count
from tcformal.design.axes import rivals
from tcformal.design.unit import UnitSpec, same_formats
from tcformal.devices.entries import Line, dot_products_in, mismatches_in
from tcformal.devices.plan import Random, family_of
from tcformal.devices.runs import Piece, Run, pieces_of, read_runs, unit_of
from tcformal.devices.sealed import read_summary
from tcformal.devices.tally import model_key
from tcformal.errors import RecordError
from tcformal.identification.rates import Rate
from tcformal.query.shrink import value_cost
from tcformal.semantics.chain import definition
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Raw, digest_of, together, witness_at
from tcformal.simulation.operands.witness import Witness, explain_command, in_hex

# ------------------------------------------------------------------ designs
#: Refuting rows of one piece that are compared in reading cost.
_WEIGHED = 2000
#: Words of A that a design evaluates at once: in the first part, and in later ones.
_FIRST_WORDS, _WORDS = 1 << 13, 1 << 22


@dataclass(frozen=True, slots=True)
class Refutation:
    """An input on which a design and the device give different results."""

    design: UnitSpec
    #: The directed input's name, or the random item, its row and family.
    where: str
    witness: Witness
    #: Raw encodings of the D format.
    given: int
    designed: int
    command: str
    #: The dot products of which the design gives the device's outputs, up to those that refuted it.
    agrees: Rate


@dataclass(frozen=True, slots=True)
class Comparison:
    """The designs that agree with a device's outputs, and the refuted ones."""

    unit: UnitSpec
    device: dict[str, str]
    count: int
    #: Survivors of different definitions; of the refuted the named ones first, then those that agree longest.
    survivors: tuple[UnitSpec, ...]
    refuted: tuple[Refutation, ...]
    #: Other names of the survivors, by the first one.
    spellings: Mapping[str, tuple[str, ...]]
    #: Random dot products that were not compared, because only a digest of their outputs is kept.
    sealed: int = 0
    #: The missing part of the run, in one clause; empty for a complete run.
    lacks: str = ""

    @property
    def survives(self) -> bool:
        """Whether no output refutes the unit of the plan."""
        return not self.sealed and any(u.name == self.unit.name for u in self.survivors)

    @property
    def holds(self) -> bool:
        """Whether the run is complete and the unit of the plan gives all its outputs."""
        return self.survives and not self.lacks


def compare(
    path: Path, others: Iterable[UnitSpec] = (), advance: Advance = ignore_count, unit: str | None = None
) -> Comparison:
    """Compare a file's last run, or the last run of `unit`, with every design of its formats.

    Outputs kept as a digest alone are compared where the unit gives them; otherwise they refute it.
    `others` are tried too.  A design that directed inputs refute is not tried on random ones.
    Errors: RecordError for a file without results, for several units where none is named, and for outputs
    that cannot be read back.
    """
    run = last_run(read_runs(path), path, unit)
    read_summary(path)
    spec = unit_of(run, path)
    pieces = list(pieces_of(run, path))
    extra = list(others)
    for u in extra:
        if not same_formats(u, spec):
            raise RecordError(f"expected designs of the formats of {spec.name}, but {u.name} has others")
    alive = [*rivals(spec, run.head["k"]), *extra]
    refuted: list[Refutation] = []
    done = before = 0
    for part in _parts(pieces):
        advance(done, len(pieces))
        found = [(u, _refutation(spec, u, part, before)) for u in alive]
        refuted += [r for _, r in found if r is not None]
        alive = [u for u, r in found if r is None]
        done += len(part)
        before += sum(len(piece.outputs) for piece in part)
    advance(done, len(pieces))
    count = sum(len(piece.outputs) for piece in pieces)
    sealed = sum(map(dot_products_in, run.done)) - count
    named = {u.name for u in extra}
    refuted.sort(key=lambda r: (r.design.name not in named, -r.agrees.of, -r.agrees.count))
    survivors, spellings = _spelled(alive, run.head["k"])
    device, lacks = dict(run.head["device"]), run.lacks
    return Comparison(spec, device, count, survivors, tuple(refuted), spellings, sealed, lacks)


def _spelled(alive: Sequence[UnitSpec], k: int) -> tuple[tuple[UnitSpec, ...], dict[str, tuple[str, ...]]]:
    """Designs of different definitions, and the other names of each."""
    found: dict[str, list[UnitSpec]] = {}
    for u in alive:
        found.setdefault(definition(u, k), []).append(u)
    rows = list(found.values())
    others = {row[0].name: tuple(u.name for u in row[1:]) for row in rows if len(row) > 1}
    return tuple(row[0] for row in rows), others


def last_run(runs: list[Run], path: Path, unit: str | None = None) -> Run:
    """The last run of the unit; RecordError without results, or where several units have results."""
    done = {run.head["unit"]: run for run in runs if run.done}
    done |= {run.head["unit"]: run for run in runs if run.head["unit"] in done}
    if unit is None and len(done) > 1:
        raise RecordError(f"expected one of the {len(done)} units of {path} to be named, but none is")
    if unit is not None and unit not in done:
        raise RecordError(f"expected results of {unit} in {path}, but there are none")
    if not done:
        raise RecordError(f"expected results in {path}, but no run of it has any")
    return done[unit] if unit is not None else next(iter(done.values()))


def _parts(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """The parts that are evaluated on a design at once: first few dot products, which refute most designs.

    Then large parts, since an evaluation costs about as much for few as for many.
    """
    part: list[Piece] = []
    words, most = 0, _FIRST_WORDS
    for piece in pieces:
        size = piece.batch.a.size
        if part and (words + size > most or isinstance(piece.items[0], Random)):
            yield part
            part, words, most = [], 0, _WORDS
        part.append(piece)
        words += size
    if part:
        yield part


def _refutation(spec: UnitSpec, design: UnitSpec, part: Sequence[Piece], before: int) -> Refutation | None:
    """The row of the first refuting piece of a part that is easiest to read; None where none refutes.

    `before`: dot products of earlier parts, all of which the design gives.
    """
    if design == spec:
        designed = [piece.model for piece in part]
    else:
        ends = np.cumsum([len(piece.outputs) for piece in part])
        designed = np.split(replay(design, together(*(piece.batch for piece in part))), ends[:-1])
    wrong = [np.flatnonzero(given != piece.outputs) for piece, given in zip(part, designed, strict=True)]
    count = before + sum(len(piece.outputs) for piece in part)
    agrees = Rate(count - sum(rows.size for rows in wrong), count)
    for piece, given, rows in zip(part, designed, wrong, strict=True):
        if rows.size:
            return _easiest(spec, design, piece, given, rows[:_WEIGHED], agrees)
    return None


def _easiest(
    spec: UnitSpec, design: UnitSpec, piece: Piece, designed: Raw, rows: NDArray[np.intp], agrees: Rate
) -> Refutation:
    row = min((int(r) for r in rows), key=lambda r: _cost(spec, witness_at(piece.batch, r)))
    item, w = piece.item_at(row), witness_at(piece.batch, row)
    where = f"{item.id} row {row} ({family_of(row, item.count)})" if isinstance(item, Random) else item.id
    names = [spec.name] if design.name == spec.name else [spec.name, design.name]
    command = explain_command(names, w, in_hex(spec), longer=True)
    return Refutation(design, where, w, int(piece.outputs[row]), int(designed[row]), command, agrees)


def _cost(spec: UnitSpec, w: Witness) -> int:
    """The cost of reading a dot product."""
    o = spec.operands
    factors = sum(value_cost(o.a, x) + value_cost(o.b, y) for x, y in zip(w.a, w.b, strict=True))
    return factors + value_cost(o.c, w.c)


# ------------------------------------------------------------------ current models
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
        spec.instruction, dict(run.head["device"]), count, sum(map(dot_products_in, sealed)),
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
