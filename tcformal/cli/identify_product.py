"""`identify-product`: how a library sums whole matrix products, and with which unit's arithmetic."""

from __future__ import annotations

import ctypes
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from tcformal.checks import check_int
from tcformal.cli.group import OK, OTHERWISE, Answer, json_option, main, results_option, wants_json
from tcformal.encodings.catalog import format_named
from tcformal.errors import DeviceError, InputError, TcformalError
from tcformal.identification.batch_invariance import batch_invariance
from tcformal.identification.kept_products import check_product
from tcformal.identification.sum_chains import ProductFunction
from tcformal.identification.whole_product import identify_product
from tcformal.report.escape import Plain, say, warn
from tcformal.simulation.arrays import dtype_of
from tcformal.store.lines import Record, append, read
from tcformal.store.schema import sealed
from tcformal.version import VERSION, processor

_DEVICES = "numpy, torch or exec:PROGRAM"
#: Multiply–adds of the largest random shape, and its largest sides.
_MOST, _LONGEST = 1 << 18, 1024
_SECONDS = 60
#: The largest number of rows, and digits of one.
_MOST_ROWS, _DIGITS = 1 << 16, 7
#: What a line says of itself, which does not part it from another of the same product.
_OWN = ("kind", "formats", "tcformal")


@main.command(name="identify-product")
@click.argument("device")
@click.option("--formats", required=True, help="The formats of A, B and D, such as bf16,bf16,bf16.")
@click.option("--shape", "shapes", multiple=True, metavar="M,N,K", help="A shape; may be given again.")
@click.option("--random", "count", type=int, default=0, help="So many random shapes besides.")
@click.option("--rows", metavar="FIRST..LAST", help="Ask instead for which M, in place of that of --shape, a "
              "row is summed in another order.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Of shapes and operands.")
@click.option("--threads", type=int, help="Threads of torch; numpy has what OPENBLAS_NUM_THREADS says.")
@click.option("--keep", is_flag=True, help="Add what is found to products/ in the results folder.")
@results_option
@json_option
def identify_product_(
    device: str, formats: str, shapes: tuple[str, ...], count: int, rows: str | None, seed: int,
    threads: int | None, keep: bool, folder: str,
) -> Answer:  # fmt: skip
    """Identify a library's matrix product: the order of its sums, and the unit.

    DEVICE is numpy, torch or exec:PROGRAM, which is called with three files, A.npy, B.npy and D.npy: it reads
    raw encodings [M, K] and [K, N] in unsigned integers and writes D's.  Each shape is identified by itself:
    masks show the order, cancelling operands the unit, and fresh ones are predicted.  The same operands
    are asked again: where results change, the orders that were seen, and how often.  Exit 0: every shape is
    predicted bit for bit; 1: some is not.

    With --rows 1..64: is the product batch invariant?  Exit 0: a row has the same results at every M; 1: the
    M at which the order of its sum changes, the rows, and between which products of k.
    """
    check_int("--random", count, low=0, high=10_000)
    wanted = [_shape(x) for x in shapes] + list(_random_shapes(count, seed))
    if not wanted:
        raise InputError("expected --shape M,N,K or --random COUNT, but got neither")
    function, about = _device(device, formats, threads)
    about |= {"kind": "library", "processor": processor(), "tcformal": VERSION, "formats": formats}
    if rows is not None:
        if keep:
            raise InputError("expected --keep without --rows, but got both")
        found = [batch_invariance(function, formats, (n, k), _range(rows), seed=seed) for _, n, k in wanted]
        data = {**about, "products": [x.record() for x in found]}
        code = OK if all(x.invariant for x in found) else OTHERWISE
        return Answer(data, "\n".join(map(str, found)), code)
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", f"{processor()}/").strip("-")
    path = Path(folder) / "products" / slug / f"{device.partition(':')[0]}.jsonl"
    made: list[Record] = []
    quiet = wants_json()
    kept = _kept(path, about, formats) if keep else {}
    for shape in wanted:
        if shape in kept:
            made.append(kept[shape])
            if not quiet:
                say(f"{shape}: kept before, {'predicted' if kept[shape]['found'] else 'not predicted'}")
            continue
        product = identify_product(function, formats, shape, seed=seed)
        made.append(product.record())
        if not quiet:
            say(str(product))
        if keep:
            kept[shape] = made[-1]
            append(path, sealed({**about, **made[-1]}))
    missed = [x for x in made if not x["found"]]
    elements = sum(x["checked"] for x in made)
    said = f"{len(made) - len(missed)} of {len(made)} shapes predicted bit for bit ({elements} elements)"
    return Answer({**about, "products": made}, said, OTHERWISE if missed else OK)


