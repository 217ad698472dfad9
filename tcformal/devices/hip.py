"""`hip:N`: an AMD GPU's matrix instructions, of RDNA those on integers: built, disassembled, launched.

One process launches all kernels, from the disassembled code objects.  The probes of all units were built and
disassembled, and their layouts simulated; none has run on a GPU yet.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from tcformal.design.unit import UnitSpec, base_instruction
from tcformal.devices.device import Ability, gpu_number, sources
from tcformal.devices.tiles import GpuDevice, TiledDevice, Tiles, build_failure, units_of, words_between
from tcformal.errors import DeviceError
from tcformal.simulation.compilers import built, run_tool
from tcformal.simulation.operands.batch import Raw

#: Target of each architecture of the catalogue.
TARGETS = {"cdna1": "gfx908", "cdna2": "gfx90a", "cdna3": "gfx942", "rdna3": "gfx1100", "rdna4": "gfx1201"}

_NAME = re.compile(
    r"v_(mfma|smfmac)_(f32|f64|i32)_(\d+x\d+x\d+)(?:_\d+b)?_?"
    r"(f16|bf16_1k|bf16|xf32|f32|f64|i8|(?:fp8|bf8)_(?:fp8|bf8))"
    r"|v_(wmma|swmmac)_i32_(16x16x\d+_iu[48])\.([iu])[48]\.([iu])[48](\.clamp)?"
)
#: Elements of A and of B that a lane holds; and the type of which the intrinsic takes as many.
_OPERANDS = {
    "f16": (4, "_Float16"), "bf16_1k": (4, "short"), "bf16": (2, "short"), "xf32": (2, "float"),
    "f32": (1, "float"), "f64": (1, "double"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MatrixInstruction:
    """The parameters of a unit's kernel: intrinsic, registers, target and expected mnemonic."""

    target: str
    #: The contents of `instruction.h`.
    header: str
    #: The call of the intrinsic on a, b and c.
    intrinsic: str
    #: The machine instruction with its signs and clamp, as a disassembler writes it.
    mnemonic: str
    #: Tiles that one instruction computes, and lanes of its wavefront.
    blocks: int
    lanes: int


def _typedef(name: str, element: str, length: int) -> str:
    vector = f" __attribute__((ext_vector_type({length})))" if length > 1 else ""
    return f"typedef {element} {name}{vector};\n"


