"""c aligned apart, or after the sum of the products; chains of pairs, pieces: small sums, words of a card."""

from __future__ import annotations

import pytest

from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.oracle.exact import unit_dot
from tcformal.oracle.values import parse_value
from tcformal.query.replay import oracle_result
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.unit import unit

#: One step of RDNA4's sum with two products, and of RDNA3's.
RDNA = (
    "tfdpa@products=2,c_fraction_bits=26,conversion=RNE-FP32,nan_rule=products_c,"
    "factor_nan_word=0xffc00a3d,nan_word=0xffc00000"
)
RDNA4 = f"{RDNA},aligned_group=2,alignment_rounding=RD,vanished_c=dropped,zero_exponent=-128"
RDNA3 = f"{RDNA},accumulation=ones_complement,zero_exponent=none"


def result(name: str, a: list[str], b: list[str], c: str) -> int:
    """What the oracle and the lanes give, which agree."""
    spec = resolve(name)
    o = spec.operands
    words = [[parse_value(fmt, x) for x in row] for fmt, row in ((o.a, a), (o.b, b))]
    for row in words:
        row += [0] * (spec.k - len(row))
    w = Witness(tuple(words[0]), tuple(words[1]), parse_value(o.c, c))
    found = unit_dot(spec, w.a, w.b, w.c)
    assert oracle_result(spec, w) == found
    return found if lanes(name, w) == found else -1


def lanes(name: str, w: Witness) -> int:
    import numpy as np

    a, b = (np.array([row], np.uint64) for row in (w.a, w.b))
    return int(unit(name).dot_bits(a, b, np.array([w.c], np.uint64))[0])


@pytest.mark.parametrize(
    ("a", "b", "c", "d"),
    [
        # A zero of the other sign than c's takes a unit of 2^(e_max - 24) away.
        (["1", "-0"], ["1", "1"], "0", "0x3f7fffff"),
        (["1", "0"], ["1", "1"], "0", "1"),
        (["-1", "-0"], ["1", "1"], "-0", "-1"),
        (["-1", "0"], ["1", "1"], "-0", "0xbf7fffff"),
        # Nothing but zeros, of either sign, is +0.
        (["-0", "0"], ["1", "1"], "-0", "0"),
        # Cut: 2^-24 stays beside 1, half of it does not.
        (["1", "0x0001"], ["1", "1"], "0", "0x3f800000"),
    ],
)
def test_complements_in_the_sign_of_c(a: list[str], b: list[str], c: str, d: str) -> None:
    assert result(RDNA3, a, b, c) == parse_value(resolve(RDNA3).d_format, d)


@pytest.mark.parametrize(
    ("a", "b", "c", "d"),
    [
        (0x48004200, 0x44004800, 0xBF800000, 0x425C0000),
        (0x3C003C00, 0x3C003C00, 0xC0000000, 0x00000000),
        (0x3C003C00, 0x3C000000, 0x80000000, 0x3F800000),
        (0x3C003C00, 0x3C003C00, 0xFF812345, 0xFFC12345),
        (0x3C007E01, 0x3C003C00, 0x00000000, 0xFFC00A3D),
        (0xFC007C00, 0x3C003C00, 0x7FC12345, 0xFFC00000),
        (0x00000001, 0x3C008001, 0x00000000, 0xA7800000),
        (0x49B3FCE2, 0x573A122B, 0x246A3C33, 0xFFC00A3D),
        (0x058EF3F3, 0x2B241C4A, 0xB8EED486, 0xC2886106),
        (0xBC003C00, 0x0001FBFF, 0x7F800000, 0x7F800000),
        (0xFCA10400, 0x8001FF64, 0xFF800000, 0xFFC00A3D),
    ],
)
def test_words_of_a_card(a: int, b: int, c: int, d: int) -> None:
    """v_dot2_f32_f16 on gfx1201: gfx1201_cases.h of ROCm's emulator; the low halves are the first pair."""
    w = Witness((a & 0xFFFF, a >> 16), (b & 0xFFFF, b >> 16), c)
    assert lanes(RDNA4, w) == oracle_result(resolve(RDNA4), w) == d


