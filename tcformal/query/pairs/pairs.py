"""The comparable pairs of catalogued units, and assumptions under which both should agree."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from tcformal.checks import unknown_sentence
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.short_names import in_names
from tcformal.design.unit import UnitSpec, formats_text
from tcformal.errors import UnknownNameError
from tcformal.query.assume import Assumptions
from tcformal.semantics.chain import common_k


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
    text = in_names(text)
    by_formats: dict[tuple[object, ...], list[Merged]] = {}
    for name, names in distinct_designs().items():
        spec = catalogue()[name]
        key = (spec.operands, spec.scale_format, spec.scale_block)
        by_formats.setdefault(key, []).append(Merged(name, tuple(names)))
    if not any(unit.has(text) for units in by_formats.values() for unit in units):
        if ":" in text:
            resolve(text)
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
    text = in_names(text)
    return [unit.name for unit in merged if unit.name not in paired and unit.has(text)]


def _pairs(units: list[Merged], text: str) -> tuple[Pair, ...]:
    chosen = ((x, y) for x, y in combinations(units, 2) if x.has(text) or y.has(text))
    return tuple(Pair(x.name, y.name) for x, y in chosen)


def _words() -> list[str]:
    """The words that occur in unit names: architectures, and parts of instructions."""
    names = (name.partition("/") for name in catalogue())
    return list(dict.fromkeys(word for arch, _, rest in names for word in (arch, *rest.split("."))))


def no_overflow(first: UnitSpec, second: UnitSpec) -> tuple[int, int]:
    """The exponent range of elements in which no product or sum overflows or underflows D.

    Ranges and units: the largest sum of all products and c is below overflow, every product is a multiple
    of the least subnormal of D, and no zero term of either unit lies above a product.
    """
    o, k = first.operands, common_k(first, second)
    high = (o.d.e_max - 2 - k.bit_length()) // 2
    bits = o.a.fraction_bits + o.b.fraction_bits
    zeros = [u.design.zero_exponent for u in (first, second) if isinstance(u.design.zero_exponent, int)]
    low = -(-max([o.d.e_min - o.d.fraction_bits + bits, *zeros]) // 2)
    return low, high


def variants(first: UnitSpec, second: UnitSpec) -> list[Assumptions]:
    """The assumption sets for a pair, the most restrictive first."""
    spans = no_overflow(first, second), None
    return [Assumptions(("finite",), span, c) for span in spans for c in (0, None)]
