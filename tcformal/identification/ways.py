"""Ways of summing that are no trees of sums, or have other partial sums, in exact fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial

from tcformal.encodings.spec import Format
from tcformal.oracle.rounded import align
from tcformal.oracle.values import exponent_of

Rounding = Callable[[Fraction], Fraction]
Way = Callable[[Sequence[Fraction], Fraction, Rounding], Fraction]


def ways(d: Format, k: int) -> Iterator[tuple[str, Callable[[Sequence[Fraction], Fraction], Fraction], bool]]:
    """Ways of summing, with the formats of partial sums, and whether each is no tree of sums."""
    shapes = {"": (d.precision, d.e_min)} | ({} if d.precision >= _FP32[0] else {" in fp32": _FP32})
    for name, shape in shapes.items():
        for text, way in _WAYS.items():
            yield f"{text}{name}", partial(_in_d, d, way, _rounding(*shape)), True
        if d.precision > _FP32[0]:
            continue
        for n in range(2, k + 1):
            to = name.removeprefix(" in ") or d.name
            whole = "once, at the end" if n == k else f"every {n} products"
            way = partial(_in_doubles, n)
            yield (
                f"partial sums in fp64, rounded to {to} {whole}",
                partial(_in_d, d, way, _rounding(*shape)),
                n < k,
            )
            if k % n:
                continue
            each = f"sums of {n} products in fp64"
            way = partial(_groups_in_doubles, n, _rounding(*shape))
            text = f"{each}, each rounded to {to}, then added one by one to c"
            yield text, partial(_in_d, d, way, _rounding(*shape)), False
            way = partial(_groups_in_doubles, n, lambda x: x)
            yield f"{each}, added one by one to c in {to}", partial(_in_d, d, way, _rounding(*shape)), False


_FP32, _FP64 = (24, -126), (53, -1022)


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


def _in_doubles(n: int, p: Sequence[Fraction], c: Fraction, to: Rounding) -> Fraction:
    """A chain in fp64 that is rounded after every n products."""
    double = _rounding(*_FP64)
    for i in range(0, len(p), n):
        c = to(_chain([c, *p[i : i + n]], double))
    return c


def _groups_in_doubles(n: int, each: Rounding, p: Sequence[Fraction], c: Fraction, to: Rounding) -> Fraction:
    """Chains of n products in fp64, each rounded by `each`, which are added to c."""
    double = _rounding(*_FP64)
    return _chain([c, *(each(_chain(p[i : i + n], double)) for i in range(0, len(p), n))], to)


def _two_smallest(terms: Iterable[Fraction], to: Rounding) -> Fraction:
    left = sorted(terms, key=abs)
    while len(left) > 1:
        x, y, *rest = left
        left = sorted([to(x + y), *rest], key=abs)
    return left[0]


def _by_sign(terms: Sequence[Fraction], to: Rounding) -> Fraction:
    return to(_chain([x for x in terms if x > 0], to) + _chain([x for x in terms if x < 0], to))


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


def _two_sum_tree(p: Sequence[Fraction], c: Fraction, to: Rounding, *, halves: bool) -> Fraction:
    """A tree of sums of two products, then c; the errors of all sums are added at the end."""
    errors, left = Fraction(0), [*p]
    while len(left) > 1:
        n = (len(left) + 1) // 2
        exact = [sum(left[i::n] if halves else left[2 * i : 2 * i + 2], Fraction(0)) for i in range(n)]
        left = [to(x) for x in exact]
        for x, rounded in zip(exact, left, strict=True):
            errors = to(errors + x - rounded)
    whole = left[0] + c
    return to(to(whole) + to(errors + whole - to(whole)))


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
    "terms sorted by value, the least first, then added one by one": lambda p, c, to: _chain(
        sorted([*_rounded(p, to), c]), to
    ),
    "terms sorted by value, the greatest first, then added one by one": lambda p, c, to: _chain(
        sorted([*_rounded(p, to), c], reverse=True), to
    ),
    "the two smallest terms added until one is left": lambda p, c, to: _two_smallest([*p, c], to),
    "positive terms and negative ones added apart, one by one": lambda p, c, to: _by_sign([*p, c], to),
    "positive products and negative ones added apart, one by one, then to c": lambda p, c, to: to(
        _by_sign(p, to) + c
    ),
    "positive products first, one by one to c, then negative ones": lambda p, c, to: _chain(
        [c, *(x for x in p if x >= 0), *(x for x in p if x < 0)], to
    ),
    "compensated sum (Kahan's)": lambda p, c, to: _kahan([c, *_rounded(p, to)], to),
    "compensated sum (Kahan's), c as its last term": lambda p, c, to: _kahan([*_rounded(p, to), c], to),
    "compensated sum (Kahan's), c last": lambda p, c, to: to(_kahan(_rounded(p, to), to) + c),
    "compensated sum (errors of each sum added at the end, as Neumaier's)": lambda p, c, to: _two_sum(
        [c, *_rounded(p, to)], to
    ),
    "compensated sum (errors of each sum added at the end, as Neumaier's), c as its last term": (
        lambda p, c, to: _two_sum([*_rounded(p, to), c], to)
    ),
    "compensated sum (errors of each sum added at the end, as Neumaier's), c last": lambda p, c, to: to(
        _two_sum(_rounded(p, to), to) + c
    ),
    "compensated sum (products in a tree of neighbours, then c, errors added at the end)": (
        lambda p, c, to: _two_sum_tree(p, c, to, halves=False)
    ),
    "compensated sum (products in a tree of halves, then c, errors added at the end)": (
        lambda p, c, to: _two_sum_tree(p, c, to, halves=True)
    ),
}
