"""The public names, each with its module: the one list, read by `__init__.py` and by type checkers."""

from .analysis.asks import Answered as Answered, run_query as run_query
from .analysis.bounds.accuracy import Accuracy as Accuracy, accuracy as accuracy
from .analysis.bounds.program_accuracy import (
    ProgramAccuracy as ProgramAccuracy,
    program_accuracy as program_accuracy,
)
from .analysis.bounds.slices import ExactSlices as ExactSlices, exact_slices as exact_slices
from .analysis.differences import Differences as Differences, differences as differences
from .analysis.distance import (
    Distances as Distances,
    LargestDistance as LargestDistance,
    distances as distances,
    largest_distance as largest_distance,
)
from .analysis.monotonicity import Monotonicity as Monotonicity, monotonicity as monotonicity
from .design.spec import Design as Design
from .encodings.catalog import formats as formats
from .encodings.spec import Format as Format
from .errors import (
    DeviceError as DeviceError,
    InputError as InputError,
    MissingSolverError as MissingSolverError,
    NoAnswerError as NoAnswerError,
    RecordError as RecordError,
    SolverDisagreementError as SolverDisagreementError,
    TcformalError as TcformalError,
    UnknownNameError as UnknownNameError,
    ValueTextError as ValueTextError,
    WidthError as WidthError,
)
from .identification.batch_invariance import (
    BatchInvariance as BatchInvariance,
    batch_invariance as batch_invariance,
)
from .identification.identify import identify as identify
from .identification.comparison import compare as compare
from .identification.identification import (
    Identification as Identification,
    IdentifyVerdict as IdentifyVerdict,
)
from .identification.model_invariance import (
    ModelInvariance as ModelInvariance,
    model_invariance as model_invariance,
)
from .identification.whole_product import (
    IdentifiedProduct as IdentifiedProduct,
    identify_product as identify_product,
)
from .programs.cublaslt import PlannedProduct as PlannedProduct, plan_cublaslt as plan_cublaslt
from .programs.program import Program as Program
from .programs.recipe import Recipe as Recipe, recipes as recipes
from .query.assume import Assumptions as Assumptions
from .query.claims.answered import prove_claim as prove_claim
from .query.claims.claim_verdict import ClaimVerdict as ClaimVerdict
from .query.explain.trace import Divergence as Divergence
from .query.explain.explain import diverge as diverge, explain as explain
from .query.explain.program_trace import ProgramTrace as ProgramTrace, explain_program as explain_program
from .query.explain.trace import Trace as Trace
from .query.programs import ProgramsCompared as ProgramsCompared, compare_programs as compare_programs
from .query.question import Kind as Kind
from .query.separate import check_property as check_property, prove_equal as prove_equal, separate as separate
from .query.suites.made import Suite as Suite
from .query.suites.suite import suite as suite
from .query.verdict import Verdict as Verdict
from .simulation.matrix_unit import Unit as Unit, designs as designs, unit as unit, units as units
from .simulation.model_gemm import ModelGemm as ModelGemm, gemm as gemm
from .simulation.operands.witness import Witness as Witness
from .simulation.quantise import Quantised as Quantised, quantise as quantise
from .simulation.runnable import RunnableProgram as RunnableProgram, program as program
from .simulation.simulate import simulate as simulate
from .solve.result import Limits as Limits
from .store.store import Store as Store
from . import torch as torch

__all__: list[str]
__version__: str
