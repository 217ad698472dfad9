"""HTML of its own: a page about one dot product, and the tables that pages and notebooks share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from tcformal.design.unit import UnitSpec
from tcformal.oracle.values import format_value, hex_word
from tcformal.query.explain.trace import Trace, divergence
from tcformal.report.svg.draw import STYLE as PICTURE_STYLE
from tcformal.report.svg.draw import panels_svg, verdict_text
from tcformal.simulation.operands.witness import Witness, by_value, explain_command

STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--soft:#f3f5f7;--line:#c5ccd3;--link:#0b57c2}
@media(prefers-color-scheme:dark){
:root{--ink:#e8edf2;--paper:#14181d;--soft:#1f252c;--line:#46505b;--link:#8ab8ff}}
@media print{:root{color-scheme:light;--ink:#000;--paper:#fff;--soft:#fff;--line:#999;--link:#000}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);
margin:0 auto;max-width:96rem;padding:1rem}
code,pre,td,.mono{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:.9em}
pre{background:var(--soft);padding:.6rem;white-space:pre-wrap;overflow-wrap:anywhere}
.pictures{display:flex;flex-wrap:wrap;gap:1rem}
.picture{overflow-x:auto;border:1px solid var(--line);border-radius:4px;max-width:100%}
.picture svg{display:block}
h1,h2,h3,p,li{overflow-wrap:anywhere}table{border-collapse:collapse;margin:.8rem 0}
th,td{border-bottom:1px solid var(--line);padding:.2rem .7rem;
text-align:left;vertical-align:top;overflow-wrap:anywhere}a{color:var(--link)}
"""


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table of texts, each escaped."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    said = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{said}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def operand_rows(spec: UnitSpec, w: Witness) -> list[tuple[str, str, str]]:
    """Every operand that is not zero, nor a scale of 1: its name, its exact value, its encoding."""
    formats = spec.input_formats()
    rows = []
    for which, words in (("a", w.a), ("b", w.b), ("scale_a", w.scale_a), ("scale_b", w.scale_b)):
        plain = formats[which].one if words and which.startswith("scale") else 0
        rows += [(f"{which}[{i}]", which, x) for i, x in enumerate(words) if x != plain]
    rows.append(("c", "c", w.c))
    return [(name, format_value(formats[x], raw), hex_word(formats[x], raw)) for name, x, raw in rows]


def pictures_html(traces: Sequence[Trace]) -> str:
    """The pictures side by side, or below each other where the page is narrow."""
    # A region that scrolls can be reached by keyboard and has a name.
    return '<div class="pictures">' + "".join(
        f'<div class="picture" tabindex="0" role="region" aria-label="{escape(trace.unit.name)}">{svg}</div>'
        for trace, svg in zip(traces, panels_svg(traces), strict=True)
    ) + "</div>"  # fmt: skip


def explanation_page(traces: Sequence[Trace]) -> str:
    """A page about one dot product on one or two units: command, operands, results, pictures.

    Shapes: one or two traces.  The page needs no other file.
    """
    specs = [trace.unit for trace in traces]
    names = [spec.name for spec in specs]
    # One command needs operands of one length; by values, since the formats of two units may differ.
    command = explain_command(names, traces[0].witness, by_value(specs[0]))
    results = [
        (t.unit.name, format_value(t.unit.operands.d, t.result), hex_word(t.unit.operands.d, t.result))
        for t in traces
    ]
    said = ""
    if len(traces) == 2:
        said = f"<p><strong>{escape(verdict_text(traces, divergence(*traces)))}.</strong></p>"
    title = " and ".join(names)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{STYLE}{PICTURE_STYLE}</style></head>"
        f"<body><main><h1>One dot product on {escape(title)}</h1><pre>{escape(command)}</pre>{said}"
        f"{html_table(('unit', 'result', 'encoding'), results)}"
        f"{pictures_html(traces)}<h2>Operands</h2><p>All other products are zero.</p>"
        f"{html_table(('operand', 'value', 'encoding'), operand_rows(specs[0], traces[0].witness))}"
        "</main></body></html>\n"
    )
