"""Arrays as operands of units with block scales: elements, scales of blocks, and the scale of the tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.checks import check_choice
from tcformal.design.steps import ProgramPlan
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.errors import InputError
from tcformal.programs.program import Program
from tcformal.shown import Shown, short
from tcformal.simulation.arrays import as_array, dtypes, from_raw
from tcformal.simulation.evaluation import RememberedRun, RunOptions
from tcformal.simulation.matrix_unit import Unit, spec_of
from tcformal.simulation.operands.batch import Raw

#: Of one block a are the numbers, d is the scale and x are the elements; c is the tensor's largest magnitude.
_INPUTS = {"a": "fp32", "b": "fp32", "c": "fp32"}
_MX = Program(
    name="mx-block", title="A block of OCP MX", source="OCP MX §6.3", inputs=_INPUTS,
    parameters={"word": "e4m3", "rounding": "RZ", "by_largest": False},
    body="""
top = largest(word)
if by_largest:
    d = convert(magnitude(a) / top, e8m0, rounding)
else:
    d = convert(scale(magnitude(a), -exponent(top)), e8m0, rounding)
x = mul(a, repeat(div(1, d, fp32), len(a), len(a)), word, saturate=True)
""",
)  # fmt: skip
_NVFP4 = Program(
    name="nvfp4-block", title="A block of NVFP4", inputs=_INPUTS, parameters={"word": "e2m1"},
    source="Transformer Engine transformer_engine/pytorch/custom_recipes/quantization_nvfp4.py",
    body="""
p = div(largest(word) * largest(ue4m3), c, fp32)
u = 1 / p
d = convert(magnitude(a) * (p * div(1, largest(word), fp32)), ue4m3)
x = convert(a * repeat(1 / mul(d, u, fp32), len(a), len(a)), word)
""",
)  # fmt: skip
#: A tensor's largest magnitude counts as at least this.
_LEAST = np.float32(2.0**-110)


@dataclass(frozen=True, slots=True, eq=False)
class Quantised(Shown):
    """An array as elements with block scales, whose products are near the array's numbers.

    Shapes: elements as the array; scales: one for each block along the axis of the products.
    Ranges and units: an element times its block's scale times `tensor_scale` stands for a number of the
    array; `tensor_scale` is 1 but for NVFP4, whose product has to be multiplied by both of them: alpha.

    Examples:
        >>> q = tcformal.quantise(np.float32([[1, 2, 3, 480]]), "b200:mxf8")
        >>> q
        <Quantised [1, 4] of float8_e4m3fn, scales [1, 1] of float8_e8m0fnu>
        >>> q.elements.astype(float) * q.scales.astype(float)
        array([[  1.,   2.,   3., 448.]])
    """

    elements: NDArray[Any]
    scales: NDArray[Any]
    tensor_scale: np.float32

    def _summary(self) -> str:
        x, s = (f"{list(v.shape)} of {v.dtype}" for v in (self.elements, self.scales))
        return f"Quantised {x}, scales {s}"


def quantise(
    x: Any, unit: str | Unit | UnitSpec, operand: str = "a", *, rounding: str = "RZ", by_largest: bool = False
) -> Quantised:
    """An array as an operand of a unit with block scales: OCP MX blocks, or NVFP4.

    Shapes: of an operand a [..., M, K] with blocks along K; of b [..., K, N] likewise.
    Ranges and units: float32, or float16 and bfloat16, which it holds.  The scale of an MX block is the
    largest power of two up to its largest magnitude, divided by the largest power of two of the elements'
    format: OCP's rule, with `rounding` RZ; by_largest divides by the largest number instead, in fp32, which
    with rounding RU is CUDA's rule.  Elements are rounded to nearest, and saturate.  NVFP4's scales, one in
    ue4m3 for every block and one in fp32 for the tensor, are Transformer Engine's; `rounding` and
    `by_largest` are not theirs.
    Zero, NaN, Inf: a block of zeros has the least scale; NaN makes its block's scale NaN.
    Errors: InputError for another dtype, or a unit without block scales.
    Source: OCP MX §6.3; PTX ISA, cvt.rp.satfinite.ue8m0x2.f32; Transformer Engine, quantization_nvfp4.py.

    Examples:
        >>> x = np.linspace(-1, 1, 64, dtype=np.float32).reshape(1, 64)
        >>> a, b = tcformal.quantise(x, "b200:nvf4"), tcformal.quantise(x.T, "b200:nvf4", "b")
        >>> alpha = float(a.tensor_scale * b.tensor_scale)
        >>> tcformal.simulate(
        ...     "b200:nvf4", a.elements, b.elements, None, a.scales, b.scales, recipe="plain", alpha=alpha
        ... )
        array([[22.940973]], dtype=float32)
    """
    u = spec_of(unit)
    check_choice("operand", operand, ("a", "b"))
    if u.scale_format is None or u.scale_block is None:
        raise InputError(f"expected a unit with block scales, such as b200:mxf8, but got {short(u.shown)}")
    given, word = as_array(x), u.a_format if operand == "a" else u.b_format
    if given.dtype not in (np.float32, np.float16, dtypes()["bf16"]) or given.ndim < 2 or not given.size:
        raise InputError(
            f"expected a matrix of float32, float16 or bfloat16, but got {given.dtype} {list(given.shape)}"
        )
    two_levels = u.scale_format.name == "ue4m3"
    if two_levels:
        if rounding != "RZ" or by_largest:
            raise InputError("expected no rounding of the scales of NVFP4, which are ue4m3, but got one")
        p = _NVFP4.with_settings(word=word.name)
    else:
        p = _MX.with_settings(word=word.name, rounding=rounding, by_largest=by_largest)
    values = np.moveaxis(given.astype(np.float32), -1 if operand == "a" else -2, -1)
    size, k = u.scale_block, values.shape[-1]
    blocks = np.zeros((*values.shape[:-1], -(-k // size) * size), np.float32)
    blocks[..., :k] = values
    most = np.maximum(np.abs(values).max(), _LEAST, dtype=np.float32)
    made = _steps(p.plan(size), blocks.reshape(-1, size), most)
    elements = from_raw(made["x"].reshape(blocks.shape)[..., :k], word)
    # Words of ue4m3 are those of e4m3 without a sign, and have its dtype.
    scale = format_named("e4m3") if two_levels else u.scale_format
    scales = from_raw(made["d"].reshape(*blocks.shape[:-1], -1), scale)
    tensor = made["u"].view(np.float32).reshape(-1)[0] if two_levels else np.float32(1)
    if operand == "b":
        elements, scales = (np.moveaxis(v, -1, -2) for v in (elements, scales))
    return Quantised(elements, scales, np.float32(tensor))


def _steps(plan: ProgramPlan, blocks: NDArray[np.float32], most: np.float32) -> dict[str, Raw]:
    """The words of the variables of a block's program, for blocks [n, size]."""
    a = blocks.view(np.uint32)[:, None, :]
    c = np.array(most, np.float32).view(np.uint32).reshape(1, 1, 1)
    run = RememberedRun(plan, {"a": a, "b": a, "c": c}, RunOptions(), {})
    for i, step in enumerate(plan.steps):
        run.known[i] = run.value(step)
    # The last step of a variable has its value.
    return {step.name.partition("#")[0]: run.known[i] for i, step in enumerate(plan.steps)}
