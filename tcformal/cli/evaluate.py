"""`eval`: one dot product, on integers; and the options by which operands are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import click
from rich.console import Group
from rich.text import Text

from tcformal.backends.concrete import Concrete
from tcformal.cli.group import Answer, json_option, main
from tcformal.design.names import drawn_words, named_together, resolve
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.oracle.draws import outcomes
from tcformal.oracle.exact_errors import exact_products, exact_sum
from tcformal.oracle.numerals import number_text
from tcformal.oracle.values import NumberClass, decode, format_value, hex_word
from tcformal.programs.program import names_a_program, program
from tcformal.report.text import many, short_value, table, with_decimal
from tcformal.semantics.chain import circuit, scale_count
from tcformal.simulation.operands.given import witness_of
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result

#: Units that the first line names.
_COMPARED = 3
#: Times that one value may be written to be repeated.
_MOST_REPEATED = 999_999


def operand_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options --a, --b, --c, --scale-a and --scale-b."""
    for option in (
        click.option("--scale-b", help="Scales of b, one per block of k, as for a."),
        click.option("--scale-a", help="Scales of a, one per block of k, or one for all; default: ones."),
        click.option("--c", "c", default="0", show_default=True, help="Value of c, the accumulator."),
        click.option("--b", "b", required=True, help="K values of b, as for a."),
        click.option(
            "--a",
            "a",
            required=True,
            help="K values of a, separated by commas: 1.5, 2^-24, 0x3c00, -inf, nan; 2:3 is 2 three times, a "
            "final ... adds zeros.",
        ),
    ):
        command = option(command)
    return command


def listed_values(text: str, k: int) -> list[str]:
    """`1,2:3,...` as K texts: `2:3` stands for `2,2,2`, and a final `...` is filled up with zeros."""
    values = []
    for part in text.split(","):
        value, colon, times = part.strip().rpartition(":")
        # A number that is too large for any sum stays in the text, which is refused as a value.
        repeated = colon and times.isascii() and times.isdecimal() and len(times) <= len(str(_MOST_REPEATED))
        values += [value] * int(times) if repeated else [part.strip()]
    if values and values[-1] == "...":
        values = values[:-1] + ["0"] * (k - len(values) + 1)
    return values


def _listed_scales(text: str | None, count: int) -> list[str] | None:
    """The texts of `count` scales; one alone is that of every block."""
    listed = None if text is None else listed_values(text, count)
    return listed * max(count, 1) if listed is not None and len(listed) == 1 else listed


def given_witness(spec: UnitSpec, given: Mapping[str, str | None], k: int | None = None) -> Witness:
    """Operands from the options of `operand_options`."""
    k = spec.k if k is None else k
    count = scale_count(spec, k)
    a, b, c = (given[name] or "" for name in "abc")
    scale_a, scale_b = (_listed_scales(given[name], count) for name in ("scale_a", "scale_b"))
    # One value alone is the first factor; with commas, a list that is too short is a mistake.
    a, b = (f"{x},..." if k > 1 and x.strip(". ") and not {",", ":"} & set(x) else x for x in (a, b))
    words = listed_values(a, k), listed_values(b, k)
    for name, listed in zip("ab", words, strict=True):
        if len(listed) < k:
            got = f"{len(listed)}: a final ... adds zeros"
            raise InputError(f"expected {k} values for {name} of {spec.name}, but got {got}")
    for option, scales in (("--scale-a", scale_a), ("--scale-b", scale_b)):
        if scales and not count:
            what = "a unit with scales, such as b200:mxf4"
            raise InputError(f"expected {what}, for {option}, but got {spec.name}")
    return witness_of(spec, *words, c, k=k, scale_a=scale_a, scale_b=scale_b)


def _of_program(name: str, operands: Mapping[str, str | None]) -> tuple[str, Format, int]:
    """The result of a program, whose number of products is that of the values."""
    from tcformal.programs.dag import program_circuit
    from tcformal.query.explain.program_trace import program_witness

    p = program(name)
    for option in ("scale_a", "scale_b"):
        if operands[option] is not None:
            raise InputError(
                f"expected no --{option.replace('_', '-')} with a program, but got one for {p.name}"
            )
    a, b = (listed_values(operands[letter] or "", 0) for letter in "ab")
    w = program_witness(p, a, b, operands["c"] or "0")
    graph, made = program_circuit(plan := p.plan(len(w.a)))
    inputs = {x: word for x, word in w.inputs().items() if x in graph.inputs}
    return p.name, plan.fmt, Concrete(graph, [made.result])(inputs)[0]


