"""What a question asks: that results differ in any bit at all, and of which operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tcformal.backends.concrete import Concrete
from tcformal.design.names import resolve
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Sign
from tcformal.ir.build import Graph
from tcformal.oracle.values import ExactValue, NumberClass, decode
from tcformal.query import pair as spec
from tcformal.query.assume import Assumptions, assume, assumptions
from tcformal.query.pair import question
from tcformal.query.question import Kind
from tcformal.query.separate import separate
from tcformal.semantics.chain import OperandNodes, common_k
from tcformal.semantics.stages import Dot
from tcformal.simulation.operands.batch import edge_encodings, witness_at
from tcformal.simulation.operands.inputs import inputs_to_try
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result
from tcformal.solve.result import Limits

LIMITS = Limits(time_s=60.0, memory_mb=4096, seed=0)
BASE = "tfdpa@products=2,k=2"
NOTHING = Assumptions()


# ---------------------------------------------------------------------- what differing means
def apart_by(monkeypatch: pytest.MonkeyPatch, mask: int) -> Concrete:
    """The question of two units of which one gives c and the other c with the bits of `mask` turned."""

    def result(g: Graph, unit: Any, x: OperandNodes) -> Dot:
        turned = mask if unit is second else 0
        return Dot(g.xor(x.c, g.const(turned, x.c.width)), ())

    first, second = resolve(BASE), resolve(f"{BASE},zero_sign=ieee")
    monkeypatch.setattr(spec, "chained_dot", result)
    return question(first, second, NOTHING).evaluator()


#: Both zeros, ones, infinities, NaNs, subnormals, and any.
WORDS = (
    0,
    1 << 31,
    0x3F800000,
    0xBF800000,
    0x7F800000,
    0xFF800000,
    0x7FC00000,
    0xFFFFFFFF,
    1,
    0x80000001,
    0x12345678,
)


@pytest.mark.parametrize("bit", range(32))
def test_results_that_differ_in_one_bit_differ(bit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sign bit, each bit of the exponent and of the fraction: encodings are compared, not values."""
    run = apart_by(monkeypatch, 1 << bit)
    for c in WORDS:
        assumed, differ, first, second = run({"c": c})
        assert (assumed, differ, first ^ second) == (1, 1, 1 << bit), hex(c)


def test_equal_results_do_not_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    run = apart_by(monkeypatch, 0)
    assert [run({"c": c})[1] for c in WORDS] == [0] * len(WORDS)


@pytest.mark.parametrize(
    ("other", "results"),
    [
        ("zero_sign=ieee", (0x00000000, 0x80000000)),
        ("nan_word=0xffffffff", (0x7FFFFFFF, 0xFFFFFFFF)),
        ("nan_word=0x7ffffffe", (0x7FFFFFFF, 0x7FFFFFFE)),
    ],
)
def test_a_sign_or_a_nan_word_alone_separates(other: str, results: tuple[int, int]) -> None:
    """Units that give equal numbers everywhere: the sign of zero, and the words of NaN, tell them apart."""
    v = separate(BASE, f"{BASE},{other}", limits=LIMITS)
    assert v.kind is Kind.SEPARATED, v.reason
    assert v.results == results


#: Pairs that differ in a sign, a word, a rounding, an exponent, a flushed operand, and not at all.
PAIRS = (
    (BASE, f"{BASE},zero_sign=ieee"),
    (BASE, f"{BASE},nan_word=0x7fc00000"),
    (BASE, f"{BASE},rounding=RNE"),
    (BASE, f"{BASE},zero_exponent=own"),
    (BASE, f"{BASE},overflow=ieee"),
    (BASE, f"{BASE},operand_subnormals=signed_zero"),
    (BASE, f"{BASE},carry_bits=40"),
)
#: What is assumed in turn.
GIVEN: tuple[dict[str, Any], ...] = ({}, {"finite": True}, {"positive": True, "exponents": (-8, 9)})


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_question_asks_where_the_oracles_results_differ(first: str, second: str) -> None:
    """On seeded vectors: assumed and differing exactly where the operands and the oracle say so."""
    one, other = resolve(first), resolve(second)
    tried = inputs_to_try(one, one.k, 150, 7)
    witnesses = [witness_at(tried, row) for row in range(len(tried.c))]
    results = [(oracle_result(one, w), oracle_result(other, w)) for w in witnesses]
    for given in GIVEN:
        q = question(one, other, assumptions(one.operands.c, given))
        run, replayed = q.evaluator(), 0
        for w, expected in zip(witnesses, results, strict=True):
            allowed = all(HOLDS[name](value, how) for value in values(one, w) for name, how in given.items())
            apart = allowed and expected[0] != expected[1]
            assert run(w.inputs()) == [allowed, apart, *expected], w
            if replayed < (5 if apart else 2):
                again = q.replay(w.inputs())
                assert (again.oracle, again.agrees, again.confirms) == (expected, True, apart)
                replayed += 1


def values(unit: Any, w: Witness) -> list[ExactValue]:
    """Every operand, decoded."""
    o = unit.operands
    return [*(decode(o.a, x) for x in w.a), *(decode(o.b, x) for x in w.b), decode(o.c, w.c)]


