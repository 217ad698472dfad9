"""Custom formats by name: `e4m7`, `int6`, `fp16[no-subnormals]`, `e5m10[bias=20,finite]`."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from tcformal.checks import check_choice, check_int, read_int
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.errors import InputError

#: How a name spells which encodings are no finite numbers.
SPECIALS: dict[str, Specials] = {
    "ieee": Specials.IEEE, "all-ones-nan": Specials.ALL_ONES_NAN, "fnuz": Specials.NEGATIVE_ZERO_NAN,
    "finite": Specials.NONE,
}  # fmt: skip
#: The largest magnitude of a bias that a name can give.
LARGEST_BIAS = 20000

_SHAPE = re.compile(r"e([0-9]{1,2})m([0-9]{1,3})")
_INTEGER = re.compile(r"(u?)int([0-9]{1,2})")
_CHANGES = ("bias=N", "subnormals", "no-subnormals", *SPECIALS)


def integer(width: int, signed: bool, source: str = "given by its name") -> Format:
    """The integers of `width` bits, in two's complement or without a sign."""
    bits = width - signed
    return Format(
        name=f"{'' if signed else 'u'}int{width}", exponent_bits=0, fraction_bits=bits, bias=1 - bits,
        specials=Specials.NONE, sign=Sign.PRESENT if signed else Sign.ABSENT,
        source=source,
    )  # fmt: skip


def shaped(name: str) -> Format | None:
    """The IEEE-like format `eXmY`: bias 2^(X-1) - 1, subnormals, Inf and NaN; or integers `intN`, `uintN`.

    None for another name.
    Ranges and units: X from 2 to 15 exponent bits, Y from 1 to 62 fraction bits, at most 64 bits in all; N
    from 2 to 64.
    Errors: InputError for widths that no encoding has.
    """
    if whole := _INTEGER.fullmatch(name):
        return integer(check_int(f"the bits of {name}", int(whole[2]), low=2, high=64), not whole[1])
    match = _SHAPE.fullmatch(name)
    if not match:
        return None
    exponent_bits = check_int(f"the exponent bits of {name}", int(match[1]), low=2, high=15)
    fraction_bits = check_int(f"the fraction bits of {name}", int(match[2]), low=1, high=61)
    return Format(
        name=f"e{exponent_bits}m{fraction_bits}", exponent_bits=exponent_bits, fraction_bits=fraction_bits,
        bias=(1 << (exponent_bits - 1)) - 1, specials=Specials.IEEE, source="given by its name",
    )  # fmt: skip


@lru_cache(maxsize=256)
def changed(base: Format, text: str) -> Format:
    """A format with the changes that the brackets of its name list.

    Ranges and units: `bias=N` with |N| at most 20000; `no-subnormals`, where every encoding with the
    exponent field 0 is a zero; `ieee`, `all-ones-nan`, `fnuz` or `finite`, as in SPECIALS.  The name of the
    result has the changes that differ from the base in this order, so that one format has one name.
    Errors: InputError for a change that is none of these, or is given twice.
    """
    bias, subnormals, specials = base.bias, base.subnormals, base.specials
    met = set[str]()
    for item in split_names(text):
        key, equals, value = (part.strip() for part in item.partition("="))
        if equals and key == "bias":
            bias, kind = _bias(base.name, value), "bias"
        elif not equals and item in ("subnormals", "no-subnormals"):
            subnormals, kind = item == "subnormals", "subnormals"
        else:
            check_choice(f"change of {base.name}", item, _CHANGES)
            if item not in SPECIALS:
                raise InputError(f"expected an integer after bias= for {base.name}, but got {item!r}")
            specials, kind = SPECIALS[item], "specials"
        if kind in met:
            raise InputError(f"expected the {kind} of {base.name} once, but got {text!r}")
        met.add(kind)
    if base.integer:
        raise InputError(f"expected a floating-point format to change, but got {base.name}")
    if not subnormals and not base.has_zero:
        raise InputError(f"expected a format with zero for no-subnormals, but got {base.name}")
    shown = []
    if bias != base.bias:
        shown.append(f"bias={bias}")
    if subnormals != base.subnormals:
        shown.append("subnormals" if subnormals else "no-subnormals")
    if specials is not base.specials:
        shown.append(next(word for word, x in SPECIALS.items() if x is specials))
    if not shown:
        return base
    return replace(
        base, name=f"{base.name}[{','.join(shown)}]", bias=bias, subnormals=subnormals, specials=specials,
        source="given by its name",
    )  # fmt: skip


def split_names(text: str) -> list[str]:
    """Split a list at commas outside brackets."""
    return [part.strip() for part in re.split(r",(?![^\[\]]*\])", text)]


def _bias(name: str, value: str) -> int:
    bias = read_int(f"the bias of {name}", value)
    return check_int(f"the bias of {name}", bias, low=-LARGEST_BIAS, high=LARGEST_BIAS)
