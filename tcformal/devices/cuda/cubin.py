"""Kernels as cubins, checked for the machine instruction of their unit."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.devices.cuda.instructions import Kernel, kernel
from tcformal.devices.sources import sources
from tcformal.errors import DeviceError, TcformalError
from tcformal.simulation.gpu.compilers import Compiler, compiler, tool
from tcformal.simulation.gpu.driver import CUDA
from tcformal.simulation.gpu.tools import built, run_tool

#: A line of a disassembly: address, then the instruction, perhaps under a predicate.
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.a-z]*)")
#: Instructions that compute: named in the error where the expected one is missing.
_ARITHMETIC = re.compile(r"(?:[HDQIOB]|UTC\w*)(?:G?MMA)\b|^[FHD](?:FMA|ADD|MUL)\d?\b")
_HEADERS = ("probe.cuh", "fragments.h", "words.h", "places.h")
#: The packages that build for sm_70 and disassemble it: NVIDIA's wheels of nvdisasm begin with 13.2.
_OLD = "CUDA 12: a whole toolkit with its nvdisasm, for the packages of later ones do not know sm_70"
#: The kernels that place dot products on tiles.
_TILES = "tiles.cu"


@dataclass(frozen=True, slots=True)
class Cubin:
    """A built kernel."""

    kernel: Kernel
    path: Path
    #: The machine instruction that was found in it.
    instruction: str
    compiler: str


def disassembler() -> tuple[str, ...]:
    """The command of a disassembler: nvdisasm or cuobjdump; DeviceError where there is neither.

    Only disassembled kernels are run, because a result counts only for an instruction that was seen.
    """
    for name, option in (("nvdisasm", "-c"), ("cuobjdump", "-sass")):
        path = tool(name)
        if path is not None:
            return path, option
    raise DeviceError(
        f"expected the disassembler nvdisasm ({CUDA}) or cuobjdump, but "
        "there is neither, and without one nobody knows which instruction was built"
    )


def cubin(spec: UnitSpec, by: Compiler | None = None) -> Cubin:
    """The kernel of a unit, built by `by` (default: the first compiler) and checked for its instruction.

    Errors: DeviceError where the unit has no kernel, the compiler does not know the target, or the
    compiler built the instruction from others.
    """
    made = kernel(spec)
    by = compiler() if by is None else by
    if made.target.removesuffix("a") not in by.targets:
        raise DeviceError(
            f"expected a CUDA toolkit that builds for {made.target}, but {by.version} does not; {spec.name} "
            f"needs {_OLD if made.target == 'sm_70' else 'a newer one'}"
        )
    disassembler()
    path = _compiled(by, made.source, made.target, made.header, f"build {made.ptx} for {made.target}")
    return Cubin(made, path, _expected(spec, made, instructions(path)), by.version)


def build(name: str) -> str:
    """Build the kernel of a unit ahead of its use; the reason why that failed, or an empty text."""
    try:
        made = cubin(resolve(name))
        tiles(made.kernel.target)
    except TcformalError as error:
        return str(error)
    return ""


def tiles(target: str, by: Compiler | None = None) -> Path:
    """The cubin of the kernels that place dot products on tiles and take results off them."""
    by = compiler() if by is None else by
    return _compiled(by, _TILES, target, "", f"build {_TILES} for {target}")


def _compiled(by: Compiler, source: str, target: str, header: str, what: str) -> Path:
    folder = sources("cuda")

    def make(path: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / "instruction.h").write_text(header)
            path.write_bytes(by.compile(folder / source, [Path(scratch), folder], target, what))

    files = [folder / source, *(folder / name for name in _HEADERS)]
    return built(files, [by.version, target, header], make)


def instructions(path: Path) -> Counter[str]:
    """The mnemonics of a cubin with their counts; cached beside the cubin."""

    def make(kept: Path) -> None:
        text = run_tool([*disassembler(), str(path)], "disassemble a kernel")
        found = Counter(match[1].rstrip(".") for match in _INSTRUCTION.finditer(text))
        kept.write_text(json.dumps(found))

    return Counter(json.loads(built([path], ["mnemonics", *disassembler()], make).read_text()))


def _expected(spec: UnitSpec, made: Kernel, found: Counter[str]) -> str:
    """The one machine instruction of the unit in a cubin; DeviceError where other instructions replace it."""
    matching = {name: n for name, n in found.items() if re.match(made.mnemonic, name)}
    arithmetic = ", ".join(f"{n} {name}" for name, n in sorted(found.items()) if _ARITHMETIC.search(name))
    if spec.emulation is not None:
        if matching and sum(matching.values()) == 1:
            raise DeviceError(
                f"expected the compiler to compose {made.ptx} for {made.target}, "
                f"but it is one instruction: {arithmetic}"
            )
        return arithmetic
    total = sum(matching.values())
    if total not in made.counts:
        raise DeviceError(
            f"expected one {made.mnemonic} for {made.ptx} on {made.target}, but the compiler makes "
            f"{arithmetic or 'no arithmetic'} of it: that is no matrix instruction of this name"
        )
    return ", ".join(matching)
