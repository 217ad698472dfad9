"""Two largest exponents of which one alone chooses between exponents that are one: those of zeros."""

from __future__ import annotations

from collections.abc import Callable

from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.proofs.tactics.cuts import Composition

#: Operators that are restored below what both share: zeros are told by the word that is taken apart.
_DEPTHS = (0, 4)


def without_idle_choices(c: Composition, where: str, x: Node, y: Node, seen: Callable[[Node], bool]) -> bool:
    """Make each choice that one of two nodes alone has what it always chooses; whether some was made.

    Soundness: `seen`, which inputs answer, says what to try; each choice is proved to be one of what it
    chooses from, for all inputs.
    """
    cones = [{n.index: n for n in reachable([z])} for z in (x, y)]
    apart = [(cones[0] | cones[1])[i] for i in sorted(cones[0].keys() ^ cones[1].keys())]
    made = False
    for n in apart:
        for one in n.args[1:] if n.op == "ite" else ():
            if one.op != "const" and seen(c.graph.eq(one, n)):
                made |= c.by_lemma(where, one, n, name="a choice that always chooses one", depths=_DEPTHS)
    return made
