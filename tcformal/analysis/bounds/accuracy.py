"""The sharp error constant of a unit: a proved upper bound, and a lower bound from attaining inputs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction

from tcformal.analysis.bounds.ascent import improved, promoted
from tcformal.analysis.bounds.attained import Attained, Construction, words_text
from tcformal.analysis.bounds.proved import (
    Proved,
    bounded_on_grid,
    exponent_constant,
    grown,
    theorem_constant,
)
from tcformal.callbacks import Progress, ignore
from tcformal.checks import check_int
from tcformal.design.integer_sums import integer_sums
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.errors import InputError, InvariantError
from tcformal.oracle.numerals import bounds_text
from tcformal.semantics.chain import not_built
from tcformal.shown import Shown, short
from tcformal.simulation.matrix_unit import Unit, spec_of
from tcformal.theory.theorems import in_the_way

#: Most products of one dot product, 2^20, unless one call has more.
LONGEST = 1 << 20
#: Inputs that lose all but this share of a bound are not improved.
_NEAR = Fraction(1, 100)
#: Binary32 additions of promotion, to nearest, and what they lose at most of their result.
_PROMOTED, _UNIT_ROUNDOFF = format_named("fp32"), Fraction(1, 1 << 24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy(Shown):
    """Bounds on sup |fl - xᵀy| / Σ|x_k·y_k| for one unit and one length.

    Products that the unit takes away are negative in xᵀy.
    Ranges and units: `bound` and `attained.ratio` are exact fractions.  `bound` is None where no theorem
    applies to the unit, or none was asked for: the attained ratio alone is then a fact, and no bound.
    `attained` is None for a unit of more products than circuits are built of.  `subnormal` are inputs of one
    call with subnormal operands, of which the bound says nothing.

    Examples:
        >>> tcformal.accuracy("a100:fp16").conditions[0]
        'c = 0'
    """

    unit: UnitSpec
    length: int
    #: Products after which the accumulator is added to a sum in binary32; None: never.
    promote: int | None
    bound: Fraction | None
    #: The theorem that the bound is an instance of, and the steps that are made from it.
    proved: Proved | None
    steps: tuple[str, ...]
    #: Why there is no bound, and why there are no inputs.
    reason: str
    attained: Attained | None
    not_built: str
    subnormal: Attained | None
    #: Seconds of the processor that inputs were built and sought for.
    sought: float = 0.0

    def __post_init__(self) -> None:
        if self.bound is not None and self.attained is not None and self.attained.ratio > self.bound:
            most, lost = float(self.bound), float(self.attained.ratio)
            w = self.attained.calls[0][0]
            raise InvariantError(
                f"expected inputs of {self.unit.name} that lose at most {most:.7g} of Σ|x_k·y_k|, as is "
                f"proved, but replayed ones lose {lost:.7g}: of {len(self.attained.calls)} different calls "
                f"the first has a = {words_text(w.a)}, b = {words_text(w.b)}"
            )

    def _summary(self) -> str:
        promoted = "" if self.promote is None else f", promoted every {self.promote}"
        known = bounds_text(self.bound, None if self.attained is None else self.attained.ratio)
        return f"Accuracy {short(self.unit.shown)}, {self.length} products{promoted}: {known} of Σ|x·y|"

    @property
    def gap(self) -> Fraction | None:
        """The relative gap 1 - attained / bound; 0 where both are 0, None without one of them."""
        if self.bound is None or self.attained is None:
            return None
        return 1 - self.attained.ratio / self.bound if self.bound else Fraction(0)

    @property
    def model(self) -> tuple[Fraction | None, Fraction | None]:
        """Lower and upper bound on the least U with |γ| <= length·U (MARY Model 1, Theorem 3.1)."""
        n = self.length
        low = None if self.attained is None else self.attained.ratio / n
        return low, None if self.bound is None else self.bound / n

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions of the bound, as sentences."""
        least = self.unit.d_format.e_min if self.proved is None else self.proved.least
        sentences = [
            "c = 0", "every operand is zero or a normal number", "nothing overflows",
            f"no underflow: of every call the largest product, or c, is at least 2^{least}, and no sum on "
            "the way that is not zero is smaller before it is rounded",
        ]  # fmt: skip
        if self.promote is not None:
            sentences.append(
                f"every {self.promote} products are summed from zero and added in fp32, to nearest"
            )
        return tuple(sentences)


