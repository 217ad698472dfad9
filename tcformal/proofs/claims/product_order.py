"""Claim `product-order`: the order of the k products, each with its block scales, does not matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.operands.witness import Witness
from tcformal.programs.chain import OperandNodes, chained_dot, declare_inputs
from tcformal.proofs.claim import (
    Asking,
    ClaimPart,
    Counterexample,
    Finding,
    PartStatus,
    counterexample,
    equate,
    pairs_of_cuts,
    searched,
)
from tcformal.proofs.claims.sums.order_within import order_within
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.tactics.cuts import Composition, ProofStep
from tcformal.semantics.stages import Block, Dot, DotStep
from tcformal.semantics.unpack import unpack

T = TypeVar("T")

#: Stages that do not change when products change places.
CUTS = (
    "total", "zero", "e_max", "sum", "sticky",
    "some_nan", "positive_inf", "negative_inf", "nan", "inf", "result",
)  # fmt: skip

#: Questions that look for a witness, the plainest first: how many products are free (None: all of them),
#: and whether both results are to be finite.  All but the widest are given a few seconds only.
_BRIEFLY_S = 10.0
_SEARCHES: tuple[tuple[int | None, bool], ...] = ((2, True), (4, True), (2, False), (None, False))

#: How far below the stages a proof looks: first attempt, and second where no witness is found; whole blocks
#: in one attempt, because their witnesses are hard to look for.
_DEPTHS: tuple[tuple[int | None, ...], ...] = ((0,), (4, None))
_OF_BLOCKS: tuple[int | None, ...] = (0, 4, None)


@dataclass(frozen=True, slots=True)
class Move:
    """Two neighbouring runs of products change places; whole blocks of products with their scales do, too.

    Ranges and units: the runs of `size` products begin at `first` and end before `first + 2 * size`; size is
    1, or the unit's scale block.
    """

    first: int
    size: int = 1

    @property
    def name(self) -> str:
        """What changes places, in words."""
        if self.size == 1:
            return f"products {self.first} and {self.first + 1}"
        number = self.first // self.size
        return f"blocks {number} and {number + 1} with their scales"

    def of(self, row: Sequence[T]) -> list[T]:
        """A row of products in the new order."""
        return _exchanged(row, self.first, self.size)

    def of_scales(self, row: Sequence[T]) -> list[T]:
        """A row of scales in the new order; products of one block leave them where they are."""
        return list(row) if self.size == 1 else _exchanged(row, self.first // self.size, 1)

    def of_groups(self, dot: Dot, group: int) -> Dot:
        """A dot product of the exchanged operands with its groups' sums listed as the first one's are."""
        stages: list[Block | DotStep] = []
        for x in dot.stages:
            if isinstance(x, Block):
                groups = _exchanged(x.groups, self.first // group, self.size // group)
                stages.append(replace(x, groups=tuple(groups)))
            else:
                stages.append(x)
        return replace(dot, stages=tuple(stages))

    def near(self, free: int) -> range:
        """The `free` products around the border between the runs."""
        first = self.first + self.size - free // 2
        return range(max(0, first), first + free)


def _exchanged(row: Sequence[T], first: int, size: int) -> list[T]:
    middle, end = first + size, first + 2 * size
    return [*row[:first], *row[middle:end], *row[first:middle], *row[end:]]


def moves_of(spec: UnitSpec) -> list[Move]:
    """The exchanges that make every order of the products that the scales' places allow."""
    block = spec.scale_block or spec.k
    neighbours = [Move(i) for i in range(spec.k - 1) if (i + 1) % block]
    return neighbours + [Move(i, block) for i in range(0, spec.k - 2 * block + 1, block)]


