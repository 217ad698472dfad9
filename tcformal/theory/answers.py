"""Claims about a design answered from theorems: the instance, what it rests on, or what stands in its way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, replace
from functools import cached_property
from itertools import combinations
from typing import Any

from tcformal.checks import check_choice
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.theory.checked import checked_with, source_of
from tcformal.theory.claims import CLAIMS, claim_instance
from tcformal.theory.instances import Instance, coq_instance

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
#: The assumption under which a claim has a theorem of its own, and that claim.
_ZERO_C, _OF_ZERO_C = "c=0x0", "relative-error"
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
        return checked, "of the specification: no refinement of the unit's circuit is kept"

    @property
    def coq(self) -> str:
        """A file in which `coqc` checks the instance with the shipped sources."""
        return coq_instance(self.instance)

    def to_json(self) -> dict[str, Any]:
        """The theorem and what it says as plain data."""
        x = self.instance
        return {
            "name": x.theorem,
            "source": self.source,
            "says": x.says,
            "arguments": list(x.arguments),
            "conditions": list(x.conditions),
            "constants": list(x.constants),
            "numbers": {name: str(number) for name, number in x.numbers.items()},
            "rests_on": list(self.rests_on),
        }


def theorem_answer(unit: UnitSpec, claim: str) -> TheoremAnswer | None:
    """The theorem that makes a claim true of a unit under its assumptions; None where none does.

    `claim` is a name with the assumptions that follow it, such as `relative-error; c=0x0`.  What is true of
    all inputs is true of those that obey assumptions, whichever they are.
    """
    name, *assumed = claim.split(SEPARATOR)
    if name not in CLAIMS:
        return None
    found = None
    if name == _OF_ZERO_C and _ZERO_C in assumed:
        found = claim_instance(unit, name, zero_c=True)
    if found is None:
        found = claim_instance(unit, name)
    return None if found is None else TheoremAnswer(found)


def in_the_way(unit: UnitSpec, claim: str) -> str:
    """Why no theorem answers a claim, in one sentence: the parameters that stand in the way.

    They are the fewest, at most three, that have to be the usual ones for a theorem to apply.
    """
    name = claim.partition(SEPARATOR)[0]
    if name not in CLAIMS:
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


def _plainer(unit: UnitSpec) -> Iterator[tuple[UnitSpec, dict[str, Any]]]:
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
