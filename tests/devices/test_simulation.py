"""The CUDA probes on a simulated GPU: their own code runs on the host, thread by thread.

What an instruction takes from registers, shared and tensor memory is put together here by layouts that
share nothing with the probes' `fragments.h`: those of `mma` as strides of registers and lanes, as CuTe's
MMA_Traits write them, those of descriptors by the fields of the descriptors.  In place of the instruction
stands the model.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from sampled import one_in
from tcformal.design.unit import UnitSpec
from tcformal.devices.cuda import kernel
from tcformal.devices.device import sources
from tcformal.devices.tiles import Places, placed
from tcformal.semantics.chain import scale_count
from tcformal.simulation.matrix_unit import replay, unit
from tcformal.simulation.operands.batch import Batch, Raw, batch

HERE = Path(__file__).parent
Modes = tuple[tuple[int, int], ...]

#: (bits of an element in its register, m, k) -> lanes and values of A and B: (size, stride) from the fastest
#: on, into m + M·k and n + N·k.
LAYOUTS: dict[tuple[int, int, int], tuple[Modes, Modes, Modes, Modes]] = {
    (16, 16, 8): (((4, 32), (8, 1)), ((2, 16), (2, 8)), ((4, 16), (8, 1)), ((2, 8),)),
    (16, 16, 16): (((4, 32), (8, 1)), ((2, 16), (2, 8), (2, 128)), ((4, 16), (8, 1)), ((2, 8), (2, 64))),
    (32, 16, 4): (((4, 16), (8, 1)), ((2, 8),), ((4, 8), (8, 1)), ((1, 0),)),
    (32, 16, 8): (((4, 16), (8, 1)), ((2, 8), (2, 64)), ((4, 8), (8, 1)), ((2, 32),)),
    (8, 16, 16): (((4, 64), (8, 1)), ((4, 16), (2, 8)), ((4, 32), (8, 1)), ((4, 8),)),
    (8, 16, 32): (((4, 64), (8, 1)), ((4, 16), (2, 8), (2, 256)), ((4, 32), (8, 1)), ((4, 8), (2, 128))),
    (8, 8, 16): (((4, 32), (8, 1)), ((4, 8),), ((4, 32), (8, 1)), ((4, 8),)),
    (4, 8, 32): (((4, 64), (8, 1)), ((8, 8),), ((4, 64), (8, 1)), ((8, 8),)),
    (4, 16, 32): (((4, 128), (8, 1)), ((8, 16), (2, 8)), ((4, 64), (8, 1)), ((8, 8),)),
    (4, 16, 64): (((4, 128), (8, 1)), ((8, 16), (2, 8), (2, 512)), ((4, 64), (8, 1)), ((8, 8), (2, 256))),
    (64, 8, 4): (((4, 8), (8, 1)), ((1, 0),), ((4, 8), (8, 1)), ((1, 0),)),
    (64, 16, 4): (((4, 16), (8, 1)), ((2, 8),), ((4, 8), (8, 1)), ((1, 0),)),
    (64, 16, 8): (((4, 16), (8, 1)), ((2, 8), (2, 64)), ((4, 8), (8, 1)), ((2, 32),)),
    (64, 16, 16): (((4, 16), (8, 1)), ((2, 8), (4, 64)), ((4, 8), (8, 1)), ((4, 32),)),
}
#: (bits of an element in its register, k) -> lanes and values of B of sparse instructions, for k that no
#: dense one has.
WIDE_B: dict[tuple[int, int], tuple[Modes, Modes]] = {
    (16, 32): (((4, 16), (8, 1)), ((2, 8), (4, 64))),
    (32, 16): (((4, 8), (8, 1)), ((4, 32),)),
    (8, 64): (((4, 32), (8, 1)), ((4, 8), (4, 128))),
    (4, 128): (((4, 64), (8, 1)), ((8, 8), (4, 256))),
}
#: m -> lanes and values of C and D, into m + M·n.
LAYOUT_C: dict[int, tuple[Modes, Modes]] = {
    16: (((4, 32), (8, 1)), ((2, 16), (2, 8))),
    8: (((4, 16), (8, 1)), ((2, 8),)),
}
#: Quadpairs (m8n8k4 in fp16): eight lanes, of which four stand sixteen further on; A and B row by row.
QUAD_AB: tuple[Modes, Modes] = (((8, 1),), ((4, 8),))
QUAD_C: dict[int, tuple[Modes, Modes]] = {
    16: (((8, 1),), ((8, 8),)),
    32: (((2, 1), (2, 16), (2, 4)), ((2, 8), (2, 2), (2, 32))),
}
#: wgmma: 128 threads; values of N = 8 and more.
WGMMA_C: tuple[Modes, Modes] = (((4, 128), (8, 1), (4, 16)), ((2, 64), (2, 8), (32, 512)))

UNITS = [
    "turing/mma.m8n8k4.f32.f16.f16.f32", "turing/mma.m8n8k4.f16.f16.f16.f16",
    "turing/mma.m8n8k4.f32.f16.f16.f16",
    "turing/mma.m16n8k8.f16.f16.f16.f16",
    "ampere/mma.m16n8k16.f32.f16.f16.f32", "ampere/mma.m16n8k16.f16.f16.f16.f16",
    "ampere/mma.m16n8k4.f32.tf32.tf32.f32", "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
    "ampere/mma.m8n8k4.f64.f64.f64.f64", "hopper/mma.m16n8k4.f64.f64.f64.f64",
    "hopper/mma.m16n8k8.f64.f64.f64.f64", "hopper/mma.m16n8k16.f64.f64.f64.f64",
    "ada/mma.m16n8k16.f16.e5m2.e4m3.f16", "ada/mma.m16n8k32.f32.e4m3.e5m2.f32",
    "rtx-blackwell/mma.m16n8k32.kind::f8f6f4.f32.e2m1.e3m2.f32",
    "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e2m3.e2m1.f32.ue8m0",
    "rtx-blackwell/mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0",
    "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
    "hopper/wgmma.m64n8k8.f32.tf32.tf32", "hopper/wgmma.m64n24k16.f16.f16.f16",
    "hopper/wgmma.m64n16k16.f32.bf16.bf16", "hopper/wgmma.m64n8k32.f32.e4m3.e5m2",
    "blackwell/tcgen05.m64n8k16.kind::f16.f32.f16.bf16",
    "blackwell/tcgen05.m128n16k8.kind::tf32.f32.tf32.tf32",
    "blackwell/tcgen05.m128n8k32.kind::f8f6f4.f16.e5m2.e2m1",
    "blackwell/tcgen05.m64n16k32.kind::f8f6f4.f32.e3m2.e2m3",
    "blackwell/tcgen05.m128n40k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.ue8m0",
    "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0",
    "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    "turing/mma.m8n8k32.s32.s4.u4.s32", "turing/mma.m8n8k16.satfinite.s32.s8.s8.s32",
    "ampere/mma.m16n8k16.s32.u8.u8.s32", "ampere/mma.m16n8k32.satfinite.s32.u8.s8.s32",
    "ampere/mma.m16n8k64.s32.u4.s4.s32", "hopper/mma.m16n8k32.satfinite.s32.s4.s4.s32",
    "turing/dp4a.s32.u32", "hopper/wgmma.m64n16k32.satfinite.s32.s8.u8",
    "ada/dp4a.u32.s32", "blackwell/tcgen05.m64n8k32.kind::i8.s32.u8.s8",
]  # fmt: skip
SPARSE = [
    "ampere/mma.sp.m16n8k16.f32.bf16.bf16.f32", "hopper/mma.sp::ordered_metadata.m16n8k32.f16.f16.f16.f16",
    "ampere/mma.sp.m16n8k8.f32.tf32.tf32.f32", "ampere/mma.sp.m16n8k16.f32.tf32.tf32.f32",
    "ada/mma.sp.m16n8k64.f32.e4m3.e5m2.f32", "ampere/mma.sp.m16n8k32.s32.u8.s8.s32",
    "ampere/mma.sp.m16n8k64.s32.s4.u4.s32", "ampere/mma.sp.m16n8k128.satfinite.s32.u4.s4.s32",
    "rtx-blackwell/mma.sp::ordered_metadata.m16n8k64.kind::f8f6f4.f32.e2m1.e3m2.f32",
    "hopper/wgmma.sp.m64n8k16.f32.tf32.tf32", "hopper/wgmma.sp.m64n24k32.f16.f16.f16",
    "hopper/wgmma.sp.m64n16k64.s32.s8.u8",
    "blackwell/tcgen05.sp.m64n8k32.kind::f16.f32.f16.bf16",
    "blackwell/tcgen05.sp.m128n16k16.kind::tf32.f32.tf32.tf32",
    "blackwell/tcgen05.sp.m128n8k64.kind::f8f6f4.f16.e5m2.e2m1",
]  # fmt: skip


def offsets(modes: Modes, count: int | None = None) -> list[int]:
    """The offsets of consecutive indices of nested (size, stride) modes, the first running fastest."""
    sums = [
        sum(parts) for parts in itertools.product(*([i * d for i in range(n)] for n, d in reversed(modes)))
    ]
    return sums[:count]


def covered(lanes: Modes, values: Modes, rows: int, columns: int) -> list[list[tuple[int, int]]]:
    """(row, column) by lane and value; every element of rows × columns exactly once."""
    made = [[divmod(t + v, rows)[::-1] for v in offsets(values)] for t in offsets(lanes)]
    assert sorted(p for row in made for p in row) == list(itertools.product(range(rows), range(columns)))
    return made


class Simulation:
    """A probe, built for the host."""

    def __init__(self, spec: UnitSpec, folder: Path) -> None:
        made = kernel(spec)
        self.spec, self.source, self.block = spec, made.source, THREADS.get(made.source, 128)
        # All of the header but the instruction itself.
        kept = [x for x in made.header.splitlines() if x.split()[1] not in ("INSTRUCTION", "WAITED")]
        (folder / "instruction.h").write_text("\n".join(kept) + "\n")
        self.program = folder / "simulated"
        subprocess.run(
            ["g++", "-std=c++17", "-O1", "-fno-strict-aliasing", "-DSIMULATED", f'-DSOURCE="{made.source}"',
             f"-DIS_{made.source.removesuffix('.cu').upper()}", f"-DBLOCK={self.block}", "-I", str(HERE),
             "-I", str(folder), "-I", str(sources("cuda")),
             str(HERE / "simulated.cc"), "-o", str(self.program)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip

    def run(self, mode: str, operands: bytes, tiles: int, results: bytes = b"", block: int = 0) -> bytes:
        """The bytes that the program writes, for one block of threads."""
        words = [str(self.program), mode, str(tiles), str(block)]
        return subprocess.run(words, input=operands + results, check=True, capture_output=True).stdout


def unpacked(words: NDArray[np.unsignedinteger], bits: int) -> NDArray[np.uint64]:
    """The fields of words, from the low bits on: one row of fields per row of words."""
    width = words.dtype.itemsize * 8
    shifts = np.arange(0, width, bits, dtype=np.uint64)
    fields = (words.astype(np.uint64)[..., None] >> shifts) & np.uint64((1 << bits) - 1)
    return fields.reshape(*words.shape[:-1], -1)


def packed(fields: Raw, bits: int, width: int) -> NDArray[np.unsignedinteger]:
    """Fields as words."""
    grouped = fields.astype(np.uint64).reshape(*fields.shape[:-1], -1, width // bits)
    shifts = np.arange(0, width, bits, dtype=np.uint64)
    made: Raw = (grouped << shifts).sum(axis=-1).astype(f"u{width // 8}")
    return made


def matrix_product(spec: UnitSpec, a: Raw, b: Raw, c: Raw, scale_a: Raw | None, scale_b: Raw | None) -> Raw:
    """D [m, n] of A [m, k], B [n, k], C [m, n] on the model."""
    i, j = (x.reshape(-1) for x in np.indices(c.shape))
    scales = [None if s is None else s[x].astype(np.uint64) for s, x in ((scale_a, i), (scale_b, j))]
    made = replay(spec, Batch(*(x.astype(np.uint64) for x in (a[i], b[j], c[i, j])), *scales))
    return made.reshape(c.shape)


def chosen(spec: UnitSpec, b: Raw, metadata: int) -> Raw:
    """The elements [n, k] of B [n, 2 k] that metadata selects: two indices a chunk, the first the lower one.

    Of tf32 both are halves of the same element, of 4-bit integers they are pairs of elements.
    """
    nibble = metadata & 15
    assert metadata == nibble * 0x11111111  # every chunk of every row has the same
    first, second = nibble & 3, nibble >> 2
    assert first < second
    width = spec.operands.a.width
    if width == 32:
        assert nibble in (0b0100, 0b1110)
        return b.reshape(spec.n, spec.k, 2)[:, :, first // 2]
    unit = 2 if width == 4 and spec.operands.a.integer else 1
    chunks = b.reshape(spec.n, -1, 4, unit)
    return chunks[:, :, [first, second]].reshape(spec.n, spec.k)


def mma(spec: UnitSpec, out: bytes) -> bytes:
    """The instruction on the registers of a warp."""
    o, double = spec.operands, spec.operands.a.name == "fp64"
    word = np.dtype(np.uint64 if double else np.uint32)
    quad = spec.m == 8 and o.a.name == "fp16"
    bits = o.a.width if spec.k == 64 or o.a.integer else max(8, o.a.width)
    c_bits = 64 if double else o.c.width
    per = 8 if quad else 32
    rows = spec.k * (1 + spec.sparse)
    counts = [n * size // (per * word.itemsize * 8) for n, size in
              ((spec.m * spec.k, bits), (spec.n * rows, bits), (spec.m * spec.n, c_bits))]  # fmt: skip
    count = scale_count(spec, spec.k)
    words = [("sa", "u4"), ("sb", "u4")] if count else [("e", "u4")] if spec.sparse else []
    lane = np.dtype([("a", word, counts[0]), ("b", word, counts[1]), *words, ("c", word, counts[2])])
    regs = np.frombuffer(out, lane)
    assert len(regs) == 32
    d_bits = 64 if double else o.d.width
    d = np.zeros((32, spec.m * spec.n // per), np.uint64)
    fields = [unpacked(regs["a"], bits), unpacked(regs["b"], bits), unpacked(regs["c"], c_bits)]
    shift = [np.uint64(2 if f.name == "e2m1" and spec.k == 32 else 0) for f in (o.a, o.b)]
    groups = (
        [[q * 4 + i + h for h in (0, 16) for i in range(4)] for q in range(4)] if quad else [list(range(32))]
    )
    layout_c = QUAD_C[c_bits] if quad else LAYOUT_C[spec.m]
    layout_d = QUAD_C[d_bits] if quad else layout_c
    if quad:
        layouts = [QUAD_AB, QUAD_AB, layout_c]
    else:
        la, va, lb, vb = LAYOUTS[bits, spec.m, spec.k]
        if spec.sparse:
            lb, vb = WIDE_B.get((bits, rows)) or LAYOUTS[bits, spec.m, rows][2:]
        layouts = [(la, va), (lb, vb), layout_c]
    shapes = [(spec.m, spec.k), (spec.n, rows), (spec.m, spec.n)]
    for lanes in groups:
        matrices = []
        for (lane_modes, value_modes), shape, field in zip(layouts, shapes, fields, strict=True):
            x = np.zeros(shape, np.uint64)
            for t, row in enumerate(covered(lane_modes, value_modes, *shape)):
                for v, place in enumerate(row):
                    x[place] = field[lanes[t], v]
            matrices.append(x)
        scale_a = scale_b = None
        if spec.sparse:
            (metadata,) = set(regs["e"].tolist())
            matrices[1] = chosen(spec, matrices[1] >> shift[1], metadata) << shift[1]
        if count:
            # Scales of A come from the first two lanes of each four, of B from the first.
            words_a = np.array([regs["sa"][m % 8 * 4 + m // 8] for m in range(16)])
            words_b = np.array([regs["sb"][n * 4] for n in range(8)])
            scale_a, scale_b = (unpacked(w[:, None], 8)[:, :count] for w in (words_a, words_b))
        product = matrix_product(
            spec, matrices[0] >> shift[0], matrices[1] >> shift[1], matrices[2], scale_a, scale_b
        )
        for t, row in enumerate(covered(*layout_d, spec.m, spec.n)):
            for v, place in enumerate(row):
                d[lanes[t], v] = product[place]
    return packed(d, d_bits, word.itemsize * 8).tobytes()


def from_shared(
    fmt_bits: int, k: int, rows: int, memory: bytes, start: int, descriptor: int, per_chunk: int
) -> Raw:
    """A matrix [rows, k] that a descriptor without swizzle finds: K-major, `per_chunk` elements a chunk."""
    address, leading, stride = (((descriptor >> at) & 0x3FFF) << 4 for at in (0, 16, 32))
    assert (address, descriptor >> 61) == (start, 0)
    made = np.zeros((rows, k), np.uint64)
    for row, i in itertools.product(range(rows), range(k)):
        chunk, inside = divmod(i, per_chunk)
        at = row // 8 * stride + chunk * leading + row % 8 * 16
        value = int.from_bytes(memory[at : at + 16], "little")
        made[row, i] = value >> inside * fmt_bits & ((1 << fmt_bits) - 1)
    return made


def shared(spec: UnitSpec, out: bytes, version: int) -> tuple[Raw, Raw, bytes]:
    """A [m, k], B [n, k or 2 k] in shared memory as the descriptors behind it say, and what follows."""
    o, more = spec.operands, 1 + spec.sparse
    sizes = np.cumsum([spec.m * 32, spec.n * 32 * more, 16])
    first, second, both = out[: sizes[0]], out[sizes[0] : sizes[1]], out[sizes[1] : sizes[2]]
    da, db = (x ^ version << 46 for x in np.frombuffer(both, np.uint64).tolist())
    a = from_shared(o.a.width, spec.k, spec.m, first, 0x1000, da, spec.k // 2)
    b = from_shared(o.b.width, spec.k * more, spec.n, second, 0x8000, db, spec.k // 2)
    return a, b, out[sizes[2] :]


def wgmma(spec: UnitSpec, out: bytes) -> bytes:
    """The instruction on shared memory and the registers of a warpgroup."""
    c_bits = spec.operands.c.width
    regs = spec.m * spec.n * c_bits // (128 * 32)
    words = np.frombuffer(out[: 128 * (regs + spec.sparse) * 4], np.uint32).reshape(128, -1)
    c_fields = unpacked(words[:, int(spec.sparse) :], c_bits)
    a, b, *_ = shared(spec, out[words.nbytes :], 0)
    if spec.sparse:
        (metadata,) = set(words[:, 0].tolist())
        b = chosen(spec, b, metadata)
    lanes, values = WGMMA_C
    values = (*values[:2], (spec.n // 8, values[2][1]))
    places = covered(lanes, values, spec.m, spec.n)
    c = np.zeros((spec.m, spec.n), np.uint64)
    for t, v in itertools.product(range(128), range(len(places[0]))):
        c[places[t][v]] = c_fields[t, v]
    product = matrix_product(spec, a, b, c, None, None)
    d = np.array([[product[place] for place in row] for row in places], np.uint64)
    return packed(d, c_bits, 32).tobytes()


def tcgen05(spec: UnitSpec, out: bytes) -> bytes:
    """The instruction on shared and tensor memory."""
    a, b, rest = shared(spec, out, 1)
    cells = np.frombuffer(rest, np.uint32).reshape(128, 512).copy()
    # M = 128: a row to a lane.  M = 64: sixteen rows to the first half of each warp's lanes.
    lanes = np.array([r if spec.m == 128 else r // 16 * 32 + r % 16 for r in range(spec.m)])
    columns = -(-spec.n // 32) * 32
    count = scale_count(spec, spec.k)
    scale_a = scale_b = None
    if count:
        found = []
        for start, rows in ((columns, spec.m), (columns + 32, spec.n)):
            words = [[cells[32 * w + r % 32, start + r // 32] for r in range(rows)] for w in range(4)]
            assert all(row == words[0] for row in words)  # each warp's lanes hold the same scales
            found.append(unpacked(np.array(words[0], np.uint32)[:, None], 8)[:, :count])
        scale_a, scale_b = found
    if spec.sparse:
        (metadata,) = set(cells[:, columns : columns + 32].reshape(-1).tolist())
        b = chosen(spec, b, metadata)
    cells[lanes, : spec.n] = matrix_product(spec, a, b, cells[lanes, : spec.n], scale_a, scale_b)
    return cells.tobytes()


def dp4a(spec: UnitSpec, out: bytes) -> bytes:
    """The instruction on the registers of a thread."""
    a, b, c = np.frombuffer(out, np.uint32).reshape(1, 3).T
    rows, columns = (unpacked(x[:, None], 8) for x in (a, b))
    return matrix_product(spec, rows, columns, c[:, None], None, None).astype(np.uint32).tobytes()


INSTRUCTIONS = {"mma.cu": mma, "wgmma.cu": wgmma, "tcgen05.cu": tcgen05, "dp4a.cu": dp4a}
#: Threads of a block that take part.
THREADS = {"mma.cu": 32, "dp4a.cu": 1}


def operands(spec: UnitSpec, seed: int, tiles: int = 1) -> tuple[Batch, Places, bytes]:
    """A batch that fills tiles, at least those of one block, where it stands, and the bytes of the tiles."""
    tiles = 4 if spec.m == 8 and spec.operands.a.name == "fp16" else tiles
    n = tiles * min(spec.m, spec.n)
    x = batch(spec, spec.k, n, seed)
    at = Places.of(n, spec.m, spec.n)
    made = placed(spec, x, at)
    # What no dot product uses is filled too, so that a wrong place is a wrong result.
    rng = np.random.default_rng(seed)
    for array, fmt in ((made.a, spec.a_format), (made.b, spec.b_format)):
        empty = array == 0
        array[empty] = rng.integers(0, 1 << fmt.width, empty.sum(), dtype=np.uint64).astype(array.dtype)
    made.a[at.tile, at.row], made.b[at.tile, at.column] = x.a, x.b
    none = [np.zeros(tiles * rows, np.uint8) for rows in (spec.m, spec.n)]
    scales = [z if s is None else s for s, z in zip((made.scale_a, made.scale_b), none, strict=True)]
    return x, at, b"".join(np.ascontiguousarray(v).tobytes() for v in (made.a, made.b, made.c, *scales))


@pytest.mark.parametrize("name", one_in(4, UNITS))
def test_a_probe_computes_the_matrix_product(name: str, tmp_path: Path) -> None:
    """Operands go through the probe's loads, the layouts of the instruction, and the probe's stores."""
    if shutil.which("g++") is None:
        pytest.skip("no C++ compiler (g++) builds the simulation here")
    spec = unit(name).spec
    sim = Simulation(spec, tmp_path)
    x, at, data = operands(spec, 7)
    out = sim.run("operands", data, at.count)
    results = INSTRUCTIONS[sim.source](spec, out)
    d = np.frombuffer(sim.run("results", data, at.count, results), f"u{spec.d_format.storage_bits // 8}")
    d = d.reshape(at.count, spec.m, spec.n)
    assert (d[at.tile, at.row, at.column] == replay(spec, x)).all()


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=pytest.mark.long if i % 3 else ()) for i, x in enumerate(SPARSE)]
)
def test_a_sparse_probe_computes_what_it_selects(name: str, tmp_path: Path) -> None:
    """With all metadata that is allowed, whatever stands where none is selected: NaN and Inf among it."""
    if shutil.which("g++") is None:
        pytest.skip("no C++ compiler (g++) builds the simulation here")
    spec = unit(name).spec
    turns = (2 if spec.operands.a.width == 32 else 6) * 4
    x, at, data = operands(spec, 7, turns)
    right, model = through(spec, tmp_path, at, data, range(turns)), replay(spec, x)
    assert all((d == model[at.tile == tile]).all() for tile, d in right)


def through(
    spec: UnitSpec, folder: Path, at: Places, data: bytes, tiles: Iterable[int]
) -> list[tuple[int, Raw]]:
    """The results of some tiles, of which a block computes one, from the simulated probe."""
    sim = Simulation(spec, folder)
    found = []
    for tile in tiles:
        results = INSTRUCTIONS[sim.source](spec, sim.run("operands", data, at.count, block=tile))
        made = sim.run("results", data, at.count, results, tile)
        d = np.frombuffer(made, f"u{spec.d_format.storage_bits // 8}").reshape(at.count, spec.m, spec.n)
        mine = at.tile == tile
        found.append((tile, d[tile, at.row[mine], at.column[mine]]))
    return found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("index == first ? from : index == second", "index == second ? from : index == first"),
        ("METADATA >> tile % METADATA_COUNT * 4 & 15", "METADATA >> 4 & 15"),
    ],
)
def test_wrong_metadata_rejects(old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elements of B at the places of other metadata than the instruction is given are other products."""
    if shutil.which("g++") is None:
        pytest.skip("no C++ compiler (g++) builds the simulation here")
    folder = tmp_path / "cuda"
    shutil.copytree(sources("cuda"), folder)
    for path in (folder / "fragments.h", folder / "probe.cuh"):
        path.write_text(path.read_text().replace(old, new, 1))
    # What the kernel puts into B is of one metadata, what the instruction takes of another.
    text = (folder / "mma.cu").read_text()
    assert text.count("= metadata_of(tile);") == 1
    (folder / "mma.cu").write_text(
        text.replace("= metadata_of(tile);", "= (METADATA >> tile % METADATA_COUNT * 4 & 15) * 0x11111111u;")
    )
    monkeypatch.setitem(globals(), "sources", lambda _: folder)
    spec = unit("ampere/mma.sp.m16n8k16.f32.f16.f16.f32").spec
    x, at, data = operands(spec, 7, 3)
    model = replay(spec, x)
    assert any((d != model[at.tile == tile]).any() for tile, d in through(spec, tmp_path, at, data, range(3)))


@pytest.mark.parametrize(
    ("old", "new"),
    [("lane / 4 + 8 * (n / 2)", "lane / 4 + 8 * (n % 2)"), ("i + 4 * per_register * reg", "i + 4 * reg")],
)
def test_a_wrong_layout_rejects(old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One index wrong in the probe's own layouts gives another product."""
    if shutil.which("g++") is None:
        pytest.skip("no C++ compiler (g++) builds the simulation here")
    folder = tmp_path / "cuda"
    shutil.copytree(sources("cuda"), folder)
    text = (folder / "fragments.h").read_text()
    assert old in text
    (folder / "fragments.h").write_text(text.replace(old, new))
    monkeypatch.setitem(globals(), "sources", lambda _: folder)
    spec = unit("ampere/mma.m16n8k16.f32.f16.f16.f32").spec
    sim = Simulation(spec, tmp_path)
    x, at, data = operands(spec, 7)
    results = mma(spec, sim.run("operands", data, at.count))
    d = np.frombuffer(sim.run("results", data, at.count, results), np.uint32).reshape(1, 16, 8)
    assert (d[at.tile, at.row, at.column] != replay(spec, x)).any()
