"""Claims about one unit, by name: what each says, and the verdict on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tcformal.callbacks import Progress, ignore
from tcformal.checks import check_choice
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.unit import UnitSpec
from tcformal.proofs.claim import Asking, ClaimVerdict, Finding, claim_verdict
from tcformal.proofs.claims.accumulation import sign_magnitude
from tcformal.proofs.claims.carry import carry_bits
from tcformal.proofs.claims.error_bound import bounded_error
from tcformal.proofs.claims.integer_sums import integer_sums
from tcformal.proofs.claims.negation import negation
from tcformal.proofs.claims.product_order import product_order
from tcformal.proofs.claims.zero_exponent import zero_exponent
from tcformal.proofs.claims.zero_products import zero_products
from tcformal.proofs.lemmas import Lemma, LemmaBook
from tcformal.solve.result import Limits


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: what it says, and the program that proves or refutes it part by part."""

    statement: str
    prove: Callable[[Asking], tuple[Finding, list[Lemma]]]
    #: Whether it fits every unit, and not only those with a truncated fused sum.
    of_every_unit: bool = False


CLAIMS: dict[str, Claim] = {
    "product-order": Claim("the order of the products does not change the result", product_order),
    "sign-magnitude": Claim("sums in sign and magnitude and in two's complement agree", sign_magnitude),
    "carry-bits": Claim("carry bits beyond those that the largest sum needs change nothing", carry_bits),
    "negation-symmetry": Claim("Φ(−A, B, −C) = −Φ(A, B, C)", negation, of_every_unit=True),
    "error-bound": Claim("how far a result can be from the exact sum", bounded_error),
    "integer-sums": Claim("up to which size sums of integers are exact", integer_sums),
    "zero-products": Claim("half the products +0·+0 change nothing", zero_products, of_every_unit=True),
    "zero-exponent": Claim("no exponent of zero terms below all others changes a result", zero_exponent),
}


def claims_named(name: str) -> tuple[str, ...]:
    """The claims that a name stands for: itself, or all of them."""
    check_choice("claim", name, [*CLAIMS, "all"])
    return tuple(CLAIMS) if name == "all" else (name,)


def units_of(claims: Iterable[str], text: str = "") -> Iterator[UnitSpec]:
    """One unit of each distinct design that some of the claims fit, with `text` in its name."""
    if any(CLAIMS[name].of_every_unit for name in claims):
        yield from (catalogue()[name] for name in distinct_designs() if text in name)
    else:
        yield from truncated_units(text)


def truncated_units(text: str = "") -> Iterator[UnitSpec]:
    """One unit of each distinct design with a truncated fused sum, that has `text` in its name."""
    for name in distinct_designs():
        design = catalogue()[name].design
        if design.fraction_bits is not None and design.summation == "fused" and text in name:
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
    Errors: UnknownNameError for a claim that does not exist, InputError for a unit that it does not fit.
    """
    check_choice("claim", claim, CLAIMS)
    start = time.monotonic()
    ask = Asking(spec=spec, book=book, limits=limits, members=members, progress=progress, tree=tree)
    found, applied = CLAIMS[claim].prove(ask)
    return claim_verdict(claim, spec, found, applied, limits, start)
