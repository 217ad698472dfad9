"""What units lose of integers, and of any operands, from theorems; and what products in pieces lose."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from tcformal.bounds.constants import relative_loss, step_constant
from tcformal.bounds.paths import growth
from tcformal.bounds.theorems import Proved, Theorems
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.proofs.claims import register
from tcformal.proofs.stated_sum import normal_sum
from tcformal.proofs.statements.product_loss import block_of
from tcformal.proofs.statements.round_down_bound import RoundDownBound

#: Factors of at most so many bits are tried pair by pair.
_MOST = 11


def integer_loss(unit: UnitSpec, known: Theorems) -> Proved:
    """What one block, or one rounding of sums that are exact before, loses of Σ|a_k·b_k| + |c| at most.

    Ranges and units: `first`; operands and c that are integers, whose sums are integers between blocks too.
    """
    if unit.design.fraction_bits is None and not register.of_products(unit):
        paths, kappas = growth(unit, 2 * unit.k), list[Fraction]()
        for step in paths.steps:
            if not known.holds(step, "error-bound"):
                return known.missing()
            kappas.append(relative_loss(known.stated(step))[0])
        how = f"every rounding loses κ = {max(kappas)} of the magnitudes at most"
        return Proved(max(kappas), None, 1, tuple(known.claims), (how,), sum=normal_sum(unit))
    found = step_constant(unit, 2 * unit.k, known)
    if found.first is None or found.other is None:
        return found
    most = max(found.first, found.other, found.beside or (1 + found.first) * (1 + found.other) - 1)
    how = f"a block of {found.size} products loses κ = {most} of the magnitudes at most"
    return replace(found, first=most, steps=(*found.steps, how))


def error_bound_constant(unit: UnitSpec, known: Theorems) -> Proved:
    """What claim `error-bound` of one block gives where operands may be subnormal.

    Ranges and units: of the sum of the magnitudes in which the least normal number stands for every operand
    that is subnormal: its exponent is that of the claim.
    """
    block = unit if unit.emulation is not None else block_of(unit)
    stated = known.stated(block)
    if isinstance(stated, RoundDownBound):
        raise InputError(
            f"expected normal operands for {unit.name}, but words of the program may be subnormal"
        )
    if not known.holds(block, "error-bound", kept=block.k == unit.k):
        return known.missing()
    kappa, least, how = relative_loss(stated)
    return Proved(kappa, kappa, block.k, tuple(known.claims), (how,), least=least, sum=stated.sum)


@lru_cache(maxsize=8)
def lossy_products(first: int, second: int, size: int, ulp: int) -> dict[int, tuple[float, int, int, int]]:
    """Of products whose pieces of `size` bits are each cut below 2^t, those that lose most units of 2^t.

    Ranges and units: normal significands of `first` and `second` bits; by what the whole units that are kept
    are modulo `ulp`: what is lost, both significands and t.  Empty where there are too many.
    """
    if max(first, second) > _MOST:
        return {}
    x, y = (np.arange(1 << n - 1, 1 << n, dtype=np.int64) for n in (first, second))
    rows = [[v >> i & (1 << size) - 1 for i in range(0, n, size)] for v, n in ((x, first), (y, second))]
    pieces = [
        np.multiply.outer(p, q) << size * (i + j)
        for i, p in enumerate(rows[0])
        for j, q in enumerate(rows[1])
    ]
    best: dict[int, tuple[float, int, int, int]] = {}
    for t in range(size, first + second + 1):
        kept = sum((p >> t for p in pieces), np.zeros_like(pieces[0]))
        lost = np.multiply.outer(x, y) - (kept << t)
        for rest in range(ulp):
            among = np.where(kept % ulp == rest, lost, -1)
            at = int(among.argmax())
            units = float(among.flat[at]) / (1 << t)
            if units >= 0 and units > best.get(rest, (0.0,))[0]:
                best[rest] = units, int(x[at // y.size]), int(y[at % y.size]), t
    return best
