"""Solver limits, solver answers, and the decision of a portfolio."""

from __future__ import annotations

import enum
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

from tcformal.checks import check_int, check_positive, shown
from tcformal.errors import InputError

if TYPE_CHECKING:  # a solver's process makes none, and would load a checker for it
    from tcformal.solve.certificate import Certificate

#: Seconds that a solver may be given at most: thirty years, which every system's limits can hold.
MOST_SECONDS = 10**9

#: MiB that a solver may be given at most.
MOST_MEMORY_MB = 1 << 40

#: Bytes of a proof that a solver may write.
LARGEST_PROOF = 1 << 31


class Status(enum.Enum):
    """The status of one solver's answer, or of a decision."""

    SAT = "sat"
    UNSAT = "unsat"
    UNKNOWN = "unknown"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASH = "crash"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of each solver in a portfolio; InputError for useless values.

    Examples:
        >>> tcformal.Limits(time_s=5)
        Limits(time_s=5, memory_mb=8192, seed=0)
    """

    #: Wall time of one solver, its start included, in seconds.
    time_s: float = 60.0
    #: Address space of one solver's process, in MiB.
    memory_mb: int = 8192
    #: Seed of the solvers' random choices.
    seed: int = 0

    def __post_init__(self) -> None:
        if not check_positive("time_s", self.time_s) <= MOST_SECONDS:
            raise InputError(f"expected at most {MOST_SECONDS} s for time_s, but got {shown(self.time_s)}")
        check_int("memory_mb", self.memory_mb, low=1, high=MOST_MEMORY_MB)
        check_int("seed", self.seed, low=0, high=2**31 - 1)

    def to_json(self) -> dict[str, float]:
        """The limits as plain data, from which `Limits(**…)` rebuilds them."""
        return asdict(self)


class RunnerOutcome(NamedTuple):
    """The outcome of a runner: SAT with an assignment, or another status."""

    status: Status
    model: dict[str, int] | None = None
    reason: str = ""
    #: For UNSAT of our own clauses, the proof in DRAT text.
    proof: str = ""


_MEMORY_WORDS = re.compile(
    r"out of memory|memoryerror|memout|bad_alloc|cannot allocate memory|failed to map segment", re.IGNORECASE
)


def is_out_of_memory(text: str) -> bool:
    """Whether an error message reports exhausted memory."""
    return _MEMORY_WORDS.search(text) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class SolverAnswer:
    """The answer of one solver."""

    #: The member's name in the portfolio.
    solver: str
    #: The version of its package, empty when it is not installed.
    version: str
    status: Status
    #: A value for every input of the graph (0 where the question does not mention it); SAT only.
    model: dict[str, int] | None = None
    #: The worker's own count, or the wall time of a process that gave none.
    seconds: float
    #: One sentence on how it came to this status; empty for a plain SAT or UNSAT.
    reason: str = ""

    def to_json(self) -> dict[str, str | float]:
        """The answer as plain data: solver, status and time."""
        return {
            "name": self.solver,
            "version": self.version,
            "answer": self.status.value,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """The decision of a portfolio, with every member's answer, stopped members included.

    `status` is SAT (the model replays), UNSAT, UNKNOWN, TIMEOUT, or CRASH: every member failed, or
    `disagreement` says that two answers cannot both be right.
    """

    status: Status
    #: The model that settled a SAT.
    model: dict[str, int] | None = None
    #: In the order in which the members ended.
    answers: tuple[SolverAnswer, ...]
    #: The members whose UNSAT agrees with the first one's.
    confirmed_by: tuple[str, ...] = ()
    #: The checked proof of an UNSAT, when there is one.
    certificate: Certificate | None = None
    #: One sentence.
    reason: str
    #: True when a model does not replay, or SAT stands against UNSAT.
    disagreement: bool = False
