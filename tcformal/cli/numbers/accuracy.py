"""Numbers about results of units and programs: errors, exact sums, falls, distances."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from tcformal.analysis.bounds.accuracy import accuracy as found
from tcformal.analysis.bounds.accuracy import growth_with_length
from tcformal.analysis.bounds.word_forms import EXPONENTS
from tcformal.callbacks import Progress
from tcformal.checks import exponent_range
from tcformal.cli.group import NO_ANSWER, OK, json_option, main
from tcformal.cli.questions.options import SolverOptions, solver_options
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


@main.command()
@click.argument("unit", metavar="UNIT|PROGRAM")
@click.option("--length", type=int, help="Products, in calls one after the other; by default one call.")
@click.option("--promote", type=int, metavar="P", help="Add to a sum in fp32 after every P products.")
@click.option("--prove/--no-prove", "prove", default=True, help="Prove the bound, or only build inputs.")
@click.option("--exponents", metavar="LOW..HIGH",
              help=f"Exponents of a program's inputs; else {EXPONENTS[0]}..{EXPONENTS[1]}.")  # fmt: skip
@click.option("--plot", "picture", metavar="FILE",
              help="A picture (svg, png, pdf) of the growth with length; data beside it.")  # fmt: skip
@json_option
def accuracy(
    unit: str, length: int | None, promote: int | None, prove: bool, exponents: str | None,
    picture: str | None, as_json: bool,
) -> int:  # fmt: skip
    """The largest error of a dot product in units of Σ|x_k·y_k|: a proved bound, attaining inputs.

    The bound is an instance of a theorem that Coq has checked, for any length.  The inputs are built, or
    found by an ascent, and replayed on integers and on exact fractions.  The bound of a program is composed
    of its words' errors and its calls' theorems.  Exit code 3 where no bound is proved.
    """
    if picture is not None:
        picture_kind(picture)
        pyplot()  # refuses before anything is computed
    asked = computation(unit)
    if isinstance(asked, RunnableProgram):
        if picture is not None or promote is not None:
            raise click.UsageError("expected --plot and --promote with a UNIT only")
        return _program(asked, length, exponents, prove, as_json)
    if exponents is not None:
        raise click.UsageError("expected --exponents with a PROGRAM only")
    with _told("accuracy") as tell:
        made = found(unit, length=length, promote=promote, prove=prove, progress=tell)
    print_json(accuracy_data(made)) if as_json else accuracy_view(made)
    if picture is not None:
        data = accuracy_picture(picture, ["tcformal", *sys.argv[1:]], made, growth_with_length(made))
        say(f"{picture}; data: {data}", err=True)
    known = made.bound if prove else made.attained
    return OK if known is not None else NO_ANSWER


def _program(
    asked: RunnableProgram, length: int | None, exponents: str | None, prove: bool, as_json: bool
) -> int:
    """The bound of a program and inputs that come near."""
    from tcformal.analysis.bounds.program_accuracy import program_accuracy

    among = EXPONENTS if exponents is None else exponent_range(exponents)
    with _told("accuracy") as tell:
        made = program_accuracy(
            asked, length=asked.k if length is None else length, exponents=among, prove=prove, progress=tell
        )
    print_json(program_accuracy_data(made)) if as_json else program_accuracy_view(made)
    return OK if not prove or made.bound is not None else NO_ANSWER


@main.command()
@click.argument("unit", metavar="UNIT")
@json_option
def exact(unit: str, as_json: bool) -> int:
    """How wide slices of integers may be, and how many products of them a unit sums exactly.

    The widths are instances of theorems that Coq has checked; beside each stands the shortest sum that is
    not exact.  Exit code 3 where no width is exact.
    """
    from tcformal.analysis.bounds.slices import exact_slices

    widths = exact_slices(unit)
    print_json(slices_data(widths)) if as_json else slices_view(widths)
    return OK if widths.widths else NO_ANSWER


@main.command()
@click.argument("unit", metavar="UNIT|PROGRAM")
@click.option("--length", type=int, help="Products, in calls one after the other; by default one call.")
@click.option("--prove/--no-prove", "prove", default=True, help="Prove that it never falls, or only look.")
@solver_options()
@json_option
def monotonicity(unit: str, length: int | None, prove: bool, how: SolverOptions, as_json: bool) -> int:
    """How far a result falls where c or a factor grows by one step.

    Falls are found by vectors and replayed on integers and on exact fractions; that there is none is proved
    by a theorem or by solvers.  Exit code 3 where neither is known.
    """
    from tcformal.analysis.monotonicity import monotonicity as monotone
    from tcformal.report.numbers.apart import monotonicity_data, monotonicity_view

    asked = computation(unit)
    with _told("monotonicity") as tell:
        made = monotone(
            asked, length=length, prove=prove, limits=how.limits, solvers=how.solvers, certify=how.certify,
            store=how.opened(), fresh=how.fresh, progress=tell,
        )  # fmt: skip
    print_json(monotonicity_data(made, asked)) if as_json else monotonicity_view(made, asked)
    return OK if made.falls or made.proved else NO_ANSWER


@main.command()
@click.argument("first", metavar="UNIT")
@click.argument("second", metavar="UNIT")
@click.option("--length", type=int, help="Products, in calls one after the other; by default one call.")
@json_option
def distance(first: str, second: str, length: int | None, as_json: bool) -> int:
    """How far the results of two units can be apart on the same inputs: a proved bound, and inputs."""
    from tcformal.analysis.distance import largest_distance
    from tcformal.report.numbers.apart import distance_data, distance_view

    with _told("distance") as tell:
        made = largest_distance(first, second, length=length, progress=tell)
    print_json(distance_data(made)) if as_json else distance_view(made)
    return OK


@contextmanager
def _told(what: str) -> Iterator[Progress]:
    """Show the progress of a computation."""
    with progress(transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda text: bar.update(task, description=text)
