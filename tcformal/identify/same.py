"""Proofs that two designs give the same results: by a claim about one parameter, or by solvers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from tcformal.callbacks import ignore
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, TcformalError
from tcformal.identify.survivors.pool import pool_of
from tcformal.matmul.replay import replay
from tcformal.operands.batch import witness_at
from tcformal.operands.random import Batch, Raw
from tcformal.operands.witness import Witness
from tcformal.programs.chain import definition
from tcformal.proofs.claim import Asking, Finding, PartStatus
from tcformal.proofs.claims.carry import carry_bits
from tcformal.proofs.claims.zero_exponent import same_results
from tcformal.proofs.lemmas import LemmaBook
from tcformal.query.assume import Assumptions
from tcformal.query.engine import answer
from tcformal.query.pair import question
from tcformal.query.question import Kind
from tcformal.solve.result import Limits

#: Inputs of a pool that are tried before a solver is asked, and pools.
_POOL, _POOLS = 10_000, 5
#: Limits of each solver on a question about two whole designs, and on a lemma.
_WHOLE, _LEMMA = Limits(time_s=20.0), Limits(time_s=30.0)


@dataclass(frozen=True, slots=True)
class Likeness:
    """What is known of two designs: a proof that they are the same, a separating input, or neither."""

    proof: str = ""
    witness: Witness | None = None


@dataclass(slots=True)
class Sameness:
    """Compares designs with one design; each claim about it is proved once."""

    base: UnitSpec
    k: int
    #: The base with blocks of products instead of a tree, of which claims speak; None where there is none.
    plain: UnitSpec | None = field(init=False)
    _claims: dict[str, Finding | None] = field(default_factory=dict)
    _pools: dict[int, tuple[Batch, Raw]] = field(default_factory=dict)
    _book: LemmaBook = field(default_factory=lambda: LemmaBook(limits=_LEMMA))

    def __post_init__(self) -> None:
        self.plain = plain_form(self.base, self.k)

    def compared(self, other: UnitSpec) -> Likeness:
        """What is known of the base and another design of its formats."""
        if definition(self.base, self.k) == definition(other, self.k):
            return Likeness("the definitions are the same")
        if (by_claim := self._by_claim(other)) is not None:
            return Likeness(by_claim)
        if (shown := self._separated(other)) is not None:
            return Likeness(witness=shown)
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

    def _by_claim(self, other: UnitSpec) -> str | None:
        """The claim by which another design is the same, where one speaks of what differs."""
        mine, theirs = self.plain, plain_form(other, self.k)
        if mine is None or theirs is None:
            return None
        one, two = mine.design.parameters(), theirs.design.parameters()
        changed = [name for name in one if one[name] != two[name]]
        if changed == ["carry_bits"]:
            exact = replace(mine, design=replace(mine.design, carry_bits=None))
            finding = self._claim("carry-bits", exact, carry_bits)
            proved = {p.name for p in finding.parts if p.status is PartStatus.HOLDS} if finding else set()
            wanted = {f"carry_bits={x['carry_bits']}" for x in (one, two) if x["carry_bits"] is not None}
            return "claim carry-bits" if "the exact sums" in proved and wanted <= proved else None
        if changed == ["zero_exponent"]:
            if (other_part := same_results(self._asking(mine), theirs)) is None:
                return None
            holds = other_part[0].status is PartStatus.HOLDS
            return "the lemmas of claim zero-exponent" if holds else None
        return None

    def _asking(self, spec: UnitSpec) -> Asking:
        return Asking(spec, self._book, _LEMMA, None, ignore)

    def _claim(
        self, name: str, spec: UnitSpec, prove: Callable[..., tuple[Finding, object]]
    ) -> Finding | None:
        """A claim about a design; None where it is none of that design."""
        if name not in self._claims:
            self._claims[name] = None
            with suppress(TcformalError):
                self._claims[name] = prove(self._asking(spec))[0]
        return self._claims[name]


def plain_form(unit: UnitSpec, k: int) -> UnitSpec | None:
    """The design with blocks of products that is defined as a tree is; the unit itself without a tree."""
    if unit.tree is None:
        if unit.emulation is not None or unit.scale_format is not None or k % unit.k:
            return None
        return replace(unit, k=k)
    names = ",".join(f"{name}_format={fmt}" for name, fmt in unit.operands.names().items())
    for length in (n for n in range(k, 0, -1) if k % n == 0):
        with suppress(InputError):
            blocks = resolve(f"tfdpa@products={length},k={k},{names}")
            made = replace(blocks, design=replace(unit.design, products=length))
            if definition(made, k) == definition(unit, k):
                return made
    return None
