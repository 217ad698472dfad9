"""Refinement: that a circuit is what its design says, by certified claims and a theorem of Coq."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tcformal
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics import align, product, special, unpack
from tcformal.semantics.number import Exponent
from tcformal.theory import certified
from tcformal.theory.certified import Refinement, accepted, kept_refinement, load, refinement, save
from tcformal.theory.refinement.plan import Plan
from tcformal.theory.sources import compile_sources, coqc, sources_digest

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
HALF = "volta/mma.m8n8k4.f16.f16.f16.f16"


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
        m.setattr("tcformal.semantics.round.round_away", _toward_zero)
        assert kept_refinement(tcformal.unit(HALF).spec) is None
    with monkeypatch.context() as m:
        m.setattr("tcformal.semantics.sums.step.largest", _larger_exponent)
        assert kept_refinement(tcformal.unit(VOLTA).spec) is None
    with monkeypatch.context() as m:
        m.setattr("tcformal.theory.certified.coq_design", lambda _: "another")
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


def test_rows_of_another_form_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"unit": "x"}\n')
    with pytest.raises(InputError):
        load(tmp_path / "rows.jsonl")


def _toward_zero(g: Graph, mode: Any, sign: Node, odd: Node, guard: Node, sticky: Node) -> Node:
    return g.truth(False)


def _no_sticky(g: Graph, mode: Any, sign: Node, odd: Node, guard: Node, sticky: Node) -> Node:
    return g.and_(guard, odd)


def _other_sign(g: Graph, a: Any, b: Any) -> Any:
    made = _PRODUCT(g, a, b)
    return replace(made, term=replace(made.term, sign=g.or_(a.term.sign, b.term.sign)))


def _larger_exponent(g: Graph, exponents: Any) -> Any:
    e, tree = _LARGEST(g, exponents)
    return Exponent(e.bits, e.low + 1, e.high + 1), tree


def _no_infinity(g: Graph, operands: Any, rounded: Any, design: Any) -> Any:
    made = _SPECIALS(g, operands, rounded, design)
    return replace(made, result=replace(made.result, inf=g.truth(False)))


def _lower_exponent(g: Graph, field: Node, normal: Node, fmt: Any) -> Exponent:
    e = _EXPONENT(g, field, normal, fmt)
    return Exponent(field, e.low, e.high)


_PRODUCT, _LARGEST = product.product, align.largest
_SPECIALS, _EXPONENT = special.with_specials, unpack._exponent

#: Slips in the semantics: the module, the name, what stands there instead.
SLIPS: dict[str, list[tuple[str, str, Callable[..., Any]]]] = {
    "RNE rounds toward zero": [("tcformal.semantics.round", "round_away", _toward_zero)],
    "sticky is lost": [("tcformal.semantics.round", "round_away", _no_sticky)],
    "the sign of a product": [("tcformal.semantics.mma", "product", _other_sign)],
    "e_max + 1": [("tcformal.semantics.sums.step", "largest", _larger_exponent)],
    "no infinities": [("tcformal.semantics.sums.step", "with_specials", _no_infinity)],
    "the exponent of code 0 is one too low": [("tcformal.semantics.unpack", "_exponent", _lower_exponent)],
}


@pytest.mark.parametrize(
    "slip", [pytest.param(x, marks=[] if i == 3 else pytest.mark.slow) for i, x in enumerate(SLIPS)]
)
def test_a_slip_in_the_semantics_makes_a_claim_false(slip: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, other in SLIPS[slip]:
        monkeypatch.setattr(f"{module}.{name}", other)
    with pytest.raises(InputError, match="does not"):
        refinement(tcformal.unit(HALF).spec)


@pytest.mark.debian
def test_coq_takes_the_plan_of_a_unit_and_refuses_that_of_another(tmp_path: Path) -> None:
    assert shutil.which("coqc")
    compile_sources(tmp_path)
    for unit in (VOLTA, "riscv/vfqbdot.vv.vlen128.e4m3.e4m3"):
        (tmp_path / "Instance.v").write_text(Plan(tcformal.unit(unit).spec).coq())
        coqc(tmp_path, "Instance.v")
    text = Plan(tcformal.unit(VOLTA).spec).coq()
    for right, wrong in (
        ("alignment := RZ", "alignment := RO"),
        ("rho := RZ", "rho := RNE"),
        ("(Some 23)", "(Some 24)"),
    ):
        assert right in text
        (tmp_path / "Instance.v").write_text(text.replace(right, wrong, 1))
        with pytest.raises(InputError):
            coqc(tmp_path, "Instance.v")
