"""Devices, runs and comparisons as people and programs read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.oracle.values import format_value
from tcformal.probe.compare import Comparison, Refutation
from tcformal.probe.device import Ability
from tcformal.probe.run import Outcome
from tcformal.report.text import hex_word, table

Found = Sequence[tuple[str, str, Sequence[Ability]]]


def devices_data(found: Found, why_no_gpu: str) -> dict[str, Any]:
    """The devices as plain data."""
    return {
        "devices": [
            {
                "name": name,
                "description": description,
                "units": [
                    {"unit": a.unit, "instruction": a.instruction, "missing": a.missing or None}
                    for a in abilities
                ],
            }
            for name, description, abilities in found
        ],
        "no_gpu": why_no_gpu or None,
    }


def devices_view(found: Found, why_no_gpu: str, kinds: Mapping[str, str]) -> RenderableType:
    """One row per device and instruction, and what else a device may be."""
    made = table("device", "instruction", "unit", "")
    for name, description, abilities in found:
        for i, a in enumerate(abilities):
            first = f"{name} {description}".strip() if i == 0 else ""
            made.add_row(
                first, a.instruction, a.unit, Text(a.missing, style="dim") if a.missing else Text("ready")
            )
    parts: list[RenderableType] = [made]
    if why_no_gpu:
        parts.append(Text(f"cuda: {why_no_gpu}", style="dim"))
    others = "; ".join(f"{kind}: {what}" for kind, what in kinds.items() if kind not in ("cpu", "cuda:N"))
    parts.append(Text(f"Besides: {others}.", style="dim"))
    return Group(*parts)


def outcome_data(outcome: Outcome) -> dict[str, Any]:
    """A run as plain data."""
    return {
        "file": str(outcome.path),
        "device": outcome.device,
        "dot_products": outcome.count,
        "held_before": outcome.held,
        "mismatches": outcome.mismatches,
    }


def outcome_text(outcome: Outcome, unit: str) -> str:
    """A run in one sentence."""
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
        "device": found.device,
        "dot_products": found.count,
        "survivors": [u.name for u in found.survivors],
        "refuted": [
            {
                "design": r.design.name, "by": r.where, "device_gives": hex_word(d, r.given),
                "design_gives": hex_word(d, r.designed), "explain": r.command,
            }
            for r in found.refuted
        ],
    }  # fmt: skip


def comparison_view(found: Comparison) -> RenderableType:
    """The designs that are left, then each refuted one with the input that refutes it."""
    head = Text("HOLDS" if found.holds else "REFUTED", style="bold green" if found.holds else "bold yellow")
    head.append(
        f": {found.unit.name} on {found.count} dot products of {found.device.get('device', 'the device')}",
        style="default not bold",
    )
    parts: list[RenderableType] = [head]
    left = "\n".join(f"  {u.name}" for u in found.survivors)
    parts.append(Text(f"{len(found.survivors)} designs survive:\n{left}" if left else "no design survives"))
    if found.refuted:
        d = found.unit.operands.d
        made = table("refuted design", "by", "device gives", "design gives")
        for r in found.refuted:
            made.add_row(_short(found, r), r.where, hex_word(d, r.given), hex_word(d, r.designed))
        parts.append(made)
    return Group(*parts)


def _short(found: Comparison, refutation: Refutation) -> str:
    """The design's name; only what was altered where it is the unit itself."""
    name = refutation.design.name
    return name.removeprefix(found.unit.name) if name != found.unit.name else name


def commands(found: Comparison) -> Iterator[str]:
    """One line per refutation, ready to be run."""
    for r in found.refuted:
        yield f"bit by bit: {r.command}"


def refutation_text(found: Comparison, refutation: Refutation) -> str:
    """One refutation in one sentence."""
    d = found.unit.operands.d
    given, designed = (
        f"{format_value(d, raw)} ({hex_word(d, raw)})" for raw in (refutation.given, refutation.designed)
    )
    name, where = refutation.design.name, refutation.where
    return f"{name} is refuted by {where}: the device gives {given}, it gives {designed}"
