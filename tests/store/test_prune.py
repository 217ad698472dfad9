"""Pruning: what cannot be served goes, what can stays, and no writer loses anything."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tcformal.proofs import packed as proof_texts
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.lemmas import LemmaBook, statement
from tcformal.proofs.packed import packed, plain_text, unpacked

from kept import certified, rewrite, same, separated, trivial, vacuous
from tcformal.cli import main
from tcformal.design.names import resolve
from tcformal.errors import ProofError, RecordError
from tcformal.ir.build import Graph
from tcformal.solve.result import Limits
from tcformal.store.audit import prune as pruning
from tcformal.store.audit.audit import AuditStatus, State, audit, state
from tcformal.store.audit.claim_audit import audit_claim
from tcformal.store.audit.prune import Pruned, prune
from tcformal.store.certificates import CERTIFICATES, PROOF, TREE
from tcformal.store.claims import kept_tree, with_trees
from tcformal.store.schema import SEAL, seal
from tcformal.store.store import CLAIM, LEMMA, Entry, Store

#: What a theorem answers is proved in steps here, and kept.
pytestmark = pytest.mark.usefixtures("in_steps")

LIMITS = Limits(120.0, 8192, 0)
SUM = ("valpey@terms=3,fraction_bits=5", "sign-magnitude")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two answers that can be served, and everything that cannot."""
    store = Store(tmp_path)
    store.add(separated())  # superseded
    store.add(replace(separated(), seconds=2.0))
    store.add(certified())
    store.add(vacuous())
    rewrite(store.path, lambda record: record.update(seconds=0.5), sealed=False)  # damaged
    store.add(same())
    rewrite(store.path, lambda record: record["question"].update(sha256="0" * 64))  # stale
    with store.path.open("a") as stream:
        stream.write("nonsense\n\n")
    for name in ("notes.txt", f"{'0' * 64}.drat.xz"):
        (tmp_path / CERTIFICATES).mkdir(exist_ok=True)
        (tmp_path / CERTIFICATES / name).write_text("mine")
    return store


def names(folder: Path) -> set[str]:
    """The digests of the proofs, and the files among those of earlier versions."""
    files = [path.name for path in (folder / CERTIFICATES).glob("*")]
    return {*files, *(json.loads(line)["sha256"] for line in (folder / PROOF.file).read_text().splitlines())}


def test_answers_that_cannot_be_served_are_taken_out(store: Store) -> None:
    made = certified().certificate
    assert made is not None
    assert prune(store) == Pruned(answers=4, claims=0, lemmas=0, certificates=2)
    assert names(store.folder) == {made.sha256, "notes.txt"}
    here = Store(store.folder)
    found = here.find(separated().question)
    assert found is not None
    assert found.seconds == 2.0
    proved = here.find(certified().question)
    assert proved is not None
    assert proved.checked
    assert [e.record["verdict"] for e in here.records()] == ["SEPARATED", "EQUIVALENT"]
    assert prune(here) == Pruned(0, 0, 0, 0)
    assert here.broken() == []


def test_claims_and_lemmas_that_nothing_needs_are_taken_out(tmp_path: Path) -> None:
    store = Store(tmp_path)
    book = LemmaBook(limits=LIMITS, certify=True, keeper=store.lemmas)
    spec = resolve(SUM[0])
    v = prove_claim(spec, SUM[1], book=book, limits=LIMITS)
    store.add_claim(v)
    path = tmp_path / CLAIM.file
    record = json.loads(path.read_text())
    plain = {key: value for key, value in record.items() if key != SEAL}
    for change in ({"claim": "gone"}, {"unit": "gone/unit"}, {"unit": "valpey@terms=4"}):
        with path.open("a") as stream:
            stream.write(json.dumps(seal({**plain, **change}, "claim")) + "\n")
    needed = len((tmp_path / LEMMA.file).read_text().splitlines())
    g = Graph()
    x, y = g.input("x", 9), g.input("y", 9)
    book.decide(
        "a detour", statement([(g.add_mod(x, y), g.add_mod(g.sub_mod(x, y), g.add_mod(y, y)))], [], {})
    )
    before = names(tmp_path)
    done = prune(Store(tmp_path))
    assert (done.answers, done.claims, done.lemmas) == (0, 3, 1)
    assert done.certificates == len(before) - len(names(tmp_path)) >= 1
    assert len((tmp_path / LEMMA.file).read_text().splitlines()) == needed
    here = Store(tmp_path)
    again = here.find_claim(SUM[1], spec)
    assert again is not None
    assert again.checked


