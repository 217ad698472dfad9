"""`simulate`: the matrix product of two files on a unit."""

from __future__ import annotations

import io
import time
from typing import Any

import click
import numpy as np

from tcformal.cli.group import json_option, main, write_output
from tcformal.errors import InputError
from tcformal.identification.outputs import read_array
from tcformal.report.escape import print_json
from tcformal.report.parts import bar, show
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.runnable import computation
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
@click.option("-o", "--output", required=True, metavar="D.npy", help="The file of the product.")
@json_option
def simulate(
    a: str, b: str, name: str, c: str | None, scale_a: str | None, scale_b: str | None, recipe: str | None,
    alpha: float | None, output: str, as_json: bool,
) -> None:  # fmt: skip
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
    given = {"c": (c, unit.c_format), "scale_a": (scale_a, scale), "scale_b": (scale_b, scale)}
    others: dict[str, Any] = {
        letter: read_array(text, fmt) for letter, (text, fmt) in given.items() if text is not None
    }
    if alpha is not None and recipe is None:
        recipe = "plain"
    with bar("multiplying"):
        start = time.monotonic()
        d = simulated(name, left, right, **others, recipe=recipe, alpha=alpha)
        seconds = time.monotonic() - start
    macs = d.size * left.shape[-1]
    content = io.BytesIO()
    np.save(content, d)
    write_output(output, content.getvalue())
    if as_json:
        print_json({
            "output": output, "unit": unit.name, "shape": list(d.shape), "dtype": str(d.dtype),
            "multiply_adds": macs, "seconds": round(seconds, 6),
        })  # fmt: skip
        return
    shapes = " · ".join(f"{list(x.shape)}" for x in (left, right))
    times, plus = "" if alpha is None else f"{alpha:g}·", "" if c is None else " + C"
    by = "" if recipe is None else f" by {recipe}"
    what = f"{output}: {list(d.shape)} of {d.dtype} = {times}{shapes}{plus} on {unit.name}{by}"
    show([f"{what}: {_rate(macs, seconds)}"])


def _rate(macs: int, seconds: float) -> str:
    """`1.05 M multiply–adds in 0.2 s, 5.2 M a second`."""

    def scaled(x: float) -> str:
        for size, letter in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
            if x >= size:
                return f"{x / size:.3g}{letter}"
        return f"{x:.3g}"

    return f"{scaled(macs)}MAC in {seconds:.2g} s, {scaled(macs / seconds)}MAC/s"
