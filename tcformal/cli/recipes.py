"""`recipes`: how whole matrix products are made of calls of units."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tcformal.cli.group import OK, json_option, main
from tcformal.design.sources import references
from tcformal.errors import InputError
from tcformal.files import json_of, read_named
from tcformal.programs.recipes.cublaslt import PlannedProduct, plan_cublaslt
from tcformal.programs.recipes.names import recipe
from tcformal.programs.recipes.names import recipes as known_recipes
from tcformal.programs.recipes.recipe import Recipe
from tcformal.report.escape import print_json
from tcformal.report.text import console, table


def recipes_table(found: Iterable[Recipe]) -> Table:
    """One row per recipe."""
    made = table("recipe", "what it is", "units")
    for x in found:
        made.add_row(x.name, x.title, x.units)
    made.columns[0].no_wrap = True
    return made


def recipe_card(recipe: Recipe) -> RenderableType:
    """All fields of one recipe with source and evidence, each source cited in full."""
    made = table("field", "value", "evidence", "source")
    for name, value in recipe.parameters().items():
        fact = recipe.facts.get(name)
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        made.add_row(name, shown, fact.evidence.name.lower() if fact else "", fact.source if fact else "")
    notes = [Text(f"note: {note}") for note in recipe.notes]
    works = [Text(f"{x.tag}: {x.citation()}", style="dim") for x in references("; ".join(recipe.sources))]
    units = [Text(f"units: {recipe.units}")] if recipe.units else []
    return Group(Text(recipe.name, style="bold"), Text(recipe.title), *units, made, *notes, *works)


def recipe_data(recipe: Recipe) -> dict[str, Any]:
    """A recipe, with the source and evidence of every field."""
    fields = {}
    for name, value in recipe.parameters().items():
        fact = recipe.facts.get(name)
        fields[name] = {
            "value": value,
            "source": fact.source if fact else None,
            "evidence": fact.evidence.name.lower() if fact else None,
        }
    return {
        "name": recipe.name, "title": recipe.title, "units": recipe.units, "fields": fields,
        "notes": list(recipe.notes),
    }  # fmt: skip


def planned_view(planned: PlannedProduct) -> RenderableType:
    """The unit and the recipe of a configuration."""
    return Group(Text(f"unit: {planned.unit}"), recipe_card(planned.recipe))


def planned_data(planned: PlannedProduct) -> dict[str, Any]:
    """The same as data."""
    return {"unit": planned.unit, "recipe": recipe_data(planned.recipe)}


#: Bytes of a record.
_LARGEST = 1 << 16


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
