"""Claim `agreement`: within which spread of exponents two units give the same bits."""

from __future__ import annotations

from dataclasses import replace

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, ProofError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.programs.chain import OperandNodes, chained_dot, common_k, declare_inputs
from tcformal.proofs.claim import Asking, ClaimPart, Finding, PartStatus, counterexample
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.tactics.counted import CountedTerms
from tcformal.proofs.tactics.cuts import Composition, ProofStep, step_of
from tcformal.proofs.tactics.lossless import lossless
from tcformal.proofs.tactics.rearrange import rearranged
from tcformal.query.assume import Assumptions, assume, from_texts
from tcformal.query.nearest import nearest
from tcformal.query.pair import SIDES, question
from tcformal.query.replay import replay as replayed
from tcformal.query.spread import gaps_of
from tcformal.semantics.stages import Dot

#: The claim's name, which the second unit and the assumptions follow, and what stands between them.
NAME = "agreement"
SEPARATOR = "; "


def is_agreement(claim: str) -> bool:
    """Whether a claim's name is one of these."""
    return claim.startswith(NAME + SEPARATOR)


def agreement_claim(second: UnitSpec, what: Assumptions) -> str:
    """The claim's name with the second unit and the assumptions: `agreement; UNIT; finite; c=0x0`."""
    return SEPARATOR.join([NAME, second.name, *what.spellings()])


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


