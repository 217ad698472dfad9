"""Claims about one unit, by name: what each says, and the verdict on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tcformal.callbacks import Progress, ignore
from tcformal.checks import check_choice
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.programs.chain import declare_inputs
from tcformal.proofs.claim import Asking, ClaimVerdict, Finding, claim_verdict
from tcformal.proofs.claims.accumulation import check_sign_magnitude, sign_magnitude
from tcformal.proofs.claims.agreement import SEPARATOR, agreement, is_agreement
from tcformal.proofs.claims.carry import carry_bits, check_carry_bits
from tcformal.proofs.claims.equality import equality, is_equality
from tcformal.proofs.claims.error_bound import (
    bounded_error,
    check_relative,
    monotonicity,
    relative_error,
)
from tcformal.proofs.claims.integer_sums import check_integer_sums, integer_sums
from tcformal.proofs.claims.negation import check_negation, negation
from tcformal.proofs.claims.product_order import check_product_order, product_order
from tcformal.proofs.claims.sums.exact import (
    check_correctly_rounded,
    check_exact_sum,
    correctly_rounded,
    exact_sum,
)
from tcformal.proofs.claims.zero_exponent import check_zero_exponent, zero_exponent
from tcformal.proofs.claims.zero_products import zero_products
from tcformal.proofs.lemmas import Lemma, LemmaBook
from tcformal.query.assume import Assumptions, assume_of_unit, from_texts
from tcformal.query.kinds.property.properties import check_halves
from tcformal.solve.result import Limits


def truncated_sum(u: UnitSpec) -> bool:
    """Whether products and c are aligned and truncated in one sum."""
    return u.design.one_sum


def fused_products(u: UnitSpec) -> bool:
    """Whether products are aligned and truncated in one sum, c with them or after them."""
    return truncated_sum(u) or u.design.c_position == "after"


def error_bounded(u: UnitSpec) -> bool:
    """Whether the statement of claim `error-bound` is written for a unit."""
    return u.design.fraction_bits is None or fused_products(u) or u.design.summation in ("tr", "gtr")


def rounded_sums(u: UnitSpec) -> bool:
    """Whether every sum is exact and then rounded."""
    return u.design.fraction_bits is None and u.tree is None


def of_products(u: UnitSpec) -> bool:
    """Whether the terms of such sums are products and c, and nothing is added outside of them."""
    return truncated_sum(u) and u.emulation is None and u.design.group is None


#: What proves or refutes a claim part by part, with the lemmas that it tried.
ClaimProgram = Callable[[Asking], tuple[Finding, list[Lemma]]]


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of `theory.answers.STATEMENTS`: the program that proves or refutes it part by part."""

    prove: ClaimProgram
    #: Which units it fits.
    fits: Callable[[UnitSpec], bool] = truncated_sum
    #: The names of the assumptions that its program uses.
    assumes: tuple[str, ...] = ()
    #: Refuses units that it fits, but says nothing of; its program does the same.
    check: Callable[[UnitSpec, Assumptions], None] = lambda _, __: None
    #: Whether it says something of units that sum as a tree.
    trees: bool = False


def _of_unit(check: Callable[[UnitSpec], None]) -> Callable[[UnitSpec, Assumptions], None]:
    """A check that no assumption matters for."""
    return lambda spec, _: check(spec)


CLAIMS: dict[str, Claim] = {
    "product-order": Claim(
        product_order,
        fused_products,
        ("finite", "exponents", "c", "spread"),
        _of_unit(check_product_order),
    ),
    "sign-magnitude": Claim(
        sign_magnitude,
        check=_of_unit(check_sign_magnitude),
    ),
    "carry-bits": Claim(
        carry_bits,
        check=_of_unit(check_carry_bits),
    ),
    "negation-symmetry": Claim(
        negation,
        lambda _: True,
        ("c", "exponents"),
        _of_unit(check_negation),
    ),
    "error-bound": Claim(bounded_error, error_bounded, ("c",)),
    "relative-error": Claim(
        relative_error,
        lambda u: of_products(u) or u.design.c_position == "after",
        ("c",),
        check_relative,
    ),
    "monotonicity": Claim(monotonicity, rounded_sums),
    "integer-sums": Claim(
        integer_sums,
        lambda _: True,
        check=_of_unit(check_integer_sums),
        trees=True,
    ),
    "exact-sum": Claim(
        exact_sum,
        lambda u: u.design.fraction_bits is not None,
        ("finite", "c", "exponents", "scale_exponents"),
        _of_unit(check_exact_sum),
    ),
    "correctly-rounded": Claim(
        correctly_rounded,
        lambda _: True,
        ("finite", "c", "exponents", "scale_exponents"),
        _of_unit(check_correctly_rounded),
        trees=True,
    ),
    "zero-products": Claim(zero_products, lambda _: True, check=_of_unit(check_halves)),
    "zero-exponent": Claim(
        zero_exponent,
        check=_of_unit(check_zero_exponent),
    ),
}


