"""`cuda:N`: the matrix instructions of an NVIDIA GPU, each built, disassembled and launched."""

from __future__ import annotations

import itertools
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tcformal.design.unit import UnitSpec, base_instruction
from tcformal.design.vendors.nvidia import ARCHS
from tcformal.devices.device import Ability, gpu_number, sources
from tcformal.devices.tiles import TURN, GpuDevice, build_failure, units_of, words_between
from tcformal.encodings.spec import Format
from tcformal.errors import DeviceError
from tcformal.semantics.chain import scale_count
from tcformal.simulation import card as cards
from tcformal.simulation.card import Card
from tcformal.simulation.compilers import CUDA, Compiler, built, compiler, first_line, run_tool, tool
from tcformal.simulation.operands.batch import Batch, Raw, rows_of

#: PTX spelling of each format; tf32, fp32 and fp64 are named for what PTX calls them.
_PTX = {
    "fp16": "f16", "fp32": "f32", "fp64": "f64", "bf16": "bf16", "tf32": "tf32", "e8m0": "ue8m0",
    **{f"int{bits}": f"s{bits}" for bits in (4, 8, 32)}, **{f"uint{bits}": f"u{bits}" for bits in (4, 8, 32)},
}  # fmt: skip
#: Types of A that a mnemonic names.
_SEEN = {"tf32": r".*\.TF32", "bf16": r".*\.BF16"}
#: Targets of architectures whose matrix instructions need the architecture-specific instruction set.
_SPECIFIC = {"hopper": "sm_90a", "blackwell": "sm_100a", "rtx-blackwell": "sm_120a"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """The parameters of a unit's kernel: instruction text, registers, target and expected mnemonic."""

    #: The parametric source, and the compiler's target.
    source: str
    target: str
    #: The contents of `instruction.h`.
    header: str
    #: The PTX instruction.
    ptx: str
    #: The pattern of the machine instruction's mnemonic, and its allowed number of occurrences.
    mnemonic: str
    counts: tuple[int, ...] = (1,)
    #: Threads of one block, and tiles that one block computes.
    threads: int = 128
    tiles_per_block: int = 4


def kernel(spec: UnitSpec) -> Kernel:
    """The kernel of an NVIDIA unit; DeviceError for a unit of another kind."""
    arch, _, text = base_instruction(spec).partition("/")
    instruction = text.removeprefix("emulated.")
    if arch not in ARCHS or not text:
        raise DeviceError(f"expected a unit of an NVIDIA GPU, but got {spec.shown}")
    target = _SPECIFIC.get(arch, f"sm_{ARCHS[arch].sm}")
    makers = {"mma": _mma, "wgmma": _wgmma, "tcgen05": _tcgen05, "dp4a": _dp4a}
    return makers[instruction.partition(".")[0]](spec, instruction, target)


def ptx_type(fmt: Format) -> str:
    """The PTX type name of a format."""
    return _PTX.get(fmt.name, fmt.name)


def _defines(**values: object) -> str:
    return "".join(f"#define {name} {value}\n" for name, value in values.items())


def _common(spec: UnitSpec) -> dict[str, object]:
    o = spec.operands
    return {
        "M": spec.m, "N": spec.n, "K": spec.k,
        "AB_A": f"uint{o.a.storage_bits}_t", "AB_B": f"uint{o.b.storage_bits}_t",
        "C_T": f"uint{o.c.storage_bits}_t", "D_T": f"uint{o.d.storage_bits}_t",
        "SCALES": max(1, scale_count(spec, spec.k)),
    } | (_selection(spec) if spec.sparse else {})  # fmt: skip


def _selection(spec: UnitSpec) -> dict[str, object]:
    """What a sparse kernel needs beside: the metadata that is allowed, and words where it selects none."""
    a, b = spec.operands.a, spec.operands.b
    allowed = "e4" if a.width == 32 else "edc984"
    return {
        "SPARSE": "", "METADATA": f"0x{allowed}u", "METADATA_COUNT": len(allowed),
        "SELECTED_BITS": a.width if a.integer else a.storage_bits,
        "UNSELECTED": f"{{{', '.join(map(hex, words_between(b)))}}}",
    }  # fmt: skip


def _lists(*counts: int) -> list[str]:
    """Operand lists `{%0, %1, …}` of these lengths, numbered one after the other."""
    ends = list(itertools.accumulate(counts, initial=0))
    return ["{" + ", ".join(f"%{i}" for i in range(*span)) + "}" for span in itertools.pairwise(ends)]


def _operands(constraint: str, name: str, count: int) -> str:
    return ", ".join(f'"{constraint}"({name}[{i}])' for i in range(count))


def _mma(spec: UnitSpec, instruction: str, target: str) -> Kernel:
    o, double, scaled = spec.operands, spec.operands.a.name == "fp64", spec.scale_format is not None
    register = 64 if double else 32
    # Kinds of narrow floats hold each element in a byte, but for the fp4 kinds of K = 64.
    packed = spec.k == 64 or o.a.integer
    bits, other = (x.width if packed else max(8, x.width) for x in (o.a, o.b))
    quadpair = spec.m == 8 and o.a.name == "fp16"
    c_per_reg = 1 if o.c.width >= 32 else 2
    held = 32 * register // bits
    rows = spec.k * (1 + spec.sparse)
    regs = (spec.m * spec.k // held, spec.n * rows // held, spec.m * spec.n // (32 * c_per_reg))
    if quadpair:
        regs = (2, 2, 8 // c_per_reg)
    ptx, (a, b, c) = _mma_text(spec, instruction), regs
    values = _common(spec) | {
        "REG_A": f"uint{register}_t", "REG_C": f"uint{register}_t",
        "A_REGS": a, "B_REGS": b, "C_REGS": c, "C_PER_REG": c_per_reg,
        "A_BITS": bits, "B_BITS": other,
        # fp4 stands in the middle of its byte.
        "A_SHIFT": 2 if o.a.width == 4 and not packed else 0,
        "B_SHIFT": 2 if o.b.width == 4 and not packed else 0,
    }  # fmt: skip
    # C stands in D's registers.
    places = [*(lists := _lists(c, a, b)), lists[0]]
    inputs = f"{_operands('r', 'ra', a)}, {_operands('r', 'rb', b)}"
    outputs = _operands("+r", "rc", c)
    mixed = o.c.width != o.d.width
    if mixed:
        # D and C of m8n8k4 have different formats, and registers of their own.
        values["D_PER_REG"] = d_per_reg = 1 if o.d.width >= 32 else 2
        values["D_REGS"] = d = 8 // d_per_reg
        places, outputs = _lists(d, a, b, c), _operands("=r", "rd", d)
        inputs += f", {_operands('r', 'rc', c)}"
    if scaled:
        first = a + b + c
        places += [f"{{%{first}}}", "{0, 0}", f"{{%{first + 1}}}", "{0, 0}"]
        inputs += ', "r"(sa), "r"(sb)'
    if spec.sparse:
        places += [f"%{a + b + c}", "0"]
        inputs += ', "r"(metadata)'
    text = f"{ptx} {', '.join(places)};"
    statement = f'PTX("{text}" : {outputs} : {inputs})'
    if double:
        # The bits of doubles are held in integer registers.
        fill = "".join(f" rd[{i}] = __longlong_as_double(rc[{i}]);" for i in range(c))
        back = "".join(f" rc[{i}] = __double_as_longlong(rd[{i}]);" for i in range(c))
        cast = ", ".join(
            f'"d"(__longlong_as_double({name}[{i}]))' for name, n in (("ra", a), ("rb", b)) for i in range(n)
        )
        asm = f'PTX("{text}" : {_operands("+d", "rd", c)} : {cast});'
        statement = f"do {{ double rd[C_REGS];{fill} {asm}{back} }} while (0)"
    flags = (("QUADPAIR", quadpair), ("MIXED", mixed), ("SCALED", scaled))
    header = _defines(**values, INSTRUCTION=statement)
    header += "".join(f"#define {n}\n" for n, is_so in flags if is_so)
    mnemonic, counts = _integer_mnemonic(spec, target) if o.a.integer else (_mma_mnemonic(spec), (1,))
    return Kernel(
        source="mma.cu", target=target, header=header, ptx=ptx, mnemonic=mnemonic,
        counts=(1, 2, 4) if quadpair else counts, tiles_per_block=16 if quadpair else 4,
    )  # fmt: skip


def _mma_text(spec: UnitSpec, instruction: str) -> str:
    """The PTX instruction with all its qualifiers."""
    parts = instruction.split(".")
    shape = next(p for p in parts if p.startswith(("m16", "m8")))
    kind = next((p for p in parts if p.startswith("kind::")), "")
    o = spec.operands
    types = [ptx_type(fmt) for fmt in (o.d, o.a, o.b, o.c)]
    words = [instruction.partition(f".{shape}")[0], "sync.aligned", shape, "row.col"]
    words += [word for word in (kind, "satfinite" if "satfinite" in parts else "") if word]
    if spec.scale_format is not None:
        words += ["block_scale", f"scale_vec::{scale_count(spec, spec.k)}X"]
        types.append(ptx_type(spec.scale_format))
    return ".".join([*words, *types])


def _mma_mnemonic(spec: UnitSpec) -> str:
    """The mnemonic of the machine instruction: family and shape."""
    a = spec.operands.a
    shape = f"{spec.m if spec.m == 16 else 8}{spec.n}{spec.k}"
    if spec.sparse:
        return (
            rf"{'Q' if a.width <= 8 else 'H'}MMA\.SP\.{spec.m}{spec.n}{2 * spec.k}\b{_SEEN.get(a.name, '')}"
        )
    if a.name == "fp64":
        return rf"DMMA\.({shape}|{spec.m}x{spec.n}x{spec.k})\b"
    if spec.k == 64:
        return rf"OMMA\.SF\.{shape}\b"
    if a.width <= 8:
        return rf"QMMA\.(SF\.)?{shape}\b"
    return rf"HMMA\.{shape}\b{_SEEN.get(a.name, '')}"


def _integer_mnemonic(spec: UnitSpec, target: str) -> tuple[str, tuple[int, ...]]:
    """The mnemonic of `mma` on integers, and how often it occurs.

    Two of half as many bytes, and a saturating addition of c, compute what sm_90 lacks: products of 4 bits.
    One of sixteen rows computes the eight of m8n8k16 on sm_100 and sm_120.
    """
    o, m = spec.operands, 16 if target in ("sm_100a", "sm_120a") else spec.m
    family, k = (r"IMMA\.SP", 2 * spec.k) if spec.sparse else ("IMMA", spec.k)
    if o.a.width == 4 and target == "sm_90a":
        return rf"{family}\.{m}{spec.n}{k // 2}\.{_signs(spec).replace('4', '8')}", (2,)
    return rf"{family}\.{m}{spec.n}{k}\.{_signs(spec)}{_saturates(spec)}", (1,)


def _dp4a(spec: UnitSpec, instruction: str, target: str) -> Kernel:
    text = f'PTX("{instruction} %0, %1, %2, %0;" : "+r"(rc) : "r"(ra), "r"(rb))'
    types = r"\.".join(ptx_type(x).upper() for x in (spec.operands.a, spec.operands.b))
    return Kernel(
        source="dp4a.cu", target=target, header=_defines(**_common(spec), INSTRUCTION=text), ptx=instruction,
        mnemonic=rf"IDP\.4A\.{types}\b", tiles_per_block=128,
    )  # fmt: skip


def _signs(spec: UnitSpec) -> str:
    """The pattern of the types of integers in a mnemonic."""
    a, b = (ptx_type(x).upper() for x in (spec.operands.a, spec.operands.b))
    return rf"{a}\.{b}\b"


def _saturates(spec: UnitSpec) -> str:
    """The pattern of a mnemonic that does, or does not, name saturation."""
    return r".*\.SAT\b" if spec.design.conversion.startswith("SAT") else r"(?!.*\.SAT\b)"


def _wgmma(spec: UnitSpec, instruction: str, target: str) -> Kernel:
    o = spec.operands
    c_per_reg = 1 if o.c.width == 32 else 2
    regs, sparse = spec.n // (2 * c_per_reg), spec.sparse
    types = ".".join(ptx_type(fmt) for fmt in (o.d, o.a, o.b))
    end = ".satfinite" if "satfinite" in instruction else ""
    k = spec.k * (1 + sparse)
    ptx = f"wgmma.mma_async{'.sp' * sparse}.sync.aligned.m64n{spec.n}k{k}{end}.{types}"
    # Signs of A and B, for floats, and for 16-bit formats that neither is transposed.
    tail = "p" if o.a.integer else "p, 1, 1, 0, 0" if o.a.width == 16 else "p, 1, 1"
    tail, more = (f"%{regs + 2}, 0, {tail}", ', "r"(metadata)') if sparse else (tail, "")
    text = f"{{ .reg .pred p; setp.ne.b32 p, 1, 0; {ptx} {_lists(regs)[0]}, %{regs}, %{regs + 1}, {tail}; }}"
    outputs = _operands("+r", "rc", regs)
    values = _common(spec) | {
        "C_REGS": regs, "C_PER_REG": c_per_reg,
        "INSTRUCTION": f'PTX("{text}" : {outputs} : "l"(da), "l"(db){more})',
        # The registers are written until the group has been waited for: the compiler is told so.
        "WAITED": f'PTX("" : {outputs})',
    }  # fmt: skip
    family = ("IGMMA" if o.a.integer else "QGMMA" if o.a.width == 8 else "HGMMA") + r"\.SP" * sparse
    types = rf"\.{_signs(spec)}{_saturates(spec)}" if o.a.integer else rf"\b{_SEEN.get(o.a.name, '')}"
    return Kernel(
        source="wgmma.cu", target=target, header=_defines(**values), ptx=ptx,
        mnemonic=rf"{family}\.64x{spec.n}x{k}{types}", tiles_per_block=1,
    )  # fmt: skip


#: Codes of A's and B's formats in tcgen05's instruction descriptor, by kind of instruction.
_F16 = {"fp16": 0, "bf16": 1, "tf32": 2}
_F8F6F4 = {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}
_MXF4 = {"e2m1": 1}
_FAMILIES = {"f16": "UTCHMMA", "tf32": "UTCHMMA", "i8": "UTCIMMA"}
_CODES = {"f16": _F16, "tf32": _F16, "i8": {"uint8": 0, "int8": 1}}


def _tcgen05(spec: UnitSpec, instruction: str, target: str) -> Kernel:
    kind = next(p.removeprefix("kind::") for p in instruction.split(".") if p.startswith("kind::"))
    o, packed = spec.operands, kind in ("mxf4", "mxf4nvf4")
    sparse = spec.sparse
    ptx = f"tcgen05.mma{'.sp' * sparse}.cta_group::1.kind::{kind}"
    codes = _MXF4 if packed else _CODES.get(kind, _F8F6F4)
    descriptor = (
        sparse << 2 | codes[o.a.name] << 7 | codes[o.b.name] << 10 | (spec.n >> 3) << 17 | (spec.m >> 4) << 24
    )
    addresses = "[%0], %1, %2, [%4], %3" if sparse else "[%0], %1, %2, %3"
    inputs = '"r"(tensor_d), "l"(da), "l"(db), "r"(DESCRIPTOR)'
    if spec.scale_format is not None:
        ptx += f".block_scale.scale_vec::{scale_count(spec, spec.k)}X"
        addresses += ", [%4], [%5]"
        inputs += ', "r"(scales_a), "r"(scales_b)'
        descriptor |= (spec.scale_format.name == "e8m0") << 23
    elif o.a.integer:
        descriptor |= 2 << 4 | ("satfinite" in instruction) << 3
    else:
        descriptor |= (o.d.name == "fp32") << 4
    if sparse:
        inputs += ', "r"(scales_a)'
    # The input D is always taken: it is c.
    text = f"{{ .reg .pred p; setp.ne.b32 p, 1, 0; {ptx} {addresses}, p; }}"
    values = _common(spec) | {
        "A_BITS": o.a.width, "B_BITS": o.b.width, "PER_CHUNK": spec.k // 2, "DESCRIPTOR": f"{descriptor:#x}u",
        "INSTRUCTION": f'PTX("{text}" : : {inputs} : "memory")',
    }  # fmt: skip
    header = _defines(**values) + ("#define SCALED\n" if spec.scale_format is not None else "")
    family = "UTCOMMA" if packed else _FAMILIES.get(kind, "UTCQMMA")
    return Kernel(
        source="tcgen05.cu", target=target, header=header, ptx=ptx, mnemonic=rf"{family}\b", tiles_per_block=1
    )


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
    """A built kernel: its file, its instruction, and the compiler's identity."""

    kernel: Kernel
    path: Path
    #: The machine instruction that was found in it.
    instruction: str
    compiler: str


def disassembler() -> tuple[str, ...]:
    """The command of a disassembler, nvdisasm or cuobjdump; DeviceError where neither is installed.

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


def _build(spec: UnitSpec) -> None:
    tiles(cubin(spec).kernel.target)


build = partial(build_failure, _build)


def tiles(target: str, by: Compiler | None = None) -> Path:
    """The cubin of the helper kernels that place dot products on tiles and collect results."""
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
    """The mnemonics of a cubin with their counts, cached beside the cubin."""

    def make(kept: Path) -> None:
        text = run_tool([*disassembler(), str(path)], "disassemble a kernel")
        counts = Counter(match[1].rstrip(".") for match in _INSTRUCTION.finditer(text))
        kept.write_text(json.dumps(counts))

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


#: Architecture of the catalogue by compute capability.  Kernels for sm_80 run on 8.6 and 8.7 too; those of
#: architecture-specific targets on no other.
_ARCH = {
    (7, 0): "volta", (7, 5): "turing", (8, 0): "ampere", (8, 6): "ampere", (8, 7): "ampere", (8, 9): "ada",
    (9, 0): "hopper", (10, 0): "blackwell", (12, 0): "rtx-blackwell",
}  # fmt: skip
#: Dot products of one launch at most, and threads of a block that moves them.
_MOST, _THREADS = 1 << 17, 256
#: Blocks of a launch whose kernel goes on from tile to tile.
_MOST_BLOCKS = 1 << 16


@dataclass(frozen=True, slots=True)
class ListedGpu:
    """A GPU in the list of devices: it is named, but not opened."""

    name: str
    description: str
    arch: str | None

    def abilities(self) -> Sequence[Ability]:
        if self.arch is None:
            return [Ability("no unit of the catalogue", missing="no architecture of the catalogue")]
        families = dict.fromkeys(
            re.split(r"\.(?:m\d|[su]32)", name.partition("/")[2])[0] for name in units_of(self.arch)
        )
        return [Ability(f"{self.arch}/{family}.…", family) for family in families]


def gpus() -> Iterator[ListedGpu]:
    """The GPUs of this machine; DeviceError where there are none, or where packages for them are missing."""
    for index in range(cards.count()):
        gpu = cards.card(index)
        major, minor = gpu.capability
        yield ListedGpu(f"cuda:{index}", f"{gpu.name} (sm_{major}{minor})", _ARCH.get(gpu.capability))


class CudaDevice(GpuDevice):
    """An NVIDIA GPU; `card` replaces the library in tests.

    Errors: InputError for a text that is no number; DeviceError for a GPU that does not exist.
    """

    def __init__(self, text: str, card: Card | None = None) -> None:
        index = gpu_number("cuda", text)
        self.name = f"cuda:{index}"
        self._card = cards.card(index) if card is None else card
        self._arch = _ARCH.get(self._card.capability)
        self._what = self._card.name, "sm_{}{}".format(*self._card.capability)
        self._cubins: dict[str, Cubin] = {}
        #: The batch that is on the GPU, and where: units that share operands are run one after the other.
        self._held: tuple[Batch, list[Any]] | None = None

    def abilities(self) -> Sequence[Ability]:
        return ListedGpu(self.name, self._card.name, self._arch).abilities()

    def builder(self) -> Callable[[str], str]:
        return build

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """The identity of GPU, driver, compiler and machine instruction; builds the kernel."""
        self.check(spec, k)
        made = self._cubin(spec)
        return {
            "device": self._card.name,
            "driver": self._call("the driver's version", self._card.driver),
            "library": self._card.library,
            "compiler": made.compiler,
            "ptx": made.kernel.ptx,
            "instruction": made.instruction,
        }

    def _cubin(self, spec: UnitSpec) -> Cubin:
        name = base_instruction(spec)
        if name not in self._cubins:
            self._cubins[name] = cubin(spec)
        return self._cubins[name]

    def twice(self, spec: UnitSpec, batch: Batch) -> tuple[Raw, Raw]:
        """The results of each dot product at two positions in a tile."""
        results = []
        for start in range(0, len(batch.c), _MOST):
            part = batch if len(batch.c) <= _MOST else rows_of(batch, slice(start, start + _MOST))
            results.append(self._call("to run a kernel", partial(self._launched, spec, part)))
        first, second = (np.concatenate(turn) for turn in zip(*results, strict=True))
        return first, second

    def _call(self, what: str, call: Callable[[], Any]) -> Any:
        """Call the library, and turn its errors into a DeviceError of one sentence."""
        try:
            return call()
        except DeviceError:
            raise
        except Exception as error:  # each library has errors of its own
            self._held = None
            text = f"expected {self._card.name} {what}, but {self._card.library} says: {first_line(error)}"
            raise DeviceError(text) from error

    def _launched(self, spec: UnitSpec, batch: Batch) -> tuple[Raw, Raw]:
        """Run a batch: place operands on tiles, execute the instruction, collect results at both
        positions."""
        made, n = self._cubin(spec), len(batch.c)
        move = tiles(made.kernel.target)
        count = -(-n // min(spec.m, spec.n))
        held = self._uploaded(spec, batch)
        sizes = [0 if array is None else array.nbytes // n for array in _words(spec, batch)]
        rows = (spec.m, spec.n, spec.m * spec.n, spec.m, spec.n)
        spread = [self._card.empty(max(1, count * m * size)) for m, size in zip(rows, sizes, strict=True)]
        width = spec.operands.d.storage_bits // 8
        d, out = self._card.empty(count * spec.m * spec.n * width), self._card.empty(n * width)
        found: list[Raw] = []

        def moved(turn: int, name: str, height: int, source: Any, to: Any, *rest: int) -> None:
            common = (*map(np.uint64, (count, n, turn)), *map(np.int32, (spec.m, spec.n, *rest)))
            self._card.launch(move, name, -(-count * height // _THREADS), _THREADS, (source, to, *common))

        # Kernels of one tile to a block go on by the size of the grid; the others do one round.
        blocks = -(-count // made.kernel.tiles_per_block)
        grid = min(blocks, _MOST_BLOCKS) if made.kernel.tiles_per_block == 1 else blocks
        for turn in (0, TURN):
            for i, (height, size) in enumerate(zip(rows, sizes, strict=True)):
                if i == 2:
                    moved(turn, "spread_c", height, held[i], spread[i], size)
                elif size:
                    moved(turn, "spread_rows", height, held[i], spread[i], i % 3, size)
            arguments = (*spread[:3], d, *spread[3:], np.uint64(count))
            self._card.launch(made.path, "probe", grid, made.kernel.threads, arguments)
            moved(turn, "gather_d", rows[2], d, out, width)
            found.append(self._card.get(out, n * width).view(f"u{width}").astype(np.uint64))
        for memory in (*spread, d, out):
            self._card.free(memory)
        return found[0], found[1]

    def _uploaded(self, spec: UnitSpec, batch: Batch) -> list[Any]:
        """Copy a batch's operands to the GPU; those of the last batch are cached for the next unit."""
        if self._held is None or self._held[0] is not batch:
            if self._held is not None:
                for memory in self._held[1]:
                    self._card.free(memory)
            none = np.zeros(1, np.uint8)
            there = [self._card.put(none if x is None else x) for x in _words(spec, batch)]
            self._held = (batch, there)
        return self._held[1]


def _words(spec: UnitSpec, batch: Batch) -> list[Raw | None]:
    """The operands of a batch, packed into the words that a kernel reads."""
    o, scale = spec.operands, spec.scale_format
    formats = (o.a, o.b, o.c, scale, scale)
    arrays = (batch.a, batch.b, batch.c, batch.scale_a, batch.scale_b)
    return [
        None if array is None or fmt is None else array.astype(f"u{fmt.storage_bits // 8}", copy=False)
        for array, fmt in zip(arrays, formats, strict=True)
    ]
