"""Tensors of PyTorch as NumPy arrays and back, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tcformal.errors import InputError
from tcformal.simulation.arrays import dtypes, unpacked

#: The dtype of PyTorch that holds each format's values; tf32 is float32, as in `tcformal.simulation.arrays`.
TORCH_DTYPES: dict[str, torch.dtype] = {
    "fp64": torch.float64, "fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16,
    "fp16": torch.float16, "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2,
    "e4m3fnuz": torch.float8_e4m3fnuz, "e5m2fnuz": torch.float8_e5m2fnuz,
}  # fmt: skip
#: The format of a dtype's values where nothing says tf32.
_FORMATS = {dtype: name for name, dtype in TORCH_DTYPES.items() if name != "tf32"}
#: Dtypes whose values are read besides: scales of blocks, and pairs of e2m1, where this PyTorch has them.
_SCALES, _PAIRS = (getattr(torch, name, None) for name in ("float8_e8m0fnu", "float4_e2m1fn_x2"))
#: Dtypes that NumPy has itself; the others cross as integers of their width.
_OWN = (torch.float16, torch.float32, torch.float64)
_INTEGERS = {8: torch.uint8, 16: torch.int16}


def format_of_dtype(dtype: Any) -> str | None:
    """The name of the format that a dtype holds; None for integers and other dtypes."""
    return _FORMATS.get(dtype)


def array_of(x: Any) -> NDArray[Any]:
    """A tensor's values as an array on the same memory.

    Shapes: any; the strides are the tensor's.  Pairs of e2m1 are unpacked along the axis whose elements are
    neighbours, the low half first: twice as many elements, in memory of their own.
    Ranges and units: bf16, fp8, e8m0 and e2m1 as the dtypes of ml_dtypes.
    Errors: InputError for a tensor that is not on the CPU, not dense, or of another dtype.
    """
    read = {_SCALES: "e8m0", _PAIRS: "e2m1"}
    name = format_of_dtype(x.dtype) or read.get(x.dtype)
    if name is None or x.device.type != "cpu" or x.layout != torch.strided:
        raise InputError(
            f"expected a dense tensor of floats on the CPU, but got {x.dtype} ({x.layout}) on {x.device}"
        )
    plain = x.detach().resolve_conj().resolve_neg()
    if x.dtype in _OWN:
        return np.asarray(plain.numpy())
    words = plain.view(_INTEGERS[8 * x.element_size()]).numpy()
    if x.dtype == _PAIRS:
        words = unpacked(words, next((i for i in reversed(range(x.ndim)) if x.stride(i) == 1), -1))
    return np.asarray(words.view(dtypes()[name]))


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
