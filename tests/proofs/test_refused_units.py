"""Claims that fit a unit and say nothing of it are refused in a sentence, before anything is proved."""

from __future__ import annotations

from collections import Counter

import pytest

import tcformal
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.operations import operation
from tcformal.errors import InputError
from tcformal.proofs.claims.register import CLAIMS, refused
from tcformal.query.question import Kind

EMULATED = "hopper/emulated.mma.m16n8k16.f16.e4m3.e4m3.f16"
GROUPS = "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("sign-magnitude", "gaudi3/mme.fp16"),
        ("carry-bits", GROUPS),
        ("negation-symmetry", EMULATED),
        ("negation-symmetry", "hexagon/mxmem.hf"),
        ("integer-sums", "gaudi3/mme.fp16"),
        ("integer-sums", "cdna3/v_mfma_f32_32x32x8_f16"),
        ("zero-products", "x86/vdpbf16ps"),
        ("zero-exponent", EMULATED),
    ],
)
def test_what_is_refused_is_known_beforehand(claim: str, name: str) -> None:
    """The sentence is that of the question itself."""
    sentence = refused(claim, resolve(name))
    with pytest.raises(InputError) as refusal:
        tcformal.prove_claim(name, claim)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("product-order", "tfdpa@products=1"),
        ("relative-error", "riscv/vfwbdot.vv.vlen128"),
        ("relative-error", "gaudi2/mme.fp16"),
        ("zero-products", EMULATED),
    ],
)
def test_what_proofs_in_steps_say_nothing_of_a_theorem_may_answer(claim: str, name: str) -> None:
    assert refused(claim, resolve(name))
    v = tcformal.prove_claim(name, claim)
    assert (v.kind, v.answered_by) == (Kind.HOLDS, "theorem")


def test_nothing_is_refused_of_a_plain_sum() -> None:
    assert [claim for claim in CLAIMS if refused(claim, resolve(VOLTA))] == []


def test_an_assumption_decides_what_is_refused() -> None:
    """Sums of products that c is added to last are bounded where c is 0, and only there."""
    spec = resolve("gaudi2/mme.fp16")
    assert "c=0" in refused("relative-error", spec)
    assert refused("relative-error; c=0x0", spec) == ""
    assert "pieces of 12 bits" in refused("relative-error; c=0x0", resolve("gaudi2/mme.fp32"))


@pytest.mark.long
def test_every_unit_without_a_relative_bound_is_counted_as_refused() -> None:
    """Of those of c last, the bulk sums, and factors in pieces, `prove` says so in a sentence."""
    fitting = [x for x in distinct_designs() if CLAIMS["relative-error"].fits(catalogue()[x])]
    none = [x for x in fitting if refused("relative-error", catalogue()[x])]
    assert Counter(operation(catalogue()[x]).name for x in none) == {
        "bulk sum, then c": 6, "DPA, then c": 6, "T-FDPA": 1, "halves DPA": 1,
    }  # fmt: skip
