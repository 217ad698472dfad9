"""Causes of a mismatch: the designs that give the expected result, those that give the one obtained."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from fractions import Fraction
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any, Generic, TypeVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.differences import ulp_distance
from tcformal.callbacks import Advance, ignore_count
from tcformal.design.aliases import ALIASES
from tcformal.design.axes import computed, neighbours
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, same_formats, takes
from tcformal.encodings.spec import Format
from tcformal.errors import InputError, SolverDisagreementError
from tcformal.files import read_named, values_of
from tcformal.identification.masks import numbers_of
from tcformal.oracle.values import NumberClass, decode, encoded, parse_value
from tcformal.query.explain.explain import explain_witness
from tcformal.query.explain.trace import Divergence, Trace, divergence
from tcformal.semantics.chain import common_k, definition
from tcformal.simulation.matrix_unit import padded_witness, replay
from tcformal.simulation.operands.batch import Batch, Raw, batch_of
from tcformal.simulation.operands.witness import Witness, from_data
from tcformal.simulation.replay import oracle_result


# ------------------------------------------------------------------ cases
@dataclass(frozen=True, slots=True)
class MismatchValue:
    """A given result: an encoding of D, or any NaN."""

    raw: int
    any_nan: bool

    @staticmethod
    def of(fmt: Format, text: str) -> MismatchValue:
        """A value from text; `nan` without a payload means every NaN."""
        return MismatchValue(parse_value(fmt, text), text.strip().lower().lstrip("+-") == "nan")

    def is_given_by(self, fmt: Format, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Where results equal this value."""
        same = np.asarray(words == np.uint64(self.raw), np.bool_)
        if self.any_nan:
            same |= fmt.is_nan(words)
        return same


@dataclass(frozen=True, slots=True)
class MismatchCase:
    """One dot product, its expected result and the one obtained."""

    witness: Witness
    expected: MismatchValue
    got: MismatchValue


def read_cases(spec: UnitSpec, path: Path) -> list[MismatchCase]:
    """The cases of a file: a JSON object, a list of them, or one per line; or arrays in an .npz.

    Shapes: `a`, `b`: K values, `c`, `expected`, `got`: one; `scale_a`, `scale_b` for units with scales;
    in an .npz each with a leading axis n (K values without one), as raw encodings in unsigned integers or
    in NumPy's own dtype of the format.
    Errors: InputError naming the file and the case that cannot be read.
    """
    try:
        if path.suffix == ".npz":
            with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
                rows = _rows(spec, {name: data[name] for name in data.files}, str(path))
        else:
            found = values_of(read_named(path, "cases as JSON or .npz"))
            rows = found[0] if len(found) == 1 and isinstance(found[0], list) else found
    except (OSError, UnicodeDecodeError, ValueError, BadZipFile) as error:
        raise InputError(f"expected cases as JSON or .npz in {path}, but got: {error}") from None
    if not rows:
        raise InputError(f"expected at least one case in {path}, but got none")
    return [case_of(spec, row, f"case {i} of {path}") for i, row in enumerate(rows)]


def case_of(spec: UnitSpec, data: Any, where: str) -> MismatchCase:
    """One case from plain data: texts of values or encodings."""
    if not isinstance(data, dict) or "expected" not in data or "got" not in data:
        raise InputError(
            f"expected an object with a, b, c, expected and got in {where}, but got {data!r:.80}"
        )
    d = spec.operands.d
    try:
        values = [MismatchValue.of(d, str(data[name])) for name in ("expected", "got")]
    except InputError as error:
        raise InputError(f"{error} (in {where})") from None
    return MismatchCase(from_data(spec, data, where), *values)


def _rows(spec: UnitSpec, data: dict[str, NDArray[Any]], where: str) -> list[dict[str, object]]:
    """The arrays of an .npz as one object per case, in hex words."""
    formats = spec.input_formats() | {"expected": spec.d_format, "got": spec.d_format}
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


