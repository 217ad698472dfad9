"""`vectors`: test vectors of a unit, for builders of simulators."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import click
import numpy as np

from tcformal.checks import MOST_AT_ONCE, check_choice, check_int
from tcformal.cli.group import json_option, main, wants_json, write_output
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.directed import directed
from tcformal.devices.sealed import MOST_SEED
from tcformal.encodings.spec import Format
from tcformal.errors import InputError, SolverDisagreementError
from tcformal.report.escape import printable_json, say
from tcformal.report.parts import show
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import (
    Batch,
    Raw,
    batch,
    batch_of,
    one_operand,
    rows_of,
    together,
    witness_at,
)
from tcformal.simulation.replay import oracle_result
from tcformal.version import VERSION

KINDS: dict[str, str] = {
    "directed": "inputs made for the unit: roundings, alignments, signs of zero, overflows, NaN",
    "boundary": "extremes, subnormals, neighbours of 1, Inf and NaN in some places, zeros in the others",
    "random": "equal parts of random bits, close exponents, cancelling sums, zeros, subnormals, extremes",
}
#: Results that are computed again in exact fractions.
REPLAYED = 32


@dataclass(frozen=True, slots=True)
class UnitVectors:
    """Dot products of one unit with their results: `kinds` and `d` have an entry for each row of `inputs`."""

    unit: UnitSpec
    seed: int
    kinds: tuple[str, ...]
    inputs: Batch
    d: Raw
    #: Results that were computed again in exact fractions.
    replayed: int

    def columns(self) -> dict[str, tuple[Format, Raw]]:
        """Format and words of a, b, the scales of scaled units, c and d, by name; words as [n, values]."""
        formats = self.unit.input_formats() | {"d": self.unit.operands.d}
        words = self.inputs.named() | {"d": self.d}
        order = [name for name in ("a", "b", "scale_a", "scale_b", "c", "d") if name in words]
        return {name: (formats[name], words[name].reshape(len(self.d), -1)) for name in order}


def vectors_of(spec: UnitSpec, n: int, *, kind: str | None = None, seed: int = 1) -> UnitVectors:
    """`n` dot products of one call of a unit, of one kind or of all in equal parts, with their results.

    Ranges and units: fewer where a unit has fewer directed inputs and `kind` asks for these; else random ones
    take their places.
    Errors: InputError for a number or a kind that does not fit; SolverDisagreementError where a result is not
    the one of exact fractions.
    """
    check_int("-n", n, low=1, high=MOST_AT_ONCE)
    check_int("--seed", seed, low=0, high=MOST_SEED)
    chosen = KINDS if kind is None else (check_choice("kind of vectors", kind, KINDS),)
    parts: dict[str, Batch] = {}
    for i, name in enumerate(chosen):
        left = n - sum(len(x.c) for x in parts.values())
        count = left // (len(chosen) - i)
        if count:
            parts[name] = _drawn(spec, name, count, seed)
    inputs = together(*parts.values())
    d = replay(spec, inputs)
    rows = np.unique(np.linspace(0, len(d) - 1, REPLAYED).astype(int))
    for row in rows:
        exact = oracle_result(spec, witness_at(inputs, row))
        if exact != d[row]:
            raise SolverDisagreementError(
                f"expected one result of {spec.name}, but got {int(d[row]):#x}, and {exact:#x} in fractions"
            )
    kinds = tuple(name for name, x in parts.items() for _ in range(len(x.c)))
    return UnitVectors(spec, seed, kinds, inputs, d, len(rows))


def _drawn(spec: UnitSpec, kind: str, count: int, seed: int) -> Batch:
    """Dot products of one kind."""
    rng = np.random.default_rng(seed)
    if kind == "directed":
        every = batch_of(list(dict.fromkeys(x.witness for x in directed(spec))))
        return rows_of(every, np.sort(rng.permutation(len(every.c))[:count]))
    made = batch(spec, spec.k, count, seed)
    if kind == "random":
        return made
    # Some three products of each sum: with more, nearly every sum is NaN.
    full = rng.random(made.a.shape) < min(1, 3 / spec.k)
    a, b = (
        np.where(full, one_operand(rng, fmt, made.a.shape, "edges"), np.uint64(0))
        for fmt in (spec.a_format, spec.b_format)
    )
    return replace(made, a=a, b=b, c=one_operand(rng, spec.c_format, made.c.shape, "edges"))


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
def vectors(unit: str, count: int, form: str | None, kind: str | None, seed: int, output: str | None) -> None:
    """Test vectors of a unit: operands and results as raw encodings.

    csv: a row for each dot product.  json: one object with formats and words.  hex: a line of words for each,
    as $readmemh reads them.  c: a header with arrays.  directed: inputs made for the unit's roundings,
    alignments, zeros and overflows; boundary: extremes, subnormals, Inf and NaN; random: many exponents.
    """
    as_json = wants_json()
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
