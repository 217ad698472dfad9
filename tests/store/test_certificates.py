"""The file of all proofs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kept import certified, proof_kept, reopened, rewrite, separated, unserved
from tcformal.errors import RecordError
from tcformal.solve import drat
from tcformal.store.audit.audit import AuditStatus, audit
from tcformal.store.certificates import NOT_KEPT, PROOF, CertificateFile
from tcformal.store.schema import SEAL, seal
from tcformal.store.store import Store


@pytest.mark.parametrize("change", [{"proof": "with a space"}, {"proof": ""}, {"sha256": "0" * 64}])
def test_a_forged_line_of_the_proofs_is_refused(tmp_path: Path, change: dict[str, str]) -> None:
    store = Store(tmp_path)
    store.add(certified())
    rewrite(tmp_path / PROOF.file, lambda record: record.update(change), kind=PROOF.name)
    entry = store.records()[0].record["certificate"]
    with pytest.raises(RecordError, match=r"^expected (a certificate|a proof|the proof)"):
        CertificateFile(tmp_path).find(entry)
    assert unserved(reopened(store)[0].find(certified().question))


def test_one_proof_of_several_answers_is_kept_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add(certified())
    store.add(certified())
    assert proof_kept(tmp_path) == getattr(certified().certificate, "proof", None)


def without_proof(record: dict[str, Any]) -> None:
    """A record whose proof was too long to keep."""
    record["certificate"]["file"] = NOT_KEPT


@pytest.mark.slow
def test_a_long_proof_is_not_kept_and_made_anew(tmp_path: Path) -> None:
    """The answer is served as not re-checked, and holds by a new proof; a false one does not."""
    store = Store(tmp_path)
    store.add(certified())
    rewrite(store.path, without_proof)
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


def test_a_proof_too_large_to_be_read_back_is_not_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drat, "LARGEST_PACKED", 10)
    with pytest.raises(ValueError, match=r"^it has \d+ packed bytes, of which 10 could be read back$"):
        drat.pack([("a", (0,))])
