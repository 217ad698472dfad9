"""Lowering rules of compiled kernels: every design's finite products, against operators on lanes."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import kernel_agreement
from sampled import one_in
from tcformal.backends.machine import Module, floats, x86
from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format
from tcformal.simulation import arrays
from tcformal.simulation.compiled import dot_call, dot_rows, lane_words
from tcformal.simulation.kernels.cut import cuts
from tcformal.simulation.kernels.gemm import Gemm, MatrixWords
from tcformal.simulation.kernels.threads import Work
from tcformal.simulation.lowering import binary32, encoded, ieee, shifts
from tcformal.simulation.lowering.ieee import fits

pytestmark = pytest.mark.usefixtures("no_kernels")

#: Between them every rule, quickly compiled; those of floats with exponents of their own come first.
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
    # Sums of narrow formats, rounded to odd and then to theirs.
    "cvfpu/fpnew_sdotp_multi.fp16.e5m2",
    "cvfpu/fpnew_sdotp_multi.bf16.e4m3",
    pytest.param("x86/tdpbf8ps", marks=pytest.mark.slow),
    pytest.param("x86/tdpbhf8ps", marks=pytest.mark.slow),
    # Sums of as many bits as a lane, whose shifts there and back need no more.
    "gaudi2/mme.bf16",
    "gaudi2/mme.fp32",
    # Sums rounded from binary64: with a bit for what they have lost, and flushed where they are tiny.
    "vortex/VX_tcu_fedp_tfr.fp16",
    "vortex/VX_tcu_fedp_tfr.bf16@result_subnormals=kept",
    "vortex/VX_tcu_fedp_tfr.tf32",
    # Terms that are rounded down.
    "rdna4/v_dot2_f32_f16",
    "rdna4/v_dot2_bf16_bf16",
    "volta/mma.m8n8k4.f32.f16.f16.f32@alignment_rounding=RD,fraction_bits=40",
    # Trees of sums, and what a compiler makes of several instructions.
    "vortex/VX_tcu_fedp_dpi.bf16",
    "gaudi/mme.fp32.cd8",
    "gaudi/mme.bf16.cd5@c_subnormals=positive_zero,result_subnormals=kept",
    "tree@steps=((0+1)+c)",
    "ampere/emulated.mma.m8n8k4.f32.f16.f16.f32",
    # A product without one beside it, whose exponent and power of two are made alone.
    "tfdpa@products=3,a_format=bf16,b_format=bf16",
)


def on_lanes(spec: UnitSpec, x: MatrixWords) -> Any:
    """The same product operator by operator, without any kernel."""

    def by_rows(a: Any, b: Any, c: Any, *scales: Any) -> Any:
        given = dict(zip(("a", "b", "c", "scale_a", "scale_b"), (a, b, c, *scales), strict=False))
        return lane_words(spec, given)

    with Work(1, progress=False) as work:
        return arrays.by_dot_products(spec, by_rows, x, work)


def differences(spec: UnitSpec, side: str, seed: int, rows: int = 9, columns: int = 40) -> int:
    """Results of kernels that are not those of the operators, on finite operands of all families."""
    k = 2 * spec.k + 1 if spec.c_format == spec.d_format else spec.k
    if side == "b":
        rows, columns = columns, rows
    x = kernel_agreement.operands(spec, k, seed, rows, columns, finite=True)
    with Work(1, progress=False) as work:
        d = Gemm(dot_call(spec), side).multiply(x, work)
    return int((d != on_lanes(spec, x)).sum())


@pytest.mark.parametrize("name", one_in(2, QUICK))
def test_rules_give_what_operators_give(name: str) -> None:
    assert differences(resolve(name), "a", 1) == 0


@pytest.mark.parametrize(
    "name",
    [
        "cdna2/v_mfma_f32_32x32x4bf16",
        "x86/vdpbf16ps",
        "x86/vdpbf16ps@result_subnormals=signed_zero",
        "arm/bfdot.ebf0",
        "cvfpu/fpnew_sdotp_multi.fp16.e5m2",
        "gaudi/mme.fp32.cd8",
    ],
)
def test_zeros_and_subnormals_keep_their_signs(name: str) -> None:
    """On zeros, subnormals and the least normal numbers of both signs alone, where flushing shows."""
    spec, rng = resolve(name), np.random.default_rng(3)

    def words(fmt: Format, shape: tuple[int, int]) -> Any:
        least = 1 << fmt.fraction_bits
        sizes = np.array([0, 1, least - 1, least, least + 1, fmt.bias << fmt.fraction_bits], np.uint64)
        signs = rng.integers(0, 2, shape, np.uint64) << np.uint64(fmt.width - 1)
        return (rng.choice(sizes, shape) | signs).astype(f"u{fmt.width // 8}")

    o, k = spec.operands, 2 * spec.k
    x = MatrixWords(words(o.a, (9, k)), words(o.b, (k, 60)), words(o.c, (9, 60)))
    with Work(1, progress=False) as work:
        d = Gemm(dot_call(spec), "a").multiply(x, work)
    wanted = on_lanes(spec, x)
    assert np.count_nonzero(wanted == 1 << (o.d.width - 1))
    assert (d == wanted).all()


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
        pytest.param("ampere/mma.m16n8k8.f32.bf16.bf16.f32", marks=pytest.mark.slow),
        pytest.param("hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32", marks=pytest.mark.slow),
        pytest.param("hopper/emulated.mma.m16n8k32.f32.e5m2.e5m2.f32", marks=pytest.mark.slow),
        pytest.param("hopper/mma.m16n8k4.f32.tf32.tf32.f32", marks=pytest.mark.slow),
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
    wanted = lane_words(spec, {"a": a, "b": b, "c": c})
    assert (d == wanted).all()
    assert np.count_nonzero(o.d.is_special(wanted))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0",
        pytest.param(
            "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e5m2.e3m2.ue8m0", marks=pytest.mark.long
        ),
        pytest.param(
            "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e2m3.e2m1.ue8m0", marks=pytest.mark.long
        ),
        "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0",
        "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    ],
)
def test_scaled_encodings_are_read_as_they_are_unpacked(name: str) -> None:
    """All encodings and scales, beside zeros, and products that are all zero beside a small c."""
    spec, rng, n = resolve(name), np.random.default_rng(11), 1 << 13
    o, k = spec.operands, spec.k
    step = dot_call(spec)
    a, b = (rng.integers(0, 1 << fmt.width, (n, k)).astype(np.uint8) for fmt in (o.a, o.b))
    for x, fmt in ((a, o.a), (b, o.b)):
        kind = np.arange(n) % 8
        # Small encodings, single ones beside zeros, zeros of one side, zeros that meet numbers.
        x[kind == 1] &= 3
        alone = np.flatnonzero((kind == 2) | (kind == 3))
        place = rng.integers(0, k, len(alone))
        one = x[alone, place]
        x[alone] = 0
        x[alone, place] = one
        # NaN and Inf in every eighth row alone, where most have some.
        x[((x & ((1 << (fmt.width - 1)) - 1)) > fmt.largest) & (kind > 0)[:, None]] = 0
    a[kind == 4], b[kind == 5] = 0, 0
    half = rng.random((n, k)) < 0.5
    a[(kind == 6)[:, None] & half], b[(kind == 6)[:, None] & ~half] = 0, 0
    # Products that cancel, beside zeros.
    pairs = np.flatnonzero(kind == 7)
    a[pairs, 3::4] = a[pairs, 2::4] ^ (1 << (o.a.width - 1))
    b[pairs, 3::4] = b[pairs, 2::4]
    a[pairs, ::4], a[pairs, 1::4] = 0, 0
    assert spec.scale_format is not None
    top = 1 << spec.scale_format.width
    scales = [rng.integers(0, top, (n, step.scales)).astype(np.uint8) for _ in "ab"]
    for x in scales:
        x[n // 2 :] = (spec.scale_format.one + rng.integers(-3, 4, (n - n // 2, step.scales))).astype(
            np.uint8
        )
    c = rng.choice(np.array([0, 1, 0x1000_0000, 0xB000_0000, 0x3F80_0001, 0x7F00_0000], np.uint32), n)
    # Zeros with scales of every exponent.
    alone = np.flatnonzero(kind == 4)
    exponents = np.arange(len(alone)) % (2 * top - 3)
    for x, part in zip(
        scales, (np.minimum(exponents, top - 2), np.maximum(exponents - top + 2, 0)), strict=True
    ):
        x[alone] = part[:, None]
    c[alone] = np.arange(len(alone)) // (2 * top - 3) * 0xB000_0000 % (1 << 32)
    d = dot_rows(spec)(a, b, c, *scales)
    given = {"a": a, "b": b, "c": c, "scale_a": scales[0], "scale_b": scales[1]}
    wanted = lane_words(spec, given)
    assert (d == wanted).all()
    finite = ~o.d.is_special(wanted)
    assert len(np.unique(wanted[finite])) > n // 16


def test_groups_whose_sums_halves_hold() -> None:
    """Eight products of the largest e2m3 fit into a half, 16 do not; both are right."""
    names = [f"tfdpa@terms=33,group={group},a_format=e2m3,b_format=e2m3" for group in (8, 16)]
    rng = np.random.default_rng(13)
    a, b = (rng.integers(27, 32, (4096, 32)).astype(np.uint8) for _ in "ab")
    b[2048:] |= rng.integers(0, 2, (2048, 32)).astype(np.uint8) << np.uint8(5)
    c = np.zeros(4096, np.uint32)
    for name in names:
        wanted = lane_words(resolve(name), {"a": a, "b": b, "c": c})
        assert (dot_rows(resolve(name))(a, b, c) == wanted).all()
    # The four sums of eight, and whether all of their products are zero.
    assert taken(names[0])[2] == taken(names[1])[2] + 8


@pytest.mark.parametrize(
    "name",
    [
        "volta/mma.m8n8k4.f32.f16.f16.f32",
        "hopper/mma.m16n8k8.f32.bf16.bf16.f32",
        "hopper/mma.m16n8k4.f32.tf32.tf32.f32",
    ],
)
def test_a_subnormal_number_alone_has_the_largest_exponent(name: str) -> None:
    """Each subnormal number in a or in b, beside zeros and a large number that meets it."""
    spec, rng = resolve(name), np.random.default_rng(9)
    fmt, k = spec.operands.a, spec.k
    words = np.arange(1 << fmt.fraction_bits) << fmt.ignored_low_bits
    a, b = (np.zeros((len(words), k), f"u{fmt.storage_bits // 8}") for _ in "ab")
    rows, place = np.arange(len(words)), rng.integers(0, k, len(words))
    a[rows, place], b[rows, place] = words, fmt.largest
    a[::2], b[::2] = b[::2].copy(), a[::2].copy()
    c = np.zeros(len(words), np.uint32)
    d = dot_rows(spec)(a, b, c)
    assert (d == lane_words(spec, {"a": a, "b": b, "c": c})).all()
    assert np.count_nonzero(d) == len(words) - 1


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


def test_a_factor_that_overflows_when_it_is_raised_is_no_infinity_times_zero() -> None:
    """Where c may be subnormal the condition fails: 0 · 2^100 + c is c, which an Inf times 0 would hide."""
    assert taken("x86/vdpphps@result_subnormals=tiny_zero,c_subnormals=kept")[0]
    assert not taken("x86/vdpbf16ps@c_subnormals=kept")[0]


def test_parameters_that_are_not_read_have_no_rule() -> None:
    assert not taken("x86/tdpfp16ps@operand_rounding=RZ-E5M3")[0]
    assert taken("x86/tcmmrlfp16ps")[0]


@pytest.mark.long
@pytest.mark.parametrize("name", distinct_designs())
def test_every_design(name: str) -> None:
    for side in "ab":
        for seed in (1, 2):
            assert differences(resolve(name), side, seed, 37, 80) == 0


@pytest.mark.skipif(not floats(), reason="halves are no numbers of this processor")
def test_formats_whose_numbers_are_halves() -> None:
    """e5m2fnuz has numbers with the exponent that binary16 keeps for NaN and Inf."""
    found = {name for name, fmt in FORMATS.items() if fmt.width in (8, 16) and encoded.as_half(fmt)}
    assert {"fp16", "e5m2", "e4m3", "e4m3fnuz"} <= found
    assert not {"e5m2fnuz", "bf16"} & found


def taken(name: str) -> tuple[bool, int, int]:
    """Whether the whole result has a rule, and how many terms and other stages have one."""
    step = dot_call(resolve(name))
    made = cuts(step, rules=True)[0]["finite"]
    found = [i for i in made.rules if i >= 0]
    nodes = {x.index: x for x in step.graph.since(0)}
    terms = [i for i in found if nodes[i].op == "ite" and nodes[i].args[1].op == "neg_mod"]
    return made.root.index in made.rules, len(terms), len(found) - len(terms)


def test_conditions_decide_which_are_taken() -> None:
    volta = "volta/mma.m8n8k4.f32.f16.f16.f32"
    # Four terms; the largest exponent, a distance and a magnitude.
    assert taken(volta) == (False, 4, 3)
    # Terms of more than 31 bits keep their operators.  So do those that are rounded up, but for the shifts by
    # which they see what is lost; c too is rounded down.
    assert taken(f"{volta}@fraction_bits=40") == (False, 0, 3)
    assert taken(f"{volta}@alignment_rounding=RU") == (False, 0, 3 + 5)
    assert taken(f"{volta}@alignment_rounding=RD") == (False, 5, 3 + 5)
    assert taken("ampere/mma.m8n8k4.f64.f64.f64.f64")[0]
    # A result that is not rounded to nearest in a format of processors is no operation of theirs.
    assert not taken("sequential@terms=2,a_format=fp16,b_format=fp16,conversion=RZ-FP32")[0]
    assert taken("sequential@terms=2,a_format=fp16,b_format=fp16,conversion=RNE-FP32")[0]
    # A tree has one kind of sum, and what is converted before it is flushed keeps its operators.
    assert taken("tree@steps=((0+1)+c)")[0]
    assert not taken("tree@steps=(in(0+1)+c),in.conversion=RZ-FP32")[0]
    emulated = "ampere/emulated.mma.m8n8k4.f32.f16.f16.f32"
    assert taken(emulated)[0]
    assert not taken(f"{emulated}@operand_subnormals=signed_zero")[0]


@pytest.mark.parametrize("name", ["rdna4/v_dot2_f32_f16", "rdna4/v_dot2_f16_f16", "rdna4/v_dot2_bf16_bf16"])
def test_what_lies_far_below_a_sum_is_rounded_down(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Powers of two of both signs and all exponents: a negative one below all bits counts as -1."""
    spec, rng = resolve(name), np.random.default_rng(5)

    def words(fmt: Format, shape: tuple[int, int]) -> Any:
        exponents = rng.integers(0, (1 << fmt.exponent_bits) - 1, shape, np.uint64) << np.uint64(
            fmt.fraction_bits
        )
        signs = rng.integers(0, 2, shape, np.uint64) << np.uint64(fmt.width - 1)
        return (exponents | signs | rng.integers(0, 2, shape, np.uint64)).astype(f"u{fmt.width // 8}")

    o, k = spec.operands, 2 * spec.k
    x = MatrixWords(words(o.a, (40, k)), words(o.b, (k, 100)), words(o.c, (40, 100)))
    wanted = on_lanes(spec, x)

    def wrong() -> int:
        with Work(1, progress=False) as work:
            return int((Gemm(dot_call(spec), "a").multiply(x, work) != wanted).sum())

    assert wrong() == 0
    right = shifts._shifted

    def cut(floor: Any, code: Any, given: Any) -> Any:
        value, *others = given
        size = code.select(code.compare("slt", value, code.const(0), 32), code.const(0), value, 0, value.high)
        return right(floor, code, [size, *others])

    monkeypatch.setattr(shifts, "_shifted", cut)
    assert wrong()


