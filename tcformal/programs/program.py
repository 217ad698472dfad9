"""Programs over units: parsed from a file or text, with parameters, and compiled for a vector length.

A file is TOML with the keys `title`, `source`, `inputs`, `parameters`, `body` and `note`.  The body is a few
statements in Python syntax; it is parsed, checked and unrolled here, and never executed by Python.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from tcformal.checks import check_choice, check_int, check_text, read_int, shown
from tcformal.design.steps import CallStep, ProgramPlan
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.files import read_named
from tcformal.programs.compiler import compile_plan

#: Bytes of a file, and elements of the longest vectors.
_LARGEST_FILE, LONGEST = 1 << 20, 1 << 16
_KEYS = ("title", "source", "note", "inputs", "parameters", "body")
_NEEDED = ("title", "source", "inputs", "body")
_LETTERS = ("a", "b", "c")
_LIBRARY = Path(__file__).resolve().parent / "library"

#: What a parameter can be.
ProgramSetting = str | int | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A dot product d = Σ a_k·b_k + c, computed by a program over units.

    Shapes: a, b: vectors of n elements; c and d: scalars; n is chosen when the program is compiled.
    Errors: InputError for inputs other than a, b and c, formats or text that do not fit.
    Source: `source`.
    """

    #: `NAME` or `NAME@parameter=value,…`: what `program` finds it by.
    name: str
    title: str
    source: str
    #: Formats of a, b and c.
    inputs: Mapping[str, str] = field(hash=False)
    #: The statements; the result is the variable d.
    body: str
    #: What may be set in the name, with the values.
    parameters: Mapping[str, ProgramSetting] = field(default_factory=dict, hash=False)
    note: str = ""

    def __post_init__(self) -> None:
        for letter in (*_LETTERS, *self.inputs):
            if letter not in self.inputs or letter not in _LETTERS:
                got = ", ".join(self.inputs)
                raise InputError(f"expected inputs a, b and c for {self.name}, but got {got}")
        for name, value in self.parameters.items():
            if not name.isidentifier() or not isinstance(value, (str, int, bool)):
                raise InputError(
                    f"expected parameters of {self.name} that are texts, integers or true and false, "
                    f"but got {name} = {shown(value)}"
                )
        _parsed(self.name, self.body)

    def input_format(self, letter: str) -> Format:
        """The format of a, b or c, which may be a parameter."""
        text = self.inputs[check_choice("input", letter, _LETTERS)]
        return format_named(str(self.parameters.get(text, text)))

    def plan(self, products: int) -> ProgramPlan:
        """Compile the program for vectors of `products` elements.

        Errors: InputError with the line for what does not fit.
        """
        return _plan(self, check_int("the number of products", products, low=1, high=LONGEST))

    def with_settings(self, **settings: ProgramSetting) -> Program:
        """The program with other parameter values; UnknownNameError for an unknown parameter."""
        base = self.name.partition("@")[0]
        merged = dict(self.parameters)
        for key, value in settings.items():
            check_choice(f"parameter of {base}", key, merged)
            merged[key] = _like(f"{key} of {base}", merged[key], value)
        changed = ",".join(f"{k}={_text(v)}" for k, v in merged.items() if k in settings)
        name = f"{base}@{changed}" if changed else base
        return Program(
            name=name, title=self.title, source=self.source, inputs=self.inputs, body=self.body,
            parameters=merged, note=self.note,
        )  # fmt: skip

    def units(self, products: int) -> tuple[UnitSpec, ...]:
        """The units that the program calls for `products` products, in order of first use."""
        called = [s.unit for s in self.plan(products).steps if isinstance(s, CallStep)]
        return tuple(dict.fromkeys(called))


