"""Views of an identification: the class, what decided each axis, rates, and the growth of what is known."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from tcformal.encodings.spec import Format
from tcformal.identification.identification import (
    AxisOutcome,
    Identification,
    IdentifyVerdict,
    Settled,
)
from tcformal.identification.rates import Rate
from tcformal.identification.repeat import Repeated
from tcformal.identification.validation import Validated
from tcformal.oracle.values import format_value, hex_word
from tcformal.report.chart import STYLE, Axis, Point, Series, chart
from tcformal.report.escape import shortened
from tcformal.report.parts import Headline, ReportPart, Rows
from tcformal.simulation.operands.batch import Raw
from tcformal.simulation.operands.witness import explain_command, in_hex

#: Members of a class, values of an axis and inputs that are shown.
_SHOWN = 8


def identification_view(found: Identification) -> list[ReportPart]:
    """The verdict, the classes, every axis, the rates, and what was not tested."""
    good = found.verdict is IdentifyVerdict.IDENTIFIED
    device = found.device.get("device", "the device")
    only = f" is {found.classes[0][0]}" if good and len(found.classes) == 1 else ""
    parts: list[ReportPart] = [Headline(found.verdict.value, good, f": {device}{only}")]
    reason = found.reason.replace(f" of {found.classes[0][0]} ", " ") if only else found.reason
    parts.append(reason)
    for number, members in enumerate(found.classes, 1):
        head = "" if len(found.classes) == 1 else f"class {number}: {members[0]}"
        others = [shortened(x) for x in members[1 : _SHOWN + 1]]
        spelled = (
            f"also spelled {', '.join(others)}{', …' if len(members) > _SHOWN + 1 else ''}" if others else ""
        )
        if head or spelled:
            parts.append(f"  {', '.join(x for x in (head, spelled) if x)}")
    if found.layout is not None:
        parts.append(f"The operands meet in another order: a[i] meets b[j], j = {_listed(found.layout)}.")
    if found.repeated is not None and not found.repeated.deterministic:
        parts += _spread(found.operands.d_format, found.repeated)
    parts += _axes(found)
    if found.measured:
        parts += [f"{name}: {value}" for name, value in found.measured.items()]
    if found.nearest:
        parts.append(Rows(("nearest design", ">answers it gives"), [
            (x.design, f"{x.agrees.count} of {x.agrees.of}") for x in found.nearest
        ]))  # fmt: skip
    if found.unfit:
        first = _input(found, found.unfit[0])
        parts.append(f"{len(found.unfit)} answers that no design gives, the first: {first}")
    if found.validated is not None:
        parts += _validated(found.validated)
    parts.append(_counts(found))
    parts += [f"not tested: {clause}" for clause in found.untested]
    return parts


def _axes(found: Identification) -> list[ReportPart]:
    """One row for each axis: how its other values are settled, with one example."""
    made = Rows(("axis", "other values", "settled", "by"))
    for axis in dict.fromkeys(x.axis for x in found.axes):
        name = axis
        for settled in Settled:
            some = [x for x in found.axes if (x.axis, x.settled) == (axis, settled)]
            if some:
                made.rows.append((name, _values(some), settled.name.lower(), _evidence(found, some)))
                name = ""
    return [made] if made.rows else []


def _values(some: Sequence[AxisOutcome]) -> str:
    names = ", ".join(shortened(x.value) for x in some[:_SHOWN])
    return f"{names}, … ({len(some)})" if len(some) > _SHOWN else names


def _evidence(found: Identification, some: Sequence[AxisOutcome]) -> str:
    """What settles the values of one row."""
    probes = [x.probe for x in some if x.probe is not None]
    if not probes:
        return "; ".join(dict.fromkeys(x.evidence for x in some if x.evidence))
    numbers = Counter(probes)
    return f"inputs {_listed(sorted(numbers))}" if len(numbers) > 1 else f"input {probes[0]}"


def _listed(numbers: Sequence[int]) -> str:
    more = ", …" if len(numbers) > 2 * _SHOWN else ""
    return ", ".join(map(str, numbers[: 2 * _SHOWN])) + more


def _input(found: Identification, row: int) -> str:
    """One input of the history with its answer, as hex words."""
    batch, answers = found.history
    formats = found.operands.input_formats()
    texts = []
    for name, words in batch.named().items():
        row_words: Raw = words[row : row + 1].reshape(-1)
        texts.append(f"{name} = {','.join(hex_word(formats[name], int(x)) for x in row_words)}")
    return f"{' '.join(texts)} gives {_both(found.operands.d_format, int(answers[row]))}"


def _both(fmt: Format, raw: int) -> str:
    return f"{format_value(fmt, raw)} ({hex_word(fmt, raw)})"


def _rate(rate: Rate) -> str:
    """A rate with its interval."""
    low, high = rate.interval()
    return (
        f"{rate.count} of {rate.of}, a rate of {rate.observed:.2g} "
        f"({low:.2g} to {high:.2g} with 95 %, two-sided)"
    )


def _spread(d: Format, x: Repeated) -> list[ReportPart]:
    """How answers to one input spread."""
    parts: list[ReportPart] = [f"answers other than the most frequent one: {_rate(x.other)}"]
    if x.most is not None:
        counts = sorted(x.most[1].items(), key=lambda pair: -pair[1])
        shown = ", ".join(f"{_both(d, word)} {count} times" for word, count in counts[:_SHOWN])
        parts.append(f"one input gives {len(counts)} results: {shown}{', …' if len(counts) > _SHOWN else ''}")
    if x.places:
        made = Rows(("place in the ulp", ">rounded up", ">probability", "95 % interval, two-sided"))
        for place in x.places:
            low, high = place.up.interval()
            made.rows.append((
                str(place.place), f"{place.up.count} of {place.up.of}", f"{place.up.observed:.3f}",
                f"{low:.3f} to {high:.3f}",
            ))  # fmt: skip
        parts.append(made)
        bits = (
            "those of no number of random bits" if x.random_bits is None else f"{x.random_bits} random bits"
        )
        parts.append(f"the probabilities: {bits}")
    return parts


def _validated(x: Validated) -> list[ReportPart]:
    """The rate of misfits, and the first of them."""
    parts: list[ReportPart] = [f"other random and directed inputs: misfits {_rate(x.misfits)}"]
    d, made = x.model.d_format, Rows(("misfit", "device gives", "design gives", "asked again"))
    shown = {y.witness: y for y in (misfit.simpler or misfit for misfit in x.shown)}
    for misfit in list(shown.values())[:_SHOWN]:
        again = "the same" if misfit.stays else f"{sum(y == misfit.designed for y in misfit.again)} of "
        again += "" if misfit.stays else f"{len(misfit.again)} as the design"
        command = explain_command([x.model.name], misfit.witness, in_hex(x.model))
        made.rows.append((command, hex_word(d, misfit.given), hex_word(d, misfit.designed), again))
    return [*parts, made] if made.rows else parts


def _counts(found: Identification) -> str:
    device, total = found.seconds
    return (
        f"{found.probes} dot products in {found.batches} batches, {total:.1f} s, {device:.1f} s of them the "
        f"device; {found.survivors} of {found.space:,} designs are left"
    )


def growth_picture(space: int, growth: Sequence[tuple[int, int]], style: str = STYLE) -> str:
    """A picture: how many designs of a space were left after so many dot products.

    `style` makes it stand alone; empty on a page that has it.
    """
    points = [(0, space), *growth]
    most, powers = max(1, points[-1][0]), math.ceil(math.log10(max(10, *(n for _, n in points))))
    step = max(1, powers // 6)
    y = Axis(0.7, 10.0**powers, tuple((10.0**i, f"{10**i:,}") for i in range(0, powers + 1, step)), log=True)
    x = Axis(0, most, tuple((n, f"{n:,}") for n in sorted({0, most // 2, most})))
    left = [Point(probes, max(1, count)) for probes, count in points]
    words = f"{space:,} designs at first, {points[-1][1]:,} after {most:,} dot products"
    title = "Designs left against dot products asked"
    return chart(x, y, [Series(0, left, line="steps")], title=title, words=words, style=style)