# ------------------------------------------------------------------ designs that exist, and near ones
#: Products up to which a computation is one design.
_MOST = 256


class MismatchKind(IntEnum):
    """The relation of a design to the given unit, the nearest first; the last two are of no unit."""

    UNIT = 0
    OTHER_UNIT = 1
    COMPUTATION = 2
    VARIATION = 3
    OTHER_VARIATION = 4


@dataclass(frozen=True, slots=True)
class Producer:
    """A design that gives the results of every case, and its description."""

    design: UnitSpec
    kind: MismatchKind
    #: The unit that a variation is one of; the design itself otherwise.
    base: UnitSpec
    what: str
    #: The catalogued units of this arithmetic, those nearest to the given unit first.
    units: tuple[str, ...] = ()


def existing_producers(spec: UnitSpec, k: int) -> Iterator[Producer]:
    """The unit, the catalogued designs of its formats and plain computations, each definition once."""
    if not takes(spec, k):
        raise InputError(
            f"expected at most {spec.k} products for {spec.name}, whose result cannot be the next c, "
            f"but got {k}"
        )
    own, *groups = same_arithmetic(spec, k)
    yield Producer(spec, MismatchKind.UNIT, spec, "the unit", own)
    seen = {computed(spec, k)}
    for names in groups:
        u = resolve(names[0])
        seen.add(computed(u, k))
        yield Producer(u, MismatchKind.OTHER_UNIT, u, "another unit", names)
    for name, what in computations(spec, k):
        u = resolve(name)
        if takes(u, k) and computed(u, k) not in seen:
            seen.add(computed(u, k))
            yield Producer(u, MismatchKind.COMPUTATION, u, what)


def altered_producers(existing: Sequence[Producer], k: int) -> Iterator[Producer]:
    """Units with one parameter changed, each definition once and none that exists."""
    seen = {computed(p.design, k) for p in existing}
    for p in existing:
        if p.kind is MismatchKind.COMPUTATION:
            continue
        kind = MismatchKind.VARIATION if p.kind is MismatchKind.UNIT else MismatchKind.OTHER_VARIATION
        for u in neighbours(p.design):
            if takes(u, k) and computed(u, k) not in seen:
                seen.add(computed(u, k))
                yield Producer(u, kind, p.design, "one parameter changed")


def merged(found: Sequence[Producer], spec: UnitSpec, k: int) -> tuple[Producer, ...]:
    """Designs of one definition as one, which has the units of all of them."""
    groups: dict[str, list[Producer]] = {}
    for p in found:
        groups.setdefault(definition(p.design, k), []).append(p)
    return tuple(
        replace(p, units=nearest_first(spec, [name for x in (p, *others) for name in x.units]))
        for p, *others in groups.values()
    )


def computations(spec: UnitSpec, k: int) -> Iterator[tuple[str, str]]:
    """Designs of plain computations, without a unit, with their descriptions.

    None for units with scales, for more products than one design takes, and for results of a format that
    is not IEEE 754.
    """
    o = spec.operands
    if spec.scale_format is not None or k > _MOST or o.d.name not in ("fp64", "fp32", "fp16", "bf16"):
        return
    usual = resolve("fma").operands.names()
    formats = "".join(f",{x}_format={name}" for x, name in o.names().items() if name != usual[x])
    for alias, (_, what) in ALIASES.items():
        if not (alias.startswith("fp64") and o.d.name == "fp64"):
            yield f"{alias}@k={k}{formats}", what.replace("d's format", o.d.name)


def same_arithmetic(spec: UnitSpec, k: int) -> list[tuple[str, ...]]:
    """Names of the catalogued units of a unit's formats that take K products, those of one design together.

    The units of the given one's own design come first, an empty row where there is none; then, and in each
    row, those of the given unit's instruction, and of its number of products.
    """
    own, others = list[tuple[str, ...]](), list[tuple[str, ...]]()
    wanted = computed(spec, k)
    for names in distinct_designs(lambda u: same_formats(u, spec) and takes(u, k)).values():
        mine = any(name == spec.name or computed(catalogue()[name], k) == wanted for name in names)
        (own if mine else others).append(nearest_first(spec, names))
    others.sort(key=lambda names: _far(spec, names[0]))
    return [nearest_first(spec, [x for names in own for x in names]), *others]


