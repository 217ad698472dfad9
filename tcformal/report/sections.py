"""Tables about kept records, for the pages of the report and for the summary in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

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
