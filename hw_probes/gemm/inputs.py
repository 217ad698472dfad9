"""The operands of recorded matrix products, made again from nothing but their shapes and formats.

Every number comes from raw words of PCG64, whose stream NumPy keeps the same between releases.  A [M, K]
and B [N, K], so that the product is A·Bᵀ; its first rows of A ask for the order of the sum, as FPRev does:
a large number at one place, its negative at another, and small ones that are lost beside the large.
"""

from __future__ import annotations

import base64
import hashlib
import lzma
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[Any]

#: Of each format: width, fraction bits, bias.
FORMATS = {
    "fp64": (64, 52, 1023), "fp32": (32, 23, 127), "tf32": (32, 23, 127), "bf16": (16, 7, 127),
    "fp16": (16, 10, 15), "e4m3": (8, 3, 7), "e5m2": (8, 2, 15),
}  # fmt: skip
#: Exponents of a mask's large numbers and of its small ones.
MASK = {
    "fp64": (200, -200), "fp32": (60, -60), "tf32": (60, -60), "bf16": (60, -60), "fp16": (15, -14),
    "e4m3": (8, -6), "e5m2": (15, -14),
}  # fmt: skip
#: Exponents of a scan's large numbers and of its small ones, where every place of k has a term: far enough
#: apart that a sum of all small terms is lost beside the large one in 25 fraction bits.
PAIRS = {"fp64": (200, -200), "fp32": (60, -60), "tf32": (60, -60), "bf16": (60, -60), "fp16": (15, -24)}
#: Where few places have one: exponents of the large number, of what it is multiplied with, of the least
#: mark in A and of the marks in B; how many marks a result holds.
SETS = {
    "fp64": ((200, 0, -100, -100), 24), "fp32": ((60, 0, -30, -30), 24), "tf32": ((60, 0, -30, -30), 24),
    "bf16": ((60, 0, -30, -30), 24), "fp16": ((15, 15, -24, -14), 24), "e4m3": ((8, 8, -9, -9), 8),
}  # fmt: skip
#: The same where fp16 has to hold the large term and the marks too.
NARROW_FP16 = (15, 0, -12, -12)
#: Where one operand is ones and the other holds all: exponents of the large number and of the least mark.
ROWS = {"fp64": (200, -100), "fp32": (60, -30), "tf32": (60, -30), "bf16": (60, -30), "fp16": (15, -24)}
#: The same for logits that are scaled by 2^-3, so that one mark is worth 1.
LOGITS = (60, 3)
#: Rows of B that are all ones, at most half of them.
ONES = 16
#: How matrices of results are packed: few distinct bytes, so that no byte before tells of the next.
_LZMA = [{"id": lzma.FILTER_LZMA1, "preset": 9, "dict_size": 1 << 20, "lc": 0, "lp": 0, "pb": 0}]
#: The words of each width.
UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


def _word(fmt: str, sign: int, e: int) -> int:
    """±2^e, subnormal where it has to be."""
    width, t, bias = FORMATS[fmt]
    magnitude = (e + bias) << t if e > -bias else 1 << (e + bias - 1 + t)
    return (sign << (width - 1)) | magnitude


def near(fmt: str, rows: int, k: int, seed: int) -> Words:
    """Random signs and fractions, exponents from -6 to 1."""
    width, t, bias = FORMATS[fmt]
    raw = np.random.PCG64(seed).random_raw(rows * k).reshape(rows, k)
    sign = raw >> np.uint64(63)
    e = ((raw >> np.uint64(56)) & np.uint64(7)) + np.uint64(bias - 6)
    fraction = raw & np.uint64((1 << t) - 1)
    return (sign << np.uint64(width - 1)) | (e << np.uint64(t)) | fraction