BF16 = "hopper/mma.m16n8k8.f32.bf16.bf16.f32@conversion=RNE-FP32"


def at_both_ends(name: str) -> int:
    """Differences where sums lie about the least normal number, their last bits below it, and about Inf."""
    spec, rng = resolve(name), np.random.default_rng(9)
    k, shape = 2 * spec.k, (64, 96)
    fraction = spec.a_format.fraction_bits
    # Exponents of products: from 2^-26 times the least normal number on; the largest in every eighth row.
    low = np.where(np.arange(shape[0]) % 8, spec.a_format.bias - 76, 2 * spec.a_format.bias - 64)
    a = rng.integers(low[:, None], low[:, None] + 14, (shape[0], k)) << fraction
    a[1::2, 1:] = 0
    b = rng.integers(spec.b_format.bias - 76, spec.b_format.bias - 70, (k, shape[1])) << fraction
    b[:, ::8] = rng.integers(2 * spec.b_format.bias - 63, 2 * spec.b_format.bias, b[:, ::8].shape) << fraction
    a, b = (
        np.where(x > 0, x | rng.integers(0, 1 << fraction, x.shape) | rng.integers(0, 2, x.shape) << 15, 0)
        for x in (a, b)
    )
    c = rng.choice([0, 1 << 23, (1 << 23) - 1, (1 << 23) + 1, 1, 254 << 23, (255 << 23) - 1], shape)
    c = c | rng.integers(0, 2, shape) << 31
    x = MatrixWords(a.astype(np.uint16), b.astype(np.uint16), c.astype(np.uint32))
    wanted = on_lanes(spec, x)
    size = wanted & np.uint32((1 << 31) - 1)
    assert (size == 255 << 23).any()
    assert ((size > 0) & (size < 1 << 23)).any() == ("tiny" not in name and "tfr" not in name)
    with Work(1, progress=False) as work:
        return int((Gemm(dot_call(spec), "a").multiply(x, work) != wanted).sum())


