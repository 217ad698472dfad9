"""Stochastic rounding with words that are drawn: every result that is possible, with its probability."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from fractions import Fraction

from tcformal.errors import InputError

#: Sequences of roundings up and down that are followed.
MOST_PATHS = 1 << 12


class _Path:
    """One sequence of roundings up and down, which begins as it is given."""

    def __init__(self, given: tuple[bool, ...], chance: Fraction) -> None:
        self.given, self.chance = given, chance
        self.taken: tuple[bool, ...] = ()
        self.others: list[_Path] = []

    def up(self, probability: Fraction) -> bool:
        """Whether the next rounding goes up; one that nobody gave goes down, and up on another path."""
        at = len(self.taken)
        if at < len(self.given):
            self.taken += (self.given[at],)
            return self.given[at]
        self.others.append(_Path((*self.taken, True), self.chance * probability))
        self.chance *= 1 - probability
        self.taken += (False,)
        return False


_PATH: ContextVar[_Path | None] = ContextVar("path", default=None)


def drawn(discarded: int, bits: int) -> bool:
    """Whether a word of random bits carries that is added to the discarded ones.

    Errors: InputError outside `outcomes`.
    """
    path = _PATH.get()
    if path is None:
        raise InputError(f"expected the word that is added, as in SR{bits}+0, but got SR{bits}")
    return discarded > 0 and path.up(Fraction(discarded, 2**bits))


def outcomes(computed: Callable[[], int], most: int = MOST_PATHS) -> dict[int, Fraction]:
    """Every result of a computation, with its probability, where each rounding draws a word of its own.

    Errors: InputError where more than `most` sequences of roundings are possible.
    """
    found: dict[int, Fraction] = {}
    paths, count = [_Path((), Fraction(1))], 0
    while paths:
        path, count = paths.pop(), count + 1
        if count > most:
            raise InputError(
                f"expected at most {most} sequences of roundings up and down, but got more: take "
                "fewer products, or give the word that is added, as in SR8+37"
            )
        token = _PATH.set(path)
        try:
            result = computed()
        finally:
            _PATH.reset(token)
        found[result] = found.get(result, Fraction(0)) + path.chance
        paths += path.others
    return found
