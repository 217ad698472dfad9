"""`cpu`: instructions of this processor, each run in a process of its own.

Arm's bf16 instructions run in an emulator where the processor lacks them; records then name the emulator.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, base_name, same_formats
from tcformal.devices.device import Ability, sources
from tcformal.devices.tiles import Places, TiledDevice, Tiles, placed
from tcformal.errors import DeviceError
from tcformal.simulation.compilers import built, run_tool
from tcformal.simulation.operands.batch import Raw, batch_of
from tcformal.simulation.operands.witness import Witness
from tcformal.version import processor

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


#: Exit code of a probe whose result depends on a control register.
_CONTROL_MATTERED = 5
_CPUINFO = Path("/proc/cpuinfo")


def _through(words: Sequence[str], tiles: Tiles, name: str) -> Raw:
    """The results D of all tiles from one run of a probe: the process reads the tile count, A, B and C.

    Errors: DeviceError where the program fails or writes too little.
    """
    count, m, k = tiles.a.shape
    head = np.array([count], dtype=np.uint64).tobytes()
    data = b"".join([head, *(np.ascontiguousarray(x).tobytes() for x in (tiles.a, tiles.b, tiles.c))])
    probe = f"expected the probe of {name}"
    try:
        done = subprocess.run([*words, str(k)], input=data, capture_output=True)
    except OSError as error:
        raise DeviceError(f"{probe} to start, but got: {error.strerror}") from None
    code, lines = done.returncode, done.stderr.decode(errors="replace").strip().splitlines()
    if code < 0:
        raise DeviceError(f"{probe} to run, but the process was ended by {signal.Signals(-code).name}")
    if code:
        mattered = code == _CONTROL_MATTERED
        what = "to give one result under every setting of the control register" if mattered else "to run"
        raise DeviceError(f"{probe} {what}, but {lines[-1] if lines else f'it exits with {code}'}")
    d = np.frombuffer(done.stdout, dtype=tiles.c.dtype)
    if d.size != tiles.c.size:
        raise DeviceError(f"expected {tiles.c.size} results of {name}, but {d.size} came")
    return d.reshape(count, m, tiles.c.shape[2])


@dataclass(frozen=True, slots=True)
class Instruction:
    """A CPU instruction with the source of its probe."""

    name: str
    machines: tuple[str, ...]
    #: The processor feature with which the instruction exists.
    feature: str
    source: str
    options: tuple[str, ...]


_X86, _ARM = ("x86_64",), ("aarch64", "arm64")


def _tile(kind: str) -> Instruction:
    options = ("-mamx-tile", f"-mamx-{kind}", f"-DTILE_OP=_tile_dp{kind}ps", "-DTILE_AB=uint16_t")
    return Instruction(f"tdp{kind}ps", _X86, f"amx_{kind}", "x86_tile.c", options)


def _integer_tile(name: str) -> Instruction:
    options = ("-mamx-tile", "-mamx-int8", f"-DTILE_OP=_tile_{name.removeprefix('t')}", "-DTILE_AB=uint8_t")
    return Instruction(name, _X86, "amx_int8", "x86_tile.c", options)


def _vnni(name: str) -> Instruction:
    """VNNI on bytes or words: in AVX-512 for the first of each, else in AVX-VNNI-INT8 and INT16."""
    size = 8 if name.startswith("vpdpb") else 16
    first = name.removesuffix("s") in ("vpdpbusd", "vpdpwssd")
    of = f"avxvnniint{size}"
    built = ("-mavx512vnni", "-mavx512vl") if first else ("-mavx2", f"-m{of}")
    options = (f"-DVNNI_OP=_mm256_{name.removeprefix('vp')}_epi32", f"-DVNNI_AB=uint{size}_t")
    return Instruction(
        name, _X86, "avx512_vnni" if first else f"avx_vnni_int{size}", "x86_vnni.c", (*built, *options)
    )


def _arm(name: str, ebf: int) -> Instruction:
    options = ("-march=armv8.2-a+bf16", *(("-DEBF=1",) if ebf else ()))
    return Instruction(
        f"{name}, FPCR.EBF = {ebf}", _ARM, "ebf16" if ebf else "bf16", f"arm_{name}.c", options
    )


def _arm_integers(signs: str, kind: str) -> Instruction:
    """Dot products of bytes, or 2 by 2 matrices: of signed, unsigned, or unsigned and signed ones."""
    extension = "dotprod" if kind == "dot" and signs != "us" else "i8mm"
    intrinsic = f"v{'us' if signs == 'us' else ''}{kind}q_{'u' if signs == 'u' else 's'}32"
    options = (
        f"-march=armv8.2-a+{extension}", "-flax-vector-conversions", f"-DARM_OP={intrinsic}",
        f"-DARM_ROWS={1 if kind == 'dot' else 2}",
    )  # fmt: skip
    feature = "asimddp" if extension == "dotprod" else extension
    return Instruction(f"{signs}{kind}", _ARM, feature, "arm_integers.c", options)


def _half(name: str, *options: str) -> Instruction:
    return Instruction(name, _X86, "avx512_fp16", "x86_fp16.c", ("-mavx512fp16", "-mavx512vl", *options))


#: AVX512-FP16, a part of a complex number each.
_HALVES = {
    **{f"x86/vfmadd{form}ph": _half(f"vfmadd{form}ph", f"-DFORM={form}") for form in (132, 213, 231)},
    **{
        f"x86/{name}.{part}": _half(f"{name}, {part}", f'-DCOMPLEX="{name}"', f"-DIMAGINARY={imaginary}")
        for name in ("vfmaddcph", "vfcmaddcph", "vfmulcph", "vfcmulcph")
        for imaginary, part in enumerate(("re", "im"))
    },
}  # fmt: skip

#: By unit.
_UNITS: dict[str, Instruction] = {
    "x86/vdpbf16ps": Instruction(
        "vdpbf16ps", _X86, "avx512_bf16", "x86_vdpbf16ps.c", ("-mavx512f", "-mavx512bf16")
    ),
    "x86/tdpbf16ps": _tile("bf16"),
    "x86/tdpfp16ps": _tile("fp16"),
    **_HALVES,
    **{f"x86/tdpb{signs}d": _integer_tile(f"tdpb{signs}d") for signs in ("ss", "su", "us", "uu")},
    **{
        f"x86/vpdp{kind}d{end}": _vnni(f"vpdp{kind}d{end}")
        for kind in ("bus", "bss", "bsu", "buu", "wss", "wsu", "wus", "wuu")
        for end in ("", "s")
    },
    **{f"arm/{name}.ebf{ebf}": _arm(name, ebf) for ebf in (0, 1) for name in ("bfdot", "bfmmla")},
    **{f"arm/{of}{kind}": _arm_integers(of, kind) for of in ("s", "u", "us") for kind in ("dot", "mmla")},
}

#: Scalar fused multiply-adds by machine and format: the family `sequential` on one format.
_FMA: dict[tuple[str, str], Instruction] = {
    ("x86_64", "fp32"): Instruction("vfmadd231ss", _X86, "fma", "fma.c", ("-mfma",)),
    ("x86_64", "fp64"): Instruction("vfmadd231sd", _X86, "fma", "fma.c", ("-mfma", "-DDOUBLE")),
    ("aarch64", "fp32"): Instruction("fmadd s", _ARM, "fp", "fma.c", ()),
    ("aarch64", "fp64"): Instruction("fmadd d", _ARM, "fp", "fma.c", ("-DDOUBLE",)),
}

#: Each machine's FMA chain as a design, with its NaN.
_CHAIN = "sequential@products=8,a_format={0},b_format={0},c_format={0},d_format={0},"
_FMA_NAN = {
    ("x86_64", "fp32"): "nan_word=0xffc00000,nan_rule=first_operand",
    ("x86_64", "fp64"): "nan_word=0xfff8000000000000,nan_rule=first_operand",
    ("aarch64", "fp32"): "nan_word=0x7fc00000",
    ("aarch64", "fp64"): "nan_word=0x7ff8000000000000",
}


class CpuDevice(TiledDevice):
    """The processor of this machine; `features` and `machine` default to what the system reports.

    The `emulator`, if given, runs Arm's bf16 instructions that the processor lacks.
    Errors: DeviceError for an instruction that cannot run here, or that the compiler cannot build.
    """

    def __init__(
        self,
        *,
        features: frozenset[str] | None = None,
        machine: str | None = None,
        emulator: Emulator | None = None,
    ) -> None:
        self.name = "cpu"
        self._emulator = emulator
        self._machine = machine or platform.machine()
        self._features = system_features() if features is None else features

    def _candidates(self) -> dict[str, Instruction]:
        """Every instruction with a probe, and the FMA chains of this kind of machine, by unit."""
        chains = {_CHAIN.format(f) + _FMA_NAN[m, f]: x for (m, f), x in _FMA.items() if m == self._machine}
        return _UNITS | chains

    def abilities(self) -> Sequence[Ability]:
        """Every instruction, with the emulator that would run it."""
        rows = []
        for unit, instruction in self._candidates().items():
            by, lacking = self._runner(instruction)
            rows.append(Ability(unit, instruction.name + (f" through {by.name}" if by else ""), lacking))
        return rows

    def units(self) -> list[str]:
        """The names of the units that the processor itself can run; emulated ones are run by name only."""
        return [resolve(unit).name for unit, x in self._candidates().items() if not self._lacks(x)]

    def _lacks(self, instruction: Instruction) -> str:
        """The reason why this processor cannot run an instruction; empty where it can."""
        if self._machine not in instruction.machines:
            return f"an instruction of {instruction.machines[0]}, and this machine is {self._machine}"
        if not self._features:
            return "the system does not say which features the processor has"
        return "" if instruction.feature in self._features else f"the processor has no {instruction.feature}"

    def _runner(self, instruction: Instruction) -> tuple[Emulator | None, str]:
        """The emulator of an instruction (None: the processor), and the reason if neither can run it."""
        lacking = self._lacks(instruction)
        if not lacking or instruction not in _UNITS.values() or instruction.machines != _ARM:
            return None, lacking
        if self._emulator is None:
            return None, f"{lacking}; an emulator would do (Debian: {PACKAGES})"
        refusal = _emulator_lacks(self._emulator, instruction)
        return (None, f"{lacking}; {refusal}") if refusal else (self._emulator, "")

    def _chosen(self, spec: UnitSpec) -> tuple[Instruction, Emulator | None]:
        """The instruction of a unit, with the emulator that runs it."""
        o, base = spec.operands, base_name(spec)
        chain = base == "sequential" and len({o.a, o.b, o.c, o.d}) == 1
        found = _FMA.get((self._machine, o.a.name)) if chain else _UNITS.get(base)
        if found is None:
            like = [
                x for x in map(resolve, _UNITS) if same_formats(x, spec) and not self._lacks(_UNITS[x.name])
            ]
            known = [x.name for x in like] or [*_UNITS, "sequential@… on fp32 or fp64 alone"]
            raise DeviceError(
                f"expected the name of a unit that a CPU has ({', '.join(known)}), but got {spec.name}"
            )
        emulator, lacking = self._runner(found)
        if lacking:
            raise DeviceError(f"expected {self.name} to run {found.name}, but {lacking}")
        return found, emulator

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """The identity of the processor (or emulator), the compiler and the instruction."""
        instruction, emulator = self._chosen(spec)
        if k != spec.k:
            raise DeviceError(f"expected dot products of {spec.k} terms for {instruction.name}, but got {k}")
        if emulator is None:
            who = {"device": processor(), "system": f"{platform.system()} {self._machine}"}
            _, compiler = _compiler()
        else:
            who, (_, compiler) = emulator.identity(), _versioned(emulator.compiler)
        return {**who, "compiler": compiler, "instruction": instruction.name}

    def launch(self, spec: UnitSpec, tiles: Tiles) -> Raw:
        """Run all tiles in one probe process, with operands and results through pipes."""
        instruction, emulator = self._chosen(spec)
        words = [program(instruction)] if emulator is None else _emulated(emulator, instruction)
        return _through(words, tiles, instruction.name)


def program(instruction: Instruction) -> str:
    """Build the probe of an instruction, and return its path; DeviceError where that fails."""
    return _built_probe(instruction, _compiler(), instruction.options)


def _emulated(emulator: Emulator, instruction: Instruction) -> Sequence[str]:
    """The command that runs an instruction's probe in an emulator; DeviceError if it cannot be built."""
    # Static: no Arm libraries are looked for where it runs.
    options = (*instruction.options, "-static")
    return emulator.words(_built_probe(instruction, _versioned(emulator.compiler), options))


