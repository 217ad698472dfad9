"""Trees of sums."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.ir.node import Node
from tcformal.semantics.number import Number
from tcformal.theory.refinement.ending import Ending
from tcformal.theory.refinement.fused import Fused


@dataclass(frozen=True, slots=True)
class At:
    """A number that is there (`Stage.v`, At); `zero`: exponent and fraction bits of a +0 that a chain
    starts from.
    """

    number: Number
    zero: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Summed:
    """A sum of a tree (`Stage.v`, Sum), and the number that it counts as in the next one."""

    sum: Fused
    result: Number
    children: tuple[At | Summed, ...]
    flushed: bool

    @property
    def ending(self) -> Ending:
        """How it is rounded."""
        return self.sum.ending

    def cut(self) -> list[Node]:
        """The nodes that what it hands on is made of."""
        return self.sum.cut()
