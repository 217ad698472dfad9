"""The alignment picture as SVG text: outlines and hatching beside colour, light and dark, with its words."""

from __future__ import annotations

import math
import textwrap
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign
from tcformal.oracle.numerals import number_text
from tcformal.oracle.values import format_value, hex_word, value_and_hex
from tcformal.query.explain.trace import Divergence, Rounding, SumStep, TermRow, Trace, divergence
from tcformal.simulation.operands.witness import Witness, by_value, explain_command

#: Most columns of kept fraction bits, and of discarded bits; longer runs are shortened.
_MOST_KEPT, _MOST_CUT = 40, 24


@dataclass(frozen=True, slots=True)
class BitRun:
    """A run of digits in one row.

    Ranges and units: `column` is that of the first digit, 0 the one of weight 2^e_max, 1 the next lower;
    `role` is `kept`, `cut` or `carry`.
    """

    column: int
    digits: str
    role: str


@dataclass(frozen=True, slots=True)
class BitRow:
    """One row: a name with its value, an exponent, a sign, the bits, a remark."""

    name: str
    exponent: str = ""
    sign: str = ""
    bits: tuple[BitRun, ...] = ()
    note: str = ""
    #: Whether two units first differ here.
    marked: bool = False
    #: `term`, `sum` or `rounded`: how the row is drawn.
    kind: str = "term"


@dataclass(frozen=True, slots=True)
class SumBlock:
    """One sum: a title in words, and its rows.

    Ranges and units: the kept columns are -lead+1 … fraction; the line between kept and discarded bits
    comes after column `fraction`, the last one that is drawn.
    """

    title: str
    rows: tuple[BitRow, ...] = ()
    lead: int = 1
    fraction: int = 0
    cut: int = 0
    #: Whether kept columns below `fraction` are left out.
    shortened: bool = False
    marked: bool = False


def blocks(trace: Trace, found: Divergence | None = None) -> list[SumBlock]:
    """The sums of one dot product, the stage of a divergence marked in them."""
    return [
        SumBlock(step.title, marked=_is(found, i, "special"))
        if step.special
        else _Sum(step, found, i).block()
        for i, step in enumerate(trace.steps)
    ]


def description(parts: Sequence[SumBlock], head: str, tail: str) -> str:
    """The picture in words, for those who do not see it."""

    def lines() -> Iterator[str]:
        yield head
        for part in parts:
            yield part.title + (" (the units first differ here)" if part.marked else "")
            for row in part.rows:
                bits = ", ".join(f"{_ROLES[b.role]} {b.digits}" for b in row.bits)
                words = (
                    row.name, f"exponent {row.exponent}" if row.exponent else "",
                    {"-": "negative", "+": "positive"}.get(row.sign, ""), bits, row.note,
                    "the units first differ here" if row.marked else "",
                )  # fmt: skip
                yield "; ".join(word for word in words if word)
        yield tail

    return ". ".join(lines())


_ROLES = {"kept": "bits", "cut": "discarded", "carry": "carry bits"}


def _is(found: Divergence | None, step: int, part: str, term: str = "") -> bool:
    """Whether the divergence is this part of this sum."""
    return found is not None and (found.step, found.part, found.term) == (step, part, term)