@dataclass(frozen=True, slots=True)
class Exchange:
    """The unit on its inputs (A), and with some products exchanged (B), in one graph."""

    graph: Graph
    dots: tuple[Dot, Dot]

    @property
    def results(self) -> tuple[Node, Node]:
        """The results of both."""
        return self.dots[0].result, self.dots[1].result

    @staticmethod
    def of(spec: UnitSpec, move: Move, free: int | None = None) -> Exchange:
        """Both circuits; with `free`, only that many products are inputs and the others 0·0."""
        g = Graph()
        x = declare_inputs(g, spec, spec.k)
        if free is not None:
            kept = move.near(free)
            zero_a, zero_b = (g.const(0, fmt.width) for fmt in (spec.operands.a, spec.operands.b))
            a = [w if k in kept else zero_a for k, w in enumerate(x.a)]
            b = [w if k in kept else zero_b for k, w in enumerate(x.b)]
            x = replace(x, a=a, b=b)
        scales = [move.of_scales(row) for row in (x.scale_a, x.scale_b)]
        other = OperandNodes(move.of(x.a), move.of(x.b), x.c, *scales)
        dots = []
        for side, inputs in (("A", x), ("B", other)):
            with g.scope(side):
                dots.append(chained_dot(g, spec, inputs))
        if move.size > 1 and spec.design.group is not None:
            dots[1] = move.of_groups(dots[1], spec.design.group)
        return Exchange(g, (dots[0], dots[1]))


def check_product_order(spec: UnitSpec) -> None:
    """Errors: InputError for a unit of one product."""
    if spec.k < 2:
        raise InputError(f"expected two products or more for claim product-order, but {spec.name} has 1")


