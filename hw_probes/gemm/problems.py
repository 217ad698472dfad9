"""Which products are recorded: formats, shapes, layouts, scales and what is added."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

#: K: multiples of 16, and others.
EVEN = [
    16, 32, 48, 64, 80, 96, 128, 144, 192, 256, 272, 320, 384, 512, 528, 640, 768, 1008, 1024, 1040, 1536,
    2048, 2064, 3072, 4096, 4112, 6144, 8192, 8208, 12288, 16384, 32768,
]  # fmt: skip
ODD = [
    1, 2, 4, 7, 8, 15, 24, 33, 40, 56, 72, 100, 104, 136, 200, 264, 333, 520, 1000, 1001, 1023, 1025, 2056,
    4095, 4104, 8200, 10000,
]  # fmt: skip

#: Formats of A, B and D, cuBLAS's computation, and fast accumulation where it is a choice.
COMBINATIONS: list[tuple[str, str, str, str, int | None]] = [
    ("fp16", "fp16", "fp32", "32F", None), ("bf16", "bf16", "bf16", "32F", None),
    ("e4m3", "e4m3", "bf16", "32F", 0), ("e4m3", "e4m3", "bf16", "32F", 1),
    ("tf32", "tf32", "fp32", "32F_FAST_TF32", None), ("fp16", "fp16", "fp16", "32F", None),
    ("bf16", "bf16", "fp32", "32F", None), ("fp16", "fp16", "fp16", "16F", None),
    ("fp32", "fp32", "fp32", "32F", None), ("fp64", "fp64", "fp64", "64F", None),
    ("e4m3", "e4m3", "fp32", "32F", 0), ("e5m2", "e4m3", "fp16", "32F", 0),
    ("e4m3", "e4m3", "fp32", "32F", 1), ("fp32", "fp32", "fp32", "32F_FAST_16BF", None),
    ("fp32", "fp32", "fp32", "32F_FAST_16F", None), ("e4m3", "e5m2", "bf16", "32F", 1),
    ("fp16", "fp16", "fp32", "32F_PEDANTIC", None), ("fp32", "fp32", "fp32", "32F_PEDANTIC", None),
    ("fp32", "fp32", "fp32", "32F_EMULATED_16BFX9", None),
    ("fp64", "fp64", "fp64", "64F_EMULATED_FIXEDPOINT", None),
]  # fmt: skip
#: The combinations whose layouts, scales and sums are varied.
VARIED = COMBINATIONS[:10]
SHAPES = [(128, 128), (64, 64), (512, 256), (16, 2048)]

#: Scans for the order of a sum: K, shapes, and the combinations that are scanned.
SCANNED_K = (128, 1024, 4096, 64, 512, 256, 4112, 1040, 1000, 200, 72)
SCANNED_SHAPES = [(128, 128), (256, 256), (512, 256), (64, 64), (16, 2048)]
SCANNED: list[tuple[str, str, str, str, int | None]] = [
    ("fp16", "fp16", "fp32", "32F", None), ("bf16", "bf16", "fp32", "32F", None),
    ("e4m3", "e4m3", "fp32", "32F", 0), ("e4m3", "e4m3", "fp32", "32F", 1),
    ("tf32", "tf32", "fp32", "32F_FAST_TF32", None), ("fp32", "fp32", "fp32", "32F", None),
    ("fp64", "fp64", "fp64", "64F", None), ("fp16", "fp16", "fp16", "32F", None),
    ("bf16", "bf16", "bf16", "32F", None), ("fp16", "fp16", "fp16", "16F", None),
    ("e4m3", "e4m3", "bf16", "32F", 0), ("e4m3", "e4m3", "bf16", "32F", 1),
    ("fp32", "fp32", "fp32", "32F_FAST_16BF", None),
]  # fmt: skip

Problem = dict[str, Any]


def _formats(of: tuple[str, str, str, str, int | None]) -> Problem:
    a, b, d, compute, fast = of
    return {"a": a, "b": b, "d": d, "compute": compute, **({} if fast is None else {"fast": fast})}


def problems() -> Iterator[Problem]:
    """Every product for cuBLASLt, the most telling first."""
    for combination in VARIED:
        yield from _varied(_formats(combination))
    for m, n in SHAPES:
        for ks in (EVEN, ODD):
            for combination in COMBINATIONS:
                if combination[0].startswith("e") and ks is ODD:
                    continue  # cuBLAS takes 8-bit operands in multiples of 16 only
                for k in ks:
                    if k <= 8192 or m * n <= 20_000:
                        yield {"m": m, "n": n, "k": k, **_formats(combination)}


def _varied(p: Problem) -> Iterator[Problem]:
    eight = p["a"].startswith("e")
    for k in (16, 64, 208, 256, 1024, 4112, 8192):
        one = {"m": 128, "n": 128, "k": k, **p}
        yield {**one, "batch": 3}
        yield {**one, "alpha": 0.75}
        yield {**one, "alpha": 0.7, "beta": 0.3}
        yield {**one, "alpha": 1, "beta": 0.5}
        yield {**one, "alpha": 1, "beta": 1}
        yield {**one, "bias": 1}
        yield {**one, "bias": 1, "alpha": 0.7, "beta": 0.3}
        if eight:
            for x, y in ((2.0, 0.25), (1.5, 1.0), (0.37, 1.7)):
                yield {**one, "scales": {"A": x, "B": y}}
            yield {**one, "scales": {"A": 0.37, "B": 1.7}, "alpha": 0.7, "bias": 1}
        else:
            yield from ({**one, "trans": trans} for trans in ("NN", "NT", "TT"))
    for m, n in ((1024, 1024), (4096, 64), (32, 32), (256, 2048), (1, 256), (256, 1), (8, 8)):
        for k in (16, 64, 72, 200, 256, 1000, 1024, 4096, 4112):
            if (m * n <= 400_000 or k <= 1100) and not (eight and (k % 16 or m % 16 or n % 16)):
                yield {"m": m, "n": n, "k": k, **p}
    if not eight:
        for m, n in ((100, 60), (33, 17), (127, 129)):
            yield from ({"m": m, "n": n, "k": k, **p} for k in (64, 100, 333, 1024, 4095))


def _scans_of(p: Problem) -> list[str]:
    """The scans that a product's formats allow: counts of K want 24 bits, and masks a wide range of A."""
    wide = p["d"] in ("fp32", "fp64") and not p["a"].startswith("e")
    return ["sets", "pairs", "with c"] if wide else ["sets", "with c"]


