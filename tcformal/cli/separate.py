"""`separate`: inputs on which two units differ, for two units or for every pair."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tcformal.cli.group import Answer, as_in, main
from tcformal.cli.solver_options import SolverOptions, two_units
from tcformal.query.question import Kind


@main.command()
@two_units
@click.option("--all-pairs", is_flag=True, help="Ask every pair of catalogued units of equal operand "
              "formats; with one UNIT, only pairs with that text in a name.")  # fmt: skip
@click.option("--jobs", type=int, help="Number of worker processes; by default one per core.")
@click.option("--scheduler", metavar="ADDRESS", help="Run on the Dask cluster with this scheduler.")
def separate(
    first: str | None, second: str | None, assume: Sequence[str], how: SolverOptions, with_explanation: bool,
    all_pairs: bool, jobs: int | None, scheduler: str | None,
) -> Answer:  # fmt: skip
    """Find simple inputs on which two units differ (exit 0 if found)."""
    if all_pairs:
        from tcformal.cli.all_pairs import ask_all, workers_of  # a kept answer does not wait for these

        if second is not None:
            raise click.UsageError("expected at most one text to choose pairs by, but got two")
        if with_explanation:
            raise click.UsageError("expected --explain with two units, but got --all-pairs")
        return ask_all(first or "", assume, how, workers_of(jobs, scheduler))
    if jobs is not None or scheduler is not None:
        raise click.UsageError("expected --jobs and --scheduler with --all-pairs only")
    if first is None or second is None:
        raise click.UsageError(f"expected two units or --all-pairs, but got {first or 'neither'}{as_in()}")
    from tcformal.cli.two import ask_two  # the help does not wait for it

    return ask_two(first, second, assume, how, Kind.SEPARATED, with_explanation)
