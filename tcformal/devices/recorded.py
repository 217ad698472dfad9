"""`recorded:FILE`: a device that replays recorded hardware outputs, looked up by their operands.

FILE is a file of results of this tool, or a NumPy archive of arrays a, b [n, K] and c, d [n] of fp32
words whose values are exactly representable in the unit's formats; c is rounded to fp16 where the unit's
C is fp16.
"""

from __future__ import annotations

import hashlib
import math
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from tcformal.design.unit import UnitSpec, base_instruction, same_formats
from tcformal.devices.device import Ability, Device, check_formats, results_path, slug
from tcformal.devices.entries import block_items, end_line, head_line, suite_line, tile_data
from tcformal.devices.runs import Run, files_of, pieces_of, read_runs, unit_of
from tcformal.devices.sealed import CAMPAIGN
from tcformal.encodings.spec import Format
from tcformal.errors import DeviceError, InputError, RecordError
from tcformal.simulation.arrays import dtypes
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch_of, inputs_digest, witness_at
from tcformal.simulation.operands.witness import Witness
from tcformal.store import lines
from tcformal.store.schema import now, sealed

#: Words of one array: 64 MiB.
_MOST = 1 << 24
#: The errors of zipfile, zlib and NumPy on files of other kinds.
_FAILURES = (
    OSError, KeyError, ValueError, TypeError, EOFError, SyntaxError, RuntimeError, OverflowError, MemoryError,
    zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError, Warning,
)  # fmt: skip


def read_archive(path: Path) -> list[Raw]:
    """The arrays a, b [n, K] and c, d [n] of an archive: fp32 words as uint32.

    Errors: RecordError for another kind of file, and for more than 2^24 words in an array.
    """
    a, b, c, d = read_arrays(path, dict.fromkeys("abcd", 32))
    if a.ndim != 2 or a.shape != b.shape or c.shape != a.shape[:1] or d.shape != c.shape or not a.size:
        raise RecordError(
            f"expected a, b [n, K] and c, d [n] in {path}, "
            f"but got {list(a.shape)}, {list(b.shape)}, {list(c.shape)} and {list(d.shape)}"
        )
    return [a, b, c, d]


def read_arrays(path: Path, widths: Mapping[str, int]) -> list[Raw]:
    """Read the named arrays of an archive: unsigned words of the given widths, of any shape.

    Errors: RecordError for another kind of file, and for more than 2^24 words in an array.
    """
    *others, last = widths
    names = f"{', '.join(others)} and {last}"
    if not path.is_file():
        raise RecordError(f"expected a file with the arrays {names} at {path}, but it is none")
    try:
        with zipfile.ZipFile(path) as archive, warnings.catch_warnings():
            warnings.simplefilter("error")
            return [_array(archive, name, width, path) for name, width in widths.items()]
    except _FAILURES as error:
        message = " ".join(str(error).split())
        raise RecordError(
            f"expected arrays {names} in the recording {path}, but got: {message:.200}"
        ) from None


def _array(archive: zipfile.ZipFile, name: str, width: int, path: Path) -> Raw:
    """Read one array after a check of its header: word type, and a size within the archive's."""
    size = width // 8
    with archive.open(f"{name}.npy") as stream:
        version = npy.read_magic(stream)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"arrays of version {version}")
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(stream)
        count = math.prod(shape)
        if dtype != np.dtype(f"<u{size}"):
            raise RecordError(f"expected words as uint{width} in {path}, but {name} holds {dtype}")
        if not 0 <= count <= _MOST or min(shape, default=0) < 0:
            raise RecordError(f"expected at most {_MOST} words in {name} of {path}, but there are {count}")
        content = stream.read(size * count + 1)
    if len(content) != size * count:
        raise RecordError(
            f"expected {size * count} bytes in {name} of {path}, as its header says, but there are others"
        )
    words: Raw = np.frombuffer(content, dtype=dtype).reshape(shape, order="F" if fortran else "C")
    return words


