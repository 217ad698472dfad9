"""Stochastic rounding: its definition, integer formulas, kernels and oracle, and words that are drawn."""

from __future__ import annotations

import itertools
import json
from bisect import bisect_right
from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from click.testing import CliRunner, Result

import kernel_agreement
from sampled import one_in
from semantics.test_semantics import every, exponent, power, values_of
from tcformal.analysis.bounds.accuracy import accuracy, bound_of
from tcformal.cli.group import main
from tcformal.design.names import resolve
from tcformal.design.rounding import Conversion
from tcformal.encodings.catalog import FORMATS
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle.draws import outcomes
from tcformal.oracle.interpreter import program_result
from tcformal.oracle.rounded import round_to
from tcformal.oracle.values import NumberClass, decode
from tcformal.programs.program import Program
from tcformal.query.question import Kind
from tcformal.query.separate import separate
from tcformal.semantics import round as rounding
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, batch, witness_at
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result
from tcformal.simulation.runnable import RunnableProgram

#: One number, rounded: c with a product 0·0.
ONE = "tfdpa@fraction_bits=exact,products=1,zero_sign=ieee,overflow={},conversion={},c_format={},d_format={}"
#: Sums whose roundings overflow, give subnormals, and carry into the next binade.
SUMS = (
    "tfdpa@products=4,conversion=SR8+100-FP32",
    "tfdpa@products=4,fraction_bits=exact,conversion=SR13+5000-FP16,c_format=fp16,d_format=fp16,overflow=ieee",
    "tfdpa@products=4,fraction_bits=30,conversion=SR16+1-BF16,a_format=bf16,b_format=bf16,d_format=bf16",
    "tfdpa@products=4,fraction_bits=20,conversion=SR3+7-E5M2,a_format=e4m3,b_format=e5m2,d_format=e5m2",
    "tfdpa@products=4,conversion=SR4+9-E4M2,d_format=e4m2,result_subnormals=tiny_zero,overflow=largest",
    "sequential@products=4,rounding=SR6+33,a_format=e4m3,b_format=e4m3,c_format=fp16,d_format=fp16",
    "sequential@products=4,product_rounding=SR5+30-FP16,accumulator=SR1+1-FP32",
    "tree@steps=((0+1)+(2+3)+c),conversion=SR20+524289-FP32",
    "fma@k=4,conversion=SR8+77-FP32",
    "x86/vdpbf16ps@accumulator=SR8+200-FP32",
    "vortex/VX_tcu_fedp_tfr.fp16@conversion=SR7+64-FP32",
)


def differing(name: str, n: int, seed: int) -> list[Witness]:
    """Vectors on which lanes and oracle differ."""
    spec = resolve(name)
    x = batch(spec, spec.k, n, seed)
    lanes = replay(spec, x).tolist()
    return [w for i in range(n) if oracle_result(spec, w := witness_at(x, i)) != lanes[i]]


@pytest.mark.parametrize("overflow", ["infinity", "ieee", "largest"])
@pytest.mark.parametrize(
    ("width", "low", "high", "size", "bits"),
    [(6, -7, 0, (2, 2), 1), (6, -9, -2, (3, 1), 2), (6, -3, 2, (3, 2), 3), (4, -12, 1, (2, 1), 4)],
)
def test_every_number_of_small_formats_and_every_word(
    width: int, low: int, high: int, size: tuple[int, int], bits: int, overflow: str
) -> None:
    """The upper neighbour where the word and the discarded bits, cut to as many, carry."""
    for word in range(1 << bits):
        target = Conversion(f"SR{bits}+{word}", *size)
        values = values_of(target)
        g = Graph()
        made = rounding.convert(
            g, g.input("s", 1), g.input("x", width), exponent(g, "e", low, high), target, overflow=overflow
        ).result  # fmt: skip
        roots = [made.term.significand, made.term.exponent.bits, made.inf]
        design = resolve(f"tfdpa@overflow={overflow}").design
        for (s, x, e), (significand, code, inf) in every(g, roots, {"e": high - low}):
            number = x * power(e + low)
            i = bisect_right(values, number) - 1
            expected = values[-1]
            if number < values[-1]:
                place = (number - values[i]) / (values[i + 1] - values[i])
                expected = values[i + int(int(place * 2**bits) + word >= 2**bits)]
            too_large = expected == values[-1]
            if too_large and overflow == "largest":
                expected = values[-2]
            infinite = too_large and overflow != "largest"
            fractions = round_to(design, s, number, target)
            assert (fractions.kind is NumberClass.INF, bool(inf)) == (infinite, infinite), (word, s, number)
            if not infinite:
                found = significand * power(code + target.e_min - target.fraction_bits)
                assert (found, fractions.magnitude) == (expected, expected), (word, s, number)


