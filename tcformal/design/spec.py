"""A design: the frozen parameters of one dot-product-accumulate unit's arithmetic.

One space holds the fused dot products of VALPEY and XIE (T-FDPA), IEEE-style chains and trees, FMA chains,
and the alternatives that FASI and HICKMANN considered.  Every design splits K into blocks, forms exact
products, sums them with c by steps of *align · add · round*, and passes the result of a block to the next one
as its c.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from tcformal.checks import check_choice, check_int
from tcformal.design.rounding import (
    AFTER,
    C_APART,
    CHOICES,
    EXACT_SUM,
    HALVES,
    IN_EXPONENT_STEPS,
    IN_PIECES,
    IN_STEPS,
    JAMMED,
    NAN_ORDERS,
    NUMBERS,
    POSITIONS_OF,
    STICKY,
    SUBNORMALS,
    SUM_ROUNDINGS_OF,
    ZERO_EXPONENTS,
    ZERO_TERMS,
    Conversion,
    conversion,
)
from tcformal.encodings.spec import Format
from tcformal.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Operands:
    """The formats of one dot product d = a · b + c."""

    a: Format
    b: Format
    c: Format
    d: Format

    def names(self) -> dict[str, str]:
        """The names of the formats, by operand."""
        return {"a": self.a.name, "b": self.b.name, "c": self.c.name, "d": self.d.name}

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
    summation: str = "fused"  # how a block is summed: one of SUMMATIONS
    #: `joined`: c is one of the terms of the fused sum.  `first`, `last`: the chain starts or ends with c.
    #: `after`: c is added, exactly, to the fused sum of the products, before its one rounding [Gaudi 2].
    c_position: str = "joined"
    #: Fraction bits kept when a term is aligned at e_max [XIE F; VALPEY 23 + align_bits]; None: all.
    fraction_bits: int | None = None
    #: Fraction bits that c keeps below its own exponent, where the products' exponents are smaller: c takes
    #: part in e_max with its exponent less the bits by which these exceed `fraction_bits`; None: as many.
    c_fraction_bits: int | None = None
    #: How an aligned term is cut to `fraction_bits`: a rounding mode on the signed term.
    alignment_rounding: str = "RZ"
    #: Whether each product (and c) is normalised to [1, 2) before alignment [VALPEY yes, XIE no].
    normalise_products: bool = False
    #: Exponent of a term whose value is zero [MMA-Sim 2.1.1 e_zero]: a number; `own`, its encoding's; `none`:
    #: zero terms take no part in e_max.
    zero_exponent: int | Literal["own", "none"] = "none"
    #: Bits of the sum above the units bit of a significand in [1, 2), sign apart, else it wraps; None: all.
    carry_bits: int | None = None
    #: How aligned terms are added up: `twos_complement`, or `sign_magnitude` (partial sums are signs and
    #: magnitudes, subtracted where the signs differ).  Exact sums do not show the difference.
    #: `ones_complement`, beside c_fraction_bits: signs are counted from c's; a product of the other one, a
    #: zero as well, adds the complement of its magnitude, one below its negative; zeros alone give 0.
    accumulation: str = "twos_complement"
    #: What is left of the bits that alignment cuts off: `cut`, nothing; `jammed`, a fraction of a unit, added
    #: before the sum is cut toward zero [Esperanto f32_add3]; `sticky`, one bit below the sum's magnitude,
    #: for its rounding; with carry_bits, the lowest number of the width is a -0 [Vortex]; `halves`, nothing,
    #: and a product is cut as the two numbers that a multiplier leaves [NVDLA].
    lost_bits: str = "cut"
    #: A block whose words of A, or of B, are all 0: `summed` as any other, or `skipped`: c stays what it is.
    zero_words: str = "summed"
    #: A negative c cut to less than a unit: `cut`, a unit; `dropped`, nothing, if a unit exceeds 2^e_min.
    vanished_c: str = "cut"
    #: Products per group that are aligned among themselves, cut and added; the group's sum is cut again.
    aligned_group: int | None = None
    #: The exponent of zero terms that count as 1, in place of a zero c or factor; None: as zeros [Vortex].
    zero_terms: int | None = None
    #: What exponents of A and B are multiples of, counted from code 0: significands go up instead [NVDLA: 4].
    exponent_step: int = 1
    #: `ascending`: products in the order of k.  `odd_first`: in each pair (2i, 2i+1) the odd one first.
    order: str = "ascending"
    #: Whether subnormals of A and B are normalised, which lowers their exponents, before they are multiplied.
    normalise_operands: bool = False
    #: Bits of the pieces into which the factors are cut: every product of two pieces, which has the exponent
    #: of the whole one, is a term of its own; None: products are whole.
    piece_bits: int | None = None
    #: Products of pieces that are left out: those whose numbers, counted from the lowest, add up to less.
    dropped_pieces: int = 0
    #: Products that are subtracted: `none`, those of `odd` k [AMX-COMPLEX: i·i = -1] or of `even` k, `all`.
    negated: str = "none"
    #: Products per group whose exact sum is one term of the fused sum, scaled as a whole [XIE G]; None:
    #: every product is a term, and scales act on its exponent.
    group: int | None = None
    #: A product of magnitude 2^this and more becomes an Inf of its sign; None: no product overflows.
    product_limit: int | None = None
    #: Fraction bits of the sum with c in `tr` and `gtr` [XIE F_2]; None elsewhere.
    sum_fraction_bits: int | None = None
    #: What `tr` and `gtr` cut: the products' sum, c, and their sum [MMA-Sim 2.1.1], RD; all but the last,
    #: RD_ADDENDS [XIE Algorithms 10, 11]; RZ: the hypothetical instruction of XIE §6.2.4; RD elsewhere.
    sum_rounding: str = "RD"
    #: What a subnormal of A or B counts as: itself, +0, or a zero of its sign; of B, where that is another.
    operand_subnormals: str = "kept"
    b_subnormals: str | None = None
    #: What a subnormal of C counts as; `hidden_bit`: a number with that bit at exponent code 0 [Vortex].
    c_subnormals: str = "kept"
    #: What a subnormal result of any rounding becomes: itself; `signed_zero`, a zero of its sign;
    #: `tiny_zero`, that, and so does a number that would be below the least normal one if it were rounded
    #: as if exponents had no end, but is that one when rounded as a subnormal [IEEE 754 §7.5].
    result_subnormals: str = "kept"
    product_rounding: str | None = None  # of each product before it is summed; None: exact
    #: Rounding of each partial sum of a `sequential` or `pairwise` block, and of a `last` c's other operand;
    #: with c_fraction_bits, a rounding of the one sum before `conversion`, where a sum of zero is +0.
    accumulator: str | None = None
    conversion: str  # of a block's final sum [XIE ρ]
    nan_word: int  # the encoding of every NaN result
    #: `word`: every NaN result is nan_word.  `first_operand`, `b_sum_a`: each step returns its first NaN
    #: operand, made quiet and widened, else nan_word for an invalid operation.  Order of priority: a_k, b_k,
    #: the running sum, or with `b_sum_a` b_k, the running sum, a_k, with `a_sum_b` a_k, the running sum, b_k;
    #: the even chain, the odd one; c, the sum of the chains.  Under `a_sum_b` a sum may be that of two
    #: products: the second one's step after the first product; it comes before c.
    #: `products_c`: factor_nan_word where a factor is a NaN; else nan_word where the products alone are an
    #: invalid operation; else c's NaN, made quiet; else nan_word.
    nan_rule: str = "word"
    factor_nan_word: int | None = None  # under `products_c` alone
    #: `positive`: every zero result is +0.  `ieee`: the sign rules of IEEE 754 §6.3.  `sum`: a sum of
    #: zero is +0, a sum that rounds to zero keeps its sign.
    zero_sign: str = "positive"
    #: What overflows: `infinity`, ±Inf; `ieee`, as IEEE 754 §7.4; `largest`, the largest number of its sign.
    overflow: str = "infinity"

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        for name, (low, high) in NUMBERS.items():
            if (value := getattr(self, name)) is not None or name in ("products", "nan_word"):
                check_int(name, value, low=low, high=high)
        if self.group is not None:
            check_int("group", self.group, low=1, high=self.products)
        conversion(self.conversion)
        if self.product_rounding is not None:
            conversion(self.product_rounding)
        if self.b_subnormals is not None:
            check_choice("b_subnormals", self.b_subnormals, SUBNORMALS)
        self._check_zero_exponent()
        self._check_combination()

    def _check_zero_exponent(self) -> None:
        zero = self.zero_exponent
        if not isinstance(zero, str):
            check_int("zero_exponent", zero, low=ZERO_EXPONENTS[0], high=ZERO_EXPONENTS[1])
        elif zero not in ("own", "none"):
            raise InputError(f"expected an integer, 'own' or 'none' for zero_exponent, but got {zero!r}")

    def _check_combination(self) -> None:
        allowed = POSITIONS_OF[self.summation]
        if self.c_position not in allowed:
            raise InputError(
                f"expected c_position {' or '.join(allowed)} with summation={self.summation}, "
                f"but got {self.c_position}"
            )
        in_one = self.summation in ("tr", "gtr")
        if in_one != (self.sum_fraction_bits is not None) or (in_one and self.fraction_bits is None):
            raise InputError(
                "expected fraction_bits and sum_fraction_bits exactly with summation=tr and gtr, "
                f"but got sum_fraction_bits={self.sum_fraction_bits} with summation={self.summation}"
            )
        f, f2 = self.fraction_bits, self.sum_fraction_bits
        if f is not None and f2 is not None and f2 < f:
            raise InputError(f"expected sum_fraction_bits of at least fraction_bits={f}, but got {f2}")
        may_round = self.c_position == "joined" and self.c_fraction_bits is not None
        in_one_rounding = self.c_position in ("joined", "after") or in_one
        if not may_round and in_one_rounding != (self.accumulator is None):
            raise InputError(
                "expected an accumulator (such as RNE-FP32) exactly where partial sums are rounded, "
                f"but got accumulator={self.accumulator} with summation={self.summation} "
                f"and c_position={self.c_position}"
            )
        if self.accumulator is not None:
            conversion(self.accumulator)
        self._check_rare()
        if self.fraction_bits is None:
            for name, neutral in EXACT_SUM.items():
                if getattr(self, name) != neutral:
                    raise InputError(
                        f"expected fraction_bits to be given with {name}={getattr(self, name)}, "
                        "because an exact sum has no alignment"
                    )
        _check_c_apart(self)
        _check_lost(self)
        if self.c_position == "after":
            _check_plain(self, "c_position", AFTER)
            if f is None:
                raise InputError(
                    "expected fraction_bits with c_position=after, because an exact sum of the products and "
                    "then c is that of all of them, but got None"
                )
        if self.piece_bits is not None:
            _check_plain(self, "piece_bits", IN_PIECES)
        elif self.dropped_pieces:
            raise InputError(f"expected piece_bits with dropped_pieces={self.dropped_pieces}, but got None")

    def _check_rare(self) -> None:
        """Raise InputError for combinations without hardware or source."""
        if self.group is not None:
            _check_plain(
                self,
                "group",
                {"product_rounding": (None,), "order": ("ascending",), "zero_sign": ("positive", "sum")},
            )
        if self.summation in ("tr", "gtr"):
            _check_plain(self, "summation", IN_STEPS)
        _check_plain(self, "summation", {"sum_rounding": SUM_ROUNDINGS_OF.get(self.summation, ("RD",))})
        if self.summation == "pair_chains":
            _check_plain(self, "summation", {"nan_rule": ("word", "first_operand")})
        if self.group is not None and (self.products % self.group or self.summation != "fused"):
            raise InputError(
                f"expected products to be a multiple of group={self.group} in a fused sum, "
                f"but got products={self.products} with summation={self.summation}"
            )
        per = {"gtr": 2, "two_chains": 2, "pair_chains": 4}.get(self.summation, 1)
        if self.products % per:
            of = "an even number of" if per == 2 else "four or a multiple of"
            raise InputError(
                f"expected {of} products with summation={self.summation}, but got {self.products}"
            )
        if self.order == "odd_first" and self.products % 2:
            raise InputError(
                f"expected an even number of products with order=odd_first, but got {self.products}"
            )
        summed = (self.summation, self.c_position)
        single = summed == ("fused", "joined") and self.products == 1
        pair = summed == ("fused", "last") and self.products == 2 and self.nan_rule == "a_sum_b"
        joined = summed == ("fused", "joined") and self.group is None
        if self.nan_rule == "products_c" and joined:
            return
        if self.nan_rule != "word" and not single and not pair and summed not in NAN_ORDERS:
            raise InputError(
                "expected summation=sequential with c_position=first, summation=two_chains, or products=1 in "
                f"one sum with c, for nan_rule={self.nan_rule}, but got summation={self.summation} "
                f"with c_position={self.c_position} and products={self.products}"
            )

    @property
    def rho(self) -> Conversion:
        """The conversion of a block's final sum [XIE ρ]."""
        return conversion(self.conversion)

    def subtracts(self, k: int) -> bool:
        """Whether product k is subtracted."""
        return subtracts(self.negated, k)

    @property
    def framed(self) -> bool:
        """Whether c is aligned differently from the products."""
        return self.c_fraction_bits is not None

    @property
    def one_sum(self) -> bool:
        """Whether the design is one fused sum: terms aligned at one exponent, truncated, added, rounded."""
        plain = self.summation == "fused" and self.c_position != "after" and not self.framed
        plain = plain and (self.lost_bits, self.zero_words) == ("cut", "summed")
        return plain and self.fraction_bits is not None

    @property
    def step(self) -> Conversion:
        """The rounding of partial sums, or the final conversion where there are none."""
        return conversion(self.accumulator) if self.accumulator is not None else self.rho

    @property
    def product_conversion(self) -> Conversion:
        """The rounding of products; InputError where products stay exact."""
        if self.product_rounding is None:
            raise InputError("expected a design with product_rounding, but its products are exact")
        return conversion(self.product_rounding)

    def parameters(self) -> dict[str, int | str | bool | None]:
        """All parameters by name, in definition order."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def subtracts(negated: str, k: int) -> bool:
    """Whether product k is subtracted under the rule `negated`."""
    return negated == "all" or negated == ("odd" if k % 2 else "even")


def _check_plain(design: Design, name: str, neutral: dict[str, tuple[object, ...]]) -> None:
    """Raise InputError for parameters that no source combines with `name`."""
    for other, allowed in neutral.items():
        value = getattr(design, other)
        if value not in allowed:
            shown = " or ".join(str(a) for a in allowed)
            raise InputError(f"expected {other}={shown} with {name}={getattr(design, name)}, but got {value}")


def _check_lost(design: Design) -> None:
    """Raise InputError for combinations with lost bits, skipped blocks or zeros as ones that no
    source gives."""
    rules = {"jammed": JAMMED, "sticky": STICKY, "halves": HALVES}
    if design.lost_bits in rules:
        _check_plain(design, "lost_bits", rules[design.lost_bits])
        if design.fraction_bits is None:
            raise InputError(f"expected fraction_bits with lost_bits={design.lost_bits}, but got None")
    if design.zero_terms is not None:
        _check_plain(design, "zero_terms", ZERO_TERMS)
    if design.zero_words == "skipped":
        _check_plain(design, "zero_words", {"nan_rule": ("word",)})
    if design.c_subnormals == "hidden_bit":
        _check_plain(design, "c_subnormals", {"lost_bits": ("sticky",)})
    sums = [conversion(x) for x in (design.conversion, design.accumulator) if x is not None]
    if design.c_subnormals != "kept" and any(x.integer_bits is not None for x in sums):
        raise InputError(
            f"expected c_subnormals=kept with sums in fixed point, but got {design.c_subnormals}"
        )
    if design.exponent_step != 1:
        _check_plain(design, "exponent_step", IN_EXPONENT_STEPS)
    if design.exponent_step & (design.exponent_step - 1):
        raise InputError(f"expected a power of two for exponent_step, but got {design.exponent_step}")


def _check_c_apart(design: Design) -> None:
    """Raise InputError for combinations with a separately aligned c that no source gives."""
    if design.accumulation == "sign_magnitude":
        _check_plain(design, "accumulation", {"carry_bits": (None,)})
    f, of_c = design.fraction_bits, design.c_fraction_bits
    if of_c is not None:
        _check_plain(design, "c_fraction_bits", C_APART)
        if f is None or of_c < f:
            raise InputError(
                f"expected c_fraction_bits of at least fraction_bits={f or 'exact'}, but got {of_c}"
            )
    group = design.aligned_group
    own = (("accumulation", "ones_complement"), ("vanished_c", "dropped"), ("aligned_group", group))
    for name, value in own:
        if value is not None and getattr(design, name) == value and of_c is None:
            raise InputError(f"expected c_fraction_bits with {name}={value}, but got None")
    if group is not None:
        neutral: dict[str, tuple[object, ...]] = {"alignment_rounding": ("RD",), "order": ("ascending",)}
        _check_plain(design, "aligned_group", neutral | {"accumulation": ("twos_complement",)})
        if design.products % group:
            raise InputError(
                f"expected products to be a multiple of aligned_group={group}, but got {design.products}"
            )
    word = design.factor_nan_word
    if (design.nan_rule == "products_c") != (word is not None):
        raise InputError(
            f"expected factor_nan_word only with nan_rule=products_c, but got {word} with {design.nan_rule}"
        )