def keep_tiles(archive: Path, spec: UnitSpec, device: str, folder: Path) -> tuple[Path, int, int]:
    """Write an archive's tiles as a device's results; the file, and counts of dot products and mismatches.

    Errors: InputError for units with scales; RecordError for other arrays, for encodings that do not fit,
    and where results of that device and unit exist.
    """
    if spec.scale_format is not None:
        raise InputError(f"expected a unit without scales for recorded tiles, but got {spec.name}")
    a, b, c, d = _arrays(archive, spec)
    path = results_path(folder, slug(device), spec.instruction)
    if path.exists():
        raise RecordError(f"expected no results at {path} yet, but there are some")
    source = hashlib.sha256(archive.read_bytes()).hexdigest()
    instruction = base_instruction(spec).rpartition("/")[2]
    who = {"device": device, "instruction": instruction, "archive": archive.name, "sha256": source}
    lines.append(path, sealed(head_line(spec, a.shape[2], CAMPAIGN, device=who, date=now())))
    made: list[Mapping[str, object]] = []
    wrong = 0
    for i in range(len(a)):
        block = tile_data(spec, f"{archive.stem}/{i}", a[i], b[i], c[i])
        items = block_items(spec, block, f"tile {i} of {archive}")
        model = replay(spec, batch_of([item.witness for item in items]))
        line = suite_line(spec, block["digest"], d[i].reshape(-1), model)
        made += [block, line]
        wrong += line["mismatches"]
    lines.append_all(path, map(sealed, [*made, end_line(d.size, wrong)]))
    return path, d.size, wrong


def _arrays(archive: Path, spec: UnitSpec) -> list[Raw]:
    """The arrays A, B, C and D of an archive, as raw encodings of the unit's formats."""
    o = spec.operands
    formats = dict(zip("ABCD", (o.a, o.b, o.c, o.d), strict=True))
    arrays = read_arrays(archive, {name: fmt.storage_bits for name, fmt in formats.items()})
    a, b, c, d = arrays
    whole = all(x.ndim == 3 for x in arrays) and a.shape[::2] == b.shape[::2] and c.shape == d.shape
    if not whole or c.shape != (len(a), a.shape[1], b.shape[1]) or not c.size or a.shape[2] % spec.k:
        raise RecordError(
            f"expected A [tiles, m, K], B [tiles, n, K], C and D [tiles, m, n] with K a multiple of {spec.k} "
            f"in {archive}, but got {', '.join(str(list(x.shape)) for x in arrays)}"
        )
    for (name, fmt), x in zip(formats.items(), arrays, strict=True):
        if int(x.max()) >> fmt.width:
            raise RecordError(f"expected encodings of {fmt.name} in {name} of {archive}, but some are wider")
    return [x.astype(np.uint64) for x in arrays]


