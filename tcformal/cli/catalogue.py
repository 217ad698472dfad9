"""`units` and `formats`: the catalogues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click
from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.cli.group import OK, OTHERWISE, Answer, json_option, main, verbose_option
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.filters import Filters
from tcformal.design.names import resolve
from tcformal.encodings.catalog import FORMATS, format_named
from tcformal.report.escape import Plain
from tcformal.report.parts import bar
from tcformal.report.text import SCREEN
from tcformal.report.units import (
    architectures_table,
    families_table,
    format_card,
    format_data,
    formats_table,
    unit_card,
    unit_data,
    units_table,
)


@main.command()
@click.argument("name", required=False)
@click.option("--arch", help="Only units of this architecture.")
@click.option("--format", "format_name", help="Only units whose A or B has this format.")
@click.option("--operation", "operation_name", help="Only units of this elementary operation, e.g. T-FDPA.")
@click.option("--evidence", help="Only units whose fraction bits have this evidence level, e.g. recorded.")
@click.option("--designs", is_flag=True, help="One row per distinct design, however many there are.")
@click.option("--all", "every", is_flag=True, help="Every name, however many there are.")
@click.option("--check", is_flag=True, help="Check that all names of one design build one circuit.")
@verbose_option
@json_option
def units(
    name: str | None, arch: str | None, format_name: str | None, operation_name: str | None,
    evidence: str | None, designs: bool, every: bool, check: bool,
) -> Answer:  # fmt: skip
    """List the catalogued units, or show one (NAME) with the source of every parameter; -v cites in full.

    Without filters, how many there are of each architecture; with filters one row per distinct design, up to
    a screenful.
    """
    if name is not None:
        spec = resolve(name)
        return Answer(unit_data(spec), unit_card(spec))
    filters = Filters.of(arch=arch, fmt=format_name, operation=operation_name, evidence=evidence)
    if check:
        return _check(distinct_designs(filters.allow))
    sharing = {first: len(names) for first, names in distinct_designs(filters.allow).items()}
    names = [n for n in catalogue() if filters.allow(catalogue()[n])] if every else list(sharing)
    chosen = [catalogue()[n] for n in names]

    def data() -> list[Plain]:
        return [unit_data(u) for u in chosen]

    total = f"{sum(sharing.values())} units, {len(sharing)} distinct designs"
    if not any((arch, format_name, operation_name, evidence, designs, every)):
        said = Text(f"{total}: --arch NAME lists one architecture's, --designs and --all more")
        return Answer(data, Group(said, architectures_table(distinct_designs()), families_table()))
    shown = chosen if designs or every else chosen[:SCREEN]
    total += "" if every else "; others: more names of the same design and formats (--all lists them)"
    view: list[RenderableType] = [Text(f"{total}."), units_table(shown, {} if every else sharing)]
    if len(shown) < len(chosen):
        view.append(Text(f"… {len(chosen) - len(shown)} more designs: --designs lists them"))
    return Answer(data, Group(*view))


def _check(designs: Mapping[str, Sequence[str]]) -> Answer:
    """Compare the circuits of all names of each design."""
    from tcformal.semantics.chain import misnamed

    named = {first: [catalogue()[name] for name in names] for first, names in designs.items()}
    with bar("building circuits") as advance:
        odd = misnamed(named, advance)
    total = sum(map(len, named.values()))
    lines = [f"{name} does not build the circuit of {first}" for name, first in odd.items()]
    good = f"{total} names of {len(named)} designs: each builds the circuit of its design"
    data = {"names": total, "designs": len(named), "misnamed": odd}
    return Answer(data, Text("\n".join(lines or [good])), OTHERWISE if odd else OK)


@main.command()
@click.argument("name", required=False)
@json_option
def formats(name: str | None) -> Answer:
    """List the floating-point formats, or show one (NAME)."""
    chosen = [format_named(name)] if name is not None else list(FORMATS.values())
    said = Text(f"{len(chosen)} formats; tcformal formats NAME shows one")
    view = format_card(*chosen) if name is not None else Group(said, formats_table(chosen))
    return Answer([format_data(f) for f in chosen], view)
