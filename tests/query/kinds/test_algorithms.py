"""Markidis against Ootomo and Yokota: the programs, their errors, and the questions about them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from sampled import one_in
from tcformal.backends.concrete import Concrete
from tcformal.design.names import resolve
from tcformal.design.steps import ProgramPlan
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, UnknownNameError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle.interpreter import program_result, run_program
from tcformal.oracle.values import decode, parse_value
from tcformal.programs import error
from tcformal.programs.dag import declared, program_dag
from tcformal.programs.error import HALF, SINGLE
from tcformal.programs.program import Program, program
from tcformal.query.assume import Assumptions
from tcformal.query.comparison.error_comparison import (
    ErrorComparison,
    cancelling,
    comparison_parameters,
    error_comparison,
    worst_directed,
)
from tcformal.query.comparison.parameters import ComparisonParameters
from tcformal.query.engine import answer
from tcformal.query.options import SolveOptions
from tcformal.query.programs import Worst, worst
from tcformal.query.question import Kind
from tcformal.query.verdict import Verdict
from tcformal.semantics.number import Exponent
from tcformal.simulation.operands.witness import Witness
from tcformal.solve.result import Limits

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
AMPERE = "ampere/mma.m16n8k8.f32.f16.f16.f32"
HOPPER = "hopper/mma.m16n8k8.f32.f16.f16.f32"
LIMITS = Limits(time_s=120, memory_mb=8192, seed=0)
#: Units of every kind: truncating, with products normalised, IEEE trees, rounding down.
UNITS = (
    VOLTA,
    "turing/mma.m16n8k8.f32.f16.f16.f32",
    "ampere/mma.m16n8k16.f32.f16.f16.f32",
    HOPPER,
    "blackwell/mma.m16n8k16.f32.f16.f16.f32",
    "valpey@terms=5,carry_bits=3",
    "tfdpa@products=2,fraction_bits=30,rounding=RNE",
    "cdna2/v_mfma_f32_32x32x4f16",
    "cdna3/v_mfma_f32_32x32x8_f16",
)
EDGES = [parse_value(SINGLE, text) for text in (
    "0", "-0", "inf", "-inf", "nan", "2^-149", "-2^-126", "2^-25", "0x33000001", "2^-14", "65504",
    "65519.99609375", "65520", "-65536", "0x477fffff", "1", "-1", "0x3f801000", "0x3f803000", "0x7f7fffff",
)]  # fmt: skip
Algorithm = Callable[[Sequence[int], Sequence[int], int], int]


def single(rng: random.Random) -> int:
    """An fp32 encoding: mostly of Type 1's exponents with a long or short fraction, else any, or an edge."""
    kind = rng.random()
    if kind < 0.8:
        short = rng.choice((0, 0, 10, 13, 20))
        fraction = rng.getrandbits(23) >> short << short
        return rng.getrandbits(1) << 31 | rng.randint(112, 141) << 23 | fraction
    return rng.getrandbits(32) if kind < 0.9 else rng.choice(EDGES)


def half(rng: random.Random) -> int:
    """An fp16 encoding: subnormals, infinities and NaNs among them."""
    return rng.getrandbits(16)


def programs(spec: UnitSpec, rounding: str, k: int) -> tuple[Concrete, list[Algorithm]]:
    """Markidis, Ootomo and Yokota without and with the last product: on integers, and on the oracle."""
    plans = [
        program(name).with_settings(unit=spec.name, rounding=rounding, **more).plan(k)
        for name, more in (("markidis", {}), ("ootomo-yokota", {}), ("ootomo-yokota", {"last": True}))
    ]
    g = Graph()
    given = declared(g, plans[0])
    roots = [program_dag(g, plan, given, f"p{i}").result for i, plan in enumerate(plans)]

    def again(plan: ProgramPlan) -> Algorithm:
        return lambda a, b, c: program_result(plan, a, b, c)

    return Concrete(g, roots), [again(plan) for plan in plans]


def disagreements(name: str, rounding: str, n: int, k: int = 2, seed: int = 0) -> list[str]:
    """The vectors, as text, on which integers and oracle differ."""
    spec, rng = resolve(name), random.Random(f"{name} {rounding} {seed}")
    run, want = programs(spec, rounding, k)
    found = []
    for _ in range(n):
        w = Witness(tuple(single(rng) for _ in range(k)), tuple(single(rng) for _ in range(k)), single(rng))
        got = run(w.inputs())
        again = [f(w.a, w.b, w.c) for f in want]
        if got != again:
            found.append(f"{w}: {got} against {again}")
    return found


