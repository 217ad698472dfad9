"""Sums in the order of a tree, in fractions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from tcformal.design.spec import Design
from tcformal.design.trees.tree import Step, Tree
from tcformal.encodings.spec import Format
from tcformal.oracle.nans import Word, quiet_nan
from tcformal.oracle.products import flushed
from tcformal.oracle.sums import fused_sum
from tcformal.oracle.values import ExactValue, NumberClass, decode


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


def tree_nan(
    tree: Tree,
    stages: Mapping[str, Design],
    products: Sequence[ExactValue],
    pairs: Sequence[tuple[Word, Word]],
    c: tuple[ExactValue, Word],
    target: Format,
    step: Step | None = None,
) -> int | None:
    """The NaN word of a sum of a tree, the outermost one unless given; None where the sum is no NaN.

    Shapes: pairs: the (a_k, b_k) as they come; c: its value and its word.
    Zero, NaN, Inf: the first NaN of a_k, b_k and the running sum, in the order of the tree's nan_rule, made
    quiet; the running sum's is c's, or else the first one of the inner sums by their least k.
    Source: as `nans.operand_nan`.
    """
    step = tree.root if step is None else step
    if tree_sum(step, stages, products, c[0]).kind is not NumberClass.NAN:
        return None
    of_a = of_b = None
    of_c: list[int | None] = []
    inner: list[int | None] = []
    for child in step.children:
        if isinstance(child, Step):
            inner.append(tree_nan(tree, stages, products, pairs, c, target, child))
        elif isinstance(child, int):
            of_a, of_b = (_quieted(word, target) for word in pairs[child])
        elif child == "c":
            of_c.append(_quieted(c[1], target))
    running = next((word for word in of_c + inner if word is not None), None)
    orders = {
        "first_operand": (of_a, of_b, running),
        "b_sum_a": (of_b, running, of_a),
        "a_sum_b": (of_a, running, of_b),
    }
    found = (word for word in orders[tree.nan_rule] if word is not None)
    return next(found, stages[step.stage].nan_word)


def _quieted(operand: Word, target: Format) -> int | None:
    """An operand's NaN in the target's format; None where it is none."""
    return quiet_nan(operand, target) if decode(*operand).kind is NumberClass.NAN else None
