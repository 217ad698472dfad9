"""The attack on theorems: drawn inputs, then neighbours of those that came nearest to breaking one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from attack.changes import changed
from attack.pairs import Call, Words
from attack.theorems import Theorem
from tcformal.design.unit import UnitSpec
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.operands.batch import Batch, rows_of, together, witness_at
from tcformal.simulation.operands.witness import explain_command, in_hex

#: Inputs of one round at most, and those that the next one starts from.
_ROUND, _KEPT = 1 << 15, 96
#: The share of inputs that are drawn; the others are changed ones.
_DRAWN = 0.5
#: Broken inputs that are told of one theorem.
_TOLD = 3


@dataclass(slots=True)
class Attacked:
    """What became of one theorem.

    Ranges and units: `met` of `inputs` obeyed the hypotheses; `nearest`: the largest share of its bound that
    one lost; `broken`: inputs that break it, as commands.
    """

    theorem: Theorem
    inputs: int = 0
    met: int = 0
    nearest: float = 0.0
    broken: int = 0
    examples: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The claim and its unit."""
        return f"{self.theorem.claim} of {self.theorem.spec.name}"


def attack(
    theorems: Sequence[Theorem], n: int, seed: int, *, rounds: int = 2, stop: bool = False
) -> Iterator[Attacked]:
    """Try n inputs on every theorem, those of one unit together; `stop`: at the first that breaks one.

    Ranges and units: `rounds` at least, the first of drawn inputs.
    """
    for _, some in groupby(theorems, key=lambda t: t.spec.name):
        yield from _unit(list(some), n, seed, rounds, stop)


def _unit(theorems: list[Theorem], n: int, seed: int, rounds: int, stop: bool) -> list[Attacked]:
    rng = np.random.default_rng([seed, sum(map(ord, theorems[0].spec.name))])
    made = [Attacked(t) for t in theorems]
    pools: list[tuple[Batch, Words] | None] = [None] * len(made)
    size = min(_ROUND, -(-n // rounds))
    open_ = list(range(len(made)))
    while open_:
        inputs, drawn = {}, dict[object, Batch]()
        for i in open_:
            t, pool = theorems[i], pools[i]
            count = min(size, n - made[i].inputs)
            fresh = pool is None or made[i].inputs < _DRAWN * n * (1 if t.guided else 2)
            if fresh or pool is None:
                alike = t.drawn_as, count
                x = drawn[alike] = drawn[alike] if alike in drawn else t.inputs(rng, count)
            else:
                x = changed(rng, t.spec, pool[0], count)
            inputs[i] = t.allowed(x)
        results = evaluated([(i, call) for i in open_ for call in theorems[i].calls(inputs[i])])
        for i in open_:
            _judged(made[i], inputs[i], results.get(i, []), pools, i)
        open_ = [i for i in open_ if made[i].inputs < n and not (stop and made[i].broken)]
    return made


def _judged(
    a: Attacked, x: Batch, results: list[Words], pools: list[tuple[Batch, Words] | None], i: int
) -> None:
    found = a.theorem.judge(x, results)
    a.inputs += len(x.c)
    a.met += int(found.met.sum())
    a.nearest = max(a.nearest, float(found.ratio.max(initial=0.0)))
    rows = np.flatnonzero(found.broken)
    a.broken += len(rows)
    for row in rows[: _TOLD - len(a.examples)]:
        w = witness_at(x, int(row))
        command = explain_command([a.theorem.spec.name.removesuffix(" altered")], w, in_hex(a.theorem.spec))
        a.examples += (f"{command}  # {found.ratio[row]:.6g} of the bound",)
    if a.theorem.guided:
        old, score = pools[i], np.where(found.met, found.ratio, -1.0)
        every = x if old is None else together(old[0], x)
        score = score if old is None else np.concatenate([old[1], score])
        best = np.argsort(-score, kind="stable")[:_KEPT]
        pools[i] = rows_of(every, best), score[best]


def evaluated(calls: Sequence[tuple[int, Call]]) -> dict[int, list[Words]]:
    """The results of many calls, those of one unit and one length at once; by whose they are, in order."""
    # Theorems of one unit are often tried on the same inputs: these are evaluated once.
    once = {(spec, id(x)): at for at, (_, (spec, x)) in reversed(list(enumerate(calls)))}
    groups: dict[tuple[UnitSpec, int], list[int]] = {}
    for (spec, _), at in once.items():
        groups.setdefault((spec, calls[at][1][1].a.shape[1]), []).append(at)
    found: dict[int, Words] = {}
    for (spec, _), places in groups.items():
        batches = [calls[at][1][1] for at in places]
        x = batches[0] if len(batches) == 1 else together(*batches)
        d = Unit(spec).dot_bits(x.a, x.b, x.c, x.scale_a, x.scale_b)
        start = 0
        for at, part in zip(places, batches, strict=True):
            found[at] = d[start : start + len(part.c)]
            start += len(part.c)
    results: dict[int, list[Words]] = {}
    for i, (spec, x) in calls:
        results.setdefault(i, []).append(found[once[spec, id(x)]])
    return results
