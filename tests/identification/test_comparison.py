"""`compare` on products and bugs that were made without the package."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tcformal
from identification.made_products import AMPERE, HOPPER, Arithmetic, Made, chain, every_case, operands
from tcformal.cli.compare import headline
from tcformal.errors import InputError
from tcformal.identification.comparison import Compared, Difference, compare_outputs
from tcformal.identification.outputs import outputs, read_array

RNG = np.random.default_rng(5)
A, B = operands(RNG, (16, 24, 64))
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
    return compare_outputs(outputs(expected, got, A, B, **more), arch="hopper")  # type: ignore[arg-type]


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


def test_elements_that_rounding_explains_are_not_called_a_bug() -> None:
    """A few results one unit in the last place off, which no recipe gives."""
    near = GOT.copy()
    near.view(np.uint32)[2:4, 5:9] ^= np.uint32(1) + np.arange(4, dtype=np.uint32) % 2 * np.uint32(2)
    assert compared(GOT, near).kind is Difference.UNEXPLAINED


def test_runs_that_differ_are_not_deterministic() -> None:
    case = outputs(EXPECTED, GOT, A, B)
    found = compare_outputs(case, [case.got, case.expected], arch="hopper")
    assert found.kind is Difference.VARYING


def test_sums_in_another_format() -> None:
    """Hopper's sums in fp16 and in fp32, both stored as fp16."""
    narrow = tcformal.unit("hopper/mma.m16n8k16.f16.f16.f16.f16").matmul(A, B)
    wide = GOT.astype(np.float16)
    found = compared(wide, narrow)
    assert found.kind is Difference.FORMAT
    assert "sums in fp32 and in fp16" in headline(found)[1]


def test_multiply_adds_of_no_unit_are_named_as_such() -> None:
    d = chain(A, B, np.zeros((16, 24), np.float32))
    found = tcformal.compare(GOT, d, a=A, b=B)
    assert found.kind is Difference.ROUNDING
    assert not found.got[0].units or "fma" in found.got[0].model.unit.name


def test_b_may_lie_as_a_weight() -> None:
    assert compare_outputs(outputs(GOT, GOT, A, np.ascontiguousarray(B.T)), arch="hopper").expected


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"got": GOT[:, :5]}, r"expected got of shape \[16, 24\]"),
        ({"got": GOT.astype(np.float64)}, "expected outputs of one dtype"),
        ({"b": B[:5]}, r"expected b of shape \[64, 24\]"),
        ({"a": A.astype(np.int32)}, "expected floating-point values in a, but got int32"),
        ({"bias": np.ones(7, np.float32)}, r"expected bias that broadcasts to \[16, 24\]"),
        ({"a": A[0]}, r"expected a matrix a, but got shape \[64\]"),
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
    ],
)
def test_files_that_say_too_little_are_refused(
    text: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("both.npz", a=A, b=B)
    np.save("n.npy", A.view(np.uint16))
    Path("d.bin").write_bytes(GOT.tobytes())
    Path("torn.npz").write_bytes(Path("both.npz").read_bytes()[:200])
    with pytest.raises(InputError, match=sentence):
        read_array(text)
