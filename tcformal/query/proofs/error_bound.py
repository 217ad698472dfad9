"""Claim `error-bound`: how far a truncated fused sum is from the exact one [XIE Table 9]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.models import Inputs, chained_dot, declare_inputs
from tcformal.query.proofs.claim import Asking, Finding, Part, Standing
from tcformal.query.proofs.cuts import Composition, Step, step_of
from tcformal.query.proofs.error_down import down_steps
from tcformal.query.proofs.error_steps import ErrorSteps, shifted, terms_of
from tcformal.query.proofs.lemmas import Lemma

#: Half ulps that a conversion may be off, by its rounding mode.
_HALVES = {"RNE": 1, "RNA": 1, "RZ": 2}

#: What the argument is made for.
_WANTED: Mapping[str, object] = {
    "alignment_rounding": "RZ", "normalise_products": False, "carry_bits": None, "group": None,
    "accumulation": "twos_complement", "product_rounding": None, "operand_subnormals": "kept",
    "c_subnormals": "kept", "result_subnormals": "kept",
}  # fmt: skip


def error_bound(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """|d - (c + Σ a_k·b_k)| <= (L + 1)·2^(e_max - F) + 1 ulp (RZ) or 1/2 ulp (RNE) of d, block by block.

    Soundness of a fused sum (T-FDPA), for finite operands and a finite d; `down_steps` has that of sums
    rounded down (TR-FDPA).  An exact term is ±s·2^(e - f), by the definition of unpacking and of products.
    (1) Of each term: with x = s·2^max(0, F - f), its distance δ below e_max and v = δ + max(0, f - F), the
    kept m satisfies 0 <= x - m·2^v < 2^v; where δ is at least m's width, m = 0 is proved and x < 2^v
    follows from x's width: m is less than one unit of 2^(e_max - F) from the exact magnitude.  (2) Of each
    term that is not zero: e + δ = e_max; zero terms have s = 0 and so m = 0.  (3) The signed terms are
    bounded by their widths, and no partial sum wraps: the sum T is Σ ±m, off by less than one unit for each
    of the L + 1 terms.  (4) The rounded number is less than an ulp of itself from |T|·2^(e_max - F), at most
    half of one for RNE, and has T's sign unless T is zero.  (5) d encodes the rounded number.  The triangle
    inequality adds (3) and (4).
    """
    spec = ask.spec
    _check(spec)
    g = Graph()
    x = declare_inputs(g, spec, spec.k)
    with g.scope("unit"):
        chained_dot(g, spec, x)
    c = Composition(g, ask.book)
    length = min(spec.k, spec.design.products)
    parts = []
    for i in range(spec.k // length):
        ask.progress(f"block {i}: the terms, the sum and its rounding")
        parts.append(_Block(ErrorSteps(c, f"unit.block{i}"), spec, x, i).part(length))
    ulp = "1/2 ulp" if _HALVES[spec.design.rho.mode] == 1 else "1 ulp"
    bound = f"{length + 1}·2^(e_max - {spec.design.fraction_bits}) + {ulp}"
    finding = Finding(
        parts=tuple(parts),
        composition=(
            f"for finite operands and results, what each stage loses adds up to less than {bound} of the "
            f"result in each of the {len(parts)} sums of {length} products and c"
        ),
        reason=f"the error of each sum is less than {bound} of its result",
    )
    return finding, [u.lemma for u in c.uses]


def _check(spec: UnitSpec) -> None:
    """Refuse units whose sums the argument does not cover."""
    d = spec.design
    if d.fraction_bits is None or (d.summation, d.c_position) not in (("fused", "joined"), ("tr", "last")):
        raise InputError(
            "expected a unit with a truncated sum (T-FDPA or TR-FDPA) for claim error-bound, "
            f"but got {spec.name}"
        )
    for name, value in _WANTED.items():
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
    """One block of a dot product."""

    lemmas: ErrorSteps
    spec: UnitSpec
    x: Inputs
    #: Which block; c is the result of the one before.
    number: int

    def part(self, length: int) -> Part:
        """Every step of the argument, up to one that fails."""
        c = self.lemmas.c
        todo = self._fused() if self.spec.design.summation == "fused" else down_steps(
            self.lemmas, self.spec, self.x.c, self.number, length, _HALVES[self.spec.design.rho.mode]
        )  # fmt: skip
        steps: list[Step] = []
        for name, run in todo.items():
            since = len(c.uses)
            steps.append(step_of(c, name, since, run(), False))
            if not steps[-1].proved:
                break
        failed = "" if steps[-1].proved else steps[-1].name
        return Part(
            name=f"block {self.number}", standing=Standing.OPEN if failed else Standing.HOLDS,
            steps=tuple(steps), note=f"{failed} was not proved" if failed else "",
        )  # fmt: skip

    def _fused(self) -> dict[str, Callable[[], bool]]:
        """The steps of a fused sum."""
        s, design, g = self.lemmas, self.spec.design, self.lemmas.graph
        terms, bits = terms_of(g.labels, s.where), int(design.fraction_bits or 0)
        total, e_max = s.stage("sum").node, s.stage("e_max")
        magnitude, below = g.ite(g.top(total), g.neg_mod(total), total), [total, e_max.node]
        known: list[Node] = []

        def exponents() -> bool:
            zero = design.zero_exponent if isinstance(design.zero_exponent, int) else None
            facts = s.exponents(terms, e_max, zero)
            known.extend(facts or ())
            return facts is not None

        def sums() -> bool:
            bound = s.exact_sum(total, terms)
            known.extend([] if bound is None else [bound[1]])
            return bound is not None

        def rounding() -> bool:
            sign, signs = s.stage("rounded.sign").node, [t["sign"].node for t in terms]
            kept = g.or_(g.is_zero(total), g.eq(sign, g.top(total)))
            lowest, halves = shifted(e_max, -bits), _HALVES[design.rho.mode]
            near = s.rounded(magnitude, lowest, design.rho, "", below, known, halves=halves)
            return near and s.fact(kept, [total, *signs], "a rounded sum keeps its sign")

        return {
            "truncation of each term": lambda: all(s.truncated(t, bits) for t in terms),
            "exponents of the terms": exponents,
            "no partial sum wraps": sums,
            "rounding of the sum": rounding,
            "the result's encoding": lambda: s.encoded(
                "", below, known, s.stage("result"), self.spec.operands.d, design.rho
            ),
        }
