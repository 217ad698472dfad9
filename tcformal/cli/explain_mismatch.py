"""`explain-mismatch`: which arithmetic gives an expected result, and which the result obtained."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.samples import in_units, values_of
from tcformal.cli.evaluate import listed_values
from tcformal.cli.explain import show_traces
from tcformal.cli.group import OK, OTHERWISE, json_option, main
from tcformal.design.names import resolve
from tcformal.design.processors import PROCESSORS, on_processors
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.identification.causes import (
    Explained,
    MismatchKind,
    MismatchVerdict,
    Producer,
    case_of,
    explain_mismatch,
    read_cases,
)
from tcformal.identification.outputs import arrays_in
from tcformal.identification.product_causes import (
    ExplainedProduct,
    ProductCase,
    ProductProducer,
    ProductVerdict,
    explain_product,
    is_product,
    product_case,
)
from tcformal.oracle.numerals import number_text, power_of_two
from tcformal.oracle.values import NumberClass, decode, exponent_of, format_value, hex_word
from tcformal.programs.chain import scale_count
from tcformal.report.escape import Plain, print_json, say
from tcformal.report.parts import Headline, ReportPart, Rows, bar, show
from tcformal.report.plot import check_picture, pyplot, save_picture
from tcformal.simulation.operands.witness import explain_command, in_hex

#: Cases, recipes, and designs of one kind, that are shown one by one.
_SHOWN = 8
#: What both results are called.
SIDES = ("the expected result", "the result obtained")


def _by_architecture(names: Iterable[str]) -> dict[str, list[str]]:
    """Names of units by architecture, in the order in which these come."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.partition("/")[0], []).append(name)
    return found


def _processors_text(names: Iterable[str]) -> str:
    """All processors, each with the first of its units."""
    return ", ".join(f"{processors} ({units[0]})" for processors, units in on_processors(names))


def _data(found: Explained | ExplainedProduct, own: Plain, *, end: Plain) -> Plain:
    """What was found as plain data; `own` and `end` are what a dot product or a product has of its own."""
    hints = found.hints
    more = None if hints is None else {
        "tried": hints.tried,
        "chances": dict(zip(("expected", "got"), hints.chances, strict=True)),
        "expected_by": [*map(_producer_data, hints.expected)],
        "got_by": [*map(_producer_data, hints.got)],
    }  # fmt: skip
    return {
        "unit": found.unit.name, "verdict": found.verdict.name.lower(), "tried": found.tried,
        "chance": found.chance, **own,
        "expected_by": [*map(_producer_data, found.expected)], "got_by": [*map(_producer_data, found.got)],
        "faults": [str(fault) for fault in found.faults], "hints": more, **end,
    }  # fmt: skip


def _producer_data(p: Producer | ProductProducer) -> Plain:
    units = [
        {"arch": arch, "processors": list(PROCESSORS.get(arch, (arch,))), "names": names}
        for arch, names in _by_architecture(p.units).items()
    ]
    if isinstance(p, Producer):
        return {"design": p.design.name, "kind": p.kind.name.lower(), "what": p.what, "units": units}
    return {"unit": p.model.unit.name, "recipe": p.model.recipe.name, "fault": p.fault, "units": units}


def mismatch_data(found: Explained) -> Plain:
    """An explained mismatch of dot products as plain data."""
    d, x = found.unit.operands.d, found.divergence
    cases = [
        {
            "expected": hex_word(d, case.expected.raw), "got": hex_word(d, case.got.raw),
            "unit_gives": hex_word(d, own), "exact": None if exact is None else number_text(exact),
        }
        for case, own, exact in zip(found.cases, found.own, found.exact, strict=True)
    ]  # fmt: skip
    part = None if x is None else {"stage": x.stage, "values": [x.first, x.second]}
    return _data(found, {"cases": cases}, end={"part_at": part, "explain": _command(found)})


