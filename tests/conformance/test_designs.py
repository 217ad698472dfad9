"""Every design means the same on lanes, on integers, in a trace, and to the oracle.

Three tiers: toy formats with every operand there is, seeded vectors on real formats for each family of
designs, and (marked `long`) a million vectors for each family.  A last group shows that the comparison
tells a design from one that differs in a single parameter.
"""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

from sampled import one_in
from tcformal.backends.concrete import Concrete
from tcformal.design.names import resolve
from tcformal.design.rounding import (
    ACCUMULATIONS,
    ALIGNMENTS,
    C_POSITIONS,
    C_SUBNORMALS,
    E_MAX_OF,
    LOST_BITS,
    MODES,
    NAN_RULES,
    NEGATED,
    ORDERS,
    OVERFLOWS,
    RESULT_SUBNORMALS,
    SPECIAL_WORDS,
    SUBNORMALS,
    SUM_ROUNDINGS,
    SUMMATIONS,
    VANISHED,
    ZERO_GROUPS,
    ZERO_SIGNS,
    ZERO_WORDS,
)
from tcformal.design.spec import Design, Operands
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.errors import InputError
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import ExactValue, NumberClass, decode
from tcformal.semantics.chain import circuit
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.operands.batch import Batch, Raw, batch, edge_encodings, one_operand
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result

SEED = 20260712
#: Vectors of each family of designs in the default tests (the long ones take a million), and how many of
#: them the oracle is asked about besides those of rare results.
VECTORS, ASKED = 10_000, 150
#: Lanes at once: every node of a large design keeps this many words.
CHUNK = 8192


def rows(x: Batch, chosen: Any) -> Batch:
    """Some of the rows."""
    scales = [None if array is None else array[chosen] for array in (x.scale_a, x.scale_b)]
    return Batch(x.a[chosen], x.b[chosen], x.c[chosen], *scales)


def joined(first: Batch, second: Batch) -> Batch:
    """The rows of two batches without scales."""
    pairs = zip((first.a, first.b, first.c), (second.a, second.b, second.c), strict=True)
    return Batch(*(np.concatenate(pair) for pair in pairs))


# --------------------------------------------------------------------- comparing
def lanes(spec: UnitSpec, x: Batch) -> Raw:
    """The results of the vector interpretation."""
    unit = Unit(spec)
    parts = [rows(x, slice(start, start + CHUNK)) for start in range(0, len(x.c), CHUNK)]
    return np.concatenate([unit.dot_bits(p.a, p.b, p.c, p.scale_a, p.scale_b) for p in parts])


def witnesses(x: Batch) -> Iterator[Witness]:
    """The rows, one by one."""
    none = np.zeros((len(x.c), 0), np.uint64)
    scales = [none if array is None else array for array in (x.scale_a, x.scale_b)]
    for a, b, c, alpha, beta in zip(*(array.tolist() for array in (x.a, x.b, x.c, *scales)), strict=True):
        yield Witness(tuple(a), tuple(b), c, tuple(alpha), tuple(beta))


def from_oracle(spec: UnitSpec, x: Batch) -> Raw:
    """The results of the oracle."""
    return np.array([oracle_result(spec, w) for w in witnesses(x)], dtype=np.uint64)


def shown(spec: UnitSpec, w: Witness) -> str:
    """A command that takes this case apart, raw encodings as they are; a remark where no name can."""
    options = {"--a": w.a, "--b": w.b, "--c": (w.c,), "--scale-a": w.scale_a, "--scale-b": w.scale_b}
    texts = (f"{option} {','.join(f'{x:#x}' for x in words)}" for option, words in options.items() if words)
    name = named(spec)
    return f"tcformal explain '{name}' {' '.join(texts)}" if name else f"# {spec.name}: {' '.join(texts)}"


def named(spec: UnitSpec) -> str:
    """A name that stands for exactly this unit, its own or one of a family; empty where there is none."""
    o, d = spec.operands, spec.design
    settings: dict[str, Any] = {f"{letter}_format": getattr(o, letter).name for letter in "abcd"}
    settings |= d.parameters() | {"k": spec.k, "normalise_products": str(d.normalise_products).lower()}
    settings |= {key: "exact" for key in ("fraction_bits", "carry_bits") if settings[key] is None}
    text = ",".join(f"{key}={value}" for key, value in settings.items() if value is not None)
    for name in (spec.name, *(f"{family}@{text}" for family in ("tfdpa", "sequential"))):
        with suppress(InputError):
            made = resolve(name)
            same = (made.operands, made.design, made.k, made.scale_block) == (o, d, spec.k, spec.scale_block)
            if same and made.emulation == spec.emulation:
                return name
    return ""


def compare(spec: UnitSpec, x: Batch, found: Raw, expected: Raw) -> None:
    """Fail with the cases that differ, each ready to be explained."""
    wrong = np.flatnonzero(found.astype(np.uint64) != expected.astype(np.uint64))
    if not len(wrong):
        return
    lines = [
        f"{shown(spec, w)}   # {int(found[i]):#x}, expected {int(expected[i]):#x}"
        for i, w in zip(wrong, witnesses(rows(x, wrong[:5])), strict=False)
    ]
    pytest.fail(f"{len(wrong)} of {len(found)} results differ ({spec.design})\n" + "\n".join(lines))


def check_others(spec: UnitSpec, x: Batch, found: Raw, *, integers: int) -> None:
    """The integer interpretation on rows spread over all of them."""
    graph, root = circuit(spec, x.a.shape[1])
    run = Concrete(graph, [root], singly=0)
    chosen = np.random.default_rng(SEED).permutation(len(found))[:integers]
    some = rows(x, chosen)
    results = [run(w.inputs())[0] for w in witnesses(some)]
    compare(spec, some, np.array(results, np.uint64), found[chosen])


# --------------------------------------------------------------------- toy formats, all operands
def toy_format(
    name: str,
    exponent_bits: int,
    fraction_bits: int,
    bias: int,
    specials: Specials,
    sign: Sign = Sign.PRESENT,
) -> Format:
    return Format(
        name=name, exponent_bits=exponent_bits, fraction_bits=fraction_bits, bias=bias, specials=specials,
        sign=sign,
    )  # fmt: skip


