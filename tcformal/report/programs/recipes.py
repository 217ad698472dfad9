"""Views of recipes: the list, the card of one, and plain data for `--json`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tcformal.design.sources import references
from tcformal.programs.cublaslt import PlannedProduct
from tcformal.programs.recipe import Recipe
from tcformal.report.text import table


def recipes_table(recipes: Iterable[Recipe]) -> Table:
    """One row per recipe."""
    made = table("recipe", "what it is", "units")
    for recipe in recipes:
        made.add_row(recipe.name, recipe.title, recipe.units)
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
