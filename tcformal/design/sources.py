"""The bibliography, `sources.toml`: every work that a fact of this project is taken from, by its tag.

A source text cites works as `TAG place; TAG place`, such as "XIE Table 4; KHATTAK recorded outputs".
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

#: What a work can be, with the heading on the page of sources.
KINDS = {
    "paper": "Papers and preprints",
    "preprint": "Papers and preprints",
    "software": "Software",
    "vendor document": "Vendor documents",
    "standard": "Standards",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One work of the bibliography."""

    #: The name under which texts cite it, in its only spelling.
    tag: str
    #: One of KINDS.
    kind: str
    authors: str
    title: str
    #: Journal, conference, edition or version, with pages; empty where there is none.
    venue: str = ""
    #: None where the document has no date of its own.
    year: int | None = None
    #: DOI, arXiv or document number, or the address of the software; None where none is known.
    identifier: str | None = None
    #: The facts that are taken from it, and where they stand.
    taken: tuple[str, ...]

    def citation(self) -> str:
        """The full citation: authors, title, venue, year, identifier."""
        parts = [self.title, self.venue, str(self.year or ""), self.identifier or ""]
        return f"{self.authors}: {', '.join(part for part in parts if part)}."


@cache
def works() -> dict[str, Reference]:
    """Every work by its tag."""
    text = files("tcformal.design").joinpath("sources.toml").read_text(encoding="utf-8")
    rows = (row | {"taken": tuple(row["taken"])} for row in tomllib.loads(text)["work"])
    return {row["tag"]: Reference(**row) for row in rows}


@cache
def _tags() -> re.Pattern[str]:
    longest = sorted(works(), key=len, reverse=True)
    return re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, longest)) + r")(?![\w-])")


def references(text: str) -> tuple[Reference, ...]:
    """The works that a source text cites, without repetition; empty for a text without tags."""
    return tuple(works()[tag] for tag in dict.fromkeys(_tags().findall(text)))
