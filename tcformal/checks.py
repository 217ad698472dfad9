"""Argument checks shared by the public functions: each raises InputError with one sentence."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable

from tcformal.errors import InputError, UnknownNameError

#: Processes that a command may be asked to start.
MOST_JOBS = 1024

#: Inputs that a command may be asked to try, in pieces and all at once.
MOST_VECTORS, MOST_AT_ONCE = 10**9, 10**7

#: How alike a name is that an error gives as close.
_LIKE = 0.5

#: Names that an error lists where none is close.
_MOST_LISTED = 64

#: Characters of a value that an error shows.
_SHOWN = 200


def check_int(name: str, value: object, *, low: int | None = None, high: int | None = None) -> int:
    """Return `value` as an int within [low, high]; raise InputError otherwise (bool is refused)."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"expected an integer for {name}, but got {shown(value)}")
    if (low is not None and value < low) or (high is not None and value > high):
        if high is None:
            span = f"of at least {low}"
        elif low is None:
            span = f"of at most {high}"
        else:
            span = f"from {low} to {high}"
        raise InputError(f"expected an integer {span} for {name}, but got {_digits(value)}")
    return value


def read_int(name: str, text: str) -> int:
    """The integer that a text writes as Python does (`16`, `0x10`); InputError for another text.

    Ranges and units: at most 200 characters; Python reads no text of thousands of digits.
    """
    try:
        if len(text) <= _SHOWN:
            return int(text, 0)
    except ValueError:
        pass
    raise InputError(f"expected an integer for {name}, but got {shown(text)}")


def _digits(value: int) -> str:
    """An integer's digits, or how long it is: Python prints no integer of thousands of digits."""
    return str(value) if value.bit_length() <= 4 * _SHOWN else f"one of {value.bit_length()} bits"


def shown(value: object) -> str:
    """A value as Python writes it, cut short."""
    if isinstance(value, int):
        return repr(value) if isinstance(value, bool) else _digits(value)
    text = repr(value[: 2 * _SHOWN] if isinstance(value, str) else value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def check_positive(name: str, value: object) -> float:
    """Return `value` as a float above zero; raise InputError otherwise."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise InputError(f"expected a number above zero for {name}, but got {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"expected a number above zero for {name}, but got {shown(value)}") from None


def check_text(name: str, value: object) -> str:
    """Return `value` if it is a text; raise InputError otherwise."""
    if not isinstance(value, str):
        raise InputError(f"expected a text for {name}, but got {shown(value)}")
    return value


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`; raise UnknownNameError naming the closest ones."""
    known = list(choices)
    if isinstance(value, str) and value in known:
        return value
    raise UnknownNameError(unknown_sentence(name, str(value), known))


def unknown_sentence(kind: str, value: str, known: list[str]) -> str:
    """One sentence saying that `value` is no known `kind`, with the closest known names."""
    close = _closest(value[:_SHOWN], known)
    if close:
        hint = "the closest are " + ", ".join(close)
    elif len(known) <= _MOST_LISTED:
        hint = "expected one of " + ", ".join(known)
    else:
        hint = f"none of the {len(known)} known names is close"
    return f"expected a known {kind}, but got {shown(value)}: {hint}"


def _closest(word: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """`difflib.get_close_matches`, capitals as small letters, without names that share too few letters."""
    word = word.lower()
    letters = Counter(word)
    matcher = difflib.SequenceMatcher(b=word)
    found: list[tuple[float, str]] = []
    shared = ((sum(min(n, x.lower().count(letter)) for letter, n in letters.items()), x) for x in known)
    for most, x in sorted(((2 * n / max(1, len(x) + len(word)), x) for n, x in shared), reverse=True):
        if most < _LIKE or (len(found) == limit and most < found[-1][0]):
            break
        matcher.set_seq1(x.lower())
        found = sorted([*found, (matcher.ratio(), x)], reverse=True)[:limit]
    return [x for ratio, x in found if ratio >= _LIKE]


def exponent_range(text: str) -> tuple[int, int]:
    """Parse a range of exponents `LOW..HIGH`; InputError for another text."""
    match = re.fullmatch(r"([+-]?\d{1,9})\s*\.\.\s*([+-]?\d{1,9})", text.strip())
    if match is None:
        raise InputError(f"expected c_exponents as LOW..HIGH, but got {text!r}")
    return int(match[1]), int(match[2])