def nearest_first(spec: UnitSpec, names: Iterable[str]) -> tuple[str, ...]:
    """Names of units: those of a unit's instruction first, then those of as many products."""
    return tuple(sorted(dict.fromkeys(names), key=lambda name: _far(spec, name)))


def _far(spec: UnitSpec, name: str) -> tuple[bool, bool, bool]:
    same = name.partition("/")[2] == spec.name.partition("/")[2]
    return name != spec.name, not same, catalogue()[name].k != spec.k


# ------------------------------------------------------------------ faulty sums
class FaultKind(Enum):
    """What was done to some products of a sum."""

    LEFT_OUT = "without"
    TWICE = "with twice"
    NEGATED = "with the other sign of"


@dataclass(frozen=True, slots=True)
class SumFault:
    """A unit's sum with products k from `start` up to `stop` treated otherwise; start = stop: c alone."""

    design: UnitSpec
    kind: FaultKind
    start: int
    stop: int

    def __str__(self) -> str:
        if self.start == self.stop:
            products = "c"
        elif self.stop == self.start + 1:
            products = f"a[{self.start}]·b[{self.start}]"
        else:
            products = f"the products of k = {self.start} to {self.stop - 1}"
        return f"{self.design.name} {self.kind.value} {products}"

    @property
    def of_c(self) -> bool:
        """Whether it is c that is treated otherwise."""
        return self.start == self.stop


def faults_that_give(designs: Sequence[UnitSpec], cases: Sequence[MismatchCase]) -> list[SumFault]:
    """The faults of designs that give the results obtained, in every case: of few products first.

    Ranges and units: one product, the products from some k on or up to it, and c; one that changes no operand
    of any case is none.
    """
    return _giving(_fault_results(designs, cases), cases)


def _giving(results: Sequence[tuple[SumFault, Raw]], cases: Sequence[MismatchCase]) -> list[SumFault]:
    """The faults that give the results obtained, in every case: of few products first."""
    found = [
        fault for fault, words in results
        if all(
            case.got.is_given_by(fault.design.d_format, words[i : i + 1])[0] for i, case in enumerate(cases)
        )
    ]  # fmt: skip
    return sorted(found, key=lambda x: (x.of_c, x.stop - x.start))


def _fault_results(designs: Sequence[UnitSpec], cases: Sequence[MismatchCase]) -> list[tuple[SumFault, Raw]]:
    """Every fault of some designs, with what it gives in each case."""
    found = list[tuple[SumFault, Raw]]()
    for design in designs:
        tried, rows = [], []
        for fault in _faults(design, len(cases[0].witness.a)):
            changed = [_changed(fault, case.witness) for case in cases]
            made = [x for x in changed if x is not None]
            if len(made) == len(cases) and made != [case.witness for case in cases]:
                tried.append(fault)
                rows += made
        if not tried:
            continue
        words = replay(design, batch_of(rows)).reshape(len(tried), len(cases))
        found += zip(tried, words, strict=True)
    return found


def _faults(design: UnitSpec, k: int) -> Iterator[SumFault]:
    for kind in FaultKind:
        for i in range(k):
            yield SumFault(design, kind, i, i + 1)
    for i in range(2, k + 1):
        yield SumFault(design, FaultKind.LEFT_OUT, 0, i)
        if i < k:
            yield SumFault(design, FaultKind.LEFT_OUT, k - i, k)
    yield SumFault(design, FaultKind.LEFT_OUT, k, k)