@lru_cache(maxsize=64)
def _parsed(name: str, body: str) -> ast.Module:
    try:
        return ast.parse(body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = f" in line {line}" if line else ""
        raise InputError(f"expected statements of the language{where} of {name}, but got {error}") from None


#: Compiled plans by program and length: a program's mappings are compared, but not hashed.
_PLANS: dict[tuple[Program, int], ProgramPlan] = {}


def _plan(p: Program, products: int) -> ProgramPlan:
    plan = _PLANS.get((p, products))
    if plan is None:
        formats = {letter: p.input_format(letter) for letter in _LETTERS}
        plan = compile_plan(p.name, _parsed(p.name, p.body), formats, p.parameters, products)
        if len(_PLANS) >= 64:
            _PLANS.pop(next(iter(_PLANS)))
        _PLANS[p, products] = plan
    return plan


def _text(value: ProgramSetting) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _like(name: str, old: ProgramSetting, new: Any) -> ProgramSetting:
    """A parameter's new value, converted to the type of its default or rejected."""
    if isinstance(old, bool):
        if isinstance(new, bool):
            return new
        return check_choice(name, str(new).lower(), ("true", "false")) == "true"
    if isinstance(old, int):
        return read_int(name, new) if isinstance(new, str) else check_int(name, new)
    return check_text(name, new)


def read_program(data: Mapping[str, Any], name: str) -> Program:
    """Read a program from the data of its file.

    Errors: InputError for a key that is missing, unknown or of another kind.
    """
    for key in data:
        check_choice(f"key of the program {name}", key, _KEYS)
    for key in _NEEDED:
        if key not in data:
            raise InputError(f"expected the key {key} in the program {name}, but there is none")
    for key in ("title", "source", "body", "note"):
        check_text(f"{key} of the program {name}", data.get(key, ""))
    for key in ("inputs", "parameters"):
        if not isinstance(data.get(key, {}), Mapping):
            raise InputError(f"expected a table for {key} of the program {name}, but got {shown(data[key])}")
    inputs = {k: check_text(f"input {k} of the program {name}", v) for k, v in data["inputs"].items()}
    return Program(
        name=name, title=data["title"], source=data["source"], inputs=inputs, body=data["body"],
        parameters=dict(data.get("parameters", {})), note=data.get("note", ""),
    )  # fmt: skip


def load_program(path: Path, name: str | None = None) -> Program:
    """Load a program from a file; InputError, naming the file, for an invalid one."""
    text = read_named(path, "a program", _LARGEST_FILE)
    try:
        data = tomllib.loads(text)
    except ValueError as error:
        raise InputError(f"expected TOML in {path}, but {error}") from error
    except RecursionError:
        raise InputError(f"expected TOML in {path}, but its brackets are nested too deeply") from None
    return read_program(data, name or str(path))


def known_programs() -> dict[str, Path]:
    """The built-in programs, by name."""
    return {p.stem: p for p in sorted(_LIBRARY.glob("*.toml"))}


@lru_cache(maxsize=64)
def _from_library(name: str) -> Program:
    return load_program(known_programs()[name], name)


def program(name: str) -> Program:
    """Look up a program: `NAME`, `FILE.toml`, or either with `@parameter=value,…`.

    Ranges and units: the value of a parameter ends where the next one's name begins, so that a unit with
    altered parameters may be one.
    Errors: UnknownNameError with the closest names; InputError for a file or value that does not fit.
    """
    base, at, text = check_text("the name of a program", name).strip().partition("@")
    if base.endswith(".toml"):
        found = load_program(Path(base))
    else:
        found = _from_library(check_choice("program", base, known_programs()))
    if not at:
        return found
    return found.with_settings(**_settings(text, found))


def _settings(text: str, p: Program) -> dict[str, ProgramSetting]:
    names = "|".join(map(re.escape, p.parameters))
    pieces = re.split(rf",(?=(?:{names})=)", text) if names else [text]
    values: dict[str, ProgramSetting] = {}
    for piece in pieces:
        key, equals, value = (x.strip() for x in piece.partition("="))
        check_choice(f"parameter of {p.name}", key, p.parameters)
        if not equals or not value:
            raise InputError(f"expected {key}=VALUE, but got {piece!r}")
        if key in values:
            raise InputError(f"expected each parameter once, but got {key} twice")
        values[key] = value
    return values


def names_a_program(name: str) -> bool:
    """Whether a name denotes a program or a file, not a unit."""
    base = name.strip().partition("@")[0]
    return base.endswith(".toml") or base in known_programs()


def program_of(x: str | Program) -> Program:
    """The program of an argument that is a name or a program; InputError for anything else."""
    if isinstance(x, Program):
        return x
    if isinstance(x, str):
        return program(x)
    raise InputError(f"expected a program or its name, but got {shown(x)}")
