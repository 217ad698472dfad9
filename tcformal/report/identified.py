"""Views of an identification: the class, what decided each axis, rates, and the growth of what is known."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from tcformal.design.names import resolve
from tcformal.encodings.spec import Format
from tcformal.identification.identification import (
    FITTING,
    OPEN,
    AxisOutcome,
    Identification,
    IdentifyVerdict,
    Settled,
)
from tcformal.identification.rates import Rate
from tcformal.identification.repeat import Repeated
from tcformal.identification.validation import Validated
from tcformal.oracle.values import format_value, hex_word, value_and_hex
from tcformal.report.chart import STYLE, Axis, Point, Series, chart
from tcformal.report.escape import shortened, verbose
from tcformal.report.parts import Headline, ReportPart, Rows
from tcformal.report.words import in_words, order_in_words
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Raw, batch_of, witness_at
from tcformal.simulation.operands.witness import explain_command, in_hex

#: Members of a class, values of an axis and inputs that are shown.
_SHOWN = 8


def identification_view(found: Identification) -> list[ReportPart]:
    """What the device is, or looks like; with -v every axis, rates, and what was measured."""
    good = found.verdict is IdentifyVerdict.IDENTIFIED
    device = found.device.get("device", "the device")
    measured = dict(found.measured or {})
    if found.verdict not in FITTING and (order := measured.get("order", "")).startswith("("):
        measured["order"] = " or ".join(map(order_in_words, order.split(" or ")))
    parts: list[ReportPart] = [Headline(found.verdict.value, good, f": {device}{_answer(found, measured)}")]
    parts += _designs(found)
    if found.layout is not None:
        parts.append(f"The operands meet in another order: a[i] meets b[j], j = {_listed(found.layout)}.")
    if found.repeated is not None and not found.repeated.deterministic:
        parts += _spread(found.operands.d_format, found.repeated)
    if verbose():
        parts += _axes(found)
    elif found.axes:
        parts.append(_settled(found))
    if not found.classes or verbose():
        parts += [f"{name}: {value}" for name, value in measured.items()]
    else:
        parts += [f"{name}: {measured[name]}" for name in _ALWAYS if name in measured]
    if found.unfit:
        parts += _unexplained(found)
    if found.nearest:
        parts.append(Rows(("nearest design", ">answers it gives"), [
            (x.design if verbose() else shortened(x.design), f"{x.agrees.count} of {x.agrees.of}")
            for x in found.nearest[: None if verbose() else _NEAREST]
        ]))  # fmt: skip
    if found.validated is not None:
        parts += _validated(found.validated)
    parts.append(_counts(found))
    parts += [f"not tested: {clause}" for clause in found.untested]
    return parts


#: What was measured that is shown beside a design, too; designs near to a device that are shown.
_ALWAYS, _NEAREST = ("subtracted products", "accumulator"), 3


def _answer(found: Identification, measured: dict[str, str]) -> str:
    """The rest of the first line: what the device is, or may be, or looks like."""
    if found.verdict in FITTING and found.classes:
        name = found.classes[0][0]
        text = _words(found) if name.startswith(_TREE) else name
        text += "" if found.layout is None else "; its operands meet in another order"
        if found.verdict is IdentifyVerdict.IDENTIFIED:
            return f" is {text}"
        open_ = _open(found)
        return f" is {text}; undecided: {open_}" if open_ else f" may be {text}"
    unsteady = found.verdict is IdentifyVerdict.NON_DETERMINISTIC
    if (text := measured.pop("looks like", "")) and not found.classes:
        return f": {text}" if unsteady else f" looks like {text}"
    if unsteady:
        return f": {found.reason}"
    if found.classes:
        return _but_for(found)
    return _departs(found, measured) if found.unfit and found.nearest else ""


_TREE = "tree@"


def _but_for(found: Identification) -> str:
    """The design that a faulty device looks like, and how often it gives something else."""
    name, seen = found.classes[0][0], found.validated
    text = f" looks like {_words(found) if name.startswith(_TREE) else shortened(name)}"
    if seen is None or not seen.misfits.count:
        return text
    nan = all(seen.model.d_format.is_nan(x.given) for x in seen.shown)
    of = f"{seen.misfits.count} of {seen.misfits.of} answers"
    return f"{text}, but for {of}{', which are NaN' if nan else ''}"


def _departs(found: Identification, measured: dict[str, str]) -> str:
    """The order of the sum, what gives most answers, and what leaves every design."""
    order = measured.get("order", "")
    stage, near = measured.get("breaks at", "").partition(";")[0], found.nearest[0]
    most = f"{shortened(near.design)} gives {near.agrees.count} of {near.agrees.of} answers"
    parts = [order, most, f"no design gives {stage}" if stage else ""]
    return f": {'; '.join(x for x in parts if x)}"


def _words(found: Identification) -> str:
    return in_words(resolve(found.classes[0][0]), found.operands.k)


def _open(found: Identification) -> str:
    """All values that nothing decides, by parameter; none that is proved beside another value."""
    proved = {(x.axis, x.value) for x in found.axes if x.settled is Settled.SAME}
    by_axis: dict[str, list[str]] = {}
    for x in found.axes:
        if x.settled in OPEN and (x.axis, x.value) not in proved:
            by_axis.setdefault(x.axis, []).append(_changed(x, found))
    return "; ".join(f"{axis} = {', '.join(dict.fromkeys(values))}" for axis, values in by_axis.items())


def _changed(x: AxisOutcome, found: Identification) -> str:
    """A value; of a whole design the parameters in which it is not the simplest one."""
    unit, _, settings = x.value.partition("@")
    of, _, others = found.classes[0][0].partition("@")
    if x.value != x.design or unit != of:
        return shortened(x.value)
    own, its = others.split(","), settings.split(",")
    more, fewer = ([y for y in row if y not in without] for row, without in ((its, own), (own, its)))
    kept = {y.partition("=")[0] for y in more}
    absent = [y for y in fewer if y.partition("=")[0] not in kept and y]
    return f"{','.join(more)}{' without ' if absent else ''}{','.join(absent)}".strip()


def _designs(found: Identification) -> list[ReportPart]:
    """Why, and the designs of each class."""
    only = found.classes[0][0] if found.verdict in FITTING and len(found.classes) == 1 else ""
    parts: list[ReportPart] = []
    if only and not only.startswith(_TREE) and (text := _words(found)) != only:
        parts.append(text)
    if not (
        found.verdict is IdentifyVerdict.NON_DETERMINISTIC and "looks like" not in (found.measured or {})
    ):
        parts.append(found.reason.replace(f" of {only} ", " ").replace(only, "it") if only else found.reason)
    if only.startswith(_TREE):
        parts.append(f"the design: {only}")
    for number, members in enumerate(found.classes, 1):
        head = "" if len(found.classes) == 1 else f"class {number}: {members[0]}"
        others = [shortened(x) for x in members[1 : _SHOWN + 1]]
        spelled = (
            f"also spelled {', '.join(others)}{', …' if len(members) > _SHOWN + 1 else ''}" if others else ""
        )
        if head or spelled:
            parts.append(f"  {', '.join(x for x in (head, spelled) if x)}")
    return parts


def _settled(found: Identification) -> str:
    """How many other values are settled, in one line."""
    counts = Counter(x.settled for x in found.axes)
    texts = {
        Settled.REFUTED: "refuted by its answers", Settled.SAME: "proved to change nothing",
        Settled.UNDECIDED: "undecided", Settled.UNTRIED: "not tried in time",
    }  # fmt: skip
    said = ", ".join(f"{counts[x]} {text}" for x, text in texts.items() if counts[x])
    return f"other values of {len({x.axis for x in found.axes})} parameters: {said} (-v shows each)"


def _unexplained(found: Identification) -> list[ReportPart]:
    """The simplest input that no design gives, as a sum, with the result and the nearest design's."""
    row = found.unfit[0]
    batch, answers = found.history
    w, of, d = witness_at(batch, row), found.operands, found.operands.d_format
    terms = [
        f"{format_value(of.a_format, x)}·{format_value(of.b_format, y)} (k = {i})"
        for i, (x, y) in enumerate(zip(w.a, w.b, strict=True))
        if x | y
    ]
    more = ["…"] if len(terms) > _SHOWN else []
    text = " + ".join([*terms[:_SHOWN], *more, f"{format_value(of.c_format, w.c)} (c)"])
    made = f"{len(found.unfit)} answers that no design gives, the simplest: {text} gives "
    made += value_and_hex(d, int(answers[row]))
    if found.nearest:
        near = resolve(found.nearest[0].design)
        made += f"; the nearest design gives {value_and_hex(d, int(replay(near, batch_of([w]))[0]))}"
    return [made, f"as words: {_input(found, row)}"] if verbose() else [made]


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
    return f"{' '.join(texts)} gives {value_and_hex(found.operands.d_format, int(answers[row]))}"


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
        shown = ", ".join(f"{value_and_hex(d, word)} {count} times" for word, count in counts[:_SHOWN])
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
