"""The alignment picture: one row per addend at the common exponent, kept and discarded bits separated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.design.unit import UnitSpec
from tcformal.oracle.numerals import number_text
from tcformal.oracle.values import format_value, hex_word, value_and_hex
from tcformal.query.explain.trace import Divergence, Rounding, SumStep, TermRow, Trace, divergence
from tcformal.report.escape import Plain
from tcformal.report.text import WIDTH, console, scale_lines, table, with_decimal
from tcformal.shown import JsonObject

if TYPE_CHECKING:  # who explains units does not wait for programs
    from tcformal.query.explain.program_trace import ProgramStage, ProgramTrace


def result_data(spec: UnitSpec, raw: int) -> dict[str, str]:
    """One result: unit, exact value, encoding."""
    d = spec.operands.d
    return {"unit": spec.name, "value": format_value(d, raw), "hex": hex_word(d, raw)}


def explanation_data(traces: Sequence[Trace]) -> JsonObject:
    """Traces, and the first divergence of two."""
    data: dict[str, object] = {"units": [_call_data(t) for t in traces]}
    if len(traces) == 2:
        x = divergence(*traces)
        data["part_at"] = None if x is None else {"stage": x.stage, "values": [x.first, x.second]}
    return data


def _call_data(t: Trace) -> Plain:
    return {**result_data(t.unit, t.result), "steps": [*map(_step_data, t.steps)]}


def _step_data(step: SumStep) -> Plain:
    terms = [
        {
            "name": t.name, "value": number_text(t.value), "exponent": t.exponent, "kept": t.kept_bits,
            "discarded": t.discarded,
        }
        for t in step.terms
    ]  # fmt: skip
    return {
        "scope": step.scope, "e_max": step.e_max, "fraction_bits": step.fraction_bits,
        "special": step.special, "blamed": list(step.blamed), "nan_of": step.nan_of, "exact": step.exact,
        "terms": terms, "sum": number_text(step.total), "wrapped": step.wrapped,
        "floor": _rounding_data(step.floor), "rounding": _rounding_data(step.rounding),
    }  # fmt: skip


def _rounding_data(x: Rounding | None) -> Plain | None:
    if x is None:
        return None
    return {
        "conversion": x.conversion, "normalised": x.bits, "exponent": x.exponent, "precision": x.precision,
        "away": x.away, "overflow": x.overflow,
    }  # fmt: skip


_KEPT, _CUT, _DIM, _HEAD = "green", "red", "dim", "bold"
#: The least and the greatest width of the column of names and values.
_NAME, _WIDEST_NAME = 26, 44
#: Columns of all else than names and bits, and the bounds of the discarded bits' share.
_FRAME, _LEAST_CUT, _MOST_CUT = len("  exponent  ±|"), 10, 24
#: Columns of a whole part that does not fit as it is.
_SHORT = len("1011[100 zeros]")


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a picture: a name, its value if there is room for it, and the columns after it."""

    name: str
    value: Fraction | None
    rest: Text

    @property
    def long_name(self) -> str:
        """`name = value`."""
        return self.name if self.value is None else f"{self.name} = {number_text(self.value)}"

    def text(self, width: int) -> Text:
        """The line with a first column of `width` characters; a value that does not fit is left out."""
        name = self.long_name if len(self.long_name) <= width else self.name
        return Text(f"{name:<{width}}").append_text(self.rest)


def picture(trace: Trace, width: int = WIDTH) -> RenderableType:
    """The stages of one dot product, block by block, in lines of `width` columns (80 or more)."""
    unit, d = trace.unit, trace.unit.operands.d
    steps = [_title_and_lines(step, width) for step in trace.steps]
    lines = [line for _, made in steps for line in made]
    room = width - max((len(line.rest) for line in lines), default=0)
    longest = max((len(line.long_name) for line in lines), default=0)
    first = max(_NAME, min(room, longest, _WIDEST_NAME))

    parts: list[RenderableType] = [Text(unit.name, style=_HEAD)]
    if unit.design.product_rounding is not None:
        parts.append(Text(f"each product is first rounded: {unit.design.product_rounding}"))
    if unit.design.group is not None:
        scaled = "" if unit.scale_format is None else " and then scaled"
        parts.append(Text(f"each group of {unit.design.group} products is first summed exactly{scaled}"))
    parts.extend(Text(line) for line in scale_lines(unit, trace.witness))
    for title, made in steps:
        parts.append(title)
        parts.extend(line.text(first) for line in made)
    for i, raw in enumerate(trace.block_results[:-1]):
        parts.append(Text(f"result of block {i}: {value_and_hex(d, raw)}"))
    parts.append(Text(f"result: {value_and_hex(d, trace.result)}", style=_HEAD))
    return Group(*parts)


