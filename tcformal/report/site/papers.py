"""The questions of the papers beside the kept answers; what is shown as checked is computed again here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tcformal.analysis.asks import algorithm_asked, claim_of, question_asked, run
from tcformal.analysis.queryfile import Ask, QueryFile
from tcformal.callbacks import Advance
from tcformal.design.names import resolve
from tcformal.errors import TcformalError
from tcformal.programs.chain import definition
from tcformal.query.assume import from_texts
from tcformal.query.options import SolveOptions
from tcformal.query.question import Kind
from tcformal.query.search import EQUALITY
from tcformal.query.verdict import DECIDED, kept_as
from tcformal.report.results import unchecked_reason, unchecked_verdict
from tcformal.report.site.pairs import replayed, slug, witness_of_record
from tcformal.simulation.operands.witness import by_value, explain_command
from tcformal.store.lines import Record
from tcformal.store.store import Entry, Store

#: What identifies a record, without its definition.
_Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskRow:
    """One question: what its source says, what was found, how far that was checked, how to ask it."""

    name: str
    assumed: str
    reported: str
    outcome: str
    status: str
    agreement: str
    found: str
    command: str
    deviation: str


@dataclass(frozen=True, slots=True)
class QueryPage:
    """One file of questions."""

    query: QueryFile
    rows: tuple[AskRow, ...]

    @property
    def file(self) -> str:
        """The name of its page."""
        return f"paper/{slug(self.query.name)}.html"

    def count(self, word: str) -> int:
        """How many answers agree with the source, deviate, and so on."""
        return sum(row.agreement == word for row in self.rows)


def query_pages(
    queries: Sequence[QueryFile], entries: Sequence[Entry], store: Store, advance: Advance
) -> list[QueryPage]:
    """Every question of every file with its kept answer, whose evidence is checked; claims are not proved."""
    kept = {_record_key(e.record): e.record for e in entries}
    proved = {(r["claim"], r["unit"]): r for r in store.claims.all()}
    asks = {query.name: query.concrete() for query in queries}
    total, done, made = sum(map(len, asks.values())), 0, []
    for query in queries:
        rows = []
        for ask in asks[query.name]:
            advance(done, total)
            done += 1
            rows.append(_row(query, ask, kept, proved, store))
        made.append(QueryPage(query, tuple(rows)))
    advance(total, total)
    return made


def _record_key(record: Record) -> _Key:
    """What identifies a kept answer."""
    q = record["question"]
    if q["kind"] in (EQUALITY.name, "property"):
        return tuple(str(q.get(x)) for x in _NAMED) + tuple(q["assumptions"])
    return _parts_key({name: part for name, part in q.items() if name != "sha256"})


def _parts_key(parts: Mapping[str, Any]) -> _Key:
    """All that identifies a question about two programs."""
    return (json.dumps(parts, sort_keys=True),)


_NAMED = ("kind", "first", "second", "property", "unit")


def _ask_key(ask: Ask) -> _Key:
    """What identifies the answer to a question of kind `separate`, `property`, `algorithm` or `programs`."""
    body, named = ask.body, dict[str, Any]()
    if ask.kind == "separate":
        spec = resolve(body["separate"][0])
        named = {"first": spec.name, "second": resolve(body["separate"][1]).name}
        assumed = from_texts(spec.operands.c, body.get("assume", ()))
    elif ask.kind == "property":
        spec = resolve(body["unit"])
        named = {"property": body["property"], "unit": spec.name}
        assumed = from_texts(spec.operands.c, body.get("assume", ()))
    else:
        return _parts_key(algorithm_asked(body).parts())
    named["kind"] = ask.kind
    return tuple(str(named.get(x)) for x in _NAMED) + tuple(assumed.spellings())


def _row(
    query: QueryFile, ask: Ask, kept: Mapping[_Key, Record], proved: Mapping[tuple[str, str], Record],
    store: Store,
) -> AskRow:  # fmt: skip
    """One question with its answer."""
    try:
        outcome, status, found, command = _answer(query, ask, kept, proved, store)
    except (TcformalError, LookupError, ValueError, TypeError) as error:
        outcome, status, found, command = "not answered", f"refused: {error}", "", ""
    relation = "open"
    if outcome == ask.expected:
        relation = "asks something else" if not ask.reported else "deviates" if ask.deviation else "agrees"
    asked = f"tcformal run {query.name} --only '{ask.name}'"
    return AskRow(
        ask.name, "; ".join(ask.body.get("assume", ())), ask.reported, outcome, status, relation, found,
        command or asked, " ".join(ask.deviation.split()),
    )  # fmt: skip


def _answer(
    query: QueryFile, ask: Ask, kept: Mapping[_Key, Record], proved: Mapping[tuple[str, str], Record],
    store: Store,
) -> tuple[str, str, str, str]:  # fmt: skip
    """The outcome, how far it was checked, what was found, and the command that shows it."""
    if ask.kind == "evaluate":
        (done,) = run(query, [ask], SolveOptions())
        found = str(done.answer["results"]["integers"]["value"])
        return done.outcome, "computed again on lanes, integers and fractions", found, ""
    if ask.kind == "claim":
        claim = proved.get((claim_of(ask.body), ask.body["unit"]))
        if claim is None or claim["definition"] != definition(resolve(ask.body["unit"])):
            return "not answered", "no kept answer", "", ""
        return unchecked_verdict(claim), unchecked_reason(claim), claim["reason"], ""
    record = None if ask.kind in ("largest", "error", "measure") else kept.get(_ask_key(ask))
    if record is None or Kind[record["verdict"]] not in DECIDED:
        return "not answered", "no kept answer", "", ""
    if ask.kind == EQUALITY.name and record["witness"] is not None:
        first, second = ask.body["separate"]
        w = witness_of_record(record)
        x = replayed(first, second, w)
        command = explain_command([first, second], w, by_value(x.traces[0].unit))
        found = "" if x.found is None else f"{x.found.stage}: {x.found.first}, and {x.found.second}"
        return record["verdict"], "computed again on integers and on fractions", found, command
    v = store.find(question_asked(ask))
    if v is None or not v.checked:
        return Kind.UNKNOWN.name, kept_as(record["verdict"], record["date"]), str(record["reason"]), ""
    return v.kind.name, "checked again", v.reason, ""


#: The relations of answers to their sources, for the summary.
RELATIONS = ("agrees", "deviates", "asks something else", "open")
