"""Views of an explained mismatch: rounding or bug."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tcformal.identification.causes import Explained, MismatchKind, MismatchVerdict, Producer
from tcformal.oracle.text import number_text, power_of_two
from tcformal.oracle.values import NumberClass, decode, exponent_of, format_value, hex_word
from tcformal.report.devices.units import on_processors, processors_data, processors_text
from tcformal.report.parts import Headline, ReportPart, Rows
from tcformal.simulation.operands.command import explain_command, in_hex

#: Cases, and designs of one kind, that are shown one by one.
_SHOWN = 8
#: What both results are called.
SIDES = ("the expected result", "the result obtained")


def mismatch_data(found: Explained) -> dict[str, Any]:
    """An explained mismatch as plain data."""
    d, hints = found.unit.operands.d, found.hints
    return {
        "unit": found.unit.name,
        "verdict": found.verdict.name.lower(),
        "tried": found.tried,
        "chance": found.chance,
        "cases": [
            {
                "expected": hex_word(d, case.expected.raw), "got": hex_word(d, case.got.raw),
                "unit_gives": hex_word(d, own), "exact": None if exact is None else number_text(exact),
            }
            for case, own, exact in zip(found.cases, found.own, found.exact, strict=True)
        ],
        "expected_by": [_producer_data(p) for p in found.expected],
        "got_by": [_producer_data(p) for p in found.got],
        "faults": [str(fault) for fault in found.faults],
        "hints": None
        if hints is None
        else {
            "tried": hints.tried,
            "chances": dict(zip(("expected", "got"), hints.chances, strict=True)),
            "expected_by": [_producer_data(p) for p in hints.expected],
            "got_by": [_producer_data(p) for p in hints.got],
        },
        "part_at": None
        if found.divergence is None
        else {"stage": found.divergence.stage, "values": [found.divergence.first, found.divergence.second]},
        "explain": _command(found),
    }  # fmt: skip


def _producer_data(p: Producer) -> dict[str, Any]:
    made: dict[str, Any] = {"design": p.design.name, "kind": p.kind.name.lower(), "what": p.what}
    return made | {"units": processors_data(p.units)}


def mismatch_view(found: Explained, *, every: bool = False) -> list[ReportPart]:
    """The verdict, the cases, the designs that give each result, what would explain it, the divergence."""
    most = None if every else _SHOWN
    parts: list[ReportPart] = [_verdict(found)]
    if found.expected and found.got and found.chance:
        parts.append(
            f"of all results as near the expected ones, the {found.tried} units and computations give "
            f"{chance_text(found.chance)}: so likely is it that one of them gives a wrong result by accident"
        )
    parts.append(_cases(found, most))
    for name, made in zip(SIDES, (found.expected, found.got), strict=True):
        parts.append(_existing(name, made, most) if made else f"No unit that exists gives {name}.")
    parts += _would_explain(found, most)
    if found.pair is not None and found.divergence is not None:
        first, second = (p.design.name for p in found.pair)
        stage = found.divergence
        parts.append(f"They diverge at {stage.stage}:\n  {first}: {stage.first}\n  {second}: {stage.second}")
    return parts


def chance_text(chance: float) -> str:
    """A chance in per cent."""
    return f"{100 * chance:.3g} %" if chance > 1e-300 else "less than 1e-298 %"


def hint_text(tried: int, chance: float | None) -> str:
    """What altered units that give a result are worth."""
    likely = (
        ""
        if chance is None
        else (
            f": they give {chance_text(chance)} of all results as near the other one, so likely is it that "
            "one of them fits by accident"
        )
    )
    return f"A hint only, of {tried} altered units, which do not exist{likely}."


def command_line(found: Explained) -> str:
    """The `tcformal explain` command that shows both designs bit by bit."""
    return f"bit by bit: {_command(found)}"


def _command(found: Explained) -> str:
    if found.traces is not None:
        names = [t.unit.name for t in found.traces]
        first = found.traces[0]
        return explain_command(names, first.witness, in_hex(first.unit), longer=True)
    return explain_command([found.unit.name], found.cases[0].witness, in_hex(found.unit))


def _verdict(found: Explained) -> Headline:
    """The verdict as one sentence: rounding or bug."""
    verdict = found.verdict
    if verdict is MismatchVerdict.EQUAL:
        return Headline(verdict.name, True, ": the results are the same")
    if verdict is MismatchVerdict.UNEXPLAINED:
        pairs = zip(SIDES, (found.expected, found.got), strict=True)
        neither = " nor ".join(name for name, made in pairs if not made)
        return Headline(
            verdict.name, False,
            f": none of {found.tried} units and computations of these formats gives {neither}: no difference "
            "of known arithmetic, so look for a bug, or for other operands",
        )  # fmt: skip
    if found.pair is None:
        both = f"{_called(found.got[0])} gives both results"
    else:
        first, second = (_called(p) for p in found.pair)
        both = f"{first} gives the expected result, {second} the one obtained"
    if verdict is MismatchVerdict.UNDECIDED:
        fault = next(x for x in found.faults if not x.of_c)
        both += f"; but so does {fault}, which is a bug: more elements tell them apart"
    return Headline(verdict.name, verdict is MismatchVerdict.ROUNDING, f": {both}")


def _called(p: Producer) -> str:
    if p.kind is MismatchKind.COMPUTATION:
        return f"{p.what} ({p.design.name})"
    return processors_text(p.units) or p.design.name


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


def _existing(name: str, made: Sequence[Producer], most: int | None) -> Rows:
    """The units and computations that give one of the two results, by processor, the nearest first."""
    table = Rows((f"gives {name}", "on", "which is"))
    units = [p for p in made if p.kind is not MismatchKind.COMPUTATION]
    for p in units[:most]:
        if not p.units:
            table.rows.append((p.design.name, "", p.what))
        for i, (processors, names) in enumerate(on_processors(p.units)):
            more = f" and {len(names) - 1} more" if len(names) > 1 and most is not None else ""
            for j, unit in enumerate(names if most is None else names[:1]):
                what = p.what if i == j == 0 else "the same arithmetic"
                table.rows.append((f"{unit}{more}", processors if not j else "", what))
    if units[:most] != units:
        table.rows.append((f"… {len(units) - _SHOWN} more: --all", "", "other units"))
    table.rows += [(p.design.name, "", p.what) for p in made if p.kind is MismatchKind.COMPUTATION]
    return table


def _would_explain(found: Explained, most: int | None) -> Iterator[ReportPart]:
    """Faulty sums and altered units that give what nothing that exists does."""
    hints = found.hints
    if found.faults and found.verdict is not MismatchVerdict.EQUAL:
        shown = found.faults[:most]
        lines = [f"  {fault}" for fault in shown]
        if shown != found.faults:
            lines.append(f"  … {len(found.faults) - _SHOWN} more: --all")
        yield "\n".join(["What would explain the result obtained, as a bug:", *lines])
    if hints is None:
        return
    sides = zip(SIDES, (found.expected, found.got), (hints.expected, hints.got), hints.chances, strict=True)
    for name, exists, altered, chance in sides:
        if exists:
            continue
        if not altered:
            yield f"None of {hints.tried} units altered in one parameter gives {name}."
            continue
        table = Rows((f"what would explain {name}: a unit altered in one parameter",))
        table.rows += [(p.design.name,) for p in altered[:most]]
        if altered[:most] != altered:
            table.rows.append((f"… {len(altered) - _SHOWN} more: --all",))
        yield table
        yield hint_text(hints.tried, chance)
