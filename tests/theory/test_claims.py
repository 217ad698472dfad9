"""Claims as instances of theorems: against kept answers, and checked by coqc, which refuses a wrong one."""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from agreement import DESCRIBED
from coq_instances import check_instances, refused
from tcformal.design.catalog import catalogue, distinct_designs, floating
from tcformal.design.names import resolve
from tcformal.theory.checked import coqc
from tcformal.theory.claims import CLAIMS, claim_instance
from tcformal.theory.constants import constants
from tcformal.theory.design import coq_design, coq_sum, wide_parameter
from tcformal.theory.instances import Instance
from tcformal.theory.theorems import theorem_answer

#: What an earlier prover proved or refuted of circuits, unit by unit.
PROVED = Path(__file__).with_name("proved_by_circuit.jsonl.xz")
GROUPED = "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
CALLS, STICKY = "ampere/emulated.mma.m8n8k4.f32.f16.f16.f32", "vortex/VX_tcu_fedp_tfr.bf16"
#: Of each kind of sum a unit whose instances `coqc` checks.
UNITS = (
    "volta/mma.m8n8k4.f32.f16.f16.f32", "hopper/wgmma.m64n8k32.f32.e4m3.e4m3", "x86/tdpbf16ps",
    "cdna2/v_mfma_f32_32x32x8f16", "cdna3/v_mfma_f32_32x32x8_f16", "cdna3/v_mfma_f32_16x16x32_fp8_fp8",
    "rdna3/v_wmma_f32_16x16x16_f16", "rdna4/v_wmma_f16_16x16x16_f16", "et-soc-1/TensorFMA16A32",
    "gaudi/mme.bf16.cd8", "cdna2/v_mfma_f32_32x32x4bf16",
    "riscv/vfqbdot.vv.vlen128.e4m3.e4m3", "hopper/emulated.mma.m16n8k32.f32.e5m2.e4m3.f32",
    GROUPED, CALLS, STICKY, "et-soc-1/TensorFMA32", "nvdla/cmac.fp16",
    "gaudi2/mme.fp8_143", "gaudi3/mme.fp16",
)  # fmt: skip
#: Those that round stochastically.
RANDOM = (
    "volta/mma.m8n8k4.f32.f16.f16.f32@conversion=SR8+255-FP32,overflow=ieee",
    "fma@k=4,conversion=SR8+77-FP32",
    "cdna3/v_mfma_f32_32x32x4_2b_bf16@conversion=SR8+255-FP32", "x86/vdpbf16ps@accumulator=SR8+200-FP32",
    "rdna3/v_wmma_f16_16x16x16_f16@conversion=SR8+255-FP16,overflow=ieee",
    "gaudi2/mme.bf16@conversion=SR8+255-FP32",
)  # fmt: skip
#: Claims under assumptions, each with weaker ones of which no theorem is.
UNDER = (
    ("cdna3/v_mfma_f32_32x32x8_f16", "negation-symmetry; c=0x0", "negation-symmetry"),
    ("cdna3/v_mfma_f32_32x32x4_2b_f16", "negation-symmetry; c=0x0", "negation-symmetry; c=0x1"),
    (
        "cdna3/v_mfma_f32_32x32x8_bf16", "negation-symmetry; exponents=-63..127; c=0x0",
        "negation-symmetry; exponents=-67..127; c=0x0",
    ),
    (
        "cdna3/v_mfma_f32_32x32x4_2b_bf16", "negation-symmetry; exponents=-63..127; c=0x0",
        "negation-symmetry; c=0x0",
    ),
    (
        "ada/mma.m16n8k32.f32.e4m3.e4m3.f32", "product-order; finite; c=0x0; spread=2",
        "product-order; finite; c=0x0; spread=3",
    ),
    (
        "ampere/mma.m16n8k16.f32.bf16.bf16.f32", "product-order; finite; exponents=-40..40; c=0x0; spread=5",
        "product-order; finite; exponents=-40..40; c=0x0; spread=6",
    ),
    (
        "ampere/mma.m16n8k8.f32.tf32.tf32.f32", "product-order; finite; exponents=-40..40; c=0x0; spread=0",
        "product-order; finite; exponents=-40..40; spread=0",
    ),
)  # fmt: skip
#: How much looser than what is kept a constant may be.
LOOSER = Fraction(104, 100)


