"""The catalogue of all legal unit names; each unit is built on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain

from tcformal.design.unit import UnitSpec
from tcformal.design.vendors.amd import amd_names
from tcformal.design.vendors.integers import integer_names
from tcformal.design.vendors.nvidia import UnitMaker, nvidia_names
from tcformal.design.vendors.processors import cpu_names
from tcformal.design.vendors.published import published_names


class Catalogue(Mapping[str, UnitSpec]):
    """An ordered map from names to units, by vendor and age; about 5,800 names, built one by one.

    Errors: KeyError for a name that is not legal (`names.resolve` says which are close).
    """

    def __init__(self) -> None:
        self._makers: dict[str, UnitMaker] = dict(
            chain(nvidia_names(), amd_names(), cpu_names(), published_names(), integer_names())
        )
        self._made: dict[str, UnitSpec] = {}

    def __getitem__(self, name: str) -> UnitSpec:
        if name not in self._made:
            self._made[name] = self._makers[name](name)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@cache
def catalogue() -> Catalogue:
    """The shared instance of the catalogue."""
    return Catalogue()


def distinct_designs(allow: Callable[[UnitSpec], bool] = lambda _: True) -> dict[str, list[str]]:
    """The distinct designs: one unit's name for each pair of design and formats, with all names that share
    it.

    Only units that `allow` lets through.

    Shapes are left out: units that differ in m and n only compute the same dot products; the
    number of products per block is that of the unit's own k.
    """
    groups: dict[int, list[str]] = {}
    for name, number in _numbers().items():
        if allow(catalogue()[name]):
            groups.setdefault(number, []).append(name)
    return {names[0]: names for names in groups.values()}


def floating(u: UnitSpec) -> bool:
    """Whether a unit computes with floating-point numbers.

    Of these alone speak theorems about roundings, bounds of errors, and the probes for AMD: sums of integers
    are exact, and have a specification and theorems of their own.
    """
    return not u.operands.d.integer


@cache
def _numbers() -> dict[str, int]:
    """A class number for each unit, equal for units of equal design and formats."""
    by_key: dict[tuple[object, ...], int] = {}
    numbers = {}
    for name, u in catalogue().items():
        length = min(u.k, u.design.products)
        emulation = (u.k, u.emulation) if u.emulation is not None else None
        key = (u.design, length, u.operands, u.scale_format, u.scale_block, emulation, u.tree)
        numbers[name] = by_key.setdefault(key, len(by_key))
    return numbers
