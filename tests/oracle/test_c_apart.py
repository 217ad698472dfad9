"""c aligned apart, or after the sum of the products; chains of pairs, pieces: small sums, words of a card."""

from __future__ import annotations

import numpy as np
import pytest

from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.oracle.exact import unit_dot
from tcformal.oracle.values import parse_value
from tcformal.simulation.matrix_unit import replay, unit
from tcformal.simulation.operands.batch import witness_at
from tcformal.simulation.operands.inputs import inputs_to_try
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result

WMMA = "v_wmma_f32_16x16x16_f16"
#: One step of RDNA4's sum with two products, and of RDNA3's.
RDNA = (
    "tfdpa@products=2,c_fraction_bits=26,conversion=RNE-FP32,nan_rule=products_c,"
    "factor_nan_word=0xffc00a3d,nan_word=0xffc00000"
)
RDNA4 = f"{RDNA},aligned_group=2,alignment_rounding=RD,vanished_c=dropped,zero_exponent=-128"
RDNA3 = f"{RDNA},accumulation=ones_complement,zero_exponent=none"
#: One sum with e_max over the products alone.
BESIDE = "tfdpa@products=3,fraction_bits=10,e_max_of=products,conversion=RNE-FP32"
TINY = "x86/vdpbf16ps@result_subnormals=tiny_zero"


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
    ("settings", "a", "c", "d"),
    [
        # c raises no exponent: beside 2^12 as a c, 2^-3 stays, which all terms at 2^12 would lose.
        ("", ["1", "-1", "2^-3"], "2^12", "4096.125"),
        # c is cut below the products' unit, toward zero or down.
        ("", ["1", "0", "0"], "3*2^-11", "1025*2^-10"),
        (",alignment_rounding=RD", ["1", "0", "0"], "-2^-20", "1023*2^-10"),
        (",c_bits=12", ["1", "0", "0"], "3*2^-12", "4099*2^-12"),
        # Nothing has an exponent where all products are zeros; with an exponent of zeros, c is cut there.
        (",zero_exponent=none", ["0", "0", "-0"], "5", "0"),
        (",zero_exponent=-10", ["0", "0", "0"], "3*2^-21", "2^-20"),
        (",zero_exponent=-10", ["0", "0", "0"], "2^100", "2^100"),
        # An accumulator of 5 bits before the binary point and one for the sign: 32 + 1 wraps, 15 + 1 is 16.
        (",carry_bits=4", ["1", "0", "0"], "32", "-31"),
        (",carry_bits=4", ["1", "0", "0"], "15", "16"),
        (",carry_bits=4", ["1", "0", "0"], "2^30", "1"),
    ],
)
def test_a_largest_exponent_of_the_products_alone(settings: str, a: list[str], c: str, d: str) -> None:
    spec = resolve(BESIDE + settings)
    assert result(spec.name, a, ["1"] * 3, c) == parse_value(spec.d_format, d)


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


@pytest.mark.parametrize(
    ("a", "b", "c", "d"),
    [
        (0x2061BC39, 0x96B40093, 0x0056DD77, 0x00553463),
        (0x0364BC8C, 0x3C468385, 0x807FFFFE, 0x0069A402),
        (0x8129061C, 0xBFAAB964, 0x007FFFFD, 0x017DB7FE),
        (0x8522326B, 0xBBD88D2F, 0x00800002, 0x01949B60),
        (0x2DD81116, 0x924AAEDF, 0x807FFFFA, 0x81568CFD),
        (0x00000001, 0x3F804980, 0x00000000, 0x07000000),
        (0xC395629B, 0xD9633359, 0xDC60025C, 0x5D504184),
    ],
)
def test_words_of_a_card_in_bf16(a: int, b: int, c: int, d: int) -> None:
    """v_dot2_f32_bf16 on gfx1201, around the least normal number."""
    name = f"{RDNA4},a_format=bf16,b_format=bf16"
    w = Witness((a & 0xFFFF, a >> 16), (b & 0xFFFF, b >> 16), c)
    assert lanes(name, w) == oracle_result(resolve(name), w) == d


@pytest.mark.parametrize(
    ("product", "d"),
    [("2^-75", "0"), ("2^-76", "2^-126"), ("2^-74", "0"), ("2^-77", "2^-126")],
)
def test_a_number_that_only_rounds_up_to_the_least_normal_one(product: str, d: str) -> None:
    """2^-126 less 2^-149 to 2^-152: as an AMD EPYC and Bochs round them."""
    assert result(TINY, ["-2^-75"], [product], "2^-126") == parse_value(resolve(TINY).d_format, d)


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


