"""The designs that may have given a result: units that exist, plain computations, and altered units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from tcformal.design.aliases import ALIASES
from tcformal.design.axes import computed, neighbours
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, same_formats, takes
from tcformal.errors import InputError
from tcformal.programs.chain import definition

#: Products up to which a computation is one design.
_MOST = 256


class MismatchKind(IntEnum):
    """The relation of a design to the given unit, the nearest first; the last two are of no unit."""

    UNIT = 0
    OTHER_UNIT = 1
    COMPUTATION = 2
    VARIATION = 3
    OTHER_VARIATION = 4


@dataclass(frozen=True, slots=True)
class Producer:
    """A design that gives the results of every case, and its description."""

    design: UnitSpec
    kind: MismatchKind
    #: The unit that a variation is one of; the design itself otherwise.
    base: UnitSpec
    what: str
    #: The catalogued units of this arithmetic, those nearest to the given unit first.
    units: tuple[str, ...] = ()


def existing_producers(spec: UnitSpec, k: int) -> Iterator[Producer]:
    """The unit, the catalogued designs of its formats and plain computations, each definition once."""
    if not takes(spec, k):
        raise InputError(
            f"expected at most {spec.k} products for {spec.name}, whose result cannot be the next c, "
            f"but got {k}"
        )
    own, *groups = same_arithmetic(spec, k)
    yield Producer(spec, MismatchKind.UNIT, spec, "the unit", own)
    seen = {computed(spec, k)}
    for names in groups:
        u = resolve(names[0])
        seen.add(computed(u, k))
        yield Producer(u, MismatchKind.OTHER_UNIT, u, "another unit", names)
    for name, what in computations(spec, k):
        u = resolve(name)
        if takes(u, k) and computed(u, k) not in seen:
            seen.add(computed(u, k))
            yield Producer(u, MismatchKind.COMPUTATION, u, what)


def altered_producers(existing: Sequence[Producer], k: int) -> Iterator[Producer]:
    """Units with one parameter changed, each definition once and none that exists."""
    seen = {computed(p.design, k) for p in existing}
    for p in existing:
        if p.kind is MismatchKind.COMPUTATION:
            continue
        kind = MismatchKind.VARIATION if p.kind is MismatchKind.UNIT else MismatchKind.OTHER_VARIATION
        for u in neighbours(p.design):
            if takes(u, k) and computed(u, k) not in seen:
                seen.add(computed(u, k))
                yield Producer(u, kind, p.design, "one parameter changed")


def merged(found: Sequence[Producer], spec: UnitSpec, k: int) -> tuple[Producer, ...]:
    """Designs of one definition as one, which has the units of all of them."""
    groups: dict[str, list[Producer]] = {}
    for p in found:
        groups.setdefault(definition(p.design, k), []).append(p)
    return tuple(
        replace(p, units=nearest_first(spec, [name for x in (p, *others) for name in x.units]))
        for p, *others in groups.values()
    )


def computations(spec: UnitSpec, k: int) -> Iterator[tuple[str, str]]:
    """Designs of plain computations, without a unit, with their descriptions.

    None for units with scales, for more products than one design takes, and for results of a format that
    is not IEEE 754.
    """
    o = spec.operands
    if spec.scale_format is not None or k > _MOST or o.d.name not in ("fp64", "fp32", "fp16", "bf16"):
        return
    usual = resolve("fma").operands.names()
    formats = "".join(f",{x}_format={name}" for x, name in o.names().items() if name != usual[x])
    for alias, (_, what) in ALIASES.items():
        if not (alias.startswith("fp64") and o.d.name == "fp64"):
            yield f"{alias}@k={k}{formats}", what.replace("d's format", o.d.name)


def same_arithmetic(spec: UnitSpec, k: int) -> list[tuple[str, ...]]:
    """Names of the catalogued units of a unit's formats that take K products, those of one design together.

    The units of the given one's own design come first, an empty row where there is none; then, and in each
    row, those of the given unit's instruction, and of its number of products.
    """
    own, others = list[tuple[str, ...]](), list[tuple[str, ...]]()
    wanted = computed(spec, k)
    for names in distinct_designs(lambda u: same_formats(u, spec) and takes(u, k)).values():
        mine = any(name == spec.name or computed(catalogue()[name], k) == wanted for name in names)
        (own if mine else others).append(nearest_first(spec, names))
    others.sort(key=lambda names: _far(spec, names[0]))
    return [nearest_first(spec, [x for names in own for x in names]), *others]


def nearest_first(spec: UnitSpec, names: Iterable[str]) -> tuple[str, ...]:
    """Names of units: those of a unit's instruction first, then those of as many products."""
    return tuple(sorted(dict.fromkeys(names), key=lambda name: _far(spec, name)))


def _far(spec: UnitSpec, name: str) -> tuple[bool, bool, bool]:
    same = name.partition("/")[2] == spec.name.partition("/")[2]
    return name != spec.name, not same, catalogue()[name].k != spec.k
