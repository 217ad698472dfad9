"""An expected result and another one that came: which designs give each, and where they part."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.oracle.values import Kind as ValueKind
from tcformal.oracle.values import decode, parse_value
from tcformal.probe.device import same_formats
from tcformal.probe.operands import batch_of, from_data
from tcformal.probe.replay import padded_witness, replay, takes
from tcformal.probe.variations import variations
from tcformal.query.explain.explain import Trace, explain_witness
from tcformal.query.explain.parting import Parting, parting
from tcformal.query.spec import Witness, common_k

#: Products up to which a computation is one design.
_MOST = 256

Told = Callable[[int, int], None]


class Kind(IntEnum):
    """What a design is to whoever asks, the nearest first."""

    UNIT = 0
    OTHER_UNIT = 1
    COMPUTATION = 2
    VARIATION = 3
    OTHER_VARIATION = 4


@dataclass(frozen=True, slots=True)
class Value:
    """A result as it was given: an encoding of D, or any NaN."""

    raw: int
    any_nan: bool

    @staticmethod
    def of(fmt: Format, text: str) -> Value:
        """A value from text; `nan` without a word stands for every NaN."""
        return Value(parse_value(fmt, text), text.strip().lower().lstrip("+-") == "nan")

    def is_given_by(self, fmt: Format, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Where results are this value."""
        same = np.asarray(words == np.uint64(self.raw), np.bool_)
        if self.any_nan:
            body = np.uint64((1 << (fmt.width - 1)) - 1)
            same |= (words & body) > np.uint64(fmt.infinity)
        return same


@dataclass(frozen=True, slots=True)
class Case:
    """One dot product, the result that was expected and the one that came."""

    witness: Witness
    expected: Value
    got: Value


@dataclass(frozen=True, slots=True)
class Producer:
    """A design that gives the results of every case, and what it is."""

    design: UnitSpec
    kind: Kind
    #: The unit that a variation is one of; the design itself otherwise.
    base: UnitSpec
    what: str


@dataclass(frozen=True, slots=True)
class Explained:
    """Which designs give what was expected and what came.

    Ranges and units: `own`: the unit's own results; `exact`: the exact sums, None where an operand is NaN
    or Inf.  Variations are named only where the unit that they are of does not give the results itself.
    """

    unit: UnitSpec
    cases: tuple[Case, ...]
    tried: int
    own: tuple[int, ...]
    exact: tuple[Fraction | None, ...]
    expected: tuple[Producer, ...]
    got: tuple[Producer, ...]
    #: The nearest design of each, both traces of a case on which they differ, and where these part.
    pair: tuple[Producer, Producer] | None
    traces: tuple[Trace, Trace] | None
    parting: Parting | None

    @property
    def both(self) -> bool:
        """Whether known arithmetic gives the one and the other."""
        return bool(self.expected) and bool(self.got)


def explain_mismatch(
    spec: UnitSpec, cases: Sequence[Case], told: Told = lambda _done, _all: None
) -> Explained:
    """Try the unit, every catalogued design of its formats, plain computations, and all their variations.

    Shapes: dot products of one length; a unit that takes fewer products is called again, where its
    result can be the next c, and one that takes more is given zeros.
    Ranges and units: a design counts where it gives the results of all cases.
    Zero, NaN, Inf: encodings are compared; a value given as `nan` is any NaN.
    Errors: InputError for no cases, or cases of different lengths.
    """
    lengths = {len(case.witness.a) for case in cases}
    if len(lengths) != 1:
        raise InputError(f"expected dot products of one length, but got lengths {sorted(lengths)}")
    k = lengths.pop()
    batch = batch_of(spec, [case.witness for case in cases])
    d = spec.operands.d
    candidates = list(_candidates(spec, k))
    found: dict[str, list[Producer]] = {"expected": [], "got": []}
    gives: dict[tuple[str, str], bool] = {}
    results: dict[str, NDArray[np.uint64]] = {}
    for done, one in enumerate(candidates):
        told(done, len(candidates))
        words = replay(one.design, batch)
        results[one.design.name] = words
        for name, made in found.items():
            values: list[Value] = [getattr(case, name) for case in cases]
            fits = all(v.is_given_by(d, words[i : i + 1])[0] for i, v in enumerate(values))
            gives[name, one.design.name] = fits
            if fits and (one.base is one.design or not gives.get((name, one.base.name), False)):
                made.append(one)
    told(len(candidates), len(candidates))
    expected, got = (tuple(sorted(made, key=lambda p: p.kind)) for made in found.values())
    pair = _nearest(expected, got)
    traces = None if pair is None else _traces(pair, cases, results)
    return Explained(
        spec, tuple(cases), len(candidates), tuple(int(x) for x in results[spec.name]),
        tuple(exact_sum(spec, case.witness) for case in cases), expected, got, pair, traces,
        None if traces is None else parting(*traces),
    )  # fmt: skip


