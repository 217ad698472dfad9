"""Recorded dot products with a device's outputs, compared with the model on reading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.devices.log.blocks import block_items, words_of
from tcformal.devices.plan.plan import Directed, PlanItem, Random, item_of
from tcformal.devices.sealed import whole, word
from tcformal.errors import RecordError
from tcformal.oracle.values import hex_word
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch_of, digest_of, rows_of

#: Whether a line's statements about the model are about the current model.
Today = Callable[[], bool]
#: Dot products of blocks that the model evaluates at once, or a few more.
_TOGETHER = 1 << 14


@dataclass(frozen=True, slots=True)
class Piece:
    """Some dot products of one length with a device's and the model's outputs."""

    items: tuple[PlanItem, ...]
    batch: Batch
    outputs: Raw
    #: The results of the unit of the run in its current definition.
    model: Raw

    @property
    def wrong(self) -> int:
        """The number of outputs that differ from the model's."""
        return int(np.count_nonzero(self.outputs != self.model))

    def item_at(self, row: int) -> PlanItem:
        """The plan item that a row belongs to."""
        return self.items[0] if isinstance(self.items[0], Random) else self.items[row]


def _pieces(spec: UnitSpec, parts: Sequence[tuple[Sequence[Directed], Sequence[int]]]) -> list[Piece]:
    """The pieces of several groups of dot products; one evaluation of the model serves all."""
    batch = batch_of([item.witness for items, _ in parts for item in items])
    model, start, pieces = replay(spec, batch), 0, []
    for items, outputs in parts:
        rows = slice(start, start + len(items))
        pieces.append(
            Piece(tuple(items), rows_of(batch, rows), np.array(outputs, dtype=np.uint64), model[rows])
        )
        start = rows.stop
    return pieces


def directed_piece(spec: UnitSpec, part: Sequence[dict[str, Any]], path: Path, today: Today) -> Piece:
    """The piece of directed dot products that are written one to a line; see `results.pieces_of`."""
    d = spec.operands.d
    items = [item_of(spec, line, f"{path}, item {line.get('id')}") for line in part]
    outputs = [word(d, line["d"], f"{path}, item {line['id']}") for line in part]
    (piece,) = _pieces(spec, [([item for item in items if isinstance(item, Directed)], outputs)])
    for line, model in zip(part, piece.model.tolist(), strict=True):
        if word(d, line["model"], f"{path}, item {line['id']}") != model and today():
            raise RecordError(
                f"expected {hex_word(d, model)} as the model's output of {line['id']} in {path}, "
                f"but {line['model']} stands there"
            )
    return piece


def suite_pieces(
    spec: UnitSpec,
    k: int,
    suites: Iterable[tuple[Mapping[str, Any] | None, Mapping[str, Any]]],
    path: Path,
    today: Today,
) -> Iterator[Piece]:
    """The pieces of blocks: one per line of outputs, cut to the number of outputs.

    Blocks are evaluated on the model together, since an evaluation costs about as much for few as for
    many.
    """
    held: list[tuple[Mapping[str, Any], tuple[list[Directed], tuple[int, ...]]]] = []
    rows = 0
    for block, line in suites:
        part = _suite(spec, k, block, line, path)
        held += [(line, part)] if part[0] else []
        rows += len(part[0])
        if rows >= _TOGETHER:
            yield from _checked(spec, held, path, today)
            held, rows = [], 0
    if held:
        yield from _checked(spec, held, path, today)


def _checked(
    spec: UnitSpec,
    held: Sequence[tuple[Mapping[str, Any], tuple[list[Directed], tuple[int, ...]]]],
    path: Path,
    today: Today,
) -> Iterator[Piece]:
    pieces = _pieces(spec, [part for _, part in held])
    for (line, _), piece in zip(held, pieces, strict=True):
        _check_count(piece, line["mismatches"], line, path, today)
        yield piece


def _suite(
    spec: UnitSpec, k: int, block: Mapping[str, Any] | None, line: Mapping[str, Any], path: Path
) -> tuple[list[Directed], tuple[int, ...]]:
    """The dot products of a block, with the outputs of one line; RecordError where they disagree."""
    digest = str(line["operands"])
    if block is None:
        raise RecordError(
            f"expected the operands {digest[:12]}… of {line['id']} in {path}, but there are none"
        )
    items = block_items(spec, block, f"{path}, operands {digest[:12]}…")
    outputs = words_of(spec.operands.d, line["d"])
    if len(outputs) != whole(line, "count", f"{path}, {line['id']}") or len(outputs) > len(items):
        raise RecordError(
            f"expected {line['count']} outputs of {line['id']} in {path}, but {len(outputs)} stand there"
        )
    if line["id"] != f"suite/{digest[:16]}" or block["k"] != k:
        raise RecordError(f"expected {line['id']} in {path} to be named after operands of {k} terms")
    return items[: len(outputs)], outputs


def random_piece(spec: UnitSpec, k: int, line: Mapping[str, Any], path: Path, today: Today) -> Piece | None:
    """The piece of a random item: the model's outputs, with the recorded mismatches put in.

    None where only a digest of the outputs is kept and the model does not give it; see
    `results.pieces_of`.
    """
    where = f"{path}, item {line.get('id')}"
    item = item_of(spec, dict(line), where)
    if not isinstance(item, Random) or item.id != f"random/{item.seed}":
        raise RecordError(f"expected a random item to be named after its seed in {where}, but it is not")
    batch = item.batch(spec, k)
    model = replay(spec, batch)
    outputs = model.copy()
    for row, text in line["mismatches"].items():
        if row != str(int(row)) or not 0 <= int(row) < len(outputs):
            raise RecordError(f"expected a row below {len(outputs)} in {where}, but got {row!r:.40}")
        outputs[int(row)] = word(spec.operands.d, text, where)
    piece = Piece((item,), batch, outputs, model)
    same = digest_of(outputs) == line["outputs"]
    count = len(line["mismatches"])
    if "not_kept" in line:
        if count:
            raise RecordError(f"expected no mismatches beside those not kept in {where}, but there are some")
        count = whole(line, "not_kept", where, low=1, high=item.count)
        if not same:
            return None
    if not same:
        raise RecordError(
            f"expected the outputs of item {line['id']} of {path} to have the digest that stands there, but "
            f"they have not: {spec.name} is defined otherwise now, or the file is damaged; run the plan again"
        )
    _check_count(piece, count, line, path, today)
    return piece


def _check_count(piece: Piece, count: object, line: Mapping[str, Any], path: Path, today: Today) -> None:
    """Raise RecordError unless a line's count of mismatches matches its outputs."""
    if piece.wrong != count and today():
        raise RecordError(
            f"expected {piece.wrong} mismatches of {line['id']} in {path}, as its outputs have, "
            f"but {count!r:.40} stand there"
        )
