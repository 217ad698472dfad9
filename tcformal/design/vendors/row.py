"""A table row of a unit with a published reference implementation."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.design.spec import Design, Operands
from tcformal.design.trees.tree import Tree
from tcformal.design.unit import Fact, UnitSpec
from tcformal.design.vendors.facts import facts
from tcformal.encodings.catalog import format_named


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One row: a unit's shape, formats, design, and place of publication."""

    shape: tuple[int, int, int]
    a: str
    b: str
    c: str
    design: Design
    fact: Fact
    overrides: tuple[tuple[str, Fact], ...] = ()
    notes: tuple[str, ...] = ()
    tree: Tree | None = None
    #: The format of the result, where it is not that of c.
    d: str | None = None
    #: The format of the scales, and consecutive k that share one.
    scales: tuple[str, int] | None = None


def unit_of(row: Published, name: str) -> UnitSpec:
    """The unit of a row, under its full name."""
    m, n, k = row.shape
    a, b, c, d = map(format_named, (row.a, row.b, row.c, row.d or row.c))
    scale, block = row.scales or (None, None)
    return UnitSpec(
        name=name,
        m=m,
        n=n,
        k=k,
        operands=Operands(a=a, b=b, c=c, d=d),
        design=row.design,
        scale_format=None if scale is None else format_named(scale),
        scale_block=block,
        tree=row.tree,
        facts=facts(row.fact, dict(row.overrides)),
        notes=row.notes,
    )
