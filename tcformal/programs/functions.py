"""The built-in functions and loops of the program language, and the builder that collects their steps."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tcformal.checks import check_choice, check_int
from tcformal.design import steps
from tcformal.design.names import resolve
from tcformal.design.rounding import MODES, random_word
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.oracle.values import decode, encode_exact, exponent_of
from tcformal.semantics.chain import scale_count


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

    addends: tuple[steps.ScaledProduct, ...]
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
        product = steps.ScaledProduct(
            x.factors + y.factors, x.negative != y.negative, x.shift + y.shift, x.exponents + y.exponents
        )
        return Exact((product,), other.length if self.length is None else self.length)


class Builder:
    """The steps of one program under construction; equal steps are shared."""

    def __init__(self) -> None:
        self.steps: list[steps.PlanStep] = []
        self._numbers: dict[steps.PlanStep, int] = {}
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

    def number_of(self, step: steps.PlanStep) -> int:
        """The index of a step, new or shared."""
        number = self._numbers.setdefault(step, len(self.steps))
        if number == len(self.steps):
            named = step.name if isinstance(step, steps.ConstantStep) else self._target or step.name
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

    def add(self, step: steps.PlanStep) -> StepValue:
        """Add a step, and return its value."""
        return StepValue(self.number_of(step), steps.format_of(step), step.length)

    def exact(self, x: StepValue | Exact) -> Exact:
        """A value as an exact sum of one term."""
        return x if isinstance(x, Exact) else Exact((steps.ScaledProduct((x.index,)),), x.length)

    def element(self, vector: StepValue, i: int) -> StepValue:
        """Element i of a vector."""
        step = self.steps[vector.index]
        if isinstance(step, steps.JoinStep):
            return StepValue(step.items[i], vector.fmt, None)
        return self._taken(vector, "element", i, None)

    def slice(self, vector: StepValue, start: int, length: int) -> StepValue:
        """Consecutive elements of a vector, padded with +0; the vector itself if that is all of it."""
        if start == 0 and length == vector.length:
            return vector
        return self._taken(vector, "block", start, length)

    def _taken(self, vector: StepValue, name: str, start: int, length: int | None) -> StepValue:
        step = steps.SliceStep(fmt=vector.fmt, length=length, name=name, source=vector.index, start=start)
        return self.add(step)

    def join(self, items: list[StepValue]) -> StepValue:
        """A vector of scalars of one format."""
        formats = {x.fmt for x in items}
        if len(formats) > 1:
            names = ", ".join(sorted(f.name for f in formats))
            raise InputError(f"expected values of one format in a list, but got {names}")
        numbers = tuple(x.index for x in items)
        return self.add(steps.JoinStep(fmt=items[0].fmt, length=len(items), name="list", items=numbers))


#: Words of one split.
_MOST_WORDS = 16


def _format(x: Any) -> Format:
    if not isinstance(x, str):
        raise InputError(f"expected a format, but got {x!r}")
    return format_named(x)


def _rounding(x: Any) -> str:
    if isinstance(x, str) and (random := random_word(x)) is not None:
        if random[1] is None:
            raise InputError(f"expected the word that is added, as in {x}+0, but got {x}")
        return x
    return check_choice("rounding", x, MODES)


def vector_of(x: Any, what: str) -> StepValue:
    """A vector argument for `what`; InputError for anything else."""
    if isinstance(x, Exact):
        raise InputError(f"expected a rounded vector for {what}, but got one that is only scaled")
    if not isinstance(x, StepValue) or x.length is None:
        raise InputError(f"expected a vector for {what}, but got {_said(x)}")
    return x


def _said(x: Any) -> str:
    if isinstance(x, str):
        return f"{x!r}, which nothing before it assigns"
    return "a scalar" if isinstance(x, StepValue) else repr(x)[:80]


def _operand(builder: Builder, x: Any, fmt: Format) -> StepValue | Exact:
    """An argument as a step's value; a compile-time number becomes a constant of the format."""
    if isinstance(x, (StepValue, Exact)):
        return x
    if isinstance(x, (int, Fraction)) and not isinstance(x, bool):
        word = encode_exact(fmt, Fraction(x))
        return builder.add(steps.ConstantStep(fmt=fmt, length=None, name="constant", word=word))
    raise InputError(f"expected a value, but got {_said(x)}")


