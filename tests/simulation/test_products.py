"""Stacks of products on units, and where two units' products part."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import tcformal
from tcformal.errors import InputError
from tcformal.query.explain.explain import explain_witness
from tcformal.query.explain.trace import divergence

ROOT = Path(__file__).resolve().parents[2]
AMPERE, HOPPER = (f"{arch}/mma.m16n8k8.f32.f16.f16.f32" for arch in ("ampere", "hopper"))
SCALED = "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0"


def normal(seed: int, shape: tuple[int, ...], dtype: Any = np.float16) -> NDArray[Any]:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def one_by_one(name: str, a: Any, b: Any, c: Any = None) -> NDArray[Any]:
    """Every matrix of a stack on its own."""
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (np.broadcast_to(x, stack + x.shape[-2:]) for x in (a, b))
    shape = (*stack, a.shape[-2], b.shape[-1])
    c = np.zeros(shape, np.float32) if c is None else np.broadcast_to(c, shape)
    d = np.empty(shape, np.float32)
    for place in np.ndindex(stack):
        d[place] = tcformal.unit(name).matmul(a[place], b[place], c[place])
    return d


# ------------------------------------------------------------------ simulate
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((3, 4), (4, 5)),
        ((2, 3, 4), (4, 5)),
        ((2, 1, 3, 20), (6, 20, 2)),
        ((3, 4), (2, 4, 5)),
        ((1, 1, 1), (1, 1, 1)),
    ],
)
def test_stacks_broadcast_as_in_numpy(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x, y = normal(1, a), normal(2, b)
    d = tcformal.simulate(HOPPER, x, y)
    assert d.shape == np.matmul(x, y).shape
    assert d.dtype == np.float32
    assert np.array_equal(d, one_by_one(HOPPER, x, y))
    assert np.allclose(d, np.matmul(x.astype(float), y.astype(float)), atol=1e-4)


@pytest.mark.parametrize("c", [(5,), (3, 1), (3, 5), (2, 3, 5)])
def test_c_is_spread_over_the_result(c: tuple[int, ...]) -> None:
    x, y, bias = normal(1, (2, 3, 4)), normal(2, (4, 5)), normal(3, c, np.float32)
    assert np.array_equal(tcformal.simulate(HOPPER, x, y, bias), one_by_one(HOPPER, x, y, bias))


def test_scales_of_a_stack() -> None:
    e4m3, e8m0 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
    x, y = normal(1, (2, 3, 40), e4m3), normal(2, (40, 5), e4m3)
    left, right = np.full((3, 2), 2.0).astype(e8m0), np.full((2, 2, 5), 0.5).astype(e8m0)
    d = tcformal.simulate(SCALED, x, y, None, left, right)
    for i in range(2):
        assert np.array_equal(d[i], tcformal.unit(SCALED).matmul(x[i], y, None, left, right[i]))


@pytest.mark.parametrize(
    ("a", "b", "c", "sentence"),
    [
        ((4,), (4, 5), None, "expected A of shape [..., M, K]"),
        ((3, 4), (5, 4), None, "expected A of shape [..., M, K]"),
        ((0, 4), (4, 5), None, "with axes of at least 1, but got [0, 4] and [4, 5]"),
        ((2, 3, 4), (0, 4, 5), None, "with axes of at least 1"),
        ((2, 3, 4), (3, 4, 5), None, "expected leading axes of A and B that broadcast, but got [2] and [3]"),
        ((3, 4), (4, 5), (4, 5), "expected C of a shape that broadcasts to [3, 5], but got [4, 5]"),
    ],
)
def test_shapes_reject(a: Any, b: Any, c: Any, sentence: str) -> None:
    given = None if c is None else normal(3, c, np.float32)
    with pytest.raises(InputError, match=re.escape(sentence)):
        tcformal.simulate(HOPPER, normal(1, a), normal(2, b), given)


def test_dtypes_and_names_reject() -> None:
    with pytest.raises(InputError, match=r"^expected dtype float16 for A \(fp16\), but got float32$"):
        tcformal.simulate(HOPPER, normal(1, (2, 2), np.float32), normal(2, (2, 2)))
    with pytest.raises(InputError, match="expected a unit or its name, but got 3"):
        tcformal.simulate(3, normal(1, (2, 2)), normal(2, (2, 2)))  # type: ignore[arg-type]


# ------------------------------------------------------------------ differences
def test_the_first_difference_is_found_and_explained() -> None:
    """A product that only a fraction bit more keeps stands in the third stretch of one element."""
    a, b = np.ones((4, 40), np.float16), np.zeros((40, 3), np.float16)
    c = np.zeros((4, 3), np.float32)
    a[2, 20], b[20, 1] = 2.0**14, 1
    c[:, 1] = -(2.0**-11)
    found = tcformal.differences(AMPERE, HOPPER, a, b, c)
    assert [u.name for u in found.units] == [AMPERE, HOPPER]
    assert found.count == 1
    assert (found.steps != 0).sum() == 1
    assert found.largest == found.steps[2, 1] == 1
    first = found.first
    assert first is not None
    assert (first.row, first.column, first.start, first.stop) == (2, 1, 16, 24)
    assert first.witness.a[4] == np.float16(2.0**14).view(np.uint16)
    assert first.witness.c == c[2, 1].view(np.uint32)
    traces = [explain_witness(u, first.witness) for u in found.units]
    assert tuple(t.result for t in traces) == first.results
    parted = divergence(*traces)
    assert parted is not None
    assert parted.stage == "the alignment of c at block0"
    assert first.command.startswith(f"tcformal explain {AMPERE} {HOPPER} --a 0x3c00:4,")


def test_equal_results_have_no_first_difference() -> None:
    found = tcformal.differences(HOPPER, HOPPER, normal(1, (3, 9)), normal(2, (9, 4)))
    assert (found.count, found.largest, found.first) == (0, 0, None)


def test_scaled_units_part_too() -> None:
    e4m3, e8m0 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
    a, b = normal(1, (3, 70), e4m3), normal(2, (70, 4), e4m3)
    left, right = np.full((3, 3), 2.0).astype(e8m0), np.full((3, 4), 0.5).astype(e8m0)
    other = f"{SCALED}@fraction_bits=13"
    found = tcformal.differences(SCALED, other, a, b, None, left, right)
    first = found.first
    assert first is not None
    traces = [explain_witness(u, first.witness) for u in found.units]
    assert tuple(t.result for t in traces) == first.results
    assert "--scale-a 0x80 --scale-b 0x7e" in first.command


def test_ulp_distance_results() -> None:
    """Units in the last place across zero, and none from or to NaN and Inf."""
    from tcformal.analysis.differences import ulp_distance
    from tcformal.encodings.catalog import FORMATS

    pairs = [
        (0x3F800000, 0x3F800001, 1),
        (0x80000001, 0x00000002, 3),
        (0x80000000, 0x00000000, 0),
        (0x7F800000, 0x7F7FFFFF, -1),
        (0x7F800000, 0xFF800000, -1),
        (0x7FC00000, 0x7FFFFFFF, 0),
        (0x7FC00000, 0x3F800000, -1),
        (0xFF7FFFFF, 0x7F7FFFFF, 2 * 0x7F7FFFFF),
    ]
    first, second, wanted = (np.array(x) for x in zip(*pairs, strict=True))
    assert ulp_distance(FORMATS["fp32"], first, second).tolist() == wanted.tolist()


NV = "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
BF = "blackwell/mma.m16n8k16.f32.bf16.bf16.f32"


def test_scaled_units_are_compared_with_their_dequantised_operands() -> None:
    """The other unit's operands are the elements times their scales, and results are its own, bit for bit."""
    rng, e2m1 = np.random.default_rng(3), ml_dtypes.float4_e2m1fn
    a, b = rng.integers(0, 16, (8, 130)).astype(np.uint8), rng.integers(0, 16, (130, 8)).astype(np.uint8)
    a, b = a.view(e2m1), b.view(e2m1)
    scales = [rng.integers(0x08, 0x78, s).astype(np.uint8) for s in ((8, 9), (9, 8))]
    by = [x.view(ml_dtypes.float8_e4m3fn).astype(np.float32) for x in scales]
    wide = [
        (x.astype(np.float32) * np.repeat(s, 16, axis)[:8, :130] if axis else
         x.astype(np.float32) * np.repeat(s, 16, axis)[:130, :8]).astype(ml_dtypes.bfloat16)
        for x, s, axis in ((a, by[0], 1), (b, by[1], 0))
    ]  # fmt: skip
    found = tcformal.differences(NV, BF, a, b, None, *scales)
    np.testing.assert_array_equal(found.results[0], tcformal.simulate(NV, a, b, None, *scales))
    np.testing.assert_array_equal(found.results[1], tcformal.simulate(BF, *wide))
    assert 0 < found.count < 64
    assert found.first is not None
    assert found.first.command.startswith(f"tcformal explain {NV} --a ")
    turned = tcformal.differences(BF, NV, a, b, None, *scales)
    np.testing.assert_array_equal(turned.steps, found.steps)
    with pytest.raises(InputError, match=r"numbers of A that e2m1 of black.* holds, but got .* at \[0, 0\]"):
        tcformal.differences(BF, NV, np.full((1, 16), 7, ml_dtypes.bfloat16), wide[1][:16])


