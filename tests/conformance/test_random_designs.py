"""Random points of the whole design space: lanes against the exact oracle."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from conformance.test_designs import shown
from tcformal.design.names import resolve
from tcformal.design.rounding import (
    ALIGNMENTS,
    C_POSITIONS,
    LOST_BITS,
    MODES,
    NAN_RULES,
    ORDERS,
    OVERFLOWS,
    RESULT_SUBNORMALS,
    SUBNORMALS,
    SUMMATIONS,
    VANISHED,
    ZERO_GROUPS,
    ZERO_SIGNS,
)
from tcformal.design.spec import Design, Operands
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError
from tcformal.oracle.exact import unit_dot
from tcformal.simulation.matrix_unit import Unit, unit
from tcformal.simulation.operands.batch import batch, witness_at

TOY = Format(name="toy", exponent_bits=4, fraction_bits=3, bias=7, specials=Specials.IEEE)
SHAPES = {"fp32": "E8M23", "fp16": "E5M10", "toy": "E4M3"}
VECTORS = 60


def random_design(rng: random.Random, d: Format) -> Design:
    """Some design, legal or not: InputError for a combination without a meaning."""

    def own() -> str:
        return f"{rng.choice([*MODES, 'SR3+5', 'SR16+40000'])}-{SHAPES[d.name]}"

    parameters: dict[str, Any] = {
        "products": rng.choice([1, 2, 3, 4, 6, 8]),
        "summation": rng.choice(list(SUMMATIONS)),
        "c_position": rng.choice(C_POSITIONS),
        "fraction_bits": rng.choice([None, 3, 8, 13, 24]),
        "alignment_rounding": rng.choice([*ALIGNMENTS, *["RZ"] * 5]),
        "c_alignment_rounding": rng.choice([*[None] * 8, *ALIGNMENTS]),
        "c_bits": rng.choice([None] * 5 + [2, 12, 30]),
        "second_fraction_bits": rng.choice([None] * 5 + [2, 7]),
        "operand_rounding": rng.choice([None] * 5 + ["RZ-E8M4", "RNE-E4M2", "RNA-E5M3"]),
        "a_bits": rng.choice([None] * 6 + ["0..1", "2..3", "1..4", "5..9"]),
        "b_bits": rng.choice([None] * 6 + ["0..2", "3..5"]),
        "special_words": rng.choice(["special"] * 4 + ["numbers"]),
        "e_max_of": rng.choice(["terms"] * 4 + ["products"]),
        "normalise_products": rng.random() < 0.3,
        "zero_exponent": rng.choice(["own", "none", "none", -10, -132, 3]),
        "carry_bits": rng.choice([None, None, None, 0, 1, 3]),
        "lost_bits": rng.choice(LOST_BITS),
        "zero_words": rng.choice(["summed", "summed", "skipped"]),
        "exponent_step": rng.choice([*[1] * 6, 2, 4]),
        "order": rng.choice(ORDERS),
        "group": (group := rng.choice([None] * 4 + [1, 2, 4])),
        "group_exponent": 0 if group is None else rng.choice([0, 3, -2]),
        "zero_group": "products" if group is None else rng.choice(ZERO_GROUPS),
        "product_limit": rng.choice([None] * 3 + [4, -2]),
        "sum_fraction_bits": rng.choice([None, 12, 31]),
        "sum_rounding": rng.choice(["RD", "RD", "RZ", "RD_ADDENDS"]),
        "operand_subnormals": rng.choice(SUBNORMALS),
        "b_subnormals": rng.choice([None, None, *SUBNORMALS]),
        "normalise_operands": rng.random() < 0.2,
        "piece_bits": (bits := rng.choice([None] * 6 + [1, 2, 4, 8])),
        "dropped_pieces": 0 if bits is None else rng.choice([0, 0, 1, 2]),
        "negated": rng.choice(["none", "none", "odd", "even", "all"]),
        "c_subnormals": rng.choice(SUBNORMALS),
        "result_subnormals": rng.choice(RESULT_SUBNORMALS),
        "product_rounding": rng.choice([None, None, own(), "RNE-FP32"]),
        "accumulator": rng.choice([None, own(), "RNE-FP32"]),
        "conversion": own(),
        "nan_word": (1 << (d.width - 1)) - 1,
        "nan_rule": rng.choice([*["word"] * 4, *NAN_RULES[1:]]),
        "zero_sign": rng.choice(ZERO_SIGNS),
        "overflow": rng.choice(OVERFLOWS),
    }
    if rng.random() < 0.0005:  # nearly all of these are legal, few of the others
        parameters |= c_apart(rng, d, parameters["fraction_bits"] or 5)
    return Design(**parameters)


def c_apart(rng: random.Random, d: Format, bits: int) -> dict[str, Any]:
    """Parameters of a sum whose c is aligned in another way than its products."""
    grouped = rng.random() < 0.5
    plain = {
        "summation": "fused", "c_position": "joined", "group": None, "group_exponent": 0,
        "zero_group": "products", "carry_bits": None,
    }  # fmt: skip
    nans = rng.random() < 0.5
    return plain | {
        "fraction_bits": bits, "c_fraction_bits": bits + rng.choice([0, 1, 2, 18]), "sum_fraction_bits": None,
        "sum_rounding": "RD", "normalise_products": False, "product_rounding": None,
        "vanished_c": rng.choice(VANISHED),
        "aligned_group": rng.choice([1, 2, 4]) if grouped else None,
        "accumulation": "twos_complement" if grouped else rng.choice(["twos_complement", "ones_complement"]),
        "nan_rule": "products_c" if nans else "word",
        "factor_nan_word": (1 << (d.width - 1)) - 2 if nans else None,
        **({"alignment_rounding": "RD", "order": "ascending"} if grouped else {}),
    }  # fmt: skip


def random_unit(rng: random.Random) -> UnitSpec:
    """A legal design on random formats, with scales in a quarter of the cases."""
    while True:
        names = ("fp16", "bf16", "e4m3", "e2m1", "e5m2fnuz")
        a = rng.choice([TOY, *(FORMATS[name] for name in names)])
        c = rng.choice([TOY, FORMATS["fp32"], FORMATS["fp16"]])
        operands = Operands(a=a, b=rng.choice([a, a, TOY]), c=c, d=c)
        try:
            design = random_design(rng, c)
            scales: dict[str, Any] = {}
            if rng.random() < 0.25:
                scales["scale_format"] = FORMATS[rng.choice(["e8m0", "ue4m3"])]
                scales["scale_block"] = design.group or rng.choice([1, 2, design.products])
            k = design.products * rng.choice([1, 2])
            made = UnitSpec(name="random", m=1, n=1, k=k, operands=operands, design=design, **scales)
            x = batch(made, k, 1, 0)
            Unit(made).dot_bits(x.a, x.b, x.c, x.scale_a, x.scale_b)
        except InputError:
            continue
        return made


def mismatch(spec: UnitSpec, seed: int) -> str:
    """The first vector on which lanes and oracle differ, as text; empty where they agree."""
    x = batch(spec, spec.k, VECTORS, seed)
    lanes = Unit(spec).dot_bits(x.a, x.b, x.c, x.scale_a, x.scale_b)
    for row in range(VECTORS):
        a, b = ([int(v) for v in array[row]] for array in (x.a, x.b))
        scales = [() if s is None else tuple(int(v) for v in s[row]) for s in (x.scale_a, x.scale_b)]
        expected = unit_dot(spec, a, b, int(x.c[row]), *scales)
        if expected != lanes[row]:
            return f"{shown(spec, witness_at(x, row))}   # {lanes[row]:#x}, expected {expected:#x}; {spec}"
    return ""


def sweep(seed: int, designs: int) -> list[str]:
    rng = random.Random(seed)
    return [text for _ in range(designs) if (text := mismatch(random_unit(rng), rng.randrange(10**6)))]


@pytest.mark.parametrize("seed", [0, *(pytest.param(x, marks=pytest.mark.slow) for x in range(1, 8))])
def test_random_designs_agree_with_the_oracle(seed: int) -> None:
    assert sweep(seed, 5) == []


@pytest.mark.slow
def test_a_failing_case_can_be_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the formats have names, what is printed is a command with unit, operands and results."""
    right, rng = unit_dot, random.Random(1)
    monkeypatch.setitem(globals(), "unit_dot", lambda *args: right(*args) ^ 1)
    texts = {spec: mismatch(spec, 3) for spec in (random_unit(rng) for _ in range(24))}
    assert all(texts.values())
    pasted = {spec: text for spec, text in texts.items() if text.startswith("tcformal explain '")}
    assert len(pasted) > 1
    for spec, text in pasted.items():
        command, _, words = text.partition("'")[2].partition("'")
        assert (resolve(command).design, resolve(command).operands) == (spec.design, spec.operands)
        assert words.startswith(" --a 0x")
        assert ", expected 0x" in words
    assert all("toy" in str(spec.operands) or spec.scale_format for spec in texts.keys() - pasted.keys())


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_random_designs_agree_with_the_oracle(seed: int) -> None:
    assert sweep(seed, 500) == []


def test_an_overflow_keeps_its_sign_in_the_next_block() -> None:
    """CDNA2 flushes subnormals of c; an Inf that a block made is no subnormal, whatever its bits."""
    u = unit("cdna2/v_mfma_f32_16x16x8bf16")
    a = np.zeros((1, 8), np.uint16)
    b = a.copy()
    a[0, 0], b[0, 0] = 0xFF7F, 0x7F7F  # -(largest bf16) times the largest: overflows in the first block
    assert u.dot_bits(a, b, np.zeros(1, np.uint32)).tolist() == [0xFF800000]
