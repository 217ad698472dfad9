"""Designs to hold against a device's outputs: catalogued ones, and a unit with one parameter changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.design.rounding import MODES
from tcformal.design.spec import ACCUMULATIONS, ORDERS, SUBNORMALS, SUM_ROUNDINGS, SUMMATIONS, ZERO_SIGNS
from tcformal.design.unit import UnitSpec, base_name, same_formats, takes
from tcformal.errors import InputError

#: Steps by which numbers are changed.
_NEAR = (-2, -1, 1, 2)


def rivals(spec: UnitSpec, k: int) -> list[UnitSpec]:
    """The unit, its single-parameter variations, and a unit of every catalogued design of its formats.

    Each definition once: the unit itself first.
    """
    found = [spec, *variations(spec)]
    names = distinct_designs(lambda u: same_formats(u, spec) and takes(u, k))
    found += [resolve(name) for name in names]
    kept: dict[tuple[object, ...], UnitSpec] = {}
    for u in found:
        if takes(u, k):
            length = min(u.k, u.design.products)
            kept.setdefault((u.design, length, u.emulation, None if u.k >= k else u.k), u)
    return list(kept.values())


def variations(spec: UnitSpec) -> Iterator[UnitSpec]:
    """The unit with one parameter changed, every way that makes a design."""
    if spec.emulation is not None:
        return
    for key, value in _changes(spec):
        name = f"{spec.name},{key}={value}" if "@" in spec.name else f"{spec.name}@{key}={value}"
        try:
            yield resolve(_merged(spec, name, key, value))
        except InputError:
            continue  # a combination that means nothing


def _merged(spec: UnitSpec, name: str, key: str, value: Any) -> str:
    """The name with that parameter, in place of one that it gives already."""
    settings = spec.name.partition("@")[2]
    if not settings:
        return name
    kept = [part for part in settings.split(",") if part.partition("=")[0].strip() != key]
    return f"{base_name(spec)}@{','.join([*kept, f'{key}={value}'])}"


def _changes(spec: UnitSpec) -> Iterator[tuple[str, Any]]:
    d, fmt = spec.design, spec.operands.d
    length = min(spec.k, d.products)
    for products in (length // 4, length // 2, length * 2):
        if products and spec.k % products == 0:
            yield "products", products
    if d.fraction_bits is not None:
        yield from (("fraction_bits", d.fraction_bits + step) for step in _NEAR)
        yield "fraction_bits", "exact"
        yield from (("alignment_rounding", mode) for mode in MODES if mode != d.alignment_rounding)
        yield from (("carry_bits", bits) for bits in range(1, 8))
        for exponent in ("own", "none", *_shifted(d.zero_exponent)):
            if exponent != d.zero_exponent:
                yield "zero_exponent", exponent
        yield from (("accumulation", how) for how in ACCUMULATIONS if how != d.accumulation)
    if d.sum_fraction_bits is not None:
        yield from (("sum_fraction_bits", d.sum_fraction_bits + step) for step in _NEAR)
        yield from (("sum_rounding", mode) for mode in SUM_ROUNDINGS if mode != d.sum_rounding)
    yield "normalise_products", str(not d.normalise_products).lower()
    yield from (("summation", s) for s in SUMMATIONS if s != d.summation)
    yield from (("c_position", p) for p in ("joined", "first", "last") if p != d.c_position)
    yield from (("order", order) for order in ORDERS if order != d.order)
    mode, _, shape = d.conversion.partition("-")
    yield from (("rounding", m) for m in MODES if m != mode)
    if shape == "FP32":
        yield "conversion", f"{mode}-E8M13"
    elif shape == "E8M13":
        yield "conversion", f"{mode}-FP32"
    for key in ("operand_subnormals", "c_subnormals", "result_subnormals"):
        yield from ((key, rule) for rule in SUBNORMALS if rule != getattr(d, key))
    for rounding in ("none", *(f"{m}-{fmt.name.upper()}" for m in ("RNE", "RZ", "RO"))):
        if rounding.replace("none", "None") != str(d.product_rounding):
            yield "product_rounding", rounding
    yield from (("zero_sign", sign) for sign in ZERO_SIGNS if sign != d.zero_sign)
    yield "overflow", "ieee" if d.overflow == "infinity" else "infinity"
    yield from (("nan_rule", rule) for rule in ("word", "first_operand") if rule != d.nan_rule)
    yield from (("nan_word", f"{word:#x}") for word in _nan_words(spec) if word != d.nan_word)


def _shifted(exponent: int | str) -> list[int]:
    return [exponent + step for step in (*_NEAR, -6, 6, 16)] if isinstance(exponent, int) else []


def _nan_words(spec: UnitSpec) -> list[int]:
    """The default NaNs of IEEE, x86 and NVIDIA in the unit's D format."""
    d = spec.operands.d
    quiet = d.infinity | 1 << (d.fraction_bits - 1)
    return [quiet, quiet | 1 << (d.width - 1), (1 << (d.width - 1)) - 1]
