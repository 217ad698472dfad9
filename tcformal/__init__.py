"""Formal, executable, parametric models of the arithmetic of matrix units.

The public names are imported when they are first used, so that `import tcformal` costs nothing and
works without the solvers.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tcformal.callbacks import set_view
from tcformal.interpreter import check_python
from tcformal.version import VERSION as __version__

if TYPE_CHECKING:
    from tcformal.analysis.bounds.accuracy import Accuracy, accuracy
    from tcformal.analysis.bounds.programs import ProgramAccuracy, program_accuracy
    from tcformal.analysis.bounds.slices import ExactSlices, exact_slices
    from tcformal.analysis.differences import Differences, differences
    from tcformal.analysis.distance.distance import Distances, LargestDistance, distances, largest_distance
    from tcformal.analysis.distance.monotone import Monotonicity, monotonicity
    from tcformal.analysis.papers.run import Answered, run_query
    from tcformal.design.spec import Design
    from tcformal.encodings.catalog import formats
    from tcformal.encodings.spec import Format
    from tcformal.errors import (
        DeviceError,
        InputError,
        MissingSolverError,
        NoAnswerError,
        RecordError,
        SolverDisagreementError,
        TcformalError,
        UnknownNameError,
        ValueTextError,
        WidthError,
    )
    from tcformal.identification.asking.device import identify
    from tcformal.identification.record.identification import Identification, IdentifyVerdict
    from tcformal.identification.whole.product import IdentifiedProduct, identify_product
    from tcformal.programs.program import Program
    from tcformal.programs.recipes.cublaslt import PlannedProduct, plan_cublaslt
    from tcformal.programs.recipes.names import recipes
    from tcformal.programs.recipes.recipe import Recipe
    from tcformal.query.assume import Assumptions
    from tcformal.query.claims.answered import prove_claim
    from tcformal.query.claims.verdict import ClaimVerdict
    from tcformal.query.explain.divergence import Divergence
    from tcformal.query.explain.explain import diverge, explain
    from tcformal.query.explain.program import ProgramTrace, explain_program
    from tcformal.query.explain.steps import Trace
    from tcformal.query.programs import ProgramsCompared, compare_programs
    from tcformal.query.question import Kind
    from tcformal.query.separate import check_property, prove_equal, separate
    from tcformal.query.suites.made import Suite
    from tcformal.query.suites.units import suite
    from tcformal.query.verdict import Verdict
    from tcformal.simulation.operands.witness import Witness
    from tcformal.simulation.recipe import ModelGemm, gemm
    from tcformal.simulation.runnable import RunnableProgram, program
    from tcformal.simulation.simulate import simulate
    from tcformal.simulation.unit import Unit, designs, unit, units
    from tcformal.solve.result import Limits
    from tcformal.store.store import Store

# Every way into the package leads through here: `python -m tcformal`, the entry point, and imports.
check_python()


def _made_by(name: str) -> Callable[[Any], str | None]:
    """The function of this name among the views of notebooks, imported when a notebook asks."""
    return lambda value: getattr(import_module("tcformal.report.svg.notebook"), name)(value)


for _name in ("trace_svg", "unit_html", "verdict_html", "claim_html", "identification_html"):
    set_view(_name, _made_by(_name))

#: The module of each public name.
_HOME = {
    "Accuracy": "tcformal.analysis.bounds.accuracy",
    "Answered": "tcformal.analysis.papers.run",
    "Assumptions": "tcformal.query.assume",
    "ClaimVerdict": "tcformal.query.claims.verdict",
    "Design": "tcformal.design.spec",
    "DeviceError": "tcformal.errors",
    "Differences": "tcformal.analysis.differences",
    "Distances": "tcformal.analysis.distance.distance",
    "Divergence": "tcformal.query.explain.divergence",
    "ExactSlices": "tcformal.analysis.bounds.slices",
    "Format": "tcformal.encodings.spec",
    "Identification": "tcformal.identification.record.identification",
    "IdentifiedProduct": "tcformal.identification.whole.product",
    "IdentifyVerdict": "tcformal.identification.record.identification",
    "InputError": "tcformal.errors",
    "Kind": "tcformal.query.question",
    "LargestDistance": "tcformal.analysis.distance.distance",
    "Limits": "tcformal.solve.result",
    "MissingSolverError": "tcformal.errors",
    "ModelGemm": "tcformal.simulation.recipe",
    "Monotonicity": "tcformal.analysis.distance.monotone",
    "NoAnswerError": "tcformal.errors",
    "PlannedProduct": "tcformal.programs.recipes.cublaslt",
    "Program": "tcformal.programs.program",
    "ProgramAccuracy": "tcformal.analysis.bounds.programs",
    "ProgramTrace": "tcformal.query.explain.program",
    "ProgramsCompared": "tcformal.query.programs",
    "Recipe": "tcformal.programs.recipes.recipe",
    "RecordError": "tcformal.errors",
    "RunnableProgram": "tcformal.simulation.runnable",
    "SolverDisagreementError": "tcformal.errors",
    "Store": "tcformal.store.store",
    "Suite": "tcformal.query.suites.made",
    "TcformalError": "tcformal.errors",
    "Trace": "tcformal.query.explain.steps",
    "Unit": "tcformal.simulation.unit",
    "UnknownNameError": "tcformal.errors",
    "ValueTextError": "tcformal.errors",
    "Verdict": "tcformal.query.verdict",
    "WidthError": "tcformal.errors",
    "Witness": "tcformal.simulation.operands.witness",
    "accuracy": "tcformal.analysis.bounds.accuracy",
    "check_property": "tcformal.query.separate",
    "compare_programs": "tcformal.query.programs",
    "designs": "tcformal.simulation.unit",
    "differences": "tcformal.analysis.differences",
    "distances": "tcformal.analysis.distance.distance",
    "diverge": "tcformal.query.explain.explain",
    "exact_slices": "tcformal.analysis.bounds.slices",
    "explain": "tcformal.query.explain.explain",
    "explain_program": "tcformal.query.explain.program",
    "formats": "tcformal.encodings.catalog",
    "gemm": "tcformal.simulation.recipe",
    "identify": "tcformal.identification.asking.device",
    "identify_product": "tcformal.identification.whole.product",
    "largest_distance": "tcformal.analysis.distance.distance",
    "monotonicity": "tcformal.analysis.distance.monotone",
    "plan_cublaslt": "tcformal.programs.recipes.cublaslt",
    "program": "tcformal.simulation.runnable",
    "program_accuracy": "tcformal.analysis.bounds.programs",
    "prove_claim": "tcformal.query.claims.answered",
    "prove_equal": "tcformal.query.separate",
    "recipes": "tcformal.programs.recipes.names",
    "run_query": "tcformal.analysis.papers.run",
    "separate": "tcformal.query.separate",
    "simulate": "tcformal.simulation.simulate",
    "suite": "tcformal.query.suites.units",
    "unit": "tcformal.simulation.unit",
    "units": "tcformal.simulation.unit",
}

__all__ = [
    "Accuracy", "Answered", "Assumptions", "ClaimVerdict", "Design", "DeviceError", "Differences",
    "Distances", "Divergence", "ExactSlices", "Format", "Identification", "IdentifiedProduct",
    "IdentifyVerdict", "InputError", "Kind", "LargestDistance", "Limits", "MissingSolverError",
    "ModelGemm", "Monotonicity", "NoAnswerError", "PlannedProduct", "Program", "ProgramAccuracy",
    "ProgramTrace", "ProgramsCompared", "Recipe", "RecordError", "RunnableProgram",
    "SolverDisagreementError", "Store", "Suite", "TcformalError", "Trace", "Unit", "UnknownNameError",
    "ValueTextError", "Verdict", "WidthError", "Witness", "__version__", "accuracy", "check_property",
    "compare_programs", "designs", "differences", "distances", "diverge", "exact_slices", "explain",
    "explain_program", "formats", "gemm", "identify", "identify_product", "largest_distance",
    "monotonicity", "plan_cublaslt", "program", "program_accuracy", "prove_claim", "prove_equal",
    "recipes", "run_query", "separate", "simulate", "suite", "unit", "units",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "torch":  # a package of its own, because it needs PyTorch
        return import_module("tcformal.torch")
    if name not in _HOME:
        raise AttributeError(f"module 'tcformal' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
