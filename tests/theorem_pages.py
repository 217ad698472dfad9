"""The documentation's pages about theorems: `python tests/theorem_pages.py [FOLDER]`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from tcformal.design.catalog import catalogue
from tcformal.design.vendors.nvidia import nvidia_names
from tcformal.errors import InputError
from tcformal.theory.checked import AXIOMS, LOGICAL, SOURCES, source_names
from tcformal.theory.constants import constants
from tcformal.theory.regions import region

#: Lengths of dot products in the table of relative errors.
_LENGTHS = (64, 1024, 16384)
#: The theorem about the constants of a unit of one fused sum, from c = 0.
_RELATIVE = "relative_error_from_zero"
#: The theorem about the spread within which two units agree.
_AGREE = "agreement_within_spread"

_THEOREM = re.compile(r"^Theorem (\w+'*)", re.MULTILINE)
_COMMENT = re.compile(r"\(\*\*((?:[^*]|\*(?!\)))*)\*\)", re.DOTALL)

_HEAD = """\
# Theorems

<!-- Written by `python tests/theorem_pages.py`: change the comments in the sources instead. -->

What is true of every design is proved once, in Coq, for all numbers of products, fraction bits and formats:
{theorems} theorems in {files} files of {lines} lines.  A claim about a unit is an instance: its parameters,
and side conditions that a computer decides.  `tcformal prove UNIT --claim NAME` prints the theorem, and
`--coq FILE` a file that `coqc` checks.

Whoever doubts compiles the sources, which lie in the package, in the order of `_CoqProject`, and checks the
result:

    cd tcformal/theory/coq
    for f in $(grep '\\.v$' _CoqProject); do coqc -Q . {logical} $f; done
    coqchk -Q . {logical} -silent -o {modules}

`Spec.v` and `Design.v` say what a design computes, and `Wide.v` what one does that no theorem is about; they
are to be read, and are run against the other definition of the arithmetic in exact fractions.  Axioms,
all of them of Coq's own library of real numbers:

{axioms}
"""

_RELATIVE_HEAD = """\
# The worst relative error of tensor cores

<!-- Written by `python tests/theorem_pages.py`, the table from the parameters of the units. -->

**Theorem.**  Let a unit sum blocks of N products and c in one fused sum with F fraction bits, and round the
result to a significand of p + 1 bits, toward zero or to nearest.  For all words whose products have leading
bits, c = 0 and K products in m = ⌈K/N⌉ blocks,

> |d − Σ a·b| ≤ C(K) · Σ |a·b| + η,  C(K) = (1 + κ₁)·(1 + κ)^(m−1) − 1,

> κ = (λ·(N − 1) + 1 − δ)·2^−F + 2^−(p+ν),  κ₁ = max(λ·(N − 1) − δ, 0)·2^−F + 2^−(p+ν),

where δ = 1, ν = 0 for rounding toward zero and δ = 0, ν = 1 to nearest; λ ≤ 1 is the share of a unit of
2^−F that a product of the two formats can lose, and is less than 1 where their significands are short; a
first block of which alignment can cut nothing has λ = 0 in κ₁.  η counts beside results below the normal
range only.

In Coq this is `{name}` of `{file}`:

> {words}

Of units that sum product by product, and of compositions of calls, the constants are those of
`rounded_error` and `relative_error_of_calls`.

## Every tensor core since Volta

Multiples of powers of two are exact; C(K) is for dot products of K terms, calls chained.

"""


_REGIONS_HEAD = """\
# Where two units give the same bits

<!-- Written by `python tests/theorem_pages.py`, the tables from the parameters of the units. -->

**Theorem.**  Let S be such that, for operands whose non-zero products and c have exponents within S of each
other, no alignment of either unit cuts a bit, every partial sum is a number of the format that it is rounded
to, and the last roundings of both are one.  Then both units give the same word for all such operands: that of
the exact sum, rounded once.  Whether S is such follows from widths and formats alone.

In Coq this is `{name}` of `{file}`:

> {words}

