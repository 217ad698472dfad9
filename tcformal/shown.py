"""Public objects as people see them: one line for `repr`, the command's text for `print`, a notebook's HTML.

The line is made by the object itself; text and HTML are made layers above it, and are registered here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Characters of a `repr`, and of a name in it, at most.
LONGEST, LONGEST_NAME = 120, 48

#: Plain data as JSON has them: an object, as it is read and written.
JsonObject = dict[str, Any]

#: Makes the text, HTML or SVG of a value; None where there is none.
View = Callable[[Any], str | None]

_VIEWS: dict[str, View] = {}


def set_view(name: str, make: View) -> None:
    """Register what makes the view of this name."""
    _VIEWS[name] = make


def view(name: str, value: Any) -> str | None:
    """The view of a value; None where nobody makes it, or where a package for tables is not installed."""
    try:
        return _VIEWS[name](value) if name in _VIEWS else None
    except ModuleNotFoundError:
        return None


def short(name: str, most: int = LONGEST_NAME) -> str:
    """A name; the middle of a long one is left out."""
    tail = most // 3
    return name if len(name) <= most else f"{name[: most - tail - 1]}…{name[len(name) - tail :]}"


class Shown:
    """Base of public objects: a `repr` of one line, their command's text, and only public names in `dir`."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # `dataclass` leaves a class its own: its would write out every field of every field.
        if "__repr__" not in vars(cls):
            cls.__repr__ = Shown.__repr__  # type: ignore[method-assign]

    def _summary(self) -> str:
        """What `repr` says, without its brackets."""
        raise NotImplementedError

    def __repr__(self) -> str:
        line = f"<{' '.join(self._summary().split())}>"
        return line if len(line) <= LONGEST else f"{line[: LONGEST - 2]}…>"

    def __str__(self) -> str:
        return view("text", self) or repr(self)

    def _repr_html_(self) -> str | None:
        return view("html", self)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.startswith("_")]
