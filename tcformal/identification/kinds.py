"""What a device outside the space looks like: one sentence, from questions; apart, because it is a hint.

Nothing here makes a verdict: it says where to look.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.identification.asker import Asker
from tcformal.identification.masks import numbers_of
from tcformal.identification.operand_questions import first_products, random_products
from tcformal.identification.repeat import dense_inputs, product_factors
from tcformal.oracle.numerals import percent, power_of_two
from tcformal.oracle.rounded import align
from tcformal.oracle.values import encoded, exponent_of, format_value
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import (
    Batch,
    Raw,
    batch_of,
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
#: Exponents of factors of products that are asked alone.
_POWERS = range(-3, 4)
#: The relative error up to which products are approximate ones, and not those of another encoding.
_APPROXIMATE = Fraction(1, 7)
#: Ulps from which on a product is no rounded one.
_ULPS = 2
#: Small powers of two that are asked at every place of k.
_SMALL = 12
#: Calls of one input in a row, in windows of so many, and the variance of counts below which they are even.
_ROW, _WINDOW, _EVEN = 256, 16, 0.75
#: Inputs after which another one is asked.
_BEFORE = 12


def kind_of(asker: Asker, near: Iterable[UnitSpec]) -> str:
    """What a deterministic device looks like; empty where nothing fits.

    `near`: the designs that it is to look less like.
    Errors: as `Asker.ask`.
    """
    if asker.spec.scale_format is not None:
        return ""
    tests = (_ones, _lost_products, _other_products, _c_alone, _products, _fixed_point, _dither)
    for test in (*tests, lambda x: _sums(x, near)):
        if text := test(asker):
            return text
    return ""


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


def narrow_operands(asker: Asker) -> tuple[str, int] | None:
    """The mode that rounds a and b, and the fraction bits that they keep, where that explains all products.

    None where all bits that they have count.
    Errors: as `Asker.ask`.
    """
    spec, a, b = asker.spec, asker.spec.a_format, asker.spec.b_format
    if spec.scale_format is not None or min(a.fraction_bits, b.fraction_bits) < 1:
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
    for mode in NARROWED:
        exact = [align(x, -kept, mode) * align(y, -kept, mode) for x, y in factors if x and y]
        ulp = power_of_two(-min(spec.d_format.fraction_bits, 2 * kept))
        if all(z is not None and abs(z - x) < abs(x) * ulp for z, x in zip(given, exact, strict=True)):
            return mode, kept
    return None


#: Modes that make operands narrower, and what each does.
NARROWED = {"RZ": "cut to", "RNE": "rounded to", "RNA": "rounded (half away from zero) to"}


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

    def kept(exponents: range, significand: Fraction = Fraction(1)) -> list[int]:
        """Of some exponents those at which a number comes back as c alone."""
        numbers = {e: significand * power_of_two(e) for e in exponents}
        rows = [(0, 0, word) for x in numbers.values() if (word := encoded(spec.c_format, x)) is not None]
        seen = numbers_of(spec.d_format, asker.ask(first_products(spec, asker.k, rows)))
        return [e for (e, x), z in zip(numbers.items(), seen, strict=True) if x == z]

    step = max(1, -least // _POWERS_OF_C)
    coarse = kept(range(0, least - 1, -step))
    if not coarse or min(coarse) <= least + step:
        return ""
    end = min(kept(range(min(coarse), min(coarse) - step, -1)))
    if kept(range(end, end + 1), Fraction(3, 2)):
        return ""  # a float's least number, where subnormals are zeros
    return f"sums in fixed point: of a c alone nothing below 2^{end} is left, and 1.5·2^{end} is not kept"


#: Powers of two that are asked as c, at most.
_POWERS_OF_C = 64


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
    return f"c counted {n} times: a c of 1 alone gives {n}"


def _products(asker: Asker) -> str:
    """Operands of another encoding, or products that are not a·b."""
    spec = asker.spec
    powers = [[encoded(fmt, power_of_two(i)) for i in _POWERS] for fmt in (spec.a_format, spec.b_format)]
    words = [(u, v, 0) for u, v in itertools.product(*powers) if u is not None and v is not None]
    exact = len(words)
    words += random_products(spec)
    batch = first_products(spec, asker.k, words)
    answers = asker.ask(batch)
    a, b = (numbers_of(fmt, x[:, 0]) for fmt, x in ((spec.a_format, batch.a), (spec.b_format, batch.b)))
    bits, errors, known = 0, list[Fraction](), list[tuple[Fraction, Fraction]]()
    d = numbers_of(spec.d_format, answers)
    for x, y, z in zip(a, b, d, strict=True):
        assert x
        assert y
        if z is None:
            return _encoding(spec, words, answers)
        errors.append(abs(z - x * y) / abs(x * y))
        known.append((x * y, z))
        size = abs(z.numerator) * z.denominator
        bits = max(bits, size.bit_length() - (size & -size).bit_length() if size else 0)
    worst = max(errors)
    if worst <= _ULPS * power_of_two(-max(1, bits)):
        return ""
    if worst > _APPROXIMATE:
        return _multiple_or_end(known[:exact]) or _encoding(spec, words, answers)
    off = percent(worst, up=True)
    if all(x and y and z == _mitchell(x, y) for x, y, z in zip(a, b, d, strict=True)):
        return f"products by logarithms (Mitchell's), up to {off} off"
    return f"approximate products, up to {off} off: logarithms, or partial products left out"


def _mitchell(x: Fraction, y: Fraction) -> Fraction:
    """A product of which the logarithms are linear between powers of two."""
    ex, ey = exponent_of(abs(x)), exponent_of(abs(y))
    f = abs(x) / power_of_two(ex) + abs(y) / power_of_two(ey) - 2
    size = power_of_two(ex + ey) * (1 + f) if f < 1 else power_of_two(ex + ey + 1) * f
    return size if (x < 0) == (y < 0) else -size


def _multiple_or_end(products: Sequence[tuple[Fraction, Fraction]]) -> str:
    """What became of powers of two that are products: the same multiple of each, or an end of all results."""
    (ratio, *others), most = {z / x for x, z in products}, max(z for _, z in products)
    if not others and ratio:
        return f"{ratio} times the product: a mean, or a factor of the whole sum"
    if most > 0 and all(z == min(x, most) for x, z in products):
        return f"results that are at most {most}"
    return ""


def _encoding(spec: UnitSpec, words: Sequence[tuple[int, int, int]], answers: Raw) -> str:
    """Which encoding products are those of, where it is a posit's."""
    formats = (spec.a_format, spec.b_format, spec.d_format)
    for es in range(4):
        wide = [_posits(fmt.width, es) if fmt.width <= _WIDEST_POSIT else None for fmt in formats]
        if None in wide:
            break
        of_a, of_b, of_d = (x for x in wide if x is not None)
        if all(
            _nearest_posit(of_d, int(z), of_a[x] * of_b[y])
            for (x, y, _), z in zip(words, answers.tolist(), strict=True)
            if x in of_a and y in of_b
        ):
            return f"posits with {es} exponent bits in place of {', '.join({f.name: 0 for f in formats})}"
    ones = (spec.a_format.one, spec.b_format.one, 0)
    got = next((z for x, z in zip(words, answers.tolist(), strict=True) if x == ones), None)
    shown = "" if got is None else f": the words of 1·1 give {got:#x}"
    return f"another encoding of the operands or results than {spec.operands}{shown}"


