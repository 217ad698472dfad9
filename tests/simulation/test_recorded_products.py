"""Whole products of libraries on real GPUs, given bit for bit by calls of the unit that their kernels use."""

from __future__ import annotations

import json
import lzma
import runpy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from simulation.recorded import Fields, Problem, computed, planned, what_matters
from tcformal import simulate

ROOT = Path(__file__).resolve().parents[2]
#: What made the operands where the products were recorded.
INPUTS = runpy.run_path(str(ROOT / "hw_probes" / "gemm" / "inputs.py"))
DTYPES: dict[str, Any] = {
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "fp32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "fp64": np.float64,
}  # fmt: skip
#: What is added or scaled, and what has no place in these tests: batches, other layouts, scales of tensors.
_EXTRAS = {"beta", "alpha", "bias"}
_OTHER = {"scales", "batch", "trans"}


@cache
def recorded(name: str) -> list[Problem]:
    """The products in the recordings of one library."""
    lines: list[Problem] = []
    for path in sorted((ROOT / "results" / "products").glob(f"*/{name}.jsonl.xz")):
        with lzma.open(path, "rt") as file:
            lines += [line for line in map(json.loads, file) if line["kind"] == "product"]
    return lines


def operands(a: str, b: str, m: int, n: int, k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """A [m, k] and B [k, n] of a recorded product."""
    x, y = INPUTS["operand"](a, "a", m, k), INPUTS["operand"](b, "b", n, k)
    return x.view(DTYPES[a]), np.ascontiguousarray(y.view(DTYPES[b]).T)


Run = tuple[Problem, Fields, str]


def known(largest: int, extras: bool = False) -> Iterator[Run]:
    """Products of cuBLASLt of at most `largest` multiply–adds, plain or with alpha, beta or a bias: of each
    algorithm whose order is known the fields, and the digest of what it gave."""
    for p in recorded("cublaslt"):
        if _OTHER & set(p) or bool(_EXTRAS & set(p)) != extras or p["m"] * p["n"] * p["k"] > largest:
            continue
        for r in p["results"]:
            yield from ((p, fields, r["sha256"]) for fields in r["algos"] if planned(p, fields))


def kind(run: Run) -> tuple[Any, ...]:
    """Algorithm, computation, format of A, and whether K is split."""
    p, fields, _ = run
    return fields[0], p["compute"], p["a"], fields[2] != 1


def extras_of(p: Problem) -> dict[str, Any]:
    """alpha, beta, C and the bias of a recorded product."""
    made: dict[str, Any] = {key: p[key] for key in ("alpha", "beta") if key in p}
    if p.get("beta"):
        made["c"] = INPUTS["operand"](p["d"], "b", p["n"], p["m"]).view(DTYPES[p["d"]]).T
    if p.get("bias"):
        made["bias"] = INPUTS["operand"](p["d"], "b", 64, p["m"]).view(DTYPES[p["d"]])[40][:, None]
    return made


def check_cublaslt(runs: Iterable[Run], change: Mapping[str, Any] | None = None) -> Counter[tuple[Any, ...]]:
    """Compare; the number of runs of each kind.  `change`: other values of some fields of the recipes."""
    seen: Counter[tuple[Any, ...]] = Counter()
    last: Problem | None = None
    made: dict[Any, str] = {}
    for p, fields, given in runs:
        if p is not last:
            last, made = p, {}
            a, b = operands(p["a"], p["b"], p["m"], p["n"], p["k"])
            extras = extras_of(p)
        key = what_matters(p, fields)
        if key not in made:
            made[key] = str(INPUTS["digest"](computed(p, fields, a, b, change=change, **extras)))
        assert made[key] == given, (p, fields)
        seen[kind((p, fields, given))] += 1
    return seen


@pytest.mark.slow
def test_cublaslt_is_calls_of_units_in_a_known_order() -> None:
    some = [run for run in known(largest=300_000) if run[0]["k"] > 32 and (run[1][2] or 1) <= 8]
    some.sort(key=lambda run: -int(run[0]["m"] * run[0]["n"] * run[0]["k"]))
    # The smallest of each algorithm and format, with K split and not.
    seen = check_cublaslt({(kind(run)[0], *kind(run)[2:]): run for run in some}.values())
    assert {algorithm for algorithm, *_ in seen} == {13, 16, 20, 21, 22, 23, 24, 35, 36, 39, 55, 63, 66}
    assert {a for _, _, a, _ in seen} == DTYPES.keys()


@pytest.mark.long
def test_cublaslt_is_calls_of_units_in_most_recorded_products() -> None:
    seen = check_cublaslt(known(largest=1 << 24))
    assert seen.total() > 15_000
    assert all(seen[66, "32F", a, False] for a in ("fp16", "bf16", "e4m3", "e5m2"))


@pytest.mark.parametrize(
    ("algorithm", "option", "change"),
    [
        (55, 0, {"tile": 16}), (55, 0, {"turns": False}), (55, 1, {"merge": "workspace"}),
        pytest.param(35, 1, {"merge": "workspace"}, marks=pytest.mark.long),
        (24, None, {"unit": "hopper/mma.m16n8k16.f32.bf16.bf16.f32"}),
    ],
    ids=str,
)  # fmt: skip
def test_other_parts_and_orders_of_these_give_other_bits(
    algorithm: int, option: int | None, change: dict[str, Any]
) -> None:
    """Algorithms whose parts take tiles in turn, and a kernel of Turing: as planned, and not otherwise."""

    def one(run: Run) -> bool:
        p, fields, _ = run
        splits, stages = fields[2] or 1, fields[6]
        if option is None:
            return fields[0] == algorithm and stages == 0 and splits <= 8 and p["a"] == "bf16"
        return fields[0] == algorithm and fields[5] == option and 2 < splits <= 8

    # Of few products for each element no order shows.
    runs = [max(filter(one, known(1 << 22)), key=lambda run: int(run[0]["k"]))]
    assert check_cublaslt(runs).total() == 1
    with pytest.raises(AssertionError):
        check_cublaslt(runs, change)


def test_alpha_beta_and_bias_join_as_recorded() -> None:
    runs: dict[tuple[Any, ...], Run] = {}
    for run in known(1 << 22, extras=True):
        if run[0]["d"] != "fp64":
            runs.setdefault((run[1][0], run[1][2] != 1, *sorted(_EXTRAS & set(run[0]))), run)
    seen = check_cublaslt(runs.values())
    assert {algorithm for algorithm, *_ in seen} == {20, 21, 23, 24, 55, 66}
    # Where K is split, beta and C go into the fused multiply–add, and alpha and the sum where it is whole.
    assert {split for algorithm, *_, split in seen if algorithm == 21} == {True, False}


@pytest.mark.long
def test_alpha_beta_and_bias_join_as_recorded_everywhere() -> None:
    assert check_cublaslt(known(1 << 28, extras=True)).total() > 1000


@pytest.mark.parametrize(
    ("algorithm", "a", "change"),
    [
        (21, "tf32", {"grain": 16}), (21, "tf32", {"residue": "last"}), (21, "tf32", {"operands": "given"}),
        (66, "e4m3", {"promotion": 64}),
        (20, "fp32", {"unit": "cdna3/v_mfma_f32_16x16x8_xf32"}),
        (23, "tf32", {"unit": "ampere/mma.m16n8k8.f32.tf32.tf32.f32"}),
    ],
    ids=["parts", "first-tile", "operands", "accumulators", "one-rounding", "alignment"],
)  # fmt: skip
def test_other_recipes_give_other_bits(algorithm: int, a: str, change: dict[str, str]) -> None:
    runs = [x for x in known(largest=600_000) if x[1][0] == algorithm and x[0]["a"] == a]
    with pytest.raises(AssertionError):
        check_cublaslt(runs, change)


@pytest.mark.long
@pytest.mark.parametrize("change", [{}, {"merge": "workspace"}], ids=str)
def test_parts_that_are_added_in_place_are_rounded_every_time(change: dict[str, str]) -> None:
    some = [x for x in known(1 << 28) if x[1][2] != 1 and x[1][3] == 1 and x[0]["d"] == "fp16"][:1]
    if not change:
        assert check_cublaslt(some).total() == 1
        return
    with pytest.raises(AssertionError):
        check_cublaslt(some, change)


@pytest.mark.parametrize("change", [{}, {"partials": "accumulator"}, {"merge": "serial"}], ids=str)
def test_parts_that_wait_in_the_format_of_d_are_rounded_to_it(change: dict[str, str]) -> None:
    runs = (x for x in known(1 << 20) if x[1][2] != 1 and x[1][3] == 4 and x[0]["d"] == "bf16")
    some = [max(runs, key=lambda x: int(x[0]["m"] * x[0]["n"] * x[0]["k"]))]
    if not change:
        assert check_cublaslt(some).total() == 1
        return
    with pytest.raises(AssertionError):
        check_cublaslt(some, change)


@pytest.mark.parametrize(("algorithm", "fused"), [(66, "c"), (21, "sum")])
def test_other_products_in_the_fused_multiply_add_give_other_bits(algorithm: int, fused: str) -> None:
    runs = [x for x in known(1 << 22, extras=True) if x[1][0] == algorithm and x[0].get("alpha") == 0.7]
    with pytest.raises(AssertionError):
        check_cublaslt(runs, {"fused": fused})


def test_triton_is_calls_of_the_instructions_in_its_code() -> None:
    seen = set()
    for p in recorded("triton"):
        names = [
            x.replace(".sync.aligned", "").replace("wgmma.mma_async", "wgmma") for x in p["instructions"]
        ]
        unit = "hopper/" + names[0].replace(".row.col", "") if len(names) == 1 else ""
        direct = p["precision"] == "tf32" and p["imprecise"] is None and p["k"] <= 128
        if not direct or not unit or (p["a"].startswith("e") and "/mma." in unit):
            continue  # more than one call for a product, or operands that are converted first
        d = simulate(unit, *operands(p["a"], p["a"], p["m"], p["n"], p["k"]), progress=False)
        assert INPUTS["digest"](d.view(np.uint32)) == p["sha256"], p
        seen.add(p["a"])
    assert seen == {"fp16", "bf16", "fp32", "e4m3", "e5m2"}


def test_products_of_a_model_and_of_callables_are_given() -> None:
    """All but three products of a language model on a GPU, and all of PyTorch's CPU products on AMX."""
    lines = recorded("model")
    given = [line for line in lines if line["differing"] == 0]
    assert (len(given), len(lines)) == (789, 792)
    assert {line["format"] for line in given} == {"fp16", "bf16", "tf32", "fp32"}
    # What is not given is given by nothing else that was tried, and is of kernels without a recipe.
    assert all(one["differing"] for line in lines if line["differing"] for one in line["tried"])
    called = recorded("called-torch")
    assert all(line["checked"] and not line["differing"] for line in called)
    assert len(called) == 185
