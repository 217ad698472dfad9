"""Claims as records, and records as claims."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from tcformal.design.unit import UnitSpec
from tcformal.errors import RecordError
from tcformal.formats.spec import Format
from tcformal.operands.witness import Witness
from tcformal.programs.chain import definition
from tcformal.proofs.claim import ClaimPart, ClaimVerdict, Counterexample, PartStatus
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.tactics.cuts import ProofStep
from tcformal.query.question import Kind
from tcformal.store.answers import read_limits
from tcformal.store.certificates import TreeFile
from tcformal.store.schema import SEAL, digest_of, now

#: Keys that may differ between two records of the same answer.
_PASSING = ("schema", "date", "seconds", "limits", "tcformal", "commit", "machine", SEAL)


def claim_record(v: ClaimVerdict) -> dict[str, Any]:
    """A claim as a record without its digest; its lemmas are named by their digests."""
    plain = v.to_json()
    for key in ("served", "checked", "answered", "answered_by"):
        plain.pop(key, None)
    lemmas = [lemma["sha256"] for lemma in plain["lemmas"]]
    places = {sha256: str(i) for i, sha256 in enumerate(lemmas)}
    parts = [{**part, "steps": _short_steps(part["steps"], places)} for part in plain["parts"]]
    folded = [i for i, lemma in enumerate(plain["lemmas"]) if lemma["decided_by"] == "folding"]
    return {
        **plain, "date": now(), "definition": definition(v.unit),
        "lemmas": lemmas, "folded": folded, "parts": parts,
    }  # fmt: skip


def with_trees(record: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """A record whose proofs for the kernel are changed: into their names, or from names into proofs."""
    parts = [{**p, "tree": change(p["tree"])} if "tree" in p else p for p in record["parts"]]
    return {**record, "parts": parts}


def with_short_names(record: Mapping[str, Any], kept: Collection[str]) -> dict[str, Any]:
    """A record in which lemmas that are not among the kept ones have short names."""
    return {**record, "lemmas": [x if x in kept else short_name(x) for x in record["lemmas"]]}


def claim_id(claim: str, unit: str) -> str:
    """The identity of a claim about a unit; a later record of the same identity supersedes it."""
    return digest_of({"claim": claim, "unit": unit})


def short_name(sha256: str) -> str:
    """What names a lemma that is made anew when it is asked for: the first 64 bits of its digest."""
    return sha256[:16]


def claim_content(record: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a record that identifies the answer: everything but when, where and how fast."""
    return {key: value for key, value in record.items() if key not in _PASSING}


def kept_tree(record: Mapping[str, Any], trees: TreeFile) -> str:
    """The proof for the kernel of a record; empty for a claim that is proved in other steps.

    Errors: RecordError for a proof that is missing.
    """
    return trees.find(next((part["tree"] for part in record["parts"] if "tree" in part), ""))


def lemmas_used(record: Mapping[str, Any]) -> list[str]:
    """The digests of the lemmas that the steps of a record apply; RecordError for a missing one."""
    used = {int(i) for part in record["parts"] for step in part["steps"] for i in step.get("lemmas", {})}
    if used and max(used) >= len(record["lemmas"]):
        raise RecordError(f"expected steps on {len(record['lemmas'])} lemmas, but got lemma {max(used)}")
    return [sha256 for i, sha256 in enumerate(record["lemmas"]) if i in used]


def read_claim(
    record: Mapping[str, Any], spec: UnitSpec, lemmas: tuple[Lemma, ...], *, served: str, checked: bool
) -> ClaimVerdict:
    """The claim verdict of a record; `served` is the date of the record.

    Errors: RecordError for limits or a witness that are not valid.
    """
    return ClaimVerdict(
        claim=record["claim"], unit=spec, kind=Kind[record["verdict"]], reason=record["reason"],
        composition=record["composition"],
        parts=tuple(_part(p, spec, record["lemmas"]) for p in record["parts"]),
        lemmas=lemmas, limits=read_limits(record), seconds=record["seconds"],
        version=record["tcformal"], commit=record.get("commit", ""), machine=record.get("machine", ""),
        served=served, checked=checked,
    )  # fmt: skip


def _short_steps(steps: Sequence[Mapping[str, Any]], places: Mapping[str, str]) -> list[dict[str, Any]]:
    """Steps in their kept form: lemmas by index in the record, adjacent steps without lemmas merged."""
    kept: list[dict[str, Any]] = []
    for step in steps:
        if step["lemmas"]:
            uses = {places[sha256]: n for sha256, n in step["lemmas"].items()}
            kept.append({"cuts": [step["cut"]], "how": step["how"], "lemmas": uses})
        elif kept and "lemmas" not in kept[-1] and kept[-1]["how"] == step["how"]:
            kept[-1]["cuts"].append(step["cut"])
        else:
            kept.append({"cuts": [step["cut"]], "how": step["how"]})
    return kept


def _part(data: Mapping[str, Any], spec: UnitSpec, lemmas: Sequence[str]) -> ClaimPart:
    steps = tuple(
        ProofStep(name=cut, how=s["how"], lemmas={lemmas[int(i)]: n for i, n in s.get("lemmas", {}).items()})
        for s in data["steps"]
        for cut in s["cuts"]
    )
    witness = None
    if "witness" in data:
        kept = data["witness"]
        first, second = (
            _operands(spec, kept[key])
            for key in ("inputs", "second_inputs" if "second_inputs" in kept else "inputs")
        )
        one, other = (_encoding(spec.operands.d, x) for x in kept["results"])
        witness = Counterexample(
            first=first, second=second, results=(one, other), found_by=kept["found_by"]
        )  # fmt: skip
    return ClaimPart(
        name=data["name"], status=PartStatus[data["standing"]], steps=steps, witness=witness,
        control=data["control"], note=data.get("note", ""), tree=data.get("tree", ""),
    )  # fmt: skip


def _operands(spec: UnitSpec, encodings: Mapping[str, str]) -> Witness:
    """Operands from a record; RecordError for operands that the unit does not take."""
    formats = spec.input_formats()
    inputs = {}
    for name, text in encodings.items():
        row = name.partition("[")[0]
        if row not in formats:
            raise RecordError(f"expected operands of {spec.name}, but got {name}")
        inputs[name] = _encoding(formats[row], text)
    # An agreement's witness is of as many products as both units take in whole calls.
    return Witness.of(inputs, max(spec.k, sum(name.startswith("a[") for name in inputs)))


def _encoding(fmt: Format, text: str) -> int:
    """An encoding from a record; RecordError for a value that the format does not have."""
    raw = int(text, 16)
    if raw >= 1 << fmt.width:
        raise RecordError(f"expected an encoding of {fmt.name}, but got {text}")
    return raw
