"""Parsing of the operands of one dot product into raw encodings; apart, because `eval` explains nothing."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite
from numbers import Real

from tcformal.checks import shown
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError, ValueTextError
from tcformal.oracle.values import encoded, parse_value
from tcformal.semantics.chain import scale_count
from tcformal.simulation.operands.witness import Witness

#: Largest number of bits of an integer that is converted to a format.
_MOST_BITS = 10_000


def witness_of(
    spec: UnitSpec,
    a: Sequence[int | float | str],
    b: Sequence[int | float | str],
    c: int | float | str,
    *,
    k: int | None = None,
    scale_a: Sequence[int | float | str] | None = None,
    scale_b: Sequence[int | float | str] | None = None,
) -> Witness:
    """The raw encodings of one dot product, from numbers or text.

    Shapes: a, b: `k` values, by default the unit's own k; scale_a, scale_b: one scale per block, default
    ones; None for units without scales.
    Errors: InputError for lists of the wrong length or a value that its format cannot hold.
    """
    k = spec.k if k is None else k
    o = spec.operands
    return Witness(
        _words(spec, "a", o.a, k, a),
        _words(spec, "b", o.b, k, b),
        word_of(o.c, c),
        _scales(spec, "a", k, scale_a),
        _scales(spec, "b", k, scale_b),
    )


def _scales(
    spec: UnitSpec, letter: str, k: int, given: Sequence[int | float | str] | None
) -> tuple[int, ...]:
    """The raw scales of one operand, by default ones."""
    count = scale_count(spec, k)
    values = ["1"] * count if given is None else given
    return _words(spec, f"scale_{letter}", spec.scale_format, count, values)


def _words(spec: UnitSpec, name: str, fmt: Format | None, count: int, values: object) -> tuple[int, ...]:
    """The raw encodings of `count` values; empty for the scales of a unit without scales."""
    try:
        listed = list(values)  # type: ignore[call-overload]
    except TypeError:
        text = shown(values)
        raise InputError(f"expected {count} values for {name} of {spec.name}, but got {text}") from None
    if len(listed) != count:
        raise InputError(f"expected {count} values for {name} of {spec.name}, but got {len(listed)}")
    return () if fmt is None else tuple(word_of(fmt, value) for value in listed)


def word_of(fmt: Format, value: object) -> int:
    """The raw encoding of one value; InputError where the format cannot hold it."""
    if value is None or (isinstance(value, int) and value.bit_length() > _MOST_BITS):
        raise InputError(f"expected a value of {fmt.name}, but got {shown(value)}")
    try:
        return parse_value(fmt, str(value))
    except ValueTextError:
        # The shortest text of a float is not always its value: that of 2**-24 is 5.960464477539063e-08.
        if isinstance(value, Real) and isfinite(value):
            word = encoded(fmt, Fraction(float(value)))
            if word is not None:
                return word
        raise
