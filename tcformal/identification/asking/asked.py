"""Files of a device's answers, as an identification keeps them: JSON lines with digests.

The head names the formats, K and the device.  A line `asked` holds new inputs with the answers, in the words
of `devices.entries`; a line `repeated` the answers to inputs that were asked several times; a line `drawn`
those to inputs drawn from a seed, as a model with the answers that are others; a line `again` how many kept
inputs a later run asked again before it went on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tcformal.checks import check_int
from tcformal.design.names import resolve
from tcformal.design.spec import Operands
from tcformal.design.unit import UnitSpec
from tcformal.devices.device import slug
from tcformal.devices.entries import words_of, words_text
from tcformal.devices.sealed import MOST_SEED, MOST_TERMS, check_program, check_seal, read_whole, whole, word
from tcformal.encodings.spec import Format
from tcformal.errors import DeviceError, InputError, RecordError
from tcformal.oracle.values import hex_word
from tcformal.programs.chain import scale_count
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, digest_of, inputs_digest, rows_of
from tcformal.store import lines
from tcformal.store.schema import now, sealed
from tcformal.version import VERSION

SCHEMA = "tcformal-answers/1"
#: What draws inputs: `operands.batch.inputs_to_try`.
GENERATOR = "inputs-to-try/1"
#: Dot products of one line.
_LINE = 1024
#: The keys of a head that must be those of the file.
_SAME = ("schema", "formats", "k", "scale_format", "scale_block", "device")


def formats_only(
    formats: Operands, k: int, scale_format: Format | None = None, scale_block: int | None = None
) -> UnitSpec:
    """A unit that stands for operand formats and K; its design says nothing about the device.

    Errors: InputError for a format of D that no design has, and for scales that are half given.
    """
    check_int("k", k, low=1, high=MOST_TERMS)
    if (scale_format is None) != (scale_block is None):
        raise InputError(
            f"expected a format and a block of scales, or neither, but got {scale_format} and {scale_block}"
        )
    names = ",".join(f"{name}_format={fmt}" for name, fmt in formats.names().items())
    return replace(
        resolve(f"tfdpa@products=1,k={k},{names}"), scale_format=scale_format, scale_block=scale_block
    )


@dataclass(frozen=True, slots=True)
class AskedLine:
    """Inputs with a device's answers.

    Shapes: answers [times, n].
    """

    batch: Batch
    answers: Raw
    #: The number of the call of the device that gave them, from 0, and the seconds that it took.
    call: int
    seconds: float


class AskedFile:
    """The lines of a file, read, with the head written where there are none.

    Errors: RecordError for a file of other formats, of another K or device, and for an altered one.
    """

    def __init__(self, path: Path, spec: UnitSpec, k: int, device: Mapping[str, str]) -> None:
        self.path, self._spec, self._k = path, spec, k
        self.lines: list[AskedLine] = []
        #: The lines `drawn`, by seed and count.
        self.drawn: dict[tuple[int, int], Mapping[str, Any]] = {}
        #: Kept inputs that later runs asked again.
        self.again = 0
        head = self._head(device)
        found = [line for line in lines.read(path) if not line.torn]
        for line in found:
            if line.data is None:
                raise RecordError(line.problem)
            where = f"line {line.number} of {path}"
            check_seal(line.data, where)
            with read_whole(where):
                if line is found[0]:
                    self._check_head(line.data, head, where)
                else:
                    self._take(line.data, where)
        if not found:
            lines.append(path, sealed(head))

    def _head(self, device: Mapping[str, str]) -> dict[str, Any]:
        spec, scale = self._spec, {}
        if spec.scale_format is not None:
            scale = {"scale_format": spec.scale_format.name, "scale_block": spec.scale_block}
        return {
            "kind": "head", "schema": SCHEMA, "formats": spec.operands.names(), "k": self._k, **scale,
            "device": dict(device), "tcformal": VERSION, "date": now(),
        }  # fmt: skip

    def _check_head(self, kept: Mapping[str, Any], mine: Mapping[str, Any], where: str) -> None:
        if kept.get("schema") != SCHEMA:
            raise RecordError(f"expected answers ({SCHEMA}) in {where}, but got {kept.get('schema')!r:.80}")
        check_program(kept["device"], mine["device"], self.path)
        for key in _SAME:
            if kept.get(key) != mine.get(key):
                raise RecordError(
                    f"expected answers of {key} {mine.get(key)!s:.200} in {where}, but they are of "
                    f"{kept.get(key)!s:.200}: move that file away"
                )

    def _take(self, data: Mapping[str, Any], where: str) -> None:
        if data["kind"] in ("asked", "repeated"):
            answers = [data["d"]] if data["kind"] == "asked" else data["d"]
            self.lines.append(self._line(data, answers, where))
        elif data["kind"] == "drawn":
            self.drawn[whole(data, "seed", where, high=MOST_SEED), whole(data, "count", where)] = data
        elif data["kind"] == "again":
            self.again += whole(data, "count", where)
        else:
            raise RecordError(f"expected answers ({SCHEMA}) in {where}, but got {data['kind']!r:.80}")

    def _line(self, data: Mapping[str, Any], answers: Sequence[str], where: str) -> AskedLine:
        formats, count = self._spec.input_formats(), scale_count(self._spec, self._k)
        columns = {"a": self._k, "b": self._k, "scale_a": count, "scale_b": count}
        words: dict[str, Raw] = {"c": np.array(words_of(formats.pop("c"), data["c"]), np.uint64)}
        for name, fmt in formats.items():
            rows = np.array([words_of(fmt, text) for text in data[name]], np.uint64)
            if rows.shape != (len(words["c"]), columns[name]):
                raise RecordError(f"expected {columns[name]} words of {name} an input in {where}")
            words[name] = rows
        d = np.array([words_of(self._spec.d_format, text) for text in answers], np.uint64)
        if d.shape[1:] != words["c"].shape:
            raise RecordError(f"expected {len(words['c'])} answers in {where}, but got others")
        return AskedLine(Batch(**words), d, whole(data, "call", where), float(data["seconds"]))

    def add(self, line: AskedLine) -> None:
        """Put inputs with their answers on the disk."""
        made = []
        several, count = len(line.answers) > 1, len(line.batch.c)
        size = count if several else _LINE
        for start in range(0, count, size):
            rows = slice(start, start + size)
            d = [words_text(self._spec.d_format, row[rows].tolist()) for row in line.answers]
            made.append({
                "kind": "repeated" if several else "asked", "call": line.call,
                "seconds": 0.0 if start else round(line.seconds, 6),
                **self._words(rows_of(line.batch, rows)), "d": d if several else d[0],
            })  # fmt: skip
        lines.append_all(self.path, map(sealed, made))

    def add_drawn(self, seed: int, batch: Batch, answers: Raw, model: UnitSpec, designed: Raw) -> None:
        """Put on the disk the answers to a drawn batch, as those that are not a model's."""
        d = self._spec.d_format
        rows = np.flatnonzero(answers != designed).tolist()
        line = {
            "kind": "drawn", "generator": GENERATOR, "seed": seed, "count": len(answers),
            "inputs": inputs_digest(batch), "outputs": digest_of(answers), "model": model.name,
            "mismatches": {str(row): hex_word(d, int(answers[row])) for row in rows},
        }  # fmt: skip
        lines.append(self.path, sealed(line))
        self.drawn[seed, len(answers)] = line

    def drawn_answers(self, seed: int, batch: Batch) -> Raw | None:
        """The kept answers to a drawn batch; None where there are none.

        Errors: RecordError where they cannot be made again: the generator or the model has changed.
        """
        line = self.drawn.get((seed, len(batch.c)))
        if line is None:
            return None
        where = f"the answers to inputs of seed {seed} in {self.path}"
        with read_whole(where):
            same = line["generator"] == GENERATOR and line["inputs"] == inputs_digest(batch)
            answers = replay(resolve(line["model"]), batch)
            for row, text in line["mismatches"].items():
                answers[int(row)] = word(self._spec.d_format, text, where)
            if not same or digest_of(answers) != line["outputs"]:
                raise RecordError(
                    f"expected {where} to be those of {line['model']} with {len(line['mismatches'])} others, "
                    "but they are not: the generator or the model has changed; move that file away"
                )
        return answers

    def _words(self, batch: Batch) -> dict[str, Any]:
        formats = self._spec.input_formats()
        return {
            name: words_text(formats[name], words.tolist())
            if name == "c"
            else [words_text(formats[name], row) for row in words.tolist()]
            for name, words in batch.named().items()
        }

    def add_again(self, count: int, other: int) -> None:
        """Put on the disk how many kept inputs were asked again, and how many gave another answer."""
        lines.append(self.path, sealed({"kind": "again", "date": now(), "count": count, "other": other}))
        self.again += count


def answers_path(folder: Path, label: str, spec: UnitSpec, k: int) -> Path:
    """The file of a device's answers for formats and K, or for an instruction, in a folder of results."""
    scale = "" if spec.scale_format is None else f"-{spec.scale_format.name}.{spec.scale_block}"
    asked = ".".join(spec.operands.names().values()) if spec.m == spec.n == 1 else spec.name
    return folder / "identify" / label / f"{slug(asked)}{scale}-k{k}.jsonl"


def keys_of(batch: Batch) -> list[bytes]:
    """The operands of each dot product as bytes."""
    words = [x.reshape(len(batch.c), -1) for x in batch.named().values()]
    return [row.tobytes() for row in np.concatenate(words, axis=1, dtype=np.uint64)]


def in_width(outputs: Raw, width: int, device: str) -> tuple[Raw, DeviceError | None]:
    """The results before the first that is wider than D, with the error that this is."""
    wide = np.flatnonzero(outputs >> np.uint64(width)) if width < 64 else np.zeros(0, np.intp)
    if not wide.size:
        return outputs, None
    word = int(outputs[wide[0]])
    error = DeviceError(f"expected words of {width} bits from {device}, but got {word:#x}")
    return outputs[: int(wide[0])], error
