"""A design as a record of the Coq specification, `coq/Design.v`, or beyond theorems `coq/Wide.v`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from typing import ParamSpec, TypeVar

from tcformal.design.rounding import MODES, Conversion, bits_taken, conversion, random_word
from tcformal.design.spec import Design
from tcformal.design.trees.tree import Step, Tree, stage_designs
from tcformal.design.unit import Emulation, UnitSpec
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.errors import InputError
from tcformal.theory.stated_sum import operand_rules

_SPECIALS = {
    Specials.IEEE: "IEEE", Specials.ALL_ONES_NAN: "AllOnesNaN", Specials.NONE: "NoSpecials",
    Specials.NEGATIVE_ZERO_NAN: "NegativeZeroNaN",
}  # fmt: skip
_ZERO_SIGNS = {"positive": "Positive", "ieee": "IeeeSign", "sum": "SumSign"}
_OVERFLOWS = {"infinity": "Infinite", "ieee": "Directed", "largest": "Largest"}
_FLUSH = {
    "kept": "Kept", "positive_zero": "PositiveZero", "signed_zero": "SignedZero", "hidden_bit": "HiddenBit",
}  # fmt: skip
_NAN_RULES = {"word": "OneWord", "first_operand": "FirstOperand", "b_sum_a": "BSumA", "a_sum_b": "ASumB"}
_INNER = {
    "fused": "Together", "sequential": "Chain", "pairwise": "Pairwise", "two_chains": "TwoChains",
    "pair_chains": "PairChains",
}  # fmt: skip
#: Parameters of which Wide.v says what they are where they are given, and Design.v does not.
_WIDE = (
    "operand_rounding", "a_bits", "b_bits", "c_alignment_rounding", "c_bits", "second_fraction_bits",
    "minus_one",
)  # fmt: skip
#: What a design of Wide.v has in all else.
_PLAIN: dict[str, object] = {
    "summation": "fused", "c_position": "joined", "lost_bits": "cut", "c_fraction_bits": None,
    "piece_bits": None, "zero_terms": None, "nan_rule": "word",
}  # fmt: skip
_Args = ParamSpec("_Args")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Sum:
    """One sum of a design: its parameters, what it is rounded to, and what it adds.

    Shapes: an operand is the number of a product, `c`, `zero`, or a sum.
    """

    design: Design
    target: Conversion
    operands: tuple[int | str | Sum, ...] = ()

    def sums(self) -> Iterator[Sum]:
        """Every sum, inner ones first."""
        for x in self.operands:
            if isinstance(x, Sum):
                yield from x.sums()
        yield self

    @property
    def stage(self) -> str:
        """A term of type `stage`, in parentheses."""
        return _stage(self.design, self.target)

    def written(self) -> str:
        """A term of type `steps`, in parentheses."""
        leaves: dict[int | str, str] = {"c": "C", "zero": "PlusZero"}
        inner = (x.written() if isinstance(x, Sum) else leaves.get(x, f"Product {x}") for x in self.operands)
        return f"(Step {self.stage} [{'; '.join(inner)}])"

    def wide(self) -> str:
        """A term of type `wide_steps`."""
        leaves: dict[int | str, str] = {"c": "WideC", "zero": "WideZero"}
        made = (x.wide() if isinstance(x, Sum) else leaves.get(x, f"WideProduct {x}") for x in self.operands)
        return f"WideStep {_wide_sum(self.design, self.target)} [{'; '.join(made)}]"


def tree_sum(tree: Tree, d: Design) -> Sum:
    """The sums of a tree."""
    designs = stage_designs(tree, d)

    def made(step: Step) -> Sum:
        of = designs[step.stage]
        return Sum(of, of.rho, tuple(made(x) if isinstance(x, Step) else x for x in step.children))

    return made(tree.root)


def block_size(unit: UnitSpec) -> int:
    """Products of one block: no more than a call takes, or the longest part of a composition of calls."""
    if unit.tree is not None:
        return unit.k
    taken = unit.k if unit.emulation is None else max(map(len, unit.emulation.parts))
    return min(taken, unit.design.products)


def undescribed(unit: UnitSpec) -> str:
    """The first parameter of a unit that the specification has not; empty where it describes the unit."""
    for d in _designs(unit):
        for name in ("conversion", "accumulator", "product_rounding", "operand_rounding"):
            text = getattr(d, name) or ""
            if (random_word(text.partition("-")[0]) or (0, 0))[1] is None:
                return f"drawn words, as in {name}={text}"
    if wide := wide_parameter(unit):
        if unit.emulation is not None:
            return f"{wide} in a composition of instructions"
        if unit.tree is not None and unit.tree.nan_rule != "word":
            return f"{wide} beside nan_rule={unit.tree.nan_rule}"
        for name, value in _PLAIN.items():
            if getattr(unit.design, name) != value:
                return f"{wide} beside {name}={getattr(unit.design, name)}"
        if unit.tree is not None and any(map(_parts_c, _designs(unit))) and _later_c(unit.tree):
            return "an inner sum that is the c of its step"
    return ""


def _parts_c(d: Design) -> bool:
    """Whether a sum treats c in a way of its own."""
    return d.c_bits is not None or d.c_alignment_rounding is not None or d.e_max_of != "terms"


def _later_c(tree: Tree) -> bool:
    """Whether a step has an inner sum as its c."""
    return any(x.c_place is not None and "c" not in x.children for x in tree.root.steps())


def wide_parameter(unit: UnitSpec) -> str:
    """The first parameter of a unit that Wide.v is about and Design.v is not; empty where there is none."""
    for d in _designs(unit):
        for name in _WIDE:
            if getattr(d, name) is not None:
                return name
        if d.e_max_of != "terms":
            return f"e_max_of={d.e_max_of}"
        if d.alignment_rounding not in MODES:
            return f"alignment_rounding={d.alignment_rounding}"
        if not d.normalised:
            return "normalised=false"
        if d.special_words != "special" and not _always_numbers(unit, d):
            # A result is the next block's c, which is read from its word.
            return f"special_words={d.special_words} beside results that are Inf or NaN"
    d = unit.design
    if d.summation == "fused" and d.sum_fraction_bits is not None:
        return f"sum_fraction_bits={d.sum_fraction_bits} in a fused sum"
    for name, usual in (("group_exponent", 0), ("zero_group", "products")):
        if getattr(d, name) != usual:
            return f"{name}={getattr(d, name)}"
    if d.group is not None and isinstance(d.zero_exponent, int) and not _zeros_below(unit, d.zero_exponent):
        # Design.v gives a group whose products cancel the exponent of a zero.
        return f"zero_exponent={d.zero_exponent} beside group={d.group}"
    return ""


def _zeros_below(unit: UnitSpec, exponent: int) -> bool:
    """Whether an exponent is below that of every c that is not zero, which is a term of the sum."""
    d, bits = unit.design, unit.c_format.fraction_bits if unit.design.normalise_products else 0
    return d.c_position == "joined" and exponent <= min(unit.c_format.e_min - bits, d.rho.e_min - bits)


def _designs(unit: UnitSpec) -> list[Design]:
    """The unit's design, and those of a tree's stages."""
    return [unit.design, *([] if unit.tree is None else stage_designs(unit.tree, unit.design).values())]


def _always_numbers(unit: UnitSpec, d: Design) -> bool:
    """Whether numbers alone have no result but numbers."""
    made = [d.rho, d.step, *([] if d.product_rounding is None else [d.product_conversion])]
    return d.overflow == "largest" and unit.scale_format is None and all(x.integer_bits is None for x in made)


def without_theorem(unit: UnitSpec) -> str:
    """The first parameter of a unit that no theorem about one knows; empty where these know them all."""
    scaled = unit.tree is not None and unit.scale_format is not None
    return without_equality(unit) or ("block scales beside a tree" if scaled else "")


def without_equality(unit: UnitSpec) -> str:
    """The first parameter of a unit that no theorem about equal designs knows; empty where all are known."""
    if unknown := undescribed(unit) or wide_parameter(unit):
        return unknown
    words = unit.design.special_words
    return "" if words == "special" else f"special_words={words}"


def if_described(answer: Callable[_Args, _Answer | None]) -> Callable[_Args, _Answer | None]:
    """A function of units that answers None where theorems do not know a parameter of one of them."""

    @wraps(answer)
    def answered(*args: _Args.args, **named: _Args.kwargs) -> _Answer | None:
        units = (x for x in args if isinstance(x, UnitSpec))
        return None if any(without_theorem(x) for x in units) else answer(*args, **named)

    return answered


def coq_function(spec: UnitSpec) -> str:
    """A term of type `words -> Z`: the function that a unit is.

    Errors: InputError for a unit that the specification does not describe.
    """
    return f"compute_wide {coq_wide(spec)}" if wide_parameter(spec) else f"compute {coq_design(spec)}"


def coq_design(spec: UnitSpec, sums: str | None = None, rounded: Design | None = None) -> str:
    """A term of type `design`, whose `compute` gives the unit's results, with its sums or others.

    Products are rounded as in the unit, or as in `rounded`.

    Errors: InputError for a combination that Design.v does not describe.
    """
    if name := wide_parameter(spec):
        raise InputError(
            f"expected a unit of Design.v, which theorems are about and which has no {name}, "
            f"but got {spec.name}"
        )
    return _design(spec, sums, rounded)


def coq_wide(spec: UnitSpec) -> str:
    """A term of type `wide_design`, whose `compute_wide` gives the unit's results.

    Errors: InputError for a combination that Wide.v does not describe.
    """
    d = spec.design
    if spec.tree is not None:
        root = tree_sum(spec.tree, d)
    else:
        terms = block_size(spec) // (1 if d.group is None else d.group)
        root = Sum(d, d.rho, (*range(terms), "c"))
    a, b = (None if x is None else str(bits_taken(x)) for x in (d.a_bits, d.b_bits))
    operand = None
    if d.operand_rounding is not None:
        how = replace(d, overflow="infinity", result_subnormals="kept", zero_sign="ieee")
        operand = _rounding(how, conversion(d.operand_rounding))
    return _record(
        base=_design(spec, "InSteps C", None), operand_rounding=_option(operand), a_taken=_option(a),
        b_taken=_option(b), group_exponent=d.group_exponent, zero_by_scale=d.zero_group == "scale",
        again=coq_format(d.reading(spec.d_format)), order=root.wide(),
    )  # fmt: skip


def _design(spec: UnitSpec, sums: str | None, rounded: Design | None) -> str:
    """A term of type `design`, for a unit without the parameters of Wide.v or with these left out."""
    if spec.d_format.integer:
        raise InputError(
            f"expected a unit of floating-point numbers, which Design.v is about, but got {spec.name}"
        )
    d, tree, how = spec.design, spec.tree, spec.emulation
    if name := undescribed(spec):
        raise InputError(
            f"expected a unit that the specification in Coq describes, which has no {name}, "
            f"but got {spec.name}"
        )
    whole = d.exponent_step == 1 and d.piece_bits is None and d.lost_bits != "halves"
    if how is not None and not whole:
        raise InputError(
            f"expected whole products and exponent_step=1 in the composition {spec.name}, because the "
            "specification cuts factors of one format only"
        )
    converted = how.converted if how is not None else tree.converted if tree is not None else None
    scales = "None"
    if spec.scale_format is not None:
        scales = f"(Some ({coq_format(spec.scale_format)}, {spec.scale_block}%nat))"
    nans = _NAN_RULES.get(d.nan_rule if tree is None else tree.nan_rule)
    return _record(
        a_format=coq_format(d.reading(spec.a_format)), b_format=coq_format(d.reading(spec.b_format)),
        c_format=coq_format(d.reading(spec.c_format)), d_format=coq_format(spec.d_format), scales=scales,
        converted=_option(None if converted is None else coq_format(converted)),
        factors=_product_rule(d, rounded or d), cutting_of=_cutting(d), block=f"{block_size(spec)}%nat",
        odd_first=d.order == "odd_first", skips=d.zero_words == "skipped", c_rule=_FLUSH[d.c_subnormals],
        sums=coq_summation(spec) if sums is None else sums, nan_word=f"{d.nan_word:#x}",
        nans=nans or f"ProductsThenC {d.factor_nan_word:#x}",
        composed=_option(None if how is None else coq_composition(how)),
    )  # fmt: skip


def coq_summation(spec: UnitSpec) -> str:
    """A term of type `summation`, without parentheses."""
    d = spec.design
    if spec.tree is not None:
        return f"InSteps {tree_sum(spec.tree, d).written()}"
    if d.framed and d.summation not in ("tr", "gtr"):
        return f"Framed {_frame(d)}"
    whole = coq_sum(d, d.rho)
    if d.summation in ("tr", "gtr"):
        down = _record(
            products_sum=whole, sum_bits=d.sum_fraction_bits,
            sum_mode=d.sum_rounding.removesuffix("_ADDENDS"), cut_again=d.sum_rounding != "RD_ADDENDS",
            two_sums=d.summation == "gtr",
        )  # fmt: skip
        return f"RoundedDown {down}"
    if d.c_position == "after":
        return f"CAfter {whole} {_shown(d.lost_bits == 'halves')}"
    if d.lost_bits in ("sticky", "jammed"):
        return f"{d.lost_bits.capitalize()}Sum {whole}"
    last = _stage(d, d.rho)
    if d.c_position == "joined":
        return f"OneSum {last}"
    if d.c_position == "first":
        return f"FromC {_stage(d, d.step)} {last}"
    return f"CLast {_INNER[d.summation]} {_stage(d, d.step)} {last}"


def coq_format(f: Format) -> str:
    """A term of type `format`."""
    return _record(
        ebits=f.exponent_bits, fbits=f.fraction_bits, bias=f.bias, special=_SPECIALS[f.specials],
        has_sign=f.sign is Sign.PRESENT, has_zero=f.has_zero, subnormals=f.subnormals,
        ignored=f.ignored_low_bits,
    )  # fmt: skip


def _zero_exponent(d: Design) -> str:
    """A term of type `zero_exponent`."""
    names = {"none": "ZeroNone", "own": "ZeroOwn"}
    return names.get(str(d.zero_exponent)) or f"ZeroAt {_shown(d.zero_exponent)}"


def coq_sum(d: Design, target: Conversion) -> str:
    """A term of type `sum`: the design's alignment with one conversion; none in fixed point."""
    return _record(
        fraction_bits=_option(d.fraction_bits), alignment=d.alignment_rounding,
        zero_exponent=_zero_exponent(d), carry_bits=_option(d.carry_bits), normalise=d.normalise_products,
        out=coq_conversion(d, target),
    )  # fmt: skip


