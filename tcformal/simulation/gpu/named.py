"""GPUs by the names that users give them."""

from __future__ import annotations

import re
from functools import cache

from tcformal.errors import InputError
from tcformal.simulation.gpu import card as cards
from tcformal.simulation.gpu.card import Card
from tcformal.simulation.gpu.opencl import OpenClCard


@cache
def named(device: str) -> Card:
    """The GPU `cuda:N`, or the OpenCL device `opencl:N`, counted over all platforms.

    Errors: InputError for another text; DeviceError for a number that no device has, or without a library.
    """
    found = re.fullmatch(r"(cuda|opencl):([0-9]{1,4})", device)
    if found is None:
        raise InputError(f"expected a device cuda:N or opencl:N, but got {device!r}")
    index = int(found[2])
    return cards.card(index) if found[1] == "cuda" else OpenClCard(index)
