"""Instructions of loops in assembly, and the rate at which this processor issues them."""

from __future__ import annotations

import pytest

from benchmarks import roofline
from benchmarks.roofline import innermost, instructions_per_multiply_add
from tcformal.backends import machine
from tcformal.errors import InputError
from tcformal.simulation.compiled import gemm
from tcformal.simulation.matrix_unit import unit

TEXT = """
other:
.LBB0_1:
\tnop
\tjmp\t.LBB0_1
.Lfunc_end0:
multiply:
\tpushq\t%rbp
.LBB1_1:                # the outer loop
\tmovq\t%rax, %rbx
\t.p2align\t4
.LBB1_2:
\tvpaddd\t%zmm0, %zmm1, %zmm2  # a comment
\tdecq\t%rcx
\tjne\t.LBB1_2
.LBB1_3:
\tvpaddd\t%zmm0, %zmm1, %zmm2
\tvpaddd\t%zmm0, %zmm1, %zmm2
\tdecq\t%rcx
\tjne\t.LBB1_3
\tdecq\t%rdx
\tjne\t.LBB1_1
\tretq
.Lfunc_end1:
"""


def test_the_longest_loop_without_another_is_counted() -> None:
    assert len(innermost(TEXT, "multiply")) == 4
    assert innermost(TEXT, "other") == ["nop", "jmp .LBB0_1"]
    with pytest.raises(InputError, match="expected the function divide"):
        innermost(TEXT, "divide")
    with pytest.raises(InputError, match="expected a loop in the function f"):
        innermost("f:\n\tretq\n", "f")


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
