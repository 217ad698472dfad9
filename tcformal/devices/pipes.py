"""Tiles through a program: operands on its standard input, results on its standard output, as raw words."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence

import numpy as np

from tcformal.devices.tiles import Tiles
from tcformal.errors import DeviceError
from tcformal.simulation.operands.random import Raw

#: Exit code of a probe whose result depends on a control register.
_CONTROL_MATTERED = 5


def through(words: Sequence[str], tiles: Tiles, name: str, seconds: float | None = None) -> Raw:
    """D of all tiles, from one process that reads their number and then A, B and C.

    Errors: DeviceError where the program fails, does not answer within `seconds`, or writes too little.
    """
    count, m, _ = tiles.a.shape
    head = np.array([count], dtype=np.uint64).tobytes()
    data = b"".join([head, *(np.ascontiguousarray(x).tobytes() for x in (tiles.a, tiles.b, tiles.c))])
    try:
        done = subprocess.run(words, input=data, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise DeviceError(f"expected {_probe(name)} to end within {seconds:g} s, but it runs on") from None
    except OSError as error:
        raise DeviceError(f"expected {_probe(name)} to start, but got: {error.strerror}") from None
    if done.returncode:
        raise DeviceError(_failure(name, done.returncode, done.stderr.decode(errors="replace")))
    d = np.frombuffer(done.stdout, dtype=tiles.c.dtype)
    if d.size != tiles.c.size:
        raise DeviceError(f"expected {tiles.c.size} results of {name}, but {d.size} came")
    return d.reshape(count, m, tiles.c.shape[2])


def _failure(name: str, code: int, errors: str) -> str:
    if code < 0:
        return f"expected {_probe(name)} to run, but the process was ended by {signal.Signals(-code).name}"
    mattered = code == _CONTROL_MATTERED
    what = "to give one result under every setting of the control register" if mattered else "to run"
    lines = errors.strip().splitlines()
    return f"expected {_probe(name)} {what}, but {lines[-1] if lines else f'it exits with {code}'}"


def _probe(name: str) -> str:
    """What a sentence calls the probe of an instruction."""
    return f"the probe of {name}"