@pytest.mark.slow
def test_proofs_of_lemmas_that_nothing_asks_for_are_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim stays; without proofs it is asked again, and the audit proves its lemmas."""
    monkeypatch.setattr(pruning, "LONGEST_KEPT", 100_000)
    store = Store(tmp_path)
    book = LemmaBook(limits=LIMITS, certify=True, keeper=store.lemmas)
    spec = resolve(SUM[0])
    store.add_claim(prove_claim(spec, SUM[1], book=book, limits=LIMITS))
    assert prune(store, proved={(SUM[1], spec.name)}) == Pruned(0, 0, 0, 0)
    assert store.find_claim(SUM[1], spec) is not None
    count = len(names(tmp_path))
    gone = prune(store, pack=True, proved=[])
    # The claim is written again: its lemmas have short names now.
    assert (gone.claims, gone.certificates, names(tmp_path)) == (1, count, set())
    light = Store(tmp_path)
    assert light.lemmas.records.all() == []
    assert light.find_claim(SUM[1], spec) is None
    (record,) = light.claims.all()
    found = audit_claim(light, record)
    assert found.status is AuditStatus.HOLDS, found.reason
    assert "every certificate checked" in found.reason
    assert names(tmp_path) == set(), "an audit keeps nothing"
    assert {len(x) for x in record["lemmas"]} == {16}
    other = audit_claim(light, {**record, "lemmas": ["0" * 16, *record["lemmas"][1:]]})
    assert other.status is AuditStatus.FAILED
    assert prune(light, pack=True, proved=[]) == Pruned(0, 0, 0, 0)


def test_a_proof_of_an_earlier_version_is_written_again_counted_back(tmp_path: Path) -> None:
    """Numbers that count back pack well; what the steps say stays."""
    steps: list[list[object]] = [["make", "not_", [3], []], ["assume", 7], ["assume", 3]]
    old = json.dumps({"steps": steps, "last": [1]})
    store = Store(tmp_path)
    name = hashlib.sha256(old.encode()).hexdigest()
    store.trees.records.add(seal({"sha256": name, "proof": old}, TREE.name))
    again = store.trees.renewed(name)
    assert again != name
    assert unpacked(store.trees.find(again)) == (steps, [1])
    assert json.loads(store.trees.find(again))["steps"][1] == ["assume", -1]
    assert store.trees.renewed(again) == again
    with pytest.raises(RecordError, match="expected a proof of digest"):
        store.trees.renewed("0" * 64)


@pytest.mark.slow
def test_a_long_proof_is_not_kept_and_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer stays, is served as not re-checked, and holds by a new proof; a false one does not."""
    monkeypatch.setattr(pruning, "LONGEST_KEPT", 10)
    store = Store(tmp_path)
    store.add(certified())
    assert prune(store, pack=True, proved=[]).certificates == 1
    light = Store(tmp_path)
    served = light.find(certified().question)
    assert served is not None
    assert (served.checked, served.certificate) == (False, None)
    (entry,) = light.records()
    found = audit(light, entry)
    assert found.status is AuditStatus.HOLDS
    assert "too long to keep; a new one of" in found.reason
    with pytest.raises(RecordError, match="too long to keep"):
        light.certificate(entry.record)
    false = Store(tmp_path / "false")
    plain = {key: value for key, value in false.add(separated()).items() if key not in ("schema", SEAL)}
    empty = dict.fromkeys(("witness", "found_witness", "results"))
    told = {key: entry.record[key] for key in ("verdict", "solvers", "certificate", "confirmed_by")}
    false.answers.add(seal({**plain, **empty, **told}))
    (forged,) = false.records()
    found = audit(false, forged)
    assert found.status is AuditStatus.FAILED
    assert "expected no inputs that refute EQUIVALENT, but vectors found some" in found.reason


