"""Mutants: one wrong line each, and the tests that must fail because of it."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The list of the project's mutants.
LIST = Path(__file__).with_name("mutants.toml")

_KEYS = ("name", "layer", "file", "text", "becomes", "tests")


class MutantError(Exception):
    """An entry of the list is no mutant of the sources as they are."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One place of the package written otherwise."""

    #: What is wrong with it, in a few words.
    name: str
    #: The layer of the package that it is in.
    layer: str
    #: The file, relative to the root of the repository.
    file: str
    #: What stands there, exactly once, and what is put in its place.
    text: str
    becomes: str
    #: Test files, or tests by their pytest names, of which one must fail.
    tests: tuple[str, ...]

    def changed(self, root: Path) -> str:
        """The file's source with the mutant in it.

        Errors: MutantError where the text does not stand there exactly once, or where the change is none
        to Python: a comment, a docstring, a line broken otherwise.
        """
        source = (root / self.file).read_text(encoding="utf-8")
        found = source.count(self.text)
        if found != 1:
            raise MutantError(
                f"expected the text of {self.name!r} once in {self.file}, but it is there {found} times"
            )
        made = source.replace(self.text, self.becomes)
        try:
            tree = ast.parse(made)
        except SyntaxError as error:
            raise MutantError(f"expected Python of {self.name!r}, but got {error}") from error
        if _meaning(tree) == _meaning(ast.parse(source)):
            raise MutantError(
                f"expected a change of meaning of {self.name!r}, but there is none in {self.file}"
            )
        return made


def _meaning(tree: ast.Module) -> str:
    """A module's syntax tree as text, docstrings left out."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            first = body[0].value
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                body[0] = ast.Pass()
    return ast.dump(tree)


def read(path: Path = LIST) -> list[Mutant]:
    """The mutants of a list; MutantError for an entry that is not complete or a name given twice."""
    rows: list[Mapping[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    mutants = []
    for row in rows:
        if sorted(row) != sorted(_KEYS) or not row["tests"]:
            raise MutantError(f"expected the keys {', '.join(_KEYS)}, but got {', '.join(row)}")
        mutants.append(Mutant(**{**row, "tests": tuple(row["tests"])}))
    twice = {m.name for m in mutants if sum(m.name == other.name for other in mutants) > 1}
    if twice:
        raise MutantError(f"expected every name once, but got {', '.join(sorted(twice))} more than once")
    return mutants


def named_tests(mutants: Iterable[Mutant]) -> list[str]:
    """Every test that some mutant names, once; none inside a file that is named as a whole."""
    named = dict.fromkeys(test for mutant in mutants for test in mutant.tests)
    return [test for test in named if "::" not in test or test.partition("::")[0] not in named]
