"""Calls of commands by any version of click: before 8.2, it joins both streams unless told not to."""

from __future__ import annotations

import inspect
from functools import partialmethod

from click.testing import CliRunner, Result

OLD = "mix_stderr" in inspect.signature(CliRunner.__init__).parameters


def part_streams() -> None:
    """Make `stdout` and `stderr` of every result what was written to each, and `output` both."""
    if OLD:
        CliRunner.__init__ = partialmethod(CliRunner.__init__, mix_stderr=False)  # type: ignore[assignment,method-assign]
        Result.output = property(lambda self: self.stdout + self.stderr)  # type: ignore[assignment,method-assign]
