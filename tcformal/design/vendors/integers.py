"""Integer units: tables of the vendors' instructions, each an exact sum that wraps or saturates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

from tcformal.design.spec import Design, Operands
from tcformal.design.unit import Evidence, Fact, UnitSpec
from tcformal.design.vendors.facts import as_reference, documented, facts, measured
from tcformal.design.vendors.nvidia import UnitMaker
from tcformal.encodings.catalog import format_named

_SUPPOSED = Fact(
    "the manual says that the result saturates; one sum before it is supposed", Evidence.INFERRED
)
_NO_C = "The instruction has no c: it is this sum where c = 0."
_NOTE = (
    "Within one instruction the sum is supposed to saturate once, at its end, as the compiler composes "
    "products of 4 bits for sm_90 (ptxas 13.0): open until probed."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Integers:
    """One row: an instruction's shape, its formats, whether it saturates, and the manual that says so."""

    shape: tuple[int, int, int]
    a: str
    b: str
    #: Format of c and of the result.
    d: str = "int32"
    saturates: bool = False
    source: str
    #: Whether the manual gives the sum that saturates as a formula.
    stated: bool = True
    #: Whether the instruction adds a c.
    adds_c: bool = True
    #: The file of this project's own results, where a processor was asked.
    measured: str = ""
    #: The folder of what a published implementation gave, the sums that saturate among it.
    reference: str = ""
    #: What is to be known beside the sum.
    note: str = ""


def integer_names() -> Iterator[tuple[str, UnitMaker]]:
    """The builders of all integer units, by name."""
    for rows in (_nvidia(), _amd(), _x86(), _arm(), _riscv()):
        for name, row in rows:
            yield name, partial(_unit, row)


def _unit(row: Integers, name: str) -> UnitSpec:
    (m, n, k), d = row.shape, format_named(row.d)
    design = Design(
        products=k, conversion=f"{'SAT' if row.saturates else 'WRAP'}-{row.d.upper()}", nan_word=0
    )
    if row.measured:
        said = measured(row.source, row.measured)
    else:
        said = as_reference(row.source, row.reference) if row.reference else documented(row.source)
    open_end = row.saturates and not (row.stated or row.reference)
    return UnitSpec(
        name=name, m=m, n=n, k=k,
        operands=Operands(a=format_named(row.a), b=format_named(row.b), c=d, d=d), design=design,
        facts=facts(said, {"products": _SUPPOSED} if open_end else {}),
        notes=tuple(filter(None, (_NOTE if open_end else "", "" if row.adds_c else _NO_C, row.note))),
    )  # fmt: skip


#: Shapes of `mma` on 8 and on 4 bits: Turing's, and those since Ampere.
_MMA = {8: ((8, 8, 16), (16, 8, 16), (16, 8, 32)), 4: ((8, 8, 32), (16, 8, 32), (16, 8, 64))}
#: Architectures of `mma` on 8 bits; the first four have it on 4 bits as well.
_SINCE_TURING = ("turing", "ampere", "ada", "hopper", "blackwell", "rtx-blackwell")
#: Widths of N of `wgmma` and, by M, of `tcgen05`.
_WGMMA_N = (8, 16, 24, *range(32, 257, 16))
_TCGEN05_N = {64: _WGMMA_N, 128: (*range(16, 257, 16),)}
_ENDS = ("", ".satfinite")