IEEE, NONE = Specials.IEEE, Specials.NONE
#: Result formats; their biases are those that a conversion to as many exponent bits has.
E3M2, E2M2 = toy_format("toy_e3m2", 3, 2, 3, IEEE), toy_format("toy_e2m2", 2, 2, 1, IEEE)

#: Two products of magnitude 0 to 4.5, of two exponents, subnormal, Inf and NaN; c without a sign, from far
#: below to far above them.  2^17 operands.
TWO = (
    toy_format("toy_a", 2, 1, 1, IEEE),
    toy_format("toy_b", 1, 1, 1, NONE),
    toy_format("toy_c", 3, 0, 4, NONE, Sign.ABSENT),
)
#: One product, all three with subnormals, Inf and NaN.  2^16 operands.
ONE = (toy_format("toy_x", 3, 1, 3, IEEE), toy_format("toy_y", 2, 2, 1, IEEE), E3M2)
#: Two products, every operand of them with NaNs of both signs.  2^17 operands.
NANS = (
    toy_format("toy_n", 1, 2, 1, IEEE),
    toy_format("toy_m", 1, 1, 1, IEEE),
    toy_format("toy_l", 1, 1, 1, IEEE),
)

NAN_WORDS = {"toy_e3m2": 0b011101, "toy_e2m2": 0b11111}


def toy(
    name: str, k: int, inputs: tuple[Format, Format, Format], d: Format, rho: str, changes: dict[str, Any]
) -> UnitSpec:
    shape = {"toy_e3m2": "E3M2", "toy_e2m2": "E2M2"}[d.name]
    parameters: dict[str, Any] = {"products": k, "conversion": f"{rho}-{shape}"}
    design = Design(**(parameters | {"nan_word": NAN_WORDS[d.name]} | changes))
    a, b, c = inputs
    operands = Operands(a=a, b=b, c=c, d=d)
    return UnitSpec(name=name, m=1, n=1, k=k, operands=operands, design=design)


def chained(**changes: Any) -> dict[str, Any]:
    """Parameters of IEEE-style partial sums."""
    return {"zero_sign": "ieee", "overflow": "ieee"} | changes


def stepwise(summation: str, c_position: str, accumulator: str, **changes: Any) -> dict[str, Any]:
    return {"summation": summation, "c_position": c_position, "accumulator": accumulator} | changes


#: What CDNA3's sums have in common.
DOWN: dict[str, Any] = {"c_position": "last", "zero_sign": "sum"}

