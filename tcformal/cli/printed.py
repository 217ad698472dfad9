"""The text of public objects, for `print`: what their commands print of them."""

from __future__ import annotations

import contextlib
from importlib import import_module
from typing import Any

from tcformal.callbacks import SHORT_NAMES, ShortNames
from tcformal.design.unit import UnitSpec
from tcformal.report.escape import captured
from tcformal.report.parts import show
from tcformal.report.text import console

#: Where each class's text is printed, or made as parts: MODULE:FUNCTION.
_TEXTS = {
    "Accuracy": "cli.accuracy:accuracy_view",
    "Answered": "cli.run:answered_view",
    "ClaimVerdict": "report.claim_view:claim_view",
    "Compared": "cli.compare:view_of",
    "Differences": "report.tables:differences_view",
    "Divergence": "report.picture:parting_text",
    "ExactSlices": "cli.accuracy:slices_view",
    "Format": "report.units:format_card",
    "Identification": "report.identified:identification_view",
    "LargestDistance": "cli.accuracy:distance_view",
    "ModelGemm": "cli.recipes:planned_view",
    "Monotonicity": "cli.accuracy:monotonicity_view",
    "PlannedProduct": "cli.recipes:planned_view",
    "Program": "cli.programs:program_card",
    "ProgramAccuracy": "cli.accuracy:program_accuracy_view",
    "ProgramTrace": "report.picture:show_program",
    "ProgramsCompared": "cli.programs:show_compared",
    "Recipe": "cli.recipes:recipe_card",
    "Suite": "cli.suite:suite_view",
    "Trace": "report.picture:show_trace",
    "UnitSpec": "report.units:unit_card",
    "Verdict": "cli.two:show_verdict",
}
#: Objects that are shown as one of their parts.
_PARTS = {"RunnableProgram": "program", "Unit": "spec"}
#: Attributes of values and of questions that are units.
_HELD = ("unit", "first", "second")


def text(value: Any) -> str | None:
    """What the command prints of a value; None where no command does."""
    name = type(value).__name__
    if name in _PARTS:
        return text(getattr(value, _PARTS[name]))
    if name not in _TEXTS:
        return None
    module, _, function = _TEXTS[name].partition(":")
    names = SHORT_NAMES.set(ShortNames({u.name: u.asked for u in _units(value) if u.asked}))
    with captured() as paper, contextlib.ExitStack() as after:
        after.callback(SHORT_NAMES.reset, names)
        made = getattr(import_module(f"tcformal.{module}"), function)(value)
        if isinstance(made, list):
            show(made)
        elif made is not None:
            console().print(made)
    return "\n".join(line.rstrip() for line in paper.getvalue().splitlines()).strip("\n")


def _units(value: Any) -> list[UnitSpec]:
    """The units that a value is about."""
    held = [getattr(x, name, None) for x in (value, getattr(value, "question", None)) for name in _HELD]
    both = getattr(value, "units", ())
    return [x for x in (value, *held, *(both if isinstance(both, tuple) else ())) if isinstance(x, UnitSpec)]
