"""Processors as names: `h100`, `a100:fp16`, `b200:mxf4`, `spr:amx-bf16`; and architectures, `hopper:bf16`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from tcformal.checks import check_choice, shown
from tcformal.design.catalog import catalogue
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import ALIASES as FORMAT_ALIASES
from tcformal.errors import UnknownNameError

#: GPUs and accelerators of each architecture of the catalogue; of instruction sets and open designs, what
#: they are called.
PROCESSORS: dict[str, tuple[str, ...]] = {
    "volta": ("V100",), "turing": ("T4", "RTX 20"), "ampere": ("A100", "A30"),
    "ada": ("L4", "L40S", "RTX 40"), "hopper": ("H100", "H200"), "blackwell": ("B200", "GB200"),
    "rtx-blackwell": ("RTX 50", "RTX PRO 6000"), "cdna1": ("MI100",), "cdna2": ("MI210", "MI250X"),
    "cdna3": ("MI300X", "MI300A", "MI325X"), "rdna3": ("RX 7900",), "rdna4": ("RX 9070",),
    "gaudi": ("Gaudi",), "gaudi2": ("Gaudi 2",), "gaudi3": ("Gaudi 3",), "arm": ("Arm",), "x86": ("x86",),
    "power10": ("Power10",), "riscv": ("RISC-V",), "et-soc-1": ("ET-SoC-1",), "vortex": ("Vortex",),
    "hexagon": ("Hexagon",), "nvdla": ("NVDLA",), "cute": ("CUTE",), "cvfpu": ("CVFPU",),
    "wormhole": ("n150", "n300"), "blackhole": ("p100", "p150"),
}  # fmt: skip

#: Other processors of these architectures, which answers do not list.
_OTHERS = {
    "volta": "V100S, Titan V, GV100, Quadro GV100",
    "turing": "T40, Titan RTX, Quadro RTX 4000, Quadro RTX 5000, Quadro RTX 6000, Quadro RTX 8000",
    "ampere": "A800, A2, A10, A10G, A16, A40, RTX 30, RTX A2000, RTX A4000, RTX A5000, RTX A6000",
    "ada": "L2, L20, L40, RTX 2000 Ada, RTX 4000 Ada, RTX 5000 Ada, RTX 6000 Ada",
    "hopper": "H20, H800, GH200", "blackwell": "B100, B300, GB300",
    "rtx-blackwell": "RTX PRO 2000, RTX PRO 4000, RTX PRO 4500, RTX PRO 5000, GB10, DGX Spark",
    "cdna2": "MI250", "cdna3": "MI308X", "rdna3": "RX 7600, RX 7700, RX 7800", "rdna4": "RX 9060",
    "gaudi": "Gaudi 1", "blackhole": "p300",
}  # fmt: skip
#: x86's instructions on integers since Sapphire Rapids.
_INTEGERS = "tdpbssd tdpbsud tdpbusd tdpbuud vpdpbusd vpdpwssd"
#: Processors of instruction sets, with the instructions of the catalogue that each has.
_CORES = (
    ("x86", f"tdpbf16ps {_INTEGERS} vdpbf16ps", "SPR, Sapphire Rapids, EMR, Emerald Rapids"),
    ("x86", f"tdpbf16ps tdpfp16ps {_INTEGERS} vdpbf16ps", "GNR, Granite Rapids"),
    ("x86", "tdp vdp vpdp", "DMR, Diamond Rapids"),
    ("x86", "vdpbf16ps vpdpbusd vpdpwssd", "CPX, Cooper Lake, Zen 4, Genoa, Bergamo, Zen 5, Turin"),
    (
        "arm",
        "bfdot bfmmla sdot udot usdot smmla ummla usmmla",
        "Grace, Graviton 3, Graviton 4, Neoverse V1, Neoverse N2, Neoverse V2",
    ),
    ("arm", "fmopa bfmopa smopa umopa usmopa sumopa", "M4, Apple M4, M5, Apple M5"),
)
#: Processors whose matrix units no public source settles, by what the page on such units calls them.
_UNSETTLED = {
    "AMD CDNA4": "CDNA4, MI350X, MI355X, gfx950",
    "Intel XMX": "XMX, PVC, Ponte Vecchio, Max 1100, Max 1550, BMG, Battlemage, Arc A770, Arc B580, dpas",
    "Google TPU": "TPU, TPU v2, TPU v3, TPU v4, TPU v5e, TPU v5p, TPU v6e, Trillium, Ironwood, MXU",
    "AWS Trainium": "Trainium, Trainium 1, Trainium 2, Trainium 3, Trn1, Trn2, Trn3, Inferentia, Inf2, "
    "NeuronCore",
    "Huawei Ascend": "Ascend, Ascend 310P, Ascend 910, Ascend 910B, Ascend 910C, Ascend 950",
    "Apple AMX": "M1, Apple M1, M2, Apple M2, M3, Apple M3",
    "Arm FP8": "FDOT, FMLAL, FMLALLBB, FMMLA, arm/fdot, arm/fmlal, arm/fmmla",
}
#: The models of a series: RTX 40 stands for RTX 4050 to RTX 4090; an RTX 2050 is no Turing.
_SERIES = {"rtx20": range(6, 9), **{f"rtx{n}0": range(5, 10) for n in (3, 4, 5)}}
#: What follows a model's name without changing its matrix unit.
_VARIANT = r"(ti|super|d|gre|xtx?|laptopgpu|pro|max|ultra|pcie|nvl|sxm\d?|oam|\d+gb|hbm\d\w?)*"
#: What comes before it.
_MAKERS = re.compile("(nvidia|amd|intel|google|aws|huawei)?(geforce|tesla|instinct|radeon)?")
#: What is left out before a number: 4090 is RTX 4090, A6000 is RTX A6000.
_SERIES_WORDS = ("", "rtx", "rx")

#: Instructions by the name of an extension, where they are not named after it.
_EXTENSIONS = {
    "amx": "td", "avx512": "vdpbf16ps", "avx10": "vdpphps", "vnni": "vpdp",
    "neon": "bfdot bfmmla sdot udot usdot smmla ummla usmmla",
    "sme": "fmopa bfmopa smopa umopa usmopa sumopa", "mfma": "v_mfma", "wmma": "v_wmma",
}  # fmt: skip
#: Other words for formats of operands, those with scales among them.
_WORDS = {
    "mxfp8": "mxe4m3", "mxf8": "mxe4m3", "mxf8f6f4": "mxe4m3", "mxfp4": "mxf4", "nvfp4": "nvf4",
    "mxf4nvf4": "nvf4",
}  # fmt: skip
#: Words for any format of these shapes, whatever its special values.
_SHAPES = {"fp8": "e4m3", "bf8": "e5m2"}
#: The formats that a name without one means, where there are such units.
_USUAL = ("fp16", "bf16")
#: The instructions of a whole group of warps, which libraries use where there are any.
_WIDE = ("wgmma", "tcgen05")


@dataclass(frozen=True, slots=True)
class Alias:
    """A name of a processor or architecture with a format, and the unit that libraries use for it."""

    name: str
    unit: str
    #: Units of other instructions and other k, for the same formats.
    also: tuple[str, ...] = ()
    #: What no source states of it; empty for another spelling.
    supposed: str = ""

    def __str__(self) -> str:
        more = f"; also {self.also[0]}{', …' * (len(self.also) > 1)}" if self.also else ""
        inferred = "; inferred, its k counts the selected elements" if self.supposed else ""
        return f"{self.name} = {self.unit}{more}{inferred}"


def on_processors(names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """The processors of each architecture, and the units that they have."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.partition("/")[0], []).append(name)
    for arch, units in found.items():
        yield ", ".join(PROCESSORS.get(arch, (arch,))), units


