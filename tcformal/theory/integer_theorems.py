"""Theorems about units of integers (`coq/IntegerUnits.v`): exact sums, orders and cuts, overflow."""

from __future__ import annotations

from tcformal.design.integer_sums import integer_sums, wraps
from tcformal.design.unit import UnitSpec
from tcformal.theory.instances import Instance

#: What an answer about a sum of integers is printed with.
HEADER = """\
From Coq Require Import ZArith List Permutation Lia.
From TC Require Import IntegerUnits.
Import ListNotations.
Open Scope Z_scope.
"""


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
                text=HEADER + text + _CHECKED,
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
            text=HEADER + text + _CHECKED,
            says=f"sums modulo 2^{unit.d_format.width} are one, however products are ordered and cut",
        )
    if name == "integer-sums":
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
            claim=claim, unit=unit, theorem="exact_calls", says=x.says, text=HEADER + text + _CHECKED,
        )  # fmt: skip
    return None


_CHECKED = "\nCheck instance.\nPrint Assumptions instance.\n"


def integer_form(unit: UnitSpec, length: int, *, zero_c: bool) -> tuple[str, str] | None:
    """What a unit of integers computes of `length` products, and the theorem by which; None: a definition."""
    if zero_c and unit.tree is None and length <= integer_sums(unit).exact:
        return "exact", "exact_calls"
    if wraps(unit) and unit.tree is None:
        theorem = "wrapped_calls" if unit.design.summation == "fused" else "wrapped_tree"
        return "modulo", theorem
    return None
