"""Rounding: one rounding decision for all dropped bits, and the conversion of a sum."""

from __future__ import annotations

from dataclasses import replace

from tcformal.design.rounding import NEAREST, Conversion, random_word
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.choice import Choice, by_choice, chosen, mode_of
from tcformal.semantics.normalise import shift_left_by_leading_zeros
from tcformal.semantics.number import Exponent, Number, Term, bits_for
from tcformal.semantics.stages import Lift, Rounded


def round_away(
    g: Graph,
    mode: str | Choice,
    sign: Node,
    odd: Node,
    guard: Node,
    sticky: Node,
    dropped: Node | None = None,
) -> Node:
    """The rounding decision: whether a truncated magnitude is incremented by one ulp.

    Shapes: all u[1]; `odd` is the lowest kept bit, `guard` the highest dropped one, `sticky` the or
    of the dropped bits below it; `dropped`: all of them, which stochastic rounding alone takes, u[n] with n
    at least the number of random bits.
    Rounding to odd adds one to an inexact even magnitude, which never carries.
    Source: IEEE 754 §4.3; Arm ARM, BFDOT (RO).
    """
    if isinstance(mode, Choice):
        return by_choice(g, mode, lambda known: round_away(g, known, sign, odd, guard, sticky))
    if (random := random_word(mode)) is not None:
        return _random_carry(g, mode, random, dropped)
    if mode == "RZ":
        return g.truth(False)
    if mode == "RNE":
        return g.and_(guard, g.or_(sticky, odd))
    if mode == "RNA":
        return guard
    if mode == "RNU":
        return g.and_(guard, g.or_(sticky, g.not_(sign)))
    lost = g.or_(guard, sticky)
    if mode == "RO":
        return g.and_(lost, g.not_(odd))
    return g.and_(lost, sign if mode == "RD" else g.not_(sign))


def _dropped(g: Graph, mode: str | Choice, x: Node, amount: int) -> Node | None:
    """The `amount` low bits of x where the mode adds a random word; other circuits have no such node."""
    if isinstance(mode, Choice) or random_word(mode) is None:
        return None
    return g.extract(x, amount - 1, 0)


def _random_carry(g: Graph, mode: str, random: tuple[int, int | None], dropped: Node | None) -> Node:
    """The carry of a random word that is added to as many of the highest dropped bits."""
    bits, word = random
    if word is None or dropped is None:
        raise InputError(f"expected a word that is added, as in SR{bits}+0, by a conversion, but got {mode}")
    highest = g.extract(dropped, dropped.width - 1, dropped.width - bits)
    return g.top(g.add_expand(highest, g.const(word, bits)))


def drop_low_bits(g: Graph, x: Node, amount: int) -> tuple[Node, Node, Node]:
    """Drop `amount` low bits of x: (kept, guard, sticky).

    Shapes: x u[n] -> kept u[n - amount], guard u[1], sticky u[1]; 1 <= amount < n.
    """
    kept = g.extract(x, x.width - 1, amount)
    guard = g.bit(x, amount - 1)
    sticky = g.any_bit(g.extract(x, amount - 2, 0)) if amount > 1 else g.truth(False)
    return kept, guard, sticky


def round_low_bits(g: Graph, x: Node, amount: int, mode: str | Choice, sign: Node) -> Node:
    """A magnitude without its `amount` low bits, rounded: u[n] -> u[n - amount + 1], or as it is for 0."""
    if amount == 0:
        return x
    x = g.zero_extend_to(x, max(x.width, amount + 1))
    kept, guard, sticky = drop_low_bits(g, x, amount)
    return g.add_expand(kept, round_away(g, mode, sign, g.bit(kept, 0), guard, sticky))


def shift_right_sticky(g: Graph, x: Node, amount: Node) -> tuple[Node, Node]:
    """The shift x >> amount, with a sticky bit for lost ones: (u[n], u[1]); the amount may exceed n."""
    shifted = g.lshr(x, amount)
    back = g.shl_mod(shifted, amount)
    return shifted, g.not_(g.eq(back, x))


