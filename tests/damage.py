"""Hypothesis strategies of damaged files."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from hypothesis import strategies as st

#: Contents that no file should have.
ODD = (
    b"", b"\0" * 5000, b"[" * 100_000, b"NaN", b"9" * 6000, b"\xff\xfe", b"\x1b[2J\x9b", b"[1, 2]",
    b'{"a": ["\\ud800"], "b": ["1"], "c": "\\ud800", "expected": "\\ud800", "got": "1"}',
)  # fmt: skip


@st.composite
def changed(draw: st.DrawFn, data: Any) -> Any:
    """JSON data with one part, anywhere in it, replaced, dropped or put twice."""
    how = draw(st.integers(0, 9))
    if isinstance(data, dict) and data and how:
        key = draw(st.sampled_from(sorted(data)))
        rest = {k: v for k, v in data.items() if k != key}
        return rest if how == 1 else rest | {key if how > 2 else f"{key}x": draw(changed(data[key]))}
    if isinstance(data, list) and data and how:
        i = draw(st.integers(0, len(data) - 1))
        made = [] if how == 1 else [data[i]] * 3 if how == 2 else [draw(changed(data[i]))]
        return [*data[:i], *made, *data[i + 1 :]]
    odd: tuple[Any, ...] = (
        None,
        True,
        [],
        {},
        [[]],
        {"": None},
        "\ud800",
        "0x",
        "x" * 100_000,
        10**400,
        1e-320,
    )
    return draw(st.sampled_from(odd) | st.integers() | st.floats() | st.text())


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Content that was cut, flipped, turned, filled, replaced, or changed in one value."""
    at, how = draw(st.integers(0, len(content))), draw(st.integers(0, 6))
    if how >= 5:
        with contextlib.suppress(ValueError):
            rows = [json.loads(line) for line in content.splitlines()] or [None]
            i = draw(st.integers(0, len(rows) - 1))
            rows[i] = draw(changed(rows[i]))
            return "".join(json.dumps(row) + "\n" for row in rows).encode()
    first, rest, odd = content[:at], content[at:], draw(st.sampled_from(ODD))
    flipped = first + bytes(x ^ 8 for x in rest[:1]) + rest[1:]
    return (first, flipped, rest + first, first + odd + rest, odd)[how % 5]
