"""`separate --all-pairs`: every pair of units; apart, because a kept answer does not wait for workers."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from functools import partial

import click
from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from tcformal.checks import MOST_JOBS, check_int
from tcformal.cli.group import NO_ANSWER, OK, Answer
from tcformal.cli.solver_options import SolverOptions
from tcformal.query.pairs.all_pairs import AskOptions, PairOutcome, campaign
from tcformal.query.pairs.pairs import FormatGroup, Pair, groups, without_counterpart
from tcformal.query.pairs.pool import SturdyPool, cluster
from tcformal.query.question import Kind
from tcformal.query.verdict import NOT_CHECKED
from tcformal.report.escape import Plain, verbose
from tcformal.report.parts import telling
from tcformal.report.text import console, many

Outcomes = Mapping[Pair, PairOutcome]

#: One letter for each verdict, its word, and its colour; None: a pair that cannot be asked.
LETTERS: dict[Kind | None, tuple[str, str, str]] = {
    Kind.SEPARATED: ("s", "separated", "yellow"),
    Kind.EQUIVALENT: ("=", "equivalent", "green"),
    Kind.VACUOUS: ("v", "vacuous", "magenta"),
    Kind.UNKNOWN: ("?", "unknown", "bold red"),
    Kind.TIMEOUT: ("t", "timeout", "bold red"),
    Kind.ERROR: ("!", "error", "bold red"),
    None: ("x", "cannot be asked", "dim"),
}

#: Slow pairs that are named at the end.
_SLOWEST = 3


#: The same for a kept answer whose evidence was not checked.
_UNCHECKED = ("k", NOT_CHECKED, "bold red")


def _mark(o: PairOutcome) -> tuple[str, str, str]:
    """The letter, word and colour of one pair."""
    return LETTERS[o.kind] if o.checked else _UNCHECKED


def counts(outcomes: Outcomes) -> dict[str, int]:
    """The number of pairs with each verdict, for verdicts that occur."""
    found = Counter(_mark(outcome)[1] for outcome in outcomes.values())
    return {word: found[word] for _, word, _ in (*LETTERS.values(), _UNCHECKED) if found[word]}


def tally(outcomes: Outcomes) -> str:
    """The counts as one line."""
    return ", ".join(f"{n} {word}" for word, n in counts(outcomes).items()) or "none yet"


def pairs_view(
    groups: Sequence[FormatGroup], outcomes: Outcomes, alone: Sequence[str], seconds: float, width: int
) -> RenderableType:
    """The counts, the matrices, the pairs without a decision with their reasons, the time."""
    served = sum(o.served for o in outcomes.values())
    designs = many(sum(len(group.units) for group in groups), "design")
    what = f"{many(len(outcomes), 'pair')} of {designs} in {many(len(groups), 'set')} of formats"
    head = f"{what}: {tally(outcomes)}; {served} kept from before; {seconds:.1f} s"
    parts: list[RenderableType] = [Text(head), Text()]
    for group in groups:
        parts += [_matrix(group, outcomes, width), Text()]
    used = counts(outcomes)
    marks = (*LETTERS.values(), _UNCHECKED)
    parts.append(Text("  ".join(f"{letter} {word}" for letter, word, _ in marks if word in used)))
    rest = [o for o in outcomes.values() if o.kind is None or not o.decided]
    parts += [_reason(o) for o in rest]
    slow = sorted((o for o in outcomes.values() if o.seconds), key=lambda o: -o.seconds)
    slow = slow[: _SLOWEST if verbose() else 0]
    parts += [Text(f"{o.seconds:.1f} s: {o.pair.first} {o.pair.second}", style="dim") for o in slow]
    if alone:
        parts.append(Text(f"{many(len(alone), 'design')} of formats that no other design has", style="dim"))
    return Stack(*parts)


def _matrix(group: FormatGroup, outcomes: Outcomes, width: int) -> Text:
    """Row and column numbers, the letters above the diagonal, and the names of the units."""
    size = len(group.units)
    cell, lead = 2, len(str(size)) + 1
    made = Text(group.formats, style="bold")
    # Of a number above nine the last digit heads its column.
    heads = "".join(str((j + 1) % 10).rjust(cell) for j in range(size))
    made.append("\n" + " " * lead + heads, style="dim not bold")
    for i, unit in enumerate(group.units):
        made.append("\n" + str(i + 1).rjust(lead), style="dim not bold")
        for j, other in enumerate(group.units):
            outcome = outcomes.get(Pair(unit.name, other.name))
            letter, _, style = _mark(outcome) if outcome else ("·" if i == j else "", "", "dim")
            made.append(letter.rjust(cell), style=f"not bold {style}" if "bold" not in style else style)
        more = f" +{len(unit.names) - 1}" if len(unit.names) > 1 else ""
        name = f"{unit.name}{more}"
        # A name that has no room beside its row stands under it, whole, so that it can be copied.
        fits = lead + cell * size + 2 + len(name) <= width
        made.append(f"  {name}" if fits else f"\n{' ' * lead} {name}", style="not bold")
    return made


def _reason(o: PairOutcome) -> Text:
    _, word, style = _mark(o)
    made = Text(word, style=style)
    made.append(f": {o.pair.first} {o.pair.second}: {o.reason}", style="default not bold not dim")
    return made


def pairs_data(
    groups: Sequence[FormatGroup], outcomes: Outcomes, alone: Sequence[str], seconds: float
) -> Plain:
    """All pairs as plain data, each with its verdict."""
    found = outcomes.values()
    rows = [
        {
            "formats": group.formats,
            "units": [{"name": unit.name, "names": list(unit.names)} for unit in group.units],
            "pairs": [_pair_data(outcomes[pair]) for pair in group.pairs],
        }
        for group in groups
    ]
    return {
        "groups": rows,
        "counts": {kind.name: sum(o.checked and o.kind is kind for o in found) for kind in Kind}
        | {"cannot_be_asked": sum(o.kind is None for o in found)}
        | {"not_checked": sum(not o.checked for o in found)},
        "without_counterpart": list(alone),
        "seconds": round(seconds, 3),
    }


def _pair_data(o: PairOutcome) -> Plain:
    return {
        "units": [o.pair.first, o.pair.second], "verdict": None if o.kind is None else o.kind.name,
        "reason": o.reason, "seconds": round(o.seconds, 3), "served": o.served, "checked": o.checked,
        **(o.verdict or {}),
    }  # fmt: skip


def workers_of(jobs: int | None, scheduler: str | None) -> Callable[[], AbstractContextManager[Executor]]:
    """A function that makes the executor: a local pool of `jobs` processes, or a Dask cluster."""
    if scheduler is not None:
        if jobs is not None:
            raise click.UsageError("expected --jobs or --scheduler, but got both")
        return partial(cluster, scheduler)
    jobs = os.cpu_count() or 1 if jobs is None else jobs
    return partial(SturdyPool, check_int("--jobs", jobs, low=1, high=MOST_JOBS))


def ask_all(
    text: str, assume: Sequence[str], how: SolverOptions,
    workers: Callable[[], AbstractContextManager[Executor]],
) -> Answer:  # fmt: skip
    """Ask every pair with `text` in a name."""
    store = how.opened()
    ask_options = AskOptions(assume=tuple(assume), how=how.alone())
    start = time.monotonic()
    chosen = groups(text)
    alone = without_counterpart(text)
    outcomes: dict[Pair, PairOutcome] = {}
    pairs = [pair for group in chosen for pair in group.pairs]
    with telling("pairs") as tell:
        for outcome in campaign(pairs, ask_options, store, workers):
            outcomes[outcome.pair] = outcome
            tell(tally(outcomes), len(outcomes), len(pairs))
    seconds = time.monotonic() - start
    asked = (chosen, outcomes, alone, seconds)
    code = OK if all(outcome.decided for outcome in outcomes.values()) else NO_ANSWER
    return Answer(pairs_data(*asked), pairs_view(*asked, console().width), code)
