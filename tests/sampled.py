"""Long lists of parameters: some by default, the others as slow or long tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def one_in(n: int, values: Iterable[Any], others: pytest.MarkDecorator = pytest.mark.slow) -> list[Any]:
    """Every n-th of the values by default; the others, tuples of several parameters too, bear the mark."""
    return [value if i % n == 0 else _marked(value, others) for i, value in enumerate(values)]


def only(
    chosen: Collection[Any], values: Iterable[Any], others: pytest.MarkDecorator = pytest.mark.slow
) -> list[Any]:
    """The chosen values by default; the others bear the mark."""
    return [value if value in chosen else _marked(value, others) for value in values]


def _marked(value: Any, mark: pytest.MarkDecorator) -> Any:
    """One set of parameters with a mark beside those it has."""
    if hasattr(value, "marks"):
        return pytest.param(*value.values, marks=(*value.marks, mark), id=value.id)
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=mark)
