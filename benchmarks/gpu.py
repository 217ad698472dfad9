"""Matrix products on a GPU: what compilers make of the kernels, multiply–adds per second, and equal bits.

    python -m benchmarks.gpu --device cuda:0 --out FOLDER     # measures, into FOLDER/gpu.jsonl
    python -m benchmarks.gpu --page FOLDER/gpu.jsonl          # writes benchmarks/gpu.md from that file
    python -m benchmarks.gpu --again FOLDER/gpu.jsonl         # the same products on this processor

Operands are normally distributed.  Each line stands on disk before the next measurement.  The operands are
on the GPU and decoded before the clock starts; each product is launched until half a second has gone by.
At least 10^6 results of every product are compared with the kernels of the processor, bit for bit.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import re
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import numpy as np

from tcformal.errors import TcformalError
from tcformal.simulation.arrays import dtypes, to_raw
from tcformal.simulation.card import Card, named
from tcformal.simulation.compiled import dot_call, gemm
from tcformal.simulation.compilers import compiler, run_tool, tool
from tcformal.simulation.kernels.gemm import MatrixWords
from tcformal.simulation.kernels.gpu_gemm import GpuGemm, Placed
from tcformal.simulation.kernels.threads import Words, Work, processors
from tcformal.simulation.matrix_unit import spec_of

PAGE = Path(__file__).resolve().parent / "gpu.md"
UNITS = (
    "hopper/mma.m16n8k16.f32.f16.f16.f32",
    "hopper/wgmma.m64n8k16.f32.bf16.bf16",
    "hopper/wgmma.m64n8k32.f32.e4m3.e4m3",
    "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "cdna3/v_mfma_f32_32x32x8_f16",
)
#: Rows of a thread that are tried, on the smallest size.
_ROWS = (8, 4, 16)
#: Results that are compared at least, and seconds for which a product is launched.
_COMPARED, _SECONDS = 1 << 20, 0.5
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?[A-Z][A-Z0-9_.a-z]*")


def operands(name: str, size: int, *, special: bool = False) -> MatrixWords:
    """A, B and no C of `size`³, normally distributed; `special`: any encodings, NaN and Inf among them."""
    spec, rng = spec_of(name), np.random.default_rng(1)
    raw = []
    for fmt in (spec.a_format, spec.b_format):
        if special:
            drawn = rng.integers(0, 1 << fmt.width, (size, size), dtype=np.uint64)
            raw.append(drawn.astype(f"u{fmt.storage_bits // 8}"))
        else:
            values = rng.standard_normal((size, size), dtype=np.float32)
            raw.append(to_raw("an operand", values.astype(dtypes()[fmt.name]), fmt))
    return MatrixWords(raw[0], raw[1])


def compiled(made: GpuGemm) -> dict[str, Any]:
    """Registers, spills and instructions of the product's kernel, as the tools of CUDA's toolkit say them."""
    text, cubin = made.program("finite")
    target = "sm_{}{}".format(*made.card.capability)
    found: dict[str, Any] = {"target": target, "rows_of_thread": text.rows, "compiler": compiler().version}
    found["macs"] = made.step.k * text.rows
    disassembler = tool("nvdisasm")
    if disassembler is not None:
        code = run_tool([disassembler, "-c", str(cubin)], "disassemble the kernels")
        parts = re.split(r"\.text\.(\w+):", code)
        functions = dict(zip(parts[1::2], parts[2::2], strict=False))
        found["instructions"] = len(_INSTRUCTION.findall(functions["multiply"]))
    nvcc = tool("nvcc")
    if nvcc is None:
        return found
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "kernels.cu"
        source.write_text(text.text, encoding="utf-8")
        words = [nvcc, "-cubin", f"-arch={target}", "-O3", "-std=c++17", "-Xptxas", "-v", str(source)]
        made_of = ["sh", "-c", '"$@" 2>&1', "sh", *words, "-o", f"{source}.cubin"]
        said = run_tool(made_of, "build the kernels").partition("entry function 'multiply'")[2]
    spilled, used = re.search(r"(\d+) bytes spill stores", said), re.search(r"Used (\d+) reg", said)
    found["ptxas"] = run_tool([nvcc, "--version"], "say its version").split()[-1]
    found["registers"] = int(used[1]) if used else None
    found["spilled_bytes"] = int(spilled[1]) if spilled else None
    return found


def seconds_of(made: GpuGemm, placed: Placed) -> float:
    """Seconds of one launch, between two moments at which the GPU has nothing left to do."""
    flag = made.card.put(np.zeros(1, np.uint32))
    for _ in range(2):
        made.launch(placed)
    made.card.get(flag, 4)
    launches, start = 0, time.monotonic()
    while time.monotonic() - start < _SECONDS:
        made.launch(placed)
        made.card.get(flag, 4)
        launches += 1
    spent = time.monotonic() - start
    made.card.free(flag)
    return spent / launches


def of_processor(name: str, x: MatrixWords, rows: int) -> Words:
    """The first rows of a product on the processor's kernels."""
    with Work(progress=False) as work:
        return gemm(spec_of(name), "a").multiply(MatrixWords(x.a[:rows], x.b), work)


