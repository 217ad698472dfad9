"""The functions of the language of programs by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tcformal.checks import check_int
from tcformal.programs import functions, loops

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "convert": functions.convert, "add": functions.add, "sub": functions.sub, "mul": functions.mul,
    "fma": functions.fma, "scale": functions.scale, "split": functions.split, "call": functions.call,
    "div": functions.div, "magnitude": functions.magnitude,
    "headroom": functions.headroom, "len": functions.length, "largest": functions.largest,
    "root": functions.root, "min": functions.least,
    "blocks": loops.blocks, "parts": loops.parts, "elements": loops.elements, "chain": loops.chain,
    "pairwise": loops.pairwise,
    "range": lambda builder, *ends: range(*(check_int("an end of range", x) for x in ends)),
}  # fmt: skip