def scans() -> Iterator[Problem]:
    """Every scan for cuBLASLt, the most telling first."""
    for m, n in SCANNED_SHAPES:
        for scan in ("sets", "pairs", "with c"):
            for k in SCANNED_K:
                for combination in SCANNED:
                    p = {"scan": scan, "m": m, "n": n, "k": k, **_formats(combination)}
                    if scan in _scans_of(p) and not (p["a"].startswith("e") and k % 16):
                        yield p | ({"alpha": 1, "beta": 1} if scan == "with c" else {})


def torch_scans() -> Iterator[Problem]:
    """Every scan for PyTorch: `what` is summed how, `op` the function."""
    every = (
        ("fp16", "fp16 reduced"), ("fp16", "fp16"), ("bf16", "bf16 reduced"), ("bf16", "bf16"),
        ("tf32", "tf32"), ("fp32", "fp32"), ("fp64", "fp64"), ("e4m3", "e4m3"), ("e4m3", "e4m3 fast"),
    )  # fmt: skip
    for m, n in SCANNED_SHAPES:
        for k in SCANNED_K:
            for fmt, what in every:
                d = {"e4m3": "bf16", "tf32": "fp32"}.get(fmt, fmt)
                p = {"m": m, "n": n, "k": k, "a": fmt, "b": fmt, "d": d, "what": what}
                if fmt == "e4m3":
                    if k % 16 == 0:
                        yield {"scan": "sets", "op": "_scaled_mm", **p}
                    continue
                for scan in _scans_of(p):
                    ops = ("addmm", "baddbmm") if scan == "with c" else ("matmul", "bmm")
                    yield from ({"scan": scan, "op": op, **p} for op in ops)


#: Kinds of scales of A and of B: `scales` of inputs.py.
SCALED = (
    ("rows", "rows"), ("1x128", "128x128"), ("1x128", "1x128"), ("128x128", "1x128"), ("tensor", "tensor"),
)  # fmt: skip


