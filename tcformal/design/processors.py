"""The processors that have the catalogued units, by architecture: names under which people know them."""

from __future__ import annotations

from collections.abc import Iterable

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
