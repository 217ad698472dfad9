"""How errors grow along the roundings of a unit whose sums are exact and then rounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.design.names import resolve
from tcformal.design.rounding import NEAREST, Conversion
from tcformal.design.spec import Operands
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.catalog import format_named
from tcformal.proofs.statements.rounded_bound import RoundingPlan

#: What holds a product as the c of a step.
_WIDEST = format_named("fp64")
#: What stands for a wider rounding to fp32's precision, which no sum of a few products can tell from it.
_NARROWER = format_named("e11m23")
#: Names of precisions in conversions.
_NAMED = {(11, 52): "FP64", (11, 23): "E11M23", (8, 23): "FP32", (5, 10): "FP16", (8, 7): "BF16"}


@dataclass(frozen=True, slots=True)
class Growth:
    """The roundings between each product, or c, and the result of one call.

    `steps` are the units of one rounding each; of the paths, each a list of their names: `first` from a
    product where c is zero, `through` from a product beside a c, `later` from c.
    """

    steps: tuple[UnitSpec, ...]
    first: tuple[tuple[str, ...], ...]
    through: tuple[tuple[str, ...], ...]
    later: tuple[tuple[str, ...], ...]

    @property
    def longest(self) -> int:
        """The roundings of the longest path from a product, c being zero."""
        return max((len(x) for x in self.first), default=0)

    def factors(self, kappas: Mapping[str, Fraction]) -> tuple[Fraction, Fraction, Fraction]:
        """The largest ∏(1 + κ) of each kind of path, κ by the names of the steps; 1 without paths."""
        made = []
        for paths in (self.first, self.through, self.later):
            most = Fraction(1)
            for path in paths:
                factor = Fraction(1)
                for name in path:
                    factor *= 1 + kappas[name]
                most = max(most, factor)
            made.append(most)
        return made[0], made[1], made[2]


def growth(unit: UnitSpec, length: int) -> Growth:
    """The paths of one call, or of the first `length` products of it.

    Errors: InputError for a rounding of which no theorem is written.
    """
    plan, count = RoundingPlan(unit), min(unit.k, length)
    steps: dict[str, UnitSpec] = {}

    def paths(sources: Sequence[int], others: Sequence[int]) -> set[tuple[str, ...]]:
        """The paths to the result from some operands, the others being there too."""
        found: dict[int, set[tuple[str, ...]]] = {i: {()} for i in sources}
        there = {*sources, *others}
        for number, (operands, target) in enumerate(plan.steps, unit.k + 1):
            present = [i for i in operands if i in there]
            if not present:
                continue
            there.add(number)
            before = {path for i in present for path in found.get(i, ())}
            if _exact(unit, present, target):
                found[number] = before
                continue
            products = [i for i in operands if i < unit.k]
            step = _step(unit, len(products), len(operands) - len(products), target)
            steps[step.name] = step
            found[number] = {(*path, step.name) for path in before}
        return found.get(unit.k + len(plan.steps), set())

    products, c = range(count), [unit.k]
    made: list[set[tuple[str, ...]]] = [paths(products, ()), set(), set()]
    if length > unit.k:
        if any(target.exponent_bits > unit.operands.d.exponent_bits for _, target in plan.steps):
            raise InputError(f"expected sums rounded to {unit.operands.d.name}, but {unit.name} has others")
        made[1:] = [paths(products, c), paths(c, products)]
    used = {name for kind in made for path in kind for name in path}
    chosen = tuple(step for name, step in steps.items() if name in used)
    return Growth(chosen, *(tuple(sorted(kind)) for kind in made))


def _exact(unit: UnitSpec, present: Sequence[int], target: Conversion) -> bool:
    """Whether a sum of one number needs no rounding: a result, or a product of few bits."""
    if len(present) > 1:
        return False
    if present[0] < unit.k:
        return unit.operands.a.precision + unit.operands.b.precision <= target.precision
    return target.fits(unit.operands.d) and unit.operands.d.fraction_bits == target.fraction_bits


def _holds_products(o: Operands) -> bool:
    """Whether every product of two normal operands is a normal number of the widest format."""
    low, high = o.a.e_min + o.b.e_min, o.a.e_max + o.b.e_max
    return (
        low >= _WIDEST.e_min and high < _WIDEST.e_max and o.a.precision + o.b.precision <= _WIDEST.precision
    )


def _narrower(o: Operands, products: int, target: Conversion) -> bool:
    """Whether sums of products, rounded to as many bits, are normal numbers of fewer exponents already."""
    low = o.a.e_min + o.b.e_min - o.a.fraction_bits - o.b.fraction_bits
    high = o.a.e_max + o.b.e_max + 2 + products.bit_length()
    same = target.fraction_bits == _NARROWER.fraction_bits and not target.head_room
    return same and low >= _NARROWER.e_min >= target.e_min and high < _NARROWER.e_max


def _step(unit: UnitSpec, products: int, results: int, target: Conversion) -> UnitSpec:
    """One rounding as a unit: so many products and a result, or two results."""
    o = unit.operands
    if target.exponent_bits > o.d.exponent_bits and not results and _narrower(o, products, target):
        o = replace(o, d=_NARROWER)
        target = replace(target, exponent_bits=_NARROWER.exponent_bits)
    name = _NAMED.get((target.exponent_bits, target.fraction_bits))
    if name is None or target.head_room or not target.fits(o.d) or target.fraction_bits != o.d.fraction_bits:
        raise InputError(f"expected sums rounded to {o.d.name}, but {unit.name} has others")
    d, how = o.d.name, f"{target.mode}-{name}"
    if (products, results) == (2, 0) and _holds_products(o):
        # The other product as c: binary64 holds it.
        return resolve(
            f"tfdpa@products=1,a_format={o.a.name},b_format={o.b.name},c_format={_WIDEST.name},d_format={d},"
            f"fraction_bits=exact,conversion={how}"
        )
    if products and results < 2:
        return resolve(
            f"tfdpa@products={products},a_format={o.a.name},b_format={o.b.name},c_format={d},d_format={d},"
            f"fraction_bits=exact,conversion={how}"
        )
    if results == 2 and not products and target.mode not in NEAREST:
        # One of them times 1, which all formats have: of few bits, so that the circuit is small.
        return resolve(
            f"tfdpa@products=1,a_format={d},b_format=e2m1,c_format={d},d_format={d},fraction_bits=exact,"
            f"conversion={how}"
        )
    if results == 2 and not products:
        return resolve(f"sequential@format={d},products=1,conversion={how}")
    raise InputError(f"expected sums of two numbers, or of products and c, but {unit.name} has others")