def _wide_sum(d: Design, target: Conversion) -> str:
    """A term of type `wide_sum`."""
    modes = (d.alignment_rounding, d.c_alignment_rounding or d.alignment_rounding)
    cut, of_c = ("TiesUp" if x == "RNU" else f"(By {x})" for x in modes)
    if d.normalised:
        becomes = f"Rounds {_rounding(d, target)}"
    else:
        becomes = f"Stays {_shown(target.e_min)} {_shown(d.result_subnormals != 'kept')}"
    return _record(
        term_bits=_option(d.fraction_bits), term_cut=cut, c_term_bits=_option(d.c_bits), c_term_cut=of_c,
        second_bits=_option(d.second_fraction_bits), zeros_at=_zero_exponent(d), leading=d.normalise_products,
        c_decides=d.e_max_of == "terms", room=_option(d.carry_bits), minus_one=_option(d.minus_one),
        cut_sum=_option(d.sum_fraction_bits), becomes=becomes,
    )  # fmt: skip


def coq_conversion(d: Design, target: Conversion) -> str:
    """A term of type `conversion`: a target with the design's subnormals, overflow and zeros."""
    return _record(
        rho=_mode(target.mode), p=target.fraction_bits, emin=target.e_min, emax=target.e_max,
        overflow=_OVERFLOWS[d.overflow], flushes=d.result_subnormals != "kept",
        tiny=d.result_subnormals == "tiny_zero", zsign=_ZERO_SIGNS[d.zero_sign],
    )  # fmt: skip


