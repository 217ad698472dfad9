"""`explain-mismatch`: which arithmetic gives an expected result, and which the result obtained."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tcformal.cli.group import OK, OTHERWISE, json_option, main
from tcformal.cli.questions.evaluate import listed_values
from tcformal.cli.questions.explain import show_traces
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.identification.causes import MismatchVerdict, case_of, explain_mismatch, read_cases
from tcformal.identification.product_causes import (
    ProductCase,
    ProductVerdict,
    arrays_of,
    explain_product,
    is_product,
    product_case,
)
from tcformal.programs.chain import scale_count
from tcformal.report.devices import mismatch as views
from tcformal.report.devices.heat import product_heat
from tcformal.report.devices.products import product_data, product_view
from tcformal.report.escape import print_json, say
from tcformal.report.numbers.plot import picture_kind, pyplot
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
    help="Cases in a file instead: JSON objects with a, b, c, expected, got, or an .npz with such arrays; "
    "matrices expected, got, a [M, K], b [K, N] are a product, with c, bias, alpha, beta, scale_a, scale_b.",
)  # fmt: skip
@click.option("--recipe", "recipes", multiple=True, help="For a product: another recipe to try.")
@click.option("--only-unit", is_flag=True, help="For a product: try no other unit.")
@click.option("--output", help="For a product: the format of the results.")
@click.option(
    "--plot",
    "picture",
    metavar="FILE",
    help="For a product: a heat map of what differs (svg, png, pdf); the elements beside it.",
)
@click.option("--all", "every", is_flag=True, help="Show every design, recipe and case, beyond a screenful.")
@click.option("--explain", "with_explanation", is_flag=True, help="Show both designs bit by bit.")
@json_option
def explain_mismatch_(
    unit: str, a: str | None, b: str | None, c: str, scale_a: str | None, scale_b: str | None,
    expected: str | None, got: str | None, path: Path | None, recipes: tuple[str, ...],
    only_unit: bool, output: str | None, picture: str | None, every: bool, with_explanation: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Rounding or bug?  Find the designs that give an expected result, and those that give the one obtained.

    Tries the unit, every catalogued design of its formats and plain computations (the exact sum rounded
    once, fused multiply–adds, a chain in fp64).  Exit 0: these give both results, and the sum with a lost
    product does not.  Where they do not, units altered in one parameter are tried as hints.  A whole product
    is also tried by every recipe: split-K, promotion, the residue first, and known faults of libraries.
    """
    if picture is not None:
        picture_kind(picture)
        pyplot()  # refuses before anything is computed
    spec = resolve(unit)
    given = {"--a": a, "--b": b, "--expected": expected, "--got": got}
    if path is not None:
        both = [name for name, text in given.items() if text is not None]
        if both:
            raise InputError(f"expected --file or operands, but got --file and {both[0]}")
        data_of = arrays_of(path) if path.suffix == ".npz" else {}
        if is_product(data_of):
            case = product_case(spec, data_of, str(path), output)
            return _product(spec, case, recipes, only_unit, every, as_json, picture)
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
    if recipes or output or picture is not None:
        raise InputError(
            "expected --recipe, --output and --plot beside the matrices of a product, but got other cases"
        )
    with bar("trying designs") as advance:
        found = explain_mismatch(spec, cases, advance)
    if as_json:
        print_json(views.mismatch_data(found))
    else:
        show(views.mismatch_view(found, every=every))
        say(views.command_line(found))
        if with_explanation and found.traces is not None:
            say()
            show_traces(found.traces)
    good = found.verdict in (MismatchVerdict.ROUNDING, MismatchVerdict.EQUAL)
    return OK if good else OTHERWISE


def _product(
    spec: UnitSpec, case: ProductCase, recipes: tuple[str, ...], only_unit: bool, every: bool,
    as_json: bool, picture: str | None,
) -> int:  # fmt: skip
    """Explain two results of one matrix product; the exit code."""
    with bar("trying recipes") as advance:
        found = explain_product(spec, case, recipes, advance, rivals=not only_unit)
    print_json(product_data(found)) if as_json else show(product_view(found, every=every))
    if picture is not None:
        data = product_heat(picture, ["tcformal", *sys.argv[1:]], case)
        say(f"{picture}; data: {data}", err=True)
    return OK if found.verdict in (ProductVerdict.ROUNDING, ProductVerdict.EQUAL) else OTHERWISE
