"""`explain`: one dot product, bit by bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from tcformal.cli.evaluate import given_witness, operand_options
from tcformal.cli.group import Answer, json_option, main, write_output
from tcformal.design.names import named_together, resolve
from tcformal.errors import InputError
from tcformal.programs.program import names_a_program
from tcformal.query.explain.explain import explain_witness
from tcformal.query.explain.trace import Trace
from tcformal.report.picture import explanation_data, show_program, show_traces, trace_data
from tcformal.semantics.chain import common_k


@main.command()
@click.argument("first", metavar="UNIT")
@click.argument("second", required=False, metavar="[UNIT]")
@operand_options
@click.option("--no-calls", is_flag=True, help="Of a program: leave out the inside of its calls.")
@click.option("--svg", metavar="FILE", help="Write the picture as SVG; two units side by side.")
@click.option("--html", metavar="FILE", help="Write a page that needs no other file: operands, pictures.")
@json_option
def explain(
    first: str, second: str | None, no_calls: bool, svg: str | None, html: str | None,
    **operands: str | None,
) -> Answer:  # fmt: skip
    """Explain a result bit by bit; with two units, show where they diverge.

    UNIT may also be a program over units: its stages are shown, and each of its calls bit by bit.
    """
    if names_a_program(first):
        if second is not None:
            raise click.UsageError("expected one program, but got two names")
        if svg is not None or html is not None:
            raise click.UsageError(
                "expected --svg and --html with units only: a program has a picture for each call"
            )
        return _explain_program(first, operands, no_calls)
    if no_calls:
        raise click.UsageError("expected --no-calls with a program only")
    specs = [resolve(name) for name in named_together(filter(None, (first, second)))]
    k = common_k(*specs)
    traces = [explain_witness(spec, given_witness(spec, operands, k)) for spec in specs]
    _write_pictures(traces, svg, html)
    return Answer(explanation_data(traces), lambda: show_traces(traces))


def _write_pictures(traces: Sequence[Trace], svg: str | None, html: str | None) -> None:
    """Write the pictures to the files that are asked for."""
    for path, ending in ((svg, ".svg"), (html, ".html")):
        if path is not None and not path.endswith(ending):
            raise InputError(f"expected a file that ends in {ending} for --{ending[1:]}, but got {path}")
    if svg is not None:
        from tcformal.report.svg import picture_svg

        write_output(svg, picture_svg(traces).encode())
    if html is not None:
        from tcformal.report.svg import explanation_page

        write_output(html, explanation_page(traces).encode())


def _explain_program(name: str, operands: Mapping[str, str | None], no_calls: bool) -> Answer:
    """The stages of a program, and each call."""
    from tcformal.query.explain.program_trace import explain_program

    for option in ("scale_a", "scale_b"):
        if operands[option] is not None:
            raise click.UsageError(f"expected no --{option.replace('_', '-')} with a program")
    a, b, c = (operands[letter] or "" for letter in "abc")
    trace = explain_program(name, [x.strip() for x in a.split(",")], [x.strip() for x in b.split(",")], c)
    return Answer(trace_data(trace), lambda: show_program(trace, calls=not no_calls))
