"""XIE Table 8: one input, one result for every architecture and operand format."""

from __future__ import annotations

import pytest

from oracle.evaluation import FMA, ROUNDED, evaluate, ftz_add_mul, ieee, tfdpa, tr_fdpa
from tcformal.design.spec import Design
from tcformal.encodings.catalog import FORMATS

XIE_A = ["-2^13", "-0.5", "-0.25", "-0.125"] + ["0"] * 12
XIE_B = ["2^10", "1", "1", "1"] + ["0"] * 12

ADA_FP8 = tfdpa(16, 13, -132, "RZ-E8M13")
HOPPER_FP8 = tfdpa(32, 13, -133, "RZ-E8M13")
HOPPER = tfdpa(16, 25, -133)
TREE = {"summation": "pairwise", "c_position": "last", **ROUNDED}


@pytest.mark.parametrize(
    ("design", "operands", "answer"),
    [
        pytest.param(tfdpa(4, 23, -131), "fp16", "0", id="volta-fp16"),
        pytest.param(tfdpa(8, 24, -132), "fp16", "-0.5", id="turing-ampere-ada-fp16"),
        pytest.param(tfdpa(8, 24, -132), "bf16", "-0.5", id="ampere-ada-bf16"),
        pytest.param(tfdpa(4, 24, -132), "tf32", "-0.5", id="ampere-ada-tf32"),
        pytest.param(ADA_FP8, "e5m2", "0", id="ada-fp8"),
        pytest.param(HOPPER_FP8, "e5m2", "0", id="hopper-fp8"),
        pytest.param(HOPPER, "fp16", "-0.75", id="hopper-blackwell-fp16"),
        pytest.param(HOPPER, "bf16", "-0.75", id="hopper-blackwell-bf16"),
        pytest.param(tfdpa(8, 25, -133), "tf32", "-0.75", id="hopper-blackwell-tf32"),
        pytest.param(tfdpa(32, 25, -133), "e5m2", "-0.75", id="blackwell-fp8"),
        pytest.param(ieee(4), "fp16", "-0.875", id="cdna1-fp16"),
        pytest.param(ieee(2), "bf16", "-0.875", id="cdna1-bf16"),
        pytest.param(ftz_add_mul(2), "bf16", "-0.375", id="cdna2-bf16"),
        pytest.param(ftz_add_mul(4), "bf16", "0", id="cdna2-bf16-1k"),
        pytest.param(ftz_add_mul(4), "fp16", "0", id="cdna2-fp16"),
        pytest.param(tr_fdpa(8), "fp16", "-0.5", id="cdna3-fp16"),
        pytest.param(tr_fdpa(8), "bf16", "-0.5", id="cdna3-bf16"),
        pytest.param(tr_fdpa(4), "tf32", "-0.5", id="cdna3-xf32"),
        pytest.param(tr_fdpa(16, "gtr"), "e5m2fnuz", "-1", id="cdna3-fp8"),
        pytest.param(FMA, "fp32", "-0.875", id="fp32"),
        pytest.param(ieee(4, **TREE), "fp16", "0", id="tree-of-4"),
        pytest.param(ieee(2, **TREE), "bf16", "-0.375", id="tree-of-2"),
    ],
)
def test_xie_table_8(design: Design, operands: str, answer: str) -> None:
    """Sixteen products; and two trees without flushing besides."""
    assert evaluate(design, FORMATS[operands], XIE_A, XIE_B, "2^23") == answer
