"""Products that can only be called: their orders found by masks, their units by operands that cancel."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from tcformal import DeviceError, InputError, gemm, identify_product
from tcformal.cli import main
from tcformal.identification.sum_chains import SumChain, described, variants

BF16 = "x86/vdpbf16ps"
Array = NDArray[Any]


def chain(a: Array, b: Array) -> Array:
    """fp32 products, each rounded, then added one after the other."""
    d = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        d = d + a[:, k : k + 1] * b[k]
    return d


def lanes(a: Array, b: Array) -> Array:
    """Four interleaved sums, and what is left over after them."""
    whole = a.shape[1] // 4 * 4
    parts = [chain(a[:, i:whole:4], b[i:whole:4]) for i in range(4)]
    d = (parts[0] + parts[1]) + (parts[2] + parts[3])
    for k in range(whole, a.shape[1]):
        d = d + a[:, k : k + 1] * b[k]
    return np.asarray(d)


def backward(a: Array, b: Array) -> Array:
    """The last column of the result is summed from the end."""
    d = chain(a, b)
    d[:, -1] = chain(a[:, ::-1], b[::-1])[:, -1]
    return d


@pytest.mark.slow
@pytest.mark.parametrize("function", [chain, lanes, backward])
def test_orders_of_sums_are_found_and_their_results_predicted(function: Any) -> None:
    found = identify_product(function, "fp32,fp32,fp32", (5, 6, 22))
    assert found.found
    assert found.independent == (function is not backward)
    assert len(found.regions) == (2 if function is backward else 1)
    assert all(x.units[0][0].name.startswith("muladd") for x in found.regions)
    assert any(name.startswith("cdna1") for name, _ in found.regions[0].refuted)
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((5, 22), np.float32), rng.standard_normal((22, 6), np.float32)
    assert (found.matmul(a, b) == function(a, b)).all()


@pytest.mark.long
@pytest.mark.parametrize("recipe", ["plain", "cublaslt-66@splits=2,grain=16"])
def test_a_units_own_products_are_its_own(recipe: str) -> None:
    model = gemm(BF16, f"{recipe}{',' if '@' in recipe else '@'}output=bf16")
    found = identify_product(lambda a, b: model.matmul(a, b, progress=False), "bf16,bf16,bf16", (3, 4, 40))
    assert found.found
    assert BF16 in [x.name for x, _ in found.regions[0].units]
    assert [str(x.name) for x in found.formats] == ["bf16"] * 3
    assert ("blocks" in str(found) or " + " in str(found)) == ("splits" in recipe)


def parts_at_random(count: int, seed: int = 0) -> Callable[[Array, Array], Array]:
    """Sums of parts of k, which are added up in an order of each call's own, as atomic additions are."""
    rng = np.random.default_rng(seed)

    def product(a: Array, b: Array) -> Array:
        k, d = a.shape[1], np.zeros((a.shape[0], b.shape[1]), np.float32)
        for i in rng.permutation(count):
            part = slice(i * k // count, (i + 1) * k // count)
            d = d + chain(a[:, part], b[part])
        return d

    return product


def terms_of(order: str) -> list[int]:
    """Every k of an order in words."""
    ends = [(int(x), int(y)) for x, y in re.findall(r"from (\d+) to (\d+)", order)]
    return [k for start, stop in ends for k in range(start, stop + 1)]


@pytest.mark.parametrize(("shape", "count"), [((1, 1, 16), 4), ((3, 2, 16), 4), ((2, 2, 12), 3)])
def test_orders_that_change_are_told_with_their_frequencies(shape: tuple[int, int, int], count: int) -> None:
    found = identify_product(parts_at_random(count), "fp32,fp32,fp32", shape)
    assert not found.found
    assert found.seen is not None
    assert found.seen.reason == ""
    assert str(found).partition(": ")[2].startswith("NON-DETERMINISTIC: ")
    step = shape[2] // count
    assert found.seen.parts == tuple(f"k from {i} to {i + step - 1}" for i in range(0, shape[2], step))
    assert sum(times for _, times in found.orders) == found.seen.calls == sum(found.seen.answers)
    assert len(found.orders) == (3 if count == 3 else len(found.seen.answers)) > 2
    for text, _ in found.orders:
        for order in text.split(" or "):
            assert sorted(terms_of(order)) == list(range(shape[2])) or order.endswith("others")
    record = found.record()
    assert (record["deterministic"], record["seen"]["calls"], record["found"]) == (False, 100, False)
    with pytest.raises(InputError, match=r"not identified$"):
        found.matmul(np.zeros(shape[::2], np.float32), np.zeros((shape[2], shape[1]), np.float32))


def test_an_order_seen_is_the_one_that_gave_the_results() -> None:
    """One of two orders of three parts, of which the other comes three times as often."""
    calls = iter(range(10**6))

    def either(a: Array, b: Array) -> Array:
        x, y, z = (chain(a[:, i : i + 3], b[i : i + 3]) for i in (0, 3, 6))
        return (x + y) + z if next(calls) % 4 else x + (y + z)

    found = identify_product(either, "fp32,fp32,fp32", (1, 1, 9))
    assert found.orders == (
        ("(k from 0 to 2) + (k from 3 to 5) + (k from 6 to 8)", 75),
        ("(k from 3 to 5) + (k from 6 to 8) + (k from 0 to 2)", 25),
    )


def test_too_many_orders_and_noise_are_non_deterministic_without_an_order() -> None:
    rng = np.random.default_rng(1)

    def noisy(a: Array, b: Array) -> Array:
        d = chain(a, b)
        return np.asarray(np.where(rng.random(d.shape) < 0.5, d, np.nextafter(d, np.float32(9))), np.float32)

    for function in (parts_at_random(8), parts_at_random(16), noisy):
        found = identify_product(function, "fp32,fp32,fp32", (1, 1, 16))
        assert (found.found, found.orders) == (False, ())
        assert found.seen is not None
        assert len(found.seen.answers) > 1
        assert found.seen.reason


def test_an_order_that_changes_seldom_is_no_order() -> None:
    calls = iter(range(10**6))

    def either(a: Array, b: Array) -> Array:
        return chain(a, b) if next(calls) // 60 % 2 else chain(a[:, ::-1], b[::-1])

    found = identify_product(either, "fp32,fp32,fp32", (2, 2, 8), repeats=9)
    assert (found.found, found.orders) == (False, ())
    assert "NON-DETERMINISTIC" in str(found)


@pytest.mark.slow
def test_rows_of_another_order_are_deterministic() -> None:
    def rows(a: Array, b: Array) -> Array:
        half = a.shape[1] // 2
        return np.concatenate(
            [chain(a[:1], b), chain(a[1:, :half], b[:half]) + chain(a[1:, half:], b[half:])]
        )

    found = identify_product(rows, "fp32,fp32,fp32", (3, 2, 16))
    assert (found.found, found.seen) == (True, None)
    assert [x.region.elements.any(1).tolist() for x in found.regions] == [
        [True, False, False],
        [False, True, True],
    ]


@pytest.mark.parametrize("length", [2, 3, 6, 7, 8, 9])
def test_an_order_in_words_has_each_term_once(length: int) -> None:
    ks = (*range(length - 1, 1, -1), 0, 1)
    said = [int(x) for x in re.findall(r"\d+", described(SumChain(ks)))]
    assert len(set(said)) == len(said) == min(length, 7) or said == [0, 1]
    assert (said[0], said[-1]) == (ks[0], ks[-1])


@pytest.mark.slow
def test_sums_that_no_order_explains_are_said_so() -> None:
    def wider(a: Array, b: Array) -> Array:
        return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)

    def wrong(a: Array, b: Array) -> Array:
        return chain(a, b) + np.float32(1.5)

    assert not identify_product(wider, "fp32,fp32,fp32", (3, 3, 20)).found
    assert identify_product(wrong, "fp32,fp32,fp32", (3, 3, 20)).reason.startswith(
        "expected a count of at most"
    )


