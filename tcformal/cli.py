"""The command line: parse, call, print, exit code; no arithmetic."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import click
from rich.progress import Progress
from rich.text import Text

from tcformal.checks import check_int, check_positive
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.filters import Filters
from tcformal.design.names import FAMILIES, resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import TcformalError
from tcformal.formats.catalog import FORMATS, format_named
from tcformal.models import Unit, scale_count
from tcformal.query import conformance
from tcformal.query.assumptions import from_texts
from tcformal.query.explain import Trace, explain_witness, witness_of
from tcformal.query.parting import parting
from tcformal.query.separate import DEFAULT_LIMITS, answer
from tcformal.query.spec import Witness, common_k, question
from tcformal.query.verdict import Kind, Verdict
from tcformal.report import data, picture, tables
from tcformal.report.text import console, hex_word, table, with_decimal
from tcformal.report.units import unit_card, units_table
from tcformal.solve.result import Limits
from tcformal.version import VERSION

#: Exit codes: answered as asked, answered otherwise, bad input, no answer.
OK, OTHERWISE, BAD_INPUT, NO_ANSWER = 0, 1, 2, 3


class OneSentence(click.Group):
    """A group whose every failure is one sentence on standard error and an exit code."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command; TcformalError and click's own errors become one line."""
        kwargs["standalone_mode"] = False
        try:
            sys.exit(super().main(*args, **kwargs) or OK)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(BAD_INPUT)
        except click.ClickException as error:
            _fail(error.format_message(), BAD_INPUT)
        except TcformalError as error:
            _fail(str(error), error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            _fail("interrupted", 130)
        except BrokenPipeError:
            # Nobody reads on; what is still buffered must not raise again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(OK)
        except Exception as error:
            if os.environ.get("TCFORMAL_DEBUG"):
                raise
            _fail(f"internal error, please report it: {type(error).__name__}: {error}", NO_ANSWER)


def _fail(sentence: str, code: int) -> None:
    click.echo(f"error: {' '.join(sentence.split())}", err=True)
    sys.exit(code)


def _json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")(
        command
    )


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


@click.group(cls=OneSentence, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="tcformal")
def main() -> None:
    """Formal, executable models of matrix units: separate, prove, explain, simulate."""


@main.command()
@click.argument("name", required=False)
@click.option("--arch", help="Only units of this architecture.")
@click.option("--format", "format_name", help="Only units whose A or B has this format.")
@click.option("--operation", "operation_name", help="Only units of this elementary operation, e.g. T-FDPA.")
@click.option("--evidence", help="Only units whose fraction bits are known this well, e.g. recorded.")
@click.option("--all", "every", is_flag=True, help="Every name, not one per distinct design.")
@_json_option
def units(
    name: str | None,
    arch: str | None,
    format_name: str | None,
    operation_name: str | None,
    evidence: str | None,
    every: bool,
    as_json: bool,
) -> None:
    """List the catalogued units, or show one (NAME) with the source of every parameter."""
    if name is not None:
        spec = resolve(name)
        _print_json(data.unit_data(spec)) if as_json else console().print(unit_card(spec))
        return
    filters = Filters.of(arch=arch, fmt=format_name, operation=operation_name, evidence=evidence)
    sharing = {first: len(names) for first, names in distinct_designs(filters.allow).items()}
    names = [n for n in catalogue() if filters.allow(catalogue()[n])] if every else list(sharing)
    chosen = [catalogue()[n] for n in names]
    if as_json:
        _print_json([data.unit_data(u) for u in chosen])
        return
    out = console()
    out.print(units_table(chosen, {} if every else sharing, out.width))
    total = sum(sharing.values())
    text = f"{total} units, {len(sharing)} distinct designs"
    text += "." if every else "; others: more names of the same design and formats (--all lists them)."
    families = "; ".join(f"{family}@…: {what}" for family, what in FAMILIES.items())
    out.print(Text(f"{text} Families of designs: {families}.", style="dim"))


@main.command()
@click.argument("name", required=False)
@_json_option
def formats(name: str | None, as_json: bool) -> None:
    """List the floating-point formats, or show one (NAME)."""
    chosen = [format_named(name)] if name is not None else list(FORMATS.values())
    if as_json:
        _print_json([data.format_data(f) for f in chosen])
    else:
        console().print(tables.formats_table(chosen))


def _operand_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--scale-b", help="Scales of b, one per block of k, as for a."),
        click.option("--scale-a", help="Scales of a, one per block of k; ones unless given."),
        click.option("--c", "c", default="0", show_default=True, help="The accumulator."),
        click.option("--b", "b", required=True, help="K values for b, as for a."),
        click.option(
            "--a",
            "a",
            required=True,
            help="K values, separated by commas: 1.5, 2^-24, 0x3c00, -inf, nan; a last ... stands for zeros.",
        ),
    ):
        command = option(command)
    return command


