"""Bugs of matrix products by name: what each does to operands or results; apart from the search for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.samples import values_of
from tcformal.design.steps import InputStep, ProgramPlan
from tcformal.encodings.catalog import format_named
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError
from tcformal.identification.product_elements import Doubles, Elements
from tcformal.programs.functions import Builder, StepValue, add, convert
from tcformal.simulation.arrays import dtypes, from_raw, to_raw
from tcformal.simulation.evaluation import RunOptions, run_plan
from tcformal.simulation.operands.batch import Raw

#: Ends of ranges of k: all up to so many products, of more the multiples of a power of two.
_ENDS = 512
#: Products that one warp, thread or instruction takes at a time, and how many of them take turns.
_SHARES, _TURNS = (1, 2, 4, 8, 16, 32, 64), (2, 3, 4, 5, 6, 7, 8, 16)
#: Formats to which operands and results are rounded by mistake, the wider first.
_NARROW = ("tf32", "fp16", "bf16", "e4m3", "e5m2")


@dataclass(frozen=True, slots=True)
class Bug:
    """One bug: elements whose operands are changed so that a right product of them is the faulty one.

    `after`: what is done to the right result's words besides.
    """

    what: str
    operands: Callable[[Elements], Elements] = lambda x: x
    after: Callable[[Raw, Format, Elements], Raw] | None = None


def operand_bugs(x: Elements) -> Iterator[Bug]:
    """Bugs of the operands of a whole product, other than products left out."""
    yield from _factors(x)
    if x.bias is not None:
        yield Bug("the bias is missing", lambda y: replace(y, bias=None))
        yield Bug("the bias is added twice", lambda y: replace(y, bias=_doubled(y.bias)))
    if x.c is not None:
        yield Bug("C is missing", lambda y: replace(y, c=None, beta=None))
        yield Bug("C is added twice", lambda y: replace(y, c=_doubled(y.c)))
        yield Bug("C is subtracted", lambda y: replace(y, c=-_given(y.c)))
    yield from _casts(x)
    for letter in () if x.d_format.integer else ("a", "b", "ab"):
        if any(_has_subnormals(getattr(x, side)) for side in letter):
            yield Bug(f"subnormals of {_and(letter)} are flushed to zero", _flushing(letter))
    if x.scale_a is not None:
        yield from _scales(x)


def result_bugs(x: Elements) -> Iterator[Bug]:
    """Bugs of a right result: rounded twice, flushed, saturated, added to after it was rounded."""
    d = x.d_format
    if d.integer:
        yield from _integer_results(x)
        return
    for name in _NARROW:
        fmt = format_named(name)
        if fmt.fraction_bits < d.fraction_bits and fmt.name != "tf32":
            yield Bug(f"the output is rounded to {name} first", after=_through(fmt))
    yield Bug("subnormal results are flushed to zero", after=_flushed_results)
    yield Bug("results that overflow are the largest number instead of Inf", after=_saturated)
    for name in ("bias", "c"):
        if getattr(x, name) is not None and x.beta is None:
            shown = "the bias" if name == "bias" else "C"
            yield Bug(
                f"{shown} is added after the sum was rounded to the output's format",
                _without(name),
                _added(name),
            )


# ------------------------------------------------------------------ sums of integers
#: Bits in which sums of integers saturate or wrap by mistake, and products of one such sum.
_BITS, _SUMMED = (32, 16, 8, 24), (2, 4, 8, 16, 32, 64)
#: Bits by which results are shifted by mistake.
_SHIFTS = range(1, 9)
_ENDS_OF = {"saturate": "saturate at the ends of {}", "wrap": "wrap as {}"}


def _integer_results(x: Elements) -> Iterator[Bug]:
    """Bugs of sums of integers: where they saturate or wrap, signs that are not read, shifted results."""
    if any(y is not None for y in (x.alpha, x.beta, x.bias)):
        return
    for how, text in _ENDS_OF.items():
        for bits in _BITS:
            said = text.format(f"{'' if x.d_format.sign_bit else 'u'}int{bits}")
            yield Bug(f"sums {said}", after=_summed(x.k, how, bits))
            for size in (n for n in (1, *_SUMMED) if n < x.k):
                each = "each product" if size == 1 else f"every {size} products"
                if how == "saturate":
                    yield Bug(f"sums {said} after {each}", after=_summed(size, how, bits))
                of = "products" if size == 1 else f"sums of {size} products"
                yield Bug(f"{of} {said} before they are added", after=_summed(size, how, bits, alone=True))
    for n in _SHIFTS:
        half = "halved" if n == 1 else f"divided by 2^{n}"
        yield Bug(f"results are {half}, rounded down", after=partial(_shifted, n))
    for letters in ("a", "b", "ab"):
        dtypes_ = [getattr(x, side).dtype for side in letters]
        read = " and ".join(
            f"{side.upper()} is read as {_other_sign(t)}" for side, t in zip(letters, dtypes_, strict=True)
        )
        yield Bug(read, after=_summed(x.k, "wrap", 64, letters=letters))


def _other_sign(of: np.dtype[Any]) -> np.dtype[Any]:
    """The integers of the same width that have a sign, or have none."""
    return np.dtype(f"{'u' if of.kind == 'i' else 'i'}{of.itemsize}")


def _summed(
    size: int, how: str, bits: int, *, alone: bool = False, letters: str = ""
) -> Callable[[Raw, Format, Elements], Raw]:
    """Exact sums of so many products each, which saturate or wrap: with the sum so far, or `alone`.

    `letters`: operands whose words are read with the other sign.
    """

    def change(words: Raw, fmt: Format, x: Elements) -> Raw:
        a, b = (
            y.view(_other_sign(y.dtype)) if side in letters else y
            for side, y in (("a", np.ascontiguousarray(x.a)), ("b", np.ascontiguousarray(x.b)))
        )
        products = a.astype(np.int64) * b.astype(np.int64)
        more = -products.shape[1] % size
        parts = np.pad(products, ((0, 0), (0, more))).reshape(len(products), -1, size).sum(2)
        total = np.zeros(len(products), np.int64) if x.c is None else x.c.astype(np.int64)
        if alone:
            total = total + _converted(parts, how, bits, fmt).sum(1)
        else:
            for part in parts.T:
                total = _converted(total + part, how, bits, fmt)
        return (total & ((1 << fmt.width) - 1)).astype(words.dtype)

    return change


def _converted(total: NDArray[np.int64], how: str, bits: int, fmt: Format) -> NDArray[np.int64]:
    """Integers as numbers of so many bits, with a sign where a format has one."""
    if bits >= _WHOLE:
        return total
    low = -(1 << (bits - 1)) if fmt.sign_bit else 0
    most = low + (1 << bits) - 1
    return np.clip(total, low, most) if how == "saturate" else (total - low) % (1 << bits) + low


#: Bits that no sum has.
_WHOLE = 64


def _shifted(n: int, words: Raw, fmt: Format, x: Elements) -> Raw:
    """Right results without their last bits."""
    signed = words.view(f"i{words.itemsize}") if fmt.sign_bit else words
    return np.asarray((signed >> n).view(words.dtype))


def missing_shares(k: int) -> Iterator[Bug]:
    """Products of k that are missing because one of several workers that take turns is left out."""
    for size in _SHARES:
        for turns in _TURNS:
            if size * turns <= k:
                # A worker whose turn comes once leaves out a range.
                for turn in range(min(turns, -(-k // size) - turns)):
                    share = np.arange(k) // size % turns == turn
                    text = (
                        f"every {_ordinal(turns)} {'product' if size == 1 else f'block of {size} products'}"
                    )
                    yield Bug(
                        f"{text} of k is missing, from k = {turn * size} on", scaled_products(share, 0.0)
                    )


def scaled_products(which: NDArray[np.bool_], factor: float) -> Callable[[Elements], Elements]:
    """A change of elements: the products of some k, each so many times as large."""

    def change(x: Elements) -> Elements:
        a = x.a.astype(np.float64)
        a[:, which] *= factor
        made = a.astype(x.a.dtype)
        if (made.astype(np.float64) == a)[np.isfinite(a)].all():
            return replace(x, a=made)
        b = x.b.astype(np.float64)
        b[:, which] *= factor
        return replace(x, b=b.astype(x.b.dtype))

    return change


def ranges_of_k(x: Elements, change: Doubles, near: Doubles, most: int) -> list[Bug]:
    """Ranges of k whose products, left out, twice or negated, change sums about as much as given.

    Shapes: change, near [n]: what results differ by, and how exactly that is known.
    """
    products = x.products() * (1.0 if x.alpha is None else float(x.alpha))
    if not np.isfinite(products).all() or not np.isfinite(change).all():
        return []
    k = x.k
    grid = 1 << max(0, (k - 1).bit_length() - _ENDS.bit_length() + 1)
    ends = np.unique(np.append(np.arange(0, k, grid), k))
    sums = np.concatenate([np.zeros((len(products), 1)), np.cumsum(products, 1)], 1)[:, ends]
    found: list[tuple[float, int, int, int, int]] = []
    for number, factor in enumerate((-1.0, 1.0, -2.0)):
        for i in range(len(ends) - 1):
            parts = factor * (sums[:, i + 1 :] - sums[:, [i]])
            off = (np.abs(parts - change[:, None]) / near[:, None]).max(0)
            for j in np.flatnonzero(off <= 1):
                start, stop = int(ends[i]), int(ends[i + 1 + j])
                found.append((float(off[j]), stop - start, number, start, stop))
    found.sort()
    made = []
    for _, _, number, start, stop in found[:most]:
        which = np.zeros(k, np.bool_)
        which[start:stop] = True
        what, factor = (("missing", 0.0), ("counted twice", 2.0), ("subtracted", -1.0))[number]
        made.append(Bug(f"{_range(start, stop, k)} {what}", scaled_products(which, factor)))
    return made


def _range(start: int, stop: int, k: int) -> str:
    if stop == start + 1:
        return f"the product of k = {start} is"
    last = f", the last {k - start}," if stop == k and start else ""
    return f"the products of k = {start} to {stop - 1}{last} are"


def same_words(got: Raw, right: Raw, fmt: Format) -> NDArray[np.bool_]:
    """Where results are the same words, or both NaN."""
    same = np.asarray(got == right)
    apart = ~same
    if apart.any():
        same[apart] = is_nan(got[apart], fmt) & is_nan(right[apart], fmt)
    return same


def is_nan(words: Raw, fmt: Format) -> NDArray[np.bool_]:
    """Whether words of any format are NaN."""
    return np.isnan(values_of(words, fmt))


def place_bug(got: Raw, right: Raw, wrong: NDArray[np.bool_]) -> str:
    """Where results stand in each other's place: rows, columns or tiles; empty where they do not.

    Shapes: all [M, N]: results, right results, and which of the results are wrong.
    """
    rows, columns = np.flatnonzero(wrong.any(1)), np.flatnonzero(wrong.any(0))
    for name, one, two, lines in (("row", got, right, rows), ("column", got.T, right.T, columns)):
        taken = {int(i): _line_like(one[i], two) for i in lines[:64]}
        if lines.size and all(x is not None for x in taken.values()) and len(lines) <= 64:
            pairs = [(i, j) for i, j in taken.items() if j is not None and i < j and taken.get(j) == i]
            if 2 * len(pairs) == len(taken):
                return f"{name}s {', '.join(f'{i} and {j}' for i, j in pairs[:4])} are swapped"
            i, j = next(iter(taken.items()))
            more = f", and {len(taken) - 1} more {name}s are those of others" if len(taken) > 1 else ""
            return f"{name} {i} is {name} {j}{more}"
    if not rows.size or not columns.size:
        return ""
    for top, left, size in _tiles(rows, columns, got.shape):
        tile, whole = (slice(top, top + size), slice(left, left + size)), np.zeros_like(wrong)
        whole[tile] = True
        if (wrong & ~whole).any():
            continue
        tile_text = f"the tile of {size}×{size} at row {top}, column {left}"
        if (got[tile] == right[tile].T).all():
            return f"{tile_text} is transposed"
        for i in range(0, got.shape[0] - size + 1, size):
            for j in range(0, got.shape[1] - size + 1, size):
                if (i, j) != (top, left) and (got[tile] == right[i : i + size, j : j + size]).all():
                    return f"{tile_text} is that at row {i}, column {j}"
    return ""


def _line_like(line: Raw, lines: Raw) -> int | None:
    same = np.flatnonzero((lines == line).all(1))
    return int(same[0]) if same.size == 1 else None


def _tiles(
    rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, ...]
) -> Iterator[tuple[int, int, int]]:
    """Square tiles that hold the wrong elements, on a grid of their size, small ones first; then the box."""
    top, left, bottom, right = int(rows[0]), int(columns[0]), int(rows[-1]), int(columns[-1])
    for size in (2, 4, 8, 16, 32, 64, 128, 256):
        i, j = top // size * size, left // size * size
        if bottom < i + size <= shape[0] and right < j + size <= shape[1]:
            yield i, j, size
    # The diagonal of a transposed tile stays: its box may be smaller than the tile by nothing else.
    size = max(bottom - top, right - left) + 1
    for i, j in ((top, left), (bottom - size + 1, right - size + 1)):
        if 0 <= i <= shape[0] - size and 0 <= j <= shape[1] - size:
            yield i, j, size


def value_bug(got: Raw, right: Raw, wrong: NDArray[np.bool_], c: NDArray[Any] | None, fmt: Format) -> str:
    """What is wrong with single results: a bit, zeros, a NaN; empty where it is nothing of these."""
    values, should = got[wrong].astype(np.uint64), right[wrong].astype(np.uint64)
    nan, was_nan = is_nan(got[wrong], fmt), is_nan(right[wrong], fmt)
    if was_nan.all() and not nan.any():
        return f"{_count(len(values))} should be NaN, and {'is' if len(values) == 1 else 'are'} not"
    if nan.all() and not was_nan.any():
        return f"{_count(len(values))} {'is' if len(values) == 1 else 'are'} NaN, and should not be"
    if not (values & np.uint64((1 << (fmt.width - 1)) - 1)).any():
        return f"{_count(len(values))} {'is' if len(values) == 1 else 'are'} zero, as if never written"
    if c is not None and c.dtype == dtypes().get(fmt.name):
        own = np.ascontiguousarray(np.broadcast_to(c, got.shape)).view(got.dtype)
        if (own[wrong] == got[wrong]).all():
            return f"{_count(len(values))} {'is' if len(values) == 1 else 'are'} C alone, without the product"
    flips = values ^ should
    if len(set(flips.tolist())) == 1 and int(flips[0]).bit_count() == 1:
        bit = int(flips[0]).bit_length() - 1
        return f"bit {bit} of {_count(len(values))} is flipped"
    if len(values) == 1:
        return "one element is wrong"
    return ""


def _count(n: int) -> str:
    return "one element" if n == 1 else f"{n} elements"


def _factors(x: Elements) -> Iterator[Bug]:
    """alpha and beta: left out, or twice; the whole result twice."""
    for name in ("alpha", "beta"):
        factor = getattr(x, name)
        if factor is not None and factor not in (0, 1):
            yield Bug(f"{name} is left out", _with(name, None))
            yield Bug(f"{name} is applied twice", _with(name, float(factor) ** 2))
    if x.alpha is not None and x.beta is not None and x.alpha != x.beta:
        yield Bug("alpha and beta are swapped", lambda y: replace(y, alpha=y.beta, beta=y.alpha))
    if x.alpha is not None and x.c is not None:
        both = float(x.alpha) * (1.0 if x.beta is None else float(x.beta))
        yield Bug("alpha is applied to C as well", _with("beta", both))
    yield Bug(
        "the product is added twice, as to an output that was not cleared",
        _with("alpha", 2.0 * (x.alpha or 1.0)),
    )


def _with(name: str, value: float | None) -> Callable[[Elements], Elements]:
    return lambda y: _replaced(y, {name: value})


def _replaced(x: Elements, changed: Mapping[str, NDArray[Any] | float | None]) -> Elements:
    """Elements with other operands."""
    return replace(x, **changed)  # type: ignore[arg-type]


def _casts(x: Elements) -> Iterator[Bug]:
    """Operands that were rounded to a narrower format."""
    for name in _NARROW:
        fmt = format_named(name)
        for letters in ("ab", "a", "b"):
            if all(fmt.fraction_bits < _fraction_bits(getattr(x, side)) for side in letters):
                yield Bug(
                    f"{_and(letters)} {'are' if len(letters) > 1 else 'is'} rounded to {name} first",
                    _casting(letters, fmt),
                )


def _fraction_bits(x: NDArray[Any]) -> int:
    """The fraction bits of the format of values; 0 of integers, which nothing rounds."""
    named = (format_named(n) for n, t in dtypes().items() if t == x.dtype and n != "tf32")
    return max((f.fraction_bits for f in named if not f.integer), default=0)


def rounded(x: NDArray[Any], fmt: Format) -> NDArray[Any]:
    """Values rounded to a format, to nearest with ties to even, in their own dtype."""
    own = _format(x)
    return from_raw(_evaluated(lambda s, v: _convert(s, _convert(s, v, fmt), own), x), own)


def _convert(steps: Builder, x: StepValue, fmt: Format) -> StepValue:
    return convert(steps, x, fmt.name, "RNE", fmt.specials is not Specials.IEEE)


def _evaluated(build: Callable[..., StepValue], *operands: NDArray[Any]) -> Raw:
    """What steps make of arrays of values: words of the last step's format, of the arrays' shape."""
    steps, named = Builder(), dict(zip("ab", operands, strict=False))
    inputs = [
        steps.add(InputStep(fmt=_format(x), length=None, name=letter, letter=letter))
        for letter, x in named.items()
    ]
    d = build(steps, *inputs)
    given = {letter: to_raw(letter, x, _format(x)).reshape(-1, 1, 1) for letter, x in named.items()}
    made = run_plan(ProgramPlan(tuple(steps.steps), d.index, 1), given, RunOptions(progress=False))
    return made.reshape(operands[0].shape)


def _casting(letters: str, fmt: Format) -> Callable[[Elements], Elements]:
    return lambda y: _replaced(y, {side: rounded(getattr(y, side), fmt) for side in letters})


def _has_subnormals(x: NDArray[Any]) -> bool:
    return bool(_subnormal(x).any())


def subnormal_products(x: Elements) -> Doubles:
    """The sums of the magnitudes of products with a subnormal factor, each taken as the least normal: [n]."""
    small = _subnormal(x.a) | _subnormal(x.b)
    a, b = (np.maximum(np.abs(y.astype(np.float64)), 2.0 ** _format(y).e_min) for y in (x.a, x.b))
    factor = abs(1.0 if x.alpha is None else float(x.alpha))
    return np.asarray(factor * np.where(small, np.abs(x.scaled_by(a * b)), 0.0).sum(1))


def _subnormal(x: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray((x != 0) & (np.abs(x.astype(np.float64)) < 2.0 ** _format(x).e_min))


def _format(x: NDArray[Any]) -> Format:
    return format_named(next(n for n, t in dtypes().items() if t == x.dtype))


def _flushing(letters: str) -> Callable[[Elements], Elements]:
    def change(y: Elements) -> Elements:
        made = {side: np.where(_subnormal(getattr(y, side)), 0, getattr(y, side)) for side in letters}
        return _replaced(y, {side: x.astype(getattr(y, side).dtype) for side, x in made.items()})

    return change


def _scales(x: Elements) -> Iterator[Bug]:
    """Scales of blocks: left out, or another block's."""
    for name in ("scale_a", "scale_b"):
        shown = "A" if name == "scale_a" else "B"
        yield Bug(f"the scales of {shown} are left out", _scaled(name, np.ones_like))
        yield Bug(f"every block uses the first scale of {shown}", _scaled(name, _first_scale))
        for by, which in ((1, "the block before"), (-1, "the next block")):
            yield Bug(
                f"blocks use the scale of {which} of {shown}",
                _scaled(name, partial(np.roll, shift=by, axis=1)),
            )
    yield Bug("the scales of A and B are left out", lambda y: replace(
        y, scale_a=np.ones_like(_given(y.scale_a)), scale_b=np.ones_like(_given(y.scale_b))
    ))  # fmt: skip


