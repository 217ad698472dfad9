"""Separating and proving with the real solvers, and that nothing unchecked becomes a verdict."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcformal
from sampled import one_in
from tcformal.design.names import resolve
from tcformal.design.rounding import conversion
from tcformal.encodings.catalog import FORMATS
from tcformal.errors import InputError, UnknownNameError
from tcformal.ir.build import Graph
from tcformal.oracle.values import ExactValue, NumberClass, decode
from tcformal.query.assume import Assumptions, assumptions, from_texts
from tcformal.query.engine import VECTORS_NAME
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.question import Kind
from tcformal.query.separate import prove_equal, separate
from tcformal.query.shrink import shrink, witness_cost
from tcformal.query.verdict import Verdict
from tcformal.semantics.number import Exponent
from tcformal.semantics.pack import pack
from tcformal.semantics.round import convert
from tcformal.semantics.unpack import unpack
from tcformal.simulation.operands.witness import Witness
from tcformal.solve.members import Member, registry
from tcformal.solve.portfolio import decide
from tcformal.solve.result import Limits, Status
from vectors import batch

#: Generous: no answer here may depend on how busy the machine is.
LIMITS = Limits(time_s=300.0, memory_mb=8192, seed=0)
SHORT = Limits(time_s=2.0, memory_mb=8192, seed=0)

AMPERE_K8 = "ampere/mma.m16n8k8.f32.f16.f16.f32"
HOPPER_K8 = "hopper/mma.m16n8k8.f32.f16.f16.f32"
AMPERE = "ampere/mma.m16n8k16.f32.f16.f16.f32"
HOPPER = "hopper/mma.m16n8k16.f32.f16.f16.f32"
TURING_884 = "turing/mma.m8n8k4.f32.f16.f16.f32"

Stub = Callable[..., str]
FINITE = Assumptions(("finite",))


def given(**assumed: Any) -> Assumptions:
    """Assumptions about operands whose c is fp32, as query files write them."""
    return assumptions(FORMATS["fp32"], assumed)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shrinking ends by itself, however busy the machine is."""
    monkeypatch.setattr(
        "tcformal.query.pair.shrink", lambda q, w, seconds: shrink(q, w, seconds=30 * seconds)
    )


def live_products(w: Witness) -> int:
    """How many products are not 0·0."""
    return sum(1 for x, y in zip(w.a, w.b, strict=True) if x or y)


def assert_separated(v: Verdict[EqualityQuestion]) -> Witness:
    """The shown witness and the found one replay on integers and on the oracle; the shown one is simpler."""
    assert v.kind is Kind.SEPARATED, v.reason
    assert v.witness is not None
    assert v.found is not None
    assert v.results is not None
    for w in (v.witness, v.found):
        again = v.question.replay(w.inputs())
        assert again.assumed
        assert again.integers == again.oracle
        assert again.integers[0] != again.integers[1]
        assert again.confirms
    assert v.question.replay(v.witness.inputs()).integers == v.results
    assert witness_cost(v.question, v.witness) <= witness_cost(v.question, v.found)
    return v.witness


def assert_equivalent(v: Verdict[EqualityQuestion]) -> None:
    """Theorems say so, two solvers of different packages, or a certificate; no model is shown."""
    assert v.kind is Kind.EQUIVALENT, v.reason
    if v.theorems is not None:
        assert v.theorems.theorems
        assert not v.answers
        assert v.witness is None
        return
    said = [a.solver for a in v.answers if a.status is Status.UNSAT]
    assert v.certificate is not None or len({registry[name].distribution for name in said}) >= 2
    assert set(v.confirmed_by) < set(said)
    assert v.witness is None
    assert v.results is None


# ---------------------------------------------------------------------- generations of one instruction
def test_ampere_and_hopper_are_separated_by_two_products() -> None:
    v = separate(AMPERE, HOPPER, limits=LIMITS)
    assert live_products(assert_separated(v)) <= 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("turing/mma.m16n8k8.f32.f16.f16.f32", AMPERE_K8, id="turing-ampere-m16n8k8"),
        pytest.param("volta/mma.m8n8k4.f32.f16.f16.f32", TURING_884, id="volta-turing-m8n8k4"),
        pytest.param(AMPERE_K8, AMPERE, id="ampere-k8-chained-to-k16"),
    ],
)
def test_units_of_equal_arithmetic_are_equivalent(first: str, second: str) -> None:
    v = prove_equal(first, second, limits=LIMITS)
    assert_equivalent(v)
    assert v.question.same_definition


