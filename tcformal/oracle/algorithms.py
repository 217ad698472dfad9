"""Markidis, and Ootomo and Yokota, a second time: splits, sums and errors in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tcformal.design.arithmetic import NVIDIA_NAN, fma_chain
from tcformal.design.rounding import Conversion, conversion
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.catalog import FORMATS
from tcformal.formats.spec import Format
from tcformal.oracle.exact import unit_dot
from tcformal.oracle.sums import fused_sum
from tcformal.oracle.text import power_of_two
from tcformal.oracle.values import ExactValue, NumberClass, decode, encode_exact, exponent_of

HALF, SINGLE = FORMATS["fp16"], FORMATS["fp32"]
_IEEE = fma_chain(fmt="fp32", nan_word=NVIDIA_NAN["fp32"])


def split(bits: int, mode: str) -> tuple[int, int, int]:
    """fp16 encodings of hi = fp16(v), lo = fp16(v - hi) and lo' = fp16((v - hi)·2^11), rounded by `mode`.

    Source: OOTOMO equations 18 to 21; VALPEY §6.
    """
    v = decode(SINGLE, bits)
    hi = _rounded([v], conversion(f"{mode}-FP16"))
    minus_hi = hi._replace(sign=1 - hi.sign)
    lo = _rounded([v, minus_hi], conversion(f"{mode}-FP16"))
    up = _rounded([_times(v, 11), _times(minus_hi, 11)], conversion(f"{mode}-FP16"))
    return _encode(HALF, hi), _encode(HALF, lo), _encode(HALF, up)


def markidis(spec: UnitSpec, a: Sequence[int], b: Sequence[int], c: int, mode: str) -> int:
    """The fp32 encoding of Markidis' result; a, b, c are fp32 encodings."""
    ah, al, _ = zip(*(split(x, mode) for x in a), strict=True)
    bh, bl, _ = zip(*(split(y, mode) for y in b), strict=True)
    s1 = _call(spec, ah, bh, c)
    s2 = _call(spec, al, bh, s1)
    s3 = _call(spec, ah, bl, s2)
    return _call(spec, al, bl, s3)


def ootomo_yokota(
    spec: UnitSpec, a: Sequence[int], b: Sequence[int], c: int, mode: str, *, keep_last: bool = False
) -> int:
    """The fp32 encoding of Ootomo and Yokota's result; a, b, c are fp32 encodings.

    Source: OOTOMO equation 24; VALPEY §6 (R_A·R_B / 2^22, with `keep_last`).
    """
    ah, _, al = zip(*(split(x, mode) for x in a), strict=True)
    bh, _, bl = zip(*(split(y, mode) for y in b), strict=True)
    s1 = decode(SINGLE, _call(spec, ah, bh, 0))
    dc = _times(decode(SINGLE, _call(spec, ah, bl, _call(spec, al, bh, 0))), -11)
    if keep_last:
        rr = _times(decode(SINGLE, _call(spec, al, bl, 0)), -22)
        dc = _nearest(rr, dc)
    return _encode(SINGLE, _nearest(_nearest(s1, dc), decode(SINGLE, c)))


def added_inside(spec: UnitSpec, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """VALPEY Table 5, M: a and b are fp16 encodings, everything is added inside the unit."""
    return _call(spec, a, b, c)


def added_outside(spec: UnitSpec, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """VALPEY Table 5, O-Y: a and b are fp16 encodings, c is added outside, to nearest."""
    return _encode(SINGLE, _nearest(decode(SINGLE, _call(spec, a, b, 0)), decode(SINGLE, c)))


def exact_sum(fmt: Format, a: Sequence[int], b: Sequence[int], c: int) -> Fraction | None:
    """c + sum of a_k·b_k over the true inputs, a and b of `fmt`, c of fp32; None where one is no number."""
    rows = [(decode(fmt, x), decode(fmt, y)) for x, y in zip(a, b, strict=True)]
    last = decode(SINGLE, c)
    if any(v.kind is not NumberClass.FINITE for v in (last, *(v for row in rows for v in row))):
        return None
    return sum((x.number * y.number for x, y in rows), last.number)


def error(result: int, exact: Fraction) -> Fraction | None:
    """|result - exact| of an fp32 encoding; None where the result is no number."""
    value = decode(SINGLE, result)
    return abs(value.number - exact) if value.kind is NumberClass.FINITE else None


def ulp(number: Fraction) -> Fraction:
    """The unit in the last place of fp32 at a number other than zero, as if exponents had no end."""
    if not number:
        raise InputError("expected a number other than zero for its unit in the last place, but got 0")
    return power_of_two(exponent_of(abs(number)) - SINGLE.fraction_bits)


def _call(spec: UnitSpec, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """The unit on these products and 0·0 for the rest."""
    rest = (0,) * (spec.k - len(a))
    return unit_dot(spec, (*a, *rest), (*b, *rest), c)


def _rounded(terms: Sequence[ExactValue], target: Conversion) -> ExactValue:
    return fused_sum(_IEEE, terms, target)


def _nearest(x: ExactValue, y: ExactValue) -> ExactValue:
    return _rounded([x, y], conversion("RNE-FP32"))


def _times(x: ExactValue, power: int) -> ExactValue:
    return x._replace(magnitude=x.magnitude * power_of_two(power), exponent=x.exponent + power)


def _encode(fmt: Format, value: ExactValue) -> int:
    """The encoding of a value that the format holds; every NaN is NVIDIA's."""
    if value.kind is NumberClass.NAN:
        return NVIDIA_NAN[fmt.name]
    if value.kind is NumberClass.INF:
        sign_bit: int = value.sign * 2 ** (fmt.width - 1)
        return fmt.infinity + sign_bit
    return encode_exact(fmt, value.number, negative_zero=bool(value.sign))
