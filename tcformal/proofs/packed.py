"""Proofs for the kernel as text: JSON, packed."""

from __future__ import annotations

import base64
import json
import lzma
from collections.abc import Sequence
from typing import Any

from tcformal.errors import ProofError
from tcformal.files import packed as files

#: The most bytes that a proof may unpack to.
LARGEST = 1 << 26


def packed(steps: Sequence[Sequence[Any]], last: Sequence[int]) -> str:
    """The steps of a proof and the numbers of its conclusions as text."""
    plain = json.dumps({"steps": steps, "last": last}, separators=(",", ":"))
    return base64.b85encode(lzma.compress(plain.encode(), preset=9)).decode()


def unpacked(text: str) -> tuple[list[Any], list[int]]:
    """What `packed` was given; ProofError for other text, or for too much of it."""
    try:
        plain, whole = files.unpacked(base64.b85decode(text), LARGEST)
        if not whole:
            raise ProofError(f"expected a whole proof of at most {LARGEST} bytes, but got another")
        data = json.loads(plain)
        return list(data["steps"]), list(data["last"])
    except (ValueError, LookupError, TypeError, RecursionError, lzma.LZMAError) as error:
        raise ProofError(f"expected a packed proof, but got text that is not one: {error}") from error
