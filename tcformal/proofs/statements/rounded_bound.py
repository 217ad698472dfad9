"""The statement of claim `error-bound` where every sum is exact and then rounded: chains and trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.design.rounding import NEAREST, Conversion
from tcformal.design.spec import Design
from tcformal.design.trees.tree import Step, stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import AT_LEAST, Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET, Encoded, encoded, exponent_code
from tcformal.proofs.statements.error_bound import ErrorBound, StatedTerm
from tcformal.theory.stated_sum import StatedSum, operand_rules, sum_of

#: The sign of a product in a statement, by the products that a design subtracts.
SIGN_TEXTS = {"none": "", "odd": "(-1)^k·", "even": "(-1)^(k+1)·", "all": "-"}


@dataclass(frozen=True, slots=True)
class StatedRounding:
    """One rounding of an exact sum.

    Shapes: `operands` count the products, then c, then the roundings before this one.
    Ranges and units: the result's magnitude is at most size · 2^E, its exponent at most E + grown.
    """

    operands: tuple[int, ...]
    target: Conversion
    size: Fraction
    grown: int
    #: What the rounding of a product that has no more bits than the result loses at most: nothing, unless it
    #: can lie below the least normal number.
    exact: Fraction | None

    @property
    def ulps(self) -> Fraction:
        """How many units in the last place of its result it can lose."""
        return Fraction(1, 2) if self.target.mode in NEAREST else Fraction(1)


@dataclass(frozen=True, slots=True)
class RoundedBound(ErrorBound):
    """The statement as data; a flushed operand is a term whose subnormals are 0."""

    roundings: tuple[StatedRounding, ...]
    #: The least normal number of d where subnormal results, or those that are tiny with any exponent,
    #: become 0, else 0.
    flushed: Fraction

    @property
    def sum(self) -> StatedSum:
        """Which exact sum it is about: operands flushed and products taken away as the unit does it."""
        return sum_of(self.unit)

    def __str__(self) -> str:
        design, o = self.unit.design, self.unit.operands
        a, b, c = marked(design)
        product = f"{a}·{b}"
        summed = f"{SIGN_TEXTS[design.negated]}{product}"
        sums = [x for x in self.roundings[:-1] if x.exact is None]
        lost = Counter(x.grown - x.target.fraction_bits + log2(x.ulps) for x in sums)
        parts = [f"{n}·2^(E{e:+d})" if n > 1 else f"2^(E{e:+d})" for e, n in sorted(lost.items())]
        least = Counter(log2(x.exact) for x in self.roundings if x.exact)
        parts += [f"{n}·2^{e}" if n > 1 else f"2^{e}" for e, n in least.items()]
        if self.flushed:
            count, power = len(self.roundings), f"2^{log2(self.flushed)}"
            parts.append(f"{count}·{power}" if count > 1 else power)
        parts.append("ulp(d)" if self.ulps == 1 else "ulp(d)/2")
        words = ", ".join(f"{x}_0…{x}_{self.unit.k - 1} ({o.names()[x]})" for x in "ab")
        marks = " FTZ(x) is x, or 0 where x is subnormal;" if "FTZ" in product + c else ""
        return (
            f"for all encodings {words}, c ({o.c}), with d ({o.d}) what the unit makes of them, all of them "
            f"and d finite, and every integer E from {self.least} to {(1 << CODE_BITS) - 1 - OFFSET} that is "
            f"at least the exponent of {c} and of every {product}, those that are zero left out: "
            f"|d - (Σ {summed} + {c})| <= {' + '.join(parts)};{marks} the exponent of a word is "
            f"max(field, 1) - bias, that of a product the sum of its factors', and ulp(d) = "
            f"2^(exponent of d - {design.rho.fraction_bits})"
        )


def marked(design: Design) -> tuple[str, str, str]:
    """How a statement names the factors of a product, and c."""
    rules = (*operand_rules(design), design.c_subnormals)
    names = (x if rule == "kept" else f"FTZ({x})" for x, rule in zip(("a_k", "b_k", "c"), rules, strict=True))
    a, b, c = names
    return a, b, c


def log2(power: Fraction) -> int:
    """The exponent of a power of two."""
    return power.numerator.bit_length() - power.denominator.bit_length()


def rounded_bound(
    g: Graph, unit: UnitSpec, words: Sequence[Sequence[Node]], c: Node, d: Node
) -> RoundedBound:
    """The statement about the node d of a graph as a function of input words.

    Shapes: words: for each product the two words that it is the product of.
    Errors: InputError for a unit whose statement is not written here.
    """
    design, o = unit.design, unit.operands
    least = o.d.e_min
    terms = stated_terms(g, unit, words, c)
    made = encoded(g, d, o.d)
    e = g.input("E", CODE_BITS)
    floor = g.ule(g.const(least + OFFSET, CODE_BITS), e)
    limits = tuple(g.or_(g.not_(t.nonzero), g.ule(t.code, e)) for t in terms)
    finite = [x.finite for t in terms for x in t.factors] + [made.finite]
    hypotheses = tuple(dict.fromkeys(x for x in (*finite, *limits, floor) if x.op != "const"))
    roundings = _roundings(unit)
    flushed = Fraction(0) if design.result_subnormals == "kept" else Fraction(2) ** least
    power, last = Poly.of(e) - Poly.constant(OFFSET), roundings[-1]
    bound = made.weight(last.target.fraction_bits) * last.ulps + Poly.constant(flushed * len(roundings))
    for x in roundings[:-1]:
        if x.exact is not None:
            bound = bound + Poly.constant(x.exact)
            continue
        bound = bound + (power + Poly.constant(x.grown - x.target.fraction_bits)).power_of_two() * x.ulps
    return RoundedBound(
        unit, g, d, e, tuple(terms), made, hypotheses, limits, floor, (), bound, AT_LEAST, least, last.ulps,
        roundings, flushed,
    )  # fmt: skip


def stated_terms(g: Graph, unit: UnitSpec, words: Sequence[Sequence[Node]], c: Node) -> list[StatedTerm]:
    """The products and c, flushed and subtracted as the design has it."""
    o, stated, terms = unit.operands, sum_of(unit), list[StatedTerm]()
    for k, row in enumerate(words):
        pair = [encoded(g, word, fmt) for word, fmt in zip(row, (o.a, o.b), strict=True)]
        pair = [_flushed(g, x, letter in stated.flushed) for x, letter in zip(pair, "ab", strict=True)]
        if unit.design.subtracts(k):
            # A product that is subtracted is that of -a.
            pair[0] = replace(pair[0], sign=g.not_(pair[0].sign))
        terms.append(_term(g, f"a[{k}]·b[{k}]", pair))
    terms.append(_term(g, "c", [_flushed(g, encoded(g, c, o.c), "c" in stated.flushed)]))
    return terms


def _flushed(g: Graph, x: Encoded, flushed: bool) -> Encoded:
    """A word whose subnormals are 0 where they are flushed."""
    if not flushed:
        return x
    empty = g.const(0, x.significand.width)
    return replace(x, significand=g.ite(g.top(x.significand), x.significand, empty))


def _term(g: Graph, name: str, factors: list[Encoded]) -> StatedTerm:
    nonzero = g.and_(*(g.any_bit(x.significand) for x in factors))
    return StatedTerm(name, tuple(factors), exponent_code(g, factors), nonzero)


def _roundings(unit: UnitSpec) -> tuple[StatedRounding, ...]:
    """Every rounding in the order of definition, and how large its result can be.

    A result whose exponent were above E + grown would be larger than what it is the sum of, with the error.
    """
    o = unit.operands
    product = (2 - Fraction(1, 2**o.a.fraction_bits)) * (2 - Fraction(1, 2**o.b.fraction_bits))
    sizes = [product] * unit.k + [2 - Fraction(1, 2**o.c.fraction_bits)]
    made: list[StatedRounding] = []
    plan = RoundingPlan(unit)
    for i, (operands, target) in enumerate(plan.steps):
        if target.e_min != o.d.e_min or target.mode in ("RD", "RU"):
            raise InputError(
                f"expected sums rounded to the exponents of {o.d}, to nearest, to odd or toward zero, "
                f"for claim error-bound, but got {target.mode} to {target.exponent_bits} exponent bits"
            )
        ulps = Fraction(1, 2) if target.mode in NEAREST else Fraction(1)
        most, p, grown = sum((sizes[x] for x in operands), Fraction(0)), target.fraction_bits, 0
        while most >= Fraction(2) ** (grown + 1) * (1 - ulps / 2**p):
            grown += 1
        exact = _exact(unit, target, ulps) if i in plan.products else None
        lost = ulps * Fraction(2) ** (grown - p)
        if exact is not None:
            lost = ulps / 2**p if exact else Fraction(0)
        sizes.append(most + lost)
        made.append(StatedRounding(operands, target, sizes[-1], grown, exact))
    return tuple(made)


def _exact(unit: UnitSpec, target: Conversion, ulps: Fraction) -> Fraction | None:
    """What the rounding of a product that fits the target's precision can lose."""
    a, b = unit.operands.a, unit.operands.b
    if a.precision + b.precision > target.precision:
        return None
    normal = a.e_min + b.e_min > target.e_min
    return Fraction(0) if normal else ulps * Fraction(2) ** (target.e_min - target.fraction_bits)


