"""What a device whose sums are no design of integers looks like: one sentence, from questions; a hint.

Nothing here makes a verdict: it says where to look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from tcformal.design.integer_sums import number
from tcformal.encodings.spec import Format
from tcformal.identification.asker import Asker
from tcformal.identification.integer_questions import Sums, Terms, become, run_of, total_of
from tcformal.oracle.rounded import round_units

#: Small sums that ways of computing are held against, their seed, and the largest factor and c in them.
_SMALL, _SEED, _FACTOR, _ADDEND = 64, 29, 15, 2000
#: Bits that floating-point sums keep, by name.
_KEPT = {24: "fp32", 53: "fp64", 11: "fp16", 8: "bf16"}
#: Factors of all products, and c; what becomes of one integer; a way of computing a sum.
Factored = list[tuple[int, int]]
Of = Callable[[int], int]
Way = Callable[[Factored, int], int]


def kind_of_integers(asker: Asker) -> str:
    """What a deterministic device looks like; empty where nothing fits.

    Errors: as `Asker.ask`.
    """
    sums = Sums(asker)
    return next((text for test in (_ones, _small, _of_c, _whole) if (text := test(sums))), "")


def _ones(sums: Sums) -> str:
    """No product, and one product of ones."""
    k, corners = sums.asker.k, [(0, 0), (1, 0), (0, 1), (1, 1)]
    f00, f10, f01, f11 = sums.ask([({0: f}, 0) for f in corners])
    ones = [x - f00 for x in sums.ask([({i: (1, 1)}, 0) for i in range(k)])]
    if f11 - f10 - f01 + f00 == 1 and (f10, f01) != (f00, f00) and f00 == k * (f10 - f00) * (f01 - f00):
        return f"operands with zero points: (a - {f00 - f01})·(b - {f00 - f10})"
    if f00 and ones == [1] * k:
        return f"{f00} added to every sum"
    if lost := [i for i, x in enumerate(ones) if x == 0]:
        if len(lost) < k:
            return f"product{'s' if len(lost) > 1 else ''} {run_of(lost)} never added: 1·1 there gives 0"
    elif other := [i for i, x in enumerate(ones) if x != 1]:
        which, x = f"product{'s' if len(other) > 1 else ''} {run_of(other)}", ones[other[0]]
        if len(other) < k:
            return f"{which} subtracted" if x == -1 else f"{which} multiplied by {x}"
    return ""


def _of_c(sums: Sums) -> str:
    """c alone."""
    if sums.c[1] < _ADDEND or sums.asker.refused:
        return ""
    cs = (1, 2, 3, 64, 65)
    got = sums.ask([({}, c) for c in cs])
    if len({*got}) == 1 or got == [*cs]:
        return ""
    if got == [got[0] * c for c in cs]:
        return f"c multiplied by {got[0]}"
    given, results = (", ".join(map(str, x)) for x in (cs, got))
    return f"another c: where it is {given}, alone, results are {results}"


# ------------------------------------------------------------------ small sums, which do not overflow
def _small(sums: Sums) -> str:
    """Ways of computing sums that are too small to overflow."""
    rng, k = np.random.default_rng(_SEED), sums.asker.k
    has_c = not sums.asker.refused
    rows: list[tuple[Factored, int]] = []
    for i in range(_SMALL):
        # Products alone with factors of any size, and sums of all with small ones.
        many = k if i % 2 else 1
        a, b = (
            (lo, hi) if many == 1 else (max(lo, -_FACTOR), min(hi, _FACTOR)) for lo, hi in (sums.a, sums.b)
        )
        factors = [
            (int(rng.integers(a[0], a[1] + 1)), int(rng.integers(b[0], b[1] + 1))) for _ in range(many)
        ]
        c = int(rng.integers(max(sums.c[0], -_ADDEND), min(sums.c[1], _ADDEND))) if has_c and many > 1 else 0
        rows.append((factors, c))
    asked: list[Terms] = [(dict(enumerate(factors)), c) for factors, c in rows]
    got, exact = sums.ask(asked), [total_of(row) for row in asked]
    if got == exact:
        return ""
    for text, of in _ways(sums):
        wanted = [of(factors, c) for factors, c in rows]
        within = [sums.d[0] <= x <= sums.d[1] for x in wanted]
        if (
            all(x == y for x, y, fine in zip(wanted, got, within, strict=True) if fine)
            and sum(within) > _SMALL // 2
        ):
            return text
    return ""


def _ways(sums: Sums) -> Iterator[tuple[str, Way]]:
    """Ways of computing a sum, each with the words for it."""
    o, widest = sums.asker.spec.operands, max(sums.a[1], sums.b[1])
    for s in range(1, 17):
        n = 1 << s
        half = "halved" if s == 1 else f"divided by 2^{s}"
        yield f"results are {half}, rounded down", _result(partial(_down, n))
        yield f"results are {half}, cut toward zero", _result(partial(_toward_zero, n))
        yield f"results are {half}, rounded half up", _result(partial(_half_up, n))
        yield f"the low {_bits(s)} of results are 0", _result(partial(_floor, n))
        yield f"the low {_bits(s)} of products are cut off", _products(partial(_floor, n))
        yield f"the low {_bits(s)} of products are cut off toward zero", _products(partial(_cut_off, n))
        yield f"products are {half}, rounded down, before they are added", _products(partial(_down, n))
        if n <= widest:
            for names, on in _SIDES.items():
                of_a, of_b = (partial(_floor, n) if x else _same for x in on)
                yield f"the low {_bits(s)} of {names} are not read", _factors(of_a, of_b)
    for on in _SIDES.values():
        sides = [(name, fmt) for name, fmt, x in zip("ab", (o.a, o.b), on, strict=True) if x]
        of_a, of_b = (partial(_read, fmt) if x else _same for fmt, x in zip((o.a, o.b), on, strict=True))
        yield " and ".join(f"{name} read as {_other(fmt)}" for name, fmt in sides), _factors(of_a, of_b)
    for names, on in _SIDES.items():
        of_a, of_b = (_size if x else _same for x in on)
        yield f"the sign of {names} is not read", _factors(of_a, of_b)


#: Which of the factors something happens to.
_SIDES = {"a": (True, False), "b": (False, True), "a and b": (True, True)}


def _result(of: Of) -> Way:
    """The exact sum, changed."""
    return lambda factors, c: of(c + sum(x * y for x, y in factors))


def _products(of: Of) -> Way:
    """The exact sum of changed products."""
    return lambda factors, c: c + sum(of(x * y) for x, y in factors)


def _factors(of_a: Of, of_b: Of) -> Way:
    """The exact sum of products of changed factors."""
    return lambda factors, c: c + sum(of_a(x) * of_b(y) for x, y in factors)


def _same(x: int) -> int:
    return x


def _size(x: int) -> int:
    return abs(x)


def _down(n: int, x: int) -> int:
    return x // n


def _half_up(n: int, x: int) -> int:
    return (x + n // 2) // n


def _toward_zero(n: int, x: int) -> int:
    return x // n if x >= 0 else -(-x // n)


def _floor(n: int, x: int) -> int:
    return x // n * n


def _cut_off(n: int, x: int) -> int:
    return _toward_zero(n, x) * n


def _bits(n: int) -> str:
    return "bit" if n == 1 else f"{n} bits"


def _other(fmt: Format) -> str:
    """The format of the same words with the other sign."""
    return fmt.name.removeprefix("u") if fmt.name.startswith("u") else f"u{fmt.name}"


def _read(fmt: Format, x: int) -> int:
    """A number of a format as its word is read without a sign, or with one."""
    word = x & ((1 << fmt.width) - 1)
    return word if fmt.sign_bit else word - ((word >> (fmt.width - 1)) << fmt.width)


# ------------------------------------------------------------------ all answers
def _whole(sums: Sums) -> str:
    """Ends that are none of a format's, and sums that keep some bits only."""
    batch, answers = sums.asker.history
    o = sums.asker.spec.operands
    totals = [
        number(o.c, int(c))
        + sum(number(o.a, int(x)) * number(o.b, int(y)) for x, y in zip(a, b, strict=True))
        for a, b, c in zip(batch.a, batch.b, batch.c, strict=True)
    ]
    got = [number(o.d, int(x)) for x in answers]
    low, high = min(got), max(got)
    if all(y == max(low, min(high, x)) for x, y in zip(totals, got, strict=True)):
        return f"one sum that ends at {low} and {high}"
    for name, of_total in (("wraps", "WRAP"), ("saturates", "SAT")):
        ends = [become(f"{of_total}-{o.d.name.upper()}", x) for x in totals]
        if got == [max(0, x) for x in ends]:
            return f"one sum that {name}, and negative results are 0"
    for bits, name in _KEPT.items():
        for how, mode in (("nearest, ties to even", "RNE"), ("cut toward zero", "RZ")):
            rounded = [max(sums.d[0], min(sums.d[1], _short(x, bits, mode))) for x in totals]
            if rounded == got:
                return f"not exact: sums keep {bits} bits, as {name} does ({how})"
    return ""


def _short(x: int, bits: int, mode: str) -> int:
    """An integer rounded to so many significant bits."""
    last = max(0, abs(x).bit_length() - bits)
    return round_units(Fraction(x), last, mode) << last
