"""The command line: parse, call, print, exit code; no arithmetic.  One module per family of commands.

A module whose packages are not installed is left out, so that a bare checkout on a machine with a GPU can
probe it: `probe` needs no solver and no package for tables.
"""

from importlib import import_module

from tcformal.cli.signals import starting

with starting():
    from tcformal.cli.group import MISSING, main

#: In the order in which the commands are made.
MODULES = (
    "campaign",
    "catalogue",
    "mismatch",
    "probe",
    "questions",
    "results",
    "run",
    "single",
    "suite",
    "sweep",
    "verify",
)

with starting():
    for _name in MODULES:
        try:
            import_module(f"tcformal.cli.{_name}")
        except ModuleNotFoundError as _error:
            if not _error.name or _error.name.partition(".")[0] == "tcformal":
                raise
            MISSING[_name] = _error.name.partition(".")[0]

__all__ = ["main"]
