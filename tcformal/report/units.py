"""Views of units and formats: lists, the card of one unit, and plain data for `--json`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tcformal.design.aliases import ALIASES
from tcformal.design.catalog import catalogue, floating
from tcformal.design.names import FAMILIES
from tcformal.design.operations import operation, risks
from tcformal.design.sources import references
from tcformal.design.trees.tree import Tree
from tcformal.design.unit import Evidence, UnitSpec
from tcformal.encodings.spec import Format, Sign
from tcformal.oracle.numerals import number_text, power_of_two
from tcformal.oracle.values import format_value
from tcformal.report.escape import Plain
from tcformal.report.parameter_facts import facts_view, stated, works_view
from tcformal.report.text import fitting, one_line, table


def units_table(units: Iterable[UnitSpec], sharing: Mapping[str, int]) -> Table:
    """One row per distinct design and formats, with the number of other names of both."""
    rows = [(u.name, *_cells(u, sharing.get(u.name, 1) - 1)) for u in units]
    columns = ("unit", "operation", ">F", ">L", "conversion", "evidence", ">e_zero", ">others")
    return fitting(*columns, rows=rows)


def architectures_table(designs: Mapping[str, Sequence[str]]) -> Table:
    """One row per architecture: what its units multiply, and how many floating-point ones are known how."""
    formats: dict[str, dict[str, None]] = defaultdict(dict)
    known: dict[str, Counter[Evidence]] = defaultdict(Counter)
    for first, names in designs.items():
        operands = catalogue()[first].operands
        for unit in map(catalogue().__getitem__, names):
            # Integers are named by their signed format, and their sums are exact.
            both = (f.name.removeprefix("u") if f.integer else f.name for f in (operands.a, operands.b))
            formats[unit.arch] |= dict.fromkeys(both)
            known[unit.arch][unit.facts["fraction_bits"].evidence] += floating(unit)
    rows = []
    for arch, levels in known.items():
        counts = (f"{level.name.lower()} {levels[level]}" for level in Evidence if levels[level])
        rows.append((arch, ", ".join(counts), " ".join(formats[arch])))
    return one_line("architecture", "units by how a sum's width is known", "formats of a and b", rows=rows)


def families_table() -> Table:
    """Names of other kinds: processors, and designs without an instruction."""
    rows = [
        ("h100, a100:bf16, …", "the unit that a processor's libraries use"),
        *((f"{family}@…", what) for family, what in FAMILIES.items()),
    ]
    rows += [(f"{alias}@k=N", what) for alias, (_, what) in ALIASES.items()]
    return one_line("name", "which is", rows=rows)


def _cells(u: UnitSpec, others: int) -> list[str]:
    d, fact = u.design, u.facts.get("fraction_bits")
    bits = "exact" if d.fraction_bits is None else str(d.fraction_bits)
    evidence = fact.evidence.name.lower() if fact else ""
    terms = str(min(u.k, d.products))
    return [operation(u).name, bits, terms, d.conversion, evidence, str(d.zero_exponent), str(others)]


def unit_card(u: UnitSpec) -> RenderableType:
    """One unit on a screen: what it computes, its parameters by source, each source once; with -v in full.

    In full is a row for each parameter, and the works that are cited.
    """
    op = operation(u)
    head = Text(f"{u.name}: {op.name}", style="bold").append(f", {op.formula}", style="not bold")
    lines = [Text(f"D[{u.m},{u.n}] = A[{u.m},{u.k}] · B[{u.k},{u.n}] + C, {u.operands}    [{op.source}]")]
    if u.scale_format is not None:
        lines.append(Text(f"scales: {u.scale_format.name}, one per {u.scale_block} consecutive k"))
    if u.emulation is not None:
        parts = "; ".join(_range(part) for part in u.emulation.parts)
        lines.append(Text(f"converted to {u.emulation.converted.name}; parts of k: {parts}"))
    if u.tree is not None:
        lines += [Text(line) for line in _tree_lines(u.tree)]
    lines += [Text(f"error of {what}: at most {bound}") for what, bound in op.bounds]
    lines += [Text(f"risk: {risk}", style="yellow") for risk in risks(u)]
    facts = {
        n: replace(x, value=_shown(n, in_hex(n, x.value)))
        for n, x in stated(u.design.parameters(), u.facts).items()
    }
    notes = [Text(f"note: {note}") for note in u.notes]
    return Group(head, *lines, *facts_view(facts), *notes, *works_view((op.source, *u.sources, *u.notes)))


def in_hex(name: str, value: object) -> object:
    """The value of a parameter, the word of a NaN in hex."""
    return hex(value) if name == "nan_word" and isinstance(value, int) else value


def _tree_lines(tree: Tree) -> list[str]:
    """What a tree says beside its order."""
    lines = [] if tree.converted is None else [f"operands are first converted to {tree.converted.name}"]
    for stage, row in tree.stages.items():
        values = ", ".join(f"{name}={_shown(name, value)}" for name, value in row.items())
        lines += [f"stage {stage}: {values}"] if values else []
    return lines


def _range(part: tuple[int, ...]) -> str:
    return ",".join(str(k) for k in part[:4]) + (f",…,{part[-1]}" if len(part) > 4 else "")


#: The meaning of None for each parameter that can be None.
_NONE = {"fraction_bits": "exact", "carry_bits": "exact", "product_rounding": "exact"}


def _shown(name: str, value: object) -> str:
    if value is None:
        return _NONE.get(name, "none")
    return str(value).lower() if isinstance(value, bool) else str(value)


#: What is said of a format.
_FORMAT = ("format", ">bits", ">exponent", ">bias", ">fraction", "smallest", "largest", "specials")


def formats_table(formats: Iterable[Format]) -> Table:
    """One row per format, with its smallest and largest positive numbers, exact."""
    return fitting(*_FORMAT, rows=map(_format, formats))


def format_card(f: Format) -> Table:
    """All of one format."""
    return table(*_FORMAT, rows=[_format(f)])


def _format(f: Format) -> tuple[str, ...]:
    fields = (f.width, f.exponent_bits, f.bias, f.fraction_bits)
    numbers = map(str, (f.width, "", "", "") if f.integer else fields)
    least, most = number_text(power_of_two(f.least_exponent)), format_value(f, f.largest)
    return (f.name, *numbers, least, most, _encodings(f))


def _encodings(f: Format) -> str:
    """The encodings that are not finite numbers, and the ignored bits."""
    sign = {Sign.IGNORED: "sign bit ignored", Sign.ABSENT: "no sign"}.get(f.sign)
    low = f"{f.ignored_low_bits} low bits ignored" if f.ignored_low_bits else None
    least = None if f.subnormals else "no subnormals"
    whole = f"integers from {format_value(f, f.sign_bit)}" if f.integer else None
    sign = None if f.integer else sign
    return "; ".join(text for text in (whole or f.specials.value, sign, low, least) if text)


def unit_data(u: UnitSpec) -> Plain:
    """A unit, with the source and evidence of every parameter."""
    parameters = stated(u.design.parameters(), u.facts)
    return {
        "name": u.name, "shape": {"m": u.m, "n": u.n, "k": u.k}, "formats": u.operands.names(),
        "parameters": {name: asdict(x) for name, x in parameters.items()},
        **({} if u.tree is None else {"tree": tree_data(u.tree)}), "notes": list(u.notes),
        "citations": {work.tag: work.citation() for work in references("; ".join((*u.sources, *u.notes)))},
    }  # fmt: skip


def tree_data(tree: Tree) -> Plain:
    """An order of summation and what differs between its stages."""
    converted = None if tree.converted is None else tree.converted.name
    return {"steps": str(tree.root), "stages": tree.stages, "converted": converted}


def format_data(f: Format) -> Plain:
    """The facts of one format."""
    return {
        "name": f.name, "bits": f.width, "exponent_bits": f.exponent_bits, "bias": f.bias,
        "fraction_bits": f.fraction_bits, "e_min": f.e_min, "e_max": f.e_max, "specials": f.specials.value,
        "sign": f.sign.value, "ignored_low_bits": f.ignored_low_bits, "subnormals": f.subnormals,
        "source": f.source,
    }  # fmt: skip
