"""The page of sources, made of the bibliography while the site is built: a hook of mkdocs."""

from __future__ import annotations

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from tcformal.design.sources import KINDS, works

_HEAD = """\
# Sources

Every number and rule of this project that is not its own comes from one of these works.  Texts cite a work
by its tag and place: `XIE Table 4`, `IEEE 754 §6.3`.  `tcformal units NAME` prints, for each parameter of a
unit, its source and how well it is known.  Measurements of the project's own are cited by their file,
`results/hardware/…`. Works that disagree are noted on the units concerned; the questions in
`queries/disagreements/` look for inputs that decide between them.

To cite a new work, enter it in `tcformal/design/sources.toml`, of which this page is made, and cite it
where its fact is used.
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages of the site, that of sources among them."""
    files.append(File.generated(config, "SOURCES.md", content=page()))
    return files


def page() -> str:
    """Every work with the facts that are taken from it, under the heading of its kind."""
    parts = [_HEAD]
    for heading in dict.fromkeys(KINDS.values()):
        parts.append(f"## {heading}\n")
        for work in (work for work in works().values() if KINDS[work.kind] == heading):
            taken = "".join(f"* {fact}\n" for fact in work.taken)
            parts.append(f"### {work.tag}\n\n{work.citation()}\n\n{taken}")
    return "\n".join(parts)
