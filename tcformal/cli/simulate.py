"""`simulate`: the matrix product of two files on a unit."""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from tcformal.cli.group import Answer, json_option, main, write_output
from tcformal.errors import InputError
from tcformal.report.parts import bar
from tcformal.simulation.array_files import read_array
from tcformal.simulation.arrays import matrices, product, to_raw
from tcformal.simulation.kernels.gemm import MatrixWords
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.runnable import RunnableProgram, computation
from tcformal.simulation.simulate import simulate as simulated


@main.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--on", "name", required=True, metavar="UNIT|PROGRAM", help="What computes it.")
@click.option("--c", "c", help="The matrix C that is added; or a row, which is added to every row.")
@click.option("--scale-a", help="Scales of A's blocks [M, blocks], for a unit or recipe with scales.")
@click.option("--scale-b", help="Scales of B's blocks [blocks, N].")
@click.option("--recipe", help="How a library puts calls of a unit together: a name of tcformal recipes.")
@click.option(
    "--alpha", type=float, help="The factor of A·B: the product of NVFP4's scales of whole tensors."
)
@click.option(
    "--errors", metavar="E.npy", help="Also write D - (A·B + C), exact and rounded once: what was lost."
)
@click.option("-o", "--output", required=True, metavar="D.npy", help="The file of the product.")
@json_option
def simulate(
    a: str, b: str, name: str, c: str | None, scale_a: str | None, scale_b: str | None, recipe: str | None,
    alpha: float | None, errors: str | None, output: str,
) -> Answer:  # fmt: skip
    """Compute the matrix product A·B + C of files, bit for bit as a unit computes it.

    Arrays [M, K] and [K, N] are FILE.npy, FILE.npz:NAME or FILE.safetensors:NAME; words, of which a dtype
    says nothing else, are of the unit's formats, or of the one behind the file, as a.npy:e4m3.  Formats below
    8 bits have a byte for each value.  K of any length is taken in calls of the unit, each result the next c.
    """
    if not output.endswith(".npy"):
        raise InputError(f"expected a file D.npy after -o, but got {output}")
    unit = computation(name)
    scale = unit.spec.scale_format if isinstance(unit, Unit) else None
    left, right = read_array(a, unit.a_format), read_array(b, unit.b_format)
    others = [
        None if text is None else read_array(text, fmt)
        for text, fmt in ((c, unit.c_format), (scale_a, scale), (scale_b, scale))
    ]
    if alpha is not None and recipe is None:
        recipe = "plain"
    if errors is not None and (recipe is not None or left.ndim != 2 or not errors.endswith(".npy")):
        raise InputError("expected a file E.npy after --errors, of matrices without a recipe and alpha")
    with bar("multiplying"):
        start = time.monotonic()
        d = simulated(name, left, right, *others, recipe=recipe, alpha=alpha)
        seconds = time.monotonic() - start
    macs = d.size * left.shape[-1]
    content = io.BytesIO()
    np.save(content, d)
    write_output(output, content.getvalue())
    lost = None if errors is None else _errors(unit, left, right, others, d, errors)
    data = {
        **({} if lost is None else {"errors": errors, "inexact": int((lost[0] != 0).sum())}),
        "output": output, "unit": unit.name, "shape": list(d.shape), "dtype": str(d.dtype),
        "multiply_adds": macs, "seconds": round(seconds, 6),
    }  # fmt: skip
    shapes = " · ".join(f"{list(x.shape)}" for x in (left, right))
    times, plus = "" if alpha is None else f"{alpha:g}·", "" if c is None else " + C"
    by = "" if recipe is None else f" by {recipe}"
    what = f"{output}: {list(d.shape)} of {d.dtype} = {times}{shapes}{plus} on {unit.name}{by}"
    lines = [] if lost is None else [_lost_text(*lost, str(errors))]
    return Answer(data, [*lines, f"{what}: {_rate(macs, seconds)}"])


def _errors(
    unit: Unit | RunnableProgram, a: NDArray[Any], b: NDArray[Any], others: Sequence[NDArray[Any] | None],
    d: NDArray[Any], path: str,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
    """The error of every element, which is written to a file, and Σ|x_k·y_k| + |c|."""
    from tcformal.analysis.embedding import product_errors

    c, *scales = others
    c = None if c is None else np.broadcast_to(c, d.shape)
    if isinstance(unit, Unit):
        x = product(unit.spec, a, b, c, *scales)
    else:
        x = MatrixWords(*matrices((unit.a_format, unit.b_format, unit.c_format), a, b, c))
    found = product_errors(unit, x, to_raw("D", d, unit.d_format))
    content = io.BytesIO()
    np.save(content, found[0])
    write_output(path, content.getvalue())
    return found


def _lost_text(errors: NDArray[np.float64], sizes: NDArray[np.float64], path: str) -> str:
    """How many elements are not their exact sums, and which one is farthest from it."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(errors == 0, 0.0, np.abs(errors) / sizes)
    said = f"{path}: {int((errors != 0).sum())} of {errors.size} elements lost bits"
    if not np.nan_to_num(share).any():
        return said
    i, j = np.unravel_index(int(np.nan_to_num(share).argmax()), share.shape)
    return f"{said}, [{i}, {j}] most: {errors[i, j]:.4g}, {share[i, j]:.3g} of Σ|x_k·y_k| + |c|"


def _rate(macs: int, seconds: float) -> str:
    """`1.05 M multiply–adds in 0.2 s, 5.2 M a second`."""

    def scaled(x: float) -> str:
        for size, letter in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
            if x >= size:
                return f"{x / size:.3g}{letter}"
        return f"{x:.3g}"

    return f"{scaled(macs)}MAC in {seconds:.2g} s, {scaled(macs / seconds)}MAC/s"
