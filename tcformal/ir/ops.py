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
    #: The meaning as a Python expression, from which `meaning` and generated code are made.
    text: str
    #: (argument values, argument widths, params) -> result, before it is reduced to the width.
    meaning: Meaning
    #: Which argument order does not matter (used by structural hashing).
    commutative: bool = False


def _same(widths: Sequence[int], _params: Sequence[int]) -> int:
    first = widths[0]
    for width in widths:
        if width != first:
            raise WidthError(f"expected operands of one width, but got widths {list(widths)}")
    return first


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


# name, arity, params, width rule, meaning, commutative.  The meaning is a Python expression on the
# unsigned operand values {a} {b} {c}, their widths {wa} {wb} and the parameters {p} {q}; its value
# is reduced modulo 2^width.
_ROWS: tuple[tuple[str, int, int, WidthRule, str, bool], ...] = (
    ("const", 0, 2, _given, "{q}", False),
    ("input", 0, 2, _given, "{q}", False),
    ("not_", 1, 0, _same, "~{a}", False),
    ("and_", 2, 0, _same, "{a} & {b}", True),
    ("or_", 2, 0, _same, "{a} | {b}", True),
    ("xor", 2, 0, _same, "{a} ^ {b}", True),
    ("add_mod", 2, 0, _same, "{a} + {b}", True),
    ("sub_mod", 2, 0, _same, "{a} - {b}", False),
    ("neg_mod", 1, 0, _same, "-{a}", False),
    ("mul_expand", 2, 0, _sum, "{a} * {b}", True),
    ("shl_mod", 2, 0, _first, "{a} << {b} if {b} < {wa} else 0", False),
    ("lshr", 2, 0, _first, "{a} >> {b} if {b} < {wa} else 0", False),
    ("ashr", 2, 0, _first, "signed({a}, {wa}) >> min({b}, {wa})", False),
    ("eq", 2, 0, _truth, "{a} == {b}", True),
    ("ult", 2, 0, _truth, "{a} < {b}", False),
    ("ule", 2, 0, _truth, "{a} <= {b}", False),
    ("slt", 2, 0, _truth, "signed({a}, {wa}) < signed({b}, {wb})", False),
    ("sle", 2, 0, _truth, "signed({a}, {wa}) <= signed({b}, {wb})", False),
    ("ite", 3, 0, _choice, "{b} if {a} else {c}", False),
    ("concat", 2, 0, _sum, "{a} << {wb} | {b}", False),
    ("extract", 1, 2, _cut, "{a} >> {q}", False),
    ("zero_extend", 1, 1, _grow, "{a}", False),
    ("sign_extend", 1, 1, _grow, "signed({a}, {wa})", False),
)


def _row(name: str, arity: int, n_params: int, width: WidthRule, text: str, commutative: bool) -> Op:
    """One row of the operator table, with its meaning compiled."""
    names = {"a": "v[0]", "b": "v[1]", "c": "v[2]", "wa": "w[0]", "wb": "w[1]", "p": "p[0]", "q": "p[1]"}
    meaning = eval(f"lambda v, w, p: {text.format(**names)}", {"signed": signed, "min": min})
    return Op(name, arity, n_params, width, text, meaning, commutative)


#: The whole vocabulary, by name.
OPS: dict[str, Op] = {row[0]: _row(*row) for row in _ROWS}

#: Operators that stand for data given from outside or fixed; interpreters meet them as leaves.
LEAVES = frozenset({"const", "input"})


def apply_op(op: Op, values: Sequence[int], widths: Sequence[int], params: Sequence[int], width: int) -> int:
    """Evaluate one operator on unsigned integers; the result is masked to `width`."""
    return int(op.meaning(values, widths, params)) & ((1 << width) - 1)
