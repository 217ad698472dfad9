"""Emulation of Arm instructions by QEMU's user mode, never recorded as hardware."""

from __future__ import annotations

import platform
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.simulation.compilers import run_tool

#: The emulator, the compiler of what it runs, and the Debian packages that have them.
QEMU, COMPILER = "qemu-aarch64", "aarch64-linux-gnu-gcc"
PACKAGES = "qemu-user, gcc-aarch64-linux-gnu, libc6-dev-arm64-cross"


@dataclass(frozen=True, slots=True)
class Emulator:
    """QEMU's user mode, with a cross compiler for Arm."""

    program: str
    #: `qemu VERSION`, the name that every record has for it.
    name: str
    compiler: str

    @staticmethod
    def installed() -> Emulator | None:
        """The emulator of this machine; None where it or its compiler is missing.

        Errors: DeviceError where it does not print its version.
        """
        program, compiler = shutil.which(QEMU), shutil.which(COMPILER)
        if program is None or compiler is None:
            return None
        output = run_tool([program, "--version"], "say its version").splitlines()[0]
        version = re.search(r"version (\d+(?:\.\d+)*)", output)
        return Emulator(program, f"qemu {version[1] if version else output}", compiler)

    def words(self, built: str) -> Sequence[str]:
        """The command that runs a program on an emulated processor with all features."""
        return [self.program, "-cpu", "max", built]

    def identity(self) -> dict[str, str]:
        """The identity for records: the emulator's, not the host processor's."""
        return {
            "device": self.name,
            "system": f"emulated ({QEMU} -cpu max) on {platform.system()} {platform.machine()}: no hardware",
        }
