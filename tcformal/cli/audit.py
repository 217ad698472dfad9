"""`audit`: one answer, walked through for who doubts it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from tcformal.checks import check_positive
from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, Answer, json_option, main, results_option
from tcformal.cli.results import one_record
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, RecordError
from tcformal.files import json_of, read_named
from tcformal.ir.walk import digest
from tcformal.query.question import Kind
from tcformal.report.escape import warn
from tcformal.report.parts import Headline, ReportPart, Rows, telling
from tcformal.report.text import SHOWN
from tcformal.semantics.chain import circuit, not_built
from tcformal.shown import JsonObject
from tcformal.store.answers import identity, identity_of, question_of
from tcformal.store.audit.audit import AUDIT_S, AuditStatus
from tcformal.store.audit.audit import audit as audit_answer
from tcformal.store.audit.claim_audit import audit_claim
from tcformal.store.audit.others import (
    CAN_BE,
    CLAUSES,
    NEVER,
    PROOF,
    Check,
    CheckStatus,
    checks_by_others,
    raised,
)
from tcformal.store.audit.written import answer_circuit, answer_proof, run_circuit
from tcformal.store.lines import Record
from tcformal.store.store import Entry, Store
from tcformal.theory.refinement import kept_refinement, plan_of, refinement
from tcformal.theory.theorems import TheoremAnswer

_STATUS = {
    AuditStatus.HOLDS: CheckStatus.ACCEPTED, AuditStatus.FAILED: CheckStatus.REJECTED,
    AuditStatus.UNCHECKED: CheckStatus.UNDECIDED, AuditStatus.OPEN: CheckStatus.UNDECIDED,
}  # fmt: skip
_DIGEST = re.compile("[0-9a-f]{64}")
#: The parts of a question that name units, and all that name what it is about.
_UNITS = ("first", "second", "unit")
_CLAIM = ("claim", "unit", "verdict", "reason", "answered_by")
_SUBJECT = (*_UNITS, "property", "form", "worse", "other")


class _Audit:
    """What is known of one answer so far: its statement, what it rests on, files for others, checks."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.statement = ""
        self.rests_on: list[tuple[str, str]] = []
        self.files: dict[str, bytes] = {}
        self.checks: list[Check] = []

    def own(self, what: str, status: AuditStatus, said: str) -> None:
        """Enter a check by this program."""
        self.checks.append(Check(what=what, by="tcformal", status=_STATUS[status], said=said))

    def unit(self, name: str) -> None:
        """Enter the digest of a unit's definition, which exports name too."""
        if not_built(spec := resolve(name)):
            return
        graph, d = circuit(spec, spec.k)
        self.rests_on.append((f"definition of {name}", digest(graph, {"d": d})))

    def answer(self, entry: Entry, printed: Mapping[str, Any] | None = None) -> None:
        """An answer to a question: its evidence, clauses and proof, and and-gates."""
        self.statement = f"the kept answer {entry.id[:SHOWN]}"
        finding = audit_answer(self.store, entry)
        self.own(f"record {entry.id[:SHOWN]}", finding.status, finding.reason)
        if finding.status in (AuditStatus.FAILED, AuditStatus.OPEN):
            return
        record, asked = entry.record, entry.record["question"]
        subject = [v.get("name") if isinstance(v, Mapping) else v for k, v in asked.items() if k in _SUBJECT]
        assumed = "; ".join(asked["assumptions"])
        means = Kind[record["verdict"]].value.removesuffix("" if assumed else " that the assumptions allow")
        self.statement = f"{record['verdict']}: {' and '.join(map(str, subject))}: {means}" + (
            f": {assumed}" if assumed else ""
        )
        q = question_of(record)
        if printed is not None:
            self.checks.append(raised("statement of the file", lambda: _same(printed, record, q)))
        for name in _UNITS:
            if name in asked:
                self.unit(asked[name])
        self.rests_on.append(("question, built again", q.digest()))
        if (made := record["certificate"]) is not None:
            self.rests_on.append((f"proof in {made['format']} by {made['solver']}", made["sha256"]))
        elif record["witness"] is not None:
            self.rests_on.append(("inputs", "replayed on integers and on exact fractions"))
        else:
            by = record.get("theorems") or record["confirmed_by"]
            self.rests_on.append(("theorems" if "theorems" in record else "solvers", ", ".join(by)))
        self.files[CAN_BE if record["witness"] is not None else NEVER] = answer_circuit(record, q)
        if made is not None:
            proof = answer_proof(self.store, entry)
            self.files |= {CLAUSES: proof.cnf.encode()} | ({PROOF: proof.lrat.encode()} if proof.lrat else {})

    def claim(self, record: Mapping[str, Any]) -> None:
        """A claim: answered again, then a theorem's instance, the inputs that refute it, or its question."""
        self.statement = f"{record['verdict']}: {record['claim']} of {record['unit']}; {record['reason']}"
        finding = audit_claim(self.store, record)
        self.own("claim, answered again", finding.status, finding.reason)
        if finding.status is not AuditStatus.HOLDS or finding.again is None:
            return
        v = finding.again
        self.unit(v.unit.name)
        if v.theorem is not None:
            self.theorem(v.theorem, record.get("coq"))
        for i, w in enumerate(part.witness for part in v.parts if part.witness is not None):
            self.rests_on.append(("inputs", f"two results that differ, found by {w.found_by}"))
            for which, run, result in (("first", w.first, w.results[0]), ("second", w.second, w.results[1])):
                self.files[f"{which}{i or ''}_inputs.aig"] = run_circuit(v.unit, run, result)
        if v.asked is not None:
            wanted = identity_of(v.asked.question)
            for entry in self.store.entries():
                if entry.id == wanted:
                    said = self.statement
                    self.answer(entry)
                    self.statement = said

    def theorem(self, found: TheoremAnswer, written: object) -> None:
        """A theorem's instance, and the refinement of the circuit to the specification that it is about."""
        checked, *units = found.rests_on
        self.rests_on.append(("theorem", f"{found.name} of {found.source or 'Spec.v'}; {checked}"))
        self.rests_on += [("circuit", text) for text in units]
        if isinstance(written, Mapping) and "file" in written:
            self.checks.append(raised("instance named in the file", lambda: _same_instance(written, found)))
        self.files["Instance.v"] = found.coq.encode()
        for i, spec in enumerate(x for x in (found.instance.unit, found.instance.other) if x is not None):
            if kept_refinement(spec) is None:
                continue
            self.checks.append(raised(f"circuit of {spec.name}", partial(_decided_again, spec)))
            self.files[f"Circuit{i or ''}.v"] = (
                f"{plan_of(spec).coq()}\nPrint Assumptions refined.\n".encode()
            )


