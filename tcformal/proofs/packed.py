"""Proofs for the kernel as text: JSON, packed or plain."""

from __future__ import annotations

import base64
import json
import lzma
from collections.abc import Callable, Sequence
from typing import Any

from tcformal.errors import ProofError
from tcformal.files import packed as files

#: The most bytes that a proof may unpack to.
LARGEST = 1 << 26


def packed(steps: Sequence[Sequence[Any]], last: Sequence[int]) -> str:
    """The steps of a proof and the numbers of its conclusions as text: `plain`, packed with xz."""
    return base64.b85encode(lzma.compress(plain(steps, last).encode(), preset=9)).decode()


def plain(steps: Sequence[Sequence[Any]], last: Sequence[int]) -> str:
    """The steps of a proof and the numbers of its conclusions as JSON.

    Numbers of what the proof itself makes are counted back from each step, so that what is proved once more
    of other nodes looks alike and packs well; nodes below `base` keep theirs.
    """
    met = [-1]

    def seen(x: int, _: int) -> int:
        met.append(x)
        return x

    _renumbered(steps, seen, lambda x, _: x)
    base = max(0, max(met) + 1 - sum(x[0] == "make" for x in steps))
    back = _renumbered(
        steps, lambda x, made: x if x < base else x - base - made, lambda x, made: x if x < 2 else x - made
    )
    return json.dumps({"base": base, "steps": back, "last": last}, separators=(",", ":"))


def unpacked(text: str) -> tuple[list[Any], list[int]]:
    """What `packed` was given, from its text or the plain one; ProofError for other text, or too much."""
    try:
        data = json.loads(plain_text(text))
        steps, base = list(data["steps"]), data.get("base")
        if base is not None:
            steps = _renumbered(
                steps, lambda x, made: x if x >= 0 else x + base + made,
                lambda x, made: x if x >= 0 else x + made,
            )  # fmt: skip
        return steps, list(data["last"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ProofError(f"expected a packed proof, but got text that is not one: {error}") from error


def plain_text(text: str) -> str:
    """The JSON of a packed proof, or of one that is plain already; ProofError for too much of it.

    Proofs of many units are much alike: plain, and packed together, they take a third of the space.
    """
    if text.startswith('{"'):
        if len(text) > LARGEST:
            raise ProofError(f"expected a proof of at most {LARGEST} characters, but got {len(text)}")
        return text
    try:
        found, whole = files.unpacked(base64.b85decode(text), LARGEST)
        if not whole:
            raise ProofError(f"expected a whole proof of at most {LARGEST} bytes, but got another")
        return found.decode()
    except (ValueError, lzma.LZMAError) as error:
        raise ProofError(f"expected a packed proof, but got text that is not one: {error}") from error


#: What a number of a node or of a theorem becomes, given how many steps before made one.
_Moved = Callable[[int, int], int]


def _renumbered(steps: Sequence[Sequence[Any]], node: _Moved, theorem: _Moved) -> list[list[Any]]:
    """Steps of the kernel with other numbers of nodes and theorems."""
    nodes, proved, made = 0, 0, list[list[Any]]()

    def n(x: int) -> int:
        return node(x, nodes)

    def t(x: int) -> int:
        return theorem(x, proved)

    def row(data: Sequence[Any]) -> list[Any]:
        return [*data[:3], [n(x) for x in data[3]], [[n(x), c] for x, c in data[4]]]

    for rule, *data in steps:
        if rule == "make":
            made.append([rule, data[0], [n(x) for x in data[1]], data[2]])
            nodes += 1
            continue
        changed: list[Any] = data
        if rule == "assume":
            changed = [n(data[0])]
        elif rule in ("cases", "refute"):
            changed = [*(t(x) for x in data[:-1]), n(data[-1])]
        elif rule == "lemma":
            changed = [n(data[0]), [t(x) for x in data[1]], [n(x) for x in data[2]]]
        elif rule == "read":
            changed = [n(data[0]), *(t(x) for x in data[1:])]
        elif rule in ("fact", "power"):
            changed = [t(data[0])]
        elif rule == "arith":
            changed = [[[[row(x) for x in p], [t(x) for x in of]] for p, of in data[0]]]
        made.append([rule, *changed])
        proved += 1
    return made
