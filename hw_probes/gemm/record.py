"""Record what cuBLASLt, PyTorch and Triton compute for matrix products: `record.py FOLDER [SECONDS]`.

Needs PyTorch with a GPU, cuBLAS's headers, and Triton for its part; takes the parts in turn and stops
when its time is up.  Each file is lines of JSON; `inputs.py` makes the operands again from each line.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from cublaslt import FIELDS, CublasLt
from inputs import digest, sample
from problems import layers, problems
from tensors import kernels_of, machine, raw, tensor

Write = Callable[..., None]
#: Formats and precisions for Triton; blocks of M, N, K, imprecise accumulation, and warps.
_PRECISIONS = [
    ("fp16", "tf32"), ("fp32", "tf32x3"), ("fp32", "tf32"), ("fp32", "ieee"), ("fp32", "bf16x3"),
    ("fp32", "bf16x6"), ("bf16", "tf32"), ("e4m3", "tf32"), ("e5m2", "tf32"),
]  # fmt: skip
_BLOCKS: list[tuple[tuple[int, int, int], int | None, int]] = [
    ((64, 64, 32), None, 4), ((128, 128, 64), None, 4), ((64, 32, 64), None, 4), ((16, 16, 32), None, 1),
    ((64, 64, 128), 0, 4), ((64, 64, 128), 32, 4), ((64, 64, 128), 64, 4),
]  # fmt: skip
_NAMED = 2600  # algorithms whose kernels are looked up


def _cublaslt(write: Write, late: Callable[[], bool]) -> None:
    library = CublasLt()
    write(kind="cublaslt", version=library.version, fields=FIELDS, **machine())
    named: set[str] = set()
    for p in problems():
        if late():
            return
        results: dict[str, dict[str, Any]] = {}
        for fields, call in library.algorithms(p):
            status, d = call()
            if status:
                continue
            words = raw(d.transpose(-1, -2)).reshape(-1, p["n"])
            known = {"sha256": digest(words), "sample": sample(words), "algos": []}
            results.setdefault(known["sha256"], known)["algos"].append(fields)
            kind = {name: p.get(name) for name in ("a", "b", "d", "compute", "fast")}
            key = json.dumps([fields, kind])
            if key not in named and len(named) < _NAMED:
                named.add(key)
                write(kind="kernel", fields=fields, **kind, names=kernels_of(call))
        write(kind="product", **p, results=list(results.values()))


def _torch(write: Write, late: Callable[[], bool]) -> None:
    write(kind="torch", **machine())
    for m, n, what, k in layers():
        if late():
            return
        fmt = what.split()[0]
        a, b = tensor(fmt, "a", m, k), tensor(fmt, "b", n, k)
        torch.backends.cuda.matmul.allow_tf32 = what == "tf32"

        def call(what: str = what, fmt: str = fmt, a: Any = a, b: Any = b, n: int = n) -> Any:
            if fmt == "e4m3":
                one = torch.ones((), device="cuda")
                fast = what.endswith("fast")
                kind = torch.bfloat16
                return torch._scaled_mm(a, b.t(), one, one, out_dtype=kind, use_fast_accum=fast)
            if what.endswith("linear"):
                return torch.nn.functional.linear(a, b, tensor(fmt, "b", 32, n)[20].contiguous())
            return a @ b.t()

        d = raw(call())
        made = {"sha256": digest(d), "sample": sample(d), "kernels": kernels_of(call)}
        write(kind="product", what=what, m=m, n=n, k=k, **made)


def _triton(write: Write, late: Callable[[], bool]) -> None:
    import triton
    from triton_kernel import product

    write(kind="triton", version=triton.__version__, **machine())
    for fmt, precision in _PRECISIONS:
        for block, imprecise, warps in _BLOCKS:
            if imprecise is not None and not fmt.startswith("e"):
                continue
            for k in (32, 64, 128, 192, 256, 512, 1024, 4096):
                if late():
                    return
                if k % block[2]:
                    continue
                a, b = tensor(fmt, "a", 128, k), tensor(fmt, "b", 128, k)
                d, ptx = product(a, b, block, precision, imprecise, warps)
                used = sorted(set(re.findall(r"(?:wgmma\.mma_async|mma)\.sync\.aligned\.[\w.]+", ptx)))
                write(
                    kind="product", a=fmt, precision=precision, block=block, imprecise=imprecise, warps=warps,
                    m=128, n=128, k=k, sha256=digest(raw(d)), sample=sample(raw(d)), instructions=used,
                )  # fmt: skip


_PARTS = (("triton", _triton, 1 / 3), ("torch", _torch, 2 / 3), ("cublaslt", _cublaslt, 1.0))


def main(folder: str, seconds: str = "300") -> None:
    """Record the three parts; Triton and PyTorch may take a third of the time each."""
    start, limit = time.monotonic(), float(seconds)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, part, share in _PARTS:
        with (Path(folder) / f"{name}.jsonl").open("w") as file:
            part(
                lambda file=file, **line: print(json.dumps(line), file=file, flush=True),
                lambda share=share: time.monotonic() - start > share * limit,
            )
        sys.stdout.write(f"{name}: {time.monotonic() - start:.0f} s\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
