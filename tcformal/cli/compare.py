"""`compare`: two outputs of a product, or one: what made them, and is it rounding or a bug?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.samples import values_of
from tcformal.cli.dot_mismatch import (
    command_of,
    hints_data,
    hints_view,
    mismatch_data,
    mismatch_view,
    percent,
)
from tcformal.cli.evaluate import listed_values
from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, Answer, json_option, main
from tcformal.design.names import resolve
from tcformal.design.short_names import architecture_of, on_processors
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format
from tcformal.errors import InputError, ValueTextError
from tcformal.identification.causes import (
    MismatchCase,
    MismatchVerdict,
    case_of,
    explain_mismatch,
    read_cases,
)
from tcformal.identification.comparison import Compared, Difference, compare_outputs
from tcformal.identification.outputs import outputs
from tcformal.identification.product_recipes import ProductProducer
from tcformal.oracle.values import hex_word, parse_printed
from tcformal.report.escape import say
from tcformal.report.parts import Headline, ReportPart, Rows, bar, show, telling
from tcformal.report.plot import check_picture
from tcformal.semantics.chain import scale_count
from tcformal.shown import JsonObject
from tcformal.simulation.array_files import arrays_in, read_array, valued

#: Recipes, and architectures, that a line shows.
_RECIPES, _ARCHITECTURES = 3, 12
#: The chance of an accident from which the first line says it.
_LIKELY = 0.01
#: The arrays and numbers of a product in one file.
_ARRAYS = ("expected", "got", "a", "b", "c", "bias", "scale_a", "scale_b")
_FACTORS = ("alpha", "beta")
_Operand = NDArray[Any] | float | None
#: The command's earlier name, by which it takes a unit.
_ALIAS = "explain-mismatch"
#: Options of a product, and those of a unit, by their parameters.
_OF_PRODUCT = ("bias", "alpha", "beta", "gpu", "library", "again", "picture", "output", "only_unit")
_OF_UNIT = ("output", "only_unit", "traced")


@main.command()
@click.argument("expected", metavar="EXPECTED")
@click.argument("got", metavar="[GOT]", required=False)
@click.option("--a", "a", help="The matrix A [M, K]; beside a unit K values: 1.5,0x3c00,...")
@click.option("--b", "b", help="The matrix B [K, N], or [N, K] where only that fits; beside a unit K values.")
@click.option("--c", "c", help="The matrix C; beside a unit one value.")
@click.option("--bias", help="A bias that broadcasts to the output.")
@click.option("--alpha", type=float, help="The factor of A·B.")
@click.option("--beta", type=float, help="The factor of C.")
@click.option("--scale-a", help="Scales of A's blocks [M, blocks].")
@click.option("--scale-b", help="Scales of B's blocks [blocks, N].")
@click.option("--gpu", help="Only units of this GPU or architecture: h100, hopper.")
@click.option("--library", default="", help="Only recipes whose names begin so: cublaslt, cutlass, plain.")
@click.option("--again", multiple=True, help="Another run of what made GOT: are its results always the same?")
@click.option("--plot", "picture", metavar="FILE", help="A heat map of what differs (svg, png, pdf); the "
              "elements beside it.")  # fmt: skip
@click.option("--expected", "right", help="Beside a unit: the expected result, a value or an encoding 0x….")
@click.option("--got", "wrong", help="Beside a unit: the result obtained.")
@click.option("--file", "path", type=click.Path(path_type=Path), help="Beside a unit: JSON objects with a, "
              "b, c, expected and got; or an .npz of such arrays, or of a product's.")  # fmt: skip
@click.option("--only-unit", is_flag=True, help="Of a product's file: try the unit alone, which may be "
              "altered.")  # fmt: skip
@click.option("--output", help="Of a product's file: the format of the results, where words do not say it.")
@click.option("--all", "every", is_flag=True, help="Show every unit, recipe and case, beyond a screenful.")
@click.option("--explain", "traced", is_flag=True, help="Of a dot product: show both units bit by bit.")
@json_option
@click.pass_context
def compare(
    context: click.Context, /, expected: str, got: str | None, right: str | None, wrong: str | None,
    path: Path | None, **given: Any,
) -> Answer:  # fmt: skip
    """Rounding or bug?  Say why two outputs of one matrix product differ, or what made one.

    Arrays are FILE.npy, FILE.npz:NAME or FILE.safetensors:NAME, with :FORMAT behind words whose dtype does
    not say it, or FILE.bin:FORMAT:ROWSxCOLUMNS.  An .npz with a, b, expected and got is enough.  Every unit
    of the catalogue that takes the operands is tried by every recipe.  Exit 0: the outputs are the same, or
    units and recipes that exist make both.

    One dot product: `compare UNIT --a 1,... --b 1,... --expected X --got Y`.  The unit, every other one of
    its formats and plain computations are tried; where they do not give both results, faulty sums and units
    altered in one parameter are said as hints, with the chance that one of them fits by accident.
    """
    check_picture(given["picture"])
    values = {"--a": given["a"], "--b": given["b"], "--expected": right, "--got": wrong}
    if context.info_name != _ALIAS and right is None and wrong is None and path is None:
        _refuse(given, _OF_UNIT, "a unit and its results")
        return _product(_arrays(expected, got, given), given)
    spec = resolve(expected)
    if got is not None:
        raise InputError(f"expected --got beside the unit {spec.name}, but got {got:.80} without it")
    if path is not None:
        both = [name for name, text in values.items() if text is not None]
        if both:
            raise InputError(f"expected --file or operands, but got --file and {both[0]}")
        held = arrays_in(path) if path.suffix == ".npz" else {}
        if "expected" in held and held["expected"].ndim == 2:
            _refuse(given, ("traced",), "a dot product")
            arrays = _in_archive(held, str(path), spec, given["output"])
            return _product(arrays, given, spec if given["only_unit"] else None)
        cases = read_cases(spec, path)
    else:
        missing = [name for name, text in values.items() if text is None]
        if missing:
            raise InputError(f"expected {missing[0]}, or --file FILE, but got neither")
        cases = [_dot_product(spec, given, right, wrong)]
    _refuse(given, _OF_PRODUCT, "the matrices of a product")
    return _dot_products(spec, cases, given)


alias = copy(compare)
main.add_command(alias, _ALIAS)


def _refuse(given: Mapping[str, Any], names: Sequence[str], where: str) -> None:
    """Raise InputError for an option that means nothing here."""
    shown = {"picture": "plot", "traced": "explain"}
    for name in names:
        if given[name] is not None and given[name] is not False and given[name] not in ("", ()):
            option = shown.get(name, name).replace("_", "-")
            raise InputError(f"expected --{option} beside {where}, but got it without")


def _arrays(expected: str, got: str | None, given: Mapping[str, Any]) -> dict[str, _Operand]:
    """The arrays and factors of a product, of files or of an archive that holds all of it."""
    texts = {"expected": expected, "got": got} | {name: given[name] for name in _ARRAYS[2:]}
    arrays: dict[str, _Operand] = {name: given[name] for name in _FACTORS}
    if given["a"] is None and given["b"] is None and got is None and Path(expected).suffix == ".npz":
        held = _in_archive(arrays_in(Path(expected)), expected)
        arrays |= {name: x for name, x in held.items() if arrays.get(name) is None}
        texts["expected"] = None
    arrays |= {name: read_array(text) for name, text in texts.items() if text is not None}
    for name in ("a", "b"):
        if name not in arrays:
            raise InputError(f"expected --{name} with the matrix {name.upper()}, but got none")
    return arrays


def _in_archive(
    held: Mapping[str, NDArray[Any]], where: str, unit: UnitSpec | None = None, output: str | None = None
) -> dict[str, _Operand]:
    """The arrays and factors of a product in an archive; words are of a unit's formats, if one is named."""
    for name in held:
        if name not in (*_ARRAYS, *_FACTORS):
            raise InputError(
                f"expected the arrays {', '.join((*_ARRAYS, *_FACTORS))} in {where}, but got {name}"
            )
    formats: dict[str, Format] = {}
    if unit is not None:
        d = unit.d_format if output is None else format_named(output)
        formats = {"a": unit.a_format, "b": unit.b_format, "expected": d, "got": d}
        for name in ("c", "bias"):
            if name in held:
                wide = held[name].dtype.itemsize == unit.d_format.storage_bits // 8
                formats[name] = unit.d_format if wide else d
        scale = unit.scale_format.name.removeprefix("u") if unit.scale_format is not None else "fp32"
        formats |= dict.fromkeys(("scale_a", "scale_b"), format_named(scale))
    found: dict[str, _Operand] = {}
    for name, x in held.items():
        if name in _FACTORS:
            if x.size != 1 or x.dtype.kind not in "fiu":
                raise InputError(f"expected one number {name} in {where}, but got {list(x.shape)}")
            found[name] = float(x.reshape(-1)[0])
        else:
            found[name] = valued(x, formats.get(name) if x.dtype.kind == "u" else None, f"{name} of {where}")
    return found


