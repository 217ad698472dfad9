"""Explain one result: every sum of a dot product taken apart, and where two units part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.interp.trace import StageTrace, trace
from tcformal.oracle.values import number_text, parse_value, power_of_two
from tcformal.query.spec import Witness
from tcformal.unit import Unit, circuit


@dataclass(frozen=True, slots=True)
class TermRow:
    """One addend of a sum, aligned.

    Ranges and units: `kept` counts units of 2^(e_max - fraction_bits); `discarded` are the bits
    below, most significant first, without trailing zeros.
    """

    name: str
    negative: bool
    value: Fraction
    exponent: int
    kept_bits: str
    kept: Fraction
    discarded: str
    zero: bool


@dataclass(frozen=True, slots=True)
class SumStep:
    """One *align · add · normalise · round* step."""

    scope: str
    e_max: int
    fraction_bits: int
    terms: tuple[TermRow, ...]
    #: The exact sum of the kept parts.
    total: Fraction
    total_bits: str
    #: The normalised magnitude's bits, and how many of them the conversion kept.
    normalised_bits: str
    precision: int
    rounded_away: bool
    special: str
    conversion: str


@dataclass(frozen=True, slots=True)
class Trace:
    """One dot product of one unit, explained.

    Ranges and units: `result` is a raw encoding of the D format; `block_results` those of the
    blocks in order (the last is the result).
    """

    unit: UnitSpec
    witness: Witness
    steps: tuple[SumStep, ...]
    block_results: tuple[int, ...]
    result: int
    stages: StageTrace


@dataclass(frozen=True, slots=True)
class Parting:
    """The first stage at which two traces differ."""

    stage: str
    first: str
    second: str


def explain(
    u: str | Unit | UnitSpec,
    a: Sequence[int | float | str],
    b: Sequence[int | float | str],
    c: int | float | str,
) -> Trace:
    """Take one dot product apart.

    Shapes: a, b: K values, K a multiple of the unit's block; c: one value.
    Ranges and units: values as people write them (text), or numbers; each must be exactly a value
    of its format.  Raw encodings are written as text, `0x3c00`.
    Errors: InputError for lists of the wrong length or a value that its format cannot hold.
    """
    spec = u.spec if isinstance(u, Unit) else resolve(u) if isinstance(u, str) else u
    return explain_witness(spec, witness_of(spec, a, b, c))


def witness_of(
    spec: UnitSpec,
    a: Sequence[int | float | str],
    b: Sequence[int | float | str],
    c: int | float | str,
) -> Witness:
    """Raw encodings from values; lists must have the unit's k elements."""
    for name, values in (("a", a), ("b", b)):
        if len(values) != spec.k:
            raise InputError(f"expected {spec.k} values for {name} of {spec.name}, but got {len(values)}")
    o = spec.operands
    return Witness(
        tuple(parse_value(o.a, str(x)) for x in a),
        tuple(parse_value(o.b, str(x)) for x in b),
        parse_value(o.c, str(c)),
    )


def explain_witness(spec: UnitSpec, witness: Witness) -> Trace:
    """Take one dot product on raw encodings apart."""
    graph, root = circuit(spec, len(witness.a))
    stages = trace(graph, root, witness.inputs())
    steps = tuple(_step(spec, stages, scope, len(witness.a)) for scope in stages.scopes())
    blocks = tuple(s.raw for name, s in stages.stages.items() if name.endswith(".result"))
    return Trace(spec, witness, steps, blocks, stages.result, stages)


