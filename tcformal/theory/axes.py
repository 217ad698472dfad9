"""Parameters of a design that cannot matter, by theorems of `coq/`, and a normal form without them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.theory.claims import at_once, sound
from tcformal.theory.conditions import (
    always_infinite,
    down_blocks_ok,
    highest,
    least,
    one_nan,
    parts_ok,
    start_format,
    term_facts,
    value_only,
)
from tcformal.theory.design import (
    block_size,
    coq_composition,
    coq_conversion,
    coq_design,
    coq_sum,
    coq_summation,
)
from tcformal.theory.stages import (
    Sum,
    after_sign_idle,
    apart_sums,
    exact_rounding,
    factors_idle,
    group_factors_idle,
    group_sign_idle,
    group_zeros_cut,
    group_zeros_idle,
    kept_sums,
    low_c_idle,
    normal_products,
    plain_factors,
    plain_frame,
    plain_rounding,
    plain_sums,
    rounded_terms_idle,
    rule_idle,
    summation,
    sums_of,
    tidied,
)

#: Bits of exponents of formats of whose numbers a largest exponent is known.
_LEAST_CODES = 2
HEADER = """\
From Coq Require Import ZArith List Bool.
From TC Require Import Theorems Design Spec.
Import ListNotations.
Open Scope Z_scope.
"""


@dataclass(frozen=True, slots=True)
class Form:
    """A unit, its sums where these are at plain values, and the design that its products are rounded as."""

    unit: UnitSpec
    sums: Sum | None = None
    rounded: Design | None = None

    @property
    def text(self) -> str:
        """A term of type `design`."""
        sums = None if self.sums is None else summation(self.unit, self.sums)
        return coq_design(self.unit, sums, self.rounded)

    @property
    def root(self) -> Sum | None:
        """Its sums, where theorems are about such."""
        return sums_of(self.unit) if self.sums is None else self.sums


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleAxis:
    """Parameters set to other values that give the same results on all words.

    Shapes: `proof` is a term of type `compute before w = compute after w`, for words `w` with products (`N`),
    in which `d` is the design before, `s` its sum, `S` a proof of that, and `O` a proof of `condition`.
    """

    theorem: str
    after: Form
    proof: str
    condition: str = "true = true"
    with_sum: bool = False
    #: The only number of products that it is about (`L`); None for all.
    length: int | None = None


def normal_form(unit: UnitSpec) -> tuple[str, tuple[str, ...]]:
    """The record of a design with every idle parameter at one value, and the theorems, in the order of use.

    Two units of one normal form give the same results on all words that both take.
    """
    made = idle_axes(unit)
    last = made[-1].after if made else Form(unit)
    return last.text, tuple(x.theorem for x in made)


def equal_by(first: UnitSpec, second: UnitSpec) -> tuple[str, ...] | None:
    """The theorems by which two units are one function of words; None where their normal forms differ."""
    one, two = normal_form(first), normal_form(second)
    return tuple(dict.fromkeys(one[1] + two[1])) if one[0] == two[0] else None


def idle_axes(unit: UnitSpec) -> tuple[IdleAxis, ...]:
    """The changes from a unit to its normal form, each of the design that the one before left."""
    made: list[IdleAxis] = []
    form = Form(unit)
    while found := next((x for axis in _AXES if (x := axis(form)) is not None), None):
        made.append(found)
        form = found.after
    return tuple(made)


def coq_equality(first: UnitSpec, second: UnitSpec) -> str | None:
    """A file in which `coqc` checks that two units of one normal form are equal; None where they are not."""
    if equal_by(first, second) is None:
        return None
    axes = {"a": (Form(first), idle_axes(first)), "b": (Form(second), idle_axes(second))}
    lengths = {x.length for _, made in axes.values() for x in made if x.length is not None}
    about = f"length (pairs w) = {lengths.pop()}%nat" if lengths else "pairs w <> []"
    lines, ends = [HEADER], []
    for side, (form, made) in axes.items():
        lines.append(f"Definition {side}0 : design := {form.text}.")
        chained = f"(eq_refl (compute {side}0 w))"
        for i, axis in enumerate(made):
            lines += _checked(axis, form, f"{side}{i}", f"{side}{i + 1}", about)
            form = axis.after
            chained = f"(eq_trans {chained} ({side}{i}_same w H))"
        ends.append(chained)
    lines.append(
        f"Definition instance : forall w, {about} -> compute a0 w = compute b0 w :=\n"
        f"  fun w H => eq_trans {ends[0]} (eq_sym {ends[1]})."
    )
    lines.append("Check instance.\nPrint Assumptions instance.\n")
    return "\n".join(lines)


def _checked(axis: IdleAxis, form: Form, before: str, after: str, about: str) -> list[str]:
    """The lemma that one change leaves all results as they are."""
    lines = [f"Definition {after} : design := {axis.after.text}."]
    name = f"{before}_same"
    lines.append(f"Lemma {name} : forall w, {about} -> compute {before} w = compute {after} w.")
    lines.append("Proof.")
    lines.append(f"  intros w L. set (d := {before}).")
    lines.append(
        "  assert (N : pairs w <> []) by (first [exact L | intros E; rewrite E in L; discriminate L])."
    )
    if axis.with_sum:
        lines.append(f"  set (s := {coq_sum(form.unit.design, form.unit.design.rho)}).")
        lines.append("  assert (S : sum_of d = Some s) by (vm_compute; reflexivity).")
    lines.append(f"  assert (O : {axis.condition}) by (vm_compute; reflexivity).")
    lines.append(f"  exact ({axis.proof}).")
    lines.append("Qed.")
    return lines


def _changed(unit: UnitSpec, **values: object) -> Form:
    return Form(replace(unit, design=replace(unit.design, **values)))  # type: ignore[arg-type]


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
        if after.text == coq_design(unit):
            return IdleAxis(theorem="eq_refl", after=after, proof="eq_refl (compute d w)")
    return None


def _normalised_operands(unit: UnitSpec) -> IdleAxis | None:
    """Sums that see the values of their terms alone do not tell whether subnormal factors were normalised.

    Nor do groups, nor any sums where no subnormal factor is left.
    """
    d = unit.design
    if d.normalise_operands and group_factors_idle(unit):
        return IdleAxis(
            theorem="group_factors_idle", after=_changed(unit, normalise_operands=False),
            condition="group_factors_free d = true", proof="group_factors_idle d w O N",
        )  # fmt: skip
    rules = {d.operand_subnormals, d.operand_subnormals if d.b_subnormals is None else d.b_subnormals}
    if not d.normalise_operands or not (value_only(unit) or rules <= {"positive_zero", "signed_zero"}):
        return None
    return IdleAxis(
        theorem="normalised_factors_idle", after=_changed(unit, normalise_operands=False),
        condition="value_only d || flushed_factors d = true", proof="normalised_factors_idle d w O",
    )  # fmt: skip


def _framed(unit: UnitSpec) -> IdleAxis | None:
    """Parameters of sums whose c is aligned apart from the products, which their operands do not tell."""
    plain = plain_frame(unit)
    if plain is None:
        return None
    after = Form(replace(unit, design=plain))
    if after.text == coq_design(unit):
        return None
    sums = f"({coq_summation(after.unit)})"
    return IdleAxis(
        theorem="idle_other_sums", after=after, condition=f"idle_other_design d {sums} = true",
        proof=f"idle_other_sums d {sums} w O N",
    )  # fmt: skip


def _low_c(unit: UnitSpec) -> IdleAxis | None:
    """Subnormals of a c that is aligned apart from far larger products, where such results are flushed."""
    if not low_c_idle(unit):
        return None
    frame = f"({coq_summation(unit).removeprefix('Framed ')})"
    return IdleAxis(
        theorem="flushed_c_idle", after=_changed(unit, c_subnormals="signed_zero"),
        condition=f"flushed_c_free d {frame} = true", proof=f"flushed_c_idle d {frame} w eq_refl O N",
    )  # fmt: skip


def _after_sign(unit: UnitSpec) -> IdleAxis | None:
    """The sign of zeros where c is added before a sum is rounded, and no other one is rounded to 0."""
    if not after_sign_idle(unit):
        return None
    one = f"({coq_sum(unit.design, unit.design.rho)})"
    return IdleAxis(
        theorem="after_sign_idle", after=_changed(unit, zero_sign="positive"),
        condition=f"after_sign_free d {one} = true",
        proof=f"after_sign_idle d {one} _ w eq_refl O N",
    )  # fmt: skip


def _groups(unit: UnitSpec) -> IdleAxis | None:
    """Sums of groups do not tell an exponent of zeros below all others, or beside which nothing is cut off.

    Where no result rounds to zero, they do not tell the sign of one that does.
    """
    one = f"({coq_sum(unit.design, unit.design.rho)})"
    for theorem, condition, holds, values in _OF_GROUPS:
        if holds(unit):
            return IdleAxis(
                theorem=theorem, after=_changed(unit, **values), condition=f"{condition} d {one} = true",
                proof=f"{theorem} d {one} w eq_refl O N",
            )  # fmt: skip
    return None


#: Theorems on sums of groups, their conditions, and what they set.
_OF_GROUPS: tuple[tuple[str, str, Callable[[UnitSpec], bool], dict[str, object]], ...] = (
    ("group_zero_idle", "group_zero_free", group_zeros_idle, {"zero_exponent": "none"}),
    ("group_zero_cut_idle", "group_zero_cut", group_zeros_cut, {"zero_exponent": "none"}),
    ("group_sign_idle", "group_sign_free", group_sign_idle, {"zero_sign": "positive"}),
)


def _order(unit: UnitSpec) -> IdleAxis | None:
    """Which of two neighbours is first does not matter where a block's products are in one sum."""
    d = unit.design
    if d.order == "ascending" or not at_once(unit) or d.negated not in ("none", "all"):
        return None
    other = d.framed or d.summation in ("tr", "gtr") or d.c_position == "after" or d.lost_bits != "cut"
    if d.group is not None or not (
        (one_nan(unit) and parts_ok(unit)) or (other and unit.tree is None and unit.emulation is None)
    ):
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


