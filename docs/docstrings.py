"""Docstrings as the site shows them: each part a paragraph, examples as sessions of Python."""

from __future__ import annotations

import re
from typing import Any

import griffe

_PART = re.compile(r"^(Shapes|Ranges and units|Zero, NaN, Inf|Errors|Source):", re.MULTILINE)
_EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!>>> |\s*$).*\n?)*)+", re.MULTILINE)


class Parts(griffe.Extension):
    """What mkdocstrings is given of each docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Mark the parts of an object's docstring in Markdown."""
        if obj.docstring is not None:
            text = _PART.sub(r"\n**\1:**", obj.docstring.value)
            obj.docstring.value = _EXAMPLE.sub(lambda m: f"\n```pycon\n{m[0].rstrip()}\n```\n", text)
