"""What the site is made of beside its pages: a hook of mkdocs.

A page for each command and the list of units come from the program, the page of sources from the
bibliography; pictures are put into the pages, so that they take the colours of light and dark.
"""

from __future__ import annotations

import html
import json
import os
import posixpath
import re
from pathlib import Path
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tcformal.cli import main
from tcformal.cli.command_list import COMMANDS
from tcformal.design.catalog import catalogue
from tcformal.design.short_names import PROCESSORS, alias, formats_of, processor_names
from tcformal.design.sources import KINDS, works
from tcformal.design.unit import UnitSpec

_COMMANDS = "reference/commands"
#: Pages of other files: those beside what they describe, and notebooks.
_ELSEWHERE = {
    "how-to/rented-hour.md": "hw_probes/README.md",
    "how-to/notebook.md": "docs/tutorials/two-gpus.ipynb",
    "reference/queries.md": "queries/README.md",
}
_PICTURE = re.compile(r'<p><img alt="([^"]*)" src="([^"]+\.svg)" ?/?></p>')


def commands() -> dict[str, click.Command]:
    """Every command, by its name."""
    with click.Context(main) as context:
        found = {name: main.get_command(context, name) for name in main.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def sections() -> dict[str, list[str]]:
    """The names of commands by section, in the order of the help."""
    found: dict[str, list[str]] = {}
    made = commands()
    for name in (name for name in COMMANDS if name in made):
        found.setdefault(COMMANDS[name].section, []).append(name)
    return found


def on_config(config: MkDocsConfig) -> None:
    """The pages of commands, by sections, in the navigation where its file says `Commands`."""
    for section in config.nav or []:
        for entry in next(iter(section.values())) if isinstance(section, dict) else []:
            if isinstance(entry, dict) and isinstance(listed := entry.get("Commands"), list):
                listed += [
                    {title: [{name: f"{_COMMANDS}/{name}.md"} for name in names]}
                    for title, names in sections().items()
                ]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """A page for each command, and those that stand elsewhere: what they link to is not on the site."""
    made = {f"{_COMMANDS}/{name}.md": _command_page(name, command) for name, command in commands().items()}
    for name, path in _ELSEWHERE.items():
        text = Path(config.docs_dir, "..", path).read_text(encoding="utf-8")
        if path.endswith(".ipynb"):
            text = _notebook_page(text, posixpath.relpath(path, f"docs/{posixpath.dirname(name)}"))
        made[name] = re.sub(r"\[([^]]*)\]\(\.\./results/[^)]*\)", r"`\1`", text)
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """The text of a page; lists are added to those of sources, units and commands."""
    folder = posixpath.dirname(page.file.src_uri)
    for name, path in _ELSEWHERE.items():
        if name != page.file.src_uri:
            there = posixpath.relpath(path, posixpath.normpath(f"docs/{folder}"))
            markdown = markdown.replace(f"({there})", f"({posixpath.relpath(name, folder or '.')})")
    lists = {"SOURCES.md": _sources, "reference/units.md": _units, "reference/cli.md": _list}
    made = lists.get(page.file.src_uri)
    return markdown if made is None else f"{markdown}\n{made()}"


def on_page_content(text: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """The page's HTML with its pictures inside, each of which scrolls in itself."""

    def inside(found: re.Match[str]) -> str:
        name = posixpath.normpath(posixpath.join(posixpath.dirname(page.url), found[2]))
        picture = Path(config.docs_dir, name).read_text(encoding="utf-8")
        picture = picture[picture.index("<svg") :]
        return f'<div class="picture" tabindex="0" role="group" aria-label="{found[1]}">{picture}</div>'

    if page.is_homepage and os.environ.get("PYODIDE"):
        text = text.replace(
            'href="how-to/report.html#the-playground"',
            'href="report/playground.html#u=a100:bf16&u=h100:bf16&a=1&b=1&c=-2^-25"',
        )
    # What a command has no default for is printed as the object that stands for that.
    return (
        _PICTURE.sub(inside, text)
        .replace("<code>Sentinel.UNSET</code>", "")
        .replace("<td>None</td>", "<td></td>")
    )


def _notebook_page(text: str, file: str) -> str:
    """A notebook as a page: texts, cells, and what each prints and shows."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for out in cell.get("outputs", ()):
            data = out.get("data", {})
            shown = "".join(data.get("text/html", ()))
            printed = "".join(out.get("text", data.get("text/plain", ())))
            block = f"```text\n{printed.rstrip()}\n```"
            parts.append(f'<div class="shown" tabindex="0">{shown}</div>' if shown else block)
    return "\n\n".join([*parts, f"[Download this notebook]({file})"])


def _command_page(name: str, command: click.Command) -> str:
    """The page of one command: what its help says, its options as a table, its examples."""
    module, attribute = _place(command)
    page = (
        f"::: mkdocs-click\n    :module: {module}\n    :command: {attribute}\n"
        f"    :prog_name: tcformal {name}\n    :depth: 0\n    :style: table\n"
    )
    inner = command.commands if isinstance(command, click.Group) else {}
    for path, one in ((name, command), *((f"{name} {x}", y) for x, y in inner.items())):
        lines = [line.strip() for line in (one.epilog or "").splitlines()]
        shown = [line.removeprefix("tcformal ") for line in lines if line.startswith("tcformal ")]
        if shown:
            text = "\n".join(f"$ tcformal {line}" for line in shown)
            page += f"\n## Examples{f' of {path}' if inner else ''}\n\n```console\n{text}\n```\n"
    return page


def _place(command: click.Command) -> tuple[str, str]:
    """The module that holds a command, and its name there."""
    import importlib

    module = importlib.import_module(command.callback.__module__)
    return module.__name__, next(name for name, value in vars(module).items() if value is command)


def _list() -> str:
    """The commands by section, with what each does."""
    parts = []
    for title, names in sections().items():
        rows = (f"| [{name}](commands/{name}.md) | {html.escape(COMMANDS[name].summary)} |" for name in names)
        parts += [f"\n## {title}\n", "| command | what it does |", "| --- | --- |", *rows]
    return "\n".join(parts)


def _sources() -> str:
    """Every work, with the facts that are taken from it."""
    parts = []
    for heading in dict.fromkeys(KINDS.values()):
        parts.append(f"\n## {heading}\n")
        for work in (work for work in works().values() if KINDS[work.kind] == heading):
            taken = "".join(f"* {fact}\n" for fact in work.taken)
            parts.append(f"### {work.tag}\n\n{work.citation()}\n\n{taken}")
    return "\n".join(parts)


def _units() -> str:
    """For each architecture the names of its processors, and a row for each of their formats."""
    parts = []
    for arch, titles in PROCESSORS.items():
        named = [name for name, (own, _) in processor_names().items() if own == arch and name != arch]
        first = named[0] if named else arch
        rows = [
            f"| `{found.name}` | {_width(catalogue()[found.unit])} | `{found.unit}` |"
            for word in formats_of(first)
            if (found := alias(f"{first}:{word}")) is not None
        ]
        count = sum(name.startswith(f"{arch}/") for name in catalogue())
        others = f"Also {', '.join(f'`{name}`' for name in named[1:])}.  " if named[1:] else ""
        parts += [
            f"\n## {', '.join(titles)}\n",
            f"{others}All {count} units: `tcformal units --arch {arch}`.\n",
            "| name | products a sum | fraction bits | known by | unit |",
            "| --- | --: | --: | --- | --- |",
            *rows,
        ]
    return "\n".join(parts)


def _width(u: UnitSpec) -> str:
    """How many products one sum takes, how many bits it keeps, and who says so: cells of a table."""
    bits, fact = u.design.fraction_bits, u.facts.get("fraction_bits")
    known = fact.evidence.name.lower() if fact else ""
    return f"{min(u.k, u.design.products)} | {'exact' if bits is None else bits} | {known}"
