"""`completion`: what a shell runs to complete commands, options and names of units."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import get_completion_class

from tcformal.cli.group import COMPLETE, Answer, json_option, main

#: Bash splits words at these characters, which names of units hold.
_BASH_WORDS = "COMP_WORDBREAKS=${COMP_WORDBREAKS//[@:=]/}  # names of units hold these\n"


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@json_option
def completion(shell: str) -> Answer:
    """Print what makes a shell complete commands, options and names of units.

    \b
    Load it where the shell starts:
      ~/.bashrc                    eval "$(tcformal completion bash)"
      ~/.zshrc                     eval "$(tcformal completion zsh)"
      ~/.config/fish/config.fish   tcformal completion fish | source
    """
    made: Any = get_completion_class(shell)
    text = (_BASH_WORDS if shell == "bash" else "") + made(main, {}, "tcformal", COMPLETE).source().strip()
    return Answer({"shell": shell, "script": text}, text)
