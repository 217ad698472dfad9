"""Claim `agreement`: the spread within which two units, or two orders of products, give the same bits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from tcformal.callbacks import Patience
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.programs.chain import OperandNodes, chained_dot, common_k, declare_inputs
from tcformal.proofs.claim import Asking, ClaimPart, Finding, PartStatus, counterexample
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.region import AT_ONCE
from tcformal.proofs.tactics.counts.counted import NoRoom
from tcformal.proofs.tactics.counts.in_turn import why_unknown
from tcformal.proofs.tactics.counts.lost import lost_at
from tcformal.proofs.tactics.counts.no_nan import without_nan
from tcformal.proofs.tactics.counts.same_counts import CountedCall, same_counts, span_of
from tcformal.proofs.tactics.cuts import Composition, step_of
from tcformal.query.assume import Assumptions, from_texts
from tcformal.query.nearest import falling, nearer, nearest
from tcformal.query.pair import SIDES, question
from tcformal.query.replay import replay as replayed
from tcformal.semantics.stages import Dot
from tcformal.theory import answers

#: The claim's name, which the second unit and the assumptions follow, and what stands between them.
NAME, SEPARATOR = answers.AGREEMENT, answers.SEPARATOR

#: The processor's time for one question, in times of one solver's; what is not proved then is left open.
PATIENCE = 10

#: What is left open where no proof is tried.
_UNTRIED = "no witness was found, and no proof was tried"


def is_agreement(claim: str) -> bool:
    """Whether a claim's name is one of these."""
    return claim.startswith(NAME + SEPARATOR)


def agreement_claim(second: UnitSpec, what: Assumptions) -> str:
    """The claim's name with the second unit and the assumptions: `agreement; UNIT; finite; c=0x0`."""
    return answers.agreement_of(second.name, what.spellings())


def read_agreement(claim: str, first: UnitSpec) -> tuple[UnitSpec, Assumptions]:
    """The second unit and the assumptions of a claim's name.

    Errors: InputError for another claim, or for a spread, which is what the claim finds.
    """
    name, *rest = claim.split(SEPARATOR)
    if name != NAME or not rest:
        raise InputError(f"expected {NAME}{SEPARATOR}UNIT and assumptions, but got {claim!r}")
    what = from_texts(first.operands.c, rest[1:])
    if what.spread is not None:
        raise InputError("expected assumptions other than spread, which is looked for, but got one")
    return resolve(rest[0]), what


