"""Two designs that no input tells apart, by theorems on their parameters: both have one normal form."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.unit import UnitSpec, same_formats
from tcformal.errors import InputError
from tcformal.semantics.chain import same_definition
from tcformal.theory.claims import at_once, sound
from tcformal.theory.constants import (
    alone,
    always_infinite,
    down_blocks_ok,
    highest,
    least,
    one_nan,
    parts_ok,
    start_format,
    term_facts,
    unit_designs,
    value_only,
    whole,
)
from tcformal.theory.design import (
    Sum,
    block_size,
    coq_composition,
    coq_conversion,
    coq_design,
    coq_sum,
    coq_summation,
    without_equality,
)
from tcformal.theory.idle import (
    CODES,
    after_sign_idle,
    apart_sums,
    exact_rounding,
    factors_idle,
    first_c,
    free_rule,
    inlined_sums,
    is_flushed,
    kept_sums,
    low_c_idle,
    normal_products,
    of_format,
    plain_factors,
    plain_frame,
    plain_rounding,
    product_bounds,
    range_ok,
    rounded_terms_idle,
    rule_idle,
    sum_of_groups,
    summation,
    sums_by_value,
    sums_of,
    tidied,
)
from tcformal.theory.integer_theorems import integer_form
from tcformal.theory.stated_sum import ZEROS, operand_rules


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


@dataclass(frozen=True, slots=True)
class IdleAxis:
    """Parameters set to other values that give the same results on all words.

    Shapes: `proof` is a term of type `compute before w = compute after w`, for words `w` with products (`N`),
    in which `d` is the design before, `s` its sum, `S` a proof of that, and `O` a proof of `condition`.
    """

    theorem: str
    after: Form
    condition: str
    proof: str
    with_sum: bool = False
    #: The only number of products that it is about (`L`); None for all.
    length: int | None = None
    #: It is about a c whose word is 0 (`Z`).
    zero_c: bool = False


def _idle(
    theorem: str, after: Form, condition: str, given: str = "", rest: str = "w O N", *,
    with_sum: bool = False, length: int | None = None,
) -> IdleAxis:  # fmt: skip
    """A theorem whose condition is a function of the design and of what else it is given."""
    d = f"d {given}".rstrip()
    return IdleAxis(theorem, after, f"{condition} {d} = true", f"{theorem} {d} {rest}", with_sum, length)


def normal_form(unit: UnitSpec, *, zero_c: bool = False) -> tuple[str, tuple[str, ...]]:
    """The record of a design with every idle parameter at one value, and the theorems, in the order of use.

    Two units of one normal form give the same results on all words that both take; `zero_c`: with c = +0.
    """
    made = idle_axes(unit, zero_c=zero_c)
    last = made[-1].after if made else Form(unit)
    return last.text, tuple(x.theorem for x in made)


def idle_axes(unit: UnitSpec, *, zero_c: bool = False) -> tuple[IdleAxis, ...]:
    """The changes from a unit to its normal form, each of the design that the one before left."""
    axes = () if without_equality(unit) else (*_AXES, _from_zero) if zero_c else _AXES
    made: list[IdleAxis] = []
    form = Form(unit)

    def changes(x: IdleAxis) -> bool:
        return x.after.unit != form.unit or x.after.text != form.text

    while found := next((x for axis in axes if (x := axis(form)) is not None and changes(x)), None):
        made.append(found)
        form = found.after
    return tuple(made)


def _changed(unit: UnitSpec, **values: object) -> Form:
    return Form(replace(unit, design=replace(unit.design, **values)))  # type: ignore[arg-type]


def _one_sum(unit: UnitSpec) -> str:
    return f"({coq_sum(unit.design, unit.design.rho)})"


def _same_record(unit: UnitSpec) -> IdleAxis | None:
    """Parameters that the record has not: how integers are added; subnormals of B where they are as A's."""
    changes: dict[str, object] = {"b_subnormals": None}
    if unit.design.accumulation == "sign_magnitude":
        changes = {"accumulation": "twos_complement", **changes}
    for name, value in changes.items():
        after = _changed(unit, **{name: value})
        if after.unit != unit and after.text == coq_design(unit):
            return IdleAxis("eq_refl", after, "true = true", "eq_refl (compute d w)")
    return None


