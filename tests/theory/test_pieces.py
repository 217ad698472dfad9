"""Products in pieces, and c added after: drawn calls on the oracle lose no more than the theorems say."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

import pytest

from attack.statements import in_exponents
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign
from tcformal.oracle.values import decode
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result
from tcformal.theory.constants import exponent_units, fine, joined, piecewise, power, product_loss

#: Significands of four bits in pieces of two.
_PIECES = (
    "tfdpa@products=2,a_format=e3m3,b_format=e3m3,c_format=fp16,d_format=fp16,zero_exponent=-20,piece_bits=2"
)
TOY = f"{_PIECES},fraction_bits=11,conversion=RZ-FP16"
#: The lowest of them left out, and fewer bits than a product has.
CUT = f"{_PIECES},fraction_bits=5,conversion=RZ-E5M4,dropped_pieces=1"
#: The same with a c of which the sum cuts nothing.
DROPPED = CUT.replace("fp16", "e5m4")
_AFTER = (
    "tfdpa@products=2,c_position=after,zero_exponent=none,c_format=e5m2,d_format=e5m2,conversion=RNE-E5M2"
)
AFTER = f"{_AFTER},a_format=e2m1,b_format=e2m1,fraction_bits=3"
FLUSHED = (
    f"{_AFTER},a_format=e3m2,b_format=e3m2,fraction_bits=5,normalise_operands=true,"
    "result_subnormals=signed_zero,c_subnormals=signed_zero"
)
BOTH = f"{_AFTER},a_format=e2m3,b_format=e2m1,fraction_bits=5,piece_bits=2"
UNITS = (
    TOY, CUT, DROPPED, AFTER, FLUSHED, BOTH, "gaudi2/mme.fp8_143", "gaudi2/mme.fp8_152", "gaudi2/mme.fp16",
    "gaudi2/mme.fp32", "gaudi2/mme.bf16", "gaudi2/mme.tf32", "gaudi3/mme.fp16", "gaudi3/mme.tf32",
    "gaudi3/mme.fp32",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """A call's error, the magnitudes of its terms as they are taken in, and their largest exponent."""

    error: Fraction
    size: Fraction
    top: int
    result: Fraction


def number(f: Format, word: int, *, flushed: bool) -> Fraction:
    x = decode(f, word).number
    return Fraction(0) if flushed and abs(x) < power(f.e_min) else x


def leading_exponent(x: Fraction) -> int:
    low = abs(x).numerator.bit_length() - abs(x).denominator.bit_length() - 1
    return low + (abs(x) >= power(low + 1))


def exponent(f: Format, x: Fraction, *, normalised: bool) -> int:
    return leading_exponent(x) if normalised else max(leading_exponent(x), f.e_min)


