"""Operands as tensors of a GPU, results as raw words, and the kernels that a call launches."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from inputs import UNSIGNED, Words, operand, scales, scan_operand
from torch.profiler import ProfilerActivity, profile

TYPES = {
    "fp64": torch.float64, "fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16,
    "fp16": torch.float16, "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2,
}  # fmt: skip
_SIGNED = {8: torch.uint8, 16: torch.int16, 32: torch.int32, 64: torch.int64}
#: Where the operands are; `cpu` tries the programs out.
DEVICE = os.environ.get("GEMM_DEVICE", "cuda")
_LAUNCHED_BY_OTHERS = ("cuda", "cuLaunch", "Activity")


@functools.lru_cache(maxsize=24)
def tensor(fmt: str, which: str, rows: int, k: int) -> Any:
    """An operand on the GPU."""
    return on_gpu(operand(fmt, which, rows, k), fmt)


def on_gpu(words: Words, fmt: str) -> Any:
    signed = words if words.itemsize == 1 else words.view(f"i{words.itemsize}")
    return torch.from_numpy(signed).to(DEVICE).view(TYPES[fmt])


def given(p: Mapping[str, Any], which: str) -> Any:
    """A [M, K], B [N, K] or C [N, M] of a problem on the GPU, the matrices of a batch one below the other."""
    if "scan" in p:
        return on_gpu(scan_operand(p, which), p[which if which != "c" else "d"])
    if which == "c":
        return tensor(p["d"], "b", p["n"], p["m"])
    return tensor(p[which], which, p["m" if which == "a" else "n"] * p.get("batch", 1), p["k"])


def scale(p: Mapping[str, Any], which: str) -> Any:
    """The scales of A or B as cuBLASLt has them: for 1x128 the rows next to each other, for 128x128 those of
    a row of blocks, filled up to four."""
    kind = p["scaled"]["ab".index(which)]
    rows = p["m" if which == "a" else "n"]
    words = scales(kind, which, rows, p["k"], ones=bool(p.get("ones")))
    if kind == "1x128":
        return on_gpu(np.ascontiguousarray(words.T), "fp32").t()
    if kind == "128x128":
        wide = words.shape[1]
        return on_gpu(np.pad(words, ((0, 0), (0, -wide % 4))), "fp32")[:, :wide]
    return on_gpu(words, "fp32")


def raw(d: Any) -> Words:
    """A result as raw words on the host."""
    width = d.element_size() * 8
    words: Words = d.contiguous().view(_SIGNED[width]).cpu().numpy().view(UNSIGNED[width])
    return words


def kernels_of(call: Callable[[], Any]) -> list[str]:
    """The names of the kernels that a call launches, in their order."""
    if DEVICE == "cpu":
        return []
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        call()
        torch.cuda.synchronize()
    names = [e.name for e in sorted(seen.events(), key=lambda e: e.time_range.start)]
    others = [x for x in names if "Mem" in x or "elementwise" in x or x.startswith(_LAUNCHED_BY_OTHERS)]
    return [x for x in names if x not in others]


def machine() -> dict[str, str]:
    """The GPU, its driver and the release of PyTorch."""
    if DEVICE == "cpu":
        return {"device": "cpu", "torch": torch.__version__}
    asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.split("\n")[0]
    return {"device": torch.cuda.get_device_name(), "driver": driver, "torch": torch.__version__}


def scalar(kind: str, value: float) -> Words:
    """alpha or beta, in the type that the computation has for them."""
    return np.array([value], {"16F": np.float16, "64F": np.float64}.get(kind, np.float32))
