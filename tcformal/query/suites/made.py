"""A suite as data: inputs, results and the status of each pair of designs; its JSON and its audit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import combinations, pairwise
from operator import or_
from typing import Any

import numpy as np

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import RecordError, TcformalError
from tcformal.oracle.values import value_data
from tcformal.query.engine import answer
from tcformal.query.options import SolveOptions
from tcformal.query.question import Kind
from tcformal.query.suites.cover import cover, covered_only_by
from tcformal.query.suites.panel import Panel
from tcformal.semantics.chain import scale_count
from tcformal.shown import JsonObject, Shown
from tcformal.simulation.operands.batch import witness_at
from tcformal.simulation.operands.inputs import inputs_to_try, pool_of
from tcformal.simulation.operands.witness import Witness, read_value, read_witness, witness_data
from tcformal.theory.equality import equal_by_theorem
from tcformal.version import VERSION

#: Designs of which every pair is listed; of more, those that nobody was asked about are listed once each.
LISTED = 256

IndexPair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Equal:
    """Two equal designs, with the proof's source."""

    first: int
    second: int
    reason: str
    #: Where both build the same definition, no solver was asked.
    same_definition: bool
    confirmed_by: tuple[str, ...] = ()
    #: The certificate's facts, where a proof was checked.
    certificate: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Undecided:
    """Two designs that are neither distinguished nor proved equal."""

    first: int
    second: int
    verdict: Kind
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite(Shown):
    """A set of inputs, with the results of every design of a space.

    Shapes: `results` has a row for each input and in it a raw encoding of D for each design.
    Each input is needed: without it some pair would not be told apart.

    Examples:
        >>> found = tcformal.suite("valpey@terms=3", vary=["carry_bits=1..3"], vectors=256)
        >>> found.separator(0, 1), found.separator(1, 2), found.classes
        (0, None, (0, 1, 1))
    """

    designs: tuple[UnitSpec, ...]
    k: int
    inputs: tuple[Witness, ...]
    results: tuple[tuple[int, ...], ...]
    #: Each names a design and the first of its class.
    equal: tuple[Equal, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    #: No suite of the inputs that were tried has fewer than this.
    at_least: int
    tried: int
    #: Questions that solvers were asked.
    asked: int
    seed: int
    seconds: float
    #: Results that were computed on integers and on exact fractions, too; all, unless there are many designs.
    replayed: int
    #: Combinations without a meaning, and names of parameters that another name has already.
    refused: int = 0
    same: int = 0
    version: str = VERSION

    def _summary(self) -> str:
        left = f", {len(self.undecided)} undecided" if self.undecided else ""
        kinds = f"{len(set(self.classes))} classes of {len(self.designs)} designs"
        return f"Suite of {len(self.inputs)} inputs for {kinds}{left}, k={self.k}"

    @property
    def classes(self) -> tuple[int, ...]:
        """The class representative of each design: the first design that it is proved equal to."""
        first = list(range(len(self.designs)))
        for e in self.equal:
            first[e.second] = first[e.first]
        return tuple(first)

    def separator(self, first: int, second: int) -> int | None:
        """The first input on which two designs differ; None without one."""
        return next((i for i, row in enumerate(self.results) if row[first] != row[second]), None)


def complaints(made: Suite) -> list[str]:
    """The errors in a suite as sentences, after a new evaluation on integers and on the oracle."""
    panel = Panel(made.designs)
    errors: list[str] = []
    if panel.k != made.k:
        return [f"expected k={panel.k} for these designs, but got {made.k}"]
    for i, (w, row) in enumerate(zip(made.inputs, made.results, strict=True)):
        for how, again in (("integers", panel.integers(w)), ("exact fractions", panel.oracle(w))):
            errors += [
                f"expected {y:#x} from {spec.name} on input {i}, as on {how}, but got {x:#x}"
                for spec, x, y in zip(made.designs, row, again, strict=True)
                if x != y
            ]
    return errors + list(_wrong_classes(made, panel))


def _wrong_classes(made: Suite, panel: Panel) -> Iterable[str]:
    """Sentences on designs that a suite wrongly leaves together or calls equal."""
    classes, names = made.classes, [spec.name for spec in made.designs]
    for j, first in enumerate(classes):
        if made.separator(first, j) is not None:
            pair = f"{names[first]} and {names[j]}"
            yield f"expected equal results of {pair}, which count as equal, but got others"
    open_ = _linked(made)
    for group in together(made):
        for i, j in pairwise(group):
            if open_[i] != open_[j]:
                yield f"expected an input that tells {names[i]} from {names[j]}, but there is none"
    for e in made.equal:
        if e.same_definition and not panel.same_definition(e.first, e.second):
            yield f"expected one definition of {names[e.first]} and {names[e.second]}, but they build two"


def fewest(made: Suite) -> int:
    """The size of a small subset of a suite's inputs that distinguishes as many designs as the suite."""
    masks, universe = _distinguished(made)
    return (
        min(len(masks), len(cover(masks, [1] * len(masks), universe).chosen)) if masks else len(made.inputs)
    )


def redundant(made: Suite) -> list[int]:
    """The redundant inputs of a suite."""
    masks, universe = _distinguished(made)
    return [i for i in range(len(masks)) if not covered_only_by(range(len(masks)), masks, universe, i)]


def _distinguished(made: Suite) -> tuple[list[int], int]:
    """The pairs of classes that each input distinguishes, as bit masks, and their union.

    None for more than LISTED designs, whose pairs are not listed.
    """
    if len(made.designs) > LISTED:
        return [], 0
    pairs = list(combinations(sorted(set(made.classes)), 2))
    masks = [sum(1 << n for n, (i, j) in enumerate(pairs) if row[i] != row[j]) for row in made.results]
    return masks, reduce(or_, masks, 0)


def together(made: Suite) -> list[list[int]]:
    """The class representatives, grouped by equal results on every input."""
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for i in sorted(set(made.classes)):
        groups[tuple(row[i] for row in made.results)].append(i)
    return list(groups.values())


def _linked(made: Suite) -> list[int]:
    """Union-find: the representative of each design's class, where undecided pairs join classes."""
    linked = list(range(len(made.designs)))

    def top(i: int) -> int:
        while linked[i] != i:
            i = linked[i]
        return i

    classes = made.classes
    for u in made.undecided:
        linked[top(classes[u.second])] = top(classes[u.first])
    return [top(i) for i in linked]


def to_json(s: Suite) -> JsonObject:
    """A suite as plain data; a small one lists the separating input of each pair."""
    o, scale = s.designs[0].operands, s.designs[0].scale_format
    names = [spec.name for spec in s.designs]
    return {
        "k": s.k,
        "formats": o.names(),
        "scale": None if scale is None else scale.name,
        "designs": names,
        "inputs": [
            {
                **witness_data(s.designs[0].input_formats(), w),
                "results": [value_data(o.d, x) for x in row],
            }
            for w, row in zip(s.inputs, s.results, strict=True)
        ],
        "separated": [
            {"first": i, "second": j, "input": found}
            for i, j in combinations(range(len(names) if len(names) <= LISTED else 0), 2)
            if (found := s.separator(i, j)) is not None
        ],
        "equal": [
            {
                "first": e.first, "second": e.second, "reason": e.reason,
                "same_definition": e.same_definition, "confirmed_by": list(e.confirmed_by),
                "certificate": e.certificate,
            }
            for e in s.equal
        ],
        "undecided": [
            {"first": u.first, "second": u.second, "verdict": u.verdict.name, "reason": u.reason}
            for u in s.undecided
        ],
        "at_least": s.at_least,
        "tried": s.tried,
        "asked": s.asked,
        "seed": s.seed,
        "seconds": round(s.seconds, 3),
        "refused": s.refused,
        "same_parameters": s.same,
        "replayed_on": ["integers", "fractions"],
        "replayed": s.replayed,
        "tcformal": s.version,
    }  # fmt: skip


def from_json(data: Mapping[str, Any]) -> Suite:
    """Read a suite from plain data, without checking it (see `suite.complaints`).

    Errors: RecordError for data of another shape, designs that no longer exist, and encodings that do
    not fit their values.
    """
    try:
        return _read(data)
    except RecordError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, TcformalError) as error:
        raise RecordError(
            f"expected a suite as `tcformal suite --json` prints it, but got {error}"
        ) from error