@cache
def _emulator_lacks(emulator: Emulator, instruction: Instruction) -> str:
    """The reason why an emulator cannot run an instruction, from one run on zeros; empty where it can."""
    spec = resolve(next(unit for unit, one in _UNITS.items() if one == instruction))
    zeros = placed(spec, batch_of([Witness((0,) * spec.k, (0,) * spec.k, 0)]), Places.of(1, spec.m, spec.n))
    try:
        _through(_emulated(emulator, instruction), zeros, instruction.name)
    except DeviceError as error:
        return f"{emulator.name} does not run it: {error}"
    return ""


def _built_probe(instruction: Instruction, compiler: tuple[str, str], options: Sequence[str]) -> str:
    """The built probe of an instruction, cached by compiler path and version."""
    folder, (path, version) = sources("cpu"), compiler
    files = [folder / name for name in (instruction.source, "probe.h", "arm_control.h")]

    def build(target: Path) -> None:
        words = [path, "-std=gnu11", "-O2", *options, str(files[0]), "-o", str(target)]
        run_tool(words, f"build the probe of {instruction.name}")

    return str(built(files, [version, *options], build))


@cache
def _compiler() -> tuple[str, str]:
    """The machine's C compiler, with its version."""
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        path = shutil.which(name) if name else None
        if path is not None:
            return _versioned(path)
    raise DeviceError("expected a C compiler (cc, gcc or clang, or the one that CC names), but there is none")


@cache
def _versioned(path: str) -> tuple[str, str]:
    """A compiler's path, with its version."""
    return path, run_tool([path, "--version"], "say its version").splitlines()[0]


def system_features(text: str | None = None) -> frozenset[str]:
    """The processor's feature flags from the system's listing; empty where it lists none."""
    if text is None:
        text = _CPUINFO.read_text() if _CPUINFO.exists() else ""
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
    return frozenset(found[1].split() if found else ())
