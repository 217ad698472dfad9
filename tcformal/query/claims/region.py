"""Within which spread of exponents two units agree: by a theorem, and inputs of the next spread."""

from __future__ import annotations

from dataclasses import replace

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, InvariantError
from tcformal.query.assume import Assumptions, from_texts
from tcformal.query.claims.verdict import ClaimPart, PartStatus
from tcformal.query.claims.witnesses import counterexample
from tcformal.query.nearest import Nearest, nearest, within
from tcformal.query.pair import question
from tcformal.query.question import Kind
from tcformal.query.replay import replay
from tcformal.theory.answers import SEPARATOR, TheoremAnswer

#: What is said of units that agree within no spread.
AT_ONCE = "differ where all exponents are equal"


def region_shown(
    first: UnitSpec, claim: str, theorem: TheoremAnswer | None, seed: int
) -> tuple[Kind, tuple[ClaimPart, ...], str]:
    """The verdict on a claim of agreement, its parts, and what they show: the spread, inputs of the next one.

    Without a theorem the claim is VIOLATED by inputs whose exponents are all equal, and else UNKNOWN.
    Errors: InputError for a claim with a spread, which is what is looked for.
    """
    _, name, *texts = claim.split(SEPARATOR)
    second, what = resolve(name), from_texts(first.operands.c, texts)
    if what.spread is not None:
        raise InputError("expected assumptions other than spread, which is looked for, but got one")
    numbers = {} if theorem is None else theorem.instance.numbers
    inside = int(numbers.get("spread", -1))
    if theorem is not None and inside >= numbers["high"] - numbers["low"]:
        every = ClaimPart(name="every spread", status=PartStatus.HOLDS)
        return Kind.HOLDS, (every,), "the units agree within every spread"
    q = question(first, second, what)
    outside = within(q, seed, inside + 1) or nearest(q, seed)
    if outside is not None and outside.spread <= inside:
        raise InvariantError(
            f"expected {first.name} and {name} to agree within {inside}, but they differ at {outside.spread}"
        )
    control = None if outside is None else _shown(first, second, what, outside)
    if theorem is None:
        if control is None:
            return Kind.UNKNOWN, (), "no inputs were found on which the units differ"
        if outside is not None and outside.spread == 0:
            return Kind.VIOLATED, (control,), f"the results {AT_ONCE}"
        return Kind.UNKNOWN, (control,), f"the units differ at {control.name}; below it nothing is proved"
    held = ClaimPart(name=f"spread {inside}", status=PartStatus.HOLDS)
    if control is None:
        said = f"the units agree within {held.name}; no inputs were found on which they differ"
        return Kind.HOLDS, (held,), said
    return Kind.HOLDS, (held, control), f"the units agree within {held.name}, and differ at {control.name}"


def _shown(first: UnitSpec, second: UnitSpec, what: Assumptions, outside: Nearest) -> ClaimPart | None:
    """Inputs on which both units differ, replayed under the assumptions and their spread."""
    outer = question(first, second, replace(what, spread=outside.spread))
    if not replay(outer, outside.witness).confirms:
        return None
    w = counterexample((first, outside.witness), (second, outside.witness), "vectors")
    return None if w is None else ClaimPart(
        name=f"spread {outside.spread}", status=PartStatus.VIOLATED, witness=w, control=outside.spread > 0
    )  # fmt: skip
