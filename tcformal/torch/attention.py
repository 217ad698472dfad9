"""Scaled dot-product attention as two matrix products and a softmax in fp32 between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

#: A product of stacks of matrices; true for a result in the accumulator's format.
Multiply = Callable[[Any, Any, bool], Any]


def attention(
    multiply: Multiply,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    **_: Any,
) -> tuple[Any, Any]:
    """softmax(scale·Q·Kᵀ + mask)·V, and the logarithms of the sums of exponentials.

    Shapes: query [..., H, L, E], key [..., G, S, E], value [..., G, S, V] with G a divisor of H; the mask
    broadcasts to [..., H, L, S]; results [..., H, L, V] and [..., H, L].
    Ranges and units: Q·Kᵀ stays in the accumulator's format, and what follows is PyTorch's in fp32; the
    weights are rounded to the dtype of V before the second product, as fused kernels do; no kernel's own
    order of blocks of S is followed.
    Zero, NaN, Inf: a row of which every place is masked gives zeros.
    """
    if query.dim() > 2 and key.shape[-3] != query.shape[-3]:
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    scores = multiply(query, key.transpose(-2, -1), True).float()
    scores = scores * (query.shape[-1] ** -0.5 if scale is None else scale)
    places = scores.shape[-2:]
    if is_causal:
        later = torch.ones(places, dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(later, float("-inf"))
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, float("-inf"))
    elif attn_mask is not None:
        scores = scores + attn_mask.float()
    sums = torch.logsumexp(scores, -1)
    weights = torch.softmax(scores, -1).masked_fill((sums == float("-inf"))[..., None], 0.0)
    if dropout_p:
        weights = torch.dropout(weights, dropout_p, True)
    return multiply(weights.to(value.dtype), value, False), sums
