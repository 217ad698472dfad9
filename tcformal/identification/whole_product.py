"""A callable product identified: its order, and the units that give its results; apart from the command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, permutations
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.checks import check_int
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.steps import ConstantStep, InputStep, ProgramPlan
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.identification.sum_chains import (
    NoProductOrderError,
    OrderRegion,
    ProductFunction,
    ProductProbe,
    SumChain,
    described,
    elements_in_words,
    variants,
)
from tcformal.programs.functions import Builder, StepValue, add, call, convert
from tcformal.shown import JsonObject, Shown
from tcformal.simulation.arrays import dtypes, from_raw, to_raw
from tcformal.simulation.evaluation import RunOptions, run_plan

Matrix = NDArray[Any]
#: A and B; the formats of A, B and D; operands with the encodings of what was given for them.
Factors = tuple[Matrix, Matrix]
Formats = tuple[Format, Format, Format]
Answered = Sequence[tuple[Factors, Matrix]]


# ------------------------------------------------------------------ products in an order
#: Fused multiply–adds, and products that are rounded before they are added, in the formats of processors.
_FMA = {"fp32": "cdna1/v_mfma_f32_32x32x2f32", "fp64": "ampere/mma.m8n8k4.f64.f64.f64.f64"}
_WIDER = {"fp16": "fp32", "bf16": "fp32"}


@dataclass(frozen=True, slots=True)
class ChainUnits:
    """The units of an order's chains: `unit` of those from zero, `late` of terms after a sum.

    `last`: that of the last one of several chains; the sum of the others is added in its wider format.
    """

    unit: UnitSpec
    late: UnitSpec
    last: UnitSpec | None = None
    #: Whether a compiler makes code of it for the processor itself, which may mix them in one sum.
    own: bool = False

    def follows(self, order: SumChain) -> bool:
        """Whether an order has a place for each unit."""
        if self.last is not None:
            return len(order.base) > 1 and not order.ks and not order.base[-1].base
        return self.unit == self.late or order.joins

    @property
    def name(self) -> str:
        """The unit's name, and the other one's where they differ."""
        if self.last is not None:
            return f"{self.unit.name}, the last chain and the sum with it {self.last.name}"
        same = self.unit == self.late
        return self.unit.name if same else f"{self.unit.name}, where terms join a sum {self.late.name}"


def product_in_order(units: ChainUnits, order: SumChain, a: Matrix, b: Matrix, formats: Formats) -> Matrix:
    """A·B with every chain as calls of a unit, from zero or from the sum of its base.

    Shapes: a [M, K], b [K, N]; D [M, N].
    Ranges and units: A and B of other formats than the unit's are converted to those, which holds all of
    their values; sums of chains are rounded to the unit's result to nearest, and D to its format.
    """
    unit = units.unit
    places, plan = _Chains(units, formats[2]).plan(order, a.shape[1])
    given = {
        "a": _converted("A", a, formats[0], unit.a_format)[:, None, places],
        "b": _converted("B", b, formats[1], unit.b_format).T[None, :, places],
    }
    d = run_plan(plan, given, RunOptions(progress=False))
    return from_raw(np.broadcast_to(d, (a.shape[0], b.shape[1])), formats[2])


def _converted(name: str, x: Matrix, fmt: Format, wanted: Format) -> Matrix:
    raw = to_raw(name, x, fmt)
    if fmt == wanted:
        return raw
    return to_raw(name, x.astype(from_raw(np.zeros(1, np.uint8), wanted).dtype), wanted)


class _Chains:
    """The steps of one order."""

    def __init__(self, units: ChainUnits, output: Format) -> None:
        self.unit, self.late, self.last, self.output = units.unit, units.late, units.last, output
        self.steps = Builder()
        self.places: list[int] = []

    def plan(self, order: SumChain, k: int) -> tuple[list[int], ProgramPlan]:
        """The terms in the order in which chains take them, and the steps on rows in that order."""
        self.a, self.b = (
            self.steps.add(InputStep(fmt=fmt, length=k, name=x, letter=x))
            for x, fmt in (("a", self.unit.a_format), ("b", self.unit.b_format))
        )
        d = self.value(order) if self.last is None else self.mixed(order, self.last)
        if self.output != d.fmt:
            d = convert(self.steps, d, self.output.name)
        return self.places, ProgramPlan(tuple(self.steps.steps), d.index, k)

    def mixed(self, order: SumChain, last: UnitSpec) -> StepValue:
        """The sum of all chains but the last one, and that one on a unit of its own, in its format."""
        first, wide = self.value(SumChain((), order.base[:-1])), last.d_format.name
        places = order.base[-1].ks
        start = len(self.places)
        self.places += places
        zero = self.steps.add(ConstantStep(fmt=last.c_format, length=None, name="zero", word=0))
        a, b = (self.steps.slice(x, start, len(places)) for x in (self.a, self.b))
        return add(self.steps, call(self.steps, last, a, b, zero), convert(self.steps, first, wide), wide)

    def value(self, chain: SumChain) -> StepValue:
        """The value of a chain."""
        steps, wide = self.steps, self.unit.d_format
        total: StepValue | None = None
        for part in chain.base:
            made = self.value(part)
            total = made if total is None else add(steps, total, made, wide.name)
        if not chain.ks:
            assert total is not None
            return total
        unit = self.unit if total is None else self.late
        if total is None:
            total = steps.add(ConstantStep(fmt=self.unit.c_format, length=None, name="zero", word=0))
        start = len(self.places)
        self.places += _as_taken(unit, chain.ks)
        a, b = (steps.slice(x, start, len(chain.ks)) for x in (self.a, self.b))
        return call(steps, unit, a, b, total)


def _as_taken(unit: UnitSpec, ks: tuple[int, ...]) -> list[int]:
    """Terms in the places of calls in which a unit takes them in this order."""
    if unit.design.order != "odd_first":
        return list(ks)
    return [k for i in range(0, len(ks), 2) for k in sorted(ks[i : i + 2])]


def candidates(a: Format, b: Format, d: Format) -> Iterator[ChainUnits]:
    """The units of the formats whose sums can be chained, the processors' own arithmetic first."""
    wide = _WIDER.get(a.name, a.name)
    if a == b:
        fused = resolve(_FMA[wide])
        rounded = resolve("muladd@k=1," + ",".join(f"{x}_format={wide}" for x in "abcd"))
        yield ChainUnits(fused, fused, own=True)
        yield ChainUnits(fused, rounded, own=True)
        yield ChainUnits(rounded, fused, own=True)
        yield ChainUnits(rounded, rounded, own=True)
        if wide == "fp32" == a.name:
            # A dot product in C: products of floats, added up in a double.
            formats = "a_format=fp32,b_format=fp32,c_format=fp64,d_format=fp64"
            double = resolve(f"muladd@k=1,{formats},conversion=RNE-FP64,product_rounding=RNE-FP32")
            yield ChainUnits(double, double, own=True)
            yield ChainUnits(fused, fused, double, own=True)
            yield ChainUnits(rounded, rounded, double, own=True)
    known = distinct_designs(lambda u: u.operands.a == a and u.operands.b == b and u.scale_format is None)
    for name in known:
        unit = catalogue()[name]
        chained = unit.c_format == unit.d_format and unit.name not in _FMA.values()
        if chained and unit.d_format.width >= d.width:
            yield ChainUnits(unit, unit)