@pytest.mark.parametrize("word", [0, 1, 77, 128, 255])
def test_all_of_fp16_to_e5m2_as_an_addition_to_the_encoding(word: int) -> None:
    """The encoding plus the word, cut: subnormals, the next binade and overflow to infinity included."""
    spec = resolve(ONE.format("ieee", f"SR8+{word}-E5M2", "fp16", "e5m2"))
    c = np.arange(1 << 16, dtype=np.uint64)
    c = c[((c & 0x7FFF) <= 0x7C00) & (c != 0x8000)]
    none = np.zeros((len(c), 1), np.uint64)
    assert (replay(spec, Batch(none, none, c)) == np.where(c & 0x7FFF == 0x7C00, c, c + word) >> 8).all()


@pytest.mark.parametrize("bits", [16, 9])
def test_fp32_to_bf16_as_an_addition_to_the_encoding(bits: int) -> None:
    rng = np.random.default_rng(bits)
    c = rng.integers(0, 1 << 32, 10_000, np.uint64)
    c = c[(c & 0x7FFFFFFF) < 0x7F800000]
    none = np.zeros((len(c), 1), np.uint64)
    for word in rng.integers(0, 1 << bits, 4).tolist():
        spec = resolve(ONE.format("ieee", f"SR{bits}+{word}-BF16", "fp32", "bf16"))
        added = (c & ~np.uint64((1 << 16 - bits) - 1)) + np.uint64(word << 16 - bits)
        assert (replay(spec, Batch(none, none, c)) == added >> np.uint64(16)).all()


@pytest.mark.parametrize("name", one_in(2, SUMS))
def test_sums_agree_with_the_oracle(name: str) -> None:
    assert differing(name, 1200, 3) == []


@pytest.mark.parametrize("target", ["e4m3", "e5m2", "ue4m3", "e2m1", "bf16"])
@pytest.mark.parametrize("body", ["convert(c, {}, 'SR20+{}')", "div(c, a[0], {}, 'SR7+{}')"])
def test_programs_round_to_formats_without_inf_too(body: str, target: str) -> None:
    rng = np.random.default_rng(5)
    p = Program(
        name="mine", title="t", source="s", inputs=dict.fromkeys("abc", "fp32"), parameters={},
        body=f"d = {body.format(target, 100)}",
    )  # fmt: skip
    c = (rng.integers(0, 1 << 23, 600) + (rng.integers(112, 138, 600) << 23)).astype(np.uint32)
    c[::5] |= 0x80000000
    a = rng.permutation(c)
    plan = p.plan(1)
    wanted = [program_result(plan, [int(x)], [0], int(y)) for x, y in zip(a, c, strict=True)]
    assert RunnableProgram(p).evaluate(a[:, None], a[:, None], c).tolist() == wanted
    if body.startswith("convert") and target in ("e4m3", "e2m1"):
        fmt = FORMATS[target]
        values = [decode(fmt, word).magnitude for word in range(fmt.largest + 1)]
        for x, d in zip(c.tolist(), wanted, strict=True):
            size = decode(FORMATS["fp32"], x).magnitude
            i = min(bisect_right(values, size), len(values) - 1) - 1
            place = (size - values[i]) / (values[i + 1] - values[i])
            up = int(place * 2**20) + 100 >= 2**20
            assert d % fmt.sign_bit == i + up or (size > values[-1] and d % fmt.sign_bit == fmt.largest)


@pytest.mark.parametrize(
    "name",
    [
        *SUMS[:2],
        SUMS[5],
        SUMS[7],
        *(pytest.param(x, marks=pytest.mark.slow) for x in (*SUMS[2:5], *SUMS[8:])),
    ],
)
def test_kernels_agree_with_integers(name: str) -> None:
    mismatches, specials, examples = kernel_agreement.judge(name, 5)
    assert (mismatches, examples) == (0, [])
    assert 0 < specials < kernel_agreement.OUTPUTS


