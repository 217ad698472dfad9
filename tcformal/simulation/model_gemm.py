"""A library's whole matrix product: a recipe on a unit, evaluated on arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.programs.recipe import Recipe, recipe_of
from tcformal.programs.recipe_steps import (
    SCALE,
    Extras,
    KPart,
    check_unit,
    output_of,
    parts_at,
    parts_of,
    recipe_plan,
)
from tcformal.semantics.chain import scale_count
from tcformal.shown import Shown, short
from tcformal.simulation.arrays import as_array, broadcast, dtypes, from_raw, multiply_stack, stack_of, to_raw
from tcformal.simulation.evaluation import RunOptions, run_plan
from tcformal.simulation.matrix_unit import PreparedOperand, Unit, spec_of
from tcformal.simulation.operands.batch import Raw


@dataclass(frozen=True, slots=True)
class ModelGemm(Shown):
    """A library's matrix product, as `tcformal.gemm` returns it: a recipe on a unit.

    Examples:
        >>> tcformal.gemm("h100:fp16", "cutlass-split-k-serial@output=fp16")
        <ModelGemm cutlass-split-k-serial@output=fp16 on h100:fp16>
    """

    unit: UnitSpec
    recipe: Recipe

    def _summary(self) -> str:
        return f"ModelGemm {short(self.recipe.name)} on {short(self.unit.shown)}"

    @property
    def d_format(self) -> Format:
        """Format of D's elements."""
        return output_of(self.unit, self.recipe)

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of the unit's and the recipe's fields."""
        return tuple(dict.fromkeys(x for x in (*self.unit.sources, *self.recipe.sources) if x))

    def matmul(
        self, a: Any, b: Any, c: Any = None, scale_a: Any = None, scale_b: Any = None, *,
        alpha: float | None = None, beta: float | None = None, bias: Any = None, threads: int | None = None,
        progress: bool | None = None, device: str | None = None, memo: dict[Any, Raw] | None = None,
    ) -> NDArray[Any]:  # fmt: skip
        """The product alpha·A·B + beta·C + bias as the recipe computes it.

        Shapes: A [..., M, K], B [..., K, N] with leading axes that broadcast, as for `numpy.matmul`, or a B
        that `Unit.prepare` made; C and bias None or broadcast to the result [..., M, N]; for units or
        recipes with scales, scale_a [..., M, ⌈K / block⌉] and scale_b [..., ⌈K / block⌉, N], where a
        block of a recipe is its promotion.  Axes at least 1.
        Ranges and units: the dtype of each format as in `simulation.arrays`; C and bias in the format of
        D, or in the accumulator's; scales of a recipe in fp32; alpha and beta are numbers, taken as NumPy
        converts them to the accumulator's format, None for 1.  `threads`, `progress`, `device`: as for
        `Unit.matmul`; `memo`, an empty dict at first: sums that other recipes on the same matrices need.
        Zero, NaN, Inf: as the unit's design and IEEE 754 say; beta = 0 does not read C.
        Errors: InputError for a shape or dtype that does not fit, or an operand that the recipe has no place
        for; nothing is converted and no input is modified.  DeviceError for a device that is not there.
        """
        prepared = b if isinstance(b, PreparedOperand) else None
        if prepared is not None:
            prepared.check(self.unit)
        a, b = as_array(a), as_array(b) if prepared is None else prepared.values
        stack = stack_of(a, b)
        m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
        if c is None and beta:
            raise InputError(f"expected C beside beta = {beta}, but got none")
        self.check_beta(beta)
        if beta is not None and beta == 0:
            c = beta = None
        given: dict[str, NDArray[Any]] = {
            name: broadcast(name, as_array(x), (*stack, m, n))
            for name, x in (("C", c), ("bias", bias))
            if x is not None
        }
        blocks = self.blocks(k)
        for name, x, shape in (("scale_a", scale_a, (m, blocks)), ("scale_b", scale_b, (blocks, n))):
            if (x is None) != (blocks == 0):
                wanted = f"{name} of shape {list(shape)}" if blocks else f"no {name}"
                raise InputError(
                    f"expected {wanted} for the recipe {self.recipe.name}, "
                    f"but got {'none' if x is None else 'some'}"
                )
            if x is not None:
                given[name] = broadcast(name, as_array(x), (*stack, *shape))
        scalars = {name: x for name, x in (("alpha", alpha), ("beta", beta)) if x is not None}
        options = RunOptions(threads, progress, device, None if self.recipe.stream else prepared)
        tall = b.ndim == 2 and "scale_b" not in given and not self.recipe.stream

        def multiply(a: NDArray[Any], b: NDArray[Any], some: dict[str, NDArray[Any]]) -> NDArray[Any]:
            return self._one(a, b, some, scalars, options, memo if tall else None)

        return multiply_stack(multiply, a, b, given, dtypes()[self.d_format.name], tall=tall)

    def check_beta(self, beta: float | None) -> None:
        """Raise InputError for a factor of a C that is the c of the first call."""
        if self.recipe.c_place == "accumulator" and (beta or 1) != 1:
            raise InputError(
                f"expected no beta for the recipe {self.recipe.name}, whose C is the c of the first call, "
                f"but got {beta}"
            )

    def blocks(self, k: int) -> int:
        """The number of blocks of K products that have scales of their own."""
        if self.recipe.promotion_scales != "none":
            return -(-k // self.recipe.promotion)
        return scale_count(self.unit, k)

    def computed(self, k: int) -> tuple[object, ...]:
        """A key of the computation for K products: recipes with equal keys agree; not for stream-K."""
        r, parts = self.recipe, parts_of(self.unit, self.recipe, k)
        split = (r.merge, r.partials) if len(parts) > 1 else ()
        several = len(parts) > 1 or any(len(part) > 1 for part in parts)
        promoted = (r.promotion, r.promotion_scales, r.scales_of) if r.promotion_scales != "none" else ()
        start = r.start if several else ""
        return parts, split, promoted, start, r.c_place, r.fused, r.output, r.saturate, r.operands

    def _one(
        self, a: NDArray[Any], b: NDArray[Any], given: dict[str, NDArray[Any]], scalars: dict[str, float],
        options: RunOptions, memo: dict[Any, Raw] | None,
    ) -> NDArray[Any]:  # fmt: skip
        """The product of two matrices, without leading axes."""
        unit, recipe = self.unit, self.recipe
        (m, k), n = a.shape, b.shape[1]
        raw, extras = self.words({"A": a, "B": b, **given}, scalars)
        words = {name: x[:, :, None] for name, x in raw.items()}
        words |= {name: raw[name][:, None, :] for name in ("a", "scale_a") if name in raw}
        words |= {name: raw[name].T[None, :, :] for name in ("b", "scale_b") if name in raw}
        d = np.empty((m, n), f"u{self.d_format.storage_bits // 8}")
        for rows, columns, parts in self._regions(m, n, k):
            some = {name: _part(x, rows, columns) for name, x in words.items()}
            made = run_plan(_plan(unit, recipe, k, parts, extras), some, options, memo)
            d[rows, columns] = np.broadcast_to(made, d[rows, columns].shape)
        return from_raw(d, self.d_format)

    def _regions(self, m: int, n: int, k: int) -> Iterator[tuple[slice, slice, tuple[KPart, ...]]]:
        """The rectangles of D with one partition of K each, and that partition."""
        high, wide = (self.recipe.tile_m, self.recipe.tile_n) if self.recipe.stream else (m, n)
        for row, column in product(range(0, m, high), range(0, n, wide)):
            parts = parts_at(self.unit, self.recipe, k, (m, n), (row, column))
            yield slice(row, min(row + high, m)), slice(column, min(column + wide, n)), parts

    def words(
        self, given: Mapping[str, NDArray[Any]], scalars: Mapping[str, float]
    ) -> tuple[dict[str, Raw], Extras]:
        """The operands as words, by their letter in a plan, and which of the optional ones there are.

        Shapes: as given; scalars [1, 1].
        Errors: InputError for a dtype that is not the operand's.
        """
        wide, formats = self.unit.d_format, {name: self._format(name, x) for name, x in given.items()}
        words = {name.lower(): to_raw(name, x, formats[name]) for name, x in given.items()}
        words |= {
            name: to_raw(name, _number(name, x, wide), wide).reshape(1, 1) for name, x in scalars.items()
        }
        alpha, beta = ("alpha" in scalars, "beta" in scalars)
        return words, Extras(c=formats.get("C"), bias=formats.get("bias"), alpha=alpha, beta=beta)

    def _format(self, name: str, x: NDArray[Any]) -> Format:
        """The format of an operand; that of C and of a bias by its dtype."""
        if name in ("A", "B"):
            own = self.unit.a_format if name == "A" else self.unit.b_format
            return own if self.recipe.operands == "given" else FORMATS[self.recipe.operands]
        if name.startswith("scale"):
            return self.unit.scale_format or SCALE
        if name == "C" and self.recipe.c_place == "accumulator":
            return self.unit.c_format
        formats = dict.fromkeys((self.d_format, self.unit.d_format))
        for fmt in formats:
            if x.dtype.newbyteorder("=") == dtypes()[fmt.name]:
                return fmt
        wanted = " or ".join(str(dtypes()[fmt.name]) for fmt in formats)
        raise InputError(f"expected dtype {wanted} for {name}, but got {x.dtype}")


def gemm(unit: str | Unit | UnitSpec, recipe: str | Recipe = "plain") -> ModelGemm:
    """A library's matrix product: a recipe on a unit.

    Shapes: of its operands: `ModelGemm.matmul`.
    Ranges and units: names as for `tcformal.unit` and `tcformal recipes`, such as
    `cublaslt-66@splits=4,output=bf16`.
    Errors: UnknownNameError naming the closest names; InputError for a unit that the recipe cannot call.

    Examples:
        >>> product = tcformal.gemm("h100:fp16", "cublaslt-66@splits=4,output=bf16")
        >>> product.matmul(np.ones((2, 512), np.float16), np.ones((512, 3), np.float16)).dtype
        dtype(bfloat16)
    """
    product = ModelGemm(spec_of(unit), recipe_of(recipe))
    check_unit(product.unit, product.recipe)
    return product


_plan = lru_cache(maxsize=256)(recipe_plan)


def _number(name: str, value: float, fmt: Format) -> NDArray[Any]:
    """A number in a format's dtype; InputError for anything else."""
    try:
        number = np.asarray(value)
        if number.ndim or number.dtype.kind not in "fiV":
            raise TypeError
        return number.astype(dtypes()[fmt.name])
    except (TypeError, ValueError):
        raise InputError(f"expected a number for {name}, but got {value!r}") from None


def _part(x: Raw, rows: slice, columns: slice) -> Raw:
    """Rows and columns of an optional operand, whose broadcast axes stay whole."""
    return x[rows if x.shape[0] > 1 else slice(None), columns if x.shape[1] > 1 else slice(None)]
