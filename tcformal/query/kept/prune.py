"""Take out of a results folder what cannot be served: superseded, damaged and stale records, orphans."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.design.names import resolve
from tcformal.errors import TcformalError
from tcformal.query.kept.answers import CERTIFICATES
from tcformal.query.kept.audit import State, state
from tcformal.query.kept.store import Store
from tcformal.query.proofs.claims import CLAIMS
from tcformal.query.proofs.same_parameters import definition
from tcformal.records.file import Record
from tcformal.records.lines import keep_lines


@dataclass(frozen=True, slots=True)
class Pruned:
    """How much was taken out of one results folder."""

    answers: int
    claims: int
    lemmas: int
    certificates: int


def prune(store: Store) -> Pruned:
    """Take out what cannot be served: lines that are superseded, damaged, or about definitions of the past.

    Lemmas stay that a remaining claim names, and certificates that a remaining record names.
    Errors: RecordError for files that cannot be read or written.
    """
    answers = {e.start: e.record for e in store.entries() if state(e) is State.CURRENT}
    claims = {
        start: r for start in store.claims.last_starts() if (r := store.claims.at(start)) and _current(r)
    }
    named = {sha256 for record in claims.values() for sha256 in record["lemmas"]}
    found = {start: store.lemmas.records.at(start) for start in store.lemmas.records.last_starts()}
    lemmas = {start: r for start, r in found.items() if r is not None and r["sha256"] in named}
    kept = [*answers.values(), *lemmas.values()]
    files = {r["certificate"]["file"].rpartition("/")[2] for r in kept if r["certificate"]}
    folder, orphans = store.folder / CERTIFICATES, 0
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name not in files:
            path.unlink()
            orphans += 1
    return Pruned(
        answers=keep_lines(store.answers.path, answers),
        claims=keep_lines(store.claims.path, claims),
        lemmas=keep_lines(store.lemmas.records.path, lemmas),
        certificates=orphans,
    )


def _current(record: Record) -> bool:
    """Whether a claim can still be asked, of the definition that it was answered for."""
    try:
        spec = resolve(record["unit"])
    except TcformalError:
        return False
    return record["claim"] in CLAIMS and record["definition"] == definition(spec, spec.k)
