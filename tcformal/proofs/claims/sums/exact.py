"""Claims `exact-sum` and `correctly-rounded`: by the intervals in which a unit's terms lie, or a witness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tcformal.design.rounding import NEAREST
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.oracle.text import power_of_two
from tcformal.oracle.values import decode
from tcformal.proofs.claim import Asking, ClaimPart, Counterexample, Finding, PartStatus, counterexample
from tcformal.proofs.claims.sums.changes import one_by_one
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.tactics.cuts import ProofStep
from tcformal.proofs.tactics.uncut import (
    BY_INTERVALS,
    TermReach,
    exact_form,
    reach,
    sums_one_by_one,
    why_exact,
)
from tcformal.query.assume import Assumptions
from tcformal.query.pair import question
from tcformal.query.search import search

#: What is claimed of which results.
_SAID = {"every sum": "exact", "every result": "the exact sum, rounded once"}


def check_exact_sum(spec: UnitSpec) -> None:
    """Errors: InputError for a unit whose sums are exact as defined, or not of terms aligned one by one."""
    if spec.design.fraction_bits is None or not sums_one_by_one(spec):
        raise InputError(
            f"expected terms that are aligned one by one and cut for claim exact-sum, but got {spec.name}"
        )


def exact_sum(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """Whether every sum of a unit is the exact one before it is rounded, and from which width on it is.

    Soundness: that of `reach`; a witness is one of another result than that of exact sums.
    """
    check_exact_sum(ask.spec)
    r = reach(ask.spec, ask.assumed, ask.spec.k)
    assert r is not None  # else the unit was refused
    if r.kept(ask.spec):
        name, why = "every sum", [why_exact(ask.spec, r)]
        return _found(ask, exact_form(ask.spec), name, why, [], r), []
    return _found(ask, exact_form(ask.spec), "every sum", [], _lost(ask.spec, r), r), []


def check_correctly_rounded(spec: UnitSpec) -> None:
    """Errors: InputError for sums of other operands than the unit's."""
    if spec.emulation is not None or spec.tree is not None:
        raise InputError(f"expected a unit of one design for claim correctly-rounded, but got {spec.name}")


