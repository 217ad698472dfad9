"""The public names of the package, and arrays of raw encodings in and out."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcformal
from tcformal.errors import InputError, UnknownNameError
from tcformal.query.question import Kind
from tcformal.simulation.operands.batch import Raw
from tcformal.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
NAME = "ampere/mma.m16n8k8.f32.f16.f16.f32"
IMPORT = """
import json, sys, tcformal
solvers = ["z3", "cvc5", "bitwuzla"]
loaded = [sorted({"numpy", "click", "rich", *solvers} & set(sys.modules))]
tcformal.unit("ampere/mma.m16n8k8.f32.f16.f16.f32")
loaded.append(sorted(set(solvers) & set(sys.modules)))
tcformal.explain("tfdpa@products=1", [1], [1], 0)
tcformal.separate, tcformal.prove_equal
loaded.append(sorted(set(solvers) & set(sys.modules)))
print(json.dumps(loaded))
"""


# ---------------------------------------------------------------------- names
def test_importing_the_package_loads_nothing() -> None:
    """No solver and no NumPy at import; no solver in this process at all."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    assert json.loads(done.stdout) == [[], [], []]


def test_every_public_name_is_there() -> None:
    assert tcformal.__version__ == VERSION
    for name in tcformal.__all__:
        assert getattr(tcformal, name) is not None
    assert {"unit", "units", "separate", "prove_equal", "explain", "Unit", "Verdict", "Trace"} <= set(
        tcformal.__all__
    )


def test_no_other_name_is_there() -> None:
    with pytest.raises(AttributeError, match="No tcformal attribute seperate"):
        tcformal.seperate  # type: ignore[attr-defined]  # noqa: B018


def test_units_are_named_and_found() -> None:
    names = tcformal.units()
    assert NAME in names
    assert len(names) == len(set(names)) > 30
    u = tcformal.unit(NAME)
    assert isinstance(u, tcformal.Unit)
    assert (u.name, u.m, u.n, u.k) == (NAME, 16, 8, 8)
    formats = u.a_format, u.b_format, u.c_format, u.d_format
    assert [f.name for f in formats] == ["fp16", "fp16", "fp32", "fp32"]
    assert u.design.fraction_bits == 24
    assert u.sources
    with pytest.raises(UnknownNameError, match="expected a known unit, but got 'amper'"):
        tcformal.unit("amper")


def test_separate_prove_equal_and_explain() -> None:
    other = f"{NAME}@fraction_bits=25"
    v = tcformal.separate(NAME, tcformal.unit(other), assumptions=tcformal.Assumptions(("finite",)))
    assert isinstance(v, tcformal.Verdict)
    assert v.kind is Kind.SEPARATED
    assert v.witness is not None
    assert v.results is not None
    a, b, c = [np.array([row], dtype=np.uint16) for row in (v.witness.a, v.witness.b)] + [
        np.array([v.witness.c], dtype=np.uint32)
    ]
    for name, raw in zip((NAME, other), v.results, strict=True):
        assert tcformal.unit(name).dot_bits(a, b, c).tolist() == [raw]
        x, y = ([f"{word:#x}" for word in row] for row in (v.witness.a, v.witness.b))
        trace = tcformal.explain(name, x, y, f"{v.witness.c:#x}")
        assert isinstance(trace, tcformal.Trace)
        assert trace.result == raw
    assert tcformal.prove_equal(NAME, NAME).kind is Kind.EQUIVALENT


# ---------------------------------------------------------------------- arrays
def operands(n: int = 5) -> tuple[Raw, Raw, Raw]:
    """Raw encodings of fp16, fp16 and fp32, in the smallest dtypes that hold them."""
    rng = np.random.default_rng(6)
    a, b = (rng.integers(0, 1 << 16, (n, 8), dtype=np.uint16) for _ in "ab")
    return a, b, rng.integers(0, 1 << 32, n, dtype=np.uint32)


def swapped(x: Raw) -> Raw:
    return x.astype(x.dtype.newbyteorder(">"))


def read_only(x: Raw) -> Raw:
    y = x.copy()
    y.flags.writeable = False
    return y


def strided(x: Raw) -> Raw:
    """The same values with a gap after each, in both directions."""
    wide = np.full([3 * size for size in x.shape], 7, dtype=x.dtype)
    view = wide[tuple(slice(None, None, -3) for _ in x.shape)]
    view[...] = x
    return view


@pytest.mark.parametrize(
    "change",
    [
        swapped,
        read_only,
        strided,
        np.asfortranarray,
        lambda x: x.astype(np.uint64),
        lambda x: np.ascontiguousarray(x.T).T,
        lambda x: x.tolist() and np.array(x.tolist(), dtype=np.uint32),
    ],
    ids=["byte-swapped", "read-only", "strided", "fortran", "wide", "transposed", "uint32"],
)
def test_how_an_array_lies_in_memory_does_not_matter(change: Callable[[Raw], Raw]) -> None:
    u, plain = tcformal.unit(NAME), operands()
    expected = u.dot_bits(*plain)
    given = [change(x) for x in plain]
    before = [x.copy() for x in given]
    result = u.dot_bits(*given)
    assert np.array_equal(result, expected)
    assert result.dtype == np.uint32
    assert all(np.array_equal(x, y) and x.dtype == y.dtype for x, y in zip(given, before, strict=True))


def test_results_are_as_narrow_as_their_format() -> None:
    a, b, c = operands()
    narrow = tcformal.unit("hopper/mma.m16n8k8.f16.f16.f16.f16")
    assert narrow.dot_bits(a, b, c.astype(np.uint16)).dtype == np.uint16