def _frame(d: Design) -> str:
    first = None
    if d.accumulator is not None:
        first = coq_conversion(replace(d, zero_sign="positive"), _floating(d.step))
    return _record(
        frame_bits=d.fraction_bits, c_bits=d.c_fraction_bits, frame_mode=d.alignment_rounding,
        frame_zero=_zero_exponent(d), complement=d.accumulation == "ones_complement",
        drops_c=d.vanished_c == "dropped",
        group_size="None" if d.aligned_group is None else f"Some {d.aligned_group}%nat",
        first_rounding=_option(first), frame_out=coq_conversion(d, d.rho),
    )  # fmt: skip


def _product_rule(d: Design, rounded: Design) -> str:
    of_a, of_b = (_FLUSH[x] for x in operand_rules(d))
    rounding = None if rounded.product_rounding is None else _rounding(rounded, rounded.product_conversion)
    return _record(
        of_a=of_a, of_b=of_b, normalise_factors=d.normalise_operands, exponent_step=d.exponent_step,
        zero_terms=_option(d.zero_terms), odd_negated=d.subtracts(1), even_negated=d.subtracts(0),
        product_limit=_option(d.product_limit), product_rounding=_option(rounding),
    )  # fmt: skip


def _cutting(d: Design) -> str:
    if d.group is not None:
        return f"Groups {d.group}%nat"
    if d.piece_bits is not None:
        return f"Pieces {d.piece_bits} {d.dropped_pieces}%nat"
    return "Whole"


