"""`compare` on products and bugs that were made without the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import tcformal
from identification.made_products import AMPERE, HOPPER, Arithmetic, Made, chain, every_case, operands
from tcformal.cli import main
from tcformal.cli.compare import headline
from tcformal.encodings.catalog import FORMATS
from tcformal.errors import InputError, SolverDisagreementError
from tcformal.identification.bugs import subnormal_products
from tcformal.identification.comparison import Compared, Difference, compare_outputs, loss
from tcformal.identification.outputs import outputs
from tcformal.identification.product_elements import Elements
from tcformal.simulation.array_files import read_array

RNG = np.random.default_rng(5)
A, B = operands(RNG, (16, 24, 64))
PLACES = np.argwhere(np.ones((16, 24), np.bool_))
EXPECTED, GOT = AMPERE.product(A, B), HOPPER.product(A, B)


def answer(case: Made) -> tuple[str, str]:
    """The first line on a case."""
    return headline(tcformal.compare(case.expected, case.got, a=case.a, b=case.b, **case.more))


def wrong(case: Made) -> str:
    """What is wrong with the first line on a case; empty where nothing is."""
    word, rest = answer(case)
    return "" if word == case.wanted and case.says in rest else f"{case.name}: {word}: {rest}"


CASES = [case for case in every_case() if "(16, 16, 64)" in case.name]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_first_lines_on_small_cases(case: Made) -> None:
    assert not wrong(case)


@pytest.mark.long
def test_first_lines_on_120_cases() -> None:
    """At least 110 right; no bug is called rounding, and no rounding a bug."""
    cases = every_case()
    assert len(cases) == 120
    answers = [(case, *answer(case)) for case in cases]
    roundings = (
        Difference.ROUNDING.value,
        Difference.ORDER.value,
        Difference.FORMAT.value,
        Difference.SAME.value,
    )
    for case, word, rest in answers:
        assert (word in roundings) <= (case.wanted in roundings), f"{case.name}: {word}: {rest}"
        assert (word == "BUG") <= (case.wanted == "BUG"), f"{case.name}: {word}: {rest}"
    right = [case for case, word, rest in answers if word == case.wanted and case.says in rest]
    assert len(right) >= 110


def compared(expected: object = EXPECTED, got: object = GOT, **more: object) -> Compared:
    """Two outputs of A·B on units of two architectures alone, which is quick."""
    return compare_outputs(outputs(expected, got, a=A, b=B, **more), arch="hopper")  # type: ignore[arg-type]


def test_one_output_says_what_made_it() -> None:
    found = compared(GOT)
    assert found.kind is Difference.SAME
    assert "hopper/mma.m16n8k16.f32.f16.f16.f32" in found.expected[0].units
    assert found.checked == GOT.size


def test_a_bug_of_the_expected_output_is_said_to_be_there() -> None:
    wrong_one = GOT.copy()
    wrong_one.view(np.uint32)[2, 3] ^= np.uint32(1 << 25)
    found = compared(wrong_one, GOT)
    assert found.kind is Difference.BUG
    assert found.bug is not None
    assert found.bug.side == "expected"
    assert found.first == found.worst == (2, 3)


@pytest.mark.slow
def test_what_no_unit_makes_is_unexplained() -> None:
    """A noise of a few units in the last place is neither a bug that is known nor a unit's rounding."""
    words = GOT.view(np.uint32) + RNG.integers(0, 3, GOT.shape, dtype=np.uint32)
    found = compared(GOT, words.view(np.float32))
    assert found.kind is Difference.UNEXPLAINED
    assert found.share is not None


def test_a_difference_beyond_every_proved_bound_is_a_bug() -> None:
    noise = GOT + 30 * RNG.standard_normal(GOT.shape).astype(np.float32)
    found = compared(GOT, noise)
    assert found.kind is Difference.BUG
    assert found.bug is not None
    assert not found.bug.exact
    assert found.share is not None
    assert found.share > 1


