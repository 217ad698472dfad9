"""GPUs by device name: `cuda:N` and `opencl:N`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.errors import DeviceError, InputError
from tcformal.installed import install
from tcformal.simulation.gpu import card as cards
from tcformal.simulation.gpu.card import Card
from tcformal.simulation.gpu.compilers import complaint, first_line
from tcformal.simulation.gpu.tools import built


class OpenClCard(Card):
    """An OpenCL device, numbered over all platforms; PoCL makes the CPU one, too.

    Errors: DeviceError without the package or a platform, and for a number that no device has.
    """

    def __init__(self, index: int) -> None:
        try:
            self._cl = cl = import_module("pyopencl")
            devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]
        except ImportError as error:
            raise DeviceError(
                f"expected the package pyopencl ({install('opencl')}), but got: {first_line(error)}"
            ) from error
        except Exception as error:  # the loader says so where there is no platform
            raise DeviceError(f"expected an OpenCL platform, but got: {first_line(error)}") from error
        if index >= len(devices):
            raise DeviceError(
                f"expected an OpenCL device below {len(devices)}, the number that are here, but got "
                f"opencl:{index}"
            )
        device = devices[index]
        self._context = cl.Context([device])
        self._queue = cl.CommandQueue(self._context)
        self._programs: dict[Path, Any] = {}
        self.name = str(device.name)
        self.capability = (0, 0)
        self.library = f"pyopencl {cl.VERSION_TEXT}, {device.platform.version}"

    def driver(self) -> str:
        """The version of the OpenCL driver."""
        return str(self._context.devices[0].driver_version)

    def empty(self, size: int) -> Any:
        """Allocate `size` bytes of device memory."""
        return self._cl.Buffer(self._context, self._cl.mem_flags.READ_WRITE, size)

    def put(self, array: NDArray[Any]) -> Any:
        """Copy an array to the device."""
        flags = self._cl.mem_flags
        there = np.ascontiguousarray(array)
        return self._cl.Buffer(self._context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=there)

    def get(self, memory: Any, size: int) -> NDArray[Any]:
        """Copy `size` bytes of device memory to the host."""
        host = np.empty(size, np.uint8)
        self._cl.enqueue_copy(self._queue, host, memory)
        return host

    def free(self, memory: Any) -> None:
        """Free device memory."""
        memory.release()

    def program(self, text: str, what: str) -> Path:
        """Write an OpenCL C source to a file; the driver builds it on first launch and caches it."""

        def write(part: Path) -> None:
            part.write_text(text, encoding="utf-8")

        path = built([], ["OpenCL C", text], write)
        if path not in self._programs:
            try:
                self._programs[path] = self._cl.Program(self._context, text).build()
            except Exception as error:
                text = f"expected {self.library} to {what}, but got: {complaint(error)}"
                raise DeviceError(text) from error
        return path

    def launch(self, path: Path, name: str, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        """Start a kernel of an OpenCL C source."""
        kernel = self._cl.Kernel(self._programs[path], name)
        kernel(self._queue, (blocks * threads,), (threads,), *arguments)


@cache
def named(device: str) -> Card:
    """Open the GPU `cuda:N` or the OpenCL device `opencl:N`, numbered over all platforms.

    Errors: InputError for another text; DeviceError for a number that no device has, or without a library.
    """
    match = re.fullmatch(r"(cuda|opencl):([0-9]{1,4})", device)
    if match is None:
        raise InputError(f"expected a device cuda:N or opencl:N, but got {device!r}")
    index = int(match[2])
    return cards.card(index) if match[1] == "cuda" else OpenClCard(index)
