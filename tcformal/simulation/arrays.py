"""Matrix products of arrays: dtypes of the formats, stacks of matrices, padding and chaining over K."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.simulation.operands.batch import Raw

if TYPE_CHECKING:
    from tcformal.simulation.kernels.gemm import MatrixWords
    from tcformal.simulation.kernels.threads import Work


# ------------------------------------------------- Stacks: leading axes that broadcast, as for `numpy.matmul`
def multiply_stack(
    multiply: Callable[[NDArray[Any], NDArray[Any], dict[str, NDArray[Any]]], NDArray[Any]],
    a: NDArray[Any], b: NDArray[Any], given: Mapping[str, NDArray[Any]], dtype: np.dtype[Any], *, tall: bool,
) -> NDArray[Any]:  # fmt: skip
    """The products of stacks of matrices by `multiply`, which takes A, B and the other operands by name.

    Shapes: a [..., M, K], b [..., K, N] and `given` [stack, …] for the stack of both; with `tall`, b [K, N],
    and the rows of the whole stack are one matrix.
    """
    stack, (m, k), n = stack_of(a, b), a.shape[-2:], b.shape[-1]
    if tall:
        whole = {name: x.reshape(-1, x.shape[-1]) for name, x in given.items()}
        return multiply(a.reshape(-1, k), b, whole).reshape(*stack, m, n)
    left, right = (np.broadcast_to(x, stack + x.shape[-2:]) for x in (a, b))
    d = np.empty((*stack, m, n), dtype)
    for place in np.ndindex(stack):
        d[place] = multiply(left[place], right[place], {name: x[place] for name, x in given.items()})
    return d


def stack_of(a: NDArray[Any], b: NDArray[Any]) -> tuple[int, ...]:
    """The leading axes of A·B; InputError for matrices that do not fit."""
    if min(a.ndim, b.ndim) < 2 or a.shape[-1] != b.shape[-2] or 0 in a.shape + b.shape:
        raise InputError(
            "expected A of shape [..., M, K] and B of shape [..., K, N] with axes of at least 1, "
            f"but got {list(a.shape)} and {list(b.shape)}"
        )
    first, second = a.shape[:-2], b.shape[:-2]
    try:
        return np.broadcast_shapes(first, second)
    except ValueError:
        raise InputError(
            f"expected leading axes of A and B that broadcast, but got {list(first)} and {list(second)}"
        ) from None


def broadcast(name: str, x: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """An operand broadcast to a shape; InputError where that is impossible."""
    try:
        return np.broadcast_to(x, shape)
    except ValueError:
        raise InputError(
            f"expected {name} of a shape that broadcasts to {list(shape)}, but got {list(x.shape)}"
        ) from None


# --------------------------------------------------------------------------------------------------- Matrices
#: dot_bits of a unit: a, b, c and scales if it has any -> d, all raw encodings.
DotBits = Callable[..., NDArray[Any]]

#: Dot products evaluated at once: bounds the memory of a call.
_CHUNK = 1 << 16


@cache
def dtypes() -> dict[str, np.dtype[Any]]:
    """The NumPy dtype of each format's values.

    tf32 is float32, whose low 13 bits the unit ignores; ue4m3 scales are uint8, because no dtype
    ignores a sign bit, or float8_e4m3fn without one.
    """
    import ml_dtypes

    return {
        "fp64": np.dtype(np.float64),
        "fp32": np.dtype(np.float32),
        "fp16": np.dtype(np.float16),
        "bf16": np.dtype(ml_dtypes.bfloat16),
        "tf32": np.dtype(np.float32),
        "e5m2": np.dtype(ml_dtypes.float8_e5m2),
        "e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
        "e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
        "e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
        "e3m2": np.dtype(ml_dtypes.float6_e3m2fn),
        "e2m3": np.dtype(ml_dtypes.float6_e2m3fn),
        "e2m1": np.dtype(ml_dtypes.float4_e2m1fn),
        "e8m0": np.dtype(ml_dtypes.float8_e8m0fnu),
        "ue4m3": np.dtype(np.uint8),
        "int4": np.dtype(ml_dtypes.int4),
        "uint4": np.dtype(ml_dtypes.uint4),
        **{name: np.dtype(name) for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32")},
    }


def dtype_of(fmt: Format) -> np.dtype[Any]:
    """The NumPy dtype of a format's values; for a format without one, the dtype of its encodings."""
    return dtypes().get(fmt.name, np.dtype(f"u{fmt.storage_bits // 8}"))