def test_tiles_that_are_summed_in_another_order_are_no_bug() -> None:
    """Some rows by split-K: a recipe gives them."""
    mixed = GOT.copy()
    mixed[:5] = Arithmetic("", HOPPER.block, HOPPER.bits, 2).product(A, B)[:5]
    found = compared(GOT, mixed)
    assert found.kind is Difference.ORDER
    assert "rows 0 to 4" in headline(found)[1]


@pytest.mark.slow
def test_elements_that_rounding_explains_are_not_called_a_bug() -> None:
    """A few results one unit in the last place off, which no recipe gives."""
    near = GOT.copy()
    near.view(np.uint32)[2:4, 5:9] ^= np.uint32(1) + np.arange(4, dtype=np.uint32) % 2 * np.uint32(2)
    assert compared(GOT, near).kind is Difference.UNEXPLAINED


def test_runs_that_differ_are_not_deterministic() -> None:
    case = outputs(EXPECTED, GOT, a=A, b=B)
    found = compare_outputs(case, [case.got, case.expected], arch="hopper")
    assert found.kind is Difference.VARYING


@pytest.mark.parametrize("run", [GOT[:5], GOT.astype(np.float16)])
def test_a_run_of_another_shape_or_format_is_refused(run: NDArray[Any]) -> None:
    case = outputs(EXPECTED, GOT, a=A, b=B)
    with pytest.raises(InputError, match="expected another run of shape"):
        compare_outputs(case, [run.view(f"u{run.itemsize}")], arch="hopper")


def test_nans_of_two_words_are_alike() -> None:
    a, d = A.copy(), GOT.copy()
    a[3] = np.nan
    d[3] = np.nan
    other = d.copy()
    other.view(np.uint32)[3] = 0x7FFFFFFF
    assert compare_outputs(outputs(d, other, a=a, b=B), arch="hopper").kind is Difference.SAME


@pytest.mark.slow
def test_results_in_a_format_without_inf() -> None:
    """Hopper's sums, stored as e4m3; one is wrong."""
    d = (GOT / 16).astype(ml_dtypes.float8_e4m3fn)
    assert compared(d, d, alpha=1 / 16).kind is Difference.SAME
    assert compared(d, d, alpha=1 / 16).expected
    other = d.copy()
    other.view(np.uint8)[1, 1] ^= 0x40
    assert compared(d, other, alpha=1 / 16).kind is Difference.BUG


def test_a_recipe_that_the_oracle_does_not_confirm_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is named was computed on circuits and in exact fractions."""
    monkeypatch.setattr("tcformal.identification.comparison.program_result", lambda *_, **__: 7)
    with pytest.raises(SolverDisagreementError, match="but got 0x7 of the oracle"):
        compared(GOT)


@pytest.mark.parametrize("c", [None, 2.0**12])
def test_what_rounding_can_make_is_more_than_it_makes(c: float | None) -> None:
    """Recipes of several kinds against sums in binary64; beside C, which some begin with."""
    extra = None if c is None else np.full((16, 24), c, np.float32)
    exact, size = Elements.of(outputs(GOT, a=A, b=B, c=extra), PLACES).sums()
    for name in ("plain", "cublaslt-66@grain=32,splits=2", "cublaslt-21@tile=16"):
        model = tcformal.gemm("hopper/mma.m16n8k16.f32.f16.f16.f32", name)
        found = loss(model, 64, extra is not None)
        assert found is not None
        lost = np.abs(model.matmul(A, B, extra).reshape(-1) - exact)
        assert (lost <= found[0] * size + found[1]).all()
        assert found[0] < 1e-4


def test_a_theorem_from_zero_is_not_used_beside_c() -> None:
    model = tcformal.gemm("hopper/mma.m16n8k16.f32.f16.f16.f32")
    first, beside = loss(model, 64, False), loss(model, 64, True)
    assert first is not None
    assert beside is not None
    assert beside[0] > first[0]


def test_sums_in_another_format() -> None:
    """Hopper's sums in fp16 and in fp32, both stored as fp16."""
    narrow = tcformal.unit("hopper/mma.m16n8k16.f16.f16.f16.f16").matmul(A, B)
    wide = GOT.astype(np.float16)
    found = compared(wide, narrow)
    assert found.kind is Difference.FORMAT
    assert "sums in fp32 and in fp16" in headline(found)[1]


