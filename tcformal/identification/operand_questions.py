"""What operands are to a device: which of b meets which of a, signs, NaNs, and terms alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcformal.design.rounding import NEGATED
from tcformal.design.spec import subtracts
from tcformal.design.trees.tree import Step
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.errors import DeviceError, InputError
from tcformal.identification.asker import Asker
from tcformal.identification.masks import AskBatch, Masks, bits_of, numbers_of
from tcformal.identification.order import Order
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import encode_exact, encoded
from tcformal.simulation.operands.batch import Batch, Raw, edge_encodings, rows_of, together, with_scales
from tcformal.simulation.operands.inputs import without_nan

# ------------------------------------------------------------------ layout
#: The most positions of a that one question tells apart.
_TOGETHER = 8

#: Products at a time where more might wrap.
_FEW = 4

#: Positions of a, each with a power of two, and positions of b, which hold ones.
_SumOfOnes = tuple[Sequence[tuple[int, int]], Sequence[int]]


@dataclass(frozen=True, slots=True)
class OperandLayout:
    """The pairing of a device's operands.

    `order[i]` is the position of b that meets a[i]; None where the answers are those of no pairing of K
    products.
    """

    order: tuple[int, ...] | None

    @property
    def plain(self) -> bool:
        """Whether every b[i] meets a[i]."""
        return self.order is not None and self.order == tuple(range(len(self.order)))


def find_layout(asker: Asker) -> OperandLayout:
    """The pairing of the products; the asker is told of one that is not the plain one.

    Errors: as `Asker.ask`.
    """
    k = asker.k
    plain = tuple(range(k))
    # Sums that wrap are shown in few products at a time.
    if _is_pairing(asker, plain) or _is_pairing(asker, plain, _FEW):
        return OperandLayout(plain)
    groups, order = _groups(asker.spec, k), [0] * k
    asked = [(group, t) for group in groups for t in range((k - 1).bit_length())]
    inputs = [([(i, 1 << weight) for weight, i in enumerate(group)], _bit(k, t)) for group, t in asked]
    for (group, t), answer in zip(asked, _answers(asker, inputs), strict=True):
        if answer is None or answer.denominator != 1 or not 0 <= answer < 1 << len(group):
            return OperandLayout(None)
        for weight, i in enumerate(group):
            order[i] |= (int(answer) >> weight & 1) << t
    found = tuple(order)
    if sorted(found) != list(plain) or not _is_pairing(asker, found):
        return OperandLayout(None)
    asker.layout = found
    return OperandLayout(found)


def first_sums(spec: UnitSpec, k: int) -> Batch:
    """What `find_layout` asks first: dot products of k terms."""
    return _batch(spec, k, _paired(range(k)))


def _is_pairing(asker: Asker, order: Sequence[int], most: int | None = None) -> bool:
    """Whether a[i] meets b[order[i]] for every i, shown with at most so many products of 1 · 1 at a time.

    All products are 1 · 1, or those whose position in b has bit t: as many meet as there are such positions,
    for every t, only if no position is another's.
    """
    inputs = _paired(order, most)
    return _answers(asker, inputs) == [Fraction(len(ones)) for ones, _ in inputs]


def _paired(order: Sequence[int], most: int | None = None) -> list[_SumOfOnes]:
    """What `_is_pairing` asks: a part of a set, in a, meets the whole set, in b, in all its products."""
    k = len(order)
    sets = [list(range(k)), *(_bit(k, t) for t in range((k - 1).bit_length()))]
    size = most or k
    parts = [(bs[i : i + size], bs) for bs in sets for i in range(0, len(bs), size)]
    return [([(i, 1) for i in range(k) if order[i] in part], bs) for part, bs in parts]


def _bit(k: int, t: int) -> list[int]:
    """The positions whose number has bit t."""
    return [i for i in range(k) if i >> t & 1]


def _groups(spec: UnitSpec, k: int) -> list[range]:
    """Positions of a that one question tells apart: they have distinct powers of two, and D holds the sum."""
    size = 1
    while (
        size < min(_TOGETHER, spec.d_format.fraction_bits)
        and encoded(spec.a_format, power_of_two(size)) is not None
    ):
        size += 1
    return [range(start, min(start + size, k)) for start in range(0, k, size)]


def _batch(spec: UnitSpec, k: int, inputs: Sequence[_SumOfOnes]) -> Batch:
    """Positions of a with values, and ones at positions of b, as operands."""
    a, b = (np.zeros((len(inputs), k), np.uint64) for _ in range(2))
    for row, (valued, ones) in enumerate(inputs):
        for i, value in valued:
            a[row, i] = encode_exact(spec.a_format, Fraction(value))
        b[row, list(ones)] = spec.b_format.one
    return with_scales(spec, Batch(a, b, np.zeros(len(inputs), np.uint64)))


def _answers(asker: Asker, inputs: Sequence[_SumOfOnes]) -> list[Fraction | None]:
    """Sums as numbers; None for what is no number."""
    return numbers_of(asker.spec.d_format, asker.ask(_batch(asker.spec, asker.k, inputs)))


# ------------------------------------------------------------------ NaNs
#: The share of NaNs among the operands of dot products that have several, and their seed.
_SHARES, _SEED = (0.06, 0.06, 0.12, 0.12, 0.25, 0.5), 11
#: Products of which there are more where neighbours are not all that is near.
_NEAR = 2
#: Words of NaN factors that are tried: where there are more, they are those of the operands.
_FACTORS = 2


def invalid_operations(spec: UnitSpec, k: int) -> Batch:
    """Inputs whose result is NaN, the most telling first: Inf · 0, Inf - Inf, and NaN operands.

    The last ones have several NaNs, each with a sign and a fraction of its own, where the formats have such.
    """
    places = [("a", spec.a_format), ("c", spec.c_format)]
    if spec.b_format != spec.a_format:  # of which one may have no Inf
        places.insert(1, ("b", spec.b_format))
    rows = [(place, word) for place, fmt in places for word in edge_encodings(fmt)]
    n = len(rows)
    a, b = np.zeros((n, k), np.uint64), np.zeros((n, k), np.uint64)
    c = np.zeros(n, np.uint64)
    firsts = {"a": a[:, 0], "b": b[:, 0], "c": c}
    for i, (place, word) in enumerate(rows):
        firsts[place][i] = word
    made = with_scales(spec, Batch(a, b, c))
    special = ~np.isin(np.arange(n), without_nan(spec, made)) | _infinite(spec, made)
    made = rows_of(made, np.flatnonzero(special))
    kinds = {x.specials for x in spec.input_formats().values()}
    if spec.scale_format is None and kinds <= {Specials.IEEE, Specials.ALL_ONES_NAN}:
        many = [_many_nans(spec, k)] if kinds == {Specials.IEEE} else []
        made = together(made, *many, _two_nans(spec, k))
    return made


def nan_word(asker: Asker) -> int:
    """What an invalid operation gives: the first NaN of inputs without NaN operands, else of those with some.

    Errors: as `Asker.ask`.
    """
    d, batch = asker.spec.d_format, invalid_operations(asker.spec, asker.k)
    answers, plain = asker.ask(batch), without_nan(asker.spec, batch)
    for word in [*answers[plain].tolist(), *answers.tolist()]:
        if d.is_nan(word):
            return int(word)
    return d.infinity | 1 << (d.fraction_bits - 1 + d.ignored_low_bits)


def nan_words(spec: UnitSpec, history: tuple[Batch, Raw], word: int) -> list[tuple[int, int]]:
    """The words of invalid operations, `word`, and of NaN factors that a history shows."""
    batch, answers = history
    d = spec.d_format
    factors = np.zeros(len(answers), np.bool_)
    for name in ("a", "b"):
        one = replace(batch, **{x: np.zeros_like(y) for x, y in batch.named().items() if x != name})
        factors |= ~np.isin(np.arange(len(answers)), without_nan(spec, one))
    seen = answers[factors & np.asarray(d.is_nan(answers))]
    others = dict.fromkeys(int(x) for x in seen.tolist())
    return [(word, x) for x in list(others)[:_FACTORS] or [word]]


def _many_nans(spec: UnitSpec, k: int) -> Batch:
    """Dot products of ones and NaNs, few and many of these."""
    rng, n = np.random.default_rng(_SEED), len(_SHARES)

    def words(fmt: Format, shape: tuple[int, ...]) -> Raw:
        fraction = rng.integers(1, 1 << fmt.fraction_bits, shape, np.uint64)
        sign = rng.integers(0, 2, shape, np.uint64) << np.uint64(fmt.width - 1)
        nans = sign | np.uint64(fmt.infinity) | fraction << np.uint64(fmt.ignored_low_bits)
        shares = np.array(_SHARES).reshape(n, *[1] * (len(shape) - 1))
        return np.where(rng.random(shape) < shares, nans, np.uint64(fmt.one))

    return Batch(words(spec.a_format, (n, k)), words(spec.b_format, (n, k)), words(spec.c_format, (n,)))


def _two_nans(spec: UnitSpec, k: int) -> Batch:
    """Dot products of ones and two NaNs: factors of one product, of neighbours, and c beside a factor."""
    factors = [(name, i) for i in range(min(k, 2)) for name in ("a", "b")]
    far = [(("a", 0), ("a", 2))] if k > _NEAR else []
    beside_c = [(("c", 0), factor) for factor in factors[:2]]
    pairs = [*itertools.combinations(factors, 2), *far, *beside_c]
    formats = spec.input_formats()
    made = {
        name: np.full((len(pairs), 1 if name == "c" else k), formats[name].one, np.uint64) for name in "abc"
    }
    for row, pair in enumerate(pairs):
        for minus, (name, i) in enumerate(pair):
            made[name][row, i] = _nan(formats[name], minus)
    return Batch(made["a"], made["b"], made["c"][:, 0])


def _nan(fmt: Format, minus: int) -> int:
    """A NaN of either sign, with a fraction of its own where the format has several."""
    sign = minus << (fmt.width - 1)
    if fmt.specials is Specials.ALL_ONES_NAN:
        return sign | ((1 << (fmt.width - 1)) - 1)
    return sign | fmt.infinity | (1 + minus) << fmt.ignored_low_bits


def _infinite(spec: UnitSpec, batch: Batch) -> NDArray[np.bool_]:
    """Where an operand is infinite, in formats that have infinities."""
    found = np.zeros(len(batch.c), np.bool_)
    for name in "abc":
        fmt = spec.input_formats()[name]
        try:
            infinity = fmt.infinity
        except InputError:
            continue
        words = batch.named()[name].reshape(len(batch.c), -1)
        found |= ((words & np.uint64((1 << (fmt.width - 1)) - 1)) == np.uint64(infinity)).any(axis=1)
    return found


# ------------------------------------------------------------------ terms alone
#: Products of random factors that are asked alone, and their seed.
_PRODUCTS, _ALONE_SEED = 16, 3

#: Powers of two below 1 that are asked alone.
_LOW_POWERS = 64

#: What is measured of a device that refuses c, and what is not tested of it then.
REFUSES_C, ANY_C = "none: the device takes no c but 0", "any c but 0"


@dataclass(frozen=True, slots=True)
class Isolated:
    """What terms alone show.

    Ranges and units: fraction bits that products have, and c, at most, after every rounding.
    """

    product_bits: int
    c_bits: int
    #: The exponent from which results overflow, where that is below the end of the format; None elsewhere.
    limit: int | None = None
    #: The same of products alone: of what becomes of them before c is added.
    product_limit: int | None = None
    #: The least exponent of a power of two that comes back as a product, and the least that was asked.
    least: int = 0
    floor: int = 0


def isolated(asker: Asker) -> Isolated:
    """Ask for products and for c alone, as random numbers and as powers of two.

    Errors: as `Asker.ask`.
    """
    batch, powers, low, of_c = _alone(asker.spec, asker.k)
    d, some = asker.spec.d_format, 2 * _PRODUCTS
    answers = asker.ask(batch).tolist()
    if asker.refused:
        of_c = []
    bits = [_fraction_bits(d, word) for word in answers[:some]]
    made = dict(zip(powers, answers[some : some + len(powers)], strict=True))
    limit = overflow_limit(d, made.items())
    of_products = overflow_limit(d, ((e, word) for e, word in made.items() if powers[e]))
    rest = answers[some + len(powers) :]
    back = zip(low, numbers_of(d, rest[: len(low)]), strict=True)
    if any(e == limit and number == power_of_two(e) for e, number in of_powers(d, of_c, rest[len(low) :])):
        limit = None  # a c that large comes back: it is products, or inner sums, that overflow
    least = min((e for e, x in back if x is not None and abs(x) == power_of_two(e)), default=0)
    alone = max(bits[:_PRODUCTS]), max(bits[_PRODUCTS:])
    return Isolated(*alone, limit, of_products, least, min(low, default=0))


def of_powers(d: Format, exponents: Sequence[int], words: Sequence[int]) -> list[tuple[int, Fraction | None]]:
    """Exponents with the numbers that the first words are."""
    return [*zip(exponents, numbers_of(d, words[: len(exponents)]), strict=True)]


def _alone(spec: UnitSpec, k: int) -> tuple[Batch, dict[int, bool], list[int], list[int]]:
    """Random products, as many c, powers of two from 2^0 up, those below, and those up as c.

    Every fourth product is a number times 1: inexact ones that are rounded to odd, then to even, lack a bit.
    The exponents of those up, with whether they are products, of those below, and of c.
    """
    rng, d, some = np.random.default_rng(_ALONE_SEED), spec.d_format, random_products(spec)
    some = [(x, y if n % 4 else spec.b_format.one, 0) for n, (x, y, _) in enumerate(some)]
    some += [(0, 0, _significand(rng, spec.c_format)) for _ in range(_PRODUCTS)]
    powers = dict(x for e in range(d.e_max + 1) if (x := _power(spec, e)) is not None)
    floor = max(spec.a_format.e_min + spec.b_format.e_min, d.e_min - d.fraction_bits)
    step = max(1, -floor // _LOW_POWERS)
    low = dict(x for e in range(floor, 0, step) if (x := _power(spec, e)) is not None and x[1][0])
    of_c = {e: (0, 0, word) for e in powers if (word := encoded(spec.c_format, power_of_two(e))) is not None}
    rows = [*some, *powers.values(), *low.values(), *of_c.values()]
    return first_products(spec, k, rows), {e: bool(words[0]) for e, words in powers.items()}, [*low], [*of_c]


def random_products(spec: UnitSpec) -> list[tuple[int, int, int]]:
    """Words of two factors and a c of 0: factors from 1 to 2 of full length."""
    rng = np.random.default_rng([_ALONE_SEED, 1])
    return [(_significand(rng, spec.a_format), _significand(rng, spec.b_format), 0) for _ in range(_PRODUCTS)]


def subnormal_factors(spec: UnitSpec, k: int) -> Batch:
    """Products of a subnormal number of one factor and a large one of the other, and a subnormal c.

    They tell which of the operands' subnormals are zeros: random ones are too small to be seen in a sum.
    """
    a, b, c = spec.a_format, spec.b_format, spec.c_format
    rows = [(x, _largest_power(b), 0) for x in _subnormals(a)]
    rows += [(_largest_power(a), y, 0) for y in _subnormals(b)]
    rows += [(0, 0, z) for z in _subnormals(c)]
    return first_products(spec, k, rows)


def large_sums(spec: UnitSpec, k: int) -> Batch:
    """Sums of equal products as large as products and results can be, and two such sums that cancel.

    Inner sums may end below them.
    """
    counts = [(1 << i, minus) for i in range(1, k.bit_length()) for minus in (False, True)]
    a, b = (np.zeros((len(counts), k), np.uint64) for _ in "ab")
    for row, (n, minus) in enumerate(counts):
        of_d = spec.d_format.e_max - n.bit_length() - 1
        found = _power(spec, min(spec.a_format.e_max + spec.b_format.e_max, of_d))
        if found is None:
            continue
        for words, word, fmt in zip((a, b), found[1], (spec.a_format, spec.b_format), strict=False):
            half = 1 << fmt.fraction_bits - 1 if fmt.fraction_bits else 0
            words[row, :n] = word | half << fmt.ignored_low_bits
        if minus:
            a[row, n // 2 : n] |= np.uint64(spec.a_format.sign_bit)
    return with_scales(spec, Batch(a, b, np.zeros(len(counts), np.uint64)))


#: Inputs of terms at three heights, and the seed of their places.
_HEIGHTS, _PLACES = 24, 1


def cancelled_twice(spec: UnitSpec, k: int, *, with_c: bool) -> Batch:
    """Two pairs of terms that cancel, far from each other, and a term far below both, at random places.

    Sums whose errors are summed apart, in the format of results, lose that term; exact ones keep it.
    Shapes: no rows where fewer than five terms are summed.
    """
    masks, d = Masks(spec.operands, k, with_c=with_c, high=0), spec.d_format
    low, high = d.e_min, min(d.e_max - 2, spec.a_format.e_max + spec.b_format.e_max)
    held = [n for n in range(low, high + 1) if masks.word_pair(0, power_of_two(n))]
    if len(masks.leaves) < 5 or not held:
        return masks.batch([])
    heights = [power_of_two(n) for n in (held[-1], held[len(held) // 2], held[0])]
    values = (heights[0], -heights[0], heights[1], -heights[1], heights[2])
    random, rows = np.random.default_rng(_PLACES), []
    for _ in range(_HEIGHTS):
        row = dict(zip(map(int, random.permutation(masks.leaves)), values, strict=False))
        if all(masks.word_pair(leaf, value) for leaf, value in row.items()):
            rows.append(row)
    return with_scales(spec, masks.batch(rows))


def _subnormals(fmt: Format) -> list[int]:
    """The smallest and the largest subnormal number, which is negative."""
    most = (1 << fmt.fraction_bits) - 1
    made = dict.fromkeys([1, most] if most else [])
    return [(fmt.sign_bit if n > 1 else 0) | n << fmt.ignored_low_bits for n in made]


def _largest_power(fmt: Format) -> int:
    """The largest power of two."""
    word = encoded(fmt, power_of_two(fmt.e_max))
    assert word is not None
    return word


#: The most bits below the units bit that an inner sum is asked for.
_INNER_BITS = 40


def inner_bits(ask: AskBatch, spec: UnitSpec, k: int, order: Order) -> dict[bool, int]:
    """The fraction bits that come through inner sums, those of products and those of sums alone.

    The first inner sum of either kind is asked for 1 + 2^-n, and the 1 is taken away beside it.
    Shapes: `ask` as for `order_of`; a key says whether the sum has products.
    Zero, NaN, Inf: a kind is left out where there is no such sum, or its sums are not finite.
    """
    if order.root is None:
        return {}
    made: dict[bool, int] = {}
    for outer in order.root.steps():
        for inner in outer.children:
            if not isinstance(inner, Step) or (products := _has_products(inner)) in made:
                continue
            leaves = sorted(_leaf(x, k) for x in inner.children if x != "zero")
            beside = [_leaf(x, k) for x in outer.children if x not in (inner, "zero")]
            if len(leaves) < _TWO or not beside:
                continue
            others = [x for x in leaves if x != k]  # c is asked where there is no other leaf
            x, y, z = leaves[0], (others if len(others) > 1 else leaves)[-1], beside[0]
            bits, _ = _kept_beside(ask, spec, k, {x: 1, z: -1}, y)
            if bits is not None:
                made[products] = bits
    return made


def c_cut(ask: AskBatch, spec: UnitSpec, k: int, order: Order) -> dict[str, str]:
    """The fraction bits that the sum of c keeps of other terms, and of c, by parameter, where they differ.

    Where they do not, but a c of twice the largest product hides no bit of another one: e_max is that of the
    products alone.
    Shapes: `ask` as for `order_of`; nothing where c is in a sum of less than three terms beside it.
    """
    steps = [] if order.root is None else order.root.steps()
    for step in steps:
        if "c" not in step.children:
            continue
        x, y, z, *_ = [*(_leaf(child, k) for child in step.children if child not in ("c", "zero")), *[k] * 3]
        if k in (x, y, z):
            break
        beside = {x: 1, y: -1}
        (of_terms, deepest), (of_c, lowest) = (_kept_beside(ask, spec, k, beside, leaf) for leaf in (z, k))
        if (of_terms, of_c) == (deepest, lowest):
            break  # nothing is lost of either, as far down as they reach
        short = of_terms == deepest  # terms may keep more than reaches the result
        if of_terms is not None and of_c is not None and (of_c < of_terms if short else of_c != of_terms):
            return {"fraction_bits": str(of_terms), "c_bits": str(of_c)}
        below_c, _ = _kept_beside(ask, spec, k, {x: 1, y: 1, k: -2}, z)
        if of_terms is not None and not short and of_terms == below_c and of_terms < _INNER_BITS:
            return {"fraction_bits": str(of_terms), "e_max_of": "products"}
    return {}


def _kept_beside(
    ask: AskBatch, spec: UnitSpec, k: int, large: Mapping[int, int], small: int
) -> tuple[int | None, int | None]:
    """How far below 1 powers of two of a leaf come back beside leaves that cancel, and how far alone.

    Where all that come back alone do so, the same is asked below a larger power of two, which short numbers
    reach farther below.  None where none comes back.
    """
    masks = Masks(spec.operands, k, with_c=True, high=0)
    deepest = min(_INNER_BITS, spec.d_format.fraction_bits - spec.d_format.e_min)
    tops = [
        top for top in range(1, min(_INNER_BITS, spec.d_format.e_max - 1))
        if all(masks.word_pair(leaf, value * power_of_two(top)) for leaf, value in large.items())
    ]  # fmt: skip
    found = reach = None
    for top in (0, *tops[-1:]):
        beside = {leaf: value * power_of_two(top) for leaf, value in large.items()}
        terms = {n: power_of_two(top - n) for n in range(1, deepest + 1)}
        terms = {n: x for n, x in terms.items() if masks.word_pair(small, x)}
        rows = [row for x in terms.values() for row in ({small: x}, {**beside, small: x})]
        numbers = numbers_of(spec.d_format, ask(masks.batch(rows)))
        # A flushed operand says nothing of what a sum keeps.
        came = {n: numbers[2 * i + 1] == x for i, (n, x) in enumerate(terms.items()) if numbers[2 * i] == x}
        if not any(came.values()):
            break
        lost = min((n for n, kept in came.items() if not kept), default=None)
        reach, found = max(came), max(came) if lost is None else lost - 1
        if lost is not None or reach == deepest:
            break
    return found, reach


#: How far below the half of a last place lie the terms that show whether results are rounded twice, and the
#: exponent of the largest term, one that products of short numbers have.
_BELOW_HALVES, _LARGE = (1, 3, 6, 10, 16, 31), 8


def beside_midpoints(spec: UnitSpec, k: int, order: Order) -> Batch:
    """Sums a little beside the middle of two results, of which those rounded twice are others.

    Random sums are so near to a middle only once in 2^n, where a partial sum has n bits more than a result.
    Shapes: dot products of k terms: two of one part of the outermost sum, and one of another part.
    """
    masks, root = Masks(spec.operands, k, with_c=True, high=0), order.root
    while root is not None and len(root.children) == 1 and isinstance(root.children[0], Step):
        root = root.children[0]
    parts = [] if root is None else sorted((_leaves(x, k) for x in root.children if x != "zero"), key=len)
    if sum(map(len, parts)) < _THREE:
        return masks.batch([])
    one, two, *_ = [*parts[-1], *parts[0]] if len(parts[-1]) > 1 else [*parts[-1], *parts[-2]]
    half = _LARGE - spec.d_format.precision
    beside = [sign * power_of_two(half - n) for n in _BELOW_HALVES for sign in (1, -1)]
    rows = [{one: power_of_two(_LARGE), two: power_of_two(half), parts[0][0]: x} for x in beside]
    return masks.batch([row for row in rows if all(masks.word_pair(i, x) for i, x in row.items())])


def _leaves(child: int | str | Step, k: int) -> list[int]:
    """The products of a sum's part, k for c: those of outer sums first."""
    if not isinstance(child, Step):
        return [_leaf(child, k)]
    steps = [*child.steps()][::-1]
    return [_leaf(x, k) for step in steps for x in step.children if not isinstance(x, Step) and x != "zero"]