def _sum(builder: Builder, terms: list[Exact], fmt: Format, mode: str, saturate: bool = False) -> StepValue:
    """The exact sum of exact numbers with one rounding, element by element."""
    steps.conversion_into(mode, fmt)
    lengths = {x.length for x in terms if x.length is not None}
    if len(lengths) > 1:
        raise InputError(f"expected vectors of one length, but got lengths {sorted(lengths)}")
    addends = tuple(a for x in terms for a in x.addends)
    step = steps.RoundStep(
        fmt=fmt, length=lengths.pop() if lengths else None, name="value", addends=addends, mode=mode,
        saturate=bool(saturate),
    )  # fmt: skip
    return builder.add(step)


def convert(builder: Builder, x: Any, fmt: Any, rounding: Any = "RNE", saturate: Any = False) -> StepValue:
    """convert(x, FORMAT, ROUNDING): x rounded to a format."""
    target = _format(fmt)
    return _sum(builder, [builder.exact(_operand(builder, x, target))], target, _rounding(rounding), saturate)


def add(builder: Builder, x: Any, y: Any, fmt: Any, rounding: Any = "RNE") -> StepValue:
    """add(x, y, FORMAT, ROUNDING): x + y, rounded once."""
    target = _format(fmt)
    terms = [builder.exact(_operand(builder, v, target)) for v in (x, y)]
    return _sum(builder, terms, target, _rounding(rounding))


def sub(builder: Builder, x: Any, y: Any, fmt: Any, rounding: Any = "RNE") -> StepValue:
    """sub(x, y, FORMAT, ROUNDING): x - y, rounded once."""
    target = _format(fmt)
    first, second = (builder.exact(_operand(builder, v, target)) for v in (x, y))
    return _sum(builder, [first, second.negated()], target, _rounding(rounding))


def mul(
    builder: Builder, x: Any, y: Any, fmt: Any, rounding: Any = "RNE", saturate: Any = False
) -> StepValue:
    """mul(x, y, FORMAT, ROUNDING): x · y, rounded once."""
    target = _format(fmt)
    return _sum(builder, [_product(builder, x, y, target)], target, _rounding(rounding), saturate)


def div(builder: Builder, x: Any, y: Any, fmt: Any, rounding: Any = "RNE") -> StepValue:
    """div(x, y, FORMAT, ROUNDING): x / y, rounded once."""
    target, mode = _format(fmt), _rounding(rounding)
    steps.conversion_into(mode, target)
    first, second = (_operand(builder, v, target) for v in (x, y))
    if isinstance(first, Exact) or isinstance(second, Exact):
        raise InputError("expected rounded values to divide, but got one that is only scaled")
    lengths = {v.length for v in (first, second) if v.length is not None}
    if len(lengths) > 1:
        raise InputError(f"expected vectors of one length, but got lengths {sorted(lengths)}")
    step = steps.QuotientStep(
        fmt=target, length=lengths.pop() if lengths else None, name="quotient", dividend=first.index,
        divisor=second.index, mode=mode,
    )  # fmt: skip
    return builder.add(step)


def fma(builder: Builder, x: Any, y: Any, z: Any, fmt: Any, rounding: Any = "RNE") -> StepValue:
    """fma(x, y, z, FORMAT, ROUNDING): x · y + z, rounded once."""
    target = _format(fmt)
    last = builder.exact(_operand(builder, z, target))
    return _sum(builder, [_product(builder, x, y, target), last], target, _rounding(rounding))


def _product(builder: Builder, x: Any, y: Any, fmt: Format) -> Exact:
    return builder.exact(_operand(builder, x, fmt)).times(builder.exact(_operand(builder, y, fmt)))


