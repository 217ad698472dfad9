"""Which position of b meets which of a: confirmed in few questions where it is the plain one, else found.

Every question is a sum of ones, or of a few distinct powers of two, which all designs give exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.identification.asking.ask import Asker
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import NumberClass, decode, encode_exact, encoded
from tcformal.simulation.operands.batch import Batch, with_scales

#: The most positions of a that one question tells apart.
_TOGETHER = 8

#: Products at a time where more might wrap.
_FEW = 4

#: Positions of a, each with a power of two, and positions of b, which hold ones.
_SumOfOnes = tuple[Sequence[tuple[int, int]], Sequence[int]]


@dataclass(frozen=True, slots=True)
class OperandLayout:
    """The pairing of a device's operands.

    `order[i]` is the position of b that meets a[i]; None where the answers are those of no pairing of K
    products.
    """

    order: tuple[int, ...] | None

    @property
    def plain(self) -> bool:
        """Whether every b[i] meets a[i]."""
        return self.order is not None and self.order == tuple(range(len(self.order)))


def find_layout(asker: Asker) -> OperandLayout:
    """The pairing of the products; the asker is told of one that is not the plain one.

    Errors: as `Asker.ask`.
    """
    k = asker.k
    plain = tuple(range(k))
    # Sums that wrap are shown in few products at a time.
    if _is_pairing(asker, plain) or _is_pairing(asker, plain, _FEW):
        return OperandLayout(plain)
    groups, order = _groups(asker.spec, k), [0] * k
    asked = [(group, t) for group in groups for t in range((k - 1).bit_length())]
    inputs = [([(i, 1 << weight) for weight, i in enumerate(group)], _bit(k, t)) for group, t in asked]
    for (group, t), answer in zip(asked, _answers(asker, inputs), strict=True):
        if answer is None or answer.denominator != 1 or not 0 <= answer < 1 << len(group):
            return OperandLayout(None)
        for weight, i in enumerate(group):
            order[i] |= (int(answer) >> weight & 1) << t
    found = tuple(order)
    if sorted(found) != list(plain) or not _is_pairing(asker, found):
        return OperandLayout(None)
    asker.layout = found
    return OperandLayout(found)


def first_sums(spec: UnitSpec, k: int) -> Batch:
    """What `find_layout` asks first: dot products of k terms."""
    return _batch(spec, k, _paired(range(k)))


def _is_pairing(asker: Asker, order: Sequence[int], most: int | None = None) -> bool:
    """Whether a[i] meets b[order[i]] for every i, shown with at most so many products of 1 · 1 at a time.

    All products are 1 · 1, or those whose position in b has bit t: as many meet as there are such positions,
    for every t, only if no position is another's.
    """
    inputs = _paired(order, most)
    return _answers(asker, inputs) == [Fraction(len(ones)) for ones, _ in inputs]


def _paired(order: Sequence[int], most: int | None = None) -> list[_SumOfOnes]:
    """What `_is_pairing` asks: a part of a set, in a, meets the whole set, in b, in all its products."""
    k = len(order)
    sets = [list(range(k)), *(_bit(k, t) for t in range((k - 1).bit_length()))]
    size = most or k
    parts = [(bs[i : i + size], bs) for bs in sets for i in range(0, len(bs), size)]
    return [([(i, 1) for i in range(k) if order[i] in part], bs) for part, bs in parts]


def _bit(k: int, t: int) -> list[int]:
    """The positions whose number has bit t."""
    return [i for i in range(k) if i >> t & 1]


def _groups(spec: UnitSpec, k: int) -> list[range]:
    """Positions of a that one question tells apart: they have distinct powers of two, and D holds the sum."""
    size = 1
    while (
        size < min(_TOGETHER, spec.d_format.fraction_bits)
        and encoded(spec.a_format, power_of_two(size)) is not None
    ):
        size += 1
    return [range(start, min(start + size, k)) for start in range(0, k, size)]


def _batch(spec: UnitSpec, k: int, inputs: Sequence[_SumOfOnes]) -> Batch:
    """Positions of a with values, and ones at positions of b, as operands."""
    a, b = (np.zeros((len(inputs), k), np.uint64) for _ in range(2))
    for row, (valued, ones) in enumerate(inputs):
        for i, value in valued:
            a[row, i] = encode_exact(spec.a_format, Fraction(value))
        b[row, list(ones)] = spec.b_format.one
    return with_scales(spec, Batch(a, b, np.zeros(len(inputs), np.uint64)))


def _answers(asker: Asker, inputs: Sequence[_SumOfOnes]) -> list[Fraction | None]:
    """Sums as numbers; None for what is no number."""
    words = asker.ask(_batch(asker.spec, asker.k, inputs)).tolist()
    found = [decode(asker.spec.d_format, word) for word in words]
    return [value.number if value.kind is NumberClass.FINITE else None for value in found]