def clamp(g: Graph, x: Node, largest: int) -> Node:
    """The minimum of x and `largest`, in the fewest bits."""
    width = bits_for(largest)
    if x.width <= width and (1 << x.width) - 1 <= largest:
        return x
    top = g.const(largest, max(width, x.width))
    return g.extract(g.umin(g.zero_extend_to(x, top.width), top), width - 1, 0)


def convert(
    g: Graph,
    sign: Node,
    magnitude: Node,
    lsb: Exponent,
    target: Conversion,
    *,
    overflow: str | Choice,
    subnormals: str | Choice = "kept",
) -> Rounded:
    """Convert an exact magnitude to a floating-point or fixed-point number [XIE ρ].

    Shapes: magnitude u[n] of lowest weight 2^lsb -> significand u[target.precision].
    Ranges and units: exponent in [e_min, e_max]; subnormal results have exponent e_min.
    Zero, NaN, Inf: zero keeps `sign` (the caller decides its sign); overflow gives Inf, or the largest finite
    number: under `largest`, and under `ieee` where the mode rounds toward zero from there; subnormals
    `tiny_zero` makes zeros of what would be one with an exponent without end, other rules nothing.
    Source: XIE Table 2; IEEE 754 §4.3, §7.4; HAWKEYE §7.1 (overflow to Inf under RZ).
    """
    if target.integer:
        return _to_integer(g, sign, magnitude, lsb, target)
    if target.integer_bits is not None:
        return _to_fixed(g, sign, magnitude, lsb, target)
    return _to_floating(g, sign, magnitude, lsb, target, overflow, subnormals)


def _to_integer(g: Graph, sign: Node, magnitude: Node, lsb: Exponent, target: Conversion) -> Rounded:
    """Convert an integer to an integer format: modulo its range, or to its nearest number.

    Shapes: as `convert`; lsb is constant, and its weight a whole number of units.
    Zero, NaN, Inf: a zero has no sign, and there is nothing else.
    """
    bits = target.fraction_bits
    width = max(magnitude.width + lsb.low, bits + 1)
    whole = g.shift_left_const(g.zero_extend_to(magnitude, width - lsb.low), lsb.low)
    if target.saturates:
        most = g.const((1 << bits) - 1, width)
        least = g.const(1 << bits if target.signed else 0, width)
        made = g.umin(whole, g.ite(sign, least, most))
    else:
        made = g.extract(g.ite(sign, g.neg_mod(whole), whole), bits - (not target.signed), 0)
        sign = g.top(made) if target.signed else g.truth(False)
        made = g.zero_extend_to(g.ite(sign, g.neg_mod(made), made), bits + 1)
    made = g.extract(made, bits, 0)
    zero, no = g.is_zero(made), g.const(0, 1)
    exponent = Exponent(no, target.e_min, target.e_min)
    number = Number(Term(g.and_(sign, g.not_(zero)), made, exponent, bits, zero), g.truth(False), no)
    for name, node in (("sign", sign), ("significand", made), ("overflow", no)):
        g.label(f"rounded.{name}", node)
    return Rounded(
        target, magnitude, no, made, no, number, magnitude, lsb.shifted(magnitude.width - 1), no, no, None
    )


def _to_fixed(g: Graph, sign: Node, magnitude: Node, lsb: Exponent, target: Conversion) -> Rounded:
    """Convert an exact magnitude to a fixed-point number, with a constant exponent.

    Shapes: as `convert`.
    Zero, NaN, Inf: a number outside the target's range is an Inf, or it is taken modulo that range.
    Source: Hexagon HMX, hmx_fp16_mac and hmx_fp16_cvt.
    """
    wide = target
    if target.wraps:
        above = max(0, lsb.high + magnitude.width - target.e_max)
        whole = (target.integer_bits or 0) + above
        wide = replace(target, integer_bits=whole, fraction_bits=target.fraction_bits + above, wraps=False)
    made = _to_floating(g, sign, magnitude, lsb, wide, "infinity", "kept")
    term = made.result.term
    if target.wraps:
        low = g.extract(term.significand, target.precision - 1, 0)
        low = g.ite(sign, g.neg_mod(low), low)
        negative = g.top(low)
        low = g.ite(negative, g.neg_mod(low), low)
        exponent = Exponent(g.const(0, 1), target.e_min, target.e_max)
        number = Number(
            Term(negative, low, exponent, target.fraction_bits, g.is_zero(low)),
            g.truth(False),
            g.truth(False),
        )
        return replace(made, result=number)
    rest = g.extract(term.significand, target.precision - 2, 0)
    least = g.and_(sign, g.is_zero(rest))
    outside = g.or_(made.result.inf, g.and_(g.top(term.significand), g.not_(least)))
    kept = g.and_(sign, g.or_(outside, g.not_(term.zero)))
    return replace(made, result=Number(replace(term, sign=kept), g.truth(False), outside))


