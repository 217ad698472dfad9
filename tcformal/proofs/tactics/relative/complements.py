"""Sums in ones' complement: terms of the other sign than c count one more than they are."""

from __future__ import annotations

from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.aligned import TermError
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.bounds.floored import FlooredSums
from tcformal.proofs.tactics.bounds.summed import SignedSum
from tcformal.proofs.tactics.bounds.terms import sign_of
from tcformal.semantics.reduce import split_sign
from tcformal.semantics.stages import Total


class ComplementSums(FlooredSums):
    """Sums whose signs are counted from that of c: a product of the other sign counts one more."""

    def __init__(self, d: Derivation, total: Total, terms: list[TermError], some: int) -> None:
        super().__init__(d)
        self.total, self.terms, self.some, self.frame = total, terms, some, terms[-1].sign

    def value(self) -> SignedSum:
        """The sum as a sign and a magnitude: ±magnitude is Σ ±aligned with what complements count."""
        d, g, width = self.d, self.g, self.total.partials[0].node.width
        reads = []
        for x in self.terms:
            other = g.xor(x.sign, self.frame)
            wide = g.zero_extend_to(x.aligned, x.aligned.width + 1)
            node = g.wrap_to_mod(g.ite(other, g.not_(wide), wide), width)
            if other.op != "const":
                reads.append((d.read(other), other))
            cut = [other, x.aligned]
            same = self._ones("a term of a sum", node, other, x.aligned, cut)
            value = sign_of(other) * Poly.of(x.aligned) - Poly.of(other)
            self._known[node] = same, value, x.most + 1
            self._limited(node, x.most + 1, [x.small], cut)
        for p in self.total.partials:
            self.partial(p.node, p.of)
        bits, root = self.total.bits, self.total.partials[-1].node
        sign, size = split_sign(g, bits)
        wide = g.sign_extend_to(root, bits.width)
        equation, value, _ = self.of(wide)
        frame = g.xor(sign, self.frame)
        split = self._turned(
            "the magnitude of a sum", wide, frame, size, [self._within[wide], self.some], [root, self.frame]
        )
        flip = sign_of(self.frame)
        goal = sign_of(sign) * Poly.of(size) - flip * value
        chosen = g.ite(sign, g.neg_mod(bits), bits)
        known = [(d.read(frame), frame)]
        made = d.prove(goal, known, [(flip, [equation]), (flip * -1, [split])])
        whole = sign_of(sign) * Poly.of(size)
        for x in self.terms:
            more = Poly.of(x.sign) - Poly.of(self.frame)
            whole = whole - sign_of(x.sign) * Poly.of(x.aligned) + more
        return SignedSum(sign, size, chosen, d.prove(whole, reads, [(1, [made])]))