#: Name -> rounding of the result, and what else differs from an exact fused sum with c in it.
DESIGNS: dict[str, tuple[str, dict[str, Any]]] = {
    # Fused, truncated: every conversion, alignment rounding, zero exponent, and bounded carries.
    "rz": ("RZ", {"fraction_bits": 3}),
    "rne-own": ("RNE", {"fraction_bits": 2, "zero_exponent": "own"}),
    "rna-align-rne": ("RNA", {"fraction_bits": 1, "zero_exponent": 0, "alignment_rounding": "RNE"}),
    "rd-align-rd": ("RD", {"fraction_bits": 3, "alignment_rounding": "RD", "zero_sign": "ieee"}),
    "ru-align-ru": (
        "RU",
        {"fraction_bits": 2, "alignment_rounding": "RU", "zero_exponent": -9, "overflow": "ieee"},
    ),
    "rz-align-rna": (
        "RZ",
        {"fraction_bits": 3, "alignment_rounding": "RNA", "zero_exponent": 2, "overflow": "ieee"},
    ),
    "rd-carry-0": ("RD", {"fraction_bits": 2, "carry_bits": 0, "overflow": "ieee"}),
    "ru-carry-1": ("RU", chained(fraction_bits=3, carry_bits=1, zero_exponent="own")),
    "rz-carry-2-high-zero": ("RZ", {"fraction_bits": 4, "carry_bits": 2, "zero_exponent": 5}),
    "normalised": ("RZ", {"fraction_bits": 2, "normalise_products": True}),
    "normalised-own": ("RNE", {"fraction_bits": 1, "normalise_products": True, "zero_exponent": "own"}),
    "normalised-carry": (
        "RZ",
        {"fraction_bits": 2, "normalise_products": True, "zero_exponent": 0, "carry_bits": 1},
    ),
    "normalised-align-rd": (
        "RD",
        chained(fraction_bits=2, normalise_products=True, zero_exponent=1, alignment_rounding="RD"),
    ),
    "more-bits-than-needed": ("RNE", chained(fraction_bits=9, zero_exponent="own")),
    # Fused, exact.
    "exact-rne": ("RNE", chained()),
    "exact-rd": ("RD", chained()),
    "exact-ru-positive": ("RU", {"zero_sign": "positive", "overflow": "infinity"}),
    "exact-rounded-products": ("RZ", {"product_rounding": "RNE-E2M1"}),
    "truncated-rounded-products": ("RNE", {"fraction_bits": 2, "product_rounding": "RZ-E3M1"}),
    # Fused products, then c.
    "last-fused": ("RZ", {"fraction_bits": 2, **stepwise("fused", "last", "RZ-E3M2", zero_exponent=-1)}),
    "last-exact": ("RD", chained(**stepwise("fused", "last", "RU-E3M1"))),
    "last-normalised": (
        "RNA",
        stepwise("fused", "last", "RNE-E4M3", fraction_bits=2, normalise_products=True, carry_bits=1),
    ),
    # One after the other: every rounding, c at either end, exact and truncated steps.
    "first-rne": ("RNE", chained(**stepwise("sequential", "first", "RNE-E3M2"))),
    "first-rna": ("RNA", chained(**stepwise("sequential", "first", "RNA-E3M2"))),
    "first-rz": ("RZ", chained(**stepwise("sequential", "first", "RZ-E3M2"))),
    "first-rd": ("RD", chained(**stepwise("sequential", "first", "RD-E3M2"))),
    "first-ru": ("RU", chained(**stepwise("sequential", "first", "RU-E3M2"))),
    "first-truncated": (
        "RNE",
        stepwise("sequential", "first", "RZ-E2M3", fraction_bits=2, zero_exponent="own"),
    ),
    "last-rne": ("RNE", chained(**stepwise("sequential", "last", "RNE-E3M2"))),
    "last-ru-coarse": ("RD", chained(**stepwise("sequential", "last", "RU-E3M1"))),
    "last-truncated": ("RZ", stepwise("sequential", "last", "RNE-E3M1", fraction_bits=3, zero_exponent=0)),
    # As a tree, then c.
    "pairwise-rne": ("RNE", chained(**stepwise("pairwise", "last", "RNE-E3M2"))),
    "pairwise-rounded-products": (
        "RZ",
        stepwise("pairwise", "last", "RD-E3M1", product_rounding="RU-E3M1", overflow="ieee"),
    ),
    "pairwise-truncated": (
        "RNA",
        stepwise("pairwise", "last", "RZ-E3M2", fraction_bits=1, product_rounding="RNA-E3M1"),
    ),
    "first-rounded-products": (
        "RNE",
        chained(**stepwise("sequential", "first", "RNE-E3M2", product_rounding="RD-E3M1")),
    ),
    # Rounding to odd, wherever bits are cut.
    "ro-align-ro": ("RO", {"fraction_bits": 3, "alignment_rounding": "RO", "overflow": "ieee"}),
    "exact-ro": ("RO", chained(product_rounding="RO-E3M1")),
    "pairwise-ro": ("RNE", chained(**stepwise("pairwise", "last", "RO-E3M2", product_rounding="RO-E3M2"))),
    # Two chains, CDNA3's sums, other signs of zero.
    "two-chains": ("RNE", chained(**stepwise("two_chains", "last", "RZ-E3M2"))),
    "two-chains-truncated": (
        "RU",
        stepwise("two_chains", "last", "RNE-E3M1", fraction_bits=2, zero_exponent="own", zero_sign="sum"),
    ),
    "tr": ("RNE", {**DOWN, "summation": "tr", "fraction_bits": 2, "sum_fraction_bits": 4}),
    "tr-limited": (
        "RZ",
        {**DOWN, "summation": "tr", "fraction_bits": 2, "sum_fraction_bits": 2, "product_limit": 2},
    ),
    "tr-to-zero": (
        "RNE",
        {**DOWN, "summation": "tr", "fraction_bits": 2, "sum_fraction_bits": 4, "sum_rounding": "RZ"},
    ),
    "tr-addends": (
        "RNE",
        {**DOWN, "summation": "tr", "fraction_bits": 2, "sum_fraction_bits": 4, "sum_rounding": "RD_ADDENDS"},
    ),
    "gtr-addends": (
        "RNE",
        {
            **DOWN,
            "summation": "gtr",
            "fraction_bits": 2,
            "sum_fraction_bits": 4,
            "sum_rounding": "RD_ADDENDS",
        },
    ),
    "gtr": ("RNE", {**DOWN, "summation": "gtr", "fraction_bits": 2, "sum_fraction_bits": 4}),
    "gtr-limited": (
        "RNE",
        {**DOWN, "summation": "gtr", "fraction_bits": 1, "sum_fraction_bits": 2, "product_limit": 0},
    ),
    # Flushed subnormals.
    "flushed-to-positive": (
        "RNE",
        chained(
            operand_subnormals="positive_zero", c_subnormals="positive_zero", result_subnormals="signed_zero"
        ),
    ),
    "flushed-to-signed": (
        "RD",
        chained(
            operand_subnormals="signed_zero",
            c_subnormals="signed_zero",
            result_subnormals="signed_zero",
            **stepwise("sequential", "first", "RU-E3M2"),
        ),
    ),
    "flushed-products": (
        "RNE",
        stepwise(
            "pairwise",
            "last",
            "RNE-E3M2",
            product_rounding="RNE-E2M2",
            result_subnormals="signed_zero",
            zero_sign="ieee",
        ),
    ),
    # Orders, groups, NaN operands handed on.
    "odd-first": ("RNE", chained(order="odd_first", **stepwise("sequential", "first", "RNE-E3M2"))),
    "nan-of-first": (
        "RNE",
        chained(nan_rule="first_operand", **stepwise("sequential", "first", "RNE-E3M2")),
    ),
    "nan-of-chains": (
        "RNE",
        chained(nan_rule="first_operand", **stepwise("two_chains", "last", "RNE-E3M2")),
    ),
    "nan-of-b": ("RNE", chained(products=1, nan_rule="b_sum_a")),
    "nan-of-a": ("RNE", chained(products=1, nan_rule="a_sum_b")),
    "sign-magnitude": ("RZ", {"fraction_bits": 2, "zero_exponent": -1, "accumulation": "sign_magnitude"}),
    "group-of-one": ("RZ", {"fraction_bits": 2, "group": 1, "zero_exponent": -1}),
    "group-of-two": ("RZ", {"fraction_bits": 3, "group": 2, "zero_exponent": 1}),
    "group-raised": (
        "RZ",
        {
            "fraction_bits": 4,
            "group": 2,
            "group_exponent": 2,
            "zero_group": "scale",
            "zero_exponent": -1,
            "alignment_rounding": "RD",
            "c_alignment_rounding": "RNA",
            "sum_fraction_bits": 2,
        },
    ),
    "sum-cut": ("RNE", {"fraction_bits": 4, "sum_fraction_bits": 2, "zero_sign": "ieee"}),
    # c aligned apart: complements, groups rounded down, a second rounding, the words of NaNs.
    "complement": (
        "RNE",
        {
            "fraction_bits": 2,
            "c_fraction_bits": 3,
            "zero_exponent": -1,
            "accumulation": "ones_complement",
            "result_subnormals": "tiny_zero",
        },
    ),
    "complement-ieee": (
        "RU",
        chained(
            fraction_bits=1, c_fraction_bits=1, accumulation="ones_complement", result_subnormals="tiny_zero"
        ),
    ),
    "aligned-pair": (
        "RNE",
        {
            "fraction_bits": 2,
            "c_fraction_bits": 4,
            "zero_exponent": -3,
            "aligned_group": 2,
            "alignment_rounding": "RD",
        },
    ),
    "aligned-ones": (
        "RZ",
        {
            "fraction_bits": 2,
            "c_fraction_bits": 3,
            "aligned_group": 1,
            "alignment_rounding": "RD",
            "vanished_c": "dropped",
            "accumulator": "RNE-E3M2",
            "zero_sign": "sum",
        },
    ),
    # Factors normalised, and cut into pieces whose products are terms.
    "normalised-factors": ("RZ", {"fraction_bits": 2, "normalise_operands": True, "zero_exponent": -9}),
    "pieces": ("RZ", {"fraction_bits": 2, "piece_bits": 1, "zero_exponent": -2}),
    "pieces-dropped": (
        "RNE",
        {"fraction_bits": 1, "piece_bits": 1, "dropped_pieces": 1, "normalise_operands": True},
    ),
    "nan-of-products": ("RNE", chained(nan_rule="products_c", factor_nan_word=0b011110)),
    "odd-negated": ("RD", chained(negated="odd")),
    "even-negated": ("RU", chained(negated="even")),
    "all-negated": ("RD", {"negated": "all", "fraction_bits": 2, "zero_sign": "ieee"}),
    # Results that overflow below the largest number of the format, to Inf or to the largest one left.
    "limited": ("RNE", {"conversion": "RNE-E3M2:2", "fraction_bits": 3}),
    "limited-ieee": ("RU", chained(conversion="RU-E3M2:1")),
    "largest": ("RNE", {"overflow": "largest", "zero_sign": "sum"}),
    "largest-steps": (
        "RNA",
        {"overflow": "largest", "conversion": "RNA-E3M2:2"}
        | stepwise("sequential", "first", "RD-E3M2:1", product_rounding="RU-E3M2:1"),
    ),
    "b-flushed": (
        "RNE",
        chained(b_subnormals="positive_zero", **stepwise("sequential", "first", "RNE-E3M2")),
    ),
    "a-flushed": (
        "RNE",
        chained(
            operand_subnormals="signed_zero",
            b_subnormals="kept",
            **stepwise("sequential", "first", "RNE-E3M2"),
        ),
    ),
    # c added to the sum of the cut products before that is rounded.
    "then-c": ("RNE", chained(fraction_bits=2, c_position="after", zero_exponent=-2)),
    "pieces-then-c": ("RD", chained(fraction_bits=1, c_position="after", piece_bits=1, zero_exponent="own")),
    # Lost bits jammed, and blocks of zero words that leave c as it is.
    "jammed": ("RZ", {"fraction_bits": 2, "lost_bits": "jammed", "zero_sign": "ieee"}),
    "jammed-chain": (
        "RNE",
        chained(fraction_bits=1, lost_bits="jammed", zero_words="skipped", c_subnormals="signed_zero"),
    ),
    "jammed-normalised": (
        "RU",
        {"fraction_bits": 1, "lost_bits": "jammed", "normalise_products": True, "zero_sign": "sum"},
    ),
    "skipped": ("RD", chained(products=1, zero_words="skipped", zero_sign="ieee")),
    # One sticky bit for what alignment cuts off; zeros that count as ones.
    "sticky": (
        "RNE",
        {"fraction_bits": 2, "lost_bits": "sticky", "zero_exponent": -2, "carry_bits": 1, "zero_sign": "sum"},
    ),
    "sticky-up": ("RU", {"fraction_bits": 1, "lost_bits": "sticky", "zero_sign": "sum"}),
    "zeros-as-ones": ("RNE", {"fraction_bits": 3, "lost_bits": "sticky", "zero_terms": -40}),
    # Halves of a product cut apart; exponents in steps.
    "halves": ("RNE", {"fraction_bits": 1, "lost_bits": "halves", "c_position": "after", "zero_sign": "sum"}),
    "halves-steps": (
        "RD",
        {"fraction_bits": 2, "lost_bits": "halves", "c_position": "after", "exponent_step": 2, "products": 1},
    ),
    "steps": ("RZ", chained(fraction_bits=2, exponent_step=4, zero_exponent="own")),
    # Products and partial sums in fixed point, which overflow or wrap.
    "fixed-products": (
        "RNE",
        chained(**stepwise("sequential", "first", "RNE-Q2.2", product_rounding="RZ-Q1.3")),
    ),
    "fixed-chain": ("RD", stepwise("sequential", "last", "RD-Q1.1", zero_sign="sum")),
    "fixed-cut": ("RZ", stepwise("fused", "last", "RU-Q1.2", fraction_bits=2, zero_exponent=-2)),
    "wrapped": ("RNE", stepwise("fused", "last", "RNE-W1.2", zero_sign="sum")),
    "wrapped-products": ("RNE", {"product_rounding": "RO-W1.1", "zero_sign": "ieee"}),
    # A subnormal c with a hidden bit.
    "hidden-c": ("RNE", {"fraction_bits": 4, "lost_bits": "sticky", "c_subnormals": "hidden_bit"}),
    # Ties that go up; c cut in another way, and to more or fewer bits; terms cut twice; a sum of -1 unit.
    "ties-up": (
        "RNE",
        {"fraction_bits": 1, "alignment_rounding": "RNU", "c_alignment_rounding": "RNA", "zero_exponent": -2},
    ),
    "c-wider": ("RZ", {"fraction_bits": 1, "c_bits": 3, "zero_exponent": -9}),
    "c-narrower": ("RD", {"fraction_bits": 3, "c_bits": 1, "alignment_rounding": "RU", "zero_sign": "ieee"}),
    "cut-twice": ("RNE", {"fraction_bits": 3, "second_fraction_bits": 1, "alignment_rounding": "RNU"}),
    "minus-one": ("RNE", {"fraction_bits": 2, "minus_one": 2, "zero_sign": "sum"}),
    # Encodings of Inf and NaN that are numbers, in results as well.
    "no-specials": ("RNE", {"fraction_bits": 2, "special_words": "numbers", "overflow": "ieee"}),
    "one-binade-more": (
        "RNA",
        {"special_words": "numbers", "overflow": "largest", "conversion": "RNA-E3M2:5"},
    ),
    # Largest exponents of the products alone: c shifted left, lost where none has one, wrapped.
    "max-of-products": ("RZ", {"fraction_bits": 2, "e_max_of": "products"}),
    "max-with-zeros": (
        "RNE",
        {"fraction_bits": 1, "e_max_of": "products", "zero_exponent": -5, "alignment_rounding": "RD"},
    ),
    "max-wrapped": (
        "RD",
        {"fraction_bits": 3, "e_max_of": "products", "zero_exponent": "own", "carry_bits": 2},
    ),
    # Factors rounded, or some bits of them alone.
    "rounded-factors": ("RNE", chained(operand_rounding="RNA-E2M1")),
    "first-bits": ("RZ", {"fraction_bits": 2, "a_bits": "0..0", "zero_exponent": -2}),
    "later-bits": ("RNE", {"fraction_bits": 2, "a_bits": "1..2", "b_bits": "1..1", "zero_exponent": -3}),
    # Two blocks of one product: the first result is the c of the second.
    "blocks-fused": ("RZ", {"products": 1, "fraction_bits": 2, "zero_exponent": -2}),
    "blocks-fma": ("RNE", chained(products=1, **stepwise("sequential", "first", "RNE-E3M2"))),
}

