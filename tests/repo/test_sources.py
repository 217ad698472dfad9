"""Sources: every tag that a text cites is in the bibliography, and every work of it is cited somewhere."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcformal.analysis.papers.files import find, known_queries
from tcformal.cli import main
from tcformal.design.catalog import catalogue
from tcformal.design.operations import operation
from tcformal.design.sources import KINDS, REFERENCES, references
from tcformal.design.unit import Evidence
from tcformal.encodings.catalog import FORMATS

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "SOURCES.md"
GLOSSARY = ROOT / "docs" / "GLOSSARY.md"
SUFFIXES = {".py", ".md", ".toml", ".h", ".cuh", ".cu", ".hip", ".c"}
#: Where a source may be cited.
PLACES = ("tcformal", "tests", "queries", "hw_probes", "docs", "benchmarks", "README.md", "CHANGELOG.md")
#: Where tags are defined, or made up.
DEFINING = {ROOT / "tcformal" / "design" / "sources.py", DOCUMENT, Path(__file__).resolve()}
#: What is not stated by a work needs none: what follows from other numbers, and what a user chose.
FREE = (Evidence.INFERRED, Evidence.CHOSEN)

#: A name in capitals in front of a place in a work.
_MENTION = re.compile(
    r"(?<![\w-])([A-Z][A-Z-]{2,})(?:'s)?,? (?:\d{4},? )?"
    r"(?:§|[Ss]ection |Algorithms? |Tables? |Figures? |Property |[Ee]quations? |Listing )\d"
)
#: Spellings that are no tags.
_MISSPELT = re.compile(
    r"(?:XIE|VALPEY|FASI|HAWKEYE|MARY),? 20\d\d|\bFACTS\b|simulator 2\.1\.1|IEEE 754-\d|IEEE-754|SASS of CUDA"
)


def files() -> Iterator[Path]:
    """Every text in which a source may be cited."""
    for place in PLACES:
        path = ROOT / place
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.suffix in SUFFIXES and file not in DEFINING:
                yield file


def name_of(path: Path) -> str:
    """A path as a test's name."""
    return str(path.relative_to(ROOT))


@cache
def text_of(path: Path) -> str:
    """The text of a file, read once."""
    return path.read_text(encoding="utf-8")


def unresolved(source: str, *, prose: bool = False) -> list[str]:
    """The parts of `TAG place; TAG place` that begin neither with a tag nor with a file of results.

    `prose`: a part in lower case is the rest of a sentence and needs no tag.
    """

    def resolved(part: str) -> bool:
        if part.startswith("results/") or (prose and not part[:1].isupper()):
            return True
        return any(re.match(rf"{re.escape(tag)}(?![\w-])", part) for tag in REFERENCES)

    return [part for part in map(str.strip, source.split(";")) if not resolved(part)]


def unknown_mentions(text: str) -> list[str]:
    """Names in capitals that a text cites with a place, and that are no tags."""
    return [name for name in _MENTION.findall(text) if name not in REFERENCES]


