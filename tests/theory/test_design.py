"""Designs printed as records of the Coq specification, and the sources' compilation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agreement import DESCRIBED
from tcformal.design.catalog import catalogue, distinct_designs, floating
from tcformal.design.names import resolve
from tcformal.design.trees.tree import read_steps, tree
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.theory.checked import SOURCES, checked_with, compile_sources, coqc, source_names
from tcformal.theory.claims import CLAIMS, claim_instance, error_bound, relative_error, relative_from_zero
from tcformal.theory.constants import constants
from tcformal.theory.design import (
    coq_design,
    coq_format,
    coq_function,
    undescribed,
    without_equality,
    without_theorem,
)
from tcformal.theory.equality import equal_by_theorem, idle_axes
from tcformal.theory.refinement import kept_refinement
from tcformal.theory.regions import any_order, exactness, region
from tcformal.theory.theorems import in_the_way, theorem_answer


def test_every_design_is_printed() -> None:
    """Each distinct design of the catalogue has a record, and no two of them the same."""
    names = DESCRIBED
    printed = [(coq_function(u), u.k, u.scale_block) for u in map(catalogue().__getitem__, names)]
    # Units that differ in their k alone take blocks of that many products.
    assert len(set(printed)) == len(names)
    assert all(
        text.startswith(("compute {| a_format := ", "compute_wide {| base := ")) for text, *_ in printed
    )
    assert all(text.count("{|") == text.count("|}") for text, *_ in printed)
    # The specification describes every design of floating-point numbers.
    assert names == list(distinct_designs(floating))


def test_altered_units_and_families_are_printed() -> None:
    """A changed parameter changes the record."""
    unit = "hopper/mma.m16n8k16.f32.f16.f16.f32"
    assert "rho := SR 8 37; p := 23" in coq_design(resolve(f"{unit}@conversion=SR8+37-FP32"))
    assert "fraction_bits := (Some 12)" in coq_design(resolve(f"{unit}@fraction_bits=12"))
    assert "block := 200%nat" in coq_design(resolve("tfdpa@products=200,fraction_bits=30"))
    assert "sums := InSteps (Step" in coq_design(resolve("gaudi/mme.bf16.cd8"))
    assert "special := NegativeZeroNaN" in coq_format(
        catalogue()["cdna3/v_mfma_f32_16x16x32_fp8_fp8"].a_format
    )


def test_what_is_not_described_is_refused() -> None:
    """One sentence says what the specification lacks."""
    spec = catalogue()["hopper/emulated.mma.m16n8k32.f32.e5m2.e5m2.f32"]
    pieces = replace(spec, design=replace(spec.design, piece_bits=2, zero_exponent="none"))
    with pytest.raises(InputError, match="expected whole products and exponent_step=1 in the composition"):
        coq_design(pieces)


def test_sources_are_listed() -> None:
    """Every source is compiled, in an order that its requirements allow; nothing is admitted."""
    names = source_names()
    assert sorted(names) == sorted(path.name for path in SOURCES.glob("*.v"))
    seen: set[str] = set()
    for name in names:
        text = (SOURCES / name).read_text(encoding="utf-8")
        assert "Admitted" not in text
        assert "Axiom" not in text
        for line in text.splitlines():
            if line.startswith("From TC Require Import"):
                assert {f"{x}.v" for x in line.rstrip(".").split()[4:]} <= seen
        seen.add(name)


def test_compilation_without_coq(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without coqc, and for a file that does not exist, one sentence says so."""
    with pytest.raises(InputError, match=r"expected one of Spec\.v, "):
        compile_sources(tmp_path, "Other.v")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="expected coqc, which Debian has"):
        compile_sources(tmp_path)