def product_data(found: ExplainedProduct) -> Plain:
    """An explained mismatch of products as plain data."""
    case, at, x = found.case, found.first, found.parting
    d = case.d_format
    first = None if at is None else {
        "row": at[0], "column": at[1], "expected": hex_word(d, int(case.expected[at])),
        "got": hex_word(d, int(case.got[at])),
    }  # fmt: skip
    part = None if x is None else {
        "start": x.start, "stop": x.stop, "results": [hex_word(d, word) for word in x.results],
    }  # fmt: skip
    own: Plain = {"differing": found.differing, "largest": found.largest, "first": first}
    return _data(found, own, end={"part_at": part})


def mismatch_view(found: Explained, *, every: bool = False) -> Iterator[ReportPart]:
    """The verdict, the cases, the designs that give each result, what would explain it, the divergence."""
    most = None if every else _SHOWN
    yield _verdict(found)
    if found.expected and found.got and found.chance:
        yield (
            f"of all results as near the expected ones, the {found.tried} units and computations give "
            f"{_percent(found.chance)}: so likely is it that one of them gives a wrong result by accident"
        )
    yield _cases(found, most)
    for name, made in zip(SIDES, (found.expected, found.got), strict=True):
        yield _existing(name, made, most) if made else f"No unit that exists gives {name}."
    equal = found.verdict is MismatchVerdict.EQUAL
    yield from _would_explain(
        found, () if equal else found.faults, most, "units altered in one parameter",
        lambda name: (f"what would explain {name}: a unit altered in one parameter",),
        lambda p: (p.design.name,),
    )  # fmt: skip
    if found.pair is not None and found.divergence is not None:
        first, second = (p.design.name for p in found.pair)
        stage = found.divergence
        yield f"They diverge at {stage.stage}:\n  {first}: {stage.first}\n  {second}: {stage.second}"


def product_view(found: ExplainedProduct, *, every: bool = False) -> Iterator[ReportPart]:
    """The verdict, the first element, a screenful of the recipes of each result, and where they part."""
    yield _product_verdict(found)
    d, most = found.case.d_format, None if every else _SHOWN
    if found.expected and found.got and found.chance:
        yield (
            f"of all results as near the expected one, what was tried gives {_percent(found.chance)}: so "
            "likely is it that some of it gives a wrong result by accident"
        )
    if (at := found.first) is not None:
        rows = Rows(("first element that differs", "value", "encoding"))
        for name, words in (("expected", found.case.expected), ("got", found.case.got)):
            word = int(words[at])
            rows.rows.append((f"D[{at[0]}, {at[1]}] {name}", format_value(d, word), hex_word(d, word)))
        yield rows
        count = found.case.expected.size
        yield f"{found.differing} of {count} elements differ, by at most {found.largest} values of {d}."
    for name, made in zip(SIDES, (found.expected, found.got), strict=True):
        yield _recipes(name, made, most)
    yield from _would_explain(
        found, found.faults, most, "recipes on units altered in one parameter",
        lambda name: (f"what would explain {name}", "on a unit altered in one parameter"),
        lambda p: (p.model.recipe.name, p.model.unit.name),
    )  # fmt: skip
    if found.parting is not None:
        x, y = (format_value(d, word) for word in found.parting.results)
        yield (
            f"They part at k = {found.parting.start} to {found.parting.stop - 1}: "
            f"without the products after these, the first gives {x} and the second {y}."
        )


def _percent(chance: float) -> str:
    """A chance in per cent."""
    return f"{100 * chance:.3g} %" if chance > 1e-300 else "less than 1e-298 %"


def _more(items: Sequence[object], most: int | None) -> list[str]:
    """How many items are not shown, as a list of one line, or of none."""
    return [f"… {len(items) - most} more: --all"] if most is not None and len(items) > most else []


