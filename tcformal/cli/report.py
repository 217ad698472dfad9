"""`report`: the site of a results folder, and the playground."""

from __future__ import annotations

from pathlib import Path

import click

from tcformal.callbacks import Advance
from tcformal.cli.group import Answer, json_option, main, results_option
from tcformal.errors import InputError
from tcformal.report.escape import warn
from tcformal.report.parts import telling
from tcformal.report.site.pages import build


@main.command()
@click.option("--out", "folder_out", default="report", show_default=True, metavar="DIR",
              help="Folder of the site: a new one, or that of an earlier report.")  # fmt: skip
@click.option("--check", "verify", is_flag=True, help="Replay every identification too, which takes minutes.")
@click.option("--playground", metavar="PYODIDE",
              help="Add the page that computes: folder or .tgz of Pyodide's npm package.")  # fmt: skip
@results_option
@json_option
def report(folder_out: str, verify: bool, playground: str | None, folder: str) -> Answer:
    """Write what the records hold as pages that open from the disk.

    Witnesses are computed again on integers and on fractions before a page shows them; what is not checked
    again is marked.  `npm pack pyodide` fetches what --playground takes.
    """
    if folder != "results" and not Path(folder).is_dir():
        raise InputError(f"expected a folder of results at {folder}, but there is none")
    out = Path(folder_out)
    with telling("report") as tell:

        def part(name: str) -> Advance:
            return lambda done, total: tell(name, done, total)

        made = build(out, Path(folder), verify=verify, part=part, warn=warn, pyodide=playground)
    size = sum(path.stat().st_size for path in made)
    index = str(out / "index.html")
    data = {"index": index, "files": len(made), "bytes": size}
    return Answer(data, f"{len(made)} files, {size / 1e6:.1f} MB: {index}")
