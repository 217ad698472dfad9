"""For which numbers of rows the order of a row's sum changes, of products made here and of NumPy's own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from identification.test_callable_products import chain, lanes, parts_at_random
from tcformal import DeviceError, InputError, batch_invariance
from tcformal.cli import main
from tcformal.identification.batch_invariance import parted
from tcformal.identification.sum_chains import SumChain

Array = NDArray[Any]
FP32 = "fp32,fp32,fp32"


def backward(a: Array, b: Array) -> Array:
    return chain(np.ascontiguousarray(a[:, ::-1]), np.ascontiguousarray(b[::-1]))


def fused(a: Array, b: Array) -> Array:
    """The order of `chain`, with one rounding for each product and its sum."""
    d = np.zeros((len(a), b.shape[1]), np.float32)
    for k in range(len(b)):
        d = (a[:, [k]].astype(float) * b[k].astype(float) + d).astype(np.float32)
    return d


def from_five(other: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """The first four rows of five or more are computed otherwise."""

    def product(a: Array, b: Array) -> Array:
        d = chain(a, b)
        if len(a) > 4:
            d[:4] = other(a[:4], b)
        return d

    return product


def test_a_product_with_one_order_is_batch_invariant() -> None:
    found = batch_invariance(chain, FP32, (3, 12), range(1, 9))
    assert found.invariant
    assert (found.changes, found.varying, len(found.orders)) == ((), (), 1)
    assert str(found).startswith("BATCH INVARIANT: for M = 1..8 a row")
    assert "k from 0 to 11" in found.orders[0].summed


@pytest.mark.parametrize(("other", "pair", "sizes"), [
    (lanes, "k = 0 and k = 1", (2, 6)), (backward, "k = 0 and k = 1", (2, 12)),
])  # fmt: skip
def test_the_rows_and_the_products_between_which_an_order_changes(
    other: Any, pair: str, sizes: tuple[int, int]
) -> None:
    found = batch_invariance(from_five(other), FP32, (3, 12), range(1, 9))
    assert not found.invariant
    assert found.changes == (5,)
    first, second = found.orders
    assert {m: rows for m, rows in first.rows.items() if m < 7} == {
        1: (0,), 2: (0, 1), 3: (0, 1, 2), 4: (0, 1, 2, 3), 5: (4,), 6: (4, 5),
    }  # fmt: skip
    assert set(second.rows.values()) == {(0, 1, 2, 3)}
    text = str(found)
    assert text.startswith("NOT BATCH INVARIANT: the order of a row's sum changes at M = 5 (")
    assert (
        f"parts from A between {pair}: the first sum with both has {sizes[1]} products, in A {sizes[0]}"
        in text
    )
    assert found.record()["orders"][1]["rows"][0] == {"m": 5, "rows": [0, 1, 2, 3]}


def test_columns_in_another_order_are_named() -> None:
    def product(a: Array, b: Array) -> Array:
        d = chain(a, b)
        if len(a) == 3:
            d[:, -1] = lanes(a, b)[:, -1]
        return d

    found = batch_invariance(product, FP32, (4, 12), range(1, 5))
    assert found.changes == (3, 4)
    assert "columns 0 to 2: k from 0 to 11" in found.orders[1].summed


def test_another_arithmetic_in_the_same_order_is_no_other_order() -> None:
    found = batch_invariance(from_five(fused), FP32, (3, 12), range(1, 7))
    assert found.changes == (5,)
    assert "masks show the order of A" in str(found)


def test_results_that_change_from_call_to_call_are_no_batch() -> None:
    found = batch_invariance(parts_at_random(4), FP32, (2, 16), range(1, 4))
    assert not found.invariant
    assert found.varying
    assert str(found).startswith("NON-DETERMINISTIC: at M = ")


def test_numpys_own_product_is_told_as_it_is() -> None:
    """Fresh operands: rows in one order have the same results, those in two orders have others."""
    k, n, rows = 48, 16, range(1, 10)
    found = batch_invariance(np.matmul, FP32, (n, k), rows)
    rng = np.random.default_rng(8)
    x, b = rng.standard_normal((200, k), np.float32), rng.standard_normal((k, n), np.float32)
    x[:, k // 2 :] = -x[:, : k // 2]
    b[k // 2 :] = b[: k // 2]
    order = rng.permutation(k)
    x, b = x[:, order], b[order]
    made = {m: [np.matmul(np.repeat(y[None], m, 0), b) for y in x] for m in rows}
    words: list[bytes] = []
    for one in found.orders:
        every = {
            np.stack([d[i] for d in made[m]]).tobytes() for m, places in one.rows.items() for i in places
        }
        assert len(every) == 1
        words += every
    assert len(set(words)) == len(found.orders)
    assert sum(len(places) for x in found.orders for places in x.rows.values()) == sum(rows)


def test_where_orders_part() -> None:
    one = SumChain((0, 1, 2, 3))
    pairs = SumChain((), (SumChain((0, 1)), SumChain((2, 3))))
    assert parted(one, one) is None
    assert parted(one, pairs) == (0, 2, (3, 4))
    assert parted(pairs, SumChain((3, 2, 1, 0))) == (0, 1, (2, 4))


@pytest.mark.parametrize(
    ("function", "formats", "sides", "rows", "kind", "sentence"),
    [
        (chain, "fp32,fp32", (2, 4), (1, 2), InputError, "^expected three formats"),
        (chain, FP32, (0, 4), (1, 2), InputError, "^expected an integer"),
        (chain, FP32, (2, 4), (2, 1), InputError, "^expected ascending numbers of rows"),
        (chain, FP32, (2, 4), (), InputError, "^expected ascending numbers of rows"),
        (chain, FP32, (2, 4), (0, 1), InputError, "^expected an integer"),
        (lambda a, b: a, FP32, (2, 4), (1, 2), DeviceError, "^expected a product of shape"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(
    function: Any,
    formats: str,
    sides: tuple[int, int],
    rows: Sequence[int],
    kind: type[Exception],
    sentence: str,
) -> None:
    with pytest.raises(kind, match=sentence):
        batch_invariance(function, formats, sides, rows)


def asked(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["identify-product", *words, "--formats", FP32])
    return done.exit_code, done.output


def test_the_command_asks_numpy_for_every_number_of_rows() -> None:
    code, out = asked("numpy", "--shape", "1,4,24", "--rows", "2..2")
    assert (code, out.partition(":")[0]) == (0, "BATCH INVARIANT")
    code, out = asked("numpy", "--shape", "1,4,24", "--rows", "1..3", "--json")
    (found,) = json.loads(out)["products"]
    assert code == (0 if found["invariant"] else 1)
    assert found["rows"] == [1, 2, 3]


@pytest.mark.parametrize("rows", ["3..2", "0..4", "1-4", "", "1..", "9" * 5000, "1..99999"])
def test_the_command_refuses_other_rows(rows: str) -> None:
    code, out = asked("numpy", "--shape", "1,4,24", "--rows", rows)
    assert code == 2
    assert "--rows" in out


def test_rows_are_not_kept() -> None:
    code, out = asked("numpy", "--shape", "1,4,24", "--rows", "1..2", "--keep")
    assert code == 2
    assert "expected --keep without --rows" in out


@pytest.mark.slow
def test_the_command_asks_programs(tmp_path: Path) -> None:
    """A program that sums three rows from the end."""
    program = tmp_path / "product.py"
    program.write_text(
        "import sys\nimport numpy as np\n"
        "a, b = (np.load(x).view(np.float32) for x in sys.argv[1:3])\n"
        "d = np.zeros((a.shape[0], b.shape[1]), np.float32)\n"
        "for k in range(a.shape[1])[:: -1 if len(a) == 3 else 1]:\n    d = d + a[:, k:k + 1] * b[k]\n"
        "np.save(sys.argv[3], d.view(np.uint32))\n"
    )
    code, out = asked(f"exec:{sys.executable} {program}", "--shape", "1,8,4", "--rows", "2..3")
    assert code == 1
    assert out.startswith("NOT BATCH INVARIANT: the order of a row's sum changes at M = 3 (")
