"""`explain-mismatch`: which arithmetic gives an expected result, and which the result obtained."""

from __future__ import annotations

from pathlib import Path

import click

from tcformal.cli.group import OK, OTHERWISE, json_option, main
from tcformal.cli.questions.evaluate import listed_values
from tcformal.cli.single import show_traces
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.identify.cases import case_of, read_cases
from tcformal.identify.mismatch import explain_mismatch
from tcformal.programs.chain import scale_count
from tcformal.report.devices import mismatch as views
from tcformal.report.escape import print_json, say
from tcformal.report.parts import bar, show


@main.command(name="explain-mismatch")
@click.argument("unit", metavar="UNIT")
@click.option("--a", "a", help="K values of a, separated by commas; a final ... fills up with zeros.")
@click.option("--b", "b", help="K values of b, as for a.")
@click.option("--c", "c", default="0", show_default=True, help="Value of c, the accumulator.")
@click.option("--scale-a", help="Scales of a, one per block of k; default: ones.")
@click.option("--scale-b", help="Scales of b, one per block of k, as for a.")
@click.option("--expected", help="The expected result: a value, or a raw encoding 0x….")
@click.option("--got", help="The result obtained, as for --expected.")
@click.option(
    "--file", "path", type=click.Path(path_type=Path),
    help="Cases in a file instead: JSON objects with a, b, c, expected, got, or an .npz with such arrays.",
)  # fmt: skip
@click.option("--explain", "with_explanation", is_flag=True, help="Show both designs bit by bit.")
@json_option
def explain_mismatch_(
    unit: str, a: str | None, b: str | None, c: str, scale_a: str | None, scale_b: str | None,
    expected: str | None, got: str | None, path: Path | None, with_explanation: bool, as_json: bool,
) -> int:  # fmt: skip
    """Rounding or bug?  Find the designs that give an expected result, and those that give the one obtained.

    Tries the unit, every catalogued design of its formats, plain computations (the exact sum rounded
    once, fused multiply–adds, a chain in fp64), and every variation of one parameter of the units.  Exit
    0: known arithmetic gives both results.
    """
    spec = resolve(unit)
    given = {"--a": a, "--b": b, "--expected": expected, "--got": got}
    if path is not None:
        both = [name for name, text in given.items() if text is not None]
        if both:
            raise InputError(f"expected --file or operands, but got --file and {both[0]}")
        cases = read_cases(spec, path)
    else:
        missing = [name for name, text in given.items() if text is None]
        if missing:
            raise InputError(f"expected {missing[0]}, or --file FILE, but got neither")
        count = scale_count(spec, spec.k)
        data: dict[str, object] = {
            "a": listed_values(a or "", spec.k), "b": listed_values(b or "", spec.k), "c": c,
            "expected": expected, "got": got,
        }  # fmt: skip
        data |= {
            name: listed_values(text, count)
            for name, text in (("scale_a", scale_a), ("scale_b", scale_b))
            if text is not None
        }
        cases = [case_of(spec, data, "the options")]
    with bar("trying designs") as advance:
        found = explain_mismatch(spec, cases, advance)
    if as_json:
        print_json(views.mismatch_data(found))
    else:
        show(views.mismatch_view(found))
        say(views.command_line(found))
        if with_explanation and found.traces is not None:
            say()
            show_traces(found.traces)
    return OK if found.both else OTHERWISE
