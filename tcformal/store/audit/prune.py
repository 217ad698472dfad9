"""Remove from a results folder what cannot be served: superseded, damaged and stale records, orphans."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from tcformal.design.names import resolve
from tcformal.errors import RecordError, TcformalError
from tcformal.programs.chain import definition
from tcformal.proofs.claims.register import can_be_asked
from tcformal.store.audit.audit import State, state
from tcformal.store.certificates import CERTIFICATES, NAME, NOT_KEPT, PROOF
from tcformal.store.claims import with_short_names, with_trees
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


#: Bytes of the longest proof that is kept where only proofs of some claims are.
LONGEST_KEPT = 8_000


def prune(store: Store, *, pack: bool = False, proved: Collection[tuple[str, str]] | None = None) -> Pruned:
    """Remove superseded and damaged lines, and lines about past definitions.

    Kept are the lemmas that a remaining claim names, and the certificates that a remaining record names.
    `pack`: the records that stay are packed; new ones are added beside them, unpacked.
    `proved`: the claims and units whose lemmas are kept; those of others are made anew when asked, and so is
    a proof of more than `LONGEST_KEPT` bytes, of a lemma or of an answer.
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
                claims.keep = _as_today(store, claims.keep)
                if proved is not None:
                    answers.keep = _without_long_proofs(store, answers.keep)
                return _remove_others(store, answers.keep, claims.keep, proved, pack)


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


def _as_today(store: Store, claims: set[int]) -> set[int]:
    """The same claims as this version writes them, some of them again at the end of the file."""
    folded, made = store.lemmas.folded(), set[int]()
    for start in sorted(claims):
        record = store.claims.at(start)
        if record is not None:
            places = [i for i, sha256 in enumerate(record["lemmas"]) if sha256 in folded]
            again = with_trees({"folded": places, **record}, lambda tree: _renewed(store, tree))
            start = start if again == record else _again(store.claims, again)
        made.add(start)
    return made


def _renewed(store: Store, tree: str) -> str:
    """The name of a proof as this version writes it; of one that cannot be read, the name that it has."""
    try:
        return store.trees.renewed(tree)
    except TcformalError:
        return tree


def _without_long_proofs(store: Store, answers: set[int]) -> set[int]:
    """The same answers, those with a long proof again without it."""
    made = set[int]()
    for start in sorted(answers):
        record = store.answers.at(start)
        kept = record and record["certificate"]
        if record is not None and kept and kept["file"] != NOT_KEPT and _is_long(store, kept):
            start = _again(store.answers, {**record, "certificate": {**kept, "file": NOT_KEPT}})
        made.add(start)
    return made


def _is_long(store: Store, certificate: Record) -> bool:
    """Whether a proof is missing, or longer than those that are kept."""
    try:
        return len(store.certificates.find(certificate).proof) > LONGEST_KEPT
    except RecordError:
        return True


def _again(records: RecordFile, record: Record) -> int:
    """Write a record again; its place."""
    plain = {key: value for key, value in record.items() if key not in ("schema", SEAL)}
    records.add(seal(plain, records.kind.name))
    return records.starts()[-1]


def _remove_others(
    store: Store, answers: set[int], claims: set[int], proved: Collection[tuple[str, str]] | None, pack: bool
) -> Pruned:
    """Remove all other lines, and the proofs and lemmas that nothing needs that stays."""
    records, kept = store.lemmas.records, [r for start in claims if (r := store.claims.at(start))]
    asked = [r for r in kept if proved is None or (r["claim"], r["unit"]) in proved]
    named = {sha256 for r in asked for sha256 in r["lemmas"]}
    found = {start: records.at(start) for start in records.last_starts()}
    lemmas = {
        start: r
        for start, r in found.items()
        if r is not None
        and r["sha256"] in named
        and (proved is None or (r["certificate"] and not _is_long(store, r["certificate"])))
    }
    if proved is not None:
        claims = _with_short_names(store, claims, {r["sha256"] for r in lemmas.values()})
    stay = [*(store.answers.at(start) for start in answers), *lemmas.values()]
    made = [r["certificate"] for r in stay if r and r["certificate"]]
    files, digests = {c["file"] for c in made}, {c["sha256"] for c in made if c["file"] == PROOF.file}
    trees = {part["tree"] for r in kept for part in r["parts"] if "tree" in part}
    return Pruned(
        answers=store.answers.keep(answers, pack=pack),
        claims=store.claims.keep(claims, pack=pack),
        lemmas=records.keep(lemmas, pack=pack),
        certificates=_keep_named(store.certificates.records, digests, pack)
        + _keep_named(store.trees.records, trees, pack)
        + _remove(p for p in _certificates(store.folder) if f"{CERTIFICATES}/{p.name}" not in files),
    )


def _with_short_names(store: Store, claims: set[int], lemmas: set[str]) -> set[int]:
    """The same claims, the lemmas that are not kept by short names."""
    made = set[int]()
    for start in sorted(claims):
        record = store.claims.at(start)
        if record is not None and (short := with_short_names(record, lemmas)) != record:
            start = _again(store.claims, short)
        made.add(start)
    return made


def _keep_named(records: RecordFile, names: Collection[str], pack: bool) -> int:
    """Keep the proofs with these names; how many others there were."""
    found = ((start, records.at(start)) for start in records.last_starts())
    return records.keep({start for start, r in found if r and r["sha256"] in names}, pack=pack)


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
