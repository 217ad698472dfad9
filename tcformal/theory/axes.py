"""Parameters of a design that cannot matter, by theorems of `coq/`, and a normal form without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tcformal.design.unit import UnitSpec
from tcformal.theory.claims import carry_needed, zero_idle
from tcformal.theory.conditions import block_size, value_only
from tcformal.theory.design import coq_design, coq_sum, coq_summation
from tcformal.theory.stages import plainer_sums

#: The name of every normal form.
_NAME = "normal form"
_HEADER = """\
From Coq Require Import ZArith List Bool.
From TC Require Import Theorems Design Spec.
Import ListNotations.
Open Scope Z_scope.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleAxis:
    """One parameter set to another value that gives the same results on all words.

    Shapes: `proof` is a term of type `compute before w = compute after w`, for words `w` with products (`N`),
    in which `d` is the design before, `s` its sum, `S` a proof of that, and `O` a proof of `condition`.
    """

    theorem: str
    after: UnitSpec
    proof: str
    condition: str = "true = true"
    with_sum: bool = False


def normal_form(unit: UnitSpec) -> tuple[UnitSpec, tuple[str, ...]]:
    """The design with every idle parameter at one value, and the theorems, in the order of their use.

    Two units of one normal form give the same results on all words that both take.
    """
    made = idle_axes(unit)
    last = made[-1].after if made else unit
    size = last.k if last.tree is not None or last.emulation is not None else block_size(last)
    design = last.design
    if last.tree is None and last.emulation is None:
        design = replace(design, products=size)
    form = UnitSpec(
        name=_NAME, m=1, n=1, k=size, operands=last.operands, design=design, scale_format=last.scale_format,
        scale_block=last.scale_block, emulation=last.emulation, tree=last.tree,
    )  # fmt: skip
    return form, tuple(x.theorem for x in made)


def idle_axes(unit: UnitSpec) -> tuple[IdleAxis, ...]:
    """The changes from a unit to its normal form, each of the design that the one before left."""
    made: list[IdleAxis] = []
    while found := next((x for axis in _AXES if (x := axis(unit)) is not None), None):
        made.append(found)
        unit = found.after
    return tuple(made)


def coq_equality(first: UnitSpec, second: UnitSpec) -> str | None:
    """A file in which `coqc` checks that two units of one normal form are equal; None where they are not."""
    if normal_form(first)[0] != normal_form(second)[0]:
        return None
    lines, ends = [_HEADER], []
    for side, unit in (("a", first), ("b", second)):
        lines.append(f"Definition {side}0 : design := {coq_design(unit)}.")
        proofs = []
        for i, axis in enumerate(idle_axes(unit)):
            lines += _checked(axis, unit, f"{side}{i}", f"{side}{i + 1}")
            unit = axis.after
            proofs.append(f"{side}{i}_same w N")
        chained = f"(eq_refl (compute {side}0 w))"
        for proof in proofs:
            chained = f"(eq_trans {chained} ({proof}))"
        ends.append(chained)
    lines.append(
        "Definition instance : forall w, pairs w <> [] -> compute a0 w = compute b0 w :=\n"
        f"  fun w N => eq_trans {ends[0]} (eq_sym {ends[1]})."
    )
    lines.append("Check instance.\nPrint Assumptions instance.\n")
    return "\n".join(lines)


def _checked(axis: IdleAxis, unit: UnitSpec, before: str, after: str) -> list[str]:
    """The lemma that one change leaves all results as they are."""
    lines = [f"Definition {after} : design := {coq_design(axis.after)}."]
    name = f"{before}_same"
    lines.append(f"Lemma {name} : forall w, pairs w <> [] -> compute {before} w = compute {after} w.")
    lines.append("Proof.")
    lines.append(f"  intros w N. set (d := {before}).")
    if axis.with_sum:
        lines.append(f"  set (s := {coq_sum(unit.design, unit.design.rho)}).")
        lines.append("  assert (S : sum_of d = Some s) by (vm_compute; reflexivity).")
    lines.append(f"  assert (O : {axis.condition}) by (vm_compute; reflexivity).")
    lines.append(f"  exact ({axis.proof}).")
    lines.append("Qed.")
    return lines


def _changed(unit: UnitSpec, **values: object) -> UnitSpec:
    return replace(unit, design=replace(unit.design, **values))  # type: ignore[arg-type]


def _zero_exponent(unit: UnitSpec) -> IdleAxis | None:
    """Zeros whose exponent is below those of all other terms take no part."""
    if not isinstance(unit.design.zero_exponent, int) or not zero_idle(unit):
        return None
    return IdleAxis(
        theorem="zero_exponent_idle", after=_changed(unit, zero_exponent="none"), with_sum=True,
        condition="zero_idle d = true", proof="zero_exponent_idle d s w S O N",
    )  # fmt: skip


def _carry_bits(unit: UnitSpec) -> IdleAxis | None:
    """A sum that never leaves its register is the same in one without a bound."""
    carry, needed = unit.design.carry_bits, carry_needed(unit)
    if carry is None or needed is None or carry < needed:
        return None
    return IdleAxis(
        theorem="carry_bits_suffice", after=_changed(unit, carry_bits=None), with_sum=True,
        condition=f"carry_enough d {carry} = true", proof=f"carry_bits_suffice d s {carry} w S O N",
    )  # fmt: skip


def _accumulation(unit: UnitSpec) -> IdleAxis | None:
    """The specification sums integers: in sign and magnitude the record is the same."""
    if unit.design.accumulation != "sign_magnitude":
        return None
    after = _changed(unit, accumulation="twos_complement")
    if coq_design(after) != coq_design(unit):
        return None
    return IdleAxis(theorem="eq_refl", after=after, proof="eq_refl (compute d w)")


def _normalised_operands(unit: UnitSpec) -> IdleAxis | None:
    """Sums that see the values of their terms alone do not tell whether subnormal factors were normalised."""
    d = unit.design
    if not d.normalise_operands or not value_only(unit):
        return None
    return IdleAxis(
        theorem="normalised_factors_idle", after=_changed(unit, normalise_operands=False),
        condition="value_only d = true", proof="normalised_factors_idle d w O",
    )  # fmt: skip


def _sums(unit: UnitSpec) -> IdleAxis | None:
    """A parameter of sums, of those in a tree too, whose operands do not tell it."""
    after = plainer_sums(unit)
    if after is None:
        return None
    sums = f"({coq_summation(after)})"
    return IdleAxis(
        theorem="idle_sums", after=after, condition=f"idle_design d {sums} = true",
        proof=f"idle_sums d {sums} w O N",
    )  # fmt: skip


_AXES: tuple[Callable[[UnitSpec], IdleAxis | None], ...] = (
    _accumulation,
    _carry_bits,
    _zero_exponent,
    _normalised_operands,
    _sums,
)
