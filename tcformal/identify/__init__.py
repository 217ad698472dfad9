"""Identification: the designs that give a device's outputs; the package is a function, too."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tcformal.identify.record.identification import Identification
    from tcformal.probe.devices.callable import Function


class _Identify(ModuleType):
    """The package as a function, because one of that name beside the package would hide its modules."""

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        from tcformal.identify.asking.device import identify

        return identify.__doc__

    def __call__(
        self,
        device: str | Function,
        formats: str,
        k: int = 16,
        *,
        scale: str | None = None,
        vectors: int = 100_000,
        folder: str | Path | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Identification:
        from tcformal.identify.asking.device import identify

        return identify(device, formats, k, scale=scale, vectors=vectors, folder=folder, progress=progress)


sys.modules[__name__].__class__ = _Identify
