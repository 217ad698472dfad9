"""Faults of sums that are no arithmetic: products that are left out, taken twice, or of the other sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.identification.cases import MismatchCase
from tcformal.oracle.values import NumberClass, decode, encoded
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import batch_of
from tcformal.simulation.operands.witness import Witness


class FaultKind(Enum):
    """What was done to some products of a sum."""

    LEFT_OUT = "without"
    TWICE = "with twice"
    NEGATED = "with the other sign of"


@dataclass(frozen=True, slots=True)
class SumFault:
    """A unit's sum with products k from `start` up to `stop` treated otherwise; start = stop: c alone."""

    design: UnitSpec
    kind: FaultKind
    start: int
    stop: int

    def __str__(self) -> str:
        if self.start == self.stop:
            products = "c"
        elif self.stop == self.start + 1:
            products = f"a[{self.start}]·b[{self.start}]"
        else:
            products = f"the products of k = {self.start} to {self.stop - 1}"
        return f"{self.design.name} {self.kind.value} {products}"

    @property
    def of_c(self) -> bool:
        """Whether it is c that is treated otherwise."""
        return self.start == self.stop


def faults_that_give(designs: Sequence[UnitSpec], cases: Sequence[MismatchCase]) -> list[SumFault]:
    """The faults of designs that give the results obtained, in every case: of few products first.

    Ranges and units: one product, the products from some k on or up to it, and c; one that changes no operand
    of any case is none.
    """
    found = []
    for design in designs:
        tried, rows = [], []
        for fault in _faults(design, len(cases[0].witness.a)):
            changed = [_changed(fault, case.witness) for case in cases]
            made = [x for x in changed if x is not None]
            if len(made) == len(cases) and made != [case.witness for case in cases]:
                tried.append(fault)
                rows += made
        if not tried:
            continue
        words = replay(design, batch_of(rows)).reshape(len(tried), len(cases))
        fits = np.ones(len(tried), np.bool_)
        for i, case in enumerate(cases):
            fits &= case.got.is_given_by(design.d_format, words[:, i])
        found += [fault for fault, fit in zip(tried, fits, strict=True) if fit]
    return sorted(found, key=lambda x: (x.of_c, x.stop - x.start))


def _faults(design: UnitSpec, k: int) -> Iterator[SumFault]:
    for kind in FaultKind:
        for i in range(k):
            yield SumFault(design, kind, i, i + 1)
    for i in range(2, k + 1):
        yield SumFault(design, FaultKind.LEFT_OUT, 0, i)
        if i < k:
            yield SumFault(design, FaultKind.LEFT_OUT, k - i, k)
    yield SumFault(design, FaultKind.LEFT_OUT, k, k)


def _changed(fault: SumFault, w: Witness) -> Witness | None:
    """The operands whose sum is the faulty one; None where no operands have it."""
    if fault.of_c:
        return replace(w, c=0)
    a, b = list(w.a), list(w.b)
    for i in range(fault.start, fault.stop):
        if fault.kind is FaultKind.LEFT_OUT:
            a[i] = b[i] = 0
            continue
        factor = 2 if fault.kind is FaultKind.TWICE else -1
        x, y = (
            _times(factor, fmt, raw)
            for fmt, raw in ((fault.design.a_format, a[i]), (fault.design.b_format, b[i]))
        )
        if x is not None:
            a[i] = x
        elif y is not None:
            b[i] = y
        else:
            return None
    return replace(w, a=tuple(a), b=tuple(b))


def _times(factor: int, fmt: Format, raw: int) -> int | None:
    """The encoding of so many times a number; None where the format has none."""
    value = decode(fmt, raw)
    return encoded(fmt, factor * value.number) if value.kind is NumberClass.FINITE else None