def _product(
    arrays: Mapping[str, _Operand], given: Mapping[str, Any], unit: UnitSpec | None = None
) -> Answer:
    """Compare two outputs of a product, or say what made one."""
    case, one = outputs(**arrays), arrays.get("got") is None  # type: ignore[arg-type]
    runs = [np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}") for x in map(read_array, given["again"])]
    gpu, library = given["gpu"], given["library"]
    with telling("trying units and recipes") as tell:
        found = compare_outputs(
            case, runs, arch=None if gpu is None else architecture_of(gpu), library=library, unit=unit,
            progress=tell,
        )  # fmt: skip
    if given["picture"] is not None:
        from tcformal.cli.heat import product_heat

        product_heat(given["picture"], case)
    code = OTHERWISE if found.kind in (Difference.BUG, Difference.VARYING) else OK
    if found.kind is Difference.UNEXPLAINED or (one and not found.expected):
        code = NO_ANSWER
    return Answer(data_of(found, one=one), [*view_of(found, one=one, every=given["every"])], code)


def _dot_product(
    spec: UnitSpec, given: Mapping[str, Any], right: str | None, wrong: str | None
) -> MismatchCase:
    """The dot product of the options."""
    count = scale_count(spec, spec.k)
    rows = {name: listed_values(given[name], spec.k) for name in "ab"}
    # Fewer products than the unit takes are filled up, so that every other unit can take them.
    data: dict[str, object] = {name: x + ["0"] * (spec.k - len(x)) for name, x in rows.items()}
    # Results are copied from what a program printed; any NaN stays any NaN.
    d = spec.operands.d
    data |= {"c": given["c"] or "0"}
    for name, text in (("expected", right), ("got", wrong)):
        data[name] = text
        if text is not None and "nan" not in text.lower():
            with suppress(ValueTextError):  # `case_of` says so, and where
                data[name] = hex_word(d, parse_printed(d, text))
    for name in ("scale_a", "scale_b"):
        if given[name] is not None:
            data[name] = listed_values(given[name], count)
    return case_of(spec, data, "the options")