def _normalised_operands(unit: UnitSpec) -> IdleAxis | None:
    """Sums that see the values of their terms alone do not tell whether subnormal factors were normalised.

    Nor do groups, nor any sums where no subnormal factor is left.
    """
    if not unit.design.normalise_operands:
        return None
    after = _changed(unit, normalise_operands=False)
    if sum_of_groups(unit) and unit.design.fraction_bits is not None:
        return _idle("group_factors_idle", after, "group_factors_free")
    if value_only(unit) or {*operand_rules(unit.design)} <= {*ZEROS}:
        return _idle("normalised_factors_idle", after, "value_only d || flushed_factors", rest="w O")
    return None


def _framed(unit: UnitSpec) -> IdleAxis | None:
    """Parameters of sums whose c is aligned apart from the products, which their operands do not tell."""
    plain = plain_frame(unit)
    if plain is None:
        return None
    after = Form(replace(unit, design=plain))
    return _idle("idle_other_sums", after, "idle_other_design", f"({coq_summation(after.unit)})")


def _low_c(unit: UnitSpec) -> IdleAxis | None:
    """Subnormals of a c that is aligned apart from far larger products, where such results are flushed."""
    if not low_c_idle(unit):
        return None
    frame = f"({coq_summation(unit).removeprefix('Framed ')})"
    after = _changed(unit, c_subnormals="signed_zero")
    return _idle("flushed_c_idle", after, "flushed_c_free", frame, "w eq_refl O N")


def _after_sign(unit: UnitSpec) -> IdleAxis | None:
    """The sign of zeros where c is added before a sum is rounded, and no other one is rounded to 0."""
    if not after_sign_idle(unit):
        return None
    after = _changed(unit, zero_sign="positive")
    return _idle("after_sign_idle", after, "after_sign_free", _one_sum(unit), "_ w eq_refl O N")


def _groups(unit: UnitSpec) -> IdleAxis | None:
    """Sums of groups do not tell an exponent of zeros below all others.

    Where no result rounds to zero, they do not tell the sign of one that does.
    """
    d, to, scale, c = unit.design, unit.design.rho, unit.scale_format, unit.c_format
    zero = None if d.normalise_products else d.zero_exponent
    products = product_bounds(replace(unit, scale_format=None))
    if not sum_of_groups(unit) or scale is None or d.c_subnormals == "hidden_bit" or not range_ok(to):
        return None
    if isinstance(zero, int) and zero <= min(2 * least(scale), least(c), to.e_min):
        changed = _changed(unit, zero_exponent="none")
        return _idle("group_zero_idle", changed, "group_zero_free", _one_sum(unit), "w eq_refl O N")
    if products is None or d.carry_bits is not None or d.zero_sign != "sum" or d.result_subnormals != "kept":
        return None
    # `GroupTerms.group_grid`: terms of groups, and c, are multiples of 2^this.
    terms, last = products.grid + 2 * (least(scale) - scale.fraction_bits), to.e_min - to.fraction_bits
    if last > min(terms, least(c) - c.fraction_bits):
        return None
    changed = _changed(unit, zero_sign="positive")
    return _idle("group_sign_idle", changed, "group_sign_free", _one_sum(unit), "w eq_refl O N")


def _order(unit: UnitSpec) -> IdleAxis | None:
    """Which of two neighbours is first does not matter where a block's products are in one sum."""
    d = unit.design
    other = d.framed or d.summation in ("tr", "gtr") or d.c_position == "after" or d.lost_bits != "cut"
    if (
        d.order == "ascending" or not at_once(unit) or d.negated not in ("none", "all") or d.group is not None
        or not ((one_nan(unit) and parts_ok(unit)) or (other and alone(unit)))
    ):  # fmt: skip
        return None
    return _idle("pair_order_idle", _changed(unit, order="ascending"), "pairs_free")


def _overflow(unit: UnitSpec) -> IdleAxis | None:
    """Numbers that are too large are infinities where every rounding makes them so: to nearest, they are."""
    d = unit.design
    if (
        d.overflow == "infinity" or d.framed or d.summation in ("tr", "gtr") or d.lost_bits != "cut"
        or d.c_position == "after" or d.product_rounding is not None or not one_nan(unit)
        or not parts_ok(unit)
        or not all(always_infinite(of, t) for of in unit_designs(unit) for t in (of.rho, of.step))
    ):  # fmt: skip
        return None
    return _idle("overflow_idle", _changed(unit, overflow="infinity"), "overflow_free")


