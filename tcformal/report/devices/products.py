"""Views of an explained mismatch of two matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tcformal.identify.products import ExplainedProduct, ProductProducer
from tcformal.oracle.values import format_value, hex_word
from tcformal.report.parts import Headline, ReportPart, Rows

#: Recipes that are shown one by one.
_SHOWN = 8


def product_data(found: ExplainedProduct) -> dict[str, Any]:
    """An explained mismatch of products as plain data."""
    d, first = found.case.d_format, found.first
    parting = found.parting
    return {
        "unit": found.unit.name,
        "verdict": _word(found).lower(),
        "tried": found.tried,
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
        "part_at": None
        if parting is None
        else {
            "start": parting.start, "stop": parting.stop,
            "results": [hex_word(d, word) for word in parting.results],
        },
    }  # fmt: skip


def _producer(p: ProductProducer) -> dict[str, str]:
    return {"unit": p.model.unit.name, "recipe": p.model.recipe.name, "fault": p.fault}


def _word(found: ExplainedProduct) -> str:
    if found.first is None:
        return "EQUAL"
    if found.both:
        return "ROUNDING"
    return "FAULT" if found.expected and found.got else "UNEXPLAINED"


def product_view(found: ExplainedProduct, *, every: bool = False) -> list[ReportPart]:
    """The verdict, the first element, a screenful of the recipes of each result, and where they part."""
    parts: list[ReportPart] = [_verdict(found)]
    d = found.case.d_format
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
    for name, made in (("the expected result", found.expected), ("the result obtained", found.got)):
        parts.append(_recipes(name, made, None if every else _SHOWN))
    if found.parting is not None:
        x, y = (format_value(d, word) for word in found.parting.results)
        parts.append(
            f"They part at k = {found.parting.start} to {found.parting.stop - 1}: "
            f"without the products after these, the first gives {x} and the second {y}."
        )
    return parts


def _verdict(found: ExplainedProduct) -> Headline:
    word = _word(found)
    if word == "EQUAL":
        return Headline(word, True, ": the results are the same")
    if word == "UNEXPLAINED":
        pairs = (("the expected result", found.expected), ("the result obtained", found.got))
        missing = " nor ".join(name for name, made in pairs if not made)
        return Headline(
            word, False, f": none of {found.tried} recipes on units of these formats gives {missing}"
        )
    if word == "FAULT":
        faults = (
            f"{name} has {p.fault}"
            for name, (p, *_) in (("expected", found.expected), ("got", found.got))
            if p.fault
        )
        return Headline(word, False, f": {'; '.join(faults)}")
    first, second = (f"{p.model.recipe.name} on {p.model.unit.name}" for p, *_ in (found.expected, found.got))
    return Headline(word, True, f": {first} gives the expected result, {second} the one obtained")


def _recipes(name: str, made: Sequence[ProductProducer], most: int | None) -> ReportPart:
    if not made:
        return f"No recipe gives {name}."
    table = Rows((f"gives {name}", "on", ""))
    table.rows += [(p.model.recipe.name, p.model.unit.name, p.fault) for p in made[:most]]
    if made[:most] != made:
        table.rows.append((f"… {len(made) - _SHOWN} more: --all", "", ""))
    return table
