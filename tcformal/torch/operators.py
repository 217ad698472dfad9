"""Which operators of PyTorch are matrix products, and of what."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch

#: Operators that are one product, and the names of their factors.
_FACTORS = {
    "mm": ("self", "mat2"), "bmm": ("self", "mat2"), "addmm": ("mat1", "mat2"),
    "baddbmm": ("batch1", "batch2"), "mv": ("self", "vec"), "addmv": ("mat", "vec"),
    "dot": ("self", "tensor"), "vdot": ("self", "other"), "_scaled_mm": ("self", "mat2"),
    "_scaled_mm_v2": ("self", "mat2"),
}  # fmt: skip
#: Kinds of scales of `_scaled_mm_v2` (torch.nn.functional.ScalingType): of a tensor, of its rows.
_PLAIN_SCALES = ([0], [1])
#: Of those, the ones that add `self`.
_ADDING = ("addmm", "baddbmm", "addmv")
#: Parts of an operator's name that say it sums products, of factors or in a factorisation.
_SUMS = re.compile(
    r"(^|_)(\w*mm\d*|mv|addmv|v?dot|vecdot|matmul\w*|linear|bilinear|trilinear|conv\d*d?|conv_\w*"
    r"|\w*convolution|\w*attention|lstm|gru|rnn|multihead|transformer|cdist\w*|euclidean"
    r"|cholesky|lu|ldl|qr|svd\w*|eig\w*|inv|inverse|det|slogdet|lstsq|solve|(sp|tensor)solve|orgqr|ormqr|geqrf"
    r"|householder|matrix_exp)(_|\d|$)"
)
#: Operators whose names have such a part and that sum no products.
_NO_SUMS = re.compile(r"^_?(upsample|adaptive|slice)|^fbgemm_pack|^to_|_unpack$|_(pack|prepack)(_|$)")
#: Namespaces of PyTorch's own operators, whose names tell.
_KNOWN = ("aten", "prim", "prims", "profiler", "debugprims", "rngprims")


@dataclass(frozen=True, slots=True, eq=False)
class TensorProduct:
    """alpha·A·B + beta·C + bias as one operator of PyTorch asks for it.

    Shapes: a [..., M, K], b [..., K, N]; c broadcasts to [..., M, N], bias [N]; `shape` is the result's.
    Ranges and units: alpha and beta are None where they are 1; `scales`: those of A and B, in fp32: one each,
    or [M, 1] and [1, N]; `scale_result`: one of the result.
    """

    operator: str
    a: Any
    b: Any
    shape: tuple[int, ...]
    dtype: Any
    c: Any = None
    bias: Any = None
    alpha: float | None = None
    beta: float | None = None
    scales: tuple[Any, ...] = ()
    scale_result: Any = None

    @property
    def multiply_adds(self) -> int:
        """How many products are summed in all."""
        return int(torch.Size(self.shape).numel()) * int(self.a.shape[-1])


def named_arguments(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call of an operator by name."""
    return {**dict(zip((x.name for x in func._schema.arguments), args, strict=False)), **kwargs}


def base_name(func: Any) -> tuple[str, str]:
    """An operator's namespace, and its name without the mark of one that works in place."""
    space, _, name = func._schema.name.partition("::")
    inplace = name.endswith("_") and not name.endswith("__")
    return space, name.removesuffix("_") if inplace else name


def product_of(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TensorProduct | None:
    """The product that a call of an operator is; None where it is none."""
    space, name = base_name(func)
    if space != "aten" or name not in _FACTORS:
        return None
    x = named_arguments(func, args, kwargs)
    a, b = (x[key] for key in _FACTORS[name])
    dtype = x.get("out_dtype") or a.dtype
    if name.endswith("dot"):
        shape: tuple[int, ...] = ()
        a, b = a[None, :], b[:, None]
    elif name.endswith("mv"):
        shape = (a.shape[0],)
        b = b[:, None]
    else:
        shape = (*a.shape[:-1], b.shape[-1])
    made = TensorProduct(f"{space}::{name}", a, b, shape, dtype)
    if name.startswith("_scaled_mm"):
        scales = [x["scale_a"], x["scale_b"]]
        if name == "_scaled_mm_v2":
            if not _plainly_scaled(x):
                return None
            scales = [s for (s,) in scales]
        return replace(made, bias=x.get("bias"), scales=tuple(scales), scale_result=x.get("scale_result"))
    alpha, beta = (None if x.get(key, 1) == 1 else float(x[key]) for key in ("alpha", "beta"))
    made = replace(made, alpha=alpha, beta=beta)
    if name not in _ADDING or beta == 0:
        return replace(made, beta=None)
    c = x["self"]
    if name == "addmm" and c.dim() == 1 and beta is None and c.shape[0] == b.shape[-1]:
        return replace(made, bias=c)
    return replace(made, c=c[:, None] if name == "addmv" and c.dim() == 1 else c)


def _plainly_scaled(x: Mapping[str, Any]) -> bool:
    """Whether the scales of a call of `_scaled_mm_v2` are of whole factors, or of rows and columns."""
    for side in "ab":
        known = list(x[f"recipe_{side}"]) in _PLAIN_SCALES and len(x[f"scale_{side}"]) == 1
        if not known or any(x.get(f"swizzle_{side}") or ()):
            return False
    return not x.get("contraction_dim")


@cache
def is_composite(func: Any) -> bool:
    """Whether PyTorch takes an operator apart into others, which it leaves to a mode in inference."""
    key = torch._C.DispatchKey.CompositeImplicitAutograd
    there = key in func.py_kernels or torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), key)
    return bool(there)


@cache
def sums_products(func: Any) -> bool:
    """Whether an operator sums products, by its name; one that is not PyTorch's own is taken to."""
    space, name = base_name(func)
    if space not in _KNOWN:
        return True
    return bool(_SUMS.search(name)) and not _NO_SUMS.search(name)