def _step(spec: UnitSpec, stages: StageTrace, scope: str, k: int) -> SumStep:
    here = stages.under(scope)
    e_max = here["e_max"].value
    fraction_bits = here["sum"].stage.scale
    unit = power_of_two(e_max - fraction_bits)
    count = sum(name.startswith("term") and name.endswith(".aligned") for name in here)
    names = _term_names(spec, scope, count, k)
    terms = []
    for i, name in enumerate(names):
        sign = here[f"term{i}.sign"].raw
        significand = here[f"term{i}.significand"]
        exponent = here[f"term{i}.exponent"].value
        scale = significand.stage.scale
        magnitude = significand.raw * power_of_two(exponent - scale)
        zero = bool(here[f"term{i}.zero"].raw)
        lost = 0 if zero else max(0, here[f"term{i}.distance"].raw + scale - fraction_bits)
        discarded = f"{significand.raw & ((1 << lost) - 1):0{lost}b}" if lost else ""
        kept = here[f"term{i}.aligned"]
        terms.append(
            TermRow(
                name=name,
                negative=bool(sign),
                value=-magnitude if sign else magnitude,
                exponent=exponent,
                kept_bits=_pointed(kept.bits, fraction_bits),
                kept=(-kept.raw if sign else kept.raw) * unit,
                discarded=discarded.rstrip("0"),
                zero=zero,
            )
        )
    total = here["sum"]
    special = "NaN" if here["nan"].raw else "Inf" if here["inf"].raw else ""
    final = scope.endswith(("block0", ".last")) or spec.design.accumulator is None
    return SumStep(
        scope=scope,
        e_max=e_max,
        fraction_bits=fraction_bits,
        terms=tuple(terms),
        total=total.value * unit,
        total_bits=_pointed(f"{abs(total.value):0{total.stage.node.width - 1}b}", fraction_bits),
        normalised_bits=here["normalised"].bits,
        precision=here["kept"].stage.node.width,
        rounded_away=bool(here["away"].raw),
        special=special,
        conversion=spec.design.conversion if final else str(spec.design.accumulator),
    )


def _pointed(bits: str, fraction_bits: int) -> str:
    """Bits with a binary point before the last `fraction_bits`."""
    bits = bits.rjust(fraction_bits + 1, "0")
    return f"{bits[:-fraction_bits]}.{bits[-fraction_bits:]}"


def _term_names(spec: UnitSpec, scope: str, count: int, k: int) -> list[str]:
    """What the terms of a sum are called, from the scope it stands in."""
    block, _, inner = scope.partition(".")
    number = int(block.removeprefix("block"))
    length = min(k, spec.design.products)
    products = [f"a[{i}]·b[{i}]" for i in range(number * length, (number + 1) * length)]
    c = "c" if number == 0 else f"result of block {number - 1}"
    if not inner:
        return [*products, c]
    if inner == "products":
        return products
    if inner == "last":
        return ["sum so far", c]
    if inner.startswith("step"):
        i = int(inner.removeprefix("step"))
        if spec.design.c_position == "first":
            return [c if i == 0 else "sum so far", products[i]]
        return [products[0] if i == 0 else "sum so far", products[i + 1]]
    return [f"operand {i}" for i in range(count)]


def parting(first: Trace, second: Trace) -> Parting | None:
    """The first stage at which two units part on the same operands; None where none shows.

    Stages are compared in the order of the computation, as exact numbers, not as bits: e_max, each
    aligned term, the sum, the rounded result.
    """
    for mine, theirs in zip(first.steps, second.steps, strict=False):
        where = mine.scope
        if mine.scope != theirs.scope or len(mine.terms) != len(theirs.terms):
            shared = _shared_terms(mine, theirs, where)
            if shared is not None:
                return shared
            return Parting(
                f"the order of summation at {where}", f"{len(mine.terms)} terms", f"{len(theirs.terms)} terms"
            )
        shared = _shared_terms(mine, theirs, where)
        if shared is not None:
            return shared
        if mine.total != theirs.total:
            return Parting(f"the sum at {where}", number_text(mine.total), number_text(theirs.total))
        if mine.normalised_bits.rstrip("0") != theirs.normalised_bits.rstrip("0"):
            return Parting(f"the normalisation at {where}", mine.normalised_bits, theirs.normalised_bits)
        if (mine.precision, mine.rounded_away) != (theirs.precision, theirs.rounded_away):
            return Parting(f"the rounding at {where}", mine.conversion, theirs.conversion)
    if first.result != second.result:
        return Parting("the encoding of the result", f"{first.result:#x}", f"{second.result:#x}")
    return None


def _shared_terms(mine: SumStep, theirs: SumStep, where: str) -> Parting | None:
    """The first difference in e_max or in a term that both sums have."""
    by_name = {t.name: t for t in theirs.terms}
    for term in mine.terms:
        other = by_name.get(term.name)
        if other is not None and term.kept != other.kept:
            return Parting(
                f"the alignment of {term.name} at {where}", number_text(term.kept), number_text(other.kept)
            )
    return None
