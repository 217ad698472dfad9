"""Pruning of a results folder: what cannot be served is removed; apart, because lists load no claims."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.design.names import resolve
from tcformal.errors import TcformalError
from tcformal.query.claims.register import can_be_asked
from tcformal.store.audit.audit import State, state
from tcformal.store.certificates import PROOF
from tcformal.store.file import RecordFile
from tcformal.store.lines import Record, folder_lock
from tcformal.store.store import Store


@dataclass(frozen=True, slots=True)
class Pruned:
    """The numbers of removed records and proofs."""

    answers: int
    claims: int
    certificates: int


def prune(store: Store, *, pack: bool = False) -> Pruned:
    """Remove superseded, damaged and stale lines from a results folder.

    Kept are the certificates that a remaining record names.
    `pack`: the records that stay are packed; new ones are added beside them, unpacked.
    Lines that other processes add meanwhile are kept: records are judged under a shared lock and removed
    under an exclusive one.
    Errors: RecordError for files that cannot be read or written.
    """
    if not store.folder.is_dir():
        return Pruned(0, 0, 0)
    while True:
        answers, claims = _Choice(store.answers), _Choice(store.claims)
        answers.keep = {e.start for e in store.entries() if state(e) is State.CURRENT}
        claims.keep = {
            start for start in store.claims.last_starts() if (r := store.claims.at(start)) and _current(r)
        }
        with folder_lock(store.folder, exclusive=True):
            if answers.still_holds() and claims.still_holds():
                return _remove_others(store, answers.keep, claims.keep, pack)


class _Choice:
    """The lines of a file to keep, chosen while other processes may append."""

    def __init__(self, records: RecordFile) -> None:
        self._records = records
        self._seen = len(records.starts())
        self._files = records.files
        self.keep: set[int] = set()

    def still_holds(self) -> bool:
        """Whether the lines seen are still in place; lines appended since are kept."""
        now = self._records.starts()
        self.keep |= set(now[self._seen :])
        was, now_files = self._files, self._records.files
        return was[0] in (0, now_files[0]) and was[1] == now_files[1]


def _remove_others(store: Store, answers: set[int], claims: set[int], pack: bool) -> Pruned:
    """Remove all lines but these, and the proofs that no remaining record names."""
    stay = [r for start in answers if (r := store.answers.at(start))]
    digests = {c["sha256"] for r in stay if (c := r["certificate"]) and c["file"] == PROOF.file}
    proofs = store.certificates.records
    named = {start for start in proofs.last_starts() if (r := proofs.at(start)) and r["sha256"] in digests}
    kept = [(store.answers, answers), (store.claims, claims), (proofs, named)]
    return Pruned(*(records.keep(starts, pack=pack) for records, starts in kept))


def _current(record: Record) -> bool:
    """Whether a claim can still be asked about its unit."""
    try:
        resolve(record["unit"])
    except TcformalError:
        return False
    return can_be_asked(record["claim"])
