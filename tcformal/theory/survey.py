"""The table of refinements: `python -m tcformal.theory.survey [PART OF A NAME …] [--coq FOLDER [--keep]]`.

A line for each distinct unit: claims, different claims, seconds of the processor, bytes of the file for Coq,
and with a folder of compiled sources the seconds of `coqc`; or what is missing.  `--keep` writes those that
Coq takes to the rows that are shipped, and drops rows that nothing has any more.  Claims of a unit whose
file is that of its row were decided when the row was made; `--again` decides them anew.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path

from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.errors import TcformalError
from tcformal.theory.certified import KEPT, Refinement, accepted, is_of, load, refinement, save
from tcformal.theory.refinement.plan import Plan
from tcformal.theory.sources import coq_version, coqc


def distinct_units() -> list[str]:
    """The first unit of each design and number of products: their circuits differ."""
    found: dict[tuple[str, int], str] = {}
    for first, names in distinct_designs().items():
        for name in names:
            found.setdefault((first, catalogue()[name].k), name)
    return list(found.values())


def rows(
    names: list[str], folder: Path | None, known: Mapping[str, Refinement]
) -> Iterator[tuple[str, str, Refinement | None]]:
    """Each unit with its line of the table, and its refinement where Coq took it."""
    decided: set[Hashable] = set()
    for name in distinct_units():
        if not names or any(x in name for x in names):
            try:
                yield (name, *_row(name, folder, known.get(name), decided))
            except TcformalError as error:
                yield name, f"{name}: {' '.join(str(error).split())}", None


def _row(
    name: str, folder: Path | None, old: Refinement | None, decided: set[Hashable]
) -> tuple[str, Refinement | None]:
    spec = catalogue()[name]
    text = Plan(spec).coq()
    made = old if old is not None and is_of(old, spec, text) else refinement(spec, decided)
    row = (
        f"{name}: {made.claims} claims, {made.different} different, {made.seconds:.1f} s, "
        f"{len(text)} B for Coq"
    )
    if folder is None:
        return row, None
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
    known = set(distinct_units())
    for name, row, made in rows(args.names, args.coq, {} if args.again else dict(kept)):
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()
        kept.pop(name, None)
        if made is not None:
            kept[name] = made
        if args.keep:
            save(KEPT, [x for x in kept.values() if x.unit in known])


if __name__ == "__main__":
    main()