def scale(builder: Builder, x: Any, by: Any) -> Exact:
    """scale(x, e): x · 2^e exactly, to be an operand of convert, add, sub, mul, fma or split."""
    if not isinstance(x, (StepValue, Exact)):
        raise InputError(f"expected a value to scale, but got {_said(x)}")
    if isinstance(by, Power):
        return builder.exact(x).shifted(by.shift, by.exponents)
    return builder.exact(x).shifted(check_int("the exponent of scale", by, low=-40000, high=40000))


def split(
    builder: Builder,
    x: Any,
    fmt: Any,
    words: Any = 2,
    scale: Any = 0,
    rounding: Any = "RNE",
    saturate: Any = False,
) -> list[StepValue]:
    """split(x, FORMAT, words=2, scale=0, rounding=RNE): x as a sum of words, each rounded from the remainder.

    Word i is (x - the words before)·2^(i·scale), exactly, rounded once: it stands for word · 2^(-i·scale).
    """
    target, mode = _format(fmt), _rounding(rounding)
    count, step = check_int("words", words, low=1, high=_MOST_WORDS), check_int("scale", scale)
    whole = builder.exact(_operand(builder, x, target))
    parts: list[StepValue] = []
    for i in range(count):
        rest = [whole.shifted(i * step)]
        rest += [builder.exact(w).negated().shifted((i - j) * step) for j, w in enumerate(parts)]
        parts.append(_sum(builder, rest, target, mode, saturate))
    return parts


def call(
    builder: Builder, unit: Any, x: Any, y: Any, c: Any = 0, scale_x: Any = None, scale_y: Any = None
) -> StepValue:
    """call(UNIT, x, y, c, SX, SY): the unit's dot product of two vectors and c, chained over K from c.

    SX, SY: the scales of x and of y for a unit with block scales, one per block; ones unless given.
    """
    spec = unit if isinstance(unit, UnitSpec) else resolve(unit)
    o = spec.operands
    a, b = vector_of(x, "a of a call"), vector_of(y, "b of a call")
    last = _operand(builder, c, o.c)
    if isinstance(last, Exact) or last.length is not None:
        raise InputError("expected a rounded scalar for c of a call")
    for name, got, wanted in (("a", a.fmt, o.a), ("b", b.fmt, o.b), ("c", last.fmt, o.c)):
        # A unit reads words of fp32 as tf32 and leaves out the low bits.
        same_word = got.exponent_bits == wanted.exponent_bits and got.width == wanted.width
        if got != wanted and not (same_word and wanted.ignored_low_bits):
            raise InputError(f"expected {name} in {wanted} for {spec.name}, but got {got}")
    if a.length != b.length:
        raise InputError(f"expected two vectors of one length for a call, but got {a.length} and {b.length}")
    if a.length is not None and a.length > spec.k and o.c != o.d:
        raise InputError(f"expected at most {spec.k} products for {spec.name}, whose D is no C again")
    products = a.length or 1
    step = steps.CallStep(
        fmt=o.d, length=None, name="call", unit=spec, a=a.index, b=b.index, c=last.index, products=products,
        scales=tuple(v.index for v in _block_scales(builder, spec, products, scale_x, scale_y)),
    )  # fmt: skip
    return builder.add(step)


def _block_scales(builder: Builder, spec: UnitSpec, products: int, *scales: Any) -> list[StepValue]:
    """The scales of both vectors of a call; none for a unit without block scales."""
    fmt, count = spec.scale_format, scale_count(spec, products)
    if fmt is None:
        if any(s is not None for s in scales):
            raise InputError(f"expected a unit with block scales beside scales, but got {spec.name}")
        return []
    one = builder.add(steps.ConstantStep(fmt=fmt, length=None, name="one", word=fmt.one))
    held = []
    for s in scales:
        v = builder.join([one] * count) if s is None else s
        if not isinstance(v, StepValue) or v.fmt != fmt or (v.length or 1) != count:
            got = f"{v.length or 1} in {v.fmt}" if isinstance(v, StepValue) else _said(v)
            raise InputError(f"expected {count} scales in {fmt} for {spec.name}, but got {got}")
        held.append(v)
    return held


