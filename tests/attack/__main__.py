"""Inputs against theorems and bounds: `PYTHONPATH=tests python -m attack --inputs 1000000`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction

from attack.bounds import all_bounds
from attack.rounds import Attacked, attack
from attack.theorems import ErrorTheorem, IntegerTheorem, Theorem, all_theorems
from tcformal.errors import InputError, InvariantError


def told(text: str) -> None:
    """A line, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def bounds(only: str, refused: Counter[str]) -> Iterator[Theorem]:
    """Bounds one after the other; `refused` counts the sentences by which there is none."""
    for name, make in all_bounds():
        if only in name:
            try:
                found = make()
            except InvariantError as error:
                refused[f"BROKEN {name}: {error}"] += 1
                continue
            except InputError as error:
                found = str(error)
            if isinstance(found, str):
                refused[f"no bound of {name.partition(' ')[0]}"] += 1
            else:
                yield found


def main() -> None:
    """Run as a program; exit 1 where inputs break a theorem, or where one is not read."""
    parser = argparse.ArgumentParser(prog="attack", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1000, help="Inputs for each theorem.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2, help="Rounds at least: more of fewer inputs.")
    parser.add_argument("--only", default="", help="Theorems with this text in `CLAIM of UNIT`.")
    parser.add_argument("--what", choices=("theorems", "bounds", "all"), default="all")
    parser.add_argument("--smaller", type=Fraction, help="Bounds made so many times as large: 0.99.")
    parser.add_argument("--loose", type=float, default=0.0, help="Name theorems of which inputs lose less.")
    given = parser.parse_args()
    theorems, left = list[Theorem](), list[str]()
    if given.what != "bounds":
        theorems, left = all_theorems(given.only)
    if given.smaller is not None:
        bounded = (t for t in theorems if isinstance(t, ErrorTheorem | IntegerTheorem))
        theorems = [t.smaller(given.smaller) for t in bounded]
    kinds: dict[str, list[Attacked]] = defaultdict(list)
    start, refused, stop = time.process_time(), Counter[str](), given.smaller is not None

    def attacked() -> Iterator[Attacked]:
        yield from attack(theorems, given.inputs, given.seed, rounds=given.rounds, stop=stop)
        if given.what != "theorems" and not stop:
            for t in bounds(given.only, refused):
                yield from attack([t], given.inputs, given.seed, rounds=given.rounds)

    for done in attacked():
        kinds[done.theorem.claim.partition(";")[0].partition(" ")[0]].append(done)
        if done.broken and not stop:
            told(f"BROKEN {done.name}: {done.broken} of {done.met}")
        for example in () if stop else done.examples:
            told(f"  {example}")
        if done.theorem.guided and done.nearest < given.loose:
            told(f"loose: {done.name}: {done.nearest:.4f} of the bound at most")
        if not done.met:
            told(f"no inputs: {done.name}")
    for line in left:
        told(f"left out: {line}")
    for line, count in refused.items():
        told(line if line.startswith("BROKEN") else f"{line}: {count}")
    for kind, every in sorted(kinds.items()):
        near = sum(1 for x in every if x.nearest > 0.99)
        close = f", {near} bounds neared to 1 %" if every[0].theorem.guided else ""
        told(f"{kind}: {len(every)} theorems, {sum(1 for x in every if x.broken)} broken{close}")
    all_ = [x for every in kinds.values() for x in every]
    broken = sum(1 for x in all_ if x.broken) + sum(x.startswith("BROKEN") for x in refused)
    told(
        f"{len(all_)} theorems, {given.inputs} inputs each, {sum(x.met for x in all_)} as they suppose, "
        f"{broken} broken, {time.process_time() - start:.0f} s of the processor"
    )
    sys.exit(bool(broken or left) if not stop else 0)


if __name__ == "__main__":
    main()