def _down(unit: UnitSpec) -> IdleAxis | None:
    """The same of sums that are rounded down; and of zeros of their sign, where only zero gives zero."""
    d = unit.design
    if d.summation not in ("tr", "gtr") or not one_nan(unit) or not parts_ok(unit):
        return None
    after = _changed(
        unit,
        zero_sign="positive" if down_blocks_ok(unit) else d.zero_sign,
        overflow="infinity" if always_infinite(d, d.rho) else d.overflow,
    )
    if after.unit == unit:
        return None
    return IdleAxis(
        theorem="plain_down_idle", after=after, condition="overflow_free d = true",
        proof=f"plain_down_idle d ({_rounded_down(unit)}) w eq_refl O N",
    )  # fmt: skip


def _halves(unit: UnitSpec) -> IdleAxis | None:
    """Of a block in two halves either is first."""
    d = unit.design
    if d.order == "ascending" or d.summation != "gtr" or not one_nan(unit) or unit.emulation is not None:
        return None
    if block_size(unit) % 2 or unit.k % 2 or d.group is not None or d.piece_bits is not None:
        return None
    return IdleAxis(
        theorem="halves_order_idle", after=_changed(unit, order="ascending"), length=unit.k,
        condition="halves_free d = true",
        proof=f"halves_order_idle d ({_rounded_down(unit)}) w eq_refl O N (f_equal Nat.even L)",
    )  # fmt: skip