def matrix_instruction(spec: UnitSpec) -> MatrixInstruction:
    """The instruction of an AMD unit; DeviceError for a unit of another kind."""
    arch, _, text = base_instruction(spec).partition("/")
    found = _NAME.fullmatch(text)
    if arch not in TARGETS or found is None:
        raise DeviceError(
            f"expected a matrix instruction of an AMD GPU ({', '.join(TARGETS)}), of RDNA on integers, "
            f"but got {spec.shown}"
        )
    name, o = text.partition(".")[0], spec.operands
    lanes = 32 if arch.startswith("rdna") else 64
    if lanes == 32:
        items = spec.m * spec.k // lanes * (2 if arch == "rdna3" else 1)
        element, per_element = "int", 32 // o.a.width
        call, modifiers = _wmma(arch, found)
    else:
        call, items, element, per_element = _mfma(arch, found, spec)
        modifiers = ""
    more = 1 + spec.sparse
    blocks = 1 if lanes == 32 else lanes * items // (spec.m * spec.k)
    values = {
        "M": spec.m, "N": spec.n, "K": spec.k, "BLOCKS": blocks, "LANES": lanes, "ITEMS_A": items,
        "ITEMS_B": items * more, "PER_BYTE": 2 if o.a.width == 4 else 1,
        "HIGH": {"rdna3": 1, "rdna4": 8}.get(arch, 1 if o.c.width == 64 else 4),
        "AB_A": f"uint{o.a.storage_bits}_t", "AB_B": f"uint{o.b.storage_bits}_t",
        "CD": f"uint{o.c.storage_bits}_t", "INTRINSIC(a,b,c)": call,
    }  # fmt: skip
    if spec.sparse:
        values["UNSELECTED"] = f"{{{', '.join(map(hex, words_between(o.b)))}}}"
    header = "".join(f"#define {name} {value}\n" for name, value in values.items())
    scalar = {"fp64": "double", "int32": "int"}.get(o.c.name, "float")
    types = (
        _typedef("VECTOR_A", element, items // per_element)
        + _typedef("VECTOR_B", element, items * more // per_element)
        + _typedef("VECTOR_CD", scalar, spec.m * spec.n * blocks // lanes)
    )
    guarded = f"#ifndef SIMULATED\n{types}#endif\n"
    return MatrixInstruction(TARGETS[arch], header + guarded, call, name + modifiers, blocks, lanes)


def _mfma(arch: str, found: re.Match[str], spec: UnitSpec) -> tuple[str, int, str, int]:
    """The call of an intrinsic of CDNA; elements of A in a lane, and the type that holds so many of them."""
    family, result, shape, kind = found.groups()[:4]
    # gfx942 has dropped the older bf16 instructions and the suffix of the newer ones.
    operands = "bf16_1k" if (arch, kind) == ("cdna3", "bf16") else kind
    per_element = 1
    if operands in _OPERANDS:
        items, element = _OPERANDS[operands]
    else:
        items = max(4, spec.m * spec.k // 64)
        element, per_element = ("long", 8) if items == 8 and not spec.sparse else ("int", 4)
    if spec.sparse:
        call = f"{result}_{shape}_{kind}(a,b,c,index,0,0)"
    else:
        joint = "_" if kind == "xf32" or element == "long" else ""
        call = f"{result}_{shape}{joint}{operands}(a,b,c,0,0,0)"
    return f"__builtin_amdgcn_{family}_{call}", items, element, per_element


def _wmma(arch: str, found: re.Match[str]) -> tuple[str, str]:
    """The call of an intrinsic of RDNA on integers, and what the disassembly has behind the registers."""
    family, shape, *letters, clamp = found.groups()[4:]
    a, b = (int(letter == "i") for letter in letters)
    end = "_gfx12" if (arch, family) == ("rdna4", "wmma") else ""
    index = "index," if family == "swmmac" else ""
    call = f"__builtin_amdgcn_{family}_i32_{shape}_w32{end}({a},a,{b},b,c,{index}{int(bool(clamp))})"
    return call, (f" neg_lo:[{a},{b},0]" if a or b else "") + (" clamp" if clamp else "")


#: What builds for gfx942: ROCm's own clang, releases that know the target, newest first, and hipcc.
_CLANGS = ("amdclang++", *(f"clang++-{n}" for n in range(22, 16, -1)), "clang++", "hipcc")
_OPTIONS = ("--offload-device-only", "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-O3")
#: Where CUDA's nvcc is on the path, hipcc builds for NVIDIA unless the platform is set.
_PLATFORM = {"HIP_PLATFORM": "amd"}


@dataclass(frozen=True, slots=True)
class CodeObject:
    """A built and disassembled kernel of a unit."""

    made: MatrixInstruction
    path: Path
    compiler: str


def code_object(spec: UnitSpec) -> CodeObject:
    """Build the kernel of a unit once, and check that it contains the unit's machine instruction.

    Errors: DeviceError where there is no compiler or disassembler, or the instruction is missing.
    """
    instruction = matrix_instruction(spec)
    clang, version = compiler()
    folder = sources("hip")

    def make(path: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / "instruction.h").write_text(instruction.header)
            words = [clang, "-x", "hip", f"--offload-arch={instruction.target}", *_OPTIONS, "-I", scratch]
            words += ["-I", str(folder), "-c", str(folder / "mfma.hip"), "-o", str(path)]
            run_tool(words, f"build {instruction.mnemonic} for {instruction.target}", environment=_PLATFORM)

    files = [folder / "mfma.hip", folder / "layout.h"]
    path = built(files, [clang, version, instruction.target, instruction.header, *_OPTIONS], make)
    found = instructions(path)
    if found != [instruction.mnemonic]:
        raise DeviceError(
            f"expected one {instruction.mnemonic} for {spec.name} on {instruction.target}, but the compiler "
            f"makes {', '.join(found) or 'no matrix instruction'} of {instruction.intrinsic}"
        )
    return CodeObject(instruction, path, version)


build = partial(build_failure, code_object)

#: A matrix instruction in a disassembly, with its signs and clamp.
_SEEN = re.compile(r"\b(v_(?:s?mfma|s?wmma)\w+)(?:.*?( neg_lo:\S+?\]))?(?:.*?( clamp))?")


def instructions(path: Path) -> list[str]:
    """The matrix instructions of a code object in order, cached beside it."""

    def make(kept: Path) -> None:
        text = run_tool([disassembler(), "-d", str(path)], "disassemble a kernel")
        kept.write_text("\n".join(map("".join, _SEEN.findall(text))))

    return built([path], ["mnemonics", disassembler()], make).read_text().splitlines()


def roots() -> list[Path]:
    """The folders where ROCm may be installed."""
    return [Path(root) for root in (os.environ.get("ROCM_PATH"), "/opt/rocm") if root]


@cache
def compiler() -> tuple[str, str]:
    """A clang with AMD GPU targets, and its version; DeviceError where none is installed."""
    folders = [root / below for root in roots() for below in ("bin", "llvm/bin")]
    path = _tool("clang", [p for n in _CLANGS for p in (shutil.which(n), *(f"{x / n}" for x in folders))])
    lines = run_tool([path, "--version"], "say its version", environment=_PLATFORM).splitlines()
    return path, lines[0] if lines else "of an unknown release"


@cache
def disassembler() -> str:
    """The llvm-objdump of the compiler's release; DeviceError where it is missing."""
    beside = Path(compiler()[0]).resolve().parent
    near = [beside, beside.parent / "llvm" / "bin", beside.parent / "lib" / "llvm" / "bin"]
    return _tool("llvm-objdump", [str(folder / "llvm-objdump") for folder in near])


def _tool(what: str, paths: Sequence[str | None]) -> str:
    for path in paths:
        if path and os.access(path, os.X_OK):
            return path
    raise DeviceError(
        f"expected {what} of ROCm, or of LLVM 17 or newer, but there is none: install ROCm, or set ROCM_PATH"
    )


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
    places = [root / lib / name for root in roots() for lib in ("lib", "lib64") for name in _NAMES]
    return [*(str(path) for path in places if path.exists()), *_NAMES]


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


def abilities_of(target: str) -> Sequence[Ability]:
    """The abilities of a GPU with a compiler target such as `gfx90a`."""
    arch = arch_of(target)
    if arch is None:
        return [Ability("no unit of the catalogue", missing=f"{target} is not in the catalogue")]
    families = dict.fromkeys(
        name.partition("/")[2].partition("_")[2].partition("_")[0] for name in units_with_kernels(arch)
    )
    return [Ability(f"{arch}/v_{family}_…", f"v_{family}") for family in families]


def units_with_kernels(arch: str | None) -> list[str]:
    """The units and sparse instructions of an architecture for which there are kernels."""
    return [name for name in units_of(arch) if _NAME.fullmatch(name.partition("/")[2])]


def arch_of(target: str) -> str | None:
    """The catalogue's architecture of a compiler target; None for an unknown target."""
    return next((arch for arch, name in TARGETS.items() if name == target), None)


class HipDevice(GpuDevice, TiledDevice):
    """An AMD GPU; `runtime` defaults to this machine's HIP library.

    Errors: InputError for a text that is no number; DeviceError without a library or such a GPU.
    """

    def __init__(self, text: str, runtime: HipRuntime | None = None) -> None:
        index = gpu_number("hip", text)
        self.name = f"hip:{index}"
        self._runtime = runtime or HipRuntime()
        count = self._runtime.count()
        if index >= count:
            raise DeviceError(f"expected an AMD GPU as {self.name}, but HIP lists {count or 'none'}")
        self._runtime.select(index)
        self._target = self._runtime.target(index)
        self._product = self._runtime.name(index) or self._target
        self._arch, self._what = arch_of(self._target), (self._target,)
        self._kernels: dict[str, CodeObject] = {}

    def abilities(self) -> Sequence[Ability]:
        return abilities_of(self._target)

    def units(self) -> list[str]:
        return units_with_kernels(self._arch)

    def builder(self) -> Callable[[str], str]:
        return build

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """The identity of GPU, driver, library, compiler and machine instruction; builds the kernel."""
        self.check(spec, k)
        kernel = self._kernel(spec)
        return {
            "device": self._product, "driver": self._runtime.driver(), "target": self._target,
            "library": self._runtime.version(), "compiler": kernel.compiler,
            "intrinsic": kernel.made.intrinsic, "instruction": kernel.made.mnemonic,
        }  # fmt: skip

    def launch(self, spec: UnitSpec, tiles: Tiles) -> Raw:
        kernel = self._kernel(spec)
        d, count = np.empty_like(tiles.c), len(tiles.c)
        blocks = -(-count // kernel.made.blocks)
        self._runtime.run(kernel.path, blocks, kernel.made.lanes, (tiles.a, tiles.b, tiles.c), d, count)
        return d

    def _kernel(self, spec: UnitSpec) -> CodeObject:
        name = base_instruction(spec)
        if name not in self._kernels:
            self._kernels[name] = code_object(spec)
        return self._kernels[name]
