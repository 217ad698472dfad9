"""Design spaces: the sets of designs that questions range over.

A space is spelled in three ways: one unit's single-parameter variations, chosen variations of one or
more units (`fraction_bits=10..40`), and the catalogue's designs of some operand formats.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tcformal.checks import check_choice
from tcformal.design.axes import Settings, altered, axes
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.rounding import MODES
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.encodings.custom import split_names
from tcformal.errors import InputError, UnknownNameError

#: Members that one space may have.
LARGEST = 10_000

_RANGE = re.compile(r"([+-]?\d{1,9})\.\.([+-]?\d{1,9})")


@dataclass(frozen=True, slots=True)
class Space:
    """Two or more distinct designs with equal operand formats."""

    members: tuple[UnitSpec, ...]
    #: Names that stand for the very parameters of a member, with that member's name.
    same: Mapping[str, str]
    #: Names whose parameters mean nothing together, with the reason.
    refused: Mapping[str, str]


def space(
    names: Sequence[str] = (),
    *,
    vary: Sequence[str] = (),
    formats: str | None = None,
    archs: Sequence[str] = (),
) -> Space:
    """Build a space from names, variations, formats or architectures.

    `names` and the catalogue's designs of `formats` (`fp16,fp16,fp32,fp32`: A, B, C, D) or `archs` are
    the designs to start from.  With `vary` (`fraction_bits=10..40`, `rounding`) each of them takes every
    combination of the values; a single name without `vary` takes one variation at a time.
    Errors: UnknownNameError for names that do not exist; InputError for fewer than two designs, for
    designs of different operand formats, and for more than LARGEST.
    """
    bases = [resolve(name) for name in names]
    if formats is not None or archs:
        bases += catalogued(formats, archs)
    if not bases:
        raise InputError("expected a unit, operand formats or an architecture, but got none")
    if vary:
        varied = [_axis(text, bases[0]) for text in vary]
        chosen = [(base, ",".join(settings)) for base in bases for settings in itertools.product(*varied)]
    elif len(bases) == 1 and not (formats or archs):
        listed = axes(bases[0]).values()
        chosen = [(bases[0], ""), *((bases[0], settings) for axis in listed for settings in axis)]
    else:
        chosen = [(base, "") for base in bases]
    return _collected(chosen)


def catalogued(formats: str | None, archs: Sequence[str]) -> list[UnitSpec]:
    """One unit per distinct catalogued design with these operand formats and architectures."""
    wanted = None
    if formats is not None:
        wanted = [format_named(name.strip()) for name in split_names(formats)]
        if len(wanted) != 4:
            raise InputError(f"expected the formats of A, B, C and D, but got {formats!r}")
    known_archs = dict.fromkeys(name.partition("/")[0] for name in catalogue())
    for arch in archs:
        check_choice("architecture", arch, known_archs)

    def allow(u: UnitSpec) -> bool:
        o = u.operands
        return (not archs or u.arch in archs) and (wanted is None or [o.a, o.b, o.c, o.d] == wanted)

    units = [catalogue()[name] for name in distinct_designs(allow)]
    if not units:
        where = f" on {' or '.join(archs)}" if archs else ""
        raise InputError(
            f"expected units with operands {formats or 'of any format'}{where}, but there are none"
        )
    return units


def _axis(text: str, unit: UnitSpec) -> tuple[Settings, ...]:
    """Expand `name=1,5..7` to `name=1`, `name=5`, …; `name` alone expands to its axis."""
    name, equals, values = (part.strip() for part in text.partition("="))
    if not equals:
        known = axes(unit)
        found = known[check_choice("parameter to vary", name, known)]
        if name == "rounding":
            # Where nothing but the result is rounded it is another word for `conversion`, and listed as that.
            found = tuple(f"rounding={mode}" for mode in MODES)
        if not found:
            raise InputError(
                f"expected a parameter that varies in {unit.name}, but {name} has no values there"
            )
        return found
    listed: list[str] = []
    for item in (part.strip() for part in values.split(",")):
        span = _RANGE.fullmatch(item)
        if span is None:
            listed.append(item)
        elif not 0 <= int(span[2]) - int(span[1]) < LARGEST:
            raise InputError(f"expected a range LOW..HIGH for {name}, but got {item!r}")
        else:
            listed += map(str, range(int(span[1]), int(span[2]) + 1))
    return tuple(f"{name}={value}" for value in listed)


def _identity(u: UnitSpec) -> tuple[object, ...]:
    """A hashable key of a unit's parameters: equal keys mean the same design."""
    design = replace(u.design, products=min(u.k, u.design.products))
    emulation = (u.k, u.emulation) if u.emulation is not None else None
    return design, u.operands, u.scale_format, u.scale_block, emulation, u.tree


def _collected(chosen: Sequence[tuple[UnitSpec, Settings]]) -> Space:
    """The space of all valid combinations of bases and settings."""
    if len(chosen) > LARGEST:
        raise InputError(f"expected at most {LARGEST} designs, but got {len(chosen)}")
    members: dict[tuple[object, ...], UnitSpec] = {}
    same: dict[str, str] = {}
    refused: dict[str, str] = {}
    for base, settings in chosen:
        name = altered(base, settings)
        try:
            unit = resolve(name)
        except UnknownNameError:
            raise
        except InputError as error:
            refused[name] = str(error)
            continue
        first = members.setdefault(_identity(unit), unit)
        if first.name != name:
            same[name] = first.name
    if len(members) < 2:
        why = f": {next(iter(refused.values()))}" if refused else ""
        raise InputError(f"expected at least two designs, but got {len(members)}{why}")
    units = tuple(members.values())
    for other in units[1:]:
        if other.operands != units[0].operands:
            raise InputError(
                f"expected designs of equal operand formats, but got {units[0].operands} in {units[0].name} "
                f"and {other.operands} in {other.name}"
            )
        if (other.scale_format, other.scale_block) != (units[0].scale_format, units[0].scale_block):
            raise InputError(f"expected designs of equal scales, but got {units[0].name} and {other.name}")
    return Space(units, same, refused)
