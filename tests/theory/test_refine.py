"""Refinement: that a circuit is what its design says, by certified claims and a theorem of Coq."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import tcformal
from refinements import accepted, distinct_units, is_of, save
from semantic_slips import (
    CUT_AGAIN,
    DOWN,
    EIGHT,
    EXACT,
    FLUSHED_PRODUCTS,
    FRAMED,
    GROUPED,
    HALF,
    NANS,
    NARROWED,
    NORMALISED,
    PAIRS,
    PIECES,
    RANDOM,
    RANDOM_STICKY,
    SATURATES,
    SCALED,
    SIDES,
    SKIPS,
    SLIPS,
    STAYS,
    STICKY,
    TINY,
    TRUNCATED,
    TWICE,
    UNSIGNED,
    VOLTA,
    WINDOW,
    WITHOUT_C,
    WRAPS,
    Slip,
    slip,
)
from tcformal.errors import InputError
from tcformal.theory import checked
from tcformal.theory import refinement as certified
from tcformal.theory.checked import coqc, sources_digest
from tcformal.theory.plans.plan import Plan
from tcformal.theory.refinement import (
    Refinement,
    kept_refinement,
    load,
    plan_of,
    refinement,
    sources_of,
)


@pytest.fixture(scope="module")
def volta() -> Refinement:
    return refinement(tcformal.unit(VOLTA).spec)


def _keep(monkeypatch: pytest.MonkeyPatch, path: Path, *rows: Refinement) -> None:
    save(path / "rows.jsonl", rows)
    monkeypatch.setattr(certified, "KEPT", path / "rows.jsonl")
    certified._by_definition.cache_clear()


@pytest.fixture
def _read_again() -> Iterator[None]:
    yield
    certified._by_definition.cache_clear()


def _row(x: Refinement) -> Refinement:
    return replace(x, sources=sources_digest(), coq="8.16.1")


@pytest.mark.usefixtures("_read_again")
def test_a_unit_with_a_kept_row_is_refined(
    volta: Refinement, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert volta.claims > volta.different > 30
    _keep(monkeypatch, tmp_path, _row(volta))
    found = kept_refinement(tcformal.unit(VOLTA).spec)
    assert found == _row(volta)
    assert f"{volta.claims} claims" in found.sentence()
    assert "Coq 8.16.1" in found.sentence()


@pytest.mark.usefixtures("_read_again")
def test_a_changed_circuit_design_or_source_has_no_refinement(
    volta: Refinement, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _keep(monkeypatch, tmp_path, _row(volta))
    assert kept_refinement(tcformal.unit(HALF).spec) is None
    assert kept_refinement(tcformal.unit(f"{VOLTA}@fraction_bits=24").spec) is None
    with monkeypatch.context() as m:
        slip(next(x for x in SLIPS if x.what == "e_max + 1"), m)
        assert kept_refinement(tcformal.unit(VOLTA).spec) is None
    with monkeypatch.context() as m:
        m.setattr("tcformal.theory.refinement.coq_design", lambda _: "another")
        assert kept_refinement(tcformal.unit(VOLTA).spec) is None
    assert kept_refinement(tcformal.unit(VOLTA).spec) is not None
    for row in (volta, replace(_row(volta), sources="0" * 64), replace(_row(volta), coq="")):
        _keep(monkeypatch, tmp_path, row)
        assert kept_refinement(tcformal.unit(VOLTA).spec) is None


def test_coq_takes_the_file_of_a_refinement_and_no_other(volta: Refinement) -> None:
    text = Plan(tcformal.unit(VOLTA).spec).coq()
    assert accepted(volta, text, "8.16.1", 4.0).coq == "8.16.1"
    with pytest.raises(InputError):
        accepted(volta, text.replace("RZ", "RNE"), "8.16.1", 4.0)


def test_a_row_is_of_one_unit_and_one_file(volta: Refinement) -> None:
    spec = tcformal.unit(VOLTA).spec
    text = Plan(spec).coq()
    assert is_of(volta, spec, text)
    assert not is_of(volta, spec, text + " ")
    assert not is_of(volta, tcformal.unit(HALF).spec, text)


def test_sources_are_those_that_a_refinement_rests_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def digest_with(name: str) -> str:
        folder = tmp_path / name
        shutil.copytree(checked.SOURCES, folder)
        (folder / name).write_text((folder / name).read_text() + "(* more *)")
        monkeypatch.setattr(checked, "SOURCES", folder)
        sources_digest.cache_clear()
        return sources_digest()

    now = sources_digest()
    assert digest_with("Losses.v") == now
    monkeypatch.undo()
    assert len({now, *(digest_with(x) for x in ("Spec.v", "Circuit.v", "Unit.v"))}) == 4
    monkeypatch.undo()
    sources_digest.cache_clear()


def test_rows_of_another_form_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"unit": "x"}\n')
    with pytest.raises(InputError):
        load(tmp_path / "rows.jsonl")


@pytest.mark.parametrize(
    "x", [pytest.param(x, id=x.what, marks=[] if x.quick else pytest.mark.long) for x in SLIPS]
)
def test_a_slip_in_the_semantics_makes_a_claim_false(x: Slip, monkeypatch: pytest.MonkeyPatch) -> None:
    slip(x, monkeypatch)
    with pytest.raises(InputError, match="does not"):
        refinement(tcformal.unit(x.unit).spec)


def _coqc(folder: Path, text: str) -> None:
    (folder / "Instance.v").write_text(text)
    coqc(folder, "Instance.v")


def _compiled(folder: Path, name: str) -> None:
    shutil.copy(checked.SOURCES / name, folder / name)
    coqc(folder, name)


@pytest.mark.debian
def test_coq_takes_the_plan_of_a_unit_and_refuses_that_of_another(compiled: Path) -> None:
    kinds = (
        VOLTA,
        EIGHT,
        TINY,
        NANS,
        FLUSHED_PRODUCTS,
        NORMALISED,
        DOWN,
        SIDES,
        PIECES,
        FRAMED,
        WINDOW,
        GROUPED,
        NARROWED,
        TRUNCATED,
        WITHOUT_C,
    )
    for unit in (*kinds, "gaudi2/mme.tf32"):
        _coqc(compiled, Plan(tcformal.unit(unit).spec).coq())
    of_volta = (
        ("alignment := RZ", "alignment := RO"),
        ("rho := RZ", "rho := RNE"),
        ("(Some 23)", "(Some 24)"),
        ("emax := 127", "emax := 128"),
        ("ZeroAt (-131)", "ZeroAt (-132)"),
        ("carry_bits := None", "carry_bits := (Some 3)"),
        ("nan_word := 0x7fffffff", "nan_word := 0x7fc00000"),
        ("(Only 230 0%nat", "(Only 230 1%nat"),
        ("(Leaf 272 0%nat)", "(Leaf 272 1%nat)"),
        ("Claim [] ", "Claim [Is 2] "),
    )
    of_groups = (
        ("group_size := Some 2%nat", "group_size := Some 1%nat"),
        ("frame_mode := RD", "frame_mode := RZ"),
        ("c_bits := 26", "c_bits := 25"),
        ("drops_c := true", "drops_c := false"),
        ("frame_zero := ZeroAt (-128)", "frame_zero := ZeroOwn"),
    )
    for unit, slips in ((VOLTA, of_volta), (GROUPED, of_groups)):
        text = Plan(tcformal.unit(unit).spec).coq()
        for right, wrong in slips:
            assert right in text
            with pytest.raises(InputError):
                _coqc(compiled, text.replace(right, wrong, 1))


@pytest.mark.parametrize(
    "unit",
    [
        "cute/Nvfp4F32@zero_sign=sum", f"{STAYS}@zero_sign=ieee", f"{STAYS}@conversion=RNE-FP32",
        f"{STAYS}@c_bits=30",
        f"{STAYS}@alignment_rounding=RNE", f"{STAYS}@special_words=special", f"{STAYS}@negated=odd",
        f"{STAYS}@product_rounding=RNE-FP32", f"{STAYS}@operand_rounding=RNE-E8M5",
    ],
)  # fmt: skip
def test_other_sums_of_the_wide_specification_are_refused(unit: str) -> None:
    with pytest.raises(InputError, match=r"^expected a sum, rounded by RNA, of terms cut to nearest"):
        plan_of(tcformal.unit(unit).spec)


@pytest.mark.debian
def test_coq_takes_the_plan_of_sums_that_stay_and_refuses_another_design(compiled: Path) -> None:
    texts = {unit: plan_of(tcformal.unit(unit).spec).coq() for unit in (STAYS, TWICE)}
    for text in texts.values():
        _coqc(compiled, text)
    slips = (
        (STAYS, "a_taken := (Some (0, 6))", "a_taken := (Some (0, 5))"),
        (STAYS, "Stays (-126) true", "Stays (-126) false"),
        (STAYS, "term_cut := TiesUp", "term_cut := (By RNA)"),
        (STAYS, "c_term_cut := (By RNA)", "c_term_cut := TiesUp"),
        (STAYS, "zeros_at := ZeroNone", "zeros_at := ZeroOwn"),
        (STAYS, "minus_one := None", "minus_one := (Some 27)"),
        (STAYS, "c_decides := true", "c_decides := false"),
        (STAYS, "tiny := true", "tiny := false"),
        (STAYS, "special := NoSpecials", "special := IEEE"),
        (STAYS, "WideProduct 0; WideProduct 1;", "WideProduct 1; WideProduct 0;"),
        (STAYS, "Claim [] ", "Claim [Is 2] "),
        (TWICE, "second_bits := (Some 10)", "second_bits := (Some 11)"),
    )
    for unit, right, wrong in slips:
        assert right in texts[unit]
        with pytest.raises(InputError):
            _coqc(compiled, texts[unit].replace(right, wrong, 1))


@pytest.mark.debian
def test_coq_takes_the_plan_of_a_sum_that_remembers_and_refuses_another_design(compiled: Path) -> None:
    text = plan_of(tcformal.unit(STICKY).spec).coq()
    _coqc(compiled, text)
    for right, wrong in (
        ("carry_bits := (Some 3)", "carry_bits := (Some 4)"),
        ("carry_bits := (Some 3)", "carry_bits := None"),
        ("fraction_bits := (Some 24)", "fraction_bits := (Some 25)"),
        ("alignment := RZ", "alignment := RD"),
        ("rho := RNE", "rho := RZ"),
        ("tiny := true", "tiny := false"),
        ("zsign := SumSign", "zsign := IeeeSign"),
        ("zero_terms := (Some (-259))", "zero_terms := (Some (-258))"),
        ("zero_terms := (Some (-259))", "zero_terms := None"),
        ("c_rule := HiddenBit", "c_rule := Kept"),
        ("block := 4%nat", "block := 2%nat"),
        ("skips := false", "skips := true"),
        ("Claim [] ", "Claim [Is 2] "),
    ):
        assert right in text
        with pytest.raises(InputError):
            _coqc(compiled, text.replace(right, wrong, 1))


@pytest.mark.debian
def test_coq_takes_the_plan_of_a_stochastic_rounding_and_refuses_another_word(compiled: Path) -> None:
    exact, down = f"{EXACT}@conversion=SR4+9-FP32", f"{DOWN}@conversion=SR8+1-FP32"
    for unit in (RANDOM, RANDOM_STICKY, exact, down, f"{CUT_AGAIN}@conversion=SR8+255-FP32"):
        text = plan_of(tcformal.unit(unit).spec).coq()
        _coqc(compiled, text)
        bits, word = unit.partition("SR")[2].partition("-")[0].split("+")
        right = f"rho := SR {bits} {word}"
        for wrong in (f"SR {bits} {int(word) - 1}", f"SR {int(bits) + 1} {word}", "RZ", "RNA"):
            assert right in text
            with pytest.raises(InputError):
                _coqc(compiled, text.replace(right, f"rho := {wrong}", 1))


@pytest.mark.parametrize("unit", [RANDOM, RANDOM_STICKY])
def test_a_stochastic_rounding_refines(unit: str) -> None:
    made = refinement(tcformal.unit(unit).spec)
    assert made.claims > made.different > 30


def test_tiny_results_of_a_stochastic_rounding_are_refused() -> None:
    for unit in (f"{STICKY}@conversion=SR8+255-FP32", f"{TINY}@conversion=SR8+255-FP32"):
        with pytest.raises(InputError, match="tiny results that are rounded otherwise"):
            plan_of(tcformal.unit(unit).spec)


@pytest.mark.debian
def test_coq_takes_the_plan_of_scaled_groups_and_refuses_another_design(compiled: Path) -> None:
    texts = {unit: plan_of(tcformal.unit(unit).spec).coq() for unit in (SCALED, CUT_AGAIN)}
    for text in texts.values():
        _coqc(compiled, text)
    for unit, right, wrong in (
        (SCALED, "Groups 16%nat", "Groups 8%nat"),
        (SCALED, "ignored := 0 |}, 16%nat)", "ignored := 0 |}, 32%nat)"),
        (SCALED, "fraction_bits := (Some 35)", "fraction_bits := (Some 36)"),
        (SCALED, "ZeroAt (-139)", "ZeroAt (-138)"),
        (SCALED, "rho := RZ", "rho := RNE"),
        (SCALED, "alignment := RZ", "alignment := RO"),
        (SCALED, "Claim [] ", "Claim [Is 2] "),
        (CUT_AGAIN, "group_exponent := 9", "group_exponent := 8"),
        (CUT_AGAIN, "zero_by_scale := true", "zero_by_scale := false"),
        (CUT_AGAIN, "cut_sum := (Some 23)", "cut_sum := (Some 24)"),
        (CUT_AGAIN, "c_term_cut := (By RZ)", "c_term_cut := (By RD)"),
        (CUT_AGAIN, "term_cut := (By RD)", "term_cut := TiesUp"),
        (CUT_AGAIN, "ZeroAt (-118)", "ZeroAt (-117)"),
        (CUT_AGAIN, "WideProduct 0; WideProduct 1;", "WideProduct 1; WideProduct 0;"),
        (CUT_AGAIN, "minus_one := None", "minus_one := (Some 27)"),
    ):
        assert right in texts[unit]
        with pytest.raises(InputError):
            _coqc(compiled, texts[unit].replace(right, wrong, 1))


@pytest.mark.debian
def test_coq_takes_the_plan_of_blocks_that_are_skipped_and_refuses_another_design(compiled: Path) -> None:
    text = plan_of(tcformal.unit(SKIPS).spec).coq()
    _coqc(compiled, text)
    for right, wrong in (
        ("skips := true", "skips := false"),
        ("block := 1%nat", "block := 2%nat"),
        ("c_rule := SignedZero", "c_rule := Kept"),
        ("tiny := true", "tiny := false"),
        ("emax := 127", "emax := 126"),
        ("nan_word := 0x7fc00000", "nan_word := 0x7f800000"),
        ("odd_negated := false", "odd_negated := true"),
        ("Claim [] ", "Claim [Is 2] "),
    ):
        assert right in text
        with pytest.raises(InputError):
            _coqc(compiled, text.replace(right, wrong, 1))


#: Sums of integers in groups: c first, pairs, two chains; each partial sum wraps or saturates.
IN_GROUPS = (
    "x86/vpdpbusd@summation=sequential,c_position=first,accumulator=WRAP-INT32",
    "x86/vpdpbusds@summation=two_chains,c_position=last,accumulator=SAT-INT24",
    "x86/tdpbssd@products=8,order=odd_first,accumulator=SAT-INT16,summation=pairwise,c_position=last",
)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [PAIRS, WRAPS, SATURATES, UNSIGNED, *IN_GROUPS])
def test_integers_refine_in_any_grouping(unit: str) -> None:
    made = refinement(tcformal.unit(unit).spec)
    assert made.claims > made.different > 2


@pytest.mark.debian
def test_coq_takes_the_plan_of_integers_and_refuses_another_design(tmp_path: Path) -> None:
    for name in ("IntegerDesign.v", "Bv.v", "Circuit.v", "IntegerCircuit.v"):
        _compiled(tmp_path, name)
    for unit in (UNSIGNED, SATURATES, *IN_GROUPS):
        _coqc(tmp_path, plan_of(tcformal.unit(unit).spec).coq())
    text = plan_of(tcformal.unit(PAIRS).spec).coq()
    for right, wrong in (
        ("(Integers 8 false) (Integers 8 true)", "(Integers 8 true) (Integers 8 true)"),
        ("Integers 16 true", "Integers 17 true"),
        ("(Conversion (Integers 16 true) true) [", "(Conversion (Integers 16 true) false) ["),
        ("Product 0; Product 1", "Product 1; Product 0"),
        ("Product 1; C]", "Product 1]"),
        ("OfProduct 0", "OfProduct 1"),
        ("Claim [] ", "Claim [Is 2] "),
    ):
        assert right in text
        with pytest.raises(InputError):
            _coqc(tmp_path, text.replace(right, wrong, 1))


@pytest.mark.slow
def test_what_is_not_refined_is_refused_in_one_sentence_that_names_the_unit() -> None:
    for name in distinct_units():
        spec = tcformal.unit(name).spec
        found = kept_refinement(spec)
        try:
            plan_of(spec)
        except InputError as error:
            assert found is None
            text = str(error)
            assert text.startswith("expected ")
            assert text.endswith(f"but got {name}")
            assert "\n" not in text
        else:
            assert found is not None, name


@pytest.mark.debian
def test_kept_rows_are_of_the_sources_as_they_are() -> None:
    rows = load(certified.KEPT)
    stale = [x.unit for x in rows if x.sources != sources_of(tcformal.unit(x.unit).spec)]
    assert not stale, "python tests/refinements.py --keep"
    assert all(x.coq for x in rows)


@pytest.mark.long
@pytest.mark.parametrize("name", distinct_units())
def test_every_claim_about_every_unit_is_certified_and_coq_takes_it(name: str, compiled: Path) -> None:
    spec = tcformal.unit(name).spec
    found = kept_refinement(spec)
    try:
        plan = plan_of(spec)
    except InputError as error:
        assert found is None
        pytest.skip(str(error))
    made = refinement(spec)
    assert found is not None
    assert (made.file, made.definition, made.claims) == (found.file, found.definition, found.claims)
    _coqc(compiled, plan.coq())
