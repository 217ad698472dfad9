"""Which units a claim says something of."""

from __future__ import annotations

import pytest

from tcformal.design.names import resolve
from tcformal.query.claims.register import refused


@pytest.mark.parametrize("claim", ["sign-magnitude", "carry-bits", "zero-exponent"])
def test_a_sum_with_c_after_it_is_not_taken_for_one_sum(claim: str) -> None:
    """Gaudi 2's rounded sum has two terms, and none of them is a product."""
    assert refused(claim, resolve("gaudi2/mme.bf16"))
    assert not refused("negation-symmetry", resolve("gaudi2/mme.bf16"))
