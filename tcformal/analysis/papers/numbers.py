"""Numbers in query files."""

from __future__ import annotations

from fractions import Fraction

from tcformal.errors import InputError


def read_number(name: str, text: str) -> Fraction:
    """Parse a nonnegative decimal number or fraction; InputError for another text."""
    try:
        number = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"expected a number for {name}, but got {text!r}") from None
    if number < 0 or len(text) > 40:
        raise InputError(f"expected a number of at least 0 for {name}, but got {text!r}")
    return number
