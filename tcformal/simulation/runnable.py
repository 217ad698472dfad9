"""The public class of a program over units: its arithmetic on arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tcformal.encodings.spec import Format
from tcformal.errors import InputError, UnknownNameError
from tcformal.shown import Shown
from tcformal.simulation import arrays
from tcformal.simulation.matrix_unit import Unit, unit
from tcformal.simulation.operands.batch import Raw

if TYPE_CHECKING:  # imported where they are used: the product of a unit runs no program
    from tcformal.programs.program import Program


@dataclass(frozen=True, slots=True)
class RunnableProgram(Shown):
    """A program over units, by name, as `tcformal.program` returns it.

    Examples:
        >>> p = tcformal.program("markidis")
        >>> p.name, p.a_format.name, p.k
        ('markidis', 'fp32', 8)
    """

    program: Program

    def _summary(self) -> str:
        return self.program._summary().replace("Program", "RunnableProgram", 1)

    @property
    def name(self) -> str:
        """The name by which it was asked for."""
        return self.program.name

    @property
    def source(self) -> str:
        """The publication or file that defines the program."""
        return self.program.source

    @property
    def a_format(self) -> Format:
        """Format of A's elements."""
        return self.program.input_format("a")

    @property
    def b_format(self) -> Format:
        """Format of B's elements."""
        return self.program.input_format("b")

    @property
    def c_format(self) -> Format:
        """Format of C's elements."""
        return self.program.input_format("c")

    @property
    def d_format(self) -> Format:
        """Format of results."""
        return self.program.plan(1).fmt

    @property
    def k(self) -> int:
        """The products of its longest call; 1 for a program without calls."""
        return max((u.k for u in self.program.units(1)), default=1)

    def evaluate(self, a: Raw, b: Raw, c: Raw) -> Raw:
        """Dot products d on raw encodings, one per row.

        Shapes: a, b: [n, K]; c: [n]; result [n].
        Ranges and units: unsigned integers below 2^width of each format; the inputs are not modified.
        Errors: InputError for a shape, dtype or encoding that does not fit.
        """
        from tcformal.simulation.evaluation import RunOptions, run_plan

        a, b, c = (np.asarray(x) for x in (a, b, c))
        if a.ndim != 2 or a.shape != b.shape or c.shape != a.shape[:1] or 0 in a.shape:
            raise InputError(
                "expected a and b of one shape [n, K] and c of shape [n] of at least 1, "
                f"but got {list(a.shape)}, {list(b.shape)} and {list(c.shape)}"
            )
        plan = self.program.plan(a.shape[1])
        operands = {"a": a[:, None, :], "b": b[:, None, :], "c": c[:, None, None]}
        for letter, x in operands.items():
            fmt = plan.input_format(letter)
            if x.dtype.kind != "u":
                raise InputError(f"expected unsigned integers for {letter}, but got {x.dtype}")
            if x.size and int(x.max()) >> fmt.width:
                raise InputError(
                    f"expected encodings of {fmt.width} bits for {letter} ({fmt}), but got {int(x.max()):#x}"
                )
        return run_plan(plan, operands, RunOptions())[:, 0]

    def matmul(
        self, a: Any, b: Any, c: Any = None, *, threads: int | None = None, progress: bool | None = None
    ) -> NDArray[Any]:
        """D = A·B + C on NumPy or ml_dtypes arrays of any size, each element by this program.

        Shapes: A [M, K], B [K, N], C [M, N] or None (zeros); result [M, N]; M, N, K >= 1.
        Ranges and units: the dtype of each format as in `simulation.arrays`; `threads`, `progress`: as
        for `Unit.matmul`.
        Errors: InputError for shapes, dtypes or values that do not fit; nothing is converted.
        """
        from tcformal.simulation.evaluation import RunOptions, run_plan

        formats = [self.program.input_format(letter) for letter in "abc"]
        raw_a, raw_b, raw_c = arrays.matrices(formats, a, b, c)
        (m, k), n = raw_a.shape, raw_b.shape[1]
        if raw_c is None:
            raw_c = np.zeros((1, 1), f"u{formats[2].storage_bits // 8}")
        plan = self.program.plan(k)
        given = {"a": raw_a[:, None, :], "b": raw_b.T[None, :, :], "c": raw_c[:, :, None]}
        d = run_plan(plan, given, RunOptions(threads, progress))
        return arrays.from_raw(np.ascontiguousarray(np.broadcast_to(d, (m, n))), plan.fmt)


def program(name: str | Program) -> RunnableProgram:
    """Load a program over units by its name or from its file.

    Shapes: a program takes any number of products.
    Ranges and units: `NAME` or `FILE.toml`, each with `@parameter=value,…` or without, such as
    `ootomo-yokota@unit=hopper/mma.m16n8k16.f32.f16.f16.f32`; `tcformal programs` lists the names.
    Errors: UnknownNameError naming the closest names; InputError for a file or value that does not fit.

    Examples:
        >>> p = tcformal.program("fma-chain")
        >>> p.matmul(np.ones((1, 3), np.float32), np.ones((3, 1), np.float32))
        array([[3.]], dtype=float32)
    """
    from tcformal.programs.program import program_of

    return RunnableProgram(program_of(name))


def computation(name: str) -> Unit | RunnableProgram:
    """Load a program by name or file, or else a unit or design by name.

    Errors: UnknownNameError naming the closest names.
    """
    from tcformal.programs.program import names_a_program

    if names_a_program(name):
        return program(name)
    try:
        return unit(name)
    except UnknownNameError:
        from tcformal.programs.recipe import recipes  # seldom needed

        if name.partition("@")[0] not in recipes():
            raise
    raise UnknownNameError(
        f"expected a unit or a program, but {name} is a recipe, which simulate --recipe and compare take; a "
        "program may do the same: tcformal programs"
    )