class _Sum:
    """The rows of one sum with one set of columns."""

    def __init__(self, step: SumStep, found: Divergence | None, number: int) -> None:
        self.step, self.found, self.number = step, found, number
        self.live = [term for term in step.terms if not term.zero]
        texts = [term.kept_bits for term in self.live] + [step.total_bits]
        self.lead = max(2, *(len(bits.partition(".")[0].lstrip("0")) for bits in texts))
        self.fraction = min(step.fraction_bits, _MOST_KEPT)

    def block(self) -> SumBlock:
        """Title, addends, sum and rounding."""
        step = self.step
        rows = [*map(self._term, self.live), self._total()]
        rows += [self._rounded(done) for done in (step.floor, step.rounding) if done is not None]
        edge = self.fraction
        cut = max((b.column + len(b.digits) - edge - 1 for row in rows for b in row.bits), default=0)
        marked, short = self._is("order") or self._is("e_max"), edge < step.fraction_bits
        return SumBlock(step.title, tuple(rows), self.lead, edge, max(0, cut), short, marked)

    def _is(self, part: str, term: str = "") -> bool:
        return _is(self.found, self.number, part, term)

    def _kept(self, bits: str) -> BitRun:
        """The bits above the cut, without leading zeros; those that have no column are left out."""
        whole, _, fraction = bits.partition(".")
        digits = whole + fraction[: self.fraction]
        first = len(digits) - len(digits.lstrip("0"))
        return BitRun(first - len(whole) + 1, digits[first:], "kept")

    def _term(self, term: TermRow) -> BitRow:
        cut = _clipped(term.discarded)
        bits = (self._kept(term.kept_bits), BitRun(self.fraction + 1, cut, "cut"))
        beyond = "1" in term.kept_bits.partition(".")[2][self.fraction :]
        note = "more bits are kept than are drawn" if beyond else "" if term.kept else "all cut"
        name, sign = f"{term.name} = {number_text(term.value)}", "-" if term.negative else "+"
        return BitRow(name, str(term.exponent), sign, _some(bits), note, self._is("term", term.name))

    def _total(self) -> BitRow:
        step = self.step
        kept = self._kept(step.total_bits)
        highest = min((self._kept(term.kept_bits).column for term in self.live
                       if "1" in term.kept_bits), default=kept.column)  # fmt: skip
        carries = max(0, highest - kept.column) if kept.digits else 0
        bits = (
            BitRun(kept.column, kept.digits[:carries], "carry"),
            BitRun(kept.column + carries, kept.digits[carries:], "kept"),
        )
        notes = [f"{carries} carry bit{'s' * (carries > 1)}"] if carries else []
        notes += ["wrapped: the sum has more bits than are carried"] if step.wrapped else []
        notes += [f"{step.moved} units by {step.moved_by}"] if step.moved else []
        name, sign = f"sum = {number_text(step.total)}", "-" if step.total < 0 else "+"
        return BitRow(name, "", sign, _some(bits), "; ".join(notes), self._is("sum"), "sum")

    def _rounded(self, done: Rounding) -> BitRow:
        kept, cut = done.bits[: done.precision], done.bits[done.precision :].rstrip("0")
        notes = []
        if self.step.total:
            by = done.exponent - self.step.e_max
            way = "right" if by > 0 else "left"
            notes.append(f"normalised: {abs(by)} to the {way}" if by else "already normalised")
        notes.append("exact" if "1" not in cut else "rounded away from zero" if done.away else "cut")
        if done.overflow:
            notes.append(f"too large: {done.overflow}")
        kept = kept if len(kept) <= _MOST_KEPT else kept[: _MOST_KEPT - 1] + "…"
        bits = (BitRun(0, kept, "kept"), BitRun(len(kept), _clipped(cut), "cut"))
        name, sign = f"{done.conversion} = {number_text(done.value)}", "-" if done.value < 0 else "+"
        exponent, marked = str(done.exponent) if self.step.total else "", self._is("rounding")
        return BitRow(name, exponent, sign, _some(bits), "; ".join(notes), marked, "rounded")


def _some(bits: Sequence[BitRun]) -> tuple[BitRun, ...]:
    """The runs that have digits."""
    return tuple(b for b in bits if b.digits)


def _clipped(bits: str) -> str:
    """Discarded bits; of a long run the end is left out."""
    return bits if len(bits) <= _MOST_CUT else bits[: _MOST_CUT - 1] + "…"


