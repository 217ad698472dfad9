"""The solver process: one JSON request on stdin, one JSON answer line on stdout.

Its one argument is the process id of its parent, with which it ends.

The request holds `solver`, `runner`, `dag` (the text of a DAG whose root is named `assertion`), `time_s`,
`memory_mb`, `seed` and `proof` (the file that a proof is written to).  The answer holds `solver`, `status`,
`model` (a hexadecimal value for every input of the DAG, or null), `seconds` and `reason`.
"""

from __future__ import annotations

import gc
import importlib
import json
import math
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import from_json
from tcformal.shown import JsonObject
from tcformal.solve.result import LARGEST_PROOF, Limits, RunnerOutcome, Status, is_out_of_memory
from tcformal.spawning import end_with_parent

#: A request or an answer: one JSON object.
Message = JsonObject
Runner = Callable[[Graph, Node, Limits], RunnerOutcome]

#: Processor seconds above the time limit after which the system ends a worker that nobody watches.
CPU_GRACE_S = 5

#: Stack for solvers that walk a deep DAG by recursion; the usual 8 MiB end at some 20,000 levels.
STACK_MB = 120


def limit_resource(what: int, value: int) -> None:
    """Lower the soft limit of a resource; the hard limit stays, so that reporting can raise it again."""
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def confine(limits: Limits) -> None:
    """Limit this process's memory, processor time and files, disable core dumps, allow deep recursion."""
    limit_resource(resource.RLIMIT_STACK, STACK_MB << 20)
    limit_resource(resource.RLIMIT_CORE, 0)
    limit_resource(resource.RLIMIT_FSIZE, LARGEST_PROOF)
    limit_resource(resource.RLIMIT_CPU, math.ceil(limits.time_s) + CPU_GRACE_S)
    limit_resource(resource.RLIMIT_AS, limits.memory_mb << 20)


def _lift_memory_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def load_runner(path: str) -> Runner:
    """Import the function `module:function`; ImportError or AttributeError if it does not exist."""
    module, _, name = path.partition(":")
    runner: Runner = getattr(importlib.import_module(module), name)
    return runner


def _ask(request: Message, limits: Limits) -> tuple[RunnerOutcome, dict[str, str] | None]:
    """Build the graph and run the solver; the model is completed to all inputs of the DAG."""
    graph, roots = from_json(request["dag"])
    outcome = load_runner(request["runner"])(graph, roots["assertion"], limits)
    if outcome.proof:
        Path(request["proof"]).write_text(outcome.proof, encoding="ascii")
    if outcome.model is None:
        return outcome, None
    return outcome, {name: hex(outcome.model.get(name, 0)) for name in graph.inputs}


def answer(request: Message) -> Message:
    """The answer to one request; failures are answers, too."""
    start = time.monotonic()
    model = None
    try:
        limits = Limits(request["time_s"], request["memory_mb"], request["seed"])
        confine(limits)
        outcome, model = _ask(request, limits)
    except Exception as error:  # noqa: BLE001  any failure of a solver costs its own answer only
        _lift_memory_limit()
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, MemoryError) or is_out_of_memory(reason):
            outcome = RunnerOutcome(Status.MEMORY, reason=f"ran out of memory ({reason})")
        elif isinstance(error, ModuleNotFoundError):
            outcome = RunnerOutcome(Status.MISSING, reason=reason)
        else:
            outcome = RunnerOutcome(Status.CRASH, reason=reason)
    return {
        "solver": request["solver"],
        "status": outcome.status.value,
        "model": model,
        "seconds": time.monotonic() - start,
        "reason": outcome.reason,
    }


def serve(answered: Callable[[Message], Message]) -> None:
    """Answer the request on stdin; the solver's or checker's own output goes to stderr."""
    end_with_parent(int(sys.argv[1]))
    gc.disable()  # the process ends with its answer, and most of what it makes lives as long
    out = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    line = json.dumps(answered(json.load(sys.stdin)))
    with os.fdopen(out, "w") as stream:
        stream.write(line + "\n")


if __name__ == "__main__":
    serve(answer)
