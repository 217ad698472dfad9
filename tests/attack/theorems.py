"""Every theorem about a design as something that inputs can break: which inputs, and when it is broken."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from attack.built import attained, built
from attack.directed import drawn
from attack.errors import Ratios, ratios
from attack.integers import integers, sums_of_integers
from attack.pairs import (
    Call,
    Words,
    halves,
    identical,
    larger_c,
    negated,
    opposite,
    ordered,
    reordered,
)
from attack.statements import ErrorStatement, scaled, stated
from tcformal.backends.vector import evaluate
from tcformal.design.axes import neighbours
from tcformal.design.catalog import distinct_designs, floating
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.query.assume import Assumptions, assume_of_unit, from_texts
from tcformal.query.claims.register import refused
from tcformal.query.claims.witnesses import close, exact_form, rounded_once
from tcformal.semantics.chain import common_k, declare_inputs
from tcformal.simulation.operands.batch import Batch, columns, rows_of, together
from tcformal.theory.claims import zero_idle
from tcformal.theory.equality import normal_form
from tcformal.theory.instances import Instance
from tcformal.theory.stated_sum import flushed_letters
from tcformal.theory.theorems import STATEMENTS, agreement_of, theorem_answer


class Theorem(Protocol):
    """An instance of a theorem."""

    @property
    def claim(self) -> str:
        """What is claimed, by its name."""

    @property
    def spec(self) -> UnitSpec:
        """The unit that it is about, with the products of its inputs."""

    @property
    def guided(self) -> bool:
        """Whether a ratio says how near inputs are to breaking it."""

    @property
    def drawn_as(self) -> object:
        """The same for theorems of one unit whose inputs are drawn alike."""

    def inputs(self, rng: np.random.Generator, n: int) -> Batch:
        """n dot products that are most likely to break it."""

    def allowed(self, x: Batch) -> Batch:
        """The same with what the theorem supposes of c."""

    def calls(self, x: Batch) -> list[Call]:
        """What has to be evaluated."""

    def judge(self, x: Batch, results: Sequence[Words]) -> Ratios:
        """Which inputs break it."""


@dataclass(frozen=True)
class ErrorTheorem:
    """Claims `error-bound` and `relative-error`, by the theorem of a name."""

    claim: str
    spec: UnitSpec
    name: str
    statement: ErrorStatement
    guided: bool = True

    @property
    def drawn_as(self) -> object:
        return self.spec.k, self._normal

    @property
    def _normal(self) -> bool:
        return "a" in self.statement.leading

    def inputs(self, rng: np.random.Generator, n: int) -> Batch:
        normal = self._normal
        parts = [
            built(rng, self.spec, n // 2, normal=normal),
            drawn(rng, self.spec, n - n // 2, normal=normal),
        ]
        if normal:
            parts.append(attained(self.spec))
        made = together(*parts)
        return rows_of(made, np.arange(len(made.c) - n, len(made.c)))

    def allowed(self, x: Batch) -> Batch:
        s = self.statement
        if s.zero_c:
            return replace(x, c=x.c & np.uint64(self.spec.c_format.sign_bit))
        more = 0 if s.c_bits is None else self.spec.c_format.fraction_bits - s.c_bits
        return x if more <= 0 else replace(x, c=x.c >> np.uint64(more) << np.uint64(more))

    def calls(self, x: Batch) -> list[Call]:
        return [(self.spec, x)]

    def judge(self, x: Batch, results: Sequence[Words]) -> Ratios:
        return ratios(self.spec, self.statement, x, results[0])

    def smaller(self, factor: Fraction) -> ErrorTheorem:
        """The same with a bound that is so many times as large."""
        return replace(self, statement=scaled(self.statement, factor))


@dataclass(frozen=True)
class IntegerTheorem:
    """Claim `integer-sums`."""

    claim: str
    spec: UnitSpec
    limit: Fraction
    #: Which of a and b, and of scales with them, may not be subnormal.
    normal: tuple[bool, bool]
    guided: bool = False

    @property
    def drawn_as(self) -> object:
        return self.claim

    def inputs(self, rng: np.random.Generator, n: int) -> Batch:
        return integers(rng, self.spec, n, self.limit)

    def allowed(self, x: Batch) -> Batch:
        return x

    def calls(self, x: Batch) -> list[Call]:
        return [(self.spec, x)]

    def judge(self, x: Batch, results: Sequence[Words]) -> Ratios:
        met, wrong = sums_of_integers(self.spec, self.limit, self.normal, x, results[0])
        return Ratios(np.where(wrong, np.inf, 0.0), met, wrong)

    def smaller(self, factor: Fraction) -> IntegerTheorem:
        """The same of sums that are that much larger: what a bound on errors is made smaller by."""
        return replace(self, limit=self.limit / factor)


@dataclass(frozen=True)
class SameTheorem:
    """Claims that two results are equal, or opposite, or in order."""

    claim: str
    spec: UnitSpec
    #: The calls that are compared, of some inputs.
    both: Callable[[np.random.Generator, Batch], list[Call]]
    #: Whether two results are as claimed.
    agree: Callable[[Format, Words, Words], NDArray[np.bool_]]
    draw: Callable[[np.random.Generator, int], Batch]
    met: Callable[[Batch], NDArray[np.bool_]]
    #: Whether inputs are drawn for what is assumed.
    assumed: bool = False
    guided: bool = False

    @property
    def drawn_as(self) -> object:
        return self.claim if self.assumed else self.spec.k

    def inputs(self, rng: np.random.Generator, n: int) -> Batch:
        return self.draw(rng, n)

    def allowed(self, x: Batch) -> Batch:
        return x

    def calls(self, x: Batch) -> list[Call]:
        return self.both(np.random.default_rng(len(x.c)), x)

    def judge(self, x: Batch, results: Sequence[Words]) -> Ratios:
        met = self.met(x)
        wrong = met & ~self.agree(self.spec.d_format, results[0], results[1])
        return Ratios(np.where(wrong, np.inf, 0.0), met, wrong)


# ------------------------------------------------------------------ what theorems say
def all_theorems(only: str = "", neighbours_of_one_in: int = 1) -> tuple[list[Theorem], list[str]]:
    """What theorems say of one unit of every distinct design, and the instances that nothing here reads.

    Designs that are equal to a unit's are sought, which takes longest, for one unit in so many.
    """
    made, left = list[Theorem](), list[str]()
    for i, unit in enumerate(distinct_designs(floating)):
        spec = resolve(unit)
        for claim in _CLAIMS:
            name = f"{claim} of {unit}"
            found = theorem_answer(spec, claim) if only in name else None
            if found is None or refused(claim, spec):  # a theorem may say more than the claim asks
                continue
            relative = theorem_answer(spec, "relative-error") if claim == "error-bound" else None
            if relative is not None and found.name == relative.name:
                continue
            some = list(theorems_of(found.instance, claim))
            made += some
            left += [] if some or found.name in _OF_TERMS else [f"{name}: {found.name}"]
        if i % neighbours_of_one_in == 0:
            made += [t for t in _equal(spec) if only in f"{t.claim} of {unit}"]
    made += [t for t in _agreeing() if only in f"{t.claim} of {t.spec.name}"]
    return sorted(made, key=lambda t: t.spec.name), left


#: Every claim about one unit, and under c = 0 those that say more there.
_CLAIMS = (*STATEMENTS, *(f"{name}; c=0x0" for name in ("relative-error", "exact-sum", "correctly-rounded")))
#: Theorems about terms inside a sum, which inputs alone do not give.
_OF_TERMS = ("framed_error", "round_down_error", "two_sides_error")


def theorems_of(x: Instance, claim: str) -> Iterator[Theorem]:
    """What an instance says of a unit's inputs and results."""
    spec, numbers = x.unit, x.numbers
    if (s := stated(x)) is not None:
        yield ErrorTheorem(claim, spec, x.theorem, s)
    elif claim == "integer-sums":
        flushed = bool(flushed_letters(spec.design))
        normal = flushed or x.theorem != "integers_any_order"
        yield IntegerTheorem(claim, spec, Fraction(2) ** int(numbers["exponent"]), (normal, normal))
    elif claim == "sign-magnitude":
        yield altered(claim, spec, accumulation="sign_magnitude")
    elif claim == "carry-bits":
        yield altered(claim, spec, carry_bits=int(numbers["carry_bits"]))
    elif claim == "zero-exponent":
        yield altered(claim, spec, zero_exponent=_highest_idle(spec))
    elif claim == "negation-symmetry":
        yield same(claim, spec, lambda rng, x: [(spec, x), (spec, negated(spec, x))], opposite)
    elif claim == "product-order":
        yield any_order(spec)
    elif claim == "zero-products":
        yield same(claim, spec, lambda rng, x: halves(spec, x), identical)
    elif claim == "monotonicity":
        yield same(claim, spec, lambda rng, x: larger_c(rng, spec, x), ordered)
    elif claim.startswith(("exact-sum", "correctly-rounded")):
        other = exact_form(spec) if claim.startswith("exact") else rounded_once(spec)
        what = from_texts(spec.operands.c, ["finite", *claim.split("; ")[1:]])
        yield same(claim, spec, lambda rng, x: [(spec, x), (other, x)], identical, what)


