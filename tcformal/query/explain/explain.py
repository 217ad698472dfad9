"""Explanation of one result: every stage of every sum of a dot product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from tcformal.design.rounding import conversion
from tcformal.design.unit import UnitSpec
from tcformal.interp.trace import StageTrace, Traced, Tracer
from tcformal.matmul.unit import Unit, spec_of
from tcformal.operands.factors import factor_texts
from tcformal.operands.names import BLOCK_RESULT, adds_c, operand_names, sum_name
from tcformal.operands.witness import Witness
from tcformal.oracle.text import power_of_two
from tcformal.oracle.values import exponent_of
from tcformal.programs.chain import circuit, common_k
from tcformal.query.explain.divergence import Divergence, divergence
from tcformal.query.explain.given import witness_of
from tcformal.query.explain.specials import Special, nan_owner, special_operands
from tcformal.query.explain.steps import Rounding, SumStep, TermRow, Trace

#: Labels of a term.
_TERM_PARTS = ("sign", "significand", "exponent", "zero", "distance", "aligned")


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
    """
    spec = spec_of(u)
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
    """
    specs = spec_of(first), spec_of(second)
    if isinstance(a, Witness):
        given = [a, a]
    else:
        k = common_k(*specs)
        given = [witness_of(spec, a, b, c, k=k, scale_a=scale_a, scale_b=scale_b) for spec in specs]
    one, other = (explain_witness(spec, w) for spec, w in zip(specs, given, strict=True))
    return divergence(one, other)


def explain_witness(spec: UnitSpec, witness: Witness) -> Trace:
    """Explain one dot product of raw encodings; more than k products are a chain of calls."""
    stages = _tracer(spec, len(witness.a))(witness.inputs())
    steps: list[SumStep] = []
    # What each operand of a sum is where it is no finite number.
    factors = factor_texts(spec, witness) if spec.scale_format is not None else []
    specials = special_operands(spec, witness, factors)
    owners = {"c": "c"}
    for scope in stages.scopes():
        names, made = operand_names(spec, scope, factors)
        step = _step(spec, stages, scope, names, made, specials, owners)
        steps.append(step)
        owners[made] = step.nan_of
        special = step.special or _infinite(step.rounding)
        specials.pop(made, None)
        if special:
            specials[made] = Special(special, (f"{made} is {special}",))
    blocks = tuple(s.raw for name, s in stages.stages.items() if name.endswith(".result"))
    return Trace(spec, witness, tuple(steps), blocks, stages.result, stages)


@lru_cache(maxsize=64)
def _tracer(spec: UnitSpec, k: int) -> Tracer:
    """The definition of K products on one unit, to be traced on many inputs."""
    return Tracer(*circuit(spec, k))


def _infinite(rounding: Rounding | None) -> str:
    """`Inf` or `-Inf` where a rounding overflowed to it, else nothing."""
    overflow = "" if rounding is None else rounding.overflow
    return overflow if overflow.endswith("Inf") else ""


def _step(
    spec: UnitSpec,
    stages: StageTrace,
    scope: str,
    names: Sequence[str],
    made: str,
    specials: Mapping[str, Special],
    owners: Mapping[str, str],
) -> SumStep:
    """One sum, from its labelled stages."""
    here = stages.under(scope)
    e_max, total = here["e_max"].value, here["sum"]
    fraction_bits = total.stage.scale
    design = spec.design
    if spec.emulation is not None and adds_c(spec, scope):
        design = spec.emulation.addition
    exact = design.fraction_bits is None
    terms = tuple(
        _term(here, i, name, e_max, fraction_bits, exact) for i, name in enumerate(_rows(here, names))
    )
    parts = sum((t.kept for t in terms), Fraction(0))
    held = total.value * power_of_two(e_max - fraction_bits)
    if exact and terms:
        held = parts
    blamed = [specials[name] for name in names if name in specials]
    special = blamed[0].what if blamed else ""
    if "nan" in here and here["nan"].raw:
        special = "NaN"
    final = made.startswith(BLOCK_RESULT) or design.accumulator is None
    return SumStep(
        scope=scope,
        e_max=e_max,
        fraction_bits=fraction_bits,
        operands=tuple(names),
        terms=terms,
        exact=exact,
        total=held,
        total_bits=_pointed(f"{abs(total.value):0{total.stage.node.width - 1}b}", fraction_bits),
        wrapped=bool(terms) and held != parts,
        rounding=_rounding(here, held, design.conversion if final else str(design.accumulator)),
        special=special,
        blamed=tuple(dict.fromkeys(why for one in blamed for why in one.why)),
        nan_of=nan_owner(here, names, owners) if special == "NaN" else "",
    )


def _rows(here: Mapping[str, Traced], names: Sequence[str]) -> Sequence[str]:
    """The names of the terms that are labelled: all operands, or the sum of all but the last, and it."""
    count = sum(name.startswith("term") and name.endswith(".aligned") for name in here)
    if count == len(names):
        return names
    if count == 2 and len(names) > 2:
        return [sum_name(names[:-1]), names[-1]]
    return [f"operand {i}" for i in range(count)]


def _rounding(here: Mapping[str, Traced], total: Fraction, text: str) -> Rounding | None:
    """How a sum was converted; None where it was not."""
    if "kept" not in here:
        return None
    target = conversion(text)
    exponent = max(exponent_of(abs(total)), target.e_min) if total else target.e_min
    away = bool(here["away"].raw)
    magnitude = (here["kept"].raw + away) * power_of_two(exponent - target.fraction_bits)
    sign = "-" if total < 0 else ""
    overflow = ""
    if magnitude >= power_of_two(target.e_max + 1):
        overflow = sign + ("Inf" if here["inf"].raw else "the largest finite number")
    return Rounding(
        conversion=text,
        bits=here["normalised"].bits,
        exponent=exponent,
        precision=target.precision,
        away=away,
        value=-magnitude if total < 0 else magnitude,
        overflow=overflow,
    )


def _term(
    stages: Mapping[str, Traced], i: int, name: str, e_max: int, fraction_bits: int, exact: bool
) -> TermRow:
    """One addend, from its labelled stages."""
    here = {part: stages[f"term{i}.{part}"] for part in _TERM_PARTS}
    significand, aligned = here["significand"], here["aligned"]
    exponent, scale = here["exponent"].value, significand.stage.scale
    zero, negative = bool(here["zero"].raw), bool(here["sign"].raw)
    magnitude = significand.raw * power_of_two(exponent - scale)
    lost = 0 if zero else max(0, here["distance"].raw + scale - fraction_bits)
    discarded = f"{significand.raw & ((1 << lost) - 1):0{lost}b}" if lost else ""
    kept = magnitude if exact else aligned.raw * power_of_two(e_max - fraction_bits)
    return TermRow(
        name=name,
        negative=negative,
        value=-magnitude if negative else magnitude,
        exponent=exponent,
        kept_bits=_pointed(aligned.bits, fraction_bits),
        kept=-kept if negative else kept,
        discarded=discarded.rstrip("0"),
        zero=zero,
    )


def _pointed(bits: str, fraction_bits: int) -> str:
    """Bits with a binary point before the last `fraction_bits`."""
    bits = bits.rjust(fraction_bits + 1, "0")
    return f"{bits[:-fraction_bits]}.{bits[-fraction_bits:]}"
