"""Some elements of a matrix product with their operands, and what recipes on units make of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.design.steps import ProgramPlan
from tcformal.design.unit import UnitSpec, takes
from tcformal.errors import InputError
from tcformal.identification.causes import computations, same_arithmetic
from tcformal.identification.outputs import ProductCase, ProductOperands
from tcformal.identification.product_recipes import ProductProducer, recipes_for, with_output
from tcformal.programs.recipe import recipe
from tcformal.programs.recipe_steps import KPart, parts_at, recipe_plan
from tcformal.simulation.array_files import format_of_values
from tcformal.simulation.arrays import dtypes
from tcformal.simulation.evaluation import results_of
from tcformal.simulation.model_gemm import ModelGemm, gemm
from tcformal.simulation.operands.batch import Raw

#: Products of one call of a chain of multiply–adds.
_CHAIN = 16
#: Lanes of vectors of fp32, and of several of them, that take one k each in turn.
_LANES = (2, 4, 8, 16, 32)
#: Products up to which such loops are tried: each of their steps is one.
_LOOP = 512
#: A loop in fp64, as references are computed.
_REFERENCE = "fma@k=16,a_format=fp64,b_format=fp64,c_format=fp64,d_format=fp64"
#: Products that share a scale, in units and libraries.
_BLOCKS = (16, 32, 64, 128)

Values = NDArray[Any]
Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Elements(ProductOperands):
    """The operands of n elements of D, each with its own row of A and column of B.

    Shapes: places [n, 2], their rows and columns in a D of `shape`; a, b [n, K]; c, bias [n] or None;
    scale_a, scale_b [n, blocks] or None.
    """

    places: NDArray[np.intp]
    shape: tuple[int, int]

    @staticmethod
    def of(case: ProductCase, places: NDArray[np.intp]) -> Elements:
        """Those of a product at some places [n, 2]."""
        i, j = places[:, 0], places[:, 1]
        c, bias = (
            None if x is None else np.broadcast_to(x, case.expected.shape)[i, j] for x in (case.c, case.bias)
        )
        return Elements(
            places=places, shape=case.shape, a=case.a[i], b=case.b.T[j], d_format=case.d_format,
            c=c, bias=bias,
            scale_a=None if case.scale_a is None else case.scale_a[i],
            scale_b=None if case.scale_b is None else case.scale_b.T[j], alpha=case.alpha, beta=case.beta,
        )  # fmt: skip

    def part(self, some: NDArray[np.intp]) -> Elements:
        """Some of the elements."""
        c, bias, scale_a, scale_b = (
            None if x is None else x[some] for x in (self.c, self.bias, self.scale_a, self.scale_b)
        )
        return replace(
            self, places=self.places[some], a=self.a[some], b=self.b[some], c=c, bias=bias,
            scale_a=scale_a, scale_b=scale_b,
        )  # fmt: skip

    def products(self) -> Doubles:
        """The products a·b with their blocks' scales, in binary64: [n, K]."""
        return self.scaled_by(self.a.astype(np.float64) * self.b.astype(np.float64))

    def scaled_by(self, products: Doubles) -> Doubles:
        """Products [n, K] times the scales of their blocks, if there are any."""
        if self.scale_a is not None and self.scale_b is not None:
            count = self.scale_a.shape[1]
            size = next((s for s in _BLOCKS if -(-self.k // s) == count), -(-self.k // count))
            blocks = np.arange(self.k) // size
            one, two = (s.astype(np.float64)[:, blocks] for s in (self.scale_a, self.scale_b))
            return products * one * two
        return products

    def sums(self) -> tuple[Doubles, Doubles]:
        """alpha·Σa·b + beta·c + bias and the sum of all magnitudes, in binary64: [n] each."""
        products = self.products()
        with np.errstate(over="ignore", invalid="ignore"):
            alpha, beta = (1.0 if x is None else float(x) for x in (self.alpha, self.beta))
            total, size = alpha * products.sum(1), abs(alpha) * np.abs(products).sum(1)
            for x, factor in ((self.c, beta), (self.bias, 1.0)):
                if x is not None:
                    total, size = (
                        total + factor * x.astype(np.float64),
                        size + abs(factor * x.astype(np.float64)),
                    )
        return total, size


#: Recipes on each unit that are tried.
Makers = list[tuple[UnitSpec, list[ProductProducer]]]


def makers(
    case: ProductCase, arch: str | None = None, library: str = "", unit: UnitSpec | None = None
) -> Makers:
    """Every recipe on every unit of the catalogue that takes these arrays, one unit for each arithmetic.

    Ranges and units: `arch`: only units of this architecture; `library`: only recipes whose names begin so;
    `unit`: only this one, which may be altered.
    """

    def fits(u: UnitSpec) -> bool:
        a, b, d = (dtypes().get(f.name) for f in (u.a_format, u.b_format, u.d_format))
        return (
            arch in (None, u.arch)
            and case.unit_scales(u)
            and d is not None
            and (a, b) == (case.a.dtype, case.b.dtype)
            and takes(u, case.k)
        )

    made: Makers = []
    units = [(resolve(names[0]), tuple(names)) for names in distinct_designs(fits).values()]
    for u, names in units if unit is None else [(unit, same_arithmetic(unit, case.k)[0])]:
        found = list[ProductProducer]()
        for one in recipes_for(u, case):
            if not one.name.startswith(library):
                continue
            versions = [with_output(one, case, u)]
            if u.a_format.name == "tf32":  # rounded to it before, or cut by the unit
                versions.append(versions[0].varied(operands="fp32"))
            if one.name.startswith("cublaslt-66@grain=128,splits=") and u.d_format.name == "fp32":
                versions += [versions[0].varied(partials=name) for name in ("fp16", "bf16")]
            for version in versions:
                with contextlib.suppress(InputError):  # a recipe that this unit cannot follow
                    found.append(ProductProducer(gemm(u, version), u is unit, names))
        made.append((u, list(different(found, case.k))))
    if arch is None and unit is None and made:
        made += _computations(case, made)
    return made


def _computations(case: ProductCase, made: Makers) -> Makers:
    """Chains of multiply–adds that no unit computes, in formats of the units', as a processor's cores do."""
    wide = {
        u.operands.names()["d"]: u for u, _ in made if u.c_format == u.d_format and u.a_format.name != "tf32"
    }
    lanes = [f"lanes@splits={n}{merge}" for n in _LANES for merge in ("", ",merge=tree")]
    found: Makers = []
    for u in wide.values():
        # Where products of narrow factors are exact, both kinds are one.
        exact = u.a_format.precision + u.b_format.precision <= u.d_format.precision
        kinds = ("fma@",) if exact else ("fma@", "muladd@")
        for k, orders in (
            (_CHAIN, ["plain"]),
            (1, lanes if u.d_format.name == "fp32" and case.k <= _LOOP else []),
        ):
            for name, _ in computations(u, k) if orders else ():
                if name.startswith(kinds):
                    chain, some = resolve(name), list[ProductProducer]()
                    for order in orders:
                        with contextlib.suppress(InputError):
                            model = gemm(chain, with_output(recipe(order), case, chain))
                            some.append(ProductProducer(model, False))
                    found.append((chain, list(different(some, case.k))))
    given = format_of_values(case.a).name
    if case.a.dtype == case.b.dtype and given != "fp64":
        reference = resolve(_REFERENCE)
        one = with_output(recipe("cublaslt-66").varied(operands=given), case, reference)
        with contextlib.suppress(InputError):
            found.append((reference, [ProductProducer(gemm(reference, one), False)]))
    return found


def different(found: Sequence[ProductProducer], k: int) -> Iterator[ProductProducer]:
    """Those that compute K products differently; the first of each."""
    seen = set()
    for p in found:
        with contextlib.suppress(InputError):
            key = p.model.computed(k)
            if not p.model.recipe.stream and key not in seen:
                seen.add(key)
                yield p


def results(models: Sequence[ModelGemm], x: Elements) -> list[Raw | None]:
    """What models of one unit make of some elements: [n] each; None of one without a place for an operand."""
    if any(model.recipe.stream for model in models):
        return [_streamed(m, x) if m.recipe.stream else results([m], x)[0] for m in models]
    plans, given, kept = [], dict[str, Raw](), []
    for model in models:
        try:
            plan, words = planned(model, x)
        except InputError:
            kept.append(False)
        else:
            kept.append(True)
            plans.append(plan)
            given |= words
    made = iter(results_of(plans, given, {}) if plans else ())
    return [next(made) if ok else None for ok in kept]


def _streamed(model: ModelGemm, x: Elements) -> Raw | None:
    """What stream-K makes of some elements, those of one tile of D at a time."""
    made: Raw | None = None
    parts = [parts_at(model.unit, model.recipe, x.k, x.shape, place) for place in x.places.tolist()]
    for one in dict.fromkeys(parts):
        some = np.array([i for i, p in enumerate(parts) if p == one])
        try:
            plan, words = planned(model, x.part(some), one)
        except InputError:
            return None
        (d,) = results_of([plan], words, {})
        made = np.zeros(len(parts), d.dtype) if made is None else made
        made[some] = d
    return made


def planned(
    model: ModelGemm, x: Elements, parts: tuple[KPart, ...] | None = None
) -> tuple[ProgramPlan, dict[str, Raw]]:
    """The steps of a model's element, and the words of operands: [n or 1, 1, length], by their letter.

    Shapes: `parts`: those of K, by default those of the first element.
    """
    model.check_beta(x.beta)
    if model.blocks(x.k) != (0 if x.scale_a is None else x.scale_a.shape[1]):
        raise InputError(f"expected scales of {model.blocks(x.k)} blocks for the recipe {model.recipe.name}")
    named = {"A": x.a, "B": x.b, "C": x.c, "bias": x.bias, "scale_a": x.scale_a, "scale_b": x.scale_b}
    scalars = {name: y for name, y in (("alpha", x.alpha), ("beta", x.beta)) if y is not None}
    raw, extras = model.words({name: y for name, y in named.items() if y is not None}, scalars)
    words = {name: y.reshape(len(y), 1, -1) for name, y in raw.items()}
    if parts is None:
        parts = parts_at(model.unit, model.recipe, x.k, x.shape, x.places[0].tolist())
    return recipe_plan(model.unit, model.recipe, x.k, parts, extras), words
