"""Sums whose c is aligned apart: no dot product loses more than theorems say, subnormal ones included."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from attack.statements import framed, grown
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.oracle.exact import dot
from tcformal.oracle.products import flushed
from tcformal.oracle.values import NumberClass, decode
from tcformal.theory.constants import constants, frame
from tcformal.theory.design import block_size

WMMA = (
    "v_wmma_f32_16x16x16_f16",
    "v_wmma_f32_16x16x16_bf16",
    "v_wmma_f16_16x16x16_f16",
    "v_wmma_bf16_16x16x16_bf16",
)
UNITS = [f"{rdna}/{x}" for rdna in ("rdna3", "rdna4") for x in WMMA]
ALTERED = [
    f"{UNITS[0]}@accumulation=twos_complement", f"{UNITS[0]}@products=8",
    f"{UNITS[4]}@products=8,aligned_group=4",
]  # fmt: skip


def drawn(rng: Random, f: Format, spread: int) -> int:
    """A zero or a normal number, often of an extreme fraction, or of one of the least exponents."""
    if rng.random() < 0.12:
        return rng.choice([0, f.sign_bit])
    exponent = rng.choice([rng.randint(-spread, spread), 0, -12, -13, f.e_min + rng.randint(0, 2)])
    last = (1 << f.fraction_bits) - 1
    field = min(max(exponent, f.e_min), f.e_max - 1) + f.bias
    fraction = rng.choice([0, 0, 1, last, last - 1, rng.randint(0, last)])
    return rng.randint(0, 1) * f.sign_bit | field << f.fraction_bits | fraction


def lost(unit: UnitSpec, a: list[int], b: list[int], c: int) -> tuple[Fraction, Fraction] | None:
    """The error of a dot product and its magnitudes; None where the result is no number."""
    d = unit.design
    made = decode(unit.d_format, dot(d, unit.a_format, unit.b_format, unit.c_format, unit.d_format, a, b, c))
    if made.kind is not NumberClass.FINITE:
        return None
    x, y = (
        [flushed(decode(f, w), d.operand_subnormals).number for w in words]
        for f, words in ((unit.a_format, a), (unit.b_format, b))
    )
    start = flushed(decode(unit.c_format, c), d.c_subnormals).number
    terms = [start, *(p * q for p, q in zip(x, y, strict=True))]
    return abs(made.number - sum(terms)), sum(map(abs, terms), Fraction(0))


def most_lost(name: str, draws: int) -> float:
    """How much of the bound the worst of some random and improved dot products loses."""
    unit, rng, worst = resolve(name), Random(name), 0.0
    n, of = block_size(unit), {zero: frame(unit, zero_c=zero) for zero in (False, True)}
    best: dict[tuple[bool, int], tuple[Fraction, list[int], list[int], int]] = {}
    for _ in range(draws):
        zero, blocks, spread = rng.random() < 0.5, rng.choice([1, 1, 2, 3, 4]), rng.choice([1, 3, 8, 13])
        known, found = of[zero], best.get((zero, blocks))
        assert known is not None
        a, b = ([drawn(rng, f, spread) for _ in range(n * blocks)] for f in (unit.a_format, unit.b_format))
        c = rng.choice([0, unit.c_format.sign_bit])
        if not zero:
            c = rng.choice(
                [drawn(rng, unit.c_format, 2 * spread), rng.randrange(1 << unit.c_format.fraction_bits)]
            )
        if found is not None and rng.random() < 0.7:
            i = rng.randrange(n * blocks)
            new, (_, a, b, start) = (a[i], b[i], c), found
            a, b, c = [*a], [*b], rng.choice([start, new[2]])
            a[i], b[i] = rng.choice([(new[0], b[i]), (a[i], new[1]), new[:2]])
        made = lost(unit, a, b, c)
        if made is None:
            continue
        error, size = made
        constant, beside = framed(unit, known, blocks - 1)
        assert error <= constant * size + beside, (name, a, b, c)
        ratio = error / size if size > Fraction(2) ** (unit.d_format.e_min + 20) else Fraction(0)
        worst = max(worst, float(ratio / constant))
        if found is None or ratio >= found[0]:
            best[zero, blocks] = ratio, a, b, c
    return worst


@pytest.mark.parametrize("name", [*UNITS, *ALTERED])
def test_no_dot_product_loses_more(name: str) -> None:
    assert 0.3 < most_lost(name, 400) <= 1


@pytest.mark.long
@pytest.mark.parametrize("name", UNITS)
def test_no_dot_product_of_many_loses_more(name: str) -> None:
    assert 0.9 < most_lost(name, 8000) <= 1


def test_constants_of_any_length_are_those_of_the_theorem() -> None:
    """Also where products of c's sign no longer lose less, and where blocks are many."""
    for name in UNITS:
        unit = resolve(name)
        found, of, n = constants(unit), frame(unit, zero_c=True), block_size(unit)
        assert found is not None
        assert of is not None
        for blocks in (1, 2, 3, 64, 65, 300, 1024):
            exact = grown(of, blocks - 1)
            assert exact <= found.of(n * blocks) <= exact * (1 + Fraction(1, 1 << 300)), (name, blocks)


def test_a_bound_asks_for_products_that_their_own_alignment_keeps() -> None:
    unit = resolve(UNITS[0])
    for bits, of_c, found in ((20, 23, True), (19, 23, False), (20, 22, False)):
        other = replace(unit, design=replace(unit.design, fraction_bits=bits, c_fraction_bits=of_c))
        assert (frame(other, zero_c=True) is not None) == found
