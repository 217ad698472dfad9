"""What is attained and what is proved: inputs that lose more than a bound stop the run."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tcformal.analysis.bounds.error_propagation import StepErrors
from tcformal.analysis.bounds.program_accuracy import Near, ProgramAccuracy, excess, program_accuracy
from tcformal.analysis.bounds.proved import theorem_constant
from tcformal.analysis.bounds.slices import exact_slices
from tcformal.design.names import resolve
from tcformal.encodings.catalog import format_named
from tcformal.errors import InvariantError
from tcformal.oracle.values import encode_exact
from tcformal.programs.program import Program, program

CDNA2 = "cdna2/v_mfma_f32_32x32x8f16"


def written(body: str, **inputs: str) -> Program:
    formats = {"a": "fp32", "b": "fp32", "c": "fp32"} | inputs
    return Program(name="mine", title="", source="a test", inputs=formats, body=body)


def test_inputs_of_a_program_that_exceed_its_bound_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StepErrors, "constant", lambda self: Fraction(1, 1 << 26))
    with pytest.raises(
        InvariantError, match=r"that lose at most 1.49\d*e-08 of .*, but replayed ones lose .*: a = 0x"
    ):
        program_accuracy("fma-chain", length=2, exponents=(-4, 4))


def test_subnormal_words_are_outside_of_bounds_for_scales_from_data() -> None:
    """Nothing is subnormal is a condition: inputs that are not such contradict nothing."""
    half, p = format_named("fp16"), written("d = mul(a[0], b[0], fp16)", a="fp16", b="fp16", c="fp16")
    near = Near((0x3C00,), (0x0001,), 0x0001, Fraction(1), Fraction(1))
    known = {"program": p, "length": 1, "bound": Fraction(0), "steps": ()}
    made = ProgramAccuracy(exponents=None, near=near, **known)  # type: ignore[arg-type]
    assert made.exceeded
    assert not made.inside
    one = encode_exact(half, Fraction(1))
    for inside in ({"near": replace(near, b=(one,))}, {"near": near, "exponents": (-4, 4)}):
        with pytest.raises(InvariantError):
            ProgramAccuracy(**({"exponents": None} | known | inside))  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_excess_over_another_program_is_exact() -> None:
    p, other = program(f"markidis@unit={CDNA2}"), program("fma-chain")
    x = program_accuracy(p, length=1, exponents=(-6, 14), prove=False)
    more = excess(x, other)
    assert more is not None
    assert x.near.ratio - Fraction(1, 1 << 24) <= more <= x.near.ratio
    assert excess(x, p) == 0
    assert excess(x, program("chained")) is None


@pytest.mark.parametrize(("kappa", "most"), [(Fraction(1, 8), 7), (Fraction(2, 17), 8), (Fraction(1, 9), 8)])
def test_integers_are_exact_below_the_first_error_of_one(
    monkeypatch: pytest.MonkeyPatch, kappa: Fraction, most: int
) -> None:
    """Where κ·most is 1, a sum may be wrong by 1."""
    found = theorem_constant(resolve("cdna1/v_mfma_f32_32x32x8f16"))
    assert found is not None
    less = replace(found, beside=kappa, constants=replace(found.constants, first=kappa, other=kappa))
    monkeypatch.setattr("tcformal.analysis.bounds.slices.integer_sums", lambda _: None)
    monkeypatch.setattr("tcformal.analysis.bounds.slices.theorem_constant", lambda _: less)
    assert exact_slices("cdna1/v_mfma_f32_32x32x8f16").most == most