def _to_floating(
    g: Graph,
    sign: Node,
    magnitude: Node,
    lsb: Exponent,
    target: Conversion,
    overflow: str | Choice,
    subnormals: str | Choice,
) -> Rounded:
    """Convert an exact magnitude to a range of exponents; a fixed-point target has a range of one."""
    p = target.precision
    if magnitude.width < target.read_bits + 3:
        pad = target.read_bits + 3 - magnitude.width
        magnitude, lsb = g.shift_left_const(magnitude, pad), lsb.shifted(-pad)
    n = magnitude.width
    top = lsb.shifted(n - 1)
    lift: Lift | None = None
    if top.low < target.e_min:
        magnitude, top, lift = lift_to_minimum(g, magnitude, top, target.e_min)

    # From here the top bit weighs 2^top with top >= e_min: one limited left shift normalises.
    base = min(top.low, target.e_min)
    code = top.rebased(g, base, top.high)
    limit = g.sub_mod(code, g.const(target.e_min - base, code.width))
    shifted, distance = shift_left_by_leading_zeros(g, magnitude, limit)
    g.invariant(lambda: top.bounded(g), f"a sum's top exponent lies in [{top.low}, {top.high}]")
    g.invariant(
        lambda: g.or_(g.top(shifted), g.is_zero(magnitude), _equal(g, distance, limit)),
        "a magnitude that is not zero is normalised, or shifted by its limit",
    )
    height = g.sub_mod(limit, _fit(g, distance, limit.width))

    kept, guard, sticky = drop_low_bits(g, shifted, n - p)
    dropped = _dropped(g, mode_of(target), shifted, n - p)
    away = round_away(g, mode_of(target), sign, g.bit(kept, 0), guard, sticky, dropped)
    g.label("normalised", shifted)
    g.label("shift", distance)
    g.label("kept", kept, scale=p - 1)
    g.label("away", away)
    grown = g.add_mod(g.zero_extend_to(kept, p + 1), g.zero_extend_to(away, p + 1))
    carried = g.top(grown)
    significand = g.ite(carried, g.const(1 << (p - 1), p), g.extract(grown, p - 1, 0))
    flushed = chosen(g, subnormals, "tiny_zero")
    if flushed is not g.truth(False):
        tiny = g.and_(flushed, _tiny(g, target, sign, shifted, kept, guard))
        significand = g.ite(tiny, g.const(0, p), significand)
    zero = g.is_zero(significand)
    g.invariant(
        lambda: g.or_(g.not_(carried), g.is_zero(g.extract(grown, p - 1, 0))),
        "a significand that carries out has no bits left",
    )

    span = target.e_max - target.e_min
    wide = max(bits_for(span + 1), height.width) + 1
    raised = g.add_mod(g.zero_extend_to(height, wide), g.zero_extend_to(carried, wide))
    above = g.and_(g.not_(zero), g.ult(g.const(span, wide), raised))
    code_out = g.extract(g.ite(zero, g.const(0, wide), raised), bits_for(span) - 1, 0)
    inf = above
    finite = _kept_finite(g, sign, overflow, mode_of(target))
    if finite is not None:
        clipped = g.and_(above, finite)
        inf = g.and_(above, g.not_(finite))
        significand = g.ite(clipped, g.const((1 << p) - 1, p), significand)
        code_out = g.ite(clipped, g.const(span, code_out.width), code_out)
    exponent = Exponent(code_out, target.e_min, target.e_max)
    g.invariant(
        lambda: g.or_(inf, g.top(significand), g.is_zero(code_out)),
        "a rounded significand has its leading bit except at the least exponent",
    )
    g.invariant(
        lambda: g.or_(inf, exponent.bounded(g)),
        f"a rounded exponent lies in [{target.e_min}, {target.e_max}] unless it overflows",
    )
    number = Number(Term(sign, significand, exponent, p - 1, zero), g.truth(False), inf)
    g.label("rounded.sign", sign)
    g.label("rounded.significand", significand, scale=p - 1)
    g.label("rounded.exponent", code_out, offset=target.e_min)
    g.label("rounded.overflow", inf)
    return Rounded(target, shifted, distance, kept, away, number, magnitude, top, limit, height, lift)


