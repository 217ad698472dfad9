"""Theorems about units of integers (`coq/IntegerUnits.v`): exact sums, orders and cuts, overflow."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from tcformal.design.unit import UnitSpec, product_signs
from tcformal.encodings.spec import Format
from tcformal.theory.instances import Instance

#: Why claims about roundings say nothing of integers.
ONLY_OVERFLOW = "whose sums of integers are exact unless they overflow (claim integer-sums)"
#: What an answer about a sum of integers is printed with.
_HEADER = """\
From Coq Require Import ZArith List Permutation Lia.
From TC Require Import IntegerUnits.
Import ListNotations.
Open Scope Z_scope.
"""


@dataclass(frozen=True, slots=True)
class IntegerSums:
    """How many products of a unit of integers are added exactly, c = 0, however they are cut into calls.

    Ranges and units: products lie from `least` to `most`; `exact` of them never leave the numbers `low` to
    `high` of the result, and `exact` + 1 of the factors `words`, raw, do.
    """

    unit: UnitSpec
    least: int
    most: int
    low: int
    high: int
    exact: int
    words: tuple[int, int]

    @property
    def extreme(self) -> int:
        """The product of which one more than `exact` overflow."""
        a, b = (number(f, w) for f, w in zip(_factors(self.unit), self.words, strict=True))
        return a * b

    @property
    def says(self) -> str:
        """The answer in one clause."""
        a, b = (number(f, w) for f, w in zip(_factors(self.unit), self.words, strict=True))
        return (
            f"exact up to {self.exact:,} products; from {self.exact + 1:,} on it can overflow: "
            f"all a = {a}, b = {b}"
        )


def number(fmt: Format, word: int) -> int:
    """The integer of an encoding."""
    return word - (1 << fmt.width) if word & fmt.sign_bit else word


def _factors(unit: UnitSpec) -> tuple[Format, Format]:
    return unit.a_format, unit.b_format


def _ends(fmt: Format) -> tuple[int, int]:
    return (fmt.sign_bit, fmt.largest) if fmt.sign_bit else (0, fmt.largest)


def integer_sums(unit: UnitSpec) -> IntegerSums:
    """The number of products that a unit of integers adds exactly, and factors that overflow beyond it."""
    d, a, b = unit.d_format, unit.a_format, unit.b_format
    low, high = (number(d, w) for w in _ends(d))
    signs = set(product_signs(unit, unit.k))
    pairs = {
        sign * number(a, x) * number(b, y): (x, y)
        for x, y in product(_ends(a), _ends(b)) for sign in signs
    }  # fmt: skip
    least, most = min(0, *pairs), max(0, *pairs)
    down = low // least if least else None
    up = high // most if most else None
    # Of a word whose sign alternates, extremes of one sign come every second time: the bound is lower then.
    exact = min(x for x in (down, up) if x is not None)
    return IntegerSums(unit, least, most, low, high, exact, pairs[most if up == exact else least])


def wraps(unit: UnitSpec) -> bool:
    """Whether every sum of a unit of integers is taken modulo the numbers of its result."""
    return unit.d_format.integer and unit.design.rho.wraps and unit.design.step.wraps


def _once(unit: UnitSpec) -> bool:
    """Whether one call adds its products and c in one sum."""
    d = unit.design
    return (d.summation, d.c_position) == ("fused", "joined") and d.products >= unit.k and unit.tree is None


def integer_claim(unit: UnitSpec, claim: str) -> Instance | None:
    """The theorem that answers a claim about a unit of integers; None where none does."""
    x, name = integer_sums(unit), claim.partition(";")[0]
    words = f"({x.low}) ({x.high - x.low + 1})"
    convert = f"({'wrapped' if wraps(unit) else 'saturated'} {words})"
    if name == "product-order" and (wraps(unit) or _once(unit)):
        if _once(unit):
            text = (
                f"Definition instance : forall c l k, Permutation l k ->\n"
                f"  call {convert} c l = call {convert} c k := integer_order {convert}."
            )
            return Instance(
                claim=claim,
                unit=unit,
                theorem="integer_order",
                text=_HEADER + text + _CHECKED,
                says="one call adds its products and c exactly and converts once, in any order",
            )
        text = (
            "Definition instance : forall c ls ks,\n"
            "  ls <> [] -> ks <> [] -> Permutation (concat ls) (concat ks) ->\n"
            f"  calls {convert} c ls = calls {convert} c ks :=\n"
            "  fun c ls ks => wrapped_cuts _ _ c ls ks eq_refl."
        )
        return Instance(
            claim=claim,
            unit=unit,
            theorem="wrapped_cuts",
            text=_HEADER + text + _CHECKED,
            says=f"sums modulo 2^{unit.d_format.width} are one, however products are ordered and cut",
        )
    if name == "integer-sums" and all(s == 1 for s in product_signs(unit, unit.k)):
        exactly = "wrapped_exact" if wraps(unit) else "saturated_exact"
        text = f"""\
Lemma instance ls : (forall x, In x (concat ls) -> {x.least} <= x <= {x.most}) ->
  Z.of_nat (length (concat ls)) <= {x.exact} -> calls {convert} 0 ls = total (concat ls).
Proof.
  intros P L. rewrite (exact_calls _ {words} ({x.least}) {x.most}); [lia|apply {exactly}|lia|exact P|lia|lia].
Qed.
Lemma overflow : ~ ({x.low} <= {x.exact + 1} * ({x.extreme}) < {x.low} + {x.high - x.low + 1}).
Proof. lia. Qed."""
        return Instance(
            claim=claim, unit=unit, theorem="exact_calls", says=x.says, text=_HEADER + text + _CHECKED,
        )  # fmt: skip
    return None


_CHECKED = "\nCheck instance.\nPrint Assumptions instance.\n"


def integer_form(unit: UnitSpec, length: int, *, zero_c: bool) -> tuple[str, str] | None:
    """What a unit of integers computes of `length` products, and the theorem by which; None: its definition.

    Products are taken away alike where these are equal for two units of the same formats.
    """
    taken = "".join("+-"[s < 0] for s in product_signs(unit, length)) if unit.design.negated != "none" else ""
    if wraps(unit) and unit.tree is None:
        theorem = "wrapped_calls" if unit.design.summation == "fused" else "wrapped_tree"
        return f"modulo {taken}", theorem
    if zero_c and unit.tree is None and length <= integer_sums(unit).exact:
        return f"exact {taken}", "exact_calls"
    return None
