"""Odd calls of every command: `PYTHONPATH=tests python -m fuzz --cases 10000 --seed 1`."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from fuzz.cases import make_case
from fuzz.judge import bounded, call, call_apart, complaints, report
from fuzz.place import make_place


def fuzz(
    root: Path, cases: int, seed: int, *, apart: int = 0, told: Callable[[str], None] = lambda _: None
) -> list[str]:
    """Make calls in a folder that is filled first; a report of each that is answered badly.

    `apart` is how many of the cases are called in processes of their own instead.
    """
    rng = random.Random(seed)
    place = make_place(root, rng)
    failed = []
    with bounded(place):
        before = place.state()
        for i in range(cases):
            case = make_case(rng, place)
            code, out, err = call_apart(case, place) if i < apart else call(case)
            found = complaints(case, code, out, err)
            after = place.state()
            if after != before:
                changed = {name for name, _ in set(before.items()) ^ set(after.items())}
                if unnamed := sorted(name for name in changed if not case.may_write(name)):
                    found.append(f"changed {', '.join(unnamed)}")
                before = after
            if found:
                failed.append(f"case {i}: {report(case, place.root, found, err)}")
                told(failed[-1])
    return failed


def main() -> None:
    """Run as a program; exit 1 where a case is answered badly."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--apart", type=int, default=0, help="Cases in processes of their own.")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))  # stays, so that a failing case can be run again

    def told(text: str) -> None:
        sys.stderr.write(text + "\n")

    failed = fuzz(folder, given.cases, given.seed, apart=given.apart, told=told)
    sys.stdout.write(f"{given.cases} cases, {len(failed)} answered badly\n")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
