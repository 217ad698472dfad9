"""`vectors`: test vectors of a unit, for builders of simulators."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from typing import Any

import click

from tcformal.cli.group import json_option, main, write_output
from tcformal.design.names import resolve
from tcformal.devices.vectors import KINDS, UnitVectors, vectors_of
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.report.escape import printable_json, say
from tcformal.report.parts import show
from tcformal.version import VERSION


def _digits(fmt: Format, words: Iterable[Any]) -> list[str]:
    """Words in hex digits of the format's width."""
    wide = -(-fmt.width // 4)
    return [f"{int(x):0{wide}x}" for x in words]


def in_words(x: UnitVectors) -> str:
    """How many vectors of which kinds, and how they were checked."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(x.kinds).items())
    return (
        f"{len(x.d)} dot products of {x.unit.k} terms on {x.unit.name} ({kinds}); {x.replayed} results "
        "computed again in exact fractions"
    )


def vectors_csv(x: UnitVectors) -> str:
    """One row for each vector: its kind, then each operand and d, words in hex separated by spaces."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = x.columns()
    writer.writerow(["kind", *columns])
    cells = [[" ".join(f"0x{t}" for t in _digits(f, row)) for row in words] for f, words in columns.values()]
    writer.writerows(zip(x.kinds, *cells, strict=True))
    return out.getvalue()


def vectors_json(x: UnitVectors) -> str:
    """The vectors as one JSON object; c and d are words, every other operand is a list of words."""
    texts = {name: [[f"0x{t}" for t in _digits(f, row)] for row in words]
             for name, (f, words) in x.columns().items()}  # fmt: skip
    vectors = [
        {"kind": kind, **{name: row[i][0] if name in ("c", "d") else row[i] for name, row in texts.items()}}
        for i, kind in enumerate(x.kinds)
    ]
    data = {
        "unit": x.unit.name, "k": x.unit.k, "formats": {name: f.name for name, (f, _) in x.columns().items()},
        "scale_block": x.unit.scale_block, "seed": x.seed, "tcformal": VERSION,
        "replayed": x.replayed, "vectors": vectors,
    }  # fmt: skip
    return printable_json(data) + "\n"


def vectors_hex(x: UnitVectors) -> str:
    """One line for each vector: all words of all operands and d, in hex digits alone, after a comment.

    `$readmemh` of Verilog reads it, and skips the comment.
    """
    columns = x.columns()
    heads = [f"{name}[{words.shape[1]}] {f.name}" for name, (f, words) in columns.items()]
    lines = [f"// {x.unit.name}: {', '.join(heads)}; seed {x.seed}, tcformal {VERSION}"]
    for i in range(len(x.d)):
        lines.append(" ".join(t for f, words in columns.values() for t in _digits(f, words[i])))
    return "\n".join(lines) + "\n"


def vectors_c(x: UnitVectors) -> str:
    """A C header: an array for each operand and for d."""
    lines = [
        f"/* {in_words(x)}.", f" * Raw encodings; seed {x.seed}, tcformal {VERSION}. */", "#ifndef VECTORS_H",
        "#define VECTORS_H", "", "#include <stdint.h>", "", f"#define VECTORS_N {len(x.d)}",
        f"#define VECTORS_K {x.unit.k}",
    ]  # fmt: skip
    for name, (f, words) in x.columns().items():
        end = "ull" if f.storage_bits == 64 else "u"
        size = "" if name in ("c", "d") else f"[{words.shape[1]}]"
        kind = f"static const uint{f.storage_bits}_t"
        lines += ["", f"/* {f.name} */", f"{kind} vectors_{name}[VECTORS_N]{size} = {{"]
        for row in words:
            text = ", ".join(f"0x{t}{end}" for t in _digits(f, row))
            lines.append(f"    {{{text}}}," if size else f"    {text},")
        lines.append("};")
    return "\n".join([*lines, "", "#endif", ""])


FORMS = {"csv": vectors_csv, "json": vectors_json, "hex": vectors_hex, "c": vectors_c}


@main.command()
@click.argument("unit", metavar="UNIT")
@click.option("-n", "count", type=int, default=1000, show_default=True, help="How many dot products.")
@click.option("--format", "form", type=click.Choice(list(FORMS)), help="Form of the file; csv unless given.")
@click.option("--kind", metavar="|".join(KINDS), help="Of one kind only; all in equal parts unless given.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of what is drawn.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="A file to write instead of printing.")
@json_option
def vectors(
    unit: str, count: int, form: str | None, kind: str | None, seed: int, output: str | None, as_json: bool
) -> None:
    """Test vectors of a unit: operands and results as raw encodings.

    csv: a row for each dot product.  json: one object with formats and words.  hex: a line of words for each,
    as $readmemh reads them.  c: a header with arrays.  directed: inputs made for the unit's roundings,
    alignments, zeros and overflows; boundary: extremes, subnormals, Inf and NaN; random: many exponents.
    """
    if as_json and form not in (None, "json"):
        raise InputError(f"expected --json alone or with --format json, but got --format {form}")
    made = vectors_of(resolve(unit), count, kind=kind, seed=seed)
    text = FORMS["json" if as_json else form or "csv"](made)
    if output is None:
        say(text, end="")
        say(in_words(made), err=True)
        return
    write_output(output, text.encode())
    show([f"{output}: {in_words(made)}"])
