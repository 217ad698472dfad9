"""Views of how far results are apart."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from tcformal.analysis.distance import LargestDistance
from tcformal.analysis.monotonicity import Fall, Monotonicity
from tcformal.oracle.numerals import number_text
from tcformal.oracle.values import format_value, value_data
from tcformal.query.question import Kind
from tcformal.report.escape import say
from tcformal.report.numbers.accuracy import in_units, theorem_data, theorem_text
from tcformal.report.text import console, table
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.operands.witness import by_value, explain_command
from tcformal.simulation.runnable import RunnableProgram

#: Elements of inputs that are shown as a command at most.
_SHOWN = 64
#: What may grow, and how it is called.
_OPERANDS = {"c": "c", "a": "factor"}
#: What the verdicts about them rest on.
_MEANS = {
    Kind.VIOLATED: "by the inputs shown, replayed on integers and on fractions",
    Kind.HOLDS: "so that the defect is 0",
    Kind.UNKNOWN: "no fall was found, which excludes nothing",
}


def monotonicity_data(m: Monotonicity, x: Unit | RunnableProgram) -> dict[str, Any]:
    """What is known of falls as plain data; fractions as text."""
    return {
        "name": m.name,
        "length": m.length,
        "verdicts": {operand: m.verdict(operand).name for operand in _OPERANDS},
        "falls": [_fall_data(f, x) for f in m.falls],
        "claim": None if m.claim is None else {"verdict": m.claim.kind.name, "reason": m.claim.reason},
        "proved": m.proved,
    }


def _fall_data(f: Fall, x: Unit | RunnableProgram) -> dict[str, Any]:
    return {
        "operand": f.operand,
        "ulps": float(f.ulps),
        "relative": float(f.relative),
        "fall": str(f.fall),
        "growth": str(f.growth),
        "results": [value_data(x.d_format, r) for r in f.results],
        "inputs": [{k: hex(v) for k, v in w.inputs().items() if v} for w in (f.first, f.second)],
    }


def monotonicity_view(m: Monotonicity, x: Unit | RunnableProgram) -> None:
    """Print the largest falls, with their inputs, and the theorem."""
    made = table("grows", "from", "to", ">falls by, ulps", ">u·(Σ|a·b| + |c|)", "result", "to")
    for f in m.falls:
        own = (f.first.c, f.second.c) if f.operand == "c" else (f.first.a[0], f.second.a[0])
        fmt = x.c_format if f.operand == "c" else x.a_format
        words = [format_value(fmt, w) for w in own] + [format_value(x.d_format, r) for r in f.results]
        made.add_row(f.operand, *words[:2], number_text(f.ulps), f"{float(f.relative):.6g}", *words[2:])
    console().print(
        Text(f"{m.name}: falls of the result of {m.length} products where an operand grows by one step")
    )
    if m.falls:
        console().print(made)
    lines = []
    for operand, name in _OPERANDS.items():
        kind = m.verdict(operand)
        lines.append(f"no larger {name} gives a smaller result: {kind.name}, {_MEANS[kind]}")
    if m.claim is not None:
        lines.append(f"claim monotonicity, of a larger c: {m.claim.kind.name}; {m.claim.reason}")
    console().print(Text("\n".join(lines)))
    if not isinstance(x, Unit):
        return
    for w in (w for f in m.falls for w in (f.first, f.second) if len(w.a) <= _SHOWN):
        # A command is not wrapped: it is to be copied.
        say(explain_command([x.name], w, by_value(x.spec), command="eval"))


def distance_data(x: LargestDistance) -> dict[str, Any]:
    """The largest distance of two units as plain data; fractions as text."""
    d = x.units[0].d_format
    return {
        "units": [u.name for u in x.units],
        "length": x.length,
        "bound": {"exact": str(x.bound), "value": float(x.bound)},
        "attained": {"exact": str(x.attained), "value": float(x.attained)},
        "results": [value_data(d, r) for r in x.results],
        "inputs": {k: hex(v) for k, v in x.inputs.inputs().items() if v},
        "theorems": [{"unit": t.unit.name, **theorem_data(t.unit, t)} for t in x.theorems],
    }


def distance_view(x: LargestDistance) -> None:
    """Print how far results of two units can be apart, and are on the inputs."""
    made = table("of Σ|x_k·y_k|", "distance", "how")
    how = "what both lose, by theorems"
    how += ", and twice the products that one of them takes away" if x.other_signs else ""
    made.add_row("bound", in_units(x.bound, up=True), how)
    made.add_row("attained", in_units(x.attained, up=False), "inputs, replayed twice")
    names = " and ".join(u.name for u in x.units)
    console().print(Text(f"{names}: the largest |fl1 - fl2| of {x.length} products, c = 0, normal operands"))
    console().print(made)
    lines = [f"{t.unit.name}: {theorem_text(t.unit, t)}" for t in x.theorems]
    console().print(Text("\n".join(lines)))
    if len(x.inputs.a) <= _SHOWN:
        say(explain_command([u.name for u in x.units], x.inputs, by_value(x.units[0]), command="eval"))
