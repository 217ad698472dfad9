"""Claim `carry-bits`: carry bits beyond those that the largest sum needs change nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.walk import reachable
from tcformal.operands.witness import Witness
from tcformal.programs.chain import chained_dot, declare_inputs, scale_count
from tcformal.proofs.claim import (
    Asking,
    ClaimPart,
    Counterexample,
    Finding,
    PartStatus,
    counterexample,
    searched,
)
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.tactics.cuts import Composition, ProofStep, step_of
from tcformal.proofs.tactics.exact_sums import ExactSum, Summands
from tcformal.proofs.tactics.truncated import (
    TruncatedSum,
    require_truncated_sum,
    require_unbounded_sum,
    truncated_sums,
)
from tcformal.semantics.stages import Dot

#: The most carry bits that a design can have.
MOST = 64


def carry_bits(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """Every number of carry bits from `needed` to the most that a design can have, against the exact sum.

    Soundness, block by block: (1) the exact value of each partial sum, in a width that its proved bound
    fits, extends to the partial sum of the widest unit (`exact_sums`).  (2) Every other unit adds the
    same addends in fewer bits: low bits of a sum depend on low bits of the addends only, so its partial
    sums are the low bits of the widest unit's, one lemma for each width.  (3) Cutting the extension of a
    number to no fewer bits than it has is its extension to those: one lemma for each width.  The total is
    that number once more, in the bytes that the exact one needs.  (4) What is rounded is built on equal
    totals, and so equal; where bits of the last partial sum itself are read, they are the total's: one
    lemma for each width.  The control, one carry bit fewer, is refuted on a witness; a composition of
    units is not asked for one.
    """
    spec = ask.spec
    needed, parts, c = _compared(ask)
    # Converted operands need not fill the sums of the units that a composition is made of.
    filled = spec.emulation is None
    if needed and filled:
        ask.progress(f"looking for a sum that needs {needed} carry bits")
        fewer = bounded(spec, needed - 1)
        witness = too_few(ask, fewer)
        parts.append(
            ClaimPart(
                name=f"carry_bits={needed - 1}",
                status=PartStatus.OPEN if witness is None else PartStatus.VIOLATED,
                witness=witness,
                control=True,
                note="no witness found that so few carry bits change a result" if witness is None else "",
            )
        )
    finding = Finding(
        parts=tuple(parts),
        composition=(
            f"for every number of carry bits from {needed} to {MOST}, the most that a design can have, all "
            "sums are one exact value, extended, and round to the same results as the unbounded sum"
        ),
        reason=f"{needed} carry bits {'are needed' if filled else 'suffice'}, and more change nothing",
    )
    return finding, [u.lemma for u in c.uses]


def enough(ask: Asking, bits: int) -> tuple[ClaimPart, list[Lemma]] | None:
    """So many carry bits against the exact sum; None where the largest sum needs more.

    Soundness and errors: those of `carry_bits`.
    """
    needed, parts, c = _compared(ask, bits)
    if bits < needed:
        return None
    exact, other = parts
    opened = next((part for part in parts if part.status is PartStatus.OPEN), None)
    part = opened or replace(other, steps=(*exact.steps, *other.steps))
    return replace(part, name=other.name), [u.lemma for u in c.uses]


def check_carry_bits(spec: UnitSpec) -> None:
    """Errors: InputError for a unit whose sum is another, is bounded, or has groups of products as terms."""
    require_truncated_sum(spec, "carry-bits")
    require_unbounded_sum(spec, "carry-bits")
    if spec.design.group is not None:
        raise InputError(
            f"expected products as terms for claim carry-bits, but the terms of {spec.name} are sums of "
            "groups of products, whose bound nothing here proves"
        )


def _compared(ask: Asking, only: int | None = None) -> tuple[int, list[ClaimPart], Composition]:
    """The carry bits of the largest sum, and the exact sums with each number of them, or with that one."""
    spec = ask.spec
    check_carry_bits(spec)
    g = Graph()
    x = declare_inputs(g, spec, spec.k)
    dots: dict[str, Dot] = {}
    with g.scope("exact"):
        dots["exact"] = chained_dot(g, spec, x)
    needed = _needed(spec, dots["exact"])
    if needed >= MOST:
        raise InputError(f"expected sums of fewer than {MOST} carry bits, but {spec.name} needs {needed}")
    counts = [n for n in range(needed, MOST + 1) if only in (None, n)]
    # The widest first: the others are shown to be its low bits.
    for bits in dict.fromkeys((MOST, *counts)):
        with g.scope(f"c{bits}"):
            dots[f"c{bits}"] = chained_dot(g, bounded(spec, bits), x)
    c = Composition(g, ask.book)
    sides = [side for side in dots if side != "exact"]
    proof = _CarryProof(ask, c, sides, {side: truncated_sums(dot) for side, dot in dots.items()})
    for i, one in enumerate(proof.sums["exact"]):
        ask.progress(f"sums of {one.scope}")
        if not proof.block(i):
            break
    parts = [_part("the exact sums", proof.steps["exact"])]
    for bits in counts:
        side = f"c{bits}"
        same = c.equal(dots["exact"].result, c.replaced(dots[side].result))
        steps = [*proof.steps[side], step_of(c, "d", len(c.uses), same, same)]
        parts.append(_part(f"carry_bits={bits}", steps))
    return needed, parts, c


def _part(name: str, steps: Sequence[ProofStep]) -> ClaimPart:
    """One number of carry bits: proved where every step is, the last of which are the results."""
    failed = [s.name for s in steps if not s.proved]
    note = f"{failed[0]} was not proved equal" if failed else ""
    status = PartStatus.OPEN if failed else PartStatus.HOLDS
    return ClaimPart(name=name, status=status, steps=tuple(steps), note=note)


def bounded(spec: UnitSpec, bits: int) -> UnitSpec:
    """The unit with so many carry bits."""
    name = f"{spec.name}{',' if '@' in spec.name else '@'}carry_bits={bits}"
    return replace(spec, name=name, design=replace(spec.design, carry_bits=bits))


def _needed(spec: UnitSpec, dot: Dot) -> int:
    """Carry bits of the largest sum: its bits less the sign, the units bit and the fraction bits."""
    widths = [Summands(one.total).width for one in truncated_sums(dot)]
    return max(widths) - 2 - int(spec.design.fraction_bits or 0)


class _CarryProof:
    """The steps by which each unit's sums and results become those of the unbounded one."""

    def __init__(
        self, ask: Asking, c: Composition, sides: Sequence[str], sums: Mapping[str, Sequence[TruncatedSum]]
    ) -> None:
        self.ask = ask
        self.c = c
        #: The sums of each unit, in the order of definition.
        self.sums = sums
        self.steps: dict[str, list[ProofStep]] = {side: [] for side in (*sides, "exact")}

    def block(self, i: int) -> bool:
        """One sum of all units, the widest first, and what is rounded from it."""
        c, mine = self.c, self.sums["exact"][i]
        scope = mine.scope
        exact = ExactSum(c, Summands(mine.total))
        since = len(c.uses)
        proved = exact.prove(self.sums[f"c{MOST}"][i].partials) and exact.extends(
            exact.summands.partials, mine.total.bits, first=True
        )
        self.steps["exact"].append(step_of(c, f"{scope}: exact partial sums", since, proved, False))
        if not proved:
            return False
        open_sides = [side for side, steps in self.steps.items() if all(s.proved for s in steps)]
        summed = [side for side in open_sides if side != "exact" and self._summed(exact, side, i)]
        for side in summed:
            since = len(c.uses)
            other = self.sums[side][i]
            proved = self._read_alike(exact, mine, other)
            first, second = (c.all_replaced(one.rounded) for one in (mine, other))
            proved = proved and all(c.equal(x, y) for x, y in zip(first, second, strict=True))
            same = proved and len(c.uses) == since
            self.steps[side].append(step_of(c, f"{scope}: rounded", since, proved, same))
        return True

    def _summed(self, exact: ExactSum, side: str, i: int) -> bool:
        """One unit's sum made the extension of the exact one."""
        c, mine, other = self.c, self.sums["exact"][i], self.sums[side][i]
        since = len(c.uses)
        total = other.total.bits
        same = c.equal(mine.total.bits, c.replaced(total))
        # Low bits of the last partial sum may have been proved equal; but what follows reads that sum itself.
        proved = same and total.op != "extract"
        proved = proved or exact.extends(other.partials, total)
        same = proved and len(c.uses) == since
        self.steps[side].append(step_of(c, f"{mine.scope}.sum", since, proved, same))
        return proved

    def _read_alike(self, exact: ExactSum, mine: TruncatedSum, other: TruncatedSum) -> bool:
        """Bits that are read of the last partial sum, where the sum is low bits of it, are the sum's bits."""
        c, scope = self.c, mine.scope
        total, own = other.total.bits, mine.total.bits
        last = other.partials[-1]
        if last is total or total.index not in exact.extensions:
            return True
        sum_, short, whole = exact.extensions[total.index]
        for node in reachable(other.rounded):
            if (
                node.op != "extract"
                or node.args[0] is not last
                or node is total
                or node.params[0] >= own.width
            ):
                continue
            of_sum, _ = c.made_twice(node, [whole], [c.replaced(own)])
            _, of_last = c.made_twice(node, [c.replaced(last)], [short])
            high, low = node.params
            name = f"bits {high}..{low} of {sum_.width} bits made {own.width} and {last.width}"
            if not c.by_lemma(scope, of_sum, of_last, cut=(sum_,), name=name):
                return False
        return True


