"""Inputs on which an exponent of zero terms that lies above other terms changes a result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tcformal.design.unit import UnitSpec
from tcformal.formats.spec import Format
from tcformal.operands.witness import Witness
from tcformal.oracle.values import parse_value
from tcformal.programs.chain import scale_count
from tcformal.proofs.claim import Counterexample, counterexample


def zero_term_shown(spec: UnitSpec, below: int) -> Counterexample | None:
    """Inputs whose result is another where zero terms have the exponent `below`; None where none was found.

    The products make the least number of D, or half of it, and one is so small that it is cut off at the
    exponent of zero terms, but not at that of the products; c is zero.
    """
    design, d = spec.design, spec.operands.d
    if not isinstance(design.zero_exponent, int) or design.fraction_bits is None:
        return None
    other = replace(
        spec, name=f"{spec.name}@zero_exponent={below}", design=replace(design, zero_exponent=below)
    )
    least, cut = d.e_min - d.fraction_bits, design.zero_exponent - design.fraction_bits
    for large in (least, least - 1):
        for small in (cut - 1, cut - 2):
            for sign in ("-", ""):
                for w in _operands(spec, large, small, sign):
                    found = counterexample((spec, w), (other, w), "construction")
                    if found is not None:
                        return found
    return None


def _operands(spec: UnitSpec, large: int, small: int, sign: str) -> Iterator[Witness]:
    """Equal products, a power of two of them, whose sum is 2^large, and one more of ±2^small."""
    o, scale = spec.operands, spec.scale_format
    for bits in range(min(spec.k, spec.design.products).bit_length() - 1):
        each = large - bits
        # Scales bring the largest powers of two down to what each product is to be.
        scaled = 0 if scale is None else each - o.a.e_max - o.b.e_max
        halves = (scaled // 2, scaled - scaled // 2)
        if scale is not None and not all(scale.e_min <= x <= scale.e_max for x in halves):
            continue
        rows = [_factors(o.a, o.b, each - scaled, "")] * (1 << bits)
        rows.append(_factors(o.a, o.b, small - scaled, sign))
        found = [row for row in rows if row is not None]
        if len(found) == len(rows):
            zeros = (0,) * (spec.k - len(rows))
            scales = [] if scale is None else [(parse_value(scale, f"2^{x}"),) for x in halves]
            count = scale_count(spec, spec.k) if scale is not None else 0
            yield Witness(
                tuple(a for a, _ in found) + zeros, tuple(b for _, b in found) + zeros, 0,
                *(row * count for row in scales),
            )  # fmt: skip


def _factors(a: Format, b: Format, exponent: int, sign: str) -> tuple[int, int] | None:
    """Two powers of two whose product is ±2^exponent; None where the formats have none."""
    first = min(max(exponent // 2, a.e_min - a.fraction_bits), a.e_max)
    second = exponent - first
    if second > b.e_max:
        first, second = exponent - b.e_max, b.e_max
    least = b.e_min - b.fraction_bits
    if second < least:
        first, second = exponent - least, least
    if not a.e_min - a.fraction_bits <= first <= a.e_max:
        return None
    return parse_value(a, f"{sign}2^{first}"), parse_value(b, f"2^{second}")
