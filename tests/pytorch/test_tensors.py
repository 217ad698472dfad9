"""Tensors of PyTorch's fp8, e8m0 and packed fp4 as operands, the values that PyTorch gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tcformal
from tcformal.errors import InputError
from tcformal.simulation.arrays import as_array

torch: Any = pytest.importorskip("torch", reason="expected PyTorch, the extra torch: `make test-torch`")

from tcformal.torch.tensors import array_of  # noqa: E402

NARROW = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
NV = "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
MX = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"
#: The values of e2m1 without a sign.
E2M1 = (0, 0.5, 1, 1.5, 2, 3, 4, 6)


def words(*shape: int, below: int = 256) -> Any:
    return torch.randint(0, below, shape, generator=torch.Generator().manual_seed(1)).to(torch.uint8)


@pytest.mark.parametrize("name", NARROW)
def test_every_word_has_pytorchs_value(name: str) -> None:
    dtype = getattr(torch, name, None)
    if dtype is None:
        pytest.skip(f"expected a PyTorch with {name}")
    x = torch.arange(256, dtype=torch.uint8).view(dtype)
    ours, theirs = array_of(x).astype(np.float32), x.to(torch.float32).numpy()
    np.testing.assert_array_equal(ours, theirs)
    assert as_array(x).dtype.name == name


def test_pairs_are_unpacked_along_the_axis_that_holds_them() -> None:
    if not hasattr(torch, "float4_e2m1fn_x2"):
        pytest.skip("expected a PyTorch with float4_e2m1fn_x2")
    raw = words(6, 32)
    x = raw.view(torch.float4_e2m1fn_x2)
    both = np.stack([raw.numpy() & 15, raw.numpy() >> 4], -1).reshape(6, 64)
    values = np.array([*E2M1, *(-v for v in E2M1)])[both]
    np.testing.assert_array_equal(array_of(x).astype(float), values)
    np.testing.assert_array_equal(array_of(x.t()).astype(float), values.T)
    scales = words(6, 4, below=0x78).view(torch.float8_e4m3fn)
    d = tcformal.simulate(NV, x, x.t(), None, scales, scales.t())
    assert d.shape == (6, 6)
    a, b, s, t = (as_array(v) for v in (x, x.t(), scales, scales.t()))
    np.testing.assert_array_equal(d, tcformal.simulate(NV, a, b, None, s, t))


def test_tensors_are_operands_of_products_and_quantised() -> None:
    x = torch.randn(4, 64, generator=torch.Generator().manual_seed(2))
    q = tcformal.quantise(x.to(torch.bfloat16), MX)
    if hasattr(torch, "float8_e8m0fnu"):
        a, s = (torch.from_numpy(v.view(np.uint8)) for v in (q.elements, q.scales))
        a, s = a.view(torch.float8_e4m3fn), s.view(torch.float8_e8m0fnu)
        d = tcformal.simulate(MX, a, a.t(), None, s, s.t())
        np.testing.assert_array_equal(
            d, tcformal.simulate(MX, q.elements, q.elements.T, None, q.scales, q.scales.T)
        )
    found = tcformal.compare(
        tcformal.simulate("h100:e4m3", x.to(torch.float8_e4m3fn), x.to(torch.float8_e4m3fn).t()),
        a=x.to(torch.float8_e4m3fn), b=x.to(torch.float8_e4m3fn).t(),
    )  # fmt: skip
    assert "hopper" in {made.model.unit.name.partition("/")[0] for made in found.expected}
    with pytest.raises(
        InputError, match=r"expected a dense tensor of floats on the CPU, but got torch\.int32"
    ):
        tcformal.simulate("h100:fp16", x.to(torch.int32), x.t())
