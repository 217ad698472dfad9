"""The site: every page written from the records, in one folder that opens from the disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcformal.analysis.queryfile import known_queries, load
from tcformal.analysis.records import EXPORTS, held
from tcformal.callbacks import Advance, Warn
from tcformal.errors import InputError, RecordError
from tcformal.files import write_whole
from tcformal.query.pairs.pairs import Pair, groups
from tcformal.report.claims import claims_section
from tcformal.report.devices.references import references, references_section
from tcformal.report.results import exports_section
from tcformal.report.site import devices
from tcformal.report.site.bundle import scripts
from tcformal.report.site.designs import DesignPage, design_pages
from tcformal.report.site.figures import figure_pages
from tcformal.report.site.markdown import tables
from tcformal.report.site.pairs import LETTERS, PairPage, pair_pages
from tcformal.report.site.papers import RELATIONS, QueryPage, query_pages
from tcformal.report.svg.draw import STYLE as PICTURE_STYLE
from tcformal.report.svg.page import STYLE as PAGE_STYLE
from tcformal.store.store import Entry, Store
from tcformal.version import VERSION, commit, host

_HERE = Path(__file__).parent

#: Takes the name of a part, and returns what counts its steps.
StepCounter = Callable[[str], Advance]


@dataclass(frozen=True, slots=True)
class Site:
    """All that the pages show."""

    designs: Sequence[DesignPage]
    pairs: Mapping[Pair, PairPage]
    queries: Sequence[QueryPage]


def build(
    folder: Path, results: Path, *, verify: bool, part: StepCounter, warn: Warn, pyodide: str | None = None
) -> list[Path]:
    """Write the site of a results folder; the files that were written.

    `verify`: identifications are replayed too, which takes minutes.  `pyodide`: the package of npm, which
    the playground needs; without it there is none.
    Errors: InputError where jinja2 is not installed, `folder` holds something else, or Pyodide is not there.
    """
    pages = _templates()
    check_target(folder)
    made = {} if pyodide is None else scripts(Path(pyodide))
    store = Store(results, warn)
    entries = [entry for entry in store.records() if _usable(entry, warn)]
    claims = store.claims.all()
    formats = groups()
    pairs = pair_pages(formats, entries, part("pairs of designs"))
    designs = design_pages(list(pairs.values()), claims)
    queries = query_pages(
        [load(path, name) for name, path in known_queries().items()], entries, store, part("questions")
    )
    site = Site(designs, pairs, queries)
    shared: dict[str, Any] = {
        "site": site, "version": VERSION, "commit": commit(), "host": host(), "letters": LETTERS,
        "relations": RELATIONS, "files": {page.name: page.file for page in designs},
        "playground": pyodide is not None,
    }  # fmt: skip
    figures = figure_pages(results, warn)
    made |= {figure.file: figure.picture for figure in figures}
    made |= {
        "site.css": PAGE_STYLE + PICTURE_STYLE + (_HERE / "static" / "site.css").read_text(encoding="utf-8"),
        "site.js": (_HERE / "static" / "site.js").read_text(encoding="utf-8"),
        "index.html": pages("index.html", "", shared),
        "pairs.html": pages("pairs.html", "", shared | {"groups": formats, "Pair": Pair}),
        "papers.html": pages("papers.html", "", shared),
        "devices.html": pages("devices.html", "", shared | {
            "devices": devices.device_pages(results), "stories": devices.nan_stories(results),
            "references": references_section([*references(results, warn)]),
        }),
        "identified.html": pages("identified.html", "", shared | {
            "found": list(devices.identification_pages(store, warn, verify=verify)),
        }),
        "figures.html": pages("figures.html", "", shared | {"figures": figures}),
        "speed.html": pages("speed.html", "", shared | {
            "benchmarks": _benchmarks(results),
            "sections": [claims_section(claims), exports_section(held(results / EXPORTS, warn))],
        }),
    }  # fmt: skip
    if pyodide is not None:
        made["play.js"] = (_HERE / "static" / "play.js").read_text(encoding="utf-8")
        made["playground.html"] = pages("playground.html", "", shared | {
            "papers": _papers(), "witnesses": _witnesses(pairs),
            "groups": [[unit.name for unit in group.units] for group in formats],
        })  # fmt: skip
    for design in designs:
        made[design.file] = pages("design.html", "../", shared | {"design": design})
    for pair in pairs.values():
        made[pair.file] = pages("pair.html", "../", shared | {"pair": pair})
    for query in queries:
        made[query.file] = pages("paper.html", "../", shared | {"page": query})
    return _write(folder, made, part("files"))


def _usable(entry: Entry, warn: Warn) -> bool:
    """Whether a record is whole, by its schema and its digest."""
    try:
        entry.check()
    except RecordError as error:
        warn(f"record {entry.id[:12]} is not shown: {error}")
        return False
    return True


def check_target(folder: Path) -> None:
    """InputError where a folder holds what is no site of this program: nothing there is overwritten."""
    taken = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    if taken and not (folder / "site.js").is_file():
        raise InputError(f"expected a new folder, or one with a site in it, but got {folder}")


def _templates() -> Callable[[str, str, Mapping[str, Any]], str]:
    """The function that fills a template, which stands some folders below the site's top."""
    try:
        import jinja2
    except ModuleNotFoundError as error:
        raise InputError(
            "expected jinja2 to be installed for a report, but its package is missing: "
            "pip install 'tcformal[report]'"
        ) from error
    # Every text of a record is escaped; what is HTML already says so in its template.
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    return lambda name, top, values: found.get_template(name).render(**values, top=top, page_name=name)


def _benchmarks(results: Path) -> list[tuple[str, Sequence[Any]]]:
    """The tables of benchmarks beside the results folder, with the machine that each names."""
    found = sorted((results.resolve().parent / "benchmarks").glob("*.md"))
    return [(path.stem, tables(path.read_text(encoding="utf-8"))) for path in found]


def _write(folder: Path, made: Mapping[str, str], advance: Advance) -> list[Path]:
    for done, (name, text) in enumerate(made.items()):
        advance(done, len(made))
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, text.encode())
    advance(len(made), len(made))
    return [folder / name for name in made]


def _witnesses(pairs: Mapping[Pair, PairPage]) -> list[dict[str, Any]]:
    """The kept witnesses, for the playground."""
    return [
        {"units": [p.first, p.second], "operands": {name: code for name, _, code in p.operands}}
        for p in pairs.values()
        if p.witness is not None
    ]


def _papers() -> list[dict[str, Any]]:
    """The stated results of the papers, for the playground."""
    files = [load(path, name) for name, path in known_queries().items()]
    return [
        {"title": query.title, "name": ask.name, **{x: ask.body[x] for x in ("unit", "a", "b", "c")}}
        for query in files
        for ask in query.concrete()
        if ask.kind == "evaluate"
    ]
