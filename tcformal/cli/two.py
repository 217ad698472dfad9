"""Questions about two units, answered; apart, because an answer about a claim does not wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.text import Text

from tcformal.cli.explain import show_traces
from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE
from tcformal.cli.solver_options import SolverOptions
from tcformal.design.names import resolve
from tcformal.errors import RecordError
from tcformal.query.assume import from_texts
from tcformal.query.explain.explain import explain_witness
from tcformal.query.explain.trace import Trace, divergence
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.question import Kind
from tcformal.query.separate import kept_or_separated
from tcformal.query.verdict import Verdict
from tcformal.report.escape import print_json, say_command, warn
from tcformal.report.picture import divergence_text, explanation_data
from tcformal.report.tables import verdict_view
from tcformal.report.text import SHOWN, console, waiting
from tcformal.simulation.operands.witness import by_value, explain_command
from tcformal.store.answers import identity_of


def _report(v: Verdict[EqualityQuestion], hoped: Kind, as_json: bool, with_explanation: bool) -> int:
    traces: list[Trace] = []
    if v.witness is not None:
        traces = [explain_witness(s, v.witness) for s in (v.question.first, v.question.second)]
    if as_json:
        extra = {"explanation": explanation_data(traces)} if with_explanation and traces else {}
        print_json({"id": identity_of(v.question)} | v.to_json() | extra)
    else:
        out = console()
        out.print(verdict_view(v))
        out.print(Text(f"id: {identity_of(v.question)[:SHOWN]}; tcformal results show, proof", style="dim"))
        if v.served:
            out.print(Text(f"kept answer of {v.served}; --fresh asks again", style="dim"))
        if traces and with_explanation:
            out.print()
            show_traces(traces)
        elif traces:
            out.print(divergence_text(traces[0], traces[1], divergence(traces[0], traces[1])))
            command = explain_command(v.question.names, traces[0].witness, by_value(v.question.first))
            out.print(Text("bit by bit: ", style="dim"), end="")
            say_command(command)
    if not v.checked:
        return NO_ANSWER
    if v.kind is hoped:
        return OK
    return OTHERWISE if v.kind in (Kind.SEPARATED, Kind.EQUIVALENT, Kind.VACUOUS) else NO_ANSWER


def ask_two(
    first: str, second: str, assume: Sequence[str], how: SolverOptions, hoped: Kind, as_json: bool,
    with_explanation: bool,
) -> int:  # fmt: skip
    """Answer a question about two units, print the answer, and return the exit code."""
    one, other = resolve(first), resolve(second)
    unkept: list[RecordError] = []
    with waiting(how.limits.time_s) as tell:
        q = question(one, other, from_texts(one.operands.c, assume))
        v = kept_or_separated(q, replace(how, progress=tell, unkept=unkept.append))
    for error in unkept:
        warn(f"the answer is not kept: {error}")
    return _report(v, hoped, as_json, with_explanation)
