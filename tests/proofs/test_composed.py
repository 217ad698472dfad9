"""A composed unit, whose sums hand words on that are read again, and the tree of its sums."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tcformal.design.names import resolve
from tcformal.proofs.claims.equality import equal_in_steps
from tcformal.proofs.lemmas import LemmaBook
from tcformal.solve.result import Limits

LIMITS = Limits(time_s=20.0, memory_mb=4096, seed=0)
TREE = (
    "tree@steps=join((1+(0+z))+c),converted=fp16,join.conversion=RNE-FP16,join.fraction_bits=exact,"
    "join.normalise_products=false,fraction_bits=25,zero_exponent=-21,nan_word=0x7fff,zero_sign=positive,"
    "overflow=infinity,a_format=e5m2,b_format=e5m2,c_format=fp16,d_format=fp16"
)


def test_sums_of_a_composed_unit_are_not_compared_in_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such lemmas are about all of its sums at once, and fail after seconds each."""
    unit = resolve("hopper/emulated.mma.m16n8k16.f16.e5m2.e5m2.f16")
    assert unit.emulation is not None
    composed = replace(unit, k=2, emulation=replace(unit.emulation, parts=((0,), (1,))))
    asked: list[object] = []
    monkeypatch.setattr(LemmaBook, "decide", lambda *x: asked.append(x))
    assert equal_in_steps(composed, resolve(TREE), LemmaBook(limits=LIMITS), LIMITS) is None
    assert not asked
