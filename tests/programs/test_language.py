"""The language of programs: what a text means, and what is refused, with the line."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from sampled import one_in
from smtlib_script import to_smtlib
from tcformal.backends.concrete import Concrete
from tcformal.design.names import resolve
from tcformal.design.sources import references
from tcformal.design.steps import CallStep, ProgramPlan, RoundStep, nan_word_of
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError, UnknownNameError
from tcformal.oracle.interpreter import program_result, run_program
from tcformal.oracle.values import NumberClass, decode, encoded, parse_value
from tcformal.programs.dag import program_circuit
from tcformal.programs.error import magnitudes
from tcformal.programs.program import Program, known_programs, load_program, program, read_program
from tcformal.simulation.arrays import dtypes
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.runnable import RunnableProgram

ROOT = Path(__file__).resolve().parents[2]
SINGLE = FORMATS["fp32"]
UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32"
MX8 = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"


def of(body: str, a: str = "fp32", c: str = "fp32", **parameters: str | int | bool) -> Program:
    """A program with inputs of two formats."""
    inputs = {"a": a, "b": a, "c": c}
    return Program(name="mine", title="t", source="s", inputs=inputs, body=body, parameters=parameters)


def word(rng: random.Random, fmt: Format) -> int:
    """An encoding: any bits, or a number of middling exponent."""
    if rng.random() < 0.3:
        return rng.getrandbits(fmt.width)
    field = min(max(fmt.bias + rng.randint(-8, 8), 0), (1 << fmt.exponent_bits) - 1)
    fraction = rng.getrandbits(fmt.fraction_bits)
    sign = rng.getrandbits(1) << (fmt.width - 1)
    return sign | ((field << fmt.fraction_bits | fraction) << fmt.ignored_low_bits)


def differing(plan: ProgramPlan, n: int, seed: int = 1) -> list[str]:
    """The first step on which integers and fractions differ, for each of n random inputs where one does."""
    g, dag = program_circuit(plan)
    shown = [i for i, step in enumerate(plan.steps) if step.fmt is not None]
    run = Concrete(g, [x for i in shown for x in dag.words(i)])
    rng, found = random.Random(seed), []
    for _ in range(n):
        rows = {x: [word(rng, plan.input_format(x)) for _ in range(plan.products)] for x in "ab"}
        c = word(rng, plan.input_format("c"))
        inputs = {f"{x}[{i}]": v for x, row in rows.items() for i, v in enumerate(row)} | {"c": c}
        got = iter(run({name: v for name, v in inputs.items() if name in g.inputs}))
        known = run_program(plan, rows["a"], rows["b"], c)
        odd = [plan.steps[i].name for i in shown if [next(got) for _ in known[i]] != known[i]]
        found += odd[:1]
    return found


#: Every program of the package, for so many products; a parameter's other values where they change the text.
LIBRARY = (
    ("added-outside", 3), ("bf16x9", 2), ("bf16x9@bands=2", 1), ("block-fma", 6), ("chained", 40),
    ("cutlass-3xtf32", 3), ("cutlass-3xtf32@stage=0,fourth=true", 10), ("deepgemm-fp8@every=32", 35),
    ("fma-chain", 4), ("kahan", 3), ("markidis@rounding=RZ", 2), ("mary", 2), ("mary-model", 2),
    ("mary@word=fp16,u=11,unit=ampere/mma.m16n8k8.f32.f16.f16.f32", 2), ("ootomo-yokota", 2),
    ("ozaki-1@slices=2", 1), ("ozaki-2-int8@count=2", 2), ("ozaki-2-fp8@count=7", 2),
    ("deepgemm-fp8-scaled@every=4", 6), ("deepgemm-fp8-fp32@every=4", 6),
    ("deepgemm-fp8-fp32@every=2,reciprocal=true", 3),
    (f"ootomo-yokota@unit={UNIT}@fraction_bits=24,carry_bits=3,last=true", 2), ("pairwise", 5),
    ("ootomo-yokota@unit=hopper/mma.m16n8k8.f32.tf32.tf32.f32,word=tf32,scaling=0", 2),
    ("split-k@slices=2,combine=pairwise", 5), ("split-k@slices=3,partials=fp16", 7), ("tcec", 10),
    ("tf32", 9), ("tf32@rounding=RZ", 3), ("tensix-hifi", 17),
    ("tensix-hifi@phases=2", 33),
    ("triton-3xtf32", 3),
    ("xdna-fp32@products=3", 2), ("xdna-fp32@rounding=RNE", 1), ("mx", 33), ("xdna-fp32@products=6", 1),
    ("cast", 17), ("cast@given=bf16,word=fp16,rounding=RZ,unit=a100:fp16", 3),
    ("convert@rounding=RU", 1), ("mx@rounding=RU,by_largest=true,word=e2m1,unit=b200:mxf4", 17),
    ("nvfp4", 17), ("nvfp4@dequantised=b200:bf16,inside=true", 18),
)  # fmt: skip


def test_the_table_names_every_program() -> None:
    """A new file is compared with the oracle, too."""
    assert {name.partition("@")[0] for name, _ in LIBRARY} == set(known_programs())


@pytest.mark.parametrize(("name", "products"), LIBRARY[::4])
def test_programs_are_the_oracles(name: str, products: int) -> None:
    """Every stage of a quarter of the programs, on few inputs."""
    assert differing(program(name).plan(products), 3) == []


@pytest.mark.long
@pytest.mark.parametrize(("name", "products"), LIBRARY)
def test_programs_are_the_oracles_long(name: str, products: int) -> None:
    """Every stage of every program."""
    assert differing(program(name).plan(products), 300, seed=2) == []


@pytest.mark.parametrize("name", sorted(known_programs()))
def test_every_program_states_its_source(name: str) -> None:
    """A title, a source, and text that compiles for 1 and 17 products."""
    p = program(name)
    assert references(p.source)
    assert len(p.title) > 20
    for n in (1, 17):
        assert p.plan(n).products == n


def one(p: Program, a: str, b: str, c: str) -> Fraction:
    """d for one product of values, on integers and on fractions."""
    plan = p.plan(1)
    values = [parse_value(p.input_format(x), text) for x, text in zip("abc", (a, b, c), strict=True)]
    d = program_result(plan, [values[0]], [values[1]], values[2])
    g, dag = program_circuit(plan)
    inputs = dict(zip(("a[0]", "b[0]", "c"), values, strict=True))
    assert Concrete(g, [dag.result])({k: v for k, v in inputs.items() if k in g.inputs}) == [d]
    return decode(plan.fmt, d).number


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("d = a[0] * b[0] + c", "5.5"),
        ("d = c - a[0]", "1"),
        ("d = -a[0] + c", "1"),
        ("d = sub(a[0], 1, fp32)", "0.5"),
        ("d = fma(a[0], b[0], 0.25, fp32)", "3.25"),
        ("d = add(scale(a[0], 3), scale(c, -1), fp32)", "13.25"),
        ("d = convert(c * 2**-1, bf16, RD) + a[0]", "2.75"),
        ("x = [a[0], b[0], c]\nd = chain(x, fp32)", "6"),
        ("d = 0 + c\nfor i in range(3):\n    d = d + i * a[0] if i > 0 else d", "7"),
        ("d = pairwise([a[0], b[0], c], fp32)", "6"),
        ("if len(a) == 1:\n    d = c\nelse:\n    d = a[0]", "2.5"),
        ("d = mul(scale(a[0], 2), b[0], fp32)", "12"),
        ("e = headroom(a, 100)\nd = add(scale(a[0], e), 0, fp32)", "96"),
        ("d = div(c, b[0], fp32)", "1.25"),
        ("d = b[0] / a[0]", "11184811/8388608"),
        ("d = div(a[0], -4, e4m3) + 0 * c", "-0.375"),
        ("d = magnitude([b[0], sub(0, c, fp32), a[0]], 2)", "2.5"),
        ("d = magnitude(a, 7) + 0 * c", "7"),
        ("x, y = [a[0], b[0]]\nd = x / y", "0.75"),
        ("d = convert(largest(e4m3) * c, e4m3) + 0 * c", "448"),
        ("d = convert(largest(e8m0) * c, e8m0)", "2^127"),
        ("d = convert(0 * c, e8m0)", "2^-127"),
        ("d = mul(a[0], c, e8m0, RD)", "2"),
        ("d = mul(a[0], c, e8m0, RU)", "4"),
        ("d = convert(sub(c, a[0], fp32) / b[0], ue4m3) * c", "1.25"),
        ("d = exponent(largest(e4m3)) * c", "20"),
        ("d = chain(repeat(c, 3, 3), fp32)", "7.5"),
        ("d = chain(repeat([a[0], b[0]], 2, 3), fp32)", "5"),
    ],
)
def test_what_texts_mean(body: str, wanted: str) -> None:
    """a = 1.5, b = 2, c = 2.5."""
    base, _, power = wanted.partition("^")
    assert one(of(body), "1.5", "2", "2.5") == Fraction(base) ** int(power or 1)


@pytest.mark.parametrize("mode", one_in(3, ["RNE", "RZ", "RU", "RD", "RO"]))
@pytest.mark.parametrize("target", ["e8m0", "ue4m3"])
@pytest.mark.parametrize("source", one_in(2, ["fp32", "e5m2"]))
def test_formats_without_a_sign_are_the_oracles(source: str, target: str, mode: str) -> None:
    """Converted and divided, on integers and on lanes: below zero is NaN, and e8m0 has no zero."""
    fmt, rng = FORMATS[source], np.random.default_rng(4)
    c = rng.integers(0, 1 << fmt.width, 4000).astype(f"u{fmt.storage_bits // 8}")
    c[:6] = (
        0,
        fmt.sign_bit,
        fmt.infinity,
        fmt.infinity | fmt.sign_bit,
        fmt.infinity + 1,
        fmt.one | fmt.sign_bit,
    )
    for body in (f"d = convert(c, {target}, {mode})", f"d = div(c, a[0], {target}, {mode})"):
        p, a = of(body, a=source, c=source), rng.permutation(c)
        plan = p.plan(1)
        wanted = [program_result(plan, [int(x)], [0], int(y)) for x, y in zip(a, c, strict=True)]
        assert RunnableProgram(p).evaluate(a[:, None], a[:, None], c).tolist() == wanted
        run = Concrete((made := program_circuit(plan))[0], [made[1].result])
        for x, y, d in list(zip(a.tolist(), c.tolist(), wanted, strict=True))[:200]:
            assert run({k: v for k, v in {"a[0]": x, "c": y}.items() if k in made[0].inputs}) == [d]
    plan = of(f"d = convert(c, {target}, {mode})", c=source).plan(1)
    found = [program_result(plan, [0], [0], int(x)) for x in c[:6]]
    nan = nan_word_of(FORMATS[target])
    assert found == [0, 0, FORMATS[target].largest, nan, nan, nan]


def test_e8m0_is_the_exponent_of_frexp_and_what_ml_dtypes_has() -> None:
    """RZ is the exponent alone; RNE is ml_dtypes' cast of normal numbers that do not overflow."""
    c = np.random.default_rng(5).integers(0x00800000, 0x7F400000, 100_000).astype(np.uint32)
    x, zeros = c.view(np.float32), np.zeros((c.size, 1), np.uint32)
    floors, nearest = (
        RunnableProgram(of(f"d = convert(c, e8m0, {mode})")).evaluate(zeros, zeros, c)
        for mode in ("RZ", "RNE")
    )
    np.testing.assert_array_equal(floors, np.frexp(x)[1] + 126)
    np.testing.assert_array_equal(nearest, x.astype(ml_dtypes.float8_e8m0fnu).view(np.uint8))