def divergence_text(first: Trace, second: Trace, found: Divergence | None) -> Text:
    """One sentence on the stage where two units diverge, with the value of each."""
    same = first.result == second.result
    if found is None:
        return Text(
            "The two units do the same on these operands." if same else "No stage shows the difference."
        )
    start = "The results are equal, but the units diverge at" if same else "They diverge at"
    return parting_text(found, start)


def parting_text(found: Divergence, start: str = "They diverge at") -> Text:
    """The stage where two units diverge, with the value of each."""
    text = Text(f"{start} {found.stage}:\n", style=_HEAD)
    text.append(f"  {found.units[0]}: {found.first}\n", style="not bold")
    text.append(f"  {found.units[1]}: {found.second}", style="not bold")
    return text


def _title_and_lines(step: SumStep, width: int) -> tuple[Text, list[_Line]]:
    """The title of one sum, and its lines."""
    if step.special:
        return Text(step.title), []
    title = Text(step.title, style="underline")
    if step.of_integers and step.rounding is not None:
        done = step.rounding
        fits = "fits" if not done.overflow else "overflows"
        lines = [_Line(t.name, t.value, Text("")) for t in step.terms if not t.zero]
        lines.append(_Line("sum", step.total, Text(f"  {fits}", style=_CUT if done.overflow else _DIM)))
        return title, [*lines, _Line(done.conversion, done.value, Text(""))]
    return title, _Columns(step, width).lines()


class _Columns:
    """The lines of one sum, with aligned binary points."""

    def __init__(self, step: SumStep, width: int) -> None:
        self.step = step
        self.room = width - _NAME
        most = self.room - _FRAME
        self.live = [t for t in step.terms if not t.zero]
        whole = [_trimmed(t.kept_bits).index(".") for t in self.live]
        self.lead = max(_trimmed(step.total_bits).index("."), *whole, 2)
        if self.lead > most - _LEAST_CUT - len(".0…"):
            self.lead = _SHORT
        left = most - (self.lead + 1 + step.fraction_bits)
        self.most_cut = min(max(left, _LEAST_CUT), _MOST_CUT)
        fitting = most - self.most_cut - self.lead - len(".")
        self.shown = step.fraction_bits if step.fraction_bits <= fitting else max(fitting - len("…"), 1)
        self.width = self.lead + 1 + self.shown + int(step.fraction_bits > self.shown)

    def lines(self) -> list[_Line]:
        """Header, non-zero addends, sum, rounding."""
        step = self.step
        header = self._columns("exponent", "", f"{'±kept bits':<{self.width + 1}}| discarded")
        header.stylize(_DIM)
        lines = [_Line("term", None, header), *map(self._term, self.live), self._total()]
        for done in (step.floor, step.rounding):
            lines += [] if done is None else self._rounding(done)
        return lines

    def _columns(self, exponent: str, sign: str, rest: str = "") -> Text:
        return Text(f"  {exponent:>8}  {sign}{rest}")

    def _bits(self, bits: str) -> str:
        """The kept bits that fit, with the point in its column."""
        whole, _, fraction = _trimmed(bits).partition(".")
        more = "…" if "1" in fraction[self.shown :] else ""
        return f"{self._whole(whole)}.{fraction[: self.shown]}{more}".ljust(self.width)

    def _whole(self, bits: str) -> str:
        """The bits before the point that fit; a long run of last zeros is given as a count."""
        if len(bits) > self.lead:
            ones = bits.rstrip("0")
            text = f"{ones}[{len(bits) - len(ones)} zeros]"
            bits = text if len(text) <= self.lead else f"{bits[: self.lead - 1]}…"
        return bits.rjust(self.lead)

    def _term(self, term: TermRow) -> _Line:
        row = self._columns(str(term.exponent), "-" if term.negative else "+")
        row.append(self._bits(term.kept_bits), style=_KEPT)
        row.append("|")
        row.append(_clipped(term.discarded, self.most_cut), style=_CUT)
        return _Line(term.name, term.value, row)

    def _total(self) -> _Line:
        row = self._columns("", "-" if self.step.total < 0 else "+")
        row.append(self._bits(self.step.total_bits), style=_HEAD)
        row.append("|")
        if self.step.wrapped:
            row.append(" wrapped", style=_CUT)
        if self.step.moved:
            row.append(f" {self.step.moved} ulp by {self.step.moved_by}", style=_CUT)
        return _Line("sum", self.step.total, row)

    def _rounding(self, done: Rounding) -> list[_Line]:
        """The normalised bits, kept and discarded ones separated, and the result."""
        kept, cut = done.bits[: done.precision], done.bits[done.precision :]
        row = self._columns(str(done.exponent) if self.step.total else "", " ")
        spare = self.room - len(row) - len(kept) - len(".|")
        row.append(" " * max(0, min(self.lead - 1, spare)) + f"{kept[0]}.{kept[1:]}", style=_KEPT)
        row.append("|")
        left = self.room - len(row)
        row.append(_clipped(cut.rstrip("0"), min(max(left, 0), _MOST_CUT)), style=_CUT)
        note = "exact" if "1" not in cut else "rounded away" if done.away else "cut"
        notes = [note, f"too large: {done.overflow}"] if done.overflow else [note]
        if len(row) + 1 + len(notes[0]) <= self.room:
            row.append(f" {notes.pop(0)}", style=_DIM)
        rest = [_Line("", None, self._columns("", " ", " " * (self.lead - 1) + note)) for note in notes]
        return [_Line(f"normalised, {done.conversion}", None, row), *rest]


