"""`recorded:FILE`: a device that replays recorded hardware outputs, looked up by their operands.

FILE is a file of results of this tool, or a NumPy archive of arrays a, b [n, K] and c, d [n] of fp32
words whose values are exactly representable in the unit's formats; c is rounded to fp16 where the unit's
C is fp16.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from tcformal.design.unit import UnitSpec, base_name, same_formats
from tcformal.devices.device import Ability, Device, check_formats
from tcformal.devices.log.archive import read_archive
from tcformal.devices.log.pieces import Piece
from tcformal.devices.log.results import Run, files_of, pieces_of, read_runs, unit_of
from tcformal.encodings.spec import Format
from tcformal.errors import DeviceError
from tcformal.simulation.arrays import dtypes
from tcformal.simulation.operands.batch import Batch, Raw, inputs_digest, witness_at
from tcformal.simulation.operands.witness import Witness


class RecordedDevice(Device):
    """A device that replays recorded outputs.

    Errors: RecordError for a file that does not exist or holds no recordings.
    """

    def __init__(self, text: str) -> None:
        self.name = f"recorded:{text}"
        self._path = Path(text)
        self._known: dict[str, dict[Witness, int]] = {}
        self._unread: dict[str, Iterator[Piece]] = {}
        if not self._path.exists() and not files_of(self._path):
            raise DeviceError(f"expected a file of recorded outputs at {self._path}, but there is none")
        self._archive = self._path.suffix == ".npz"
        self._runs = [] if self._archive else read_runs(self._path)

    def abilities(self) -> Sequence[Ability]:
        """The units whose outputs the file holds."""
        if self._archive:
            return [Ability("any unit of the recorded formats", "recorded")]
        names = dict.fromkeys(str(run.head.get("unit")) for run in self._runs)
        return [Ability(name, "recorded") for name in names]

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """The identity of the device: the file, and the device that it names."""
        del k
        facts = {"device": self.name, "instruction": "recorded"}
        if self._archive:
            self._outputs(spec)
        else:
            head = self._runs_of(spec)[-1].head
            facts |= {f"recorded_{key}": str(v) for key, v in head.get("device", {}).items()}
        return facts

    def label(self, identity: dict[str, str]) -> str:
        """The name of the file of recordings."""
        del identity
        return f"recorded-{self._path.stem}"

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        """The recorded outputs of a batch; DeviceError at the first dot product without a recording."""
        whole = self._whole(spec, batch)
        if whole is not None:
            return whole
        outputs = self._outputs(spec) if self._archive else self._known.setdefault(spec.name, {})
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
        """Every recorded dot product, for plans."""
        return list(self._outputs(spec))

    def _outputs(self, spec: UnitSpec) -> dict[Witness, int]:
        """Every recorded dot product of a unit."""
        if self._archive and spec.name not in self._known:
            self._known[spec.name] = self._from_archive(spec)
        while self._read_on(spec):
            pass
        return self._known.setdefault(spec.name, {})

    def _runs_of(self, spec: UnitSpec) -> list[Run]:
        """The runs that are valid for a unit: its own, or all runs of a file of one unit with its formats.

        Errors: DeviceError where there are none, or encodings differ.
        """
        units = [unit_of(run, self._path) for run in self._runs]
        if len({u.name for u in units}) == 1:
            check_formats(self.name, units[0], spec)
            return self._runs
        mine = [
            run
            for run, u in zip(self._runs, units, strict=True)
            if base_name(u) == base_name(spec) and same_formats(u, spec)
        ]
        if not mine:
            names = ", ".join(dict.fromkeys(u.name for u in units))
            raise DeviceError(f"expected {self.name} to hold results of {spec.name}, but it holds {names}")
        return mine

    def _pieces(self, spec: UnitSpec) -> Iterator[Piece]:
        return chain.from_iterable(pieces_of(run, self._path) for run in self._runs_of(spec))

    def _read_on(self, spec: UnitSpec) -> bool:
        """Read the next piece of a file of results; False at its end."""
        if self._archive:
            return False
        outputs = self._known.setdefault(spec.name, {})
        piece = next(self._unread.setdefault(spec.name, self._pieces(spec)), None)
        if piece is None:
            return False
        for row, d in enumerate(piece.outputs.tolist()):
            self._put(outputs, witness_at(piece.batch, row), d)
        return True

    def _whole(self, spec: UnitSpec, batch: Batch) -> Raw | None:
        """The outputs of a recorded random item with exactly these operands; None without one."""
        if self._archive:
            return None
        digest = inputs_digest(batch)
        for run in self._runs_of(spec):
            lines = [line for line in run.done if line.get("inputs") == digest]
            for piece in pieces_of(replace(run, done=lines, notes=[], end=None), self._path):
                return piece.outputs
        return None

    def _from_archive(self, spec: UnitSpec) -> dict[Witness, int]:
        a, b, c, d = read_archive(self._path)
        o = spec.operands
        if o.c.name == "fp16":
            # What was recorded is c before the accumulator took it, rounded to nearest even.
            c = c.view(np.float32).astype(np.float16).astype(np.float32).view(np.uint32)
        words = [
            self._encoded(name, x, fmt)
            for name, x, fmt in (("a", a, o.a), ("b", b, o.b), ("c", c, o.c), ("d", d, o.d))
        ]
        outputs: dict[Witness, int] = {}
        batch = Batch(*words[:3])
        for row, output in enumerate(words[3].tolist()):
            self._put(outputs, witness_at(batch, row), output)
        return outputs

    def _put(self, known: dict[Witness, int], w: Witness, d: int) -> None:
        if known.setdefault(w, d) != d:
            raise DeviceError(
                f"expected one output per dot product in {self.name}, but {w} has {known[w]:#x} and {d:#x}"
            )

    def _encoded(self, name: str, words: Raw, fmt: Format) -> Raw:
        """Encodings of values given as fp32 words; each must be a value of the format exactly."""
        values = words.view(np.float32)
        if fmt.name not in dtypes() or fmt.name == "ue4m3":
            raise DeviceError(
                f"expected a unit of formats that fp32 words can hold, but {name} is {fmt.name}"
            )
        wanted = dtypes()[fmt.name]
        low = np.uint64((1 << fmt.ignored_low_bits) - 1)
        with np.errstate(over="ignore", invalid="ignore"):
            narrow = values.astype(wanted)
            exact = (narrow.astype(np.float32).view(np.uint32) == words).all()
        raw = np.ascontiguousarray(narrow).view(f"u{wanted.itemsize}").astype(np.uint64)
        if not exact or bool((raw & low).any()):
            raise DeviceError(f"expected {self.name} to hold {fmt.name} values in {name}, but some are none")
        return raw
