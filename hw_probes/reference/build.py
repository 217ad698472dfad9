"""Build the programs of this folder from sources that others published: `build.py NAME OUTPUT [REPOSITORY]`.

Each is then a device, `exec:OUTPUT/NAME`.  REPOSITORY is a clone of the repository that `SOURCES` names; its
files are taken from its HEAD into OUTPUT, and the commit is part of what the program says of itself.
"""

from __future__ import annotations

import glob
import io
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
_CXX = ("g++", "-std=c++17", "-O2", "-fwrapv", "-w")
_STATIC = ("-O2", "-static", "{who}")
_HABANA = "HabanaAI/Intel_Gaudi3_Software"
#: What Gaudi 1 and 2 share: a header and its source.
_FS_FMA = ("coral-sim/header/gaudi2/fs_core/fs_fma_gaudi2.h", "coral-sim/src/gaudi2/fs_core/fs_fma.cpp")
_OF_GAUDI2 = ("{who}", "-I{src}/coral-sim/header/gaudi2/fs_core")


@dataclass(frozen=True)
class Reference:
    """One program: the repository, the paths of it that are needed, and the commands that build it.

    `commands` are run one after the other; {src} is the folder of the sources, {here} this one, {out} the
    program, {who} the definitions of DEVICE and SOURCE.  A word with a * stands for all such files.
    `way` is what the device's name says beside the commit: which of several ways of its source it is.
    """

    title: str
    repository: str | None
    paths: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    way: str = ""


#: Of the simulator's source, the functions of one MVMUL.
_MVMUL = (
    r"/^static [a-z0-9_ ]\+ \(fpu_accum_normalize_encode\|fpu_exp_prod_adj\|mvmul\)(/,/^}}/w {src}/mvmul.inc"
)


def _ttsim(arch: str, version: int) -> Reference:
    """Tenstorrent's simulator of one architecture, the first fidelity phase."""
    return Reference(
        "ttsim", "tenstorrent/ttsim", ("src/tensix.cpp",),
        (
            ("sed", "-n", _MVMUL, "{src}/src/tensix.cpp"),
            (
                *_CXX, "{who}", f"-DTT_ARCH_VERSION={version}", "-DPHASE=0", "-I{src}", "{here}/ttsim.cc",
                "-o", "{out}",
            ),
        ),
        arch,
    )  # fmt: skip


