"""Scan the order in which libraries sum: `orders.py FOLDER SECONDS PART`.

PART: cublaslt, torch or triton; of cuBLASLt `rest`, what no recipe gives, and `streams`, its stream-K; of
PyTorch `rows`, products of few rows, and `batches`, of the first 1 to 64 rows of one operand; `scaled` and
`scaled-cublaslt`: 8-bit operands with scales, products too; `attention`: PyTorch's.
GEMM_DEVICE=cpu tries PyTorch's parts out without a GPU.

Each product holds a large number and its negative at places that differ from row to row and from column
to column, so that one call asks for many pairs of leaves of the tree of the sum: `inputs.py` says how, and
makes the operands again from a line.  Each result is kept whole, once in a file.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from attention import attention
from cublaslt import FIELDS, CublasLt
from inputs import Words, digest, packed, sample
from problems import Problem, batches, rest, row_scans, scaled, scans, streams, torch_scans
from tensors import TYPES, given, kernels_of, machine, raw, scale, tensor

#: Bytes of a file after which results are kept as digests only.
_LARGEST = 15 << 20
#: Failures in a row after which a part gives up: a GPU that has failed once may refuse everything.
_MOST_FAILURES = 20
_FAILED = re.compile(
    "CUDA error|CUBLAS_STATUS_(EXECUTION|INTERNAL|ALLOC)|gave status (3|13|14)$|out of memory"
)
_NAMED = 600  # algorithms whose kernels are looked up
#: Formats and precisions for Triton; blocks of M, N, K, imprecise accumulation, and warps.
_PRECISIONS = [
    ("fp16", "tf32"), ("fp32", "tf32x3"), ("fp32", "bf16x6"), ("fp32", "bf16x3"), ("fp32", "tf32"),
    ("e4m3", "tf32"), ("bf16", "tf32"), ("fp32", "ieee"),
]  # fmt: skip
_BLOCKS: list[tuple[tuple[int, int, int], int | None, int]] = [
    ((64, 64, 32), None, 4), ((64, 64, 128), 0, 4), ((64, 64, 128), 32, 4), ((128, 128, 64), None, 4),
    ((16, 16, 32), None, 1),
]  # fmt: skip


class Scans:
    """One file of scans: lines of JSON, each on disk before the next product."""

    def __init__(self, path: Path, seconds: float) -> None:
        self._file = path.open("w")
        self._end = time.monotonic() + seconds
        self._known: set[str] = set()
        self._failures = 0

    def late(self) -> bool:
        """Whether the time is up, or nothing works any more."""
        return time.monotonic() > self._end or self._failures >= _MOST_FAILURES

    def write(self, **line: Any) -> None:
        """One line."""
        print(json.dumps(line), file=self._file, flush=True)

    def keep(self, d: Words) -> str:
        """Write a result, unless the file has it; its digest."""
        name = digest(d)
        if name not in self._known and self._file.tell() < _LARGEST:
            self._known.add(name)
            self.write(kind="matrix", sha256=name, shape=d.shape, width=8 * d.itemsize, words=packed(d))
        return name

    def tried(self, p: Problem, run: Callable[[], None]) -> None:
        """Scan one problem; what fails is written down, and the next one is scanned."""
        try:
            run()
            self._failures = 0
        except Exception as error:  # noqa: BLE001  each library has errors of its own
            # A library that refuses what it does not have is well; a GPU that has failed is not.
            self._failures += bool(_FAILED.search(str(error)))
            self.write(kind="failed", **p, error=f"{type(error).__name__}: {error}"[:300])


#: The field of an algorithm that says in how many parts K is split, and what it says of stream-K.
_SPLITS, _STREAMED = FIELDS.index("SPLITK_NUM"), (1 << 32) - 1


def _cublaslt(out: Scans, problems: Iterable[Problem] | None = None, splits: int | None = None) -> None:
    library = CublasLt()
    out.write(kind="cublaslt", version=library.version, fields=FIELDS, **machine())
    named: set[str] = set()

    def scanned(p: Problem) -> None:
        results: dict[str, list[Any]] = {}
        samples: dict[str, dict[str, str]] = {}
        for fields, call in library.algorithms(p):
            if splits is not None and fields[_SPLITS] != splits:
                continue
            status, d = call()
            if status:
                continue
            words = raw(d.t())
            name = out.keep(words) if "scan" in p else digest(words)
            results.setdefault(name, []).append(fields)
            samples.setdefault(name, {} if "scan" in p else {"sample": sample(words)})
            kind = {name: p.get(name) for name in ("a", "b", "d", "compute", "fast")}
            kind |= {"scaled": p["scaled"]} if "scaled" in p else {}
            key = json.dumps([fields, kind])
            if key not in named and len(named) < _NAMED:
                named.add(key)
                out.write(kind="kernel", fields=fields, **kind, names=kernels_of(call))
        what = "scan" if "scan" in p else "product"
        made = [{"sha256": x, **samples[x], "algos": y} for x, y in results.items()]
        out.write(kind=what, **p, results=made)

    for p in scans() if problems is None else problems:
        if out.late():
            return
        out.tried(p, lambda p=p: scanned(p))


def _torch(out: Scans) -> None:
    out.write(kind="torch", **machine())
    settings = torch.backends.cuda.matmul

    def scanned(p: Problem) -> None:
        a, b, op, what = given(p, "a"), given(p, "b").t(), p["op"], p["what"]
        c = given(p, "c").t().contiguous() if p["scan"] == "with c" else None
        settings.allow_tf32 = what == "tf32"
        settings.allow_fp16_reduced_precision_reduction = what.endswith("reduced")
        settings.allow_bf16_reduced_precision_reduction = what.endswith("reduced")
        if op in ("bmm", "baddbmm"):
            a, b = (torch.stack([x, x]) for x in (a, b))
            c = None if c is None else torch.stack([c, c])
        one = torch.ones((), device="cuda")

        def call() -> Any:
            if op == "_scaled_mm":
                fast = what.endswith("fast")
                return torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16, use_fast_accum=fast)
            return getattr(torch, op)(*([] if c is None else [c]), a, b)

        d = call()
        results = [out.keep(raw(x)) for x in (d if d.dim() == 3 else [d])]
        out.write(kind="scan", **p, results=results, kernels=kernels_of(call))

    for p in torch_scans():
        if out.late():
            return
        out.tried(p, lambda p=p: scanned(p))


def _rest(out: Scans) -> None:
    _cublaslt(out, rest())


def _streams(out: Scans) -> None:
    _cublaslt(out, streams(), _STREAMED)


def _batches(out: Scans) -> None:
    out.write(kind="torch", **machine())

    def asked(p: Problem) -> None:
        a, b = given(p, "a"), given(p, "b").t()
        torch.backends.cuda.matmul.allow_tf32 = p["what"] == "tf32"
        whole = raw(a @ b)
        rows: list[list[Any]] = []
        kernels: dict[str, list[str]] = {}
        for m in range(1, p["m"] + 1):

            def call(m: int = m) -> Any:
                return a[:m] @ b

            words = raw(call())
            first = out.keep(words[:1])
            rows.append([first, int((words == whole[:m]).all(axis=1).sum())])
            if first not in kernels:
                kernels[first] = kernels_of(call)
        out.write(kind="batch", **p, rows=rows, kernels=kernels)

    for p in batches():
        if out.late():
            return
        out.tried(p, lambda p=p: asked(p))


def _scaled_cublaslt(out: Scans) -> None:
    _cublaslt(out, ({**p, "compute": "32F"} for p in scaled(1 << 28) if p["m"] % 16 == 0))


def _scaled(out: Scans) -> None:
    out.write(kind="torch", **machine())

    def asked(p: Problem) -> None:
        a, b, scales = given(p, "a"), given(p, "b").t(), (scale(p, "a"), scale(p, "b").t())
        more: dict[str, Any] = {"out_dtype": TYPES[p["d"]], "use_fast_accum": bool(p["fast"])}
        if p.get("bias"):
            more["bias"] = tensor(p["d"], "b", 64, p["n"])[40].contiguous()

        def call() -> Any:
            return torch._scaled_mm(a, b, *scales, **more)

        words = raw(call())
        if "scan" in p:
            out.write(kind="scan", **p, results=[out.keep(words)], kernels=kernels_of(call))
        else:
            made = {"sha256": digest(words), "sample": sample(words)}
            out.write(kind="product", **p, **made, kernels=kernels_of(call))

    for p in scaled(1 << 32):
        if out.late():
            return
        out.tried(p, lambda p=p: asked(p))


def _rows(out: Scans) -> None:
    out.write(kind="torch", **machine())

    def scanned(p: Problem) -> None:
        a, b, op = given(p, "a"), given(p, "b").t(), p["op"]
        if p["order"] == "NN":
            b = b.contiguous()
        if op == "bmm":
            a, b = (torch.stack([x] * p["batch"]) for x in (a, b))
            b = b if p["order"] == "NN" else b.mT.contiguous().mT
        torch.backends.cuda.matmul.allow_tf32 = p["what"] == "tf32"
        arguments = (a, b[:, 0].contiguous()) if op == "mv" else (a, b)

        def call() -> Any:
            return getattr(torch, op)(*arguments)

        d, names = call(), kernels_of(call)
        words = raw(d[0] if op == "bmm" else d.reshape(p["m"], p["n"]))
        known = bool(names) and all("nvjet" in x for x in names)  # a chain of wgmma: the digest is enough
        alike = bool((d == d[:1]).all()) if op == "bmm" else None
        made = digest(words) if known else out.keep(words)
        out.write(kind="scan", **p, results=[made], alike=alike, kernels=names)

    for p in row_scans():
        if out.late():
            return
        out.tried(p, lambda p=p: scanned(p))


def _triton(out: Scans) -> None:
    import triton
    from triton_kernel import product

    out.write(kind="triton", version=triton.__version__, **machine())

    def scanned(p: Problem) -> None:
        a, b = given(p, "a"), given(p, "b")
        d, ptx = product(a, b, p["block"], p["precision"], p["imprecise"], p["warps"])
        used = re.findall(r"(?:wgmma\.mma_async|mma)\.sync\.aligned\.[\w.]+", ptx)
        counted = {x: used.count(x) for x in sorted(set(used))}
        out.write(kind="scan", **p, results=[out.keep(raw(d))], instructions=counted)

    for fmt, precision in _PRECISIONS:
        for block, imprecise, warps in _BLOCKS:
            if imprecise is not None and fmt != "e4m3":
                continue
            for k in (128, 1024, 256, 4096):
                for scan in ("sets",) if fmt == "e4m3" else ("sets", "pairs"):
                    p: Problem = {
                        "scan": scan, "m": 128, "n": 128, "k": k, "a": fmt, "b": fmt, "d": "fp32",
                        "precision": precision, "block": block, "imprecise": imprecise, "warps": warps,
                    }  # fmt: skip
                    if out.late():
                        return
                    out.tried(p, lambda p=p: scanned(p))


_PARTS = {
    "cublaslt": _cublaslt, "torch": _torch, "triton": _triton, "rest": _rest, "rows": _rows,
    "streams": _streams, "batches": _batches,
    "scaled": _scaled, "scaled-cublaslt": _scaled_cublaslt, "attention": attention,
}  # fmt: skip


def main(folder: str, seconds: str, part: str) -> None:
    """Scan one library for so many seconds, into FOLDER/orders-PART.jsonl."""
    start = time.monotonic()
    Path(folder).mkdir(parents=True, exist_ok=True)
    out = Scans(Path(folder) / f"orders-{part}.jsonl", float(seconds))
    try:
        _PARTS[part](out)
    finally:
        sys.stdout.write(f"{part}: {time.monotonic() - start:.0f} s\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