def test_pieces_are_cut_one_by_one() -> None:
    """1027² as 1024², twice 3·1024 and 9, in units of 2^11: whole it is 515, in pieces 512 + 1 + 1."""
    whole = "tfdpa@products=1,fraction_bits=9,normalise_operands=true,zero_exponent=-132"
    a = ["0x3c03"]
    assert result(whole, a, a, "1") == 0x40006000
    assert result(f"{whole},piece_bits=8", a, a, "1") == 0x40004000
    assert result(f"{whole},piece_bits=8,dropped_pieces=2", a, a, "1") == 0x40000000


def test_chains_of_pairs_round_each_pair() -> None:
    """1 + 2^-24 is 1 in each pair; two of 2^-24 are 2^-23 where they meet before they meet 1."""
    name = "sequential@products=8,summation=pair_chains,k=8,a_format=fp16,b_format=fp16"
    ones = ["1"] * 8
    assert result(name, ["1", "0x0001", "0", "0", "0x0001"], ones, "0") == 0x3F800000
    assert result(name, ["0x0001", "0x0001", "0", "0", "1"], ones, "0") == 0x3F800001
    assert result(name, ["1", "0", "0x0001", "0", "0", "0", "0x0001"], ones, "0") == 0x3F800001


@pytest.mark.parametrize(
    ("a", "b", "c", "d"),
    [
        # A product is cut to 46 bits below the largest one; c is not, however small it is.
        (["1", "2^-46"], ["1", "1"], "-1", "2^-46"),
        (["1", "2^-47"], ["1", "1"], "-1", "0"),
        (["1", "-1"], ["1", "1"], "2^-126", "2^-126"),
        # One rounding: a tie of the products' sum goes the way of the c that lies far below it.
        (["1", "2^-24"], ["1", "1"], "2^-100", "0x3f800001"),
        (["1", "2^-24"], ["1", "1"], "-2^-100", "1"),
        (["-1", "-2^-24"], ["1", "1"], "-2^-100", "0xbf800001"),
        # An infinity, and one of the other sign.
        (["inf", "1"], ["1", "1"], "1", "inf"),
        (["inf", "1"], ["1", "1"], "-inf", "0x7fffffff"),
        # A product has the exponent of its factors, whatever their significands come to.
        (["1.5", "-1.5", "2^-46"], ["1.5", "1.5", "1"], "0", "2^-46"),
    ],
)
def test_c_after_the_sum_of_the_products(a: list[str], b: list[str], c: str, d: str) -> None:
    assert result("gaudi2/mme.bf16", a, b, c) == parse_value(resolve("gaudi2/mme.bf16").d_format, d)


@pytest.mark.parametrize(
    ("change", "results"),
    [("", ("2^-126", "2^-126", "0")), ("@result_subnormals=tiny_zero", ("0", "2^-126", "0"))],
)
def test_the_bug_fix_rounds_as_subnormals(change: str, results: tuple[str, ...]) -> None:
    """2^-126 less 2^-150, 2^-151 and 2^-149: a subnormal of 23 bits, or a number of 24 with any exponent."""
    name = f"gaudi2/mme.bf16{change}"
    found = [result(name, ["-2^-75"], [x], "2^-126") for x in ("2^-75", "2^-76", "2^-74")]
    assert found == [parse_value(resolve(name).d_format, d) for d in results]