def _clipped(bits: str, most: int) -> str:
    """Discarded bits; a long run of leading zeros is given as a count."""
    if len(bits) <= most:
        return bits
    zeros = len(bits) - len(bits.lstrip("0"))
    lead = f"[{zeros} zeros]"
    text = lead + bits[zeros:] if zeros > len(lead) else bits
    return text if len(text) <= most else text[: most - 1] + "…" if most else ""


def _trimmed(bits: str) -> str:
    """Bits without leading zeros, except the two positions of an unnormalised product."""
    whole, _, fraction = bits.partition(".")
    return f"{whole.lstrip('0').rjust(min(2, len(whole)), '0')}.{fraction}"


def trace_view(trace: ProgramTrace) -> RenderableType:
    """Every stage of a program, with its value."""
    made = table("stage", "what", "value", rows=((x.name, x.text, _words(x)) for x in trace.stages))
    fmt = trace.fmt
    result = Text(f"d = {with_decimal(fmt, trace.result)} ({hex_word(fmt, trace.result)})", style="bold")
    return Group(Text(trace.program.name, style="bold"), made, result)


def _words(stage: ProgramStage) -> str:
    """The first elements of a stage's value, and how many more there are."""
    texts = [value_and_hex(stage.fmt, x) for x in stage.words[:4]]
    rest = len(stage.words) - len(texts)
    return "\n".join([*texts, f"… {rest} more"] if rest else texts)


def trace_data(trace: ProgramTrace) -> Plain:
    """Every stage of a program as plain data, calls with their own."""
    stages = [
        {
            "name": stage.name, "what": stage.text, "format": stage.fmt.name,
            "values": [format_value(stage.fmt, x) for x in stage.words],
            "hex": [hex_word(stage.fmt, x) for x in stage.words],
            **({} if stage.trace is None else {"call": _call_data(stage.trace)}),
        }
        for stage in trace.stages
    ]  # fmt: skip
    value, word = format_value(trace.fmt, trace.result), hex_word(trace.fmt, trace.result)
    return {"program": trace.program.name, "stages": stages, "value": value, "hex": word}


def show_program(trace: ProgramTrace, *, calls: bool = True) -> None:
    """Print the stages of a program, and the inside of each of its calls."""
    out = console()
    out.print(Text(f"d = {value_and_hex(trace.fmt, trace.result)}", style="bold"))
    out.print(trace_view(trace))
    for stage in trace.stages if calls else ():
        if stage.trace is not None:
            out.print()
            out.print(Text(f"{stage.name}: {stage.text}", style="bold"))
            out.print(picture(stage.trace, out.width))


def show_trace(trace: Trace) -> None:
    """Print one picture."""
    show_traces([trace])


def show_traces(traces: Sequence[Trace]) -> None:
    """Print the divergence of two units, or the result of one, then one picture for each."""
    out = console()
    for trace in traces if len(traces) == 1 else ():
        d = trace.unit.operands.d
        out.print(Text(f"d = {value_and_hex(d, trace.result)}", style="bold"))
    if len(traces) == 2:
        out.print(divergence_text(traces[0], traces[1], divergence(traces[0], traces[1])))
    for trace in traces:
        if len(traces) == 2:
            out.print()
        out.print(picture(trace, out.width))
