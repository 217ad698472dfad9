"""Tensors of PyTorch as NumPy arrays and back, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tcformal.simulation.arrays import array_of as array_of
from tcformal.simulation.arrays import dtypes

#: The dtype of PyTorch that holds each format's values; tf32 is float32, as in `tcformal.simulation.arrays`.
TORCH_DTYPES: dict[str, torch.dtype] = {
    "fp64": torch.float64, "fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16,
    "fp16": torch.float16, "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2,
    "e4m3fnuz": torch.float8_e4m3fnuz, "e5m2fnuz": torch.float8_e5m2fnuz,
}  # fmt: skip
#: The format of a dtype's values where nothing says tf32.
_FORMATS = {dtype: name for name, dtype in TORCH_DTYPES.items() if name != "tf32"}
#: Dtypes that NumPy has itself; the others cross as integers of their width.
_OWN = (torch.float16, torch.float32, torch.float64)


def format_of_dtype(dtype: Any) -> str | None:
    """The name of the format that a dtype holds; None for integers and other dtypes."""
    return _FORMATS.get(dtype)


def own_product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """A·B as PyTorch's own matmul gives it on this processor, in the operands' dtype.

    Shapes: a [M, K], b [K, N].
    """
    dtype = next(x for x, name in _FORMATS.items() if dtypes()[name] == a.dtype)
    with torch.no_grad():
        return array_of(torch.matmul(tensor_of(a, dtype), tensor_of(b, dtype)))


def tensor_of(x: NDArray[Any], dtype: Any) -> Any:
    """An array's values as a tensor of `dtype` on the same memory."""
    if dtype in _OWN:
        return torch.from_numpy(x)
    width = 8 * x.dtype.itemsize
    return torch.from_numpy(x.view({8: np.uint8, 16: np.int16}[width])).view(dtype)