def takes_dtype(fmt: Format, dtype: np.dtype[Any]) -> bool:
    """Whether arrays of a dtype, of either byte order, hold values of a format."""
    own = dtype.newbyteorder("=")
    return own == dtype_of(fmt) or (fmt.name == "ue4m3" and own == dtypes()["e4m3"])


def to_raw(name: str, array: Any, fmt: Format) -> NDArray[Any]:
    """The raw encodings of an array of values: unsigned integers of the format's storage width.

    Shapes: any; a matrix as it lies in memory, anything else row by row.
    Ranges and units: any memory layout and byte order; the array is not modified.
    Errors: InputError for another dtype than the format's; nothing is converted.
    """
    x = as_array(array)
    wanted = dtype_of(fmt)
    if not takes_dtype(fmt, x.dtype):
        raise InputError(f"expected dtype {wanted} for {name} ({fmt.name}), but got {x.dtype}")
    native = x.view(wanted) if x.dtype == dtypes()["e4m3"] else x.astype(wanted, copy=False)
    # A turned matrix stays where it is: kernels take it as it lies.
    if native.ndim != 2 or not native.flags.aligned or any(step % native.itemsize for step in native.strides):
        native = np.ascontiguousarray(native)
    raw = native.view(f"u{native.dtype.itemsize}")
    # Every word of a format that fills its storage is an encoding.
    if fmt.width < fmt.storage_bits and raw.size and int(raw.max()) >> fmt.width:
        raise InputError(f"expected encodings of {fmt.width} bits for {name}, but got {int(raw.max()):#x}")
    return raw


def as_array(x: Any) -> NDArray[Any]:
    """An operand as an array: tensors of PyTorch keep their values, of fp8 and smaller too."""
    return array_of(x.cpu()) if type(x).__module__.partition(".")[0] == "torch" else np.asarray(x)


#: PyTorch's dtypes of floats: those that NumPy has itself, and the formats of those that cross as integers.
_OWN_TENSORS = ("float16", "float32", "float64")
_TENSORS = {
    "bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "float8_e4m3fnuz": "e4m3fnuz",
    "float8_e5m2fnuz": "e5m2fnuz", "float8_e8m0fnu": "e8m0", "float4_e2m1fn_x2": "e2m1",
}  # fmt: skip


def array_of(x: Any) -> NDArray[Any]:
    """A tensor's values as an array on the same memory.

    Shapes: any; the strides are the tensor's.  Pairs of e2m1 are unpacked along the axis whose elements are
    neighbours, the low half first: twice as many elements, in memory of their own.
    Ranges and units: bf16, fp8, e8m0 and e2m1 as the dtypes of ml_dtypes.
    Errors: InputError for a tensor that is not on the CPU, not dense, or of another dtype.
    """
    torch: Any = sys.modules["torch"]  # which made the tensor
    name = str(x.dtype).removeprefix("torch.")
    if name not in (*_OWN_TENSORS, *_TENSORS) or x.device.type != "cpu" or x.layout != torch.strided:
        raise InputError(
            f"expected a dense tensor of floats on the CPU, but got {x.dtype} ({x.layout}) on {x.device}"
        )
    plain = x.detach().resolve_conj().resolve_neg()
    if name in _OWN_TENSORS:
        return np.asarray(plain.numpy())
    words = plain.view({1: torch.uint8, 2: torch.int16}[x.element_size()]).numpy()
    if name.endswith("_x2"):
        words = unpacked(words, next((i for i in reversed(range(x.ndim)) if x.stride(i) == 1), -1))
    return np.asarray(words.view(dtypes()[_TENSORS[name]]))


def unpacked(words: NDArray[Any], axis: int = -1) -> NDArray[Any]:
    """Words of 4 bits from bytes that hold two, the low half first: twice as many along an axis."""
    last = np.moveaxis(words.view(np.uint8), axis, -1)
    both = np.stack([last & np.uint8(15), last >> np.uint8(4)], axis=-1)
    return np.moveaxis(both.reshape(*last.shape[:-1], -1), -1, axis)


def from_raw(raw: NDArray[Any], fmt: Format) -> NDArray[Any]:
    """An array of values from raw encodings."""
    wanted = dtype_of(fmt)
    return np.ascontiguousarray(raw.astype(f"u{wanted.itemsize}")).view(wanted)


