"""Instructions of loops in assembly, and the rate at which this processor issues them."""

from __future__ import annotations

import pytest

from tcformal.backends import machine
from tcformal.simulation.compiled import gemm
from tcformal.simulation.kernels import roofline
from tcformal.simulation.kernels.roofline import instructions_per_multiply_add
from tcformal.simulation.unit import unit


@pytest.mark.usefixtures("no_kernels")
@pytest.mark.skipif(not machine.available(), reason="llvmlite is not installed")
def test_instructions_are_those_of_all_rows_and_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor's own fused multiply–add needs few of them; a sum that is aligned needs more."""
    monkeypatch.setattr(roofline, "_ROUNDS", 1 << 12)
    plain, aligned = (
        instructions_per_multiply_add(gemm(unit(name).spec, "a"))
        for name in ("cdna1/v_mfma_f32_32x32x2f32", "volta/mma.m8n8k4.f32.f16.f16.f32")
    )
    assert 0 < plain < aligned < 32
    roofline.issue_rate.cache_clear()
    assert roofline.issue_rate() > 1e7
    roofline.issue_rate.cache_clear()