def _read(data: Mapping[str, Any]) -> Suite:
    designs = tuple(resolve(name) for name in data["designs"])
    formats, d = designs[0].input_formats(), designs[0].d_format
    count, k = len(designs), int(data["k"])
    scales = dict.fromkeys(("scale_a", "scale_b"), scale_count(designs[0], k))
    inputs, results = [], []
    for entry in data["inputs"]:
        inputs.append(read_witness(formats, dict.fromkeys(("a", "b"), k) | scales, entry))
        results.append(tuple(read_value(d, x) for x in entry["results"]))
        if len(results[-1]) != count:
            raise RecordError(f"expected {count} results, but got {len(results[-1])}")
    return Suite(
        designs=designs, k=k, inputs=tuple(inputs), results=tuple(results),
        equal=tuple(
            Equal(
                _index(e["first"], count), _index(e["second"], count), e["reason"], e["same_definition"],
                tuple(e["confirmed_by"]), e["certificate"],
            )
            for e in data["equal"]
        ),
        undecided=tuple(
            Undecided(_index(u["first"], count), _index(u["second"], count), Kind[u["verdict"]], u["reason"])
            for u in data["undecided"]
        ),
        at_least=data["at_least"], tried=data["tried"], asked=data["asked"], seed=data["seed"],
        seconds=data["seconds"], refused=data["refused"], same=data["same_parameters"],
        version=data["tcformal"], replayed=data.get("replayed", count * len(inputs)),
    )  # fmt: skip