@pytest.fixture(scope="module")
def kept() -> dict[tuple[str, str], dict[str, Any]]:
    with lzma.open(PROVED, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {(r["claim"], r["unit"]): r for r in rows}


def test_no_theorem_says_what_was_refuted(kept: dict[tuple[str, str], dict[str, Any]]) -> None:
    table: Counter[tuple[str, str, bool]] = Counter()
    for name in distinct_designs(floating):
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


def test_constants_are_those_that_are_kept(kept: dict[tuple[str, str], dict[str, Any]]) -> None:
    """From c = 0, of one block: `relative-error; c=0x0` says the constant before the sum of magnitudes."""
    compared = 0
    for name in distinct_designs(floating):
        row, found = kept.get(("relative-error; c=0x0", name)), constants(catalogue()[name])
        said = re.search(r"\| <= (\d+)/(\d+) · Σ", row["reason"]) if row else None
        if said is not None and found is not None:
            compared += 1
            assert found.first <= LOOSER * Fraction(int(said[1]), int(said[2])), name
    assert compared > 60


def test_zeros_and_short_products_lose_nothing() -> None:
    """Half an ulp for each sum of two numbers on the longest path, and none for +0 or exact products."""
    ulp, units = Fraction(1, 1 << 24), {"x86/vdpbf16ps": 1, "x86/tdpbf16ps": 16, "riscv/vfbdot.vv.vlen128": 4}
    for name, roundings in units.items():
        unit = catalogue()[name]
        found = constants(unit)
        assert found is not None
        exact = (1 + ulp) ** roundings - 1
        assert exact <= found.of(unit.k) <= exact * (1 + Fraction(1, 1 << 60)), name


@pytest.mark.parametrize(("name", "claim", "weaker"), UNDER)
def test_claims_hold_under_assumptions_and_no_weaker_ones(name: str, claim: str, weaker: str) -> None:
    unit = catalogue()[name]
    assert theorem_answer(unit, claim) is not None
    assert theorem_answer(unit, weaker) is None


def test_sums_rounded_down_have_constants_of_any_length() -> None:
    """An exact unit of each product but one, and one more beside c; what c loses does not grow with them."""
    ulp = Fraction(1, 1 << 24)
    few, many = (constants(resolve(f"cdna3/v_mfma_f32_{x}")) for x in ("32x32x4_2b_f16", "32x32x8_f16"))
    assert few is not None
    assert many is not None
    assert 4 * ulp < few.first < many.first < 8 * ulp * Fraction(1002, 1000)
    assert ulp < few.other == many.other < ulp * Fraction(102, 100)
    assert few.of(4096) > 1023 * few.other
    for changed in ("fraction_bits=20", "overflow=largest", "c_subnormals=positive_zero"):
        assert constants(resolve(f"cdna3/v_mfma_f32_32x32x8_f16@{changed}")) is None, changed


def stated_conditions(folder: Path, name: str) -> int:
    """Let `coqc` decide every condition of every instance of every design; how many they are."""
    lines = ["From Coq Require Import ZArith List Bool.", "From TC Require Import Theorems Design Spec."]
    lines += ["Import ListNotations.", "Open Scope Z_scope."]
    count = 0
    units = [catalogue()[x] for x in DESCRIBED]
    for i, unit in enumerate(x for x in units if not wide_parameter(x)):
        claims = [(x, False) for x in CLAIMS] + [("relative-error", True)]
        found = [claim_instance(unit, x, zero_c=zero) for x, zero in claims]
        stated = {y for x in found if x is not None and not x.summation for y in x.conditions}
        lines.append(f"Module M{i}. Definition d : design := {coq_design(unit)}.")
        if any(x is not None and x.with_sum for x in found):
            lines.append(f"Definition s : sum := {coq_sum(unit.design, unit.design.rho)}.")
        lines += [
            f"Goal {x}. Proof. vm_compute. first [reflexivity | discriminate]. Qed." for x in sorted(stated)
        ]
        lines.append(f"End M{i}.")
        count += len(stated)
    (folder / f"{name}.v").write_text("\n".join([*lines, ""]), encoding="utf-8")
    coqc(folder, f"{name}.v")
    return count


@pytest.mark.debian
def test_conditions_of_every_design_hold(compiled: Path) -> None:
    assert stated_conditions(compiled, "Conditions") > 1500


def one_less(x: Instance, number: str) -> Instance:
    """An instance with another number, wherever it is said."""
    arguments, conditions = (
        tuple(re.sub(rf"\b{number}\b", str(int(number) - 1), y) for y in texts)
        for texts in (x.arguments, x.conditions)
    )
    return replace(x, arguments=arguments, conditions=conditions)


@pytest.mark.debian
def test_theorems_are_about_stochastic_roundings_and_take_none_to_be_to_nearest(compiled: Path) -> None:
    found = {(name, x): claim_instance(resolve(name), x) for name in RANDOM for x in CLAIMS}
    check_instances(compiled, [x for x in found.values() if x is not None])
    assert all(found[name, "relative-error"] for name in RANDOM)
    one, of_nearest = (
        claim_instance(resolve(RANDOM[0].replace("SR8+255", mode)), "relative-error")
        for mode in ("SR8+255", "RNE")
    )
    assert one is not None
    assert of_nearest is not None
    assert refused(compiled, [replace(one, constants=of_nearest.constants), one]) == [True, False]


@pytest.mark.debian
def test_instances_are_checked_and_wrong_ones_refused(compiled: Path) -> None:
    right: list[Instance] = []
    for name in UNITS:
        for claim in (*CLAIMS, "relative-error; c=0x0"):
            found = claim_instance(catalogue()[name], claim.partition(";")[0], zero_c=";" in claim)
            if found is not None:
                right.append(found)
    carry = claim_instance(catalogue()[UNITS[0]], "carry-bits")
    bound = claim_instance(catalogue()[UNITS[0]], "relative-error")
    assert carry is not None
    assert bound is not None
    ordered = claim_instance(catalogue()["cdna2/v_mfma_f32_32x32x4bf16"], "relative-error", zero_c=True)
    exponents = claim_instance(catalogue()[UNITS[0]], "error-bound")
    framed = claim_instance(catalogue()["rdna3/v_wmma_f32_16x16x16_f16"], "relative-error", zero_c=True)
    assert ordered is not None
    assert exponents is not None
    down, even = (
        claim_instance(catalogue()[UNITS[i]], "relative-error", zero_c=zero)
        for i, zero in ((4, False), (5, True))
    )
    assert down is not None
    assert even is not None
    pieces, after = (
        claim_instance(catalogue()[name], claim, zero_c=claim == "relative-error")
        for name, claim in (("gaudi3/mme.fp16", "relative-error"), ("gaudi2/mme.fp8_143", "error-bound"))
    )
    assert pieces is not None
    assert after is not None
    groups = claim_instance(catalogue()[GROUPED], "error-bound")
    sticky = claim_instance(catalogue()[STICKY], "relative-error", zero_c=True)
    calls = claim_instance(catalogue()[CALLS], "error-bound")
    assert groups is not None
    assert sticky is not None
    assert calls is not None
    assert framed is not None
    few = str(int(carry.arguments[0]) - 1)
    losses = next(x for x in ordered.conditions if x.startswith("first_losses"))
    least = framed.conditions[0]
    wrong = [
        *(replace(framed, conditions=(least.replace(x, hex(int(x, 16) - 1)),)) for x in framed.arguments[1:]),
        replace(carry, arguments=(few,), conditions=(f"carry_enough d {few} = true",)),
        replace(bound, constants=(bound.constants[0].replace("/ 2", "/ 3"),)),
        replace(exponents, arguments=("10",), conditions=("exponents_ok d 10 = true", "composed d = None")),
        replace(groups, arguments=("1",), conditions=("grouped_ok d 1 = true", groups.conditions[1])),
        replace(sticky, constants=(sticky.constants[0].replace("= 16385 ", "= 16384 "),)),
        replace(
            calls,
            conditions=(calls.conditions[0].replace("_ok d (-126)", "_ok d (-127)"), *calls.conditions[1:]),
        ),
        replace(
            ordered,
            conditions=tuple(x.replace("(0x", "(0x1") if x == losses else x for x in ordered.conditions),
        ),
        *(
            replace(x, conditions=(x.conditions[0].replace("(0x", "(0x1"), *x.conditions[1:]))
            for x in (down, even)
        ),
        *(one_less(pieces, x) for x in ("12288", "16384", "28672")),
        *(one_less(after, x) for x in ("4096", "61440")),
    ]
    for name, claim, _ in UNDER:
        under = theorem_answer(catalogue()[name], claim)
        assert under is not None
        right.append(under.instance)
        # The next spread, or products far below any zero.
        *others, last = under.instance.conditions
        of_order = claim.startswith("product-order")
        now, then = (
            (f"({claim[-1]})", f"({int(claim[-1]) + 1})") if of_order else ("_ok d (", "_ok d (-900 + ")
        )
        wrong.append(replace(under.instance, conditions=(*others, last.replace(now, then, 1))))
    check_instances(compiled, right)
    assert refused(compiled, [*wrong, right[0]]) == [True] * len(wrong) + [False]
