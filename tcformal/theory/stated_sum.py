"""Which exact sum a statement is about: operands as they are or flushed, products taken away, and c."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tcformal.design.spec import Design, subtracts
from tcformal.design.unit import UnitSpec

#: The operands of a sum, and rules by which a subnormal of one counts as 0.
LETTERS = frozenset("abc")
ZEROS = ("positive_zero", "signed_zero")
#: The place of a c that is supposed to be zero.
NO_C = "zero"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedSum:
    """c + Σ ±a_k·b_k of one call: what a theorem is about, or what the user of a theorem needs.

    Ranges and units: letters of operands: of `flushed` ones subnormals count as 0; of `normal` ones none is
    subnormal.  For a user: of `flushed` ones it counts itself what a theorem takes for 0; of `normal` ones it
    knows that none is subnormal.
    """

    flushed: frozenset[str] = frozenset()
    normal: frozenset[str] = frozenset()
    #: Products that are taken away, as a design's `negated` says it.
    subtracted: str = "none"
    #: Where c joins the products, as a design says it, or NO_C.
    c: str = "joined"
    #: Fraction bits that c has at most; None: of any c.
    c_bits: int | None = None

    def refusal(self, needed: StatedSum, name: str, products: int) -> str:
        """Why a theorem about this sum of a unit says nothing of so many products of another one.

        '' where it says something.
        """
        letters = LETTERS - {"c"} if needed.c == NO_C else LETTERS
        # The first k, of the even and of the odd ones, whose products have other signs.
        few = range(min(products, 2))
        others = [k for k in few if subtracts(self.subtracted, k) != subtracts(needed.subtracted, k)]
        if others:
            wanted, own = (
                "taken away" if subtracts(x.subtracted, others[0]) else "added" for x in (needed, self)
            )
            which = "odd" if others[0] else "even" if len(others) == 1 else "every"
            return f"expected products of {which} k that are {wanted}, but those of {name} are {own}"
        if self.c == NO_C and needed.c != NO_C:
            return f"expected a theorem about any c, but that about {name} is about c = 0"
        if unknown := (self.normal & letters) - needed.normal:
            return f"expected {_listed(unknown)} to be zero or normal for {name}, but some may be subnormal"
        if lost := (self.flushed & letters) - needed.normal - needed.flushed:
            return f"expected {_listed(lost)} as they are, but {name} takes subnormal ones for 0"
        longer = needed.c_bits is None or (self.c_bits is not None and needed.c_bits > self.c_bits)
        if needed.c != NO_C and self.c_bits is not None and longer:
            return f"expected c of at most {self.c_bits} fraction bits for {name}, but it may have more"
        return ""


def _listed(letters: Iterable[str]) -> str:
    return " and ".join(sorted(letters))


def operand_rules(design: Design) -> tuple[str, str]:
    """What subnormals of A and of B count as."""
    rule = design.operand_subnormals
    return rule, rule if design.b_subnormals is None else design.b_subnormals


def flushed_letters(design: Design) -> frozenset[str]:
    """The operands whose subnormals count as 0."""
    rules = zip("abc", (*operand_rules(design), design.c_subnormals), strict=True)
    return frozenset(letter for letter, rule in rules if rule in ZEROS)


def sum_of(unit: UnitSpec) -> StatedSum:
    """The sum of a unit by its design: every operand, those that it takes for 0 as 0."""
    design = unit.design
    return StatedSum(flushed=flushed_letters(design), subtracted=design.negated, c=design.c_position)


def normal_sum(unit: UnitSpec, *, c_bits: int | None = None) -> StatedSum:
    """That of a theorem about operands that are zero or normal.

    A unit that takes subnormals for 0 gives for them what it gives for 0: the theorem is one about them, too.
    """
    d, c, flushed = unit.design, unit.operands.c, flushed_letters(unit.design)
    bits = d.fraction_bits
    # Whether a sum of zeros and c is c, so that it is no matter whether zeros are left out.
    kept = bits is None or (d.zero_exponent == "none" and bits >= c.fraction_bits)
    kept = kept and c == unit.operands.d and d.rho.fraction_bits >= c.fraction_bits
    if d.zero_words == "skipped" and not kept:
        # Words that are taken for 0 are not skipped, as those that are 0 are.
        flushed = frozenset()
    return StatedSum(
        flushed=flushed, normal=LETTERS - flushed, subtracted=d.negated, c=d.c_position, c_bits=c_bits
    )
