"""A layer's product by recipe, in PyTorch's context, and of one token, on one page.

    python -m benchmarks.layers

writes benchmarks/layers.md: 512 tokens through 4096×4096 weights on Hopper's fp8 as single calls, with
DeepGEMM's and CUTLASS's promotions, and as PyTorch's scaled product inside of `tcformal.torch.arithmetic`,
whose repetitions alternate with those of `simulate`; then one token through the weights on every kind of
unit, and dot products row by row, against square products.  Kernels are compiled before anything is timed.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import click
import ml_dtypes
import numpy as np
from rich.console import Console
from rich.progress import track

import tcformal
from benchmarks.kernels import ROWS, normal, ones
from tcformal.simulation.kernels.threads import processors
from tcformal.simulation.matrix_unit import Unit
from tcformal.version import processor

PAGE = Path(__file__).resolve().parent / "layers.md"
UNIT = "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"
TOKENS, INPUTS, OUTPUTS = 512, 4096, 4096
DEEPGEMM, CUTLASS = "deepgemm-sm90", "cutlass-sm90-fp8@output=bf16"
#: Products that share one scale in DeepGEMM.
_BLOCK = 128
#: M, N and K of the square products, and rows and K of the dot products.
_SQUARE, _DOTS = 1024, (16384, 1024)
#: How often a product of one token is repeated for one measurement of it.
_AGAIN = 3


@dataclass(slots=True)
class Timed:
    """One way of computing the layer, and what its repetitions took by the clock and of all processors."""

    name: str
    run: Callable[[], Any]
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


def ways(threads: int) -> list[Timed]:
    """The layer's product each way; PyTorch's where it is installed."""
    rng = np.random.default_rng(1)
    a, b = (
        rng.standard_normal(shape, dtype=np.float32).astype(ml_dtypes.float8_e4m3fn)
        for shape in ((TOKENS, INPUTS), (OUTPUTS, INPUTS))
    )
    b = b.T  # as a layer keeps its weights: one output's side by side
    blocks = INPUTS // _BLOCK
    scale_a = rng.random((TOKENS, blocks), dtype=np.float32) + 0.5
    scale_b = rng.random((blocks, OUTPUTS), dtype=np.float32) + 0.5

    def simulate(recipe: str | None = None, **extras: Any) -> Any:
        return tcformal.simulate(UNIT, a, b, recipe=recipe, threads=threads, progress=False, **extras)

    found = [
        Timed("no recipe", simulate),
        Timed(f"`{DEEPGEMM}`", lambda: simulate(DEEPGEMM, scale_a=scale_a, scale_b=scale_b)),
        Timed(f"`{CUTLASS}`", lambda: simulate(CUTLASS)),
    ]
    try:
        import torch

        from tcformal.torch import arithmetic
    except (ImportError, tcformal.InputError):
        return found
    left, right = (torch.from_numpy(x.view(np.uint8)).view(torch.float8_e4m3fn) for x in (a, b.T))
    one = torch.ones(())

    def in_context() -> Any:
        with arithmetic(UNIT, recipe=CUTLASS, threads=threads):
            return torch._scaled_mm(left, right.T, one, one, out_dtype=torch.bfloat16)

    return [*found, Timed(f"`{CUTLASS}` in PyTorch's context", in_context)]


def thin_ways(u: Unit) -> dict[str, tuple[int, Callable[[], Any]]]:
    """Square products, one token through weights that lie one way or the other, and dot products.

    Shapes: by name: the multiply–adds, and what computes them, on one thread.
    """
    rng = np.random.default_rng(1)

    def given(m: int, k: int, n: int) -> dict[str, Any]:
        count = -(-k // (u.scale_block or k))
        if u.scale_format is None:
            return {}
        return {"scale_a": ones((m, count), u.scale_format), "scale_b": ones((count, n), u.scale_format)}

    def product(a: Any, b: Any, *, prepared: bool = False) -> tuple[int, Callable[[], Any]]:
        (m, k), n = a.shape, b.shape[1]
        scales = given(m, k, n)
        kept = u.prepare(b, scales.pop("scale_b", None), threads=1) if prepared else b
        return m * k * n, lambda: u.matmul(a, kept, threads=1, progress=False, **scales)

    size = (_SQUARE, _SQUARE)
    token, outputs = normal(rng, (1, INPUTS), u.a_format), normal(rng, (INPUTS, OUTPUTS), u.b_format)
    inputs, column = normal(rng, (OUTPUTS, INPUTS), u.a_format), normal(rng, (INPUTS, 1), u.b_format)
    turned = np.asfortranarray(outputs)
    found = {
        "square": product(normal(rng, size, u.a_format), normal(rng, size, u.b_format)),
        "row": product(token, outputs),
        "turned": product(token, turned),
        "prepared": product(token, outputs, prepared=True),
        "turned, prepared": product(token, turned, prepared=True),
        "column": product(inputs, column),
    }
    rows, k = _DOTS
    raw = []
    for fmt, shape in ((u.a_format, (rows, k)), (u.b_format, (rows, k)), (u.c_format, (1, rows))):
        x = normal(rng, shape, fmt)
        raw.append(x.view(f"u{x.itemsize}"))
    scales = given(rows, k, rows)
    more = [scales["scale_a"], scales["scale_b"].T] if scales else []
    more = [np.ascontiguousarray(x).view(np.uint8) for x in more]
    found["dot_bits"] = (rows * k, lambda: u.dot_bits(raw[0], raw[1], raw[2][0], *more))
    return found


def read_rate() -> float:
    """Bytes of a large array that one core adds up in a second of its time."""
    array, spent = np.ones(1 << 25), []
    for _ in range(5):
        start = time.process_time()
        array.sum()
        spent.append(time.process_time() - start)
    return array.nbytes / min(spent)


def thin_rows(repetitions: int) -> list[str]:
    """A row of the second table for each kind of unit: the least of repetitions that alternate."""
    lines, allowed = [], os.sched_getaffinity(0)
    for name in track(dict.fromkeys(row[0] for row in ROWS), "one token", console=Console(stderr=True)):
        # On one processor, that threads share, dot products are not cut in pieces for several.
        os.sched_setaffinity(0, {min(allowed)})
        ways = thin_ways(tcformal.unit(name))
        spent: dict[str, list[float]] = {way: [] for way in ways}
        for repetition in range(repetitions + 1):
            for way, (count, run) in ways.items():
                again = 1 if way == "square" else _AGAIN
                start = time.process_time()
                for _ in range(again):
                    run()
                if repetition:  # the first one loads what is compiled, and prepares
                    spent[way].append((time.process_time() - start) / (again * count))
        os.sched_setaffinity(0, allowed)
        least = {way: min(times) for way, times in spent.items()}
        cells = [f"{least[way] / least['square']:.2f}" for way in ways if way != "square"]
        lines.append(f"| {name} | {1e-9 / least['square']:.2f} | {' | '.join(cells)} |")
        click.echo(lines[-1])
    return lines


@click.command()
@click.option("--repetitions", type=int, default=9, show_default=True)
@click.option("--threads", type=int, default=processors(), show_default=True)
def main(repetitions: int, threads: int) -> None:
    """Time a layer's product by recipe, in PyTorch's context, and of one token."""
    busy, all_ways = os.getloadavg()[0], ways(threads)
    for way in all_ways:
        way.run()
    for _ in range(repetitions):
        for way in all_ways:
            wall, cpu = time.monotonic(), time.process_time()
            way.run()
            way.wall.append(time.monotonic() - wall)
            way.cpu.append(time.process_time() - cpu)
    plain = statistics.median(all_ways[0].cpu)
    lines = [
        "# A layer by recipe, and in PyTorch",
        "",
        f"{date.today().isoformat()}, {platform.machine()}, {os.cpu_count()} cores, {processor()}, "
        f"load {busy:.1f} at the start; threads: {threads}, median of {repetitions} that alternate.",
        "",
        f"{TOKENS} tokens through {INPUTS}×{OUTPUTS} weights on `{UNIT}`, normally distributed operands.  "
        "Seconds: by the clock, which other programs disturb, and of all processors.  Of no recipe: processor"
        " seconds against those of the product without a recipe.",
        "",
        "| recipe | seconds | processor seconds | of no recipe |",
        "|---|---:|---:|---:|",
    ]
    for way in all_ways:
        wall, cpu = statistics.median(way.wall), statistics.median(way.cpu)
        lines.append(f"| {way.name} | {wall:.2f} | {cpu:.2f} | {cpu / plain:.2f} |")
    click.echo("\n".join(lines))
    lines += [
        "",
        "## One token",
        "",
        f"One token through {INPUTS}×{OUTPUTS} weights B (a row of A), that lie as they are, or turned (one "
        f"output's side by side), as arrays or prepared; {OUTPUTS} rows of A with one column of B; and "
        f"`dot_bits` of {_DOTS[0]} rows of {_DOTS[1]}, whose operands are all their own.  Processor seconds "
        f"for each multiply–add against those of the product of {_SQUARE}×{_SQUARE} matrices, whose 10^9 "
        f"multiply–adds a second are in the first column: one thread, the least of {repetitions} that "
        f"alternate.  A core reads {read_rate() / 1e9:.0f}·10^9 bytes a second here, when it adds up an "
        "array of 2^28: no product of one token is faster than its weights are read, nor `dot_bits` than "
        "twice as much.",
        "",
        "| unit | square | row | turned | prepared | turned, prepared | column | `dot_bits` |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *thin_rows(repetitions),
    ]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
