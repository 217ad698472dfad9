"""Products of PyTorch in a context: the bits of `gemm`, whatever calls them; everything else is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tcformal import InputError, gemm

torch: Any = pytest.importorskip("torch", reason="expected PyTorch, the extra torch: `make test-torch`")

from torch.nn import functional  # noqa: E402

import tcformal.torch as on_unit  # noqa: E402
from tcformal.torch.tensors import array_of, tensor_of  # noqa: E402

BF16 = "hopper/wgmma.m64n8k16.f32.bf16.bf16"
FP16 = "hopper/mma.m16n8k16.f32.f16.f16.f32"
TF32 = "hopper/mma.m16n8k8.f32.tf32.tf32.f32"
FP8 = "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"
NAMES = {torch.bfloat16: BF16, torch.float16: FP16, torch.float32: TF32}
OUTPUTS = {torch.bfloat16: ",output=bf16", torch.float16: ",output=fp16", torch.float32: ",operands=fp32"}


def random(*shape: int, dtype: Any = torch.bfloat16, seed: int = 0) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def predicted(a: Any, b: Any, c: Any = None, **extras: Any) -> Any:
    """What `gemm` gives for tensors."""
    model = gemm(NAMES[a.dtype], "plain@c_place=epilogue" + OUTPUTS[a.dtype])
    given = [None if x is None else array_of(x) for x in (a, b, c)]
    return tensor_of(model.matmul(*given, progress=False, **extras), a.dtype)


def same(x: Any, y: Any) -> bool:
    return x.dtype == y.dtype and x.shape == y.shape and bool((x == y).all())


X, Y, V = random(3, 20, 32), random(3, 32, 24, seed=1), random(32, seed=2)
W, BIAS, C = random(24, 32, seed=3), random(24, seed=4), random(3, 20, 24, seed=5)
CASES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "mm": (lambda: X[0] @ Y[0], lambda: predicted(X[0], Y[0])),
    "bmm": (lambda: torch.bmm(X, Y), lambda: predicted(X, Y)),
    "out": (lambda: torch.mm(X[0], Y[0], out=torch.empty(0).bfloat16()), lambda: predicted(X[0], Y[0])),
    "linear": (
        lambda: functional.linear(X, W, BIAS), lambda: predicted(X, W.t(), bias=array_of(BIAS)),
    ),
    "addmm": (
        lambda: torch.addmm(C[0], X[0], Y[0], beta=0.5, alpha=3),
        lambda: predicted(X[0], Y[0], C[0], alpha=3, beta=0.5),
    ),
    "in place": (
        lambda: C[0].clone().addmm_(X[0], Y[0], beta=0), lambda: predicted(X[0], Y[0]),
    ),
    "baddbmm": (lambda: torch.baddbmm(C, X, Y), lambda: predicted(X, Y, C)),
    "mv": (lambda: X[0] @ V, lambda: predicted(X[0], V[:, None])[:, 0]),
    "dot": (lambda: torch.dot(V, X[0, 0]), lambda: predicted(V[None], X[0, 0][:, None])[0, 0]),
    "einsum": (lambda: torch.einsum("bij,bjk->bik", X, Y), lambda: predicted(X, Y)),
    "fp16": (lambda: X.half() @ Y.half(), lambda: predicted(X.half(), Y.half())),
    "tf32": (lambda: X[0].float() @ Y[0].float(), lambda: predicted(X[0].float(), Y[0].float())),
}  # fmt: skip


@pytest.mark.parametrize("inference", [False, True], ids=["no-grad", "inference"])
@pytest.mark.parametrize("name", CASES)
def test_products_have_the_bits_of_gemm(name: str, inference: bool) -> None:
    run, expected = CASES[name]
    mode = torch.inference_mode if inference else torch.no_grad
    with mode(), on_unit.arithmetic(BF16, FP16, TF32) as context:
        made = run()
    assert same(made, expected())
    assert sum(x.calls for x in context.counts) == 1
    assert all(x.by != "pytorch" for x in context.counts)


@pytest.mark.parametrize("inference", [False, True], ids=["no-grad", "inference"])
def test_attention_is_caught_before_a_fused_kernel(inference: bool) -> None:
    q, k, v = (random(1, heads, 10, 16, seed=i) for i, heads in ((6, 4), (7, 2), (8, 2)))
    mode = torch.inference_mode if inference else torch.no_grad
    with mode(), on_unit.arithmetic(BF16) as context:
        made = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    k, v = (x.repeat_interleave(2, 1) for x in (k, v))
    wide = gemm(BF16, "plain@c_place=epilogue").matmul(
        array_of(q), array_of(k.transpose(2, 3)), progress=False
    )
    scores = torch.from_numpy(wide) / 4 + torch.full((10, 10), float("-inf")).triu(1)
    assert same(made, predicted(scores.softmax(-1).bfloat16(), v))
    assert {x.operator for x in context.counts} == {"aten::scaled_dot_product_attention"}


def test_pytorchs_own_layers_of_attention_are_caught() -> None:
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dtype=torch.bfloat16).eval()
    with torch.no_grad(), on_unit.arithmetic(BF16) as context:
        layer(X[:, :, :16])
    assert sum(x.calls for x in context.counts) == 6
    assert torch.backends.mha.get_fastpath_enabled()


def refused() -> dict[str, tuple[Callable[[], Any], str]]:
    image, kernel = random(1, 1, 4, 4), random(1, 1, 2, 2)
    wide = torch.ones(2, 2, dtype=torch.float64)
    return {
        "dtype": (lambda: wide @ wide, "got aten::mm of torch.float64"),
        "convolution": (lambda: functional.conv2d(image, kernel), "got aten::convolution of torch.bfloat16"),
        "solve": (lambda: torch.linalg.solve(wide, wide), "got aten::_linalg_solve_ex of torch.float64"),
        "attention": (
            lambda: functional.scaled_dot_product_attention(*[wide[None, None]] * 3), "of torch.float64",
        ),
        "gradient": (
            lambda: functional.linear(X, torch.nn.Parameter(W)), "^expected no gradients for aten::mm",
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", refused())
def test_what_no_unit_computes_is_refused_in_a_sentence(name: str) -> None:
    run, sentence = refused()[name]
    with pytest.raises(InputError, match=sentence), on_unit.arithmetic(BF16):
        run()


def test_other_products_are_left_to_pytorch_where_asked_and_counted() -> None:
    wide = torch.ones(2, 2, dtype=torch.float64)
    with on_unit.arithmetic(BF16, others="pytorch") as context:
        assert float((wide @ wide).sum()) == 8
    assert [(x.operator, x.dtype, x.by) for x in context.counts] == [("aten::mm", "float64", "pytorch")]


@pytest.mark.parametrize(
    ("units", "options", "sentence"),
    [
        ((), {}, "^expected at least one unit"),
        ((BF16, "ampere/mma.m16n8k16.f32.bf16.bf16.f32"), {}, "^expected one unit for bf16 and bf16"),
        ((BF16,), {"others": "ignore"}, "^expected a known treatment of other products"),
        ((BF16, FP16), {"operands": "scaled"}, "^expected one unit for scaled operands"),
        (("blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0",), {}, "without scales"),
        ((BF16,), {"recipe": "plan"}, "^expected a known recipe"),
    ],
    ids=["none", "two", "others", "scaled", "scales", "recipe"],
)  # fmt: skip
def test_a_context_that_cannot_be_is_refused(
    units: tuple[str, ...], options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        on_unit.arithmetic(*units, **options)


def test_gradients_go_straight_through_where_asked() -> None:
    a, b = X[0].clone().requires_grad_(), Y[0].clone().requires_grad_()
    with on_unit.arithmetic(BF16, gradients="straight-through"):
        made = a @ b
        made.sum().backward()
    ones = torch.ones_like(made)
    assert same(made.detach(), predicted(X[0], Y[0]))
    assert same(a.grad, predicted(ones, Y[0].t()))
    assert same(b.grad, predicted(X[0].t(), ones))


def test_scaled_operands_are_rounded_to_the_units_format() -> None:
    a, b = X[0].float(), Y[0].float()
    with torch.no_grad(), on_unit.arithmetic(FP8, recipe="cublaslt-66-promoted", operands="scaled"):
        made = X[0] @ Y[0]
    scales = [x.abs().amax() / 448 for x in (a, b)]
    low = [(x / s).to(torch.float8_e4m3fn) for x, s in zip((a, b), scales, strict=True)]
    model = gemm(FP8, "cublaslt-66-promoted@output=bf16")
    d = model.matmul(*(array_of(x) for x in low), alpha=(scales[0] * scales[1]).numpy(), progress=False)
    assert same(made, tensor_of(d, torch.bfloat16))


def test_tensors_cross_without_a_copy() -> None:
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.float8_e4m3fn):
        x = random(4, 6).to(dtype)
        for view in (x, x.t(), x[1:, ::2]):
            array = array_of(view)
            assert array.shape == tuple(view.shape)
            assert array.__array_interface__["data"][0] == view.data_ptr()
            assert tensor_of(array, dtype).data_ptr() == view.data_ptr()
    with pytest.raises(InputError, match=r"^expected a dense tensor of floats on the CPU"):
        array_of(torch.ones(2, dtype=torch.int32))


def fp8(*shape: int, seed: int) -> Any:
    return random(*shape, dtype=torch.float8_e4m3fn, seed=seed)


def test_scales_of_rows_and_columns_follow_the_sum() -> None:
    """In fp32: times A's scale, times B's, plus the bias or 0; then one rounding to the result's dtype."""
    a, b = fp8(20, 64, seed=1), fp8(24, 64, seed=2).t()
    rows, columns = random(20, 1, dtype=torch.float32), random(1, 24, dtype=torch.float32, seed=4)
    bias = random(24, seed=5)
    model = gemm(FP8, "cublaslt-66-promoted")
    wide = tensor_of(model.matmul(array_of(a), array_of(b), progress=False), torch.float32)
    with torch.no_grad(), on_unit.arithmetic(FP8, recipe="cublaslt-66-promoted") as context:
        made = torch._scaled_mm(a, b, rows, columns, bias=bias, out_dtype=torch.bfloat16)
        assert same(made, (wide * rows * columns + bias.float()).bfloat16())
        made = torch._scaled_mm(a, b, rows, columns, out_dtype=torch.float32)
        assert same(made, wide * rows * columns)
        assert not same(made, wide * (rows * columns))
        made = torch._scaled_mm(a, b, rows, columns, out_dtype=torch.bfloat16)
        assert same(made, (wide * rows * columns).bfloat16())
        made = torch._scaled_mm(a, b, rows[0, 0], columns[0, 0], out_dtype=torch.bfloat16)
        alpha = (rows[0, 0] * columns[0, 0]).numpy()
        whole = gemm(FP8, "cublaslt-66-promoted@output=bf16").matmul(
            array_of(a), array_of(b), alpha=alpha, progress=False
        )
        assert same(made, tensor_of(whole, torch.bfloat16))
    assert {x.operator for x in context.counts} == {"aten::_scaled_mm"}


