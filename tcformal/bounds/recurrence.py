"""Bounds of long dot products, from the proved error of one block."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.callbacks import Progress
from tcformal.design.rounding import NEAREST
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.proofs.claim import ClaimVerdict
from tcformal.proofs.claims import register
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.prove import ClaimStore, kept_or_proved
from tcformal.proofs.statements.relative_bound import block_of, relative_constant
from tcformal.query.question import Kind
from tcformal.solve.members import check_members
from tcformal.solve.result import Limits

#: Half an ulp of binary32 in units of the result: what an addition of a promotion loses at most.
_UNIT_ROUNDOFF = Fraction(1, 1 << 24)
#: How many blocks are multiplied exactly, and binary places that are kept beyond.
_EXACTLY, _PLACES = 64, 400


@dataclass(frozen=True, slots=True)
class Proved:
    """Constants of one block that theorems of the kernel give, or the reason why there are none.

    Ranges and units: the error of one block from c = 0 is at most first·Σ|a_k·b_k|, and of one with a c that
    a block gave at most other·(Σ|a_k·b_k| + |c|), where that was asked; `size`: products of a block.
    """

    first: Fraction | None
    other: Fraction | None
    size: int
    claims: tuple[ClaimVerdict, ...]
    #: Sentences: what follows from the theorems by steps that the program makes.
    steps: tuple[str, ...]
    reason: str = ""


def unproved(reason: str, claims: tuple[ClaimVerdict, ...] = ()) -> Proved:
    """No constants, and why."""
    return Proved(None, None, 0, claims, (), reason)


def step_constant(
    unit: UnitSpec, *, store: ClaimStore | None, limits: Limits, solvers: Sequence[str] | None,
    certify: bool | None, fresh: bool, progress: Progress, chained: bool,
) -> Proved:  # fmt: skip
    """The constants of one block of a unit, each from a claim that the kernel has checked in this run."""
    members = None if solvers is None else check_members(solvers)
    keeper = None if store is None else store.lemmas
    book = LemmaBook(members=members, limits=limits, certify=certify, keeper=keeper, fresh=fresh)

    try:
        if register.of_products(unit):
            claim = "relative-error" if chained else "relative-error; c=0x0"
            v = kept_or_proved(
                unit, claim, store, book=book, fresh=fresh, limits=limits, solvers=members, certify=certify,
                progress=progress,
            )  # fmt: skip
            if not v.checked:
                # A kept proof whose check takes too long: a bound is given from one that was checked.
                v = register.prove_claim(
                    unit, claim, book=book, limits=limits, members=members, progress=progress
                )
            size = block_of(unit).k
            constant = relative_constant(unit, size, zero_c=not chained)
            return _given(v, Proved(constant, constant if chained else None, size, (v,), ()))
        if _chain(unit):
            # One addition of a unit has no name under which its claim could be kept.
            step = replace(unit, k=1, design=replace(unit.design, products=1))
            v = register.prove_claim(
                step, "error-bound", book=book, limits=limits, members=members, progress=progress
            )
            return _given(v, _addition(unit, v))
    except InputError as error:
        return unproved(str(error))
    return unproved(
        f"expected sums of products and c in one truncated sum, or one rounded addition after the other, for "
        f"a theorem in units of Σ|x_k·y_k|, but {unit.name} sums otherwise"
    )


def _given(v: ClaimVerdict, made: Proved) -> Proved:
    """What a claim gives where it holds."""
    return made if v.kind is Kind.HOLDS else unproved(f"claim {v.claim} is {v.kind.name}: {v.reason}", (v,))


def _chain(unit: UnitSpec) -> bool:
    """Whether a unit adds exact products one by one, each sum rounded, subnormal results kept."""
    d = unit.design
    one = d.summation == "sequential" or d.products == 1
    return (
        one and d.fraction_bits is None and d.product_rounding is None and unit.emulation is None
        and d.c_position in ("first", "joined") and d.result_subnormals == "kept"
        and unit.scale_format is None
    )  # fmt: skip


def _addition(unit: UnitSpec, v: ClaimVerdict) -> Proved:
    """Of one rounded addition of a product: what claim `error-bound` about it gives."""
    p = unit.design.step.fraction_bits
    loss = (Fraction(1, 2) if unit.design.step.mode in NEAREST else Fraction(1)) / 2**p
    kappa = loss / (1 - loss)
    how = (
        f"one addition: ulp(d) <= 2^-{p}·|d| of a normal d and |d| <= |a·b| + |c| + error, so that the error "
        f"is at most κ·(|a·b| + |c|), κ = {kappa}"
    )
    return Proved(kappa, kappa, 1, (v,), (how,))


class Recurrence:
    """C of a dot product of any length: C_{i+1} = (1 + κ)·C_i + κ for every block, from C_0 = 0.

    The result of i blocks is at most (1 + C_i)·A_i, A_i = Σ|x_k·y_k| so far, so that the next block loses at
    most κ·(A_{i+1} + C_i·A_i).
    """

    def __init__(self, unit: UnitSpec, proved: Proved) -> None:
        self.unit, self.proved = unit, proved
        self.steps: tuple[str, ...] = ()

    def _blocks(self, length: int) -> int:
        """Blocks of so many products: those of whole calls, and as many of the last as have products."""
        return -(-length // self.proved.size)

    def of(self, length: int) -> Fraction:
        """C of one chain."""
        first, other, blocks = self.proved.first, self.proved.other, self._blocks(length)
        assert first is not None
        if blocks == 1 or other is None:
            return first
        self.steps = (
            f"{blocks} blocks: C = (1 + κ)^{blocks} - 1 with κ = {other}, from |result| <= "
            "(1 + C)·Σ|x_k·y_k| by induction",
        )
        return _grown(first, other, blocks - 1)

    def promoted(self, length: int, every: int) -> Fraction:
        """C of sums of `every` products, each added to a binary32 sum to nearest."""
        own, parts = self.of(every), -(-length // every)
        total = _grown(own, _UNIT_ROUNDOFF, parts - 1)
        self.steps = (
            *self.steps,
            f"{parts} partial sums: D = (1 + u)·D + u for each addition after the first, u = 2^-24, from D = "
            f"C of {every} products",
        )
        return total


def _grown(first: Fraction, each: Fraction, times: int) -> Fraction:
    """(1 + first)·(1 + each)^times - 1; rounded up to a multiple of 2^-400 where that is many times."""
    total, power = 1 + first, 1 + each
    if times <= _EXACTLY:
        return total * power**times - 1
    while times:
        if times & 1:
            total = _up(total * power)
        power, times = _up(power * power), times >> 1
    return total - 1


def _up(x: Fraction) -> Fraction:
    """The least multiple of 2^-400 that is at least x."""
    return Fraction(math.ceil(x * (1 << _PLACES)), 1 << _PLACES)