def drawn_word(rng: random.Random, f: Format, near: int, spread: int, *, leading: bool) -> int:
    """A number of which digits are zeros or ones, its exponent near another."""
    if rng.random() < 0.1:
        return 0
    low = f.e_min if leading else f.e_min - 1
    field = max(low, min(f.e_max - 1, near + rng.randint(-spread, spread))) + f.bias
    bits = f.fraction_bits
    fraction = rng.choice(
        [rng.getrandbits(bits), (1 << bits) - 1, 0, rng.getrandbits(bits) | (1 << bits // 2) - 1]
    )
    fraction ^= rng.choice([0, 0, 1, 1 << rng.randrange(bits)])
    sign = rng.getrandbits(1) << (f.exponent_bits + bits) if f.sign is Sign.PRESENT else 0
    return (sign | max(field, 0) << bits | fraction) << f.ignored_low_bits


def drawn_call(rng: random.Random, unit: UnitSpec, *, zero_c: bool, leading: bool) -> Call | None:
    """One call's error on the oracle; None where the result is no number."""
    d, a, b, c = unit.design, unit.a_format, unit.b_format, unit.c_format
    bits, one = int(d.fraction_bits or 0), a.fraction_bits + b.fraction_bits
    # Some products lie below the others by so much that the sum cuts them.
    shift, spread = rng.choice([0, bits - one + rng.randint(0, one), bits]), rng.choice([0, 1, 4])
    words: list[tuple[int, int]] = []
    for k in range(unit.k):
        down = shift if k and rng.random() < 0.8 else 0
        x = drawn_word(rng, a, rng.randint(-1, 2) - down // 2, spread, leading=leading)
        words.append((x, drawn_word(rng, b, -(down - down // 2), spread, leading=leading)))
    z = 0 if zero_c else drawn_word(rng, c, rng.choice([0, 1, 2, -bits, bits]), spread, leading=leading)
    first, second = zip(*words, strict=True)
    result = decode(unit.d_format, oracle_result(unit, Witness(first, second, z)))
    if result.kind.name != "FINITE":
        return None
    flushed = d.operand_subnormals != "kept"
    taken = [(number(a, x, flushed=flushed), number(b, y, flushed=flushed)) for x, y in words]
    terms, of_c = [x * y for x, y in taken], number(c, z, flushed=d.c_subnormals != "kept")
    tops = [d.rho.e_min] + [
        sum(exponent(f, v, normalised=d.normalise_operands) for f, v in ((a, x), (b, y)))
        for x, y in taken
        if x * y
    ]
    if joined(unit) and of_c:
        tops.append(exponent(c, of_c, normalised=False))
    size = sum(map(abs, terms), abs(of_c))
    return Call(abs(result.number - sum(terms) - of_c), size, max(tops), abs(result.number))


def allowed(unit: UnitSpec, x: Call) -> Fraction:
    """What `piecewise_in_exponents` allows."""
    d, found = unit.design, exponent_units(unit)
    assert found is not None
    exp = max(leading_exponent(x.result), d.rho.e_min) if x.result else d.rho.e_min
    at = {"E": x.top, "ulp": exp - d.rho.fraction_bits, "1": 0}
    return in_exponents(d, found[1]).exact(at, (Fraction(0), Fraction(0)))


@pytest.mark.parametrize("name", UNITS)
def test_no_drawn_call_loses_more(name: str) -> None:
    unit, rng, compared = resolve(name), random.Random(name), 0
    found = piecewise(unit)
    assert (found is None) == (name == CUT)
    for i in range(1500):
        zero_c, leading = i % 2 == 0, i % 3 != 0
        x = drawn_call(rng, unit, zero_c=zero_c, leading=leading)
        if x is None:
            continue
        assert x.error <= allowed(unit, x)
        # Results and c that are not subnormal leave nothing beside the magnitudes.
        if (
            found is not None
            and leading
            and x.top > unit.design.rho.e_min
            and x.result >= power(unit.d_format.e_min)
        ):
            compared += 1
            assert x.error <= fine(unit, found.first if zero_c else max(found.later, found.of_c)) * x.size
    assert found is None or compared > 300


@pytest.mark.parametrize(
    ("name", "share"), [("gaudi2/mme.fp32", 0.99), ("gaudi3/mme.tf32", 0.75), (FLUSHED, 0.6)]
)
def test_a_smaller_constant_is_refuted(name: str, share: float) -> None:
    """By the same calls: what they lose is near the theorem's constant from c = 0."""
    unit, rng = resolve(name), random.Random(name)
    found = piecewise(unit)
    assert found is not None
    most = Fraction(0)
    for _ in range(3000):
        x = drawn_call(rng, unit, zero_c=True, leading=True)
        if x is not None and x.size and x.result >= power(unit.d_format.e_min):
            most = max(most, x.error / x.size)
    assert most > share * float(fine(unit, found.first))


def test_pieces_on_a_diagonal_lose_what_one_number_would() -> None:
    """Two digits each: three units; three digits: five, and the lowest product of digits is left out."""
    for name, share, own, rest in (
        ("gaudi3/mme.tf32", 3 * 4096, 0, 0), ("gaudi2/mme.fp32", 3 * 4096, 0, 0),
        ("gaudi3/mme.fp32", 5 * 4096, 20288, 64),
    ):  # fmt: skip
        found = product_loss(resolve(name))
        assert found is not None
        assert (found.share, found.own, found.rest) == (share, own, rest)
    assert product_loss(resolve("gaudi3/mme.tf32@fraction_bits=none")) is None
