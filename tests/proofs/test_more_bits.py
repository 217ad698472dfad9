"""Sums cut to odd at unequal numbers of bits: what is proved of their last bits, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tcformal.design.names import resolve
from tcformal.design.spec import Design
from tcformal.formats.catalog import format_named
from tcformal.ir.build import Graph
from tcformal.proofs import known_numbers, step_by_step
from tcformal.proofs.claims.equality import equal_in_sums
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.tactics.alike.more_bits import MoreBits
from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.semantics.align import any_of
from tcformal.semantics.choice import ZeroExponent
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import Total
from tcformal.semantics.sums.step import truncated_total
from tcformal.semantics.unpack import unpack
from tcformal.solve.result import Limits

LIMITS = Limits(time_s=10.0, memory_mb=4096, seed=0)
BF16 = format_named("bf16")
#: Products, then c, in one bit more than the exact sum of two numbers of bf16 takes.
SUM = (
    "tree@steps=join((0)+c),join.conversion=RO-BF16,fraction_bits=11,alignment_rounding=RO,conversion=RO-BF16,"
    "zero_sign=positive,overflow=infinity,a_format=e4m3,b_format=e4m3,c_format=bf16,d_format=bf16"
)
EXACT = SUM.replace("join.conv", "join.fraction_bits=exact,join.normalise_products=false,join.conv")


def facts(*, bits: int, more: int, terms: int = 2, zero_exponent: ZeroExponent = "none") -> bool:
    """Whether what the last bits of a sum of numbers of bf16 are worth is proved."""
    g = Graph()
    numbers = [unpack(g, g.input(f"x{i}", BF16.width), BF16) for i in range(terms)]
    design: Design = resolve("valpey@terms=3,carry_bits=3,align_bits=0").design
    design = replace(design, alignment_rounding="RO", carry_bits=None, normalise_products=False)
    total: Total = truncated_total(g, [x.term for x in numbers], design, bits, zero_exponent)
    width = total.partials[-1].node.width
    x, y, *_ = (g.wrap_to_mod(signed_magnitude(g, t.term.sign, t.aligned), width) for t in total.terms)
    special = any_of(g, [flag for n in numbers for flag in (n.nan, n.inf)])
    s = SumSteps(Composition(g, LemmaBook(limits=LIMITS)), "sum", unless=special)
    return MoreBits(s, total, (x, y), more).facts() is not None


def test_a_sum_with_last_bits_is_large() -> None:
    assert facts(bits=11, more=1)


@pytest.mark.parametrize(
    "of",
    [
        {"bits": 9, "more": 2},
        {"bits": 8, "more": 1},
        {"bits": 11, "more": 1, "terms": 3},
        {"bits": 11, "more": 1, "zero_exponent": "own"},
    ],
)
def test_last_bits_that_matter_are_not_dropped(of: dict[str, int | str]) -> None:
    """Bits of an uncut term are among the last; three terms; a zero with the largest exponent."""
    assert not facts(**of)  # type: ignore[arg-type]


def proved(first: str, second: str) -> bool:
    return equal_in_sums(resolve(first), resolve(second), LemmaBook(limits=LIMITS), LIMITS) is not None


@pytest.mark.long
def test_a_bit_more_than_an_exact_sum_takes_changes_nothing() -> None:
    assert proved(SUM, EXACT)


@pytest.mark.long
@pytest.mark.parametrize("how", ["alignment_rounding=RZ", "alignment_rounding=RU"])
def test_a_term_cut_in_another_way_is_refused(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_by_step._Proof, "tried", lambda *_: True)
    monkeypatch.setattr(step_by_step._Proof, "seen", lambda _, node: True)
    monkeypatch.setattr(known_numbers, "_DEPTHS", (0,))
    assert not proved(SUM.replace("alignment_rounding=RO", how), EXACT)