@pytest.mark.slow
def test_multiply_adds_of_no_unit_are_named_as_such() -> None:
    d = chain(A, B, np.zeros((16, 24), np.float32))
    found = tcformal.compare(GOT, d, a=A, b=B)
    assert found.kind is Difference.ROUNDING
    assert not found.got[0].units or "fma" in found.got[0].model.unit.name


def test_b_may_lie_as_a_weight() -> None:
    assert compare_outputs(outputs(GOT, a=A, b=np.ascontiguousarray(B.T)), arch="hopper").expected


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"got": GOT[:, :5]}, r"expected got of shape \[16, 24\]"),
        ({"got": GOT.astype(np.float64)}, "expected outputs of one dtype"),
        ({"b": B[:5]}, r"expected b of shape \[64, 24\]"),
        (
            {"a": A.astype(np.int32)},
            "expected operands that a catalogued unit takes, but got int32 and float16",
        ),
        ({"bias": np.ones(7, np.float32)}, r"expected bias that broadcasts to \[16, 24\]"),
        ({"a": A[0]}, r"expected a matrix a, but got shape \[64\]"),
        ({"beta": 2.0}, "expected C beside beta = 2.0"),
        ({"alpha": float("nan")}, "expected a finite number for alpha"),
        ({"scale_a": np.ones((16, 1))}, "expected scale_a and scale_b together"),
        (
            {"scale_a": np.ones((16, 2)), "scale_b": np.ones((3, 24))},
            r"scale_b \[blocks, 24\], but got \[16, 2\]",
        ),
        ({"library": "cublast"}, "expected a known library, but got 'cublast'"),
        (
            {"a": A.astype(np.float64)},
            "expected operands that a catalogued unit takes, but got float64 and float16",
        ),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, object], sentence: str) -> None:
    whole: dict[str, object] = {"expected": EXPECTED, "got": GOT, "a": A, "b": B} | given
    with pytest.raises(InputError, match=sentence):
        tcformal.compare(whole.pop("expected"), whole.pop("got"), **whole)  # type: ignore[arg-type]


