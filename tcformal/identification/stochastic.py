"""Stochastic rounding: designs whose sums, rounded with random bits, spread as a device's answers do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from tcformal.design.axes import altered
from tcformal.design.names import resolve
from tcformal.design.rounding import MOST_RANDOM_BITS
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.identification.asker import Asker
from tcformal.identification.rates import Rate
from tcformal.identification.repeat import DEEPEST, SURE, dense_inputs
from tcformal.oracle.draws import outcomes
from tcformal.simulation.matrix_unit import padded
from tcformal.simulation.operands.batch import witness_at
from tcformal.simulation.replay import oracle_result

#: Random sums, and how often each is asked.
_INPUTS, _REPEATS, _SEED = 12, 512, 5
#: Sequences of roundings in one sum that are followed: eight roundings.
_PATHS = 256
#: More bits than sums between two neighbours show that are tried: where bits of terms are cut, these see few.
_MORE = 4


def how_it_rounds(bits: int | None, more: bool) -> str:
    """What frequencies of roundings up show, in words; `more` bits may be random."""
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
