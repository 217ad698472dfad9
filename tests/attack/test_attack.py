"""Inputs against theorems and bounds: none breaks one, and what is too small, or false, is found."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import TypeGuard

import numpy as np
import pytest

from attack.bounds import all_bounds, length_bound, program_bound
from attack.distances import distance_bound
from attack.exact import Sums, decoded
from attack.rounds import Attacked, attack
from attack.statements import BOUNDS
from attack.theorems import (
    ErrorTheorem,
    IntegerTheorem,
    Theorem,
    all_theorems,
    altered,
    equal_units,
    theorems_of,
)
from tcformal.design.names import resolve
from tcformal.encodings.catalog import FORMATS
from tcformal.oracle.values import NumberClass, decode
from tcformal.theory.constants import relative_ok
from tcformal.theory.instances import Instance
from tcformal.theory.theorems import theorem_answer

AMPERE = "ampere/mma.m16n8k8.f32.f16.f16.f32"
FLUSHED = "cdna2/v_mfma_f32_32x32x8f16"
#: A bound that is a hundredth too small, and fraction bits of products that can lose nearly a unit.
_LESS, _WIDE = Fraction(99, 100), 7
#: Of the claims without a bound, so many of each are tried by default.
_SOME = 4


@cache
def every(neighbours_of_one_in: int = 40) -> tuple[Theorem, ...]:
    """What theorems say of all distinct designs; every instance can be read."""
    theorems, left = all_theorems(neighbours_of_one_in=neighbours_of_one_in)
    assert left == []
    return tuple(theorems)


def is_bounded(t: Theorem) -> TypeGuard[ErrorTheorem | IntegerTheorem]:
    """Whether there is a number that can be made smaller."""
    return isinstance(t, ErrorTheorem | IntegerTheorem)


def bounded() -> list[ErrorTheorem | IntegerTheorem]:
    """Those with a number that can be made smaller."""
    return [t for t in every() if is_bounded(t)]


def of_each_arithmetic() -> list[ErrorTheorem | IntegerTheorem]:
    """Of theorems with a bound one for each claim and design, whatever the formats of its operands."""
    found = {(t.claim, t.spec.design): t for t in bounded()}
    return sorted(found.values(), key=lambda t: t.spec.name)


def one(claim: str, unit: str) -> ErrorTheorem:
    """The theorem about the error of one unit."""
    (t,) = [x for x in bounded() if x.spec.name == unit and x.claim == claim]
    assert isinstance(t, ErrorTheorem)
    return t


def broken(all_: list[Attacked]) -> list[str]:
    """What inputs break, with an example of each."""
    return [f"{x.name}: {x.examples[0]}" for x in all_ if x.broken]


@pytest.mark.slow
def test_no_input_breaks_a_theorem_with_a_bound() -> None:
    """10^3 for one of each arithmetic, and most of them are what the theorem is about."""
    done = list(attack(of_each_arithmetic(), 1000, 20261127, rounds=1))
    assert len(bounded()) > 500
    assert len(done) > 100
    assert broken(done) == []
    assert all(x.met for x in done)
    assert sum(x.met for x in done) > 0.75 * sum(x.inputs for x in done)


@pytest.mark.slow
def test_no_input_breaks_an_equality() -> None:
    """Of each kind of claim some."""
    found: dict[str, list[Theorem]] = {}
    for t in every():
        if not is_bounded(t):
            found.setdefault(t.claim.partition(";")[0], []).append(t)
    assert {*found} == {
        "sign-magnitude", "carry-bits", "zero-exponent", "negation-symmetry", "product-order",
        "zero-products", "monotonicity", "exact-sum", "correctly-rounded", "equal", "agreement",
    }  # fmt: skip
    some = [t for ts in found.values() for t in ts[:: -(-len(ts) // _SOME)]]
    done = list(attack(sorted(some, key=lambda t: t.spec.name), 1000, 20261127))
    assert broken(done) == []
    assert all(x.met for x in done)


def test_no_input_breaks_a_bound_of_a_unit_a_program_or_a_distance() -> None:
    made = [
        length_bound(AMPERE, 16), program_bound("fma-chain", 4, (-14, 14)),
        program_bound("bf16x9", 3, (-14, 14)),
        distance_bound(AMPERE, "hopper/mma.m16n8k8.f32.f16.f16.f32"),
    ]  # fmt: skip
    for t in made:
        assert not isinstance(t, str)
        (done,) = attack([t], 512, 20261127)
        assert not done.broken, done.examples
        assert done.met


@pytest.mark.slow
def test_a_hundredth_of_the_bound_of_each_theorem_matters() -> None:
    """Of each theorem about errors one unit: a bound that is that much smaller is broken."""
    some = [t for t in bounded() if isinstance(t, ErrorTheorem)]
    left = {t.name for t in some}
    assert left == {*BOUNDS}
    for n, t in product((2000, 64_000), some):
        if t.name in left:
            (done,) = attack([t.smaller(_LESS)], n, 1, rounds=n // 1000, stop=True)
            left -= {t.name} if done.broken else set()
    assert left == set()


@pytest.mark.long
def test_no_input_of_very_many_breaks_a_theorem() -> None:
    assert broken(list(attack(every(1), 1_000_000, 20261128, rounds=40))) == []


@pytest.mark.long
def test_no_input_of_many_breaks_a_bound() -> None:
    for _, make in all_bounds():
        t = make()
        if not isinstance(t, str):
            assert broken(list(attack([t], 4096, 20261128, rounds=8))) == []


@pytest.mark.long
def test_bounds_that_are_a_hundredth_too_small_are_found() -> None:
    """Of errors those from c = 0 of one truncated sum whose products can lose nearly a unit.

    Products of few bits lose less, and sums in an order are counted step by step.
    """
    some = [t for t in bounded() if isinstance(t, ErrorTheorem) and _attained(t)]
    assert len(some) > 10
    done = list(attack([t.smaller(_LESS) for t in some], 100_000, 20261128, rounds=40, stop=True))
    assert [x.name for x in done if not x.broken] == []


def _attained(t: ErrorTheorem) -> bool:
    wide = min(t.spec.a_format.fraction_bits, t.spec.b_format.fraction_bits) >= _WIDE
    first = t.claim == "relative-error; c=0x0" and t.spec.emulation is None and t.spec.scale_format is None
    return wide and first and relative_ok(t.spec)


def test_a_bound_that_is_a_hundredth_too_small_is_found() -> None:
    """Of one unit, from few inputs: all claims of its errors, and one about integers."""
    spec, some = resolve(AMPERE), list[Theorem]()
    for claim in ("relative-error", "relative-error; c=0x0", "error-bound", "integer-sums"):
        found = theorem_answer(spec, claim)
        assert found is not None
        some += [t.smaller(_LESS) for t in theorems_of(found.instance, claim) if is_bounded(t)]
    done = list(attack(some, 4000, 1, rounds=8, stop=True))
    assert [x.name for x in done if not x.broken] == []
    assert len(done) == 4
    assert all(x.examples[0].startswith(f"tcformal explain {AMPERE} --a ") for x in done if x.broken)


def test_a_theorem_of_flushed_operands_is_none_of_the_operands() -> None:
    """The sum that a bound is about matters: with operands as they are, it is broken."""
    t = one("relative-error", FLUSHED)
    assert t.statement.flushed == {"a", "b", "c"}
    (done,) = attack([replace(t, statement=replace(t.statement, flushed=frozenset()))], 1000, 1)
    assert done.broken


def test_subtracted_products_are_none_that_are_added() -> None:
    t = one("relative-error", "x86/tcmmrlfp16ps")
    assert t.statement.subtracted == "odd"
    (done,) = attack([replace(t, statement=replace(t.statement, subtracted="none"))], 200, 1)
    assert done.broken


@pytest.mark.parametrize(
    "changes", [{"carry_bits": 1}, {"zero_exponent": 0}, {"fraction_bits": 26}, {"conversion": "RNE-FP32"}]
)
def test_a_false_equality_is_found(changes: dict[str, object]) -> None:
    (done,) = attack([altered("equal", resolve("hopper/mma.m16n8k16.f32.f16.f16.f32"), **changes)], 1000, 1)
    assert done.broken


def said(claim: str, unit: str) -> Theorem:
    """A claim as a theorem would say it of a unit of which it is false."""
    spec, *other = map(resolve, unit.split(" and "))
    if other:
        return equal_units(claim, spec, other[0], ("finite",), None)
    (t,) = theorems_of(Instance(claim=claim, unit=spec, theorem="", says=""), claim)
    return t


@pytest.mark.parametrize(
    ("claim", "unit"),
    [
        ("negation-symmetry", "cdna3/v_mfma_f32_16x16x8_xf32"),
        ("product-order", "cdna2/v_mfma_f32_32x32x8f16"),
        ("zero-products", "ampere/mma.m8n8k4.f64.f64.f64.f64"),
        ("monotonicity", AMPERE),
        ("exact-sum", AMPERE),
        ("correctly-rounded", AMPERE),
        ("agreement", f"{AMPERE} and hopper/mma.m16n8k8.f32.f16.f16.f32"),
    ],
)
def test_a_false_claim_is_found(claim: str, unit: str) -> None:
    (done,) = attack([said(claim, unit)], 4000, 1)
    assert done.broken


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_words_are_decoded_as_the_oracle_does(name: str) -> None:
    fmt, rng = FORMATS[name], np.random.default_rng(3)
    top = (1 << fmt.width) - 1
    words = np.concatenate(
        [rng.integers(0, top, 200, dtype=np.uint64, endpoint=True), np.arange(min(top, 40), dtype=np.uint64)]
    )
    made = decoded(fmt, words)
    for i, word in enumerate(words.tolist()):
        known = decode(fmt, word)
        assert bool(made.finite[i]) == (known.kind is NumberClass.FINITE)
        assert not made.finite[i] or made.value(i) == known.number


def test_sums_are_exact() -> None:
    """Against fractions, with cancellation over a thousand bits."""
    fmt, rng = FORMATS["fp64"], np.random.default_rng(4)
    words = rng.integers(1, fmt.largest, (4, 50), dtype=np.uint64)
    rows = [decoded(fmt, w) for w in words]
    made = Sums(50, -2200, 2050)
    for x, y in ((rows[0], rows[1]), (rows[2], rows[3])):
        made.add_product(x.negative, [x, y])
    made.add_product(~rows[0].negative, [rows[0], rows[1]])
    made.add(rows[2].negative, rows[2].significand, rows[2].exponent - 52)
    negative, size, e = made.sizes()
    for i in range(50):
        total = rows[2].value(i) * rows[3].value(i) + rows[2].value(i)
        found = Fraction(float(size[i])) * Fraction(2) ** int(e[i])
        assert abs(found / abs(total) - 1) < Fraction(1, 1 << 48)
        assert bool(negative[i]) == (total < 0)
