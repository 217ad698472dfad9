"""The oracle's dot product against published answers, IEEE arithmetic, definitions and recorded outputs."""

from __future__ import annotations

import random
from bisect import bisect_right
from fractions import Fraction

import numpy as np
import pytest

from oracle.evaluation import FMA, FP16, FP32, ROUNDED, as_float, as_word, evaluate, fma32, ieee, tfdpa
from tcformal.design.rounding import MODES, conversion
from tcformal.design.spec import Design
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.oracle.exact import dot
from tcformal.oracle.products import product
from tcformal.oracle.rounded import round_to
from tcformal.oracle.sums import fused_sum
from tcformal.oracle.values import ExactValue, NumberClass, decode, format_value, parse_value

SEED = 20261


def fma_operands(count: int) -> list[tuple[int, int, int]]:
    """Edge cases in every combination, random words, and random words whose sum cancels."""
    edges = [0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800001, 0x7F7FFFFF]
    edges += [0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00001]
    rng = random.Random(SEED)
    words = [(a, b, c) for a in edges for b in edges for c in edges]
    words += [(rng.getrandbits(32), rng.getrandbits(32), rng.getrandbits(32)) for _ in range(count)]
    for _ in range(count):
        a, b = rng.getrandbits(32), rng.getrandbits(32)
        near = (as_word(-as_float(a) * as_float(b)) + rng.randrange(-3, 4)) % 2**32
        words.append((a, b, near))
        small_a, small_b = rng.randrange(0x1FC00000, 0x21000000), rng.randrange(0x1FC00000, 0x21000000)
        words.append((small_a, small_b, rng.getrandbits(24) + rng.getrandbits(1) * 2**31))
    return words


def test_fma_chain_of_one() -> None:
    for a, b, c in fma_operands(2000):
        assert dot(FMA, FP32, FP32, FP32, FP32, [a], [b], c) == fma32(a, b, c), (hex(a), hex(b), hex(c))


def test_fma_chain_takes_each_result_as_the_next_c() -> None:
    rng = random.Random(SEED)
    for _ in range(500):
        a, b, (c,) = ([as_word(rng.uniform(-4, 4)) for _ in range(n)] for n in (5, 5, 1))
        expected = c
        for x, y in zip(a, b, strict=True):
            expected = fma32(x, y, expected)
        assert dot(FMA, FP32, FP32, FP32, FP32, a, b, c) == expected


@pytest.mark.parametrize(
    ("summation", "position", "length"),
    [
        *(("sequential", position, n) for position in ("first", "last") for n in (1, 2, 5)),
        *(("pairwise", "last", n) for n in (1, 2, 3, 4, 5, 6, 7, 8)),
        ("fused", "last", 1),
    ],
)
def test_rounded_chains_and_trees_agree_with_numpy(summation: str, position: str, length: int) -> None:
    design = ieee(length, summation=summation, c_position=position, **ROUNDED)
    rng = np.random.default_rng(SEED)
    for _ in range(200):
        a, b = (np.exp2(rng.uniform(-9, 9, length)) * rng.choice([-1, 1], length) for _ in range(2))
        x, y, c = a.astype(np.float32), b.astype(np.float32), np.float32(rng.normal())
        p = list(x * y)
        if position == "first":
            expected = c
            for term in p:
                expected = expected + term
        elif summation == "pairwise":
            while len(p) > 1:
                p = [p[i] + p[i + 1] if i + 1 < len(p) else p[i] for i in range(0, len(p), 2)]
            expected = p[0] + c
        else:
            expected = p[0]
            for term in p[1:]:
                expected = expected + term
            expected = expected + c
        words_a, words_b = (array.view(np.uint32).tolist() for array in (x, y))
        assert dot(design, FP32, FP32, FP32, FP32, words_a, words_b, int(c.view(np.uint32))) == int(
            expected.view(np.uint32)
        )


@pytest.mark.parametrize("zero_sign", ["positive", "ieee"])
@pytest.mark.parametrize("mode", MODES)
def test_rounding_is_the_choice_that_its_definition_makes(mode: str, zero_sign: str) -> None:
    target = conversion(f"{mode}-E3M2")
    representable = sorted(
        {Fraction(t, 4) * Fraction(2) ** e for e in range(-2, 4) for t in range(8)}
        | {Fraction(16), Fraction(20)}
    )
    design = ieee(conversion=f"{mode}-FP32", zero_sign=zero_sign, overflow="infinity")
    for quarter_of_a_unit in range(17 * 16 * 4):
        for sign in (0, 1):
            magnitude = Fraction(quarter_of_a_unit, 64)
            place = bisect_right(representable, magnitude)
            below = representable[place - 1]
            above = below if below == magnitude else representable[place]
            outward = {
                "RZ": False,
                "RD": sign == 1,
                "RU": sign == 0,
                "RNA": above - magnitude <= magnitude - below,
                "RNE": above - magnitude < magnitude - below
                or (above - magnitude == magnitude - below and place % 2 == 0),
                "RO": place % 2 == 1,
            }[mode]
            expected = above if outward else below
            result = round_to(design, sign, magnitude, target)
            if expected >= 16:
                assert result == ExactValue(NumberClass.INF, sign)
                continue
            exponent = max(e for e in range(-2, 4) if e == -2 or Fraction(2) ** e <= expected)
            kept = sign if expected or zero_sign == "ieee" else 0
            assert result == ExactValue(NumberClass.FINITE, kept, expected, exponent)