def _rounded_down(unit: UnitSpec) -> str:
    """A term of type `round_down`, without parentheses."""
    return coq_summation(unit).removeprefix("RoundedDown ")


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


def _rounded(unit: UnitSpec) -> IdleAxis | None:
    """Products that fit into what they are rounded to, and their sums, are not too large nor normalised."""
    after = _changed(unit, normalise_products=False, overflow="infinity", zero_sign="positive")
    if not rounded_terms_idle(unit) or after.unit.design == unit.design:
        return None
    return IdleAxis(
        theorem="rounded_terms_idle", after=after, condition="rounded_free d = true",
        proof="rounded_terms_idle d w O N",
    )  # fmt: skip


def _composed(unit: UnitSpec) -> IdleAxis | None:
    """A composition of calls, each from the sum before it, is the tree of their sums."""
    how = unit.emulation
    with suppress(InputError):
        tree = None if how is None else tree_of(unit, unit.k)
        if how is None or tree is None or tree.tree is None:
            return None
        root = sums_of(tree)
        if root is None or {how.addition.operand_subnormals, how.addition.c_subnormals} != {
            unit.design.c_subnormals
        }:
            return None
        last = Sum(how.addition, how.addition.rho, root.operands)
        after = Form(
            replace(
                tree, tree=replace(tree.tree, converted=how.converted),
                design=replace(tree.design, nan_word=how.addition.nan_word),
            ),
            last,
        )  # fmt: skip
        if _is_zero_of_sums(unit):
            one = f"({coq_sum(unit.design, unit.design.rho)})"
            return IdleAxis(
                theorem="composed_tree", after=after, length=unit.k,
                condition=f"tree_of_calls d ({coq_composition(how)}) {unit.k}%nat = true",
                proof=f"composed_tree d ({coq_composition(how)}) {one} {unit.k}%nat w eq_refl eq_refl O L",
            )  # fmt: skip
    return None


