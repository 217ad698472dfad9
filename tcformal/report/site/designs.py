"""The pages of designs: parameters with sources and evidence, formula, bounds, claims, neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.operations import Operation, operation, risks
from tcformal.design.sources import references
from tcformal.design.unit import UnitSpec
from tcformal.report.results import unchecked_reason, unchecked_verdict
from tcformal.report.site.pairs import PairPage, slug
from tcformal.report.units import unit_data
from tcformal.store.file import Record
from tcformal.theory.theorems import SEPARATOR, STATEMENTS

#: Who makes the units of each architecture.
_VENDORS = {
    "cdna": "AMD", "x86": "Intel and AMD", "arm": "Arm", "gaudi": "Intel", "power": "IBM", "riscv": "RISC-V",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DesignPage:
    """One distinct design with all that its page shows."""

    spec: UnitSpec
    names: tuple[str, ...]
    vendor: str
    operation: Operation
    risks: tuple[str, ...]
    parameters: tuple[tuple[str, str, str, str], ...]
    citations: tuple[tuple[str, str], ...]
    claims: tuple[Mapping[str, str], ...]
    pairs: tuple[PairPage, ...]

    @property
    def name(self) -> str:
        """The name of the first unit of this design."""
        return self.spec.name

    @property
    def file(self) -> str:
        """The name of its page."""
        return f"design/{slug(self.name)}.html"

    @property
    def evidence(self) -> str:
        """The evidence of its fraction bits, as `tcformal units --evidence` filters."""
        fact = self.spec.facts.get("fraction_bits")
        return fact.evidence.name.lower() if fact else ""

    @property
    def formats(self) -> tuple[str, ...]:
        """The names of its formats."""
        return tuple(dict.fromkeys(self.spec.operands.names().values()))

    def neighbour(self, pair: PairPage) -> str:
        """The other design of a pair."""
        return pair.second if pair.first == self.name else pair.first


def vendor(name: str) -> str:
    """Who makes a unit, by its architecture."""
    arch = name.partition("/")[0]
    return next((who for start, who in _VENDORS.items() if arch.startswith(start)), "NVIDIA")


def design_pages(pairs: Sequence[PairPage], claims: Sequence[Record]) -> list[DesignPage]:
    """One page for each distinct design."""
    by_unit: dict[str, dict[str, Record]] = {}
    for record in claims:
        by_unit.setdefault(record["unit"], {})[record["claim"]] = record
    made = []
    for name, names in distinct_designs().items():
        spec = catalogue()[name]
        op = operation(spec)
        cited = references("; ".join((op.source, *spec.sources, *spec.notes)))
        made.append(DesignPage(
            spec, tuple(names), vendor(name), op, tuple(risks(spec)), tuple(_parameters(spec)),
            tuple((work.tag, work.citation()) for work in cited),
            tuple(_claims(spec, by_unit.get(name, {}))),
            tuple(pair for pair in pairs if name in (pair.first, pair.second)),
        ))  # fmt: skip
    return made


def _parameters(spec: UnitSpec) -> list[tuple[str, str, str, str]]:
    data: Mapping[str, Any] = unit_data(spec)["parameters"]
    return [
        (
            name.replace("_", " "),
            hex(x["value"]) if name == "nan_word" and isinstance(x["value"], int)
            else "none" if x["value"] is None else str(x["value"]),
            x["evidence"] or "", x["source"] or "",
        )
        for name, x in data.items()
    ]  # fmt: skip


def _claims(spec: UnitSpec, kept: Mapping[str, Record]) -> list[dict[str, str]]:
    """The kept claims about one unit."""
    rows = []
    for claim, record in sorted(kept.items()):
        name = claim.partition(SEPARATOR)[0]
        if name not in STATEMENTS:
            continue
        rows.append({
            "claim": claim, "statement": STATEMENTS[name], "verdict": unchecked_verdict(record),
            "reason": record["reason"], "status": unchecked_reason(record), "date": record["date"][:10],
            "command": f"tcformal prove {spec.name} --claim {name}" + _assumed(claim),
        })  # fmt: skip
    return rows


def _assumed(claim: str) -> str:
    """The assumptions in a claim's name, as options."""
    return "".join(f" --assume '{text.strip()}'" for text in claim.split(SEPARATOR)[1:])
