"""Sums in the order of a tree, in fractions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from tcformal.design.spec import Design
from tcformal.design.trees.tree import Step
from tcformal.oracle.products import flushed
from tcformal.oracle.sums import fused_sum
from tcformal.oracle.values import ExactValue, NumberClass


def tree_sum(
    step: Step, stages: Mapping[str, Design], products: Sequence[ExactValue], c: ExactValue
) -> ExactValue:
    """The products and c summed as a tree says, each sum rounded by its stage.

    Shapes: products: one value per k; stages: the design of each stage, by name.
    Zero, NaN, Inf: as `fused_sum`, sum by sum; a subnormal partial sum counts as a subnormal c does, and c
    comes with its subnormals already flushed.  The +0 that a sum may take in is one of its own result format.
    """
    design = stages[step.stage]
    terms = []
    for child in step.children:
        if isinstance(child, Step):
            partial = tree_sum(child, stages, products, c)
            terms.append(flushed(partial, design.c_subnormals))
        elif child == "zero":
            terms.append(ExactValue(NumberClass.FINITE, 0, Fraction(0), design.rho.e_min))
        else:
            terms.append(c if isinstance(child, str) else products[child])
    return fused_sum(design, terms, design.rho)
