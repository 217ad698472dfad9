"""The truncated sums of a dot product, each with what is rounded from it."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.design.operations import operation
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.node import Node
from tcformal.semantics.stages import Block, Dot, DotStep, SpecialCases, Total


@dataclass(frozen=True, slots=True)
class TruncatedSum:
    """One sum of aligned, truncated terms.

    `rounded` are sign, significand, exponent and overflow of what is rounded from it, and, where it is a
    block's last sum, the block's word, which takes special cases along that no sum decides.
    """

    #: Where it stands, without the scope of its side.
    scope: str
    total: Total
    specials: SpecialCases
    rounded: tuple[Node, ...]
    #: The sum of it and c that is rounded, where c is added to it as it is.
    added: Total | None = None

    @property
    def partials(self) -> tuple[Node, ...]:
        """The partial sums from the leaves to the root of the tree."""
        return tuple(x.node for x in self.total.partials)


def truncated_sums(dot: Dot) -> list[TruncatedSum]:
    """Every truncated sum that is rounded, alone or with c added to it, in the order of definition."""
    found = []
    for stage in dot.stages:
        steps = stage.steps if isinstance(stage, Block) else (stage,)
        before: DotStep | None = None
        for step in steps:
            of = step if before is None or before.rounded is not None else before
            before = step
            if of.total is None or step.rounded is None or step.specials is None or of.exact:
                continue
            last = (stage.result,) if isinstance(stage, Block) and step is steps[-1] else ()
            scope = of.scope.partition(".")[2]
            added = None if of is step else step.total
            found.append(TruncatedSum(scope, of.total, step.specials, (*step.rounded.parts, *last), added))
    return found


def require_truncated_sum(spec: UnitSpec, claim: str) -> None:
    """Refuse units whose sum is not one of aligned, truncated terms."""
    if not spec.design.one_sum:
        raise InputError(
            f"expected a truncated fused sum (T-FDPA) for claim {claim}, but {spec.name} computes another: "
            f"{operation(spec).name}"
        )


def require_unbounded_sum(spec: UnitSpec, claim: str) -> None:
    """Refuse units whose sum has a bound on its bits, or is no number in two's complement."""
    if spec.design.carry_bits is not None or spec.design.accumulation != "twos_complement":
        raise InputError(
            f"expected an unbounded sum in two's complement for claim {claim}, but got {spec.name}"
        )
