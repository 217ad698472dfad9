"""The works on the page of sources, from the bibliography: a hook of mkdocs."""

from __future__ import annotations

from typing import Any

from mkdocs.structure.pages import Page

from tcformal.design.sources import KINDS, works


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """The text of a page, that of sources with every work and the facts that are taken from it."""
    if page.file.src_uri != "SOURCES.md":
        return markdown
    parts = [markdown]
    for heading in dict.fromkeys(KINDS.values()):
        parts.append(f"\n## {heading}\n")
        for work in (work for work in works().values() if KINDS[work.kind] == heading):
            taken = "".join(f"* {fact}\n" for fact in work.taken)
            parts.append(f"### {work.tag}\n\n{work.citation()}\n\n{taken}")
    return "\n".join(parts)
