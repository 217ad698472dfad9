"""Orders of sums that masks cannot tell apart, because every sum in them takes in the same terms.

The first two terms of a chain may be turned: one of them is rounded before it is added, the other may be
fused.  And a compiler may fuse some products of a short chain only: its last ones are rounded before they
join the sum, or its first ones are; or it fuses those of one short chain alone.  Chains that run beside each
other, the lanes of one register, are taken alike, and what is left over after them may be otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, product

from tcformal.identification.whole.order import SumChain

#: Terms of the longest chain in which only some products are fused.
_SHORT = 8
#: Kinds of chains in an order that are taken otherwise; those of any more kinds stay as they are.
_KINDS = 3


def variants(order: SumChain) -> Iterator[SumChain]:
    """The order itself, every chain turned, then chains of each kind taken in every way; each once."""
    seen = set()
    for found in (order, turned(order), *_taken(order)):
        if found not in seen:
            seen.add(found)
            yield found


def turned(x: SumChain) -> SumChain:
    """The same order with the first two terms of every chain in turned places."""
    ks = x.ks if x.base else _turned(x.ks)
    return SumChain(ks, tuple(turned(y) for y in x.base))


def _turned(ks: tuple[int, ...]) -> tuple[int, ...]:
    return (*ks[1::-1], *ks[2:])


def _taken(order: SumChain) -> Iterator[SumChain]:
    """Chains from zero of one length are taken alike, but for the last one, with what is left over."""
    chains = list(_leaves(order))
    kinds: dict[tuple[int, bool], list[tuple[int, ...]]] = {}
    for i, ks in enumerate(chains):
        kinds.setdefault((len(ks), i + 1 == len(chains)), []).append(ks)
    varied = list(kinds.values())[-_KINDS:]
    # The ways of one kind are as many for each of its chains, and in the same places.
    for chosen in product(*(zip(*map(_ways, x), strict=True) for x in varied)):
        yield _changed(order, dict(zip(chain(*varied), chain(*chosen), strict=True)))


def _leaves(x: SumChain) -> Iterator[tuple[int, ...]]:
    """The terms of the chains from zero."""
    if not x.base:
        yield x.ks
    for y in x.base:
        yield from _leaves(y)


def _changed(x: SumChain, taken: dict[tuple[int, ...], SumChain]) -> SumChain:
    """A tree whose chains from zero are taken in other ways."""
    if not x.base:
        return taken.get(x.ks, x)
    return SumChain(x.ks, tuple(_changed(y, taken) for y in x.base))


def _ways(ks: tuple[int, ...]) -> Iterator[SumChain]:
    """A chain as it is and turned; a short one also so that some of its products join as a sum does."""
    for first in dict.fromkeys((ks, _turned(ks))):
        yield SumChain(first)
        if len(ks) > _SHORT:
            continue
        rounded = SumChain(first[:1])
        for j, k in enumerate(first[1:], 1):
            # The last products, after sums of fused ones, and after the first ones that are all rounded.
            yield SumChain(first[j:], (SumChain(first[:j]),))
            if j > 1:
                yield SumChain(first[j:], (rounded,))
            rounded = SumChain((), (rounded, SumChain((k,))))
        if len(ks) > 1:
            yield rounded
