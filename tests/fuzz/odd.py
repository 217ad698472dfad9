"""Odd values: texts, numbers and JSON that no sensible person writes."""

from __future__ import annotations

import random
from typing import Any

HOSTILE = "\x1b[2J\x1b]0;t\x07\u202e\u2028\x9b\udcff[/x]"

TEXTS = (
    "",
    " ",
    "-",
    "--",
    "@",
    "/",
    "=",
    ",",
    ".",
    "..",
    "~",
    "*",
    "%s",
    "{}",
    "{0.__class__}",
    "'",
    '"',
    "[/x]",
    "\\",
    "\n",
    "\t",
    HOSTILE,
    "é",
    "²",
    "٣",
    "𝔸",
    "x" * 300,
    "x" * 100_000,
    "a/b" * 50,
    "nan",
    "inf",
    "None",
    "true",
    "0",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/proc/self/mem",
    "/",
    "http://x",
    "c:\\x",
    "$(id)",
    "`id`",
    ";",
    "|",
)

INTEGERS = (
    "0",
    "1",
    "2",
    "3",
    "-1",
    "10",
    "007",
    "1_0",
    "+1",
    "10000000000000000000000",
    "9" * 5000,
    str(2**63),
    str(2**64),
    "-" + "9" * 30,
    "1e3",
    "1.0",
    "0x10",
    "²",
    "٣",
    "",
)

FLOATS = (
    "0",
    "-1",
    "0.5",
    "1",
    "1e-300",
    "1e308",
    "1e400",
    "nan",
    "inf",
    "-inf",
    "1_0",
    "²",
    "",
    "1,5",
    "0x1p3",
)

VALUES = (
    "0",
    "-0",
    "1",
    "1.5",
    "-2^-24",
    "2^999999999999",
    "2^-999999999999",
    "1e99999999",
    "1e-40001",
    "0x" + "f" * 9000,
    "9" * 5000,
    "0x1p99999999",
    "1/0",
    "1/3",
    "0/5",
    "nan",
    "-nan",
    "nan(0x7e00)",
    "nan(0x0)",
    "inf",
    "-inf",
    "0x",
    "0x3c00",
    "1.5*2^7",
    "1e5*2^40000",
    "...",
    "",
    " ",
    "²",
    HOSTILE,
    "1" + "0" * 3999,
    "1/" + "9" * 3000,
)

JSON: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    10**400,
    10**12,
    1e308,
    float("1e-320"),
    "",
    "x",
    HOSTILE.encode("utf-8", "replace").decode(),
    "\ud800",
    "0x",
    "0x" + "f" * 5000,
    "x" * 100_000,
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"a": []},
    [1, "2", [3]],
)


def nested(depth: int) -> str:
    """Brackets, as text: deeper than recursion goes."""
    return "[" * depth + "]" * depth


def changed(rng: random.Random, data: Any) -> Any:
    """JSON data with one part, anywhere in it, replaced, dropped, or put twice."""
    if isinstance(data, dict) and data and rng.random() < 0.9:
        key = rng.choice(sorted(data))
        made = dict(data)
        how = rng.random()
        if how < 0.15:
            del made[key]
        elif how < 0.25:
            made[f"{key}x"] = made.pop(key)
        else:
            made[key] = changed(rng, made[key])
        return made
    if isinstance(data, list) and data and rng.random() < 0.8:
        i = rng.randrange(len(data))
        how = rng.random()
        if how < 0.2:
            return data[:i] + data[i + 1 :]
        if how < 0.3:
            return data[:i] + [data[i]] * 3 + data[i:]
        return [*data[:i], changed(rng, data[i]), *data[i + 1 :]]
    return rng.choice(JSON)


def damaged(rng: random.Random, content: bytes) -> bytes:
    """Bytes that were cut, flipped, put twice, or filled with what no text holds."""
    how, at = rng.random(), rng.randrange(len(content) + 1)
    if how < 0.3:
        return content[:at]
    if how < 0.6 and content:
        spot = min(at, len(content) - 1)
        return content[:spot] + bytes([content[spot] ^ (1 << rng.randrange(8))]) + content[spot + 1 :]
    if how < 0.8:
        return (
            content[:at]
            + rng.choice((b"\x00", b"\xff\xfe", b"\x1b[2J", b"\n\n", b"{" * 3000, b"9" * 5000))
            + content[at:]
        )
    return content[at:] + content[:at]
