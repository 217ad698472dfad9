"""Views of an explained mismatch of two matrix products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tcformal.identification.product_causes import ExplainedProduct, ProductProducer, ProductVerdict
from tcformal.oracle.values import format_value, hex_word
from tcformal.report.devices.mismatch import SIDES, chance_text, hint_text
from tcformal.report.devices.units import on_processors, processors_data, processors_text
from tcformal.report.parts import Headline, ReportPart, Rows

#: Recipes that are shown one by one.
_SHOWN = 8


def product_data(found: ExplainedProduct) -> dict[str, Any]:
    """An explained mismatch of products as plain data."""
    d, first, hints = found.case.d_format, found.first, found.hints
    parting = found.parting
    return {
        "unit": found.unit.name,
        "verdict": found.verdict.name.lower(),
        "tried": found.tried,
        "chance": found.chance,
        "differing": found.differing,
        "largest": found.largest,
        "first": None
        if first is None
        else {
            "row": first[0], "column": first[1],
            "expected": hex_word(d, int(found.case.expected[first])),
            "got": hex_word(d, int(found.case.got[first])),
        },
        "expected_by": [_producer(p) for p in found.expected],
        "got_by": [_producer(p) for p in found.got],
        "faults": [str(fault) for fault in found.faults],
        "hints": None
        if hints is None
        else {
            "tried": hints.tried,
            "chances": dict(zip(("expected", "got"), hints.chances, strict=True)),
            "expected_by": [_producer(p) for p in hints.expected],
            "got_by": [_producer(p) for p in hints.got],
        },
        "part_at": None
        if parting is None
        else {
            "start": parting.start, "stop": parting.stop,
            "results": [hex_word(d, word) for word in parting.results],
        },
    }  # fmt: skip


def _producer(p: ProductProducer) -> dict[str, Any]:
    made = {"unit": p.model.unit.name, "recipe": p.model.recipe.name, "fault": p.fault}
    return {**made, "units": processors_data(p.units)}


def product_view(found: ExplainedProduct, *, every: bool = False) -> list[ReportPart]:
    """The verdict, the first element, a screenful of the recipes of each result, and where they part."""
    parts: list[ReportPart] = [_verdict(found)]
    d, most = found.case.d_format, None if every else _SHOWN
    if found.expected and found.got and found.chance:
        parts.append(
            f"of all results as near the expected one, what was tried gives {chance_text(found.chance)}: so "
            "likely is it that some of it gives a wrong result by accident"
        )
    if found.first is not None:
        rows = Rows(("first element that differs", "value", "encoding"))
        for name, words in (("expected", found.case.expected), ("got", found.case.got)):
            word = int(words[found.first])
            place = f"D[{found.first[0]}, {found.first[1]}] {name}"
            rows.rows.append((place, format_value(d, word), hex_word(d, word)))
        m, n = found.case.expected.shape
        parts += [
            rows,
            f"{found.differing} of {m * n} elements differ, by at most {found.largest} values of {d}.",
        ]
    for name, made in zip(SIDES, (found.expected, found.got), strict=True):
        parts.append(_recipes(name, made, most))
    parts += _would_explain(found, most)
    if found.parting is not None:
        x, y = (format_value(d, word) for word in found.parting.results)
        parts.append(
            f"They part at k = {found.parting.start} to {found.parting.stop - 1}: "
            f"without the products after these, the first gives {x} and the second {y}."
        )
    return parts


def _verdict(found: ExplainedProduct) -> Headline:
    verdict = found.verdict
    if verdict is ProductVerdict.EQUAL:
        return Headline(verdict.name, True, ": the results are the same")
    if verdict is ProductVerdict.UNEXPLAINED:
        pairs = zip(SIDES, (found.expected, found.got), strict=True)
        missing = " nor ".join(name for name, made in pairs if not made)
        told = f": none of {found.tried} recipes on units of these formats gives {missing}"
        if found.faults and not found.got:
            told += f"; {found.faults[0]} does, which is a bug"
        return Headline(verdict.name, False, told)
    if verdict is ProductVerdict.FAULT:
        faults = (
            f"{name} has {p.fault}"
            for name, (p, *_) in (("expected", found.expected), ("got", found.got))
            if p.fault
        )
        return Headline(verdict.name, False, f": {'; '.join(faults)}")
    first, second = (_called(p) for p, *_ in (found.expected, found.got))
    both = f": {first} gives the expected result, {second} the one obtained"
    if verdict is ProductVerdict.UNDECIDED:
        both += f"; but so does {found.faults[0]}, which is a bug: more elements tell them apart"
    return Headline(verdict.name, verdict is ProductVerdict.ROUNDING, both)


def _called(p: ProductProducer) -> str:
    return f"{p.model.recipe.name} on {processors_text(p.units) or p.model.unit.name}"


def _recipes(name: str, made: Sequence[ProductProducer], most: int | None) -> ReportPart:
    if not made:
        return f"No recipe on a unit that exists gives {name}."
    table = Rows((f"gives {name}", "on", "", ""))
    for p in made[:most]:
        units = list(on_processors(p.units)) or [("", [p.model.unit.name])]
        for i, (processors, names) in enumerate(units):
            row = (p.model.recipe.name, p.fault) if i == 0 else ("", "")
            table.rows.append((row[0], names[0], processors, row[1]))
    if made[:most] != made:
        table.rows.append((f"… {len(made) - _SHOWN} more: --all", "", "", ""))
    return table


def _would_explain(found: ExplainedProduct, most: int | None) -> Iterator[ReportPart]:
    """Faulty products and altered units that give what no recipe on a unit that exists does."""
    if found.faults:
        shown = found.faults[:most]
        more = [] if shown == found.faults else [f"  … {len(found.faults) - _SHOWN} more: --all"]
        lines = ["What would explain the result obtained, as a bug:", *(f"  {x}" for x in shown), *more]
        yield "\n".join(lines)
    if (hints := found.hints) is None:
        return
    sides = zip(SIDES, (found.expected, found.got), (hints.expected, hints.got), hints.chances, strict=True)
    for name, exists, altered, chance in sides:
        if exists:
            continue
        if not altered:
            yield f"None of {hints.tried} recipes on units altered in one parameter gives {name}."
            continue
        table = Rows((f"what would explain {name}", "on a unit altered in one parameter"))
        table.rows += [(p.model.recipe.name, p.model.unit.name) for p in altered[:most]]
        if altered[:most] != altered:
            table.rows.append((f"… {len(altered) - _SHOWN} more: --all", ""))
        yield table
        yield hint_text(hints.tried, chance)