#: Orders of sums, and where c is, of which `StepNans.order_as_steps` gives the words of NaNs.
_NAN_CHAINS = (("sequential", "first"), ("two_chains", "last"))


def _in_steps(unit: UnitSpec) -> IdleAxis | None:
    """Sums in an order are the tree of their steps: of one block, or of all where NaNs are one word."""
    d, blocks = unit.design, -(-unit.k // block_size(unit))
    if unit.tree is not None or unit.emulation is not None:
        return None
    # A step of two products has them in the order of k here, and as they are taken in the theorem.
    one_each = (d.summation, d.c_position) == ("sequential", "first")
    if d.order != "ascending" and (blocks > 1 or not one_each):
        return None
    if d.summation in ("fused", "tr", "gtr") or d.c_position not in ("first", "last"):
        return None
    chains = (d.summation, d.c_position) in _NAN_CHAINS and d.nan_rule != "products_c"
    if not one_nan(unit) and (blocks > 1 or not chains):
        return None
    if not (_taken_whole(d, d.rho) and _taken_whole(d, d.step)):
        return None
    with suppress(InputError):
        tree = tree_of(unit, unit.k)
        if tree is not None and block_size(unit) * blocks == unit.k:
            sums, several = f"({coq_summation(tree)})", f" {unit.k}%nat" if blocks > 1 else ""
            how = "as_one_block" if several else "as_steps"
            return IdleAxis(
                theorem=f"order_{how}", after=Form(tree), length=unit.k,
                condition=f"{how} d{several} = Some {sums}", proof=f"order_{how} d {sums}{several} w O L",
            )  # fmt: skip
    return None


def _taken_whole(d: Design, to: Conversion) -> bool:
    """`StepNans.taken_whole`: whether what becomes of subnormals of c changes no sum of this conversion."""
    return d.c_subnormals == "kept" or (
        d.c_subnormals != "hidden_bit" and d.result_subnormals != "kept" and d.fraction_bits is None
        and d.carry_bits is None and to.integer_bits is None and to.e_min <= to.e_max
        and always_infinite(d, to)
    )  # fmt: skip


def _is_zero_of_sums(unit: UnitSpec) -> bool:
    """Whether the word 0 is a +0 as partial sums are."""
    to, f = unit.design.rho, unit.d_format
    return (
        f.has_zero and to.integer_bits is None and (least(f), f.fraction_bits) == (to.e_min, to.fraction_bits)
    )


def _sums(form: Form) -> IdleAxis | None:
    """Parameters of sums, of those in a tree too, whose operands do not tell them."""
    root = form.root
    if root is None:
        return None
    plain = plain_sums(form.unit, root)
    after = replace(form, sums=plain)
    if after.text == form.text:
        return None
    sums = f"({summation(form.unit, plain)})"
    if not one_nan(form.unit):
        return IdleAxis(
            theorem="idle_steps_words", after=after, condition=f"idle_words d {sums} = true",
            proof=f"idle_steps_words d {sums} w O",
        )  # fmt: skip
    return IdleAxis(
        theorem="idle_sums", after=after, condition=f"idle_design d {sums} = true",
        proof=f"idle_sums d {sums} w O N",
    )  # fmt: skip


def _factors(form: Form) -> IdleAxis | None:
    """Factors that are converted, or normalised, where nothing is cut off beside those that differ."""
    root = form.root
    if root is None or not one_nan(form.unit) or not factors_idle(form.unit, root):
        return None
    after = replace(form, unit=plain_factors(form.unit), sums=root)
    if after.text == form.text:
        return None
    return IdleAxis(
        theorem="factors_idle", after=after, condition="factors_free d = true", proof="factors_idle d w O N",
    )  # fmt: skip


def _tidied(form: Form) -> IdleAxis | None:
    """Trees of sums that see values alone, and the signs of rounded products that are zero."""
    root, d = form.root, form.unit.design if form.rounded is None else form.rounded
    tidy = None if root is None or not one_nan(form.unit) else tidied(form.unit, root)
    if tidy is None:
        return None
    after = replace(form, sums=tidy)
    if d.product_rounding is not None and d.product_conversion.integer_bits is None:
        always = always_infinite(d, d.product_conversion)
        d = replace(d, zero_sign="positive", overflow="infinity" if always else d.overflow)
        products = {"unit": replace(form.unit, design=d)} if form.rounded is None else {"rounded": d}
        after = replace(after, **products)
    if after.text == form.text:
        return None
    return IdleAxis(
        theorem="tidy_idle", after=after, condition="tidy_free d = true", proof="tidy_idle d w O N",
    )  # fmt: skip


def _apart(form: Form) -> IdleAxis | None:
    """c beside a sum that is not rounded, as c beside the same sum in a format that has it."""
    root = None if form.sums is not None else apart_sums(form.unit)
    if root is None:
        return None
    inner = root.operands[0]
    assert isinstance(inner, Sum)
    to = inner.target
    one = coq_sum(form.unit.design, form.unit.design.rho)
    arguments = f"({one}) ({to.e_min}) ({to.e_max}) {to.fraction_bits}"
    return IdleAxis(
        theorem="apart_idle", after=replace(form, sums=root), condition=f"apart_free d {arguments} = true",
        proof=f"apart_idle d {arguments} w eq_refl O N",
    )  # fmt: skip


def _flushes(form: Form) -> IdleAxis | None:
    """Results that would be flushed if they were subnormal, where none is."""
    root = form.root
    if root is None or not one_nan(form.unit):
        return None
    kept = kept_sums(form.unit, root)
    after = replace(form, sums=kept)
    if after.text == form.text:
        return None
    sums = f"({summation(form.unit, kept)})"
    return IdleAxis(
        theorem="flushes_idle", after=after, condition=f"kept_design d {sums} = true",
        proof=f"flushes_idle d {sums} w O N",
    )  # fmt: skip


def _exact_products(unit: UnitSpec) -> IdleAxis | None:
    """Roundings of products that are exact, where sums see the values of products alone."""
    after = _changed(unit, product_rounding=None)
    if unit.emulation is not None or not one_nan(unit):
        return None
    if not exact_rounding(unit) or not value_only(after.unit):
        return None
    return IdleAxis(
        theorem="product_rounding_idle", after=after, condition="rounding_free d None = true",
        proof="product_rounding_idle d None w O N",
    )  # fmt: skip


def _short_products(form: Form) -> IdleAxis | None:
    """The mode of roundings of products that are exact or flushed, and what overflows."""
    d, whole = form.unit.design, form.unit.design.group is None and form.unit.design.piece_bits is None
    if form.rounded is not None or d.product_rounding is None or not whole or form.unit.emulation is not None:
        return None
    rounded = plain_rounding(form.unit)
    after = replace(form, rounded=rounded)
    if after.text == form.text:
        return None
    to = f"(Some (Floating {coq_conversion(rounded, rounded.product_conversion)}))"
    return IdleAxis(
        theorem="product_rounding_idle", after=after, condition=f"rounding_free d {to} = true",
        proof=f"product_rounding_idle d {to} w O N",
    )  # fmt: skip


def _normal_products(form: Form) -> IdleAxis | None:
    """A rounding of products that only normalises them, as the sum may do."""
    unit = form.unit
    root = form.root
    plain = None if root is None else normal_products(unit, root)
    if plain is None:
        return None
    after = Form(_changed(unit, product_rounding=None).unit, plain)
    sums = f"({summation(unit, plain)})"
    return IdleAxis(
        theorem="normal_products_idle", after=after, length=unit.k,
        condition=f"normal_products d = Some {sums}", proof=f"normal_products_idle d {sums} w O L",
    )  # fmt: skip


def _rule(form: Form) -> IdleAxis | None:
    """What a subnormal c counts as, beside a sum that is far larger, or zero."""
    plain = None if form.unit.tree is None or form.sums is None else rule_idle(form.unit, form.sums)
    if plain is None:
        return None
    unit = replace(form.unit, design=replace(form.unit.design, c_subnormals="kept"))
    after = replace(form, unit=unit, sums=plain)
    sums = f"({summation(form.unit, plain)})"
    return IdleAxis(
        theorem="rule_idle", after=after, length=form.unit.k, condition=f"plain_rule d = Some {sums}",
        proof=f"rule_idle d {sums} w O L",
    )  # fmt: skip


def _of_unit(axis: Callable[[UnitSpec], IdleAxis | None]) -> Callable[[Form], IdleAxis | None]:
    """An axis of units whose sums are as they are."""
    return lambda form: None if form.sums is not None else axis(form.unit)


_AXES: tuple[Callable[[Form], IdleAxis | None], ...] = (
    *map(
        _of_unit,
        (
            _composed, _same_record, _in_steps, _order, _halves, _overflow, _down, _large,
            _normalised_operands, _groups, _exact_products, _framed, _low_c, _after_sign, _rounded,
        ),
    ),
    _apart, _sums, _factors, _flushes, _rule, _short_products, _normal_products, _tidied,
)  # fmt: skip