@pytest.mark.parametrize(
    ("mode", "overflow", "positive", "negative"),
    [
        ("RZ", "infinity", "inf", "-inf"),
        ("RD", "infinity", "inf", "-inf"),
        ("RU", "infinity", "inf", "-inf"),
        ("RO", "infinity", "inf", "-inf"),
        ("RNE", "ieee", "inf", "-inf"),
        ("RNA", "ieee", "inf", "-inf"),
        ("RZ", "ieee", "16777215*2^104", "-16777215*2^104"),
        ("RD", "ieee", "16777215*2^104", "-inf"),
        ("RU", "ieee", "inf", "-16777215*2^104"),
        ("RO", "ieee", "16777215*2^104", "-16777215*2^104"),
    ],
)
def test_overflow(mode: str, overflow: str, positive: str, negative: str) -> None:
    design = ieee(conversion=f"{mode}-FP32", overflow=overflow)
    assert evaluate(design, FP32, ["2^64"], ["2^64"]) == positive
    assert evaluate(design, FP32, ["2^64"], ["-2^64"]) == negative


def test_truncation_below_the_limit_is_no_overflow() -> None:
    largest = "16777215*2^104"
    assert (
        evaluate(ieee(conversion="RZ-FP32", overflow="infinity"), FP32, ["1"], ["2^103"], largest) == largest
    )
    assert evaluate(FMA, FP32, ["1"], ["2^103"], largest) == "inf"


@pytest.mark.parametrize(
    ("terms", "mode", "answer"),
    [(1, "RZ", "1"), (2, "RZ", "-2"), (3, "RZ", "-1"), (4, "RZ", "0"), (4, "RD", "-0"), (5, "RD", "1")],
)
def test_carry_bits_wrap_in_twos_complement(terms: int, mode: str, answer: str) -> None:
    design = tfdpa(8, 4, carry_bits=0, rho=f"{mode}-FP32", zero_sign="ieee")
    assert evaluate(design, FP16, ["1"] * terms, ["1"] * terms) == answer


@pytest.mark.parametrize(
    ("rounding", "term", "answer"),
    [
        ("RZ", "-0.1875", "8"),
        ("RD", "-0.1875", "7.5"),
        ("RU", "-0.1875", "8"),
        ("RU", "0.1875", "8.5"),
        ("RD", "0.1875", "8"),
        ("RNE", "0.25", "8"),
        ("RNE", "0.75", "9"),
        ("RNA", "0.25", "8.5"),
        ("RNA", "-0.25", "7.5"),
        ("RNE", "-0.1875", "8"),
        ("RO", "0.1875", "8.5"),
        ("RO", "-0.1875", "7.5"),
        ("RO", "0.75", "8.5"),
        ("RO", "0.5", "8.5"),
        ("RO", "1", "9"),
    ],
)
def test_alignment_rounds_the_signed_term(rounding: str, term: str, answer: str) -> None:
    assert evaluate(tfdpa(1, 4, alignment_rounding=rounding), FP16, [term], ["1"], "8") == answer


@pytest.mark.parametrize(("normalise", "answer"), [(False, "2.625"), (True, "2.5")])
def test_normalising_moves_the_last_bit_that_a_large_product_keeps(normalise: bool, answer: str) -> None:
    """1.5 * 1.5 has exponent 0 as it is, and 1 once normalised."""
    design = tfdpa(2, 3, normalise_products=normalise)
    assert evaluate(design, FP16, ["1.5", "1"], ["1.5", "0.375"]) == answer


@pytest.mark.parametrize(("normalise", "answer"), [(False, "0"), (True, "31*2^-28")])
def test_normalising_lets_a_subnormal_keep_its_bits(normalise: bool, answer: str) -> None:
    """2^-24 * 1.9375 has exponent -14 as it is, and -24 once normalised."""
    assert evaluate(tfdpa(1, 4, normalise_products=normalise), FP16, ["2^-24"], ["1.9375"]) == answer