@pytest.mark.parametrize(("name", "word", "rounding"), [("mx", "e4m3", "RZ"), ("mx", "e2m1", "RU")])
def test_mx_blocks_are_those_of_ml_dtypes(name: str, word: str, rounding: str) -> None:
    """Scales by frexp, elements by casts of ml_dtypes: the same product on the same unit, bit for bit."""
    unit = MX8 if word == "e4m3" else "b200:mxf4"
    a, b = (np.random.default_rng(i).standard_normal((8, 80)).astype(np.float32) for i in (1, 2))
    most = {"e4m3": 448.0, "e2m1": 6.0}[word]
    dtype = dtypes()[word]

    def quantised(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        blocks = np.pad(x, ((0, 0), (0, 16))).reshape(8, 3, 32)
        m, e = np.frexp(np.abs(blocks).max(2) * 2.0 ** -np.floor(np.log2(most)))
        e = e - 1 + (rounding == "RU") * (m > 0.5)
        words = np.clip(blocks / 2.0 ** e[..., None], -most, most).reshape(8, 96)[:, :80]
        return words.astype(np.float32).astype(dtype), (2.0**e).astype(ml_dtypes.float8_e8m0fnu)

    (x, s), (y, t) = quantised(a), quantised(b)
    d = RunnableProgram(program(f"{name}@unit={unit},word={word},rounding={rounding}")).matmul(a, b.T)
    np.testing.assert_array_equal(d, Unit(resolve(unit)).matmul(x, y.T, None, s, t.T))


#: A word of every kind, and numbers whose quotients are inexact, for a format of few bits.
FEW = (0x00, 0x80, 0x01, 0x83, 0x07, 0x08, 0x38, 0x39, 0x3F, 0xBB, 0x7A, 0x7B, 0x7C, 0xFC, 0x7D, 0xFF)


@pytest.mark.parametrize("mode", ["RNE", "RNA", "RZ", "RU", "RO"])
@pytest.mark.parametrize(("source", "target"), [("e5m2", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "fp16")])
def test_quotients_are_the_oracles(source: str, target: str, mode: str) -> None:
    """Each of few words divided by each: zeros, subnormals, Inf, NaN, and every rounding."""
    plan = of(f"d = div(a[0], b[0], {target}, {mode})", a=source).plan(1)
    g, dag = program_circuit(plan)
    run = Concrete(g, [dag.result])
    wrong = [
        (x, y) for x in FEW for y in FEW
        if run({"a[0]": x, "b[0]": y}) != [program_result(plan, [x], [y], 0)]
    ]  # fmt: skip
    assert wrong == []


@pytest.mark.parametrize("name", ["fp32", "e4m3", "e5m2", "e4m3fnuz"])
def test_a_nan_has_the_magnitude_of_its_format(name: str) -> None:
    """Whatever stands beside it: -1 and a NaN of a format, in both orders."""
    fmt = FORMATS[name]
    plan = of("d = magnitude(a)", a=name).plan(2)
    nan = next(x for x in range(fmt.largest + 1, 1 << fmt.width) if decode(fmt, x).kind is NumberClass.NAN)
    one = fmt.one | fmt.sign_bit
    g, dag = program_circuit(plan)
    for words in ([one, nan], [nan, one], [one, one]):
        d = program_result(plan, words, words, 0)
        assert Concrete(g, [dag.result])({"a[0]": words[0], "a[1]": words[1]}) == [d]
        assert d == (nan_word_of(fmt) if nan in words else fmt.one)


def test_a_quotient_is_the_nearest() -> None:
    """Against Fraction's own division and rounding: no number of the format lies nearer."""
    rng, fmt = random.Random(9), FORMATS["fp16"]
    plan = of("d = div(a[0], b[0], fp16)", a="fp16").plan(1)
    for _ in range(50):
        x, y = (0x2C00 + rng.getrandbits(12) for _ in range(2))
        exact = decode(fmt, x).number / decode(fmt, y).number
        d = program_result(plan, [x], [y], 0)
        away = [abs(decode(fmt, d + i).number - exact) for i in (-1, 0, 1)]
        assert away[1] == min(away)


REFUSED = (
    ("d = a", "a scalar d, but it gives a vector of 2 fp32"),
    ("x = a[0]", "a scalar d, but it gives nothing"),
    ("d = a[2]", "line 1 .* an element from 0 to 1, but got 2"),
    ("\nd = nothing + c", "line 2 .* 'nothing', which nothing before it assigns"),
    ("d = call(unit, a, b, c)", "a in fp16 for volta.*, but got fp32"),
    ("d = call(unit, c, c)", "a vector for a of a call, but got a scalar"),
    ("d = scale(c, 1)", "a scalar d, but it gives a number that is not rounded"),
    ("d = scale(c, 1) + scale(c, 2)", "add, sub or mul with a format"),
    ("d = convert(c, fp33)", "a known format, but got 'fp33'"),
    ("d = convert(c, fp16, RX)", "a known rounding, but got 'RX'"),
    ("d = convert(c, e4m3fnuz)", "a format that values can be rounded to, but got e4m3fnuz"),
    ("d = convert(c, int8)", "a format of floats that values can be rounded to, but got int8"),
    ("d = repeat(a, 2, 5)", "3 elements to repeat 2 times for 5, but got 2"),
    ("d = exponent(0)", "a number above zero for exponent, but got 0"),
    ("x = convert(a, fp16)\nd = call(unit, x, x, 0, x, x)", "a unit with block scales beside scales"),
    (
        "x = convert(a, e4m3)\nd = call(mx, x, x, 0, x)",
        "expected 1 scales in e8m0 for black.*, but got 2 in e4m3",
    ),
    ("d = convert(c, bf16) + convert(c, fp16)", "one format holds the other, but got bf16 and fp16"),
    ("d = __import__('os')", "a function of this language"),
    ("d = a.real", "expected UNIT.k, but got 'a.real'"),
    ("d = (lambda: c)()", "a function of this language"),
    ("import os", "an assignment, for or if, but got 'import os'"),
    ("while True:\n    d = c", "an assignment, for or if"),
    ("d = c // c", "line 1 .* expected . - . or / of values"),
    ("d = div(scale(c, 1), c, fp32)", "rounded values to divide"),
    ("d = div(a, [c, c, c], fp32)", r"of one length, but got lengths \[2, 3\]"),
    ("d = magnitude(a, -1)", "at least zero for magnitude, but got -1"),
    ("for x in c:\n    d = x", "blocks, parts, elements or range"),
    ("for i in range(2000000):\n    d = c", "at most 131072 rounds"),
    ("d = 3 ** c", "a power of two"),
    ("d = 2 ** 99999999", "an exponent of at most 40000"),
    ("x = 2 ** 40000\nfor i in range(30):\n    x = x * x\nd = c", "numbers of at most 131072 bits"),
    ("d = " + "-(" * 3000 + "c" + ")" * 3000, "fewer brackets|too many nested|in line"),
    ("d, e = split(c, fp16, words=3)", "2 values, but got 3"),
    ("split = c\nd = c", "a name of a variable, but split is a function"),
    ("d = split(c)", "missing a required argument"),
    ("d = c if c else c", "a condition on parameters"),
    ("d = 0.1 + c", "a value that fp32 holds exactly"),
    ("d = blocks(0, a)", "of at least 1 for the size of blocks"),
)


@pytest.mark.parametrize(("body", "sentence"), REFUSED)
def test_refusals_name_the_line(body: str, sentence: str) -> None:
    """One sentence, whatever is wrong; nothing of Python runs."""
    with pytest.raises(InputError, match=sentence):
        of(body, unit=UNIT, mx=MX8).plan(2)


def test_texts_that_are_no_program() -> None:
    """Broken statements, inputs, parameters, files and names."""
    with pytest.raises(InputError, match="in line 2 of mine"):
        of("d = c\nd = (")
    with pytest.raises(InputError, match="inputs a, b and c"):
        Program(name="x", title="t", source="s", inputs={"a": "fp32"}, body="d = c")
    good = {"title": "t", "source": "s", "inputs": {"a": "fp32", "b": "fp32", "c": "fp32"}, "body": "d = c"}
    assert read_program(good, "x").plan(1).result == 2
    with pytest.raises(InputError, match="the key body"):
        read_program({k: v for k, v in good.items() if k != "body"}, "x")
    with pytest.raises(UnknownNameError, match="key of the program x, but got 'boddy'"):
        read_program(good | {"boddy": ""}, "x")
    with pytest.raises(UnknownNameError, match="bf16x9"):
        program("bf16x8")
    with pytest.raises(UnknownNameError, match="parameter of bf16x9, but got 'band'"):
        program("bf16x9@band=3")
    with pytest.raises(InputError, match="an integer for bands"):
        program("bf16x9@bands=x")
    with pytest.raises(InputError, match="each parameter once"):
        program("bf16x9@bands=3,bands=4")
    with pytest.raises(InputError, match="a program in"):
        program("no-such-file.toml")


def test_a_parameter_holds_a_unit_with_parameters() -> None:
    """The value of a parameter ends where the next one's name begins."""
    p = program(f"ootomo-yokota@unit={UNIT}@fraction_bits=25,carry_bits=2,rounding=RZ")
    assert p.parameters["unit"] == f"{UNIT}@fraction_bits=25,carry_bits=2"
    assert p.parameters["rounding"] == "RZ"
    assert [u.design.fraction_bits for u in p.units(2)] == [25]


def test_equal_steps_are_shared_and_blocks_are_filled() -> None:
    """Two equal splits are one; five elements in blocks of four are two calls."""
    plan = of("x, y = split(a, fp16)\nu, v = split(a, fp16)\nd = call(unit, x, u, c)", unit=UNIT).plan(4)
    assert sum(isinstance(s, RoundStep) for s in plan.steps) == 2
    body = "d = c\nfor x, y in blocks(4, a, b):\n    d = call(unit, x, y, d)"
    plan = of(body, a="fp16", unit=UNIT).plan(5)
    assert [s.products for s in plan.steps if isinstance(s, CallStep)] == [4, 4]
    assert differing(plan, 20) == []


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "e3m2", "e2m1", "bf16", "tf32", "fp16"])
@pytest.mark.parametrize("saturate", ["True", "False"])
def test_conversions_to_every_format(name: str, saturate: str) -> None:
    """All roundings of one value, overflow, subnormals, Inf and NaN included."""
    fmt = FORMATS[name]
    lines = [
        f"x{i} = convert(c, {name}, {mode}, saturate={saturate})"
        for i, mode in enumerate(("RNE", "RNA", "RZ", "RD", "RU"))
    ]
    plan = of("\n".join([*lines, "d = c"])).plan(1)
    g, dag = program_circuit(plan)
    run, rng = Concrete(g, [dag.words(i)[0] for i in plan.rounded()]), random.Random(name)
    top = decode(fmt, fmt.largest).magnitude
    edges = [x for y in (top, top + 1, top * 17 / 16, top / 2) if (x := encoded(SINGLE, y)) is not None]
    for v in [*edges, 0x7F800000, 0xFF800000, 0x7FC00000, 1, *(rng.getrandbits(32) for _ in range(25))]:
        known = run_program(plan, [0], [0], v)
        assert run({"c": v}) == [known[i][0] for i in plan.rounded()], hex(v)
    if fmt.specials is Specials.ALL_ONES_NAN:
        assert run({"c": 0x7F800000})[0] == fmt.largest


