"""Which exact sum a theorem is about, and that whoever uses it needs that one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from sampled import one_in
from tcformal.analysis.bounds.error_propagation import ErrorForm, StepErrors, check_small, needed_sum, nothing
from tcformal.analysis.bounds.program_accuracy import program_accuracy
from tcformal.analysis.bounds.proved import CallBounds, bounded_on_grid, grown, theorem_constant
from tcformal.analysis.bounds.word_forms import Range, Symbols
from tcformal.analysis.samples import values_of
from tcformal.design.catalog import distinct_designs, floating
from tcformal.design.names import resolve
from tcformal.design.steps import CallStep
from tcformal.encodings.catalog import format_named
from tcformal.errors import InputError
from tcformal.oracle.interpreter import program_result
from tcformal.oracle.values import decode, encode_exact
from tcformal.programs.program import Program, program
from tcformal.simulation.matrix_unit import Unit
from tcformal.theory.stated_sum import (
    LETTERS,
    NO_C,
    StatedSum,
    flushed_letters,
    normal_sum,
    sum_of,
)

CDNA2, COMPLEX, ADA = "cdna2/v_mfma_f32_32x32x8f16", "x86/tcmmrlfp16ps", "ada/mma.m16n8k32.f32.e5m2.e5m2.f32"
#: Units of every kind that take some subnormal operands for 0.
FLUSHING = [x for x in distinct_designs(floating) if flushed_letters(resolve(x).design)]


@pytest.fixture(autouse=True)
def _assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs are built here: no long ascent to others."""
    monkeypatch.setattr("tcformal.analysis.bounds.program_accuracy._ROUNDS", 1)
    monkeypatch.setattr("tcformal.analysis.bounds.program_accuracy._ROWS", 64)


def bounds() -> CallBounds:
    return CallBounds()


def bound(p: Program, n: int, low: int, high: int) -> Fraction:
    return StepErrors(p.plan(n), Range(low, high), bounds()).constant()


def written(body: str, **inputs: str) -> Program:
    formats = {"a": "fp32", "b": "fp32", "c": "fp32"} | inputs
    return Program(name="mine", title="", source="a test", inputs=formats, body=body)


# ------------------------------------------------------------------ theorems
def test_a_theorem_says_which_sum_it_is_about() -> None:
    assert sum_of(resolve(CDNA2)) == StatedSum(flushed=LETTERS, c="last")
    assert sum_of(resolve(COMPLEX)) == StatedSum(flushed=frozenset("c"), subtracted="odd", c="last")
    assert sum_of(resolve("x86/tdpbhf8ps")).flushed == frozenset("ac")
    assert sum_of(resolve("vortex/VX_tcu_fedp_tfr.bf16")).flushed == frozenset()
    ada = theorem_constant(resolve(ADA))
    assert ada is not None
    assert ada.sum.c_bits == 13
    found = bounds().of(resolve(CDNA2), 4, StatedSum(flushed=LETTERS, c=NO_C)).sum
    assert found == StatedSum(flushed=LETTERS, c=NO_C)


@pytest.mark.parametrize(
    ("theorem", "needed", "said"),
    [
        ({}, {}, ""),
        ({"flushed": LETTERS}, {}, "expected a and b and c as they are"),
        ({"flushed": LETTERS}, {"normal": LETTERS}, ""),
        ({"flushed": LETTERS}, {"flushed": frozenset("ab"), "c": NO_C}, ""),
        ({"flushed": frozenset("b")}, {"flushed": frozenset("ac")}, "expected b as they are"),
        ({"normal": frozenset("c")}, {}, "expected c to be zero or normal"),
        ({"normal": frozenset("c")}, {"c": NO_C}, ""),
        ({"subtracted": "odd"}, {}, "expected products of odd k that are added"),
        ({}, {"subtracted": "odd"}, "expected products of odd k that are taken away"),
        ({"c": NO_C}, {}, "expected a theorem about any c"),
        ({"c_bits": 13}, {}, "expected c of at most 13 fraction bits"),
        ({"c_bits": 13}, {"c_bits": 14}, "expected c of at most 13 fraction bits"),
        ({"c_bits": 13}, {"c_bits": 13}, ""),
        ({"c_bits": 13}, {"c": NO_C}, ""),
    ],
)  # fmt: skip
def test_a_theorem_about_another_sum_is_refused(
    theorem: dict[str, object], needed: dict[str, object], said: str
) -> None:
    refused = StatedSum(**theorem).refusal(StatedSum(**needed), "mine", 2)  # type: ignore[arg-type]
    assert refused.startswith(said)
    assert bool(refused) == bool(said)