def words(rounding: str) -> Program:
    """hi, lo and lo' of one value."""
    return Program(
        name="words",
        title="both splits",
        source="OOTOMO equations 18 to 21",
        inputs={"a": "fp32", "b": "fp32", "c": "fp32"},
        parameters={"rounding": rounding},
        body="""
high, low = split(c, fp16, rounding=rounding)
first, up = split(c, fp16, scale=11, rounding=rounding)
d = high
""",
    )


def split_in_fractions(v: int, rounding: str) -> tuple[int, ...]:
    """hi, lo and lo' of an encoding on the oracle."""
    plan = words(rounding).plan(1)
    known = run_program(plan, [0], [0], v)
    return tuple(known[i][0] for i in plan.rounded())


@pytest.mark.parametrize("rounding", ["RNE", "RZ"])
def test_splits_are_the_oracles(rounding: str) -> None:
    """hi, lo and lo' of 600 values and of every edge, subnormals, overflow, Inf and NaN included."""
    g, plan = Graph(), words(rounding).plan(1)
    dag = program_dag(g, plan, declared(g, plan))
    run = Concrete(g, [dag.words(i)[0] for i in plan.rounded()])
    rng = random.Random(7)
    for v in [*EDGES, *(single(rng) for _ in range(600))]:
        assert tuple(run({"a[0]": 0, "b[0]": 0, "c": v})) == split_in_fractions(v, rounding), hex(v)


def test_split_by_hand() -> None:
    """Above a tie hi goes up, at it to even, toward zero down; low parts are rounded, and subnormal, too."""
    assert split_in_fractions(0x3F801001, "RNE") == (0x3C01, 0x9000, 0xBC00)
    assert split_in_fractions(0x3F801000, "RNE") == (0x3C00, 0x1000, 0x3C00)
    assert split_in_fractions(0x3F801001, "RZ") == (0x3C00, 0x1000, 0x3C00)
    assert split_in_fractions(0xBFFFFFFF, "RNE") == (0xC000, 0x0002, 0x0C00)


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ["RNE", "RZ"])
def test_algorithms_are_the_oracles(rounding: str) -> None:
    """144 vectors for every algorithm and split rounding, over all kinds of units."""
    for name in UNITS:
        assert disagreements(name, rounding, 16) == []


@pytest.mark.long
@pytest.mark.parametrize("rounding", ["RNE", "RZ"])
@pytest.mark.parametrize("name", UNITS)
def test_algorithms_are_the_oracles_long(name: str, rounding: str) -> None:
    """2,000 vectors for every algorithm, unit and split rounding."""
    assert disagreements(name, rounding, 2000, seed=1) == []


@pytest.mark.parametrize("name", one_in(3, UNITS))
def test_table5_forms_are_the_oracles(name: str) -> None:
    """500 vectors of halves with any c, added inside and outside."""
    spec, rng, g = resolve(name), random.Random(name), Graph()
    k = min(2, spec.k)
    plans = [
        program("chained").with_settings(unit=name, word="fp16").plan(k),
        program("added-outside").with_settings(unit=name).plan(k),
    ]
    given = declared(g, plans[0])
    run = Concrete(g, [program_dag(g, plan, given, f"p{i}").result for i, plan in enumerate(plans)])
    for _ in range(500):
        w = Witness(tuple(half(rng) for _ in range(k)), tuple(half(rng) for _ in range(k)), single(rng))
        want = [program_result(plan, w.a, w.b, w.c) for plan in plans]
        assert run(w.inputs()) == want, w


def test_a_wrong_algorithm_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scaling that the DAG takes by one more than the oracle is seen at once."""
    assert disagreements(VOLTA, "RNE", 50) == []
    shifted = Exponent.shifted
    monkeypatch.setattr(Exponent, "shifted", lambda e, by: shifted(e, by + (by == -11)))
    assert disagreements(VOLTA, "RNE", 50) != []


def table5(b1: str) -> Witness:
    """The inputs of VALPEY's Table 5, with the first b as given."""
    a = ("1.0009765625*2^-8", "1.326171875*2^-14", "2^-12", "2^-12")
    b = (b1, "1.4443359375*2^-7", "2^-12", "2^-12")
    rows = [tuple(parse_value(HALF, text) for text in row) for row in (a, b)]
    return Witness(rows[0], rows[1], parse_value(SINGLE, "2^-24"))