#: Designs that are also tried with results of fewer exponents: overflow and subnormal results are common.
NARROW = (
    "complement",
    "complement-ieee",
    "aligned-pair",
    "rne-own",
    "ru-align-ru",
    "exact-rd",
    "first-ru",
    "tr",
    "tr-to-zero",
)
#: Designs of one product and c: fractions in every operand.
SINGLE = (
    "rna-align-rne", "ru-align-ru", "ru-carry-1", "normalised", "normalised-align-rd", "exact-rd",
    "truncated-rounded-products", "first-rna", "tr", "tr-to-zero", "complement", "complement-ieee",
    "aligned-ones", "normalised-factors", "pieces", "pieces-dropped",
)  # fmt: skip
#: Designs that see more of the operands than their product's value: one product is enough.
ONLY_SINGLE = (
    "flushed-to-positive", "flushed-to-signed", "nan-of-first", "b-flushed", "a-flushed",
    "jammed-chain", "skipped",
)  # fmt: skip
#: Designs that hand on the NaN of one of several products, or that of a step before.
OF_NANS = ("nan-of-chains", "nan-of-b", "nan-of-a", "nan-of-products")


def toys() -> Iterator[UnitSpec]:
    for name, (rho, changes) in DESIGNS.items():
        if name in OF_NANS:
            yield toy(f"nans/{name}", 2, NANS, E3M2, rho, changes)
        elif name not in ONLY_SINGLE:
            yield toy(f"two/{name}", 2, TWO, E3M2, rho, changes)
    for name in NARROW:
        rho, changes = DESIGNS[name]
        yield toy(f"narrow/{name}", 2, TWO, E2M2, rho, changes)
    for name in (*SINGLE, *ONLY_SINGLE):
        rho, changes = DESIGNS[name]
        yield toy(f"one/{name}", 1, ONE, E3M2, rho, changes)


