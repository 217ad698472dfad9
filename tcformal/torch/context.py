"""A context in which every matrix product of PyTorch is computed as a unit and a recipe compute it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from types import TracebackType
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves

from tcformal.checks import check_choice
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.programs.recipe import Recipe, recipe_of
from tcformal.simulation.arrays import from_raw
from tcformal.simulation.matrix_unit import Unit, spec_of
from tcformal.simulation.model_gemm import ModelGemm, gemm
from tcformal.torch.tensors import TORCH_DTYPES, array_of, format_of_dtype, tensor_of

# ------------------------------------------------------------ Operators that are matrix products, and of what
#: Operators that are one product, and the names of their factors.
_FACTORS = {
    "mm": ("self", "mat2"), "bmm": ("self", "mat2"), "addmm": ("mat1", "mat2"),
    "baddbmm": ("batch1", "batch2"), "mv": ("self", "vec"), "addmv": ("mat", "vec"),
    "dot": ("self", "tensor"), "vdot": ("self", "other"), "_scaled_mm": ("self", "mat2"),
    "_scaled_mm_v2": ("self", "mat2"),
}  # fmt: skip
#: Kinds of scales of `_scaled_mm_v2` (torch.nn.functional.ScalingType): of a tensor, of its rows.
_PLAIN_SCALES = ([0], [1])
#: Of those, the ones that add `self`.
_ADDING = ("addmm", "baddbmm", "addmv")
#: Parts of an operator's name that say it sums products, of factors or in a factorisation.
_SUMS = re.compile(
    r"(^|_)(\w*mm\d*|mv|addmv|v?dot|vecdot|matmul\w*|linear|bilinear|trilinear|conv\d*d?|conv_\w*"
    r"|\w*convolution|\w*attention|lstm|gru|rnn|multihead|transformer|cdist\w*|euclidean"
    r"|cholesky|lu|ldl|qr|svd\w*|eig\w*|inv|inverse|det|slogdet|lstsq|solve|(sp|tensor)solve|orgqr|ormqr|geqrf"
    r"|householder|matrix_exp)(_|\d|$)"
)
#: Operators whose names have such a part and that sum no products.
_NO_SUMS = re.compile(r"^_?(upsample|adaptive|slice)|^fbgemm_pack|^to_|_unpack$|_(pack|prepack)(_|$)")
#: Namespaces of PyTorch's own operators, whose names tell.
_KNOWN = ("aten", "prim", "prims", "profiler", "debugprims", "rngprims")


@dataclass(frozen=True, slots=True, eq=False)
class TensorProduct:
    """alpha·A·B + beta·C + bias as one operator of PyTorch asks for it.

    Shapes: a [..., M, K], b [..., K, N]; c broadcasts to [..., M, N], bias [N]; `shape` is the result's.
    Ranges and units: alpha and beta are None where they are 1; `scales`: those of A and B, in fp32: one each,
    or [M, 1] and [1, N]; `scale_result`: one of the result.
    """

    operator: str
    a: Any
    b: Any
    shape: tuple[int, ...]
    dtype: Any
    c: Any = None
    bias: Any = None
    alpha: float | None = None
    beta: float | None = None
    scales: tuple[Any, ...] = ()
    scale_result: Any = None

    @property
    def multiply_adds(self) -> int:
        """How many products are summed in all."""
        return int(torch.Size(self.shape).numel()) * int(self.a.shape[-1])


def named_arguments(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call of an operator by name."""
    return {**dict(zip((x.name for x in func._schema.arguments), args, strict=False)), **kwargs}


def base_name(func: Any) -> tuple[str, str]:
    """An operator's namespace, and its name without the mark of one that works in place."""
    space, _, name = func._schema.name.partition("::")
    inplace = name.endswith("_") and not name.endswith("__")
    return space, name.removesuffix("_") if inplace else name


