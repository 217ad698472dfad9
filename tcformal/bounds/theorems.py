"""What is proved of a unit's errors, the constants that follow, and what they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from tcformal.callbacks import Progress
from tcformal.design.unit import UnitSpec
from tcformal.errors import InvariantError
from tcformal.solve.result import Limits
from tcformal.theory.constants import Constants
from tcformal.theory.instances import Instance
from tcformal.theory.stated_sum import StatedSum

if TYPE_CHECKING:  # claims of the kernel are imported where one is asked
    from tcformal.proofs.claim import Asking, ClaimVerdict
    from tcformal.proofs.lemmas import LemmaBook
    from tcformal.proofs.prove import ClaimStore
    from tcformal.proofs.statements.error_bound import ErrorBound
    from tcformal.proofs.statements.relative_bound import RelativeBound

#: Binades above the least normal number where what flushing loses is small beside the largest term.
MARGIN = 40
#: Words of inputs that are shown beside a bound that they exceed, at most.
_SHOWN = 16
#: Seconds of the processor for checking a kept claim: to find its proof again takes longer.
CHECK_S = 60.0


@dataclass(frozen=True, slots=True)
class Sides:
    """What one block loses at most where more is lost against the sign of c than along it.

    Ranges and units: of Σ|a_k·b_k| of the products with c's sign, `same`, and of the others, `other`, and of
    |c|, `of_c`, against that sign; of all of them, `along`.
    """

    same: Fraction
    other: Fraction
    of_c: Fraction
    along: Fraction


@dataclass(frozen=True, slots=True)
class Proved:
    """Constants of one block that theorems give, or the reason why there are none.

    Ranges and units: the error of one block from c = 0 is at most first·Σ|a_k·b_k|; where it is asked, a
    block takes an error of C·Σ|a_k·b_k| so far to ((1 + C)·(1 + other) - 1)·Σ|a_k·b_k| at most; `size`:
    products of a block; `largest`, which is a term, is at least 2^least.
    """

    first: Fraction | None
    other: Fraction | None
    size: int
    claims: tuple[ClaimVerdict, ...]
    #: Sentences: what follows from the theorems by steps that the program makes.
    steps: tuple[str, ...]
    reason: str = ""
    least: int | None = None
    largest: str = "of every call the largest product, or c,"
    #: Beside a c that is not zero a block loses beside·Σ|a_k·b_k| + other·|c| at most; None: first and other.
    beside: Fraction | None = None
    #: Of the first block and of any other, where they are known for both sides of c's sign.
    sides: tuple[Sides, Sides] | None = None
    #: Which exact sum of a call the constants are about; None without constants.
    sum: StatedSum | None = None
    #: The theorem of the theory that they are an instance of, with its constants of any length; None where
    #: they rest on claims of the kernel.
    theorem: Instance | None = None
    constants: Constants | None = None

    def __post_init__(self) -> None:
        if (self.first is None) != (self.sum is None):
            raise InvariantError(f"expected constants of a stated sum, but got {self.first} of {self.sum}")


def words_text(words: Sequence[int]) -> str:
    """Words as a sentence shows them: the first ones, where there are many."""
    shown = ",".join(map(hex, words[:_SHOWN]))
    return shown if len(words) <= _SHOWN else f"{shown},… ({len(words)})"


def unproved(reason: str, claims: tuple[ClaimVerdict, ...] = ()) -> Proved:
    """No constants, and why."""
    return Proved(None, None, 0, claims, (), reason)


@dataclass(slots=True)
class Theorems:
    """Theorems about units, each checked in this run; kept ones where there is a store."""

    store: ClaimStore | None
    limits: Limits
    solvers: Sequence[str] | None
    certify: bool | None
    fresh: bool
    progress: Progress
    #: Those that were asked for.
    claims: list[ClaimVerdict] = field(default_factory=list)
    #: Every claim of this run, asked once, and the lemmas of all.
    _known: dict[tuple[UnitSpec, str], ClaimVerdict] = field(default_factory=dict)
    _book: LemmaBook | None = None

    def holds(self, unit: UnitSpec, claim: str, *, kept: bool = True) -> bool:
        """Whether a claim is proved; the verdict joins `claims`.  `kept`: False for a unit without a name."""
        from tcformal.query.question import Kind

        if (unit, claim) not in self._known:
            self._known[unit, claim] = self._checked(unit, claim, self.store if kept else None)
        self.claims.append(self._known[unit, claim])
        return self.claims[-1].kind is Kind.HOLDS

    def _checked(self, unit: UnitSpec, claim: str, store: ClaimStore | None) -> ClaimVerdict:
        """A claim's verdict, checked in this run: a bound is given from such alone."""
        from tcformal.proofs.claims import register
        from tcformal.proofs.lemmas import LemmaBook
        from tcformal.proofs.prove import kept_or_proved
        from tcformal.solve.members import check_members

        members = None if self.solvers is None else check_members(self.solvers)
        keeper = None if self.store is None else self.store.lemmas
        if self._book is None:
            # One for all claims: those of one unit share most of their lemmas.
            self._book = LemmaBook(
                members=members, limits=self.limits, certify=self.certify, keeper=keeper, fresh=self.fresh
            )
        v = kept_or_proved(
            unit, claim, store, book=self._book, fresh=self.fresh, limits=self.limits, solvers=members,
            seconds=CHECK_S, progress=self.progress,
        )  # fmt: skip
        if v.checked:
            return v
        return register.prove_claim(
            unit, claim, book=self._book, limits=self.limits, members=members, progress=self.progress
        )

    def stated(self, unit: UnitSpec, *, zero_c: bool = False) -> ErrorBound:
        """What claim `error-bound` says of a unit."""
        from tcformal.proofs.claims.error_bound import stated_bound

        return stated_bound(self._asking(unit, zero_c))[0]

    def stated_relative(self, unit: UnitSpec) -> RelativeBound:
        """What claim `relative-error` says of a unit where c is zero."""
        from tcformal.proofs.claims.error_bound import stated_relative

        return stated_relative(self._asking(unit, True))[0]

    def _asking(self, unit: UnitSpec, zero_c: bool) -> Asking:
        from tcformal.proofs.claim import Asking
        from tcformal.proofs.lemmas import LemmaBook
        from tcformal.query.assume import Assumptions

        book, what = LemmaBook(limits=self.limits), Assumptions(c=0) if zero_c else Assumptions()
        return Asking(unit, book, self.limits, None, self.progress, assumed=what)

    def missing(self) -> Proved:
        """No constants, because the last claim does not hold."""
        v = self.claims[-1]
        return unproved(f"claim {v.claim} is {v.kind.name}: {v.reason}", tuple(self.claims))
