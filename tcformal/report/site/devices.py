"""What was measured: campaigns on devices, the NaN rules of recorded tiles, identifications."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tcformal.design.names import resolve
from tcformal.design.rounding import NAN_RULES
from tcformal.devices.log.results import pieces_of, read_runs, unit_of
from tcformal.devices.sealed import read_summary
from tcformal.errors import InputError, TcformalError
from tcformal.identification.identification import IDENTIFICATION
from tcformal.identification.verified import verify_identification
from tcformal.query.verdict import NOT_CHECKED
from tcformal.report.devices.identify import growth_picture
from tcformal.simulation.replay import replay
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.file import RecordFile
from tcformal.store.schema import check
from tcformal.store.store import Store

#: Most dot products of one device that the page of NaN rules computes again.
_MOST = 4096


@dataclass(frozen=True, slots=True)
class NanStory:
    """Recorded results that are NaN, and how many of them each rule gives, computed now."""

    device: str
    unit: str
    file: str
    nans: int
    #: The rule, how many recorded NaNs it gives, and an example of one that it does not.
    rules: tuple[tuple[str, int, str], ...]
    #: The rule of the catalogue.
    chosen: str


@dataclass(frozen=True, slots=True)
class DevicePage:
    """One device: what its campaign says, and the answers that refute designs."""

    folder: str
    device: str
    summary: Mapping[str, Any]
    status: str
    problem: str = ""

    @property
    def answers(self) -> list[Mapping[str, Any]]:
        """The questions whose answers refute designs, one of each, with what it refutes."""
        seen: dict[tuple[str, str], Mapping[str, Any]] = {}
        for answer in self.summary.get("answers", ()):
            if "question" in answer and answer.get("refuted"):
                seen.setdefault((answer["question"], answer["unit"]), answer)
        return list(seen.values())

    @property
    def differing(self) -> list[Mapping[str, Any]]:
        """The units whose results were not the models' of that day."""
        return [unit for unit in self.summary.get("units", ()) if unit["mismatches"]]


@dataclass(frozen=True, slots=True)
class IdentificationPage:
    """One identification with its curve of survivors."""

    data: Mapping[str, Any]
    status: str
    reason: str
    curve: str


def device_pages(folder: Path) -> list[DevicePage]:
    """The devices of a results folder, by the summaries of their campaigns."""
    made = []
    for path in sorted(folder.glob("hardware/*")):
        name = path.name
        try:
            data = read_summary(path)
            if data is None:
                continue
            _check_counts(data)
            made.append(DevicePage(name, str(data["device"]["device"]), data, NOT_CHECKED))
        except (TcformalError, OSError, ValueError, LookupError, TypeError) as error:
            made.append(DevicePage(name, name, {}, "refused", str(error)))
    return made


def _check_counts(data: Mapping[str, Any]) -> None:
    """KeyError, TypeError or ValueError for a summary without what its page shows."""
    for row in (data, *data["units"]):
        int(row["mismatches"])
    int(data["dot_products"]) + float(data["seconds"])
    for unit in data["units"]:
        str(unit["unit"]) + str(unit["instruction"]) + str(int(unit["directed"]) + int(unit["random"]))
    for answer in data["answers"]:
        if "question" in answer:
            str(answer["title"]) + str(answer["unit"])
            sorted(map(str, dict(answer["outputs"]))), list(answer["refuted"])


def nan_stories(folder: Path) -> list[NanStory]:
    """Files of results with NaNs whose bits tell which operand's NaN a step returns."""
    made = []
    for path in sorted((folder / "hardware").glob("*/*/*.jsonl*")):
        plain = path.with_name(path.name.removesuffix(".xz"))
        try:
            for run in read_runs(plain):
                if resolve(str(run.head["unit"])).design.nan_rule != "word":
                    story = _story(run, plain, folder)
                    made += [story] if story is not None else []
        except (TcformalError, LookupError, ValueError, TypeError):
            continue
    # The longest sums first: there the rule is asked most often.
    return sorted(made, key=lambda story: (-resolve(story.unit).k, -story.nans))


def _story(run: Any, path: Path, folder: Path) -> NanStory | None:
    """How many recorded NaNs each rule of a unit gives."""
    spec = unit_of(run, path)
    fmt = spec.operands.d
    infinity = ((1 << fmt.exponent_bits) - 1) << fmt.fraction_bits
    rules: dict[str, list[Any]] = {}
    nans = count = 0
    for rule in NAN_RULES:
        try:
            rules[rule] = [resolve(f"{spec.name}@nan_rule={rule}"), 0, ""]
        except InputError:
            continue
    for piece in pieces_of(run, path):
        if count >= _MOST:
            break
        count += len(piece.outputs)
        magnitude = piece.outputs & np.uint64((1 << (fmt.width - 1)) - 1)
        is_nan = magnitude > np.uint64(infinity)
        nans += int(np.count_nonzero(is_nan))
        for row in rules.values():
            given = replay(row[0], piece.batch)
            good = (given == piece.outputs) & is_nan
            row[1] += int(np.count_nonzero(good))
            wrong = np.flatnonzero(is_nan & ~good)
            if len(wrong) and not row[2]:
                i = int(wrong[0])
                row[2] = f"{int(given[i]):#010x} instead of the device's {int(piece.outputs[i]):#010x}"
    if not nans:
        return None
    found = tuple((rule, row[1], row[2]) for rule, row in rules.items())
    device = str(run.head["device"].get("device", path.parent.parent.name))
    return NanStory(device, spec.name, str(path.relative_to(folder)), nans, found, spec.design.nan_rule)


def identification_pages(
    store: Store, warn: Callable[[str], None], *, verify: bool
) -> Iterator[IdentificationPage]:
    """The newest identification of every device and formats; `verify`: each statement checked by replay."""
    kept = RecordFile(store.folder, IDENTIFICATION, warn)
    for start in kept.last_starts():
        record = kept.line(start).data
        if record is None:
            continue
        try:
            check(record, IDENTIFICATION.name)
        except TcformalError as error:
            yield IdentificationPage({}, AuditStatus.FAILED.value, str(error), "")
            continue
        status, reason = NOT_CHECKED, ""
        if verify:
            finding = verify_identification(record, store)
            status, reason = finding.status.value, finding.reason
            if finding.status is AuditStatus.FAILED:
                yield IdentificationPage({}, status, reason, "")
                continue
        growth = [(int(probes), int(left)) for probes, left in record["growth"]]
        curve = growth_picture(int(record["space"]), growth) if growth else ""
        yield IdentificationPage(record, status, reason, curve)
