"""How much of a bound inputs can lose at most, counted: products of few bits lose less than a whole unit."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import lru_cache
from math import floor, log2
from pathlib import Path

import numpy as np

from attack.built import every_product
from attack.statements import ErrorStatement
from tcformal.design.rounding import NEAREST
from tcformal.design.unit import UnitSpec
from tcformal.formats.spec import Format

#: What inputs were found to lose at most of bounds that count more than inputs can lose, where no ceiling is
#: counted here: chains whose every step is counted at the largest exponent, and factors cut into pieces.
_ATTAINED: dict[str, float] = json.loads(Path(__file__).with_name("attained.json").read_text())
#: Formats so wide at most are counted; products of wider ones lose nearly a unit.
_NARROW = 8


def attainable(claim: str, spec: UnitSpec, s: ErrorStatement) -> float:
    """The share of its bound that inputs of a theorem can lose, or that they were found to lose."""
    return min(ceiling(spec, s), _ATTAINED.get(f"{claim} of {spec.name}", 1.0))


def known_loose() -> int:
    """Theorems of which inputs lose at least 1 % less than is counted that they can."""
    return len(_ATTAINED)


def ceiling(spec: UnitSpec, s: ErrorStatement) -> float:
    """A share of the bound that no input exceeds; 1 where nothing better is counted.

    Of one block whose terms are cut once, toward zero, and converted once.
    """
    design, blocks = spec.design, spec.scale_block or spec.k
    cut_ = (
        design.summation == "fused" and spec.emulation is None and design.alignment_rounding == "RZ"
        and design.fraction_bits is not None and design.c_position == "joined" and design.rho == design.step
        and design.group is None and design.piece_bits is None and design.lost_bits == "cut"
        and blocks == spec.k
    )  # fmt: skip
    if not cut_ or s.against != s.along:
        return 1.0
    if spec.k == 2 * design.products and not s.normal:
        return _two_blocks(spec, s)
    if spec.k > design.products or max(spec.a_format.width, spec.b_format.width) > _NARROW:
        return 1.0
    if s.normal:
        return _exact_but_at_the_end(spec, s) if s.zero_c and spec.scale_format is None else 1.0
    units = {key: q for key, q in s.against.parts.items() if q}
    cut = [(shift, q) for (atom, shift), q in units.items() if atom == "E"]
    if set(units) - {("E", cut[0][0])} != {("ulp", 0)} or -cut[0][0] != design.fraction_bits:
        return 1.0
    return max(_shares(spec, s, float(cut[0][1])))


def _shares(spec: UnitSpec, s: ErrorStatement, whole: float) -> list[float]:
    """What is lost of so many units and an ulp of d, for every number of terms that lose.

    Ranges and units: one unit is 2^(E - F); `ulp`: that of d in units, a power of two.
    """
    a, b, c, bits = spec.a_format, spec.b_format, spec.c_format, int(spec.design.fraction_bits or 0)
    nearest = spec.design.rho.mode in NEAREST
    part = _largest_part(a, b, None)
    # Of products beside a large one; c may be larger than all of them.
    beside = _largest_part(a, b, a.e_max + b.e_max - bits)
    most = float(_largest_significand(a) * _largest_significand(b))
    fine = a.fraction_bits + b.fraction_bits
    made = []
    for lossy in range(spec.k + 1):
        others = spec.k - lossy
        for of_c in (False, True):
            c_beside = bits < c.fraction_bits  # c has the largest exponent, and loses
            if of_c and not others and not c_beside:
                continue
            lost = lossy * (beside if of_c and not c_beside else part) + of_c
            sum_ = others * most + lossy * min(most, 2.0 ** (fine + 1 - bits))
            sum_ += 0.0 if of_c and not c_beside else 2.0
            # Below 2^E are results of several large terms that cancel, or of one with a subnormal factor.
            high = floor(log2(sum_)) - s.places + bits
            low = bits - s.places
            tiny, less = (0, 0.0) if spec.design.normalise_operands else _subnormal(a, b, bits)
            if others + (not of_c or c_beside) >= 2:
                low = -64
            for log in range(low, high + 1):
                made.append(_share(whole, lost, 2.0**log, nearest))
                step = 2.0 ** (bits - c.fraction_bits)
                if not others and not of_c and 1 < step <= min(2.0**log, 64) and not nearest:
                    made[-1] = _beside_c(a, b, spec.k, int(step), whole, 2.0**log)
            if others == 1 and less > 0 and low > -64:
                for log in range(low - tiny - 1, low):
                    made.append(_share(whole, lossy * less + of_c, 2.0**log, nearest))
            # What is lost takes c, or the one large term, below 2^E: the conversion goes the other way.
            # (and c, where it is that term, another way than the products).
            against = lost - (of_c and c_beside)
            made.append(against / (whole + 2.0 ** (low - 1) * (0.5 if nearest else 1)))
    return made


def _share(whole: float, lost: float, ulp: float, nearest: bool) -> float:
    if nearest:
        return (lost + (ulp / 2 if ulp >= 2 else 0)) / (whole + ulp / 2)
    return (lost + max(ulp - 1, 0)) / (whole + ulp)


def _two_blocks(spec: UnitSpec, s: ErrorStatement) -> float:
    """The same of two blocks: how large the first sum can have grown, and what is not lost for that.

    Ranges and units: units of 2^(E - F); `grown`: the exponent of the first sum above E.
    """
    a, b, c, bits = spec.a_format, spec.b_format, spec.c_format, int(spec.design.fraction_bits or 0)
    nearest, size = spec.design.rho.mode in NEAREST, spec.design.products
    part = _largest_part(a, b, None) if max(a.width, b.width) <= _NARROW else 1.0
    most = float(_largest_significand(a) * _largest_significand(b))
    whole = sum(
        float(q) * 2.0 ** (shift + bits) for (atom, shift), q in s.against.parts.items() if atom == "E"
    )
    fine = a.fraction_bits + b.fraction_bits + 1 - bits

    def converted(ulp: float, unit: float) -> float:
        return (ulp / 2 if ulp > unit else 0.0) if nearest else max(ulp - unit, 0.0)

    made = 0.0
    for first in range(size + 1):
        sum_ = (size - first) * most + first * min(most, 2.0**fine) + 2
        for grown in range(-bits, floor(log2(sum_)) + 1):
            unit = 2.0 ** max(grown, 0)
            lost = first * part + (first < size or bits < c.fraction_bits)
            lost += converted(2.0 ** (grown + bits - s.places), 1)
            for second in range(size + 1):
                more = (size - second) * most + second * min(most, unit * 2.0**fine)
                then = lost + (second * part + (second < size)) * unit
                reach = 2.0 ** (grown + 1)
                high = floor(log2(min(sum_, reach) + more))
                # Terms that lose nothing take the first sum away: those that lose as it does add to it.
                low = grown if second == size else -bits
                if reach / 2 > more:
                    low = max(low, floor(log2(reach / 2 - more)))
                for log in range(low, high + 1):
                    ulp = 2.0 ** (log + bits - s.places)
                    made = max(made, (then + converted(ulp, unit)) / (whole + (ulp / 2 if nearest else ulp)))
                made = max(made, second * part * unit / whole)
    return min(made, 1.0)


@lru_cache(maxsize=1024)
def _beside_c(a: Format, b: Format, count: int, step: int, whole: float, ulp: float) -> float:
    """The same where c, a multiple of some units, is the one large term: the others bring what d loses of it.

    What products keep is a rest of units modulo `step`; the more that is, the less they lose.
    """
    parts = dict[int, float]()
    sizes = np.unique(every_product(a, b, False).size)
    for q in range(floor(log2(sizes.min())), floor(log2(sizes.max())) + 2):
        units = np.ldexp(sizes, -q)
        kept = np.floor(units)
        for rest in range(step):
            some = (units - kept)[kept % step == rest]
            parts[rest] = max(parts.get(rest, 0.0), float(some.max(initial=0.0)))
    best = {0: 0.0}
    for _ in range(count):
        found = dict[int, float]()
        for total, lost in best.items():
            for rest, part in parts.items():
                at = (total + rest) % step
                found[at] = max(found.get(at, 0.0), lost + part)
        best = found
    return max((lost + max(ulp - step + rest, 0) * (ulp > 1)) / (whole + ulp) for rest, lost in best.items())


@lru_cache(maxsize=256)
def _largest_part(a: Format, b: Format, most: int | None) -> float:
    """What a product exceeds a multiple of some 2^q by, at most, in units of 2^q; of q up to `most`."""
    sizes = np.unique(every_product(a, b, False).size)
    low, high = floor(log2(sizes.min())), floor(log2(sizes.max()))
    parts = [0.0]
    for q in range(low, high + 2 if most is None else min(most, high + 1) + 1):
        units = np.ldexp(sizes, -q)
        parts.append(float((units - np.floor(units)).max()))
    return max(parts)


def _subnormal(a: Format, b: Format, bits: int) -> tuple[int, float]:
    """By how many binades a product is smaller than its exponent, and what others then lose at most."""
    found = [(0, 0.0)]
    for f, g in ((a, b), (b, a)):
        if f.subnormals and f.has_zero:
            found.append((f.fraction_bits, _largest_part(a, b, f.e_min + g.e_max - bits)))
    some = [x for x in found if x[1] > 0]
    return (max(x[0] for x in some), max(x[1] for x in some)) if some else (0, 0.0)


def _largest_significand(f: Format) -> Fraction:
    return 2 - Fraction(1, 1 << f.fraction_bits)


def _exact_but_at_the_end(spec: UnitSpec, s: ErrorStatement) -> float:
    """Products that are all multiples of 2^q, and sums that alignment leaves exact: what the end loses."""
    a, b, design = spec.a_format, spec.b_format, spec.design
    sizes = every_product(a, b, True).size
    q = a.e_min - a.fraction_bits + b.e_min - b.fraction_bits
    weight = max(s.against.weights[:2])
    if a.e_max + b.e_max - int(design.fraction_bits or 0) > q or not weight:
        return 1.0
    top = floor(log2(float(sizes.max()) * spec.k))
    ulp = top - design.rho.fraction_bits
    if ulp <= q:
        return 0.0
    lost = Fraction(2) ** (ulp - 1) if design.rho.mode in NEAREST else Fraction(2) ** ulp - Fraction(2) ** q
    return min(1.0, float(lost / (Fraction(2) ** top * weight)))