def no_overflow(first: UnitSpec, second: UnitSpec) -> tuple[int, int]:
    """Exponents of elements with which no product or sum leaves the normal range of D by much.

    Ranges and units: the largest sum of all products and c is below overflow, every product is a multiple
    of the least subnormal of D, and no zero term of either unit lies above a product.
    """
    o, k = first.operands, common_k(first, second)
    high = (o.d.e_max - 2 - k.bit_length()) // 2
    bits = o.a.fraction_bits + o.b.fraction_bits
    zeros = [u.design.zero_exponent for u in (first, second) if isinstance(u.design.zero_exponent, int)]
    low = -(-max([o.d.e_min - o.d.fraction_bits + bits, *zeros]) // 2)
    return low, high


def variants(first: UnitSpec, second: UnitSpec) -> list[Assumptions]:
    """The assumptions under which a pair is asked: the most special first."""
    found = []
    for span in (no_overflow(first, second), None):
        for c in (0, None):
            found.append(Assumptions(("finite",), span, c))
    return found


def agreement(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """The largest spread within which two units agree, proved, and a witness of the next one.

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
    ask.progress("the nearest inputs on which the units differ")
    outside = nearest(q, ask.limits.seed)
    if outside is None:
        part, lemmas = _without_nan(ask, second, what)
        if part.status is PartStatus.OPEN:
            low, high = _terms(first, what)
            part, more = inside(ask, second, replace(what, spread=high - low))
            lemmas += more
        text = f"{first.name} and {second.name} agree on all inputs, {_assuming(what)}"
        reason = "the units agree within every spread"
        return Finding(parts=(replace(part, name="every spread"),), composition=text, reason=reason), lemmas
    parts, lemmas = [], list[Lemma]()
    spread = outside.spread - 1
    # The largest spread of which a proof is found; one that is left open before it leaves the claim open.
    for tried in range(spread, -1, -1):
        ask.progress(f"spread {tried}")
        near = replace(what, spread=tried)
        # What is proved of all exponents is proved of some: its lemmas are those of a pair asked before.
        part, more = inside(ask, second, replace(near, exponents=None))
        lemmas += more
        if part.status is PartStatus.OPEN and what.exponents is not None:
            part, more = inside(ask, second, near)
            lemmas += more
        parts.append(part)
        if part.status is PartStatus.HOLDS:
            break
    # The same question with its spread as an assumption, so that the replay checks it too.
    outer = question(first, second, replace(what, spread=outside.spread))
    confirmed = replayed(outer, outside.witness).confirms
    witness = counterexample((first, outside.witness), (second, outside.witness), "vectors")
    shown = PartStatus.VIOLATED if confirmed and witness is not None else PartStatus.OPEN
    control = ClaimPart(name=f"spread {outside.spread}", status=shown, witness=witness, control=True)
    units = f"{first.name} and {second.name}"
    text = f"within spread {spread}" if spread >= 0 else "within no spread"
    return Finding(
        parts=(*parts, control),
        composition=f"{units} agree on all inputs {text}, {_assuming(what)}, and differ at {outside.spread}",
        reason=f"the units agree {text}, and differ at spread {outside.spread}",
    ), lemmas  # fmt: skip


def _assuming(what: Assumptions) -> str:
    return " and ".join(what.texts()) or "without further assumptions"


def _without_nan(ask: Asking, second: UnitSpec, what: Assumptions) -> tuple[ClaimPart, list[Lemma]]:
    """Units that differ in the words of NaN alone: equal wherever no step makes a NaN.

    Soundness: step by step no result is NaN, which is put in the place of the flag that says so; both
    results are then one definition.
    """
    x, dots, c = _built(ask, second, what)
    note, instead = (
        "no inputs found on which they differ, and no proof that there are none",
        dict[Node, Node](),
    )
    try:
        supposed = _supposed(c, ask.spec, x, what)
        for dot in dots:
            before: list[Node] = []
            for step in dot.steps:
                if step.specials is None:
                    raise ProofError(f"expected sums that are each rounded, but got another at {step.scope}")
                made = step.specials.result
                roots = [made.nan, *before]
                nan, *cut = c.all_replaced(roots, instead) if instead else roots
                no, inputs = c.graph.truth(False), {n for n in reachable([nan]) if n.op == "input"}
                given = [fact for fact in supposed if inputs & set(reachable([fact]))]
                if not c.by_lemma(step.scope, no, nan, name="no sum is NaN", given=given, cut=cut):
                    raise ProofError(f"expected a proof that no sum is NaN at {step.scope}, but found none")
                instead[made.nan], before = no, [made.inf, made.term.sign]
        c.all_replaced([dot.result for dot in dots], instead)
    except ProofError as error:
        note = str(error)
    same = c.equal(dots[0].result, dots[1].result)
    part = ClaimPart(
        name="every spread", status=PartStatus.HOLDS if same else PartStatus.OPEN,
        steps=(step_of(c, "d", 0, same, False),), note="" if same else note,
    )  # fmt: skip
    return part, [u.lemma for u in c.uses]


def _built(ask: Asking, second: UnitSpec, what: Assumptions) -> tuple[OperandNodes, list[Dot], Composition]:
    """Both units on the same inputs in one graph; c a constant where it is assumed to be one."""
    g = Graph()
    x = declare_inputs(g, ask.spec, common_k(ask.spec, second))
    if what.c is not None:
        x = replace(x, c=g.const(what.c, ask.spec.operands.c.width))
    dots = []
    for side, unit in zip(SIDES, (ask.spec, second), strict=True):
        with g.scope(side):
            dots.append(chained_dot(g, unit, x))
    return x, dots, Composition(g, ask.book)


def inside(ask: Asking, second: UnitSpec, what: Assumptions) -> tuple[ClaimPart, list[Lemma]]:
    """The proof that two units agree under assumptions with a spread."""
    first, name = ask.spec, f"spread {what.spread}"
    x, dots, c = _built(ask, second, what)
    steps, note = list[ProofStep](), ""
    try:
        w = CountedTerms(
            c,
            gaps_of(c.graph, first, x),
            what.spread or 0,
            _supposed(c, first, x, what),
            _terms(first, what) if what.exponents is not None else None,
        )
        steps.append(step_of(c, "terms", 0, True, False))
        counts = []
        for unit, dot in zip((first, second), dots, strict=True):
            since = len(c.uses)
            ask.progress(f"{name}: sums of {unit.name}")
            counts.append(lossless(w, dot, unit.design.overflow))
            steps.append(step_of(c, f"sums of {unit.name}", since, True, False))
        since = len(c.uses)
        if not rearranged(c, "sum", counts[0].node, counts[1].node):
            raise ProofError("expected a proof that both sums are of the same terms, but found none")
        steps.append(step_of(c, "sum", since, True, False))
        since = len(c.uses)
        results = w.rebuilt([dot.result for dot in dots]).values()
        mine, its = c.all_replaced(list(results), {counts[1].node: counts[0].node})
        if not c.equal(mine, its):
            w.equal(
                mine, its, "both results are one word", [counts[0].node, w.code], [counts[0].fact, *w.limit]
            )
        steps.append(step_of(c, "d", since, True, False))
    except ProofError as error:
        note = str(error)
    same = c.equal(dots[0].result, dots[1].result)
    status = PartStatus.HOLDS if same else PartStatus.OPEN
    return ClaimPart(name=name, status=status, steps=tuple(steps), note=note), [u.lemma for u in c.uses]


def _supposed(c: Composition, spec: UnitSpec, x: OperandNodes, what: Assumptions) -> list[Node]:
    """What the assumptions say of each operand, supposed; ProofError for assumptions about several."""
    if "finite" not in what.flags or what.of_terms().keys() - {"spread"} or spec.scale_format is not None:
        raise ProofError("expected finite operands, and assumptions about single operands without scales")
    o = spec.operands
    of_one = Assumptions(what.flags, what.exponents)
    supposed = []
    for word, fmt in [*((a, o.a) for a in x.a), *((b, o.b) for b in x.b), (x.c, o.c)]:
        node = assume(c.graph, of_one, [(word, fmt)], x.c)
        if node.op != "const":
            c.suppose(node, True)
            supposed.append(node)
    return supposed


def _terms(spec: UnitSpec, what: Assumptions) -> tuple[int, int]:
    """The exponents that products and c can have, c only where it is not a constant."""
    o = spec.operands
    low, high = what.exponents or (-40000, 40000)
    lows = [max(low, fmt.e_min) for fmt in (o.a, o.b, o.c)]
    highs = [min(high, fmt.e_max) for fmt in (o.a, o.b, o.c)]
    if what.c is not None:
        return lows[0] + lows[1], highs[0] + highs[1]
    return min(lows[0] + lows[1], lows[2]), max(highs[0] + highs[1], highs[2])