def any_order(spec: UnitSpec) -> SameTheorem:
    """Products in any order, each with its scales."""
    size = spec.scale_block or spec.k
    blocks = [(i, i + size - 1) for i in range(0, spec.k, size)]
    turned = spec.scale_block is not None
    return same(
        "product-order", spec,
        lambda rng, x: [(spec, x), (spec, reordered(rng, x, blocks, turned))], identical,
    )  # fmt: skip


def _highest_idle(spec: UnitSpec) -> int:
    """The highest exponent of zeros of which the theorem speaks; a lower one where it is the unit's own."""
    d = spec.design
    assert isinstance(d.zero_exponent, int)
    e = d.zero_exponent
    while zero_idle(replace(spec, design=replace(d, zero_exponent=e + 1))):
        e += 1
    return e if e > d.zero_exponent else e - _LOWER


#: By how much another exponent of zeros is lower.
_LOWER = 9


def _equal(spec: UnitSpec) -> Iterator[SameTheorem]:
    """Neighbours of a design that have its normal form, by theorems on the parameters that differ."""
    form = _form(spec)
    for other in neighbours(spec):
        if form is not None and other.k == spec.k and _form(other) == form:
            yield equal_units(f"equal; {other.name}", spec, other, (), None)


def _form(spec: UnitSpec) -> str | None:
    """The normal form; None where the specification has no words for a design."""
    with suppress(InputError):
        return normal_form(spec)[0]
    return None