def refused(claim: str, spec: UnitSpec) -> str:
    """The sentence by which a claim that fits a unit is refused before anything is proved; empty for none.

    `claim` is its name, with the assumptions that it is asked under.
    """
    try:
        _check_order(spec, claim)
        known, what = conditions(claim, spec)
        known.check(spec, what)
    except InputError as error:
        return str(error)
    return ""


def _check_order(spec: UnitSpec, claim: str) -> None:
    known = CLAIMS.get(claim.partition(SEPARATOR)[0])
    if spec.tree is not None and not (known is not None and known.trees):
        raise InputError(f"expected a unit whose design names its order, but {spec.name} sums as a tree")


def can_be_asked(claim: str) -> bool:
    """Whether a claim's name is one that `prove_claim` knows."""
    return claim.partition(SEPARATOR)[0] in CLAIMS or is_agreement(claim) or is_equality(claim)


def under(claim: str, what: Assumptions) -> str:
    """A claim's name with the assumptions that it is asked under: `negation-symmetry; c=0x0`."""
    return SEPARATOR.join([claim, *what.spellings()])


def conditions(claim: str, spec: UnitSpec) -> tuple[Claim, Assumptions]:
    """The claim of a name and its assumptions.

    Errors: UnknownNameError for a claim that does not exist, InputError for an assumption that it cannot
    use, or for assumptions that a, b of zeros and c do not obey, so that it may be about no inputs.
    """
    name, *texts = claim.split(SEPARATOR)
    known, what = CLAIMS[check_choice("claim", name, CLAIMS)], from_texts(spec.operands.c, texts)
    for text in what.spellings():
        if text.partition("=")[0] not in known.assumes:
            usable = ", ".join(known.assumes) or "none"
            raise InputError(f"expected assumptions that claim {name} uses ({usable}), but got {text}")
    if not what:
        return known, what
    g = Graph()
    asked = assume_of_unit(g, what, spec, declare_inputs(g, spec, spec.k))
    ones = {n: spec.scale_format.one for n in g.inputs if n.startswith("scale_") and spec.scale_format}
    zeros = {**dict.fromkeys(g.inputs, 0), **ones, "c": what.c or 0}
    if Concrete(g, [asked])(zeros) != [1]:
        raise InputError(f"expected assumptions that zeros obey, but got {', '.join(what.spellings())}")
    return known, what


def units_of(claims: Sequence[str], text: str = "") -> Iterator[UnitSpec]:
    """One unit of each distinct design that some of the claims fit, with `text` in its name."""
    asked = [CLAIMS[name].fits for name in claims]
    for name in distinct_designs():
        if text in name and any(fits(catalogue()[name]) for fits in asked):
            yield catalogue()[name]


def prove_claim(
    spec: UnitSpec,
    claim: str,
    *,
    book: LemmaBook,
    limits: Limits,
    members: Sequence[str] | None = None,
    progress: Progress = ignore,
    tree: str = "",
) -> ClaimVerdict:
    """Prove one claim about one unit, or refute it; a kept proof for the kernel, `tree`, is only checked.

    `book` keeps lemmas from one claim and unit to the next; `limits` and `members` are those of the
    questions that look for a witness.
    Errors: UnknownNameError for a claim that does not exist, InputError for a unit that it does not fit, or
    for an assumption that it cannot use.
    """
    if not is_equality(claim) and not is_agreement(claim):
        _check_order(spec, claim)
    start = time.monotonic()
    program: ClaimProgram = equality if is_equality(claim) else agreement
    what = Assumptions()
    if not is_agreement(claim) and not is_equality(claim):
        known, what = conditions(claim, spec)
        program = known.prove
    ask = Asking(
        spec=spec, book=book, limits=limits, members=members, progress=progress, tree=tree, claim=claim,
        assumed=what,
    )  # fmt: skip
    found, applied = program(ask)
    return claim_verdict(claim, spec, found, applied, limits, start)
