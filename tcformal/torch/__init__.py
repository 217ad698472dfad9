"""PyTorch on a unit's arithmetic: `with tcformal.torch.arithmetic("hopper/…", recipe=…):`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcformal.errors import InputError
from tcformal.installed import install

try:
    import torch as _torch  # noqa: F401  every module of the package needs it
except ImportError as error:
    raise InputError(f"expected PyTorch for tcformal.torch ({install('torch')}), but got: {error}") from error

from tcformal.torch.context import ProductCount, TorchArithmetic

if TYPE_CHECKING:
    from tcformal.design.unit import UnitSpec
    from tcformal.matmul.unit import Unit
    from tcformal.programs.recipes.recipe import Recipe

__all__ = ["ProductCount", "TorchArithmetic", "arithmetic"]


def arithmetic(
    *units: str | Unit | UnitSpec,
    recipe: str | Recipe | None = None,
    gradients: str = "refuse",
    others: str = "refuse",
    operands: str = "given",
    threads: int | None = None,
) -> TorchArithmetic:
    """A context."""
    return TorchArithmetic(
        units, recipe, gradients=gradients, others=others, operands=operands, threads=threads
    )