def test_calls_of_unlike_length_meet_at_their_common_multiple() -> None:
    """Calls of 2 and of 3 products meet after 6; what has been done in between is each unit's own."""
    two, three = resolve(BASE), resolve("tfdpa@products=3,k=3")
    assert common_k(two, three) == question(two, three, NOTHING).k == 6


# ---------------------------------------------------------------------- replay
def test_a_result_that_one_side_computes_otherwise_is_no_agreement(monkeypatch: pytest.MonkeyPatch) -> None:
    """Integers and oracle have to agree on both units: on either of them alone is not enough."""
    q = question(resolve(BASE), resolve(f"{BASE},rounding=RNE"), NOTHING)
    w = Witness((0x3C00, 0x0001), (0x3C00, 0x0001), 0x3F800001)
    right = q.replay(w.inputs())
    assert right.agrees
    module = "tcformal.query.pair.oracle_result"
    for wrong in (q.first, q.second):
        monkeypatch.setattr(module, lambda u, x, wrong=wrong: oracle_result(u, x) ^ (u is wrong))
        again = q.replay(w.inputs())
        assert not again.agrees
        assert not again.confirms


# ---------------------------------------------------------------------- what is assumed
def normal(x: ExactValue) -> bool:
    return x.kind is NumberClass.FINITE and not x.is_zero and not x.is_subnormal


#: Each assumption by the meaning of its words, on decoded values.
HOLDS: dict[str, Callable[[ExactValue, Any], bool]] = {
    "finite": lambda x, _: x.kind is NumberClass.FINITE,
    "normal": lambda x, _: normal(x),
    "positive": lambda x, _: x.sign == 0,
    "nonzero": lambda x, _: not x.is_zero,
    # Infinities and NaNs count as above every exponent of their format.
    "exponents": lambda x, span: (
        x.is_zero or (x.kind is NumberClass.FINITE and span[0] <= x.exponent <= span[1])
    ),
}

#: Formats of every kind of specials and signs.
TRIED = ("fp16", "fp32", "tf32", "e4m3", "e5m2fnuz", "e2m1", "ue4m3", "e8m0")
SPANS = ((-4, 4), (0, 0), (-1000, 1000), (1, 3), (-150, -3), (2, 400), (300, 400))


@pytest.mark.parametrize("name", TRIED)
def test_assumptions_mean_what_their_words_say(name: str) -> None:
    """Every flag and range of exponents on edge encodings of a format, judged by decoded values."""
    fmt = FORMATS[name]
    words = edge_encodings(fmt) if fmt.width > 8 else range(1 << fmt.width)
    flags: list[dict[str, Any]] = [{flag: True} for flag in ("finite", "normal", "positive", "nonzero")]
    for given in (*flags, *({"exponents": span} for span in SPANS), {"finite": True, "nonzero": True}):
        g = Graph()
        word = g.input("x", fmt.width)
        what = assumptions(FORMATS["fp32"], given)
        run = Concrete(g, [assume(g, what, [(word, fmt)], g.const(0, 32))])
        for raw in words:
            value = decode(fmt, raw)
            if value.kind is NumberClass.NAN and "positive" in given:
                value = ExactValue(NumberClass.NAN, raw >> (fmt.width - 1) if fmt.sign is Sign.PRESENT else 0)
            expected = all(HOLDS[key](value, setting) for key, setting in given.items())
            if value.kind is not NumberClass.FINITE and "exponents" in given:
                continue
            assert run({"x": int(raw)}) == [expected], (given, hex(raw))


def test_a_fixed_c_is_that_encoding_alone() -> None:
    g = Graph()
    c = g.input("c", 32)
    run = Concrete(g, [assume(g, assumptions(FORMATS["fp32"], {"c": "-0"}), [], c)])
    assert [run({"c": word})[0] for word in (1 << 31, 0, 1 << 30, 0x80000001)] == [1, 0, 0, 0]


def test_scales_are_bounded_by_their_own_range() -> None:
    """`scale_exponents` speaks of scales alone, `exponents` of all other operands alone; flags of both."""
    fmt, scale = FORMATS["fp16"], FORMATS["ue4m3"]
    g = Graph()
    x, s = g.input("x", 16), g.input("s", 8)
    given: dict[str, dict[str, Any]] = {
        "own": {"scale_exponents": (0, 0)}, "other": {"exponents": (0, 0)}, "flag": {"nonzero": True},
    }  # fmt: skip
    nodes = [
        assume(g, assumptions(FORMATS["fp32"], row), [(x, fmt)], g.const(0, 32), [(s, scale)])
        for row in given.values()
    ]
    run = Concrete(g, nodes)
    one, two = 0x3C00, 0x4000
    assert run({"x": two, "s": scale.one}) == [1, 0, 1]
    assert run({"x": one, "s": scale.one + 8}) == [0, 1, 1]
    assert run({"x": one, "s": 0}) == [1, 1, 0]
    assert run({"x": 0, "s": scale.one}) == [1, 1, 0]