# ------------------------------------------------------------------ operands
def random_operands(
    rng: np.random.Generator, left: tuple[int, int], right: tuple[int, int], formats: tuple[Format, Format]
) -> Factors:
    """Operands of a normal distribution."""
    a, b = (dtypes()[fmt.name] for fmt in formats)
    return rng.standard_normal(left).astype(a), rng.standard_normal(right).astype(b)


def cancelling_operands(
    rng: np.random.Generator, left: tuple[int, int], right: tuple[int, int], formats: tuple[Format, Format]
) -> Factors:
    """Operands whose products cancel, so that results are what was rounded off; a few terms are left over."""
    a, b = random_operands(rng, left, right, formats)
    half = left[1] // 2
    first, second = np.split(rng.permutation(left[1])[: 2 * half], 2)
    a[:, second], b[second] = -a[:, first], b[first]
    if left[1] > 2 * half:
        a[:, np.setdiff1d(np.arange(left[1]), [*first, *second])] = 0
    return a, b


def as_words(x: Matrix) -> Matrix:
    """The encodings of an array's values."""
    return x.view(f"u{x.dtype.itemsize}")


# ------------------------------------------------------------------ several results
#: Operands of the first look, and how often each is asked.
_DENSE, _LOOKS = 6, 5
#: Calls with the same operands that count the orders; rows of operands of which those that tell most orders
#: apart are taken.
_CALLS, _ROWS = 100, 2048
#: Answers to one mask that must be alike, for its two terms to be taken as always summed alike.
_ALIKE = 8
#: Orders in which sums that are always formed alike may be added up: in any way, or else one after the other.
_MOST = 400
#: Exponents over which these sums are spread.
_SPREAD = 16
#: Orders with the same result that are written out.
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class SeenOrders:
    """What calls with the same operands gave, where it was not always the same.

    Ranges and units: `answers`: how often each result came in `calls`, the most frequent first; `parts`: the
    sums that are formed alike in every call; `orders`: the orders of these that give the results with the
    arithmetic of `unit`, with how often; `reason`: why some or all results have none, empty where all have.
    """

    calls: int
    answers: tuple[int, ...]
    parts: tuple[str, ...] = ()
    orders: tuple[tuple[str, int], ...] = ()
    unit: str = ""
    reason: str = ""

    def __str__(self) -> str:
        many = f"{len(self.answers)} results" if len(self.answers) > 1 else "several results before, but one"
        text = f"NON-DETERMINISTIC: {many} in {self.calls} calls with the same operands"
        if not self.orders:
            shown = ", ".join(f"{x}x" for x in self.answers[:8]) + ", …" * (len(self.answers) > 8)
            return f"{text} ({shown}); {self.reason}"
        lines = [f"{text}; orders seen ({self.unit}):", *(f"  {n}x {order}" for order, n in self.orders)]
        return "\n".join([*lines, *([f"  {self.reason}"] if self.reason else [])])


