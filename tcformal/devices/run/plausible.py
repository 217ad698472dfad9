"""Plausibility checks: NaN from surely finite sums, and words wider than the format."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.devices.device import Device
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import DeviceError
from tcformal.oracle.values import NumberClass, decode
from tcformal.simulation.arrays import dtypes, from_raw
from tcformal.simulation.operands.batch import Batch, Raw, witness_at
from tcformal.simulation.operands.witness import explain_command, in_hex


def measured(
    device: Device, spec: UnitSpec, batch: Batch, finite: NDArray[np.bool_] | None = None
) -> tuple[Raw, DeviceError | None]:
    """A device's outputs up to the first implausible one, with the error that stopped them.

    The error has the outputs before the first one that is wrong.  `finite` as for `check_outputs`.
    """
    try:
        outputs = device.run(spec, batch)
    except DeviceError as error:
        return np.array(error.answered[: len(batch.c)], dtype=np.uint64), error
    try:
        check_outputs(device.name, spec, batch, outputs, finite)
    except DeviceError as error:
        return outputs[: len(batch.c)], error
    return outputs, None


def check_outputs(
    device: str, spec: UnitSpec, batch: Batch, outputs: Raw, finite: NDArray[np.bool_] | None = None
) -> None:
    """Raise DeviceError for implausible outputs, with the outputs before the first of them.

    `finite` is the result of `surely_finite` for the batch, if known.
    """
    n, d = len(batch.c), spec.operands.d
    if len(outputs) != n:
        raise DeviceError(
            f"expected {n} results of {device}, but {len(outputs)} came", [int(x) for x in outputs[:n]]
        )
    wide = np.flatnonzero(outputs >> np.uint64(d.width)) if d.width < 64 else np.zeros(0, np.intp)
    finite = surely_finite(spec, batch) if finite is None else finite
    impossible = np.flatnonzero(d.is_nan(outputs) & finite) if d.specials is Specials.IEEE else wide[:0]
    for rows, what in (
        (wide, f"a word of {d.width} bits"),
        (impossible, "a number, because no NaN is possible,"),
    ):
        if rows.size:
            row = int(rows[0])
            command = explain_command([spec.name], witness_at(batch, row), in_hex(spec))
            raise DeviceError(
                f"expected {what} from {device} for dot product {row}, "
                f"but got {int(outputs[row]):#x}: {command}",
                [int(x) for x in outputs[:row]],
            )


def surely_finite(spec: UnitSpec, batch: Batch) -> NDArray[np.bool_]:
    """Whether the sum of all magnitudes stays below half the largest result, row by row."""
    o = spec.operands
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = (np.abs(_values(x, fmt)) for x, fmt in ((batch.a, o.a), (batch.b, o.b)))
        products = a * b
        if batch.scale_a is not None and batch.scale_b is not None and spec.scale_format is not None:
            for scale in (batch.scale_a, batch.scale_b):
                block = spec.scale_block or 1
                wide = np.repeat(np.abs(_values(scale, spec.scale_format)), block, axis=1)
                products = products * wide[:, : products.shape[1]]
        bound = products.sum(axis=1) + np.abs(_values(batch.c, o.c))
        # Doubles round this sum; half the largest number leaves room for that.
        return np.asarray(bound < min(float(decode(o.d, o.d.largest).number), 1e308) / 2)


def _values(raw: Raw, fmt: Format) -> NDArray[np.float64]:
    if fmt.name == "ue4m3":
        # No dtype ignores a sign bit; NaN scales make the bound NaN, and so no statement.
        return _values(raw & np.uint64(0x7F), format_named("e4m3"))
    if fmt.name in dtypes():
        return from_raw(raw, fmt).astype(np.float64)
    if fmt.width > 16:
        return np.full(raw.shape, np.nan)  # no statement
    return _decoded(fmt)[raw]


@cache
def _decoded(fmt: Format) -> NDArray[np.float64]:
    """A table of a format's values as doubles, by encoding, for a format without a dtype."""
    special = {NumberClass.INF: np.inf, NumberClass.NAN: np.nan}
    values = (decode(fmt, word) for word in range(1 << fmt.width))
    return np.array([special.get(x.kind, float(x.number)) for x in values])