#: Sizes in units of the picture: a bit, a row, a character of text, the margin, and between two panels.
_BIT, _ROW, _CHAR, _EDGE, _GAP = 11, 20, 7.3, 14, 28
#: Most characters of a name, and of a line of words; of one where names stand above their bits.
_MOST_NAME, _LINE, _NARROW = 46, 92, 50

#: Colours of daylight, and of the dark; contrast of text at least 4.5 in both.
_LIGHT = ("#1b1f24", "#57606a", "#ffffff", "#0b5c2e", "#a40e26", "#1f4fa8", "#8a4b00", "#e3f3e8", "#fbe3e3")
_DARK = ("#e8edf2", "#a2acb8", "#14181d", "#7ee2a0", "#ff9aa2", "#9cc3ff", "#ffc36b", "#12331f", "#401b20")
_NAMES = ("ink", "dim", "paper", "kept", "cut", "carry", "mark", "kept-fill", "cut-fill")


def _colours(values: Sequence[str]) -> str:
    return "".join(f"--tc-{name}:{value};" for name, value in zip(_NAMES, values, strict=True))


STYLE = (
    f".tc{{{_colours(_LIGHT)}font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}}"
    f"@media (prefers-color-scheme:dark){{.tc{{{_colours(_DARK)}}}}}"
    f"@media print{{.tc{{{_colours(_LIGHT)}}}}}"
    ".tc text{fill:var(--tc-ink)}.tc .paper{fill:var(--tc-paper)}.tc .h{font-weight:700}"
    ".tc .dim{fill:var(--tc-dim)}.tc .one{font-weight:700}.tc .zero{opacity:.75}"
    ".tc text.kept{fill:var(--tc-kept)}.tc text.cut{fill:var(--tc-cut)}.tc text.carry{fill:var(--tc-carry)}"
    ".tc text.mark{fill:var(--tc-mark);font-weight:700}"
    ".tc rect.kept{fill:var(--tc-kept-fill);stroke:var(--tc-kept)}"
    ".tc rect.cut{stroke:var(--tc-cut);stroke-dasharray:3 2}"
    ".tc rect.carry{fill:none;stroke:var(--tc-carry);stroke-width:2}"
    ".tc rect.field{fill:none;stroke:var(--tc-dim)}"
    ".tc rect.mark{fill:none;stroke:var(--tc-mark);stroke-width:2.5;stroke-dasharray:7 3}"
    ".tc line{stroke:var(--tc-dim)}.tc .hatch{fill:var(--tc-cut-fill)}.tc .hatch-line{stroke:var(--tc-cut)}"
)


def picture_svg(traces: Sequence[Trace]) -> str:
    """One picture of the same operands on one or two units, the first difference of two marked.

    Shapes: one or two traces.
    Errors: none; a NaN or Inf is said in words.
    """
    found = divergence(*traces) if len(traces) == 2 else None
    said = verdict_text(traces, found) if len(traces) == 2 else ""
    names = max(_Panel(trace, found).name for trace in traces)
    panels = [_Panel(trace, found, names) for trace in traces]
    return _svg(panels, said, bool(found), f"<style>{STYLE}</style>")


def panels_svg(traces: Sequence[Trace]) -> list[str]:
    """The same as one narrow picture for each unit, names above bits, for pages that have STYLE."""
    found = divergence(*traces) if len(traces) == 2 else None
    return [_svg([_Panel(trace, found, narrow=True)], "", False, "") for trace in traces]