# --------------------------------------------------------------------- a witness of too few
def too_few(ask: Asking, fewer: UnitSpec) -> Counterexample | None:
    """Inputs on which `fewer`, the unit with less carry bits, differs from the unit."""
    for w in largest_sums(ask.spec):
        made = counterexample((ask.spec, w), (fewer, w), "construction")
        if made is not None:
            return made
    g = Graph()
    x = declare_inputs(g, ask.spec, ask.spec.k)
    results = []
    for side, unit in (("A", ask.spec), ("B", fewer)):
        with g.scope(side):
            results.append(chained_dot(g, unit, x).result)
    found = searched(ask, g, g.not_(g.eq(*results)))
    if found is None:
        return None
    model, finder = found
    w = Witness.of(model, ask.spec.k)
    return counterexample((ask.spec, w), (fewer, w), finder)


def largest_sums(spec: UnitSpec) -> Iterator[Witness]:
    """One block of equal products with full significands and c beside them, all of one exponent.

    Each candidate is tried, so that one which is no largest sum only costs its trial.
    """
    o = spec.operands
    length = min(spec.k, spec.design.products)
    scales = (1,) * scale_count(spec, spec.k)
    one = (
        tuple(full(spec.scale_format, 0) & ~((1 << spec.scale_format.fraction_bits) - 1) for _ in scales)
        if spec.scale_format is not None else ()
    )  # fmt: skip
    for e in (0, 1, -1, 2):
        c = full(o.c, 2 * e)
        a = (full(o.a, e),) * length + (0,) * (spec.k - length)
        b = (full(o.b, e),) * length + (0,) * (spec.k - length)
        w = Witness(a, b, c, one, one)
        yield w
        yield replace(w, c=0)


def full(fmt: Format, exponent: int) -> int:
    """The encoding with every fraction bit 1 and the given exponent, or the closest one there is."""
    field = min(max(exponent + fmt.bias, 1), (1 << fmt.exponent_bits) - 2)
    return (field << fmt.fraction_bits | ((1 << fmt.fraction_bits) - 1)) << fmt.ignored_low_bits
