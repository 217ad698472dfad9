"""A callable product identified: its order, the units that give its results in it, and what it predicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.checks import check_int
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.catalog import format_named
from tcformal.formats.spec import Format
from tcformal.identify.whole.chains import product_in_order
from tcformal.identify.whole.order import NoProductOrderError, ProductFunction, ProductProbe, SumChain
from tcformal.matmul.arrays import dtypes

#: Fused multiply–adds, and products that are rounded before they are added, in the formats of processors.
_FMA = {"fp32": "cdna1/v_mfma_f32_32x32x2f32", "fp64": "ampere/mma.m8n8k4.f64.f64.f64.f64"}
_WIDER = {"fp16": "fp32", "bf16": "fp32"}
_FORMATS = ("fp64", "fp32", "bf16", "fp16")


@dataclass(frozen=True, slots=True, eq=False)
class IdentifiedProduct:
    """What is known of a callable product at one shape.

    Ranges and units: `orders`: the orders of sums that masks showed, with how often; `units`: those tried
    that give every element of all random operands in the order, with that order; `refuted`: those that
    do not, each with the share of elements that it gives otherwise; `independent`: whether rows and
    columns that change places take their results with them; `checked`: elements compared, `differing`:
    of fresh ones the number that the first unit gives otherwise.
    """

    formats: tuple[Format, Format, Format]
    shape: tuple[int, int, int]
    orders: tuple[tuple[SumChain, int], ...]
    units: tuple[tuple[str, SumChain], ...]
    refuted: tuple[tuple[str, float], ...]
    independent: bool
    checked: int
    differing: int
    calls: int
    #: Why no order was found; empty where one was.
    reason: str = ""

    @property
    def found(self) -> bool:
        """Whether one order and at least one unit give all results."""
        return bool(self.units) and not self.differing

    def matmul(self, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        """What the callable gives for operands of this shape; InputError where it is not identified."""
        m, n, k = self.shape
        if not self.found or a.shape != (m, k) or b.shape != (k, n):
            raise InputError(
                f"expected operands of shape {[m, k]} and {[k, n]} for an identified product, but got "
                f"{list(a.shape)} and {list(b.shape)}, {'identified' if self.found else 'not identified'}"
            )
        return _predicted(self.units[0], a, b, self.formats)

    def record(self) -> dict[str, Any]:
        """What a line of a file of results holds."""
        m, n, k = self.shape
        return {
            "kind": "product", "formats": [x.name for x in self.formats], "m": m, "n": n, "k": k,
            "orders": [[described(order), times] for order, times in self.orders],
            "units": [name for name, _ in self.units], "refuted": [list(x) for x in self.refuted],
            "independent": self.independent, "checked": self.checked, "differing": self.differing,
            "calls": self.calls, "reason": self.reason,
        }  # fmt: skip

    def __str__(self) -> str:
        m, n, k = self.shape
        head = f"{m}x{k} by {k}x{n}, {', '.join(x.name for x in self.formats)}: "
        if self.reason:
            return head + self.reason
        orders = "; ".join(f"{times}x {described(order)}" for order, times in self.orders)
        if not self.units:
            return f"{head}{orders}; none of {len(self.refuted)} units gives the results"
        own = "" if self.independent else "; rows and columns that change places change their results"
        return (
            f"{head}{described(self.units[0][1])}; {', '.join(name for name, _ in self.units)}; "
            f"{self.differing} of {self.checked} elements differ{own}"
        )


def _predicted(
    found: tuple[str, SumChain], a: NDArray[Any], b: NDArray[Any], formats: tuple[Format, Format, Format]
) -> NDArray[Any]:
    return product_in_order(resolve(found[0]), found[1], a, b, formats)


def described(order: SumChain) -> str:
    """An order in words."""
    ks, base = order.ks, order.base
    if base and not ks:
        sizes = [x.size for x in base]
        if all(_plain(x) for x in base) and _concatenated(base):
            return "blocks of k of " + "+".join(map(str, sizes)) + ", each from zero, added in order"
        return "(" + " + ".join(described(x) for x in base) + ")"
    text = _run(ks)
    return (
        f"{described(base[0]) if len(base) == 1 else described(SumChain((), base))}, then {text}"
        if base
        else text
    )


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
    NumPy and ml_dtypes; `repeats`: how often the order is looked for, at least 1: orders that change from
    call to call are told with their frequencies.  Orders may depend on the shape and on the number of
    threads, so that each shape is identified by itself, with the threads that the caller has set.
    Zero, NaN, Inf: results are compared as encodings; operands are finite.
    Errors: InputError for other formats or shapes; DeviceError for a function that fails.
    Source: FPRev (masks of two large terms that cancel); results on random operands.
    """
    check_int("number of repetitions", repeats, low=1, high=1000)
    named = [format_named(x.strip()) for x in formats.split(",")]
    if len(named) != 3 or any(x.name not in _FORMATS for x in named):
        raise InputError(f"expected three formats of {', '.join(_FORMATS)}, but got {formats!r}")
    a, b, d = named
    m, n, k = (check_int(x, value, low=1, high=1 << 20) for x, value in zip("MNK", shape, strict=True))
    probe = ProductProbe(function, a, b, d, (m, n, k))
    rng = np.random.default_rng(seed)
    sets = [operands(rng, (m, k), (k, n), (a, b)) for operands in (_random, _cancelling)]
    got = [_words(probe.run(*x)) for x in sets]
    independent = _independent(probe, *sets[0], got[0], rng)
    orders: Counter[SumChain] = Counter()
    reason = ""
    try:
        for _ in range(repeats):
            orders[probe.order()] += 1
    except NoProductOrderError as error:
        reason = str(error)
    units: list[tuple[str, SumChain]] = []
    refuted = []
    if len(orders) == 1 and not reason:
        (order,) = orders
        for unit in _units(a, b, d):
            tries = [order] if order == _turned(order) else [order, _turned(order)]
            rates = [_rate(unit, x, sets, got, (a, b, d)) for x in tries]
            if min(rates):
                refuted.append((unit.name, min(rates)))
            else:
                units.append((unit.name, tries[rates.index(0)]))
    differing = 0
    if units:
        fresh = _cancelling(rng, (m, k), (k, n), (a, b))
        made = _predicted(units[0], *fresh, (a, b, d))
        differing = int((_words(made) != _words(probe.run(*fresh))).sum())
    return IdentifiedProduct(
        (a, b, d), (m, n, k), tuple(orders.most_common()), tuple(units), tuple(refuted), independent,
        3 * m * n if units else 0, differing, probe.calls, reason,
    )  # fmt: skip


