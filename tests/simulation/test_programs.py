"""Programs on arrays: rows and matrices against fractions, at any sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tcformal
from tcformal.design.steps import PlanStep
from tcformal.errors import InputError
from tcformal.oracle.interpreter import program_result
from tcformal.simulation import arrays, evaluation
from tcformal.simulation.operands.batch import Raw
from tcformal.simulation.runnable import program

NAMES = (
    "deepgemm-fp8-scaled@every=8", "tcec", "cutlass-3xtf32@stage=16", "deepgemm-fp8@every=32",
    "split-k@slices=3", "mary", "deepgemm-fp8-fp32@every=8",
)  # fmt: skip
MORE = (
    "ootomo-yokota", "triton-3xtf32", "bf16x9", "chained", "kahan", "pairwise", "mary-model", "block-fma",
)  # fmt: skip


@pytest.mark.parametrize("name", [*NAMES, *(pytest.param(x, marks=pytest.mark.long) for x in MORE)])
def test_rows_and_matrices_are_the_oracles(name: str) -> None:
    """Rows with operands of their own, and a matrix product with c: every element in fractions."""
    p, rng, n = program(name), np.random.default_rng(3), 19
    formats = {x: p.program.input_format(x) for x in "abc"}
    dtypes, plan = arrays.dtypes(), p.program.plan(n)

    def drawn(letter: str, shape: tuple[int, ...]) -> np.ndarray:
        return rng.standard_normal(shape).astype(dtypes[formats[letter].name])

    given = {"a": drawn("a", (2, n)), "b": drawn("b", (n, 3)), "c": drawn("c", (2, 3))}
    raw = {x: arrays.to_raw(x, given[x], formats[x]) for x in "abc"}
    rows = [x.tolist() for x in raw["a"]], [x.tolist() for x in raw["b"].T]
    want = [
        [program_result(plan, x, y, int(raw["c"][i, j])) for j, y in enumerate(rows[1])]
        for i, x in enumerate(rows[0])
    ]
    d = p.matmul(given["a"], given["b"], given["c"])
    assert arrays.to_raw("D", d, plan.fmt).tolist() == want
    each = p.evaluate(np.repeat(raw["a"], 3, axis=0), np.tile(raw["b"].T, (2, 1)), raw["c"].reshape(-1))
    assert each.tolist() == [x for row in want for x in row]


@pytest.mark.parametrize(("low", "high", "factors"), [(-20, 20, True), (-126, 127, False)])
def test_scales_that_are_data(low: int, high: int, factors: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Powers of two beside the values, or, beyond the normal numbers, one sum for each; both as fractions."""
    body = "e = headroom(a, 1)\nf = headroom(b, 1)\nd = add(scale(a[0], e + f), scale(c, -f), fp32)"
    inputs = dict.fromkeys("abc", "fp32")
    p = tcformal.Program(name="mine", title="t", source="s", inputs=inputs, body=body)
    rng, seen = np.random.default_rng(7), list[Any]()
    real = evaluation.with_factors

    def noted(*x: Any) -> Any:
        seen.append(real(*x))
        return seen[-1]

    monkeypatch.setattr(evaluation, "with_factors", noted)

    def drawn(*shape: int) -> np.ndarray:
        exponents = rng.integers(low, high, shape, endpoint=True)
        return np.ldexp(rng.uniform(-2, 2, shape), exponents - 1).astype(np.float32)

    a, b, c = drawn(4, 2), drawn(2, 5), drawn(4, 5)
    found = arrays.to_raw("D", program(p).matmul(a, b, c), p.plan(2).fmt)
    rows, columns, last = (x.copy().view(np.uint32).tolist() for x in (a, b.T.copy(), c))
    want = [[program_result(p.plan(2), x, y, last[i][j]) for j, y in enumerate(columns)]
            for i, x in enumerate(rows)]  # fmt: skip
    assert found.tolist() == want
    assert [x is not None for x in seen] == [factors]


def test_one_element_and_no_c() -> None:
    """A 1 x 1 product, and zeros for c."""
    p = tcformal.program("ootomo-yokota")
    a, b = np.full((1, 3), 1.5, np.float32), np.full((3, 1), 2, np.float32)
    assert p.matmul(a, b).tolist() == [[9.0]]
    assert tcformal.simulate(p, a, b).tolist() == [[9.0]]
    assert tcformal.simulate("ootomo-yokota", np.stack([a, a]), b).tolist() == [[[9.0]], [[9.0]]]


