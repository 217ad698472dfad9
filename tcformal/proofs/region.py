"""Within which spread of exponents two units agree: by a theorem, and inputs of the next spread."""

from __future__ import annotations

from dataclasses import replace

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InvariantError
from tcformal.proofs.counterexample import counterexample
from tcformal.proofs.verdict import ClaimPart, PartStatus
from tcformal.query.assume import Assumptions, from_texts
from tcformal.query.nearest import Nearest, nearest, within
from tcformal.query.pair import question
from tcformal.query.replay import replay
from tcformal.theory.answers import SEPARATOR, TheoremAnswer

#: What is said of units that agree within no spread.
AT_ONCE = "differ where all exponents are equal"


def region_at_once(
    first: UnitSpec, claim: str, theorem: TheoremAnswer | None, seed: int
) -> tuple[tuple[ClaimPart, ...], str] | None:
    """The parts of a claim of agreement, and what they show: the theorem's spread, inputs of the next one.

    Without a theorem, inputs whose exponents are all equal; None where there are none.
    """
    _, name, *texts = claim.split(SEPARATOR)
    second, what = resolve(name), from_texts(first.operands.c, texts)
    numbers = {} if theorem is None else theorem.instance.numbers
    inside = int(numbers.get("spread", -1))
    if theorem is not None and inside >= numbers["high"] - numbers["low"]:
        every = ClaimPart(name="every spread", status=PartStatus.HOLDS)
        return (every,), "the units agree within every spread"
    q = question(first, second, what)
    outside = within(q, seed, inside + 1)
    if outside is None and theorem is not None:
        outside = nearest(q, seed)
    if outside is not None and outside.spread <= inside:
        raise InvariantError(
            f"expected {first.name} and {name} to agree within {inside}, but they differ at {outside.spread}"
        )
    control = None if outside is None else _shown(first, second, what, outside)
    if theorem is None:
        return None if control is None else ((control,), f"the results {AT_ONCE}")
    held = ClaimPart(name=f"spread {inside}", status=PartStatus.HOLDS)
    if control is None:
        return (held,), f"the units agree within {held.name}; no inputs were found on which they differ"
    return (held, control), f"the units agree within {held.name}, and differ at {control.name}"


def _shown(first: UnitSpec, second: UnitSpec, what: Assumptions, outside: Nearest) -> ClaimPart | None:
    """Inputs on which both units differ, replayed under the assumptions and their spread."""
    outer = question(first, second, replace(what, spread=outside.spread))
    if not replay(outer, outside.witness).confirms:
        return None
    w = counterexample((first, outside.witness), (second, outside.witness), "vectors")
    return None if w is None else ClaimPart(
        name=f"spread {outside.spread}", status=PartStatus.VIOLATED, witness=w, control=outside.spread > 0
    )  # fmt: skip