Operand = NDArray[Any]


def _rate(
    unit: UnitSpec,
    order: SumChain,
    sets: Sequence[tuple[Operand, Operand]],
    got: Sequence[Operand],
    formats: tuple[Format, Format, Format],
) -> float:
    """The share of elements that a unit gives otherwise in an order."""
    parted = [
        (_words(product_in_order(unit, order, *x, formats)) != d).mean()
        for x, d in zip(sets, got, strict=True)
    ]
    return float(np.mean(parted))


def _words(x: NDArray[Any]) -> NDArray[Any]:
    return x.view(f"u{x.dtype.itemsize}")


def _random(
    rng: np.random.Generator, left: tuple[int, int], right: tuple[int, int], formats: tuple[Format, Format]
) -> tuple[Operand, Operand]:
    made = [
        rng.standard_normal(x).astype(dtypes()[fmt.name])
        for x, fmt in zip((left, right), formats, strict=True)
    ]
    return made[0], made[1]


def _cancelling(
    rng: np.random.Generator, left: tuple[int, int], right: tuple[int, int], formats: tuple[Format, Format]
) -> tuple[Operand, Operand]:
    """Operands whose products cancel, so that results are what was rounded off; a few terms are left over."""
    a, b = _random(rng, left, right, formats)
    half = left[1] // 2
    first, second = np.split(rng.permutation(left[1])[: 2 * half], 2)
    a[:, second], b[second] = -a[:, first], b[first]
    if left[1] > 2 * half:
        a[:, np.setdiff1d(np.arange(left[1]), [*first, *second])] = 0
    return a, b


def _independent(
    probe: ProductProbe, a: NDArray[Any], b: NDArray[Any], d: NDArray[Any], rng: np.random.Generator
) -> bool:
    """Whether rows and columns that change places take their results with them."""
    rows, columns = rng.permutation(a.shape[0]), rng.permutation(b.shape[1])
    moved = _words(probe.run(np.ascontiguousarray(a[rows]), np.ascontiguousarray(b[:, columns])))
    return bool((moved == d[np.ix_(rows, columns)]).all())


def _units(a: Format, b: Format, d: Format) -> Iterator[UnitSpec]:
    """The units of the formats whose sums can be chained, the processors' own arithmetic first."""
    wide = _WIDER.get(a.name, a.name)
    if a == b:
        yield resolve(_FMA[wide])
        yield resolve("muladd@k=1," + ",".join(f"{x}_format={wide}" for x in "abcd"))
    known = distinct_designs(lambda u: u.operands.a == a and u.operands.b == b and u.scale_format is None)
    for name in known:
        unit = catalogue()[name]
        chained = unit.c_format == unit.d_format and unit.name not in _FMA.values()
        if chained and unit.d_format.width >= d.width:
            yield unit


def _turned(x: SumChain) -> SumChain:
    """The same order with the first two terms of every chain in turned places: no mask tells which."""
    ks = x.ks if x.base else (*x.ks[1::-1], *x.ks[2:])
    return SumChain(ks, tuple(_turned(y) for y in x.base))


def _plain(x: SumChain) -> bool:
    return not x.base and x.ks == tuple(range(x.ks[0], x.ks[0] + len(x.ks)))


def _concatenated(base: tuple[SumChain, ...]) -> bool:
    return all(x.ks[-1] + 1 == y.ks[0] for x, y in pairwise(base))


def _run(ks: tuple[int, ...]) -> str:
    """Terms of k in words: ascending, ascending by a step, in swapped pairs, or listed."""
    steps = {y - x for x, y in pairwise(ks)}
    if len(ks) == 1 or (len(steps) == 1 and min(steps) > 0):
        by = f" by {min(steps)}" if steps and min(steps) > 1 else ""
        return f"k from {ks[0]} to {ks[-1]}{by}"
    shown = ", ".join(map(str, ks[:6]))
    return f"k in the order {shown}{', …' if len(ks) > 6 else ''}, {ks[-1]}"