def _plain(text: str) -> str:
    """A name of a processor without capitals, spaces and dashes."""
    return re.sub(r"[\s_-]", "", text.lower())


@cache
def processor_names() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Every known name with its architecture and the beginnings of its instructions; none: it has all."""
    made: dict[str, tuple[str, tuple[str, ...]]] = {}
    for arch, listed in PROCESSORS.items():
        for name in (arch, *listed, *filter(None, _OTHERS.get(arch, "").split(", "))):
            word = name if name == arch else _plain(name)
            models = (f"{word}{n}0" for n in _SERIES.get(word, ()))
            made |= dict.fromkeys([word, *models], (arch, ()))
    for arch, has, names in _CORES:
        made |= dict.fromkeys(map(_plain, names.split(", ")), (arch, tuple(has.split())))
    return made


def processor(text: str) -> str | None:
    """The known name that a text stands for: `H100-SXM5-80GB` is `h100`, `RTX 4090 Ti` is `rtx4090`."""
    known, word = processor_names(), text.strip().lower()
    if word in known:
        return word
    word = _MAKERS.sub("", _plain(word), count=1)
    for series in _SERIES_WORDS:
        near = [name for name in known if re.fullmatch(re.escape(name) + _VARIANT, series + word)]
        if near:
            return max(near, key=len)
    return None


def unsettled(text: str) -> str | None:
    """Why a name stands for no unit: no public source settles that processor's; None for other names.

    Examples:
        >>> unsettled("MI355X:mxf4")
        "expected a unit that a public source settles, but got 'MI355X:mxf4': of AMD CDNA4 none does; \
tcformal identify asks a device"
    """
    base = text.partition(":")[0]
    words = {_MAKERS.sub("", _plain(x), count=1) for x in (base, base.partition("/")[0])}
    for what, names in _UNSETTLED.items():
        known = "|".join(re.escape(_plain(name)) for name in names.split(", "))
        if any(re.fullmatch(f"({known}){_VARIANT}", word) for word in words):
            return (
                f"expected a unit that a public source settles, but got {shown(text)}: of {what} none does; "
                "tcformal identify asks a device"
            )
    return None


def architecture_of(text: str, kind: str = "GPU or architecture") -> str:
    """The architecture of a processor, or itself; UnknownNameError for one that is not known."""
    name = processor(text)
    if name is None and (why := unsettled(text)):
        raise UnknownNameError(why)
    return processor_names()[check_choice(kind, text, processor_names()) if name is None else name][0]


def in_names(text: str) -> str:
    """What a text that chooses units by their names looks for: for a processor, its architecture."""
    name = processor(text)
    arch = text if name is None else processor_names()[name][0]
    return text if arch in (name, text) else f"{arch}/"


def _label(u: UnitSpec) -> str | None:
    """The word for a unit's operand formats: `fp16`, `mxe4m3`, `mxf4`, `nvf4`; None without one."""
    a = u.operands.a.name
    if a != u.operands.b.name:
        return f"{a}.{u.operands.b.name}" if u.operands.d.integer else None
    if u.scale_format is None:
        return a
    kind = {("e8m0", 32): "mx", ("ue4m3", 16): "nv"}.get((u.scale_format.name, u.scale_block or 0))
    return None if kind is None else kind + ("f4" if a == "e2m1" else a)


