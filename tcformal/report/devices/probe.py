"""Views of devices, runs and comparisons."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tcformal.devices.listing import Listed
from tcformal.devices.run.run import RunOutcome
from tcformal.identification.compare import Checked, Comparison, Refutation
from tcformal.oracle.values import format_value, hex_word
from tcformal.report.parts import Headline, ReportPart, Rows

#: Other names of a survivor that are shown.
_NAMES = 3


def devices_data(found: Sequence[Listed], notes: Sequence[str]) -> dict[str, Any]:
    """The devices as plain data."""
    return {
        "devices": [
            {
                "name": device.name,
                "description": device.description,
                "units": [
                    {"unit": a.unit, "instruction": a.instruction, "missing": a.missing or None}
                    for a in device.abilities
                ],
                "launched": device.ran or None,
                "fault": device.fault or None,
            }
            for device in found
        ],
        "notes": list(notes),
    }


def devices_view(found: Sequence[Listed], notes: Sequence[str], kinds: Mapping[str, str]) -> list[ReportPart]:
    """One row per device and instruction, the launch test of each GPU, and other kinds of devices."""
    made = Rows(("device", "instruction", "unit", ""))
    parts: list[ReportPart] = [made]
    for device in found:
        ready = "fails, see below" if device.fault else "ready"
        for i, a in enumerate(device.abilities):
            first = f"{device.name} {device.description}".strip() if i == 0 else ""
            made.rows.append((first, a.instruction, a.unit, a.missing or ready))
        if device.fault:
            parts.append(f"{device.name} fails: {device.fault}")
        elif device.ran:
            parts.append(f"{device.name} works: {device.ran} was launched on it")
    parts += notes
    found_here = ("cpu", "cuda:N", "hip:N")
    others = "; ".join(f"{kind}: {what}" for kind, what in kinds.items() if kind not in found_here)
    parts.append(f"Besides: {others}.")
    return parts


def outcome_data(outcome: RunOutcome) -> dict[str, Any]:
    """A run as plain data."""
    return {
        "file": str(outcome.path),
        "device": outcome.device,
        "dot_products": outcome.count,
        "held_before": outcome.held,
        "mismatches": outcome.mismatches,
    }


def outcome_text(outcome: RunOutcome, unit: str) -> str:
    """A run as one sentence."""
    device, what = outcome.device.get("device", "device"), outcome.device.get("instruction", "")
    held = f" ({outcome.held} of them before)" if outcome.held else ""
    verdict = f"{outcome.mismatches} differ from {unit}" if outcome.mismatches else f"all as {unit}"
    return f"{outcome.count} dot products on {device}, {what}{held}: {verdict}; {outcome.path}"


def comparison_data(found: Comparison) -> dict[str, Any]:
    """A comparison as plain data."""
    d = found.unit.operands.d
    return {
        "unit": found.unit.name,
        "holds": found.holds,
        "lacks": found.lacks or None,
        "device": found.device,
        "dot_products": found.count,
        "digest_only": found.sealed,
        "survivors": [u.name for u in found.survivors],
        "also_spelled": {name: list(others) for name, others in found.spellings.items()},
        "refuted": [
            {
                "design": r.design.name, "agrees": r.agrees.count, "of": r.agrees.of, "by": r.where,
                "device_gives": hex_word(d, r.given),
                "design_gives": hex_word(d, r.designed), "explain": r.command,
            }
            for r in found.refuted
        ],
    }  # fmt: skip


def comparison_view(found: Comparison, most: int | None = None) -> list[ReportPart]:
    """The designs that agree, then each refuted one with the input that refutes it; at most so many."""
    device = found.device.get("device", "the device")
    text = f": {found.unit.name} on {found.count} dot products of {device}"
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
        made = Rows(("refuted design", ">agrees on", ">of", "refuted by", "device gives", "design gives"))
        for r in found.refuted[:most]:
            numbers = str(r.agrees.count), str(r.agrees.of)
            made.rows.append(
                (_short(found, r), *numbers, r.where, hex_word(d, r.given), hex_word(d, r.designed))
            )
        parts.append(made)
        if cut := len(found.refuted) - len(found.refuted[:most]):
            parts.append(f"… {cut} more refuted designs, which agree on fewer: --all")
    return parts


def _spelled(found: Comparison, name: str) -> str:
    """The other names of a survivor."""
    others = found.spellings.get(name, ())
    return (
        f", also spelled {', '.join(others[:_NAMES])}{', …' if len(others) > _NAMES else ''}"
        if others
        else ""
    )


def _short(found: Comparison, refutation: Refutation) -> str:
    """The design's name; of a variation of the unit itself, only the changed parameters."""
    name = refutation.design.name
    return name.removeprefix(found.unit.name) if name != found.unit.name else name


def commands(found: Comparison, most: int | None = None) -> Iterator[str]:
    """One `tcformal explain` command per refutation, of the first so many."""
    for r in found.refuted[:most]:
        yield f"bit by bit: {r.command}"


def refutation_text(found: Comparison, refutation: Refutation) -> str:
    """A refutation as one sentence."""
    d = found.unit.operands.d
    given, designed = (
        f"{format_value(d, raw)} ({hex_word(d, raw)})" for raw in (refutation.given, refutation.designed)
    )
    name, where = refutation.design.name, refutation.where
    return f"{name} is refuted by {where}: the device gives {given}, it gives {designed}"


def checked_data(found: Sequence[Checked]) -> dict[str, Any]:
    """Kept results compared with the models, as plain data."""
    return {"units": [dataclasses.asdict(c) for c in found]}


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