def test_results_of_unlike_formats_are_compared_as_numbers() -> None:
    """A sum that both hold is no difference; one that only fp32 holds is one of fp32's last places."""
    narrow = "hopper/mma.m16n8k8.f16.f16.f16.f16"
    a, b = np.ones((1, 8), np.float16), np.ones((8, 2), np.float16)
    b[0, 1] = 1 + 2**-10
    found = tcformal.differences(HOPPER, narrow, a, b)
    assert found.steps.tolist() == [[0, 2**10]]
    assert found.parted.tolist() == [[False, True]]
    assert [d.dtype for d in found.results] == [np.float32, np.float16]
    assert found.first is not None
    assert found.first.results == (0x41000400, 0x4800)
    assert tcformal.differences(HOPPER, HOPPER.replace("f16", "tf32"), a, b).count == 0
    a[0, 0] = np.nan
    assert tcformal.differences(HOPPER, narrow, a, b).count == 0


# ------------------------------------------------------------------ the recipe
def test_the_documented_layer_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The layer on two GPUs of docs/how-to/python.md, as it stands there."""
    text = (ROOT / "docs" / "how-to" / "python.md").read_text(encoding="utf-8")
    (recipe,) = [
        code for code in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S) if "differences" in code
    ]
    exec(compile(recipe, "python.md", "exec"), {})
    said = capsys.readouterr().out
    found = re.match(r"(\d+) of 32768 elements differ, by at most (\d+) units in the last place\n", said)
    assert found is not None
    assert int(found[1]) > 0
    assert "\nThey diverge at " in said
    assert said.splitlines()[-1].startswith("tcformal explain ampere/mma.m16n8k16.f32.bf16.bf16.f32 hopper/")
