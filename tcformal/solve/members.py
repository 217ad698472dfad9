"""The solvers that a portfolio can ask: one line each, and no solver is imported here."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.checks import unknown_sentence
from tcformal.errors import InputError, MissingSolverError, NoAnswerError, UnknownNameError


@dataclass(frozen=True, slots=True)
class Member:
    """Where one member comes from."""

    #: The package on PyPI; two members of one package do not confirm each other.
    distribution: str
    #: `module:function` of its runner, which only a worker imports.
    runner: str

    @property
    def version(self) -> str:
        """The installed version of the package; empty when it is not installed."""
        try:
            return importlib.metadata.version(self.distribution)
        except importlib.metadata.PackageNotFoundError:
            return ""


#: Every member by name, in the order in which a portfolio starts them.
registry: dict[str, Member] = {
    "bitwuzla": Member("bitwuzla", "tcformal.solve.runners:run_bitwuzla"),
    "cvc5": Member("cvc5", "tcformal.solve.runners:run_cvc5"),
    "z3": Member("z3-solver", "tcformal.solve.runners:run_z3"),
}


def available() -> tuple[str, ...]:
    """The members whose package is installed, in the order of the registry."""
    return tuple(name for name, member in registry.items() if member.version)


def check_members(names: Sequence[str]) -> tuple[str, ...]:
    """Return `names` if each is known, installed and named once.

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
                f"pip install {member.distribution}"
            )
    if not names or len(set(names)) != len(names):
        raise InputError(f"expected one or more different solvers, but got {', '.join(names) or 'none'}")
    return tuple(names)


def default_members() -> tuple[str, ...]:
    """Every member that is installed; NoAnswerError when there is none."""
    names = available()
    if not names:
        packages = " ".join(member.distribution for member in registry.values())
        raise NoAnswerError(
            f"expected at least one solver to be installed, but found none: pip install {packages}"
        )
    return names
