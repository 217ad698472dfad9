"""A witness: the operands of one dot product, as raw encodings, in records, files and commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError, RecordError
from tcformal.oracle.numerals import number_text, power_of_two
from tcformal.oracle.values import (
    ExactValue,
    NumberClass,
    decode,
    format_value,
    hex_word,
    parse_value,
    value_data,
)
from tcformal.semantics.chain import scale_count
from tcformal.shown import Shown


@dataclass(frozen=True, slots=True)
class Witness(Shown):
    """The operands of one dot product as raw encodings.

    Examples:
        >>> tcformal.separate("a100:fp16", "h100:fp16").witness
        <Witness of 16 products, 1 not 0·0: k=0 0x3c00·0x3c00, c=0xb3000000>
    """

    a: tuple[int, ...]
    b: tuple[int, ...]
    c: int
    #: One scale per block of k, for units with scales.
    scale_a: tuple[int, ...] = ()
    scale_b: tuple[int, ...] = ()

    def _summary(self) -> str:
        live = [i for i in range(len(self.a)) if self.a[i] or self.b[i]]
        products = ", ".join(f"k={i} {self.a[i]:#x}·{self.b[i]:#x}" for i in live[:2])
        more = ", …" if len(live) > 2 else ""
        return f"Witness of {len(self.a)} products, {len(live)} not 0·0: {products}{more}, c={self.c:#x}"

    def inputs(self) -> dict[str, int]:
        """The operands by the DAG's input names."""
        rows = {"a": self.a, "b": self.b, "scale_a": self.scale_a, "scale_b": self.scale_b}
        named = {f"{name}[{i}]": x for name, row in rows.items() for i, x in enumerate(row)}
        return named | {"c": self.c}

    @staticmethod
    def of(inputs: Mapping[str, int], k: int | None = None) -> Witness:
        """A witness from values by input name, with zero for inputs that a solver left unconstrained."""
        k = sum(name.startswith("a[") for name in inputs) if k is None else k

        def row(name: str, count: int) -> tuple[int, ...]:
            return tuple(inputs.get(f"{name}[{i}]", 0) for i in range(count))

        scales = [sum(name.startswith(f"scale_{letter}[") for name in inputs) for letter in "ab"]
        return Witness(
            row("a", k), row("b", k), inputs.get("c", 0), row("scale_a", scales[0]), row("scale_b", scales[1])
        )


# ---------------------------------------------------- Block scales: each product's exact factor, and its text
#: A factor is written as a decimal up to so many characters, then as an odd number times a power of two.
_SHORT = 6


def scale_ones(spec: UnitSpec, k: int) -> tuple[int, ...]:
    """One operand's scales of 1 for K products; none for a unit without scales."""
    return () if spec.scale_format is None else (spec.scale_format.one,) * scale_count(spec, k)


def scale_values(spec: UnitSpec, w: Witness, k: int) -> tuple[tuple[str, ExactValue], ...]:
    """The two scales of product k by name, `scale_a[0]` and `scale_b[0]`; none for units without scales."""
    if spec.scale_format is None or spec.scale_block is None:
        return ()
    i = k // spec.scale_block
    rows = (("scale_a", w.scale_a), ("scale_b", w.scale_b))
    return tuple((f"{name}[{i}]", decode(spec.scale_format, row[i])) for name, row in rows)


def factors(spec: UnitSpec, w: Witness) -> list[Fraction | None]:
    """The exact factor of each product: 1 without scales, None where a scale is NaN."""
    return [_factor([value for _, value in scale_values(spec, w, k)]) for k in range(len(w.a))]


def factor_texts(spec: UnitSpec, w: Witness) -> list[str]:
    """The text of each product's factor: `2^-3`, `1.75`, `225·2^-20`; empty for 1."""
    return [_text(factor) for factor in factors(spec, w)]


def _factor(scales: Sequence[ExactValue]) -> Fraction | None:
    from tcformal.oracle.products import multiply  # only what is explained needs it

    total = ExactValue(NumberClass.FINITE, magnitude=Fraction(1))
    for scale in scales:
        total = multiply(total, scale)
    return total.number if total.kind is NumberClass.FINITE else None


def _text(factor: Fraction | None) -> str:
    if factor is None:
        return "NaN"
    if factor == 1:
        return ""
    down = factor.denominator.bit_length() - 1
    up = (factor.numerator & -factor.numerator).bit_length() - 1 if factor else 0
    odd = factor / power_of_two(up - down)
    if odd == 1:
        return f"2^{up - down}"
    short = number_text(factor)
    return short if len(short) <= _SHORT else f"{number_text(odd)}·2^{up - down}"


# --------------------------------- Records: encodings in hex with exact values, rejected where the two differ
#: A witness in a record: each encoding in hex and as its exact value; c alone, every other operand as a list.
WitnessData = dict[str, dict[str, str] | list[dict[str, str]]]
#: The rows of a witness.
ROWS = ("a", "b", "scale_a", "scale_b")


def witness_data(formats: Mapping[str, Format], w: Witness) -> WitnessData:
    """A witness as plain data; `formats` are those of a, b, c and, for scaled units, of the scales."""
    rows = {
        name: [value_data(formats[name], x) for x in getattr(w, name)] for name in ROWS if name in formats
    }
    return {"scale_a": [], "scale_b": [], **rows, "c": value_data(formats["c"], w.c)}