class RoundingPlan:
    """Which sums a unit rounds, and to what, by the parameters of its design."""

    def __init__(self, unit: UnitSpec) -> None:
        self.k = unit.k
        self.steps: list[tuple[tuple[int, ...], Conversion]] = []
        #: Which of them round a product on its own.
        self.products: list[int] = []
        if unit.tree is not None:
            self._summed(unit, unit.tree.root, stage_designs(unit.tree, unit.design))
            return
        if unit.emulation is None:
            self._dot(unit.design, range(unit.k), unit.k)
            return
        total: int | None = None
        for part in unit.emulation.parts:
            total = self._dot(unit.design, part, total)
        self._add([total, unit.k], unit.emulation.addition.rho)

    def _add(self, operands: Sequence[int | None], target: Conversion) -> int:
        """A sum, without the zeros that chains start from; the number of its result."""
        self.steps.append((tuple(x for x in operands if x is not None), target))
        return self.k + len(self.steps)

    def _summed(self, unit: UnitSpec, step: Step, stages: Mapping[str, Design]) -> int:
        """A sum of a tree, after those that it takes in; the number of its result."""
        design = stages[step.stage]
        if design.fraction_bits is not None:
            raise InputError(f"expected exact sums that are rounded, but {unit.name} cuts terms")
        inner = {x: self._summed(unit, x, stages) for x in step.children if isinstance(x, Step)}
        operands: list[int | None] = []
        for x in step.children:
            if isinstance(x, int) and unit.design.product_rounding is not None:
                self.products.append(len(self.steps))
                operands.append(self._add([x], unit.design.product_conversion))
            elif isinstance(x, int):
                operands.append(x)
            else:
                operands.append(inner[x] if isinstance(x, Step) else self.k if x == "c" else None)
        return self._add(operands, design.rho)

    def _dot(self, design: Design, ks: Sequence[int], c: int | None) -> int | None:
        length = min(len(ks), design.products)
        for start in range(0, len(ks), length):
            c = self._block(design, ks[start : start + length], c)
        return c

    def _block(self, design: Design, ks: Sequence[int], c: int | None) -> int:
        order = [ks[i if design.order == "ascending" else i ^ 1] for i in range(len(ks))]
        if design.product_rounding is not None:
            self.products += range(len(self.steps), len(self.steps) + len(order))
            order = [self._add([x], design.product_conversion) for x in order]
        if design.c_position == "joined":
            return self._add([*order, c], design.rho)
        if design.c_position == "first":
            return self._add([self._chain(order[:-1], c, design.step), order[-1]], design.rho)
        total: int | None
        if design.summation == "fused":
            total = self._add(order, design.step)
        elif design.summation == "pairwise":
            total = self._tree(order, design.step)
        elif design.summation == "two_chains":
            both = [self._chain(half, None, design.step) for half in (order[0::2], order[1::2])]
            total = self._add(both, design.step)
        elif design.summation == "pair_chains":
            pairs = [self._add(order[i : i + 2], design.step) for i in range(0, len(order), 2)]
            both = [self._chain(half, None, design.step) for half in (pairs[0::2], pairs[1::2])]
            total = self._add(both, design.step)
        else:
            total = self._chain(order[1:], order[0], design.step)
        return self._add([total, c], design.rho)

    def _chain(self, products: Sequence[int], total: int | None, target: Conversion) -> int | None:
        for x in products:
            total = self._add([total, x], target)
        return total

    def _tree(self, level: list[int], target: Conversion) -> int:
        while len(level) > 1:
            pairs = [self._add(level[i : i + 2], target) for i in range(0, len(level) - 1, 2)]
            level = pairs + level[2 * len(pairs) :]
        return level[0]
