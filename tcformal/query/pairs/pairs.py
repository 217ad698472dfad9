"""The comparable pairs of catalogued units: equal operand formats, with equal designs merged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from tcformal.checks import unknown_sentence
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.unit import formats_text
from tcformal.errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class Merged:
    """A design with its formats; the first unit that has them gives the name."""

    name: str
    #: Every name that shares the design, the first one included.
    names: tuple[str, ...]

    def has(self, text: str) -> bool:
        """Whether one of its units' names contains a text."""
        return any(text in name for name in self.names)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two units of different designs, by name."""

    first: str
    second: str


@dataclass(frozen=True, slots=True)
class FormatGroup:
    """The designs with the same operand and result formats."""

    #: `fp32 = fp16 · fp16 + fp32`, and the scales, if any.
    formats: str
    units: tuple[Merged, ...]
    #: The pairs that are asked, in the order of the catalogue.
    pairs: tuple[Pair, ...]


def groups(text: str = "") -> list[FormatGroup]:
    """The format groups with two or more designs, and in each the pairs with `text` in a name.

    Groups without such a pair are left out.
    Errors: UnknownNameError for a text that no unit's name contains.
    """
    by_formats: dict[tuple[object, ...], list[Merged]] = {}
    for name, names in distinct_designs().items():
        spec = catalogue()[name]
        key = (spec.operands, spec.scale_format, spec.scale_block)
        by_formats.setdefault(key, []).append(Merged(name, tuple(names)))
    if not any(unit.has(text) for units in by_formats.values() for unit in units):
        raise UnknownNameError(unknown_sentence("text of a unit's name", text, _words()))
    candidates = (
        FormatGroup(formats_text(catalogue()[units[0].name]), tuple(units), _pairs(units, text))
        for units in by_formats.values()
    )
    return [group for group in candidates if group.pairs]


def without_counterpart(text: str = "") -> list[str]:
    """The designs without another of equal formats, by name."""
    paired = {unit.name for group in groups() for unit in group.units}
    merged = (Merged(name, tuple(names)) for name, names in distinct_designs().items())
    return [unit.name for unit in merged if unit.name not in paired and unit.has(text)]


def _pairs(units: list[Merged], text: str) -> tuple[Pair, ...]:
    chosen = ((x, y) for x, y in combinations(units, 2) if x.has(text) or y.has(text))
    return tuple(Pair(x.name, y.name) for x, y in chosen)


def _words() -> list[str]:
    """The words that occur in unit names: architectures, and parts of instructions."""

    def parts() -> Iterator[str]:
        for name in catalogue():
            arch, _, instruction = name.partition("/")
            yield arch
            yield from instruction.split(".")

    return list(dict.fromkeys(parts()))