def _changed(fault: SumFault, w: Witness) -> Witness | None:
    """The operands whose sum is the faulty one; None where no operands have it."""
    if fault.of_c:
        return replace(w, c=0)
    a, b = list(w.a), list(w.b)
    for i in range(fault.start, fault.stop):
        if fault.kind is FaultKind.LEFT_OUT:
            a[i] = b[i] = 0
            continue
        factor = 2 if fault.kind is FaultKind.TWICE else -1
        if (x := _times(factor, fault.design.a_format, a[i])) is not None:
            a[i] = x
        elif (y := _times(factor, fault.design.b_format, b[i])) is not None:
            b[i] = y
        else:
            return None
    return replace(w, a=tuple(a), b=tuple(b))


def _times(factor: int, fmt: Format, raw: int) -> int | None:
    """The encoding of so many times a number; None where the format has none."""
    (number,) = numbers_of(fmt, [raw])
    return None if number is None else encoded(fmt, factor * number)


# ------------------------------------------------------------------ chance
def by_accident(fmt: Format, expected: Raw, got: Raw, results: Iterable[Raw]) -> float | None:
    """The chance that some design gives a value drawn from all that lie as near the expected result as `got`.

    Shapes: all arrays alike, an element for each result; `results`: what each design gives.
    Ranges and units: of the elements that differ, by s values of the format, each has 2·s values as near; the
    chance is the share of their combinations that designs give.  Elements that do not differ count as no
    evidence, so that the chance is rather too large.
    Zero, NaN, Inf: None where one of two results is NaN or Inf and the other another one, or none differs.
    """
    expected, got = expected.ravel(), got.ravel()
    steps = ulp_distance(fmt, expected, got)
    apart = steps > 0
    if not apart.any() or (steps < 0).any():
        return None
    near = set()
    for words in results:
        some = words.ravel()[apart].astype(np.uint64)
        far = ulp_distance(fmt, expected[apart], some)
        if ((far > 0) & (far <= steps[apart])).all():
            near.add(some.tobytes())
    if not near:
        return 0.0
    return min(1.0, math.exp(math.log(len(near)) - float(np.log(2.0 * steps[apart]).sum())))


# ------------------------------------------------------------------ explanation
SIDES = ("expected", "got")
#: Cases up to which the oracle sifts the designs.
_FEW = 16
#: The chance of an accident below which a faulty sum is called the cause.
_ACCIDENT = 0.01


class MismatchVerdict(Enum):
    """What two results of the same operands are to each other."""

    SAME = "the results are the same"
    ROUNDING = "units that exist, or plain computations, give both results"
    UNDECIDED = "units that exist give both results, and a faulty sum gives the one obtained as well"
    BUG = "a faulty sum gives the result obtained, which no unit that exists does, and hardly by accident"
    UNEXPLAINED = "no unit that exists gives one of the results"


_P = TypeVar("_P")


@dataclass(frozen=True, slots=True)
class Hints(Generic[_P]):
    """What would explain results that nothing that exists gives: units altered in one parameter.

    Ranges and units: `chances`: of the expected results and of those obtained, as `by_accident` of the
    altered designs.  No designs stand on a side that something that exists gives; variations of a unit do
    not where the unit itself gives the results.
    """

    tried: int
    expected: tuple[_P, ...]
    got: tuple[_P, ...]
    chances: tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Explained:
    """The units and computations that give the expected results, and those that give the results obtained.

    Ranges and units: `own`: the unit's own results; `exact`: the exact sums, None where an operand is NaN
    or Inf; `chance`: `by_accident` of the results obtained and all `tried` designs; `fault_chance`: of all
    faulty sums that were tried.
    """

    unit: UnitSpec
    cases: tuple[MismatchCase, ...]
    tried: int
    own: tuple[int, ...]
    exact: tuple[Fraction | None, ...]
    expected: tuple[Producer, ...]
    got: tuple[Producer, ...]
    chance: float | None
    #: Faulty sums of the designs that give the expected results, which give those obtained.
    faults: tuple[SumFault, ...]
    fault_chance: float | None
    #: None where designs that exist give both results, or a bug is found.
    hints: Hints[Producer] | None
    #: The nearest design of each, both traces of a case on which they differ, and their divergence.
    pair: tuple[Producer, Producer] | None
    traces: tuple[Trace, Trace] | None
    divergence: Divergence | None

    @property
    def verdict(self) -> MismatchVerdict:
        """Rounding or bug."""
        if all(case.expected == case.got for case in self.cases):
            return MismatchVerdict.SAME
        if self.faults and not self.got and _hardly(self.fault_chance):
            return MismatchVerdict.BUG
        if not self.expected or not self.got:
            return MismatchVerdict.UNEXPLAINED
        # A sum that loses a c below its last place is what units differ in.
        faulty = any(not fault.of_c for fault in self.faults)
        return MismatchVerdict.UNDECIDED if faulty else MismatchVerdict.ROUNDING