def _dot_products(spec: UnitSpec, cases: Sequence[MismatchCase], given: Mapping[str, Any]) -> Answer:
    """Explain two results of dot products."""
    with bar("trying designs") as advance:
        found = explain_mismatch(spec, cases, advance)

    def text() -> None:
        show([*mismatch_view(found, every=given["every"])])
        say(f"bit by bit: {command_of(found)}")
        if given["traced"] and found.traces is not None:
            from tcformal.report.picture import show_traces

            say()
            show_traces(found.traces)

    code = OK if found.verdict in (MismatchVerdict.ROUNDING, MismatchVerdict.SAME) else OTHERWISE
    return Answer(
        mismatch_data(found), text, NO_ANSWER if found.verdict is MismatchVerdict.UNEXPLAINED else code
    )


def headline(found: Compared, *, one: bool = False) -> tuple[str, str]:
    """The answer's first words, and the rest of its first line."""
    made, other = _short(found.expected), _short(found.got)
    kind, bug = found.kind, found.bug
    likely = f"; or by accident ({percent(found.chance)})" if found.chance and found.chance > _LIKELY else ""
    if one:
        return (
            ("MADE BY", made)
            if made
            else ("UNEXPLAINED", f"none of {found.tried} recipes on units makes the output")
        )
    if kind is Difference.SAME:
        return kind.value, f"all elements are equal{'; made by ' + made if made else ''}"
    if kind is Difference.VARYING:
        return kind.value, "runs on the same operands have different results"
    if bug is not None and bug.other is not None and bug.model is not None:
        where = "GOT" if bug.side == "got" else "EXPECTED"
        return (
            kind.value,
            f"{where} is made by {_short([bug.model])}, and {bug.what}: by {_short([bug.other])}{likely}",
        )
    if bug is not None:
        where = "GOT" if bug.side == "got" else "EXPECTED"
        how = "" if bug.exact else ", to within rounding"
        of = f" (otherwise as {_short([bug.model])})" if bug.model is not None else ""
        return kind.value, f"in {where} {bug.what}{how}{of}"
    if kind is Difference.BUG:
        both = (("EXPECTED", found.expected[0]), ("GOT", found.got[0]))
        return kind.value, "; ".join(f"in {x} {p.fault} ({_short([p])})" for x, p in both if p.fault)
    if kind is Difference.UNEXPLAINED:
        sides = [name for name, makes in (("EXPECTED", found.expected), ("GOT", found.got)) if not makes]
        return kind.value, (
            f"none of {found.tried} recipes on units makes {' nor '.join(sides)}, and no bug that was tried"
        )
    return kind.value, f"EXPECTED is made by {made}, GOT by {other}{_other(found)}{likely}"