def test_the_open_question_about_turing_is_told_apart() -> None:
    """VALPEY's 24 fraction bits for m8n8k4 on Turing, against XIE's 23."""
    v = separate("volta/mma.m8n8k4.f32.f16.f16.f32", f"{TURING_884}@fraction_bits=24", limits=LIMITS)
    assert live_products(assert_separated(v)) <= 2


_BF16, _TF32 = "mma.m16n8k16.f32.bf16.bf16.f32", "mma.m16n8k8.f32.tf32.tf32.f32"
_FP16 = "mma.m16n8k8.f16.f16.f16.f16"


@pytest.mark.parametrize(
    ("instruction", "first", "second", "kind"),
    one_in(
        2,
        [
            (_BF16, "ampere", "ada", Kind.EQUIVALENT),
            (_BF16, "ada", "hopper", Kind.SEPARATED),
            (_BF16, "hopper", "blackwell", Kind.EQUIVALENT),
            (_TF32, "ampere", "ada", Kind.EQUIVALENT),
            (_TF32, "ada", "hopper", Kind.SEPARATED),
            (_TF32, "hopper", "blackwell", Kind.EQUIVALENT),
            ("mma.m8n8k4.f16.f16.f16.f16", "volta", "turing", Kind.EQUIVALENT),
            ("mma.m8n8k4.f32.f16.f16.f16", "volta", "turing", Kind.EQUIVALENT),
            *(
                pytest.param(_FP16, *pair, Kind.EQUIVALENT, marks=pytest.mark.long)
                for pair in (("turing", "ampere"), ("ampere", "ada"))
            ),
            (_FP16, "ada", "hopper", Kind.SEPARATED),
            (_FP16, "hopper", "blackwell", Kind.EQUIVALENT),
        ],
    ),
)
def test_neighbouring_architectures(instruction: str, first: str, second: str, kind: Kind) -> None:
    """One instruction on two generations: equal where their parameters are, separated where they are not."""
    names = f"{first}/{instruction}", f"{second}/{instruction}"
    designs = [tcformal.unit(name).design for name in names]
    assert (designs[0] == designs[1]) == (kind is Kind.EQUIVALENT)
    v = separate(*names, limits=LIMITS)
    if kind is Kind.EQUIVALENT:
        assert_equivalent(v)
    else:
        assert live_products(assert_separated(v)) <= 2


# ---------------------------------------------------------------------- carry bits
@pytest.mark.parametrize(
    ("base", "needed"),
    [("valpey@terms=5", 3), ("valpey@terms=9,align_bits=1", 4)],
    ids=["5-terms", "9-terms"],
)
def test_carry_bits_of_normalised_products(base: str, needed: int) -> None:
    """One carry bit too few is seen; one more than needed is not (VALPEY §4.3)."""
    names = [f"{base},carry_bits={needed + by}" for by in (-1, 0, 1)]
    assert_separated(separate(names[0], names[1], limits=LIMITS))
    v = separate(names[1], names[2], limits=LIMITS)
    assert_equivalent(v)
    assert not v.question.same_definition


def test_hopper_needs_six_carry_bits() -> None:
    """17 terms whose products lie below 4: the exact sum needs six bits above the units bit."""
    w = assert_separated(separate(HOPPER, f"{HOPPER}@carry_bits=5", limits=LIMITS))
    assert live_products(w) == 16
    assert_equivalent(prove_equal(HOPPER, f"{HOPPER}@carry_bits=6", limits=LIMITS))


# ---------------------------------------------------------------------- different k
def test_a_hopper_chain_is_not_its_wide_instruction() -> None:
    """Two calls of k = 8 round in between, one call of k = 16 does not."""
    v = separate(HOPPER_K8, HOPPER, limits=LIMITS)
    assert v.question.k == 16
    assert live_products(assert_separated(v)) <= 2