def _svg(panels: Sequence[_Panel], said: str, differ: bool, style: str) -> str:
    """Panels one below the other, under one line of words."""
    top = _EDGE + (_ROW if said else 0)
    width = max(len(said) * _CHAR, *(panel.width for panel in panels)) + 2 * _EDGE
    height = top + sum(panel.height for panel in panels) + _GAP * (len(panels) - 1) + _EDGE
    title = " and ".join(panel.trace.unit.title for panel in panels)
    words = " ".join([*(panel.words for panel in panels), said]).strip()
    key = f"tc{zlib.crc32((title + words).encode()):08x}"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tc" role="img" aria-labelledby="{key}t {key}d" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
        # On a page it shrinks to what is still read.
        + ("" if style else f' style="min-width:{width * 0.8:.0f}px"')
        + ">",
        f'<title id="{key}t">Alignment picture of {escape(title)}</title>',
        f'<desc id="{key}d">{escape(words)}</desc>',
        style,
        f'<defs><pattern id="{key}h" width="6" height="6" patternUnits="userSpaceOnUse">'
        '<rect class="hatch" width="6" height="6"/><path class="hatch-line" d="M0 6L6 0" stroke-width=".8"/>'
        "</pattern></defs>",
        f'<rect class="paper" width="{width:g}" height="{height:g}"/>',
    ]
    if said:
        out.append(_text(_EDGE, _EDGE + 8, said, "mark" if differ else "h"))
    y = float(top)
    for panel in panels:
        out.append(f'<g transform="translate({_EDGE} {y:g})">')
        out += panel.draw(key)
        out.append("</g>")
        y += panel.height + _GAP
    return "".join([*out, "</svg>"])


def verdict_text(traces: Sequence[Trace], found: Divergence | None) -> str:
    """One line on where two units differ."""
    same = traces[0].result == traces[1].result
    if found is None:
        return "Both units do the same on these operands." if same else "No stage shows the difference."
    start = "Equal results, but they first differ at" if same else "They first differ at"
    return f"{start} {found.stage}: {found.first}, and {found.second}"


