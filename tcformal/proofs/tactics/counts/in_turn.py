"""The sums of a dot product in turn: each is a count of its terms, rounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tcformal.errors import ProofError
from tcformal.proofs.tactics.counts.counted import Count, Counted, CountedTerms
from tcformal.proofs.tactics.counts.floored import floored
from tcformal.proofs.tactics.counts.lossless import LosslessSum
from tcformal.proofs.tactics.counts.shifted import Unrounded
from tcformal.semantics.stages import Dot, Operand, Rounded, SpecialCases


def lossless(w: CountedTerms, dot: Dot, overflow: str) -> Count:
    """Make a unit's result that of its terms' exact sum, rounded once; the sum.

    Every sum but the last has to be a number of its format.  Errors: ProofError where that is not proved.
    """
    steps, sums, whole = list(dot.steps), dict[Operand, Counted](), dict[Operand, Unrounded]()
    for step in steps:
        w.where = step.scope
        if step.rounded is None and step.total is not None and step is not steps[-1]:
            whole[step.made] = LosslessSum(w, step, sums).unrounded()
            continue
        if step.rounded is None or step.specials is None:
            raise ProofError(f"expected sums that are each rounded, but got another at {step.scope}")
        live = [x for x in step.operands if x.kind != "zero" and (x.kind != "c" or w.counts[-1].most)]
        made_before = sums.keys() | whole.keys()
        unknown = next((x for x in live if x.kind not in ("products", "c") and x not in made_before), None)
        if unknown is not None:
            raise ProofError(f"expected sums of earlier ones at {step.scope}, but got {unknown.kind}")
        earlier = [sums[x].count for x in live if x in sums]
        _no_specials(w, step.specials, earlier)
        alone = sums.get(live[0]) if step.exact and len(live) == 1 else None
        if step.floor is not None:
            _no_specials(w, step.floor.specials, earlier)
            made = floored(w, step, whole[step.operands[0]], sums, overflow)
        elif alone is not None and alone.exact.target == step.rounded.target:
            made = alone
            _goes_on(w, step.rounded, made)
        else:
            made = LosslessSum(w, step, sums, whole).rounded(overflow)
        sums[step.made] = made
        if step is not steps[-1]:
            cut = [made.count.node, w.code, *w.signs]
            given = [made.count.fact, *w.limit]
            w.equal(w.c.graph.truth(False), made.exact.result.inf, "no sum overflows", cut, given)
            w.instead[step.rounded.result.inf] = w.c.graph.truth(False)
    return made.count


def known_sums(dot: Dot) -> None:
    """Refuse a dot product with sums of another kind, before anything is proved of it.

    Errors: ProofError for a step that is neither a sum aligned at e_max nor the rounding of one sum again.
    """
    for step in dot.steps:
        if step.rounded is None and step.total is None:
            raise ProofError(f"expected sums that are each rounded, but got another at {step.scope}")
        has_floor = step.floor is not None
        aligned = has_floor or (step.total is not None and step.total.maximum is not None)
        again = [x.kind for x in step.operands if x.kind not in ("zero", "c")]
        if not aligned and (len(again) != 1 or again == ["products"]):
            raise ProofError(f"expected a sum aligned at e_max at {step.scope}, but got another")


def why_unknown(dots: Iterable[Dot]) -> str:
    """Which sum is of a kind that is not counted; nothing where none is."""
    try:
        for dot in dots:
            known_sums(dot)
    except ProofError as error:
        return str(error)
    return ""


def _goes_on(w: CountedTerms, rounded: Rounded, made: Counted) -> None:
    """The sum of a number and zeros that are positive is that number."""
    cut, given = [made.count.node, w.code, *w.signs], [made.count.fact, *w.limit]
    try:
        w.take_over(rounded, made.exact, cut, given)
    except ProofError:  # where the sum before was rounded up, other bits are kept
        w.take_parts(rounded, made.exact, cut, given)
    w.take_sign(rounded, made.exact, cut, given)


def _no_specials(w: CountedTerms, found: SpecialCases, earlier: Sequence[Count]) -> None:
    """No operand of a step is NaN or Inf."""
    cut, no = [w.code, *(x.node for x in earlier), *w.signs], w.c.graph.truth(False)
    known = [*w.limit, *(x.fact for x in earlier)]
    flags = (found.some_nan, found.positive_inf, found.negative_inf)
    for flag, node in w.rebuilt(flags).items():
        w.equal(no, node, "no operand of a sum is NaN or Inf", cut, [*w.given(node), *known])
        w.instead[flag] = no
