"""The catalogue of floating-point and integer formats."""

from __future__ import annotations

from tcformal.checks import check_choice
from tcformal.encodings.custom import changed, integer, shaped
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.errors import InputError

_IEEE = "IEEE 754 Table 3.5"
_OFP8 = "OCP OFP8"
_MX = "OCP MX"
_CDNA3 = "AMD ISA of MI300, fp8 and bf8"


def _row(
    name: str,
    exponent_bits: int,
    bias: int,
    fraction_bits: int,
    specials: Specials,
    source: str,
    *,
    sign: Sign = Sign.PRESENT,
    ignored_low_bits: int = 0,
    has_zero: bool = True,
) -> Format:
    return Format(
        name=name,
        exponent_bits=exponent_bits,
        bias=bias,
        fraction_bits=fraction_bits,
        specials=specials,
        source=source,
        sign=sign,
        ignored_low_bits=ignored_low_bits,
        has_zero=has_zero,
    )


_ALL = (
    _row("fp64", 11, 1023, 52, Specials.IEEE, _IEEE),
    _row("fp32", 8, 127, 23, Specials.IEEE, _IEEE),
    _row("fp16", 5, 15, 10, Specials.IEEE, _IEEE),
    _row(
        "bf16",
        8,
        127,
        7,
        Specials.IEEE,
        "MARY Table 2.1; like a format of IEEE 754, subnormals kept unless the unit flushes them",
    ),
    _row(
        "tf32",
        8,
        127,
        10,
        Specials.IEEE,
        "MARY Table 2.1; MMA-Sim 2.1.1 (an fp32 word, low 13 bits ignored)",
        ignored_low_bits=13,
    ),
    _row("e5m2", 5, 15, 2, Specials.IEEE, _OFP8),
    _row("e4m3", 4, 7, 3, Specials.ALL_ONES_NAN, _OFP8),
    _row("e5m2fnuz", 5, 16, 2, Specials.NEGATIVE_ZERO_NAN, _CDNA3),
    _row("e4m3fnuz", 4, 8, 3, Specials.NEGATIVE_ZERO_NAN, _CDNA3),
    _row("e3m2", 3, 3, 2, Specials.NONE, _MX),
    _row("e2m3", 2, 1, 3, Specials.NONE, _MX),
    _row("e2m1", 2, 1, 1, Specials.NONE, _MX),
    _row("e8m0", 8, 127, 0, Specials.ALL_ONES_NAN, _MX, sign=Sign.ABSENT, has_zero=False),
    _row(
        "ue4m3", 4, 7, 3, Specials.ALL_ONES_NAN, "MMA-Sim 2.1.1 (e4m3, sign bit ignored)", sign=Sign.IGNORED
    ),
    *(
        integer(width, signed, "PTX ISA, integer types")
        for width in (4, 8, 16, 32)
        for signed in (True, False)
    ),
)

#: Every format by name.
FORMATS: dict[str, Format] = {row.name: row for row in _ALL}

#: Other names that people use for the same formats.
ALIASES: dict[str, str] = {
    "f64": "fp64", "f32": "fp32", "f16": "fp16",
    "binary64": "fp64", "binary32": "fp32", "binary16": "fp16", "bfloat16": "bf16",
    "e11m52": "fp64", "e8m23": "fp32", "e5m10": "fp16", "e8m7": "bf16",
    "fp8_e5m2": "e5m2", "fp8_e4m3": "e4m3", "e4m3fn": "e4m3",
    "fp6_e3m2": "e3m2", "fp6_e2m3": "e2m3", "fp4": "e2m1", "ue8m0": "e8m0",
    "s4": "int4", "u4": "uint4", "s8": "int8", "u8": "uint8", "s16": "int16", "u16": "uint16",
    "s32": "int32", "u32": "uint32", "i4": "int4", "i8": "int8", "i16": "int16", "i32": "int32",
    "float64": "fp64", "float32": "fp32", "float16": "fp16",
    "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "float8_e4m3fnuz": "e4m3fnuz",
    "float8_e5m2fnuz": "e5m2fnuz", "float8_e8m0fnu": "e8m0", "float6_e3m2fn": "e3m2",
    "float6_e2m3fn": "e2m3", "float4_e2m1fn": "e2m1",
}  # fmt: skip


def format_named(name: str) -> Format:
    """The format with this name or alias, of a shape `eXmY`, `intN` or `uintN`, or with changes in brackets.

    Errors: UnknownNameError with the closest names for another; InputError for facts that no format has.
    """
    base, bracket, rest = name.partition("[")
    key = ALIASES.get(base, base)
    fmt = FORMATS.get(key) or shaped(key)
    if fmt is None:
        near = [target for alias, target in ALIASES.items() if alias.startswith(f"{key}_")]
        fmt = FORMATS[check_choice("format", key, near or FORMATS)]
    if not bracket:
        return fmt
    if not rest.endswith("]"):
        raise InputError(f"expected a format such as e5m10[bias=20,no-subnormals], but got {name!r}")
    return changed(fmt, rest[:-1])


def formats() -> dict[str, Format]:
    """Every format by name, with its widths, bias, special values and source.

    Examples:
        >>> tcformal.formats()["bf16"]
        <Format bf16: 16 bits, 8 exponent and 7 fraction bits, bias 127>
    """
    return dict(FORMATS)
