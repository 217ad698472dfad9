"""Kept claims: an answered claim is served again while its unit and all of its lemmas are what they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tcformal.design.unit import UnitSpec
from tcformal.query.kept.shelf import Shelf, now
from tcformal.query.proofs.claim import ClaimVerdict, Counterexample, Part, Standing
from tcformal.query.proofs.cuts import Step
from tcformal.query.proofs.lemmas import Lemma
from tcformal.query.proofs.same_parameters import definition
from tcformal.query.spec import Witness
from tcformal.query.verdict import Kind
from tcformal.records.lines import Told, append
from tcformal.records.newest import Newest
from tcformal.records.schema import SCHEMA_VERSION, SEAL, seal
from tcformal.solve.result import Limits

CLAIMS = "claims.jsonl"

#: What an answer claims something by; the others are asked again.
SETTLED = (Kind.HOLDS, Kind.VIOLATED)

#: Claims that speak of more units than the one whose definition is kept with them.
_OF_MANY_UNITS = ("same-parameters",)

#: What may differ between two answers that say the same.
_PASSING = ("date", "seconds", "limits", "tcformal", SEAL)


class KeptClaims:
    """The claims of one results folder, the last record of each claim and unit.

    `told` hears, in one sentence each, of lines and records that are not used.
    """

    def __init__(self, shelf: Shelf, told: Told) -> None:
        self.path = shelf.folder / CLAIMS
        self._shelf = shelf
        self._told = told
        #: The newest record of each claim and unit.
        self.records = Newest(self.path, "claim", ("claim", "unit"), told)

    def find(self, claim: str, spec: UnitSpec, *, certify: bool | None = None) -> ClaimVerdict | None:
        """The kept answer to a claim about this very definition, with every lemma it rests on.

        None for one that is not settled, that speaks of other units too, or that rests on a lemma no
        longer kept; with `certify`, on one without a certificate.
        """
        record = self.records.get(claim, spec.name)
        if record is None or claim in _OF_MANY_UNITS or Kind[record["verdict"]] not in SETTLED:
            return None
        if record["definition"] != definition(spec, spec.k):
            return None
        used = {int(i) for part in record["parts"] for step in part["steps"] for i in step.get("lemmas", {})}
        lemmas = [
            self._shelf.find(sha256, certify=certify)
            for i, sha256 in enumerate(record["lemmas"])
            if i in used
        ]
        if any(lemma is None for lemma in lemmas):
            return None
        return read_claim(record, spec, tuple(lemma for lemma in lemmas if lemma is not None))

    def add(self, v: ClaimVerdict) -> None:
        """Keep a claim with the digests of its lemmas, unless the last record says the same."""
        plain = v.to_json()
        lemmas = [lemma["sha256"] for lemma in plain["lemmas"]]
        places = {sha256: str(i) for i, sha256 in enumerate(lemmas)}
        parts = [{**part, "steps": _short_steps(part["steps"], places)} for part in plain["parts"]]
        record = {
            **plain, "schema": SCHEMA_VERSION, "date": now(), "definition": definition(v.unit, v.unit.k),
            "lemmas": lemmas, "parts": parts,
        }  # fmt: skip
        last = self.records.get(v.claim, v.unit.name)
        if last is None or _said(last) != _said(record):
            sealed = seal(record, "claim")
            append(self.path, sealed, self._told)
            self.records.put(sealed)


def _said(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a record says, whenever and however quickly it was said."""
    return {key: value for key, value in record.items() if key not in _PASSING}


def read_claim(record: Mapping[str, Any], spec: UnitSpec, lemmas: tuple[Lemma, ...]) -> ClaimVerdict:
    """The verdict that a record was made of."""
    return ClaimVerdict(
        claim=record["claim"], unit=spec, kind=Kind[record["verdict"]], reason=record["reason"],
        composition=record["composition"],
        parts=tuple(_part(p, spec.k, record["lemmas"]) for p in record["parts"]),
        lemmas=lemmas, limits=Limits(**record["limits"]), seconds=record["seconds"],
        version=record["tcformal"],
    )  # fmt: skip


def _short_steps(steps: Sequence[Mapping[str, Any]], places: Mapping[str, str]) -> list[dict[str, Any]]:
    """Steps as they are kept: lemmas by their place among the record's, neighbours without any as one."""
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


def _part(data: Mapping[str, Any], k: int, lemmas: Sequence[str]) -> Part:
    steps = tuple(
        Step(name=cut, how=s["how"], lemmas={lemmas[int(i)]: n for i, n in s.get("lemmas", {}).items()})
        for s in data["steps"]
        for cut in s["cuts"]
    )
    witness = None
    if "witness" in data:
        said = data["witness"]
        first, second = (
            Witness.of({name: int(x, 16) for name, x in said[key].items()}, k)
            for key in ("inputs", "second_inputs" if "second_inputs" in said else "inputs")
        )
        one, other = (int(x, 16) for x in said["results"])
        witness = Counterexample(
            first=first, second=second, results=(one, other), found_by=said["found_by"]
        )  # fmt: skip
    return Part(
        name=data["name"], standing=Standing[data["standing"]], steps=steps, witness=witness,
        control=data["control"], note=data.get("note", ""),
    )  # fmt: skip
