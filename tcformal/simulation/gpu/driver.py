"""The newest CUDA release that the driver supports; a driver loads no code of a later release."""

from __future__ import annotations

import ctypes
from functools import cache

from tcformal.errors import DeviceError
from tcformal.installed import install

_NAMES = ("libcuda.so.1", "libcuda.so", "nvcuda.dll")
#: What builds kernels for the newest drivers, and for those of CUDA 12.
CUDA, CUDA_12 = install("cuda"), install("cuda12")


@cache
def supported() -> tuple[int, int] | None:
    """The newest release of CUDA that the driver supports; None where there is no driver."""
    release = ctypes.c_int()
    for name in _NAMES:
        try:
            code = ctypes.CDLL(name).cuDriverGetVersion(ctypes.byref(release))
        except (OSError, AttributeError):
            continue
        return None if code else (release.value // 1000, release.value % 1000 // 10)
    return None


def check_driver(compiler: str, release: tuple[int, int], driver: tuple[int, int] | None = None) -> None:
    """Refuse a compiler of a newer major release than the driver, by default the machine's, supports.

    Within a major release a driver loads the code of any compiler (CUDA's minor version compatibility).
    Errors: DeviceError that names both, and the extra that builds for the driver.
    """
    driver = driver or supported()
    if driver is not None and release[0] > driver[0]:
        remedy = f"or take the extra for CUDA 12: {CUDA_12}" if driver[0] == 12 else "which is too old"
        raise DeviceError(
            f"expected a driver for CUDA {release[0]}, the release of {compiler}, but this one supports CUDA "
            f"{driver[0]}.{driver[1]} and loads no newer kernels: update the driver, {remedy}"
        )
