"""`suite`: the fewest inputs that separate all designs of a space."""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.checks import MOST_AT_ONCE, MOST_JOBS, check_int, check_positive
from tcformal.cli.group import (
    BAD_INPUT,
    NO_ANSWER,
    OK,
    OTHERWISE,
    Answer,
    fail,
    json_option,
    main,
    verbose_option,
    wants_json,
    write_output,
)
from tcformal.cli.solver_options import SolverOptions, solver_options
from tcformal.design.names import named_together
from tcformal.design.space import space
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.files import json_of, read_named
from tcformal.oracle.values import format_value, hex_word
from tcformal.query.suites.made import LISTED, Suite, examined, from_json, to_json
from tcformal.query.suites.suite import DEFAULT_LIMITS, SHRINK_S, VECTORS, suite_of
from tcformal.report.escape import printable_json, say, verbose
from tcformal.report.parts import telling
from tcformal.report.tables import witness_table
from tcformal.report.text import SCREEN, console, headline, many, table
from tcformal.simulation.operands.witness import Witness

#: Lines about pairs that are shown of a suite of many designs.
_SHOWN = 12
#: Lines that an input takes.
_INPUT = 6
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def labels(s: Suite) -> tuple[str, list[str]]:
    """The common prefix of all design names (may be empty), and each name without it.

    The variations of one unit share the unit's name; their labels are `@parameters`, empty for the unit
    itself.
    """
    names = [spec.name for spec in s.designs]
    common = names[0].partition("@")[0]
    if all(name.partition("@")[0] == common for name in names):
        return common, [name.removeprefix(common) or "(as it is)" for name in names]
    return "", names


def suite_view(s: Suite) -> RenderableType:
    """The inputs, the result of every design on each, and the designs that no input separates."""
    common, names = labels(s)
    found = f"{many(len(s.inputs), 'input')} for {many(len(set(s.classes)), 'class', 'classes')}"
    head = headline(f"{found} of {len(names)} designs", "bold", f" at k={s.k}: {_bound(s)}")
    parts: list[RenderableType] = [head]
    few = verbose() or len(names) + _INPUT * len(s.inputs) <= SCREEN
    for i, w in enumerate(s.inputs if few else ()):
        rest = f": {len(set(s.results[i]))} different results{_alone(s, names, i)}"
        parts += [headline(f"\ninput {i}", "bold", rest), witness_table(s.designs[0], w)]
    if few:
        d = s.designs[0].operands.d
        rows = ((name, *(hex_word(d, row[j]) for row in s.results)) for j, name in enumerate(names))
        heads = (common or "design", *(f"input {i}" for i in range(len(s.inputs))))
        parts += [Text(), table(*heads, rows=rows)]
    else:
        parts.append(Text("the inputs and all results: with -v, or --format csv, json or c", "dim"))
    equal = [f"equal: {names[e.first]} and {names[e.second]}: {e.reason}" for e in s.equal]
    parts += [Text(line, "green") for line in _some(equal, few, "pairs proved equal")]
    left = [
        f"undecided: {names[u.first]} and {names[u.second]}: {u.verdict.name}, {u.reason}"
        for u in s.undecided
    ]
    parts += [Text(line, "bold red") for line in _some(left, few, "designs undecided")]
    return Group(*parts, Text(_tail(s), "dim"))


def _some(lines: Sequence[str], few: bool, what: str) -> list[str]:
    """All lines, or some of them and how many there are."""
    if few or len(lines) <= _SHOWN:
        return list(lines)
    return [*lines[:_SHOWN], f"… {len(lines)} {what} in all"]


def _bound(s: Suite) -> str:
    if not s.inputs:
        return f"none of the {s.tried} inputs tried tells any two apart"
    if s.at_least == len(s.inputs):
        return f"no suite of the {s.tried} inputs tried has fewer"
    return f"a suite of the {s.tried} inputs tried has {s.at_least} or more"


