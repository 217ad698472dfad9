"""ROCm made of this machine: a compiler that builds the probe for the host, a runtime that launches it."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mfma_layouts import A_RDNA, B_SPARSE, B_SPARSE_RDNA4, D_RDNA, A, D, Place
from tcformal.design.unit import UnitSpec
from tcformal.devices.hip import TARGETS, HipRuntime, matrix_instruction, units_with_kernels
from tcformal.simulation.matrix_unit import replay, unit
from tcformal.simulation.operands.batch import Batch, Raw

Index = NDArray[np.intp]
HERE = Path(__file__).parent / "devices"
AMD = [name for arch in TARGETS for name in units_with_kernels(arch)]

#: Builds with g++ what clang is told to build, but only for AMD: hipcc does so where nvcc is on the path.
CLANG = """#!/bin/sh
if [ "$1" = --version ]; then echo simulated clang; exit; fi
if [ "$HIP_PLATFORM" != amd ]; then echo "error: this is a machine of NVIDIA's" >&2; exit 1; fi
while [ $# -gt 0 ]; do
    case "$1" in
        -I) include="$include -I $2"; shift;;
        -o) out="$2"; shift;;
        --offload-arch=*) target="${{1#*=}}";;
    esac
    shift
done
{before}
exec g++ -std=c++17 -O1 -w -shared -fPIC -DSIMULATED -DKERNEL -DTARGET=$target -I {here} $include \\
    {here}/simulated_hip.cc -o "$out"
