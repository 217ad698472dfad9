"""The assumption `spread=S`, held against fractions, and the nearest inputs on which two units differ."""

from __future__ import annotations

import numpy as np
import pytest

from tcformal.backends.concrete import Concrete
from tcformal.backends.vector import Vector
from tcformal.design.names import resolve
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.oracle.values import NumberClass, decode, exponent_of
from tcformal.query.assume import Assumptions, assume_of_unit, from_texts
from tcformal.query.claims.witnesses import close, nearest
from tcformal.query.pair import question
from tcformal.semantics.chain import declare_inputs
from tcformal.simulation.operands.batch import columns
from tcformal.solve.portfolio import decide
from tcformal.solve.result import Limits, Status

TURING, HOPPER = "turing/mma.m16n8k8.f32.f16.f16.f32", "hopper/mma.m16n8k8.f32.f16.f16.f32"


def exponent(fmt: Format, raw: int) -> int | None:
    """The exponent of a number that is neither zero nor special; a subnormal has e_min."""
    value = decode(fmt, raw)
    if value.kind is not NumberClass.FINITE or not value.number:
        return None
    return max(exponent_of(abs(value.number)), fmt.e_min)


def spread_of(a_format: Format, c_format: Format, a: list[int], b: list[int], c: int) -> int:
    """The spread of products and c, from the values of the encodings."""
    pairs = [(exponent(a_format, x), exponent(a_format, y)) for x, y in zip(a, b, strict=True)]
    found = [x + y for x, y in pairs if x is not None and y is not None]
    of_c = exponent(c_format, c)
    found += [] if of_c is None else [of_c]
    return max(found) - min(found) if found else 0


@pytest.mark.parametrize(
    ("name", "fmt"),
    [("tfdpa@products=3", "fp16"), ("tfdpa@products=2,a_format=e5m2,b_format=e5m2", "e5m2")],
)
def test_spread_is_that_of_the_values(name: str, fmt: str) -> None:
    """Random operands close together and anywhere, zeros, subnormals, NaN and Inf among them."""
    spec, a_format = resolve(name), FORMATS[fmt]
    rng = np.random.default_rng(1)
    n, k = 600, spec.k
    rows = columns(close(spec, k, n, 3, 6))
    for word in list(rows)[:2]:
        rows[word][:40] = rng.integers(0, 1 << a_format.width, 40)
    for spread in (0, 1, 5):
        g = Graph()
        x = declare_inputs(g, spec, k)
        root = assume_of_unit(g, from_texts(spec.operands.c, [f"spread={spread}"]), spec, x)
        (found,) = Vector(g, rows).run([root])
        expected = []
        for i in range(n):
            a, b = ([int(rows[f"{w}[{j}]"][i]) for j in range(k)] for w in "ab")
            expected.append(spread_of(a_format, spec.operands.c, a, b, int(rows["c"][i])) <= spread)
        assert [bool(v) for v in found] == expected
        assert min(sum(expected), n - sum(expected)) > 20


@pytest.mark.parametrize("member", ["z3", "bitwuzla", "cvc5"])
def test_solvers_read_it_as_integers_do(member: str) -> None:
    """A model of spread 3 and not 2 has exactly that spread."""
    spec, g = resolve("tfdpa@products=2,a_format=e5m2,b_format=e5m2"), Graph()
    x = declare_inputs(g, spec, 2)
    three, two = (assume_of_unit(g, Assumptions(("finite",), spread=s), spec, x) for s in (3, 2))
    root = g.and_(three, g.not_(two))
    run = Concrete(g, [root])
    found = decide(
        g, root, members=(member,), limits=Limits(30.0, 4096, 0), confirm=False,
        replay=lambda m: run(m) == [1],
    )  # fmt: skip
    assert found.status is Status.SAT
    model = {name: (found.model or {}).get(name, 0) for name in g.inputs}
    a, b = ([model[f"{w}[{j}]"] for j in range(2)] for w in "ab")
    assert spread_of(FORMATS["e5m2"], spec.operands.c, a, b, model["c"]) == 3


def test_the_nearest_inputs_are_at_that_spread() -> None:
    """One bit of c is cut in a sum of 24 fraction bits that 25 keep: at spread 2, and at no less."""
    q = question(resolve(TURING), resolve(HOPPER), Assumptions(("finite",)))
    found = nearest(q, 0)
    assert found is not None
    assert found.spread == 2
    w = found.witness
    assert spread_of(FORMATS["fp16"], FORMATS["fp32"], list(w.a), list(w.b), w.c) == 2
    for spread, said in ((1, False), (2, True)):
        near = question(resolve(TURING), resolve(HOPPER), Assumptions(("finite",), spread=spread))
        assert near.replay(w.inputs()).confirms is said


def test_texts() -> None:
    """The spelling is read again; what is no number of binades is refused."""
    fp32 = FORMATS["fp32"]
    what = from_texts(fp32, ["finite", "spread=20"])
    assert from_texts(fp32, what.spellings()) == what
    assert what.texts()[-1] == "exponents of non-zero products and c differ by at most 20"
    for text in ("spread=-1", "spread=x"):
        with pytest.raises(InputError, match="assumption spread"):
            from_texts(fp32, [text])
