"""Views of an explained mismatch: rounding or bug."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.errors import in_units, values_of
from tcformal.identification.causes.producers import MismatchKind, Producer
from tcformal.identification.causes.product_recipes import ProductProducer
from tcformal.identification.mismatch import Explained, MismatchVerdict
from tcformal.identification.product_case import ProductCase
from tcformal.identification.products import ExplainedProduct, ProductVerdict
from tcformal.oracle.text import number_text, power_of_two
from tcformal.oracle.values import NumberClass, decode, exponent_of, format_value, hex_word
from tcformal.report.parts import Headline, ReportPart, Rows
from tcformal.report.plot import pyplot, save_picture
from tcformal.simulation.operands.command import explain_command, in_hex


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
        "expected_by": [_product_producer(p) for p in found.expected],
        "got_by": [_product_producer(p) for p in found.got],
        "faults": [str(fault) for fault in found.faults],
        "hints": None
        if hints is None
        else {
            "tried": hints.tried,
            "chances": dict(zip(("expected", "got"), hints.chances, strict=True)),
            "expected_by": [_product_producer(p) for p in hints.expected],
            "got_by": [_product_producer(p) for p in hints.got],
        },
        "part_at": None
        if parting is None
        else {
            "start": parting.start, "stop": parting.stop,
            "results": [hex_word(d, word) for word in parting.results],
        },
    }  # fmt: skip


def _product_producer(p: ProductProducer) -> dict[str, Any]:
    made = {"unit": p.model.unit.name, "recipe": p.model.recipe.name, "fault": p.fault}
    return {**made, "units": processors_data(p.units)}


def product_view(found: ExplainedProduct, *, every: bool = False) -> list[ReportPart]:
    """The verdict, the first element, a screenful of the recipes of each result, and where they part."""
    parts: list[ReportPart] = [_product_verdict(found)]
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
    parts += _product_would_explain(found, most)
    if found.parting is not None:
        x, y = (format_value(d, word) for word in found.parting.results)
        parts.append(
            f"They part at k = {found.parting.start} to {found.parting.stop - 1}: "
            f"without the products after these, the first gives {x} and the second {y}."
        )
    return parts


def _product_verdict(found: ExplainedProduct) -> Headline:
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
    first, second = (_product_called(p) for p, *_ in (found.expected, found.got))
    both = f": {first} gives the expected result, {second} the one obtained"
    if verdict is ProductVerdict.UNDECIDED:
        both += f"; but so does {found.faults[0]}, which is a bug: more elements tell them apart"
    return Headline(verdict.name, verdict is ProductVerdict.ROUNDING, both)


def _product_called(p: ProductProducer) -> str:
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


def _product_would_explain(found: ExplainedProduct, most: int | None) -> Iterator[ReportPart]:
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


#: Rows and columns of a picture at most: of a larger matrix each point is the largest of a tile.
_POINTS = 512


def product_heat(path: str, command: Sequence[str], case: ProductCase) -> Path:
    """A heat map of |got - expected| in units of u·|A||B|, and the elements that differ as data; its path.

    Ranges and units: at most 512 points a side; of a larger product each point, in picture and data, is the
    element of a tile that differs most.

    Zero, NaN, Inf: an element of which one result is NaN or Inf and the other another one is infinitely far.
    Errors: as `save_picture`.
    """
    far = distances(case)
    rows = [
        (
            int(i),
            int(j),
            *(hex_word(case.d_format, int(x[i, j])) for x in (case.expected, case.got)),
            far[i, j],
        )
        for i, j in _places(far)
    ]
    shown = _tiled(far)

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        m, n = far.shape
        most = float(shown[np.isfinite(shown)].max(initial=0.0)) or 1.0
        image = axes.imshow(
            np.ma.masked_where(shown == 0, shown), extent=(0, n, m, 0), aspect="auto", vmin=0, vmax=most,
            cmap=_colours(), interpolation="nearest",
        )  # fmt: skip
        figure.colorbar(image, label="|got − expected| / (u |A||B|)")
        axes.grid(visible=False)
        axes.set(xlabel="column", ylabel="row", title=f"{np.count_nonzero(far)} of {m * n} elements differ")

    return save_picture(path, command, ("row", "column", "expected", "got", "units"), rows, draw)


def _colours() -> Any:
    """Light to dark; red for what is infinitely far."""
    return pyplot().get_cmap("viridis_r").with_extremes(over="red")


def distances(case: ProductCase) -> NDArray[np.float64]:
    """|got - expected| of each element in units of u·|alpha|·|A||B|, scales taken in; 0 for the same words.

    Shapes: [M, N].
    """
    expected, got = (values_of(x, case.d_format) for x in (case.expected, case.got))
    a, b = (np.abs(np.asarray(x).astype(np.float64)) for x in (case.a, case.b))
    for name, scales in (("a", case.scale_a), ("b", case.scale_b)):
        if scales is not None:
            axis = 1 if name == "a" else 0
            size = -(-case.k // scales.shape[axis])
            each = np.repeat(np.abs(np.asarray(scales).astype(np.float64)), size, axis=axis)
            a, b = (a * each[:, : case.k], b) if name == "a" else (a, b * each[: case.k])
    sizes = a @ b * abs(1.0 if case.alpha is None else float(case.alpha))
    with np.errstate(invalid="ignore"):
        found = in_units(case.d_format, np.abs(got - expected), sizes)
    found = np.where(np.isnan(found), np.inf, found)
    return np.asarray(np.where(case.expected == case.got, 0.0, found), np.float64)


def _steps(far: NDArray[np.float64]) -> list[int]:
    """Rows and columns of a tile."""
    return [max(1, -(-size // _POINTS)) for size in far.shape]


def _places(far: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The element of each tile that differs most, where one differs."""
    high, wide = _steps(far)
    if high == wide == 1:
        return [(int(i), int(j)) for i, j in np.argwhere(far > 0)]
    found = []
    for top in range(0, far.shape[0], high):
        for left in range(0, far.shape[1], wide):
            tile = far[top : top + high, left : left + wide]
            i, j = divmod(int(tile.argmax()), tile.shape[1])
            if tile[i, j] > 0:
                found.append((top + i, left + j))
    return found


