"""HIP's runtime library through its C interface: load and launch kernels in this process."""

from __future__ import annotations

import ctypes
import platform
import re
from collections.abc import Sequence
from contextlib import ExitStack
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from tcformal.devices.hip.rocm import roots
from tcformal.errors import DeviceError
from tcformal.simulation.operands.batch import Raw

_NAMES = ("libamdhip64.so", *(f"libamdhip64.so.{release}" for release in (7, 6, 5)))
_DRIVER = Path("/sys/module/amdgpu/version")
_TO_GPU, _FROM_GPU = 1, 2
#: More than any release's hipDeviceProp_t takes.
_PROPERTIES_BYTES = 1 << 16
#: The initial bytes of memory for results, so that a kernel that writes nothing is noticed.
_UNWRITTEN = 0xA5


class HipRuntime:
    """The HIP runtime library, loaded from `path` or from ROCm's folders.

    Errors: DeviceError where there is none, or where a call fails, with what HIP says.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._library = _loaded([str(path)] if path is not None else _candidates())
        self._library.hipGetErrorString.restype = c_char_p
        self._kernels: dict[Path, c_void_p] = {}

    def count(self) -> int:
        """The number of GPUs that HIP finds; DeviceError for none."""
        n_gpus = c_int()
        self._call("count the GPUs", "hipGetDeviceCount", byref(n_gpus))
        return n_gpus.value

    def select(self, index: int) -> None:
        """Select the GPU of all further calls."""
        self._call(f"use GPU {index}", "hipSetDevice", index)

    def name(self, index: int) -> str:
        """The product name of a GPU; empty where the system does not know it."""
        text = ctypes.create_string_buffer(256)
        self._call("name a GPU", "hipDeviceGetName", text, len(text), index)
        return text.value.decode(errors="replace").strip()

    def target(self, index: int) -> str:
        """The compiler target of a GPU, such as `gfx90a`; DeviceError where HIP names none."""
        # The layout of the properties differs from release to release; the target is a text in all of them.
        facts = ctypes.create_string_buffer(_PROPERTIES_BYTES)
        newer = hasattr(self._library, "hipGetDevicePropertiesR0600")
        call = "hipGetDevicePropertiesR0600" if newer else "hipGetDeviceProperties"
        self._call("describe a GPU", call, facts, index)
        match = re.search(rb"gfx[0-9a-f]{3,}", facts.raw)
        if match is None:
            raise DeviceError("expected HIP to say which gfx target the GPU is, but it does not")
        return match[0].decode()

    def version(self) -> str:
        """The release of the HIP library."""
        release = c_int()
        self._call("say its version", "hipRuntimeGetVersion", byref(release))
        major, rest = divmod(release.value, 10_000_000)
        minor, patch = divmod(rest, 100_000)
        return f"HIP {major}.{minor}.{patch}"

    @staticmethod
    def driver() -> str:
        """The version of the driver: AMD's own, or that of the Linux kernel."""
        try:
            return _DRIVER.read_text().strip()
        except OSError:
            return f"{platform.system()} {platform.release()}"

    def run(self, path: Path, blocks: int, threads: int, operands: Sequence[Raw], out: Raw, n: int) -> None:
        """Launch the kernel `probe` of a code object on arrays, and fill `out` with its results.

        The kernel takes one pointer per operand, one to the results, and `n` as a 64-bit integer.
        """
        with ExitStack() as memory:
            pointers = [self._there(np.ascontiguousarray(x), memory) for x in operands]
            results = self._memory(out.nbytes, memory)
            self._call("clear its memory", "hipMemset", results, _UNWRITTEN, c_size_t(out.nbytes))
            arguments = [*pointers, results, ctypes.c_uint64(n)]
            words = (c_void_p * len(arguments))(*(ctypes.addressof(x) for x in arguments))
            grid = map(c_uint, (blocks, 1, 1, threads, 1, 1, 0))
            self._call(
                "launch a kernel", "hipModuleLaunchKernel", self._kernel(path), *grid, None, words, None
            )
            self._call("run a kernel", "hipDeviceSynchronize")
            self._copy(out.ctypes.data, results, out.nbytes, _FROM_GPU)

    def _kernel(self, path: Path) -> c_void_p:
        if path not in self._kernels:
            module, kernel = c_void_p(), c_void_p()
            self._call("load a kernel", "hipModuleLoad", byref(module), str(path).encode())
            self._call("find a kernel", "hipModuleGetFunction", byref(kernel), module, b"probe")
            self._kernels[path] = kernel
        return self._kernels[path]

    def _there(self, array: Raw, memory: ExitStack) -> c_void_p:
        made = self._memory(array.nbytes, memory)
        self._copy(made, array.ctypes.data, array.nbytes, _TO_GPU)
        return made

    def _memory(self, size: int, memory: ExitStack) -> c_void_p:
        address = c_void_p()
        self._call(f"give {size} bytes", "hipMalloc", byref(address), c_size_t(size))
        memory.callback(self._library.hipFree, address)
        return address

    def _copy(self, to: Any, source: Any, size: int, kind: int) -> None:
        pointers = (x if isinstance(x, c_void_p) else c_void_p(x) for x in (to, source))
        self._call("copy", "hipMemcpy", *pointers, c_size_t(size), kind)

    def _call(self, what: str, name: str, *arguments: Any) -> None:
        """Call the library, and turn its error into a DeviceError of one sentence."""
        code = getattr(self._library, name)(*arguments)
        if code:
            message = self._library.hipGetErrorString(code) or b""
            text = " ".join(message.decode(errors="replace").split()) or f"error {code}"
            raise DeviceError(f"expected HIP to {what}, but it says: {text}")


def _candidates() -> list[str]:
    folders = [root / name for root in roots() for name in ("lib", "lib64")]
    there = [str(folder / name) for folder in folders for name in _NAMES if (folder / name).exists()]
    return [*there, *_NAMES]


def _loaded(paths: Sequence[str]) -> ctypes.CDLL:
    why = ""
    for path in paths:
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            why = why or str(error)
    raise DeviceError(
        f"expected the library libamdhip64.so of ROCm, but got: {why}; install ROCm, or set ROCM_PATH"
    )