def test_a_result_is_the_callers_own() -> None:
    """Writing into a result changes nothing else, although a circuit is kept between calls."""
    u, (a, b, c) = tcformal.unit(NAME), operands()
    first = u.dot_bits(a, b, c)
    kept = first.copy()
    first[:] = 0
    assert np.array_equal(u.dot_bits(a, b, c), kept)


def test_no_rows_give_no_results() -> None:
    u, (a, b, c) = tcformal.unit(NAME), operands(0)
    result = u.dot_bits(a, b, c)
    assert result.shape == (0,)
    assert result.dtype == np.uint32


def test_rows_are_independent() -> None:
    u, (a, b, c) = tcformal.unit(NAME), operands(64)
    together = u.dot_bits(a, b, c)
    apart = [u.dot_bits(a[i : i + 1], b[i : i + 1], c[i : i + 1])[0] for i in range(64)]
    assert together.tolist() == apart


def test_more_blocks_go_on_from_the_result() -> None:
    u, (a, b, c) = tcformal.unit(NAME), operands()
    twice = u.dot_bits(np.hstack([a, b]), np.hstack([b, a]), c)
    assert np.array_equal(twice, u.dot_bits(b, a, u.dot_bits(a, b, c)))


A, B, C = operands()
_SHAPES = "expected a and b of one shape [n, K] and c of shape [n], but got "


@pytest.mark.parametrize(
    ("a", "b", "c", "sentence"),
    [
        pytest.param(A[0], B[0], C[:1], f"{_SHAPES}[8], [8] and [1]", id="no-rows"),
        pytest.param(A, B[:4], C, f"{_SHAPES}[5, 8], [4, 8] and [5]", id="rows"),
        pytest.param(A, B[:, :7], C, f"{_SHAPES}[5, 8], [5, 7] and [5]", id="columns"),
        pytest.param(A, B, C[:4], f"{_SHAPES}[5, 8], [5, 8] and [4]", id="c"),
        pytest.param(A, B, C[:, None], f"{_SHAPES}[5, 8], [5, 8] and [5, 1]", id="c-column"),
        pytest.param(A, B, C[0], f"{_SHAPES}[5, 8], [5, 8] and []", id="c-scalar"),
        pytest.param(
            A[:, :0], B[:, :0], C, "expected a and b of one length of at least 1, but got 0 and 0", id="k-0"
        ),
        pytest.param(
            np.hstack([A, A[:, :1]]),
            np.hstack([B, B[:, :1]]),
            C,
            "expected K to be a multiple of 8 products, but got K=9",
            id="k-9",
        ),
        pytest.param(
            A.astype(np.int32),
            B,
            C,
            "expected an unsigned integer array for a[0], but got dtype int32",
            id="signed",
        ),
        pytest.param(
            A,
            B.astype(np.float16),
            C,
            "expected an unsigned integer array for b[0], but got dtype float16",
            id="float",
        ),
        pytest.param(
            A, B, C.astype(bool), "expected an unsigned integer array for c, but got dtype bool", id="bool"
        ),
        pytest.param(
            A.tolist(), B, C, "expected an unsigned integer array for a[0], but got dtype int64", id="lists"
        ),
        pytest.param(
            np.full((5, 8), 0x10000, np.uint32),
            B,
            C,
            "expected encodings of 16 bits for a[0], but got 0x10000",
            id="wide-a",
        ),
        pytest.param(
            A,
            B,
            np.array([0, 0, 1 << 32, 0, 0], np.uint64),
            "expected encodings of 32 bits for c, but got 0x100000000",
            id="wide-c",
        ),
    ],
)
def test_arrays_are_refused(a: Any, b: Any, c: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        tcformal.unit(NAME).dot_bits(a, b, c)
    assert str(caught.value) == sentence


def test_objects_are_no_encodings() -> None:
    """An array of Python objects may hold anything, fractions and negative numbers too."""
    for value in (1.5, -1):
        x = np.full((5, 8), value, dtype=object)
        with pytest.raises(InputError):
            tcformal.unit(NAME).dot_bits(x, B, C)


def test_more_products_than_the_unit_takes_are_calls_one_after_the_other() -> None:
    """hopper's m16n8k8 could sum 16 products in one block; as two calls of 8 it does not."""
    u = tcformal.unit("hopper/mma.m16n8k8.f32.f16.f16.f32")
    a = np.array([[0x6800] + [0] * 7 + [0x8400] + [0] * 7], dtype=np.uint16)  # 2048 and -2^-14
    b = np.full((1, 16), 0x3C00, dtype=np.uint16)
    c = np.zeros(1, dtype=np.uint32)
    two_calls = u.dot_bits(a[:, 8:], b[:, 8:], u.dot_bits(a[:, :8], b[:, :8], c))
    assert u.dot_bits(a, b, c).tolist() == two_calls.tolist()
    assert u.matmul(a.view(np.float16), b.T.view(np.float16)).view(np.uint32).tolist() == [two_calls.tolist()]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda u, none: tcformal.unit(none), "a text for the name of a unit, but got None"),
        (
            lambda u, none: tcformal.explain(u, none, [0, 0], 0),
            "2 values for a of x86/vdpbf16ps, but got None",
        ),
        (lambda u, none: tcformal.explain(u, [0, 0], [0], 0), "2 values for b of x86/vdpbf16ps, but got 1"),
        (lambda u, none: tcformal.explain(u, [0, 0], [0, 0], none), "a value of fp32, but got None"),
        (lambda u, none: tcformal.explain(u, [0, none], [0, 0], 0), "a value of bf16, but got None"),
        (
            lambda u, none: tcformal.explain(u, [10**5000, 0], [0, 0], 0),
            "a value of bf16, but got one of 16610 bits",
        ),
    ],
)
def test_what_is_no_value_is_refused_in_a_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call(tcformal.unit("x86/vdpbf16ps"), None)
    assert str(caught.value) == f"expected {sentence}"