@pytest.mark.slow
def test_another_result_than_predicted_is_noticed() -> None:
    """One element of the last call, which only the prediction compares."""
    known = identify_product(chain, "fp32,fp32,fp32", (4, 4, 12)).calls
    calls = iter(range(10**6))

    def late(a: Array, b: Array) -> Array:
        d = chain(a, b)
        if next(calls) == known - 1:
            d[1, 2] = np.nextafter(d[1, 2], np.float32(9))
        return d

    found = identify_product(late, "fp32,fp32,fp32", (4, 4, 12))
    assert (found.differing, found.found) == (1, False)


@pytest.mark.parametrize(
    ("function", "formats", "shape", "kind", "sentence"),
    [
        (chain, "fp32,fp32", (2, 2, 2), InputError, "^expected three formats"),
        (chain, "fp32,fp32,e4m3", (2, 2, 2), InputError, "^expected three formats"),
        (chain, "fp32,fp32,fp32", (2, 0, 2), InputError, "^expected an integer from 1"),
        (lambda a, b: a, "fp32,fp32,fp32", (2, 3, 4), DeviceError, "^expected a product of shape"),
        (lambda a, b: 1 / 0, "fp32,fp32,fp32", (2, 3, 4), DeviceError, "^expected a product from the"),
    ],
    ids=["two", "fp8", "empty", "shape", "error"],
)  # fmt: skip
def test_what_is_no_product_is_refused(
    function: Any, formats: str, shape: tuple[int, int, int], kind: type[Exception], sentence: str
) -> None:
    with pytest.raises(kind, match=sentence):
        identify_product(function, formats, shape)


def exit_code(arguments: list[str]) -> Any:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


