"""Stage records: the intermediate values of the semantics, typed, for explanations and proofs.

Explanations and proofs read these records; the labels of the graph name the same nodes for people only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tcformal.design.rounding import Conversion
from tcformal.encodings.spec import Format
from tcformal.ir.node import Node
from tcformal.semantics.number import Exponent, Number, Term


@dataclass(frozen=True, slots=True)
class Operand:
    """The name of an operand or result of a sum.

    `products`: the exact product of one k, or the exact sum of those of a group, `ks`; `c`; `zero`, the +0
    that a chain starts from; `running`, `even`, `odd`: the sum so far, or that of one of two chains;
    `tree`: the sum of some products, `of`; `block`: the result of block `number`; `parts`: the sum of the
    parts of a composed unit; `call`: the result of a composed unit, called with others where `number` is
    its place.
    """

    kind: Literal["products", "c", "zero", "running", "even", "odd", "tree", "block", "parts", "call"]
    ks: tuple[int, ...] = ()
    number: int | None = None
    of: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Nan:
    """An operand of a step as a candidate NaN.

    Shapes: present u[1]; word u[fmt.width], or u[d.width] of a quiet NaN where `fmt` is None.
    Zero, NaN, Inf: where `present` is 0 the word means nothing.
    """

    #: `a` and `b` are the factors of the product `operand`, every other name is of `operand` itself.
    name: str
    operand: Operand
    present: Node
    word: Node
    fmt: Format | None = None


@dataclass(frozen=True, slots=True)
class Maximum:
    """The largest exponent of some terms, with its tree of comparisons.

    Shapes: code u[w]; `halves` are the two that are compared, none for a single exponent.
    Ranges and units: exponent = code + low, for every node of one tree.
    """

    code: Node
    low: int
    halves: tuple[Maximum, ...] = ()


@dataclass(frozen=True, slots=True)
class AlignedTerm:
    """One addend of a sum, before and after alignment.

    Ranges and units: `distance` is e_max less the term's own exponent; `shift` is e_max less the exponent
    with which it takes part in e_max, and what it is shifted by; `aligned` counts units of
    2^(e_max - fraction_bits).
    """

    #: The operands of the step that this is the exact sum of, by place.
    members: tuple[int, ...]
    term: Term
    distance: Node
    shift: Node
    aligned: Node


@dataclass(frozen=True, slots=True)
class PartialSum:
    """A partial sum in two's complement, with its two addends.

    Shapes: `of` are addends or partial sums, none where these are signs and magnitudes.
    """

    node: Node
    of: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """The bits of a sum's terms that alignment cut off.

    Shapes: some u[1], whether there are any; sign u[1], that of a sum that is nothing but such bits.
    """

    some: Node
    sign: Node


@dataclass(frozen=True, slots=True)
class Floored:
    """A count of units after rounding down: two's complement, or the magnitude of c."""

    shift: Node
    kept: Node


@dataclass(frozen=True, slots=True)
class Total:
    """A sum of aligned terms, unrounded.

    Shapes: bits s[w], two's complement; no `terms` where operands are not aligned one by one.
    Ranges and units: value = bits · 2^(e_max - fraction_bits).
    """

    bits: Node
    e_max: Exponent
    fraction_bits: int
    #: How e_max was found; None where it is not that of the terms' exponents.
    maximum: Maximum | None = None
    terms: tuple[AlignedTerm, ...] = ()
    partials: tuple[PartialSum, ...] = ()
    #: What sets the sum apart from that of the kept parts: complements, lost bits; empty where nothing does.
    moved_by: str = ""
    #: The bits that were cut off, where the sum remembers them.
    lost: Lost | None = None
    #: Whether any were, where the sum's rounding looks at that.
    sticky: Node | None = None
    #: The sums that it is the sum of, and what it keeps of each, and of c after them, where it rounds down.
    of: tuple[Total, ...] = ()
    floored: tuple[Floored, ...] = ()

    @property
    def lsb(self) -> Exponent:
        """The exponent of the sum's lowest bit."""
        return self.e_max.shifted(-self.fraction_bits)


