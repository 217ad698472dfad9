"""Runners that misbehave, each in its own way; workers import this module by its path."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import NoReturn

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.solve.result import LARGEST_PROOF, Limits, RunnerOutcome, Status
from tcformal.solve.sat import run_glucose

#: Enters a stub runner into the registry, as `solve.conftest.stub` says.
Stub = Callable[..., str]

#: Longer than any test may take.
FOREVER_S = 600


def hang(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    time.sleep(FOREVER_S)
    return RunnerOutcome(Status.UNKNOWN)


def hang_with_child(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({FOREVER_S})"])
    with open(os.environ["STUB_PIDS"], "w") as stream:
        stream.write(f"{os.getpid()} {child.pid}\n")
    time.sleep(FOREVER_S)
    return RunnerOutcome(Status.UNKNOWN)


def leave(graph: Graph, assertion: Node, limits: Limits) -> NoReturn:
    os._exit(7)


def killed(graph: Graph, assertion: Node, limits: Limits) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def aborts_without_memory(graph: Graph, assertion: Node, limits: Limits) -> NoReturn:
    sys.stderr.write("terminate called after throwing an instance of 'std::bad_alloc'\n")
    sys.stderr.flush()
    os.abort()


def exhaust(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    hoard = [bytearray(16 << 20) for _ in range(1 << 16)]
    return RunnerOutcome(Status.UNKNOWN, reason=f"held {len(hoard)} blocks")


def raises(graph: Graph, assertion: Node, limits: Limits) -> NoReturn:
    raise ValueError("the solver tripped")


def not_installed(graph: Graph, assertion: Node, limits: Limits) -> NoReturn:
    raise ModuleNotFoundError("No module named 'gone'")


def gives_up(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    return RunnerOutcome(Status.UNKNOWN, reason="gave up")


def says_sat_ones(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    return RunnerOutcome(Status.SAT, {name: (1 << node.width) - 1 for name, node in graph.inputs.items()})


def says_sat_too_wide(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    return RunnerOutcome(Status.SAT, {name: 1 << node.width for name, node in graph.inputs.items()})


def says_unsat(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    return RunnerOutcome(Status.UNSAT)


def chatters(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    os.write(1, b'{"status": "sat"}\n' * 10_000)
    sys.stdout.write("c a progress line\n")
    return RunnerOutcome(Status.UNSAT)


def tells_seed(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    return RunnerOutcome(
        Status.UNKNOWN, reason=f"seed {limits.seed}, {limits.memory_mb} MB, {limits.time_s} s"
    )


def sum_question() -> tuple[Graph, Node]:
    """Are two ways to bracket a sum of three ever different?  They are not, and the proof has many steps."""
    graph = Graph()
    x, y, z = (graph.input(name, 6) for name in "xyz")
    left, right = graph.add_mod(graph.add_mod(x, y), z), graph.add_mod(x, graph.add_mod(y, z))
    return graph, graph.not_(graph.eq(left, right))


def proves_another_question(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    return run_glucose(*sum_question(), limits)


def proves_nothing(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    return RunnerOutcome(Status.UNSAT, proof="1 0\n-1 0\n0\n")


def writes_no_proof(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    return RunnerOutcome(Status.UNSAT)


def stops_before_the_end(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    proof = run_glucose(graph, assertion, limits).proof
    return RunnerOutcome(Status.UNSAT, proof=proof[: len(proof) // 2])


def repeats_a_true_step(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    """A proof in which nothing is wrong, and no end to be seen: the checker has some 100 MB to read."""
    return RunnerOutcome(Status.UNSAT, proof="1 -1 0\n" * 15_000_000 + "0\n")


def never_stops_proving(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    proof = ["1 -1 0\n"]
    while True:
        proof *= 2


def fills_the_disk(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    with tempfile.TemporaryFile(buffering=0) as file:
        file.seek(LARGEST_PROOF)
        file.write(b"0\n")
    return RunnerOutcome(Status.UNSAT, proof="0\n")


def proves_slowly(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    time.sleep(1.5)
    return run_glucose(graph, assertion, limits)