def _would_explain(
    found: Explained | ExplainedProduct, faults: Sequence[object], most: int | None, what: str,
    heads: Callable[[str], tuple[str, ...]], cells: Callable[[Any], tuple[str, ...]],
) -> Iterator[ReportPart]:  # fmt: skip
    """Faulty sums and altered units that give what nothing that exists does."""
    if faults:
        lines = [*map(str, faults[:most]), *_more(faults, most)]
        yield "\n  ".join(["What would explain the result obtained, as a bug:", *lines])
    if (hints := found.hints) is None:
        return
    sides = zip(SIDES, (found.expected, found.got), (hints.expected, hints.got), hints.chances, strict=True)
    for name, exists, altered, chance in sides:
        if exists:
            continue
        if not altered:
            yield f"None of {hints.tried} {what} gives {name}."
            continue
        columns = heads(name)
        rows = [cells(p) for p in altered[:most]]
        yield Rows(columns, rows + [(line, *[""] * (len(columns) - 1)) for line in _more(altered, most)])
        likely = "" if chance is None else (
            f": they give {_percent(chance)} of all results as near the other one, so likely is it that "
            "one of them fits by accident"
        )  # fmt: skip
        yield f"A hint only, of {hints.tried} altered units, which do not exist{likely}."


def _command(found: Explained) -> str:
    """The `tcformal explain` command that shows both designs bit by bit."""
    if found.traces is not None:
        first = found.traces[0]
        names = [t.unit.name for t in found.traces]
        return explain_command(names, first.witness, in_hex(first.unit), longer=True)
    return explain_command([found.unit.name], found.cases[0].witness, in_hex(found.unit))


def _neither(found: Explained | ExplainedProduct) -> str:
    """The results that nothing gives."""
    return " nor ".join(x for x, made in zip(SIDES, (found.expected, found.got), strict=True) if not made)


def _verdict(found: Explained) -> Headline:
    """The verdict as one sentence: rounding or bug."""
    verdict = found.verdict
    if verdict is MismatchVerdict.EQUAL:
        return Headline(verdict.name, True, ": the results are the same")
    if verdict is MismatchVerdict.UNEXPLAINED:
        return Headline(
            verdict.name, False,
            f": none of {found.tried} units and computations of these formats gives {_neither(found)}: no "
            "difference of known arithmetic, so look for a bug, or for other operands",
        )  # fmt: skip
    if found.pair is None:
        both = f"{_called(found.got[0])} gives both results"
    else:
        both = "{} gives the expected result, {} the one obtained".format(*map(_called, found.pair))
    if verdict is MismatchVerdict.UNDECIDED:
        fault = next(x for x in found.faults if not x.of_c)
        both += f"; but so does {fault}, which is a bug: more elements tell them apart"
    return Headline(verdict.name, verdict is MismatchVerdict.ROUNDING, f": {both}")


def _product_verdict(found: ExplainedProduct) -> Headline:
    """The same of products."""
    verdict = found.verdict
    if verdict is ProductVerdict.EQUAL:
        return Headline(verdict.name, True, ": the results are the same")
    if verdict is ProductVerdict.UNEXPLAINED:
        told = f": none of {found.tried} recipes on units of these formats gives {_neither(found)}"
        if found.faults and not found.got:
            told += f"; {found.faults[0]} does, which is a bug"
        return Headline(verdict.name, False, told)
    nearest = found.expected[0], found.got[0]
    if verdict is ProductVerdict.FAULT:
        named = zip(("expected", "got"), nearest, strict=True)
        return Headline(
            verdict.name, False, f": {'; '.join(f'{name} has {p.fault}' for name, p in named if p.fault)}"
        )
    both = ": {} gives the expected result, {} the one obtained".format(*map(_called, nearest))
    if verdict is ProductVerdict.UNDECIDED:
        both += f"; but so does {found.faults[0]}, which is a bug: more elements tell them apart"
    return Headline(verdict.name, verdict is ProductVerdict.ROUNDING, both)


