"""A design: the frozen parameters of one dot-product-accumulate unit's arithmetic.

One space holds the fused dot products of VALPEY and XIE (T-FDPA), IEEE-style chains and trees, FMA
chains, and the alternatives that FASI and Hickmann–Bradford considered: every design splits K into
blocks, forms exact products, sums them with c by steps of *align · add · round*, and hands the
result of a block to the next one as its c.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from tcformal.checks import check_choice, check_int
from tcformal.design.rounding import MODES, Conversion, conversion
from tcformal.errors import InputError
from tcformal.formats.spec import Format

SUMMATIONS = ("fused", "sequential", "pairwise")
C_POSITIONS = ("joined", "first", "last")
ZERO_SIGNS = ("positive", "ieee")
OVERFLOWS = ("infinity", "ieee")

#: Which positions of c each order of summation allows.
_POSITIONS_OF = {"fused": ("joined", "last"), "sequential": ("first", "last"), "pairwise": ("last",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operands:
    """The formats of one dot product d = a · b + c."""

    a: Format
    b: Format
    c: Format
    d: Format

    def __str__(self) -> str:
        return f"{self.d.name} = {self.a.name} · {self.b.name} + {self.c.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The parameters of one design (the papers' symbols in brackets).

    Shapes: one block takes `products` pairs (a_k, b_k) and one c.
    Errors: InputError for a value outside its range or a combination that means nothing.
    """

    #: Products summed per block [XIE L]; K is cut into blocks of min(K, products).
    products: int
    #: How a block is summed: all terms at once, one after the other, or as a balanced tree.
    summation: str = "fused"
    #: `joined`: c is one of the terms of the fused sum.  `first`, `last`: the chain starts or ends with c.
    c_position: str = "joined"
    #: Fraction bits kept when a term is aligned at e_max [XIE F; VALPEY 23 + align_bits].
    #: None: as if all were kept (each sum is exact before it is rounded).
    fraction_bits: int | None = None
    #: How an aligned term is cut to `fraction_bits`: a rounding mode on the signed term.
    alignment_rounding: str = "RZ"
    #: Whether each product (and c) is normalised to [1, 2) before alignment [VALPEY yes, XIE no].
    normalise_products: bool = False
    #: Exponent of a term whose value is zero [XIE e_zero]: a number; `own`, the exponent that its
    #: encoding has; `none`, zero terms take no part in e_max.
    zero_exponent: int | Literal["own", "none"] = "none"
    #: Bits of the sum above the units bit of a significand in [1, 2), sign apart; beyond them the
    #: sum wraps.  None: as many as the sum can need.
    carry_bits: int | None = None
    #: Rounding of each product before it is summed; None: products are exact.
    product_rounding: str | None = None
    #: Rounding of each partial sum of a `sequential` or `pairwise` block, and of a `last` c's other operand.
    accumulator: str | None = None
    #: Conversion of a block's final sum [XIE ρ].
    conversion: str
    #: The encoding of every NaN result.
    nan_word: int
    #: `positive`: every zero result is +0.  `ieee`: the sign rules of IEEE 754 §6.3.
    zero_sign: str = "positive"
    #: `infinity`: overflow gives ±Inf under every rounding.  `ieee`: IEEE 754 §7.4.
    overflow: str = "infinity"

    def __post_init__(self) -> None:
        check_int("products", self.products, low=1, high=256)
        check_choice("summation", self.summation, SUMMATIONS)
        check_choice("c_position", self.c_position, C_POSITIONS)
        check_choice("alignment_rounding", self.alignment_rounding, MODES)
        check_choice("zero_sign", self.zero_sign, ZERO_SIGNS)
        check_choice("overflow", self.overflow, OVERFLOWS)
        check_int("nan_word", self.nan_word, low=0)
        conversion(self.conversion)
        if self.fraction_bits is not None:
            check_int("fraction_bits", self.fraction_bits, low=1, high=256)
        if self.carry_bits is not None:
            check_int("carry_bits", self.carry_bits, low=0, high=64)
        if self.product_rounding is not None:
            conversion(self.product_rounding)
        self._check_zero_exponent()
        self._check_combination()

    def _check_zero_exponent(self) -> None:
        if isinstance(self.zero_exponent, str):
            if self.zero_exponent not in ("own", "none"):
                raise InputError(
                    f"expected an integer, 'own' or 'none' for zero_exponent, but got {self.zero_exponent!r}"
                )
        else:
            check_int("zero_exponent", self.zero_exponent, low=-40000, high=40000)

    def _check_combination(self) -> None:
        allowed = _POSITIONS_OF[self.summation]
        if self.c_position not in allowed:
            raise InputError(
                f"expected c_position {' or '.join(allowed)} with summation={self.summation}, "
                f"but got {self.c_position}"
            )
        if (self.c_position == "joined") != (self.accumulator is None):
            raise InputError(
                "expected an accumulator (such as RNE-FP32) exactly where c is not joined to a fused sum, "
                f"but got accumulator={self.accumulator} with c_position={self.c_position}"
            )
        if self.accumulator is not None:
            conversion(self.accumulator)
        if self.fraction_bits is None:
            for name, neutral in (
                ("carry_bits", None),
                ("alignment_rounding", "RZ"),
                ("zero_exponent", "none"),
            ):
                if getattr(self, name) != neutral:
                    raise InputError(
                        f"expected fraction_bits to be given with {name}={getattr(self, name)}, "
                        "because an exact sum has no alignment"
                    )

    @property
    def rho(self) -> Conversion:
        """The conversion of a block's final sum [XIE ρ]."""
        return conversion(self.conversion)

    @property
    def step(self) -> Conversion:
        """The rounding of partial sums (the final conversion where there are none)."""
        return conversion(self.accumulator) if self.accumulator is not None else self.rho

    @property
    def product_conversion(self) -> Conversion:
        """The rounding of products; InputError where the design keeps them exact."""
        if self.product_rounding is None:
            raise InputError("expected a design with product_rounding, but its products are exact")
        return conversion(self.product_rounding)

    def parameters(self) -> dict[str, int | str | bool | None]:
        """Every parameter by name, in the order of definition."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
