"""Every matrix product of a real language model on a GPU against what its recipe predicts on the CPU.

`model.py FOLDER SECONDS RXNMAPPER [DEVICE] [FORMATS]`: RXNMAPPER is the wheel of `rxnmapper` from PyPI, or a
folder that it was unpacked into, whose 12-layer ALBERT is run with its weights; DEVICE is cuda, or cpu to
try the program out; FORMATS are fp16,bf16,tf32,fp32 or some of them.  It needs PyTorch and transformers, and
a checkout of tcformal on PYTHONPATH with numpy, ml_dtypes and llvmlite; no network:

    PYTHONPATH=$PWD python hw_probes/gemm/model.py out 300 rxnmapper.whl

FOLDER/model.jsonl: a line on the machine, then one for every product: operator, shapes, layout, formats, the
kernels that were launched, the unit and the recipe that they lead to, how many elements that recipe gives
otherwise, and, where there are any, every unit and recipe tried that gives all of them.  Products that none
gives are kept as FOLDER/unexplained-*.npz with their operands, for `tcformal compare`.
"""

from __future__ import annotations

import json
import re
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from inputs import digest
from tensors import kernels_of, machine
from torch.utils._python_dispatch import TorchDispatchMode

import tcformal
from tcformal.errors import InputError
from tcformal.simulation.model_gemm import gemm
from tcformal.torch.context import TensorProduct, product_of
from tcformal.torch.tensors import array_of

#: Reactions of rxnmapper's own tests and of the patents that it was trained on.
_REACTIONS = (
    "CC(C)S.CN(C)C=O.Fc1cccnc1F.O=C([O-])[O-].[K+].[K+]>>CC(C)Sc1ncccc1F",
    "C1COCCO1.CC(C)(C)OC(=O)CONC(=O)NCc1cccc2ccccc12.Cl>>O=C(O)CONC(=O)NCc1cccc2ccccc12",
)
_SYMBOLS = re.compile(r"\[[^]]*]|Br|Cl|>>|%\d\d|@@|.")
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32, "fp32": torch.float32}
_WGMMA = {"fp16": "hopper/wgmma.m64n8k16.f32.f16.f16", "bf16": "hopper/wgmma.m64n8k16.f32.bf16.bf16"}
_MMA = {
    "fp16": "hopper/mma.m16n8k16.f32.f16.f16.f32", "bf16": "hopper/mma.m16n8k16.f32.bf16.bf16.f32",
    "tf32": "hopper/mma.m16n8k8.f32.tf32.tf32.f32",
}  # fmt: skip
_WGMMA_TF32 = "hopper/wgmma.m64n8k8.f32.tf32.tf32"
#: Instructions of older kernels, of half the k.
_HALF = {fmt: f"hopper/mma.m16n8k8.f32.{ptx}.{ptx}.f32" for fmt, ptx in (("fp16", "f16"), ("bf16", "bf16"))}
#: A chain of fused multiply–adds in fp32.
_FMA = "cdna1/v_mfma_f32_32x32x2f32"
_SPLITS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16)
#: Files of operands that are kept, and multiply–adds up to which one is searched for its recipe.
_KEPT, _SEARCHED = 12, 1 << 28


def _weights(path: str, folder: Path) -> Path:
    """The folder with ALBERT's weights."""
    root = Path(path)
    if root.is_file():
        root = folder / "rxnmapper"
        with zipfile.ZipFile(path) as wheel:
            wheel.extractall(root, [x for x in wheel.namelist() if "/models/" in x])
    return next(root.rglob("config.json")).parent


def _model(weights: Path, dtype: Any, device: str) -> Any:
    from transformers import AlbertForMaskedLM

    made = AlbertForMaskedLM.from_pretrained(weights, attn_implementation="eager")
    return made.eval().to(device=device, dtype=dtype)


def _tokens(weights: Path, text: str) -> list[int]:
    names = (weights / "vocab.txt").read_text().split("\n")
    known = {name: i for i, name in enumerate(names)}
    symbols = ["[CLS]", *_SYMBOLS.findall(text), "[SEP]"]
    return [known.get(x, known["[UNK]"]) for x in symbols]


