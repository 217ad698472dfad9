"""Rounded sums of a program whose powers of two are data: as factors, or as constants, one sum for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcformal.design.steps import RoundStep, ScaledProduct
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format
from tcformal.simulation.operands.random import Raw


@dataclass(frozen=True, slots=True)
class ScaledSum:
    """A sum that can be evaluated as an operation of its own.

    Shapes: `addends` take the arrays `operands` of encodings of `formats`; their powers of two are known.
    """

    formats: tuple[Format, ...]
    addends: tuple[ScaledProduct, ...]
    operands: list[Raw]


def with_factors(
    step: RoundStep, order: Sequence[int], formats: tuple[Format, ...], known: Mapping[int, Raw]
) -> ScaledSum | None:
    """The sum with each power of two as an encoding beside the value that it scales.

    Shapes: order: the steps whose values the addends are made of, with their `formats` and their arrays in
    `known`, where the exponents of two are too.
    None where an addend has two factors already, or a power is no normal number of binary32, or of binary64
    for its values.
    """
    made, operands, more = [], [known[i] for i in order], list(formats)
    for x in step.addends:
        factors = tuple(order.index(i) for i in x.factors)
        if not x.exponents:
            made.append(ScaledProduct(factors, x.negative, x.shift))
            continue
        fmt = FORMATS["fp64" if formats[factors[0]].storage_bits == 64 else "fp32"]
        if len(factors) > 1:
            return None
        ends = [sorted(sign * int(e) for e in (known[i].min(), known[i].max())) for i, sign in x.exponents]
        if (
            x.shift + sum(low for low, _ in ends) < fmt.e_min
            or x.shift + sum(high for _, high in ends) > fmt.e_max
        ):
            return None
        operands.append(_power(x, fmt, known))
        more.append(fmt)
        made.append(ScaledProduct((*factors, len(more) - 1), x.negative))
    return ScaledSum(tuple(more), tuple(made), operands)


def by_kind(
    step: RoundStep, order: Sequence[int], formats: tuple[Format, ...], known: Mapping[int, Raw],
    shape: tuple[int, ...],
) -> list[tuple[Any, ScaledSum]]:  # fmt: skip
    """The sum for each combination of powers of two that occurs, with the places of its elements.

    Shapes: places index arrays of `shape` flattened; the operands are those elements.
    """
    totals = [_flat(_total(x, known), shape) for x in step.addends]
    key = np.zeros(totals[0].shape, np.int64)
    for t in totals:
        _, codes = np.unique(t, return_inverse=True)
        # Codes are renumbered after each addend, so that they never outgrow an integer.
        _, key = np.unique(key * (int(codes.max()) + 1) + codes.reshape(-1), return_inverse=True)
    found = []
    for kind in range(int(key.max()) + 1):
        places = np.flatnonzero(key.reshape(-1) == kind)
        addends = tuple(
            replace(
                x, factors=tuple(order.index(i) for i in x.factors), shift=int(t[places[0]]), exponents=()
            )
            for x, t in zip(step.addends, totals, strict=True)
        )
        some = [_flat(known[i], shape)[places] for i in order]
        found.append((places, ScaledSum(formats, addends, some)))
    return found


def _power(x: ScaledProduct, fmt: Format, known: Mapping[int, Raw]) -> Raw:
    """The encodings of an addend's power of two: its field of exponents is the sum, one pass for each."""
    word: Any = np.dtype(f"u{fmt.storage_bits // 8}").type
    made = np.full((1, 1, 1), (x.shift + fmt.bias) << fmt.fraction_bits, word)
    for i, sign in x.exponents:
        made = made + ((sign * known[i]).astype(word) << word(fmt.fraction_bits))
    return np.asarray(made)


def _total(x: ScaledProduct, known: Mapping[int, Raw]) -> Raw:
    """The exponent of an addend's power of two: only as many elements as the exponents have."""
    total: Any = np.full((1, 1, 1), x.shift, np.int32)
    for i, sign in x.exponents:
        total = total + sign * known[i].astype(np.int32)
    return np.asarray(total)


def _flat(x: Raw, shape: tuple[int, ...]) -> Raw:
    return np.broadcast_to(x, shape).reshape(-1)