class RecordedDevice(Device):
    """A device that replays recorded outputs.

    Errors: RecordError for a file that does not exist or holds no recordings.
    """

    def __init__(self, text: str) -> None:
        self.name = f"recorded:{text}"
        self._path = Path(text)
        self._known: dict[str, dict[Witness, int]] = {}
        self._unread: dict[str, Iterator[tuple[Batch, Raw]]] = {}
        if not self._path.exists() and not files_of(self._path):
            raise DeviceError(f"expected a file of recorded outputs at {self._path}, but there is none")
        self._archive = self._path.suffix == ".npz"
        self._runs = [] if self._archive else read_runs(self._path)

    def abilities(self) -> Sequence[Ability]:
        """The units whose outputs the file holds."""
        if self._archive:
            return [Ability("any unit of the recorded formats", "recorded")]
        return [Ability(name, "recorded") for name in dict.fromkeys(run.head["unit"] for run in self._runs)]

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """The identity of the device: the file, and the device that it names."""
        del k
        facts = {"device": self.name, "instruction": "recorded"}
        if self._archive:
            self.operands(spec)
            return facts
        recorded = self._runs_of(spec)[-1].head["device"]
        return facts | {f"recorded_{key}": text for key, text in recorded.items()}

    def label(self, identity: dict[str, str]) -> str:
        """The name of the file of recordings."""
        del identity
        return f"recorded-{self._path.stem}"

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        """The recorded outputs of a batch; DeviceError at the first dot product without a recording."""
        whole = self._whole(spec, batch)
        if whole is not None:
            return whole
        outputs = self._known.setdefault(spec.instruction, {})
        results: list[int] = []
        for row in range(len(batch.c)):
            w = witness_at(batch, row)
            while w not in outputs and self._read_on(spec):
                pass
            if w not in outputs:
                raise DeviceError(
                    f"expected {self.name} to hold every dot product of the plan, "
                    f"but it holds the first {len(results)} of {len(batch.c)} and not the next",
                    results,
                )
            results.append(outputs[w])
        return np.array(results, dtype=np.uint64)

    def operands(self, spec: UnitSpec) -> list[Witness]:
        """Every recorded dot product of a unit, for plans."""
        while self._read_on(spec):
            pass
        return list(self._known[spec.instruction])

    def _read_on(self, spec: UnitSpec) -> bool:
        """Read the next piece of the recordings; False at the end."""
        known = self._known.setdefault(spec.instruction, {})
        name = spec.instruction
        if name not in self._unread:
            self._unread[name] = self._pieces(spec)
        piece = next(self._unread[name], None)
        if piece is None:
            return False
        batch, outputs = piece
        for row, d in enumerate(outputs.tolist()):
            w = witness_at(batch, row)
            if known.setdefault(w, d) != d:
                raise DeviceError(
                    f"expected one output per dot product in {self.name}, "
                    f"but {w} has {known[w]:#x} and {d:#x}"
                )
        return True

    def _pieces(self, spec: UnitSpec) -> Iterator[tuple[Batch, Raw]]:
        """The recorded operands of a unit with the outputs, piece by piece."""
        if self._archive:
            yield self._from_archive(spec)
            return
        for run in self._runs_of(spec):
            for piece in pieces_of(run, self._path):
                yield piece.batch, piece.outputs

    def _runs_of(self, spec: UnitSpec) -> list[Run]:
        """The runs that are valid for a unit: its own, or all runs of a file of one unit with its formats.

        Those of a sparse instruction and of a dense one are never each other's.

        Errors: DeviceError where there are none, or encodings differ.
        """
        units = [unit_of(run, self._path) for run in self._runs]
        names = dict.fromkeys(u.instruction for u in units)
        if len(names) == 1 and ("/" not in spec.name or units[0].sparse == spec.sparse):
            check_formats(self.name, units[0], spec)
            return self._runs
        mine = [
            run for run, u in zip(self._runs, units, strict=True)
            if base_instruction(u) == base_instruction(spec) and same_formats(u, spec)
        ]  # fmt: skip
        if not mine:
            holds = f"but it holds {', '.join(names)}"
            raise DeviceError(f"expected {self.name} to hold results of {spec.instruction}, {holds}")
        return mine

    def _whole(self, spec: UnitSpec, batch: Batch) -> Raw | None:
        """The outputs of a recorded random item with exactly these operands; None without one."""
        digest = "" if self._archive else inputs_digest(batch)
        for run in () if self._archive else self._runs_of(spec):
            lines = [line for line in run.done if line.get("inputs") == digest]
            for piece in pieces_of(replace(run, done=lines, notes=[], end=None), self._path):
                return piece.outputs
        return None

    def _from_archive(self, spec: UnitSpec) -> tuple[Batch, Raw]:
        a, b, c, d = read_archive(self._path)
        o = spec.operands
        if o.c.name == "fp16":
            # What was recorded is c before the accumulator took it, rounded to nearest even.
            c = c.view(np.float32).astype(np.float16).astype(np.float32).view(np.uint32)
        operands = (("a", a, o.a), ("b", b, o.b), ("c", c, o.c), ("d", d, o.d))
        *words, outputs = (self._encoded(name, x, fmt) for name, x, fmt in operands)
        return Batch(*words), outputs

    def _encoded(self, name: str, words: Raw, fmt: Format) -> Raw:
        """Encodings of values given as fp32 words; each must be a value of the format exactly."""
        if fmt.name not in dtypes() or fmt.name == "ue4m3":
            raise DeviceError(
                f"expected a unit of formats that fp32 words can hold, but {name} is {fmt.name}"
            )
        wanted = dtypes()[fmt.name]
        low = np.uint64((1 << fmt.ignored_low_bits) - 1)
        with np.errstate(over="ignore", invalid="ignore"):
            narrow = words.view(np.float32).astype(wanted)
            exact = (narrow.astype(np.float32).view(np.uint32) == words).all()
        raw = np.ascontiguousarray(narrow).view(f"u{wanted.itemsize}").astype(np.uint64)
        if not exact or bool((raw & low).any()):
            raise DeviceError(f"expected {self.name} to hold {fmt.name} values in {name}, but some are none")
        return raw