def _values(text: str, k: int) -> list[str]:
    """`1,2,...` as K texts; a last `...` is filled up with zeros."""
    values = [v.strip() for v in text.split(",")]
    if values and values[-1] == "...":
        values = values[:-1] + ["0"] * (k - len(values) + 1)
    return values


def _witness(spec: UnitSpec, given: Mapping[str, str | None], k: int | None = None) -> Witness:
    """Operands from the options of `_operand_options`."""
    k = spec.k if k is None else k
    count = scale_count(spec, k)
    listed = {}
    for name in ("scale_a", "scale_b"):
        text = given[name]
        listed[name] = None if text is None else _values(text, count)
    a, b, c = (given[name] or "" for name in "abc")
    return witness_of(spec, _values(a, k), _values(b, k), c, k=k, **listed)


@main.command(name="eval")
@click.argument("names", nargs=-1, required=True, metavar="UNIT...")
@_operand_options
@_json_option
def eval_(names: Sequence[str], as_json: bool, **operands: str | None) -> None:
    """Compute d = a·b + c on one or more units."""
    specs = [resolve(name) for name in names]
    results = []
    for spec in specs:
        w = _witness(spec, operands)
        results.append(data.evaluate(Unit(spec), w))
    if as_json:
        _print_json([data.result_data(s, r) for s, r in zip(specs, results, strict=True)])
        return
    made = table("unit", "d", "encoding")
    for spec, raw in zip(specs, results, strict=True):
        d = spec.operands.d
        made.add_row(spec.name, with_decimal(d, raw), hex_word(d, raw))
    console().print(made)


@main.command()
@click.argument("first", metavar="UNIT")
@click.argument("second", required=False, metavar="[UNIT]")
@_operand_options
@_json_option
def explain(first: str, second: str | None, as_json: bool, **operands: str | None) -> None:
    """Take a result apart bit by bit; with two units, say where they part."""
    specs = [resolve(name) for name in (first, second) if name is not None]
    k = common_k(*specs)
    traces = [explain_witness(spec, _witness(spec, operands, k)) for spec in specs]
    if as_json:
        _print_json(data.explanation_data(traces))
        return
    _show_traces(traces)


def _show_traces(traces: Sequence[Trace]) -> None:
    out = console()
    for trace in traces:
        out.print(picture.picture(trace, out.width))
        out.print()
    if len(traces) == 2:
        out.print(picture.parting_text(traces[0], traces[1], parting(traces[0], traces[1])))


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
        _print_json(v.to_json() | extra)
    else:
        out = console()
        out.print(tables.verdict_view(v))
        if traces and with_explanation:
            out.print()
            _show_traces(traces)
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
    @_json_option
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


@main.command()
@click.option("--vectors", type=int, default=100_000, show_default=True, help="Vectors for each design.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the first piece.")
@click.option("--jobs", type=int, default=os.cpu_count() or 1, show_default=True, help="Processes.")
@click.option("--only", default="", help="Only designs whose name contains this text.")
@click.option(
    "--results",
    "folder",
    envvar="TCFORMAL_RESULTS",
    default="results",
    show_default=True,
    help="Results folder.",
)
@_json_option
def sweep(vectors: int, seed: int, jobs: int, only: str, folder: str, as_json: bool) -> int:
    """Compare lanes, integers and the exact oracle on every distinct design; resumable."""
    check_int("vectors", vectors, low=1)
    check_int("seed", seed, low=0)
    check_int("jobs", jobs, low=1)
    path = Path(folder) / "conformance.jsonl"
    with ProcessPoolExecutor(jobs) as pool, Progress(console=console(stderr=True)) as bar:
        task = bar.add_task("sweeping", total=None)

        def told(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        records = list(conformance.sweep(path, vectors, seed, pool, only=lambda n: only in n, told=told))
    held = conformance.done_already(path, vectors)
    wrong = [r for r in held.values() if r.integer_mismatches or r.oracle_mismatches]
    if as_json:
        _print_json({"swept": len(records), "held": len(held), "wrong": [r.unit for r in wrong]})
    else:
        click.echo(
            f"{len(records)} designs swept now, {len(held)} of {len(distinct_designs())} held in {path} "
            f"with at least {vectors} vectors each; {len(wrong)} with mismatches"
        )
        for r in wrong:
            click.echo("\n".join((r.unit, *r.examples)))
    return OTHERWISE if wrong else OK