def _other(found: Compared) -> str:
    """What the two recipes differ in, where it is one thing."""
    one, two = found.expected[0].model, found.got[0].model
    if found.kind is Difference.FORMAT:
        if one.unit.d_format != two.unit.d_format:
            return f": sums in {one.unit.d_format.name} and in {two.unit.d_format.name}"
        if one.unit.a_format != two.unit.a_format:
            return f": operands in {one.unit.a_format.name} and in {two.unit.a_format.name}"
    return ""


def _short(makes: Sequence[ProductProducer]) -> str:
    """Processors and the first recipe of what makes an output."""
    if not makes:
        return ""
    names = dict.fromkeys(name for p in makes for name in p.units)
    shown = [processors for processors, _ in on_processors(names)]
    if any(p.of_cores and not p.reference for p in makes):
        shown.insert(0, "multiply–adds of any processor's cores")
    if any(p.reference for p in makes):
        shown.insert(0, "sums in fp64 that are rounded once")
    more = f" and {len(shown) - _ARCHITECTURES} more" if len(shown) > _ARCHITECTURES else ""
    return f"{', '.join(shown[:_ARCHITECTURES])}{more} ({makes[0].model.recipe.name})"


def view_of(found: Compared, *, one: bool = False, every: bool = False) -> list[ReportPart]:
    """The answer first; then what makes each output, how far they differ, and what was tried."""
    word, rest = headline(found, one=one)
    good = found.kind not in (Difference.BUG, Difference.UNEXPLAINED, Difference.VARYING)
    parts: list[ReportPart] = [Headline(word, good, f": {rest}")]
    rows: list[tuple[str, ...]] = []
    for name, makes in (("EXPECTED", found.expected), ("GOT", found.got))[: 1 if one else 2]:
        for arch, units in on_processors(dict.fromkeys(x for p in makes for x in p.units)):
            recipes = list(dict.fromkeys(p.model.recipe.name for p in makes if set(units) & set(p.units)))
            most = len(recipes) if every else _RECIPES
            more = f", … ({len(recipes)})" if len(recipes) > most else ""
            shown = ", ".join(units) if every else units[0]
            rows.append((name, arch, shown, ", ".join(recipes[:most]) + more))
        rows += [
            (name, "no matrix unit", p.model.unit.name, p.model.recipe.name) for p in makes if not p.units
        ]
    if rows:
        parts.append(Rows(("output", "made by", "unit", "recipes"), rows))
    d = found.case.d_format
    if found.first is not None and found.worst is not None:
        total = found.case.expected.size
        parts.append(f"{found.differing} of {total} elements differ ({100 * found.differing / total:.3g} %)")
        for name, place in (("the first", found.first), ("the most", found.worst)):
            values = [int(x[place]) for x in (found.case.expected, found.case.got)]
            shown = " against ".join(f"{_decimal(d, w)} ({hex_word(d, w)})" for w in values)
            parts.append(f"{name}, at row {place[0]}, column {place[1]}: {shown}")
    if (at := found.parting) is not None:
        words = " against ".join(_decimal(d, w) for w in at.results)
        parts.append(f"they part at k = {at.start} to {at.stop - 1}: {words}")
    if found.share is not None:
        parts.append(
            f"the largest difference is {found.share:.3g} of the largest that rounding can make on these "
            "operands (proved bounds)"
        )
    parts.append(
        f"{found.tried} recipes on units tried; those named were verified on {found.checked} elements"
    )
    if found.chance:
        parts.append(
            f"of all results as near as those that differ, the recipes give {percent(found.chance)}: so "
            "likely is it that one of them fits by accident"
        )
    if found.hints is not None:
        made = {"EXPECTED": bool(found.expected), "GOT": bool(found.got)}
        parts += hints_view(found.hints, made, _altered, None if every else _RECIPES)
    return parts