@pytest.mark.parametrize("name", [BF16, f"{BF16},result_subnormals=tiny_zero", "vortex/VX_tcu_fedp_tfr.bf16"])
def test_sums_at_both_ends_of_binary32_are_rounded_once(name: str) -> None:
    assert at_both_ends(name) == 0


def test_a_wrong_end_and_lost_bits_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(binary32, "_LEAST", (1023 - 126) << 52)
        assert at_both_ends(f"{BF16},result_subnormals=tiny_zero")
    right = binary32._rounded
    monkeypatch.setattr(
        binary32, "_rounded", lambda low, tiny, code, given: right(low, tiny, code, given[:2])
    )
    assert differences(resolve("vortex/VX_tcu_fedp_tfr.bf16"), "a", 1)


def test_sums_of_as_many_bits_as_a_lane_fill_lanes() -> None:
    assert Gemm(dot_call(resolve("gaudi2/mme.bf16")), "a").shape.lanes > 1


def test_a_sum_that_is_not_flushed_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ieee._Steps, "_flushed", lambda _, x, *rules: x)
    assert differences(resolve("gaudi/mme.fp32.cd8"), "a", 1)


def test_narrow_sums_that_float_registers_lose_have_no_rule() -> None:
    """A sum for bf16 that binary32 holds as a subnormal is rounded there once more, unless it is exact."""
    bf16, fp16 = FORMATS["bf16"], FORMATS["fp16"]
    assert all(fits(x, x, bf16, 2, 1) for x in (FORMATS["e5m2"], fp16))
    assert not fits(bf16, bf16, bf16, 2, 1)
    assert fits(bf16, bf16, fp16, 2, 1)


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
