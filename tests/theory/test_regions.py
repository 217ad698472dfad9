"""Regions of agreement: against kept answers, and checked by coqc, which refuses a wider spread."""

from __future__ import annotations

import json
import lzma
import re
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from coq_instances import check_instances, refused
from tcformal.design.names import resolve
from tcformal.query.assume import from_texts
from tcformal.theory.regions import region

PROVED = Path(__file__).with_name("proved_by_circuit.jsonl.xz")
#: One block and several, calls, compositions, sums before c; of one rounding and of two.
PAIRS = (
    ("turing/mma.m16n8k8.f32.f16.f16.f32", "hopper/mma.m16n8k8.f32.f16.f16.f32", False, None),
    ("volta/mma.m8n8k4.f32.f16.f16.f32", "turing/mma.m16n8k8.f32.f16.f16.f32", True, None),
    ("ada/mma.m16n8k32.f32.e5m2.e4m3.f32", "hopper/emulated.mma.m16n8k16.f32.e5m2.e4m3.f32", True, None),
    ("hopper/mma.m16n8k8.f32.bf16.bf16.f32", "power10/xvbf16ger2pp", True, (-66, 60)),
)
#: Units that differ in the words of NaNs alone, and one more that differs in its rounding.
ALIKE = (
    "ampere/mma.m8n8k4.f64.f64.f64.f64", "cdna2/v_mfma_f64_16x16x4f64",
    "cdna2/v_mfma_f64_16x16x4f64@conversion=RZ-FP64",
)  # fmt: skip


def test_regions_are_those_that_were_proved() -> None:
    table: Counter[str] = Counter()
    with lzma.open(PROVED, "rt", encoding="utf-8") as lines:
        rows = [r for r in map(json.loads, lines) if r["claim"].startswith("agreement; ")]
    for row in rows:
        _, second, *texts = row["claim"].split("; ")
        one, other = resolve(row["unit"]), resolve(second)
        what = from_texts(one.operands.c, texts)
        found = region(one, other, zero_c=what.c == 0, exponents=what.exponents)
        spread = -1 if found is None else int(found.numbers["spread"])
        refuted = re.search(r"differ at spread (\d+)", row["reason"])
        assert refuted is None or spread < int(refuted[1]), (row["unit"], row["claim"], spread)
        held = re.search(r"agree within spread (\d+)", row["reason"])
        if held is None:
            every = found is not None and spread >= found.numbers["high"] - found.numbers["low"]
            table["every" if every else "not every"] += 1
        else:
            table["fewer" if spread < int(held[1]) else "as many"] += 1
    # Fewer: a sum that is rounded down.  Not every: calls of another length of units that round each product.
    assert table == {"as many": 145, "fewer": 1, "every": 8, "not every": 12}


def test_a_region_takes_milliseconds() -> None:
    one, other = (resolve(x) for x in PAIRS[2][:2])
    start = time.process_time()
    for _ in range(20):
        assert region(one, other, zero_c=True) is not None
    assert time.process_time() - start < 0.2


def test_units_of_other_operands_have_none() -> None:
    assert region(resolve("hopper/mma.m16n8k8.f32.bf16.bf16.f32"), resolve(PAIRS[0][0])) is None


@pytest.mark.debian
def test_instances_are_checked_and_wider_ones_refused(compiled: Path) -> None:
    right, wrong = [], []
    for one, other, zero_c, exponents in PAIRS:
        found = region(resolve(one), resolve(other), zero_c=zero_c, exponents=exponents)
        assert found is not None
        right.append(found)
        given = list(found.arguments)
        given[6] = f"({int(found.numbers['spread']) + 1})"
        # Room for any partial sum is no way out.
        given[8] = given[10] = f"({1 << 60})"
        conditions = (f"region_ok d e {' '.join(given)} = true",)
        wrong.append(replace(found, arguments=tuple(given), conditions=conditions))
    check_instances(compiled, right)
    assert refused(compiled, [*wrong, right[0]]) == [True] * len(wrong) + [False]


@pytest.mark.debian
def test_agreement_but_for_nans_is_checked_and_refused(compiled: Path) -> None:
    one, other, rounded = map(resolve, ALIKE)
    found = region(one, other)
    assert found is not None
    assert found.theorem == "agreement_but_for_nans"
    check_instances(compiled, [found])
    assert region(one, rounded) is None
    assert refused(compiled, [replace(found, other=rounded), found]) == [True, False]