def looks_alike(probe: ProductProbe, answered: Answered) -> bool:
    """Whether the same operands give the same results again, turn by turn."""
    some = answered[-_DENSE:]
    return all((as_words(probe.run(*x)) == d).all() for _ in range(_LOOKS - 1) for x, d in some)


def seen_orders(probe: ProductProbe, formats: Formats, rng: np.random.Generator) -> SeenOrders:
    """The orders of the first element, from those sums that masks show to be always formed alike.

    Every order in which these can be added up is computed on operands that tell the orders apart, with each
    unit; calls with these operands count them.
    """
    parts, reason, trees = list[SumChain](), "", list[SumChain]()
    try:
        parts = probe.parts_alike(_ALIKE)
        trees = list(_orders(parts))
        if len(parts) == 1:
            reason = f"masks show one order, {described(parts[0])}: it is no order that changes"
        elif not trees:
            reason = f"{len(parts)} sums that are always formed alike are added up in orders that change"
    except NoProductOrderError as error:
        reason = str(error)
    m, n, k = probe.shape
    units = [x for x in candidates(*formats) if trees and x.follows(trees[0])]
    rows, ones = _cancelling_rows(rng, parts, k, formats)
    rounded = ([product_in_order(x, tree, rows, ones, formats)[:, 0] for tree in trees] for x in units)
    tables = map(as_words, map(np.array, rounded))
    told = next(tables, np.zeros((0, _ROWS), np.uint64))
    best = max(range(_ROWS), key=lambda i: len(np.unique(told[:, i])))
    a, b = np.repeat(rows[best][None], m, 0), np.repeat(ones, n, 1)
    if not trees:
        a, b = cancelling_operands(rng, (m, k), (k, n), formats[:2])
    answers = [as_words(probe.run(a, b)) for _ in range(_CALLS)]
    counts = tuple(times for _, times in Counter(d.tobytes() for d in answers).most_common())
    elements = Counter(int(d[0, 0]) for d in answers)
    orders, name = list[tuple[str, int]](), ""
    for x, table in zip(units, chain([told], tables), strict=False):
        made: dict[int, list[SumChain]] = {}
        for word, tree in zip(table[:, best].tolist(), trees, strict=True):
            made.setdefault(word, []).append(tree)
        given = [(_either(made[w]), times) for w, times in elements.most_common() if w in made]
        if len(made) > 1 and sum(y for _, y in given) > sum(y for _, y in orders):
            orders, name = given, x.name
        if sum(y for _, y in orders) == _CALLS:
            break
    covered = sum(y for _, y in orders)
    if trees and covered < _CALLS:
        reason = f"{_CALLS - covered} of {_CALLS} results are of no order of these sums on a known unit"
    if covered * 2 < _CALLS:
        orders, name = [], ""
    return SeenOrders(_CALLS, counts, tuple(described(x) for x in parts), tuple(orders), name, reason)


