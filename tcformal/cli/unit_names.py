"""Names of units as a shell completes them, part by part."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from tcformal.design.aliases import ALIASES
from tcformal.design.catalog import catalogue
from tcformal.design.names import FAMILIES
from tcformal.design.short_names import formats_of, processor, processor_names
from tcformal.design.spec import Design


class UnitName(click.types.StringParamType):
    """The name of a unit or design, taken as it is."""

    name = "unit"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Names that begin so, part by part: architecture or processor, instruction or format, parameters."""
        return [CompletionItem(text) for text in completions(incomplete)]


def completions(start: str) -> list[str]:
    """What a name that begins with `start` may go on with."""
    base, at, settings = start.partition("@")
    if at:
        done, comma, last = settings.rpartition(",")
        keys = [f"{name}=" for name in Design.__dataclass_fields__ if name.startswith(last)]
        return [f"{base}@{done}{comma}{key}" for key in keys]
    head, colon, _ = base.partition(":")
    archs = dict.fromkeys(name.partition("/")[0] for name in catalogue())
    if "/" in base:
        names = list(catalogue())
    elif colon:
        known = processor(head)
        names = [] if known is None else [f"{head}:{word}" for word in formats_of(known)]
    else:
        names = [f"{name}/" for name in archs] + [f"{name}@" for name in (*FAMILIES, *ALIASES)]
        names += [name for name in processor_names() if name not in archs]
    return [name for name in names if name.startswith(start)]


def complete_units(command: click.Command) -> None:
    """Have every parameter of a command that takes a unit complete its name."""
    for param in command.params:
        unit = "UNIT" in (param.metavar or "") or param.name in ("unit", "units")
        if unit or (command.name, param.name) == ("units", "name"):
            param.type = UnitName()
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            complete_units(inner)
