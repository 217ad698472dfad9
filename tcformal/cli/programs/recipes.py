"""`recipes`: how whole matrix products are made of calls of units."""

from __future__ import annotations

from pathlib import Path

import click
from rich.text import Text

from tcformal.cli.group import OK, json_option, main
from tcformal.errors import InputError
from tcformal.files import json_of, read_named
from tcformal.programs.cublaslt import plan_cublaslt
from tcformal.programs.recipe import recipe
from tcformal.programs.recipe import recipes as known_recipes
from tcformal.report.escape import print_json
from tcformal.report.programs.recipes import (
    planned_data,
    planned_view,
    recipe_card,
    recipe_data,
    recipes_table,
)
from tcformal.report.text import console

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