def digest(d: Words) -> str:
    """SHA-256 of raw words, row by row."""
    return hashlib.sha256(np.ascontiguousarray(d).tobytes()).hexdigest()


def compare(name: str, x: MatrixWords, d: Words) -> dict[str, Any]:
    """Compare the first rows with the processor's; their digest is kept, for a processor elsewhere."""
    rows = min(len(d), -(-_COMPARED // d.shape[1]))
    found: dict[str, Any] = {"compared_rows": rows, "sha256": digest(d[:rows])}
    try:
        of_processor(name, x, 1)  # compiles
        start = time.monotonic()
        want = of_processor(name, x, rows)
    except Exception as error:  # noqa: BLE001  another release of LLVM may refuse the code
        return found | {"processor_error": f"{type(error).__name__}: {error}"[:200]}
    found |= {"processor_seconds": time.monotonic() - start, "compiled_before": True}
    found["compared"], found["different"] = int(want.size), int((d[:rows] != want).sum())
    return found


def again(file: Path) -> Iterator[str]:
    """The digests of a file computed again on this processor: a sentence for each."""
    for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        if "sha256" in line:
            x = operands(line["unit"], line["size"], special=line["kind"] == "special")
            same = digest(of_processor(line["unit"], x, line["compared_rows"])) == line["sha256"]
            yield f"{line['unit']}, {line['size']}: {'the same bits' if same else 'OTHER BITS'}"


def measured(name: str, card: Card, size: int, rows: int, *, check: bool) -> dict[str, Any]:
    """One product: time, and bits where `check`."""
    made, x = GpuGemm(dot_call(spec_of(name)), card, rows), operands(name, size)
    start = time.monotonic()
    made.program("finite")
    built = time.monotonic()
    placed = made.place(x)
    ready = time.monotonic()
    spent = seconds_of(made, placed)
    line = {"size": size, "rows_of_thread": rows, "build_seconds": round(built - start, 2),
            "place_seconds": round(ready - built, 3), "seconds": spent,
            "macs_per_second": size**3 / spent, "kernel": placed.which}  # fmt: skip
    if check:
        line |= compare(name, x, made.result(placed))
    made.free(placed)
    return line


class _Target:
    """What `Card.program` needs of a card: kernels are built without one."""

    program = Card.program

    def __init__(self, capability: tuple[int, int]) -> None:
        self.capability = capability


def build_ahead(job: tuple[str, int, str, tuple[int, int]]) -> None:
    """Build one kernel into the cache, in a process of its own."""
    name, rows, which, capability = job
    card: Any = _Target(capability)
    with suppress(TcformalError):  # what cannot be built says so where it is measured
        GpuGemm(dot_call(spec_of(name)), card, rows).program(which)


def lines_of(name: str, card: Card, sizes: list[int]) -> Iterator[dict[str, Any]]:
    """Everything about one unit."""
    best: dict[int, float] = {}
    for rows in _ROWS:
        line = measured(name, card, sizes[0], rows, check=False)
        best[rows] = line["seconds"]
        yield {"kind": "rows", **line}
    chosen = min(best, key=lambda rows: best[rows])
    made = GpuGemm(dot_call(spec_of(name)), card, chosen)
    if any(card.capability):
        yield {"kind": "compiled", **compiled(made)}
    for size in sizes:
        yield {"kind": "product", **measured(name, card, size, chosen, check=True)}
    # Operands of any encodings: the kernel that knows NaN and Inf.
    x = operands(name, 1024, special=True)
    placed = made.place(x)
    made.launch(placed)
    yield {"kind": "special", "size": 1024, "kernel": placed.which, **compare(name, x, made.result(placed))}
    made.free(placed)


def page_of(file: Path) -> str:
    """The page of a file of measurements."""
    head, *lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    made = [
        "# Matrix products on a GPU",
        "",
        f"{head['gpu']}, driver {head['driver']}, {head['library']}; compared with the compiled kernels of "
        f"{head['processors']} processors.",
        "",
        "MAC/s: multiply–adds of one launch by the clock, operands decoded on the GPU before.  Registers and "
        "spilled bytes: of the product's kernel, as ptxas says them.  Instructions: all of the kernel in its "
        "disassembly, loops once, by the multiply–adds of one step of a thread.  Processor: 10^9 MAC/s of "
        "its kernels on the results compared.  Different: results whose bits are not the processor's.",
        "",
        "| unit | M=N=K | rows | 10^9 MAC/s | processor | registers | spilled | instructions | compared "
        "| different |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    seen: set[str] = set()
    for x in (line for line in lines if line["kind"] in ("product", "special")):
        key = (x["unit"], x.get("rows_of_thread"))
        kernels = (y for y in lines if y["kind"] == "compiled")
        built: dict[str, Any] = next((y for y in kernels if (y["unit"], y["rows_of_thread"]) == key), {})
        each = f"{built['instructions'] / built['macs']:.1f}" if built.get("instructions") else ""
        # Where the time holds a compilation it says nothing of the kernels.
        warm = x.get("compiled_before") or (x["unit"] in seen and x["kind"] == "product")
        seconds = x.get("processor_seconds") if warm else None
        seen.add(x["unit"])
        processor = f"{x['compared'] * x['size'] / seconds / 1e9:.2f}" if seconds else ""
        cells = [
            x["unit"] + (", any encodings" if x["kind"] == "special" else ""), x["size"],
            x.get("rows_of_thread", ""),
            f"{x['macs_per_second'] / 1e9:.1f}" if "macs_per_second" in x else "", processor,
            built.get("registers", ""), built.get("spilled_bytes", ""), each, x.get("compared", 0),
            x.get("different", ""),
        ]  # fmt: skip
        made.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(made) + "\n"


@click.command()
@click.option("--device", default="cuda:0", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=Path("gpu-out"), show_default=True)
@click.option("--sizes", default="2048,4096", show_default=True, help="M = N = K.")
@click.option("--only", default="", help="Only units whose name contains this text.")
@click.option("--minutes", type=float, default=8.0, show_default=True, help="No unit is begun after that.")
@click.option("--page", type=click.Path(path_type=Path), help="Write the page of a file instead.")
@click.option(
    "--again", "kept", type=click.Path(path_type=Path), help="Compute a file's digests here instead."
)
def main(
    device: str, out: Path, sizes: str, only: str, minutes: float, page: Path | None, kept: Path | None
) -> None:
    """Measure matrix products on a GPU."""
    if page is not None:
        PAGE.write_text(page_of(page), encoding="utf-8")
        return
    if kept is not None:
        for sentence in again(kept):
            click.echo(sentence)
        return
    out.mkdir(parents=True, exist_ok=True)
    start, card = time.monotonic(), named(device)
    with (out / "gpu.jsonl").open("w", encoding="utf-8") as lines:

        def write(line: dict[str, Any]) -> None:
            text = json.dumps(line)
            click.echo(text)
            lines.write(text + "\n")
            lines.flush()

        write(
            {"gpu": card.name, "driver": card.driver(), "library": card.library, "processors": processors()}
        )
        units = [unit for unit in UNITS if only in unit]
        if any(card.capability):
            jobs = [
                *((name, rows, "finite", card.capability) for name in units for rows in _ROWS),
                *((name, rows, "any", card.capability) for name in units for rows in _ROWS),
            ]
            with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
                list(pool.map(build_ahead, jobs))
            write({"kind": "built", "kernels": len(jobs), "seconds": time.monotonic() - start})
        for name in units:
            if time.monotonic() - start > 60 * minutes:
                break
            try:
                for line in lines_of(name, card, [int(size) for size in sizes.split(",")]):
                    write({"unit": name, **line})
            except (TcformalError, RuntimeError, OSError, MemoryError) as error:
                write({"unit": name, "kind": "failed", "error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
