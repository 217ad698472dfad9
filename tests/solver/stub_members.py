"""Runners that misbehave, each in its own way; workers import this module by its path."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import NoReturn

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.solve.result import Limits, Outcome, Status

#: Longer than any test may take.
FOREVER_S = 600


def hang(graph: Graph, assertion: Node, limits: Limits) -> Outcome:
    time.sleep(FOREVER_S)
    return Outcome(Status.UNKNOWN)


def hang_with_child(graph: Graph, assertion: Node, limits: Limits) -> Outcome:
    child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({FOREVER_S})"])
    with open(os.environ["STUB_PIDS"], "w") as stream:
        stream.write(f"{os.getpid()} {child.pid}\n")
    time.sleep(FOREVER_S)
    return Outcome(Status.UNKNOWN)


def leave(graph: Graph, assertion: Node, limits: Limits) -> NoReturn:
    os._exit(7)


def killed(graph: Graph, assertion: Node, limits: Limits) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def aborts_without_memory(graph: Graph, assertion: Node, limits: Limits) -> NoReturn:
    sys.stderr.write("terminate called after throwing an instance of 'std::bad_alloc'\n")
    sys.stderr.flush()
    os.abort()


def exhaust(graph: Graph, assertion: Node, limits: Limits) -> Outcome:
    hoard = [bytearray(16 << 20) for _ in range(1 << 16)]
    return Outcome(Status.UNKNOWN, reason=f"held {len(hoard)} blocks")


def raises(graph: Graph, assertion: Node, limits: Limits) -> NoReturn:
    raise ValueError("the solver tripped")


def not_installed(graph: Graph, assertion: Node, limits: Limits) -> NoReturn:
    raise ModuleNotFoundError("No module named 'gone'")


def gives_up(graph: Graph, assertion: Node, limits: Limits) -> Outcome:
    return Outcome(Status.UNKNOWN, reason="gave up")


def says_sat_ones(graph: Graph, assertion: Node, limits: Limits) -> Outcome:
    return Outcome(Status.SAT, {name: (1 << node.width) - 1 for name, node in graph.inputs.items()})


def says_sat_too_wide(graph: Graph, assertion: Node, limits: Limits) -> Outcome:
    return Outcome(Status.SAT, {name: 1 << node.width for name, node in graph.inputs.items()})


def says_unsat(graph: Graph, assertion: Node, limits: Limits) -> Outcome:
    return Outcome(Status.UNSAT)


def chatters(graph: Graph, assertion: Node, limits: Limits) -> Outcome:
    os.write(1, b'{"status": "sat"}\n' * 10_000)
    sys.stdout.write("c a progress line\n")
    return Outcome(Status.UNSAT)


def tells_seed(graph: Graph, assertion: Node, limits: Limits) -> Outcome:
    return Outcome(Status.UNKNOWN, reason=f"seed {limits.seed}, {limits.memory_mb} MB, {limits.time_s} s")