def product_of(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TensorProduct | None:
    """The product that a call of an operator is; None where it is none."""
    space, name = base_name(func)
    if space != "aten" or name not in _FACTORS:
        return None
    x = named_arguments(func, args, kwargs)
    a, b = (x[key] for key in _FACTORS[name])
    dtype = x.get("out_dtype") or a.dtype
    if name.endswith("dot"):
        shape: tuple[int, ...] = ()
        a, b = a[None, :], b[:, None]
    elif name.endswith("mv"):
        shape = (a.shape[0],)
        b = b[:, None]
    else:
        shape = (*a.shape[:-1], b.shape[-1])
    made = TensorProduct(f"{space}::{name}", a, b, shape, dtype)
    if name.startswith("_scaled_mm"):
        scales = [x["scale_a"], x["scale_b"]]
        if name == "_scaled_mm_v2":
            if not _plainly_scaled(x):
                return None
            scales = [s for (s,) in scales]
        return replace(made, bias=x.get("bias"), scales=tuple(scales), scale_result=x.get("scale_result"))
    alpha, beta = (None if x.get(key, 1) == 1 else float(x[key]) for key in ("alpha", "beta"))
    made = replace(made, alpha=alpha, beta=beta)
    if name not in _ADDING or beta == 0:
        return replace(made, beta=None)
    c = x["self"]
    if name == "addmm" and c.dim() == 1 and beta is None and c.shape[0] == b.shape[-1]:
        return replace(made, bias=c)
    return replace(made, c=c[:, None] if name == "addmv" and c.dim() == 1 else c)


def _plainly_scaled(x: Mapping[str, Any]) -> bool:
    """Whether the scales of a call of `_scaled_mm_v2` are of whole factors, or of rows and columns."""
    for side in "ab":
        known = list(x[f"recipe_{side}"]) in _PLAIN_SCALES and len(x[f"scale_{side}"]) == 1
        if not known or any(x.get(f"swizzle_{side}") or ()):
            return False
    return not x.get("contraction_dim")


@cache
def is_composite(func: Any) -> bool:
    """Whether PyTorch takes an operator apart into others, which it leaves to a mode in inference."""
    key = torch._C.DispatchKey.CompositeImplicitAutograd
    there = key in func.py_kernels or torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), key)
    return bool(there)


@cache
def sums_products(func: Any) -> bool:
    """Whether an operator sums products, by its name; one that is not PyTorch's own is taken to."""
    space, name = base_name(func)
    if space not in _KNOWN:
        return True
    return bool(_SUMS.search(name)) and not _NO_SUMS.search(name)


# ------------------------------------------------------------------------------------------------ The context
#: A product of stacks of matrices; true for a result in the accumulator's format.
Multiply = Callable[[Any, Any, bool], Any]


