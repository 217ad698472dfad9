"""Claims about a design answered from theorems: the instance, what it rests on, or what stands in its way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations

from tcformal.checks import check_choice
from tcformal.design.integer_sums import narrow
from tcformal.design.names import resolve
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.shown import JsonObject
from tcformal.theory.checked import checked_with, source_of
from tcformal.theory.claims import CLAIMS, claim_instance, negation_from_zero
from tcformal.theory.design import block_size, undescribed, without_theorem
from tcformal.theory.instances import Instance, coq_instance
from tcformal.theory.regions import Exactness, any_order, exactness, region
from tcformal.theory.stated_sum import operand_rules

#: What each claim about one unit says.
STATEMENTS: dict[str, str] = {
    "product-order": "the order of the products does not change the result",
    "sign-magnitude": "sums in sign and magnitude and in two's complement agree",
    "carry-bits": "carry bits beyond those that the largest sum needs change nothing",
    "negation-symmetry": "Φ(−A, B, −C) = −Φ(A, B, C)",
    "error-bound": "how far a result can be from the exact sum",
    "relative-error": "how far one block's result can be from the exact sum, in units of Σ|a_k·b_k| + |c|",
    "monotonicity": "no larger c gives a smaller result",
    "integer-sums": "up to which size sums of integers are exact",
    "exact-sum": "no sum loses a bit before it is rounded",
    "correctly-rounded": "every result is the exact sum of the products and c, rounded once",
    "zero-products": "half the products +0·+0 change nothing",
    "zero-exponent": "no exponent of zero terms below all others changes a result",
}
#: What separates a claim's name and the assumptions that it is asked under.
SEPARATOR = "; "
#: The claim about two units, the second of which follows it with the assumptions.
AGREEMENT = "agreement"
#: The range of exponents that a claim of agreement may assume.
_EXPONENTS = re.compile(r"exponents=(-?[0-9]+)\.\.(-?[0-9]+)")
#: The spread of exponents that a claim about the order of products may assume.
_SPREAD = re.compile(r"spread=([0-9]+)")
#: Assumptions that theorems speak of; under c = 0 a claim has a theorem of its own, and that claim.
_FINITE, _ZERO_C = "finite", "c=0x0"
_OF_ORDER, _OF_NEGATION = "product-order", "negation-symmetry"
#: Claims about what a sum loses before it is rounded.
_OF_SUMS = ("exact-sum", "correctly-rounded")
#: Claims of which the loss of one block is said as one number, and how many characters a fraction may have.
_RELATIVE, _SHORT = ("relative-error", "error-bound"), 24
#: The name under which Coq knows that two terms are one by computation.
_BY_DEFINITION = "eq_refl"


def claims_named(name: str) -> tuple[str, ...]:
    """The claims that a name stands for: itself, or all of them; UnknownNameError for another name."""
    check_choice("claim", name, [*STATEMENTS, "all"])
    return tuple(STATEMENTS) if name == "all" else (name,)


@dataclass(frozen=True)
class TheoremAnswer:
    """A claim that is true of a design as an instance of a theorem."""

    instance: Instance

    @property
    def says(self) -> str:
        """What the theorem says of the unit, with its numbers."""
        return self.instance.says

    @property
    def reason(self) -> str:
        """What is true of the unit, as it was asked: an error of one block as one number."""
        x = self.instance
        loss = _loss(x)
        if loss is None:
            return self.says
        block, zero_c = f"one block of {block_size(x.unit)} products", SEPARATOR in x.claim
        d = x.unit.design
        plain = {*operand_rules(d), d.c_subnormals} == {"kept"} and d.negated == "none"
        if plain and x.unit.scale_format is None:  # terms are products of the operands as they are, and c
            both = "(Σ a_k·b_k + c)", "(Σ|a_k·b_k| + |c|)"
            error, sizes = ("Σ a_k·b_k", "Σ|a_k·b_k|") if zero_c else both
            return f"|d - {error}| <= {_at_most(loss)}·{sizes} + η in {block}, η as in the theorem"
        terms = "products" if zero_c else "products and c"
        return (
            f"|d - Σ terms| <= {_at_most(loss)}·Σ|terms| + η in {block}, η as in the theorem; terms: {terms} "
            "as the unit takes them in, with scales and signs, and without what it flushes"
        )

    @property
    def name(self) -> str:
        """The theorem's name in Coq."""
        return self.instance.theorem

    @cached_property
    def source(self) -> str:
        """The file that states the theorem, in the folder of the sources; empty for a computation."""
        return "" if self.name == _BY_DEFINITION else source_of(self.name)

    @cached_property
    def rests_on(self) -> tuple[str, ...]:
        """What the answer rests on, one sentence each: the theorem's check, and what it is about."""
        version = checked_with(self.source) if self.source else checked_with("Spec.v")
        what = "theorem" if self.source else "specification"
        checked = (
            f"{what} checked with Coq {version}" if version
            else f"{what} not checked since its sources changed: python -m tcformal.theory.checked does"
        )  # fmt: skip
        units = [x for x in (self.instance.unit, self.instance.other) if x is not None]
        return checked, *dict.fromkeys(map(_refined, units))

    @property
    def coq(self) -> str:
        """A file in which `coqc` checks the instance with the shipped sources."""
        return coq_instance(self.instance)

    def to_json(self) -> JsonObject:
        """The theorem and what it says as plain data."""
        x = self.instance
        return {
            "name": x.theorem, "source": self.source, "says": x.says, "arguments": list(x.arguments),
            "conditions": list(x.conditions), "constants": list(x.constants),
            "numbers": {name: str(number) for name, number in x.numbers.items()},
            "rests_on": list(self.rests_on),
        }  # fmt: skip


