"""Properties of one unit: what holds is proved, what does not is shown with inputs that replay."""

from __future__ import annotations

from typing import Any

import pytest

from sampled import one_in
from tcformal.design.names import resolve
from tcformal.errors import InputError, UnknownNameError
from tcformal.query.assume import assumptions
from tcformal.query.engine import answer
from tcformal.query.options import SolveOptions
from tcformal.query.properties import (
    PROPERTIES,
    PropertyQuestion,
    property_question,
)
from tcformal.query.question import Kind
from tcformal.query.verdict import Verdict
from tcformal.solve.result import Limits

LIMITS = Limits(200.0, 8192, 0)
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
CDNA3 = "cdna3/v_mfma_f32_32x32x8_f16"


def asked(name: str, unit: str, **given: Any) -> Verdict[PropertyQuestion]:
    spec = resolve(unit)
    return answer(
        property_question(name, spec, assumptions(spec.operands.c, given)), SolveOptions(limits=LIMITS)
    )


def assert_violated(v: Verdict[PropertyQuestion]) -> None:
    assert v.kind is Kind.VIOLATED, v.reason
    assert v.inputs is not None
    again = v.question.replay(v.inputs)
    assert again.confirms
    assert again.integers == again.oracle


@pytest.mark.parametrize(
    ("name", "unit"),
    one_in(
        2,
        [
            ("nan-word", VOLTA),
            ("no-negative-zero", VOLTA),
            ("no-nan-from-numbers", VOLTA),
            ("factors-commute", VOLTA),
            (
                "no-subnormal-result",
                "valpey@terms=2,c_subnormals=positive_zero,result_subnormals=signed_zero",
            ),
        ],
    ),
)
def test_what_holds_is_proved(name: str, unit: str) -> None:
    v = asked(name, unit)
    assert v.kind is Kind.HOLDS, v.reason
    assert v.certificate is not None or v.confirmed_by
    assert v.inputs is None


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("nan-word", "x86/vdpbf16ps"),
        ("no-negative-zero", "valpey@terms=2,zero_sign=ieee"),
        ("no-subnormal-result", VOLTA),
        ("monotonic-in-c", VOLTA),
        ("negation-symmetry", CDNA3),
        ("negation-symmetry", "valpey@terms=3,alignment_rounding=RD"),
    ],
)
def test_what_does_not_hold_is_shown(name: str, unit: str) -> None:
    assert_violated(asked(name, unit))


def test_a_solver_finds_it_without_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PropertyQuestion, "search", lambda *_: None)
    assert_violated(asked("no-negative-zero", "valpey@terms=2,zero_sign=ieee"))


def test_inputs_that_shrinking_spoils_are_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PropertyQuestion, "shrink", lambda self, found, _: dict.fromkeys(found, 0))
    v = asked("no-negative-zero", "valpey@terms=2,zero_sign=ieee")
    assert v.kind is Kind.ERROR
    assert "does not replay" in v.reason


def test_assumptions_that_nothing_satisfies_are_vacuous() -> None:
    assert asked("nan-word", VOLTA, finite=True, c="nan").kind is Kind.VACUOUS


def test_a_wrong_word_in_the_design_is_noticed() -> None:
    """The check compares with the design's own word: results with another one violate it."""
    q = property_question("no-negative-zero", resolve(VOLTA), assumptions(resolve(VOLTA).operands.c, {}))
    nothing = q.replay(dict.fromkeys(q.graph.inputs, 0))
    assert nothing.assumed
    assert not nothing.confirms
    assert nothing.violated == (False, False)


def test_unknown_properties_and_unfit_units_are_refused() -> None:
    spec = resolve(VOLTA)
    none = assumptions(spec.operands.c, {})
    with pytest.raises(UnknownNameError, match="nan-word"):
        property_question("nan-words", spec, none)
    mixed = resolve("ada/mma.m16n8k32.f32.e4m3.e5m2.f32")
    with pytest.raises(InputError, match="expected A and B of one format"):
        property_question("factors-commute", mixed, none)
    assert all(p.text and p.build.__doc__ for p in PROPERTIES.values())