def explain_mismatch(
    spec: UnitSpec, cases: Sequence[MismatchCase], advance: Advance = ignore_count
) -> Explained:
    """Try the unit, every catalogued design of its formats and plain computations; then altered units.

    Shapes: dot products of one length; a unit of fewer products is called repeatedly, if its result can
    be the next c; a unit of more products gets zeros.
    Ranges and units: a design counts if it gives the results of all cases.  Of a few cases the oracle says
    so; every design that is named is replayed on its circuit.  Altered units are tried where nothing that
    exists gives one of the results, and are hints.
    Zero, NaN, Inf: encodings are compared; `nan` equals any NaN.
    Errors: InputError for no cases, or cases of different lengths; SolverDisagreementError where oracle and
    circuit of a design that gives the results differ.
    """
    lengths = {len(case.witness.a) for case in cases}
    if len(lengths) != 1:
        raise InputError(f"expected dot products of one length, but got lengths {sorted(lengths)}")
    k = lengths.pop()
    trial = _Trial(spec, tuple(cases), batch_of([case.witness for case in cases]), advance)
    existing = list(existing_producers(spec, k))
    expected, got = (merged(x, spec, k) for x in trial.of(existing))
    chance = trial.chance(existing, "got")
    faulty = _fault_results([p.design for p in expected], cases)
    right, wrong = (np.array([getattr(case, x).raw for case in cases], np.uint64) for x in SIDES)
    faults = tuple(_giving(faulty, cases))
    fault_chance = by_accident(spec.operands.d, right, wrong, (words for _, words in faulty))
    hints = None
    if not (expected and got) and not (faults and _hardly(fault_chance)):
        altered = list(altered_producers(existing, k))
        wanted = [name for name, made in zip(SIDES, (expected, got), strict=True) if not made]
        first, second = trial.of(altered, wanted)
        chances = trial.chance(altered, "expected"), trial.chance(altered, "got")
        hints = Hints(len(altered), tuple(first), tuple(second), chances)
    pair = _nearest([*expected, *(hints.expected if hints else ())], [*got, *(hints.got if hints else ())])
    traces = None if pair is None else _traces(pair, cases, trial.results)
    return Explained(
        spec, tuple(cases), len(existing), tuple(int(x) for x in trial.results[spec.name]),
        tuple(exact_sum(spec, case.witness) for case in cases), expected, got, chance, faults, fault_chance,
        hints, pair, traces, None if traces is None else divergence(*traces),
    )  # fmt: skip


def _hardly(chance: float | None) -> bool:
    """Whether an accident is unlikely."""
    return chance is not None and chance < _ACCIDENT


