"""Proofs that two designs give the same results: by theorems, in steps, or by solvers about the whole."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from tcformal.callbacks import processor_seconds
from tcformal.design.trees.arrangements import permuted, tree_of, tree_unit
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, TcformalError
from tcformal.matmul.replay import replay
from tcformal.operands.batch import batch_of, lengthened, witness_at
from tcformal.operands.boundaries import boundaries
from tcformal.operands.pool import pool_of
from tcformal.operands.random import Batch, Raw
from tcformal.operands.witness import Witness
from tcformal.programs.chain import same_definition
from tcformal.proofs.claims.equality import equal_in_steps, equal_in_sums
from tcformal.proofs.claims.sums.changes import plain_form
from tcformal.proofs.lemmas import LemmaBook
from tcformal.query.assume import Assumptions
from tcformal.query.engine import answer
from tcformal.query.pair import question
from tcformal.query.question import Kind
from tcformal.solve.result import Limits
from tcformal.theory.equality import equal_by_theorem

#: Inputs of a pool that are tried before a solver is asked, and pools.
_POOL, _POOLS = 10_000, 5
#: The parts of the time, in seconds of the processor, in which lemmas, proofs of one sum after the other, and
#: solvers on whole designs begin; what is not decided then stays open.
_PARTS = {"lemmas": 0.3, "sums": 0.5, "solvers": 0.2}
#: The parts of it that each solver has for a question about two whole designs, and for a lemma.
_WHOLE, _LEMMA = 1 / 15, 0.1


@dataclass(frozen=True, slots=True)
class Likeness:
    """What is known of two designs: a proof that they are the same, a separating input, or neither."""

    proof: str = ""
    witness: Witness | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """Two designs for k products, of which a proof or an input says something about the whole designs.

    `order[i]` is the number that product i has in the whole designs.
    """

    one: UnitSpec
    two: UnitSpec
    k: int
    order: tuple[int, ...]

    def more(self, k: int) -> str:
        """What the proof is of, where it is not of all k products."""
        return f" of {self.k} products; both hand their result on as the next c" if self.k < k else ""

    def of_all(self, found: Witness, k: int) -> list[Witness]:
        """A separating input as inputs of the whole designs."""
        made = lengthened(found, k) if self.k < k else [found]
        place = sorted(range(k), key=self.order.__getitem__)
        return [replace(w, a=tuple(w.a[i] for i in place), b=tuple(w.b[i] for i in place)) for w in made]


def _order(unit: UnitSpec) -> tuple[int, ...]:
    """The products of a tree as its sums take them in, inner sums first."""
    assert unit.tree is not None
    return tuple(x for step in unit.tree.root.steps() for x in step.children if isinstance(x, int))


def _renumbered(unit: UnitSpec, order: Sequence[int]) -> UnitSpec:
    """A tree of which product order[i] is product i."""
    assert unit.tree is not None
    place = sorted(range(len(order)), key=order.__getitem__)
    return tree_unit(unit, replace(unit.tree, root=permuted(unit.tree.root, place)))


def _tree(unit: UnitSpec, k: int) -> UnitSpec | None:
    """The unit as a tree of its sums, where it is one."""
    try:
        return tree_of(unit, k)
    except InputError:
        return None


def _changes(one: UnitSpec, two: UnitSpec) -> int:
    """How many parameters two designs differ in."""
    values = two.design.parameters()
    return sum(value != values[name] for name, value in one.design.parameters().items())


@dataclass(slots=True)
class Sameness:
    """Compares designs with one design for dot products of k terms; each lemma is proved once.

    Lemmas and solvers are asked for `seconds` of the processor; what is not decided then stays open.
    """

    base: UnitSpec
    k: int
    seconds: float = 300.0
    _pools: dict[int, tuple[Batch, Raw]] = field(default_factory=dict)
    #: Seconds that are left of each kind of proof.
    _left: dict[str, float] = field(init=False)
    #: Designs that are proved to be the base.
    _proved: list[UnitSpec] = field(default_factory=list)
    _whole: Limits = field(init=False)
    _lemma: Limits = field(init=False)
    _book: LemmaBook = field(init=False)

    def __post_init__(self) -> None:
        self._left = {kind: part * self.seconds for kind, part in _PARTS.items()}
        self._whole, self._lemma = (Limits(time_s=max(1.0, part * self.seconds)) for part in (_WHOLE, _LEMMA))
        self._book = LemmaBook(limits=self._lemma)

    @contextmanager
    def _spending(self, kind: str) -> Iterator[None]:
        """Take the seconds of what is done within from those that are left of a kind of proof."""
        start, began = processor_seconds(), time.monotonic()
        try:
            yield
        finally:
            spent = processor_seconds() - start, time.monotonic() - began
            self._left[kind] -= max(spent)

    def compared(self, other: UnitSpec) -> Likeness:
        """What is known of the base and another design of its formats."""
        found = Likeness()
        for ask in (self.quickly, self.by_sums, self.by_solvers):
            found = found if found.proof or found.witness else ask(other)
        return found

    def by_theorem(self, other: UnitSpec) -> Likeness:
        """What theorems on the parameters say: those of both designs have one normal form, or nothing."""
        for near in self._nearest(other):
            if (equal := equal_by_theorem(near, other, self.k)) is not None:
                return self._taken(other, near, equal.text)
        return Likeness()

    def quickly(self, other: UnitSpec) -> Likeness:
        """What theorems, definitions, some pools of inputs and lemmas say."""
        if (known := self.by_theorem(other)).proof:
            return known
        same = same_definition(self.base, other, self.k)
        # Calls of more products have zeros besides, of which the definitions of k products know nothing.
        filled = any(u.tree is None and u.k > self.k for u in (self.base, other))
        if (filled or not same) and (witness := self._separated(other)) is not None:
            return Likeness(witness=witness)
        if same:
            self._proved.append(other)
            return Likeness("the definitions are the same")
        if self._left["lemmas"] > 0:
            for near in self._nearest(other):
                asked = self._asked(other, near)
                with self._spending("lemmas"):
                    found = equal_in_steps(asked.one, asked.two, self._book, self._lemma, asked.k)
                if found is not None:
                    return self._taken(other, near, f"the lemmas of claim equality{asked.more(self.k)}")
        return Likeness()

    def by_sums(self, other: UnitSpec) -> Likeness:
        """What is said by way of designs that are proved, or sum by sum, unless the time for that is over."""
        near = self._between(other) or self._near(other)
        asked = self._asked(other, near)
        if near is not self.base and equal_in_steps(asked.one, asked.two, self._book, self._lemma, asked.k):
            return self._taken(other, near, f"the lemmas of claim equality{asked.more(self.k)}")
        found = self._in_sums(other, near)
        beside = None if found.proof else self._beside(other)
        return found if beside is None else self._in_sums(other, beside)

    def _beside(self, other: UnitSpec) -> UnitSpec | None:
        """A design that is proved to be the base, of the same parameters with another one's steps."""
        if other.tree is None:
            return None
        alike = (
            u for u in self._proved
            if u.tree is not None and replace(u.tree, root=other.tree.root) == other.tree
            and u.design == other.design
        )  # fmt: skip
        return next(alike, None)

    def _in_sums(self, other: UnitSpec, near: UnitSpec) -> Likeness:
        """What a proof of one sum after the other says, unless the time for that is over."""
        if self._left["sums"] <= 0:
            return Likeness()
        asked = self._asked(other, near)
        text = f"a proof of one sum after the other{asked.more(self.k)}"
        with self._spending("sums"):
            proved = equal_in_sums(asked.one, asked.two, self._book, self._lemma) is not None
            if not proved and any(u.k > self.k for u in (near, other)):
                # The zeros that fill calls up may hide what other inputs there would show.
                proved = equal_in_sums(near, other, self._book, self._lemma, self.k) is not None
                text = "a proof of one sum after the other, with zeros that fill calls up"
        return self._taken(other, near, text) if proved else Likeness()

    def _between(self, other: UnitSpec) -> UnitSpec | None:
        """Another design with its factors converted as those of the base, where that is proved to be it."""
        mine = self.base if self.base.tree is not None else _tree(self.base, self.k)
        if mine is None or mine.tree is None or other.tree is None:
            return None
        wide = mine.tree.converted
        if wide is None or other.tree.converted is not None:
            return None
        if self._near(other) is not self.base:
            return None
        made = tree_unit(other, replace(other.tree, converted=wide))
        known = any(u.name == made.name for u in self._proved)
        found = known or self.quickly(made).proof or self._in_sums(made, self._near(made)).proof
        return made if found else None

    def _taken(self, other: UnitSpec, near: UnitSpec, proof: str) -> Likeness:
        """A design that is proved to be another one, which is the base or was proved to be it."""
        self._proved.append(other)
        plain = near is self.base or same_definition(self.base, near, self.k)
        return Likeness(proof if plain else f"{proof}, by way of {near.name}")

    def _near(self, other: UnitSpec) -> UnitSpec:
        """The design nearest to another one, of its sums, that is proved to be the base; or else the base."""
        if other.tree is None:
            return self.base
        how = other.tree.root, other.tree.converted
        if self.base.tree is not None and (self.base.tree.root, self.base.tree.converted) == how:
            return self.base
        known = (u for u in self._proved if u.tree is not None and (u.tree.root, u.tree.converted) == how)
        return min(known, key=lambda u: _changes(u, other), default=self.base)

    def _nearest(self, other: UnitSpec) -> tuple[UnitSpec, ...]:
        """What a design is compared with: the nearest one that is proved to be the base, and the base."""
        return tuple(dict.fromkeys((self._near(other), self.base)))

    def told(self, other: UnitSpec, inputs: Sequence[Witness]) -> bool:
        """Whether another design differs from the base on one of some inputs."""
        return self._shown(other, inputs).witness is not None

    def by_solvers(self, other: UnitSpec) -> Likeness:
        """What solvers say of both designs as a whole, unless the time for that is over."""
        if self._left["solvers"] <= 0:
            return Likeness()
        asked = self._asked(other)
        try:
            with self._spending("solvers"):
                verdict = answer(question(asked.one, asked.two, Assumptions()), limits=self._whole)
        except TcformalError:
            return Likeness()
        if verdict.kind is Kind.SEPARATED and verdict.found is not None:
            short = [w for w in (verdict.witness, verdict.found) if w is not None]
            return self._shown(other, [x for w in short for x in asked.of_all(w, self.k)])
        if verdict.kind is not Kind.EQUIVALENT:
            return Likeness()
        return self._taken(other, self.base, verdict.reason + asked.more(self.k))

    def _asked(self, other: UnitSpec, near: UnitSpec | None = None) -> _Asked:
        """Both designs for as few products as they hand their whole state on after; else for all.

        Soundness: products are numbered anew on both sides alike, which only renames inputs; designs that
        agree on so many products with every c agree on all, block by block.
        """
        first, second, order = near or self.base, other, tuple(range(self.k))
        if all(u.tree is not None and u.k == self.k for u in (first, second)):
            order = _order(first)
            first, second = (_renumbered(u, order) for u in (first, second))
        one, two = plain_form(first, self.k), plain_form(second, self.k)
        if one is not None and two is not None and one.operands.c == one.operands.d:
            plain = [x for x in (one, two) if (x.emulation, x.scale_format, x.tree) == (None, None, None)]
            n = math.lcm(*(min(self.k, x.design.products) for x in plain))
            if len(plain) == 2 and n < self.k and self.k % n == 0:
                return _Asked(replace(one, k=n), replace(two, k=n), n, order)
        first, second = (self._of_all(u, made) for u, made in ((first, one), (second, two)))
        return _Asked(first, second, self.k, order)

    def _of_all(self, u: UnitSpec, made: UnitSpec | None) -> UnitSpec:
        """A unit of fewer products, called several times, or of more, as the design of k products that it is.

        Soundness: a unit of more products is given zeros for the others, which are blocks of its own like
        those that are compared for every c; where they would be in one block with the k, it stays as it is.
        """
        if made is None or made.k != self.k:
            return u
        whole = u.design.products <= self.k and u.operands.c == u.operands.d
        return made if u.k < self.k or (u.k > self.k and whole) else u

    def _shown(self, other: UnitSpec, found: Sequence[Witness]) -> Likeness:
        """The first of some inputs on which both designs differ."""
        if not found:
            return Likeness()
        pool = batch_of(found)
        apart = np.flatnonzero(replay(self.base, pool) != replay(other, pool))
        return Likeness(witness=found[int(apart[0])]) if apart.size else Likeness()

    def _separated(self, other: UnitSpec) -> Witness | None:
        """An input of some pools on which another design differs from the base."""
        scaled = self.base.scale_format is not None
        for seed in range(0 if scaled else -1, _POOLS):
            if seed not in self._pools:
                of = self.base, self.k
                pool = boundaries(*of, 0) if seed < 0 else pool_of(*of, _POOL, seed)
                self._pools[seed] = pool, replay(self.base, pool)
            pool, given = self._pools[seed]
            apart = np.flatnonzero(replay(other, pool) != given)
            if apart.size:
                return witness_at(pool, int(apart[0]))
        return None