def test_a_converted_intermediate_has_its_own_exponent() -> None:
    """1.5 * 1.5 at exponent 0 keeps 3 bits; converted, it is 1.125 * 2, and c is aligned at exponent 1."""
    last = tfdpa(1, 3, c_position="last", accumulator="RZ-FP32")
    assert evaluate(last, FP16, ["1.5"], ["1.5"], "0.375") == "2.5"
    assert evaluate(tfdpa(1, 3), FP16, ["1.5"], ["1.5"], "0.375") == "2.625"


def test_sequential_last_starts_with_the_unrounded_product() -> None:
    design = ieee(2, summation="sequential", c_position="last", accumulator="RNE-FP32")
    x = "8388609*2^-23"
    assert evaluate(design, FP32, [x, "-1"], [x, "1"]) == evaluate(FMA, FP32, [x], [x], "-1")
    alone = ieee(1, summation="sequential", c_position="last", accumulator="RNE-FP16")
    assert evaluate(alone, FP32, [x], [x], "-1") == evaluate(FMA, FP32, [x], [x], "-1")


@pytest.mark.parametrize(
    ("summation", "position", "products", "c"),
    [
        ("fused", "last", ["16", "0.75"], "0.25"),
        ("sequential", "first", ["0.75", "0.25"], "16"),
        ("sequential", "last", ["16", "0.75", "0.75"], "0.25"),
        ("pairwise", "last", ["16", "0.75", "0.5", "0.25"], "0.25"),
    ],
)
def test_partial_sums_take_the_accumulator_and_the_last_the_conversion(
    summation: str, position: str, products: list[str], c: str
) -> None:
    """An accumulator of 5 bits holds 16 and no fraction beside it; the last sum keeps its quarter."""
    design = ieee(len(products), summation=summation, c_position=position, accumulator="RZ-E8M4")
    assert evaluate(design, FP32, products, ["1"] * len(products), c) == "16.25"


def test_product_rounding_underflows_and_overflows() -> None:
    design = ieee(1, product_rounding="RZ-FP16")
    assert product(
        design, decode(FP32, parse_value(FP32, "2^-20")), decode(FP32, parse_value(FP32, "-2^-20"))
    ) == ExactValue(NumberClass.FINITE, 1, Fraction(0), -14)
    assert evaluate(design, FP32, ["2^10"], ["2^10"]) == "65504"
    assert (
        evaluate(ieee(1, product_rounding="RNE-FP16"), FP32, ["2^10"], ["2^10"], "-inf") == "nan(0x7fc00000)"
    )


def test_fewer_fraction_bits_than_the_output_has() -> None:
    assert evaluate(tfdpa(1, 23, rho="RZ-E8M13"), FP32, ["8388607*2^-22"], ["1"]) == format_value(
        FP32, 0x3FFFFC00
    )
    assert evaluate(tfdpa(1, 23, rho="RZ-E8M13"), FP32, ["2^-139"], ["1"]) == "2^-139"
    assert evaluate(tfdpa(1, 23, rho="RZ-E8M13"), FP32, ["2^-140"], ["1"]) == "0"


@pytest.mark.parametrize(
    ("a", "b", "c", "answer"),
    [
        (["nan", "0"], ["0", "0"], "0", "nan(0x7fffffff)"),
        (["1", "0"], ["1", "0"], "nan", "nan(0x7fffffff)"),
        (["inf", "0"], ["0", "0"], "0", "nan(0x7fffffff)"),
        (["inf", "0"], ["-0", "0"], "inf", "nan(0x7fffffff)"),
        (["inf", "1"], ["1", "-inf"], "0", "nan(0x7fffffff)"),
        (["inf", "0"], ["1", "0"], "-inf", "nan(0x7fffffff)"),
        (["-inf", "1"], ["2^-24", "1"], "0", "-inf"),
        (["-inf", "0"], ["-1", "0"], "inf", "inf"),
        (["0", "0"], ["0", "0"], "-inf", "-inf"),
    ],
)
@pytest.mark.parametrize("length", [1, 2])
def test_specials(length: int, a: list[str], b: list[str], c: str, answer: str) -> None:
    assert evaluate(tfdpa(length, 24, -132), FP16, a, b, c) == answer


def test_an_intermediate_overflow_is_an_infinity_for_the_next_step() -> None:
    for design in (tfdpa(1, 24), ieee(2, summation="sequential", c_position="first", accumulator="RNE-FP32")):
        for last, answer in (("1", "inf"), ("-inf", "nan")):
            text = evaluate(design, FP32, ["2^64", last], ["2^64", "1"])
            assert text.partition("(")[0] == answer


