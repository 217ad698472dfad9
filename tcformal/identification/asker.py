"""Questions to a device: an input is asked once, and its answer is on the disk before the next is asked."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.checks import check_int
from tcformal.design.names import read_scale, resolve
from tcformal.design.rounding import MOST_BUILT
from tcformal.design.spec import Operands
from tcformal.design.unit import UnitSpec
from tcformal.devices.device import Device, slug
from tcformal.devices.entries import words_of, words_text
from tcformal.devices.sealed import MOST_SEED, MOST_TERMS, check_program, check_seal, read_whole, whole, word
from tcformal.encodings.catalog import format_named
from tcformal.encodings.custom import split_names
from tcformal.encodings.spec import Format
from tcformal.errors import DeviceError, InputError, RecordError
from tcformal.oracle.values import hex_word
from tcformal.semantics.chain import scale_count
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import (
    Batch,
    Raw,
    digest_of,
    inputs_digest,
    rows_of,
    together,
    witness_at,
)
from tcformal.simulation.operands.inputs import inputs_to_try
from tcformal.simulation.operands.witness import explain_command, in_hex
from tcformal.store import lines
from tcformal.store.schema import now, sealed
from tcformal.version import VERSION

# ------------------------------------------------------------------ kept answers
#: Products of a dot product where nobody says.
DEFAULT_K = 16
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
    family = "tfdpa" if not formats.d.integer else "sequential"
    if formats.d.integer and k > MOST_BUILT:
        raise InputError(f"expected at most {MOST_BUILT} products of integers to identify, but got {k}")
    if scale_format is not None:
        names += f",scale={scale_format.name}/{scale_block}"
    return resolve(f"{family}@products=1,k={k},{names}")


def formats_data(spec: UnitSpec, k: int) -> dict[str, object]:
    """Operand formats, K and scales as records have them."""
    made: dict[str, object] = {"formats": spec.operands.names(), "k": k}
    if spec.scale_format is not None:
        made |= {"scale_format": spec.scale_format.name, "scale_block": spec.scale_block}
    return made


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
    """The JSON lines of a file, read, with the head written where there are none.

    The head names the formats, K and the device.  A line `asked` holds new inputs with the answers, a line
    `repeated` the answers to inputs that were asked several times, a line `drawn` those to inputs drawn from
    a seed, as a model with the answers that are others, a line `again` how many inputs were asked again.
    Errors: RecordError for a file of other formats, of another K or device, and for an altered one.
    """

    def __init__(self, path: Path, spec: UnitSpec, k: int, device: Mapping[str, str]) -> None:
        self.path, self._spec, self._k = path, spec, k
        self.lines: list[AskedLine] = []
        #: The lines `drawn`, by seed and count.
        self.drawn: dict[tuple[int, int], Mapping[str, Any]] = {}
        #: Kept inputs that later runs asked again.
        self.again = 0
        head = {
            "kind": "head", "schema": SCHEMA, **formats_data(spec, k),
            "device": dict(device), "tcformal": VERSION, "date": now(),
        }  # fmt: skip
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
            batch, texts = read_batch(self._spec, self._k, data, where), data["d"]
            texts = [texts] if data["kind"] == "asked" else texts
            d = np.array([words_of(self._spec.d_format, text) for text in texts], np.uint64)
            if d.shape[1:] != batch.c.shape:
                raise RecordError(f"expected {len(batch.c)} answers in {where}, but got others")
            self.lines.append(AskedLine(batch, d, whole(data, "call", where), float(data["seconds"])))
        elif data["kind"] == "drawn":
            self.drawn[whole(data, "seed", where, high=MOST_SEED), whole(data, "count", where)] = data
        elif data["kind"] == "again":
            self.again += whole(data, "count", where)
        else:
            raise RecordError(f"expected answers ({SCHEMA}) in {where}, but got {data['kind']!r:.80}")

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
                **batch_data(self._spec, rows_of(line.batch, rows)), "d": d if several else d[0],
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

    def add_again(self, count: int, other: int) -> None:
        """Put on the disk how many kept inputs were asked again, and how many gave another answer."""
        lines.append(self.path, sealed({"kind": "again", "date": now(), "count": count, "other": other}))
        self.again += count


def batch_data(spec: UnitSpec, batch: Batch) -> dict[str, str | list[str]]:
    """A batch as hex digits: a text for each row of a, b and the scales, one text for all c."""
    formats, rows = spec.input_formats(), {name: words.tolist() for name, words in batch.named().items()}
    return {
        name: words_text(formats[name], x) if name == "c" else [words_text(formats[name], row) for row in x]
        for name, x in rows.items()
    }


def read_batch(spec: UnitSpec, k: int, data: Mapping[str, Any], where: str) -> Batch:
    """A batch of k products that `batch_data` wrote; ValueError or RecordError for other words."""
    formats, count = spec.input_formats(), scale_count(spec, k)
    columns = {"a": k, "b": k, "scale_a": count, "scale_b": count}
    words: dict[str, Raw] = {"c": np.array(words_of(formats.pop("c"), data["c"]), np.uint64)}
    for name, fmt in formats.items():
        words[name] = np.array([words_of(fmt, text) for text in data[name]], np.uint64)
        if words[name].shape != (len(words["c"]), columns[name]):
            raise RecordError(f"expected {columns[name]} words of {name} an input in {where}")
    return Batch(**words)


def answers_path(folder: Path, label: str, spec: UnitSpec, k: int, *, named: bool) -> Path:
    """The file of a device's answers for formats and K, or for an instruction that is `named`, in a folder of
    results."""
    scale = "" if spec.scale_format is None else f"-{spec.scale_format.name}.{spec.scale_block}"
    asked = spec.instruction if named else ".".join(spec.operands.names().values())
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


# ------------------------------------------------------------------ questions
#: Kept inputs that a later run asks again, and how often those that give another answer.
_SAMPLE, _TIMES = 32, 4


class OutOfTimeError(Exception):
    """The time of an identification is over: the device is asked nothing more."""


class Asker:
    """Asks a device for dot products of K terms, given the formats alone, and keeps what it answers.

    With `path` the answers are kept in that file, and those that it holds are not asked for again; the
    first new question of a later run is preceded by some of the kept ones, unless a person would have to
    answer them.  With `folder` the file is one of that folder of results, named after the device.  `unit`
    names the instruction to a device that has several.
    Errors: DeviceError where the device cannot be asked, or is not the one that gave the kept answers;
    RecordError for a file of another device, or of other formats, and for an altered one.
    """

    def __init__(
        self,
        device: Device,
        formats: Operands,
        k: int,
        scale_format: Format | None = None,
        scale_block: int | None = None,
        path: Path | None = None,
        *,
        unit: UnitSpec | None = None,
        folder: Path | None = None,
    ) -> None:
        #: The formats as they are, and as the device is told of them.
        self.spec = self.told = formats_only(formats, k, scale_format, scale_block) if unit is None else unit
        self.k, self.device = k, device
        self.identity = device.identify(self.spec, k)
        if folder is not None:
            path = answers_path(folder, device.label(self.identity), self.spec, k, named=unit is not None)
        #: Which product of the device takes b[i] beside a[i]; None where it is the i-th.
        self.layout: tuple[int, ...] | None = None
        self._file = None if path is None else AskedFile(path, self.spec, k, self.identity)
        self._lines: list[AskedLine] = []
        self._repeated: dict[str, Raw] = {}
        self._answers: dict[bytes, int] = {}
        #: Dot products asked for, repeats counted, and calls of the device, kept ones included.
        self.probes = self.batches = 0
        self.seconds = 0.0  # that the device took for them
        #: Kept inputs asked again, and inputs drawn from seeds; `probes` leaves out both.
        self.again = self.checked = 0
        self.corrected = 0  # inputs whose first answer did not come again when they were asked several times
        #: Inputs whose answers are set aside, because one design gives all others.
        self.aside: set[bytes] = set()
        self.unsteady: set[bytes] = set()  # inputs that were given several answers
        self.refused = ""  # what the device says to a c that is not 0, where it takes none
        #: The time, as of `time.monotonic`, from which on a question is an OutOfTimeError; None for no end.
        self.until: float | None = None
        if self._file is not None:
            for line in self._file.lines:
                self._take(line)
            self.again = self._file.again
        #: Dot products and calls of earlier runs.
        self.kept_probes, self.kept_batches = self.probes, self.batches
        self._sampled = not self._lines or self.by_hand

    @property
    def history(self) -> tuple[Batch, Raw]:
        """Every distinct input with its answer, in order; b and its scales stand beside what they meet."""
        if not self._lines:
            nothing = np.zeros((0, self.k), np.uint64)
            return Batch(nothing, nothing, nothing[:, 0]), nothing[:, 0]
        batch, answers = self._asked()
        if self.layout is not None:
            batch = replace(batch, b=batch.b[:, self.layout])
        return batch, answers

    def prepared(self, batch: Batch) -> Batch:
        """A batch without c, where the device takes none."""
        return replace(batch, c=np.zeros_like(batch.c)) if self.refused else batch

    def trusted(self, batch: Batch) -> NDArray[np.intp]:
        """The rows of a batch that are not set aside."""
        if not self.aside:
            return np.arange(len(batch.c))
        return np.flatnonzero([key not in self.aside for key in keys_of(self._sent(batch))])

    def take_scales(self, fmt: Format) -> None:
        """Take scales to be of another format of the same words; the device is told of the first one."""
        self.spec = formats_only(self.spec.operands, self.k, fmt, self.spec.scale_block)

    def set_aside(self, batch: Batch) -> None:
        """Count the answers to these inputs as wrong from now on."""
        self.aside |= set(keys_of(self._sent(batch)))

    def misfits(self, unit: UnitSpec) -> NDArray[np.intp]:
        """The rows of the history that a design does not give, but for those that are set aside."""
        batch, answers = self.history
        wrong: NDArray[np.bool_] = replay(unit, batch) != answers
        return np.intersect1d(np.flatnonzero(wrong), self.trusted(batch))

    @property
    def late(self) -> bool:
        """Whether the time is over: a question would be an OutOfTimeError."""
        return self.until is not None and time.monotonic() > self.until

    @property
    def by_hand(self) -> bool:
        """Whether a person answers."""
        return self.device.name.startswith("hand:")

    def _asked(self) -> tuple[Batch, Raw]:
        """Every distinct input as the device takes it, with its answer."""
        batch = together(*(line.batch for line in self._lines))
        return batch, np.array([self._answers[key] for key in keys_of(batch)], np.uint64)

    def ask(self, batch: Batch) -> Raw:
        """The answers to a batch, in uint64; what was never asked is one call of the device.

        Errors: DeviceError where the device fails; what it answered before is kept.
        """
        sent = self._sent(batch)
        keys = keys_of(sent)
        if new := self._unknown(keys):
            asked = rows_of(sent, np.array(list(new.values())))
            outputs, error, seconds = self._called(asked)
            if len(outputs):
                asked = rows_of(asked, slice(len(outputs)))
                self._keep(AskedLine(asked, outputs[np.newaxis], self.batches, seconds))
            if error is not None:
                raise error
        return np.array([self._answers[key] for key in keys], dtype=np.uint64)

    def repeated(self, batch: Batch, times: int) -> NDArray[np.uint64]:
        """The answers to a batch that is asked several times in one call; shape [times, n].

        The first answers also answer the inputs that were never asked before.  Each time the inputs stand in
        other places, so that what influences its neighbours gives several answers.
        Errors: as `ask`; then nothing is kept.
        """
        check_int("times", times, low=2)
        sent, n = self._sent(batch), len(batch.c)
        kept = self._repeated.get(inputs_digest(sent))
        if kept is not None and len(kept) >= times:
            return kept[:times].astype(np.uint64)
        turned = [np.random.default_rng(turn).permutation(n) for turn in range(times)]
        outputs, seconds = self._heard(rows_of(sent, np.concatenate(turned)))
        answers = np.empty((times, n), np.uint64)
        for row, order, given in zip(answers, turned, outputs.reshape(times, n), strict=True):
            row[order] = given
        line = AskedLine(sent, answers, self.batches, seconds)
        self._keep(line)
        return line.answers.astype(np.uint64)

    def drawn(self, seed: int, count: int, model: UnitSpec) -> tuple[Batch, Raw, Raw]:
        """Inputs drawn from a seed, with the answers and a model's results, in one call.

        Errors: as `compared`.
        """
        return self.compared(seed, inputs_to_try(self.spec, self.k, count, seed), model)

    def compared(self, seed: int, batch: Batch, model: UnitSpec) -> tuple[Batch, Raw, Raw]:
        """Inputs that a seed makes, with the answers and a model's results, in one call.

        They are kept as a seed and as the answers that are not the model's, and are no part of the history.
        Errors: as `ask`; then nothing is kept.
        """
        batch = self.prepared(batch)
        designed = replay(model, batch)
        kept = None if self._file is None else self._file.drawn_answers(seed, batch)
        if kept is None:
            kept, _ = self._heard(self._sent(batch))
            if self._file is not None:
                self._file.add_drawn(seed, batch, kept, model, designed)
        self.checked += len(kept)
        return batch, kept, designed

    def sequence(self, batch: Batch) -> Raw:
        """The answers to a batch in one call and in its order, whatever was asked before; none is kept.

        Errors: as `ask`.
        """
        return self._heard(self._sent(batch))[0].astype(np.uint64)

    def close(self) -> None:
        """End the processes of the device."""
        self.device.close()

    def _sent(self, batch: Batch) -> Batch:
        """A batch as the device takes it; InputError for other shapes."""
        n, scales = len(batch.c), scale_count(self.spec, self.k)
        wanted = {"a": (n, self.k), "b": (n, self.k), "c": (n,)}
        if self.spec.scale_format is not None:
            wanted |= {"scale_a": (n, scales), "scale_b": (n, scales)}
        if (shapes := {name: words.shape for name, words in batch.named().items()}) != wanted:
            raise InputError(f"expected operands of shapes {wanted}, but got {shapes}")
        for name, fmt in self.spec.input_formats().items():
            if n and int(batch.named()[name].max()) >> fmt.width:
                raise InputError(f"expected encodings of {fmt.name} in {name}, but some are wider")
        batch = self.prepared(batch)
        if self.layout is None:
            return batch
        b = np.empty_like(batch.b)
        b[:, self.layout] = batch.b
        return replace(batch, b=b)

    def _called(self, sent: Batch) -> tuple[Raw, DeviceError | None, float]:
        """The results of one call as far as they are results, what is wrong with the others, and the time.

        Errors: OutOfTimeError where the time is over.
        """
        if self.late:
            raise OutOfTimeError
        if not self._sampled:
            self._ask_again()
        start, n = time.monotonic(), len(sent.c)
        try:
            outputs, error = self.device.run(self.told, sent), None
        except DeviceError as failure:
            outputs, error = np.array(failure.answered[:n], dtype=np.uint64), failure
        seconds = time.monotonic() - start
        if error is None and len(outputs) != n:
            error = DeviceError(f"expected {n} results of {self.device.name}, but {len(outputs)} came")
            outputs = outputs[:n]
        outputs, wide = in_width(outputs, self.spec.d_format.width, self.device.name)
        return outputs, wide or error, seconds

    def _keep(self, line: AskedLine) -> None:
        if self._file is not None:
            self._file.add(line)
        self._take(line)

    def _take(self, line: AskedLine) -> None:
        """Take up answers: each input's first one is its answer, unless it then gave another every time.

        Of an input that is new and asked several times, it is the most frequent one.
        """
        self.probes += line.answers.size
        self.batches = max(self.batches, line.call + 1)
        self.seconds += line.seconds
        if len(line.answers) > 1:
            self._repeated[inputs_digest(line.batch)] = line.answers
            self._correct(line)
        if new := self._unknown(keys_of(line.batch)):
            rows = np.array(list(new.values()))
            self._lines.append(replace(line, batch=rows_of(line.batch, rows), answers=line.answers[:1, rows]))
            columns = line.answers[:, rows].T.tolist()
            self._answers |= zip(new, (Counter(x).most_common(1)[0][0] for x in columns), strict=True)

    def _correct(self, line: AskedLine) -> None:
        """Inputs that have an answer already, and now gave another one, the same every time, have that."""
        for key, answers in zip(keys_of(line.batch), line.answers.T.tolist(), strict=True):
            if len({*answers, self._answers.get(key, answers[0])}) > 1:
                self.unsteady.add(key)
            if len(set(answers)) == 1 and self._answers.get(key, answers[0]) != answers[0]:
                self._answers[key] = answers[0]
                self.corrected += 1

    def _unknown(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """The inputs that have no answer yet, each with the row where it first stands."""
        new: dict[bytes, int] = {}
        for row, key in enumerate(keys):
            if key not in self._answers:
                new.setdefault(key, row)
        return new

    def _ask_again(self) -> None:
        """Ask some of the kept inputs again.

        Errors: DeviceError for a device that gives another answer every time.  What gave several answers to
        one input is no such device.
        """
        self._sampled = True
        if any((answers != answers[0]).any() for answers in self._repeated.values()):
            return
        batch, kept = self._asked()
        rows = np.unique(np.linspace(0, len(kept) - 1, min(_SAMPLE, len(kept))).astype(np.intp))
        outputs, _ = self._heard(rows_of(batch, rows))
        other = rows[outputs != kept[rows]]
        if other.size:
            more, _ = self._heard(rows_of(batch, np.tile(other, _TIMES)))
            seen = np.vstack([more.reshape(_TIMES, -1), outputs[outputs != kept[rows]]])
            for row, words in zip(other.tolist(), seen.T.tolist(), strict=True):
                if len(set(words)) == 1:
                    where = self._file.path if self._file is not None else "memory"
                    now_, before = (hex_word(self.spec.d_format, int(x)) for x in (words[0], kept[row]))
                    sent = explain_command([self.device.name], witness_at(batch, row), in_hex(self.spec))
                    raise DeviceError(
                        f"expected {self.device.name} to answer as before, but for {sent.split(' ', 3)[3]} "
                        f"it gives {now_}, and {before} is kept in {where}: move that file away"
                    )
        if self._file is not None:
            self._file.add_again(len(rows), len(other))
        self.again += len(rows)

    def _heard(self, sent: Batch) -> tuple[Raw, float]:
        """The results of one call, and the time; DeviceError unless all are results."""
        outputs, error, seconds = self._called(sent)
        if error is not None:
            raise error
        return outputs, seconds


def asker_of(
    device: Device,
    formats: str | None,
    k: int | None,
    scale: str | None,
    unit: str | None,
    folder: Path | None,
) -> Asker:
    """A device and its file of answers: given formats, K and scales, or the instruction that has them.

    Errors: InputError for both, for neither, and for what is no list of four formats.
    """
    if unit is not None:
        if formats is not None or scale is not None:
            raise InputError("expected --unit or --formats and --scale, but got both")
        spec = resolve(unit)
        scales = spec.scale_format, spec.scale_block
        return Asker(device, spec.operands, k or spec.k, *scales, folder=folder, unit=spec)
    if formats is None:
        raise InputError(
            "expected --formats A,B,C,D, or --unit of a device that has several, but got neither"
        )
    named = [format_named(name.strip()) for name in split_names(formats)]
    if len(named) != 4:
        raise InputError(f"expected the formats of A, B, C and D for --formats, but got {formats!r}")
    of_scales, block = read_scale(scale or "none")
    if k is not None:
        check_int("--k", k, low=1)
    operands = Operands(**dict(zip("abcd", named, strict=True)))
    only = _only_instruction(device, operands, k, (of_scales, block))
    k = k or (DEFAULT_K if only is None else only.k)
    return Asker(device, operands, k, of_scales, block, folder=folder, unit=only)


def _only_instruction(
    device: Device, operands: Operands, k: int | None, scales: tuple[Format | None, int | None]
) -> UnitSpec | None:
    """The one instruction of these formats and K that a device of several has; None for other devices.

    Errors: InputError where none or several of its instructions have them.
    """
    units = device.units()
    if len(units) < 2:
        return None
    known = [resolve(name) for name in units]
    having = [x for x in known if (x.operands, x.scale_format, x.scale_block) == (operands, *scales)]
    like = [x for x in having if k in (None, x.k)]
    if len(like) != 1:
        among = like or having or known
        names = ", ".join(f"{x.name} (K = {x.k})" for x in among[:6]) + (", …" if len(among) > 6 else "")
        raise InputError(
            f"expected formats and K of one instruction of {device.name}, or --unit and its name, but got "
            f"those of {len(like) or 'none'}: {'' if like or having else 'it has '}{names}"
        )
    return like[0]
