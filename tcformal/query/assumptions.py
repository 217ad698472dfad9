"""Assumptions about the operands of a question: named, readable back, and built from the one unpack."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tcformal.checks import check_choice, check_int
from tcformal.errors import InputError
from tcformal.formats.spec import Format, Specials
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle.values import parse_value
from tcformal.semantics.number import Number
from tcformal.semantics.unpack import unpack

#: What can be assumed of every operand, block scales among them, with its meaning.
FLAGS: dict[str, str] = {
    "finite": "no operand is NaN or Inf",
    "normal": "every operand is a normal number (not zero, subnormal, NaN or Inf)",
    "positive": "no operand has its sign bit set",
    "nonzero": "no operand is zero",
}

#: What takes a value, with an example.
_VALUED: dict[str, str] = {
    "exponents": "exponents=-14..15",
    "scale_exponents": "scale_exponents=-8..8",
    "c": "c=0",
}

_RANGE = re.compile(r"^\s*([+-]?\d+)\s*(?:\.\.|…)\s*([+-]?\d+)\s*$")


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What a question assumes of its operands; nothing by default.

    Ranges and units: `exponents` bounds the unbiased exponent of every non-zero element of a, b and c
    (subnormals have e_min), `scale_exponents` that of every non-zero block scale: the two ranges have
    little in common, so neither bound acts on the other's operands; `c` fixes c to one raw encoding.
    """

    flags: tuple[str, ...] = ()
    exponents: tuple[int, int] | None = None
    c: int | None = None
    scale_exponents: tuple[int, int] | None = None

    def __bool__(self) -> bool:
        given = (self.exponents, self.scale_exponents, self.c)
        return bool(self.flags) or any(value is not None for value in given)

    def spellings(self) -> list[str]:
        """The assumptions as `from_texts` takes them back."""
        spelled = list(self.flags)
        if self.exponents is not None:
            spelled.append(f"exponents={self.exponents[0]}..{self.exponents[1]}")
        if self.scale_exponents is not None:
            spelled.append(f"scale_exponents={self.scale_exponents[0]}..{self.scale_exponents[1]}")
        if self.c is not None:
            spelled.append(f"c={self.c:#x}")
        return spelled

    def texts(self) -> list[str]:
        """One readable line for each assumption."""
        lines = [FLAGS[flag] for flag in self.flags]
        if self.exponents is not None:
            lines.append(f"exponents of non-zero operands in {self.exponents[0]}..{self.exponents[1]}")
        if self.scale_exponents is not None:
            low, high = self.scale_exponents
            lines.append(f"exponents of non-zero scales in {low}..{high}")
        if self.c is not None:
            lines.append(f"c = {self.c:#x}")
        return lines


def assumptions(c_format: Format, given: Mapping[str, Any]) -> Assumptions:
    """Assumptions from keyword arguments: finite=True, exponents="-14..15" or (lo, hi), c="0", …

    Errors: UnknownNameError for an assumption that does not exist, InputError for a bad value.
    """
    for name in given:
        check_choice("assumption", name, [*FLAGS, *_VALUED])
    flags = []
    for flag in FLAGS:
        value = given.get(flag, False)
        if not isinstance(value, bool):
            raise InputError(f"expected true or false for assumption {flag}, but got {value!r}")
        if value:
            flags.append(flag)
    elements, scales = (
        None if given.get(name) is None else _span(given[name], name)
        for name in ("exponents", "scale_exponents")
    )
    c = given.get("c")
    if isinstance(c, bool):
        raise InputError(f"expected a value for assumption c, but got {c!r}")
    raw = parse_value(c_format, c if isinstance(c, str) else str(c)) if c is not None else None
    return Assumptions(tuple(flags), elements, raw, scales)


def from_texts(c_format: Format, texts: Sequence[str]) -> Assumptions:
    """Assumptions as the command line takes them: `finite`, `exponents=-14..15`, `c=0`."""
    given: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        check_choice("assumption", name, [*FLAGS, *_VALUED])
        if name in given:
            raise InputError(f"expected each assumption once, but got {name} twice")
        if name in _VALUED and not value:
            raise InputError(
                f"expected assumption {name} with a value, such as {_VALUED[name]}, but got none"
            )
        if name in FLAGS and equals:
            raise InputError(f"expected assumption {name} without a value, but got {text.strip()!r}")
        given[name] = value if equals else True
    return assumptions(c_format, given)


def _span(value: Any, name: str) -> tuple[int, int]:
    if isinstance(value, str):
        match = _RANGE.match(value)
        value = (int(match[1]), int(match[2])) if match else value
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise InputError(f"expected {name} as LOW..HIGH, but got {value!r}")
    low = check_int("the lowest exponent", value[0], low=-40000, high=40000)
    return low, check_int("the highest exponent", value[1], low=low, high=40000)


def assume(
    g: Graph,
    what: Assumptions,
    operands: Sequence[tuple[Node, Format]],
    c: Node,
    scales: Sequence[tuple[Node, Format]] = (),
) -> Node:
    """The node that is 1 where every assumption holds of the raw operands and block scales."""
    holds = g.truth(True)
    bounded = [(x, what.exponents) for x in operands] + [(x, what.scale_exponents) for x in scales]
    for (word, fmt), span in bounded:
        number = unpack(g, word, fmt)
        for flag in what.flags:
            holds = g.and_(holds, _flag(g, flag, number, fmt))
        if span is not None:
            holds = g.and_(holds, g.or_(number.term.zero, _within(g, number, span)))
    if what.c is not None:
        holds = g.and_(holds, g.eq(c, g.const(what.c, c.width)))
    return holds


def _flag(g: Graph, flag: str, x: Number, fmt: Format) -> Node:
    finite = g.not_(g.or_(x.nan, x.inf))
    if flag == "finite":
        return finite
    if flag == "positive":
        return g.not_(x.term.sign)
    if flag == "nonzero":
        # The one NaN of such a format has the bits of a zero.
        zero_nan = fmt.specials is Specials.NEGATIVE_ZERO_NAN
        return g.or_(g.not_(x.term.zero), x.nan) if zero_nan else g.not_(x.term.zero)
    return g.and_(finite, g.top(x.term.significand))


def _within(g: Graph, x: Number, span: tuple[int, int]) -> Node:
    exponent = x.term.exponent
    low, high = max(span[0], exponent.low), min(span[1], exponent.high)
    if low > high:
        return g.truth(False)
    above = g.ule(g.const(low - exponent.low, exponent.bits.width), exponent.bits)
    below = g.ule(exponent.bits, g.const(high - exponent.low, exponent.bits.width))
    return g.and_(above, below)