def _called(p: Producer | ProductProducer) -> str:
    if isinstance(p, ProductProducer):
        return f"{p.model.recipe.name} on {_processors_text(p.units) or p.model.unit.name}"
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
    for p in units[:most]:
        if not p.units:
            table.rows.append((p.design.name, "", p.what))
        for i, (processors, names) in enumerate(on_processors(p.units)):
            more = f" and {len(names) - 1} more" if len(names) > 1 and most is not None else ""
            for j, unit in enumerate(names if most is None else names[:1]):
                what = p.what if i == j == 0 else "the same arithmetic"
                table.rows.append((f"{unit}{more}", processors if not j else "", what))
    table.rows += [(line, "", "other units") for line in _more(units, most)]
    table.rows += [(p.design.name, "", p.what) for p in made if p.kind is MismatchKind.COMPUTATION]
    return table


def _recipes(name: str, made: Sequence[ProductProducer], most: int | None) -> ReportPart:
    if not made:
        return f"No recipe on a unit that exists gives {name}."
    table = Rows((f"gives {name}", "on", "", ""))
    for p in made[:most]:
        units = list(on_processors(p.units)) or [("", [p.model.unit.name])]
        for i, (processors, names) in enumerate(units):
            recipe, fault = (p.model.recipe.name, p.fault) if i == 0 else ("", "")
            table.rows.append((recipe, names[0], processors, fault))
    table.rows += [(line, "", "", "") for line in _more(made, most)]
    return table


#: Rows and columns of a picture at most: of a larger matrix each point is the largest of a tile.
_POINTS = 512


def product_heat(path: str, case: ProductCase) -> None:
    """A heat map of |got - expected| in units of u·|A||B|, and the elements that differ as data.

    Ranges and units: at most 512 points a side; of a larger product each point, in picture and data, is the
    element of a tile that differs most.

    Zero, NaN, Inf: an element of which one result is NaN or Inf and the other another one is infinitely far.
    Errors: as `save_picture`.
    """
    far = distances(case)
    sides = case.expected, case.got
    rows = [
        (i, j, *(hex_word(case.d_format, int(x[i, j])) for x in sides), far[i, j]) for i, j in _places(far)
    ]
    shown = _tiled(far)

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        m, n = far.shape
        colours = pyplot().get_cmap("viridis_r").with_extremes(over="red")  # red: infinitely far
        most = float(shown[np.isfinite(shown)].max(initial=0.0)) or 1.0
        image = axes.imshow(
            np.ma.masked_where(shown == 0, shown), extent=(0, n, m, 0), aspect="auto", vmin=0, vmax=most,
            cmap=colours, interpolation="nearest",
        )  # fmt: skip
        figure.colorbar(image, label="|got − expected| / (u |A||B|)")
        axes.grid(visible=False)
        axes.set(xlabel="column", ylabel="row", title=f"{np.count_nonzero(far)} of {m * n} elements differ")

    save_picture(path, ("row", "column", "expected", "got", "units"), rows, draw)


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


@main.command(name="explain-mismatch")
@click.argument("unit", metavar="UNIT")
@click.option("--a", "a", help="K values of a, separated by commas; a final ... fills up with zeros.")
@click.option("--b", "b", help="K values of b, as for a.")
@click.option("--c", "c", default="0", show_default=True, help="Value of c, the accumulator.")
@click.option("--scale-a", help="Scales of a, one per block of k; default: ones.")
@click.option("--scale-b", help="Scales of b, one per block of k, as for a.")
@click.option("--expected", help="The expected result: a value, or a raw encoding 0x….")
@click.option("--got", help="The result obtained, as for --expected.")
@click.option(
    "--file", "path", type=click.Path(path_type=Path),
    help="Cases in a file instead: JSON objects with a, b, c, expected, got, or an .npz with such arrays; "
    "matrices expected, got, a [M, K], b [K, N] are a product, with c, bias, alpha, beta, scale_a, scale_b.",
)  # fmt: skip
@click.option("--recipe", "recipes", multiple=True, help="For a product: another recipe to try.")
@click.option("--only-unit", is_flag=True, help="For a product: try no other unit.")
@click.option("--output", help="For a product: the format of the results.")
@click.option("--plot", "picture", metavar="FILE",
              help="For a product: a heat map of what differs (svg, png, pdf); the elements beside "
              "it.")  # fmt: skip