def test_of_one_product_nothing_is_taken_away() -> None:
    assert not StatedSum(subtracted="odd").refusal(StatedSum(), "mine", 1)
    assert bounds().of(resolve(COMPLEX), 1, StatedSum(normal=LETTERS, c=NO_C)).sum.subtracted
    with pytest.raises(InputError, match="that are added, but those of x86/tcmmrlfp16ps are taken away"):
        bounds().of(resolve(COMPLEX), 2, StatedSum(normal=LETTERS, c=NO_C))


def test_no_theorem_about_the_wrong_sum_is_given() -> None:
    """Of any operands, neither: what it takes for 0 is for the user to count."""
    with pytest.raises(InputError, match="expected a and b as they are, but cdna2"):
        bounds().of(resolve(CDNA2), 4, StatedSum(c=NO_C))


def test_theorems_about_rounded_sums_are_about_any_operands() -> None:
    """Those about truncated sums are not: of these the error in terms of exponents is taken, or none."""
    any_of = StatedSum()
    found = bounds().of(resolve("cdna1/v_mfma_f32_32x32x8f16"), 4, any_of)
    assert found.sum.normal == frozenset()
    volta = resolve("volta/mma.m8n8k4.f32.f16.f16.f32")
    known = theorem_constant(volta)
    assert known is not None
    assert known.sum.refusal(any_of, volta.name, 4).startswith("expected a and b and c to be zero or normal")
    used = bounds()
    assert used.of(volta, 4, any_of).own > used.of(volta, 4, StatedSum(normal=LETTERS)).own
    assert [x.theorem for x in used.theorems] == ["error_in_exponents", "relative_error_from_zero"]
    with pytest.raises(InputError, match="expected a and b and c to be zero or normal for hopper/emulated"):
        bounds().of(resolve("hopper/emulated.mma.m16n8k16.f16.e4m3.e4m3.f16"), 4, any_of)


@pytest.mark.parametrize("name", one_in(4, FLUSHING))
def test_a_unit_makes_of_a_flushed_operand_what_it_makes_of_zero(name: str) -> None:
    """So that a theorem about operands that are zero or normal is one about those that are flushed."""
    unit = Unit(resolve(name))
    flushed, rng = normal_sum(unit.spec).flushed, np.random.default_rng(3)
    words: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for letter, fmt in zip("abc", (unit.a_format, unit.b_format, unit.c_format), strict=True):
        shape = (64, unit.k) if letter != "c" else (64,)
        field = rng.integers(fmt.bias - 3, fmt.bias + 4, shape)
        small = rng.random(shape) < 0.4
        row = (np.where(small, 0, field) << fmt.fraction_bits) | rng.integers(
            0, 1 << fmt.fraction_bits, shape
        )
        row = (row << fmt.ignored_low_bits) | rng.integers(0, 2, shape) * fmt.sign_bit
        row[:4] &= fmt.sign_bit | ((1 << fmt.fraction_bits) - 1) << fmt.ignored_low_bits  # of one row all
        zeros = row & fmt.sign_bit if letter != "c" or "positive" not in unit.spec.design.c_subnormals else 0
        plain = np.where(np.abs(values_of(row, fmt)) < 2.0**fmt.e_min, zeros, row)
        kind = f"u{fmt.storage_bits // 8}"
        words[letter] = row.astype(kind), (plain if letter in flushed else row).astype(kind)
    made = [unit.dot_bits(*(words[x][i] for x in "abc")) for i in (0, 1)]
    values = [values_of(d, unit.d_format) for d in made]
    assert (values[0] == values[1]).all()
    assert flushed or name.startswith("et-soc-1")