def test_valpey_table_5() -> None:
    """VALPEY Table 5: with b1 = 1.998046875·2^7 Markidis is nearer to the exact value.

    As printed, b1 = 1.998046875·2^-7, the row does not reproduce: the first product is then near 2^-14 and
    not near 1, and both algorithms give the same.  The exact value is 1 + 2.32·2^-24, not the printed
    1 + 2^-23, which is the nearest fp32 number.
    """
    one = parse_value(SINGLE, "1")
    w = table5("1.998046875*2^7")
    q = error_comparison(comparison_parameters(VOLTA, assumptions=Assumptions(("positive",))))
    run = q.replay(w.inputs())
    assert run.integers == run.oracle == (one + 1, one)
    assert run.exact is not None
    assert round((run.exact - 1) * 2**24, 2) == Fraction("2.32")
    assert run.confirms
    printed = q.replay(table5("1.998046875*2^-7").inputs())
    assert printed.exact is not None
    assert printed.exact < Fraction(1, 2**13)
    assert printed.integers[0] == printed.integers[1]
    assert not printed.confirms


def questions() -> list[ErrorComparison]:
    """Both forms, with and without the last product, with a margin, and narrow and wide exponents."""
    return [
        error_comparison(x)
        for x in (
            comparison_parameters(VOLTA),
            comparison_parameters(HOPPER, worse="markidis", c_exponents=(-149, 127)),
            comparison_parameters("valpey@terms=5,carry_bits=3", more_than=Fraction(1, 4)),
            comparison_parameters(VOLTA, form="split", products=2),
            comparison_parameters(HOPPER, form="split", products=3, split_rounding="RZ", keep_last=True),
            comparison_parameters(
                VOLTA,
                form="split",
                products=1,
                assumptions=Assumptions(exponents=(-126, 127)),
                c_exponents=(-126, 127),
            ),
            comparison_parameters(
                "cdna2/v_mfma_f32_32x32x4f16", products=2, assumptions=Assumptions(exponents=(-3, 9))
            ),
        )
    ]


@pytest.mark.slow
def test_errors_are_exact() -> None:
    """The DAG's exact values, errors and verdicts are the fractions' wherever the assumptions hold."""
    rng, larger = random.Random(11), 0
    for q in questions():
        what, held = q.parameters, 0
        assert isinstance(what, ComparisonParameters)
        span = what.exponents
        for _ in range(60):
            w = in_range(rng, what, span)
            run = q.replay(w.inputs())
            assert run.integers == run.oracle
            held += run.assumed
            assert not run.assumed or run.same_errors, w
            assert run.violated == run.confirms
            by = run.excess if what.more_than is None else run.excess_ulps
            assert run.violated == (by is not None and by > (what.more_than or 0) and run.assumed)
            larger += run.violated
        assert held > 45
    assert larger > 20


def in_range(rng: random.Random, what: ComparisonParameters, span: tuple[int, int]) -> Witness:
    """Inputs with exponents near each other, of the range that the question assumes; some zeros."""
    fmt, k = what.factor_format, what.products
    low, high = max(span[0], fmt.e_min), min(span[1], fmt.e_max)
    middle = rng.randint(low, high)

    def factor() -> int:
        if rng.random() < 0.05:
            return 0
        e = min(max(rng.randint(middle - 4, middle + 4), low), high)
        sign = rng.getrandbits(1) << (fmt.width - 1)
        return sign | (e + fmt.bias) << fmt.fraction_bits | rng.getrandbits(fmt.fraction_bits)

    c_low, c_high = max(what.c_exponents[0], SINGLE.e_min), what.c_exponents[1]
    e = min(max(rng.randint(2 * middle - 26, 2 * middle + 4), c_low), c_high)
    c = rng.getrandbits(1) << 31 | (e + SINGLE.bias) << 23 | rng.getrandbits(23)
    return Witness(tuple(factor() for _ in range(k)), tuple(factor() for _ in range(k)), c)


