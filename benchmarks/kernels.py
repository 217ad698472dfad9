"""Matrix products on compiled kernels: multiply–adds per second, compilation and memory, on one page.

    python -m benchmarks.kernels

writes benchmarks/kernels.md.  Each row is measured in a process of its own with an empty cache of
kernels, on normally distributed operands: compilation of both kernels, loading them again from the
cache, then the product, as the shortest of its repetitions.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.roofline import instructions_per_multiply_add, issue_rate
from tcformal.encodings.spec import Format
from tcformal.report.text import table
from tcformal.simulation.arrays import dtypes
from tcformal.simulation.compiled import LONG, gemm
from tcformal.simulation.kernels.threads import processors
from tcformal.simulation.matrix_unit import unit
from tcformal.version import processor

PAGE = Path(__file__).resolve().parent / "kernels.md"

#: Unit, M, K, N, goal in multiply–adds per second on two cores (0: none), share of NaN among A's elements.
Row = tuple[str, int, int, int, float, float]
ROWS: tuple[Row, ...] = (
    ("volta/mma.m8n8k4.f32.f16.f16.f32", 1024, 1024, 1024, 0, 0),
    ("ampere/mma.m16n8k16.f32.f16.f16.f32", 2048, 2048, 2048, 2.5e9, 0),
    ("ampere/mma.m16n8k16.f32.bf16.bf16.f32", 2048, 2048, 2048, 0, 0),
    ("ampere/mma.m16n8k8.f32.tf32.tf32.f32", 1024, 1024, 1024, 1e9, 0),
    ("ampere/mma.m8n8k4.f64.f64.f64.f64", 256, 256, 256, 5e8, 0),
    ("ada/mma.m16n8k32.f32.e4m3.e4m3.f32", 2048, 2048, 2048, 1e9, 0),
    ("hopper/mma.m16n8k16.f32.f16.f16.f32", 2048, 2048, 2048, 10e9, 0),
    ("hopper/mma.m16n8k16.f32.f16.f16.f32", 4096, 4096, 4096, 10e9, 0),
    ("hopper/mma.m16n8k16.f32.f16.f16.f32", 1021, 1999, 1013, 0, 0),
    ("hopper/mma.m16n8k16.f32.f16.f16.f32", 4096, 4096, 1, 10e9 / 3, 0),
    ("hopper/mma.m16n8k16.f32.f16.f16.f32", 1, 4096, 4096, 10e9 / 3, 0),
    ("hopper/mma.m16n8k16.f32.f16.f16.f32", 2048, 2048, 2048, 0, 1e-3),
    ("hopper/mma.m16n8k16.f16.f16.f16.f16", 2048, 2048, 2048, 0, 0),
    ("hopper/wgmma.m64n8k8.f32.tf32.tf32", 1024, 1024, 1024, 1e9, 0),
    ("hopper/wgmma.m64n8k32.f32.e4m3.e4m3", 2048, 2048, 2048, 1e9, 0),
    ("hopper/wgmma.m64n8k32.f32.e5m2.e5m2", 2048, 2048, 2048, 1e9, 0),
    ("hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32", 1024, 1024, 1024, 0, 0),
    ("blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e4m3", 2048, 2048, 2048, 1e9, 0),
    ("blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0", 1024, 1024, 1024, 2e8, 0),
    ("blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0", 1024, 1024, 1024, 2e8, 0),
    ("blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", 1024, 1024, 1024, 2e8, 0),
    ("cdna1/v_mfma_f32_32x32x8f16", 512, 512, 512, 3e8, 0),
    ("cdna1/v_mfma_f32_32x32x2f32", 512, 512, 512, 3e8, 0),
    ("cdna2/v_mfma_f32_32x32x8f16", 1024, 1024, 1024, 1e9, 0),
    ("cdna3/v_mfma_f32_32x32x8_f16", 1024, 1024, 1024, 2e8, 0),
    ("cdna3/v_mfma_f32_32x32x8_bf16", 1024, 1024, 1024, 2e8, 0),
    ("cdna3/v_mfma_f32_16x16x8_xf32", 1024, 1024, 1024, 2e8, 0),
    ("cdna3/v_mfma_f32_16x16x32_fp8_fp8", 1024, 1024, 1024, 2e8, 0),
    ("x86/vdpbf16ps", 512, 512, 512, 2e9, 0),
    ("arm/bfdot.ebf1", 512, 512, 512, 2e9, 0),
    ("x86/tdpbhf8ps", 512, 512, 512, 1e9, 0),
    ("x86/vfmadd132ph", 512, 512, 512, 1e9, 0),
    ("x86/vfmaddcph.re", 512, 512, 512, 1e9, 0),
    ("wormhole/MVMUL.bf16.fp32", 512, 512, 512, 1e9, 0),
    ("blackhole/MVMUL.bf16.fp32", 512, 512, 512, 1e9, 0),
    ("cute/BF16BF16F32", 512, 512, 512, 1e9, 0),
    ("cute/Mxfp8e4m3F32", 512, 512, 512, 1e9, 0),
    ("rdna3/v_wmma_f32_16x16x16_bf16", 512, 512, 512, 1e9, 0),
    ("rdna4/v_dot2_f32_f16", 512, 512, 512, 1e9, 0),
    ("rdna4/v_dot2_bf16_bf16", 512, 512, 512, 1e9, 0),
    ("rdna4/v_dot2_f16_f16", 512, 512, 512, 1e9, 0),
    ("rdna4/v_dot4_f32_fp8_fp8", 512, 512, 512, 1e9, 0),
    ("cvfpu/fpnew_sdotp_multi.fp16.e5m2", 512, 512, 512, 1e9, 0),
    ("vortex/VX_tcu_fedp_tfr.bf16", 512, 512, 512, 1e9, 0),
    ("vortex/VX_tcu_fedp_dpi.bf16", 512, 512, 512, 1e9, 0),
    ("riscv/vfwbdot.vv.vlen128", 512, 512, 512, 1e9, 0),
    ("gaudi/mme.bf16.cd8", 512, 512, 512, 0, 0),
    ("gaudi2/mme.bf16", 512, 512, 512, 0, 0),
    ("nvdla/cmac.fp16", 256, 256, 256, 0, 0),
    ("hopper/wgmma.m64n8k32.s32.s8.s8", 2048, 2048, 2048, 20e9, 0),
    ("hopper/wgmma.m64n8k32.satfinite.s32.s8.s8", 2048, 2048, 2048, 20e9, 0),
    ("rdna3/v_wmma_i32_16x16x16_iu4.i4.i4.clamp", 2048, 2048, 2048, 20e9, 0),
    ("x86/vpdpbusds", 2048, 2048, 2048, 20e9, 0),
    ("x86/vpdpwssds", 2048, 2048, 2048, 20e9, 0),
    ("x86/vpdpwusds", 2048, 2048, 2048, 20e9, 0),
    ("x86/vpdpwuuds", 2048, 2048, 2048, 20e9, 0),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """What one row took."""

    #: Processor seconds of the first use of both kernels, and of reading them from the cache.
    compiled: float
    loaded: float
    #: Seconds of the product: by the clock, and of all threads' processors.
    wall: float
    cpu: float
    #: Instructions for each multiply–add in the innermost loop, and how many one core issues in a second.
    instructions: float
    rate: float
    #: Bytes beyond the operands at the highest point, the result included.
    memory: int


def measure(row: Row, threads: int, repetitions: int) -> Measured:
    """One row, in a process that has compiled nothing yet."""
    name, m, k, n, _, nans = row
    u = unit(name)
    rng = np.random.default_rng(1)
    a, b = normal(rng, (m, k), u.a_format), normal(rng, (k, n), u.b_format)
    # A c of any size is what makes sums of integers saturate.
    c = normal(rng, (m, n), u.c_format) if u.d_format.integer else None
    if nans:
        a = np.where(rng.random(a.shape) < nans, np.array(np.nan, a.dtype), a)
    scales: dict[str, Any] = {}
    if u.scale_format is not None and u.scale_block is not None:
        count = -(-k // u.scale_block)
        scales = {"scale_a": ones((m, count), u.scale_format), "scale_b": ones((count, n), u.scale_format)}
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        spent = []
        for _ in range(2):
            start = time.process_time()
            for side in "ab":
                gemm(u.spec, side).kernel("any")
            spent.append((time.process_time() - start) / 2)
            gemm.cache_clear()
        for side in "ab":
            gemm(u.spec, side)
    walls, cpus, memory = [], [], 0
    for _ in range(repetitions):
        before = _peak(reset=True)
        wall, cpu = time.monotonic(), time.process_time()
        d = u.matmul(a, b, c, threads=threads, progress=False, **scales)
        walls.append(time.monotonic() - wall)
        cpus.append(time.process_time() - cpu)
        memory = max(memory, _peak(reset=False) - before)
        del d
    kernels = gemm(u.spec, "a" if n >= min(m, LONG) else "b")
    return Measured(
        spent[0], spent[1], min(walls), min(cpus),
        instructions_per_multiply_add(kernels), issue_rate(), memory,
    )  # fmt: skip


def normal(rng: np.random.Generator, shape: tuple[int, int], fmt: Format) -> Any:
    """Normally distributed values of a format; any number of one of integers."""
    dtype = dtypes()[fmt.name]
    if fmt.integer:
        return rng.integers(0, 1 << fmt.width, shape, np.uint64).astype(f"u{dtype.itemsize}").view(dtype)
    return rng.standard_normal(shape, dtype=np.float32).astype(dtype)


def ones(shape: tuple[int, int], fmt: Format) -> Any:
    """Scales of one."""
    dtype = dtypes()[fmt.name]
    return np.full(shape, fmt.one, f"u{dtype.itemsize}").view(dtype)


def _peak(*, reset: bool) -> int:
    """Bytes of memory in use at their highest; with `reset`, from now on."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM"):
            return 1024 * int(line.split()[1])
    return 0


