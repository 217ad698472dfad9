"""Whole models on a unit's arithmetic, converted and compared; apart from the context of single products."""

from __future__ import annotations

import copy
import fnmatch
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from tcformal.checks import check_int
from tcformal.errors import InputError
from tcformal.torch.context import TorchArithmetic


class _Within:
    """A module's forward inside of an arithmetic."""

    def __init__(self, forward: Callable[..., Any], arithmetic: TorchArithmetic) -> None:
        self.forward, self.arithmetic = forward, arithmetic

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self.arithmetic:
            return self.forward(*args, **kwargs)


def converted(model: Any, arithmetic: TorchArithmetic, modules: str | Sequence[str], inplace: bool) -> Any:
    """The model with an arithmetic around the forward of some modules; see `tcformal.torch.convert`."""
    if not isinstance(model, torch.nn.Module):
        raise InputError(f"expected a torch.nn.Module, but got {type(model).__name__}")
    made = model if inplace else copy.deepcopy(model)
    patterns = [modules] if isinstance(modules, str) else list(modules)
    found: dict[str, torch.nn.Module] = {}
    for pattern in patterns:
        matched = {name: x for name, x in made.named_modules() if fnmatch.fnmatchcase(name, pattern)}
        if not matched:
            raise InputError(f"expected modules named {pattern!r}, but there is none")
        found |= matched
    for module in found.values():
        module.forward = _Within(module.forward, arithmetic)
    return made


@dataclass(frozen=True, slots=True)
class LayerDifference:
    """How far the results of one call of a module are from each other in two arithmetics.

    Ranges and units: of `elements`, `differing` differ between two runs of the model, and `alone` do when the
    module is given the first run's inputs in both; `error`: the Frobenius norm of the difference between
    the runs, over that of the first one's result.
    """

    layer: str
    elements: int
    alone: int
    differing: int
    error: float


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """What two arithmetics make of a model on one input.

    Ranges and units: `divergence`: the mean over positions of the Kullback–Leibler divergence of the second
    one's distribution from the first one's, in nats; `agreement`: the share of positions at which both
    have the same largest logit; `first_token`: the first position of a sequence at which they do not.
    """

    first: str
    second: str
    layers: tuple[LayerDifference, ...]
    positions: int
    divergence: float
    agreement: float
    first_token: int | None

    def __str__(self) -> str:
        wide = max((len(x.layer) for x in self.layers), default=5)
        rows = [f"{'layer':{wide}}  elements  differ alone  differ  relative error"]
        rows += [
            f"{x.layer:{wide}}  {x.elements:8}  {x.alone:12}  {x.differing:6}  {x.error:.2e}"
            for x in self.layers
        ]
        where = "no token differs" if self.first_token is None else f"first at position {self.first_token}"
        rows += [
            f"{self.first} against {self.second}:",
            f"KL divergence {self.divergence:.3e}, top-1 agreement {self.agreement:.2%} of {self.positions} "
            f"positions, {where}",
        ]
        return "\n".join(rows)


def compare(
    model: Any, inputs: Any, first: TorchArithmetic | None, second: TorchArithmetic | None, *,
    logits: Callable[[Any], Any] | None = None,
) -> ModelComparison:  # fmt: skip
    """Run a model in two arithmetics and compare every module whose own forward has a product.

    Shapes: `inputs`: what the model is called with, a tensor, a tuple of arguments or a dictionary of named
    ones; `logits`: takes them out of the model's result, [..., positions, vocabulary]; by default the
    result itself, its attribute `logits` or its first element.
    Ranges and units: None for PyTorch's own arithmetic, at most once.
    Zero, NaN, Inf: two NaNs are equal.
    Errors: InputError for results that are no logits, and what the arithmetics refuse.
    Source: the measures are FPy's and llama.cpp's.
    """
    watched = second if second is not None else first
    if watched is None:
        raise InputError("expected an arithmetic for first or second, but got none")
    names = {module: name or type(module).__name__ for name, module in model.named_modules()}
    with torch.no_grad():
        layers = _with_products(model, names, inputs, watched)
        one, results = _run(model, layers, inputs, first)
        other, again = _run(model, layers, inputs, second)
        found = []
        for (module, args, kwargs, result), (_, _, _, changed) in zip(results, again, strict=True):
            with _inside(second):
                alone = tensor_in(module(*args, **kwargs))
            found.append(_difference(names[module], result, alone, changed))
    return _compared([_name(first), _name(second)], found, *((logits or _logits)(x) for x in (one, other)))


