"""Questions about two units, answered; apart, because an answer about a claim does not wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rich.text import Text

from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, Answer
from tcformal.cli.solver_options import SolverOptions
from tcformal.design.names import named_together, resolve
from tcformal.errors import RecordError
from tcformal.query.assume import from_texts
from tcformal.query.explain.explain import explain_witness
from tcformal.query.explain.trace import Trace, divergence
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.question import Kind
from tcformal.query.separate import kept_or_separated
from tcformal.query.verdict import Verdict
from tcformal.report.escape import say_command, warn
from tcformal.report.parts import telling
from tcformal.report.picture import divergence_text, explanation_data, show_traces
from tcformal.report.tables import verdict_view
from tcformal.report.text import SHOWN, console
from tcformal.shown import JsonObject
from tcformal.simulation.operands.witness import by_value, explain_command
from tcformal.store.answers import identity_of


def witness_traces(v: Verdict[Any]) -> list[Trace]:
    """How both units come to their results on the witness; none without one."""
    if v.witness is None or not isinstance(v.question, EqualityQuestion):
        return []
    return [explain_witness(s, v.witness) for s in (v.question.first, v.question.second)]


def show_verdict(v: Verdict[Any], kept: Sequence[str] = (), *, with_explanation: bool = False) -> None:
    """Print a verdict, what is said of the kept one, and where the units diverge."""
    out, traces = console(), witness_traces(v)
    out.print(verdict_view(v))
    for line in kept:
        out.print(Text(line, style="dim"))
    if traces and with_explanation:
        out.print()
        show_traces(traces)
    elif traces:
        out.print(divergence_text(traces[0], traces[1], divergence(traces[0], traces[1])))
        command = explain_command(v.question.names, traces[0].witness, by_value(v.question.first))
        out.print(Text("bit by bit: ", style="dim"), end="")
        say_command(command)


def _report(v: Verdict[EqualityQuestion], hoped: Kind, with_explanation: bool) -> Answer:
    def data() -> JsonObject:
        traces = witness_traces(v) if with_explanation else []
        extra = {"explanation": explanation_data(traces)} if traces else {}
        return {"id": identity_of(v.question)} | v.to_json() | extra

    def text() -> None:
        kept = [f"id: {identity_of(v.question)[:SHOWN]}; tcformal results show, proof"]
        kept += [f"kept answer of {v.served}; --fresh asks again"] if v.served else []
        show_verdict(v, kept, with_explanation=with_explanation)

    answers = (Kind.SEPARATED, Kind.EQUIVALENT, Kind.VACUOUS)
    code = OK if v.kind is hoped else OTHERWISE if v.kind in answers else NO_ANSWER
    return Answer(data, text, code if v.checked else NO_ANSWER)


def ask_two(
    first: str, second: str, assume: Sequence[str], how: SolverOptions, hoped: Kind,
    with_explanation: bool,
) -> Answer:  # fmt: skip
    """Answer a question about two units."""
    one, other = map(resolve, named_together((first, second)))
    unkept: list[RecordError] = []
    with telling("starting", how.limits.time_s) as tell:
        q = question(one, other, from_texts(one.operands.c, assume))
        v = kept_or_separated(q, replace(how, progress=tell, unkept=unkept.append))
    for error in unkept:
        warn(f"the answer is not kept: {error}")
    return _report(v, hoped, with_explanation)
