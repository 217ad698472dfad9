"""Can one of two algorithms on a unit be further from the exact value than the other?

The algorithms are Markidis, which adds inside the unit, and Ootomo and Yokota, which adds outside
[VALPEY Property 5].  The exact value is that of the true inputs, in fixed-point integers of one window.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from tcformal.algorithms import corrected, error
from tcformal.algorithms.split import HALF, SINGLE, SPLIT_ROUNDINGS, Split, split
from tcformal.checks import check_choice
from tcformal.design.spec import Operands
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import digest
from tcformal.models import Unit
from tcformal.oracle import algorithms as oracle
from tcformal.oracle.values import format_value, number_text
from tcformal.query.assumptions import Assumptions, assume
from tcformal.query.shrink import shrink
from tcformal.query.spec import Question, Witness, spec_of
from tcformal.query.verdict import Kind
from tcformal.semantics.unpack import unpack
from tcformal.solve.certificate import Certificate
from tcformal.solve.members import default_members
from tcformal.solve.portfolio import decide
from tcformal.solve.result import Decision, Limits, SolverAnswer, Status

#: What the inputs a and b are.
FORMS: dict[str, str] = {
    "table5": "halves: Markidis is TC(a·b, c), Ootomo and Yokota is RNE(TC(a·b, 0) + c)",
    "split": "singles, which both algorithms split into halves",
}
ALGORITHMS: dict[str, str] = {"markidis": "Markidis", "ootomo-yokota": "Ootomo and Yokota"}
#: Exponents of a and b in each form: those of VALPEY §6 (Type 1 of Ootomo and Yokota); of halves, their own.
EXPONENTS = {"table5": (-14, 14), "split": (-15, 14)}
#: Exponents of c: from where it reaches the lowest bit of a product, as in Table 5, to the largest product.
C_EXPONENTS = (-24, 30)

#: Asked first unless the caller says otherwise: with multipliers, splits and wide sums, rewriting words finds
#: inputs in a tenth of the time that clauses take.
_FIRST = "bitwuzla"

_KIND_OF = {Status.UNKNOWN: Kind.UNKNOWN, Status.TIMEOUT: Kind.TIMEOUT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked; InputError for what does not fit together.

    Shapes: `products` products in one call, the unit's others being 0·0.
    """

    unit: UnitSpec
    form: str = "table5"
    #: The algorithm whose error is to be the larger one.
    worse: str = "ootomo-yokota"
    products: int = 4
    #: How the inputs are split; of no effect on halves.
    split_rounding: str = "RNE"
    #: Whether Ootomo and Yokota keep the product of the remainders.
    keep_last: bool = False
    #: Of a, b and c, but for the exponents, which are those of a and b.
    assumptions: Assumptions = field(default_factory=Assumptions)
    #: Range of c's exponent, where c is not zero.
    c_exponents: tuple[int, int] = C_EXPONENTS
    #: By how many ulps of the exact value, which then is not zero, the error is to be larger; None: at all.
    more_than: Fraction | None = None

    def __post_init__(self) -> None:
        check_choice("form", self.form, FORMS)
        check_choice("algorithm", self.worse, ALGORITHMS)
        check_choice("split rounding", self.split_rounding, SPLIT_ROUNDINGS)
        corrected.check_unit(self.unit, self.products)
        if self.keep_last and self.form != "split":
            raise InputError(f"expected keep_last with form=split only, but got form={self.form}")
        if self.c_exponents[0] > self.c_exponents[1]:
            raise InputError(f"expected c_exponents as (low, high), but got {self.c_exponents}")

    @property
    def factor_format(self) -> Format:
        """Format of a and b."""
        return HALF if self.form == "table5" else SINGLE

    @property
    def exponents(self) -> tuple[int, int]:
        """Range of the exponents of a and b, where they are not zero."""
        return self.assumptions.exponents or EXPONENTS[self.form]

    def texts(self) -> list[str]:
        """What is assumed, one readable line for each."""
        (low, high), (c_low, c_high) = self.exponents, self.c_exponents
        return [
            *replace(self.assumptions, exponents=None).texts(),
            f"exponents of non-zero a and b in {low}..{high}",
            f"exponent of a non-zero c in {c_low}..{c_high}",
        ]

    @property
    def claim(self) -> str:
        """One sentence, true where the answer is no."""
        other = next(name for name in ALGORITHMS if name != self.worse)
        by = "" if self.more_than is None else f" by more than {number_text(self.more_than)} ulp"
        return f"the error of {ALGORITHMS[self.worse]} is never larger than that of {ALGORITHMS[other]}{by}"