TOYS: dict[str, UnitSpec] = {spec.name: spec for spec in toys()}


def all_operands(spec: UnitSpec) -> Batch:
    """Every operand of a toy unit."""
    o, k = spec.operands, spec.k
    widths = [o.a.width, o.b.width] * k + [o.c.width]
    index = np.arange(1 << sum(widths), dtype=np.uint64)
    columns = []
    for width in widths:
        columns.append(index & np.uint64((1 << width) - 1))
        index = index >> np.uint64(width)
    return Batch(np.stack(columns[:-1:2], axis=1), np.stack(columns[1::2], axis=1), columns[-1])


def product_class(design: Design, a: ExactValue, b: ExactValue, words: tuple[int, int]) -> tuple[Any, ...]:
    """All that a sum can know of a product: sign, magnitude and exponent, or that it is special.

    Where a design flushes subnormal operands, or hands on the words of NaN operands, these count too.
    """
    kinds = {a.kind, b.kind}
    sign = a.sign ^ b.sign
    flushed: tuple[Any, ...] = ()
    cut = (design.piece_bits, design.operand_rounding, design.a_bits, design.b_bits) != (None,) * 4
    cut |= design.special_words == "numbers"
    if cut or design.normalise_operands or design.zero_words == "skipped":
        flushed = words
    elif design.operand_subnormals != "kept" or design.b_subnormals is not None:
        small = [x.kind is NumberClass.FINITE and x.magnitude < power_of_two(x.exponent) for x in (a, b)]
        flushed = (*small, a.is_zero, b.is_zero, a.sign, b.sign)
    if NumberClass.NAN in kinds or (NumberClass.INF in kinds and (a.is_zero or b.is_zero)):
        return NumberClass.NAN, words if design.nan_rule != "word" else (), flushed
    if NumberClass.INF in kinds:
        return NumberClass.INF, sign, flushed
    return NumberClass.FINITE, sign, a.magnitude * b.magnitude, a.exponent + b.exponent, flushed


def oracle_on_all(spec: UnitSpec, x: Batch) -> Raw:
    """The oracle on every row, asked once for rows whose products are the same values in the same places."""
    representative, inverse = classes_of_rows(spec, x)
    results: Raw = from_oracle(spec, rows(x, representative))[inverse]
    return results


def classes_of_rows(spec: UnitSpec, x: Batch) -> tuple[Any, Any]:
    """One row of each class of rows whose products are the same to a sum, and the class of each row."""
    o = spec.operands
    classes: dict[tuple[Any, ...], int] = {}
    table = np.zeros((1 << o.a.width, 1 << o.b.width), np.uint64)
    for i in range(1 << o.a.width):
        for j in range(1 << o.b.width):
            key = product_class(spec.design, decode(o.a, i), decode(o.b, j), (i, j))
            table[i, j] = classes.setdefault(key, len(classes))
    keys = x.c.copy()
    for k in range(spec.k):
        keys = keys * np.uint64(len(classes)) + table[x.a[:, k], x.b[:, k]]
    _, representative, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return representative, inverse