def headroom(builder: Builder, x: Any, limit: Any) -> Power:
    """headroom(x, LIMIT): the largest integer e with 2^e·|x_k| <= LIMIT for every element."""
    vector = vector_of(x, "headroom")
    if isinstance(limit, bool) or not isinstance(limit, (int, Fraction)) or limit <= 0:
        raise InputError(f"expected a number above zero for the limit of headroom, but got {limit!r}")
    step = steps.HeadroomStep(
        fmt=None, length=None, name="headroom", source=vector.index, limit=Fraction(limit)
    )  # fmt: skip
    return Power(0, ((builder.number_of(step), 1),))


def magnitude(builder: Builder, x: Any, least: Any = 0) -> StepValue:
    """magnitude(x, LEAST): the largest |x_k| of a vector, and LEAST where all are smaller."""
    vector = vector_of(x, "magnitude")
    if isinstance(least, bool) or not isinstance(least, (int, Fraction)) or least < 0:
        raise InputError(f"expected a number of at least zero for magnitude, but got {least!r}")
    word = encode_exact(vector.fmt, Fraction(least))
    step = steps.MagnitudeStep(fmt=vector.fmt, length=None, name="magnitude", source=vector.index, least=word)
    return builder.add(step)


def length(builder: Builder, x: Any) -> int:
    """len(x): the number of elements of a vector."""
    return vector_of(x, "len").length or 0


def largest(builder: Builder, fmt: Any) -> Fraction:
    """largest(FORMAT): the largest finite number of a format."""
    f = _format(fmt)
    return decode(f, f.largest).magnitude


def exponent(builder: Builder, x: Any) -> int:
    """exponent(x): the largest e with 2^e <= x, of a compile-time number."""
    if isinstance(x, bool) or not isinstance(x, (int, Fraction)) or x <= 0:
        raise InputError(f"expected a number above zero for exponent, but got {_said(x)}")
    return exponent_of(Fraction(x))


def root(builder: Builder, x: Any) -> Fraction:
    """root(x): the square root of a compile-time number, truncated to 80 bits below its leading one."""
    if isinstance(x, bool) or not isinstance(x, (int, Fraction)) or x <= 0:
        raise InputError(f"expected a number above zero for root, but got {x!r}")
    number = Fraction(x)
    e = (number.numerator.bit_length() - number.denominator.bit_length()) // 2 - 80
    return Fraction(math.isqrt(int(number * Fraction(4) ** -e))) * Fraction(2) ** e


def least(builder: Builder, *numbers: Any) -> Fraction:
    """min(x, y, …): the least of some compile-time numbers."""
    for x in numbers:
        if isinstance(x, bool) or not isinstance(x, (int, Fraction)):
            raise InputError(f"expected numbers that are known before the program runs, but got {_said(x)}")
    return min(Fraction(x) for x in numbers)


def rounded(builder: Builder, op: type[ast.operator], x: Any, y: Any) -> StepValue:
    """x + y, x - y, x · y or x / y to nearest in the wider format of the two.

    Errors: InputError where neither format holds the other, or another operator.
    """
    formats = [v.fmt for v in (x, y) if isinstance(v, StepValue)]
    if not formats:
        raise InputError("expected add, sub or mul with a format for numbers that are scaled only")
    wide = next((f for f in formats if all(holds(f, other) for other in formats)), None)
    if wide is None:
        names = " and ".join(f.name for f in formats)
        raise InputError(f"expected operands of which one format holds the other, but got {names}")
    if op is ast.Mult:
        power = next((v for v in (x, y) if isinstance(v, (int, Fraction))), None)
        if power is not None and (shift := _exponent(power)) is not None:
            value = y if power is x else x
            return _sum(builder, [builder.exact(value).shifted(shift)], wide, "RNE")
    how = {ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Div: div}.get(op)
    if how is None:
        raise InputError("expected + - * or / of values")
    result: StepValue = how(builder, x, y, wide.name)
    return result