class _Panel:
    """The part of a picture that belongs to one unit.

    `names`: the least width of the column of names.  `narrow`: names stand above their bits instead.
    """

    def __init__(
        self, trace: Trace, found: Divergence | None, names: int = 0, *, narrow: bool = False
    ) -> None:
        shown = blocks(trace, found)
        self.trace, self.blocks, self.narrow = trace, _telling(shown) if narrow else shown, narrow
        self.line, self.row = (_NARROW, 2 * _ROW - 4) if narrow else (_LINE, _ROW)
        d = trace.unit.operands.d
        self.result = f"result: {value_and_hex(d, trace.result)}"
        self.result_marked = found is not None and found.part == "result"
        self.words = description(self.blocks, f"{trace.unit.title}.", f"{self.result}.")
        rows = [row for block in self.blocks for row in block.rows]
        longest = max((len(row.name) for row in rows), default=0)
        self.name = 0 if narrow else max(math.ceil(min(longest, _MOST_NAME) * _CHAR) + 8, names)
        self.lead = max((block.lead for block in self.blocks), default=1)
        columns = max((block.fraction + block.cut for block in self.blocks), default=0)
        self.bits = self.name + 52 + self.lead * _BIT
        heads = max((self._x(b, b.fraction + 1) + 9 * _CHAR for b in self.blocks if b.cut), default=0)
        self.right = max(self.bits + (columns + 2) * _BIT + 10, heads)
        lines = [line for block in self.blocks for line in self._title(block)]
        words = max(map(len, [trace.unit.title, self.result, *lines]))
        ends = [self._end(block, row) for block in self.blocks for row in block.rows]
        self.width = max(words * _CHAR + 8, (d.width + 4) * _BIT, *ends)
        words_height = _ROW * (2.5 + len(lines) + 1.5 * sum(bool(b.rows) for b in self.blocks))
        self.height = words_height + self.row * len(rows) + 34

    def _end(self, block: SumBlock, row: BitRow) -> float:
        """The right edge of a row, with its remark."""
        last = max([b.column + len(b.digits) for b in row.bits], default=0)
        bits, note = max(self.right, self._x(block, last) + 12), len(_note(row)) * _CHAR
        return max(bits, len(_name(row)) * _CHAR + 8 + note) if self.narrow else bits + note

    def draw(self, key: str) -> Iterator[str]:
        """The elements, from the top down."""
        y = 8.0
        yield _text(0, y, self.trace.unit.title, "h")
        for block in self.blocks:
            y += 6
            for line in self._title(block):
                y += _ROW
                yield _text(0, y, line, "mark" if block.marked else "")
            if block.rows:
                y += _ROW
                yield from self._header(block, y)
            for row in block.rows:
                y += self.row
                yield from self._row(block, row, y, key)
        y += 1.5 * _ROW
        yield _text(
            0, y, self.result + "  ◀ differ" * self.result_marked, "mark" if self.result_marked else "h"
        )
        yield from _word(self.trace.unit.operands.d, self.trace.result, y + 10)

    def _title(self, block: SumBlock) -> list[str]:
        return textwrap.wrap(block.title, self.line, break_long_words=False, break_on_hyphens=False)

    def _x(self, block: SumBlock, column: int) -> float:
        """The left edge of a column; a gap holds the point, and another one the line of the cut."""
        point = 4 if column >= 1 else 0
        cut = 8 if column > block.fraction else 0
        return self.bits + (column - 1) * _BIT + point + cut

    def _header(self, block: SumBlock, y: float) -> Iterator[str]:
        yield _text(0, y, "" if self.narrow else "term", "dim")
        yield _text(self.name + 34, y, "exp.", "dim", "end")
        kept = "kept bits" + (", some not drawn" if block.shortened else "")
        yield _text(self._x(block, 1 - block.lead), y, kept, "dim")
        if block.cut:
            yield _text(self._x(block, block.fraction + 1), y, "discarded", "dim")
        below = y + 5 + self.row * sum(row.kind != "rounded" for row in block.rows)
        line = self._x(block, block.fraction + 1) - 4
        yield f'<line x1="{line:g}" x2="{line:g}" y1="{y + 5:g}" y2="{below:g}" stroke-width="2"/>'

    def _row(self, block: SumBlock, row: BitRow, y: float, key: str) -> Iterator[str]:
        name, up = _name(row), self.row - _ROW
        yield _text(0, y - up, name, "h" if row.kind == "sum" else "")
        if row.kind == "sum":
            end, above = self._x(block, block.fraction + 1), y - up - 14
            yield f'<line x1="0" x2="{end:g}" y1="{above:g}" y2="{above:g}"/>'
        yield _text(self.name + 34, y, row.exponent, "dim", "end")
        yield _text(self.name + 40, y, row.sign.replace("-", "−"), "")
        last = float(self.right)
        for bits in row.bits:
            # A rounded row has its own cut, behind the bits that the result keeps.
            xs = [self._x(block, bits.column + i) for i in range(len(bits.digits))]
            if row.kind == "rounded" and bits.role == "cut":
                xs = [x + 4 for x in xs]
            yield from _bits(bits, xs, y, key)
            if bits.column <= 0 < bits.column + len(bits.digits):
                yield f'<circle class="dim" cx="{self._x(block, 1) - 2:g}" cy="{y - 1:g}" r="1.6"/>'
            last = max(last, xs[-1] + _BIT + 8)
        note = len(name) * _CHAR + 8 if self.narrow else last
        yield _text(note, y - up, _note(row), "mark" if row.marked else "dim")
        if row.marked:
            at = f'x="-5" y="{y - up - 15:g}" width="{last:g}" height="{self.row:g}"'
            yield f'<rect class="mark" {at} rx="3"/>'


def _telling(shown: Sequence[SumBlock]) -> list[SumBlock]:
    """The first sum, and those that do not leave their only term as it is; each run of these is one line."""
    made = list(shown[:1])
    for idle, run in groupby(shown[1:], key=_idle):
        some = list(run)
        several = "1 sum leaves its" if len(some) == 1 else f"{len(some)} sums leave their"
        made += [SumBlock(f"{several} only term as it is")] if idle else some
    return made