@pytest.mark.parametrize(
    ("name", "one_in"),
    [
        *one_in(4, [pytest.param(name, 16, id=name) for name in TOYS]),
        *(pytest.param(name, 1, id=f"{name}-whole", marks=pytest.mark.long) for name in TOYS),
    ],
)
def test_all_operands_of_toy_formats(name: str, one_in: int) -> None:
    """Rows of one class give one result; the oracle is asked about each class, or about one in sixteen."""
    spec = TOYS[name]
    x = all_operands(spec)
    assert len(x.c) in (1 << 16, 1 << 17)
    found = lanes(spec, x)
    representative, inverse = classes_of_rows(spec, x)
    compare(spec, x, found, found[representative][inverse])
    some = np.random.default_rng(SEED).permutation(representative)[::one_in]
    compare(spec, rows(x, some), found[some], from_oracle(spec, rows(x, some)))
    check_others(spec, x, found, integers=60)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "two/ru-carry-1",
        "one/nan-of-first",
        *(pytest.param(x, marks=pytest.mark.long) for x in ("one/flushed-to-positive", "nans/nan-of-chains")),
    ],
)
def test_classes_of_products_lose_nothing(name: str) -> None:
    """The oracle itself on rows drawn from all of them gives what their classes gave."""
    spec = TOYS[name]
    x = all_operands(spec)
    chosen = np.random.default_rng(SEED).permutation(len(x.c))[:400]
    compare(spec, rows(x, chosen), oracle_on_all(spec, x)[chosen], from_oracle(spec, rows(x, chosen)))


def test_toys_touch_every_value_of_every_parameter() -> None:
    """A value that a design can newly have has to be met by a toy."""
    designs = [spec.design for spec in TOYS.values()]
    choices: dict[str, set[Any]] = {
        # Chains of pairs need four products: random designs have them.
        "summation": set(SUMMATIONS) - {"pair_chains"}, "c_position": set(C_POSITIONS),
        "alignment_rounding": set(ALIGNMENTS), "c_alignment_rounding": {None, "RNA"},
        "c_bits": {None, 1, 3}, "second_fraction_bits": {None, 1}, "minus_one": {None, 2},
        "operand_rounding": {None, "RNA-E2M1"}, "a_bits": {None, "0..0", "1..2"}, "b_bits": {None, "1..1"},
        "special_words": set(SPECIAL_WORDS), "e_max_of": set(E_MAX_OF),
        "normalised": {True},  # of all but inner sums of trees
        "zero_sign": set(ZERO_SIGNS), "overflow": set(OVERFLOWS), "order": set(ORDERS),
        "nan_rule": set(NAN_RULES), "accumulation": set(ACCUMULATIONS),
        "operand_subnormals": set(SUBNORMALS), "c_subnormals": set(C_SUBNORMALS),
        "result_subnormals": set(RESULT_SUBNORMALS), "normalise_products": {True, False},
        "carry_bits": {None, 0, 1, 2}, "fraction_bits": {None, 1, 2, 3, 4, 9}, "products": {1, 2},
        "group_exponent": {0, 2}, "zero_group": set(ZERO_GROUPS),
        "group": {None, 1, 2}, "product_limit": {None, 0, 2}, "sum_fraction_bits": {None, 2, 4},
        "sum_rounding": set(SUM_ROUNDINGS), "c_fraction_bits": {None, 1, 3, 4},
        "aligned_group": {None, 1, 2}, "vanished_c": set(VANISHED), "negated": set(NEGATED),
        "b_subnormals": {None, "kept", "positive_zero"}, "factor_nan_word": {None, 0b011110},
        "lost_bits": set(LOST_BITS), "zero_words": set(ZERO_WORDS), "zero_terms": {None, -40},
        "exponent_step": {1, 2, 4},
        "normalise_operands": {True, False}, "piece_bits": {None, 1}, "dropped_pieces": {0, 1},
    }  # fmt: skip
    found = {name: {getattr(d, name) for d in designs} for name in choices}
    assert found == choices
    exponents = {d.zero_exponent for d in designs}
    assert {"own", "none"} < exponents
    assert len(exponents) > 5
    roundings = ("conversion", "accumulator", "product_rounding")
    modes = {
        name: {str(getattr(d, name)).partition("-")[0] for d in designs} - {"None"} for name in roundings
    }
    assert modes == {name: set(MODES) for name in roundings}
    covered = {*choices, *roundings, "zero_exponent", "nan_word"}
    assert covered == set(Design.__dataclass_fields__)


# --------------------------------------------------------------------- real formats, seeded vectors
FMA = "sequential@products=1,k=4"
FIVE = ("RNE", "RNA", "RZ", "RD", "RU")
FP64 = "a_format=fp64,b_format=fp64,c_format=fp64,d_format=fp64"
RZ_E8M13 = "fraction_bits=13,conversion=RZ-E8M13"

IEEE_ENDS = "zero_sign=ieee,overflow=ieee"