def _nvidia() -> Iterator[tuple[str, Integers]]:
    """`mma`, `wgmma`, `tcgen05` and `dp4a` on integers, with PTX's names of types."""
    for arch in _SINCE_TURING:
        for bits, shapes in _MMA.items():
            if bits == 4 and arch not in _SINCE_TURING[:4]:
                continue
            for shape, end in product(shapes[:1] if arch == "turing" else reversed(shapes), _ENDS):
                size = "m{}n{}k{}".format(*shape)
                for a, b in product((f"s{bits}", f"u{bits}"), repeat=2):
                    name = f"{arch}/mma.{size}{end}.s32.{a}.{b}.s32"
                    yield name, _ptx("mma", shape, a, b, end)
        signs = list(product(("s8", "u8"), repeat=2))
        if arch == "hopper":
            for n, end, (a, b) in product(_WGMMA_N, _ENDS, signs):
                yield f"hopper/wgmma.m64n{n}k32{end}.s32.{a}.{b}", _ptx("wgmma", (64, n, 32), a, b, end)
        if arch == "blackwell":
            for m, widths in _TCGEN05_N.items():
                for n, end, (a, b) in product(widths, _ENDS, signs):
                    name = f"blackwell/tcgen05.m{m}n{n}k32.kind::i8{end}.s32.{a}.{b}"
                    yield name, _ptx("tcgen05.mma", (m, n, 32), a, b, end)
    for arch in _SINCE_TURING:
        for a, b in product(("s32", "u32"), repeat=2):
            x, y = ("int8" if t == "s32" else "uint8" for t in (a, b))
            d = "uint32" if (a, b) == ("u32", "u32") else "int32"
            yield f"{arch}/dp4a.{a}.{b}", Integers(shape=(1, 1, 4), a=x, b=y, d=d, source="PTX ISA, dp4a")


def _ptx(instruction: str, shape: tuple[int, int, int], a: str, b: str, end: str) -> Integers:
    return Integers(
        shape=shape, a=a, b=b, saturates=bool(end), source=f"PTX ISA, {instruction}", stated=False
    )


#: Instructions after `v_mfma_i32_`, with their shapes.
_BLOCKS = {"32x32x4": "_2b", "16x16x4": "_4b", "4x4x4": "_16b"}
_MFMA = {
    "cdna1": [f"{x}i8" for x in ("16x16x16", "32x32x8", *_BLOCKS)],
    "cdna2": [f"{x}i8" for x in ("16x16x16", "32x32x8", *_BLOCKS)],
    "cdna3": ["16x16x32_i8", "32x32x16_i8", *(f"{x}{blocks}_i8" for x, blocks in _BLOCKS.items())],
}
_EMULATOR = "ROCm emulator, mma_exec.h"
#: Folders of what it gave.
_ROCJITSU = {
    **dict.fromkeys(_MFMA, "rocjitsu-gfx9-f319585b-integers"),
    "rdna3": "rocjitsu-gfx11-f319585b-integers", "rdna4": "rocjitsu-gfx12-f319585b-integers",
}  # fmt: skip


def _amd() -> Iterator[tuple[str, Integers]]:
    """MFMA on int8; WMMA on 8 and 4 bits, whose operands are signed where NEG says so."""
    for arch, names in _MFMA.items():
        for name in names:
            m, n, k = map(int, name.partition("_")[0].removesuffix("i8").split("x"))
            yield (
                f"{arch}/v_mfma_i32_{name}",
                Integers(
                    shape=(m, n, k), a="int8", b="int8", reference=_ROCJITSU[arch],
                    source=f"AMD ISA, V_MFMA_I32 of {arch.upper()}; {_EMULATOR}",
                ),
            )  # fmt: skip
    for arch, wide in (("rdna3", ()), ("rdna4", ((32, 4),))):
        for (k, bits), end in product(((16, 8), (16, 4), *wide), ("", ".clamp")):
            for a, b in product((f"i{bits}", f"u{bits}"), repeat=2):
                yield (
                    f"{arch}/v_wmma_i32_16x16x{k}_iu{bits}.{a}.{b}{end}",
                    Integers(
                        shape=(16, 16, k), a=a, b=b, saturates=bool(end), stated=False,
                        source=f"AMD ISA, V_WMMA_I32 of {arch.upper()}; {_EMULATOR}",
                        reference=_ROCJITSU[arch],
                    ),
                )  # fmt: skip


