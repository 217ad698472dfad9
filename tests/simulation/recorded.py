"""Recorded products of cuBLASLt as the package's recipes compute them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from numpy.typing import NDArray

from tcformal import gemm
from tcformal.errors import InputError
from tcformal.programs.cublaslt import plan_cublaslt
from tcformal.simulation.model_gemm import ModelGemm

Problem = dict[str, Any]
#: The fields of an algorithm: cublasLtMatmulAlgoConfigAttributes_t in the order of the recordings.
Fields = Sequence[int | None]
#: Fields of the order: algorithm, splits, reduction scheme, option, stages.
_ORDER = (0, 2, 3, 5, 6)


@lru_cache(maxsize=4096)
def _planned(formats: tuple[tuple[str, Any], ...], fields: tuple[int | None, ...]) -> ModelGemm | None:
    try:
        found = plan_cublaslt({**dict(formats), "algo": fields})
    except InputError as error:
        if "whose recipe is known" not in str(error):
            raise
        return None
    return gemm(found.unit, found.recipe)


def planned(p: Problem, fields: Fields) -> ModelGemm | None:
    """The recipe of a recorded run on its unit; None where the planner knows none."""
    formats = tuple((key, p[key]) for key in ("a", "b", "d", "compute", "fast") if key in p)
    order = tuple(x if i in _ORDER else None for i, x in enumerate(fields))
    return _planned(formats, order)


def what_matters(p: Problem, fields: Fields) -> Any:
    """What runs of a product have in common that compute the same."""
    found = planned(p, fields)
    assert found is not None
    return found.unit.name, found.recipe


def computed(
    p: Problem,
    fields: Fields,
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[Any] | None = None,
    *,
    change: Mapping[str, Any] | None = None,
    **extras: Any,
) -> NDArray[Any]:
    """The raw words of D [M, N]; `change`: another unit, or other values of some fields of the recipe."""
    model = planned(p, fields)
    assert model is not None
    if change:
        other = {key: value for key, value in change.items() if key != "unit"}
        model = gemm(change.get("unit", model.unit), model.recipe.altered("changed", other))
    d = model.matmul(a, b, c, progress=False, **extras)
    return d.view(f"u{d.itemsize}")