def _candidates(spec: UnitSpec, k: int) -> Iterator[Producer]:
    """Every design to try, each definition once, nearer kinds first."""
    seen: set[tuple[object, ...]] = set()

    def new(u: UnitSpec) -> bool:
        if not takes(u, k):
            return False
        length = min(u.k, u.design.products)
        key = (u.design, length, u.emulation, None if u.k >= k else u.k)
        fresh = key not in seen
        seen.add(key)
        return fresh

    others = [resolve(name) for name in distinct_designs(lambda u: same_formats(u, spec) and takes(u, k))]
    if not takes(spec, k):
        raise InputError(
            f"expected at most {spec.k} products for {spec.name}, whose result cannot be the next c, "
            f"but got {k}"
        )
    new(spec)
    yield Producer(spec, Kind.UNIT, spec, "the unit")
    others = [u for u in others if new(u)]
    for u in others:
        yield Producer(u, Kind.OTHER_UNIT, u, "another unit")
    for name, what in computations(spec, k):
        u = resolve(name)
        if new(u):
            yield Producer(u, Kind.COMPUTATION, u, what)
    for base in (spec, *others):
        kind = Kind.VARIATION if base is spec else Kind.OTHER_VARIATION
        for u in variations(base):
            if new(u):
                yield Producer(u, kind, base, "one parameter changed")


def computations(spec: UnitSpec, k: int) -> Iterator[tuple[str, str]]:
    """Designs without a unit that people compare results with, and what each is.

    None for units with scales, for more products than one design takes, and for results that no IEEE
    format holds.
    """
    o = spec.operands
    target = o.d.name.upper()
    if spec.scale_format is not None or k > _MOST or o.d.name not in ("fp64", "fp32", "fp16", "bf16"):
        return
    formats = ",".join(
        f"{letter}_format={fmt.name}" for letter, fmt in zip("abcd", (o.a, o.b, o.c, o.d), strict=True)
    )
    exact = "fraction_bits=exact,rounding=RNE,zero_sign=ieee,overflow=ieee"
    yield f"tfdpa@products={k},{exact},{formats}", "the exact sum, rounded once"
    chain = f"sequential@products={k}"
    for place, said in (("", "from c on"), (",c_position=last", "c last")):
        yield f"{chain}{place},{formats}", f"fused multiply–adds in {o.d.name}, {said}"
        rounded = f"product_rounding=RNE-{target}"
        yield f"{chain}{place},{rounded},{formats}", f"products and sums rounded to {o.d.name}, {said}"
        if o.d.name != "fp64":
            wide = "accumulator=RNE-FP64"
            yield f"{chain}{place},{wide},{formats}", f"a chain in fp64, {said}, rounded at the end"


