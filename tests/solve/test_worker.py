"""One worker process: what it reads, what it writes, and how it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import to_json
from tcformal.solve.members import registry
from tcformal.solve.result import Limits

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def question() -> tuple[Graph, Node]:
    """x + y = 5 and x < y, with a third input that the answer does not depend on."""
    graph = Graph()
    x, y, free = graph.input("a[0].x", 70), graph.input("y", 70), graph.input("free", 3)
    right = graph.and_(graph.eq(graph.add_mod(x, y), graph.const(5, 70)), graph.ult(x, y))
    return graph, graph.and_(right, graph.eq(free, free), graph.ule(graph.const(0, 3), free))


def work(runner: str, graph: Graph, assertion: Node, **changes: Any) -> subprocess.CompletedProcess[str]:
    """Run the worker on one request and wait for it."""
    request = {
        "solver": "someone",
        "runner": runner,
        "dag": to_json(graph, {"assertion": assertion}),
        "time_s": 60.0,
        "memory_mb": 4096,
        "seed": 3,
        **changes,
    }
    return subprocess.run(
        [sys.executable, "-P", "-m", "tcformal.solve.worker", str(os.getpid())],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)])},
    )


def answer(runner: str, graph: Graph, assertion: Node, **changes: Any) -> dict[str, Any]:
    """The one line that the worker writes."""
    done = work(runner, graph, assertion, **changes)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    data = json.loads(done.stdout)
    assert set(data) == {"solver", "status", "model", "seconds", "reason"}
    return dict(data)


@pytest.mark.parametrize("name", ["bitwuzla", "z3", "cvc5"])
def test_a_model_has_every_input(name: str) -> None:
    graph, assertion = question()
    told = answer(registry[name].runner, graph, assertion)
    assert told["status"] == "sat"
    model = {key: int(value, 16) for key, value in told["model"].items()}
    assert set(model) == {"a[0].x", "y", "free"}
    assert (model["a[0].x"] + model["y"]) % 2**70 == 5
    assert model["a[0].x"] < model["y"]


@pytest.mark.parametrize("name", ["bitwuzla", "z3", "cvc5"])
@pytest.mark.parametrize("value", [0, 1])
def test_a_constant_assertion_is_answered(name: str, value: int) -> None:
    graph = Graph()
    told = answer(registry[name].runner, graph, graph.const(value, 1))
    assert told["status"] == ("sat" if value else "unsat")
    assert told["model"] == ({} if value else None)


def test_limits_and_seed_reach_the_runner() -> None:
    told = answer("stub_members:tells_seed", *question(), time_s=12.5, memory_mb=900, seed=77)
    assert told["reason"] == "seed 77, 900 MB, 12.5 s"


@pytest.mark.parametrize(
    ("runner", "status", "reason"),
    [
        ("stub_members:exhaust", "memory", "ran out of memory (MemoryError"),
        ("stub_members:raises", "crash", "ValueError: the solver tripped"),
        ("stub_members:not_installed", "missing", "ModuleNotFoundError: No module named 'gone'"),
        ("no_such_module:run", "missing", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("stub_members:no_such_runner", "crash", "AttributeError"),
    ],
)
def test_failures_are_answers(runner: str, status: str, reason: str) -> None:
    told = answer(runner, *question(), memory_mb=300)
    assert told["status"] == status
    assert told["reason"].startswith(reason)
    assert told["model"] is None


def test_a_text_that_is_no_dag_is_an_answer() -> None:
    told = answer("stub_members:says_unsat", *question(), dag='{"nodes": 3}')
    assert told["status"] == "crash"
    assert "expected a serialised DAG" in told["reason"]


def test_what_a_solver_prints_is_kept_apart() -> None:
    done = work("stub_members:chatters", *question())
    assert json.loads(done.stdout)["status"] == "unsat"
    assert "c a progress line" in done.stderr


def test_importing_the_package_imports_no_solver() -> None:
    program = (
        "import sys, tcformal.solve.portfolio, tcformal.solve.worker, tcformal.solve.runners\n"
        "print(sorted({'z3', 'cvc5', 'bitwuzla'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0, 100, 0), "expected a number above zero for time_s, but got 0"),
        ((-1.5, 100, 0), "expected a number above zero for time_s, but got -1.5"),
        ((float("nan"), 100, 0), "expected a number above zero for time_s, but got nan"),
        ((float("inf"), 100, 0), "expected at most 1000000000 s for time_s, but got inf"),
        ((1, 0, 0), "expected an integer from 1 to 1099511627776 for memory_mb, but got 0"),
        ((1, 1.5, 0), "expected an integer for memory_mb, but got 1.5"),
        ((1, 100, -1), "expected an integer from 0 to 2147483647 for seed, but got -1"),
    ],
)
def test_limits_rejects(arguments: tuple[Any, Any, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        Limits(*arguments)
    assert str(caught.value) == sentence


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has ended")
def test_a_worker_ends_with_its_parent(tmp_path: Path) -> None:
    """A run killed with SIGKILL leaves no solver behind."""
    child = tmp_path / "pid"
    code = (
        "import os, subprocess, sys, time\n"
        "from functools import partial\n"
        "from tcformal.spawning import end_with_parent\n"
        "made = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'],"
        " preexec_fn=partial(end_with_parent, os.getpid()))\n"
        f"open({str(child)!r}, 'w').write(str(made.pid) + ' ')\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as parent:
        deadline = time.monotonic() + 60
        while not (child.exists() and child.read_text().endswith(" ")) and time.monotonic() < deadline:
            time.sleep(0.02)
        pid = int(child.read_text())
        parent.kill()
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists()
