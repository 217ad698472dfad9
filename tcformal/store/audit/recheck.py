"""A worker process that checks stored certificates: one JSON request a line.

A request holds `dag` (the text of a DAG whose root is named `assertion`), `certificate` (a record's entry),
`folder` and `seconds` of processor time.  The answer holds `steps` and `checker`, or `refused` with the
reason, or `late`.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import os
import resource
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tcformal.backends.cnf import to_cnf
from tcformal.errors import TcformalError
from tcformal.ir.walk import from_json
from tcformal.solve.certificate import CHECKER, verify
from tcformal.solve.worker import limit_resource
from tcformal.spawning import init_child
from tcformal.store.certificates import CertificateFile
from tcformal.store.lines import Record
from tcformal.version import collect_rarely

#: Address space of this process, in bytes.
_MEMORY = 6 << 30


class DeadlineError(BaseException):
    """The processor time of a request is used up; `except Exception` does not catch it."""


#: Seconds after which the alarm rings again: the first is lost where Python is in a finalizer just then.
_AGAIN_S = 1.0


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """A context that raises DeadlineError after `seconds` of processor time."""
    armed = True

    def ring(*_: object) -> None:
        if armed:
            raise DeadlineError

    if seconds <= 0:
        raise DeadlineError  # a timer may ring only after what is done here
    signal.signal(signal.SIGPROF, ring)
    try:
        signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-6), _AGAIN_S)
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_PROF, 0.0)


class CheckBench:
    """The worker's state: certificate files of results folders, cached between requests."""

    def __init__(self) -> None:
        self._certificates: dict[str, CertificateFile] = {}
        self._cut_off = False

    def answer(self, request: Mapping[str, Any]) -> Record:
        """The answer to one request: `steps` and `checker`, `refused`, or `late`."""
        self.tidy()
        try:
            with deadline(request["seconds"]):
                return self._proof(request)
        except DeadlineError:
            self._cut_off = True
            return {"late": True}
        except TcformalError as error:
            return {"refused": str(error)}

    def tidy(self) -> None:
        """Clear all caches after a timed-out request, which may have left them incomplete."""
        if not self._cut_off:
            return
        self._cut_off = False
        for cached in [x for x in gc.get_objects() if isinstance(x, functools._lru_cache_wrapper)]:
            cached.cache_clear()
        self._certificates.clear()

    def _proof(self, request: Mapping[str, Any]) -> Record:
        """Check one certificate against the clauses of a DAG, which are generated here."""
        graph, roots = from_json(request["dag"])
        kept = self._certificates.setdefault(request["folder"], CertificateFile(Path(request["folder"])))
        certificate = kept.find(request["certificate"])
        return {"steps": verify(to_cnf(graph, roots["assertion"]), certificate), "checker": CHECKER}


def main() -> None:
    """Answer requests until standard input ends; a checker's own output goes to stderr."""
    init_child(int(sys.argv[1]))
    limit_resource(resource.RLIMIT_AS, _MEMORY)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    collect_rarely()
    bench = CheckBench()
    print(json.dumps({"ready": True}), file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(bench.answer(json.loads(line))), file=out, flush=True)
        bench.tidy()


if __name__ == "__main__":
    main()
