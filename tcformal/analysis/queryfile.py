"""Query files: one question of the literature per TOML file; reading, checking, and expansion of parameters.

A file has a title, a source, the formula as the source writes it, parameters with defaults, and one or
more `[[ask]]` tables, each of one of seven kinds (queries/README.md says all of it to those who write one):

* `separate = [A, B]`: do two designs differ (SEPARATED, EQUIVALENT)?
* `property = NAME`, `unit = U`: does a property of `query.properties` hold of one unit (HOLDS, VIOLATED)?
* `claim = NAME`, `unit = U`: the same for a claim that is proved in steps;
* `algorithm = {…}`: is one algorithm ever worse than another, or, with `search`, by how much at most?
* `unit = U`, `a`, `b`, `c`, `d`: does the unit give d on this input (REPRODUCED, DIFFERENT)?

`cases` asks once for each row of values, `pairs` once for each two of a list (named `x` and `y`); texts
hold them and the parameters in braces: `valpey@terms={terms}`.  `expected` is what we expect and
`reported` what the source says; where the two differ, `deviation` says why.
"""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema

from tcformal.checks import check_choice, read_int, shown
from tcformal.errors import InputError
from tcformal.files import read_named

#: Bytes of a query file, characters of one of its texts when filled, and questions that it may ask.
_LARGEST_FILE, _LONGEST_TEXT, _MOST_ASKS = 1 << 22, 10_000, 10_000

#: A text is cut at its braces; `{name}`, and nothing more, is a place for a value.
_BRACES = re.compile(r"(\{[^{}]*\})")
_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z_0-9]*)\}")

#: What fills a placeholder.
ParameterValue = str | int

#: Keys of an ask that are not handed on to the question.
_FRAME = ("name", "cases", "pairs", "expected", "reported", "deviation")


#: The keys that say of which kind an ask is; without one it is evaluated.
KINDS = ("separate", "property", "claim", "algorithm", "error", "measure")


@dataclass(frozen=True, slots=True)
class Ask:
    """One concrete question of a query file."""

    #: What it is called in tables, values filled in.
    name: str
    #: The `[[ask]]` of the file that it is made of, from 1.
    number: int
    #: `separate`, `property`, `claim`, `algorithm`, `largest` or `evaluate`.
    kind: str
    #: What is asked, values filled in: the keys of the file without its frame.
    body: Mapping[str, Any]
    expected: str
    reported: str
    deviation: str


@dataclass(frozen=True, slots=True)
class QueryFile:
    """A parsed and validated query file."""

    #: The path below the folder of queries without its ending: `valpey/carry-bits`.
    name: str
    path: Path
    title: str
    source: str
    formula: str
    note: str
    parameters: Mapping[str, ParameterValue]
    asks: tuple[Mapping[str, Any], ...]

    def concrete(self, settings: Mapping[str, str] | None = None) -> list[Ask]:
        """Every question of the file with its parameters substituted.

        Errors: UnknownNameError for a setting that is no parameter, InputError for a value that is no
        integer where the default is one, or a placeholder that nothing fills.
        """
        values = {**self.parameters, **self._settings(settings or {})}
        asks = (ask for i, table in enumerate(self.asks, 1) for ask in self._asks(i, table, values))
        questions = list(itertools.islice(asks, _MOST_ASKS + 1))
        if len(questions) > _MOST_ASKS:
            raise InputError(f"expected at most {_MOST_ASKS} questions in {self.path}, but there are more")
        return questions

    def _settings(self, settings: Mapping[str, str]) -> dict[str, ParameterValue]:
        settings_read: dict[str, ParameterValue] = {}
        for name, text in settings.items():
            check_choice(f"parameter of {self.name}", name, self.parameters)
            number = isinstance(self.parameters[name], int)
            settings_read[name] = read_int(f"{name} of {self.name}", text) if number else text
        return settings_read

    def _asks(
        self, number: int, table: Mapping[str, Any], values: Mapping[str, ParameterValue]
    ) -> Iterator[Ask]:
        kind = next((k for k in KINDS if k in table), "evaluate")
        if kind == "algorithm" and "search" in table["algorithm"]:
            kind = "largest"
        cases: Iterable[Mapping[str, ParameterValue]] = table.get("cases", [{}])
        if "pairs" in table:
            pairs = table["pairs"]
            cases = ({**c, "x": x, "y": y} for c in cases for x, y in itertools.combinations(pairs, 2))
        for case in cases:
            parameters = {**values, **case}
            filled = {key: self._fill(number, key, value, parameters) for key, value in table.items()
                      if key not in ("cases", "pairs")}  # fmt: skip
            body = {key: value for key, value in filled.items() if key not in _FRAME}
            yield Ask(
                str(filled["name"]), number, kind, body, str(filled["expected"]),
                str(filled.get("reported", "")), str(filled.get("deviation", "")),
            )  # fmt: skip

    def _fill(self, number: int, key: str, value: Any, known: Mapping[str, ParameterValue]) -> Any:
        if isinstance(value, str):
            try:
                return _filled(value, known)
            except ValueError as error:
                names = ", ".join(known) or "no values"
                raise InputError(
                    f"expected only {names} in braces in {self.path}, ask {number}, key {key}, "
                    f"but got {shown(value)} ({error})"
                ) from error
        if isinstance(value, list):
            return [self._fill(number, key, item, known) for item in value]
        if isinstance(value, Mapping):
            return {k: self._fill(number, f"{key}.{k}", item, known) for k, item in value.items()}
        return value


