"""Products alone that are not a·b: approximate ones, multiples, and those of operands of another encoding."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format
from tcformal.identification.asker import Asker
from tcformal.identification.masks import bits_of, numbers_of
from tcformal.identification.operand_questions import first_products, random_products
from tcformal.oracle.numerals import percent, power_of_two
from tcformal.oracle.rounded import align
from tcformal.oracle.values import encoded, exponent_of, value_and_hex
from tcformal.simulation.operands.batch import Raw

#: Exponents of factors of products that are asked alone.
_POWERS = range(-3, 4)
#: The relative error up to which products are approximate ones, and not those of another encoding.
_APPROXIMATE = Fraction(1, 7)
#: Ulps from which on a product is no rounded one.
_ULPS = 2

#: Modes that make operands narrower, and what each does.
NARROWED = {"RZ": "cut to", "RNE": "rounded to", "RNA": "rounded (half away from zero) to"}


def plain(x: Fraction) -> str:
    """A number as people write it."""
    if x and abs(x.numerator) == 1 and x.denominator > 1 and not x.denominator & (x.denominator - 1):
        return f"{'-' if x < 0 else ''}2^-{x.denominator.bit_length() - 1}"
    return str(x)


@dataclass(frozen=True, slots=True)
class _Products:
    """Products that were asked alone.

    Shapes: words of a, b and c of each, powers of two first; the numbers of these products; the answers.
    """

    words: list[tuple[int, int, int]]
    powers: int
    factors: list[tuple[Fraction, Fraction]]
    answers: Raw
    #: As numbers; None for NaN and Inf.
    given: list[Fraction | None]

    @property
    def worst(self) -> Fraction | None:
        """The largest relative error; None where one is no number."""
        errors = [
            None if z is None else abs(z - x * y) / abs(x * y)
            for (x, y), z in zip(self.factors, self.given, strict=True)
        ]
        return None if None in errors else max(x for x in errors if x is not None)

    @property
    def bits(self) -> int:
        """The fraction bits that come through, at most."""
        return max((bits_of(z) for z in self.given if z is not None), default=0)


def _asked_products(asker: Asker) -> _Products:
    """Products of powers of two, and of random factors, alone."""
    spec = asker.spec
    powers = [[encoded(fmt, power_of_two(i)) for i in _POWERS] for fmt in (spec.a_format, spec.b_format)]
    words = [(u, v, 0) for u, v in itertools.product(*powers) if u is not None and v is not None]
    exact = len(words)
    words += random_products(spec)
    batch = first_products(spec, asker.k, words)
    answers = asker.ask(batch)
    a, b = (numbers_of(fmt, x[:, 0]) for fmt, x in ((spec.a_format, batch.a), (spec.b_format, batch.b)))
    factors = [(x, y) for x, y in zip(a, b, strict=True) if x and y]
    return _Products(words, exact, factors, answers, numbers_of(spec.d_format, answers))


def approximate(asker: Asker) -> str:
    """Products that are further off than any rounding that they show."""
    x = _asked_products(asker)
    if x.worst is None or not _ULPS * power_of_two(-max(1, x.bits)) < x.worst <= _APPROXIMATE:
        return ""
    off = percent(x.worst, up=True)
    if all(z == _mitchell(*factors) for factors, z in zip(x.factors, x.given, strict=True)):
        return f"products by logarithms (Mitchell's), up to {off} off"
    return f"approximate products, up to {off} off: {_how_approximate(asker, x)}"


def _how_approximate(asker: Asker, x: _Products) -> str:
    """What of products is approximate: those of powers of two, each operand, or products alone."""
    spec = asker.spec
    for (name, bits), mode in itertools.product(_PARTS.items(), NARROWED):
        if all(
            z is not None and _near(z, _of_parts(u, v, bits, mode))
            for (u, v), z in zip(x.factors, x.given, strict=True)
        ):
            return f"factors in two parts of {name}, without the product of the low ones"
    one_a, one_b, factors = spec.a_format.one, spec.b_format.one, x.factors[x.powers :]
    if any(z != u * v for (u, v), z in zip(x.factors[: x.powers], x.given, strict=False)):
        return "even those of powers of two are off"
    words = x.words[x.powers :]
    rows = [*((u, one_b, 0) for u, _, _ in words), *((one_a, v, 0) for _, v, _ in words)]
    alone = numbers_of(spec.d_format, asker.ask(first_products(spec, asker.k, rows)))
    of_a, of_b = alone[: len(words)], alone[len(words) :]
    off = next((pair for pair in zip([u for u, _ in factors], of_a, strict=True) if pair[0] != pair[1]), None)
    if off is None and all(z == v for (_, v), z in zip(factors, of_b, strict=True)):
        return "exact where one factor is 1, as of a table, or of partial products left out"
    near = power_of_two(1 - spec.d_format.fraction_bits)
    shown = "" if off is None or off[1] is None else f", {plain(off[0])}·1 gives {plain(off[1])}"
    if all(
        u is not None and v is not None and z is not None and abs(z - u * v) <= near * abs(u * v)
        for u, v, z in zip(of_a, of_b, x.given[x.powers :], strict=True)
    ):
        return f"each operand is changed before it is multiplied{shown}"
    return f"not exact even where one factor is 1, as of logarithms{shown}"


#: Fraction bits of parts that factors are split into, and of sums of their products.
_PARTS, _OF_SUMS = {"bf16": 7, "tf32 or fp16": 10}, 22


def _of_parts(x: Fraction, y: Fraction, bits: int, mode: str) -> Fraction:
    """The product of two factors that are a high and a low part each, without that of the low ones."""
    (a, b), (c, d) = (_split(z, bits, mode) for z in (x, y))
    return a * c + a * d + b * c


def _split(x: Fraction, bits: int, mode: str) -> tuple[Fraction, Fraction]:
    high = align(x, exponent_of(abs(x)) - bits, mode)
    rest = x - high
    return high, align(rest, exponent_of(abs(rest)) - bits, mode) if rest else rest


def _near(z: Fraction, x: Fraction) -> bool:
    """Whether a number is another one but for roundings of a sum in fp32."""
    return abs(z - x) <= abs(x) * power_of_two(-_OF_SUMS)


def misread(asker: Asker) -> str:
    """Operands of another encoding, or products that are a multiple of a·b."""
    x = _asked_products(asker)
    if x.worst is not None and x.worst <= max(_APPROXIMATE, _ULPS * power_of_two(-max(1, x.bits))):
        return ""
    known = [(u * v, z) for (u, v), z in zip(x.factors[: x.powers], x.given, strict=False)]
    return _multiple(known, asker.k) or _encoding(asker.spec, x)


def _mitchell(x: Fraction, y: Fraction) -> Fraction:
    """A product of which the logarithms are linear between powers of two."""
    ex, ey = exponent_of(abs(x)), exponent_of(abs(y))
    f = abs(x) / power_of_two(ex) + abs(y) / power_of_two(ey) - 2
    size = power_of_two(ex + ey) * (1 + f) if f < 1 else power_of_two(ex + ey + 1) * f
    return size if (x < 0) == (y < 0) else -size


def _multiple(products: Sequence[tuple[Fraction, Fraction | None]], k: int) -> str:
    """What became of powers of two that are products, where it is the same multiple of each."""
    ratio, *others = {None if z is None else z / x for x, z in products}
    if not others and ratio:
        mean = f"the mean of {k} products, to which c is added" if ratio == Fraction(1, k) else "a factor"
        return f"{ratio} times the product: {mean}"
    return ""


def _encoding(spec: UnitSpec, x: _Products) -> str:
    """Which encoding products are those of, where it is that of posits, integers or other floats."""
    formats = (spec.a_format, spec.b_format, spec.d_format)
    for es in range(4):
        wide = [_posits(fmt.width, es) if fmt.width <= _WIDEST_POSIT else None for fmt in formats]
        if None in wide:
            break
        of_a, of_b, of_d = (y for y in wide if y is not None)
        if all(
            _nearest_posit(of_d, int(z), of_a[u] * of_b[v])
            for (u, v, _), z in zip(x.words, x.answers.tolist(), strict=True)
            if u in of_a and v in of_b
        ):
            return f"posits with {es} exponent bits in place of {', '.join({f.name: 0 for f in formats})}"
    names = " and ".join({f.name: 0 for f in formats[:2]})
    for reading, of in _readings(spec):
        if (scale := _scale_of(spec, x, of)) is not None:
            more = "" if not scale else f", the product times 2^{scale}"
            return f"operands that are {reading} in place of {names}{more}"
    near = power_of_two(-max(1, x.bits - 1))
    for text, function in _FUNCTIONS.items():
        exact = [function(u, v) for u, v in x.factors]
        if all(z is not None and abs(z - y) <= abs(y) * near for y, z in zip(exact, x.given, strict=True)):
            return f"{text} in place of a·b"
    given = dict(zip(x.factors, x.answers.tolist(), strict=False))
    shown = ", ".join(
        f"{plain(u)}·{plain(v)} gives {value_and_hex(spec.d_format, given[u, v])}"
        for u, v in ((Fraction(1), Fraction(1)), (Fraction(2), Fraction(1)))
        if (u, v) in given
    )
    return f"another encoding of the operands or results than {spec.operands}, or no products: {shown}"


#: Functions of two positive operands that are summed in place of products.
_FUNCTIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "a + b, as of a max-plus or min-plus product,": lambda a, b: a + b,
    "a - b": lambda a, b: a - b,
    "|a - b|, as of sums of absolute differences,": lambda a, b: abs(a - b),
    "(a - b)², as of squared distances,": lambda a, b: (a - b) ** 2,
    "(a + b)²": lambda a, b: (a + b) ** 2,
    "a² - b²": lambda a, b: a * a - b * b,
    "a² + b²": lambda a, b: a * a + b * b,
    "a²": lambda a, b: a * a,
    "a/b": lambda a, b: a / b,
    "the larger of a and b": max,
    "the smaller of a and b": min,
    "a": lambda a, b: a,
    "b": lambda a, b: b,
}

Reading = Callable[[int], Fraction | None]


def _readings(spec: UnitSpec) -> Iterator[tuple[str, Reading]]:
    """Encodings of operands of one width, by name, beside their own."""
    width = spec.a_format.width
    if width != spec.b_format.width:
        return

    def number(fmt: Format, word: int) -> Fraction | None:
        (x,) = numbers_of(fmt, [word])
        return x

    for name in _FLOATS:
        fmt = format_named(name)
        if fmt.width == width and fmt not in (spec.a_format, spec.b_format):
            yield name, partial(number, fmt)
    if width <= _WIDEST_POSIT:
        for es in range(4):
            yield f"posits with {es} exponent bits", _posits(width, es).get
    yield "integers", lambda word: Fraction(word - (word >> width - 1 << width))
    yield "integers without a sign", Fraction


#: Floats that operands may be read as.
_FLOATS = ("fp16", "bf16", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz")


def _scale_of(spec: UnitSpec, x: _Products, of: Reading) -> int | None:
    """The power of two that all answers are of products of words so read; None where they are not."""
    near = power_of_two(1 - spec.d_format.fraction_bits)
    scales, seen = set[int](), 0
    for (u, v, _), z in zip(x.words, x.given, strict=True):
        product = (of(u) or 0) * (of(v) or 0)
        if not product or not z:
            continue
        ratio = z / product
        if ratio < 0:
            return None
        e = exponent_of(ratio * (1 + near))
        if abs(ratio / power_of_two(e) - 1) > near:
            return None
        scales.add(e)
        seen += 1
    return scales.pop() if len(scales) == 1 and seen >= len(x.words) // 2 else None


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
