"""Parameters of a design that cannot matter, by theorems of `coq/`, and a normal form without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tcformal.design.spec import Design
from tcformal.design.trees.tree import Step, stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.theory.claims import (
    apart_sums,
    at_once,
    carry_needed,
    holds_terms,
    products_apart,
    sound,
    zero_idle,
)
from tcformal.theory.conditions import (
    Terms,
    always_infinite,
    block_size,
    highest,
    least,
    one_nan,
    parts_ok,
    start_format,
    term_facts,
    value_only,
)
from tcformal.theory.design import coq_design, coq_sum, coq_summation
from tcformal.theory.stages import group_zeros_idle, plainer_sums

#: Bits of exponents of formats of whose numbers a largest exponent is known.
_LEAST_CODES = 2
#: The name of every normal form.
_NAME = "normal form"
_FACTS = """\
  pose (t := ltac:(let x := eval vm_compute in (term_facts {before}) in
    match x with Some ?t => exact t end)).
  assert (T : term_facts d = Some t) by (vm_compute; reflexivity)."""
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
    #: Whether `t` is what is known of the terms, and `T` the proof of it.
    with_facts: bool = False


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


def equal_by(first: UnitSpec, second: UnitSpec) -> tuple[str, ...] | None:
    """The theorems by which two units are one function of words; None where their normal forms differ."""
    one, two = normal_form(first), normal_form(second)
    if coq_design(one[0]) != coq_design(two[0]):
        return None
    return tuple(dict.fromkeys(one[1] + two[1]))


def idle_axes(unit: UnitSpec) -> tuple[IdleAxis, ...]:
    """The changes from a unit to its normal form, each of the design that the one before left."""
    made: list[IdleAxis] = []
    while found := next((x for axis in _AXES if (x := axis(unit)) is not None), None):
        made.append(found)
        unit = found.after
    return tuple(made)


def coq_equality(first: UnitSpec, second: UnitSpec) -> str | None:
    """A file in which `coqc` checks that two units of one normal form are equal; None where they are not."""
    if equal_by(first, second) is None:
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
    if axis.with_facts:
        lines.append(_FACTS.format(before=before))
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


def _zero_cut(unit: UnitSpec) -> IdleAxis | None:
    """The exponent of zeros does not show where nothing is cut off beside it."""
    d, terms, start = unit.design, term_facts(unit), start_format(unit)
    if terms is None or not sound(unit) or d.normalise_products or d.carry_bits is not None:
        return None
    if d.fraction_bits is None or not isinstance(d.zero_exponent, int):
        return None
    unit_of_all = min(
        terms.low - terms.bits, least(start) - start.fraction_bits, d.rho.e_min - d.rho.precision
    )
    if d.zero_exponent - d.fraction_bits > unit_of_all:
        return None
    return IdleAxis(
        theorem="zero_cut_idle", after=_changed(unit, zero_exponent="none"), with_sum=True,
        condition="zero_cut_idle_ok d = true", proof="zero_cut_idle d s w S O N",
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


def _same_record(unit: UnitSpec) -> IdleAxis | None:
    """Parameters that the record has not: how integers are added; subnormals of B where they are as A's."""
    d = unit.design
    changes: list[dict[str, object]] = []
    if d.accumulation == "sign_magnitude":
        changes.append({"accumulation": "twos_complement"})
    if d.b_subnormals is not None:
        changes.append({"b_subnormals": None})
    for values in changes:
        after = _changed(unit, **values)
        if coq_design(after) == coq_design(unit):
            return IdleAxis(theorem="eq_refl", after=after, proof="eq_refl (compute d w)")
    return None


def _normalised_operands(unit: UnitSpec) -> IdleAxis | None:
    """Sums that see the values of their terms alone do not tell whether subnormal factors were normalised."""
    d = unit.design
    if not d.normalise_operands or not value_only(unit):
        return None
    return IdleAxis(
        theorem="normalised_factors_idle", after=_changed(unit, normalise_operands=False),
        condition="value_only d = true", proof="normalised_factors_idle d w O",
    )  # fmt: skip