def _decided_again(spec: UnitSpec) -> str:
    return f"{refinement(spec).claims} claims decided again, each with a checked proof"


def _same(printed: Mapping[str, Any], record: Record, q: Any) -> str:
    """Compare a printed answer with its record; RecordError at the first part in which they differ."""
    kept = {
        "verdict": record["verdict"], **q.to_json(), "assumptions": q.conditions(),
        "question_sha256": q.digest(), "witness": record["witness"], **(record["results"] or {}),
        "certificate": (record["certificate"] or {}).get("sha256"),
    }  # fmt: skip
    proof = printed.get("certificate")
    said = {**printed, "certificate": proof.get("sha256") if isinstance(proof, Mapping) else proof}
    for key, value in kept.items():
        if said.get(key) != value:
            raise RecordError(f"expected {key} {value} as in the kept answer, but got {said.get(key)}")
    return "says what the kept answer does"


def _same_instance(written: Mapping[str, object], found: TheoremAnswer) -> str:
    file = str(written["file"])
    if read_named(Path(file), "an instance") != found.coq:
        raise RecordError(
            f"expected the instance of {found.name} for this unit in {file}, but got another text"
        )
    return "is the theorem's for this unit"


def _read(file: Path) -> JsonObject:
    """The answer in a file: as `--json` prints it, or a record."""
    text = read_named(file, "an answer")
    try:
        data = json_of(text)
    except ValueError:
        data = None
    data = data.get("record", data) if isinstance(data, dict) else data
    if isinstance(data, dict):
        texts = all(isinstance(data.get(x, ""), str) for x in ("claim", "unit", "id", "verdict"))
        claim = {*_CLAIM} <= {*data} and data["verdict"] in Kind.__members__
        if texts and (claim or ("claim" not in data and {"id", "question"} & {*data})):
            return data
    raise InputError(f"expected an answer as --json prints it, or a record, but got something else: {file}")


