"""The mirror: a circuit on inputs of opposite sign, written node by node in terms of the circuit itself.

Nothing here is trusted: what a node becomes in the mirror is found by trying, and every equality passes
through `Composition`, which proves it or refuses.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.proofs.lemmas import statement
from tcformal.proofs.tactics.cut_points import specials_of
from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.exact_sums import within
from tcformal.proofs.tactics.mirrored import met, rounded_numbers
from tcformal.semantics.stages import Dot

#: Operators that a proof always looks through: a sign's complement is nothing without the sign.
_TRANSPARENT = ("not_", "neg_mod", "zero_extend")
#: Values drawn to refute a guess before any solver is asked.
_DRAWN = 60


class Mirror:
    """What every node of one circuit becomes when its inputs are replaced.

    `image` maps a node x, by index, to a node that has been proved equal to x's counterpart: the node that
    the same operators make of the replaced inputs.  Where it can, the image is x itself, its complement
    (width 1), its opposite (two's complement), or another node of the circuit, so that what follows is
    shared.  `bounds` maps opposite numbers to a proved fact, that they are not the lowest number of their
    width, with the magnitude that it allows.
    """

    def __init__(self, c: Composition, replaced: Mapping[Node, Node], dots: Sequence[Dot]) -> None:
        self.c = c
        self.image: dict[int, Node] = {}
        self.counterpart: dict[int, Node] = {old.index: new for old, new in replaced.items()}
        self.bounds: dict[int, tuple[int, Node]] = {}
        #: Nodes whose image is a node of the circuit, or the complement or opposite of one, by index.
        self._known: set[int] = set()
        self._opposite: set[int] = set()
        #: Proved facts, by the nodes that they tell something of, and nodes that are cut because of them.
        self._given: dict[int, list[Node]] = defaultdict(list)
        self._signs: set[int] = set()
        self._rounded = rounded_numbers(dots)
        self._refuted: set[str] = set()
        #: Stages at which a longer look below a node stops, besides opposite numbers.
        self._exponents = {s.total.e_max.bits.index for dot in dots for s in dot.steps if s.total is not None}
        specials = [found for dot in dots for _, found in specials_of(dot)]
        flags = [(s.some_nan, s.positive_inf, s.negative_inf) for s in specials]
        self._stops = self._exponents | {node.index for row in flags for node in row}
        self._original: set[int] = set()

    # ------------------------------------------------------------------ building
    def reflect(self, roots: Sequence[Node]) -> list[Node]:
        """The images of nodes and of all that they depend on."""
        nodes = reachable(roots)
        self._original |= {n.index for n in nodes}
        for x in nodes:
            if x.index not in self.image:
                self.image[x.index] = self._image(x)
                if x.index in self._rounded:
                    self._round(x, *self._rounded[x.index])
        return [self.image[x.index] for x in roots]

    def _image(self, x: Node) -> Node:
        g = self.c.graph
        if not x.args:
            return self.counterpart.setdefault(x.index, x)
        self.counterpart[x.index], made = self.c.made_twice(
            x, [self.counterpart[a.index] for a in x.args], [self.image[a.index] for a in x.args]
        )
        image = made if made is x else self._simplified(x, made)
        if x.op in _TRANSPARENT:
            return image
        opposite = x.width > 1 and image is g.neg_mod(x)
        if opposite or image.index in self._original or image is g.not_(x):
            self._known.add(x.index)
        if opposite:
            self._opposite.add(x.index)
            self._bound(x)
        return image

    def _simplified(self, x: Node, made: Node) -> Node:
        """`made`, or a plainer node that it is proved equal to."""
        g = self.c.graph
        flipped = g.not_(x) if x.width == 1 else g.neg_mod(x)
        if made is flipped or (made.index in self._original and x.width == 1):
            return made
        if x.op == "add_mod":
            self._zeros(x.args)
        given = [
            fact for a in x.args for _, fact in [self.bounds.get(a.index, (0, None))] if fact is not None
        ]
        weak = self._leaf_sign(x)
        if weak is not None:
            fact = self._flips_unless_zero(*weak)
            if fact is not None:
                cut = [weak[0], self.image[weak[0].index], weak[1]]
                if self.c.by_lemma(
                    "addends",
                    flipped,
                    made,
                    given=[fact],
                    cut=cut,
                    name=(f"a magnitude of {x.width - 1} bits changes its sign"),
                ):
                    return flipped
            return made
        for target in (x, flipped):
            if self._prove(target, made, given, self._known, f"{x.op} on {x.width} bits"):
                return target
        if self._opposite_sign(x, made):
            return made
        partner = self._partner(x)
        if partner is not None and self._seen(partner, made, "infinities change their sign"):
            self._original.add(partner.index)
            return partner
        return made

    def _zeros(self, addends: Sequence[Node]) -> None:
        """An addend that is its own image beside one that is not: its own opposite, if it is always zero."""
        g = self.c.graph
        own = [a for a in addends if self.image[a.index] is a and a.index not in self._opposite]
        if len(own) == 1 and any(a.index in self._opposite for a in addends):
            (addend,) = own
            fact = g.is_zero(addend)
            if self.fact(fact, f"{addend.width} bits of a constant zero are zero"):
                self.bounds[addend.index] = (0, fact)
                self._opposite.add(addend.index)
                self._known.add(addend.index)

    # ------------------------------------------------------------------ guesses
    def _leaf_sign(self, x: Node) -> tuple[Node, Node] | None:
        """Sign and magnitude, where x is a signed magnitude whose sign has no plain image."""
        if x.op != "ite" or x.args[1].op != "neg_mod" or x.args[1].args[0] is not x.args[2]:
            return None
        sign, magnitude = x.args[0], x.args[2]
        if self.image[magnitude.index] is not magnitude or self.image[sign.index] is self.c.graph.not_(sign):
            return None
        return sign, magnitude

    def _flips_unless_zero(self, sign: Node, magnitude: Node) -> Node | None:
        """A proved fact: the sign changes in the mirror, or the magnitude is zero."""
        g = self.c.graph
        fact = g.or_(g.xor(sign, self.image[sign.index]), g.is_zero(magnitude))
        if self.c.equal(fact, g.truth(True)):
            return fact
        name = f"a sign changes unless its {magnitude.width} bits are zero"
        return fact if self.fact(fact, name) else None

    def _opposite_sign(self, x: Node, made: Node) -> bool:
        """Whether x is the sign of an opposite number; that it changes unless the number is zero is kept."""
        if x.op != "extract" or x.width != 1 or x.args[0].index not in self._opposite:
            return False
        (number,) = x.args
        if x.params[0] != number.width - 1:
            return False
        g = self.c.graph
        fact = g.or_(g.is_zero(number), g.xor(x, made))
        if self.fact(fact, f"the sign of {number.width} bits changes unless they are zero"):
            self._given[x.index].append(fact)
            self._signs |= {x.index, made.index}
        return True

    def _round(self, significand: Node, sign: Node, exponent: Node, overflow: Node) -> None:
        """What the parts of a rounded number say of each other: later proofs need not look into it."""
        g = self.c.graph
        zero = g.is_zero(significand)
        image = self.image[sign.index]
        facts = [g.or_(g.not_(zero), g.is_zero(exponent)), g.not_(g.and_(overflow, zero))]
        if image not in (sign, g.not_(sign)):
            facts.append(g.or_(zero, g.xor(sign, image)))
        proved = [f for f in facts if self.fact(f, f"a rounded number of {significand.width} bits")]
        # The builder looks through an extraction, so that later stages may hold other bits of its operand.
        whole = significand.args[0] if significand.op == "extract" else significand
        cut = {whole.index, exponent.index, overflow.index}
        for index in cut:
            self._given[index] += proved
        if len(proved) == len(facts):
            # The sign of a number that may be Inf is nothing without its infinities.
            of_inf = sign.op == "ite" and sign.args[1].index in self._stops
            signs = () if of_inf else (sign, image)
            self._signs |= cut | {n.index for n in signs if n.op not in _TRANSPARENT}

    def _partner(self, x: Node) -> Node | None:
        """p ∧ ¬s for x = p ∧ s, and the other way round, where p is its own image and s has no plain one."""
        if x.op != "and_" or x.width != 1:
            return None
        plain = [a for a in x.args if self.image[a.index] is a]
        other = [a for a in x.args if a.index not in self._known]
        if len(plain) != 1 or len(other) != 1:
            return None
        return self.c.graph.and_(plain[0], self.c.graph.not_(other[0]))

    # ------------------------------------------------------------------ proofs
    def fact(self, fact: Node, name: str) -> bool:
        """Prove that a node of width 1 is 1, looking as far down as it takes."""
        return self._seen(self.c.graph.truth(True), fact, name)

    def _seen(self, target: Node, made: Node, name: str) -> bool:
        """target = made, looking as far down as it takes."""
        apart = self._opposite | self._signs
        levels = (self._known, apart | self._stops, apart | self._exponents)
        return any(self._prove(target, made, (), stop, name) for stop in levels)

    def _prove(
        self, target: Node, made: Node, given: Sequence[Node], stop: Collection[int], name: str
    ) -> bool:
        """target = made as a lemma, cut at `stop`; no solver is asked where drawn values refute it."""
        if target is made:
            return True
        stop = set(stop) - {target.index, made.index}
        facts = dict.fromkeys([*given, *self._facts(met((target, made), stop))])
        cut = met((target, made, *facts), stop)
        asked = statement([(target, made)], list(facts), (), dict.fromkeys(cut))
        if asked.sha256 in self._refuted or _refutes(asked.graph, asked.assertion):
            self._refuted.add(asked.sha256)
            return False
        return self.c.by_lemma("mirror", target, made, given=list(facts), cut=cut, name=name)

    def _facts(self, cut: Collection[Node]) -> list[Node]:
        """What is known of cut nodes: bounds, and infinities of one sign only."""
        indices = {n.index for n in cut}
        found = [self.bounds[i][1] for i in sorted(indices) if i in self.bounds]
        return found + [f for i in sorted(indices) for f in self._given.get(i, ())]

    def one_sign(self, positive: Node, negative: Node, nan: Node) -> bool:
        """Prove, where nan is supposed to be 0, that infinities have one sign, for later use."""
        g = self.c.graph
        fact = g.not_(g.and_(positive, negative))
        some = [a for a in nan.args if a is not g.and_(positive, negative)]
        if self.c.equal(fact, g.truth(True)):
            return True
        cut = [*some, positive, negative]
        if not self.c.by_lemma(
            "infinities", g.truth(True), fact, given=[g.not_(nan)], cut=cut,
            name="what is no NaN has infinities of one sign",
        ):  # fmt: skip
            return False
        self._given[positive.index].append(fact)
        return True

    def _bound(self, x: Node) -> None:
        """Bound an opposite number by what it is made of, if that is narrower than its width."""
        g = self.c.graph
        most: int | None = None
        given: list[Node] = []
        cut: list[Node] = list(x.args)
        if x.op == "ite" and x.args[1].op == "neg_mod" and x.args[2].op == "zero_extend":
            magnitude = x.args[2].args[0]
            most, cut = (1 << magnitude.width) - 1, [x.args[0], magnitude]
        elif x.op in ("sign_extend", "add_mod", "extract"):
            bounded = [self.bounds.get(a.index) for a in x.args]
            if all(b is not None for b in bounded):
                most = sum(b[0] for b in bounded if b is not None)
                given = [b[1] for b in bounded if b is not None]
        elif x.op == "concat" and x.args[0].index in self.bounds and x.args[1] is g.const(0, x.args[1].width):
            bound, fact = self.bounds[x.args[0].index]
            most, given = bound << x.args[1].width, [fact]
        if most is None or most >= 1 << (x.width - 1):
            return
        fact = within(g, x, most)
        if self.c.by_lemma(
            "bounds",
            g.truth(True),
            fact,
            given=given,
            cut=cut,
            name=f"a number of {x.width} bits is within ±{most}",
        ):
            self.bounds[x.index] = (most, fact)


def _refutes(graph: Graph, assertion: Node) -> bool:
    """Whether some drawn values of the inputs make the assertion equal 1."""
    run, draw = Concrete(graph, [assertion]), random.Random(0)
    for i in range(_DRAWN):
        values = {}
        for name, n in graph.inputs.items():
            kind = draw.randrange(4) if i else 0
            full = (1 << n.width) - 1
            values[name] = (
                (0, full, 1 << (n.width - 1), 1)[draw.randrange(4)]
                if kind == 1
                else (0 if kind == 2 and i else draw.getrandbits(n.width))
            )
        if run(values) == [1]:
            return True
    return False
