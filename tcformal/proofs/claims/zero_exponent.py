"""Claim `zero-exponent`: below every term that is not zero, the exponent of zero terms changes nothing."""

from __future__ import annotations

from dataclasses import replace

from tcformal.design.rounding import ZERO_EXPONENTS
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.proofs.claim import Asking, ClaimPart, Finding, PartStatus
from tcformal.proofs.claims.zero_witness import zero_term_shown
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.tactics.alike.zero_terms import ZeroTerms
from tcformal.proofs.tactics.cuts import Composition, ProofStep, bits_of, step_of
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.proofs.tactics.truncated import TruncatedSum, require_truncated_sum, truncated_sums
from tcformal.semantics.number import Exponent, bits_for
from tcformal.semantics.round import clamp
from tcformal.semantics.stages import Dot

#: Bits in which exponents are compared with a free one.
_WIDE = 24


def zero_exponent(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """The unit against itself with every exponent of zero terms that lies below all other terms'.

    Soundness: the exponent z of the other side's zero terms is an input of its own, limited to what a design
    can express below all other terms, so that what is proved on every input holds for every such z.  Where
    zero terms take no part in e_max, they have such a z too.  Block by block, for the unit's own z and the
    free z': (1) either all terms are zero, or both maxima of the exponents are equal: one lemma for each
    comparison of their trees, of subtrees whose terms are all zero (then both are z and z') or not (then both
    are equal, and at least z and z').  (2) A zero term has a significand of zero, so that it is kept as zero;
    for another term not all are zero, both maxima are equal, and so is what is kept: one lemma for each term.
    (3) Where all terms are zero, so is the sum.  (4) The sums are one, and either it is zero or both maxima
    are equal: what is rounded from it is equal.  Special cases do not look at exponents.  Where the unit's
    own z lies above some term, a witness is replayed on it and on the unit with the largest z' below all.
    """
    spec = ask.spec
    check_zero_exponent(spec)
    low, high = ZERO_EXPONENTS[0], min(least(spec)) - 1
    text = f"every exponent from {low} to {high}"
    if not _below_all(spec, spec.design.zero_exponent):
        return _above_some(spec, text, high), []
    ask.progress(f"zero terms at {text}")
    proof = _Pair.free(ask, spec, low, high)
    finding = Finding(
        parts=(proof.part(text),),
        composition=f"zero terms at {spec.design.zero_exponent}, or at {text}: the same results",
        reason=f"no input tells the exponent {spec.design.zero_exponent} of zero terms from {text}",
    )
    return finding, [u.lemma for u in proof.c.uses]


def check_zero_exponent(spec: UnitSpec) -> None:
    """Errors: InputError for a unit that is no plain T-FDPA, or whose zero terms lie above others, unseen."""
    require_truncated_sum(spec, "zero-exponent")
    if spec.design.c_position != "joined":
        adds = "adds c to the products' sum"
        raise InputError(f"expected a plain T-FDPA unit for claim zero-exponent, but {spec.name} {adds}")
    _check_terms(spec)


def _check_terms(spec: UnitSpec) -> None:
    """Errors: as `check_zero_exponent`, wherever c is added."""
    d = spec.design
    others = {
        "is composed of others": spec.emulation is not None,
        "sums groups of products": d.group is not None,
        "normalises products": d.normalise_products,
    }
    for other, does in others.items():
        if does:
            raise InputError(f"expected a plain T-FDPA unit for claim zero-exponent, but {spec.name} {other}")
    if d.zero_exponent == "own":
        raise InputError(f"expected one exponent for zero terms for claim zero-exponent, but got {spec.name}")
    above = not _below_all(spec, d.zero_exponent)
    if above and zero_term_shown(spec, min(least(spec)) - 1) is None:
        raise InputError(
            f"expected terms whose exponents are above {d.zero_exponent} for claim zero-exponent, "
            f"but those of {spec.name} are not"
        )


def _above_some(spec: UnitSpec, text: str, below: int) -> Finding:
    """The claim of a unit whose exponent of zero terms lies above other terms: refuted, or no claim."""
    zero = spec.design.zero_exponent
    witness = zero_term_shown(spec, below)
    assert witness is not None  # else the unit was refused
    part = ClaimPart(name=text, status=PartStatus.VIOLATED, witness=witness)
    return Finding(
        parts=(part,), composition="", reason="",
        violated=f"the exponent {zero} of zero terms is above those of other terms, and shows beside {below}",
    )  # fmt: skip


def same_results(ask: Asking, other: UnitSpec) -> tuple[ClaimPart, list[Lemma]] | None:
    """The claim about two units that differ in the exponent of zero terms only; None for another pair."""
    spec = ask.spec
    mine, theirs = spec.design.zero_exponent, other.design.zero_exponent
    try:
        if spec.design.c_position == "after":
            _check_terms(spec)
        else:
            check_zero_exponent(spec)
    except InputError:
        return None
    alike = replace(other.design, zero_exponent=mine) == spec.design and other.operands == spec.operands
    if not alike or other.k != spec.k or _above_some_term(spec, mine) or _above_some_term(spec, theirs):
        return None
    proof = _Pair.of(ask, spec, other)
    return proof.part(str(theirs)), [u.lemma for u in proof.c.uses]


def least(spec: UnitSpec) -> tuple[int, int]:
    """The least exponents of a product, its scales included, and of c that are not zero."""
    o, scale = spec.operands, spec.scale_format
    return o.a.e_min + o.b.e_min + (0 if scale is None else 2 * scale.e_min), o.c.e_min


def _above_some_term(spec: UnitSpec, zero: int | str) -> bool:
    """Whether an exponent of zero terms takes part, and some other term can have a lesser one."""
    return zero != "none" and not (isinstance(zero, int) and zero <= min(least(spec)))


def _below_all(spec: UnitSpec, zero: int | str) -> bool:
    """Whether an exponent of zero terms lies below those of all others, or takes no part."""
    return zero == "none" or (isinstance(zero, int) and zero < min(least(spec)))


def _known(g: Graph, spec: UnitSpec, one: TruncatedSum) -> Exponent:
    """The exponent of a unit's zero terms in a sum; that of the lowest code where they take no part."""
    zero = spec.design.zero_exponent
    value = zero if isinstance(zero, int) else min(x.term.exponent.low for x in one.total.terms)
    return Exponent(g.const(0, 1), value, value)


class _Pair:
    """Two units that differ in the exponent of zero terms, in one graph.

    `free` is that of the second unit where it is not its design's.
    """

    def __init__(
        self,
        c: Composition,
        units: tuple[UnitSpec, UnitSpec],
        dots: tuple[Dot, Dot],
        free: Exponent | None = None,
    ) -> None:
        self.c, self.units, self.dots, self.second_zero = c, units, dots, free

    @staticmethod
    def of(ask: Asking, spec: UnitSpec, other: UnitSpec) -> _Pair:
        """Build both units on the same inputs."""
        g = Graph()
        x = declare_inputs(g, spec, spec.k)
        dots = []
        for side, unit in (("A", spec), ("B", other)):
            with g.scope(side):
                dots.append(chained_dot(g, unit, x))
        return _Pair(Composition(g, ask.book), (spec, other), (dots[0], dots[1]))

    @staticmethod
    def free(ask: Asking, spec: UnitSpec, low: int, high: int) -> _Pair:
        """Build the unit, and beside it the unit with an exponent of zero terms that is an input."""
        g = Graph()
        x = declare_inputs(g, spec, spec.k)
        zero = free_exponent(g, low, high)
        with g.scope("A"):
            own = chained_dot(g, spec, x)
        with g.scope("B"):
            other = chained_dot(g, spec, x, zero)
        return _Pair(Composition(g, ask.book), (spec, spec), (own, other), zero)

    def part(self, name: str) -> ClaimPart:
        """Every block, up to one that fails."""
        steps: list[ProofStep] = []
        for one, two in zip(*(truncated_sums(dot) for dot in self.dots), strict=True):
            since = len(self.c.uses)
            steps.append(step_of(self.c, f"{one.scope}.result", since, self._block(one, two), False))
            if not steps[-1].proved:
                break
        since = len(self.c.uses)
        first, second = (dot.result for dot in self.dots)
        same = self.c.equal(first, self.c.replaced(second))
        steps.append(step_of(self.c, "d", since, same, same))
        failed = next((s.name for s in steps if not s.proved), "")
        return ClaimPart(
            name=name,
            status=PartStatus.OPEN if failed else PartStatus.HOLDS, steps=tuple(steps),
            note=f"{failed} was not proved equal" if failed else "",
        )  # fmt: skip

    def _block(self, one: TruncatedSum, two: TruncatedSum) -> bool:
        c, g = self.c, self.c.graph
        fixed = self.second_zero is None
        s = SumSteps(c, f"A.{one.scope}") if fixed else SumSteps(c, f"A.{one.scope}", _WIDE)
        nothing = [_known(g, unit, x) for unit, x in zip(self.units, (one, two), strict=True)]
        second = nothing[1] if self.second_zero is None else self.second_zero
        if not ZeroTerms(s, (one, two), (nothing[0], second), least(self.units[0])).equal():
            return False
        for x, y in zip(one.rounded, two.rounded, strict=False):
            bits_of(c, one.scope, x, y, self.dots[1].result)
        return True


def free_exponent(g: Graph, low: int, high: int) -> Exponent:
    """An input that stands for any exponent from `low` to `high`; codes beyond stand for `high`."""
    word = g.input("zero_exponent", bits_for(high - low))
    return Exponent(clamp(g, word, high - low), low, high)