@pytest.mark.slow
def test_the_command_asks_numpy_and_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "product.py"
    program.write_text(
        "import sys\nimport ml_dtypes, numpy as np\n"
        "a, b = (np.load(x).view(np.float32) for x in sys.argv[1:3])\n"
        "d = np.zeros((a.shape[0], b.shape[1]), np.float32)\n"
        "for k in range(a.shape[1]):\n    d = d + a[:, k:k + 1] * b[k]\n"
        "np.save(sys.argv[3], d.view(np.uint32))\n"
    )
    shape = ("--shape", "2,2,3", "--formats", "fp32,fp32,fp32", "--json")
    assert exit_code(["identify-product", f"exec:{sys.executable} {program}", *shape]) == 0
    (row,) = json.loads(capsys.readouterr().out)["products"]
    assert row["found"]
    assert "muladd@k=1," + ",".join(f"{x}_format=fp32" for x in "abcd") in row["regions"][0]["units"]
    keep = ("--keep", "--results", str(tmp_path))
    assert exit_code(["identify-product", "numpy", *shape[2:], "--shape", "8,8,12", *keep]) == 0
    (path,) = (tmp_path / "products").glob("*/numpy.jsonl")
    assert json.loads(path.read_text())["found"]
    assert exit_code(["identify-product", "nump", *shape]) == 2
    assert "expected the device numpy, torch or exec:PROGRAM" in capsys.readouterr().err


@pytest.mark.slow
def test_formats_cross_as_their_dtypes() -> None:
    kinds = []

    def told(a: Array, b: Array) -> Array:
        kinds.append((a.dtype, b.dtype))
        return chain(a.astype(np.float32), b.astype(np.float32)).astype(ml_dtypes.bfloat16)

    identify_product(told, "bf16,bf16,bf16", (2, 2, 6), repeats=1)
    assert set(kinds) == {(np.dtype(ml_dtypes.bfloat16),) * 2}


def test_a_last_chain_is_tried_in_orders_that_masks_cannot_tell_apart() -> None:
    """Two turned and fused, the third rounded before it is added, as a row of OpenBLAS's fp64 is summed."""
    whole = SumChain((), (SumChain((0, 4)), SumChain((8, 9, 10))))
    found = list(variants(whole))
    assert found[0] == whole
    assert len(set(found)) == len(found)
    tail = SumChain((10,), (SumChain((9, 8)),))
    assert replace(whole, base=(SumChain((0, 4)), tail)) in found
    assert {x.base[0].size for x in found} == {2}


def test_a_pair_that_is_left_over_may_be_rounded_after_lanes_that_are_fused() -> None:
    """A row of OpenBLAS's fp64 by a matrix: two products that are rounded, after fused ones."""

    def pairs(a: Array, b: Array) -> Array:
        d = np.empty((len(a), b.shape[1]))
        for i, j in np.ndindex(d.shape):
            x = [(Fraction(p), Fraction(q)) for p, q in zip(a[i], b[:, j], strict=True)]
            p, q = (float(x[k + 2][0] * x[k + 2][1] + Fraction(float(x[k][0] * x[k][1]))) for k in (0, 1))
            d[i, j] = (p + q) + (a[i, 4] * b[4, j] + a[i, 5] * b[5, j])
        return d

    made = identify_product(pairs, "fp64,fp64,fp64", (1, 7, 6), repeats=1)
    assert (made.found, len(made.regions), made.checked) == (True, 1, 25 * 7)


def test_chains_beside_each_other_are_taken_alike() -> None:
    """Lanes of three terms whose last product is rounded, then a tail of three that is fused and turned."""
    lanes = tuple(SumChain((k, k + 4, k + 8)) for k in range(4))
    found = list(variants(SumChain((), (*lanes, SumChain((12, 13, 14))))))
    assert len(set(found)) == len(found)
    taken = tuple(SumChain((k + 8,), (SumChain((k, k + 4)),)) for k in range(4))
    assert SumChain((), (*taken, SumChain((13, 12, 14)))) in found


def test_floats_added_up_in_a_double_are_recognised() -> None:
    """A dot product as C writes it, alone and as what is left over after a chain in fp32."""

    def dot(start: int) -> Callable[[Array, Array], Array]:
        def product(a: Array, b: Array) -> Array:
            d = np.empty((len(a), b.shape[1]), np.float32)
            for i, j in np.ndindex(d.shape):
                total = np.float32(0)
                for x, y in zip(a[i, :start], b[:start, j], strict=True):
                    total = np.float32(total + np.float32(x * y))
                rest = np.cumsum((a[i, start:] * b[start:, j]).astype(np.float64))[-1]
                d[i, j] = np.float32(rest + np.float64(total))
            return d

        return product

    for start in (0, 2):
        made = identify_product(dot(start), "fp32,fp32,fp32", (2, 2, 9 + start), repeats=1)
        assert made.found
        assert "product_rounding=RNE-FP32" in made.regions[0].units[0][0].name


def test_a_kept_shape_is_not_asked_again(tmp_path: Path) -> None:
    call = ["identify-product", "numpy", "--formats", "fp32,fp32,fp32", "--keep", "--results", str(tmp_path)]
    for shapes in (["2,2,3", "2,2,3"], ["2,2,3", "2,2,2"]):
        assert exit_code([*call, *(y for x in shapes for y in ("--shape", x))]) == 0
    (path,) = tmp_path.rglob("numpy.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [(x["m"], x["n"], x["k"]) for x in rows] == [(2, 2, 3), (2, 2, 2)]
    assert all(isinstance(x["threads"], int) or x["threads"] == "not told" for x in rows)
