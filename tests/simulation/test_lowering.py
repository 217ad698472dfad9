"""Lowering rules of compiled kernels: every design's finite products, against operators on lanes."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import kernel_agreement as compiled
from tcformal.backends.machine import Module, x86
from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.simulation import arrays
from tcformal.simulation.compiled import dot_call, dot_products, dot_rows
from tcformal.simulation.kernels.cut import cuts
from tcformal.simulation.kernels.gemm import Gemm, MatrixWords
from tcformal.simulation.kernels.work import Work

pytestmark = pytest.mark.usefixtures("no_kernels")

#: Between them every shortcut, quickly compiled; those of floats with exponents of their own come first.
QUICK = (
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "hopper/mma.m16n8k4.f32.tf32.tf32.f32",
    "cdna3/v_mfma_f32_32x32x4_2b_bf16",
    "volta/mma.m8n8k4.f32.f16.f16.f32@zero_exponent=own",
    "volta/mma.m8n8k4.f32.f16.f16.f32@fraction_bits=40",
    "ampere/mma.m8n8k4.f64.f64.f64.f64",
    "cdna1/v_mfma_f32_32x32x2f32",
    "cdna1/v_mfma_f32_32x32x8f16",
    "cdna1/v_mfma_f32_32x32x4bf16",
    "cdna2/v_mfma_f32_32x32x4bf16",
    "x86/vdpbf16ps",
    "x86/vdpphps",
    pytest.param("x86/tcmmrlfp16ps", marks=pytest.mark.slow),
    "arm/bfdot.ebf0",
    "arm/bfdot.ebf1",
    "power10/xvf32gerpp",
    # A product without one beside it, whose exponent and power of two are made alone.
    "tfdpa@products=3,a_format=bf16,b_format=bf16",
)


def on_lanes(spec: UnitSpec, x: MatrixWords) -> Any:
    """The same product operator by operator, without any kernel."""

    def by_rows(a: Any, b: Any, c: Any, *scales: Any) -> Any:
        given = dict(zip(("a", "b", "c", "scale_a", "scale_b"), (a, b, c, *scales), strict=False))
        return (
            dot_products(spec, spec.k).on_lanes(given, len(c)).astype(f"u{spec.d_format.storage_bits // 8}")
        )

    with Work(1, progress=False) as work:
        return arrays.by_dot_products(spec, by_rows, x, work)


def differences(spec: UnitSpec, side: str, seed: int, rows: int = 9, columns: int = 40) -> int:
    """Results of kernels that are not those of the operators, on finite operands of all families."""
    k = 2 * spec.k + 1 if spec.c_format == spec.d_format else spec.k
    if side == "b":
        rows, columns = columns, rows
    x = compiled.operands(spec, k, seed, rows, columns, finite=True)
    with Work(1, progress=False) as work:
        d = Gemm(dot_call(spec), side).multiply(x, work)
    return int((d != on_lanes(spec, x)).sum())


@pytest.mark.parametrize("name", QUICK)
def test_shortcuts_give_what_operators_give(name: str) -> None:
    assert differences(resolve(name), "a", 1) == 0


@pytest.mark.parametrize(
    "name",
    [
        "volta/mma.m8n8k4.f32.f16.f16.f32",
        pytest.param("turing/mma.m16n8k8.f32.f16.f16.f32", marks=pytest.mark.long),
        "x86/vdpbf16ps",
        "cdna3/v_mfma_f32_32x32x4_2b_bf16",
        "cdna3/v_mfma_f32_16x16x32_fp8_fp8",
        pytest.param("cdna3/v_mfma_f32_16x16x32_bf8_fp8", marks=pytest.mark.long),
        pytest.param("hopper/wgmma.m64n8k32.f32.e4m3.e4m3", marks=pytest.mark.long),
        pytest.param("hopper/wgmma.m64n8k32.f32.e5m2.e5m2", marks=pytest.mark.long),
        "ampere/mma.m16n8k8.f32.bf16.bf16.f32",
        pytest.param("hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32", marks=pytest.mark.slow),
        pytest.param("hopper/emulated.mma.m16n8k32.f32.e5m2.e5m2.f32", marks=pytest.mark.slow),
        "hopper/mma.m16n8k4.f32.tf32.tf32.f32",
    ],
)
def test_every_encoding_is_read_as_it_is_unpacked(name: str) -> None:
    """Each encoding, in a or in b, beside small numbers and a c that lets zeros decide; NaN and Inf too."""
    spec, rng = resolve(name), np.random.default_rng(7)
    o, k = spec.operands, spec.k
    dtype, unread = f"u{o.a.storage_bits // 8}", o.a.ignored_low_bits
    read = o.a.width - unread
    count = (1 << read) + 5
    a, b = (rng.integers(0, o.a.one >> 1, (count, k)).astype(dtype) for _ in "ab")
    place = rng.integers(0, k, count)
    half = np.arange(count) % 2 == 0
    words = (rng.permutation(count) % (1 << read)) << unread | rng.integers(0, 1 << unread, count)
    a[np.arange(count)[half], place[half]] = words[half]
    b[np.arange(count)[~half], place[~half]] = words[~half]
    for x, at in ((a, 1), (b, k - 1)):
        x[rng.random(count) < 0.25, at] = 0
    c = rng.choice(np.array([0, 1, 0x1000_0000, 0xB000_0000], np.uint32), count)
    d = dot_rows(spec)(a, b, c)
    wanted = dot_products(spec, k).on_lanes({"a": a, "b": b, "c": c}, count)
    assert (d == wanted).all()
    assert np.count_nonzero(o.d.is_special(wanted))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x86/vdpbf16ps", "x86/tdpbf16ps"])
def test_what_is_below_normal_before_it_is_rounded_to_the_least_normal_number_is_zero(name: str) -> None:
    """A product of 2^-126, then one around the last places of that."""
    spec, rng = resolve(name), np.random.default_rng(5)
    k, n = max(4, spec.k), 80

    def words() -> Any:
        made = np.zeros((n, k), np.uint16)
        made[:, 1] = (127 - 63) << 7
        made[:, 3] = (rng.integers(-76, -73, n) + 127 << 7) | rng.integers(0, 128, n)
        made[:, [1, 3]] |= rng.integers(0, 2, (n, 2)).astype(np.uint16) << np.uint16(15)
        return made

    c = rng.choice(np.array([0, 1 << 31], np.uint32), (n, n))
    x = MatrixWords(words(), np.ascontiguousarray(words().T), c)
    rounded = resolve(f"{name}@result_subnormals=signed_zero")
    assert taken(name)[0]
    wanted = on_lanes(spec, x)
    assert np.count_nonzero(wanted != on_lanes(rounded, x))
    with Work(1, progress=False) as work:
        for side in "ab":
            assert (Gemm(dot_call(spec), side).multiply(x, work) == wanted).all()


@pytest.mark.long
@pytest.mark.parametrize("name", distinct_designs())
def test_every_design(name: str) -> None:
    for side in "ab":
        for seed in (1, 2):
            assert differences(resolve(name), side, seed, 37, 80) == 0


def taken(name: str) -> tuple[bool, int, int]:
    """Whether the whole result has a shortcut, and how many terms and other stages have one."""
    step = dot_call(resolve(name))
    made = cuts(step, rules=True)[0]["finite"]
    found = [i for i in made.rules if i >= 0]
    nodes = {x.index: x for x in step.graph.since(0)}
    terms = [i for i in found if nodes[i].op == "ite" and nodes[i].args[1].op == "neg_mod"]
    return made.root.index in made.rules, len(terms), len(found) - len(terms)


@pytest.fixture
def flushing() -> Iterator[None]:
    """A thread whose processor flushes subnormals and rounds toward zero, as other libraries may leave it."""
    if not x86():
        pytest.skip("the control word of x86")
    text = """define void @set(ptr %x) {
  call void @llvm.x86.sse.ldmxcsr(ptr %x)
  ret void
}
declare void @llvm.x86.sse.ldmxcsr(ptr)"""
    load: Any = Module(text, {"set": (ctypes.c_void_p,)})
    words = np.array([0x1F80 | 0x8040 | 0x6000, 0x1F80], np.uint32)
    load.set(words.ctypes.data)
    yield
    load.set(words.ctypes.data + 4)


@pytest.mark.usefixtures("flushing")
@pytest.mark.parametrize("name", ["cdna1/v_mfma_f32_32x32x2f32", "volta/mma.m8n8k4.f32.f16.f16.f32"])
def test_the_processors_modes_mean_nothing(name: str) -> None:
    assert differences(resolve(name), "a", 3) == 0


def test_a_nan_of_c_keeps_its_word_where_the_design_says_so() -> None:
    nan = 0x7F812345
    for name, word in (("power10/xvf32gerpp", nan | 1 << 22), ("cdna1/v_mfma_f32_32x32x2f32", None)):
        spec = resolve(name)
        ones = np.full((4, 2), 0x3F800000, np.uint32)
        x = MatrixWords(ones, np.ascontiguousarray(ones.T), np.full((4, 4), nan, np.uint32))
        with Work(1, progress=False) as work:
            d = Gemm(dot_call(spec), "a").multiply(x, work)
        assert (d == (spec.design.nan_word if word is None else word)).all()
