"""What is stated of parameters: values, each with source and evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from tcformal.design.sources import references
from tcformal.design.unit import Evidence, Fact
from tcformal.report.escape import verbose
from tcformal.report.text import table


@dataclass(frozen=True, slots=True)
class Stated:
    """The value of a parameter with its source and evidence; None where nothing states it."""

    value: object
    source: str | None
    evidence: str | None


def stated(values: Mapping[str, object], facts: Mapping[str, Fact]) -> dict[str, Stated]:
    """Each parameter by name."""
    made = {}
    for name, value in values.items():
        fact = facts.get(name)
        known = (None, None) if fact is None else (fact.source, fact.evidence.name.lower())
        made[name] = Stated(value, *known)
    return made


#: Characters of a source that parameters name by a number instead.
_LONG_SOURCE = 30


def _by_source(facts: Mapping[str, Stated]) -> list[Text]:
    """A line for each evidence, the strongest first, and source; then what numbers stand for."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    numbered: dict[str, str] = {}
    for name, x in facts.items():
        parts = x.source.split("; ") if x.source else []
        for part in parts:
            if len(part) > _LONG_SOURCE:
                numbered.setdefault(part, f"[{len(numbered) + 1}]")
        said = ", ".join(numbered.get(part, part) for part in parts)
        groups[x.evidence or "", said].append(f"{name}={x.value}")
    made = []
    for level in (*(x.name.lower() for x in Evidence), ""):
        for (evidence, said), named in groups.items():
            if evidence == level:
                line = Text(f"{evidence or 'parameters'}{f' ({said})' if said else ''}: ", style="bold")
                made.append(line.append(", ".join(named), style="not bold"))
    return [*made, *(Text(f"{number} {part}", style="dim") for part, number in numbered.items())]


def facts_view(facts: Mapping[str, Stated], name: str = "parameter") -> list[RenderableType]:
    """Values by their source, each source once; with -v, a row for each."""
    if not verbose():
        return [*_by_source(facts)]
    rows = ((n, str(x.value), x.evidence or "", x.source or "") for n, x in facts.items())
    return [table(name, "value", "evidence", "source", rows=rows)]


def works_view(sources: Iterable[str]) -> list[RenderableType]:
    """With -v, the works that texts cite, in full."""
    cited = references("; ".join(sources)) if verbose() else ()
    return [Text(f"{work.tag}: {work.citation()}", style="dim") for work in cited]
