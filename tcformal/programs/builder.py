"""The compile-time values of a program: step values, exact sums, and the builder that collects steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from tcformal.design.steps import ConstantStep, JoinStep, PlanStep, ScaledProduct, SliceStep, format_of
from tcformal.encodings.spec import Format
from tcformal.errors import InputError


@dataclass(frozen=True, slots=True)
class StepValue:
    """The value of a step: a scalar (length None) or a vector of one format."""

    index: int
    fmt: Format
    length: int | None


@dataclass(frozen=True, slots=True)
class Power:
    """A symbolic exponent: a constant plus and minus the exponents of steps."""

    shift: int
    exponents: tuple[tuple[int, int], ...] = ()

    def __neg__(self) -> Power:
        return Power(-self.shift, tuple((i, -sign) for i, sign in self.exponents))

    def __add__(self, other: int | Power) -> Power:
        if isinstance(other, int):
            return Power(self.shift + other, self.exponents)
        return Power(self.shift + other.shift, self.exponents + other.exponents)

    def __radd__(self, other: int) -> Power:
        return self + other

    def __sub__(self, other: int | Power) -> Power:
        return self + -other

    def __rsub__(self, other: int) -> Power:
        return -self + other


@dataclass(frozen=True, slots=True)
class Exact:
    """An unrounded sum of exact products."""

    addends: tuple[ScaledProduct, ...]
    length: int | None

    def negated(self) -> Exact:
        """The negated sum."""
        return Exact(tuple(replace(x, negative=not x.negative) for x in self.addends), self.length)

    def shifted(self, by: int, exponents: tuple[tuple[int, int], ...] = ()) -> Exact:
        """The sum times 2^by and times the powers of two that steps give."""
        return Exact(
            tuple(replace(x, shift=x.shift + by, exponents=x.exponents + exponents) for x in self.addends),
            self.length,
        )

    def times(self, other: Exact) -> Exact:
        """The product of two single-term sums."""
        if len(self.addends) != 1 or len(other.addends) != 1:
            raise InputError("expected single values to multiply, but got a sum that is not rounded")
        x, y = self.addends[0], other.addends[0]
        if len(x.factors) + len(y.factors) > 2:
            raise InputError("expected at most two factors in a product that is not rounded")
        if None not in (self.length, other.length) and self.length != other.length:
            raise InputError(f"expected vectors of one length, but got {self.length} and {other.length}")
        product = ScaledProduct(
            x.factors + y.factors, x.negative != y.negative, x.shift + y.shift, x.exponents + y.exponents
        )
        return Exact((product,), other.length if self.length is None else self.length)


class Builder:
    """The steps of one program under construction; equal steps are shared."""

    def __init__(self) -> None:
        self.steps: list[PlanStep] = []
        self._numbers: dict[PlanStep, int] = {}
        self._names: dict[str, int] = {}
        self._rounds: list[int] = []
        self._target = ""

    @contextmanager
    def naming(self, target: str) -> Iterator[None]:
        """A context that names new steps after the target variable."""
        before, self._target = self._target, target
        try:
            yield
        finally:
            self._target = before

    @contextmanager
    def round(self, number: int) -> Iterator[None]:
        """A context that names new steps after the iteration of their loop."""
        self._rounds.append(number)
        try:
            yield
        finally:
            self._rounds.pop()

    def number_of(self, step: PlanStep) -> int:
        """The index of a step, new or shared."""
        number = self._numbers.setdefault(step, len(self.steps))
        if number == len(self.steps):
            named = step.name if isinstance(step, ConstantStep) else self._target or step.name
            self.steps.append(replace(step, name=self._unused(named)))
        return number

    def _unused(self, stem: str) -> str:
        stem = "".join(f"{i}." for i in self._rounds) + stem
        count = self._names[stem] = self._names.get(stem, 0) + 1
        return stem if count == 1 else f"{stem}#{count}"

    def rename(self, value: StepValue, name: str) -> None:
        """Rename a step that was created for several variables."""
        step = self.steps[value.index]
        if "+" in self._target and step.name.partition("#")[0].endswith(self._target):
            self.steps[value.index] = replace(step, name=self._unused(name))

    def add(self, step: PlanStep) -> StepValue:
        """Add a step, and return its value."""
        return StepValue(self.number_of(step), format_of(step), step.length)

    def exact(self, x: StepValue | Exact) -> Exact:
        """A value as an exact sum of one term."""
        return x if isinstance(x, Exact) else Exact((ScaledProduct((x.index,)),), x.length)

    def element(self, vector: StepValue, i: int) -> StepValue:
        """Element i of a vector."""
        step = self.steps[vector.index]
        if isinstance(step, JoinStep):
            return StepValue(step.items[i], vector.fmt, None)
        return self.add(
            SliceStep(fmt=vector.fmt, length=None, name="element", source=vector.index, start=i)
        )  # fmt: skip

    def slice(self, vector: StepValue, start: int, length: int) -> StepValue:
        """Consecutive elements of a vector, padded with +0; the vector itself if that is all of it."""
        if start == 0 and length == vector.length:
            return vector
        return self.add(
            SliceStep(fmt=vector.fmt, length=length, name="block", source=vector.index, start=start)
        )  # fmt: skip

    def join(self, items: list[StepValue]) -> StepValue:
        """A vector of scalars of one format."""
        formats = {x.fmt for x in items}
        if len(formats) > 1:
            names = ", ".join(sorted(f.name for f in formats))
            raise InputError(f"expected values of one format in a list, but got {names}")
        numbers = tuple(x.index for x in items)
        return self.add(JoinStep(fmt=items[0].fmt, length=len(items), name="list", items=numbers))
