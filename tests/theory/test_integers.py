"""Theorems about units of integers: what they answer, their numbers, and what Coq says of each instance."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import tcformal
from tcformal.design.catalog import catalogue, distinct_designs, floating
from tcformal.design.integer_sums import integer_sums
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.oracle.exact import unit_dot
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch
from tcformal.theory.checked import compile_sources, coqc, source_of
from tcformal.theory.design import coq_design
from tcformal.theory.equality import equal_by_theorem
from tcformal.theory.integer_theorems import HEADER, integer_claim
from tcformal.theory.theorems import theorem_answer

UNITS = list(distinct_designs(lambda u: not floating(u)))


@pytest.mark.parametrize("name", UNITS)
def test_one_product_more_overflows_and_none_before(name: str) -> None:
    """The products that are the largest or the least of all, one more of which leave the range."""
    u = catalogue()[name]
    x, o = integer_sums(u), u.operands
    ends = [
        (sa * 2**f.fraction_bits if sa < 0 else f.largest) if f.sign_bit or sa > 0 else 0
        for f in (o.a, o.b) for sa in (1, -1)
    ]  # fmt: skip
    products = [p * q for p in ends[:2] for q in ends[2:]]
    assert (x.least, x.most) == (min(0, *products), max(0, *products))
    assert x.low <= x.exact * x.least
    assert x.exact * x.most <= x.high
    assert not x.low <= (x.exact + 1) * x.extreme <= x.high


def test_sums_of_int8_are_exact_up_to_131071_products() -> None:
    x = integer_sums(resolve("h100:int8"))
    assert x.says == "exact up to 131,071 products; from 131,072 on it can overflow: all a = -128, b = -128"
    made = theorem_answer(resolve("h100:int8"), "integer-sums")
    assert made is not None
    assert (made.name, made.source) == ("exact_calls", "IntegerUnits.v")


def test_units_that_wrap_are_one_function_and_others_are_not() -> None:
    wraps, other, saturates = map(
        resolve, ("h100:int8", "x86/tdpbssd", "hopper/wgmma.m64n8k32.satfinite.s32.s8.s8")
    )
    found = equal_by_theorem(wraps, other, 64)
    assert found is not None
    assert found.theorems == ("wrapped_calls",)
    assert equal_by_theorem(wraps, saturates, 32) is None
    filled = equal_by_theorem(resolve("x86/vpdpbusd"), resolve("x86/tdpbusd"), 8)
    assert filled is not None
    assert "zeros_idle" in filled.theorems
    from_zero = equal_by_theorem(wraps, saturates, 32, zero_c=True)
    assert from_zero is not None
    assert from_zero.theorems == ("exact_calls",)


def test_a_sum_in_steps_that_wraps_is_the_fused_one_and_one_that_saturates_is_not() -> None:
    steps = "summation=sequential,c_position=first,accumulator="
    wrap, sat = resolve("x86/vpdpbusd"), resolve("x86/vpdpbusds")
    in_steps = resolve(f"x86/vpdpbusd@{steps}WRAP-INT32")
    found = equal_by_theorem(wrap, in_steps, 4)
    assert found is not None
    assert "wrapped_tree" in found.theorems
    assert equal_by_theorem(sat, resolve(f"x86/vpdpbusds@{steps}SAT-INT32"), 4) is None
    a, b = [1, 1, 0, 0], [1, 0xFF, 0, 0]
    assert unit_dot(wrap, a, b, 0x7FFFFFFF) == unit_dot(in_steps, a, b, 0x7FFFFFFF)


def test_partial_sums_narrower_than_the_result_are_no_sums_modulo_it() -> None:
    wrap = resolve("x86/vpdpbusd")
    narrow = [
        "accumulator=WRAP-INT16,summation=sequential,c_position=first",
        "accumulator=WRAP-INT16,summation=fused,c_position=last",
        "steps=(p(0..3+c)),p.conversion=WRAP-INT16",
    ]
    for settings in narrow:
        other = resolve(f"x86/vpdpbusd@{settings}")
        assert equal_by_theorem(wrap, other, 4) is None
        assert equal_by_theorem(wrap, other, 4, zero_c=True) is None
        assert integer_claim(other, "integer-sums") is None
        with pytest.raises(InputError, match="expected partial sums as wide as int32"):
            integer_sums(other)
        # The product of a narrow unit is computed by its circuit.
        a, b = np.full((1, 4), 255, np.uint8), np.full((4, 1), 127, np.int8)
        words = unit_dot(other, [255] * 4, [127] * 4, 0)
        assert (
            int(tcformal.unit(other.name).matmul(a, b)[0, 0]) == words - (words >> 31 << 32) != 4 * 255 * 127
        )


@pytest.mark.parametrize(
    ("one", "other", "theorem"),
    [
        ("x86/vpdpbuuds", "summation=sequential,c_position=first,accumulator=SAT-UINT32", "saturated_beyond"),
        ("x86/vpdpbusds", "steps=(p(0..1)+p(2..3)+c),p.conversion=SAT-INT17", "converted_within"),
        ("x86/vpdpbusd", "steps=(p(0..1+c)+q(2..3)),p.conversion=WRAP-INT40", "wrapped_tree"),
        ("x86/vpdpbusd", "steps=(p(q(0..1+c))+2..3),p.conversion=WRAP-INT32,q.conversion=SAT-INT40",
         "converted_within"),
    ],
)  # fmt: skip
def test_partial_sums_that_nothing_shows_are_none(one: str, other: str, theorem: str) -> None:
    found = equal_by_theorem(resolve(one), resolve(f"{one}@{other}"), 4)
    assert found is not None
    assert theorem in found.theorems
    assert source_of(theorem) == "IntegerUnits.v"


def _arranged(rng: random.Random, items: list[str], stages: list[str]) -> str:
    """A random tree of sums of some terms, with the names of its inner stages."""
    rng.shuffle(items)
    parts: list[list[str]] = [[] for _ in range(rng.randint(1, len(items)))]
    for i, x in enumerate(items):
        parts[i % len(parts)].append(x)
    made = []
    for part in parts:
        if len(part) == 1 and (rng.random() < 0.7 or len(stages) > 3):
            made.append(part[0])
        else:
            stages.append(stage := f"s{len(stages)}")
            made.append(stage + (f"({'+'.join(part)})" if len(stages) > 3 else _arranged(rng, part, stages)))
    return f"({'+'.join(made)})"


@pytest.mark.parametrize("count", [6, pytest.param(1000, marks=pytest.mark.slow)])
def test_forms_say_the_same_as_every_input_of_narrow_formats(count: int) -> None:
    """Equal by theorem: equal on all inputs; and most of what is equal on all inputs is so by theorem."""
    rng, same, unproved = random.Random(5), 0, 0
    words = np.arange(1 << 12, dtype=np.uint64)
    for _ in range(count):
        a, b, d, k = (
            *rng.choice([("int2", "int2", "int3"), ("uint2", "uint2", "int4"), ("uint2", "int2", "uint3")]),
            2,
        )
        units = []
        for _ in range(6):
            stages: list[str] = []
            root = _arranged(rng, ["0", "1", "c"], stages)
            targets = [
                f"{how}-{sign}INT{n}" for how in ("WRAP", "SAT") for sign in ("", "U") for n in range(2, 7)
            ]
            settings = {f"{s}.conversion": rng.choice(targets) for s in stages}
            settings |= {
                "conversion": f"{rng.choice(['WRAP', 'SAT'])}-{d.upper()}",
                "a_format": a,
                "b_format": b,
                "c_format": d,
                "d_format": d,
            }
            units.append(resolve(f"tree@steps={root}," + ",".join(f"{x}={y}" for x, y in settings.items())))
        width = units[0].d_format.width
        c = np.arange(1 << width, dtype=np.uint64)
        x, c = np.repeat(words[:256], len(c)), np.tile(c, 256)
        batch = Batch(np.stack([x & 3, x >> 2 & 3], 1), np.stack([x >> 4 & 3, x >> 6 & 3], 1), c)
        given = [replay(u, batch) for u in units]
        for (u, p), (v, q) in combinations(zip(units, given, strict=True), 2):
            for rows in (slice(None), c == 0):
                equal, proved = (
                    bool((p[rows] == q[rows]).all()),
                    equal_by_theorem(u, v, k, zero_c=not isinstance(rows, slice)),
                )
                assert equal or proved is None, (u.name, v.name)
                same, unproved = same + equal, unproved + (equal and proved is None)
    assert unproved < 0.1 * same


def test_claims_about_roundings_are_refused() -> None:
    with pytest.raises(InputError, match="sums of integers are exact unless they overflow"):
        tcformal.prove_claim("h100:int8", "monotonicity")
    steps = "x86/vpdpbusds@summation=sequential,c_position=first,accumulator=SAT-INT32"
    assert integer_claim(resolve(steps), "product-order") is None
    with pytest.raises(InputError, match="floating-point numbers"):
        coq_design(resolve("h100:int8"))


@pytest.mark.debian
def test_coq_checks_every_instance_and_refuses_one_product_more(tmp_path: Path) -> None:
    compile_sources(tmp_path, "IntegerUnits.v")
    modules = [HEADER]
    for i, name in enumerate(UNITS):
        for claim in ("product-order", "integer-sums"):
            found = theorem_answer(catalogue()[name], claim)
            assert found is not None
            body = found.coq.partition(HEADER)[2]
            modules.append(f"Module M{i}{claim[0]}. {body} End M{i}{claim[0]}.")
    (tmp_path / "All.v").write_text("\n".join(modules), encoding="utf-8")
    assert coqc(tmp_path, "All.v").count("Closed under the global context") == 2 * len(UNITS)
    u = resolve("h100:int8")
    made = integer_claim(u, "integer-sums")
    assert made is not None
    (tmp_path / "Wrong.v").write_text(made.text.replace("<= 131071", "<= 131072"), encoding="utf-8")
    with pytest.raises(InputError, match=r"expected Wrong\.v to compile"):
        coqc(tmp_path, "Wrong.v")