@click.option("--all", "every", is_flag=True, help="Show every design, recipe and case, beyond a screenful.")
@click.option("--explain", "with_explanation", is_flag=True, help="Show both designs bit by bit.")
@json_option
def explain_mismatch_(
    unit: str, a: str | None, b: str | None, c: str, scale_a: str | None, scale_b: str | None,
    expected: str | None, got: str | None, path: Path | None, recipes: tuple[str, ...],
    only_unit: bool, output: str | None, picture: str | None, every: bool, with_explanation: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Rounding or bug?  Find the designs that give an expected result, and those that give the one obtained.

    Tries the unit, every catalogued design of its formats and plain computations (the exact sum rounded
    once, fused multiply–adds, a chain in fp64).  Exit 0: these give both results, and the sum with a lost
    product does not.  Where they do not, units altered in one parameter are tried as hints.  A whole product
    is also tried by every recipe: split-K, promotion, the residue first, and known faults of libraries.
    """
    check_picture(picture)
    spec = resolve(unit)
    given = {"--a": a, "--b": b, "--expected": expected, "--got": got}
    if path is not None:
        both = [name for name, text in given.items() if text is not None]
        if both:
            raise InputError(f"expected --file or operands, but got --file and {both[0]}")
        data_of = arrays_in(path) if path.suffix == ".npz" else {}
        if is_product(data_of):
            case = product_case(spec, data_of, str(path), output)
            return _product(spec, case, recipes, only_unit, every, as_json, picture)
        cases = read_cases(spec, path)
    else:
        missing = [name for name, text in given.items() if text is None]
        if missing:
            raise InputError(f"expected {missing[0]}, or --file FILE, but got neither")
        count = scale_count(spec, spec.k)
        data: dict[str, object] = {
            "a": listed_values(a or "", spec.k), "b": listed_values(b or "", spec.k), "c": c,
            "expected": expected, "got": got,
        }  # fmt: skip
        data |= {
            name: listed_values(text, count)
            for name, text in (("scale_a", scale_a), ("scale_b", scale_b))
            if text is not None
        }
        cases = [case_of(spec, data, "the options")]
    if recipes or output or picture is not None:
        raise InputError(
            "expected --recipe, --output and --plot beside the matrices of a product, but got other cases"
        )
    with bar("trying designs") as advance:
        found = explain_mismatch(spec, cases, advance)
    if as_json:
        print_json(mismatch_data(found))
    else:
        show([*mismatch_view(found, every=every)])
        say(f"bit by bit: {_command(found)}")
        if with_explanation and found.traces is not None:
            say()
            show_traces(found.traces)
    good = found.verdict in (MismatchVerdict.ROUNDING, MismatchVerdict.EQUAL)
    return OK if good else OTHERWISE


def _product(
    spec: UnitSpec, case: ProductCase, recipes: tuple[str, ...], only_unit: bool, every: bool,
    as_json: bool, picture: str | None,
) -> int:  # fmt: skip
    """Explain two results of one matrix product; the exit code."""
    with bar("trying recipes") as advance:
        found = explain_product(spec, case, recipes, advance, rivals=not only_unit)
    print_json(product_data(found)) if as_json else show([*product_view(found, every=every)])
    if picture is not None:
        product_heat(picture, case)
    return OK if found.verdict in (ProductVerdict.ROUNDING, ProductVerdict.EQUAL) else OTHERWISE