def _audited(name: str, store: Store) -> _Audit:
    """The audit of an answer by its id or its file, as far as this program goes."""
    made, path = _Audit(store), Path(name)
    data = _read(path) if path.is_file() else None
    if data is None:
        found = one_record(store, name)
        made.answer(found) if isinstance(found, Entry) else made.claim(found)
    elif "claim" in data:
        theorem = data.get("theorem")
        if isinstance(theorem, dict):
            theorem.pop("rests_on", None)
        made.claim(data | {"theorem": theorem})
    elif isinstance(data.get("question"), dict):
        made.answer(Entry(identity(data), 0, data))
    else:
        found = one_record(store, str(data["id"]))
        if not isinstance(found, Entry):
            raise InputError(f"expected an answer to a question in {name}, but its id is that of a claim")
        made.answer(found, data)
    return made


@main.command()
@click.argument("answer", metavar="ANSWER")
@click.option("-o", "--output", type=click.Path(file_okay=False), metavar="FOLDER",
              help="Where the files go; by default a new temporary folder.")  # fmt: skip
@click.option("--time-limit", type=float, default=AUDIT_S, show_default=True,
              help="Seconds for each checker.")  # fmt: skip
@results_option
@json_option
def audit(answer: str, output: str | None, time_limit: float, folder: str) -> Answer:
    """Check an answer anew, here and by other people's programs: Coq, cake_lpr, ACL2, ABC.

    ANSWER is the start of an id that `tcformal results list` shows, or a file with what --json printed.
    Written are a theorem's instance for Coq, clauses with a proof for checkers of proofs, and the question
    as and-gates for ABC.  Those that are installed are run; each command is shown, to be repeated by hand.

    Exit 0: no check refuses the answer, and at least one by other people's programs accepts it.  Exit 1: a
    check refuses it.  Exit 3: none by other people's programs could be run.
    """
    check_positive("--time-limit", time_limit)
    with telling(f"tcformal: {answer}") as tell:
        made = _audited(answer, Store(Path(folder), warn))
        where = Path(output or tempfile.mkdtemp(prefix="tcformal-audit-")) if made.files else None
        if where is not None:
            where.mkdir(parents=True, exist_ok=True)
            made.checks += checks_by_others(where, made.files, time_limit, tell)
    accepted = list(dict.fromkeys(
        x.by for x in made.checks if x.independent and x.status is CheckStatus.ACCEPTED
    ))  # fmt: skip
    refused = list(dict.fromkeys(x.by for x in made.checks if x.status is CheckStatus.REJECTED))
    word = "REJECTED" if refused else "ACCEPTED" if accepted else "NOT CHECKED BY OTHERS"
    data = {
        "audit": word, "statement": made.statement,
        "rests_on": [{"what": what, "is": text} for what, text in made.rests_on],
        "folder": None if where is None else str(where), "files": list(made.files),
        "checks": [
            {"what": x.what, "by": x.by, "independent": x.independent, "status": x.status.name.lower(),
             "said": x.said, "command": x.command, "seconds": x.seconds} for x in made.checks
        ],
    }  # fmt: skip
    by = f" by {', '.join(refused or accepted)}" if refused or accepted else ""
    why = next((x.said for x in made.checks if x.status is CheckStatus.REJECTED), made.statement)
    view = _view(made, Headline(word, word == "ACCEPTED", f"{by}: {why}"), where)
    return Answer(data, view, OTHERWISE if refused else OK if accepted else NO_ANSWER)


def _view(made: _Audit, head: Headline, where: Path | None) -> list[ReportPart]:
    rests = [f"  {what}: {text[:SHOWN] if _DIGEST.fullmatch(text) else text}" for what, text in made.rests_on]
    checks: list[tuple[str, ...]] = [(x.what, x.by, x.status.value, x.said) for x in made.checks]
    view: list[ReportPart] = [head, *([made.statement] if made.statement not in head.rest else [])]
    view += ["rests on", *rests] if rests else []
    view += ["", Rows(("checked", "by", "", "which says"), checks)]
    if where is not None:
        commands = [f"  {x.command}" for x in made.checks if x.command]
        view += ["", f"files: {', '.join(made.files)}; to repeat it by hand:", f"  cd {where}", *commands]
    return view
