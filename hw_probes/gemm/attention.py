"""PyTorch's attention: scans of the sum over keys and of that over a head, and results of random numbers."""

from __future__ import annotations

from typing import Any

import torch
from inputs import near
from problems import Problem, attentions
from tensors import DEVICE, TYPES, given, kernels_of, machine, on_gpu, raw
from torch.nn.attention import SDPBackend, sdpa_kernel

_BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION, "math": SDPBackend.MATH,
}  # fmt: skip
#: What logits are multiplied with.
_SCALE = 0.125


def operands(p: Problem) -> list[Any]:
    """Q, K, V [1, heads, places, wide]: random, or of a scan the rows' operand as K or as V.

    In a scan of the sum over keys Q is zero, so that every key has the weight 1; in one of logits there are
    two keys, the first one zero, and the result says whether the second one's logit is 1 or 0.
    """
    fmt, shapes = p["a"], [(p["heads"], x, p["wide"]) for x in (p["m"], p["keys"], p["keys"])]
    if "scan" not in p:
        made = []
        for i, (heads, places, wide) in enumerate(shapes):
            words = near(fmt, heads * places, wide, 31 + i).astype(f"u{TYPES[fmt].itemsize}")
            made.append(on_gpu(words, fmt).view(1, heads, places, wide))
        return made
    q, k, v = (torch.zeros(1, *x, dtype=TYPES[fmt], device=DEVICE) for x in shapes)
    rows = given(p, "b")
    if p["scan"] == "rows":
        v.copy_(rows.view(1, p["heads"], p["wide"], p["keys"]).mT)
    else:
        q.fill_(1)
        k[0, :, 1] = rows
        v[0, :, 1] = 1
    return [q, k, v]


def attention(out: Any) -> None:
    """Every attention by every kernel; `out`: a `Scans` of orders.py."""
    out.write(kind="torch", **machine())

    def asked(p: Problem) -> None:
        q, k, v = operands(p)
        results: dict[str, list[Any]] = {}
        kernels: dict[str, list[str]] = {}
        for name, backend in _BACKENDS.items():

            def call(backend: Any = backend) -> Any:
                with sdpa_kernel(backend):
                    return torch.nn.functional.scaled_dot_product_attention(
                        q, k, v, is_causal=bool(p["causal"]), scale=_SCALE
                    )

            try:
                d = call()[0]
                # Of a scan the last query's row, which sees every key; beside it whether all are alike.
                words = d[:, -1] if "scan" in p else d.reshape(-1, p["wide"])
                results[name] = [out.keep(raw(words)), bool((d == d[:, -1:]).all())]
                kernels[name] = kernels_of(call)
            except RuntimeError as error:
                results[name] = [f"{type(error).__name__}: {error}"[:200], False]
        out.write(kind="attention", **p, results=results, kernels=kernels)

    for p in attentions():
        if out.late():
            return
        out.tried(p, lambda p=p: asked(p))
