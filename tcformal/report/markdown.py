"""Markdown: sections about kept records, written, and the tables of benchmarks, read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True, slots=True)
class MarkdownPart:
    """A heading, a paragraph, or a table: `rows` begin with the headings of its columns."""

    kind: str
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


def tables(text: str) -> list[MarkdownPart]:
    """The parts of a text in order."""
    made = []
    for is_row, lines in groupby(text.splitlines(), key=lambda line: line.startswith("|")):
        if is_row:
            rows = [tuple(cell.strip().strip("`") for cell in line.strip("|").split("|")) for line in lines]
            made.append(MarkdownPart("table", rows=(rows[0], *rows[2:])))
            continue
        for line in lines:
            if line.startswith("#"):
                made.append(MarkdownPart("heading", line.lstrip("# ")))
            elif line.strip():
                made.append(MarkdownPart("text", line.strip()))
    return made


#: A bar inside a cell.
BAR = "\\|"


@dataclass(frozen=True, slots=True)
class Section:
    """A table under its title; a heading with a leading > is that of a column of numbers."""

    title: str
    text: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def markdown(section: Section) -> Iterator[str]:
    """The lines of a section; none without rows."""
    if section.rows:
        yield from ("", f"## {section.title}", "", section.text, "")
        yield from table_lines(section.heads, section.rows)


def table_lines(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table in Markdown."""
    rules = ("--:" if head.startswith(">") else "---" for head in heads)
    for row in ((head.lstrip(">") for head in heads), rules, *rows):
        yield f"| {' | '.join(' '.join(cell.split()).replace('|', BAR) for cell in row)} |"