#: What each program is built from; None: the emulator is Debian's qemu-user.
SOURCES: dict[str, Reference] = {
    "spike": Reference(
        "Spike", "riscv-software-src/riscv-isa-sim",
        ("riscv/bulknormdot.h", "riscv/zvbdot.h", "softfloat"),
        (
            # What Spike's configuration would write: a little-endian machine needs nothing.
            ("touch", "{src}/config.h"),
            (
                "gcc", "-O2", "-w", "-c", "-I{src}", "-I{src}/softfloat", "{src}/softfloat/f32_add.c",
                "{src}/softfloat/f32_mul.c", "{src}/softfloat/s_*.c", "{src}/softfloat/softfloat_*.c",
            ),
            (
                *_CXX, "{who}", "-I{src}/softfloat", "-I{src}/riscv", "{here}/spike.cc", "{src}/*.o",
                "-o", "{out}",
            ),
        ),
    ),
    "gaudi3": Reference(
        "Intel Gaudi 3 RTL verification model", _HABANA,
        ("coral-sim/header/gaudi3/fs_core/fs_fma_gaudi3.h", "coral-sim/src/gaudi3/fs_core/fs_fma.cpp"),
        (
            (
                *_CXX, "-mavx2", "-mfma", "{who}", "-I{src}/coral-sim/header/gaudi3/fs_core",
                "{here}/gaudi3.cc", "{src}/coral-sim/src/gaudi3/fs_core/fs_fma.cpp", "-o", "{out}",
            ),
        ),
    ),
    "gaudi2": Reference(
        "Intel Gaudi 2 RTL verification model", _HABANA, _FS_FMA,
        (
            (
                *_CXX, *_OF_GAUDI2, "{here}/gaudi2.cc", "{src}/coral-sim/src/gaudi2/fs_core/fs_fma.cpp",
                "-o", "{out}",
            ),
        ),
        "no_opt",
    ),
    "gaudi1": Reference(
        "Intel Gaudi RTL verification model", _HABANA, _FS_FMA,
        ((*_CXX, *_OF_GAUDI2, "-I{src}/coral-sim/src/gaudi2/fs_core", "{here}/gaudi1.cc", "-o", "{out}"),),
        "DNORM_FTZ as a macro",
    ),
    "bochs": Reference(
        "Bochs", "bochs-emu/Bochs",
        ("bochs/cpu/softfloat3e", "bochs/cpu/avx/bf8.h", "bochs/cpu/avx/hf8.h"),
        (
            # What Bochs' configuration would write, as far as its arithmetic reads it.
            ("cp", "{here}/bochs_config.h", "{src}/config.h"),
            (
                *_CXX, "{who}", "-I{src}", "-I{src}/bochs/cpu/softfloat3e/include", "-I{src}/bochs/cpu/avx",
                "{here}/bochs.cc", "{src}/bochs/cpu/softfloat3e/f32_mulAdd.cc",
                "{src}/bochs/cpu/softfloat3e/f16_mulAdd.cc", "{src}/bochs/cpu/softfloat3e/f32_addsub.cc",
                "{src}/bochs/cpu/softfloat3e/f32_mul.cc",
                "{src}/bochs/cpu/softfloat3e/f16_to_f32.cc", "{src}/bochs/cpu/softfloat3e/s_*.cc",
                "{src}/bochs/cpu/softfloat3e/8086-SSE/s_*.cc", "-o", "{out}",
            ),
        ),
    ),
    "cute": Reference(
        "CUTE", "OpenXiangShan/CUTEFPE", ("ccode",),
        ((*_CXX, "{who}", "-I{src}/ccode", "{here}/cute.cc", "-o", "{out}"),),
    ),
    "ttsim-wormhole": _ttsim("wormhole", 0),
    "ttsim-blackhole": _ttsim("blackhole", 1),
    "power10": Reference(
        "QEMU", None, (),
        (("powerpc64le-linux-gnu-gcc", "-mcpu=power10", *_STATIC, "{here}/power10.c", "-o", "{out}"),),
    ),
    "sme": Reference(
        "QEMU", None, (),
        (("aarch64-linux-gnu-gcc", "-march=armv8.2-a", *_STATIC, "{here}/sme.c", "-o", "{out}"),),
    ),
}  # fmt: skip


def build(name: str, output: Path, repository: Path | None) -> Path:
    """Make one program; CalledProcessError where a command fails."""
    what = SOURCES[name]
    work = output / f"{name}.sources"
    work.mkdir(parents=True, exist_ok=True)
    if what.repository is None:
        said = subprocess.run(["qemu-aarch64", "--version"], check=True, capture_output=True, text=True)
        version = said.stdout.split()[2]
        device, source = f"QEMU {version}", f"qemu-user {version}"
    else:
        if repository is None:
            raise SystemExit(f"expected a clone of {what.repository} for {name}, but got none")
        git = ["git", "-C", str(repository)]
        commit = subprocess.run(
            [*git, "rev-parse", "--short=8", "HEAD"], check=True, capture_output=True, text=True
        ).stdout.strip()
        files = subprocess.run([*git, "archive", "HEAD", *what.paths], check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(files)) as archive:
            archive.extractall(work, filter="data")
        device, source = f"{what.title} {commit} {what.way}".rstrip(), f"{what.repository} {commit}"
    program = output / name
    words = {"src": str(work), "here": str(HERE), "out": str(program)}
    who = [f'-DDEVICE="{device}"', f'-DSOURCE="{source}"']
    for command in what.commands:
        made: list[str] = []
        for word in command:
            if word == "{who}":
                made += who
                continue
            text = word.format(**words)
            made += sorted(glob.glob(text)) if "*" in text else [text]
        subprocess.run(made, check=True, cwd=work)
    return program


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in SOURCES:
        raise SystemExit(f"{__doc__}\nNAME: {', '.join(SOURCES)}")
    clone = Path(sys.argv[3]) if len(sys.argv) == 4 else None
    sys.stdout.write(f"{build(sys.argv[1], Path(sys.argv[2]).resolve(), clone)}\n")