def _drawn(name: str, operands: Mapping[str, str | None]) -> Answer:
    """The results of a design that draws random words, each with its chance, the likeliest first."""
    spec = resolve(name, drawn=True)
    w, d = given_witness(spec, operands), spec.d_format
    found = sorted(outcomes(lambda: oracle_result(spec, w)).items(), key=lambda x: -x[1])
    said = [f"{short_value(d, raw)} with chance {chance}" for raw, chance in found[:_COMPARED]]
    more = f", or {many(len(found) - _COMPARED, 'other result')}" if len(found) > _COMPARED else ""
    rows = ((with_decimal(d, raw), hex_word(d, raw), str(chance)) for raw, chance in found)
    data = [
        {"unit": spec.name, "value": format_value(d, raw), "hex": hex_word(d, raw), "chance": str(chance)}
        for raw, chance in found
    ]
    first = f"d = {' or '.join(said)}{more}" if len(found) > 1 else f"d = {with_decimal(d, found[0][0])}"
    mean = Text(_mean(spec, w, found))
    return Answer(data, Group(Text(first), table("d", "encoding", ">chance", rows=rows), mean))


def _mean(spec: UnitSpec, w: Witness, found: Sequence[tuple[int, Fraction]]) -> str:
    """What results are in the mean, and how far that is from the exact sum: the bias; empty with Inf, NaN
    or scales."""
    o, values = spec.operands, [decode(spec.d_format, raw) for raw, _ in found]
    exact = exact_sum(exact_products(o.a, o.b, w.a, w.b), o.c, w.c)
    if exact is None or w.scale_a or any(x.kind is not NumberClass.FINITE for x in values):
        return ""
    mean = sum((x.number * chance for x, (_, chance) in zip(values, found, strict=True)), Fraction())
    if mean == exact:
        return f"mean {number_text(mean)}, the exact sum: no bias"
    bias = mean - exact
    off = f"{number_text(bias)} (~{float(bias):.4g})"
    return f"mean {number_text(mean)}, exact sum {number_text(exact)}: bias {off}"


@main.command(name="eval")
@click.argument("names", nargs=-1, required=True, metavar="UNIT|PROGRAM...")
@operand_options
@json_option
def eval_(names: Sequence[str], **operands: str | None) -> Answer:
    """Compute d = a·b + c on one or more units, or by programs.

    A design that draws its random words, as with rounding=SR8, has every result named with its chance.
    """
    if len(names) == 1 and not names_a_program(names[0]) and drawn_words(names[0]):
        return _drawn(names[0], operands)
    units = iter(named_together(name for name in names if not names_a_program(name)))
    results = []
    for name in names:
        if names_a_program(name):
            results.append(_of_program(name, operands))
            continue
        spec = resolve(next(units))
        graph, root = circuit(spec, spec.k)
        raw = Concrete(graph, [root])(given_witness(spec, operands).inputs())[0]
        # Where the words of NaN and Inf are numbers, the result is said as the unit reads it.
        results.append((spec.name, spec.design.reading(spec.operands.d), raw))
    data = [{"unit": x, "value": format_value(d, r), "hex": hex_word(d, r)} for x, d, r in results]
    found: dict[str, list[str]] = {}
    for name, d, raw in results:
        found.setdefault(short_value(d, raw), []).append(name)
    if len(found) == 1:
        said = f"d = {with_decimal(*results[0][1:])}"
    elif len(results) <= _COMPARED:
        said = "They differ: " + " and ".join(f"{x} on {', '.join(names)}" for x, names in found.items())
    else:
        counts = (f"{x} on {many(len(names), 'unit')}" for x, names in found.items())
        said = f"They differ: {', '.join(counts)}"
    rows = ((name, with_decimal(d, raw), hex_word(d, raw)) for name, d, raw in results)
    return Answer(data, Group(Text(said), table("unit", "d", "encoding", rows=rows)))