@pytest.mark.debian
def test_theorems_compile(compiled: Path) -> None:
    """All sources compile, and the theorems rest on the axioms of Coq's real numbers alone."""
    names = ("relative_error_from_zero", "integers_fused", "monotone", "certified_words_to_words")
    modules = " ".join(name.removesuffix(".v") for name in source_names())
    asked = "\n".join(f"Print Assumptions {name}." for name in names)
    (compiled / "Axioms.v").write_text(f"From TC Require Import {modules}.\n{asked}\n", encoding="utf-8")
    printed = coqc(compiled, "Axioms.v")
    axioms = {line.split(" ")[0] for line in printed.splitlines() if line[:1].strip() and ":" in line}
    allowed = {
        "Axioms:", "classic", "ClassicalDedekindReals.sig_forall_dec", "ClassicalDedekindReals.sig_not_dec",
        "FunctionalExtensionality.functional_extensionality_dep", "Classical_Prop.classic",
    }  # fmt: skip
    assert axioms <= allowed


@pytest.mark.debian
def test_the_record_of_what_coq_checked_is_of_todays_sources() -> None:
    """After a change: python -m tcformal.theory.checked."""
    assert all(checked_with(name) for name in source_names())


@pytest.mark.debian
def test_a_file_that_does_not_compile_is_refused(tmp_path: Path) -> None:
    """What coqc says of a wrong statement is passed on."""
    (tmp_path / "Wrong.v").write_text("Goal 1 = 2. reflexivity. Qed.", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"expected Wrong.v to compile, but coqc says: (.|\n)*Unable to unify"
    ):
        coqc(tmp_path, "Wrong.v")


_NUMBERS = "special_words=numbers beside results that are Inf or NaN"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ("special_words=numbers,lost_bits=sticky", f"{_NUMBERS} beside lost_bits=sticky"),
        (
            "a_bits=0..6,summation=pairwise,c_position=last,accumulator=RNE-FP32",
            "a_bits beside summation=pairwise",
        ),
    ],
)  # fmt: skip
def test_what_the_specification_lacks_has_no_theorem(changes: str, said: str) -> None:
    """A unit with such parameters is not answered as if it had none."""
    unit = resolve(f"tfdpa@products=8,{changes}")
    assert undescribed(unit) == without_theorem(unit) == said
    with pytest.raises(
        InputError, match=r"^expected a unit that the specification in Coq describes, which has no"
    ):
        coq_function(unit)
    no_theorem(unit, said)


def test_the_specification_lacks_words_that_are_drawn() -> None:
    unit = resolve("tfdpa@products=8,conversion=SR8-FP32", drawn=True)
    assert undescribed(unit) == without_theorem(unit) == "drawn words, as in conversion=SR8-FP32"
    with pytest.raises(InputError, match="which has no drawn words, as in conversion=SR8-FP32, but got"):
        coq_function(unit)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("hopper/emulated.mma.m16n8k32.f32.e5m2.e5m2.f32", "a_bits in a composition of instructions"),
        ("x86/vfmulcph.re", "a_bits beside nan_rule=first_operand"),
    ],
)
def test_wide_parameters_are_in_one_sum_or_a_tree_of_one_nan(name: str, said: str) -> None:
    spec = catalogue()[name]
    unit = replace(spec, design=replace(spec.design, a_bits="0..6"))
    assert undescribed(unit) == said
    with pytest.raises(InputError, match="expected a unit that the specification in Coq describes"):
        coq_function(unit)


