"""Lemmas: equalities of two nodes, generalised, decided once each, and kept with who decided them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Protocol

from tcformal.errors import CertificateError
from tcformal.interp.cnf import Cnf, to_cnf
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import digest, reachable, to_json
from tcformal.solve.certificate import Certificate, certify
from tcformal.solve.portfolio import decide
from tcformal.solve.result import Limits, Status
from tcformal.solve.sat import run_briefly

#: The solver that is asked in this process, and after how many conflicts it gives up: the more, the fewer
#: clauses there are, so that it takes about as long as starting a process and answering there.
BRIEF, BRIEF_CONFLICTS, BRIEF_WORK = "glucose", (2_000, 30_000), 100_000_000


@dataclass(frozen=True, slots=True)
class Statement:
    """A lemma's question: does some input make `assertion` equal 1?  The lemma holds where none does.

    Shapes: a graph of its own, whose inputs v0, v1, … are named in the order in which the statement
    meets them, so that equal statements of different circuits have equal digests.
    """

    graph: Graph
    assertion: Node
    #: The same statement in a graph that folds nothing; its digest is another one.
    unfolded: Callable[[], Statement]

    @property
    def sha256(self) -> str:
        """The identity of the statement."""
        return digest(self.graph, {"assertion": self.assertion})

    @property
    def free_inputs(self) -> int:
        """Bit-vectors over which the statement is quantified."""
        return sum(n.op == "input" for n in reachable([self.assertion]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lemma:
    """A statement with its answer.

    Ranges and units: `seconds` of wall time; UNSAT means that the lemma holds on every input.
    """

    name: str
    sha256: str
    free_inputs: int
    status: Status
    #: One sentence.
    reason: str
    decided_by: str
    #: Solvers that see another encoding, or the checker of the certificate.
    confirmed_by: tuple[str, ...]
    certificate: Certificate | None
    seconds: float
    disagreement: bool = False

    @property
    def holds(self) -> bool:
        """Whether the lemma is proved and the proof confirmed; nothing else counts as proved."""
        return self.status is Status.UNSAT and bool(self.confirmed_by)

    @property
    def refusal(self) -> str:
        """Why a lemma that does not hold is not proved."""
        if self.status is Status.SAT:
            return f"it is false of some values of what it is cut at: {self.reason}"
        return f"it is neither proved nor refuted: {self.reason}"

    def to_json(self) -> dict[str, Any]:
        """The lemma as plain data."""
        return {
            "name": self.name,
            "sha256": self.sha256,
            "free_inputs": self.free_inputs,
            "answer": self.status.value,
            "reason": self.reason,
            "decided_by": self.decided_by,
            "confirmed_by": list(self.confirmed_by),
            "certificate": None if self.certificate is None else self.certificate.to_json(),
            "seconds": round(self.seconds, 3),
        }


def statement(
    pairs: Sequence[tuple[Node, Node]],
    given: Sequence[Node],
    cut: Collection[int],
    order: Iterable[Node] = (),
    *,
    folded: bool = True,
) -> Statement:
    """`x == y` for all pairs where every `given` is 1, with the nodes `cut` replaced by fresh inputs.

    Soundness: let the statement be unsatisfiable.  Any input of the circuit gives the cut nodes some
    values; under these values of the fresh inputs, the nodes of the statement take the values that they
    have in the circuit, because they are the same operators on equal operands.  No values satisfy the
    assertion, these do not either: every x equals its y wherever all given hold.  Nothing is assumed
    about the cut nodes, so a cut can only make a lemma harder to hold, never easier.

    Shapes: both of a pair of one width, given of width 1, all nodes of one graph; `cut` by index; `order`
    are more cut nodes, whose inputs are named first, so that one lemma on other nodes is one statement.
    """
    first, cut = tuple(order), frozenset(cut)
    fresh = Graph(folded=folded)
    made = {n.index: fresh.input(f"v{i}", n.width) for i, n in enumerate(first)}
    met = len(made)
    for root in (*chain.from_iterable(pairs), *given):
        stack = [root]
        while stack:
            node = stack[-1]
            if node.index in made:
                stack.pop()
            elif node.op == "const":
                made[node.index] = fresh.const(node.params[1], node.width)
            elif node.op == "input" or node.index in cut:
                made[node.index] = fresh.input(f"v{met}", node.width)
                met += 1
            else:
                waiting = [a for a in reversed(node.args) if a.index not in made]
                if waiting:
                    stack.extend(waiting)
                else:
                    args = [made[a.index] for a in node.args]
                    made[node.index] = fresh.make(node.op, args, node.params)
    differ = fresh.or_(*(fresh.not_(fresh.eq(made[x.index], made[y.index])) for x, y in pairs))
    assertion = fresh.and_(differ, *(made[p.index] for p in given))
    return Statement(fresh, assertion, partial(statement, pairs, given, cut, first, folded=False))


def frontier(firsts: Sequence[Node], seconds: Sequence[Node], depth: int) -> set[int]:
    """What two sides share, `depth` operators below the first shared nodes, by index.

    Depth 0 is the strongest generalisation: the largest common subterms become free.  Constants and
    inputs are no part of a frontier.
    """
    of_x, of_y = ({n.index: n for n in reachable(roots)} for roots in (firsts, seconds))
    shared = of_x.keys() & of_y.keys()
    below: dict[int, int] = dict.fromkeys(shared, 1 << 30)
    for node in sorted((of_x | of_y).values(), key=lambda n: -n.index):
        here = below[node.index] + 1 if node.index in shared else 0
        for a in node.args:
            if a.index in shared:
                below[a.index] = min(below[a.index], here)
    for root in (*firsts, *seconds):
        if root.index in shared:
            below[root.index] = 0
    return {i for i in shared if below[i] >= depth and of_x[i].op not in ("const", "input")}


class Keeper(Protocol):
    """Where proved lemmas are kept from one run to the next."""

    def checked(self, name: str, sha256: str, dag: str, free_inputs: int) -> Lemma | None:
        """The kept lemma of the statement in `dag`, its certificate checked; None for one to prove."""

    def add(self, lemma: Lemma) -> None:
        """Keep a lemma."""


class LemmaBook:
    """Decides statements, each distinct one once, and keeps what was found, in `keeper` for later runs too.

    With `fresh` what `keeper` has from earlier runs is not used.
    Shapes: statements are told apart by their SHA-256.
    Errors: those of `decide` for solvers that cannot be asked.
    """

    def __init__(
        self,
        *,
        members: Sequence[str] | None = None,
        limits: Limits,
        certify: bool | None = None,
        keeper: Keeper | None = None,
        fresh: bool = False,
        idle: bool = False,
    ) -> None:
        #: Whether no lemma is to be asked at all: claims are left open where nothing refutes them.
        self.idle = idle
        self._members = members
        self._keeper = keeper
        self._fresh = fresh
        self._limits = limits
        self._certify = certify
        self._known: dict[str, Lemma] = {}
        #: What claims have proved in this run, for others that ask the same.
        self.proved: dict[tuple[Hashable, ...], tuple[Any, list[Lemma]]] = {}

    @property
    def lemmas(self) -> Mapping[str, Lemma]:
        """Every lemma decided so far, by its digest."""
        return dict(self._known)

    def decide(self, name: str, what: Statement, *, conflicts: int | None = None) -> Lemma:
        """The answer to a statement: a kept one, by folding, from one solver, or from the portfolio.

        The one solver is asked in this process, with its proof checked like any other, and gives up after
        some conflicts: most lemmas are decided sooner than a process is started.
        """
        sha256 = what.sha256
        if sha256 not in self._known:
            if self._certify is False or (self._members is not None and BRIEF not in self._members):
                conflicts = 0
            made = self._kept(name, sha256, what) or self._decided(name, sha256, what, conflicts)
            self._known[sha256] = made
        return self._known[sha256]

    def _kept(self, name: str, sha256: str, what: Statement) -> Lemma | None:
        """The kept lemma, its certificate checked against the clauses that the statement has today."""
        if self._keeper is None or self._fresh:
            return None
        dag = to_json(what.graph, {"assertion": what.assertion})
        return self._keeper.checked(name, sha256, dag, what.free_inputs)

    def _decided(self, name: str, sha256: str, what: Statement, conflicts: int | None) -> Lemma:
        cnf, lemma = to_cnf(what.graph, what.assertion), None
        if conflicts is None:
            fewest, most = BRIEF_CONFLICTS
            conflicts = max(fewest, min(most, BRIEF_WORK // max(1, len(cnf.clauses))))
        if () in cnf.clauses:
            # The clauses are their own refutation; the checker is asked to say so, with a proof of no steps.
            lemma = _certified(name, sha256, what, cnf, "", "folding", "both sides are the same gates")
        elif conflicts:
            lemma = _briefly(name, sha256, what, cnf, conflicts)
        lemma = lemma or self._ask(name, sha256, what)
        if self._keeper is not None:
            self._keeper.add(lemma)
        return lemma

    def _ask(self, name: str, sha256: str, what: Statement) -> Lemma:
        start = time.monotonic()
        evaluate = Concrete(what.graph, [what.assertion])
        decision = decide(
            what.graph, what.assertion, members=self._members, limits=self._limits,
            replay=lambda model: evaluate(model) == [1], certify=self._certify,
        )  # fmt: skip
        made = decision.certificate
        checked = () if made is None else (made.checker,)
        return Lemma(
            name=name, sha256=sha256, free_inputs=what.free_inputs, status=decision.status,
            reason=decision.reason,
            decided_by=next((a.solver for a in decision.answers if a.status is decision.status), ""),
            confirmed_by=(*decision.confirmed_by, *checked), certificate=made,
            seconds=time.monotonic() - start, disagreement=decision.disagreement,
        )  # fmt: skip


def _certified(
    name: str, sha256: str, what: Statement, cnf: Cnf, proof: str, decider: str, reason: str
) -> Lemma:
    """A lemma whose proof was checked just now; CertificateError where the checker refuses it."""
    start = time.monotonic()
    made = certify(cnf, proof, decider)
    return Lemma(
        name=name, sha256=sha256, free_inputs=what.free_inputs, status=Status.UNSAT, reason=reason,
        decided_by=decider, confirmed_by=(made.checker,), certificate=made, seconds=time.monotonic() - start,
    )  # fmt: skip


def _briefly(name: str, sha256: str, what: Statement, cnf: Cnf, conflicts: int) -> Lemma | None:
    """A lemma that one solver proves or refutes in this process; None where it gives up."""
    found = run_briefly(cnf, conflicts)
    if found.status is Status.UNSAT:
        try:
            return _certified(name, sha256, what, cnf, found.proof or "", BRIEF, f"{BRIEF} answered unsat")
        except CertificateError:
            return None  # a proof that is refused counts for nothing: the portfolio is asked
    if found.status is Status.SAT and Concrete(what.graph, [what.assertion])(found.model or {}) == [1]:
        return Lemma(
            name=name, sha256=sha256, free_inputs=what.free_inputs, status=Status.SAT,
            reason=f"{BRIEF} answered sat with a model that replays", decided_by=BRIEF, confirmed_by=(),
            certificate=None, seconds=0.0,
        )  # fmt: skip
    return None