def _first_scale(scales: NDArray[Any]) -> NDArray[Any]:
    return np.repeat(scales[:, :1], scales.shape[1], 1)


def _scaled(name: str, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[Elements], Elements]:
    return lambda y: _replaced(y, {name: np.asarray(change(getattr(y, name)))})


def _given(x: NDArray[Any] | None) -> NDArray[Any]:
    if x is None:
        raise InputError("expected an operand that the product has, but got none")
    return x


def _doubled(x: NDArray[Any] | None) -> NDArray[Any]:
    x = _given(x)
    return np.asarray((x + x).astype(x.dtype))


def _without(name: str) -> Callable[[Elements], Elements]:
    return lambda y: _replaced(y, {name: None})


def _added(name: str) -> Callable[[Raw, Format, Elements], Raw]:
    def change(words: Raw, fmt: Format, x: Elements) -> Raw:
        wide = max(fmt, format_named("fp32"), key=lambda f: f.fraction_bits).name
        return _evaluated(
            lambda s, d, other: _convert(s, add(s, d, other, wide), fmt),
            from_raw(words, fmt),
            getattr(x, name),
        )

    return change


def _through(narrow: Format) -> Callable[[Raw, Format, Elements], Raw]:
    return lambda words, fmt, _: to_raw("D", rounded(from_raw(words, fmt), narrow), fmt)


def _flushed_results(words: Raw, fmt: Format, _: Elements) -> Raw:
    sign = words & np.array(fmt.sign_bit, words.dtype)
    return np.asarray(np.where(_subnormal(from_raw(words, fmt)), sign, words))


def _saturated(words: Raw, fmt: Format, _: Elements) -> Raw:
    sign = words & np.array(fmt.sign_bit, words.dtype)
    over = np.isinf(values_of(words, fmt))
    return np.asarray(np.where(over, sign | np.array(fmt.largest, words.dtype), words))


def _and(letters: str) -> str:
    return " and ".join(letters.upper())


def _ordinal(n: int) -> str:
    return {2: "second", 3: "third"}.get(n, f"{n}th")


def runs(marks: Sequence[int]) -> list[tuple[int, int]]:
    """Numbers in ascending order as ranges, first and last."""
    cuts = [0, *(i for i, (x, y) in enumerate(pairwise(marks), 1) if y != x + 1), len(marks)]
    return [(marks[i], marks[j - 1]) for i, j in pairwise(cuts) if j > i]