def _filled(text: str, known: Mapping[str, ParameterValue]) -> str:
    """Substitute `{name}` in a text; other braces are errors.

    Errors: ValueError with the reason, also where the text would become longer than a question is.
    """
    filled = []
    for piece in _BRACES.split(text):
        name = _PLACE.fullmatch(piece)
        if name is None:
            if "{" in piece or "}" in piece:
                raise ValueError(f"no name in {shown(piece)}")
            filled.append(piece)
        elif name[1] in known:
            filled.append(str(known[name[1]]))
        else:
            raise ValueError(f"no value for {shown(name[1])}")
    text_filled = "".join(filled)
    if len(text_filled) > _LONGEST_TEXT:
        raise ValueError(f"it becomes {len(text_filled)} characters long, of at most {_LONGEST_TEXT}")
    return text_filled


@lru_cache(maxsize=1)
def validator() -> jsonschema.Draft202012Validator:
    """A validator of the query-file schema."""
    text = (resources.files("tcformal.analysis") / "query.schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def load(path: Path, name: str | None = None) -> QueryFile:
    """Read and check one file.

    Errors: InputError that names the file, the key and what was expected there.
    """
    text = read_named(path, "a query file", _LARGEST_FILE)
    try:
        data = tomllib.loads(text)
    except ValueError as error:  # also a number of thousands of digits
        raise InputError(f"expected TOML in {path}, but {error}") from error
    except RecursionError:
        raise InputError(f"expected TOML in {path}, but its brackets are nested too deeply") from None
    problem = jsonschema.exceptions.best_match(validator().iter_errors(data))
    if problem is not None:
        where = (
            ".".join(str(p + 1) if isinstance(p, int) else p for p in problem.absolute_path)
            or "the top level"
        )
        message = _which_kind(problem.instance) if problem.validator == "oneOf" else problem.message
        raise InputError(f"expected a query file in {path}, but at {where}: {message}")
    return QueryFile(
        name or path.stem, path, data["title"], data["source"], data.get("formula", ""), data.get("note", ""),
        data.get("parameters", {}), tuple(data["ask"]),
    )  # fmt: skip


def _which_kind(ask: Mapping[str, Any]) -> str:
    """The reason why an ask has no kind, or several."""
    kinds = [kind for kind in (*KINDS, "d") if kind in ask]
    if len(kinds) > 1:
        return f"expected one kind of question, but got {' and '.join(kinds)}"
    if not kinds:
        return (
            "expected separate, property, claim, algorithm, error, measure, or unit with a, b, c and d, "
            "but got none"
        )
    needed = ("unit", "a", "b", "c") if kinds == ["d"] else ("unit",)
    missing = [key for key in needed if key not in ask]
    return f"expected {kinds[0]} beside {', '.join(needed)}, but there is no {' and no '.join(missing)}"


def folder() -> Path:
    """The folder of the built-in queries, in the package or beside it in the repository."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "queries"
    return inside if inside.is_dir() else package.parent / "queries"


def known_queries() -> dict[str, Path]:
    """The built-in queries by name."""
    root = folder()
    return {p.relative_to(root).with_suffix("").as_posix(): p for p in sorted(root.rglob("*.toml"))}


def find(text: str) -> QueryFile:
    """Load the query with this name or file path; UnknownNameError without one."""
    queries = known_queries()
    if text in queries:
        return load(queries[text], text)
    if text.endswith(".toml"):
        return load(Path(text))
    check_choice("query", text, list(queries))
    raise AssertionError("unreachable")
