"""Identification of a device that a name or a function stands for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tcformal.callbacks import Progress, ignore
from tcformal.checks import MOST_VECTORS, check_int
from tcformal.design.names import resolve
from tcformal.design.spec import Operands
from tcformal.devices.device import Device
from tcformal.devices.isolated import opened
from tcformal.devices.registry import CallableDevice, Function
from tcformal.encodings.catalog import format_named
from tcformal.encodings.custom import split_names
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.identification.asking.ask import Asker
from tcformal.identification.record.identification import Identification

#: Products of a dot product where nobody says.
DEFAULT_K = 16


def identify(
    device: str | Function,
    formats: str,
    k: int = DEFAULT_K,
    *,
    scale: str | None = None,
    vectors: int = 100_000,
    folder: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> Identification:
    """Identify the design of a device of which only the operand formats are known.

    Shapes: a device by name (`exec:PROGRAM`, `model:UNIT`, …), or a function of a, b [n, K], c [n] (and
    scale_a, scale_b [n, scales]) that gives d [n]; `formats` are those of A, B, C, D, `fp16,fp16,fp32,fp32`.
    Ranges and units: raw encodings, operands in the smallest unsigned integers that hold them; `scale` is
    FORMAT/BLOCK; `vectors` random and directed inputs are compared at the end; answers are kept in `folder`.
    Zero, NaN, Inf: results are compared as encodings.
    Errors: UnknownNameError for unknown formats or devices; InputError for other shapes; DeviceError for a
    device that fails, or answers otherwise than before; RecordError for kept answers that were altered.
    Source: the device's answers.
    """
    from tcformal.identification.identify import identify as whole  # the command's help does not wait for it

    check_int("vectors", vectors, low=0, high=MOST_VECTORS)
    kept = None if folder is None else Path(folder)
    tell: Progress = ignore if progress is None else progress
    if not isinstance(device, str):
        return whole(
            asker_of(CallableDevice(device), formats, k, scale, None, kept), vectors=vectors, progress=tell
        )
    with opened(device) as found:
        return whole(asker_of(found, formats, k, scale, None, kept), vectors=vectors, progress=tell)


def asker_of(
    device: Device,
    formats: str | None,
    k: int | None,
    scale: str | None,
    unit: str | None,
    folder: Path | None,
) -> Asker:
    """A device and its file of answers: given formats, K and scales, or the instruction that has them.

    Errors: InputError for both, for neither, and for what is no list of four formats.
    """
    if unit is not None:
        if formats is not None or scale is not None:
            raise InputError("expected --unit or --formats and --scale, but got both")
        spec = resolve(unit)
        return Asker(
            device, spec.operands, k or spec.k, spec.scale_format, spec.scale_block, folder=folder, unit=spec
        )
    if formats is None:
        raise InputError(
            "expected --formats A,B,C,D, or --unit of a device that has several, but got neither"
        )
    named = [format_named(name.strip()) for name in split_names(formats)]
    if len(named) != 4:
        raise InputError(f"expected the formats of A, B, C and D for --formats, but got {formats!r}")
    of_scales, block = _scale(scale)
    k = DEFAULT_K if k is None else check_int("--k", k, low=1)
    operands = Operands(**dict(zip("abcd", named, strict=True)))
    return Asker(device, operands, k, of_scales, block, folder=folder)


def _scale(text: str | None) -> tuple[Format | None, int | None]:
    """The format and the block of FORMAT/BLOCK."""
    if text is None:
        return None, None
    name, _, block = text.partition("/")
    if not block.isascii() or not block.isdecimal() or not 0 < int(block[:9]) == int(block):
        raise InputError(f"expected FORMAT/BLOCK for --scale, such as ue8m0/32, but got {text!r:.80}")
    return format_named(name.strip()), int(block)