def _tiled(far: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest of each tile, of as many tiles as a picture has points."""
    steps = _steps(far)
    made = np.maximum.reduceat(far, np.arange(0, far.shape[0], steps[0]), axis=0)
    return np.asarray(np.maximum.reduceat(made, np.arange(0, far.shape[1], steps[1]), axis=1), np.float64)


#: GPUs and accelerators of each architecture of the catalogue; of instruction sets and open designs, what
#: they are called.
PROCESSORS: dict[str, tuple[str, ...]] = {
    "volta": ("V100",),
    "turing": ("T4", "RTX 20"),
    "ampere": ("A100", "A30"),
    "ada": ("L4", "L40S", "RTX 40"),
    "hopper": ("H100", "H200"),
    "blackwell": ("B200", "GB200"),
    "rtx-blackwell": ("RTX 50", "RTX PRO 6000"),
    "cdna1": ("MI100",),
    "cdna2": ("MI210", "MI250X"),
    "cdna3": ("MI300X", "MI300A", "MI325X"),
    "rdna3": ("RX 7900",),
    "rdna4": ("RX 9070",),
    "gaudi": ("Gaudi",),
    "gaudi2": ("Gaudi 2",),
    "gaudi3": ("Gaudi 3",),
    "arm": ("Arm",),
    "x86": ("x86",),
    "power10": ("Power10",),
    "riscv": ("RISC-V",),
    "et-soc-1": ("ET-SoC-1",),
    "vortex": ("Vortex",),
    "hexagon": ("Hexagon",),
    "nvdla": ("NVDLA",),
}


def by_architecture(names: Iterable[str]) -> dict[str, list[str]]:
    """Names of units by architecture, in the order in which these come."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.partition("/")[0], []).append(name)
    return found


def on_processors(names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """The processors of each architecture, and the units that they have."""
    for arch, units in by_architecture(names).items():
        yield ", ".join(PROCESSORS.get(arch, (arch,))), units


def processors_text(names: Iterable[str]) -> str:
    """All processors, each with the first of its units."""
    return ", ".join(f"{processors} ({units[0]})" for processors, units in on_processors(names))


def processors_data(names: Iterable[str]) -> list[dict[str, Any]]:
    """The processors of each architecture and all of their units, as plain data."""
    return [
        {"arch": arch, "processors": list(PROCESSORS.get(arch, (arch,))), "names": units}
        for arch, units in by_architecture(names).items()
    ]


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
