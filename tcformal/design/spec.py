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
    ALIGNMENTS,
    CHOICES,
    EXACT_SUM,
    NAN_ORDERS,
    NUMBERS,
    POSITIONS_OF,
    SUBNORMALS,
    SUM_ROUNDINGS_OF,
    ZERO_EXPONENTS,
    Conversion,
    bits_taken,
    conversion,
)
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.shown import Shown

_CUT_TOGETHER: dict[str, tuple[object, ...]] = {
    "summation": ("fused",), "c_position": ("joined",), "lost_bits": ("cut",), "c_fraction_bits": (None,),
    "accumulation": ("twos_complement",),
}  # fmt: skip
#: Sums that are cut, or can be, before they are normalised.
_CUT_SUMS = ("tr", "gtr", "fused")
_WHOLE_FACTORS: dict[str, tuple[object, ...]] = {
    "exponent_step": (1,), "piece_bits": (None,), "zero_terms": (None,), "lost_bits": ("cut",),
}  # fmt: skip
_BITS_OF_FACTORS: dict[str, tuple[object, ...]] = _WHOLE_FACTORS | {
    "summation": ("fused", "sequential", "pairwise", "two_chains", "pair_chains"),
    "group": (None,),
    "normalise_products": (False,),
    "c_fraction_bits": (None,),
}
#: What the sources combine: where a parameter has one of some values (none named: where it is given), others
#: have one of theirs.
_TOGETHER: tuple[tuple[str, tuple[object, ...], dict[str, tuple[object, ...]]], ...] = (
    ("group", (), {
        "product_rounding": (None,), "order": ("ascending",), "zero_sign": ("positive", "sum"),
    }),
    ("summation", ("tr", "gtr"), {
        "zero_exponent": ("none",), "carry_bits": (None,), "normalise_products": (False,),
        "product_rounding": (None,), "zero_sign": ("sum", "positive"),
    }),
    ("summation", ("pair_chains",), {"nan_rule": ("word", "first_operand")}),
    ("accumulation", ("sign_magnitude",), {"carry_bits": (None,)}),
    ("c_fraction_bits", (), {
        "c_position": ("joined",), "group": (None,), "carry_bits": (None,), "normalise_products": (False,),
        "product_rounding": (None,), "accumulation": ("twos_complement", "ones_complement"),
    }),
    ("aligned_group", (), {
        "alignment_rounding": ("RD",), "order": ("ascending",), "accumulation": ("twos_complement",),
    }),
    ("lost_bits", ("jammed",), {
        "summation": ("fused",), "c_position": ("joined",), "alignment_rounding": ("RZ",),
        "zero_exponent": ("none",), "accumulation": ("twos_complement",), "carry_bits": (None,),
        "group": (None,), "c_fraction_bits": (None,), "piece_bits": (None,), "order": ("ascending",),
        "product_rounding": (None,),
    }),
    ("lost_bits", ("sticky",), {
        "summation": ("fused",), "c_position": ("joined",), "group": (None,), "alignment_rounding": ("RZ",),
        "accumulation": ("twos_complement",), "c_fraction_bits": (None,), "zero_sign": ("positive", "sum"),
        "product_rounding": (None,), "piece_bits": (None,),
    }),
    ("lost_bits", ("halves",), {
        "summation": ("fused",), "c_position": ("after",), "alignment_rounding": ("RZ",),
        "order": ("ascending",), "accumulation": ("twos_complement",), "normalise_products": (False,),
        "product_limit": (None,), "piece_bits": (None,), "negated": ("none",),
        "zero_sign": ("positive", "sum"),
    }),
    ("zero_terms", (), {
        "lost_bits": ("sticky",), "zero_exponent": ("none",), "normalise_operands": (False,),
        "normalise_products": (False,), "product_limit": (None,), "operand_subnormals": ("kept",),
        "b_subnormals": (None,), "c_subnormals": ("kept", "hidden_bit"), "nan_rule": ("word",),
    }),
    ("zero_words", ("skipped",), {"nan_rule": ("word",)}),
    ("c_subnormals", ("hidden_bit",), {"lost_bits": ("sticky",)}),
    ("exponent_step", (2, 4, 8), {
        "normalise_operands": (False,), "operand_subnormals": ("kept",), "b_subnormals": (None,),
        "piece_bits": (None,), "zero_terms": (None,),
    }),
    ("e_max_of", ("products",), {**_CUT_TOGETHER, "normalised": (True,)}),
    ("c_alignment_rounding", (), _CUT_TOGETHER),
    ("c_bits", (), _CUT_TOGETHER),
    ("second_fraction_bits", (), {**_CUT_TOGETHER, "c_bits": (None,)}),
    ("minus_one", (), {**_CUT_TOGETHER, "carry_bits": (None,)}),
    ("alignment_rounding", ("RNU",), {
        "summation": ("fused",), "c_fraction_bits": (None,), "lost_bits": ("cut",),
    }),
    ("special_words", ("numbers",), {"nan_rule": ("word",), "product_limit": (None,)}),
    ("normalised", (False,), {"c_position": ("joined",)}),
    ("operand_rounding", (), _WHOLE_FACTORS),
    ("a_bits", (), _BITS_OF_FACTORS),
    ("b_bits", (), _BITS_OF_FACTORS),
    ("c_position", ("after",), {
        "group": (None,), "carry_bits": (None,), "product_rounding": (None,), "nan_rule": ("word",),
    }),
    ("piece_bits", (), {
        "summation": ("fused",), "c_position": ("joined", "after"), "group": (None,),
        "normalise_products": (False,), "product_rounding": (None,), "product_limit": (None,),
        "nan_rule": ("word",), "c_fraction_bits": (None,), "accumulation": ("twos_complement",),
        "order": ("ascending",),
    }),
)  # fmt: skip


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


