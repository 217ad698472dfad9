"""A plain product in Triton: one accumulator per tile, K in steps of the block."""

from typing import Any

import torch
import triton
import triton.language as tl


# Triton compiles the annotations too: `constexpr` is a parameter that is compiled in.
@triton.jit
def _kernel(
    a, b, d, k_all, n: tl.constexpr, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr,
    precision: tl.constexpr, imprecise: tl.constexpr,
):  # fmt: skip
    rm = tl.program_id(0) * bm + tl.arange(0, bm)
    rn = tl.program_id(1) * bn + tl.arange(0, bn)
    rk = tl.arange(0, bk)
    acc = tl.zeros((bm, bn), dtype=tl.float32)
    for k in range(0, k_all, bk):
        x = tl.load(a + rm[:, None] * k_all + (k + rk)[None, :])
        y = tl.load(b + rn[None, :] * k_all + (k + rk)[:, None])
        if imprecise >= 0:
            acc = tl.dot(x, y, acc, max_num_imprecise_acc=imprecise)
        else:
            acc = tl.dot(x, y, acc, input_precision=precision)
    tl.store(d + rm[:, None] * n + rn[None, :], acc)


def product(
    a: Any, b: Any, block: tuple[int, int, int], precision: str, imprecise: int | None, warps: int
) -> tuple[Any, str]:
    """A·Bᵀ in fp32, and the PTX of its kernel."""
    m, n, k = a.shape[0], b.shape[0], a.shape[1]
    d = torch.empty((m, n), dtype=torch.float32, device="cuda")
    most = -1 if imprecise is None else imprecise
    grid = (m // block[0], n // block[1])
    made = _kernel[grid](a, b, d, k, n, *block, precision, most, num_warps=warps)
    torch.cuda.synchronize()
    return d, made.asm["ptx"]
