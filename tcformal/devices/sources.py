"""The folder of probe sources, in the repository or an installed package."""

from __future__ import annotations

from pathlib import Path

from tcformal.errors import DeviceError

_PACKAGE = Path(__file__).resolve().parents[1]


def sources(family: str) -> Path:
    """The folder of one probe family (`cpu`, `cuda`); DeviceError where sources are not installed."""
    for root in (_PACKAGE / "hw_probes", _PACKAGE.parent / "hw_probes"):
        if (root / family).is_dir():
            return root / family
    raise DeviceError(f"expected the probe sources hw_probes/{family} beside the package, but there are none")
