"""Some elements of a matrix product with their operands, and what recipes on units make of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, takes
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.identification.causes import computations
from tcformal.identification.product_causes import ProductCase, ProductProducer, recipes_for, with_output
from tcformal.programs.recipe import Recipe, recipe
from tcformal.programs.recipe_steps import SCALE, Extras, parts_of, recipe_plan
from tcformal.simulation.arrays import dtypes, to_raw
from tcformal.simulation.evaluation import results_of
from tcformal.simulation.model_gemm import ModelGemm, gemm, number_of
from tcformal.simulation.operands.batch import Raw

#: Products of one call of a chain of multiply–adds.
_CHAIN = 16

Values = NDArray[Any]
Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Elements:
    """The operands of n elements of D, each with its own row of A and column of B.

    Shapes: places [n, 2], their rows and columns; a, b [n, K]; c, bias [n] or None; scale_a, scale_b
    [n, blocks] or None.
    """

    places: NDArray[np.intp]
    a: Values
    b: Values
    d_format: Format
    c: Values | None = None
    bias: Values | None = None
    scale_a: Values | None = None
    scale_b: Values | None = None
    alpha: float | None = None
    beta: float | None = None

    @property
    def k(self) -> int:
        """Products of an element."""
        return int(self.a.shape[1])

    @property
    def scaled(self) -> bool:
        """Whether sums are scaled."""
        return self.scale_a is not None

    @staticmethod
    def of(case: ProductCase, places: NDArray[np.intp]) -> Elements:
        """Those of a product at some places [n, 2]."""
        i, j = places[:, 0], places[:, 1]
        c, bias = (
            None if x is None else np.broadcast_to(x, case.expected.shape)[i, j] for x in (case.c, case.bias)
        )
        return Elements(
            places, case.a[i], case.b.T[j], case.d_format, c, bias,
            None if case.scale_a is None else case.scale_a[i],
            None if case.scale_b is None else case.scale_b.T[j],
            case.alpha, case.beta,
        )  # fmt: skip

    def sums(self) -> tuple[Doubles, Doubles]:
        """alpha·Σa·b + beta·c + bias and the sum of all magnitudes, in binary64: [n] each."""
        products = self.a.astype(np.float64) * self.b.astype(np.float64)
        if self.scale_a is not None and self.scale_b is not None:
            blocks = np.arange(self.k) * self.scale_a.shape[1] // self.k
            products *= (
                self.scale_a.astype(np.float64)[:, blocks] * self.scale_b.astype(np.float64)[:, blocks]
            )
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


def makers(case: ProductCase, arch: str | None = None, library: str | None = None) -> Makers:
    """Every recipe on every unit of the catalogue that takes these arrays, one unit for each arithmetic.

    Ranges and units: `arch`: only units of this architecture; `library`: only recipes whose names begin so.
    """

    def fits(u: UnitSpec) -> bool:
        a, b, d = (dtypes().get(f.name) for f in (u.a_format, u.b_format, u.d_format))
        return (
            arch in (None, u.arch)
            and u.scale_format is None
            and d is not None
            and (a, b) == (case.a.dtype, case.b.dtype)
            and takes(u, case.k)
        )

    made: Makers = []
    for names in distinct_designs(fits).values():
        u, found = resolve(names[0]), list[ProductProducer]()
        for one in recipes_for(u, case):
            if library is not None and not one.name.startswith(library):
                continue
            versions = [with_output(one, case, u)]
            if u.a_format.name == "tf32":  # rounded to it before, or cut by the unit
                versions.append(_altered(versions[0], operands="fp32"))
            if one.name.startswith("cublaslt-66@grain=128,splits=") and u.d_format.name == "fp32":
                versions += [_altered(versions[0], partials=name) for name in ("fp16", "bf16")]
            for version in versions:
                with contextlib.suppress(InputError):  # a recipe that this unit cannot follow
                    found.append(ProductProducer(gemm(u, version), False, tuple(names)))
        made.append((u, list(_different(found, case.k))))
    if arch is None and made:
        made += _computations(case, made)
    return made


def _altered(one: Recipe, **fields: str) -> Recipe:
    """A recipe with other fields, in its name as well."""
    listed = ",".join(f"{name}={value}" for name, value in fields.items())
    return one.altered(f"{one.name}{',' if '@' in one.name else '@'}{listed}", fields)


def _computations(case: ProductCase, made: Makers) -> Makers:
    """Chains of multiply–adds that no unit computes, in formats of the units', as a processor's cores do."""
    wide = {
        u.operands.names()["d"]: u for u, _ in made if u.c_format == u.d_format and u.a_format.name != "tf32"
    }
    found: Makers = []
    for u in wide.values():
        for name, _ in computations(u, _CHAIN):
            if name.startswith(("fma@", "muladd@")):
                chain = resolve(name)
                with contextlib.suppress(InputError):
                    one = gemm(chain, with_output(recipe("plain"), case, chain))
                    found.append((chain, [ProductProducer(one, False)]))
    return found


def _different(found: Sequence[ProductProducer], k: int) -> Iterator[ProductProducer]:
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
    plans, given, kept = [], dict[str, Raw](), []
    for model in models:
        plan = None
        with contextlib.suppress(InputError):
            words, extras = _words(model, x)
            plan = recipe_plan(model.unit, model.recipe, x.k, parts_of(model.unit, model.recipe, x.k), extras)
            given |= words
        kept.append(plan is not None)
        plans += [] if plan is None else [plan]
    made = iter(results_of(plans, given, {}) if plans else ())
    return [next(made) if ok else None for ok in kept]


def _words(model: ModelGemm, x: Elements) -> tuple[dict[str, Raw], Extras]:
    """The operands as words, by letter, and which of the optional ones there are."""
    wide = model.unit.d_format
    formats = {"a": model.operand_format(model.unit.a_format), "b": model.operand_format(model.unit.b_format)}
    formats |= {n.lower(): model.format_of(n, y) for n, y in (("C", x.c), ("bias", x.bias)) if y is not None}
    wanted = model.recipe.promotion_scales != "none"
    if wanted != x.scaled:
        raise InputError("expected scales exactly for recipes that take them")
    if wanted:
        formats |= {"scale_a": SCALE, "scale_b": SCALE}
    if model.recipe.c_place == "accumulator" and (x.beta or 1) != 1:
        raise InputError(f"expected no beta for the recipe {model.recipe.name}")
    words = {n: to_raw(n, getattr(x, n), fmt).reshape(len(x.a), 1, -1) for n, fmt in formats.items()}
    scalars = {n: y for n in ("alpha", "beta") if (y := getattr(x, n)) is not None}
    words |= {n: to_raw(n, number_of(n, y, wide), wide).reshape(1, 1, 1) for n, y in scalars.items()}
    extras = Extras(
        c=formats.get("c"), bias=formats.get("bias"), alpha="alpha" in scalars, beta="beta" in scalars
    )
    return words, extras
