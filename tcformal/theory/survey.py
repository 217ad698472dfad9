"""The table of refinements: `python -m tcformal.theory.survey [PART OF A NAME …] [--coq FOLDER]`.

A row for each distinct design: claims, different claims, seconds of the processor, bytes of proofs and of
the file for
Coq, and with a folder of compiled sources the seconds of `coqc`; or what is missing.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.errors import TcformalError
from tcformal.solve.certificate import Certificate
from tcformal.theory.certified import refinement
from tcformal.theory.refinement.plan import Plan
from tcformal.theory.sources import coqc


def rows(names: list[str], folder: Path | None) -> Iterator[str]:
    """The table, line by line; a claim of several units is decided once."""
    known: dict[str, Certificate] = {}
    for name in distinct_designs():
        if names and not any(x in name for x in names):
            continue
        try:
            yield _row(name, known, folder)
        except TcformalError as error:
            yield f"{name}: {error}"


def _row(name: str, known: dict[str, Certificate], folder: Path | None) -> str:
    spec = catalogue()[name]
    found: Mapping[str, Certificate] = known
    made = refinement(spec, found)
    known.update(made.certificates)
    text = Plan(spec).coq()
    row = (
        f"{name}: {made.claims} claims, {len(made.certificates)} different, {made.seconds:.1f} s, "
        f"{made.size} B of proofs, {len(text)} B for Coq"
    )
    if folder is None:
        return row
    (folder / "Instance.v").write_text(text, encoding="utf-8")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    coqc(folder, "Instance.v")
    return f"{row}, {resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before:.1f} s of coqc"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--coq", type=Path)
    args = parser.parse_args()
    for row in rows(args.names, args.coq):
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
