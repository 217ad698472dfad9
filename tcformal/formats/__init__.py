"""Floating-point formats; the package is a function too: `tcformal.formats()` gives all of them by name."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tcformal.formats.spec import Format


class _Formats(ModuleType):
    """The package as a function, because one of that name beside the package would hide its modules."""

    def __call__(self) -> dict[str, Format]:
        from tcformal.formats.catalog import formats

        return formats()


sys.modules[__name__].__class__ = _Formats
