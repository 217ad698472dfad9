"""A suite: inputs, results, and the status of each pair of designs, with its check."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, pairwise
from operator import or_
from typing import Any

from tcformal.design.unit import UnitSpec
from tcformal.query.question import Kind
from tcformal.query.suites.cover import cover, covered_only_by
from tcformal.query.suites.panel import Panel
from tcformal.simulation.operands.witness import Witness
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
    certificate: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Undecided:
    """Two designs that are neither distinguished nor proved equal."""

    first: int
    second: int
    verdict: Kind
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A set of inputs, with the results of every design of a space.

    Shapes: `results` has a row for each input and in it a raw encoding of D for each design.
    Each input is needed: without it some pair would not be told apart.
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