@dataclass(frozen=True, kw_only=True)
class Products:
    """Stage 1, operands and their products [XIE Algorithm 7, step 1]."""

    #: Products summed per block [XIE L]; K is cut into blocks of min(K, products).
    products: int
    #: `ascending`: products in the order of k.  `odd_first`: in each pair (2i, 2i+1) the odd one first.
    order: str = "ascending"
    #: Products that are subtracted: `none`, those of `odd` k [AMX-COMPLEX: i·i = -1] or of `even` k, `all`.
    negated: str = "none"
    #: What a subnormal of A or B counts as: itself, +0, or a zero of its sign; of B, where that is another.
    operand_subnormals: str = "kept"
    b_subnormals: str | None = None
    #: What a subnormal of C counts as; `hidden_bit`: a number with that bit at exponent code 0 [Vortex].
    c_subnormals: str = "kept"
    #: Whether subnormals of A and B are normalised, which lowers their exponents, before they are multiplied.
    normalise_operands: bool = False
    #: What exponents of A and B are multiples of, counted from code 0: significands go up instead [NVDLA: 4].
    exponent_step: int = 1
    #: A block whose words of A, or of B, are all 0: `summed` as any other, or `skipped`: c stays what it is.
    zero_words: str = "summed"
    #: The rounding of each element of A and of B before it is multiplied; None: they are taken as they are.
    operand_rounding: str | None = None
    #: Which bits of a significand of A, or of B, are multiplied, `0..4`: the units bit is number 0, and the
    #: exponent is lowered by the number of the first; None: all of them [Tenstorrent's fidelity phases].
    a_bits: str | None = None
    b_bits: str | None = None
    #: Bits of the pieces into which the factors are cut: every product of two pieces, which has the exponent
    #: of the whole one, is a term of its own; None: products are whole.
    piece_bits: int | None = None
    #: Products of pieces that are left out: those whose numbers, counted from the lowest, add up to less.
    dropped_pieces: int = 0
    #: The rounding of each product before it is summed; None: products are exact.
    product_rounding: str | None = None
    #: A product of magnitude 2^this and more becomes an Inf of its sign; None: no product overflows.
    product_limit: int | None = None
    #: Products per group whose exact sum is one term of the fused sum, scaled as a whole [XIE G]; None:
    #: every product is a term, and scales act on its exponent.
    group: int | None = None
    #: By how much the exponent of a group's sum exceeds that of its scales [CUTE 6, 9].
    group_exponent: int = 0
    #: Which groups have the exponent of zero terms: those with a zero scale, and those whose `products` are
    #: all zero [MMA-Sim 2.1.1]; or those with a zero `scale` alone [CUTE].
    zero_group: str = "products"

    def subtracts(self, k: int) -> bool:
        """Whether product k is subtracted."""
        return subtracts(self.negated, k)

    @property
    def product_conversion(self) -> Conversion:
        """The rounding of products; InputError where products stay exact."""
        if self.product_rounding is None:
            raise InputError("expected a design with product_rounding, but its products are exact")
        return conversion(self.product_rounding)


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Stage 2, terms shifted to the largest exponent e_max and cut [XIE Algorithm 7, step 2].

    An exact sum, which has `fraction_bits` None, has no alignment.
    """

    #: Whether each product (and c) is normalised to [1, 2) before alignment [VALPEY yes, XIE no].
    normalise_products: bool = False
    #: Fraction bits kept when a term is aligned at e_max [XIE F; VALPEY 23 + align_bits]; None: all.
    fraction_bits: int | None = None
    #: Whose largest exponent e_max is: that of all `terms`, or of the `products`, and inner sums of a tree,
    #: alone: a c with a larger one is shifted left, as far as carry_bits hold it, and where none of them has
    #: an exponent the sum is 0.
    e_max_of: str = "terms"
    #: How an aligned term is cut to `fraction_bits`: a rounding mode on the signed term, or RNU.
    alignment_rounding: str = "RZ"
    #: How c is cut at the same e_max, and to how many fraction bits; None: as the other terms.
    c_alignment_rounding: str | None = None
    c_bits: int | None = None
    #: Fraction bits to which every aligned term is cut once more, in the same way; None: it is cut once.
    second_fraction_bits: int | None = None
    #: What is left of the bits that alignment cuts off: `cut`, nothing; `jammed`, a fraction of a unit, added
    #: before the sum is cut toward zero [Esperanto f32_add3]; `sticky`, one bit below the sum's magnitude,
    #: for its rounding; with carry_bits, the lowest number of the width is a -0 [Vortex]; `halves`, nothing,
    #: and a product is cut as the two numbers that a multiplier leaves [NVDLA].
    lost_bits: str = "cut"
    #: Exponent of a term whose value is zero [MMA-Sim 2.1.1 e_zero]: a number; `own`, its encoding's; `none`:
    #: zero terms take no part in e_max.
    zero_exponent: int | Literal["own", "none"] = "none"
    #: The exponent of zero terms that count as 1, in place of a zero c or factor; None: as zeros [Vortex].
    zero_terms: int | None = None
    #: Fraction bits that c keeps below its own exponent, where the products' exponents are smaller: c takes
    #: part in e_max with its exponent less the bits by which these exceed `fraction_bits`; None: as many.
    c_fraction_bits: int | None = None
    #: A negative c cut to less than a unit: `cut`, a unit; `dropped`, nothing, if a unit exceeds 2^e_min.
    vanished_c: str = "cut"
    #: Products per group that are aligned among themselves, cut and added; the group's sum is cut again.
    aligned_group: int | None = None

    @property
    def framed(self) -> bool:
        """Whether c is aligned differently from the products."""
        return self.c_fraction_bits is not None


@dataclass(frozen=True, kw_only=True)
class Accumulation:
    """Stage 3, the order in which terms and c are summed, and the adder [XIE Algorithm 7, step 3]."""

    summation: str = "fused"  # how a block is summed: one of SUMMATIONS
    #: `joined`: c is one of the terms of the fused sum.  `first`, `last`: the chain starts or ends with c.
    #: `after`: c is added, exactly, to the fused sum of the products, before its one rounding [Gaudi 2].
    c_position: str = "joined"
    #: Bits of the sum above the units bit of a significand in [1, 2), sign apart, else it wraps; None: all.
    carry_bits: int | None = None
    #: How aligned terms are added up: `twos_complement`, or `sign_magnitude` (partial sums are signs and
    #: magnitudes, subtracted where the signs differ).  Exact sums do not show the difference.
    #: `ones_complement`, beside c_fraction_bits: signs are counted from c's; a product of the other one, a
    #: zero as well, adds the complement of its magnitude, one below its negative; zeros alone give 0.
    accumulation: str = "twos_complement"
    #: A sum of -1 unit counts as -2^this units: a fault of a normalisation [Wormhole: 27]; None: as -1.
    minus_one: int | None = None
    #: Rounding of each partial sum of a `sequential` or `pairwise` block, and of a `last` c's other operand;
    #: with c_fraction_bits, a rounding of the one sum before `conversion`, where a sum of zero is +0.
    accumulator: str | None = None
    #: Fraction bits of the sum with c in `tr` and `gtr` [XIE F_2]; in a fused sum, those at e_max to which it
    #: is cut before it is normalised [CUTE]; None: it is not cut.
    sum_fraction_bits: int | None = None
    #: What `tr` and `gtr` cut: the products' sum, c, and their sum [MMA-Sim 2.1.1], RD; all but the last,
    #: RD_ADDENDS [XIE Algorithms 10, 11]; RZ: the hypothetical instruction of XIE §6.2.4; RD in fused sums.
    sum_rounding: str = "RD"


@dataclass(frozen=True, kw_only=True)
class Rounding:
    """Stage 4, the sum normalised and rounded to the result's format [XIE Algorithm 7, step 4]."""

    conversion: str  # of a block's final sum [XIE ρ]
    #: Whether a sum is normalised and rounded; otherwise an inner sum of a tree, which keeps the exponent
    #: e_max of its terms when it is aligned again, also where it is zero; unless result_subnormals is `kept`,
    #: one with an e_max below the conversion's e_min counts as zero [Tenstorrent].
    normalised: bool = True
    #: What a subnormal result of any rounding becomes: itself; `signed_zero`, a zero of its sign;
    #: `tiny_zero`, that, and so does a number that would be below the least normal one if it were rounded
    #: as if exponents had no end, but is that one when rounded as a subnormal [IEEE 754 §7.5].
    result_subnormals: str = "kept"
    #: What overflows: `infinity`, ±Inf; `ieee`, as IEEE 754 §7.4; `largest`, the largest number of its sign.
    overflow: str = "infinity"
    #: `positive`: every zero result is +0.  `ieee`: the sign rules of IEEE 754 §6.3.  `sum`: a sum of
    #: zero is +0, a sum that rounds to zero keeps its sign.
    zero_sign: str = "positive"

    @property
    def rho(self) -> Conversion:
        """The conversion of a block's final sum [XIE ρ]."""
        return conversion(self.conversion)