def _cancelling_rows(
    rng: np.random.Generator, parts: Sequence[SumChain], k: int, formats: Formats
) -> Factors:
    """Rows of A, and ones as B: each part has one term, and these cancel but for what is rounded off."""
    a, b = (dtypes()[fmt.name] for fmt in formats[:2])
    rows = np.zeros((_ROWS, k), a)
    if len(parts) > 1:
        size = np.exp2(rng.integers(0, _SPREAD, (_ROWS, len(parts)))) * rng.uniform(1, 2, (_ROWS, len(parts)))
        values = (size * rng.choice([-1, 1], size.shape)).astype(a).astype(np.float64)
        values[:, -1] = -values[:, :-1].sum(1)
        rows[:, [next(x.terms()) for x in parts]] = values.astype(a)
    return rows, np.ones((k, 1), b)


def _either(trees: Sequence[SumChain]) -> str:
    """Orders that give one result, those that add one sum after the other first."""
    shown = sorted(trees, key=lambda x: any(y.base and not y.ks for y in x.base[1:]))
    more = [f"{len(shown) - _SHOWN} others"] if len(shown) > _SHOWN else []
    return " or ".join([*map(_told, shown[:_SHOWN]), *more])


def _orders(parts: Sequence[SumChain]) -> Iterator[SumChain]:
    """Every order in which few sums can be added up two at a time, or more of them one after the other."""
    n = len(parts)
    if prod(range(2 * n - 3, 0, -2)) <= _MOST:
        yield from _trees(parts)
    elif factorial(n) // 2 <= _MOST:
        # The first two may change places.
        yield from (SumChain((), x) for x in permutations(parts) if parts.index(x[0]) < parts.index(x[1]))


def _trees(parts: Sequence[SumChain]) -> Iterator[SumChain]:
    first, *others = parts
    if not others:
        yield first
    for mask in range((1 << len(others)) - 1):
        left = [first, *(x for i, x in enumerate(others) if mask >> i & 1)]
        right = [x for i, x in enumerate(others) if not mask >> i & 1]
        for x in _trees(left):
            for y in _trees(right):
                # Adding is commutative: a single sum is written last.
                yield SumChain((), (x, y) if len(right) == 1 else (y, x))


def _told(x: SumChain) -> str:
    """An order in words: sums of sums in brackets, but for those that are added up one after the other."""
    if x.ks or not x.base:
        return f"({described(x)})"
    first, *others = x.base
    left = _told(first)
    return " + ".join([left, *(f"[{_told(y)}]" if y.base and not y.ks else _told(y) for y in others)])


