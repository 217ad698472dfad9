"""A mismatch of two matrix products: the units and recipes that give each of them, and where they part."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.differences import ulp_distance
from tcformal.analysis.samples import values_of
from tcformal.callbacks import Advance, ignore_count
from tcformal.design.axes import neighbours
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, takes
from tcformal.encodings.catalog import FORMATS, format_named
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError
from tcformal.identification.causes import SIDES, FaultKind, Hints, by_accident, same_arithmetic
from tcformal.programs.chain import scale_count
from tcformal.programs.recipe import Recipe, recipe
from tcformal.simulation.arrays import dtypes, from_raw
from tcformal.simulation.model_gemm import ModelGemm, gemm
from tcformal.simulation.operands.batch import Raw

# ------------------------------------------------------------------ cases
#: Formats of results, by bits; fp16 is NumPy's own.
_RESULTS = ("fp64", "fp32", "fp16", "bf16", "e4m3", "e5m2")
_NAMES = ("a", "b", "c", "bias", "scale_a", "scale_b", "alpha", "beta", "expected", "got")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ProductOperands:
    """The operands of alpha·A·B + beta·C + bias, sums of K products, and the format of its results."""

    a: NDArray[Any]
    b: NDArray[Any]
    d_format: Format
    c: NDArray[Any] | None = None
    bias: NDArray[Any] | None = None
    scale_a: NDArray[Any] | None = None
    scale_b: NDArray[Any] | None = None
    alpha: float | None = None
    beta: float | None = None

    @property
    def k(self) -> int:
        """Products of an element."""
        return int(self.a.shape[1])

    @property
    def scaled(self) -> bool:
        """Whether a library scales sums; by its own numbers, in fp32."""
        return self.scale_a is not None and self.scale_a.dtype == np.float32

    def unit_scales(self, u: UnitSpec) -> bool:
        """Whether the scales of blocks are those that a unit takes: all, or none."""
        if u.scale_format is None or self.scale_a is None:
            return u.scale_format is None and (self.scale_a is None or self.scaled)
        names = {"ue4m3": "e4m3"}
        wanted = dtypes()[names.get(u.scale_format.name, u.scale_format.name)]
        return (self.scale_a.dtype, self.scale_a.shape[1]) == (wanted, scale_count(u, self.k))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ProductCase(ProductOperands):
    """A product alpha·A·B + beta·C + bias, its expected result and the one obtained.

    Shapes: a [M, K], b [K, N]; expected, got: raw encodings [M, N]; c, bias: None or broadcast to that;
    scale_a [M, S] and scale_b [S, N], or None.
    """

    expected: Raw
    got: Raw

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the outputs."""
        return self.expected.shape[0], self.expected.shape[1]

    def product(self, model: ModelGemm, memo: dict[Any, Raw] | None = None) -> Raw:
        """What a recipe computes, as raw encodings; `memo` as for `ModelGemm.matmul`."""
        d = model.matmul(
            self.a, self.b, self.c, self.scale_a, self.scale_b, alpha=self.alpha, beta=self.beta,
            bias=self.bias, progress=False, memo=memo,
        )  # fmt: skip
        return d.view(f"u{d.itemsize}")

    def part(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> ProductCase:
        """Some rows and columns."""
        shape = self.expected.shape
        c, bias = (
            None if x is None else np.broadcast_to(x, shape)[np.ix_(rows, columns)]
            for x in (self.c, self.bias)
        )
        scale_a = None if self.scale_a is None else self.scale_a[rows]
        scale_b = None if self.scale_b is None else self.scale_b[:, columns]
        expected, got = (x[np.ix_(rows, columns)] for x in (self.expected, self.got))
        return replace(
            self, a=self.a[rows], b=self.b[:, columns], c=c, bias=bias, scale_a=scale_a, scale_b=scale_b,
            expected=expected, got=got,
        )  # fmt: skip

    def prefixes(self, place: tuple[int, int], stops: Sequence[int]) -> ProductCase:
        """One element with +0 in the place of a from each of some k on: a row for each."""
        row, column = (np.full(len(stops), place[0]), np.array([place[1]]))
        made = self.part(row, column)
        a = np.where(np.arange(self.k) < np.array(stops)[:, None], made.a, np.zeros((), made.a.dtype))
        return replace(made, a=a.astype(self.a.dtype))


def is_product(data: Mapping[str, NDArray[Any]]) -> bool:
    """Whether arrays are those of a matrix product: results of two axes."""
    return "expected" in data and data["expected"].ndim == 2


def product_case(
    spec: UnitSpec, data: Mapping[str, NDArray[Any]], where: str, output: str | None = None
) -> ProductCase:
    """A product from arrays: raw encodings in unsigned integers, or values in the dtype of their format.

    Ranges and units: `output`: the format of the results, which may be left out where their dtype says it;
    alpha and beta: arrays of one number.
    Errors: InputError naming the array that is missing, unknown or does not fit.
    """
    for name in data:
        if name not in _NAMES:
            raise InputError(f"expected the arrays {', '.join(_NAMES)} in {where}, but got {name}")
    for name in ("a", "b", "expected", "got"):
        if name not in data or data[name].ndim != 2 or 0 in data[name].shape:
            raise InputError(f"expected a matrix {name} in {where}, but there is none")
    d = _output(spec, data["expected"], output, where)
    values = {
        name: _values(name, data[name], fmt, where)
        for name, fmt in (("a", spec.a_format), ("b", spec.b_format), ("expected", d), ("got", d))
    }
    (m, k), n = values["a"].shape, values["b"].shape[1]
    for name, shape in (("b", (k, n)), ("expected", (m, n)), ("got", (m, n))):
        if values[name].shape != shape:
            raise InputError(
                f"expected {name} of shape {list(shape)} in {where}, but got {list(data[name].shape)}"
            )
    arrays: dict[str, NDArray[Any]] = {}
    for name in ("c", "bias", "scale_a", "scale_b"):
        if name in data:
            wide = data[name].dtype.itemsize == spec.d_format.storage_bits // 8
            of = FORMATS["fp32"] if name.startswith("scale") else spec.d_format if wide else d
            arrays[name] = _values(name, data[name], of, where)
    numbers: dict[str, float] = {}
    for name in ("alpha", "beta"):
        if name in data:
            if data[name].size != 1 or data[name].dtype.kind not in "fiu":
                raise InputError(f"expected one number {name} in {where}, but got {list(data[name].shape)}")
            numbers[name] = data[name].reshape(-1)[0]
    expected, got = (values[name].view(f"u{values[name].itemsize}") for name in ("expected", "got"))
    return ProductCase(
        a=values["a"], b=values["b"], expected=expected, got=got, d_format=d, c=arrays.get("c"),
        bias=arrays.get("bias"), scale_a=arrays.get("scale_a"), scale_b=arrays.get("scale_b"),
        alpha=numbers.get("alpha"), beta=numbers.get("beta"),
    )  # fmt: skip


def _output(spec: UnitSpec, x: NDArray[Any], output: str | None, where: str) -> Format:
    if output is not None:
        return format_named(output)
    known = [FORMATS[name] for name in _RESULTS if FORMATS[name].storage_bits == 8 * x.dtype.itemsize]
    if x.dtype.kind == "f":
        known = [fmt for fmt in known if dtypes()[fmt.name] == x.dtype]
    if spec.d_format in known:
        return spec.d_format
    if len(known) != 1:
        raise InputError(
            f"expected --output with the format of the results in {where}, which have {8 * x.dtype.itemsize} "
            "bits, but got none"
        )
    return known[0]


def _values(name: str, x: NDArray[Any], fmt: Format, where: str) -> NDArray[Any]:
    """An array of values of a format."""
    wanted = dtypes()[fmt.name]
    if x.dtype == wanted:
        return x
    if x.dtype.itemsize != wanted.itemsize or x.dtype.kind not in "uV":
        raise InputError(f"expected {fmt.name} for {name} in {where}, but got {x.dtype}")
    raw = np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")
    if raw.size and int(raw.max()) >> fmt.width:
        raise InputError(f"expected encodings of {fmt.width} bits for {name} in {where}")
    return from_raw(raw, fmt)


# ------------------------------------------------------------------ recipes
#: Units, and recipes on each, of which variations are tried.
_BASES = 3
_SPLITS = (2, 3, 4, 5, 6, 7, 8, 12, 16)
_TILES = (16, 32, 64, 128)
#: Recipes of which the fault that drops the tail is tried.
_DROPPING = ("cublaslt-66@grain=128", "cublaslt-21@tile=32")
#: Fields whose other value is a fault of a library that was seen, in words.
FAULTS = {
    ("tail", "dropped"): "a known fault: the incomplete last tile of k is left out where K is split",
    ("scales_of", "first-part"): "a known fault: every part of K uses the scales of the first one",
}


@dataclass(frozen=True, slots=True)
class ProductProducer:
    """A recipe on a unit that gives every element of a result."""

    model: ModelGemm
    #: Whether the unit is the one that was asked about.
    own: bool
    #: The catalogued units of this arithmetic, those nearest to the one that was asked about first.
    units: tuple[str, ...] = ()

    @property
    def fault(self) -> str:
        """What is wrong with the recipe, empty where it is a library's as it should be."""
        values = self.model.recipe.parameters().items()
        return "; ".join(FAULTS[pair] for pair in values if pair in FAULTS)

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """The nearest first: without fault, the unit itself, few fields set."""
        return bool(self.fault), not self.own, self.model.recipe.name.count("=")


def product_candidates(
    spec: UnitSpec, case: ProductCase, recipes: Sequence[str], rivals: bool
) -> Iterator[ProductProducer]:
    """The unit and its rivals, by every recipe; nearer ones first."""
    if spec.scale_format is not None:
        raise InputError(
            f"expected a unit without scales of its own for a whole product, but got {spec.name}"
        )
    own, *others = same_arithmetic(spec, case.k)
    units = [(spec, own), *((resolve(names[0]), names) for names in others if rivals)]
    named = [recipe(name) for name in recipes]
    for u, names in units:
        if takes(u, case.k):
            yield from _by_recipes(u, (*named, *recipes_for(u, case)), case, own=u is spec, names=names)


def altered_candidates(
    spec: UnitSpec, case: ProductCase, found: Sequence[ProductProducer]
) -> Iterator[ProductProducer]:
    """The unit, and those that give the other result, altered in one parameter, by the recipes that do."""
    units = dict.fromkeys([spec, *(p.model.unit for p in found)])
    recipes = dict.fromkeys([*(p.model.recipe for p in found if not p.fault), recipe("plain")])
    for base in list(units)[:_BASES]:
        for u in neighbours(base):
            if takes(u, case.k):
                yield from _by_recipes(u, list(recipes)[:_BASES], case, own=base is spec)


def _by_recipes(
    u: UnitSpec, recipes: Iterable[Recipe], case: ProductCase, *, own: bool, names: tuple[str, ...] = ()
) -> Iterator[ProductProducer]:
    for one in recipes:
        with contextlib.suppress(InputError):  # a recipe that this unit cannot follow
            yield ProductProducer(gemm(u, with_output(one, case, u)), own, names)


def with_output(one: Recipe, case: ProductOperands, u: UnitSpec) -> Recipe:
    """The recipe with results in the product's format."""
    if case.d_format == u.d_format or one.output == case.d_format.name:
        return one
    fields: dict[str, str | bool] = {"output": case.d_format.name}
    if case.d_format.specials is not Specials.IEEE:
        fields["saturate"] = True
    return one.varied(**fields)


def recipes_for(u: UnitSpec, case: ProductCase) -> Iterator[Recipe]:
    """Every recipe with the fields that libraries choose by the product."""
    whole, split = _families(u, case)
    for name in whole:
        yield recipe(name)
    for base in split:
        for s in _SPLITS:
            if s > case.k:
                continue
            made = recipe(f"{base}{',' if '@' in base else '@'}splits={s}")
            yield made
            for tile in _TILES[1:]:
                if case.k % tile and base in _DROPPING:
                    yield made.varied(tail="dropped", tile=tile)
            if case.scaled:
                yield made.varied(scales_of="first-part")


def _families(u: UnitSpec, case: ProductCase) -> tuple[list[str], list[str]]:
    """Names of recipes for K whole, and of those for parts of it."""
    if case.scaled:
        families = ["deepgemm-sm90@output=accumulator", "cutlass-sm90-fp8-scaled"]
        return families, [f"{x}{',' if '@' in x else '@'}grain=128" for x in families]
    # Where C joins an unscaled sum, both fused multiply–adds are the same.
    fused = ["", ",fused=c"] if case.alpha is not None and case.c is not None else [""]
    whole = ["plain", "cublaslt-55", *(f"cublaslt-55@{x[1:]}" for x in fused if x)]
    whole += [f"cublaslt-21@tile={tile}{x}" for tile in _TILES for x in fused]
    narrow = case.d_format != u.d_format
    split = [
        f"cublaslt-{number}{x}{y}"
        for number in ("66@grain=128", *(f"21@tile={tile}" for tile in _TILES), "36@tile=16", "36@tile=32")
        for x in fused
        for y in (("", ",partials=output") if narrow else ("",))
    ]
    # In the accumulator's format and without alpha, serial sums are those of a workspace.
    serial = [f"cutlass-split-k-serial@tile={t},grain={t}" for t in _TILES[1:]]
    split += [*serial, "cutlass-split-k-parallel@tile=32"]
    if u.a_format.storage_bits == 8:
        whole += ["cublaslt-66-promoted", "cutlass-sm90-fp8", "cutlass-sm80-fp8"]
        whole += ["cutlass-sm80-fp8@tile=128,promotion=128"]
        split += ["cublaslt-66-promoted@grain=128"]
    return whole, split


# ------------------------------------------------------------------ faults
#: Elements that a fault must explain, and faults that are replayed on them.
_ELEMENTS, _MOST = 16, 256
#: Products up to which every range of k is tried; of more, ranges whose ends are multiples of 1/512 of K.
_ENDS = 512
#: How far a predicted change may be from the one seen: multiples of u·Σ|a·b| and of the expected rounding.
_NEAR = 4
_FACTORS = {FaultKind.LEFT_OUT: 0.0, FaultKind.TWICE: 2.0, FaultKind.NEGATED: -1.0}


@dataclass(frozen=True, slots=True)
class ProductFault:
    """A recipe whose products of k from `start` up to `stop` are treated otherwise."""

    model: ModelGemm
    kind: FaultKind
    start: int
    stop: int

    def __str__(self) -> str:
        which = f"k = {self.start}" + (f" to {self.stop - 1}" if self.stop > self.start + 1 else "")
        name = f"{self.model.recipe.name} on {self.model.unit.name}"
        return f"{name} {self.kind.value} the products of {which}"


def product_faults(case: ProductCase, models: Sequence[ModelGemm]) -> list[ProductFault]:
    """The faults of recipes that give all differing elements obtained, short ranges of k first.

    Shapes: of many elements the first sixteen that differ are compared.
    Ranges and units: one k, or a range of k that is left out, the same for all elements; of those that change
    the sum in binary64 about as much as it differs.  None where sums are scaled, or stream-K.
    Zero, NaN, Inf: none where a result or an operand is NaN or Inf.
    """
    places = np.argwhere(case.expected != case.got)[:_ELEMENTS]
    if case.scaled or not len(places):
        return []
    rows = [case.part(np.array([i]), np.array([j])) for i, j in places]
    hypotheses = list(_likely(rows))[:_MOST]
    found = []
    for model in models:
        left = [] if model.recipe.stream else hypotheses
        for row in rows:
            if left:
                left = _that_give(row, model, left)
        found += [ProductFault(model, *x) for x in left]
    return sorted(found, key=lambda x: x.stop - x.start)


_Hypothesis = tuple[FaultKind, int, int]


def _likely(rows: Sequence[ProductCase]) -> Iterator[_Hypothesis]:
    """Faults that change the sums of all elements about as much as they differ, the nearest first."""
    products = np.array([x.a[0].astype(np.float64) * x.b[:, 0].astype(np.float64) for x in rows])
    if rows[0].alpha is not None:
        products = products * float(rows[0].alpha)
    fmt, k = rows[0].d_format, products.shape[1]
    expected, got = (
        np.array([float(values_of(getattr(x, name), fmt)[0, 0]) for x in rows])
        for name in ("expected", "got")
    )
    if not (np.isfinite(products).all() and np.isfinite(expected).all() and np.isfinite(got).all()):
        return
    change = got - expected
    size = np.abs(products).sum(1) * 2.0**-fmt.precision
    plain = all(x is None for x in (rows[0].c, rows[0].bias))
    rounding = np.abs(expected - products.sum(1)) if plain else 0.0
    near = _NEAR * (size + rounding) + np.finfo(np.float64).tiny
    made: list[tuple[float, _Hypothesis]] = []
    for kind, factor in _FACTORS.items():
        off = (np.abs((factor - 1) * products - change[:, None]) / near[:, None]).max(0)
        made += [(float(off[i]), (kind, int(i), int(i) + 1)) for i in np.flatnonzero(off <= 1)]
    sums = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(products, 1)], 1)
    ends = np.unique(np.linspace(0, k, min(k, _ENDS) + 1).astype(int))
    for start in ends.tolist():
        stops = ends[ends > start + 1]
        lost = sums[:, stops] - sums[:, [start]]
        off = (np.abs(-lost - change[:, None]) / near[:, None]).max(0, initial=0.0)
        near_enough = np.flatnonzero(off <= 1).tolist()
        made += [(float(off[i]), (FaultKind.LEFT_OUT, start, int(stops[i]))) for i in near_enough]
    yield from (x for _, x in sorted(made, key=lambda y: (y[0], y[1][2] - y[1][1])))


