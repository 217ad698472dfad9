"""Two designs with the same sums: in another order, of the same products, never overflowing, or never cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcformal.design.unit import UnitSpec
from tcformal.interp.vector import Vector
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.operands.batch import columns, inputs_to_try
from tcformal.programs.chain import chained_dot, declare_inputs, filled
from tcformal.proofs.claim import Asking, ClaimPart, PartStatus, equate
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.tactics.alike.cut_terms import without_cut_terms
from tcformal.proofs.tactics.alike.wider_groups import groups_of, same_groups, same_terms
from tcformal.proofs.tactics.cut_points import cut_points, specials_of
from tcformal.proofs.tactics.cuts import Composition, ProofStep, bits_of, step_of
from tcformal.proofs.tactics.floors import rebuilt
from tcformal.proofs.tactics.rescaled import Guesses, Rescaled
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.query.pair import SIDES
from tcformal.semantics.align import any_of
from tcformal.semantics.number import Number
from tcformal.semantics.pack import converted_word
from tcformal.semantics.stages import Dot, Rounded
from tcformal.semantics.unpack import unpack

#: Inputs on which the stages of two designs are compared before proofs are tried.
_TRIED = 200

PartShown = tuple[ClaimPart, list[Lemma]]


def overflow_unread(ask: Asking, first: UnitSpec, second: UnitSpec) -> PartShown:
    """What an overflow becomes, where no rounding that looks at it can overflow.

    Soundness: sum by sum, either both sides overflow alike by definition, or neither ever does, so that what
    each makes of an overflow is never read; the results in the end are one definition by that.
    """
    g, (one, two) = side_by_side(first, second)
    c = Composition(g, ask.book)
    steps: list[ProofStep] = []
    for (scope, x), (_, y) in zip(*(_roundings(dot) for dot in (one, two)), strict=True):
        since, over = len(c.uses), [c.replaced(z.result.inf) for z in (x, y)]
        same = c.equal(*over)
        name = "a rounding never overflows"
        proved = same or all(c.by_lemma(scope, g.truth(False), z, name=name, depths=(None,)) for z in over)
        steps.append(step_of(c, f"{scope.partition('.')[2]}.overflow", since, proved, same))
        if not proved:
            break
    return _made_equal(c, steps, one, two)


def _roundings(dot: Dot) -> Iterator[tuple[str, Rounded]]:
    """Every conversion with its place, that of a floor before the one that takes its result in."""
    for step in dot.steps:
        if step.floor is not None:
            yield f"{step.scope}.floor", step.floor.rounded
        if step.rounded is not None:
            yield step.scope, step.rounded


def _made_equal(c: Composition, steps: list[ProofStep], one: Dot, two: Dot) -> PartShown:
    """The part whose results are one definition by what was made equal, or not proved equal."""
    holds = c.equal(*(c.replaced(dot.result) for dot in (one, two)))
    made = (*steps, step_of(c, "d", len(c.uses), holds, holds))
    part = ClaimPart(
        name="", status=PartStatus.HOLDS if holds else PartStatus.OPEN, steps=made,
        note="" if holds else "d was not proved equal",
    )  # fmt: skip
    return part, [u.lemma for u in c.uses]


def products_alike(ask: Asking, first: UnitSpec, second: UnitSpec) -> PartShown | None:
    """Products that two roundings make the same numbers of, subnormal ones included; None without roundings.

    Soundness: each rounded product is proved equal, part by part, for all factors; what follows is one
    definition by that.
    """
    g, (one, two) = side_by_side(first, second)
    c = Composition(g, ask.book)
    steps: list[ProofStep] = []
    rounded = [[x for x in dot.steps if x.total is None and x.specials is not None] for dot in (one, two)]
    if len(rounded[0]) != len(rounded[1]):
        return None
    for x, y in zip(*rounded, strict=True):
        since = len(c.uses)
        rows = [_parts(step.specials.result) for step in (x, y) if step.specials is not None]
        pairs = list(zip(rows[0], c.all_replaced(rows[1]), strict=True))
        proved = c.by_lemmas(x.scope, pairs, name="a product rounded in two ways", depths=(None,))
        steps.append(step_of(c, f"{x.scope.partition('.')[2]}.product", since, proved, False))
        if not proved:
            break
        for of_x, of_y in zip(*rows, strict=True):
            bits_of(c, x.scope, of_x, of_y, two.result)
    return _made_equal(c, steps, one, two)


def pieces_alike(ask: Asking, first: UnitSpec, second: UnitSpec) -> PartShown | None:
    """Products of pieces that are left out, or that alignment cuts off; None where sums are not those alone.

    Soundness: sum by sum as `without_cut_terms`; the results are one definition by that.
    """
    if first.design.dropped_pieces < second.design.dropped_pieces:
        first, second = second, first
    g, (one, two) = side_by_side(first, second)
    c = Composition(g, ask.book)
    steps: list[ProofStep] = []
    for x, y in zip(one.steps, two.steps, strict=True):
        if x.total is None or y.total is None:
            return None
        since = len(c.uses)
        proved = without_cut_terms(c, x.scope, x.total, y.total)
        steps.append(step_of(c, f"{x.scope.partition('.')[2]}.sum", since, proved, False))
        if not proved:
            break
    return _made_equal(c, steps, one, two)


def groups_alike(ask: Asking, first: UnitSpec, second: UnitSpec) -> PartShown | None:
    """Exact sums of groups of products whose factors are normalised, or not; None where products are terms.

    Soundness: group by group as `same_groups`, then the terms that groups are; the rest is one definition.
    """
    if first.design.normalise_operands:
        first, second = second, first
    g, (one, two) = side_by_side(first, second)
    c = Composition(g, ask.book)
    groups = list(zip(groups_of(one), groups_of(two), strict=True))
    if not groups:
        return None
    proved = all(same_groups(c, x, y) for x, y in groups) and same_terms(c, one, two)
    return _made_equal(c, [step_of(c, "groups", 0, proved, False)], one, two)


def _parts(x: Number) -> list[Node]:
    """The nodes of a number."""
    return [x.term.sign, x.term.significand, x.term.exponent.bits, x.term.zero, x.nan, x.inf]


def written_otherwise(ask: Asking, first: UnitSpec, second: UnitSpec) -> PartShown:
    """The terms of each sum, and the sums, in another order: stages that have one value on some inputs.

    Soundness: inputs only say which stages to compare; what is equal is proved stage by stage, and the
    results in the end are one definition by that.
    """
    g, (one, two) = side_by_side(first, second)
    c = Composition(g, ask.book)
    nodes = [[x for x in cut_points(dot) if x.what in ("e_max", "sum")] for dot in (one, two)]
    lanes = Vector(g, columns(inputs_to_try(first, first.k, _TRIED, 1)))
    values = [[x.tobytes() for x in lanes.run([point.node for point in row])] for row in nodes]
    known: dict[tuple[str, int, bytes], Node] = {}
    for point, value in zip(nodes[0], values[0], strict=True):
        known.setdefault((point.what, point.node.width, value), point.node)
    steps = []
    for point, value in zip(nodes[1], values[1], strict=True):
        like = known.get((point.what, point.node.width, value))
        if like is not None and not c.equal(like, c.replaced(point.node)):
            steps.append(equate(c, f"{point.scope.partition('.')[2]}.{point.what}", like, point.node))
            bits_of(c, steps[-1].name, like, point.node, two.result)
    for (scope, x), (_, y) in zip(specials_of(one), specials_of(two), strict=False):
        for kind in ("some_nan", "positive_inf", "negative_inf"):
            flags = getattr(x, kind), getattr(y, kind)
            if not c.equal(c.replaced(one.result), c.replaced(two.result)) and not c.equal(*flags):
                steps.append(equate(c, f"{scope.partition('.')[2]}.{kind}", *flags))
    return _made_equal(c, steps, one, two)


def side_by_side(first: UnitSpec, second: UnitSpec, k: int | None = None) -> tuple[Graph, tuple[Dot, Dot]]:
    """Both designs on the same inputs in one graph.

    Shapes: k products, those of the first unless given; with k, words of 0 fill whole calls up, no scales.
    """
    g = Graph()
    x = declare_inputs(g, first, first.k if k is None else k)
    dots = []
    for side, unit in zip(SIDES, (first, second), strict=True):
        with g.scope(side):
            dots.append(chained_dot(g, unit, x if k is None else filled(g, unit, x)))
    return g, (dots[0], dots[1])


def converted_alike(ask: Asking, first: UnitSpec, second: UnitSpec) -> PartShown | None:
    """Factors that are converted exactly before they are multiplied, or taken as they are.

    Soundness: for every word of a factor it is proved that both are NaN, or have one sign, and whether they
    are zero or Inf.  With a NaN among the factors both results are the word of a NaN; where there is none,
    which is supposed of what follows, each sum is proved to be rounded to one number, and the results are one
    definition by that.
    """
    if first.tree is None or second.tree is None or first.tree.nan_rule != "word":
        return None
    if first.tree.converted is None:
        first, second = second, first
    g, (one, two) = side_by_side(first, second)
    c = Composition(g, ask.book)
    factors = list(_factors(g, first))
    special, lemmas = _nan_of_factors(g, ask, first, (one, two), factors)
    if not special.proved:
        return None
    for x in (x for pair in factors for x in pair):
        c.suppose(x.nan, False)
    for x, y in factors:
        # What the word itself gives stands for both: it is made of no other that changes.
        pairs = [(y.term.sign, x.term.sign), (y.term.zero, x.term.zero), (y.inf, x.inf)]
        given, name = [g.not_(x.nan), g.not_(y.nan)], "a factor, converted"
        c.by_lemmas("factors", pairs, given=given, name=name, depths=(None,))
    a, b = first.operands.a, first.operands.b
    # The exponent of a factor that is not normalised is the least one; that of the other factor is any.
    highest = max(a.e_min + b.e_max, a.e_max + b.e_min)
    lowest = a.least_exponent + b.least_exponent
    guesses = Guesses(a.fraction_bits + b.fraction_bits, highest, lowest)
    more = _rescaled(c, one, two, guesses)
    if more is None:
        return None
    part, found = _made_equal(c, [special, *more], one, two)
    return part, [*lemmas, *found]


def zeros_alike(ask: Asking, first: UnitSpec, second: UnitSpec) -> PartShown | None:
    """Two exponents of zero terms, above those of others too, where no term is cut off; None for other units.

    Soundness: sum by sum, either both largest exponents are equal, or both are so small that alignment cuts
    nothing off on either side; what is rounded is then proved to be one number.
    """
    zeros = [u.design.zero_exponent for u in (first, second)]
    if "own" in zeros or first.scale_format is not None:
        return None
    if zeros[1] == "none" or ("none" not in zeros and int(zeros[0]) > int(zeros[1])):
        zeros, first, second = zeros[::-1], second, first
    g, dots = side_by_side(first, second)
    totals = [step.total for dot in dots for step in dot.steps if step.total is not None]
    # Terms of zero that take no part have the least exponent that a code stands for.
    least = min(t.term.exponent.low for total in totals for t in total.terms)
    one, two = (z if isinstance(z, int) else least for z in zeros)
    o = first.operands
    lowest = min(o.a.least_exponent + o.b.least_exponent, o.c.least_exponent)
    if any(two - total.fraction_bits > lowest for total in totals):
        return None
    c = Composition(g, ask.book)
    steps = _rescaled(c, *dots, Guesses(two - one, two, lowest))
    return None if steps is None else _made_equal(c, steps, *dots)


def _rescaled(c: Composition, one: Dot, two: Dot, guesses: Guesses) -> list[ProofStep] | None:
    """Every sum of two designs, up to one that is not proved to be rounded to one number.

    None where something is handed on that is not rounded.
    """
    steps: list[ProofStep] = []
    handed: list[Node] = []
    for first, second in zip(one.steps, two.steps, strict=True):
        since, name = len(c.uses), first.scope
        # Twice: what stands for a class may be another node after the first time.
        both = rebuilt(c, rebuilt(c, (first, second)))
        if first.rounded is None or second.rounded is None:
            return None
        rounded = [x.rounded.parts for x in both if x.rounded is not None]
        same = rounded[0] == rounded[1]
        proved = same or Rescaled(SumSteps(c, name), both, guesses, handed).equal()
        steps.append(step_of(c, f"{name.partition('.')[2]}.rounded", since, proved, same))
        if not proved:
            break
        for p, q in zip(first.rounded.parts, second.rounded.parts, strict=True):
            c.replaced(c.graph.eq(p, q))
            bits_of(c, name, p, q, two.result)
    return steps


def _factors(g: Graph, unit: UnitSpec) -> Iterator[tuple[Number, Number]]:
    """Every factor as the converted word has it, and as it is."""
    assert unit.tree is not None
    assert unit.tree.converted is not None
    wide, formats = unit.tree.converted, {"a": unit.operands.a, "b": unit.operands.b}
    for name, word in list(g.inputs.items()):
        letter, mark, _ = name.partition("[")
        if mark and letter in formats:
            with g.scope(f"factor.{name}"):
                made = converted_word(g, word, formats[letter], wide)
            yield unpack(g, made, wide), unpack(g, word, formats[letter])


def _nan_of_factors(
    g: Graph, ask: Asking, unit: UnitSpec, dots: tuple[Dot, Dot], factors: Sequence[tuple[Number, Number]]
) -> tuple[ProofStep, list[Lemma]]:
    """Both sides' results are the word of a NaN where some factor is one, which they are at once."""
    c = Composition(g, ask.book)
    word = g.const(unit.design.nan_word, unit.operands.d.width)
    proved = all(
        c.by_lemma("factors", x.nan, y.nan, name="both NaN, or none", depths=(None,)) for x, y in factors
    )
    for dot, side in zip(dots, zip(*factors, strict=True), strict=True):
        flags = [x.nan for x in side]
        fact = g.or_(g.not_(any_of(g, flags)), g.eq(dot.result, word))
        cut = [*flags, *(n for step in dot.steps if step.rounded is not None for n in step.rounded.parts)]
        proved = proved and c.by_lemma("d", g.truth(True), fact, cut=cut, name="a NaN makes a NaN")
    return step_of(c, "d of a NaN", 0, proved, False), [u.lemma for u in c.uses]