class _Trial:
    """The results of designs on all cases."""

    def __init__(
        self, spec: UnitSpec, cases: tuple[MismatchCase, ...], batch: Batch, advance: Advance
    ) -> None:
        self.d, self.cases, self.batch, self.advance = spec.operands.d, cases, batch, advance
        self.results: dict[str, Raw] = {}
        self.gives: dict[tuple[str, str], bool] = {}

    def of(
        self, candidates: Sequence[Producer], sides: Sequence[str] = SIDES
    ) -> tuple[list[Producer], list[Producer]]:
        """Those that give the expected results and those that give the ones obtained, near kinds first.

        Of sides that are not asked for there are none.
        """
        found: dict[str, list[Producer]] = {name: [] for name in SIDES}
        for done, one in enumerate(candidates):
            self.advance(done, len(candidates))
            words = self.results[one.design.name] = _sifted(one.design, self.cases, self.batch)
            fitting = []
            for name in sides:
                values: list[MismatchValue] = [getattr(case, name) for case in self.cases]
                fits = all(v.is_given_by(self.d, words[i : i + 1])[0] for i, v in enumerate(values))
                self.gives[name, one.design.name] = fits
                if fits and (one.base is one.design or not self.gives.get((name, one.base.name), False)):
                    fitting.append(found[name])
            if fitting:
                _confirm(one.design, words, self.batch)
            for made in fitting:
                made.append(one)
        self.advance(len(candidates), len(candidates))
        expected, got = (sorted(made, key=lambda p: p.kind) for made in found.values())
        return expected, got

    def chance(self, candidates: Sequence[Producer], side: str) -> float | None:
        """`by_accident` of one side's results, as wrong ones of the other's."""
        other = "got" if side == "expected" else "expected"
        right, wrong = (
            np.array([getattr(case, x).raw for case in self.cases], np.uint64) for x in (other, side)
        )
        return by_accident(self.d, right, wrong, (self.results[p.design.name] for p in candidates))


def _sifted(design: UnitSpec, cases: Sequence[MismatchCase], batch: Batch) -> Raw:
    """What a design gives: of a few cases by the oracle, which builds no circuit."""
    if len(cases) > _FEW:
        return replay(design, batch)
    words = [oracle_result(design, padded_witness(design, case.witness)) for case in cases]
    return np.array(words, np.uint64)


def _confirm(design: UnitSpec, words: Raw, batch: Batch) -> None:
    """Replay a design on its circuit; SolverDisagreementError where that differs from the oracle."""
    circuit = replay(design, batch)
    if not np.array_equal(circuit, words):
        i = int(np.flatnonzero(circuit != words)[0])
        raise SolverDisagreementError(
            f"expected one result of {design.name} in case {i}, but got {int(words[i]):#x} of the oracle and "
            f"{int(circuit[i]):#x} of the circuit"
        )


def exact_sum(spec: UnitSpec, w: Witness) -> Fraction | None:
    """Σ a_k·b_k + c of one dot product, scales included; None where an operand is NaN or Inf."""
    o, scale, block = spec.operands, spec.scale_format, spec.scale_block or 1
    factors = [(o.a, w.a), (o.b, w.b)]
    if scale is not None:
        factors += [(scale, tuple(s[i // block] for i in range(len(w.a)))) for s in (w.scale_a, w.scale_b)]
    values = [[decode(fmt, word) for word in words] for fmt, words in factors]
    c = decode(o.c, w.c)
    if any(x.kind is not NumberClass.FINITE for x in (c, *chain.from_iterable(values))):
        return None
    products = (prod(x.number for x in row) for row in zip(*values, strict=True))
    return sum(products, start=c.number)


def _nearest(expected: Sequence[Producer], got: Sequence[Producer]) -> tuple[Producer, Producer] | None:
    """The pair of designs to report: near kinds, and variations of one unit rather than of two."""
    pairs = [(e, g) for e in expected for g in got if e.design is not g.design]
    if not pairs:
        return None
    return min(pairs, key=lambda p: (p[0].kind + p[1].kind, p[0].base is not p[1].base))


def _traces(
    pair: tuple[Producer, Producer], cases: Sequence[MismatchCase], results: dict[str, Raw]
) -> tuple[Trace, Trace] | None:
    """The traces of both designs on the first case that separates them."""
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
