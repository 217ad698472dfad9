"""`probe`: devices, plans, runs, comparisons with the models, and campaigns within a time limit."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tcformal.checks import MOST_JOBS, MOST_VECTORS, check_int, check_positive
from tcformal.cli.group import (
    NO_ANSWER,
    OK,
    OTHERWISE,
    Answer,
    json_option,
    main,
    results_option,
    verbose_option,
)
from tcformal.design.names import resolve
from tcformal.devices import exec_template, listing
from tcformal.devices.campaign import Campaign
from tcformal.devices.directed import directed
from tcformal.devices.gather import from_file, from_store
from tcformal.devices.isolated import opened
from tcformal.devices.listing import Listed
from tcformal.devices.plan import Directed, make_plan, read_plan, write_plan
from tcformal.devices.recorded import keep_tiles
from tcformal.devices.registry import KINDS
from tcformal.devices.runner import RunOutcome, run_plan
from tcformal.devices.runs import read_runs
from tcformal.devices.sealed import MOST_SEED
from tcformal.devices.tally import Measured, Tally
from tcformal.errors import InputError
from tcformal.identification.refutation import Checked, Comparison, Refutation, compare, recheck
from tcformal.oracle.values import hex_word, value_and_hex
from tcformal.query.pairs.pool import SturdyPool
from tcformal.report.escape import Plain, say, say_command, shortened, verbose
from tcformal.report.parts import Headline, ReportPart, Rows, bar, show
from tcformal.simulation.matrix_unit import padded_witness

#: Other names of a survivor that are shown.
_NAMES = 3


def devices_data(found: Sequence[Listed], notes: Sequence[str]) -> Plain:
    """The devices as plain data."""
    rows = [
        {
            "name": x.name, "description": x.description,
            "units": [{"unit": a.unit, "instruction": a.instruction, "missing": a.missing or None}
                      for a in x.abilities],
            "launched": x.ran or None, "fault": x.fault or None,
        }
        for x in found
    ]  # fmt: skip
    return {"devices": rows, "notes": list(notes)}


def devices_view(found: Sequence[Listed], notes: Sequence[str]) -> list[ReportPart]:
    """What each device can run, the launch test of each GPU, and other kinds of devices.

    A row for each unit that can run, one for each reason why others cannot; with -v a row for each unit.
    """
    made = Rows(("device", "", "instruction", "unit"))
    able = [f"{x.name} with {sum(not a.missing for a in x.abilities)} units" for x in found if not x.fault]
    parts: list[ReportPart] = [f"Dot products can be run on {', '.join(able) or 'nothing here'}.", made]
    for device in found:
        ready = "fails, see below" if device.fault else "ready"
        first = f"{device.name} {device.description}".strip()
        lacking: dict[str, list[str]] = {}
        for a in device.abilities:
            if a.missing and not verbose():
                lacking.setdefault(a.missing, []).append(a.unit)
                continue
            made.rows.append((first, a.missing or ready, a.instruction, shortened(a.unit)))
            first = ""
        for why, units in lacking.items():
            made.rows.append((first, why, "", ", ".join(units)))
            first = ""
        if device.fault:
            parts.append(f"{device.name} fails: {device.fault}")
        elif device.ran:
            parts.append(f"{device.name} works: {device.ran} was launched on it")
    found_here = ("cpu", "cuda:N", "hip:N")
    others = "; ".join(f"{kind}: {what}" for kind, what in KINDS.items() if kind not in found_here)
    return [*parts, *notes, f"Besides: {others}."]


def outcome_text(outcome: RunOutcome, unit: str) -> str:
    """A run as one sentence."""
    device, what = outcome.device.get("device", "device"), outcome.device.get("instruction", "")
    held = f" ({outcome.held} of them before)" if outcome.held else ""
    verdict = f"{outcome.mismatches} differ from {unit}" if outcome.mismatches else f"all as {unit}"
    return f"{outcome.count} dot products on {device}, {what}{held}: {verdict}"


def comparison_data(found: Comparison) -> Plain:
    """A comparison as plain data."""
    d = found.unit.operands.d
    refuted = [
        {
            "design": r.design.name, "agrees": r.agrees.count, "of": r.agrees.of, "by": r.where,
            "device_gives": hex_word(d, r.given), "design_gives": hex_word(d, r.designed),
            "explain": r.command,
        }
        for r in found.refuted
    ]  # fmt: skip
    return {
        "unit": found.unit.instruction, "holds": found.holds, "lacks": found.lacks or None,
        "device": found.device, "dot_products": found.count, "digest_only": found.sealed,
        "survivors": [u.name for u in found.survivors],
        "also_spelled": {name: list(others) for name, others in found.spellings.items()},
        "refuted": refuted,
    }  # fmt: skip


def comparison_view(found: Comparison, most: int | None = None) -> list[ReportPart]:
    """The designs that agree, then each refuted one with the input that refutes it; at most so many."""
    device = found.device.get("device", "the device")
    text = f": {found.unit.instruction} on {found.count} dot products of {device}"
    if found.sealed:
        text += f" ({found.sealed} more are kept as a digest only and are not its own)"
    if found.lacks:
        text += f"; of the run something is missing: {found.lacks}"
    word = "HOLDS" if found.holds else "INCOMPLETE" if found.survives else "REFUTED"
    parts: list[ReportPart] = [Headline(word, found.holds, text)]
    left = "\n".join(f"  {u.name}{_spelled(found, u.name)}" for u in found.survivors[:most])
    cut = len(found.survivors) - len(found.survivors[:most])
    left += f"\n  … {cut} more: --all" if cut else ""
    parts.append(f"{len(found.survivors)} designs survive:\n{left}" if left else "no design survives")
    if found.refuted:
        d = found.unit.operands.d
        given = ("device gives", "design gives") if verbose() else ()
        made = Rows(("refuted design", ">agrees on", ">of", "refuted by", *given))
        for r in found.refuted[:most]:
            # Of a variation of the unit itself, only the changed parameters.
            name = r.design.name.removeprefix(found.unit.name) or r.design.name
            words = hex_word(d, r.given), hex_word(d, r.designed)
            row = (name, str(r.agrees.count), str(r.agrees.of), r.where, *words)
            made.rows.append(row[: len(made.columns)])
        parts.append(made)
        if cut := len(found.refuted) - len(found.refuted[:most]):
            parts.append(f"… {cut} more refuted designs, which agree on fewer: --all")
    return parts


def _spelled(found: Comparison, name: str) -> str:
    """The other names of a survivor."""
    others = found.spellings.get(name, ())
    more = ", …" if len(others) > _NAMES else ""
    short = (x.removeprefix(name) if x.startswith(f"{name}@") else shortened(x) for x in others[:_NAMES])
    return f", also spelled {', '.join(short)}{more}" if others else ""


def commands(found: Comparison, most: int | None = None) -> Iterator[str]:
    """One `tcformal explain` command per refutation, of the first so many."""
    for r in found.refuted[:most]:
        yield f"bit by bit: {r.command}"


def refutation_text(found: Comparison, refutation: Refutation) -> str:
    """A refutation as one sentence."""
    d = found.unit.operands.d
    given, designed = (value_and_hex(d, raw) for raw in (refutation.given, refutation.designed))
    name, where = refutation.design.name, refutation.where
    return f"{name} is refuted by {where}: the device gives {given}, it gives {designed}"


def checked_view(found: Sequence[Checked]) -> list[ReportPart]:
    """Kept results compared with the models, one row per unit."""
    wrong = sum(c.mismatches for c in found)
    count = sum(c.count for c in found)
    text = f": {count} dot products of {len(found)} units, {wrong} of them not as the models give them"
    made = Rows(("unit", "instruction", ">compared", ">digest only", ">differ"))
    for c in found:
        instruction = c.device.get("instruction", "")
        made.rows.append((c.unit, instruction, str(c.count), str(c.sealed), str(c.mismatches)))
    parts: list[ReportPart] = [f"of {c.unit} something is missing: {c.lacks}" for c in found if c.lacks]
    word = "REFUTED" if wrong else "INCOMPLETE" if parts else "HOLDS"
    return [Headline(word, word == "HOLDS", text), made, *parts]


#: Designs of each kind that fit on a screen.
_SCREENFUL = 10


@main.group()
def probe() -> None:
    """Run dot products on hardware and compare with the models: devices, plans, runs, comparisons."""


@probe.command()
@verbose_option
@json_option
def devices() -> Answer:
    """List the devices of this machine and what each can run; launches a small kernel on each GPU."""
    found, notes = listing.devices()
    return Answer(devices_data(found, notes), [*devices_view(found, notes)])


@probe.command()
def template() -> int:
    """Print a device of your own: a Python program with the place to fill in, for --device exec:PROGRAM.

    It works as it is, needs nothing but Python, and speaks the protocol tcformal-probe/1: a line of JSON for
    each dot product.
    """
    say(Path(exec_template.__file__).read_text(encoding="utf-8"), end="")
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
    unit: str, output: Path, vectors: int, seed: int, files: Sequence[Path], with_directed: bool,
    with_stored: bool, folder: str,
) -> Answer:  # fmt: skip
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
    if not output.parent.is_dir():
        raise InputError(f"expected a file that can be written, but got {output}: there is no such folder")
    write_plan(output, made)
    chosen = sum(isinstance(item, Directed) for item in made.items)
    facts = {
        "plan": str(output), "unit": spec.instruction, "k": made.k, "directed": chosen, "random": vectors,
    }  # fmt: skip
    said = f"{output}: {chosen} directed and {vectors} random dot products of {made.k} terms for {unit}"
    return Answer(facts | {"digest": made.digest()}, [said])


@probe.command(name="run")
@click.argument("path", metavar="PLAN", type=click.Path(path_type=Path))
@click.option("--device", "device_name", required=True, help=f"One of {', '.join(KINDS)}.")
@results_option
@json_option
def run_(path: Path, device_name: str, folder: str) -> Answer:
    """Run a plan on a device; resumes if repeated (exit 0: all results equal the model's)."""
    made = read_plan(path)
    with opened(device_name) as device, bar("probing") as advance:
        outcome = run_plan(made, device, Path(folder), advance)
    data = {
        "file": str(outcome.path), "device": outcome.device, "dot_products": outcome.count,
        "held_before": outcome.held, "mismatches": outcome.mismatches,
    }  # fmt: skip
    said = [outcome_text(outcome, made.unit.instruction), str(outcome.path)]
    return Answer(data, said, OTHERWISE if outcome.mismatches else OK)


@probe.command()
@click.argument("archive", metavar="FILE.npz", type=click.Path(path_type=Path))
@click.option("--unit", "unit", required=True, help="The unit whose instruction computed the results.")
@click.option("--device", "device_name", required=True, help="The processor or GPU that computed them.")
@results_option
@json_option
def keep(archive: Path, unit: str, device_name: str, folder: str) -> Answer:
    """Convert tiles recorded elsewhere into a file of results (exit 0: all of them equal the model's)."""
    spec = resolve(unit)
    path, count, wrong = keep_tiles(archive, spec, device_name, Path(folder))
    data = {"path": str(path), "unit": spec.instruction, "dot_products": count, "mismatches": wrong}
    said = [f"{count} dot products of {device_name}, {wrong} of them not as {spec.instruction}", str(path)]
    return Answer(data, said, OTHERWISE if wrong else OK)


@probe.command(name="compare")
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--unit", "unit", help="The unit to compare, of results about several.")
@click.option("--design", "names", multiple=True, help="A further design to compare with; may be repeated.")
@click.option("--explain", "with_explanation", is_flag=True, help="Explain each refutation bit by bit.")
@click.option("--all", "show_all", is_flag=True, help="Show every design, beyond a screenful.")
@verbose_option
@json_option
def compare_(
    path: Path, unit: str | None, names: Sequence[str], with_explanation: bool, show_all: bool
) -> Answer:
    """Determine the designs that agree with a device's results (exit 0: its unit agrees).

    Exit 1: its unit is refuted; 3: no design agrees, or the run is incomplete.

    FILE is a file of results, or the folder of a campaign; of a folder, without --unit, the results of
    each unit are compared with its model.
    """
    if unit is None and len({run.head["unit"] for run in read_runs(path)}) > 1:
        with bar("replaying") as advance:
            checked = list(recheck(path, advance))
        code = NO_ANSWER if any(c.lacks for c in checked) else OK
        return Answer(
            {"units": [dataclasses.asdict(c) for c in checked]}, [*checked_view(checked)],
            OTHERWISE if any(c.mismatches for c in checked) else code,
        )  # fmt: skip
    with bar("comparing") as advance:
        asked = None if unit is None else resolve(unit).instruction
        found = compare(path, [resolve(name) for name in names], advance, asked)

    def text() -> None:
        most = None if show_all else _SCREENFUL
        show(comparison_view(found, most))
        for line in commands(found, most) if verbose() else ():
            say_command(line)
        if found.refuted and not verbose():
            say("-v: what device and design give, and commands that show it bit by bit")
        if with_explanation:
            _explain(found.refuted[:most], found)

    none = not found.survivors or (found.survives and found.lacks)
    code = NO_ANSWER if none else OK if found.holds else OTHERWISE
    return Answer(comparison_data(found), text, code)


def _explain(refuted: Sequence[Refutation], found: Comparison) -> None:
    """Explain each refutation bit by bit: the refuted design on the refuting input."""
    from tcformal.query.explain.explain import explain_witness
    from tcformal.report.picture import show_traces

    for refutation in refuted:
        say()
        say(refutation_text(found, refutation))
        show_traces(
            [explain_witness(refutation.design, padded_witness(refutation.design, refutation.witness))]
        )


#: Names of designs that one line shows.
_SHOWN = 3


def campaign_view(tally: Tally) -> list[ReportPart]:
    """A campaign as a table of units with their answers, then differences and failures."""
    parts: list[ReportPart] = [_head(tally)]
    made = Rows(("leading unit", "instruction", ">units", ">directed", ">random", ">differ"))
    for lead, members in _families(tally):
        shown = [u for u in (lead, *members) if u.done]
        if shown:
            made.rows.append((
                lead.spec.instruction, lead.identity.get("instruction", ""),
                f"{len(shown)} of {1 + len(members)}",
                f"{sum(u.directed for u in shown)}", f"{sum(u.random for u in shown)}",
                f"{sum(u.mismatches for u in shown)}",
            ))  # fmt: skip
    parts += [rows for rows in (made, _answers(tally)) if rows.rows]
    parts += [
        f"{pair['first']} and {pair['second']} on the same {pair['dot_products']} random inputs: "
        f"{pair['differing']} results differ"
        for pair in tally.pairs
    ]
    parts += [f"not measured: {name}: {why}" for name, why in tally.faults.items()]
    if tally.untouched:
        parts.append(f"no time for {len(tally.untouched)} units: {', '.join(tally.untouched[:_SHOWN])}, …")
    return [*parts, f"results: {tally.folder}/campaign-*"]


def _head(tally: Tally) -> Headline:
    device = tally.device.get("device", "the device")
    kept = "KEPT" if tally.unchecked else "HOLDS"
    word = "REFUTED" if tally.mismatches else "FAULTS" if tally.faults else kept
    wrong = f"{tally.mismatches} results are not the models'"
    what = wrong if tally.mismatches else "every result is the model's"
    stopped = f"; {tally.stopped}" if tally.stopped else ""
    if tally.unchecked:
        stopped += f"; {tally.unchecked} are kept, not re-checked: tcformal probe compare {tally.folder}"
    return Headline(
        word, word == "HOLDS",
        f": {tally.measured} dot products on {device} in {tally.seconds:.0f} s: {what}{stopped}",
    )  # fmt: skip


def _families(tally: Tally) -> list[tuple[Measured, list[Measured]]]:
    """The leading units, each with the units that share its measurements."""
    found: list[tuple[Measured, list[Measured]]] = []
    for unit in tally.units.values():
        if unit.leads:
            found.append((unit, []))
        else:
            found[-1][1].append(unit)
    return found


def _answers(tally: Tally) -> Rows:
    """The answers of each leading unit to the questions that separate designs."""
    made = Rows(("answers of", "to", "gives", "fits"))
    for unit in tally.units.values():
        name = unit.spec.instruction
        for answer in unit.answers:
            if answer["refuted"]:
                gives = next(iter(answer["outputs"].values()), "")
                made.rows.append((name, answer["question"], gives, _fits(unit, answer)))
                name = ""
    return made


def _fits(unit: Measured, answer: Mapping[str, Any]) -> str:
    """The designs that give all outputs of a question, and the number of designs."""
    names = [name.removeprefix(unit.spec.name).lstrip("@,") or "as catalogued" for name in answer["fits"]]
    more = f", … ({len(names)})" if len(names) > _SHOWN else ""
    tried = len(names) + len(answer["refuted"])
    return f"{', '.join(names[:_SHOWN]) or 'none'}{more} of {tried}"


#: Largest values that are taken for intended.
_MOST_MINUTES = 10_080


@probe.command()
@click.option("--device", "device_name", required=True, help="cuda:N, cpu, model:UNIT, model:ARCH, …")
@click.option(
    "--minutes", type=float, default=8.0, show_default=True, help="Time limit of the campaign, in minutes."
)
@click.option(
    "--vectors", type=int, default=1_000_000, show_default=True, help="Random dot products per unit."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the first random dot products.")
@click.option("--unit", "units", multiple=True, help="Only this unit; may be repeated.")
@click.option(
    "--jobs", type=int, default=None, help="Processes for the models; by default all cores but two."
)
@click.option("--answers", default="results", show_default=True, type=click.Path(path_type=Path),
              help="Folder of kept answers, whose witnesses are run too.")  # fmt: skip
@results_option
@json_option
def campaign(
    device_name: str, minutes: float, vectors: int, seed: int, units: Sequence[str], jobs: int | None,
    answers: Path, folder: str,
) -> Answer:  # fmt: skip
    """Measure every unit of a device, in order of value, within a time limit; resumes if repeated.

    Exit 0: all results equal the models'; 1: some differ; 3: some unit could not be measured.
    """
    start = time.monotonic()
    if check_positive("--minutes", minutes) > _MOST_MINUTES:
        raise InputError(f"expected at most {_MOST_MINUTES} for --minutes, a week, but got {minutes:g}")
    check_int("--vectors", vectors, low=0, high=MOST_VECTORS)
    check_int("--seed", seed, low=0, high=MOST_SEED)
    cores = os.cpu_count() or 1
    jobs = max(1, cores - 2) if jobs is None else check_int("--jobs", jobs, low=1, high=MOST_JOBS)
    with opened(device_name) as device, _pool(jobs) as pool:
        made = Campaign(
            device, Path(folder), seconds=60 * minutes - (time.monotonic() - start), clock=time.monotonic,
            pool=pool, jobs=jobs, vectors=vectors, seed=seed, units=units, answers=answers,
            say=lambda sentence: say(sentence, err=True),
        )  # fmt: skip
        tally = made.run()
    code = NO_ANSWER if tally.faults or tally.unchecked else OK
    data = {"folder": str(tally.folder), **tally.data()}
    return Answer(data, [*campaign_view(tally)], OTHERWISE if tally.mismatches else code)


@contextlib.contextmanager
def _pool(jobs: int) -> Iterator[SturdyPool]:
    """The processes for the models; they are ended, whatever they do, at the end."""
    pool = SturdyPool(jobs)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