def docstring_sources(text: str) -> Iterator[str]:
    """The `Source:` paragraph of every docstring of a module."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            _, found, rest = (ast.get_docstring(node) or "").partition("Source:")
            if found:
                yield " ".join(rest.partition("\n\n")[0].split())


def entries(text: str) -> dict[str, str]:
    """What the document of sources has below the heading of each tag."""
    parts = re.split(r"^### (.+)$", text, flags=re.MULTILINE)
    return {
        tag: body.partition("\n## ")[0].strip() for tag, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def test_entries_are_whole() -> None:
    for tag, work in REFERENCES.items():
        assert work.kind in KINDS, tag
        assert all((work.authors, work.title, work.venue or work.identifier)), tag
        assert references(f"{tag} §1, and {tag}-like") == (work,), tag


def test_every_parameter_of_every_unit_cites_the_bibliography() -> None:
    stated = {
        fact.source
        for unit in catalogue().values()
        for fact in unit.facts.values()
        if fact.evidence not in FREE
    }
    assert {source: bad for source in stated if (bad := unresolved(source))} == {}


def test_operations_and_formats_cite_the_bibliography() -> None:
    sources = {operation(unit).source for unit in catalogue().values()}
    sources |= {fmt.source for fmt in FORMATS.values()}
    assert {source: bad for source in sources if (bad := unresolved(source, prose=True))} == {}
    assert [fmt.name for fmt in FORMATS.values() if not references(fmt.source)] == []


@pytest.mark.parametrize("name", known_queries())
def test_every_query_cites_the_bibliography(name: str) -> None:
    assert unresolved(find(name).source) == []


def test_every_docstring_cites_the_bibliography() -> None:
    found = {
        name_of(path): bad
        for path in sorted((ROOT / "tcformal").rglob("*.py"))
        if (bad := [b for s in docstring_sources(text_of(path)) for b in unresolved(s, prose=True)])
    }
    assert found == {}


def test_every_mention_is_a_tag_in_its_only_spelling() -> None:
    found = {name_of(f): bad for f in files() if (bad := unknown_mentions(text_of(f)))}
    assert found == {}
    misspelt = {name_of(f): bad for f in files() if (bad := _MISSPELT.findall(text_of(f)))}
    assert misspelt == {}


def test_every_entry_is_used() -> None:
    used = {work.tag for file in files() for work in references(text_of(file))}
    assert sorted(REFERENCES.keys() - used) == []


def test_a_unit_is_shown_with_its_works_in_full() -> None:
    unit = catalogue()["ampere/mma.m16n8k16.f16.f16.f16.f16"]
    cited = {work.tag: work.citation() for work in references("; ".join((*unit.sources, *unit.notes)))}
    assert cited.keys() >= {"XIE", "MMA-Sim 2.1.1", "HAWKEYE", "VALPEY", "FPy"}
    card = CliRunner().invoke(main, ["units", unit.name])
    assert card.exit_code == 0, card.output
    shown = " ".join(card.output.split())
    assert [tag for tag, citation in cited.items() if f"{tag}: {citation}" not in shown] == []
    plain = CliRunner().invoke(main, ["units", unit.name, "--json"])
    assert json.loads(plain.output)["citations"] == cited


def test_the_document_lists_every_entry() -> None:
    """docs/SOURCES.md: the same works in the same order, cited alike, each with what is taken from it."""
    found = entries(text_of(DOCUMENT))
    assert list(found) == list(REFERENCES)
    for tag, body in found.items():
        first, _, rest = body.partition("\n\n")
        assert first == REFERENCES[tag].citation(), tag
        assert re.search(r"^\* ", rest, re.MULTILINE), f"{tag}: nothing is said to be taken from it"


@pytest.mark.parametrize("document", [DOCUMENT, GLOSSARY], ids=name_of)
def test_paths_in_the_documents_exist(document: Path) -> None:
    named = re.findall(r"`((?:tcformal|tests|queries|hw_probes|results|docs)/[\w./-]+)`", text_of(document))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_glossary_defines_each_term_once_and_says_where_it_lives() -> None:
    lines = [line for line in text_of(GLOSSARY).splitlines() if line.startswith("* ")]
    terms = [
        match[1]
        for line in lines
        if (match := re.match(r"\* \*\*([^*]+)\*\*.*: .+\. `tcformal/[\w./]+`$", line))
    ]
    assert len(terms) == len(lines) >= 20
    assert len(set(terms)) == len(terms)


def test_a_made_up_tag_rejects() -> None:
    """What the tests above refuse: in a parameter's or query's source, in a docstring, and in a text."""
    assert unresolved("XIE Table 4; NOBODY §3") == ["NOBODY §3"]
    assert unresolved("XIE Table 4; §3") == ["§3"]
    assert unresolved("XIEX Table 4") == ["XIEX Table 4"]
    assert unresolved("results/hardware/x.jsonl; XIE Table 4") == []
    assert unresolved("Nobody 2020, §3; as before", prose=True) == ["Nobody 2020, §3"]
    (source,) = docstring_sources('def f():\n    """D.\n\n    Source: NOBODY\n    §3.\n    """\n')
    assert unresolved(source, prose=True) == ["NOBODY §3."]
    assert unknown_mentions("as NOBODY §3 has it, and XIE §4.2; NO-ONE 2020, Algorithm 7") == [
        "NOBODY",
        "NO-ONE",
    ]
    assert len(_MISSPELT.findall("XIE 2026, §4.2, and FACTS §3")) == 2
    assert references("NOBODY §3; XIEX; MMA-Sim 2.1.10") == ()


def test_a_document_that_differs_rejects() -> None:
    text = text_of(DOCUMENT)
    assert list(entries(text.replace("### FASI", "### FASY"))) != list(REFERENCES)
    changed = entries(text.replace("peerj-cs.330", "peerj-cs.331"))
    assert not changed["FASI"].startswith(REFERENCES["FASI"].citation())
