"""Cases of a mismatch: operands, the expected result and the one obtained, also from files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.files import read_named, values_of
from tcformal.oracle.values import parse_value
from tcformal.simulation.operands.witness import Witness, from_data


@dataclass(frozen=True, slots=True)
class MismatchValue:
    """A given result: an encoding of D, or any NaN."""

    raw: int
    any_nan: bool

    @staticmethod
    def of(fmt: Format, text: str) -> MismatchValue:
        """A value from text; `nan` without a payload means every NaN."""
        return MismatchValue(parse_value(fmt, text), text.strip().lower().lstrip("+-") == "nan")

    def is_given_by(self, fmt: Format, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Where results equal this value."""
        same = np.asarray(words == np.uint64(self.raw), np.bool_)
        if self.any_nan:
            same |= fmt.is_nan(words)
        return same


@dataclass(frozen=True, slots=True)
class MismatchCase:
    """One dot product, its expected result and the one obtained."""

    witness: Witness
    expected: MismatchValue
    got: MismatchValue


def read_cases(spec: UnitSpec, path: Path) -> list[MismatchCase]:
    """The cases of a file: a JSON object, a list of them, or one per line; or arrays in an .npz.

    Shapes: `a`, `b`: K values, `c`, `expected`, `got`: one; `scale_a`, `scale_b` for units with scales;
    in an .npz each with a leading axis n (K values without one), as raw encodings in unsigned integers or
    in NumPy's own dtype of the format.
    Errors: InputError naming the file and the case that cannot be read.
    """
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as data:
                rows = _rows(spec, {name: data[name] for name in data.files}, str(path))
        else:
            found = values_of(read_named(path, "cases as JSON or .npz"))
            rows = found[0] if len(found) == 1 and isinstance(found[0], list) else found
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise InputError(f"expected cases as JSON or .npz in {path}, but got: {error}") from None
    if not rows:
        raise InputError(f"expected at least one case in {path}, but got none")
    return [case_of(spec, row, f"case {i} of {path}") for i, row in enumerate(rows)]


def case_of(spec: UnitSpec, data: Any, where: str) -> MismatchCase:
    """One case from plain data: texts of values or encodings."""
    if not isinstance(data, dict) or "expected" not in data or "got" not in data:
        raise InputError(
            f"expected an object with a, b, c, expected and got in {where}, but got {data!r:.80}"
        )
    d = spec.operands.d
    try:
        values = [MismatchValue.of(d, str(data[name])) for name in ("expected", "got")]
    except InputError as error:
        raise InputError(f"{error} (in {where})") from None
    return MismatchCase(from_data(spec, data, where), *values)


def _rows(spec: UnitSpec, data: dict[str, NDArray[Any]], where: str) -> list[dict[str, Any]]:
    """The arrays of an .npz as one object per case, in hex words."""
    formats = spec.input_formats() | {"expected": spec.d_format, "got": spec.d_format}
    words: dict[str, list[Any]] = {}
    for name, fmt in formats.items():
        if name in data:
            x = data[name]
            bits = x if x.dtype.kind == "u" else x.view(f"{x.dtype.byteorder}u{x.dtype.itemsize}")
            if bits.dtype.itemsize * 8 != fmt.storage_bits:
                raise InputError(
                    f"expected elements of {fmt.storage_bits} bits for {name} in {where}, but got {x.dtype}"
                )
            axes = 2 if name in ("a", "b", "scale_a", "scale_b") else 1
            words[name] = (bits if bits.ndim >= axes else bits[np.newaxis]).tolist()
        elif not name.startswith("scale") and name != "c":
            raise InputError(
                f"expected the array {name} in {where}, but got {', '.join(sorted(data)) or 'none'}"
            )
    counts = {len(rows) for rows in words.values()}
    if len(counts) != 1:
        raise InputError(f"expected arrays of one length in {where}, but got lengths {sorted(counts)}")
    return [{name: _hex(rows[i]) for name, rows in words.items()} for i in range(counts.pop())]


def _hex(words: Any) -> Any:
    return [f"{w:#x}" for w in words] if isinstance(words, list) else f"{words:#x}"
