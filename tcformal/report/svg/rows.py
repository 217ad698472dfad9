"""The alignment picture as data: each bit with its column, each row with its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tcformal.oracle.text import number_text
from tcformal.query.explain.divergence import Divergence
from tcformal.query.explain.steps import Rounding, SumStep, TermRow, Trace

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
        _special(step, _is(found, i, "special")) if step.special else _Sum(step, found, i).block()
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


def _special(step: SumStep, marked: bool) -> SumBlock:
    why = "; ".join(step.blamed) or "an operand is NaN or Inf"
    whose = f", that of {step.nan_of}" if step.nan_of else ""
    return SumBlock(f"{step.scope}: {why}; so the result is {step.special}{whose}", marked=marked)


@dataclass(slots=True)
class _Sum:
    """The rows of one sum with one set of columns."""

    step: SumStep
    found: Divergence | None
    number: int
    live: list[TermRow] = field(init=False)
    lead: int = field(init=False)
    fraction: int = field(init=False)

    def __post_init__(self) -> None:
        self.live = [term for term in self.step.terms if not term.zero]
        texts = [term.kept_bits for term in self.live] + [self.step.total_bits]
        self.lead = max(2, *(len(bits.partition(".")[0].lstrip("0")) for bits in texts))
        self.fraction = min(self.step.fraction_bits, _MOST_KEPT)

    def block(self) -> SumBlock:
        """Title, addends, sum and rounding."""
        step, found = self.step, self.found
        count = len(step.terms) or len(step.operands)
        zeros = sum(term.zero for term in step.terms)
        title = f"{step.scope}: {count} terms at e_max = {step.e_max}, "
        title += "exact sum, last bit sticky" if step.exact else f"{step.fraction_bits} fraction bits kept"
        if zeros:
            title += f" ({'all' if zeros == count else zeros} of them zero, not shown)"
        rows = [*map(self._term, self.live), self._total()]
        rows += [self._rounded(done) for done in (step.floor, step.rounding) if done is not None]
        edge = self.fraction
        cut = max((b.column + len(b.digits) - edge - 1 for row in rows for b in row.bits), default=0)
        marked = any(_is(found, self.number, part) for part in ("order", "e_max"))
        short = self.fraction < step.fraction_bits
        return SumBlock(title, tuple(rows), self.lead, self.fraction, max(0, cut), short, marked)

    def _kept(self, bits: str, role: str = "kept") -> BitRun:
        """The bits above the cut, without leading zeros; those that have no column are left out."""
        whole, _, fraction = bits.partition(".")
        digits = whole + fraction[: self.fraction]
        first = len(digits) - len(digits.lstrip("0"))
        return BitRun(first - len(whole) + 1, digits[first:], role)

    def _term(self, term: TermRow) -> BitRow:
        cut = _clipped(term.discarded)
        bits = (self._kept(term.kept_bits), BitRun(self.fraction + 1, cut, "cut"))
        beyond = "1" in term.kept_bits.partition(".")[2][self.fraction :]
        note = ("more bits are kept than are drawn" if beyond else "") or ("all cut" if not term.kept else "")
        return BitRow(
            f"{term.name} = {number_text(term.value)}", str(term.exponent), "-" if term.negative else "+",
            tuple(b for b in bits if b.digits), note, _is(self.found, self.number, "term", term.name),
        )  # fmt: skip

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
        return BitRow(
            f"sum = {number_text(step.total)}", "", "-" if step.total < 0 else "+",
            tuple(b for b in bits if b.digits), "; ".join(notes),
            _is(self.found, self.number, "sum"), "sum",
        )  # fmt: skip

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
        return BitRow(
            f"{done.conversion} = {number_text(done.value)}", str(done.exponent) if self.step.total else "",
            "-" if done.value < 0 else "+", tuple(b for b in bits if b.digits), "; ".join(notes),
            _is(self.found, self.number, "rounding"), "rounded",
        )  # fmt: skip


def _clipped(bits: str) -> str:
    """Discarded bits; of a long run the end is left out."""
    return bits if len(bits) <= _MOST_CUT else bits[: _MOST_CUT - 1] + "…"
