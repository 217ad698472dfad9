"""Recipes against references written from their sources: orders as lists of additions, in fractions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcformal
from simulation.references import (
    Element,
    Reference,
    blocked,
    deepgemm,
    group32,
    interval,
    nvjet,
    older,
    parallel,
    plain,
    scaled,
    serial,
    staged,
    stream,
    turns,
    warp,
)
from simulation.sums import FP32
from tcformal import InputError, gemm
from tcformal.design.names import resolve
from tcformal.encodings.catalog import FORMATS
from tcformal.oracle.interpreter import program_result
from tcformal.programs.recipe_steps import Extras, parts_of, recipe_plan
from tcformal.semantics.chain import scale_count
from tcformal.simulation.arrays import dtypes, from_raw
from tcformal.simulation.operands.batch import Raw

#: A unit with scales of its own.
_SCALED = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e5m2.e4m3.ue8m0"
_FP4 = "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"
HALF = "hopper/mma.m16n8k16.f32.f16.f16.f32"
BF16 = "hopper/wgmma.m64n8k16.f32.bf16.bf16"
EIGHT = "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"
ADA = "ada/mma.m16n8k32.f32.e4m3.e4m3.f32"
#: Recipes with their units and references, and the longest K of the default tests.
CASES: dict[str, tuple[str, Reference]] = {
    "plain": (HALF, plain),
    "cublaslt-66": (BF16, nvjet(1, promoted=False)),
    "cublaslt-66@splits=3": (BF16, nvjet(3, promoted=False)),
    "cublaslt-66-promoted@splits=2": (EIGHT, nvjet(2, promoted=True)),
    "cublaslt-12@splits=2,tile=32,fused=c": (HALF, older(2, 32, None)),
    "cublaslt-21@splits=3,tile=64,fused=c": (HALF, older(3, 64, None)),
    "cublaslt-23@splits=2,tile=32,fused=c": (HALF, older(2, 32, None)),
    "cublaslt-24@splits=4,tile=32,fused=c,partials=bf16": (HALF, older(4, 32, "bf16")),
    "cublaslt-36@splits=3,tile=16": (HALF, turns(3, 16)),
    "cublaslt-36@splits=3,tile=16,merge=halves": (HALF, turns(3, 16, halves=True)),
    "cublaslt-55@splits=6,tile=16,merge=halves": (HALF, turns(6, 16, halves=True)),
    "cublaslt-13": ("power10/xvf32gerpp", warp(32)),
    "cublaslt-13@splits=16": ("power10/xvf32gerpp", warp(16)),
    "cublaslt-74": ("blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e4m3", group32),
    "deepgemm-sm90": (EIGHT, deepgemm),
    "cutlass-sm90-fp8": (EIGHT, interval),
    "cutlass-sm90-fp8-scaled": (EIGHT, scaled),
    "cutlass-sm80-fp8": (ADA, staged(64)),
    "cutlass-sm80-fp8@tile=128,promotion=128": (ADA, staged(128)),
    "cutlass-split-k-serial@splits=3,output=bf16": (HALF, serial(3, 32, "bf16")),
    "cutlass-split-k-parallel@splits=3": (HALF, parallel(3, 32)),
    "onednn@promotion=64": (BF16, blocked(64)),
    "lanes": ("power10/xvf32gerpp", turns(4, 1)),
    "stream-k@stream=5,tile=32,tile_m=2,tile_n=1": (HALF, stream(5, 32, 2, 1)),
}


def words(rng: np.random.Generator, fmt: str, shape: tuple[int, ...], any_word: bool) -> Raw:
    """Encodings: all, or numbers whose sums depend on their order."""
    f = FORMATS[fmt]
    if any_word:
        return rng.integers(0, 1 << f.width, shape, dtype=np.uint64).astype(f"u{f.storage_bits // 8}")
    exponents = rng.integers(f.bias - 3, f.bias + 3, shape).astype(np.uint64)
    made = rng.integers(0, 1 << f.fraction_bits, shape, dtype=np.uint64) | exponents << np.uint64(
        f.fraction_bits
    )
    made |= rng.integers(0, 2, shape).astype(np.uint64) << np.uint64(f.width - 1)
    return made.astype(f"u{f.storage_bits // 8}")


def check(name: str, seed: int, longest: int) -> None:
    """One random shape: every element of D against the reference."""
    unit, reference = CASES[name]
    model = gemm(unit, name)
    u = resolve(unit)
    rng = np.random.default_rng(seed)
    m, n, k = int(rng.integers(1, 4)), int(rng.integers(1, 3)), int(rng.integers(1, longest))
    if seed % 3 == 0:
        k = -(-k // 64) * 64
    any_word = seed % 5 == 4
    a, b = words(rng, u.a_format.name, (m, k), any_word), words(rng, u.b_format.name, (k, n), any_word)
    out = model.d_format
    extras: dict[str, Any] = {}
    promotion = model.recipe.promotion
    count = -(-k // promotion) if model.recipe.promotion_scales != "none" else 0
    scale_a, scale_b = (words(rng, "fp32", shape, False) for shape in ((m, count), (count, n)))
    c = words(rng, out.name, (m, n), any_word)
    if count:
        extras = {"scale_a": scale_a.view(np.float32), "scale_b": scale_b.view(np.float32)}
    if name != "deepgemm-sm90":
        extras["alpha"] = 0.7
        extras["c"] = from_raw(c, out)
        if name != "plain":
            extras["beta"] = 0.3
    given = from_raw(a, u.a_format), from_raw(b, u.b_format)
    d = model.matmul(*given, progress=False, **extras).view(f"u{out.storage_bits // 8}")
    for i, j in np.ndindex(m, n):
        x = Element(
            u, [int(w) for w in a[i]], [int(w) for w in b[:, j]], (out, int(c[i, j])),
            [(FP32, int(w)) for w in scale_a[i]], [(FP32, int(w)) for w in scale_b[:, j]], (i, j), (m, n),
        )  # fmt: skip
        assert int(d[i, j]) == reference(x)[1], (name, seed, (m, n, k), (i, j))


@pytest.mark.parametrize("name", CASES)
def test_recipe_is_its_source(name: str) -> None:
    check(name, 1, longest=200)


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_recipe_is_its_source_on_many_shapes(name: str) -> None:
    for seed in range(100):
        check(name, seed, longest=300)


def test_every_source_has_a_reference() -> None:
    from tcformal.programs.recipe import recipes

    replayed = {
        f"cublaslt-{number}" for number in (16, 20, 22, 35, 39, 43, 56, 63)
    }  # against recordings only
    assert {name.partition("@")[0] for name in CASES} | replayed == set(recipes())


def test_unknown_fields_and_units_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"^expected a promotion of whole calls of .*, which take 32 products"
    ):
        gemm(EIGHT, "cutlass-sm90-fp8@promotion=100")
    with pytest.raises(InputError, match="without scales of its own"):
        gemm(_SCALED, "deepgemm-sm90")


@pytest.mark.parametrize("k", [160, 192])
@pytest.mark.parametrize("name", [_SCALED, _FP4])
def test_units_with_scales_are_called_by_recipes(name: str, k: int) -> None:
    """Whole K as the unit alone computes it; parts of it as the oracle's fractions; scales by their block."""
    spec = resolve(name)
    rng = np.random.default_rng(k)
    a, b = (rng.standard_normal((3, k)).astype(dtypes()[f.name]) for f in (spec.a_format, spec.b_format))
    count = scale_count(spec, k)
    wide = ml_dtypes.float8_e4m3fn if name is _FP4 else ml_dtypes.float8_e8m0fnu
    scales = [np.exp2(rng.integers(-3, 4, (3, count))).astype(np.float32).astype(wide) for _ in "ab"]
    words = [x.view(np.uint8) if name is _FP4 else x for x in scales]
    d = gemm(name).matmul(a, b.T, None, scales[0], scales[1].T)
    same = tcformal.unit(name).matmul(a, b.T, None, words[0], words[1].T)
    assert (d.view(np.uint32) == same.view(np.uint32)).all()
    split = gemm(name, "cublaslt-66@splits=2,grain=64")
    plan = recipe_plan(spec, split.recipe, k, parts_of(spec, split.recipe, k), Extras())
    got = split.matmul(a, b.T, None, scales[0], scales[1].T)
    for i in range(3):
        row = [x[i].view(np.uint8).tolist() for x in (a, b, *scales)]
        exact = program_result(plan, row[0], row[1], 0, scale_a=row[2], scale_b=row[3])
        assert int(got[i, i].view(np.uint32)) == exact
    moved = gemm(name).matmul(a, b.T, None, np.roll(scales[0], 1, 1), scales[1].T)
    assert (moved != d).any()
    with pytest.raises(InputError, match="expected scale_a of shape"):
        gemm(name).matmul(a, b.T)