# ------------------------------------------------------------------ identification
#: Orders that are compared on all elements; rows and columns whose elements try the others first.
_PLAIN, _FEW = 2, 12
#: Elements that tell apart what masks do not, and the fewest and most operands that are asked for them.
_ENOUGH, _SETS = 1000, (2, 24)
_FORMATS = ("fp64", "fp32", "bf16", "fp16")


@dataclass(frozen=True, slots=True, eq=False)
class SummedRegion:
    """Elements of D that are summed in one order, and the units that give them.

    Ranges and units: `units`: those that give every element of all operands in one of the first orders; where
    there is none, the first that does in another one which masks cannot tell from what they showed
    (`variants`); each with its order.  `refuted`: those that do not in the orders that were tried, each with
    the least share of elements that it gives otherwise.
    """

    region: OrderRegion
    units: tuple[tuple[ChainUnits, SumChain], ...]
    refuted: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        order = self.units[0][1] if self.units else self.region.order
        units = ", ".join(x.name for x, _ in self.units) or f"none of {len(self.refuted)} units"
        return f"{elements_in_words(self.region.elements)}{described(order)} ({units})"


@dataclass(frozen=True, slots=True, eq=False)
class IdentifiedProduct(Shown):
    """What is known of a callable product at one shape.

    Ranges and units: `regions`: of all elements; `orders`: descriptions of what masks showed, with how often,
    or of the orders of `seen`; `independent`: whether rows and columns that change places take their
    results with them; `checked`: elements compared, `differing`: of fresh ones the number that the first
    units give otherwise.

    Examples:
        >>> found = tcformal.identify_product(np.matmul, "fp32,fp32,fp32", (2, 2, 4))
        >>> found.shape, found.independent
        ((2, 2, 4), True)
    """

    formats: Formats
    shape: tuple[int, int, int]
    orders: tuple[tuple[str, int], ...]
    regions: tuple[SummedRegion, ...]
    independent: bool
    checked: int
    differing: int
    calls: int
    #: Why no order was found; empty where one was.
    reason: str = ""
    #: What the same operands gave, where it was not always the same; None for a deterministic product.
    seen: SeenOrders | None = None

    def _summary(self) -> str:
        return f"IdentifiedProduct {'predicted' if self.found else 'not predicted'}, {self}"

    @property
    def found(self) -> bool:
        """Whether one order, and a unit for each of its regions, give all results."""
        complete = self.seen is None and bool(self.regions) and all(x.units for x in self.regions)
        return complete and not self.reason and not self.differing

    def matmul(self, a: Matrix, b: Matrix) -> Matrix:
        """What the callable gives for operands of this shape; InputError where it is not identified."""
        m, n, k = self.shape
        if not self.found or a.shape != (m, k) or b.shape != (k, n):
            raise InputError(
                f"expected operands of shape {[m, k]} and {[k, n]} for an identified product, but got "
                f"{list(a.shape)} and {list(b.shape)}, {'identified' if self.found else 'not identified'}"
            )
        return _predicted(self.regions, a, b, self.formats)

    def record(self) -> JsonObject:
        """What a line of a file of results holds."""
        m, n, k = self.shape
        return {
            "kind": "product", "formats": [x.name for x in self.formats], "m": m, "n": n, "k": k,
            "orders": [list(x) for x in self.orders],
            "regions": [
                {
                    "elements": int(x.region.elements.sum()), "summed": str(x),
                    "units": [y.name for y, _ in x.units], "refuted": [list(y) for y in x.refuted],
                }
                for x in self.regions
            ],
            "independent": self.independent, "checked": self.checked, "differing": self.differing,
            "calls": self.calls, "reason": self.reason, "found": self.found,
            "deterministic": self.seen is None,
            "seen": None if self.seen is None else asdict(self.seen),
        }  # fmt: skip

    def __str__(self) -> str:
        m, n, k = self.shape
        head = f"{m}x{k} by {k}x{n}, {', '.join(x.name for x in self.formats)}: "
        if self.seen is not None:
            return f"{head}{self.seen}"
        if self.reason:
            return head + self.reason
        end = "" if self.found and not self.differing else "not predicted: "
        return f"{head}{end}{'; '.join(map(str, self.regions))}; {self.differing} of {self.checked} differ"