@pytest.mark.parametrize(
    "short",
    [
        AMPERE_K8,
        HOPPER_K8,
        "hopper/mma.m16n8k4.f32.tf32.tf32.f32",
        "ampere/mma.m16n8k8.f16.f16.f16.f16",
        f"{AMPERE_K8}@zero_exponent=own",
        f"{AMPERE_K8}@zero_exponent=none,zero_sign=ieee",
        "valpey@terms=5,zero_exponent=own",
        "sequential@terms=3",
        "tfdpa@products=2,conversion=RZ-E8M13",
    ],
)
def test_a_chain_of_calls_is_what_a_question_asks_about(short: str) -> None:
    """The results of a question over 2k products are those of two calls, encoded in between."""
    u = tcformal.unit(short)
    k = u.k
    long = resolve(short)
    a, b, c = batch(long, 2 * k, 240, seed=20)
    once = u.dot_bits(a[:, :k], b[:, :k], c)
    expected = u.dot_bits(a[:, k:], b[:, k:], once)
    wide = resolve(f"tfdpa@k={2 * k},products={2 * k},a_format={long.a_format},b_format={long.b_format},"
                   f"c_format={long.c_format},d_format={long.d_format}")  # fmt: skip
    chained = question(u.spec, wide, Assumptions())
    assert chained.k == 2 * k
    run = chained.evaluator()
    for i in range(len(c)):
        w = Witness(tuple(map(int, a[i])), tuple(map(int, b[i])), int(c[i]))
        assert run(w.inputs())[2] == expected[i], w


@pytest.mark.parametrize(
    ("text", "fmt"),
    one_in(2, [("RZ-FP32", "fp32"), ("RNE-FP16", "fp16"), ("RZ-E8M13", "fp32"), ("RU-BF16", "bf16")]),
)
def test_the_encoding_between_two_calls_loses_nothing(text: str, fmt: str) -> None:
    """A converted number that is packed and unpacked is the same number: two solvers, or a checked proof."""
    g, target, form = Graph(), conversion(text), FORMATS[fmt]
    low = target.e_min - 20
    lsb = Exponent(g.input("lsb", 9), low, low + 511)
    x = convert(g, g.input("sign", 1), g.input("magnitude", 28), lsb, target, overflow="infinity").result
    nan_word = form.infinity + 1
    y = unpack(g, pack(g, x, form, g.const(nan_word, form.width)), form)

    pad = form.fraction_bits - target.fraction_bits
    span = y.term.exponent
    same = g.and_(
        g.eq(x.term.sign, y.term.sign),
        g.eq(x.inf, y.inf),
        g.not_(y.nan),
        g.or_(x.inf, g.eq(g.shift_left_const(x.term.significand, pad), y.term.significand)),
        g.or_(x.inf, g.eq(x.term.zero, y.term.zero)),
        g.or_(x.inf, g.eq(x.term.exponent.rebased(g, span.low, span.high), span.bits)),
    )
    decision = decide(g, g.not_(same), limits=LIMITS)
    assert decision.status is Status.UNSAT, decision.model
    assert decision.confirmed_by or decision.certificate is not None


def test_units_that_cannot_be_chained_are_refused() -> None:
    """An fp16 C cannot take the fp32 D of the call before."""
    first = "tfdpa@products=4,c_format=fp16"
    with pytest.raises(InputError) as caught:
        separate(first, "tfdpa@products=8,c_format=fp16")
    assert str(caught.value) == (
        f"expected units of equal k, because {first} cannot be chained: its C is fp16 and its D is fp32"
    )


def test_units_of_unequal_formats_are_refused() -> None:
    bf16 = "ampere/mma.m16n8k16.f32.bf16.bf16.f32"
    with pytest.raises(InputError) as caught:
        separate(AMPERE, bf16)
    assert str(caught.value) == (
        f"expected two units of equal operand formats, but A is fp16 in {AMPERE} and bf16 in {bf16}"
    )