def _decimal(d: Format, word: int) -> str:
    """A result in as many decimal places as tell it from its neighbours."""
    places = 2 + int(d.precision * 0.30103)
    return f"{float(values_of(np.array([word], f'u{d.storage_bits // 8}'), d)[0]):.{places}g}"


def data_of(found: Compared, *, one: bool = False) -> JsonObject:
    """The answer as plain data."""
    d, bug = found.case.d_format, found.bug
    word, rest = headline(found, one=one)

    def element(place: tuple[int, int] | None) -> JsonObject | None:
        if place is None:
            return None
        words = {
            name: hex_word(d, int(x[place]))
            for name, x in (("expected", found.case.expected), ("got", found.case.got))
        }
        return {"row": place[0], "column": place[1], **words}

    return {
        "verdict": word, "answer": rest,
        "expected_by": [_maker(p) for p in found.expected], "got_by": [_maker(p) for p in found.got],
        "bug": None
        if bug is None
        else {"what": bug.what, "in": bug.side, "exact": bug.exact, "elements": bug.wrong},
        "differing": found.differing, "elements": int(found.case.expected.size),
        "first": element(found.first), "worst": element(found.worst),
        "share_of_rounding": found.share, "tried": found.tried, "verified_on": found.checked,
        "chance": found.chance, "hints": None if found.hints is None else hints_data(found.hints, _maker),
    }  # fmt: skip


def _maker(p: ProductProducer) -> JsonObject:
    return {"unit": p.model.unit.name, "units": list(p.units), "recipe": p.model.recipe.name}


def _altered(p: ProductProducer) -> str:
    """A recipe on an altered unit: what is altered, and the processors of the unit as it is."""
    unit, _, change = p.model.unit.name.partition("@")
    on = ", ".join(processors for processors, _ in on_processors(p.units)) or unit
    return f"{on} with {change} ({p.model.recipe.name})"
