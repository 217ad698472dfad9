"""Calls of a model and its layers with batches of one sample; apart, because it needs PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tcformal.errors import InputError
from tcformal.torch.models import called, recorded, tensor_in
from tcformal.torch.tensors import array_of, format_of_dtype, tensor_of


@dataclass(frozen=True, slots=True, eq=False)
class LinearSum:
    """A linear layer's product as a function of arrays: A [M, K], B [K, N] -> D [M, N].

    `each`: rows of A for each sample.
    """

    product: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
    format: str
    n: int
    k: int
    each: int


@dataclass(frozen=True, slots=True, eq=False)
class BatchedCall:
    """One call of a module: `run(size)` gives the results of so many equal samples, [size, …]."""

    name: str
    run: Callable[[int], NDArray[Any]]
    linear: LinearSum | None = None


def batched_calls(model: Any, sample: Any) -> list[BatchedCall]:
    """A model's call, then each of its modules without children alone, as far as they see the batch.

    Shapes: `sample`: a tensor [1, …], a tuple of arguments or a dictionary of named ones.
    Errors: InputError for what is no module, and for a first axis that is not the batch.
    """
    if not isinstance(model, torch.nn.Module):
        raise InputError(f"expected a torch.nn.Module, but got {type(model).__name__}")
    for x in _leaves(sample):
        if torch.is_tensor(x) and x.shape[:1] != (1,):
            raise InputError(f"expected inputs of one sample, [1, …], but got {list(x.shape)}")
    names = {module: name or type(module).__name__ for name, module in model.named_modules()}
    layers = {module for module in names if not list(module.children())}
    grows = [torch.is_tensor(x) for x in _leaves(sample)]
    calls: list[list[tuple[Any, ...]]] = [[], []]
    results = []
    with torch.no_grad():
        for size, made in zip((1, 2), calls, strict=True):
            with recorded(layers, made):
                results.append(tensor_in(called(model, _repeated(sample, size, grows))))
    if results[1].shape[:1] != (2 * results[0].shape[0],):
        one, two = (list(x.shape) for x in results)
        raise InputError(f"expected results whose first axis grows with the batch, but got {one} and {two}")
    found = [BatchedCall(names[model], partial(_run, partial(called, model), sample, grows))]
    for (module, *given, one), (other, *twice, two) in zip(*calls, strict=True):
        pairs = list(zip(_leaves(given), _leaves(twice), strict=True))
        grows = [torch.is_tensor(x) and x.dim() > 0 and y.shape[0] == 2 * x.shape[0] for x, y in pairs]
        if module is other and any(grows) and two.shape[0] == 2 * one.shape[0]:
            run = partial(_run, partial(_with_arguments, module), given, grows)
            found.append(BatchedCall(names[module], run, _linear(module, given[0])))
    return found


def _leaves(x: Any) -> Any:
    return torch.utils._pytree.tree_leaves(x)


def _repeated(inputs: Any, size: int, grows: Sequence[bool]) -> Any:
    """Inputs with the tensors of a batch so many times, one below the other."""
    flat, spec = torch.utils._pytree.tree_flatten(inputs)
    made = [x.repeat(size, *[1] * (x.dim() - 1)) if y else x for x, y in zip(flat, grows, strict=True)]
    return torch.utils._pytree.tree_unflatten(made, spec)


def _with_arguments(module: Any, given: Any) -> Any:
    return module(*given[0], **given[1])


def _run(call: Callable[[Any], Any], inputs: Any, grows: Sequence[bool], size: int) -> NDArray[Any]:
    with torch.no_grad():
        d = tensor_in(call(_repeated(inputs, size, grows)))
    return array_of(d.contiguous()).reshape(size, -1)


def _linear(module: Any, args: Any) -> LinearSum | None:
    """The product of a linear layer, with a bias of zero where it has one."""
    if type(module) is not torch.nn.Linear or len(args) != 1:
        return None
    (n, k), dtype = module.weight.shape, module.weight.dtype
    name, axes = format_of_dtype(dtype), args[0].shape[1:]
    if name is None or args[0].dtype != dtype:
        return None
    bias = None if module.bias is None else torch.zeros_like(module.bias)

    def product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        weight = tensor_of(np.ascontiguousarray(b.T), dtype)
        x = tensor_of(np.ascontiguousarray(a), dtype).reshape(-1, *axes)
        with torch.no_grad():
            return array_of(torch.nn.functional.linear(x, weight, bias)).reshape(len(a), -1)

    return LinearSum(product, name, n, k, args[0].numel() // k)
