"""The runners of the three SMT solvers: each imports its solver when called, and only a worker calls it."""

from __future__ import annotations

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.solve.result import Limits, RunnerOutcome, Status, is_out_of_memory


def _undecided(reason: str) -> RunnerOutcome:
    return RunnerOutcome(Status.MEMORY if is_out_of_memory(reason) else Status.UNKNOWN, reason=reason)


#: z3's own QF_BV steps without its last look at the circuit: on the truncation lemmas of sums this
#: answers where `SolverFor("QF_BV")` does not, and the product steps keep what that one is good at.
Z3_STEPS: tuple[tuple[str, dict[str, bool]], ...] = (
    ("simplify", {}),
    ("propagate-values", {}),
    ("solve-eqs", {}),
    ("elim-uncnstr", {}),
    ("reduce-bv-size", {}),
    ("simplify", {"som": True, "pull_cheap_ite": True, "local_ctx": True, "flat": True}),
    ("simplify", {"hoist_mul": True, "som": False, "flat_and_or": False}),
    ("max-bv-sharing", {}),
    ("bit-blast", {}),
    ("sat", {}),
)


def run_z3(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    """Ask z3 whether some input makes `assertion` equal 1."""
    import z3

    from tcformal.backends.terms.term_z3 import Z3Terms

    terms = Z3Terms(graph)
    steps = [z3.With(z3.Tactic(name, terms.context), **options) for name, options in Z3_STEPS]
    solver = z3.Then(*steps, ctx=terms.context).solver()
    solver.set("random_seed", limits.seed)
    solver.add(terms.assertion(assertion))
    result = solver.check()
    if result == z3.unsat:
        return RunnerOutcome(Status.UNSAT)
    if result != z3.sat:
        return _undecided(f"z3 gave up: {solver.reason_unknown()}")
    model = solver.model()
    return RunnerOutcome(
        Status.SAT,
        {name: model.eval(term, model_completion=True).as_long() for name, term in terms.inputs.items()},
    )


def run_cvc5(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    """Ask cvc5 whether some input makes `assertion` equal 1."""
    import cvc5

    from tcformal.backends.terms.term_cvc5 import Cvc5Terms

    terms = Cvc5Terms(graph)
    solver = cvc5.Solver(terms.manager)
    solver.setLogic("QF_BV")
    solver.setOption("produce-models", "true")
    solver.setOption("bitblast", "eager")
    solver.setOption("seed", str(limits.seed))
    solver.setOption("sat-random-seed", str(limits.seed))
    solver.assertFormula(terms.assertion(assertion))
    result = solver.checkSat()
    if result.isUnsat():
        return RunnerOutcome(Status.UNSAT)
    if not result.isSat():
        return _undecided(f"cvc5 gave up: {result.getUnknownExplanation()}")
    return RunnerOutcome(
        Status.SAT,
        {name: int(solver.getValue(term).getBitVectorValue(16), 16) for name, term in terms.inputs.items()},
    )


def run_bitwuzla(graph: Graph, assertion: Node, limits: Limits) -> RunnerOutcome:
    """Ask Bitwuzla whether some input makes `assertion` equal 1."""
    import bitwuzla

    from tcformal.backends.terms.term_bitwuzla import BitwuzlaTerms

    terms = BitwuzlaTerms(graph)
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    options.set(bitwuzla.Option.BV_SOLVER, "preprop")
    options.set(bitwuzla.Option.SEED, limits.seed)
    solver = bitwuzla.Bitwuzla(terms.manager, options)
    solver.assert_formula(terms.assertion(assertion))
    result = solver.check_sat()
    if result == bitwuzla.Result.UNSAT:
        return RunnerOutcome(Status.UNSAT)
    if result != bitwuzla.Result.SAT:
        return _undecided("bitwuzla gave up")
    return RunnerOutcome(
        Status.SAT, {name: int(solver.get_value(term).value(16), 16) for name, term in terms.inputs.items()}
    )
