"""Every command of the program by the words that call it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from tcformal.cli import main


def commands(command: click.Command = main, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Groups too, the program itself first."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, f"{path} {name}".strip())
