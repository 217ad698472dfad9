"""The record of an identification: what was concluded about a device, and every answer that it rests on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

import numpy as np

from tcformal.design.spec import Operands
from tcformal.design.unit import UnitSpec
from tcformal.devices.entries import words_of, words_text
from tcformal.devices.sealed import read_whole
from tcformal.encodings.catalog import format_named
from tcformal.errors import RecordError
from tcformal.identification.asker import batch_data, formats_data, formats_only, read_batch
from tcformal.identification.masks import TOO_NEAR
from tcformal.identification.rates import Rate
from tcformal.identification.repeat import Repeated
from tcformal.identification.validation import Misfit, Validated
from tcformal.oracle.values import hex_word
from tcformal.shown import JsonObject, Shown, short
from tcformal.simulation.operands.batch import Batch, Raw, digest_of
from tcformal.simulation.operands.witness import to_data
from tcformal.store.file import RecordKind
from tcformal.store.schema import digest_of as json_digest
from tcformal.store.schema import now, seal
from tcformal.version import VERSION

#: Identifications in a results folder; the subject is what was asked: the device, the formats, K.
IDENTIFICATION = RecordKind(
    "identification",
    "identifications.jsonl",
    re.compile(rb'"subject": "([0-9a-f]{64})"'),
    lambda r: (r["subject"],),
)


class IdentifyVerdict(Enum):
    """What was concluded; the value is the word that people read.

    Examples:
        >>> tcformal.IdentifyVerdict.REMAINING.value
        'REMAINING'
    """

    IDENTIFIED = "IDENTIFIED"
    REMAINING = "REMAINING"
    OUTSIDE = "OUTSIDE THE SPACE"
    NON_DETERMINISTIC = "NON-DETERMINISTIC"
    FAULTY = "FAULTY"
    CONTRADICTORY = "CONTRADICTORY"
    CONSTANT = "ALL ANSWERS ARE EQUAL"
    UNFINISHED = "UNFINISHED"


#: Verdicts for which some design gives all answers.
FITTING = (IdentifyVerdict.IDENTIFIED, IdentifyVerdict.REMAINING)


class Settled(Enum):
    """What is known of a value of an axis that the simplest design of the class does not have."""

    REFUTED = "an answer of the device refutes it"
    SAME = "it is proved that no input tells it apart"
    UNDECIDED = "no input was found that tells it apart, and no proof that there is none"
    UNTRIED = "the time ended before it was held against every answer"


#: What is known of values that may be the device's.
OPEN = (Settled.UNDECIDED, Settled.UNTRIED)


@dataclass(frozen=True, slots=True)
class AxisOutcome:
    """One other value of one axis."""

    axis: str
    value: str
    #: The simplest design of the class with this value.
    design: str
    settled: Settled
    #: The number of the refuting input in the history, from 0; None where nothing refutes it.
    probe: int | None = None
    #: The lemma or proof, in one clause.
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class NearDesign:
    """A design that does not give all answers, and how many it gives."""

    design: str
    agrees: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Identification(Shown):
    """What an identification found, with the device's answers.

    Ranges and units: survivors are designs of the space; seconds are those of the device, and all.

    Examples:
        >>> box = tcformal.unit("hopper/mma.m8n8k4.f64.f64.f64.f64").dot_bits
        >>> found = tcformal.identify(box, "fp64,fp64,fp64,fp64", 2, vectors=100)
        >>> found.verdict.value, found.survivors
        ('IDENTIFIED', 2)
    """

    verdict: IdentifyVerdict
    #: One sentence.
    reason: str
    device: Mapping[str, str]
    #: The formats, K, and no design: `ask.formats_only`.
    operands: UnitSpec
    #: Every distinct input with its answer, b beside what it meets.
    history: tuple[Batch, Raw]
    #: The position of b that meets each a, where it is not the plain one.
    layout: tuple[int, ...] | None = None
    repeated: Repeated | None = None
    #: Designs of the space that was searched, and of it those that give every answer.
    space: int = 0
    survivors: int = 0
    #: The survivors by class, the simplest design of each first; of large classes some.
    classes: tuple[tuple[str, ...], ...] = ()
    axes: tuple[AxisOutcome, ...] = ()
    nearest: tuple[NearDesign, ...] = ()
    #: What was measured where no design fits, by name: the order of the sum, widths.
    measured: Mapping[str, str] | None = None
    #: The inputs of the history that no design of the space gives.
    unfit: tuple[int, ...] = ()
    validated: Validated | None = None
    #: What was not tested, one clause each.
    untested: tuple[str, ...] = ()
    #: After each batch: dot products asked so far, and survivors.
    growth: tuple[tuple[int, int], ...] = ()
    probes: int = 0
    batches: int = 0
    seconds: tuple[float, float] = (0.0, 0.0)

    def _summary(self) -> str:
        design = "" if self.simplest is None else f": {short(self.simplest)}"
        left = f"{self.survivors} of {self.space} designs left"
        return f"{self.verdict.value} {self.device.get('device', '')}{design}, {left}"

    @property
    def simplest(self) -> str | None:
        """The simplest design of the first class."""
        return self.classes[0][0] if self.classes else None


#: What is not tested where masks show no order.
ORDERS = "other orders of the sum than k in steps of neighbours"
#: What is not tested of a design that is in no family of trees, or among catalogued ones alone.
BETWEEN = "parameters between those of the catalogued designs"


def untested_clauses(
    spec: UnitSpec, k: int, measured: Mapping[str, str], *, plain: bool, seen: bool
) -> tuple[str, ...]:
    """What was not tested.

    `measured`: the order among them, of which a few are tried where it does not show; `plain`: whether every
    value of each parameter was tried; `seen`: whether a comparison followed.
    """
    orders = (ORDERS,) if measured.get("order", "").endswith(TOO_NEAR) else ()
    scaled = ("scales other than those of the inputs",) if spec.scale_format is not None else ()
    between, others = () if plain else (BETWEEN,), () if seen else ("other inputs than these",)
    return (
        f"dot products of other lengths than {k}", "other operand formats", *orders, *scaled, *between,
        *others,
    )  # fmt: skip


def to_record(found: Identification) -> JsonObject:
    """An identification as a sealed record."""
    spec = found.operands
    batch, answers = found.history
    asked = {"device": dict(found.device), **formats_data(spec, spec.k)}
    record = {
        "subject": subject_of(asked), "date": now(), "tcformal": VERSION,
        "verdict": found.verdict.value, "reason": found.reason,
        **asked,
        "layout": None if found.layout is None else list(found.layout),
        "repeated": None if found.repeated is None else _repeated_data(spec, found.repeated),
        "space": found.space, "survivors": found.survivors, "classes": [list(c) for c in found.classes],
        "axes": [{**asdict(x), "settled": x.settled.name.lower()} for x in found.axes],
        "nearest": [{"design": x.design, "agrees": asdict(x.agrees)} for x in found.nearest],
        "measured": dict(found.measured or {}), "unfit": list(found.unfit),
        "next": None,
        "validated": None if found.validated is None else _validated_data(spec, found.validated),
        "untested": list(found.untested), "growth": [list(point) for point in found.growth],
        "probes": found.probes, "batches": found.batches,
        "seconds": {"device": round(found.seconds[0], 3), "all": round(found.seconds[1], 3)},
        "history": {
            **batch_data(spec, batch), "d": words_text(spec.d_format, answers.tolist()),
            "sha256": digest_of(*batch.named().values(), answers),
        },
    }  # fmt: skip
    return seal(record, IDENTIFICATION.name)


def subject_of(record: Mapping[str, Any]) -> str:
    """The digest of the device, the formats and K of a record."""
    keys = ("device", "formats", "k", "scale_format", "scale_block")
    return json_digest({key: record[key] for key in keys if key in record})


def operands_of(record: Mapping[str, Any]) -> UnitSpec:
    """The formats and K of a record."""
    names = record["formats"]
    scale = record.get("scale_format")
    return formats_only(
        Operands(**{name: format_named(names[name]) for name in "abcd"}), record["k"],
        None if scale is None else format_named(scale), record.get("scale_block"),
    )  # fmt: skip


def history_of(record: Mapping[str, Any]) -> tuple[Batch, Raw]:
    """The inputs and answers of a record; RecordError where they have not the digest that stands there."""
    spec, kept = operands_of(record), record["history"]
    where = "the history of an identification"
    with read_whole(where):
        batch = read_batch(spec, spec.k, kept, where)
        answers = np.array(words_of(spec.d_format, kept["d"]), np.uint64)
        if digest_of(*batch.named().values(), answers) != kept["sha256"] or len(answers) != len(batch.c):
            raise RecordError("expected a history of the digest that the record names, but it has another")
    return batch, answers


def _repeated_data(spec: UnitSpec, x: Repeated) -> Mapping[str, object]:
    most = None
    if x.most is not None:
        words = {hex_word(spec.d_format, word): count for word, count in x.most[1].items()}
        most = {**to_data(spec, x.most[0]), "d": words}
    return {
        "repetition": x.repetition.name.lower(), "other": asdict(x.other), "random_bits": x.random_bits,
        "places": [{"place": str(place.place), "up": asdict(place.up)} for place in x.places], "most": most,
    }  # fmt: skip


def _misfit_data(spec: UnitSpec, x: Misfit) -> Mapping[str, object]:
    d = spec.d_format
    return {
        "input": to_data(spec, x.witness), "given": hex_word(d, x.given),
        "again": [hex_word(d, value) for value in x.again], "designed": hex_word(d, x.designed),
        "stays": x.stays, "simpler": None if x.simpler is None else _misfit_data(spec, x.simpler),
    }  # fmt: skip


def _validated_data(spec: UnitSpec, x: Validated) -> Mapping[str, object]:
    return {
        "model": x.model.name, "misfits": asdict(x.misfits), "interval": list(x.misfits.interval()),
        "shown": [_misfit_data(spec, misfit) for misfit in x.shown],
    }  # fmt: skip