# ---------------------------------------------------------------------- one unit against itself
@pytest.mark.parametrize(
    "name",
    one_in(2, [AMPERE, HOPPER, "valpey@terms=5,carry_bits=2", "sequential@terms=3", "tfdpa@d_format=fp16"]),
)
def test_a_design_is_equivalent_to_itself(name: str) -> None:
    v = prove_equal(name, tcformal.unit(name), limits=LIMITS)
    assert_equivalent(v)
    assert v.question.same_definition
    assert v.reason.startswith("both units build the same definition; ")


# ---------------------------------------------------------------------- assumptions
def operands(w: Witness) -> list[ExactValue]:
    """Every operand of a witness of the fp16 units, decoded."""
    fp16, fp32 = FORMATS["fp16"], FORMATS["fp32"]
    return [decode(fp16, x) for x in (*w.a, *w.b)] + [decode(fp32, w.c)]


HELD: dict[str, Callable[[ExactValue], bool]] = {
    "finite": lambda x: x.kind is NumberClass.FINITE,
    "normal": lambda x: x.kind is NumberClass.FINITE and x.magnitude >= 2**-14 and not x.is_zero,
    "positive": lambda x: not x.sign,
    "nonzero": lambda x: not x.is_zero,
}


@pytest.mark.parametrize("flags", [["finite"], ["normal"], ["positive"], ["nonzero"], ["finite", "positive"]])
def test_flags_are_respected(flags: list[str]) -> None:
    assumed: dict[str, Any] = dict.fromkeys(flags, True)
    v = separate(AMPERE_K8, HOPPER_K8, limits=LIMITS, assumptions=given(**assumed))
    w = assert_separated(v)
    assert v.found is not None
    for values in (operands(w), operands(v.found)):
        # fp32's c may be normal below 2^-14; the operands of the fp16 lists may not.
        checked = values[:-1] if "normal" in flags else values
        assert all(HELD[flag](x) for flag in flags for x in checked)
    if "normal" in flags:
        assert live_products(w) == 8
        assert operands(w)[-1].magnitude >= Fraction(1, 1 << 126)


def test_exponents_are_respected() -> None:
    v = separate(AMPERE_K8, HOPPER_K8, limits=LIMITS, assumptions=Assumptions(exponents=(-4, 4)))
    for w in (assert_separated(v), v.found):
        assert w is not None
        assert all(-4 <= x.exponent <= 4 for x in operands(w) if not x.is_zero)


@pytest.mark.parametrize(("c", "raw"), [("0", 0), (-1.5, 0xBFC00000), ("0x00000001", 1), (3, 0x40400000)])
def test_a_fixed_c_is_respected(c: Any, raw: int) -> None:
    v = separate(AMPERE_K8, HOPPER_K8, limits=LIMITS, assumptions=given(c=c))
    assert assert_separated(v).c == raw
    assert v.found is not None
    assert v.found.c == raw


@pytest.mark.parametrize(
    "assumed",
    one_in(
        3,
        [
            pytest.param({"exponents": "200..210", "nonzero": True}, id="no-such-exponent"),
            pytest.param({"finite": True, "c": "nan"}, id="finite-nan"),
            pytest.param({"positive": True, "c": "-inf"}, id="positive-negative"),
            pytest.param({"exponents": (0, 0), "c": 2}, id="c-outside-exponents"),
        ],
    ),
)
def test_contradicting_assumptions_are_vacuous(assumed: dict[str, Any]) -> None:
    v = separate(AMPERE_K8, HOPPER_K8, limits=LIMITS, assumptions=given(**assumed))
    assert v.kind is Kind.VACUOUS
    assert v.witness is None
    assert v.reason == "no operands satisfy: " + "; ".join(v.question.assumptions.texts())
    assert v.certificate is not None or sum(a.status is Status.UNSAT for a in v.answers) >= 2


@pytest.mark.parametrize("flag", ["normal", "nonzero"])
def test_a_c_that_is_fixed_need_not_be_normal(flag: str) -> None:
    """The factors of the witness are, and c is the zero that was asked for."""
    v = separate(AMPERE_K8, HOPPER_K8, limits=LIMITS, assumptions=given(**{flag: True, "c": 0}))
    assert v.kind is Kind.SEPARATED
    assert v.question.assumptions.texts()[0].startswith(("every operand but c", "no operand but c"))
    assert v.witness is not None
    assert all(v.witness.a + v.witness.b)
    assert v.witness.c == 0


