"""The command line: parse, call, print, exit code; no arithmetic.  One module per family of commands."""

from tcformal.cli import catalogue, probe, questions, results, run, single, suite, sweep
from tcformal.cli.group import main

__all__ = ["catalogue", "main", "probe", "questions", "results", "run", "single", "suite", "sweep"]
