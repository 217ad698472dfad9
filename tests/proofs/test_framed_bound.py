"""Claim `relative-error` where c keeps more bits than the products and sums are of complements (RDNA3's)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from false_units import FAULTS
from tcformal.bounds.accuracy import accuracy
from tcformal.bounds.recurrence import Recurrence, two_sided
from tcformal.bounds.theorems import Proved, Sides, Theorems
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.proofs.claim import Asking
from tcformal.proofs.claims.error_bound import stated_relative
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.stated_sum import StatedSum
from tcformal.proofs.statements.encodings import OFFSET
from tcformal.proofs.statements.framed_bound import framed_loss
from tcformal.query.question import Kind
from tcformal.semantics import reduce
from tcformal.semantics.sums import framed, step
from tcformal.solve.result import Limits
from theorems import check_theorems

LIMITS = Limits(time_s=30.0, memory_mb=4096, seed=0)
TOY = (
    "tfdpa@products=2,a_format=e5m2,b_format=e5m2,c_format=fp16,d_format=fp16,fraction_bits=11,"
    "c_fraction_bits=13,accumulation=ones_complement,conversion=RNE-FP16,zero_exponent=none"
)


@pytest.fixture(scope="module")
def book() -> LemmaBook:
    return LemmaBook(limits=LIMITS)


def drawn(g: Graph, rng: random.Random) -> dict[str, int]:
    """Random encodings with exponents near each other; E near the middle."""
    made = {}
    for name, node in g.inputs.items():
        word = rng.getrandbits(node.width)
        near = word & 0x83FF | 0x4000 if node.width == 16 else word & 0x83 | 0x40
        made[name] = rng.choice([near, near, near, 0])
    made["E"] = OFFSET + rng.choice([-1, 0, 1, 2, 2, 3])
    return made


@pytest.mark.parametrize("zero", [True, pytest.param(False, marks=pytest.mark.long)])
def test_products_and_c_lose_parts_of_their_own(zero: bool, book: LemmaBook) -> None:
    """A complement counts one more of the largest product too; c keeps two bits more than they."""
    claim = "relative-error; c=0x0" if zero else "relative-error"
    v = prove_claim(resolve(TOY), claim, book=book, limits=LIMITS)
    assert v.kind is Kind.HOLDS, v.reason
    units = [Fraction(x, 2047) for x in ((1 + 1, 2 + 1) if zero else (2 + 1, 3 + 1))]
    assert f"<= {units[0]} · Σ|a_k·b_k| of the products with that sign + {units[1]} · Σ" in v.reason
    assert f"<= {Fraction(1, 2048) * (1 + units[1])} · " in v.reason
    if zero:
        return
    assert f"of the others + {(Fraction(1, 2) + 1) / 2047} · |c| and" in v.reason
    ask = Asking(resolve(TOY), book, LIMITS, None, lambda _: None)
    check_theorems(stated_relative(ask)[0], v.parts[0].tree, drawn, 15)


def _two_complements(patch: pytest.MonkeyPatch) -> None:
    """A product of the other sign counts two more."""
    real = reduce._complemented
    patch.setattr(
        "tcformal.semantics.reduce._complemented",
        lambda g, other, x: g.sub_mod(real(g, other, x), g.zero_extend_to(other, x.width + 1)),
    )


def _raised(patch: pytest.MonkeyPatch) -> None:
    """e_max is too large by 3."""
    FAULTS["e_max + 3"](patch)
    patch.setattr("tcformal.semantics.sums.framed.largest", vars(step)["largest"])


def _lowered(patch: pytest.MonkeyPatch) -> None:
    """c counts half of what it is."""
    real = framed.lowered
    patch.setattr(
        "tcformal.semantics.sums.framed.lowered",
        lambda t, by: replace(real(t, by), fraction_bits=t.fraction_bits - by + 1),
    )


@pytest.mark.parametrize(
    ("fault", "zero"),
    [
        (_two_complements, True),
        pytest.param(_raised, True, marks=pytest.mark.long),
        pytest.param(_lowered, False, marks=pytest.mark.long),
    ],
)
def test_a_false_unit_never_holds(
    fault: Callable[[pytest.MonkeyPatch], None], zero: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    claim = "relative-error; c=0x0" if zero else "relative-error"
    v = prove_claim(resolve(TOY), claim, book=LemmaBook(limits=LIMITS), limits=LIMITS)
    assert v.kind is Kind.UNKNOWN, v.reason
    assert not v.parts[0].tree


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("RNE-FP16", "RZ-FP16"), "sums of complements to the nearest"),
        (("ones_complement", "twos_complement"), "sums of complements to the nearest"),
    ],
)
def test_other_sums_have_no_such_statement(change: tuple[str, str], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        framed_loss(resolve(TOY.replace(*change)), 2, zero_c=True)


@pytest.mark.parametrize("scale", [Fraction(1, 8), Fraction(1, 1 << 20)])
def test_both_sides_of_c_grow_as_blocks_can(scale: Fraction) -> None:
    """No chain whose blocks lose what they may exceeds the constant, and one that loses so comes near it."""
    units = (2, 3, 0, 1), (3, 4, Fraction(3, 2), 1)
    first, later = (Sides(*(Fraction(x) * scale for x in y)) for y in units)
    rng, worst = random.Random(6), Fraction(0)
    for _ in range(300):
        exact = held = size = Fraction(0)
        for i in range(5):
            one, up = (later if i else first), -1 if held < 0 else 1
            big = i == 0 or rng.random() < 0.2
            products = [rng.choice([1, -1]) * Fraction(rng.randint(1, 8)) for _ in range(2 if big else 0)]
            same = sum(abs(x) for x in products if x * up > 0)
            others = sum(abs(x) for x in products if x * up < 0)
            against = one.same * same + one.other * others + one.of_c * abs(held)
            along = one.along * (same + others + abs(held))
            held += sum(products) + up * rng.choice([-against, -against, along])
            exact, size = exact + sum(products), size + same + others
        worst = max(worst, abs(held - exact) / size)
    most = two_sided(first, later, 5)
    assert worst <= most
    if scale < Fraction(1, 8):
        assert worst > most * Fraction(99, 100)
        assert 8 * scale <= most < 8 * scale * Fraction(10001, 10000)
        long = Proved(first.other, later.of_c, 2, (), (), sides=(first, later), sum=StatedSum())
        assert 0 < Recurrence(long).of(600) - (2 + 299 * Fraction(3, 2)) * scale < scale / 2


@pytest.mark.long
def test_a_call_of_rdna3_loses_what_its_blocks_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a first block 2·2^-24, and of each that follows 1.5·2^-24 of what there is; to fp16 within 1 %.

    The first block's 3·2^-24 are lost where the later ones lose no more than an ulp.
    """
    monkeypatch.setattr(Theorems, "holds", lambda self, unit, claim, *, kept=True: True)
    x = accuracy("rdna3/v_wmma_f32_16x16x16_f16", subnormals=False)
    assert x.bound is not None
    assert 12.5 < float(x.bound) * 2**24 < 12.5003
    assert x.gap is not None
    assert x.gap < Fraction(1, 10_000)
    half = accuracy("rdna3/v_wmma_f16_16x16x16_f16", subnormals=False)
    assert half.gap is not None
    assert half.gap < Fraction(1, 100)