#: Instructions that an AMD EPYC ran, a million dot products each.
_PROBED = ("vpdpbusd", "vpdpbusds", "vpdpwssd", "vpdpwssds")
#: What Bochs gives for others, a million each, and where it does not follow the manual.
_BOCHS = "Bochs-783b58fd-vnni"
_BYTES_UNSIGNED = "Bochs 783b58fd takes its signed bytes for unsigned ones, unlike the manual."
_SUMMED_SHORT = (
    "Bochs 783b58fd adds its two products modulo 2^32 before the sum saturates, unlike the manual: about "
    "one random result in a hundred differs."
)
#: Signs of `b`ytes and `w`ords in x86's names.
_SIGNS = {"s": "int", "u": "uint"}


def _x86() -> Iterator[tuple[str, Integers]]:
    """AMX-INT8; VNNI on bytes and on words, with saturation or without; the pairs of AVX2."""
    for first, second in product("su", repeat=2):
        a, b = (f"{_SIGNS[x]}8" for x in (first, second))
        unsigned, name = first + second == "uu", f"tdpb{first}{second}d"
        yield f"x86/{name}", Integers(
            shape=(16, 16, 64), a=a, b=b, d="uint32" if unsigned else "int32",
            source=f"Intel SDM volume 2, {name.upper()}",
            reference=_BOCHS if unsigned else "", note="" if unsigned else _BYTES_UNSIGNED,
        )  # fmt: skip
    for size, k, signs in (("b", 4, ("us", "ss", "su", "uu")), ("w", 2, ("ss", "su", "us", "uu"))):
        for both, end in product(signs, ("", "s")):
            a, b = (f"{_SIGNS[x]}{32 // k}" for x in both)
            name = f"vpdp{size}{both}d{end}"
            results = f"results/hardware/AMD-EPYC/x86/{name}.jsonl.xz (AMD EPYC)"
            short, probed = name in ("vpdpwsuds", "vpdpwusds"), name in _PROBED
            yield f"x86/{name}", Integers(
                shape=(1, 1, k), a=a, b=b, d="uint32" if both == "uu" else "int32", saturates=bool(end),
                source=f"Intel SDM volume 2, {name.upper()}", measured=results if probed else "",
                reference="" if short or probed else _BOCHS, note=_SUMMED_SHORT if short else "",
            )  # fmt: skip
    for name, a, b, d, saturates in (
        ("vpmaddubsw", "uint8", "int8", "int16", True), ("vpmaddwd", "int16", "int16", "int32", False),
    ):  # fmt: skip
        source = f"Intel SDM volume 2, {name.removeprefix('v').upper()}"
        yield (
            f"x86/{name}",
            Integers(shape=(1, 1, 2), a=a, b=b, d=d, saturates=saturates, source=source, adds_c=False),
        )


def _arm() -> Iterator[tuple[str, Integers]]:
    """Dot products, and 2 by 2 matrices, of bytes; outer products of SME."""
    kinds = (("dot", (1, 1, 4), ("s", "u", "us")), ("mmla", (2, 2, 8), ("s", "u", "us")))
    for kind, shape, signs in (*kinds, ("mopa", (16, 16, 4), ("s", "u", "us", "su"))):
        for both in signs:
            a, b = (f"{_SIGNS[x]}8" for x in (both[0], both[-1]))
            yield f"arm/{both}{kind}", Integers(
                shape=shape, a=a, b=b, d="uint32" if both == "u" else "int32",
                source=f"Arm ARM, {both.upper()}{kind.upper()}",
                reference="QEMU-7.2-sme-integers" if kind == "mopa" else "",
            )  # fmt: skip


def _riscv() -> Iterator[tuple[str, Integers]]:
    """Zvqdotq: four products of bytes and a 32-bit c."""
    for end, a, b in (("", "int8", "int8"), ("u", "uint8", "uint8"), ("su", "int8", "uint8")):
        yield f"riscv/vqdot{end}.vv", Integers(
            shape=(1, 1, 4), a=a, b=b, d="uint32" if end == "u" else "int32",
            source="Spike, riscv/insns/vqdot_common.h", reference="Spike-55b4658d-integers",
        )  # fmt: skip
