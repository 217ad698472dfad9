"""Refinement: that a circuit is what its design says, by certified claims and a theorem of Coq."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tcformal
from tcformal.errors import CertificateError, InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics import align, product, special, unpack
from tcformal.semantics.number import Exponent
from tcformal.semantics.sums import step
from tcformal.theory.certified import check, load, refinement, save
from tcformal.theory.refinement.plan import Plan
from tcformal.theory.sources import compile_sources, coqc

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
HALF = "volta/mma.m8n8k4.f16.f16.f16.f16"


@pytest.fixture(scope="module")
def volta() -> Any:
    return refinement(tcformal.unit(VOLTA).spec)


def test_every_claim_about_a_unit_is_certified(volta: Any, tmp_path: Path) -> None:
    assert volta.claims > len(volta.certificates) > 30
    save(tmp_path / "volta", volta.certificates)
    assert check(tcformal.unit(VOLTA).spec, load(tmp_path / "volta")) > 0


def test_missing_and_forged_certificates_are_refused(volta: Any, tmp_path: Path) -> None:
    spec, kept = tcformal.unit(VOLTA).spec, dict(volta.certificates)
    first, second = [x for x in kept if kept[x].steps > 10][:2]
    with pytest.raises(CertificateError):
        check(spec, {k: v for k, v in kept.items() if k != first})
    with pytest.raises(CertificateError):
        check(spec, {**kept, first: replace(kept[first], proof=kept[second].proof)})
    (tmp_path / "other").write_bytes(b"no certificates")
    with pytest.raises(CertificateError):
        load(tmp_path / "other")


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


def _reversed(g: Graph, operands: Any, invalid: Node, target: Any) -> Node:
    return _FIRST_NAN(g, list(reversed(operands)), invalid, target)


def _before_rounding(g: Graph, target: Any, sign: Node, shifted: Node, kept: Node, guard: Node) -> Node:
    return g.not_(g.top(kept))


def _kept_subnormals(g: Graph, x: Any, design: Any, target: Any) -> Any:
    return _CONVERT(g, x, replace(design, result_subnormals="kept"), target)


def _not_normalised(g: Graph, term: Any) -> Any:
    return term


def _positive(g: Graph, total: Any) -> Any:
    return replace(_AS_TERM(g, total), sign=g.truth(False))


_FIRST_NAN, _CONVERT, _AS_TERM = special.first_nan, step.convert_number, step.as_term

#: Slips that one kind of design has alone: the module, the name, what stands there, and a unit of the kind.
SLIPS_OF_KINDS: list[tuple[str, str, Callable[..., Any], str]] = [
    ("tcformal.semantics.sums.block", "first_nan", _reversed, "x86/vdpphps"),
    ("tcformal.semantics.round", "_tiny", _before_rounding, "gaudi2/mme.fp32_ieee"),
    ("tcformal.semantics.sums.block", "convert_number", _kept_subnormals, "arm/bfdot.ebf0"),
    ("tcformal.semantics.mma", "normalise_term", _not_normalised, "gaudi3/mme.e5m2.e5m2"),
    ("tcformal.semantics.sums.block", "as_term", _positive, "gaudi2/mme.tf32"),
]


@pytest.mark.slow
@pytest.mark.parametrize("slip", SLIPS_OF_KINDS, ids=lambda x: x[1])
def test_a_slip_in_what_one_kind_of_design_has_makes_a_claim_false(
    slip: tuple[str, str, Callable[..., Any], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, name, other, unit = slip
    monkeypatch.setattr(f"{module}.{name}", other)
    with pytest.raises(InputError, match="does not"):
        refinement(tcformal.unit(unit).spec)


@pytest.mark.debian
def test_coq_takes_the_plan_of_a_unit_and_refuses_that_of_another(tmp_path: Path) -> None:
    assert shutil.which("coqc")
    compile_sources(tmp_path)
    for unit in (
        VOLTA, "riscv/vfqbdot.vv.vlen128.e4m3.e4m3", "gaudi2/mme.fp32_ieee", "x86/vdpphps", "arm/bfdot.ebf0",
        "gaudi3/mme.e5m2.e5m2", "gaudi2/mme.tf32",
    ):  # fmt: skip
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
