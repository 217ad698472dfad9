#!/usr/bin/env python3
"""A device behind `tcformal … --device 'exec:python3 THIS_FILE'`: it answers dot products as JSON lines.

Put what computes them into `dot_product`.  What stands there works: a chain of multiply-adds, each rounded
to nearest, for binary16, bfloat16 and binary32.  Only the standard library is needed.
"""

from __future__ import annotations

import ctypes
import json
import math
import struct
import sys

# What it is, as kept beside its answers; more texts, such as a driver's version, may be added.
IDENTITY = {"device": "my device", "instruction": "chain of multiply-adds"}

# The formats that it takes, by operand: a, b and c, and d, the result.
TAKES = {"a": ("fp16", "bf16"), "b": ("fp16", "bf16"), "c": ("fp32",), "d": ("fp32",)}


def dot_product(
    formats: dict[str, str], a: list[int], b: list[int], c: int, scale_a: list[int], scale_b: list[int]
) -> int:
    """The encoding of d = a·b + c.  THE PLACE TO FILL IN: ask your device here.

    a, b: lists of encodings (integers); c: one encoding; scale_a, scale_b: lists, empty without scales;
    formats: the formats' names by operand, such as {"a": "fp16", …}.
    """
    total = value(formats["c"], c)
    for x, y in zip(a, b):  # noqa: B905
        product = value(formats["a"], x) * value(formats["b"], y)
        total = ctypes.c_float(total + product).value
    if math.isnan(total):
        return 0x7FC00000
    return int.from_bytes(struct.pack("<f", total), "little")


def value(name: str, word: int) -> float:
    """The value of an encoding as a float."""
    if name == "bf16":
        name, word = "fp32", word << 16
    integer, number = {"fp16": ("<H", "<e"), "fp32": ("<I", "<f")}[name]
    return float(struct.unpack(number, struct.pack(integer, word))[0])


def main() -> None:
    """The protocol tcformal-probe/1: a request, then dot products, each answered in a line."""
    request = json.loads(sys.stdin.readline())
    formats = request["formats"]
    strange = [f"{x} in {formats[x]}" for x in TAKES if formats[x] not in TAKES[x]]
    if strange or request.get("scale_format"):
        answer({"error": f"this device does not take {', '.join(strange) or 'scales'}"})
        return
    answer(IDENTITY)
    for line in sys.stdin:
        given = json.loads(line)
        words = {name: [int(x, 16) for x in given.get(name, [])] for name in ("a", "b", "scale_a", "scale_b")}
        d = dot_product(formats, c=int(given["c"], 16), **words)
        answer({"id": given["id"], "d": hex(d)})


def answer(data: object) -> None:
    """Write one line, and hand it over."""
    sys.stdout.write(json.dumps(data) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
