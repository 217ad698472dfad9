"""`hip:N`: the MFMA instructions of an AMD GPU, each built, disassembled and launched.

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

from tcformal.design.catalog import catalogue, floating
from tcformal.design.unit import UnitSpec, base_name
from tcformal.devices.device import Ability, gpu_number, sources
from tcformal.devices.tiles import GpuDevice, TiledDevice, Tiles, build_failure
from tcformal.errors import DeviceError
from tcformal.simulation.compilers import built, run_tool
from tcformal.simulation.operands.batch import Raw

#: Target of each architecture of the catalogue.
TARGETS = {"cdna1": "gfx908", "cdna2": "gfx90a", "cdna3": "gfx942"}

_NAME = re.compile(
    r"v_mfma_(f32|f64)_(\d+)x(\d+)x(\d+)(?:_\d+b)?_?(f16|bf16_1k|bf16|xf32|f32|f64|(?:fp8|bf8)_(?:fp8|bf8))"
)
#: Elements of A and of B that a lane holds; and the type that the intrinsic takes them as, and its length.
_OPERANDS = {
    "f16": (4, "_Float16", 4), "bf16_1k": (4, "short", 4), "bf16": (2, "short", 2), "xf32": (2, "float", 2),
    "f32": (1, "float", 1), "f64": (1, "double", 1),
}  # fmt: skip
_FP8 = (8, "long", 1)


@dataclass(frozen=True, slots=True)
class Mfma:
    """The parameters of a unit's MFMA kernel: intrinsic, registers, target and expected mnemonic."""

    target: str
    #: The contents of `instruction.h`.
    header: str
    intrinsic: str
    #: The machine instruction as a disassembler writes it.
    mnemonic: str
    #: Tiles that one instruction computes.
    blocks: int


def _typedef(name: str, element: str, length: int) -> str:
    vector = f" __attribute__((ext_vector_type({length})))" if length > 1 else ""
    return f"typedef {element} {name}{vector};\n"


def mfma(spec: UnitSpec) -> Mfma:
    """The instruction of an AMD unit; DeviceError for a unit of another kind."""
    arch, _, text = base_name(spec).partition("/")
    found = _NAME.fullmatch(text)
    if arch not in TARGETS or found is None:
        raise DeviceError(f"expected a unit of an AMD GPU (cdna1, cdna2 or cdna3), but got {spec.name}")
    result, m, n, k, kind = found.groups()
    # gfx942 has dropped the older bf16 instructions and the suffix of the newer ones.
    operands = "bf16_1k" if (arch, kind) == ("cdna3", "bf16") else kind
    joint = "_" if kind == "xf32" or "8_" in kind else ""
    intrinsic = f"__builtin_amdgcn_mfma_{result}_{m}x{n}x{k}{joint}{operands}"
    items, element, length = _OPERANDS.get(operands, _FP8)
    blocks = 64 * items // (spec.m * spec.k)
    count = spec.m * spec.n * blocks // 64
    scalar = "double" if result == "f64" else "float"
    o = spec.operands
    values = {
        "M": spec.m, "N": spec.n, "K": spec.k, "BLOCKS": blocks, "ITEMS_AB": items,
        "HIGH": 1 if result == "f64" else 4,
        "AB_A": f"uint{o.a.storage_bits}_t", "AB_B": f"uint{o.b.storage_bits}_t",
        "CD": f"uint{o.c.storage_bits}_t", "MFMA": intrinsic,
    }  # fmt: skip
    header = "".join(f"#define {name} {value}\n" for name, value in values.items())
    types = _typedef("VECTOR_AB", element, length) + _typedef("VECTOR_CD", scalar, count)
    guarded = f"#ifndef SIMULATED\n{types}#endif\n"
    return Mfma(TARGETS[arch], header + guarded, intrinsic, text, blocks)


#: What builds for gfx942: ROCm's own clang, releases that know the target, newest first, and hipcc.
_CLANGS = ("amdclang++", *(f"clang++-{n}" for n in range(22, 16, -1)), "clang++", "hipcc")
_OPTIONS = ("--offload-device-only", "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-O3")
#: Where CUDA's nvcc is on the path, hipcc builds for NVIDIA unless the platform is set.
_PLATFORM = {"HIP_PLATFORM": "amd"}


@dataclass(frozen=True, slots=True)
class CodeObject:
    """A built and disassembled kernel of a unit."""

    made: Mfma
    path: Path
    compiler: str


def code_object(spec: UnitSpec) -> CodeObject:
    """Build the kernel of a unit once, and check that it contains the unit's machine instruction.

    Errors: DeviceError where there is no compiler or disassembler, or the instruction is missing.
    """
    instruction = mfma(spec)
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


def instructions(path: Path) -> list[str]:
    """The matrix instructions of a code object in order, cached beside it."""

    def make(kept: Path) -> None:
        text = run_tool([disassembler(), "-d", str(path)], "disassemble a kernel")
        kept.write_text("\n".join(re.findall(r"\bv_mfma\w+", text)))

    return built([path], ["mnemonics", disassembler()], make).read_text().split()


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


#: Threads of a wavefront: one block.
_LANES = 64


def abilities_of(target: str) -> Sequence[Ability]:
    """The abilities of a GPU with a compiler target such as `gfx90a`."""
    arch = arch_of(target)
    if arch is None:
        return [Ability("no unit of the catalogue", missing=f"{target} is not in the catalogue")]
    return [Ability(f"{arch}/v_mfma_…", "v_mfma")]


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
        return [name for name in super().units() if floating(catalogue()[name])]

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
        self._runtime.run(kernel.path, blocks, _LANES, (tiles.a, tiles.b, tiles.c), d, count)
        return d

    def _kernel(self, spec: UnitSpec) -> CodeObject:
        name = base_name(spec)
        if name not in self._kernels:
            self._kernels[name] = code_object(spec)
        return self._kernels[name]
