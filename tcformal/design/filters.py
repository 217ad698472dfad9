"""Filters on units: by architecture, format, elementary operation, and evidence."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.checks import check_choice
from tcformal.design.catalog import catalogue
from tcformal.design.operations import operation
from tcformal.design.short_names import architecture_of
from tcformal.design.unit import Evidence, UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """A filter on units; None accepts everything."""

    arch: str | None = None
    fmt: Format | None = None
    operation: str | None = None
    evidence: Evidence | None = None

    @staticmethod
    def of(*, arch: str | None, fmt: str | None, operation: str | None, evidence: str | None) -> Filters:
        """Parse filters from text; UnknownNameError suggests the closest known names."""
        if arch is not None:
            arch = architecture_of(arch, "architecture")
        if operation is not None:
            check_choice("operation", operation, _operations())
        if evidence is not None:
            check_choice("evidence level", evidence.upper(), Evidence.__members__)
        return Filters(
            arch=arch,
            fmt=None if fmt is None else format_named(fmt),
            operation=operation,
            evidence=None if evidence is None else Evidence[evidence.upper()],
        )

    def allow(self, u: UnitSpec) -> bool:
        """Whether a unit passes the filter."""
        return (
            self.arch in (None, u.arch)
            and (self.fmt is None or self.fmt in (u.operands.a, u.operands.b))
            and (self.operation is None or operation(u).name == self.operation)
            and (self.evidence is None or u.facts["fraction_bits"].evidence is self.evidence)
        )


def _operations() -> list[str]:
    return list(dict.fromkeys(operation(u).name for u in catalogue().values()))