def _predicted(regions: Sequence[SummedRegion], a: Matrix, b: Matrix, formats: Formats) -> Matrix:
    d = np.zeros((a.shape[0], b.shape[1]), dtypes()[formats[2].name])
    for x in regions:
        units, order = x.units[0]
        _fill(d, x.region.elements, units, order, (a, b), formats)
    return d


def _fill(
    d: Matrix,
    elements: NDArray[np.bool_],
    units: ChainUnits,
    order: SumChain,
    operands: Factors,
    formats: Formats,
) -> None:
    """Write the elements of a region."""
    rows, columns = np.flatnonzero(elements.any(1)), np.flatnonzero(elements.any(0))
    made = product_in_order(units, order, operands[0][rows], operands[1][:, columns], formats)
    place = np.ix_(rows, columns)
    d[place] = np.where(elements[place], made, d[place])


def product_formats(formats: str) -> Formats:
    """The formats of A, B and D, such as `bf16,bf16,bf16`; InputError for other ones."""
    named = [format_named(x.strip()) for x in formats.split(",")]
    if len(named) != 3 or any(x.name not in _FORMATS for x in named):
        raise InputError(f"expected three formats of {', '.join(_FORMATS)}, but got {formats!r}")
    a, b, d = named
    return a, b, d


def identify_product(
    function: ProductFunction, formats: str, shape: tuple[int, int, int], *, repeats: int = 2, seed: int = 0
) -> IdentifiedProduct:
    """Identify a product that can only be called: how it sums, and the unit whose arithmetic that is.

    Shapes: `function` takes A [M, K] and B [K, N] and gives D [M, N]; `shape` is (M, N, K), each at least 1.
    Ranges and units: `formats` of A, B and D, such as `bf16,bf16,bf16`: fp64, fp32, bf16, fp16, as dtypes of
    NumPy and ml_dtypes; `repeats`: how often the order is looked for, at least 1.  The same operands are
    asked again; where results change, the orders that give them are told with their frequencies.  Orders
    may depend on the shape and on the number of threads, so that each shape is identified by itself, with
    the threads that the caller has set.
    Zero, NaN, Inf: results are compared as encodings; operands are finite.
    Errors: InputError for other formats or shapes; DeviceError for a function that fails.
    Source: the function's results.

    Examples:
        >>> found = tcformal.identify_product(np.matmul, "fp32,fp32,fp32", (2, 2, 4))
        >>> found.found, found.differing
        (True, 0)
    """
    check_int("number of repetitions", repeats, low=1, high=1000)
    a, b, d = product_formats(formats)
    m, n, k = (check_int(x, value, low=1, high=1 << 20) for x, value in zip("MNK", shape, strict=True))
    probe = ProductProbe(function, a, b, d, (m, n, k))
    rng = np.random.default_rng(seed)
    # One row has the same factors in all elements, and few elements refute few of many orders.
    times = min(_SETS[1], max(_SETS[0], -(-_ENOUGH // (m * n)), 8 * (min(m, n) == 1)))
    kinds = [random_operands if i % 4 == 0 else cancelling_operands for i in range(times)]
    sets = [operands(rng, (m, k), (k, n), (a, b)) for operands in kinds]
    answered = [(x, as_words(probe.run(*x))) for x in sets]
    independent = _independent(probe, *answered[0], rng)
    alike = looks_alike(probe, answered)
    orders: Counter[str] = Counter()
    reason = ""
    first: list[OrderRegion] = []
    try:
        for _ in range(repeats if alike else 0):
            regions = probe.regions()
            first = first or regions
            orders["; ".join(elements_in_words(x.elements) + described(x.order) for x in regions)] += 1
    except NoProductOrderError as error:
        reason = str(error)
    # What changes seldom is noticed late.
    if len(orders) > 1 or not (alike and looks_alike(probe, answered)):
        seen = seen_orders(probe, (a, b, d), rng)
        return IdentifiedProduct(
            (a, b, d), (m, n, k), seen.orders, (), independent, 0, 0, probe.calls, seen=seen
        )
    known: tuple[SummedRegion, ...] = ()
    differing = checked = 0
    if not reason:
        units = list(candidates(a, b, d))
        known = tuple(y for x in first for y in _summed(x, units, answered, (a, b, d)))
        if all(x.units for x in known):
            fresh = cancelling_operands(rng, (m, k), (k, n), (a, b))
            made = _predicted(known, *fresh, (a, b, d))
            differing = int((as_words(made) != as_words(probe.run(*fresh))).sum())
            checked = (times + 1) * m * n
    return IdentifiedProduct(
        (a, b, d), (m, n, k), tuple(orders.most_common()), known, independent, checked, differing,
        probe.calls, reason,
    )  # fmt: skip


def _summed(
    region: OrderRegion, candidates: Sequence[ChainUnits], answered: Answered, formats: Formats
) -> list[SummedRegion]:
    """The units that give a region's elements; the region in two where no unit gives them all."""
    order, elements = region.order, region.elements
    rows, columns = (np.flatnonzero(elements.any(i))[:_FEW] for i in (1, 0))
    some = np.zeros_like(elements)
    some[np.ix_(rows, columns)] = elements[np.ix_(rows, columns)]
    tries = list(variants(order))
    plain, further = tries[:_PLAIN], tries[_PLAIN:]
    best: NDArray[np.bool_] = np.zeros_like(elements)
    found: list[tuple[ChainUnits, SumChain]] = []
    others = {x.name: 1.0 for x in candidates}
    # The many orders that masks cannot tell apart, where none of the first ones gives the elements.
    for orders, tried in ((plain, candidates), *((further, [x]) for x in candidates if x.own)):
        for candidate, one in ((x, y) for x in tried for y in orders if x.follows(y)):
            known = candidate in (x for x, _ in found)
            if known or not _gives(candidate, one, some, answered[:1], formats).any():
                continue
            given = np.zeros_like(elements)
            given[elements] = _gives(candidate, one, elements, answered, formats)
            others[candidate.name] = min(others[candidate.name], 1 - float(given[elements].mean()))
            best = given if given.sum() > best.sum() else best
            if not others[candidate.name]:
                found.append((candidate, one))
        if found:
            break
    if found or not best.any():
        refuted = tuple((name, x) for name, x in others.items() if x)
        return [SummedRegion(region, tuple(found), refuted)]
    halves = [OrderRegion(order, x) for x in (best, elements & ~best)]
    return [y for x in halves for y in _summed(x, candidates, answered, formats)]


def _gives(
    candidate: ChainUnits, order: SumChain, elements: NDArray[np.bool_], answered: Answered, formats: Formats
) -> NDArray[np.bool_]:
    """Which of some elements a unit gives, with an order, of all operands."""
    given = np.ones(int(elements.sum()), np.bool_)
    for operands, words in answered:
        if given.any():
            d = np.zeros(words.shape, dtypes()[formats[2].name])
            _fill(d, elements, candidate, order, operands, formats)
            given &= (as_words(d) == words)[elements]
    return given


def _independent(probe: ProductProbe, operands: Factors, d: Matrix, rng: np.random.Generator) -> bool:
    """Whether rows and columns that change places take their results with them."""
    a, b = operands
    rows, columns = (_moved(rng, x) for x in (a.shape[0], b.shape[1]))
    moved = as_words(probe.run(np.ascontiguousarray(a[rows]), np.ascontiguousarray(b[:, columns])))
    return bool((moved == d[np.ix_(rows, columns)]).all())


def _moved(rng: np.random.Generator, count: int) -> NDArray[np.intp]:
    """A permutation that leaves none in its place."""
    cycle = rng.permutation(count)
    places = np.empty(count, np.intp)
    places[cycle] = np.roll(cycle, 1)
    return places
