"""Views of an explained mismatch: rounding or bug."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tcformal.identify.mismatch import Explained, MismatchKind, Producer
from tcformal.operands.command import explain_command, in_hex
from tcformal.oracle.text import number_text, power_of_two
from tcformal.oracle.values import NumberClass, decode, exponent_of, format_value, hex_word
from tcformal.report.parts import Headline, ReportPart, Rows

#: Cases, and designs of one kind, that are shown one by one.
_SHOWN = 8


def mismatch_data(found: Explained) -> dict[str, Any]:
    """An explained mismatch as plain data."""
    d = found.unit.operands.d
    return {
        "unit": found.unit.name,
        "verdict": _word(found).lower(),
        "tried": found.tried,
        "cases": [
            {
                "expected": hex_word(d, case.expected.raw), "got": hex_word(d, case.got.raw),
                "unit_gives": hex_word(d, own), "exact": None if exact is None else number_text(exact),
            }
            for case, own, exact in zip(found.cases, found.own, found.exact, strict=True)
        ],
        "expected_by": [_producer_data(p) for p in found.expected],
        "got_by": [_producer_data(p) for p in found.got],
        "part_at": None
        if found.divergence is None
        else {"stage": found.divergence.stage, "values": [found.divergence.first, found.divergence.second]},
        "explain": _command(found),
    }  # fmt: skip


def _producer_data(p: Producer) -> dict[str, str]:
    return {"design": p.design.name, "kind": p.kind.name.lower(), "what": p.what}


def mismatch_view(found: Explained, *, every: bool = False) -> list[ReportPart]:
    """The cases, the designs that give each result, the verdict, and the first divergence."""
    most = None if every else _SHOWN
    parts: list[ReportPart] = [_verdict(found), _cases(found, most)]
    for name, made in (("the expected result", found.expected), ("the result obtained", found.got)):
        parts += _producers(name, made, most)
    if found.pair is not None and found.divergence is not None:
        first, second = (p.design.name for p in found.pair)
        stage = found.divergence
        parts.append(f"They diverge at {stage.stage}:\n  {first}: {stage.first}\n  {second}: {stage.second}")
    return parts


def command_line(found: Explained) -> str:
    """The `tcformal explain` command that shows both designs bit by bit."""
    return f"bit by bit: {_command(found)}"


def _command(found: Explained) -> str:
    if found.traces is not None:
        names = [t.unit.name for t in found.traces]
        first = found.traces[0]
        return explain_command(names, first.witness, in_hex(first.unit), longer=True)
    return explain_command([found.unit.name], found.cases[0].witness, in_hex(found.unit))


def _word(found: Explained) -> str:
    if all(case.expected == case.got for case in found.cases):
        return "EQUAL"
    return "ROUNDING" if found.both else "UNEXPLAINED"


def _verdict(found: Explained) -> Headline:
    """The verdict as one sentence: rounding or bug."""
    word = _word(found)
    if word == "EQUAL":
        return Headline(word, True, ": the results are the same")
    if found.pair is not None and found.both:
        first, second = (_called(p) for p in found.pair)
        return Headline(word, True, f": {first} gives the expected result, {second} the one obtained")
    if found.both:
        return Headline(word, True, f": {_called(found.got[0])} gives both results")
    missing = [
        name
        for name, made in (("the expected result", found.expected), ("the result obtained", found.got))
        if not made
    ]
    neither = " nor ".join(missing)
    return Headline(
        word, False,
        f": none of {found.tried} designs of these formats gives {neither}: no difference of known "
        "arithmetic, so look for a bug, or for other operands",
    )  # fmt: skip


def _called(p: Producer) -> str:
    return f"{p.what} ({p.design.name})" if p.kind is MismatchKind.COMPUTATION else p.design.name


def _cases(found: Explained, most: int | None) -> Rows:
    d = found.unit.operands.d
    made = Rows(("case", "", "value", "encoding", ">units in the last place from the exact sum"))
    for i, (case, own, exact) in enumerate(zip(found.cases, found.own, found.exact, strict=True)):
        if i == most:
            made.rows.append((f"… {len(found.cases) - i} more: --all", "", "", "", ""))
            break
        rows: list[tuple[str, int]] = [
            ("expected", case.expected.raw), ("got", case.got.raw), ("the unit gives", own),
        ]  # fmt: skip
        for name, raw in rows:
            value = format_value(d, raw)
            made.rows.append(
                (str(i) if name == "expected" else "", name, value, hex_word(d, raw), _off(found, raw, i))
            )
        if exact is not None:
            made.rows.append(("", "the exact sum", number_text(exact), "", ""))
    return made


def _off(found: Explained, raw: int, case: int) -> str:
    """The distance of a result from the exact sum, in units of its last place; empty for NaN and Inf."""
    exact, d = found.exact[case], found.unit.operands.d
    value = decode(d, raw)
    if exact is None or value.kind is not NumberClass.FINITE:
        return ""
    exponent = d.e_min if value.number == 0 else max(d.e_min, exponent_of(abs(value.number)))
    return f"{float((value.number - exact) / power_of_two(exponent - d.fraction_bits)):.3g}"


def _producers(name: str, made: Sequence[Producer], most: int | None) -> list[ReportPart]:
    """The designs that give one of the two results, the nearest kinds first."""
    if not made:
        return [f"No design gives {name}."]
    table = Rows((f"gives {name}", "which is"))
    for kind in MismatchKind:
        some = [p for p in made if p.kind is kind]
        for p in some[:most]:
            table.rows.append((p.design.name, p.what))
        if some[:most] != some:
            table.rows.append((f"… {len(some) - _SHOWN} more: --all", some[0].what))
    return [table]