def _range(text: str) -> range:
    first, dots, last = text.partition("..")
    parts = [first, last if dots else first]
    if not all(x.strip().isascii() and x.strip().isdecimal() and len(x) < _DIGITS for x in parts):
        raise InputError(f"expected FIRST..LAST for --rows, such as 1..64, but got {text!r:.80}")
    low = check_int("--rows", int(parts[0]), low=1, high=_MOST_ROWS)
    return range(low, check_int("--rows", int(parts[1]), low=low, high=_MOST_ROWS) + 1)


def _kept(path: Path, about: Plain, formats: str) -> dict[tuple[int, int, int], Record]:
    """The shapes that a file of results holds of the same library, formats and settings, the last of each."""
    found: dict[tuple[int, int, int], Record] = {}
    names = [x.strip() for x in formats.split(",")]
    for line in read(path):
        if (record := line.data) is None:
            continue
        try:
            check_product(record)
        except TcformalError as error:
            warn(f"line {line.number} of {path} is not used: {error}")
            continue
        same = all(record.get(name) == value for name, value in about.items() if name not in _OWN)
        if same and record["formats"] == names:
            found[record["m"], record["n"], record["k"]] = record
    return found


def _shape(text: str) -> tuple[int, int, int]:
    parts = text.split(",")
    if len(parts) != 3 or not all(x.strip().isascii() and x.strip().isdecimal() for x in parts):
        raise InputError(f"expected M,N,K for --shape, but got {text!r:.80}")
    m, n, k = (int(x) for x in parts)
    return m, n, k


def _random_shapes(count: int, seed: int) -> Iterator[tuple[int, int, int]]:
    """Shapes whose sides are spread over magnitudes, thin ones among them."""
    rng = np.random.default_rng(seed)
    while count:
        m, n, k = (int(x) for x in np.exp2(rng.uniform(0, np.log2(_LONGEST), 3)))
        if m * n * k <= _MOST and k > 1:
            count -= 1
            yield m, n, k


def _device(device: str, formats: str, threads: int | None) -> tuple[ProductFunction, Plain]:
    """A function of arrays, and what is known of the library behind it."""
    kind, _, program = device.partition(":")
    if kind == "numpy" and not program:
        settings = {x: os.environ[x] for x in sorted(os.environ) if x.startswith("OPENBLAS_")}
        return np.matmul, {"library": f"numpy {np.__version__}", **_openblas(), "settings": settings}
    if kind == "torch" and not program:
        import tcformal.torch as on_unit
        from tcformal.torch.tensors import own_product

        version, number = on_unit.set_threads(threads)
        return own_product, {"library": f"torch {version}", "threads": number}
    if kind == "exec" and program:
        return _Program(shlex.split(program), formats), {"library": device}
    raise InputError(f"expected the device {_DEVICES}, but got {device!r:.80}")


def _openblas() -> Plain:
    """The kernels that NumPy's OpenBLAS chose for this processor, and its threads, as the library says."""
    for path in sorted((Path(np.__file__).parents[1] / "numpy.libs").glob("*openblas*")):
        library = ctypes.CDLL(str(path))
        for prefix, suffix in (("scipy_", "64_"), ("scipy_", ""), ("", "64_"), ("", "")):
            names = (f"{prefix}openblas_get_{x}{suffix}" for x in ("corename", "num_threads"))
            kernel, threads = (getattr(library, name, None) for name in names)
            if kernel is not None and threads is not None:
                kernel.restype = ctypes.c_char_p
                return {"kernel": f"OpenBLAS {kernel().decode()}", "threads": int(threads())}
    return {"kernel": "not told", "threads": "not told"}


class _Program:
    """A program as a product of arrays, through files."""

    def __init__(self, command: list[str], formats: str) -> None:
        self.command = command
        self.dtype = dtype_of(format_named(formats.split(",")[-1].strip()))

    def __call__(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        with tempfile.TemporaryDirectory(prefix="tcformal-product-") as folder:
            files = [Path(folder) / f"{x}.npy" for x in "ABD"]
            for path, x in zip(files, (a, b), strict=False):
                np.save(path, np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}"))
            try:
                words = [*self.command, *map(str, files)]
                done = subprocess.run(words, capture_output=True, text=True, timeout=_SECONDS, check=False)
            except (OSError, subprocess.TimeoutExpired) as error:
                raise DeviceError(f"expected {self.command[0]} to run, but got: {error}") from None
            if done.returncode or not files[2].exists():
                said = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
                raise DeviceError(f"expected {self.command[0]} to write D.npy, but got: {said:.200}")
            d = np.load(files[2], allow_pickle=False)
        if d.dtype.itemsize != self.dtype.itemsize:
            raise DeviceError(
                f"expected encodings of {8 * self.dtype.itemsize} bits in D.npy, but got {d.dtype}"
            )
        return np.asarray(np.ascontiguousarray(d).view(self.dtype))
