"""`accuracy`: the sharp error constant of a unit, proved and attained, and that of a program.

What only some of its options need is imported where they are given.
"""

from __future__ import annotations

import sys

import click

from tcformal.analysis.bounds.accuracy import accuracy as found
from tcformal.analysis.bounds.accuracy import growth_with_length
from tcformal.analysis.bounds.program.words import EXPONENTS
from tcformal.cli.group import NO_ANSWER, OK, json_option, main
from tcformal.cli.questions.options import SolverOptions, solver_options
from tcformal.query.kinds.comparison.parameters import exponent_range
from tcformal.report.escape import print_json, say
from tcformal.report.numbers.accuracy import (
    accuracy_data,
    accuracy_picture,
    accuracy_view,
    program_accuracy_data,
    program_accuracy_view,
    slices_data,
    slices_view,
)
from tcformal.report.numbers.plot import picture_kind, pyplot
from tcformal.report.text import progress
from tcformal.simulation.runnable import RunnableProgram, computation
from tcformal.simulation.unit import Unit


@main.command()
@click.argument("unit", metavar="UNIT|PROGRAM")
@click.option("--length", type=int, help="Products, in calls one after the other; by default one call.")
@click.option("--promote", type=int, metavar="P", help="Add to a sum in fp32 after every P products.")
@click.option("--prove/--no-prove", "prove", default=True, help="Prove the bound, or only build inputs.")
@click.option("--exponents", metavar="LOW..HIGH",
              help=f"Exponents of a program's inputs; else {EXPONENTS[0]}..{EXPONENTS[1]}.")  # fmt: skip
@click.option("--exact", is_flag=True, help="Instead: up to which size sums of integers are exact (slices).")
@click.option("--monotone", is_flag=True, help="Instead: how far a result falls where c or a factor grows.")
@click.option("--against", metavar="UNIT", help="Instead: how far the results of two units can be apart.")
@click.option("--plot", "picture", metavar="FILE",
              help="A picture (svg, png, pdf) of the growth with length; data beside it.")  # fmt: skip
@solver_options()
@json_option
def accuracy(
    unit: str, length: int | None, promote: int | None, prove: bool, exponents: str | None, exact: bool,
    monotone: bool, against: str | None, picture: str | None, how: SolverOptions, as_json: bool,
) -> int:  # fmt: skip
    """The largest error of a dot product in units of Σ|x_k·y_k|: a proved bound, attaining inputs.

    The bound is an instance of a theorem that Coq has checked, for any length.  The inputs are built, or
    found by an ascent, and replayed on integers and on exact fractions.  The bound of a program is composed
    of its words' errors and its calls' theorems.  Solvers are asked by --monotone alone.  Exit code 3 where
    no bound is proved.
    """
    if picture is not None:
        picture_kind(picture)
        pyplot()  # refuses before anything is computed
    asked = computation(unit)
    if monotone or against is not None:
        others = (exact, picture is not None, promote is not None, exponents is not None)
        if any(others) or (monotone and against is not None):
            raise click.UsageError("expected --monotone, or --against, with --length alone")
        if against is None:
            return _monotone(asked, length, prove, how, as_json)
        return _against(unit, against, length, as_json)
    if isinstance(asked, RunnableProgram):
        if exact or picture is not None or promote is not None:
            raise click.UsageError("expected --exact, --plot and --promote with a UNIT only")
        return _program(asked, length, exponents, prove, as_json)
    if exponents is not None:
        raise click.UsageError("expected --exponents with a PROGRAM only")
    if exact:
        return _slices(unit, as_json)
    with progress(transient=True) as bar:
        task = bar.add_task("accuracy", total=None)
        made = found(
            unit, length=length, promote=promote, prove=prove,
            progress=lambda text: bar.update(task, description=text),
        )  # fmt: skip
    print_json(accuracy_data(made)) if as_json else accuracy_view(made)
    if picture is not None:
        data = accuracy_picture(picture, ["tcformal", *sys.argv[1:]], made, growth_with_length(made))
        say(f"{picture}; data: {data}", err=True)
    known = made.bound if prove else made.attained
    return OK if known is not None else NO_ANSWER


def _monotone(
    asked: Unit | RunnableProgram, length: int | None, prove: bool, how: SolverOptions, as_json: bool
) -> int:
    """How far results fall at most where an operand grows by one step."""
    from tcformal.analysis.distance.monotone import monotonicity
    from tcformal.report.numbers.apart import monotonicity_data, monotonicity_view

    with progress(transient=True) as bar:
        task = bar.add_task("monotonicity", total=None)
        made = monotonicity(
            asked, length=length, prove=prove, limits=how.limits, solvers=how.solvers, certify=how.certify,
            store=how.store(), fresh=how.fresh, progress=lambda text: bar.update(task, description=text),
        )  # fmt: skip
    print_json(monotonicity_data(made, asked)) if as_json else monotonicity_view(made, asked)
    return OK if made.falls or made.proved else NO_ANSWER


def _against(first: str, second: str, length: int | None, as_json: bool) -> int:
    """How far the results of two units can be apart."""
    from tcformal.analysis.distance.distance import largest_distance
    from tcformal.report.numbers.apart import distance_data, distance_view

    with progress(transient=True) as bar:
        task = bar.add_task("distance", total=None)
        made = largest_distance(
            first, second, length=length, progress=lambda text: bar.update(task, description=text)
        )
    print_json(distance_data(made)) if as_json else distance_view(made)
    return OK


def _slices(unit: str, as_json: bool) -> int:
    """The widths of slices whose products are summed exactly."""
    from tcformal.analysis.bounds.slices import exact_slices

    widths = exact_slices(unit)
    print_json(slices_data(widths)) if as_json else slices_view(widths)
    return OK if widths.widths else NO_ANSWER


def _program(
    asked: RunnableProgram, length: int | None, exponents: str | None, prove: bool, as_json: bool
) -> int:
    """The bound of a program and inputs that come near."""
    from tcformal.analysis.bounds.programs import program_accuracy

    among = EXPONENTS if exponents is None else exponent_range(exponents)
    with progress(transient=True) as bar:
        task = bar.add_task("accuracy", total=None)
        made = program_accuracy(
            asked, length=asked.k if length is None else length, exponents=among, prove=prove,
            progress=lambda text: bar.update(task, description=text),
        )  # fmt: skip
    print_json(program_accuracy_data(made)) if as_json else program_accuracy_view(made)
    return OK if not prove or made.bound is not None else NO_ANSWER
