"""Orders of sums that masks cannot tell apart, because every sum in them takes in the same terms.

The first two terms of a chain may be turned: one of them is rounded before it is added, the other may be
fused.  And a compiler may fuse some products of a short chain only: its last ones are rounded before they
join the sum, or its first ones are; or it fuses those of one short chain alone.  Short chains that run beside
each other, the lanes of one register, are taken alike, and what is left over after them may be otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tcformal.identify.whole.order import SumChain

#: Terms of the longest chain in which only some products are fused.
_SHORT = 8


def variants(order: SumChain) -> Iterator[SumChain]:
    """The order itself, every chain turned, then a short last chain taken otherwise; each once."""
    seen = set()
    beside = _beside(order)
    for found in (order, turned(order), *_with_one_chain(order), *_with_one_chain(turned(order)), *beside):
        if found not in seen:
            seen.add(found)
            yield found


def turned(x: SumChain) -> SumChain:
    """The same order with the first two terms of every chain in turned places."""
    ks = x.ks if x.base else (*x.ks[1::-1], *x.ks[2:])
    return SumChain(ks, tuple(turned(y) for y in x.base))


def _with_one_chain(order: SumChain) -> Iterator[SumChain]:
    """Orders whose last chain, where what is left over after whole steps is summed, is taken otherwise."""
    if not order.base:
        yield from _partly(order.ks)
    elif not order.base[-1].base:
        for found in _partly(order.base[-1].ks):
            yield replace(order, base=(*order.base[:-1], found))


def _beside(order: SumChain) -> Iterator[SumChain]:
    """Orders whose chains but the last one are taken otherwise, all alike, and the last one in every way."""
    if len(order.base) < 2 or order.ks:
        return
    *lanes, last = order.base
    lengths = {len(x.ks) for y in lanes for x in _leaves(y)}
    if len(lengths) != 1 or not 2 < max(lengths) <= _SHORT:
        return
    ends = (last, turned(last), *(() if last.base else _partly(last.ks)))
    for i in range(len(list(_partly(tuple(range(max(lengths))))))):
        taken = tuple(_changed(x, i) for x in lanes)
        for end in ends:
            yield SumChain((), (*taken, end))


def _leaves(x: SumChain) -> Iterator[SumChain]:
    """The chains from zero."""
    if not x.base:
        yield x
    for y in x.base:
        yield from _leaves(y)


def _changed(x: SumChain, i: int) -> SumChain:
    """A tree whose chains from zero are taken in the i-th way."""
    if not x.base:
        return list(_partly(x.ks))[i]
    return SumChain(x.ks, tuple(_changed(y, i) for y in x.base))


def _partly(ks: tuple[int, ...]) -> Iterator[SumChain]:
    """A chain some of whose products join as a sum does: the last ones, or all but the last ones."""
    if not 2 < len(ks) <= _SHORT:
        return
    for first in (ks, (*ks[1::-1], *ks[2:])):
        yield SumChain(first)
        for j in range(1, len(first)):
            yield SumChain(first[j:], (SumChain(first[:j]),))
            if j == 1:
                continue
            rounded = SumChain(first[:1])
            for k in first[1:j]:
                rounded = SumChain((), (rounded, SumChain((k,))))
            yield SumChain(first[j:], (rounded,))
