"""The statement of claim `integer-sums`: up to which size sums of integers are exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import ZERO, Poly
from tcformal.proofs.statements.encodings import OFFSET, Encoded, encoded, exponent_code
from tcformal.proofs.statements.error_bound import StatedTerm, require_products
from tcformal.proofs.statements.rounded_bound import SIGN_TEXTS, RoundingPlan
from tcformal.theory.stated_sum import operand_rules


@dataclass(frozen=True, slots=True)
class WholeNumber:
    """The magnitude of a number significand · 2^(code - OFFSET - fraction bits), where that is an integer.

    Shapes: code u[CODE_BITS]; `floor` u[any], the magnitude without its fraction; magnitude u[B + 1], the low
    bits of `floor`; whole, small u[1].
    Ranges and units: `whole` is 1 where the number is an integer, and zero if it is 2^(B + width of the
    significand) or more; `small` is 1 where `floor` is at most 2^B.  Both are 1 exactly for the integers of
    magnitudes up to 2^B, and `magnitude` is the magnitude then.
    """

    significand: Node
    code: Node
    #: significand · 2^B, and how many bits of that stand below the integer's lowest one.
    placed: Node
    below: Node
    floor: Node
    magnitude: Node
    #: `floor` shifted back, which is `placed` where the number is an integer.
    back: Node
    whole: Node
    small: Node


def whole_number(g: Graph, significand: Node, code: Node, fraction_bits: int, most: int) -> WholeNumber:
    """A number with its magnitude as an integer of at most 2^most.

    The distance wraps around to one that shifts every bit out for a number that is far too large, so that
    only a zero is whole there.
    """
    placed = g.shift_left_const(significand, most)
    below = g.sub_mod(g.const(OFFSET + fraction_bits + most, code.width), code)
    floor = g.lshr(placed, below)
    back = g.shl_mod(floor, below)
    small = g.ule(floor, g.const(1 << most, floor.width))
    magnitude = g.extract(floor, most, 0)
    return WholeNumber(significand, code, placed, below, floor, magnitude, back, g.eq(back, placed), small)


@dataclass(frozen=True, slots=True)
class IntegerSum:
    """The statement as data: every conclusion holds wherever all hypotheses are 1.

    Shapes: `terms` are the products, then c, and `wholes` their magnitudes; total u[any] is the sum of the
    magnitudes and limit u[1] says that it is at most 2^most; normal: for each product, u[1] of each factor
    that it is zero or a normal number, where that has to be.
    """

    unit: UnitSpec
    graph: Graph
    result: Node
    terms: tuple[StatedTerm, ...]
    wholes: tuple[WholeNumber, ...]
    d: Encoded
    total: Node
    limit: Node
    normal: tuple[tuple[Node, ...], ...]
    hypotheses: tuple[Node, ...]
    most: int

    @property
    def conclusions(self) -> tuple[tuple[str, Poly], ...]:
        """d is finite, and d less the exact sum is 0."""
        error = self.d.value
        for x in self.terms:
            error = error - x.value
        return (ZERO, Poly.of(self.d.finite) - Poly.constant(1)), (ZERO, error)

    @property
    def roots(self) -> tuple[Node, ...]:
        """Every node that the statement names."""
        found = {
            n for _, p in self.conclusions for atoms, ex in p.terms for n in (*atoms, *(x for x, _ in ex))
        }
        return (*sorted(found, key=lambda n: n.index), *self.hypotheses, self.result)

    @property
    def short(self) -> str:
        """The statement without its inputs."""
        only = f" of {self._kept[0]}" if any(self.normal) else ""
        return f"integers{only} with Σ |{self._product}| + |c| <= 2^{self.most} give d = {self._sum}"

    @property
    def _product(self) -> str:
        return "a_k·b_k" if self.unit.scale_format is None else "a_k·b_k·s_k"

    @property
    def _sum(self) -> str:
        sign = SIGN_TEXTS[self.unit.design.negated]
        return f"Σ {sign}{self._product} + c"

    @property
    def _kept(self) -> tuple[str, str]:
        """What products have to be of, and the same of factors."""
        flushed = flushed_factors(self.unit)
        if not stepwise(self.unit) or flushed == (True, True):
            return "factors that are not subnormal", "no factor of a product is a subnormal number"
        name = "a_k" if flushed[0] else "b_k"
        return f"{name} that are not subnormal", f"no {name} is a subnormal number"

    def __str__(self) -> str:
        o, scale = self.unit.operands, self.unit.scale_format
        words = ", ".join(f"{x}_0…{x}_{self.unit.k - 1} ({o.names()[x]})" for x in "ab")
        of_scales = "" if scale is None else f" and the scales ({scale}), s_k being the product of both"
        only = f"{self._kept[1]}, " if any(self.normal) else ""
        return (
            f"for all finite encodings {words}, c ({o.c}){of_scales}, with d ({o.d}) what the unit makes of "
            f"them: where {only}c and every {self._product} is an integer and "
            f"Σ |{self._product}| + |c| <= 2^{self.most}, d is finite and d = {self._sum}, exactly"
            "; a zero may have either sign"
        )


def stepwise(unit: UnitSpec) -> bool:
    """Whether a unit adds in steps: exact sums that are rounded, or a truncated one, and then c."""
    design = unit.design
    apart = design.summation == "fused" and design.c_position in ("last", "after")
    return unit.tree is not None or unit.emulation is not None or design.fraction_bits is None or apart


def flushed_factors(unit: UnitSpec) -> tuple[bool, bool]:
    """Whether some subnormal numbers of A and of B count as zeros."""
    o, rules = unit.operands, operand_rules(unit.design)
    a, b = (rule != "kept" and has_subnormals(fmt) for fmt, rule in zip((o.a, o.b), rules, strict=True))
    return a, b


def largest_exact(unit: UnitSpec) -> int:
    """The largest B for which sums of integers up to 2^B are exact: rounding or alignment cuts the next bit.

    Rounding to p fraction bits cuts 2^(p + 1) + 1.
    """
    if stepwise(unit):
        return min(target.precision for _, target in RoundingPlan(unit).steps)
    most, aligned = unit.design.rho.fraction_bits + 1, least_cut(unit, subnormal=False)
    return most if aligned is None else min(most, aligned)


def only_normal(unit: UnitSpec) -> bool:
    """Whether such sums are exact of factors that are zero or normal numbers only."""
    if stepwise(unit):
        return any(flushed_factors(unit))
    aligned = least_cut(unit)
    return aligned is not None and aligned < largest_exact(unit)


def least_cut(unit: UnitSpec, *, subnormal: bool = True) -> int | None:
    """The least B such that a term of 2^B may cut a 1 beside it; None where no term is so large.

    Alignment to F fraction bits cuts a 1 beside a term whose exponent is F + 1, and the least number of that
    exponent is 2^(F + 1), less the fraction bits of those factors that are subnormal with it.  Sums that are
    exact before they are rounded cut no term, but a 1 of a factor that counts as zero is lost beside all.
    """
    if stepwise(unit):
        return 0 if subnormal and _one_of_zeros(unit) else None
    o, bits = unit.operands, int(unit.design.fraction_bits or 0)
    scale = () if unit.scale_format is None else (unit.scale_format,) * 2
    found = []
    for formats in ((o.a, o.b, *scale), (o.c,)):
        for lows in product((False, subnormal), repeat=len(formats)):
            pairs = list(zip(formats, lows, strict=True))
            if any(low and not has_subnormals(x) for x, low in pairs):
                continue
            if sum(x.e_min if low else x.e_max for x, low in pairs) > bits:
                found.append(bits + 1 - sum(x.fraction_bits for x, low in pairs if low))
    return min(found, default=None)


def _one_of_zeros(unit: UnitSpec) -> bool:
    """Whether 1 is a product of a subnormal factor that counts as zero, and a number."""
    o = unit.operands
    pairs = zip((o.a, o.b), (o.b, o.a), flushed_factors(unit), strict=True)
    return any(flushed and x.e_min - 1 + y.e_max >= 0 for x, y, flushed in pairs)


def has_subnormals(fmt: Format) -> bool:
    """Whether some numbers of a format are subnormal."""
    return fmt.has_zero and fmt.fraction_bits > 0


def integer_sum(
    g: Graph, unit: UnitSpec, words: Sequence[Sequence[Node]], c: Node, d: Node, most: int
) -> IntegerSum:
    """The statement about the node d of a graph as a function of input words, for sums up to 2^most.

    Shapes: words: for each product the words that it is the product of: a_k, b_k, and its scales.
    Errors: InputError for a unit whose statement is not written here.
    """
    o = unit.operands
    require_integers(unit)
    scale = () if unit.scale_format is None else (unit.scale_format,) * 2
    terms, wholes, normal = [], [], list[tuple[Node, ...]]()
    flushed: Sequence[bool] = flushed_factors(unit)
    if not stepwise(unit):
        flushed = [only_normal(unit) and has_subnormals(fmt) for fmt in (o.a, o.b, *scale)]
    for k, row in enumerate((*words, (c,))):
        formats = (o.a, o.b, *scale) if k < len(words) else (o.c,)
        factors = tuple(encoded(g, word, fmt) for word, fmt in zip(row, formats, strict=True))
        if k < len(words) and unit.design.subtracts(k):
            # A product that is subtracted is that of -a.
            factors = (replace(factors[0], sign=g.not_(factors[0].sign)), *factors[1:])
        nonzero = g.and_(*(g.any_bit(x.significand) for x in factors))
        name = f"a[{k}]·b[{k}]" if k < len(words) else "c"
        term = StatedTerm(name, factors, exponent_code(g, list(factors)), nonzero)
        terms.append(term)
        wholes.append(whole_number(g, _significand(g, factors), term.code, term.fraction_bits, most))
        low = [x for x, some in zip(factors, flushed, strict=False) if some] if k < len(words) else []
        normal.append(tuple(g.or_(g.top(x.significand), g.is_zero(x.significand)) for x in low))
    # c first, as a chain of blocks takes it: no partial sum wraps in this width.
    width = (len(wholes) << (most + 1)).bit_length()
    total = g.zero_extend_to(wholes[-1].magnitude, width)
    for x in wholes[:-1]:
        total = g.add_mod(total, g.zero_extend_to(x.magnitude, width))
    limit = g.ule(total, g.const(1 << most, width))
    made = encoded(g, d, o.d)
    finite = [x.finite for t in terms for x in t.factors]
    hypotheses = (
        *finite,
        *(n for row in normal for n in row),
        *(x.whole for x in wholes),
        *(x.small for x in wholes),
        limit,
    )
    return IntegerSum(
        unit, g, d, tuple(terms), tuple(wholes), made, total, limit, tuple(normal),
        tuple(dict.fromkeys(x for x in hypotheses if x.op != "const")), most,
    )  # fmt: skip


def require_integers(unit: UnitSpec) -> None:
    """Refuse units whose statement is not written: InputError."""
    if not stepwise(unit):
        require_products(unit, "integer-sums", groups=True)
        return
    design, bits = unit.design, unit.design.fraction_bits
    if bits is not None and unit.tree is None:
        other = {
            "terms aligned at one exponent": design.framed or design.lost_bits != "cut",
            "products as terms": design.group is not None or unit.scale_format is not None,
            "whole products as terms": design.piece_bits is not None,
            "sums without a bound on their bits": design.carry_bits is not None,
            "every product in the sum": design.zero_words != "summed",
        }
        for expected, wrong in other.items():
            if wrong:
                raise InputError(f"expected {expected} for claim integer-sums, but {unit.name} has others")
    for _, target in RoundingPlan(unit).steps:
        most = target.precision
        if target.e_min > -1 or most > target.e_max or (bits is not None and most > bits):
            cut = "" if bits is None else f" and cuts below {bits} fraction bits"
            raise InputError(
                f"expected sums that keep every integer of {most} bits for claim integer-sums, "
                f"but {unit.name} rounds to {target.mode}-E{target.exponent_bits}M{target.fraction_bits}{cut}"
            )


def _significand(g: Graph, factors: Sequence[Encoded]) -> Node:
    """The exact product of the significands, factors that are always 1 left out."""
    size = factors[0].significand
    for x in factors[1:]:
        if x.significand.op != "const":
            size = x.significand if size.op == "const" else g.mul_expand(size, x.significand)
    return size
