"""What a notebook shows of a value; apart, because it is imported when a notebook asks."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from tcformal.design.operations import operation
from tcformal.identification.identification import Identification
from tcformal.oracle.values import format_value, hex_word
from tcformal.query.claims.claim_verdict import ClaimVerdict
from tcformal.query.explain.explain import explain_witness
from tcformal.query.explain.trace import Trace
from tcformal.query.pair import EqualityQuestion
from tcformal.query.verdict import Verdict
from tcformal.report.identified import growth_picture, identification_view
from tcformal.report.parameter_facts import stated
from tcformal.report.parts import plain
from tcformal.report.svg import STYLE, html_table, operand_rows, picture_svg, pictures_html
from tcformal.shown import view
from tcformal.simulation.matrix_unit import Unit


def svg(trace: Trace) -> str:
    """The alignment picture of one dot product."""
    return picture_svg([trace])


def html(value: Any) -> str | None:
    """What a notebook shows: a picture or tables, else the text of `print`; None where there is neither."""
    for kind, made in _MADE.items():
        if isinstance(value, kind):
            return made(value)
    text = view("text", value)
    return None if text is None else f'<pre style="font-family:monospace">{escape(text)}</pre>'


def trace_html(trace: Trace) -> str:
    """The same picture, which follows the page's colours and scrolls by itself."""
    return f"<style>{STYLE}</style>{pictures_html([trace])}"


def unit_html(u: Unit) -> str:
    """The shape and the formula of a unit, and each parameter with its evidence and source."""
    spec, op = u.spec, operation(u.spec)
    rows = [
        (name, "none" if x.value is None else str(x.value), x.evidence or "", x.source or "")
        for name, x in stated(spec.design.parameters(), spec.facts).items()
    ]
    shape = f"D[{spec.m},{spec.n}] = A[{spec.m},{spec.k}] · B[{spec.k},{spec.n}] + C ({spec.operands})"
    return (
        f"<strong>{escape(spec.title)}</strong><br>{escape(shape)}<br>{escape(f'{op.name}: {op.formula}')}"
        + html_table(("parameter", "value", "evidence", "source"), rows)
    )


def verdict_html(v: Verdict[Any]) -> str:
    """A verdict with its reason; of two units that differ, the operands, results and pictures."""
    head = f"<strong>{escape(v.kind.name)}</strong>: {escape(v.reason)}"
    if not isinstance(v.question, EqualityQuestion) or v.witness is None or v.results is None:
        return head
    first, second = v.question.first, v.question.second
    results = [
        (spec.shown, format_value(first.operands.d, raw), hex_word(first.operands.d, raw))
        for spec, raw in zip((first, second), v.results, strict=True)
    ]
    traces = [explain_witness(spec, v.witness) for spec in (first, second)]
    return (
        head + html_table(("operand", "value", "encoding"), operand_rows(first, v.witness))
        + html_table(("unit", "result", "encoding"), results)
        + f"<style>{STYLE}</style>" + pictures_html(traces)
    )  # fmt: skip


def claim_html(v: ClaimVerdict) -> str:
    """A claim's verdict, with the theorem that answers it, or each part with its status."""
    head = f"<strong>{escape(v.kind.name)}</strong>: {escape(v.claim)} of {escape(v.unit.shown)}: "
    if v.theorem is not None:
        columns, rests = ("theorem", "source", "rests on"), "; ".join(v.theorem.rests_on)
        return head + escape(v.reason) + html_table(columns, [(v.theorem.name, v.theorem.source, rests)])
    rows = [(part.name, part.status.value, "control" if part.control else "") for part in v.parts]
    return head + escape(v.reason) + html_table(("part", "status", ""), rows)


def identification_html(found: Identification) -> str:
    """The verdict as the command line prints it, and how many designs were left after each question."""
    lines = "\n".join(plain(part) for part in identification_view(found))
    picture = growth_picture(found.space, found.growth) if found.growth else ""
    return f'<pre style="font-family:monospace">{escape(lines)}</pre>{picture}'


#: The views that are more than text.
_MADE: dict[type, Callable[[Any], str]] = {
    Trace: trace_html, Unit: unit_html, Verdict: verdict_html, ClaimVerdict: claim_html,
    Identification: identification_html,
}  # fmt: skip
