"""Two units of one normal form, as a file in which `coqc` checks that they are equal."""

from __future__ import annotations

from tcformal.design.unit import UnitSpec
from tcformal.theory.design import coq_sum
from tcformal.theory.equality import Form, IdleAxis, idle_axes, normal_form

HEADER = """\
From Coq Require Import ZArith List Bool.
From TC Require Import Theorems Design Spec.
Import ListNotations.
Open Scope Z_scope.
"""


def equal_by(first: UnitSpec, second: UnitSpec, *, zero_c: bool = False) -> tuple[str, ...] | None:
    """The theorems by which two units are one function of words; None where their normal forms differ."""
    one, two = (normal_form(unit, zero_c=zero_c) for unit in (first, second))
    return tuple(dict.fromkeys(one[1] + two[1])) if one[0] == two[0] else None


def coq_equality(first: UnitSpec, second: UnitSpec, *, zero_c: bool = False) -> str | None:
    """A file in which `coqc` checks that two units of one normal form are equal; None where they are not.

    `zero_c`: on words with c = +0.
    """
    if equal_by(first, second, zero_c=zero_c) is None:
        return None
    axes = {
        side: (Form(unit), idle_axes(unit, zero_c=zero_c)) for side, unit in (("a", first), ("b", second))
    }
    lengths = {x.length for _, made in axes.values() for x in made if x.length is not None}
    about = f"length (pairs w) = {lengths.pop()}%nat" if lengths else "pairs w <> []"
    if zero_c:
        about = f"{about} /\\ c_word w = 0"
    lines, ends = [HEADER], []
    for side, (form, made) in axes.items():
        lines.append(f"Definition {side}0 : design := {form.text}.")
        chained = f"(eq_refl (compute {side}0 w))"
        for i, axis in enumerate(made):
            lines += _checked(axis, form, f"{side}{i}", f"{side}{i + 1}", about)
            form = axis.after
            chained = f"(eq_trans {chained} ({side}{i}_same w H))"
        ends.append(chained)
    return "\n".join(
        [
            *lines,
            f"Definition instance : forall w, {about} -> compute a0 w = compute b0 w :=",
            f"  fun w H => eq_trans {ends[0]} (eq_sym {ends[1]}).",
            "Check instance.\nPrint Assumptions instance.\n",
        ]
    )


def _checked(axis: IdleAxis, form: Form, before: str, after: str, about: str) -> list[str]:
    """The lemma that one change leaves all results as they are."""
    lines = [
        f"Definition {after} : design := {axis.after.text}.",
        f"Lemma {before}_same : forall w, {about} -> compute {before} w = compute {after} w.",
        "Proof.",
        f"  intros w L. {'destruct L as [L Z]. ' * ('c_word' in about)}set (d := {before}).",
        "  assert (N : pairs w <> []) by (first [exact L | intros E; rewrite E in L; discriminate L]).",
    ]
    if axis.with_sum:
        lines.append(f"  set (s := {coq_sum(form.unit.design, form.unit.design.rho)}).")
        lines.append("  assert (S : sum_of d = Some s) by (vm_compute; reflexivity).")
    lines.append(f"  assert (O : {axis.condition}) by (vm_compute; reflexivity).")
    return [*lines, f"  exact ({axis.proof}).", "Qed."]