def test_what_does_not_fit_is_refused() -> None:
    """Shapes, dtypes and encodings, in one sentence each."""
    p = tcformal.program("markidis")
    a, b = np.zeros((2, 3), np.float32), np.zeros((3, 2), np.float32)
    with pytest.raises(InputError, match=r"A of shape \[M, K\]"):
        p.matmul(a, a)
    with pytest.raises(InputError, match="threads"):
        p.matmul(a, b, threads=0)
    with pytest.raises(InputError, match="dtype float32"):
        p.matmul(a.astype(np.float64), b)
    with pytest.raises(InputError, match=r"C of shape \[2, 2\]"):
        p.matmul(a, b, a)
    with pytest.raises(InputError, match="unsigned integers for a"):
        p.evaluate(a, a, np.zeros(2, np.uint32))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="encodings of 32 bits for a"):
        p.evaluate(np.full((1, 1), 1 << 40, np.uint64), np.zeros((1, 1), np.uint64), np.zeros(1, np.uint64))
    with pytest.raises(InputError, match="no scales with a program"):
        tcformal.simulate(p, a, b, scale_a=a)
    with pytest.raises(InputError, match="a program or its name"):
        tcformal.program(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["deepgemm-fp8-fp32@every=4", "ootomo-yokota", "mine"])
def test_bands_of_rows_are_the_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows at a time, with c and without; what rows or columns share is computed once."""
    if name == "mine":
        body = (
            "x = a * 2**-1\ny = add(x, b, fp32)\nd = add(chain(y, fp32), add(chain(x, fp32), c, fp32), fp32)"
        )
        p = program(tcformal.Program(name="mine", title="t", source="s", inputs=dict.fromkeys("abc", "fp32"),
                                     body=body))  # fmt: skip
    else:
        p = program(name)
    rng = np.random.default_rng(4)
    a, b, c = (rng.standard_normal(s).astype(np.float32) for s in ((7, 9), (9, 5), (7, 5)))
    given = [(a, b), (a, b, c), (a[:1], b), (a, b[:, :1])]
    want = [p.matmul(*x) for x in given]
    made: list[str] = []
    real = evaluation.ArrayRun._value

    def noted(self: evaluation.ArrayRun, step: PlanStep) -> Raw:
        made.append(step.name)
        return real(self, step)

    monkeypatch.setattr(evaluation.ArrayRun, "_value", noted)
    monkeypatch.setattr(evaluation, "_ELEMENTS", 15)
    for x, y in zip(given, want, strict=True):
        assert (p.matmul(*x) == y).all()
    made.clear()
    p.matmul(a, b)
    assert [made.count(letter) for letter in "ab"] == [1, 1]
    # Three bands of rows: the result three times.
    plan = p.program.plan(9)
    assert made.count(plan.steps[plan.result].name) == 3


def multiples(x: int, modulus: int, top: int) -> int:
    """The largest number up to `top` that is x modulo a number."""
    return top - (top - x) % modulus


@pytest.mark.slow
def test_ozaki_2_on_fp8_is_exact_to_64_products_of_digits() -> None:
    """a·b of the residue 544 = 33·16 + 16 modulo 1089: the 65th product of digits is lost on Hopper."""
    fp8 = program("ozaki-2-fp8@count=4")
    blackwell = program("ozaki-2-fp8@count=4,unit=blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e4m3")
    found = {}
    for n in (64, 65):
        # The largest elements are just above half of what the scaling allows: it leaves them as they are.
        top = int((1089 * 1024 * 961 * 841 / (4 * n)) ** 0.5)
        large, small = (float(multiples(x, 1089, top)) for x in (544, 1))
        a = np.array([[large] * 64 + [small] * (n - 64)])
        exact = float(sum(int(x) ** 2 for x in a[0]))
        found[n] = [float(p.matmul(a, a.T)[0, 0]) - exact for p in (fp8, blackwell)]
    assert found[64] == [0, 0]
    assert found[65][0] != 0
    assert found[65][1] == 0


@pytest.mark.parametrize(
    ("name", "bits"),
    [("ozaki-2-int8@count=5", 15), pytest.param("ozaki-2-fp8@count=8", 30, marks=pytest.mark.long)],
)
def test_ozaki_2_has_the_precision_of_its_moduli(name: str, bits: int) -> None:
    """Errors of scaling to integers alone: half the bits of P, less those of n."""
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((2, 6)), rng.standard_normal((6, 2))
    error = program(name).matmul(a, b) - a @ b
    assert float(np.abs(error).max()) < 2.0**-bits
    assert error.any()


def test_scales_of_blocks_are_their_own() -> None:
    """A block of small numbers loses nothing beside one of large numbers; with one scale it would."""
    p = program("deepgemm-fp8-scaled@every=4")
    a = np.array([[1024.0] * 4 + [2.0**-20] * 4], np.float32)
    b = np.array([[0.0] * 4 + [1.0] * 4], np.float32).T.copy()
    assert p.matmul(a, b)[0, 0] == 2.0**-18