def matrices(formats: Sequence[Format], a: Any, b: Any, c: Any) -> tuple[Raw, Raw, Raw | None]:
    """The raw encodings of A [M, K], B [K, N] and C [M, N] or None; InputError for shapes that do not fit."""
    raw_a, raw_b = to_raw("A", a, formats[0]), to_raw("B", b, formats[1])
    sizes = raw_a.shape + raw_b.shape
    if raw_a.ndim != 2 or raw_b.ndim != 2 or raw_a.shape[1] != raw_b.shape[0] or 0 in sizes:
        raise InputError(
            "expected A of shape [M, K] and B of shape [K, N] with M, N, K >= 1, "
            f"but got {list(raw_a.shape)} and {list(raw_b.shape)}"
        )
    raw_c, shape = None if c is None else to_raw("C", c, formats[2]), (raw_a.shape[0], raw_b.shape[1])
    if raw_c is not None and raw_c.shape != shape:
        raise InputError(f"expected C of shape {list(shape)}, but got {list(raw_c.shape)}")
    return raw_a, raw_b, raw_c


def product(u: UnitSpec, a: Any, b: Any, c: Any, scale_a: Any, scale_b: Any) -> MatrixWords:
    """The validated operands of D = A·B + C as raw encodings; shapes and errors as in `Unit.matmul`."""
    raw_a, raw_b, raw_c = matrices((u.a_format, u.b_format, u.c_format), a, b, c)
    (m, k), n = raw_a.shape, raw_b.shape[1]
    if k > u.k and u.c_format != u.d_format:
        raise InputError(
            f"expected K of at most {u.k} for {u.name}, whose D ({u.d_format.name}) cannot be the next C "
            f"({u.c_format.name}), but got K={k}"
        )
    from tcformal.simulation.kernels.gemm import MatrixWords

    return MatrixWords(raw_a, raw_b, raw_c, *_scales(u, scale_a, scale_b, (m, n, k)))


def by_dot_products(u: UnitSpec, dot_bits: DotBits, x: MatrixWords, work: Work) -> Raw:
    """D = A·B + C, raw encodings [M, N], computed by calls of `dot_bits` on whole rows."""
    m, k, n = x.shape
    calls = -(-k // u.k)
    padded_a, padded_b = filled(x.a, calls * u.k), filled(x.b.T, calls * u.k)
    scales, count = [], scales_of_call(u)
    if x.scale_a is not None and x.scale_b is not None and u.scale_format is not None:
        scales = [filled(s, calls * count, u.scale_format.one) for s in (x.scale_a, x.scale_b.T)]
    c_dtype = f"u{u.c_format.storage_bits // 8}"
    flat_c = np.zeros(m * n, c_dtype) if x.c is None else x.c.reshape(-1)
    pieces = []
    work.expect(m * n)
    for start in range(0, m * n, _CHUNK):
        rows, columns = np.divmod(np.arange(start, min(start + _CHUNK, m * n)), n)
        d = flat_c[start : start + _CHUNK]
        for call in range(calls):
            part = slice(call * u.k, (call + 1) * u.k)
            blocks = slice(call * count, (call + 1) * count)
            extra = [s[index][:, blocks] for s, index in zip(scales, (rows, columns), strict=False)]
            d = dot_bits(padded_a[rows, part], padded_b[columns, part], d, *extra)
        pieces.append(d)
        work.advance(len(d))
    return np.concatenate(pieces).reshape(m, n)


def filled(raw: Raw, k: int, fill: int = 0) -> Raw:
    """An array padded with `fill` to length k along its last axis."""
    if raw.shape[-1] == k:
        return raw
    wide = np.full((*raw.shape[:-1], k), fill, dtype=raw.dtype)
    wide[..., : raw.shape[-1]] = raw
    return wide


def scales_of_call(u: UnitSpec) -> int:
    """The number of block scales per row that one call takes: 0 for a unit without scales."""
    return 0 if u.scale_block is None else -(-u.k // u.scale_block)


def _scales(
    u: UnitSpec, scale_a: Any, scale_b: Any, shape: tuple[int, int, int]
) -> tuple[Raw, Raw] | tuple[None, None]:
    """The validated scales of A, [M, K/block], and of B, [K/block, N], as raw encodings."""
    fmt, block = u.scale_format, u.scale_block
    if fmt is None or block is None:
        if scale_a is not None or scale_b is not None:
            raise InputError(f"expected no scales for {u.name}, but got some")
        return None, None
    m, n, k = shape
    if scale_a is None or scale_b is None:
        raise InputError(f"expected scale_a and scale_b for {u.name}, but got none")
    raw_a, raw_b = to_raw("scale_a", scale_a, fmt), to_raw("scale_b", scale_b, fmt)
    count = -(-k // block)
    if raw_a.shape != (m, count) or raw_b.shape != (count, n):
        raise InputError(
            f"expected scale_a of shape {[m, count]} and scale_b of shape {[count, n]}, "
            f"but got {list(raw_a.shape)} and {list(raw_b.shape)}"
        )
    return raw_a, raw_b
