"""`doctor`: what is installed, what is missing, and what it would give."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from tcformal.analysis.queryfile import known_queries
from tcformal.backends.private import private_folder
from tcformal.cli.group import OK, OTHERWISE, Answer, json_option, main, verbose_option
from tcformal.errors import TcformalError
from tcformal.installed import InstalledPart, examined
from tcformal.report.escape import verbose
from tcformal.report.parts import Headline, ReportPart, Rows
from tcformal.simulation.compilers import supported
from tcformal.version import VERSION, commit


@main.command()
@verbose_option
@json_option
def doctor() -> Answer:
    """Say what is installed, what is missing, and what it would give.

    Exit 0: everything is here that the usual installation has: models, solvers, compiled products.
    """
    parts = list(examined())
    lacking = [part for part in parts if part.needed and part.state != "here"]
    facts = _facts()
    found = [
        {"name": p.name, "kind": p.kind, "state": p.state, "detail": p.detail, "extra": p.extra or None,
         "gives": p.gives, "install": p.install}
        for p in parts
    ]  # fmt: skip
    data = {"complete": not lacking, **facts, "parts": found}
    return Answer(data, _view(parts, lacking, facts), OTHERWISE if lacking else OK)


def _facts() -> dict[str, str]:
    """The versions and folders that a report of an error should have."""
    try:
        cache = str(private_folder("kernels") or "none: compiled kernels are made anew in each run")
    except TcformalError as error:
        cache = f"none: {error}"
    driver = supported()
    return {
        "tcformal": " ".join(text for text in (VERSION, commit()) if text),
        "python": f"{platform.python_version()}, {sys.executable}",
        "system": platform.platform(),
        "package": str(Path(__file__).parents[1]),
        "cache": cache,
        "queries": f"{len(known_queries())} files",
        "cuda driver": f"CUDA {driver[0]}.{driver[1]}" if driver else "none",
    }


def _view(
    parts: list[InstalledPart], lacking: list[InstalledPart], facts: dict[str, str]
) -> list[ReportPart]:
    if lacking:
        head = Headline("INCOMPLETE", False, f": {', '.join(p.name for p in lacking)} missing or broken")
    else:
        head = Headline("COMPLETE", True, ": everything is here that the usual installation has")
    said = "\n".join(f"{name + ':':<13}{text}" for name, text in facts.items())
    here = [p for p in parts if p.state == "here"]
    absent = [p for p in parts if p.state != "here"]
    view: list[ReportPart] = [head]
    if absent:
        view.append(Rows(("not here", "would give", "how"), [
            (f"{p.name} ({p.detail})" if p.detail else p.name, p.gives, p.install) for p in absent
        ]))  # fmt: skip
    if verbose():
        view += ["", Rows(("here", "version", "gives"), [(p.name, p.detail, p.gives) for p in here])]
    else:
        view += ["", f"here: {', '.join(f'{p.name} {p.detail}' for p in here)}"]
    return [*view, "", said, "", "`tcformal probe devices` lists the devices of this machine."]
