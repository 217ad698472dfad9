"""Designs near to some that answers refuted: one and two parameters changed, tried on single answers.

A design is evaluated on the Fraction oracle, answer by answer, until one refutes it: most need one or two,
which costs far less than a circuit of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from tcformal.design.axes import altered, around, axis_values, rare_values
from tcformal.design.names import resolve
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.query.replay import oracle_result
from tcformal.simulation.matrix_unit import padded_witness, replay
from tcformal.simulation.operands.batch import Batch, Raw, rows_of, witness_at

#: Answers that are tried one by one before a design is evaluated on all, and designs that are found at most.
_ROWS, _MOST = 48, 64
#: Parameters of which a neighbour has a number near.
_NEAR = {"fraction_bits": (-2, -1, 1, 2), "sum_fraction_bits": (-2, -1, 1, 2), "carry_bits": (-2, -1, 1, 2)}


@dataclass(slots=True)
class Nearby:
    """The designs beside some others that give all of some answers.

    Shapes: answers that are no NaN: which word these are is asked apart.  `over` says that the time is.
    """

    batch: Batch
    answers: Raw
    over: Callable[[], bool]
    #: Designs that were tried; whether all were.
    tried: int = 0
    whole: bool = True
    _rows: list[int] = field(default_factory=list)

    def found(self, bases: Sequence[UnitSpec], changes: int, limit: int | None = None) -> list[UnitSpec]:
        """Those with so many parameters changed of the first of some bases that has any.

        `limit`: the exponent from which results overflow, where that is below the end of the format.
        """
        for base in bases:
            self._rows = self._telling([base])
            made: dict[str, UnitSpec] = {}
            for chosen in combinations(list(_settings(base, limit)), changes):
                if len({name for name, _ in chosen}) < changes:
                    continue
                if self.over():
                    self.whole = False
                    break
                if (u := self._fitting(base, chosen)) is not None and self._gives_all(u):
                    made.setdefault(u.name, u)
                    if len(made) >= _MOST:
                        break
            if made or not self.whole:
                return list(made.values())
        return []

    def _telling(self, bases: Sequence[UnitSpec]) -> list[int]:
        """Answers to try first: those that fewest of the bases give, then some of all others."""
        right = np.sum([replay(u, self.batch) == self.answers for u in bases], axis=0)
        order = np.random.default_rng(0).permutation(len(self.answers))
        return [int(i) for i in order[np.argsort(right[order], kind="stable")][:_ROWS]]

    def _fitting(self, base: UnitSpec, chosen: Iterable[tuple[str, object]]) -> UnitSpec | None:
        """The base with parameters set, where it is another design and gives the answers that are tried."""
        try:
            u = resolve(altered(base, ",".join(f"{name}={value}" for name, value in chosen)))
            if u.design == base.design:
                return None
            self.tried += 1
            for place, row in enumerate(self._rows):
                w = padded_witness(u, witness_at(self.batch, row))
                if oracle_result(u, w) != int(self.answers[row]):
                    # What refutes one refutes many: it is tried first from now on.
                    self._rows.insert(0, self._rows.pop(place))
                    return None
        except InputError:
            return None  # a combination that means nothing
        return u

    def _gives_all(self, u: UnitSpec) -> bool:
        return bool((replay(u, self.batch) == self.answers).all())


def as_bases(units: Iterable[UnitSpec], k: int) -> Iterator[UnitSpec]:
    """Units whose parameters can be changed: a composed one as the tree of its sums."""
    for u in units:
        if u.emulation is None:
            yield u
        elif (made := tree_of(u, k) if k % u.k == 0 else None) is not None:
            yield made


def numbers_only(d: Format, batch: Batch, answers: Raw) -> tuple[Batch, Raw]:
    """The inputs whose answer is no NaN."""
    rows = np.flatnonzero(~np.asarray(d.is_nan(answers)))
    return rows_of(batch, rows), answers[rows]


def _settings(base: UnitSpec, limit: int | None) -> Iterator[tuple[str, object]]:
    """Every other value of each parameter, numbers near to the base's only."""
    values = {name: list(row) for name, row in axis_values(base).items()}
    for name, steps in _NEAR.items():
        near = around(getattr(base.design, name), steps)
        values[name] = [x for x in values[name] if not isinstance(x, int) or x in near]
    for name, row in rare_values(base).items():
        values[name] = [*dict.fromkeys((*values.get(name, ()), *row))]
    if limit is not None:
        values["conversion"] = [f"{x}:{limit}" for x in (base.design.conversion, *values["conversion"])]
    values["nan_word"] = values["nan_rule"] = []
    return ((name, value) for name, row in values.items() for value in row)
