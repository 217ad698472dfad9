"""Error comparison of two programs of the language as a kind of question."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tcformal.ir.build import Graph
from tcformal.oracle.values import format_value, hex_word
from tcformal.programs.program import Program, known_programs, program, read_program
from tcformal.query.assume import from_texts
from tcformal.query.kinds.comparison.drawn import draw
from tcformal.query.kinds.comparison.kind import AlgorithmKind
from tcformal.query.kinds.comparison.pair import ProgramPair
from tcformal.query.kinds.comparison.question import ErrorComparison, error_comparison
from tcformal.query.kinds.comparison.replay import ComparisonReplay
from tcformal.simulation.operands.witness import read_witness
from tcformal.solve.members import default_members

#: Random rows before a solver is asked: few, because one row with a larger error is enough.
_ROWS = 2048


class ProgramsKind(AlgorithmKind):
    """Two programs on shared inputs: VIOLATED with inputs on which the first is worse, or HOLDS."""

    name = "programs"

    def search(self, q: ErrorComparison, seed: int) -> dict[str, int] | None:
        """The random row with the largest excess error that refutes the claim; None where none does."""
        outcome = draw(q.parameters, _ROWS, seed)
        if outcome.witness is None:
            return None
        inputs = outcome.witness.inputs()
        return inputs if self.replay(q, inputs).violates else None

    def members(self, solvers: Sequence[str] | None) -> Sequence[str] | None:
        """The named solvers, or every installed one in the default order."""
        return default_members() if solvers is None else solvers

    def none_text(self, q: ErrorComparison, deciders: str) -> str:
        """The reason of HOLDS: the claim, and the solvers that found no inputs."""
        what = "difference" if q.parameters.differ else "larger error"
        return f"{q.parameters.claim}: {deciders} found no inputs with a {what}"

    def parts(self, q: ErrorComparison) -> dict[str, Any]:
        """The parts of a record that identify the question."""
        return pair_parts(_pair(q))

    def build(self, parts: Mapping[str, Any], graph: Graph | None = None) -> ErrorComparison:
        """Build the question again from its identifying parts."""
        worse, other = program_from(parts["worse"]), program_from(parts["other"])
        more_than = parts["more_than"]
        return error_comparison(
            ProgramPair(
                worse=worse, other=other, products=parts["products"],
                c_exponents=(parts["c_exponents"][0], parts["c_exponents"][1]),
                more_than=None if more_than is None else Fraction(more_than),
                counted_in=parts["measure"], results_differ=parts["differ"],
                assumptions=from_texts(worse.input_format("c"), parts["assumptions"]),
            ),
            graph,
        )  # fmt: skip

    def read_witness(self, q: ErrorComparison, data: Mapping[str, Any]) -> dict[str, int]:
        """Read inputs from data; RecordError where their shape does not fit."""
        n = q.parameters.products
        return read_witness(q.parameters.formats, {"a": n, "b": n}, data).inputs()

    def commands(self, q: ErrorComparison, replayed: ComparisonReplay) -> list[str]:
        """A `tcformal explain` command for each program."""
        return [explain_program(p, q.parameters.formats, replayed) for p in q.parameters.programs]


def explain_program(p: Program, formats: Mapping[str, Any], run: ComparisonReplay) -> str:
    """The shell command that shows a program's stages on the inputs of a replay."""
    w, texts = run.witness, []
    for letter, row in (("a", w.a), ("b", w.b), ("c", (w.c,))):
        words = [format_value(formats[letter], x) for x in row]
        words = [hex_word(formats[letter], x) if "nan" in t else t for x, t in zip(row, words, strict=True)]
        texts.append(f"--{letter} {shlex.quote(','.join(words))}")
    return " ".join(["tcformal explain", shlex.quote(p.name), *texts])


def pair_parts(what: ProgramPair) -> dict[str, Any]:
    """The identifying parts of a question about two programs."""
    return {
        "kind": ProgramsKind.name,
        "worse": program_parts(what.worse),
        "other": program_parts(what.other),
        "products": what.products,
        "c_exponents": list(what.c_exponents),
        "more_than": None if what.more_than is None else str(what.more_than),
        "measure": what.counted_in,
        "differ": what.results_differ,
        "assumptions": what.assumptions.spellings(),
    }


def program_parts(p: Program) -> str | dict[str, Any]:
    """A program in a record: its name, or its text if it is not built in."""
    if p.name.partition("@")[0] in known_programs() and program(p.name) == p:
        return p.name
    return {
        "name": p.name, "title": p.title, "source": p.source, "note": p.note, "body": p.body,
        "inputs": dict(p.inputs), "parameters": dict(p.parameters),
    }  # fmt: skip


def program_from(data: str | Mapping[str, Any]) -> Program:
    """Load the program of a record."""
    if isinstance(data, str):
        return program(data)
    return read_program({k: v for k, v in data.items() if k != "name"}, data["name"])


def _pair(q: ErrorComparison) -> ProgramPair:
    what = q.parameters
    if not isinstance(what, ProgramPair):
        raise TypeError(f"expected two programs, but got {what!r}")
    return what


#: The only instance.
PROGRAMS = ProgramsKind()
