"""Tables and lines of the command line: witnesses and verdicts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.oracle.values import format_value, hex_word, value_and_hex
from tcformal.query.pair import EqualityQuestion
from tcformal.query.question import Kind
from tcformal.query.verdict import Verdict
from tcformal.report.escape import as_given, say_command, shortened, verbose
from tcformal.report.text import console, headline, many, scale_lines, short_value, table, with_decimal
from tcformal.simulation.operands.witness import Witness

if TYPE_CHECKING:  # two units are compared without arrays
    from tcformal.analysis.differences import Differences

_COLOUR = {
    Kind.SEPARATED: "bold yellow", Kind.EQUIVALENT: "bold green", Kind.VACUOUS: "bold magenta",
    Kind.HOLDS: "bold green", Kind.VIOLATED: "bold yellow",
    Kind.UNKNOWN: "bold red", Kind.TIMEOUT: "bold red", Kind.ERROR: "bold red",
}  # fmt: skip


def verdict_view(v: Verdict[Any]) -> RenderableType:
    """A verdict for people: result, witness, solvers, and time."""
    parts: list[RenderableType] = [headline(v.kind.name, _COLOUR[v.kind], f": {_answer(v)}")]
    if v.kind is Kind.SEPARATED and v.witness is not None:
        parts.append(Text(v.reason, style="dim"))
    if assumed := v.question.conditions():
        parts.append(Text("assumed: " + "; ".join(assumed)))
    if not isinstance(v.question, EqualityQuestion) and v.replayed is not None:
        parts += map(Text, v.question.commands(v.replayed))
    elif v.witness is not None and v.results is not None:
        parts.append(witness_table(v.question.first, v.witness))
        d, pairs = v.question.first.operands.d, zip(v.question.names, v.results, strict=True)
        rows = ((name, with_decimal(d, raw), hex_word(d, raw)) for name, raw in pairs)
        parts.append(table("unit", "result", "encoding", rows=rows))
    if verbose() or v.kind is not Kind.SEPARATED:
        parts.append(_who(v))
    return Group(*parts)


#: Products that a line shows as a sum.
_PRODUCTS = 3


def _answer(v: Verdict[Any]) -> str:
    """What was found: the sum and the two results; else the reason of the verdict."""
    if v.kind is not Kind.SEPARATED or v.witness is None or v.results is None:
        return v.reason
    d = v.question.first.operands.d
    results = (
        f"{short_value(d, raw)} on {shortened(as_given(name))}"
        for name, raw in zip(v.question.names, v.results, strict=True)
    )
    return f"{sum_text(v.question.first, v.witness)} is {' and '.join(results)}"


def sum_text(spec: UnitSpec, w: Witness) -> str:
    """A dot product as `2·1 - 2^-25`, without products that are zero; `a·b + c` where there are many."""
    o = spec.operands
    pairs = Counter((x, y) for x, y in zip(w.a, w.b, strict=True) if x or y)
    if len(pairs) > _PRODUCTS or any(w.scale_a):
        return "a·b + c"
    terms = [
        (f"{n} × " if n > 1 else "") + f"{_factor(o.a, x)}·{_factor(o.b, y)}" for (x, y), n in pairs.items()
    ]
    c = format_value(o.c, w.c)
    made = " + ".join(terms) or "0"
    return made if c == "0" else f"{made} - {c[1:]}" if c.startswith("-") else f"{made} + {c}"


def _factor(fmt: Format, raw: int) -> str:
    text = format_value(fmt, raw)
    return f"({text})" if text.startswith("-") or "*" in text else text


def differences_view(x: Differences) -> None:
    """Print how many elements differ, by how much, and the first of them with the command that shows it."""
    out, most = console(), f"by at most {many(x.largest, 'unit')} in the last place"
    out.print(Text(f"{x.count} of {x.steps.size} elements differ, {most}"))
    out.print(Text(" and ".join(u.name for u in x.units)))
    if x.first is not None:
        at, units = x.first, x.units
        both = " against ".join(value_and_hex(u.d_format, r) for u, r in zip(units, at.results, strict=True))
        out.print(
            Text(f"element [{at.row}, {at.column}] parts first, at k = {at.start}…{at.stop - 1}: {both}")
        )
        say_command(at.command)


def witness_table(spec: UnitSpec, w: Witness) -> RenderableType:
    """The operands, without products that are zero and scales that are 1."""
    o = spec.operands
    shown = [i for i in range(len(w.a)) if w.a[i] or w.b[i]]
    rows = ((str(i), value_and_hex(o.a, w.a[i]), value_and_hex(o.b, w.b[i])) for i in shown)
    made = table(">k", "a[k]", "b[k]", rows=rows)
    rest = len(w.a) - len(shown)
    tail = f"c = {value_and_hex(o.c, w.c)}" + (f"; the other {rest} products are 0·0" if rest else "")
    return Group(made, Text(tail), *(Text(line) for line in scale_lines(spec, w)))


def _who(v: Verdict[Any]) -> Text:
    """The solvers that worked, one by one; those that were not needed, in one row."""
    idle = [a for a in v.answers if a.reason.startswith(("stopped:", "not started:"))]
    texts = [
        f"{a.solver} {a.version} {a.status.value} {a.seconds:.2f} s" + (f" ({a.reason})" if a.reason else "")
        for a in v.answers
        if a not in idle
    ]
    if idle:
        texts.append(f"not needed: {', '.join(a.solver for a in idle)}")
    return Text(f"{'; '.join(texts) or 'no solver was asked'}; {v.seconds:.2f} s in all", style="dim")