@pytest.mark.parametrize(
    ("a", "b", "c", "d"),
    [
        # A tie is a tie, and a hair more than one is none, whatever it lies below.
        (["1", "2^-12", "2^-24", "2^-24"], ["1", "2^-12", "2^-24", "-2^-24"], "1", "2"),
        (["1", "2^-12", "2^-23", "2^-23"], ["1", "2^-11", "2^-15", "2^-15"], "1", "0x40000001"),
        # A zero has a hidden bit: the tie is rounded up beside it, and zeros alone have the sign of a sum.
        (["1", "2^-12", "0", "0"], ["1", "2^-12", "0", "0"], "1", "2"),
        (["1", "2^-12", "0", "0"], ["1", "2^-12", "0", "0"], "0", "0x3f800001"),
        (["0", "0", "-0", "-0"], ["1.75", "1", "1.5", "2"], "0", "0"),
        (["-0", "-0", "0", "0"], ["1.75", "1.5", "1", "0"], "0", "-0"),
        # Four products of 3.998 and c: more than 16 wraps, and exactly 16 has no magnitude.
        (["0x3fff"] * 4, ["0x3fff"] * 4, "0.25", "-15.765621185302734375"),
        (
            ["0x3fdc", "0x3fff", "0x3fbf", "0x3fb1"],
            ["0x3f8d", "0x3ff7", "0x3fd7", "0x3fe8"],
            "0x3f36dfa0",
            "-0",
        ),
        # Nothing but what is cut off is no number.
        (["1", "-1", "2^-13", "0"], ["1", "1", "2^-12", "0"], "0", "0"),
    ],
)
def test_one_sticky_bit_and_zeros_with_a_hidden_one(a: list[str], b: list[str], c: str, d: str) -> None:
    """As Verilator runs VX_tcu_fedp_tfr."""
    name = "vortex/VX_tcu_fedp_tfr.fp16"
    assert result(name, a, b, c) == parse_value(resolve(name).d_format, d)


@pytest.mark.parametrize(
    ("a", "b", "c", "d"),
    [
        # 2^-126 + 2^-149 is 2^-126 + 2^-127 + 2^-149.
        (["2^-126"], ["1"], "0x00000001", 0x00C00001),
        (["-2^-113"], ["1.25"], "0x00000002", 0x871FFE00),
        # A c that is cut off, and a zero, leave a sticky bit.
        (["1", "2^-12"], ["1", "2^-12"], "0", 0x3F800001),
    ],
)
def test_a_subnormal_c_with_a_hidden_bit(a: list[str], b: list[str], c: str, d: int) -> None:
    """As Verilator runs VX_tcu_fedp_tfr for bf16 and tf32; its reference for simulation has no such bit."""
    assert result("vortex/VX_tcu_fedp_tfr.bf16", a, b, c) == d
    assert result("vortex/VX_tcu_fedp_tfr.tf32", a, b, c) == d
    assert result("vortex/VX_tcu_fedp_dpi.bf16", ["2^-126"], ["1"], "0x00000001") == 0x00800001


FMA16, FMA32 = "et-soc-1/TensorFMA16A32", "et-soc-1/TensorFMA32"


@pytest.mark.parametrize(
    ("a", "b", "c", "d"),
    [
        # 2^-27 and less: a c of the other sign that lost bits makes it 2^-25, or a zero of its sign.
        (["1", "-0.875"], ["1", "1"], "0xbdffffff", 0x33000000),
        (["-1", "0.875"], ["1", "1"], "0x3dffffff", 0xB3000000),
        (["1", "-0.875"], ["1", "1"], "0xbe000001", 0x80000000),
        # Cut toward zero.
        (["1", "1"], ["2^-12", "2^-13"], "-1", 0xBF7FE800),
        # Words that are all 0 in A, or in B, leave c as it is: a NaN, a subnormal; -0 is no such word.
        (["0", "0"], ["1", "inf"], "0xff800001", 0xFF800001),
        (["0", "0"], ["1", "1"], "0x00000001", 1),
        (["1", "2"], ["0", "0"], "-0", 0x80000000),
        (["-0", "0"], ["1", "1"], "0x00000001", 0),
        (["1", "2"], ["0", "-0"], "-0", 0),
    ],
)
def test_jammed_bits_and_skipped_blocks(a: list[str], b: list[str], c: str, d: int) -> None:
    """The words that Esperanto's emulator gives."""
    assert result(FMA16, a, b, c) == d


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            "lost_bits=jammed,fraction_bits=exact",
            "expected fraction_bits with lost_bits=jammed",
        ),
        ("lost_bits=jammed,alignment_rounding=RD", "expected alignment_rounding=RZ with lost_bits=jammed"),
        ("lost_bits=jammed,zero_exponent=-132", "expected zero_exponent=none with lost_bits=jammed"),
        (
            "zero_words=skipped,nan_rule=first_operand,products=1",
            "expected nan_rule=word with zero_words=skip",
        ),
    ],
)
def test_what_no_source_gives_a_meaning_rejects(change: str, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{sentence}"):
        resolve(f"tfdpa@zero_exponent=none,{change}" if "zero_exp" not in change else f"tfdpa@{change}")
