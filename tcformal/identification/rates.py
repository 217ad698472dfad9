"""How often something was seen, with the exact interval of its probability."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tcformal.errors import InputError

#: The probability with which a two-sided interval holds the true rate.
CONFIDENCE = 0.95
#: Halvings of an interval: more than a double has bits.
_STEPS = 60


@dataclass(frozen=True, slots=True)
class Rate:
    """`count` events among `of` independent trials.

    Errors: InputError for more events than trials, and for no trials.
    """

    count: int
    of: int

    def __post_init__(self) -> None:
        if self.of < 1 or not 0 <= self.count <= self.of:
            raise InputError(f"expected a count of at most {self.of} trials, but got {self.count}")

    @property
    def observed(self) -> float:
        """The share of trials with the event."""
        return self.count / self.of

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """The two-sided interval of probabilities that the trials do not refute.

        Each side misses with half of what the confidence leaves, at the ends too: 0 of n gives at most
        1 - 0.025^(1/n), about 3.7/n.
        Source: the exact binomial interval, which Clopper and Pearson gave in 1934.
        """
        k, n, miss = self.count, self.of, (1 - confidence) / 2
        # At the lower end so many events or more are unlikely, at the upper end so few or fewer.
        low = 0.0 if k == 0 else miss ** (1 / n) if k == n else _root(_at_most(k - 1, n), 1 - miss)
        high = 1.0 if k == n else -math.expm1(math.log(miss) / n) if k == 0 else _root(_at_most(k, n), miss)
        return low, high


def _at_most(k: int, n: int) -> Callable[[float], float]:
    """The probability of k events or fewer among n trials, as a function of that of one."""
    events = np.arange(k + 1)
    ways = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(k + 1)]
    logs = np.array(ways)

    def probability(p: float) -> float:
        return float(np.exp(logs + events * math.log(p) + (n - events) * math.log1p(-p)).sum())

    return probability


def _root(falling: Callable[[float], float], value: float) -> float:
    """Where a probability that falls as that of one event grows has a value."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > value else (low, middle)
    return low
