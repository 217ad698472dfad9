"""What a device outside the space looks like: one sentence, from questions; apart, because it is a hint.

Nothing here makes a verdict, but what no design of the space does ends the search for one.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tcformal.design.axes import neighbours
from tcformal.design.rounding import MODES
from tcformal.design.unit import UnitSpec
from tcformal.devices.device import CallableDevice
from tcformal.encodings.spec import Format
from tcformal.identification.asker import Asker
from tcformal.identification.hypotheses import numbers_only
from tcformal.identification.masks import bits_of, numbers_of
from tcformal.identification.operand_questions import first_products, random_products
from tcformal.identification.products_alone import NARROWED, approximate, misread, plain
from tcformal.identification.repeat import dense_inputs, product_factors, products_witness
from tcformal.identification.two_terms import (
    adds_approximately,
    factors_of,
    is_normal,
    meets_otherwise,
    rounds_by_place,
    rounds_otherwise,
    tapered,
    unequal_products,
)
from tcformal.identification.validation import simplest_unfit
from tcformal.identification.ways import ways
from tcformal.identification.wrong_set import wrong_set
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.rounded import align
from tcformal.oracle.values import encoded, exponent_of, format_value
from tcformal.shown import short
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import (
    Batch,
    Raw,
    batch_of,
    one_operand,
    rows_of,
    together,
    with_scales,
    witness_at,
)
from tcformal.simulation.operands.inputs import pool_of
from tcformal.simulation.operands.witness import Witness

#: The share of answers that a way of summing gives which a device is said to look like.
_LIKE = 0.99
#: Dense and other inputs on which ways of summing are tried, and their seed.
_DENSE, _POOL, _SEED = 96, 400, 21
#: Small powers of two that are asked at every place of k.
_SMALL = 12
#: Calls of one input in a row, in windows of so many, and the variance of counts below which they are even.
_ROW, _WINDOW, _EVEN = 256, 16, 0.75
#: Inputs after which another one is asked.
_BEFORE = 12


@dataclass(frozen=True, slots=True)
class Kind:
    """What a device looks like; empty where nothing fits."""

    text: str = ""
    #: Whether no design of the space does what shows it.
    outside: bool = False

    def __bool__(self) -> bool:
        return bool(self.text)


def kind_of(asker: Asker, near: Iterable[UnitSpec], others: Iterable[UnitSpec] = ()) -> Kind:
    """What a deterministic device looks like.

    `near`: the designs that it is to look less like.  What one of these or of `others` looks like, too, is
    not said to be outside.
    Errors: as `Asker.ask`.
    """
    if asker.spec.scale_format is not None:
        return Kind()
    near = [*near]
    for test, outside in _TESTS:
        if text := test(asker):
            return Kind(text, outside and not any(test(_model(u, asker)) for u in (*near, *others)))
    return _sums(asker, near) or _wrong_inputs(asker, near)


def _model(design: UnitSpec, asker: Asker) -> Asker:
    """A design in the place of a device, which is asked for as many products."""

    def answers(a: Raw, b: Raw, c: Raw) -> Raw:
        return replay(design, Batch(a, b, c))

    return Asker(CallableDevice(answers), asker.spec.operands, asker.k)


def is_no_sum(asker: Asker) -> bool:
    """Whether 1·1 at some place, or a c of 1, or -1 alone give what no design of the space does.

    Zero, NaN, Inf: a c that is not added gives 0.
    Errors: as `Asker.ask`.
    """
    spec, k, d = asker.spec, asker.k, asker.spec.d_format
    if spec.scale_format is not None or spec.design.special_words != "special":
        return False
    a, b = (np.diag(np.full(k, fmt.one, np.uint64)) for fmt in (spec.a_format, spec.b_format))
    products = numbers_of(d, asker.ask(Batch(a, b, np.zeros(k, np.uint64))))
    (c,) = numbers_of(d, asker.ask(first_products(spec, k, [(0, 0, spec.c_format.one)])))
    return any(x is None or abs(x) != 1 for x in products) or c not in (0, 1) or bool(_ones(asker))


def shares_exponents(asker: Asker) -> str:
    """Operands that lose bits beside large ones whose products are zero; empty where none does.

    A zero keeps an exponent in some designs: the large operands are such that these products are small.
    Errors: as `Asker.ask`.
    """
    spec, k = asker.spec, asker.k
    if spec.scale_format is not None or k == 1:
        return ""
    made = {name: at for name in "ab" if (at := _lose_bits(asker, name))}
    if not made:
        return ""
    which = " and ".join(made)
    places = next(iter(made.values()))
    block = places[-1] + 1
    if places != [*range(1, block)]:
        said = f"operands of {which}"
    elif block == k:
        said = f"all operands of {which}"
    else:
        said = f"blocks of {block} operands of {which}"
    if block == _TWO and k > _TWO:
        return (
            f"pairs of operands of {which} that change each other, as in Winograd's products, or where they "
            "share exponents: the first one loses bits beside a large one, k = 1, whose product is 0"
        )
    return (
        f"exponents shared by {said} (block floating point): the first one loses bits beside a large one, "
        f"from k = {places[0]} on, whose product is 0"
    )


def _lose_bits(asker: Asker, name: str) -> list[int]:
    """The places beside which a large operand of no product takes bits from the first one."""
    spec, k, rng = asker.spec, asker.k, np.random.default_rng(_SEED)
    fmt, other = (spec.a_format, spec.b_format) if name == "a" else (spec.b_format, spec.a_format)
    large = encoded(fmt, power_of_two(min(fmt.e_max, -other.e_min - 2)))
    if large is None or not fmt.fraction_bits:
        return []
    fractions = rng.integers(0, 1 << fmt.fraction_bits, _FULL, np.uint64) | np.uint64(1)
    rows = np.zeros((_FULL, k, k), np.uint64)
    rows[:, :, 0] = (np.uint64(fmt.one) + (fractions << np.uint64(fmt.ignored_low_bits)))[:, np.newaxis]
    for i in range(1, k):
        rows[:, i, i] = large
    ones = np.zeros_like(rows)
    ones[:, :, 0] = other.one
    words = {name: rows.reshape(-1, k), "b" if name == "a" else "a": ones.reshape(-1, k)}
    given = asker.ask(Batch(words["a"], words["b"], np.zeros(_FULL * k, np.uint64))).reshape(_FULL, k)
    beside = [i for i in range(1, k) if (given[:, i] != given[:, 0]).any()]
    for alone, *others in (numbers_of(spec.d_format, row) for row in given):
        for x in (others[i - 1] for i in beside):
            if x is None or alone is None or abs(x) > abs(alone):
                return []  # what becomes larger has lost no bits
    return beside


#: Operands of full length that are asked beside large ones, and the least that share something.
_FULL, _TWO = 3, 2


def narrow_operands(asker: Asker) -> tuple[str, int] | None:
    """The mode that rounds a and b, and the fraction bits that they keep, where that explains all products.

    None where all bits that they have count.
    Errors: as `Asker.ask`.
    """
    spec, a, b = asker.spec, asker.spec.a_format, asker.spec.b_format
    if spec.scale_format is not None or min(a.fraction_bits, b.fraction_bits) < 1 or shares_exponents(asker):
        return None
    one, small = Fraction(1), range(1, min(a.fraction_bits, spec.d_format.fraction_bits) + 1)
    words = [(encoded(a, one + power_of_two(-n)), b.one, 0) for n in small]
    asked = [(x, y, z) for x, y, z in words if x is not None]
    seen = numbers_of(spec.d_format, asker.ask(first_products(spec, asker.k, asked)))
    kept = max((n for n, x in zip(small, seen, strict=True) if x == one + power_of_two(-n)), default=0)
    if not 0 < kept < len(small):
        return None
    products = random_products(spec)
    columns = ((a, [x for x, _, _ in products]), (b, [y for _, y, _ in products]))
    factors = list(zip(*(numbers_of(fmt, words) for fmt, words in columns), strict=True))
    given = numbers_of(spec.d_format, asker.ask(first_products(spec, asker.k, products)))
    # Results, or sums on the way to them, may keep no more.
    bits = min(2 * kept, max((bits_of(z) for z in given if z is not None), default=0))
    for mode in NARROWED:
        exact = [align(x, -kept, mode) * align(y, -kept, mode) for x, y in factors if x and y]
        units = [exponent_of(abs(x)) - bits for x in exact]
        rows = list(zip(given, exact, units, strict=True))
        near = all(z is not None and abs(z - x) < power_of_two(unit) for z, x, unit in rows)
        # Products that keep as few bits may be what is rounded.
        if near and (bits > kept or any(all(z == align(x, e, m) for z, x, e in rows) for m in MODES)):
            return mode, kept
    return None


# ------------------------------------------------------------------ ones, and powers of two
def _ones(asker: Asker) -> str:
    """A number added to every sum, or signs that are lost, shown by sums of 0, of ±1·±1 and of c = ±1."""
    spec = asker.spec
    a, b, c = ((encoded(fmt, Fraction(-1)), fmt.one) for fmt in (spec.a_format, spec.b_format, spec.c_format))
    words = [(0, 0, 0), *((x, y, 0) for x in a for y in b), *((0, 0, z) for z in c)]
    rows = [(x, y, z) for x, y, z in words if None not in (x, y, z)]
    if len(rows) < len(words):
        return ""  # formats without a sign
    given = numbers_of(spec.d_format, asker.ask(first_products(spec, asker.k, rows)))  # type: ignore[arg-type]
    zero, exact = given[0], [0, 1, -1, -1, 1, -1, 1]
    if zero and given == [x + zero for x in exact]:
        return f"{zero} added to every sum: zeros alone give {zero}"
    signs = {
        "negative results are 0": [max(0, x) for x in exact],
        "results lose their sign": [abs(x) for x in exact],
        "products lose their sign": [0, 1, 1, 1, 1, -1, 1],
        "the sign of a is not read": [0, -1, 1, -1, 1, -1, 1],
        "the sign of b is not read": [0, -1, -1, 1, 1, -1, 1],
    }
    return next((f"{text}, as ±1 alone shows" for text, seen in signs.items() if seen == given), "")


def _fixed_point(asker: Asker) -> str:
    """Small terms that are lost, and the next larger ones that are multiples of a step, alone."""
    spec, least = asker.spec, asker.spec.c_format.e_min
    if spec.d_format.e_min > least or least > -_SMALL:
        return ""

    def of_c(x: Fraction) -> tuple[int, int, int] | None:
        word = encoded(spec.c_format, x)
        return None if word is None else (0, 0, word)

    def of_product(x: Fraction) -> tuple[int, int, int] | None:
        factors = next((xy for xy in product_factors(spec, x) if is_normal(spec, *xy)), None)
        return None if factors is None else (*factors, 0)

    def kept(
        row: Callable[[Fraction], tuple[int, int, int] | None], exponents: range, of: Fraction
    ) -> list[int]:
        """Of some exponents those at which a number comes back alone."""
        rows = {e: x for e in exponents if (x := row(of * power_of_two(e))) is not None}
        seen = numbers_of(spec.d_format, asker.ask(first_products(spec, asker.k, [*rows.values()])))
        return [e for e, z in zip(rows, seen, strict=True) if z == of * power_of_two(e)]

    one, more = Fraction(1), Fraction(3, 2)
    step = max(1, -least // _POWERS_OF_C)
    coarse = kept(of_c, range(0, least - 1, -step), one)
    if coarse and min(coarse) > least + step:
        end = min(kept(of_c, range(min(coarse), min(coarse) - step, -1), one))
        # A float's least number, where subnormals are zeros, is kept.
        if not kept(of_c, range(end, end + 1), more):
            what = "sums in fixed point: of a c alone"
            return f"{what} nothing below 2^{end} is left, and 1.5·2^{end} is not kept"
    large = kept(of_product, range(_STEPS, -_STEPS, -1), one)
    if large and min(large) > 1 - _STEPS and len(large) == large[0] - large[-1] + 1:
        end = min(large)
        if not kept(of_product, range(end, end + 1), more) and kept(
            of_product, range(end + 1, end + 2), more
        ):
            return (
                f"products in fixed point: alone, 2^{end} is kept, and neither 2^{end - 1} nor 1.5·2^{end} is"
            )
    return ""


#: Exponents of products that are asked alone for the step that they are multiples of.
_STEPS = 14
#: Powers of two that are asked as c, at most.
_POWERS_OF_C = 64


def _stuck(asker: Asker) -> str:
    """A bit of results that is always the same, though c alone has it otherwise."""
    spec, d = asker.spec, asker.spec.d_format
    if spec.c_format != d:
        return ""
    rng = np.random.default_rng(_SEED)
    words = one_operand(rng, d, (_STUCK,), "near").tolist()
    words += [x for e in (0, 1, 2) if (x := encoded(d, power_of_two(e))) is not None]  # which nothing rounds
    given = asker.ask(first_products(spec, asker.k, [(0, 0, word) for word in words])).tolist()
    flipped = 0
    for x, z in zip(words, given, strict=True):
        flipped |= x ^ z
    if flipped.bit_count() != 1 or len({z & flipped for z in given}) > 1:
        return ""
    if flipped == 1 << d.ignored_low_bits and not given[0] & flipped:
        return ""  # results that have a bit less
    return f"bit {flipped.bit_length() - 1} of results is always {int(bool(given[0] & flipped))}"


#: Random numbers that are asked as c alone.
_STUCK = 24


def _clipped(asker: Asker) -> str:
    """Results that end at numbers at which those of no float end."""
    ends = _ends(asker)
    whole = ends is None or all(_is_end(asker.spec.d_format, abs(x)) for x in ends[1:])
    return "" if whole else _saturated(asker)


def _saturated(asker: Asker) -> str:
    """Results that end at numbers before the last of D."""
    if (ends := _ends(asker)) is None:
        return ""
    what, high, low = ends
    return f"{what} that are at most {plain(high)}, and at least {plain(low)}"


def _is_end(d: Format, x: Fraction) -> bool:
    """Whether a number is the largest of its exponent, with at most the bits of a format."""
    e = exponent_of(x)
    gap = power_of_two(e + 1) - x
    return (
        gap == power_of_two(exponent_of(gap))
        and e - exponent_of(gap) <= d.fraction_bits
        and x != power_of_two(e)
    )


def _ends(asker: Asker) -> tuple[str, Fraction, Fraction] | None:
    """What ends, and where: powers of two from some on, as c and as products, give the same number."""
    spec, d = asker.spec, asker.spec.d_format
    most, least = numbers_of(d, [d.largest, d.largest | d.sign_bit])
    found = []
    for sign in (1, -1):
        powers = [sign * power_of_two(e) for e in range(d.e_max + 1)]
        words = {x: word for x in powers if (word := encoded(spec.c_format, x)) is not None}
        rows = [(0, 0, word) for word in words.values()]
        seen = numbers_of(d, asker.ask(first_products(spec, asker.k, rows)))
        if not d.sign_bit or len(seen) <= _SAME_END or (end := seen[-1]) in (None, most, least, 0):
            return None
        assert end is not None
        if seen[-_SAME_END:] != [end] * _SAME_END:
            return None
        if any(z not in (x, end) for x, z in zip(words, seen, strict=True)):
            return None
        found.append(end)
    high, low = found
    if not low < 0 < high:
        return None
    factors = next(product_factors(spec, power_of_two(exponent_of(high) + 1)), None)
    of_products = factors is not None and numbers_of(
        d, asker.ask(first_products(spec, asker.k, [(*factors, 0)]))
    ) == [high]
    return "results" if of_products else "values of c", high, low


#: Powers of two that give the same number where results end there.
_SAME_END = 3


def _pairs(asker: Asker) -> str:
    """Sums of two ones, of either sign, that are not the sum of what each gives alone."""
    spec, k, d = asker.spec, asker.k, asker.spec.d_format
    minus = encoded(spec.a_format, Fraction(-1))
    if minus is None or k == 1 or not d.sign_bit:
        return ""
    words = {1: spec.a_format.one, -1: minus}
    near: Iterable[tuple[int, int]] = itertools.combinations(range(k), 2)
    if k > _ALL_PAIRS:
        near = ((i, i + n) for n in (1, 2, k // 2) for i in range(k - n))
    alone = [{i: s} for i in range(k) for s in words]
    rows = [*alone, *({i: s, j: t} for i, j in near for s in words for t in words)]
    a, b = np.zeros((len(rows), k), np.uint64), np.zeros((len(rows), k), np.uint64)
    for row, signs in enumerate(rows):
        for i, sign in signs.items():
            a[row, i], b[row, i] = words[sign], spec.b_format.one
    given = numbers_of(d, asker.ask(Batch(a, b, np.zeros(len(rows), np.uint64))))
    for text, way in (("largest", max), ("least", min)):
        if all(
            z == way([*signs.values(), *[0] * (k - len(signs))]) for signs, z in zip(rows, given, strict=True)
        ):
            return f"the {text} product in place of a sum, as ±1 alone and in pairs shows"
    single = dict[tuple[int, int], Fraction]()
    for signs, z in zip(alone, given, strict=False):
        if z is None or abs(z) != 1:
            return ""
        single[next(iter(signs.items()))] = z
    pairs = [*zip(rows, given, strict=True)][len(alone) :]
    wrong = [(signs, z) for signs, z in pairs if z != sum(single[x] for x in signs.items())]
    if not wrong:
        return ""
    signs, z = min(wrong, key=lambda x: sorted(x[0]))
    shown = " + ".join(f"{'-' if sign < 0 else ''}1·1 (k = {i})" for i, sign in signs.items())
    of = f"{len(wrong)} of {len(pairs)} sums of two ones are wrong"
    return f"products that others change: {shown} gives {'no number' if z is None else z}; {of}"


#: Products up to which all pairs of them are asked.
_ALL_PAIRS = 16


def _large_alone(asker: Asker) -> str:
    """Products alone that D holds, and that come back as another number, not as an end of a float."""
    spec, d = asker.spec, asker.spec.d_format
    top = min(d.e_max, spec.a_format.e_max + spec.b_format.e_max)
    factors = {
        e: words for e in range(top + 1)
        if (words := next(product_factors(spec, power_of_two(e)), None)) is not None
    }  # fmt: skip
    seen = numbers_of(d, asker.ask(first_products(spec, asker.k, [(*x, 0) for x in factors.values()])))
    other = {e: z for e, z in zip(factors, seen, strict=True) if z != power_of_two(e)}
    if not other or min(other) == 0 or [*other] != [e for e in factors if e >= min(other)]:
        return ""
    e, z = next(iter(other.items()))
    if z is None or (z and _is_end(d, abs(z))):
        return ""
    return f"results that wrap, or products that are dropped, from 2^{e} on: 2^{e} alone gives {plain(z)}"


def _small_alone(asker: Asker) -> str:
    """Products alone that are lost from some exponent down, though D holds them, and larger ones are whole.

    A format of few exponents loses low bits of products that are a little larger, too.
    """
    spec, d = asker.spec, asker.spec.d_format
    floor = max(d.e_min, spec.a_format.e_min + spec.b_format.e_min, -_DEEPEST)
    factors = {
        e: words for e in range(-1, floor, -1)
        if (words := next((z for z in product_factors(spec, power_of_two(e)) if is_normal(spec, *z)), None))
    }  # fmt: skip
    if not factors:
        return ""
    rows = [*((*words, 0) for words in factors.values())]
    rows += [(0, 0, encoded(spec.c_format, power_of_two(e)) or 0) for e in factors]
    seen = numbers_of(d, asker.ask(first_products(spec, asker.k, rows)))
    products, c = seen[: len(factors)], seen[len(factors) :]
    lost = [e for e, x in zip(factors, products, strict=True) if x != power_of_two(e)]
    kept_c = all(z == power_of_two(e) for e, z in zip(factors, c, strict=True) if e in lost)
    if not lost or not kept_c or lost != [*factors][-len(lost) :]:
        return ""
    if any(products[-len(lost) :]):
        return ""
    e = lost[0]
    odd = power_of_two(e + 1) * (1 + power_of_two(-spec.a_format.fraction_bits))
    words = next((z for z in product_factors(spec, odd) if is_normal(spec, *z)), None)
    if words is None or numbers_of(d, asker.ask(first_products(spec, asker.k, [(*words, 0)]))) != [odd]:
        return ""
    return f"products dropped below 2^{e + 1}: one of 2^{e} alone gives 0, a c of 2^{e} does not"


#: Powers of two down to which products are asked alone, and terms beside large ones.
_DEEPEST, _BESIDE = 60, 20


def _small_beside(asker: Asker) -> str:
    """Terms that are dropped whole beside larger ones, though less than they is not when it is a part."""
    spec, d, k = asker.spec, asker.spec.d_format, asker.k
    part = min(4, spec.a_format.fraction_bits)
    masks = ("product", "product") if k > 1 else None, ("product", "c"), ("c", "product")
    for kinds_ in masks:
        if kinds_ is None:
            continue
        small, large = kinds_
        depths, rows = [], []
        for n in range(1, min(_BESIDE, d.fraction_bits - part) + 1):
            found = [
                _row(spec, k, small, large, x)
                for x in (power_of_two(-n), power_of_two(-n) + power_of_two(-n - part))
            ]
            if None not in found:
                depths.append(n)
                rows += [w for w in found if w is not None]
        if len(depths) < _SMALL // 2:
            continue
        seen = numbers_of(d, asker.ask(batch_of(rows)))
        whole, longer = seen[::2], seen[1::2]
        kept = [
            n
            for n, x, y in zip(depths, whole, longer, strict=True)
            if x == 1 + power_of_two(-n) and y == 1 + power_of_two(-n) + power_of_two(-n - part)
        ]
        lost = [n for n, x, y in zip(depths, whole, longer, strict=True) if x == y == 1]
        if kept and lost and [*kept, *lost] == depths and lost[0] <= kept[-1] + part:
            n = kept[-1]
            what = "products" if small == "product" else "a c"
            than = "the largest product" if large == "product" else "c"
            return f"{what} below 2^-{n} of {than} {'are' if small == 'product' else 'is'} dropped, whole"
    return ""


def _row(spec: UnitSpec, k: int, small: str, large: str, x: Fraction) -> Witness | None:
    """A 1 and a small number as products or as c; None where the formats do not have it."""
    one = (spec.a_format.one, spec.b_format.one)
    if small == "c":
        c = encoded(spec.c_format, x)
        return None if c is None else products_witness(spec, k, [one], c)
    factors = next((xy for xy in product_factors(spec, x) if is_normal(spec, *xy)), None)
    if factors is None:
        return None
    if large == "c":
        return products_witness(spec, k, [factors], spec.c_format.one)
    return products_witness(spec, k, [one, factors], 0)


# ------------------------------------------------------------------ products
def _lost_products(asker: Asker) -> str:
    """Products that no sum has."""
    spec, k = asker.spec, asker.k
    a, b = (np.diag(np.full(k, fmt.one, np.uint64)) for fmt in (spec.a_format, spec.b_format))
    answers = asker.ask(with_scales(spec, Batch(a, b, np.zeros(k, np.uint64))))
    lost = [i for i, x in enumerate(numbers_of(spec.d_format, answers)) if x == 0]
    if not 0 < len(lost) < k:
        return ""
    which = ", ".join(map(str, lost))
    return f"product{'s' if len(lost) > 1 else ''} {which} never added: 1·1 there gives 0"


def _other_products(asker: Asker) -> str:
    """Places of k where one product alone gives another result than at most places."""
    spec, k = asker.spec, asker.k
    words = [(spec.a_format.one, spec.b_format.one, 0), *random_products(spec), *_small_products(spec)]
    rows = first_products(spec, k, words)
    every = together(*(replace(rows, a=np.roll(rows.a, i, 1), b=np.roll(rows.b, i, 1)) for i in range(k)))
    # Subtracted products are as the others.
    answers = (asker.ask(every) & np.uint64((1 << spec.d_format.width - 1) - 1)).reshape(k, len(words))
    usual = [Counter(column).most_common(1)[0][0] for column in answers.T.tolist()]
    other = [i for i in range(k) if answers[i].tolist() != usual]
    if not 0 < len(other) <= k // 2:
        return ""
    word = next(n for n, x in enumerate(usual) if int(answers[other[0], n]) != x)
    x, y, _ = words[word]
    shown = f"{format_value(spec.a_format, x)}·{format_value(spec.b_format, y)}"
    gives = (format_value(spec.d_format, z) for z in (int(answers[other[0], word]), usual[word]))
    which = f"product{'s' if len(other) > 1 else ''} {', '.join(map(str, other))}"
    return "{} unlike the others: {} there gives {}, elsewhere {}".format(which, shown, *gives)


def _small_products(spec: UnitSpec) -> list[tuple[int, int, int]]:
    """Products of a power of two and 1, down to the least number of A, and of B."""
    made = []
    for fmt in (spec.a_format, spec.b_format):
        least = fmt.e_min - fmt.fraction_bits
        powers = [encoded(fmt, power_of_two(e)) for e in range(least, 0, max(1, -least // _SMALL))]
        made += [(x, spec.b_format.one) if fmt is spec.a_format else (spec.a_format.one, x) for x in powers]
    return [(x, y, 0) for x, y in made if x is not None and y is not None]


def _c_alone(asker: Asker) -> str:
    """A c that counts several times: alone, it gives another number."""
    spec, d = asker.spec, asker.spec.d_format
    words = [(0, 0, x) for e in (0, 1, 3) if (x := encoded(spec.c_format, power_of_two(e))) is not None]
    given = numbers_of(d, asker.ask(first_products(spec, asker.k, words)))
    c = numbers_of(spec.c_format, [x for _, _, x in words])
    times = {x / y for x, y in zip(given, c, strict=True) if x is not None and y}
    if len(times) != 1 or (n := times.pop()) in (0, 1):
        return ""
    (one,) = numbers_of(
        d, asker.ask(first_products(spec, asker.k, [(spec.a_format.one, spec.b_format.one, 0)]))
    )
    if one == n:
        mean = f": the mean of {asker.k} products" if n == Fraction(1, asker.k) else ""
        return f"{n} times the sum{mean}: 1·1 alone gives {n}, and so does a c of 1"
    return f"c counted {n} times: a c of 1 alone gives {n}"


# ------------------------------------------------------------------ rounding
def _dither(asker: Asker) -> str:
    """One exact sum, of a product and a power of two, that is rounded up for some factors and not others."""
    spec, d = asker.spec, asker.spec.d_format
    for base, place in itertools.product((10, 4, 0, -4), (Fraction(15, 32), Fraction(3, 8), Fraction(3, 4))):
        small = place * power_of_two(base - d.fraction_bits)
        c, low = (encoded(fmt, power_of_two(base)) for fmt in (spec.c_format, d))
        # Subnormal factors may be flushed, which is no rounding.
        factors = [xy for xy in product_factors(spec, small) if is_normal(spec, *xy)]
        if place.numerator == _BY_FIVE:
            factors += [*factors_of(spec, 3, 5, base - d.fraction_bits - 5)]
            factors += [*factors_of(spec, 5, 3, base - d.fraction_bits - 5)]
        if c is None or low is None or len(factors) < _SPLITS:
            continue
        answers = asker.ask(first_products(spec, asker.k, [(x, y, c) for x, y in factors]))
        if {*answers.tolist()} == {low, low + 1}:
            return "dithered: one sum is rounded up for some factors and down for others, the same every time"
    return ""


#: Pairs of factors of one product that are asked at least, and a product of 3 and 5.
_SPLITS, _BY_FIVE = 3, 15


# ------------------------------------------------------------------ sums
def _sums(asker: Asker, near: Iterable[UnitSpec]) -> Kind:
    """The way of summing that gives nearly all answers to dense and wide sums, more than designs do."""
    spec, k, d = asker.spec, asker.k, asker.spec.d_format
    batch = together(dense_inputs(spec, k, _DENSE, _SEED), pool_of(spec, k, _POOL, _SEED))
    batch = asker.prepared(batch)
    answers = asker.ask(batch)
    rows, finite = [], []
    for row, z in enumerate(numbers_of(d, answers)):
        a, b = (numbers_of(fmt, x[row]) for fmt, x in ((spec.a_format, batch.a), (spec.b_format, batch.b)))
        (c,) = numbers_of(spec.c_format, [int(batch.c[row])])
        p = [x * y for x, y in zip(a, b, strict=True) if x is not None and y is not None]
        if z is not None and c is not None and len(p) == k:
            rows.append((p, c, z))
            finite.append(row)
    best, found = 0, ("", False)
    for text, way, outside in ways(d, k):
        right = 0
        for place, (p, c, z) in enumerate(rows):
            right += way(p, c) == z
            if place - right > (1 - _LIKE) * len(rows):
                break  # too many are wrong
        if right > best:
            best, found = right, (text, outside)
    some = rows_of(batch, np.array(finite, np.intp))
    nearest = max((int((replay(u, some) == answers[finite]).sum()) for u in near), default=0)
    if best < _LIKE * len(rows) or best <= nearest:
        return Kind()
    name, outside = found
    text = f"{name}: gives {best} of {len(rows)} answers, the nearest design {nearest}"
    return Kind(text, outside and best == len(rows) and nearest <= _FAR * best)


def _wrong_inputs(asker: Asker, near: Sequence[UnitSpec]) -> Kind:
    """The design that gives all answers but those to some set of inputs."""
    spec, k = asker.spec, asker.k
    batch = asker.prepared(dense_inputs(spec, k, 2 * _DENSE, _SEED))
    batch, answers = numbers_only(spec.d_format, batch, asker.ask(batch))

    def share(u: UnitSpec) -> float:
        return float((replay(u, batch) == answers).mean())

    best, design = max(((share(u), n) for n, u in enumerate(near)), default=(0.0, -1))
    if best < _SOME:
        return Kind()
    base = near[design]
    for _ in range(_CHANGES):
        beside = list(neighbours(base))
        more, changed = max(((share(u), -n) for n, u in enumerate(beside)), default=(0.0, 0))
        if more <= best:
            break
        best, base = more, beside[-changed]
    if best < _MOSTLY:
        return Kind()
    # The simplest input may have a sum of zeros, of which nothing is asked.
    wrong = np.flatnonzero(replay(base, batch) != answers)[:1].tolist()
    tried = (
        simplest_unfit(asker, [base], lambda: False, numbers=True),
        *(witness_at(batch, n) for n in wrong),
    )
    made = (wrong_set(asker, base, w) for w in tried if w is not None)
    found = next((x for x in made if x is not None), None)
    name, _, _ = base.name.partition(",a_format")
    return Kind() if found is None else Kind(f"{short(name)}, but {found.text}", found.outside)


#: The share of answers that a design gives beside which one is looked for that gives more, the parameters of
#: it that are changed, and the share that it gives where the device is wrong on a set.
_SOME, _CHANGES, _MOSTLY = 0.6, 2, 0.9


#: The part of all answers that a design near to a way of summing may give that gives them all.
_FAR = 0.99


#: What is looked for, in turn, and whether no design of the space does that.
_TESTS: tuple[tuple[Callable[[Asker], str], bool], ...] = (
    (_ones, True),
    (_stuck, True),
    (_clipped, True),
    (_saturated, False),
    (meets_otherwise, True),
    (_lost_products, True),
    (_pairs, True),
    (shares_exponents, True),
    (_other_products, False),
    (_c_alone, True),
    (approximate, True),
    (misread, False),
    (tapered, True),
    (_fixed_point, False),
    (_large_alone, True),
    (_small_alone, False),
    (_small_beside, True),
    (adds_approximately, True),
    (rounds_otherwise, False),
    (rounds_by_place, False),
    (_dither, True),
    (unequal_products, True),
)


# ------------------------------------------------------------------ several answers to one input
def kind_of_noise(asker: Asker, inputs: Sequence[Witness]) -> str:
    """What a device looks like that gives one input several answers; empty where nothing shows.

    `inputs`: two or more, the last one inexact.
    Errors: as `Asker.sequence`.
    """
    spec, k = asker.spec, asker.k
    full = Witness((spec.a_format.one,) * k, (spec.b_format.one,) * k, 0)
    answers = numbers_of(spec.d_format, asker.sequence(batch_of([full] * _ROW)))
    seen = {x for x in answers if x is not None and x != k}
    if seen and k in answers and all(0 <= x < k and x.denominator == 1 for x in seen):
        many = sum(x != k for x in answers)
        return f"products are dropped now and then: {k} ones added up to less in {many} of {_ROW} calls"
    if len(inputs) > 1 and (text := _state(asker, inputs)):
        return text
    return ""


def _state(asker: Asker, inputs: Sequence[Witness]) -> str:
    """Whether answers to one input depend on the calls before."""
    *others, x = inputs
    row = asker.sequence(batch_of([x] * _ROW)).tolist()
    if period := next((n for n in range(2, _ROW // 4) if row[n:] == row[:-n] and row[1:] != row[:-1]), 0):
        return f"state between calls: one input asked again and again gives its results in turns of {period}"
    counts = [sum(y != min(row) for y in row[i : i + _WINDOW]) for i in range(0, _ROW, _WINDOW)]
    share = float(np.mean(counts)) / _WINDOW
    if 1 / 8 < share < 7 / 8 and float(np.var(counts)) < _EVEN * share * (1 - share):
        return "state between calls: one input asked again and again gives two results in a steady rhythm"
    spec, k = asker.spec, asker.k
    dense = dense_inputs(spec, k, _BEFORE, _SEED)
    seen = []
    for y in [*others, *(witness_at(dense, i) for i in range(_BEFORE))]:
        after = asker.sequence(batch_of([w for _ in range(_WINDOW) for w in (y, x)])).tolist()[1::2]
        seen.append({*after[_WINDOW // 2 :]})
    if len({min(s) for s in seen}) > 1 and all(len(s) == 1 for s in seen):
        return "state between calls: the answer depends on the input before"
    return ""