def test_headroom_is_the_largest_power() -> None:
    """Zeros, subnormals, Inf and NaN among the elements."""
    p = of("e = headroom(a, 5)\nd = add(scale(a[0], e), 0, fp64)", a="fp16")
    assert differing(p.plan(3), 200) == []
    assert one(of("d = add(scale(a[0], headroom(a, 5)), 0, fp32)", a="fp16"), "2^-24", "0", "0") == 4
    assert one(of("d = add(scale(a[0], headroom(a, 5)), 0, fp32)", a="fp16"), "1.25", "0", "0") == 5
    assert one(of("d = add(scale(a[0], headroom(a, 5)), 0, fp32)", a="fp16"), "1.375", "0", "0") == 2.75


@pytest.mark.parametrize(
    "name", ["ootomo-yokota", "bf16x9@bands=3", "kahan", "deepgemm-fp8", "deepgemm-fp8-fp32"]
)
def test_magnitudes_bound_every_stage(name: str) -> None:
    """Finite values are multiples of 2^low and at most 2^high for inputs of the exponents."""
    p, spans = program(name), {"a": (-6, 5), "b": (-6, 5), "c": (-20, 9)}
    plan, rng = p.plan(2), random.Random(name)
    bounds = magnitudes(plan, spans)

    def drawn(letter: str) -> int:
        fmt, (low, high) = plan.input_format(letter), spans[letter]
        field = rng.randint(max(low, fmt.e_min), min(high, fmt.e_max)) + fmt.bias
        sign = rng.getrandbits(1) << (fmt.width - 1)
        return sign | field << fmt.fraction_bits | rng.getrandbits(fmt.fraction_bits) & ~1

    for _ in range(12):
        a, b = ([drawn(x) for _ in range(2)] for x in "ab")
        for step, words, bound in zip(plan.steps, run_program(plan, a, b, drawn("c")), bounds, strict=True):
            for v in (decode(step.fmt, x).magnitude for x in words if step.fmt is not None):
                assert v <= Fraction(2) ** bound.high, step.name
                assert (v / Fraction(2) ** bound.low).denominator == 1, step.name


def test_a_program_is_smtlib_too() -> None:
    """Its question is text that any solver reads."""
    g, dag = program_circuit(program("bf16x9").plan(1))
    text = to_smtlib(g, g.is_zero(dag.result))
    assert text.startswith("(set-logic QF_BV)")
    assert "|a[0]|" in text


def examples() -> Iterator[tuple[str, str]]:
    """The algorithms of docs/how-to/programs.md: the names of their files, and the files."""
    text = (ROOT / "docs" / "how-to" / "programs.md").read_text(encoding="utf-8")
    yield from re.findall(r"^```toml title=\"(\S+)\"\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_the_documents_algorithms_run(tmp_path: Path) -> None:
    """Four algorithms of a user, each in under 20 lines, equal on integers and fractions."""
    found = dict(examples())
    assert len(found) == 4
    for name, text in found.items():
        assert len(text.splitlines()) < 20
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        p = load_program(path)
        assert program(str(path)) == p
        assert differing(p.plan(1), 1) == []
