"""Formal, executable, parametric models of the arithmetic of matrix units.

The public names are imported when they are first used, so that `import tcformal` costs nothing and
works without the solvers.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from tcformal.shown import set_view
from tcformal.version import VERSION, check_python

# Every way into the package leads through here: `python -m tcformal`, the entry point, and imports.
check_python()


def _made_by(module: str, name: str) -> Callable[[Any], str | None]:
    """A function of a module that is imported when a person looks at an answer."""
    return lambda value: getattr(import_module(module), name)(value)


set_view("text", _made_by("tcformal.cli.printed", "text"))
set_view("html", _made_by("tcformal.report.notebook", "html"))
set_view("svg", _made_by("tcformal.report.notebook", "svg"))

__version__ = VERSION
_names: list[str] = []
try:
    import lazy_loader  # after `check_python`: an old Python may not be able to read it
except ModuleNotFoundError:  # a machine with a GPU: `probe` needs none of the public names
    pass
else:
    # `__init__.pyi` lists the public names with their modules; `import *` leaves out what needs PyTorch.
    __getattr__, _, _names = lazy_loader.attach_stub(__name__, __file__)
__all__ = sorted({*_names, "__version__"} - {"torch"})


def __dir__() -> list[str]:
    return __all__
