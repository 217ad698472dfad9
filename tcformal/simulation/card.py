"""GPUs by device name, `cuda:N` and `opencl:N`: memory, copies and launches."""

from __future__ import annotations

import ctypes
import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tcformal.errors import DeviceError, InputError
from tcformal.installed import install
from tcformal.simulation.compilers import CUDA, CUDA_12, built, compiler, complaint, first_line, supported

# ----------------------------------------------------------------------------- NVIDIA GPUs, through cuda-core
T = TypeVar("T")

_PROC = Path("/proc/driver/nvidia/version")


class Card(ABC):
    """Abstract GPU: memory, copies and kernel launches through some library.

    Errors: those of the library; `card` and `cuda.CudaDevice` turn them into sentences.
    """

    #: The product's name, the compute capability, and the library through which it is used.
    name: str
    capability: tuple[int, int]
    library: str

    @abstractmethod
    def driver(self) -> str:
        """The driver's version, as text."""

    @abstractmethod
    def empty(self, size: int) -> Any:
        """Allocate `size` bytes of GPU memory, uninitialised."""

    @abstractmethod
    def put(self, array: NDArray[Any]) -> Any:
        """Copy an array to the GPU."""

    @abstractmethod
    def get(self, memory: Any, size: int) -> NDArray[Any]:
        """Copy `size` bytes of GPU memory to the host after all earlier launches have ended."""

    @abstractmethod
    def free(self, memory: Any) -> None:
        """Free GPU memory."""

    def program(self, text: str, what: str) -> Path:
        """Build a CUDA C++ source once, and return the file from which its kernels are launched.

        Errors: DeviceError with `what` as the expectation where the compiler refuses it.
        """
        by, target = compiler(), "sm_{}{}".format(*self.capability)

        def make(path: Path) -> None:
            with tempfile.TemporaryDirectory() as scratch:
                source = Path(scratch) / "kernels.cu"
                source.write_text(text, encoding="utf-8")
                path.write_bytes(by.compile(source, [], target, what))

        return built([], [by.version, target, text], make)

    @abstractmethod
    def launch(self, path: Path, name: str, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        """Start a kernel of a built file; its arguments are GPU memory and NumPy scalars."""


class CoreCard(Card):
    """A GPU through the library cuda-core."""

    def __init__(self, index: int) -> None:
        self._core = core = import_module("cuda.core")
        self._device = device = core.Device(index)
        device.set_current()
        self._stream = device.create_stream()
        self._pinned = core.LegacyPinnedMemoryResource()
        self._kernels: dict[tuple[Path, str], Any] = {}
        self.name = str(device.name)
        major, minor = device.compute_capability
        self.capability = int(major), int(minor)
        self.library = f"cuda-core {_version('cuda-core')}"

    @staticmethod
    def count() -> int:
        """The number of GPUs that the driver finds."""
        return len(import_module("cuda.core").Device.get_all_devices())

    def driver(self) -> str:
        """The version of the installed kernel-mode driver."""
        try:
            return ".".join(map(str, self._core.system.get_kernel_mode_driver_version()))
        except AttributeError:  # as the operating system reports it
            words = _PROC.read_text().split() if _PROC.exists() else []
            return next((w for w in words if w[:1].isdigit() and "." in w), "unknown")

    def empty(self, size: int) -> Any:
        return self._device.allocate(size, stream=self._stream)

    def put(self, array: NDArray[Any]) -> Any:
        """Copy an array to the GPU through pinned host memory."""
        flat = np.ascontiguousarray(array)
        near, far = self._pinned.allocate(flat.nbytes), self.empty(flat.nbytes)
        ctypes.memmove(int(near.handle), flat.ctypes.data, flat.nbytes)
        far.copy_from(near, stream=self._stream)
        self._stream.sync()
        near.close()
        return far

    def get(self, memory: Any, size: int) -> NDArray[Any]:
        near = self._pinned.allocate(size)
        memory.copy_to(near, stream=self._stream)
        self._stream.sync()
        host = np.empty(size, np.uint8)
        ctypes.memmove(host.ctypes.data, int(near.handle), size)
        near.close()
        return host

    def free(self, memory: Any) -> None:
        memory.close(self._stream)

    def launch(self, path: Path, name: str, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        """Start a kernel of a cubin."""
        if (path, name) not in self._kernels:
            code = self._core.ObjectCode.from_cubin(path.read_bytes())
            self._kernels[path, name] = code.get_kernel(name)
        config = self._core.LaunchConfig(grid=blocks, block=threads)
        self._core.launch(self._stream, config, self._kernels[path, name], *arguments)


def count() -> int:
    """The number of GPUs of this machine; DeviceError without a library, a driver or a GPU."""
    return _found(CoreCard.count)


def card(index: int) -> Card:
    """Open one GPU, after a copy test.

    Errors: DeviceError for a number that no GPU has, or where the library does not work, with the reason.
    """
    n_gpus = count()
    if index >= n_gpus:
        raise DeviceError(f"expected a GPU below {n_gpus}, the number that are here, but got cuda:{index}")
    return _found(lambda: _tried(CoreCard(index)))


def _tried(made: Card) -> Card:
    there = np.arange(64, dtype=np.uint8)
    memory = made.put(there)
    back = made.get(memory, there.nbytes)
    made.free(memory)
    if not np.array_equal(there, back):
        raise DeviceError(
            f"expected {made.library} to bring back the bytes that it was given, but it does not"
        )
    return made


def _found(use: Callable[[], T]) -> T:
    """What cuda-core answers; DeviceError with the reason where it finds no GPU."""
    try:
        if answer := use():
            return answer
        reason = "cuda-core finds none"
    except ModuleNotFoundError:
        reason = "cuda-core is not installed"
    except Exception as error:  # noqa: BLE001  the library has errors of its own
        reason = f"cuda-core says: {first_line(error)}"
    release = supported()
    newest = "" if release is None else f"; the driver supports CUDA {release[0]}.{release[1]}"
    raise DeviceError(
        f"expected an NVIDIA GPU ({CUDA}, or for a driver of CUDA 12: {CUDA_12}), but {reason}{newest}"
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of an unknown release"


# ---------------------------------------------------------------------------- OpenCL devices, and all by name
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
        return str(self._context.devices[0].driver_version)

    def empty(self, size: int) -> Any:
        return self._cl.Buffer(self._context, self._cl.mem_flags.READ_WRITE, size)

    def put(self, array: NDArray[Any]) -> Any:
        flags = self._cl.mem_flags
        there = np.ascontiguousarray(array)
        return self._cl.Buffer(self._context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=there)

    def get(self, memory: Any, size: int) -> NDArray[Any]:
        host = np.empty(size, np.uint8)
        self._cl.enqueue_copy(self._queue, host, memory)
        return host

    def free(self, memory: Any) -> None:
        memory.release()

    def program(self, text: str, what: str) -> Path:
        """Write an OpenCL C source to a file; the driver builds it on first launch and caches it."""
        path = built([], ["OpenCL C", text], lambda part: part.write_text(text, encoding="utf-8"))
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
    return card(index) if match[1] == "cuda" else OpenClCard(index)