def test_the_specification_lacks_a_sum_that_is_the_c_of_its_step() -> None:
    plain, settings = "(0..5+c)", "fraction_bits=24,c_bits=12"
    assert undescribed(resolve(f"tree@steps={plain},{settings}")) == ""
    steps = "(2+3+(0+1+c))"
    assert undescribed(resolve(f"tree@steps={steps},fraction_bits=24")) == ""
    unit = resolve(f"tree@steps={steps},{settings}")
    assert undescribed(unit) == "an inner sum that is the c of its step"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ("operand_rounding=RZ-E8M10", "operand_rounding"),
        ("a_bits=0..6", "a_bits"), ("b_bits=5..9", "b_bits"), ("c_bits=30", "c_bits"),
        ("c_alignment_rounding=RNE", "c_alignment_rounding"), ("minus_one=27", "minus_one"),
        ("e_max_of=products", "e_max_of=products"), ("alignment_rounding=RNU", "alignment_rounding=RNU"),
        ("second_fraction_bits=10", "second_fraction_bits"),
        ("steps=(s(0..7)+c),s.normalised=false", "normalised=false"),
        ("group=2,zero_exponent=5", "zero_exponent=5 beside group=2"),
        ("group=2,group_exponent=3", "group_exponent=3"), ("group=2,zero_group=scale", "zero_group=scale"),
        ("sum_fraction_bits=20", "sum_fraction_bits=20 in a fused sum"),
        ("special_words=numbers", _NUMBERS),
    ],
)  # fmt: skip
def test_no_theorem_is_about_what_the_wide_specification_says(changes: str, said: str) -> None:
    """A unit of Wide.v has a function of its own, and no record that a theorem is about."""
    unit = resolve(
        f"tree@fraction_bits=24,k=8,{changes}" if "steps" in changes else f"tfdpa@products=8,{changes}"
    )
    assert undescribed(unit) == ""
    assert without_theorem(unit) == said
    assert coq_function(unit).startswith("compute_wide {| base := {|")
    with pytest.raises(InputError, match=r"^expected a unit of Design.v, which theorems are about"):
        coq_design(unit)
    assert kept_refinement(unit) is None
    no_theorem(unit, said)


@pytest.mark.parametrize(
    ("changes", "said"), [("special_words=numbers,overflow=largest", "special_words=numbers")]
)
def test_what_no_theorem_knows_has_none(changes: str, said: str) -> None:
    """A unit that the specification describes, with a parameter that theorems do not know."""
    unit = resolve(f"tfdpa@products=8,{changes}")
    assert undescribed(unit) == ""
    assert without_theorem(unit) == said
    assert coq_design(unit) != coq_design(resolve("tfdpa@products=8"))
    no_theorem(unit, said)
    # No parameter is taken for idle, and one record is one function all the same.
    assert idle_axes(unit) == ()
    assert equal_by_theorem(unit, unit, 8) is not None


def test_theorems_about_scales_beside_a_tree_are_of_equal_designs_alone() -> None:
    made = tree(read_steps("(p(0..31)+p(32..63)+c)"))
    unit = replace(catalogue()["cute/Mxfp8e4m3F32"], tree=made)
    assert "scales := (Some" in coq_design(unit)
    assert without_equality(unit) == ""
    assert without_theorem(unit) == in_the_way(unit, "product-order").removeprefix("no theorem is about ")
    assert [claim_instance(unit, claim) for claim in CLAIMS] == [None] * len(CLAIMS)


@pytest.mark.parametrize("name", ["x86/vfmulcph.re", "tree@steps=((0+1)+(2+3)),k=4"])
def test_no_bound_counts_a_c_that_is_not_added(name: str) -> None:
    """`Growth.ordered_error` is about sums that take c: |d - (c + sum of products)|."""
    unit = resolve(name)
    assert [claim_instance(unit, claim) for claim in ("error-bound", "relative-error")] == [None, None]
    assert (relative_error(unit), relative_from_zero(unit), constants(unit)) == (None, None, None)


def no_theorem(unit: UnitSpec, said: str) -> None:
    """No theorem answers, and what stands in the way is named."""
    plain = resolve("tfdpa@products=8")
    assert not without_theorem(plain)
    for claim in CLAIMS:
        assert claim_instance(unit, claim) is None
        assert theorem_answer(unit, claim) is None
        assert said in in_the_way(unit, claim)
    assert claim_instance(plain, "error-bound") is not None
    found = (
        constants(unit),
        relative_error(unit),
        relative_from_zero(unit),
        error_bound(unit),
        exactness(unit),
    )
    assert found == (None,) * 5
    assert equal_by_theorem(unit, plain, 8) is None
    assert region(unit, plain) is region(plain, unit) is any_order(unit, None) is None
