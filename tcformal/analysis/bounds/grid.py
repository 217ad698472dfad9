"""Sums of multiples of one power of two: sharper error bounds, and inputs that attain them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product

from tcformal.analysis.bounds.attained import Attained, Construction, FactorWords
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.oracle.values import decode, encoded, exponent_of
from tcformal.theory.constants import near, plain_scales
from tcformal.theory.design import block_size

#: Exponents of scales that are tried: products of them overflow nothing and underflow nothing.
_SCALES = 24
#: Least products below which all that can be left is looked through.
_FEW = 32


def bounded_on_grid(unit: UnitSpec, length: int, bound: Fraction) -> tuple[Fraction, str] | None:
    """A sharper bound than the given one for c = 0, and its derivation; None where none follows.

    Ranges and units: bounds in units of Σ|x_k·y_k|.  Products of formats of few exponents, with one scale,
    are multiples of one power of two, and so is what sums of them are cut or rounded to: an error below it
    is 0, and one below an ulp that is a multiple of it is at least that much below.
    """
    a, b, d = unit.a_format, unit.b_format, unit.d_format
    if unit.emulation is not None or unit.design.summation != "fused" or unit.design.group is not None:
        return None
    if unit.scale_format is not None and not (_one_scale(unit) and length <= block_size(unit)):
        return None
    grid = sum(f.e_min - f.fraction_bits for f in (a, b))
    most = length * decode(a, a.largest).magnitude * decode(b, b.largest).magnitude
    if unit.scale_format is None and grid < d.e_min - d.fraction_bits:
        return None
    what = f"products are multiples of 2^{grid}, and results too, and Σ|x_k·y_k| is at most {most}"
    what += "" if unit.scale_format is None else ", each times one scale"
    if bound * most < Fraction(2) ** grid:
        return Fraction(0), (
            f"{what}: an error of at most {float(bound):.4g} of that is less than 2^{grid}, and so 0"
        )
    if not _cut_once(unit, length):
        return None
    top, p = exponent_of(most), unit.design.rho.fraction_bits
    lost = Fraction(1, 1 << p) - Fraction(2) ** (grid - top)
    sharper = lost / (1 + lost)
    if not 0 < sharper < bound:
        return None
    return sharper, (
        f"{what}: none is cut before they are added, and the sum is cut to a result of at least 2^e and an "
        f"ulp of 2^(e-{p}), e <= {top}: it loses at most that less 2^{grid} of 2^e and what it loses"
    )


def _one_scale(unit: UnitSpec) -> bool:
    """Whether all products of one block share one power-of-two scale."""
    return plain_scales(unit) and (unit.scale_block or 0) >= block_size(unit)


def _cut_once(unit: UnitSpec, length: int) -> bool:
    """Whether a dot product of this length is one exact sum with one truncation."""
    design = unit.design
    joined = design.one_sum and unit.emulation is None and design.group is None and design.step == design.rho
    if not joined or design.rho.mode != "RZ" or length > block_size(unit):
        return False
    return near(unit)


def filled(build: Construction, length: int) -> Attained | None:
    """One call whose sum lies one grid unit below the next result: its truncation error is maximal.

    None where other sums lose more, or where the products do not make it.
    """
    unit, design = build.unit, build.unit.design
    if length > block_size(unit) or design.rho.mode != "RZ" or unit.emulation is not None:
        return None
    groups = design.group is not None and unit.scale_block == design.group
    if not groups and not _cut_once(unit, length):
        return None
    grid = Fraction(2) ** sum(f.e_min - f.fraction_bits for f in (build.a, build.b))
    whole = {int(value / grid): pair for value, pair in _coins(build.a, build.b).items()}
    if groups:
        return _groups(build, length, whole, grid)
    p = design.rho.fraction_bits
    for e in range((length * max(whole)).bit_length() - 1, p, -1):
        pairs, rest = _fill(whole, (1 << e) + (1 << e - p) - 1, length)
        if not rest:
            return build.replayed(build.call(pairs, 0))
    return None


def _groups(
    build: Construction, length: int, coins: Mapping[int, FactorWords], grid: Fraction
) -> Attained | None:
    """A call with a power of two in the first group, and just less than an ulp in groups of smaller
    scales."""
    unit, size = build.unit, build.unit.design.group
    assert size is not None
    assert unit.scale_format is not None
    scales = _scales(unit.scale_format)
    top, count = max(scales), -(-length // size)
    most = min(size, length) * max(coins)
    powers = range(most.bit_length() - 1, -1, -1)
    first = next((e for e in powers if not _fill(coins, 1 << e, size)[1]), None)
    if first is None:
        return None
    pairs, chosen = [_fill(coins, 1 << first, size)[0]], [top]
    room = grid * Fraction(2) ** (top + first - unit.design.rho.fraction_bits)
    for _ in range(1, count):
        made = []
        for s in scales:
            unit_of = grid * Fraction(2) ** s
            budget = -(-room // unit_of) - 1
            some, rest = _fill(coins, budget, size)
            made.append(((budget - rest) * unit_of, s, some))
        value, s, some = max(made, key=lambda x: x[:2])
        room, pairs, chosen = room - value, [*pairs, some], [*chosen, s]
    rows = [x for some in pairs for x in [*some, *[(0, 0)] * (size - len(some))]][:length]
    words = [scales[s] for s in chosen] + [scales[0]] * (unit.k // size - count)
    return build.replayed(build.call(rows, 0, [x for x, _ in words], [y for _, y in words]))


def _fill(coins: Mapping[int, FactorWords], total: int, count: int) -> tuple[list[FactorWords], int]:
    """Products whose sum comes nearest to a total from below, and the remainder.

    The largest first; of what is left below a few of the least ones, as much as any products make.
    """
    made: list[FactorWords] = []
    few = _FEW * min(coins)
    for value in sorted(coins, reverse=True):
        times = min(max(total - few, 0) // value, count - len(made))
        made += [coins[value]] * times
        total -= times * value
    # The fewest products of each total, by the last of them.
    last: dict[int, int] = {0: 0}
    reached = [0]
    for _ in range(count - len(made)):
        sums = {x + v: v for x in reached for v in coins if x + v <= total}
        reached = [x for x in sums if x not in last]
        last |= {x: sums[x] for x in reached}
    best = max(last)
    rest = total - best
    while best:
        made.append(coins[last[best]])
        best -= last[best]
    return made, rest


def _coins(a: Format, b: Format) -> dict[Fraction, FactorWords]:
    """Encodings for each value that a product of two positive normal numbers can have."""
    numbers = []
    for fmt in (a, b):
        sizes = product(
            range(fmt.e_min, fmt.e_max + 1), range(1 << fmt.fraction_bits, 2 << fmt.fraction_bits)
        )
        values = [x * Fraction(2) ** (e - fmt.fraction_bits) for e, x in sizes]
        numbers.append([(x, word) for x in values if (word := encoded(fmt, x)) is not None])
    return {x * y: (v, w) for (x, v), (y, w) in product(*numbers)}


def _scales(fmt: Format) -> dict[int, tuple[int, int]]:
    """Two power-of-two scales for each exponent of their product."""
    by_exponent = {}
    for q in range(-_SCALES, _SCALES + 1):
        low, high = q // 2, q - q // 2
        first, second = encoded(fmt, Fraction(2) ** low), encoded(fmt, Fraction(2) ** high)
        if first is not None and second is not None and low >= fmt.e_min:
            by_exponent[q] = first, second
    return by_exponent
