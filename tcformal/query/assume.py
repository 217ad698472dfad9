"""Assumptions about the operands of a question: names, texts, and the DAG node that tests them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tcformal.checks import check_choice, check_int, read_int, shown
from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle.values import parse_value
from tcformal.semantics.align import all_of, distance_below, largest
from tcformal.semantics.chain import OperandNodes
from tcformal.semantics.number import Exponent, Number
from tcformal.semantics.product import Scales, product, scaled_products
from tcformal.semantics.sums.step import fused_sum
from tcformal.semantics.unpack import unpack
from tcformal.shown import Shown
from tcformal.simulation.matrix_unit import Unit, spec_of


@dataclass(frozen=True, slots=True)
class Gap:
    """The distance of one term of a dot product below the largest exponent.

    Shapes: live u[1], gap u[w].
    Zero, NaN, Inf: `live` is 1 where the term is none of these; elsewhere `gap` means nothing.
    """

    live: Node
    gap: Node


def gaps_of(g: Graph, spec: UnitSpec, x: OperandNodes) -> list[Gap]:
    """The gaps of a dot product's terms in order: exact products with block scales, then c.

    Ranges and units: the exponent of a product is the sum of its factors' exponents (and its scales'),
    whatever its significand; subnormals have e_min.
    Zero, NaN, Inf: such terms take no part in the largest exponent.
    """
    o = spec.operands
    factors = zip(x.a, x.b, strict=True)
    numbers = [product(g, unpack(g, a, o.a), unpack(g, b, o.b)) for a, b in factors]
    if spec.scale_format is not None and spec.scale_block is not None:
        scales = Scales(fmt=spec.scale_format, block=spec.scale_block, a=x.scale_a, b=x.scale_b)
        numbers = scaled_products(g, numbers, scales, 0)
    numbers.append(unpack(g, x.c, o.c))
    lives = [g.not_(g.or_(n.term.zero, n.nan, n.inf)) for n in numbers]
    # A constant zero, such as c, does not widen the range of exponents.
    own = [
        None if live is g.truth(False) else n.term.exponent for n, live in zip(numbers, lives, strict=True)
    ]
    low = min((e.low for e in own if e is not None), default=0)
    none, parts = Exponent(g.const(0, 1), low, low), []
    for e, live in zip(own, lives, strict=True):
        if e is None:
            parts.append(none)
        else:
            code = e.rebased(g, low, e.high)
            parts.append(Exponent(g.ite(live, code, g.const(0, code.width)), low, e.high))
    top, _ = largest(g, parts)
    return [Gap(live, distance_below(g, e or none, top)) for e, live in zip(own, lives, strict=True)]


def within_spread(g: Graph, spec: UnitSpec, x: OperandNodes, spread: int) -> Node:
    """The node that is 1 where every term lies at most `spread` below the largest exponent, or is zero, NaN
    or Inf."""
    return all_of(g, [
        g.truth(True) if spread >> t.gap.width
        else g.or_(g.not_(t.live), g.ule(t.gap, g.const(spread, t.gap.width)))
        for t in gaps_of(g, spec, x)
    ])  # fmt: skip


#: The regions of a format, each with the text that describes a value in it.
REGIONS: dict[str, str] = {
    "inside": "a finite number of",
    "outside": "no finite number of",
    "normal": "in magnitude from the least normal number on, and below overflow, in",
    "subnormal": "not zero, and in magnitude below the least normal number, in",
}


@dataclass(frozen=True, slots=True)
class Region:
    """A set of values of a format that a term may be assumed to lie in, such as `outside-fp16`."""

    name: str
    format: Format

    def __str__(self) -> str:
        return f"{self.name}-{self.format.name}"

    @property
    def text(self) -> str:
        """A phrase for the values of the region: `no finite number of fp16`."""
        return f"{REGIONS[self.name]} {self.format.name}"


def parse_region(text: str, key: str) -> Region:
    """Parse a region such as `outside-fp16`; `key` names the assumption in errors.

    Errors: UnknownNameError for an unknown region or format, InputError for a format whose exponents and
    specials are not those of IEEE 754.
    """
    name, dash, fmt = text.partition("-")
    if not dash:
        raise InputError(f"expected {key} as one of {', '.join(REGIONS)} and a format, such as inside-fp16, "
                         f"but got {text!r}")  # fmt: skip
    region = Region(check_choice(f"region for {key}", name, REGIONS), format_named(fmt))
    if region.format.specials is not Specials.IEEE or region.format.ignored_low_bits:
        raise InputError(f"expected an IEEE 754 format for {key}, but got {region.format.name}")
    return region


def in_region(g: Graph, numbers: Sequence[Number], where: Region) -> Node:
    """The node that is 1 where the exact sum of the numbers lies in the region.

    Shapes: one or more numbers -> u[1].
    Ranges and units: a value is a number of a format exactly where rounding it down and up agree; it is
    normal where rounding it to zero gives a normal number.
    Zero, NaN, Inf: zero is inside; where an operand is NaN or Inf the result is 0.
    """
    finite = g.not_(g.or_(g.truth(False), *(flag for x in numbers for flag in (x.nan, x.inf))))
    if where.name in ("inside", "outside"):
        down, up = (_rounded(g, numbers, mode, where.format) for mode in ("RD", "RU"))
        exact = g.and_(*(g.eq(x, y) for x, y in zip(_parts(down), _parts(up), strict=True)))
        return g.and_(finite, exact if where.name == "inside" else g.not_(exact))
    cut = _rounded(g, numbers, "RZ", where.format)
    below = g.not_(g.top(cut.term.significand))
    if where.name == "normal":
        return g.and_(finite, g.not_(below), g.not_(cut.inf))
    down, up = (_rounded(g, numbers, mode, where.format) for mode in ("RD", "RU"))
    nothing = g.and_(down.term.zero, up.term.zero)
    return g.and_(finite, below, g.not_(cut.inf), g.not_(nothing))


def _rounded(g: Graph, numbers: Sequence[Number], mode: str, fmt: Format) -> Number:
    """The exact sum, rounded once; RZ overflow gives Inf, which is not normal."""
    target = Conversion(mode, fmt.exponent_bits, fmt.fraction_bits)
    design = Design(
        products=1, conversion=f"{mode}-E{fmt.exponent_bits}M{fmt.fraction_bits}", nan_word=0,
        overflow="infinity" if mode == "RZ" else "ieee",
    )  # fmt: skip
    with g.scope(mode):
        return fused_sum(g, numbers, design, target).result


def _parts(x: Number) -> tuple[Node, ...]:
    return x.term.sign, x.term.exponent.bits, x.term.significand, x.inf


#: Assumptions about every operand, block scales included, with their meaning.
FLAGS: dict[str, str] = {
    "finite": "no operand is NaN or Inf",
    "normal": "every operand is a normal number (not zero, subnormal, NaN or Inf)",
    "positive": "no operand has its sign bit set",
    "nonzero": "no operand is zero",
}
#: Those of which a c that is fixed is no matter, as they read then.
_NOT_OF_FIXED_C = {
    "normal": "every operand but c is a normal number (not zero, subnormal, NaN or Inf)",
    "nonzero": "no operand but c is zero",
}

#: Assumptions that take a value, with an example of each.
_VALUED: dict[str, str] = {
    "exponents": "exponents=-14..15",
    "scale_exponents": "scale_exponents=-8..8",
    "c": "c=0",
    "factors": "factors=subnormal",
    "products": "products=outside-fp16",
    "sum": "sum=inside-fp16",
    "spread": "spread=20",
}

#: Assumptions about every element of a and b, but not about c, with their meaning.
FACTORS: dict[str, str] = {
    "normal": "every element of a and b is a normal number",
    "subnormal": "every element of a and b is subnormal",
}

_RANGE = re.compile(r"^\s*([+-]?\d{1,9})\s*(?:\.\.|…)\s*([+-]?\d{1,9})\s*$")


@dataclass(frozen=True, slots=True)
class Assumptions(Shown):
    """The assumptions of a question about its operands; none by default.

    Shapes: the same for every element of a, b and c; `Assumptions.of` reads texts as the command line does.
    Ranges and units: `flags` are some of FLAGS: `finite`, `normal`, `positive`, `nonzero`; `exponents` bounds
    the unbiased exponent of every non-zero element of a, b and c (subnormals have e_min), `scale_exponents`
    that of every non-zero block scale: the two ranges have little in common, so neither bound acts on the
    other's operands; `c` fixes c to one raw encoding, of which `normal` and `nonzero` then say nothing.
    `factors` is one of FACTORS: `normal` or `subnormal`; `products` says where every exact product a_k·b_k
    lies, `sum` where the exact sum of all products and c does.  `spread` bounds the largest exponent of the
    products and c less the least one; a product's exponent is the sum of its factors' (and scales').
    Zero, NaN, Inf: a zero has no exponent to bound, and a NaN or Inf adds nothing to the spread; only
    `finite` and `normal` exclude NaN and Inf.
    Errors: UnknownNameError for another flag, InputError for a range that is none.
    Source: IEEE 754 §3.4.

    Examples:
        >>> tcformal.Assumptions(("finite",), exponents=(-14, 15))
        <Assumptions finite, exponents=-14..15>
        >>> tcformal.Assumptions.of("h100:fp16", "finite", "c=1")
        <Assumptions finite, c=0x3f800000>
    """

    flags: tuple[str, ...] = ()
    exponents: tuple[int, int] | None = None
    c: int | None = None
    scale_exponents: tuple[int, int] | None = None
    factors: str | None = None
    products: Region | None = None
    sum: Region | None = None
    spread: int | None = None

    def __post_init__(self) -> None:
        for flag in self.flags:
            check_choice("assumption", flag, FLAGS)
        for name in ("exponents", "scale_exponents"):
            if getattr(self, name) is not None:
                _span(getattr(self, name), name)
        if self.c is not None:
            check_int("assumption c", self.c, low=0)
        if self.factors is not None:
            check_choice("assumption factors", self.factors, FACTORS)
        if self.spread is not None:
            check_int("assumption spread", self.spread, low=0)

    @staticmethod
    def of(unit: str | Unit | UnitSpec, *texts: str) -> Assumptions:
        """Parse assumptions about a unit's operands in command-line spelling: `finite`, `exponents=-14..15`.

        Errors: UnknownNameError for an assumption that does not exist, InputError for a bad value.
        """
        return from_texts(spec_of(unit).operands.c, texts)

    def _summary(self) -> str:
        return f"Assumptions {', '.join(self.spellings()) or 'none'}"

    def phrase(self) -> str:
        """` assuming finite, c=0x0`; empty where nothing is assumed."""
        return f" assuming {', '.join(self.spellings())}" if self else ""

    def __bool__(self) -> bool:
        return bool(self.spellings())

    def of_terms(self) -> dict[str, str]:
        """The assumptions about factors, products, their sum and all terms, by name."""
        by_name = {"factors": self.factors, "products": self.products, "sum": self.sum, "spread": self.spread}
        return {name: str(value) for name, value in by_name.items() if value is not None}

    def spellings(self) -> list[str]:
        """The assumptions in the command-line spelling that `from_texts` parses."""
        spelled = {
            name: f"{span[0]}..{span[1]}"
            for name in ("exponents", "scale_exponents")
            if (span := getattr(self, name)) is not None
        }
        spelled |= ({} if self.c is None else {"c": hex(self.c)}) | self.of_terms()
        return [*self.flags, *(f"{name}={value}" for name, value in spelled.items())]

    def texts(self) -> list[str]:
        """The assumptions as readable lines, one each."""
        e, s = self.exponents, self.scale_exponents
        lines = [
            e and f"exponents of non-zero operands in {e[0]}..{e[1]}",
            s and f"exponents of non-zero scales in {s[0]}..{s[1]}",
            None if self.c is None else f"c = {self.c:#x}",
            self.factors and FACTORS[self.factors],
            self.products and f"every exact product is {self.products.text}",
            self.sum and f"the exact sum of products and c is {self.sum.text}",
            None
            if self.spread is None
            else f"exponents of non-zero products and c differ by at most {self.spread}",
        ]
        meanings = FLAGS if self.c is None else FLAGS | _NOT_OF_FIXED_C
        return [*(meanings[flag] for flag in self.flags), *(line for line in lines if line)]


def assumptions(c_format: Format, given: Mapping[str, Any]) -> Assumptions:
    """Assumptions from keyword arguments: finite=True, exponents="-14..15" or (lo, hi), c="0", …

    Errors: UnknownNameError for an assumption that does not exist, InputError for a bad value.
    """
    for name in given:
        check_choice("assumption", name, [*FLAGS, *_VALUED])
    flags = []
    for flag in FLAGS:
        value = given.get(flag, False)
        if not isinstance(value, bool):
            raise InputError(f"expected true or false for assumption {flag}, but got {value!r}")
        if value:
            flags.append(flag)
    elements, scales = (
        None if given.get(name) is None else _span(given[name], name)
        for name in ("exponents", "scale_exponents")
    )
    c = given.get("c")
    if isinstance(c, bool):
        raise InputError(f"expected a value for assumption c, but got {c!r}")
    raw = parse_value(c_format, c if isinstance(c, str) else str(c)) if c is not None else None
    factors, spread = given.get("factors"), given.get("spread")
    products, total = (
        None if given.get(name) is None else parse_region(str(given[name]), name)
        for name in ("products", "sum")
    )
    if isinstance(spread, str):
        spread = read_int("assumption spread", spread.strip())
    return Assumptions(tuple(flags), elements, raw, scales, factors, products, total, spread)


def from_texts(c_format: Format, texts: Sequence[str]) -> Assumptions:
    """Parse assumptions in command-line spelling: `finite`, `exponents=-14..15`, `c=0`."""
    arguments: dict[str, str | bool] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        check_choice("assumption", name, [*FLAGS, *_VALUED])
        if name in arguments:
            raise InputError(f"expected each assumption once, but got {name} twice")
        if name in _VALUED and not value:
            raise InputError(
                f"expected assumption {name} with a value, such as {_VALUED[name]}, but got none"
            )
        if name in FLAGS and equals:
            raise InputError(f"expected assumption {name} without a value, but got {text.strip()!r}")
        arguments[name] = value if equals else True
    return assumptions(c_format, arguments)


def _span(value: Any, name: str) -> tuple[int, int]:
    if isinstance(value, str):
        match = _RANGE.match(value)
        value = (int(match[1]), int(match[2])) if match else value
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise InputError(f"expected {name} as LOW..HIGH, but got {shown(value)}")
    low = check_int("the lowest exponent", value[0], low=-40000, high=40000)
    return low, check_int("the highest exponent", value[1], low=low, high=40000)


def assume_of_unit(g: Graph, what: Assumptions, spec: UnitSpec, x: OperandNodes) -> Node:
    """The node that is 1 where a unit's operands satisfy every assumption.

    Errors: InputError for an assumption about scales of a unit without scales, and for one about exact
    products of a unit with scales.
    """
    o, scale = spec.operands, spec.scale_format
    if what.scale_exponents is not None and scale is None:
        raise InputError(f"expected units with scales for scale_exponents, but got {spec.name}")
    words = [*((w, o.a) for w in x.a), *((w, o.b) for w in x.b), (x.c, o.c)]
    scales = [] if scale is None else [(w, scale) for w in (*x.scale_a, *x.scale_b)]
    holds = assume(g, what, words, x.c, scales)
    factors = [(unpack(g, w, o.a), unpack(g, y, o.b)) for w, y in zip(x.a, x.b, strict=True)]
    if what.factors is not None:
        for pair in factors:
            for factor, fmt in zip(pair, (o.a, o.b), strict=True):
                holds = g.and_(holds, _flag(g, what.factors, factor, fmt))
    if what.spread is not None:
        with g.scope("assumed.spread"):
            holds = g.and_(holds, within_spread(g, spec, x, what.spread))
    if what.products is None and what.sum is None:
        return holds
    if scale is not None:
        raise InputError(f"expected units without scales for products and sum, but got {spec.name}")
    products = [product(g, *pair) for pair in factors]
    if what.products is not None:
        for k, p in enumerate(products):
            with g.scope(f"assumed.product{k}"):
                holds = g.and_(holds, in_region(g, [p], what.products))
    if what.sum is not None:
        with g.scope("assumed.sum"):
            holds = g.and_(holds, in_region(g, [*products, unpack(g, x.c, o.c)], what.sum))
    return holds


def assume(
    g: Graph,
    what: Assumptions,
    operands: Sequence[tuple[Node, Format]],
    c: Node,
    scales: Sequence[tuple[Node, Format]] = (),
) -> Node:
    """The node that is 1 where raw operands and block scales satisfy every assumption."""
    holds = g.truth(True)
    bounded = [(x, what.exponents) for x in operands] + [(x, what.scale_exponents) for x in scales]
    for (word, fmt), span in bounded:
        number = unpack(g, word, fmt)
        for flag in what.flags:
            if what.c is None or word is not c or flag not in _NOT_OF_FIXED_C:
                holds = g.and_(holds, _flag(g, flag, number, fmt))
        if span is not None:
            holds = g.and_(holds, g.or_(number.term.zero, _within(g, number, span)))
    if what.c is not None:
        holds = g.and_(holds, g.eq(c, g.const(what.c, c.width)))
    return holds


def _flag(g: Graph, flag: str, x: Number, fmt: Format) -> Node:
    finite = g.not_(g.or_(x.nan, x.inf))
    if flag == "finite":
        return finite
    if flag == "positive":
        return g.not_(x.term.sign)
    if flag == "nonzero":
        # The one NaN of such a format has the bits of a zero.
        zero_nan = fmt.specials is Specials.NEGATIVE_ZERO_NAN
        return g.or_(g.not_(x.term.zero), x.nan) if zero_nan else g.not_(x.term.zero)
    if flag == "subnormal":
        return g.and_(finite, g.not_(x.term.zero), g.not_(g.top(x.term.significand)))
    return g.and_(finite, g.top(x.term.significand))


def _within(g: Graph, x: Number, span: tuple[int, int]) -> Node:
    exponent = x.term.exponent
    low, high = max(span[0], exponent.low), min(span[1], exponent.high)
    if low > high:
        return g.truth(False)
    above = g.ule(g.const(low - exponent.low, exponent.bits.width), exponent.bits)
    below = g.ule(exponent.bits, g.const(high - exponent.low, exponent.bits.width))
    return g.and_(above, below)