@pytest.mark.parametrize("worse", one_in(2, ["ootomo-yokota", "markidis"]))
def test_either_can_be_worse(worse: str) -> None:
    """VALPEY Property 5, and its converse: found, replayed, shrunk, and told with exact errors."""
    q = error_comparison(comparison_parameters(VOLTA, worse=worse))
    v = answer(q, SolveOptions(limits=LIMITS), shrink_s=1.0)
    assert v.kind is Kind.VIOLATED
    assert v.witness is not None
    assert v.replayed is not None
    assert v.replayed.confirms
    assert v.replayed == q.replay(v.witness.inputs())
    data = v.to_json()
    assert data["claim"].startswith("the error of")
    assert set(data["errors_ulps"]) == {"markidis", "ootomo-yokota"}


@pytest.mark.long
def test_split_form_has_an_answer() -> None:
    """With full splits, inputs are found on which dropping the product of the remainders costs more."""
    v = answer(
        error_comparison(comparison_parameters(VOLTA, form="split")),
        SolveOptions(limits=LIMITS),
        shrink_s=1.0,
    )
    assert v.kind is Kind.VIOLATED
    assert v.replayed is not None
    assert v.replayed.confirms
    assert v.to_json()["split_rounding"] == "RNE"


def test_never_worse_is_confirmed() -> None:
    """Where c is 0 and halves are added, both are one call: neither is ever worse, and there is evidence."""
    none = Assumptions((), (0, 0), 0)
    q = error_comparison(comparison_parameters(VOLTA, products=1, assumptions=none, more_than=Fraction(0)))
    v = answer(q, SolveOptions(limits=LIMITS))
    assert v.kind is Kind.HOLDS
    assert v.certificate is not None or v.confirmed_by


def test_impossible_assumptions_are_vacuous() -> None:
    """A c that the range of its exponent excludes leaves nothing to claim."""
    one = parse_value(SINGLE, "1")
    q = error_comparison(
        comparison_parameters(VOLTA, products=1, assumptions=Assumptions(c=one), c_exponents=(3, 5))
    )
    assert answer(q, SolveOptions(limits=LIMITS)).kind is Kind.VACUOUS


def test_replay_refuses_what_does_not_violate() -> None:
    """Equal errors, inputs outside the assumptions, and a DAG that says otherwise are no witnesses."""
    q = error_comparison(comparison_parameters(VOLTA, assumptions=Assumptions(("positive",))))
    w = table5("1.998046875*2^7")
    assert not q.replay({}).confirms
    assert not q.replay(replace(w, c=w.c | 1 << 31).inputs()).confirms
    lying = replace(q, violated=q.graph.truth(True))
    assert not lying.replay({}).confirms
    wrong = replace(q, errors=(q.errors[1], q.errors[0]))
    assert not wrong.replay(w.inputs()).confirms


def test_unfit_questions_are_refused() -> None:
    """Units of other formats, too many products, and settings that mean nothing."""
    with pytest.raises(InputError, match="fp32 = fp16"):
        comparison_parameters("hopper/mma.m16n8k16.f32.bf16.bf16.f32")
    with pytest.raises(InputError, match="1 to 4 products"):
        comparison_parameters(VOLTA, products=5)
    with pytest.raises(InputError, match="keep_last"):
        comparison_parameters(VOLTA, keep_last=True)
    with pytest.raises(InputError, match="c_exponents"):
        comparison_parameters(VOLTA, c_exponents=(3, 2))
    with pytest.raises(UnknownNameError, match="split rounding"):
        comparison_parameters(VOLTA, split_rounding="RU")
    with pytest.raises(InputError, match="multiple of 1/256"):
        error_comparison(comparison_parameters(VOLTA, more_than=Fraction(1, 3)))
    with pytest.raises(InputError, match="exponents that the format has"):
        error_comparison(comparison_parameters(VOLTA, assumptions=Assumptions(exponents=(40, 50))))


def one_answer(q: ErrorComparison, seconds: float) -> Verdict[ErrorComparison]:
    """An answer that nothing keeps."""
    return answer(q, SolveOptions(limits=replace(LIMITS, time_s=min(seconds, LIMITS.time_s))))