def _alone(s: Suite, names: Sequence[str], i: int) -> str:
    """The number of pairs that only this input separates, and one of them."""
    if len(s.inputs) == 1:
        return ""
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for x in sorted(set(s.classes)):
        groups[tuple(row[x] for n, row in enumerate(s.results) if n != i)].append(x)
    count, shown = 0, []
    for group in groups.values():
        sizes = Counter(s.results[i][x] for x in group)
        count += comb(len(group), 2) - sum(comb(size, 2) for size in sizes.values())
        shown += [(group[0], y) for y in group if s.results[i][y] != s.results[i][group[0]]][:1]
    x, y = min(shown)
    return f"; it alone separates {many(count, 'pair')}, such as {names[x]} from {names[y]}"


def _tail(s: Suite) -> str:
    texts = [f"{many(s.asked, 'question')} to solvers", _replayed(s)]
    if s.refused:
        texts.append(f"{many(s.refused, 'combination')} without a meaning left out")
    if s.same:
        texts.append(f"{many(s.same, 'name')} of parameters that another has left out")
    return "; ".join([*texts, f"seed {s.seed}", f"{s.seconds:.1f} s"])


def _replayed(s: Suite) -> str:
    """How many results were computed in other ways, too."""
    every = len(s.inputs) * len(s.designs)
    count = "" if s.replayed == every else f"{s.replayed} of {every} "
    return f"{count}results replayed on integers and on exact fractions"


def suite_csv(s: Suite) -> str:
    """One row per input: operands in hex, separated by spaces, then the result of every design in hex."""
    o, scale = s.designs[0].operands, s.designs[0].scale_format
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    scales = [] if scale is None else ["scale_a", "scale_b"]
    writer.writerow(["input", "a", "b", *scales, "c", *(spec.name for spec in s.designs)])
    for i, (w, row) in enumerate(zip(s.inputs, s.results, strict=True)):
        more = [] if scale is None else [_spaced(scale, w.scale_a), _spaced(scale, w.scale_b)]
        results = [hex_word(o.d, x) for x in row]
        writer.writerow([i, _spaced(o.a, w.a), _spaced(o.b, w.b), *more, hex_word(o.c, w.c), *results])
    return out.getvalue()


def _spaced(fmt: Format, words: Iterable[int]) -> str:
    return " ".join(hex_word(fmt, x) for x in words)


def check_prefix(prefix: str) -> None:
    """InputError for a text that cannot begin a C name."""
    if not _NAME.fullmatch(prefix):
        raise InputError(f"expected letters, digits and _ for the prefix of C names, but got {prefix!r}")


