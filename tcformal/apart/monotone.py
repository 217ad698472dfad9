"""The monotonicity defect: how far a result falls at most when c or a factor grows by one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tcformal.apart.falls import FallSearch
from tcformal.apart.replayed import exact, replayed, witness
from tcformal.callbacks import Progress, ignore
from tcformal.checks import check_int
from tcformal.errors import InvariantError
from tcformal.formats.spec import Format
from tcformal.matmul.runnable import RunnableProgram, computation
from tcformal.matmul.unit import Unit
from tcformal.operands.witness import Witness
from tcformal.oracle.errors import ulp
from tcformal.oracle.text import power_of_two
from tcformal.oracle.values import decode
from tcformal.query.claims.answered import prove_claim
from tcformal.query.claims.register import refused
from tcformal.query.claims.verdict import ClaimVerdict
from tcformal.query.question import Kind
from tcformal.solve.result import Limits

if TYPE_CHECKING:
    from tcformal.query.claims.answered import ClaimStore

#: Most products of one dot product.
LONGEST = 1 << 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """Two inputs that differ by one step of one operand, and whose results are in the other order.

    Ranges and units: `ulps`: in units in the last place of the larger result's magnitude; `relative`: in
    units of u·(Σ|a_k·b_k| + |c|) of the first inputs, u = 2^-p of D's format, which cancellation does not
    enlarge.
    """

    #: `c` or `a[0]`.
    operand: str
    first: Witness
    second: Witness
    #: Raw encodings of both results, replayed on integers and on exact fractions.
    results: tuple[int, int]
    #: By how much the exact sum grows.
    growth: Fraction
    fall: Fraction
    ulps: Fraction
    relative: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Monotonicity:
    """What is known of how far results fall where an operand grows.

    Ranges and units: `falls` by operand and by whether terms of both signs are allowed: those found with the
    most ulps where all terms are positive, and those with the largest `relative` fall of any terms.
    `claim`: that of a larger c, where it was asked; where it HOLDS, the defect in c is 0.
    """

    name: str
    length: int
    falls: tuple[Fall, ...]
    claim: ClaimVerdict | None

    @property
    def proved(self) -> bool:
        """Whether a larger c is proved to give no smaller result."""
        return self.claim is not None and self.claim.kind is Kind.HOLDS and self.claim.checked

    def verdict(self, operand: str) -> Kind:
        """Whether no larger `c`, or factor `a`, gives a smaller result.

        VIOLATED by inputs, which were replayed; HOLDS by the theorem, of c alone; else UNKNOWN.
        """
        if self.largest(operand) is not None:
            return Kind.VIOLATED
        return Kind.HOLDS if operand == "c" and self.proved else Kind.UNKNOWN

    def largest(self, operand: str) -> Fall | None:
        """The fall with the most ulps of those found for an operand, `c` or `a`."""
        mine = [x for x in self.falls if x.operand[0] == operand]
        return max(mine, key=lambda x: x.ulps, default=None)


def monotonicity(
    x: str | Unit | RunnableProgram,
    *,
    length: int | None = None,
    prove: bool = True,
    limits: Limits | None = None,
    solvers: Sequence[str] | None = None,
    certify: bool | None = None,
    store: ClaimStore | None = None,
    fresh: bool = False,
    progress: Progress = ignore,
) -> Monotonicity:
    """The largest fall of a result where c, or one factor, grows by one step: a search, and a theorem of c.

    Shapes: `length` products from 1 to 4096, by default those of one call.
    Ranges and units: operands are normal numbers; scales, where a unit has them, are 1.  `prove`: whether
    claim `monotonicity` of one call is asked where no fall is found in c, of a unit that it is about.
    Zero, NaN, Inf: results are finite.
    Errors: InputError for a length out of range; those of `prove_claim`.
    Source: FASI, monotonicity of the dot product.
    """
    what = computation(x) if isinstance(x, str) else x
    n = check_int("length", what.k if length is None else length, low=1, high=LONGEST)
    seed = (limits or Limits()).seed
    found = []
    for operand in ("c", "a"):
        for mixed in (False, True):
            progress(f"looking for falls in {operand}")
            fall = _found(what, n, operand, mixed, seed)
            found += [] if fall is None else [fall]
    claim = None
    falls_in_c = any(f.operand == "c" for f in found)
    if (
        prove and isinstance(what, Unit) and n <= what.k
        and not (falls_in_c or refused("monotonicity", what.spec))
    ):  # fmt: skip
        claim = prove_claim(
            what, "monotonicity", limits=limits, solvers=solvers, certify=certify, store=store, fresh=fresh,
            progress=progress,
        )  # fmt: skip
    made = Monotonicity(name=what.name, length=n, falls=tuple(found), claim=claim)
    if made.proved and falls_in_c:
        raise InvariantError(f"expected no fall in c of {what.name}, as is proved, but found one")
    return made


def _found(x: Unit | RunnableProgram, length: int, operand: str, mixed: bool, seed: int) -> Fall | None:
    """The largest fall that a search finds, replayed and counted exactly; None where there is none."""
    best = FallSearch(x, length, operand, mixed, seed).best()
    if best is None:
        return None
    a, b, c = best
    first, second = (witness(x, a[i], b, int(c[i])) for i in (0, 1))
    results = replayed(x, first), replayed(x, second)
    before, after = (decode(x.d_format, r).number for r in results)
    (small, size), (large, _) = exact(x, first), exact(x, second)
    if before <= after or large < small:
        raise InvariantError(f"expected a fall of {x.name}, but replayed results are {before} and {after}")
    fall = before - after
    u = Fraction(1, 1 << x.d_format.precision)
    return Fall(
        operand=operand if operand == "c" else "a[0]", first=first, second=second, results=results,
        growth=large - small, fall=fall, ulps=fall / _ulp(x.d_format, max(abs(before), abs(after))),
        relative=fall / (u * size),
    )  # fmt: skip


def _ulp(fmt: Format, size: Fraction) -> Fraction:
    """One unit in the last place of a number that is not zero."""
    return max(ulp(size, fmt), power_of_two(fmt.e_min - fmt.fraction_bits))