def coq_composition(how: Emulation) -> str:
    """A term of type `composition`."""
    d = how.addition
    parts = "; ".join(f"[{'; '.join(map(str, part))}]" for part in how.parts)
    return _record(
        parts=f"[{parts}]%nat", addition=coq_sum(d, _floating(d.rho)), of_sum=_FLUSH[d.operand_subnormals],
        of_c=_FLUSH[d.c_subnormals], addition_nan=f"{d.nan_word:#x}",
    )  # fmt: skip


def _stage(d: Design, target: Conversion) -> str:
    """A term of type `stage`, in parentheses."""
    if target.integer_bits is None:
        return f"(Stage {coq_sum(d, target)})"
    return f"(FixedStage {coq_sum(d, d.rho)} {_fixed(target)})"


def _rounding(d: Design, target: Conversion) -> str:
    """A term of type `rounding`, in parentheses."""
    if target.integer_bits is None:
        return f"(Floating {coq_conversion(d, target)})"
    return f"(Fixed {_fixed(target)})"


def _mode(mode: str) -> str:
    """A term of type `mode`."""
    random = random_word(mode)
    return mode if random is None else f"SR {random[0]} {random[1]}"


def _fixed(target: Conversion) -> str:
    whole = target.integer_bits
    places = target.fraction_bits - (whole or 0)
    return _record(fixed_mode=_mode(target.mode), whole=whole, places=places, wraps=target.wraps)


def _floating(target: Conversion) -> Conversion:
    """The conversion; InputError for one to fixed point, which the specification has in stages only."""
    if target.integer_bits is not None:
        raise InputError(
            "expected a floating-point conversion before the last one, because the specification has fixed "
            f"point in partial sums and products only, but got {target.mode} to fixed point"
        )
    return target


def _record(**fields: int | str | None) -> str:
    return "{| " + "; ".join(f"{name} := {_shown(value)}" for name, value in fields.items()) + " |}"


def _shown(value: int | str | None) -> str:
    """A truth value, a number or a term."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"({value})" if isinstance(value, int) and value < 0 else str(value)


def _option(term: int | str | None) -> str:
    return "None" if term is None else f"(Some {_shown(term)})"