def suite_header(s: Suite, prefix: str) -> str:
    """A C header: raw operands, every design's results, and the input that separates each pair.

    Errors: InputError for a prefix that is no C name, and for a suite without inputs, which C cannot
    hold.
    """
    if not s.inputs:
        raise InputError(
            "expected designs that some input tells apart for a C header, but all count as equal"
        )
    check_prefix(prefix)
    o, scale = s.designs[0].operands, s.designs[0].scale_format
    p, n, m = prefix, len(s.inputs), len(s.designs)
    up = p.upper()
    lines = [
        f"/* {n} inputs for {len(set(s.classes))} classes of {m} designs, by tcformal {s.version}.",
        f" * Operands and results are raw encodings; {_replayed(s)}.",
        f" * {o.d.name} = {o.a.name} * {o.b.name} + {o.c.name}, K = {s.k}, seed {s.seed}.",
        *(f" * equal: {s.designs[e.first].name} and {s.designs[e.second].name}: {e.reason}" for e in s.equal),
        *(f" * undecided: {s.designs[u.first].name} and {s.designs[u.second].name}" for u in s.undecided),
        " */",
        f"#ifndef {up}_H", f"#define {up}_H", "", "#include <stdint.h>", "",
        f"#define {up}_K {s.k}", f"#define {up}_INPUTS {n}", f"#define {up}_DESIGNS {m}", "",
        f"static const char *const {p}_designs[{m}] = {{",
        *(f'    "{spec.name}",' for spec in s.designs),
        "};", "",
        "/* The first of the designs that each one is proved equal to. */",
        f"static const uint16_t {p}_class[{m}] = {{{', '.join(map(str, s.classes))}}};", "",
    ]  # fmt: skip
    formats = {"a": o.a, "b": o.b} | ({} if scale is None else {"scale_a": scale, "scale_b": scale})
    for name, fmt in formats.items():
        lines += _operand_rows(f"{p}_{name}", fmt, [getattr(w, name) for w in s.inputs])
    lines.append(f"static const {_type(o.c)} {p}_c[{n}] = {{")
    lines += [f"    {_literal(o.c, w.c)}, /* {format_value(o.c, w.c)} */" for w in s.inputs]
    lines += ["};", "", f"static const {_type(o.d)} {p}_d[{n}][{m}] = {{"]
    for i, (w, row) in enumerate(zip(s.inputs, s.results, strict=True)):
        lines.append(f"    {{ /* input {i}: {_sum_text(s, w)} */")
        lines += [f"        {_literal(o.d, x)}, /* {j}: {format_value(o.d, x)} */" for j, x in enumerate(row)]
        lines.append("    },")
    lines += [
        "};", "",
        *_separators(s, p),
        "/* Whether a unit that gave these results can be of a design. */",
        f"static inline int {p}_fits(const {_type(o.d)} d[{n}], int design)",
        "{", f"    for (int i = 0; i < {n}; i++)",
        f"        if (d[i] != {p}_d[i][design])", "            return 0;", "    return 1;", "}", "",
        "#endif",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _separators(s: Suite, prefix: str) -> list[str]:
    """The table of pairs; none of many designs, of which it would be the largest part by far."""
    m = len(s.designs)
    if m > LISTED:
        return []

    def separator(first: int, second: int) -> str:
        found = s.separator(first, second)
        return "-1" if found is None else str(found)

    return [
        "/* The input that separates two designs; -1 where they are equal, or undecided. */",
        f"static const int16_t {prefix}_separator[{m}][{m}] = {{",
        *(f"    {{{', '.join(separator(x, y) for y in range(m))}}}," for x in range(m)),
        "};", "",
    ]  # fmt: skip


def _operand_rows(name: str, fmt: Format, rows: Sequence[Sequence[int]]) -> list[str]:
    """The definition of one operand of all inputs, with the exact value beside each word."""
    lines = [f"static const {_type(fmt)} {name}[{len(rows)}][{len(rows[0])}] = {{"]
    for i, row in enumerate(rows):
        lines.append(f"    {{ /* input {i} */")
        lines += [f"        {_literal(fmt, x)}, /* {format_value(fmt, x)} */" for x in row]
        lines.append("    },")
    return [*lines, "};", ""]


def _type(fmt: Format) -> str:
    return f"uint{fmt.storage_bits}_t"


def _literal(fmt: Format, raw: int) -> str:
    return hex_word(fmt, raw) + ("ull" if fmt.storage_bits == 64 else "u")


def _sum_text(s: Suite, w: Witness) -> str:
    """The input as a sum of exact products; equal ones are counted, zeros left out."""
    o = s.designs[0].operands
    pairs = Counter((x, y) for x, y in zip(w.a, w.b, strict=True) if x or y)
    terms = [
        (f"{times} x " if times > 1 else "") + f"({format_value(o.a, x)})*({format_value(o.b, y)})"
        for (x, y), times in pairs.items()
    ]
    return " + ".join([*terms, f"({format_value(o.c, w.c)})"])


@main.command(name="suite")
@click.argument("names", nargs=-1, metavar="[UNIT]...")
@click.option("--vary", multiple=True, metavar="NAME[=VALUES]",
              help="A parameter to vary, over values such as 1,5..7 or its usual ones; repeated: all "
              "combinations.")  # fmt: skip
@click.option("--formats", help="Compare the catalogue's designs of these formats: A,B,C,D.")
@click.option("--arch", "archs", multiple=True, help="Only designs of this architecture; may be repeated.")
@click.option("--format", "form", type=click.Choice(["table", "json", "csv", "c"]), default="table",
              show_default=True, help="Output format of the suite.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(dir_okay=False),
              help="File to write the suite to; by default it is printed.")  # fmt: skip
@click.option("--prefix", default="suite", show_default=True, help="Prefix of the names in C.")
@click.option("--check", "checked", type=click.Path(exists=True, dir_okay=False),
              help="Check a suite written with --json: evaluate it again, prove equal designs again, and "
              "print every deviation.")  # fmt: skip
@click.option("--vectors", type=int, default=VECTORS, show_default=True,
              help="Random inputs in one round, before solvers are asked.")  # fmt: skip
@solver_options(
    "certify", "fresh", "folder", limits=DEFAULT_LIMITS, time="each solver on one pair",
    seed="inputs and solvers",
)  # fmt: skip
@click.option("--shrink-time", type=float, default=SHRINK_S, show_default=True,
              help="Time limit for shrinking one input, in seconds.")  # fmt: skip
@click.option("--total-time", type=float, help="Seconds after which no further pair is asked about; those "
              "that are left are undecided, all else is kept; 40 for more than 256 designs.")  # fmt: skip
@click.option("--jobs", type=int, default=os.cpu_count() or 1, show_default=True,
              help="Number of solver processes at a time.")  # fmt: skip
@verbose_option
@json_option
def suite_(
    names: Sequence[str], vary: Sequence[str], formats: str | None, archs: Sequence[str], form: str,
    output: str | None, prefix: str, checked: str | None, vectors: int, how: SolverOptions,
    shrink_time: float, total_time: float | None, jobs: int,
) -> Answer | int:  # fmt: skip
    """Find the fewest inputs that separate all designs of a space.

    One UNIT alone stands for itself and every variation of one of its parameters; with --vary, for the
    given values only.  Several UNITs, or --formats, are compared with each other.  Designs that no input
    separates are proved equal.  Exit 0 if every pair is decided, 3 if some is not.
    """
    if checked is not None:
        if names or vary or formats or archs:
            raise InputError("expected --check alone, but got designs too")
        return _check(Path(checked), how, jobs)
    check_int("--jobs", jobs, low=1, high=MOST_JOBS)
    if total_time is not None:
        check_positive("--total-time", total_time)
    check_int("--vectors", vectors, low=2, high=MOST_AT_ONCE)
    check_prefix(prefix)
    form = "json" if wants_json() else form
    if form == "table" and output is not None:
        raise InputError("expected --format json, csv or c with --output, but got table")
    of = space(named_together(names), vary=vary, formats=formats, archs=archs)
    with telling("starting") as tell:
        made = suite_of(
            of, replace(how.alone(), jobs=jobs), vectors=vectors, shrink_s=shrink_time, total_s=total_time,
            progress=tell,
        )  # fmt: skip
    _write(made, form, output, prefix)
    return NO_ANSWER if made.undecided else OK


def _write(made: Suite, form: str, output: str | None, prefix: str) -> None:
    """Print a suite, or write it to a file."""
    if form == "table":
        console().print(suite_view(made))
        return
    if form == "json":
        text = printable_json(to_json(made)) + "\n"
    else:
        text = suite_csv(made) if form == "csv" else suite_header(made, prefix)
    if output is None:
        say(text, end="")
    else:
        write_output(output, text.encode())


def _check(path: Path, how: SolverOptions, jobs: int) -> Answer:
    """Check a written suite: everything that it says is derived again."""
    try:
        data: Any = json_of(read_named(path, "a suite"))
    except ValueError as error:
        fail(f"expected a suite as JSON in {path}, but got {error}", BAD_INPUT)
    made = from_json(data)
    found = examined(made, replace(how.alone(), jobs=jobs))
    if data.get("separated") != to_json(made)["separated"]:
        found.wrong.append("expected in `separated` the input that tells each pair apart, but got others")
    inputs, designs, wrong, unproved = len(made.inputs), len(made.designs), found.wrong, found.unproved
    so_far = "nothing wrong was found" if unproved else "nothing is wrong"
    lines = [*(wrong or [f"{inputs} inputs and {designs} designs: {so_far}"]), *unproved]
    data = {"inputs": inputs, "designs": designs, "wrong": wrong, "unproved": unproved}
    return Answer(data, "\n".join(lines), OTHERWISE if wrong else NO_ANSWER if unproved else OK)