def test_only_the_first_block_reads_c_in_its_own_format() -> None:
    words, c = [parse_value(FP16, "1.5"), parse_value(FP16, "2^-24")], parse_value(FP16, "-1024")
    result = dot(tfdpa(1, 24), FP16, FP16, FP16, FP32, words, [parse_value(FP16, "1")] * 2, c)
    assert format_value(FP32, result) == "-1022.5"
    result = dot(
        tfdpa(2, 24), FP16, FP16, FORMATS["e4m3"], FP32, words, words, parse_value(FORMATS["e4m3"], "-448")
    )
    assert format_value(FP32, result) == "-445.75"


def test_nan_words() -> None:
    assert evaluate(tfdpa(1, 24, rho="RNE-FP16"), FP16, ["inf"], ["0"], accumulator=FP16) == "nan(0x7fff)"
    assert evaluate(FMA, FP32, ["nan(0x7f812345)"], ["1"]) == "nan(0x7fc00000)"


@pytest.mark.parametrize(
    ("conversion_name", "zero_sign", "a", "b", "c", "answer"),
    [
        ("RZ-FP32", "positive", "-0", "1", "-0", "0"),
        ("RD-FP32", "positive", "1", "1", "-1", "0"),
        ("RZ-FP32", "positive", "2^-100", "-2^-100", "0", "0"),
        ("RZ-FP32", "ieee", "-0", "1", "-0", "-0"),
        ("RZ-FP32", "ieee", "-0", "1", "0", "0"),
        ("RD-FP32", "ieee", "-0", "1", "0", "-0"),
        ("RD-FP32", "ieee", "0", "1", "0", "0"),
        ("RNE-FP32", "ieee", "1", "1", "-1", "0"),
        ("RD-FP32", "ieee", "1", "1", "-1", "-0"),
        ("RZ-FP32", "ieee", "2^-100", "-2^-100", "0", "-0"),
        ("RD-FP32", "ieee", "2^-100", "-2^-100", "0", "-2^-149"),
        ("RU-FP32", "ieee", "2^-100", "2^-100", "0", "2^-149"),
    ],
)
def test_signs_of_zero(conversion_name: str, zero_sign: str, a: str, b: str, c: str, answer: str) -> None:
    assert evaluate(ieee(conversion=conversion_name, zero_sign=zero_sign), FP32, [a], [b], c) == answer


def test_terms_cut_to_zero_count_as_zeros_of_their_sign() -> None:
    for mode, mixed in (("RZ", 0), ("RD", 1)):
        design = tfdpa(2, 4, 0, rho=f"{mode}-FP32", zero_sign="ieee")
        tiny = [ExactValue(NumberClass.FINITE, sign, Fraction(1, 2**9), -9) for sign in (0, 1)]
        for terms, sign in (
            ([tiny[1]] * 2 + [zero(1)], 1),
            ([tiny[0], zero(0)], 0),
            ([tiny[1], zero(0)], mixed),
        ):
            assert fused_sum(design, terms, design.rho) == ExactValue(
                NumberClass.FINITE, sign, Fraction(0), -126
            )


def zero(sign: int) -> ExactValue:
    return ExactValue(NumberClass.FINITE, sign, Fraction(0), -126)


TO_E4M3, TOO_WIDE = tfdpa(2, 24, rho="RZ-E4M3"), tfdpa(2, 24, nan_word=2**32)
OUTSIDE = "expected an integer from 0 to 65535 for an encoding of fp16, but got 65536"


@pytest.mark.parametrize(
    ("design", "a", "b", "d_format", "sentence"),
    [
        (tfdpa(2, 24), [0] * 3, [0] * 3, FP32, "expected K to be a multiple of 2 and at least 1, but got 3"),
        (tfdpa(2, 24), [], [], FP32, "expected K to be a multiple of 2 and at least 1, but got 0"),
        (tfdpa(2, 24), [0], [0, 0], FP32, "expected as many elements of b as of a (1), but got 2"),
        (tfdpa(2, 24), [0], [0], FP16, "expected an output format that holds RZ-FP32, but got fp16"),
        (TO_E4M3, [0], [0], FORMATS["e4m3"], "expected an output format that holds RZ-E4M3, but got e4m3"),
        (tfdpa(2, 24, nan_word=1), [0], [0], FP32, "expected nan_word to be a NaN of fp32, but got 0x1"),
        (TOO_WIDE, [0], [0], FP32, "expected nan_word to be a NaN of fp32, but got 0x100000000"),
        (tfdpa(2, 24), [65536], [0], FP32, OUTSIDE),
    ],
)
def test_dot_rejects(design: Design, a: list[int], b: list[int], d_format: Format, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        dot(design, FP16, FP16, FP32, d_format, a, b, 0)
    assert str(error.value) == sentence
