"""Remove from a results folder what cannot be served: superseded, damaged and stale records, orphans."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from tcformal.design.names import resolve
from tcformal.errors import TcformalError
from tcformal.programs.chain import definition
from tcformal.proofs.claims.register import can_be_asked
from tcformal.store.audit.audit import State, state
from tcformal.store.certificates import CERTIFICATES, NAME, PROOF
from tcformal.store.file import Record, RecordFile
from tcformal.store.locks import exclusive_lock
from tcformal.store.schema import SEAL, seal
from tcformal.store.store import Store


@dataclass(frozen=True, slots=True)
class Pruned:
    """The numbers of records and files removed from a results folder."""

    answers: int
    claims: int
    lemmas: int
    certificates: int


def prune(store: Store, *, pack: bool = False, proved: Collection[tuple[str, str]] | None = None) -> Pruned:
    """Remove superseded and damaged lines, and lines about past definitions.

    Kept are the lemmas that a remaining claim names, and the certificates that a remaining record names.
    `pack`: the answers, claims and lemmas that stay are packed; new ones are added beside them, unpacked.
    `proved`: the claims and units whose lemmas keep their proofs; those of others are made anew when asked.
    Lines that other processes add meanwhile are kept: records are judged under a shared lock and removed
    under an exclusive one.
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
        with exclusive_lock(store.folder):
            if answers.still_holds() and claims.still_holds():
                if proved is not None:
                    _without_proofs(store, claims.keep, proved)
                return _remove_others(store, answers.keep, claims.keep, pack)


class _Choice:
    """The lines of a file to keep, chosen while other processes may add lines."""

    def __init__(self, records: RecordFile) -> None:
        self._records = records
        self._seen = len(records.starts())
        self._files = records.files
        self.keep: set[int] = set()

    def still_holds(self) -> bool:
        """Whether the lines seen are where they were; newer lines are kept."""
        now = self._records.starts()
        self.keep |= set(now[self._seen :])
        was, now_files = self._files, self._records.files
        return was[0] in (0, now_files[0]) and was[1] == now_files[1]


def _without_proofs(store: Store, claims: set[int], proved: Collection[tuple[str, str]]) -> None:
    """Keep the lemmas again without their proofs, but for those that these claims rest on."""
    records, kept = store.lemmas.records, [r for start in claims if (r := store.claims.at(start))]
    needed = {sha256 for r in kept if (r["claim"], r["unit"]) in proved for sha256 in r["lemmas"]}
    for start in records.last_starts():
        lemma = records.at(start)
        if lemma is not None and lemma["certificate"] and lemma["sha256"] not in needed:
            plain = {key: value for key, value in lemma.items() if key not in ("schema", SEAL)}
            records.add(seal({**plain, "certificate": None}, "lemma"))


def _remove_others(store: Store, answers: set[int], claims: set[int], pack: bool) -> Pruned:
    """Remove all other lines, and the certificates and lemmas that no kept line names."""
    records = store.lemmas.records
    named = {sha256 for start in claims if (r := store.claims.at(start)) for sha256 in r["lemmas"]}
    found = {start: records.at(start) for start in records.last_starts()}
    lemmas = {start: r for start, r in found.items() if r is not None and r["sha256"] in named}
    kept = [*(store.answers.at(start) for start in answers), *lemmas.values()]
    made = [r["certificate"] for r in kept if r and r["certificate"]]
    files, digests = {c["file"] for c in made}, {c["sha256"] for c in made if c["file"] == PROOF.file}
    proofs = store.certificates.records
    whole = [(start, proofs.at(start)) for start in proofs.last_starts()]
    return Pruned(
        answers=store.answers.keep(answers, pack=pack),
        claims=store.claims.keep(claims, pack=pack),
        lemmas=records.keep(lemmas, pack=pack),
        certificates=proofs.keep({start for start, r in whole if r and r["sha256"] in digests}, pack=False)
        + _remove(p for p in _certificates(store.folder) if f"{CERTIFICATES}/{p.name}" not in files),
    )


def _certificates(folder: Path) -> list[Path]:
    """The proofs that are files of their own; none where their folder is a link to another place."""
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
    return can_be_asked(record["claim"]) and record["definition"] == definition(spec)