@pytest.mark.parametrize(
    ("extras", "sentence"),
    [
        ({"scale_a": (20, 2)}, r"one for each factor or \[20, 1\] and \[1, 24\], but got \[20, 2\]"),
        ({"scale_a": (1,)}, r"but got \[1\] of torch.float32 and \[1, 24\]"),
        ({"dtype": torch.float8_e8m0fnu}, "of torch.float8_e8m0fnu"),
        ({"scale_result": True}, "expected no scale_result for aten::_scaled_mm"),
    ],
)
def test_other_scales_are_refused(extras: dict[str, Any], sentence: str) -> None:
    a, b = fp8(20, 64, seed=1), fp8(24, 64, seed=2).t()
    scales = [
        torch.ones(x).to(extras.get("dtype", torch.float32))
        for x in (extras.get("scale_a", (20, 1)), (1, 24))
    ]
    result = torch.ones(1) if "scale_result" in extras else None
    with torch.no_grad(), on_unit.arithmetic(FP8), pytest.raises(InputError, match=sentence):
        torch.ops.aten._scaled_mm(a, b, *scales, scale_result=result, out_dtype=torch.bfloat16)


@pytest.mark.skipif(not hasattr(functional, "scaled_mm"), reason="an older PyTorch")
def test_the_newer_function_takes_the_same_scales_and_no_others() -> None:
    a, b = fp8(20, 64, seed=1), fp8(24, 64, seed=2).t()
    rows, columns = random(20, 1, seed=3).float().abs(), random(1, 24, seed=4).float().abs()
    kind = functional.ScalingType
    with torch.no_grad(), on_unit.arithmetic(FP8):
        wanted = torch._scaled_mm(a, b, rows, columns, out_dtype=torch.bfloat16)
        made = functional.scaled_mm(
            a, b, rows, kind.RowWise, columns, kind.RowWise, output_dtype=torch.bfloat16
        )
        assert same(made, wanted)
        with pytest.raises(InputError, match="but got aten::_scaled_mm_v2"):
            functional.scaled_mm(
                a, b, torch.ones(20, 1), kind.BlockWise1x128, torch.ones(1, 24), kind.BlockWise1x128,
                output_dtype=torch.bfloat16,
            )  # fmt: skip
