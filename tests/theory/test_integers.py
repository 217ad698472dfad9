"""Theorems about units of integers: what they answer, their numbers, and what Coq says of each instance."""

from __future__ import annotations

from pathlib import Path

import pytest

import tcformal
from tcformal.design.catalog import catalogue, distinct_designs, floating
from tcformal.design.integer_sums import integer_sums
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.oracle.exact import unit_dot
from tcformal.theory.checked import compile_sources, coqc
from tcformal.theory.design import coq_design
from tcformal.theory.equality import equal_by_theorem
from tcformal.theory.integer_theorems import HEADER, integer_claim
from tcformal.theory.theorems import theorem_answer

UNITS = list(distinct_designs(lambda u: not floating(u)))


@pytest.mark.parametrize("name", UNITS)
def test_one_product_more_overflows_and_none_before(name: str) -> None:
    """The products that are the largest or the least of all, one more of which leave the range."""
    u = catalogue()[name]
    x, o = integer_sums(u), u.operands
    ends = [
        (sa * 2**f.fraction_bits if sa < 0 else f.largest) if f.sign_bit or sa > 0 else 0
        for f in (o.a, o.b) for sa in (1, -1)
    ]  # fmt: skip
    products = [p * q for p in ends[:2] for q in ends[2:]]
    assert (x.least, x.most) == (min(0, *products), max(0, *products))
    assert x.low <= x.exact * x.least
    assert x.exact * x.most <= x.high
    assert not x.low <= (x.exact + 1) * x.extreme <= x.high


def test_sums_of_int8_are_exact_up_to_131071_products() -> None:
    x = integer_sums(resolve("h100:int8"))
    assert x.says == "exact up to 131,071 products; from 131,072 on it can overflow: all a = -128, b = -128"
    made = theorem_answer(resolve("h100:int8"), "integer-sums")
    assert made is not None
    assert (made.name, made.source) == ("exact_calls", "IntegerUnits.v")


def test_units_that_wrap_are_one_function_and_others_are_not() -> None:
    wraps, other, saturates = map(
        resolve, ("h100:int8", "x86/tdpbssd", "hopper/wgmma.m64n8k32.satfinite.s32.s8.s8")
    )
    found = equal_by_theorem(wraps, other, 64)
    assert found is not None
    assert found.theorems == ("wrapped_calls",)
    assert equal_by_theorem(wraps, saturates, 32) is None
    from_zero = equal_by_theorem(wraps, saturates, 32, zero_c=True)
    assert from_zero is not None
    assert from_zero.theorems == ("exact_calls",)


def test_a_sum_in_steps_that_wraps_is_the_fused_one_and_one_that_saturates_is_not() -> None:
    steps = "summation=sequential,c_position=first,accumulator="
    wrap, sat = resolve("x86/vpdpbusd"), resolve("x86/vpdpbusds")
    in_steps = resolve(f"x86/vpdpbusd@{steps}WRAP-INT32")
    found = equal_by_theorem(wrap, in_steps, 4)
    assert found is not None
    assert "wrapped_tree" in found.theorems
    assert equal_by_theorem(sat, resolve(f"x86/vpdpbusds@{steps}SAT-INT32"), 4) is None
    a, b = [1, 1, 0, 0], [1, 0xFF, 0, 0]
    assert unit_dot(wrap, a, b, 0x7FFFFFFF) == unit_dot(in_steps, a, b, 0x7FFFFFFF)


def test_claims_about_roundings_are_refused() -> None:
    with pytest.raises(InputError, match="sums of integers are exact unless they overflow"):
        tcformal.prove_claim("h100:int8", "monotonicity")
    steps = "x86/vpdpbusds@summation=sequential,c_position=first,accumulator=SAT-INT32"
    assert integer_claim(resolve(steps), "product-order") is None
    with pytest.raises(InputError, match="floating-point numbers"):
        coq_design(resolve("h100:int8"))


@pytest.mark.debian
def test_coq_checks_every_instance_and_refuses_one_product_more(tmp_path: Path) -> None:
    compile_sources(tmp_path, "IntegerUnits.v")
    modules = [HEADER]
    for i, name in enumerate(UNITS):
        for claim in ("product-order", "integer-sums"):
            found = theorem_answer(catalogue()[name], claim)
            assert found is not None
            body = found.coq.partition(HEADER)[2]
            modules.append(f"Module M{i}{claim[0]}. {body} End M{i}{claim[0]}.")
    (tmp_path / "All.v").write_text("\n".join(modules), encoding="utf-8")
    assert coqc(tmp_path, "All.v").count("Closed under the global context") == 2 * len(UNITS)
    u = resolve("h100:int8")
    made = integer_claim(u, "integer-sums")
    assert made is not None
    (tmp_path / "Wrong.v").write_text(made.text.replace("<= 131071", "<= 131072"), encoding="utf-8")
    with pytest.raises(InputError, match=r"expected Wrong\.v to compile"):
        coqc(tmp_path, "Wrong.v")
