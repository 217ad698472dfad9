"""A callable product identified: its order, the units that give its results in it, and what it predicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.checks import check_int
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.identification.whole.chains import ChainUnits, candidates, product_in_order
from tcformal.identification.whole.operands import as_words, cancelling_operands, random_operands
from tcformal.identification.whole.order import (
    NoProductOrderError,
    OrderRegion,
    ProductFunction,
    ProductProbe,
    SumChain,
)
from tcformal.identification.whole.repeated import SeenOrders, looks_alike, seen_orders
from tcformal.identification.whole.variants import variants
from tcformal.identification.whole.words import described, elements_in_words
from tcformal.simulation.arrays import dtypes

ProductArray = NDArray[Any]
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
class IdentifiedProduct:
    """What is known of a callable product at one shape.

    Ranges and units: `regions`: of all elements; `orders`: descriptions of what masks showed, with how often,
    or of the orders of `seen`; `independent`: whether rows and columns that change places take their
    results with them; `checked`: elements compared, `differing`: of fresh ones the number that the first
    units give otherwise.
    """

    formats: tuple[Format, Format, Format]
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

    @property
    def found(self) -> bool:
        """Whether one order, and a unit for each of its regions, give all results."""
        complete = self.seen is None and bool(self.regions) and all(x.units for x in self.regions)
        return complete and not self.reason and not self.differing

    def matmul(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        """What the callable gives for operands of this shape; InputError where it is not identified."""
        m, n, k = self.shape
        if not self.found or a.shape != (m, k) or b.shape != (k, n):
            raise InputError(
                f"expected operands of shape {[m, k]} and {[k, n]} for an identified product, but got "
                f"{list(a.shape)} and {list(b.shape)}, {'identified' if self.found else 'not identified'}"
            )
        return _predicted(self.regions, a, b, self.formats)

    def record(self) -> dict[str, Any]:
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


def _predicted(
    regions: Sequence[SummedRegion],
    a: NDArray[Any],
    b: NDArray[Any],
    formats: tuple[Format, Format, Format],
) -> NDArray[Any]:
    d = np.zeros((a.shape[0], b.shape[1]), dtypes()[formats[2].name])
    for x in regions:
        units, order = x.units[0]
        _fill(d, x.region.elements, units, order, (a, b), formats)
    return d


def _fill(
    d: NDArray[Any],
    elements: NDArray[np.bool_],
    units: ChainUnits,
    order: SumChain,
    operands: tuple[ProductArray, ProductArray],
    formats: tuple[Format, Format, Format],
) -> None:
    """Write the elements of a region."""
    rows, columns = np.flatnonzero(elements.any(1)), np.flatnonzero(elements.any(0))
    made = product_in_order(units, order, operands[0][rows], operands[1][:, columns], formats)
    place = np.ix_(rows, columns)
    d[place] = np.where(elements[place], made, d[place])


def identify_product(
    function: ProductFunction,
    formats: str,
    shape: tuple[int, int, int],
    *,
    repeats: int = 2,
    seed: int = 0,
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
    """
    check_int("number of repetitions", repeats, low=1, high=1000)
    named = [format_named(x.strip()) for x in formats.split(",")]
    if len(named) != 3 or any(x.name not in _FORMATS for x in named):
        raise InputError(f"expected three formats of {', '.join(_FORMATS)}, but got {formats!r}")
    a, b, d = named
    m, n, k = (check_int(x, value, low=1, high=1 << 20) for x, value in zip("MNK", shape, strict=True))
    probe = ProductProbe(function, a, b, d, (m, n, k))
    rng = np.random.default_rng(seed)
    # One row has the same factors in all elements, and few elements refute few of many orders.
    times = min(_SETS[1], max(_SETS[0], -(-_ENOUGH // (m * n)), 8 * (min(m, n) == 1)))
    kinds = [random_operands if i % 4 == 0 else cancelling_operands for i in range(times)]
    sets = [operands(rng, (m, k), (k, n), (a, b)) for operands in kinds]
    got = [as_words(probe.run(*x)) for x in sets]
    independent = _independent(probe, *sets[0], got[0], rng)
    alike = looks_alike(probe, sets, got)
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
    if len(orders) > 1 or not (alike and looks_alike(probe, sets, got)):
        seen = seen_orders(probe, (a, b, d), rng)
        return IdentifiedProduct(
            (a, b, d), (m, n, k), seen.orders, (), independent, 0, 0, probe.calls, seen=seen
        )
    known: tuple[SummedRegion, ...] = ()
    differing = checked = 0
    if not reason:
        units = list(candidates(a, b, d))
        known = tuple(y for x in first for y in _summed(x, units, sets, got, (a, b, d)))
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
    region: OrderRegion,
    candidates: Sequence[ChainUnits],
    sets: Sequence[tuple[ProductArray, ProductArray]],
    got: Sequence[ProductArray],
    formats: tuple[Format, Format, Format],
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
            if known or not _gives(candidate, one, some, sets[:1], got, formats).any():
                continue
            given = np.zeros_like(elements)
            given[elements] = _gives(candidate, one, elements, sets, got, formats)
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
    return [y for x in halves for y in _summed(x, candidates, sets, got, formats)]


def _gives(
    candidate: ChainUnits,
    order: SumChain,
    elements: NDArray[np.bool_],
    sets: Sequence[tuple[ProductArray, ProductArray]],
    got: Sequence[ProductArray],
    formats: tuple[Format, Format, Format],
) -> NDArray[np.bool_]:
    """Which of some elements a unit gives, with an order, of all operands."""
    given = np.ones(int(elements.sum()), np.bool_)
    for operands, words in zip(sets, got, strict=False):
        if given.any():
            d = np.zeros(words.shape, dtypes()[formats[2].name])
            _fill(d, elements, candidate, order, operands, formats)
            given &= (as_words(d) == words)[elements]
    return given


def _independent(
    probe: ProductProbe, a: NDArray[Any], b: NDArray[Any], d: NDArray[Any], rng: np.random.Generator
) -> bool:
    """Whether rows and columns that change places take their results with them."""
    rows, columns = (_moved(rng, x) for x in (a.shape[0], b.shape[1]))
    moved = as_words(probe.run(np.ascontiguousarray(a[rows]), np.ascontiguousarray(b[:, columns])))
    return bool((moved == d[np.ix_(rows, columns)]).all())


def _moved(rng: np.random.Generator, count: int) -> NDArray[np.intp]:
    """A permutation that leaves none in its place."""
    cycle = rng.permutation(count)
    places = np.empty(count, np.intp)
    places[cycle] = np.roll(cycle, 1)
    return places
