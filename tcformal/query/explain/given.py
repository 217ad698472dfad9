"""One dot product from values as people give them."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.checks import shown
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.operands.witness import Witness
from tcformal.oracle.values import parse_value
from tcformal.programs.chain import scale_count

#: Bits of an integer that some format may hold.
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
    """Raw encodings from values; lists must have `k` elements, the unit's own unless given.

    Scales that are not given are ones; units without scales take none.
    """
    k = spec.k if k is None else k
    o = spec.operands
    return Witness(
        _words(spec, "a", o.a, k, a),
        _words(spec, "b", o.b, k, b),
        _word(o.c, c),
        _scales(spec, "a", k, scale_a),
        _scales(spec, "b", k, scale_b),
    )


def _scales(
    spec: UnitSpec, letter: str, k: int, given: Sequence[int | float | str] | None
) -> tuple[int, ...]:
    """The raw scales of one operand, ones unless given."""
    count = scale_count(spec, k)
    values = ["1"] * count if given is None else given
    return _words(spec, f"scale_{letter}", spec.scale_format, count, values)


def _words(spec: UnitSpec, name: str, fmt: Format | None, count: int, values: object) -> tuple[int, ...]:
    """Raw encodings of so many values; of a unit without scales, none."""
    try:
        listed = list(values)  # type: ignore[call-overload]
    except TypeError:
        found = shown(values)
        raise InputError(f"expected {count} values for {name} of {spec.name}, but got {found}") from None
    if len(listed) != count:
        raise InputError(f"expected {count} values for {name} of {spec.name}, but got {len(listed)}")
    return () if fmt is None else tuple(_word(fmt, value) for value in listed)


def _word(fmt: Format, value: object) -> int:
    """The raw encoding of one value; InputError for what is none."""
    if value is None or (isinstance(value, int) and value.bit_length() > _MOST_BITS):
        raise InputError(f"expected a value of {fmt.name}, but got {shown(value)}")
    return parse_value(fmt, str(value))