def agreement(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """The largest spread within which two units agree, proved, and a witness of the next one.

    Where a witness has one exponent in all of its terms there is no such spread, and the claim is refuted.
    Soundness: what is supposed is what the assumptions and the spread say of each operand and term, and
    nothing else; the theorem is about every input that obeys them.  (1) Each term within the spread is a
    count of units of one power of two.  (2) Sum by sum, each unit's aligned terms, partial sums and total
    are these counts times a power of two, and a sum that a later one goes on from is rounded to itself.
    (3) Both last counts are sums of the same terms in some order, and so equal; what is rounded from them
    is equal, as the same rounding or by a lemma.  The witness outside is replayed on integers and fractions
    with the assumptions and the spread; it is a control: without it, the region is not known to end there.
    """
    first = ask.spec
    second, what = read_agreement(ask.claim, first)
    q = question(first, second, what)
    ask = replace(ask, patience=Patience(PATIENCE * ask.limits.time_s))
    ask.progress("the nearest inputs on which the units differ")
    outside = nearest(q, ask.limits.seed)
    unknown = why_unknown(built(ask, second, what)[1])
    if outside is None:
        untried = ClaimPart(name="", status=PartStatus.OPEN, note=unknown or _UNTRIED)
        part, lemmas = (untried, []) if ask.book.idle else _without_nan(ask, second, what)
        if part.status is PartStatus.OPEN and not ask.book.idle:
            low, high = span_of(first, what)
            part, more = inside(ask, second, replace(what, spread=high - low))
            lemmas += more
        text = f"{first.name} and {second.name} agree on all inputs, {_assuming(what)}"
        reason = "the units agree within every spread"
        return Finding(parts=(replace(part, name="every spread"),), composition=text, reason=reason), lemmas
    parts, lemmas = [], list[Lemma]()
    # What is proved of all exponents is proved of some: its lemmas are those of a pair asked before.
    wider = replace(what, exponents=None)
    beyond = None if wider == what else nearest(question(first, second, wider), ask.limits.seed)
    # One that is left open leaves the claim open; what is proved below it is shown.
    waiting = falling(outside.spread - 1)
    while (tried := next(waiting, None)) is not None:
        if ask.book.idle:
            note = unknown or _lost(ask, second, replace(what, spread=tried)) or _UNTRIED
            parts.append(ClaimPart(name=f"spread {tried}", status=PartStatus.OPEN, note=note))
            break
        ask.progress(f"spread {tried}")
        refuted = beyond is not None and beyond.spread <= tried
        for given in (what,) if refuted else dict.fromkeys((wider, what)):
            part, more = _tried(ask, second, replace(given, spread=tried))
            lemmas += more
            if part.status is not PartStatus.OPEN:
                break
        closer = None if part.status is PartStatus.HOLDS else nearer(q, ask.limits.seed, tried)
        if closer is not None:
            outside, parts, waiting = closer, [], falling(closer.spread - 1)
            continue
        parts.append(part)
        if part.status is PartStatus.HOLDS or unknown or ask.patience.over:
            break
    # The same question with its spread as an assumption, so that the replay checks it too.
    outer = question(first, second, replace(what, spread=outside.spread))
    confirmed = replayed(outer, outside.witness).confirms
    witness = counterexample((first, outside.witness), (second, outside.witness), "vectors")
    shown = PartStatus.VIOLATED if confirmed and witness is not None else PartStatus.OPEN
    control = ClaimPart(
        name=f"spread {outside.spread}", status=shown, witness=witness, control=outside.spread > 0
    )
    # What is said is what a part proves.
    held = next((p.name for p in parts if p.status is PartStatus.HOLDS), "")
    units = f"{first.name} and {second.name}"
    if outside.spread:
        text = f"{units} agree on all inputs within {held}, {_assuming(what)}, and differ at {outside.spread}"
    else:
        text = f"{units} {AT_ONCE}, {_assuming(what)}"
    return Finding(
        parts=(*parts, control), composition=text,
        reason=f"the units agree within {held}, and differ at spread {outside.spread}",
        violated=f"the results {AT_ONCE}",
    ), lemmas  # fmt: skip


def _tried(ask: Asking, second: UnitSpec, what: Assumptions) -> tuple[ClaimPart, list[Lemma]]:
    """The proof that two units agree within a spread, unless some input shows that it would be refused."""
    key = (NAME, ask.spec, second, what)
    if key in ask.book.proved:
        return ask.book.proved[key]
    lost = _lost(ask, second, what)
    if lost:
        return ClaimPart(name=f"spread {what.spread}", status=PartStatus.OPEN, note=lost), []
    made = inside(ask, second, what)
    if made[0].status is PartStatus.HOLDS:
        ask.book.proved[key] = made
    return made


def _lost(ask: Asking, second: UnitSpec, what: Assumptions) -> str:
    """Which sum some input shows to be another than that of its terms; nothing where none does."""
    x, dots, c = built(ask, second, what)
    return lost_at(c.graph, ask.spec, x, dots, what, ask.limits.seed)


def _assuming(what: Assumptions) -> str:
    return " and ".join(what.texts()) or "without further assumptions"


def _without_nan(ask: Asking, second: UnitSpec, what: Assumptions) -> tuple[ClaimPart, list[Lemma]]:
    """Units that differ in the words of NaN alone: equal wherever no step makes a NaN."""
    x, dots, c = built(ask, second, what)
    note = without_nan(c, ask.spec, x, dots, what)
    same = c.equal(dots[0].result, dots[1].result)
    part = ClaimPart(
        name="every spread", status=PartStatus.HOLDS if same else PartStatus.OPEN,
        steps=(step_of(c, "d", 0, same, False),), note="" if same else note,
    )  # fmt: skip
    return part, [u.lemma for u in c.uses]


def built(
    ask: Asking, second: UnitSpec | None, what: Assumptions
) -> tuple[OperandNodes, list[Dot], Composition]:
    """Both units, or the one, on the same inputs in one graph; c a constant where it is assumed to be one."""
    g, units = Graph(), [ask.spec] if second is None else [ask.spec, second]
    x = declare_inputs(g, ask.spec, common_k(ask.spec, units[-1]))
    if what.c is not None:
        x = replace(x, c=g.const(what.c, ask.spec.operands.c.width))
    dots = []
    for side, unit in zip(SIDES, units, strict=False):
        with g.scope(side):
            dots.append(chained_dot(g, unit, x))
    return x, dots, Composition(g, ask.book)


def inside(ask: Asking, second: UnitSpec, what: Assumptions) -> tuple[ClaimPart, list[Lemma]]:
    """The proof that two units agree under assumptions with a spread."""

    def attempt(bounded: bool) -> tuple[ClaimPart, list[Lemma]]:
        x, dots, c = built(ask, second, what)
        calls = [CountedCall(u.name, u, dot) for u, dot in zip((ask.spec, second), dots, strict=True)]
        return counted(ask, c, x, calls, what, f"spread {what.spread}", bounded)

    return bounded_if_needed(what, attempt)


def bounded_if_needed(
    what: Assumptions, attempt: Callable[[bool], tuple[ClaimPart, list[Lemma]]]
) -> tuple[ClaimPart, list[Lemma]]:
    """An attempt with the exponents that are assumed, or, where that is of use, with those of formats."""
    with suppress(NoRoom):
        return attempt(what.exponents is not None)
    return attempt(True)


def counted(
    ask: Asking,
    c: Composition,
    x: OperandNodes,
    calls: list[CountedCall],
    what: Assumptions,
    name: str,
    bounded: bool,
) -> tuple[ClaimPart, list[Lemma]]:
    """The proof that two calls have one result under assumptions with a spread."""
    steps, note = same_counts(
        c, ask.spec, x, calls, what, lambda text: ask.progress(f"{name}: {text}"), ask.patience,
        bounded=bounded,
    )  # fmt: skip
    same = c.equal(calls[0].dot.result, calls[1].dot.result)
    status = PartStatus.HOLDS if same else PartStatus.OPEN
    return ClaimPart(name=name, status=status, steps=tuple(steps), note=note), [u.lemma for u in c.uses]