def product_order(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """Every exchange of neighbours, proved by cuts or refuted by a witness.

    Soundness: each part speaks of all inputs.  Exchanging neighbours i and i + 1 for every i in a run of
    positions generates every permutation of that run (bubble sort), and a result unchanged by each
    exchange is unchanged by every sequence of them, because each applies to the inputs that the one
    before has left.  The orders proved equal are therefore those within the runs of positions that proved
    transpositions connect: all orders exactly where one run holds all k positions.  Of a unit with block
    scales a product is scaled by its place: products change places within a block, and whole blocks with
    their scales, and both together make every order of the operands that leaves each product its scales.
    Within a spread of exponents, the sums are proved to lose nothing (`order_within`).
    """
    if ask.assumed:
        if ask.assumed.spread is None or "finite" not in ask.assumed.flags:
            raise InputError("expected finite and spread=S as assumptions of product-order, but got less")
        return order_within(ask)
    check_product_order(ask.spec)
    spec, parts = ask.spec, []
    applied: list[Lemma] = []
    known: list[tuple[Move, Counterexample]] = []
    moves = moves_of(spec)
    for move in moves:
        ask.progress(f"{move.name} exchanged")
        part = _transposition(ask, move, known, applied)
        if part.witness is not None:
            known.append((move, part.witness))
        parts.append(part)
    proved = [move for move, p in zip(moves, parts, strict=True) if p.status is PartStatus.HOLDS]
    runs = _runs(spec.k, [move.first for move in proved if move.size == 1])
    shown = ", ".join(f"{r[0]}–{r[-1]}" if len(r) > 1 else str(r[0]) for r in runs)
    blocks = [move for move in moves if move.size > 1]
    whole = sum(move.size > 1 for move in proved)
    with_scales = (
        f"; {whole} of {len(blocks)} exchanges of neighbouring blocks with their scales change no result"
        if blocks else ""
    )  # fmt: skip
    between = [p.name for p in parts if p.status is PartStatus.VIOLATED]
    scaled = ", each with its scales," if blocks else ""
    finding = Finding(
        parts=tuple(parts),
        composition=(
            f"{len(proved) - whole} of {len(moves) - len(blocks)} exchanges of neighbours change no result; "
            f"they generate every order of the products within {shown}{with_scales}"
        ),
        reason=f"no order of the {spec.k} products{scaled} changes the result",
        violated=(
            f"the order matters: {len(between)} of {len(moves)} exchanges of neighbours change a result, "
            f"the first that of {between[0]}; within {shown} the order does not matter"
            if between else ""
        ),
    )  # fmt: skip
    return finding, applied


def _runs(k: int, proved: Sequence[int]) -> list[list[int]]:
    """The positions 0…k-1 in runs connected by proved exchanges of neighbours."""
    runs = [[0]]
    for i in range(k - 1):
        if i in proved:
            runs[-1].append(i + 1)
        else:
            runs.append([i + 1])
    return runs


def _transposition(
    ask: Asking, move: Move, known: Sequence[tuple[Move, Counterexample]], applied: list[Lemma]
) -> ClaimPart:
    """One exchange: a quick proof, else a witness, else a proof with definitions restored."""
    name = move.name
    both = Exchange.of(ask.spec, move)
    steps: tuple[ProofStep, ...] = ()
    for attempt, depths in enumerate(_DEPTHS if move.size == 1 else (_OF_BLOCKS,)):
        steps, proved, lemmas = prove_exchange(ask, both, depths)
        applied += lemmas
        if proved:
            return ClaimPart(name=name, status=PartStatus.HOLDS, steps=steps)
        if attempt == 0:
            witness = _witness(ask, move, known)
            if witness is not None:
                return ClaimPart(name=name, status=PartStatus.VIOLATED, witness=witness)
    failed = next((s.name for s in steps if not s.proved), "the result")
    note = f"{failed} was not proved equal, and no witness found"
    return ClaimPart(name=name, status=PartStatus.OPEN, steps=steps, note=note)


def prove_exchange(
    ask: Asking, both: Exchange, depths: Sequence[int | None]
) -> tuple[tuple[ProofStep, ...], bool, list[Lemma]]:
    """Both results made one node, cut by cut; the first cut that fails ends the attempt."""
    c = Composition(both.graph, ask.book)
    steps = []
    pairs = [(name, x.node, y.node) for name, x, y in pairs_of_cuts(*both.dots, CUTS)]
    for name, x, y in (*pairs, ("d", *both.results)):
        steps.append(equate(c, name, x, y, depths=depths))
        if not steps[-1].proved:
            break
    proved = c.equal(*both.results)
    return tuple(steps), proved, [u.lemma for u in c.uses]


def _witness(ask: Asking, move: Move, known: Sequence[tuple[Move, Counterexample]]) -> Counterexample | None:
    """Operands whose result changes when products change places."""
    for place, w in reversed(known):
        moved = _moved(w.first, move.first - place.first) if move.size == place.size else None
        again = None if moved is None else _replayed(ask.spec, moved, move, w.found_by)
        if again is not None:
            return again
    for free, finite in _SEARCHES:
        both = Exchange.of(ask.spec, move, free)
        g, (x, y) = both.graph, both.results
        differ = g.not_(g.eq(x, y))
        if finite:
            numbers = [unpack(g, word, ask.spec.operands.d) for word in both.results]
            differ = g.and_(differ, *(g.not_(g.or_(n.nan, n.inf)) for n in numbers))
        found = searched(ask, g, differ, None if free is None else _BRIEFLY_S)
        if found is not None:
            model, finder = found
            return _replayed(ask.spec, _only(model, ask.spec.k, move, free), move, finder)
    return None


def _only(model: dict[str, int], k: int, move: Move, free: int | None) -> Witness:
    """The model's operands, those that were not free being zero."""
    w = Witness.of(model, k)
    if free is None:
        return w
    kept = move.near(free)
    a, b = (tuple(x if j in kept else 0 for j, x in enumerate(row)) for row in (w.a, w.b))
    return replace(w, a=a, b=b)


def _moved(w: Witness, by: int) -> Witness | None:
    """The same products `by` places further on; None where one would fall off the end."""
    k = len(w.a)
    places = [j for j in range(k) if w.a[j] or w.b[j]]
    if any(not 0 <= j + by < k for j in places):
        return None
    rows: Iterator[tuple[int, ...]] = (
        tuple(row[j - by] if 0 <= j - by < k else 0 for j in range(k)) for row in (w.a, w.b)
    )
    a, b = rows
    return replace(w, a=a, b=b)


def _replayed(spec: UnitSpec, w: Witness, move: Move, finder: str) -> Counterexample | None:
    """The witness on integers and on the oracle, in both orders."""
    a, b = tuple(move.of(w.a)), tuple(move.of(w.b))
    scale_a, scale_b = tuple(move.of_scales(w.scale_a)), tuple(move.of_scales(w.scale_b))
    other = replace(w, a=a, b=b, scale_a=scale_a, scale_b=scale_b)
    return counterexample((spec, w), (spec, other), finder)
