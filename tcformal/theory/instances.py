"""A theorem about one design as data, and as a file that `coqc` checks with the shipped sources."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tcformal.design.unit import UnitSpec
from tcformal.theory.design import coq_design, coq_sum

HEADER = """\
From Coq Require Import ZArith List Bool Reals Lra Lia.
From TC Require Import Theorems Design Spec.
Import ListNotations.
Open Scope Z_scope.
"""
#: The theorem that gives a constant as a fraction, by what its terms lose.
_KAPPA = {"(units_alone": "kappa_alone", "(units": "kappa_units"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A theorem about one design whose side conditions are met.

    Shapes: the theorem is applied to the design, its sum (`with_sum`), `arguments`, and variables;
    `conditions` are the propositions that `coqc` decides again by computation; `constants` equations of real
    numbers.
    """

    claim: str
    unit: UnitSpec
    theorem: str
    says: str
    arguments: tuple[str, ...] = ()
    binders: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    with_sum: bool = False
    #: The function of Coq that gives the sum.
    sum_by: str = "sum_of"
    #: The constructor of the summation whose record the theorem is about, in place of the design.
    summation: str = ""
    #: The theorem's arguments after the design, where they are not `arguments` and then `binders`; numbers
    #: stand for `arguments` by place.  Conditions that are not among them come last.
    order: tuple[str, ...] = ()
    numbers: dict[str, Fraction] = field(default_factory=dict)
    #: A second unit, `e` in conditions, which the theorem is about as well.
    other: UnitSpec | None = None
    #: The file, where it is not about a design of the specification.
    text: str = ""


def coq_instance(x: Instance) -> str:
    """A file in which `coqc` checks the instance, its conditions and constants by computation."""
    if x.text:
        return f"(** {x.unit.name}: {x.says} *)\n{x.text}"
    lines = [HEADER, f"(** {x.unit.name}: {x.says} *)", f"Definition d : design := {coq_design(x.unit)}."]
    if x.other is not None:
        lines.append(f"(** {x.other.name} *)\nDefinition e : design := {coq_design(x.other)}.")
    if x.theorem == "eq_refl":
        return "\n".join(
            [*lines, "Definition instance : forall w, compute d w = compute d w := fun w => eq_refl.", ""]
        )
    known = []
    if x.with_sum:
        lines.append(f"Definition s : sum := {coq_sum(x.unit.design, x.unit.design.rho)}.")
        lines.append(f"Lemma one_sum : {x.sum_by} d = Some s. Proof. vm_compute. reflexivity. Qed.")
        known.append("one_sum")
    if x.summation:
        found = f"match sums d with {x.summation} r => Some r | _ => None end"
        found = f"let x := eval cbv in ({found}) in match x with Some ?r => exact r end"
        lines += [
            f"Definition r := ltac:({found}).",
            f"Lemma part : sums d = {x.summation} r. Proof. reflexivity. Qed.",
        ]
    for i, condition in enumerate(x.conditions):
        known.append(f"condition_{i}")
        proof = "Proof. vm_compute. first [reflexivity | discriminate]. Qed."
        lines.append(f"Lemma condition_{i} : {condition}. {proof}")
    for i, constant in enumerate(x.constants):
        by = next((y for x, y in _KAPPA.items() if x in constant), "kappa_fraction")
        lines.append(f"Lemma constant_{i} : ({constant})%R. Proof. apply {by}. vm_compute. reflexivity. Qed.")
    order = x.order or (*(str(i) for i in range(len(x.arguments))), *x.binders)
    given = " ".join(x.arguments[int(i)] if i.isdigit() else i for i in order)
    start = "r" if x.summation else "d s" if x.with_sum else "d" if x.other is None else "d e"
    binders = f"fun {' '.join(x.binders)} => " if x.binders else ""
    rest = " ".join(name for name in known if name not in order)
    lines.append(f"Definition instance := {binders}{x.theorem} {start} {given} {rest}.")
    lines.append("Check instance.\nPrint Assumptions instance.")
    return "\n".join([*lines, ""])
