"""Explanation of one result: all stages of every sum in a dot product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from tcformal.backends.concrete import Concrete
from tcformal.design.rounding import conversion
from tcformal.design.unit import UnitSpec
from tcformal.ir.node import Node
from tcformal.ir.ops import signed
from tcformal.oracle.numerals import number_text, power_of_two
from tcformal.oracle.products import exact_specials, group_term, multiply, product
from tcformal.oracle.values import ExactValue, NumberClass, decode, exponent_of
from tcformal.query.explain.trace import Divergence, Rounding, SumStep, TermRow, Trace, divergence
from tcformal.semantics.chain import common_k, staged_circuit
from tcformal.semantics.number import Exponent
from tcformal.semantics.stages import AlignedTerm, Dot, DotStep, Operand, Rounded, Total
from tcformal.simulation.operands.given import witness_of
from tcformal.simulation.operands.witness import Witness, factor_texts, scale_values

if TYPE_CHECKING:
    from tcformal.simulation.matrix_unit import Unit


_FIXED = {
    "c": "c", "zero": "+0", "running": "sum so far", "even": "even sum so far", "odd": "odd sum so far",
    "parts": "sum of the parts",
}  # fmt: skip


def operand_name(x: Operand, factors: Sequence[str] = ()) -> str:
    """The name of an operand or result of a sum.

    Shapes: factors: the text of each product's scales, for units with scales.
    """
    if x.kind == "products":
        return group_name(x.ks, factors)
    if x.kind == "tree":
        return sum_name([operand_name(one, factors) for one in x.of])
    if x.kind == "block":
        return f"result of block {x.number}"
    if x.kind == "call":
        return f"result of block {'' if x.number is None else f'call{x.number}.'}addition"
    return _FIXED[x.kind]


def group_name(group: Sequence[int], factors: Sequence[str] = ()) -> str:
    """The name of one product, or of a group's exact sum of products, with its scale factor."""
    first = group[0]
    name = f"a[{first}]·b[{first}]" if len(group) == 1 else f"Σ a·b[{first}…{group[-1]}]"
    return f"{name}·{factors[first]}" if factors and factors[first] else name


def sum_name(names: Sequence[str]) -> str:
    """The name of the sum of several products."""
    return names[0] if len(names) == 1 else f"Σ {names[0]}…{names[-1]}"


def groups(spec: UnitSpec, k: int) -> list[range]:
    """The groups of products that are summed exactly, in order of k; [] where each product is a term."""
    size = spec.design.group
    return [] if size is None else [range(i, i + size) for i in range(0, k, size)]


@dataclass(frozen=True, slots=True)
class Special:
    """A NaN or infinite operand of a sum, with its causes."""

    what: str
    #: One clause for each cause: `scale_a[0] is NaN`.
    why: tuple[str, ...]


def special_operands(spec: UnitSpec, w: Witness, texts: Sequence[str]) -> dict[str, Special]:
    """The NaN and infinite operands of a sum (c, products, groups), by their names in the sum.

    Shapes: texts: the text of each product's scales, as used in the names.
    """
    o, design = spec.operands, spec.design
    values = {"c": decode(o.c, w.c)}
    parts: dict[str, list[tuple[str, ExactValue]]] = {}
    pairs = [(decode(o.a, x), decode(o.b, y)) for x, y in zip(w.a, w.b, strict=True)]
    for i, (x, y) in enumerate(pairs) if design.group is None else ():
        scales = scale_values(spec, w, i)
        name = group_name([i], texts)
        values[name] = product(design, x, y, [value for _, value in scales])
        parts[name] = [(group_name([i]), multiply(x, y)), *scales] if scales else []
    products = [product(design, x, y) for x, y in pairs]
    for group in groups(spec, len(w.a)):
        scales = scale_values(spec, w, group[0])
        members = [products[i] for i in group]
        name = group_name(group, texts)
        values[name] = group_term(design, members, [value for _, value in scales])
        own = [(group_name(group), group_term(design, members, ()))]
        if exact_specials(members) is not None:
            own = [(group_name([i]), products[i]) for i in group]
        parts[name] = [*own, *scales]
    return {
        name: Special(special_text(value), _causes(name, value, parts.get(name, [])))
        for name, value in values.items()
        if value.kind is not NumberClass.FINITE
    }


