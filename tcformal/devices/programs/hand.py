"""`hand:NAME`: an offline device: inputs are printed for a person, and answers are read from files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.devices.device import Ability, Device
from tcformal.devices.programs.program import hello, result_word
from tcformal.errors import DeviceError, InputError
from tcformal.files import json_of, read_named
from tcformal.simulation.operands.batch import Batch, Raw, inputs_digest, witness_at
from tcformal.simulation.operands.witness import to_data


class HandDevice(Device):
    """An offline device, asked one batch at a time.

    A batch without answers is `waiting`, and run raises DeviceError; `answer` gives the answers, in the
    words of the protocol of `program`.
    """

    def __init__(self, text: str) -> None:
        self.name = f"hand:{text}"
        #: The batch that waits for answers.
        self.waiting: Batch | None = None
        self._file: Path | None = None

    def abilities(self) -> Sequence[Ability]:
        """Every unit."""
        return [Ability("any unit", "by hand")]

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """The identity of the device: its name."""
        del spec, k
        return {"device": self.name, "instruction": "by hand"}

    def answer(self, file: Path) -> None:
        """Set the file with the answers to the next batch."""
        self._file = file

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        """The answers in the file; DeviceError without a file, InputError for answers to other inputs."""
        if self._file is None:
            self.waiting = batch
            raise DeviceError(
                f"expected answers of {self.name} to {len(batch.c)} inputs, but there are none yet"
            )
        file, self._file = self._file, None
        answers: dict[str, int] = {}
        for data in _objects(file):
            if "id" in data:
                answers[str(data["id"])] = result_word(spec, data, f"{file}, {data['id']!s:.40}")
        ids = [str(line["id"]) for line in lines_of(spec, batch)[1:]]
        missing = [id_ for id_ in ids if id_ not in answers]
        if missing or len(answers) != len(ids):
            raise InputError(
                f"expected answers to the {len(ids)} inputs that are asked now in {file}, but "
                + (f"{missing[0]} has none" if missing else f"there are {len(answers)}")
            )
        return np.array([answers[id_] for id_ in ids], dtype=np.uint64)


def lines_of(spec: UnitSpec, batch: Batch) -> list[dict[str, Any]]:
    """The lines of a batch in the protocol of `program`: the request, then each dot product.

    Its ids begin with a digest of the batch, so that answers to another are not taken for answers to this.
    """
    start = inputs_digest(batch)[:8]
    rows = [{"id": f"{start}-{row}", **to_data(spec, witness_at(batch, row))} for row in range(len(batch.c))]
    return [hello(spec, batch.a.shape[1]), *rows]


def _objects(file: Path) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of a file, one per line; other lines, such as a banner, are skipped."""
    for text in read_named(file, "answers as JSON lines").splitlines():
        try:
            data = json_of(text)
        except ValueError:
            continue
        if isinstance(data, dict):
            yield data
