"""Programs over units: parsed from a file or text, with parameters, and compiled for a vector length.

A file is TOML with the keys `title`, `source`, `inputs`, `parameters`, `body` and `note`.  The body is a few
statements in Python syntax; it is parsed, checked and unrolled here, and never executed by Python.
"""

from __future__ import annotations

import ast
import inspect
import operator
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from tcformal.checks import check_choice, check_int, check_text, read_int, shown
from tcformal.design.aliases import ALIASES
from tcformal.design.names import FAMILIES, resolve
from tcformal.design.short_names import processor
from tcformal.design.steps import CallStep, InputStep, ProgramPlan
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format
from tcformal.errors import InputError, TcformalError
from tcformal.files import read_named
from tcformal.programs import functions
from tcformal.programs.functions import Builder, Exact, Power, StepValue, rounded
from tcformal.shown import Shown, short

FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(functions, name)
    for name in (
        "convert", "add", "sub", "mul", "div", "fma", "scale", "split", "call", "headroom", "magnitude",
        "largest", "root", "exponent", "blocks", "parts", "elements", "repeat", "chain", "pairwise",
    )
} | {
    "len": functions.length, "min": functions.least,
    "range": lambda builder, *ends: range(*(check_int("an end of range", x) for x in ends)),
}  # fmt: skip
#: Steps that a program may have, all loops unrolled, and rounds that all its loops may take together.
_MOST_STEPS, _MOST_ROUNDS = 1 << 18, 1 << 17
#: Operators on what is known before the program runs.
_STATIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
#: The largest power of two that a program may write out.
_LARGEST_POWER = 40000
#: Bits of a number that is known before the program runs.
_LONGEST_NUMBER = 1 << 17


