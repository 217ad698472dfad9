"""Claims that fit a unit and say nothing of it are refused in a sentence, before anything is proved."""

from __future__ import annotations

import pytest

import tcformal
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.proofs.claims.register import CLAIMS, refused

EMULATED = "hopper/emulated.mma.m16n8k16.f16.e4m3.e4m3.f16"
GROUPS = "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("product-order", "tfdpa@products=1"),
        ("sign-magnitude", "gaudi3/mme.fp16"),
        ("carry-bits", GROUPS),
        ("negation-symmetry", EMULATED),
        ("negation-symmetry", "hexagon/mxmem.hf"),
        ("integer-sums", "gaudi3/mme.fp16"),
        ("integer-sums", "riscv/vfwbdot.vv.vlen128"),
        ("zero-products", EMULATED),
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


def test_nothing_is_refused_of_a_plain_sum() -> None:
    assert [claim for claim in CLAIMS if refused(claim, resolve(VOLTA))] == []