def greedy(model: Any, tokens: Sequence[int], count: int, arithmetic: TorchArithmetic | None) -> list[int]:
    """The tokens that a decoder appends, each the largest logit of the last position.

    Shapes: model(ids [1, T]) gives logits [1, T, vocabulary] or an object with them.
    Errors: InputError for no tokens, and what the arithmetic refuses.
    """
    check_int("number of tokens", count, low=1)
    if not len(tokens):
        raise InputError("expected at least one token to begin with, but got none")
    ids = torch.tensor([list(tokens)])
    with torch.no_grad(), _inside(arithmetic):
        for _ in range(count):
            best = _logits(model(ids))[:, -1].argmax(-1, keepdim=True)
            ids = torch.cat([ids, best], 1)
    return [int(x) for x in ids[0, len(tokens) :]]


def _name(arithmetic: TorchArithmetic | None) -> str:
    return "PyTorch" if arithmetic is None else arithmetic.name


def _inside(arithmetic: TorchArithmetic | None) -> AbstractContextManager[Any]:
    return nullcontext() if arithmetic is None else arithmetic


def called(model: Any, inputs: Any) -> Any:
    """A model's result of a tensor, a tuple of arguments or a dictionary of named ones."""
    if isinstance(inputs, dict):
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, tuple) else model(inputs)


def _with_products(model: Any, names: dict[Any, str], inputs: Any, arithmetic: TorchArithmetic) -> set[Any]:
    """The modules in whose own forward, not in a child's, a product is computed."""
    stack: list[Any] = [model]
    found: set[Any] = set()
    hooks = []
    for module in names:
        hooks.append(module.register_forward_pre_hook(lambda m, _: stack.append(m)))
        hooks.append(module.register_forward_hook(lambda *_: stack.pop() and None, always_call=True))
    arithmetic.watch = lambda: found.add(stack[-1])
    try:
        with arithmetic:
            called(model, inputs)
    finally:
        arithmetic.watch = None
        for hook in hooks:
            hook.remove()
    return found


@contextmanager
def recorded(layers: set[Any], calls: list[tuple[Any, ...]]) -> Iterator[None]:
    """Copies of what modules are given and give, in the order in which they end."""
    hooks = []
    for module in layers:
        hooks.append(
            module.register_forward_hook(
                lambda m, args, kwargs, d: calls.append(
                    (m, _copied(args), _copied(kwargs), _copied(tensor_in(d)))
                ),
                with_kwargs=True,
            )
        )
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _run(
    model: Any, layers: set[Any], inputs: Any, arithmetic: TorchArithmetic | None
) -> tuple[Any, list[tuple[Any, ...]]]:
    calls: list[tuple[Any, ...]] = []
    with recorded(layers, calls), _inside(arithmetic):
        return called(model, inputs), calls


def _copied(x: Any) -> Any:
    return torch.utils._pytree.tree_map_only(torch.Tensor, torch.clone, x)


def tensor_in(x: Any) -> Any:
    """The first tensor of a module's result."""
    found = [y for y in torch.utils._pytree.tree_leaves(x) if torch.is_tensor(y)]
    if not found:
        raise InputError(f"expected a module that gives a tensor, but got {type(x).__name__}")
    return found[0]


def _logits(x: Any) -> Any:
    found = getattr(x, "logits", x)
    return found[0] if isinstance(found, (tuple, list)) else found


def _parted(x: Any, y: Any) -> int:
    return int(((x != y) & ~(x.isnan() & y.isnan())).sum())


def _difference(name: str, result: Any, alone: Any, changed: Any) -> LayerDifference:
    x, y = result.double(), changed.double()
    size = float(x.norm())
    error = float((y - x).norm()) / size if size else 0.0
    return LayerDifference(name, result.numel(), _parted(result, alone), _parted(result, changed), error)


def _compared(names: list[str], layers: list[LayerDifference], x: Any, y: Any) -> ModelComparison:
    if not torch.is_tensor(x) or x.dim() < 1 or not x.is_floating_point():
        raise InputError(
            "expected logits [..., positions, vocabulary] as a tensor of floats; `logits` finds them"
        )
    p, q = (t.double().log_softmax(-1) for t in (x, y))
    divergence = (p.exp() * (p - q)).sum(-1).reshape(-1)
    same = (x.argmax(-1) == y.argmax(-1)).reshape(-1, x.shape[-2] if x.dim() > 1 else 1)
    apart = (~same).any(0).nonzero()
    return ModelComparison(
        first=names[0], second=names[1], layers=tuple(layers), positions=same.numel(),
        divergence=float(divergence.mean()), agreement=float(same.double().mean()),
        first_token=int(apart[0]) if len(apart) else None,
    )  # fmt: skip
