"""Take out of a results folder what cannot be served: superseded, damaged and stale records, orphans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tcformal.design.names import resolve
from tcformal.errors import TcformalError
from tcformal.files.write import keep_lines
from tcformal.programs.chain import definition
from tcformal.proofs.claims.register import CLAIMS
from tcformal.store.audit.audit import State, state
from tcformal.store.certificates import CERTIFICATES, NAME
from tcformal.store.file import Record, RecordFile
from tcformal.store.store import Store
from tcformal.store.turns import taking_out


@dataclass(frozen=True, slots=True)
class Pruned:
    """How much was taken out of one results folder."""

    answers: int
    claims: int
    lemmas: int
    certificates: int


def prune(store: Store) -> Pruned:
    """Take out what cannot be served: lines that are superseded, damaged, or about definitions of the past.

    Lemmas stay that a remaining claim names, and certificates that a remaining record names.  What others
    add meanwhile stays: records are judged while they may, and taken out while they may not.
    Errors: RecordError for files that cannot be read or written.
    """
    if not store.folder.is_dir():
        return Pruned(0, 0, 0, 0)
    while True:
        answers, claims = _Choice(store.answers), _Choice(store.claims)
        answers.keep = {e.start for e in store.entries() if state(e) is State.CURRENT}
        claims.keep = {
            start for start in store.claims.last_starts() if (r := store.claims.at(start)) and _current(r)
        }
        with taking_out(store.folder):
            if answers.still_holds() and claims.still_holds():
                return _take_out(store, answers.keep, claims.keep)


class _Choice:
    """The lines of a file that are to stay, chosen while others may add to it."""

    def __init__(self, records: RecordFile) -> None:
        self._records = records
        self._seen = len(records.starts())
        self._file = records.mark.file
        self.keep: set[int] = set()

    def still_holds(self) -> bool:
        """Whether the lines seen are where they were; those that came since are to stay."""
        now = self._records.starts()
        self.keep |= set(now[self._seen :])
        return self._file in (0, self._records.mark.file)


def _take_out(store: Store, answers: set[int], claims: set[int]) -> Pruned:
    """Take out all but these lines, and what no line that stays names."""
    records = store.lemmas.records
    named = {sha256 for start in claims if (r := store.claims.at(start)) for sha256 in r["lemmas"]}
    found = {start: records.at(start) for start in records.last_starts()}
    lemmas = {start: r for start, r in found.items() if r is not None and r["sha256"] in named}
    kept = [*(store.answers.at(start) for start in answers), *lemmas.values()]
    files = {r["certificate"]["file"].rpartition("/")[2] for r in kept if r and r["certificate"]}
    return Pruned(
        answers=keep_lines(store.answers.path, answers),
        claims=keep_lines(store.claims.path, claims),
        lemmas=keep_lines(records.path, lemmas),
        certificates=_remove(path for path in _certificates(store.folder) if path.name not in files),
    )


def _certificates(folder: Path) -> list[Path]:
    """The certificates of a results folder; a folder elsewhere, behind a link, is nobody's to tidy."""
    here = folder / CERTIFICATES
    if here.is_symlink() or not here.is_dir():
        return []
    return sorted(path for path in here.iterdir() if NAME.fullmatch(path.name))


def _remove(paths: Iterable[Path]) -> int:
    count = 0
    for path in paths:
        path.unlink()
        count += 1
    return count


def _current(record: Record) -> bool:
    """Whether a claim can still be asked, of the definition that it was answered for."""
    try:
        spec = resolve(record["unit"])
    except TcformalError:
        return False
    return record["claim"] in CLAIMS and record["definition"] == definition(spec)
