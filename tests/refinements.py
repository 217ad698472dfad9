"""The table of refinements: `python tests/refinements.py [PART OF A NAME …] [--coq FOLDER [--keep]]`.

A line for each distinct unit: claims, different claims, seconds of the processor, bytes of the file for Coq,
and with a folder of compiled sources the seconds of `coqc`; or what is missing. `--keep` writes those that
Coq takes to the rows that are shipped, and drops rows that nothing has any more. Claims of a unit whose file
is that of its row were decided when the row was made; `--again` decides them anew.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections.abc import Hashable, Iterable
from dataclasses import asdict, replace
from pathlib import Path

from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, TcformalError
from tcformal.theory.checked import coq_version, coqc
from tcformal.theory.refinement import (
    KEPT,
    Refinement,
    definition,
    file_digest,
    load,
    plan_of,
    refinement,
    sources_of,
)


def is_of(x: Refinement, spec: UnitSpec, text: str) -> bool:
    """Whether a refinement is of a unit as it is, and of a file for Coq, in which all its claims stand."""
    return x.definition == definition(spec) and x.file == file_digest(text)


def accepted(x: Refinement, text: str, coq: str, seconds: float) -> Refinement:
    """A refinement whose file Coq has taken; InputError for another file."""
    if file_digest(text) != x.file:
        raise InputError(f"expected the file for Coq of {x.unit}, but got another")
    return replace(x, sources=sources_of(resolve(x.unit)), coq=coq, coqc_seconds=round(seconds, 1))


def save(path: Path, rows: Iterable[Refinement]) -> None:
    """Write refinements to a file, sorted by unit."""
    lines = [json.dumps(asdict(x)) for x in sorted(rows, key=lambda x: x.unit)]
    path.write_text("".join(f"{x}\n" for x in lines), encoding="utf-8")


def distinct_units() -> list[str]:
    """The first unit of each design and number of products: their circuits differ."""
    found: dict[tuple[str, int], str] = {}
    for first, names in distinct_designs().items():
        for x in names:
            found.setdefault((first, catalogue()[x].k), x)
    return list(found.values())


def _row(
    name: str, folder: Path | None, old: Refinement | None, decided: set[Hashable]
) -> tuple[str, Refinement | None]:
    """The line of a unit, and its refinement where Coq took it."""
    spec = resolve(name)
    text = plan_of(spec).coq()
    made = old if old is not None and is_of(old, spec, text) else refinement(spec, decided)
    row = (
        f"{name}: {made.claims} claims, {made.different} different, {made.seconds:.1f} s, "
        f"{len(text)} B for Coq"
    )
    fresh = made.coq != "" and made.sources == sources_of(spec)
    if folder is None or fresh:
        return row, made if fresh else None
    (folder / "Instance.v").write_text(text, encoding="utf-8")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    coqc(folder, "Instance.v")
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return f"{row}, {seconds:.1f} s of coqc", accepted(made, text, coq_version(), seconds)


def main() -> None:
    """Print the table, and keep it where that is asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--coq", type=Path)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--again", action="store_true")
    args = parser.parse_args()
    kept = {x.unit: x for x in load(KEPT)} if KEPT.exists() else {}
    units, decided = distinct_units(), set[Hashable]()
    for unit in units:
        if args.names and not any(x in unit for x in args.names):
            continue
        old = kept.pop(unit, None)
        try:
            row, made = _row(unit, args.coq, None if args.again else old, decided)
        except TcformalError as error:
            row, made = f"{unit}: {' '.join(str(error).split())}", None
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()
        if made is not None:
            kept[unit] = made
        if args.keep:
            save(KEPT, [x for x in kept.values() if x.unit in units])


if __name__ == "__main__":
    main()
