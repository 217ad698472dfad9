"""The operator table: every operator of the vocabulary, its arity, width rule and meaning, on one line.

All values are bit-vectors: unsigned integers of a fixed width.  Signedness is in the operator
(`slt`, `ashr`, `sign_extend`), never in the value.  A truth value is a bit-vector of width 1.
Whatever can lose bits by wrapping carries `_mod` in its name.  Parameters (`params`) are Python
integers known while the circuit is built; arguments (`args`) are data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tcformal.errors import WidthError

WidthRule = Callable[[Sequence[int], Sequence[int]], int]
Meaning = Callable[[Sequence[int], Sequence[int], Sequence[int]], int]


@dataclass(frozen=True, slots=True)
class Op:
    """One row of the operator table."""

    name: str
    #: Number of argument nodes.
    arity: int
    #: Number of integer parameters.
    n_params: int
    #: (argument widths, params) -> result width; raises WidthError when the operands do not fit.
    width: WidthRule
    #: (argument values, argument widths, params) -> unsigned result, before masking to the width.
    meaning: Meaning
    #: Which argument order does not matter (used by structural hashing).
    commutative: bool = False


def _same(widths: Sequence[int], _params: Sequence[int]) -> int:
    if len(set(widths)) != 1:
        raise WidthError(f"expected operands of one width, but got widths {list(widths)}")
    return widths[0]


def _truth(widths: Sequence[int], params: Sequence[int]) -> int:
    _same(widths, params)
    return 1


def _first(widths: Sequence[int], _params: Sequence[int]) -> int:
    return widths[0]


def _choice(widths: Sequence[int], _params: Sequence[int]) -> int:
    if widths[0] != 1 or widths[1] != widths[2]:
        raise WidthError(
            f"expected a condition of width 1 and branches of one width, but got widths {list(widths)}"
        )
    return widths[1]


def _cut(widths: Sequence[int], params: Sequence[int]) -> int:
    high, low = params
    if not 0 <= low <= high < widths[0]:
        raise WidthError(
            f"expected bits high >= low inside width {widths[0]}, but got high={high}, low={low}"
        )
    return high - low + 1


def _grow(widths: Sequence[int], params: Sequence[int]) -> int:
    if params[0] < 0:
        raise WidthError(f"expected a growth of at least 0 bits, but got {params[0]}")
    return widths[0] + params[0]


def _sum(widths: Sequence[int], _params: Sequence[int]) -> int:
    return sum(widths)


def _given(_widths: Sequence[int], params: Sequence[int]) -> int:
    width = params[0]
    if width < 1:
        raise WidthError(f"expected a width of at least 1, but got {width}")
    return width


def signed(value: int, width: int) -> int:
    """Read an unsigned `value` of `width` bits as two's complement."""
    return value - (1 << width) if value >> (width - 1) else value


# name, arity, params, width rule, meaning(values v, widths w, params p), commutative
_ROWS: tuple[tuple[str, int, int, WidthRule, Meaning, bool], ...] = (
    ("const", 0, 2, _given, lambda v, w, p: p[1], False),
    ("input", 0, 2, _given, lambda v, w, p: p[1], False),
    ("not_", 1, 0, _same, lambda v, w, p: ~v[0], False),
    ("and_", 2, 0, _same, lambda v, w, p: v[0] & v[1], True),
    ("or_", 2, 0, _same, lambda v, w, p: v[0] | v[1], True),
    ("xor", 2, 0, _same, lambda v, w, p: v[0] ^ v[1], True),
    ("add_mod", 2, 0, _same, lambda v, w, p: v[0] + v[1], True),
    ("sub_mod", 2, 0, _same, lambda v, w, p: v[0] - v[1], False),
    ("neg_mod", 1, 0, _same, lambda v, w, p: -v[0], False),
    ("mul_expand", 2, 0, _sum, lambda v, w, p: v[0] * v[1], True),
    ("shl_mod", 2, 0, _first, lambda v, w, p: v[0] << v[1] if v[1] < w[0] else 0, False),
    ("lshr", 2, 0, _first, lambda v, w, p: v[0] >> v[1] if v[1] < w[0] else 0, False),
    ("ashr", 2, 0, _first, lambda v, w, p: signed(v[0], w[0]) >> min(v[1], w[0]), False),
    ("eq", 2, 0, _truth, lambda v, w, p: v[0] == v[1], True),
    ("ult", 2, 0, _truth, lambda v, w, p: v[0] < v[1], False),
    ("ule", 2, 0, _truth, lambda v, w, p: v[0] <= v[1], False),
    ("slt", 2, 0, _truth, lambda v, w, p: signed(v[0], w[0]) < signed(v[1], w[1]), False),
    ("sle", 2, 0, _truth, lambda v, w, p: signed(v[0], w[0]) <= signed(v[1], w[1]), False),
    ("ite", 3, 0, _choice, lambda v, w, p: v[1] if v[0] else v[2], False),
    ("concat", 2, 0, _sum, lambda v, w, p: v[0] << w[1] | v[1], False),
    ("extract", 1, 2, _cut, lambda v, w, p: v[0] >> p[1], False),
    ("zero_extend", 1, 1, _grow, lambda v, w, p: v[0], False),
    ("sign_extend", 1, 1, _grow, lambda v, w, p: signed(v[0], w[0]), False),
)

#: The whole vocabulary, by name.
OPS: dict[str, Op] = {row[0]: Op(*row) for row in _ROWS}

#: Operators that stand for data given from outside or fixed; interpreters meet them as leaves.
LEAVES = frozenset({"const", "input"})


def apply_op(op: Op, values: Sequence[int], widths: Sequence[int], params: Sequence[int], width: int) -> int:
    """The value of one operator on unsigned integers, masked to the result `width`."""
    return int(op.meaning(values, widths, params)) & ((1 << width) - 1)
