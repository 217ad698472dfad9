"""Proofs as files: the binary DRAT format, packed with xz.

A step is ("a" or "d", literals), added or deleted, with literals in the checker's own form: variable v is
2v − 2, its complement 2v − 1.
Source: WETZLER, README of drat-trim, "Binary DRAT proof format": a byte 61 or 64 hexadecimal, each literal x
as 2|x| + (x < 0) in groups of seven bits, lowest first, and a byte 0.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Sequence

Step = tuple[str, tuple[int, ...]]

#: Bytes of a proof that a solver may write.
LARGEST_PROOF = 1 << 31

#: Bytes that a packed proof may have, and an unpacked one.
LARGEST_PACKED = 1 << 28
LARGEST_UNPACKED = 1 << 28

#: How many times its packed size a proof may have: a bound against small files made to fill the memory.
#: Proofs of solvers are hard to pack: of 1,796 proofs, none was packed to less than a tenth.
_BEST_RATIO = 64
#: Bytes that every proof may have, whatever its packed size.
_SMALL = 1 << 16

#: Additions up to which a proof is kept without its deletions.  What follows by unit propagation follows
#: from more clauses too: deletions only save time, and more of it the longer the proof.
_SHORT = 50_000

#: Bytes that one literal may have.
_LONGEST = 8

_OPEN = {"a": 0x61, "d": 0x64}
_KIND = {code: kind for kind, code in _OPEN.items()}


def compact(steps: Sequence[Step]) -> list[Step]:
    """A proof that packs small: short ones without deletions, literals behind the first in order.

    The first literal of a step stays first: a definition is one of it.
    """
    additions = [step for step in steps if step[0] == "a"]
    kept = additions if len(additions) <= _SHORT else steps
    return [(kind, (*lits[:1], *sorted(lits[1:]))) for kind, lits in kept]


def pack(steps: Iterable[Step]) -> bytes:
    """A proof as it is kept; equal proofs give equal bytes.  ValueError for one too large to be read back."""
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
    if len(out) > most(packed):
        raise ValueError(f"it has {len(out)} bytes, of which {most(packed)} could be read back")
    return packed


def most(packed: bytes) -> int:
    """The bytes that a packed proof may unpack to."""
    return min(LARGEST_UNPACKED, _SMALL + _BEST_RATIO * len(packed))


def unpack(proof: bytes) -> list[Step]:
    """The steps of a packed proof; ValueError for a file cut off, altered, or made to fill the memory."""
    unpacker = lzma.LZMADecompressor(memlimit=1 << 28)
    try:
        data = unpacker.decompress(proof, max_length=most(proof))
    except lzma.LZMAError as error:
        raise ValueError(f"it does not unpack: {error}") from error
    if not unpacker.eof and len(data) >= most(proof):
        raise ValueError(f"its {len(proof)} bytes unpack to more than {most(proof)}")
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("the file is cut off or goes on")
    return _steps(data)


def _steps(data: bytes) -> list[Step]:
    steps: list[Step] = []
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
