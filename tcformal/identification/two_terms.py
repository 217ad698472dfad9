"""What few terms show that no design gives: rounding by place or sign, lost carries, precision of posits.

Also which operands meet, where each of a meets another of b.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.identification.asker import Asker
from tcformal.identification.masks import numbers_of
from tcformal.identification.operand_questions import first_products
from tcformal.identification.repeat import product_factors
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.rounded import align
from tcformal.oracle.values import encoded
from tcformal.simulation.operands.batch import Batch

_SEED = 23


def is_normal(spec: UnitSpec, x: int, y: int) -> bool:
    """Whether two factors are normal numbers."""
    return all(
        number is not None and abs(number) >= power_of_two(fmt.e_min)
        for fmt, word in ((spec.a_format, x), (spec.b_format, y))
        for number in numbers_of(fmt, [word])
    )


# ------------------------------------------------------------------ rounding
#: Exponents of sums of c and a small product, parts of an ulp of that, and places of k that are asked.
_BASES, _PARTS, _PLACES = (10, 4, 0, -4), (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)), 32


def _in_mode(mode: str) -> Callable[[Fraction], Fraction]:
    return lambda x: align(x, 0, mode)


def _halves(mode: str) -> Callable[[Fraction], Fraction]:
    """To the nearest integer, halves as a mode has it."""
    return lambda x: align(x, 0, mode if (2 * x).denominator == 1 else "RNE")


#: What becomes of a number between two integers.
_MODES: dict[str, Callable[[Fraction], Fraction]] = {
    "to nearest": _in_mode("RNE"),
    "to nearest, halves away from zero": _in_mode("RNA"),
    "toward zero": _in_mode("RZ"),
    "down": _in_mode("RD"),
    "up": _in_mode("RU"),
    "to the odd neighbour": _in_mode("RO"),
    "to nearest, halves rounded up, toward +Inf": _halves("RU"),
    "to nearest, halves rounded down, toward -Inf": _halves("RD"),
    "to nearest, halves rounded toward zero": _halves("RZ"),
    "to nearest, halves rounded to the odd neighbour": _halves("RO"),
    "away from zero": lambda x: align(x, 0, "RD" if x < 0 else "RU"),
    "to the even neighbour, however near the other one is": lambda x: 2 * align(x / 2, 0, "RNE"),
}
#: Modes that are said, as hardly a design has them.
_OTHER_MODES = [*_MODES][6:]


def rounds_otherwise(asker: Asker) -> str:
    """Sums of c and a small product that are rounded by their sign, or otherwise than most designs do.

    A sum that is cut before it is rounded to nearest may do either.

    Errors: as `Asker.ask`.
    """
    shown = _modes_by_place(asker)
    if not shown:
        return ""
    positive, negative = (set.intersection(*(row[sign] for row in shown)) for sign in (1, -1))
    if not positive or not negative:
        return ""
    if both := positive & negative:
        mode = _first(both)
        return f"inexact sums go {mode}" if mode in _OTHER_MODES else ""
    return f"rounding by sign: positive sums go {_first(positive)}, negative ones {_first(negative)}"


def rounds_by_place(asker: Asker) -> str:
    """Sums of c and a small product that are rounded by the place of k; trees of two stages may do so.

    Errors: as `Asker.ask`.
    """
    shown = [row[1] & row[-1] for row in _modes_by_place(asker)]
    if not shown or not all(shown) or set.intersection(*shown):
        return ""
    places: dict[str, list[int]] = {}
    for i, modes in enumerate(shown):
        places.setdefault(_first(modes), []).append(i)
    where = (f"{mode} at k = {', '.join(map(str, ks))}" for mode, ks in places.items())
    return f"rounding by the place of k: {'; '.join(where)}"


def _modes_by_place(asker: Asker) -> list[dict[int, set[str]]]:
    """By place of k, and by sign, the modes that give sums of c and a small product; none where one has none.

    The sums lie beside powers of two and beside 1.5 times one: logarithms have but the first.
    """
    spec, d = asker.spec, asker.spec.d_format
    shown: list[dict[int, set[str]]] = [{} for _ in range(min(asker.k, _PLACES))]
    for base, size in itertools.product(_BASES, (Fraction(1), Fraction(3, 2))):
        first, ulp = size * power_of_two(base), power_of_two(base - d.fraction_bits)
        exact: list[Fraction] = []
        words: list[tuple[int, int, int]] = []
        for sign, odd, part in itertools.product((1, -1), (0, 1), _PARTS):
            c = encoded(spec.c_format, sign * (first + odd * ulp))
            factors = (xy for xy in product_factors(spec, sign * part * ulp) if is_normal(spec, *xy))
            if c is not None and (xy := next(factors, None)) is not None:
                exact.append(sign * (first / ulp + odd + part))
                words.append((*xy, c))
        if len(words) < 4 * len(_PARTS):
            continue
        rows = first_products(spec, asker.k, words)
        for i, modes in enumerate(shown):
            seen = numbers_of(d, asker.ask(Batch(np.roll(rows.a, i, 1), np.roll(rows.b, i, 1), rows.c)))
            units = [None if z is None else z / ulp for z in seen]
            for sign in (1, -1):
                pairs = [(x, z) for x, z in zip(exact, units, strict=True) if x * sign > 0]
                fit = {mode for mode, of in _MODES.items() if all(z == of(x) for x, z in pairs)}
                modes[sign] = modes.get(sign, fit) & fit
    return shown if all(row and row[1] and row[-1] for row in shown) else []


def _first(modes: set[str]) -> str:
    """The plainest of some modes."""
    return next(mode for mode in _MODES if mode in modes)


# ------------------------------------------------------------------ adders
#: Sums of two terms that are asked for the carries between them, and the fewest bits of a sum that show some.
_SUMS, _FEWEST_BITS = 32, 6


def adds_approximately(asker: Asker) -> str:
    """Sums of c and a product that D holds, and that come back as another number: an approximate adder.

    The terms come back alone, and lie no lower than what is kept beside a 1.
    Errors: as `Asker.ask`.
    """
    spec, d = asker.spec, asker.spec.d_format
    for lift in _LIFTS:
        bits = _kept_beside_one(asker, lift)
        if bits >= _FEWEST_BITS:
            break
    else:
        return ""
    unit = power_of_two(lift - bits)
    rng = np.random.default_rng(_SEED)
    most_u, most_v = spec.a_format.precision, spec.b_format.precision
    rows: list[tuple[int, int, int]] = []
    pairs: list[tuple[int, int]] = []
    for _ in range(_TRIES):
        of_u = int(rng.integers(1, min(most_u, bits - 1) + 1))
        of_v = int(rng.integers(1, max(1, min(most_v, bits - 1 - of_u)) + 1))
        u, v = (int(rng.integers(1 << n - 1, 1 << n)) | 1 for n in (of_u, of_v))
        x = (1 << bits) + int(rng.integers(0, 1 << bits - 1))
        c, factors = encoded(spec.c_format, x * unit), next(factors_of(spec, u, v, lift - bits), None)
        if c is None or factors is None or u * v >= 1 << bits - 1:
            continue
        rows.append((*factors, c))
        pairs.append((x, u * v))
        if len(rows) == _SUMS:
            break
    if len(rows) < _SUMS // 2:
        return ""
    asked = [*rows, *((0, 0, c) for _, _, c in rows), *((u, v, 0) for u, v, _ in rows)]
    n, seen = len(rows), numbers_of(d, asker.ask(first_products(spec, asker.k, asked)))
    sums = [
        (x, y, int(z / unit))
        for (x, y), z, alone, product in zip(pairs, seen, seen[n : 2 * n], seen[2 * n :], strict=False)
        if (alone, product) == (x * unit, y * unit) and z is not None and (z / unit).denominator == 1
    ]
    wrong = [(x, y, z) for x, y, z in sums if z != x + y]
    if len(sums) < _SUMS // 4 or not wrong:
        return ""
    x, y, z = min(wrong, key=lambda row: (row[1].bit_count() + row[0].bit_count(), row))
    shown = f"{x} + {y} gives {z}, each times 2^{lift - bits}"
    for low, (text, of) in itertools.product(range(1, bits + 1), _ADDERS.items()):
        if all(of(x, y, low) == z for x, y, z in sums):
            return f"approximate sums: {text.format(low=low, bits=bits)}; {shown}"
    return f"approximate sums: {len(wrong)} of {len(sums)} that need no rounding are wrong; {shown}"


#: Exponents of the 1 beside which small terms are asked, and pairs that are tried for sums of two.
_LIFTS, _TRIES = (0, 10), 400


def factors_of(spec: UnitSpec, u: int, v: int, e: int) -> Iterator[tuple[int, int]]:
    """Normal factors that are u and v times powers of two, whose product is u·v·2^e."""
    for i in range(e // 2 - 8, e // 2 + 9):
        x = encoded(spec.a_format, u * power_of_two(i))
        y = encoded(spec.b_format, v * power_of_two(e - i))
        if x is not None and y is not None and is_normal(spec, x, y):
            yield x, y


def _kept_beside_one(asker: Asker, lift: int) -> int:
    """The bits down to which a product, a power of two, is added to c = 2^lift without loss."""
    spec, d = asker.spec, asker.spec.d_format
    c = encoded(spec.c_format, power_of_two(lift))
    rows = {}
    for n in range(1, min(d.fraction_bits, spec.c_format.fraction_bits) + 1):
        factors = next(factors_of(spec, 1, 1, lift - n), None)
        if c is None or factors is None:
            break
        rows[n] = (*factors, c)
    if not rows:
        return 0
    seen = numbers_of(d, asker.ask(first_products(spec, asker.k, [*rows.values()])))
    kept = itertools.takewhile(
        lambda row: row[1] == power_of_two(lift) + power_of_two(lift - row[0]), zip(rows, seen, strict=True)
    )
    return max((n for n, _ in kept), default=0)


def _above(x: int, y: int, low: int) -> int:
    return (x >> low) + (y >> low) << low


#: Sums of positive integers whose low bits are added without carries.
_ADDERS: Mapping[str, Callable[[int, int, int], int]] = {
    "the low {low} of {bits} bits are or-ed": lambda x, y, low: (
        _above(x, y, low) | ((x | y) & (1 << low) - 1)
    ),
    "the low {low} of {bits} bits are added without carries (exclusive or)": lambda x, y, low: (
        _above(x, y, low) | ((x ^ y) & (1 << low) - 1)
    ),
    "no carry goes from the low {low} of {bits} bits to those above": lambda x, y, low: (
        _above(x, y, low) | (x + y & (1 << low) - 1)
    ),
    "the low {low} of {bits} bits are those of c": lambda x, y, low: _above(x, y, low) | (x & (1 << low) - 1),
    "the low {low} of {bits} bits are ones": lambda x, y, low: _above(x, y, low) | (1 << low) - 1,
}


# ------------------------------------------------------------------ products
#: Odd numbers that factors are made of, and equal products that are asked at most.
_ODD, _EQUAL = (1, 3, 5, 7, 9, 11, 13, 15), 96


def unequal_products(asker: Asker) -> str:
    """Equal products of other factors that alone give other results, as sums of rounded logarithms do.

    The exponents of the factors have the same sum.

    Errors: as `Asker.ask`.
    """
    spec = asker.spec
    most = 1 << min(spec.a_format.precision, spec.b_format.precision)
    rows: list[tuple[int, int, int, int]] = []
    for x, y, z, w in itertools.product(_ODD, repeat=4):
        u, v, r, t = x * y, z * w, x * z, y * w
        lengths = [n.bit_length() for n in (u, v, r, t)]
        # Designs may align products by the exponents of their factors, which are these lengths.
        if x < w and y < z and max(u, v, r, t) < most and sum(lengths[:2]) == sum(lengths[2:]):
            rows.append((u, v, r, t))
    rng = np.random.default_rng(_SEED)
    some = [rows[i] for i in rng.permutation(len(rows))[:_EQUAL]]
    shift = power_of_two(1 - min(spec.a_format.precision, spec.b_format.precision))
    words, told = list[tuple[int, int, int]](), list[tuple[int, int, int, int]]()
    for row in some:
        pairs = [
            (encoded(spec.a_format, u * shift), encoded(spec.b_format, v * shift))
            for u, v in (row[:2], row[2:])
        ]
        if all(x is not None and y is not None for x, y in pairs):
            words += [(x or 0, y or 0, 0) for x, y in pairs]
            told.append(row)
    seen = asker.ask(first_products(spec, asker.k, words)).tolist() if words else []
    other = [row for row, first, second in zip(told, seen[::2], seen[1::2], strict=True) if first != second]
    if not other:
        return ""
    u, v, r, t = min(other, key=sum)
    return (
        f"products that are no function of a·b, as of logarithms: {u}·{v} and {r}·{t} give other results, "
        f"and so do {len(other)} of {len(told)} pairs of equal products"
    )


# ------------------------------------------------------------------ precision
#: Exponents about 0 at which c is asked for its length, and lengths that have to differ.
_LADDER, _LENGTHS = 8, 3


def tapered(asker: Asker) -> str:
    """A c alone that keeps the fewer bits the farther it is from 1, up and down, as posits do.

    Errors: as `Asker.ask`.
    """
    spec, c, d = asker.spec, asker.spec.c_format, asker.spec.d_format
    low, high = max(c.e_min, d.e_min), min(c.e_max, d.e_max) - 1
    step = max(1, min(-low, high) // _LADDER)
    lengths = range(1, min(c.fraction_bits, d.fraction_bits) + 1)
    rows = {
        (e, n): word
        for e in range(-_LADDER * step, _LADDER * step + 1, step)
        if low <= e <= high
        for n in lengths
        if (word := encoded(c, power_of_two(e) + power_of_two(e - n))) is not None
    }
    seen = numbers_of(d, asker.ask(first_products(spec, asker.k, [(0, 0, word) for word in rows.values()])))
    kept: dict[int, int] = {}
    for (e, n), z in zip(rows, seen, strict=True):
        kept.setdefault(e, 0)
        if z == power_of_two(e) + power_of_two(e - n):
            kept[e] = max(kept[e], n)
    up, down = ([kept[e] for e in sorted(kept, key=abs) if e * sign >= 0] for sign in (1, -1))
    if any(len({*row}) < _LENGTHS or row != sorted(row, reverse=True) for row in (up, down)):
        return ""
    some = [0, *(e for e in kept if abs(e) in (max(kept), max(kept) // _LADDER * 4))]
    shown = ", ".join(f"{kept[e]} at 2^{e}" for e in sorted(some))
    return f"precision that falls away from 1, as posits have: of c alone are kept {shown} fraction bits"


# ------------------------------------------------------------------ operands that meet otherwise
def meets_otherwise(asker: Asker) -> str:
    """Products of operands of different places of k: which of a meets which of b, with the sign.

    Errors: as `Asker.ask`.
    """
    spec, k = asker.spec, asker.k
    if not 1 < k <= _PLACES:
        return ""
    places = [*itertools.product(range(k), repeat=2)]
    a, b = (np.zeros((k * k + 2 * k, k), np.uint64) for _ in "ab")
    for row, (i, j) in enumerate(places):
        a[row, i], b[row, j] = spec.a_format.one, spec.b_format.one
    for i in range(k):
        a[k * k + i, i], b[k * k + k + i, i] = spec.a_format.one, spec.b_format.one
    seen = numbers_of(spec.d_format, asker.ask(Batch(a, b, np.zeros(len(a), np.uint64))))
    if any(seen[k * k :]):
        return ""  # one operand alone counts: these are no products
    met = {ij: z for ij, z in zip(places, seen, strict=False) if z}
    if not met or None in seen or all(i == j for i, j in met):
        return ""
    whole = ", ".join(_meeting(i, [(j, z) for (n, j), z in met.items() if n == i]) for i in range(min(k, 4)))
    return f"operands that meet otherwise: {whole}{', …' * (k > 4)}"


def _meeting(i: int, row: list[tuple[int, Fraction]]) -> str:
    """What one operand of a meets."""
    if not row:
        return f"a[{i}] meets none"
    others = " and ".join(f"{'-' if z < 0 else ''}b[{j}]" for j, z in row)
    return f"a[{i}] meets {others}"