def _exponent(x: int | Fraction) -> int | None:
    """The e with x = 2^e; None if x is no power of two."""
    up, down = Fraction(x).numerator, Fraction(x).denominator
    if up <= 0 or up & (up - 1) or down & (down - 1):
        return None
    return up.bit_length() - down.bit_length()


def holds(wide: Format, narrow: Format) -> bool:
    """Whether one format contains every finite number of the other."""
    return (
        wide.fraction_bits >= narrow.fraction_bits
        and wide.e_max >= narrow.e_max
        and wide.e_min - wide.fraction_bits <= narrow.e_min - narrow.fraction_bits
    )


def blocks(builder: Builder, size: Any, *vectors: Any) -> list[Any]:
    """blocks(SIZE, x, y, …): consecutive runs of SIZE elements, the last one padded with +0."""

    def runs(v: StepValue, n: int) -> list[StepValue]:
        step = check_int("the size of blocks", size, low=1)
        return [builder.slice(v, start, step) for start in range(0, n, step)]

    return _looped(vectors, runs)


def parts(builder: Builder, count: Any, *vectors: Any) -> list[Any]:
    """parts(COUNT, x, y, …): split-K: COUNT runs of ⌈n / COUNT⌉ elements, the last ones shorter."""

    def runs(v: StepValue, n: int) -> list[StepValue]:
        size = -(-n // check_int("the number of parts", count, low=1))
        return [builder.slice(v, start, min(size, n - start)) for start in range(0, n, size)]

    return _looped(vectors, runs)


def repeat(builder: Builder, x: Any, times: Any, count: Any) -> StepValue:
    """repeat(x, TIMES, n): a vector of n elements, each of x TIMES times: scales of blocks, by element."""
    vector = x if isinstance(x, StepValue) else vector_of(x, "repeat")
    each, n = check_int("TIMES of repeat", times, low=1), check_int("n of repeat", count, low=1)
    if -(-n // each) != (vector.length or 1):
        raise InputError(
            f"expected {-(-n // each)} elements to repeat {each} times for {n}, but got {vector.length or 1}"
        )
    whole = [vector] if vector.length is None else [builder.element(vector, i) for i in range(vector.length)]
    return builder.join([whole[i // each] for i in range(n)])


def elements(builder: Builder, *vectors: Any) -> list[Any]:
    """elements(x, y, …): the elements one by one."""
    return _looped(vectors, lambda v, n: [builder.element(v, i) for i in range(n)])


def _looped(vectors: tuple[Any, ...], cut: Callable[[StepValue, int], list[StepValue]]) -> list[Any]:
    """What a loop takes of each vector in turn: one value of one vector, or a list of those of several."""
    rows = [vector_of(v, "a loop") for v in vectors]
    if not rows or len({v.length for v in rows}) > 1:
        raise InputError("expected one or more vectors of one length to loop over")
    made = [cut(v, v.length or 0) for v in rows]
    return made[0] if len(made) == 1 else [list(x) for x in zip(*made, strict=True)]


def chain(builder: Builder, x: Any, fmt: Any, rounding: Any = "RNE") -> StepValue:
    """chain(x, FORMAT): recursive summation: the elements of a vector added one after the other."""
    vector = vector_of(x, "chain")
    total = builder.element(vector, 0)
    for i in range(1, vector.length or 0):
        total = add(builder, total, builder.element(vector, i), fmt, rounding)
    return total


def pairwise(builder: Builder, x: Any, fmt: Any, rounding: Any = "RNE") -> StepValue:
    """pairwise(x, FORMAT): pairwise summation; an odd element passes to the next level."""
    vector = vector_of(x, "pairwise")
    level = [builder.element(vector, i) for i in range(vector.length or 0)]
    while len(level) > 1:
        sums = [add(builder, level[i], level[i + 1], fmt, rounding) for i in range(0, len(level) - 1, 2)]
        level = sums + level[2 * len(sums) :]
    return level[0]
