"""A layer's product by recipe, and the same in PyTorch's context, on one page.

    python -m benchmarks.layers

writes benchmarks/layers.md: 512 tokens through 4096×4096 weights on Hopper's fp8 as single calls, with
DeepGEMM's and CUTLASS's promotions, and as PyTorch's scaled product inside of `tcformal.torch.arithmetic`,
whose repetitions alternate with those of `simulate`.  Kernels are compiled before anything is timed.
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

import tcformal
from tcformal.kernels.work import processors
from tcformal.version import processor

PAGE = Path(__file__).resolve().parent / "layers.md"
UNIT = "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"
TOKENS, INPUTS, OUTPUTS = 512, 4096, 4096
DEEPGEMM, CUTLASS = "deepgemm-sm90", "cutlass-sm90-fp8@output=bf16"
#: Products that share one scale in DeepGEMM.
_BLOCK = 128


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


@click.command()
@click.option("--repetitions", type=int, default=9, show_default=True)
@click.option("--threads", type=int, default=processors(), show_default=True)
def main(repetitions: int, threads: int) -> None:
    """Time a layer's product by recipe, and in PyTorch's context."""
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
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