@cache
def _units_of(arch: str, has: tuple[str, ...]) -> dict[str, list[UnitSpec]]:
    """The units of an architecture's instructions by the word for their formats; one of each k."""
    found: dict[str, list[UnitSpec]] = {}
    seen = set()
    for name in catalogue():
        own, _, instruction = name.partition("/")
        kind = re.sub(r"\bm\d+n\d+k", "k", instruction)
        if own != arch or kind in seen or not instruction.startswith(has or ""):
            continue
        seen.add(kind)
        u = catalogue()[name]
        label = _label(u)
        if u.emulation is None and label is not None:
            found.setdefault(label, []).append(u)
    return found


def formats_of(name: str) -> list[str]:
    """The words for the operand formats of a known processor or architecture."""
    return list(_units_of(*processor_names()[name]))


def with_format(word: str) -> list[str]:
    """The names of all units of a format of operands, by architecture.

    Examples:
        >>> with_format("xf32")
        []
        >>> with_format("tf32")[:2]
        ['ampere:tf32', 'ada:tf32']
    """
    return [f"{arch}:{word}" for arch in PROCESSORS if word and _format(word, formats_of(arch))]


def _rank(u: UnitSpec) -> tuple[bool, bool, int]:
    """How near a unit is to what a name means: sums in fp32, the widest instruction, the largest k."""
    plain = (u.operands.c.name, u.operands.d.name) != ("fp32", "fp32")
    return plain, not _instruction(u).startswith(_WIDE), -u.k


def _instruction(u: UnitSpec) -> str:
    return u.name.partition("/")[2]


def _format(asked: str, units: Iterable[str]) -> str | None:
    """The word for formats that a word of a name means, of those that there are."""
    known = list(units)
    word = _WORDS.get(asked, FORMAT_ALIASES.get(asked, asked))
    if not asked:
        return next((usual for usual in _USUAL if usual in known), known[0])
    shape = _SHAPES.get(asked, word)
    return next((x for x in known if x == word or (asked in _SHAPES and x.startswith(shape))), None)


def alias(text: str) -> Alias | None:
    """What `PROCESSOR`, `PROCESSOR:FORMAT` or `PROCESSOR:FORMAT:RESULT` stands for; None for other names.

    Of the units of these formats, by default with fp16 operands and sums in fp32, that of the widest
    instruction with the largest k.  UnknownNameError for formats that the processor lacks.
    """
    head, _, rest = text.strip().lower().replace("->", ":").partition(":")
    name = processor(head)
    if name is None:
        return None
    word, _, result = rest.partition(":")
    extension, _, asked = word.rpartition("-")
    units = _units_of(*processor_names()[name])
    if extension:
        starts = tuple(_EXTENSIONS.get(extension, extension).split())
        chosen = {
            label: [u for u in these if _instruction(u).startswith(starts)] for label, these in units.items()
        }
        has = dict.fromkeys(re.split(r"[._]", _instruction(u))[0] for these in units.values() for u in these)
        units = {label: these for label, these in chosen.items() if these}
        if not units:
            raise UnknownNameError(
                f"expected an instruction that {name} has, but got {shown(extension)} in {shown(text)}: "
                f"it has {', '.join(has)}"
            )
    label = _format(asked, units)
    if label is None:
        raise UnknownNameError(
            f"expected a format that {name} has, but got {shown(asked)} in {shown(text)}: "
            f"it has {', '.join(units)}"
        )
    ranked = sorted(units[label], key=_rank)
    if result:
        results = dict.fromkeys(u.operands.d.name for u in ranked)
        ranked = [u for u in ranked if u.operands.d.name == FORMAT_ALIASES.get(result, result)]
        if not ranked:
            raise UnknownNameError(
                f"expected a format of results that {name} has for {label}, but got {shown(result)} in "
                f"{shown(text)}: it has {', '.join(results)}"
            )
    best, *others = ranked
    also = (
        u.name for u in others
        if (u.operands, u.scale_format) == (best.operands, best.scale_format)
        and (not u.operands.d.integer or u.design.conversion == best.design.conversion)
    )  # fmt: skip
    said = f"{name}:{extension}{'-' * bool(extension)}{label}{':' * bool(result)}{result}"
    return Alias(said, best.name, tuple(also))