"""
#: Shows the machine instruction that a real compiler makes of the intrinsic.
OBJDUMP = """#!/bin/sh
key=$(grep -a -o 'SIMULATED gfx[0-9a-z]* __builtin[a-z0-9_(),]*' "$2" | head -n 1)
grep -F "$key " {folder}/instructions | cut -d ' ' -f 4-
"""
MULTIPLY = ctypes.CFUNCTYPE(
    None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t
)


def simulated_rocm(folder: Path, compiler: str = "amdclang++", before: str = "") -> Path:
    """A folder as ROCM_PATH names it; the compiler runs the shell commands `before` before it builds."""
    if shutil.which("g++") is None:
        pytest.skip("no C++ compiler (g++) builds the simulation here")
    for name in ("bin", "lib"):
        (folder / name).mkdir(parents=True)
    lines = [(matrix_instruction(unit(name).spec), name) for name in AMD]
    text = "".join(f"SIMULATED {made.target} {made.intrinsic} {made.mnemonic}\n" for made, _ in lines)
    (folder / "instructions").write_text(text)
    for name, script in ((compiler, CLANG), ("llvm-objdump", OBJDUMP)):
        path = folder / "bin" / name
        path.write_text(script.format(here=HERE, folder=folder, before=before))
        path.chmod(0o755)
    subprocess.run(
        ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", str(HERE / "simulated_hip.cc"),
         "-o", str(folder / "lib" / "libamdhip64.so")],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return folder


class SimulatedHip(HipRuntime):
    """The simulated runtime with the instructions of one architecture; `altered` goes behind each name."""

    def __init__(self, folder: Path, arch: str, altered: str = "") -> None:
        os.environ["SIMULATED_TARGET"] = TARGETS[arch]
        super().__init__(folder / "lib" / "libamdhip64.so")
        units = [unit(name).spec for name in AMD if name.startswith(f"{arch}/")]
        self._specs = {
            matrix_instruction(spec).intrinsic: unit(f"{spec.instruction}{altered}").spec for spec in units
        }
        self._function = MULTIPLY(self._multiply)
        self._library.simulate(self._function)

    def counted(self, name: str) -> int:
        """`loads` of code objects, `launches` of kernels, pieces of memory `held`."""
        return ctypes.c_int.in_dll(self._library, name).value

    def _multiply(self, intrinsic: bytes, operands: int, size: int, products: int, wanted: int) -> None:
        out = multiplied(self._specs[intrinsic.decode()], ctypes.string_at(operands, size))
        assert len(out) == wanted
        ctypes.memmove(products, out, wanted)


def places(where: Place, blocks: int, *shape: int) -> dict[tuple[int, int, int], tuple[int, int]]:
    """(block, row, column) -> lane and item of every element."""
    return {
        (b, i, j): where(b, i, j) for b in range(blocks) for i in range(shape[0]) for j in range(shape[1])
    }


@cache
def indices(where: Place, blocks: int, rows: int, columns: int) -> tuple[Index, Index]:
    """Lane and item of every element as arrays [block, row, column]; no place holds two elements."""
    at = places(where, blocks, rows, columns)
    assert len(set(at.values())) == len(at)
    lanes, items = np.array(list(at.values())).T.reshape(2, blocks, rows, columns)
    return lanes, items


def layouts(spec: UnitSpec) -> tuple[Place, Place, Place]:
    """Where the elements of A, of B and of C and D stand."""
    made = matrix_instruction(spec)
    if made.lanes == 32:
        a = A_RDNA[spec.arch, spec.k]
        return a, B_SPARSE_RDNA4[2 * spec.k] if spec.sparse else a, D_RDNA[spec.arch]
    a = A[spec.m, spec.k, made.blocks]
    kind = "fp64" if spec.d_format.width == 64 else "fp32"
    return a, B_SPARSE[spec.n, 2 * spec.k] if spec.sparse else a, D[spec.m, made.blocks, kind]


def selected(b: Raw, index: int) -> Raw:
    """The elements [block, n, k] of B [block, n, 2 k] that an index selects: two of each four."""
    nibble = index & 15
    assert index == nibble * 0x11111111  # every chunk of every row has the same
    first, second = nibble & 3, nibble >> 2
    assert first < second
    return b.reshape(*b.shape[:2], -1, 4)[..., [first, second]].reshape(*b.shape[:2], -1)


def multiplied(spec: UnitSpec, out: bytes) -> bytes:
    """The instruction on the items of all lanes."""
    o, made, more = spec.operands, matrix_instruction(spec), 1 + spec.sparse
    blocks, lanes = made.blocks, made.lanes
    items, count = spec.m * spec.k * blocks // lanes, spec.m * spec.n * blocks // lanes
    items *= 2 if spec.arch == "rdna3" else 1
    per_word = o.a.storage_bits // o.a.width
    lane = np.dtype([
        ("a", f"u{o.a.storage_bits // 8}", (items // per_word,)),
        ("b", f"u{o.b.storage_bits // 8}", (items * more // per_word,)),
        ("c", f"u{o.c.storage_bits // 8}", (count,)), ("index", "u4"),
    ])  # fmt: skip
    regs = np.frombuffer(out, lane)
    assert len(regs) == lanes
    if spec.arch == "rdna3":
        assert (regs[["a", "b"]][:16] == regs[["a", "b"]][16:]).all()
    at_a, at_b, at_d = layouts(spec)
    a = items_of(regs["a"], per_word)[indices(at_a, blocks, spec.m, spec.k)]
    b = items_of(regs["b"], per_word)[indices(at_b, blocks, spec.n, spec.k * more)]
    if spec.sparse:
        (index,) = set(regs["index"].tolist())
        b = selected(b, index)
    at = indices(at_d, blocks, spec.m, spec.n)
    c = regs["c"][at].astype(np.uint64)
    x, i, j = (v.reshape(-1) for v in np.indices(c.shape))
    d = np.zeros((lanes, count), regs["c"].dtype)
    d[at] = replay(spec, Batch(a[x, i], b[x, j], c[x, i, j])).reshape(c.shape)
    return d.tobytes()


def items_of(words: Raw, per_word: int) -> Raw:
    """The items of each lane; 4-bit ones stand two to a byte, the first in the low bits."""
    wide: Raw = words.astype(np.uint64)
    return wide if per_word == 1 else np.stack([wide & 15, wide >> 4], axis=-1).reshape(len(wide), -1)