# ------------------------------------------------------------------ programs
@pytest.mark.parametrize(
    ("unit", "low"),
    [
        (CDNA2, -6), (CDNA2, -14), pytest.param("x86/tdpbf16ps", -120, marks=pytest.mark.slow),
        ("cdna2/v_mfma_f32_32x32x4bf16", -100),
        pytest.param("x86/tdpbf8ps", -4, marks=pytest.mark.slow),
        pytest.param("x86/tdphbf8ps", -4, marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_words_that_calls_flush_are_counted(unit: str, low: int) -> None:
    """Of a word and what is left of it, which is subnormal: what is found comes near the bound, below it."""
    o = resolve(unit).operands
    p = written(
        f"x, y = split(a, {o.a.name}), split(b, {o.b.name})\nt = call('{unit}', x[0], y[0])\n"
        f"t = call('{unit}', x[0], y[1], t)\nd = call('{unit}', x[1], y[0], t)"
    )  # fmt: skip
    x = program_accuracy(p, length=1, exponents=(low, low + 4))
    if x.bound is None:
        assert low < -60
        assert "but some may be smaller" in x.reason
        return
    assert x.bound / 5 < x.near.ratio <= x.bound


def test_the_splitting_that_loses_the_second_word() -> None:
    """Found by hand: both remainders are flushed."""
    p, (a, b) = program(f"markidis@unit={CDNA2}"), (0x3C801000, 0x3D09AFD6)
    single = format_named("fp32")
    exact = decode(single, a).number * decode(single, b).number
    lost = abs(decode(single, program_result(p.plan(1), [a], [b], 0)).number - exact) / abs(exact)
    assert lost > Fraction(93, 100_000)
    assert lost <= bound(p, 1, -6, 14) < Fraction(1, 1000)


def test_words_that_are_never_subnormal_are_not_counted() -> None:
    """Where the sums agree, a bound stays what it was."""
    p = written(f"d = call('{CDNA2}', a, b)", a="fp16", b="fp16")
    assert bound(p, 4, -14, 4) == bound(p, 4, -2, 4) < Fraction(1, 1 << 21)


def test_what_is_flushed_is_all_of_a_product() -> None:
    symbols, half, single = Symbols(Range(-4, 4)), format_named("fp16"), format_named("fp32")
    whole = symbols.input("a", single)
    high = symbols.rounded(whole, single, half, "RNE", False)
    low = symbols.rounded(symbols.total([whole, high.scaled(Fraction(-1))]), single, half, "RNE", False)
    assert symbols.flushed(low, half) == symbols.share(low)
    assert Symbols(Range(0, 4)).flushed(replace(whole, grid=30, floor=Fraction(0)), half) == Fraction(
        1, 1 << 14
    )
    other = symbols.input("b", single)
    counted, lost = symbols.sizes([(low, half), (other, single)], "ab")
    assert lost == counted == symbols.share(low)
    assert symbols.sizes([(high, half), (other, single)], "ab")[1] == 0
    raised, nothing_lost = symbols.sizes([(low, half), (other, single)], "")
    assert (raised, nothing_lost) == (Fraction(1, 1 << 10), Fraction(0))
    assert symbols.sizes([(low, half), (low, half)], "ab")[1] == symbols.share(low) ** 2


def test_a_program_does_not_take_subtracted_products_for_added_ones() -> None:
    unit = "x86/vdpphps@negated=odd"
    p = written(f"d = call('{unit}', a, b)", a="fp16", b="fp16")
    x = program_accuracy(p, length=2)
    assert x.bound is None
    assert x.reason == f"expected products of odd k that are added, but those of {unit} are taken away"
    assert x.near.ratio > Fraction(1)
    alone = program_accuracy(p, length=1)
    assert alone.bound is not None


def test_a_long_c_takes_a_theorem_about_any_c() -> None:
    """The sum that a call goes on from has 23 fraction bits, of which the relative theorem says nothing."""
    one = f"t = mul(a[0], b[0], fp32)\nd = call('{ADA}', a, b, t)"
    two = f"t = call('{ADA}', a, b)\nd = call('{ADA}', a, b, t)"
    plans = [written(body, a="e5m2", b="e5m2").plan(1) for body in (one, two)]
    steps = [next(s for s in reversed(x.steps) if isinstance(s, CallStep)) for x in plans]
    needed = [needed_sum(s, x, LETTERS, zero_c=False) for s, x in zip(steps, plans, strict=True)]
    assert [x.c_bits for x in needed] == [23, 13]
    found = [bounds().of(resolve(ADA), 1, x).sum.c_bits for x in needed]
    assert found == [None, 13]


@pytest.mark.parametrize(
    ("grid", "fine"), [(-10, True), (-11, False), (-30, False), (-50, False), (None, False)]
)
def test_what_may_underflow_in_a_call_is_refused(grid: int | None, fine: bool) -> None:
    """Products, and c: at the least power of two, and as little below it as can be."""
    step = SimpleNamespace(unit=resolve(CDNA2))
    some = ErrorForm((), np.ones(1), {}, grid)
    for products, c in ((some, ErrorForm((), nothing(1))), (ErrorForm((), nothing(1)), some)):
        if fine:
            check_small(step, products, c, -10)  # type: ignore[arg-type]
            continue
        with pytest.raises(InputError, match=r"of at least 2\^-10 for cdna2/.*, but some may be smaller"):
            check_small(step, products, c, -10)  # type: ignore[arg-type]


def test_a_subnormal_c_is_refused() -> None:
    step, small = (
        SimpleNamespace(unit=resolve("volta/mma.m8n8k4.f16.f16.f16.f16")),
        ErrorForm((), np.ones(1), {}, -15),
    )
    with pytest.raises(InputError, match=r"expected c of at least 2\^-14"):
        check_small(step, ErrorForm((), nothing(1)), small, -30)  # type: ignore[arg-type]


@pytest.mark.parametrize(("high", "fine"), [(6, True), (7, False)])
def test_a_product_that_may_be_too_large_is_refused(high: int, fine: bool) -> None:
    """Elements below 2^8 have products below 2^16, of which fp16 has no number."""
    p = written("d = mul(a[0], b[0], fp16)", c="fp16")
    if fine:
        assert bound(p, 1, -3, high) > 0
        return
    with pytest.raises(InputError, match="do not overflow fp16"):
        bound(p, 1, -3, high)


def test_a_product_that_is_rounded_below_the_least_normal_number_is_in_the_bound() -> None:
    """2^-140 keeps nine bits: far more is lost than of a normal number."""
    p = written("d = mul(a[0], b[0], fp32)")
    x, y = (Fraction(2) ** -70 * (1 + Fraction(1, n)) for n in (32, 64))
    fp32 = format_named("fp32")
    a, b = (encode_exact(fp32, v) for v in (x, y))
    lost = abs(decode(fp32, program_result(p.plan(1), [a], [b], 0)).number / (x * y) - 1)
    assert Fraction(1, 1 << 12) < lost <= bound(p, 1, -70, -60)


def test_an_error_of_one_step_of_the_grid_is_none_of_zero() -> None:
    """e4m3: products are multiples of 2^-18, and two of them at most 2·448^2."""
    u, step = resolve("hopper/wgmma.m64n8k32.f32.e4m3.e4m3"), Fraction(1, (1 << 18) * 2 * 448**2)
    found = bounded_on_grid(u, 2, step * Fraction(99, 100))
    assert found is not None
    assert found[0] == 0
    found = bounded_on_grid(u, 2, step)
    assert found is None or found[0] > 0


@pytest.mark.parametrize("first", [Fraction(1, 1 << 24), Fraction(7, 3 << 12)])
def test_errors_of_many_steps_are_rounded_up(first: Fraction) -> None:
    exact = (1 + first) ** 1001 - 1
    assert 0 <= grown(first, first, 1000) / exact - 1 < Fraction(1, 1 << 300)


@pytest.mark.parametrize("normal", [True, False])
def test_products_of_a_program_that_underflow_are_refused(normal: bool) -> None:
    """A few binades below the least normal number, of elements alone and of what is left of them."""
    unit = "cdna1/v_mfma_f32_32x32x4bf16"
    body = f"d = call('{unit}', a, b)" if normal else f"x = split(a, bf16)\nd = call('{unit}', x[1], b)"
    p = written(body, b="bf16", **({"a": "bf16"} if normal else {}))
    edge = -56 if normal else -120
    with pytest.raises(InputError, match="but some may be smaller"):
        bound(p, 1, edge - 1, edge + 2)
    if normal:
        assert bound(p, 1, edge, edge + 2) < Fraction(1, 1 << 22)