def attention(
    multiply: Multiply, query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, *, scale: float | None = None, **_: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """softmax(scale·Q·Kᵀ + mask)·V, and the logarithms of the sums of exponentials.

    Shapes: query [..., H, L, E], key [..., G, S, E], value [..., G, S, V] with G a divisor of H; the mask
    broadcasts to [..., H, L, S]; results [..., H, L, V] and [..., H, L].
    Ranges and units: Q·Kᵀ stays in the accumulator's format, and what follows is PyTorch's in fp32; the
    weights are rounded to the dtype of V before the second product, as fused kernels do; no kernel's own
    order of blocks of S is followed.
    Zero, NaN, Inf: a row of which every place is masked gives zeros.
    """
    if query.dim() > 2 and key.shape[-3] != query.shape[-3]:
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    scores = multiply(query, key.transpose(-2, -1), True).float()
    scores = scores * (query.shape[-1] ** -0.5 if scale is None else scale)
    places = scores.shape[-2:]
    if is_causal:
        later = torch.ones(places, dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(later, float("-inf"))
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, float("-inf"))
    elif attn_mask is not None:
        scores = scores + attn_mask.float()
    sums = torch.logsumexp(scores, -1)
    weights = torch.softmax(scores, -1).masked_fill((sums == float("-inf"))[..., None], 0.0)
    if dropout_p:
        weights = torch.dropout(weights, dropout_p, True)
    return multiply(weights.to(value.dtype), value, False), sums


#: Operators that are a whole attention; the second one has a second result.
_ATTENTION = ("scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu")
_ATTENTION_NAMES = (
    "query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa",
)  # fmt: skip


class Functions(TorchFunctionMode):
    """Attention before PyTorch chooses one of its kernels for it."""

    def __init__(self, owner: TorchArithmetic) -> None:
        super().__init__()
        self._owner = owner

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        if func is not torch.nn.functional.scaled_dot_product_attention:
            return func(*args, **given)
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        given = {**dict(zip(names, args, strict=False)), **given}
        made = _attended(self._owner, "aten::scaled_dot_product_attention", given)
        return func(*args, **(kwargs or {})) if made is None else made[0]


class Operators(TorchDispatchMode):
    """Every operator, after PyTorch has taken its functions apart."""

    def __init__(self, owner: TorchArithmetic) -> None:
        super().__init__()
        self._owner = owner

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        owner = self._owner
        p = product_of(func, args, given)
        if p is not None and p.multiply_adds and owner.takes(p):
            return _put(func, args, given, owner.compute(p))
        space, name = base_name(func)
        if space == "aten" and name in _ATTENTION:
            made = _attended(owner, f"{space}::{name}", named_arguments(func, args, given))
            if made is not None:
                return made if name != _ATTENTION[0] else made[0]
        if is_composite(func):
            with self:
                return func.decompose(*args, **given)
        if p is not None or sums_products(func):
            tensors = [x for x in tree_leaves((args, given)) if torch.is_tensor(x)]
            if p is None or p.multiply_adds:
                owner.refuse(f"{space}::{name}", tensors)
        return func(*args, **given)


def _attended(owner: TorchArithmetic, operator: str, x: Mapping[str, Any]) -> tuple[Any, Any] | None:
    """Attention on the units, with gradients straight through; None where no unit takes its dtype."""
    query, key, value = (x[name] for name in ("query", "key", "value"))
    example = TensorProduct(operator, query, key, (1,), query.dtype)
    if not owner.takes(example):
        return None
    owner.check_gradients(operator, (query, key, value))

    def multiply(a: Any, b: Any, wide: bool) -> Any:
        shape = (*torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
        return owner.compute(TensorProduct(operator, a, b, shape, a.dtype), wide)

    with torch.no_grad():
        made, sums = attention(multiply, **x)
    if not torch.is_grad_enabled() or not any(t.requires_grad for t in (query, key, value)):
        return made, sums
    with _disable_current_modes():
        given = {name: value for name, value in x.items() if name in _ATTENTION_NAMES}
        reference = torch.nn.functional.scaled_dot_product_attention(**given)
    return _StraightThrough.apply(made, reference), sums


class _StraightThrough(torch.autograd.Function):
    """One value with the gradient of another."""

    @staticmethod
    def forward(ctx: Any, value: Any, reference: Any) -> Any:
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return None, gradients[0]


def _put(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], d: Any) -> Any:
    """The result where the operator puts it: a new tensor, its first operand, or `out`."""
    given = named_arguments(func, args, kwargs)
    if "out" in given:
        return given["out"].resize_(d.shape).copy_(d)
    if func._schema.name.endswith("_"):
        return args[0].copy_(d)
    return d


_GRADIENTS = ("refuse", "straight-through")
_OTHERS = ("refuse", "pytorch")
_OPERANDS = ("given", "scaled")


@dataclass(frozen=True, slots=True)
class ProductCount:
    """An operator and the dtype of its factors, whether the arithmetic took it, and how often it ran."""

    operator: str
    dtype: str
    #: The unit and the recipe, or `pytorch`.
    by: str
    calls: int
    multiply_adds: int


class TorchArithmetic:
    """A context that runs the products of PyTorch as units and a recipe compute them; see `arithmetic`."""

    def __init__(
        self, units: Sequence[str | Unit | UnitSpec], recipe: str | Recipe | None, *, gradients: str,
        others: str, operands: str, threads: int | None,
    ) -> None:  # fmt: skip
        self.gradients = check_choice("treatment of gradients", gradients, _GRADIENTS)
        self.others = check_choice("treatment of other products", others, _OTHERS)
        self.operands = check_choice("treatment of operands", operands, _OPERANDS)
        self.threads = threads
        specs = [spec_of(x) for x in units]
        if not specs or (operands == "scaled" and len(specs) > 1):
            wanted = "one unit for scaled operands" if specs else "at least one unit"
            raise InputError(f"expected {wanted}, but got {len(specs)}")
        self._recipe = recipe_of("plain@c_place=epilogue" if recipe is None else recipe)
        self._units: dict[tuple[Any, Any], UnitSpec] = {}
        for spec in specs:
            if spec.scale_format is not None:
                raise InputError(f"expected a unit without scales of its own, but got {spec.name}")
            names = (spec.a_format.name, spec.b_format.name)
            for name in names:
                check_choice("format that PyTorch has", name, TORCH_DTYPES)
            key = (TORCH_DTYPES[names[0]], TORCH_DTYPES[names[1]])
            if key in self._units:
                raise InputError(
                    f"expected one unit for {' and '.join(names)}, but got {self._units[key].name} and "
                    f"{spec.name}"
                )
            self._units[key] = spec
            gemm(spec, self._recipe)  # a recipe that the unit cannot follow is refused here
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._sums: Counter[tuple[str, str, str]] = Counter()
        self._modes: list[tuple[Any, ...]] = []
        #: Called at each product that a unit computes.
        self.watch: Callable[[], object] | None = None

    @property
    def name(self) -> str:
        """The units and the recipe."""
        units = ", ".join(x.name for x in self._units.values())
        return f"{units} by {self._recipe.name}" + (", scaled" if self.operands == "scaled" else "")

    @property
    def counts(self) -> tuple[ProductCount, ...]:
        """What has run in the context so far, in the order of first calls."""
        return tuple(ProductCount(*key, n, self._sums[key]) for key, n in self._counts.items())

    def __enter__(self) -> TorchArithmetic:
        functions, operators = Functions(self), Operators(self)
        self._modes.append((functions, operators, torch.backends.mha.get_fastpath_enabled()))
        # Encoders of PyTorch have a second way through one fused operator.
        torch.backends.mha.set_fastpath_enabled(False)
        operators.__enter__()
        functions.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        functions, operators, fastpath = self._modes.pop()
        functions.__exit__(kind, error, trace)
        operators.__exit__(kind, error, trace)
        torch.backends.mha.set_fastpath_enabled(fastpath)

    # -------------------------------------------------------------------------- products
    def takes(self, p: TensorProduct) -> bool:
        """Whether a unit takes the dtypes of a product's factors."""
        if self.operands == "scaled":
            wide = p.a.dtype.is_floating_point and p.a.element_size() > 1
            return bool(wide and p.a.dtype == p.b.dtype)
        return (p.a.dtype, p.b.dtype) in self._units

    def compute(self, p: TensorProduct, wide: bool = False) -> Any:
        """The result of a product as a tensor; `wide`: in the accumulator's format.

        Errors: InputError for dtypes, devices and operands that the units or the recipe have no place for,
        and where a gradient is asked for that is not to be given.
        """
        self.check_gradients(p.operator, (p.a, p.b, p.c, p.bias))
        if self.operands == "scaled":
            p = _scaled(p, next(iter(self._units.values())))
        spec = self._units[p.a.dtype, p.b.dtype] if self.operands == "given" else self._spec
        rows = _by_rows(p)
        model = self._model(spec, p, wide or rows)
        arrays = [None if x is None else array_of(x) for x in (p.a, p.b, p.c, p.bias)]
        alpha = p.alpha
        if p.scales and not rows:
            alpha = _joined_scales(p, alpha)
        d = model.matmul(
            *arrays[:3], alpha=alpha, beta=p.beta, bias=None if rows else arrays[3], threads=self.threads,
            progress=False,
        )  # fmt: skip
        dtype = TORCH_DTYPES[model.d_format.name]
        by = f"{model.unit.name} by {model.recipe.name}"
        self.count(p.operator, p.a.dtype, by, p.multiply_adds)
        if self.watch is not None:
            self.watch()
        made = tensor_of(d, dtype).reshape(p.shape)
        return _scaled_by_rows(p, made) if rows else made

    @property
    def _spec(self) -> UnitSpec:
        return next(iter(self._units.values()))

    def _model(self, spec: UnitSpec, p: TensorProduct, wide: bool) -> ModelGemm:
        output = spec.d_format.name if wide else format_of_dtype(p.dtype)
        given = format_of_dtype(p.a.dtype)
        if output is None or given is None:
            raise InputError(f"expected floats for {p.operator}, but got {p.a.dtype} to {p.dtype}")
        return _with_formats(spec, self._recipe, given, output)

    def count(self, operator: str, dtype: Any, by: str, multiply_adds: int) -> None:
        """Note that an operator has run."""
        key = (operator, str(dtype).removeprefix("torch."), by)
        self._counts[key] += 1
        self._sums[key] += multiply_adds

    def check_gradients(self, operator: str, tensors: Sequence[Any]) -> None:
        """Refuse a product of which a gradient would be taken, unless it is to go straight through."""
        asked = torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors)
        if asked and self.gradients == "refuse":
            raise InputError(
                f"expected no gradients for {operator}, whose derivative this arithmetic does not have "
                "(torch.no_grad(), or gradients='straight-through' for that of the exact product), but an "
                "operand requires one"
            )

    def refuse(self, operator: str, tensors: Sequence[Any]) -> None:
        """Refuse an operator that sums products of floats otherwise, or count it."""
        floats = [x for x in tensors if x.dtype.is_floating_point or x.dtype.is_complex]
        if not floats:
            return
        # The derivative of an attention that goes straight through is PyTorch's.
        derived = self.gradients == "straight-through" and operator.endswith("_backward")
        if self.others == "refuse" and not derived:
            wanted = " and ".join(x.name for x in self._units.values())
            raise InputError(
                f"expected products that {wanted} can compute, but got {operator} of {floats[0].dtype} "
                "(others='pytorch' leaves such operators to PyTorch, and counts them)"
            )
        self.count(operator, floats[0].dtype, "pytorch", 0)


