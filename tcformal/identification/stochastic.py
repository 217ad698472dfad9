"""Stochastic rounding: designs whose sums, rounded with random bits, spread as a device's answers do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice

from tcformal.design.axes import altered
from tcformal.design.names import resolve
from tcformal.design.rounding import MOST_RANDOM_BITS
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.identification.asker import Asker
from tcformal.identification.rates import Rate
from tcformal.identification.repeat import (
    DEEPEST,
    SURE,
    PlaceInUlp,
    dense_inputs,
    product_factors,
    products_witness,
)
from tcformal.oracle.draws import outcomes
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import encoded
from tcformal.simulation.matrix_unit import padded
from tcformal.simulation.operands.batch import batch_of, witness_at
from tcformal.simulation.replay import oracle_result

#: Random sums, and how often each is asked.
_INPUTS, _REPEATS, _SEED = 12, 512, 5
#: Sequences of roundings in one sum that are followed: eight roundings.
_PATHS = 256
#: More bits than sums between two neighbours show that are tried: where bits of terms are cut, these see few.
_MORE = 4


def how_it_rounds(bits: int | None, more: bool, places: Sequence[PlaceInUlp] = ()) -> str:
    """What frequencies of roundings up show, in words; `more` bits may be random."""
    if bits is None and [x.place for x in places if 0 < x.up.count < x.up.of] == [Fraction(1, 2)]:
        return "it rounds halves up or down at random, and other sums between two results always the same way"
    if bits is None:
        return "it rounds stochastically, with frequencies that are those of no number of random bits"
    plural, end = "s" * (bits > 1), " or more" * more
    return f"it rounds stochastically, with {bits} random bit{plural}{end}"


@dataclass(frozen=True, slots=True)
class Rounded:
    """Designs that explain how answers spread, with the fewest random bits."""

    designs: tuple[str, ...]
    bits: int
    #: Whether more random bits explain it, too.
    more: bool


def stochastic_designs(
    asker: Asker, designs: Sequence[UnitSpec], bits: int | None, over: Callable[[], bool]
) -> Rounded | None:
    """The designs that give a device's answers to random sums, each asked often, by words that are drawn.

    Every answer is possible, and no frequency is refuted by its probability; None without such a design.
    `bits`: what sums between two neighbours show; None where they show nothing.
    Errors: as `Asker.repeated`.
    """
    inputs = dense_inputs(asker.spec, asker.k, _INPUTS, _SEED)
    counts = [Counter(answers) for answers in asker.repeated(inputs, _REPEATS).T.tolist()]
    confidence = 1 - (1 - SURE) / sum(map(len, counts))

    def explains(chances: dict[int, Fraction], seen: Counter[int]) -> bool:
        within = (Rate(seen[x], _REPEATS).interval(confidence) for x in chances)
        return {*seen} <= {*chances} and all(
            low <= chance <= high for (low, high), chance in zip(within, chances.values(), strict=True)
        )

    def fits(u: UnitSpec, n: int) -> bool:
        drawn = resolve(altered(u, f"rounding=SR{n}"), drawn=True)
        wide = padded(drawn, inputs)
        results = (
            outcomes(partial(oracle_result, drawn, witness_at(wide, i)), _PATHS) for i in range(_INPUTS)
        )
        return all(explains(chances, seen) for chances, seen in zip(results, counts, strict=True))

    found: dict[int, list[str]] = {}
    few = range(1, DEEPEST) if bits is None else range(bits, bits + _MORE)
    bits_tried = (MOST_RANDOM_BITS,) if bits == DEEPEST else (*few, MOST_RANDOM_BITS)
    for u in designs:
        with suppress(InputError):  # it has no such rounding, or too many of them
            for n in bits_tried:
                if over():
                    return None
                if fits(u, n):
                    found.setdefault(n, []).append(u.name)
    if not found:
        return None
    least = min(found)
    return Rounded(tuple(found[least]), min(least, DEEPEST), len(found) > 1 or least > DEEPEST)


def plain_sums(asker: Asker) -> list[UnitSpec]:
    """The exact sum in a device's formats and a chain; none with scales, or for a result without Inf."""
    formats = ",".join(f"{x}_format={fmt}" for x, fmt in asker.spec.operands.names().items())
    with suppress(InputError):
        names = [] if asker.spec.scale_format else ["exact", "fma"]
        return [resolve(f"{name}@k={asker.k},{formats}") for name in names]
    return []


# ------------------------------------------------------------------ a word that is given
#: Places between two neighbours that are asked at once, and their most bits.
_AT_ONCE, _PLACE_BITS = 16, 12
#: Exponents of the terms that a place is beside, as the formats reach them.
_EXPONENTS = (0, 8, 14, -8)


def words_given(asker: Asker) -> list[str]:
    """Stochastic roundings with one word: sums between two neighbours show from which place on they go up.

    Where terms are cut, a sum that is larger than each of its terms has more bits below its last place.
    Errors: as `Asker.ask`.
    """
    return list(dict.fromkeys(mode for terms in (asker.k, 1) if (mode := _word_given(asker, terms))))


def _word_given(asker: Asker, terms: int) -> str:
    """The mode of sums of c, as many equal products that no more than `terms` are added, and a place."""
    spec, many = asker.spec, 1 << (terms.bit_length() - 1)
    bits = min(_PLACE_BITS, max(spec.a_format.fraction_bits, spec.b_format.fraction_bits) + 1)

    def product(value: Fraction) -> list[tuple[int, int]]:
        return [*islice(product_factors(spec, value), 1)]

    for x in _EXPONENTS:
        total, one = many * power_of_two(x), product(power_of_two(x))
        low, c = encoded(spec.d_format, total), encoded(spec.c_format, power_of_two(x))
        place = total * power_of_two(-spec.d_format.fraction_bits - bits)
        if (
            low is not None
            and c is not None
            and all((one, product(place), product(place * ((1 << bits) - 1))))
        ):
            break
    else:
        return ""
    down, up = 0, 1 << bits
    while up - down > 1:
        asked = range(down, up, max(1, (up - down) // _AT_ONCE))[1:]
        rows = [one * (many - 1) + product(place * j) for j in asked]
        answers = asker.ask(batch_of([products_witness(spec, asker.k, row, c) for row in rows]))
        up = next((j for j, d in zip(asked, answers.tolist(), strict=True) if d != low), up)
        down = max((j for j in asked if j < up), default=down)
    half = 1 << (bits - 1)
    if up in (1, half, half + 1, 1 << bits):  # the other roundings
        return ""
    fewest = bits - (up & -up).bit_length() + 1
    return f"SR{fewest}+{(1 << fewest) - (up >> (bits - fewest))}"


def with_mode(designs: Sequence[UnitSpec], modes: Sequence[str]) -> list[UnitSpec]:
    """The designs with every sum rounded in each mode; not those that are no such design."""
    made = []
    for u in designs:
        rounded = {x: getattr(u.design, x) for x in ("conversion", "accumulator")}
        for mode in modes:
            with suppress(InputError):
                made.append(resolve(altered(u, ",".join(
                    f"{x}={mode}-{text.partition('-')[2]}" for x, text in rounded.items() if text
                ))))  # fmt: skip
    return made
