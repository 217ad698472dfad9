"""The AMD GPUs of this machine as the kernel's driver (amdkfd) lists them, with or without HIP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: One folder per processor and GPU.
_NODES = Path("/sys/class/kfd/kfd/topology/nodes")


@dataclass(frozen=True, slots=True)
class Topology:
    """The GPUs listed by the driver, and the nodes that could not be read."""

    #: Target of each GPU, `gfx90a` and the like, in the driver's order.
    targets: Sequence[str]
    #: Nodes that refuse reading, by number, and why the first one does.
    refused: Sequence[str]
    why: str = ""

    def note(self) -> str:
        """One sentence on the nodes that could not be read; empty where there are none."""
        if not self.refused:
            return ""
        nodes = " and ".join(f"node {number}" for number in self.refused)
        return (
            f"expected the driver to describe every GPU, but it refuses {nodes} ({self.why}): what "
            "is not given to this container or user is left out"
        )


def topology(nodes: Path = _NODES) -> Topology:
    """The GPUs listed by the driver; none without a driver.  Nodes that cannot be read are named."""
    targets: list[str] = []
    refused: list[str] = []
    why = ""
    for folder in sorted(nodes.glob("*"), key=lambda p: (len(p.name), p.name)):
        try:
            text = (folder / "properties").read_text(errors="replace")
        except FileNotFoundError:
            continue
        except OSError as error:
            refused.append(folder.name)
            why = why or str(error.strerror)
            continue
        target = _target(text)
        if target:
            targets.append(target)
    return Topology(targets, refused, why)


def _target(text: str) -> str:
    """The target of a node by its properties; empty for a processor."""
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name == "gfx_target_version" and value.isdecimal() and int(value):
            major, rest = divmod(int(value), 10_000)
            minor, step = divmod(rest, 100)
            return f"gfx{major}{minor:x}{step:x}"
    return ""
