"""The registry of solvers for the portfolio: one line each; no solver is imported here."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.checks import unknown_sentence
from tcformal.errors import InputError, MissingSolverError, NoAnswerError, UnknownNameError
from tcformal.installed import install


@dataclass(frozen=True, slots=True)
class Member:
    """A solver in the registry: its package, its runner, and its encoding."""

    #: The package on PyPI.
    distribution: str
    #: `module:function` of its runner, which only a worker imports.
    runner: str
    #: Whether it decides our own clauses and proves what it finds unsatisfiable.  Two such members see
    #: the same clauses and so do not confirm each other; a checked proof confirms either.
    proves: bool = False
    #: The extra that brings the package; empty for the extra `solvers`.
    extra: str = ""

    def confirms(self, other: Member) -> bool:
        """Whether this member's UNSAT is independent evidence for an UNSAT of `other`."""
        return self.distribution != other.distribution and not (self.proves and other.proves)

    @property
    def version(self) -> str:
        """The installed version of the package; empty when it is not installed."""
        return _version(self.distribution)


@functools.cache
def _version(distribution: str) -> str:
    # Imported when first asked: workers never ask, and it would be a third of their start.
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


#: Every member by name; which of them a portfolio starts first is measured (solve.order).
registry: dict[str, Member] = {
    "kissat": Member("passagemath-kissat", "tcformal.solve.sat:run_kissat", proves=True, extra="kissat"),
    "glucose": Member("python-sat", "tcformal.solve.sat:run_glucose", proves=True),
    "bitwuzla": Member("bitwuzla", "tcformal.solve.runners:run_bitwuzla"),
    "cadical": Member("python-sat", "tcformal.solve.sat:run_cadical", proves=True),
    "z3": Member("z3-solver", "tcformal.solve.runners:run_z3"),
    "cvc5": Member("cvc5", "tcformal.solve.runners:run_cvc5"),
}


def available() -> tuple[str, ...]:
    """The members whose package is installed, in the order of the registry."""
    return tuple(name for name, member in registry.items() if member.version)


def check_members(names: Sequence[str]) -> tuple[str, ...]:
    """Return `names` after a check that each solver is known, installed and named once.

    Errors: UnknownNameError naming close matches, MissingSolverError naming the package to install,
    InputError for no name at all or a name given twice.
    """
    for name in names:
        if name not in registry:
            raise UnknownNameError(unknown_sentence("solver", name, list(registry)))
        member = registry[name]
        if not member.version:
            raise MissingSolverError(
                f"expected solver {name} to be installed, but its package is missing: "
                + (install(member.extra) if member.extra else f"pip install {member.distribution}")
            )
    if not names or len(set(names)) != len(names):
        raise InputError(f"expected one or more different solvers, but got {', '.join(names) or 'none'}")
    return tuple(names)


def default_members() -> tuple[str, ...]:
    """Every member that is installed; NoAnswerError when there is none."""
    names = available()
    if not names:
        how = install("solvers")
        raise NoAnswerError(f"expected at least one solver to be installed, but found none: {how}")
    return names
