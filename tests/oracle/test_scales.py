"""Scales on the exponents of products (ST-FDPA) and on groups (GST-FDPA), by hand and by fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from oracle.evaluation import FP16, FP32, NAN32, evaluate, ieee, tfdpa
from tcformal.backends.concrete import Concrete
from tcformal.design.names import resolve
from tcformal.design.spec import Design, Operands
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import FORMATS
from tcformal.errors import InputError
from tcformal.oracle.exact import dot, unit_dot
from tcformal.oracle.rounded import round_to
from tcformal.oracle.values import NumberClass, decode, encode_exact, format_value, parse_value
from tcformal.semantics.chain import circuit
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import batch, witness_at
from tcformal.simulation.replay import oracle_result

SEED = 20263
E4M3, E2M1, E8M0, UE4M3 = (FORMATS[name] for name in ("e4m3", "e2m1", "e8m0", "ue4m3"))
NAN = "nan(0x7fffffff)"
#: mxf8f6f4, and mxf4nvf4 (XIE Tables 4 and 5), and the latter with groups of two.
MX = tfdpa(32, 25, -133)
NV = tfdpa(64, 35, -139, group=16)
PAIRS = tfdpa(4, 35, -139, group=2)


# --------------------------------------------------------------------- products
def test_scales_add_to_the_exponents() -> None:
    a, b = ["1.5"] * 32 + ["1"] * 32, ["2"] * 32 + ["-1"] * 32
    scales = (E8M0, 32, ["2^3", "2^-1"], ["2^-1", "2^-2"])
    assert evaluate(MX, E4M3, a, b, "0.5", scales=scales) == "380.5"  # 32 * 3 * 4 - 32 / 8 + 0.5


def test_a_short_last_block_of_scales_has_its_own() -> None:
    scales = (E8M0, 2, ["1", "4"], ["1", "8"])
    assert evaluate(tfdpa(3, 25), E4M3, ["1"] * 3, ["1"] * 3, scales=scales) == "34"


@pytest.mark.parametrize(("scale", "answer"), [("2^24", "1"), ("2^25", "1"), ("2^26", "0"), ("2^27", "0")])
def test_scales_move_the_alignment(scale: str, answer: str) -> None:
    """1.5 * 1.5 keeps exponent 0 as a product, so that 1 is kept beside it up to a scale of 2^25."""
    a, b = ["1.5", "1", "-1.5"], ["1.5", "1", "1.5"]
    assert evaluate(MX, E4M3, a, b, scales=(E8M0, 1, [scale, "1", scale], ["1"] * 3)) == answer


@pytest.mark.parametrize(("zero_exponent", "answer"), [("own", "0"), (-133, "2^-20"), ("none", "2^-20")])
def test_the_own_exponent_of_a_zero_product_has_its_scales(zero_exponent: int | str, answer: str) -> None:
    scales = (E8M0, 1, ["2^20"], ["2^10"])
    assert evaluate(tfdpa(32, 25, zero_exponent), E4M3, ["0"], ["1"], "2^-20", scales=scales) == answer


@pytest.mark.parametrize(("alpha", "beta"), [("nan", "1"), ("1", "nan")])
@pytest.mark.parametrize("design", [MX, tfdpa(1, 25)])
def test_a_nan_scale_gives_nan_even_on_zeros(design: Design, alpha: str, beta: str) -> None:
    for scale_a, scale_b in ((["1", alpha], ["1", beta]), ([alpha, "1"], [beta, "1"])):
        scales = (E8M0, 1, scale_a, scale_b)
        assert evaluate(design, E4M3, ["0", "0"], ["0", "0"], scales=scales) == NAN


def test_scales_with_a_fraction_multiply_the_significands() -> None:
    scales = (UE4M3, 1, ["1.5", "2^-9"], ["1.75", "448"])  # 2^-9 is a subnormal
    assert evaluate(MX, E4M3, ["1", "3"], ["1", "-1"], scales=scales) == "0"  # 2.625 - 2.625
    assert evaluate(MX, E4M3, ["1", "3"], ["1", "1"], scales=scales) == "5.25"


def test_zero_and_infinite_scales() -> None:
    """A zero scale makes zeros; an infinite product times it is NaN, as Inf * 0 is."""
    e5m2 = FORMATS["e5m2"]
    for a, scale, answer in (("2", "0", "0"), ("inf", "0", NAN), ("inf", "2", "inf")):
        assert evaluate(MX, e5m2, [a], ["1"], scales=(UE4M3, 1, [scale], ["1"])) == answer
    for a, scale, answer in (
        ("2", "-inf", "-inf"),
        ("0", "inf", NAN),
        ("-2", "-3", "6"),
        ("inf", "inf", "inf"),
    ):
        assert evaluate(MX, e5m2, [a], ["1"], scales=(FP16, 1, [scale], ["1"])) == answer


@pytest.mark.parametrize("bits", [0x3C, 0xBC])
def test_the_sign_bit_of_ue4m3_is_ignored(bits: int) -> None:
    one = [parse_value(E4M3, "1")]
    formats = (MX, E4M3, E4M3, FP32, FP32)
    scaling = dot(*formats, one, one, 0, scale_format=UE4M3, scale_block=1, scale_a=[bits], scale_b=[0x38])
    assert format_value(FP32, scaling) == "1.5"


def test_subnormals_of_scales_are_never_flushed() -> None:
    design = tfdpa(2, 25, operand_subnormals="positive_zero")
    assert evaluate(design, E4M3, ["1"], ["1"], scales=(UE4M3, 1, ["2^-9"], ["1"])) == "0.001953125"


# --------------------------------------------------------------------- groups
def test_nvfp4_by_hand() -> None:
    """One group of 36 * 16 with the largest scales, one of 0.25 * 16, one that sums to zero, one of zeros."""
    a = ["6"] * 16 + ["0.5"] * 16 + ["1", "-1"] * 8 + ["0"] * 16
    b = ["6"] * 16 + ["0.5"] * 16 + ["1"] * 16 + ["6"] * 16
    scales = (UE4M3, 16, ["448", "1.125", "1", "1"], ["448", "1.5", "1", "1"])
    # 576 * 448 * 448 + 4 * 1.125 * 1.5 + 0 + 0 + 0.5; RZ to 24 bits keeps multiples of 8.
    assert evaluate(NV, E2M1, a, b, "0.5", scales=scales) == str(576 * 448 * 448)
    assert evaluate(NV, E2M1, a, b, "1.25", scales=scales) == str(576 * 448 * 448 + 8)


def test_a_group_may_be_smaller_than_a_block_of_scales() -> None:
    scales = (E8M0, 4, ["2^3"], ["2^-1"])
    assert evaluate(PAIRS, E2M1, ["1", "2", "3", "4"], ["1"] * 4, "0.5", scales=scales) == "40.5"
    longer = (E8M0, 4, ["1", "8"], ["1", "1"])
    assert evaluate(PAIRS, E2M1, ["1", "2", "3", "4"] * 2, ["1"] * 8, scales=longer) == "90"


@pytest.mark.parametrize(("scale", "answer"), [("2^33", "0.25"), ("2^34", "0")])
def test_the_exponent_of_a_group_is_that_of_its_scales(scale: str, answer: str) -> None:
    """The last bit of 0.5 * 0.5 is kept with 35 fraction bits beside exponent 33, whatever the sums are."""
    a = ["6", "6", "0.5", "0", "-6", "-6"]
    b = ["4", "4", "0.5", "0", "4", "4"]
    design = tfdpa(6, 35, -139, group=2)
    assert evaluate(design, E2M1, a, b, scales=(E8M0, 2, [scale, "1", scale], ["1"] * 3)) == answer


@pytest.mark.parametrize(
    ("a", "scale_a", "answer"),
    [
        (["1", "-1", "0", "0"], ["2^8", "2^-6"], "0"),  # sums to zero at exponent 16, where 2^-40 is lost
        (["0", "0", "0", "0"], ["2^8", "2^8"], "2^-40"),  # all products zero
        (["1", "1", "0", "0"], ["0", "2^-6"], "2^-40"),  # scale zero
        (["1", "-1", "0", "0"], ["0", "2^-6"], "2^-40"),
    ],
)
@pytest.mark.parametrize("zero_exponent", [-139, "none"])
def test_which_groups_have_no_exponent_of_their_own(
    zero_exponent: int | str, a: list[str], scale_a: list[str], answer: str
) -> None:
    design = tfdpa(4, 35, zero_exponent, group=2)
    scales = (UE4M3, 2, scale_a, ["2^8", "2^-6"])
    assert evaluate(design, E2M1, a, ["1"] * 4, "2^-40", scales=scales) == answer


def test_groups_without_scales_have_exponent_zero() -> None:
    assert evaluate(PAIRS, E2M1, ["6", "-6", "0", "0"], ["6"] * 4, "2^-35") == "2^-35"
    assert evaluate(PAIRS, E2M1, ["6", "-6", "0", "0"], ["6"] * 4, "2^-36") == "0"
    assert evaluate(PAIRS, E2M1, ["0"] * 4, ["6"] * 4, "2^-36") == "2^-36"
    own = tfdpa(4, 35, "own", group=2)
    assert evaluate(own, E2M1, ["0"] * 4, ["6"] * 4, "2^-36") == "0"


@pytest.mark.parametrize(
    ("mode", "a", "c", "answer"),
    [
        ("RNE", ["1", "-1"], "0", "0"),
        ("RNE", ["1", "-1"], "-0", "0"),
        ("RNE", ["-0", "-0"], "-0", "-0"),
        ("RNE", ["-0", "0"], "-0", "0"),
        ("RD", ["1", "-1"], "0", "-0"),
        ("RD", ["0", "-0"], "0", "-0"),
        ("RD", ["0", "0"], "0", "0"),
    ],
)
def test_the_sign_of_a_sum_of_zero(mode: str, a: list[str], c: str, answer: str) -> None:
    assert evaluate(ieee(2, conversion=f"{mode}-FP32"), E2M1, a, ["1", "1"], c) == answer


@pytest.mark.parametrize("scale_a", [["nan", "1"], ["1", "nan"]])
def test_a_nan_scale_of_a_group_gives_nan_even_on_zeros(scale_a: list[str]) -> None:
    assert evaluate(PAIRS, E2M1, ["0"] * 4, ["0"] * 4, scales=(UE4M3, 2, scale_a, ["0", "0"])) == NAN


def test_specials_in_groups() -> None:
    e5m2 = FORMATS["e5m2"]
    ones = (UE4M3, 2, ["1", "1"], ["1", "1"])
    for a, answer in (
        (["inf", "1", "0", "0"], "inf"),
        (["inf", "-inf", "0", "0"], NAN),
        (["inf", "1", "-inf", "0"], NAN),
        (["nan", "1", "0", "0"], NAN),
    ):
        assert evaluate(PAIRS, e5m2, a, ["1"] * 4, scales=ones) == answer
    zero = (UE4M3, 2, ["0", "1"], ["1", "1"])
    assert evaluate(PAIRS, e5m2, ["inf", "1", "0", "0"], ["1"] * 4, scales=zero) == NAN


@pytest.mark.parametrize(
    ("design", "answer"),
    [
        (tfdpa(4, 35, product_limit=5), "inf"),  # 4 * 2^3 with its scale
        (tfdpa(4, 35, product_limit=6), "48"),
        (tfdpa(4, 35, product_limit=2, group=2), "inf"),  # 4 without
        (tfdpa(4, 35, product_limit=3, group=2), "48"),
    ],
)
def test_the_limit_of_products_sees_scales_that_act_on_them(design: Design, answer: str) -> None:
    scales = (E8M0, 2, ["2^3", "2^3"], ["1", "1"])
    assert evaluate(design, E2M1, ["4", "2", "0", "0"], ["1"] * 4, scales=scales) == answer


@pytest.mark.parametrize("group", [None, 1, 2, 4])
@pytest.mark.parametrize("scale_name", ["e8m0", "ue4m3"])
def test_exact_scaled_sums_are_plain_sums_of_products(group: int | None, scale_name: str) -> None:
    design = ieee(8, group=group, zero_sign="sum")
    fmt = FORMATS[scale_name]
    rng = random.Random(SEED)
    for _ in range(60):
        a, b = ([rng.randrange(16) for _ in range(8)] for _ in range(2))
        scale_a, scale_b = ([rng.randrange(90, 127) for _ in range(2)] for _ in range(2))
        c = rng.randrange(0x3F000000, 0x42000000)
        total = decode(FP32, c).number + sum(
            math.prod(
                [
                    decode(E2M1, a[k]).number,
                    decode(E2M1, b[k]).number,
                    decode(fmt, scale_a[k // 4]).number,
                    decode(fmt, scale_b[k // 4]).number,
                ],
                start=Fraction(1),
            )
            for k in range(8)
        )
        expected = round_to(design, int(total < 0), abs(total), design.rho)
        assert expected.kind is NumberClass.FINITE
        d = dot(
            design, E2M1, E2M1, FP32, FP32, a, b, c,
            scale_format=fmt, scale_block=4, scale_a=scale_a, scale_b=scale_b,
        )  # fmt: skip
        assert d == encode_exact(FP32, expected.number)


# --------------------------------------------------------------------- units and errors
def test_unit_dot_takes_format_and_block_of_the_unit() -> None:
    operands = Operands(a=E2M1, b=E2M1, c=FP32, d=FP32)
    spec = UnitSpec(
        name="toy/nv", m=1, n=1, k=4, operands=operands, design=PAIRS, scale_format=UE4M3, scale_block=2
    )
    a, ones = ([parse_value(E2M1, x) for x in texts] for texts in (["1", "2", "3", "4"], ["1"] * 4))
    scale_a, scale_b = ([parse_value(UE4M3, x) for x in texts] for texts in (["1.5", "2"], ["1", "1.25"]))
    assert format_value(FP32, unit_dot(spec, a, ones, 0, scale_a, scale_b)) == "22"  # 3 * 1.5 + 7 * 2.5
    longer = unit_dot(spec, a * 2, ones * 2, 0, scale_a * 2, scale_b * 2)
    assert format_value(FP32, longer) == "44"
    with pytest.raises(InputError, match=r"^expected 2 scales of a for K = 4, but got 0$"):
        unit_dot(spec, a, ones, 0)


TOGETHER = "expected scales, scale_format and scale_block together, but some are missing"


@pytest.mark.parametrize(
    ("design", "scaling", "sentence"),
    [
        (MX, {"scale_a": [1], "scale_b": [1]}, TOGETHER),
        (MX, {"scale_format": E8M0}, TOGETHER),
        (MX, {"scale_block": 2}, TOGETHER),
        (MX, {"scale_format": E8M0, "scale_block": 2}, "expected 2 scales of a for K = 4, but got 0"),
        (
            MX,
            {"scale_format": E8M0, "scale_block": 4, "scale_a": [1], "scale_b": [1, 1]},
            "expected 1 scales of b for K = 4, but got 2",
        ),
        (
            MX,
            {"scale_format": E8M0, "scale_block": 0},
            "expected an integer of at least 1 for scale_block, but got 0",
        ),
        (
            MX,
            {"scale_format": E8M0, "scale_block": 4, "scale_a": [256], "scale_b": [1]},
            "expected an integer from 0 to 255 for an encoding of e8m0, but got 256",
        ),
        (
            PAIRS,
            {"scale_format": E8M0, "scale_block": 3, "scale_a": [1] * 2, "scale_b": [1] * 2},
            "expected scale_block to be a multiple of group=2, but got 3",
        ),
        (NV, {}, "expected K to be a multiple of group=16, but got 4"),
    ],
)
def test_scales_reject(design: Design, scaling: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError) as error:
        dot(design, E2M1, E2M1, FP32, FP32, [0] * 4, [0] * 4, 0, **scaling)  # type: ignore[arg-type]
    assert str(error.value) == sentence


def test_a_nan_scale_in_an_early_block_stays() -> None:
    scaling = {"scale_format": E8M0, "scale_block": 1, "scale_a": [255, 127], "scale_b": [127, 127]}
    assert dot(tfdpa(1, 25), E2M1, E2M1, FP32, FP32, [0, 2], [2, 2], 0, **scaling) == NAN32  # type: ignore[arg-type]


# ------------------------------------------------------------------ of any design
@pytest.mark.parametrize(
    "name",
    [
        "fma@k=6,scale=ue8m0/2", "exact@k=5,scale=ue4m3/4", "tfdpa@products=6,fraction_bits=20,scale=fp16/2",
        "tree@steps=(4..5+(0..3+c)),fraction_bits=12,scale=ue8m0/3",
        "tree@steps=((0..1+2..3)+(4..5+c)),a_format=e2m1,b_format=e2m1,scale=ue4m3/1",
        "a100:bf16@scale=e5m2/1", "mi300x:fp8@scale=ue8m0/4",
        "cvfpu/fpnew_sdotp_multi.fp32.fp16@scale=bf16/32",
    ],
)  # fmt: skip
def test_kernel_circuit_and_fractions_agree_where_a_name_gives_scales(name: str) -> None:
    spec = resolve(name)
    made = batch(spec, spec.k, 72, SEED)
    graph, root = circuit(spec, spec.k)
    exact = Concrete(graph, [root], singly=0)
    for i, found in enumerate(replay(spec, made)):
        w = witness_at(made, i)
        assert exact(w.inputs())[0] == oracle_result(spec, w) == found, (name, w)


def test_a_unit_without_its_scales_is_the_unscaled_one() -> None:
    spec = resolve("b200:mxf8@scale=none")
    assert spec.scale_format is None
    assert spec.design == resolve("b200:mxf8").design
    assert resolve("tree@k=4,scale=ue8m0/2") == resolve(resolve("tree@k=4,scale=ue8m0/2").name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fma@scale=ue8m0", "expected FORMAT/BLOCK as scales, such as ue8m0/32, but got 'ue8m0'"),
        ("fma@scale=ue8m0/0", "expected FORMAT/BLOCK as scales"),
        ("hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32@scale=ue8m0/32", "of a composition of other units"),
        ("b200:nvf4@scale=ue8m0/8", "expected scales of whole groups of 16 products"),
        ("wormhole@scale=e5m2/1", "expected no scales where the words of NaN and Inf are numbers"),
        ("spr:amx-int8@scale=ue8m0/4", "expected no scales of integers"),
    ],
)
def test_scales_that_mean_nothing_are_refused(name: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        resolve(name)
