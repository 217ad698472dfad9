"""Units of integers as black boxes, written as plain integers: identified, or said what they look like."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest

import tcformal
from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.identification.identification import IdentifyVerdict, Settled
from tcformal.identification.integer_questions import become, conversions_of
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch
from tcformal.theory.equality import equal_by_theorem

Ints = Sequence[int]
Box = Callable[[Ints, Ints, int], int]
INT8, MIXED, UNSIGNED = "int8,int8,int32,int32", "uint8,int8,int32,int32", "uint8,uint8,uint32,uint32"


def wrap(x: int, bits: int = 32) -> int:
    return (x + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def sat(x: int, bits: int = 32) -> int:
    return max(-(1 << bits - 1), min((1 << bits - 1) - 1, x))


def products(a: Ints, b: Ints) -> list[int]:
    return [x * y for x, y in zip(a, b, strict=True)]


def exact(a: Ints, b: Ints, c: int) -> int:
    return c + sum(products(a, b))


def steps(convert: Callable[[int], int], some: Ints, c: int, size: int = 1) -> int:
    for i in range(0, len(some), size):
        c = convert(c + sum(some[i : i + size]))
    return c


def identified(box: Box, formats: str, k: int, vectors: int = 300) -> tcformal.Identification:
    """The identification of a box of numbers."""
    widths = [(int(name.strip("uint")), name[0] == "i") for name in formats.split(",")]

    def numbers(words: object, bits: int, signed: bool) -> list[int]:
        return [int(x) - (signed and int(x) >> bits - 1) * (1 << bits) for x in np.asarray(words).tolist()]

    def device(a: object, b: object, c: object) -> object:
        columns = zip(np.asarray(a), np.asarray(b), numbers(c, *widths[2]), strict=True)
        d = [box(numbers(x, *widths[0]), numbers(y, *widths[1]), z) for x, y, z in columns]
        return np.array([x % (1 << widths[3][0]) for x in d], np.uint64).astype(f"u{widths[3][0] // 8}")

    return tcformal.identify(device, formats, k, vectors=vectors)


INSIDE: dict[str, tuple[Box, str, int, str]] = {
    "wraps": (lambda a, b, c: wrap(exact(a, b, c)), INT8, 4, "turing/dp4a.s32.s32"),
    "saturates at the end": (lambda a, b, c: sat(exact(a, b, c)), MIXED, 4, "x86/vpdpbusds"),
    "saturates after each product": (
        lambda a, b, c: steps(sat, products(a, b), c),
        INT8,
        4,
        "tree@steps=(3+(2+(1+(0+c)))),conversion=SAT-INT32,{}",
    ),
    "the same from the last product on": (
        lambda a, b, c: steps(sat, products(a, b)[::-1], c),
        INT8,
        4,
        "tree@steps=(0+(1+(2+(3+c)))),conversion=SAT-INT32,{}",
    ),
    "saturates after four products": (
        lambda a, b, c: steps(sat, products(a, b), c, 4),
        MIXED,
        8,
        "x86/vpdpbusds",
    ),
    "saturates unsigned": (
        lambda a, b, c: min((1 << 32) - 1, exact(a, b, c)),
        UNSIGNED,
        4,
        "x86/vpdpbuuds",
    ),
    "pairs saturate in 16 bits": (
        lambda a, b, c: wrap(c + sum(sat(sum(products(a, b)[i : i + 2]), 16) for i in (0, 2))),
        MIXED,
        4,
        "tree@steps=(g(0+1)+g(2+3)+c),g.conversion=SAT-INT16,{}",
    ),
    "pairs half the sum apart do": (
        lambda a, b, c: wrap(c + sum(sat(sum(products(a, b)[i::2]), 16) for i in (0, 1))),
        MIXED,
        4,
        "tree@steps=(g(0+2)+g(1+3)+c),g.conversion=SAT-INT16,{}",
    ),
    "pairs saturate, their sums wrap": (
        lambda a, b, c: wrap(c + wrap(sum(sat(sum(products(a, b)[i : i + 2]), 16) for i in (0, 2)), 16)),
        MIXED,
        4,
        "tree@steps=(h(g(0+1)+g(2+3))+c),g.conversion=SAT-INT16,h.conversion=WRAP-INT16,{}",
    ),
    "three products and five": (
        lambda a, b, c: wrap(c + sat(sum(products(a, b)[:3]), 16) + sat(sum(products(a, b)[3:]), 16)),
        MIXED,
        8,
        "tree@steps=(g(0..2)+g(3..7)+c),g.conversion=SAT-INT16,{}",
    ),
    "a sum in 16 bits": (
        lambda a, b, c: wrap(exact(a, b, c), 16),
        INT8,
        4,
        "tree@steps=(s(0..3+c)),s.conversion=WRAP-INT16,{}",
    ),
    "c and two products in 24 bits": (
        lambda a, b, c: sat(wrap(c + sum(products(a, b)[1:3]), 24) + a[0] * b[0] + a[3] * b[3]),
        INT8,
        4,
        "tree@steps=(s(1+2+c)+0+3),s.conversion=WRAP-INT24,{}",
    ),
    "steps in 24 bits": (
        lambda a, b, c: steps(lambda x: sat(x, 24), products(a, b), c),
        INT8,
        2,
        "tree@steps=(s(1+s(0+c))),s.conversion=SAT-INT24,{}",
    ),
    "products in 12 bits": (
        lambda a, b, c: wrap(c + sum(sat(x, 12) for x in products(a, b))),
        INT8,
        2,
        "tree@steps=(p(0)+p(1)+c),p.conversion=SAT-INT12,{}",
    ),
    "no c": (lambda a, b, c: wrap(exact(a, b, 0)), INT8, 2, "tree@steps=(0+1),{}"),
}


@pytest.mark.parametrize("name", INSIDE)
def test_a_box_of_the_space_is_identified(name: str) -> None:
    box, formats, k, wanted = INSIDE[name]
    found = identified(box, formats, k)
    assert (found.verdict, found.survivors > 0) == (IdentifyVerdict.IDENTIFIED, True), found.reason
    own = ",".join(f"{x}_format={y}" for x, y in zip("abcd", formats.split(","), strict=True))
    assert found.simplest is not None
    assert equal_by_theorem(resolve(found.simplest), resolve(wanted.format(own)), k) is not None
    assert found.axes
    assert all(x.settled is not Settled.UNDECIDED for x in found.axes)
    batch, answers = found.history
    for x in found.axes:
        if x.probe is not None:
            assert replay(resolve(x.design), batch)[x.probe] != answers[x.probe]


OUTSIDE: dict[str, tuple[Box, str, int, str]] = {
    "results are halved": (
        lambda a, b, c: wrap(exact(a, b, c) >> 1),
        INT8,
        4,
        "results are halved, rounded down",
    ),
    "biased": (lambda a, b, c: wrap(exact(a, b, c) + 3), INT8, 4, "3 added to every sum"),
    "a product dropped": (
        lambda a, b, c: wrap(exact(a, b, c) - a[2] * b[2]),
        INT8,
        4,
        "product 2 never added",
    ),
    "a product subtracted": (
        lambda a, b, c: wrap(exact(a, b, c) - 2 * a[1] * b[1]),
        INT8,
        4,
        "product 1 subtracted",
    ),
    "products cut": (
        lambda a, b, c: wrap(c + sum(x >> 4 << 4 for x in products(a, b))),
        INT8,
        4,
        "the low 4 bits of products are cut off",
    ),
    "operands cut": (
        lambda a, b, c: wrap(exact([x & ~3 for x in a], b, c)),
        INT8,
        4,
        "the low 2 bits of a are not read",
    ),
    "a read without its sign": (
        lambda a, b, c: wrap(exact([x & 255 for x in a], b, c)),
        INT8,
        4,
        "a read as uint8",
    ),
    "zero points": (
        lambda a, b, c: wrap(exact([x - 128 for x in a], [y - 5 for y in b], c)),
        "uint8,int8,int32,int32",
        4,
        "zero points: (a - 128)·(b - 5)",
    ),
    "ends of its own": (
        lambda a, b, c: max(-9000, min(9000, exact(a, b, c))),
        INT8,
        4,
        "ends at -9000 and 9000",
    ),
    "summed in fp32": (
        lambda a, b, c: sat(int(np.float32(exact(a, b, c)))),
        INT8,
        4,
        "not exact: sums keep 24 bits, as fp32",
    ),
    "one product saturates": (
        lambda a, b, c: wrap(exact(a, b, c) - a[1] * b[1] + max(-16000, min(16000, a[1] * b[1]))),
        INT8,
        4,
        "a product that becomes another number (16384 becomes 16000: product 1)",
    ),
    "c counts twice": (lambda a, b, c: wrap(exact(a, b, 2 * c)), INT8, 4, "c multiplied by 2"),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_box_outside_the_space_is_described(name: str) -> None:
    box, formats, k, said = OUTSIDE[name]
    found = identified(box, formats, k)
    assert found.verdict is IdentifyVerdict.OUTSIDE, found.reason
    assert found.measured is not None
    assert said in found.measured["looks like"]
    assert found.unfit


@pytest.mark.parametrize(
    "box",
    [
        # Saturates in its first step alone; in all but one; at one end alone; for one product alone.
        lambda a, b, c: wrap(sat(c + a[0] * b[0]) + sum(products(a, b)[1:])),
        lambda a, b, c: sat(wrap(steps(sat, products(a, b)[:2], c) + a[2] * b[2]) + a[3] * b[3]),
        lambda a, b, c: wrap(min((1 << 31) - 1, exact(a, b, c))),
        lambda a, b, c: wrap(c + sat(a[0] * b[0] + a[1] * b[1], 15) + a[2] * b[2] + a[3] * b[3]),
    ],
)
def test_a_box_that_saturates_once_otherwise_is_no_unit(box: Box) -> None:
    found = identified(box, INT8, 4)
    if found.verdict is IdentifyVerdict.IDENTIFIED:  # then as that box, on inputs that no search has seen
        assert found.simplest is not None
        rng = np.random.default_rng(99)
        for _ in range(500):
            a, b = (rng.choice([-128, -127, -1, 0, 1, 127], 4).tolist() for _ in "ab")
            c = int(rng.choice([-(1 << 31), (1 << 31) - 1])) + int(rng.integers(-1 << 16, 1 << 16))
            c = sat(c)
            x, y = (np.array([[z % 256 for z in row]], np.uint8) for row in (a, b))
            d = tcformal.unit(found.simplest).dot_bits(x, y, np.array([c % (1 << 32)], np.uint32))
            assert int(d[0]) == box(a, b, c) % (1 << 32)


def test_a_box_with_a_state_is_not_deterministic() -> None:
    calls = [0]

    def box(a: Ints, b: Ints, c: int) -> int:
        calls[0] += 1
        return wrap(exact(a, b, c) + (calls[0] % 7 == 0))

    assert identified(box, INT8, 4).verdict is IdentifyVerdict.NON_DETERMINISTIC


def test_one_answer_that_is_wrong_is_no_unit() -> None:
    """A box that is wrong for one input of all, a product at the end of its range."""
    wrong = ([-128] + [0] * 3, [-128] + [0] * 3, 0)
    found = identified(lambda a, b, c: wrap(exact(a, b, c)) + ((list(a), list(b), c) == wrong), INT8, 4)
    assert found.verdict is not IdentifyVerdict.IDENTIFIED


@pytest.mark.parametrize("count", [6, pytest.param(400, marks=pytest.mark.slow)])
def test_what_is_identified_is_that_function_on_every_input_of_narrow_formats(count: int) -> None:
    """Random trees of sums of two products, most of them in no space that is searched."""
    rng, found = random.Random(8), 0
    words = np.arange(1 << 13, dtype=np.uint64)
    parts = [words >> np.uint64(2 * i) & np.uint64(3) for i in range(4)]
    batch = Batch(np.stack(parts[:2], 1), np.stack(parts[2:], 1), words >> np.uint64(8))
    for _ in range(count):
        root = rng.choice(
            ["(s(0+1)+c)", "(s(0+c)+1)", "(s(0+1+c))", "(s(0)+t(1)+c)", "(s(t(0+1)+c))", "(s(1)+0+c)"]
        )
        stages = [x for x in "st" if f"{x}(" in root]
        targets = [
            f"{rng.choice(['WRAP', 'SAT'])}-{rng.choice(['', 'U'])}INT{rng.randint(2, 6)}" for _ in stages
        ]
        settings = {f"{x}.conversion": target for x, target in zip(stages, targets, strict=True)}
        a, b = (f"{rng.choice(['', 'u'])}int2" for _ in "ab")
        settings |= {"conversion": f"{rng.choice(['WRAP', 'SAT'])}-INT5", "a_format": a, "b_format": b}
        settings |= {"c_format": "int5", "d_format": "int5"}
        unit = tcformal.unit(f"tree@steps={root}," + ",".join(f"{x}={y}" for x, y in settings.items()))
        made = tcformal.identify(unit.dot_bits, f"{a},{b},int5,int5", 2, vectors=50)
        if made.simplest is not None:
            found += 1
            assert (replay(resolve(made.simplest), batch) == replay(unit.spec, batch)).all(), unit.name
    assert found >= count // 3


@pytest.mark.slow
@pytest.mark.parametrize("calls", [1, 2])
@pytest.mark.parametrize("name", list(distinct_designs(lambda u: u.d_format.integer)))
def test_every_design_of_the_catalogue_is_identified(name: str, calls: int) -> None:
    unit = tcformal.unit(name)
    k = unit.k * calls
    found = tcformal.identify(unit.dot_bits, ",".join(unit.spec.operands.names().values()), k, vectors=300)
    assert found.verdict is IdentifyVerdict.IDENTIFIED, found.reason
    assert found.simplest is not None
    assert equal_by_theorem(resolve(found.simplest), unit.spec, k) is not None


def test_more_products_than_a_circuit_is_built_of_are_refused() -> None:
    with pytest.raises(
        InputError, match="expected at most 256 products of integers to identify, but got 257"
    ):
        tcformal.identify(tcformal.unit("x86/vpdpbusd").dot_bits, MIXED, 257)


@pytest.mark.parametrize(("total", "got"), [(40000, 32767), (-40000, -32768), (65536, 0), (300, 44), (-5, 0)])
def test_conversions_that_are_named_make_that_number(total: int, got: int) -> None:
    assert conversions_of(total, got)
    assert all(become(x, total) == got for x in conversions_of(total, got))
    assert not conversions_of(total, 29)