def _causes(name: str, value: ExactValue, parts: Sequence[tuple[str, ExactValue]]) -> tuple[str, ...]:
    """The factors that cause a NaN or Inf: NaN factors first, then infinite ones with zero scales, else
    itself."""
    by_kind = {kind: [(n, v) for n, v in parts if v.kind is kind] for kind in NumberClass}
    blamed = by_kind[NumberClass.NAN] or by_kind[NumberClass.INF]
    if value.kind is NumberClass.NAN and blamed and not by_kind[NumberClass.NAN]:
        blamed = blamed + [
            (n, v) for n, v in by_kind[NumberClass.FINITE] if v.is_zero and n.startswith("scale")
        ]
    return tuple(f"{n} is {special_text(v) or 0}" for n, v in blamed or [(name, value)])


def nan_owner(step: DotStep, values: Mapping[Node, int], owners: Mapping[Operand, str]) -> str:
    """The operand whose NaN a sum propagates; `an invalid operation` if no operand is NaN.

    Shapes: values: of the step's nodes; owners: whose NaN each of its operands is.
    Empty where the design gives every NaN one word.
    """
    for nan in step.nans:
        if values[nan.present]:
            return f"{nan.name}[{nan.operand.ks[0]}]" if nan.operand.ks else owners[nan.operand]
    return "an invalid operation" if step.nans else ""


def special_text(value: ExactValue) -> str:
    """`NaN`, `Inf` or `-Inf`; empty for a finite number."""
    if value.kind is NumberClass.FINITE:
        return ""
    return "NaN" if value.kind is NumberClass.NAN else "-Inf" if value.sign else "Inf"


def explain(
    u: str | Unit | UnitSpec,
    a: Sequence[int | float | str] | Witness,
    b: Sequence[int | float | str] = (),
    c: int | float | str = 0,
    scale_a: Sequence[int | float | str] | None = None,
    scale_b: Sequence[int | float | str] | None = None,
) -> Trace:
    """Explain one dot product: its terms, their alignment, the sums and their roundings.

    Shapes: a, b: the unit's k values; c: one value; scale_a, scale_b: one scale per block of k, ones
    unless given, none for units without scales.  Or all operands at once, as a verdict's `witness`, of k
    products or a multiple: a chain of calls.
    Ranges and units: values as people write them (text), or numbers; each must be exactly a value
    of its format.  Raw encodings are written as text, `0x3c00`.
    Zero, NaN, Inf: any operand may be one; its sum says which one made it special.
    Errors: InputError for lists of the wrong length or a value that its format cannot hold.
    Source: the unit's own.

    Examples:
        >>> print(tcformal.explain("h100:fp16", [16384] + [0] * 15, [1] + [0] * 15, "-2^-11"))
        d = 16777215*2^-10 (0x467fffff)
        h100:fp16
        block0: 17 terms at e_max = 14, 25 fraction bits kept (15 of them zero, not shown)
        term                        exponent  ±kept bits                   | discarded
        a[0]·b[0] = 16384                 14  +01.0000000000000000000000000|
        c = -0.00048828125               -11  - 0.0000000000000000000000001|
        sum = 33554431*2^-11                  +00.1111111111111111111111111|
        normalised, RZ-FP32               13    1.11111111111111111111111|1 cut
        result: 16777215*2^-10 (0x467fffff)
    """
    spec = _spec(u)
    if isinstance(a, Witness):
        return explain_witness(spec, a)
    return explain_witness(spec, witness_of(spec, a, b, c, scale_a=scale_a, scale_b=scale_b))


