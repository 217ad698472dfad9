"""A suite as it was made: inputs, results, and what is known of each pair; and its check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from tcformal.design.unit import UnitSpec
from tcformal.operands.witness import Witness
from tcformal.query.question import Kind
from tcformal.suites.panel import Panel
from tcformal.version import VERSION

IndexPair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Equal:
    """Two designs that no input tells apart, with who says so."""

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
    """Two designs that nobody told apart or proved equal."""

    first: int
    second: int
    verdict: Kind
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Inputs, and what every design of a space makes of them.

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
    #: Combinations without a meaning, and names of parameters that another name has already.
    refused: int = 0
    same: int = 0
    version: str = VERSION

    @property
    def classes(self) -> tuple[int, ...]:
        """For each design the first design that it is proved equal to, itself where there is none."""
        first = list(range(len(self.designs)))
        for e in self.equal:
            first[e.second] = first[e.first]
        return tuple(first)

    def separator(self, first: int, second: int) -> int | None:
        """The first input on which two designs differ; None where there is none."""
        return next((i for i, row in enumerate(self.results) if row[first] != row[second]), None)


def complaints(made: Suite) -> list[str]:
    """What is wrong with a suite, one sentence each: it is evaluated again, on integers and on the oracle."""
    panel = Panel(made.designs)
    found: list[str] = []
    if panel.k != made.k:
        return [f"expected k={panel.k} for these designs, but got {made.k}"]
    for i, (w, row) in enumerate(zip(made.inputs, made.results, strict=True)):
        for how, again in (("integers", panel.integers(w)), ("exact fractions", panel.oracle(w))):
            found += [
                f"expected {y:#x} from {spec.name} on input {i}, as on {how}, but got {x:#x}"
                for spec, x, y in zip(made.designs, row, again, strict=True)
                if x != y
            ]
    return found + list(_untold(made, panel))


def _untold(made: Suite, panel: Panel) -> Iterable[str]:
    """Pairs of a suite that its inputs leave together, and equal ones that are not."""
    classes, names = made.classes, [spec.name for spec in made.designs]
    open_ = {(u.first, u.second) for u in made.undecided}
    for i, j in combinations(range(len(names)), 2):
        separated = made.separator(i, j) is not None
        if classes[i] == classes[j] and separated:
            yield f"expected equal results of {names[i]} and {names[j]}, which count as equal, but got others"
        elif classes[i] != classes[j] and not separated and (classes[i], classes[j]) not in open_:
            yield f"expected an input that tells {names[i]} from {names[j]}, but there is none"
    for e in made.equal:
        if e.same_definition and not panel.same_definition(e.first, e.second):
            yield f"expected one definition of {names[e.first]} and {names[e.second]}, but they build two"
