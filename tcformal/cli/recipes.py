"""`recipes`: how whole matrix products are made of calls of units."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tcformal.cli.group import Answer, json_option, main, verbose_option
from tcformal.errors import InputError
from tcformal.files import json_of, read_named
from tcformal.programs.cublaslt import PlannedProduct, plan_cublaslt
from tcformal.programs.recipe import Recipe, recipe
from tcformal.programs.recipe import recipes as known_recipes
from tcformal.report.escape import Plain
from tcformal.report.parameter_facts import facts_view, stated, works_view
from tcformal.report.text import one_line

if TYPE_CHECKING:  # a recipe is shown without what computes it
    from tcformal.simulation.model_gemm import ModelGemm


def recipes_table(found: Iterable[Recipe]) -> Table:
    """One row per recipe, on one line."""
    return one_line("recipe", "what it is", rows=((x.name, x.title) for x in found))


def recipe_card(x: Recipe) -> RenderableType:
    """All fields of one recipe by source; with -v a row for each, and the works that are cited."""
    fields = {name: replace(f, value=_shown(f.value)) for name, f in stated(x.parameters(), x.facts).items()}
    head = Text(x.name, style="bold").append(f": {x.title}", style="not bold")
    units = [Text(f"units: {x.units}")] if x.units else []
    notes = [Text(f"note: {note}") for note in x.notes]
    return Group(head, *units, *facts_view(fields, "field"), *notes, *works_view(x.sources))


def planned_view(x: PlannedProduct | ModelGemm) -> RenderableType:
    """A unit, and the recipe by which it is called."""
    name = x.unit if isinstance(x.unit, str) else x.unit.name
    return Group(Text(f"unit: {name}"), recipe_card(x.recipe))


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def recipe_data(x: Recipe) -> Plain:
    """A recipe, with the source and evidence of every field."""
    fields = {name: asdict(f) for name, f in stated(x.parameters(), x.facts).items()}
    return {"name": x.name, "title": x.title, "units": x.units, "fields": fields, "notes": list(x.notes)}


#: Bytes of a record.
_LARGEST = 1 << 16


@main.command()
@click.argument("name", required=False)
@click.option(
    "--cublaslt", "path", type=click.Path(path_type=Path),
    help="A configuration of cuBLASLt's heuristic as JSON: a, b, d, compute, algo, and fast, arch.",
)  # fmt: skip
@verbose_option
@json_option
def recipes(name: str | None, path: Path | None) -> Answer:
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
        data = {"unit": planned.unit, "recipe": recipe_data(planned.recipe)}
        return Answer(data, planned_view(planned))
    if name is not None:
        found = recipe(name)
        return Answer(recipe_data(found), recipe_card(found))
    listed = known_recipes().values()
    text = "tcformal recipes NAME: its units, fields and sources; NAME@field=value,… sets others"
    said = Text(f"{len(listed)} recipes; {text}, such as cublaslt-66@splits=4,output=bf16")
    return Answer([recipe_data(x) for x in listed], Group(said, recipes_table(listed)))