@lru_cache(maxsize=256)
def _with_formats(spec: UnitSpec, recipe: Recipe, given: str, output: str) -> ModelGemm:
    """The recipe with operands and results of the formats of the tensors."""
    fields: dict[str, str] = {}
    if recipe.output == "accumulator" and output != spec.d_format.name:
        fields["output"] = output
    if recipe.operands == "given" and given != spec.a_format.name:
        fields["operands"] = given
    if not fields:
        return gemm(spec, recipe)
    listed = ",".join(f"{key}={value}" for key, value in fields.items())
    joint = "," if "@" in recipe.name else "@"
    return gemm(spec, recipe.altered(f"{recipe.name}{joint}{listed}", fields))


def _scaled(p: TensorProduct, spec: UnitSpec) -> TensorProduct:
    """A product whose factors are divided by scales that bring their largest magnitudes to the format's."""
    scales = []
    factors = []
    for x, fmt in ((p.a, spec.a_format), (p.b, spec.b_format)):
        largest = float(from_raw(np.array([fmt.largest], np.uint16 if fmt.width > 8 else np.uint8), fmt)[0])
        most = x.float().abs().amax()
        scale = torch.where(most > 0, most / largest, torch.ones_like(most))
        factors.append(x.float() / scale)
        scales.append(scale)
    return replace(p, a=factors[0], b=factors[1], scales=tuple(scales))


