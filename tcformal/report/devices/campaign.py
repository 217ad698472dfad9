"""The view of a campaign on a device."""

from __future__ import annotations

from tcformal.devices.entries import Answer
from tcformal.devices.tally import Measured, Tally
from tcformal.report.parts import Headline, ReportPart, Rows

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
                lead.spec.name, lead.identity.get("instruction", ""), f"{len(shown)} of {1 + len(members)}",
                f"{sum(u.directed for u in shown)}", f"{sum(u.random for u in shown)}",
                f"{sum(u.mismatches for u in shown)}",
            ))  # fmt: skip
    if made.rows:
        parts.append(made)
    parts += _answers(tally)
    for pair in tally.pairs:
        parts.append(
            f"{pair['first']} and {pair['second']} on the same {pair['dot_products']} random inputs: "
            f"{pair['differing']} results differ"
        )
    parts += [f"not measured: {name}: {why}" for name, why in tally.faults.items()]
    if tally.untouched:
        parts.append(f"no time for {len(tally.untouched)} units: {', '.join(tally.untouched[:_SHOWN])}, …")
    parts.append(f"results: {tally.folder}/campaign-*")
    return parts


def _head(tally: Tally) -> Headline:
    device = tally.device.get("device", "the device")
    kept = "KEPT" if tally.unchecked else "HOLDS"
    word = "REFUTED" if tally.mismatches else "FAULTS" if tally.faults else kept
    what = (
        f"{tally.mismatches} results are not the models'"
        if tally.mismatches
        else "every result is the model's"
    )
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


def _answers(tally: Tally) -> list[ReportPart]:
    """The answers of each leading unit to the questions that separate designs."""
    made = Rows(("answers of", "to", "gives", "fits"))
    for unit in tally.units.values():
        name = unit.spec.name
        for answer in unit.answers:
            if answer["refuted"]:
                gives = next(iter(answer["outputs"].values()), "")
                made.rows.append((name, answer["question"], gives, _fits(unit, answer)))
                name = ""
    return [made] if made.rows else []


def _fits(unit: Measured, answer: Answer) -> str:
    """The designs that give all outputs of a question, and the number of designs."""
    names = [name.removeprefix(unit.spec.name).lstrip("@,") or "as catalogued" for name in answer["fits"]]
    more = f", … ({len(names)})" if len(names) > _SHOWN else ""
    tried = len(names) + len(answer["refuted"])
    return f"{', '.join(names[:_SHOWN]) or 'none'}{more} of {tried}"
