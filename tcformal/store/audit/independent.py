"""The independent audit: kept answers and lemmas decided again by other gates and another prover.

Each question is built anew without folding and written as JSON; `tcformal.independent` reads that text and
asks berkeley-abc.  No certificate, clause, solver or record of an answer plays a part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tcformal.errors import NoAnswerError, RecordError, TcformalError
from tcformal.independent.abc import PROGRAM, AbcAnswer, ask_abc
from tcformal.independent.gates import Network, network
from tcformal.ir.build import Graph
from tcformal.ir.walk import to_json
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.lemmas import Lemma, Statement
from tcformal.query.kinds.register import kind_of
from tcformal.query.question import Kind, Question
from tcformal.query.verdict import DECIDED
from tcformal.solve.result import Status
from tcformal.store.answers import check_definition, question_of
from tcformal.store.audit.audit import AuditFinding, AuditStatus
from tcformal.store.audit.claim_audit import ClaimFinding, check_same, claimed_unit
from tcformal.store.audit.recheck import WITNESS_LIMITS, CheckedBook
from tcformal.store.claims import claim_record, kept_tree, lemmas_used
from tcformal.store.store import Entry, Store

#: Time limit of abc for each question and each lemma, in seconds.
ABC_S = 120.0


def audit_independently(entry: Entry, seconds: float = ABC_S) -> AuditFinding:
    """Audit one answer: abc must find no input where none is claimed, and one where one is claimed.

    Inputs that abc finds are replayed on integers and on the oracle; the kept witness, and the inputs that
    show that the assumptions can hold, are evaluated on the independent gates.  Where inputs are claimed, abc
    looks for some first whose operands are zero where the witness's are, which is a smaller question.
    """
    try:
        return AuditFinding(entry, *_decided(entry, seconds))
    except NoAnswerError:
        raise
    except TcformalError as error:
        return AuditFinding(entry, AuditStatus.FAILED, str(error))


def _decided(entry: Entry, seconds: float) -> tuple[AuditStatus, str]:
    entry.check()
    record = entry.record
    q = question_of(record)
    check_definition(record, q)
    kind, found = Kind[record["verdict"]], kind_of(q).found
    if kind not in DECIDED:
        return AuditStatus.OPEN, f"{kind.name} claims nothing"
    again: Question = kind_of(q).build(record["question"], Graph(folded=False))
    net = network(to_json(again.graph, {"asked": again.asked, "assumed": again.assumed}))
    zeros: list[str] = []
    for key, root in (("witness", "asked"), ("allowed", "assumed")):
        if record[key] is not None:
            inputs = {**dict.fromkeys(net.inputs, 0), **kind_of(q).read_witness(q, record[key])}
            zeros = [n for n in net.inputs if not inputs[n]] if key == "witness" else zeros
            if net.evaluate([inputs])[0][root] != 1:
                raise RecordError(
                    f"expected a {key} that sets {root} on the independent gates, but it does not"
                )
    root = "assumed" if kind is Kind.VACUOUS else "asked"
    answer = _near(net, root, zeros, seconds) or ask_abc(net, root, seconds, expected=kind is found)
    if not answer.decided:
        shown = "; the kept witness holds on the independent gates" if kind is found else ""
        return AuditStatus.UNCHECKED, f"{PROGRAM} did not decide it in {seconds:g} s{shown}"
    if (answer.inputs is not None) != (kind is found):
        raise RecordError(f"expected {kind.name} of {PROGRAM} too, but it {_said(answer)}")
    if answer.inputs is None:
        return AuditStatus.HOLDS, f"{PROGRAM} {_said(answer)}"
    if not kind_of(q).replay(q, answer.inputs).confirms:
        raise RecordError(f"expected inputs of {PROGRAM} that replay, but they do not")
    return AuditStatus.HOLDS, f"{PROGRAM} found inputs too, which replay on integers and on exact fractions"


def _near(net: Network, root: str, zeros: Sequence[str], seconds: float) -> AbcAnswer | None:
    """Inputs that set the root and are zero where the witness is, if abc names any."""
    if not zeros:
        return None
    found = ask_abc(net.with_zeros(zeros), root, seconds, expected=True).inputs
    if found is None:
        return None
    inputs = {**found, **dict.fromkeys(zeros, 0)}
    if net.evaluate([inputs])[0][root] != 1:
        raise RecordError(f"expected inputs of {PROGRAM} that set {root} on all gates, but they do not")
    return AbcAnswer(decided=True, inputs=inputs)


def _said(answer: AbcAnswer) -> str:
    return "found no inputs" if answer.inputs is None else "found inputs"


def audit_claim_independently(book: AbcBook, record: Mapping[str, Any]) -> ClaimFinding:
    """Audit one kept claim: proved again by the current program on lemmas that abc decides.

    A witness is searched for again by the solvers, and replayed.
    """
    try:
        status, reason = _proved(book, record)
    except NoAnswerError:
        raise
    except TcformalError as error:
        status, reason = AuditStatus.FAILED, str(error)
    return ClaimFinding(record["claim"], record["unit"], record["verdict"], status, reason)


def _proved(book: AbcBook, record: Mapping[str, Any]) -> tuple[AuditStatus, str]:
    if Kind[record["verdict"]] not in DECIDED:
        return AuditStatus.OPEN, f"{record['verdict']} claims nothing"
    book.anew = frozenset(lemmas_used(record))
    tree = kept_tree(record, book.trees)
    again = claim_record(
        prove_claim(claimed_unit(record), record["claim"], book=book, limits=WITNESS_LIMITS, tree=tree)
    )
    check_same(record, again)
    used = set(again["lemmas"])
    if left := used & book.unchecked:
        return AuditStatus.UNCHECKED, f"{PROGRAM} did not decide {len(left)} of {len(used)} lemmas"
    return AuditStatus.HOLDS, f"proved again on {len(used)} lemmas, which {PROGRAM} decided without folding"


class AbcBook(CheckedBook):
    """The lemmas of one folder, each used only after abc has decided its unfolded statement.

    A statement that is neither among the kept lemmas nor named by the claim's record does not hold here.
    """

    def __init__(self, store: Store, seconds: float = ABC_S) -> None:
        super().__init__(store.lemmas)
        #: Where the claims' proofs for the kernel are looked up.
        self.trees = store.trees
        self._seconds = seconds

    def _checked(self, name: str, kept: Lemma, what: Statement, conflicts: int | None) -> Lemma:
        """The kept lemma as abc decides it; one that abc leaves open is used, and counted in `unchecked`.

        Errors: RecordError for a lemma that abc refutes.
        """
        statement = what.unfolded()
        net = network(to_json(statement.graph, {"assertion": statement.assertion}))
        answer = ask_abc(net, "assertion", self._seconds)
        if answer.inputs is not None:
            raise RecordError(f"expected the lemma {name} to hold, but {PROGRAM} found inputs")
        (self.checked if answer.decided else self.unchecked).add(kept.sha256)
        return Lemma(
            name=name, sha256=kept.sha256, free_inputs=what.free_inputs, status=Status.UNSAT,
            reason=f"{PROGRAM} found no inputs", decided_by=kept.decided_by, confirmed_by=(PROGRAM,),
            certificate=None, seconds=kept.seconds,
        )  # fmt: skip
