"""`units`, `formats` and `recipes`: the catalogues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from rich.text import Text

from tcformal.cli.group import OK, OTHERWISE, json_option, main
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.filters import Filters
from tcformal.design.names import FAMILIES, resolve
from tcformal.errors import InputError
from tcformal.files.named import json_of, read_named
from tcformal.formats.catalog import FORMATS, format_named
from tcformal.programs.recipes.cublaslt import plan_cublaslt
from tcformal.programs.recipes.names import recipe
from tcformal.programs.recipes.names import recipes as known_recipes
from tcformal.report.devices.recipes import (
    planned_data,
    planned_view,
    recipe_card,
    recipe_data,
    recipes_table,
)
from tcformal.report.escape import print_json
from tcformal.report.text import console, progress
from tcformal.report.units import format_data, formats_table, unit_card, unit_data, units_table

#: Bytes of a record.
_LARGEST = 1 << 16


@main.command()
@click.argument("name", required=False)
@click.option("--arch", help="Only units of this architecture.")
@click.option("--format", "format_name", help="Only units whose A or B has this format.")
@click.option("--operation", "operation_name", help="Only units of this elementary operation, e.g. T-FDPA.")
@click.option("--evidence", help="Only units whose fraction bits have this evidence level, e.g. recorded.")
@click.option("--all", "every", is_flag=True, help="List every name; by default one per distinct design.")
@click.option("--check", is_flag=True, help="Check that all names of one design build one circuit.")
@json_option
def units(
    name: str | None,
    arch: str | None,
    format_name: str | None,
    operation_name: str | None,
    evidence: str | None,
    every: bool,
    check: bool,
    as_json: bool,
) -> int:
    """List the catalogued units, or show one (NAME) with the source of every parameter."""
    if name is not None:
        spec = resolve(name)
        print_json(unit_data(spec)) if as_json else console().print(unit_card(spec))
        return OK
    filters = Filters.of(arch=arch, fmt=format_name, operation=operation_name, evidence=evidence)
    if check:
        return _check(distinct_designs(filters.allow), as_json)
    sharing = {first: len(names) for first, names in distinct_designs(filters.allow).items()}
    names = [n for n in catalogue() if filters.allow(catalogue()[n])] if every else list(sharing)
    chosen = [catalogue()[n] for n in names]
    if as_json:
        print_json([unit_data(u) for u in chosen])
        return OK
    out = console()
    out.print(units_table(chosen, {} if every else sharing, out.width))
    total = sum(sharing.values())
    text = f"{total} units, {len(sharing)} distinct designs"
    text += "." if every else "; others: more names of the same design and formats (--all lists them)."
    families = "; ".join(f"{family}@…: {what}" for family, what in FAMILIES.items())
    out.print(Text(f"{text} Families of designs: {families}.", style="dim"))
    return OK


def _check(designs: Mapping[str, Sequence[str]], as_json: bool) -> int:
    """Compare the circuits of all names of each design; the exit code."""
    from tcformal.programs.naming import misnamed

    named = {first: [catalogue()[name] for name in names] for first, names in designs.items()}
    with progress(transient=True) as bar:
        task = bar.add_task("building circuits", total=None)
        odd = misnamed(named, lambda done, total: bar.update(task, completed=done, total=total))
    total = sum(map(len, named.values()))
    if as_json:
        print_json({"names": total, "designs": len(named), "misnamed": odd})
    elif odd:
        lines = [f"{name} does not build the circuit of {first}" for name, first in odd.items()]
        console().print(Text("\n".join(lines)))
    else:
        console().print(Text(f"{total} names of {len(named)} designs: each builds the circuit of its design"))
    return OTHERWISE if odd else OK


@main.command()
@click.argument("name", required=False)
@json_option
def formats(name: str | None, as_json: bool) -> None:
    """List the floating-point formats, or show one (NAME)."""
    chosen = [format_named(name)] if name is not None else list(FORMATS.values())
    if as_json:
        print_json([format_data(f) for f in chosen])
    else:
        console().print(formats_table(chosen))


@main.command()
@click.argument("name", required=False)
@click.option(
    "--cublaslt", "path", type=click.Path(path_type=Path),
    help="A configuration of cuBLASLt's heuristic as JSON: a, b, d, compute, algo, and fast, arch.",
)  # fmt: skip
@json_option
def recipes(name: str | None, path: Path | None, as_json: bool) -> int:
    """List the recipes of matrix products, or show one (NAME, NAME@field=value,…) with its sources.

    With --cublaslt, the unit that a configuration of cuBLASLt calls, and its recipe.
    """
    if path is not None:
        if name is not None:
            raise InputError(f"expected a NAME or --cublaslt, but got both {name} and {path}")
        try:
            record = json_of(read_named(path, "a configuration of cuBLASLt as JSON", _LARGEST))
        except ValueError as error:
            raise InputError(
                f"expected a configuration of cuBLASLt as JSON in {path}, but got: {error}"
            ) from None
        planned = plan_cublaslt(record)
        print_json(planned_data(planned)) if as_json else console().print(planned_view(planned))
    elif name is not None:
        found = recipe(name)
        print_json(recipe_data(found)) if as_json else console().print(recipe_card(found))
    elif as_json:
        print_json([recipe_data(x) for x in known_recipes().values()])
    else:
        console().print(recipes_table(known_recipes().values()))
        text = "NAME@field=value,… sets other fields, such as cublaslt-66@splits=4,output=bf16."
        console().print(Text(text, style="dim"))
    return OK