@pytest.mark.parametrize("more", [1, -1])
def test_another_word_or_bit_rejects(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    right = rounding._random_carry

    def wrong(g: Graph, mode: str, random: tuple[int, int | None], dropped: Node | None) -> Node:
        bits, word = random
        assert word is not None
        return right(g, mode, (bits + (more < 0), word + more), dropped)

    monkeypatch.setattr(rounding, "_random_carry", wrong)
    name = f"tfdpa@products=5,conversion=SR4+{8 + more}-FP16,d_format=fp16"
    assert differing(name, 400, 3) != []


def test_ends_and_middle_of_the_words_are_other_roundings() -> None:
    """No word is toward zero; the middle one, with all bits that there are, to nearest, ties away."""
    for name, mode in (("SR5+0", "RZ"), ("SR1+1", "RNA"), ("SR16+32768", "RNA"), ("SR16+65535", "RU")):
        x, y = (resolve(ONE.format("ieee", f"{m}-BF16", "fp32", "bf16")) for m in (name, mode))
        w = batch(x, 1, 4000, 1)
        w = Batch(w.a * 0, w.b * 0, w.c & np.uint64(0x7F7FFFFF) if mode == "RU" else w.c)
        assert (replay(x, w) == replay(y, w)).all()


def test_solvers_prove_and_separate() -> None:
    of = "tfdpa@products=1,a_format=e4m3,b_format=e4m3,c_format=fp16,d_format=fp16,conversion={}-FP16"
    assert separate(of.format("SR1+1"), of.format("RNA")).kind is Kind.EQUIVALENT
    assert separate(of.format("SR3+1"), of.format("SR3+2")).kind is Kind.SEPARATED


def test_drawn_words_are_counted() -> None:
    """One rounding: as many of all words as give each result."""
    for bits, fmt in itertools.product((1, 3, 4), ("fp16", "e5m2")):
        name = (
            f"tfdpa@products=3,conversion=SR{bits}{{}}-{'E5M2' if fmt == 'e5m2' else 'FP16'},d_format={fmt}"
        )
        spec = resolve(name.format(""), drawn=True)
        x = batch(spec, 3, 30, bits)
        by_word = [replay(resolve(name.format(f"+{w}")), x).tolist() for w in range(1 << bits)]
        for i in range(30):
            counted = Counter(row[i] for row in by_word)
            found = outcomes(partial(oracle_result, spec, witness_at(x, i)))
            assert found == {word: Fraction(n, 1 << bits) for word, n in counted.items()}


def test_every_rounding_draws_a_word_of_its_own() -> None:
    """Two calls: every pair of words."""
    name = "tfdpa@products=1,conversion=SR2{}-E5M2,d_format=e5m2,c_format=e5m2"
    units = [resolve(name.format(f"+{w}")) for w in range(4)]
    w = Witness((0x3C00, 0x3C00), (0x2F00, 0x3300), 0x3F)
    counted: Counter[int] = Counter()
    for first, second in itertools.product(units, units):
        half = Witness(w.a[:1], w.b[:1], w.c)
        counted[oracle_result(second, Witness(w.a[1:], w.b[1:], oracle_result(first, half)))] += 1
    spec = resolve(name.format(""), drawn=True)
    assert len(counted) > 2
    assert outcomes(partial(oracle_result, spec, w)) == {x: Fraction(n, 16) for x, n in counted.items()}


def test_too_many_roundings_are_refused() -> None:
    spec = resolve("sequential@products=16,rounding=SR8,d_format=fp16", drawn=True)
    w = Witness((0x3C00,) * 16, (0x1555,) * 16, 0x3F800000)
    with pytest.raises(InputError, match="sequences of roundings"):
        outcomes(partial(oracle_result, spec, w), most=16)


@pytest.mark.parametrize("mode", ["SR", "SR0+0", "SR33+1", "SR3+8", "SR03+1", "SR3+01", "SR3+", "SRX"])
def test_what_is_no_stochastic_rounding_is_refused(mode: str) -> None:
    with pytest.raises(InputError, match="stochastic rounding as SR8"):
        resolve(f"tfdpa@conversion={mode}-FP32")


@pytest.mark.parametrize(
    "name", ["tfdpa@rounding=sr8", "tree@steps=(in(0+1)+c),in.conversion=SR8-FP32", "fma@k=2,rounding=SR1"]
)
def test_a_design_that_draws_its_words_is_refused_where_one_result_is_asked_for(name: str) -> None:
    with pytest.raises(InputError, match="the word that is added"):
        resolve(name)
    assert resolve(name, drawn=True).d_format.name == "fp32"


def test_terms_are_not_cut_stochastically() -> None:
    with pytest.raises(InputError, match="alignment_rounding"):
        resolve("tfdpa@alignment_rounding=SR3+1")


@pytest.mark.parametrize("name", ["tfdpa@products=4,k=8,{}", "h100:fp16@{}"])
def test_theorems_bound_the_error(name: str) -> None:
    """Every word gives one of the two neighbours, as every rounding does."""
    unit = name.format("conversion=SR4+3-FP32")
    found = accuracy(unit, length=16)
    assert found.attained is not None
    assert found.bound is not None
    assert found.attained.error <= found.bound * found.attained.magnitude
    assert bound_of(unit, 4) == bound_of(name.format("conversion=RU-FP32"), 4)


def called(*words: str) -> Result:
    return CliRunner().invoke(main, ["eval", *words, "--json"])


def test_eval_says_every_result_with_its_chance() -> None:
    given = ("--a", "1,1,...", "--b", "1,2^-12,...", "--c", "2^-9")
    name = "tfdpa@fraction_bits=exact,products=4,rounding={},d_format=fp16"
    rows = json.loads(called(name.format("SR3"), *given).stdout)
    assert [(row["value"], row["chance"]) for row in rows] == [
        ("1.001953125", "3/4"),
        ("1.0029296875", "1/4"),
    ]
    for word, value in ((5, "1.001953125"), (6, "1.0029296875")):
        assert json.loads(called(name.format(f"SR3+{word}"), *given).stdout)[0]["value"] == value
