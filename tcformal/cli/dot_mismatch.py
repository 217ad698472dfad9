"""What `compare` says of dot products: what gives each result, and what else would; apart from matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tcformal.design.short_names import on_processors
from tcformal.identification.causes import Explained, Hints, MismatchKind, MismatchVerdict, Producer
from tcformal.oracle.numerals import number_text, power_of_two
from tcformal.oracle.values import NumberClass, decode, exponent_of, format_value, hex_word
from tcformal.report.escape import Plain
from tcformal.report.parts import Headline, ReportPart, Rows
from tcformal.simulation.operands.witness import explain_command, in_hex

#: Cases, and designs that give one result, that are shown one by one.
_SHOWN = 8
_DESIGNS_SHOWN = 4
#: What both results are called.
SIDES = ("the expected result", "the result obtained")


def _processors_text(names: Iterable[str]) -> str:
    """The first processors with the first of their units, and how many more architectures there are."""
    found = list(on_processors(names))
    more = f" and {len(found) - 1} more architectures" if len(found) > 2 else ""
    return ", ".join(f"{processors} ({units[0]})" for processors, units in found[: 1 if more else 2]) + more


def mismatch_data(found: Explained) -> Plain:
    """An explained mismatch of dot products as plain data."""
    d, x, hints = found.unit.operands.d, found.divergence, found.hints
    cases = [
        {
            "expected": hex_word(d, case.expected.raw), "got": hex_word(d, case.got.raw),
            "unit_gives": hex_word(d, own), "exact": None if exact is None else number_text(exact),
        }
        for case, own, exact in zip(found.cases, found.own, found.exact, strict=True)
    ]  # fmt: skip
    return {
        "unit": found.unit.name, "verdict": found.verdict.name.lower(), "tried": found.tried,
        "chance": found.chance, "cases": cases,
        "expected_by": [*map(_producer_data, found.expected)], "got_by": [*map(_producer_data, found.got)],
        "faults": [str(fault) for fault in found.faults], "fault_chance": found.fault_chance,
        "hints": None if hints is None else hints_data(hints, _producer_data),
        "part_at": None if x is None else {"stage": x.stage, "values": [x.first, x.second]},
        "explain": command_of(found),
    }  # fmt: skip


def _producer_data(p: Producer) -> Plain:
    units = [
        {"arch": names[0].partition("/")[0], "processors": processors.split(", "), "names": names}
        for processors, names in on_processors(p.units)
    ]
    return {"design": p.design.name, "kind": p.kind.name.lower(), "what": p.what, "units": units}


def hints_data(hints: Hints[Any], data: Callable[[Any], Plain]) -> Plain:
    """Altered units as plain data."""
    return {
        "tried": hints.tried, "chances": dict(zip(("expected", "got"), hints.chances, strict=True)),
        "expected_by": [*map(data, hints.expected)], "got_by": [*map(data, hints.got)],
    }  # fmt: skip


def mismatch_view(found: Explained, *, every: bool = False) -> Iterator[ReportPart]:
    """The verdict, the cases, the designs that give each result, what would explain it, the divergence."""
    most = None if every else _SHOWN
    yield _verdict(found)
    if found.expected and found.got and found.chance:
        yield (
            f"of all results as near the expected ones, the {found.tried} units and computations give "
            f"{percent(found.chance)}: so likely is it that one of them gives a wrong result by accident"
        )
    yield _cases(found, most)
    for name, made in zip(SIDES, (found.expected, found.got), strict=True):
        yield (
            _existing(name, made, None if every else _DESIGNS_SHOWN)
            if made
            else f"No unit that exists gives {name}."
        )
    if found.faults and found.verdict is not MismatchVerdict.SAME:
        lines = [*map(str, found.faults[:most]), *_more(found.faults, most)]
        yield "\n  ".join(["What would explain the result obtained, as a bug:", *lines])
        if found.fault_chance:
            yield (
                "of all results as near the expected ones, the lost, doubled and negated products that were "
                f"tried give {percent(found.fault_chance)}: so likely is it that one fits by accident"
            )
    if found.hints is not None:
        exists = dict(zip(SIDES, (bool(found.expected), bool(found.got)), strict=True))
        yield from hints_view(found.hints, exists, lambda p: p.design.name, most)
    if found.pair is not None and found.divergence is not None:
        first, second = (p.design.name for p in found.pair)
        stage = found.divergence
        yield f"They diverge at {stage.stage}:\n  {first}: {stage.first}\n  {second}: {stage.second}"


def percent(chance: float) -> str:
    """A chance in per cent."""
    return f"{100 * chance:.3g} %" if chance > 1e-300 else "less than 1e-298 %"


def _more(items: Sequence[object], most: int | None) -> list[str]:
    """How many items are not shown, as a list of one line, or of none."""
    return [f"… {len(items) - most} more: --all"] if most is not None and len(items) > most else []


def hints_view(
    hints: Hints[Any], made: Mapping[str, bool], name_of: Callable[[Any], str], most: int | None
) -> Iterator[ReportPart]:
    """Altered units that give results which nothing that exists does, and how likely an accident is.

    `made`: what both results are called, and whether anything that exists gives them.
    """
    for (name, exists), altered, chance in zip(
        made.items(), (hints.expected, hints.got), hints.chances, strict=True
    ):
        if exists:
            continue
        if not altered:
            yield f"None of {hints.tried} units altered in one parameter gives {name}."
            continue
        rows: list[tuple[str, ...]] = [(name_of(p),) for p in altered[:most]]
        rows += [(line,) for line in _more(altered, most)]
        yield Rows((f"what would explain {name}: a unit altered in one parameter",), rows)
        likely = "" if chance is None else (
            f": they give {percent(chance)} of all results as near the other one, so likely is it that "
            "one of them fits by accident"
        )  # fmt: skip
        yield f"A hint only, of {hints.tried} altered units, which do not exist{likely}."


def command_of(found: Explained) -> str:
    """The `tcformal explain` command that shows both designs bit by bit."""
    if found.traces is not None:
        first = found.traces[0]
        names = [t.unit.name for t in found.traces]
        return explain_command(names, first.witness, in_hex(first.unit), longer=True)
    return explain_command([found.unit.name], found.cases[0].witness, in_hex(found.unit))


def _verdict(found: Explained) -> Headline:
    """The verdict as one sentence: rounding or bug."""
    verdict = found.verdict
    if verdict is MismatchVerdict.SAME:
        return Headline(verdict.name, True, ": the results are the same")
    if verdict is MismatchVerdict.BUG:
        return Headline(
            verdict.name, False,
            f": {found.faults[0]} gives the result obtained; none of {found.tried} units and computations "
            "of these formats does",
        )  # fmt: skip
    if verdict is MismatchVerdict.UNEXPLAINED:
        neither = [name for name, made in zip(SIDES, (found.expected, found.got), strict=True) if not made]
        faulty = f"; {found.faults[0]} does, which is a bug" if found.faults and not found.got else (
            ": no difference of known arithmetic, so look for a bug, or for other operands"
        )  # fmt: skip
        return Headline(
            verdict.name, False,
            f": none of {found.tried} units and computations of these formats gives {' nor '.join(neither)}"
            f"{faulty}",
        )  # fmt: skip
    if found.pair is None:
        both = f"{_called(found.got[0])} gives both results"
    else:
        both = "{} gives the expected result, {} the one obtained".format(*map(_called, found.pair))
    if verdict is MismatchVerdict.UNDECIDED:
        fault = next(x for x in found.faults if not x.of_c)
        both += f"; but so does {fault}, which is a bug: more elements tell them apart"
    return Headline(verdict.name, verdict is MismatchVerdict.ROUNDING, f": {both}")


def _called(p: Producer) -> str:
    if p.kind is MismatchKind.COMPUTATION:
        return f"{p.what} ({p.design.name})"
    return _processors_text(p.units) or p.design.name


def _cases(found: Explained, most: int | None) -> Rows:
    d = found.unit.operands.d
    made = Rows(("case", "", "value", "encoding", ">units in the last place from the exact sum"))
    every = list(zip(found.cases, found.own, found.exact, strict=True))
    for i, (case, own, exact) in enumerate(every[:most]):
        words = {"expected": case.expected.raw, "got": case.got.raw, "the unit gives": own}
        for name, raw in words.items():
            number = str(i) if name == "expected" else ""
            made.rows.append((number, name, format_value(d, raw), hex_word(d, raw), _off(found, raw, i)))
        if exact is not None:
            made.rows.append(("", "the exact sum", number_text(exact), "", ""))
    made.rows += [(line, "", "", "", "") for line in _more(every, most)]
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
    for p in units:
        if not p.units:
            table.rows.append((p.design.name, "", p.what))
        for i, (processors, names) in enumerate(on_processors(p.units)):
            more = f" and {len(names) - 1} more" if len(names) > 1 and most is not None else ""
            for j, unit in enumerate(names if most is None else names[:1]):
                what = p.what if i == j == 0 else "the same arithmetic"
                table.rows.append((f"{unit}{more}", processors if not j else "", what))
    computed = [(p.design.name, "", p.what) for p in made if p.kind is MismatchKind.COMPUTATION]
    for rows, others in ((table.rows, "other units"), (computed, "other computations")):
        left = [(line, "", others) for line in _more(rows, most)]
        rows[len(rows) if most is None else most :] = left
    table.rows += computed
    return table