@pytest.mark.long
def test_worst_case_with_a_proved_bound() -> None:
    """One product in [1, 4) and c = 1 + 3·2^-23: truncation costs half an ulp more, and never more."""
    c = parse_value(SINGLE, "8388611*2^-23")
    few = Assumptions(("positive",), (0, 0), c)
    what = comparison_parameters(VOLTA, worse="markidis", products=1, c_exponents=(0, 0), assumptions=few)
    found = worst(what, one_answer, seconds=300, shrinking_s=0.5)
    check_worst(found)
    assert {s.kind for s in found.steps} <= {Kind.VIOLATED, Kind.HOLDS}
    assert found.excess == Fraction(1, 2)
    assert found.bound == Fraction(1, 2)
    assert found.outcome == "BOUNDED"
    data = found.to_json()
    assert data["bound_ulps"] == "0.5"
    assert "none is more than 0.5 ulp" in data["reason"]


@pytest.mark.slow
def test_a_search_without_answers_keeps_what_it_found() -> None:
    """Where only the first question is answered: inputs, no bound; where none is: nothing."""
    first: list[Verdict[ErrorComparison]] = []

    def first_only(q: ErrorComparison, seconds: float) -> Verdict[ErrorComparison]:
        if not first:
            first.append(one_answer(q, seconds))
            return first[0]
        return replace(first[0], kind=Kind.TIMEOUT, inputs=None, found_inputs=None)

    what = comparison_parameters(VOLTA, assumptions=Assumptions(("finite",)))
    found = worst(what, first_only, seconds=30, shrinking_s=0.5)
    check_worst(found)
    assert found.outcome == "FOUND"
    assert found.bound is None
    assert "no bound was proved" in found.reason
    nothing = worst(what, lambda q, s: replace(first_only(q, s), kind=Kind.TIMEOUT), seconds=1)
    assert nothing.outcome == "UNKNOWN"
    assert nothing.witness is None
    assert nothing.excess == 0


@pytest.mark.parametrize(("unit", "ulps"), one_in(3, [(VOLTA, 75), (AMPERE, 74), (HOPPER, 73)]))
def test_cancelling_inputs_have_a_huge_excess(unit: str, ulps: int) -> None:
    """The exact value is 2^-48 and the lost product 2^5 and less, by the bits that alignment keeps."""
    q = error_comparison(comparison_parameters(unit, more_than=Fraction(2) ** ulps))
    inputs = worst_directed(q)
    assert inputs is not None
    run = q.replay(inputs)
    assert run.confirms
    assert run.exact == Fraction(1, 2**48)
    assert run.excess_ulps is not None
    assert run.excess_ulps < Fraction(2) ** (ulps + 1)


def test_directed_inputs_obey_what_is_assumed() -> None:
    """None where they break an assumption, in the other form, and of fewer than three products."""
    assert (
        worst_directed(error_comparison(comparison_parameters(VOLTA, assumptions=Assumptions(("positive",)))))
        is None
    )
    assert list(cancelling(comparison_parameters(VOLTA, form="split"))) == []
    assert list(cancelling(comparison_parameters(VOLTA, products=2))) == []
    narrow = comparison_parameters(VOLTA, assumptions=Assumptions(exponents=(0, 3)))
    assert all(0 <= decode(HALF, x).exponent <= 3 for w in cancelling(narrow) for x in w.a if x)


def check_worst(found: Worst) -> None:
    """The witness replays, no found excess is above the best, and the text names both ends."""
    assert found.replayed is not None
    assert found.witness is not None
    assert found.replayed.confirms
    assert found.excess == found.replayed.excess_ulps
    assert found.replayed.oracle == found.asked.oracle_results(found.witness)
    assert all(s.found is None or s.found <= found.excess + error.ULP_STEP for s in found.steps)
    data = found.to_json()
    assert data["bound_ulps"] is None or "none is more than" in data["reason"]


def nodes_of(q: ErrorComparison) -> list[Node]:
    """The nodes that make a question."""
    return [*q.results, q.exact, *q.errors, q.assumed, q.violated]


def test_questions_are_reproducible() -> None:
    """The same question has the same digest, another one another."""
    first, second = (
        error_comparison(comparison_parameters(VOLTA)),
        error_comparison(comparison_parameters(VOLTA)),
    )
    assert first.digest() == second.digest()
    assert first.digest() != error_comparison(comparison_parameters(HOPPER)).digest()
    assert [n.width for n in nodes_of(first)] == [n.width for n in nodes_of(second)]
