"""Rounding or bug: designs that give an expected result, and designs that give the one that came."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tcformal.cli import main
from tcformal.design.names import resolve
from tcformal.errors import InputError, SolverDisagreementError
from tcformal.identification import causes
from tcformal.identification.causes import (
    FaultKind,
    MismatchCase,
    MismatchKind,
    MismatchValue,
    MismatchVerdict,
    SumFault,
    by_accident,
    case_of,
    computations,
    exact_sum,
    explain_mismatch,
    faults_that_give,
    read_cases,
)
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import batch_of
from tcformal.simulation.operands.witness import Witness

#: A unit with few others of its formats: every design is tried in a second.
VOLTA = "volta/mma.m8n8k4.f16.f16.f16.f16"
HOPPER = "hopper/mma.m16n8k8.f16.f16.f16.f16"
SCALED = "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0"
TURING = "turing/mma.m16n8k8.f16.f16.f16.f16"
#: 1 + 2^-24 - 1: Turing keeps 24 fraction bits, Volta 23.
CASE: dict[str, Any] = {
    "a": ["1", "2^-12", "-1", "0"], "b": ["1", "2^-12", "1", "0"], "c": "0", "expected": "0", "got": "2^-24",
}  # fmt: skip


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """One parameter of each unit is varied, one way: enough to tell the kinds apart."""
    from tcformal.design.axes import neighbours as real

    keys = ("@fraction_bits=25", "@fraction_bits=23", "@conversion=RZ-FP32")
    monkeypatch.setattr(
        causes, "neighbours", lambda spec: (u for u in real(spec) if any(key in u.name for key in keys))
    )


def padded(case: dict[str, Any], k: int) -> dict[str, Any]:
    return case | {name: case[name] + ["0"] * (k - len(case[name])) for name in ("a", "b")}


@pytest.mark.usefixtures("few")
def test_both_results_are_arithmetic() -> None:
    spec = resolve(VOLTA)
    found = explain_mismatch(spec, [case_of(spec, CASE, "here")])
    assert found.verdict is MismatchVerdict.ROUNDING
    assert found.own == (0,)
    assert found.exact == (Fraction(1, 2**24),)
    assert found.expected[0].design is spec
    assert found.expected[0].kind is MismatchKind.UNIT
    names = {name for p in found.got for name in p.units}
    assert {HOPPER, TURING} <= names
    assert not any("@" in name for name in names)
    assert (found.hints, found.faults) == (None, ())
    assert "the exact sum, rounded once" in {p.what for p in found.got}
    assert found.pair is not None
    assert [p.design for p in found.pair] == [spec, resolve(TURING)]
    assert found.divergence is not None
    assert found.divergence.stage == "the alignment of a[1]·b[1] at block0"


@pytest.mark.usefixtures("few")
def test_a_result_that_no_design_gives_is_no_arithmetic() -> None:
    spec = resolve(VOLTA)
    found = explain_mismatch(spec, [case_of(spec, CASE | {"got": "3"}, "here")])
    assert (found.verdict, found.got, found.pair) == (MismatchVerdict.UNEXPLAINED, (), None)
    assert found.tried > 5
    assert found.hints is not None
    assert (found.hints.expected, found.hints.got, found.divergence) == ((), (), None)
    assert found.hints.tried > 3


def normals(seed: int, k: int = 16) -> Witness:
    rng = np.random.default_rng(seed)
    a, b = (rng.standard_normal(k).astype(np.float16).view(np.uint16).tolist() for _ in "ab")
    return Witness(tuple(a), tuple(b), 0)


def results(name: str, *witnesses: Witness) -> list[int]:
    return [int(x) for x in replay(resolve(name), batch_of(witnesses))]


def case(w: Witness, expected: int, got: int) -> MismatchCase:
    return MismatchCase(w, MismatchValue(expected, False), MismatchValue(got, False))


WIDE = {arch: f"{arch}/mma.m16n8k16.f32.f16.f16.f32" for arch in ("ampere", "ada", "hopper")}


@pytest.mark.slow
def test_an_altered_unit_is_a_hint_and_no_rounding() -> None:
    """Of several elements, so that no unit gives them by accident."""
    spec, altered = resolve(WIDE["ampere"]), WIDE["ampere"] + "@conversion=RU-FP32"
    inputs = [normals(seed) for seed in range(20)]
    rows = zip(inputs, results(spec.name, *inputs), results(altered, *inputs), strict=True)
    pairs = [row for row in rows if row[1] != row[2]][:4]
    found = explain_mismatch(spec, [case(*x) for x in pairs])
    assert (found.verdict, found.got) == (MismatchVerdict.UNEXPLAINED, ())
    assert found.expected[0].design is spec
    assert found.hints is not None
    assert altered in {p.design.name for p in found.hints.got}
    assert found.hints.got[0].kind is MismatchKind.VARIATION
    assert found.hints.expected == ()
    assert found.hints.chances[1] is not None
    assert 0 < found.hints.chances[1] < 0.5


def small_product(seed: int) -> tuple[Witness, int]:
    """Random operands with one product of a few units in the last place of the sum, and its place."""
    w, i = normals(seed), seed % 16
    a, b = list(w.a), list(w.b)
    a[i], b[i] = a[i] & 0x83FF | 0x1400, b[i] & 0x83FF | 0x1400  # 2^-10 and more
    return Witness(tuple(a), tuple(b), 0), i


@pytest.mark.slow
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("kind", list(FaultKind))
def test_a_faulty_product_is_no_rounding_even_where_a_unit_gives_the_result(kind: FaultKind) -> None:
    verdicts = set()
    spec = resolve(WIDE["hopper"])
    for seed in range(12):
        w, i = small_product(seed)
        word = {FaultKind.LEFT_OUT: 0, FaultKind.TWICE: w.a[i] + 0x400, FaultKind.NEGATED: w.a[i] ^ 0x8000}[
            kind
        ]
        wrong = Witness((*w.a[:i], word, *w.a[i + 1 :]), w.b, w.c)
        expected, got = results(spec.name, w, wrong)
        if expected == got:
            continue
        found = faults_that_give([spec], [case(w, expected, got)])
        assert SumFault(spec, kind, i, i + 1) in found
        if seed < 6:
            explained = explain_mismatch(spec, [case(w, expected, got)])
            verdicts.add(explained.verdict)
            assert explained.faults
    assert verdicts
    assert verdicts <= {MismatchVerdict.UNDECIDED, MismatchVerdict.UNEXPLAINED, MismatchVerdict.BUG}


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_a_product_that_one_unit_cuts_off_and_a_fault_loses_is_undecided() -> None:
    """Volta cuts the product off, and Turing without it gives the same; a c that is cut off is rounding."""
    turing = resolve(TURING)
    swapped = padded(CASE | {"expected": CASE["got"], "got": CASE["expected"]}, 8)
    found = explain_mismatch(turing, [case_of(turing, swapped, "here")])
    assert found.got
    assert found.verdict is MismatchVerdict.UNDECIDED
    hopper = resolve(WIDE["hopper"])
    w = Witness((0x7400, *[0] * 15), (0x3C00, *[0] * 15), 0xBA000000)
    found = explain_mismatch(hopper, [case(w, 0x467FFFFF, 0x46800000)])
    assert found.faults
    assert all(fault.of_c for fault in found.faults)
    assert found.verdict is MismatchVerdict.ROUNDING


def test_a_fault_must_explain_every_element() -> None:
    """The same product is lost in both, or products of two places."""
    spec = resolve(WIDE["hopper"])
    cases = []
    for seed, place in ((1, 3), (2, 3), (2, 5)):
        w = normals(seed)
        lost = Witness((*w.a[:place], 0, *w.a[place + 1 :]), w.b, w.c)
        cases.append(case(w, *results(spec.name, w, lost)))
    assert faults_that_give([spec], cases[:2]) == [SumFault(spec, FaultKind.LEFT_OUT, 3, 4)]
    assert faults_that_give([spec], [cases[0], cases[2]]) == []


def test_a_lost_tail_and_a_lost_c_are_recognised() -> None:
    spec = resolve(WIDE["hopper"])
    w = normals(1)
    for wrong, fault in (
        (Witness((*w.a[:12], *[0] * 4), w.b, 0x3F800000), (12, 16)),
        (w, (16, 16)),
    ):
        right = Witness(w.a, w.b, 0x3F800000)
        found = faults_that_give([spec], [case(right, *results(spec.name, right, wrong))])
        assert SumFault(spec, FaultKind.LEFT_OUT, *fault) in found


@pytest.mark.slow
def test_random_outputs_of_another_gpu_are_rounding_and_all_gpus_of_it_are_named() -> None:
    for seed in (12, 23):
        w = normals(seed)
        expected, got = results(WIDE["hopper"], w) + results(WIDE["ampere"], w)
        assert expected != got
        found = explain_mismatch(resolve(WIDE["hopper"]), [case(w, expected, got)])
        assert (found.verdict, found.faults) == (MismatchVerdict.ROUNDING, ())
        assert found.pair is not None
        assert {WIDE["ampere"], WIDE["ada"], "turing/mma.m16n8k8.f32.f16.f16.f32"} <= {*found.pair[1].units}
        assert found.pair[1].units[0] == WIDE["ampere"]  # the same instruction, not the first of all names
        assert found.chance is not None
        assert found.chance > 0


def test_the_chance_of_an_accident() -> None:
    """Results 3 units in the last place off have 6 values as near; several elements multiply."""
    fmt = resolve(WIDE["hopper"]).d_format
    one = 0x3F800000

    def words(*steps: int) -> Any:
        return np.array([one + x for x in steps], np.uint64)

    designs = [words(0), words(1), words(1), words(-3), words(4), np.array([0x7FC00000], np.uint64)]
    assert by_accident(fmt, words(0), words(3), designs) == pytest.approx(2 / 6)
    assert by_accident(fmt, words(0), words(1), designs) == pytest.approx(1 / 2)
    assert by_accident(fmt, words(0), words(0), designs) is None
    assert by_accident(fmt, words(0), np.array([0x7F800000], np.uint64), designs) is None
    pairs = [words(0, 0, 1), words(3, -2, 1), words(3, 2, 1), words(1, 0, 1), words(-1, 2, 5)]
    # The third element does not differ, and only in two designs do both others.
    assert by_accident(fmt, words(0, 0, 1), words(3, 2, 1), pairs) == pytest.approx(3 / (6 * 4))
    many = by_accident(fmt, np.full(999, one), np.full(999, one + 9), [np.full(999, one + 2)])
    assert many == 0.0


@pytest.mark.usefixtures("few")
def test_a_design_must_give_the_results_of_every_case() -> None:
    """Turing gives the first result that came, and not the second."""
    spec = resolve(VOLTA)
    other = CASE | {"a": ["1", "0", "0", "0"], "expected": "1", "got": "2"}
    found = explain_mismatch(spec, [case_of(spec, case, "here") for case in (CASE, other)])
    assert found.got == ()
    assert found.expected[0].design is spec


@pytest.mark.usefixtures("few")
def test_a_design_of_which_oracle_and_circuit_differ_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "oracle_result", lambda _spec, _witness: 1)
    with pytest.raises(SolverDisagreementError, match=r"^expected one result of volta/.* of the oracle and "):
        explain_mismatch(resolve(VOLTA), [case_of(resolve(VOLTA), CASE, "here")])


def test_nan_without_a_word_is_any_nan() -> None:
    fmt = resolve(VOLTA).operands.d
    words = np.array([0x7FFF, 0x7E00, 0xFE00, 0x7C00, 0x3C00], np.uint64)
    assert MismatchValue.of(fmt, "nan").is_given_by(fmt, words).tolist() == [True, True, True, False, False]
    assert MismatchValue.of(fmt, "0x7fff").is_given_by(fmt, words).tolist() == [
        True,
        False,
        False,
        False,
        False,
    ]
    assert MismatchValue.of(fmt, "inf").is_given_by(fmt, words).tolist() == [False, False, False, True, False]


def test_computations_are_designs() -> None:
    """Every computation resolves, in the formats of the unit; none where scales or K forbid it."""
    spec = resolve("hopper/mma.m16n8k16.f32.bf16.bf16.f32")
    made = dict(computations(spec, 16))
    assert len(made) == len(set(made.values())) == 7
    for name in made:
        u = resolve(name)
        assert (u.operands, u.k) == (spec.operands, 16)
    assert list(computations(spec, 257)) == []
    assert list(computations(resolve(SCALED), 32)) == []


def test_exact_sums_take_scales_in() -> None:
    spec = resolve(SCALED)
    w = Witness((0x38,) * 32, (0x38,) * 32, 0x3F800000, (0x80,), (0x7E,))
    assert exact_sum(spec, w) == 33
    assert exact_sum(spec, Witness(w.a, w.b, 0x7F800000, w.scale_a, w.scale_b)) is None
    assert exact_sum(spec, Witness(w.a, w.b, w.c, (0xFF,), w.scale_b)) is None


# ------------------------------------------------------------------ files
def test_files_hold_one_case_or_many(tmp_path: Path) -> None:
    spec = resolve(VOLTA)
    wanted = case_of(spec, CASE, "here")
    texts = {
        "one.json": json.dumps(CASE, indent=1),
        "list.json": json.dumps([CASE, CASE]),
        "lines.jsonl": f"{json.dumps(CASE)}\n\n{json.dumps(CASE)}\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        assert set(read_cases(spec, tmp_path / name)) == {wanted}
    words = {"a": wanted.witness.a, "b": wanted.witness.b}
    arrays = {name: np.array([row, row], np.uint16).view(np.float16) for name, row in words.items()}
    results = {"expected": np.zeros(2, np.float16), "got": np.full(2, 2.0**-24, np.float16)}
    savez: Any = np.savez
    savez(tmp_path / "many.npz", **arrays, **results)
    assert read_cases(spec, tmp_path / "many.npz") == [wanted, wanted]
    savez(
        tmp_path / "one.npz",
        **{name: x[0].view(np.uint16) for name, x in (arrays | results).items()},
    )
    assert read_cases(spec, tmp_path / "one.npz") == [wanted]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("empty.jsonl", b"", "expected at least one case in"),
        ("bad.json", b"{", "expected cases as JSON or .npz in"),
        ("bad.npz", b"no archive", "expected cases as JSON or .npz in"),
        ("torn.npz", b"PK\x03\x04torn", "expected cases as JSON or .npz in"),
        (
            "missing.json",
            b'{"a": ["1"], "b": ["1"]}',
            "expected an object with a, b, c, expected and got in case 0",
        ),
        ("value.json", json.dumps(CASE | {"got": "0.1"}).encode(), "in case 0 of"),
        ("none.json", None, "expected cases as JSON or .npz in"),
    ],
)
def test_files_reject(name: str, content: bytes | None, sentence: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        read_cases(resolve(VOLTA), tmp_path / name)


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"a": np.zeros((1, 4), np.float16)}, "expected the array b in"),
        (
            {name: np.zeros((1, 4), np.float32) for name in ("a", "b")},
            "expected elements of 16 bits for a in",
        ),
        (
            {"a": np.zeros((2, 4), np.float16), "b": np.zeros((1, 4), np.float16)}
            | {name: np.zeros(2, np.float16) for name in ("expected", "got")},
            r"expected arrays of one length in .*, but got lengths \[1, 2\]",
        ),
    ],
)
def test_archives_reject(arrays: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "cases.npz", **arrays)
    with pytest.raises(InputError, match=sentence):
        read_cases(resolve(VOLTA), tmp_path / "cases.npz")


def test_cases_of_two_lengths_reject() -> None:
    spec = resolve(HOPPER)
    cases = [case_of(spec, padded(CASE, k), "here") for k in (4, 8)]
    with pytest.raises(InputError, match=r"expected dot products of one length, but got lengths \[4, 8\]"):
        explain_mismatch(spec, cases)


# ------------------------------------------------------------------ the command
OPERANDS = ("--a", "1,2^-12,-1,...", "--b", "1,2^-12,1,...")


def run(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, ["explain-mismatch", VOLTA, *words])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.usefixtures("few")
def test_the_command_says_rounding() -> None:
    code, out, _ = run(*OPERANDS, "--expected", "0", "--got", "2^-24", "--explain")
    assert code == 0
    said = " ".join(out.split())
    assert said.startswith(
        f"ROUNDING: V100 ({VOLTA}), T4, RTX 20 (turing/mma.m8n8k4.f16.f16.f16.f16) gives the expected "
        f"result, T4, RTX 20 ({TURING}) and "
    )
    assert " more architectures the one obtained" in said
    assert "They diverge at the alignment of a[1]·b[1] at block0:" in out
    assert f"bit by bit: tcformal explain {VOLTA} {TURING} --a 0x3c00," in out
    assert "block0: 5 terms at e_max = 0" in out
    assert all(len(line) <= 100 for line in out.splitlines() if not line.startswith("bit by bit"))


@pytest.mark.usefixtures("few")
def test_the_command_says_what_nothing_gives_as_data() -> None:
    code, out, _ = run(*OPERANDS, "--expected", "0", "--got", "3", "--json")
    data = json.loads(out)
    assert code == 3
    assert (data["verdict"], data["got_by"], data["part_at"]) == ("unexplained", [], None)
    assert data["cases"] == [
        {"expected": "0x0000", "got": "0x4200", "unit_gives": "0x0000", "exact": "2^-24"}
    ]
    (volta, turing) = data["expected_by"][0].pop("units")
    assert data["expected_by"][0] == {"design": VOLTA, "kind": "unit", "what": "the unit"}
    assert volta == {"arch": "volta", "processors": ["V100"], "names": [VOLTA]}
    assert (turing["processors"], turing["names"]) == (
        ["T4", "RTX 20"],
        ["turing/mma.m8n8k4.f16.f16.f16.f16"],
    )
    assert data["hints"]["tried"] > 0


@pytest.mark.slow
def test_fewer_products_than_a_unit_takes_are_filled_up() -> None:
    """Other units of the formats take none of that number."""
    words = ["compare", WIDE["hopper"], "--a", "1", "--b", "1", "--expected", "1", "--got", "1"]
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "SAME: the results are the same")


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("command", ["compare", "explain-mismatch"])
def test_the_command_says_bug(command: str) -> None:
    """Without the third product, which nothing that exists gives; of one as small, an accident is likely."""
    done = CliRunner().invoke(main, [command, VOLTA, *OPERANDS, "--expected", "0", "--got", "1"])
    assert done.exit_code == 1
    said = " ".join(done.output.split())
    assert said.startswith(f"BUG: {VOLTA} without a[2]·b[2] gives the result obtained; none of")
    small = ("--a", "1,2^-9,...", "--b", "1,2^-1,...", "--expected", "0x3c01", "--got", "0x3c00")
    done = CliRunner().invoke(main, [command, VOLTA, *small])
    assert "BUG" not in done.output


@pytest.mark.usefixtures("few")
def test_more_than_a_screenful_is_shown_when_asked_for(tmp_path: Path) -> None:
    line = {"a": ["1", *["0"] * 3], "b": ["1", *["0"] * 3], "c": "0", "expected": "1", "got": "1"}
    path = tmp_path / "cases.jsonl"
    path.write_text(f"{json.dumps(line)}\n" * 11)
    _, out, _ = run("--file", str(path))
    _, everything, _ = run("--file", str(path), "--all")
    assert "… 3 more: --all" in out
    assert "… " not in everything
    assert (out.count("the unit gives"), everything.count("the unit gives")) == (8, 11)


@pytest.mark.usefixtures("few")
def test_equal_results_are_said_to_be_equal() -> None:
    code, out, _ = run(*OPERANDS, "--expected", "0", "--got", "0")
    assert (code, out.splitlines()[0]) == (0, "SAME: the results are the same")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("--a", "1,...", "--b", "1,...", "--got", "1"),
            "error: expected --expected, or --file FILE, but got neither",
        ),
        (("--file", "x.json", "--got", "1"), "error: expected --file or operands, but got --file and --got"),
        ((*OPERANDS, "--expected", "0.1", "--got", "1"), "(in the options)"),
    ],
)
def test_the_command_rejects(words: tuple[str, ...], sentence: str) -> None:
    code, _, err = run(*words)
    assert code == 2
    assert sentence in " ".join(err.split())
