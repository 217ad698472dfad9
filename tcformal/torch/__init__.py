"""PyTorch on a unit's arithmetic: `with tcformal.torch.arithmetic("hopper/…", recipe=…):`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tcformal.checks import check_int
from tcformal.errors import InputError
from tcformal.installed import install

try:
    import torch as _torch
except ImportError as error:
    raise InputError(f"expected PyTorch for tcformal.torch ({install('torch')}), but got: {error}") from error

from tcformal.torch.context import ProductCount, TorchArithmetic
from tcformal.torch.models import LayerDifference, ModelComparison, compare, converted, greedy

if TYPE_CHECKING:
    from tcformal.design.unit import UnitSpec
    from tcformal.programs.recipe import Recipe
    from tcformal.simulation.matrix_unit import Unit

__all__ = [
    "LayerDifference", "ModelComparison", "ProductCount", "TorchArithmetic", "arithmetic", "compare",
    "convert", "greedy", "set_threads",
]  # fmt: skip


def set_threads(threads: int | None) -> tuple[str, int]:
    """Set how many threads PyTorch's own products use, if any number is given; its version and the number."""
    if threads is not None:
        _torch.set_num_threads(check_int("threads", threads, low=1, high=1024))
    return str(_torch.__version__), int(_torch.get_num_threads())


def arithmetic(
    *units: str | Unit | UnitSpec, recipe: str | Recipe | None = None, gradients: str = "refuse",
    others: str = "refuse", operands: str = "given", threads: int | None = None,
) -> TorchArithmetic:  # fmt: skip
    """A context in which PyTorch's matrix products on the CPU are computed as units and a recipe do.

    Shapes: linear, matmul, mm, bmm, addmm, baddbmm, mv, addmv, dot, einsum, scaled_mm and _scaled_mm with one
    scale for each factor or for each row of A and column of B, and both products of
    scaled_dot_product_attention, whatever calls them.
    Ranges and units: a product is taken by the unit of its dtypes (float32 for units of tf32, whose operands
    are rounded to nearest first); its result is rounded once to the dtype that PyTorch gives it.
    `recipe`: as for `tcformal.gemm`; None for one accumulator and C or the bias added after the sum.
    `others`: `refuse`, or `pytorch` for products of other dtypes and other operators that sum products.
    `operands`: `given`, or `scaled`: factors in any dtype above 8 bits are divided by a scale that brings
    their largest magnitude to that of the unit's format, and rounded to it.  `gradients`: `refuse`, or
    `straight-through`: those of the exact product.  `threads`: as for `tcformal.simulate`.
    Zero, NaN, Inf: as the units' designs and IEEE 754 say.
    Errors: InputError for units that share their dtypes, for a recipe that a unit cannot follow, and, inside
    the context, for an operator or a gradient that is refused.
    Source: the units' and the recipe's own.
    """
    return TorchArithmetic(
        units, recipe, gradients=gradients, others=others, operands=operands, threads=threads
    )


def convert(
    model: Any, *units: str | Unit | UnitSpec, modules: str | Sequence[str] = "", inplace: bool = False,
    recipe: str | Recipe | None = None, gradients: str = "refuse", others: str = "refuse",
    operands: str = "given", threads: int | None = None,
) -> Any:  # fmt: skip
    """A copy of a model whose forward, or that of some of its modules, runs inside of `arithmetic`.

    Ranges and units: `modules`: patterns of names as in `model.named_modules()`, such as `layers.*.mlp`; by
    default the model itself; `inplace`: the model itself is changed.  All else as for `arithmetic`.
    Errors: InputError for what is no module, for a pattern that names none, and as for `arithmetic`.
    """
    made = arithmetic(
        *units, recipe=recipe, gradients=gradients, others=others, operands=operands, threads=threads
    )
    return converted(model, made, modules, inplace)
