"""The few forms of Markdown that benchmarks are written in: headings, paragraphs, tables."""

from __future__ import annotations

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
