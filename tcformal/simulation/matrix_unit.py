"""The public class of a unit: its parameters, its arithmetic on arrays, prepared weights, and replay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tcformal.backends import machine
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.filters import Filters
from tcformal.design.names import resolve
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.semantics.chain import scale_count
from tcformal.shown import Shown, short
from tcformal.simulation import arrays, compiled
from tcformal.simulation.compiled import gemm
from tcformal.simulation.operands.batch import Batch, Raw, batch_of, rows_of, witness_at
from tcformal.simulation.operands.witness import Witness

if TYPE_CHECKING:
    from tcformal.simulation.kernels.gemm import Gemm, MatrixWords, Prepared


# --------------------------------------------------------- Prepared weights: B decoded once for many products
class PreparedOperand(Shown):
    """A decoded B with its scales, as `Unit.prepare` returns it.

    Shapes: `values` [K, N] and `scales` [⌈K / scale_block⌉, N] or None: copies, read-only.
    Ranges and units: memory: about six times the encodings'.
    """

    def __init__(
        self, spec: UnitSpec, values: Any, scales: Any = None, *, threads: int | None = None
    ) -> None:
        self.spec, self._threads = spec, threads
        self.values, self.scales = _kept(values), None if scales is None else _kept(scales)
        shape = self.values.shape
        if len(shape) != 2 or 0 in shape:
            raise InputError(f"expected B of shape [K, N] with K, N >= 1 to prepare, but got {list(shape)}")
        # What does not fit is refused now, as a product would refuse it.
        one = np.zeros((1, shape[0]), arrays.dtype_of(spec.a_format))
        ones = None
        if self.scales is not None and spec.scale_format is not None:
            ones = np.zeros((1, -(-shape[0] // (spec.scale_block or 1))), arrays.dtype_of(spec.scale_format))
        self._words = arrays.product(spec, one, self.values, None, ones, self.scales)
        self._parts: dict[tuple[int, int, int], Prepared] = {}

    def _summary(self) -> str:
        k, n = self.shape
        return f"PreparedOperand B [{k}, {n}] for {short(self.spec.shown)}"

    @property
    def shape(self) -> tuple[int, int]:
        """The sizes K, N."""
        k, n = self.values.shape
        return k, n

    @property
    def nbytes(self) -> int:
        """The size of the decoded records so far, in bytes."""
        return sum(x.nbytes for x in self._parts.values())

    def part(self, start: int, stop: int, kernels: Gemm | None = None) -> Prepared | None:
        """The decoded rows of B from `start` to `stop`, cached; None without LLVM.

        Ranges and units: `kernels`: those that take it, None for the unit's own.
        Errors: InputError for a part of a B with scales.
        """
        from tcformal.simulation.kernels.gemm import Prepared
        from tcformal.simulation.kernels.threads import Work

        if not machine.available():
            return None
        if self.scales is not None and (start, stop) != (0, self.shape[0]):
            raise InputError(f"expected all rows of a B with scales, but got {start} to {stop}")
        kernels = gemm(self.spec, "a") if kernels is None else kernels
        key = start, stop, kernels.tile_steps
        if key not in self._parts:
            with Work(self._threads, progress=False) as work:
                b, scales = self._words.b[start:stop], self._words.scale_b
                self._parts[key] = Prepared(kernels, b, scales, work)
        return self._parts[key]

    def check(self, spec: UnitSpec) -> None:
        """Raise InputError unless B was prepared for this unit."""
        if spec != self.spec:
            raise InputError(f"expected B prepared for {spec.name}, but got one for {self.spec.name}")


def _kept(x: Any) -> NDArray[Any]:
    """A read-only copy of an array in the same memory order."""
    copy = np.array(x, order="K", copy=True)
    copy.flags.writeable = False
    return copy


# ------------------------------------------------------------------------------------------------------ Units
@dataclass(frozen=True, slots=True)
class Unit(Shown):
    """A matrix unit or design, by name.

    Examples:
        >>> u = tcformal.unit("h100:fp16")
        >>> u.matmul(np.ones((2, 40), np.float16), np.ones((40, 3), np.float16))
        array([[40., 40., 40.],
               [40., 40., 40.]], dtype=float32)
    """

    spec: UnitSpec

    def _summary(self) -> str:
        return self.spec._summary().replace("UnitSpec", "Unit", 1)

    @property
    def name(self) -> str:
        """The name by which this unit was asked for."""
        return self.spec.name

    @property
    def m(self) -> int:
        """Rows of A and D."""
        return self.spec.m

    @property
    def n(self) -> int:
        """Columns of B and D."""
        return self.spec.n

    @property
    def k(self) -> int:
        """Products per element of D."""
        return self.spec.k

    @property
    def a_format(self) -> Format:
        """Format of A's elements."""
        return self.spec.operands.a

    @property
    def b_format(self) -> Format:
        """Format of B's elements."""
        return self.spec.operands.b

    @property
    def c_format(self) -> Format:
        """Format of C's elements."""
        return self.spec.operands.c

    @property
    def d_format(self) -> Format:
        """Format of D's elements."""
        return self.spec.operands.d

    @property
    def scale_format(self) -> Format | None:
        """Format of the scales; None for a unit without scales."""
        return self.spec.scale_format

    @property
    def scale_block(self) -> int | None:
        """Consecutive k that share one scale; None for a unit without scales."""
        return self.spec.scale_block

    @property
    def design(self) -> Design:
        """The design: the parameters of the unit's arithmetic."""
        return self.spec.design

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of the parameters."""
        return self.spec.sources

    def dot_bits(self, a: Raw, b: Raw, c: Raw, scale_a: Raw | None = None, scale_b: Raw | None = None) -> Raw:
        """Dot products d = Σ a_k·b_k + c on raw encodings, one per row.

        Shapes: a, b: [n, K] with K a multiple of the unit's block; c: [n]; scale_a, scale_b:
        [n, ⌈K / scale_block⌉] for units with scales; result [n].
        Ranges and units: unsigned integers below 2^width of each format; the result's dtype is the
        smallest unsigned one that holds the D format.  The inputs are not modified.
        Errors: InputError for a shape, dtype or encoding that does not fit, or missing scales.
        """
        a, b, c = (np.asarray(x) for x in (a, b, c))
        if a.ndim != 2 or a.shape != b.shape or c.shape != a.shape[:1]:
            raise InputError(
                "expected a and b of one shape [n, K] and c of shape [n], "
                f"but got {list(a.shape)}, {list(b.shape)} and {list(c.shape)}"
            )
        n, k = a.shape
        operands: dict[str, Raw] = {"a": a, "b": b, "c": c}
        for letter, given in (("a", scale_a), ("b", scale_b)):
            scales = self._scales(given, letter, n, k)
            if scales is not None:
                operands[f"scale_{letter}"] = scales
        return compiled.dot_words(self.spec, operands)

    def _scales(self, given: Raw | None, letter: str, n: int, k: int) -> Raw | None:
        """The validated scales of one side; None for a unit without scales."""
        count = scale_count(self.spec, k)
        if given is None:
            if count:
                raise InputError(
                    f"expected scale_{letter} of shape [n, {count}] for {self.name}, but got none"
                )
            return None
        if not count:
            raise InputError(f"expected no scales for {self.name}, but got scale_{letter}")
        array = np.asarray(given)
        if array.shape != (n, count):
            raise InputError(
                f"expected scale_{letter} of shape {[n, count]} for {self.name}, but got {list(array.shape)}"
            )
        return array

    def matmul(
        self, a: Any, b: Any, c: Any = None, scale_a: Any = None, scale_b: Any = None, *,
        threads: int | None = None, progress: bool | None = None, device: str | None = None,
    ) -> NDArray[Any]:  # fmt: skip
        """The matrix product D = A·B + C on NumPy or ml_dtypes arrays of any size, by calls of this unit.

        Shapes: A [M, K], B [K, N] or what `prepare` made of it, C [M, N] or None (zeros),
        scale_a [M, ⌈K / scale_block⌉], scale_b [⌈K / scale_block⌉, N]; result [M, N]; M, N, K >= 1.
        Ranges and units: see `tcformal.simulation.arrays` for the dtype of each format; `threads` at least 1,
        None for one on each processor; `progress`: whether a bar is shown on standard error after two
        seconds, None where that is a terminal; `device`: None for the processor, `cuda:N` or `opencl:N`.
        Zero, NaN, Inf: as the design says; K is filled up with +0 to whole calls.
        Errors: InputError for shapes, dtypes or values that do not fit; nothing is converted.  DeviceError
        for a device that is not there, or fails.
        """
        x = self._product(a, b, c, scale_a, scale_b)
        words = compiled.multiply_words(self.spec, x, threads, progress, device)
        return arrays.from_raw(words, self.d_format)

    def _product(self, a: Any, b: Any, c: Any, scale_a: Any, scale_b: Any) -> MatrixWords:
        """The operands of `matmul` as raw encodings."""
        if not isinstance(b, PreparedOperand):
            return arrays.product(self.spec, a, b, c, scale_a, scale_b)
        b.check(self.spec)
        if scale_b is not None:
            raise InputError("expected no scale_b beside a prepared B, which has its own, but got one")
        x = arrays.product(self.spec, a, b.values, c, scale_a, b.scales)
        return replace(x, prepared=b.part(0, b.shape[0]))

    def prepare(self, b: Any, scale_b: Any = None, *, threads: int | None = None) -> PreparedOperand:
        """Decode B once for many products: `matmul`, `simulate` and `gemm` accept the result as B.

        Shapes: B [K, N], scale_b [⌈K / scale_block⌉, N] for units with scales; K, N >= 1.
        Ranges and units: as for `matmul`; what is decoded takes about six times the memory of B.  It is done
        when the first product asks for it, and nothing is decoded where LLVM is not installed.
        Zero, NaN, Inf: as for `matmul`.
        Errors: InputError for a shape or dtype that does not fit.
        """
        return PreparedOperand(self.spec, b, scale_b, threads=threads)


def unit(name: str) -> Unit:
    """Look up a unit or design by name: `UNIT`, `UNIT@name=value,…` or `FAMILY@name=value,…`.

    Ranges and units: a design without an instruction, such as `valpey@terms=5,carry_bits=3`, is a unit of one
    row and one column.
    Errors: UnknownNameError naming the closest names; InputError for a value that does not fit.

    Examples:
        >>> tcformal.unit("h100:fp16")
        <Unit h100:fp16: fp32 = fp16 · fp16 + fp32, 64×8×16>
        >>> tcformal.unit("valpey@terms=5,carry_bits=3").k
        4
    """
    return Unit(resolve(name))


def units(
    *, arch: str | None = None, format: str | None = None, operation: str | None = None,
    evidence: str | None = None,
) -> list[str]:  # fmt: skip
    """The names of the catalogued units that match the arguments: all by default.

    Ranges and units: `arch` such as `ampere`; `format` of A or B, such as `bf16`; `operation` such as
    `T-FDPA`; `evidence` for the fraction bits, such as `recorded`.
    Errors: UnknownNameError naming the closest names.

    Examples:
        >>> tcformal.units(arch="ampere", format="bf16")
        ['ampere/mma.m16n8k16.f32.bf16.bf16.f32', 'ampere/mma.m16n8k8.f32.bf16.bf16.f32']
    """
    filters = Filters.of(arch=arch, fmt=format, operation=operation, evidence=evidence)
    return [name for name, spec in catalogue().items() if filters.allow(spec)]


def designs(
    *, arch: str | None = None, format: str | None = None, operation: str | None = None,
    evidence: str | None = None,
) -> dict[str, list[str]]:  # fmt: skip
    """The distinct designs of the catalogue: one unit's name for each, with the names of all that share it.

    Shapes: units that differ only in m and n have one design.
    Ranges and units: as for `units`.
    Errors: UnknownNameError naming the closest names.

    Examples:
        >>> list(tcformal.designs(arch="ampere", format="bf16"))
        ['ampere/mma.m16n8k16.f32.bf16.bf16.f32']
    """
    return distinct_designs(Filters.of(arch=arch, fmt=format, operation=operation, evidence=evidence).allow)


def spec_of(x: str | Unit | UnitSpec) -> UnitSpec:
    """The unit of an argument that is a name or a unit; InputError for anything else."""
    if isinstance(x, str):
        return resolve(x)
    if isinstance(x, Unit):
        return x.spec
    if isinstance(x, UnitSpec):
        return x
    raise InputError(f"expected a unit or its name, but got {x!r}")


# ----------------------------------------- Replay of a batch: calls of the unit, with products 0·0 as padding
#: Dot products evaluated at once: bounds the memory.
_CHUNK = 1 << 16


def padded(spec: UnitSpec, batch: Batch) -> Batch:
    """The batch padded with products 0·0 and scales of 1 to whole calls of a unit."""
    k = batch.a.shape[1]
    wide = -(-k // spec.k) * spec.k
    if wide == k:
        return batch
    count, one = scale_count(spec, wide), 0 if spec.scale_format is None else spec.scale_format.one
    scales = [None if x is None else arrays.filled(x, count, one) for x in (batch.scale_a, batch.scale_b)]
    return Batch(arrays.filled(batch.a, wide), arrays.filled(batch.b, wide), batch.c, scales[0], scales[1])


def padded_witness(spec: UnitSpec, w: Witness) -> Witness:
    """A witness padded as `padded` pads a batch."""
    return witness_at(padded(spec, batch_of([w])), 0)


def replay(spec: UnitSpec, batch: Batch) -> Raw:
    """The results of a unit for a batch, as raw encodings in uint64; see `takes`."""
    u, results = Unit(spec), []
    wide = padded(spec, batch)
    for start in range(0, len(wide.c), _CHUNK):
        x = rows_of(wide, slice(start, start + _CHUNK))
        results.append(u.dot_bits(x.a, x.b, x.c, x.scale_a, x.scale_b).astype(np.uint64))
    return np.concatenate(results) if results else np.zeros(0, np.uint64)
