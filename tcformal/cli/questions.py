"""`separate` and `prove`: questions about two units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click
from rich.text import Text

from tcformal.checks import check_int, check_positive
from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, json_option, main, print_json
from tcformal.cli.single import show_traces
from tcformal.design.names import resolve
from tcformal.query.assumptions import from_texts
from tcformal.query.explain import Trace, explain_witness
from tcformal.query.parting import parting
from tcformal.query.separate import DEFAULT_LIMITS, answer
from tcformal.query.spec import question
from tcformal.query.verdict import Kind, Verdict
from tcformal.report import data, picture, tables
from tcformal.report.text import console
from tcformal.solve.result import Limits


def _question_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--assume", multiple=True, metavar="WHAT", help="finite, normal, positive, nonzero, "
                     "exponents=-14..15, c=0; may be repeated."),
        click.option("--solvers", help="Solvers to ask, separated by commas, in order of start."),
        click.option("--time-limit", type=float, default=DEFAULT_LIMITS.time_s, show_default=True,
                     help="Seconds for each solver."),
        click.option("--memory-limit", type=int, default=DEFAULT_LIMITS.memory_mb, show_default=True,
                     help="MiB for each solver."),
        click.option("--seed", type=int, default=DEFAULT_LIMITS.seed, show_default=True,
                     help="Seed of the solvers."),
        click.option("--explain", "with_explanation", is_flag=True, help="Explain the witness bit by bit."),
    ):  # fmt: skip
        command = option(command)
    return command


def _ask(first: str, second: str, assume: Sequence[str], solvers: str | None, limits: Limits) -> Verdict:
    one, other = resolve(first), resolve(second)
    q = question(one, other, from_texts(one.operands.c, assume))
    members = None if solvers is None else [s.strip() for s in solvers.split(",")]
    err = console(stderr=True)
    with err.status("starting") as status:
        return answer(q, solvers=members, limits=limits, progress=lambda text: status.update(text))


def _report(v: Verdict, hoped: Kind, as_json: bool, with_explanation: bool) -> int:
    traces: list[Trace] = []
    if v.witness is not None:
        traces = [explain_witness(s, v.witness) for s in (v.question.first, v.question.second)]
    if as_json:
        extra = {"explanation": data.explanation_data(traces)} if with_explanation and traces else {}
        print_json(v.to_json() | extra)
    else:
        out = console()
        out.print(tables.verdict_view(v))
        if traces and with_explanation:
            out.print()
            show_traces(traces)
        elif traces:
            out.print(picture.parting_text(traces[0], traces[1], parting(traces[0], traces[1])))
            command = tables.command_line(v.question.first, v.question.names, traces[0].witness)
            out.print(Text("bit by bit: ", style="dim"), end="")
            click.echo(command)
    if v.kind is hoped:
        return OK
    return OTHERWISE if v.kind in (Kind.SEPARATED, Kind.EQUIVALENT, Kind.VACUOUS) else NO_ANSWER


def _question_command(name: str, hoped: Kind, help_text: str) -> None:
    @main.command(name=name, help=help_text)
    @click.argument("first", metavar="UNIT")
    @click.argument("second", metavar="UNIT")
    @_question_options
    @json_option
    def command(
        first: str,
        second: str,
        assume: Sequence[str],
        solvers: str | None,
        time_limit: float,
        memory_limit: int,
        seed: int,
        with_explanation: bool,
        as_json: bool,
    ) -> int:
        check_positive("--time-limit", time_limit)
        check_int("--memory-limit", memory_limit, low=1)
        limits = Limits(time_s=time_limit, memory_mb=memory_limit, seed=seed)
        return _report(_ask(first, second, assume, solvers, limits), hoped, as_json, with_explanation)


_question_command(
    "separate", Kind.SEPARATED, "Find the smallest inputs on which two units differ (exit 0 if found)."
)
_question_command("prove", Kind.EQUIVALENT, "Prove two units equal on all inputs (exit 0 if they are).")
