"""The process that checks kept evidence, started once for all stores: each of them has a bench of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from tcformal.store import rechecker
from tcformal.store.rechecker import Rechecker


class One(Rechecker):
    """The process itself, which answers one store after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.free = Lock()

    def _started(self) -> subprocess.Popen[bytes] | None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rechecker, "_MODULE", "shared_checker")
            patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
            return super()._started()


class SharedRechecker(Rechecker):
    """In the place of a process of a store's own, which takes half a second to start."""

    _one = One()
    _numbers = count()

    def __init__(self) -> None:
        super().__init__()
        self._number = next(self._numbers)

    def _ask(self, folder: Path, what: Mapping[str, Any], seconds: float | None) -> dict[str, Any]:
        with self._one.free:
            seconds = self.seconds if seconds is None else seconds
            return self._one._ask(folder, {**what, "store": self._number}, seconds)


def main() -> None:
    """What was checked for one store is checked again for another."""
    from tcformal.store.audit import recheck

    class Benches(recheck.CheckBench):
        asking = -1

        def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
            if request["store"] != self.asking:
                self._certificates.clear()
                self.asking = request["store"]
            return super().answer(request)

    recheck.CheckBench = Benches  # type: ignore[misc]
    recheck.main()


if __name__ == "__main__":
    main()