_WIDEST_POSIT = 16


def _posits(width: int, es: int) -> dict[int, Fraction]:
    """The numbers of all posits but NaR, by word."""
    made = {0: Fraction(0)}
    for word in range(1, 1 << (width - 1)):
        text = f"{word:0{width - 1}b}"
        run = len(text) - len(text.lstrip(text[0]))
        rest = text[run + 1 :]
        exponent = int(rest[:es].ljust(es, "0") or "0", 2)
        fraction = rest[es:]
        regime = run - 1 if text[0] == "1" else -run
        size = Fraction(int(f"1{fraction}", 2), 1 << len(fraction))
        made[word] = size * power_of_two(regime * (1 << es) + exponent)
        made[(1 << width) - word] = -made[word]
    return made


def _nearest_posit(of: dict[int, Fraction], word: int, x: Fraction) -> bool:
    """Whether no neighbour of a word is nearer to a number."""
    if word not in of:
        return False
    others = [of[w] for w in (word - 1, word + 1) if w in of]
    return all(abs(of[word] - x) <= abs(other - x) for other in others)


# ------------------------------------------------------------------ rounding
def _dither(asker: Asker) -> str:
    """One exact sum, of a product and a power of two, that is rounded up for some factors and not others."""
    spec, d = asker.spec, asker.spec.d_format
    for base, place in itertools.product((10, 4, 0, -4), (Fraction(3, 8), Fraction(3, 4))):
        small = place * power_of_two(base - d.fraction_bits)
        c, low = (encoded(fmt, power_of_two(base)) for fmt in (spec.c_format, d))
        # Subnormal factors may be flushed, which is no rounding.
        factors = [xy for xy in product_factors(spec, small) if _normal(spec, *xy)]
        if c is None or low is None or len(factors) < _SPLITS:
            continue
        answers = asker.ask(first_products(spec, asker.k, [(x, y, c) for x, y in factors]))
        if {*answers.tolist()} == {low, low + 1}:
            return "dithered: one sum is rounded up for some factors and down for others, the same every time"
    return ""


