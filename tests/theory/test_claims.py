"""Claims as instances of theorems: against kept answers, and checked by coqc, which refuses a wrong one."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.theory.claims import CLAIMS, claim_instance
from tcformal.theory.constants import constants
from tcformal.theory.instances import coq_instance
from tcformal.theory.sources import coqc

KEPT = Path(__file__).parents[2] / "results" / "claims.jsonl.xz"
#: Of each kind of sum a unit whose instances `coqc` checks.
UNITS = (
    "volta/mma.m8n8k4.f32.f16.f16.f32", "hopper/wgmma.m64n8k32.f32.e4m3.e4m3", "x86/tdpbf16ps",
    "cdna2/v_mfma_f32_32x32x8f16", "cdna3/v_mfma_f32_32x32x8_f16", "cdna3/v_mfma_f32_16x16x32_fp8_fp8",
    "rdna3/v_wmma_f32_16x16x16_f16", "gaudi/mme.bf16.cd8",
)  # fmt: skip


@pytest.fixture(scope="module")
def kept() -> dict[tuple[str, str], dict[str, Any]]:
    with lzma.open(KEPT, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {(r["claim"], r["unit"]): r for r in rows}


def test_no_theorem_says_what_was_refuted(kept: dict[tuple[str, str], dict[str, Any]]) -> None:
    table: Counter[tuple[str, str, bool]] = Counter()
    for name in distinct_designs():
        for claim in (*CLAIMS, "relative-error; c=0x0"):
            row = kept.get((claim, name))
            found = claim_instance(catalogue()[name], claim.partition(";")[0], zero_c=";" in claim)
            table[claim, row["verdict"] if row else "not kept", found is not None] += 1
            assert row is None or row["verdict"] != "VIOLATED" or found is None, (claim, name)
    assert sum(n for (_, verdict, found), n in table.items() if verdict == "HOLDS" and found) > 1000


def test_constants_of_a_million_products() -> None:
    found = constants(resolve("tfdpa@products=16,fraction_bits=30"))
    assert found is not None
    assert found.first < Fraction(1, 1 << 22) < found.of(10**6) < Fraction(1, 4)


@pytest.mark.debian
def test_instances_are_checked_and_wrong_ones_refused(compiled: Path) -> None:
    for name in UNITS:
        for claim in CLAIMS:
            found = claim_instance(catalogue()[name], claim)
            if found is not None:
                (compiled / "Instance.v").write_text(coq_instance(found), encoding="utf-8")
                coqc(compiled, "Instance.v")
    carry = claim_instance(catalogue()[UNITS[0]], "carry-bits")
    bound = claim_instance(catalogue()[UNITS[0]], "relative-error")
    assert carry is not None
    assert bound is not None
    few = str(int(carry.arguments[0]) - 1)
    wrong = [
        replace(carry, arguments=(few,), conditions=(f"carry_enough d {few} = true",)),
        replace(bound, constants=(bound.constants[0].replace("/ 2", "/ 3"),)),
    ]
    for x in wrong:
        (compiled / "Instance.v").write_text(coq_instance(x), encoding="utf-8")
        with pytest.raises(InputError, match="to compile"):
            coqc(compiled, "Instance.v")