def _rounded_down(unit: UnitSpec) -> str:
    return f"({coq_summation(unit).removeprefix('RoundedDown ')})"


def _down(unit: UnitSpec) -> IdleAxis | None:
    """The same of sums that are rounded down; and of zeros of their sign, where only zero gives zero."""
    d = unit.design
    if d.summation not in ("tr", "gtr") or not one_nan(unit) or not parts_ok(unit):
        return None
    sign = "positive" if down_blocks_ok(unit) else d.zero_sign
    after = _changed(unit, zero_sign=sign, overflow="infinity" if always_infinite(d, d.rho) else d.overflow)
    return _idle("plain_down_idle", after, "overflow_free", rest=f"{_rounded_down(unit)} w eq_refl O N")


def _halves(unit: UnitSpec) -> IdleAxis | None:
    """Of a block in two halves either is first."""
    d = unit.design
    if (
        d.order == "ascending" or d.summation != "gtr" or not one_nan(unit) or unit.emulation is not None
        or block_size(unit) % 2 or unit.k % 2 or not whole(d)
    ):  # fmt: skip
        return None
    rest = f"{_rounded_down(unit)} w eq_refl O N (f_equal Nat.even L)"
    after = _changed(unit, order="ascending")
    return _idle("halves_order_idle", after, "halves_free", rest=rest, length=unit.k)


def _large(unit: UnitSpec) -> IdleAxis | None:
    """What overflows does not matter where nothing does: products are cut off beside a c that is so large."""
    d, f, start = unit.design, unit.design.fraction_bits, start_format(unit)
    factors = [unit.a_format, unit.b_format]
    factors += [] if unit.scale_format is None else [unit.scale_format] * 2
    room = d.rho.e_max - sum(highest(x) + 1 for x in factors)
    if (
        d.overflow == "infinity" or term_facts(unit) is None or not sound(unit) or d.carry_bits is not None
        or f is None or d.alignment_rounding != "RZ" or d.normalise_products or unit.emulation is not None
        or any(x.exponent_bits < CODES for x in (*factors, start))
        or room < 0 or (1 << f) + block_size(unit) > 1 << room
        or start.fraction_bits > d.rho.fraction_bits or highest(start) > d.rho.e_max
    ):  # fmt: skip
        return None
    after = _changed(unit, overflow="infinity")
    return _idle("overflow_never_idle", after, "overflow_never", rest="s Infinite w S O N", with_sum=True)


def _rounded(unit: UnitSpec) -> IdleAxis | None:
    """Products that fit into what they are rounded to, and their sums, are not too large nor normalised."""
    if not rounded_terms_idle(unit):
        return None
    after = _changed(unit, normalise_products=False, overflow="infinity", zero_sign="positive")
    return _idle("rounded_terms_idle", after, "rounded_free")


def _composed(unit: UnitSpec) -> IdleAxis | None:
    """A composition of calls, each from the sum before it, is the tree of their sums."""
    how, word = unit.emulation, unit.d_format
    with suppress(InputError):
        tree = None if how is None else tree_of(unit, unit.k)
        if how is None or tree is None or tree.tree is None:
            return None
        root, last, to = sums_of(tree), how.addition, unit.design.rho
        rules = {last.operand_subnormals, last.c_subnormals}
        # The word 0 is a +0 as partial sums are.
        zero = word.has_zero and to.integer_bits is None
        if root is None or rules != {unit.design.c_subnormals} or not zero:
            return None
        if (least(word), word.fraction_bits) != (to.e_min, to.fraction_bits):
            return None
        design = replace(tree.design, nan_word=last.nan_word)
        tree = replace(tree, tree=replace(tree.tree, converted=how.converted), design=design)
        calls = f"({coq_composition(how)})"
        return IdleAxis(
            "composed_tree", Form(tree, Sum(last, last.rho, root.operands)),
            f"tree_of_calls d {calls} {unit.k}%nat = true",
            f"composed_tree d {calls} {_one_sum(unit)} {unit.k}%nat w eq_refl eq_refl O L", length=unit.k,
        )  # fmt: skip
    return None


#: Orders of sums, and where c is, of which `StepNans.order_as_steps` gives the words of NaNs.
_NAN_CHAINS = (("sequential", "first"), ("two_chains", "last"))