@dataclass(frozen=True, slots=True, eq=False)
class WorseQuestion:
    """A question, built.

    Shapes: inputs a[0], b[0], …, c are raw encodings; results (Markidis, Ootomo and Yokota) u[32];
    errors unsigned and `exact` signed numbers of the window.
    """

    asked: Asked
    graph: Graph
    results: tuple[Node, Node]
    window: error.Window
    exact: Node
    errors: tuple[Node, Node]
    #: 1 where every assumption holds.
    assumed: Node
    #: 1 where they hold, both results are numbers and the error is larger as asked.
    violated: Node

    def digest(self) -> str:
        """SHA-256 of the question's definition."""
        return digest(self.graph, {"assertion": self.violated, "assumed": self.assumed})


@dataclass(frozen=True, slots=True)
class Replayed:
    """What inputs do when both algorithms are run again.

    Ranges and units: results are fp32 encodings, (Markidis, Ootomo and Yokota); errors are absolute, None
    for a result that is no number.
    """

    asked: Asked
    assumed: bool
    integers: tuple[int, int]
    oracle: tuple[int, int]
    exact: Fraction | None
    errors: tuple[Fraction | None, Fraction | None]
    #: Whether the DAG says that the error is larger as asked.
    violated: bool
    #: Whether the DAG's exact value and errors are those of the fractions.
    same_errors: bool

    @property
    def excess(self) -> Fraction | None:
        """By how much the error asked about exceeds the other; None where there is no such number."""
        m, oy = self.errors
        if m is None or oy is None:
            return None
        return oy - m if self.asked.worse == "ootomo-yokota" else m - oy

    @property
    def ulps(self) -> tuple[Fraction, Fraction] | None:
        """Both errors in ulps of the exact value; None where that is zero or a result is no number."""
        m, oy = self.errors
        if m is None or oy is None or not self.exact:
            return None
        unit = oracle.ulp(self.exact)
        return m / unit, oy / unit

    @property
    def excess_ulps(self) -> Fraction | None:
        """The excess in ulps of the exact value."""
        if self.excess is None or not self.exact:
            return None
        return self.excess / oracle.ulp(self.exact)

    @property
    def violates(self) -> bool:
        """Whether integers and fractions agree that the error is larger as asked."""
        if not self.assumed or not self.violated or not self.same_errors or self.integers != self.oracle:
            return False
        if self.asked.more_than is None:
            return self.excess is not None and self.excess > 0
        return self.excess_ulps is not None and self.excess_ulps > self.asked.more_than


