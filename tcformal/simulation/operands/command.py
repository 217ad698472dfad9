"""The command that shows one dot product bit by bit, to be pasted into a shell."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable

from tcformal.design.unit import UnitSpec
from tcformal.oracle.values import format_value, hex_word
from tcformal.simulation.operands.witness import Witness

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

    The last `...` stands for zeros: for those of the dot product and, with `longer`, for those that a
    unit with more products takes besides.
    """
    keep = max((i + 1 for i in range(len(w.a)) if w.a[i] or w.b[i]), default=1)
    tail = ",..." if longer or keep < len(w.a) else ""
    rows = {"a": w.a[:keep], "b": w.b[:keep], "c": (w.c,), "scale_a": w.scale_a, "scale_b": w.scale_b}
    texts = []
    for which, row in rows.items():
        text = ",".join(words(which, raw) for raw in row) + (tail if which in ("a", "b") else "")
        if row:
            texts.append(f"--{which.replace('_', '-')} {shlex.quote(text)}")
    return " ".join([f"tcformal {command}", *map(shlex.quote, names), *texts])
