"""Drop-in matrix products: stacks of matrices of any size, with a unit's arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.catalog import catalogue
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.programs.program import Program, names_a_program
from tcformal.programs.recipe import Recipe
from tcformal.simulation.arrays import (
    as_array,
    broadcast,
    dtype_of,
    from_raw,
    multiply_stack,
    stack_of,
    to_raw,
)
from tcformal.simulation.compiled import stack_words
from tcformal.simulation.matrix_unit import PreparedOperand, Unit, spec_of
from tcformal.simulation.operands.batch import Raw
from tcformal.simulation.runnable import RunnableProgram, program


def simulate(
    u: str | Unit | UnitSpec | Program | RunnableProgram, a: Any, b: Any, c: Any = None, scale_a: Any = None,
    scale_b: Any = None, *, recipe: str | Recipe | None = None, alpha: float | None = None,
    beta: float | None = None, bias: Any = None, threads: int | None = None, progress: bool | None = None,
    device: str | None = None,
) -> NDArray[Any]:  # fmt: skip
    """The product A·B + C with a unit's arithmetic, by calls of the unit or by a program.

    Shapes: A [..., M, K], B [..., K, N] with leading axes that broadcast, as for `numpy.matmul`, or a B
    that `Unit.prepare` made; C None
    (zeros) or broadcast to the result [..., M, N], so that a bias [N] will do; scale_a
    [..., M, ⌈K / scale_block⌉] and scale_b [..., ⌈K / scale_block⌉, N] with leading axes that broadcast
    to the result's.  M, N, K and every leading axis at least 1.
    Ranges and units: the dtype of each format as in `simulation.arrays`; K of any size is taken in calls
    of the unit's k, each result the next c, the last call filled up with +0.  `recipe`: how a library
    puts alpha·A·B + beta·C + bias together from calls of the unit, as `cublaslt-66@splits=4,output=bf16`;
    shapes and dtypes as for `tcformal.gemm`.  `threads`, `progress`, `device`: as for `Unit.matmul`.
    Errors: InputError for a name, shape or dtype that does not fit, and for alpha, beta or a bias without a
    recipe; nothing is converted and no input is modified.  DeviceError for a device that is not there, or
    fails.

    Examples:
        >>> a, b = np.eye(1, 16, dtype=np.float16), np.eye(16, 2, dtype=np.float16)
        >>> bias = np.float32([-(2**-25), 0])
        >>> for unit in ("a100:fp16", "h100:fp16"):
        ...     print(tcformal.simulate(unit, a, b, bias))
        [[1. 0.]]
        [[0.99999994 0.        ]]
    """
    if recipe is not None:
        from tcformal.simulation.model_gemm import gemm

        if isinstance(_runner(u), RunnableProgram):
            raise InputError(f"expected a unit beside the recipe {recipe!r}, but got a program")
        return gemm(u, recipe).matmul(  # type: ignore[arg-type]
            a, b, c, scale_a, scale_b, alpha=alpha, beta=beta, bias=bias, threads=threads, progress=progress,
            device=device,
        )  # fmt: skip
    for name, value in (("alpha", alpha), ("beta", beta), ("bias", bias)):
        if value is not None:
            raise InputError(f"expected a recipe beside {name}, which says where it joins, but got none")
    runner = _runner(u)
    if not isinstance(runner, Unit) and any(x is not None for x in (scale_a, scale_b, device)):
        raise InputError(f"expected no scales with a program, and no device, but got some for {runner.name}")
    if isinstance(runner, Unit) and runner.scale_block is None and not scale_a is scale_b is None:
        raise InputError(f"expected no scales for {runner.name}, but got some")
    prepared = b if isinstance(b, PreparedOperand) else None
    a, b = as_array(a), as_array(b) if prepared is None else prepared.values
    stack = stack_of(a, b)
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    count = -(-k // runner.scale_block) if isinstance(runner, Unit) and runner.scale_block else 0
    places = {"C": (c, (m, n)), "scale_a": (scale_a, (m, count)), "scale_b": (scale_b, (count, n))}
    given = {
        name: broadcast(name, as_array(x), (*stack, *shape))
        for name, (x, shape) in places.items()
        if x is not None
    }
    tall = b.ndim == 2 and scale_b is None

    def multiply(a: NDArray[Any], b: NDArray[Any], some: dict[str, NDArray[Any]]) -> NDArray[Any]:
        c = some.pop("C", None)
        if isinstance(runner, Unit):
            right = b if prepared is None or not tall else prepared
            return runner.matmul(a, right, c, **some, threads=threads, progress=progress, device=device)
        return runner.matmul(a, b, c, threads=threads, progress=progress)

    if isinstance(runner, Unit) and not tall and device is scale_a is scale_b is None:
        made = _stacked(runner, stack, a, b, given.get("C"), threads, progress)
        if made is not None:
            return made
    d_format = runner.d_format if isinstance(runner, Unit) else runner.program.plan(k).fmt
    return multiply_stack(multiply, a, b, given, dtype_of(d_format), tall=tall)


def _stacked(
    u: Unit, stack: tuple[int, ...], a: NDArray[Any], b: NDArray[Any], c: NDArray[Any] | None,
    threads: int | None, progress: bool | None,
) -> NDArray[Any] | None:  # fmt: skip
    """The products of a whole stack in one kernel; None where one matrix at a time is faster."""

    def words(name: str, x: NDArray[Any], fmt: Format) -> Raw:
        whole = np.broadcast_to(x, (*stack, *x.shape[-2:]))
        return to_raw(name, whole, fmt).reshape(-1, *x.shape[-2:])

    raw_c = None if c is None else words("C", c, u.c_format)
    d = stack_words(u.spec, words("A", a, u.a_format), words("B", b, u.b_format), raw_c, threads, progress)
    return None if d is None else from_raw(d, u.d_format).reshape(*stack, a.shape[-2], b.shape[-1])


def _runner(u: str | Unit | UnitSpec | Program | RunnableProgram) -> Unit | RunnableProgram:
    """The unit or the program that the caller names."""
    if isinstance(u, RunnableProgram):
        return u
    if isinstance(u, Unit | UnitSpec) or (isinstance(u, str) and u.partition("@")[0] in catalogue()):
        return Unit(spec_of(u))
    # What is neither is refused by `spec_of`.
    if isinstance(u, Program) or (isinstance(u, str) and names_a_program(u)):  # type: ignore[redundant-expr]
        return program(u)
    return Unit(spec_of(u))
