"""The command line: parse, call, print, exit code; no arithmetic.  One module per family of commands."""

from tcformal.cli import catalogue, questions, single, sweep
from tcformal.cli.group import main

__all__ = ["catalogue", "main", "questions", "single", "sweep"]
