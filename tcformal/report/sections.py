"""Tables about kept records, for the pages of the report and for the summary in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """A table under its title; a heading with a leading > is that of a column of numbers."""

    title: str
    text: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def markdown(section: Section) -> Iterator[str]:
    """The lines of a section; none without rows."""
    if not section.rows:
        return
    rules = ("--:" if head.startswith(">") else "---" for head in section.heads)
    yield from ("", f"## {section.title}", "", section.text, "")
    for row in ((head.lstrip(">") for head in section.heads), rules, *section.rows):
        cells = (" ".join(cell.split()).replace("|", "\\|") for cell in row)
        yield f"| {' | '.join(cells)} |"
