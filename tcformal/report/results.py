"""What nobody checked of kept records, and the table of exported designs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tcformal.analysis.records import ExportRecord
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.query.question import Kind
from tcformal.query.verdict import kept_as
from tcformal.report.markdown import Section
from tcformal.semantics.chain import definition
from tcformal.store.answers import is_decided

#: The text of a cell without a value, in a damaged record.
NOTHING = "?"


def unchecked_verdict(record: Mapping[str, Any]) -> str:
    """The verdict of a record that nobody checked: UNKNOWN where it is decided."""
    return Kind.UNKNOWN.name if is_decided(record) else cell_text(record.get("verdict"))


def unchecked_reason(record: Mapping[str, Any]) -> str:
    """The reason of `unchecked_verdict`."""
    return kept_as(record["verdict"], record["date"]) if is_decided(record) else str(record["reason"])


def cell_text(value: Any) -> str:
    """The text of a cell; `?` for a missing or damaged one."""
    return value if isinstance(value, str) else NOTHING


def exports_section(kept: Iterable[ExportRecord]) -> Section:
    """How many exported designs the tools of their users took, and how they ran; today's definitions only."""
    found: dict[str, list[ExportRecord]] = defaultdict(list)
    distinct = distinct_designs()
    known = [r for r in kept if r.unit in distinct]
    today = {unit: definition(catalogue()[unit]) for unit in {r.unit for r in known}}
    for r in known:
        if r.definition == today[r.unit]:
            found[r.to].append(r)
    rows = []
    for to, mine in found.items():
        tools = ", ".join(dict.fromkeys(tool for r in mine for tool in r.tools))
        least = min((r.vectors for r in mine if not r.refused), default=0)
        counts = [len(mine), sum(bool(r.refused) for r in mine), least, sum(r.mismatches for r in mine)]
        rows.append((to, tools, *(f"{n:,}" for n in counts)))
    return Section(
        "Designs for other tools",
        f"Files that tcformal export writes of the {len(distinct)} distinct designs, read by tools of their "
        "users and run on the same random inputs: all results but the mismatches are those of integers.  By "
        "python -m benchmarks.exports; kept, not re-checked.",
        ("format", "tools", ">designs", ">refused", ">inputs of each", ">mismatches"),
        rows,
    )
