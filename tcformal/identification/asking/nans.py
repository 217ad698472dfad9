"""Inputs that ask what a device gives for invalid operations and for NaN operands."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError
from tcformal.identification.asking.ask import Asker
from tcformal.simulation.operands.batch import Batch, Raw, edge_encodings, rows_of, together, with_scales
from tcformal.simulation.operands.inputs import without_nan

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
