"""Sums that are never subnormal: how those are treated shows nowhere, and where it shows is refused."""

from __future__ import annotations

import pytest

from tcformal.design.names import resolve
from tcformal.proofs import known_numbers, step_by_step
from tcformal.proofs.claims.equality import equal_in_sums
from tcformal.proofs.lemmas import LemmaBook
from tcformal.solve.result import Limits

LIMITS = Limits(time_s=10.0, memory_mb=4096, seed=0)
#: Products that are no tiny numbers, and c, whose subnormals are zeros.
FLUSHED = (
    "tree@steps=(0+c),fraction_bits=exact,conversion=RNE-BF16,c_subnormals=signed_zero,"
    "result_subnormals=signed_zero,a_format=e4m3,b_format=e4m3,c_format=bf16,d_format=bf16"
)


def proved(first: str, second: str) -> bool:
    return equal_in_sums(resolve(first), resolve(second), LemmaBook(limits=LIMITS), LIMITS) is not None


@pytest.mark.parametrize("kept", ["result_subnormals=kept", "result_subnormals=tiny_zero"])
def test_a_result_that_is_never_subnormal_needs_no_rule_for_it(
    kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_numbers, "_DEPTHS", (0,))
    assert proved(FLUSHED, FLUSHED.replace("result_subnormals=signed_zero", kept))


@pytest.mark.slow
def test_neither_does_a_sum_that_another_takes_in() -> None:
    """Two products of fp16 one after the other, as x86's vdpphps adds them to c."""
    assert proved("x86/vdpphps", "x86/vdpphps@result_subnormals=kept")


@pytest.mark.parametrize(
    "first",
    [
        FLUSHED.replace("c_subnormals=signed_zero", "c_subnormals=kept"),
        FLUSHED.replace("e4m3", "bf16"),
        FLUSHED.replace("e4m3", "fp16").replace("=bf16", "=fp16").replace("BF16", "FP16"),
    ],
)
def test_a_result_that_may_be_subnormal_is_refused(first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A subnormal c beside zeros; tiny products; products near the least number."""
    monkeypatch.setattr(step_by_step._Proof, "tried", lambda *_: True)
    monkeypatch.setattr(step_by_step._Proof, "seen", lambda _, node: True)
    monkeypatch.setattr(known_numbers, "_DEPTHS", (0,))
    assert not proved(first, first.replace("result_subnormals=signed_zero", "result_subnormals=kept"))