def read_witness(
    formats: Mapping[str, Format], counts: Mapping[str, int], data: Mapping[str, Any]
) -> Witness:
    """Read a witness from a record; RecordError where encodings and values, or its shape, disagree."""
    rows = {}
    for name in ROWS:
        count = counts.get(name, 0)
        if len(data[name]) != count:
            raise RecordError(f"expected {count} values for {name} of the witness, but got {len(data[name])}")
        rows[name] = tuple(read_value(formats[name], x) for x in data[name])
    return Witness(
        rows["a"], rows["b"], read_value(formats["c"], data["c"]), rows["scale_a"], rows["scale_b"]
    )


def read_value(fmt: Format, data: Mapping[str, str]) -> int:
    """Read an encoding from a record; RecordError where its value disagrees."""
    raw = int(data["hex"], 16)
    try:
        value = format_value(fmt, raw)
    except InputError as error:
        raise RecordError(str(error)) from error
    if value != data["value"]:
        raise RecordError(f"expected {value} as the value of {data['hex']}, but got {data['value']}")
    return raw


# ---------------------------------------------------------- The command that shows one dot product bit by bit
#: How one operand is written: `a`, `b`, `c`, `scale_a` or `scale_b`, and its raw encoding.
OperandText = Callable[[str, int], str]


def in_hex(spec: UnitSpec) -> OperandText:
    """A formatter that prints every operand as its raw encoding."""
    formats = spec.input_formats()
    return lambda which, raw: hex_word(formats[which], raw)


def by_value(spec: UnitSpec) -> OperandText:
    """A formatter that prints every operand as its exact value, and a NaN as its raw encoding."""
    formats = spec.input_formats()

    def word(which: str, raw: int) -> str:
        text = format_value(formats[which], raw)
        return hex_word(formats[which], raw) if "nan" in text else text

    return word


def explain_command(
    names: Iterable[str], w: Witness, words: OperandText, *, longer: bool = False, command: str = "explain"
) -> str:
    """The shell command `tcformal explain` (or `tcformal eval`) for these units on one dot product.

    `x:3` stands for `x,x,x`.  The last `...` stands for zeros: for those of the dot product and, with
    `longer`, for those that a unit with more products takes besides.
    """
    keep = max((i + 1 for i in range(len(w.a)) if w.a[i] or w.b[i]), default=1)
    tail = ",..." if longer or keep < len(w.a) else ""
    rows = {"a": w.a[:keep], "b": w.b[:keep], "c": (w.c,), "scale_a": w.scale_a, "scale_b": w.scale_b}
    texts = []
    for which, row in rows.items():
        text = ",".join(_repeated([words(which, raw) for raw in row])) + (tail if which in ("a", "b") else "")
        if row:
            texts.append(f"--{which.replace('_', '-')} {shlex.quote(text)}")
    return " ".join([f"tcformal {command}", *map(shlex.quote, names), *texts])


def _repeated(texts: Iterable[str]) -> Iterator[str]:
    """The texts, three or more equal ones in a row as `text:count`."""
    for text, group in groupby(texts):
        count = len(list(group))
        yield from [f"{text}:{count}"] if count > 2 else [text] * count


# ------------------------------------------------------------------------------------------ Operands in files
def to_data(spec: UnitSpec, w: Witness) -> dict[str, str | list[str]]:
    """One dot product's operands as plain data."""
    formats = spec.input_formats()
    rows = {name: [hex_word(f, x) for x in getattr(w, name)] for name, f in formats.items() if name != "c"}
    return {name: rows.get(name, hex_word(formats["c"], w.c)) for name in formats}


def from_data(spec: UnitSpec, data: Mapping[str, Any], where: str) -> Witness:
    """Read one dot product's operands from plain data: encodings or values as text, or {"hex": …}.

    Shapes: lists of one length; scales are ones unless given.
    Errors: InputError naming `where` for what is no list of encodings of the unit's formats.
    """
    o = spec.operands
    try:
        a, b = (tuple(_word(fmt, x) for x in data[name]) for name, fmt in (("a", o.a), ("b", o.b)))
        c = _word(o.c, data.get("c", "0"))
        count = scale_count(spec, len(a))
        scales = []
        for name in ("scale_a", "scale_b"):
            fmt = spec.scale_format
            given = data.get(name, ["1"] * count)
            scales.append(() if fmt is None else tuple(_word(fmt, x) for x in given))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"expected lists a and b and a word c in {where}, but got {data!r:.80}") from error
    except InputError as error:
        raise InputError(f"{error} (in {where})") from None
    if not a or len(a) != len(b):
        raise InputError(f"expected a and b of one length in {where}, but got {len(a)} and {len(b)}")
    if any(len(s) != count for s in scales if spec.scale_format is not None):
        raise InputError(f"expected {count} scales each for a and b in {where}, but got {len(scales[0])}")
    return Witness(a, b, c, scales[0], scales[1])


def _word(fmt: Format, text: Any) -> int:
    return parse_value(fmt, str(text["hex"] if isinstance(text, Mapping) else text))