def diverge(
    first: str | Unit | UnitSpec,
    second: str | Unit | UnitSpec,
    a: Sequence[int | float | str] | Witness,
    b: Sequence[int | float | str] = (),
    c: int | float | str = 0,
    scale_a: Sequence[int | float | str] | None = None,
    scale_b: Sequence[int | float | str] | None = None,
) -> Divergence | None:
    """The first stage at which two units differ on the same operands; None where none shows.

    Shapes: a, b: K values, the least common multiple of the units' k; the other operands as for `explain`.
    Ranges and units: as for `explain`; stages are compared as exact numbers, in the order of the computation.
    Zero, NaN, Inf: as for `explain`.
    Errors: InputError for lists of the wrong length, a value that its format cannot hold, or units without
    a common k.
    Source: the units' own.

    Examples:
        >>> none = [0] * 15
        >>> tcformal.diverge("a100:fp16", "h100:fp16", [16384, *none], [1, *none], "-2^-11")
        <Divergence at the alignment of c at block0: 0 against -0.00048828125>
    """
    specs = _spec(first), _spec(second)
    if isinstance(a, Witness):
        given = [a, a]
    else:
        k = common_k(*specs)
        given = [witness_of(spec, a, b, c, k=k, scale_a=scale_a, scale_b=scale_b) for spec in specs]
    one, other = (explain_witness(spec, w) for spec, w in zip(specs, given, strict=True))
    return divergence(one, other)


def _spec(u: str | Unit | UnitSpec) -> UnitSpec:
    from tcformal.simulation.matrix_unit import spec_of  # needs NumPy, and what follows does not

    return spec_of(u)


def explain_witness(spec: UnitSpec, witness: Witness) -> Trace:
    """Explain one dot product of raw encodings; more than k products are a chain of calls."""
    dot, nodes, run = _traced(spec, len(witness.a))
    values = dict(zip(nodes, run(witness.inputs()), strict=True))
    steps: list[SumStep] = []
    # What each operand of a sum is where it is no finite number.
    factors = factor_texts(spec, witness) if spec.scale_format is not None else []
    specials = special_operands(spec, witness, factors)
    owners = {Operand("c"): "c"}
    for step in dot.steps:
        if step.total is None:
            continue
        names, made = [operand_name(x, factors) for x in step.operands], operand_name(step.made, factors)
        row = _step(step, step.total, values, names, specials, owners)
        steps.append(row)
        owners[step.made] = row.nan_of
        overflow = "" if row.rounding is None else row.rounding.overflow
        special = row.special or (overflow if overflow.endswith("Inf") else "")
        specials.pop(made, None)
        if special:
            specials[made] = Special(special, (f"{made} is {special}",))
    blocks = tuple(values[block.result] for block in dot.blocks)
    return Trace(spec, witness, tuple(steps), blocks, values[dot.result])


@lru_cache(maxsize=64)
def _traced(spec: UnitSpec, k: int) -> tuple[Dot, list[Node], Concrete]:
    """The stages of K products on one unit, their nodes, and an evaluator of these nodes."""
    graph, dot = staged_circuit(spec, k)
    nodes = graph.since(0)
    return dot, nodes, Concrete(graph, nodes)


def _exponent(x: Exponent, values: Mapping[Node, int]) -> int:
    """The value of an exponent node."""
    return values[x.bits] + x.low


def _step(
    step: DotStep,
    total: Total,
    values: Mapping[Node, int],
    names: Sequence[str],
    specials: Mapping[str, Special],
    owners: Mapping[Operand, str],
) -> SumStep:
    """One sum of the trace, from the record of its stages."""
    e_max, fraction_bits = _exponent(total.e_max, values), total.fraction_bits
    bits = signed(values[total.bits], total.bits.width)
    terms = tuple(_term(x, values, names, e_max, fraction_bits, step.exact) for x in total.terms)
    parts = sum((t.kept for t in terms), Fraction(0))
    held = bits * power_of_two(e_max - fraction_bits)
    if step.exact and terms:
        held = parts
    blamed = [specials[name] for name in names if name in specials]
    special = blamed[0].what if blamed else ""
    if step.specials is not None and values[step.specials.result.nan]:
        special = "NaN"
    floor = None
    if step.floor is not None:
        cut = step.floor.rounded.target
        floor = _rounding(step, step.floor.rounded, values, held, f"{cut.mode}, {cut.fraction_bits} bits")
    rounding = None
    if step.rounded is not None:
        cut_first = held if floor is None else floor.value
        rounding = _rounding(step, step.rounded, values, cut_first, step.conversion)
    return SumStep(
        scope=step.scope, e_max=e_max, fraction_bits=fraction_bits, operands=tuple(names), terms=terms,
        exact=step.exact, total=held, moved_by=total.moved_by, rounding=rounding, floor=floor,
        special=special, total_bits=_pointed(f"{abs(bits):0{total.bits.width - 1}b}", fraction_bits),
        wrapped=bool(terms) and held != parts and not total.moved_by,
        blamed=tuple(dict.fromkeys(why for one in blamed for why in one.why)),
        nan_of=nan_owner(step, values, owners) if special == "NaN" else "",
        moved=int(abs(held - parts) / power_of_two(e_max - fraction_bits)) if total.moved_by else 0,
    )  # fmt: skip


