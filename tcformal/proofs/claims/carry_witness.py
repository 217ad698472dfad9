"""A witness that a unit has too few carry bits: a largest sum, by construction or by a solver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tcformal.design.unit import UnitSpec
from tcformal.formats.spec import Format
from tcformal.ir.build import Graph
from tcformal.operands.witness import Witness
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.proofs.claim import Asking, Counterexample, counterexample, searched


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
    scales = tuple(1 for _ in range(-(-spec.k // spec.scale_block))) if spec.scale_block else ()
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
