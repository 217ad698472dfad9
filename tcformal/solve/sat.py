"""The runners of the SAT solvers: each solves our own clauses and writes proofs of unsatisfiability.

No rewriter stands between a question and these clauses: a proof that they are unsatisfiable is a proof about
the question.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from tcformal.backends.cnf import Cnf, to_cnf
from tcformal.errors import MissingSolverError
from tcformal.installed import install
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.solve.result import Limits, RunnerOutcome, Status
from tcformal.spawning import end_with_parent

#: The proof of clauses among which one is empty: that clause again.
TRIVIAL_PROOF = "0\n"


def _trivial(cnf: Cnf) -> RunnerOutcome | None:
    """The answer for clauses that need no search."""
    if not all(cnf.clauses):
        return RunnerOutcome(Status.UNSAT, proof=TRIVIAL_PROOF)
    return None if cnf.clauses else RunnerOutcome(Status.SAT, cnf.model(()))


def _in_process(name: str, cnf: Cnf, conflicts: int | None = None) -> RunnerOutcome:
    """Run a solver of python-sat; it takes no seed and keeps its proof in memory."""
    from pysat.solvers import Solver

    if (known := _trivial(cnf)) is not None:
        return known
    with Solver(name=name, bootstrap_with=cnf.clauses, with_proof=True) as solver:
        if conflicts is None:
            answered = solver.solve()
        else:
            solver.conf_budget(conflicts)
            answered = solver.solve_limited()
        if answered is None:
            return RunnerOutcome(Status.UNKNOWN, reason=f"{name} gave up")
        if answered:
            return RunnerOutcome(Status.SAT, cnf.model(x for x in solver.get_model() if x > 0))
        # No line at all where unit propagation alone refutes the clauses.
        return RunnerOutcome(Status.UNSAT, proof="".join(f"{step}\n" for step in solver.get_proof()))


def refuted(cnf: Cnf) -> RunnerOutcome:
    """Run Glucose on clauses without a limit."""
    return _in_process("glucose42", cnf)


def run_cadical(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    """Ask CaDiCaL 3 whether some input makes `assertion` equal 1."""
    return _in_process("cadical300", to_cnf(graph, assertion))


def run_glucose(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    """Ask Glucose 4.2 whether some input makes `assertion` equal 1; its proofs are the shortest."""
    return _in_process("glucose42", to_cnf(graph, assertion))


def run_briefly(cnf: Cnf, conflicts: int) -> RunnerOutcome:
    """Run Glucose 4.2 in this process, for questions easier than a process start.

    UNKNOWN where python-sat is not installed: others are asked then.
    """
    try:
        return _in_process("glucose42", cnf, conflicts)
    except ModuleNotFoundError:
        return RunnerOutcome(Status.UNKNOWN, reason="python-sat is not installed")


def kissat_program() -> Path:
    """The path of kissat in the passagemath-kissat wheel; MissingSolverError without it."""
    # Imported here, because it would be a third of the start of the other solvers.
    from importlib import metadata

    try:
        files = metadata.files("passagemath-kissat") or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        path = Path(str(file.locate()))
        if path.name == "kissat" and os.access(path, os.X_OK):
            return path
    raise MissingSolverError(
        f"expected the program kissat in its package, but found none: {install('kissat')}"
    )


def run_kissat(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    """Ask kissat whether some input makes `assertion` equal 1."""
    cnf = to_cnf(graph, assertion)
    if (known := _trivial(cnf)) is not None:
        return known
    with tempfile.TemporaryDirectory(prefix="tcformal-") as folder:
        question, proof = Path(folder, "question.cnf"), Path(folder, "proof.drat")
        question.write_text(cnf.dimacs())
        options = ["-q", "--no-binary", "--no-factor", f"--seed={limits.seed}"]
        command = [str(x) for x in (kissat_program(), *options, question, proof)]
        tied = partial(end_with_parent, os.getpid())
        ended = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=tied)
        sys.stderr.write(ended.stderr)
        if ended.returncode == 10:
            rows = [line[1:].split() for line in ended.stdout.splitlines() if line.startswith("v")]
            return RunnerOutcome(Status.SAT, cnf.model(int(x) for row in rows for x in row if int(x) > 0))
        if ended.returncode == 20:
            return RunnerOutcome(Status.UNSAT, proof=proof.read_text())
        return RunnerOutcome(Status.UNKNOWN, reason=f"kissat gave up with exit status {ended.returncode}")
