"""The units of a device grouped by computation and instruction, in order of value."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tcformal.design.unit import UnitSpec, base_name

#: Formats of a whose models are slow; their units come last among their like.
_SLOW = ("fp64",)


@dataclass(frozen=True, slots=True)
class InstructionGroup:
    """Units of one instruction family with equal dot products, which differ in m and n only.

    The first one leads: it is measured first.
    """

    units: tuple[UnitSpec, ...]

    @property
    def leader(self) -> UnitSpec:
        """The unit of the group that is measured first."""
        return self.units[0]

    @property
    def model(self) -> tuple[object, ...]:
        """The key of the group's model, equal for groups that share a model."""
        return model_key(self.leader)


def model_key(spec: UnitSpec) -> tuple[object, ...]:
    """A hashable key of a unit's dot product: its design, formats and length."""
    numbers = (spec.operands, spec.k, spec.scale_format, spec.scale_block)
    return (*numbers, spec.design, spec.emulation, spec.tree)


def family(spec: UnitSpec) -> str:
    """The instruction family, without shape and types: `mma`, `wgmma`, `tcgen05`, `emulated.mma`,
    `v_mfma`."""
    text = base_name(spec).partition("/")[2] or base_name(spec)
    return re.split(r"\.m\d|_[fi]\d\d_|@", text)[0]


def groups(specs: Iterable[UnitSpec]) -> list[InstructionGroup]:
    """All units in groups, in descending order of value.

    First one group of each instruction family and pair of formats A and D, instructions before
    compiler-made sequences, quick models before slow ones; then the rest in the same order.  Within a
    group the narrowest unit leads; the widest, other powers of two, and the rest follow.
    """
    by_key: dict[tuple[object, ...], list[UnitSpec]] = {}
    for spec in specs:
        by_key.setdefault((*model_key(spec), family(spec)), []).append(spec)
    listed = [InstructionGroup(tuple(_in_order(units))) for units in by_key.values()]
    seen: dict[tuple[object, ...], int] = {}
    ranked = []
    for place, group in enumerate(listed):
        lead = group.leader
        alike = (family(lead), lead.a_format.name, lead.d_format.name)
        turn = seen[alike] = seen.get(alike, 0) + 1
        composed = lead.emulation is not None
        ranked.append((composed, turn, lead.a_format.name in _SLOW, place, group))
    return [group for *_, group in sorted(ranked, key=lambda x: x[:-1])]


def _in_order(units: list[UnitSpec]) -> list[UnitSpec]:
    def size(spec: UnitSpec) -> tuple[int, int]:
        return spec.m * spec.n, spec.n

    lead, *others = sorted(units, key=size)
    others.sort(key=lambda u: (size(u) != max(map(size, units)), u.n & (u.n - 1) != 0, -u.n, -u.m))
    return [lead, *others]


def is_slow(group: InstructionGroup) -> bool:
    """Whether a group's model is slow: an emulated instruction, or fp64."""
    return group.leader.emulation is not None or group.leader.a_format.name == "fp64"