@click.command()
@click.option("--repetitions", type=int, default=3, show_default=True)
@click.option("--threads", type=int, default=processors(), show_default=True)
@click.option("--only", default="", help="Only units whose name contains this text; the page is not written.")
def main(repetitions: int, threads: int, only: str) -> None:
    """Time matrix products of every kind of unit."""
    head = (
        "unit",
        ">M×K×N",
        ">10^9 MAC/s",
        ">per core",
        ">goal",
        ">per MAC",
        ">of bound",
        ">compile s",
        ">load s",
        ">MiB",
    )
    made = table(*head)
    busy = os.getloadavg()[0]
    lines = [
        "# Matrix products on compiled kernels",
        "",
        f"{date.today().isoformat()}, {platform.machine()}, {os.cpu_count()} cores, {processor()}, load "
        f"{busy:.1f} at the start; threads: {threads}, normally distributed operands (integers: uniform, c "
        f"too), the shortest of {repetitions}.",
        "",
        "MAC/s: multiply–adds of the whole call by the clock, decoding and padding included. Per core: by "
        "the time that the threads' processors were at work, which other programs disturb less. Goal: what "
        "was set for two cores. Compile, load: processor seconds for one orientation's two kernels, compiled "
        "and read from the cache. MiB: the highest point beyond the operands, the result included. "
        "Instructions: of the innermost loop of the emitted code for finite operands, for each multiply–add. "
        "Of bound: what a core reached of the multiply–adds that those instructions allow at the rate at "
        "which it issues operations on its widest registers (measured beside each row, by a loop of "
        "independent additions and exclusive ors).",
        "",
        "| unit | M×K×N | 10^9 MAC/s | per core | goal | instructions | of bound | compile s | load s "
        "| MiB |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    chosen = [row for row in ROWS if only in row[0]]
    context = multiprocessing.get_context("spawn")
    for row in track(chosen, description="multiplying", console=Console(stderr=True)):
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            x = pool.submit(measure, row, threads, repetitions).result()
        cells = _cells(row, x)
        made.add_row(*cells)
        lines.append(f"| {' | '.join(cells)} |")
    Console(width=140).print(made)
    if not only:
        PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _cells(row: Row, x: Measured) -> tuple[str, ...]:
    name, m, k, n, goal, nans = row
    macs = m * k * n / 1e9
    return (
        name + (f", {nans:.1%} NaN" if nans else ""),
        f"{m}×{k}×{n}",
        f"{macs / x.wall:.2f}",
        f"{macs / x.cpu:.2f}",
        f"{goal / 1e9:.1f}" if goal else "",
        f"{x.instructions:.2f}",
        f"{macs * 1e9 / x.cpu * x.instructions / x.rate:.0%}",
        f"{x.compiled:.1f}",
        f"{x.loaded:.2f}",
        f"{x.memory / 2**20:.0f}",
    )


if __name__ == "__main__":
    main()