@dataclass(frozen=True, kw_only=True)
class SpecialValues:
    """Stage 5, words of Inf and NaN."""

    nan_word: int  # the encoding of every NaN result
    #: What encodings of Inf and NaN in A, B and C are: `special`, or `numbers` of the next binade [Tensix].
    special_words: str = "special"
    #: `word`: every NaN result is nan_word.  `first_operand`, `b_sum_a`: each step returns its first NaN
    #: operand, made quiet and widened, else nan_word for an invalid operation.  Order of priority: a_k, b_k,
    #: the running sum, or with `b_sum_a` b_k, the running sum, a_k, with `a_sum_b` a_k, the running sum, b_k;
    #: the even chain, the odd one; c, the sum of the chains.  Under `a_sum_b` a sum may be that of two
    #: products: the second one's step after the first product; it comes before c.
    #: `products_c`: factor_nan_word where a factor is a NaN; else nan_word where the products alone are an
    #: invalid operation; else c's NaN, made quiet; else nan_word.
    nan_rule: str = "word"
    factor_nan_word: int | None = None  # under `products_c` alone

    def reading(self, fmt: Format) -> Format:
        """A format of A, B or C as the unit reads its encodings."""
        return fmt.all_numbers if self.special_words == "numbers" else fmt


@dataclass(frozen=True, kw_only=True)
class Design(SpecialValues, Rounding, Accumulation, Alignment, Products, Shown):
    """The parameters of one design, by stage (the papers' symbols in brackets).

    A function of one stage takes that stage's record, of which a whole design is one.

    Shapes: one block takes `products` pairs (a_k, b_k) and one c.
    Errors: InputError for a value outside its range or a combination that means nothing.

    Examples:
        >>> tcformal.unit("h100:fp16").design
        <Design products=16, fraction_bits=25, zero_exponent=-133, conversion=RZ-FP32,
        nan_word=2147483647>
    """

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
        if self.operand_rounding is not None:
            conversion(self.operand_rounding)
        for bits in (self.a_bits, self.b_bits):
            if bits is not None:
                bits_taken(bits)
        if self.b_subnormals is not None:
            check_choice("b_subnormals", self.b_subnormals, SUBNORMALS)
        if self.c_alignment_rounding is not None:
            check_choice("c_alignment_rounding", self.c_alignment_rounding, ALIGNMENTS)
        self._check_zero_exponent()
        self._check_combination()

    def _summary(self) -> str:
        said = ((f.name, getattr(self, f.name), f.default) for f in fields(self))
        return "Design " + ", ".join(f"{name}={value}" for name, value, usual in said if value != usual)

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
        f, f2 = self.fraction_bits, self.sum_fraction_bits
        if (in_one and f2 is None) or (f2 is not None and (f is None or self.summation not in _CUT_SUMS)):
            raise InputError(
                "expected fraction_bits and sum_fraction_bits with summation=tr and gtr, or both in a fused "
                f"sum, but got sum_fraction_bits={f2} with summation={self.summation}"
            )
        if f is not None and f2 is not None and (f2 < f if in_one else f2 > f):
            bound = "at least" if in_one else "at most"
            raise InputError(f"expected sum_fraction_bits of {bound} fraction_bits={f}, but got {f2}")
        if f2 is not None and not in_one:
            apart = {"normalised": (True,), "minus_one": (None,), "second_fraction_bits": (None,)}
            _check_others(self, "sum_fraction_bits", _CUT_TOGETHER | apart)
        if self.group is None and (self.group_exponent, self.zero_group) != (0, "products"):
            raise InputError(
                "expected group beside group_exponent and zero_group, but got "
                f"group_exponent={self.group_exponent} and zero_group={self.zero_group} without one"
            )
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
        group = self.aligned_group
        for name, given in (
            ("accumulation", "ones_complement"),
            ("vanished_c", "dropped"),
            ("aligned_group", group),
        ):
            if self.c_fraction_bits is None and given is not None and getattr(self, name) == given:
                raise InputError(f"expected c_fraction_bits with {name}={given}, but got None")
        for name, values, others in _TOGETHER:
            value = getattr(self, name)
            if value in values if values else value is not None:
                _check_others(self, name, others)
        _check_others(self, "summation", {"sum_rounding": SUM_ROUNDINGS_OF.get(self.summation, ("RD",))})
        self._check_numbers()
        self._check_nan_rule()

    def _check_numbers(self) -> None:
        """Raise InputError for numbers that do not fit each other, or are given where nothing is counted."""
        f, of_c = self.fraction_bits, self.c_fraction_bits
        if f is None:
            for name, neutral in EXACT_SUM.items():
                if getattr(self, name) != neutral:
                    raise InputError(
                        f"expected fraction_bits to be given with {name}={getattr(self, name)}, "
                        "because an exact sum has no alignment"
                    )
            if not self.normalised:
                raise InputError("expected fraction_bits with normalised=false, but got None")
            if self.lost_bits != "cut":
                raise InputError(f"expected fraction_bits with lost_bits={self.lost_bits}, but got None")
            if self.c_position == "after":
                raise InputError(
                    "expected fraction_bits with c_position=after, because an exact sum of the products and "
                    "then c is that of all of them, but got None"
                )
        if of_c is not None and (f is None or of_c < f):
            raise InputError(
                f"expected c_fraction_bits of at least fraction_bits={f or 'exact'}, but got {of_c}"
            )
        twice = self.second_fraction_bits
        if f is not None and twice is not None and twice > f:
            raise InputError(f"expected second_fraction_bits of at most fraction_bits={f}, but got {twice}")
        if self.piece_bits is None and self.dropped_pieces:
            raise InputError(f"expected piece_bits with dropped_pieces={self.dropped_pieces}, but got None")
        if self.exponent_step & (self.exponent_step - 1):
            raise InputError(f"expected a power of two for exponent_step, but got {self.exponent_step}")
        self._check_products()
        sums = [conversion(x) for x in (self.conversion, self.accumulator) if x is not None]
        if any(x.head_room > 0 for x in sums) and (self.special_words, self.overflow) != (
            "numbers",
            "largest",
        ):
            raise InputError(
                "expected special_words=numbers and overflow=largest with results of one binade more, "
                f"but got {self.special_words} and {self.overflow}"
            )
        if self.c_subnormals != "kept" and any(x.integer_bits is not None for x in sums):
            raise InputError(
                f"expected c_subnormals=kept with sums in fixed point, but got {self.c_subnormals}"
            )

    def _check_products(self) -> None:
        """Raise InputError for a number of products that groups, pairs or chains do not divide."""
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
        if self.aligned_group is not None and self.products % self.aligned_group:
            raise InputError(
                f"expected products to be a multiple of aligned_group={self.aligned_group}, "
                f"but got {self.products}"
            )

    def _check_nan_rule(self) -> None:
        """Raise InputError for a rule of NaN operands where it is not known which one a step returns."""
        word = self.factor_nan_word
        if (self.nan_rule == "products_c") != (word is not None):
            raise InputError(
                f"expected factor_nan_word only with nan_rule=products_c, but got {word} with {self.nan_rule}"
            )
        summed = (self.summation, self.c_position)
        if word is not None and (summed != ("fused", "joined") or self.group is not None):
            raise InputError(
                "expected one sum of c and products without groups for nan_rule=products_c, but got "
                f"summation={self.summation} with c_position={self.c_position} and group={self.group}"
            )
        known = self.nan_rule == "word" or summed in NAN_ORDERS or word is not None
        if summed == ("fused", "joined"):
            known |= self.products == 1
        if summed == ("fused", "last"):
            known |= self.products == 2 and self.nan_rule == "a_sum_b"
        if not known:
            raise InputError(
                "expected summation=sequential with c_position=first, summation=two_chains, or products=1 in "
                f"one sum with c, for nan_rule={self.nan_rule}, but got summation={self.summation} "
                f"with c_position={self.c_position} and products={self.products}"
            )

    @property
    def one_sum(self) -> bool:
        """Whether the design is one fused sum: terms aligned at one exponent, truncated, added, rounded."""
        plain = self.summation == "fused" and self.c_position != "after" and not self.framed
        plain = plain and (self.lost_bits, self.zero_words) == ("cut", "summed")
        plain = plain and (self.c_alignment_rounding, self.c_bits, self.second_fraction_bits) == (None,) * 3
        plain = plain and (self.e_max_of, self.sum_fraction_bits) == ("terms", None)
        plain = plain and (self.group_exponent, self.zero_group) == (0, "products")
        return plain and self.fraction_bits is not None

    @property
    def step(self) -> Conversion:
        """The rounding of partial sums, or the final conversion where there are none."""
        return conversion(self.accumulator) if self.accumulator is not None else self.rho

    def parameters(self) -> dict[str, int | str | bool | None]:
        """All parameters by name, in definition order."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


#: Parameters of designs of integers, whose sums are exact until they are converted.
_OF_INTEGERS = (
    "products", "order", "summation", "c_position", "accumulator", "conversion", "zero_words",
)  # fmt: skip


def check_integers(design: Design, formats: Operands) -> None:
    """Raise InputError for integers beside floating-point numbers, or for a parameter that integers lack."""
    given = (formats.a, formats.b, formats.c, formats.d)
    if not any(x.integer for x in given):
        return
    if not all(x.integer for x in given):
        raise InputError(f"expected integers alone or none, but got {formats}")
    for field in fields(design):
        neutral = 0 if field.name == "nan_word" else field.default
        if field.name not in _OF_INTEGERS and getattr(design, field.name) != neutral:
            raise InputError(
                f"expected {field.name}={neutral} for {formats}, but got {getattr(design, field.name)}"
            )
    if not design.step.integer:
        raise InputError(
            f"expected an accumulator such as SAT-{formats.d.name.upper()}, but got "
            f"{design.accumulator or design.conversion}"
        )


def subtracts(negated: str, k: int) -> bool:
    """Whether product k is subtracted under the rule `negated`."""
    return negated == "all" or negated == ("odd" if k % 2 else "even")


def _check_others(design: Design, name: str, others: dict[str, tuple[object, ...]]) -> None:
    """Raise InputError for parameters that no source combines with the one of this name."""
    for other, allowed in others.items():
        value = getattr(design, other)
        if value not in allowed:
            shown = " or ".join(str(a) for a in allowed)
            raise InputError(f"expected {other}={shown} with {name}={getattr(design, name)}, but got {value}")
