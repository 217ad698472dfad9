"""The register of claims: for each name its applicable units and its possible assumptions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tcformal.backends.concrete import Concrete
from tcformal.checks import check_choice
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.integer_sums import check_floating
from tcformal.design.short_names import in_names
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.query.assume import Assumptions, assume_of_unit, from_texts
from tcformal.query.properties import check_halves
from tcformal.semantics.chain import declare_inputs
from tcformal.theory.theorems import AGREEMENT, SEPARATOR, STATEMENTS


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of `theory.theorems.STATEMENTS`: its applicable units and its possible assumptions."""

    #: The names of the assumptions that it can be asked under.
    assumes: tuple[str, ...] = ()
    #: What a unit has to be, in words, and whether it is.
    about: tuple[str, Callable[[UnitSpec], bool]] = ("a unit", lambda _: True)
    #: Refuses further units by InputError.
    check: Callable[[UnitSpec], None] = lambda _: None


_ONE_SUM = "one sum of aligned and truncated terms"
_OF_SUMS = ("finite", "c", "exponents", "scale_exponents")

CLAIMS: dict[str, Claim] = {
    "product-order": Claim(
        ("finite", "exponents", "c", "spread"), ("two or more products", lambda u: u.k > 1)
    ),
    "sign-magnitude": Claim(about=(
        f"{_ONE_SUM}, without a bound and in two's complement",
        lambda u: u.design.one_sum and u.design.carry_bits is None
        and u.design.accumulation == "twos_complement",
    )),
    "carry-bits": Claim(about=(
        f"{_ONE_SUM} without a bound on its bits", lambda u: u.design.one_sum and u.design.carry_bits is None
    )),
    "negation-symmetry": Claim(("c", "exponents")),
    "error-bound": Claim(("c",)),
    "relative-error": Claim(("c",)),
    "monotonicity": Claim(about=(
        "sums that are exact and then rounded", lambda u: u.design.fraction_bits is None and u.tree is None
    )),
    "integer-sums": Claim(),
    "exact-sum": Claim(_OF_SUMS, (
        "sums of aligned and truncated terms", lambda u: u.design.fraction_bits is not None and u.tree is None
    )),
    "correctly-rounded": Claim(_OF_SUMS, (
        "a unit of one design", lambda u: u.emulation is None and u.tree is None
    )),
    "zero-products": Claim(check=check_halves),
    "zero-exponent": Claim(about=(
        f"{_ONE_SUM} with an exponent for zero terms",
        lambda u: u.design.one_sum and isinstance(u.design.zero_exponent, int),
    )),
}  # fmt: skip


def refused(claim: str, spec: UnitSpec) -> str:
    """The reason why a claim does not apply to a unit under any assumptions; empty if it applies."""
    name = claim.partition(SEPARATOR)[0]
    entry = CLAIMS[name]
    what, about = entry.about
    if not about(spec):
        falls = f": tcformal monotonicity {spec.name} looks for results that fall" * (name == "monotonicity")
        return f"expected {what} for claim {name}, but got {spec.name}{falls}"
    try:
        if name not in ("product-order", "integer-sums"):
            check_floating(spec, f"claim {name}")
        entry.check(spec)
    except InputError as error:
        return str(error)
    return ""


def can_be_asked(claim: str) -> bool:
    """Whether a claim's full name, assumptions included, is valid."""
    return claim.partition(SEPARATOR)[0] in (*CLAIMS, AGREEMENT)


def under(claim: str, what: Assumptions) -> str:
    """The full name of a claim with its assumptions: `negation-symmetry; c=0x0`."""
    return SEPARATOR.join([claim, *what.spellings()])


def conditions(claim: str, spec: UnitSpec) -> Assumptions:
    """Parse the assumptions in a claim's full name.

    Errors: UnknownNameError for a claim that does not exist, InputError for an assumption that it cannot
    use, or for assumptions that a, b of zeros and c do not obey, so that it may be about no inputs.
    """
    name, *texts = claim.split(SEPARATOR)
    entry, what = CLAIMS[check_choice("claim", name, STATEMENTS)], from_texts(spec.operands.c, texts)
    for text in what.spellings():
        if text.partition("=")[0] not in entry.assumes:
            usable = ", ".join(entry.assumes) or "none"
            raise InputError(f"expected assumptions that claim {name} uses ({usable}), but got {text}")
    if not what:
        return what
    g = Graph()
    asked = assume_of_unit(g, what, spec, declare_inputs(g, spec, spec.k))
    ones = {n: spec.scale_format.one for n in g.inputs if n.startswith("scale_") and spec.scale_format}
    zeros = {**dict.fromkeys(g.inputs, 0), **ones, "c": what.c or 0}
    if Concrete(g, [asked])(zeros) != [1]:
        raise InputError(f"expected assumptions that zeros obey, but got {', '.join(what.spellings())}")
    return what


def units_of(claims: Sequence[str], text: str = "") -> Iterator[UnitSpec]:
    """One unit per distinct design to which some of the claims apply, with `text` in its name."""
    text = in_names(text)
    for name in distinct_designs():
        if text in name and not all(refused(claim, catalogue()[name]) for claim in claims):
            yield catalogue()[name]
