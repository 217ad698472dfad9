"""Which units a claim says something of."""

from __future__ import annotations

import pytest

from tcformal.design.names import resolve
from tcformal.query.claims.answered import prove_claim
from tcformal.query.claims.register import refused
from tcformal.query.question import Kind


@pytest.mark.parametrize("claim", ["sign-magnitude", "carry-bits", "zero-exponent"])
def test_a_sum_with_c_after_it_is_not_taken_for_one_sum(claim: str) -> None:
    """Gaudi 2's rounded sum has two terms, and none of them is a product."""
    assert refused(claim, resolve("gaudi2/mme.bf16"))
    assert not refused("negation-symmetry", resolve("gaudi2/mme.bf16"))


def test_the_symmetry_of_a_composition_is_no_question() -> None:
    name = "ampere/emulated.mma.m8n8k4.f32.f16.f16.f32"
    found = prove_claim(name, "negation-symmetry")
    assert (found.kind, found.answered_by) == (Kind.UNKNOWN, "nothing")
    assert "composition" in found.reason