def _idle(block: SumBlock) -> bool:
    """Whether a sum has one addend at most, and changes no bit of it."""
    marked = block.marked or any(row.marked for row in block.rows)
    terms = sum(row.kind == "term" for row in block.rows)
    plain = all(row.note.endswith("exact") if row.kind == "rounded" else not row.note for row in block.rows)
    return bool(block.rows) and terms <= 1 and plain and not marked


def _name(row: BitRow) -> str:
    """The name of a row, the end of a long one left out."""
    return row.name if len(row.name) <= _MOST_NAME else row.name[: _MOST_NAME - 1] + "…"


def _note(row: BitRow) -> str:
    """The remark of a row."""
    return "; ".join([row.note] * bool(row.note) + ["◀ first difference"] * row.marked)


def _bits(bits: BitRun, xs: Sequence[float], y: float, key: str) -> Iterator[str]:
    """A run of digits in its box: an outline for what is kept, dashes and hatching for what is cut."""
    fill = f' fill="url(#{key}h)"' if bits.role == "cut" else ""
    width = xs[-1] - xs[0] + _BIT
    yield f'<rect class="{bits.role}" x="{xs[0]:g}" y="{y - 12:g}" width="{width:g}" height="16"{fill}/>'
    for style, wanted in (("one", "1…"), ("zero", "0")):
        places = [(x, digit) for x, digit in zip(xs, bits.digits, strict=True) if digit in wanted]
        if places:
            at = " ".join(f"{x + 2:g}" for x, _ in places)
            digits = "".join(digit for _, digit in places)
            yield f'<text class="{style} {bits.role}" x="{at}" y="{y:g}">{digits}</text>'


def _word(fmt: Format, raw: int, y: float) -> Iterator[str]:
    """The encoding of a result, its fields in boxes: sign, exponent, fraction."""
    digits = f"{raw:0{fmt.width}b}"
    signed = int(fmt.sign is not Sign.ABSENT)
    fields = [signed, fmt.exponent_bits, fmt.width - signed - fmt.exponent_bits]
    x, start = 1.0, 0
    for size in fields:
        part = digits[start : start + size]
        start += size
        if part:
            yield f'<rect class="field" x="{x:g}" y="{y:g}" width="{size * _BIT:g}" height="17"/>'
            at = " ".join(f"{x + i * _BIT + 2:g}" for i in range(size))
            yield f'<text x="{at}" y="{y + 13:g}">{part}</text>'
        x += size * _BIT + 5


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "") -> str:
    """One line of text; nothing for an empty one."""
    if not text:
        return ""
    end = f' text-anchor="{anchor}"' if anchor else ""
    kind = f' class="{style}"' if style else ""
    return f'<text{kind} x="{x:g}" y="{y:g}"{end}>{escape(text)}</text>'


#: The style of pages: of the report, and of one dot product.
PAGE_STYLE = """
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


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts, each escaped."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


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
        f'<div class="picture" tabindex="0" role="group" aria-label="{escape(trace.unit.title)}">{svg}</div>'
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
        (t.unit.title, format_value(t.unit.operands.d, t.result), hex_word(t.unit.operands.d, t.result))
        for t in traces
    ]
    said = ""
    if len(traces) == 2:
        said = f"<p><strong>{escape(verdict_text(traces, divergence(*traces)))}.</strong></p>"
    title = " and ".join(names)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{PAGE_STYLE}{STYLE}</style></head>"
        f"<body><main><h1>One dot product on {escape(title)}</h1><pre>{escape(command)}</pre>{said}"
        f"{html_table(('unit', 'result', 'encoding'), results)}"
        f"{pictures_html(traces)}<h2>Operands</h2><p>All other products are zero.</p>"
        f"{html_table(('operand', 'value', 'encoding'), operand_rows(specs[0], traces[0].witness))}"
        "</main></body></html>\n"
    )