#: The least leaves of a sum that rounds, and of one that has its half of a last place from one of them.
_TWO, _THREE = 2, 3


def _has_products(step: Step) -> bool:
    return any(isinstance(x, int) for x in step.children)


def _leaf(child: int | str | Step, k: int) -> int:
    """A product of a sum's part; k for c."""
    if isinstance(child, Step):
        return next(iter(child.products()), k)
    return child if isinstance(child, int) else k


#: Bits between terms that partial sums in fp64 do not keep.
_DEEP = (54, 60, 90)


def below_exact(spec: UnitSpec, k: int, order: Order) -> Batch:
    """Terms far below two that cancel, in sums that lost nothing so far: partial sums in fp64 lose them.

    Shapes: dot products of k terms: three parts of one sum, in each order.
    """
    masks, d = Masks(spec.operands, k, with_c=True, high=0), spec.d_format
    rows = []
    for step, bits in order.fraction_bits.items():
        parts = [_leaf(x, k) for x in step.children if x != "zero"]
        if bits is not None or len(parts) < _THREE:
            continue
        parts = sorted({parts[0], parts[1], parts[-1]}, key=lambda x: -1 if x == k else x)
        end = min(d.e_max, *(_ends_of(spec, leaf == k) for leaf in parts)) - 2
        for deep in _DEEP:
            for high, small in itertools.product(range(end, 0, -max(1, end // 8)), parts):
                one, two = (x for x in parts if x != small)
                row = {one: power_of_two(high), two: -power_of_two(high), small: power_of_two(high - deep)}
                if high - deep >= d.e_min and all(masks.word_pair(i, x) for i, x in row.items()):
                    rows.append(row)
    return masks.batch(rows)


def _ends_of(spec: UnitSpec, of_c: bool) -> int:
    """The largest exponent of c, or of products."""
    return spec.c_format.e_max if of_c else spec.a_format.e_max + spec.b_format.e_max


def overflow_limit(d: Format, powers: Iterable[tuple[int, int]]) -> int | None:
    """The least n from which on no 2^n comes back, though all lower ones do; None where all come back.

    Shapes: exponents, ascending, with the device's words for these powers of two; zeros are no end, but say
    that nothing was added.
    """
    found = None
    for e, word in powers:
        (number,) = numbers_of(d, [word])
        if number == 0:
            continue
        same = number is not None and abs(number) == power_of_two(e)
        if found is None and not same:
            found = e
        elif found is not None and same:
            return None
    return found or None


def refuses_c(asker: Asker, failure: DeviceError) -> bool:
    """Whether a device that failed refuses a c that is not 0, and nothing else; from then on every c is 0."""
    spec = asker.spec
    a, b = (np.full((1, asker.k), fmt.one, np.uint64) for fmt in (spec.a_format, spec.b_format))
    plain = with_scales(spec, Batch(a, b, np.zeros(1, np.uint64)))
    with suppress(DeviceError):
        asker.ask(plain)
        try:
            asker.ask(replace(plain, c=np.array([spec.c_format.one], np.uint64)))
        except DeviceError as error:
            asker.refused = str(error) or str(failure)
    return bool(asker.refused)


def product_signs(asker: Asker) -> str:
    """Which products are subtracted, as `negated` has it; empty where that is none of its words.

    Errors: as `Asker.ask`.
    """
    spec, k = asker.spec, asker.k
    a, b = (np.diag(np.full(k, fmt.one, np.uint64)) for fmt in (spec.a_format, spec.b_format))
    signs = numbers_of(spec.d_format, asker.ask(with_scales(spec, Batch(a, b, np.zeros(k, np.uint64)))))
    for word in NEGATED:
        if signs == [-1 if subtracts(word, i) else 1 for i in range(k)]:
            return word
    return ""


def with_signs(ask: AskBatch, negated: str, spec: UnitSpec) -> AskBatch:
    """Questions in which products that are subtracted have the other sign, so that they are added."""

    def asked(batch: Batch) -> Raw:
        a = batch.a.copy()
        columns = [i for i in range(a.shape[1]) if subtracts(negated, i)]
        a[:, columns] ^= np.where(a[:, columns] != 0, np.uint64(spec.a_format.sign_bit), np.uint64(0))
        return np.asarray(ask(replace(batch, a=a)))

    return asked


def beside_order(order: Order, negated: str, refused: str) -> dict[str, str]:
    """What is measured beside the order of a sum: subtracted products, and whether there is a c.

    `refused`: the words in which the device refuses any c but 0, or nothing.
    """
    made = {}
    if negated != "none":
        made["subtracted products"] = "those of odd k" if negated == "odd" else negated
    if refused:
        made["accumulator"] = f"{REFUSES_C} ({refused})"
    elif order.root is not None and not any("c" in step.children for step in order.root.steps()):
        made["accumulator"] = "none: no c changes a result"
    return made


# ------------------------------------------------------------------ scales
def scale_signs(spec: UnitSpec, k: int) -> Batch:
    """1 · 1 with scales of 1, and with the top bit of A's scales, then of B's, set; nothing without such."""
    made, n = first_products(spec, k, [(spec.a_format.one, spec.b_format.one, 0)] * 3), range(3)
    if spec.scale_format is None or spec.scale_format.sign is Sign.ABSENT:
        return rows_of(made, np.arange(0))
    assert made.scale_a is not None
    top = np.uint64(1 << (spec.scale_format.width - 1))
    signed = [np.where(np.array(n)[:, np.newaxis] == i, made.scale_a | top, made.scale_a) for i in (1, 2)]
    return replace(made, scale_a=signed[0], scale_b=signed[1])


def scale_format(asker: Asker) -> Format | None:
    """The format of scales by what their top bits do; None without scales, or where no format does that.

    Errors: as `Asker.ask`.
    """
    spec, fmt = asker.spec, asker.spec.scale_format
    asked = scale_signs(spec, asker.k)
    if fmt is None or not len(asked.c):
        return fmt
    one, *signed = numbers_of(spec.d_format, asker.ask(asked))
    if not one or signed not in ([one, one], [-one, -one]):
        return None
    sign = Sign.IGNORED if signed == [one, one] else Sign.PRESENT
    return next((x for x in (fmt, *FORMATS.values()) if x.sign is sign and _signed(x, fmt) == fmt), None)


def scales_shown(fmt: Format) -> str:
    """The format of scales that are not as the device was said to take them, in words."""
    return f"{fmt.name}: their sign {'counts' if fmt.sign is Sign.PRESENT else 'is ignored'}"


def _signed(fmt: Format, like: Format) -> Format:
    """A format with the name, source and sign of another one."""
    return replace(fmt, name=like.name, source=like.source, sign=like.sign)


def first_products(spec: UnitSpec, k: int, rows: Sequence[tuple[int, int, int]]) -> Batch:
    """The first product and c of each row; everything else is zero."""
    a, b = (np.zeros((len(rows), k), np.uint64) for _ in "ab")
    a[:, 0], b[:, 0] = [x for x, _, _ in rows], [y for _, y, _ in rows]
    return with_scales(spec, Batch(a, b, np.array([z for _, _, z in rows], np.uint64)))


def _significand(rng: np.random.Generator, fmt: Format) -> int:
    """A number from 1 to 2 whose last fraction bit is set."""
    fraction = int(rng.integers(0, 1 << fmt.fraction_bits)) | (fmt.fraction_bits > 0)
    return fmt.one | fraction << fmt.ignored_low_bits


def _power(spec: UnitSpec, e: int) -> tuple[int, tuple[int, int, int]] | None:
    """A power of two as a product, or as c where the factors do not reach so far; None where neither does."""
    low = max(spec.a_format.e_min, min(spec.a_format.e_max, e // 2))
    for first in (low, min(spec.a_format.e_max, max(spec.a_format.e_min, e - spec.b_format.e_max))):
        x = encoded(spec.a_format, power_of_two(first))
        y = encoded(spec.b_format, power_of_two(e - first))
        if x is not None and y is not None:
            return e, (x, y, 0)
    c = encoded(spec.c_format, power_of_two(e))
    return None if c is None else (e, (0, 0, c))


def _fraction_bits(d: Format, word: int) -> int:
    """The fraction bits that a finite result needs; 0 for others."""
    (number,) = numbers_of(d, [word])
    return 0 if number is None else bits_of(number)