def test_exponents_that_only_zeros_satisfy_leave_the_units_equal() -> None:
    """Zeros have no exponent to bound, so that the assumption is no contradiction."""
    assert_equivalent(
        prove_equal(AMPERE_K8, HOPPER_K8, limits=LIMITS, assumptions=given(exponents="200..210", finite=True))
    )


@pytest.mark.parametrize(
    ("assumed", "error", "sentence"),
    [
        (
            {"finit": True},
            UnknownNameError,
            "expected a known assumption, but got 'finit': the closest are finite",
        ),
        (
            {"solver": "z3"},
            UnknownNameError,
            "expected a known assumption, but got 'solver': "
            "expected one of finite, normal, positive, nonzero, exponents, scale_exponents, c, "
            "factors, products, sum, spread",
        ),
        ({"finite": 1}, InputError, "expected true or false for assumption finite, but got 1"),
        ({"exponents": "4"}, InputError, "expected exponents as LOW..HIGH, but got '4'"),
        ({"exponents": (1, 2, 3)}, InputError, "expected exponents as LOW..HIGH, but got (1, 2, 3)"),
        (
            {"exponents": "3..1"},
            InputError,
            "expected an integer from 3 to 40000 for the highest exponent, but got 1",
        ),
        (
            {"exponents": (0.5, 1)},
            InputError,
            "expected an integer for the lowest exponent, but got 0.5",
        ),
        (
            {"exponents": (-50000, 1)},
            InputError,
            "expected an integer from -40000 to 40000 for the lowest exponent, but got -50000",
        ),
        (
            {"c": "1e99"},
            InputError,
            "expected a value that fp32 holds exactly, but got 1e99: the largest is 16777215*2^104",
        ),
        ({"c": True}, InputError, "expected a value for assumption c, but got True"),
    ],
)
def test_assumptions_are_refused(assumed: dict[str, Any], error: type[InputError], sentence: str) -> None:
    with pytest.raises(error) as caught:
        separate(AMPERE, HOPPER, assumptions=given(**assumed))
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (["finite=true"], "expected assumption finite without a value, but got 'finite=true'"),
        (
            ["exponents"],
            "expected assumption exponents with a value, such as exponents=-14..15, but got none",
        ),
        (["c="], "expected assumption c with a value, such as c=0, but got none"),
        (["finite", "finite"], "expected each assumption once, but got finite twice"),
        (["c=0", "c=1"], "expected each assumption once, but got c twice"),
        (
            [""],
            "expected a known assumption, but got '': "
            "expected one of finite, normal, positive, nonzero, exponents, scale_exponents, c, "
            "factors, products, sum, spread",
        ),
    ],
)
def test_written_assumptions_are_refused(texts: list[str], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        from_texts(FORMATS["fp32"], texts)
    assert str(caught.value) == sentence


def test_written_assumptions_are_read() -> None:
    read = from_texts(FORMATS["fp32"], [" positive ", "finite", "exponents = -14 .. +15", "c=2^-149"])
    assert read == Assumptions(("finite", "positive"), (-14, 15), 1)
    assert read
    assert not from_texts(FORMATS["fp32"], [])
    assert read.texts() == [
        "no operand is NaN or Inf",
        "no operand has its sign bit set",
        "exponents of non-zero operands in -14..15",
        "c = 0x1",
    ]


# ---------------------------------------------------------------------- replay rejects, members fail
@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    """Enter a stub runner into the registry, as a package of its own."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[1] / "solve"))
    packages = iter(["pytest", "pluggy", "iniconfig", "packaging", "pip"])

    def enter(runner: str) -> str:
        monkeypatch.setitem(registry, runner, Member(next(packages), f"stub_members:{runner}"))
        return runner

    return enter


@pytest.mark.parametrize("pair", [(AMPERE, HOPPER), (AMPERE, "ada/mma.m16n8k16.f32.f16.f16.f32")])
def test_a_model_that_does_not_separate_is_an_error(stub: Stub, pair: tuple[str, str]) -> None:
    """All ones are NaN everywhere: equal results on both units, whether these differ elsewhere or not."""
    v = separate(*pair, solvers=[stub("says_sat_ones")], limits=LIMITS)
    assert v.kind is Kind.ERROR
    assert v.reason == "disagreement: says_sat_ones answered sat, but its model does not replay"
    assert v.witness is None
    assert v.results is None
    assert v.answers[0].model is not None


def test_a_model_against_the_assumptions_is_an_error(stub: Stub) -> None:
    v = separate(AMPERE, HOPPER, solvers=[stub("says_sat_ones")], limits=LIMITS, assumptions=FINITE)
    assert v.kind is Kind.ERROR
    assert v.reason.startswith("whether the assumptions can hold: disagreement: says_sat_ones")


def test_a_false_unsat_is_an_error(stub: Stub) -> None:
    v = separate(AMPERE, HOPPER, solvers=[stub("says_unsat"), "bitwuzla"], limits=LIMITS)
    assert v.kind is Kind.ERROR
    assert v.reason == "disagreement: bitwuzla answered sat, but says_unsat answered unsat"
    assert v.witness is None


def test_integers_and_oracle_that_disagree_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """What only one of the two computes is no result, however the solvers found it."""
    monkeypatch.setattr("tcformal.query.pair.oracle_result", lambda spec, witness: 0x42)
    v = separate(AMPERE, HOPPER, limits=LIMITS)
    assert v.kind is Kind.ERROR
    assert "its model does not replay" in v.reason
    assert v.witness is None


def test_a_shrunk_witness_that_does_not_separate_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = Witness((0,) * 16, (0,) * 16, 0)
    monkeypatch.setattr("tcformal.query.pair.shrink", lambda question, found, seconds: zeros)
    v = separate(AMPERE, HOPPER, limits=LIMITS)
    assert v.kind is Kind.ERROR
    assert v.reason == "the shrunk witness does not replay on integers and oracle"
    assert v.witness is None


def test_replay_sees_each_reason() -> None:
    q = question(resolve(AMPERE), resolve(HOPPER), Assumptions(flags=("positive",)))
    w = Witness((0x7400, *[0] * 15), (0x3C00, *[0] * 15), 0xBA000000)
    again = q.replay(w.inputs())
    assert again.agrees
    assert not again.assumed
    assert not again.confirms
    free = question(resolve(AMPERE), resolve(HOPPER), Assumptions())
    assert free.replay(w.inputs()).confirms
    assert not free.replay(Witness((0,) * 16, (0,) * 16, 0).inputs()).confirms


@pytest.mark.parametrize(
    "failing", one_in(3, ["hang", "leave", "killed", "raises", "gives_up", "says_sat_too_wide"])
)
def test_a_failing_member_costs_its_own_answer_only(stub: Stub, failing: str) -> None:
    v = separate(AMPERE_K8, HOPPER_K8, solvers=[stub(failing), "bitwuzla"], limits=LIMITS)
    assert_separated(v)
    assert {a.solver for a in v.answers} == {failing, "bitwuzla"}
    assert next(a for a in v.answers if a.solver == failing).status is not Status.SAT


def test_failing_members_do_not_hinder_a_proof(stub: Stub) -> None:
    members = [stub("leave"), "bitwuzla", stub("hang"), "cvc5"]
    assert_equivalent(
        prove_equal("valpey@terms=3,carry_bits=2", "valpey@terms=3", solvers=members, limits=LIMITS)
    )


def test_one_unconfirmed_unsat_is_unknown(stub: Stub) -> None:
    for members in (["z3"], ["z3", stub("leave")]):
        v = prove_equal(AMPERE_K8, "turing/mma.m16n8k8.f32.f16.f16.f32", solvers=members, limits=LIMITS)
        assert v.kind is Kind.UNKNOWN
        assert v.reason.startswith("z3 answered unsat, but no other solver confirmed it (")


@pytest.mark.parametrize(
    ("members", "kind", "reason"),
    [
        (["hang"], Kind.TIMEOUT, "no solver answered in time (hang: timeout)"),
        (["hang", "hang_too"], Kind.TIMEOUT, "no solver answered in time ("),
        (["gives_up"], Kind.UNKNOWN, "no solver decided (gives_up: unknown)"),
        (["leave", "raises"], Kind.ERROR, "every solver failed ("),
    ],
)
def test_no_answer_is_never_a_pass(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, members: list[str], kind: Kind, reason: str
) -> None:
    for name in members:
        if name == "hang_too":
            monkeypatch.setitem(registry, name, Member("pip", "stub_members:hang"))
        else:
            stub(name)
    v = prove_equal(AMPERE_K8, AMPERE_K8, solvers=members, limits=SHORT)
    assert v.kind is kind
    assert v.reason.startswith(reason)


def test_no_answer_on_the_assumptions_is_none_on_the_question(stub: Stub) -> None:
    v = separate(AMPERE, HOPPER, solvers=[stub("gives_up")], limits=LIMITS, assumptions=FINITE)
    assert v.kind is Kind.UNKNOWN
    assert v.reason == "whether the assumptions can hold: no solver decided (gives_up: unknown)"


# ---------------------------------------------------------------------- records
def test_a_verdict_as_data_holds_the_same_facts() -> None:
    v = separate(AMPERE_K8, HOPPER_K8, limits=LIMITS, assumptions=Assumptions(c=0))
    w, data = assert_separated(v), v.to_json()
    assert v.results is not None
    assert data["verdict"] == "SEPARATED"
    assert data["units"] == [AMPERE_K8, HOPPER_K8]
    assert data["assumptions"] == ["c = 0x0"]
    assert data["limits"] == {"time_s": 300.0, "memory_mb": 8192, "seed": 0}
    assert [int(x["hex"], 16) for x in data["witness"]["a"]] == list(w.a)
    assert [int(x["hex"], 16) for x in data["witness"]["b"]] == list(w.b)
    assert int(data["witness"]["c"]["hex"], 16) == w.c
    assert [int(data["results"][side]["hex"], 16) for side in ("first", "second")] == list(v.results)
    assert {s["name"] for s in data["solvers"]} == {VECTORS_NAME}
    assert data["question_sha256"] == v.question.digest()


def test_a_question_is_the_same_whenever_it_is_built() -> None:
    built = [question(resolve(AMPERE), resolve(HOPPER), Assumptions()).digest() for _ in range(2)]
    assert built[0] == built[1]
    assert built[0] != question(resolve(AMPERE), resolve(HOPPER), Assumptions(c=0)).digest()


def test_progress_is_told() -> None:
    told: list[str] = []
    separate(AMPERE_K8, HOPPER_K8, limits=LIMITS, progress=told.append, assumptions=FINITE)
    assert told == ["trying vectors", "shrinking the witness"]
    told.clear()
    separate(
        AMPERE_K8, HOPPER_K8, solvers=["bitwuzla"], limits=LIMITS, progress=told.append, assumptions=FINITE
    )
    assert told == [
        "are the assumptions satisfiable?",
        "asking the solvers",
        "shrinking the witness",
    ]


@pytest.mark.parametrize("wrong", [5, None, b"ampere"])
def test_what_is_no_unit_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError) as caught:
        separate(wrong, HOPPER)
    assert str(caught.value) == f"expected a unit or its name, but got {wrong!r}"


def test_the_seeded_vectors_agree_where_units_are_equivalent() -> None:
    """What was proved equal is equal on vectors too; what was separated differs on some."""
    a, b, c = batch(resolve(AMPERE), 16, 600, seed=4)
    results = {
        arch: tcformal.unit(f"{arch}/mma.m16n8k16.f32.f16.f16.f32").dot_bits(a, b, c)
        for arch in ("ampere", "ada", "hopper", "blackwell")
    }
    assert np.array_equal(results["ampere"], results["ada"])
    assert np.array_equal(results["hopper"], results["blackwell"])
    assert not np.array_equal(results["ampere"], results["hopper"])