def accuracy(
    unit: str | Unit | UnitSpec,
    *,
    length: int | None = None,
    promote: int | None = None,
    subnormals: bool = True,
    prove: bool = True,
    progress: Progress = ignore,
) -> Accuracy:
    """Bound the sharp constant sup |fl - xᵀy| / Σ|x_k·y_k| of a unit, and build inputs that attain it.

    Shapes: `length` products, calls of the unit one after the other, filled up with zeros; the unit's own k
    unless given.
    Ranges and units: `promote` products from 1 are summed from zero, then added in fp32; `subnormals`:
    whether inputs with subnormal operands are sought too; `prove`: False leaves the bound out.
    Zero, NaN, Inf: as `Accuracy.conditions` say.
    Errors: InputError for a length or a promotion out of range, or for a unit that cannot be chained.  Where
    no theorem applies `bound` is None, with the reason.
    Source: MARY Model 1; theorems `relative_error_from_zero`, `relative_error_of_calls`,
    `ordered_error_from_zero`, `down_error_from_zero` and `error_in_exponents`.

    Examples:
        >>> known = tcformal.accuracy("h100:e4m3", length=1024)
        >>> known
        <Accuracy h100:e4m3, 1024 products: ≤ 13.07 %, 10.94 % attained of Σ|x·y|>
        >>> float(known.bound)  # of Σ|x·y|, an exact fraction
        0.13060184855875406
    """
    spec = spec_of(unit)
    n = check_int("length", spec.k if length is None else length, low=1, high=max(LONGEST, spec.k))
    if n > spec.k and spec.c_format != spec.d_format:
        raise InputError(
            f"expected a length of at most {spec.k} for {spec.name}, whose D ({spec.d_format.name}) cannot "
            f"be the next C ({spec.c_format.name}), but got {n}"
        )
    if spec.d_format.integer and promote is None:
        exact = integer_sums(spec)
        bound, reason = (Fraction(0), "") if n <= exact.exact else (None, f"{exact.says}: no bound holds")
        return Accuracy(
            unit=spec, length=n, promote=None, bound=bound, proved=None, steps=(exact.says,), reason=reason,
            attained=None, not_built="", subnormal=None,
        )  # fmt: skip
    if promote is not None:
        check_int("promote", promote, low=1, high=n)
        if spec.d_format != _PROMOTED:
            raise InputError(f"expected a unit with fp32 results to promote, but got {spec.d_format.name}")
    proved, reason = None, "no proof was asked for"
    bound, steps = None, tuple[str, ...]()
    if prove:
        proved = theorem_constant(spec) or exponent_constant(spec)
        reason = in_the_way(spec, "relative-error; c=0x0") if proved is None else ""
    if proved is not None and (reason := proved.short_of(n if promote is None else promote)):
        proved = None
    if proved is not None:
        bound, steps = _bounded(spec, n, promote, proved)
    why, attained, small, start = not_built(spec), None, None, time.process_time()
    if not why:
        progress("building inputs")
        build = Construction(spec)
        attained = _attained(build, n, promote, bound)
        # Later calls add normal numbers: what a subnormal factor does is seen in the first ones.
        small = build.best(min(n, spec.k), subnormal=True) if subnormals and promote is None else None
    return Accuracy(
        unit=spec, length=n, promote=promote, bound=bound, proved=proved, steps=steps, reason=reason,
        attained=attained, not_built=why, subnormal=small, sought=time.process_time() - start,
    )  # fmt: skip


def bound_of(unit: str | Unit | UnitSpec, length: int) -> Fraction | None:
    """The bound that `accuracy` proves, without inputs; None where no theorem applies."""
    spec = spec_of(unit)
    proved = theorem_constant(spec) or exponent_constant(spec)
    return None if proved is None or proved.short_of(length) else _bounded(spec, length, None, proved)[0]


def _attained(build: Construction, n: int, promote: int | None, bound: Fraction | None) -> Attained:
    """Inputs with a large error: constructed, then improved by search unless they are near the bound."""
    if promote is not None:
        return promoted(build, n, promote)
    constructed = build.best(n)
    if bound is not None and constructed.ratio >= bound * (1 - _NEAR):
        return constructed
    return improved(build, n, constructed)


def _bounded(unit: UnitSpec, n: int, promote: int | None, proved: Proved) -> tuple[Fraction, tuple[str, ...]]:
    """The best upper bound for n products, from the theorem and the grid argument, and its derivation."""
    bound, steps = proved.constants.of(n if promote is None else promote), tuple[str, ...]()
    if promote is not None:
        parts = -(-n // promote)
        bound = grown(bound, _UNIT_ROUNDOFF, parts - 1)
        steps = (
            f"{parts} partial sums: D = (1 + u)·D + u for each addition after the first, u = 2^-24, from D = "
            f"C of {promote} products",
        )
    sharper = bounded_on_grid(unit, n, bound)
    # Sums of a promotion are rounded again: of them only what loses nothing is known.
    if sharper is None or (promote is not None and sharper[0]):
        return bound, steps
    return sharper[0], (*steps, sharper[1])


def growth_with_length(x: Accuracy) -> list[tuple[int, Fraction | None, Fraction | None]]:
    """The bound and the attained ratio at lengths k, 2k, 4k, … up to that of `x`, as `accuracy` computes
    them.

    Ranges and units: lengths below one call, or below a promotion, are those of that call or promotion.
    """
    start = min(x.length, x.unit.k if x.promote is None else x.promote)
    lengths = [start << i for i in range(x.length.bit_length()) if start << i < x.length]
    build, rows = Construction(x.unit), list[tuple[int, Fraction | None, Fraction | None]]()
    for n in lengths:
        bound = None if x.proved is None else _bounded(x.unit, n, x.promote, x.proved)[0]
        attained = None if x.not_built else _attained(build, n, x.promote, bound).ratio
        rows.append((n, bound, attained))
    return [*rows, (x.length, x.bound, None if x.attained is None else x.attained.ratio)]