def correctly_rounded(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """Whether every result is the exact sum of the operands, rounded once to a number of D.

    Soundness: each way in which a unit can differ from that is excluded by its parameters, or by the
    intervals of `reach`; the witness is one of another result than that of the exact sum.
    Zero, NaN, Inf: of finite operands; the signs of zeros are the unit's own.
    """
    check_correctly_rounded(ask.spec)
    spec, what = one_by_one(ask.spec) or ask.spec, ask.assumed
    r = reach(spec, what, spec.k)
    failed = [x.why for x in _conditions(spec, what, r) if not x.holds]
    made = [] if r is None else [why_exact(spec, r)] if spec.design.fraction_bits is not None else []
    return _found(ask, rounded_once(ask.spec), "every result", made, failed, r), []


def _found(
    ask: Asking, like: UnitSpec, name: str, why: Sequence[str], failed: Sequence[str], r: TermReach | None
) -> Finding:
    """The claim that a unit is another one: proved where nothing failed, else refuted, or left open.

    Where fewer fraction bits are refuted, that is shown too.
    """
    bits, said = ask.spec.design.fraction_bits, f"{name} is {_SAID[name]}"
    if failed:
        witness = _witness(ask, ask.spec, like)
        status = PartStatus.OPEN if witness is None else PartStatus.VIOLATED
        note = "" if witness is not None else f"{failed[0]}, and no input was found that shows it"
        part = ClaimPart(name=said, status=status, witness=witness, note=note)
        return Finding(parts=(part,), composition="", reason="", violated=f"not {said}: {'; '.join(failed)}")
    text = "; ".join(why) or f"{ask.spec.name} rounds one sum of which nothing is cut off"
    steps = (ProofStep(name=text, how=BY_INTERVALS, lemmas={}),)
    parts = [ClaimPart(name=said, status=PartStatus.HOLDS, steps=steps)]
    if r is not None and bits is not None and r.width > 0:
        least = r.width - 1
        design = replace(ask.spec.design, fraction_bits=least)
        witness = _witness(ask, replace(ask.spec, name=f"{ask.spec.name}@{least}", design=design), like)
        if witness is not None:
            text += f"; {least} do not"
            parts.append(
                ClaimPart(
                    name=f"fraction_bits={least}", status=PartStatus.VIOLATED, witness=witness, control=True
                )
            )
    return Finding(
        parts=tuple(parts), composition="a term is a whole number of units of the sum's last bit",
        reason=f"{said}: {text}",
    )  # fmt: skip


def _witness(ask: Asking, spec: UnitSpec, like: UnitSpec) -> Counterexample | None:
    """Inputs on which a unit gives another result than the one that it is claimed to be."""
    flags = tuple(dict.fromkeys((*ask.assumed.flags, "finite")))
    what = replace(ask.assumed, flags=flags)
    w = search(question(spec, like, what), ask.limits.seed)
    return None if w is None else counterexample((spec, w), (like, w), "vectors")


def _lost(spec: UnitSpec, r: TermReach) -> list[str]:
    """What keeps the sums of a unit from being exact."""
    bits, carry = spec.design.fraction_bits, spec.design.carry_bits
    lost = []
    if bits is not None and bits < r.width:
        lost.append(
            f"terms reach from 2^{r.bottom} to the exponent {r.top}, of which {bits} fraction bits do not "
            f"keep all: that takes {r.width}"
        )
    if carry is not None and r.ratio >= 2 << carry:
        lost.append(f"sums can be more than {carry} carry bits hold")
    return lost


# --------------------------------------------------------------------- one rounding of the exact sum
def rounded_once(spec: UnitSpec) -> UnitSpec:
    """The exact sum of a unit's operands, rounded once by its rounding to D; words of NaN are its own."""
    d, design = spec.operands.d, spec.design
    made = Design(
        products=spec.k, conversion=f"{design.rho.mode}-E{d.exponent_bits}M{d.fraction_bits}",
        nan_word=design.nan_word, negated=design.negated, zero_sign=design.zero_sign, overflow="ieee",
    )  # fmt: skip
    return replace(spec, name=f"{spec.name}, the exact sum rounded once", design=made)


@dataclass(frozen=True, slots=True)
class _Condition:
    """What a result needs to be the exact sum rounded once, and what is said where it has that not."""

    holds: bool
    why: str


def _conditions(spec: UnitSpec, what: Assumptions, r: TermReach | None) -> list[_Condition]:
    """Every way in which a result can be another than the exact sum rounded once."""
    o, design, d = spec.operands, spec.design, spec.operands.d
    one = r is not None and spec.k <= design.products
    if r is None or not one:
        return [_Condition(False, "more is rounded than one sum of the products and c")]
    whole = design.rho.fraction_bits == d.fraction_bits and not design.rho.head_room
    ordinary = design.overflow == "ieee" or design.rho.mode in NEAREST
    c = None if what.c is None else decode(o.c, what.c)
    flushed = [
        ("a", o.a, design.operand_subnormals, what.exponents),
        ("b", o.b, design.b_subnormals or design.operand_subnormals, what.exponents),
    ]
    if c is None or c.is_subnormal:
        flushed.append(("c", o.c, design.c_subnormals, what.exponents if c is None else None))
    lost = _lost(spec, r)
    largest = decode(d, d.largest).magnitude
    limit = design.product_limit
    return [
        _Condition(not lost, "; ".join(lost)),
        _Condition(whole, f"results are rounded by {design.conversion}"),
        _Condition(design.product_rounding is None, "products are rounded before they are added"),
        _Condition(limit is None or r.most < power_of_two(limit), f"products of 2^{limit} and more are Inf"),
        _Condition(design.zero_words == "summed", "calls of words of 0 are skipped"),
        *(
            _Condition(rule == "kept" or not _subnormals(fmt, span), f"subnormals of {name} count as zeros")
            for name, fmt, rule, span in flushed
        ),
        _Condition(
            design.result_subnormals == "kept" or r.bottom >= d.e_min, "subnormal results become zeros"
        ),
        _Condition(ordinary or r.most <= largest, f"sums above {d.name} become infinities"),
    ]


def _subnormals(fmt: Format, span: tuple[int, int] | None) -> bool:
    """Whether an operand can be subnormal, with an exponent in a range."""
    return fmt.least_exponent < fmt.e_min and (span is None or span[0] <= fmt.e_min <= span[1])