def exact_sum(spec: UnitSpec, w: Witness) -> Fraction | None:
    """Σ a_k·b_k + c of one dot product, scales included; None where an operand is NaN or Inf."""
    o, scale, block = spec.operands, spec.scale_format, spec.scale_block or 1
    factors = [(o.a, w.a), (o.b, w.b)]
    if scale is not None:
        factors += [(scale, tuple(s[i // block] for i in range(len(w.a)))) for s in (w.scale_a, w.scale_b)]
    values = [[decode(fmt, word) for word in words] for fmt, words in factors]
    c = decode(o.c, w.c)
    if any(x.kind is not ValueKind.FINITE for x in (c, *chain.from_iterable(values))):
        return None
    products = (prod(x.number for x in row) for row in zip(*values, strict=True))
    return sum(products, start=c.number)


def _nearest(expected: Sequence[Producer], got: Sequence[Producer]) -> tuple[Producer, Producer] | None:
    """The pair of designs that is told: near kinds, and variations of one unit rather than of two."""
    pairs = [(e, g) for e in expected for g in got if e.design is not g.design]
    if not pairs:
        return None
    return min(pairs, key=lambda p: (p[0].kind + p[1].kind, p[0].base is not p[1].base))


def _traces(
    pair: tuple[Producer, Producer], cases: Sequence[Case], results: dict[str, NDArray[np.uint64]]
) -> tuple[Trace, Trace] | None:
    """Both designs on the first case that tells them apart."""
    first, second = (p.design for p in pair)
    apart = np.flatnonzero(results[first.name] != results[second.name])
    if not apart.size:
        return None
    w = cases[int(apart[0])].witness
    try:
        common_k(first, second)
    except InputError:
        return None  # one of the two takes the operands in another number of calls
    wide = max((padded_witness(u, w) for u in (first, second)), key=lambda x: len(x.a))
    return explain_witness(first, wide), explain_witness(second, wide)


# ------------------------------------------------------------------ files
def read_cases(spec: UnitSpec, path: Path) -> list[Case]:
    """The cases of a file: one JSON object or a list of them, or one a line; or arrays in an .npz.

    Shapes: `a`, `b`: K values, `c`, `expected`, `got`: one; `scale_a`, `scale_b` for units with scales;
    in an .npz each with a leading axis n (K values without one), as raw encodings in unsigned integers
    or in NumPy's own dtype of the format.
    Errors: InputError naming the file and the case for what cannot be read.
    """
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as data:
                rows = _rows(spec, {name: data[name] for name in data.files}, str(path))
        else:
            rows = _objects(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise InputError(f"expected cases as JSON or .npz in {path}, but got: {error}") from None
    if not rows:
        raise InputError(f"expected at least one case in {path}, but got none")
    return [case_of(spec, row, f"case {i} of {path}") for i, row in enumerate(rows)]


def case_of(spec: UnitSpec, data: Any, where: str) -> Case:
    """One case from plain data: texts of values or encodings."""
    if not isinstance(data, dict) or "expected" not in data or "got" not in data:
        raise InputError(
            f"expected an object with a, b, c, expected and got in {where}, but got {data!r:.80}"
        )
    d = spec.operands.d
    try:
        values = [Value.of(d, str(data[name])) for name in ("expected", "got")]
    except InputError as error:
        raise InputError(f"{error} (in {where})") from None
    return Case(from_data(spec, data, where), *values)


def _objects(text: str) -> list[Any]:
    """JSON as a list: of the one value, or of a value a line."""
    try:
        found = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return found if isinstance(found, list) else [found]


def _rows(spec: UnitSpec, data: dict[str, NDArray[Any]], where: str) -> list[dict[str, Any]]:
    """The arrays of an .npz as one object a case, in hex words."""
    o = spec.operands
    formats: dict[str, Format] = {"a": o.a, "b": o.b, "c": o.c, "expected": o.d, "got": o.d}
    if spec.scale_format is not None:
        formats |= {"scale_a": spec.scale_format, "scale_b": spec.scale_format}
    words: dict[str, list[Any]] = {}
    for name, fmt in formats.items():
        if name in data:
            x = data[name]
            bits = x if x.dtype.kind == "u" else x.view(f"{x.dtype.byteorder}u{x.dtype.itemsize}")
            if bits.dtype.itemsize * 8 != fmt.storage_bits:
                raise InputError(
                    f"expected elements of {fmt.storage_bits} bits for {name} in {where}, but got {x.dtype}"
                )
            axes = 2 if name in ("a", "b", "scale_a", "scale_b") else 1
            words[name] = (bits if bits.ndim >= axes else bits[np.newaxis]).tolist()
        elif not name.startswith("scale") and name != "c":
            raise InputError(
                f"expected the array {name} in {where}, but got {', '.join(sorted(data)) or 'none'}"
            )
    counts = {len(rows) for rows in words.values()}
    if len(counts) != 1:
        raise InputError(f"expected arrays of one length in {where}, but got lengths {sorted(counts)}")
    return [{name: _hex(rows[i]) for name, rows in words.items()} for i in range(counts.pop())]


def _hex(words: Any) -> Any:
    return [f"{w:#x}" for w in words] if isinstance(words, list) else f"{words:#x}"