def scaled(most: int) -> Iterator[Problem]:
    """Products and scans of 8-bit operands with scales, the most telling first; `most`: the largest M·N·K."""
    shapes = ((128, 128), (64, 64), (256, 512), (16, 2048), (7, 256), (1, 1024), (77, 4096), (1024, 1024))
    formats = (("e4m3", "e4m3"), ("e4m3", "e5m2"))
    for m, n in shapes:
        for k in (512, 1024, 128, 4096, 640, 528, 1040, 2064, 144, 16, 7168, 16384):
            for a, b in formats[: 2 if (m, n, k) in ((128, 128, 512), (128, 128, 1040)) else 1]:
                for kinds in SCALED:
                    for d in ("bf16", "fp32", "fp16", "e4m3"):
                        for fast in (0, 1):
                            block = "x" in kinds[0]
                            if m * n * k > most or (fast and block) or (d == "e4m3" and kinds[0] != "tensor"):
                                continue
                            p = {"m": m, "n": n, "k": k, "a": a, "b": b, "d": d, "fast": fast}
                            yield {**p, "scaled": list(kinds)}
                            if d == "bf16" and k in (512, 1040):
                                yield {**p, "scaled": list(kinds), "bias": 1}
                            scans = a == b and m >= 64 and d in ("bf16", "fp32")
                            if scans and k in (512, 1024, 4096, 640):
                                yield {**p, "scan": "sets", "scaled": list(kinds), "ones": 1}
                                yield {**p, "scan": "sets", "scaled": list(kinds)}


def row_scans() -> Iterator[Problem]:
    """Scans of products of few rows or columns for PyTorch: `op` the function, `order` B's layout."""
    formats = (("bf16", "bf16"), ("fp16", "fp16"), ("fp32", "fp32"), ("fp64", "fp64"), ("tf32", "tf32"))
    for ks in ((4096, 1024, 64), (128, 333, 2048, 100, 8), (768, 11008, 256, 1000, 4095, 16, 3072)):
        for m in (1, 2, 8, 4, 5, 3, 16):
            for k in ks:
                for fmt, what in formats:
                    p = {"m": m, "k": k, "a": fmt, "b": fmt, "d": "fp32" if fmt == "tf32" else fmt}
                    p |= {"n": 4096 if k <= 4096 else 1024, "tall": "b", "what": what}
                    for scan in ("rows", "row pairs"):
                        for order in ("TN", "NN"):
                            yield {"scan": scan, "op": "matmul", "order": order, **p}
                        if m == 1:
                            other = {**p, "m": p["n"], "n": 1, "tall": "a"}
                            yield {"scan": scan, "op": "mv", "order": "TN", **other}
                            yield {"scan": scan, "op": "matmul", "order": "TN", **other}
                        if k <= 4096 and m in (1, 8):
                            few = {**p, "n": 64 if k > 128 else 512, "batch": 8}
                            yield {"scan": scan, "op": "bmm", "order": "TN", **few}
                            yield {"scan": scan, "op": "bmm", "order": "NN", **few}


def rest() -> Iterator[Problem]:
    """Scans for cuBLASLt of what no recipe gives: few rows or columns, and K that no tile divides."""
    thin = [x for x in SCANNED if not x[0].startswith("e") and x[3] != "32F_FAST_16BF"]
    for k in (1024, 333, 4096, 100, 16, 2056):
        for m, n, tall in ((4096, 1, "a"), (1, 4096, "b"), (1024, 8, "a"), (8, 1024, "b"), (256, 16, "a")):
            for combination in thin:
                for scan in ("rows", "row pairs"):
                    yield {"scan": scan, "m": m, "n": n, "k": k, "tall": tall, **_formats(combination)}
    odd = [x for x in thin if x[0] in ("fp16", "bf16")]
    odd += [("fp16", "fp16", "fp32", "32F_PEDANTIC", None), ("fp32", "fp32", "fp32", "32F_PEDANTIC", None)]
    for m, n in ((128, 128), (64, 64)):
        for k in (1001, 333, 100, 1025, 264, 4095, 72, 15):
            for combination in odd:
                yield {"scan": "sets", "m": m, "n": n, "k": k, **_formats(combination)}
    for m, n in ((128, 128), (1024, 1024)):
        for k in (1024, 4096, 1000):
            for combination in thin:
                p = {"m": m, "n": n, "k": k, **_formats(combination)}
                yield {"scan": "sets", **p, "trans": "NN"}
                yield {"scan": "sets", **p, "alpha": 0.5}