def _tiny(g: Graph, target: Conversion, sign: Node, shifted: Node, kept: Node, guard: Node) -> Node:
    """Tininess after rounding: whether the number, rounded with unbounded exponent, is below the least normal
    one.

    Below it, one bit more is kept than as a subnormal; only all ones can then round up to it.
    Source: IEEE 754 §7.5.
    """
    p = target.precision
    _, next_one, rest = drop_low_bits(g, shifted, shifted.width - p - 1)
    dropped = _dropped(g, mode_of(target), shifted, shifted.width - p - 1)
    up = round_away(g, mode_of(target), sign, guard, next_one, rest, dropped)
    ones = g.and_(guard, g.is_zero(g.not_(g.extract(kept, p - 2, 0))))
    return g.and_(g.not_(g.top(kept)), g.not_(g.and_(ones, up)))


def _kept_finite(g: Graph, sign: Node, overflow: str | Choice, mode: str | Choice) -> Node | None:
    """Whether overflow rounds to the largest number [IEEE 754 §7.4]; None where it never does."""
    if isinstance(overflow, str):
        if overflow == "largest":
            return g.truth(True)
        if overflow == "infinity" or (isinstance(mode, str) and mode in NEAREST):
            return None
    yes, down = g.truth(True), g.not_(sign)
    finite = {"RZ": yes, "RO": yes, "RD": down, "RU": sign}
    keeps = by_choice(g, mode, lambda known: finite.get(known, g.truth(False)))
    if isinstance(overflow, str):
        return keeps
    return g.or_(chosen(g, overflow, "largest"), g.and_(chosen(g, overflow, "ieee"), keeps))


def _equal(g: Graph, x: Node, y: Node) -> Node:
    """The node that is 1 where two unsigned numbers of any widths are equal."""
    width = max(x.width, y.width)
    return g.eq(g.zero_extend_to(x, width), g.zero_extend_to(y, width))


def _fit(g: Graph, x: Node, width: int) -> Node:
    """A number in `width` bits; the bits cut off are known to be zero (a distance never exceeds its
    limit)."""
    if width >= x.width:
        return g.zero_extend_to(x, width)
    cut = "what is cut off a distance is zero, because none exceeds its limit"
    g.invariant(lambda: g.is_zero(g.extract(x, x.width - 1, width)), cut)
    return g.extract(x, width - 1, 0)


def lift_to_minimum(g: Graph, magnitude: Node, top: Exponent, e_min: int) -> tuple[Node, Exponent, Lift]:
    """Denormalisation: shift right, with a sticky lowest bit, until the top bit weighs at least 2^e_min."""
    base = min(top.low, e_min)
    code = top.rebased(g, base, top.high)
    floor = g.const(e_min - base, max(code.width, bits_for(e_min - base)))
    code = g.zero_extend_to(code, floor.width)
    below = g.ult(code, floor)
    distance = g.ite(below, g.sub_mod(floor, code), g.const(0, code.width))
    amount = clamp(g, distance, magnitude.width)
    shifted, lost = shift_right_sticky(g, magnitude, amount)
    jammed = g.or_(shifted, g.zero_extend_to(lost, shifted.width))
    high = max(top.high, e_min)
    lifted = g.sub_mod(g.umax(code, floor), floor)
    width = bits_for(high - e_min)
    if width < lifted.width:
        above = "what is cut off an exponent above the least one is zero"
        g.invariant(lambda: g.is_zero(g.extract(lifted, lifted.width - 1, width)), above)
    raised = Exponent(g.extract(lifted, width - 1, 0), e_min, high)
    return jammed, raised, Lift(below, distance, amount, shifted, lost)