def _in_steps(unit: UnitSpec) -> IdleAxis | None:
    """Sums in an order are the tree of their steps: of one block, or of all where NaNs are one word.

    So are fused ones of one product each, which are a chain's.
    """
    d, blocks = unit.design, -(-unit.k // block_size(unit))
    chains = (d.summation, d.c_position) in _NAN_CHAINS and d.nan_rule != "products_c"
    # A step of two products has them in the order of k here, and as they are taken in the theorem.
    one_each = (d.summation, d.c_position) == ("sequential", "first")
    if not (
        alone(unit) and (d.order == "ascending" or (blocks == 1 and one_each))
        and (
            (d.summation not in ("fused", "tr", "gtr") and d.c_position in ("first", "last"))
            or ((d.summation, d.c_position) == ("fused", "joined") and block_size(unit) == 1)
        )
        and (one_nan(unit) or (blocks == 1 and chains))
        and _taken_whole(d, d.rho) and _taken_whole(d, d.step)
    ):  # fmt: skip
        return None
    with suppress(InputError):
        tree = tree_of(unit, unit.k)
        if tree is not None and block_size(unit) * blocks == unit.k:
            sums, several = f"({coq_summation(tree)})", f" {unit.k}%nat" if blocks > 1 else ""
            how = "as_one_block" if several else "as_steps"
            return IdleAxis(
                f"order_{how}", Form(tree), f"{how} d{several} = Some {sums}",
                f"order_{how} d {sums}{several} w O L", length=unit.k,
            )  # fmt: skip
    return None


def _taken_whole(d: Design, to: Conversion) -> bool:
    """`StepNans.taken_whole`: whether what becomes of subnormals of c changes no sum of this conversion."""
    floating = d.c_subnormals != "hidden_bit" and to.integer_bits is None and to.e_min <= to.e_max
    return d.c_subnormals == "kept" or (floating and is_flushed(d, to))


def _sums(form: Form) -> IdleAxis | None:
    """Parameters of sums, of those in a tree too, whose operands do not tell them."""
    unit, root, terms = form.unit, form.root, product_bounds(form.unit)
    if root is None or terms is None:
        return None
    plain = sums_by_value(root, terms, first_c(unit, root), in_steps=unit.tree is not None)[0]
    after, sums = replace(form, sums=plain), f"({summation(unit, plain)})"
    if not one_nan(unit):
        return _idle("idle_steps_words", after, "idle_words", sums, "w O")
    return _idle("idle_sums", after, "idle_design", sums)


def _from_zero(form: Form) -> IdleAxis | None:
    """The same of one block from c = +0, which is a multiple of everything."""
    unit, root, terms, c = form.unit, form.root, product_bounds(form.unit), form.unit.c_format
    if root is None or terms is None or not (
        one_nan(unit) and unit.emulation is None and unit.k == block_size(unit) and c.has_zero
    ):  # fmt: skip
        return None
    known = of_format(c)
    zero = replace(known, grid=known.upto, upto=known.low_upto)
    plain = sums_by_value(root, terms, [zero], in_steps=unit.tree is not None)[0]
    after, sums = replace(form, sums=plain), f"({summation(unit, plain)})"
    condition, proof = f"idle_from_zero d {sums} = true", f"idle_sums_from_zero d {sums} w O L Z"
    return IdleAxis("idle_sums_from_zero", after, condition, proof, length=unit.k, zero_c=True)


def _inlined(form: Form) -> IdleAxis | None:
    """Sums of products that are exact, as their products in the sums that they are in."""
    plain = None if form.root is None else inlined_sums(form.unit, form.root)
    if plain is None:
        return None
    sums = f"({summation(form.unit, plain)})"
    condition, proof = f"inlined_sums d = Some {sums}", f"inlined_idle d {sums} w O L"
    return IdleAxis("inlined_idle", replace(form, sums=plain), condition, proof, length=form.unit.k)


def _factors(form: Form) -> IdleAxis | None:
    """Factors that are converted, or normalised, where nothing is cut off beside those that differ."""
    root = form.root
    if root is None or not one_nan(form.unit) or not factors_idle(form.unit, root):
        return None
    return _idle("factors_idle", replace(form, unit=plain_factors(form.unit), sums=root), "factors_free")


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
        made = {"unit": replace(form.unit, design=d)} if form.rounded is None else {"rounded": d}
        after = replace(after, **made)
    return _idle("tidy_idle", after, "tidy_free")


def _apart(form: Form) -> IdleAxis | None:
    """c beside a sum that is not rounded, as c beside the same sum in a format that has it."""
    root = None if form.sums is not None else apart_sums(form.unit)
    if root is None or not isinstance(root.operands[0], Sum):
        return None
    to = root.operands[0].target
    given = f"{_one_sum(form.unit)} ({to.e_min}) ({to.e_max}) {to.fraction_bits}"
    return _idle("apart_idle", replace(form, sums=root), "apart_free", given, "w eq_refl O N")


def _flushes(form: Form) -> IdleAxis | None:
    """Results that would be flushed if they were subnormal, where none is."""
    root, terms = form.root, product_bounds(form.unit)
    if root is None or terms is None or not one_nan(form.unit):
        return None
    kept = kept_sums(form.unit, root, terms)
    sums = f"({summation(form.unit, kept)})"
    return _idle("flushes_idle", replace(form, sums=kept), "kept_design", sums)


def _free_rule(form: Form) -> IdleAxis | None:
    """What a subnormal c counts as, where c is not added."""
    unit, root, terms = form.unit, form.root, product_bounds(form.unit)
    if unit.tree is None or root is None or terms is None or not one_nan(unit):
        return None
    plain = free_rule(root, terms)
    if plain is None:
        return None
    after = replace(form, unit=_changed(unit, c_subnormals="kept").unit, sums=plain)
    return _idle("free_rule_idle", after, "rule_free")


def _exact_products(unit: UnitSpec) -> IdleAxis | None:
    """Roundings of products that are exact, where sums see the values of products alone."""
    after = _changed(unit, product_rounding=None)
    if unit.emulation is not None or not one_nan(unit):
        return None
    if not exact_rounding(unit) or not value_only(after.unit):
        return None
    return _idle("product_rounding_idle", after, "rounding_free", "None")


def _modes_of_products(form: Form) -> IdleAxis | None:
    """The mode of roundings of products that are exact or flushed, and what overflows."""
    unit, d = form.unit, form.unit.design
    if form.rounded is not None or d.product_rounding is None or not whole(d) or unit.emulation is not None:
        return None
    rounded = plain_rounding(unit)
    to = f"(Some (Floating {coq_conversion(rounded, rounded.product_conversion)}))"
    return _idle("product_rounding_idle", replace(form, rounded=rounded), "rounding_free", to)


def _normal_products(form: Form) -> IdleAxis | None:
    """A rounding of products that only normalises them, as the sum may do."""
    unit, root = form.unit, form.root
    plain = None if root is None else normal_products(unit, root)
    if plain is None:
        return None
    after, sums = Form(_changed(unit, product_rounding=None).unit, plain), f"({summation(unit, plain)})"
    condition, proof = f"normal_products d = Some {sums}", f"normal_products_idle d {sums} w O L"
    return IdleAxis("normal_products_idle", after, condition, proof, length=unit.k)


def _rule(form: Form) -> IdleAxis | None:
    """What a subnormal c counts as, beside a sum that is far larger, or zero."""
    unit = form.unit
    plain = None if unit.tree is None or form.sums is None else rule_idle(unit, form.sums)
    if plain is None:
        return None
    after = replace(form, unit=_changed(unit, c_subnormals="kept").unit, sums=plain)
    sums = f"({summation(unit, plain)})"
    condition, proof = f"plain_rule d = Some {sums}", f"rule_idle d {sums} w O L"
    return IdleAxis("rule_idle", after, condition, proof, length=unit.k)


def _of_unit(axis: Callable[[UnitSpec], IdleAxis | None]) -> Callable[[Form], IdleAxis | None]:
    """An axis of units whose sums, and roundings of products, are as they are."""
    return lambda form: axis(form.unit) if form.sums is None and form.rounded is None else None


_OF_UNITS = (
    _composed, _same_record, _in_steps, _order, _halves, _overflow, _down, _large, _normalised_operands,
    _groups, _exact_products, _framed, _low_c, _after_sign, _rounded,
)  # fmt: skip


_AXES: tuple[Callable[[Form], IdleAxis | None], ...] = (
    *map(_of_unit, _OF_UNITS), _apart, _sums, _inlined, _factors, _flushes, _free_rule, _rule,
    _modes_of_products, _normal_products, _tidied,
)  # fmt: skip


#: What a proof by theorems begins with.
BY_THEOREM = "theorem"


#: The proof of a step in which the records of the specification are one, which needs no theorem.
_NO_THEOREM = "eq_refl"


@dataclass(frozen=True, slots=True)
class EqualByTheorem:
    """Two designs that give the same results on all dot products of one length, and why."""

    first: UnitSpec
    second: UnitSpec
    #: The theorems about parameters that cannot matter, each once, in the order of their use.
    theorems: tuple[str, ...]

    @property
    def reason(self) -> str:
        """One sentence."""
        return f"no parameter that differs can matter: {self.text}"

    @property
    def text(self) -> str:
        """The theorems in one clause."""
        if not self.theorems:
            return "the definitions are the same"
        return f"{BY_THEOREM}{'s' if len(self.theorems) > 1 else ''} {', '.join(self.theorems)}"

    def to_json(self) -> dict[str, list[str]]:
        """The theorems as plain data."""
        return {"theorems": list(self.theorems)}


def equal_by_theorem(
    first: UnitSpec, second: UnitSpec, k: int, *, zero_c: bool = False
) -> EqualByTheorem | None:
    """The theorems by which two units give the same results for every dot product of k terms, or None.

    `zero_c`: where c is +0.
    Shapes: words of 0 fill whole calls up; None where one unit's calls take more of them than the other's,
    unless these are integers.
    """
    if not same_formats(first, second):
        return None
    if first.d_format.integer:
        of_first, of_second = (integer_form(unit, k, zero_c=zero_c) for unit in (first, second))
        if of_first is not None and of_second is not None and of_first.key == of_second.key:
            both = (*of_first.theorems, *of_second.theorems)
            zeros = ("zeros_idle",) if _filled(first, k) != _filled(second, k) else ()
            return EqualByTheorem(first, second, tuple(dict.fromkeys((*both, *zeros))))
        return EqualByTheorem(first, second, ()) if same_definition(first, second, k) else None
    length = _filled(first, k)
    if length != _filled(second, k):
        return None
    one, two = (in_one_way(unit, length) for unit in (first, second))
    with suppress(InputError):
        texts = [[*_forms(unit, way, length, zero_c=zero_c)] for unit, way in ((first, one), (second, two))]
        for (text, used), (other, of_other) in itertools.product(*texts):
            if text == other:
                names = (name for name in (*used, *of_other) if name != _NO_THEOREM)
                return EqualByTheorem(first, second, tuple(dict.fromkeys(names)))
    return EqualByTheorem(first, second, ()) if same_definition(one, two, length) else None


def _forms(unit: UnitSpec, way: UnitSpec, k: int, *, zero_c: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The normal forms of a unit: `way` as it is, and as a tree where the definition is the same."""
    yield _form(way, zero_c=zero_c)
    if way.tree is None and way.emulation is None and way.design.summation == "fused":
        made = tree_of(way, k) if unit.tree is None else unit
        if made is not None and same_definition(made, unit, k):
            yield _form(made, zero_c=zero_c)


# One design is compared with all that one parameter makes of it.
_form = lru_cache(maxsize=64)(normal_form)


@lru_cache(maxsize=64)
def in_one_way(unit: UnitSpec, k: int) -> UnitSpec:
    """The unit with its sums in blocks of products, or else as a tree, where the definition is the same.

    Calls of blocks are one call of as many.
    """
    if unit.emulation is None and unit.tree is None:
        unit = replace(unit, k=k, design=replace(unit.design, products=min(unit.k, unit.design.products)))
    d = unit.design
    if unit.tree is not None or (
        unit.emulation is None and (d.summation, d.c_position) == ("fused", "joined")
    ):
        return in_blocks(unit, k)
    if unit.emulation is None:
        with suppress(InputError):
            made = tree_of(unit, k)
            if made is not None and same_definition(made, unit, k):
                return made
    return unit


def in_blocks(unit: UnitSpec, k: int) -> UnitSpec:
    """A tree of sums whose definition is that of blocks of products as such; any other unit as it is."""
    if unit.tree is None or k != unit.k:
        return unit
    sizes = {sum(isinstance(x, int) for x in step.children) for step in unit.tree.root.steps()} - {0}
    for length in sizes if len(sizes) == 1 else ():
        with suppress(InputError):
            made = replace(unit, tree=None, design=replace(unit.design, products=length))
            if same_definition(made, unit, k):
                return made
    return unit


def _filled(unit: UnitSpec, k: int) -> int:
    """The products of whole calls that take k."""
    return -(-k // unit.k) * unit.k