def streams() -> Iterator[Problem]:
    """Scans for cuBLASLt's stream-K, on tiles of D that workers do not share evenly."""
    kinds: list[tuple[str, str, str, str, int | None]] = [
        ("tf32", "tf32", "fp32", "32F_FAST_TF32", None), ("fp16", "fp16", "fp16", "16F", None),
    ]  # fmt: skip
    for k in (4096, 1024, 8192, 1000, 4112):
        for m, n in ((512, 256), (256, 256), (640, 384), (128, 128), (768, 512)):
            for combination in kinds:
                p = {"m": m, "n": n, "k": k, **_formats(combination)}
                yield from ({"scan": scan, **p} for scan in _scans_of(p) if scan != "with c")


def batches() -> Iterator[Problem]:
    """Products of which the first 1 to M rows are asked for alone: layers of models, then smaller ones."""
    for n, k in ((4096, 4096), (1024, 4096), (4096, 11008), (3072, 768), (768, 3072), (512, 1000)):
        for what in ("bf16", "fp16", "tf32", "fp32"):
            d = "fp32" if what == "tf32" else what
            yield {"m": 64, "n": n, "k": k, "a": what, "b": what, "d": d, "what": what}


def attentions() -> Iterator[Problem]:
    """Attention: `scan` of the sum over keys (`rows`) or of that over a head (`logits`), or random numbers.

    M queries, `keys`, N = `heads`·`wide` columns of V, K as the scan needs it.
    """
    for wide in (64, 128):
        for queries, keys, heads, causal in (
            (1, 4096, 8, 0), (128, 1024, 8, 0), (64, 128, 32, 0), (1, 1024, 32, 0), (128, 128, 16, 1),
            (1, 16384, 4, 0), (512, 512, 16, 0), (16, 256, 64, 0), (1024, 2048, 8, 0), (256, 256, 2, 1),
        ):  # fmt: skip
            p = {"m": queries, "n": heads * wide, "keys": keys, "heads": heads, "wide": wide}
            p |= {"causal": causal}
            yield {**p, "scan": "rows", "k": keys, "tall": "b", "a": "bf16", "b": "bf16", "d": "bf16"}
            if heads == 8:
                yield {**p, "scan": "rows", "k": keys, "tall": "b", "a": "fp32", "b": "fp32", "d": "fp32"}
        for queries in (1, 64, 128):
            p = {"m": queries, "n": 4096, "k": wide, "keys": 2, "heads": 4096, "wide": wide, "causal": 0}
            yield {**p, "scan": "logits", "tall": "b", "a": "bf16", "b": "bf16", "d": "bf16"}
        for fmt in ("bf16", "fp16", "fp32"):
            for queries, keys, causal in (
                (16, 16, 0), (64, 64, 0), (1, 64, 0), (1, 300, 0), (64, 128, 0), (128, 256, 0), (64, 64, 1),
                (100, 100, 1), (1, 2048, 0), (128, 77, 0),
            ):  # fmt: skip
                p = {"m": queries, "n": 2 * wide, "k": wide, "keys": keys, "heads": 2, "wide": wide}
                yield {**p, "causal": causal, "a": fmt, "b": fmt, "d": fmt}


def layers() -> Iterator[tuple[int, int, str, int]]:
    """M, N, what and K of the products that PyTorch is asked for: layers of models, then other shapes."""
    every = ("fp16", "bf16", "tf32", "fp32", "fp64", "e4m3 fast", "e4m3", "fp16 linear", "bf16 linear")
    for n, k in ((768, 768), (3072, 768), (768, 3072), (4096, 4096), (1024, 4096), (4096, 11008)):
        for m in (1, 7, 32, 128, 512):
            if m * n * k < 9e9:
                yield from ((m, n, what, k) for what in every if what != "fp64")
    for m, n in ((128, 128), (1, 512), (8, 1024), (512, 512), (2048, 256)):
        for what in every:
            for k in [*EVEN, *([] if what.startswith("e") else ODD)]:
                if k <= 8192 or m * n <= 20_000:
                    yield m, n, what, k