#: Representatives of each family of designs; the names are what `tcformal explain` takes.
FAMILIES: dict[str, tuple[str, ...]] = {
    "tfdpa-fp16-fp32": (
        "volta/mma.m8n8k4.f32.f16.f16.f32",
        "ampere/mma.m16n8k16.f32.f16.f16.f32",
        "hopper/mma.m16n8k16.f32.f16.f16.f32",
    ),
    "tfdpa-fp16-fp16": (
        "volta/mma.m8n8k4.f32.f16.f16.f16",
        "volta/mma.m8n8k4.f16.f16.f16.f16",
        "ampere/mma.m16n8k8.f16.f16.f16.f16",
        "hopper/mma.m16n8k16.f16.f16.f16.f16",
    ),
    "tfdpa-bf16": ("ampere/mma.m16n8k8.f32.bf16.bf16.f32", "hopper/mma.m16n8k16.f32.bf16.bf16.f32"),
    "tfdpa-tf32": ("ampere/mma.m16n8k8.f32.tf32.tf32.f32", "hopper/mma.m16n8k8.f32.tf32.tf32.f32"),
    "tfdpa-small-formats": (
        f"tfdpa@a_format=e4m3,b_format=e4m3,products=16,{RZ_E8M13}",
        f"tfdpa@a_format=e5m2,b_format=e4m3,products=8,{RZ_E8M13},k=16",
        "tfdpa@a_format=e4m3fnuz,b_format=e5m2fnuz,products=8",
        "tfdpa@a_format=e2m1,b_format=e3m2,products=8,fraction_bits=25,zero_exponent=-133",
    ),
    "tfdpa-variants": (
        "tfdpa@products=4,alignment_rounding=RD",
        "tfdpa@products=4,alignment_rounding=RNE,zero_exponent=own",
        "tfdpa@products=4,carry_bits=1,overflow=ieee,zero_sign=ieee",
    ),
    "c-last": (
        "tfdpa@products=4,c_position=last",
        "tfdpa@products=4,c_position=last,normalise_products=true,accumulator=RNE-FP16",
    ),
    "valpey-5": (
        "valpey@terms=5",
        "valpey@terms=5,carry_bits=3",
        "valpey@terms=5,carry_bits=1,c_format=fp16,d_format=fp16",
    ),
    "valpey-9": ("valpey@terms=9,align_bits=1", "valpey@terms=9,align_bits=1,carry_bits=4"),
    # Three terms of any distance take a path of their own.
    "exact-three": tuple(
        f"tfdpa@products=2,a_format={a},b_format={a},fraction_bits=exact,rounding={mode},{IEEE_ENDS}"
        for a, mode in (("bf16", "RNE"), ("bf16", "RD"), ("bf16", "RZ"), ("tf32", "RU"), ("fp32", "RNA"))
    ),
    "exact": (
        "tfdpa@products=4,fraction_bits=exact",
        "tfdpa@products=4,fraction_bits=exact,rounding=RNE,zero_sign=ieee,overflow=ieee",
    ),
    "chain-c-first": tuple(f"sequential@c_position=first,rounding={mode}" for mode in FIVE),
    "chain-c-last": tuple(f"sequential@c_position=last,rounding={mode}" for mode in FIVE),
    "fma": (
        f"{FMA},a_format=fp32,b_format=fp32",
        f"{FMA},a_format=bf16,b_format=bf16,c_format=bf16,d_format=bf16",
    ),
    "fma-fp64": (f"{FMA},{FP64}",),
    "tree": (
        "sequential@summation=pairwise",
        "sequential@summation=pairwise,terms=6,rounding=RU,product_rounding=RNE-FP16,b_format=bf16",
    ),
    "cdna1-cdna2": (
        "cdna1/v_mfma_f32_4x4x4f16",
        "cdna1/v_mfma_f32_4x4x2bf16",
        "cdna2/v_mfma_f32_4x4x4f16",
        "cdna2/v_mfma_f32_16x16x8bf16",
        "cdna2/v_mfma_f32_4x4x4bf16_1k",
    ),
    "cdna3": (
        "cdna3/v_mfma_f32_32x32x4_xf32",
        "cdna3/v_mfma_f32_4x4x4_16b_f16",
        "cdna3/v_mfma_f32_32x32x8_bf16",
        "cdna3/v_mfma_f32_32x32x16_bf8_fp8",
    ),
    "cpu": (
        "x86/vdpbf16ps", "x86/tdpbf16ps", "x86/tdpfp16ps",
        "arm/bfdot.ebf0", "arm/bfmmla.ebf0", "arm/bfdot.ebf1",
    ),
    "emulated": (
        "ampere/emulated.mma.m8n8k4.f32.f16.f16.f32",
        "hopper/emulated.mma.m16n8k16.f32.e4m3.e5m2.f32",
        "hopper/emulated.mma.m16n8k16.f16.e4m3.e4m3.f16",
    ),
    "scaled": (
        "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0",
        "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
    ),
}  # fmt: skip

#: Every representative, and its share of its family's vectors.
SHARES = {name: 1 / len(names) for names in FAMILIES.values() for name in names}


