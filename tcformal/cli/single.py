"""`explain`: one dot product, bit by bit."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tcformal.cli.group import json_option, main
from tcformal.cli.questions.evaluate import given_witness, operand_options
from tcformal.design.names import resolve
from tcformal.programs.chain import common_k
from tcformal.query.explain.divergence import divergence
from tcformal.query.explain.explain import explain_witness
from tcformal.query.explain.steps import Trace
from tcformal.report import data, picture
from tcformal.report.escape import print_json
from tcformal.report.text import console


@main.command()
@click.argument("first", metavar="UNIT")
@click.argument("second", required=False, metavar="[UNIT]")
@operand_options
@json_option
def explain(first: str, second: str | None, as_json: bool, **operands: str | None) -> None:
    """Explain a result bit by bit; with two units, show where they diverge."""
    specs = [resolve(name) for name in (first, second) if name is not None]
    k = common_k(*specs)
    traces = [explain_witness(spec, given_witness(spec, operands, k)) for spec in specs]
    if as_json:
        print_json(data.explanation_data(traces))
        return
    show_traces(traces)


def show_traces(traces: Sequence[Trace]) -> None:
    """Print one picture for each unit, and the divergence of two."""
    out = console()
    for trace in traces:
        out.print(picture.picture(trace, out.width))
        out.print()
    if len(traces) == 2:
        out.print(picture.divergence_text(traces[0], traces[1], divergence(traces[0], traces[1])))
