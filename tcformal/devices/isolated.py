"""Device isolation: a device runs in a child process, so that a hang or crash costs one call.

A kernel that never ends, or an error that disables the driver, then does not end a campaign.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import numpy as np

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.device import Ability, Device, gpu_number
from tcformal.devices.registry import BUILDERS, open_device
from tcformal.errors import DeviceError, TcformalError
from tcformal.simulation.operands.batch import Batch, Raw
from tcformal.spawning import init_child, spawning

#: Kinds of device that can hang, or break with their driver.
_FRAGILE = ("cuda", "hip")


@contextlib.contextmanager
def opened(name: str) -> Iterator[Device]:
    """Open a device by name, in a child process if its kind can hang.

    Errors: as `registry.open_device`.
    """
    kind, _, number = name.partition(":")
    device: Device
    if kind in _FRAGILE:
        gpu_number(kind, number or "0")
        device = IsolatedDevice(name)
    else:
        device = open_device(name)
    try:
        yield device
    finally:
        device.close()


class IsolatedDevice(Device):
    """A device in a child process, which is killed after `patience_s` seconds without an answer.

    Errors: DeviceError where the device fails, does not answer, or its process ends; the next call starts
    a new one.
    """

    def __init__(self, name: str, patience_s: float = 60.0) -> None:
        self.name = name
        self.patience_s = patience_s
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._sent: Batch | None = None
        self._abilities: list[Ability] = self._ask("abilities")

    def abilities(self) -> Sequence[Ability]:
        return self._abilities

    def units(self) -> list[str]:
        return list(self._ask("units"))

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        return dict(self._ask("identify", spec.instruction, k))

    def builder(self) -> Callable[[str], str] | None:
        return BUILDERS.get(self.name.partition(":")[0])

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        """The results of the isolated device; a batch equal to the previous one is not sent again."""
        again = batch is self._sent and self._process is not None and self._process.is_alive()
        self._sent = batch
        results: Raw = self._ask("run", spec.instruction, None if again else batch)
        return results

    def close(self) -> None:
        """End the child process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None

    def _ask(self, what: str, *arguments: object) -> Any:
        pipe = self._started()
        try:
            pipe.send((what, arguments))
            if not pipe.poll(self.patience_s):
                self.close()
                raise DeviceError(
                    f"expected {self.name} to answer within {self.patience_s:g} s, but it is silent; "
                    "its process was ended, and the next call starts another"
                )
            kind, value = pipe.recv()
        except (EOFError, OSError):
            raise DeviceError(f"expected {self.name} to go on running, but {self._end()}") from None
        if kind == "error":
            sentence, answered, fatal = value
            if fatal:
                self.close()
            raise DeviceError(sentence, answered)
        return value

    def _started(self) -> Connection:
        if self._pipe is None or self._process is None or not self._process.is_alive():
            self.close()
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, self.name, os.getpid()), daemon=True)
            with spawning():
                self._process.start()
            theirs.close()
        return self._pipe

    def _end(self) -> str:
        """End the child process, and describe how it ended."""
        process = self._process
        if process is None:
            return "it is gone"
        process.join(timeout=5)
        code = process.exitcode
        self.close()
        if code is not None and code < 0:
            return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended with exit code {code}"


def _serve(pipe: Connection, name: str, parent: int) -> None:
    """The child's main loop: answer calls until the parent closes the pipe; unexpected errors end it."""
    init_child(parent)
    device: Device | None = None
    batch = Batch(*(np.zeros(0, np.uint64),) * 3)
    while True:
        try:
            what, arguments = pipe.recv()
        except EOFError:
            return
        try:
            if device is None:
                device = open_device(name)
            if what == "run":
                batch = batch if arguments[1] is None else arguments[1]
                value: Any = device.run(resolve(arguments[0]), batch)
            elif what == "identify":
                value = device.identify(resolve(arguments[0]), arguments[1])
            else:
                value = list(getattr(device, what)())
            pipe.send(("done", value))
        except DeviceError as error:
            # A failed launch leaves the driver's context broken: the next call has a process of its own.
            pipe.send(("error", (str(error), list(error.answered), what == "run")))
        except TcformalError as error:
            pipe.send(("error", (str(error), [], False)))
        except Exception as error:  # noqa: BLE001  whatever it was, the parent must hear of it
            pipe.send(("error", (f"expected {name} to answer, but got: {error!r:.200}", [], True)))
