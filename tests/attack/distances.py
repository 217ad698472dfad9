"""Intervals of the distance of two units, as theorems that inputs can break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from attack.directed import lossy, within
from attack.errors import Ratios
from attack.exact import decoded
from attack.pairs import Call, Words
from tcformal.analysis.distance import distances
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.simulation import arrays
from tcformal.simulation.operands.batch import Batch

#: Rows and columns of the products whose distances are looked at.
_SIDE = 8


def _formats(spec: UnitSpec) -> tuple[Format, Format, Format]:
    return spec.a_format, spec.b_format, spec.c_format


@dataclass(frozen=True)
class DistanceBound:
    """`distances(FIRST, SECOND, A, B, C)`: an interval for each element of the difference."""

    claim: str
    spec: UnitSpec
    units: tuple[UnitSpec, UnitSpec]
    exact: bool
    guided: bool = False

    @property
    def drawn_as(self) -> object:
        """Drawn alone."""
        return self.claim

    def inputs(self, rng: np.random.Generator, n: int) -> Batch:
        """Small products element by element: every row of A with every column of B, and any c."""
        size, count = _SIDE, max(1, n // _SIDE**2)
        x = lossy(rng, self.spec, count * size)
        # Half of them far from underflow and overflow, where the intervals say something.
        near = np.arange(count * size)[:, None] // size % 2 == 0
        a, b, c = (
            np.where(near if w.ndim == 2 else near[:, 0], within(f, w, -6, 6), w)
            for w, f in zip((x.a, x.b, x.c), _formats(self.spec), strict=True)
        )
        i, j = (z.ravel() for z in np.mgrid[:size, :size])
        blocks = size * np.arange(count)[:, None]
        rows, columns = (blocks + i).ravel(), (blocks + j).ravel()
        kept = np.where(rng.random(count) < 0.3, np.uint64(0), np.uint64(1))[rows // size]
        return Batch(a[rows], b[columns], c[(blocks + (i + j) % size).ravel()] * kept)

    def allowed(self, x: Batch) -> Batch:
        """Anything."""
        return x

    def calls(self, x: Batch) -> list[Call]:
        """Both units on the same rows, filled up with zeros to whole calls."""
        made = []
        for u in self.units:
            a, b = (np.pad(w, ((0, 0), (0, -w.shape[1] % u.k))) for w in (x.a, x.b))
            made.append((u, Batch(a, b, x.c)))
        return made

    def judge(self, x: Batch, results: Sequence[Words]) -> Ratios:
        """The differences of results against the intervals."""
        met, wrong = np.zeros(len(x.c), np.bool_), np.zeros(len(x.c), np.bool_)
        d = [decoded(self.spec.d_format, w) for w in results]
        for start in range(0, len(x.c), _SIDE**2):
            firsts = start + _SIDE * np.arange(_SIDE), start + np.arange(_SIDE), start + np.arange(_SIDE**2)
            a, b, c = (
                arrays.from_raw(words[rows].astype(f"u{fmt.storage_bits // 8}"), fmt)
                for words, rows, fmt in zip((x.a, x.b, x.c), firsts, _formats(self.spec), strict=True)
            )
            try:
                with np.errstate(all="ignore"):
                    found = distances(*self.units, a, b.T, c.reshape(_SIDE, _SIDE), exact=self.exact)
            except InputError:  # nothing is known of these operands, such as subnormal ones
                continue
            for at, low, high, covered in zip(
                firsts[2], found.low.ravel(), found.high.ravel(), found.covered.ravel(), strict=True
            ):
                if not covered:
                    continue
                met[at] = wrong[at] = True
                if d[0].finite[at] and d[1].finite[at]:
                    apart = d[1].value(at) - d[0].value(at)
                    wrong[at] = not Fraction(float(low)) <= apart <= Fraction(float(high))
        return Ratios(np.where(wrong, np.inf, 0.0), met, wrong)


def distance_bound(first: str, second: str, *, exact: bool = False) -> DistanceBound | str:
    """The intervals of two units, or the sentence by which there are none."""
    u, v = resolve(first), resolve(second)
    one = np.ones((1, u.k), np.uint64)
    words = [
        arrays.from_raw((one * f.one).astype(f"u{f.storage_bits // 8}"), f) for f in (u.a_format, u.b_format)
    ]
    try:
        distances(u, v, words[0], words[1].T)
    except InputError as error:
        return str(error)
    return DistanceBound(
        f"distances to {second}{' exactly' * exact}", replace(u, k=max(u.k, v.k)), (u, v), exact
    )
