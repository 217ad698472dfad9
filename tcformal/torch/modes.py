"""Where the operators of PyTorch are caught: before a kernel of attention is chosen, and below autograd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves

from tcformal.torch.attention import attention
from tcformal.torch.operators import (
    TensorProduct,
    base_name,
    is_composite,
    named_arguments,
    product_of,
    sums_products,
)

if TYPE_CHECKING:
    from tcformal.torch.context import TorchArithmetic

#: Operators that are a whole attention; the second one has a second result.
_ATTENTION = ("scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu")
_ATTENTION_NAMES = (
    "query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa",
)  # fmt: skip


class Functions(TorchFunctionMode):
    """Attention before PyTorch chooses one of its kernels for it."""

    def __init__(self, owner: TorchArithmetic) -> None:
        super().__init__()
        self._owner = owner

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        if func is not torch.nn.functional.scaled_dot_product_attention:
            return func(*args, **given)
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        given = {**dict(zip(names, args, strict=False)), **given}
        made = _attended(self._owner, "aten::scaled_dot_product_attention", given)
        return func(*args, **(kwargs or {})) if made is None else made[0]


class Operators(TorchDispatchMode):
    """Every operator, after PyTorch has taken its functions apart."""

    def __init__(self, owner: TorchArithmetic) -> None:
        super().__init__()
        self._owner = owner

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        owner = self._owner
        p = product_of(func, args, given)
        if p is not None and p.multiply_adds and owner.takes(p):
            return _put(func, args, given, owner.compute(p))
        space, name = base_name(func)
        if space == "aten" and name in _ATTENTION:
            made = _attended(owner, f"{space}::{name}", named_arguments(func, args, given))
            if made is not None:
                return made if name != _ATTENTION[0] else made[0]
        if is_composite(func):
            with self:
                return func.decompose(*args, **given)
        if p is not None or sums_products(func):
            tensors = [x for x in tree_leaves((args, given)) if torch.is_tensor(x)]
            if p is None or p.multiply_adds:
                owner.refuse(f"{space}::{name}", tensors)
        return func(*args, **given)


def _attended(owner: TorchArithmetic, operator: str, x: dict[str, Any]) -> tuple[Any, Any] | None:
    """Attention on the units, with gradients straight through; None where no unit takes its dtype."""
    query, key, value = (x[name] for name in ("query", "key", "value"))
    example = TensorProduct(operator, query, key, (1,), query.dtype)
    if not owner.takes(example):
        return None
    owner.check_gradients(operator, (query, key, value))

    def multiply(a: Any, b: Any, wide: bool) -> Any:
        shape = (*torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
        return owner.compute(TensorProduct(operator, a, b, shape, a.dtype), wide)

    with torch.no_grad():
        made, sums = attention(multiply, **x)
    if not torch.is_grad_enabled() or not any(t.requires_grad for t in (query, key, value)):
        return made, sums
    with _disable_current_modes():
        given = {name: value for name, value in x.items() if name in _ATTENTION_NAMES}
        reference = torch.nn.functional.scaled_dot_product_attention(**given)
    return _StraightThrough.apply(made, reference), sums


class _StraightThrough(torch.autograd.Function):
    """One value with the gradient of another."""

    @staticmethod
    def forward(ctx: Any, value: Any, reference: Any) -> Any:
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return None, gradients[0]


def _put(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], d: Any) -> Any:
    """The result where the operator puts it: a new tensor, its first operand, or `out`."""
    given = named_arguments(func, args, kwargs)
    if "out" in given:
        return given["out"].resize_(d.shape).copy_(d)
    if func._schema.name.endswith("_"):
        return args[0].copy_(d)
    return d
