"""`region`: within which spread of exponents two units agree."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tcformal.cli.group import json_option, main
from tcformal.cli.questions.claims import exit_code, say_written, write_instance
from tcformal.cli.questions.options import SolverOptions, solver_options
from tcformal.design.names import resolve
from tcformal.query.assume import from_texts
from tcformal.query.claims.answered import answered
from tcformal.query.pairs.variants import variants
from tcformal.report.escape import print_json
from tcformal.report.regions import RegionAnswer, region_data, region_view
from tcformal.report.text import Counted, console
from tcformal.theory.theorems import agreement_of


@main.command(name="region")
@click.argument("first", metavar="UNIT")
@click.argument("second", metavar="UNIT")
@click.option("--assume", multiple=True, metavar="WHAT", help="finite with exponents=-14..15 or c=0; may be "
              "repeated.  Without it: finite, each with c=0 or not, and with exponents that do not overflow "
              "or not.")  # fmt: skip
@click.option("--coq", metavar="FILE", help="With --assume: write the theorem's instance, and "
              "say which command checks it with the shipped sources in Coq.")  # fmt: skip
@solver_options()
@json_option
def region(
    first: str, second: str, assume: Sequence[str], coq: str | None, how: SolverOptions, as_json: bool
) -> int:
    """Find the largest spread of exponents within which two units give the same bits.

    The spread is the difference between the largest and the least exponent of the non-zero products and c;
    agreement within it is a theorem, and the next spread has a witness.  Where results differ though all
    exponents are equal, a witness shows it (exit 1).
    """
    if coq is not None and not assume:
        raise click.UsageError("expected --coq with --assume")
    one, other = resolve(first), resolve(second)
    given = [from_texts(one.operands.c, assume)] if assume else variants(one, other)
    answers = []
    with Counted("regions", len(given)) as bar:
        for what in given:
            v = answered(one, agreement_of(other.name, what.spellings()), how)
            answers.append(RegionAnswer(one.name, other.name, what, v))
            bar.done()
    written = {} if coq is None else write_instance(answers[0].verdict, coq)
    if as_json:
        print_json([region_data(x) | ({"coq": written} if written else {}) for x in answers])
    else:
        console().print(region_view(answers))
        say_written(written)
    return exit_code([x.verdict for x in answers])