def _rounding(
    step: DotStep, rounded: Rounded, values: Mapping[Node, int], total: Fraction, name: str
) -> Rounding:
    """One rounding of the trace: the normalised sum's bits, the rounding direction, and the result."""
    target = rounded.target
    if target.integer:
        term = rounded.result.term
        count = values[term.significand] * (-1 if values[term.sign] else 1)
        return Rounding(
            conversion=name, exponent=target.e_min, precision=target.precision, away=False,
            overflow="" if count == total else f"{count} is left", bits=f"{abs(count):0{target.precision}b}",
            value=Fraction(count),
        )  # fmt: skip
    exponent = max(exponent_of(abs(total)), target.e_min) if total else target.e_min
    away = bool(values[rounded.away])
    magnitude = (values[rounded.kept] + away) * power_of_two(exponent - target.fraction_bits)
    sign = "-" if total < 0 else ""
    overflow = ""
    if conversion(step.conversion).integer_bits is not None:
        term = rounded.result.term
        unit = target.e_min - target.fraction_bits
        held = values[term.significand] * power_of_two(unit) * (-1 if values[term.sign] else 1)
        if values[rounded.result.inf]:
            overflow = sign + "Inf"
        elif held != (-magnitude if total < 0 else magnitude):
            overflow = f"{number_text(held)} is left"
    elif magnitude >= power_of_two(target.e_max + 1):
        infinite = step.specials is not None and values[step.specials.result.inf]
        overflow = sign + ("Inf" if infinite else "the largest finite number")
    return Rounding(
        conversion=name, exponent=exponent, precision=target.precision, away=away, overflow=overflow,
        bits=f"{values[rounded.normalised]:0{rounded.normalised.width}b}",
        value=-magnitude if total < 0 else magnitude,
    )  # fmt: skip


def _term(
    x: AlignedTerm,
    values: Mapping[Node, int],
    names: Sequence[str],
    e_max: int,
    fraction_bits: int,
    exact: bool,
) -> TermRow:
    """One addend of the trace, from the record of its stages."""
    term, scale = x.term, x.term.fraction_bits
    exponent, significand = _exponent(term.exponent, values), values[term.significand]
    zero, negative = bool(values[term.zero]), bool(values[term.sign])
    magnitude = significand * power_of_two(exponent - scale)
    lost = 0 if zero else max(0, e_max - exponent + scale - fraction_bits)
    discarded = f"{significand & ((1 << lost) - 1):0{lost}b}" if lost else ""
    kept = magnitude if exact else values[x.aligned] * power_of_two(e_max - fraction_bits)
    return TermRow(
        name=sum_name([names[i] for i in x.members]), negative=negative, exponent=exponent, zero=zero,
        value=-magnitude if negative else magnitude, kept=-kept if negative else kept,
        kept_bits=_pointed(f"{values[x.aligned]:0{x.aligned.width}b}", fraction_bits),
        discarded=discarded.rstrip("0"),
    )  # fmt: skip


def _pointed(bits: str, fraction_bits: int) -> str:
    """Bits as text with a binary point before the last `fraction_bits`."""
    bits = bits.rjust(fraction_bits + 1, "0")
    return f"{bits[:-fraction_bits]}.{bits[-fraction_bits:]}"
