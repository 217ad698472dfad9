"""NVIDIA GPUs through cuda-core, which is imported when one is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from tcformal.errors import DeviceError
from tcformal.probe.cubin import Cubin
from tcformal.query.families import Raw


def cuda_core() -> Any:
    """The package cuda.core; DeviceError where it is not installed."""
    try:
        return import_module("cuda.core")
    except ImportError:
        raise DeviceError(
            "expected the package cuda-core (python -m pip install 'tcformal[cuda]'), but it is not installed"
        ) from None


def gpu_count() -> int:
    """GPUs of this machine; DeviceError where there is no driver or no GPU."""
    core = cuda_core()
    try:
        count = len(core.Device.get_all_devices())
    except Exception as error:
        raise DeviceError(f"expected an NVIDIA driver, but got: {_first_line(error)}") from error
    if not count:
        raise DeviceError("expected an NVIDIA GPU, but the driver finds none")
    return count


class Gpu:
    """One GPU: who it is, and kernels on it.

    Errors: DeviceError for a number that no GPU has.
    """

    def __init__(self, index: int) -> None:
        count = gpu_count()
        if index >= count:
            raise DeviceError(f"expected a GPU below {count}, the number that are here, but got cuda:{index}")
        self._core = cuda_core()
        self._device = self._core.Device(index)

    @property
    def name(self) -> str:
        """The product's name."""
        return str(self._device.name)

    @property
    def capability(self) -> tuple[int, int]:
        """The compute capability."""
        major, minor = self._device.compute_capability
        return int(major), int(minor)

    def driver(self) -> str:
        """The driver's version."""
        try:
            version = self._core.system.get_kernel_mode_driver_version()
        except Exception as error:
            raise DeviceError(f"expected the driver's version, but got: {_first_line(error)}") from error
        return ".".join(map(str, version))

    def launch(self, made: Cubin, inputs: Sequence[Raw], output: Raw, count: int) -> Raw:
        """The output of the kernel `probe` on arrays: A, B, C, then D, then scales, then `count`.

        Shapes: `inputs` are A, B, C and the scales of A and B; `output` is of D's shape and type.
        Errors: DeviceError where the GPU is busy, has no memory left, or the kernel fails.
        """
        try:
            return self._launched(made, inputs, output, count)
        except Exception as error:
            raise DeviceError(
                f"expected {self.name} to run a kernel, but got: {_first_line(error)}"
            ) from error

    def _launched(self, made: Cubin, inputs: Sequence[Raw], output: Raw, count: int) -> Raw:
        core, device = self._core, self._device
        device.set_current()
        stream = device.create_stream()
        pinned = core.LegacyPinnedMemoryResource()
        kernel = core.ObjectCode.from_cubin(made.path.read_bytes()).get_kernel("probe")
        held: list[Any] = []

        def there(array: Raw, *, filled: bool) -> tuple[Any, Any]:
            """A buffer here and one on the GPU."""
            near, far = pinned.allocate(array.nbytes), device.allocate(array.nbytes, stream=stream)
            held.extend((near, far))
            if filled:
                np.from_dlpack(near).view(np.uint8)[:] = (
                    np.ascontiguousarray(array).reshape(-1).view(np.uint8)
                )
                far.copy_from(near, stream=stream)
            return near, far

        a, b, c, scale_a, scale_b = (there(array, filled=True)[1] for array in inputs)
        near, d = there(output, filled=False)
        config = core.LaunchConfig(grid=grid_of(made, count), block=made.kernel.threads)
        core.launch(stream, config, kernel, a, b, c, d, scale_a, scale_b, np.uint64(count))
        d.copy_to(near, stream=stream)
        stream.sync()
        raw = np.from_dlpack(near).view(np.uint8).copy()
        for buffer in held:
            buffer.close(stream)
        stream.sync()
        return raw.view(output.dtype).reshape(output.shape)


#: Blocks of a launch whose kernel goes on from tile to tile.
_MOST_BLOCKS = 1 << 16


def grid_of(made: Cubin, count: int) -> int:
    """Blocks of a launch on `count` tiles."""
    blocks = -(-count // made.kernel.tiles_per_block)
    # Kernels of one tile to a block go on by the size of the grid; the others do one round.
    return min(blocks, _MOST_BLOCKS) if made.kernel.tiles_per_block == 1 else blocks


def _first_line(error: Exception) -> str:
    """What a foreign error says, on one line."""
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__
