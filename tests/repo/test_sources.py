"""The source of every parameter, operation, format and query is in the bibliography."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from tcformal.analysis.queryfile import find, known_queries
from tcformal.cli import main
from tcformal.design.catalog import catalogue
from tcformal.design.operations import operation
from tcformal.design.sources import references, works
from tcformal.design.unit import Evidence
from tcformal.encodings.catalog import FORMATS

#: Evidence without a source: what follows from other parameters, and what a user chose.
FREE = (Evidence.INFERRED, Evidence.CHOSEN)


def unresolved(source: str, *, prose: bool = False) -> list[str]:
    """The parts of `TAG place; TAG place` that begin neither with a tag nor with a file of results.

    `prose`: a part in lower case is the rest of a sentence and needs no tag.
    """

    def resolved(part: str) -> bool:
        if part.startswith("results/") or (prose and not part[:1].isupper()):
            return True
        return any(re.match(rf"{re.escape(tag)}(?![\w-])", part) for tag in works())

    return [part for part in map(str.strip, source.split(";")) if not resolved(part)]


def test_every_parameter_of_every_unit_cites_the_bibliography() -> None:
    facts = (fact for unit in catalogue().values() for fact in unit.facts.values())
    stated = {fact.source for fact in facts if fact.evidence not in FREE}
    assert {source: bad for source in stated if (bad := unresolved(source))} == {}


def test_operations_and_formats_cite_the_bibliography() -> None:
    sources = {operation(unit).source for unit in catalogue().values()}
    sources |= {fmt.source for fmt in FORMATS.values()}
    assert {source: bad for source in sources if (bad := unresolved(source, prose=True))} == {}
    assert [fmt.name for fmt in FORMATS.values() if not references(fmt.source)] == []


@pytest.mark.parametrize("name", known_queries())
def test_every_query_cites_the_bibliography(name: str) -> None:
    assert unresolved(find(name).source) == []


def test_a_made_up_tag_rejects() -> None:
    assert unresolved("XIE Table 4; NOBODY §3") == ["NOBODY §3"]
    assert unresolved("XIE Table 4; §3") == ["§3"]
    assert unresolved("XIEX Table 4") == ["XIEX Table 4"]
    assert unresolved("results/hardware/x.jsonl; XIE Table 4") == []
    assert unresolved("Nobody 2020, §3; as before", prose=True) == ["Nobody 2020, §3"]
    assert references("NOBODY §3; XIEX; MMA-Sim 2.1.10") == ()


def test_a_unit_is_shown_with_its_works_in_full() -> None:
    unit = catalogue()["ampere/mma.m16n8k16.f16.f16.f16.f16"]
    cited = {work.tag: work.citation() for work in references("; ".join((*unit.sources, *unit.notes)))}
    assert cited.keys() >= {"XIE", "MMA-Sim 2.1.1", "HAWKEYE", "VALPEY", "FPy"}
    card = CliRunner().invoke(main, ["units", unit.name, "-v"])
    assert card.exit_code == 0, card.output
    shown = " ".join(card.output.split())
    assert [tag for tag, citation in cited.items() if f"{tag}: {citation}" not in shown] == []
    plain = CliRunner().invoke(main, ["units", unit.name, "--json"])
    assert json.loads(plain.output)["citations"] == cited
