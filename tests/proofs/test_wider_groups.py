"""Exact sums of groups of products whose factors are normalised, or not."""

from __future__ import annotations

import pytest

from tcformal.design.names import resolve
from tcformal.proofs.claims.equality import equal_in_steps
from tcformal.proofs.claims.same_sums import side_by_side
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.tactics.alike import wider_groups
from tcformal.proofs.tactics.cuts import Composition
from tcformal.solve.result import Limits

LIMITS = Limits(time_s=10.0, memory_mb=4096, seed=0)
#: Two groups of two products, and c.
GROUPS = (
    "tfdpa@a_format=e2m1,b_format=e2m1,products=4,k=4,group=2,fraction_bits=20,conversion=RZ-FP32,"
    "zero_exponent=-139"
)
OTHERS = f"{GROUPS},normalise_operands=true"


def proved(first: str, second: str) -> bool:
    return equal_in_steps(resolve(first), resolve(second), LemmaBook(limits=LIMITS), LIMITS) is not None


def test_a_group_has_one_sum_whatever_its_factors_exponents() -> None:
    assert proved(GROUPS, OTHERS)
    assert proved(OTHERS, GROUPS)


def test_other_bits_that_are_kept_are_no_such_sum() -> None:
    assert not proved(GROUPS, OTHERS.replace("fraction_bits=20", "fraction_bits=1"))
    assert not proved(GROUPS.replace("group=2,", ""), OTHERS.replace("group=2,", ""))


@pytest.mark.parametrize("change", ["operand_subnormals=signed_zero", "negated=odd"])
def test_groups_of_other_products_are_refused(change: str) -> None:
    """Subnormals that count as zeros, and products that are subtracted."""
    g, (one, two) = side_by_side(resolve(GROUPS), resolve(f"{OTHERS},{change}"))
    c = Composition(g, LemmaBook(limits=LIMITS))
    pairs = zip(wider_groups.groups_of(one), wider_groups.groups_of(two), strict=False)
    assert not all(wider_groups.same_groups(c, x, y) for x, y in pairs)