def test_proofs_for_the_kernel_are_kept_once_beside_the_claims(tmp_path: Path) -> None:
    """Also those that an earlier version wrote into the claim; a proof that is gone is not made up."""
    store, tree = Store(tmp_path), packed([["assume", 3]], [0])
    book = LemmaBook(limits=LIMITS, certify=True, keeper=store.lemmas)
    v = prove_claim(resolve(SUM[0]), SUM[1], book=book, limits=LIMITS)
    store.add_claim(replace(v, parts=tuple(replace(p, tree=tree) for p in v.parts)))
    (record,) = store.claims.all()
    assert kept_tree(record, store.trees) == plain_text(tree)
    earlier = with_trees(record, lambda _: tree)
    (tmp_path / CLAIM.file).unlink()
    (tmp_path / TREE.file).unlink()
    with pytest.raises(RecordError, match=r"expected a proof of digest .* but got none"):
        kept_tree(record, Store(tmp_path).trees)
    old = Store(tmp_path)
    plain = {key: x for key, x in earlier.items() if key not in ("schema", "folded", SEAL)}
    old.claims.add(seal(plain, "claim"))
    assert kept_tree(earlier, old.trees) == tree
    assert prune(old, pack=True) == Pruned(answers=0, claims=1, lemmas=0, certificates=0)
    (again,) = Store(tmp_path).claims.all()
    assert again == record
    assert prune(Store(tmp_path), pack=True) == Pruned(0, 0, 0, 0)
    assert unpacked(kept_tree(again, Store(tmp_path).trees)) == unpacked(tree)
    for file in (CLAIM.file, CLAIM.file + ".xz"):
        (tmp_path / file).unlink()
    assert prune(Store(tmp_path)).certificates > 1
    assert not Store(tmp_path).trees.records.all()


def test_a_folder_of_certificates_elsewhere_is_left_alone(store: Store, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (store.folder / CERTIFICATES).rename(elsewhere)
    (store.folder / CERTIFICATES).symlink_to(elsewhere)
    before = {path.name for path in elsewhere.iterdir()}
    prune(store)
    assert {path.name for path in elsewhere.iterdir()} == before


def test_an_answer_that_comes_between_judging_and_taking_out_stays(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its certificate, which no line named when the records were judged, stays with it."""
    late = Store(store.folder)

    def judged(entry: Entry) -> State:
        if not late.has(trivial().question):
            late.add(trivial())
        return state(entry)

    monkeypatch.setattr(pruning, "state", judged)
    assert prune(store).answers == 4
    here = Store(store.folder)
    found = here.find(trivial().question)
    assert found is not None
    assert found.checked


def test_a_file_that_was_replaced_meanwhile_is_judged_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = [0]

    def judged(entry: Entry) -> State:
        calls[0] += 1
        if calls[0] == 1:
            monkeypatch.setattr(pruning, "state", state)
            prune(Store(store.folder))
        return state(entry)

    monkeypatch.setattr(pruning, "state", judged)
    prune(store)
    assert [e.record["verdict"] for e in Store(store.folder).records()] == ["SEPARATED", "EQUIVALENT"]


@pytest.mark.slow
def test_a_writer_at_work_loses_nothing(store: Store) -> None:
    """It adds an answer with its certificate over and over, while everything else is taken out around it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            mine = Store(store.folder)
            for i in range(40):
                mine.add(replace(vacuous(), seconds=float(i)))
            code = 0
        finally:
            os._exit(code)
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        prune(Store(store.folder))
    here = Store(store.folder)
    found = here.find(vacuous().question)
    assert found is not None
    assert (found.seconds, found.checked) == (39.0, True)


def test_the_command_says_what_it_took_out(store: Store) -> None:
    words = ["results", "prune", "--results", str(store.folder)]
    data = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert data == {"answers": 4, "claims": 0, "lemmas": 0, "certificates": 2, "packed": 0}
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0
    assert result.stdout.endswith(": 0 answers, 0 claims, 0 lemmas, 0 certificates\n")
    nowhere = ["results", "prune", "--results", str(store.folder / "nowhere")]
    assert CliRunner().invoke(main, nowhere).exit_code == 0
    assert not (store.folder / "nowhere").exists()


@pytest.mark.parametrize("pack", [False, True])
def test_a_proof_beyond_the_bound_is_refused(pack: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed and plain alike."""
    text = packed([["nothing"]] * 100, [0])
    shown = text if pack else plain_text(text)
    assert unpacked(shown) == unpacked(text)
    monkeypatch.setattr(proof_texts, "LARGEST", 100)
    with pytest.raises(ProofError, match="of at most 100 "):
        unpacked(shown)