def _candidates(fmt: str, kernels: Sequence[str], d: str) -> list[tuple[str, str]]:
    """Units and recipes that the names of kernels lead to, the likeliest first."""
    names = " ".join(kernels)
    parts = [f"splits={s}" for s in _SPLITS] if "splitk" in names.lower() else [""]
    tile = re.search(r"\d+x\d+_(\d+)x\d+|tilesize\d+x\d+x(\d+)", names)
    wide = next((int(x) for x in tile.groups() if x), 32) if tile else 32
    found: list[tuple[str, str, list[str]]] = []
    if "nvjet" in names and fmt in _WGMMA:
        found.append((_WGMMA[fmt], "cublaslt-66", []))
    if re.search("cutlass|xmma|gemm", names) and fmt in _MMA:
        unit = _HALF[fmt] if "1688" in names and fmt in _HALF else _MMA[fmt]
        found.append((unit, "cublaslt-21", [f"tile={wide}"]))
    if fmt == "fp32" or "ffma" in names:  # where tf32 is allowed, too, cuBLAS may take fused multiply–adds
        found += [(_FMA, "cublaslt-55", []), (_FMA, "cublaslt-20", [f"tile={wide}"])]
    default = _WGMMA.get(fmt) or _MMA.get(fmt, _FMA)
    found.append((default, "plain", ["c_place=epilogue"]))
    if fmt == "tf32":
        found.append((_WGMMA_TF32, "plain", ["c_place=epilogue"]))
    made = []
    for unit, name, fields in found:
        more = [*fields, *([f"output={d}"] if d != "fp32" else [])]
        for part in parts if name != "plain" and name != "cublaslt-55" else [""]:
            listed = ",".join([*more, *([part] if part else [])])
            # The operands are rounded to tf32 before, or their low bits are left out.
            if fmt == "tf32" and unit != _FMA:
                made.append((unit, f"{name}@{listed},operands=fp32" if listed else f"{name}@operands=fp32"))
            made.append((unit, f"{name}@{listed}" if listed else name))
    return made


class Comparison:
    """The products of one model in one format, each as it comes."""

    def __init__(self, folder: Path, limit: float) -> None:
        self.file = (folder / "model.jsonl").open("w")
        self.folder, self.limit = folder, limit
        self.seen: dict[Any, list[str]] = {}
        #: Of kinds of products that their kernels' names did not lead to: what gave the first of them.
        self.found: dict[Any, list[dict[str, str]]] = {}
        self.kept = 0
        self.totals: Counter[str] = Counter()

    def write(self, **line: Any) -> None:
        """One line."""
        print(json.dumps(line), file=self.file, flush=True)

    def compare(self, p: TensorProduct, d: Any, call: Any, where: dict[str, Any]) -> None:
        """Predict one product and write what was found."""
        fmt = where["format"]
        given = [None if x is None else array_of(x.cpu()) for x in (p.a, p.b, p.c, p.bias)]
        extras = {"alpha": p.alpha, "beta": p.beta}
        got = array_of(d.cpu()).reshape(*np.broadcast_shapes(p.a.shape[:-2], p.b.shape[:-2]), *_sides(p))
        words = got.view(f"u{got.itemsize}")
        key = (
            fmt,
            p.operator,
            *(None if x is None else (x.shape, x.stride()) for x in (p.a, p.b, p.c, p.bias)),
        )
        if key not in self.seen:
            self.seen[key] = kernels_of(call) if d.is_cuda else []
        kernels = self.seen[key]
        output = {"float16": "fp16", "bfloat16": "bf16"}.get(str(got.dtype), "fp32")
        line: dict[str, Any] = {
            **where, "operator": p.operator, "shape": list(got.shape), "k": p.a.shape[-1], "output": output,
            "stride_a": list(p.a.stride()), "stride_b": list(p.b.stride()), "bias": p.bias is not None,
            "c": p.c is not None, "alpha": p.alpha, "beta": p.beta, "kernels": kernels,
            "sha256": digest(words), "elements": int(words.size),
        }  # fmt: skip
        tried: list[dict[str, Any]] = []
        known = [(x["unit"], x["recipe"]) for x in self.found.get(key, [])]
        for unit, name in [*known, *_candidates(fmt, kernels, output)]:
            try:
                made = gemm(unit, name).matmul(*given[:3], bias=given[3], progress=False, **extras)
            except InputError as error:
                tried.append({"unit": unit, "recipe": name, "refused": str(error)})
                continue
            parted = int((made.view(words.dtype) != words).sum())
            tried.append({"unit": unit, "recipe": name, "differing": parted})
            if not parted:
                break
        best = min((x for x in tried if "differing" in x), key=lambda x: x["differing"], default={})
        line |= {**best, "tried": tried}
        if best.get("differing") != 0 and key not in self.found:
            self.found[key] = line["fits"] = self.searched(p, given, got, extras)
        fits = best.get("differing") == 0 or bool(line.get("fits"))
        self.totals[f"{fmt} {p.operator} {'given' if fits else 'not given'}"] += 1
        if not fits and self.kept < _KEPT:
            self.keep(given, got, extras, line)
        self.write(kind="product", **line)

    def searched(
        self, p: TensorProduct, given: Sequence[Any], got: Any, extras: Mapping[str, Any]
    ) -> list[dict[str, str]]:
        """Every unit and recipe tried that gives all elements, from the first matrix of a batch on."""
        if p.multiply_adds > _SEARCHED or time.monotonic() > self.limit:
            return []
        first = [
            None if x is None else np.broadcast_to(x, (*got.shape[:-2], *x.shape[-2:])) for x in given[:2]
        ]
        a, b = (x.reshape(-1, *x.shape[-2:])[0] for x in first)
        c, bias = (
            None if x is None else np.broadcast_to(x, got.shape).reshape(-1, *got.shape[-2:])[0]
            for x in given[2:]
        )
        found = []
        for one in tcformal.compare(
            got.reshape(-1, *_sides(p))[0], a=a, b=b, c=c, bias=bias, **extras
        ).expected:
            d = one.model.matmul(*given[:3], bias=given[3], progress=False, **extras)
            if (d.view(f"u{d.itemsize}") == got.view(f"u{got.itemsize}")).all():
                found.append({"unit": one.model.unit.name, "recipe": one.model.recipe.name})
        return found[:8]

    def keep(self, given: Sequence[Any], got: Any, extras: Mapping[str, Any], line: dict[str, Any]) -> None:
        """The operands and the result of a product, as `tcformal compare` reads them."""
        self.kept += 1
        named = {"expected": got, **dict(zip(("a", "b", "c", "bias"), given, strict=True)), **extras}
        line["file"] = f"unexplained-{self.kept}.npz"
        np.savez_compressed(
            self.folder / line["file"], **{name: x for name, x in named.items() if x is not None}
        )