class _Compiler:
    """A compiler of a program for vectors of `products` elements.

    Errors: InputError with the program's name and the line for what does not fit.
    """

    def __init__(
        self, name: str, inputs: Mapping[str, Format], settings: Mapping[str, Any], products: int
    ) -> None:
        self.name = name
        self.builder = Builder()
        self.rounds = 0
        self.products = products
        self.known = dict(settings)
        for letter, fmt in inputs.items():
            length = None if letter == "c" else products
            step = InputStep(fmt=fmt, length=length, name=letter, letter=letter)
            self.known[letter] = self.builder.add(step)

    def run(self, body: ast.Module) -> ProgramPlan:
        """Compile the body; the result is the variable d."""
        self.statements(body.body)
        d = self.known.get("d")
        if not isinstance(d, StepValue) or d.length is not None:
            raise InputError(f"expected the program {self.name} to give a scalar d, but it gives {_shown(d)}")
        return ProgramPlan(tuple(self.builder.steps), d.index, self.products)

    @contextmanager
    def _at(self, node: ast.stmt) -> Iterator[None]:
        try:
            yield
        except _PlacedError:
            raise
        except (TcformalError, ValueError, TypeError, ZeroDivisionError) as error:
            raise _PlacedError(f"in line {node.lineno} of the program {self.name}: {error}") from error
        except RecursionError:
            sentence = f"expected fewer brackets in line {node.lineno} of the program {self.name}"
            raise _PlacedError(f"{sentence}, but they are nested too deeply") from None

    # ------------------------------------------------------------------ statements
    def statements(self, body: list[ast.stmt]) -> None:
        """Compile statements in order."""
        for node in body:
            with self._at(node):
                self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        """Compile one statement: an assignment, a loop over blocks, or a choice by a parameter."""
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            with self.builder.naming(_spelled(target).strip("()").replace(", ", "+")):
                value = self.value(node.value)
                self.assign(target, value)
                if isinstance(target, ast.Tuple):
                    for name, item in zip(target.elts, self.several(value), strict=True):
                        if isinstance(item, StepValue):
                            self.builder.rename(item, _spelled(name))
        elif isinstance(node, ast.For) and not node.orelse:
            for i, item in enumerate(self.items(node.iter)):
                with self.builder.round(i):
                    self.assign(node.target, item)
                    self.statements(node.body)
        elif isinstance(node, ast.If):
            self.statements(node.body if self.truth(node.test) else node.orelse)
        else:
            raise InputError(f"expected an assignment, for or if, but got {_short(node)!r}")

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind a name, or a tuple of names, to a value."""
        if isinstance(target, ast.Name):
            if target.id in FUNCTIONS:
                raise InputError(f"expected a name of a variable, but {target.id} is a function")
            self.known[target.id] = value
            return
        if not isinstance(target, (ast.Tuple, ast.List)):
            raise InputError(f"expected a name to assign to, but got {_short(target)!r}")
        items = self.several(value)
        if len(items) != len(target.elts):
            raise InputError(f"expected {len(target.elts)} values, but got {len(items)}")
        for one, item in zip(target.elts, items, strict=True):
            self.assign(one, item)

    def several(self, value: Any) -> list[Any]:
        """The values of a tuple assignment: the items of a list, or the elements of a vector."""
        if isinstance(value, StepValue) and value.length is not None:
            return [self.builder.element(value, i) for i in range(value.length)]
        return list(value) if isinstance(value, (list, tuple)) else [value]

    def items(self, node: ast.expr) -> list[Any]:
        """The sequence that a loop iterates over."""
        values = self.value(node)
        if isinstance(values, StepValue) and values.length is not None:
            values = self.several(values)
        if not isinstance(values, (list, tuple, range)):
            raise InputError(
                f"expected blocks, parts, elements or range for a loop, but got {_shown(values)}"
            )
        self.rounds += len(values)
        if self.rounds > _MOST_ROUNDS or len(self.builder.steps) > _MOST_STEPS:
            raise InputError(f"expected at most {_MOST_ROUNDS} rounds of loops, but got more")
        return list(values)

    def truth(self, node: ast.expr) -> bool:
        """The value of a compile-time condition."""
        value = self.value(node)
        if not isinstance(value, (bool, int)):
            raise InputError(f"expected a condition on parameters, but got {_shown(value)}")
        return bool(value)

    # ------------------------------------------------------------------ expressions
    def value(self, node: ast.expr) -> Any:
        """The value of an expression: a compile-time constant, or a step's value."""
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        if handler is None:
            raise InputError(f"expected an expression of this language, but got {_short(node)!r}")
        return handler(node)

    def _constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, float):
            return Fraction(node.value)
        if isinstance(node.value, (int, str)):
            return node.value
        raise InputError(f"expected a number or a name, but got {node.value!r}")

    def _name(self, node: ast.Name) -> Any:
        # A name that nothing has bound stands for itself: a format, a rounding.
        return self.known.get(node.id, node.id)

    def _tuple(self, node: ast.Tuple) -> list[Any]:
        return [self.value(x) for x in node.elts]

    def _list(self, node: ast.List) -> Any:
        return self._joined([self.value(x) for x in node.elts])

    def _listcomp(self, node: ast.ListComp) -> Any:
        if len(node.generators) != 1 or node.generators[0].ifs:
            raise InputError(f"expected one for without conditions, but got {_short(node)!r}")
        before, items = dict(self.known), []
        for i, item in enumerate(self.items(node.generators[0].iter)):
            with self.builder.round(i):
                self.assign(node.generators[0].target, item)
                items.append(self.value(node.elt))
        self.known = before
        return self._joined(items)

    def _joined(self, items: list[Any]) -> Any:
        scalars = all(isinstance(x, StepValue) and x.length is None for x in items)
        return self.builder.join(items) if items and scalars else items

    def _attribute(self, node: ast.Attribute) -> int:
        owner = self.value(node.value)
        if node.attr != "k" or not isinstance(owner, str):
            raise InputError(f"expected UNIT.k, but got {_short(node)!r}")
        return resolve(owner).k

    def _subscript(self, node: ast.Subscript) -> Any:
        owner, place = self.value(node.value), self.value(node.slice)
        if isinstance(place, bool) or not isinstance(place, int):
            raise InputError(f"expected an integer in brackets, but got {_shown(place)}")
        if isinstance(owner, StepValue) and owner.length is not None:
            if not 0 <= place < owner.length:
                raise InputError(f"expected an element from 0 to {owner.length - 1}, but got {place}")
            return self.builder.element(owner, place)
        if isinstance(owner, (list, tuple)) and 0 <= place < len(owner):
            return owner[place]
        raise InputError(f"expected an element that is there, but got {_short(node)!r}")

    def _ifexp(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.truth(node.test) else node.orelse)

    def _compare(self, node: ast.Compare) -> bool:
        how = _COMPARISONS.get(type(node.ops[0]))
        left, right = self.value(node.left), self.value(node.comparators[0])
        dynamic = isinstance(left, (StepValue, Exact, Power)) or isinstance(right, (StepValue, Exact, Power))
        if how is None or len(node.ops) != 1 or dynamic:
            raise InputError(f"expected a comparison of parameters, but got {_short(node)!r}")
        return bool(how(left, right))

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        x = self.value(node.operand)
        if isinstance(node.op, ast.Not) and isinstance(x, bool):
            return not x
        if not isinstance(node.op, ast.USub) or isinstance(x, (str, list)):
            raise InputError(f"expected - before a number, but got {_short(node)!r}")
        if isinstance(x, (StepValue, Exact)):
            return self.builder.exact(x).negated()
        return -x

    def _binop(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Pow):
            return _power(left, right)
        dynamic = [isinstance(x, (StepValue, Exact)) for x in (left, right)]
        if not any(dynamic):
            if isinstance(node.op, ast.Div):
                return _bounded(Fraction(left) / Fraction(right))
            how = _STATIC.get(type(node.op))
            if how is None or isinstance(left, (str, list)) or isinstance(right, (str, list)):
                raise InputError(f"expected + - * // / % or ** of numbers, but got {_short(node)!r}")
            return _bounded(how(left, right))
        return rounded(self.builder, type(node.op), left, right)

    def _call(self, node: ast.Call) -> Any:
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            names = ", ".join(sorted(FUNCTIONS))
            raise InputError(f"expected a function of this language ({names}), but got {_short(node.func)!r}")
        args = [self.value(x) for x in node.args]
        options = {x.arg: self.value(x.value) for x in node.keywords if x.arg is not None}
        function = FUNCTIONS[node.func.id]
        _check_arguments(function, len(args), tuple(options))
        return function(self.builder, *args, **options)