The tables have the largest such S for pairs of main units, of finite operands, with any c and with c = 0;
`–` where the theorem says nothing.  `tcformal region UNIT UNIT` says the same of any two units, and shows
inputs of the next spread on which they differ.
"""

#: The units of each table, each of whose operands are one format.
_MAIN = {
    "fp16 into fp32": (
        "volta/mma.m8n8k4.f32.f16.f16.f32", "turing/mma.m16n8k8.f32.f16.f16.f32",
        "ampere/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32",
        "blackwell/tcgen05.m64n8k16.kind::f16.f32.f16.f16", "cdna1/v_mfma_f32_32x32x8f16",
        "cdna2/v_mfma_f32_32x32x8f16", "cdna3/v_mfma_f32_32x32x8_f16",
    ),
    "bf16 into fp32": (
        "ampere/mma.m16n8k16.f32.bf16.bf16.f32", "hopper/mma.m16n8k16.f32.bf16.bf16.f32",
        "cdna2/v_mfma_f32_32x32x8bf16_1k", "cdna3/v_mfma_f32_32x32x8_bf16", "x86/tdpbf16ps",
        "power10/xvbf16ger2pp",
    ),
    "e4m3 into fp32": (
        "ada/mma.m16n8k32.f32.e4m3.e4m3.f32", "hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32",
        "hopper/wgmma.m64n8k32.f32.e4m3.e4m3", "blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e4m3",
    ),
}  # fmt: skip


def pages() -> dict[str, str]:
    """The text of each page, by its name."""
    return {
        "theorems.md": theorems_page(), "relative-error.md": relative_page(), "regions.md": regions_page(),
    }  # fmt: skip


def theorems_page() -> str:
    """Every theorem with its name, its file and its words."""
    texts = {name: (SOURCES / name).read_text(encoding="utf-8") for name in source_names()}
    found = {name: list(_theorems(text)) for name, text in texts.items()}
    parts = [
        _HEAD.format(
            theorems=sum(map(len, found.values())), files=len(texts), logical=LOGICAL,
            lines=f"{sum(text.count(chr(10)) for text in texts.values()):,}",
            modules=" ".join(f"{LOGICAL}.{name.removesuffix('.v')}" for name in _last(texts)),
            axioms="\n".join(f"* `{axiom}`" for axiom in AXIOMS),
        )
    ]  # fmt: skip
    for name, rows in found.items():
        if rows:
            parts.append(f"\n## {name}\n\n{_escaped(_words(texts[name]))}\n\n")
            parts += [f"* **`{theorem}`**: {_escaped(words)}\n" for theorem, words in rows]
    return "".join(parts)


def relative_page() -> str:
    """The relative error of every NVIDIA unit as a function of the length."""
    lengths = [f"C({k})" for k in _LENGTHS]
    groups: dict[tuple[str, ...], dict[str, None]] = {}
    for name, _ in nvidia_names():
        unit = catalogue()[name]
        found, bits = constants(unit), unit.design.fraction_bits
        if found is None or unit.emulation is not None:
            continue
        row = (
            name.partition("/")[0], "exact" if bits is None else str(bits), unit.design.conversion,
            str(found.size), _dyadic(found.first), _dyadic(found.other),
            *(f"{float(found.of(k)):.3g}" for k in _LENGTHS),
        )  # fmt: skip
        factors = "·".join(dict.fromkeys((unit.a_format.name, unit.b_format.name)))
        groups.setdefault(row, {})[factors] = None
    return "".join(
        [
            _headed(_RELATIVE_HEAD, _RELATIVE),
            _row(["generation", "factors", "F", "rounding", "N", "κ₁", "κ", *lengths]),
            _row(["---"] * 4 + ["--:"] * (3 + len(lengths))),
            *(_row([row[0], _few([*names]), *row[1:]]) for row, names in groups.items()),
        ]
    )


def regions_page() -> str:
    """The spread within which each two of some main units agree, with any c and with c = 0."""
    parts = [_headed(_REGIONS_HEAD, _AGREE)]
    for formats, names in _MAIN.items():
        head = _row(["any c / c = 0", *(f"`{name}`" for name in names[1:])])
        parts += [f"\n## {formats}\n\n", head, _row(["---"] * len(names))]
        for i, first in enumerate(names[:-1]):
            cells = [_spreads(first, second) if j > i else "" for j, second in enumerate(names) if j]
            parts.append(_row([f"`{first}`", *cells]))
    return "".join(parts)


def _spreads(first: str, second: str) -> str:
    """The spreads of one pair: with any c, and with c = 0."""
    shown = []
    for zero_c in (False, True):
        found = region(catalogue()[first], catalogue()[second], zero_c=zero_c)
        n = {} if found is None else found.numbers
        every = found is not None and n["spread"] >= n["high"] - n["low"]
        shown.append("–" if found is None else "every" if every else str(n["spread"]))
    return " / ".join(shown)


def _headed(head: str, name: str) -> str:
    """The head of a page about one theorem, with its file and its words."""
    for file in source_names():
        words = dict(_theorems((SOURCES / file).read_text(encoding="utf-8"))).get(name)
        if words is not None:
            return head.format(name=name, file=file, words=_escaped(words))
    raise InputError(f"expected a theorem of the sources, but got {name}")


def _theorems(text: str) -> Iterator[tuple[str, str]]:
    """Names and words of a source's theorems: the comment before, or the heading above."""
    comments = list(_COMMENT.finditer(text))
    for x in _THEOREM.finditer(text):
        before = [c for c in comments if c.end() <= x.start()]
        near = before[-1]
        if text[near.end() : x.start()].strip():
            near = next((c for c in reversed(before) if c[1].lstrip().startswith("*")), before[0])
        yield x[1], _words(near[0])


def _words(comment: str) -> str:
    """The first comment of a text, on one line."""
    found = _COMMENT.search(comment)
    assert found is not None
    words = " ".join(found[1].split()).lstrip("* ").rstrip(". ")
    return f"{words[0].upper()}{words[1:]}."


def _last(texts: dict[str, str]) -> list[str]:
    """The sources that no other one requires."""
    required = {
        word
        for text in texts.values()
        for line in re.findall(rf"From {LOGICAL} Require (?:Import|Export) ([^.]*)\.", text)
        for word in line.split()
    }
    return [name for name in texts if name.removesuffix(".v") not in required]


def _escaped(text: str) -> str:
    return re.sub(r"([\\*_<>])", r"\\\1", text)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _dyadic(x: Fraction) -> str:
    """An odd multiple of a power of two."""
    if x.denominator & (x.denominator - 1):
        return f"{float(x):.3g}"
    places = x.denominator.bit_length() - 1
    return f"2^−{places}" if x.numerator == 1 else f"{x.numerator}·2^−{places}"


def _few(names: list[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def main() -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs"))
    folder = parser.parse_args().folder
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
