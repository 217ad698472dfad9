"""Inputs of one term alone, and what answers show: signs, bits of products, and where results overflow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tcformal.design.rounding import NEGATED
from tcformal.design.spec import subtracts
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import DeviceError
from tcformal.identification.asking.ask import Asker
from tcformal.identification.order.order import Order
from tcformal.identification.order.tasks import AskBatch
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import NumberClass, decode, encoded
from tcformal.simulation.operands.batch import Batch, Raw, with_scales

#: Products of random factors that are asked alone, and their seed.
_PRODUCTS, _SEED = 16, 3

#: What is measured of a device that refuses c, and what is not tested of it then.
REFUSES_C, ANY_C = "none: the device takes no c but 0", "any c but 0"


@dataclass(frozen=True, slots=True)
class Isolated:
    """What terms alone show.

    Ranges and units: fraction bits that products have, and c, at most, after every rounding.
    """

    product_bits: int
    c_bits: int
    #: The exponent from which results overflow, where that is below the end of the format; None elsewhere.
    limit: int | None = None


def isolated(asker: Asker) -> Isolated:
    """Ask for products and for c alone, as random numbers and as powers of two.

    Errors: as `Asker.ask`.
    """
    spec, d = asker.spec, asker.spec.d_format
    rng = np.random.default_rng(_SEED)
    some = [(_significand(rng, spec.a_format), _significand(rng, spec.b_format), 0) for _ in range(_PRODUCTS)]
    some += [(0, 0, _significand(rng, spec.c_format)) for _ in range(_PRODUCTS)]
    powers = [x for e in range(d.e_max + 1) if (x := _power(spec, e)) is not None]
    batch = _batch(spec, asker.k, [*some, *(words for _, words in powers)])
    answers = asker.ask(batch).tolist()
    bits = [_fraction_bits(d, word) for word in answers]
    limit = overflow_limit(d, zip((e for e, _ in powers), answers[len(some) :], strict=True))
    return Isolated(max(bits[:_PRODUCTS]), max(bits[_PRODUCTS : 2 * _PRODUCTS]), limit)


def overflow_limit(d: Format, powers: Iterable[tuple[int, int]]) -> int | None:
    """The least n from which on no 2^n comes back, though all lower ones do; None where all come back.

    Shapes: exponents, ascending, with the device's words for these powers of two.
    """
    found = None
    for e, word in powers:
        value = decode(d, word)
        same = value.kind is NumberClass.FINITE and abs(value.number) == power_of_two(e)
        if found is None and not same:
            found = e
        elif found is not None and same:
            return None
    return found or None


def refuses_c(asker: Asker, failure: DeviceError) -> bool:
    """Whether a device that failed refuses a c that is not 0, and nothing else; from then on every c is 0."""
    spec = asker.spec
    a, b = (np.full((1, asker.k), fmt.one, np.uint64) for fmt in (spec.a_format, spec.b_format))
    plain = with_scales(spec, Batch(a, b, np.zeros(1, np.uint64)))
    with suppress(DeviceError):
        asker.ask(plain)
        try:
            asker.ask(replace(plain, c=np.array([spec.c_format.one], np.uint64)))
        except DeviceError as error:
            asker.refused = str(error) or str(failure)
    return bool(asker.refused)


def product_signs(asker: Asker) -> str:
    """Which products are subtracted, as `negated` has it; empty where that is none of its words.

    Errors: as `Asker.ask`.
    """
    spec, k = asker.spec, asker.k
    ones = np.zeros((k, k), np.uint64)
    a, b = ones.copy(), ones.copy()
    np.fill_diagonal(a, spec.a_format.one)
    np.fill_diagonal(b, spec.b_format.one)
    answers = asker.ask(with_scales(spec, Batch(a, b, np.zeros(k, np.uint64)))).tolist()
    numbers = [decode(spec.d_format, word) for word in answers]
    signs = [x.number if x.kind is NumberClass.FINITE else Fraction(0) for x in numbers]
    for word in NEGATED:
        if signs == [-1 if subtracts(word, i) else 1 for i in range(k)]:
            return word
    return ""


def with_signs(ask: AskBatch, negated: str, spec: UnitSpec) -> AskBatch:
    """Questions in which products that are subtracted have the other sign, so that they are added."""

    def asked(batch: Batch) -> Raw:
        a = batch.a.copy()
        columns = [i for i in range(a.shape[1]) if subtracts(negated, i)]
        a[:, columns] ^= np.where(a[:, columns] != 0, np.uint64(spec.a_format.sign_bit), np.uint64(0))
        return np.asarray(ask(replace(batch, a=a)))

    return asked


def beside_order(order: Order, negated: str, refused: str) -> dict[str, str]:
    """What is measured beside the order of a sum: subtracted products, and whether there is a c.

    `refused`: the words in which the device refuses any c but 0, or nothing.
    """
    made = {}
    if negated != "none":
        made["subtracted products"] = "those of odd k" if negated == "odd" else negated
    if refused:
        made["accumulator"] = f"{REFUSES_C} ({refused})"
    elif order.root is not None and not any("c" in step.children for step in order.root.steps()):
        made["accumulator"] = "none: no c changes a result"
    return made


def _batch(spec: UnitSpec, k: int, rows: Sequence[tuple[int, int, int]]) -> Batch:
    """The first product and c of each row; everything else is zero."""
    a, b = (np.zeros((len(rows), k), np.uint64) for _ in "ab")
    a[:, 0], b[:, 0] = [x for x, _, _ in rows], [y for _, y, _ in rows]
    return with_scales(spec, Batch(a, b, np.array([z for _, _, z in rows], np.uint64)))


def _significand(rng: np.random.Generator, fmt: Format) -> int:
    """A number from 1 to 2 whose last fraction bit is set."""
    fraction = int(rng.integers(0, 1 << fmt.fraction_bits)) | (fmt.fraction_bits > 0)
    return fmt.one | fraction << fmt.ignored_low_bits


def _power(spec: UnitSpec, e: int) -> tuple[int, tuple[int, int, int]] | None:
    """A power of two as a product, or as c where the factors do not reach so far; None where neither does."""
    low = max(spec.a_format.e_min, min(spec.a_format.e_max, e // 2))
    for first in (low, min(spec.a_format.e_max, max(spec.a_format.e_min, e - spec.b_format.e_max))):
        x = encoded(spec.a_format, power_of_two(first))
        y = encoded(spec.b_format, power_of_two(e - first))
        if x is not None and y is not None:
            return e, (x, y, 0)
    c = encoded(spec.c_format, power_of_two(e))
    return None if c is None else (e, (0, 0, c))


def _fraction_bits(d: Format, word: int) -> int:
    """The fraction bits that a finite result needs; 0 for others."""
    value = decode(d, word)
    if value.kind is not NumberClass.FINITE or not value.number:
        return 0
    n = abs(value.number.numerator) * value.number.denominator
    return n.bit_length() - (n & -n).bit_length()
