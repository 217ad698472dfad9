"""Stages as they are written for Coq."""

from __future__ import annotations

from tcformal.ir.node import Node
from tcformal.semantics.number import Exponent, Number
from tcformal.semantics.stages import (
    Floored,
    Maximum,
)
from tcformal.theory.circuits import maybe, name
from tcformal.theory.formulas import (
    integer_text,
)
from tcformal.theory.plans.ending import Ending
from tcformal.theory.plans.numbers import span_of
from tcformal.theory.plans.products import Front, Product


def product_text(x: Product) -> str:
    """A product as `Unit.v`, leaf_plan."""
    wide = normal = "None"
    if x.exact.converted:
        wide = f"(Some ({', '.join(name(to.word) for _, to in x.exact.converted)})%positive)"
    if x.normal is not None:
        normal = f"(Some ({', '.join(map(number_text, x.normal))}))"
    sigs = "; ".join(maybe(y.significand) for y in x.exact.factors)
    numbers = f"{number_text(x.exact.number)} {number_text(x.adjusted)}"
    return f"LeafPlan {wide} [{sigs}] {normal} {numbers} {rounding_text(x.rounding)}"


def rounding_text(x: Ending | None) -> str:
    """The rounding of one number, if there is one."""
    return "None" if x is None else f"(Some ({operand_span(x.of.operands[0])}, {ending_text(x)}))"


def operand_span(r: Number) -> int:
    """The largest code of a number's exponent."""
    return span_of(r.term.exponent)


def operand_text(r: Number) -> str:
    """An operand of a sum as `Stage.v`, operand."""
    return f"Operand {number_text(r)} {name(r.term.zero)} {operand_span(r)}"


def level_text(e: Exponent) -> str:
    """An exponent as `RoundDown.v`, level."""
    return f"(Level {name(e.bits)} {integer_text(e.low)} {span_of(e)})"


def floored_text(y: Floored) -> str:
    """A term that is rounded down as `RoundDown.v`, floored."""
    return f"(Floored {name(y.shift)} {name(y.kept)})"


def ending_text(x: Ending) -> str:
    """A rounding as `Finish.v`, ending."""
    r = x.rounded
    return f"(Ending {name(r.kept)} {name(r.away)} {name(r.height)} {number_text(x.outcome)})"


def number_text(r: Number) -> str:
    """A number as `Finish.v`, number."""
    t = r.term
    nodes = [name(x) for x in (t.sign, t.significand, t.exponent.bits)]
    nodes += [integer_text(t.exponent.low), str(t.fraction_bits), name(r.nan), name(r.inf)]
    return f"(Number {' '.join(nodes)})"


def front_text(x: Front) -> str:
    """A sum before it is rounded as `Fused.v`, front."""
    addends = [
        f"Addend {number_text(r)} {name(r.term.zero)} {name(t.shift)} {name(t.aligned)}"
        f" {x.largest(i)} {operand_span(r)}"
        for i, (t, r) in enumerate(zip(x.total.terms, x.numbers, strict=True))
    ]

    def partial(node: Node) -> str:
        if node not in x.sums:
            return f"(Leaf {name(node)} {x.places[node]}%nat)"
        return f"(Partial {name(node)} {' '.join(partial(y) for y in x.sums[node].of)})"

    places = iter(range(len(x.numbers)))

    def compared(t: Maximum) -> str:
        if not t.halves:
            i = next(places)
            least, most = x.code_range(i)
            return f"(Only {name(t.code)} {i}%nat {least} {most})"
        return f"(Larger {name(t.code)} {' '.join(compared(y) for y in t.halves)})"

    e = x.total.e_max
    return (
        f"(Front [{'; '.join(addends)}] {compared(x.largest_of)} {integer_text(x.largest_of.low)}"
        f" {name(e.bits)} {integer_text(e.low)} {span_of(e)}"
        f" {partial(x.tree)} {name(x.total.bits)})"
    )
