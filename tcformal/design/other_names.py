"""Instructions by another spelling, lone and sparse ones, as units; apart: these are patterns of names."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from tcformal.design.short_names import Alias

#: What RISC-V's dot products are called now, and were called before.
_RENAMED = {
    "vfwbdota": "vfwbdot", "vfqwbdota": "vfqbdot", "vfbdota": "vfbdot",
    "vdota4": "vqdot", "vdota4u": "vqdotu", "vdota4su": "vqdotsu",
}  # fmt: skip
#: What NVIDIA's machine code calls instructions of the usual formats, as words of PTX.
_MACHINE = {
    "hmma": "mma.f32.f16.f16", "imma": "mma.s32.s8.s8", "dmma": "mma.f64.f64.f64",
    "qmma": "mma.f32.e4m3.e4m3",
    "hgmma": "wgmma.f32.f16.f16", "igmma": "wgmma.s32.s8.s8", "qgmma": "wgmma.f32.e4m3.e4m3",
    "idp": "dp4a", "utchmma": "tcgen05.f16", "utcqmma": "tcgen05.e4m3",
}  # fmt: skip
#: Sparse instructions: what comes before K, the dense instruction in its place, and what may follow K.
_SPARSE = (
    (r"(mma|wgmma|tcgen05)\.sp(?:::ordered_metadata)?(\.(?!m8)m\d+n\d+k)", r"\1\2", r"\.(?!.*(f64|block)).*"),
    (r"v_smfmac(_[fi]32_\d+x\d+x)", r"v_mfma\1", r"_(b?f16|i8|(bf8|fp8)_(bf8|fp8))"),
    (r"v_swmmac(_\w+_16x16x)", r"v_wmma\1", r"_(b?f16|iu[48])(\..*)?"),
)
#: What dense instructions begin with, and sparse ones instead of them.
_BEGIN = {
    "mma": ("mma.sp", "mma.sp::ordered_metadata"), "wgmma": ("wgmma.sp",), "tcgen05": ("tcgen05.sp",),
    "v_mfma": ("v_smfmac",), "v_wmma": ("v_swmmac",),
}  # fmt: skip
_DENSE = re.compile(rf"(.*/)({'|'.join(_BEGIN)})(\.m\d+n\d+k|_[fi]32_\d+x\d+x)(\d+)(.*)")
#: Without sparse instructions, of those that have dense ones of such names.
_DENSE_ONLY = ("volta", "turing", "rdna3")
#: The least K of `mma.sp` with elements of 8 bits.
_LEAST_K_OF_BYTES = 64


def in_units_words(text: str) -> str:
    """A name with RISC-V's present spellings, and those of machine code, replaced by those of the units.

    Examples:
        >>> in_units_words("hopper/imma")
        'hopper/mma.s32.s8.s8'
    """
    for other, words in {**_RENAMED, **_MACHINE}.items():
        text = re.sub(rf"\b{other}\b", words, text, flags=re.IGNORECASE)
    return text


def other_name(text: str, units: Collection[str]) -> Alias | None:
    """The unit whose sum an instruction computes; None where none of `units` is known to.

    A sparse instruction of K sums the K/2 products of the elements of A that its metadata selects: its unit
    is the dense instruction of K/2, whose k counts them.  An instruction of one architecture alone needs no
    architecture before it.

    Examples:
        >>> from tcformal.design.catalog import catalogue
        >>> other_name("ampere/mma.sp.m16n8k32.f32.f16.f16.f32", catalogue()).unit
        'ampere/mma.m16n8k16.f32.f16.f16.f32'
        >>> other_name("tdpbf16ps", catalogue()).unit
        'x86/tdpbf16ps'
    """
    arch, slash, instruction = text.partition("/")
    if not slash:
        alone = [x for x in units if x.partition("/")[2] == text]
        if alone:
            return Alias(text, alone[0]) if len(alone) == 1 else None
        of = dict.fromkeys(x.partition("/")[0] for x in units)
        spelt = [x for arch in of if (x := other_name(f"{arch}/{text}", units)) is not None]
        return replace(spelt[0], name=text) if len(spelt) == 1 else None
    first, dot, rest = instruction.partition(".")
    if first in _RENAMED:
        unit = f"{arch}/{_RENAMED[first]}{dot}{rest}"
        return Alias(text, unit) if unit in units else None
    for sparse, dense, after in _SPARSE:
        match = re.fullmatch(rf"(?P<head>{sparse})(?P<k>\d+)(?P<tail>{after})", instruction)
        if match is None or arch in _DENSE_ONLY or int(match["k"]) % 2:
            continue
        if first == "mma" and not _has_mma(arch, match["head"], int(match["k"]), match["tail"]):
            continue
        unit = f"{arch}/{re.sub(sparse, dense, match['head'])}{int(match['k']) // 2}{match['tail']}"
        if unit in units:
            return Alias(text, unit, supposed=f"as {unit}, of the selected elements; no source states it")
    return None


def _has_mma(arch: str, head: str, k: int, tail: str) -> bool:
    """Whether PTX has this `mma.sp` on an architecture where its sum is a unit."""
    if not re.search("e4m3|e5m2|kind::", tail):
        return True
    newer = "kind::" in tail or tail.startswith(".f16")
    return k >= _LEAST_K_OF_BYTES and not (newer and (arch == "ada" or "ordered" not in head))


def sparse_names(units: Collection[str]) -> Iterator[str]:
    """Every sparse instruction whose sum is one of `units`, by one of its names.

    Example:
        >>> from tcformal.design.catalog import catalogue
        >>> next(name for name in sparse_names(catalogue()) if name.startswith("hopper/wgmma"))
        'hopper/wgmma.sp.m64n8k16.f32.tf32.tf32'
    """
    for match in filter(None, map(_DENSE.fullmatch, units)):
        arch, dense, shape, k, rest = match.groups()
        names = (f"{arch}{begin}{shape}{2 * int(k)}{rest}" for begin in _BEGIN[dense])
        yield from itertools.islice((x for x in names if other_name(x, units) is not None), 1)
