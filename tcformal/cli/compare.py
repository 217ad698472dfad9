"""`compare`: two outputs of one matrix product, or one: what made them, and is it rounding or a bug?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.samples import values_of
from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, json_option, main
from tcformal.design.processors import architecture_of, on_processors
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.identification.comparison import Compared, Difference, compare_outputs
from tcformal.identification.outputs import arrays_in, outputs, read_array
from tcformal.identification.product_causes import ProductProducer
from tcformal.oracle.values import hex_word
from tcformal.report.escape import print_json
from tcformal.report.parts import Headline, ReportPart, Rows, bar, show

#: Recipes, and architectures, that a line shows.
_RECIPES, _ARCHITECTURES = 3, 12


@main.command()
@click.argument("expected", metavar="EXPECTED")
@click.argument("got", metavar="[GOT]", required=False)
@click.option("--a", "a", help="The matrix A [M, K].")
@click.option("--b", "b", help="The matrix B [K, N], or [N, K] where only that fits.")
@click.option("--c", "c", help="The matrix C.")
@click.option("--bias", help="A bias that broadcasts to the output.")
@click.option("--alpha", type=float, help="The factor of A·B.")
@click.option("--beta", type=float, help="The factor of C.")
@click.option("--scale-a", help="Scales of A's blocks [M, blocks].")
@click.option("--scale-b", help="Scales of B's blocks [blocks, N].")
@click.option("--gpu", help="Only units of this GPU or architecture: h100, hopper.")
@click.option("--library", default="", help="Only recipes whose names begin so: cublaslt, cutlass, plain.")
@click.option("--again", multiple=True, help="Another run of what made GOT: are its results always the same?")
@json_option
def compare(
    expected: str, got: str | None, a: str | None, b: str | None, c: str | None, bias: str | None,
    alpha: float | None, beta: float | None, scale_a: str | None, scale_b: str | None, gpu: str | None,
    library: str, again: tuple[str, ...], as_json: bool,
) -> int:  # fmt: skip
    """Rounding or bug?  Say why two outputs of one matrix product differ, or what made one.

    Arrays are FILE.npy, FILE.npz:NAME or FILE.safetensors:NAME, with :FORMAT behind words whose dtype does
    not say it, or FILE.bin:FORMAT:ROWSxCOLUMNS.  An .npz with a, b, expected and got is enough.  Every unit
    of the catalogue that takes the operands is tried by every recipe.  Exit 0: the outputs are the same, or
    units and recipes that exist make both.
    """
    named = {
        "expected": expected, "got": got, "a": a, "b": b, "c": c, "bias": bias, "scale_a": scale_a,
        "scale_b": scale_b,
    }  # fmt: skip
    if a is None and b is None and got is None and Path(expected).suffix == ".npz":
        held = arrays_in(Path(expected))
        named |= {name: f"{expected}:{name}" for name in named if name in held}
        alpha, beta = (_number(held, name, x) for name, x in (("alpha", alpha), ("beta", beta)))
    for name in ("a", "b"):
        if named[name] is None:
            raise InputError(f"expected --{name} with the matrix {name.upper()}, but got none")
    arrays: dict[str, Any] = {name: read_array(text) for name, text in named.items() if text is not None}
    one = "got" not in arrays
    case = outputs(arrays.pop("expected"), arrays.pop("got", None), **arrays, alpha=alpha, beta=beta)
    runs = [np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}") for x in map(read_array, again)]
    with bar("trying units and recipes"):
        found = compare_outputs(
            case, runs, arch=None if gpu is None else architecture_of(gpu), library=library
        )
    print_json(data_of(found, one=one)) if as_json else show(view_of(found, one=one))
    if found.kind is Difference.UNEXPLAINED or (one and not found.expected):
        return NO_ANSWER
    return OTHERWISE if found.kind in (Difference.BUG, Difference.VARYING) else OK


def _number(held: Mapping[str, NDArray[Any]], name: str, given: float | None) -> float | None:
    """A factor that an archive holds, where none was given."""
    if given is not None or name not in held:
        return given
    if held[name].size != 1 or held[name].dtype.kind not in "fiu":
        raise InputError(f"expected one number {name} in the archive, but got {list(held[name].shape)}")
    return float(held[name].reshape(-1)[0])


def headline(found: Compared, *, one: bool = False) -> tuple[str, str]:
    """The answer's first words, and the rest of its first line."""
    made, other = _short(found.expected), _short(found.got)
    kind, bug = found.kind, found.bug
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
            f"{where} is made by {_short([bug.model])}, and {bug.what}: by {_short([bug.other])}",
        )
    if bug is not None:
        where = "GOT" if bug.side == "got" else "EXPECTED"
        how = "" if bug.exact else ", to within rounding"
        of = f" (otherwise as {_short([bug.model])})" if bug.model is not None else ""
        return kind.value, f"in {where} {bug.what}{how}{of}"
    if kind is Difference.BUG:
        return kind.value, "; ".join(p.fault for p in (*found.expected[:1], *found.got[:1]) if p.fault)
    if kind is Difference.UNEXPLAINED:
        sides = [name for name, makes in (("EXPECTED", found.expected), ("GOT", found.got)) if not makes]
        return kind.value, (
            f"none of {found.tried} recipes on units makes {' nor '.join(sides)}, and no bug that was tried"
        )
    return kind.value, f"EXPECTED is made by {made}, GOT by {other}{_other(found)}"


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
    shown = [processors for processors, _ in on_processors(names)] or ["multiply–adds of no matrix unit"]
    more = f" and {len(shown) - _ARCHITECTURES} more" if len(shown) > _ARCHITECTURES else ""
    return f"{', '.join(shown[:_ARCHITECTURES])}{more} ({makes[0].model.recipe.name})"


def view_of(found: Compared, *, one: bool = False) -> list[ReportPart]:
    """The answer first; then what makes each output, how far they differ, and what was tried."""
    word, rest = headline(found, one=one)
    good = found.kind not in (Difference.BUG, Difference.UNEXPLAINED, Difference.VARYING)
    parts: list[ReportPart] = [Headline(word, good, f": {rest}")]
    rows: list[tuple[str, ...]] = []
    for name, makes in (("EXPECTED", found.expected), ("GOT", found.got))[: 1 if one else 2]:
        for arch, units in on_processors(dict.fromkeys(x for p in makes for x in p.units)):
            recipes = list(dict.fromkeys(p.model.recipe.name for p in makes if set(units) & set(p.units)))
            more = f", … ({len(recipes)})" if len(recipes) > _RECIPES else ""
            rows.append((name, arch, units[0], ", ".join(recipes[:_RECIPES]) + more))
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
    return parts


def _decimal(d: Format, word: int) -> str:
    """A result in as many decimal places as tell it from its neighbours."""
    places = 2 + int(d.precision * 0.30103)
    return f"{float(values_of(np.array([word], f'u{d.storage_bits // 8}'), d)[0]):.{places}g}"


def data_of(found: Compared, *, one: bool = False) -> dict[str, Any]:
    """The answer as plain data."""
    d, bug = found.case.d_format, found.bug
    word, rest = headline(found, one=one)

    def element(place: tuple[int, int] | None) -> dict[str, Any] | None:
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
    }  # fmt: skip


def _maker(p: ProductProducer) -> dict[str, Any]:
    return {"units": list(p.units), "recipe": p.model.recipe.name}
