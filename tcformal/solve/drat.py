"""Proofs as files: the binary DRAT format, packed with xz.

A step is ("a" or "d", literals), added or deleted; variable v is the literal 2v − 2, and
its complement 2v − 1.
Source: WETZLER, README of drat-trim, "Binary DRAT proof format": a byte 61 or 64 hexadecimal, each literal x
as 2|x| + (x < 0) in groups of seven bits, lowest first, and a byte 0.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable

from tcformal.files import unpacked
from tcformal.solve.lrat import LratStep

DratStep = tuple[str, tuple[int, ...]]

#: Bytes that a packed proof may have, which a line of a file holds, and an unpacked one.
LARGEST_PACKED = 1 << 25
LARGEST_UNPACKED = 1 << 28

#: How many times its packed size a proof may have: a bound against small files made to fill the memory.
#: Proofs of solvers are hard to pack: of 1,796 proofs, none was packed to less than a tenth.
_BEST_RATIO = 64
#: Bytes that every proof may have, whatever its packed size.
_SMALL = 1 << 16

#: Bytes that one literal may have.
_LONGEST = 8

_OPEN = {"a": 0x61, "d": 0x64}
_KIND = {code: kind for kind, code in _OPEN.items()}


def parse(text: str) -> list[DratStep]:
    """Parse a DRAT proof in text form, one step a line; ValueError for an invalid line."""
    steps: list[DratStep] = []
    for number, line in enumerate(text.splitlines(), 1):
        kind, words = "a", line.split()
        if words and words[0] == "d":
            kind, words = "d", words[1:]
        try:
            *numbers, end = map(int, words)
        except ValueError:
            raise ValueError(f"line {number} is {line[:40]!r}") from None
        if end or 0 in numbers:
            raise ValueError(f"line {number} does not end with its one 0")
        steps.append((kind, tuple([2 * x - 2 if x > 0 else -2 * x - 1 for x in numbers])))
    return steps


def drup(steps: Iterable[LratStep]) -> list[DratStep]:
    """The added clauses of an LRAT proof without hints and without the final empty clause.

    Literals are in order, which packs small.  Deletions are left out: what follows by unit propagation
    follows from more clauses too, and they would make a proof half as large again.
    """
    return [
        ("a", tuple(sorted([2 * x - 2 if x > 0 else -2 * x - 1 for x in step.clause])))
        for step in steps
        if step.clause
    ]


def pack(steps: Iterable[DratStep]) -> bytes:
    """Pack a proof deterministically; ValueError for one too large to be unpacked."""
    out = bytearray()
    for kind, lits in steps:
        out.append(_OPEN[kind])
        for lit in lits:
            code = lit + 2
            while code > 0x7F:
                out.append(code & 0x7F | 0x80)
                code >>= 7
            out.append(code)
        out.append(0)
    packed = lzma.compress(bytes(out), preset=6)
    if len(packed) > LARGEST_PACKED:
        raise ValueError(f"it has {len(packed)} packed bytes, of which {LARGEST_PACKED} could be read back")
    if len(out) > most(packed):
        raise ValueError(f"it has {len(out)} bytes, of which {most(packed)} could be read back")
    return packed


def most(packed: bytes) -> int:
    """The maximal number of bytes that a packed proof may unpack to."""
    return min(LARGEST_UNPACKED, _SMALL + _BEST_RATIO * len(packed))


def unpack(proof: bytes) -> list[DratStep]:
    """Unpack a proof; ValueError for a truncated, altered or memory-exhausting file."""
    try:
        data, whole = unpacked(proof, most(proof))
    except lzma.LZMAError as error:
        raise ValueError(f"it does not unpack: {error}") from error
    if not whole and len(data) >= most(proof):
        raise ValueError(f"its {len(proof)} bytes unpack to more than {most(proof)}")
    if not whole:
        raise ValueError("the file is cut off or goes on")
    return _steps(data)


def _steps(data: bytes) -> list[DratStep]:
    steps: list[DratStep] = []
    at, end = 0, len(data)
    while at < end:
        kind = _KIND.get(data[at])
        if kind is None:
            raise ValueError(f"step {len(steps) + 1} starts with byte {data[at]:#04x}")
        close = data.find(b"\0", at + 1)
        if close < 0:
            raise ValueError(f"step {len(steps) + 1} has no end")
        steps.append((kind, _literals(data[at + 1 : close], len(steps) + 1)))
        at = close + 1
    return steps


def _literals(data: bytes, number: int) -> tuple[int, ...]:
    lits = []
    code = shift = 0
    for byte in data:
        code |= (byte & 0x7F) << shift
        shift += 7
        if byte & 0x80:
            if shift >= 7 * _LONGEST:
                raise ValueError(f"step {number} has a literal of more than {_LONGEST} bytes")
            continue
        if code < 2:
            raise ValueError(f"step {number} has a literal of no variable")
        lits.append(code - 2)
        code = shift = 0
    if shift:
        raise ValueError(f"step {number} ends inside a literal")
    return tuple(lits)
