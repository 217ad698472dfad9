"""Drop-in matrix products: stacks of matrices of any size, with a unit's arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.programs.program import Program, names_a_program
from tcformal.programs.recipe import Recipe
from tcformal.simulation.arrays import dtype_of, from_raw, to_raw
from tcformal.simulation.compiled import stack_words
from tcformal.simulation.prepared import PreparedOperand
from tcformal.simulation.runnable import RunnableProgram, program
from tcformal.simulation.stacks import broadcast, stack_of
from tcformal.simulation.unit import Unit, spec_of


def simulate(
    u: str | Unit | UnitSpec | Program | RunnableProgram,
    a: Any,
    b: Any,
    c: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    *,
    recipe: str | Recipe | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    bias: Any = None,
    threads: int | None = None,
    progress: bool | None = None,
    device: str | None = None,
) -> NDArray[Any]:
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
    Zero, NaN, Inf: as the unit's design says.
    Errors: InputError for a name, shape or dtype that does not fit, and for alpha, beta or a bias without a
    recipe; nothing is converted and no input is modified.  DeviceError for a device that is not there, or
    fails.
    Source: the unit's own (`sources`).
    """
    if recipe is not None:
        from tcformal.simulation.recipe import gemm

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
    block = runner.scale_block if isinstance(runner, Unit) else None
    options: dict[str, Any] = {"threads": threads, "progress": progress}
    if isinstance(runner, Unit):
        options["device"] = device
    elif scale_a is not None or scale_b is not None or device is not None:
        raise InputError(f"expected no scales with a program, and no device, but got some for {runner.name}")
    prepared = b if isinstance(b, PreparedOperand) else None
    a, b = np.asarray(a), np.asarray(b) if prepared is None else prepared.values
    stack = stack_of(a, b)
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    c = None if c is None else broadcast("C", np.asarray(c), (*stack, m, n))
    count = -(-k // block) if block else 0
    scale_a = None if scale_a is None else broadcast("scale_a", np.asarray(scale_a), (*stack, m, count))
    scale_b = None if scale_b is None else broadcast("scale_b", np.asarray(scale_b), (*stack, count, n))
    multiply: Callable[..., NDArray[Any]] = runner.matmul
    if b.ndim == 2 and scale_b is None:
        # One B for the whole stack: its rows are one tall matrix.
        tall = [None if x is None else x.reshape(-1, x.shape[-1]) for x in (c, scale_a)]
        whole = b if prepared is None else prepared
        given = tall if isinstance(runner, Unit) else tall[:1]
        return multiply(a.reshape(-1, k), whole, *given, **options).reshape(*stack, m, n)
    left, right = (np.broadcast_to(x, stack + x.shape[-2:]) for x in (a, b))
    if isinstance(runner, Unit) and device is None and scale_a is None and scale_b is None:
        made = _stacked(runner, left, right, c, options)
        if made is not None:
            return made
    d_format = runner.d_format if isinstance(runner, Unit) else runner.program.plan(k).fmt
    d = np.empty((*stack, m, n), dtype_of(d_format))
    for place in np.ndindex(stack):
        scales = (c, scale_a, scale_b) if isinstance(runner, Unit) else (c,)
        extra = [None if x is None else x[place] for x in scales]
        d[place] = multiply(left[place], right[place], *extra, **options)
    return d


def _stacked(
    u: Unit, a: NDArray[Any], b: NDArray[Any], c: NDArray[Any] | None, options: dict[str, Any]
) -> NDArray[Any] | None:
    """The products of a whole stack in one kernel; None where one matrix at a time is faster."""
    stack, (m, n) = a.shape[:-2], (a.shape[-2], b.shape[-1])
    operands = [("A", a, u.a_format), ("B", b, u.b_format), ("C", c, u.c_format)]
    words = [
        None if x is None else to_raw(name, x, fmt).reshape(-1, *x.shape[-2:]) for name, x, fmt in operands
    ]
    if words[0] is None or words[1] is None:
        return None
    d = stack_words(u.spec, words[0], words[1], words[2], options["threads"], options["progress"])
    return None if d is None else from_raw(d, u.d_format).reshape(*stack, m, n)


def _runner(u: str | Unit | UnitSpec | Program | RunnableProgram) -> Unit | RunnableProgram:
    """The unit or the program that the caller names."""
    if isinstance(u, RunnableProgram):
        return u
    if isinstance(u, Program) or (isinstance(u, str) and names_a_program(u)):
        return program(u)
    return Unit(spec_of(u))
