"""Validation of result and plan lines: seal, types, sizes."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tcformal.encodings.spec import Format
from tcformal.errors import RecordError
from tcformal.files import ENDING, read_packed
from tcformal.oracle.values import hex_word
from tcformal.shown import JsonObject
from tcformal.store.schema import SEAL, sealed

#: Schemas of results: the current one, whose lines carry digests, and the older one without digests.
SCHEMA, UNSEALED = "tcformal-hardware/2", "tcformal-hardware/1"
#: The summary of a campaign, for people; it is never read as evidence.
SUMMARY = "campaign-summary.json"
#: The name of a campaign's plan in the heads of runs.
CAMPAIGN = "campaign/1"
#: Terms of a dot product, and dot products of one line, that are read: more than any unit or plan has.
MOST_TERMS, MOST_ROWS = 1 << 16, 1 << 20
#: Operands of one line that are made at once; seeds.
MOST_WORDS, MOST_SEED = 1 << 28, (1 << 63) - 1
_DIGEST = re.compile(r"[0-9a-f]{64}")
#: Texts of a head beside the device.
_TEXTS = ("unit", "plan", "definition", "tcformal", "date")


def check_seal(data: Mapping[str, object], where: str) -> None:
    """Raise RecordError, naming `where`, for a line that was altered."""
    try:
        digest = sealed(data)[SEAL]
    except (ValueError, RecursionError) as error:
        raise RecordError(f"expected plain data in {where}, but got: {error}") from None
    if digest != data.get(SEAL):
        raise RecordError(
            f"expected {where} as it was written, but it was altered: "
            f"its digest is {digest[:12]}… and {data.get(SEAL)!s:.12}… stands there"
        )


def read_summary(folder: Path) -> JsonObject | None:
    """Read the summary of a campaign's folder, compressed or not; None without one.

    Errors: RecordError for one that cannot be read, or was altered.
    """
    path, packed = folder / SUMMARY, folder / (SUMMARY + ENDING)
    if not folder.is_dir() or not (path.exists() or packed.exists()):
        return None
    try:
        data = json.loads(path.read_text(encoding="utf-8") if path.exists() else read_packed(packed))
    except (OSError, ValueError, RecursionError) as error:
        raise RecordError(f"expected the summary of a campaign in {path}, but got: {error!s:.100}") from None
    check_seal(data if isinstance(data, dict) else {}, str(path))
    return dict(data)


def check_sealed_as(data: Mapping[str, object], schema: object, where: str) -> None:
    """Raise RecordError unless a line has a digest exactly where its file's schema demands one."""
    if schema not in (SCHEMA, UNSEALED):
        raise RecordError(f"expected results ({SCHEMA}) in {where}, but got {schema!r:.80}")
    if (SEAL in data) != (schema == SCHEMA):
        has = "has one" if SEAL in data else "has none"
        which = "a" if schema == SCHEMA else "no"
        raise RecordError(f"expected {which} digest on {where}, a line of {schema}, but it {has}")


def check_head(data: Mapping[str, object], where: str) -> None:
    """Raise RecordError for a run's head with a missing or invalid key."""
    check_sealed_as(data, data.get("schema"), where)
    device = data.get("device")
    texts = [*map(data.get, _TEXTS), *(device.values() if isinstance(device, dict) else ())]
    if not isinstance(device, dict) or not device or not all(isinstance(text, str) for text in texts):
        raise RecordError(f"expected texts for device, {', '.join(_TEXTS)} in {where}, but got {data!r:.80}")
    digests = {str(data["definition"]), str(data["plan"])} - {CAMPAIGN}
    if data["definition"] == CAMPAIGN or not all(map(_DIGEST.fullmatch, digests)):
        raise RecordError(f"expected digests of a definition and a plan in {where}, but got {data!r:.80}")
    whole(data, "k", where, low=1, high=MOST_TERMS)


def whole(data: Mapping[str, object], name: str, where: str, *, low: int = 0, high: int = MOST_ROWS) -> int:
    """Read an integer of a line; RecordError naming `where` for anything else."""
    value = data.get(name)
    if type(value) is not int or not low <= value <= high:
        raise RecordError(
            f"expected a whole number from {low} to {high} for {name} in {where}, but got {value!r:.80}"
        )
    return value


def word(fmt: Format, text: object, where: str) -> int:
    """Read an encoding in hex with all its digits; RecordError naming `where` for anything else."""
    if isinstance(text, str) and re.fullmatch(r"0x[0-9a-f]{1,16}", text):
        value = int(text, 16)
        if value < 1 << fmt.width and text == hex_word(fmt, value):
            return value
    raise RecordError(f"expected an encoding of {fmt.name} in {where}, but got {text!r:.80}")


@contextlib.contextmanager
def read_whole(where: object) -> Iterator[None]:
    """A context that turns Python's errors on invalid lines into a RecordError."""
    try:
        yield
    except (KeyError, ValueError, TypeError, IndexError, OverflowError, AttributeError) as error:
        raise RecordError(f"expected whole results in {where}, but got: {error!r:.200}") from None


def check_program(kept: Mapping[str, str], mine: Mapping[str, str], path: Path) -> None:
    """Raise RecordError, naming the file, unless results are of the same program."""
    for key, what in (("program", "the program"), ("program_sha256", "the program of digest")):
        if kept.get(key) != mine.get(key):
            raise RecordError(
                f"expected results of {what} {mine.get(key, 'none')!s:.80} in {path}, "
                f"but they are of {kept.get(key, 'none')!s:.80}: move that file away"
            )
