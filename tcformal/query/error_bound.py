"""Claim `error-bound`: how far a truncated fused sum is from the exact one [XIE Table 9]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph, Stage
from tcformal.ir.node import Node
from tcformal.models import chained_dot, declare_inputs
from tcformal.query.claim import Asking, Finding, Part, Standing, require_truncated_sum
from tcformal.query.cuts import Composition, Step, step_of
from tcformal.query.exact_sums import largest_code, within
from tcformal.query.lemmas import Lemma
from tcformal.semantics.unpack import unpack

#: Bits in which exponents are compared: every code, distance and offset is far below 2^(this - 2).
_WIDE = 16
#: Half ulps that a conversion may be off, by its rounding mode.
_HALVES = {"RNE": 1, "RNA": 1, "RZ": 2}


def error_bound(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """|d - (c + Σ a_k·b_k)| <= (L + 1)·2^(e_max - F) + 1 ulp (RZ) or 1/2 ulp (RNE) of d, block by block.

    Soundness, for finite operands and a finite d.  An exact term is ±s·2^(e - f), by the definition of
    unpacking and of products.  (1) Of each term: with x = s·2^max(0, F - f) and its distance δ below e_max,
    the kept m satisfies 0 <= x - m·2^(δ + max(0, f - F)) < 2^(δ + max(0, f - F)), or m = 0 where δ is at
    least the width of x less the bits cut for F, and then x itself is below: m is within one unit of
    2^(e_max - F) of the exact magnitude.  (2) Of each term that is not zero: e + δ = e_max; zero terms have
    s = 0 and so m = 0.  (3) The signed terms are bounded by their widths, and the program adds up these
    bounds: no partial sum wraps, so that the sum T is Σ ±m and off by less than one unit for each of the
    L + 1 terms.  (4) The rounded number is off from |T|·2^(e_max - F) by less than an ulp of itself (at
    most half of one for RNE), and has T's sign unless it is zero.  (5) d encodes the rounded number.
    The triangle inequality adds (3) and (4).
    """
    spec = ask.spec
    _check(spec)
    g = Graph()
    x = declare_inputs(g, spec, spec.k)
    with g.scope("unit"):
        chained_dot(g, spec, x)
    c = Composition(g, ask.book)
    scopes = [name[: -len(".sum")] for name in g.labels if name.endswith(".sum")]
    parts, applied = [], 0
    for scope in scopes:
        ask.progress(f"{scope.removeprefix('unit.')}: the terms, the sum and its rounding")
        block = _Block.of(c, spec, scope)
        parts.append(block.part())
        applied = max(applied, len(block.terms))
    halves = _HALVES[spec.design.rho.mode]
    ulp = "1 ulp" if halves == 2 else "1/2 ulp"
    bound = f"{applied}·2^(e_max - {spec.design.fraction_bits}) + {ulp}"
    finding = Finding(
        parts=tuple(parts),
        composition=(
            f"for finite operands and results, each of at most {applied} terms is off by less than "
            f"2^(e_max - {spec.design.fraction_bits}), so that each of the {len(parts)} sums is off by less "
            f"than {bound} of its result"
        ),
        reason=f"the error of each sum is less than {bound} of its result",
    )
    return finding, [u.lemma for u in c.uses]


def _check(spec: UnitSpec) -> None:
    """Refuse units whose sums the argument does not cover."""
    require_truncated_sum(spec, "error-bound")
    d = spec.design
    wanted: Mapping[str, object] = {
        "c_position": "joined", "alignment_rounding": "RZ", "normalise_products": False, "carry_bits": None,
        "accumulation": "twos_complement", "group": None, "product_rounding": None,
        "result_subnormals": "kept",
    }  # fmt: skip
    for name, value in wanted.items():
        if getattr(d, name) != value:
            raise InputError(
                f"expected {name}={value} for claim error-bound, but {spec.name} has {getattr(d, name)}"
            )
    if d.rho.mode not in _HALVES or spec.emulation is not None:
        raise InputError(
            "expected a hardware unit that rounds to nearest or to zero for claim error-bound, "
            f"but got {spec.name}"
        )


@dataclass(frozen=True, slots=True)
class _Block:
    """One sum, by its labels."""

    c: Composition
    spec: UnitSpec
    scope: str
    terms: tuple[Mapping[str, Stage], ...]
    #: What is proved of the sum and of e_max.
    facts: list[Node] = field(default_factory=list)

    @staticmethod
    def of(c: Composition, spec: UnitSpec, scope: str) -> _Block:
        """Read one sum's stages."""
        labels = c.graph.labels
        terms: list[dict[str, Stage]] = []
        while f"{scope}.term{len(terms)}.sign" in labels:
            at = f"{scope}.term{len(terms)}"
            terms.append(
                {p: labels[f"{at}.{p}"] for p in ("sign", "significand", "exponent", "zero", "aligned")}
            )
        return _Block(c, spec, scope, tuple(terms))

    def stage(self, name: str) -> Stage:
        """A stage of the whole sum."""
        return self.c.graph.labels[f"{self.scope}.{name}"]

    def part(self) -> Part:
        """All five steps of the argument."""
        steps: list[Step] = []
        todo: tuple[tuple[str, Callable[[], bool]], ...] = (
            ("truncation of each term", self._truncations),
            ("exponents of the terms", self._exponents),
            ("no partial sum wraps", self._sums),
            ("rounding of the sum", self._rounded),
            ("the result's encoding", self._encoded),
        )
        for name, run in todo:
            since = len(self.c.uses)
            steps.append(step_of(self.c, name, since, run(), False))
            if not steps[-1].proved:
                break
        failed = next((s.name for s in steps if not s.proved), "")
        return Part(
            name=self.scope.removeprefix("unit."), standing=Standing.OPEN if failed else Standing.HOLDS,
            steps=tuple(steps), note=f"{failed} was not proved" if failed else "",
        )  # fmt: skip

    def _fact(self, fact: Node, cut: Sequence[Node], name: str, given: Sequence[Node] = ()) -> bool:
        return self.c.by_lemma(self.scope, self.c.graph.truth(True), fact, given=given, cut=cut, name=name)

    # ------------------------------------------------------------------ (1) terms
    def _truncations(self) -> bool:
        """Every term is cut by less than one unit."""
        return all(self._truncated(t) for t in self.terms)

    def _truncated(self, term: Mapping[str, Stage]) -> bool:
        """What a term keeps is its magnitude, cut by less than one unit."""
        g, s, kept = self.c.graph, term["significand"], term["aligned"].node
        bits = int(self.spec.design.fraction_bits or 0)
        up, down = max(0, bits - s.scale), max(0, s.scale - bits)
        if kept.op != "lshr":
            return False
        n, distance = kept.width, kept.args[1]
        width = 2 * n + down + 1
        whole = g.zero_extend_to(g.shift_left_const(s.node, up), width)
        back = g.shl_mod(g.zero_extend_to(g.shift_left_const(kept, down), width), distance)
        unit = g.shl_mod(g.const(1 << down, width), distance)
        off = g.and_(g.ule(back, whole), g.ult(g.sub_mod(whole, back), unit))
        reach = max(distance.width, n.bit_length())
        near = g.ult(g.zero_extend_to(distance, reach), g.const(n, reach))
        name = f"a term of {s.node.width} bits is cut by less than one unit"
        return self._fact(g.ite(near, off, g.is_zero(kept)), [s.node, distance], name)

    # ------------------------------------------------------------------ (2) exponents
    def _exponents(self) -> bool:
        """e + δ = e_max of every term that is not zero; zero terms have significands of zero."""
        g, e_max = self.c.graph, self.stage("e_max")
        given, cut = [], []
        for term in self.terms:
            code = term["exponent"].node
            most, fields = largest_code(code)
            cut += [code, term["zero"].node]
            if most < (1 << code.width) - 1:
                given.append(g.ule(code, g.const(most, code.width)))
                if not self._fact(given[-1], fields, f"an exponent's code is at most {most}"):
                    return False
        for term in self.terms:
            zero = term["zero"].node
            nothing = g.or_(g.not_(zero), g.is_zero(term["significand"].node))
            if not self.c.by_lemma(
                self.scope,
                g.truth(True),
                nothing,
                name="a term that is zero has a significand of zero",
                depths=(None,),
            ):
                return False
            distance = self._wide(Stage(term["aligned"].node.args[1], False, 0, 0))
            met = g.eq(self._wide(e_max), g.add_mod(self._wide(term["exponent"]), distance))
            name = f"e_max of {len(self.terms)} exponents is one exponent and its distance"
            if not self._fact(g.or_(zero, met), cut, name, given):
                return False
        highs = [t["exponent"].offset + largest_code(t["exponent"].node)[0] for t in self.terms]
        rule = self.spec.design.zero_exponent
        most = max([*highs, *([rule] if isinstance(rule, int) else [])]) - e_max.offset
        if most < (1 << e_max.node.width) - 1:
            self.facts.append(g.ule(e_max.node, g.const(most, e_max.node.width)))
            return self._fact(
                self.facts[-1], cut, f"e_max of {len(self.terms)} exponents is at most {most}", given
            )
        return True

    def _wide(self, stage: Stage) -> Node:
        """An exponent or a distance as a number of _WIDE bits, which none of them wraps."""
        g = self.c.graph
        if stage.node.width > _WIDE - 3 or abs(stage.offset) >= 1 << (_WIDE - 3):
            raise InputError(f"expected exponents of at most {_WIDE - 3} bits, but got {stage.node.width}")
        offset = g.const(stage.offset % (1 << _WIDE), _WIDE)
        return g.add_mod(g.zero_extend_to(stage.node, _WIDE), offset)

    # ------------------------------------------------------------------ (3) sums
    def _sums(self) -> bool:
        """Every leaf of the tree is a signed kept term, each once, and no partial sum wraps."""
        leaves: list[tuple[int, int]] = []
        bound = self._bound(self.stage("sum").node, leaves)
        terms = sorted((t["sign"].node.index, t["aligned"].node.index) for t in self.terms)
        if bound is not None:
            self.facts.append(bound[1])
        return bound is not None and sorted(leaves) == terms

    def _bound(self, x: Node, leaves: list[tuple[int, int]]) -> tuple[int, Node] | None:
        """The largest magnitude of a sum of leaves, and the fact; None where it might wrap."""
        g, given, cut = self.c.graph, list[Node](), list(x.args)
        if x.op == "ite" and x.args[1] is g.neg_mod(x.args[2]) and x.args[2].op == "zero_extend":
            (kept,) = x.args[2].args
            leaves.append((x.args[0].index, kept.index))
            most, cut = (1 << kept.width) - 1, [x.args[0], kept]
        elif x.op in ("sign_extend", "add_mod"):
            bounds = [self._bound(a, leaves) for a in x.args]
            known = [b for b in bounds if b is not None]
            most, given = sum(b[0] for b in known), [b[1] for b in known]
            if len(known) < len(bounds):
                return None
        else:
            return None
        fact = within(g, x, most)
        if most >= 1 << (x.width - 1) or not self._fact(
            fact, cut, f"a sum of {x.width} bits is within ±{most}", given
        ):
            return None
        return most, fact

    # ------------------------------------------------------------------ (4) rounding
    def _rounded(self) -> bool:
        """The rounded number is within an ulp of itself, or half of one, of the sum, and has its sign."""
        g, design = self.c.graph, self.spec.design
        total, e_max = self.stage("sum").node, self.stage("e_max")
        sign, overflow = self.stage("rounded.sign").node, self.stage("rounded.overflow").node
        significand, exponent = self.stage("rounded.significand").node, self.stage("rounded.exponent")
        magnitude = g.ite(g.top(total), g.neg_mod(total), total)
        precision = design.rho.precision
        # u - l: the exponents of the lowest bits of the result and of the sum.
        lowest = Stage(e_max.node, False, e_max.offset - int(design.fraction_bits or 0), 0)
        ulp = Stage(exponent.node, False, exponent.offset - (precision - 1), 0)
        gap = g.sub_mod(self._wide(ulp), self._wide(lowest))
        finer, width = g.top(gap), total.width + precision + 3
        coarse = g.shl_mod(g.zero_extend_to(significand, width), gap)
        fine = g.shl_mod(g.zero_extend_to(magnitude, width), g.neg_mod(gap))
        wide = g.zero_extend_to(magnitude, width)
        above, below = g.sub_mod(coarse, wide), g.sub_mod(wide, coarse)
        unit = g.shl_mod(g.const(1, width), gap)
        reach = g.and_(g.ule(gap, g.const(width - precision - 1, _WIDE)))
        if _HALVES[design.rho.mode] == 2:
            near = g.and_(g.ule(coarse, wide), g.ult(below, unit))
        else:
            off = g.ite(g.ule(coarse, wide), below, above)
            near = g.ule(g.shift_left_const(off, 1), g.zero_extend_to(unit, width + 1))
        exact = g.and_(
            g.eq(fine, g.zero_extend_to(significand, width)),
            g.ule(g.neg_mod(gap), g.const(precision, _WIDE)),
        )
        nothing = g.and_(g.is_zero(total), g.is_zero(significand))
        right = g.or_(nothing, overflow, g.ite(finer, exact, g.and_(reach, near)))
        cut = [total, e_max.node]
        signs = [t["sign"].node for t in self.terms]
        what = f"a sum of {total.width} bits is rounded to {precision} bits"
        return self._fact(right, cut, what, self.facts) and self._fact(
            g.or_(g.is_zero(total), g.eq(sign, g.top(total))), [total, *signs], "a rounded sum keeps its sign"
        )

    # ------------------------------------------------------------------ (5) encoding
    def _encoded(self) -> bool:
        """The result, where it is a number, is the rounded one: a zero's sign apart."""
        g, fmt, rho = self.c.graph, self.spec.operands.d, self.spec.design.rho
        sign, significand = self.stage("rounded.sign").node, self.stage("rounded.significand").node
        exponent = self.stage("rounded.exponent")
        flags = [self.stage(name).node for name in ("nan", "inf", "positive_inf", "negative_inf")]
        nan, inf, *infinities = flags
        below = [self.stage("sum").node, self.stage("e_max").node]
        span = g.const(rho.e_max - rho.e_min, exponent.node.width)
        least = g.or_(g.top(significand), g.is_zero(exponent.node))
        fits = g.or_(nan, inf, g.ule(exponent.node, span))
        whole = significand.args[0] if significand.op == "extract" else significand
        d = unpack(g, self.stage("result").node, fmt)
        same = g.and_(
            g.eq(g.shift_left_const(significand, fmt.precision - significand.width), d.term.significand),
            g.eq(
                self._wide(Stage(d.term.exponent.bits, False, d.term.exponent.low, 0)), self._wide(exponent)
            ),
            g.or_(g.is_zero(significand), g.eq(sign, d.term.sign)),
        )
        return (
            self._fact(least, below, "a rounded number with a leading 0 has the least exponent")
            and self._fact(fits, [*below, nan, *infinities], "the exponent of a rounded number fits")
            and self._fact(
                g.or_(*flags, same), [whole, exponent.node, sign, *flags],
                "the encoding of a number is read as that number", [least, fits],
            )
        )  # fmt: skip