def _group_zeros(unit: UnitSpec) -> IdleAxis | None:
    """Sums of groups do not tell an exponent of zeros below those of all others."""
    if not group_zeros_idle(unit):
        return None
    one = f"({coq_sum(unit.design, unit.design.rho)})"
    return IdleAxis(
        theorem="group_zero_idle", after=_changed(unit, zero_exponent="none"),
        condition=f"group_zero_free d {one} = true", proof=f"group_zero_idle d {one} w eq_refl O N",
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


def _order(unit: UnitSpec) -> IdleAxis | None:
    """Which of two neighbours is first does not matter where a block's products are in one sum."""
    d = unit.design
    if d.order == "ascending" or not at_once(unit) or d.negated not in ("none", "all"):
        return None
    if d.group is not None or not one_nan(unit) or not parts_ok(unit):
        return None
    return IdleAxis(
        theorem="pair_order_idle", after=_changed(unit, order="ascending"), condition="pairs_free d = true",
        proof="pair_order_idle d w O N",
    )  # fmt: skip


def _overflow(unit: UnitSpec) -> IdleAxis | None:
    """Numbers that are too large are infinities where every rounding makes them so: to nearest, they are."""
    d = unit.design
    if d.overflow == "infinity" or d.framed or d.summation in ("tr", "gtr") or d.lost_bits != "cut":
        return None
    if d.c_position == "after" or d.product_rounding is not None or not one_nan(unit) or not parts_ok(unit):
        return None
    designs = [d] if unit.tree is None else list(stage_designs(unit.tree, d).values())
    if not all(always_infinite(of, t) for of in designs for t in (of.rho, of.step)):
        return None
    return IdleAxis(
        theorem="overflow_idle", after=_changed(unit, overflow="infinity"),
        condition="overflow_free d = true", proof="overflow_idle d w O N",
    )  # fmt: skip


def _large(unit: UnitSpec) -> IdleAxis | None:
    """What overflows does not matter where nothing does: products are cut off beside a c that is so large."""
    d, f, start = unit.design, unit.design.fraction_bits, start_format(unit)
    if d.overflow == "infinity" or term_facts(unit) is None or not sound(unit) or d.carry_bits is not None:
        return None
    if f is None or d.alignment_rounding != "RZ" or d.normalise_products or unit.emulation is not None:
        return None
    factors = [unit.a_format, unit.b_format]
    factors += [] if unit.scale_format is None else [unit.scale_format] * 2
    if any(x.exponent_bits < _LEAST_CODES for x in (*factors, start)):
        return None
    room = d.rho.e_max - sum(highest(x) + 1 for x in factors)
    if room < 0 or (1 << f) + block_size(unit) > 1 << room:
        return None
    if start.fraction_bits > d.rho.fraction_bits or highest(start) > d.rho.e_max:
        return None
    return IdleAxis(
        theorem="overflow_never_idle", after=_changed(unit, overflow="infinity"), with_sum=True,
        condition="overflow_never d = true", proof="overflow_never_idle d s Infinite w S O N",
    )  # fmt: skip


def _product_sums(unit: UnitSpec, parameter: str) -> list[tuple[Design, Terms, int]] | None:
    """The sums that have a value of a parameter, where each is of products and zeros, or of their sum and c.

    Shapes: the design, what is known of the terms, and how many these are.
    """
    d, tree, terms = unit.design, unit.tree, term_facts(unit)
    if terms is None or not products_apart(unit):
        return None
    if tree is None:
        sums = apart_sums(unit)
        return None if sums is None or _unset(d, parameter) else [(d, *x) for x in sums]
    found, designs = [], stage_designs(tree, d)
    for step in tree.root.steps():
        of = designs[step.stage]
        if not _unset(of, parameter):
            if any(isinstance(x, Step) or x == "c" for x in step.children) or of.rho.integer_bits is not None:
                return None
            found.append((of, terms, len(step.children)))
    return found or None


def _unset(d: Design, parameter: str) -> bool:
    return getattr(d, parameter) in (None, "none")


def _without(unit: UnitSpec, parameter: str, value: object) -> UnitSpec:
    """A unit with one value of a parameter in all its sums that are not exact."""
    made = _changed(unit, **{parameter: value})
    if unit.tree is None:
        return made
    settings = tuple(x for x in unit.tree.settings if x[1] != parameter)
    return replace(made, tree=replace(unit.tree, settings=settings))


def _product_carry(unit: UnitSpec) -> IdleAxis | None:
    """A sum of products that never leaves its register is the same in one without a bound."""
    sums = _product_sums(unit, "carry_bits")
    if sums is None or not all(holds_terms(*x, x[0].carry_bits or 0) for x in sums):
        return None
    return IdleAxis(
        theorem="product_carry_idle", after=_without(unit, "carry_bits", None),
        condition="products_apart d = true", proof="product_carry_idle d t w T O N", with_facts=True,
    )  # fmt: skip


def _product_zeros(unit: UnitSpec) -> IdleAxis | None:
    """Zeros among products alone, whose exponent is below theirs, take no part."""
    sums = _product_sums(unit, "zero_exponent")
    if sums is None:
        return None
    for of, terms, _ in sums:
        if not isinstance(of.zero_exponent, int) or of.zero_exponent > terms.low or of.normalise_products:
            return None
    return IdleAxis(
        theorem="product_zero_idle", after=_without(unit, "zero_exponent", "none"),
        condition="products_apart d = true", proof="product_zero_idle d t w T O N", with_facts=True,
    )  # fmt: skip


def _zero_sign(unit: UnitSpec) -> IdleAxis | None:
    """A sum that is not zero and is rounded to zero keeps its sign; where no sum is, that is not seen."""
    d, terms = unit.design, term_facts(unit)
    if d.zero_sign != "sum" or terms is None or not sound(unit) or d.carry_bits is not None:
        return None
    if d.result_subnormals != "kept":
        return None
    grid, start = d.rho.e_min - d.rho.fraction_bits, start_format(unit)
    multiples = grid <= min(terms.low - terms.bits, least(start) - start.fraction_bits)
    units = (
        d.fraction_bits is not None
        and not d.normalise_products
        and grid + d.fraction_bits <= min(terms.low, least(start), d.rho.e_min)
    )
    if not (multiples or units):
        return None
    return IdleAxis(
        theorem="zero_sign_idle", after=_changed(unit, zero_sign="positive"), with_sum=True,
        condition="sign_free d = true", proof="zero_sign_idle d s w S O N",
    )  # fmt: skip


_AXES: tuple[Callable[[UnitSpec], IdleAxis | None], ...] = (
    _same_record, _order, _overflow, _carry_bits, _zero_exponent, _zero_cut, _zero_sign, _large,
    _product_carry, _product_zeros, _normalised_operands, _group_zeros, _sums,
)  # fmt: skip
