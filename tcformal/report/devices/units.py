"""Units of one arithmetic by the processors that have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

#: GPUs and accelerators of each architecture of the catalogue; of instruction sets and open designs, what
#: they are called.
PROCESSORS: dict[str, tuple[str, ...]] = {
    "volta": ("V100",),
    "turing": ("T4", "RTX 20"),
    "ampere": ("A100", "A30"),
    "ada": ("L4", "L40S", "RTX 40"),
    "hopper": ("H100", "H200"),
    "blackwell": ("B200", "GB200"),
    "rtx-blackwell": ("RTX 50", "RTX PRO 6000"),
    "cdna1": ("MI100",),
    "cdna2": ("MI210", "MI250X"),
    "cdna3": ("MI300X", "MI300A", "MI325X"),
    "rdna3": ("RX 7900",),
    "rdna4": ("RX 9070",),
    "gaudi": ("Gaudi",),
    "gaudi2": ("Gaudi 2",),
    "gaudi3": ("Gaudi 3",),
    "arm": ("Arm",),
    "x86": ("x86",),
    "power10": ("Power10",),
    "riscv": ("RISC-V",),
    "et-soc-1": ("ET-SoC-1",),
    "vortex": ("Vortex",),
    "hexagon": ("Hexagon",),
    "nvdla": ("NVDLA",),
}


def by_architecture(names: Iterable[str]) -> dict[str, list[str]]:
    """Names of units by architecture, in the order in which these come."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.partition("/")[0], []).append(name)
    return found


def on_processors(names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """The processors of each architecture, and the units that they have."""
    for arch, units in by_architecture(names).items():
        yield ", ".join(PROCESSORS.get(arch, (arch,))), units


def processors_text(names: Iterable[str]) -> str:
    """All processors, each with the first of its units."""
    return ", ".join(f"{processors} ({units[0]})" for processors, units in on_processors(names))


def processors_data(names: Iterable[str]) -> list[dict[str, Any]]:
    """The processors of each architecture and all of their units, as plain data."""
    return [
        {"arch": arch, "processors": list(PROCESSORS.get(arch, (arch,))), "names": units}
        for arch, units in by_architecture(names).items()
    ]
