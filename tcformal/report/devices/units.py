"""Units of one arithmetic by the processors that have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tcformal.design.processors import PROCESSORS, by_architecture


def on_processors(names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """The processors of each architecture, and the units that they have."""
    for arch, units in by_architecture(names).items():
        yield ", ".join(PROCESSORS.get(arch, (arch,))), units


def processors_text(names: Iterable[str]) -> str:
    """All processors, each with the first of its units."""
    return ", ".join(f"{processors} ({units[0]})" for processors, units in on_processors(names))


def processors_data(names: Iterable[str]) -> list[dict[str, Any]]:
    """The processors of each architecture and all of their units, as plain data."""
    return [
        {"arch": arch, "processors": list(PROCESSORS.get(arch, (arch,))), "names": units}
        for arch, units in by_architecture(names).items()
    ]
