"""The options of every command that asks solvers, and of commands about two units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from tcformal.checks import check_int, check_positive
from tcformal.cli.group import json_option, results_option, verbose_option
from tcformal.query.options import SolveOptions
from tcformal.report.escape import warn
from tcformal.solve.members import check_members
from tcformal.solve.result import Limits

if TYPE_CHECKING:  # who asks no store does not wait for it
    from tcformal.store.store import Store


#: What each solver may use unless the command says otherwise.
_USUAL = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverOptions(SolveOptions):
    """How questions are answered, as a command was told; defaults for options that it does not have."""

    #: The results folder.
    folder: str = ""

    def opened(self) -> Store:
        """The store of the results folder; it warns of records that cannot be used."""
        return cast("Store", self.store())

    def alone(self) -> SolveOptions:
        """The same without a store, as processes of workers take it."""
        return SolveOptions(solvers=self.solvers, limits=self.limits, certify=self.certify, fresh=self.fresh)


def _opened(folder: str) -> Store:
    from tcformal.store.store import Store

    return Store(Path(folder), warn)


def solver_options(
    *left_out: str, limits: Limits = _USUAL, time: str = "each solver", seed: str = "the solvers"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options that a command is given together, as `how`; `left_out` names those that it does not have."""
    options: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
        "solvers": click.option("--solvers", help="Solvers to ask, separated by commas, in order of start."),
        "time_limit": click.option("--time-limit", type=float, default=limits.time_s, show_default=True,
                                   help=f"Seconds for {time}."),
        "memory_limit": click.option("--memory-limit", type=int, default=limits.memory_mb, show_default=True,
                                     help="MiB for each solver."),
        "seed": click.option("--seed", type=int, default=limits.seed, show_default=True,
                             help=f"Seed of {seed}."),
        "certify": click.option("--certify/--no-certify", default=None, help="An unsat answer needs a "
                                "checked proof / a second solver; neither given: whichever comes first."),
        "fresh": click.option("--fresh", is_flag=True, help="Ask again, whatever answer is kept."),
        "folder": results_option,
    }  # fmt: skip
    chosen = {name: option for name, option in options.items() if name not in left_out}

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def asked(**given: Any) -> Any:
            own = {name: given.pop(name) for name in chosen}
            named = own.pop("solvers")
            how = SolverOptions(
                solvers=None
                if named is None
                else tuple(check_members([s.strip() for s in named.split(",")])),
                limits=Limits(
                    time_s=check_positive("--time-limit", own.pop("time_limit")),
                    memory_mb=check_int("--memory-limit", own.pop("memory_limit", limits.memory_mb), low=1),
                    seed=own.pop("seed", limits.seed),
                ),
                **own,
            )
            if "folder" in own:
                how = replace(how, store=cache(partial(_opened, how.folder)))
            return command(how=how, **given)

        made: Callable[..., Any] = asked
        for option in reversed(chosen.values()):
            made = option(made)
        return made

    return decorated


def two_units(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what commands about two units share: their names, --assume, the solvers, --explain and --json."""
    for option in (
        verbose_option,
        json_option,
        click.option("--explain", "with_explanation", is_flag=True, help="Explain the witness bit by bit."),
        solver_options(),
        click.option("--assume", multiple=True, metavar="WHAT", help="finite, normal, positive, nonzero, "
                     "exponents=-14..15, scale_exponents=-8..8, c=0, factors=subnormal, "
                     "products=outside-fp16, sum=inside-fp16, spread=20; may be repeated."),
        click.argument("second", metavar="UNIT", required=False),
        click.argument("first", metavar="UNIT", required=False),
    ):  # fmt: skip
        command = option(command)
    return command