def operand(fmt: str, which: str, rows: int, k: int) -> Words:
    """Raw words [rows, k] of `a` or `b`.

    The first quarter of A's rows are masks: 2^large at p, -2^large at q, 2^small elsewhere.  The first
    rows of B are ones.
    """
    words = near(fmt, rows, k, 1 if which == "a" else 2)
    if which == "b":
        words[: min(ONES, rows // 2)] = _word(fmt, 0, 0)
    elif k > 1 and rows >= 4:
        large, small = MASK[fmt]
        masks = rows // 4
        draws = np.random.PCG64(7).random_raw(2 * masks)
        words[:masks] = _word(fmt, 0, small)
        for i in range(masks):
            p = int(draws[2 * i] % np.uint64(k))
            q = (p + 1 + int(draws[2 * i + 1] % np.uint64(k - 1))) % k
            words[i, p], words[i, q] = _word(fmt, 0, large), _word(fmt, 1, large)
    return words.astype(UNSIGNED[FORMATS[fmt][0]])


def _scan_of(p: Mapping[str, Any]) -> tuple[tuple[int, int, int, int], int]:
    """Exponents of the large number in A, its partner in B, the least marks of A and B; marks per result."""
    if p["scan"] == "pairs":
        large, small = PAIRS[p["a"]]
        return (large, small, small, small), 0
    narrow = p["d"] in ("fp16", "bf16")
    exponents, marks = SETS[p["a"]]
    if p["a"] == p["d"] == "fp16":
        exponents = NARROW_FP16
    return exponents, 8 if narrow else marks


def places(p: Mapping[str, Any]) -> dict[str, Any]:
    """Where a scan has its large numbers, and which marks each row asks for.

    `p` [rows] and `q` [columns]: the places of k with the large number and its negative.  `marks` [rows]:
    the places of k whose terms are bits of the row's results, the lowest bit first; no marks where a
    result counts the terms that were not lost.
    """
    m, n, k = p["m"], p["n"], p["k"]
    if p["scan"] == "pairs":
        return {"p": _cycle(_spread(k, m), m), "q": _cycle(_spread(k, n), n), "marks": [()] * m}
    bits = _scan_of(p)[1]
    for g in (4, 8, 16, 32, 64, 128, 256):
        groups = (k - 3) // g + 1
        windows = -(-groups // bits)
        if windows <= max(1, m // 8):
            break
    rows, columns = _evenly(groups, max(1, m // windows)), _evenly(groups, n)
    marks = [tuple(g * j + 2 for j in range(w, min(w + bits, groups))) for w in range(0, groups, bits)]
    return {
        "p": [g * rows[r // windows % len(rows)] for r in range(m)],
        "q": _cycle([g * i + 1 for i in columns], n),
        "marks": [marks[r % windows] for r in range(m)],
        "groups": (g, groups),
    }


def row_places(p: Mapping[str, Any]) -> dict[str, Words]:
    """Of a scan whose rows are all in one operand: the places of k that each of its rows asks for.

    `p` and `q` [rows]: the large number and its negative; `marks` [rows, bits]: the terms, the lowest bit
    first, of which those at p or q are not there; no marks where a result counts what was not lost.
    """
    rows, k = p["m" if p["tall"] == "a" else "n"], p["k"]
    if p["scan"] == "row pairs":
        q = _spread(k, rows)
        bases = _spread(k, max(1, rows // len(q)))
        both = [(bases[r // len(q) % len(bases)], q[r % len(q)]) for r in range(rows)]
        return {
            "p": np.array([x for x, _ in both]), "q": np.array([x for _, x in both]),
            "marks": np.empty((rows, 0), np.int64),
        }  # fmt: skip
    bits = min(k, 24 if p["d"] in ("fp32", "fp64") and p["a"] != "fp16" else 8)
    bits = 1 if p["scan"] == "logits" else bits
    draws = np.random.PCG64(11).random_raw(4 * rows).reshape(rows, 4)
    first, second, start, step = (draws[:, i] >> np.uint64(8) for i in range(4))
    most = max(1, (k // bits).bit_length())
    gap = np.uint64(1) << (step % np.uint64(most))
    gap[gap * np.uint64(bits) > k] = 1
    wide = np.uint64(k)
    x = first % wide
    marks = (start[:, None] % wide + gap[:, None] * np.arange(bits, dtype=np.uint64)) % wide
    y = (x + np.uint64(1) + second % np.uint64(max(1, k - 1))) % wide
    return {"p": x.astype(np.int64), "q": y.astype(np.int64), "marks": marks.astype(np.int64)}


def row_operand(p: Mapping[str, Any], which: str) -> Words:
    """Raw words of A [M, K] or B [N, K] of a scan whose rows are all in one of them; the other is ones."""
    fmt, k = p[which], p["k"]
    rows = p["m" if which == "a" else "n"]
    unsigned = UNSIGNED[FORMATS[fmt][0]]
    if which != p["tall"]:
        return np.full((rows, k), _word(fmt, 0, 0), unsigned)
    counted = p["scan"] == "row pairs"
    large, small = LOGITS if p["scan"] == "logits" else PAIRS[fmt] if counted else ROWS[fmt]
    words = np.full((rows, k), _word(fmt, 0, small) if counted else 0, unsigned)
    found, every = row_places(p), np.arange(rows)
    for i in range(found["marks"].shape[1]):
        words[every, found["marks"][:, i]] = _word(fmt, 0, small + i)
    words[every, found["p"]] = _word(fmt, 0, large)
    words[every, found["q"]] = _word(fmt, 1, large)
    return words


def scales(kind: str, which: str, rows: int, k: int, *, ones: bool = False) -> Words:
    """fp32 words of the scales of A or B: [1, 1] of `tensor`, [rows, 1] of `rows`, else one for a block.

    `1x128` and `128x128`: rows and products of k of a block.  Random fractions, exponents from -4 to 3.
    """
    if kind == "tensor":
        shape = (1, 1)
    elif kind == "rows":
        shape = (rows, 1)
    else:
        high, wide = (int(x) for x in kind.split("x"))
        shape = (-(-rows // high), -(-k // wide))
    if ones:
        return np.full(shape, 0x3F800000, np.uint32)
    raw = np.random.PCG64(21 if which == "a" else 22).random_raw(shape[0] * shape[1]).reshape(shape)
    e = ((raw >> np.uint64(56)) & np.uint64(7)) + np.uint64(127 - 4)
    return ((e << np.uint64(23)) | (raw & np.uint64((1 << 23) - 1))).astype(np.uint32)


def _cycle(places: list[int], count: int) -> list[int]:
    return [places[i % len(places)] for i in range(count)]


def _evenly(count: int, most: int) -> list[int]:
    """At most so many of range(count), evenly spread, both ends among them."""
    if most >= count:
        return list(range(count))
    return [i * (count - 1) // max(1, most - 1) for i in range(most)]


def _spread(k: int, most: int) -> list[int]:
    """At most so many places of k: all of them, or both sides of multiples of 256, 128, …, and the ends."""
    if most >= k:
        return list(range(k))
    steps = (256, 128, 64, 32, 16, 8, 4, 2, 1)
    found = (x for step in steps for start in range(0, k, step) for x in (start, abs(start - 1)))
    return sorted(list(dict.fromkeys([0, k - 1, *found]))[:most])


def scan_operand(p: Mapping[str, Any], which: str) -> Words:
    """Raw words of A [M, K], B [N, K] or C [N, M] of a scan for the order of a sum.

    Row r of A has 2^large at p_r, column c of B its negative at q_c, so that the result sums a large
    number and its negative, and small terms elsewhere, of which those are lost that meet either alone.
    In `pairs` every other term is the same small one.  In `sets` few places have a term, distinct powers
    of two, which are bits of the result.  In `with c` the large number is C.
    """
    if p["scan"].startswith("row") or p["scan"] == "logits":
        return row_operand(p, which)
    (large, partner, small_a, small_b), _ = _scan_of(p)
    m, n, k, found = p["m"], p["n"], p["k"], places(p)
    fmt = p[which if which != "c" else "d"]
    if which == "c":
        return np.full((n, m), _word(fmt, 0, large + partner), UNSIGNED[FORMATS[fmt][0]])
    pairs = p["scan"] == "pairs"
    words = np.full(
        (m if which == "a" else n, k), _word(fmt, 0, small_a) if pairs else 0, UNSIGNED[FORMATS[fmt][0]]
    )
    if which == "a":
        if not pairs:
            g, groups = found["groups"]
            words[:, 1 : g * groups : g] = _word(fmt, 0, partner)
            for r, marks in enumerate(found["marks"]):
                words[r, list(marks)] = [_word(fmt, 0, small_a + i) for i in range(len(marks))]
        if p["scan"] != "with c":
            words[np.arange(m), found["p"]] = _word(fmt, 0, large)
    else:
        if not pairs:
            g, groups = found["groups"]
            words[:, 0 : g * groups : g] = _word(fmt, 0, partner)
            words[:, 2 : g * groups : g] = _word(fmt, 0, small_b)
        words[np.arange(n), found["q"]] = _word(fmt, 1, large)
    return words


def packed(d: Words) -> str:
    """A matrix of raw words as text: how many words there are, each once, and the place of each element's.

    Packed as LZMA without a header, in base 85.
    """
    words, places = np.unique(d, return_inverse=True)
    plain = b"".join(
        (len(words).to_bytes(4, "little"), words.tobytes(), places.astype(_place(len(words))).tobytes())
    )
    return base64.b85encode(lzma.compress(plain, lzma.FORMAT_RAW, filters=_LZMA)).decode()


def unpacked(text: str, shape: tuple[int, int], width: int) -> Words:
    """The matrix that `packed` wrote."""
    plain = lzma.decompress(base64.b85decode(text), lzma.FORMAT_RAW, filters=_LZMA)
    count, start = int.from_bytes(plain[:4], "little"), 4
    words = np.frombuffer(plain, UNSIGNED[width], count, start)
    places = np.frombuffer(plain, _place(count), offset=start + words.nbytes)
    return words[places].reshape(shape)


def _place(count: int) -> type[np.unsignedinteger[Any]]:
    """The narrowest type of the places of so many words."""
    return UNSIGNED[8 if count <= 1 << 8 else 16 if count <= 1 << 16 else 32]


def digest(d: Words) -> str:
    """The first half of the SHA-256 of a result's raw words, row by row."""
    return hashlib.sha256(np.ascontiguousarray(d).tobytes()).hexdigest()[:32]


def sample(d: Words) -> str:
    """Some results as hex: at most 32 masks against ones, then 8 by 8 results of random numbers."""
    m, n = d.shape
    ones = min(ONES, n // 2)
    words = [*d[: min(32, m // 4), 0], *d[m // 4 : m // 4 + 8, ones : ones + 8].ravel()]
    if m < 8:
        words = [*d[0, :96]]
    return "".join(f"{int(x):0{d.itemsize * 2}x}" for x in words)
