"""Proofs that two designs give the same results: in steps, or by solvers about the whole."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.errors import TcformalError
from tcformal.identify.survivors.pool import pool_of
from tcformal.matmul.replay import replay
from tcformal.operands.batch import witness_at
from tcformal.operands.random import Batch, Raw
from tcformal.operands.witness import Witness
from tcformal.programs.chain import same_definition
from tcformal.proofs.claims.equality import equal_in_steps
from tcformal.proofs.lemmas import LemmaBook
from tcformal.query.assume import Assumptions
from tcformal.query.engine import answer
from tcformal.query.pair import question
from tcformal.query.question import Kind
from tcformal.solve.result import Limits

#: Inputs of a pool that are tried before a solver is asked, and pools.
_POOL, _POOLS = 10_000, 5
#: Seconds in which lemmas and solvers are asked; what is not decided then stays open.
_SECONDS = 150.0
#: Limits of each solver on a question about two whole designs, and on a lemma.
_WHOLE, _LEMMA = Limits(time_s=20.0), Limits(time_s=30.0)


@dataclass(frozen=True, slots=True)
class Likeness:
    """What is known of two designs: a proof that they are the same, a separating input, or neither."""

    proof: str = ""
    witness: Witness | None = None


@dataclass(slots=True)
class Sameness:
    """Compares designs with one design for dot products of k terms; each lemma is proved once."""

    base: UnitSpec
    k: int
    _pools: dict[int, tuple[Batch, Raw]] = field(default_factory=dict)
    _end: float = field(default_factory=lambda: time.monotonic() + _SECONDS)
    _book: LemmaBook = field(default_factory=lambda: LemmaBook(limits=_LEMMA))

    def compared(self, other: UnitSpec) -> Likeness:
        """What is known of the base and another design of its formats."""
        found = self.quickly(other)
        return found if found.proof or found.witness else self.by_solvers(other)

    def quickly(self, other: UnitSpec) -> Likeness:
        """What definitions, lemmas and some pools of inputs say."""
        if same_definition(self.base, other, self.k):
            return Likeness("the definitions are the same")
        if time.monotonic() < self._end:
            in_steps = equal_in_steps(self.base, other, self._book, _LEMMA, self.k)
            if in_steps is not None:
                return Likeness(in_steps.reason)
        return Likeness(witness=self._separated(other))

    def by_solvers(self, other: UnitSpec) -> Likeness:
        """What solvers say of both designs as a whole, unless the time for that is over."""
        if time.monotonic() > self._end:
            return Likeness()
        try:
            verdict = answer(question(self.base, other, Assumptions()), limits=_WHOLE)
        except TcformalError:
            return Likeness()
        if verdict.kind is Kind.SEPARATED and verdict.inputs is not None:
            return Likeness(witness=Witness.of(verdict.inputs, self.k))
        return Likeness(verdict.reason) if verdict.kind is Kind.EQUIVALENT else Likeness()

    def _separated(self, other: UnitSpec) -> Witness | None:
        """An input of some pools on which another design differs from the base."""
        for seed in range(_POOLS):
            if seed not in self._pools:
                pool = pool_of(self.base, self.k, _POOL, seed)
                self._pools[seed] = pool, replay(self.base, pool)
            pool, given = self._pools[seed]
            apart = np.flatnonzero(replay(other, pool) != given)
            if apart.size:
                return witness_at(pool, int(apart[0]))
        return None