def test_arrays_of_files(tmp_path: Path) -> None:
    """NumPy's two kinds, words without a name of their format, safetensors, and raw words."""
    np.save(tmp_path / "a.npy", A)
    assert (read_array(str(tmp_path / "a.npy")) == A).all()
    np.savez(tmp_path / "both.npz", a=A, b=B)
    assert (read_array(f"{tmp_path}/both.npz:b") == B).all()
    wide = A.astype(ml_dtypes.bfloat16)
    np.save(tmp_path / "w.npy", wide)  # whose dtype NumPy forgets
    assert read_array(str(tmp_path / "w.npy")).dtype == ml_dtypes.bfloat16
    narrow = A.astype(ml_dtypes.float8_e4m3fn)
    np.save(tmp_path / "n.npy", narrow.view(np.uint8))
    assert (read_array(f"{tmp_path}/n.npy:e4m3").view(np.uint8) == narrow.view(np.uint8)).all()
    assert (read_array(f"{tmp_path}/n.npy:float8_e4m3fn").view(np.uint8) == narrow.view(np.uint8)).all()
    assert (read_array(f"{tmp_path}/n.npy", FORMATS["e4m3"]).view(np.uint8) == narrow.view(np.uint8)).all()
    np.save(tmp_path / "x2.npy", np.array([[0x21, 0xF0]], np.uint8))
    assert (read_array(f"{tmp_path}/x2.npy:float4_e2m1fn_x2") == [[0.5, 1, 0, -6]]).all()
    (tmp_path / "d.bin").write_bytes(GOT.tobytes())
    assert (read_array(f"{tmp_path}/d.bin:fp32:16x24") == GOT).all()
    head = b'{"w":{"dtype":"BF16","shape":[16,64],"data_offsets":[0,2048]}}'
    (tmp_path / "w.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + wide.tobytes())
    assert (read_array(f"{tmp_path}/w.safetensors").view(np.uint16) == wide.view(np.uint16)).all()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("none.npy", "expected a file of an array, but there is no none.npy"),
        ("both.npz", "NAME with one of a, b"),
        ("n.npy", "words need their format"),
        ("d.bin", "FORMAT:ROWSxCOLUMNS"),
        ("d.bin:fp32:16x25", "expected 16x25 words of fp32"),
        ("torn.npz:a", "expected an array in .*torn.npz"),
        ("list.safetensors:a", "expected an array in list.safetensors, but got: a header that is no table"),
        ("number.safetensors:a", "a header that is no table of arrays"),
        ("short.safetensors:a", "fewer words than it says"),
    ],
)
def test_files_that_say_too_little_are_refused(
    text: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("both.npz", a=A, b=B)
    np.save("n.npy", A.view(np.uint16))
    Path("d.bin").write_bytes(GOT.tobytes())
    heads = {"list": b"[]", "number": b'{"a": 1}'}
    heads["short"] = b'{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}'
    for name, head in heads.items():
        Path(f"{name}.safetensors").write_bytes(len(head).to_bytes(8, "little") + head)
    Path("torn.npz").write_bytes(Path("both.npz").read_bytes()[:200])
    with pytest.raises(InputError, match=sentence):
        read_array(text)


@pytest.mark.slow
def test_scales_of_another_block_are_named() -> None:
    """DeepGEMM's product, fp8 with block scales."""
    a, b = operands(RNG, (16, 24, 256), ml_dtypes.float8_e4m3fn)
    scales: dict[str, Any] = {
        "scale_a": RNG.uniform(0.5, 2, (16, 2)).astype("f4"),
        "scale_b": np.ones((2, 24), "f4"),
    }
    model = tcformal.gemm("hopper/wgmma.m64n8k32.f32.e4m3.e4m3", "deepgemm-sm90")
    d = model.matmul(a, b, **scales)
    found = tcformal.compare(d, a=a, b=b, arch="hopper", **scales)
    assert any(p.model.recipe.name.startswith("deepgemm") for p in found.expected)
    wrong = model.matmul(a, b, scale_a=np.ones((16, 2), "f4"), scale_b=scales["scale_b"])
    bug = tcformal.compare(d, wrong, a=a, b=b, arch="hopper", **scales).bug
    assert bug is not None
    assert bug.what == "the scales of A are left out"


def test_an_archive_is_enough(tmp_path: Path) -> None:
    """Its factors as well; `alpha` of two numbers is refused."""
    path = tmp_path / "case.npz"
    words = ("compare", str(path), "--gpu", "h100", "--json")
    np.savez(path, a=A, b=B, expected=GOT, got=(0.5 * GOT).astype(np.float32), alpha=1.0)
    said = CliRunner().invoke(main, words)
    assert said.exit_code == 1
    assert json.loads(said.stdout)["verdict"] == "BUG"
    np.savez(path, a=A, b=B, expected=(0.5 * GOT).astype(np.float32), alpha=np.float32(0.5))
    said = CliRunner().invoke(main, words)
    assert said.exit_code == 0
    assert json.loads(said.stdout)["verdict"] == "MADE BY"
    np.savez(path, a=A, b=B, expected=GOT, alpha=np.ones(2))
    refused = CliRunner().invoke(main, words)
    assert refused.exit_code == 2
    assert "expected one number alpha" in refused.output
    path.write_bytes(path.read_bytes()[:99])
    assert CliRunner().invoke(main, words).exit_code == 2


def test_the_fields_of_stream_k_are_proposed() -> None:
    """Hopper's sums of tiles of 16 by 8, shared out among four workers in steps of 16 products."""
    order = "stream-k@stream=4,tile=16,tile_m=16,tile_n=8"
    d = tcformal.gemm("hopper/mma.m16n8k16.f32.f16.f16.f32", order).matmul(A, B)
    found = compared(GOT, d)
    assert found.kind is Difference.ORDER
    assert order in headline(found)[1]
    other = d.copy()
    other.view(np.uint32)[3, 5] ^= np.uint32(1 << 25)
    assert compared(GOT, other).kind is Difference.BUG


@pytest.fixture(scope="module")
def block_scaled() -> dict[str, NDArray[Any]]:
    """Operands of Blackwell's mxf8f6f4 with scales of blocks, and its product."""
    a, b = (RNG.standard_normal(shape).astype(ml_dtypes.float8_e4m3fn) for shape in ((16, 96), (96, 24)))
    scale_a, scale_b = (
        np.exp2(RNG.integers(-3, 4, shape)).astype(np.float32).astype(ml_dtypes.float8_e8m0fnu)
        for shape in ((16, 3), (3, 24))
    )
    unit = tcformal.unit("rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0")
    return {"expected": unit.matmul(a, b, None, scale_a, scale_b), "a": a, "b": b,
            "scale_a": scale_a, "scale_b": scale_b}  # fmt: skip


def test_scales_of_blocks_are_taken_by_units(block_scaled: dict[str, Any]) -> None:
    found = tcformal.compare(**block_scaled)
    assert headline(found, one=True)[0] == "MADE BY"
    assert all("mxf8f6f4" in name for p in found.expected for name in p.units)


def test_a_scale_of_another_block_is_a_bug(block_scaled: dict[str, Any]) -> None:
    """By fractions in binary64, which hold these sums: all but what the unit cuts off."""
    x = {name: block_scaled[name].astype(np.float64) for name in ("a", "b", "scale_a", "scale_b")}
    moved = np.roll(x["scale_a"], 1, axis=1)
    exact = (x["a"] * np.repeat(moved, 32, 1)) @ (x["b"] * np.repeat(x["scale_b"], 32, 0))
    unit = tcformal.unit("rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0")
    scale_a = np.roll(block_scaled["scale_a"], 1, axis=1)
    got = unit.matmul(block_scaled["a"], block_scaled["b"], None, scale_a, block_scaled["scale_b"])
    assert np.allclose(got, exact, rtol=1e-2, atol=1e-2)
    found = tcformal.compare(got=got, **block_scaled)
    assert found.kind is Difference.BUG
    assert "blocks use the scale of the block before of A" in headline(found)[1]


def test_scales_that_no_unit_takes_are_refused(block_scaled: dict[str, Any]) -> None:
    short = block_scaled | {"scale_a": block_scaled["scale_a"][:, :2], "scale_b": block_scaled["scale_b"][:2]}
    with pytest.raises(InputError, match="expected operands that a catalogued unit takes"):
        tcformal.compare(**short)


@pytest.mark.slow
def test_cuts_of_sums_are_no_answer_about_a_few_elements() -> None:
    """Of thousands of cuts some give four elements by accident."""
    rng = np.random.default_rng(8)
    a, b = operands(rng, (8, 8, 480))
    d = tcformal.gemm("hopper/mma.m16n8k16.f32.f16.f16.f32", "onednn@promotion=224").matmul(a, b)
    whole = compare_outputs(outputs(d, a=a, b=b), arch="hopper")
    assert 224 in {p.model.recipe.promotion for p in whole.expected}
    assert not compare_outputs(outputs(d[:2, :2], a=a[:2], b=b[:, :2]), arch="hopper").expected


def test_subnormal_products_are_as_large_as_their_scales() -> None:
    """One subnormal factor of e4m3, taken as the least normal, 2^-6, in a block of scales 4 and 2."""
    a, b = (np.zeros((1, 32), ml_dtypes.float8_e4m3fn) for _ in "ab")
    a[0, 3], b[0, 3] = 2.0**-9, 1
    scales = [np.full((1, 1), x, ml_dtypes.float8_e8m0fnu) for x in (4, 2)]
    d = np.zeros((1, 1), np.float32)
    case = outputs(d, a=a, b=b.T, scale_a=scales[0], scale_b=scales[1])
    assert subnormal_products(Elements.of(case, np.array([[0, 0]]))).tolist() == [2.0**-6 * 8]
