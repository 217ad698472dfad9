"""`separate`: inputs on which two units differ, for two units or for every pair."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from tcformal.cli.solver_options import question_command
from tcformal.query.question import Kind


def or_all_pairs(command: Callable[..., int]) -> Callable[..., int]:
    """Extend a command on two units by --all-pairs: every pair, with the same options."""

    @wraps(command)
    def either(
        first: str | None,
        second: str | None,
        all_pairs: bool,
        jobs: int | None,
        scheduler: str | None,
        **options: Any,
    ) -> int:
        if all_pairs:
            from tcformal.cli.all_pairs import (  # a kept answer does not wait for these
                ask_all,
                workers_of,
            )

            if second is not None:
                raise click.UsageError("expected at most one text to choose pairs by, but got two")
            if options["with_explanation"]:
                raise click.UsageError("expected --explain with two units, but got --all-pairs")
            del options["with_explanation"]
            return ask_all(first or "", workers=workers_of(jobs, scheduler), **options)
        if jobs is not None or scheduler is not None:
            raise click.UsageError("expected --jobs and --scheduler with --all-pairs only")
        if first is None or second is None:
            raise click.UsageError(f"expected two units or --all-pairs, but got {first or 'neither'}")
        return command(first=first, second=second, **options)

    for option in (
        click.option("--scheduler", metavar="ADDRESS", help="Run on the Dask cluster with this scheduler."),
        click.option("--jobs", type=int, help="Number of worker processes; by default one per core."),
        click.option("--all-pairs", is_flag=True, help="Ask every pair of catalogued units of equal operand "
                     "formats; with one UNIT, only pairs with that text in a name."),
    ):  # fmt: skip
        either = option(either)
    return either


question_command(
    "separate",
    Kind.SEPARATED,
    "Find simple inputs on which two units differ (exit 0 if found).",
    or_all_pairs,
)