def _by_rows(p: TensorProduct) -> bool:
    """Whether a product has a scale for each row of A and each column of B.

    Errors: InputError for scales that are neither that nor one for each factor, and for one of the result.
    """
    if p.scale_result is not None:
        raise InputError(f"expected no scale_result for {p.operator}, but got one")
    shapes = [list(x.shape) for x in p.scales]
    if any(x.dtype != torch.float32 for x in p.scales) or not (
        all(x.numel() == 1 for x in p.scales) or shapes == [[p.shape[-2], 1], [1, p.shape[-1]]]
    ):
        wanted = f"[{p.shape[-2]}, 1] and [1, {p.shape[-1]}]"
        given = " and ".join(f"{shape} of {x.dtype}" for shape, x in zip(shapes, p.scales, strict=True))
        raise InputError(
            f"expected scales in float32 for {p.operator}, one for each factor or {wanted}, but got {given}"
        )
    return any(x.numel() > 1 for x in p.scales)


def _scaled_by_rows(p: TensorProduct, d: Any) -> Any:
    """A finished sum times the scales of A's rows, then of B's columns, plus the bias or 0, rounded once.

    Each step is one of fp32, as in PyTorch's own kernel for sm_90 [RowwiseScaledMM.cu: AccumScale].
    """
    made = d.float() * p.scales[0] * p.scales[1]
    return (made + (0.0 if p.bias is None else p.bias.float())).to(p.dtype)


def _joined_scales(p: TensorProduct, alpha: float | None) -> Any:
    """The product of the scales of both factors and alpha, each step rounded to fp32."""
    joined = np.float32(p.scales[0].item()) * np.float32(p.scales[1].item())
    return joined if alpha is None else joined * np.float32(alpha)