@dataclass(frozen=True, slots=True, kw_only=True)
class WorseVerdict:
    """The answer: VIOLATED with inputs, HOLDS, VACUOUS, UNKNOWN, TIMEOUT or ERROR."""

    kind: Kind
    reason: str
    question: WorseQuestion
    witness: Witness | None = None
    replayed: Replayed | None = None
    answers: tuple[SolverAnswer, ...] = ()
    confirmed_by: tuple[str, ...] = ()
    certificate: Certificate | None = None
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data: encodings in hex, values exact."""
        asked = self.question.asked
        data: dict[str, Any] = {
            "verdict": self.kind.name,
            "reason": self.reason,
            "claim": asked.claim,
            "unit": asked.unit.name,
            "form": asked.form,
            "products": asked.products,
            "assumptions": asked.texts(),
            "question_sha256": self.question.digest(),
            "confirmed_by": list(self.confirmed_by),
            "certificate": None if self.certificate is None else self.certificate.to_json(),
            "solvers": [
                {
                    "name": a.solver,
                    "version": a.version,
                    "answer": a.status.value,
                    "seconds": round(a.seconds, 3),
                }
                for a in self.answers
            ],
            "seconds": round(self.seconds, 3),
        }  # fmt: skip
        if asked.form == "split":
            data |= {"split_rounding": asked.split_rounding, "keep_last": asked.keep_last}
        if self.witness is not None and self.replayed is not None:
            data |= witness_data(asked, self.witness, self.replayed)
        return data


def witness_data(asked: Asked, w: Witness, run: Replayed) -> dict[str, Any]:
    """Inputs and what both algorithms make of them, as plain data."""
    fmt = asked.factor_format
    data: dict[str, Any] = {
        "witness": {
            "a": [_exact(fmt, x) for x in w.a],
            "b": [_exact(fmt, x) for x in w.b],
            "c": _exact(SINGLE, w.c),
        },
        "exact": None if run.exact is None else number_text(run.exact),
        "results": {
            name: _exact(SINGLE, raw) for name, raw in zip(ALGORITHMS, run.integers, strict=True)
        },
        "errors": {
            name: None if e is None else number_text(e)
            for name, e in zip(ALGORITHMS, run.errors, strict=True)
        },
    }  # fmt: skip
    if run.ulps is not None:
        data["errors_ulps"] = dict(zip(ALGORITHMS, map(float, run.ulps), strict=True))
    return data


def _exact(fmt: Format, raw: int) -> dict[str, str]:
    return {"hex": f"{raw:#0{2 + -(-fmt.width // 4)}x}", "value": format_value(fmt, raw)}


def asked(unit: str | Unit | UnitSpec, **settings: Any) -> Asked:
    """A question's parameters from a unit or its name; `products` is 4, or the unit's k if that is less."""
    spec = spec_of(unit)
    return Asked(**{"unit": spec, "products": min(4, spec.k), **settings})


def worse_question(what: Asked) -> WorseQuestion:
    """Build the question."""
    g, fmt = Graph(), what.factor_format
    a = [g.input(f"a[{i}]", fmt.width) for i in range(what.products)]
    b = [g.input(f"b[{i}]", fmt.width) for i in range(what.products)]
    free = g.input("c", SINGLE.width)
    fixed = what.assumptions.c
    # A c that is assumed is a constant from here on; the input remains, for the witness to name it.
    c = free if fixed is None else g.const(fixed, SINGLE.width)
    results = _results(g, what, a, b, c)

    span, c_span = what.exponents, what.c_exponents
    window = error.window(fmt, what.products, span, c_span)
    factors = [[unpack(g, x, fmt) for x in row] for row in (a, b)]
    last = unpack(g, c, SINGLE)
    exact = error.exact_sum(g, window, factors[0], factors[1], last, span, c_span)
    of_m, of_oy = (error.error(g, window, r, exact) for r in results)

    flags = (*what.assumptions.flags, "finite")
    of_factors, of_c = Assumptions(flags, span), Assumptions(flags, c_span, what.assumptions.c)
    words = [(x, fmt) for x in (*a, *b)]
    assumed = g.and_(assume(g, of_factors, words, free), assume(g, of_c, [(free, SINGLE)], free))
    larger, smaller = (of_oy, of_m) if what.worse == "ootomo-yokota" else (of_m, of_oy)
    if what.more_than is not None:
        exceeds = error.exceeds_by(g, window, larger, smaller, exact, what.more_than)
        # Equal results have equal errors.  Saying so makes bounds quick to prove, at the results already;
        # where inputs are only to be found, it was measured to cost time.
        exceeds = g.and_(exceeds, g.not_(g.eq(*results)))
    else:
        exceeds = error.exceeds(g, larger, smaller)
    numbers = assume(g, Assumptions(("finite",)), [(r, SINGLE) for r in results], free)
    violated = g.and_(assumed, numbers, exceeds)
    return WorseQuestion(what, g, results, window, exact, (of_m, of_oy), assumed, violated)


def _results(g: Graph, what: Asked, a: list[Node], b: list[Node], c: Node) -> tuple[Node, Node]:
    """The results of Markidis, and of Ootomo and Yokota."""
    if what.form == "table5":
        inside = corrected.added_inside(g, what.unit, a, b, c)
        return inside, corrected.added_outside(g, what.unit, a, b, c)
    parts: dict[str, list[Split]] = {"a": [], "b": []}
    for letter, row in (("a", a), ("b", b)):
        for i, word in enumerate(row):
            with g.scope(f"{letter}{i}"):
                parts[letter].append(split(g, word, what.split_rounding))
    with g.scope("markidis"):
        first = corrected.markidis(g, what.unit, parts["a"], parts["b"], c)
    with g.scope("ootomo-yokota"):
        second = corrected.ootomo_yokota(
            g, what.unit, parts["a"], parts["b"], c, keep_last=what.keep_last
        )  # fmt: skip
    return first, second


def replay(q: WorseQuestion, inputs: Mapping[str, int]) -> Replayed:
    """Run inputs through both algorithms on integers and on the oracle, and compare the errors exactly."""
    what = q.asked
    w = Witness.of(inputs, what.products)
    assumed, violated, m, oy, raw_exact, *raw_errors = _evaluator(q)(w.inputs())
    again = oracle_results(what, w)
    exact = oracle.exact_sum(what.factor_format, w.a, w.b, w.c)
    errors: list[Fraction | None] = [None, None]
    same = exact is not None
    if exact is not None:
        unit = Fraction(2) ** q.window.low
        half = 1 << (q.exact.width - 1)
        same = unit * ((raw_exact ^ half) - half) == exact
        errors = [oracle.error(r, exact) for r in again]
        same = same and all(
            e is None or unit * raw == e for e, raw in zip(errors, raw_errors, strict=True)
        )  # fmt: skip
    return Replayed(what, bool(assumed), (m, oy), again, exact, (errors[0], errors[1]), bool(violated), same)


@lru_cache(maxsize=8)
def _evaluator(q: WorseQuestion) -> Concrete:
    return Concrete(q.graph, [q.assumed, q.violated, *q.results, q.exact, *q.errors])


def oracle_results(what: Asked, w: Witness) -> tuple[int, int]:
    """The results of Markidis, and of Ootomo and Yokota, on the Fraction oracle."""
    unit, mode = what.unit, what.split_rounding
    if what.form == "table5":
        return oracle.added_inside(unit, w.a, w.b, w.c), oracle.added_outside(unit, w.a, w.b, w.c)
    return (
        oracle.markidis(unit, w.a, w.b, w.c, mode),
        oracle.ootomo_yokota(unit, w.a, w.b, w.c, mode, keep_last=what.keep_last),
    )


def answer(
    q: WorseQuestion,
    *,
    solvers: Sequence[str] | None = None,
    limits: Limits,
    certify: bool | None = None,
    jobs: int | None = None,
    shrinking_s: float = 4.0,
    progress: Callable[[str], None] = lambda _: None,
) -> WorseVerdict:
    """Decide a question: assumptions first, then an input with the larger error, replayed and shrunk.

    `certify` and `jobs` are those of `solve.portfolio.decide`.
    """
    start = time.monotonic()

    def verdict(kind: Kind, reason: str, d: Decision, **more: Any) -> WorseVerdict:
        return WorseVerdict(
            kind=kind, reason=reason, question=q, seconds=time.monotonic() - start, answers=d.answers,
            confirmed_by=d.confirmed_by, certificate=d.certificate, **more,
        )  # fmt: skip

    common: dict[str, Any] = {
        "members": solver_order(solvers), "limits": limits, "certify": certify, "jobs": jobs,
    }  # fmt: skip
    progress("looking for inputs with the larger error")
    d = decide(q.graph, q.violated, replay=lambda m: replay(q, m).violates, **common)
    if d.status is Status.SAT and d.model is not None:
        progress("shrinking the witness")
        small = shrunk(q, d.model, seconds=shrinking_s)
        run = replay(q, small.inputs())
        if not run.violates:
            return verdict(Kind.ERROR, "the shrunk witness does not replay on integers and oracle", d)
        reason = f"not always: {q.asked.claim}; replayed on integers and on exact fractions"
        return verdict(Kind.VIOLATED, reason, d, witness=small, replayed=run)
    if d.status is Status.UNSAT:
        # Only a claim about nothing needs this: inputs with the larger error satisfy the assumptions.
        progress("are the assumptions satisfiable?")
        possible = decide(q.graph, q.assumed, replay=lambda m: replay(q, m).assumed, **common)
        if possible.status is Status.UNSAT:
            return verdict(Kind.VACUOUS, "no inputs satisfy: " + "; ".join(q.asked.texts()), possible)
        if possible.status is not Status.SAT:
            return verdict(_open(possible), f"whether the assumptions can hold: {possible.reason}", possible)
        return verdict(Kind.HOLDS, f"{q.asked.claim}: {d.reason}", d)
    return verdict(_open(d), d.reason, d)


def solver_order(solvers: Sequence[str] | None) -> Sequence[str]:
    """The solvers as named, or all that are installed in the order that suits these questions."""
    return sorted(default_members(), key=lambda name: name != _FIRST) if solvers is None else solvers


def _open(d: Decision) -> Kind:
    return Kind.ERROR if d.disagreement else _KIND_OF.get(d.status, Kind.ERROR)


def shrunk(q: WorseQuestion, found: Mapping[str, int], *, seconds: float) -> Witness:
    """Simpler inputs that still have the larger error as asked."""
    what, fmt = q.asked, q.asked.factor_format
    # To the shrinker a question is two results on inputs of some formats, and a node that must stay 1.
    unit = replace(what.unit, operands=Operands(a=fmt, b=fmt, c=SINGLE, d=SINGLE))
    seen = Question(unit, unit, what.products, what.assumptions, q.graph, q.results, q.assumed, q.violated)
    return shrink(seen, Witness.of(found, what.products), seconds=seconds)