def _that_give(row: ProductCase, model: ModelGemm, faults: Sequence[_Hypothesis]) -> list[_Hypothesis]:
    """The faults with which a recipe gives one element."""
    tried, changed = [], []
    for kind, start, stop in faults:
        a = row.a[0].astype(np.float64)
        a[start:stop] *= _FACTORS[kind]
        words = a.astype(row.a.dtype)
        if (words.astype(np.float64) == a).all():
            tried.append((kind, start, stop))
            changed.append(words)
    if not tried:
        return []
    n = len(tried)
    many = row.part(np.zeros(n, np.int64), np.zeros(1, np.int64))
    d = replace(many, a=np.array(changed)).product(model)[:, 0]
    return [x for x, word in zip(tried, d, strict=True) if word == row.got[0, 0]]


# ------------------------------------------------------------------ explanation
#: Rows and columns of D on which every candidate is tried first.
_TRIED = 6


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two recipes part on one element: the first products after which their results differ.

    Ranges and units: with the products of k from `stop` on left out the results differ, with those from
    `start` on they do not; `results`: raw encodings after `stop`.
    """

    start: int
    stop: int
    results: tuple[int, int]


class ProductVerdict(Enum):
    """What two results of one matrix product are to each other."""

    EQUAL = "the results are the same"
    ROUNDING = "recipes of libraries on units that exist give both results"
    FAULT = "a known fault of a library gives one of the results"
    UNDECIDED = "recipes on units give both results, and a faulty product gives the one obtained as well"
    UNEXPLAINED = "no recipe on a unit that exists gives one of the results"


@dataclass(frozen=True, slots=True)
class ExplainedProduct:
    """The recipes on units that give the expected product, and those that give the one obtained.

    Shapes: `differing` elements of D differ, the first of them, row by row, at `first`; None where none does.
    Ranges and units: `largest`: the most values of D's format between two results; `chance`: `by_accident`
    of the results obtained and all that was tried, on a few elements.
    """

    unit: UnitSpec
    case: ProductCase
    tried: int
    differing: int
    largest: int
    first: tuple[int, int] | None
    expected: tuple[ProductProducer, ...]
    got: tuple[ProductProducer, ...]
    chance: float | None
    #: Faulty products by the recipes that give the expected one, which give the one obtained.
    faults: tuple[ProductFault, ...]
    #: Of recipes on units altered in one parameter, by a few elements.
    hints: Hints[ProductProducer] | None
    parting: Parting | None

    @property
    def verdict(self) -> ProductVerdict:
        """Rounding, fault or bug."""
        if self.first is None:
            return ProductVerdict.EQUAL
        if not self.expected or not self.got:
            return ProductVerdict.UNEXPLAINED
        if self.expected[0].fault or self.got[0].fault:
            return ProductVerdict.FAULT
        return ProductVerdict.UNDECIDED if self.faults else ProductVerdict.ROUNDING


def explain_product(
    spec: UnitSpec,
    case: ProductCase,
    recipes: Sequence[str] = (),
    advance: Advance = ignore_count,
    *,
    rivals: bool = True,
) -> ExplainedProduct:
    """Try the unit, and with `rivals` every catalogued design of its formats, by all recipes; then hints.

    Ranges and units: `recipes`: names of further ones to try, such as `stream-k@stream=132`; a candidate
    counts if it gives every element.  Where none gives one of the results, the recipes of the other one are
    tried on units altered in one parameter.
    Zero, NaN, Inf: encodings are compared.
    Errors: InputError for a recipe that does not exist.
    """
    trial = _ProductTrial(case)
    expected, got = trial.of([*product_candidates(spec, case, recipes, rivals)], advance)
    tried, chance = len(trial.results), trial.chance("got")
    right = {p.model.unit: p.model for p in reversed(expected) if not p.fault}
    faults = product_faults(case, [*right.values()][::-1])
    hints = None
    if trial.apart and not (expected and got):
        wanted = [name for name, made in zip(SIDES, (expected, got), strict=True) if not made]
        altered = [*altered_candidates(spec, case, (*expected, *got))]
        trial.results.clear()
        sides = trial.of(altered, advance, wanted)
        hints = Hints(len(trial.results), *sides, (trial.chance("expected"), trial.chance("got")))
    first = trial.apart[0] if trial.apart else None
    apart_at = None
    if first is not None and expected and got:
        apart_at = parting(case, expected[0].model, got[0].model, first)
    apart = ulp_distance(case.d_format, case.expected, case.got)
    return ExplainedProduct(
        spec, case, tried, len(trial.apart), max(0, int(apart.max())), first, expected, got, chance,
        tuple(faults), hints, apart_at,
    )  # fmt: skip


class _ProductTrial:
    """What recipes on units give: on a few elements first, those that differ among them, and then on all."""

    def __init__(self, case: ProductCase) -> None:
        self.case = case
        parted = np.argwhere(case.expected != case.got)
        self.apart = [(int(i), int(j)) for i, j in parted]
        self.places = np.ix_(*(_some(parted[:, axis], case.expected.shape[axis]) for axis in (0, 1)))
        self.small = case.part(self.places[0][:, 0], self.places[1][0])
        #: On those elements, of each that was tried.
        self.results: list[Raw] = []
        self.seen: set[object] = set()

    def of(
        self, candidates: Sequence[ProductProducer], advance: Advance, sides: Sequence[str] = SIDES
    ) -> tuple[tuple[ProductProducer, ...], tuple[ProductProducer, ...]]:
        """Those that give the expected product and those that give the one obtained, the nearest first."""
        found: dict[str, list[ProductProducer]] = {name: [] for name in SIDES}
        memos: dict[UnitSpec, dict[object, Raw]] = {}
        for done, one in enumerate(candidates):
            advance(done, len(candidates))
            streamed = bool(one.model.recipe.stream)
            try:
                key = one if streamed else (one.model.unit, one.model.computed(self.case.k))
                if key in self.seen:
                    continue
                self.seen.add(key)
                memo = memos.setdefault(one.model.unit, {})
                whole = self.case.product(one.model) if streamed else None
                d = self.small.product(one.model, memo) if whole is None else whole[self.places]
            except InputError:
                continue  # a recipe that has no place for these operands
            self.results.append(d)
            for name in sides:
                if not (d == getattr(self.small, name)).all():
                    continue
                whole = self.case.product(one.model) if whole is None else whole
                if (whole == getattr(self.case, name)).all():
                    found[name].append(one)
        advance(len(candidates), len(candidates))
        expected, got = (tuple(sorted(made, key=lambda p: p.rank)) for made in found.values())
        return expected, got

    def chance(self, side: str) -> float | None:
        """`by_accident` of one side's results, as wrong ones of the other's."""
        right = getattr(self.small, "got" if side == "expected" else "expected")
        return by_accident(self.case.d_format, right, getattr(self.small, side), self.results)


def _some(places: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """A few places, those that differ first, then others evenly spread."""
    wanted = [*dict.fromkeys(places.tolist()), *np.linspace(0, length - 1, _TRIED).astype(int).tolist()]
    return np.array(sorted(list(dict.fromkeys(wanted))[:_TRIED]))


def parting(case: ProductCase, first: ModelGemm, second: ModelGemm, place: tuple[int, int]) -> Parting | None:
    """Both recipes on more and more of an element's products, until their results differ."""
    step = int(np.gcd(first.unit.k, second.unit.k))
    stops = [*range(step, case.k, step), case.k]
    if first.recipe.stream or second.recipe.stream:
        return None
    rows = case.prefixes(place, stops)
    d = [rows.product(model)[:, 0] for model in (first, second)]
    apart = np.flatnonzero(d[0] != d[1])
    if not apart.size:
        return None
    i = int(apart[0])
    return Parting(stops[i] - (stops[i] - 1) % step - 1, stops[i], (int(d[0][i]), int(d[1][i])))
