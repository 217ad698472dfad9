"""The command line: parse, call, print, exit code; no arithmetic.  One module per family of commands.

A module is imported when one of its commands is called, so that a kept answer is served without loading
the rest.  A module whose packages are not installed is left out: a bare checkout on a machine with a GPU
can run `probe`, which needs no solver and no package for tables.
"""

from tcformal.cli.signals import starting

with starting():
    from tcformal.cli.group import main

__all__ = ["main"]
