"""The files of a campaign: numbered parts of bounded size."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tcformal.errors import NoAnswerError
from tcformal.store import lines
from tcformal.store.schema import sealed

#: Largest number of parts, and bytes of one: with the summary, eight files of at most 16 MiB.
MOST_PARTS = 7
MOST_BYTES = 15 << 20


class FullError(NoAnswerError):
    """All parts of a campaign's file are full."""


class Parts:
    """An appender to `campaign-1.jsonl`, `campaign-2.jsonl`, … in a folder.

    Each part begins with a line `head`.
    Errors: FullError where the last part is full.
    """

    def __init__(
        self,
        folder: Path,
        head: Mapping[str, Any],
        most_parts: int = MOST_PARTS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.folder = folder
        self._head = dict(head)
        self._most_parts, self._most_bytes = most_parts, most_bytes
        self._number = max(1, sum(self._path(i).exists() for i in range(1, most_parts + 1)))

    def _path(self, number: int) -> Path:
        return self.folder / f"campaign-{number}.jsonl"

    def append(self, data: Mapping[str, Any]) -> None:
        """Append one sealed line durably to the current part, or to the next one if it is full."""
        data = sealed(data)
        size = len(json.dumps(data, ensure_ascii=False).encode()) + 1
        while self._held() + size > self._most_bytes:
            if self._number == self._most_parts:
                raise FullError(f"expected room for {size} bytes in {self.folder}, but its parts are full")
            self._number += 1
        path = self._path(self._number)
        if not self._held():
            lines.append(path, sealed({"kind": "campaign", "part": self._number, **self._head}))
        lines.append(path, data)

    def _held(self) -> int:
        path = self._path(self._number)
        return path.stat().st_size if path.exists() else 0
