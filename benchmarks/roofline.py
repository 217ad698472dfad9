"""How fast a product kernel could be: the instructions of its loop, and how many this processor issues.

Both are read off machine code: instructions of a loop are counted in what the compiler wrote, and the rate is
that of a loop of independent operations on the widest registers, whose instructions are counted likewise.
"""

from __future__ import annotations

import ctypes
import re
import time
from functools import cache
from typing import TYPE_CHECKING, Any

from tcformal.backends.lanes import WORD
from tcformal.backends.machine import Module, assembly, vector_bits
from tcformal.errors import InputError

if TYPE_CHECKING:  # whose code is read
    from tcformal.simulation.kernels.gemm import Gemm

_LABEL = re.compile(r"(\.?L?\w+):")
#: Independent chains of the loop that measures the rate: more than any processor has operations under way.
_CHAINS = 12
_ROUNDS, _TRIES = 1 << 22, 5


def innermost(text: str, function: str) -> list[str]:
    """The instructions of the longest loop of a function that holds no other loop, its branch back included.

    Errors: InputError for a function that is not in the assembly, or has no loop.
    """
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if re.match(rf"_?{function}:", line)]
    if not starts:
        raise InputError(f"expected the function {function} in the assembly, but got none")
    places: dict[str, int] = {}
    found: list[str] = []
    loops: list[tuple[int, int]] = []
    for line in lines[starts[0] + 1 :]:
        label = _LABEL.match(line)
        if label is not None:
            if label[1].startswith((".Lfunc_end", "Lfunc_end")):
                break
            places[label[1]] = len(found)
            continue
        words = re.split(r"\s#|\s//|\s;", line, maxsplit=1)[0].split()
        if not words or words[0].startswith("."):
            continue
        found.append(" ".join(words))
        if words[-1] in places:
            loops.append((places[words[-1]], len(found)))
    inner = [
        x for x in loops if not any(y != x and x[0] <= y[0] and y[1] <= x[1] for y in loops) and x[1] > x[0]
    ]
    if not inner:
        raise InputError(f"expected a loop in the function {function}, but got none")
    start, stop = max(inner, key=lambda x: x[1] - x[0])
    return found[start:stop]


def instructions_per_multiply_add(kernels: Gemm) -> float:
    """Instructions of the loop over steps, for finite operands, for each multiply–add that it makes."""
    text, shape = kernels.text("finite")
    return len(innermost(assembly(text), "multiply")) / (shape.rows * shape.lanes * shape.k)


@cache
def issue_rate() -> float:
    """Instructions on the widest registers that one core of this processor ran in a second, measured now."""
    lanes = vector_bits() // WORD
    kind = f"<{lanes} x i32>"
    first = "\n".join(
        f"  %x{i} = phi {kind} [ splat (i32 {i + 1}), %entry ], [ %z{i}, %each ]" for i in range(_CHAINS)
    )
    body = "\n".join(
        f"  %y{i} = add {kind} %x{i}, %a\n  %z{i} = xor {kind} %y{i}, %b" for i in range(_CHAINS)
    )
    total = "\n".join(f"  %t{i + 1} = add {kind} %t{i}, %z{i}" for i in range(_CHAINS))
    text = f"""define void @issue(ptr %p, i64 %rounds) {{
entry:
  %a = load {kind}, ptr %p, align 4
  %q = getelementptr i8, ptr %p, i64 {vector_bits() // 8}
  %b = load {kind}, ptr %q, align 4
  br label %each
each:
  %round = phi i64 [ 0, %entry ], [ %next, %each ]
{first}
{body}
  %next = add i64 %round, 1
  %more = icmp ult i64 %next, %rounds
  br i1 %more, label %each, label %end
end:
  %t0 = add {kind} %a, %b
{total}
  store {kind} %t{_CHAINS}, ptr %p, align 4
  ret void
}}"""
    operations = 2 * _CHAINS
    code: Any = Module(text, {"issue": (ctypes.c_void_p, ctypes.c_int64)})
    memory = (ctypes.c_uint32 * (2 * lanes))(*range(1, 2 * lanes + 1))
    best = float("inf")
    for _ in range(_TRIES):
        start = time.thread_time()
        code.issue(ctypes.addressof(memory), _ROUNDS)
        best = min(best, time.thread_time() - start)
    return operations * _ROUNDS / best
