"""`eval` and `explain`: one dot product."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
from rich.text import Text

from tcformal.cli.group import json_option, main
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.matmul.unit import Unit
from tcformal.operands.witness import Witness
from tcformal.oracle.values import hex_word
from tcformal.programs.chain import common_k, scale_count
from tcformal.programs.program import names_a_program
from tcformal.query.explain.divergence import divergence
from tcformal.query.explain.explain import explain_witness
from tcformal.query.explain.given import witness_of
from tcformal.query.explain.steps import Trace
from tcformal.report import data, picture
from tcformal.report.escape import print_json
from tcformal.report.text import console, table, with_decimal


def _operand_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--scale-b", help="Scales of b, one per block of k, as for a."),
        click.option("--scale-a", help="Scales of a, one per block of k; default: ones."),
        click.option("--c", "c", default="0", show_default=True, help="Value of c, the accumulator."),
        click.option("--b", "b", required=True, help="K values of b, as for a."),
        click.option(
            "--a",
            "a",
            required=True,
            help="K values of a, separated by commas: 1.5, 2^-24, 0x3c00, -inf, nan; a final ... adds zeros.",
        ),
    ):
        command = option(command)
    return command


def listed_values(text: str, k: int) -> list[str]:
    """`1,2,...` as K texts; a final `...` is filled up with zeros."""
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
        listed[name] = None if text is None else listed_values(text, count)
    a, b, c = (given[name] or "" for name in "abc")
    return witness_of(spec, listed_values(a, k), listed_values(b, k), c, k=k, **listed)


@main.command(name="eval")
@click.argument("names", nargs=-1, required=True, metavar="UNIT...")
@_operand_options
@json_option
def eval_(names: Sequence[str], as_json: bool, **operands: str | None) -> None:
    """Compute d = a·b + c on one or more units."""
    specs = [resolve(name) for name in names]
    results = []
    for spec in specs:
        w = _witness(spec, operands)
        results.append(data.evaluate(Unit(spec), w))
    if as_json:
        print_json([data.result_data(s, r) for s, r in zip(specs, results, strict=True)])
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
@click.option("--no-calls", is_flag=True, help="Of a program: leave out the inside of its calls.")
@json_option
def explain(first: str, second: str | None, no_calls: bool, as_json: bool, **operands: str | None) -> None:
    """Explain a result bit by bit; with two units, show where they diverge.

    UNIT may also be a program over units: its stages are shown, and each of its calls bit by bit.
    """
    if names_a_program(first):
        if second is not None:
            raise click.UsageError("expected one program, but got two names")
        _explain_program(first, operands, no_calls, as_json)
        return
    if no_calls:
        raise click.UsageError("expected --no-calls with a program only")
    specs = [resolve(name) for name in (first, second) if name is not None]
    k = common_k(*specs)
    traces = [explain_witness(spec, _witness(spec, operands, k)) for spec in specs]
    if as_json:
        print_json(data.explanation_data(traces))
        return
    show_traces(traces)


def _explain_program(name: str, operands: Mapping[str, str | None], no_calls: bool, as_json: bool) -> None:
    """Print the stages of a program, and each call."""
    from tcformal.query.explain.program import explain_program
    from tcformal.report.programs import trace_data, trace_view

    for option in ("scale_a", "scale_b"):
        if operands[option] is not None:
            raise click.UsageError(f"expected no --{option.replace('_', '-')} with a program")
    a, b, c = (operands[letter] or "" for letter in "abc")
    trace = explain_program(name, [x.strip() for x in a.split(",")], [x.strip() for x in b.split(",")], c)
    if as_json:
        print_json(trace_data(trace))
        return
    out = console()
    out.print(trace_view(trace))
    if no_calls:
        return
    for stage in trace.stages:
        if stage.trace is not None:
            out.print()
            out.print(Text(f"{stage.name}: {stage.text}", style="bold"))
            out.print(picture.picture(stage.trace, out.width))


def show_traces(traces: Sequence[Trace]) -> None:
    """Print one picture for each unit, and the divergence of two."""
    out = console()
    for trace in traces:
        out.print(picture.picture(trace, out.width))
        out.print()
    if len(traces) == 2:
        out.print(picture.divergence_text(traces[0], traces[1], divergence(traces[0], traces[1])))
