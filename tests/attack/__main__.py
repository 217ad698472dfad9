"""Inputs against every kept theorem: `PYTHONPATH=tests python -m attack --inputs 1000000 --seed 1`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

from attack.rounds import Attacked, attack
from attack.theorems import ErrorTheorem, IntegerTheorem, kept_theorems

RESULTS = Path(__file__).parents[2] / "results"


def main() -> None:
    """Run as a program; exit 1 where inputs break a theorem, or where one is not read."""
    parser = argparse.ArgumentParser(prog="attack", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1000, help="Inputs for each theorem.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2, help="Rounds at least: more of fewer inputs.")
    parser.add_argument("--only", default="", help="Theorems with this text in `CLAIM of UNIT`.")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--smaller", type=Fraction, help="Bounds made so many times as large: 0.99.")
    parser.add_argument("--loose", type=float, default=0.0, help="Name theorems whose bound is never neared so.")
    given = parser.parse_args()
    theorems, left = kept_theorems(given.results, given.only)
    if given.smaller is not None:
        theorems = [
            t.smaller(given.smaller) for t in theorems if isinstance(t, ErrorTheorem | IntegerTheorem)
        ]
    kinds: dict[str, list[Attacked]] = defaultdict(list)
    start, met = time.process_time(), 0
    for done in attack(theorems, given.inputs, given.seed, rounds=given.rounds, stop=given.smaller is not None):
        kinds[done.theorem.claim.partition(";")[0]].append(done)
        met += done.met
        for example in done.examples if given.smaller is None else ():
            sys.stdout.write(f"BROKEN {done.name}\n  {example}\n")
        if done.theorem.guided and done.nearest < given.loose:
            sys.stdout.write(f"loose: {done.name}: {done.nearest:.4f} of the bound at most\n")
        if not done.met:
            sys.stdout.write(f"no inputs: {done.name}\n")
    for line in left:
        sys.stdout.write(f"left out: {line}\n")
    for kind, all_ in sorted(kinds.items()):
        broken = sum(1 for x in all_ if x.broken)
        near = sum(1 for x in all_ if x.nearest > 0.99)
        close = f", {near} neared to 1 %" if all_[0].theorem.guided else ""
        sys.stdout.write(f"{kind}: {len(all_)} theorems, {broken} broken{close}\n")
    broken = sum(1 for all_ in kinds.values() for x in all_ if x.broken)
    seconds = time.process_time() - start
    sys.stdout.write(
        f"{len(theorems)} theorems, {given.inputs} inputs each ({met} obeyed the hypotheses), {broken} broken, "
        f"{seconds:.0f} s of the processor\n"
    )
    sys.exit(bool(broken or left) if given.smaller is None else 0)


if __name__ == "__main__":
    main()