def test_pieces_of_twelve_bits_then_c() -> None:
    """Both middle pieces of (1 + 2^-23)²·2^-24 are half a unit beside 1: cut one by one, whole a unit."""
    a, b = ["1", "0x3f800001"], ["1", "0x33800001"]
    assert result("gaudi2/mme.fp32", a, b, "-1") == 0x33800000
    assert result("gaudi2/mme.fp32@piece_bits=none", a, b, "-1") == 0x33800002


def test_four_chains_are_rolled_up() -> None:
    """2^24, 1 and 1: whether the ones meet first depends on cd, as Intel's model says."""
    eight, five = "gaudi/mme.bf16.cd8", "gaudi/mme.bf16.cd5"
    big = ["0", "0", "2^24", "1"], ["1"] * 4
    assert result(eight, *big, "0") == 0x4B800000
    assert result(five, *big, "1") == result(five, ["0", "0", "2^24", "2"], ["1"] * 4, "0") == 0x4B800001
    assert result(eight, *big, "1") == 0x4B800000


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


def test_imaginary_parts_are_subtracted() -> None:
    assert result("x86/tcmmrlfp16ps", ["2", "3"], ["5", "7"], "1") == 0xC1200000
    assert result("x86/tcmmimfp16ps", ["2", "3"], ["5", "7"], "1") == 0x42000000


def test_wmma_goes_step_by_step() -> None:
    """The units are chains of such steps: RDNA3's of two products, RDNA4's of four."""
    for name, step in ((f"rdna3/{WMMA}", 2), (f"rdna4/{WMMA}", 4)):
        assert resolve(name).design.products == step
        assert result(name, ["1"] * 16, ["1"] * 16, "1") == 0x41880000


SCALED = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"
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


def test_a_chain_skips_products_of_the_word_0() -> None:
    assert result(FMA32, ["0"], ["inf"], "0x7f800001") == 0x7F800001
    assert result(FMA32, ["-0"], ["inf"], "1") == 0x7FC00000
    assert result(f"{FMA32}@zero_words=summed", ["0"], ["inf"], "1") == 0x7FC00000
    # A NaN that the first step leaves as it is has the unit's word after the next.
    twice = "sequential@products=1,k=2,zero_words=skipped,nan_word=0x7fc00000"
    assert result(twice, ["0", "0"], ["1", "1"], "0xff800001") == 0xFF800001
    assert result(twice, ["0", "1"], ["1", "1"], "0xff800001") == 0x7FC00000


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


def test_a_skipped_block_rejects_another_format_of_c() -> None:
    zeros = np.zeros((1, 2), np.uint16)
    with pytest.raises(InputError, match=r"^expected C and D of one format for zero_words=skipped, but got "):
        unit("tfdpa@products=2,c_format=fp16,zero_words=skipped").dot_bits(zeros, zeros, zeros[0, :1])


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("gaudi3/mme.fp16@dropped_pieces=9", "expected dropped_pieces that leave some of a product"),
        (f"{SCALED}@piece_bits=2", "expected no scales where products are cut"),
        (f"{SCALED}@lost_bits=halves,c_position=after", "expected no scales where products are cut"),
    ],
)
def test_pieces_of_nothing_and_of_scaled_products_reject(name: str, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{sentence}"):
        resolve(name)


@pytest.mark.parametrize("settings", ["e_max_of=products", "c_bits=12", "c_alignment_rounding=RD"])
def test_the_sum_so_far_is_the_c_of_a_step(settings: str) -> None:
    """A tree in steps gives what a unit gives step by step: the only inner sum beside products is their c."""
    own = (
        f"{settings},fraction_bits=10,zero_exponent=own,zero_sign=sum,conversion=RZ-FP32,nan_word=0x7fffffff"
    )
    steps, tree = resolve(f"tfdpa@products=2,k=2,{own}"), resolve(f"tree@steps=(4+5+(2+3+(0+1+c))),{own}")
    pool = inputs_to_try(tree, 6, 400, 3)
    given = replay(tree, pool)
    assert (given == replay(steps, pool)).all()
    for row in range(40):
        assert oracle_result(tree, witness_at(pool, row)) == given[row]