def _agreeing() -> Iterator[SameTheorem]:
    """Units of the same formats within the spread of exponents that the theorem on regions says."""
    alike: dict[object, list[UnitSpec]] = defaultdict(list)
    for name in distinct_designs(floating):
        spec = resolve(name)
        alike[spec.operands, spec.scale_format, spec.scale_block].append(spec)
    for units in alike.values():
        for first, second in pairwise(units):
            for more in ((), ("c=0x0",)):
                claim = agreement_of(second.name, ["finite", *more])
                if (found := theorem_answer(first, claim)) is not None:
                    spread = int(found.instance.numbers["spread"])
                    yield equal_units(claim, first, second, ("finite", *more), spread)


def same(
    claim: str, spec: UnitSpec, both: Callable[[np.random.Generator, Batch], list[Call]],
    agree: Callable[[Format, Words, Words], NDArray[np.bool_]], what: Assumptions | None = None,
    k: int | None = None,
) -> SameTheorem:  # fmt: skip
    """A theorem about two calls, under assumptions."""
    what = what or Assumptions()
    own = spec if k is None else replace(spec, k=k)

    def draw(rng: np.random.Generator, n: int) -> Batch:
        x = drawn(rng, own, n)
        if what.spread is not None:
            x = close(own, own.k, n, int(rng.integers(1 << 31)), what.spread, what.exponents)
        elif what.exponents is not None:
            x = close(own, own.k, n, int(rng.integers(1 << 31)), 40, what.exponents)
        return x if what.c is None else replace(x, c=np.full_like(x.c, what.c))

    def met(x: Batch) -> NDArray[np.bool_]:
        if not what:
            return np.ones(len(x.c), np.bool_)
        g = Graph()
        node = assume_of_unit(g, what, own, declare_inputs(g, own, own.k))
        return np.asarray(evaluate(g, node, columns(x), n=len(x.c)) == 1)

    return SameTheorem(claim, own, both, agree, draw, met, assumed=bool(what))


def altered(claim: str, spec: UnitSpec, **changes: Any) -> SameTheorem:
    """A unit and the same with another parameter."""
    other = replace(spec, name=f"{spec.name} altered", design=replace(spec.design, **changes))
    plain = (
        spec if "carry_bits" not in changes else replace(spec, design=replace(spec.design, carry_bits=None))
    )
    return same(claim, spec, lambda rng, x: [(plain, x), (other, x)], identical)


def equal_units(
    claim: str, first: UnitSpec, second: UnitSpec, assumed: tuple[str, ...], spread: int | None
) -> SameTheorem:
    """Two units that give the same bits under assumptions."""
    what = from_texts(first.operands.c, assumed)
    what = what if spread is None else replace(what, spread=spread)
    k = common_k(first, second)
    return same(claim, first, lambda rng, x: [(first, x), (second, x)], identical, what, k)