@lru_cache(maxsize=64)
def _refined(unit: UnitSpec) -> str:
    """That the circuit computes what the design does, where that is kept; else what the theorem is of."""
    from tcformal.theory.refinement import kept_refinement  # builds the circuit

    kept = kept_refinement(unit)
    return "of the specification: no refinement of the circuit is kept" if kept is None else kept.sentence()


def _loss(x: Instance) -> Fraction | None:
    """What one block may lose in units of its terms' magnitudes; None where no such number is said."""
    if x.claim.partition(SEPARATOR)[0] not in _RELATIVE or x.unit.emulation is not None:
        return None
    return x.numbers.get("first", x.numbers.get("kappa"))


def _at_most(x: Fraction) -> str:
    """A fraction, or a decimal number that is at least as large where its digits are many."""
    if len(str(x)) <= _SHORT:
        return str(x)
    with localcontext(Context(prec=6, rounding=ROUND_CEILING)):
        return str(Decimal(x.numerator) / Decimal(x.denominator))


def theorem_answer(unit: UnitSpec, claim: str) -> TheoremAnswer | None:
    """The theorem that makes a claim true of a unit under its assumptions; None where none does.

    `claim` is a name with the assumptions that follow it, such as `relative-error; c=0x0`.  What is true of
    all inputs is true of those that obey assumptions, whichever they are.
    """
    name, *assumed = claim.split(SEPARATOR)
    found = None
    if unit.d_format.integer:
        found = claim_instance(unit, name) if name in CLAIMS else None
    elif name == AGREEMENT:
        found = _region(unit, *assumed)
    elif name in _OF_SUMS:
        made = _exactness(unit, *assumed)
        found = None if made is None else made.sum if name == "exact-sum" else made.result
    elif name in CLAIMS:
        zero_c = _ZERO_C in assumed
        found = claim_instance(unit, name, zero_c=True) if zero_c else None
        found = found or claim_instance(unit, name)
        if found is None and name == _OF_ORDER and _FINITE in assumed:
            spreads = [int(x[1]) for text in assumed if (x := _SPREAD.fullmatch(text))]
            spread = spreads[0] if spreads else None
            found = any_order(unit, spread, zero_c=zero_c, exponents=_exponents(assumed))
        if found is None and name == _OF_NEGATION and zero_c:
            found = negation_from_zero(unit, _exponents(assumed))
    return None if found is None else TheoremAnswer(found)


def agreement_of(second: str, assumed: Sequence[str]) -> str:
    """The name of the claim that a unit agrees with a second one: `agreement; UNIT; finite; c=0x0`."""
    return SEPARATOR.join([AGREEMENT, second, *assumed])


def _region(first: UnitSpec, second: str, *assumed: str) -> Instance | None:
    """The theorem on the spread within which two units agree; None under assumptions that it is not about."""
    spans = [x.string for text in assumed if (x := _EXPONENTS.fullmatch(text))]
    if _FINITE not in assumed or not {_FINITE, _ZERO_C, *spans} >= {*assumed} or len(spans) > 1:
        return None
    return region(first, resolve(second), zero_c=_ZERO_C in assumed, exponents=_exponents(assumed))


def _exponents(assumed: Sequence[str]) -> tuple[int, int] | None:
    """The range of exponents of elements that is assumed."""
    spans = [x for text in assumed if (x := _EXPONENTS.fullmatch(text))]
    return (int(spans[0][1]), int(spans[0][2])) if spans else None


def _exactness(unit: UnitSpec, *assumed: str) -> Exactness | None:
    """What theorems say of the unit's sums; with c = 0 where that is assumed and says more."""
    free = exactness(unit)
    more = exactness(unit, zero_c=True) if _ZERO_C in assumed and (free is None or free.failed) else None
    return more or free


def in_the_way(unit: UnitSpec, claim: str) -> str:
    """Why no theorem answers a claim, in one sentence: the parameters that stand in the way.

    They are the fewest, at most three, that have to be the usual ones for a theorem to apply.
    """
    if lacking := undescribed(unit):
        return f"the specification in Coq, which theorems are about, has no {lacking}"
    if unknown := without_theorem(unit):
        return f"no theorem is about {unknown}"
    name, *assumed = claim.split(SEPARATOR)
    if unit.d_format.integer:
        narrower = " in partial sums that are narrower than the result" * narrow(unit)
        return f"no theorem about {name} is about integers{narrower}"
    made = _exactness(unit, *assumed) if name in _OF_SUMS else None
    if made is not None:
        return "; ".join(made.failed)
    if name not in CLAIMS and name not in _OF_SUMS:
        return f"no theorem is about {name}"
    for other, changed in _plainer(unit):
        found = theorem_answer(other, claim)
        if found is not None:
            was = unit.design.parameters()
            shown = ", ".join(f"{key}={was[key]}" for key in changed)
            usual = ", ".join(f"{key}={value}" for key, value in changed.items())
            return f"theorem {found.name} is not about {shown}: its side conditions are met with {usual}"
    parts = {"a composition of instructions": unit.emulation, "a tree of sums": unit.tree}
    kinds = [what for what, of in parts.items() if of is not None]
    return f"the side conditions of no theorem about {name} are met" + (f" by {kinds[0]}" if kinds else "")


def _plainer(unit: UnitSpec) -> Iterator[tuple[UnitSpec, Mapping[str, object]]]:
    """The unit with one parameter, two or three, as a design has them unless told otherwise."""
    usual = {f.name: f.default for f in fields(Design) if f.default is not MISSING}
    own = {name: value for name, value in usual.items() if getattr(unit.design, name) != value}
    for count in (1, 2, 3):
        for names in combinations(own, count):
            changed = {name: own[name] for name in names}
            try:
                yield replace(unit, design=replace(unit.design, **changed)), changed
            except InputError:  # no design has these together
                continue