@dataclass(frozen=True, slots=True)
class Lift:
    """The denormalisation of a magnitude: a sticky right shift until its top bit weighs at least 2^e_min.

    Shapes: below u[1], whether it is; distance the shift that this takes, amount the one that is made, which
    the width bounds; shifted u[n], lost u[1], whether a 1 was lost.
    """

    below: Node
    distance: Node
    amount: Node
    shifted: Node
    lost: Node


@dataclass(frozen=True, slots=True)
class Rounded:
    """A conversion of a sum: the magnitude normalised, cut, and rounded.

    Shapes: magnitude u[n], its top bit weighing 2^top; normalised u[n], distance the left shift that
    normalised it, at most limit; kept u[target.precision]; away u[1].
    Ranges and units: limit = top - e_min, height = limit - distance.
    `result` is what IEEE 754 calls the rounded number: its sign, significand and exponent, Inf on overflow.
    """

    target: Conversion
    normalised: Node
    distance: Node
    kept: Node
    away: Node
    result: Number
    magnitude: Node
    top: Exponent
    limit: Node
    height: Node
    #: None where no magnitude lies below the least exponent.
    lift: Lift | None

    @property
    def parts(self) -> tuple[Node, Node, Node, Node]:
        """The result's sign, significand, exponent and overflow flag."""
        term = self.result.term
        return term.sign, term.significand, term.exponent.bits, self.result.inf


@dataclass(frozen=True, slots=True)
class SpecialCases:
    """The special cases around a rounded sum: flags u[1], and the final `result`."""

    some_nan: Node
    positive_inf: Node
    negative_inf: Node
    result: Number
    #: The numbers that were summed, or the one that was rounded.
    operands: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class Summed:
    """One *align · add · normalise · round* step; `total` is None for the rounding of one number."""

    total: Total | None
    rounded: Rounded
    specials: SpecialCases

    @property
    def result(self) -> Number:
        """The step's output after all special cases."""
        return self.specials.result


@dataclass(frozen=True, slots=True, kw_only=True)
class DotStep:
    """One sum, or one rounding of a product, with its place in the dot product."""

    #: Where it stands, as people read it.
    scope: str
    operands: tuple[Operand, ...]
    made: Operand
    #: None for the rounding of a product.
    total: Total | None
    #: A conversion before that of `rounded`: the floor of CDNA3's sums.
    floor: Summed | None = None
    #: None where the sum goes on as it is.
    rounded: Rounded | None
    specials: SpecialCases | None
    #: The conversion by name, and whether the sum is exact before it.
    conversion: str
    exact: bool
    #: The operands whose NaN the step may hand on, first things first; none where all NaNs are one word.
    nans: tuple[Nan, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupSum:
    """The exact sum of a group of products.

    Shapes: total s[w], in units of 2^-scale; zero u[1], 1 where every product of the group is zero;
    placed: the magnitude of each of the products `terms` in these units.
    """

    scope: str
    total: Node
    scale: int
    zero: Node
    terms: tuple[Term, ...]
    placed: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a dot product: its steps in definition order, and its result."""

    scope: str
    groups: tuple[GroupSum, ...]
    steps: tuple[DotStep, ...]
    result: Node


@dataclass(frozen=True, slots=True)
class Dot:
    """One dot product with all its stages.

    A composed unit has an addition of c after its blocks; called again, it has as many of both as calls.
    """

    result: Node
    stages: tuple[Block | DotStep, ...]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks in order, including those of a composed unit's parts."""
        return tuple(x for x in self.stages if isinstance(x, Block))

    @property
    def steps(self) -> Iterator[DotStep]:
        """Every step in definition order."""
        for x in self.stages:
            yield from x.steps if isinstance(x, Block) else (x,)