@cache
def _check_arguments(function: Callable[..., Any], places: int, options: tuple[str, ...]) -> None:
    """Raise TypeError unless a function accepts these positional and keyword arguments."""
    inspect.signature(function).bind(None, *[None] * places, **dict.fromkeys(options))


class _PlacedError(InputError):
    """An error with its place in the program."""


def _power(base: Any, exponent: Any) -> Fraction | int:
    if base != 2 or isinstance(exponent, bool) or not isinstance(exponent, int):
        raise InputError(f"expected a power of two, but got {_shown(base)} ** {_shown(exponent)}")
    if abs(exponent) > _LARGEST_POWER:
        raise InputError(f"expected an exponent of at most {_LARGEST_POWER}, but got {exponent}")
    return Fraction(2) ** exponent if exponent < 0 else 1 << exponent


def _bounded(x: Any) -> Any:
    """A compile-time number after a check of its size."""
    if (
        isinstance(x, (int, Fraction))
        and max(x.numerator.bit_length(), x.denominator.bit_length()) > _LONGEST_NUMBER
    ):
        raise InputError(f"expected numbers of at most {_LONGEST_NUMBER} bits, but got a longer one")
    return x


def _spelled(target: ast.expr) -> str:
    """The source text of an assignment target."""
    return target.id if isinstance(target, ast.Name) else ast.unparse(target)


def _short(node: ast.AST) -> str:
    return ast.unparse(node)[:80]


def _shown(x: Any) -> str:
    if isinstance(x, StepValue):
        return f"a vector of {x.length} {x.fmt}" if x.length is not None else f"a scalar of {x.fmt}"
    if isinstance(x, (Exact, Power)):
        return "a number that is not rounded to a format" if isinstance(x, Exact) else "an exponent"
    return "nothing" if x is None else repr(x)[:80]


#: Bytes of a file, and elements of the longest vectors.
_LARGEST_FILE, LONGEST = 1 << 20, 1 << 16
_KEYS = ("title", "source", "note", "inputs", "parameters", "body")
_NEEDED = ("title", "source", "inputs", "body")
_LETTERS = ("a", "b", "c")
_LIBRARY = Path(__file__).resolve().parent / "library"

#: What a parameter can be.
ProgramSetting = str | int | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Program(Shown):
    """A dot product d = Σ a_k·b_k + c, computed by a program over units.

    Shapes: a, b: vectors of n elements; c and d: scalars; n is chosen when the program is compiled.
    Errors: InputError for inputs other than a, b and c, formats or text that do not fit.
    Source: `source`.

    Examples:
        >>> tcformal.program("markidis").program.parameters
        {'unit': 'ampere/mma.m16n8k8.f32.f16.f16.f32', 'word': 'fp16', 'rounding': 'RNE'}
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

    def _summary(self) -> str:
        return f"Program {short(self.name, 60)}: {self.title}"

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
        return replace(self, name=name, parameters=merged)

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


# A program's mappings are compared, but not hashed.
@lru_cache(maxsize=64)
def _plan(p: Program, products: int) -> ProgramPlan:
    formats = {letter: p.input_format(letter) for letter in _LETTERS}
    return _Compiler(p.name, formats, p.parameters, products).run(_parsed(p.name, p.body))


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
    return Program(name=name, **{**data, "inputs": inputs})


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
        # Parameters within a value are those of a unit, whose name has an @.
        if "@" not in value and (other := re.search(r",\s*(\w+)\s*=", value)):
            check_choice(f"parameter of {p.name}", other[1], p.parameters)
        values[key] = value
    return values


def names_a_program(name: str) -> bool:
    """Whether a name denotes a program, maybe misspelt, or a file, not a unit."""
    base = name.strip().partition("@")[0]
    if base.endswith(".toml") or base in known_programs():
        return True
    of_units = "/" in base or base in FAMILIES or base in ALIASES or processor(base.partition(":")[0])
    return not of_units and bool(get_close_matches(base.lower(), known_programs(), 1, 0.7))


def program_of(x: str | Program) -> Program:
    """The program of an argument that is a name or a program; InputError for anything else."""
    if isinstance(x, Program):
        return x
    if isinstance(x, str):
        return program(x)
    raise InputError(f"expected a program or its name, but got {shown(x)}")
