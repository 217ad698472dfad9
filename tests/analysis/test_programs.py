"""Bounds of programs: what is found never exceeds them, cancellations count, the unknown is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tcformal.analysis.bounds.error_propagation import ProductRun, StepErrors, Sums
from tcformal.analysis.bounds.program_accuracy import nearest, program_accuracy
from tcformal.analysis.bounds.proved import CallBound, CallBounds
from tcformal.analysis.bounds.word_forms import Range, Symbols, exponent
from tcformal.design.names import resolve
from tcformal.encodings.catalog import format_named
from tcformal.errors import InputError
from tcformal.oracle.interpreter import program_result
from tcformal.oracle.values import decode, encode_exact
from tcformal.programs.program import Program, program
from tcformal.simulation.runnable import RunnableProgram
from tcformal.theory.stated_sum import LETTERS, NO_C, StatedSum

U = Fraction(1, 1 << 24)
HALF = Range(-14, 14)


def bound(name: str | Program, n: int, exponents: Range | None = HALF) -> Fraction:

    p = program(name) if isinstance(name, str) else name
    return StepErrors(p.plan(n), exponents, CallBounds()).constant()


def written(body: str, **inputs: str) -> Program:
    formats = {"a": "fp32", "b": "fp32", "c": "fp32"} | inputs
    return Program(name="mine", title="", source="a test", inputs=formats, body=body)


@pytest.mark.parametrize(
    ("name", "n", "units"),
    [
        ("fma-chain", 4, 4),
        ("fma-chain", 256, 256.002),
        ("pairwise", 16, 5),
        ("kahan", 64, 4.00002),
        ("bf16x9", 16, 9.7615),
        ("split-k", 16, 12),
    ],
)
def test_bounds_of_programs(name: str, n: int, units: float) -> None:
    assert float(bound(name, n) / U) == pytest.approx(units, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "n", "least"),
    [
        pytest.param(*("bf16x9", 16, 0.95), marks=pytest.mark.long),
        pytest.param(*("ootomo-yokota", 8, 0.4), marks=pytest.mark.long),
        pytest.param(*("cutlass-3xtf32", 8, 0.5), marks=pytest.mark.long),
        ("markidis", 8, 0.0),
        pytest.param(*("xdna-fp32", 4, 0.2), marks=pytest.mark.long),
        ("kahan", 4, 0.3),
        ("pairwise", 8, 0.7),
        pytest.param(*("deepgemm-fp8", 32, 0.95), marks=pytest.mark.long),
    ],
)
def test_what_is_found_stays_below_and_comes_near(name: str, n: int, least: float) -> None:
    p = program(name)
    among = Range(max(-14, p.input_format("a").e_min), min(14, p.input_format("a").e_max))
    most, x = bound(p, n, among), nearest(p, n, among)
    assert least * most <= x.ratio <= most


def test_words_hold_all_of_a_number() -> None:
    """Three words of bfloat16 are an fp32 number, so that only the sums lose."""
    assert bound(written("x = split(a, bf16, words=3)\ny = split(b, bf16, words=3)\n"
                         "t = 0\nfor i in range(3):\n    for j in range(3):\n"
                         "        t = add(t, mul(x[i][0], y[j][0], fp64), fp64)\n"
                         "d = add(t, c, fp64)", c="fp64"), 1) < U * U * 256  # fmt: skip
    two = bound(written("x = split(a, bf16)\ny = split(b, bf16)\nt = 0\nfor i in range(2):\n"
                        "    for j in range(2):\n        t = add(t, mul(x[i][0], y[j][0], fp64), fp64)\n"
                        "d = add(t, c, fp64)", c="fp64"), 1)  # fmt: skip
    assert 2.0**-16 < two < 2.0**-15


def test_words_are_within_their_bounds() -> None:
    """Every rounding of a word, and what underflows in the range, on random numbers."""
    rng, fp32 = np.random.default_rng(5), format_named("fp32")
    for target, mode in (("bf16", "RNE"), ("fp16", "RZ"), ("tf32", "RNA"), ("e4m3", "RNE")):
        p = written(f"x, y = split(a, {target}, rounding={mode})\nd = mul(x[0], b[0], fp32)")
        symbols = Symbols(Range(-8, 7))
        whole = symbols.input("a", fp32)
        fmt = format_named(target)
        high = symbols.rounded(whole, fp32, fmt, mode, False)
        low = symbols.rounded(symbols.total([whole, high.scaled(Fraction(-1))]), fp32, fmt, mode, False)
        plan = p.plan(1)
        from tcformal.oracle.interpreter import run_program

        for x in rng.standard_normal(60) * 2.0 ** rng.integers(-7, 5, 60):
            value = Fraction(float(np.float32(x)))
            e = exponent(value)
            if not -8 <= e <= 7:
                continue
            known = run_program(plan, [encode_exact(fp32, value)], [encode_exact(fp32, Fraction(1))], 0)
            made = [decode(fmt, known[i][0]).number for i in (3, 4)]
            errors = [made[0] - value, made[1] + made[0] - value]
            for word, error in zip((high, low), errors, strict=True):
                symbol = word.terms[-1][0] if len(symbols.bounds) > 1 else 0
                assert abs(error) <= symbols.bounds[symbol] * Fraction(2) ** e
                assert (error / Fraction(2) ** (e - word.grid)).denominator == 1


@pytest.mark.parametrize(("low", "exact"), [(-17, True), (-18, False)])
def test_a_word_is_exact_down_to_the_least_number(low: int, exact: bool) -> None:
    """Eight bits of an element are multiples of 2^(low - 7), and numbers of fp16 of 2^-24."""
    symbols, bf16 = Symbols(Range(low, 7)), format_named("bf16")
    whole = symbols.input("a", bf16)
    assert (symbols.rounded(whole, bf16, format_named("fp16"), "RNE", False) is whole) == exact


def test_errors_that_cancel_are_one_error() -> None:
    """d + s - s = d, whatever s was rounded to."""
    made = written("t = mul(a[0], b[0], fp32)\ns = add(t, t, fp32)\nr = sub(s, s, fp32)\nd = add(t, r, fp32)")
    assert bound(made, 1) <= U * Fraction(3)


def test_a_chain_of_calls_loses_in_each() -> None:
    """Every call loses of the sum so far, too."""
    unit = "ampere/mma.m16n8k8.f32.f16.f16.f32"
    made = written(
        f"d = c\nfor x, y in blocks(8, a, b):\n    d = call('{unit}', x, y, d)", a="fp16", b="fp16"
    )
    one, two, six = (bound(made, 8 * n) for n in (1, 2, 6))
    assert 8 * U < one < two < six
    assert 5 * (two - one) <= six - one


def test_a_chain_of_calls_is_replayed() -> None:
    """Calls on equal words are left out only where they change nothing: both ways count to 24."""
    one, n = encode_exact(format_named("fp16"), Fraction(1)), 24
    made = written("d = call('ampere/mma.m16n8k8.f32.f16.f16.f32', a, b, c)", a="fp16", b="fp16")
    words = np.array([[one] * n, [0] * n, [0] * 16 + [one] * 8], np.uint16)
    found = RunnableProgram(made).evaluate(words, words, np.zeros(3, np.uint32)).tolist()
    exact = [program_result(made.plan(n), row, row, 0) for row in words.tolist()]
    assert found == exact == [encode_exact(format_named("fp32"), Fraction(x)) for x in (24, 0, 8)]


def test_runs_are_added_where_they_overlap() -> None:
    one = {(0, 0): Fraction(1)}
    parts = [
        (ProductRun(0, 4, one, 1.0), Fraction(1)),
        (ProductRun(2, 6, one, 1.0), Fraction(-3)),
        (ProductRun(4, 8, one, 1.0), Fraction(3)),
        (ProductRun(8, 9, one, 1.0), Fraction(1)),
    ]
    made = Sums(Symbols(None), 9).added(parts)
    assert [(r.start, r.stop, int(r.products[0, 0])) for r in made] == [
        (0, 2, 1), (2, 4, -2), (6, 8, 3), (8, 9, 1)]  # fmt: skip
    assert all(0 <= r.most / abs(r.products[0, 0]) - 1 < 1e-12 for r in made)


@pytest.mark.parametrize(
    ("body", "exponents", "sentence"),
    [
        ("x = convert(a, e4m3)\nd = mul(x[0], b[0], fp32)", HALF, "expected words that do not overflow e4m3"),
        ("d = mul(a[0], a[0], fp32)", HALF, "expected products of a word of a and one of b"),
        ("t = mul(a[0], b[0], fp32)\nd = mul(t, t, fp32)", HALF, "expected sums of products of words"),
        ("d = add(mul(a[0], b[0], fp32), 1, fp32)", HALF, "expected sums of products of words"),
        ("d = mul(a[0], b[1], fp32)", HALF, "expected products of the same elements"),
        ("x = convert(scale(a, headroom(a, 2**-20)), fp16)\nd = mul(x[0], b[0], fp32)", None,
         "expected words with the first bits of every element"),
        ("e = headroom(a, 4)\nd = mul(scale(a[0], e), b[0], fp32)", None, "expected a result whose scales"),
        ("d = mul(a[0], b[0], fp16)", HALF, "expected sums that do not overflow fp16"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused(body: str, exponents: Range | None, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        bound(written(body), 2, exponents)
    assert sentence in str(error.value)


def test_a_call_on_results_is_refused() -> None:
    unit = "ampere/mma.m16n8k8.f32.f16.f16.f32"
    body = f"t = convert(mul(a, b, fp32), fp16)\nd = call('{unit}', t, t)"
    with pytest.raises(InputError, match="expected calls on words of the elements"):
        bound(written(body), 2, Range(-2, 2))


def test_constants_of_calls_grow_with_their_blocks() -> None:

    bounds, unit = CallBounds(), resolve("ampere/mma.m16n8k8.f32.f16.f16.f32")
    normal = StatedSum(normal=LETTERS)
    one, two = (bounds.of(unit, n, normal) for n in (8, 16))
    assert isinstance(one, CallBound)
    assert one.other < two.other == (1 + one.other) ** 2 - 1
    assert bounds.of(unit, 8, replace(normal, c=NO_C)).own < one.own <= one.other
    assert bounds.of(unit, 8, StatedSum(c=NO_C)).own > one.own


def test_an_answer_says_under_which_conditions() -> None:
    x = program_accuracy("fma-chain", length=2, exponents=(-4, 4))
    assert x.bound is not None
    assert x.gap is not None
    assert 0 <= x.gap < Fraction(1, 2)
    assert x.conditions[1] == "every element is zero, or normal with an exponent from -4 to 4"


@pytest.mark.long
def test_scales_from_data_have_other_conditions() -> None:
    y = program_accuracy("deepgemm-fp8-scaled", length=4)
    assert y.bound is not None
    assert y.near.ratio <= y.bound
    assert y.exponents is None
    assert y.conditions[1] == "no element, scale, word or result is subnormal or overflows"
    assert program_accuracy("ozaki-1", length=2).reason.startswith("expected words with the first bits")


def test_exponents_that_no_input_has_are_refused() -> None:
    with pytest.raises(InputError, match="expected exponents that the inputs of deepgemm-fp8 have"):
        program_accuracy("deepgemm-fp8", length=2, exponents=(20, 30))


def test_sums_of_other_scales_are_refused() -> None:
    symbols = Symbols(None)
    sums, fmt = Sums(symbols, 2), format_named("fp16")
    x = sums.product(symbols.input("a", fmt), symbols.input("b", fmt), 0, 2)
    with pytest.raises(InputError, match="expected sums of values at the same scale"):
        sums.sum([(x, Fraction(1), ()), (x, Fraction(1), ((0, 1),))])


@pytest.mark.parametrize("name", ["deepgemm-fp8-fp32", "deepgemm-fp8-scaled"])
def test_words_of_few_bits_are_given_what_they_lose_most_of(name: str) -> None:
    """Halfway above a power of two, next to a largest element that fixes the scale: nearly 2/17 is lost."""
    x = program_accuracy(name, length=64, prove=False)
    assert x.near.ratio > Fraction(11, 100)


def test_lanes_and_fractions_have_to_give_one_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the row that lost most of many, too, whose result lanes have made already."""
    monkeypatch.setattr("tcformal.analysis.bounds.program_accuracy.program_result", lambda *_: 0)
    for n in (2, 3):  # with an ascent after the rows, and with none
        monkeypatch.setattr("tcformal.analysis.bounds.program_accuracy._ROUNDS", 24 if n == 2 else 1 << 20)
        with pytest.raises(InputError, match=r"^expected one result of fma-chain, but got 0x\w+ and 0x0$"):
            nearest(program("fma-chain"), n, Range(-8, 8))


@pytest.mark.parametrize("name", ["nvfp4", "nvfp4@dequantised=b200:bf16"])
def test_elements_just_above_half_of_the_least_word_are_doubled(name: str) -> None:
    """Both factors: the products are four times too large, beside two of each block that fix its scale."""
    x = program_accuracy(name, length=48)
    assert Fraction(299, 100) < x.near.ratio < 3
    assert x.conditions == ("c = 0", "every element is zero or a normal number")