def _sides(p: TensorProduct) -> tuple[int, int]:
    return int(p.a.shape[-2]), int(p.b.shape[-1])


class _Products(TorchDispatchMode):
    """Every product with its operands, after PyTorch has computed it."""

    def __init__(self, comparison: Comparison, where: dict[str, Any]) -> None:
        super().__init__()
        self.comparison, self.where = comparison, where
        self.index = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = kwargs or {}
        d = func(*args, **given)
        p = product_of(func, args, given)
        if p is not None and p.a.is_floating_point() and p.multiply_adds:
            where = {**self.where, "index": self.index}
            self.index += 1
            self.comparison.compare(p, d, lambda: func(*args, **given), where)
        return d


def main(folder: str, seconds: str, path: str, device: str = "cuda", formats: str = "fp16,bf16,tf32") -> None:
    """Run the model on each reaction in each format, and compare every product."""
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    comparison = Comparison(out, start + float(seconds))
    about = machine() if device == "cuda" else {"device": device, "torch": torch.__version__}
    comparison.write(kind="model", name="rxnmapper 0.4.3 ALBERT", tcformal=tcformal.__version__, **about)
    weights = _weights(path, out)
    for which, reaction in enumerate(_REACTIONS):
        for fmt in formats.split(","):
            if time.monotonic() > comparison.limit:
                break
            torch.backends.cuda.matmul.allow_tf32 = fmt == "tf32"
            ids = torch.tensor([_tokens(weights, reaction)], device=device)
            model = _model(weights, _DTYPES[fmt], device)
            where = {"format": fmt, "reaction": which, "tokens": ids.shape[1]}
            with torch.no_grad():
                logits = model(ids).logits
                with _Products(comparison, where):
                    again = model(ids).logits
            same = bool((logits == again).all())
            comparison.write(kind="run", **where, repeats=same, argmax=logits[0].argmax(-1).tolist())
            done = f"{fmt}, reaction {which}: {time.monotonic() - start:.0f} s\n"
            sys.stdout.write(done)
    for name, count in sorted(comparison.totals.items()):
        sys.stdout.write(f"{name}: {count}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
