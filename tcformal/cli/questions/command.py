"""Commands about two units, or one: their options, read before anything that answers is imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from tcformal.cli.group import json_option, main
from tcformal.cli.questions.options import SolverOptions, solver_options
from tcformal.query.question import Kind


def question_command(name: str, hoped: Kind, help_text: str, extended: Callable[..., Any]) -> None:
    """Add a command about two units; `extended` decorates it with further forms."""

    @main.command(name=name, help=help_text)
    @click.argument("first", metavar="UNIT", required=False)
    @click.argument("second", metavar="UNIT", required=False)
    @click.option("--assume", multiple=True, metavar="WHAT", help="finite, normal, positive, nonzero, "
                  "exponents=-14..15, scale_exponents=-8..8, c=0, factors=subnormal, "
                  "products=outside-fp16, sum=inside-fp16, spread=20; may be repeated.")  # fmt: skip
    @solver_options()
    @click.option("--explain", "with_explanation", is_flag=True, help="Explain the witness bit by bit.")
    @json_option
    @extended
    def command(
        first: str,
        second: str,
        assume: Sequence[str],
        how: SolverOptions,
        with_explanation: bool,
        as_json: bool,
    ) -> int:
        from tcformal.cli.questions.two import ask_two  # a claim's theorem does not wait for it

        return ask_two(first, second, assume, how, hoped, as_json=as_json, with_explanation=with_explanation)