def _normal(spec: UnitSpec, x: int, y: int) -> bool:
    """Whether two positive factors are normal numbers."""
    return all(
        number is not None and number >= power_of_two(fmt.e_min)
        for fmt, word in ((spec.a_format, x), (spec.b_format, y))
        for number in numbers_of(fmt, [word])
    )


#: Pairs of factors of one product that are asked at least.
_SPLITS = 3


# ------------------------------------------------------------------ sums
Rounding = Callable[[Fraction], Fraction]
Way = Callable[[Sequence[Fraction], Fraction, Rounding], Fraction]


def _sums(asker: Asker, near: Iterable[UnitSpec]) -> str:
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
    best, name = 0, ""
    for text, way in _ways(d):
        right = 0
        for place, (p, c, z) in enumerate(rows):
            right += way(p, c) == z
            if place - right > (1 - _LIKE) * len(rows):
                break  # too many are wrong
        if right > best:
            best, name = right, text
    some = rows_of(batch, np.array(finite, np.intp))
    nearest = max((int((replay(u, some) == answers[finite]).sum()) for u in near), default=0)
    if best < _LIKE * len(rows) or best <= nearest:
        return ""
    return f"{name}: gives {best} of {len(rows)} answers, the nearest design {nearest}"


def _ways(d: Format) -> Iterator[tuple[str, Callable[[Sequence[Fraction], Fraction], Fraction]]]:
    """Ways of summing that are no tree of sums, with the formats of partial sums."""
    shapes = {"": (d.precision, d.e_min)} | ({} if d.precision >= _FP32[0] else {" in fp32": _FP32})
    for name, shape in shapes.items():
        for text, way in _WAYS.items():
            yield f"{text}{name}", partial(_in_d, d, way, _rounding(*shape))


_FP32 = (24, -126)


def _in_d(d: Format, way: Way, to: Rounding, p: Sequence[Fraction], c: Fraction) -> Fraction:
    """A sum with partial sums rounded by `to`, rounded to D at last."""
    return _rounding(d.precision, d.e_min)(way(p, c, to))


def _rounding(precision: int, e_min: int) -> Rounding:
    """To nearest, ties to even, without an end of the exponents."""

    def rounded(x: Fraction) -> Fraction:
        if not x:
            return x
        return align(x, max(exponent_of(abs(x)), e_min) - precision + 1, "RNE")

    return rounded


def _chain(terms: Iterable[Fraction], to: Rounding) -> Fraction:
    total = Fraction(0)
    for x in terms:
        total = to(total + x)
    return total


def _kahan(terms: Sequence[Fraction], to: Rounding) -> Fraction:
    total = lost = Fraction(0)
    for x in terms:
        y = to(x - lost)
        t = to(total + y)
        lost, total = to(to(t - total) - y), t
    return total


def _two_sum(terms: Sequence[Fraction], to: Rounding) -> Fraction:
    total = errors = Fraction(0)
    for x in terms:
        t = to(total + x)
        errors, total = to(errors + total + x - t), t
    return to(total + errors)


def _rounded(p: Sequence[Fraction], to: Rounding) -> list[Fraction]:
    return [to(x) for x in p]


_WAYS: dict[str, Way] = {
    "terms sorted, the largest first, then added one by one": lambda p, c, to: _chain(
        sorted([*p, c], key=abs, reverse=True), to
    ),
    "terms sorted, the smallest first, then added one by one": lambda p, c, to: _chain(
        sorted([*p, c], key=abs), to
    ),
    "products sorted, the largest first, then added one by one to c": lambda p, c, to: _chain(
        [c, *sorted(p, key=abs, reverse=True)], to
    ),
    "products sorted, the smallest first, then added one by one, c last": lambda p, c, to: _chain(
        [*sorted(p, key=abs), c], to
    ),
    "compensated sum (Kahan's)": lambda p, c, to: _kahan([c, *_rounded(p, to)], to),
    "compensated sum (Kahan's), c last": lambda p, c, to: to(_kahan(_rounded(p, to), to) + c),
    "compensated sum (errors of each sum added at the end, as Neumaier's)": lambda p, c, to: _two_sum(
        [c, *_rounded(p, to)], to
    ),
    "compensated sum (errors of each sum added at the end, as Neumaier's), c last": lambda p, c, to: to(
        _two_sum(_rounded(p, to), to) + c
    ),
}


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
        seen.append({*after[1:]})
    if len({min(s) for s in seen}) > 1 and all(len(s) == 1 for s in seen):
        return "state between calls: the answer depends on the input before"
    return ""
