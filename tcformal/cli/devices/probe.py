"""`probe`: devices, plans, runs and comparisons with the models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from tcformal.checks import MOST_VECTORS, check_int
from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, json_option, main, results_option
from tcformal.design.names import resolve
from tcformal.devices import listing
from tcformal.devices.isolated import opened
from tcformal.devices.log.results import read_runs
from tcformal.devices.plan.directed import directed
from tcformal.devices.plan.plan import Directed, make_plan, read_plan, write_plan
from tcformal.devices.registry import KINDS
from tcformal.devices.run.gather import from_file, from_store
from tcformal.devices.run.keep import keep_tiles
from tcformal.devices.run.run import run_plan
from tcformal.identification.compare import Comparison, Refutation, compare, recheck
from tcformal.report.devices import probe as views
from tcformal.report.escape import print_json, say
from tcformal.report.parts import bar, show
from tcformal.simulation.replay import padded_witness

#: Designs of each kind that fit on a screen.
_SCREENFUL = 10


@main.group()
def probe() -> None:
    """Run dot products on hardware and compare with the models: devices, plans, runs, comparisons."""


@probe.command()
@json_option
def devices(as_json: bool) -> int:
    """List the devices of this machine and what each can run; launches a small kernel on each GPU."""
    found, notes = listing.devices()
    if as_json:
        print_json(views.devices_data(found, notes))
    else:
        show(views.devices_view(found, notes, KINDS))
    return OK


@probe.command()
@click.argument("unit", metavar="UNIT")
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="File to write the plan to."
)
@click.option("--vectors", type=int, default=96_000, show_default=True, help="Number of random dot products.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the first random dot products.")
@click.option("--witness", "files", multiple=True, type=click.Path(path_type=Path),
              help="Dot products of a file: JSON, results, a recording; may be repeated.")  # fmt: skip
@click.option(
    "--directed/--no-directed", "with_directed", default=True, help="Include inputs made for the unit."
)
@click.option(
    "--stored/--no-stored", "with_stored", default=True, help="Include the witnesses of kept answers."
)
@results_option
@json_option
def plan(
    unit: str,
    output: Path,
    vectors: int,
    seed: int,
    files: Sequence[Path],
    with_directed: bool,
    with_stored: bool,
    folder: str,
    as_json: bool,
) -> int:
    """Write a plan: the dot products to run for a unit, in one file."""
    check_int("--vectors", vectors, low=0, high=MOST_VECTORS)
    check_int("--seed", seed, low=0)
    spec = resolve(unit)
    given = [item for path in files for item in from_file(spec, path)]
    k = len(given[0].witness.a) if given else spec.k
    items: list[Directed] = list(given)
    if with_stored:
        items += from_store(spec, Path(folder), k)
    if with_directed:
        items += directed(spec, k)
    made = make_plan(spec, items, vectors=vectors, seed=seed)
    write_plan(output, made)
    chosen = sum(isinstance(item, Directed) for item in made.items)
    facts = {"plan": str(output), "unit": spec.name, "k": made.k, "directed": chosen, "random": vectors}
    if as_json:
        print_json(facts | {"digest": made.digest()})
    else:
        say(f"{output}: {chosen} directed and {vectors} random dot products of {made.k} terms for {unit}")
    return OK


@probe.command(name="run")
@click.argument("path", metavar="PLAN", type=click.Path(path_type=Path))
@click.option("--device", "device_name", required=True, help=f"One of {', '.join(KINDS)}.")
@results_option
@json_option
def run_(path: Path, device_name: str, folder: str, as_json: bool) -> int:
    """Run a plan on a device; resumes if repeated (exit 0: all results equal the model's)."""
    made = read_plan(path)
    with opened(device_name) as device, bar("probing") as advance:
        outcome = run_plan(made, device, Path(folder), advance)
    if as_json:
        print_json(views.outcome_data(outcome))
    else:
        say(views.outcome_text(outcome, made.unit.name))
    return OTHERWISE if outcome.mismatches else OK


@probe.command()
@click.argument("archive", metavar="FILE.npz", type=click.Path(path_type=Path))
@click.option("--unit", "unit", required=True, help="The unit whose instruction computed the results.")
@click.option("--device", "device_name", required=True, help="The processor or GPU that computed them.")
@results_option
@json_option
def keep(archive: Path, unit: str, device_name: str, folder: str, as_json: bool) -> int:
    """Convert tiles recorded elsewhere into a file of results (exit 0: all of them equal the model's)."""
    spec = resolve(unit)
    path, count, wrong = keep_tiles(archive, spec, device_name, Path(folder))
    if as_json:
        print_json({"path": str(path), "unit": spec.name, "dot_products": count, "mismatches": wrong})
    else:
        say(f"{path}: {count} dot products of {device_name}, {wrong} of them not as {spec.name}")
    return OTHERWISE if wrong else OK


@probe.command(name="compare")
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--unit", "unit", help="The unit to compare, of results about several.")
@click.option("--design", "names", multiple=True, help="A further design to compare with; may be repeated.")
@click.option("--explain", "with_explanation", is_flag=True, help="Explain each refutation bit by bit.")
@click.option("--all", "show_all", is_flag=True, help="Show every design, beyond a screenful.")
@json_option
def compare_(
    path: Path, unit: str | None, names: Sequence[str], with_explanation: bool, show_all: bool, as_json: bool
) -> int:
    """Determine the designs that agree with a device's results (exit 0: its unit agrees).

    Exit 1: its unit is refuted; 3: no design agrees, or the run is incomplete.

    FILE is a file of results, or the folder of a campaign; of a folder, without --unit, the results of
    each unit are compared with its model.
    """
    if unit is None and len({run.head["unit"] for run in read_runs(path)}) > 1:
        with bar("replaying") as advance:
            checked = list(recheck(path, advance))
        print_json(views.checked_data(checked)) if as_json else show(views.checked_view(checked))
        if any(c.mismatches for c in checked):
            return OTHERWISE
        return NO_ANSWER if any(c.lacks for c in checked) else OK
    with bar("comparing") as advance:
        found = compare(path, [resolve(name) for name in names], advance, unit)
    if as_json:
        print_json(views.comparison_data(found))
    else:
        most = None if show_all else _SCREENFUL
        show(views.comparison_view(found, most))
        for line in views.commands(found, most):
            say(line)
        if with_explanation:
            _explain(found.refuted[:most], found)
    if not found.survivors or (found.survives and found.lacks):
        return NO_ANSWER
    return OK if found.holds else OTHERWISE


def _explain(refuted: Sequence[Refutation], found: Comparison) -> None:
    """Explain each refutation bit by bit: the refuted design on the refuting input."""
    from tcformal.cli.questions.explain import show_traces
    from tcformal.query.explain.explain import explain_witness

    for refutation in refuted:
        say()
        say(views.refutation_text(found, refutation))
        show_traces(
            [explain_witness(refutation.design, padded_witness(refutation.design, refutation.witness))]
        )