def directed(spec: UnitSpec, n: int, seed: int) -> Batch:
    """Rows with one special operand, rows that c nearly cancels, rows of zero products of one sign."""
    rng = np.random.default_rng(seed)
    o, k = spec.operands, spec.k
    a, b = (one_operand(rng, f, (n, k), "near") for f in (o.a, o.b))
    c = one_operand(rng, o.c, (n,), "near")
    third = n // 3
    for i in range(third):
        position = int(rng.integers(2 * k + 1))
        fmt = (o.a, o.b)[position % 2] if position < 2 * k else o.c
        word = np.uint64(rng.choice(np.array(edge_encodings(fmt), np.uint64)))
        if position < 2 * k:
            (a, b)[position % 2][i, position // 2] = word
        else:
            c[i] = word
    if o.c == o.d:
        middle = slice(third, 2 * third)
        opposite = lanes(spec, Batch(a[middle], b[middle], np.zeros(third, np.uint64))).astype(np.uint64)
        near = opposite + rng.integers(0, 5, third, dtype=np.uint64) - np.uint64(2)
        c[middle] = (near ^ np.uint64(1 << (o.c.width - 1))) & np.uint64((1 << o.c.width) - 1)
    last = slice(2 * third, n)
    size = n - 2 * third
    minus = rng.integers(0, 2, (size, 1), dtype=np.uint64) << np.uint64(o.a.width - 1)
    a[last] = np.broadcast_to(minus, a[last].shape)
    b[last] &= np.uint64((1 << (o.b.width - 1)) - 1)
    choices = [one_operand(rng, o.c, (size,), family) for family in ("edges", "bits", "subnormal")]
    choices.append(rng.integers(0, 2, size, dtype=np.uint64) << np.uint64(o.c.width - 1))
    c[last] = np.choose(rng.integers(0, len(choices), size), choices)
    return Batch(a, b, c)


def seeded(spec: UnitSpec, n: int, seed: int) -> Batch:
    """n rows: four fifths from the package's families, one fifth directed (none of them with scales)."""
    if spec.scale_block is not None:
        return batch(spec, spec.k, n, seed)
    return joined(batch(spec, spec.k, n * 4 // 5, seed), directed(spec, n - n * 4 // 5, seed))


@cache
def family_vectors(name: str) -> tuple[Batch, Raw]:
    """A representative's vectors and their results on lanes."""
    spec = resolve(name)
    x = seeded(spec, share(name, VECTORS), SEED)
    return x, lanes(spec, x)


def share(name: str, of: int) -> int:
    """How many of a family's vectors a representative takes."""
    return math.ceil(of * SHARES[name])


def test_families_are_distinct() -> None:
    designs = {(spec.operands, spec.design, spec.k) for spec in map(resolve, SHARES)}
    assert len(designs) == sum(map(len, FAMILIES.values()))


def asked_about(spec: UnitSpec, results: Raw, n: int) -> Any:
    """Rows of infinities, zeros and subnormal numbers, all of them (up to n), and n drawn from all rows."""
    d = spec.operands.d
    body = results.astype(np.uint64) & np.uint64((1 << (d.width - 1)) - 1)
    rare = np.flatnonzero((body == d.infinity) | (body < 1 << (d.fraction_bits + d.ignored_low_bits)))
    drawn = np.random.default_rng(SEED).permutation(len(results))
    return np.union1d(drawn[np.isin(drawn, rare)][:n], drawn[:n])


@pytest.mark.parametrize("name", one_in(4, SHARES))
def test_family_on_seeded_vectors(name: str) -> None:
    spec = resolve(name)
    x, found = family_vectors(name)
    chosen = asked_about(spec, found, share(name, ASKED))
    compare(spec, rows(x, chosen), found[chosen], from_oracle(spec, rows(x, chosen)))
    check_others(spec, x, found, integers=60)


@pytest.mark.parametrize("name", one_in(4, SHARES))
def test_seeded_vectors_reach_what_they_should(name: str) -> None:
    """NaN, Inf, zeros, subnormal and normal results: none of them is missing from the vectors."""
    spec = resolve(name)
    d = spec.operands.d
    results = family_vectors(name)[1].astype(np.uint64)
    body = results & np.uint64((1 << (d.width - 1)) - 1)
    assert (body > d.infinity).sum() > 50
    assert (body == d.infinity).sum() >= 3
    # Sixty-four products with scales leave hardly a zero.
    assert (body == 0).sum() >= (3 if spec.scale_block is None else 0)
    assert (body < d.infinity).sum() > len(results) / 2
    # Zero terms that keep the exponents of their encodings hide a subnormal c.
    kept = {spec.design.c_subnormals, spec.design.result_subnormals} == {"kept"}
    kept = kept and spec.scale_block is None and spec.design.zero_exponent != "own"
    if kept and spec.operands.c.e_min <= d.e_min:
        assert ((body > 0) & (body < 1 << d.fraction_bits)).sum() > 5


@pytest.mark.long
@pytest.mark.parametrize("name", SHARES)
def test_family_on_a_million_vectors(name: str) -> None:
    spec = resolve(name)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        for part in range(20):
            x = seeded(spec, share(name, 50_000), SEED + 1 + part)
            expected = pool.map(partial(oracle_result, spec), witnesses(x), chunksize=500)
            compare(spec, x, lanes(spec, x), np.array(list(expected), np.uint64))


# --------------------------------------------------------------------- the comparison rejects
HALF, BRAIN = "tfdpa@products=8", "tfdpa@products=4,a_format=bf16,b_format=bf16"
TREE = "sequential@summation=pairwise,products=4"

#: A design, and changes to it each of which its own vectors show.
CHANGES: dict[str, tuple[str, ...]] = {
    HALF: (
        "fraction_bits=25", "fraction_bits=23", "fraction_bits=exact", "carry_bits=1", "zero_exponent=own",
        "zero_exponent=-110", "rounding=RNE", "rounding=RNA", "rounding=RD", "rounding=RU",
        "conversion=RZ-E8M13", "alignment_rounding=RNE", "alignment_rounding=RNA", "alignment_rounding=RD",
        "alignment_rounding=RU", "normalise_products=true", "c_position=last",
        "product_rounding=RNE-FP16", "summation=sequential", "summation=pairwise", "zero_sign=ieee",
        "nan_word=0x7fc00000", "products=4,k=8",
    ),
    BRAIN: ("zero_exponent=-120", "overflow=ieee"),
    "valpey@terms=5": ("normalise_products=false", "carry_bits=0", "align_bits=1", "zero_exponent=own"),
    TREE: (
        "c_position=first,summation=sequential", "c_position=last,summation=sequential",
        "accumulator=RZ-FP32", "accumulator=RNE-BF16", "conversion=RZ-FP32", "product_rounding=RNE-BF16",
        "zero_sign=positive",
    ),
    f"{FMA},a_format=bf16,b_format=bf16,rounding=RZ": ("overflow=infinity", "rounding=RNE"),
}  # fmt: skip
ALTERED = [(base, change) for base, changes in CHANGES.items() for change in changes]


def altered(base: str, change: str) -> UnitSpec:
    """The design with some parameters given otherwise."""
    family, _, text = base.partition("@")
    settings = dict(item.split("=") for item in (*text.split(","), *change.split(",")))
    return resolve(f"{family}@" + ",".join(f"{key}={value}" for key, value in settings.items()))


@cache
def references(base: str) -> tuple[Batch, Raw]:
    """A design's vectors and the oracle's results on them."""
    spec = resolve(base)
    x = seeded(spec, 3000, SEED)
    return x, from_oracle(spec, x)


@pytest.mark.parametrize(("base", "change"), one_in(3, ALTERED))
def test_comparison_rejects(base: str, change: str) -> None:
    x, expected = references(base)
    spec = altered(base, change)
    compare(resolve(base), x, lanes(resolve(base), x), expected)
    with pytest.raises(pytest.fail.Exception, match=r"results differ .*\ntcformal explain '") as failure:
        compare(spec, x, lanes(spec, x), expected)
    check_paste(spec, str(failure.value).splitlines()[1])


def check_paste(spec: UnitSpec, line: str) -> None:
    """The printed command names a unit, and operands whose results are the printed ones."""
    command, _, results = line.partition("   # ")
    _, name, rest = command.split("'")
    assert resolve(name) == spec
    words = {option: [int(x, 16) for x in text.split(",")] for option, text in _options(rest.split())}
    w = Witness(tuple(words["--a"]), tuple(words["--b"]), words["--c"][0])
    assert results.startswith(f"{oracle_result(spec, w):#x}, expected ")


def _options(parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    return zip(parts[::2], parts[1::2], strict=True)
