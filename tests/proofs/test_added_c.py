"""c added to a sum of the products as it is: designs whose sums are one number before that, and others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.proofs import step_by_step
from tcformal.proofs.claim import ClaimVerdict
from tcformal.proofs.claims.equality import equal_in_steps, equal_in_sums
from tcformal.proofs.lemmas import LemmaBook
from tcformal.solve.result import Limits

Way = Callable[[UnitSpec, UnitSpec, LemmaBook, Limits], ClaimVerdict | None]

LIMITS = Limits(time_s=10.0, memory_mb=4096, seed=0)
#: Zero terms take no part in the largest exponent; no product is cut.
TOY = (
    "tfdpa@products=2,a_format=e2m1,b_format=e2m1,c_position=after,fraction_bits=8,zero_exponent=none,"
    "c_format=e5m2,d_format=e5m2,conversion=RNE-E5M2"
)
#: The lowest product is cut at the exponent of the largest one, or at that of a zero.
CUT = TOY.replace("fraction_bits=8", "fraction_bits=3")

WITH_C = "what is rounded with c is one number"


def proved(first: str, second: str, *ways: Way) -> ClaimVerdict | None:
    one, two, book = resolve(first), resolve(second), LemmaBook(limits=LIMITS)
    found = (way(one, two, book, LIMITS) for way in ways or (equal_in_steps, equal_in_sums))
    return next((v for v in found if v is not None), None)


def zeros_at(name: str, exponent: str) -> str:
    return name.replace("zero_exponent=none", f"zero_exponent={exponent}")


@pytest.mark.parametrize(
    ("way", "first", "second", "lemma"),
    [
        (equal_in_steps, CUT, zeros_at(CUT, "-30"), WITH_C),
        (equal_in_sums, TOY, zeros_at(TOY, "own"), WITH_C),
        (equal_in_steps, CUT, f"{CUT},accumulation=sign_magnitude", "a step in sign and magnitude on 7 bits"),
        pytest.param(equal_in_sums, TOY, f"{TOY},normalise_operands=true", WITH_C, marks=pytest.mark.slow),
    ],
)
def test_what_is_one_number_before_c_gives_one_result(way: Way, first: str, second: str, lemma: str) -> None:
    verdict = proved(first, second, way)
    assert verdict is not None
    assert lemma in [x.name for x in verdict.lemmas]


@pytest.mark.parametrize("tried", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (CUT, zeros_at(CUT, "3")),
        (CUT, zeros_at(CUT, "own")),
        (CUT, f"{CUT},normalise_operands=true"),
        (TOY, CUT),
    ],
)
def test_what_alignment_cuts_off_is_not_proved(
    first: str, second: str, tried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No proof, where no input that is tried shows the difference, too."""
    if not tried:
        monkeypatch.setattr(step_by_step._Proof, "tried", lambda *_: True)
        monkeypatch.setattr(step_by_step._Proof, "seen", lambda _, node: True)
    assert proved(first, second) is None
