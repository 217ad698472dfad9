"""Formal, executable, parametric models of the arithmetic of matrix units.

The public names are imported when they are first used, so that `import tcformal` costs nothing and
works without the solvers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tcformal.interpreter import check_python
from tcformal.version import VERSION as __version__

if TYPE_CHECKING:
    from tcformal.matmul.differ import Differences, differences
    from tcformal.matmul.simulate import simulate
    from tcformal.matmul.unit import Unit, unit, units
    from tcformal.query.explain.explain import explain
    from tcformal.query.explain.steps import Trace
    from tcformal.query.separate import prove_equal, separate
    from tcformal.query.verdict import Verdict

# Every way into the package leads through here: `python -m tcformal`, the entry point, and imports.
check_python()

_HOME = {
    "Differences": "tcformal.matmul.differ",
    "Trace": "tcformal.query.explain.steps",
    "Unit": "tcformal.matmul.unit",
    "Verdict": "tcformal.query.verdict",
    "differences": "tcformal.matmul.differ",
    "explain": "tcformal.query.explain.explain",
    "prove_equal": "tcformal.query.separate",
    "separate": "tcformal.query.separate",
    "simulate": "tcformal.matmul.simulate",
    "unit": "tcformal.matmul.unit",
    "units": "tcformal.matmul.unit",
}

__all__ = [
    "Differences", "Trace", "Unit", "Verdict", "__version__", "differences", "explain", "prove_equal",
    "separate", "simulate", "unit", "units",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'tcformal' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