def _index(i: int, count: int) -> int:
    if not 0 <= i < count:
        raise RecordError(f"expected the number of a design below {count}, but got {i}")
    return i


#: Inputs on which equal designs are compared before anything is proved; of larger spaces fewer.
_VECTORS, _VECTORS_OF_MANY = 6144, 768


@dataclass(slots=True)
class Examined:
    """The audit of a suite: sentences on wrong statements and on unproved ones."""

    wrong: list[str] = field(default_factory=list)
    unproved: list[str] = field(default_factory=list)


def examined(made: Suite, how: SolveOptions) -> Examined:
    """Audit a suite: its results, its inputs' necessity, the lower bound, and its equal designs.

    Nothing that the suite says of a proof is believed: designs that it calls equal build one definition, or
    are compared on vectors and then proved equal again, with a checked certificate.
    Errors: UnknownNameError or MissingSolverError for solvers that cannot be asked.
    """
    found = Examined(complaints(made))
    if found.wrong:
        return found
    found.wrong += [f"expected inputs that are all needed, but input {i} is not" for i in redundant(made)]
    few = fewest(made)
    if not min(1, few) <= made.at_least <= few:
        found.wrong.append(
            f"expected at most {few} as the least number of inputs, and 1 where any is needed, but got "
            f"{made.at_least}"
        )
    panel = Panel(made.designs)
    apart = _on_vectors(made, panel)
    found.wrong += apart.values()
    for e in made.equal:
        if e.second not in apart and not panel.same_definition(e.first, e.second):
            _prove(found, panel, e, replace(how, certify=True))
    return found


def _on_vectors(made: Suite, panel: Panel) -> dict[int, str]:
    """A sentence for each design that a vector distinguishes from its alleged equal."""
    if not made.equal:
        return {}
    many = len(made.designs) > LISTED
    drawn = pool_of if many else inputs_to_try
    x = drawn(made.designs[0], made.k, _VECTORS_OF_MANY if many else _VECTORS, made.seed)
    asked = sorted({i for e in made.equal for i in (e.first, e.second)})
    results = dict(zip(asked, panel.evaluate(x, asked), strict=True))
    apart = {}
    for e in made.equal:
        rows = np.flatnonzero(results[e.first] != results[e.second])
        if rows.size:
            apart[e.second] = (
                f"expected equal results of {_names(panel, e)}, but they differ on "
                f"{witness_at(x, int(rows[0]))}"
            )
    return apart


def _prove(found: Examined, panel: Panel, e: Equal, how: SolveOptions) -> None:
    """Prove two designs equal by theorems, at few products, or at full length; record a failure."""
    pair = e.first, e.second
    first, second = (panel.designs[i] for i in pair)
    if equal_by_theorem(first, second, panel.k) is not None:
        return
    if panel.step(pair) < panel.k and answer(panel.short_question(pair), how).kind is Kind.EQUIVALENT:
        return
    v = answer(panel.question([pair]), how)
    if v.kind is Kind.SEPARATED:
        found.wrong.append(f"expected equal results of {_names(panel, e)}, but they differ on {v.witness}")
    elif v.kind is not Kind.EQUIVALENT:
        found.unproved.append(f"{_names(panel, e)} are not proved equal: {v.kind.name}, {v.reason}")


def _names(panel: Panel, e: Equal) -> str:
    return f"{panel.designs[e.first].name} and {panel.designs[e.second].name}"
