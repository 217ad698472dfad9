"""Real units in the place of MARY's model, and the sum of their products of words."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tcformal.programs.program import Program
from tcformal.simulation.runnable import RunnableProgram

#: Real units with fp32 results by input format: Hopper, Ada, Blackwell and CDNA3.
REAL = (
    "hopper/wgmma.m64n8k32.f32.e4m3.e4m3", "hopper/wgmma.m64n8k32.f32.e5m2.e5m2",
    "hopper/mma.m16n8k16.f32.f16.f16.f32", "ada/mma.m16n8k32.f32.e4m3.e4m3.f32",
    "ada/mma.m16n8k32.f32.e5m2.e5m2.f32", "ada/mma.m16n8k16.f32.f16.f16.f32",
    "blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e4m3",
    "blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e5m2.e5m2", "cdna3/v_mfma_f32_16x16x32_fp8_fp8",
    "cdna3/v_mfma_f32_16x16x32_bf8_bf8", "cdna3/v_mfma_f32_32x32x8_f16",
)  # fmt: skip


@lru_cache(maxsize=64)
def _addition(shift: int) -> RunnableProgram:
    """The step of program `mary` that adds the product of two words to the sum."""
    body = "d = add(scale(a[0] * b[0], -shift), c, fp32)"
    single = {"a": "fp32", "b": "fp32", "c": "fp32"}
    made = Program(
        name="mary-sum", title="The product of two words, scaled and added", source="MARY Algorithm 4.1",
        inputs=single, parameters={"shift": shift}, body=body,
    )  # fmt: skip
    return RunnableProgram(made)


def added(total: NDArray[np.float32], d: NDArray[np.float32], shift: int) -> NDArray[np.float32]:
    """total + 2^-shift · d, rounded to binary32."""
    one = np.ones((d.size, 1), np.float32).view(np.uint32)
    words = [np.ascontiguousarray(x).view(np.uint32) for x in (d.reshape(-1, 1), total.reshape(-1))]
    made = np.asarray(_addition(shift).evaluate(words[0], one, words[1]), np.uint32)
    return made.view(np.float32).reshape(total.shape)
