"""The alignment picture: one row per addend at the common exponent, kept and discarded bits apart."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.oracle.values import format_value, number_text
from tcformal.query.explain import Parting, SumStep, TermRow, Trace
from tcformal.report.text import hex_word

_KEPT, _CUT, _DIM, _HEAD = "green", "red", "dim", "bold"
#: Columns of a row's name and value, and the most discarded bits shown.
_NAME, _MOST_CUT = 26, 28


def picture(trace: Trace) -> RenderableType:
    """Everything one dot product does, block by block."""
    parts: list[RenderableType] = [Text(trace.unit.name, style=_HEAD)]
    for step in trace.steps:
        parts.extend(_sum(step))
    d = trace.unit.operands.d
    for i, raw in enumerate(trace.block_results[:-1]):
        parts.append(Text(f"result of block {i}: {format_value(d, raw)} ({hex_word(d, raw)})"))
    parts.append(Text(f"result: {format_value(d, trace.result)} ({hex_word(d, trace.result)})", style=_HEAD))
    return Group(*parts)


def parting_text(first: Trace, second: Trace, found: Parting | None) -> Text:
    """One sentence on where two units part."""
    if found is None:
        same = first.result == second.result
        return Text(
            "The two units do the same on these operands." if same else "No stage shows the difference."
        )
    text = Text(f"They part at {found.stage}:\n", style=_HEAD)
    text.append(f"  {first.unit.name}: {found.first}\n")
    text.append(f"  {second.unit.name}: {found.second}")
    return text


def _sum(step: SumStep) -> list[RenderableType]:
    if step.special:
        return [Text(f"{step.scope}: an operand or product is NaN or Inf: the sum is {step.special}")]
    live = [t for t in step.terms if not t.zero]
    zeros = len(step.terms) - len(live)
    title = f"{step.scope}: {len(step.terms)} terms at e_max = {step.e_max}, "
    title += f"{step.fraction_bits} fraction bits kept"
    if zeros:
        title += f" ({zeros} zero terms not shown)"
    rows: list[RenderableType] = [Text(title, style="underline")]
    header = f"{'term':<{_NAME}}  exponent  sign and kept bits"
    rows.append(Text(header + " " * max(1, step.fraction_bits - 16) + "| discarded", style=_DIM))
    width = max((len(t.kept_bits) for t in live), default=step.fraction_bits + 3)
    width = max(width, len(_without_lead(step.total_bits)))
    rows.extend(_term(t, width) for t in live)
    rows.append(_total(step, width))
    rows.append(_rounding(step))
    return rows


def _term(term: TermRow, width: int) -> Text:
    name = f"{term.name} = {number_text(term.value)}"
    if len(name) > _NAME:
        name = f"{term.name}"
    row = Text(f"{name:<{_NAME}}  {term.exponent:>8}  {'-' if term.negative else '+'}")
    row.append(term.kept_bits.rjust(width), style=_KEPT)
    row.append("|")
    if term.discarded:
        row.append(_clipped(term.discarded), style=_CUT)
    return row


def _clipped(bits: str) -> str:
    """Discarded bits, a long run of leading zeros counted instead of printed."""
    zeros = len(bits) - len(bits.lstrip("0"))
    if len(bits) <= _MOST_CUT:
        return bits
    body = bits[zeros:]
    return f"[{zeros} zeros]{body if len(body) <= _MOST_CUT else body[:_MOST_CUT] + '…'}"


def _without_lead(bits: str) -> str:
    whole, _, fraction = bits.partition(".")
    return f"{whole.lstrip('0').rjust(2, '0')}.{fraction}"


def _total(step: SumStep, width: int) -> Text:
    text = f"sum = {number_text(step.total)}"
    row = Text(f"{text:<{_NAME}}" if len(text) <= _NAME else f"{'sum':<{_NAME}}")
    row.append(f"  {'':>8}  {'-' if step.total < 0 else '+'}")
    row.append(_without_lead(step.total_bits).rjust(width), style=_HEAD)
    row.append("|")
    return row


def _rounding(step: SumStep) -> Text:
    """Normalised bits, those that the conversion keeps apart from those that it drops."""
    kept, cut = step.normalised_bits[: step.precision], step.normalised_bits[step.precision :]
    away = "one unit in the last place added" if step.rounded_away else "dropped bits cut"
    row = Text(f"{'normalised, ' + step.conversion:<{_NAME}}  {'':>8}   ")
    row.append(f"{kept[0]}.{kept[1:]}", style=_KEPT)
    row.append("|")
    row.append(cut.rstrip("0") or "0", style=_CUT)
    row.append(f"  {away}" if "1" in cut else "  exact", style=_DIM)
    return row
